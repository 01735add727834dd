/*
 * Shattering a body: lm_body_shatter.
 *
 * The body falls into the cells of its points: what is nearer to one of them than to all others (Voronoi). They are taken one after the
 * other. What is left when the cells before have been taken is nearest to point n where it is nearer to that than to the ones after, so
 * that a cell is convex, and its surface, as far as those come near, is a blade without holes or branches. It cuts what is left and
 * spares what was taken: lm_blade.pieces. That the cells before reach into this blade does not matter any more.
 *
 * Rough faces are the same cells in a space that is bent by noise: a point goes where the noise at its place takes it, so that faces
 * that met still do.
 *
 * Points are drawn from a hash of the seed and of their number: the best of a few candidates, each at a particle chosen by mass, is
 * the one that is furthest from all points before (Mitchell 1991). With a focus that distance is measured against the one to the
 * focus, so that pieces are small there and larger further off.
 */
#include "base/guard.h"
#include "base/hash.h"
#include "base/triples.h"
#include "cut/cut.h"
#include "geometry/convex.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

#define SHATTER_COOKIE 0x4c4d5348u
#define CANDIDATES 8u
#define PASSES 12 /* of dividing the triangles of a blade */
#define TRIES 8u
#define TRY_STEP 0.2 /* steps between particles that a point is moved by */

lm_shatter_def lm_shatter_def_default(void)
{
    lm_shatter_def def;
    memset(&def, 0, sizeof def);
    def.count = 12;
    def.seed = 1;
    def.cookie = SHATTER_COOKIE;
    return def;
}

static const char *fault_of(const lm_shatter_def *def)
{
    if (def->cookie != SHATTER_COOKIE) {
        return "the definition did not come from lm_shatter_def_default";
    }
    if (def->count < 1 || def->count > LM_MAX_SHATTER) {
        return "count must be 1 to LM_MAX_SHATTER";
    }
    if (!(def->focus_radius >= 0.0f && def->focus_radius <= 1e6f) || !dvec_is_place(def->focus)) {
        return "the focus is not finite, or its radius not 0 to 1e6 m";
    }
    if (!(def->roughness >= 0.0f && def->roughness <= 1e6f)) {
        return "roughness must be 0 to 1e6 m";
    }
    for (uint32_t n = 0; def->points && n < def->count; n++) {
        if (!dvec_is_place(def->points[n])) {
            return "a point is not finite or beyond LM_MAX_POSITION";
        }
    }
    return NULL;
}

typedef struct shatter {
    lm_world *world;
    lmi_memory *memory;
    lm_body_id body;
    const lm_shatter_def *def;
    lm_dvec3 base;    /* everything here is given from it */
    lm_dvec3 *points; /* [def->count] */
    /* Of the particles as they are numbered now. */
    lm_vec3 *at;
    float *masses;
    uint32_t *piece;
    uint32_t particle_count, room;
    uint8_t *cut; /* [pieces] */
    uint32_t piece_count, piece_room;
    lmi_box box, around; /* of the body, and of the blades */
    double step;         /* about the distance between particles */
    /* The blade. */
    lmi_convex cell;
    lm_dvec3 *vertices;
    uint32_t vertex_count, vertex_room;
    uint32_t (*triangles)[3];
    uint32_t triangle_count, triangle_room;
} shatter;

/* --- the body --- */

/* Particles and pieces as they are now. */
static bool take_particles(shatter *s)
{
    lm_body_info info;
    lm_body_get_info(s->world, s->body, &info);
    const uint32_t count = info.particles;
    if (count > s->room) {
        lmi_release(s->memory, s->at, s->room, sizeof *s->at);
        lmi_release(s->memory, s->masses, s->room, sizeof *s->masses);
        lmi_release(s->memory, s->piece, s->room, sizeof *s->piece);
        s->room = count;
        s->at = lmi_allocate(s->memory, count, sizeof *s->at);
        s->masses = lmi_allocate(s->memory, count, sizeof *s->masses);
        s->piece = lmi_allocate(s->memory, count, sizeof *s->piece);
    }
    if (!s->at || !s->masses || !s->piece) {
        return false;
    }
    s->particle_count = count;
    s->piece_count = info.pieces;
    lm_body_get_positions(s->world, s->body, s->base, s->at);
    lm_body_get_masses(s->world, s->body, s->masses);
    lm_body_get_pieces(s->world, s->body, s->piece);
    return true;
}

