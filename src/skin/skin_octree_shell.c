/*
 * Making the skin of an octree ready to be cut (skin/skin_octree_cut.h). This is done once, at the first cut, and takes time in
 * proportion to the skin and to the voxels that it goes through.
 *
 * The surface is divided along the faces of all voxels (skin/surface.h); each triangle as it was given knows its pieces, and the
 * vertices that these have along its three edges.
 */
#include "base/hash.h"
#include "octree/embed_octree.h"
#include "skin/skin.h"
#include "skin/skin_octree_look.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_OCTREE_NONE

/* --- boxes --- */

/* Cells between the middles of voxels, wherever one of the eight is filled. */
static lm_result make_boxes(lmi_memory *memory, const lmi_octree *t, lmi_lattice *boxes)
{
    const lmi_voxels *v = &t->voxels;
    double half = 0.5 * v->spacing;
    lmi_voxels cells = {.spacing = v->spacing, .first = dvec(v->first.x - half, v->first.y - half, v->first.z - half)};
    for (int a = 0; a < 3; a++) {
        cells.n[a] = v->n[a] + 1;
    }
    cells.row_words = (cells.n[0] + 63) / 64;
    cells.bits = lmi_allocate(memory, (size_t)cells.row_words * cells.n[1] * cells.n[2], sizeof *cells.bits);
    if (!cells.bits) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t n = 0; n < t->voxel_count; n++) {
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t x = t->at[n][0] + (k & 1), y = t->at[n][1] + (k >> 1 & 1), z = t->at[n][2] + (k >> 2);
            uint64_t *word = &cells.bits[((size_t)z * cells.n[1] + y) * cells.row_words + x / 64];
            cells.cell_count += !(*word >> (x % 64) & 1);
            *word |= (uint64_t)1 << (x % 64);
        }
    }
    lm_result result = lmi_lattice_make(memory, &cells, 1, LMI_LATTICE_LISTS, NULL, boxes);
    lmi_voxels_free(memory, &cells);
    return result;
}

/* --- the skin as it was given --- */

static bool keep_given(lm_world *world, const lmi_skin *given, lmi_skin *whole)
{
    whole->kind = LM_SKIN_REGIONS;
    whole->vertex_count = given->vertex_count;
    whole->triangle_count = given->triangle_count;
    bool ok = lmi_skin_allocate(world, whole);
    if (ok) {
        memcpy(whole->vertices, given->vertices, given->vertex_count * sizeof *given->vertices);
        memcpy(whole->triangles, given->triangles, (size_t)given->triangle_count * 3 * sizeof *given->triangles);
    } else {
        lmi_skin_free(world, whole);
    }
    return ok;
}

static bool divide(lm_world *world, lmi_octree_shell *shell)
{
    lmi_memory *memory = &world->memory;
    const lmi_skin *given = &shell->whole;
    lm_vec3 *normals = lmi_allocate(memory, given->vertex_count, sizeof *normals);
    if (normals) {
        const lmi_cut_surface surface = {given->vertices, normals, given->vertex_count, given->triangles,
                                         given->triangle_count};
        lmi_skin_mean_normals(given, normals);
        shell->cut = lmi_cut_make(memory, &shell->boxes, &surface);
    }
    lmi_release(memory, normals, given->vertex_count, sizeof *normals);
    return shell->cut != NULL;
}

uint64_t lmi_octree_shell_hash(const lmi_octree_shell *shell, const lmi_octree *t, uint64_t hash)
{
    hash = lmi_hash_word(hash, shell->hash);
    hash = lmi_hash_bytes(hash, t->cut, t->voxel_count);
    for (uint32_t n = 0; n < t->bend_count; n++) {
        uint32_t by[3];
        memcpy(by, t->bends[n].by, sizeof by);
        hash = lmi_hash_word(lmi_hash_word(hash, t->bends[n].corner), by[0]);
        hash = lmi_hash_word(hash, (uint64_t)by[1] << 32 | by[2]);
    }
    return hash;
}

static uint64_t hash_given(const lmi_skin *given)
{
    uint64_t hash = LMI_HASH_SEED;
    hash = lmi_hash_bytes(hash, (const unsigned char *)given->vertices, given->vertex_count * sizeof *given->vertices);
    return lmi_hash_bytes(hash, (const unsigned char *)given->triangles,
                          (size_t)given->triangle_count * 3 * sizeof *given->triangles);
}

/* --- what is known of the pieces --- */

