#include "touch/mould.h"
#include "base/hash.h"
#include "cut/grain.h"
#include "geometry/distance.h"
#include "lattice/embed_lattice.h"
#include "lattice/lattice_body.h"
#include "octree/mould_octree.h"
#include "touch/depth.h"
#include "world/world.h"

#include <string.h>

#define GRID_CELLS 16.0  /* of the distance, along the longest side */
#define THIN_CELLS 4.0   /* through what is thin */
#define MOST_CELLS 256.0 /* along the longest side of a thin body */
#define MOST_NODES 262144.0
#define MOST_CARRIERS 512u

/* Particles of a carrier in a cloud: this many, or more where they are as good as in a line; and what counts as a sheet. The
 * twelve nearest on a sphere of 258 are 0.12 times as thick as they are wide. */
#define CARRIER_LEAST 12
#define SHEET 0.25

/* Particles are on the surface when they are nearer to it than this share of the distance between them. */
#define ON_SURFACE 0.15

/* Particles that are nearer to each other than this share of how far they are from the rest shape's origin are in one place. */
#define NO_EXTENT 1e-12

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

static bool make_distance(lm_world *world, const lmi_body *body, lmi_mould *s)
{
    lm_dvec3 low, high;
    bool mesh = s->triangle_count > 0;
    const lm_vec3 *points = s->vertex_count > 0 ? s->vertices : body->rest;
    uint32_t point_count = s->vertex_count > 0 ? s->vertex_count : body->particle_count;
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

/* The four corners of a tetrahedron: the affine map that they have. */
static void carry_tet(const lmi_body *body, lmi_mould *s, uint32_t carrier, uint32_t tet)
{
    const uint32_t *corner = body->tets + (size_t)tet * 4;
    lm_dvec3 from = dvec_from(body->rest[corner[0]]), edge[3], mean = dvec_scale(from, 0.25);
    for (int k = 0; k < 3; k++) {
        edge[k] = dvec_sub(dvec_from(body->rest[corner[k + 1]]), from);
        mean = dvec_add(mean, dvec_scale(dvec_from(body->rest[corner[k + 1]]), 0.25));
    }
    double volume = dvec_dot(edge[0], dvec_cross(edge[1], edge[2]));
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint32_t k = 0; k < 4; k++) {
        lm_dvec3 g = dvec_scale(sum, -1.0);
        if (k < 3) { /* of corner k + 1; that of the first makes their sum 0 */
            g = dvec_scale(dvec_cross(edge[(k + 1) % 3], edge[(k + 2) % 3]), 1.0 / volume);
            sum = dvec_add(sum, g);
        }
        size_t at = (size_t)carrier * 4 + k;
        s->rider[at] = corner[(k + 1) % 4];
        s->weight[at] = 0.25f;
        s->gradient[3 * at] = (float)g.x, s->gradient[3 * at + 1] = (float)g.y, s->gradient[3 * at + 2] = (float)g.z;
    }
    s->rest[carrier] = vec_from(mean);
    s->used[carrier] = 4;
}

