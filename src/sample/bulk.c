#include "sample/bulk.h"
#include "base/quad.h"
#include "sample/distance.h"
#include "sample/embed_lattice.h"
#include "sample/embed_octree.h"
#include "world.h"

#include <string.h>

#define GRID_CELLS 16.0   /* of the distance, along the longest side */
#define CARRIER_CELLS 6.0 /* carriers are at most so many times closer than the longest side */
#define STARTS ((size_t)LMI_BULK_CELLS * LMI_BULK_CELLS * LMI_BULK_CELLS + 1)

/* Particles of a carrier in a cloud: this many, or more where they are as good as flat. */
#define CARRIER_LEAST 12
#define FLAT 0.02

void lmi_bulk_free(lm_world *world, lmi_bulk *s)
{
    lmi_memory *memory = &world->memory;
    size_t riders = (size_t)s->carrier_count * s->carrier_riders;
    lmi_release(memory, s->vertices, s->vertex_count, sizeof *s->vertices);
    lmi_release(memory, s->triangles, (size_t)s->triangle_count * 3, sizeof *s->triangles);
    lmi_release(memory, s->distance, (size_t)s->n[0] * s->n[1] * s->n[2], sizeof *s->distance);
    lmi_release(memory, s->used, s->carrier_count, sizeof *s->used);
    lmi_release(memory, s->map, s->carrier_count, 16 * sizeof *s->map);
    lmi_release(memory, s->rider, riders, sizeof *s->rider);
    lmi_release(memory, s->weight, riders, sizeof *s->weight);
    lmi_release(memory, s->gradient, riders * 3, sizeof *s->gradient);
    lmi_release(memory, s->rest, s->carrier_count, sizeof *s->rest);
    lmi_release(memory, s->at, s->carrier_count, sizeof *s->at);
    lmi_release(memory, s->inverse, s->carrier_count, sizeof *s->inverse);
    lmi_release(memory, s->starts, STARTS, sizeof *s->starts);
    lmi_release(memory, s->items, s->carrier_count, sizeof *s->items);
    lmi_release(memory, s->lever, (size_t)s->carrier_count * 3, sizeof *s->lever);
    memset(s, 0, sizeof *s);
}

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

static bool make_distance(lm_world *world, const lmi_body *body, lmi_bulk *s)
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

double lmi_bulk_distance(const lmi_bulk *s, lm_dvec3 rest)
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

/* The slope is that of the cell, as it is: over more than that the edges of a box would push sideways what lies on it. */
float lmi_bulk_slope(const lmi_bulk *s, lm_vec3 rest, lm_vec3 *slope)
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
    float u = 1.0f - t[0], v = 1.0f - t[1], w = 1.0f - t[2];
    /* Along x on the four edges, then along y, then along z. */
    float x0 = u * d[0] + t[0] * d[1], x1 = u * d[row] + t[0] * d[row + 1];
    float x2 = u * e[0] + t[0] * e[1], x3 = u * e[row] + t[0] * e[row + 1];
    float y0 = v * x0 + t[1] * x1, y1 = v * x2 + t[1] * x3;
    float dx0 = v * (d[1] - d[0]) + t[1] * (d[row + 1] - d[row]),
          dx1 = v * (e[1] - e[0]) + t[1] * (e[row + 1] - e[row]);
    slope->x = by * (w * dx0 + t[2] * dx1);
    slope->y = by * (w * (x1 - x0) + t[2] * (x3 - x2));
    slope->z = by * (y1 - y0);
    return (w * y0 + t[2] * y1) + beyond * (float)s->cell;
}

/* --- carriers --- */

/* Fills the carrier of a lattice at the middle of the cell of a position. */
static void carry_lattice(const lmi_body *body, lmi_bulk *s, uint32_t carrier, lm_vec3 position)
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

typedef struct neighbour {
    double square;
    uint32_t particle;
} neighbour;

