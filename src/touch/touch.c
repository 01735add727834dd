#include "touch/touch.h"
#include "cluster/embed.h"
#include "cut/grain.h"
#include "lattice/embed_lattice.h"
#include "lattice/lattice_body.h"
#include "octree/octree_body.h"
#include "octree/touch_octree.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* A triangle is divided into at most this many rows of points. */
#define MOST_ROWS 256

#define MOST_BUCKETS (1u << 24) /* of the bits that hashes have */

/* Particles of a cloud that a point rides on, at least: a push on a point outside them all must not tear at a few. */
#define SURROUNDINGS 32

/* --- spreading points over a mesh --- */

/* The points chosen so far, in a hash table of cubes of side `apart`. */
typedef struct spread {
    lmi_memory *memory;
    double apart; /* no two points are nearer */
    lm_vec3 *points;
    uint32_t *next; /* of the same bucket */
    uint32_t count, capacity, next_capacity;
    uint32_t *heads; /* [buckets] */
    uint32_t buckets;
    bool failed;
} spread;

static uint32_t bucket_of(const spread *s, int64_t x, int64_t y, int64_t z)
{
    uint64_t h =
        (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)z * 0x165667b19e3779f9u;
    h ^= h >> 32;
    return (uint32_t)(h * 0x9e3779b97f4a7c15u >> 40) & (s->buckets - 1);
}

static void cube_of(const spread *s, lm_vec3 p, int64_t at[3])
{
    lm_dvec3 scaled = dvec_limit(dvec_scale(dvec_from(p), 1.0 / s->apart), 1e15);
    at[0] = (int64_t)floor(scaled.x);
    at[1] = (int64_t)floor(scaled.y);
    at[2] = (int64_t)floor(scaled.z);
}

static bool is_free(const spread *s, lm_vec3 p)
{
    int64_t at[3];
    cube_of(s, p, at);
    for (int n = 0; n < 27; n++) {
        uint32_t bucket = bucket_of(s, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1);
        for (uint32_t k = s->heads[bucket]; k != LMI_NONE; k = s->next[k]) {
            s->memory->work++;
            lm_dvec3 d = dvec_sub(dvec_from(s->points[k]), dvec_from(p));
            if (dvec_dot(d, d) < s->apart * s->apart) {
                return false;
            }
        }
    }
    return true;
}

static void put_in_bucket(spread *s, uint32_t n)
{
    int64_t at[3];
    cube_of(s, s->points[n], at);
    uint32_t bucket = bucket_of(s, at[0], at[1], at[2]);
    s->next[n] = s->heads[bucket];
    s->heads[bucket] = n;
}

/* Empty buckets, in place of those that there are, and the points in them. A mesh of few large faces may have a million points. */
static bool make_buckets(spread *s, uint32_t buckets)
{
    uint32_t *heads = lmi_allocate_plain(s->memory, buckets, sizeof *heads);
    if (!heads) {
        return false;
    }
    lmi_release(s->memory, s->heads, s->buckets, sizeof *s->heads);
    memset(heads, 0xff, buckets * sizeof *heads); /* LMI_NONE */
    s->heads = heads;
    s->buckets = buckets;
    for (uint32_t n = 0; n < s->count; n++) {
        put_in_bucket(s, n);
    }
    return true;
}

static void offer(spread *s, lm_vec3 p)
{
    if (s->failed || !is_free(s, p)) {
        return;
    }
    void *points = s->points, *next = s->next;
    bool ok = lmi_reserve(s->memory, &points, &s->capacity, s->count + 1, sizeof *s->points) &&
              lmi_reserve(s->memory, &next, &s->next_capacity, s->count + 1, sizeof *s->next);
    s->points = points;
    s->next = next;
    if (!ok || (s->count == s->buckets && s->buckets < MOST_BUCKETS && !make_buckets(s, 2 * s->buckets))) {
        s->failed = true;
        return;
    }
    s->points[s->count] = p;
    put_in_bucket(s, s->count++);
}

typedef struct corner {
    double flatness; /* 1 in the middle of a flat face, less the sharper the corner is */
    uint32_t vertex;
} corner;

