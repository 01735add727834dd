#include "touch/cube.h"
#include "world/world.h"

#include <string.h>

#define FACE ((size_t)LMI_CUBE_SIDE * LMI_CUBE_SIDE)
#define MAP (6 * FACE)

/* Steps along a ray through the distance field, at most, and the shortest in cells. */
#define MOST_STEPS 256
#define LEAST_STEP 0.1

/* A map sees a carrier that is not further behind the surface than this, in cells: maps are coarse at corners. */
#define SEEN 0.5

void lmi_cubes_free(lm_world *world, lmi_cubes *cubes)
{
    lmi_release(&world->memory, cubes->depth, LMI_CUBE_MOST * MAP, sizeof *cubes->depth);
    memset(cubes, 0, sizeof *cubes);
}

/* Faces in the order +x -x +y -y +z -z; u and v from -1 to 1 along the two axes that follow. */
static lm_dvec3 direction_of(uint32_t face, double u, double v)
{
    double sign = face & 1 ? -1.0 : 1.0;
    return face < 2 ? dvec(sign, u, v) : face < 4 ? dvec(v, sign, u) : dvec(u, v, sign);
}

/* From a place inside along a unit direction to the surface; 0 where the place is outside. */
static double march(const lmi_mould *mould, lm_dvec3 from, lm_dvec3 direction)
{
    double at = 0.0, before = lmi_mould_distance(mould, from), last = 0.0;
    for (int n = 0; n < MOST_STEPS && before < 0.0; n++) {
        double next = last + lmi_max(-before, LEAST_STEP * mould->cell);
        double now = lmi_mould_distance(mould, dvec_add(from, dvec_scale(direction, next)));
        at = now < 0.0 ? next : last + (next - last) * before / (before - now);
        last = next;
        before = now;
    }
    return at;
}

static void fill_map(const lmi_mould *mould, uint32_t carrier, float *depth)
{
    for (uint32_t n = 0; n < MAP; n++) {
        uint32_t face = n / (uint32_t)FACE, row = n % (uint32_t)FACE / LMI_CUBE_SIDE, column = n % LMI_CUBE_SIDE;
        double u = (2.0 * column + 1.0) / LMI_CUBE_SIDE - 1.0, v = (2.0 * row + 1.0) / LMI_CUBE_SIDE - 1.0;
        lm_dvec3 d = direction_of(face, u, v);
        depth[n] = (float)march(mould, dvec_from(mould->rest[carrier]), dvec_scale(d, 1.0 / dvec_length(d)));
    }
}

double lmi_cube_depth(const lmi_cubes *cubes, uint32_t n, lm_dvec3 d)
{
    double size[3] = {fabs(d.x), fabs(d.y), fabs(d.z)};
    uint32_t axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
    double along[3] = {d.x, d.y, d.z}, major = lmi_max(size[axis], 1e-300);
    uint32_t face = 2 * axis + (along[axis] < 0.0);
    double at[2] = {along[(axis + 1) % 3] / major, along[(axis + 2) % 3] / major};
    uint32_t i[2];
    double t[2];
    for (int k = 0; k < 2; k++) { /* between the middles of the texels */
        double x = lmi_min(lmi_max((0.5 * at[k] + 0.5) * LMI_CUBE_SIDE - 0.5, 0.0), LMI_CUBE_SIDE - 1.0);
        i[k] = (uint32_t)lmi_min(floor(x), LMI_CUBE_SIDE - 2.0);
        t[k] = x - i[k];
    }
    const float *m = cubes->depth + n * MAP + face * FACE + i[1] * LMI_CUBE_SIDE + i[0];
    double low = (1.0 - t[0]) * m[0] + t[0] * m[1];
    double high = (1.0 - t[0]) * m[LMI_CUBE_SIDE] + t[0] * m[LMI_CUBE_SIDE + 1];
    return (1.0 - t[1]) * low + t[1] * high;
}

