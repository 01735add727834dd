/*
 * How bodies answer a push as a whole, for some share: contact/push.c. solve_whole.cl asks it of bodies that meet each other, stand.cl of those
 * that lie on colliders with their bare particles.
 */

/* rigidity in contact/push.c. way: metres in a substep. */
static float rigid_of(__global const lmi_gpu_body *b, double way)
{
    double stiff = fmin(((double)b->firmness - 0.88) / 0.1, ((double)b->damping - 0.3) / 0.1);
    double fast = (way / b->rest_size - 0.08) / 0.1;
    return b->pinned || !(b->rest_size > 0.0) ? 0.0f : (float)fmin(fmax(fmax(stiff, fast), 0.0), 1.0);
}

/* About the centre of mass c, from the second moments (xx yy zz xy yz zx). */
static void inertia_of(double mass, const double c[3], const double *second, double inertia[6])
{
    double square[3];
    for (int i = 0; i < 3; i++) {
        square[i] = second[i] - mass * c[i] * c[i];
        inertia[3 + i] = mass * c[i] * c[(i + 1) % 3] - second[3 + i];
    }
    inertia[0] = square[1] + square[2], inertia[1] = square[2] + square[0], inertia[2] = square[0] + square[1];
}

/* Of every so many of a body's particles: mass, first and second moments, momentum, from the centre of its motion; particles
 * that no region holds; and angular momentum. */
#define PUSH_SUMS 17
static void sum_push(__global const lmi_gpu_body *b, uint id, uint step, __global const float4 *x, __global const float4 *v,
                     double sum[PUSH_SUMS])
{
    for (int i = 0; i < PUSH_SUMS; i++) {
        sum[i] = 0.0;
    }
    for (uint n = b->first + id; n < b->first + b->particles; n += step) {
        const double mass = v[n].w, u[3] = {v[n].x, v[n].y, v[n].z};
        const double r[3] = {(double)x[n].x - b->centre[0], (double)x[n].y - b->centre[1], (double)x[n].z - b->centre[2]};
        sum[0] += mass;
        sum[13] += mass > 0.0 && !(x[n].w > 0.0f);
        for (int i = 0; i < 3; i++) {
            sum[1 + i] += mass * r[i];
            sum[4 + i] += mass * r[i] * r[i];
            sum[7 + i] += mass * r[i] * r[(i + 1) % 3];
            sum[10 + i] += mass * u[i];
            sum[14 + i] += mass * (r[(i + 1) % 3] * u[(i + 2) % 3] - r[(i + 2) % 3] * u[(i + 1) % 3]);
        }
    }
}

/* sum: of all particles. */
static void put_push(__global lmi_gpu_push *p, __global const lmi_gpu_body *b, float rigid, const double sum[PUSH_SUMS])
{
    const double mass = sum[0], c[3] = {sum[1] / mass, sum[2] / mass, sum[3] / mass};
    double inertia[6];
    inertia_of(mass, c, sum + 4, inertia);
    const lm_dvec3 about = dvec_cross(dvec(c[0], c[1], c[2]), dvec(sum[10], sum[11], sum[12]));
    p->rigid = sum[13] > 0.0 ? 0.0f : rigid;
    p->centre = quad_from(dvec(b->centre[0] + c[0], b->centre[1] + c[1], b->centre[2] + c[2]));
    p->inverse_mass = (float)(1.0 / mass);
    p->mean_mass = b->mean_mass;
    p->mean = quad_from(dvec(sum[10] / mass, sum[11] / mass, sum[12] / mass));
    p->came = quad_from(lmi_dmat_solve_spin(inertia, dvec_sub(dvec(sum[14], sum[15], sum[16]), about)));
    for (int j = 0; j < 3; j++) {
        p->turning[j] = quad_from(lmi_dmat_solve_spin(inertia, dvec(j == 0, j == 1, j == 2)));
    }
}