static int compare_corners(const void *a, const void *b)
{
    const corner *x = a, *y = b;
    if (x->flatness != y->flatness) {
        return x->flatness < y->flatness ? -1 : 1;
    }
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static lm_dvec3 area_of(const lmi_touch_mesh *mesh, uint32_t triangle)
{
    const uint32_t *at = mesh->triangles + (size_t)triangle * 3;
    lm_dvec3 a = dvec_from(mesh->vertices[at[0]]);
    return dvec_cross(dvec_sub(dvec_from(mesh->vertices[at[1]]), a), dvec_sub(dvec_from(mesh->vertices[at[2]]), a));
}

/* The vertices of faces, sharp corners first: a box must keep its corners whatever is left out. */
static bool offer_vertices(spread *s, const lmi_touch_mesh *mesh)
{
    lm_dvec3 *sums = lmi_allocate(s->memory, mesh->vertex_count, sizeof *sums);
    double *areas = lmi_allocate(s->memory, mesh->vertex_count, sizeof *areas);
    corner *corners = lmi_allocate(s->memory, mesh->vertex_count, sizeof *corners);
    bool ok = sums && areas && corners;
    uint32_t count = 0;
    for (uint32_t t = 0; ok && t < mesh->triangle_count; t++) {
        lm_dvec3 area = area_of(mesh, t);
        for (int k = 0; k < 3; k++) {
            uint32_t v = mesh->triangles[(size_t)t * 3 + k];
            sums[v] = dvec_add(sums[v], area);
            areas[v] += dvec_length(area);
        }
    }
    for (uint32_t v = 0; ok && v < mesh->vertex_count; v++) {
        if (areas[v] > 0.0) {
            /* In steps, so that rounding does not order the vertices of a flat face. */
            corner c = {floor(dvec_length(sums[v]) / areas[v] * 64.0 + 0.5), v};
            corners[count++] = c;
        }
    }
    if (ok) {
        qsort(corners, count, sizeof *corners, compare_corners);
    }
    for (uint32_t n = 0; n < count; n++) {
        offer(s, mesh->vertices[corners[n].vertex]);
    }
    lmi_release(s->memory, sums, mesh->vertex_count, sizeof *sums);
    lmi_release(s->memory, areas, mesh->vertex_count, sizeof *areas);
    lmi_release(s->memory, corners, mesh->vertex_count, sizeof *corners);
    return ok && !s->failed;
}

/* Points on a triangle larger than the spacing, its edges included. */
static void offer_inside(spread *s, const lmi_touch_mesh *mesh, uint32_t triangle, double spacing)
{
    const uint32_t *at = mesh->triangles + (size_t)triangle * 3;
    lm_dvec3 at_corner[3], edge[3];
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        at_corner[k] = dvec_from(mesh->vertices[at[k]]);
    }
    for (int k = 0; k < 3; k++) {
        edge[k] = dvec_sub(at_corner[(k + 1) % 3], at_corner[k]);
        longest = fmax(longest, dvec_length(edge[k]));
    }
    if (!(dvec_length(area_of(mesh, triangle)) > 0.0)) {
        return; /* nobody sees it */
    }
    int rows = (int)fmin(ceil(longest / spacing), MOST_ROWS);
    for (int i = 0; i <= rows && rows > 1; i++) {
        for (int j = 0; j <= rows - i; j++) {
            double a = (double)i / rows, b = (double)j / rows;
            offer(s, vec_from(dvec_sub(dvec_add(at_corner[0], dvec_scale(edge[0], a)), dvec_scale(edge[2], b))));
        }
    }
}

bool lmi_touch_spread(lmi_memory *memory, const lmi_touch_mesh *mesh, double spacing, lm_vec3 **points, uint32_t *count,
                      uint32_t *capacity)
{
    spread s = {.memory = memory, .apart = 0.7 * spacing};
    bool ok = make_buckets(&s, 64) && offer_vertices(&s, mesh);
    for (uint32_t t = 0; ok && t < mesh->triangle_count; t++) {
        offer_inside(&s, mesh, t, spacing);
    }
    lmi_release(memory, s.heads, s.buckets, sizeof *s.heads);
    lmi_release(memory, s.next, s.next_capacity, sizeof *s.next);
    ok = ok && !s.failed;
    if (!ok) {
        lmi_release(memory, s.points, s.capacity, sizeof *s.points);
        s.points = NULL;
        s.count = s.capacity = 0;
    }
    *points = s.points;
    *count = s.count;
    *capacity = s.capacity;
    return ok;
}

