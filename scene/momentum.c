/*
 * The momentum check: what changed the bodies' momentum that nothing outside explains.
 *
 * The library reports the momentum and every impulse from outside (gravity, fields, forces, drags, pins, colliders). The
 * difference ought to be rounding. It is given relative to the sum of m |v|, the largest so far: bodies that came to
 * rest have no momentum left to compare with. Where the scene itself replaces velocities, or one world takes the place of
 * another, the book is closed before and opened again after.
 */
#include "scene/internal.h"

/* What the world has, and what it was given. */
typedef struct momentum_now {
    lm_totals totals;
    lm_dvec3 outside;
} momentum_now;

static momentum_now look(const lm_world *world)
{
    momentum_now now;
    lm_stats stats;
    lm_world_get_totals(world, &now.totals);
    lm_world_get_stats(world, &stats);
    now.outside = stats.outside_impulse;
    return now;
}

static lm_dvec3 unexplained(const lm_scene *s, const momentum_now *now)
{
    const momentum_book *book = &s->momentum;
    lm_dvec3 change = vector_subtract(now->totals.momentum, book->momentum);
    lm_dvec3 outside = vector_subtract(now->outside, book->outside);
    return vector_add(book->unexplained, vector_subtract(change, outside));
}

static void note_scale(lm_scene *s, const lm_totals *totals)
{
    if (totals->momentum_scale > s->momentum.scale) {
        s->momentum.scale = totals->momentum_scale;
    }
}

void lmi_momentum_begin(lm_scene *s, const lm_world *world)
{
    momentum_now now = look(world);
    s->momentum = (momentum_book){now.totals.momentum, now.outside, lm_dvec3_zero(), 0.0};
    note_scale(s, &now.totals);
}

void lmi_momentum_close(lm_scene *s, const lm_world *world)
{
    momentum_now now = look(world);
    s->momentum.unexplained = unexplained(s, &now);
}

void lmi_momentum_reopen(lm_scene *s, const lm_world *world)
{
    momentum_now now = look(world);
    s->momentum.momentum = now.totals.momentum;
    s->momentum.outside = now.outside;
}

void lmi_momentum_watch(lm_scene *s, const lm_world *world)
{
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    note_scale(s, &totals);
}

double lm_scene_momentum_error(const lm_scene *s, const lm_world *world)
{
    momentum_now now = look(world);
    double error = vector_length(unexplained(s, &now)), scale = now.totals.momentum_scale;
    scale = s->momentum.scale > scale ? s->momentum.scale : scale;
    return scale > 0.0 ? error / scale : error;
}
