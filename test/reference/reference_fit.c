/*
 * Match: from positions to goals, region by region.
 *
 * The quadratic fit is done as a projection onto an orthonormal set of functions on the region's particles rather than
 * with a 9x9 matrix: the result is the same, the way there is not.
 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* Variances below this share of the largest are directions that the rest shape does not have. */
#define RANK_FLOOR 1e-8

/* Quadratic functions weaker than this, in coordinates in which the rest shape has unit covariance, are not fitted. */
#define QUADRATIC_FLOOR 1e-3

/* A linear fit is followed in full while its volume, relative to the rest shape's, is between these. */
#define FADE_BELOW 0.3
#define FADE_ABOVE 2.0

/* An elastic strain this near to the yield may count as beyond it or not. */
#define YIELD_DOUBT 1e-4

#define MAX_FUNCTIONS 9

typedef struct region {
    uint32_t count;
    const uint32_t *members;
    double *weight; /* fit weights */
    double mass;    /* their sum */
    ref_vec centre0, centre;
    ref_vec *q, *p; /* from the centres */
    ref_mat moment; /* sum weight p q^T */
    ref_mat rest;   /* sum weight q q^T */
    ref_mat plastic;
    ref_mat shape; /* what q is multiplied by: the mix of examples after what has flowed */
    double share;
} region;

static double inverse(double value) { return 1.0 / value; }

static double one(double value) { return value > 0.0; }

static double inverse_root(double value) { return 1.0 / sqrt(value); }

ref_mat ref_polar(ref_mat a)
{
    ref_mat u, v;
    double s[3];
    ref_svd(a, &u, s, &v);
    return ref_mat_mul(u, ref_transpose(v));
}

/* The product of the three stretches t_i = (s_i + sqrt(s_i² + 4 mu))/2 that satisfy t_i (t_i - s_i) = mu. `small` takes
 * the other root for the last one. */
static double stretch_product(const double s[3], double mu, bool small, double t[3])
{
    for (int k = 0; k < 3; k++) {
        double root = sqrt(fmax(0.0, s[k] * s[k] + 4.0 * mu));
        t[k] = 0.5 * (s[k] + (small && k == 2 ? -root : root));
    }
    return t[0] * t[1] * t[2];
}

/* In the coordinates b = a q^(1/2) the rest metric is Frobenius' and the constraint reads det = sqrt(det q). The closest
 * such matrix keeps the singular vectors; its singular values move along the normal of the constraint, by one multiplier
 * mu that is found by bisection. */
ref_mat ref_unit_volume(ref_mat a, ref_mat q)
{
    double scale = ref_trace(q) / 3.0;
    q = ref_mat_scale(1.0 / scale, q);
    ref_mat root = ref_symmetric_function(q, 0.0, sqrt);
    ref_mat unroot = ref_symmetric_function(q, 0.0, inverse_root);
    double volume = sqrt(ref_det(q));
    ref_mat u, v;
    double s[3], t[3];
    ref_svd(ref_mat_mul(a, root), &u, s, &v);

    /* The product grows with mu on the branch of large roots, from mu = -s2²/4 on. If it is too large there already, the
     * smallest stretch must shrink below half of itself: the other root, for which the product falls as mu rises. */
    double low = s[2] > 0.0 ? -0.25 * s[2] * s[2] : 0.0, high = 1.0;
    bool small = s[2] > 0.0 && stretch_product(s, low, false, t) > volume;
    if (small) {
        high = 0.0;
        for (int k = 0; k < 300; k++) {
            double middle = 0.5 * (low + high);
            if (stretch_product(s, middle, true, t) > volume)
                low = middle;
            else
                high = middle;
        }
    } else {
        while (stretch_product(s, high, false, t) < volume) high *= 2.0;
        for (int k = 0; k < 300; k++) {
            double middle = 0.5 * (low + high);
            if (stretch_product(s, middle, false, t) < volume)
                low = middle;
            else
                high = middle;
        }
    }
    stretch_product(s, 0.5 * (low + high), small, t);
    ref_mat stretched = ref_from_columns(ref_scale(t[0], ref_column(u, 0)), ref_scale(t[1], ref_column(u, 1)),
                                         ref_scale(t[2], ref_column(u, 2)));
    return ref_mat_mul(ref_mat_mul(stretched, ref_transpose(v)), unroot);
}

