/*
 * The particles that hold contacts: where they are, and what holds on to them.
 *
 * Reads runs, references and bodies; writes the particles' positions, velocities and loads, and the references, which from then
 * on name these particles, with their levers. Each body is done by one task, in the order of its runs.
 */
#include "contact/solver.h"

/* --- the runs of each owner --- */

static bool has_two(const lmi_run *run) { return run->b && run->b->owner != run->a->owner; }

static void sort_runs(lmi_solver *s)
{
    for (uint32_t n = 0; n < s->owner_count; n++) {
        s->owners[n].run_count = 0;
    }
    for (uint32_t n = 0; n < s->run_count; n++) {
        s->owners[s->runs[n].a->owner].run_count++;
        if (has_two(&s->runs[n])) {
            s->owners[s->runs[n].b->owner].run_count++;
        }
    }
    uint32_t first = 0;
    for (uint32_t n = 0; n < s->owner_count; n++) {
        s->owners[n].first_run = first;
        first += s->owners[n].run_count;
        s->owners[n].run_count = 0;
    }
    for (uint32_t n = 0; n < s->run_count; n++) {
        lmi_owner *a = &s->owners[s->runs[n].a->owner];
        const bool two = has_two(&s->runs[n]), self = s->runs[n].b && !two;
        s->run_of_owner[a->first_run + a->run_count++] = n << 2 | (self ? 3u : 1u);
        if (two) {
            lmi_owner *b = &s->owners[s->runs[n].b->owner];
            s->run_of_owner[b->first_run + b->run_count++] = n << 2 | 2u;
        }
    }
}

/* --- references --- */

static void each_soft(lmi_solver *s, uint32_t owner, const lmi_run *run, bool a, bool b, lmi_refs_function *each)
{
    uint32_t end = run->first + run->count, next;
    for (uint32_t c = run->first; c < end; c = next) {
        uint32_t block = c / LMI_BLOCK, lane = c % LMI_BLOCK;
        const lmi_soft_rows rows = s->rows[block];
        next = (block + 1) * LMI_BLOCK < end ? (block + 1) * LMI_BLOCK : end;
        size_t first = lmi_rows_of(s, block) + lane;
        if (a) {
            each(s, owner, &(lmi_side_refs){first, c, next - c, rows.a, false});
        }
        if (b) {
            each(s, owner, &(lmi_side_refs){first + (size_t)rows.a * LMI_BLOCK, c, next - c, rows.b, true});
        }
    }
}

static void each_stiff(lmi_solver *s, uint32_t owner, const lmi_run *run, bool a, bool b, lmi_refs_function *each)
{
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        const lmi_stiff *stiff = &s->stiff[c];
        size_t first = lmi_refs_of(s, c);
        if (a && stiff->count_a) {
            each(s, owner, &(lmi_side_refs){first, LMI_NONE, stiff->count_a, 1, false});
        }
        if (b && stiff->count_b) {
            each(s, owner, &(lmi_side_refs){first + stiff->count_a, LMI_NONE, stiff->count_b, 1, true});
        }
    }
}

void lmi_touched_each(lmi_solver *s, uint32_t owner, bool soft, lmi_refs_function *each)
{
    const uint32_t first = s->owners[owner].first_run, end = first + s->owners[owner].run_count;
    for (uint32_t n = first; n < end; n++) {
        const lmi_owned_run owned = lmi_owned(s, n);
        const lmi_run *run = &s->runs[owned.run];
        if (!run->stiff) {
            each_soft(s, owner, run, owned.a, owned.b, each);
        } else if (!soft) {
            each_stiff(s, owner, run, owned.a, owned.b, each);
        }
    }
}

/* Takes a particle of a body among those that hold contacts; returns where it is. */
static uint32_t take_particle(lmi_solver *s, lmi_owner *owner, uint32_t place)
{
    const uint32_t particle = owner->first_place + owner->particles;
    quad x = quad_load(owner->body->x + (size_t)place * 4), v = quad_load(owner->body->v + (size_t)place * 4);
    quad_store(s->x + (size_t)particle * 4, quad_with(x, 3, 1.0f / quad_at(v, 3)));
    quad_store(s->v + (size_t)particle * 4, quad_with(v, 3, 0.0f));
    s->touched[particle] = place;
    s->mark[owner->first_place + place] = particle + 1;
    owner->particles++;
    return particle;
}

