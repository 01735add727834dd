/*
 * Leaves that are joined into one (octree_change.h).
 *
 * The new particle has the mass of all of them, is in the middle of where they are, and moves with their momentum. What they had of
 * spin about that middle a particle cannot have: it goes to the new leaf and its neighbours, as a rotation of these about their own
 * middle, which adds no momentum:
 *
 *     v_k += w x (x_k - c)        I w = sum m_i (x_i - x) x v_i        c, I: of the leaf and its neighbours
 *
 * Lasting deformation is the mean by mass; the rotation, from which the next fit starts, is the heaviest leaf's.
 */
#include "octree/octree_change.h"
#include "world/body.h"

#include <string.h>

static lm_dvec3 place_of(const float *x, uint32_t place)
{
    return dvec(x[(size_t)place * 4], x[(size_t)place * 4 + 1], x[(size_t)place * 4 + 2]);
}

void lmi_octree_join_particle(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    uint32_t is = c->made.place[leaf];
    double mass = 0.0;
    lm_dvec3 at = lm_dvec3_zero(), momentum = lm_dvec3_zero();
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = old->place[c->from[leaf] + k];
        mass += old->mass[was];
        at = dvec_add(at, dvec_scale(place_of(old->x, was), old->mass[was]));
        momentum = dvec_add(momentum, dvec_scale(place_of(old->v, was), old->mass[was]));
    }
    lm_vec3 x = vec_from(dvec_scale(at, 1.0 / mass)), v = vec_from(dvec_scale(momentum, 1.0 / mass));
    memcpy(c->made.x + (size_t)is * 4, &x, 3 * sizeof(float));
    memcpy(c->made.v + (size_t)is * 4, &v, 3 * sizeof(float));
    c->made.mass[is] = (float)mass;
}

/* The spin that joined leaves had about the new one. */
static lm_dvec3 lost_spin(const lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    lm_dvec3 lost = lm_dvec3_zero(), at = place_of(c->made.x, c->made.place[leaf]);
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = old->place[c->from[leaf] + k];
        lm_dvec3 arm = dvec_sub(place_of(old->x, was), at);
        lost = dvec_add(lost, dvec_cross(arm, dvec_scale(place_of(old->v, was), old->mass[was])));
    }
    return lost;
}

/* Turns a leaf and its neighbours. */
static void give_spin(lmi_octree_change *c, uint32_t leaf, lm_dvec3 spin)
{
    lmi_body *made = &c->made;
    const lmi_octree_lists *near = &made->octree->tree.neighbours;
    uint32_t count = near->offsets[leaf + 1] - near->offsets[leaf];
    lm_dvec3 from = place_of(made->x, made->place[leaf]), centre = lm_dvec3_zero();
    double mass = 0.0, inertia[6] = {0};
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t place = made->place[n < count ? near->items[near->offsets[leaf] + n] : leaf];
        mass += made->mass[place];
        centre = dvec_add(centre, dvec_scale(dvec_sub(place_of(made->x, place), from), made->mass[place]));
    }
    centre = dvec_add(from, dvec_scale(centre, 1.0 / mass));
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t place = made->place[n < count ? near->items[near->offsets[leaf] + n] : leaf];
        lm_dvec3 r = dvec_sub(place_of(made->x, place), centre);
        double m = made->mass[place];
        inertia[0] += m * (r.y * r.y + r.z * r.z), inertia[1] += m * (r.z * r.z + r.x * r.x);
        inertia[2] += m * (r.x * r.x + r.y * r.y), inertia[3] -= m * r.x * r.y;
        inertia[4] -= m * r.y * r.z, inertia[5] -= m * r.z * r.x;
    }
    lm_dvec3 w = dmat_solve_spin(inertia, spin);
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t place = made->place[n < count ? near->items[near->offsets[leaf] + n] : leaf];
        lm_dvec3 by = dvec_cross(w, dvec_sub(place_of(made->x, place), centre));
        lm_vec3 v = vec_from(dvec_add(place_of(made->v, place), by));
        memcpy(made->v + (size_t)place * 4, &v, 3 * sizeof(float));
    }
}

void lmi_octree_join_spins(lmi_octree_change *c)
{
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) { /* one after the other, in the order of the tree */
        if (c->joined[leaf] > 1) {
            give_spin(c, leaf, lost_spin(c, leaf));
        }
    }
}

/* The state of one region of before, in the axes of the new one. */
static void take_region(lmi_octree_change *c, uint32_t leaf, uint32_t was)
{
    uint32_t stride;
    const float *rotation = lmi_body_rotation(c->world, c->body, was, &stride);
    for (uint32_t i = 0; i < 9; i++) {
        c->made.rotation[(size_t)leaf * 9 + i] = rotation[i * stride];
    }
    const float *plastic = lmi_body_plastic(c->world, c->body, was, &stride);
    for (uint32_t i = 0; i < 6; i++) {
        c->made.plastic[(size_t)leaf * 6 + i] = plastic[i * stride];
    }
    lmi_body_turn_axes(c->world, &c->made, leaf, &c->body->regions[was].axes);
}

void lmi_octree_join_region(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    uint32_t heaviest = c->from[leaf];
    double mass = 0.0, plastic[6] = {0};
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = c->from[leaf] + k;
        double m = old->mass[old->place[was]];
        take_region(c, leaf, was);
        for (int i = 0; i < 6; i++) {
            plastic[i] += m * c->made.plastic[(size_t)leaf * 6 + (size_t)i];
        }
        mass += m;
        heaviest = m > old->mass[old->place[heaviest]] ? was : heaviest;
    }
    take_region(c, leaf, heaviest);
    for (int i = 0; i < 6; i++) {
        c->made.plastic[(size_t)leaf * 6 + (size_t)i] = (float)(plastic[i] / mass);
    }
}
