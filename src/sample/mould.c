#include "sample/mould.h"
#include "grain.h"
#include "out/hash.h"
#include "sample/depth.h"
#include "sample/distance.h"
#include "sample/embed_lattice.h"
#include "sample/mould_octree.h"
#include "world.h"

#include <string.h>

#define GRID_CELLS 16.0 /* of the distance, along the longest side */
#define MOST_CARRIERS 512u

/* Particles of a carrier in a cloud: this many, or more where they are as good as flat. */
#define CARRIER_LEAST 12
#define FLAT 0.02

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

static bool make_distance(lm_world *world, const lmi_body *body, lmi_mould *s)
{
    lm_dvec3 low, high;
    bool mesh = s->triangle_count > 0;
    bounds_of(mesh ? s->vertices : body->rest, mesh ? s->vertex_count : body->particle_count, &low, &high);
    lm_dvec3 size = dvec_sub(high, low);
    double longest = fmax(size.x, fmax(size.y, size.z)), radius = 0.0;
    if (!mesh) {
        radius = fmax(body->contact_radius, 0.7 * cloud_spacing(size, body->particle_count));
        radius = radius > 0.0 ? radius : 0.01;
        longest += 2.0 * radius;
    }
    s->radius = radius;
    s->spacing = cloud_spacing(size, body->particle_count);
    longest = longest > 0.0 ? longest : 0.01; /* a surface that is all in one point */
    s->cell = longest / GRID_CELLS;
    double margin = 2.0 * s->cell + radius, extent[3] = {size.x, size.y, size.z};
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
        return lmi_distance_mesh(&world->memory, &of, &nodes);
    }
    return lmi_distance_balls(&world->memory, body->rest, body->particle_count, radius, &nodes);
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

/* --- carriers --- */

/* Fills the carrier of a lattice at the middle of the cell of a position. */
static void carry_lattice(const lmi_body *body, lmi_mould *s, uint32_t carrier, lm_vec3 position)
{
    const lmi_lattice *l = &body->lattice->shape;
    uint32_t *rider = s->rider + (size_t)carrier * 8;
    float weights[8], *gradient = s->gradient + (size_t)carrier * 24;
    lmi_embed_lattice(l, position, rider, weights);
    lm_dvec3 mean = lm_dvec3_zero();
    for (int n = 0; n < 8; n++) {
        mean = dvec_add(mean, dvec_scale(dvec_from(body->rest[rider[n]]), 0.125));
    }
    for (int n = 0; n < 8; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[rider[n]]), mean);
        double by = 1.0 / (4.0 * l->spacing);
        s->weight[(size_t)carrier * 8 + (size_t)n] = 0.125f;
        gradient[3 * n] = (float)(d.x > 0.0 ? by : -by);
        gradient[3 * n + 1] = (float)(d.y > 0.0 ? by : -by);
        gradient[3 * n + 2] = (float)(d.z > 0.0 ? by : -by);
    }
    s->rest[carrier] = vec_from(mean);
    s->used[carrier] = 8;
}

/* The nearest particles of a cloud, nearest first; in what was cut along bonds. */
static uint32_t nearest_particles(const lmi_body *body, lm_vec3 position, uint32_t most, lmi_mould_near *out)
{
    uint32_t count = 0;
    if (body->grain) {
        uint32_t places[LMI_CARRIER_MOST];
        count = lmi_grain_around(body, lmi_grain_particle_at(body, position), position, most, places);
        for (uint32_t n = 0; n < count; n++) {
            lm_dvec3 d = dvec_sub(dvec_from(body->rest[places[n]]), dvec_from(position));
            out[n] = (lmi_mould_near){dvec_dot(d, d), places[n]};
        }
        return count;
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[n]), dvec_from(position));
        double square = dvec_dot(d, d);
        if (count == most && square >= out[count - 1].square) {
            continue;
        }
        uint32_t at = count < most ? count++ : most - 1;
        for (; at > 0 && square < out[at - 1].square; at--) {
            out[at] = out[at - 1];
        }
        out[at].square = square;
        out[at].particle = n;
    }
    return count;
}