/* The nearest particles of a cloud, nearest first; in what was cut along bonds. */
static uint32_t nearest_particles(const lmi_body *body, lm_vec3 position, uint32_t most, const bool *outer,
                                  lmi_mould_near *out)
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
        if (!outer[n] || (count == most && square >= out[count - 1].square)) {
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

/* Inverse of a symmetric matrix over its significant directions, in which it is more than LMI_FLAT squared times its largest; returns
 * how many there are. `across`: the direction in which it is less than `sheet` squared times its largest, and the root of what it is
 * there; 0 where there is none, or more than one. */
static int invert_moments(const double moments[6], double sheet, double inverse[9], float across[4])
{
    double a[9] = {moments[0], moments[3], moments[5], moments[3], moments[1],
                   moments[4], moments[5], moments[4], moments[2]};
    double values[3], v[9];
    int rank = 0;
    lmi_symmetric_eigen(3, a, values, v);
    memset(inverse, 0, 9 * sizeof *inverse);
    for (int k = 0; k < 3 && values[k] > LMI_FLAT * LMI_FLAT * values[0]; k++) {
        rank++;
        for (int i = 0; i < 9; i++) {
            inverse[i] += v[i / 3 * 3 + k] * v[i % 3 * 3 + k] / values[k];
        }
    }
    const double least = sheet * sheet * values[0];
    const bool flat = values[1] > least && values[2] <= least;
    for (int k = 0; k < 3; k++) {
        across[k] = flat ? (float)v[3 * k + 2] : 0.0f;
    }
    across[3] = flat && values[2] > 0.0 ? (float)sqrt(values[2]) : 0.0f;
    return rank;
}

int lmi_mould_fit(const lmi_body *body, lmi_mould *s, uint32_t carrier, const lmi_mould_near *near, uint32_t count,
                  double sheet)
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
    /* A particle alone has no extent: what rounding leaves of it must not be inverted. */
    if (moments[0] + moments[1] + moments[2] <= NO_EXTENT * NO_EXTENT * dvec_dot(mean, mean)) {
        memset(moments, 0, sizeof moments);
    }
    int rank = invert_moments(moments, sheet, inverse, s->across + (size_t)carrier * 4);
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

static void carry_cloud(const lmi_body *body, lmi_mould *s, uint32_t carrier, lm_vec3 position, const bool *outer,
                        double sheet)
{
    lmi_mould_near near[LMI_CARRIER_MOST] = {{0.0, 0}};
    uint32_t count = nearest_particles(body, position, s->carrier_riders, outer, near), use = CARRIER_LEAST;
    use = use < count ? use : count;
    while (lmi_mould_fit(body, s, carrier, near, use, sheet) < (sheet > LMI_FLAT ? 2 : 3) && use < count) {
        use = use + 4 < count ? use + 4 : count;
    }
}

void lmi_mould_find_levers(lmi_mould *s)
{
    lm_dvec3 mean = lm_dvec3_zero();
    double moments[6] = {0}, inverse[9];
    float across[4];
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        mean = dvec_add(mean, dvec_scale(dvec_from(s->rest[c]), 1.0 / s->carrier_count));
    }
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), mean);
        moments[0] += d.x * d.x, moments[1] += d.y * d.y, moments[2] += d.z * d.z;
        moments[3] += d.x * d.y, moments[4] += d.y * d.z, moments[5] += d.z * d.x;
    }
    invert_moments(moments, 0.0, inverse, across);
    for (uint32_t c = 0; c < s->carrier_count; c++) {
        lm_dvec3 d = dvec_sub(dvec_from(s->rest[c]), mean);
        for (int i = 0; i < 3; i++) {
            s->lever[3 * c + (uint32_t)i] =
                (float)(inverse[3 * i] * d.x + inverse[3 * i + 1] * d.y + inverse[3 * i + 2] * d.z);
        }
    }
    s->rest_middle = vec_from(mean);
}

bool lmi_mould_allocate_carriers(lmi_memory *memory, lmi_mould *s)
{
    size_t riders = (size_t)s->carrier_count * s->carrier_riders;
    s->used = lmi_allocate(memory, s->carrier_count, sizeof *s->used);
    s->rider = lmi_allocate(memory, riders, sizeof *s->rider);
    s->weight = lmi_allocate(memory, riders, sizeof *s->weight);
    s->gradient = lmi_allocate(memory, riders * 3, sizeof *s->gradient);
    s->rest = lmi_allocate(memory, s->carrier_count, sizeof *s->rest);
    s->across = lmi_allocate(memory, s->carrier_count, 4 * sizeof *s->across);
    s->lever = lmi_allocate(memory, (size_t)s->carrier_count * 3, sizeof *s->lever);
    return s->used && s->rider && s->weight && s->gradient && s->rest && s->across && s->lever;
}

/* --- outermost particles --- */

/* Particles by the cells of the grid of distances that they are in. */
typedef struct cells {
    uint32_t *first, *next; /* [cells], [particles]: a particle, or LMI_NONE */
    size_t count;
} cells;

static void cell_of(const lmi_mould *s, lm_vec3 p, uint32_t at[3])
{
    const double from[3] = {p.x - s->first.x, p.y - s->first.y, p.z - s->first.z};
    for (int a = 0; a < 3; a++) {
        at[a] = (uint32_t)fmin(fmax(from[a] / s->cell, 0.0), (double)s->n[a] - 1.0);
    }
}

static bool make_cells(lmi_memory *memory, const lmi_body *body, const lmi_mould *s, cells *c)
{
    c->count = (size_t)s->n[0] * s->n[1] * s->n[2];
    c->first = lmi_allocate(memory, c->count, sizeof *c->first);
    c->next = lmi_allocate(memory, body->particle_count, sizeof *c->next);
    if (!c->first || !c->next) {
        return false;
    }
    memset(c->first, 0xff, c->count * sizeof *c->first);
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t at[3];
        cell_of(s, body->rest[n], at);
        uint32_t *first = &c->first[((size_t)at[2] * s->n[1] + at[1]) * s->n[0] + at[0]];
        c->next[n] = *first;
        *first = n;
    }
    return true;
}