static void measure(shatter *s, const lm_body_info *about)
{
    s->box = (lmi_box){dvec_sub(about->lower, s->base), dvec_sub(about->upper, s->base)};
    const double size = dvec_length(dvec_sub(s->box.high, s->box.low));
    const lm_dvec3 more = dvec(size, size, size);
    s->around = (lmi_box){dvec_sub(s->box.low, more), dvec_add(s->box.high, more)};
    s->step = size;
    for (uint32_t cube = 1; cube * cube * cube < s->particle_count; cube++) {
        s->step = size / (1.0 + cube);
    }
}

/* --- points --- */

static double chance(uint64_t seed, uint64_t a, uint64_t b)
{
    const uint64_t hash = lmi_hash_word(lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, seed), a), b);
    return (double)(hash >> 11) * 0x1p-53;
}

static lm_dvec3 candidate(const shatter *s, double mass, uint32_t point, uint32_t n)
{
    const uint64_t name = (uint64_t)point * CANDIDATES + n;
    const double wanted = chance(s->def->seed, name, 0) * mass;
    double sum = 0.0;
    uint32_t particle = 0;
    for (; particle + 1 < s->particle_count; particle++) {
        sum += s->masses[particle];
        if (sum > wanted) {
            break;
        }
    }
    return dvec_add(dvec_from(s->at[particle]), dvec((chance(s->def->seed, name, 1) - 0.5) * s->step,
                                                     (chance(s->def->seed, name, 2) - 0.5) * s->step,
                                                     (chance(s->def->seed, name, 3) - 0.5) * s->step));
}

/* How far a place is from all points before. */
static double distance_from_others(const shatter *s, uint32_t count, lm_dvec3 at)
{
    double least = INFINITY;
    for (uint32_t n = 0; n < count; n++) {
        least = lmi_min(least, dvec_length(dvec_sub(at, s->points[n])));
    }
    if (s->def->focus_radius > 0.0f) {
        const lm_dvec3 focus = dvec_sub(s->def->focus, s->base);
        least = lmi_min(least, s->step * 1e6) / ((double)s->def->focus_radius + dvec_length(dvec_sub(at, focus)));
    }
    return least;
}

static void draw_points(shatter *s)
{
    double mass = 0.0;
    for (uint32_t n = 0; n < s->particle_count; n++) {
        mass += s->masses[n];
    }
    for (uint32_t point = 0; point < s->def->count; point++) {
        double best = -1.0;
        for (uint32_t n = 0; n < CANDIDATES; n++) {
            const lm_dvec3 at = candidate(s, mass, point, n);
            const double distance = distance_from_others(s, point, at);
            if (distance > best) {
                best = distance;
                s->points[point] = at;
            }
        }
    }
}

static uint32_t nearest_point(const shatter *s, lm_dvec3 at)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t n = 0; n < s->def->count; n++) {
        const lm_dvec3 way = dvec_sub(at, s->points[n]);
        const double square = dvec_dot(way, way);
        if (square < least) {
            least = square;
            best = n;
        }
    }
    return best;
}

/* Which pieces are left: those at least half of whose particles are in the cell or in those after it. False: the cell is empty. */
static bool find_left(shatter *s, uint32_t cell, bool *any, uint32_t *votes)
{
    *any = false;
    memset(votes, 0, (size_t)2 * s->piece_count * sizeof *votes);
    for (uint32_t n = 0; n < s->particle_count; n++) {
        const uint32_t point = nearest_point(s, dvec_from(s->at[n]));
        votes[2 * s->piece[n] + (point >= cell)]++;
        *any = *any || point == cell;
    }
    for (uint32_t n = 0; n < s->piece_count; n++) {
        s->cut[n] = votes[2 * n + 1] >= votes[2 * n];
    }
    return *any;
}

/* --- blades --- */

/* The cell of a point among those after it. */
static bool make_cell(shatter *s, uint32_t cell)
{
    const lm_dvec3 from = s->points[cell];
    bool ok = lmi_convex_box(&s->cell, s->memory, &s->around);
    for (uint32_t n = cell + 1; ok && n < s->def->count; n++) {
        const lm_dvec3 way = dvec_sub(s->points[n], from);
        const lm_dvec3 middle = dvec_scale(dvec_add(s->points[n], from), 0.5);
        ok = !(dvec_dot(way, way) > 0.0) || lmi_convex_cut(&s->cell, s->memory, way, dvec_dot(way, middle), n);
    }
    return ok;
}

