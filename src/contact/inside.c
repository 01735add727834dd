/*
 * Finding points in solids, sixteen at a time.
 *
 * place_points reads particles and writes where touch points are, a box around each block of them, and which bodies they recall.
 *
 * near_points passes over the points of a block that are outside the box of a solid, or further from it than one affine map of
 * the whole solid leaves open.
 *
 * find_inside takes a block of points into the rest shape of a solid (touch/bulk.h). Carriers near the block are found
 * first; for each of them, in their order, all points of the block blend its map into theirs:
 *
 *   w = (1 - |x - x_c|²/r²)^4,    X = sum w (s_c + F_c^-1 x) / sum w,    r = 1.5 |x - nearest x_c| within reach to far
 *
 * (for points of the body itself, w = 0 for carriers that are near the point in the rest shape). There the distance and its slope
 * are interpolated, and the slope is taken back into the world by the blend of the F^-T. r is short where there are carriers:
 * a dent is as sharp as they are dense; and long in the middle of a hollow body, where there are none.
 * A lane holds a point, so that every instruction set gives the same bits.
 */
#include "touch/depth.h"
#include "world/kernel_names.h"
#include "world/world.h"

#include <string.h>

#define MOST_NEAR 512

/* Cells by which the map of the whole may be wrong before it is no use to look up distances with it. */
#define USELESS_SLACK 8.0f

void LMI_KERNEL(place_points)(const struct lmi_body *body)
{
    const lmi_touch *touch = &body->touch;
    for (uint32_t n = 0; n < touch->blocks * LMI_BLOCK; n += LMI_LANES) {
        uint32_t row = touch->first_row[n / LMI_BLOCK], end = touch->first_row[n / LMI_BLOCK + 1];
        vf x[3] = {vf_set1(0.0f), vf_set1(0.0f), vf_set1(0.0f)};
        for (; row < end; row++) {
            size_t at = (size_t)row * LMI_BLOCK + n % LMI_BLOCK;
            vf p[4], w = vf_load(touch->weight + at);
            vf_gather4(body->x, touch->rider + at, p);
            for (int i = 0; i < 3; i++) {
                x[i] = x[i] + w * p[i];
            }
        }
        for (int i = 0; i < 3; i++) {
            vf_store(touch->now + ((size_t)(n / LMI_BLOCK) * 3 + (size_t)i) * LMI_BLOCK + n % LMI_BLOCK, x[i]);
        }
    }
    for (uint32_t block = 0; block < touch->blocks; block++) {
        uint32_t lanes = touch->count - block * LMI_BLOCK < LMI_BLOCK ? touch->count - block * LMI_BLOCK : LMI_BLOCK;
        touch->others[block] = 0;
        for (uint32_t k = 0; k < lanes; k++) {
            touch->others[block] |= lmi_touch_bit(touch->warm[block * LMI_BLOCK + k].other);
        }
        for (int i = 0; i < 3; i++) {
            const float *x = touch->now + ((size_t)block * 3 + (size_t)i) * LMI_BLOCK;
            float low = x[0], high = x[0];
            for (uint32_t k = 1; k < lanes; k++) {
                low = x[k] < low ? x[k] : low;
                high = x[k] > high ? x[k] : high;
            }
            touch->box[(size_t)block * 6 + (size_t)i] = low;
            touch->box[(size_t)block * 6 + 3 + (size_t)i] = high;
        }
    }
}

/* The carriers that may reach the wanted points. */
static uint32_t carriers_near(const lmi_bulk *s, const float *points, uint32_t wanted, uint32_t near[MOST_NEAR])
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t k = 0; k < LMI_BLOCK; k++) {
        for (int i = 0; i < 3 && wanted >> k & 1; i++) {
            float p = points[i * LMI_BLOCK + (int)k];
            low[i] = p < low[i] ? p : low[i];
            high[i] = p > high[i] ? p : high[i];
        }
    }
    uint32_t count = 0, lanes = lmi_bulk_lanes(s->mould);
    const vf zero = vf_set1(0.0f), most = vf_set1((float)(s->mould->far * s->mould->far));
    for (uint32_t n = 0; n < lanes; n += LMI_LANES) {
        vf square = zero;
        for (uint32_t i = 0; i < 3; i++) {
            vf at = vf_load(s->place + i * lanes + n);
            vf off = vf_max(vf_max(vf_set1(low[i]) - at, at - vf_set1(high[i])), zero);
            square = square + off * off;
        }
        uint32_t found = vm_bits(vf_lt(square, most));
        for (; found && count < MOST_NEAR; found &= found - 1) {
            near[count++] = n + (uint32_t)lmi_low_bit(found);
        }
    }
    return count;
}

