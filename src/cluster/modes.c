/*
 * The slowest mode of a body.
 *
 * Near rest one match takes displacements u to G u: each region follows translation, rotation and, to the share beta, what
 * its mode follows. I - G is symmetric in the masses, has eigenvalues 0 (motions as a whole) to 1, and a deformation with
 * the eigenvalue lambda rings at sqrt(lambda) times the frequency of a single region. The smallest one beyond the motions
 * as a whole is found as the largest of G by Lanczos' method, with all vectors kept orthogonal.
 *
 * Pins are not counted, nor is lasting deformation: it is the body as it was made.
 */
#include "base/guard.h"
#include "lattice/lattice_members.h"
#include "lattice/lattice_modes.h"
#include "world/access.h"
#include "world/elastic.h"

#include <string.h>

#define MOST_VECTORS 300
#define MOST_BYTES (256u << 20)

typedef struct modes {
    const lmi_body *body;
    lmi_region *regions; /* without pins */
    float *weights;      /* m~ of each particle */
    double *root;        /* sqrt of relative mass, 0 for particles in no region */
    double *basis;       /* rigid motions, then Lanczos vectors: rows of 3 n */
    double *image;
    double *diagonal; /* of the tridiagonal Ritz matrix */
    double *beside;   /* beside[k] couples vectors k - 1 and k */
    uint32_t vectors;
    uint32_t size; /* 3 n */
} modes;

/* What a region makes of displacements: transform of q as in match/fit.c, linearised at rest, in its rest axes. */
typedef struct response {
    lm_dvec3 mean;
    double linear[9];
    double quadratic[18];
} response;

/* The rigid and volume-keeping parts of an affine displacement L (of q): the best rotation [w] D, and L without its part
 * along the gradient of the volume. */
static void split_linear(const double d[3], const double l[9], double rigid[9], double kept[9])
{
    double w[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double inertia = d[i] * d[i] + d[j] * d[j];
        w[k] = inertia > 0.0 ? (l[3 * j + i] * d[i] - l[3 * i + j] * d[j]) / inertia : 0.0;
    }
    double cross[9] = {0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0};
    double cof[3] = {d[1] * d[2], d[2] * d[0], d[0] * d[1]};
    double square = cof[0] * cof[0] + cof[1] * cof[1] + cof[2] * cof[2];
    double along = d[2] > 0.0 ? (l[0] * cof[0] + l[4] * cof[1] + l[8] * cof[2]) / square : 0.0;
    for (int i = 0; i < 9; i++) {
        rigid[i] = cross[i] * d[i % 3];
        kept[i] = l[i] - (i % 4 == 0 ? along * cof[i / 4] : 0.0);
    }
}

static response respond(const modes *m, uint32_t r, const double *u)
{
    const lmi_body *body = m->body;
    const lmi_region *region = &m->regions[r];
    response out = {{0.0, 0.0, 0.0}, {0}, {0}};
    double l[9] = {0}, sums[18] = {0}, rigid[9], kept[9], beta = body->material.beta;
    for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
        uint32_t p = body->members[n];
        double w = m->weights[p] * (double)region->inverse_mass, f[6];
        lm_dvec3 q = lmi_region_local(region, body->rest[p]);
        lm_dvec3 at = dmat_apply_transposed(&region->axes, dvec(u[3 * p], u[3 * p + 1], u[3 * p + 2]));
        double v[3] = {w * at.x, w * at.y, w * at.z}, local[3] = {q.x, q.y, q.z};
        out.mean = dvec_add(out.mean, dvec(v[0], v[1], v[2]));
        lmi_quadratics(q, f);
        for (int i = 0; i < 9; i++) {
            l[i] += v[i / 3] * local[i % 3];
        }
        for (int i = 0; i < 18; i++) {
            sums[i] += v[i / 6] * f[i % 6];
        }
    }
    split_linear(region->extent, l, rigid, kept);
    double share = body->material.mode == LM_MODE_RIGID ? 0.0 : beta;
    const double *followed = body->material.mode == LM_MODE_QUADRATIC ? l : kept;
    double mean[3] = {out.mean.x, out.mean.y, out.mean.z};
    for (int i = 0; i < 9; i++) {
        out.linear[i] = share * followed[i] + (1.0 - share) * rigid[i];
    }
    for (int i = 0; body->material.mode == LM_MODE_QUADRATIC && i < 18; i++) {
        double value = 0.0;
        for (int k = 0; k < 6; k++) {
            const float *of = region->linear[k];
            const double *row = l + 3 * (i / 6);
            double pure = sums[i / 6 * 6 + k] - mean[i / 6] * region->mean[k] -
                          (row[0] * of[0] + row[1] * of[1] + row[2] * of[2]);
            value += region->inverse_gram[i % 6][k] * pure;
        }
        out.quadratic[i] = share * value;
    }
    return out;
}

