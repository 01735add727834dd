/*
 * What a cut changes of an octree's skin (skin/skin_octree_plan.h).
 *
 * Touched are the vertices in the cells around the links that were cut and around corners that were moved. Triangles with a vertex
 * that is parted or moved open, and with them all their vertices are touched. Whatever has a touched vertex is shown again.
 */
#include "skin/skin_octree_plan.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_OCTREE_NONE

static bool push(lmi_memory *memory, lmi_shell_list *list, uint32_t item)
{
    void *items = list->items;
    bool ok = lmi_reserve(memory, &items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (ok) {
        list->items[list->count++] = item;
    }
    return ok;
}

/* --- touched vertices --- */

static bool touch(lmi_shell_plan *p, uint32_t vertex)
{
    uint32_t *mark = &p->shell->mark[lmi_shell_slot(p->shell, vertex)];
    if (*mark) {
        return true;
    }
    *mark = 1;
    if (!push(p->memory, &p->shell->touched, vertex)) {
        *mark = 0;
        return false;
    }
    return true;
}

/* The corner of voxels in the middle of a cell, and the vertices in it. */
static bool touch_cell(lmi_shell_plan *p, uint32_t cell)
{
    const lmi_cut *cut = p->shell->cut;
    bool ok = touch(p, LMI_CUT_NODE + cell);
    for (uint32_t n = cut->first_near[cell]; n < cut->first_near[cell + 1] && ok; n++) {
        ok = touch(p, cut->near[n]);
    }
    return ok;
}

/* The cells that a corner of voxels moves something in. */
static bool touch_around(lmi_shell_plan *p, uint64_t corner)
{
    const int64_t at[3] = {corner & 0xfffff, corner >> 20 & 0xfffff, (int64_t)(corner >> 40)};
    bool ok = true;
    for (int64_t k = 0; k < 27 && ok; k++) {
        uint32_t cell = lmi_shell_cell_at(p->shell, at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1);
        ok = cell == LMI_LATTICE_NONE || touch_cell(p, cell);
    }
    return ok;
}

/* Corners that are moved, and were not, or elsewhere. */
static bool touch_bends(lmi_shell_plan *p)
{
    const lmi_octree *t = p->t, *before = p->change->before;
    uint32_t k = 0, others = before ? before->bend_count : 0;
    bool ok = true;
    for (uint32_t n = 0; n < t->bend_count && ok; n++) {
        while (k < others && before->bends[k].corner < t->bends[n].corner) {
            k++;
        }
        bool same = k < others && before->bends[k].corner == t->bends[n].corner &&
                    memcmp(before->bends[k].by, t->bends[n].by, sizeof t->bends[n].by) == 0;
        ok = same || touch_around(p, t->bends[n].corner);
    }
    return ok;
}

/* The four cells that have a link as an edge, and vertices outside of all cells. */
static bool touch_link(lmi_shell_plan *p, uint32_t voxel, uint32_t axis)
{
    lmi_lattice_link link = {lmi_shell_box_of(p->shell, p->t, voxel), lmi_shell_box_axis(p->shell, axis)};
    uint32_t places[4];
    bool ok = true;
    lmi_cut_link_places(&p->shell->boxes, link, places);
    for (uint32_t k = 0; k < 4 && ok; k++) {
        ok = places[k] == LMI_LATTICE_NONE || touch_cell(p, places[k]);
    }
    return ok;
}

static bool touch_links(lmi_shell_plan *p)
{
    bool ok = true;
    for (uint32_t n = 0; p->change->before && n < p->change->slashes->count && ok; n++) {
        ok = touch_link(p, p->change->slashes->items[n].voxel, p->change->slashes->items[n].axis);
    }
    for (uint32_t n = 0; !p->change->before && n < 3 * p->t->voxel_count && ok; n++) {
        ok = !lmi_octree_is_slashed(p->t, n / 3, n % 3) || touch_link(p, n / 3, n % 3);
    }
    return ok;
}

const lmi_shell_look *lmi_shell_known(lmi_shell_plan *p, uint32_t vertex)
{
    lmi_octree_shell *shell = p->shell;
    uint32_t *known = &shell->look_of[lmi_shell_slot(shell, vertex)];
    if (!*known) {
        void *looks = shell->looks;
        bool ok = lmi_reserve(p->memory, &looks, &shell->look_capacity, shell->look_count + 1, sizeof *shell->looks);
        shell->looks = looks;
        if (!ok) {
            return NULL;
        }
        lmi_shell_look_at(shell, p->t, vertex, &shell->looks[shell->look_count++]);
        *known = shell->look_count;
    }
    return &shell->looks[*known - 1];
}

/* --- open triangles --- */

static bool open_triangle(lmi_shell_plan *p, uint32_t triangle)
{
    lmi_octree_shell *shell = p->shell;
    if (shell->open[triangle]) {
        return true;
    }
    bool ok = push(p->memory, &shell->opened, triangle);
    shell->open[triangle] = ok;
    for (uint32_t n = shell->first_piece[triangle]; n < shell->first_piece[triangle + 1] && ok; n++) {
        for (uint32_t i = 0; i < 3 && ok; i++) {
            uint32_t vertex = shell->cut->triangles[shell->pieces[n]].corner[i], at = vertex;
            uint32_t place = shell->cut->vertices[vertex].weld;
            if (shell->shown[place]) {
                continue;
            }
            ok = push(p->memory, &shell->marked, place);
            shell->shown[place] = ok;
            do {
                ok = ok && touch(p, at);
                at = shell->twin[at];
            } while (at != vertex);
        }
    }
    return ok;
}

/* Triangles at vertices that are parted or moved; their vertices are touched in turn. */
static bool open_triangles(lmi_shell_plan *p)
{
    lmi_octree_shell *shell = p->shell;
    const lmi_cut *cut = shell->cut;
    bool ok = true;
    for (uint32_t n = 0; n < shell->touched.count && ok; n++) {
        uint32_t vertex = shell->touched.items[n];
        if (vertex >= LMI_CUT_NODE || cut->first_corner[vertex] == cut->first_corner[vertex + 1]) {
            continue;
        }
        const lmi_shell_look *look = lmi_shell_known(p, vertex);
        ok = look != NULL;
        if (!ok || !(look->parted || lmi_shell_is_bent(shell, p->t, vertex))) {
            continue;
        }
        for (uint32_t k = cut->first_corner[vertex]; k < cut->first_corner[vertex + 1] && ok; k++) {
            ok = open_triangle(p, cut->triangles[cut->corners[k] / 3].given);
        }
    }
    return ok;
}

/* Triangles whose edges are no ring cannot take vertices of their neighbours in: they are open from the first cut on. */
static bool open_odd(lmi_shell_plan *p)
{
    const lmi_octree_shell *shell = p->shell;
    bool ok = true;
    for (uint32_t n = 0; n < shell->whole.triangle_count && shell->now.face_count == 0 && ok; n++) {
        ok = shell->first_edge[n] != shell->first_edge[n + 1] || open_triangle(p, n);
    }
    return ok;
}

static bool redo_triangles(lmi_shell_plan *p)
{
    lmi_octree_shell *shell = p->shell;
    const lmi_cut *cut = shell->cut;
    bool ok = true;
    for (uint32_t n = 0; n < shell->touched.count && ok; n++) {
        uint32_t vertex = shell->touched.items[n];
        for (uint32_t k = 0; vertex < LMI_CUT_NODE && ok; k++) {
            if (cut->first_corner[vertex] + k == cut->first_corner[vertex + 1]) {
                break;
            }
            uint32_t triangle = cut->triangles[cut->corners[cut->first_corner[vertex] + k] / 3].given;
            if (!shell->redo[triangle]) {
                ok = push(p->memory, &shell->redone, triangle);
                shell->redo[triangle] = ok;
            }
        }
    }
    return ok;
}

/* --- faces --- */

static bool add_corners(lmi_shell_plan *p, const uint32_t (*triangles)[3], uint32_t count)
{
    lmi_shell_lists *to = &p->shell->next;
    void *corners = to->corners;
    bool ok = lmi_reserve(p->memory, &corners, &to->corner_capacity, to->corner_count + count, sizeof *to->corners);
    to->corners = corners;
    if (ok && count) {
        memcpy(to->corners + to->corner_count, triangles, count * sizeof *triangles);
        to->corner_count += count;
    }
    return ok;
}

static bool add_face(lmi_shell_plan *p, lmi_shell_face face)
{
    lmi_shell_lists *to = &p->shell->next;
    void *faces = to->faces;
    bool ok = lmi_reserve(p->memory, &faces, &to->face_capacity, to->face_count + 1, sizeof *to->faces);
    to->faces = faces;
    if (ok) {
        to->faces[to->face_count++] = face;
    }
    return ok;
}

static bool keep_face(lmi_shell_plan *p, const lmi_shell_face *was)
{
    const lmi_octree_shell *shell = p->shell;
    /* A face without triangles may be all that there is. */
    const uint32_t(*corners)[3] = was->count ? (const uint32_t(*)[3])shell->now.corners + was->first : NULL;
    lmi_shell_face face = *was;
    face.before = was->first;
    face.first = shell->next.corner_count;
    face.touched = false;
    for (uint32_t n = 0; n < 3 * face.count; n++) {
        face.touched = face.touched || shell->mark[lmi_shell_slot(shell, corners[n / 3][n % 3])];
    }
    return add_corners(p, corners, face.count) && add_face(p, face);
}

static bool new_face(lmi_shell_plan *p, uint32_t voxel, uint32_t axis)
{
    lmi_octree_shell *shell = p->shell;
    lmi_lattice_link link = {lmi_shell_box_of(shell, p->t, voxel), axis};
    if (!lmi_cut_find_face(p->memory, shell->cut, &shell->boxes, link, &shell->face)) {
        return false;
    }
    lmi_shell_face face = {voxel, axis, shell->next.corner_count, shell->face.count, NONE, true};
    return add_corners(p, (const uint32_t(*)[3])shell->face.triangles, shell->face.count) && add_face(p, face);
}

/* The faces that there were and those of new links: by voxel, then axis. New links are those that are cut and have none. */
static bool merge_faces(lmi_shell_plan *p)
{
    lmi_octree_shell *shell = p->shell;
    const lmi_slashes *slashes = p->change->slashes;
    uint32_t old = 0, next = 0, count = p->change->before ? slashes->count : p->t->voxel_count;
    bool ok = true;
    while (ok && (old < shell->now.face_count || next < count)) {
        uint32_t was = old < shell->now.face_count ? shell->now.faces[old].voxel : NONE;
        uint32_t voxel = next == count ? NONE : p->change->before ? slashes->items[next].voxel : next;
        uint32_t here = was < voxel ? was : voxel;
        for (uint32_t axis = 0; axis < 3 && ok; axis++) {
            if (old < shell->now.face_count && shell->now.faces[old].voxel == here &&
                shell->now.faces[old].axis == axis) {
                ok = keep_face(p, &shell->now.faces[old++]);
            } else if (lmi_octree_is_slashed(p->t, here, lmi_shell_mesh_axis(shell, axis))) {
                ok = new_face(p, here, axis);
            }
        }
        while (next < count && (p->change->before ? slashes->items[next].voxel : next) == here) {
            next++;
        }
    }
    return ok;
}

/* --- copies --- */

static int compare_copies(const void *a, const void *b)
{
    const lmi_shell_copy *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->voxel < y->voxel ? -1 : x->voxel > y->voxel;
}

static bool add_fresh(lmi_shell_plan *p, lmi_shell_copy copy)
{
    lmi_octree_shell *shell = p->shell;
    void *fresh = shell->fresh;
    bool ok = lmi_reserve(p->memory, &fresh, &shell->fresh_capacity, shell->fresh_count + 1, sizeof *shell->fresh);
    shell->fresh = fresh;
    if (ok) {
        shell->fresh[shell->fresh_count++] = copy;
    }
    return ok;
}

/* The copy of a vertex that a triangle of a voxel has. */
static bool copy_of(lmi_shell_plan *p, uint32_t vertex, uint32_t voxel, bool inner, lmi_shell_copy *copy)
{
    const lmi_shell_look *look = lmi_shell_known(p, vertex);
    if (look) {
        uint32_t group = lmi_shell_group(look, voxel, &copy->voxel);
        copy->key = lmi_shell_key(inner, vertex, group);
    }
    return look != NULL;
}

static uint32_t first_owner(const lmi_octree_shell *shell, uint32_t vertex)
{
    const lmi_cut *cut = shell->cut;
    return shell->owner[cut->corners[cut->first_corner[vertex]] / 3];
}

/* Those of a vertex of the surface. The first one of a vertex as it was given is that vertex itself. */
static bool find_copies(lmi_shell_plan *p, uint32_t vertex)
{
    lmi_octree_shell *shell = p->shell;
    const lmi_cut *cut = shell->cut;
    uint32_t from = cut->first_corner[vertex], end = cut->first_corner[vertex + 1];
    lmi_shell_copy first, copy;
    if (from == end || !shell->shown[cut->vertices[vertex].weld]) {
        return true;
    }
    bool given = vertex < shell->whole.vertex_count;
    bool ok = copy_of(p, vertex, first_owner(shell, vertex), false, &first) && (given || add_fresh(p, first));
    for (uint32_t n = from; n < end && ok && !(first.key & LMI_SHELL_WHOLE); n++) {
        ok = copy_of(p, vertex, shell->owner[cut->corners[n] / 3], false, &copy) &&
             (compare_copies(&copy, &first) == 0 || add_fresh(p, copy));
    }
    return ok;
}

/* Those of the touched vertices of a face, on both sides. */
static bool find_inner_copies(lmi_shell_plan *p, const lmi_shell_face *face)
{
    lmi_octree_shell *shell = p->shell;
    int64_t at[3] = {p->t->at[face->voxel][0], p->t->at[face->voxel][1], p->t->at[face->voxel][2]};
    at[lmi_shell_mesh_axis(shell, face->axis)]++;
    uint32_t other = lmi_octree_voxel(p->t, at[0], at[1], at[2]);
    lmi_shell_copy lower, upper;
    bool ok = true;
    for (uint32_t n = 0; n < 3 * face->count && ok; n++) {
        uint32_t vertex = shell->next.corners[face->first + n / 3][n % 3];
        if (shell->mark[lmi_shell_slot(shell, vertex)]) {
            ok = copy_of(p, vertex, face->voxel, true, &lower) && copy_of(p, vertex, other, true, &upper) &&
                 add_fresh(p, lower) && add_fresh(p, upper);
        }
    }
    return ok;
}

static bool find_fresh(lmi_shell_plan *p)
{
    lmi_octree_shell *shell = p->shell;
    bool ok = true;
    for (uint32_t n = 0; n < shell->touched.count && ok; n++) {
        ok = shell->touched.items[n] >= LMI_CUT_NODE || find_copies(p, shell->touched.items[n]);
    }
    for (uint32_t n = 0; n < shell->next.face_count && ok; n++) {
        ok = !shell->next.faces[n].touched || find_inner_copies(p, &shell->next.faces[n]);
    }
    uint32_t kept = 0;
    if (ok && shell->fresh_count) {
        qsort(shell->fresh, shell->fresh_count, sizeof *shell->fresh, compare_copies);
    }
    for (uint32_t n = 0; n < shell->fresh_count && ok; n++) {
        if (n == 0 || compare_copies(&shell->fresh[n], &shell->fresh[kept - 1]) != 0) {
            shell->fresh[kept++] = shell->fresh[n];
        }
    }
    shell->fresh_count = kept;
    return ok;
}

static void place_copy(lmi_octree_shell *shell, lmi_shell_copy copy, uint32_t origin)
{
    lmi_shell_lists *to = &shell->next;
    uint32_t slot = lmi_shell_slot(shell, lmi_copy_vertex_of(&copy));
    uint32_t *first = lmi_copy_is_inner(&copy) ? shell->first_inner : shell->first_copy;
    const lmi_shell_copy *last = &to->copies[to->copy_count] - 1;
    if (to->copy_count == 0 || last->key >> 12 != copy.key >> 12) {
        first[slot] = to->copy_count;
    }
    shell->origin.items[to->copy_count] = origin;
    to->copies[to->copy_count++] = copy;
}

/* The copies that there were, without those of touched vertices, and the fresh ones. */
static bool merge_copies(lmi_shell_plan *p)
{
    lmi_octree_shell *shell = p->shell;
    const lmi_shell_lists *now = &shell->now;
    lmi_shell_lists *to = &shell->next;
    uint32_t most = now->copy_count + shell->fresh_count, b = 0;
    void *moved = shell->moved.items, *origin = shell->origin.items, *copies = to->copies;
    bool ok = lmi_reserve(p->memory, &moved, &shell->moved.capacity, now->copy_count, sizeof *shell->moved.items);
    shell->moved.items = moved;
    ok = ok && lmi_reserve(p->memory, &origin, &shell->origin.capacity, most, sizeof *shell->origin.items);
    shell->origin.items = origin;
    ok = ok && lmi_reserve(p->memory, &copies, &to->copy_capacity, most, sizeof *to->copies);
    to->copies = copies;
    for (uint32_t a = 0; a < now->copy_count && ok; a++) {
        const lmi_shell_copy *copy = &now->copies[a];
        if (shell->mark[lmi_shell_slot(shell, lmi_copy_vertex_of(copy))]) {
            shell->moved.items[a] = NONE;
            continue;
        }
        for (; b < shell->fresh_count && compare_copies(&shell->fresh[b], copy) < 0; b++) {
            place_copy(shell, shell->fresh[b], NONE);
        }
        shell->moved.items[a] = to->copy_count;
        place_copy(shell, *copy, a);
    }
    for (; b < shell->fresh_count && ok; b++) {
        place_copy(shell, shell->fresh[b], NONE);
    }
    return ok;
}

/* --- which is which --- */

uint32_t lmi_shell_index(lmi_shell_plan *p, uint32_t vertex, uint32_t voxel, bool inner)
{
    const lmi_octree_shell *shell = p->shell;
    const lmi_shell_lists *to = &shell->next;
    uint32_t given = shell->whole.vertex_count;
    lmi_shell_copy copy, first;
    if (!copy_of(p, vertex, voxel, inner, &copy)) {
        return NONE;
    }
    bool whole = copy.key & LMI_SHELL_WHOLE;
    if (!inner && vertex < given) {
        if (whole ||
            (copy_of(p, vertex, first_owner(shell, vertex), false, &first) && compare_copies(&copy, &first) == 0)) {
            return vertex;
        }
    }
    uint32_t slot = lmi_shell_slot(shell, vertex), n = inner ? shell->first_inner[slot] : shell->first_copy[slot];
    while (n < to->copy_count && to->copies[n].key >> 12 == copy.key >> 12 &&
           !(to->copies[n].key == copy.key && (whole || to->copies[n].voxel == copy.voxel))) {
        n++;
    }
    return n < to->copy_count && to->copies[n].key == copy.key ? given + n : NONE;
}

uint32_t lmi_shell_base(lmi_shell_plan *p, uint32_t vertex)
{
    lmi_octree_shell *shell = p->shell;
    const lmi_cut *cut = shell->cut;
    lmi_shell_copy first;
    if (cut->first_corner[vertex] == cut->first_corner[vertex + 1] ||
        !copy_of(p, vertex, first_owner(shell, vertex), false, &first)) {
        return shell->now.base[vertex];
    }
    return first.key & LMI_SHELL_WHOLE ? shell->now.base[vertex] : first.voxel;
}

/* --- all of it --- */

bool lmi_shell_find_touched(lmi_shell_plan *p)
{
    lmi_shell_lists *next = &p->shell->next;
    next->copy_count = next->face_count = next->corner_count = 0;
    p->shell->fresh_count = 0;
    lmi_shell_mark_bends(p->shell, p->t, p->change->before, true);
    return touch_links(p) && touch_bends(p) && open_odd(p) && open_triangles(p) && redo_triangles(p) &&
           merge_faces(p) && find_fresh(p) && merge_copies(p);
}

void lmi_shell_unmark(lmi_octree_shell *shell)
{
    for (uint32_t n = 0; n < shell->touched.count; n++) {
        shell->mark[lmi_shell_slot(shell, shell->touched.items[n])] = 0;
    }
    for (uint32_t n = 0; n < shell->look_count; n++) {
        shell->look_of[lmi_shell_slot(shell, shell->looks[n].vertex)] = 0;
    }
    for (uint32_t n = 0; n < shell->redone.count; n++) {
        shell->redo[shell->redone.items[n]] = 0;
    }
    shell->touched.count = shell->look_count = shell->redone.count = 0;
}