/* By the first vertex at each place, in the frame of the mesh. */
static void find_normals(lmi_octree_shell *shell)
{
    const lmi_cut *cut = shell->cut;
    for (uint32_t n = 0; n < cut->triangle_count; n++) {
        lm_dvec3 p[3];
        for (int i = 0; i < 3; i++) {
            double at[3];
            lmi_shell_to_voxels(shell, cut->vertices[cut->triangles[n].corner[i]].at, at);
            p[i] = dvec(at[0], at[1], at[2]);
        }
        lm_vec3 area = vec_from(dvec_cross(dvec_sub(p[1], p[0]), dvec_sub(p[2], p[0])));
        for (int i = 0; i < 3; i++) {
            lm_vec3 *sum = &shell->normals[cut->vertices[cut->triangles[n].corner[i]].weld];
            *sum = (lm_vec3){sum->x + area.x, sum->y + area.y, sum->z + area.z};
        }
    }
    for (uint32_t n = 0; n < cut->vertex_count; n++) {
        double length = dvec_length(dvec_from(shell->normals[n]));
        shell->normals[n] = vec_from(dvec_scale(dvec_from(shell->normals[n]), length > 0.0 ? 1.0 / length : 0.0));
    }
}

/* Rings of the vertices at each place: `mark`, all 0, has the last of each so far, and is left all 0. */
static void find_twins(lmi_octree_shell *shell)
{
    const lmi_cut *cut = shell->cut;
    for (uint32_t n = 0; n < cut->vertex_count; n++) {
        uint32_t weld = cut->vertices[n].weld, last = shell->mark[weld];
        shell->twin[n] = n;
        if (last) {
            shell->twin[n] = shell->twin[last - 1];
            shell->twin[last - 1] = n;
        }
        shell->mark[weld] = n + 1;
    }
    memset(shell->mark, 0, cut->vertex_count * sizeof *shell->mark);
}

/* The voxel that a triangle belongs to: that of its box or, where that is empty, the nearest. */
static uint32_t owner_of(const lmi_octree_shell *shell, const lmi_octree *t, const lmi_cut_triangle *triangle)
{
    int32_t corner[3];
    lmi_lattice_corner(&shell->boxes, triangle->owner, corner);
    uint32_t voxel = lmi_shell_voxel_at(shell, t, corner);
    if (voxel == NONE) {
        const lmi_voxels *v = &t->voxels;
        double at[3];
        uint32_t cell[3];
        lmi_shell_to_voxels(shell, shell->cut->vertices[triangle->corner[0]].at, at);
        lm_dvec3 point =
            dvec(v->first.x + at[0] * v->spacing, v->first.y + at[1] * v->spacing, v->first.z + at[2] * v->spacing);
        lmi_voxels_locate(v, point, cell);
        voxel = lmi_octree_voxel(t, cell[0], cell[1], cell[2]);
    }
    return voxel;
}

static void find_pieces(lmi_octree_shell *shell, const lmi_octree *t)
{
    const lmi_cut *cut = shell->cut;
    uint32_t *first = shell->first_piece, count = shell->whole.triangle_count;
    for (uint32_t n = 0; n < cut->triangle_count; n++) {
        shell->owner[n] = owner_of(shell, t, &cut->triangles[n]);
        first[cut->triangles[n].given + 1]++;
    }
    for (uint32_t n = 0; n < count; n++) {
        first[n + 1] += first[n];
    }
    for (uint32_t n = 0; n < cut->triangle_count; n++) {
        shell->pieces[first[cut->triangles[n].given]++] = n;
    }
    memmove(first + 1, first, count * sizeof *first);
    first[0] = 0;
}

/* --- the edges of triangles as they were given --- */

typedef struct edge {
    uint32_t low, high, from, to;
} edge;

static int compare_ends(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    return x->high < y->high ? -1 : x->high > y->high;
}

static int compare_from(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Edges that only one piece of a triangle has, sorted by where they begin. */
static uint32_t outer_edges(const lmi_octree_shell *shell, uint32_t triangle, edge *edges)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t n = shell->first_piece[triangle]; n < shell->first_piece[triangle + 1]; n++) {
        const uint32_t *c = shell->cut->triangles[shell->pieces[n]].corner;
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t from = c[i], to = c[(i + 1) % 3];
            edges[count++] = (edge){from < to ? from : to, from < to ? to : from, from, to};
        }
    }
    qsort(edges, count, sizeof *edges, compare_ends);
    for (uint32_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && compare_ends(&edges[n], &edges[end]) == 0;) {
            end++;
        }
        if (end == n + 1) {
            edges[kept++] = edges[n];
        }
    }
    qsort(edges, kept, sizeof *edges, compare_from);
    return kept;
}

/* Follows the outer edges round a triangle. Returns how many vertices there are; 0 where they are no ring, as those of a triangle
 * without an area may not be. */
