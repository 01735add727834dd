/*
 * Parts of an octree that nothing joins: each is damped towards its own motion as a whole.
 *
 *   v_i += k (V_i - v_i)     V_i = velocity + spin x (x_i - centre) of the part
 *
 * Reads positions, writes velocities; one particle after the other in double precision, and only for bodies of several parts.
 * Momentum and spin of every part are kept. Parts of regional damping need nothing: regions end where parts do.
 */
#include "octree_body.h"
#include "step/motion.h"

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

void lmi_octree_damp_parts(lmi_body *body)
{
    lmi_octree_body *o = body->octree;
    if (o->part_count < 2 || !(body->damping_now > 0.0f) || body->material.damping_kind == LM_DAMPING_REGIONAL) {
        return;
    }
    memset(o->parts, 0, o->part_count * sizeof *o->parts);
    for (uint32_t leaf = body->particle_count; leaf-- > 0;) {
        o->parts[o->part[leaf]].first = body->place[leaf];
    }
    for (uint32_t leaf = 0; leaf < body->particle_count; leaf++) { /* in the order of the tree */
        add_particle(body, &o->parts[o->part[leaf]], body->place[leaf]);
    }
    for (uint32_t n = 0; n < o->part_count; n++) {
        lmi_octree_part *part = &o->parts[n];
        lm_vec3 none = {0.0f, 0.0f, 0.0f};
        lmi_motion_solve(&part->motion, none, none, part->mass, part->moment, part->momentum, part->angular,
                         part->second);
    }
    for (uint32_t leaf = 0; leaf < body->particle_count; leaf++) {
        const lmi_octree_part *part = &o->parts[o->part[leaf]];
        float *v = body->v + (size_t)body->place[leaf] * 4;
        lm_dvec3 r = dvec_sub(from_first(body, part, body->place[leaf]), dvec_from(part->motion.centre));
        lm_dvec3 whole = dvec_add(dvec_from(part->motion.velocity), dvec_cross(dvec_from(part->motion.spin), r));
        lm_dvec3 change = dvec_sub(whole, dvec(v[0], v[1], v[2]));
        lmi_change_velocity(v, dvec_scale(change, body->damping_now));
    }
    body->damping_now = 0.0f;
}
