/*
 * Values for particles from values for the vertices of a surface: the four nearest vertices, by inverse square of distance.
 */
#include "base/guard.h"
#include "world/world.h"

#define NEAREST 4

typedef struct neighbours {
    uint32_t vertex[NEAREST];
    double square[NEAREST]; /* of the distance, ascending */
    uint32_t count;
} neighbours;

/* Of equally near ones the earlier stays, so that the result depends on nothing else. */
static void offer(neighbours *n, uint32_t vertex, double square)
{
    if (n->count == NEAREST && !(square < n->square[NEAREST - 1])) {
        return;
    }
    uint32_t k = n->count < NEAREST ? n->count++ : NEAREST - 1;
    for (; k > 0 && square < n->square[k - 1]; k--) {
        n->vertex[k] = n->vertex[k - 1];
        n->square[k] = n->square[k - 1];
    }
    n->vertex[k] = vertex;
    n->square[k] = square;
}

static void carry(const neighbours *n, const float *values, uint32_t channels, float *out)
{
    double weight[NEAREST], sum = 0.0;
    bool on_vertex = !(n->square[0] > 1e-30);
    for (uint32_t k = 0; k < n->count; k++) {
        weight[k] = on_vertex ? (double)(k == 0) : 1.0 / n->square[k];
        sum += weight[k];
    }
    for (uint32_t c = 0; c < channels; c++) {
        double mean = 0.0;
        for (uint32_t k = 0; k < n->count; k++) {
            mean += weight[k] / sum * (double)values[(size_t)n->vertex[k] * channels + c];
        }
        out[c] = (float)mean;
    }
}

lm_result lm_body_carry_values(const lm_world *world, lm_body_id id, const lm_vec3 *vertices, uint32_t vertex_count,
                               const float *values, uint32_t channels, float *carried)
{
    const lmi_body *body = lmi_body_find(world, id, "lm_body_carry_values");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (!vertices && vertex_count != body->skin.vertex_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_values: %u vertices, the skin has %u", vertex_count,
                        body->skin.vertex_count);
    }
    vertices = vertices ? vertices : body->skin.vertices;
    if (vertex_count == 0 || channels == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_values: there are no vertices or no channels");
    }
    for (uint32_t n = 0; n < vertex_count; n++) {
        if (!vec_is_finite(vertices[n])) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_values: vertex %u is not finite", n);
        }
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t p = 0; p < body->particle_count; p++) {
        lm_dvec3 at = dvec_from(body->rest[body->place[p]]);
        neighbours near = {.count = 0};
        for (uint32_t n = 0; n < vertex_count; n++) {
            lm_dvec3 way = dvec_sub(dvec_from(vertices[n]), at);
            offer(&near, n, dvec_dot(way, way));
        }
        carry(&near, values, channels, carried + (size_t)p * channels);
    }
    lmi_float_mode_leave(&host);
    return LM_OK;
}