/* --- embedding them --- */

void lmi_touch_free(lm_world *world, lmi_touch *touch)
{
    lmi_memory *memory = &world->memory;
    lmi_release(memory, touch->rest, touch->count, sizeof *touch->rest);
    lmi_release(memory, touch->now, touch->blocks, 3 * LMI_BLOCK * sizeof *touch->now);
    lmi_release(memory, touch->box, touch->blocks, 6 * sizeof *touch->box);
    lmi_release(memory, touch->others, touch->blocks, sizeof *touch->others);
    lmi_release(memory, touch->start, touch->blocks, 3 * LMI_BLOCK * sizeof *touch->start);
    lmi_release(memory, touch->warm, 2 * (size_t)touch->count, sizeof *touch->warm);
    lmi_release(memory, touch->inner, touch->inner_blocks, sizeof *touch->inner);
    lmi_release(memory, touch->inner_start, touch->inner_start ? touch->inner_blocks : 0,
                3 * LMI_BLOCK * sizeof *touch->inner_start);
    lmi_release(memory, touch->facing, touch->count, sizeof *touch->facing);
    lmi_release(memory, touch->leader, touch->count, sizeof *touch->leader);
    lmi_release(memory, touch->carrier, touch->count, sizeof *touch->carrier);
    lmi_release(memory, touch->voxel, touch->count, sizeof *touch->voxel);
    lmi_release(memory, touch->first_row, (size_t)touch->blocks + 1, sizeof *touch->first_row);
    lmi_release(memory, touch->rider, (size_t)touch->rows * LMI_BLOCK, sizeof *touch->rider);
    lmi_release(memory, touch->weight, (size_t)touch->rows * LMI_BLOCK, sizeof *touch->weight);
    memset(touch, 0, sizeof *touch);
}

bool lmi_touch_watch(lm_world *world, lmi_touch *touch)
{
    if (!touch->inner_start && touch->count) {
        touch->inner_start =
            lmi_allocate(&world->memory, touch->inner_blocks, 3 * LMI_BLOCK * sizeof *touch->inner_start);
    }
    return touch->inner_start || !touch->count;
}

void lmi_touch_begin(lmi_touch *touch)
{
    if (touch->count) {
        memset(touch->warm + touch->count, 0, touch->count * sizeof *touch->warm);
    }
}

void lmi_touch_end(lmi_touch *touch)
{
    if (touch->count) {
        memcpy(touch->warm, touch->warm + touch->count, touch->count * sizeof *touch->warm);
    }
}

static uint32_t embed(const lmi_embedder *embedder, const lmi_body *body, lm_vec3 point, uint32_t *riders,
                      float *weights)
{
    if (body->lattice) {
        return lmi_embed_lattice(&body->lattice->shape, point, riders, weights);
    }
    if (body->grain) {
        uint32_t count = lmi_grain_around(body, lmi_grain_particle_at(body, point), point, SURROUNDINGS, riders);
        return lmi_embed_from(embedder, point, riders, count, LMI_EMBED_STEADY, weights);
    }
    return lmi_embed_among(embedder, point, SURROUNDINGS, riders, weights);
}

static double nearest_of(const lmi_body *body, lm_vec3 point, const uint32_t *riders, uint32_t count)
{
    double least = INFINITY;
    for (uint32_t n = 0; n < count; n++) {
        least = fmin(least, dvec_length(dvec_sub(dvec_from(body->rest[riders[n]]), dvec_from(point))));
    }
    return least;
}

