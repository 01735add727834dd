#include "sample/embed.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct neighbour {
    double square; /* distance */
    uint32_t particle;
} neighbour;

static int find_rank(const lmi_embedder *e);

static double coordinate(lm_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

typedef struct sort_key {
    double at;
    uint32_t particle;
} sort_key;

static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->particle < y->particle ? -1 : x->particle > y->particle;
}

bool lmi_embedder_make(lmi_embedder *e, lmi_memory *memory, const lm_vec3 *rest, uint32_t count)
{
    memset(e, 0, sizeof *e);
    e->rest = rest;
    e->count = count;
    double longest = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t n = 0; n < count; n++) {
            double at = coordinate(rest[n], axis);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (high - low > longest) {
            longest = high - low;
            e->axis = axis;
        }
    }
    e->size = longest;
    e->rank = find_rank(e);
    sort_key *keys = lmi_allocate(memory, count, sizeof *keys);
    e->sorted = lmi_allocate(memory, count, sizeof *e->sorted);
    bool ok = keys && e->sorted;
    for (uint32_t n = 0; ok && n < count; n++) {
        sort_key key = {coordinate(rest[n], e->axis), n};
        keys[n] = key;
    }
    if (ok) {
        qsort(keys, count, sizeof *keys, compare_keys);
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        e->sorted[n] = keys[n].particle;
    }
    lmi_release(memory, keys, count, sizeof *keys);
    if (!ok) {
        lmi_embedder_free(e, memory);
    }
    return ok;
}

void lmi_embedder_free(lmi_embedder *e, lmi_memory *memory)
{
    lmi_release(memory, e->sorted, e->count, sizeof *e->sorted);
    e->sorted = NULL;
}

/* Puts a candidate into the list of nearest ones, sorted by distance and then by index. */
static void offer(neighbour *nearest, uint32_t *count, uint32_t most, neighbour candidate)
{
    uint32_t at = *count;
    while (at > 0 && (candidate.square < nearest[at - 1].square ||
                      (candidate.square == nearest[at - 1].square && candidate.particle < nearest[at - 1].particle))) {
        at--;
    }
    if (at == most) {
        return;
    }
    *count = *count < most ? *count + 1 : *count;
    memmove(nearest + at + 1, nearest + at, (*count - at - 1) * sizeof *nearest);
    nearest[at] = candidate;
}

static neighbour measure(const lmi_embedder *e, uint32_t n, lm_dvec3 point)
{
    lm_dvec3 d = dvec_sub(dvec_from(e->rest[e->sorted[n]]), point);
    neighbour candidate = {dvec_dot(d, d), e->sorted[n]};
    return candidate;
}

