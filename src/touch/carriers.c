/*
 * Brings the carriers of a solid (touch/bulk.h) to where its particles are, sixteen at a time.
 *
 * Reads particles and the mould; writes the maps of its carriers, and the map of the whole. Of each carrier
 *
 *   x_c = sum w_k x_k,    F = sum x_k g_k^T,    X = X_c + F^-1 (x - x_c)
 *
 * with F completed where its particles are a sheet, and its inverse bounded: the arithmetic of touch/stretch.h, in single
 * precision. Positions are relative to the body's origin, so that nothing is lost far from that of the world. A lane holds a
 * carrier; sums over all carriers are made for each of 16 lanes and then joined, so every instruction set gives the same bits.
 */
#include "base/quad.h"
#include "base/vmat.h"
#include "touch/stretch.h"
#include "world/kernel_names.h"
#include "world/world.h"

/* F, or its inverse transposed, by columns. */
typedef struct columns {
    v3 a, b, c;
} columns;

/* lmi_complete_stretch */
static inline columns complete(columns f, v3 across)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    v3 lost = v3_add(v3_add(v3_scale(across.x, f.a), v3_scale(across.y, f.b)), v3_scale(across.z, f.c));
    f.a = v3_sub(f.a, v3_scale(across.x, lost));
    f.b = v3_sub(f.b, v3_scale(across.y, lost));
    f.c = v3_sub(f.c, v3_scale(across.z, lost));
    v3 n = v3_add(v3_add(v3_scale(across.x, v3_cross(f.b, f.c)), v3_scale(across.y, v3_cross(f.c, f.a))),
                  v3_scale(across.z, v3_cross(f.a, f.b)));
    vf length = v3_length(n);
    vm sure = vf_lt(vf_set1(1e-18f), length);
    n = v3_scale(vf_select(sure, one / vf_select(sure, length, one), zero), n);
    f.a = v3_add(f.a, v3_scale(across.x, n));
    f.b = v3_add(f.b, v3_scale(across.y, n));
    f.c = v3_add(f.c, v3_scale(across.z, n));
    return f;
}

/* A direction across two others, as long as the longest, or `otherwise` where they say nothing. */
static inline v3 stand_across(v3 a, v3 b, vf longest, v3 otherwise)
{
    v3 n = v3_cross(a, b);
    vf length = v3_length(n);
    vm sure = vf_lt(vf_set1(0.0f), length);
    return v3_select(sure, v3_scale(longest / vf_select(sure, length, vf_set1(1.0f)), n), v3_scale(longest, otherwise));
}

/* lmi_invert_stretch: rows of F^-1. */
static inline columns invert(columns f)
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf la = v3_length(f.a), lb = v3_length(f.b), lc = v3_length(f.c), longest = vf_max(la, vf_max(lb, lc));
    longest = vf_select(vf_lt(vf_set1(1e-12f), longest), longest, one);
    vf least = vf_set1(0.05f) * longest;
    if (vm_any(vm_or(vm_or(vf_lt(la, least), vf_lt(lb, least)), vf_lt(lc, least)))) {
        f.c = v3_select(vf_lt(lc, least), stand_across(f.a, f.b, longest, (v3){zero, zero, one}), f.c);
        f.a = v3_select(vf_lt(la, least), stand_across(f.b, f.c, longest, (v3){one, zero, zero}), f.a);
        f.b = v3_select(vf_lt(lb, least), stand_across(f.c, f.a, longest, (v3){zero, one, zero}), f.b);
    }
    v3 bc = v3_cross(f.b, f.c), ca = v3_cross(f.c, f.a), ab = v3_cross(f.a, f.b);
    vf det = v3_dot(f.a, bc), floor_of = ((vf_set1(0.02f) * longest) * longest) * longest;
    vf bound = vf_select(vf_lt(det, zero), zero - floor_of, floor_of);
    vf by = one / vf_select(vf_lt(floor_of, vf_abs(det)), det, bound);
    return (columns){v3_scale(by, bc), v3_scale(by, ca), v3_scale(by, ab)};
}

