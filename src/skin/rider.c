/*
 * What the vertices of a skin ride on, for programs that deform the surface themselves.
 *
 * The library keeps a region's transform over the region's own scaled frame (match/region.h); outside it is told over rest
 * positions, so that a vertex needs nothing but its rest position, its riders and their weights.
 */
#include "lattice/lattice_members.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

/* The body when it has a skin; else null, reported, and why in *result. */
static const lmi_body *find_skinned(const lm_world *world, lm_body_id id, const char *caller, lm_result *result)
{
    const lmi_body *body = lmi_body_known(world, id, caller);
    *result = body ? LM_OK : LM_ERROR_ID;
    if (body && body->skin.vertex_count == 0) {
        *result = lmi_fail(world, LM_ERROR_ARGUMENT, "%s: the body has no skin", caller);
        body = NULL;
    }
    return body;
}

lm_result lm_body_get_skin_rest(const lm_world *world, lm_body_id id, lm_vec3 *vertices)
{
    lm_result result;
    const lmi_body *body = find_skinned(world, id, "lm_body_get_skin_rest", &result);
    if (body) {
        memcpy(vertices, body->skin.vertices, body->skin.vertex_count * sizeof *vertices);
    }
    return result;
}

lm_result lm_body_get_skin_rest_normals(const lm_world *world, lm_body_id id, lm_vec3 *normals)
{
    lm_result result;
    const lmi_body *body = find_skinned(world, id, "lm_body_get_skin_rest_normals", &result);
    if (body && body->skin.on_cells) {
        memcpy(normals, body->skin.rest_normals, body->skin.vertex_count * sizeof *normals);
    } else if (body) {
        lmi_skin_mean_normals(&body->skin, normals);
    }
    return result;
}

lm_result lm_body_get_skin_riders(const lm_world *world, lm_body_id id, uint32_t *offsets, uint32_t *riders,
                                  float *weights)
{
    lm_result result;
    const lmi_body *body = find_skinned(world, id, "lm_body_get_skin_riders", &result);
    if (!body) {
        return result;
    }
    const lmi_skin *skin = &body->skin;
    if (offsets) {
        memcpy(offsets, skin->offsets, ((size_t)skin->vertex_count + 1) * sizeof *offsets);
    }
    for (uint32_t n = 0; riders && n < skin->weight_count; n++) {
        uint32_t rider = skin->riders[n];
        riders[n] = rider >= LMI_SKIN_REGION ? rider : body->order[rider];
    }
    if (weights) {
        memcpy(weights, skin->weights, skin->weight_count * sizeof *weights);
    }
    return LM_OK;
}

/* The carrier over d = rest position - centre in place of q = S d, where S = E^T / extent: B S, and for each row of the
 * quadratic part the symmetric matrix Q of its form, S^T Q S. */
static void over_rest(const lmi_carrier *c, const lmi_region *region, lm_dvec3 from, lm_region_transform *out)
{
    double s[3][3];
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            s[k][j] = region->axes.m[j][k] / (region->extent[k] > 0.0 ? region->extent[k] : 1.0);
        }
    }
    out->centre = vec_from(region->centre);
    out->constant = vec_from(dvec_add(from, dvec(c->constant[0], c->constant[1], c->constant[2])));
    static const int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                sum += c->linear[3 * i + k] * s[k][j];
            }
            out->linear[3 * i + j] = (float)sum;
        }
        for (int j = 0; j < 6; j++) {
            int a = first[j], b = second[j];
            double sum = 0.0;
            for (int k = 0; k < 6; k++) {
                int p = first[k], q = second[k];
                double product = a == b ? s[p][a] * s[q][b] : s[p][a] * s[q][b] + s[p][b] * s[q][a];
                sum += c->quadratic[6 * i + k] * product;
            }
            out->quadratic[6 * i + j] = (float)sum;
        }
    }
}