static bool add_triangle(shatter *s, uint32_t a, uint32_t b, uint32_t c)
{
    bool ok = lmi_grow(s->memory, &s->triangles, &s->triangle_room, s->triangle_count + 1, sizeof *s->triangles);
    if (ok) {
        memcpy(s->triangles[s->triangle_count++], (uint32_t[3]){a, b, c}, sizeof *s->triangles);
    }
    return ok;
}

static bool add_vertex(shatter *s, lm_dvec3 at, uint32_t *vertex)
{
    bool ok = lmi_grow(s->memory, &s->vertices, &s->vertex_room, s->vertex_count + 1, sizeof *s->vertices);
    if (ok) {
        *vertex = s->vertex_count;
        s->vertices[s->vertex_count++] = at;
    }
    return ok;
}

/* The faces between the cell and others, as fans. */
static bool take_faces(shatter *s)
{
    const lmi_convex *c = &s->cell;
    bool ok = true;
    uint32_t vertex;
    s->vertex_count = s->triangle_count = 0;
    for (uint32_t n = 0; ok && n < c->point_count; n++) {
        ok = add_vertex(s, c->points[n], &vertex);
    }
    for (uint32_t f = 0; ok && f < c->face_count; f++) {
        const uint32_t *corner = c->loops + c->first[f], count = c->first[f + 1] - c->first[f];
        for (uint32_t n = 2; ok && c->plane[f] != LMI_CONVEX_BOX && n < count; n++) {
            ok = add_triangle(s, corner[0], corner[n - 1], corner[n]);
        }
    }
    return ok;
}

/* Whether an edge is near the body and longer than its triangles should be. */
static bool is_long(const shatter *s, uint32_t a, uint32_t b, double most)
{
    const lm_dvec3 p = s->vertices[a], q = s->vertices[b];
    const lm_dvec3 low = dvec_sub(s->box.low, dvec(s->step, s->step, s->step));
    const lm_dvec3 high = dvec_add(s->box.high, dvec(s->step, s->step, s->step));
    return dvec_length(dvec_sub(p, q)) > most && lmi_max(p.x, q.x) >= low.x && lmi_min(p.x, q.x) <= high.x &&
           lmi_max(p.y, q.y) >= low.y && lmi_min(p.y, q.y) <= high.y && lmi_max(p.z, q.z) >= low.z &&
           lmi_min(p.z, q.z) <= high.z;
}

/* The middle of an edge that is divided: the same for the triangles on both sides. `*middle`: LMI_TRIPLES_NONE where it is not. */
static bool divide_edge(shatter *s, lmi_triples *middles, uint32_t a, uint32_t b, double most, uint32_t *middle)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    *middle = lmi_triples_get(middles, low, high, 0);
    if (*middle != LMI_TRIPLES_NONE || !is_long(s, low, high, most)) {
        return true;
    }
    return add_vertex(s, dvec_scale(dvec_add(s->vertices[low], s->vertices[high]), 0.5), middle) &&
           lmi_triples_put(middles, s->memory, low, high, 0, *middle);
}

/* What is left of a triangle when its divided edges have given their corners to others. */
static bool divide_triangle(shatter *s, lmi_triples *middles, uint32_t index, double most)
{
    uint32_t t[3], m[3], count = 0;
    memcpy(t, s->triangles[index], sizeof t);
    for (uint32_t i = 0; i < 3; i++) {
        if (!divide_edge(s, middles, t[i], t[(i + 1) % 3], most, &m[i])) {
            return false;
        }
        count += m[i] != LMI_TRIPLES_NONE;
    }
    if (count == 0) {
        return true;
    }
    uint32_t turn = 0; /* so that edge 0 is divided, and the one that is not, of two, is the last */
    while (m[turn] == LMI_TRIPLES_NONE || (count == 2 && m[(turn + 1) % 3] == LMI_TRIPLES_NONE)) {
        turn++;
    }
    const uint32_t a = t[turn], b = t[(turn + 1) % 3], c = t[(turn + 2) % 3];
    const uint32_t ab = m[turn], bc = m[(turn + 1) % 3], ca = m[(turn + 2) % 3];
    uint32_t *own = s->triangles[index];
    if (count == 1) {
        memcpy(own, (uint32_t[3]){a, ab, c}, sizeof t);
        return add_triangle(s, ab, b, c);
    }
    if (count == 2) {
        memcpy(own, (uint32_t[3]){ab, b, bc}, sizeof t);
        return add_triangle(s, a, ab, bc) && add_triangle(s, a, bc, c);
    }
    memcpy(own, (uint32_t[3]){ab, bc, ca}, sizeof t);
    return add_triangle(s, a, ab, ca) && add_triangle(s, ab, b, bc) && add_triangle(s, ca, bc, c);
}