/* Counts the rows, and fills them when there is room. */
static uint32_t embed_all(const lmi_embedder *embedder, const lmi_body *body, const uint32_t *places, lmi_touch *touch)
{
    uint32_t rows = 0;
    for (uint32_t block = 0; block < touch->blocks; block++) {
        uint32_t most = 0;
        for (uint32_t lane = 0; lane < LMI_BLOCK && block * LMI_BLOCK + lane < touch->count; lane++) {
            uint32_t riders[LMI_EMBED_MOST];
            float weights[LMI_EMBED_MOST];
            uint32_t count = 1;
            if (places) {
                riders[0] = places[block * LMI_BLOCK + lane];
                weights[0] = 1.0f;
            } else {
                count = embed(embedder, body, touch->rest[block * LMI_BLOCK + lane], riders, weights);
            }
            for (uint32_t n = 0; touch->rider && n < count; n++) {
                size_t at = (size_t)(rows + n) * LMI_BLOCK + lane;
                touch->rider[at] = riders[n];
                touch->weight[at] = weights[n];
            }
            touch->beyond =
                fmax(touch->beyond, 1.5 * nearest_of(body, touch->rest[block * LMI_BLOCK + lane], riders, count));
            most = count > most ? count : most;
        }
        rows += most;
        touch->most_rows = most > touch->most_rows ? most : touch->most_rows;
        touch->first_row[block + 1] = rows;
    }
    return rows;
}

/* Points of one cell stand one after the other; the first of its particles tells which cell it is. */
static void find_leaders(const lmi_body *body, lmi_touch *touch)
{
    uint32_t first = LMI_NONE;
    for (uint32_t n = 0; n < touch->count; n++) {
        uint32_t rider = touch->rider[(size_t)touch->first_row[n / LMI_BLOCK] * LMI_BLOCK + n % LMI_BLOCK];
        bool same = body->lattice && n > 0 && rider == first;
        touch->leader[n] = same ? touch->leader[n - 1] : n;
        first = rider;
    }
}

/* Whether a cell lies within the surface: no point is in it (`touched`: those with points, by their lowest corner), and there
 * are cells all around it. */
static bool is_within(const lmi_lattice *l, const uint16_t *touched, const int32_t at[3])
{
    for (int32_t n = 0; n < 27; n++) {
        uint32_t lowest = lmi_lattice_find(l, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1);
        uint32_t block = lowest / LMI_BLOCK, lane = lowest % LMI_BLOCK;
        if (lowest == LMI_LATTICE_NONE || !(l->cell[block] >> lane & 1) || (n == 13 && (touched[block] >> lane & 1))) {
            return false;
        }
    }
    return true;
}

/* Particles that lie within the surface for certain. A hard impact can drive them through the layer of those that are held by
 * points, so they are kept out of walls too. In a cloud they are those that no point rides on, in a lattice the corners of the
 * cells within; `touched` has room for a bit a particle, all 0. */
