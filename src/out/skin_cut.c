/*
 * Skins that are cut (sample/cut.h).
 *
 * Whose vertex. A vertex on planes between boxes is in the corner, edge or face of two, four or eight boxes. Those that
 * unbroken links join among themselves share it; each such group has a vertex of its own. Where nothing is broken around it
 * there is one, as before.
 *
 * What it rides on. Eight corners of a cell, as all vertices of a lattice's skin: of the cell that it is in, if that is whole.
 * In a torn cell these corners move apart; there it rides on the cell of a chip (sample/lattice_chips.h) of its group, the
 * nearest one, continued beyond the cell. So a piece carries its surface along whatever the others do.
 *
 * Vertices of inner faces come after all others, and have the normals of their faces.
 */
#include "out/skin_cut.h"
#include "out/hash.h"
#include "out/skin.h"

#include <string.h>

#define NONE LMI_LATTICE_NONE

/* A vertex for one group. */
typedef struct copy {
    uint32_t vertex; /* of the cut, or a node */
    uint32_t
        group; /* boxes around the vertex that are in it, as bits; NONE where all are joined, 0: the owner's alone */
    uint32_t side;  /* 0: of the surface; 1 to 6: of inner faces, by the axis and direction of their normals */
    uint32_t next;  /* of the same key in the table, or NONE */
    uint32_t owner; /* a particle of the group */
} copy;

typedef struct builder {
    lmi_memory *memory;
    const lmi_lattice *l;
    const lmi_cut *cut;
    const uint32_t *chips;
    copy *copies;
    uint32_t copy_count, copy_capacity;
    uint32_t *head; /* [table] first copy of a vertex, or NONE */
    uint32_t table;
    uint32_t *corners; /* three copies for each triangle */
    uint32_t corner_count, corner_capacity;
} builder;

/* --- groups --- */

static bool is_whole(const lmi_lattice *l, uint32_t cell)
{
    return cell != NONE && (l->whole[cell / LMI_BLOCK] >> (cell % LMI_BLOCK) & 1);
}

static uint32_t cell_of(const builder *b, uint32_t vertex)
{
    return vertex < LMI_CUT_NODE ? b->cut->vertices[vertex].cell : vertex - LMI_CUT_NODE;
}

/* The particle of one of the boxes around a vertex: bit a of its number is set for the upper one of two along axis a. */
static uint32_t particle_at(const lmi_lattice *l, const double at[3], uint8_t planes, uint32_t box)
{
    int32_t corner[3];
    for (int a = 0; a < 3; a++) {
        corner[a] = (planes >> a & 1 ? (int32_t)floor(at[a]) : (int32_t)floor(at[a] + 0.5)) + (int32_t)(box >> a & 1);
    }
    return lmi_lattice_find(l, corner[0], corner[1], corner[2]);
}

/* The boxes around a vertex: two along each axis that has a plane there. Which of them unbroken links join with that of the
 * owner, as bits; `particle` are all of them. */
static uint32_t find_group(const lmi_lattice *l, const double at[3], uint8_t planes, uint32_t owner,
                           uint32_t particle[8])
{
    uint32_t group = 0, before;
    for (uint32_t k = 0; k < 8; k++) {
        particle[k] = k & ~(uint32_t)planes ? NONE : particle_at(l, at, planes, k);
        group |= particle[k] == owner ? 1u << k : 0;
    }
    do {
        before = group;
        for (uint32_t k = 0; k < 8; k++) {
            for (uint32_t a = 0; a < 3; a++) {
                uint32_t up = k | 1u << a;
                if (up == k || particle[k] == NONE || particle[up] == NONE ||
                    !lmi_lattice_holds(l, (lmi_lattice_link){particle[k], a})) {
                    continue;
                }
                group |= group >> k & 1 ? 1u << up : 0;
                group |= group >> up & 1 ? 1u << k : 0;
            }
        }
    } while (group != before);
    return group;
}

/* Which of the boxes around a vertex is a particle's, 0 to 7; or 8: none. */
static uint32_t box_of(const lmi_lattice *l, const double at[3], uint8_t planes, uint32_t particle)
{
    int32_t corner[3];
    uint32_t box = 0;
    lmi_lattice_corner(l, particle, corner);
    for (int a = 0; a < 3; a++) {
        int32_t low = planes >> a & 1 ? (int32_t)floor(at[a]) : (int32_t)floor(at[a] + 0.5);
        int32_t up = corner[a] - low;
        if (up < 0 || up > (planes >> a & 1)) {
            return 8;
        }
        box |= (uint32_t)up << a;
    }
    return box;
}

/* --- copies --- */

static bool is_of(const copy *c, uint32_t vertex, uint32_t side, bool whole, uint32_t box, uint32_t owner)
{
    return c->vertex == vertex && c->side == side &&
           (whole || (box < 8 ? c->group != NONE && (c->group >> box & 1) : c->group == 0 && c->owner == owner));
}

