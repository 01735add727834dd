/*
 * Parts of an octree, or of clusters that were cut, that nothing joins: each is damped towards its own motion as a whole.
 *
 *   v_i += k (V_i - v_i)     V_i = velocity + spin x (x_i - centre) of the part
 *
 * Reads positions, writes velocities; one particle after the other in double precision, and only for bodies of several parts.
 * Momentum and spin of every part are kept. Parts of regional damping need nothing: regions end where parts do.
 */
#include "cut/grain.h"
#include "octree/octree_body.h"
#include "world/motion.h"

#include <string.h>

static lm_dvec3 from_first(const lmi_body *body, const lmi_octree_part *part, uint32_t n)
{
    const float *x = body->x + (size_t)n * 4, *at = body->x + (size_t)part->first * 4;
    return dvec((double)x[0] - at[0], (double)x[1] - at[1], (double)x[2] - at[2]);
}

static void add_particle(const lmi_body *body, lmi_octree_part *part, uint32_t n)
{
    const float *v = body->v + (size_t)n * 4;
    double mass = v[3];
    lm_dvec3 r = from_first(body, part, n), p = dvec(mass * v[0], mass * v[1], mass * v[2]), l = dvec_cross(r, p);
    part->mass += mass;
    part->moment[0] += mass * r.x, part->moment[1] += mass * r.y, part->moment[2] += mass * r.z;
    part->momentum[0] += p.x, part->momentum[1] += p.y, part->momentum[2] += p.z;
    part->angular[0] += l.x, part->angular[1] += l.y, part->angular[2] += l.z;
    part->second[0] += mass * r.x * r.x, part->second[1] += mass * r.y * r.y, part->second[2] += mass * r.z * r.z;
    part->second[3] += mass * r.x * r.y, part->second[4] += mass * r.y * r.z, part->second[5] += mass * r.z * r.x;
}

/* `part`: of each particle in the caller's order, or (`by_place`) by place. Sums are taken in the caller's order. */
static void damp_parts(lmi_body *body, const uint32_t *part_of, bool by_place, lmi_octree_part *parts, uint32_t count)
{
    if (count < 2 || !(body->damping_now > 0.0f) || body->material.damping_kind == LM_DAMPING_REGIONAL) {
        return;
    }
    memset(parts, 0, count * sizeof *parts);
    for (uint32_t n = body->particle_count; n-- > 0;) {
        parts[part_of[by_place ? body->place[n] : n]].first = body->place[n];
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        add_particle(body, &parts[part_of[by_place ? body->place[n] : n]], body->place[n]);
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_octree_part *part = &parts[n];
        lm_vec3 none = {0.0f, 0.0f, 0.0f};
        lmi_motion_solve(&part->motion, none, none, part->mass, part->moment, part->momentum, part->angular,
                         part->second);
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        const lmi_octree_part *part = &parts[part_of[by_place ? body->place[n] : n]];
        float *v = body->v + (size_t)body->place[n] * 4;
        lm_dvec3 r = dvec_sub(from_first(body, part, body->place[n]), dvec_from(part->motion.centre));
        lm_dvec3 whole = dvec_add(dvec_from(part->motion.velocity), dvec_cross(dvec_from(part->motion.spin), r));
        lm_dvec3 change = dvec_sub(whole, dvec(v[0], v[1], v[2]));
        lmi_change_velocity(v, dvec_scale(change, body->damping_now));
    }
    body->damping_now = 0.0f;
}

void lmi_octree_damp_parts(lmi_body *body)
{
    lmi_octree_body *o = body->octree;
    damp_parts(body, o->part, false, o->parts, o->part_count);
}

void lmi_grain_damp_parts(lmi_body *body)
{
    lmi_grain *g = body->grain;
    damp_parts(body, g->part, true, g->parts, g->part_count);
}
