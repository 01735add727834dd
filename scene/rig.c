/* The bones of an entry: those of its model, and those that it lists, in an order in which parents come first. */
#include "scene/rig.h"

#include "support/nearest.h"

#include <string.h>

typedef struct rigging {
    lm_scene *scene;
    const scene_body_entry *entry;
    const scene_skeleton *skeleton;
    scene_rig *rig; /* its bones in the order in which they were found; `parent` is the place in that order */
    lm_scene_error *error;
} rigging;

static bool given(const scene_head *head, const char *name) { return lmi_json_get(head->json, name) != NULL; }

static uint32_t find_bone(const scene_rig *rig, const char *name)
{
    for (uint32_t i = 0; i < rig->count; i++) {
        if (strcmp(rig->bones[i].name, name) == 0) {
            return i;
        }
    }
    return RIG_NO_PARENT;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Where bones come from
 */

static void take_model_bones(const rigging *r, const lm_shape_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->bone_count; i++) {
        const lm_shape_bone *from = &mesh->bones[i];
        r->rig->bones[r->rig->count++] = (rig_bone){
            .name = from->name,
            .parent = from->parent == LM_SHAPE_NO_BONE ? RIG_NO_PARENT : from->parent,
            .rest = {vector_widen(from->head), lmi_rotation_identity()},
            .tail = vector_widen(from->tail),
            .joint = LM_RIG_NONE,
        };
    }
}

static void take_file_bones(const rigging *r, const rig_of_file *file)
{
    static const double straight[4] = {0.0, 0.0, 0.0, 1.0};
    for (uint32_t i = 0; file != NULL && i < file->data.joint_count; i++) {
        const lm_rig_joint *from = &file->data.joints[i];
        r->rig->bones[r->rig->count++] = (rig_bone){
            .name = lm_rig_joint_name(&file->data, i),
            .parent = from->parent == LM_RIG_NONE ? RIG_NO_PARENT : from->parent,
            .rest = lmi_rig_file_frame(file, from->rest.position, from->rest.rotation),
            .tail = lmi_rig_file_frame(file, from->tail, straight).at,
            .joint = i,
        };
    }
}

/* One that the entry lists: a new bone, or what differs of the model's. */
static bool take_own_bone(const rigging *r, const scene_bone *from)
{
    uint32_t index = find_bone(r->rig, from->name);
    if (index == RIG_NO_PARENT) {
        if (!given(&from->head, "joint")) {
            nearest_name near = lmi_nearest_to(from->name);
            for (uint32_t i = 0; i < r->rig->count; i++) {
                lmi_nearest_offer(&near, r->rig->bones[i].name);
            }
            lmi_report_field(
                r->error, r->scene->name, &from->head, "name",
                "\"%.40s\" is no bone of the model, and has no joint (expected \"joint\" beside it%s%.40s%s)",
                from->name, near.best != NULL ? "; did you mean \"" : "", near.best != NULL ? near.best : "",
                near.best != NULL ? "\"?" : "");
            return false;
        }
        index = r->rig->count++;
        r->rig->bones[index] = (rig_bone){
            .name = from->name,
            .parent = RIG_NO_PARENT,
            .rest = {from->joint, lmi_rotation_identity()},
            .tail = from->joint,
            .joint = LM_RIG_NONE,
        };
    }
    rig_bone *bone = &r->rig->bones[index];
    bone->moves = from;
    if (given(&from->head, "joint")) {
        bone->tail = vector_add(bone->tail, vector_subtract(from->joint, bone->rest.at));
        bone->rest.at = from->joint;
    }
    if (given(&from->head, "tail")) {
        bone->tail = from->tail;
    }
    return true;
}