/* The nearest particles of a cloud, nearest first; in an octree along its cells. */
static uint32_t nearest_particles(const lmi_body *body, lm_vec3 position, uint32_t most, neighbour *out)
{
    uint32_t count = 0;
    if (body->octree) {
        uint32_t places[LMI_CARRIER_MOST];
        count = lmi_octree_surroundings(body, position, most, places);
        for (uint32_t n = 0; n < count; n++) {
            lm_dvec3 d = dvec_sub(dvec_from(body->rest[places[n]]), dvec_from(position));
            out[n] = (neighbour){dvec_dot(d, d), places[n]};
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

/* Fits the carrier of a cloud to the `count` nearest particles; returns the rank of the fit. */
static int fit_carrier(const lmi_body *body, lmi_bulk *s, uint32_t carrier, const neighbour *near, uint32_t count)
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

static void carry_cloud(const lmi_body *body, lmi_bulk *s, uint32_t carrier, lm_vec3 position)
{
    neighbour near[LMI_CARRIER_MOST];
    uint32_t count = nearest_particles(body, position, s->carrier_riders, near), use = CARRIER_LEAST;
    use = use < count ? use : count;
    while (fit_carrier(body, s, carrier, near, use) < 3 && use < count) {
        use = use + 4 < count ? use + 4 : count;
    }
}

/* What the affine map of the whole is made with. */
static void find_levers(lmi_bulk *s)
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

#define MOST_CARRIERS 512u

static bool make_carriers(lm_world *world, const lmi_body *body, lmi_bulk *s)
{
    lmi_memory *memory = &world->memory;
    lm_vec3 *places = lmi_allocate(memory, MOST_CARRIERS, sizeof *places);
    if (!places) {
        return false;
    }
    double apart = fmax(s->cell * GRID_CELLS / CARRIER_CELLS, 1e-30);
    /* Nearer than particles are to each other they would all say the same. */
    apart = fmax(apart, body->lattice ? body->lattice->shape.spacing : 1.5 * s->spacing);
    s->carrier_count = choose_places(body, 0.99 * apart, places, MOST_CARRIERS);
    s->carrier_riders = body->lattice                             ? 8
                        : body->particle_count < LMI_CARRIER_MOST ? body->particle_count
                                                                  : LMI_CARRIER_MOST;
    size_t riders = (size_t)s->carrier_count * s->carrier_riders;
    s->used = lmi_allocate(memory, s->carrier_count, sizeof *s->used);
    s->map = lmi_allocate(memory, s->carrier_count, 16 * sizeof *s->map);
    s->rider = lmi_allocate(memory, riders, sizeof *s->rider);
    s->weight = lmi_allocate(memory, riders, sizeof *s->weight);
    s->gradient = lmi_allocate(memory, riders * 3, sizeof *s->gradient);
    s->rest = lmi_allocate(memory, s->carrier_count, sizeof *s->rest);
    s->at = lmi_allocate(memory, s->carrier_count, sizeof *s->at);
    s->inverse = lmi_allocate(memory, s->carrier_count, sizeof *s->inverse);
    s->starts = lmi_allocate(memory, STARTS, sizeof *s->starts);
    s->items = lmi_allocate(memory, s->carrier_count, sizeof *s->items);
    s->lever = lmi_allocate(memory, (size_t)s->carrier_count * 3, sizeof *s->lever);
    bool ok = s->used && s->map && s->rider && s->weight && s->gradient && s->rest && s->at && s->inverse &&
              s->starts && s->items && s->lever;
    for (uint32_t n = 0; ok && n < s->carrier_count; n++) {
        (body->lattice ? carry_lattice : carry_cloud)(body, s, n, places[n]);
    }
    if (ok && s->carrier_count) {
        find_levers(s);
    }
    s->reach = 1.5 * apart;
    lmi_release(memory, places, MOST_CARRIERS, sizeof *places);
    return ok;
}

/* A hollow body has places inside that are far from every carrier: they must be reached too. */
static void extend_reach(lmi_bulk *s)
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

bool lmi_bulk_make(lm_world *world, const lmi_body *body, const lmi_touch_mesh *mesh, lmi_bulk *solid)
{
    lmi_memory *memory = &world->memory;
    lmi_bulk made = {.vertex_count = mesh->vertex_count, .triangle_count = mesh->triangle_count};
    made.vertices = lmi_allocate(memory, made.vertex_count, sizeof *made.vertices);
    made.triangles = lmi_allocate(memory, (size_t)made.triangle_count * 3, sizeof *made.triangles);
    bool ok = made.vertices && made.triangles;
    if (ok && made.triangle_count) {
        memcpy(made.vertices, mesh->vertices, made.vertex_count * sizeof *made.vertices);
        memcpy(made.triangles, mesh->triangles, (size_t)made.triangle_count * 3 * sizeof *made.triangles);
    }
    ok = ok && make_distance(world, body, &made) && make_carriers(world, body, &made);
    if (!ok) {
        lmi_bulk_free(world, &made);
        return false;
    }
    extend_reach(&made);
    *solid = made;
    return true;
}

bool lmi_bulk_touch(lm_world *world, const lmi_body *body, const lmi_bulk *solid, lmi_touch *touch)
{
    lm_vec3 *points = lmi_allocate(&world->memory, body->particle_count, sizeof *points);
    uint32_t count = 0;
    for (uint32_t n = 0; points && n < body->particle_count; n++) {
        lm_vec3 p = body->rest[body->place[n]];
        if (lmi_bulk_distance(solid, dvec_from(p)) > -(solid->radius + 1.5 * solid->cell)) {
            points[count++] = p;
        }
    }
    bool ok = points && (count == 0 || lmi_touch_embed(world, body, points, count, touch));
    lmi_release(&world->memory, points, body->particle_count, sizeof *points);
    return ok;
}

void lmi_bulk_face(const lmi_bulk *s, lmi_touch *touch)
{
    for (uint32_t n = 0; n < touch->count; n++) {
        lm_dvec3 p = dvec_from(touch->rest[n]), h = dvec(0.5 * s->cell, 0.5 * s->cell, 0.5 * s->cell), out;
        out.x = lmi_bulk_distance(s, dvec(p.x + h.x, p.y, p.z)) - lmi_bulk_distance(s, dvec(p.x - h.x, p.y, p.z));
        out.y = lmi_bulk_distance(s, dvec(p.x, p.y + h.y, p.z)) - lmi_bulk_distance(s, dvec(p.x, p.y - h.y, p.z));
        out.z = lmi_bulk_distance(s, dvec(p.x, p.y, p.z + h.z)) - lmi_bulk_distance(s, dvec(p.x, p.y, p.z - h.z));
        double length = dvec_length(out), least = INFINITY;
        touch->facing[n] = vec_from(dvec_scale(out, length > 0.0 ? 1.0 / length : 0.0));
        for (uint32_t c = 0; c < s->carrier_count; c++) {
            lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), p);
            if (dvec_dot(d, d) < least) {
                least = dvec_dot(d, d);
                touch->carrier[n] = c;
            }
        }
    }
}

/* --- in motion --- */

lm_dvec3 lmi_bulk_facing(const lmi_bulk *s, const lmi_touch *touch, uint32_t point)
{
    lm_dvec3 n = dmat_apply_transposed(&s->inverse[touch->carrier[point]], dvec_from(touch->facing[point]));
    double length = dvec_length(n);
    return dvec_scale(n, length > 0.0 ? 1.0 / length : 0.0);
}

static dmat3 invert(const dmat3 *f)
{
    lm_dvec3 a = dvec(f->m[0][0], f->m[1][0], f->m[2][0]), b = dvec(f->m[0][1], f->m[1][1], f->m[2][1]);
    lm_dvec3 c = dvec(f->m[0][2], f->m[1][2], f->m[2][2]);
    double la = dvec_length(a), lb = dvec_length(b), lc = dvec_length(c), longest = fmax(la, fmax(lb, lc));
    longest = longest > 1e-12 ? longest : 1.0;
    /* Directions that the particles do not show, or that they have lost, stand across the others. */
    double least = 0.05 * longest;
    if (lc < least) {
        c = dvec_cross(a, b);
        lc = dvec_length(c);
        c = lc > 0.0 ? dvec_scale(c, longest / lc) : dvec(0.0, 0.0, longest);
    }
    if (la < least) {
        a = dvec_cross(b, c);
        la = dvec_length(a);
        a = la > 0.0 ? dvec_scale(a, longest / la) : dvec(longest, 0.0, 0.0);
    }
    if (lb < least) {
        b = dvec_cross(c, a);
        lb = dvec_length(b);
        b = lb > 0.0 ? dvec_scale(b, longest / lb) : dvec(0.0, longest, 0.0);
    }
    lm_dvec3 bc = dvec_cross(b, c), ca = dvec_cross(c, a), ab = dvec_cross(a, b);
    double det = dvec_dot(a, bc), floor_of = 0.02 * longest * longest * longest;
    det = fabs(det) > floor_of ? det : det < 0.0 ? -floor_of : floor_of;
    dmat3 out = {{{bc.x / det, bc.y / det, bc.z / det},
                  {ca.x / det, ca.y / det, ca.z / det},
                  {ab.x / det, ab.y / det, ab.z / det}}};
    return out;
}

static uint32_t cell_of(const lmi_bulk *s, double at, double low)
{
    return (uint32_t)fmin(fmax(floor((at - low) / s->table), 0.0), LMI_BULK_CELLS - 1.0);
}

void lmi_bulk_cells(const lmi_bulk *s, lm_dvec3 at, uint32_t cell[3])
{
    cell[0] = cell_of(s, at.x, s->low.x);
    cell[1] = cell_of(s, at.y, s->low.y);
    cell[2] = cell_of(s, at.z, s->low.z);
}

static uint32_t bucket_of(const lmi_bulk *s, lm_dvec3 p)
{
    return (cell_of(s, p.z, s->low.z) * LMI_BULK_CELLS + cell_of(s, p.y, s->low.y)) * LMI_BULK_CELLS +
           cell_of(s, p.x, s->low.x);
}

static void fill_table(lmi_bulk *s)
{
    lm_dvec3 low = s->carrier_count ? s->at[0] : lm_dvec3_zero(), high = low;
    for (uint32_t c = 1; c < s->carrier_count; c++) {
        low = dvec(fmin(low.x, s->at[c].x), fmin(low.y, s->at[c].y), fmin(low.z, s->at[c].z));
        high = dvec(fmax(high.x, s->at[c].x), fmax(high.y, s->at[c].y), fmax(high.z, s->at[c].z));
    }
    s->low = low;
    s->table =
        fmax(fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z)) / LMI_BULK_CELLS, 0.5 * s->reach) * 1.0001;
    memset(s->starts, 0, STARTS * sizeof *s->starts);
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        s->starts[bucket_of(s, s->at[c])]++;
    }
    for (size_t n = 1; n < STARTS; n++) {
        s->starts[n] += s->starts[n - 1];
    }
    for (uint32_t c = s->carrier_count; c-- > 0;) {
        s->items[--s->starts[bucket_of(s, s->at[c])]] = c;
    }
}

