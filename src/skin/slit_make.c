/*
 * What a skin becomes that a blade has clipped (skin/slit.h): vertices and triangles.
 *
 * The vertices that there were keep their numbers; then come those on the old surface, then those of faces. Triangles that were not met
 * come first, in their order.
 */
#include "base/triples.h"
#include "lattice/lattice_body.h"
#include "skin/skin.h"
#include "skin/slit.h"

#include <string.h>

#define NONE LMI_SHEET_NONE
#define OF_FACE 0xfffffffeu /* in keys, where others have a vertex */

typedef struct maker {
    lm_world *world;
    const lmi_body *body;
    lmi_slit_plan *p;
    uint32_t node_count;
    uint32_t *first_node; /* [clips] */
    double (*rest)[3];    /* [nodes] along the lattice's axes */
    bool *known;          /* [nodes] */
    uint32_t *point;      /* [2 * nodes] the first vertex of each, and one */
    lmi_triples vertices; /* by node and side, and what they are between or the smooth face that they are of */
    /* New vertices, then all triangles. */
    struct fresh *fresh;
    uint32_t fresh_count, fresh_room;
    uint32_t (*triangles)[3];
    uint32_t triangle_count, triangle_room;
} maker;

typedef struct fresh {
    uint32_t point; /* vertex */
    lm_dvec3 rest, normal;
    lm_dvec3 eye;
    uint32_t part, node; /* the node among all */
    uint32_t source, material;
    float uv[2];
    bool faced; /* of a face of this cut */
} fresh;

/* --- where nodes are at rest --- */

static lm_dvec3 rest_of_vertex(const maker *m, uint32_t vertex) { return dvec_from(m->body->skin.vertices[vertex]); }

static void place_on_surface(maker *m, const lmi_clip_node *node, uint32_t index)
{
    const lmi_lattice *l = &m->body->lattice->shape;
    lm_dvec3 rest;
    if (node->low != NONE) {
        rest = dvec_add(dvec_scale(rest_of_vertex(m, node->low), node->share[0]),
                        dvec_scale(rest_of_vertex(m, node->high), node->share[1]));
    } else {
        const uint32_t *t = m->p->triangles[node->triangle];
        rest = dvec_add(dvec_scale(rest_of_vertex(m, t[0]), node->share[0]),
                        dvec_add(dvec_scale(rest_of_vertex(m, t[1]), node->share[1]),
                                 dvec_scale(rest_of_vertex(m, t[2]), node->share[2])));
    }
    lmi_slit_locate(l, rest, m->rest[index]);
    m->known[index] = true;
}

/* Nodes inside, from those beside them that are known already. */
static void place_inside(maker *m, uint32_t part)
{
    const lmi_clip *c = &m->p->clips[part];
    const uint32_t base = m->first_node[part];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < 3 * c->face_count; n++) {
            uint32_t from = c->faces[n / 3].node[n % 3];
            for (uint32_t i = 1; i < 3; i++) {
                uint32_t to = c->faces[n / 3].node[(n % 3 + i) % 3];
                if (m->known[base + from] && !m->known[base + to]) {
                    memcpy(m->rest[base + to], m->rest[base + from], sizeof *m->rest);
                    lmi_slit_find_rest(m->body, part, c->nodes[to].at, m->rest[base + to]);
                    m->known[base + to] = changed = true;
                }
            }
        }
    }
}

static void place_nodes(maker *m)
{
    for (uint32_t part = 0; part < m->p->clip_count; part++) {
        const lmi_clip *c = &m->p->clips[part];
        for (uint32_t n = 0; n < c->node_count; n++) {
            if (c->nodes[n].triangle != NONE) {
                place_on_surface(m, &c->nodes[n], m->first_node[part] + n);
            }
        }
        place_inside(m, part);
    }
}

/* --- vertices --- */

static lm_dvec3 unit(lm_dvec3 a)
{
    double length = dvec_length(a);
    return dvec_scale(a, length > 0.0 ? 1.0 / length : 0.0);
}

#define ASIDE 0.02 /* spacings off the blade */

static lm_dvec3 eye_of(const maker *m, uint32_t part, uint32_t node, uint32_t side)
{
    const lmi_clip_node *n = &m->p->clips[part].nodes[node - m->first_node[part]];
    double far = n->single ? 0.0 : (side ? -ASIDE : ASIDE) * m->body->lattice->shape.spacing;
    return dvec_add(n->at, dvec_scale(n->normal, far));
}

