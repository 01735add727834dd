/*
 * The plain step. Built with -O2 -fno-tree-vectorize and no instruction set beyond the compiler's default: see
 * CMakeLists.txt. Sections of docs/papers.md apply as they do to the library's own stages.
 */
#include "plain.h"

#include "base/os.h"
#include "plain_build.h"
#include "plain_polar.h"

#include <math.h>
#include <string.h>

#define VOLUME_STEPS 3         /* of Newton for the determinant */
#define LEAST_DETERMINANT 0.1f /* below it the linear fit is no shape to keep, and the rotation takes over */
#define FLOOR_FRICTION 0.5f

/* ------------------------------------------------------------------------------------------------------------------
 * Predict: forces, and damping towards the body's rigid motion
 */

/* omega with I omega = L for the symmetric I = (xx, yy, zz, xy, yz, zx), by Cramer's rule; zero where I is singular. */
static void solve_inertia(const float I[6], const float L[3], float omega[3])
{
    float a = I[1] * I[2] - I[4] * I[4], b = I[4] * I[5] - I[3] * I[2], c = I[3] * I[4] - I[1] * I[5];
    float det = I[0] * a + I[3] * b + I[5] * c;
    float trace = I[0] + I[1] + I[2];
    omega[0] = omega[1] = omega[2] = 0.0f;
    if (!(det > 1e-9f * trace * trace * trace)) return;
    float inverse = 1.0f / det;
    float d = I[0] * I[2] - I[5] * I[5], e = I[3] * I[5] - I[0] * I[4], f = I[0] * I[1] - I[3] * I[3];
    omega[0] = (a * L[0] + b * L[1] + c * L[2]) * inverse;
    omega[1] = (b * L[0] + d * L[1] + e * L[2]) * inverse;
    omega[2] = (c * L[0] + e * L[1] + f * L[2]) * inverse;
}

static void rigid_motion(const plain_body *body, float centre[3], float velocity[3], float omega[3])
{
    float mass = 0.0f, L[3] = {0.0f}, I[6] = {0.0f};
    for (int a = 0; a < 3; a++) centre[a] = velocity[a] = 0.0f;
    for (uint32_t i = 0; i < body->particle_count; i++) {
        const plain_particle *p = &body->particles[i];
        mass += p->mass;
        for (int a = 0; a < 3; a++) {
            centre[a] += p->mass * p->x[a];
            velocity[a] += p->mass * p->v[a];
        }
    }
    for (int a = 0; a < 3; a++) {
        centre[a] /= mass;
        velocity[a] /= mass;
    }
    for (uint32_t i = 0; i < body->particle_count; i++) {
        const plain_particle *p = &body->particles[i];
        float x = p->x[0] - centre[0], y = p->x[1] - centre[1], z = p->x[2] - centre[2], m = p->mass;
        L[0] += m * (y * p->v[2] - z * p->v[1]);
        L[1] += m * (z * p->v[0] - x * p->v[2]);
        L[2] += m * (x * p->v[1] - y * p->v[0]);
        I[0] += m * (y * y + z * z);
        I[1] += m * (z * z + x * x);
        I[2] += m * (x * x + y * y);
        I[3] -= m * x * y;
        I[4] -= m * y * z;
        I[5] -= m * z * x;
    }
    solve_inertia(I, L, omega);
}