/* The largest stretch of a matrix, or a little more: the root of the largest sum in a row of A^T A. */
static double norm_of(const double a[9])
{
    double most = 0.0;
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        for (int j = 0; j < 3; j++) {
            sum += fabs(a[i] * a[j] + a[3 + i] * a[3 + j] + a[6 + i] * a[6 + j]);
        }
        most = sum > most ? sum : most;
    }
    return sqrt(most);
}

/* The map of the whole. A carrier takes a point p to X_c + F_c^-1 (p - x_c), the whole to X + F^-1 (p - x): they differ by at
 * most |X_c - X - F^-1 (x_c - x)| + |F_c^-1 - F^-1| reach. */
static void update_whole(lmi_bulk *s)
{
    quad mean = {0}, column[3] = {{0}, {0}, {0}};
    float share = 1.0f / (float)(s->carrier_count ? s->carrier_count : 1);
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        mean += share * quad_of(s->map[16 * c], s->map[16 * c + 1], s->map[16 * c + 2]);
    }
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        quad x = quad_of(s->map[16 * c], s->map[16 * c + 1], s->map[16 * c + 2]) - mean;
        for (int i = 0; i < 3; i++) {
            column[i] += s->lever[3 * c + (uint32_t)i] * x;
        }
    }
    dmat3 stretch = {{{column[0][0], column[1][0], column[2][0]},
                      {column[0][1], column[1][1], column[2][1]},
                      {column[0][2], column[1][2], column[2][2]}}};
    dmat3 inverse = invert(&stretch);
    double slack = 0.0, whole[9];
    for (int i = 0; i < 9; i++) {
        whole[i] = inverse.m[i / 3][i % 3];
        s->whole[i] = (float)whole[i];
    }
    s->middle = vec_from(quad_to(mean));
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        double differs[9];
        for (int i = 0; i < 9; i++) {
            differs[i] = s->inverse[c].m[i / 3][i % 3] - whole[i];
        }
        lm_dvec3 there = dmat_apply(&inverse, dvec_sub(s->at[c], dvec_from(s->middle)));
        lm_dvec3 off = dvec_sub(dvec_sub(dvec_from(s->rest[c]), dvec_from(s->rest_middle)), there);
        double bound = dvec_length(off) + norm_of(differs) * s->reach;
        slack = bound > slack ? bound : slack;
    }
    s->slack = (float)slack;
}

