/*
 * The particles of an end.
 *
 * Reads rest positions and where particles are; writes lists of places, in the order of places.
 */
#include "joint/joint.h"

/* A patch that is found by distance has so many particles at least, where the body has them. */
#define LEAST 8u

static lm_dvec3 position_of(const lmi_body *body, uint32_t n)
{
    const float *x = body->x + (size_t)n * 4;
    return dvec_add(body->origin, dvec(x[0], x[1], x[2]));
}

static uint32_t nearest_to(const lmi_body *body, lm_dvec3 anchor)
{
    uint32_t nearest = LMI_NONE;
    double least = INFINITY;
    LMI_PARTICLES_EACH(body, n)
    {
        double away = dvec_length(dvec_sub(position_of(body, n), anchor));
        if (nearest == LMI_NONE || away < least) {
            nearest = n;
            least = away;
        }
    }
    return nearest;
}

static double rest_distance(const lmi_body *body, uint32_t a, uint32_t b)
{
    return dvec_length(dvec_sub(dvec_from(body->rest[a]), dvec_from(body->rest[b])));
}

/* The distance within which LEAST particles are, the middle one among them. */
static double least_radius(const lmi_body *body, uint32_t middle)
{
    double nearest[LEAST];
    uint32_t count = 0;
    LMI_PARTICLES_EACH(body, n)
    {
        double away = rest_distance(body, n, middle);
        uint32_t at = count < LEAST ? count++ : LEAST;
        for (; at > 0 && nearest[at - 1] > away; at--) {
            if (at < LEAST) {
                nearest[at] = nearest[at - 1];
            }
        }
        if (at < LEAST) {
            nearest[at] = away;
        }
    }
    return nearest[count - 1];
}

static uint32_t list_within(const lmi_body *body, uint32_t middle, double radius, uint32_t *places)
{
    uint32_t count = 0;
    LMI_PARTICLES_EACH(body, n)
    {
        if (rest_distance(body, n, middle) <= radius) {
            if (places) {
                places[count] = n;
            }
            count++;
        }
    }
    return count;
}

/* A body that a substep brings back to its shape is held as a whole: a patch would be pulled out of it and put back again. */
static bool is_rigid(const lmi_body *body)
{
    return body->material.stiffness == LM_STIFFNESS_ALPHA && body->material.alpha >= 0.9f;
}

bool lmi_patch_make(lm_world *world, const lmi_body *body, const lm_joint_end *def, lmi_joint_end *end)
{
    uint32_t middle = def->particles ? LMI_NONE : nearest_to(body, def->anchor);
    double radius = def->particles ? 0.0 : lmi_max(def->radius, 1.000001 * least_radius(body, middle));
    radius = is_rigid(body) ? INFINITY : radius;
    end->count = def->particles ? def->particle_count : list_within(body, middle, radius, NULL);
    end->particles = lmi_allocate(&world->memory, end->count, sizeof *end->particles);
    if (!end->particles) {
        end->count = 0;
        return false;
    }
    if (!def->particles) {
        list_within(body, middle, radius, end->particles);
    }
    for (uint32_t n = 0; def->particles && n < end->count; n++) {
        end->particles[n] = body->place[def->particles[n]];
    }
    return true;
}

bool lmi_patches_share(const lmi_joint_end *a, const lmi_joint_end *b)
{
    for (uint32_t n = 0; n < a->count; n++) {
        for (uint32_t k = 0; k < b->count; k++) {
            if (a->particles[n] == b->particles[k]) {
                return true;
            }
        }
    }
    return false;
}

bool lmi_patch_has_frame(const lmi_body *body, const lmi_joint_end *end)
{
    lm_dvec3 first = dvec_from(body->rest[end->particles[0]]), along = lm_dvec3_zero();
    double length = 0.0, across = 0.0;
    for (uint32_t n = 1; n < end->count; n++) {
        lm_dvec3 to = dvec_sub(dvec_from(body->rest[end->particles[n]]), first);
        if (dvec_length(to) > length) {
            along = to;
            length = dvec_length(to);
        }
    }
    for (uint32_t n = 1; n < end->count && length > 0.0; n++) {
        lm_dvec3 to = dvec_sub(dvec_from(body->rest[end->particles[n]]), first);
        across = lmi_max(across, dvec_length(dvec_cross(to, along)) / length);
    }
    return across > 1e-3 * length;
}