/* `factor`: how far from the threshold a value must be for the answer to be beyond doubt. */
static void note_margin(ref_body *body, double value, double threshold, double factor)
{
    double margin = value > 0.0 ? fabs(log(value / threshold)) / log(factor) : 1e9;
    if (margin < body->margin) body->margin = margin;
}

/* How many dimensions the rest shape has. */
static int rank_of(ref_body *body, const region *r)
{
    double values[3], vectors[9];
    ref_eigen_symmetric(3, &r->rest.at[0][0], values, vectors);
    int rank = 0;
    for (int k = 0; k < 3; k++) {
        if (values[2] <= 0.0) break;
        rank += values[k] > RANK_FLOOR * values[2];
        note_margin(body, fmax(0.0, values[k] - 1e-14 * values[2]), RANK_FLOOR * values[2], 1e4);
    }
    return rank;
}

/* Passes over what the fit may decide as it likes: a moment whose best rotation is ambiguous, and a linear fit so much
 * smaller or larger than the rest shape that the library follows it less. */
static void note_ambiguity(ref_body *body, const region *r)
{
    ref_mat u, v;
    double s[3];
    ref_svd(ref_mat_mul(r->moment, ref_transpose(r->shape)), &u, s, &v);
    if (s[1] > 1e-9 * s[0]) body->margin = fmin(body->margin, (s[1] + s[2]) / (0.02 * s[1]));
    if (body->material.mode != LM_MODE_LINEAR || rank_of(body, r) < 3) return;
    double volume = ref_det(r->moment) / ref_det(r->rest);
    if (volume <= FADE_BELOW || volume >= FADE_ABOVE) body->margin = 0.0;
}

/* Inside out, the axis that is turned must be told from the others. */
static void note_inversion(ref_body *body, const region *r, ref_mat a)
{
    ref_mat u, v;
    double s[3];
    ref_svd(ref_mat_mul(a, ref_symmetric_function(r->plastic, 0.0, inverse)), &u, s, &v);
    if (s[2] < 0.0) body->margin = fmin(body->margin, (s[1] + s[2]) / (0.02 * s[1]));
}

static void measure_region(const ref_body *body, const double *weights, uint32_t index, region *r)
{
    r->plastic = body->plastic[index];
    r->shape = ref_mat_mul(body->mix[index], body->plastic[index]);
    r->share = body->share[index];
    r->members = body->members + body->offsets[index];
    r->count = body->offsets[index + 1] - body->offsets[index];
    r->mass = 0.0;
    ref_vec sum0 = {0}, sum = {0};
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t i = r->members[k];
        r->weight[k] = weights[i];
        r->mass += weights[i];
        sum0 = ref_add_scaled(sum0, weights[i], body->rest[i]);
        sum = ref_add_scaled(sum, weights[i], body->x[i]);
    }
    r->centre0 = ref_scale(1.0 / r->mass, sum0);
    r->centre = ref_scale(1.0 / r->mass, sum);
    memset(&r->moment, 0, sizeof r->moment);
    memset(&r->rest, 0, sizeof r->rest);
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t i = r->members[k];
        r->q[k] = ref_sub(body->rest[i], r->centre0);
        r->p[k] = ref_sub(body->x[i], r->centre);
        r->moment = ref_mat_add(r->moment, ref_mat_scale(r->weight[k], ref_outer(r->p[k], r->q[k])));
        r->rest = ref_mat_add(r->rest, ref_mat_scale(r->weight[k], ref_outer(r->q[k], r->q[k])));
    }
}

/* The matrix that a linear region follows. A region without volume has none to keep. */
static ref_mat linear_target(ref_body *body, const region *r)
{
    ref_mat a = ref_mat_mul(r->moment, ref_symmetric_function(r->rest, RANK_FLOOR, inverse));
    return rank_of(body, r) == 3 ? ref_unit_volume(a, r->rest) : a;
}

/* Functions on the particles of a region, values[f * count + k]. */
typedef struct functions {
    int count;
    double *values;
} functions;

static double inner(const region *r, const double *f, const double *g)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < r->count; k++) sum += r->weight[k] * f[k] * g[k];
    return sum / r->mass;
}

