/*
 * Octrees and clusters that a blade has divided: each part is damped towards its own motion as a whole (octree/octree_parts.c).
 *
 *   v_i += k (V_i - v_i)     V_i = velocity + spin x (x_i - centre) of the part
 *
 * One work-group a part. It reads and writes velocities before forces and drift, which are the same rigid motion for V and v alike.
 */

#define GROUP 64
#define SUMS 16

/* Mass, first moments, momentum, angular momentum and second moments of a particle, from a place near it. */
static void add_particle(float4 at, float4 speed, float4 from, double s[SUMS])
{
    double m = speed.w, x = (double)at.x - from.x, y = (double)at.y - from.y, z = (double)at.z - from.z;
    double px = m * speed.x, py = m * speed.y, pz = m * speed.z;
    s[0] += m;
    s[1] += m * x, s[2] += m * y, s[3] += m * z;
    s[4] += px, s[5] += py, s[6] += pz;
    s[7] += y * pz - z * py, s[8] += z * px - x * pz, s[9] += x * py - y * px;
    s[10] += m * x * x, s[11] += m * y * y, s[12] += m * z * z;
    s[13] += m * x * y, s[14] += m * y * z, s[15] += m * z * x;
}

/* Centre, velocity and spin from the sums: lmi_motion_solve. */
static void solve_motion(__local const double *s, __local double *motion)
{
    double mass = s[0], per = mass > 0.0 ? 1.0 / mass : 0.0;
    lm_dvec3 c = dvec(s[1] * per, s[2] * per, s[3] * per), momentum = dvec(s[4], s[5], s[6]);
    lm_dvec3 angular = dvec_sub(dvec(s[7], s[8], s[9]), dvec_cross(c, momentum));
    double xx = s[10] - mass * c.x * c.x, yy = s[11] - mass * c.y * c.y, zz = s[12] - mass * c.z * c.z;
    const double inertia[6] = {yy + zz,
                               zz + xx,
                               xx + yy,
                               mass * c.x * c.y - s[13],
                               mass * c.y * c.z - s[14],
                               mass * c.z * c.x - s[15]};
    lm_dvec3 spin = lmi_dmat_solve_spin(inertia, angular);
    motion[0] = c.x, motion[1] = c.y, motion[2] = c.z;
    motion[3] = momentum.x * per, motion[4] = momentum.y * per, motion[5] = momentum.z * per;
    motion[6] = spin.x, motion[7] = spin.y, motion[8] = spin.z;
}

/* parts: record of the body, first and end of its particles in `members`. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
damp_severed(__global const lmi_gpu_body *bodies, __global const uint4 *parts, __global const uint *members,
             __global const float4 *x, __global float4 *v)
{
    __local double slots[SUMS][GROUP], sums[SUMS], motion[9];
    const uint4 part = parts[get_group_id(0)];
    const double k = bodies[part.x].loss;
    const uint id = get_local_id(0);
    if (!(k > 0.0)) {
        return; /* all of the group */
    }
    const float4 from = x[members[part.y]];
    double s[SUMS];
    for (int i = 0; i < SUMS; i++) {
        s[i] = 0.0;
    }
    for (uint n = part.y + id; n < part.z; n += GROUP) {
        add_particle(x[members[n]], v[members[n]], from, s);
    }
    for (int i = 0; i < SUMS; i++) {
        slots[i][id] = s[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < SUMS) {
        double sum = 0.0;
        for (uint n = 0; n < GROUP; n++) {
            sum += slots[id][n];
        }
        sums[id] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        solve_motion(sums, motion);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = part.y + id; n < part.z; n += GROUP) {
        const float4 at = x[members[n]];
        float4 speed = v[members[n]];
        const double r[3] = {(double)at.x - from.x - motion[0], (double)at.y - from.y - motion[1],
                             (double)at.z - from.z - motion[2]};
        const double was[3] = {speed.x, speed.y, speed.z};
        float now[3];
        for (int i = 0; i < 3; i++) {
            const int p = (i + 1) % 3, q = (i + 2) % 3;
            double whole = motion[3 + i] + (motion[6 + p] * r[q] - motion[6 + q] * r[p]);
            now[i] = (float)fmin(fmax(was[i] + k * (whole - was[i]), -(double)LM_MAX_SPEED), (double)LM_MAX_SPEED);
        }
        v[members[n]] = (float4)(now[0], now[1], now[2], speed.w);
    }
}