/* Inverse of a symmetric matrix over its significant directions; returns how many there are. */
static int invert_moments(const double moments[6], double inverse[9])
{
    double a[9] = {moments[0], moments[3], moments[5], moments[3], moments[1],
                   moments[4], moments[5], moments[4], moments[2]};
    double values[3], v[9];
    int rank = 0;
    lmi_symmetric_eigen(3, a, values, v);
    memset(inverse, 0, 9 * sizeof *inverse);
    for (int k = 0; k < 3 && values[k] > FLAT * FLAT * values[0]; k++) {
        rank++;
        for (int i = 0; i < 9; i++) {
            inverse[i] += v[i / 3 * 3 + k] * v[i % 3 * 3 + k] / values[k];
        }
    }
    return rank;
}

int lmi_mould_fit(const lmi_body *body, lmi_mould *s, uint32_t carrier, const lmi_mould_near *near, uint32_t count)
{
    double reach = 1.1 * sqrt(near[count - 1].square) + 1e-30, total = 0.0, moments[6] = {0}, inverse[9];
    double share[LMI_CARRIER_MOST];
    lm_dvec3 mean = lm_dvec3_zero();
    for (uint32_t n = 0; n < count; n++) {
        double t = 1.0 - near[n].square / (reach * reach);
        share[n] = t * t + 0.05;
        total += share[n];
        mean = dvec_add(mean, dvec_scale(dvec_from(body->rest[near[n].particle]), share[n]));
    }
    mean = dvec_scale(mean, 1.0 / total);
    for (uint32_t n = 0; n < count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[near[n].particle]), mean);
        double w = share[n] / total;
        moments[0] += w * d.x * d.x, moments[1] += w * d.y * d.y, moments[2] += w * d.z * d.z;
        moments[3] += w * d.x * d.y, moments[4] += w * d.y * d.z, moments[5] += w * d.z * d.x;
    }
    int rank = invert_moments(moments, inverse);
    for (uint32_t n = 0; n < s->carrier_riders; n++) {
        size_t at = (size_t)carrier * s->carrier_riders + n;
        uint32_t particle = near[n < count ? n : 0].particle;
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[particle]), mean);
        double w = n < count ? share[n] / total : 0.0;
        s->rider[at] = particle;
        s->weight[at] = (float)w;
        for (int i = 0; i < 3; i++) {
            s->gradient[3 * at + (size_t)i] =
                (float)(w * (inverse[3 * i] * d.x + inverse[3 * i + 1] * d.y + inverse[3 * i + 2] * d.z));
        }
    }
    s->rest[carrier] = vec_from(mean);
    s->used[carrier] = count;
    return rank;
}

static void carry_cloud(const lmi_body *body, lmi_mould *s, uint32_t carrier, lm_vec3 position)
{
    lmi_mould_near near[LMI_CARRIER_MOST] = {{0.0, 0}};
    uint32_t count = nearest_particles(body, position, s->carrier_riders, near), use = CARRIER_LEAST;
    use = use < count ? use : count;
    while (lmi_mould_fit(body, s, carrier, near, use) < 3 && use < count) {
        use = use + 4 < count ? use + 4 : count;
    }
}

void lmi_mould_find_levers(lmi_mould *s)
{
    lm_dvec3 mean = lm_dvec3_zero();
    double moments[6] = {0}, inverse[9];
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        mean = dvec_add(mean, dvec_scale(dvec_from(s->rest[c]), 1.0 / s->carrier_count));
    }
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), mean);
        moments[0] += d.x * d.x, moments[1] += d.y * d.y, moments[2] += d.z * d.z;
        moments[3] += d.x * d.y, moments[4] += d.y * d.z, moments[5] += d.z * d.x;
    }
    invert_moments(moments, inverse);
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), mean);
        for (int i = 0; i < 3; i++) {
            s->lever[3 * c + (uint32_t)i] =
                (float)(inverse[3 * i] * d.x + inverse[3 * i + 1] * d.y + inverse[3 * i + 2] * d.z);
        }
    }
    s->rest_middle = vec_from(mean);
}

