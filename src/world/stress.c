/*
 * Stress: of each particle the Cauchy stress of the regions that it is in.
 *
 * A region's fit is F = R U with stretches l_k along v_k (after its lasting deformation was taken out). Shape matching pulls in
 * proportion to U - 1, so with Lame's lambda and mu of the material
 *
 *     t_k = lambda (l_1 + l_2 + l_3 - 3) + 2 mu (l_k - 1)           along the rest shape
 *     s_k = t_k l_k / (l_1 l_2 l_3)                                 Cauchy's, along n_k = F v_k / l_k
 *
 * Reads positions; the modulus is the one that was reached in the last step.
 */
#include "base/guard.h"
#include "lattice/lattice_members.h"
#include "world/access.h"
#include "world/elastic.h"

#include <string.h>

typedef struct moduli {
    double lambda, mu;
} moduli;

static moduli moduli_of(const lmi_body *body)
{
    const lm_material *m = &body->material;
    double beta = m->mode == LM_MODE_RIGID ? 0.0 : (double)m->beta, nu = beta / (3.0 - beta), young = 0.0;
    if (lmi_is_elastic(m)) {
        nu = m->mode == LM_MODE_RIGID ? 0.0 : (double)m->poisson;
        young = body->tuned_step > 0.0 ? (double)body->reached_young : lmi_elastic_young(body);
    } else if (body->tuned_step > 0.0) {
        double density = body->total_mass / body->volume;
        young = (1.0 - 2.0 * nu) * density * body->square * body->alpha / (body->tuned_step * body->tuned_step);
    }
    return (moduli){young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), young / (2.0 * (1.0 + nu))};
}

/* The inverse of a symmetric matrix near the identity. */
static void invert(const float p[9], double out[3][3])
{
    double copy[9], values[3], v[9];
    for (int i = 0; i < 9; i++) {
        copy[i] = p[i];
    }
    lmi_symmetric_eigen(3, copy, values, v);
    for (int i = 0; i < 9; i++) {
        out[i / 3][i % 3] = 0.0;
        for (int k = 0; k < 3; k++) {
            out[i / 3][i % 3] += v[i / 3 * 3 + k] * v[i % 3 * 3 + k] / fmax(values[k], 0.05);
        }
    }
}

/* xx yy zz xy yz zx, in the world's axes. */
static void stress_of(const float linear[9], const float *plastic, moduli m, double out[6])
{
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    double f[3][3], flow[3][3], right[9], values[3], v[9], length[3], sum = -3.0, volume = 1.0;
    for (int i = 0; i < 9; i++) {
        f[i / 3][i % 3] = linear[i];
    }
    if (plastic) {
        invert(plastic, flow);
        for (int i = 0; i < 9; i++) {
            const float *row = linear + i / 3 * 3;
            f[i / 3][i % 3] = row[0] * flow[0][i % 3] + row[1] * flow[1][i % 3] + row[2] * flow[2][i % 3];
        }
    }
    for (int i = 0; i < 9; i++) {
        right[i] = f[0][i / 3] * f[0][i % 3] + f[1][i / 3] * f[1][i % 3] + f[2][i / 3] * f[2][i % 3];
    }
    lmi_symmetric_eigen(3, right, values, v);
    for (int k = 0; k < 3; k++) {
        length[k] = sqrt(fmax(values[k], 1e-6));
        sum += length[k];
        volume *= length[k];
    }
    for (int n = 0; n < 6; n++) {
        out[n] = 0.0;
        for (int k = 0; k < 3; k++) {
            const double *a = f[at[n][0]], *b = f[at[n][1]];
            double na = a[0] * v[k] + a[1] * v[3 + k] + a[2] * v[6 + k];
            double nb = b[0] * v[k] + b[1] * v[3 + k] + b[2] * v[6 + k];
            double t = m.lambda * sum + 2.0 * m.mu * (length[k] - 1.0);
            out[n] += t * length[k] / volume * (na / length[k]) * (nb / length[k]);
        }
    }
}

static float von_mises(const float s[6])
{
    double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    double shear = (double)s[3] * s[3] + (double)s[4] * s[4] + (double)s[5] * s[5];
    return (float)sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * shear);
}

/* From regions to particles: each around its own particle in lattices, octrees and one-rings, else the mean over its regions. A
 * particle of a lattice whose region repeats another has that of the one before it. */
static void spread(const lmi_body *body, const double *of_region, float *stresses, uint32_t *counts)
{
    uint32_t region = 0;
    if (body->lattice || body->octree) {
        const lmi_lattice *l = body->lattice ? &body->lattice->shape : NULL;
        for (uint32_t n = 0; n < body->particle_count; n++) {
            uint32_t place = body->place[n];
            bool own = !l || (l->active[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1);
            region += own && n > 0 ? 1 : 0;
            for (int i = 0; i < 6; i++) {
                stresses[6 * (size_t)n + (size_t)i] = (float)of_region[6 * (size_t)region + (size_t)i];
            }
        }
        return;
    }
    memset(stresses, 0, 6 * (size_t)body->particle_count * sizeof *stresses);
    for (uint32_t r = 0; r < body->region_count; r++) {
        for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
            uint32_t particle = body->order[body->members[n]];
            float share = 1.0f / (float)++counts[particle]; /* a running mean */
            for (size_t i = 0; i < 6; i++) {
                float *to = &stresses[6 * (size_t)particle + i];
                *to += share * ((float)of_region[6 * (size_t)r + i] - *to);
            }
        }
    }
}

lm_result lm_body_get_stress(lm_world *world, lm_body_id id, float *stresses, float *mises)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_stress");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_memory *memory = &world->memory;
    const size_t regions = lmi_body_regions(body), particles = body->particle_count;
    lm_region_transform *transforms = lmi_allocate(memory, regions, sizeof *transforms);
    float *plastic = lmi_allocate(memory, body->plastic_material ? 9 * regions : 0, sizeof *plastic);
    double *of_region = lmi_allocate(memory, 6 * (regions + 1), sizeof *of_region);
    float *made = lmi_allocate(memory, stresses ? 0 : 6 * particles, sizeof *made);
    uint32_t *counts = lmi_allocate(memory, particles, sizeof *counts);
    bool ok = transforms && of_region && counts && (plastic || !body->plastic_material) && (stresses || made);
    lm_result result = LM_ERROR_MEMORY;
    if (ok) {
        result = lm_body_get_region_transforms(world, id, body->origin, transforms);
    }
    if (result == LM_OK && body->plastic_material) {
        result = lm_body_get_plastic(world, id, plastic);
    }
    if (result == LM_OK) {
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        moduli m = moduli_of(body);
        for (size_t r = 0; r < regions; r++) {
            stress_of(transforms[r].linear, body->plastic_material ? plastic + 9 * r : NULL, m, of_region + 6 * r);
        }
        float *to = stresses ? stresses : made;
        spread(body, of_region, to, counts);
        for (size_t n = 0; mises && n < particles; n++) {
            mises[n] = von_mises(to + 6 * n);
        }
        lmi_float_mode_leave(&host);
    }
    lmi_release(memory, counts, particles, sizeof *counts);
    lmi_release(memory, made, stresses ? 0 : 6 * particles, sizeof *made);
    lmi_release(memory, of_region, 6 * (regions + 1), sizeof *of_region);
    lmi_release(memory, plastic, body->plastic_material ? 9 * regions : 0, sizeof *plastic);
    lmi_release(memory, transforms, regions, sizeof *transforms);
    return result == LM_ERROR_MEMORY ? lmi_fail(world, result, "lm_body_get_stress: out of memory") : result;
}
