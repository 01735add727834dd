/*
 * A body's record on its way to local memory and back.
 */

/* A record is worked on in local memory: one work-item goes from one of its numbers to the next, and each of these ways would
 * be as long as that to the device's memory. */
#define RECORD __local

#define RECORD_WORDS (sizeof(lmi_gpu_body) / sizeof(uint))

/* `step` work-items bring it, which the compiler should know: then it has several loads under way. (Asked to unroll the loop PoCL
 * 3.1 makes something else of it.) */
static inline void take_record(RECORD lmi_gpu_body *to, __global const lmi_gpu_body *from, uint id, uint step)
{
    for (uint n = id; n < RECORD_WORDS; n += step) {
        ((RECORD uint *)to)[n] = ((__global const uint *)from)[n];
    }
}

static inline void give_record(__global lmi_gpu_body *to, RECORD const lmi_gpu_body *from, uint id, uint step)
{
    for (uint n = id; n < RECORD_WORDS; n += step) {
        ((__global uint *)to)[n] = ((RECORD const uint *)from)[n];
    }
}
