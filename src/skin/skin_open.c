/*
 * A skin that opens (skin/skin_open.h): making it, and writing what a plan says.
 *
 * What a vertex rides on: eight corners of a cell, as all vertices of a lattice's skin: of the cell that it is in, if that is
 * whole. In a torn cell these corners move apart; there it rides on the cell of a chip of its group, the nearest one, continued
 * beyond the cell. So a piece carries its surface along whatever the others do.
 *
 * Normals of the surface are those that it was given with, wherever it is cut: it does not shade in facets because it broke.
 * Inner faces have vertices of their own, with the normals of their faces.
 */
#include "skin/skin_open.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "lattice/lattice_break.h"
#include "skin/lineage.h"
#include "skin/skin.h"
#include "skin/slit.h"
#include "world/access.h"
#include "world/body.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_LATTICE_NONE

/* Who writes, and where. */
typedef struct writer {
    lmi_opening *o;
    const lmi_lattice *l;
    const uint32_t *chips;
    lmi_skin *skin;
    const lmi_skin *given;
} writer;

/* --- room --- */

/* Room for more vertices and triangles than there are; what is there is kept. False when out of memory: nothing has changed. */
static bool grow_skin(lm_world *world, lmi_skin *skin, uint32_t vertices, uint32_t triangles)
{
    if (vertices <= skin->vertex_room && triangles <= skin->triangle_room) {
        return true;
    }
    /* A body in a thousand pieces has about three times as many: growing takes long, and is not for when it shatters. */
    const uint64_t more[2] = {3 * (uint64_t)vertices, 2 * (uint64_t)triangles};
    lmi_skin larger = {.on_cells = true, .vertex_count = (uint32_t)more[0], .triangle_count = (uint32_t)more[1]};
    if (more[0] > 3ull * LM_MAX_PARTICLES || more[1] > 2ull * LM_MAX_PARTICLES) {
        return false;
    }
    larger.weight_count = 8 * larger.vertex_count;
    larger.sources = lmi_allocate(&world->memory, larger.vertex_count, sizeof *larger.sources);
    larger.vertex_room = larger.vertex_count; /* of the sources, should there be no room for the rest */
    if (!lmi_skin_allocate(world, &larger) || !larger.sources) {
        lmi_skin_free(world, &larger);
        return false;
    }
    const size_t count = skin->vertex_count;
    if (count) {
        memcpy(larger.vertices, skin->vertices, count * sizeof *skin->vertices);
        memcpy(larger.rest_normals, skin->rest_normals, count * sizeof *skin->rest_normals);
        memcpy(larger.sources, skin->sources, count * sizeof *skin->sources);
        memcpy(larger.riders, skin->riders, 8 * count * sizeof *skin->riders);
        memcpy(larger.weights, skin->weights, 8 * count * sizeof *skin->weights);
        memcpy(larger.triangles, skin->triangles, 3 * (size_t)skin->triangle_count * sizeof *skin->triangles);
    }
    for (uint32_t n = 0; n < larger.vertex_count; n++) {
        larger.offsets[n + 1] = 8 * (n + 1);
    }
    larger.vertex_count = skin->vertex_count;
    larger.triangle_count = skin->triangle_count;
    larger.weight_count = skin->weight_count;
    lmi_skin_free(world, skin);
    *skin = larger;
    return true;
}

/* --- vertices --- */

static lm_vec3 rest_of(const writer *w, uint32_t vertex)
{
    if (vertex < LMI_CUT_NODE && w->o->cut->vertices[vertex].given != NONE) {
        return w->given->vertices[w->o->cut->vertices[vertex].given];
    }
    double at[3], rest[3];
    lmi_cut_place(w->o->cut, w->l, vertex, at);
    for (uint32_t a = 0; a < 3; a++) {
        rest[(a + w->l->turn) % 3] = at[a] * w->l->spacing;
    }
    return (lm_vec3){(float)(w->l->first.x + rest[0]), (float)(w->l->first.y + rest[1]),
                     (float)(w->l->first.z + rest[2])};
}