static bool take_parents(const rigging *r)
{
    for (uint32_t i = 0; i < r->rig->count; i++) {
        rig_bone *bone = &r->rig->bones[i];
        const scene_bone *from = bone->moves;
        bone->radius = from != NULL && given(&from->head, "radius") ? from->radius : r->skeleton->radius;
        bone->fade = from != NULL && given(&from->head, "fade") ? from->fade : r->skeleton->fade;
        if (from == NULL || from->parent == NULL) {
            continue;
        }
        bone->parent = find_bone(r->rig, from->parent);
        if (bone->parent == RIG_NO_PARENT) {
            nearest_name near = lmi_nearest_to(from->parent);
            for (uint32_t k = 0; k < r->rig->count; k++) {
                lmi_nearest_offer(&near, r->rig->bones[k].name);
            }
            lmi_report_field(r->error, r->scene->name, &from->head, "parent",
                             "there is no bone \"%.40s\" (expected the name of a bone%s%.40s%s)", from->parent,
                             near.best != NULL ? "; did you mean \"" : "", near.best != NULL ? near.best : "",
                             near.best != NULL ? "\"?" : "");
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Order
 */

/* Parents first, else as they were found. A bone that never gets its turn is among its own ancestors, or below one that is. */
static bool sort_bones(const rigging *r)
{
    scene_rig *rig = r->rig;
    rig_bone *sorted = lmi_json_allocate(r->scene->document, rig->count * sizeof *sorted);
    uint32_t *place = lmi_json_allocate(r->scene->document, rig->count * sizeof *place);
    if (sorted == NULL || place == NULL) {
        lmi_report_field(r->error, r->scene->name, &r->skeleton->head, NULL, "out of memory");
        return false;
    }
    memset(place, 0xff, rig->count * sizeof *place);
    uint32_t done = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < rig->count; i++) {
            uint32_t parent = rig->bones[i].parent;
            if (place[i] == UINT32_MAX && (parent == RIG_NO_PARENT || place[parent] != UINT32_MAX)) {
                sorted[done] = rig->bones[i];
                sorted[done].parent = parent == RIG_NO_PARENT ? RIG_NO_PARENT : place[parent];
                place[i] = done++;
                moved = true;
            }
        }
    }
    for (uint32_t i = 0; i < rig->count; i++) {
        if (place[i] == UINT32_MAX) {
            const scene_bone *bone = rig->bones[i].moves;
            lmi_report_field(r->error, r->scene->name, bone != NULL ? &bone->head : &r->skeleton->head,
                             bone != NULL ? "parent" : "bones",
                             "\"%.40s\" is its own ancestor, or below a bone that is (expected a tree of bones)",
                             rig->bones[i].name);
            return false;
        }
    }
    rig->bones = sorted;
    return true;
}

lm_result lmi_model_keep_rig(lm_scene *s, const scene_body_entry *entry, const body_model *model, lm_scene_error *error)
{
    scene_skeleton *skeleton = entry->skeleton;
    if (skeleton == NULL || skeleton->rig != NULL) {
        return LM_OK;
    }
    rig_of_file *file = NULL;
    lm_result result = lmi_rig_file_read(s, entry, model, &file, error);
    if (result != LM_OK) {
        return result;
    }
    uint32_t most = skeleton->bones.count + model->mesh.bone_count + (file != NULL ? file->data.joint_count : 0);
    scene_rig *rig = lmi_json_allocate(s->document, sizeof *rig);
    rigging r = {s, entry, skeleton, rig, error};
    if (rig != NULL) {
        *rig = (scene_rig){.bones = lmi_json_allocate(s->document, (most + 1) * sizeof *rig->bones),
                           .poses = lmi_json_allocate(s->document, (most + 1) * sizeof *rig->poses),
                           .world_poses = lmi_json_allocate(s->document, (most + 1) * sizeof *rig->world_poses)};
    }
    if (rig == NULL || rig->bones == NULL || rig->poses == NULL || rig->world_poses == NULL) {
        return LM_ERROR_MEMORY;
    }
    rig->file = file;
    take_model_bones(&r, &model->mesh);
    take_file_bones(&r, file);
    for (uint32_t i = 0; i < skeleton->bones.count; i++) {
        if (!take_own_bone(&r, LIST_ITEM(scene_bone, skeleton->bones, i))) {
            return LM_ERROR_ARGUMENT;
        }
    }
    if (rig->count == 0) {
        lmi_report_field(error, s->name, &skeleton->head, NULL,
                         "has no bones (expected \"bones\", or a model or file with a skeleton)");
        return LM_ERROR_ARGUMENT;
    }
    if (!take_parents(&r) || !sort_bones(&r)) {
        return LM_ERROR_ARGUMENT;
    }
    skeleton->rig = rig;
    return LM_OK;
}
