/*
 * The particles that hold contacts: where they are, and which soft contacts each of them holds.
 *
 * Reads runs, references and bodies; writes the particles' positions, velocities and loads, their entries, and the references,
 * which from then on name these particles. Each body is done by one task, in the order of its runs.
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
        s->run_of_owner[a->first_run + a->run_count++] = n;
        if (has_two(&s->runs[n])) {
            lmi_owner *b = &s->owners[s->runs[n].b->owner];
            s->run_of_owner[b->first_run + b->run_count++] = n;
        }
    }
}

/* --- references --- */

/* References of one side: of a stiff contact, or of soft contacts that are beside each other in a block. */
typedef struct refs {
    size_t first;
    uint32_t contact; /* soft: that of the first; else LMI_NONE */
    uint32_t count;   /* contacts, or references of the one */
    uint32_t rows;    /* references of each, LMI_BLOCK apart */
    bool b;           /* of side b */
} refs;

typedef void refs_function(lmi_solver *s, const lmi_owner *owner, const refs *r);

static void each_soft(lmi_solver *s, const lmi_owner *owner, const lmi_run *run, bool a, bool b, refs_function *each)
{
    uint32_t end = run->first + run->count, next;
    for (uint32_t c = run->first; c < end; c = next) {
        uint32_t block = c / LMI_BLOCK, lane = c % LMI_BLOCK;
        const lmi_soft_block *soft = &s->blocks[block];
        next = (block + 1) * LMI_BLOCK < end ? (block + 1) * LMI_BLOCK : end;
        size_t first = lmi_rows_of(s, block) + lane;
        if (a) {
            each(s, owner, &(refs){first, c, next - c, soft->rows_a, false});
        }
        if (b) {
            each(s, owner, &(refs){first + (size_t)soft->rows_a * LMI_BLOCK, c, next - c, soft->rows_b, true});
        }
    }
}

static void each_stiff(lmi_solver *s, const lmi_owner *owner, const lmi_run *run, bool a, bool b, refs_function *each)
{
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        const lmi_stiff *stiff = &s->stiff[c];
        size_t first = lmi_refs_of(s, c);
        if (a && stiff->count_a) {
            each(s, owner, &(refs){first, LMI_NONE, stiff->count_a, 1, false});
        }
        if (b && stiff->count_b) {
            each(s, owner, &(refs){first + stiff->count_a, LMI_NONE, stiff->count_b, 1, true});
        }
    }
}

/* Calls `each` for the references of an owner's sides. */
static void each_refs(lmi_solver *s, const lmi_owner *owner, refs_function *each)
{
    uint32_t index = (uint32_t)(owner - s->owners);
    for (uint32_t n = 0; n < owner->run_count; n++) {
        const lmi_run *run = &s->runs[s->run_of_owner[owner->first_run + n]];
        bool a = run->a->owner == index, b = run->b && run->b->owner == index;
        (run->stiff ? each_stiff : each_soft)(s, owner, run, a, b, each);
    }
}

/* Counts how often particles are held by soft contacts, and lists those that are held at all. A mark is 1 more than that. */
static void count_refs(lmi_solver *s, const lmi_owner *owner, const refs *r)
{
    lmi_owner *own = &s->owners[owner - s->owners];
    uint32_t *mark = s->mark + owner->first_place, *touched = s->touched + owner->first_place,
             soft = r->contact != LMI_NONE;
    for (uint32_t n = 0; n < r->count; n++) {
        for (uint32_t row = 0; row < r->rows; row++) {
            size_t at = r->first + (size_t)row * LMI_BLOCK + n;
            if (s->weight[at] == 0.0f) {
                continue;
            }
            uint32_t place = s->index[at];
            if (mark[place] == 0) {
                touched[own->particles++] = place;
                mark[place] = 1;
            }
            mark[place] += soft;
            own->entries += soft;
        }
    }
}

static void count_owner(lmi_solver *s, uint32_t index)
{
    lmi_owner *owner = &s->owners[index];
    owner->particles = owner->entries = 0;
    each_refs(s, owner, count_refs);
}

/* Enters contacts at their particles, one contact after the other: which lanes they have does not show in any sum. A mark is now
 * the index of the particle. */