bool lmi_bulk_near(const lmi_bulk *s, const float point[3], float margin)
{
    const float d[3] = {point[0] - s->middle.x, point[1] - s->middle.y, point[2] - s->middle.z}, *a = s->whole;
    const float first[3] = {(float)s->first.x, (float)s->first.y, (float)s->first.z}, by = (float)(1.0 / s->cell);
    const float rest[3] = {s->rest_middle.x + ((a[0] * d[0] + a[1] * d[1]) + a[2] * d[2]),
                           s->rest_middle.y + ((a[3] * d[0] + a[4] * d[1]) + a[5] * d[2]),
                           s->rest_middle.z + ((a[6] * d[0] + a[7] * d[1]) + a[8] * d[2])};
    float beyond = 0.0f;
    size_t at[3];
    for (int i = 0; i < 3; i++) { /* the nearest node will do: it is less than a cell away */
        float where = (rest[i] - first[i]) * by, most = (float)(s->n[i] - 1);
        float inside = where > 0.0f ? where : 0.0f;
        inside = inside < most ? inside : most;
        float off = fabsf(where - inside);
        beyond = off > beyond ? off : beyond;
        at[i] = (size_t)(inside + 0.5f);
    }
    float distance = s->distance[(at[2] * s->n[1] + at[1]) * s->n[0] + at[0]] + beyond * (float)s->cell;
    /* A cell for what find_inside looks at beyond the margin, another for the field around the node. */
    return !(distance > s->slack + 2.0f * margin + 2.0f * (float)s->cell);
}