static bool copy_vertex(builder *b, uint32_t vertex, uint32_t owner, uint32_t side, uint32_t *index)
{
    const bool whole = is_whole(b->l, cell_of(b, vertex));
    uint32_t key = vertex, box = 8, particle[8];
    double at[3];
    uint8_t planes = 0;
    if (side) {
        key = (uint32_t)(lmi_hash_word(LMI_HASH_SEED, (uint64_t)vertex << 3 | side) >> 20) % b->table;
    }
    if (!whole) {
        planes = lmi_cut_place(b->cut, b->l, vertex, at);
        box = box_of(b->l, at, planes, owner);
    }
    for (uint32_t n = b->head[key]; n != NONE; n = b->copies[n].next) {
        if (is_of(&b->copies[n], vertex, side, whole, box, owner)) {
            *index = n;
            return true;
        }
    }
    uint32_t group = whole ? NONE : box == 8 ? 0 : find_group(b->l, at, planes, owner, particle);
    void *array = b->copies;
    bool ok = lmi_reserve(b->memory, &array, &b->copy_capacity, b->copy_count + 1, sizeof *b->copies);
    b->copies = array;
    if (ok) {
        b->copies[b->copy_count] = (copy){vertex, group, side, b->head[key], owner};
        *index = b->head[key] = b->copy_count++;
    }
    return ok;
}

static bool add_corner(builder *b, uint32_t vertex, uint32_t owner, uint32_t side)
{
    uint32_t index;
    void *array = b->corners;
    bool ok = copy_vertex(b, vertex, owner, side, &index) &&
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
    for (uint32_t n = 0; n < b->cut->triangle_count && ok; n++) {
        const lmi_cut_triangle *t = &b->cut->triangles[n];
        for (int i = 0; i < 3 && ok; i++) {
            ok = add_corner(b, t->corner[i], t->owner, 0);
        }
    }
    return ok;
}

/* Both sides of the face across a broken link. */
static bool add_face(builder *b, lmi_lattice_link link, lmi_cut_face *face)
{
    const uint32_t end = lmi_lattice_link_end(b->l, link), side = 1 + 2 * link.axis;
    bool ok = lmi_cut_find_face(b->memory, b->cut, b->l, link, face);
    for (uint32_t n = 0; ok && n < face->count; n++) {
        for (int i = 0; i < 3 && ok; i++) {
            ok = add_corner(b, face->triangles[n][i], link.particle, side);
        }
        for (int i = 3; i-- > 0 && ok;) {
            ok = add_corner(b, face->triangles[n][i], end, side + 1);
        }
    }
    return ok;
}

static bool add_faces(builder *b)
{
    const lmi_lattice *l = b->l;
    lmi_cut_face face = {0};
    bool ok = true;
    for (uint32_t block = 0; block < l->block_count && ok; block++) {
        for (uint32_t axis = 0; axis < 3 && ok; axis++) {
            uint32_t left = lmi_lattice_links(l, block, axis) & ~(uint32_t)l->bond[axis][block];
            for (; left && ok; left &= left - 1) {
                ok = add_face(b, (lmi_lattice_link){block * LMI_BLOCK + (uint32_t)__builtin_ctz(left), axis}, &face);
            }
        }
    }
    lmi_cut_face_free(b->memory, &face);
    return ok;
}

/* --- what they ride on --- */

/* Takes the cell of a particle's chip where it is nearer to a point than the best so far. */
static void consider_chip(const builder *b, uint32_t particle, const double at[3], double *best, uint32_t *cell)
{
    int32_t low[3];
    double square = 0.0;
    lmi_lattice_corner(b->l, b->chips[particle], low);
    for (int a = 0; a < 3; a++) {
        double below = low[a] - at[a], above = at[a] - low[a] - 1.0, off = below > above ? below : above;
        square += off > 0.0 ? off * off : 0.0;
    }
    if (square < *best || (square == *best && b->chips[particle] < *cell)) {
        *best = square;
        *cell = b->chips[particle];
    }
}

static void ride(const builder *b, const copy *c, uint32_t riders[8], float weights[8])
{
    const lmi_lattice *l = b->l;
    double at[3], best = INFINITY;
    if (c->group == NONE && c->vertex < LMI_CUT_NODE) { /* in a whole cell, and most are: as it was found */
        memcpy(riders, b->cut->riders[c->vertex], sizeof b->cut->riders[c->vertex]);
        memcpy(weights, b->cut->weights[c->vertex], sizeof b->cut->weights[c->vertex]);
        return;
    }
    uint8_t planes = lmi_cut_place(b->cut, l, c->vertex, at);
    uint32_t cell = c->group == NONE ? cell_of(b, c->vertex) : b->chips[c->owner];
    for (uint32_t left = c->group == NONE ? 0 : c->group; left; left &= left - 1) {
        consider_chip(b, particle_at(l, at, planes, (uint32_t)__builtin_ctz(left)), at, &best, &cell);
    }
    lmi_cut_ride(l, cell, at, riders, weights);
}

