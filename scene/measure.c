#include "scene/measure.h"

#include "scene/fit.h"
#include "scene/internal.h"
#include "scene/overlap.h"

#include <stdlib.h>
#include <string.h>

/* The particles of one body, copied out; positions relative to the centre of mass. */
typedef struct body_copy {
    lm_body_info info;
    lm_vec3 *rest;
    lm_vec3 *positions;
    float *masses;
} body_copy;

typedef struct measuring {
    const lm_scene *scene;
    const lm_world *world;
    const scene_expect *expect;
    const made_body *body;
} measuring;

static void release(body_copy *copy)
{
    free(copy->rest);
    free(copy->positions);
    free(copy->masses);
}

static lm_result copy_body(const measuring *m, body_copy *copy)
{
    *copy = (body_copy){.rest = NULL};
    lm_result result = lm_body_get_info(m->world, m->body->id, &copy->info);
    if (result != LM_OK) {
        return result;
    }
    size_t count = copy->info.particles;
    copy->rest = malloc(count * sizeof *copy->rest);
    copy->positions = malloc(count * sizeof *copy->positions);
    copy->masses = malloc(count * sizeof *copy->masses);
    result = copy->rest == NULL || copy->positions == NULL || copy->masses == NULL ? LM_ERROR_MEMORY : LM_OK;
    result = result ? result : lm_body_get_rest_positions(m->world, m->body->id, copy->rest);
    result = result ? result : lm_body_get_positions(m->world, m->body->id, copy->info.centre, copy->positions);
    result = result ? result : lm_body_get_masses(m->world, m->body->id, copy->masses);
    if (result != LM_OK) {
        release(copy);
    }
    return result;
}

/* The longest side of the rest shape's bounding box. */
static double size_of(const body_copy *copy)
{
    lm_vec3 low = copy->rest[0], high = copy->rest[0];
    for (uint32_t i = 1; i < copy->info.particles; i++) {
        lm_vec3 p = copy->rest[i];
        low = (lm_vec3){fminf(low.x, p.x), fminf(low.y, p.y), fminf(low.z, p.z)};
        high = (lm_vec3){fmaxf(high.x, p.x), fmaxf(high.y, p.y), fmaxf(high.z, p.z)};
    }
    double size = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
    return size > 0.0 ? size : 1.0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Of a body
 */

static lm_result take_residual(const measuring *m, double *value)
{
    body_copy copy;
    lm_result result = copy_body(m, &copy);
    if (result == LM_OK) {
        *value = lmi_fit_rigid(copy.rest, copy.positions, copy.masses, copy.info.particles).residual / size_of(&copy);
        release(&copy);
    }
    return result;
}

static lm_result take_misfit(const measuring *m, double *value)
{
    body_copy copy;
    lm_result result = copy_body(m, &copy);
    if (result != LM_OK) {
        return result;
    }
    lm_vec3 *goals = malloc(copy.info.particles * sizeof *goals);
    result = goals == NULL ? LM_ERROR_MEMORY : lm_body_get_goals(m->world, m->body->id, copy.info.centre, goals);
    if (result == LM_OK) {
        double sum = 0.0, mass = 0.0;
        for (uint32_t i = 0; i < copy.info.particles; i++) {
            lm_dvec3 off = vector_subtract(vector_widen(copy.positions[i]), vector_widen(goals[i]));
            sum += copy.masses[i] * vector_dot(off, off);
            mass += copy.masses[i];
        }
        *value = sqrt(sum / mass) / size_of(&copy);
    }
    free(goals);
    release(&copy);
    return result;
}

static lm_result take_deflection(const measuring *m, double *value)
{
    body_copy copy;
    lm_result result = copy_body(m, &copy);
    if (result != LM_OK) {
        return result;
    }
    uint32_t best = 0;
    double nearest = HUGE_VAL;
    for (uint32_t i = 0; i < copy.info.particles; i++) {
        double distance = vector_length(vector_subtract(vector_widen(copy.rest[i]), m->expect->point));
        if (distance < nearest) {
            nearest = distance;
            best = i;
        }
    }
    lm_dvec3 start = vector_add(m->body->at, lmi_rotation_apply(m->body->rotate, vector_widen(copy.rest[best])));
    lm_dvec3 now = vector_add(copy.info.centre, vector_widen(copy.positions[best]));
    *value = vector_length(vector_subtract(now, start));
    release(&copy);
    return LM_OK;
}

static lm_result take_outside(const measuring *m, double *value)
{
    body_copy copy;
    lm_result result = copy_body(m, &copy);
    if (result != LM_OK) {
        return result;
    }
    const scene_box *box = m->expect->box;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < copy.info.particles; i++) {
        lm_dvec3 p = vector_add(copy.info.centre, vector_widen(copy.positions[i]));
        bool inside = p.x >= box->min.x && p.x <= box->max.x && p.y >= box->min.y && p.y <= box->max.y &&
                      p.z >= box->min.z && p.z <= box->max.z; /* false for NaN */
        outside += inside ? 0 : 1;
    }
    *value = outside;
    release(&copy);
    return LM_OK;
}