/* f -= its part along the functions g[0..count) (orthonormal) and its mean. */
static void remove_parts(const region *r, const double *g, int count, double *f)
{
    double mean = 0.0;
    for (uint32_t k = 0; k < r->count; k++) mean += r->weight[k] * f[k] / r->mass;
    for (uint32_t k = 0; k < r->count; k++) f[k] -= mean;
    for (int c = 0; c < count; c++) {
        double part = inner(r, f, g + (size_t)c * r->count);
        for (uint32_t k = 0; k < r->count; k++) f[k] -= part * g[(size_t)c * r->count + k];
    }
}

/* An orthonormal basis of what a quadratic region can follow: the linear functions, then the quadratic ones (squares and
 * products of the whitened coordinates, less their linear part) that are strong enough to be told from noise. */
static functions quadratic_basis(ref_body *body, const region *r)
{
    uint32_t n = r->count;
    functions basis = {0, calloc((size_t)MAX_FUNCTIONS * n, sizeof(double))};
    double values[3], vectors[9];
    ref_mat covariance = ref_mat_scale(1.0 / r->mass, r->rest);
    ref_eigen_symmetric(3, &covariance.at[0][0], values, vectors);
    for (int a = 0; a < 3; a++) {
        if (values[a] <= RANK_FLOOR * values[2] || values[a] <= 0.0) continue;
        ref_vec axis = ref_v(vectors[a], vectors[3 + a], vectors[6 + a]);
        double *f = basis.values + (size_t)basis.count++ * n;
        for (uint32_t k = 0; k < n; k++) f[k] = ref_dot(axis, r->q[k]) / sqrt(values[a]);
    }

    /* Whitened coordinates along the body's own axes. The choice of axes changes the weight of squares against products
     * by up to a factor of two, and so which functions count as weak. */
    ref_mat whiten = ref_symmetric_function(covariance, RANK_FLOOR, inverse_root);
    double *quadratic = calloc((size_t)6 * n, sizeof(double));
    for (uint32_t k = 0; k < n; k++) {
        ref_vec y = ref_mat_vec(whiten, r->q[k]);
        double terms[6] = {y.x * y.x, y.y * y.y, y.z * y.z, y.x * y.y, y.y * y.z, y.z * y.x};
        for (int f = 0; f < 6; f++) quadratic[(size_t)f * n + k] = terms[f];
    }
    double gram[36], strengths[6], mixes[36];
    for (int f = 0; f < 6; f++) {
        remove_parts(r, basis.values, basis.count, quadratic + (size_t)f * n);
        remove_parts(r, basis.values, basis.count, quadratic + (size_t)f * n); /* again, for the rounding */
    }
    for (int f = 0; f < 6; f++)
        for (int g = 0; g < 6; g++) gram[f * 6 + g] = inner(r, quadratic + (size_t)f * n, quadratic + (size_t)g * n);
    ref_eigen_symmetric(6, gram, strengths, mixes);
    for (int e = 0; e < 6; e++) {
        note_margin(body, fmax(0.0, strengths[e] - 1e-14), QUADRATIC_FLOOR, 2.0);
        if (strengths[e] < QUADRATIC_FLOOR) continue;
        double *f = basis.values + (size_t)basis.count++ * n;
        for (int g = 0; g < 6; g++)
            for (uint32_t k = 0; k < n; k++)
                f[k] += mixes[g * 6 + e] * quadratic[(size_t)g * n + k] / sqrt(strengths[e]);
    }
    free(quadratic);
    return basis;
}

static void add_quadratic_goals(ref_body *body, const region *r, double part, ref_vec *pulls)
{
    functions basis = quadratic_basis(body, r);
    for (int f = 0; f < basis.count; f++) {
        const double *values = basis.values + (size_t)f * r->count;
        ref_vec coefficient = {0};
        for (uint32_t k = 0; k < r->count; k++)
            coefficient = ref_add_scaled(coefficient, r->weight[k] * values[k] / r->mass, r->p[k]);
        for (uint32_t k = 0; k < r->count; k++)
            pulls[r->members[k]] = ref_add_scaled(pulls[r->members[k]], part * values[k], coefficient);
    }
    free(basis.values);
}

/* Adds the region's share of the way to its goals, c + [beta A' + (1 - beta) R Sp] q. The beta part fits q and does not
 * change when q is replaced by Sp q. */
