/*
 * Skins of octrees that were cut (skin/skin_octree_cut.h): writing what a plan says.
 *
 * A vertex rides on the leaves around the first voxel of its group, as far as neighbours lead: never across a cut.
 */
#include "skin/skin_octree_cut.h"
#include "skin/skin.h"
#include "skin/skin_octree.h"
#include "skin/skin_octree_plan.h"

#include <string.h>

#define NONE LMI_OCTREE_NONE

typedef struct writer {
    lmi_shell_plan plan;
    lmi_octree_shell *shell;
    const lmi_skin *was;
    lmi_skin *to;
    lmi_octree_around around;
    bool failed; /* for want of memory */
} writer;

/* --- room --- */

static bool grow(lmi_memory *memory, void **array, size_t from, size_t to, size_t size)
{
    void *larger = lmi_allocate(memory, to, size);
    if (larger && *array) {
        memcpy(larger, *array, from * size);
    }
    if (larger) {
        lmi_release(memory, *array, from, size);
        *array = larger;
    }
    return larger != NULL;
}

/* Room for more weights, where there is not. What is there is kept. */
static bool reserve_weights(lmi_memory *memory, lmi_skin *skin, uint32_t count)
{
    if (count <= skin->weight_room && skin->riders) {
        return true;
    }
    size_t room = count + count / 2;
    void *riders = skin->riders, *weights = lmi_allocate(memory, room, sizeof *skin->weights);
    if (!weights || !grow(memory, &riders, skin->weight_room, room, sizeof *skin->riders)) {
        lmi_release(memory, weights, room, sizeof *skin->weights);
        return false;
    }
    if (skin->weights) {
        memcpy(weights, skin->weights, skin->weight_room * sizeof *skin->weights);
    }
    lmi_release(memory, skin->weights, skin->weight_room, sizeof *skin->weights);
    skin->riders = riders;
    skin->weights = weights;
    skin->weight_room = (uint32_t)room;
    return true;
}

/* Room for vertices and triangles; what was there is forgotten. All arrays of a skin have the room that it says, or none. */
static bool reserve_skin(lm_world *world, lmi_skin *skin, uint32_t vertices, uint32_t triangles, uint32_t weights,
                         uint32_t carriers)
{
    if (vertices > skin->vertex_room || triangles > skin->triangle_room || !skin->sources) {
        lmi_skin_free(world, skin);
        skin->kind = LM_SKIN_REGIONS;
        skin->vertex_count = vertices + vertices / 2;
        skin->triangle_count = triangles + triangles / 2;
        skin->weight_count = weights + weights / 4;
        bool ok = lmi_skin_allocate(world, skin);
        skin->sources = lmi_allocate(&world->memory, skin->vertex_room, sizeof *skin->sources);
        if (!ok || !skin->sources) {
            lmi_skin_free(world, skin);
            return false;
        }
    }
    lmi_release(&world->memory, skin->carriers, skin->carrier_count, sizeof *skin->carriers);
    lmi_release(&world->memory, skin->maps, (size_t)skin->carrier_count * 16, sizeof *skin->maps);
    skin->carriers = lmi_allocate(&world->memory, carriers, sizeof *skin->carriers);
    skin->maps = lmi_allocate(&world->memory, (size_t)carriers * 16, sizeof *skin->maps);
    skin->carrier_count = carriers;
    if (!skin->carriers || !skin->maps) {
        lmi_release(&world->memory, skin->carriers, carriers, sizeof *skin->carriers);
        lmi_release(&world->memory, skin->maps, (size_t)carriers * 16, sizeof *skin->maps);
        skin->carriers = NULL;
        skin->maps = NULL;
        skin->carrier_count = 0;
    }
    skin->vertex_count = vertices;
    skin->triangle_count = skin->weight_count = 0;
    return skin->carriers != NULL;
}

/* --- vertices --- */

/* Whether all that a vertex rode on is still there. It is, where nothing has changed around its leaf, unless the skin came from a
 * snapshot that was made by hand. */
static bool rides_on(const writer *w, uint32_t was)
{
    bool all = true;
    for (uint32_t n = w->was->offsets[was]; all && n < w->was->offsets[was + 1]; n++) {
        all = w->plan.change->now[w->was->riders[n] - LMI_SKIN_REGION] != NONE;
    }
    return all;
}