/* A vertex by its key, or a new one for a node and side. */
static bool find_vertex(maker *m, uint32_t part, uint32_t node, uint32_t side, uint32_t a, uint32_t b, uint32_t *vertex,
                        bool *made)
{
    const uint32_t name = 2 * node + side;
    *vertex = lmi_triples_get(&m->vertices, name, a, b);
    *made = *vertex == NONE;
    if (!*made) {
        return true;
    }
    *vertex = m->body->skin.vertex_count + m->fresh_count;
    bool ok = lmi_grow(&m->world->memory, &m->fresh, &m->fresh_room, m->fresh_count + 1, sizeof *m->fresh) &&
              lmi_triples_put(&m->vertices, &m->world->memory, name, a, b, *vertex);
    if (ok) {
        m->point[name] = m->point[name] ? m->point[name] : *vertex + 1;
        m->fresh[m->fresh_count++] = (fresh){.point = m->point[name] - 1,
                                             .rest = lmi_slit_rest(&m->body->lattice->shape, m->rest[node]),
                                             .eye = eye_of(m, part, node, side),
                                             .part = part,
                                             .node = node,
                                             .source = NONE};
    }
    return ok;
}

/* What a vertex on the old surface has from those that it is between. */
static void mix(const maker *m, fresh *to, const uint32_t *from, const double *shares, uint32_t count)
{
    const lmi_skin *skin = &m->body->skin;
    double most = -1.0;
    for (uint32_t n = 0; n < count; n++) {
        to->normal = dvec_add(to->normal, dvec_scale(dvec_from(skin->rest_normals[from[n]]), shares[n]));
        if (m->body->slit) {
            to->uv[0] += (float)(shares[n] * m->body->slit->uv[from[n]][0]);
            to->uv[1] += (float)(shares[n] * m->body->slit->uv[from[n]][1]);
        }
        if (shares[n] > most) {
            most = shares[n];
            to->source = skin->sources ? skin->sources[from[n]] : from[n];
            to->material = m->body->slit ? m->body->slit->material[from[n]] : 0;
        }
    }
    to->normal = unit(to->normal);
}

/* The vertex of a corner of what a triangle became. */
static bool corner_vertex(maker *m, uint32_t part, uint32_t triangle, uint32_t corner, uint32_t *vertex)
{
    const lmi_clip *c = &m->p->clips[part];
    const uint32_t *own = m->body->skin.triangles + 3 * (size_t)triangle, *points = m->p->triangles[triangle];
    if (corner < 3) {
        *vertex = own[corner];
        return true;
    }
    const uint32_t index = (corner - 3) / 2, side = (corner - 3) % 2;
    const lmi_clip_node *node = &c->nodes[index];
    uint32_t from[3] = {own[0], own[1], own[2]}, count = 3;
    if (node->low != NONE) { /* the ends of the edge, as this triangle has them */
        for (uint32_t i = 0; i < 3; i++) {
            from[0] = points[i] == node->low ? own[i] : from[0];
        }
        for (uint32_t i = 0; i < 3; i++) {
            from[1] = points[i] == node->high ? own[i] : from[1];
        }
        count = 2;
    }
    bool made;
    bool ok = find_vertex(m, part, m->first_node[part] + index, side, from[0], count == 2 ? from[1] : OF_FACE - 1,
                          vertex, &made);
    if (ok && made) {
        mix(m, &m->fresh[m->fresh_count - 1], from, node->share, count);
    }
    return ok;
}

static bool add_triangle(maker *m, uint32_t a, uint32_t b, uint32_t c)
{
    bool ok =
        lmi_grow(&m->world->memory, &m->triangles, &m->triangle_room, m->triangle_count + 1, sizeof *m->triangles);
    if (ok) {
        memcpy(m->triangles[m->triangle_count++], (uint32_t[3]){a, b, c}, sizeof *m->triangles);
    }
    return ok;
}

static bool add_pieces(maker *m, uint32_t part)
{
    const lmi_clip *c = &m->p->clips[part];
    bool ok = true;
    for (uint32_t n = 0; ok && n < c->piece_count; n++) {
        uint32_t v[3];
        for (uint32_t i = 0; ok && i < 3; i++) {
            ok = corner_vertex(m, part, c->pieces[n].triangle, c->pieces[n].corner[i], &v[i]);
        }
        ok = ok && add_triangle(m, v[0], v[1], v[2]);
    }
    return ok;
}