void lmi_bulk_update(lmi_bulk *s, const lmi_body *body)
{
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        size_t first = (size_t)c * s->carrier_riders;
        quad at = {0}, column[3] = {{0}, {0}, {0}};
        for (size_t k = first; k < first + s->used[c]; k++) {
            quad x = quad_load(body->x + (size_t)s->rider[k] * 4);
            const float *g = s->gradient + 3 * k;
            at += s->weight[k] * x;
            column[0] += g[0] * x;
            column[1] += g[1] * x;
            column[2] += g[2] * x;
        }
        dmat3 stretch = {{{column[0][0], column[1][0], column[2][0]},
                          {column[0][1], column[1][1], column[2][1]},
                          {column[0][2], column[1][2], column[2][2]}}};
        s->at[c] = quad_to(at);
        s->inverse[c] = invert(&stretch);
        lm_dvec3 shift = dvec_sub(dvec_from(s->rest[c]), dmat_apply(&s->inverse[c], s->at[c]));
        float *map = s->map + (size_t)c * 16;
        map[0] = at[0], map[1] = at[1], map[2] = at[2];
        map[3] = (float)shift.x, map[4] = (float)shift.y, map[5] = (float)shift.z;
        for (int i = 0; i < 9; i++) {
            map[6 + i] = (float)s->inverse[c].m[i / 3][i % 3];
        }
    }
    fill_table(s);
    update_whole(s);
}

/* The blend of the carriers around a point. */
typedef struct blend {
    double total;
    lm_dvec3 rest;
    double inverse[9];
    double nearest;
    uint32_t carrier;
} blend;

static void add_carrier(const lmi_bulk *s, uint32_t c, lm_dvec3 point, blend *b)
{
    lm_dvec3 d = dvec_sub(point, s->at[c]);
    double square = dvec_dot(d, d), t = 1.0 - square / (s->reach * s->reach);
    if (!(t > 0.0)) {
        return;
    }
    double w = t * t * t * t;
    lm_dvec3 rest = dvec_add(dvec_from(s->rest[c]), dmat_apply(&s->inverse[c], d));
    b->total += w;
    b->rest = dvec_add(b->rest, dvec_scale(rest, w));
    for (int i = 0; i < 9; i++) {
        b->inverse[i] += w * s->inverse[c].m[i / 3][i % 3];
    }
    if (square < b->nearest) {
        b->nearest = square;
        b->carrier = c;
    }
}

static blend blend_at(const lmi_bulk *s, lm_dvec3 point, lm_dvec3 not_near, double apart)
{
    blend b = {.nearest = INFINITY};
    uint32_t from[3] = {cell_of(s, point.x - s->reach, s->low.x), cell_of(s, point.y - s->reach, s->low.y),
                        cell_of(s, point.z - s->reach, s->low.z)};
    uint32_t to[3] = {cell_of(s, point.x + s->reach, s->low.x), cell_of(s, point.y + s->reach, s->low.y),
                      cell_of(s, point.z + s->reach, s->low.z)};
    for (uint32_t z = from[2]; z <= to[2]; z++) {
        for (uint32_t y = from[1]; y <= to[1]; y++) {
            uint32_t row = (z * LMI_BULK_CELLS + y) * LMI_BULK_CELLS;
            for (uint32_t k = s->starts[row + from[0]]; k < s->starts[row + to[0] + 1]; k++) {
                lm_dvec3 off = dvec_sub(dvec_from(s->rest[s->items[k]]), not_near);
                if (!(apart > 0.0 && dvec_dot(off, off) < apart * apart)) {
                    add_carrier(s, s->items[k], point, &b);
                }
            }
        }
    }
    return b;
}

