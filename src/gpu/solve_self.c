/*
 * Bodies that touch themselves, and octrees that were cut (kernels/solve_self.cl): what their kernels read and no step changes, and the
 * launches that find where they do.
 *
 * Bodies stand in the order of meet_layout.c, and so do their points; cut octrees in the same order among themselves.
 */
#include "contact/cleft.h"
#include "gpu/gpu_meet.h"
#include "gpu/layout.h"
#include "gpu/solve.h"

#define QUAD 4 /* floats */
/* --- layout --- */

typedef struct self_layout {
    lm_world *world;
    lmi_gpu *gpu;
    array rest, cuts, bits, ranks, places, links, bends, discs, disc_of;
    uint32_t heads, selves;
} self_layout;

bool lmi_gpu_touches_itself(const lmi_body *body) { return body->self_contact && body->bulk; }

/* A copy of an array of the host's; `items` of them. */
static bool put_all(self_layout *l, array *to, const void *from, uint32_t items, size_t size)
{
    void *at = append(l->world, to, items, size);
    if (at && items) {
        memcpy(at, from, items * size);
    }
    return at != NULL;
}

/* The discs on both sides of a body's cuts, where they touch each other. */
static bool add_discs(self_layout *l, const lmi_body *body, uint32_t meeter, uint32_t first_point)
{
    const lmi_clefts *c = body->octree->clefts;
    const lmi_octree *t = &body->octree->tree;
    uint32_t *disc_of = (uint32_t *)l->disc_of.items + first_point, first = l->discs.count;
    lmi_gpu_disc *discs = append(l->world, &l->discs, c->count, sizeof *discs);
    for (uint32_t n = 0; discs && n < c->count; n++) {
        uint32_t voxel = body->touch.voxel[c->point[n]];
        discs[n] = (lmi_gpu_disc){.point = first_point + c->point[n],
                                  .owner = meeter,
                                  .voxel = voxel,
                                  .part = body->octree->part[t->nodes[t->owner[voxel]].leaf],
                                  .place = {c->place[n].x, c->place[n].y, c->place[n].z}};
        disc_of[c->point[n]] = first + n;
    }
    return discs != NULL;
}

static bool add_cut(self_layout *l, const lmi_body *body, uint32_t meeter, uint32_t first_point)
{
    const lmi_octree *t = &body->octree->tree;
    const lmi_clefts *c = body->octree->clefts;
    const lmi_voxels *v = &t->voxels;
    lmi_gpu_cut *cut = append(l->world, &l->cuts, 1, sizeof *cut);
    if (!cut) {
        return false;
    }
    *cut = (lmi_gpu_cut){.first = {v->first.x, v->first.y, v->first.z},
                         .spacing = v->spacing,
                         .cell = c ? c->cell : 0.0,
                         .n = {v->n[0], v->n[1], v->n[2]},
                         .row_words = v->row_words,
                         .first_word = l->bits.count,
                         .first_voxel = l->links.count,
                         .first_bend = l->bends.count,
                         .bends = t->bend_count,
                         .first_head = l->heads,
                         .heads = c ? c->buckets : 0};
    l->heads += cut->heads;
    uint32_t words = v->row_words * v->n[1] * v->n[2];
    return put_all(l, &l->bits, v->bits, words, sizeof *v->bits) &&
           put_all(l, &l->ranks, t->word_rank, words, sizeof *t->word_rank) &&
           put_all(l, &l->places, t->at, t->voxel_count, sizeof *t->at) &&
           put_all(l, &l->links, t->cut, t->voxel_count, sizeof *t->cut) &&
           put_all(l, &l->bends, t->bends, t->bend_count, sizeof *t->bends) &&
           (!c || add_discs(l, body, meeter, first_point));
}