uint32_t LMI_KERNEL(near_points)(const lmi_bulk *s, const float *now, const lmi_near *near, float *at)
{
    const lmi_mould *mould = s->mould;
    const float first[3] = {(float)mould->first.x, (float)mould->first.y, (float)mould->first.z};
    const float by = (float)(1.0 / mould->cell), *a = s->whole;
    const float middle[3] = {s->middle.x, s->middle.y, s->middle.z};
    const float rest_middle[3] = {mould->rest_middle.x, mould->rest_middle.y, mould->rest_middle.z};
    _Alignas(64) float node[3][LMI_BLOCK], beyond[LMI_BLOCK];
    const bool all = near->all || s->slack > USELESS_SLACK * (float)mould->cell;
    uint32_t found = 0;
    for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        vf p[3], d[3], off = vf_set1(0.0f);
        vm out = vf_lt(off, off); /* none */
        for (int i = 0; i < 3; i++) {
            p[i] = vf_load(now + i * LMI_BLOCK + lane) + vf_set1(near->by[i]);
            out = vm_or(out, vm_or(vf_lt(p[i], vf_set1(near->low[i])), vf_lt(vf_set1(near->high[i]), p[i])));
            vf_store(at + i * LMI_BLOCK + lane, p[i]);
            d[i] = p[i] - vf_set1(middle[i]);
        }
        for (int i = 0; i < 3 && !all; i++) { /* the nearest node will do: it is less than a cell away */
            vf turned = (vf_set1(a[3 * i]) * d[0] + vf_set1(a[3 * i + 1]) * d[1]) + vf_set1(a[3 * i + 2]) * d[2];
            vf where = ((vf_set1(rest_middle[i]) + turned) - vf_set1(first[i])) * vf_set1(by);
            vf inside = vf_min(vf_max(where, vf_set1(0.0f)), vf_set1((float)(mould->n[i] - 1)));
            off = vf_max(off, vf_abs(where - inside));
            vf_store(node[i] + lane, inside + vf_set1(0.5f));
        }
        vf_store(beyond + lane, off);
        found |= (~vm_bits(out) & (uint32_t)((1u << LMI_LANES) - 1u)) << lane;
    }
    if (all || !found) {
        return found;
    }
    /* A cell for what find_inside looks at beyond the margin, another for the field around the node. */
    float most = s->slack + 2.0f * near->margin + 2.0f * (float)mould->cell;
    for (uint32_t left = found; left; left &= left - 1) {
        const uint32_t k = (uint32_t)lmi_low_bit(left);
        size_t i = ((size_t)node[2][k] * mould->n[1] + (size_t)node[1][k]) * mould->n[0] + (size_t)node[0][k];
        found &= mould->distance[i] + beyond[k] * (float)mould->cell > most ? ~(1u << k) : ~0u;
    }
    return found;
}

/* Sums over the carriers for the points of a block, and the distances there. */
typedef struct blended {
    _Alignas(64) float total[LMI_BLOCK], rest[3][LMI_BLOCK], inverse[9][LMI_BLOCK], carrier[LMI_BLOCK];
    float distance[LMI_BLOCK], slope[3][LMI_BLOCK];
} blended;

/* Passes over carriers nearer than `apart` to where the points are at rest; null: none. */
typedef struct exclusion {
    const float *rest; /* [3][LMI_BLOCK] */
    float distance;
} exclusion;