/* Places for carriers: particles (of a lattice: cells) that are at least `apart` from each other. */
static uint32_t choose_places(const lmi_body *body, double apart, lm_vec3 *places, uint32_t most)
{
    uint32_t count = 0;
    const lmi_lattice *l = body->lattice ? &body->lattice->shape : NULL;
    for (uint32_t n = 0; n < body->place_count && count < most; n++) {
        if (body->order[n] == LMI_NONE || (l && !(l->cell[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1))) {
            continue;
        }
        lm_vec3 p = body->rest[n];
        if (l) { /* the middle of the cell that has it as its lowest corner */
            float half = (float)(0.5 * l->spacing);
            p = (lm_vec3){p.x + half, p.y + half, p.z + half};
        }
        bool free = true;
        for (uint32_t k = 0; k < count && free; k++) {
            lm_dvec3 d = dvec_sub(dvec_from(places[k]), dvec_from(p));
            free = dvec_dot(d, d) >= apart * apart;
        }
        if (free) {
            places[count++] = p;
        }
    }
    return count;
}

bool lmi_mould_allocate_carriers(lmi_memory *memory, lmi_mould *s)
{
    size_t riders = (size_t)s->carrier_count * s->carrier_riders;
    s->used = lmi_allocate(memory, s->carrier_count, sizeof *s->used);
    s->rider = lmi_allocate(memory, riders, sizeof *s->rider);
    s->weight = lmi_allocate(memory, riders, sizeof *s->weight);
    s->gradient = lmi_allocate(memory, riders * 3, sizeof *s->gradient);
    s->rest = lmi_allocate(memory, s->carrier_count, sizeof *s->rest);
    s->lever = lmi_allocate(memory, (size_t)s->carrier_count * 3, sizeof *s->lever);
    return s->used && s->rider && s->weight && s->gradient && s->rest && s->lever;
}

static bool make_carriers(lm_world *world, const lmi_body *body, lmi_mould *s)
{
    lmi_memory *memory = &world->memory;
    lm_vec3 *places = lmi_allocate(memory, MOST_CARRIERS, sizeof *places);
    if (!places) {
        return false;
    }
    double apart = fmax(LMI_MOULD_APART(s), 1e-30);
    /* Nearer than particles are to each other they would all say the same. */
    apart = fmax(apart, body->lattice ? body->lattice->shape.spacing : 1.5 * s->spacing);
    s->carrier_count = choose_places(body, 0.99 * apart, places, MOST_CARRIERS);
    s->carrier_riders = body->lattice                             ? 8
                        : body->particle_count < LMI_CARRIER_MOST ? body->particle_count
                                                                  : LMI_CARRIER_MOST;
    bool ok = lmi_mould_allocate_carriers(memory, s);
    for (uint32_t n = 0; ok && n < s->carrier_count; n++) {
        (body->lattice ? carry_lattice : carry_cloud)(body, s, n, places[n]);
    }
    if (ok && s->carrier_count) {
        lmi_mould_find_levers(s);
    }
    s->reach = 1.5 * apart;
    lmi_release(memory, places, MOST_CARRIERS, sizeof *places);
    return ok;
}

/* A hollow body has places inside that are far from every carrier: they must be reached too. */
static void extend_reach(lmi_mould *s)
{
    double farthest = 0.0;
    for (uint32_t z = 0; z < s->n[2]; z++) {
        for (uint32_t y = 0; y < s->n[1]; y++) {
            for (uint32_t x = 0; x < s->n[0]; x++) {
                double least = INFINITY;
                if (s->distance[((size_t)z * s->n[1] + y) * s->n[0] + x] > 0.0f) {
                    continue;
                }
                lm_dvec3 p = dvec(s->first.x + x * s->cell, s->first.y + y * s->cell, s->first.z + z * s->cell);
                for (uint32_t c = 0; c < s->carrier_count; c++) {
                    lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), p);
                    least = fmin(least, dvec_dot(d, d));
                }
                farthest = fmax(farthest, least < INFINITY ? least : 0.0);
            }
        }
    }
    s->reach = fmax(s->reach, 1.5 * sqrt(farthest));
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
    bool has = mesh->triangle_count > 0;
    lmi_mould *made = lmi_mould_of_mesh(world, has ? mesh->vertex_count : 0, mesh->triangle_count);
    if (made && has) {
        memcpy(made->vertices, mesh->vertices, made->vertex_count * sizeof *made->vertices);
        memcpy(made->triangles, mesh->triangles, (size_t)made->triangle_count * 3 * sizeof *made->triangles);
    }
    bool ok = made && make_distance(world, body, made) &&
              (body->octree ? lmi_mould_reach_octree(&world->memory, &body->octree->tree, made) &&
                                  lmi_mould_carry_octree(world, body, NULL, made)
                            : make_carriers(world, body, made));
    if (made && !ok) {
        lmi_mould_give(world, made);
        return NULL;
    }
    if (made && !body->octree) {
        extend_reach(made);
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
    lmi_release(memory, s->lever, (size_t)s->carrier_count * 3, sizeof *s->lever);
    lmi_release(memory, s->of_leaf, s->leaf_count, sizeof *s->of_leaf);
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
            continue; /* octree_faces.c */
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
