#include "gpu/gpu_held.h"

#include "gpu/layout.h"
#include "skeleton/skeleton.h"
#include "world/motion.h"

static const size_t group[2] = {64, 1};

bool lmi_gpu_has_held(const lm_world *world)
{
    return world->pins.alive || world->drags.alive || world->skeletons.alive;
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_held *held)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "held_records.h", "vec.h", "held.h",
                                        "held.cl",    NULL};
    const lmi_gpu_named kernels[] = {{&held->grip, "held_grip"}, {&held->drag, "held_drag"}};
    return lmi_gpu_build(world, gpu, &held->program, texts, NULL) && LMI_GPU_FIND(held->program, kernels);
}

/* --- what no step changes --- */

typedef struct held_layout {
    lm_world *world;
    lmi_gpu *gpu;
    array holds, held, pulls, pulled, links;
    array grips, drags, particles, weights;
    array movers, slots;
    array pinned;      /* of a body: whether a pin has a particle */
    uint32_t carriers; /* the world, then movers; then the bones of each skeleton */
} held_layout;

static bool add_link(held_layout *l, uint32_t carrier, float share, lm_dvec3 local)
{
    lmi_gpu_link *to = append(l->world, &l->links, 1, sizeof *to);
    if (to) {
        *to = (lmi_gpu_link){{local.x, local.y, local.z}, share, carrier};
    }
    return to != NULL;
}

static bool add_particle(held_layout *l, array *list, uint32_t particle, float weight)
{
    lmi_gpu_held_particle *to = append(l->world, list, 1, sizeof *to);
    if (to) {
        *to = (lmi_gpu_held_particle){.particle = particle, .link = l->links.count, .weight = weight};
    }
    return to != NULL;
}

/* Closes the list of a body's particles: the last one's links end where those of the next would begin. */
static bool end_particles(held_layout *l, array *list, array *grips, lmi_gpu_grip grip)
{
    grip.count = list->count - grip.first;
    if (grip.count == 0) {
        return true;
    }
    lmi_gpu_grip *to = append(l->world, grips, 1, sizeof *to);
    if (to) {
        *to = grip;
    }
    return to && add_particle(l, list, 0, 0.0f);
}

/* The carrier of a pin. */
static uint32_t carrier_of(held_layout *l, uint32_t mover)
{
    const uint32_t *movers = l->movers.items;
    for (uint32_t n = 0; n < l->movers.count; n++) {
        if (movers[n] == mover) {
            return n + 1;
        }
    }
    return 0;
}

/* Particles on bones, softly or firmly; pins have the last word, so that what they hold is left out. */
static bool add_bones(held_layout *l, const lmi_body *body, uint32_t first, array *list, bool firm)
{
    const lmi_skeleton *s = LMI_POOL_AT(&l->world->skeletons, lmi_skeleton, body->skeleton);
    const bool *pinned = l->pinned.items;
    bool ok = true;
    for (uint32_t n = 0; ok && n < s->particle_count; n++) {
        if ((s->weights[n] >= 1.0f) != firm || (firm && pinned[s->particles[n]])) {
            continue;
        }
        ok = add_particle(l, list, first + s->particles[n], s->weights[n]);
        for (uint32_t k = s->offsets[n]; ok && k < s->offsets[n + 1]; k++) {
            ok = add_link(l, l->carriers + s->links[k].bone, s->links[k].share, s->links[k].local);
        }
    }
    return ok;
}

static bool add_pins(held_layout *l, const lmi_body *body, uint32_t first)
{
    bool ok = true;
    for (uint32_t n = body->first_pin; ok && n != LMI_NONE;) {
        const lmi_pin *pin = LMI_POOL_AT(&l->world->pins, lmi_pin, n);
        uint32_t carrier = carrier_of(l, pin->mover);
        for (uint32_t k = 0; ok && k < pin->count; k++) {
            ok = add_particle(l, &l->held, first + pin->particles[k], 1.0f) &&
                 add_link(l, carrier, 1.0f, pin->targets[k]);
        }
        n = pin->next;
    }
    return ok;
}

