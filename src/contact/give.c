/*
 * Passes over particles: each adds up what the contacts that it holds have put into `more` (and `shift`), in the order of its
 * entries, and moves.
 */
#include "contact/solver.h"

typedef struct range {
    uint32_t first, end; /* particles */
    uint32_t entry;      /* of the first */
} range;

static range range_of(const lmi_solver *s, uint32_t piece)
{
    uint32_t first = piece * LMI_PIECE_PARTICLES, end = first + LMI_PIECE_PARTICLES;
    return (range){first, end < s->particle_count ? end : s->particle_count, first ? s->entry_end[first - 1] : 0};
}

static void give(const lmi_solver *s, uint32_t piece, float *to)
{
    range r = range_of(s, piece);
    const lmi_entry_held *e = s->entries + r.entry;
    for (uint32_t n = r.first; n < r.end; n++) {
        quad sum = quad_load(to + (size_t)n * 4);
        for (const lmi_entry_held *end = s->entries + s->entry_end[n]; e < end; e++) {
            sum += e->lever * quad_load(s->more + (size_t)e->contact * 4);
        }
        quad_store(to + (size_t)n * 4, sum);
    }
}

void lmi_give_velocities(lmi_solver *s, uint32_t piece) { give(s, piece, s->v); }
void lmi_give_positions(lmi_solver *s, uint32_t piece) { give(s, piece, s->x); }

void lmi_give_both(lmi_solver *s, uint32_t piece)
{
    range r = range_of(s, piece);
    const lmi_entry_held *e = s->entries + r.entry;
    for (uint32_t n = r.first; n < r.end; n++) {
        quad v = quad_load(s->v + (size_t)n * 4), x = quad_load(s->x + (size_t)n * 4);
        for (const lmi_entry_held *end = s->entries + s->entry_end[n]; e < end; e++) {
            v += e->lever * quad_load(s->more + (size_t)e->contact * 4);
            x += e->lever * quad_load(s->shift + (size_t)e->contact * 4);
        }
        quad_store(s->v + (size_t)n * 4, v);
        quad_store(s->x + (size_t)n * 4, x);
    }
}