static lm_vec3 rest_of(const builder *b, const lmi_skin *given, uint32_t vertex)
{
    if (vertex < LMI_CUT_NODE && b->cut->vertices[vertex].given != NONE) {
        return given->vertices[b->cut->vertices[vertex].given];
    }
    double at[3], rest[3];
    lmi_cut_place(b->cut, b->l, vertex, at);
    for (uint32_t a = 0; a < 3; a++) {
        rest[(a + b->l->turn) % 3] = at[a] * b->l->spacing;
    }
    return (lm_vec3){(float)(b->l->first.x + rest[0]), (float)(b->l->first.y + rest[1]),
                     (float)(b->l->first.z + rest[2])};
}

/* The copies as the vertices of a skin, those of inner faces last: they were made last. */
static bool make_skin(lm_world *world, const lmi_body *body, const builder *b, const lmi_skin *given, lmi_skin *skin)
{
    memset(skin, 0, sizeof *skin);
    skin->on_cells = true;
    skin->vertex_count = b->copy_count;
    skin->triangle_count = b->corner_count / 3;
    skin->weight_count = 8 * b->copy_count;
    skin->sources = lmi_allocate(&world->memory, b->copy_count, sizeof *skin->sources);
    if (!lmi_skin_allocate(world, skin) || !skin->sources) {
        lmi_skin_free(world, skin);
        return false;
    }
    for (uint32_t n = 0; n < b->copy_count; n++) {
        const copy *c = &b->copies[n];
        skin->vertices[n] = rest_of(b, given, c->vertex);
        skin->offsets[n + 1] = 8 * (n + 1);
        ride(b, c, skin->riders + (size_t)n * 8, skin->weights + (size_t)n * 8);
        skin->sources[n] = c->side ? LM_SKIN_INNER : b->cut->vertices[c->vertex].source;
    }
    memcpy(skin->triangles, b->corners, b->corner_count * sizeof *b->corners);
    lmi_skin_find_rest_normals(skin, body->rest);
    return true;
}

bool lmi_cut_skin(lm_world *world, const lmi_body *body, const lmi_lattice *l, lmi_skin *skin)
{
    const lmi_fracture *f = body->fracture;
    memset(skin, 0, sizeof *skin);
    if (!f->cut) {
        return true;
    }
    const lmi_skin *given = f->whole.vertex_count ? &f->whole : &body->skin;
    builder b = {.memory = &world->memory,
                 .l = l,
                 .cut = f->cut,
                 .chips = f->chips,
                 .table = f->cut->vertex_count + 4 * body->place_count}; /* inner faces have vertices too */
    b.head = lmi_allocate(b.memory, b.table, sizeof *b.head);
    bool ok = b.head;
    if (ok) {
        memset(b.head, 0xff, b.table * sizeof *b.head);
        ok = add_surface(&b) && add_faces(&b) && make_skin(world, body, &b, given, skin);
    }
    lmi_release(b.memory, b.head, b.table, sizeof *b.head);
    lmi_release(b.memory, b.copies, b.copy_capacity, sizeof *b.copies);
    lmi_release(b.memory, b.corners, b.corner_capacity, sizeof *b.corners);
    return ok;
}

void lmi_cut_show(lm_world *world, lmi_body *body, lmi_skin *skin)
{
    lmi_fracture *f = body->fracture;
    if (!f->whole.vertex_count) {
        f->whole = body->skin;
    } else {
        lmi_skin_free(world, &body->skin);
    }
    body->skin = *skin;
    memset(skin, 0, sizeof *skin);
}

bool lmi_fracture_skin(lm_world *world, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    const lmi_skin *given = &body->skin;
    lmi_skin shown = {0};
    if (!f) {
        return true;
    }
    lmi_cut *cut = NULL, *before = f->cut;
    if (given->vertex_count) {
        cut = lmi_cut_make(&world->memory, &body->lattice->shape, given->vertices, given->vertex_count,
                           given->triangles, given->triangle_count);
        if (!cut) {
            return false;
        }
    }
    lmi_skin whole = f->whole;
    memset(&f->whole, 0, sizeof f->whole);
    f->cut = cut;
    if (f->broken && !lmi_cut_skin(world, body, &body->lattice->shape, &shown)) {
        f->cut = before;
        f->whole = whole;
        lmi_cut_free(&world->memory, cut);
        return false;
    }
    lmi_cut_free(&world->memory, before);
    lmi_skin_free(world, &whole);
    f->whole_hash = lmi_hash_shape(body);
    if (shown.vertex_count) {
        lmi_cut_show(world, body, &shown);
    }
    body->shape_hash = f->whole_hash + f->links_hash;
    return true;
}

lm_result lm_body_get_skin_sources(const lm_world *world, lm_body_id id, uint32_t *sources)
{
    const lmi_body *body = lmi_body_find(world, id, "lm_body_get_skin_sources");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_skin_sources: the body has no skin");
    }
    for (uint32_t n = 0; n < body->skin.vertex_count; n++) {
        sources[n] = body->skin.sources ? body->skin.sources[n] : n;
    }
    return LM_OK;
}
