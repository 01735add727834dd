/*
 * Skins of octrees that were cut (out/skin_octree_cut.h).
 *
 * The surface is divided along the faces of all voxels, once (sample/cut.h). A vertex on such faces is in the corner, edge or face
 * of two, four or eight voxels. Those that a blade has not parted share it; each such group has a vertex of its own, which rides on
 * the leaves around the group's first voxel, as far as neighbours lead: never across a cut.
 *
 * The corners of faces are moved onto the blade (sample/octree_blade.h), and what lies between them with them. Vertices of the
 * surface slide along it. All vertices at a place go the same way, so that what was closed stays closed.
 *
 * Vertices of inner faces come after all others, and have normals of their own.
 */
#include "out/skin_octree_cut.h"
#include "out/hash.h"
#include "out/skin.h"
#include "out/skin_octree.h"
#include "sample/embed_octree.h"
#include "sample/octree_blade.h"

#include <string.h>

#define NONE LMI_OCTREE_NONE
#define WHOLE 0x100u /* a group: nothing is cut around the vertex */

/* A vertex for one group. */
typedef struct copy {
    uint32_t vertex; /* of the cut, or a node */
    uint32_t group;  /* voxels around the vertex that are in it, as bits; WHOLE; or 0: `voxel` alone */
    uint32_t voxel;  /* the first of the group; of a whole one the owner of the first triangle */
    bool inner;
    uint32_t next; /* in the table, or NONE */
} copy;

typedef struct builder {
    lmi_memory *memory;
    const lmi_octree *t;
    const lmi_octree_shell *shell;
    const lmi_octree_earlier *earlier;
    uint8_t *bent; /* a bit for each corner of voxels: it is moved */
    copy *copies;
    uint32_t copy_count, copy_capacity;
    uint32_t *head; /* [table] */
    uint32_t table;
    uint32_t *corners; /* three copies for each triangle */
    uint32_t corner_count, corner_capacity;
} builder;

/* --- voxels and the boxes of the lattice --- */

/* The axis of the mesh that an axis of the boxes is along. */
static uint32_t mesh_axis(const lmi_lattice *l, uint32_t axis) { return (axis + l->turn) % 3; }

/* The voxel whose middle is a corner of the lattice, or NONE. */
static uint32_t voxel_at(const builder *b, const int32_t corner[3])
{
    int64_t at[3];
    for (uint32_t a = 0; a < 3; a++) {
        at[mesh_axis(&b->shell->boxes, a)] = (int64_t)corner[a] - 1;
    }
    return lmi_octree_voxel(b->t, at[0], at[1], at[2]);
}

static uint32_t box_of_voxel(const builder *b, uint32_t voxel)
{
    const lmi_lattice *l = &b->shell->boxes;
    int32_t corner[3];
    for (uint32_t a = 0; a < 3; a++) {
        corner[a] = (int32_t)b->t->at[voxel][mesh_axis(l, a)] + 1;
    }
    return lmi_lattice_find(l, corner[0], corner[1], corner[2]);
}

/* Where a place in spacings along the axes of the boxes is, in voxels from the first one. */
static void to_voxels(const lmi_lattice *l, const double at[3], double out[3])
{
    for (uint32_t a = 0; a < 3; a++) {
        out[mesh_axis(l, a)] = at[a] - 0.5;
    }
}

/* The voxel that a triangle belongs to: that of its box or, where that is empty, the nearest. */
static uint32_t owner_of(const builder *b, const lmi_cut_triangle *t)
{
    const lmi_lattice *l = &b->shell->boxes;
    int32_t corner[3];
    lmi_lattice_corner(l, t->owner, corner);
    uint32_t voxel = voxel_at(b, corner);
    if (voxel == NONE) {
        const lmi_voxels *v = &b->t->voxels;
        double at[3];
        uint32_t cell[3];
        to_voxels(l, b->shell->cut->vertices[t->corner[0]].at, at);
        lm_dvec3 point =
            dvec(v->first.x + at[0] * v->spacing, v->first.y + at[1] * v->spacing, v->first.z + at[2] * v->spacing);
        lmi_voxels_locate(v, point, cell);
        voxel = lmi_octree_voxel(b->t, cell[0], cell[1], cell[2]);
    }
    return voxel;
}