/* How far the centre of mass has gone sideways from where the starting pose puts that of the rest shape. */
static lm_result take_drift(const measuring *m, double *value)
{
    body_copy copy;
    lm_result result = copy_body(m, &copy);
    if (result != LM_OK) {
        return result;
    }
    lm_dvec3 sum = lm_dvec3_zero();
    double mass = 0.0;
    for (uint32_t i = 0; i < copy.info.particles; i++) {
        sum = vector_add(sum, vector_scale(vector_widen(copy.rest[i]), copy.masses[i]));
        mass += copy.masses[i];
    }
    lm_dvec3 start = vector_add(m->body->at, lmi_rotation_apply(m->body->rotate, vector_scale(sum, 1.0 / mass)));
    lm_dvec3 way = vector_subtract(copy.info.centre, start);
    *value = sqrt(way.x * way.x + way.z * way.z);
    release(&copy);
    return LM_OK;
}

/* The lowest vertex of the surface; without one, the lowest particle. */
static lm_result take_surface_lowest(const measuring *m, double *value)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(m->world, m->body->id, &info);
    if (result != LM_OK) {
        return result;
    }
    *value = info.lower.y;
    if (info.skin_vertices == 0) {
        return LM_OK;
    }
    lm_vec3 *skin = malloc(info.skin_vertices * sizeof *skin);
    result = skin == NULL ? LM_ERROR_MEMORY : lm_body_get_skin(m->world, m->body->id, info.centre, skin, NULL);
    double lowest = HUGE_VAL;
    for (uint32_t i = 0; i < info.skin_vertices && result == LM_OK; i++) {
        lowest = (double)skin[i].y >= lowest ? lowest : (double)skin[i].y; /* what is not a number stays */
    }
    *value = info.centre.y + lowest;
    free(skin);
    return result;
}

static lm_result take_overlap(const measuring *m, double *value)
{
    return lmi_overlap_of(m->scene, m->world, m->body, value);
}

static double mesh_volume(const lm_vec3 *vertices, const uint32_t *triangles, uint32_t count)
{
    double six = 0.0;
    for (uint32_t t = 0; t < count; t++) {
        const uint32_t *corner = triangles + 3 * (size_t)t;
        six += vector_dot(vector_widen(vertices[corner[0]]),
                          vector_cross(vector_widen(vertices[corner[1]]), vector_widen(vertices[corner[2]])));
    }
    return six / 6.0;
}

