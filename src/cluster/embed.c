#include "cluster/embed.h"
#include "base/vec.h"

#include <string.h>

static int find_rank(const lmi_embedder *e);

static double coordinate(lm_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

bool lmi_embedder_make(lmi_embedder *e, lmi_memory *memory, const lm_vec3 *rest, uint32_t count)
{
    memset(e, 0, sizeof *e);
    e->rest = rest;
    e->count = count;
    e->size = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t n = 0; n < count; n++) {
            double at = coordinate(rest[n], axis);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        e->size = lmi_max(high - low, e->size);
    }
    e->rank = find_rank(e);
    bool ok = lmi_nearest_make_from(&e->near, memory, rest, count);
    if (!ok) {
        lmi_embedder_free(e);
    }
    return ok;
}

void lmi_embedder_free(lmi_embedder *e) { lmi_nearest_free(&e->near); }

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
static double theta(const lmi_embedder *e, const lmi_neighbour *nearest, double reach)
{
    double t = 1.0 - nearest->square / (reach * reach);
    return e->share ? t * t * e->share[nearest->index] : t * t;
}

/* Moving least squares over the `count` nearest: w = theta P^T (P theta P^T)^+ e0 with rows (1, r/reach) in P, of which the
 * `most` widest directions count. Returns the rank of the moment matrix. */
static int solve_weights(const lmi_embedder *e, lm_vec3 point, const lmi_neighbour *nearest, uint32_t count, int most,
                         float *weights)
{
    double reach = 1.1 * sqrt(nearest[count - 1].square), moments[16] = {0}, values[4], vectors[16];
    double solution[4] = {0}, row[4], sum = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        double t = theta(e, &nearest[n], reach);
        make_row(e, nearest[n].index, dvec_from(point), reach, row);
        for (int i = 0; i < 16; i++) {
            moments[i] += t * row[i / 4] * row[i % 4];
        }
    }
    lmi_symmetric_eigen(4, moments, values, vectors);
    for (int k = 0; k < most && values[k] > INSIGNIFICANT * values[0]; k++) {
        for (int i = 0; i < 4; i++) {
            solution[i] += vectors[i * 4 + k] * vectors[k] / values[k];
        }
    }
    for (int pass = 0; pass < 2; pass++) { /* the sum, then the weights that sum to 1 */
        double total = 0.0;
        for (uint32_t n = 0; n < count; n++) {
            double t = theta(e, &nearest[n], reach);
            make_row(e, nearest[n].index, dvec_from(point), reach, row);
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
    lmi_neighbour nearest[LMI_EMBED_MOST];
    double hair = 1e-6 * e->size;
    for (uint32_t most = least;; most = 2 * most < LMI_EMBED_MOST ? 2 * most : LMI_EMBED_MOST) {
        uint32_t count = lmi_nearest_find(&e->near, dvec_from(point), most, UINT32_MAX, nearest, 0);
        if (count == 1 || nearest[0].square <= hair * hair) {
            particles[0] = nearest[0].index;
            weights[0] = 1.0f;
            return 1;
        }
        int rank = solve_weights(e, point, nearest, count, 4, weights);
        if (rank >= e->rank || count < most || most == LMI_EMBED_MOST) {
            for (uint32_t n = 0; n < count; n++) {
                particles[n] = nearest[n].index;
            }
            return count;
        }
    }
}

static double size_of(const float *weights, uint32_t count)
{
    double size = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        size += fabs((double)weights[n]);
    }
    return size;
}

uint32_t lmi_embed_from(const lmi_embedder *e, lm_vec3 point, const uint32_t *particles, uint32_t count,
                        double most_size, float weights[LMI_EMBED_MOST])
{
    lmi_neighbour nearest[LMI_EMBED_MOST];
    double hair = 1e-6 * e->size;
    for (uint32_t n = 0; n < count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(e->rest[particles[n]]), dvec_from(point));
        nearest[n] = (lmi_neighbour){.square = dvec_dot(d, d), .index = particles[n]};
    }
    if (count == 1 || nearest[0].square <= hair * hair) {
        weights[0] = 1.0f;
        return 1;
    }
    int most = solve_weights(e, point, nearest, count, 4, weights);
    while (most > 1 && !(size_of(weights, count) <= most_size)) {
        solve_weights(e, point, nearest, count, --most, weights);
    }
    return count;
}