/* Which points a carrier counts for. */
static inline vm is_far_at_rest(const lmi_bulk *s, uint32_t carrier, const exclusion *but, int piece)
{
    const lm_vec3 *at = &s->mould->rest[carrier];
    vf off[3] = {vf_load(but->rest + piece * LMI_LANES) - vf_set1(at->x),
                 vf_load(but->rest + LMI_BLOCK + piece * LMI_LANES) - vf_set1(at->y),
                 vf_load(but->rest + 2 * LMI_BLOCK + piece * LMI_LANES) - vf_set1(at->z)};
    return vm_not(vf_lt((off[0] * off[0] + off[1] * off[1]) + off[2] * off[2], vf_set1(but->distance * but->distance)));
}

static inline vf square_to(const float *map, const vf x[3])
{
    vf d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = x[i] - vf_set1(map[i]);
    }
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

/* 1 / reach² for each point: further than usual where no carrier is near. `which`: the nearest. `squares`: of the distances;
 * without end for carriers that do not count. */
static LMI_ALWAYS_INLINE vf reach_of(const lmi_bulk *s, const vf x[3], const uint32_t *near, uint32_t count, int piece,
                                     const exclusion *but, float *squares, vf *which)
{
    const float reach = (float)(s->mould->reach * s->mould->reach), far = (float)(s->mould->far * s->mould->far);
    vf least = vf_set1(INFINITY), nearest = vf_set1(0.0f);
    for (uint32_t n = 0; n < count; n++) {
        vf square = square_to(s->map + (size_t)near[n] * 16, x);
        if (but) {
            square = vf_select(is_far_at_rest(s, near[n], but, piece), square, vf_set1(INFINITY));
        }
        vm nearer = vf_lt(square, least);
        least = vf_select(nearer, square, least);
        nearest = vf_select(nearer, vf_set1((float)near[n]), nearest);
        vf_store(squares + (size_t)n * LMI_LANES, square);
    }
    *which = nearest;
    return vf_set1(1.0f) / vf_min(vf_max(vf_set1(LMI_REACH_ON) * least, vf_set1(reach)), vf_set1(far));
}

static LMI_ALWAYS_INLINE void blend_piece(const lmi_bulk *s, const float *points, const uint32_t *near, uint32_t count,
                                          int piece, const exclusion *but, blended *b)
{
    _Alignas(64) float squares[MOST_NEAR * LMI_LANES];
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf x[3], total = zero, shift[3] = {zero, zero, zero}, inverse[9], which;
    for (int i = 0; i < 3; i++) {
        x[i] = vf_load(points + i * LMI_BLOCK + piece * LMI_LANES);
    }
    for (int i = 0; i < 9; i++) {
        inverse[i] = zero;
    }
    vf scale = reach_of(s, x, near, count, piece, but, squares, &which);
    for (uint32_t n = 0; n < count; n++) {
        vf t = vf_max(one - vf_load(squares + (size_t)n * LMI_LANES) * scale, zero);
        if (!vm_any(vf_lt(zero, t))) {
            continue; /* more than half of those that are near the block count for none of its points */
        }
        const float *m = s->map + (size_t)near[n] * 16;
        vf w = (t * t) * (t * t);
        total = total + w;
        for (int i = 0; i < 3; i++) {
            shift[i] = shift[i] + w * vf_set1(m[3 + i]);
        }
        for (int i = 0; i < 9; i++) {
            inverse[i] = inverse[i] + w * vf_set1(m[6 + i]);
        }
    }
    vf by = one / vf_max(total, vf_set1(1e-30f));
    vf_store(b->total + piece * LMI_LANES, total);
    vf_store(b->carrier + piece * LMI_LANES, which);
    for (int i = 0; i < 3; i++) {
        vf rest = shift[i] + ((inverse[3 * i] * x[0] + inverse[3 * i + 1] * x[1]) + inverse[3 * i + 2] * x[2]);
        vf_store(b->rest[i] + piece * LMI_LANES, rest * by);
    }
    for (int i = 0; i < 9; i++) {
        vf_store(b->inverse[i] + piece * LMI_LANES, inverse[i] * by);
    }
}

