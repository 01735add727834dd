/*
 * Finding points in solids, sixteen at a time.
 *
 * place_points reads particles and writes where touch points are, and a box around each block of them.
 *
 * find_inside takes a block of points into the rest shape of a solid (sample/bulk.h). Carriers near the block are looked up
 * once; for each of them, in their order, all points of the block blend its map into theirs:
 *
 *   w = (1 - |x - x_c|²/reach²)^4,    X = sum w (s_c + F_c^-1 x) / sum w
 *
 * There the distance and its slope are interpolated, and the slope is taken back into the world by the blend of the F^-T.
 * A lane holds a point, so that every instruction set gives the same bits.
 */
#include "step/kernel_names.h"
#include "world.h"

#define MOST_NEAR 512

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
    uint32_t from[3], to[3], count = 0;
    float reach = (float)s->reach;
    lmi_bulk_cells(s, dvec(low[0] - reach, low[1] - reach, low[2] - reach), from);
    lmi_bulk_cells(s, dvec(high[0] + reach, high[1] + reach, high[2] + reach), to);
    for (uint32_t z = from[2]; z <= to[2]; z++) {
        for (uint32_t y = from[1]; y <= to[1]; y++) {
            uint32_t row = (z * LMI_BULK_CELLS + y) * LMI_BULK_CELLS;
            for (uint32_t k = s->starts[row + from[0]]; k < s->starts[row + to[0] + 1]; k++) {
                const float *at = s->map + (size_t)s->items[k] * 16;
                float square = 0.0f;
                for (int i = 0; i < 3; i++) {
                    float off = at[i] < low[i] ? low[i] - at[i] : at[i] > high[i] ? at[i] - high[i] : 0.0f;
                    square += off * off;
                }
                if (square < reach * reach && count < MOST_NEAR) {
                    near[count++] = s->items[k];
                }
            }
        }
    }
    return count;
}

/* Sums over the carriers for a piece of the points. */
typedef struct blended {
    _Alignas(64) float total[LMI_BLOCK], rest[3][LMI_BLOCK], inverse[9][LMI_BLOCK], carrier[LMI_BLOCK];
} blended;

static void blend(const lmi_bulk *s, const float *points, const uint32_t *near, uint32_t count, int piece, blended *b)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), scale = vf_set1((float)(1.0 / (s->reach * s->reach)));
    vf x[3], total = zero, shift[3] = {zero, zero, zero}, inverse[9], best = vf_set1(INFINITY), which = zero;
    for (int i = 0; i < 3; i++) {
        x[i] = vf_load(points + i * LMI_BLOCK + piece * LMI_LANES);
    }
    for (int i = 0; i < 9; i++) {
        inverse[i] = zero;
    }
    for (uint32_t n = 0; n < count; n++) {
        const float *m = s->map + (size_t)near[n] * 16;
        vf d[3] = {x[0] - vf_set1(m[0]), x[1] - vf_set1(m[1]), x[2] - vf_set1(m[2])};
        vf square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        vf t = vf_max(one - square * scale, zero), w = (t * t) * (t * t);
        vm nearer = vf_lt(square, best);
        total = total + w;
        for (int i = 0; i < 3; i++) {
            shift[i] = shift[i] + w * vf_set1(m[3 + i]);
        }
        for (int i = 0; i < 9; i++) {
            inverse[i] = inverse[i] + w * vf_set1(m[6 + i]);
        }
        best = vf_select(nearer, square, best);
        which = vf_select(nearer, vf_set1((float)near[n]), which);
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

void LMI_KERNEL(find_inside)(const lmi_bulk *s, const float *points, uint32_t wanted, float margin, lmi_insides *out)
{
    uint32_t near[MOST_NEAR], count = carriers_near(s, points, wanted, near);
    blended b;
    out->found = 0;
    if (count == 0) {
        return;
    }
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        blend(s, points, near, count, piece, &b);
    }
    for (uint32_t k = 0; k < LMI_BLOCK; k++) {
        if (!(wanted >> k & 1) || !(b.total[k] > 1e-12f)) {
            continue;
        }
        lm_vec3 rest = {b.rest[0][k], b.rest[1][k], b.rest[2][k]}, slope;
        float distance = lmi_bulk_slope(s, rest, &slope);
        if (!(distance < 2.0f * margin + (float)s->cell)) {
            continue;
        }
        lmi_inside *inside = &out->inside[k];
        dmat3 inverse;
        for (int i = 0; i < 9; i++) {
            inverse.m[i / 3][i % 3] = b.inverse[i][k];
        }
        inside->rest = dvec_from(rest);
        inside->carrier = (uint32_t)b.carrier[k];
        lm_dvec3 point = dvec(points[k], points[LMI_BLOCK + k], points[2 * LMI_BLOCK + k]);
        out->found |= (uint32_t)lmi_bulk_conclude(s, point, distance, dvec_from(slope), &inverse, margin, inside) << k;
    }
}