/* What the vertex of a voxel rides on; `was`: the vertex that it was, if it is where it was, or NONE. */
static void write_ride(writer *w, uint32_t index, uint32_t voxel, uint32_t was)
{
    const lmi_octree *t = w->plan.t;
    const lmi_shell_change *change = w->plan.change;
    const uint32_t leaf = t->nodes[t->owner[voxel]].leaf;
    lmi_skin *to = w->to;
    w->failed = w->failed || !reserve_weights(w->plan.memory, to, to->weight_count + LMI_SKIN_OCTREE_MOST);
    if (w->failed) {
        return;
    }
    uint32_t *riders = to->riders + to->weight_count, count = 0;
    float *weights = to->weights + to->weight_count;
    if (was != NONE && change->then && change->then[leaf] != NONE && rides_on(w, was)) {
        const uint32_t first = w->was->offsets[was];
        count = w->was->offsets[was + 1] - first;
        for (uint32_t n = 0; n < count; n++) {
            riders[n] = LMI_SKIN_REGION + change->now[w->was->riders[first + n] - LMI_SKIN_REGION];
        }
        memcpy(weights, w->was->weights + first, count * sizeof *weights);
    } else {
        count = lmi_embed_octree(&w->around, w->plan.memory, leaf, to->vertices[index], riders, weights);
        w->failed = count == 0;
        for (uint32_t n = 0; n < count; n++) {
            riders[n] += LMI_SKIN_REGION;
        }
    }
    to->weight_count += count;
    to->offsets[index + 1] = to->weight_count;
}

static void write_vertices(writer *w)
{
    lmi_octree_shell *shell = w->shell;
    lmi_skin *to = w->to;
    const uint32_t given = shell->whole.vertex_count;
    to->offsets[0] = 0;
    for (uint32_t n = 0; n < given && !w->failed; n++) {
        bool touched = shell->mark[n];
        shell->next.base[n] = touched ? lmi_shell_base(&w->plan, n) : shell->now.base[n];
        to->vertices[n] = touched ? lmi_shell_place(shell, w->plan.t, n) : w->was->vertices[n];
        to->sources[n] = n;
        write_ride(w, n, shell->next.base[n], touched ? NONE : n);
    }
    for (uint32_t n = 0; n < shell->next.copy_count && !w->failed; n++) {
        const lmi_shell_copy *copy = &shell->next.copies[n];
        const uint32_t origin = shell->origin.items[n], vertex = lmi_copy_vertex_of(copy), index = given + n;
        to->vertices[index] =
            origin == NONE ? lmi_shell_place(shell, w->plan.t, vertex) : w->was->vertices[given + origin];
        to->sources[index] = lmi_copy_is_inner(copy) ? LM_SKIN_INNER : shell->cut->vertices[vertex].source;
        write_ride(w, index, copy->voxel, origin == NONE ? NONE : given + origin);
    }
}

/* --- triangles --- */

static bool reserve_triangles(writer *w, uint32_t more)
{
    lmi_skin *to = w->to;
    uint64_t needed = (uint64_t)to->triangle_count + more;
    if (!w->failed && needed > to->triangle_room) {
        uint64_t room = needed + needed / 2;
        void *triangles = to->triangles;
        w->failed = room > LM_MAX_PARTICLES || !grow(w->plan.memory, &triangles, 3 * (size_t)to->triangle_room,
                                                     3 * (size_t)room, sizeof *to->triangles);
        to->triangles = triangles;
        to->triangle_room = w->failed ? to->triangle_room : (uint32_t)room;
    }
    return !w->failed;
}

static void add_triangle(writer *w, uint32_t a, uint32_t b, uint32_t c)
{
    if (a == NONE || b == NONE || c == NONE || !reserve_triangles(w, 1)) {
        w->failed = true;
        return;
    }
    memcpy(w->to->triangles + 3 * (size_t)w->to->triangle_count++, (uint32_t[3]){a, b, c}, 3 * sizeof a);
}

/* As many triangles as before, with the numbers that their vertices have now. */
static void move_triangles(writer *w, uint32_t first, uint32_t count)
{
    if (!reserve_triangles(w, count)) {
        return;
    }
    const uint32_t given = w->shell->whole.vertex_count, *moved = w->shell->moved.items;
    const uint32_t *from = w->was->triangles + 3 * (size_t)first;
    uint32_t *to = w->to->triangles + 3 * (size_t)w->to->triangle_count;
    for (size_t n = 0; n < 3 * (size_t)count; n++) {
        to[n] = from[n] < given ? from[n] : given + moved[from[n] - given];
    }
    w->to->triangle_count += count;
}

/* A triangle as its pieces. */
static void show_pieces(writer *w, uint32_t triangle)
{
    const lmi_octree_shell *shell = w->shell;
    for (uint32_t n = shell->first_piece[triangle]; n < shell->first_piece[triangle + 1] && !w->failed; n++) {
        const uint32_t piece = shell->pieces[n], *c = shell->cut->triangles[piece].corner;
        uint32_t index[3];
        for (int i = 0; i < 3; i++) {
            index[i] = lmi_shell_index(&w->plan, c[i], shell->owner[piece], false);
        }
        add_triangle(w, index[0], index[1], index[2]);
    }
}