static void enter_refs(lmi_solver *s, const lmi_owner *owner, const refs *r)
{
    const uint32_t *mark = s->mark + owner->first_place;
    const float *ratio =
        r->contact == LMI_NONE ? NULL : s->blocks[r->contact / LMI_BLOCK].ratio + r->contact % LMI_BLOCK;
    for (uint32_t n = 0; n < r->count; n++) {
        for (uint32_t row = 0; row < r->rows; row++) {
            size_t at = r->first + (size_t)row * LMI_BLOCK + n;
            float weight = s->weight[at];
            if (weight == 0.0f) {
                s->index[at] = 0; /* any that exists */
                continue;
            }
            uint32_t particle = mark[s->index[at]];
            s->index[at] = particle;
            if (ratio) {
                float lever = weight * s->x[(size_t)particle * 4 + 3];
                s->entries[s->entry_end[particle]++] =
                    (lmi_entry_held){r->contact + n, r->b ? -ratio[n] * lever : lever};
                s->v[(size_t)particle * 4 + 3] += fabsf(weight);
            }
        }
    }
}

static void enter_owner(lmi_solver *s, uint32_t index)
{
    const lmi_owner *owner = &s->owners[index];
    const lmi_body *body = owner->body;
    uint32_t *mark = s->mark + owner->first_place, *touched = s->touched + owner->first_place, end = owner->first_entry;
    for (uint32_t n = 0; n < owner->particles; n++) {
        uint32_t place = touched[n], particle = owner->first_particle + n;
        quad x = quad_load(body->x + (size_t)place * 4), v = quad_load(body->v + (size_t)place * 4);
        x[3] = 1.0f / v[3];
        v[3] = 0.0f;
        quad_store(s->x + (size_t)particle * 4, x);
        quad_store(s->v + (size_t)particle * 4, v);
        s->entry_end[particle] = end;
        end += mark[place] - 1;
        mark[place] = particle;
    }
    each_refs(s, owner, enter_refs);
    for (uint32_t n = 0; n < owner->particles; n++) {
        size_t at = (size_t)(owner->first_particle + n) * 4 + 3;
        s->v[at] *= s->x[at]; /* all weights over the mass */
        mark[touched[n]] = 0;
    }
}

/* --- what a touch point was given last time --- */

/* Only one contact of a point gets it. */
static void remember(lmi_solver *s, uint32_t index)
{
    const lmi_owner *owner = &s->owners[index];
    lmi_warm *warm = owner->body->touch.warm;
    for (uint32_t n = 0; n < owner->run_count && !owner->body->asleep; n++) {
        const lmi_run *run = &s->runs[s->run_of_owner[owner->first_run + n]];
        if (run->a->owner != index || run->forgets) {
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
            } else {
                s->stiff[c].braked = quad_of(last->braked[0], last->braked[1], last->braked[2]);
                s->stiff[c].pressed = last->pressed;
            }
            last->pressed = 0.0f;
        }
    }
}

static void enter_and_remember(lmi_solver *s, uint32_t index)
{
    if (s->owners[index].run_count) {
        enter_owner(s, index);
        remember(s, index);
    }
}

static void count_if_touched(lmi_solver *s, uint32_t index)
{
    if (s->owners[index].run_count) {
        count_owner(s, index);
    } else {
        s->owners[index].particles = s->owners[index].entries = 0;
    }
}

void lmi_touched_gather(lmi_solver *s)
{
    sort_runs(s);
    lmi_solver_run(s, count_if_touched, s->owner_count);
    s->particle_count = s->entry_count = 0;
    for (uint32_t n = 0; n < s->owner_count; n++) {
        s->owners[n].first_particle = s->particle_count;
        s->owners[n].first_entry = s->entry_count;
        s->particle_count += s->owners[n].particles;
        s->entry_count += s->owners[n].entries;
    }
    lmi_solver_run(s, enter_and_remember, s->owner_count);
}

static void refresh_owner(lmi_solver *s, uint32_t index)
{
    const lmi_owner *owner = &s->owners[index];
    for (uint32_t n = 0; n < owner->particles && owner->run_count; n++) {
        const float *from = owner->body->v + (size_t)s->touched[owner->first_place + n] * 4;
        float *to = s->v + (size_t)(owner->first_particle + n) * 4;
        for (int i = 0; i < 3; i++) {
            to[i] = from[i];
        }
    }
}

void lmi_touched_refresh(lmi_solver *s) { lmi_solver_run(s, refresh_owner, s->run_count ? s->owner_count : 0); }