/* lmi_mould_slope for the wanted points of a block. */
static void measure(const lmi_mould *mould, uint32_t wanted, blended *b)
{
    const float first[3] = {(float)mould->first.x, (float)mould->first.y, (float)mould->first.z};
    const float by = (float)(1.0 / mould->cell);
    const size_t row = mould->n[0], plane = row * mould->n[1];
    _Alignas(64) float within[3][LMI_BLOCK], t[3][LMI_BLOCK], beyond[LMI_BLOCK], node[8][LMI_BLOCK];
    memset(node, 0, sizeof node);
    memset(t, 0, sizeof t);
    for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        vf off = vf_set1(0.0f);
        for (int a = 0; a < 3; a++) { /* outside the grid: the distance at its border and from there on */
            vf at = (vf_load(b->rest[a] + lane) - vf_set1(first[a])) * vf_set1(by);
            vf inside = vf_min(vf_max(at, vf_set1(0.0f)), vf_set1((float)(mould->n[a] - 1)));
            off = vf_max(vf_abs(at - inside), off);
            vf_store(within[a] + lane, inside);
        }
        vf_store(beyond + lane, off);
    }
    for (uint32_t k = 0; wanted >> k; k++) {
        size_t i[3];
        for (int a = 0; a < 3 && wanted >> k & 1; a++) {
            int32_t cell = (int32_t)within[a][k], last = (int32_t)mould->n[a] - 2;
            cell = cell < last ? cell : last;
            i[a] = (size_t)cell;
            t[a][k] = within[a][k] - (float)cell;
        }
        if (wanted >> k & 1) {
            const float *d = mould->distance + i[2] * plane + i[1] * row + i[0], *e = d + plane;
            node[0][k] = d[0], node[1][k] = d[1], node[2][k] = d[row], node[3][k] = d[row + 1];
            node[4][k] = e[0], node[5][k] = e[1], node[6][k] = e[row], node[7][k] = e[row + 1];
        }
    }
    for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) { /* lmi_distance_between */
        const vf one = vf_set1(1.0f), tx = vf_load(t[0] + lane), ty = vf_load(t[1] + lane), tz = vf_load(t[2] + lane);
        const vf u = one - tx, v = one - ty, w = one - tz, scale = vf_set1(by);
        vf d[8];
        for (int i = 0; i < 8; i++) {
            d[i] = vf_load(node[i] + lane);
        }
        vf x0 = u * d[0] + tx * d[1], x1 = u * d[2] + tx * d[3], x2 = u * d[4] + tx * d[5], x3 = u * d[6] + tx * d[7];
        vf y0 = v * x0 + ty * x1, y1 = v * x2 + ty * x3;
        vf dx0 = v * (d[1] - d[0]) + ty * (d[3] - d[2]), dx1 = v * (d[5] - d[4]) + ty * (d[7] - d[6]);
        vf_store(b->slope[0] + lane, scale * (w * dx0 + tz * dx1));
        vf_store(b->slope[1] + lane, scale * (w * (x1 - x0) + tz * (x3 - x2)));
        vf_store(b->slope[2] + lane, scale * (y1 - y0));
        vf_store(b->distance + lane, (w * y0 + tz * y1) + vf_load(beyond + lane) * vf_set1((float)mould->cell));
    }
}

/* The same for points that were in the solid before. */
static void recall(const lmi_mould *mould, uint32_t wanted, const lmi_recalled *recalled, blended *b)
{
    for (uint32_t left = wanted & recalled->which; left; left &= left - 1) {
        const uint32_t k = (uint32_t)lmi_low_bit(left);
        lm_vec3 rest = {b->rest[0][k], b->rest[1][k], b->rest[2][k]}, slope;
        b->distance[k] = lmi_mould_recall(mould, rest, recalled->out[k], &slope);
        b->slope[0][k] = slope.x, b->slope[1][k] = slope.y, b->slope[2][k] = slope.z;
    }
}

