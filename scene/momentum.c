/*
 * The momentum check: what changed the bodies' momentum that nothing outside explains.
 *
 * The library reports the momentum and every impulse from outside (gravity, fields, forces, drags, pins, colliders). The
 * difference ought to be rounding. It is given relative to the sum of m |v|, the largest so far: bodies that came to
 * rest have no momentum left to compare with. Where the scene itself replaces velocities, or one world takes the place of
 * another, the book is closed before and opened again after.
 */
#include "scene/internal.h"

static lm_dvec3 unexplained(const scene *s, const lm_stats *stats)
{
    const momentum_book *book = &s->momentum;
    lm_dvec3 change = vector_subtract(stats->momentum, book->momentum);
    lm_dvec3 outside = vector_subtract(stats->outside_impulse, book->outside);
    return vector_add(book->unexplained, vector_subtract(change, outside));
}

static void note_scale(scene *s, const lm_stats *stats)
{
    if (stats->momentum_scale > s->momentum.scale) {
        s->momentum.scale = stats->momentum_scale;
    }
}

void momentum_begin(scene *s, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    s->momentum = (momentum_book){stats.momentum, stats.outside_impulse, lm_dvec3_zero(), 0.0};
    note_scale(s, &stats);
}

void momentum_close(scene *s, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    s->momentum.unexplained = unexplained(s, &stats);
}

void momentum_reopen(scene *s, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    s->momentum.momentum = stats.momentum;
    s->momentum.outside = stats.outside_impulse;
}

void momentum_watch(scene *s, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    note_scale(s, &stats);
}

double scene_momentum_error(const scene *s, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    double error = vector_length(unexplained(s, &stats));
    double scale = s->momentum.scale > stats.momentum_scale ? s->momentum.scale : stats.momentum_scale;
    return scale > 0.0 ? error / scale : error;
}