/* Triangles from a point to vertices in a row. */
static void fan(writer *w, uint32_t point, const uint32_t *row, uint32_t count)
{
    for (uint32_t n = 0; n + 1 < count; n++) {
        add_triangle(w, point, row[n], row[n + 1]);
    }
}

/* A triangle with vertices along its edges: rows a, p..., b; b, q..., c; c, r..., a of which the first has others than corners.
 * From c over the first row, and what is beside it from the ends of that row: no triangle is without an area. */
static void show_rows(writer *w, const uint32_t *const row[3], const uint32_t count[3])
{
    fan(w, row[0][1], row[2], count[2]);
    for (uint32_t n = 1; n + 2 < count[0]; n++) {
        add_triangle(w, row[2][0], row[0][n], row[0][n + 1]);
    }
    fan(w, row[0][count[0] - 2], row[1], count[1]);
}

/* A triangle that is not open, with the vertices that open ones have on its edges. */
static void show_closed(writer *w, uint32_t triangle)
{
    lmi_octree_shell *shell = w->shell;
    const uint32_t *corner = shell->whole.triangles + 3 * (size_t)triangle;
    const uint32_t *around = shell->edge + shell->first_edge[triangle];
    const uint32_t points = shell->first_edge[triangle + 1] - shell->first_edge[triangle];
    uint32_t at[4] = {0, 0, 0, 0}, kept = 0, corners = 0;
    void *ring = shell->ring.items;
    w->failed = w->failed || !lmi_reserve(w->plan.memory, &ring, &shell->ring.capacity, points + 1, sizeof *around);
    shell->ring.items = ring;
    for (uint32_t n = 0; n < points && !w->failed; n++) {
        bool is_corner = corners < 3 && around[n] == corner[corners];
        if (is_corner) {
            at[corners++] = kept;
        }
        if (is_corner ||
            shell->shown[shell->cut->vertices[around[n]].weld]) { /* nothing is parted here: any voxel will do */
            shell->ring.items[kept] = lmi_shell_index(&w->plan, around[n], shell->owner[0], false);
            w->failed = shell->ring.items[kept++] == NONE;
        }
    }
    if (w->failed || corners < 3 || kept == 3) {
        add_triangle(w, corner[0], corner[1], corner[2]);
        return;
    }
    shell->ring.items[kept] = shell->ring.items[0];
    at[3] = kept;
    const uint32_t *row[6];
    uint32_t count[6], k = 0;
    for (uint32_t n = 0; n < 6; n++) {
        row[n] = shell->ring.items + at[n % 3];
        count[n] = at[n % 3 + 1] - at[n % 3] + 1;
    }
    while (count[k] == 2) {
        k++;
    }
    show_rows(w, row + k, count + k);
}

/* Runs of triangles that stay are moved together. */
static void write_surface(writer *w)
{
    lmi_octree_shell *shell = w->shell;
    const uint32_t count = shell->whole.triangle_count, *was = shell->now.first_shown;
    uint32_t *first = shell->next.first_shown;
    for (uint32_t n = 0, end; n < count && !w->failed; n = end) {
        end = n + 1;
        first[n] = w->to->triangle_count;
        if (shell->redo[n] && shell->open[n]) {
            show_pieces(w, n);
        } else if (shell->redo[n]) {
            show_closed(w, n);
        } else {
            for (; end < count && !shell->redo[end]; end++) {
                first[end] = first[n] + (was[end] - was[n]);
            }
            move_triangles(w, was[n], was[end] - was[n]);
        }
    }
    first[count] = w->to->triangle_count;
}

/* Both sides of a face: its triangles, and the same turned round. */
static void write_face(writer *w, const lmi_shell_face *face)
{
    const lmi_octree *t = w->plan.t;
    int64_t at[3] = {t->at[face->voxel][0], t->at[face->voxel][1], t->at[face->voxel][2]};
    at[lmi_shell_mesh_axis(w->shell, face->axis)]++;
    const uint32_t other = lmi_octree_voxel(t, at[0], at[1], at[2]);
    for (uint32_t n = 0; n < face->count && !w->failed; n++) {
        const uint32_t *corner = w->shell->next.corners[face->first + n];
        uint32_t lower[3], upper[3];
        for (int i = 0; i < 3; i++) {
            lower[i] = lmi_shell_index(&w->plan, corner[i], face->voxel, true);
            upper[i] = lmi_shell_index(&w->plan, corner[i], other, true);
        }
        add_triangle(w, lower[0], lower[1], lower[2]);
        add_triangle(w, upper[2], upper[1], upper[0]);
    }
}

static void write_faces(writer *w)
{
    const lmi_octree_shell *shell = w->shell;
    const uint32_t surface = shell->now.first_shown[shell->whole.triangle_count];
    for (uint32_t n = 0; n < shell->next.face_count && !w->failed; n++) {
        const lmi_shell_face *face = &shell->next.faces[n];
        if (face->touched) {
            write_face(w, face);
        } else {
            move_triangles(w, surface + 2 * face->before, 2 * face->count);
        }
    }
}