/* y -> G y for y = sqrt(mass) u; `u` and `image` have room for 3 n. */
static void apply_match(const modes *m, const double *y, double *u, double *image)
{
    const lmi_body *body = m->body;
    for (uint32_t n = 0; n < m->size; n++) {
        u[n] = m->root[n / 3] > 0.0 ? y[n] / m->root[n / 3] : 0.0;
        image[n] = y[n];
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        const lmi_region *region = &m->regions[r];
        response a = respond(m, r, u);
        double stiffness = lmi_region_share(body, body->regions, r);
        for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
            uint32_t p = body->members[n];
            lm_dvec3 q = lmi_region_local(region, body->rest[p]);
            double f[6], local[3] = {q.x, q.y, q.z}, goal[3] = {a.mean.x, a.mean.y, a.mean.z};
            lmi_quadratics(q, f);
            for (int i = 0; i < 6; i++) {
                f[i] -= region->mean[i] + region->linear[i][0] * q.x + region->linear[i][1] * q.y +
                        region->linear[i][2] * q.z;
            }
            for (int i = 0; i < 9; i++) {
                goal[i / 3] += a.linear[i] * local[i % 3];
            }
            for (int i = 0; i < 18; i++) {
                goal[i / 6] += a.quadratic[i] * f[i % 6];
            }
            lm_dvec3 to = dmat_apply(&region->axes, dvec(goal[0], goal[1], goal[2]));
            /* weight over mass is 1/|R| */
            double share = stiffness * m->weights[p] / m->root[p];
            image[3 * p] += share * (to.x - u[3 * p]);
            image[3 * p + 1] += share * (to.y - u[3 * p + 1]);
            image[3 * p + 2] += share * (to.z - u[3 * p + 2]);
        }
    }
}

static double dot(const double *a, const double *b, uint32_t size)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < size; n++) {
        sum += a[n] * b[n];
    }
    return sum;
}

/* Takes the first `count` basis vectors out of v, twice for rounding, and normalises; returns the length it had. */
static double orthogonalise(const modes *m, uint32_t count, double *v)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < count; k++) {
            const double *b = m->basis + (size_t)k * m->size;
            double along = dot(b, v, m->size);
            for (uint32_t n = 0; n < m->size; n++) {
                v[n] -= along * b[n];
            }
        }
    }
    double length = sqrt(dot(v, v, m->size));
    for (uint32_t n = 0; n < m->size; n++) {
        v[n] = length > 0.0 ? v[n] / length : 0.0;
    }
    return length;
}

/* The motions as a whole, as the first basis vectors; returns how many there are (a point has three). */
static uint32_t make_rigid_motions(modes *m)
{
    lm_dvec3 centre = lm_dvec3_zero();
    double mass = 0.0, size = 0.0;
    for (uint32_t p = 0; p < m->body->particle_count; p++) {
        double w = m->root[p] * m->root[p];
        centre = dvec_add(centre, dvec_scale(dvec_from(m->body->rest[p]), w));
        mass += w;
    }
    centre = dvec_scale(centre, mass > 0.0 ? 1.0 / mass : 0.0);
    for (uint32_t p = 0; p < m->body->particle_count; p++) {
        size = fmax(size, dvec_length(dvec_sub(dvec_from(m->body->rest[p]), centre)));
    }
    uint32_t count = 0;
    for (int k = 0; k < 6; k++) {
        double *v = m->basis + (size_t)count * m->size;
        for (uint32_t p = 0; p < m->body->particle_count; p++) {
            lm_dvec3 r = dvec_scale(dvec_sub(dvec_from(m->body->rest[p]), centre), size > 0.0 ? 1.0 / size : 0.0);
            lm_dvec3 axis = dvec(k % 3 == 0, k % 3 == 1, k % 3 == 2), u = k < 3 ? axis : dvec_cross(axis, r);
            v[3 * p] = m->root[p] * u.x, v[3 * p + 1] = m->root[p] * u.y, v[3 * p + 2] = m->root[p] * u.z;
        }
        double before = sqrt(dot(v, v, m->size));
        count += before > 0.0 && orthogonalise(m, count, v) > 1e-6 * before;
    }
    return count;
}

/* A start that has something of every mode: a fixed sequence of pseudo-random numbers. */
static void make_start(const modes *m, double *v)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint32_t n = 0; n < m->size; n++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        v[n] = m->root[n / 3] * ((double)(state >> 40) / 8388608.0 - 1.0);
    }
}

/* How many eigenvalues of the tridiagonal matrix are above a value: the signs of its Sturm sequence. */
static uint32_t count_above(const modes *m, uint32_t count, double value)
{
    uint32_t above = 0;
    double pivot = 1.0;
    for (uint32_t k = 0; k < count; k++) {
        double square = k ? m->beside[k] * m->beside[k] : 0.0;
        pivot = m->diagonal[k] - value - (k ? square / pivot : 0.0);
        pivot = fabs(pivot) < 1e-300 ? -1e-300 : pivot;
        above += pivot > 0.0;
    }
    return above;
}