/* One side of a face. */
static bool add_face(maker *m, uint32_t part, const lmi_clip_face *face, uint32_t side)
{
    const lmi_clip *c = &m->p->clips[part];
    const lmi_sheet *sheet = &m->p->sheet;
    const uint32_t smooth = sheet->patches[sheet->patch[face->facet]].smooth, base = m->body->skin.vertex_count;
    uint32_t v[3];
    bool ok = true;
    for (uint32_t i = 0; ok && i < 3; i++) {
        const uint32_t node = face->node[side ? i : 2 - i];
        bool made;
        ok = find_vertex(m, part, m->first_node[part] + node, side && !c->nodes[node].single, smooth,
                         OF_FACE - 2 - side, &v[i], &made);
        if (ok && made) {
            fresh *f = &m->fresh[m->fresh_count - 1];
            f->source = LM_SKIN_INNER;
            f->faced = true;
            f->material = m->p->material;
            lmi_sheet_coordinates(sheet, face->facet, c->nodes[node].at, f->uv);
        }
    }
    if (!ok) {
        return false;
    }
    fresh *f = m->fresh;
    lm_dvec3 a = f[v[0] - base].rest;
    double area = dvec_length(dvec_cross(dvec_sub(f[v[1] - base].rest, a), dvec_sub(f[v[2] - base].rest, a)));
    lm_dvec3 facing =
        dvec_scale(sheet->patches[sheet->patch[face->facet]].normal, (side ? 1.0 : -1.0) * (area + 1e-30));
    for (uint32_t i = 0; i < 3; i++) { /* as it is now, for the time being */
        f[v[i] - base].normal = dvec_add(f[v[i] - base].normal, facing);
    }
    return add_triangle(m, v[0], v[1], v[2]);
}

static bool add_faces(maker *m, uint32_t part)
{
    const lmi_clip *c = &m->p->clips[part];
    bool ok = true;
    for (uint32_t n = 0; ok && n < c->face_count; n++) {
        ok = add_face(m, part, &c->faces[n], 0) && add_face(m, part, &c->faces[n], 1);
    }
    return ok;
}

/* --- the skin --- */

static bool add_others(maker *m)
{
    const lmi_skin *skin = &m->body->skin;
    bool *met = lmi_allocate(&m->world->memory, skin->triangle_count, sizeof *met);
    bool ok = met != NULL;
    for (uint32_t part = 0; ok && part < m->p->clip_count; part++) {
        for (uint32_t n = 0; n < m->p->clips[part].hit_count; n++) {
            met[m->p->clips[part].hit[n]] = true;
        }
    }
    for (uint32_t n = 0; ok && n < skin->triangle_count; n++) {
        const uint32_t *t = skin->triangles + 3 * (size_t)n;
        ok = met[n] || add_triangle(m, t[0], t[1], t[2]);
    }
    lmi_release(&m->world->memory, met, skin->triangle_count, sizeof *met);
    return ok;
}

static bool allocate(maker *m, uint32_t vertices)
{
    lmi_memory *memory = &m->world->memory;
    lmi_skin *skin = &m->p->skin;
    lmi_slit *slit = m->p->slit = lmi_allocate(memory, 1, sizeof *slit);
    *skin = (lmi_skin){.kind = m->body->skin.kind, .on_cells = true, .vertex_count = vertices};
    skin->triangle_count = m->triangle_count;
    skin->weight_count = 8 * vertices;
    if (!slit || !lmi_skin_allocate(m->world, skin)) {
        return false;
    }
    skin->sources = lmi_allocate(memory, vertices, sizeof *skin->sources);
    slit->count = vertices;
    slit->point = lmi_allocate(memory, vertices, sizeof *slit->point);
    slit->uv = lmi_allocate(memory, vertices, sizeof *slit->uv);
    slit->material = lmi_allocate(memory, vertices, sizeof *slit->material);
    m->p->eyes = lmi_allocate(memory, m->fresh_count, sizeof *m->p->eyes);
    const uint32_t before = m->body->slit ? m->body->slit->wall_count : 0;
    slit->wall_count = before + m->p->wall_count;
    slit->walls = lmi_allocate(memory, slit->wall_count, sizeof *slit->walls);
    if (slit->walls && before) {
        memcpy(slit->walls, m->body->slit->walls, before * sizeof *slit->walls);
    }
    if (slit->walls && m->p->wall_count) {
        memcpy(slit->walls + before, m->p->walls, m->p->wall_count * sizeof *slit->walls);
    }
    return slit->walls && skin->sources && m->p->eyes && slit->point && slit->uv && slit->material;
}