/* --- groups --- */

/* The voxels around a vertex: bit a of their number is set for the upper one of two along axis a. Returns whether a blade has
 * parted any of them. */
static bool find_around(const builder *b, const double at[3], uint8_t planes, uint32_t voxel[8])
{
    bool parted = false;
    for (uint32_t k = 0; k < 8; k++) {
        int32_t corner[3];
        for (uint32_t a = 0; a < 3; a++) {
            corner[a] = (planes >> a & 1 ? (int32_t)floor(at[a]) : (int32_t)floor(at[a] + 0.5)) + (int32_t)(k >> a & 1);
        }
        voxel[k] = k & ~(uint32_t)planes ? NONE : voxel_at(b, corner);
    }
    for (uint32_t k = 0; k < 8; k++) {
        for (uint32_t a = 0; a < 3; a++) {
            uint32_t up = k | 1u << a;
            parted = parted || (up != k && voxel[k] != NONE && voxel[up] != NONE &&
                                lmi_octree_is_slashed(b->t, voxel[k], mesh_axis(&b->shell->boxes, a)));
        }
    }
    return parted;
}

/* Those that are joined with one of them, as bits; 0: it is not there. */
static uint32_t find_group(const builder *b, const uint32_t voxel[8], uint32_t owner)
{
    uint32_t group = 0, before;
    for (uint32_t k = 0; k < 8; k++) {
        group |= voxel[k] == owner ? 1u << k : 0;
    }
    do {
        before = group;
        for (uint32_t k = 0; k < 8; k++) {
            for (uint32_t a = 0; a < 3; a++) {
                uint32_t up = k | 1u << a;
                if (up == k || voxel[k] == NONE || voxel[up] == NONE ||
                    lmi_octree_is_slashed(b->t, voxel[k], mesh_axis(&b->shell->boxes, a))) {
                    continue;
                }
                group |= group >> k & 1 ? 1u << up : 0;
                group |= group >> up & 1 ? 1u << k : 0;
            }
        }
    } while (group != before);
    return group;
}

/* --- copies --- */

static bool copy_vertex(builder *b, uint32_t vertex, uint32_t owner, bool inner, uint32_t *index)
{
    double at[3];
    uint32_t around[8], group = WHOLE, first = owner;
    uint8_t planes = lmi_cut_place(b->shell->cut, &b->shell->boxes, vertex, at);
    if (planes && find_around(b, at, planes, around)) {
        group = find_group(b, around, owner);
        for (uint32_t k = 0; k < 8; k++) {
            first = group >> k & 1 && around[k] < first ? around[k] : first;
        }
    }
    uint32_t key =
        (uint32_t)(lmi_hash_word(LMI_HASH_SEED, (uint64_t)vertex << 1 | (inner ? 1u : 0u)) >> 20) & (b->table - 1);
    for (uint32_t n = b->head[key]; n != NONE; n = b->copies[n].next) {
        const copy *c = &b->copies[n];
        if (c->vertex == vertex && c->inner == inner && c->group == group && (group || c->voxel == first)) {
            *index = n;
            return true;
        }
    }
    void *array = b->copies;
    bool ok = lmi_reserve(b->memory, &array, &b->copy_capacity, b->copy_count + 1, sizeof *b->copies);
    b->copies = array;
    if (ok) {
        b->copies[b->copy_count] = (copy){vertex, group, first, inner, b->head[key]};
        *index = b->head[key] = b->copy_count++;
    }
    return ok;
}