static lm_result take_volume(const measuring *m, double *value)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(m->world, m->body->id, &info);
    if (result != LM_OK) {
        return result;
    }
    uint32_t vertices = info.skin_vertices, count = info.skin_triangles;
    lm_vec3 *skin = malloc((vertices + 1u) * sizeof *skin);
    uint32_t *triangles = malloc((3u * (size_t)count + 1u) * sizeof *triangles);
    result = skin == NULL || triangles == NULL ? LM_ERROR_MEMORY : LM_OK;
    result = result ? result : lm_body_get_skin(m->world, m->body->id, info.centre, skin, NULL);
    result = result ? result : lm_body_get_skin_triangles(m->world, m->body->id, triangles);
    if (result == LM_OK) {
        *value = mesh_volume(skin, triangles, count) / m->body->rest_volume;
    }
    free(skin);
    free(triangles);
    return result;
}

static lm_result take_plastic(const measuring *m, double *value)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(m->world, m->body->id, &info);
    if (result != LM_OK) {
        return result;
    }
    float *matrices = malloc((9u * (size_t)info.regions + 1u) * sizeof *matrices);
    result = matrices == NULL ? LM_ERROR_MEMORY : lm_body_get_plastic(m->world, m->body->id, matrices);
    *value = 0.0;
    for (uint32_t i = 0; i < info.regions && result == LM_OK; i++) {
        double strain = lmi_fit_strain(matrices + 9 * (size_t)i);
        *value = strain <= *value ? *value : strain; /* what is not a number stays */
    }
    free(matrices);
    return result;
}

/* The mean over all groups of regions, or of one. */
static lm_result take_weight(const measuring *m, double *value)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(m->world, m->body->id, &info);
    *value = 0.0;
    if (result != LM_OK || m->expect->example >= info.examples) {
        return result;
    }
    float *weights = malloc((size_t)info.example_groups * info.examples * sizeof *weights);
    result = weights == NULL ? LM_ERROR_MEMORY : lm_body_get_example_weights(m->world, m->body->id, weights);
    bool one = lmi_json_get(m->expect->head.json, "group") != NULL;
    for (uint32_t g = 0; g < info.example_groups && result == LM_OK; g++) {
        double w = weights[(size_t)g * info.examples + m->expect->example];
        *value += !one ? w / info.example_groups : g == m->expect->group ? w : 0.0;
    }
    free(weights);
    return result;
}

/* How the two ends of a body are turned against each other: a quarter of it at either end of its longest side. */
static lm_result turn_of_ends(const measuring *m, int *axis, rotation *turn)
{
    body_copy copy;
    lm_result result = copy_body(m, &copy);
    if (result != LM_OK) {
        return result;
    }
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    *axis = 0;
    for (uint32_t i = 0; i < copy.info.particles; i++) {
        const double at[3] = {copy.rest[i].x, copy.rest[i].y, copy.rest[i].z};
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], at[a]);
            high[a] = fmax(high[a], at[a]);
        }
    }
    for (int a = 1; a < 3; a++) {
        *axis = high[a] - low[a] > high[*axis] - low[*axis] ? a : *axis;
    }
    rotation ends[2];
    for (int end = 0; end < 2; end++) { /* particles of the end move to the front */
        uint32_t count = 0;
        for (uint32_t i = 0; i < copy.info.particles; i++) {
            const double at[3] = {copy.rest[i].x, copy.rest[i].y, copy.rest[i].z};
            double along = (at[*axis] - low[*axis]) / (high[*axis] - low[*axis]);
            if (end == 0 ? along <= 0.25 : along >= 0.75) {
                lm_vec3 rest = copy.rest[count], position = copy.positions[count];
                float mass = copy.masses[count];
                copy.rest[count] = copy.rest[i], copy.positions[count] = copy.positions[i];
                copy.masses[count++] = copy.masses[i];
                copy.rest[i] = rest, copy.positions[i] = position, copy.masses[i] = mass;
            }
        }
        ends[end] =
            count > 0 ? lmi_fit_rigid(copy.rest, copy.positions, copy.masses, count).rotate : lmi_rotation_identity();
    }
    rotation back = {-ends[0].x, -ends[0].y, -ends[0].z, ends[0].w};
    *turn = lmi_rotation_then(ends[1], back); /* in the body's own frame */
    release(&copy);
    return LM_OK;
}

