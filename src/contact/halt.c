#include "contact/halt.h"
#include "collide/wrench.h"
#include "lattice/lattice_motion.h"

#include <string.h>

/* How far before the surface the first point is put, and how far all go on from there: shares of the body's size, and metres
 * for what has none. */
#define GAP 1e-3
#define ADVANCE 0.02
#define LEAST_GAP 1e-4

void lmi_halt_keep(const lmi_step *step, lmi_body *body)
{
    const lmi_batch *batch = &step->world->batches[body->batch];
    body->kept = step->solids;
    if (step->solids) {
        memcpy(batch->kept + (size_t)body->first * 4, body->x, (size_t)body->padded_count * 4 * sizeof *body->x);
        body->kept_origin = body->origin;
    }
}

/* A body on its way, and the first wall there. */
typedef struct flight {
    const lmi_step *step;
    lmi_body *body;
    const float *before; /* [place][4] positions, from `from` */
    lm_dvec3 from;       /* from the origin now to the one then */
    const lmi_surface *wall;
    double share;  /* of its way */
    double length; /* of the way, metres */
} flight;

/* Where a point is, from the origin, and the way it came. */
typedef struct passage {
    lm_dvec3 now, way;
} passage;

static lm_dvec3 way_to(const lmi_surface *s, double h, lm_dvec3 now, lm_dvec3 way)
{
    lm_dvec3 seen = lmi_solid_way(s->velocity, s->spin, s->pivot, h, now, way);
    if (!lmi_solid_moves(&s->solid)) {
        return seen;
    }
    lm_dvec3 to = dmat_apply_transposed(&s->rotation, dvec_sub(now, s->position));
    lm_dvec3 from = lmi_solid_carry(&s->solid, dvec_sub(to, dmat_apply_transposed(&s->rotation, seen)), h);
    return dmat_apply(&s->rotation, dvec_sub(to, from));
}

/* How far its particles may go in this substep, seen from a solid, in lengths of LMI_FLIGHT or of the body if that is larger. */
static double haste(const lmi_step *step, const lmi_body *body)
{
    double size = dvec_length(dvec_sub(dvec_from(body->upper), dvec_from(body->lower))), most = 0.0;
    for (uint32_t n = 0; n < step->surface_count; n++) {
        const lmi_surface *s = &step->surfaces[n];
        if (lmi_solid_is(&s->solid) && lmi_may_collide(body, s->group, s->mask)) {
            lm_dvec3 far = dvec_sub(dvec_add(body->origin, dvec_from(body->lower)), s->pivot);
            double speed = dvec_length(s->velocity) + dvec_length(s->spin) * (dvec_length(far) + size);
            most = lmi_max(step->h * ((double)body->fastest + speed), most);
        }
    }
    return most / lmi_max(LMI_FLIGHT, body->rest_size);
}

static passage particle_passage(const flight *f, uint32_t n)
{
    const float *x = f->body->x + (size_t)n * 4, *was = f->before + (size_t)n * 4;
    lm_dvec3 now = dvec(x[0], x[1], x[2]);
    return (passage){now, dvec_sub(dvec_sub(now, f->from), dvec(was[0], was[1], was[2]))};
}

static passage point_passage(const flight *f, uint32_t n)
{
    const lmi_touch *touch = &f->body->touch;
    const float *behind = touch->warm[n].behind;
    passage p = {{0.0, 0.0, 0.0}, {-behind[0], -behind[1], -behind[2]}};
    for (uint32_t row = touch->first_row[n / LMI_BLOCK]; row < touch->first_row[n / LMI_BLOCK + 1]; row++) {
        size_t at = (size_t)row * LMI_BLOCK + n % LMI_BLOCK;
        passage one = particle_passage(f, touch->rider[at]);
        p.now = dvec_add(p.now, dvec_scale(one.now, touch->weight[at]));
        p.way = dvec_add(p.way, dvec_scale(one.way, touch->weight[at]));
    }
    return p;
}

/* Whether a point meets a wall before any other that was looked at. What is inside one already stays. */
static void look(flight *f, passage p)
{
    lm_dvec3 at = dvec_add(f->body->origin, p.now);
    for (uint32_t n = 0; n < f->step->surface_count; n++) {
        const lmi_surface *s = &f->step->surfaces[n];
        if (!lmi_solid_is(&s->solid) || !lmi_may_collide(f->body, s->group, s->mask)) {
            continue;
        }
        lm_dvec3 way = dmat_apply_transposed(&s->rotation, way_to(s, f->step->h, at, p.way)), normal;
        lm_dvec3 to = dmat_apply_transposed(&s->rotation, dvec_sub(at, s->position)), from = dvec_sub(to, way);
        double share = 0.0;
        bool front = !s->solid.mesh || s->solid.mesh->solid;
        if ((lmi_solid_inside(&s->solid, from) || lmi_solid_crossed(&s->solid, from, to, front, &share, &normal)) &&
            share < f->share) {
            f->share = share;
            f->wall = s;
            f->length = dvec_length(way);
        }
    }
}