static bool divide(shatter *s, double most)
{
    bool ok = true;
    uint32_t before = 0;
    for (int pass = 0; ok && pass < PASSES && before != s->triangle_count; pass++) {
        lmi_triples middles = {0};
        before = s->triangle_count;
        if (before > LM_MAX_BLADE_TRIANGLES / 4) {
            break;
        }
        for (uint32_t n = 0; ok && n < before; n++) {
            ok = divide_triangle(s, &middles, n, most);
        }
        lmi_triples_free(&middles, s->memory);
    }
    return ok;
}

/* --- noise --- */

static double fade(double t) { return t * t * (3.0 - 2.0 * t); }

/* Values at whole places, drawn, and smoothly in between: -1 to 1. */
static double noise(uint64_t seed, lm_dvec3 p)
{
    const double whole[3] = {floor(p.x), floor(p.y), floor(p.z)};
    const double in[3] = {fade(p.x - whole[0]), fade(p.y - whole[1]), fade(p.z - whole[2])};
    double sum = 0.0;
    for (int k = 0; k < 8; k++) {
        uint64_t at[3];
        double weight = 1.0;
        for (int a = 0; a < 3; a++) {
            const int step = k >> a & 1;
            at[a] = (uint64_t)((int64_t)whole[a] + step);
            weight *= step ? in[a] : 1.0 - in[a];
        }
        sum += weight * (2.0 * chance(lmi_hash_word(seed, at[0]), at[1], at[2]) - 1.0);
    }
    return sum;
}

/* Bends the blade: waves of ten times the roughness, and half as high ones of half that length. Shorter ones would fold it. */
static void roughen(shatter *s)
{
    const double most = (double)s->def->roughness, length = 10.0 * most;
    for (uint32_t n = 0; n < s->vertex_count; n++) {
        double way[3] = {0.0, 0.0, 0.0};
        for (uint64_t a = 0; a < 3; a++) {
            const uint64_t seed = lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, s->def->seed), a + 1);
            const lm_dvec3 p = dvec_scale(s->vertices[n], 1.0 / length);
            way[a] = most * (2.0 / 3.0 * noise(seed, p) + 1.0 / 3.0 * noise(seed + 7, dvec_scale(p, 2.0)));
        }
        s->vertices[n] = dvec_add(s->vertices[n], dvec(way[0], way[1], way[2]));
    }
}

/* --- all of it --- */

/* Cuts a cell out of what is left. */
static lm_result cut_cell(shatter *s, uint32_t cell, lm_cut_info *info, bool *refused)
{
    const double rough = (double)s->def->roughness;
    bool ok =
        make_cell(s, cell) && take_faces(s) && (!(rough > 0.0) || divide(s, lmi_max(2.0 * rough, 0.25 * s->step)));
    lmi_convex_free(&s->cell, s->memory);
    if (!ok) {
        return LM_ERROR_MEMORY;
    }
    if (rough > 0.0) {
        roughen(s);
    }
    for (uint32_t n = 0; n < s->vertex_count; n++) {
        s->vertices[n] = dvec_add(s->vertices[n], s->base);
    }
    lm_blade blade = lm_blade_default();
    blade.vertices = s->vertices;
    blade.vertex_count = s->vertex_count;
    blade.triangles = s->triangles ? s->triangles[0] : NULL;
    blade.triangle_count = s->triangle_count;
    blade.finest = s->def->finest;
    blade.material = s->def->material;
    blade.pieces = s->cut;
    blade.piece_count = s->piece_count;
    lm_cut_info one;
    lm_result result = s->triangle_count ? lmi_body_cut(s->world, s->body, &blade, &one, refused) : LM_OK;
    if (result == LM_OK && s->triangle_count && !*refused) {
        const uint32_t links = info->links, found = info->regions_found;
        *info = one;
        info->links += links;
        info->regions_found += found;
    }
    return result;
}