static void predict(plain_body *body, const float gravity[3], float h, float damping)
{
    for (uint32_t i = 0; i < body->particle_count; i++)
        for (int a = 0; a < 3; a++) body->particles[i].v[a] += h * gravity[a];
    if (!(damping > 0.0f)) return;
    float centre[3], velocity[3], omega[3];
    rigid_motion(body, centre, velocity, omega);
    for (uint32_t i = 0; i < body->particle_count; i++) {
        plain_particle *p = &body->particles[i];
        float x = p->x[0] - centre[0], y = p->x[1] - centre[1], z = p->x[2] - centre[2];
        p->v[0] += damping * (velocity[0] + omega[1] * z - omega[2] * y - p->v[0]);
        p->v[1] += damping * (velocity[1] + omega[2] * x - omega[0] * z - p->v[1]);
        p->v[2] += damping * (velocity[2] + omega[0] * y - omega[1] * x - p->v[2]);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Match: moments, fit, goals, one region after the other
 *
 * Moments and transforms are 3 rows of 9. The linear modes use the first three columns; `quadratic` is a constant in
 * each of the two loops that the compiler makes of match_regions.
 */

static void region_centre(const plain_body *body, const plain_region *region, float centre[3])
{
    centre[0] = centre[1] = centre[2] = 0.0f;
    const plain_member *members = body->members + region->first;
    for (uint32_t i = 0; i < region->count; i++) {
        const plain_particle *p = &body->particles[members[i].particle];
        for (int a = 0; a < 3; a++) centre[a] += p->share * p->x[a];
    }
    float inverse = 1.0f / region->mass;
    for (int a = 0; a < 3; a++) centre[a] *= inverse;
}

/* sum m p q^T */
static inline void region_moments(const plain_body *body, const plain_region *region, const float centre[3],
                                  bool quadratic, float Apq[27])
{
    memset(Apq, 0, 27 * sizeof *Apq);
    const plain_member *members = body->members + region->first;
    const plain_products *products = body->products + region->first;
    for (uint32_t i = 0; i < region->count; i++) {
        const plain_particle *p = &body->particles[members[i].particle];
        for (int a = 0; a < 3; a++) {
            float weighted = p->share * (p->x[a] - centre[a]);
            for (int b = 0; b < 3; b++) Apq[9 * a + b] += weighted * members[i].q[b];
            for (int b = 0; quadratic && b < 6; b++) Apq[9 * a + 3 + b] += weighted * products[i].q[b];
        }
    }
}

/* C = A B, all 3 x 3 */
static void multiply(const float A[9], const float B[9], float C[9])
{
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) C[3 * a + c] = A[3 * a] * B[c] + A[3 * a + 1] * B[3 + c] + A[3 * a + 2] * B[6 + c];
}

/* C = A B, 3 x 9 and 9 x 9 */
static void multiply_large(const float A[27], const float B[81], float C[27])
{
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 9; c++) {
            float sum = 0.0f;
            for (int b = 0; b < 9; b++) sum += A[9 * a + b] * B[9 * b + c];
            C[9 * a + c] = sum;
        }
    }
}

static float cofactors(const float A[9], float C[9])
{
    C[0] = A[4] * A[8] - A[5] * A[7];
    C[1] = A[5] * A[6] - A[3] * A[8];
    C[2] = A[3] * A[7] - A[4] * A[6];
    C[3] = A[2] * A[7] - A[1] * A[8];
    C[4] = A[0] * A[8] - A[2] * A[6];
    C[5] = A[1] * A[6] - A[0] * A[7];
    C[6] = A[1] * A[5] - A[2] * A[4];
    C[7] = A[2] * A[3] - A[0] * A[5];
    C[8] = A[0] * A[4] - A[1] * A[3];
    return A[0] * C[0] + A[1] * C[1] + A[2] * C[2];
}

/* The matrix of determinant 1 nearest to A in the rest metric: A + mu cof(A') Aqq. */
static void keep_volume(float A[9], const float Aqq[9])
{
    float near[9], C[9], D[9], mu = 0.0f;
    memcpy(near, A, sizeof near);
    for (int step = 0; step < VOLUME_STEPS; step++) {
        float det = cofactors(near, C), slope = 0.0f;
        multiply(C, Aqq, D);
        for (int i = 0; i < 9; i++) slope += C[i] * D[i];
        if (!(slope > 0.0f)) return;
        mu += (1.0f - det) / slope;
        for (int i = 0; i < 9; i++) near[i] = A[i] + mu * D[i];
    }
    memcpy(A, near, sizeof near);
}

/* beta A' + (1 - beta) R, with A' of the rest volume. */
static void linear_transform(const plain_region *region, float beta, const float moments[9], float R[9])
{
    float A[9], C[9];
    multiply(moments, region->Aqq, A);
    if (!(cofactors(A, C) > LEAST_DETERMINANT)) return;
    keep_volume(A, region->Aqq);
    for (int i = 0; i < 9; i++) R[i] = beta * A[i] + (1.0f - beta) * R[i];
}

static inline void fit_region(const plain_region *region, const lm_material *material, const float Apq[27],
                              bool quadratic, float T[27])
{
    float moments[9], R[9], beta = material->beta;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) moments[3 * a + b] = Apq[9 * a + b];
    plain_polar_foam(moments, R);
    if (quadratic) {
        multiply_large(Apq, region->Aqq_large, T);
        for (int i = 0; i < 27; i++) T[i] *= beta;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) T[9 * a + b] += (1.0f - beta) * R[3 * a + b];
        return;
    }
    if (material->mode == LM_MODE_LINEAR) linear_transform(region, beta, moments, R);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) T[9 * a + b] = R[3 * a + b];
}