static bool add_body(self_layout *l, const lmi_body *body, uint32_t meeter)
{
    const lmi_touch *touch = &body->touch;
    uint32_t first = l->disc_of.count, *disc_of = append(l->world, &l->disc_of, touch->count, sizeof *disc_of);
    float *rest = append(l->world, &l->rest, QUAD * touch->count, sizeof *rest);
    for (uint32_t n = 0; disc_of && rest && n < touch->count; n++) {
        disc_of[n] = LMI_GPU_NONE;
        rest[QUAD * n] = touch->rest[n].x, rest[QUAD * n + 1] = touch->rest[n].y;
        rest[QUAD * n + 2] = touch->rest[n].z;
    }
    l->selves += lmi_gpu_touches_itself(body);
    return disc_of && rest && (!lmi_gpu_is_cut(body) || add_cut(l, body, meeter, first));
}

static bool gather(self_layout *l)
{
    bool ok = true;
    uint32_t meeter = 0;
    for (uint32_t n = 0; ok && n < l->gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, l->gpu->slots[n]);
        if (lmi_gpu_needs_solver(l->world, body)) {
            ok = add_body(l, body, meeter++);
        }
    }
    return ok;
}

bool lmi_gpu_self_lay_out(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_self *s = &gpu->solver->self;
    self_layout l = {.world = world, .gpu = gpu};
    bool ok = gather(&l);
    const struct {
        lmi_gpu_buffer *to;
        array *from;
        size_t size;
    } all[] = {{&s->rest, &l.rest, sizeof(float)},
               {&s->cuts, &l.cuts, sizeof(lmi_gpu_cut)},
               {&s->bits, &l.bits, sizeof(uint64_t)},
               {&s->ranks, &l.ranks, sizeof(uint32_t)},
               {&s->places, &l.places, 3 * sizeof(uint16_t)},
               {&s->links, &l.links, sizeof(uint8_t)},
               {&s->bends, &l.bends, sizeof(lmi_octree_bend)},
               {&s->discs, &l.discs, sizeof(lmi_gpu_disc)},
               {&s->disc_of, &l.disc_of, sizeof(uint32_t)}};
    s->disc_count = l.discs.count;
    s->count = l.selves;
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        ok = ok && put_array(gpu, all[n].to, all[n].from, all[n].size);
        drop(world, all[n].from, all[n].size);
    }
    return ok && lmi_gpu_reserve(gpu, &s->heads, l.heads * sizeof(uint32_t)) &&
           lmi_gpu_reserve(gpu, &s->disc_met, gpu->meet->point_count * sizeof(uint32_t));
}

/* --- launches --- */

bool lmi_gpu_self_find(lmi_gpu *gpu, const lmi_step *step)
{
    static const size_t group[2] = {64, 1};
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint points = m->point_count, discs = s->self.disc_count;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const lmi_gpu_argument slack[] = {LMI_GPU_BUFFER(m->meeters),    LMI_GPU_BUFFER(s->solids),
                                      LMI_GPU_BUFFER(s->moulds),     LMI_GPU_BUFFER(m->map_now),
                                      LMI_GPU_BUFFER(s->rests),      LMI_GPU_BUFFER(s->levers),
                                      LMI_GPU_BUFFER(s->self.cuts),  LMI_GPU_BUFFER(m->partner_lists),
                                      LMI_GPU_BUFFER(s->self.heads), LMI_GPU_BUFFER(gpu->stop)};
    const lmi_gpu_argument place[] = {LMI_GPU_VALUE(discs), LMI_GPU_SOLID_ARGUMENTS, LMI_GPU_BUFFER(s->self.discs),
                                      LMI_GPU_BUFFER(s->self.heads)};
    const lmi_gpu_argument itself[] = {
        LMI_GPU_VALUE(points),  LMI_GPU_BUFFER(m->owner),         LMI_GPU_SOLID_ARGUMENTS,
        LMI_GPU_SELF_ARGUMENTS, LMI_GPU_BUFFER(s->self.disc_met), LMI_GPU_BUFFER(s->met)};
    const size_t bodies[2] = {m->meeter_count, 1}, of_points[2] = LMI_GPU_GROUPS_OF(points),
                 of_discs[2] = LMI_GPU_GROUPS_OF(discs);
    return s->self.count == 0 || (LMI_GPU_RUN(s->slack_kernel, slack, bodies, group) &&
                                  (discs == 0 || LMI_GPU_RUN(s->discs_kernel, place, of_discs, group)) &&
                                  LMI_GPU_RUN(s->itself_kernel, itself, of_points, group));
}