static void find_inner(const lmi_body *body, lmi_touch *touch, uint16_t *touched)
{
    for (uint32_t n = 0; n < touch->count; n++) {
        uint32_t row = touch->first_row[n / LMI_BLOCK], rows = touch->first_row[n / LMI_BLOCK + 1] - row;
        for (uint32_t k = 0; k < (body->lattice ? 1 : rows); k++) {
            uint32_t rider = touch->rider[(size_t)(row + k) * LMI_BLOCK + n % LMI_BLOCK];
            touched[rider / LMI_BLOCK] |= (uint16_t)(1u << (rider % LMI_BLOCK));
        }
    }
    for (uint32_t n = 0; n < body->place_count; n++) {
        if (body->order[n] == LMI_NONE) {
            continue;
        }
        if (!body->lattice) {
            touch->inner[n / LMI_BLOCK] |=
                (uint16_t)((~touched[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1u) << (n % LMI_BLOCK));
            continue;
        }
        int32_t at[3];
        lmi_lattice_corner(&body->lattice->shape, n, at);
        bool within = false;
        for (int32_t k = 0; k < 8 && !within; k++) {
            int32_t cell[3] = {at[0] - (k & 1), at[1] - (k >> 1 & 1), at[2] - (k >> 2)};
            within = is_within(&body->lattice->shape, touched, cell);
        }
        touch->inner[n / LMI_BLOCK] |= (uint16_t)((unsigned)within << (n % LMI_BLOCK));
    }
}

bool lmi_touch_allocate(lm_world *world, const lmi_body *body, uint32_t count, lmi_touch *touch)
{
    lmi_memory *memory = &world->memory;
    uint32_t particle_blocks = (body->place_count + LMI_BLOCK - 1) / LMI_BLOCK;
    lmi_touch made = {.count = count, .blocks = (count + LMI_BLOCK - 1) / LMI_BLOCK, .inner_blocks = particle_blocks};
    made.inner = lmi_allocate(memory, made.inner_blocks, sizeof *made.inner);
    made.rest = lmi_allocate(memory, count, sizeof *made.rest);
    made.first_row = lmi_allocate(memory, (size_t)made.blocks + 1, sizeof *made.first_row);
    made.now = lmi_allocate(memory, made.blocks, 3 * LMI_BLOCK * sizeof *made.now);
    made.box = lmi_allocate(memory, made.blocks, 6 * sizeof *made.box);
    made.others = lmi_allocate(memory, made.blocks, sizeof *made.others);
    made.start = lmi_allocate(memory, made.blocks, 3 * LMI_BLOCK * sizeof *made.start);
    made.facing = lmi_allocate(memory, count, sizeof *made.facing);
    made.leader = lmi_allocate(memory, count, sizeof *made.leader);
    made.carrier = lmi_allocate(memory, count, sizeof *made.carrier);
    made.voxel = body->octree ? lmi_allocate(memory, count, sizeof *made.voxel) : NULL;
    made.warm = lmi_allocate(memory, 2 * (size_t)count, sizeof *made.warm);
    *touch = made;
    return made.inner && made.rest && made.now && made.box && made.others && made.start && made.warm && made.facing &&
           made.leader && made.carrier && made.first_row && (!body->octree || made.voxel);
}

/* `places`: of particles that are the points; null: points are embedded. */
static bool make_touch(lm_world *world, const lmi_body *body, const lm_vec3 *points, const uint32_t *places,
                       uint32_t count, lmi_touch *touch)
{
    lmi_memory *memory = &world->memory;
    lmi_embedder embedder = {0};
    uint32_t particle_blocks = (body->place_count + LMI_BLOCK - 1) / LMI_BLOCK;
    uint16_t *touched = lmi_allocate(memory, particle_blocks, sizeof *touched);
    lmi_touch made;
    bool ok = lmi_touch_allocate(world, body, count, &made) && touched &&
              (places || body->lattice || lmi_embedder_make(&embedder, memory, body->rest, body->particle_count));
    if (ok) {
        memcpy(made.rest, points, count * sizeof *points);
        made.rows = embed_all(&embedder, body, places, &made);
        made.rider = lmi_allocate(memory, (size_t)made.rows * LMI_BLOCK, sizeof *made.rider);
        made.weight = lmi_allocate(memory, (size_t)made.rows * LMI_BLOCK, sizeof *made.weight);
        ok = made.rider && made.weight;
    }
    if (ok) {
        embed_all(&embedder, body, places, &made);
        find_leaders(body, &made);
        if (!places) {
            find_inner(body, &made, touched);
        }
        *touch = made;
    } else {
        lmi_touch_free(world, &made);
    }
    lmi_release(memory, touched, particle_blocks, sizeof *touched);
    lmi_embedder_free(&embedder);
    return ok;
}

bool lmi_touch_embed(lm_world *world, const lmi_body *body, const lm_vec3 *points, uint32_t count, lmi_touch *touch)
{
    return body->octree ? lmi_touch_embed_octree(world, body, NULL, points, count, touch)
                        : make_touch(world, body, points, NULL, count, touch);
}

bool lmi_touch_particles(lm_world *world, const lmi_body *body, lmi_touch *touch)
{
    lmi_memory *memory = &world->memory;
    lm_vec3 *points = lmi_allocate(memory, body->particle_count, sizeof *points);
    uint32_t *places = lmi_allocate(memory, body->particle_count, sizeof *places), count = 0;
    bool ok = points && places;
    for (uint32_t n = 0; ok && n < body->place_count; n++) {
        if (body->order[n] != LMI_NONE) {
            points[count] = body->rest[n];
            places[count++] = n;
        }
    }
    ok = ok && make_touch(world, body, points, places, count, touch);
    lmi_release(memory, points, body->particle_count, sizeof *points);
    lmi_release(memory, places, body->particle_count, sizeof *places);
    return ok;
}

/* --- all of it --- */

typedef struct placed {
    uint64_t cube; /* along a Morton curve */
    uint32_t index;
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->cube != y->cube) {
        return x->cube < y->cube ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t spread_bits(uint64_t a)
{
    a &= 0x1fffff;
    a = (a | a << 32) & 0x1f00000000ffff;
    a = (a | a << 16) & 0x1f0000ff0000ff;
    a = (a | a << 8) & 0x100f00f00f00f00f;
    a = (a | a << 4) & 0x10c30c30c30c30c3;
    return (a | a << 2) & 0x1249249249249249;
}

/* Orders points by the cell they are in, neighbours near each other, and within a cell as they were: sharp corners first.
 * Points side by side in lanes are then near each other, and those of a cell stand together. */
static bool sort_points(lmi_memory *memory, const lmi_body *body, lm_vec3 *points, uint32_t count, double spacing)
{
    placed *order = lmi_allocate(memory, count, sizeof *order);
    lm_vec3 *copy = lmi_allocate(memory, count, sizeof *copy);
    bool ok = order && copy;
    lm_dvec3 low = dvec_from(body->rest[0]);
    for (uint32_t n = 0; n < body->place_count; n++) {
        lm_dvec3 p = dvec_from(body->rest[n]);
        if (body->order[n] != LMI_NONE) {
            low = dvec(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        }
    }
    double side = body->lattice ? body->lattice->shape.spacing : spacing;
    for (uint32_t n = 0; ok && n < count; n++) {
        lm_dvec3 at = dvec_scale(dvec_sub(dvec_from(points[n]), low), 1.0 / side);
        at = dvec_limit(dvec(floor(at.x) + 8.0, floor(at.y) + 8.0, floor(at.z) + 8.0), 1e6);
        order[n].cube = spread_bits((uint64_t)fmax(at.x, 0.0)) | spread_bits((uint64_t)fmax(at.y, 0.0)) << 1 |
                        spread_bits((uint64_t)fmax(at.z, 0.0)) << 2;
        order[n].index = n;
        copy[n] = points[n];
    }
    if (ok) {
        qsort(order, count, sizeof *order, compare_placed);
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        points[n] = copy[order[n].index];
    }
    lmi_release(memory, order, count, sizeof *order);
    lmi_release(memory, copy, count, sizeof *copy);
    return ok;
}

/* How dense points should be: half a cell of a lattice or an octree, so that round bodies roll on many and not on few; about the distance
 * between neighbouring particles of a cloud, which are there to be as many as its surface needs. */
static double spacing_of(const lmi_body *body)
{
    if (body->lattice) {
        return 0.5 * body->lattice->shape.spacing;
    }
    if (body->octree) {
        return 0.5 * lmi_octree_mean_side(body);
    }
    lm_vec3 lower = body->rest[0], upper = lower;
    for (uint32_t n = 1; n < body->particle_count; n++) {
        lm_vec3 p = body->rest[n];
        lower = (lm_vec3){fminf(lower.x, p.x), fminf(lower.y, p.y), fminf(lower.z, p.z)};
        upper = (lm_vec3){fmaxf(upper.x, p.x), fmaxf(upper.y, p.y), fmaxf(upper.z, p.z)};
    }
    lm_dvec3 size = dvec_sub(dvec_from(upper), dvec_from(lower));
    /* As many along each axis, at least one. */
    double longest = fmax(size.x, fmax(size.y, size.z)), spacing = longest;
    for (int n = 0; n < 64 && spacing > 0.0; n++) {
        double cells = (size.x / spacing + 1.0) * (size.y / spacing + 1.0) * (size.z / spacing + 1.0);
        if (cells >= body->particle_count) {
            break;
        }
        spacing *= 0.9;
    }
    return spacing;
}

bool lmi_touch_make(lm_world *world, const lmi_body *body, const lmi_touch_mesh *mesh, lmi_touch *touch)
{
    double spacing = spacing_of(body);
    memset(touch, 0, sizeof *touch);
    if (!(spacing > 0.0)) {
        return true; /* one particle, or all in one place: it touches where it is */
    }
    lm_vec3 *points;
    uint32_t count, capacity;
    bool ok = lmi_touch_spread(&world->memory, mesh, spacing, &points, &count, &capacity);
    ok = ok && (count == 0 || (sort_points(&world->memory, body, points, count, spacing) &&
                               lmi_touch_embed(world, body, points, count, touch)));
    lmi_release(&world->memory, points, capacity, sizeof *points);
    return ok;
}
