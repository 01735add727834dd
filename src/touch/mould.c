/*
 * Moulds (touch/mould.h): distances around a rest shape, who shares a mould, and the touch points of its bodies. Carriers are in
 * mould_carriers.c.
 */
#include "touch/mould.h"
#include "base/hash.h"
#include "geometry/distance.h"
#include "lattice/lattice_body.h"
#include "octree/mould_octree.h"
#include "touch/depth.h"
#include "world/world.h"

#include <string.h>

#define GRID_CELLS 16.0  /* of the distance, along the longest side */
#define THIN_CELLS 4.0   /* through what is thin */
#define MOST_CELLS 256.0 /* along the longest side of a thin body */
#define MOST_NODES 262144.0

/* --- distance --- */

static void bounds_of(const lm_vec3 *points, uint32_t count, lm_dvec3 *low, lm_dvec3 *high)
{
    *low = *high = dvec_from(points[0]);
    for (uint32_t n = 1; n < count; n++) {
        lm_dvec3 p = dvec_from(points[n]);
        *low = dvec(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        *high = dvec(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
    }
}

/* About the distance between neighbouring particles of a cloud. */
static double cloud_spacing(lm_dvec3 size, uint32_t count)
{
    double spacing = fmax(size.x, fmax(size.y, size.z));
    for (int n = 0; n < 64 && spacing > 0.0; n++) {
        double fit = (size.x / spacing + 1.0) * (size.y / spacing + 1.0) * (size.z / spacing + 1.0);
        if (fit >= count) {
            break;
        }
        spacing *= 0.9;
    }
    return spacing;
}

/* About how thick a body is: what a plate with as much volume and surface would be. A surface that encloses nothing has no thickness. */
static double thickness_of(const lmi_mould *s, lm_dvec3 middle)
{
    double volume = 0.0, area = 0.0;
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        lm_dvec3 corner[3];
        for (uint32_t k = 0; k < 3; k++) {
            corner[k] = dvec_sub(dvec_from(s->vertices[s->triangles[3 * n + k]]), middle);
        }
        lm_dvec3 normal = dvec_cross(dvec_sub(corner[1], corner[0]), dvec_sub(corner[2], corner[0]));
        volume += dvec_dot(corner[0], normal) / 6.0;
        area += 0.5 * dvec_length(normal);
    }
    return area > 0.0 ? 2.0 * fabs(volume) / area : 0.0;
}

/* Cells of the distance: so many along the longest side, and four through what is thin, as far as memory allows. */
static double fineness(const double extent[3], double longest, double thick)
{
    double cell = longest / GRID_CELLS, least = fmax(thick / THIN_CELLS, longest / MOST_CELLS);
    while (least < cell) {
        double nodes = 1.0;
        for (int a = 0; a < 3; a++) {
            nodes *= extent[a] / least + 6.0;
        }
        if (nodes <= MOST_NODES) {
            return least;
        }
        least *= 1.1;
    }
    return cell;
}

/* `points`: of the mesh, or where balls are. */
static bool make_distance_of(lm_world *world, const lmi_body *body, const lm_vec3 *points, uint32_t point_count,
                             lmi_mould *s)
{
    lm_dvec3 low, high;
    bool mesh = s->triangle_count > 0;
    bounds_of(points, point_count, &low, &high);
    lm_dvec3 size = dvec_sub(high, low);
    double longest = fmax(size.x, fmax(size.y, size.z)), radius = 0.0;
    if (!mesh) {
        radius = fmax(body->contact_radius, 0.7 * cloud_spacing(size, point_count));
        radius = radius > 0.0 ? radius : 0.01;
        longest += 2.0 * radius;
    }
    s->radius = radius;
    s->spacing = cloud_spacing(size, body->particle_count);
    longest = longest > 0.0 ? longest : 0.01; /* a surface that is all in one point */
    double extent[3] = {size.x, size.y, size.z}, shortest = fmin(size.x, fmin(size.y, size.z));
    double middle = size.x + size.y + size.z - shortest - fmax(size.x, fmax(size.y, size.z));
    /* A rod of particles has too few of them across for carriers as near to each other as it is thick; a sheet has enough. */
    double thick = mesh                                       ? thickness_of(s, dvec_scale(dvec_add(low, high), 0.5))
                   : middle > 2.0 * (shortest + 2.0 * radius) ? shortest + 2.0 * radius
                                                              : longest;
    s->cell = fineness(extent, longest, mesh ? thick : THIN_CELLS * radius);
    s->deep = longest / 8.0;
    s->coarse = fmin(longest / 6.0, fmax(thick, s->cell));
    double margin = 2.0 * s->cell + radius;
    s->first = dvec_sub(low, dvec(margin, margin, margin));
    for (int a = 0; a < 3; a++) {
        s->n[a] = (uint32_t)ceil((extent[a] + 2.0 * margin) / s->cell) + 1;
    }
    lmi_nodes nodes = {s->first, s->cell, {s->n[0], s->n[1], s->n[2]}, NULL};
    s->distance = lmi_allocate(&world->memory, (size_t)s->n[0] * s->n[1] * s->n[2], sizeof *s->distance);
    nodes.distance = s->distance;
    if (!s->distance) {
        return false;
    }
    if (mesh) {
        lmi_touch_mesh of = {s->vertices, s->triangles, s->vertex_count, s->triangle_count};
        float pad = (float)fmax(s->cell - 0.5 * thick, 0.0); /* thinner than the cells can tell */
        bool ok = lmi_distance_mesh(&world->memory, &of, &nodes);
        for (size_t n = 0; ok && pad > 0.0f && n < (size_t)s->n[0] * s->n[1] * s->n[2]; n++) {
            s->distance[n] -= pad;
        }
        return ok;
    }
    return lmi_distance_balls(&world->memory, points, point_count, radius, &nodes);
}

static bool make_distance(lm_world *world, const lmi_body *body, lmi_mould *s)
{
    if (s->vertex_count > 0) {
        return make_distance_of(world, body, s->vertices, s->vertex_count, s);
    }
    lm_vec3 *points = lmi_allocate(&world->memory, body->particle_count, sizeof *points);
    for (uint32_t n = 0; points && n < body->particle_count; n++) {
        points[n] = body->rest[body->place[n]]; /* a lattice has places without particles */
    }
    bool ok = points && make_distance_of(world, body, points, body->particle_count, s);
    lmi_release(&world->memory, points, body->particle_count, sizeof *points);
    return ok;
}

double lmi_mould_distance(const lmi_mould *s, lm_dvec3 rest)
{
    double at[3] = {(rest.x - s->first.x) / s->cell, (rest.y - s->first.y) / s->cell, (rest.z - s->first.z) / s->cell};
    double t[3], beyond = 0.0;
    size_t i[3], row = s->n[0], plane = row * s->n[1];
    for (int a = 0; a < 3; a++) { /* outside the grid: the distance at its border and from there on */
        double most = (double)s->n[a] - 1.0, inside = fmin(fmax(at[a], 0.0), most);
        beyond = fmax(beyond, fabs(at[a] - inside) * s->cell);
        i[a] = (size_t)fmin(floor(inside), most - 1.0);
        t[a] = inside - (double)i[a];
    }
    const float *d = s->distance + i[2] * plane + i[1] * row + i[0];
    double sum = 0.0;
    for (int n = 0; n < 8; n++) {
        double w = (n & 1 ? t[0] : 1.0 - t[0]) * (n & 2 ? t[1] : 1.0 - t[1]) * (n & 4 ? t[2] : 1.0 - t[2]);
        sum += w * d[(n & 1 ? 1 : 0) + (n & 2 ? row : 0) + (n & 4 ? plane : 0)];
    }
    return sum + beyond;
}

float lmi_mould_slope(const lmi_mould *s, lm_vec3 rest, lm_vec3 *slope)
{
    const float first[3] = {(float)s->first.x, (float)s->first.y, (float)s->first.z}, by = (float)(1.0 / s->cell);
    float at[3] = {(rest.x - first[0]) * by, (rest.y - first[1]) * by, (rest.z - first[2]) * by}, t[3], beyond = 0.0f;
    size_t i[3], row = s->n[0], plane = row * s->n[1];
    for (int a = 0; a < 3; a++) { /* outside the grid: the distance at its border and from there on */
        float most = (float)(s->n[a] - 1), inside = at[a] > 0.0f ? at[a] : 0.0f;
        inside = inside < most ? inside : most;
        float off = fabsf(at[a] - inside);
        beyond = off > beyond ? off : beyond;
        int32_t cell = (int32_t)inside;
        cell = cell < (int32_t)s->n[a] - 2 ? cell : (int32_t)s->n[a] - 2;
        i[a] = (size_t)cell;
        t[a] = inside - (float)cell;
    }
    const float *d = s->distance + i[2] * plane + i[1] * row + i[0], *e = d + plane;
    const float nodes[8] = {d[0], d[1], d[row], d[row + 1], e[0], e[1], e[row], e[row + 1]};
    return lmi_distance_between(nodes, t, by, slope) + beyond * (float)s->cell;
}

static lm_vec3 along(lm_vec3 from, lm_vec3 way, float by)
{
    return (lm_vec3){from.x + by * way.x, from.y + by * way.y, from.z + by * way.z};
}

static float dot(lm_vec3 a, lm_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

float lmi_mould_recall(const lmi_mould *s, lm_vec3 rest, lm_vec3 out, lm_vec3 *slope)
{
    lm_vec3 nearest;
    float distance = lmi_mould_slope(s, rest, &nearest);
    *slope = nearest;
    if (!lmi_turned_over(dot(nearest, out), sqrtf(dot(nearest, nearest)))) {
        return distance;
    }
    float at = 0.0f, now = distance, least = 0.1f * (float)s->cell, most = 2.0f * (float)s->deep;
    bool was_in = now < 0.0f;
    for (int n = 0; n < LMI_RECALL_STEPS && at < most; n++) {
        float step = fabsf(now) > least ? fabsf(now) : least, before = now;
        lm_vec3 there;
        now = lmi_mould_slope(s, along(rest, out, at + step), &there);
        if (was_in && now >= 0.0f) {
            at += step * before / (before - now);
            float steep = dot(there, out);
            if (!(steep > LMI_SAME_WAY)) {
                break;
            }
            *slope = there;
            return -at * steep;
        }
        was_in = was_in || now < 0.0f;
        at += step;
    }
    *slope = nearest;
    return distance;
}

/* --- sharing --- */

/* Of all that a mould depends on but the mesh. */
static uint64_t hash_particles(const lmi_body *body, const lmi_touch_mesh *mesh)
{
    const lmi_lattice *l = body->lattice ? &body->lattice->shape : NULL;
    uint64_t hash = lmi_hash_word(LMI_HASH_SEED, body->place_count);
    hash = lmi_hash_word(hash, body->particle_count);
    hash = lmi_hash_bytes(hash, (const unsigned char *)body->rest, body->place_count * sizeof *body->rest);
    hash = lmi_hash_bytes(hash, (const unsigned char *)body->order, body->place_count * sizeof *body->order);
    if (l) {
        hash = lmi_hash_bytes(hash, (const unsigned char *)&l->spacing, sizeof l->spacing);
        hash = lmi_hash_bytes(hash, (const unsigned char *)l->cell, body->place_count / LMI_BLOCK * sizeof *l->cell);
    }
    if (mesh->triangle_count == 0) { /* then the balls may be as large as this */
        hash = lmi_hash_bytes(hash, (const unsigned char *)&body->contact_radius, sizeof body->contact_radius);
    }
    return lmi_hash_word(hash, l != NULL);
}

static bool is_mould_of(const lmi_mould *s, const lmi_body *body, uint64_t hash, const lmi_touch_mesh *mesh)
{
    uint32_t vertices = mesh->triangle_count ? mesh->vertex_count : 0;
    return s->hash == hash && s->place_count == body->place_count && s->vertex_count == vertices &&
           s->triangle_count == mesh->triangle_count &&
           (vertices == 0 ||
            (memcmp(s->vertices, mesh->vertices, vertices * sizeof *s->vertices) == 0 &&
             memcmp(s->triangles, mesh->triangles, (size_t)s->triangle_count * 3 * sizeof *s->triangles) == 0));
}

lmi_mould *lmi_mould_of_mesh(lm_world *world, uint32_t vertex_count, uint32_t triangle_count)
{
    lmi_memory *memory = &world->memory;
    lmi_mould *mould = lmi_allocate(memory, 1, sizeof *mould);
    if (!mould) {
        return NULL;
    }
    *mould = (lmi_mould){.vertex_count = vertex_count, .triangle_count = triangle_count, .users = 1};
    mould->vertices = lmi_allocate(memory, vertex_count, sizeof *mould->vertices);
    mould->triangles = lmi_allocate(memory, (size_t)triangle_count * 3, sizeof *mould->triangles);
    if (!mould->vertices || !mould->triangles) {
        lmi_mould_give(world, mould);
        return NULL;
    }
    return mould;
}

static lmi_mould *make_mould(lm_world *world, const lmi_body *body, const lmi_touch_mesh *mesh)
{
    uint32_t count = mesh->triangle_count > 0 || body->octree ? mesh->vertex_count : 0;
    const lm_vec3 *vertices = mesh->vertices;
    if (count == 0 && body->octree) { /* its particles may be others when the mould is made again */
        count = body->particle_count;
        vertices = body->rest;
    }
    lmi_mould *made = lmi_mould_of_mesh(world, count, mesh->triangle_count);
    if (made && count > 0) {
        memcpy(made->vertices, vertices, count * sizeof *made->vertices);
    }
    if (made && mesh->triangle_count > 0) {
        memcpy(made->triangles, mesh->triangles, (size_t)made->triangle_count * 3 * sizeof *made->triangles);
    }
    bool ok = made && make_distance(world, body, made) &&
              (body->octree ? lmi_mould_reach_octree(&world->memory, &body->octree->tree, made) &&
                                  lmi_mould_carry_octree(world, body, NULL, made)
                            : lmi_mould_make_carriers(world, body, made));
    if (made && !ok) {
        lmi_mould_give(world, made);
        return NULL;
    }
    if (made && !body->octree) {
        lmi_mould_find_far(made);
    }
    return made;
}

lmi_mould *lmi_mould_take(lm_world *world, const lmi_body *body, const lmi_touch_mesh *mesh)
{
    uint64_t hash = hash_particles(body, mesh);
    /* Carriers may follow links and bonds too, which the hash knows nothing of: those do not share. */
    bool own = body->octree || body->grain;
    for (lmi_mould *s = own ? NULL : world->moulds; s; s = s->next) {
        if (is_mould_of(s, body, hash, mesh)) {
            s->users++;
            return s;
        }
    }
    lmi_mould *made = make_mould(world, body, mesh);
    if (made) {
        made->hash = hash;
        made->place_count = body->place_count;
        made->shared = !own;
    }
    if (made && made->shared) {
        made->next = world->moulds;
        world->moulds = made;
    }
    return made;
}

static void free_mould(lm_world *world, lmi_mould *s)
{
    lmi_memory *memory = &world->memory;
    size_t riders = (size_t)s->carrier_count * s->carrier_riders;
    lmi_release(memory, s->vertices, s->vertex_count, sizeof *s->vertices);
    lmi_release(memory, s->triangles, (size_t)s->triangle_count * 3, sizeof *s->triangles);
    lmi_release(memory, s->distance, (size_t)s->n[0] * s->n[1] * s->n[2], sizeof *s->distance);
    lmi_release(memory, s->used, s->carrier_count, sizeof *s->used);
    lmi_release(memory, s->rider, riders, sizeof *s->rider);
    lmi_release(memory, s->weight, riders, sizeof *s->weight);
    lmi_release(memory, s->gradient, riders * 3, sizeof *s->gradient);
    lmi_release(memory, s->rest, s->carrier_count, sizeof *s->rest);
    lmi_release(memory, s->across, s->carrier_count, 4 * sizeof *s->across);
    lmi_release(memory, s->lever, (size_t)s->carrier_count * 3, sizeof *s->lever);
    lmi_release(memory, s->of_leaf, s->leaf_count, sizeof *s->of_leaf);
    lmi_mould_free_lanes(memory, s);
    lmi_release(memory, s, 1, sizeof *s);
}

void lmi_moulds_tidy(lm_world *world, const lmi_mould *but)
{
    for (lmi_mould **at = &world->moulds; *at;) {
        lmi_mould *s = *at;
        if (s->users == 0 && s != but) {
            *at = s->next;
            free_mould(world, s);
        } else {
            at = &s->next;
        }
    }
}

/* A body is made of particles and then gets a skin, and with it another mould. The last mould that nobody uses is kept, so
 * that a thousand bodies of one kind do not make the first of the two a thousand times. */
void lmi_mould_give(lm_world *world, lmi_mould *s)
{
    if (!s || --s->users > 0) {
        return;
    }
    if (s->shared) {
        lmi_moulds_tidy(world, s);
    } else {
        free_mould(world, s);
    }
}

static bool are_alike(const lmi_mould *a, const lmi_mould *b)
{
    return a->hash == b->hash && a->place_count == b->place_count && a->vertex_count == b->vertex_count &&
           a->triangle_count == b->triangle_count && a->block_count == b->block_count && /* both laid out, or none */
           memcmp(a->vertices, b->vertices, a->vertex_count * sizeof *a->vertices) == 0 &&
           memcmp(a->triangles, b->triangles, (size_t)a->triangle_count * 3 * sizeof *a->triangles) == 0;
}

lmi_mould *lmi_mould_adopt(lm_world *from, lm_world *to, lmi_mould *s)
{
    if (!s || !s->shared) {
        return s;
    }
    lmi_mould **at = &from->moulds, *same = to->moulds;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    while (same && !are_alike(same, s)) {
        same = same->next;
    }
    if (same) {
        same->users += s->users;
        free_mould(from, s);
        return same;
    }
    s->next = to->moulds;
    to->moulds = s;
    return s;
}

/* --- the touch points of its bodies --- */

bool lmi_mould_touch(lm_world *world, const lmi_body *body, const lmi_mould *mould, lmi_touch *touch)
{
    lm_vec3 *points = lmi_allocate(&world->memory, body->particle_count, sizeof *points);
    uint32_t count = 0;
    for (uint32_t n = 0; points && n < body->particle_count; n++) {
        lm_vec3 p = body->rest[body->place[n]];
        if (lmi_mould_distance(mould, dvec_from(p)) > -(mould->radius + 1.5 * mould->cell)) {
            points[count++] = p;
        }
    }
    bool ok = points && (count == 0 || lmi_touch_embed(world, body, points, count, touch));
    lmi_release(&world->memory, points, body->particle_count, sizeof *points);
    return ok;
}

void lmi_mould_face(const lmi_mould *s, lmi_touch *touch)
{
    for (uint32_t n = 0; n < touch->count; n++) {
        lm_dvec3 p = dvec_from(touch->rest[n]), h = dvec(0.5 * s->cell, 0.5 * s->cell, 0.5 * s->cell), out;
        out.x = lmi_mould_distance(s, dvec(p.x + h.x, p.y, p.z)) - lmi_mould_distance(s, dvec(p.x - h.x, p.y, p.z));
        out.y = lmi_mould_distance(s, dvec(p.x, p.y + h.y, p.z)) - lmi_mould_distance(s, dvec(p.x, p.y - h.y, p.z));
        out.z = lmi_mould_distance(s, dvec(p.x, p.y, p.z + h.z)) - lmi_mould_distance(s, dvec(p.x, p.y, p.z - h.z));
        double length = dvec_length(out), least = INFINITY;
        touch->facing[n] = vec_from(dvec_scale(out, length > 0.0 ? 1.0 / length : 0.0));
        if (s->of_leaf) {
            continue; /* lmi_octree_face_points finds them */
        }
        for (uint32_t c = 0; c < s->carrier_count; c++) {
            lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), p);
            if (dvec_dot(d, d) < least) {
                least = dvec_dot(d, d);
                touch->carrier[n] = c;
            }
        }
    }
}