/* --- the whole --- */

static bool write_skin(lm_world *world, const lmi_body *body, writer *w)
{
    lmi_octree_shell *shell = w->shell;
    const uint64_t vertices = (uint64_t)shell->whole.vertex_count + shell->next.copy_count;
    const uint32_t triangles = w->was->triangle_count + 8 * shell->touched.count;
    if (vertices > LM_MAX_PARTICLES ||
        !reserve_skin(world, &shell->spare, (uint32_t)vertices, triangles, w->was->weight_count, body->region_count) ||
        !lmi_octree_around_make(&w->around, &world->memory, w->plan.t)) {
        return false;
    }
    write_vertices(w);
    write_surface(w);
    write_faces(w);
    lmi_octree_around_free(&w->around, &world->memory);
    return !w->failed;
}

bool lmi_octree_shell_plan(lm_world *world, const lmi_body *body, lmi_octree_shell *shell,
                           const lmi_shell_change *change)
{
    writer w = {.plan = {world, &world->memory, shell, &body->octree->tree, change},
                .shell = shell,
                .was = change->skin,
                .to = &shell->spare};
    bool ok = lmi_shell_find_touched(&w.plan) && write_skin(world, body, &w);
    lmi_shell_unmark(shell);
    if (!ok) {
        lmi_octree_shell_drop(shell, &body->octree->tree, change->before);
    }
    return ok;
}

void lmi_octree_shell_drop(lmi_octree_shell *shell, const lmi_octree *tree, const lmi_octree *before)
{
    lmi_shell_mark_bends(shell, tree, before, false);
    for (uint32_t n = 0; n < shell->opened.count; n++) {
        shell->open[shell->opened.items[n]] = 0;
    }
    for (uint32_t n = 0; n < shell->marked.count; n++) {
        shell->shown[shell->marked.items[n]] = 0;
    }
    shell->opened.count = shell->marked.count = 0;
}

void lmi_octree_shell_commit(lmi_octree_shell *shell, lmi_skin *skin)
{
    lmi_skin was = *skin;
    lmi_shell_lists now = shell->now;
    *skin = shell->spare;
    shell->spare = was;
    shell->now = shell->next;
    shell->next = now;
    shell->opened.count = shell->marked.count = 0;
}

bool lmi_octree_skin_again(lm_world *world, const lmi_body *body, const lmi_shell_change *change, lmi_skin *skin)
{
    const lmi_octree *t = &body->octree->tree;
    const lmi_skin *was = change->skin;
    writer w = {.plan = {.world = world, .memory = &world->memory, .t = t, .change = change}, .was = was, .to = skin};
    *skin = (lmi_skin){.kind = was->kind, .vertex_count = was->vertex_count, .triangle_count = was->triangle_count};
    skin->weight_count = was->weight_count + was->weight_count / 4;
    skin->carrier_count = body->region_count;
    bool ok = lmi_skin_allocate(world, skin) && lmi_octree_around_make(&w.around, &world->memory, t);
    w.failed = !ok;
    if (ok) {
        memcpy(skin->vertices, was->vertices, was->vertex_count * sizeof *was->vertices);
        memcpy(skin->triangles, was->triangles, (size_t)was->triangle_count * 3 * sizeof *was->triangles);
        skin->weight_count = 0;
    }
    for (uint32_t n = 0; n < was->vertex_count && !w.failed; n++) {
        uint32_t cell[3];
        lmi_voxels_locate(&t->voxels, dvec_from(was->vertices[n]), cell);
        write_ride(&w, n, lmi_octree_voxel(t, cell[0], cell[1], cell[2]), n);
    }
    lmi_octree_around_free(&w.around, &world->memory);
    if (w.failed) {
        lmi_skin_free(world, skin);
    }
    return !w.failed;
}

bool lmi_octree_cut_given_skin(lm_world *world, lmi_body *body)
{
    lmi_octree_body *o = body->octree;
    if (!o || o->tree.bend_count == 0 || body->skin.vertex_count == 0) {
        if (o) { /* one of another skin */
            lmi_octree_shell_free(world, o->shell);
            o->shell = NULL;
        }
        return true;
    }
    const lmi_shell_change change = {.skin = &body->skin};
    lmi_octree_shell *shell = lmi_octree_shell_make(world, &o->tree, &body->skin);
    if (!shell || !lmi_octree_shell_plan(world, body, shell, &change)) {
        lmi_octree_shell_free(world, shell);
        return false;
    }
    lmi_octree_shell_commit(shell, &body->skin);
    lmi_octree_shell_free(world, o->shell);
    o->shell = shell;
    return true;
}
