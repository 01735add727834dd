/*
 * Bodies that can break, where their contacts are solved on the device (kernels/solve_rubble.cl): what its kernels read and no step
 * changes, and their launches.
 *
 * Bodies and points stand in the order of meet_layout.c. Where nothing can break there are no grains, and nothing is launched.
 */
#include "contact/ball.h"
#include "contact/rubble.h"
#include "gpu/gpu_meet.h"
#include "gpu/layout.h"
#include "gpu/solve.h"

static const size_t group[2] = {64, 1}, wide[2] = {256, 1}, one[2] = {1, 1};

/* --- layout --- */

typedef struct rubble_layout {
    lm_world *world;
    lmi_gpu *gpu;
    array grains, pieces, points, particles;
    uint32_t piece; /* pieces of all bodies, so far */
    uint32_t point; /* and touch points */
} rubble_layout;

/* The particle that a touch point of a body that can break is. */
static uint32_t place_of(const lmi_touch *touch, uint32_t n)
{
    return touch->rider[(size_t)touch->first_row[n / LMI_BLOCK] * LMI_BLOCK + n % LMI_BLOCK];
}

static void set_balls(rubble_layout *l, const lmi_body *body, uint32_t first_particle, lmi_gpu_grain *grains)
{
    const lmi_lattice *shape = &body->lattice->shape;
    uint32_t links[LMI_BLOCK][6], block = LMI_NONE;
    for (uint32_t n = 0; n < body->touch.count; n++) {
        uint32_t place = place_of(&body->touch, n), lane = place % LMI_BLOCK;
        bool deep = body->fracture->deep[place / LMI_BLOCK] >> lane & 1;
        if (place / LMI_BLOCK != block) {
            block = place / LMI_BLOCK;
            lmi_rubble_links(shape, block, links);
        }
        grains[n].radius = (float)shape->spacing * (deep ? LMI_BALL_DEEP : LMI_BALL_BORDER);
        grains[n].plate = (float)shape->spacing * LMI_BALL_PLATE;
        grains[n].piece = l->piece + (shape->part ? shape->part[place] : 0);
        for (int k = 0; k < 6; k++) {
            grains[n].links[k] = links[lane][k] == LMI_NONE ? LMI_GPU_NONE : first_particle + links[lane][k];
        }
    }
}

/* The points of each piece, and the particles that they are. */
static bool add_pieces(rubble_layout *l, const lmi_body *body, uint32_t meeter, uint32_t first_particle)
{
    const lmi_lattice *shape = &body->lattice->shape;
    uint32_t count = body->touch.count, first = l->points.count;
    uint32_t *points = append(l->world, &l->points, count, sizeof *points);
    uint32_t *particles = append(l->world, &l->particles, count, sizeof *particles);
    lmi_gpu_piece *pieces = append(l->world, &l->pieces, shape->part_count, sizeof *pieces);
    if (!points || !particles || !pieces) {
        return false;
    }
    for (uint32_t n = 0; n < count; n++) {
        pieces[shape->part[place_of(&body->touch, n)]].count++;
    }
    for (uint32_t n = 0; n < shape->part_count; n++) {
        pieces[n].body = meeter;
        pieces[n].first = first;
        first += pieces[n].count;
        pieces[n].count = 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_gpu_piece *piece = &pieces[shape->part[place_of(&body->touch, n)]];
        uint32_t at = piece->first + piece->count++;
        ((uint32_t *)l->points.items)[at] = l->point + n;
        ((uint32_t *)l->particles.items)[at] = first_particle + place_of(&body->touch, n);
    }
    return true;
}

static bool add_body(rubble_layout *l, const lmi_body *body, uint32_t meeter, uint32_t first_particle)
{
    lmi_gpu_grain *grains = append(l->world, &l->grains, body->touch.count, sizeof *grains);
    bool rubble = lmi_is_rubble(body), ok = grains != NULL;
    for (uint32_t n = 0; ok && n < body->touch.count; n++) {
        grains[n].radius = body->contact_radius;
        grains[n].piece = l->piece;
    }
    if (ok && rubble) {
        set_balls(l, body, first_particle, grains);
        ok = !lmi_gpu_is_in_pieces(body) || add_pieces(l, body, meeter, first_particle);
    }
    l->piece += rubble ? body->lattice->shape.part_count : 1;
    l->point += body->touch.count;
    return ok;
}

static bool gather(rubble_layout *l)
{
    bool ok = true, any = false;
    uint32_t meeter = 0;
    for (uint32_t n = 0; n < l->gpu->body_count; n++) {
        any = any || lmi_is_rubble(lmi_body_at(l->world, l->gpu->slots[n]));
    }
    for (uint32_t n = 0; ok && any && n < l->gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, l->gpu->slots[n]);
        if (lmi_gpu_needs_solver(l->world, body)) {
            ok = add_body(l, body, meeter++, l->gpu->records[n].first);
        }
    }
    return ok;
}

