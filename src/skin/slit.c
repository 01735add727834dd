/*
 * A skin and a blade (skin/slit.h): what they meet in, and putting in place what comes of it.
 */
#include "skin/slit.h"
#include "base/hash.h"
#include "base/triples.h"
#include "fracture/fracture.h"
#include "lattice/lattice_body.h"
#include "skin/lineage.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

#define NONE LMI_SHEET_NONE
#define TRIES 8u

void lmi_slit_free(lm_world *world, lmi_slit *slit)
{
    if (slit) {
        lmi_skin_free(world, &slit->whole);
        lmi_release(&world->memory, slit->point, slit->count, sizeof *slit->point);
        lmi_release(&world->memory, slit->uv, slit->count, sizeof *slit->uv);
        lmi_release(&world->memory, slit->material, slit->count, sizeof *slit->material);
        lmi_release(&world->memory, slit->walls, slit->wall_count, sizeof *slit->walls);
        lmi_release(&world->memory, slit, 1, sizeof *slit);
    }
}

static void free_clips(lmi_memory *memory, lmi_slit_plan *p)
{
    for (uint32_t n = 0; p->clips && n < p->clip_count; n++) {
        lmi_clip_free(&p->clips[n], memory);
    }
    lmi_release(memory, p->clips, p->clip_count, sizeof *p->clips);
    p->clips = NULL;
    lmi_sheet_free(&p->sheet, memory);
}

void lmi_slit_drop(lm_world *world, lmi_slit_plan *p)
{
    lmi_memory *memory = &world->memory;
    free_clips(memory, p);
    lmi_release(memory, p->walls, p->wall_room, sizeof *p->walls);
    lmi_release(memory, p->points, p->vertex_count, sizeof *p->points);
    lmi_release(memory, p->triangles, p->triangle_count, sizeof *p->triangles);
    lmi_release(memory, p->inner, p->triangle_count, sizeof *p->inner);
    lmi_release(memory, p->point, p->vertex_count, sizeof *p->point);
    lmi_release(memory, p->which, p->triangle_count, sizeof *p->which);
    lmi_release(memory, p->first, (size_t)p->part_count + 1, sizeof *p->first);
    const size_t fresh = p->skin.vertex_count > p->vertex_count ? p->skin.vertex_count - p->vertex_count : 0;
    lmi_release(memory, p->eyes, fresh, sizeof *p->eyes);
    lmi_skin_free(world, &p->skin);
    lmi_slit_free(world, p->slit);
    memset(p, 0, sizeof *p);
}

/* --- the surface as it is --- */

/* Vertices at the same place are one point, unless the skin was cut. */
static bool find_points(lmi_memory *memory, const lmi_body *body, lmi_slit_plan *p)
{
    const lmi_skin *skin = &body->skin;
    if (body->slit) {
        memcpy(p->point, body->slit->point, skin->vertex_count * sizeof *p->point);
        return true;
    }
    lmi_triples seen = {0};
    bool ok = true;
    for (uint32_t n = 0; ok && n < skin->vertex_count; n++) {
        uint32_t bits[3];
        float at[3] = {skin->vertices[n].x + 0.0f, skin->vertices[n].y + 0.0f, skin->vertices[n].z + 0.0f};
        memcpy(bits, at, sizeof bits);
        uint32_t known = lmi_triples_get(&seen, bits[0], bits[1], bits[2]);
        p->point[n] = known == NONE ? n : known;
        ok = known != NONE || lmi_triples_put(&seen, memory, bits[0], bits[1], bits[2], n);
    }
    lmi_triples_free(&seen, memory);
    return ok;
}

/* Triangles by the part of the body that they ride on. */
static bool sort_by_part(lmi_memory *memory, const lmi_body *body, lmi_slit_plan *p)
{
    const lmi_skin *skin = &body->skin;
    p->part_count = body->lattice->shape.part_count;
    p->first = lmi_allocate(memory, (size_t)p->part_count + 1, sizeof *p->first);
    p->which = lmi_allocate(memory, p->triangle_count, sizeof *p->which);
    if (!p->first || !p->which) {
        return false;
    }
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t n = 0; n < p->triangle_count; n++) {
            uint32_t part = lmi_lattice_part_of(body, skin->riders[8 * (size_t)skin->triangles[3 * (size_t)n]]);
            if (fill) {
                p->which[p->first[part]++] = n;
            } else {
                p->first[part + 1]++;
            }
        }
        for (uint32_t n = 0; !fill && n < p->part_count; n++) {
            p->first[n + 1] += p->first[n];
        }
    }
    memmove(p->first + 1, p->first, p->part_count * sizeof *p->first);
    p->first[0] = 0;
    return true;
}

