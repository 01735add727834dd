/*
 * Passes over particles: each owner gives its particles what the contacts that they hold have put into `more` (and `shift`), one
 * contact after the other in the order of its runs. An owner is done by one task, so that no particle is written by two.
 */
#include "contact/solver.h"

/* Adds up to what the particles have, `to` (and `also`, of `shift`, or null). */
static LMI_ALWAYS_INLINE void give(const lmi_solver *s, const lmi_side_refs *r, float *to, float *also)
{
    for (uint32_t n = 0; n < r->count; n++) {
        const size_t contact = (size_t)(r->contact + n) * 4;
        const quad more = quad_load(s->more + contact), shift = also ? quad_load(s->shift + contact) : more;
        const uint32_t *index = s->index + r->first + n;
        const float *lever = s->lever + r->first + n;
        for (uint32_t row = 0; row < r->rows; row++, index += LMI_BLOCK, lever += LMI_BLOCK) {
            float *at = to + (size_t)*index * 4;
            quad_store(at, quad_load(at) + *lever * more);
            if (also) {
                at = also + (size_t)*index * 4;
                quad_store(at, quad_load(at) + *lever * shift);
            }
        }
    }
}

static void give_velocities(lmi_solver *s, uint32_t owner, const lmi_side_refs *r)
{
    (void)owner;
    give(s, r, s->v, NULL);
}

static void give_positions(lmi_solver *s, uint32_t owner, const lmi_side_refs *r)
{
    (void)owner;
    give(s, r, s->x, NULL);
}

static void give_both(lmi_solver *s, uint32_t owner, const lmi_side_refs *r)
{
    (void)owner;
    give(s, r, s->v, s->x);
}

static void each_owner(lmi_solver *s, uint32_t piece, lmi_refs_function *each)
{
    for (uint32_t n = piece * LMI_PIECE_OWNERS; n < (piece + 1) * LMI_PIECE_OWNERS && n < s->owner_count; n++) {
        lmi_touched_each(s, n, true, each);
    }
}

void lmi_give_velocities(lmi_solver *s, uint32_t piece) { each_owner(s, piece, give_velocities); }
void lmi_give_positions(lmi_solver *s, uint32_t piece) { each_owner(s, piece, give_positions); }
void lmi_give_both(lmi_solver *s, uint32_t piece) { each_owner(s, piece, give_both); }