/* Whether one of the maps sees a carrier, or none need: it is outside. */
static bool is_seen(const lmi_cubes *cubes, const lmi_mould *mould, uint32_t carrier, double reach)
{
    lm_dvec3 rest = dvec_from(mould->rest[carrier]);
    bool seen = !(lmi_mould_distance(mould, rest) < -LEAST_STEP * mould->cell);
    for (uint32_t n = 0; n < cubes->count && !seen; n++) {
        lm_dvec3 d = dvec_sub(rest, dvec_from(mould->rest[cubes->carrier[n]]));
        double far = dvec_length(d);
        seen = far <= reach && far <= lmi_cube_depth(cubes, n, d) + SEEN * mould->cell;
    }
    return seen;
}

bool lmi_cubes_make(lm_world *world, const lmi_mould *mould, lmi_cubes *cubes)
{
    memset(cubes, 0, sizeof *cubes);
    cubes->depth = lmi_allocate(&world->memory, LMI_CUBE_MOST * MAP, sizeof *cubes->depth);
    if (!cubes->depth) {
        return false;
    }
    double longest = 0.0;
    for (int a = 0; a < 3; a++) {
        longest = lmi_max(longest, mould->cell * ((double)mould->n[a] - 5.0)); /* less the empty border */
    }
    /* The deepest carrier that no map sees gets one, until all are seen. */
    while (cubes->count < LMI_CUBE_MOST) {
        uint32_t deepest = LMI_NONE;
        double depth = INFINITY;
        for (uint32_t c = 0; c < mould->carrier_count; c++) {
            double here = lmi_mould_distance(mould, dvec_from(mould->rest[c]));
            if (here < depth && !is_seen(cubes, mould, c, longest)) {
                depth = here;
                deepest = c;
            }
        }
        if (deepest == LMI_NONE) {
            break;
        }
        fill_map(mould, deepest, cubes->depth + cubes->count * MAP);
        cubes->carrier[cubes->count++] = deepest;
    }
    return true;
}

/* In single precision, as devices do: bodies that are even have many that are as near. */
static uint32_t nearest_carrier(const lmi_bulk *solid, lm_dvec3 point)
{
    uint32_t nearest = 0;
    float least = INFINITY;
    const lm_vec3 p = vec_from(point);
    for (uint32_t c = 0; c < solid->mould->carrier_count; c++) {
        const float *m = solid->map + (size_t)c * 16;
        const float x = p.x - m[0], y = p.y - m[1], z = p.z - m[2], square = (x * x + y * y) + z * z;
        if (square < least) {
            least = square;
            nearest = c;
        }
    }
    return nearest;
}

bool lmi_cubes_find(const lmi_cubes *cubes, const lmi_bulk *solid, lm_dvec3 point, double margin, lmi_inside *inside)
{
    uint32_t nearest = LMI_NONE;
    double square = INFINITY;
    for (uint32_t n = 0; n < cubes->count; n++) {
        lm_dvec3 d = dvec_sub(point, lmi_bulk_at(solid, cubes->carrier[n]));
        if (dvec_dot(d, d) < square) {
            square = dvec_dot(d, d);
            nearest = n;
        }
    }
    if (nearest == LMI_NONE) {
        return false;
    }
    uint32_t c = cubes->carrier[nearest];
    const dmat3 inverse = lmi_bulk_inverse(solid, c);
    lm_dvec3 out = dvec_sub(point, lmi_bulk_at(solid, c)), d = dmat_apply(&inverse, out);
    double far = dvec_length(d), now = dvec_length(out);
    if (!(far > 1e-9 && now > 1e-9)) { /* in the very middle: up */
        out = d = dvec(0.0, 1.0, 0.0);
        now = far = 1.0;
        inside->depth = lmi_cube_depth(cubes, nearest, d);
    } else {
        inside->depth = (lmi_cube_depth(cubes, nearest, d) - far) * now / far;
    }
    inside->normal = dvec_scale(out, 1.0 / now);
    if (!(inside->depth + margin > 0.0)) {
        return false;
    }
    /* The push is taken by the particles around the point: a map has a few, and all points in its sight would push these. */
    inside->carrier = nearest_carrier(solid, point);
    const dmat3 there = lmi_bulk_inverse(solid, inside->carrier);
    lm_dvec3 off = dvec_sub(point, lmi_bulk_at(solid, inside->carrier));
    inside->rest = dvec_add(dvec_from(solid->mould->rest[inside->carrier]), dmat_apply(&there, off));
    return true;
}
