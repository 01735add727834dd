#include "collide/wrench.h"
#include "world/access.h"
#include "world/world.h"

#include <stdatomic.h>
#include <string.h>

/* A sum of whole numbers of 2^-60, as two words; what is beyond +-2^66 is taken as that. */
#define UNIT 1152921504606846976.0  /* 2^60 */
#define WORD 18446744073709551616.0 /* 2^64 */
#define MOST 73786976294838206464.0 /* 2^66 */

typedef struct exact {
    uint64_t low, high;
} exact;

/* The account of a collider or a mover in a substep: impulse, moment about its position. */
typedef struct lmi_account {
    atomic_flag busy;
    bool given;
    exact sum[6];
} lmi_account;

static void add_exact(exact *sum, double value)
{
    double limited = value < MOST ? lmi_max(value, -MOST) : MOST, scaled = floor(limited * UNIT + 0.5);
    /* The size as two words, each exact; then the two's complement of a negative one. */
    double size = fabs(scaled), high = floor(size / WORD);
    exact add = {(uint64_t)(size - high * WORD), (uint64_t)high};
    if (scaled < 0.0) {
        add.low = ~add.low + 1;
        add.high = ~add.high + (add.low == 0);
    }
    sum->low += add.low;
    sum->high += add.high + (sum->low < add.low);
}

static double read_exact(const exact *sum) { return ((double)(int64_t)sum->high * WORD + (double)sum->low) / UNIT; }

/* --- memory --- */

bool lmi_wrenches_reserve(lm_world *world)
{
    void *accounts = world->accounts, *wrenches = world->wrenches;
    uint32_t count = world->colliders.slots + world->movers.slots;
    bool ok = lmi_reserve(&world->memory, &accounts, &world->account_capacity, count, sizeof *world->accounts) &&
              lmi_reserve(&world->memory, &wrenches, &world->wrench_capacity, count, sizeof *world->wrenches);
    world->accounts = accounts;
    world->wrenches = wrenches;
    return ok;
}

void lmi_wrenches_free(lm_world *world)
{
    lmi_release(&world->memory, world->accounts, world->account_capacity, sizeof *world->accounts);
    lmi_release(&world->memory, world->wrenches, world->wrench_capacity, sizeof *world->wrenches);
    world->accounts = NULL;
    world->wrenches = NULL;
    world->account_capacity = world->wrench_capacity = 0;
    lmi_wrenches_forget(world);
}

/* --- what is given --- */

void lmi_wrenches_forget(lm_world *world) { world->wrench_colliders = world->wrench_movers = 0; }

static void clear(lm_world *world)
{
    for (uint32_t n = 0; n < world->wrench_colliders + world->wrench_movers; n++) {
        atomic_flag_clear(&world->accounts[n].busy);
        world->accounts[n].given = false;
        memset(world->accounts[n].sum, 0, sizeof world->accounts[n].sum);
    }
}

void lmi_wrenches_begin(lm_world *world)
{
    if (world->wrench_capacity < world->colliders.slots + world->movers.slots) {
        lmi_wrenches_forget(world); /* a device goes on */
        return;
    }
    if (world->wrench_colliders != world->colliders.slots || world->wrench_movers != world->movers.slots) {
        memset(world->wrenches, 0, (world->colliders.slots + world->movers.slots) * sizeof *world->wrenches);
    } /* else what the last substep gave is still there for the first call of a substep function */
    world->wrench_colliders = world->colliders.slots;
    world->wrench_movers = world->movers.slots;
    for (uint32_t n = 0; n < world->wrench_colliders + world->wrench_movers; n++) {
        world->wrenches[n].step = (lm_wrench){0};
    }
    clear(world);
}

static void give(lmi_account *to, lm_dvec3 impulse, lm_dvec3 moment)
{
    const double values[6] = {-impulse.x, -impulse.y, -impulse.z, -moment.x, -moment.y, -moment.z};
    while (atomic_flag_test_and_set_explicit(&to->busy, memory_order_acquire)) {
    }
    to->given = true;
    for (int i = 0; i < 6; i++) {
        add_exact(&to->sum[i], values[i]);
    }
    atomic_flag_clear_explicit(&to->busy, memory_order_release);
}

