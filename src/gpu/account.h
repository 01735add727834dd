/*
 * Who touches whom, where bodies meet on the device and somebody asks (contact events, sleep): lists of each body, kept there over
 * the substeps of a step (kernels/account.cl), are read back at its end. Particles that meet colliders have theirs in walls.c.
 *
 * Bodies that sleep are not on the device. Where one that is awake comes so near to one of them that the two may touch, the
 * substep is the host's, which knows both.
 */
#ifndef LMI_GPU_ACCOUNT_H
#define LMI_GPU_ACCOUNT_H

#include "gpu/account_records.h"
#include "gpu/gpu.h"

typedef struct lmi_gpu_accounts {
    cl_kernel offsets, gather, sleepers_near; /* of the program of gpu_meet.h */
    cl_kernel solved, inner;                  /* of that of solve.h */
    lmi_gpu_buffer lists, sums, counts, first, found, told, told_sums, sleepers;
    lmi_gpu_told *entry; /* on their way */
    double *entry_sums;
    uint32_t *slots; /* of the bodies that meet */
    uint32_t entry_capacity, sum_capacity, slot_capacity;
    uint32_t sleeper_count;
    bool tells;  /* an account is kept */
    bool events; /* and it says what contacts came to, and not only who touches whom */
    bool fresh;  /* it begins with the next substep */
} lmi_gpu_accounts;

/* Everything that does not change in a step, after gpu_meet.h and solve.h have been laid out. False after a failure. */
bool lmi_gpu_accounts_lay_out(lm_world *world, lmi_gpu *gpu);

/* Before the program of solve.h is made again. */

/* After it is known what boxes bodies are in: a word for the host where one comes near one that sleeps. */
bool lmi_gpu_find_waking(lmi_gpu *gpu);

/* What contacts came to, once they are solved, and what inner particles will have of colliders. Nothing where nobody asks. */
bool lmi_gpu_account_solved(lmi_gpu *gpu);
bool lmi_gpu_account_pressed(lmi_gpu *gpu); /* of bodies alone: press.h */
bool lmi_gpu_account_inner(lmi_gpu *gpu, const lmi_step *step);

/* What the account holds to the bodies (lmi_touching), whereupon it begins again: at the end of a step, or where the host goes on with
 * it. False after a failure. */
bool lmi_gpu_accounts_take(lm_world *world);

#endif
