/*
 * The skin of a body that is made of pieces of another (piece.h): what is shown of these, with what it rides on.
 *
 * Which body a vertex goes with is told by what it rides on.
 */
#include "cut/grain.h"
#include "cut/piece.h"
#include "fracture/fracture.h"
#include "skin/lineage.h"
#include "skin/skin.h"
#include "skin/slit.h"

#include <string.h>

typedef struct divider {
    lmi_piece *p;
    const lmi_skin *skin; /* as it is shown */
    uint32_t *now;        /* [vertices] of the new skin, or LMI_NONE */
} divider;

/* --- what a vertex rides on --- */

static uint32_t rider_now(const lmi_piece *p, uint32_t rider)
{
    if (rider < LMI_SKIN_REGION) {
        return p->now[rider];
    }
    const uint32_t region = p->region[rider - LMI_SKIN_REGION];
    return region == LMI_NONE ? LMI_NONE : region + LMI_SKIN_REGION;
}

/* All that a vertex rides on goes with the same body: the skin holds it together (split.c). */
static bool goes_along(const divider *d, uint32_t n)
{
    return rider_now(d->p, d->skin->riders[d->skin->offsets[n]]) != LMI_NONE;
}

/* --- the new skin --- */

static void count_skin(divider *d, lmi_skin *to)
{
    const lmi_skin *skin = d->skin;
    to->kind = skin->kind;
    to->on_cells = d->p->to->lattice != NULL;
    to->carrier_count = to->on_cells ? 0 : d->p->to->region_count;
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        d->now[n] = LMI_NONE;
        if (goes_along(d, n)) {
            d->now[n] = to->vertex_count++;
            to->weight_count += skin->offsets[n + 1] - skin->offsets[n];
        }
    }
    for (uint32_t n = 0; n < skin->triangle_count; n++) {
        to->triangle_count += d->now[skin->triangles[(size_t)n * 3]] != LMI_NONE;
    }
}

static void fill_skin(const divider *d, lmi_skin *to, lmi_lineage *lineage)
{
    const lmi_skin *skin = d->skin;
    uint32_t weights = 0;
    size_t corners = 0;
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        const uint32_t is = d->now[n];
        if (is == LMI_NONE) {
            continue;
        }
        to->vertices[is] = skin->vertices[n];
        for (uint32_t k = skin->offsets[n]; k < skin->offsets[n + 1]; k++) {
            to->riders[weights] = rider_now(d->p, skin->riders[k]);
            to->weights[weights++] = skin->weights[k];
        }
        to->offsets[is + 1] = weights;
        lineage->sources[is] = lmi_lineage_source(d->p->from, skin, n);
        lineage->material[is] = lmi_lineage_cut(d->p->from, skin, n, lineage->uv[is]);
        if (to->on_cells) {
            to->rest_normals[is] = lineage->normals[is] = skin->rest_normals[n];
        }
        if (to->fading) {
            to->fading[is] = skin->fading[n];
        }
    }
    for (size_t n = 0; n < (size_t)skin->triangle_count * 3; n++) {
        if (d->now[skin->triangles[n]] != LMI_NONE) {
            to->triangles[corners++] = d->now[skin->triangles[n]];
        }
    }
}

/* What blades have made of the skin of a lattice: what they made of its piece. */
static bool copy_slit(const divider *d)
{
    const lmi_body *from = d->p->from;
    lmi_body *to = d->p->to;
    const lmi_slit *old = from->slit;
    lm_world *world = d->p->world;
    lmi_memory *memory = &world->memory;
    lmi_slit *slit = lmi_allocate(memory, 1, sizeof *slit);
    const uint32_t count = to->skin.vertex_count;
    if (!slit) {
        return false;
    }
    bool ok = true;
    to->slit = slit;
    slit->count = count;
    slit->cuts = old->cuts;
    slit->point = lmi_allocate(memory, count, sizeof *slit->point);
    slit->uv = lmi_allocate(memory, count, sizeof *slit->uv);
    slit->material = lmi_allocate(memory, count, sizeof *slit->material);
    slit->walls = lmi_copy(memory, old->walls, old->wall_count, sizeof *slit->walls, &ok);
    slit->wall_count = slit->walls ? old->wall_count : 0;
    slit->whole.on_cells = true;
    ok = lmi_grain_keep_skin(world, &to->skin, &slit->whole) && ok;
    to->skin.sources = lmi_allocate(memory, to->skin.vertex_room, sizeof *to->skin.sources);
    if (!ok || !slit->point || !slit->uv || !slit->material || !to->skin.sources) {
        return false;
    }
    memcpy(slit->whole.rest_normals, to->skin.rest_normals, count * sizeof *to->skin.rest_normals);
    for (uint32_t n = 0; n < d->skin->vertex_count; n++) {
        const uint32_t is = d->now[n], point = d->now[old->point[n]];
        if (is != LMI_NONE) {
            const bool inner = d->skin->sources[n] == LM_SKIN_INNER;
            slit->point[is] = point == LMI_NONE ? is : point;
            memcpy(slit->uv[is], old->uv[n], sizeof slit->uv[is]);
            slit->material[is] = old->material[n];
            to->skin.sources[is] = inner ? LM_SKIN_INNER : is;
        }
    }
    return true;
}

static bool make_skin(divider *d)
{
    lm_world *world = d->p->world;
    lmi_memory *memory = &world->memory;
    lmi_body *to = d->p->to;
    const uint32_t count = d->skin->vertex_count;
    lmi_skin made = {0};
    d->now = lmi_allocate(memory, count, sizeof *d->now);
    bool ok = d->now != NULL;
    if (ok) {
        count_skin(d, &made);
    }
    if (ok && made.triangle_count) {
        to->skin = made;
        to->lineage = lmi_lineage_make(world, made.vertex_count);
        ok = lmi_skin_allocate(world, &to->skin) && to->lineage;
        if (ok && d->skin->fading) {
            to->skin.fading = lmi_allocate(memory, made.vertex_count, sizeof *to->skin.fading);
            to->skin.fading_left = d->skin->fading_left;
            ok = to->skin.fading != NULL;
        }
        if (ok) {
            fill_skin(d, &to->skin, to->lineage);
        }
        ok = ok && (!d->p->from->slit || copy_slit(d));
    }
    lmi_release(memory, d->now, count, sizeof *d->now);
    return ok;
}

bool lmi_piece_skin(lmi_piece *p)
{
    divider d = {.p = p, .skin = &p->from->skin};
    return (d.skin->vertex_count == 0 || make_skin(&d)) && lmi_fracture_skin(p->world, p->to);
}