bool lmi_bulk_conclude(const lmi_bulk *s, lm_dvec3 point, double distance, lm_dvec3 slope, const dmat3 *inverse,
                       double margin, lmi_inside *inside)
{
    lm_dvec3 n = dmat_apply_transposed(inverse, slope);
    /* The slope is 1 but at edges and corners, and in the middle. Where it says little about the way out, little is done: what
     * lies along the edge of a box must not be wedged off it. */
    double steep = dvec_length(n), sure = fmin(fmax((dvec_length(slope) - 0.5) / 0.4, 0.0), 1.0);
    if (-distance < s->cell && sure == 0.0) {
        return false;
    }
    if (!(steep > 0.05)) { /* in the very middle: away from the carrier */
        n = dvec_sub(point, s->at[inside->carrier]);
        double length = dvec_length(n);
        n = length > 0.0 ? dvec_scale(n, 1.0 / length) : dvec(0.0, 1.0, 0.0);
        inside->normal = n;
        inside->depth = -distance;
        return inside->depth + margin > 0.0;
    }
    inside->normal = dvec_scale(n, 1.0 / steep);
    inside->depth = -distance / steep;
    inside->depth *= inside->depth > 0.0 && -distance < s->cell ? sure : 1.0;
    return inside->depth + margin > 0.0;
}

bool lmi_bulk_find(const lmi_bulk *s, lm_dvec3 point, double margin, lm_dvec3 not_near, double apart,
                   lmi_inside *inside)
{
    blend b = blend_at(s, point, not_near, apart);
    if (!(b.total > 0.0)) {
        return false;
    }
    inside->rest = dvec_scale(b.rest, 1.0 / b.total);
    inside->carrier = b.carrier;
    lm_vec3 slope;
    double distance = lmi_bulk_slope(s, vec_from(inside->rest), &slope);
    if (!(distance < 2.0 * margin + s->cell)) {
        return false;
    }
    dmat3 inverse;
    for (int i = 0; i < 9; i++) {
        inverse.m[i / 3][i % 3] = b.inverse[i] / b.total;
    }
    return lmi_bulk_conclude(s, point, distance, dvec_from(slope), &inverse, margin, inside);
}

/* The cell that holds a point now, from where the blend says it was in the rest shape, and once more from there. */
static bool grip_cell(const lmi_bulk *s, const lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                      uint32_t riders[8], float weights[8])
{
    lm_dvec3 rest = inside->rest;
    for (int pass = 0; pass < 3; pass++) {
        if (!lmi_embed_lattice_inside(&body->lattice->shape, vec_from(rest), riders, weights)) {
            return false;
        }
        lm_dvec3 at = lm_dvec3_zero();
        for (int n = 0; n < 8; n++) {
            const float *x = body->x + (size_t)riders[n] * 4;
            at = dvec_add(at, dvec_scale(dvec(x[0], x[1], x[2]), weights[n]));
        }
        rest = dvec_add(rest, dmat_apply(&s->inverse[inside->carrier], dvec_sub(point, at)));
    }
    return true;
}

uint32_t lmi_bulk_grip(const lmi_bulk *s, const lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                       uint32_t riders[LMI_CARRIER_MOST], float weights[LMI_CARRIER_MOST])
{
    uint32_t c = inside->carrier;
    if (body->lattice && grip_cell(s, body, inside, point, riders, weights)) {
        return 8;
    }
    lm_dvec3 d = dmat_apply(&s->inverse[c], dvec_sub(point, s->at[c]));
    for (uint32_t n = 0; n < s->used[c]; n++) {
        size_t k = (size_t)c * s->carrier_riders + n;
        const float *g = s->gradient + 3 * k;
        riders[n] = s->rider[k];
        weights[n] = (float)(s->weight[k] + (g[0] * d.x + g[1] * d.y + g[2] * d.z));
    }
    return s->used[c];
}
