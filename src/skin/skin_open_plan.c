/*
 * What a break makes of a skin that opens: copies and faces to be (skin/skin_open.h).
 */
#include "lattice/lattice_break.h"
#include "skin/skin_open.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_LATTICE_NONE

typedef struct planner {
    lmi_memory *memory;
    lmi_opening *o;
    const lmi_lattice *before; /* null: nothing was broken */
    const lmi_lattice *l;
    lmi_open_lists *plan;
} planner;

int lmi_compare_copies(const void *a, const void *b)
{
    const lmi_skin_copy *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static int compare_links(const void *a, const void *b)
{
    const lmi_lattice_link *x = a, *y = b;
    if (x->particle != y->particle) {
        return x->particle < y->particle ? -1 : 1;
    }
    return x->axis < y->axis ? -1 : x->axis > y->axis;
}

lmi_skin_copy lmi_copy_of(uint32_t vertex, uint32_t side, const lmi_cut_around *around, uint32_t particle)
{
    const uint8_t group = lmi_cut_group_of(around, particle);
    return (lmi_skin_copy){(uint64_t)(side != 0) << 40 | (uint64_t)vertex << 8 | side << 4 | group,
                           group == LMI_CUT_ALONE ? particle : 0};
}

const lmi_cut_around *lmi_opening_look_around(lmi_opening *o, const lmi_lattice *l, uint32_t vertex)
{
    lmi_known *known = &o->known[(vertex ^ vertex >> 11) % LMI_KNOWN];
    if (known->vertex != vertex) {
        lmi_cut_look_around(o->cut, l, vertex, &known->around);
        known->vertex = vertex;
    }
    return &known->around;
}

/* Other links hold than when it was looked at. */
static void know_nothing(lmi_opening *o)
{
    for (uint32_t n = 0; n < LMI_KNOWN; n++) {
        o->known[n].vertex = NONE;
    }
}

/* --- lists --- */

void lmi_open_lists_free(lm_world *world, lmi_open_lists *lists)
{
    lmi_memory *memory = &world->memory;
    lmi_release(memory, lists->copies, lists->copy_capacity, sizeof *lists->copies);
    lmi_release(memory, lists->faces, lists->face_capacity, sizeof *lists->faces);
    lmi_release(memory, lists->triangles, lists->triangle_capacity, sizeof *lists->triangles);
    memset(lists, 0, sizeof *lists);
}

/* Room for one more element in a list. */
#define RESERVE(p, list, count, capacity) lmi_grow((p)->memory, &(list), &(capacity), (count) + 1, sizeof *(list))

static bool add_fresh(planner *p, lmi_skin_copy copy)
{
    bool ok = RESERVE(p, p->o->fresh, p->o->fresh_count, p->o->fresh_capacity);
    if (ok) {
        p->o->fresh[p->o->fresh_count++] = copy;
    }
    return ok;
}

/* --- what is touched --- */

void lmi_opening_forget(lmi_opening *o)
{
    for (uint32_t n = 0; n < o->vertex_count; n++) {
        o->vertex_marks[o->vertices[n]] = 0;
    }
    for (uint32_t n = 0; n < o->cell_count; n++) {
        o->cell_marks[o->cells[n]] = 0;
    }
    o->vertex_count = o->cell_count = o->link_count = o->fresh_count = 0;
}

static bool touch_vertex(planner *p, uint32_t vertex)
{
    lmi_opening *o = p->o;
    if (o->vertex_marks[vertex]) {
        return true;
    }
    bool ok = RESERVE(p, o->vertices, o->vertex_count, o->vertex_capacity);
    if (ok) {
        o->vertex_marks[vertex] = 1;
        o->vertices[o->vertex_count++] = vertex;
    }
    return ok;
}

/* Whether a vertex is in the boxes of both ends of a link: on the face between them. */
static bool is_between(const lmi_cut_vertex *v, const int32_t corner[3], uint32_t axis)
{
    bool is = true;
    for (uint32_t a = 0; a < 3; a++) {
        double off = v->at[a] - corner[a];
        is = is && (a == axis ? off == 0.5 : off >= -0.5 && off <= 0.5);
    }
    return is;
}

static bool touch_cell(planner *p, uint32_t place)
{
    lmi_opening *o = p->o;
    if (o->cell_marks[place]) {
        return true;
    }
    bool ok = RESERVE(p, o->cells, o->cell_count, o->cell_capacity);
    if (ok) {
        o->cell_marks[place] = 1;
        o->cells[o->cell_count++] = place;
    }
    return ok;
}

/* One of a link's places: the middle of its cell, where it has one, and the vertices near it. What a vertex rides on changes
 * when its cell is torn; later only where it is between the ends of a link. */
static bool touch_place(planner *p, uint32_t place, lmi_lattice_link link)
{
    const lmi_cut *cut = p->o->cut;
    if (place == NONE) {
        return true;
    }
    const bool torn = p->before && !(p->before->whole[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1);
    const bool done = !torn && p->o->cell_marks[place];
    bool ok = touch_cell(p, place);
    int32_t corner[3];
    lmi_lattice_corner(p->l, link.particle, corner);
    for (uint32_t n = cut->first_near[place]; ok && !done && n < cut->first_near[place + 1]; n++) {
        const uint32_t vertex = cut->near[n];
        ok = (torn && !is_between(&cut->vertices[vertex], corner, link.axis)) || touch_vertex(p, vertex);
    }
    return ok;
}

static bool touch_links(planner *p, const lmi_lattice_link *links, uint32_t count)
{
    bool ok = true;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t places[4];
        lmi_cut_link_places(p->l, links[n], places);
        for (int k = 0; k < 4 && ok; k++) {
            ok = touch_place(p, places[k], links[n]);
        }
    }
    return ok;
}

/* Vertices far from the lattice belong to whoever has their triangles, whatever is broken. */
static bool touch_far(planner *p)
{
    bool ok = true;
    for (uint32_t n = 0; n < p->o->cut->vertex_count && ok; n++) {
        ok = p->o->cut->vertices[n].cell != NONE || touch_vertex(p, n);
    }
    return ok;
}

/* --- faces --- */

/* The faces so far with those of the links that break. */
static bool merge_faces(planner *p, const lmi_lattice_link *links, uint32_t count)
{
    const lmi_open_lists *now = &p->o->now;
    lmi_open_lists *to = p->plan;
    lmi_cut_face *face = &p->o->face;
    uint32_t a = 0, b = 0;
    to->faces = lmi_allocate(p->memory, now->face_count + count, sizeof *to->faces);
    to->face_capacity = to->faces ? now->face_count + count : 0;
    if (!to->faces) {
        return false;
    }
    while (a < now->face_count || b < count) {
        bool old = b == count || (a < now->face_count && compare_links(&now->faces[a].link, &links[b]) < 0);
        if (!old && lmi_fracture_is_inborn(p->o->fracture, links[b])) {
            face->count = 0;
        } else if (!old && !lmi_cut_find_face(p->memory, p->o->cut, p->l, links[b], face)) {
            return false;
        }
        const uint32_t more = old ? now->faces[a].count : face->count;
        const void *from = !old ? face->triangles : more ? now->triangles + now->faces[a].first : NULL;
        void *array = to->triangles;
        bool ok =
            lmi_reserve(p->memory, &array, &to->triangle_capacity, to->triangle_count + more, sizeof *to->triangles);
        to->triangles = array;
        if (!ok) {
            return false;
        }
        if (more) {
            memcpy(to->triangles + to->triangle_count, from, more * sizeof *to->triangles);
        }
        to->faces[to->face_count++] = (lmi_open_face){.link = old ? now->faces[a].link : links[b],
                                                      .first = to->triangle_count,
                                                      .count = more,
                                                      .before = old ? now->faces[a].first : NONE,
                                                      .touched = !old};
        to->triangle_count += more;
        a += old;
        b += !old;
    }
    return true;
}

static lmi_open_face *find_face(const lmi_open_lists *lists, lmi_lattice_link link)
{
    return lists->face_count ? bsearch(&link, lists->faces, lists->face_count, sizeof *lists->faces, compare_links)
                             : NULL;
}

static bool add_link(planner *p, uint32_t particle, uint32_t axis)
{
    lmi_opening *o = p->o;
    const lmi_lattice_link link = {particle, axis};
    if (particle == NONE || lmi_lattice_holds(p->l, link)) {
        return true;
    }
    bool ok = RESERVE(p, o->links, o->link_count, o->link_capacity);
    if (ok) {
        o->links[o->link_count++] = link;
    }
    return ok;
}

/* The links that are edges of a cell. */
static bool add_cell_links(planner *p, uint32_t cell)
{
    bool ok = true;
    int32_t low[3];
    lmi_lattice_corner(p->l, cell, low);
    for (uint32_t n = 0; n < 12 && ok; n++) {
        uint32_t axis = n % 3;
        int32_t at[3] = {low[0], low[1], low[2]};
        at[(axis + 1) % 3] += n / 3 & 1;
        at[(axis + 2) % 3] += n / 6;
        ok = add_link(p, lmi_lattice_find(p->l, at[0], at[1], at[2]), axis);
    }
    return ok;
}

/* The links between the boxes around a vertex. */
static bool add_box_links(planner *p, uint32_t vertex)
{
    lmi_cut_around around;
    bool ok = true;
    lmi_cut_find_boxes(p->o->cut, p->l, vertex, &around);
    for (uint32_t n = 0; n < 24 && ok; n++) {
        uint32_t box = n / 3, axis = n % 3;
        bool between = !(box >> axis & 1) && around.particle[box | 1u << axis] != NONE;
        ok = !between || add_link(p, around.particle[box], axis);
    }
    return ok;
}

/* Faces with touched vertices: across edges of touched cells, and for vertices outside of all cells across whatever is there. */
static bool find_links(planner *p)
{
    lmi_opening *o = p->o;
    bool ok = true;
    for (uint32_t n = 0; n < o->cell_count && ok; n++) {
        ok = add_cell_links(p, o->cells[n]);
    }
    for (uint32_t n = 0; n < o->vertex_count && ok; n++) {
        ok = !o->cut->vertices[o->vertices[n]].outside || add_box_links(p, o->vertices[n]);
    }
    if (ok && o->link_count) {
        qsort(o->links, o->link_count, sizeof *o->links, compare_links);
    }
    return ok;
}

/* --- copies --- */

/* Those of a vertex of the surface but for the first, which is the vertex itself. */
static bool find_copies(planner *p, uint32_t vertex)
{
    const lmi_cut *cut = p->o->cut;
    const uint32_t from = cut->first_corner[vertex], end = cut->first_corner[vertex + 1];
    if (from == end || !lmi_cut_is_torn(cut, p->l, vertex)) {
        return true;
    }
    const lmi_cut_around *around = lmi_opening_look_around(p->o, p->l, vertex);
    const lmi_skin_copy first = lmi_copy_of(vertex, 0, around, cut->triangles[cut->corners[from] / 3].owner);
    lmi_skin_copy last = first;
    bool ok = true;
    for (uint32_t n = from + 1; n < end && ok; n++) {
        lmi_skin_copy copy = lmi_copy_of(vertex, 0, around, cut->triangles[cut->corners[n] / 3].owner);
        if (!lmi_copy_same(&copy, &first) && !lmi_copy_same(&copy, &last)) {
            ok = add_fresh(p, copy);
        }
        last = copy;
    }
    return ok;
}

/* Those of the touched vertices of a face. */
static bool find_inner_copies(planner *p, const lmi_open_face *face)
{
    if (face->count == 0) {
        return true; /* there may be no triangles at all */
    }
    const uint32_t end = lmi_lattice_link_end(p->l, face->link);
    const uint32_t side = 1 + 2 * face->link.axis;
    const uint32_t *corners = p->plan->triangles[face->first];
    uint32_t known[3] = {NONE, NONE, NONE}; /* of the triangle before */
    bool ok = true;
    for (uint32_t n = 0; n < 3 * face->count && ok; n++) {
        const uint32_t vertex = corners[n];
        bool again = vertex == known[0] || vertex == known[1] || vertex == known[2];
        known[n % 3] = vertex;
        if (again || !*lmi_opening_mark(p->o, vertex)) {
            continue;
        }
        const lmi_cut_around *around = lmi_opening_look_around(p->o, p->l, vertex);
        ok = add_fresh(p, lmi_copy_of(vertex, side, around, face->link.particle)) &&
             add_fresh(p, lmi_copy_of(vertex, side + 1, around, end));
    }
    return ok;
}

/* Each copy once; vertices of inner faces know where theirs begin. */
static void sort_fresh(lmi_opening *o)
{
    uint32_t kept = 0;
    if (o->fresh_count) {
        qsort(o->fresh, o->fresh_count, sizeof *o->fresh, lmi_compare_copies);
    }
    for (uint32_t n = 0; n < o->fresh_count; n++) {
        if (n > 0 && lmi_copy_same(&o->fresh[n], &o->fresh[kept - 1])) {
            continue;
        }
        uint32_t *mark = lmi_opening_mark(o, lmi_copy_vertex(&o->fresh[n]));
        if (lmi_copy_side(&o->fresh[n]) != 0 && *mark < 2) {
            *mark = kept + 2;
        }
        o->fresh[kept++] = o->fresh[n];
    }
    o->fresh_count = kept;
}

static bool find_fresh(planner *p)
{
    lmi_opening *o = p->o;
    bool ok = true;
    for (uint32_t n = 0; n < o->vertex_count && ok; n++) {
        ok = find_copies(p, o->vertices[n]);
    }
    for (uint32_t n = 0; n < o->link_count && ok; n++) {
        bool again = n > 0 && compare_links(&o->links[n], &o->links[n - 1]) == 0;
        lmi_open_face *face = again ? NULL : find_face(p->plan, o->links[n]);
        if (face) { /* or there is no such link */
            face->touched = true;
            ok = find_inner_copies(p, face);
        }
    }
    if (ok) {
        sort_fresh(o);
    }
    return ok;
}

/* The copies so far, without those of touched vertices, and the fresh ones. */
static bool merge_copies(planner *p)
{
    lmi_opening *o = p->o;
    const lmi_open_lists *now = &o->now;
    lmi_open_lists *to = p->plan;
    const uint32_t most = now->copy_count + o->fresh_count;
    uint32_t b = 0;
    void *moved = o->moved, *fresh_at = o->fresh_at;
    bool ok = lmi_reserve(p->memory, &moved, &o->moved_capacity, now->copy_count, sizeof *o->moved);
    o->moved = moved;
    ok = ok && lmi_reserve(p->memory, &fresh_at, &o->fresh_at_capacity, o->fresh_count, sizeof *o->fresh_at);
    o->fresh_at = fresh_at;
    to->copies = ok ? lmi_allocate(p->memory, most, sizeof *to->copies) : NULL;
    to->copy_capacity = to->copies ? most : 0;
    if (!to->copies) {
        return false;
    }
    for (uint32_t a = 0; a < now->copy_count; a++) {
        if (*lmi_opening_mark(o, lmi_copy_vertex(&now->copies[a]))) {
            o->moved[a] = NONE;
            continue;
        }
        for (; b < o->fresh_count && lmi_compare_copies(&o->fresh[b], &now->copies[a]) < 0; b++) {
            o->fresh_at[b] = to->copy_count;
            to->copies[to->copy_count++] = o->fresh[b];
        }
        o->moved[a] = to->copy_count;
        to->copies[to->copy_count++] = now->copies[a];
    }
    for (; b < o->fresh_count; b++) {
        o->fresh_at[b] = to->copy_count;
        to->copies[to->copy_count++] = o->fresh[b];
    }
    return true;
}

bool lmi_open_lists_plan(lm_world *world, lmi_opening *o, const lmi_lattice *before, const lmi_lattice *next,
                         const lmi_lattice_link *links, uint32_t count, lmi_open_lists *plan)
{
    planner p = {&world->memory, o, before, next, plan};
    memset(plan, 0, sizeof *plan);
    know_nothing(o);
    bool ok = touch_links(&p, links, count) && (before || touch_far(&p)) && merge_faces(&p, links, count) &&
              (count == 0 || find_links(&p)) && find_fresh(&p) && merge_copies(&p);
    if (!ok) {
        lmi_opening_drop(world, o, plan);
    }
    return ok;
}

void lmi_opening_drop(lm_world *world, lmi_opening *o, lmi_open_lists *plan)
{
    lmi_open_lists_free(world, plan);
    if (o) {
        lmi_opening_forget(o);
    }
}