static void add_region_pulls(ref_body *body, const region *r, ref_vec *pulls)
{
    double beta = body->material.mode == LM_MODE_RIGID ? 0.0 : (double)body->material.beta;
    note_ambiguity(body, r);
    ref_mat rotation = ref_polar(ref_mat_mul(r->moment, ref_transpose(r->shape)));
    ref_mat follow = ref_mat_scale(1.0 - beta, ref_mat_mul(rotation, r->shape));
    if (body->material.mode == LM_MODE_LINEAR && beta > 0.0)
        follow = ref_mat_add(follow, ref_mat_scale(beta, linear_target(body, r)));
    for (uint32_t k = 0; k < r->count; k++) {
        ref_vec way = ref_sub(ref_mat_vec(follow, r->q[k]), r->p[k]);
        pulls[r->members[k]] = ref_add_scaled(pulls[r->members[k]], r->share, way);
    }
    if (body->material.mode == LM_MODE_QUADRATIC && beta > 0.0) add_quadratic_goals(body, r, r->share * beta, pulls);
}

/* Runs through the regions with their moments measured from the positions as they are. */
typedef struct match_walk {
    ref_body *body;
    double *regions_of; /* how many regions each particle is in, or what they count */
    double *weights;
    region r;
} match_walk;

static match_walk walk_begin(ref_body *body)
{
    match_walk walk = {.body = body};
    walk.regions_of = calloc(body->count, sizeof *walk.regions_of);
    walk.weights = calloc(body->count, sizeof *walk.weights);
    walk.r.weight = calloc(body->count, sizeof(double));
    walk.r.q = calloc(body->count, sizeof(ref_vec));
    walk.r.p = calloc(body->count, sizeof(ref_vec));
    for (uint32_t r = 0; r < body->region_count; r++)
        for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++)
            walk.regions_of[body->members[k]] += body->count_as[r];
    double total = 0.0;
    for (uint32_t i = 0; i < body->count; i++) total += body->mass[i];
    for (uint32_t i = 0; i < body->count; i++) {
        double weight = body->pinned[i] ? fmax(body->mass[i], total) : body->mass[i];
        walk.weights[i] = walk.regions_of[i] > 0 ? weight / walk.regions_of[i] : 0.0;
    }
    return walk;
}

static void walk_end(match_walk *walk)
{
    free(walk->r.weight);
    free(walk->r.q);
    free(walk->r.p);
    free(walk->weights);
    free(walk->regions_of);
}

void ref_match(ref_body *body, ref_vec *goals)
{
    match_walk walk = walk_begin(body);
    for (uint32_t i = 0; i < body->count; i++) goals[i] = ref_v(0, 0, 0);
    for (uint32_t index = 0; index < body->region_count; index++) {
        measure_region(body, walk.weights, index, &walk.r);
        walk.r.share *= body->count_as[index];
        add_region_pulls(body, &walk.r, goals);
    }
    for (uint32_t i = 0; i < body->count; i++) {
        ref_vec pull = walk.regions_of[i] > 0 ? ref_scale(1.0 / walk.regions_of[i], goals[i]) : ref_v(0, 0, 0);
        goals[i] = ref_add(body->x[i], pull);
    }
    walk_end(&walk);
}

/* A, in the directions that the rest shape does not have completed with R Sp: no elastic strain there. */
static ref_mat completed_deformation(const region *r)
{
    ref_mat fitted = ref_mat_mul(r->moment, ref_symmetric_function(r->rest, RANK_FLOOR, inverse));
    ref_mat known = ref_symmetric_function(r->rest, RANK_FLOOR, one);
    ref_mat unknown = ref_mat_add(ref_identity(), ref_mat_scale(-1.0, known));
    ref_mat rotation = ref_polar(ref_mat_mul(r->moment, ref_transpose(r->plastic)));
    return ref_mat_add(fitted, ref_mat_mul(ref_mat_mul(rotation, r->plastic), unknown));
}

void ref_flow(ref_body *body, double h)
{
    if (!(body->material.yield > 0.0f)) return;
    match_walk walk = walk_begin(body);
    for (uint32_t index = 0; index < body->region_count; index++) {
        measure_region(body, walk.weights, index, &walk.r);
        double strain;
        ref_mat a = completed_deformation(&walk.r);
        body->plastic[index] = ref_flowed(walk.r.plastic, a, &body->material, h, &strain);
        body->margin = fmin(body->margin, fabs(strain - (double)body->material.yield) / YIELD_DOUBT);
        note_inversion(body, &walk.r, a);
    }
    walk_end(&walk);
}