void lmi_wrench_of_surface(lm_world *world, const lmi_surface *surface, lm_dvec3 from, lm_dvec3 impulse,
                           lm_dvec3 moment)
{
    moment = dvec_add(moment, dvec_cross(dvec_sub(from, surface->position), impulse));
    if (surface->slot < world->wrench_colliders) {
        give(&world->accounts[surface->slot], impulse, moment);
    }
}

void lmi_wrench_of_mover(lm_world *world, uint32_t mover, lm_dvec3 from, lm_dvec3 impulse, lm_dvec3 moment)
{
    const lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, mover);
    moment = dvec_add(moment, dvec_cross(dvec_sub(from, m->pose.position), impulse));
    if (mover < world->wrench_movers) {
        give(&world->accounts[world->wrench_colliders + mover], impulse, moment);
    }
}

/* --- sums --- */

static void add_wrench(lm_wrench *to, lm_dvec3 impulse, lm_dvec3 angular)
{
    to->impulse = dvec_add(to->impulse, impulse);
    to->angular = dvec_add(to->angular, angular);
}

static void take(lmi_wrenches *to, const lmi_account *from)
{
    const exact *s = from->sum;
    to->substep.impulse = dvec(read_exact(&s[0]), read_exact(&s[1]), read_exact(&s[2]));
    to->substep.angular = dvec(read_exact(&s[3]), read_exact(&s[4]), read_exact(&s[5]));
}

void lmi_wrenches_end_substep(lm_world *world)
{
    if (world->wrench_colliders + world->wrench_movers == 0) {
        return;
    }
    lmi_wrenches *movers = world->wrenches + world->wrench_colliders;
    for (uint32_t n = 0; n < world->wrench_colliders + world->wrench_movers; n++) {
        world->wrenches[n].substep = (lm_wrench){0};
        if (world->accounts[n].given) {
            take(&world->wrenches[n], &world->accounts[n]);
        }
    }
    for (uint32_t n = 0; n < world->wrench_colliders; n++) {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        if (!world->accounts[n].given || c->mover == LMI_NONE) {
            continue;
        }
        const lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, c->mover);
        const lm_wrench *w = &world->wrenches[n].substep;
        lm_dvec3 arm = dmat_apply(&m->rotation, c->position);
        add_wrench(&movers[c->mover].substep, w->impulse, dvec_add(w->angular, dvec_cross(arm, w->impulse)));
    }
    for (uint32_t n = 0; n < world->wrench_colliders + world->wrench_movers; n++) {
        add_wrench(&world->wrenches[n].step, world->wrenches[n].substep.impulse, world->wrenches[n].substep.angular);
    }
    clear(world);
}

/* --- what a host reads --- */

static lm_result read(const lm_world *world, uint32_t index, uint32_t known, uint32_t first, lm_wrench *step,
                      lm_wrench *substep, const char *caller)
{
    const lmi_wrenches none = {0}, *w = index < known ? &world->wrenches[first + index] : &none;
    if (world->wrench_lost) {
        return lmi_fail(world, LM_ERROR_UNSUPPORTED,
                        "%s: a device made the last step and keeps no account of what is pushed", caller);
    }
    if (step) {
        *step = w->step;
    }
    if (substep) {
        *substep = w->substep;
    }
    return LM_OK;
}

lm_result lm_collider_get_wrench(const lm_world *world, lm_collider_id collider, lm_wrench *step, lm_wrench *substep)
{
    lmi_id id = {collider.slot, collider.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->colliders, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_collider_get_wrench: there is no such collider");
    }
    return read(world, index, world->wrench_colliders, 0, step, substep, "lm_collider_get_wrench");
}

lm_result lm_mover_get_wrench(const lm_world *world, lm_mover_id mover, lm_wrench *step, lm_wrench *substep)
{
    lmi_id id = {mover.slot, mover.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->movers, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_mover_get_wrench: there is no such mover");
    }
    return read(world, index, world->wrench_movers, world->wrench_colliders, step, substep, "lm_mover_get_wrench");
}
