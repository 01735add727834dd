/* Frames out of a world. */
#include "limber/capture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An array that keeps its memory. */
typedef struct room {
    void *bytes;
    size_t capacity;
} room;

enum {
    POSITIONS,
    NORMALS,
    COLOURS,
    UVS,
    TRIANGLES,
    REST,
    CENTRES,
    SOURCES, /* of the surface */
    PLACES,
    VELOCITIES,
    MASSES,
    STRAINS,
    STRETCHES,
    STRESSES,
    MISES,
    REGIONS,
    PIECES,
    TETS,
    TRANSFORMS,
    OFFSETS,
    MEMBERS,
    PLACES_AT_REST,
    SKIN_AT_REST,
    ROOMS
};

typedef struct captured {
    lm_capture_body body;
    room rooms[ROOMS];
    uint64_t known; /* shape_hash of what is taken only when that has changed */
    uint64_t topology;
    bool is_known;
    lm_seams divided; /* the surface along its seams, where it has texture coordinates of corners */
    room rooms_divided[ROOMS];
} captured;

struct lm_capture {
    uint32_t count;
    captured *bodies;
    lm_export_body *out;
};

lm_capture *lm_capture_create(const lm_capture_body *bodies, uint32_t count)
{
    lm_capture *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    c->count = count;
    c->bodies = calloc(count + 1u, sizeof *c->bodies);
    c->out = calloc(count + 1u, sizeof *c->out);
    if (c->bodies == NULL || c->out == NULL) {
        lm_capture_destroy(c);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        c->bodies[i].body = bodies[i];
    }
    return c;
}

void lm_capture_destroy(lm_capture *c)
{
    for (uint32_t i = 0; c != NULL && c->bodies != NULL && i < c->count; i++) {
        for (int r = 0; r < ROOMS; r++) {
            free(c->bodies[i].rooms[r].bytes);
            free(c->bodies[i].rooms_divided[r].bytes);
        }
        lm_seams_free(&c->bodies[i].divided);
    }
    if (c != NULL) {
        free(c->bodies);
        free(c->out);
        free(c);
    }
}

/* Room for `count` elements, or null; what was there is lost when it grows. */
static void *reserve_in(room *r, size_t count, size_t size)
{
    size_t bytes = count * size + 1u;
    if (r->capacity < bytes) {
        free(r->bytes);
        r->bytes = malloc(bytes);
        r->capacity = r->bytes != NULL ? bytes : 0;
    }
    return r->bytes;
}

static void *reserve(captured *c, int which, size_t count, size_t size)
{
    return reserve_in(&c->rooms[which], count, size);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Surfaces
 */

/* Cut faces are paler than the surface, and warm, as in pictures that are drawn of them. */
static void inner_colour(const uint8_t *surface, uint8_t *to)
{
    static const int pale[3] = {231, 205, 173};
    for (int c = 0; c < 3; c++) {
        to[c] = (uint8_t)((surface[c] + 3 * pale[c] + 2) / 4);
    }
}

/* Colours and texture coordinates of vertices, by those that they had when the surface was given. */
static lm_result spread(captured *c, const lm_world *world, lm_export_body *out)
{
    const lm_capture_body *b = &c->body;
    uint32_t count = out->vertex_count;
    bool one = b->colour_count == 1;
    uint32_t *sources = reserve(c, SOURCES, count, sizeof *sources);
    uint8_t *colours = b->colours != NULL ? reserve(c, COLOURS, count, 3) : NULL;
    float *uvs = b->uvs != NULL ? reserve(c, UVS, count, 2 * sizeof *uvs) : NULL;
    if (sources == NULL || (b->colours != NULL && colours == NULL) || (b->uvs != NULL && uvs == NULL)) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = i;
    }
    lm_result result = out->triangle_count > 0 ? lm_body_get_skin_sources(world, b->id, sources) : LM_OK;
    for (uint32_t i = 0; result == LM_OK && colours != NULL && i < count; i++) {
        uint32_t source = sources[i];
        bool inner = source == LM_SKIN_INNER;
        const uint8_t *rgb = b->colours + (one || inner || source >= b->colour_count ? 0 : 3u * (size_t)source);
        if (inner) {
            inner_colour(rgb, colours + 3u * (size_t)i);
        } else {
            memcpy(colours + 3u * (size_t)i, rgb, 3);
        }
    }
    for (uint32_t i = 0; result == LM_OK && uvs != NULL && i < count; i++) {
        bool has = sources[i] < b->uv_count;
        uvs[2u * (size_t)i] = has ? b->uvs[2u * (size_t)sources[i]] : 0.0f;
        uvs[2u * (size_t)i + 1] = has ? b->uvs[2u * (size_t)sources[i] + 1] : 0.0f;
    }
    out->colours = colours;
    out->uvs = uvs;
    return result;
}