static bool add_held(held_layout *l, const lmi_body *body, uint32_t index, uint32_t first)
{
    lmi_gpu_grip grip = {.body = index};
    bool ok = true;
    drop(l->world, &l->pinned, sizeof(bool));
    bool *pinned = append(l->world, &l->pinned, body->place_count, sizeof *pinned);
    if (!pinned) {
        return false;
    }
    lmi_pins_mark(l->world, body, true, pinned);
    if (body->skeleton != LMI_NONE) {
        const lmi_skeleton *s = LMI_POOL_AT(&l->world->skeletons, lmi_skeleton, body->skeleton);
        grip.base = 6.283185307179586 * s->hertz;
        grip.damping_ratio = s->damping_ratio;
        grip.first = l->pulled.count;
        ok = add_bones(l, body, first, &l->pulled, false) && end_particles(l, &l->pulled, &l->pulls, grip);
    }
    grip.first = l->held.count;
    ok = ok && (body->skeleton == LMI_NONE || add_bones(l, body, first, &l->held, true)) && add_pins(l, body, first) &&
         end_particles(l, &l->held, &l->holds, grip);
    if (body->skeleton != LMI_NONE) {
        l->carriers += LMI_POOL_AT(&l->world->skeletons, lmi_skeleton, body->skeleton)->bone_count;
    }
    return ok;
}

static bool add_drag(held_layout *l, const lmi_body *body, uint32_t slot, uint32_t first)
{
    const lmi_drag *drag = LMI_POOL_AT(&l->world->drags, lmi_drag, slot);
    lmi_gpu_drag *to = append(l->world, &l->drags, 1, sizeof *to);
    uint32_t *named = append(l->world, &l->slots, 1, sizeof *named), begin = l->particles.count;
    uint32_t *particles = append(l->world, &l->particles, drag->count, sizeof *particles);
    float *weights = append(l->world, &l->weights, drag->count, sizeof *weights);
    if (!to || !named || !particles || !weights) {
        return false;
    }
    *named = slot;
    *to = (lmi_gpu_drag){.hertz = drag->hertz,
                         .damping_ratio = drag->damping_ratio,
                         .max_force = drag->max_force,
                         .whole = body->total_mass / body->mean_mass,
                         .mean_mass = body->mean_mass,
                         .first = begin,
                         .count = drag->count};
    for (uint32_t n = 0; n < drag->count; n++) {
        particles[n] = first + drag->particles[n];
        weights[n] = drag->weights[n];
    }
    return true;
}

static bool add_drags(held_layout *l, const lmi_body *body, uint32_t index, uint32_t first)
{
    if (body->first_drag == LMI_NONE) {
        return true;
    }
    lmi_gpu_grip grip = {.body = index, .first = l->drags.count};
    bool ok = true;
    for (uint32_t n = body->first_drag; ok && n != LMI_NONE;) {
        ok = add_drag(l, body, n, first);
        n = LMI_POOL_AT(&l->world->drags, lmi_drag, n)->next;
    }
    grip.count = l->drags.count - grip.first;
    lmi_gpu_grip *to = ok ? append(l->world, &l->grips, 1, sizeof *to) : NULL;
    if (to) {
        *to = grip;
    }
    return to != NULL;
}

static bool add_movers(held_layout *l)
{
    bool ok = true;
    LMI_POOL_EACH(&l->world->pins, n)
    {
        uint32_t mover = LMI_POOL_AT(&l->world->pins, lmi_pin, n)->mover;
        if (ok && mover != LMI_NONE && carrier_of(l, mover) == 0) {
            uint32_t *to = append(l->world, &l->movers, 1, sizeof *to);
            ok = to != NULL;
            if (to) {
                *to = mover;
            }
        }
    }
    l->carriers = l->movers.count + 1;
    return ok;
}

/* What is filled in again in every substep. */
static bool reserve(held_layout *l, lmi_gpu_held *held)
{
    lmi_memory *memory = &l->world->memory;
    void *carriers = held->carrier, *movers = held->mover, *drags = held->dragged, *slots = held->drag_slot;
    void *forces = held->force;
    bool ok = lmi_reserve(memory, &carriers, &held->carrier_capacity, l->carriers, sizeof *held->carrier) &&
              lmi_reserve(memory, &movers, &held->mover_capacity, l->movers.count, sizeof *held->mover) &&
              lmi_reserve(memory, &drags, &held->drag_capacity, l->drags.count, sizeof *held->dragged) &&
              lmi_reserve(memory, &slots, &held->slot_capacity, l->slots.count, sizeof *held->drag_slot) &&
              lmi_reserve(memory, &forces, &held->force_capacity, l->drags.count, 4 * sizeof *held->force);
    held->carrier = carriers;
    held->mover = movers;
    held->dragged = drags;
    held->drag_slot = slots;
    held->force = forces;
    if (!ok) {
        return false;
    }
    held->carrier_count = l->carriers;
    held->mover_count = l->movers.count;
    held->drag_count = l->drags.count;
    held->hold_count = l->holds.count;
    held->pull_count = l->pulls.count;
    held->grip_count = l->grips.count;
    for (uint32_t n = 0; n < l->movers.count; n++) {
        held->mover[n] = ((const uint32_t *)l->movers.items)[n];
    }
    for (uint32_t n = 0; n < l->drags.count; n++) {
        held->dragged[n] = ((const lmi_gpu_drag *)l->drags.items)[n];
        held->drag_slot[n] = ((const uint32_t *)l->slots.items)[n];
        lm_vec3 force = LMI_POOL_AT(&l->world->drags, lmi_drag, held->drag_slot[n])->force;
        memcpy(held->force + 4 * (size_t)n, (float[4]){force.x, force.y, force.z, 0.0f}, 4 * sizeof(float));
    }
    return true;
}