/* Carriers from `block` and `lane` on: their maps, and where they are. */
static void carry_piece(lmi_bulk *s, const float *x, uint32_t block, uint32_t lane)
{
    const lmi_mould *mould = s->mould;
    const vf zero = vf_set1(0.0f);
    v3 at = {zero, zero, zero};
    columns f = {at, at, at};
    for (uint32_t row = mould->first_row[block]; row < mould->first_row[block + 1]; row++) {
        const float *hold = mould->row_hold + (size_t)row * 4 * LMI_BLOCK + lane;
        vf p[4];
        vf_gather4(x, mould->row_rider + (size_t)row * LMI_BLOCK + lane, p);
        const v3 here = {p[0], p[1], p[2]};
        at = v3_add(at, v3_scale(vf_load(hold), here));
        f.a = v3_add(f.a, v3_scale(vf_load(hold + LMI_BLOCK), here));
        f.b = v3_add(f.b, v3_scale(vf_load(hold + 2 * LMI_BLOCK), here));
        f.c = v3_add(f.c, v3_scale(vf_load(hold + 3 * LMI_BLOCK), here));
    }
    const float *lanes = mould->lanes + (size_t)block * LMI_MOULD_LANES * LMI_BLOCK + lane;
    columns rows = invert(complete(f, v3_load(lanes + LMI_MOULD_ACROSS * LMI_BLOCK, 0)));
    v3 shift = v3_sub(v3_load(lanes, 0), (v3){v3_dot(rows.a, at), v3_dot(rows.b, at), v3_dot(rows.c, at)});
    const uint32_t first = block * LMI_BLOCK + lane, all = mould->block_count * LMI_BLOCK;
    vf_store(s->place + first, at.x);
    vf_store(s->place + all + first, at.y);
    vf_store(s->place + 2 * (size_t)all + first, at.z);
    _Alignas(64) float quads[4][4 * LMI_LANES];
    vf_store4(quads[0], at.x, at.y, at.z, shift.x);
    vf_store4(quads[1], shift.y, shift.z, rows.a.x, rows.a.y);
    vf_store4(quads[2], rows.a.z, rows.b.x, rows.b.y, rows.b.z);
    vf_store4(quads[3], rows.c.x, rows.c.y, rows.c.z, zero);
    for (uint32_t k = 0; k < LMI_LANES; k++) {
        float *map = s->map + (size_t)(first + k) * 16;
        for (int q = 0; q < 4; q++) {
            quad_store(map + 4 * q, quad_load(quads[q] + 4 * k));
        }
    }
}

static float join(const float lanes[LMI_BLOCK])
{
    float sum = 0.0f;
    for (int k = 0; k < LMI_BLOCK; k++) {
        sum += lanes[k];
    }
    return sum;
}

/* Where the carriers are together, and how they are stretched: F of the whole. */
static dmat3 measure_whole(lmi_bulk *s)
{
    const lmi_mould *mould = s->mould;
    const uint32_t all = mould->block_count * LMI_BLOCK;
    _Alignas(64) float sums[9][LMI_BLOCK];
    float mean[3];
    dmat3 stretch;
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        for (uint32_t i = 0; i < 3; i++) {
            vf sum = vf_set1(0.0f);
            for (uint32_t n = lane; n < all; n += LMI_BLOCK) {
                const float *lanes = mould->lanes + (size_t)(n / LMI_BLOCK) * LMI_MOULD_LANES * LMI_BLOCK + lane;
                sum = sum + vf_load(lanes + LMI_MOULD_SHARE * LMI_BLOCK) * vf_load(s->place + i * (size_t)all + n);
            }
            vf_store(sums[i] + lane, sum);
        }
    }
    for (int i = 0; i < 3; i++) {
        mean[i] = join(sums[i]);
    }
    s->middle = (lm_vec3){mean[0], mean[1], mean[2]};
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        for (uint32_t i = 0; i < 3; i++) {
            vf sum[3] = {vf_set1(0.0f), vf_set1(0.0f), vf_set1(0.0f)};
            for (uint32_t n = lane; n < all; n += LMI_BLOCK) {
                const float *lever =
                    mould->lanes + ((size_t)(n / LMI_BLOCK) * LMI_MOULD_LANES + LMI_MOULD_LEVER) * LMI_BLOCK + lane;
                vf x = vf_load(s->place + i * (size_t)all + n) - vf_set1(mean[i]);
                for (uint32_t j = 0; j < 3; j++) {
                    sum[j] = sum[j] + vf_load(lever + j * LMI_BLOCK) * x;
                }
            }
            for (uint32_t j = 0; j < 3; j++) {
                vf_store(sums[3 * i + j] + lane, sum[j]);
            }
        }
    }
    for (int i = 0; i < 9; i++) {
        stretch.m[i / 3][i % 3] = join(sums[i]);
    }
    return stretch;
}