/* From the blends at the points of a block to their depths. */
static void conclude(const lmi_bulk *s, const float *points, uint32_t wanted, float margin, blended *b,
                     const lmi_recalled *recalled, lmi_insides *out)
{
    uint32_t carried = 0, near = 0;
    const vf most = vf_set1(2.0f * margin + (float)s->mould->cell);
    for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        carried |= vm_bits(vf_lt(vf_set1(1e-12f), vf_load(b->total + lane))) << lane;
    }
    carried &= wanted;
    if (!carried) {
        return;
    }
    measure(s->mould, carried, b);
    if (recalled) {
        recall(s->mould, carried, recalled, b);
    }
    for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        near |= vm_bits(vf_lt(vf_load(b->distance + lane), most)) << lane;
    }
    near &= carried;
    for (uint32_t k = 0; near >> k; k++) {
        if (!(near >> k & 1)) {
            continue;
        }
        lmi_inside *inside = &out->inside[k];
        dmat3 inverse;
        for (int i = 0; i < 9; i++) {
            inverse.m[i / 3][i % 3] = b->inverse[i][k];
        }
        inside->rest = dvec(b->rest[0][k], b->rest[1][k], b->rest[2][k]);
        inside->carrier = (uint32_t)b->carrier[k];
        inside->out = (lm_vec3){b->slope[0][k], b->slope[1][k], b->slope[2][k]};
        lm_dvec3 point = dvec(points[k], points[LMI_BLOCK + k], points[2 * LMI_BLOCK + k]),
                 slope = dvec_from(inside->out);
        out->found |= (uint32_t)lmi_bulk_conclude(s, point, b->distance[k], slope, &inverse, margin, inside) << k;
    }
}

static void blend(const lmi_bulk *s, const float *points, const uint32_t *near, uint32_t count, blended *b)
{
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        blend_piece(s, points, near, count, piece, NULL, b);
    }
}

static void blend_but(const lmi_bulk *s, const float *points, const uint32_t *near, uint32_t count,
                      const exclusion *but, blended *b)
{
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        blend_piece(s, points, near, count, piece, but, b);
    }
}

void LMI_KERNEL(find_inside)(const lmi_bulk *s, const float *points, uint32_t wanted, float margin,
                             const lmi_recalled *recalled, lmi_insides *out)
{
    uint32_t near[MOST_NEAR], count = carriers_near(s, points, wanted, near);
    blended b;
    out->found = 0;
    if (count == 0) {
        return;
    }
    blend(s, points, near, count, &b);
    conclude(s, points, wanted, margin, &b, recalled, out);
}

/* Leaves those carriers that are far enough away at rest from some of the points. */
static uint32_t keep_far(const lmi_bulk *s, const float *rest, uint32_t wanted, float apart, uint32_t *near,
                         uint32_t count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t k = 0; wanted >> k; k++) {
        for (int i = 0; i < 3 && wanted >> k & 1; i++) {
            float p = rest[i * LMI_BLOCK + (int)k];
            low[i] = p < low[i] ? p : low[i];
            high[i] = p > high[i] ? p : high[i];
        }
    }
    uint32_t kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        const lm_vec3 *at = &s->mould->rest[near[n]];
        const float p[3] = {at->x, at->y, at->z};
        float square = 0.0f;
        for (int i = 0; i < 3; i++) {
            float off = p[i] - low[i] > high[i] - p[i] ? p[i] - low[i] : high[i] - p[i];
            square += off * off;
        }
        if (square >= 0.999f * apart * apart) {
            near[kept++] = near[n];
        }
    }
    return kept;
}

void LMI_KERNEL(find_itself)(const lmi_bulk *s, const lmi_touch *touch, uint32_t block, uint32_t wanted, float margin,
                             float apart, lmi_insides *out)
{
    const float *points = touch->now + (size_t)block * 3 * LMI_BLOCK;
    _Alignas(64) float rest[3 * LMI_BLOCK] = {0};
    uint32_t near[MOST_NEAR], count = carriers_near(s, points, wanted, near);
    for (uint32_t k = 0; wanted >> k; k++) {
        const lm_vec3 *at = &touch->rest[block * LMI_BLOCK + k];
        rest[k] = at->x, rest[LMI_BLOCK + k] = at->y, rest[2 * LMI_BLOCK + k] = at->z;
    }
    count = keep_far(s, rest, wanted, apart, near, count);
    blended b;
    const exclusion near_at_rest = {rest, apart};
    out->found = 0;
    if (count == 0) {
        return;
    }
    blend_but(s, points, near, count, &near_at_rest, &b);
    conclude(s, points, wanted, margin, &b, NULL, out);
}
