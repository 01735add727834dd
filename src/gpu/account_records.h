/*
 * What host and device both read of the account of who touches whom (kernels/account.cl): one text for C and for OpenCL C, as
 * records.h.
 */
#ifndef LMI_GPU_ACCOUNT_RECORDS_H
#define LMI_GPU_ACCOUNT_RECORDS_H

#ifndef __OPENCL_VERSION__
#include <stdint.h>
#endif

#define LMI_GPU_TOLD 64 /* bodies and colliders that a body touches in a step and that are told of, at most */

/* Before the number of a collider: else it is that of a meeter. */
#define LMI_GPU_TOLD_WALL 0x80000000u

/* An entry of a body's list; its sums (LMI_GPU_TOUCH_WEIGHT and so on, wall_records.h) are beside it. */
typedef struct lmi_gpu_told {
    uint32_t who;  /* meeter */
    uint32_t with; /* meeter, or a collider in the order of their slots */
    uint32_t pressing;
    uint32_t pad;
} lmi_gpu_told;

/* A body that sleeps, and whom others must not come near without the host. */
typedef struct lmi_gpu_sleeper {
    double lower[3], upper[3];
    uint32_t group, mask;
} lmi_gpu_sleeper;

#endif
