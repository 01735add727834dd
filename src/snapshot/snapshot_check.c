/*
 * Snapshots that were read: what only several values together show to be wrong (snapshot/archive.h). All of it is checked before anything is
 * made of a body.
 */
#include "snapshot/archive.h"
#include "world/body.h"

/* --- regions --- */

/* In range, at most once in a region, and no region empty. */
static bool members_are_sound(const lmi_body *body, uint32_t *seen)
{
    const uint32_t *offsets = body->region_offsets;
    bool sound = offsets[0] == 0 && offsets[body->region_count] == body->membership_count;
    for (uint32_t r = 0; sound && r < body->region_count; r++) {
        sound = offsets[r + 1] > offsets[r] && offsets[r + 1] <= body->membership_count;
        for (uint32_t n = offsets[r]; sound && n < offsets[r + 1]; n++) {
            sound = seen[body->members[n]] != r + 1;
            seen[body->members[n]] = r + 1;
        }
    }
    return sound;
}

/* Particles stand in the order of how many regions they are in; packing relies on it. */
static bool order_is_sound(const lmi_body *body, uint32_t *seen)
{
    bool sound = true;
    memset(seen, 0, body->particle_count * sizeof *seen);
    for (uint32_t n = 0; n < body->membership_count; n++) {
        seen[body->members[n]]++;
    }
    for (uint32_t n = 1; sound && n < body->particle_count; n++) {
        sound = seen[n] <= seen[n - 1];
    }
    return sound;
}

void lmi_check_regions(archive *a, lm_world *world, const lmi_body *body)
{
    if (!ok(a)) {
        return;
    }
    uint32_t *seen = lmi_allocate(&world->memory, body->particle_count, sizeof *seen);
    if (!seen) {
        a->out_of_memory = true;
        return;
    }
    refuse_if(a, !members_are_sound(body, seen) || !order_is_sound(body, seen));
    lmi_release(&world->memory, seen, body->particle_count, sizeof *seen);
}

/* --- cuts --- */

void lmi_check_slashes(archive *a, const lmi_octree *t)
{
    for (uint32_t n = 0; a->mode == LOAD && ok(a) && n < t->voxel_count; n++) {
        uint32_t slashed = t->cut[n] >> 3;
        refuse_if(a, slashed & ~(uint32_t)t->cut[n]); /* and yet linked */
        for (uint32_t axis = 0; slashed >> axis; axis++) {
            int64_t at[3] = {t->at[n][0], t->at[n][1], t->at[n][2]};
            at[axis]++;
            refuse_if(a, slashed >> axis & 1 && lmi_octree_voxel(t, at[0], at[1], at[2]) == LMI_OCTREE_NONE);
        }
    }
}

/* --- lists --- */

/* Whose it is, or LMI_NONE, and what comes after it. */
typedef uint32_t owner_and_next(const lm_world *world, uint32_t index, uint32_t *next);

static uint32_t pin_owner(const lm_world *world, uint32_t index, uint32_t *next)
{
    const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, index);
    *next = pin->next;
    return lmi_pool_used(&world->pins, index) ? pin->body : LMI_NONE;
}

static uint32_t drag_owner(const lm_world *world, uint32_t index, uint32_t *next)
{
    const lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, index);
    *next = drag->next;
    return lmi_pool_used(&world->drags, index) ? drag->body : LMI_NONE;
}

static uint32_t force_owner(const lm_world *world, uint32_t index, uint32_t *next)
{
    *next = world->forces[index].next;
    return world->forces[index].body;
}

/* Follows the list of a body: each must be its own, and none may come twice. Returns how many there are, or LMI_NONE. */
static uint32_t follow_list(const lm_world *world, uint32_t body, uint32_t first, uint32_t limit, owner_and_next *owner)
{
    uint32_t count = 0;
    for (uint32_t n = first; n != LMI_NONE; count++) {
        uint32_t next;
        if (n >= limit || count >= limit || owner(world, n, &next) != body) {
            return LMI_NONE;
        }
        n = next;
    }
    return count;
}

/* Whether lists that begin in all bodies have all of `limit` things that are somebody's. */
static bool lists_are_sound(const lm_world *world, size_t first, uint32_t limit, owner_and_next *owner)
{
    uint64_t listed = 0, owned = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const char *body = (const char *)lmi_body_at(world, n);
        uint32_t begin, count;
        memcpy(&begin, body + first, sizeof begin);
        count = follow_list(world, n, begin, limit, owner);
        if (count == LMI_NONE) {
            return false;
        }
        listed += count;
    }
    for (uint32_t n = 0; n < limit; n++) {
        uint32_t next;
        owned += owner(world, n, &next) != LMI_NONE;
    }
    return listed == owned;
}

void lmi_check_lists(archive *a, const lm_world *world)
{
    refuse_if(a, !lists_are_sound(world, offsetof(lmi_body, first_pin), world->pins.slots, pin_owner) ||
                     !lists_are_sound(world, offsetof(lmi_body, first_drag), world->drags.slots, drag_owner) ||
                     !lists_are_sound(world, offsetof(lmi_body, first_force), world->force_count, force_owner));
}
