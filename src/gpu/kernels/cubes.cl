/*
 * Depth cube maps (touch/cube.h): six faces of distances to the surface, around a place inside a body.
 */

#define FACE (LMI_CUBE_SIDE * LMI_CUBE_SIDE)

/* How far the surface is in a direction of the rest shape: lmi_cube_depth. */
static float cube_depth(__global const float *depth, const float d[3])
{
    float size[3] = {fabs(d[0]), fabs(d[1]), fabs(d[2])}, t[2];
    uint axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2, i[2];
    float major = fmax(size[axis], 1e-30f);
    for (uint k = 0; k < 2; k++) {
        float at = d[(axis + 1 + k) % 3] / major;
        float x = vf_clamp((0.5f * at + 0.5f) * LMI_CUBE_SIDE - 0.5f, 0.0f, LMI_CUBE_SIDE - 1.0f);
        i[k] = (uint)vf_min(floor(x), LMI_CUBE_SIDE - 2.0f);
        t[k] = x - i[k];
    }
    __global const float *m = depth + (2 * axis + (d[axis] < 0.0f)) * FACE + i[1] * LMI_CUBE_SIDE + i[0];
    float low = (1.0f - t[0]) * m[0] + t[0] * m[1];
    float high = (1.0f - t[0]) * m[LMI_CUBE_SIDE] + t[0] * m[LMI_CUBE_SIDE + 1];
    return (1.0f - t[1]) * low + t[1] * high;
}