/* References name particles by where they are in x and v from now on; particles know all weights on them, and how fast what their contacts
 * were given last time would move them, if all of it had one direction. */
static void enter_refs(lmi_solver *s, uint32_t index, const lmi_side_refs *r)
{
    lmi_owner *owner = &s->owners[index];
    const uint32_t *mark = s->mark + owner->first_place;
    const lmi_soft_block *block = r->contact == LMI_NONE ? NULL : &s->blocks[r->contact / LMI_BLOCK];
    const float *ratio = block ? block->ratio + r->contact % LMI_BLOCK : NULL,
                *size = block ? block->along + r->contact % LMI_BLOCK : NULL;
    for (uint32_t n = 0; n < r->count; n++) {
        const float by = r->b && ratio ? -ratio[n] : 1.0f;
        for (uint32_t row = 0; row < r->rows; row++) {
            size_t at = r->first + (size_t)row * LMI_BLOCK + n;
            float weight = s->weight[at];
            if (weight == 0.0f) {
                s->index[at] = owner->first_place; /* one that no other owner writes */
                s->lever[at] = 0.0f;
                continue;
            }
            const uint32_t place = s->index[at],
                           particle = mark[place] ? mark[place] - 1 : take_particle(s, owner, place);
            s->index[at] = particle;
            if (ratio) {
                s->lever[at] = by * (weight * s->x[(size_t)particle * 4 + 3]);
                s->v[(size_t)particle * 4 + 3] += fabsf(weight);
                s->gained[(size_t)particle * 4 + 3] += fabsf(s->lever[at]) * size[n];
            }
        }
    }
}

static void enter_owner(lmi_solver *s, uint32_t index)
{
    lmi_owner *owner = &s->owners[index];
    const quad none = {0};
    owner->particles = 0;
    quad_store(s->x + (size_t)owner->first_place * 4, none);
    quad_store(s->v + (size_t)owner->first_place * 4, none);
    lmi_touched_each(s, index, false, enter_refs);
    for (uint32_t n = 0; n < owner->particles; n++) {
        const size_t particle = owner->first_place + n, at = particle * 4 + 3;
        s->v[at] *= s->x[at]; /* all weights over the mass */
        s->mark[owner->first_place + s->touched[particle]] = 0;
    }
}

/* --- what a touch point was given last time --- */

/* Only one contact of a point gets it. */
static void remember(lmi_solver *s, uint32_t index)
{
    const lmi_owner *owner = &s->owners[index];
    lmi_warm *warm = owner->body->touch.warm;
    for (uint32_t n = 0; n < owner->run_count && !owner->body->asleep; n++) {
        const lmi_owned_run owned = lmi_owned(s, owner->first_run + n);
        const lmi_run *run = &s->runs[owned.run];
        if (!owned.a || run->forgets) {
            continue;
        }
        for (uint32_t c = run->first; c < run->first + run->count; c++) {
            lmi_soft_block *block = run->stiff ? NULL : &s->blocks[c / LMI_BLOCK];
            uint32_t lane = c % LMI_BLOCK, point = block ? block->point[lane] : s->stiff[c].point;
            bool idle = block ? block->near >> lane & 1 : s->stiff[c].idle;
            if (point == LMI_NONE || idle || !(warm[point].pressed > 0.0f)) {
                continue;
            }
            lmi_warm *last = &warm[point];
            for (int i = 0; i < 3 && block; i++) {
                block->braked[i * LMI_BLOCK + lane] = last->braked[i];
            }
            if (block) {
                block->pressed[lane] = last->pressed;
                const quad braked = quad_of(last->braked[0], last->braked[1], last->braked[2]);
                block->along[lane] = sqrtf(last->pressed * last->pressed + quad_dot(braked, braked));
            } else {
                s->stiff[c].braked = quad_of(last->braked[0], last->braked[1], last->braked[2]);
                s->stiff[c].pressed = last->pressed;
            }
            last->pressed = 0.0f;
        }
    }
}

/* A mover holds no contact with particles. */
static bool holds(const lmi_owner *owner) { return owner->run_count && owner->body; }

