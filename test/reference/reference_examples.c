/*
 * Examples: the stretch of every region against those of the poses, and the nearest mix by trying every face of the hull.
 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* Variances below this share of the largest are directions that the rest shape does not have. */
#define RANK_FLOOR 1e-8

#define MOST_CORNERS (LM_MAX_EXAMPLES + 1)

static double inverse(double value) { return 1.0 / value; }

static double one(double value) { return value > 0.0; }

/* Stretches in an example are limited. */
#define LEAST_STRETCH 0.05
#define MOST_STRETCH 20.0

/* ---- the nearest point of a hull ---- */

/* The weights of some corners that come nearest, whatever their signs. `gram` has the products of the corners (count of
 * them) and, last, of the target. Returns the squared distance. */
static double nearest_on(int count, const double *gram, const int *corners, int used, double *weights)
{
    int stride = count + 1, base = corners[0], target = count;
    double h[MOST_CORNERS * MOST_CORNERS], r[MOST_CORNERS], values[MOST_CORNERS], vectors[MOST_CORNERS * MOST_CORNERS];
    int n = used - 1;
    for (int i = 0; i < n; i++) {
        int a = corners[i + 1];
        for (int j = 0; j < n; j++) {
            int b = corners[j + 1];
            h[i * n + j] =
                gram[a * stride + b] - gram[a * stride + base] - gram[base * stride + b] + gram[base * stride + base];
        }
        r[i] = gram[a * stride + target] - gram[a * stride + base] - gram[base * stride + target] +
               gram[base * stride + base];
    }
    memset(weights, 0, (size_t)count * sizeof *weights);
    weights[base] = 1.0;
    if (n > 0) ref_eigen_symmetric(n, h, values, vectors);
    for (int k = 0; k < n; k++) {
        if (values[k] <= 1e-13 * values[n - 1] || values[k] <= 0.0) continue;
        double along = 0.0;
        for (int i = 0; i < n; i++) along += vectors[i * n + k] * r[i];
        for (int i = 0; i < n; i++) {
            weights[corners[i + 1]] += vectors[i * n + k] * along / values[k];
            weights[base] -= vectors[i * n + k] * along / values[k];
        }
    }
    double square = gram[target * stride + target];
    for (int i = 0; i < count; i++) {
        square -= 2.0 * weights[i] * gram[i * stride + target];
        for (int j = 0; j < count; j++) square += weights[i] * weights[j] * gram[i * stride + j];
    }
    return square;
}

double ref_nearest_mix(int count, const double *gram, double *weights)
{
    double best = INFINITY;
    for (unsigned set = 1; set < 1u << count; set++) {
        int corners[MOST_CORNERS], used = 0;
        double mine[MOST_CORNERS];
        for (int k = 0; k < count; k++)
            if (set >> k & 1) corners[used++] = k;
        double square = nearest_on(count, gram, corners, used, mine);
        bool feasible = true;
        for (int k = 0; k < count; k++) feasible = feasible && mine[k] >= -1e-12;
        if (!feasible || square >= best) continue;
        best = square;
        memcpy(weights, mine, (size_t)count * sizeof *weights);
    }
    return best;
}

/* ---- stretches ---- */

/* The root of a symmetric matrix less 1, its eigenvalues limited. */
static ref_mat root_less_one(ref_mat c, double least, double most)
{
    double values[3], vectors[9];
    ref_mat result = {{{0}}};
    ref_eigen_symmetric(3, &c.at[0][0], values, vectors);
    for (int k = 0; k < 3; k++) {
        ref_vec axis = ref_v(vectors[k], vectors[3 + k], vectors[6 + k]);
        double stretch = fmin(most, fmax(least, sqrt(fmax(0.0, values[k]))));
        result = ref_mat_add(result, ref_mat_scale(stretch - 1.0, ref_outer(axis, axis)));
    }
    return result;
}

/* The right stretch, less 1, of a region's map from `rest` to `at`; with `plastic`, of what is on top of that, else of an
 * example. */
static ref_mat deviation(const ref_body *body, const double *weights, uint32_t region, const ref_vec *at,
                         const ref_mat *plastic)
{
    ref_vec centre0 = {0}, centre = {0};
    double mass = 0.0;
    const uint32_t *members = body->members + body->offsets[region];
    uint32_t count = body->offsets[region + 1] - body->offsets[region];
    for (uint32_t k = 0; k < count; k++) {
        mass += weights[members[k]];
        centre0 = ref_add_scaled(centre0, weights[members[k]], body->rest[members[k]]);
        centre = ref_add_scaled(centre, weights[members[k]], at[members[k]]);
    }
    centre0 = ref_scale(1.0 / mass, centre0);
    centre = ref_scale(1.0 / mass, centre);
    ref_mat moment = {{{0}}}, rest = {{{0}}};
    for (uint32_t k = 0; k < count; k++) {
        ref_vec q = ref_sub(body->rest[members[k]], centre0), p = ref_sub(at[members[k]], centre);
        moment = ref_mat_add(moment, ref_mat_scale(weights[members[k]], ref_outer(p, q)));
        rest = ref_mat_add(rest, ref_mat_scale(weights[members[k]], ref_outer(q, q)));
    }
    ref_mat a = ref_mat_mul(moment, ref_symmetric_function(rest, RANK_FLOOR, inverse));
    if (plastic) a = ref_mat_mul(a, ref_symmetric_function(*plastic, 0.0, inverse));
    ref_mat known = ref_symmetric_function(rest, RANK_FLOOR, one);
    ref_mat c = ref_mat_mul(known, ref_mat_mul(ref_mat_mul(ref_transpose(a), a), known));
    c = ref_mat_add(c, ref_mat_add(ref_identity(), ref_mat_scale(-1.0, known)));
    return plastic ? root_less_one(c, 0.0, INFINITY) : root_less_one(c, LEAST_STRETCH, MOST_STRETCH);
}