/* FNV-1a, a word at a time. Not shape_hash: level of detail changes that of a body whose surface stays. */
static uint64_t hash_topology(const lm_export_body *out)
{
    const uint64_t prime = 0x100000001b3u;
    uint64_t hash = (0xcbf29ce484222325u ^ out->vertex_count) * prime;
    for (size_t i = 0; i < 3u * (size_t)out->triangle_count; i++) {
        hash = (hash ^ out->triangles[i]) * prime;
    }
    return hash;
}

static lm_result find_seams(captured *c, const lm_world *world, const lm_export_body *out)
{
    const uint32_t *sources = c->rooms[SOURCES].bytes;
    lm_vec3 *rest = reserve(c, SKIN_AT_REST, out->vertex_count, sizeof *rest);
    lm_result result = rest != NULL ? lm_body_get_skin_rest(world, c->body.id, rest) : LM_ERROR_MEMORY;
    bool made = result == LM_OK && lm_seams_make(&c->body.seams, sources, rest, out->vertex_count, out->triangles,
                                                 out->triangle_count, &c->divided);
    return result == LM_OK && !made ? LM_ERROR_MEMORY : result;
}

/* What stays as long as the surface is the same. */
static lm_result take_topology(captured *c, const lm_world *world, lm_export_body *out)
{
    lm_result result = spread(c, world, out);
    uint32_t *triangles = reserve(c, TRIANGLES, 3u * (size_t)out->triangle_count, sizeof *triangles);
    if (triangles == NULL) {
        return LM_ERROR_MEMORY;
    }
    out->triangles = triangles;
    if (result == LM_OK && out->triangle_count > 0) {
        result = lm_body_get_skin_triangles(world, c->body.id, triangles);
    }
    lm_seams_free(&c->divided);
    if (result == LM_OK && out->triangle_count > 0 && c->body.seams.uvs != NULL) {
        result = find_seams(c, world, out);
    }
    c->topology = hash_topology(out);
    return result;
}

/* The values of the skin's vertices for those of the divided surface. */
static const void *divide(captured *c, int which, const void *from, size_t size)
{
    if (from == NULL) {
        return NULL;
    }
    unsigned char *to = reserve_in(&c->rooms_divided[which], c->divided.vertex_count, size);
    for (uint32_t i = 0; to != NULL && i < c->divided.vertex_count; i++) {
        memcpy(to + i * size, (const unsigned char *)from + c->divided.vertices[i] * size, size);
    }
    return to;
}

/* The body as it was taken, divided along its seams. */
static lm_result divide_surface(captured *c, unsigned wants, lm_export_body *out)
{
    const lm_export_body skin = *out;
    out->positions = divide(c, POSITIONS, skin.positions, sizeof *skin.positions);
    out->normals = divide(c, NORMALS, skin.normals, sizeof *skin.normals);
    out->colours = divide(c, COLOURS, skin.colours, 3);
    out->rest = wants & LM_EXPORT_REST ? divide(c, REST, c->rooms[REST].bytes, sizeof *skin.rest) : NULL;
    out->uvs = c->divided.uvs;
    out->triangles = c->divided.triangles;
    out->vertex_count = c->divided.vertex_count;
    bool whole = out->positions != NULL && (skin.normals == NULL || out->normals != NULL) &&
                 (skin.colours == NULL || out->colours != NULL) && (!(wants & LM_EXPORT_REST) || out->rest != NULL);
    return whole ? LM_OK : LM_ERROR_MEMORY;
}

static lm_result take_surface(captured *c, const lm_world *world, lm_export_body *out)
{
    bool skinned = out->triangle_count > 0;
    lm_vec3 *positions = reserve(c, POSITIONS, out->vertex_count, sizeof *positions);
    lm_vec3 *normals = skinned ? reserve(c, NORMALS, out->vertex_count, sizeof *normals) : NULL;
    if (positions == NULL || (skinned && normals == NULL)) {
        return LM_ERROR_MEMORY;
    }
    out->positions = positions;
    out->normals = normals;
    return skinned ? lm_body_get_skin(world, c->body.id, lm_dvec3_zero(), positions, normals)
                   : lm_body_get_positions(world, c->body.id, lm_dvec3_zero(), positions);
}

