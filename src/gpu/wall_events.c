/*
 * Who touches which collider, where somebody asks: each piece of a body's particles keeps a list of its own on the device, over
 * all substeps of a step, and the lists come back at its end.
 */
#include "gpu/account.h"
#include "gpu/walls.h"

#include "contact/touching.h"

_Static_assert(LMI_GPU_TOUCHES == LM_MAX_TOUCHED_COLLIDERS, "a piece is told of as much as a body");

bool lmi_gpu_events_reserve(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_walls *w = gpu->walls;
    uint32_t pieces = world->contact_events ? w->piece_count : 0;
    void *touches = w->touch, *counts = w->touch_count;
    bool ok = lmi_reserve(&world->memory, &touches, &w->touch_capacity, pieces * LMI_GPU_TOUCHES, sizeof *w->touch) &&
              lmi_reserve(&world->memory, &counts, &w->count_capacity, pieces, sizeof *w->touch_count);
    w->touch = touches;
    w->touch_count = counts;
    w->tells = world->contact_events;
    w->fresh = true;
    return ok && lmi_gpu_reserve(gpu, &w->touches, (size_t)pieces * LMI_GPU_TOUCHES * sizeof *w->touch) &&
           lmi_gpu_reserve(gpu, &w->touch_counts, pieces * sizeof *w->touch_count);
}

static lm_dvec3 vector_at(const double *from) { return dvec(from[0], from[1], from[2]); }

lmi_touching lmi_gpu_touching_of(const double *from, bool pressing)
{
    return (lmi_touching){.weight = from[LMI_GPU_TOUCH_WEIGHT],
                          .point = vector_at(from + LMI_GPU_TOUCH_POINT),
                          .normal = vector_at(from + LMI_GPU_TOUCH_NORMAL),
                          .impulse = vector_at(from + LMI_GPU_TOUCH_IMPULSE),
                          .pressed = from[LMI_GPU_TOUCH_PRESSED],
                          .approach = from[LMI_GPU_TOUCH_APPROACH],
                          .pressing = pressing};
}

static void put_piece(const lm_world *world, lmi_body *body, const lmi_gpu_touch *list, uint32_t count)
{
    for (uint32_t n = 0; n < count && n < LMI_GPU_TOUCHES; n++) {
        const lmi_touching sums = lmi_gpu_touching_of(list[n].sums, list[n].pressing);
        lmi_touched_walls(world, body, world->surfaces[list[n].collider].slot, &sums);
    }
    body->touched_left_out += count > LMI_GPU_TOUCHES ? count - LMI_GPU_TOUCHES : 0;
}

bool lmi_gpu_events_take(lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    lmi_gpu_walls *w = gpu->walls;
    if (!gpu->walled || !w->tells || w->fresh) {
        return true;
    }
    if (!lmi_gpu_read(gpu, &w->touch_counts, 0, w->touch_count, w->piece_count * sizeof *w->touch_count)) {
        return false;
    }
    uint32_t touched = 0;
    for (uint32_t n = 0; n < w->piece_count; n++) {
        touched = w->touch_count[n] ? n + 1 : touched;
    }
    if (!lmi_gpu_read(gpu, &w->touches, 0, w->touch, (size_t)touched * LMI_GPU_TOUCHES * sizeof *w->touch)) {
        return false;
    }
    uint32_t piece = 0;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        uint32_t end = piece + (gpu->records[n].particles + LMI_GPU_PIECE - 1) / LMI_GPU_PIECE;
        for (; piece < end; piece++) {
            put_piece(world, body, w->touch + (size_t)piece * LMI_GPU_TOUCHES, w->touch_count[piece]);
        }
    }
    w->fresh = true;
    return true;
}

bool lmi_gpu_tells(const lm_world *world)
{
    const lmi_gpu *gpu = world->gpu;
    return world->contact_events || (gpu && gpu->meets && gpu->accounts->tells);
}

bool lmi_gpu_events_tell(lm_world *world)
{
    if (!lmi_gpu_events_take(world) || !lmi_gpu_accounts_take(world)) {
        lmi_gpu_lose(world, lmi_cl_text(world->gpu->status));
        return false;
    }
    lmi_touchings_end(world);
    return true;
}