/* Where a blade meets a skin so that it cannot be cut along it, as in the corner of earlier cuts, it is tried again with the point
 * moved a little. What cannot be cut at all stays with the cells after it: better than a skin that is cut in steps everywhere. */
static lm_result try_cell(shatter *s, uint32_t cell, lm_cut_info *info)
{
    const lm_dvec3 point = s->points[cell];
    bool refused = true;
    lm_result result = LM_OK;
    for (uint64_t n = 0; result == LM_OK && refused && n < TRIES; n++) {
        double by[3];
        for (uint64_t a = 0; a < 3; a++) {
            by[a] = n ? (chance(s->def->seed, cell, 8 + 3 * n + a) - 0.5) * s->step * TRY_STEP : 0.0;
        }
        s->points[cell] = dvec_add(point, dvec(by[0], by[1], by[2]));
        refused = false;
        result = cut_cell(s, cell, info, &refused);
    }
    return result;
}

static lm_result cut_cells(shatter *s, lm_cut_info *info)
{
    lm_result result = LM_OK;
    for (uint32_t cell = 0; result == LM_OK && cell + 1 < s->def->count; cell++) {
        const uint32_t pieces = s->piece_count, room = s->piece_room;
        if (pieces > room) {
            lmi_release(s->memory, s->cut, room, sizeof *s->cut);
            s->piece_room = pieces + LM_MAX_SHATTER;
            s->cut = lmi_allocate(s->memory, s->piece_room, sizeof *s->cut);
        }
        uint32_t *votes = lmi_allocate(s->memory, (size_t)2 * pieces, sizeof *votes);
        bool any = false;
        result = s->cut && votes ? LM_OK : LM_ERROR_MEMORY;
        if (result == LM_OK && find_left(s, cell, &any, votes)) {
            result = try_cell(s, cell, info);
            result = result == LM_OK && !take_particles(s) ? LM_ERROR_MEMORY : result;
        }
        lmi_release(s->memory, votes, (size_t)2 * pieces, sizeof *votes);
    }
    return result;
}

lm_result lm_body_shatter(lm_world *world, lm_body_id id, const lm_shatter_def *def, lm_cut_info *info)
{
    lm_cut_info none;
    lm_body_info about;
    info = info ? info : &none;
    memset(info, 0, sizeof *info);
    if (lm_body_get_info(world, id, &about) != LM_OK) {
        return LM_ERROR_ID;
    }
    const char *fault = fault_of(def);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_shatter: %s", fault);
    }
    shatter s = {.world = world, .memory = &world->memory, .body = id, .def = def, .base = about.centre};
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    s.points = lmi_allocate(s.memory, def->count, sizeof *s.points);
    lm_result result = s.points && take_particles(&s) ? LM_OK : LM_ERROR_MEMORY;
    if (result == LM_OK) {
        info->particles = about.particles;
        info->parts = about.pieces;
        measure(&s, &about);
        for (uint32_t n = 0; def->points && n < def->count; n++) {
            s.points[n] = dvec_sub(def->points[n], s.base);
        }
        if (!def->points) {
            draw_points(&s);
        }
        result = s.step > 0.0 ? cut_cells(&s, info) : LM_OK;
    }
    lmi_float_mode_leave(&host);
    lmi_release(s.memory, s.points, def->count, sizeof *s.points);
    lmi_release(s.memory, s.at, s.room, sizeof *s.at);
    lmi_release(s.memory, s.masses, s.room, sizeof *s.masses);
    lmi_release(s.memory, s.piece, s.room, sizeof *s.piece);
    lmi_release(s.memory, s.cut, s.piece_room, sizeof *s.cut);
    lmi_release(s.memory, s.vertices, s.vertex_room, sizeof *s.vertices);
    lmi_release(s.memory, s.triangles, s.triangle_room, sizeof *s.triangles);
    return result == LM_OK
               ? LM_OK
               : lmi_fail(world, result, "lm_body_shatter: %s; pieces that came off are off", lm_result_text(result));
}
