/* Gives a body its skeleton: bones at the size of the copy, and who follows which of them. */
#include "scene/rig.h"

#include <stdlib.h>
#include <string.h>

/* What is needed while the skeleton of one body is made. */
typedef struct skeleton_maker {
    const scene_skeleton *skeleton;
    const body_model *model;
    lm_world *world;
    const made_body *body;
    lm_body_info info;
    lm_bone *bones;
    float *values, *carried; /* for each vertex, then for each particle: the weight of its group of every bone */
    lm_attachment *list;
    lm_vec3 *vertices;
} skeleton_maker;

static void release(skeleton_maker *m)
{
    free(m->bones);
    free(m->values);
    free(m->carried);
    free(m->list);
    free(m->vertices);
}

static lm_result make_bones(skeleton_maker *m)
{
    const scene_rig *rig = m->skeleton->rig;
    double scale = m->body->scale;
    m->bones = malloc(rig->count * sizeof *m->bones);
    for (uint32_t i = 0; i < rig->count && m->bones != NULL; i++) {
        const rig_bone *from = &rig->bones[i];
        rotation back = {-from->rest.turn.x, -from->rest.turn.y, -from->rest.turn.z, from->rest.turn.w};
        lm_dvec3 along = vector_scale(vector_subtract(from->tail, from->rest.at), scale);
        m->bones[i] = lm_bone_default();
        m->bones[i].rest = (lm_pose){vector_scale(from->rest.at, scale), lmi_rotation_narrow(from->rest.turn)};
        m->bones[i].tail = vector_narrow(lmi_rotation_apply(back, along));
        m->bones[i].radius = (float)(from->radius * scale);
        m->bones[i].fade = (float)(from->fade * scale);
    }
    return m->bones != NULL ? LM_OK : LM_ERROR_MEMORY;
}

/* Skinned vertices of the file's rig, or those of the model. */
static uint32_t group_vertices(const skeleton_maker *m)
{
    const rig_of_file *file = m->skeleton->rig->file;
    return file != NULL ? file->data.vertex_count : m->model->mesh.vertex_count;
}

/* The weights of all vertices in the groups that are called as the bones are; a bone without a group has none. */
static void read_groups(const skeleton_maker *m)
{
    const scene_rig *rig = m->skeleton->rig;
    const lm_shape_mesh *mesh = &m->model->mesh;
    for (uint32_t b = 0; b < rig->count; b++) {
        const lm_shape_group *group = lm_shape_find_group(mesh, rig->bones[b].name);
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            m->values[(size_t)v * rig->count + b] = group != NULL ? group->weights[v] : 0.0f;
        }
    }
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        m->vertices[v] = vector_narrow(vector_scale(vector_widen(mesh->vertices[v]), m->body->scale));
    }
}

static void read_skin_weights(const skeleton_maker *m, const rig_of_file *file)
{
    static const double straight[4] = {0.0, 0.0, 0.0, 1.0};
    const scene_rig *rig = m->skeleton->rig;
    memset(m->values, 0, (size_t)file->data.vertex_count * rig->count * sizeof *m->values);
    for (uint32_t v = 0; v < file->data.vertex_count; v++) {
        lm_vec3 p = file->data.positions[v];
        const double at[3] = {p.x, p.y, p.z};
        m->vertices[v] = vector_narrow(vector_scale(lmi_rig_file_frame(file, at, straight).at, m->body->scale));
        for (uint32_t b = 0; b < rig->count; b++) {
            for (size_t k = 4 * (size_t)v; k < 4 * (size_t)v + 4; k++) {
                bool follows = rig->bones[b].joint != LM_RIG_NONE && file->data.followed[k] == rig->bones[b].joint;
                m->values[(size_t)v * rig->count + b] += follows ? file->data.weights[k] : 0.0f;
            }
        }
    }
}

/* The attachments of one particle, adding up to `firm`; bones that hardly count are left out. Returns how many there are: none
 * for a particle that is in no group. */