/* Whether a particle that is marked is within `radius` of p. */
static bool is_near(const lmi_body *body, const lmi_mould *s, const cells *c, const bool *marked, lm_vec3 p,
                    double radius)
{
    uint32_t at[3], low[3], high[3], around = (uint32_t)fmin(ceil(radius / s->cell), 64.0);
    cell_of(s, p, at);
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] > around ? at[a] - around : 0;
        high[a] = at[a] + around < s->n[a] - 1 ? at[a] + around : s->n[a] - 1;
    }
    for (uint32_t z = low[2]; z <= high[2]; z++) {
        for (uint32_t y = low[1]; y <= high[1]; y++) {
            for (uint32_t x = low[0]; x <= high[0]; x++) {
                uint32_t n = c->first[((size_t)z * s->n[1] + y) * s->n[0] + x];
                for (; n != LMI_NONE; n = c->next[n]) {
                    lm_dvec3 d = dvec_sub(dvec_from(body->rest[n]), dvec_from(p));
                    if (marked[n] && dvec_dot(d, d) < radius * radius) {
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

/* Whether marked particles are all over the surface: near all but a few of the nodes that it passes. */
static bool cover_surface(const lmi_body *body, const lmi_mould *s, const cells *c, const bool *marked)
{
    uint32_t nodes = 0, bare = 0;
    for (size_t k = 0; k < c->count; k++) {
        if (fabs((double)s->distance[k]) < 0.5 * s->cell) {
            size_t x = k % s->n[0], y = k / s->n[0] % s->n[1], z = k / s->n[0] / s->n[1];
            lm_vec3 p = vec_from(dvec(s->first.x + (double)x * s->cell, s->first.y + (double)y * s->cell,
                                      s->first.z + (double)z * s->cell));
            nodes++;
            bare += !is_near(body, s, c, marked, p, fmax(s->spacing, s->cell));
        }
    }
    return nodes > 0 && bare * 20 < nodes;
}

/* outer[n]: the particle is on the surface of the mesh, where such particles are all over it; else all are outer, and *covered is
 * false. So they are in what was cut: its carriers follow bonds. */
static bool find_outer(lmi_memory *memory, const lmi_body *body, const lmi_mould *s, bool *outer, bool *covered)
{
    cells c = {0};
    bool ok = make_cells(memory, body, s, &c);
    for (uint32_t n = 0; ok && n < body->particle_count; n++) {
        outer[n] = fabs(lmi_mould_distance(s, dvec_from(body->rest[n]))) < ON_SURFACE * s->spacing;
    }
    *covered = ok && s->triangle_count && !body->grain && cover_surface(body, s, &c, outer);
    for (uint32_t n = 0; ok && !*covered && n < body->particle_count; n++) {
        outer[n] = true;
    }
    lmi_release(memory, c.first, c.count, sizeof *c.first);
    lmi_release(memory, c.next, body->particle_count, sizeof *c.next);
    return ok;
}

/* --- where carriers are --- */

/* Tetrahedra that no blade has cut are carriers themselves. */
static bool by_tets(const lmi_body *body) { return body->tet_count && !body->grain; }

/* What carriers are made around. */
typedef struct place {
    lm_vec3 at;
    uint32_t index; /* of the particle, or the tetrahedron */
} place;

/* Whether there is such a place: a particle, a tetrahedron, or the cell of a lattice that has a particle as its lowest corner. */
static bool find_place(const lmi_body *body, uint32_t n, const bool *outer, lm_vec3 *p)
{
    const lmi_lattice *l = body->lattice ? &body->lattice->shape : NULL;
    if (by_tets(body)) {
        lm_dvec3 mean = lm_dvec3_zero();
        for (uint32_t k = 0; k < 4; k++) {
            mean = dvec_add(mean, dvec_scale(dvec_from(body->rest[body->tets[4 * n + k]]), 0.25));
        }
        *p = vec_from(mean);
        return true;
    }
    *p = body->rest[n];
    if (l) {
        float half = (float)(0.5 * l->spacing);
        *p = (lm_vec3){p->x + half, p->y + half, p->z + half};
    }
    return body->order[n] != LMI_NONE && (!l || (l->cell[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1)) &&
           (!outer || outer[n]);
}

/* Places for carriers that are at least `apart` from each other. More than `most`: most + 1. */
static uint32_t choose_places(const lmi_body *body, double apart, const bool *outer, place *places, uint32_t most)
{
    uint32_t count = 0, all = by_tets(body) ? body->tet_count : body->place_count;
    for (uint32_t n = 0; n < all; n++) {
        lm_vec3 p;
        if (!find_place(body, n, outer, &p)) {
            continue;
        }
        bool free = true;
        for (uint32_t k = 0; k < count && free; k++) {
            lm_dvec3 d = dvec_sub(dvec_from(places[k].at), dvec_from(p));
            free = dvec_dot(d, d) >= apart * apart;
        }
        if (free && count == most) {
            return most + 1;
        }
        if (free) {
            places[count++] = (place){p, n};
        }
    }
    return count;
}

/* Adds places in the core of a body whose other carriers are on its surface: far from those, so that a dent does not come near. Depth
 * cube maps sit there. */
static uint32_t choose_core(const lmi_body *body, const lmi_mould *s, const bool *outer, double apart, place *places,
                            uint32_t count)
{
    const uint32_t first = count;
    for (uint32_t n = 0; n < body->particle_count && count < MOST_CARRIERS; n++) {
        bool free = !outer[n] && lmi_mould_distance(s, dvec_from(body->rest[n])) < -2.0 * s->reach;
        for (uint32_t k = first; k < count && free; k++) {
            lm_dvec3 d = dvec_sub(dvec_from(places[k].at), dvec_from(body->rest[n]));
            free = dvec_dot(d, d) >= apart * apart;
        }
        if (free) {
            places[count++] = (place){body->rest[n], n};
        }
    }
    return count;
}

/* `outer`, `sheet`: of clouds; from carrier `core` on they are made of the other particles. */
static bool carry_places(lm_world *world, const lmi_body *body, lmi_mould *s, const place *places, bool *outer,
                         double sheet, uint32_t core)
{
    s->carrier_riders = body->lattice                             ? 8
                        : by_tets(body)                           ? 4
                        : body->particle_count < LMI_CARRIER_MOST ? body->particle_count
                                                                  : LMI_CARRIER_MOST;
    if (!lmi_mould_allocate_carriers(&world->memory, s)) {
        return false;
    }
    for (uint32_t n = 0; n < s->carrier_count; n++) {
        for (uint32_t k = 0; n == core && k < body->particle_count; k++) {
            outer[k] = !outer[k];
        }
        if (body->lattice) {
            carry_lattice(body, s, n, places[n].at);
        } else if (by_tets(body)) {
            carry_tet(body, s, n, places[n].index);
        } else {
            carry_cloud(body, s, n, places[n].at, outer, n < core ? sheet : LMI_FLAT);
        }
    }
    if (s->carrier_count) {
        lmi_mould_find_levers(s);
    }
    return true;
}

static bool make_carriers(lm_world *world, const lmi_body *body, lmi_mould *s)
{
    lmi_memory *memory = &world->memory;
    uint32_t particles = body->lattice || by_tets(body) ? 0 : body->particle_count;
    place *places = lmi_allocate(memory, MOST_CARRIERS, sizeof *places);
    bool *outer = particles ? lmi_allocate(memory, particles, sizeof *outer) : NULL;
    bool covered = false;
    bool ok = places && (!particles || (outer && find_outer(memory, body, s, outer, &covered)));
    if (ok) {
        /* Nearer than particles are to each other they would all say the same. A surface of particles bends more sharply than
         * what is inside, and wants more of them. */
        double coarse = fmax(s->coarse, 1e-30);
        coarse = fmax(coarse, body->lattice ? body->lattice->shape.spacing : 1.5 * s->spacing);
        double apart = covered || by_tets(body) ? 0.6 * fmax(s->coarse, s->spacing) : coarse;
        s->apart = 1.5 * coarse;
        while ((s->carrier_count = choose_places(body, 0.99 * apart, outer, places, MOST_CARRIERS)) > MOST_CARRIERS) {
            apart *= 1.25;
        }
        s->reach = 1.5 * apart;
        const uint32_t core = s->carrier_count;
        s->carrier_count = covered ? choose_core(body, s, outer, coarse, places, core) : core;
        ok = carry_places(world, body, s, places, outer, covered ? SHEET : LMI_FLAT, core);
    }
    lmi_release(memory, places, MOST_CARRIERS, sizeof *places);
    lmi_release(memory, outer, particles, sizeof *outer);
    return ok;
}

/* A hollow body has places inside that are far from every carrier: they must be reached too. */
static void find_far(lmi_mould *s)
{
    double farthest = 0.0;
    const uint32_t every = (uint32_t)fmax(0.5 * s->deep / s->cell, 1.0);
    for (uint32_t z = 0; z < s->n[2]; z += every) {
        for (uint32_t y = 0; y < s->n[1]; y += every) {
            for (uint32_t x = 0; x < s->n[0]; x += every) {
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
    s->far = fmax(s->reach, 1.5 * sqrt(farthest));
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
                            : make_carriers(world, body, made));
    if (made && !ok) {
        lmi_mould_give(world, made);
        return NULL;
    }
    if (made && !body->octree) {
        find_far(made);
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
