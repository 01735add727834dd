#include "base/rotation.h"

#include <string.h>

/* Eigenvalues that differ by less than this share are equal: the rotations are equally near. */
#define SAME_EIGENVALUE 1e-9

dmat3 lmi_dmat_nearest_rotation(const dmat3 *a)
{
    double scale = 0.0, k[16], values[4], vectors[16], q[4] = {0};
    for (int i = 0; i < 9; i++) {
        scale = lmi_max(scale, fabs(a->m[i / 3][i % 3]));
    }
    const dmat3 identity = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    if (!(scale > 0.0)) {
        return identity;
    }
    double s[3][3]; /* rest from world */
    for (int i = 0; i < 9; i++) {
        s[i / 3][i % 3] = a->m[i % 3][i / 3] / scale;
    }
    const double upper[16] = {
        s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0], s[1][2] - s[2][1],
        s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2], s[2][0] - s[0][2], s[0][1] + s[1][0],
        s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1], s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1],
        s[2][2] - s[0][0] - s[1][1]};
    memcpy(k, upper, sizeof k);
    lmi_symmetric_eigen(4, k, values, vectors);
    /* No turn at all, as far as it is among the nearest; w comes first. */
    double length = 0.0;
    for (int n = 0; n < 4 && values[0] - values[n] <= SAME_EIGENVALUE; n++) {
        for (int i = 0; i < 4; i++) {
            q[i] += vectors[n] * vectors[4 * i + n];
        }
    }
    for (int i = 0; i < 4; i++) {
        length += q[i] * q[i];
    }
    if (!(length > 1e-20)) { /* half a turn, whichever way */
        length = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i] = vectors[4 * i];
            length += q[i] * q[i];
        }
    }
    double f = 2.0 / length, w = q[0], x = q[1], y = q[2], z = q[3];
    return (dmat3){{{1.0 - f * (y * y + z * z), f * (x * y - w * z), f * (x * z + w * y)},
                    {f * (x * y + w * z), 1.0 - f * (x * x + z * z), f * (y * z - w * x)},
                    {f * (x * z - w * y), f * (y * z + w * x), 1.0 - f * (x * x + y * y)}}};
}
