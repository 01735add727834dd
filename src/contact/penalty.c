#include "contact/penalty.h"
#include "contact/solver.h"
#include "contact/touching.h"
#include "touch/cube.h"
#include "world/access.h"
#include "world/in_step.h"

/* One side of a contact: the particles that hold it, and where those of its body begin among all. */
typedef struct side {
    lmi_push *push;
    const lmi_ref *refs;
    uint32_t count;
    float *load;
} side;

static side side_of(const lmi_solver *s, lmi_push *push, const lmi_ref *refs, uint32_t count)
{
    return (side){push, refs, count, s->load + s->owners[push->owner].first_place};
}

/* Where the point of a side is, or how it moves. */
static quad sum_of(const side *s, const float *of)
{
    quad sum = {0};
    for (uint32_t n = 0; n < s->count; n++) {
        sum = quad_add_scaled(sum, s->refs[n].weight, quad_load(of + (size_t)s->refs[n].place * 4));
    }
    return quad_without_w(sum);
}

/* K' of a side (contact/contact.h). */
static float mobility_of(const side *s)
{
    float sum = 0.0f;
    for (uint32_t n = 0; n < s->count; n++) {
        uint32_t place = s->refs[n].place;
        sum += fabsf(s->refs[n].weight / s->push->v[(size_t)place * 4 + 3]) * s->load[place];
    }
    return sum;
}

static void push_side(const side *s, quad impulse)
{
    quad at = s->push->rigid > 0.0f ? sum_of(s, s->push->x) : (quad){0};
    for (uint32_t n = 0; n < s->count; n++) {
        uint32_t place = s->refs[n].place;
        float *v = s->push->v + (size_t)place * 4;
        quad now = quad_add_scaled(quad_load(v), lmi_push_lever(s->push, place, s->refs[n].weight), impulse);
        for (int i = 0; i < 3; i++) {
            v[i] = lmi_limit(quad_at(now, i), LM_MAX_SPEED);
        }
    }
    if (s->push->rigid > 0.0f) {
        lmi_push_impulse(s->push, quad_without_w(quad_sub(at, s->push->centre)), impulse);
    }
}

/* --- the contacts of a list --- */

typedef void visitor(lmi_solver *s, const lmi_run *run, lmi_found *c, const side *a, const side *b);

static void each_contact(lmi_solver *s, const lmi_contact_list *list, visitor *visit)
{
    for (uint32_t r = 0; r < list->run_count; r++) {
        const lmi_run *run = &list->runs[r];
        for (uint32_t n = run->first; n < run->first + run->count; n++) {
            lmi_found *c = &list->found[n];
            const lmi_ref *refs = list->refs + c->first_ref;
            side a = side_of(s, run->a, refs, c->count_a), b = side_of(s, run->b, refs + c->count_a, c->count_b);
            visit(s, run, c, &a, &b);
        }
    }
}

static void add_load(lmi_solver *s, const lmi_run *run, lmi_found *c, const side *a, const side *b)
{
    const side *const sides[2] = {a, b};
    (void)s, (void)run;
    for (int k = 0; k < 2 && c->depth > 0.0f; k++) {
        for (uint32_t n = 0; n < sides[k]->count; n++) {
            sides[k]->load[sides[k]->refs[n].place] += fabsf(sides[k]->refs[n].weight);
        }
    }
}

static float ratio_of(const lmi_run *run) { return (float)(run->a->body->mean_mass / run->b->body->mean_mass); }

/* What a contact is given, in units of the mass of a; from then on its depth is that. Tells of it. */
static void find_impulse(lmi_solver *s, const lmi_run *run, lmi_found *c, const side *a, const side *b)
{
    lmi_body *body = run->a->body, *other = run->b->body;
    const double h = s->h, k = lmi_penalty_pair(lmi_penalty_of(body, h), lmi_penalty_of(other, h));
    quad normal = quad_of(c->normal[0], c->normal[1], c->normal[2]),
         u = quad_sub(sum_of(a, a->push->v), sum_of(b, b->push->v));
    /* No body is deeper in another than it is large: one that is stretched would be thrown by that, and stretched further. */
    const float deepest = (float)lmi_min(body->rest_size, other->rest_size);
    float depth = lmi_minf(lmi_maxf(c->depth, 0.0f), deepest), mobile = mobility_of(a) + ratio_of(run) * mobility_of(b);
    float impulse = depth > 0.0f && mobile > 0.0f
                        ? lmi_penalty_bound((float)(k * depth * h / body->mean_mass), depth, mobile, s->h)
                        : 0.0f;
    c->depth = impulse;
    lmi_place place = {.point = dvec_add(body->origin, quad_to(sum_of(a, a->push->x))),
                       .normal = quad_to(normal),
                       .impulse = dvec_scale(quad_to(normal), impulse * body->mean_mass),
                       .pressed = impulse * body->mean_mass,
                       .approach = -quad_dot(u, normal),
                       .pressing = impulse > 0.0f};
    lmi_touched_body(s->world, body, other, &place);
    if (place.pressing) {
        lmi_touched_wake(body, other);
    }
}

static void push_apart(lmi_solver *s, const lmi_run *run, lmi_found *c, const side *a, const side *b)
{
    quad impulse = quad_scale(quad_of(c->normal[0], c->normal[1], c->normal[2]), c->depth);
    (void)s;
    if (c->depth > 0.0f) {
        push_side(a, impulse);
        push_side(b, quad_scale(impulse, -ratio_of(run)));
    }
}

static void each_list(lmi_solver *s, const lmi_contact_list *lists, uint32_t count, visitor *visit)
{
    for (uint32_t n = 0; n < count; n++) {
        each_contact(s, &lists[n], visit);
    }
}

void lmi_penalty_take(lmi_solver *s, lmi_contact_list *lists, uint32_t count)
{
    if (lists[0].presses == LMI_WEIGHED) {
        each_list(s, lists, count, add_load);
    } else {
        each_list(s, lists, count, find_impulse);
        each_list(s, lists, count, push_apart);
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact_list_clear(&lists[n]);
    }
}

bool lmi_penalty_reserve(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
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
    if ((unsigned)method >= LM_CONTACT_METHOD_COUNT) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_contact_method: not one of lm_contact_method");
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    world->contact_method = method;
    lmi_rouse_all(world);
    return LM_OK;
}

lm_contact_method lm_world_get_contact_method(const lm_world *world) { return world->contact_method; }