static bool upload(const held_layout *l, lmi_gpu *gpu, lmi_gpu_held *held)
{
    return put_array(gpu, &held->holds, &l->holds, sizeof(lmi_gpu_grip)) &&
           put_array(gpu, &held->held, &l->held, sizeof(lmi_gpu_held_particle)) &&
           put_array(gpu, &held->pulls, &l->pulls, sizeof(lmi_gpu_grip)) &&
           put_array(gpu, &held->pulled, &l->pulled, sizeof(lmi_gpu_held_particle)) &&
           put_array(gpu, &held->links, &l->links, sizeof(lmi_gpu_link)) &&
           put_array(gpu, &held->grips, &l->grips, sizeof(lmi_gpu_grip)) &&
           put_array(gpu, &held->drag_particles, &l->particles, sizeof(uint32_t)) &&
           put_array(gpu, &held->drag_weights, &l->weights, sizeof(float)) &&
           lmi_gpu_reserve(gpu, &held->carriers, l->carriers * sizeof *held->carrier) &&
           lmi_gpu_reserve(gpu, &held->drags, l->drags.count * sizeof *held->dragged) &&
           lmi_gpu_put(gpu, &held->forces, held->force, 4 * (size_t)l->drags.count * sizeof(float));
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_held *held = part;
    lmi_release(gpu->memory, held->carrier, held->carrier_capacity, sizeof *held->carrier);
    lmi_release(gpu->memory, held->mover, held->mover_capacity, sizeof *held->mover);
    lmi_release(gpu->memory, held->dragged, held->drag_capacity, sizeof *held->dragged);
    lmi_release(gpu->memory, held->drag_slot, held->slot_capacity, sizeof *held->drag_slot);
    lmi_release(gpu->memory, held->force, held->force_capacity, 4 * sizeof *held->force);
}

bool lmi_gpu_held_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->grips) {
        return true;
    }
    if (!gpu->held) {
        gpu->held = lmi_gpu_make_part(gpu, sizeof *gpu->held, end);
        if (!gpu->held || !build(world, gpu, gpu->held)) {
            return false;
        }
    }
    held_layout l = {.world = world, .gpu = gpu};
    bool ok = add_movers(&l);
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        ok = add_held(&l, body, n, gpu->records[n].first) && add_drags(&l, body, n, gpu->records[n].first);
    }
    ok = ok && reserve(&l, gpu->held) && upload(&l, gpu, gpu->held);
    drop(world, &l.holds, sizeof(lmi_gpu_grip));
    drop(world, &l.held, sizeof(lmi_gpu_held_particle));
    drop(world, &l.pulls, sizeof(lmi_gpu_grip));
    drop(world, &l.pulled, sizeof(lmi_gpu_held_particle));
    drop(world, &l.links, sizeof(lmi_gpu_link));
    drop(world, &l.grips, sizeof(lmi_gpu_grip));
    drop(world, &l.drags, sizeof(lmi_gpu_drag));
    drop(world, &l.particles, sizeof(uint32_t));
    drop(world, &l.weights, sizeof(float));
    drop(world, &l.movers, sizeof(uint32_t));
    drop(world, &l.slots, sizeof(uint32_t));
    drop(world, &l.pinned, sizeof(bool));
    return ok;
}

/* --- a substep --- */

static lmi_gpu_carrier describe_carrier(const lmi_holder *from)
{
    lmi_gpu_carrier to = {.position = {from->position.x, from->position.y, from->position.z},
                          .velocity = {from->velocity.x, from->velocity.y, from->velocity.z},
                          .spin = {from->spin.x, from->spin.y, from->spin.z}};
    for (int i = 0; i < 9; i++) {
        to.rotation[i] = from->rotation.m[i / 3][i % 3];
    }
    return to;
}