static double product(ref_mat a, ref_mat b) { return ref_trace(ref_mat_mul(a, ref_transpose(b))); }

/* ---- of a body ---- */

void ref_set_examples(ref_body *body, const lm_examples_def *def)
{
    ref_examples *e = &body->examples;
    e->count = (int)def->count;
    e->beta = (double)def->beta;
    e->groups = def->scope == LM_EXAMPLES_BODY      ? 1
                : def->scope == LM_EXAMPLES_REGIONS ? body->region_count
                                                    : def->group_count;
    e->poses = calloc((size_t)def->count * body->count, sizeof *e->poses);
    e->group = calloc(body->region_count, sizeof *e->group);
    e->weights = calloc((size_t)e->groups * MOST_CORNERS, sizeof *e->weights);
    for (size_t n = 0; n < (size_t)def->count * body->count; n++)
        e->poses[n] = ref_v((double)def->poses[n].x, (double)def->poses[n].y, (double)def->poses[n].z);
    for (uint32_t r = 0; r < body->region_count; r++)
        e->group[r] = def->scope == LM_EXAMPLES_BODY ? 0 : def->scope == LM_EXAMPLES_REGIONS ? r : def->groups[r];
}

/* Weights in fits, and masses shared among regions. */
static void find_weights(const ref_body *body, double *weights, double *shares)
{
    double *regions_of = calloc(body->count, sizeof *regions_of);
    double total = 0.0;
    for (uint32_t r = 0; r < body->region_count; r++)
        for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++)
            regions_of[body->members[k]] += body->count_as[r];
    for (uint32_t i = 0; i < body->count; i++) total += body->mass[i];
    for (uint32_t i = 0; i < body->count; i++) {
        double weight = body->pinned[i] ? fmax(body->mass[i], total) : body->mass[i];
        weights[i] = regions_of[i] > 0 ? weight / regions_of[i] : 0.0;
        shares[i] = regions_of[i] > 0 ? body->mass[i] / regions_of[i] : 0.0;
    }
    free(regions_of);
}

ref_mat ref_example_stretch(const ref_body *body, uint32_t region, uint32_t example)
{
    double *weights = calloc(body->count, sizeof *weights), *shares = calloc(body->count, sizeof *shares);
    find_weights(body, weights, shares);
    ref_mat d = deviation(body, weights, region, body->examples.poses + (size_t)example * body->count, NULL);
    free(weights);
    free(shares);
    return d;
}

void ref_mix(ref_body *body)
{
    ref_examples *e = &body->examples;
    for (uint32_t r = 0; r < body->region_count; r++) body->mix[r] = ref_identity();
    if (e->count == 0) return;
    int n = e->count, stride = n + 2;
    double *weights = calloc(body->count, sizeof *weights), *shares = calloc(body->count, sizeof *shares);
    double *grams = calloc((size_t)e->groups * (size_t)(stride * stride), sizeof *grams);
    ref_mat *all = calloc((size_t)body->region_count * (size_t)stride, sizeof *all);
    find_weights(body, weights, shares);
    for (uint32_t r = 0; r < body->region_count; r++) {
        ref_mat *mine = all + (size_t)r * (size_t)stride; /* corners, the rest pose first, then the body as it is */
        double mass = 0.0;
        if (e->group[r] == LM_NO_GROUP) continue;
        for (uint32_t k = body->offsets[r]; k < body->offsets[r + 1]; k++)
            mass += body->count_as[r] * shares[body->members[k]];
        for (int k = 0; k < n; k++) mine[k + 1] = deviation(body, weights, r, e->poses + (size_t)k * body->count, NULL);
        mine[n + 1] = deviation(body, weights, r, body->x, &body->plastic[r]);
        double *gram = grams + (size_t)e->group[r] * (size_t)(stride * stride);
        for (int i = 0; i < stride; i++)
            for (int j = 0; j < stride; j++) gram[i * stride + j] += mass * product(mine[i], mine[j]);
    }
    for (uint32_t g = 0; g < e->groups; g++)
        ref_nearest_mix(n + 1, grams + (size_t)g * (size_t)(stride * stride), e->weights + (size_t)g * MOST_CORNERS);
    for (uint32_t r = 0; r < body->region_count; r++)
        for (int k = 0; k < n && e->group[r] != LM_NO_GROUP; k++) {
            double w = e->beta * e->weights[(size_t)e->group[r] * MOST_CORNERS + (size_t)k + 1];
            body->mix[r] = ref_mat_add(body->mix[r], ref_mat_scale(w, all[(size_t)r * (size_t)stride + (size_t)k + 1]));
        }
    free(weights);
    free(shares);
    free(grams);
    free(all);
}

void ref_free_examples(ref_body *body)
{
    free(body->examples.poses);
    free(body->examples.group);
    free(body->examples.weights);
}
