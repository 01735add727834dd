/* The examples of a body: poses from deformations of its rest shape or from other meshes, and which regions go together. */
#include "scene/model.h"

#include <stdlib.h>
#include <string.h>

/* What is needed while the poses of one body are made. */
typedef struct pose_maker {
    lm_world *world;
    lm_body_id body;
    lm_body_info info;
    double scale; /* of the copy */
    lm_vec3 *rest, *moving, *poses;
    lm_dvec3 *displaced;
    uint32_t *groups, *offsets, *members;
} pose_maker;

static void release(pose_maker *m)
{
    free(m->rest);
    free(m->moving);
    free(m->poses);
    free(m->displaced);
    free(m->groups);
    free(m->offsets);
    free(m->members);
}

static lm_result begin(pose_maker *m, uint32_t pose_count)
{
    lm_result result = lm_body_get_info(m->world, m->body, &m->info);
    if (result != LM_OK) {
        return result;
    }
    size_t count = m->info.particles, regions = m->info.regions;
    m->rest = malloc(count * sizeof *m->rest);
    m->moving = malloc(count * sizeof *m->moving);
    m->poses = malloc(count * pose_count * sizeof *m->poses);
    m->displaced = malloc(count * sizeof *m->displaced);
    m->groups = malloc((regions + 1) * sizeof *m->groups);
    m->offsets = malloc((regions + 1) * sizeof *m->offsets);
    m->members = malloc(((size_t)m->info.memberships + 1) * sizeof *m->members);
    bool room = m->rest && m->moving && m->poses && m->displaced && m->groups && m->offsets && m->members;
    return room ? lm_body_get_rest_positions(m->world, m->body, m->rest) : LM_ERROR_MEMORY;
}

/* Where the particles start from: where the mesh of the pose carries them, or the rest shape; at the entry's own size. */
static lm_result start_pose(pose_maker *m, const body_model *model, const lm_vec3 *vertices)
{
    uint32_t count = m->info.particles;
    for (uint32_t i = 0; i < count && vertices == NULL; i++) {
        m->moving[i] = vector_narrow(vector_scale(vector_widen(m->rest[i]), 1.0 / m->scale));
    }
    if (vertices == NULL) {
        return LM_OK;
    }
    /* The mesh of this copy leads its particles to where the pose is at the entry's size: the fit takes the scale out. */
    return lm_body_carry_pose(m->world, m->body, model->scaled, vertices, model->mesh.vertex_count, m->moving);
}

/* One deformation after the other. */
static void deform_pose(pose_maker *m, const scene_pose *pose, lm_vec3 *out)
{
    uint32_t count = m->info.particles;
    for (uint32_t k = 0; k < pose->deform.count; k++) {
        lmi_deform_points(LIST_ITEM(scene_deform, pose->deform, k), m->moving, count, m->displaced);
        for (uint32_t i = 0; i < count; i++) {
            m->moving[i] = vector_narrow(m->displaced[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] = vector_narrow(vector_scale(vector_widen(m->moving[i]), m->scale));
    }
}

static bool is_in(const scene_box *box, lm_dvec3 p)
{
    return p.x >= box->min.x && p.x <= box->max.x && p.y >= box->min.y && p.y <= box->max.y && p.z >= box->min.z &&
           p.z <= box->max.z;
}

/* A region belongs to the first box that its centre is in. */
static lm_result find_groups(pose_maker *m, const scene_examples *examples)
{
    lm_result result = lm_body_get_regions(m->world, m->body, m->offsets, m->members);
    for (uint32_t r = 0; r < m->info.regions && result == LM_OK; r++) {
        lm_dvec3 sum = lm_dvec3_zero();
        for (uint32_t k = m->offsets[r]; k < m->offsets[r + 1]; k++) {
            sum = vector_add(sum, vector_widen(m->rest[m->members[k]]));
        }
        sum = vector_scale(sum, 1.0 / ((m->offsets[r + 1] - m->offsets[r]) * m->scale));
        m->groups[r] = LM_NO_GROUP;
        for (uint32_t g = examples->groups.count; g > 0; g--) {
            m->groups[r] = is_in(LIST_ITEM(scene_box, examples->groups, g - 1), sum) ? g - 1 : m->groups[r];
        }
    }
    return result;
}

static lm_result force_weights(const pose_maker *m, const scene_examples *examples)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(m->world, m->body, &info);
    float *weights = malloc((size_t)info.example_groups * info.examples * sizeof *weights);
    result = result || weights ? result : LM_ERROR_MEMORY;
    for (uint32_t n = 0; n < info.example_groups * info.examples && result == LM_OK; n++) {
        weights[n] = (float)*LIST_ITEM(double, examples->weights, n % info.examples);
    }
    result = result ? result : lm_body_set_example_weights(m->world, m->body, weights);
    free(weights);
    return result;
}

lm_result lmi_make_examples(const scene_body_entry *entry, const body_model *model, lm_world *world, lm_body_id body,
                            double scale)
{
    const scene_examples *examples = entry->examples;
    if (examples == NULL) {
        return LM_OK;
    }
    pose_maker m = {.world = world, .body = body, .scale = scale};
    lm_result result = begin(&m, examples->poses.count);
    for (uint32_t k = 0; k < examples->poses.count && result == LM_OK; k++) {
        const scene_pose *pose = LIST_ITEM(scene_pose, examples->poses, k);
        result = start_pose(&m, model,
                            lmi_pose_is_of_file(pose) ? model->poses + (size_t)k * model->mesh.vertex_count : NULL);
        if (result == LM_OK) {
            deform_pose(&m, pose, m.poses + (size_t)k * m.info.particles);
        }
    }
    if (result == LM_OK && examples->groups.count > 0) {
        result = find_groups(&m, examples);
    }
    if (result == LM_OK) {
        lm_examples_def def = lm_examples_def_default();
        def.poses = m.poses;
        def.count = examples->poses.count;
        def.particles = m.info.particles;
        def.scope = examples->groups.count > 0 ? LM_EXAMPLES_GROUPS
                    : examples->each_region    ? LM_EXAMPLES_REGIONS
                                               : LM_EXAMPLES_BODY;
        def.groups = m.groups;
        def.group_count = examples->groups.count;
        def.beta = (float)examples->beta;
        result = lm_body_set_examples(world, body, &def);
    }
    if (result == LM_OK && examples->weights.count > 0) {
        result = force_weights(&m, examples);
    }
    release(&m);
    return result;
}