/* Where movers and bones are, and what drags pull to: in the order in which they were laid out. */
static void place(const lm_world *world, const lmi_gpu *gpu, lmi_gpu_held *held)
{
    const lmi_holder still = {.rotation = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
    uint32_t count = 0;
    held->carrier[count++] = describe_carrier(&still);
    for (uint32_t n = 0; n < held->mover_count; n++) {
        lmi_holder mover = lmi_mover_carries(LMI_POOL_AT(&world->movers, lmi_mover, held->mover[n]));
        held->carrier[count++] = describe_carrier(&mover);
    }
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        const lmi_skeleton *s =
            body->skeleton == LMI_NONE ? NULL : LMI_POOL_AT(&world->skeletons, lmi_skeleton, body->skeleton);
        for (uint32_t k = 0; s && k < s->bone_count; k++) {
            lmi_holder bone = lmi_bone_carries(&s->bones[k]);
            held->carrier[count++] = describe_carrier(&bone);
        }
    }
    for (uint32_t n = 0; n < held->drag_count; n++) {
        lm_dvec3 target = LMI_POOL_AT(&world->drags, lmi_drag, held->drag_slot[n])->target;
        memcpy(held->dragged[n].target, (double[3]){target.x, target.y, target.z}, sizeof held->dragged[n].target);
    }
}

static bool grip(lmi_gpu *gpu, const lmi_gpu_buffer *grips, const lmi_gpu_buffer *particles, uint32_t count, double h,
                 cl_uint pulls)
{
    const lmi_gpu_held *held = gpu->held;
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(*grips),      LMI_GPU_BUFFER(*particles),
                                          LMI_GPU_BUFFER(held->links), LMI_GPU_BUFFER(held->carriers),
                                          LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(gpu->x),
                                          LMI_GPU_BUFFER(gpu->v),      LMI_GPU_VALUE(h),
                                          LMI_GPU_VALUE(pulls)};
    const size_t groups[2] = {count, 1};
    return count == 0 || LMI_GPU_RUN(held->grip, arguments, groups, group);
}

bool lmi_gpu_held_pull(lmi_gpu *gpu, const lmi_step *step)
{
    lmi_gpu_held *held = gpu->held;
    const double h = step->h;
    place(step->world, gpu, held);
    const lmi_gpu_argument drag[] = {LMI_GPU_BUFFER(held->grips),
                                     LMI_GPU_BUFFER(held->drags),
                                     LMI_GPU_BUFFER(held->drag_particles),
                                     LMI_GPU_BUFFER(held->drag_weights),
                                     LMI_GPU_BUFFER(gpu->bodies),
                                     LMI_GPU_BUFFER(gpu->x),
                                     LMI_GPU_BUFFER(gpu->v),
                                     LMI_GPU_VALUE(h),
                                     LMI_GPU_BUFFER(held->forces)};
    const size_t groups[2] = {held->grip_count, 1};
    return lmi_gpu_write(gpu, &held->carriers, 0, held->carrier, held->carrier_count * sizeof *held->carrier) &&
           lmi_gpu_write(gpu, &held->drags, 0, held->dragged, held->drag_count * sizeof *held->dragged) &&
           (held->grip_count == 0 || LMI_GPU_RUN(held->drag, drag, groups, group)) &&
           grip(gpu, &held->pulls, &held->pulled, held->pull_count, h, 1);
}

bool lmi_gpu_held_hold(lmi_gpu *gpu, double h)
{
    return grip(gpu, &gpu->held->holds, &gpu->held->held, gpu->held->hold_count, h, 0);
}

bool lmi_gpu_held_read(lmi_gpu *gpu)
{
    lmi_gpu_held *held = gpu->grips ? gpu->held : NULL;
    return !held || lmi_gpu_read(gpu, &held->forces, 0, held->force, 4 * (size_t)held->drag_count * sizeof(float));
}

void lmi_gpu_held_put(lm_world *world, lmi_gpu *gpu)
{
    const lmi_gpu_held *held = gpu->grips ? gpu->held : NULL;
    for (uint32_t n = 0; held && n < held->drag_count; n++) {
        const float *force = held->force + 4 * (size_t)n;
        LMI_POOL_AT(&world->drags, lmi_drag, held->drag_slot[n])->force = (lm_vec3){force[0], force[1], force[2]};
    }
}