static bool is_inner(const lmi_touch *touch, uint32_t n) { return touch->inner[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1; }

static void find_wall(flight *f)
{
    const lmi_touch *touch = &f->body->touch;
    f->share = 2.0;
    for (uint32_t n = 0; n < touch->count; n++) {
        look(f, point_passage(f, n));
    }
    LMI_PARTICLES_EACH(f->body, n)
    {
        if (touch->count == 0 || is_inner(touch, n)) {
            look(f, particle_passage(f, n));
        }
    }
}

/* Where a particle is when its way, seen from the wall, ends `early` (a share) before it did. */
static lm_dvec3 place_of(const flight *f, passage p, double early)
{
    lm_dvec3 way = way_to(f->wall, f->step->h, dvec_add(f->body->origin, p.now), p.way);
    return dvec_sub(p.now, dvec_scale(way, early));
}

/* How far the origin goes when particles end early: to the middle of them, by whole multiples of a power of two as in
 * lmi_body_follow. */
static lm_dvec3 origin_shift(const flight *f, double early)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 1e-6, by[3];
    LMI_PARTICLES_EACH(f->body, n)
    {
        lm_dvec3 p = place_of(f, particle_passage(f, n), early);
        const double at[3] = {p.x, p.y, p.z};
        for (int i = 0; i < 3; i++) {
            low[i] = lmi_min(low[i], at[i]);
            high[i] = lmi_max(high[i], at[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        size = lmi_max(size, 0.5 * (high[i] - low[i]));
    }
    int exponent;
    frexp(size, &exponent);
    double quantum = ldexp(1.0, exponent - 4);
    for (int i = 0; i < 3; i++) {
        by[i] = floor(0.5 * (low[i] + high[i]) / quantum + 0.5) * quantum;
    }
    return dvec(by[0], by[1], by[2]);
}

static void write(float *to, lm_dvec3 p)
{
    to[0] = (float)p.x;
    to[LMI_BLOCK] = (float)p.y;
    to[2 * LMI_BLOCK] = (float)p.z;
}

static float *start_of(float *starts, uint32_t n)
{
    return starts + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
}

/* Puts the body at the wall; its starts are such that it came there by the last part of its way. */
static void put_at_wall(const flight *f, float *starts)
{
    lmi_body *body = f->body;
    double size = body->rest_size, gap = GAP * size + LEAST_GAP, share = lmi_max(f->share - gap / f->length, 0.0);
    double last = lmi_min((gap + ADVANCE * size + LEAST_GAP) / f->length, 1.0 - share), early = 1.0 - share - last;
    lm_dvec3 by = origin_shift(f, early), sum = lm_dvec3_zero();
    const lmi_touch *touch = &body->touch;
    for (uint32_t n = 0; n < touch->count; n++) {
        passage p = point_passage(f, n);
        write(start_of(touch->start, n), dvec_sub(dvec_sub(place_of(f, p, early), by), dvec_scale(p.way, last)));
    }
    LMI_PARTICLES_EACH(body, n)
    {
        passage p = particle_passage(f, n);
        lm_dvec3 at = dvec_sub(place_of(f, p, early), by);
        float *x = body->x + (size_t)n * 4;
        write(start_of(starts, n), dvec_sub(at, dvec_scale(p.way, last)));
        sum = dvec_add(sum, dvec_sub(p.now, at));
        x[0] = (float)at.x, x[1] = (float)at.y, x[2] = (float)at.z;
    }
    lm_vec3 went = vec_from(dvec_scale(sum, 1.0 / body->particle_count));
    body->origin = dvec_add(body->origin, by);
    body->motion.centre.x -= went.x, body->motion.centre.y -= went.y, body->motion.centre.z -= went.z;
    if (body->lattice) {
        lmi_lattice_shift_parts(body->lattice, went);
    }
    lmi_body_update_bounds(body);
    body->halted = true;
    body->moved = last;
}

/* A body that meets nothing: solids see it at rest where it is. */
static void leave(lmi_body *body, float *starts)
{
    const lmi_touch *touch = &body->touch;
    lm_dvec3 before = body->origin;
    lmi_body_follow(body);
    lm_vec3 by = vec_from(dvec_sub(body->origin, before));
    body->motion.centre.x -= by.x, body->motion.centre.y -= by.y, body->motion.centre.z -= by.z;
    flight still = {.body = body, .before = body->x};
    for (uint32_t n = 0; n < touch->count; n++) {
        passage p = point_passage(&still, n);
        write(start_of(touch->start, n), dvec_sub(p.now, p.way));
    }
    LMI_PARTICLES_EACH(body, n) { write(start_of(starts, n), particle_passage(&still, n).now); }
}

static flight begin(const lmi_step *step, lmi_body *body)
{
    return (flight){.step = step,
                    .body = body,
                    .before = step->world->batches[body->batch].kept + (size_t)body->first * 4,
                    .from = dvec_sub(body->kept_origin, body->origin)};
}

bool lmi_halt(const lmi_step *step, lmi_body *body, float *starts)
{
    double way = body->kept ? haste(step, body) : 0.0;
    body->kept = body->halted = false;
    body->hurries = way > LMI_HASTE;
    if (!(way > 1.0)) {
        return false;
    }
    flight f = begin(step, body);
    find_wall(&f);
    if (f.wall && f.share <= 1.0) {
        put_at_wall(&f, starts);
    } else {
        leave(body, starts);
    }
    return true;
}

/* The first solid between where a particle was and where it is. `f.share` and .wall as in find_wall; *normal faces where it was, in the
 * world. */
static void find_crossing(flight *f, passage p, lm_dvec3 *normal)
{
    lm_dvec3 at = dvec_add(f->body->origin, p.now);
    f->share = 2.0;
    for (uint32_t n = 0; n < f->step->surface_count; n++) {
        const lmi_surface *s = &f->step->surfaces[n];
        if (!lmi_solid_is(&s->solid) || !lmi_may_collide(f->body, s->group, s->mask)) {
            continue;
        }
        lm_dvec3 way = dmat_apply_transposed(&s->rotation, way_to(s, f->step->h, at, p.way)), facing;
        lm_dvec3 to = dmat_apply_transposed(&s->rotation, dvec_sub(at, s->position)), from = dvec_sub(to, way);
        bool front = !s->solid.mesh || s->solid.mesh->solid;
        double share;
        if (!lmi_solid_inside(&s->solid, from) && lmi_solid_crossed(&s->solid, from, to, front, &share, &facing) &&
            share < f->share) {
            f->share = share;
            f->wall = s;
            f->length = dvec_length(way);
            *normal = dmat_apply(&s->rotation, facing);
        }
    }
}

/* Takes a particle back to before a solid, and what is left of its velocity towards it. */
static void take_back(const flight *f, uint32_t n, passage p, lm_dvec3 normal)
{
    float *x = f->body->x + (size_t)n * 4, *v = f->body->v + (size_t)n * 4;
    double gap = GAP * f->body->rest_size + LEAST_GAP, share = lmi_max(f->share - gap / f->length, 0.0);
    lm_dvec3 at = place_of(f, p, 1.0 - share), world = dvec_add(f->body->origin, at), was = dvec(v[0], v[1], v[2]);
    lm_dvec3 wall = dvec_add(f->wall->velocity, dvec_cross(f->wall->spin, dvec_sub(world, f->wall->pivot)));
    if (lmi_solid_moves(&f->wall->solid)) {
        lm_dvec3 local = dmat_apply_transposed(&f->wall->rotation, dvec_sub(world, f->wall->position));
        wall = dvec_add(wall, dmat_apply(&f->wall->rotation, lmi_solid_drift(&f->wall->solid, local)));
    }
    double towards = lmi_min(dvec_dot(dvec_sub(was, wall), normal), 0.0);
    lm_dvec3 change = dvec_scale(normal, -towards), given = dvec_scale(change, v[3] * f->body->mean_mass);
    x[0] = (float)at.x, x[1] = (float)at.y, x[2] = (float)at.z;
    v[0] = (float)(was.x + change.x), v[1] = (float)(was.y + change.y), v[2] = (float)(was.z + change.z);
    f->body->outside_impulse = dvec_add(f->body->outside_impulse, given);
    lmi_wrench_of_surface(f->step->world, f->wall, world, given, lm_dvec3_zero());
}

void lmi_halt_guard(const lmi_step *step, lmi_body *body)
{
    if (!body->hurries) {
        return;
    }
    flight f = begin(step, body);
    bool any = false;
    LMI_PARTICLES_EACH(body, n)
    {
        passage p = particle_passage(&f, n);
        lm_dvec3 normal = lm_dvec3_zero();
        find_crossing(&f, p, &normal);
        if (f.share <= 1.0) {
            take_back(&f, n, p, normal);
            any = true;
        }
    }
    if (any) {
        lmi_body_update_bounds(body);
    }
}
