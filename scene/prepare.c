/*
 * Checks of a scene that no single field can fail: names that refer to each other, lists that must match, times in order,
 * and how much is asked for. All of it before anything is allocated or a world is made.
 */
#include "scene/internal.h"
#include "scene/measure.h"
#include "support/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct preparation {
    lm_scene *scene;
    lm_scene_error *error;
    uint32_t *name_table; /* hash table of body entries: index + 1, or 0; in the document's memory */
    uint32_t name_mask;
} preparation;

/* Reports at a field of a structure, and is false. */
#define FAIL(p, head, field, ...) (lmi_report_field((p)->error, (p)->scene->name, (head), (field), __VA_ARGS__), false)

static bool given(const scene_head *head, const char *name) { return lmi_json_get(head->json, name) != NULL; }

/* ------------------------------------------------------------------------------------------------------------------
 * Names
 */

/* The slot of the entry with that name, or the free one where it belongs. */
static uint32_t *find_name(const preparation *p, const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    for (uint32_t slot = hash & p->name_mask;; slot = (slot + 1) & p->name_mask) {
        uint32_t *found = &p->name_table[slot];
        if (*found == 0) {
            return found;
        }
        const char *known = LIST_ITEM(scene_body_entry, p->scene->file->bodies, *found - 1)->name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return found;
        }
    }
}

/* "ball" is every copy of that entry, "ball[17]" one of them. */
static bool find_bodies(const preparation *p, const char *name, scene_range *range)
{
    size_t stem = strcspn(name, "[");
    uint32_t found = *find_name(p, name, stem);
    if (found == 0) {
        return false;
    }
    const scene_body_entry *entry = LIST_ITEM(scene_body_entry, p->scene->file->bodies, found - 1);
    *range = entry->range;
    if (name[stem] == '\0') {
        return true;
    }
    char *end = NULL;
    unsigned long copy = strtoul(name + stem + 1, &end, 10);
    if (end == name + stem + 1 || strcmp(end, "]") != 0 || entry->repeat == NULL || copy >= entry->range.count) {
        return false;
    }
    *range = (scene_range){entry->range.first + (uint32_t)copy, 1};
    return true;
}

static bool resolve_body(const preparation *p, const scene_head *head, const char *field, const char *name,
                         scene_range *range)
{
    if (find_bodies(p, name, range)) {
        return true;
    }
    const scene_list *entries = &p->scene->file->bodies;
    nearest_name near = lmi_nearest_to(name);
    for (uint32_t i = 0; i < entries->count; i++) {
        lmi_nearest_offer(&near, LIST_ITEM(scene_body_entry, *entries, i)->name);
    }
    if (near.best != NULL) {
        return FAIL(p, head, field, "there is no body \"%.40s\" (expected the name of a body; did you mean \"%.40s\"?)",
                    name, near.best);
    }
    return FAIL(p, head, field, "there is no body \"%.40s\" (expected the name of a body)", name);
}

static bool resolve_mover(const preparation *p, const scene_head *head, const char *name, uint32_t *index)
{
    const scene_list *movers = &p->scene->file->movers;
    *index = SCENE_NO_MOVER;
    if (name == NULL) {
        return true;
    }
    nearest_name near = lmi_nearest_to(name);
    for (uint32_t i = 0; i < movers->count; i++) {
        const scene_mover *mover = LIST_ITEM(scene_mover, *movers, i);
        if (strcmp(mover->name, name) == 0) {
            *index = i;
            return true;
        }
        lmi_nearest_offer(&near, mover->name);
    }
    if (near.best != NULL) {
        return FAIL(p, head, "mover",
                    "there is no mover \"%.40s\" (expected the name of a mover; did you mean \"%.40s\"?)", name,
                    near.best);
    }
    return FAIL(p, head, "mover", "there is no mover \"%.40s\" (expected the name of a mover)", name);
}