static bool add_corner(builder *b, uint32_t vertex, uint32_t owner, bool inner)
{
    uint32_t index;
    void *array = b->corners;
    bool ok = copy_vertex(b, vertex, owner, inner, &index) &&
              lmi_reserve(b->memory, &array, &b->corner_capacity, b->corner_count + 1, sizeof *b->corners);
    b->corners = array;
    if (ok) {
        b->corners[b->corner_count++] = index;
    }
    return ok;
}

static bool add_surface(builder *b)
{
    bool ok = true;
    for (uint32_t n = 0; n < b->shell->cut->triangle_count && ok; n++) {
        const lmi_cut_triangle *t = &b->shell->cut->triangles[n];
        uint32_t owner = owner_of(b, t);
        for (int i = 0; i < 3 && ok; i++) {
            ok = add_corner(b, t->corner[i], owner, false);
        }
    }
    return ok;
}

/* Both sides of the face between a voxel and the next one along an axis of the boxes. */
static bool add_face(builder *b, uint32_t voxel, uint32_t axis, lmi_cut_face *face)
{
    const lmi_lattice *l = &b->shell->boxes;
    int64_t at[3] = {b->t->at[voxel][0], b->t->at[voxel][1], b->t->at[voxel][2]};
    at[mesh_axis(l, axis)]++;
    uint32_t other = lmi_octree_voxel(b->t, at[0], at[1], at[2]);
    lmi_lattice_link link = {box_of_voxel(b, voxel), axis};
    bool ok = lmi_cut_find_face(b->memory, b->shell->cut, l, link, face);
    for (uint32_t n = 0; ok && n < face->count; n++) {
        for (int i = 0; i < 3 && ok; i++) {
            ok = add_corner(b, face->triangles[n][i], voxel, true);
        }
        for (int i = 3; i-- > 0 && ok;) {
            ok = add_corner(b, face->triangles[n][i], other, true);
        }
    }
    return ok;
}

static bool add_faces(builder *b)
{
    lmi_cut_face face = {0};
    bool ok = true;
    for (uint32_t voxel = 0; voxel < b->t->voxel_count && ok; voxel++) {
        for (uint32_t axis = 0; axis < 3 && ok && b->t->cut[voxel] >> 3; axis++) {
            if (lmi_octree_is_slashed(b->t, voxel, mesh_axis(&b->shell->boxes, axis))) {
                ok = add_face(b, voxel, axis, &face);
            }
        }
    }
    lmi_cut_face_free(b->memory, &face);
    return ok;
}

/* --- where they are --- */

static size_t corner_bit(const lmi_octree *t, const uint32_t at[3])
{
    return ((size_t)at[2] * (t->voxels.n[1] + 1) + at[1]) * (t->voxels.n[0] + 1) + at[0];
}

static size_t bent_size(const lmi_octree *t)
{
    return ((size_t)(t->voxels.n[0] + 1) * (t->voxels.n[1] + 1) * (t->voxels.n[2] + 1) + 7) / 8;
}