static bool take_surface(lm_world *world, const lmi_body *body, lmi_slit_plan *p, lmi_box *box)
{
    lmi_memory *memory = &world->memory;
    const lmi_skin *skin = &body->skin;
    p->vertex_count = skin->vertex_count;
    p->triangle_count = skin->triangle_count;
    p->points = lmi_allocate(memory, p->vertex_count, sizeof *p->points);
    p->triangles = lmi_allocate(memory, p->triangle_count, sizeof *p->triangles);
    p->inner = lmi_allocate(memory, p->triangle_count, sizeof *p->inner);
    p->point = lmi_allocate(memory, p->vertex_count, sizeof *p->point);
    if (!p->points || !p->triangles || !p->inner || !p->point || !find_points(memory, body, p)) {
        return false;
    }
    for (uint32_t n = 0; n < p->vertex_count; n++) {
        lm_dvec3 at = p->points[n] = lmi_skin_vertex(body, n);
        box->low = n ? dvec(lmi_min(box->low.x, at.x), lmi_min(box->low.y, at.y), lmi_min(box->low.z, at.z)) : at;
        box->high = n ? dvec(lmi_max(box->high.x, at.x), lmi_max(box->high.y, at.y), lmi_max(box->high.z, at.z)) : at;
    }
    for (uint32_t n = 0; n < 3 * p->triangle_count; n++) {
        p->triangles[n / 3][n % 3] = p->point[skin->triangles[n]];
        p->inner[n / 3] = skin->sources && skin->sources[skin->triangles[n]] == LM_SKIN_INNER;
    }
    return sort_by_part(memory, body, p);
}

/* Whether every edge has as many triangles one way as the other. */
static bool is_closed(lmi_memory *memory, const lmi_slit_plan *p, bool *closed)
{
    lmi_triples edges = {0};
    uint32_t odd = 0;
    bool ok = true;
    for (uint32_t n = 0; ok && n < 3 * p->triangle_count; n++) {
        uint32_t a = p->triangles[n / 3][n % 3], b = p->triangles[n / 3][(n % 3 + 1) % 3];
        uint32_t back = lmi_triples_get(&edges, b, a, 0), forth = lmi_triples_get(&edges, a, b, 0);
        if (a == b) {
            continue;
        }
        if (back != NONE && back > 0) {
            ok = lmi_triples_put(&edges, memory, b, a, 0, back - 1);
            odd--;
        } else {
            ok = lmi_triples_put(&edges, memory, a, b, 0, forth == NONE ? 1 : forth + 1);
            odd++;
        }
    }
    *closed = odd == 0;
    lmi_triples_free(&edges, memory);
    return ok;
}

/* --- what the blade meets --- */

/* Clips the parts that are cut with one sheet. `*good`: no part is undecided, nor open if the surface is closed. */
static bool clip_parts(lmi_memory *memory, lmi_slit_plan *p, const lmi_stroke *stroke, double drawn, bool closed,
                       bool *good)
{
    *good = true;
    p->clip_count = p->part_count;
    p->clips = lmi_allocate(memory, p->clip_count, sizeof *p->clips);
    bool ok = p->clips != NULL;
    for (uint32_t n = 0; ok && *good && n < p->part_count; n++) {
        const lmi_clip_surface surface = {p->points,
                                          (const uint32_t(*)[3])p->triangles,
                                          p->which + p->first[n],
                                          p->first[n + 1] - p->first[n],
                                          p->vertex_count,
                                          p->inner,
                                          drawn};
        ok = surface.count == 0 || !lmi_stroke_cuts(stroke, n) ||
             lmi_clip_make(&p->clips[n], memory, &surface, &p->sheet);
        *good = !p->clips[n].undecided && !(p->clips[n].open && closed);
        p->met = p->met || p->clips[n].hit_count > 0;
    }
    return ok;
}