static bool check_name(const preparation *p, const scene_head *head, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 60 || strpbrk(name, "[]") != NULL) {
        return FAIL(p, head, "name", "is \"%.40s\" (expected 1 to 60 characters other than [ and ])", name);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Bodies
 */

static bool check_contents(const preparation *p, const scene_body_entry *entry)
{
    if (given(&entry->head, "colours") && entry->colours.count == 0) {
        return FAIL(p, &entry->head, "colours", "is empty (expected at least one)");
    }
    if (entry->mesh != NULL && !is_divided(entry)) {
        return FAIL(p, &entry->head, "mesh", "is given without lattice, tets or octree (expected one of them)");
    }
    if (entry->lattice != NULL && entry->surface != NULL && entry->surface->skin == LM_SKIN_REGIONS) {
        return FAIL(p, &entry->surface->head, "skin", "the surface of a lattice rides on its particles");
    }
    if (entry->shape != NULL || entry->mesh != NULL) {
        return true;
    }
    if (entry->points.count == 0) {
        return FAIL(p, &entry->head, "points", "is empty (expected at least one point)");
    }
    if (given(&entry->head, "masses") && entry->masses.count != entry->points.count) {
        return FAIL(p, &entry->head, "masses", "has %u elements (expected %u, one for each point)",
                    (unsigned)entry->masses.count, (unsigned)entry->points.count);
    }
    return true;
}

static bool check_box(const preparation *p, const scene_box *box)
{
    if (box == NULL || (box->min.x <= box->max.x && box->min.y <= box->max.y && box->min.z <= box->max.z)) {
        return true;
    }
    return FAIL(p, &box->head, "max", "is below min (expected at least min along each axis)");
}

static bool check_zones(const preparation *p, const scene_list *zones, double least, double most)
{
    for (uint32_t i = 0; i < zones->count; i++) {
        const scene_zone *zone = LIST_ITEM(scene_zone, *zones, i);
        if (!(zone->value >= least && zone->value <= most)) {
            return FAIL(p, &zone->head, "value", "is %g (expected from %g to %g)", zone->value, least, most);
        }
        if (!check_box(p, zone->where)) {
            return false;
        }
    }
    return true;
}

static bool check_detail(const preparation *p, const scene_body_entry *entry)
{
    const scene_detail *detail = entry->detail;
    if (detail == NULL) {
        return true;
    }
    const char *fault = entry->octree == NULL     ? "is given without octree (expected both)"
                        : entry->examples != NULL ? "is given with examples (expected one of them)"
                        : entry->skeleton != NULL ? "is given with a skeleton (expected one of them)"
                                                  : NULL;
    if (fault != NULL) {
        return FAIL(p, &entry->head, "detail", "%s", fault);
    }
    if (detail->coarsest > 0.0 && detail->coarsest < detail->finest) {
        return FAIL(p, &detail->head, "coarsest", "is %g (expected at least finest, %g)", detail->coarsest,
                    detail->finest);
    }
    return true;
}

static bool check_octree(const preparation *p, const scene_octree *octree)
{
    return octree == NULL ||
           (check_zones(p, &octree->width_zones, 1e-6, 1e6) && check_zones(p, &octree->size_zones, 1e-6, 1.0));
}

static bool check_deform(const preparation *p, const scene_deform *deform)
{
    if (deform != NULL && given(&deform->head, "fade") && deform->where == NULL) {
        return FAIL(p, &deform->head, "fade", "is given without where (expected both)");
    }
    return deform == NULL || check_box(p, deform->where);
}

static bool check_examples(const preparation *p, const scene_body_entry *entry)
{
    const scene_examples *examples = entry->examples;
    if (examples == NULL) {
        return true;
    }
    if (examples->poses.count < 1 || examples->poses.count > LM_MAX_EXAMPLES) {
        return FAIL(p, &examples->head, "poses", "has %u elements (expected 1 to %u)", (unsigned)examples->poses.count,
                    LM_MAX_EXAMPLES);
    }
    for (uint32_t i = 0; i < examples->poses.count; i++) {
        const scene_pose *pose = LIST_ITEM(scene_pose, examples->poses, i);
        const char *source = pose->file != NULL ? "file" : "target";
        if ((pose->file != NULL || pose->target != NULL) && entry->mesh == NULL) {
            return FAIL(p, &pose->head, source, "is a mesh, the body has none (expected a body with a mesh)");
        }
        if (given(&pose->head, "frame") && (pose->file == NULL || pose->target != NULL)) {
            return FAIL(p, &pose->head, "frame", "is not of an MDD or PC2 file (expected \"file\", no \"target\")");
        }
        for (uint32_t k = 0; k < pose->deform.count; k++) {
            if (!check_deform(p, LIST_ITEM(scene_deform, pose->deform, k))) {
                return false;
            }
        }
    }
    double sum = 0.0;
    for (uint32_t i = 0; i < examples->weights.count; i++) {
        sum += *LIST_ITEM(double, examples->weights, i);
    }
    bool forced = given(&examples->head, "weights");
    if (forced && (examples->weights.count != examples->poses.count || sum > 1.0 + 1e-9)) {
        return FAIL(p, &examples->head, "weights",
                    "has %u elements, %g in all (expected %u, one for each pose, at most 1)",
                    (unsigned)examples->weights.count, sum, (unsigned)examples->poses.count);
    }
    if (given(&examples->head, "groups") && examples->groups.count == 0) {
        return FAIL(p, &examples->head, "groups", "is empty (expected at least one box)");
    }
    for (uint32_t i = 0; i < examples->groups.count; i++) {
        if (!check_box(p, LIST_ITEM(scene_box, examples->groups, i))) {
            return false;
        }
    }
    return true;
}

static bool check_bone(const preparation *p, const scene_skeleton *skeleton, uint32_t index)
{
    const scene_bone *bone = LIST_ITEM(scene_bone, skeleton->bones, index);
    if (!check_name(p, &bone->head, bone->name)) {
        return false;
    }
    for (uint32_t k = 0; k < index; k++) {
        if (strcmp(LIST_ITEM(scene_bone, skeleton->bones, k)->name, bone->name) == 0) {
            return FAIL(p, &bone->head, "name", "\"%.40s\" is the name of bones[%u] too (expected another name)",
                        bone->name, (unsigned)k);
        }
    }
    if (given(&bone->head, "keyframes") && bone->keyframes.count == 0) {
        return FAIL(p, &bone->head, "keyframes", "is empty (expected at least one)");
    }
    for (uint32_t k = 0; k < bone->keyframes.count; k++) {
        const scene_bone_keyframe *key = LIST_ITEM(scene_bone_keyframe, bone->keyframes, k);
        if (k > 0 && !(key->time > (key - 1)->time)) {
            return FAIL(p, &key->head, "time", "is %g (expected later than the one before, %g)", key->time,
                        (key - 1)->time);
        }
        if (skeleton->loop > 0.0 && key->time > skeleton->loop) {
            return FAIL(p, &key->head, "time", "is %g (expected at most the skeleton's loop, %g)", key->time,
                        skeleton->loop);
        }
    }
    return true;
}

static bool check_skeleton(const preparation *p, const scene_body_entry *entry)
{
    const scene_skeleton *skeleton = entry->skeleton;
    if (skeleton == NULL) {
        return true;
    }
    if (skeleton->bones.count > LM_MAX_BONES) {
        return FAIL(p, &skeleton->head, "bones", "has %u elements (expected at most %d)",
                    (unsigned)skeleton->bones.count, LM_MAX_BONES);
    }
    if (skeleton->animation != NULL && entry->mesh == NULL) {
        return FAIL(p, &skeleton->head, "animation", "is of a file, the body has none (expected a body with a mesh)");
    }
    for (uint32_t i = 0; i < skeleton->bones.count; i++) {
        if (!check_bone(p, skeleton, i)) {
            return false;
        }
    }
    return true;
}

static bool check_elements(const preparation *p, const scene_body_entry *entry)
{
    const scene_clusters *clusters = entry->clusters;
    if (clusters == NULL) {
        return true;
    }
    bool by_each = given(&clusters->head, "each");
    if (given(&clusters->head, "elements") && !by_each && !given(&clusters->head, "kmeans")) {
        return FAIL(p, &clusters->head, "elements", "is given alone (expected \"each\" or \"kmeans\" with it)");
    }
    bool own = by_each && clusters->each == EACH_ELEMENT;
    if (own && clusters->elements.count == 0) {
        return FAIL(p, &clusters->head, "each", "is \"element\" (expected \"elements\" with it)");
    }
    bool of_surface = by_each && (clusters->each == EACH_TRIANGLE || clusters->each == EACH_EDGE);
    if (of_surface && (entry->shape == NULL || clusters->elements.count > 0)) {
        return FAIL(p, &clusters->head, "each", "needs the surface of a shape (expected \"particle\" or \"element\")");
    }
    for (uint32_t i = 0; i < clusters->elements.count; i++) {
        uint32_t size = LIST_ITEM(scene_list, clusters->elements, i)->count;
        uint32_t first = LIST_ITEM(scene_list, clusters->elements, 0)->count;
        if (size < 2 || size > 8 || size != first) {
            return FAIL(p, &clusters->head, "elements",
                        "has one of %u particles at [%u] (expected 2 to 8, the same in all)", (unsigned)size,
                        (unsigned)i);
        }
    }
    return true;
}

static bool count_copies(const preparation *p, scene_body_entry *entry, uint64_t *bodies, uint64_t *particles)
{
    uint64_t copies = 1;
    if (entry->repeat != NULL) {
        const uint32_t *grid = entry->repeat->grid;
        copies = (uint64_t)grid[0] * grid[1] * grid[2];
    }
    if (*bodies + copies > SCENE_MAX_BODIES) {
        const scene_head *head = entry->repeat != NULL ? &entry->repeat->head : &entry->head;
        return FAIL(p, head, entry->repeat != NULL ? "grid" : NULL,
                    "makes %llu bodies, %llu in all (expected at most %u)", (unsigned long long)copies,
                    (unsigned long long)(*bodies + copies), SCENE_MAX_BODIES);
    }
    const scene_lattice *lattice = entry->lattice;
    uint64_t each = entry->shape == NULL ? entry->points.count : entry->particles;
    if (lattice != NULL) { /* where the spacing is given, they are counted when they are made */
        each = lattice->spacing > 0.0 ? 0 : lattice->particles;
    } else if (entry->tets != NULL) {
        each = given(&entry->tets->head, "particles") ? entry->tets->particles : 0;
    } else if (entry->octree != NULL) {
        each = entry->octree->particles;
    }
    if (*particles + each * copies > SCENE_MAX_PARTICLES) {
        const char *field = entry->points.count > 0 ? "points" : "particles";
        return FAIL(p,
                    lattice != NULL         ? &lattice->head
                    : entry->tets != NULL   ? &entry->tets->head
                    : entry->octree != NULL ? &entry->octree->head
                                            : &entry->head,
                    field, "asks for %llu particles, %llu in all (expected at most %u)",
                    (unsigned long long)(each * copies), (unsigned long long)(*particles + each * copies),
                    SCENE_MAX_PARTICLES);
    }
    entry->range = (scene_range){(uint32_t)*bodies, (uint32_t)copies};
    *bodies += copies;
    *particles += each * copies;
    return true;
}

/* "body3" for an entry that gives no name. */
static bool give_name(const preparation *p, scene_body_entry *entry, uint32_t index)
{
    if (entry->name == NULL) {
        char *name = lmi_json_allocate(p->scene->document, 24);
        if (name == NULL) {
            return FAIL(p, &entry->head, NULL, "out of memory");
        }
        snprintf(name, 24, "body%u", (unsigned)index);
        entry->name = name;
    }
    return check_name(p, &entry->head, entry->name);
}

static bool check_body_names(preparation *p)
{
    const scene_list *entries = &p->scene->file->bodies;
    uint32_t size = 16;
    while (size / 2 < entries->count) {
        size *= 2;
    }
    p->name_mask = size - 1;
    p->name_table = lmi_json_allocate(p->scene->document, size * sizeof *p->name_table);
    if (p->name_table == NULL) {
        return FAIL(p, &p->scene->file->head, "bodies", "out of memory");
    }
    for (uint32_t i = 0; i < entries->count; i++) {
        scene_body_entry *entry = LIST_ITEM(scene_body_entry, *entries, i);
        if (!give_name(p, entry, i)) {
            return false;
        }
        uint32_t *slot = find_name(p, entry->name, strlen(entry->name));
        if (*slot != 0) {
            return FAIL(p, &entry->head, "name", "\"%.40s\" is the name of bodies[%u] too (expected another name)",
                        entry->name, (unsigned)(*slot - 1));
        }
        *slot = i + 1;
    }
    return true;
}

static bool name_copies(const preparation *p, const scene_body_entry *entry)
{
    lm_scene *s = p->scene;
    for (uint32_t copy = 0; copy < entry->range.count; copy++) {
        made_body *body = &s->bodies[entry->range.first + copy];
        body->name = entry->name;
        if (entry->repeat == NULL) {
            continue;
        }
        size_t size = strlen(entry->name) + 16;
        char *name = lmi_json_allocate(s->document, size);
        if (name == NULL) {
            return FAIL(p, &entry->head, NULL, "out of memory");
        }
        snprintf(name, size, "%s[%u]", entry->name, (unsigned)copy);
        body->name = name;
    }
    return true;
}

static bool prepare_bodies(preparation *p)
{
    const scene_list *entries = &p->scene->file->bodies;
    uint64_t bodies = 0;
    uint64_t particles = 0;
    for (uint32_t i = 0; i < entries->count; i++) {
        scene_body_entry *entry = LIST_ITEM(scene_body_entry, *entries, i);
        if (!check_contents(p, entry) || !check_elements(p, entry) || !check_zones(p, &entry->mass_zones, 1e-6, 1e6) ||
            !check_zones(p, &entry->stiffness_zones, 0.0, 1.0) || !check_octree(p, entry->octree) ||
            !check_detail(p, entry) || !check_deform(p, entry->state) || !check_examples(p, entry) ||
            !check_skeleton(p, entry) || !count_copies(p, entry, &bodies, &particles)) {
            return false;
        }
    }
    if (!check_body_names(p)) {
        return false;
    }
    lm_scene *s = p->scene;
    s->body_count = (uint32_t)bodies;
    s->bodies = lmi_json_allocate(s->document, sizeof *s->bodies * (bodies + 1));
    if (s->bodies == NULL) {
        return FAIL(p, &s->file->head, "bodies", "out of memory");
    }
    for (uint32_t i = 0; i < entries->count; i++) {
        if (!name_copies(p, LIST_ITEM(scene_body_entry, *entries, i))) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Movers, colliders, pins, drags
 */

static bool prepare_movers(const preparation *p)
{
    const scene_list *movers = &p->scene->file->movers;
    for (uint32_t i = 0; i < movers->count; i++) {
        const scene_mover *mover = LIST_ITEM(scene_mover, *movers, i);
        if (!check_name(p, &mover->head, mover->name)) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(LIST_ITEM(scene_mover, *movers, j)->name, mover->name) == 0) {
                return FAIL(p, &mover->head, "name", "\"%.40s\" is the name of movers[%u] too (expected another name)",
                            mover->name, (unsigned)j);
            }
        }
        if (given(&mover->head, "keyframes") && mover->keyframes.count == 0) {
            return FAIL(p, &mover->head, "keyframes", "is empty (expected at least one)");
        }
        for (uint32_t k = 1; k < mover->keyframes.count; k++) {
            const scene_keyframe *key = LIST_ITEM(scene_keyframe, mover->keyframes, k);
            if (!(key->time > (key - 1)->time)) {
                return FAIL(p, &key->head, "time", "is %g (expected later than the one before, %g)", key->time,
                            (key - 1)->time);
            }
        }
    }
    return true;
}

/* What a height map or a mesh is made of is there, and goes together. */
static bool check_solid(const preparation *p, const scene_collider *collider)
{
    const scene_heights *h = collider->heights;
    if (collider->shape == LM_SHAPE_HEIGHTS && h == NULL) {
        return FAIL(p, &collider->head, "shape", "is a height map without heights (expected \"heights\" beside it)");
    }
    if (h != NULL && given(&h->head, "values") && h->values.count != h->columns * h->rows) {
        return FAIL(p, &h->head, "values", "has %u numbers (expected %u columns times %u rows)",
                    (unsigned)h->values.count, (unsigned)h->columns, (unsigned)h->rows);
    }
    bool listed = given(&collider->head, "vertices");
    if (collider->shape == LM_SHAPE_MESH && collider->mesh == NULL && collider->model == NULL && !listed) {
        return FAIL(p, &collider->head, "shape",
                    "is a mesh without triangles (expected \"mesh\", \"model\" or \"vertices\" beside it)");
    }
    if (collider->cache != NULL && (collider->shape != LM_SHAPE_MESH || collider->mesh == NULL)) {
        return FAIL(p, &collider->head, "cache", "moves nothing (expected \"shape\": \"mesh\" and \"mesh\" beside it)");
    }
    if (listed != given(&collider->head, "triangles")) {
        return FAIL(p, &collider->head, listed ? "vertices" : "triangles",
                    "is alone (expected vertices and triangles together)");
    }
    for (uint32_t i = 0; i < collider->triangles.count; i++) {
        if (LIST_ITEM(scene_list, collider->triangles, i)->count != 3) {
            return FAIL(p, &collider->head, "triangles", "number %u has no three indices", (unsigned)i);
        }
    }
    return true;
}

static bool prepare_colliders(const preparation *p)
{
    const scene_list *colliders = &p->scene->file->colliders;
    for (uint32_t i = 0; i < colliders->count; i++) {
        scene_collider *collider = LIST_ITEM(scene_collider, *colliders, i);
        if (!resolve_mover(p, &collider->head, collider->mover, &collider->mover_index)) {
            return false;
        }
        if (!(vector_length(collider->normal) > 1e-30)) {
            return FAIL(p, &collider->head, "normal", "has no length (expected a direction)");
        }
        if (!check_solid(p, collider)) {
            return false;
        }
    }
    return true;
}

static bool prepare_pins(const preparation *p)
{
    const scene_list *pins = &p->scene->file->pins;
    for (uint32_t i = 0; i < pins->count; i++) {
        scene_pin *pin = LIST_ITEM(scene_pin, *pins, i);
        if (!resolve_body(p, &pin->head, "body", pin->body, &pin->range) ||
            !resolve_mover(p, &pin->head, pin->mover, &pin->mover_index) || !check_box(p, pin->where)) {
            return false;
        }
        if (pin->where == NULL && pin->particles.count == 0) {
            return FAIL(p, &pin->head, "particles", "is empty (expected at least one index)");
        }
    }
    return true;
}

static bool prepare_joints(const preparation *p)
{
    const scene_list *joints = &p->scene->file->joints;
    for (uint32_t i = 0; i < joints->count; i++) {
        scene_joint *joint = LIST_ITEM(scene_joint, *joints, i);
        if (!resolve_body(p, &joint->head, "body", joint->body, &joint->range) ||
            !resolve_mover(p, &joint->head, joint->mover, &joint->mover_index) ||
            (joint->to != NULL && !resolve_body(p, &joint->head, "to", joint->to, &joint->to_range))) {
            return false;
        }
        if (joint->to != NULL && joint->to_range.count != 1 && joint->to_range.count != joint->range.count) {
            return FAIL(p, &joint->head, "to", "has %u copies (expected 1, or %u as \"body\" has)",
                        (unsigned)joint->to_range.count, (unsigned)joint->range.count);
        }
        if (!(vector_length(joint->axis) > 1e-12)) {
            return FAIL(p, &joint->head, "axis", "has no length (expected a direction)");
        }
    }
    return true;
}

static bool prepare_drags(const preparation *p)
{
    const scene_list *drags = &p->scene->file->drags;
    for (uint32_t i = 0; i < drags->count; i++) {
        scene_drag *drag = LIST_ITEM(scene_drag, *drags, i);
        if (!resolve_body(p, &drag->head, "body", drag->body, &drag->range)) {
            return false;
        }
        if (!(drag->until > drag->from)) {
            return FAIL(p, &drag->head, "until", "is %g (expected later than from, %g)", drag->until, drag->from);
        }
        if (given(&drag->head, "keyframes") && drag->keyframes.count == 0) {
            return FAIL(p, &drag->head, "keyframes", "is empty (expected at least one)");
        }
        for (uint32_t k = 1; k < drag->keyframes.count; k++) {
            const scene_drag_keyframe *key = LIST_ITEM(scene_drag_keyframe, drag->keyframes, k);
            if (!(key->time > (key - 1)->time)) {
                return FAIL(p, &key->head, "time", "is %g (expected later than the one before, %g)", key->time,
                            (key - 1)->time);
            }
        }
        drag->ids = lmi_json_allocate(p->scene->document, sizeof *drag->ids * drag->range.count);
        if (drag->ids == NULL) {
            return FAIL(p, &drag->head, NULL, "out of memory");
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Events and expectations
 */

/* What a change of detail can be made to. */
static bool check_kinds(const preparation *p, const scene_event *event)
{
    const scene_list *entries = &p->scene->file->bodies;
    for (uint32_t i = 0; i < entries->count; i++) {
        const scene_body_entry *entry = LIST_ITEM(scene_body_entry, *entries, i);
        bool meant = entry->range.first < event->range.first + event->range.count &&
                     event->range.first < entry->range.first + entry->range.count;
        if (meant && event->refine != NULL && entry->octree == NULL) {
            return FAIL(p, &event->head, "refine", "is of a body that is no octree (expected octrees)");
        }
    }
    return true;
}

static bool prepare_events(const preparation *p)
{
    const scene_list *events = &p->scene->file->events;
    for (uint32_t i = 0; i < events->count; i++) {
        scene_event *event = LIST_ITEM(scene_event, *events, i);
        event->range = (scene_range){0, p->scene->body_count};
        if (event->body != NULL && !resolve_body(p, &event->head, "body", event->body, &event->range)) {
            return false;
        }
        const scene_head *head = &event->head;
        if (!given(head, "material") && !given(head, "impulse") && !given(head, "velocity") && !given(head, "deform") &&
            !given(head, "cut") && !given(head, "slice") && !given(head, "stamp") && !given(head, "split") &&
            !given(head, "refine") && !given(head, "eye") && !given(head, "gravity")) {
            return FAIL(p, head, NULL,
                        "does nothing (expected material, impulse, velocity, deform, cut, slice, stamp, "
                        "split, refine, eye or "
                        "gravity)");
        }
        if (!check_kinds(p, event)) {
            return false;
        }
        if (event->slice != NULL && !(vector_length(event->slice->normal) > 0.0)) {
            return FAIL(p, &event->slice->head, "normal", "has no length (expected a direction)");
        }
        if (given(head, "point") && !given(head, "impulse")) {
            return FAIL(p, head, "point", "is given without impulse (expected both)");
        }
    }
    return true;
}

static bool prepare_expect(const preparation *p, scene_expect *expect)
{
    const char *measure = lmi_measure_name(expect->measure);
    scene_range times = {0, 1};
    expect->range = (scene_range){0, lmi_measure_is_of_body(expect->measure) ? p->scene->body_count : 1};
    if (!lmi_measure_is_of_body(expect->measure) && (expect->body != NULL || expect->times != NULL)) {
        return FAIL(p, &expect->head, expect->body != NULL ? "body" : "times",
                    "\"%s\" is measured for the whole world (expected no body)", measure);
    }
    if (!resolve_mover(p, &expect->head, expect->mover, &expect->mover_index)) {
        return false;
    }
    if ((expect->mover != NULL) != lmi_measure_needs_mover(expect->measure)) {
        return expect->mover == NULL
                   ? FAIL(p, &expect->head, NULL, "incomplete (expected \"mover\" with \"%s\")", measure)
                   : FAIL(p, &expect->head, "mover", "has no meaning for \"%s\" (expected none)", measure);
    }
    if (expect->body != NULL && !resolve_body(p, &expect->head, "body", expect->body, &expect->range)) {
        return false;
    }
    if (expect->times != NULL && !resolve_body(p, &expect->head, "times", expect->times, &times)) {
        return false;
    }
    if (times.count != 1) {
        return FAIL(p, &expect->head, "times", "stands for %u bodies (expected one, as in \"%s[0]\")",
                    (unsigned)times.count, expect->times);
    }
    expect->times_body = times.first;
    if (given(&expect->head, "box") != lmi_measure_needs_box(expect->measure)) {
        return lmi_measure_needs_box(expect->measure)
                   ? FAIL(p, &expect->head, NULL, "incomplete (expected \"box\" with \"%s\")", measure)
                   : FAIL(p, &expect->head, "box", "has no meaning for \"%s\" (expected none)", measure);
    }
    expect->records = lmi_json_allocate(p->scene->document, sizeof(expect_record) * (expect->range.count + 1));
    if (expect->records == NULL) {
        return FAIL(p, &expect->head, NULL, "out of memory");
    }
    return check_box(p, expect->box);
}

static bool check_camera(const preparation *p, const scene_camera *camera)
{
    if (camera == NULL || camera->at.x != camera->look_at.x || camera->at.y != camera->look_at.y ||
        camera->at.z != camera->look_at.z) {
        return true;
    }
    return FAIL(p, &camera->head, "at", "is where it looks at (expected another point than look_at)");
}

bool lmi_prepare_scene(lm_scene *s, lm_scene_error *error)
{
    preparation p = {.scene = s, .error = error};
    if (!prepare_bodies(&p) || !prepare_movers(&p) || !prepare_colliders(&p) || !prepare_pins(&p) ||
        !prepare_joints(&p) || !prepare_drags(&p) || !prepare_events(&p) || !check_camera(&p, s->file->camera)) {
        return false;
    }
    for (uint32_t i = 0; i < s->file->expect.count; i++) {
        if (!prepare_expect(&p, LIST_ITEM(scene_expect, s->file->expect, i))) {
            return false;
        }
    }
    return true;
}
