#include "test/support/follow.h"

#include "test/reference/reference.h"

#include <math.h>

apart follow_reference(lm_world *world, lm_body_id body, int frames)
{
    ref_body *reference = ref_body_copy(world, body, 0.0);
    for (int frame = 0; frame < frames; frame++) {
        assert_ok(lm_world_step(world, FRAME));
        ref_body_step(reference, FRAME);
    }
    body_state state = state_read(world, body, lm_dvec3_zero());
    apart worst = {0.0, 0.0};
    for (uint32_t n = 0; n < state.count; n++) {
        worst.metres = fmax(worst.metres, ref_length(ref_sub(state.x[n], reference->x[n])));
        worst.speed = fmax(worst.speed, ref_length(ref_sub(state.v[n], reference->v[n])));
    }
    state_free(&state);
    ref_body_free(reference);
    return worst;
}