static uint32_t find_nearest(const lmi_embedder *e, lm_vec3 point, uint32_t most, neighbour *nearest)
{
    double at = coordinate(point, e->axis);
    uint32_t low = 0, high = e->count, count = 0;
    while (low < high) { /* the first one beyond the point */
        uint32_t middle = low + (high - low) / 2;
        if (coordinate(e->rest[e->sorted[middle]], e->axis) < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    /* Outward on both sides until the axis alone is farther than the worst that is kept. */
    uint32_t left = low, right = low;
    for (;;) {
        double worst = count < most ? INFINITY : nearest[count - 1].square;
        double to_left = left > 0 ? at - coordinate(e->rest[e->sorted[left - 1]], e->axis) : INFINITY;
        double to_right = right < e->count ? coordinate(e->rest[e->sorted[right]], e->axis) - at : INFINITY;
        if (to_left <= to_right && to_left * to_left <= worst && left > 0) {
            offer(nearest, &count, most, measure(e, --left, dvec_from(point)));
        } else if (right < e->count && to_right * to_right <= worst) {
            offer(nearest, &count, most, measure(e, right++, dvec_from(point)));
        } else {
            return count;
        }
    }
}

/* A row of the moment matrix: 1 and the position in units of `reach`. */
static void make_row(const lmi_embedder *e, uint32_t particle, lm_dvec3 from, double reach, double row[4])
{
    lm_dvec3 r = dvec_sub(dvec_from(e->rest[particle]), from);
    row[0] = 1.0, row[1] = r.x / reach, row[2] = r.y / reach, row[3] = r.z / reach;
}

/* Eigenvalues below this share of the largest count as none. */
#define INSIGNIFICANT 1e-6

static int count_significant(const double values[4])
{
    int rank = 0;
    for (int k = 0; k < 4; k++) {
        rank += values[k] > INSIGNIFICANT * values[0];
    }
    return rank;
}

static int find_rank(const lmi_embedder *e)
{
    double moments[16] = {0}, values[4], vectors[16], row[4], reach = e->size > 0.0 ? e->size : 1.0;
    for (uint32_t n = 0; n < e->count; n++) {
        make_row(e, n, dvec_from(e->rest[0]), reach, row);
        for (int i = 0; i < 16; i++) {
            moments[i] += row[i / 4] * row[i % 4];
        }
    }
    lmi_symmetric_eigen(4, moments, values, vectors);
    return count_significant(values);
}

/* How much a neighbour counts. */
static double theta(const lmi_embedder *e, const neighbour *nearest, double reach)
{
    double t = 1.0 - nearest->square / (reach * reach);
    return e->share ? t * t * e->share[nearest->particle] : t * t;
}

/* Moving least squares over the `count` nearest: w = theta P^T (P theta P^T)^+ e0 with rows (1, r/reach) in P. Returns
 * the rank of the moment matrix. */
static int solve_weights(const lmi_embedder *e, lm_vec3 point, const neighbour *nearest, uint32_t count, float *weights)
{
    double reach = 1.1 * sqrt(nearest[count - 1].square), moments[16] = {0}, values[4], vectors[16];
    double solution[4] = {0}, row[4], sum = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        double t = theta(e, &nearest[n], reach);
        make_row(e, nearest[n].particle, dvec_from(point), reach, row);
        for (int i = 0; i < 16; i++) {
            moments[i] += t * row[i / 4] * row[i % 4];
        }
    }
    lmi_symmetric_eigen(4, moments, values, vectors);
    for (int k = 0; k < 4 && values[k] > INSIGNIFICANT * values[0]; k++) {
        for (int i = 0; i < 4; i++) {
            solution[i] += vectors[i * 4 + k] * vectors[k] / values[k];
        }
    }
    for (int pass = 0; pass < 2; pass++) { /* the sum, then the weights that sum to 1 */
        double total = 0.0;
        for (uint32_t n = 0; n < count; n++) {
            double t = theta(e, &nearest[n], reach);
            make_row(e, nearest[n].particle, dvec_from(point), reach, row);
            double w = t * (row[0] * solution[0] + row[1] * solution[1] + row[2] * solution[2] + row[3] * solution[3]);
            total += w;
            weights[n] = pass ? (float)(w / sum) : 0.0f;
        }
        sum = total;
    }
    return count_significant(values);
}

uint32_t lmi_embed_point(const lmi_embedder *e, lm_vec3 point, uint32_t particles[LMI_EMBED_MOST],
                         float weights[LMI_EMBED_MOST])
{
    return lmi_embed_among(e, point, LMI_EMBED_LEAST, particles, weights);
}

uint32_t lmi_embed_among(const lmi_embedder *e, lm_vec3 point, uint32_t least, uint32_t particles[LMI_EMBED_MOST],
                         float weights[LMI_EMBED_MOST])
{
    neighbour nearest[LMI_EMBED_MOST + 1];
    double hair = 1e-6 * e->size;
    for (uint32_t most = least;; most = 2 * most < LMI_EMBED_MOST ? 2 * most : LMI_EMBED_MOST) {
        uint32_t count = find_nearest(e, point, most, nearest);
        if (count == 1 || nearest[0].square <= hair * hair) {
            particles[0] = nearest[0].particle;
            weights[0] = 1.0f;
            return 1;
        }
        int rank = solve_weights(e, point, nearest, count, weights);
        if (rank >= e->rank || count < most || most == LMI_EMBED_MOST) {
            for (uint32_t n = 0; n < count; n++) {
                particles[n] = nearest[n].particle;
            }
            return count;
        }
    }
}

uint32_t lmi_embed_from(const lmi_embedder *e, lm_vec3 point, const uint32_t *particles, uint32_t count,
                        float weights[LMI_EMBED_MOST])
{
    neighbour nearest[LMI_EMBED_MOST];
    double hair = 1e-6 * e->size;
    for (uint32_t n = 0; n < count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(e->rest[particles[n]]), dvec_from(point));
        nearest[n] = (neighbour){.square = dvec_dot(d, d), .particle = particles[n]};
    }
    if (count == 1 || nearest[0].square <= hair * hair) {
        weights[0] = 1.0f;
        return 1;
    }
    solve_weights(e, point, nearest, count, weights);
    return count;
}