static uint32_t follow(const edge *edges, uint32_t count, uint32_t start, uint32_t *ring)
{
    uint32_t at = start, points = 0;
    do {
        const edge key = {.from = at}, *next = bsearch(&key, edges, count, sizeof *edges, compare_from);
        if (!next || points == count) {
            return 0;
        }
        ring[points++] = at;
        at = next->to;
    } while (at != start);
    return points == count ? points : 0;
}

/* All rings, one after the other. */
static bool find_rings(lmi_memory *memory, lmi_octree_shell *shell)
{
    uint32_t most = 0, total = 0, count = shell->whole.triangle_count;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t pieces = shell->first_piece[n + 1] - shell->first_piece[n];
        most = pieces > most ? pieces : most;
        total += pieces + 2; /* as many as n pieces without vertices inside have */
    }
    edge *edges = lmi_allocate(memory, (size_t)3 * most, sizeof *edges);
    shell->edge = lmi_allocate(memory, total, sizeof *shell->edge);
    shell->edge_count = total;
    for (uint32_t n = 0; n < count && edges && shell->edge; n++) {
        uint32_t outer = outer_edges(shell, n, edges);
        bool fits = outer <= shell->first_piece[n + 1] - shell->first_piece[n] + 2;
        uint32_t points =
            fits ? follow(edges, outer, shell->whole.triangles[3 * (size_t)n], shell->edge + shell->first_edge[n]) : 0;
        shell->first_edge[n + 1] = shell->first_edge[n] + points;
    }
    lmi_release(memory, edges, (size_t)3 * most, sizeof *edges);
    return edges && shell->edge;
}

/* --- all of it --- */

static void free_list(lmi_memory *memory, lmi_shell_list *list)
{
    lmi_release(memory, list->items, list->capacity, sizeof *list->items);
}

static void free_lists(lmi_memory *memory, const lmi_octree_shell *shell, lmi_shell_lists *lists)
{
    lmi_release(memory, lists->base, shell->whole.vertex_count, sizeof *lists->base);
    lmi_release(memory, lists->first_shown, (size_t)shell->whole.triangle_count + 1, sizeof *lists->first_shown);
    lmi_release(memory, lists->copies, lists->copy_capacity, sizeof *lists->copies);
    lmi_release(memory, lists->faces, lists->face_capacity, sizeof *lists->faces);
    lmi_release(memory, lists->corners, lists->corner_capacity, sizeof *lists->corners);
}

static void free_known(lmi_memory *memory, lmi_octree_shell *shell)
{
    const lmi_cut *cut = shell->cut;
    const size_t given = shell->whole.triangle_count;
    lmi_release(memory, shell->normals, cut->vertex_count, sizeof *shell->normals);
    lmi_release(memory, shell->twin, cut->vertex_count, sizeof *shell->twin);
    lmi_release(memory, shell->owner, cut->triangle_count, sizeof *shell->owner);
    lmi_release(memory, shell->first_piece, given + 1, sizeof *shell->first_piece);
    lmi_release(memory, shell->pieces, cut->triangle_count, sizeof *shell->pieces);
    lmi_release(memory, shell->first_edge, given + 1, sizeof *shell->first_edge);
    lmi_release(memory, shell->edge, shell->edge_count, sizeof *shell->edge);
    lmi_release(memory, shell->bent, (shell->corner_count + 7) / 8, 1);
    lmi_release(memory, shell->open, given, 1);
    lmi_release(memory, shell->shown, cut->vertex_count, 1);
    lmi_release(memory, shell->redo, given, 1);
    lmi_release(memory, shell->mark, shell->slots, sizeof *shell->mark);
    lmi_release(memory, shell->look_of, shell->slots, sizeof *shell->look_of);
    lmi_release(memory, shell->first_copy, shell->slots, sizeof *shell->first_copy);
    lmi_release(memory, shell->first_inner, shell->slots, sizeof *shell->first_inner);
}

void lmi_octree_shell_free(lm_world *world, lmi_octree_shell *shell)
{
    lmi_memory *memory = &world->memory;
    if (!shell) {
        return;
    }
    if (shell->cut) {
        free_known(memory, shell);
    }
    free_lists(memory, shell, &shell->now);
    free_lists(memory, shell, &shell->next);
    lmi_shell_list *lists[] = {&shell->touched, &shell->opened, &shell->marked, &shell->redone,
                               &shell->moved,   &shell->origin, &shell->ring};
    for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) {
        free_list(memory, lists[n]);
    }
    lmi_release(memory, shell->fresh, shell->fresh_capacity, sizeof *shell->fresh);
    lmi_release(memory, shell->looks, shell->look_capacity, sizeof *shell->looks);
    lmi_cut_face_free(memory, &shell->face);
    lmi_skin_free(world, &shell->spare);
    lmi_cut_free(memory, shell->cut);
    lmi_lattice_free(memory, &shell->boxes);
    lmi_skin_free(world, &shell->whole);
    lmi_release(memory, shell, 1, sizeof *shell);
}