static lm_result take_transforms(captured *c, const lm_world *world, const lm_body_info *info)
{
    lm_region_transform *transforms = reserve(c, TRANSFORMS, info->regions, sizeof *transforms);
    if (transforms == NULL) {
        return LM_ERROR_MEMORY;
    }
    return info->regions > 0 ? lm_body_get_region_transforms(world, c->body.id, lm_dvec3_zero(), transforms) : LM_OK;
}

static lm_result take_rest(captured *c, const lm_world *world, const lm_body_info *info, lm_export_body *out)
{
    lm_vec3 *rest = reserve(c, REST, out->vertex_count, sizeof *rest);
    lm_vec3 *centres = reserve(c, CENTRES, info->regions, sizeof *centres);
    if (rest == NULL || centres == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_result result = take_transforms(c, world, info);
    const lm_region_transform *transforms = c->rooms[TRANSFORMS].bytes;
    for (uint32_t i = 0; result == LM_OK && i < info->regions; i++) {
        centres[i] = transforms[i].centre;
    }
    out->rest = rest;
    out->centres = centres;
    out->centre_count = info->regions;
    if (result != LM_OK) {
        return result;
    }
    return out->triangle_count > 0 ? lm_body_get_skin_rest(world, c->body.id, rest)
                                   : lm_body_get_rest_positions(world, c->body.id, rest);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Particles
 */

/* For each particle the region that it is nearest to the middle of. Needs the transforms. */
static lm_result find_regions(captured *c, const lm_world *world, const lm_body_info *info)
{
    uint32_t *regions = reserve(c, REGIONS, info->particles, sizeof *regions);
    uint32_t *offsets = reserve(c, OFFSETS, info->regions + 1u, sizeof *offsets);
    uint32_t *members = reserve(c, MEMBERS, (size_t)info->memberships, sizeof *members);
    lm_vec3 *places = reserve(c, PLACES_AT_REST, info->particles, sizeof *places);
    float *nearest = malloc((info->particles + 1u) * sizeof *nearest);
    lm_result result = regions != NULL && offsets != NULL && members != NULL && places != NULL && nearest != NULL
                           ? lm_body_get_rest_positions(world, c->body.id, places)
                           : LM_ERROR_MEMORY;
    if (result == LM_OK && info->regions > 0) {
        result = lm_body_get_regions(world, c->body.id, offsets, members);
    }
    for (uint32_t i = 0; result == LM_OK && i < info->particles; i++) {
        regions[i] = LM_EXPORT_NO_REGION;
        nearest[i] = INFINITY;
    }
    const lm_region_transform *transforms = c->rooms[TRANSFORMS].bytes;
    for (uint32_t r = 0; result == LM_OK && r < info->regions; r++) {
        lm_vec3 middle = transforms[r].centre;
        for (uint32_t k = offsets[r]; k < offsets[r + 1]; k++) {
            lm_vec3 p = places[members[k]];
            float x = p.x - middle.x, y = p.y - middle.y, z = p.z - middle.z, squared = x * x + y * y + z * z;
            if (squared < nearest[members[k]]) {
                nearest[members[k]] = squared;
                regions[members[k]] = r;
            }
        }
    }
    free(nearest);
    free(c->rooms[MEMBERS].bytes); /* the largest of all, and needed here only */
    c->rooms[MEMBERS] = (room){.bytes = NULL};
    return result;
}

/* The roots of a symmetric matrix's eigenvalues that are smallest and largest, by the cosine formula. */
static void extreme_stretches(const double m[6], double *least, double *most)
{
    double mean = (m[0] + m[1] + m[2]) / 3.0, a = m[0] - mean, b = m[1] - mean, c = m[2] - mean;
    double off = m[3] * m[3] + m[4] * m[4] + m[5] * m[5], p = sqrt((a * a + b * b + c * c + 2.0 * off) / 6.0);
    *least = *most = sqrt(fmax(mean, 0.0));
    if (p > 1e-12 * fabs(mean)) {
        double half = (a * (b * c - m[4] * m[4]) - m[3] * (m[3] * c - m[4] * m[5]) + m[5] * (m[3] * m[4] - b * m[5])) /
                      (2.0 * p * p * p);
        double angle = acos(fmin(fmax(half, -1.0), 1.0)) / 3.0;
        *most = sqrt(fmax(mean + 2.0 * p * cos(angle), 0.0));
        *least = sqrt(fmax(mean + 2.0 * p * cos(angle + 2.0943951023931953), 0.0));
    }
}

/* Of the map x = A q: (A^T A - 1) / 2, and the stretch farthest from 1, less 1. */
static float measure_strain(const float a[9], float strain[6])
{
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    double m[6], least, most;
    for (int n = 0; n < 6; n++) {
        m[n] = 0.0;
        for (int row = 0; row < 3; row++) {
            m[n] += (double)a[3 * row + at[n][0]] * (double)a[3 * row + at[n][1]];
        }
        strain[n] = (float)(0.5 * (m[n] - (n < 3 ? 1.0 : 0.0)));
    }
    extreme_stretches(m, &least, &most);
    return (float)(most - 1.0 >= 1.0 - least ? most - 1.0 : least - 1.0);
}

static lm_result take_strains(captured *c, const lm_body_info *info, lm_export_particles *out)
{
    float *strains = reserve(c, STRAINS, 6u * (size_t)info->particles, sizeof *strains);
    float *stretches = reserve(c, STRETCHES, info->particles, sizeof *stretches);
    if (strains == NULL || stretches == NULL) {
        return LM_ERROR_MEMORY;
    }
    const uint32_t *regions = c->rooms[REGIONS].bytes;
    const lm_region_transform *transforms = c->rooms[TRANSFORMS].bytes;
    for (uint32_t i = 0; i < info->particles; i++) {
        float *strain = strains + 6u * (size_t)i;
        memset(strain, 0, 6 * sizeof *strain);
        stretches[i] = 0.0f;
        if (regions[i] != LM_EXPORT_NO_REGION) {
            stretches[i] = measure_strain(transforms[regions[i]].linear, strain);
        }
    }
    out->strains = strains;
    out->stretches = stretches;
    out->regions = regions;
    return LM_OK;
}

static lm_result take_particles(captured *c, const lm_world *world, const lm_body_info *info, lm_export_particles *out)
{
    lm_body_id id = c->body.id;
    uint32_t count = info->particles;
    lm_vec3 *places = reserve(c, PLACES, count, sizeof *places);
    lm_vec3 *velocities = reserve(c, VELOCITIES, count, sizeof *velocities);
    float *masses = reserve(c, MASSES, count, sizeof *masses);
    uint32_t *pieces = reserve(c, PIECES, count, sizeof *pieces);
    uint32_t *tets = reserve(c, TETS, 4u * (size_t)info->tets, sizeof *tets);
    if (places == NULL || velocities == NULL || masses == NULL || pieces == NULL || tets == NULL) {
        return LM_ERROR_MEMORY;
    }
    *out = (lm_export_particles){.count = count,
                                 .positions = places,
                                 .velocities = velocities,
                                 .masses = masses,
                                 .pieces = pieces,
                                 .tets = info->tets > 0 ? tets : NULL,
                                 .tet_count = info->tets};
    lm_result result = lm_body_get_positions(world, id, lm_dvec3_zero(), places);
    result = result ? result : lm_body_get_velocities(world, id, velocities);
    result = result ? result : lm_body_get_masses(world, id, masses);
    result = result ? result : lm_body_get_pieces(world, id, pieces);
    result = result || info->tets == 0 ? result : lm_body_get_tets(world, id, tets);
    result = result ? result : take_transforms(c, world, info);
    if (result == LM_OK && (!c->is_known || c->known != info->shape_hash)) {
        result = find_regions(c, world, info);
    }
    result = result ? result : take_strains(c, info, out);
    float *stresses = reserve(c, STRESSES, 6u * (size_t)count, sizeof *stresses);
    float *mises = reserve(c, MISES, count, sizeof *mises);
    if (stresses == NULL || mises == NULL) {
        return LM_ERROR_MEMORY;
    }
    out->stresses = stresses;
    out->von_mises = mises;
    lm_world *lender = (lm_world *)(uintptr_t)world; /* of memory, for the time of the call */
    return result ? result : lm_body_get_stress(lender, id, stresses, mises);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Axes
 */

/* A quarter turn about X: Y becomes Z. */
static void turn(void *vectors, uint32_t count)
{
    lm_vec3 *v = vectors;
    for (uint32_t i = 0; v != NULL && i < count; i++) {
        v[i] = (lm_vec3){v[i].x, -v[i].z, v[i].y};
    }
}

static void turn_float(lm_vec3 *v) { turn(v, 1); }

static void turn_double(lm_dvec3 *v) { *v = (lm_dvec3){v->x, -v->z, v->y}; }

static void turn_info(lm_body_info *info)
{
    turn_double(&info->centre);
    turn_float(&info->velocity);
    turn_float(&info->angular_momentum);
    turn_float(&info->spin);
    double front = info->upper.z; /* becomes the lower end of Y */
    turn_double(&info->lower);
    turn_double(&info->upper);
    info->upper.y = info->lower.y;
    info->lower.y = -front;
}

/* The same for symmetric tensors, xx yy zz xy yz zx. */
static void turn_tensors(float *t, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, t += 6) {
        const float turned[6] = {t[0], t[2], t[1], -t[5], -t[4], t[3]};
        memcpy(t, turned, sizeof turned);
    }
}

/* Strains stay along the axes of the body at rest, which has no up. */
static void turn_body(captured *c, unsigned wants, lm_export_body *out)
{
    if (wants & LM_EXPORT_SURFACE) {
        turn(c->rooms[POSITIONS].bytes, out->vertex_count);
        turn(out->normals != NULL ? c->rooms[NORMALS].bytes : NULL, out->vertex_count);
    }
    if (wants & LM_EXPORT_REST) {
        turn(c->rooms[REST].bytes, out->vertex_count);
        turn(c->rooms[CENTRES].bytes, out->centre_count);
    }
    if (wants & LM_EXPORT_PARTICLES) {
        turn(c->rooms[PLACES].bytes, out->particles.count);
        turn(c->rooms[VELOCITIES].bytes, out->particles.count);
        turn_tensors(c->rooms[STRESSES].bytes, out->particles.count);
    }
    turn_info(&out->info);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Frames
 */

static lm_result take_body(captured *c, const lm_world *world, unsigned wants, bool z_up, lm_export_body *out)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, c->body.id, &info);
    if (result != LM_OK) {
        return result;
    }
    bool same = c->is_known && c->known == info.shape_hash;
    out->name = c->body.name;
    out->vertex_count = info.skin_triangles > 0 ? info.skin_vertices : info.particles;
    out->triangle_count = info.skin_triangles;
    out->info = info;
    if (!same && (wants & LM_EXPORT_SURFACE)) {
        result = take_topology(c, world, out);
    } else if (wants & LM_EXPORT_SURFACE && c->divided.vertices != NULL) { /* not the divided ones of the last frame */
        out->colours = c->body.colours != NULL ? c->rooms[COLOURS].bytes : NULL;
    }
    result = result || !(wants & LM_EXPORT_SURFACE) ? result : take_surface(c, world, out);
    result = result || same || !(wants & LM_EXPORT_REST) ? result : take_rest(c, world, &info, out);
    /* Particles without a surface are numbered again when they change. */
    out->shape = info.skin_triangles > 0 && (wants & LM_EXPORT_SURFACE) ? c->topology : info.shape_hash;
    result = result || !(wants & LM_EXPORT_PARTICLES) ? result : take_particles(c, world, &info, &out->particles);
    if (result == LM_OK && z_up) {
        turn_body(c, same ? wants & ~(unsigned)LM_EXPORT_REST : wants, out);
    }
    c->known = info.shape_hash;
    c->is_known = result == LM_OK;
    if (result == LM_OK && (wants & LM_EXPORT_SURFACE) && c->divided.vertices != NULL) {
        result = divide_surface(c, wants, out);
    }
    return result;
}

lm_result lm_capture_take(lm_capture *c, const lm_world *world, unsigned wants, bool z_up, lm_export_frame *frame)
{
    for (uint32_t i = 0; i < c->count; i++) {
        lm_result result = take_body(&c->bodies[i], world, wants, z_up, &c->out[i]);
        if (result != LM_OK) {
            return result;
        }
    }
    *frame = (lm_export_frame){.time = lm_world_get_time(world), .bodies = c->out, .body_count = c->count};
    return LM_OK;
}
