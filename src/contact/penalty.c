#include "contact/penalty.h"
#include "contact/touching.h"
#include "touch/cube.h"

/* The particles of a side, `stride` apart. */
typedef struct side {
    lmi_push *push;
    const uint32_t *rider;
    const float *weight;
    uint32_t count, stride;
} side;

/* Where the point of a side is, or how it moves. */
static quad sum_of(const side *s, const float *of)
{
    quad sum = {0};
    for (uint32_t n = 0; n < s->count; n++) {
        sum += s->weight[(size_t)n * s->stride] * quad_load(of + (size_t)s->rider[(size_t)n * s->stride] * 4);
    }
    return quad_of(sum[0], sum[1], sum[2]);
}

static void push_side(const side *s, quad at, quad impulse)
{
    for (uint32_t n = 0; n < s->count; n++) {
        uint32_t place = s->rider[(size_t)n * s->stride];
        float *v = s->push->body->v + (size_t)place * 4;
        quad now = quad_load(v) + lmi_push_lever(s->push, place, s->weight[(size_t)n * s->stride]) * impulse;
        for (int i = 0; i < 3; i++) {
            v[i] = lmi_maxf(lmi_minf(now[i], LM_MAX_SPEED), -LM_MAX_SPEED);
        }
    }
    if (s->push->rigid > 0.0f) {
        quad arm = at - s->push->centre;
        lmi_push_impulse(s->push, quad_of(arm[0], arm[1], arm[2]), impulse);
    }
}

void lmi_penalty_push(lm_world *world, const lmi_contact_def *c, double stiffness, double h)
{
    side a = {c->a, c->rider_a, c->weight_a, c->count_a, c->stride_a};
    side b = {c->b, c->rider_b, c->weight_b, c->count_b, 1};
    lmi_body *body = c->a->body, *other = c->b->body;
    quad at_a = sum_of(&a, body->x), at_b = sum_of(&b, other->x), normal = quad_from(c->normal);
    quad u = sum_of(&a, body->v) - sum_of(&b, other->v);
    double impulse = stiffness * lmi_max(c->depth, 0.0) * h; /* N s */
    push_side(&a, at_a, (float)(impulse / body->mean_mass) * normal);
    push_side(&b, at_b, (float)(-impulse / other->mean_mass) * normal);
    lmi_place place = {.point = dvec_add(body->origin, quad_to(at_a)),
                       .normal = c->normal,
                       .impulse = dvec_scale(c->normal, impulse),
                       .pressed = impulse,
                       .approach = -quad_dot(u, normal),
                       .pressing = impulse > 0.0};
    lmi_touched_body(world, body, other, &place);
    if (place.pressing) {
        lmi_touched_wake(body, other);
    }
}

bool lmi_penalty_reserve(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_at(world, n);
        if (world->contact_method != LM_CONTACT_METHOD_CUBE_MAP || !body->bulk || body->cubes) {
            continue;
        }
        lmi_cubes *cubes = lmi_allocate(&world->memory, 1, sizeof *cubes);
        if (!cubes || !lmi_cubes_make(world, body->bulk->mould, cubes)) {
            lmi_release(&world->memory, cubes, 1, sizeof *cubes);
            return false;
        }
        body->cubes = cubes;
    }
    return true;
}

/* --- what a host says --- */

lm_result lm_world_set_contact_method(lm_world *world, lm_contact_method method)
{
    lmi_gpu_edit(world);
    if ((unsigned)method >= LM_CONTACT_METHOD_COUNT) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_contact_method: not one of lm_contact_method");
    }
    world->contact_method = method;
    lmi_rouse_all(world);
    return LM_OK;
}

lm_contact_method lm_world_get_contact_method(const lm_world *world) { return world->contact_method; }