static bool allocate_known(lmi_memory *memory, lmi_octree_shell *shell, const lmi_octree *t)
{
    const lmi_cut *cut = shell->cut;
    const size_t given = shell->whole.triangle_count, vertices = shell->whole.vertex_count;
    shell->slots = cut->vertex_count + (shell->boxes.block_count + 1) * LMI_BLOCK;
    shell->corner_count = (size_t)(t->voxels.n[0] + 1) * (t->voxels.n[1] + 1) * (t->voxels.n[2] + 1);
    shell->normals = lmi_allocate(memory, cut->vertex_count, sizeof *shell->normals);
    shell->twin = lmi_allocate(memory, cut->vertex_count, sizeof *shell->twin);
    shell->owner = lmi_allocate(memory, cut->triangle_count, sizeof *shell->owner);
    shell->first_piece = lmi_allocate(memory, given + 1, sizeof *shell->first_piece);
    shell->pieces = lmi_allocate(memory, cut->triangle_count, sizeof *shell->pieces);
    shell->first_edge = lmi_allocate(memory, given + 1, sizeof *shell->first_edge);
    shell->bent = lmi_allocate(memory, (shell->corner_count + 7) / 8, 1);
    shell->open = lmi_allocate(memory, given, 1);
    shell->shown = lmi_allocate(memory, cut->vertex_count, 1);
    shell->redo = lmi_allocate(memory, given, 1);
    shell->mark = lmi_allocate(memory, shell->slots, sizeof *shell->mark);
    shell->look_of = lmi_allocate(memory, shell->slots, sizeof *shell->look_of);
    shell->first_copy = lmi_allocate(memory, shell->slots, sizeof *shell->first_copy);
    shell->first_inner = lmi_allocate(memory, shell->slots, sizeof *shell->first_inner);
    bool ok = shell->normals && shell->twin && shell->owner && shell->first_piece && shell->pieces &&
              shell->first_edge && shell->bent && shell->open && shell->shown && shell->redo && shell->mark &&
              shell->look_of && shell->first_copy && shell->first_inner;
    for (int k = 0; k < 2; k++) {
        lmi_shell_lists *lists = k ? &shell->next : &shell->now;
        lists->base = lmi_allocate(memory, vertices, sizeof *lists->base);
        lists->first_shown = lmi_allocate(memory, given + 1, sizeof *lists->first_shown);
        ok = ok && lists->base && lists->first_shown;
    }
    return ok;
}

/* Before the first cut everything is shown as it was given. */
static void begin_lists(lmi_octree_shell *shell, const lmi_octree *t)
{
    for (uint32_t n = 0; n <= shell->whole.triangle_count; n++) {
        shell->now.first_shown[n] = n;
    }
    for (uint32_t n = 0; n < shell->whole.vertex_count; n++) {
        uint32_t cell[3];
        lmi_voxels_locate(&t->voxels, dvec_from(shell->whole.vertices[n]), cell);
        shell->now.base[n] = lmi_octree_voxel(t, cell[0], cell[1], cell[2]);
    }
}

lmi_octree_shell *lmi_octree_shell_make(lm_world *world, const lmi_octree *tree, const lmi_skin *given)
{
    lmi_memory *memory = &world->memory;
    lmi_octree_shell *shell = lmi_allocate(memory, 1, sizeof *shell);
    if (!shell) {
        return NULL;
    }
    bool ok = keep_given(world, given, &shell->whole) && make_boxes(memory, tree, &shell->boxes) == LM_OK &&
              divide(world, shell) && allocate_known(memory, shell, tree);
    if (ok) {
        find_normals(shell);
        find_twins(shell);
        find_pieces(shell, tree);
        begin_lists(shell, tree);
        shell->hash = hash_given(given);
        ok = find_rings(memory, shell);
    }
    if (!ok) {
        lmi_octree_shell_free(world, shell);
        return NULL;
    }
    return shell;
}

bool lmi_octree_make_shell(lm_world *world, lmi_body *body)
{
    lmi_octree_body *o = body->octree;
    if (!o->shell && body->skin.vertex_count > 0) {
        o->shell = lmi_octree_shell_make(world, &o->tree, &body->skin);
    }
    return o->shell || body->skin.vertex_count == 0;
}