static lm_vec3 normal_of(const writer *w, const lmi_skin_copy *copy)
{
    float normal[3] = {0.0f, 0.0f, 0.0f};
    const uint32_t side = lmi_copy_side(copy);
    if (side == 0) {
        return w->o->cut->vertices[lmi_copy_vertex(copy)].normal;
    }
    normal[((side - 1) / 2 + w->l->turn) % 3] = side % 2 ? 1.0f : -1.0f;
    return (lm_vec3){normal[0], normal[1], normal[2]};
}

static void write_ride(const writer *w, const lmi_skin_copy *copy, const lmi_cut_around *around, uint32_t index)
{
    lmi_cut_ride_chip(w->l, w->chips, around, lmi_copy_group(copy), copy->owner, w->skin->riders + 8 * (size_t)index,
                      w->skin->weights + 8 * (size_t)index);
}

/* A copy, and what it rides on. */
static void write_copy(const writer *w, const lmi_skin_copy *copy, const lmi_cut_around *around, uint32_t index)
{
    const uint32_t vertex = lmi_copy_vertex(copy);
    w->skin->vertices[index] = rest_of(w, vertex);
    w->skin->rest_normals[index] = normal_of(w, copy);
    w->skin->sources[index] = lmi_copy_side(copy) ? LM_SKIN_INNER : w->o->cut->vertices[vertex].source;
    write_ride(w, copy, around, index);
}

/* A vertex of the surface where nothing is torn. */
static void write_vertex(const writer *w, uint32_t vertex)
{
    const lmi_cut *cut = w->o->cut;
    const lmi_cut_vertex *v = &cut->vertices[vertex];
    const bool in_none = v->cell == NONE; /* as it was given; one with triangles gets a chip to ride on */
    const uint32_t *riders =
        in_none && v->given != NONE ? w->given->riders + 8 * (size_t)v->given : cut->riders[vertex];
    const float *weights =
        in_none && v->given != NONE ? w->given->weights + 8 * (size_t)v->given : cut->weights[vertex];
    w->skin->vertices[vertex] = rest_of(w, vertex);
    w->skin->rest_normals[vertex] = v->normal;
    w->skin->sources[vertex] = v->source;
    memcpy(w->skin->riders + 8 * (size_t)vertex, riders, 8 * sizeof *riders);
    memcpy(w->skin->weights + 8 * (size_t)vertex, weights, 8 * sizeof *weights);
}

/* Copies that stay beside each other move together. */
static void move_run(const writer *w, uint32_t from, uint32_t to, uint32_t count)
{
    lmi_skin *s = w->skin;
    const size_t f = (size_t)w->o->cut->vertex_count + from, t = (size_t)w->o->cut->vertex_count + to;
    memmove(s->vertices + t, s->vertices + f, count * sizeof *s->vertices);
    memmove(s->rest_normals + t, s->rest_normals + f, count * sizeof *s->rest_normals);
    memmove(s->sources + t, s->sources + f, count * sizeof *s->sources);
    memmove(s->riders + 8 * t, s->riders + 8 * f, 8 * count * sizeof *s->riders);
    memmove(s->weights + 8 * t, s->weights + 8 * f, 8 * count * sizeof *s->weights);
}

/* Those that move down from the lowest on, those that move up from the highest on: none is written over before it has moved,
 * because they keep their order. */
static void move_copies(const writer *w, uint32_t count)
{
    const uint32_t *moved = w->o->moved;
    for (uint32_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && moved[n] != NONE && moved[end] == moved[n] + (end - n);) {
            end++;
        }
        if (moved[n] != NONE && moved[n] < n) {
            move_run(w, n, moved[n], end - n);
        }
    }
    for (uint32_t end = count, n; end > 0; end = n) {
        for (n = end - 1; n > 0 && moved[end - 1] != NONE && moved[n - 1] == moved[end - 1] - (end - n);) {
            n--;
        }
        if (moved[end - 1] != NONE && moved[n] > n) {
            move_run(w, n, moved[n], end - n);
        }
    }
}