static bool touch(const lmi_box *box, const lmi_stroke *stroke)
{
    for (uint32_t n = 0; n < stroke->count; n++) {
        const lm_dvec3 *corner = stroke->triangles[n].corner;
        lm_dvec3 a = corner[0], b = corner[1], c = corner[2];
        if (lmi_max(a.x, lmi_max(b.x, c.x)) >= box->low.x && lmi_min(a.x, lmi_min(b.x, c.x)) <= box->high.x &&
            lmi_max(a.y, lmi_max(b.y, c.y)) >= box->low.y && lmi_min(a.y, lmi_min(b.y, c.y)) <= box->high.y &&
            lmi_max(a.z, lmi_max(b.z, c.z)) >= box->low.z && lmi_min(a.z, lmi_min(b.z, c.z)) <= box->high.z) {
            return true;
        }
    }
    return false;
}

bool lmi_slit_meet(lm_world *world, const lmi_body *body, const lmi_stroke *stroke, lmi_slit_plan *p)
{
    static const double drawn[4] = {5e-3, 1e-3, 1e-4, 2e-5};
    const double grain = body->lattice->shape.spacing;
    lmi_memory *memory = &world->memory;
    lmi_box box = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    lmi_sheet_tips tips = {0};
    bool closed = true, good = false, ok = take_surface(world, body, p, &box);
    if (ok && !touch(&box, stroke)) {
        return true;
    }
    lm_dvec3 more = dvec(grain, grain, grain);
    box = (lmi_box){dvec_sub(box.low, more), dvec_add(box.high, more)};
    const lmi_clip_surface all = {
        p->points, (const uint32_t(*)[3])p->triangles, p->which, p->triangle_count, p->vertex_count, p->inner, 0.0};
    ok = ok && (!body->slit || lmi_clip_tips(&tips, memory, &all, &box));
    for (uint32_t n = 0; ok && !good && n < TRIES; n++) {
        if (n == 1) {
            ok = is_closed(memory, p, &closed);
        }
        free_clips(memory, p);
        p->met = false;
        ok = ok && lmi_sheet_make(&p->sheet, memory, stroke->triangles, stroke->count, &box, grain, &tips, n) &&
             clip_parts(memory, p, stroke, drawn[n % 4] * grain, closed, &good);
    }
    p->failed = ok && !good;
    lmi_sheet_tips_free(&tips, memory);
    return ok;
}

/* --- in its place --- */

void lmi_slit_carry_out(lm_world *world, lmi_body *body, lmi_slit_plan *p)
{
    lmi_skin before = body->skin;
    lmi_release(&world->memory, p->eyes, p->skin.vertex_count - p->vertex_count, sizeof *p->eyes);
    p->eyes = NULL;
    p->slit->cuts = body->slit ? body->slit->cuts + 1 : 1;
    if (body->slit) {
        p->slit->whole = body->slit->whole;
        memset(&body->slit->whole, 0, sizeof body->slit->whole);
        lmi_slit_free(world, body->slit);
        lmi_skin_free(world, &before);
    } else {
        p->slit->whole = before;
    }
    body->skin = p->skin;
    body->slit = p->slit;
    memset(&p->skin, 0, sizeof p->skin);
    p->slit = NULL;
    uint64_t hash = lmi_hash_shape(body);
    if (body->fracture) {
        body->fracture->whole_hash = hash;
        hash += body->fracture->links_hash;
    }
    body->shape_hash = hash;
}

lm_result lm_body_get_skin_cuts(const lm_world *world, lm_body_id id, float *uvs, uint32_t *materials)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_skin_cuts");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_skin_cuts: the body has no skin");
    }
    for (uint32_t n = 0; n < body->skin.vertex_count; n++) {
        float uv[2];
        uint32_t material = lmi_lineage_cut(body, &body->skin, n, uv);
        if (uvs) {
            memcpy(uvs + 2 * (size_t)n, uv, sizeof uv);
        }
        if (materials) {
            materials[n] = material;
        }
    }
    return LM_OK;
}
