/*
 * A slow double-precision reference of the whole step of one body.
 *
 * It follows the equations, not the code: no code of src/ is used, the decompositions are Jacobi's, the sums run over
 * plain lists. The library must agree with it to rounding (test/world/test_reference.c).
 *
 * One substep of h seconds:
 *
 *   repay       momentum and angular momentum that regional damping changed in the last substep
 *   forces      v += wind and point fields, forces on particles; then h (gravity + uniform fields + force/mass)
 *   rigid       centre c, velocity u, spin w of the particles that are in some region
 *   mix         the mix of examples nearest to the stretch of the regions
 *   flow        the plastic matrix of a region strained beyond the yield follows it
 *   match       goal = x + mean over the particle's regions of the region's share (0 to 1) of (region's goal - x)
 *   integrate   v += k (u + w x (x - c) - v), or regional damping, every so many substeps;  v += alpha (goal - x)/h;  x += h v
 *               (drags act on v before x moves)
 *   contact     particles leave the colliders, one collider after the other; held particles go to their targets
 */
#ifndef LIMBER_TEST_REFERENCE_H
#define LIMBER_TEST_REFERENCE_H

#include "limber/limber.h"
#include "linear.h"

#define REF_MAX_COLLIDERS 8
#define REF_MAX_FIELDS 8
#define REF_MAX_DRAGS 4
#define REF_MAX_FRAMES 4

/* A frame that moves evenly from where it is at time 0. */
typedef struct ref_frame {
    ref_vec position;
    ref_mat rotation;
    ref_vec velocity, spin;
} ref_frame;

/* Position and rotation are in the frame's coordinates, or in the world's when frame is -1. */
typedef struct ref_collider {
    lm_shape shape;
    double radius, half_length;
    ref_vec half_extents;
    ref_vec position;
    ref_mat rotation;
    int frame;
    double friction, restitution;
} ref_collider;

typedef struct ref_field {
    lm_field_kind kind;
    ref_vec vector, position;
    double strength, radius;
} ref_field;

/* A spring with the frequency and damping it would have with the whole body's mass, on the particles within `radius` of
 * `particle` in the rest pose, the farther the weaker. */
typedef struct ref_drag {
    uint32_t particle;
    double radius;
    ref_vec target;
    double hertz, damping_ratio, max_force;
} ref_drag;

/* Poses that the regions' stretches are compared with (reference_examples.c). */
typedef struct ref_examples {
    int count; /* 0: none */
    double beta;
    uint32_t groups;
    ref_vec *poses;  /* count times the particles */
    uint32_t *group; /* of each region, or LM_NO_GROUP */
    double *weights; /* LM_MAX_EXAMPLES + 1 for each group, the rest pose first */
} ref_examples;

/* What regional damping gave a connected part of the body and should not have. */
typedef struct ref_debt {
    ref_vec momentum, angular;
} ref_debt;

typedef struct ref_body {
    uint32_t count;
    ref_vec *rest, *x, *v;
    double *mass;
    ref_vec *force; /* newtons on each particle, until changed */
    ref_vec push;   /* m/s² on all of them, until changed */
    bool *pinned;
    ref_vec *target; /* of the pinned, in the frame's coordinates */
    int *target_frame;

    uint32_t region_count;
    uint32_t *offsets, *members;
    double *share; /* of each region's pull */
    double
        *count_as; /* of each region: what it counts among those of a particle; 1, in an octree the mass of its leaf */
    ref_mat *plastic; /* of each region: symmetric, determinant 1 */
    ref_mat *mix;     /* of each region: what the examples make of its rest shape, on top of that */
    ref_examples examples;

    lm_material material;
    double contact_radius;
    ref_vec gravity;
    ref_frame frames[REF_MAX_FRAMES];
    int frame_count;
    ref_collider colliders[REF_MAX_COLLIDERS];
    int collider_count;
    ref_field fields[REF_MAX_FIELDS];
    int field_count;
    ref_drag drags[REF_MAX_DRAGS];
    int drag_count;
    double time;
    uint32_t damping_turn; /* substeps since the last damped one */
    uint32_t *part;        /* of each particle; null until regional damping needs it */
    uint32_t part_count;
    ref_debt *debt; /* of each part */

    /* How near any region came to one of the fit's thresholds, where the answer is a matter of choice. Above 1 there is no
     * doubt; tests compare only there. */
    double margin;
} ref_body;

/* Copies a body of the library: rest points, masses, regions with their shares and plastic matrices, material, positions
 * and velocities as they are now. */
ref_body *ref_body_copy(const lm_world *world, lm_body_id body, double contact_radius);
void ref_body_free(ref_body *body);

/* Gives it examples, the same as lm_body_set_examples does. */
void ref_set_examples(ref_body *body, const lm_examples_def *def);
void ref_free_examples(ref_body *body);

/* Finds the mix of every region from the positions as they are. */
void ref_mix(ref_body *body);

/* The stretch of a region in an example, less 1. */
ref_mat ref_example_stretch(const ref_body *body, uint32_t region, uint32_t example);

/* The weights (at least 0, sum 1) of `count` corners whose mix is nearest to a target, by trying every face of their hull.
 * `gram`: products of the corners and, last, of the target with all of them, (count + 1)². Returns the squared distance. */
double ref_nearest_mix(int count, const double *gram, double *weights);

/* One substep of h seconds. */
void ref_body_step(ref_body *body, double h);

/* Takes the share k of what is not rigid motion of the regions out of the velocities (reference_damping.c). */
void ref_damp_regions(ref_body *body, double k);

/* Takes out of the velocities what the damping of the last substep gave. */
void ref_repay(ref_body *body);

/* Where each particle is pulled to. Does not change the body but for `margin`. */
void ref_match(ref_body *body, ref_vec *goals);

/* Lets the plastic matrices flow for h seconds, from the positions as they are. */
void ref_flow(ref_body *body, double h);

/* The plastic matrix after h seconds of the deformation `a` (which stands for A, completed where the rest shape is flat).
 * `strain` (may be null) gets the largest elastic stretch less 1, which is compared with the yield. */
ref_mat ref_flowed(ref_mat plastic, ref_mat a, const lm_material *material, double h, double *strain);

/* The symmetric matrix whose square is b^T b, its logarithmic stretches made to sum to 0, then scaled down together until
 * none is further than `most` from 1. */
ref_mat ref_limited_stretch(ref_mat b, double most);

/* The closest rotation to a: maximises tr(R^T a) over rotations. */
ref_mat ref_polar(ref_mat a);

/* The matrix B of determinant 1 that minimises tr((B - a) q (B - a)^T), q symmetric positive definite. */
ref_mat ref_unit_volume(ref_mat a, ref_mat q);

/* The share of the way to the goal and of the deformation velocity that a substep of h seconds takes away. */
void ref_rates(const lm_material *material, double h, double *alpha, double *k);

/* Distance of p from the collider's surface, negative inside, and the outward normal there. */
double ref_collider_distance(const ref_collider *collider, const ref_frame *frames, double time, ref_vec p,
                             ref_vec *normal);

#endif