static void write_fresh(const writer *w)
{
    for (uint32_t n = 0; n < w->o->fresh_count; n++) {
        const lmi_skin_copy *copy = &w->o->fresh[n];
        write_copy(w, copy, lmi_opening_look_around(w->o, w->l, lmi_copy_vertex(copy)),
                   w->o->cut->vertex_count + w->o->fresh_at[n]);
    }
}

/* --- triangles --- */

/* The vertex of the skin that a fresh copy became. */
static uint32_t find_copy(const writer *w, const lmi_skin_copy *copy)
{
    const lmi_skin_copy *found = bsearch(copy, w->o->fresh, w->o->fresh_count, sizeof *w->o->fresh, lmi_compare_copies);
    return w->o->cut->vertex_count + w->o->fresh_at[found - w->o->fresh];
}

/* The same of an inner face; those of a vertex are few. */
static uint32_t find_inner_copy(const writer *w, const lmi_skin_copy *copy)
{
    uint32_t n = *lmi_opening_mark(w->o, lmi_copy_vertex(copy)) - 2;
    while (!lmi_copy_same(&w->o->fresh[n], copy)) {
        n++;
    }
    return w->o->cut->vertex_count + w->o->fresh_at[n];
}

/* The corners of triangles at a touched vertex, and what the vertex itself rides on. */
static void write_corners(const writer *w, uint32_t vertex)
{
    const lmi_cut *cut = w->o->cut;
    const uint32_t from = cut->first_corner[vertex], end = cut->first_corner[vertex + 1];
    if (from == end || !lmi_cut_is_torn(cut, w->l, vertex)) {
        return;
    }
    const lmi_cut_around *around = lmi_opening_look_around(w->o, w->l, vertex);
    const lmi_skin_copy first = lmi_copy_of(vertex, 0, around, cut->triangles[cut->corners[from] / 3].owner);
    lmi_skin_copy last = first;
    uint32_t index = vertex;
    for (uint32_t n = from; n < end; n++) {
        lmi_skin_copy copy = lmi_copy_of(vertex, 0, around, cut->triangles[cut->corners[n] / 3].owner);
        if (!lmi_copy_same(&copy, &last)) {
            index = lmi_copy_same(&copy, &first) ? vertex : find_copy(w, &copy);
            last = copy;
        }
        w->skin->triangles[cut->corners[n]] = index;
    }
    write_ride(w, &first, around, vertex);
}

/* Corners that have copies which moved. Where there are few copies, only the triangles at their vertices are checked. */
static void move_corners(const writer *w, const lmi_open_lists *before)
{
    const lmi_cut *cut = w->o->cut;
    const uint32_t corners = 3 * cut->triangle_count, first = cut->vertex_count;
    const uint32_t *moved = w->o->moved;
    uint32_t *triangles = w->skin->triangles;
    uint32_t count = 0, from = 0;
    while (count < before->copy_count && lmi_copy_side(&before->copies[count]) == 0) {
        count++;
    }
    while (from < count && moved[from] == from) {
        from++;
    }
    if (count - from > corners / 32) {
        for (uint32_t n = 0; n < corners; n++) {
            if (triangles[n] >= first && moved[triangles[n] - first] != NONE) {
                triangles[n] = first + moved[triangles[n] - first];
            }
        }
        return;
    }
    for (uint32_t k = from; k < count; k++) {
        const uint32_t vertex = lmi_copy_vertex(&before->copies[k]);
        if (moved[k] == NONE || (k > from && lmi_copy_vertex(&before->copies[k - 1]) == vertex)) {
            continue;
        }
        for (uint32_t n = cut->first_corner[vertex]; n < cut->first_corner[vertex + 1]; n++) {
            uint32_t *corner = &triangles[cut->corners[n]];
            *corner = *corner >= first ? first + moved[*corner - first] : *corner;
        }
    }
}