static void write_old(maker *m)
{
    const lmi_skin *from = &m->body->skin;
    lmi_skin *to = &m->p->skin;
    lmi_slit *slit = m->p->slit;
    const size_t count = from->vertex_count;
    memcpy(to->vertices, from->vertices, count * sizeof *to->vertices);
    memcpy(to->rest_normals, from->rest_normals, count * sizeof *to->rest_normals);
    memcpy(to->riders, from->riders, 8 * count * sizeof *to->riders);
    memcpy(to->weights, from->weights, 8 * count * sizeof *to->weights);
    memcpy(slit->point, m->p->point, count * sizeof *slit->point);
    for (uint32_t n = 0; n < count; n++) {
        to->sources[n] = from->sources ? from->sources[n] : n;
    }
    if (m->body->slit) {
        memcpy(slit->uv, m->body->slit->uv, count * sizeof *slit->uv);
        memcpy(slit->material, m->body->slit->material, count * sizeof *slit->material);
    }
}

static void write_new(maker *m)
{
    lmi_skin *to = &m->p->skin;
    lmi_slit *slit = m->p->slit;
    for (uint32_t n = 0; n < m->fresh_count; n++) {
        fresh *f = &m->fresh[n];
        if (f->source == LM_SKIN_INNER && f->faced) {
            f->normal = lmi_slit_turn_back(m->body, f->part, m->rest[f->node], f->normal);
        }
        m->p->eyes[n] = f->eye;
        const uint32_t vertex = m->body->skin.vertex_count + n;
        to->vertices[vertex] = vec_from(f->rest);
        to->rest_normals[vertex] = vec_from(unit(f->normal));
        to->sources[vertex] = f->source;
        slit->point[vertex] = f->point;
        memcpy(slit->uv[vertex], f->uv, sizeof f->uv);
        slit->material[vertex] = f->material;
    }
    for (uint32_t n = 0; n <= to->vertex_count; n++) {
        to->offsets[n] = 8 * n;
    }
    memcpy(to->triangles, m->triangles, m->triangle_count * sizeof *m->triangles);
}

static bool make(maker *m)
{
    bool ok = add_others(m);
    for (uint32_t part = 0; ok && part < m->p->clip_count; part++) {
        ok = add_pieces(m, part);
    }
    for (uint32_t part = 0; ok && part < m->p->clip_count; part++) {
        ok = add_faces(m, part);
    }
    const uint64_t vertices = (uint64_t)m->body->skin.vertex_count + m->fresh_count;
    ok = ok && vertices <= LM_MAX_PARTICLES && m->triangle_count <= LM_MAX_PARTICLES && allocate(m, (uint32_t)vertices);
    if (ok) {
        write_old(m);
        write_new(m);
    }
    return ok;
}

bool lmi_slit_make(lm_world *world, const lmi_body *body, const lmi_lattice *next, lmi_slit_plan *p)
{
    lmi_memory *memory = &world->memory;
    maker m = {.world = world, .body = body, .p = p};
    m.first_node = lmi_allocate(memory, p->clip_count, sizeof *m.first_node);
    for (uint32_t n = 0; m.first_node && n < p->clip_count; n++) {
        m.first_node[n] = m.node_count;
        m.node_count += p->clips[n].node_count;
    }
    m.rest = lmi_allocate(memory, m.node_count, sizeof *m.rest);
    m.known = lmi_allocate(memory, m.node_count, sizeof *m.known);
    m.point = lmi_allocate(memory, (size_t)2 * m.node_count, sizeof *m.point);
    bool ok = m.first_node && m.rest && m.known && m.point;
    if (ok) {
        place_nodes(&m);
        ok = lmi_slit_walls(world, body, p, (const double(*)[3])m.rest, m.first_node) && make(&m) &&
             lmi_slit_ride(world, body, next, p);
    }
    lmi_triples_free(&m.vertices, memory);
    lmi_release(memory, m.fresh, m.fresh_room, sizeof *m.fresh);
    lmi_release(memory, m.triangles, m.triangle_room, sizeof *m.triangles);
    lmi_release(memory, m.first_node, p->clip_count, sizeof *m.first_node);
    lmi_release(memory, m.rest, m.node_count, sizeof *m.rest);
    lmi_release(memory, m.known, m.node_count, sizeof *m.known);
    lmi_release(memory, m.point, (size_t)2 * m.node_count, sizeof *m.point);
    return ok;
}