lm_result lm_body_get_region_transforms(const lm_world *world, lm_body_id id, lm_dvec3 base,
                                        lm_region_transform *transforms)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_region_transforms");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->lattice) {
        lmi_lattice_transforms(body, dvec_sub(body->origin, base), transforms);
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        lmi_carrier made, *carrier = r < body->skin.carrier_count ? &body->skin.carriers[r] : &made;
        if (carrier == &made) {
            lmi_skin_carrier(world, body, r, &made);
        }
        over_rest(carrier, &body->regions[r], dvec_sub(body->origin, base), &transforms[r]);
    }
    return LM_OK;
}

/* ---- blending ---- */

/* How far a point is from the middle of a region, in units of its extents; where it has none, of its largest one. */
static double remoteness(const lmi_region *region, lm_vec3 point, double scale)
{
    lm_dvec3 r = dmat_apply_transposed(&region->axes, dvec_sub(dvec_from(point), region->centre));
    double widest = region->extent[0] > 0.0 ? region->extent[0] : scale, c[3] = {r.x, r.y, r.z}, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double extent = region->extent[k] > 0.1 * widest ? region->extent[k] : 0.1 * widest;
        sum += c[k] * c[k] / (extent * extent);
    }
    return sqrt(sum) + 1e-6;
}

uint32_t lmi_blend_point(const lmi_region *regions, uint32_t region_count, lm_vec3 point,
                         uint32_t chosen[LMI_BLEND_MOST], float weights[LMI_BLEND_MOST])
{
    /* The nearest regions and the next one after them, where the weights have fallen to zero. */
    double far[LMI_BLEND_MOST + 1], scale = 0.0, sum = 0.0, w[LMI_BLEND_MOST];
    uint32_t index[LMI_BLEND_MOST + 1], found = 0;
    for (uint32_t r = 0; r < region_count; r++) {
        scale = regions[r].extent[0] > scale ? regions[r].extent[0] : scale;
    }
    for (uint32_t r = 0; r < region_count; r++) {
        double value = remoteness(&regions[r], point, scale > 0.0 ? scale : 1.0);
        if (found == LMI_BLEND_MOST + 1 && value >= far[found - 1]) {
            continue;
        }
        uint32_t at = found < LMI_BLEND_MOST + 1 ? found++ : LMI_BLEND_MOST;
        for (; at > 0 && value < far[at - 1]; at--) {
            far[at] = far[at - 1];
            index[at] = index[at - 1];
        }
        far[at] = value;
        index[at] = r;
    }
    uint32_t count = found < LMI_BLEND_MOST ? found : LMI_BLEND_MOST;
    double edge = 2.0 * far[0];
    edge = found > LMI_BLEND_MOST && far[LMI_BLEND_MOST] < edge ? far[LMI_BLEND_MOST] : edge;
    for (uint32_t n = 0; n < count; n++) {
        double t = far[n] < edge ? (edge - far[n]) / (edge * far[n]) : 0.0;
        w[n] = t * t;
        sum += w[n];
    }
    uint32_t kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        /* All equally far: the edge has come down to them. */
        double weight = sum > 0.0 ? w[n] / sum : 1.0 / count;
        if (weight > 0.0) {
            chosen[kept] = index[n];
            weights[kept++] = (float)weight;
        }
    }
    return kept;
}

void lmi_carrier_make(lmi_carrier *c, const lmi_region *region, const lm_vec3 *rest, const float *x,
                      const uint32_t *members, uint32_t member_count, const float *rotation, uint32_t stride,
                      bool quadratic)
{
    double mass = 0.0, sums[18] = {0};
    memset(c, 0, sizeof *c);
    for (uint32_t n = 0; n < member_count; n++) {
        lmi_carrier_add_centre(c, &mass, x + (size_t)members[n] * 4);
    }
    for (int i = 0; i < 3; i++) {
        c->constant[i] /= mass;
    }
    for (uint32_t n = 0; n < member_count; n++) {
        lm_dvec3 q = lmi_carrier_member(region, rest[members[n]]);
        lmi_carrier_add_moments(c, mass, x + (size_t)members[n] * 4, q, quadratic, sums);
    }
    if (quadratic) {
        lmi_carrier_add_quadratic(c, region, sums);
    }
    lmi_carrier_complete(c, region, rotation, stride);
}