static inline void add_goals(plain_body *body, const plain_region *region, const float centre[3], const float T[27],
                             bool quadratic)
{
    const plain_member *members = body->members + region->first;
    const plain_products *products = body->products + region->first;
    for (uint32_t i = 0; i < region->count; i++) {
        plain_particle *p = &body->particles[members[i].particle];
        for (int a = 0; a < 3; a++) {
            float sum = centre[a];
            for (int b = 0; b < 3; b++) sum += T[9 * a + b] * members[i].q[b];
            for (int b = 0; quadratic && b < 6; b++) sum += T[9 * a + 3 + b] * products[i].q[b];
            p->goal[a] += sum;
        }
    }
}

static inline void match_regions(plain_body *body, bool quadratic)
{
    for (uint32_t r = 0; r < body->region_count; r++) {
        const plain_region *region = &body->regions[r];
        float centre[3], Apq[27], T[27];
        region_centre(body, region, centre);
        region_moments(body, region, centre, quadratic, Apq);
        fit_region(region, &body->material, Apq, quadratic, T);
        add_goals(body, region, centre, T, quadratic);
    }
}

static void match(plain_body *body)
{
    for (uint32_t i = 0; i < body->particle_count; i++)
        for (int a = 0; a < 3; a++) body->particles[i].goal[a] = 0.0f;
    if (body->material.mode == LM_MODE_QUADRATIC)
        match_regions(body, true);
    else
        match_regions(body, false);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Integrate
 */

static void hit_floor(plain_particle *p)
{
    if (!(p->x[1] < 0.0f)) return;
    p->x[1] = 0.0f;
    if (p->v[1] < 0.0f) {
        float slip = sqrtf(p->v[0] * p->v[0] + p->v[2] * p->v[2]), grip = -FLOOR_FRICTION * p->v[1];
        float kept = slip > grip ? 1.0f - grip / slip : 0.0f;
        p->v[0] *= kept;
        p->v[1] = 0.0f;
        p->v[2] *= kept;
    }
}

static void integrate(plain_body *body, float h, float alpha, bool has_floor)
{
    float pull = alpha / h;
    for (uint32_t i = 0; i < body->particle_count; i++) {
        plain_particle *p = &body->particles[i];
        if (p->region_count > 0.0f) {
            float inverse = 1.0f / p->region_count;
            for (int a = 0; a < 3; a++) p->v[a] += pull * (p->goal[a] * inverse - p->x[a]);
        }
        for (int a = 0; a < 3; a++) p->x[a] += h * p->v[a];
        if (has_floor) hit_floor(p);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The step
 */

/* Hertz and damping ratio as the share of the way to the goal, and of the deformation velocity, in a substep: where a body rests does
 * not depend on h. */
static void tune(const lm_material *material, double h, float *alpha, float *damping)
{
    if (material->stiffness == LM_STIFFNESS_ALPHA) {
        *alpha = material->alpha;
        *damping = (float)(1.0 - exp(-(double)material->damping * h));
        return;
    }
    double hertz = material->hertz > 0.0f ? material->hertz : 8.0; /* the default */
    double omega = 2.0 * 3.14159265358979323846 * hertz, a = omega * h * omega * h;
    *alpha = (float)(a > 1.0 ? 1.0 : a);
    *damping = (float)(1.0 - exp(-2.0 * material->damping_ratio * omega * h));
}

void plain_step(plain_world *plain, double seconds, plain_times *times)
{
    double h = seconds / plain->substeps;
    *times = (plain_times){0};
    for (uint32_t substep = 0; substep < plain->substeps; substep++) {
        uint64_t start = lmi_os_nanoseconds();
        for (uint32_t i = 0; i < plain->body_count; i++) {
            float alpha, damping;
            tune(&plain->bodies[i].material, h, &alpha, &damping);
            predict(&plain->bodies[i], plain->gravity, (float)h, damping);
        }
        uint64_t predicted = lmi_os_nanoseconds();
        for (uint32_t i = 0; i < plain->body_count; i++) match(&plain->bodies[i]);
        uint64_t matched = lmi_os_nanoseconds();
        for (uint32_t i = 0; i < plain->body_count; i++) {
            float alpha, damping;
            tune(&plain->bodies[i].material, h, &alpha, &damping);
            integrate(&plain->bodies[i], (float)h, alpha, plain->floor);
        }
        uint64_t end = lmi_os_nanoseconds();
        times->predict += (double)(predicted - start);
        times->match += (double)(matched - predicted);
        times->integrate += (double)(end - matched);
        times->step += (double)(end - start);
    }
}