static void remember_owner(lmi_solver *s, uint32_t index)
{
    s->owners[index].particles = 0;
    if (holds(&s->owners[index])) {
        remember(s, index);
    }
}

static void enter_held(lmi_solver *s, uint32_t index)
{
    if (holds(&s->owners[index])) {
        enter_owner(s, index);
    }
}

void lmi_touched_gather(lmi_solver *s)
{
    sort_runs(s);
    lmi_solver_run(s, remember_owner, s->owner_count);
    lmi_solver_run(s, enter_held, s->owner_count);
}

static void refresh_owner(lmi_solver *s, uint32_t index)
{
    const lmi_owner *owner = &s->owners[index];
    for (uint32_t n = 0; n < owner->particles && owner->run_count; n++) {
        const float *from = owner->body->v + (size_t)s->touched[owner->first_place + n] * 4;
        float *to = s->v + (size_t)(owner->first_place + n) * 4;
        for (int i = 0; i < 3; i++) {
            to[i] = from[i];
        }
    }
}

void lmi_touched_refresh(lmi_solver *s) { lmi_solver_run(s, refresh_owner, s->run_count ? s->owner_count : 0); }

/* ---- what contacts give them ----
 *
 * Passes over particles: each owner adds up what the contacts that its particles hold have put into `more` (and `shift`), one
 * contact after the other in the order of its runs, and then gives each particle its sum. Added to a velocity one by one, what
 * hundreds of contacts give would be rounded hundreds of times at the size of the velocity: a heavy body of three particles that
 * presses itself lost 1e-4 of its momentum in half a second. An owner is done by one task, so that no particle is written by two.
 */

/* Adds to what is summed for the particles, `gained` (and `moved`, of `shift`, where that is wanted). */
static LMI_ALWAYS_INLINE void add_up(const lmi_solver *s, const lmi_side_refs *r, bool shifts)
{
    for (uint32_t n = 0; n < r->count; n++) {
        const size_t contact = (size_t)(r->contact + n) * 4;
        const quad more = quad_load(s->more + contact), shift = shifts ? quad_load(s->shift + contact) : more;
        const uint32_t *index = s->index + r->first + n;
        const float *lever = s->lever + r->first + n;
        for (uint32_t row = 0; row < r->rows; row++, index += LMI_BLOCK, lever += LMI_BLOCK) {
            float *at = s->gained + (size_t)*index * 4;
            quad_store(at, quad_add_scaled(quad_load(at), *lever, more));
            if (shifts) {
                at = s->moved + (size_t)*index * 4;
                quad_store(at, quad_add_scaled(quad_load(at), *lever, shift));
            }
        }
    }
}

static void add_impulses(lmi_solver *s, uint32_t owner, const lmi_side_refs *r)
{
    (void)owner;
    add_up(s, r, false);
}

static void add_both(lmi_solver *s, uint32_t owner, const lmi_side_refs *r)
{
    (void)owner;
    add_up(s, r, true);
}

/* Particles `to` get what was summed for them. */
static void give(const lmi_owner *owner, float *sums, float *to)
{
    const quad none = {0};
    for (size_t at = (size_t)owner->first_place * 4, n = 0; n < owner->particles; n++, at += 4) {
        quad_store(to + at, quad_add(quad_load(to + at), quad_load(sums + at)));
        quad_store(sums + at, none);
    }
}

static void give_piece(lmi_solver *s, uint32_t piece, float *to, bool both)
{
    for (uint32_t n = piece * LMI_PIECE_OWNERS; n < (piece + 1) * LMI_PIECE_OWNERS && n < s->owner_count; n++) {
        const lmi_owner *owner = &s->owners[n];
        if (!holds(owner)) {
            continue;
        }
        lmi_touched_each(s, n, true, both ? add_both : add_impulses);
        give(owner, s->gained, to);
        if (both) {
            give(owner, s->moved, s->x);
        }
    }
}

void lmi_give_velocities(lmi_solver *s, uint32_t piece) { give_piece(s, piece, s->v, false); }
void lmi_give_positions(lmi_solver *s, uint32_t piece) { give_piece(s, piece, s->x, false); }
void lmi_give_both(lmi_solver *s, uint32_t piece) { give_piece(s, piece, s->v, true); }
