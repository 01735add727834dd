/*
 * What host and device both read of pins, drags and bones (kernels/held.cl): one text for C and for OpenCL C, as records.h.
 */
#ifndef LMI_GPU_HELD_RECORDS_H
#define LMI_GPU_HELD_RECORDS_H

/* What carries targets in this substep: the world (the first of them), movers, bones. lmi_carrier. */
typedef struct lmi_gpu_carrier {
    double rotation[9], position[3], velocity[3], spin[3];
} lmi_gpu_carrier;

/* A share of a particle's target: a point of a carrier's frame. */
typedef struct lmi_gpu_link {
    double place[3];
    float share;
    uint32_t carrier;
} lmi_gpu_link;

/* A particle that is held, or pulled by bones: its links are those up to the next one's. */
typedef struct lmi_gpu_held_particle {
    uint32_t particle, link;
    float weight;
    uint32_t pad;
} lmi_gpu_held_particle;

/* All of them of one body, or its drags. */
typedef struct lmi_gpu_grip {
    double base, damping_ratio; /* of a skeleton: the spring that pulls (lmi_pull_particle) */
    uint32_t body, first, count;
    uint32_t pad;
} lmi_gpu_grip;

/* A drag in this substep, and the particles that it pulls. */
typedef struct lmi_gpu_drag {
    double target[3]; /* world */
    double hertz, damping_ratio, max_force, whole, mean_mass;
    uint32_t first, count;
} lmi_gpu_drag;

#endif
