/*
 * What can be known of a world that a device steps without bringing all of it back. Every function here says false where the host's
 * own state is up to date, or where it has been brought up to date because that was simpler; then the host's state is the answer.
 */
#ifndef LMI_GPU_LOOK_H
#define LMI_GPU_LOOK_H

#include "world/world.h"

/* Vertices relative to the body's origin, and normals; either may be null. *origin is filled in where there are vertices. */
bool lmi_gpu_get_skin(const lm_world *world, const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals,
                      lm_dvec3 *origin);

/* A body as the device has it: `body` is a copy with positions, velocities (where asked for), origin, bounds and contacts of
 * its own; all else is the host's. Give it back with lmi_gpu_look_end. */
typedef struct lmi_look {
    lmi_body body;
    float *room;
    size_t size;
} lmi_look;

/* From the ninth look between two substeps on, everything is brought back instead. */
#define LMI_GPU_LOOKS 8

bool lmi_gpu_look_body(const lm_world *world, const lmi_body *body, bool velocities, lmi_look *look);
void lmi_gpu_look_end(const lm_world *world, lmi_look *look);

/* Sums over the particles of one body, from its origin; found for all bodies at once, and kept until the next substep. */
typedef struct lmi_look_sums {
    lm_dvec3 origin, first, momentum, angular; /* m x, m v, x cross m v */
    double second[6];                          /* m x x: xx yy zz xy yz zx */
    double energy, speed;                      /* the highest */
    lm_vec3 lower, upper;
    uint32_t contacts;
} lmi_look_sums;

bool lmi_gpu_look_sums(const lm_world *world, const lmi_body *body, lmi_look_sums *sums);

/* Where bodies are, by slot: origin, and bounds relative to it. Of those that the device steps; the others have `known` false. */
typedef struct lmi_seen {
    lm_dvec3 origin;
    lm_vec3 lower, upper;
    bool known;
} lmi_seen;

/* [world->bodies.slots], scratch; null for false. */
lmi_seen *lmi_gpu_look_all(const lm_world *world);

/* Memory for a while, from a function that several threads may be in. */
void *lmi_gpu_scratch_take(const lm_world *world, size_t count, size_t size);
void lmi_gpu_scratch_give(const lm_world *world, void *scratch, size_t count, size_t size);

/* Contacts of all bodies in the last substep, and what was given to them from outside in all. */
bool lmi_gpu_look_stats(const lm_world *world, uint32_t *contacts, lm_dvec3 *outside_impulse);

/* Sums over the particles of all bodies that the device steps. */
bool lmi_gpu_look_totals(const lm_world *world, lm_totals *totals);

#endif