/* The largest eigenvalue of G beyond the motions as a whole, or -1 when there is nothing beyond them. */
static double find_largest(modes *m)
{
    uint32_t rigid = make_rigid_motions(m), count = 0;
    double *u = m->image + m->size;
    make_start(m, m->basis + (size_t)rigid * m->size);
    for (; count < m->vectors; count++) {
        double *v = m->basis + (size_t)(rigid + count) * m->size;
        double start = sqrt(dot(v, v, m->size));
        if (!(orthogonalise(m, rigid + count, v) > 1e-9 * fmax(start, 1e-300)) || start < 1e-12) {
            break; /* everything that can move is spanned */
        }
        apply_match(m, v, u, m->image);
        m->diagonal[count] = dot(v, m->image, m->size);
        m->beside[count] = count ? dot(v - m->size, m->image, m->size) : 0.0;
        if (count + 1 < m->vectors) {
            memcpy(v + m->size, m->image, m->size * sizeof *m->image);
        }
    }
    if (count == 0) {
        return -1.0;
    }
    double low = -1.0, high = 2.0;
    for (int n = 0; n < 60; n++) {
        double middle = 0.5 * (low + high);
        if (count_above(m, count, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static bool make(lm_world *world, const lmi_body *body, modes *m)
{
    lmi_memory *memory = &world->memory;
    m->body = body;
    m->size = 3 * body->particle_count;
    uint64_t room = MOST_BYTES / ((uint64_t)m->size * sizeof(double));
    m->vectors = room < MOST_VECTORS + 6 ? (room > 26 ? (uint32_t)room - 6 : 20) : MOST_VECTORS;
    m->vectors = m->size < m->vectors ? m->size : m->vectors;
    m->regions = lmi_allocate(memory, body->region_count, sizeof *m->regions);
    m->weights = lmi_allocate(memory, body->particle_count, sizeof *m->weights);
    m->root = lmi_allocate(memory, body->particle_count, sizeof *m->root);
    m->basis = lmi_allocate(memory, (size_t)(m->vectors + 6) * m->size, sizeof *m->basis);
    m->image = lmi_allocate(memory, 2 * (size_t)m->size, sizeof *m->image);
    m->diagonal = lmi_allocate(memory, MOST_VECTORS, sizeof *m->diagonal);
    m->beside = lmi_allocate(memory, MOST_VECTORS, sizeof *m->beside);
    if (!m->regions || !m->weights || !m->root || !m->basis || !m->image || !m->diagonal || !m->beside) {
        return false;
    }
    for (uint32_t n = 0; n < body->membership_count; n++) {
        m->weights[body->members[n]] += 1.0f;
    }
    for (uint32_t p = 0; p < body->particle_count; p++) {
        double mass = body->mass[p] / body->mean_mass;
        m->root[p] = m->weights[p] > 0.0f ? sqrt(mass) : 0.0;
        m->weights[p] = m->weights[p] > 0.0f ? (float)(mass / m->weights[p]) : 0.0f;
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t first = body->region_offsets[r];
        lmi_region_make(&m->regions[r], body->rest, m->weights, body->members + first,
                        body->region_offsets[r + 1] - first);
    }
    return true;
}

static void release(lm_world *world, modes *m)
{
    lmi_memory *memory = &world->memory;
    lmi_release(memory, m->regions, m->body->region_count, sizeof *m->regions);
    lmi_release(memory, m->weights, m->body->particle_count, sizeof *m->weights);
    lmi_release(memory, m->root, m->body->particle_count, sizeof *m->root);
    lmi_release(memory, m->basis, (size_t)(m->vectors + 6) * m->size, sizeof *m->basis);
    lmi_release(memory, m->image, 2 * (size_t)m->size, sizeof *m->image);
    lmi_release(memory, m->diagonal, MOST_VECTORS, sizeof *m->diagonal);
    lmi_release(memory, m->beside, MOST_VECTORS, sizeof *m->beside);
}

static bool find_in_clusters(lm_world *world, const lmi_body *body, double *slowest)
{
    modes m = {0};
    bool ok = make(world, body, &m);
    if (ok) {
        *slowest = 1.0 - find_largest(&m);
    }
    release(world, &m);
    return ok;
}

static bool find_in_lattice(lm_world *world, const lmi_body *body, double *slowest)
{
    float *stiffness = NULL;
    bool ok = true;
    if (body->stiffness) {
        stiffness = lmi_allocate(&world->memory, body->place_count, sizeof *stiffness);
        ok = stiffness != NULL;
    }
    if (stiffness) {
        lmi_lattice_stiffness_by_place(body, stiffness);
    }
    double share = body->material.mode == LM_MODE_RIGID ? 0.0 : body->material.beta;
    ok = ok && lmi_lattice_slowest(&world->memory, &body->lattice->shape, body->mass, stiffness, share, slowest);
    lmi_release(&world->memory, stiffness, body->place_count, sizeof *stiffness);
    return ok;
}

lm_result lm_body_get_slowest_mode(lm_world *world, lm_body_id id, float *share)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_slowest_mode");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->octree) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_slowest_mode: not of an octree");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    double slowest = 0.0;
    bool ok = body->lattice ? find_in_lattice(world, body, &slowest) : find_in_clusters(world, body, &slowest);
    if (ok) {
        *share = (float)(slowest > 1.0 ? 1.0 : slowest < 0.0 ? 0.0 : slowest);
    }
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_get_slowest_mode: out of memory");
}