static void mark_bent(builder *b)
{
    for (uint32_t n = 0; n < b->t->bend_count; n++) {
        uint64_t corner = b->t->bends[n].corner;
        const uint32_t at[3] = {corner & 0xfffff, corner >> 20 & 0xfffff, (uint32_t)(corner >> 40)};
        size_t bit = corner_bit(b->t, at);
        b->bent[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

/* What the corners around a place move it by: in proportion to how near they are. */
static lm_dvec3 bend_at(const builder *b, const double at[3])
{
    const lmi_octree *t = b->t;
    lm_dvec3 sum = lm_dvec3_zero();
    uint32_t low[3];
    double part[3];
    for (int a = 0; a < 3; a++) {
        double most = (double)t->voxels.n[a], inside = fmin(fmax(at[a], 0.0), most);
        low[a] = (uint32_t)fmin(floor(inside), most - 1.0);
        part[a] = inside - low[a];
    }
    for (uint32_t k = 0; k < 8; k++) {
        double weight = 1.0;
        uint32_t corner[3];
        for (uint32_t a = 0; a < 3; a++) {
            corner[a] = low[a] + (k >> a & 1);
            weight *= k >> a & 1 ? part[a] : 1.0 - part[a];
        }
        size_t bit = corner_bit(t, corner);
        if (weight > 0.0 && (b->bent[bit / 8] >> bit % 8 & 1)) {
            sum = dvec_add(sum, dvec_scale(lmi_octree_bend_at(t, corner[0], corner[1], corner[2]), weight));
        }
    }
    return sum;
}

/* A vertex in the rest pose. */
static lm_vec3 place(const builder *b, uint32_t vertex)
{
    const lmi_octree_shell *shell = b->shell;
    const lmi_voxels *v = &b->t->voxels;
    double at[3], in[3];
    lmi_cut_place(shell->cut, &shell->boxes, vertex, at);
    to_voxels(&shell->boxes, at, in);
    lm_dvec3 by = bend_at(b, in), rest;
    if (vertex < LMI_CUT_NODE) { /* along the surface */
        lm_dvec3 normal = dvec_from(shell->normals[shell->cut->vertices[vertex].weld]);
        by = dvec_sub(by, dvec_scale(normal, dvec_dot(by, normal)));
        uint32_t given = shell->cut->vertices[vertex].given;
        if (given != LMI_LATTICE_NONE) {
            rest = dvec_from(shell->whole.vertices[given]);
            return vec_from(dvec_add(rest, dvec_scale(by, v->spacing)));
        }
    }
    rest = dvec(v->first.x + in[0] * v->spacing, v->first.y + in[1] * v->spacing, v->first.z + in[2] * v->spacing);
    return vec_from(dvec_add(rest, dvec_scale(by, v->spacing)));
}

/* --- the skin --- */

/* Weights of vertices, one after the other. */
typedef struct riding {
    uint32_t *riders;
    float *weights;
    uint32_t count, capacity, weight_capacity;
} riding;

static bool reserve_riding(lmi_memory *memory, riding *r, uint32_t more)
{
    void *riders = r->riders, *weights = r->weights;
    bool ok = lmi_reserve(memory, &riders, &r->capacity, r->count + more, sizeof *r->riders) &&
              lmi_reserve(memory, &weights, &r->weight_capacity, r->count + more, sizeof *r->weights);
    r->riders = riders;
    r->weights = weights;
    return ok;
}

/* Takes over what a vertex rode on before, if it is where it was and so is all around it. */
static bool take_earlier(const builder *b, const copy *c, lm_vec3 place, uint32_t leaf, riding *r)
{
    const lmi_octree_earlier *e = b->earlier;
    if (!e || c->inner || c->group != WHOLE || c->vertex >= LMI_CUT_NODE || e->then[leaf] == NONE) {
        return false;
    }
    uint32_t was = e->shown[c->vertex];
    if (was == NONE || memcmp(&place, &e->skin->vertices[was], sizeof place) != 0) {
        return false;
    }
    for (uint32_t n = e->skin->offsets[was]; n < e->skin->offsets[was + 1]; n++) {
        r->riders[r->count] = LMI_SKIN_REGION + e->now[e->skin->riders[n] - LMI_SKIN_REGION];
        r->weights[r->count++] = e->skin->weights[n];
    }
    return true;
}

static bool embed(const builder *b, const lm_vec3 *places, riding *r, uint32_t *offsets)
{
    lmi_octree_around around;
    bool ok = lmi_octree_around_make(&around, b->memory, b->t);
    for (uint32_t n = 0; ok && n < b->copy_count; n++) {
        const copy *c = &b->copies[n];
        uint32_t leaf = b->t->nodes[b->t->owner[c->voxel]].leaf;
        ok = reserve_riding(b->memory, r, LMI_SKIN_OCTREE_MOST);
        if (ok && !take_earlier(b, c, places[n], leaf, r)) {
            uint32_t count =
                lmi_embed_octree(&around, b->memory, leaf, places[n], r->riders + r->count, r->weights + r->count);
            ok = count > 0;
            for (uint32_t k = 0; k < count; k++) {
                r->riders[r->count++] += LMI_SKIN_REGION;
            }
        }
        offsets[n + 1] = r->count;
    }
    lmi_octree_around_free(&around, b->memory);
    return ok;
}

/* The copies as the vertices of a skin, those of inner faces last: they were made last. */
static void fill_skin(const builder *b, const lm_vec3 *places, const riding *r, const uint32_t *offsets, lmi_skin *skin)
{
    memcpy(skin->vertices, places, b->copy_count * sizeof *places);
    memcpy(skin->triangles, b->corners, b->corner_count * sizeof *b->corners);
    memcpy(skin->offsets, offsets, ((size_t)b->copy_count + 1) * sizeof *offsets);
    memcpy(skin->riders, r->riders, r->count * sizeof *r->riders);
    memcpy(skin->weights, r->weights, r->count * sizeof *r->weights);
    for (uint32_t n = 0; n < b->copy_count; n++) {
        skin->sources[n] = b->copies[n].inner ? LM_SKIN_INNER : b->shell->cut->vertices[b->copies[n].vertex].source;
    }
}

static bool make_skin(lm_world *world, const lmi_body *body, const builder *b, lmi_skin *skin)
{
    lm_vec3 *places = lmi_allocate(b->memory, b->copy_count, sizeof *places);
    uint32_t *offsets = lmi_allocate(b->memory, (size_t)b->copy_count + 1, sizeof *offsets);
    riding r = {0};
    bool ok = places && offsets;
    for (uint32_t n = 0; ok && n < b->copy_count; n++) {
        places[n] = place(b, b->copies[n].vertex);
    }
    ok = ok && embed(b, places, &r, offsets);
    if (ok) {
        skin->kind = LM_SKIN_REGIONS;
        skin->vertex_count = b->copy_count;
        skin->triangle_count = b->corner_count / 3;
        skin->carrier_count = body->region_count;
        skin->weight_count = r.count;
        skin->sources = lmi_allocate(b->memory, b->copy_count, sizeof *skin->sources);
        ok = lmi_skin_allocate(world, skin) && skin->sources;
        if (ok) {
            fill_skin(b, places, &r, offsets, skin);
        } else {
            lmi_skin_free(world, skin);
        }
    }
    lmi_release(b->memory, places, b->copy_count, sizeof *places);
    lmi_release(b->memory, offsets, (size_t)b->copy_count + 1, sizeof *offsets);
    lmi_release(b->memory, r.riders, r.capacity, sizeof *r.riders);
    lmi_release(b->memory, r.weights, r.weight_capacity, sizeof *r.weights);
    return ok;
}

static void find_shown(const builder *b, uint32_t *shown)
{
    memset(shown, 0xff, b->shell->cut->vertex_count * sizeof *shown);
    for (uint32_t n = 0; n < b->copy_count; n++) {
        const copy *c = &b->copies[n];
        if (!c->inner && c->group == WHOLE && c->vertex < LMI_CUT_NODE) {
            shown[c->vertex] = n;
        }
    }
}

bool lmi_octree_shell_skin(lm_world *world, const lmi_body *body, const lmi_octree_shell *shell,
                           const lmi_octree_earlier *earlier, lmi_skin *skin, uint32_t **shown)
{
    memset(skin, 0, sizeof *skin);
    builder b = {.memory = &world->memory, .t = &body->octree->tree, .shell = shell, .earlier = earlier, .table = 1024};
    while (b.table < 2 * shell->cut->vertex_count) {
        b.table *= 2;
    }
    b.head = lmi_allocate(b.memory, b.table, sizeof *b.head);
    b.bent = lmi_allocate(b.memory, bent_size(b.t), 1);
    *shown = lmi_allocate(b.memory, shell->cut->vertex_count, sizeof **shown);
    bool ok = b.head && b.bent && *shown;
    if (ok) {
        memset(b.head, 0xff, b.table * sizeof *b.head);
        mark_bent(&b);
        ok = add_surface(&b) && add_faces(&b) && make_skin(world, body, &b, skin);
    }
    if (ok) {
        find_shown(&b, *shown);
    } else {
        lmi_release(b.memory, *shown, shell->cut->vertex_count, sizeof **shown);
        *shown = NULL;
    }
    lmi_release(b.memory, b.head, b.table, sizeof *b.head);
    lmi_release(b.memory, b.bent, bent_size(b.t), 1);
    lmi_release(b.memory, b.copies, b.copy_capacity, sizeof *b.copies);
    lmi_release(b.memory, b.corners, b.corner_capacity, sizeof *b.corners);
    return ok;
}

/* --- made ready --- */

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

/* By the first vertex at each place, in the frame of the mesh. */
static void find_normals(lmi_octree_shell *shell)
{
    const lmi_cut *cut = shell->cut;
    for (uint32_t n = 0; n < cut->triangle_count; n++) {
        lm_dvec3 p[3];
        for (int i = 0; i < 3; i++) {
            double at[3];
            to_voxels(&shell->boxes, cut->vertices[cut->triangles[n].corner[i]].at, at);
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

void lmi_octree_shell_free(lm_world *world, lmi_octree_shell *shell)
{
    if (shell) {
        if (shell->cut) {
            lmi_release(&world->memory, shell->normals, shell->cut->vertex_count, sizeof *shell->normals);
            lmi_release(&world->memory, shell->shown, shell->cut->vertex_count, sizeof *shell->shown);
        }
        lmi_cut_free(&world->memory, shell->cut);
        lmi_lattice_free(&world->memory, &shell->boxes);
        lmi_skin_free(world, &shell->whole);
        lmi_release(&world->memory, shell, 1, sizeof *shell);
    }
}

lmi_octree_shell *lmi_octree_shell_make(lm_world *world, const lmi_octree *tree, const lmi_skin *given)
{
    lmi_memory *memory = &world->memory;
    lmi_octree_shell *shell = lmi_allocate(memory, 1, sizeof *shell);
    if (!shell) {
        return NULL;
    }
    if (keep_given(world, given, &shell->whole) && make_boxes(memory, tree, &shell->boxes) == LM_OK) {
        lm_vec3 *normals = lmi_allocate(memory, given->vertex_count, sizeof *normals);
        if (normals) {
            const lmi_cut_surface surface = {given->vertices, normals, given->vertex_count, given->triangles,
                                             given->triangle_count};
            lmi_skin_mean_normals(&shell->whole, normals);
            shell->cut = lmi_cut_make(memory, &shell->boxes, &surface);
        }
        lmi_release(memory, normals, given->vertex_count, sizeof *normals);
    }
    if (shell->cut) {
        shell->normals = lmi_allocate(memory, shell->cut->vertex_count, sizeof *shell->normals);
    }
    if (!shell->normals) {
        lmi_octree_shell_free(world, shell);
        return NULL;
    }
    find_normals(shell);
    return shell;
}

void lmi_octree_shell_show(lm_world *world, lmi_octree_shell *shell, uint32_t *shown)
{
    lmi_release(&world->memory, shell->shown, shell->cut->vertex_count, sizeof *shell->shown);
    shell->shown = shown;
}

bool lmi_octree_cut_given_skin(lm_world *world, lmi_body *body)
{
    lmi_octree_body *o = body->octree;
    lmi_skin cut;
    uint32_t *shown;
    if (!o || o->tree.bend_count == 0 || body->skin.vertex_count == 0) {
        return true;
    }
    lmi_octree_shell *shell = lmi_octree_shell_make(world, &o->tree, &body->skin);
    if (!shell || !lmi_octree_shell_skin(world, body, shell, NULL, &cut, &shown)) {
        lmi_octree_shell_free(world, shell);
        return false;
    }
    lmi_octree_shell_free(world, o->shell);
    lmi_skin_free(world, &body->skin);
    lmi_octree_shell_show(world, shell, shown);
    o->shell = shell;
    body->skin = cut;
    return true;
}