/* Corners of a face that stay with their copies, wherever these are now. Faces only move up, so the last corner comes first. */
static void move_face(const writer *w, const lmi_open_face *face)
{
    const uint32_t first = w->o->cut->vertex_count, *moved = w->o->moved;
    const size_t surface = 3 * (size_t)w->o->cut->triangle_count;
    uint32_t *to = w->skin->triangles + surface + 6 * (size_t)face->first;
    const uint32_t *from = w->skin->triangles + surface + 6 * (size_t)face->before;
    for (uint32_t n = 6 * face->count; n-- > 0;) {
        to[n] = first + moved[from[n] - first];
    }
}

/* Both sides of a face: its triangles, and the same turned round. Only corners at touched vertices are looked up. */
static void write_face(const writer *w, const lmi_open_face *face)
{
    const uint32_t end = lmi_lattice_link_end(w->l, face->link), side = 1 + 2 * face->link.axis;
    uint32_t *to = w->skin->triangles + 3 * (size_t)w->o->cut->triangle_count + 6 * (size_t)face->first;
    for (uint32_t n = 0; n < 3 * face->count; n++) {
        const uint32_t k = n % 3, vertex = w->o->now.triangles[face->first + n / 3][k];
        if (!*lmi_opening_mark(w->o, vertex)) {
            continue;
        }
        const lmi_cut_around *around = lmi_opening_look_around(w->o, w->l, vertex);
        const lmi_skin_copy lower = lmi_copy_of(vertex, side, around, face->link.particle),
                            upper = lmi_copy_of(vertex, side + 1, around, end);
        to[n / 3 * 6 + k] = find_inner_copy(w, &lower);
        to[n / 3 * 6 + 5 - k] = find_inner_copy(w, &upper);
    }
}

/* --- the whole --- */

static void write_plan(const writer *w, lmi_open_lists *plan)
{
    lmi_opening *o = w->o;
    const lmi_open_lists before = o->now;
    o->now = *plan;
    *plan = before; /* to be freed */
    w->skin->vertex_count = o->cut->vertex_count + o->now.copy_count;
    w->skin->triangle_count = o->cut->triangle_count + 2 * o->now.triangle_count;
    w->skin->weight_count = 8 * w->skin->vertex_count;
    move_copies(w, before.copy_count);
    write_fresh(w);
    move_corners(w, &before);
    for (uint32_t n = 0; n < o->vertex_count; n++) {
        write_corners(w, o->vertices[n]);
    }
    for (uint32_t n = o->now.face_count; n-- > 0;) {
        if (o->now.faces[n].before != NONE) {
            move_face(w, &o->now.faces[n]);
        }
    }
    for (uint32_t n = 0; n < o->now.face_count; n++) {
        if (o->now.faces[n].touched) {
            write_face(w, &o->now.faces[n]);
        }
    }
    lmi_opening_forget(o);
}

static bool reserve_skin(lm_world *world, lmi_skin *skin, const lmi_cut *cut, const lmi_open_lists *plan)
{
    const uint64_t vertices = (uint64_t)cut->vertex_count + plan->copy_count,
                   triangles = cut->triangle_count + 2 * (uint64_t)plan->triangle_count;
    return vertices <= LM_MAX_PARTICLES && triangles <= LM_MAX_PARTICLES &&
           grow_skin(world, skin, (uint32_t)vertices, (uint32_t)triangles);
}

/* The skin of a surface that is whole, as the cut has it. */
static void write_whole(const writer *w)
{
    const lmi_cut *cut = w->o->cut;
    for (uint32_t n = 0; n < cut->vertex_count; n++) {
        write_vertex(w, n);
    }
    for (uint32_t n = 0; n < 3 * cut->triangle_count; n++) {
        w->skin->triangles[n] = cut->triangles[n / 3].corner[n % 3];
    }
}

static int compare_links(const void *a, const void *b)
{
    const lmi_lattice_link *x = a, *y = b;
    if (x->particle != y->particle) {
        return x->particle < y->particle ? -1 : 1;
    }
    return x->axis < y->axis ? -1 : x->axis > y->axis;
}