bool lmi_gpu_rubble_lay_out(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_rubble *r = &gpu->solver->rubble;
    rubble_layout l = {.world = world, .gpu = gpu};
    const size_t u = sizeof(uint32_t), points = gpu->meet->point_count;
    bool ok = gather(&l);
    r->grain_count = l.grains.count;
    r->piece_count = l.pieces.count;
    for (r->table = 64; r->table < 2 * r->grain_count;) {
        r->table *= 2;
    }
    ok = ok && put_array(gpu, &r->grains, &l.grains, sizeof(lmi_gpu_grain)) &&
         put_array(gpu, &r->pieces, &l.pieces, sizeof(lmi_gpu_piece)) && put_array(gpu, &r->points, &l.points, u) &&
         put_array(gpu, &r->particles, &l.particles, u) && lmi_gpu_reserve(gpu, &r->frame, 4 * sizeof(double)) &&
         lmi_gpu_reserve(gpu, &r->heads, r->grain_count ? r->table * u : 0) &&
         lmi_gpu_reserve(gpu, &r->rubbed, points * u) && lmi_gpu_clear(gpu, &r->rubbed, points * u);
    drop(world, &l.grains, sizeof(lmi_gpu_grain));
    drop(world, &l.pieces, sizeof(lmi_gpu_piece));
    drop(world, &l.points, u);
    drop(world, &l.particles, u);
    return ok;
}

/* --- launches --- */

/* All that may touch something into the table. */
static bool place_grains(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_rubble *r = &s->rubble;
    const cl_uint points = m->point_count, bodies = m->meeter_count, table = r->table;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const lmi_gpu_argument frame[] = {LMI_GPU_BUFFER(m->meeters),  LMI_GPU_VALUE(bodies), LMI_GPU_BUFFER(s->solids),
                                      LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_VALUE(fall),   LMI_GPU_BUFFER(r->frame)};
    const lmi_gpu_argument place[] = {LMI_GPU_VALUE(points),          LMI_GPU_BUFFER(m->owner),
                                      LMI_GPU_SOLID_ARGUMENTS,        LMI_GPU_BUFFER(m->point_first),
                                      LMI_GPU_BUFFER(m->point_rider), LMI_GPU_BUFFER(gpu->x),
                                      LMI_GPU_BUFFER(r->frame),       LMI_GPU_VALUE(table),
                                      LMI_GPU_BUFFER(r->grains),      LMI_GPU_BUFFER(r->heads)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points);
    return lmi_gpu_clear(gpu, &r->heads, r->table * sizeof(uint32_t)) &&
           LMI_GPU_RUN(s->rubble_kernel, frame, one, wide) && LMI_GPU_RUN(s->grains_kernel, place, of_points, group);
}

bool lmi_gpu_rubble_find(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_rubble *r = &s->rubble;
    const cl_uint points = m->point_count, table = r->table;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const lmi_gpu_argument rubbed[] = {LMI_GPU_VALUE(points),     LMI_GPU_BUFFER(m->owner), LMI_GPU_SOLID_ARGUMENTS,
                                       LMI_GPU_BUFFER(r->grains), LMI_GPU_BUFFER(r->heads), LMI_GPU_VALUE(table),
                                       LMI_GPU_BUFFER(s->pushes), LMI_GPU_BUFFER(s->met),   LMI_GPU_BUFFER(s->walls),
                                       LMI_GPU_BUFFER(r->rubbed), LMI_GPU_BUFFER(gpu->stop)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points);
    return r->grain_count == 0 || (place_grains(gpu, step) && LMI_GPU_RUN(s->rubbed_kernel, rubbed, of_points, group));
}

bool lmi_gpu_rubble_forget(lmi_gpu *gpu)
{
    const lmi_gpu_rubble *r = &gpu->solver->rubble;
    return r->grain_count == 0 || lmi_gpu_clear(gpu, &r->rubbed, gpu->meet->point_count * sizeof(uint32_t));
}

bool lmi_gpu_rubble_fill(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_rubble *r = &s->rubble;
    const cl_uint points = m->point_count, table = r->table, rules = step->world->rule_count;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const float h = (float)step->h;
    const lmi_gpu_argument rub[] = {LMI_GPU_VALUE(points),
                                    LMI_GPU_BUFFER(m->owner),
                                    LMI_GPU_SOLID_ARGUMENTS,
                                    LMI_GPU_HOLD_ARGUMENTS,
                                    LMI_GPU_BUFFER(r->grains),
                                    LMI_GPU_BUFFER(r->heads),
                                    LMI_GPU_VALUE(table),
                                    LMI_GPU_BUFFER(s->first),
                                    LMI_GPU_BUFFER(s->met),
                                    LMI_GPU_BUFFER(s->walls),
                                    LMI_GPU_BUFFER(r->rubbed),
                                    LMI_GPU_BUFFER(gpu->x),
                                    LMI_GPU_BUFFER(gpu->v),
                                    LMI_GPU_BUFFER(s->pushes),
                                    LMI_GPU_BUFFER(s->rules),
                                    LMI_GPU_VALUE(rules),
                                    LMI_GPU_VALUE(h),
                                    LMI_GPU_BUFFER(s->solids),
                                    LMI_GPU_BUFFER(s->contacts),
                                    LMI_GPU_BUFFER(s->bucket_counts)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points);
    return r->grain_count == 0 || LMI_GPU_RUN(s->rub_kernel, rub, of_points, group);
}

bool lmi_gpu_rubble_untwist(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_rubble *r = &s->rubble;
    const lmi_gpu_argument back[] = {LMI_GPU_BUFFER(r->pieces),    LMI_GPU_BUFFER(r->points),
                                     LMI_GPU_BUFFER(r->particles), LMI_GPU_BUFFER(m->meeters),
                                     LMI_GPU_BUFFER(s->solids),    LMI_GPU_BUFFER(gpu->bodies),
                                     LMI_GPU_LIST_ARGUMENTS,       LMI_GPU_BUFFER(s->contacts),
                                     LMI_GPU_BUFFER(gpu->x),       LMI_GPU_BUFFER(gpu->v)};
    const size_t pieces[2] = {r->piece_count, 1};
    return r->piece_count == 0 || LMI_GPU_RUN(s->untwist_pieces_kernel, back, pieces, group);
}
