/*
 * What the vertices of a skin ride on, for programs that deform the surface themselves.
 *
 * The library keeps a region's transform over the region's own scaled frame (match/region.h); outside it is told over rest
 * positions, so that a vertex needs nothing but its rest position, its riders and their weights.
 */
#include "lattice/lattice_members.h"
#include "skin/skin.h"
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
    const lmi_body *body = lmi_body_find(world, id, "lm_body_get_region_transforms");
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