/* The links of a lattice that are broken, sorted. Returns how many; writes them where there is room. */
static uint32_t broken_links(const lmi_lattice *l, lmi_lattice_link *links)
{
    uint32_t count = 0;
    for (uint32_t n = 0; l->bond[0] && n < 3 * l->block_count; n++) {
        uint32_t left = lmi_lattice_links(l, n / 3, n % 3) & ~(uint32_t)l->bond[n % 3][n / 3];
        for (; left; left &= left - 1, count++) {
            if (links) {
                links[count] = (lmi_lattice_link){n / 3 * LMI_BLOCK + (uint32_t)lmi_low_bit(left), n % 3};
            }
        }
    }
    if (links && count) {
        qsort(links, count, sizeof *links, compare_links);
    }
    return count;
}

static bool make_ready(lm_world *world, const lmi_body *body, const lmi_skin *given, lmi_opening *o)
{
    const lmi_lattice *l = &body->lattice->shape;
    const lmi_cut_surface surface = {given->vertices, given->rest_normals, given->vertex_count, given->triangles,
                                     given->triangle_count};
    lmi_memory *memory = &world->memory;
    lmi_open_lists plan = {0};
    o->fracture = body->fracture;
    o->cut = lmi_cut_make(memory, l, &surface);
    if (!o->cut) {
        return false;
    }
    const uint32_t broken = broken_links(l, NULL);
    lmi_lattice_link *links = lmi_allocate(memory, broken, sizeof *links);
    o->vertex_marks = lmi_allocate(memory, o->cut->vertex_count, sizeof *o->vertex_marks);
    o->cell_marks = lmi_allocate(memory, o->cut->place_count, sizeof *o->cell_marks);
    o->known = lmi_allocate(memory, LMI_KNOWN, sizeof *o->known);
    bool ok = links && o->vertex_marks && o->cell_marks && o->known;
    if (ok) {
        broken_links(l, links);
        ok = lmi_open_lists_plan(world, o, NULL, l, links, broken, &plan) &&
             reserve_skin(world, &o->ready, o->cut, &plan);
    }
    if (ok) {
        writer w = {o, l, body->fracture->chips, &o->ready, given};
        write_whole(&w);
        write_plan(&w, &plan);
    }
    lmi_open_lists_free(world, &plan);
    lmi_release(memory, links, broken, sizeof *links);
    return ok;
}

lmi_opening *lmi_opening_make(lm_world *world, const lmi_body *body, const lmi_skin *given)
{
    lmi_opening *o = lmi_allocate(&world->memory, 1, sizeof *o);
    if (o && !make_ready(world, body, given, o)) {
        lmi_opening_free(world, o);
        o = NULL;
    }
    return o;
}

void lmi_opening_free(lm_world *world, lmi_opening *o)
{
    lmi_memory *memory = &world->memory;
    if (!o) {
        return;
    }
    lmi_release(memory, o->vertex_marks, o->cut ? o->cut->vertex_count : 0, sizeof *o->vertex_marks);
    lmi_release(memory, o->cell_marks, o->cut ? o->cut->place_count : 0, sizeof *o->cell_marks);
    lmi_release(memory, o->vertices, o->vertex_capacity, sizeof *o->vertices);
    lmi_release(memory, o->cells, o->cell_capacity, sizeof *o->cells);
    lmi_release(memory, o->links, o->link_capacity, sizeof *o->links);
    lmi_release(memory, o->fresh, o->fresh_capacity, sizeof *o->fresh);
    lmi_release(memory, o->fresh_at, o->fresh_at_capacity, sizeof *o->fresh_at);
    lmi_release(memory, o->moved, o->moved_capacity, sizeof *o->moved);
    lmi_release(memory, o->known, LMI_KNOWN, sizeof *o->known);
    lmi_cut_face_free(memory, &o->face);
    lmi_open_lists_free(world, &o->now);
    lmi_skin_free(world, &o->ready);
    lmi_cut_free(memory, o->cut);
    lmi_release(memory, o, 1, sizeof *o);
}

/* The skin that opens: the body's, if it has broken before. */
static lmi_skin *skin_of(const lmi_body *body)
{
    return body->fracture->whole.vertex_count ? (lmi_skin *)&body->skin : &body->fracture->opening->ready;
}