/* How far the carriers of a piece may take a point from where the whole takes it. A carrier takes a point p to
 * X_c + F_c^-1 (p - x_c), the whole to X + F^-1 (p - x): they differ by at most
 * |X_c - X - F^-1 (x_c - x)| + |F_c^-1 - F^-1| reach. */
static inline vf slack_of(const lmi_bulk *s, uint32_t block, uint32_t lane)
{
    const lmi_mould *mould = s->mould;
    const uint32_t first = block * LMI_BLOCK + lane, all = mould->block_count * LMI_BLOCK;
    const float *w = s->whole;
    uint32_t index[LMI_LANES];
    vf quads[3][4];
    for (uint32_t q = 0; q < 3; q++) {
        for (uint32_t k = 0; k < LMI_LANES; k++) {
            index[k] = (first + k) * 4 + 1 + q;
        }
        vf_gather4(s->map, index, quads[q]);
    }
    vf d[9] = {quads[0][2], quads[0][3], quads[1][0], quads[1][1], quads[1][2],
               quads[1][3], quads[2][0], quads[2][1], quads[2][2]};
    for (int i = 0; i < 9; i++) {
        d[i] = d[i] - vf_set1(w[i]);
    }
    vf most = vf_set1(0.0f); /* lmi_largest_stretch */
    for (int i = 0; i < 3; i++) {
        vf sum = vf_set1(0.0f);
        for (int j = 0; j < 3; j++) {
            sum = sum + vf_abs((d[i] * d[j] + d[3 + i] * d[3 + j]) + d[6 + i] * d[6 + j]);
        }
        most = vf_max(sum, most);
    }
    v3 off = {vf_load(s->place + first) - vf_set1(s->middle.x), vf_load(s->place + all + first) - vf_set1(s->middle.y),
              vf_load(s->place + 2 * (size_t)all + first) - vf_set1(s->middle.z)};
    v3 from = v3_load(mould->lanes + (size_t)block * LMI_MOULD_LANES * LMI_BLOCK, (uint32_t)lane);
    from =
        v3_sub(from, (v3){vf_set1(mould->rest_middle.x), vf_set1(mould->rest_middle.y), vf_set1(mould->rest_middle.z)});
    v3 there = {(vf_set1(w[0]) * off.x + vf_set1(w[1]) * off.y) + vf_set1(w[2]) * off.z,
                (vf_set1(w[3]) * off.x + vf_set1(w[4]) * off.y) + vf_set1(w[5]) * off.z,
                (vf_set1(w[6]) * off.x + vf_set1(w[7]) * off.y) + vf_set1(w[8]) * off.z};
    return v3_length(v3_sub(from, there)) + vf_sqrt(most) * vf_set1((float)mould->far);
}

static void carry_whole(lmi_bulk *s)
{
    const dmat3 stretch = measure_whole(s), inverse = lmi_invert_stretch(&stretch);
    for (int i = 0; i < 9; i++) {
        s->whole[i] = (float)inverse.m[i / 3][i % 3];
    }
    vf most = vf_set1(0.0f);
    for (uint32_t block = 0; block < s->mould->block_count; block++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            most = vf_max(slack_of(s, block, lane), most);
        }
    }
    _Alignas(64) float lanes[LMI_LANES];
    vf_store(lanes, most);
    s->slack = 0.0f;
    for (int k = 0; k < LMI_LANES; k++) {
        s->slack = lanes[k] > s->slack ? lanes[k] : s->slack;
    }
}

void LMI_KERNEL(carry_bulk)(struct lmi_bulk *s, const struct lmi_body *body)
{
    for (uint32_t block = 0; block < s->mould->block_count; block++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            carry_piece(s, body->x, block, lane);
        }
    }
    /* Lanes without a carrier are far from everything. */
    const uint32_t all = s->mould->block_count * LMI_BLOCK;
    if (s->mould->carrier_count) {
        carry_whole(s);
    }
    for (uint32_t n = s->mould->carrier_count; n < all; n++) {
        s->place[n] = LMI_BULK_FAR;
    }
}
