/*
 * The rotation of a lattice's region, as src/lattice/lattice_fit.h finds it for lanes, and its way through memory.
 */

/* Of a lattice's region: lattice_any_rotation, with the factor taken in. */
static inline vmat3 region_rotation(vmat3 a, lattice_at constants)
{
    vf by, det, scale = lattice_constant(constants + LMI_LATTICE_SCALE * LATTICE_STRIDE);
    vm sound, settled;
    vmat3 x = lattice_rotation(a, constants, &by, &sound, &settled);
    for (int i = 0; i < 9; i++) {
        x.m[i] = x.m[i] * by;
    }
    if (sound && settled) {
        return x;
    }
    for (int n = 0; n < LATTICE_FURTHER && sound && !settled; n++) {
        x = lattice_newton(x, &det);
        settled = fabs(det - 1.0f) < LATTICE_SETTLED;
    }
    if (sound && settled) {
        return x;
    }
    vmat3 one = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    vf d[3] = {1, 1, 1};
    for (int i = 0; i < 9; i++) {
        a.m[i] = a.m[i] * scale;
    }
    return nearest_rotation(a, d, one);
}

/* A rotation as three numbers, the modified Rodrigues vector n tan(angle / 4), and back as R - 1: both without cancellation. */
static inline void pack_rotation(vmat3 r, vf s[3])
{
    vf best = 1.0f + r.m[0] + r.m[4] + r.m[8];
    if (best > 1.0f) { /* turned by less than 120 degrees: w is large, and the length of the quaternion is 2 sqrt(best) */
        vf by = 1.0f / (best + 2.0f * sqrt(best));
        s[0] = (r.m[7] - r.m[5]) * by;
        s[1] = (r.m[2] - r.m[6]) * by;
        s[2] = (r.m[3] - r.m[1]) * by;
        return;
    }
    vquat q = quaternion_of(r);
    vf length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z), turn = q.w < 0.0f ? -1.0f : 1.0f;
    vf by = turn / (fabs(q.w) + length);
    s[0] = q.x * by;
    s[1] = q.y * by;
    s[2] = q.z * by;
}

static inline void unpack_rotation(vf x, vf y, vf z, vf rho, vf t[9])
{
    vf xx = x * x, yy = y * y, zz = z * z, all = xx + yy + zz, d = 1.0f / (1.0f + all);
    vf scale = rho * d * d, b = 8.0f * scale, c = 4.0f * scale * (1.0f - all);
    vf xy = b * x * y, yz = b * y * z, zx = b * z * x, cx = c * x, cy = c * y, cz = c * z;
    t[0] = -b * (yy + zz), t[1] = xy + cz, t[2] = zx - cy; /* columns along x, y, z */
    t[3] = xy - cz, t[4] = -b * (xx + zz), t[5] = yz + cx;
    t[6] = zx + cy, t[7] = yz - cx, t[8] = -b * (xx + yy);
}