static uint32_t share_out(const float *shares, uint32_t count, uint32_t particle, float firm, lm_attachment *list)
{
    double largest = 0.0, sum = 0.0;
    uint32_t used = 0;
    for (uint32_t b = 0; b < count; b++) {
        largest = fmax(largest, (double)shares[b]);
    }
    for (uint32_t b = 0; b < count; b++) {
        if ((double)shares[b] > fmax(1e-3 * largest, 1e-9)) {
            sum += (double)shares[b];
            list[used++] = (lm_attachment){particle, b, shares[b]};
        }
    }
    for (uint32_t k = 0; k < used; k++) {
        list[k].weight = (float)((double)list[k].weight / sum * (double)firm);
    }
    return used;
}

/* As firmly as by distance, and shared by the groups. `def` is that of a skeleton by distance, which says how firmly. */
static lm_result attach_by_groups(skeleton_maker *m, lm_skeleton_def *def)
{
    uint32_t count = m->skeleton->rig->count, vertices = group_vertices(m), used = 0;
    lm_skeleton_id near = {0, 0};
    lm_result result = lm_skeleton_create(m->world, def, &near);
    float *firm = malloc(m->info.particles * sizeof *firm);
    m->values = malloc(((size_t)vertices * count + 1) * sizeof *m->values);
    m->vertices = malloc((vertices + 1u) * sizeof *m->vertices);
    m->carried = malloc((size_t)m->info.particles * count * sizeof *m->carried);
    m->list = malloc((size_t)m->info.particles * count * sizeof *m->list);
    bool room = firm && m->values && m->vertices && m->carried && m->list;
    result = result == LM_OK && !room ? LM_ERROR_MEMORY : result;
    if (result == LM_OK) {
        const rig_of_file *file = m->skeleton->rig->file;
        if (file != NULL) {
            read_skin_weights(m, file);
        } else {
            read_groups(m);
        }
        result = lm_skeleton_get_targets(m->world, near, lm_dvec3_zero(), NULL, firm);
    }
    result = result ? result
                    : lm_body_carry_values(m->world, m->body->id, m->vertices, vertices, m->values, count, m->carried);
    for (uint32_t p = 0; p < m->info.particles && result == LM_OK; p++) {
        used += firm[p] > 0.0f ? share_out(m->carried + (size_t)p * count, count, p, firm[p], m->list + used) : 0;
    }
    free(firm);
    def->attachments = m->list;
    def->attachment_count = used;
    return result ? result : lm_skeleton_destroy(m->world, near);
}

lm_result lmi_make_skeleton(const scene_body_entry *entry, const body_model *model, lm_world *world,
                            const made_body *body)
{
    if (entry->skeleton == NULL) {
        return LM_OK;
    }
    skeleton_maker m = {.skeleton = entry->skeleton, .model = model, .world = world, .body = body};
    const scene_rig *rig = m.skeleton->rig;
    lm_result result = lm_body_get_info(world, body->id, &m.info);
    result = result ? result : make_bones(&m);
    lm_skeleton_def def = lm_skeleton_def_default();
    lm_skeleton_id id = {0, 0};
    def.body = body->id;
    def.bones = m.bones;
    def.bone_count = rig->count;
    def.pose = (lm_pose){body->at, lmi_rotation_narrow(body->rotate)};
    def.hertz = (float)m.skeleton->hertz;
    def.damping_ratio = (float)m.skeleton->damping_ratio;
    if (result == LM_OK && m.skeleton->attach == ATTACH_GROUPS) {
        result = attach_by_groups(&m, &def);
    }
    result = result ? result : lm_skeleton_create(world, &def, &id);
    if (result == LM_OK) { /* an animation may begin in another pose than that of rest */
        result = lmi_rig_pose_at(m.skeleton, 0.0) ? LM_OK : LM_ERROR_MEMORY;
    }
    if (result == LM_OK) {
        for (uint32_t i = 0; i < rig->count; i++) {
            rig->world_poses[i] = lmi_rig_place(&rig->poses[i], body);
        }
        result = lm_skeleton_set_poses(world, id, rig->world_poses);
    }
    release(&m);
    return result;
}