bool lmi_opening_plan(lm_world *world, const lmi_body *body, const lmi_lattice *next, const lmi_lattice_link *links,
                      uint32_t count, lmi_open_lists *plan)
{
    lmi_opening *o = body->fracture->opening;
    bool ok = lmi_open_lists_plan(world, o, &body->lattice->shape, next, links, count, plan);
    if (ok && !reserve_skin(world, skin_of(body), o->cut, plan)) {
        lmi_opening_drop(world, o, plan);
        ok = false;
    }
    return ok;
}

void lmi_opening_carry_out(lm_world *world, lmi_body *body, lmi_open_lists *plan)
{
    lmi_fracture *f = body->fracture;
    const lmi_skin *given = f->whole.vertex_count ? &f->whole : &body->skin;
    writer w = {f->opening, &body->lattice->shape, f->chips, skin_of(body), given};
    write_plan(&w, plan);
    lmi_open_lists_free(world, plan);
    if (!f->whole.vertex_count) {
        f->whole = body->skin;
        body->skin = f->opening->ready;
        memset(&f->opening->ready, 0, sizeof f->opening->ready);
    }
}

/* ---- the skin of a body ----
 *
 * Skins of bodies that can break: what follows when a body gets one, and what its vertices come from.
 */

bool lmi_fracture_skin(lm_world *world, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    if (!f) {
        return true;
    }
    if (body->slit) {
        f->whole_hash = lmi_hash_shape(body);
        body->shape_hash = f->whole_hash + f->links_hash;
        return true;
    }
    lmi_opening *opening = NULL;
    if (body->skin.vertex_count) {
        opening = lmi_opening_make(world, body, &body->skin);
        if (!opening) {
            return false;
        }
    }
    lmi_opening_free(world, f->opening);
    lmi_skin_free(world, &f->whole);
    f->opening = opening;
    f->whole_hash = lmi_hash_shape(body);
    if (opening && f->broken) {
        f->whole = body->skin;
        body->skin = opening->ready;
        memset(&opening->ready, 0, sizeof opening->ready);
    }
    body->shape_hash = f->whole_hash + f->links_hash;
    return true;
}

lmi_opening *lmi_fracture_opening(lm_world *world, const lmi_body *body)
{
    return lmi_opening_make(world, body, body->slit ? &body->slit->whole : &body->skin);
}

void lmi_fracture_show(lm_world *world, lmi_body *body, lmi_opening *opening, lmi_fracture_undo *undo)
{
    lmi_fracture *f = body->fracture;
    if (undo) {
        undo->shown = true;
        undo->skin = body->skin;
        undo->slit = body->slit;
        undo->shape_hash = body->shape_hash;
        undo->whole_hash = f->whole_hash;
    }
    if (body->slit) {
        lmi_skin cut = body->skin;
        body->skin = body->slit->whole;
        if (!undo) {
            memset(&body->slit->whole, 0, sizeof body->slit->whole);
            lmi_skin_free(world, &cut);
            lmi_slit_free(world, body->slit);
        }
        body->slit = NULL;
    }
    f->opening = opening;
    f->whole_hash = lmi_hash_shape(body);
    if (f->broken) {
        f->whole = body->skin;
        body->skin = opening->ready;
        memset(&opening->ready, 0, sizeof opening->ready);
    }
    body->shape_hash = f->whole_hash + f->links_hash;
}

bool lmi_fracture_open_links(lm_world *world, lmi_body *body, lmi_fracture_undo *undo)
{
    if (body->fracture->opening || !body->skin.vertex_count) {
        return true;
    }
    lmi_opening *opening = lmi_fracture_opening(world, body);
    if (opening) {
        lmi_fracture_show(world, body, opening, undo);
    }
    return opening != NULL;
}

lm_result lm_body_get_skin_sources(const lm_world *world, lm_body_id id, uint32_t *sources)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_skin_sources");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_skin_sources: the body has no skin");
    }
    for (uint32_t n = 0; n < body->skin.vertex_count; n++) {
        sources[n] = lmi_lineage_source(body, &body->skin, n);
    }
    return LM_OK;
}