/* The turn of the ends is a bend (about an axis across) after a twist (about the body's length). */
static lm_result take_twist(const measuring *m, double *value)
{
    int axis = 0;
    rotation turn = lmi_rotation_identity();
    lm_result result = turn_of_ends(m, &axis, &turn);
    double along = axis == 0 ? turn.x : axis == 1 ? turn.y : turn.z;
    *value = 2.0 * atan2(fabs(along), fabs(turn.w)) / RADIANS_PER_DEGREE;
    return result;
}

static lm_result take_bend(const measuring *m, double *value)
{
    int axis = 0;
    rotation turn = lmi_rotation_identity();
    lm_result result = turn_of_ends(m, &axis, &turn);
    double along = axis == 0 ? turn.x : axis == 1 ? turn.y : turn.z;
    double across = sqrt(fmax(0.0, 1.0 - along * along - turn.w * turn.w));
    *value = 2.0 * atan2(across, sqrt(along * along + turn.w * turn.w)) / RADIANS_PER_DEGREE;
    return result;
}

/* 0 for a body that is not deformed: there is nothing to resist. */
static lm_result take_resisted(const measuring *m, double *value)
{
    double misfit = 0.0, residual = 0.0;
    lm_result result = take_misfit(m, &misfit);
    result = result ? result : take_residual(m, &residual);
    *value = residual > 0.0 ? misfit / residual : 0.0;
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Of a body with a skeleton
 */

typedef struct bones_copy {
    lm_skeleton_info info; /* no bones: the body has no skeleton */
    lm_bone *bones;
    lm_pose *poses;
    lm_vec3 *targets; /* relative to the body's centre of mass */
    float *weights;
} bones_copy;

static void release_bones(bones_copy *copy)
{
    free(copy->bones);
    free(copy->poses);
    free(copy->targets);
    free(copy->weights);
}

static lm_result copy_bones(const measuring *m, const body_copy *body, bones_copy *copy)
{
    lm_skeleton_id id;
    *copy = (bones_copy){.bones = NULL};
    lm_result result = lm_body_get_skeleton(m->world, m->body->id, &id);
    if (result != LM_OK || id.slot == 0) {
        return result;
    }
    result = lm_skeleton_get_info(m->world, id, &copy->info);
    copy->bones = malloc(copy->info.bones * sizeof *copy->bones);
    copy->poses = malloc(copy->info.bones * sizeof *copy->poses);
    copy->targets = malloc(body->info.particles * sizeof *copy->targets);
    copy->weights = malloc(body->info.particles * sizeof *copy->weights);
    bool room = copy->bones != NULL && copy->poses != NULL && copy->targets != NULL && copy->weights != NULL;
    result = result == LM_OK && !room ? LM_ERROR_MEMORY : result;
    result = result ? result : lm_skeleton_get_bones(m->world, id, copy->bones);
    result = result ? result : lm_skeleton_get_poses(m->world, id, copy->poses);
    return result ? result : lm_skeleton_get_targets(m->world, id, body->info.centre, copy->targets, copy->weights);
}

static rotation rotation_widen(lm_quat q) { return (rotation){q.x, q.y, q.z, q.w}; }

static double distance_to_bone(const lm_bone *bone, lm_dvec3 point)
{
    lm_dvec3 along = lmi_rotation_apply(rotation_widen(bone->rest.rotation), vector_widen(bone->tail));
    lm_dvec3 arm = vector_subtract(point, bone->rest.position);
    double square = vector_dot(along, along);
    double share = square > 0.0 ? fmax(0.0, fmin(1.0, vector_dot(arm, along) / square)) : 0.0;
    return vector_length(vector_subtract(arm, vector_scale(along, share)));
}

/* How far a particle is from where the bone that is nearest at rest carries it. */
static double lag_of(const bones_copy *copy, const body_copy *body, uint32_t particle)
{
    lm_dvec3 rest = vector_widen(body->rest[particle]);
    uint32_t best = 0;
    for (uint32_t b = 1; b < copy->info.bones; b++) {
        best = distance_to_bone(&copy->bones[b], rest) < distance_to_bone(&copy->bones[best], rest) ? b : best;
    }
    rotation turn = rotation_widen(copy->bones[best].rest.rotation);
    rotation back = {-turn.x, -turn.y, -turn.z, turn.w};
    lm_dvec3 local = lmi_rotation_apply(back, vector_subtract(rest, copy->bones[best].rest.position));
    lm_dvec3 carried =
        vector_add(copy->poses[best].position, lmi_rotation_apply(rotation_widen(copy->poses[best].rotation), local));
    lm_dvec3 now = vector_add(body->info.centre, vector_widen(body->positions[particle]));
    return vector_length(vector_subtract(now, carried));
}

static double spacing_of(const body_copy *body) { return body->info.spacing > 0.0f ? body->info.spacing : 1.0; }

static lm_result take_held_error(const measuring *m, double *value)
{
    body_copy body;
    bones_copy copy;
    lm_result result = copy_body(m, &body);
    *value = 0.0;
    if (result != LM_OK) {
        return result;
    }
    result = copy_bones(m, &body, &copy);
    for (uint32_t i = 0; i < body.info.particles && result == LM_OK && copy.info.bones > 0; i++) {
        lm_dvec3 off = vector_subtract(vector_widen(body.positions[i]), vector_widen(copy.targets[i]));
        *value = copy.weights[i] >= 1.0f ? fmax(*value, vector_length(off) / spacing_of(&body)) : *value;
    }
    release_bones(&copy);
    release(&body);
    return result;
}

static lm_result take_lag(const measuring *m, double *value)
{
    body_copy body;
    bones_copy copy;
    lm_result result = copy_body(m, &body);
    *value = 0.0;
    if (result != LM_OK) {
        return result;
    }
    result = copy_bones(m, &body, &copy);
    double sum = 0.0, nearest = HUGE_VAL;
    uint32_t count = 0, best = 0;
    for (uint32_t i = 0; i < body.info.particles && result == LM_OK && copy.info.bones > 0; i++) {
        double lag = copy.weights[i] < 1.0f ? lag_of(&copy, &body, i) : 0.0;
        double away = vector_length(vector_subtract(vector_widen(body.rest[i]), m->expect->point));
        sum += lag * lag;
        count += copy.weights[i] < 1.0f;
        best = away < nearest ? i : best;
        nearest = fmin(away, nearest);
    }
    if (count > 0) {
        bool one = lmi_json_get(m->expect->head.json, "point") != NULL;
        *value = (one ? lag_of(&copy, &body, best) : sqrt(sum / count)) / spacing_of(&body);
    }
    release_bones(&copy);
    release(&body);
    return result;
}

#define TAKE_FROM_INFO(function, expression)                                                                           \
    static lm_result function(const measuring *m, double *value)                                                       \
    {                                                                                                                  \
        lm_body_info info;                                                                                             \
        lm_result result = lm_body_get_info(m->world, m->body->id, &info);                                             \
        *value = result == LM_OK ? (expression) : 0.0;                                                                 \
        return result;                                                                                                 \
    }

TAKE_FROM_INFO(take_speed, vector_length(vector_widen(info.velocity)))
TAKE_FROM_INFO(take_spin, vector_length(vector_widen(info.spin)) / RADIANS_PER_DEGREE)
TAKE_FROM_INFO(take_height, info.centre.y)
TAKE_FROM_INFO(take_lowest, info.lower.y)
TAKE_FROM_INFO(take_highest, info.upper.y)
TAKE_FROM_INFO(take_triangles, info.skin_triangles)
TAKE_FROM_INFO(take_pieces, info.pieces)
TAKE_FROM_INFO(take_broken, info.broken_links)
TAKE_FROM_INFO(take_kinetic_energy, info.kinetic_energy)

/* ------------------------------------------------------------------------------------------------------------------
 * Of the world
 */

#define TAKE_FROM_STATS(function, expression)                                                                          \
    static lm_result function(const measuring *m, double *value)                                                       \
    {                                                                                                                  \
        lm_stats stats;                                                                                                \
        lm_world_get_stats(m->world, &stats);                                                                          \
        *value = (expression);                                                                                         \
        return LM_OK;                                                                                                  \
    }

TAKE_FROM_STATS(take_bodies, stats.bodies)
TAKE_FROM_STATS(take_particles, stats.particles)
TAKE_FROM_STATS(take_regions, stats.regions)
TAKE_FROM_STATS(take_regions_per_particle,
                stats.particles > 0 ? (double)stats.memberships / (double)stats.particles : 0.0)
TAKE_FROM_STATS(take_contacts, stats.contacts)
TAKE_FROM_STATS(take_asleep, stats.asleep)

static lm_result take_finite(const measuring *m, double *value)
{
    lm_totals totals;
    lm_world_get_totals(m->world, &totals);
    *value = totals.finite ? 1.0 : 0.0;
    return LM_OK;
}

static lm_result take_max_speed(const measuring *m, double *value)
{
    lm_totals totals;
    lm_world_get_totals(m->world, &totals);
    *value = totals.max_speed;
    return LM_OK;
}

static lm_result take_momentum_error(const measuring *m, double *value)
{
    *value = lm_scene_momentum_error(m->scene, m->world);
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Of movers
 */

static const scene_mover *mover_of(const measuring *m)
{
    return LIST_ITEM(scene_mover, m->scene->file->movers, m->expect->mover_index);
}

static lm_result take_mover_height(const measuring *m, double *value)
{
    lm_pose pose;
    lm_result result = lm_mover_get_pose(m->world, mover_of(m)->id, &pose);
    *value = pose.position.y;
    return result;
}

static lm_result take_mover_drift(const measuring *m, double *value)
{
    lm_pose pose;
    lm_result result = lm_mover_get_pose(m->world, mover_of(m)->id, &pose);
    double x = pose.position.x - mover_of(m)->at.x, z = pose.position.z - mover_of(m)->at.z;
    *value = sqrt(x * x + z * z);
    return result;
}

static lm_result take_mover_speed(const measuring *m, double *value)
{
    lm_mover_def def;
    lm_result result = lm_mover_get_def(m->world, mover_of(m)->id, &def);
    lm_vec3 v = def.velocity;
    *value = sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
    return result;
}

/* Between its Y axis and the vertical. */
static lm_result take_mover_tilt(const measuring *m, double *value)
{
    lm_pose pose;
    lm_result result = lm_mover_get_pose(m->world, mover_of(m)->id, &pose);
    lm_quat q = pose.rotation;
    double up = 1.0 - 2.0 * ((double)q.x * q.x + (double)q.z * q.z);
    *value = acos(up < -1.0 ? -1.0 : up > 1.0 ? 1.0 : up) / RADIANS_PER_DEGREE;
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The table
 */

typedef struct measure {
    const char *name;
    bool of_body;
    lm_result (*take)(const measuring *measuring, double *value);
    const char *doc;
} measure;

static const measure measures[] = {
    {"residual", true, take_residual,
     "deformation: distance of the particles from the best rigid copy of the rest shape, root mean square, relative to "
     "the longest side of the rest shape"},
    {"misfit", true, take_misfit,
     "distance of the particles from where the fit pulled them in the last substep, root mean square, relative to the "
     "longest side of the rest shape"},
    {"resisted", true, take_resisted,
     "misfit divided by residual: the share of the deformation that the fit does not follow"},
    {"plastic", true, take_plastic, "lasting strain: the largest stretch or squeeze that a region keeps, less 1"},
    {"deflection", true, take_deflection,
     "distance of the particle nearest to `point` from where the starting pose puts its rest position, in m"},
    {"weight", true, take_weight, "of the example `example` in the mix that the body is in, 0 to 1"},
    {"twist", true, take_twist,
     "angle by which the ends of the body's longest side are turned against each other about it, in deg"},
    {"bend", true, take_bend, "angle between the directions of those ends, in deg"},
    {"speed", true, take_speed, "of the centre of mass, in m/s"},
    {"spin", true, take_spin, "of the rigid rotation with the body's angular momentum, in deg/s"},
    {"height", true, take_height, "of the centre of mass, in m"},
    {"lowest", true, take_lowest, "height of the lowest particle, in m"},
    {"highest", true, take_highest, "height of the highest particle, in m"},
    {"surface_lowest", true, take_surface_lowest,
     "height of the lowest vertex of the surface, in m; without a surface that of the lowest particle"},
    {"drift", true, take_drift, "how far the centre of mass has moved sideways since the start, in m"},
    {"overlap", true, take_overlap,
     "how deep points of its surface are inside the surface of another body, at most, in m (costly: at the end or at a "
     "time)"},
    {"kinetic_energy", true, take_kinetic_energy, "in J"},
    {"volume", true, take_volume, "within the surface, relative to the rest shape's"},
    {"triangles", true, take_triangles, "how many the surface has"},
    {"pieces", true, take_pieces,
     "number of pieces that no link connects; 1 for clusters and tetrahedra that were not cut"},
    {"broken_links", true, take_broken, "of a lattice that breaks, so far"},
    {"outside", true, take_outside, "number of particles outside `box`"},
    {"held_error", true, take_held_error,
     "largest distance of a particle that bones hold from where they carry it, relative to the lattice's spacing (in m "
     "for "
     "other bodies)"},
    {"lag", true, take_lag,
     "distance of the particles that bones do not hold from where the nearest bone would carry them, root mean square, "
     "or of "
     "the one nearest to `point`, relative to the lattice's spacing (in m for other bodies); beside a bent joint flesh "
     "is never quite there"},
    {"bodies", false, take_bodies, "how many there are"},
    {"particles", false, take_particles, "how many there are"},
    {"regions", false, take_regions, "how many clusters there are"},
    {"regions_per_particle", false, take_regions_per_particle, "clusters that a particle is in, on average"},
    {"asleep", false, take_asleep, "bodies that are, where the scene has `sleep`"},
    {"contacts", false, take_contacts, "number of points touching colliders"},
    {"finite", false, take_finite, "1 when every position and velocity is a finite number, else 0"},
    {"max_speed", false, take_max_speed, "of a particle, in m/s"},
    {"mover_height", false, take_mover_height, "of the origin of `mover`, in m"},
    {"mover_drift", false, take_mover_drift, "how far that has moved sideways since the start, in m"},
    {"mover_speed", false, take_mover_speed, "of that, in m/s"},
    {"mover_tilt", false, take_mover_tilt, "angle between the mover's Y axis and the vertical, in deg"},
    {"momentum_error", false, take_momentum_error,
     "momentum that no impulse from outside explains, relative to the largest sum of m |v| so far"},
};

#define MEASURE_COUNT (sizeof measures / sizeof measures[0])

const char *lmi_measure_name(uint32_t index) { return index < MEASURE_COUNT ? measures[index].name : NULL; }

const char *lmi_measure_doc(uint32_t index) { return measures[index].doc; }

bool lmi_measure_is_of_body(uint32_t index) { return measures[index].of_body; }

bool lmi_measure_needs_box(uint32_t index) { return measures[index].take == take_outside; }

bool lmi_measure_needs_mover(uint32_t index) { return strncmp(measures[index].name, "mover_", 6) == 0; }

lm_result lmi_measure_take(const lm_scene *s, const lm_world *world, const scene_expect *expect, uint32_t body,
                           double *value)
{
    bool of_body = measures[expect->measure].of_body;
    measuring m = {s, world, expect, of_body ? &s->bodies[body] : NULL};
    return measures[expect->measure].take(&m, value);
}
