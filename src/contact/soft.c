/*
 * Passes over soft contacts, in lanes: what they see of the particles that hold them, and what they give next.
 *
 * Reads positions and velocities of particles, writes blocks and what they give (`more`, `shift`). The arithmetic of a contact
 * is that of contact/soft.h, in the same order, for each lane. A lane holds a contact, never a part of one sum, so all
 * instruction sets give the same bits.
 */
#include "contact/soft.h"
#include "base/compiler.h"
#include "base/vmat.h"
#include "contact/solver.h"
#include "world/kernel_names.h"

static inline void put(float *to, v3 a, vf w) { vf_store4(to, a.x, a.y, a.z, w); }

/* Weighted sums over the particles of one side. */
typedef struct sums {
    v3 x, v;
    vf load; /* sum |w| v.w */
} sums;

/* Rows from `at` on; `both`: positions too and loads. */
static LMI_ALWAYS_INLINE sums sum_rows(const lmi_solver *s, size_t at, uint32_t rows, bool xs, bool vs)
{
    const vf zero = vf_set1(0.0f);
    sums sum = {{zero, zero, zero}, {zero, zero, zero}, zero};
    for (uint32_t n = 0; n < rows; n++, at += LMI_BLOCK) {
        vf w = vf_load(s->weight + at), q[4];
        if (xs) {
            vf_gather4(s->x, s->index + at, q);
            sum.x = v3_add(sum.x, (v3){w * q[0], w * q[1], w * q[2]});
        }
        if (vs) {
            vf_gather4(s->v, s->index + at, q);
            sum.v = v3_add(sum.v, (v3){w * q[0], w * q[1], w * q[2]});
            sum.load = sum.load + vf_abs(w) * q[3];
        }
    }
    return sum;
}

/* a less b; of loads a and ratio times b. A wall has a velocity. */
static LMI_ALWAYS_INLINE sums see(const lmi_solver *s, uint32_t block, uint32_t lane, bool xs, bool vs)
{
    const lmi_soft_block *b = &s->blocks[block];
    size_t at = lmi_rows_of(s, block) + lane;
    const lmi_soft_rows rows = s->rows[block];
    sums a = sum_rows(s, at, rows.a, xs, vs);
    sums other = sum_rows(s, at + (size_t)rows.a * LMI_BLOCK, rows.b, xs, vs);
    a.x = v3_sub(a.x, other.x);
    if (vs) {
        vf ratio = vf_load(b->ratio + lane);
        a.v = v3_select(vf_lt(vf_set1(0.0f), ratio), v3_sub(a.v, other.v), v3_sub(a.v, v3_load(b->extra, lane)));
        a.load = a.load + ratio * other.load;
    }
    return a;
}

/* sum |w| gained.w over both sides: how fast what their contacts were given last time would move them against each other at most. */
static LMI_ALWAYS_INLINE vf see_borne(const lmi_solver *s, uint32_t block, uint32_t lane)
{
    size_t at = lmi_rows_of(s, block) + lane;
    vf sum = vf_set1(0.0f);
    for (uint32_t n = s->rows[block].a + s->rows[block].b; n > 0; n--, at += LMI_BLOCK) {
        vf q[4];
        vf_gather4(s->gained, s->index + at, q);
        sum = sum + vf_abs(vf_load(s->weight + at)) * q[3];
    }
    return sum;
}

/* As much of an impulse as friction allows. */
static inline v3 brake(v3 wanted, vf most)
{
    vf size = v3_length(wanted);
    return v3_select(vf_lt(most, size), v3_scale(most / size, wanted), wanted);
}

/* Mobility and approach, what follows from them, and what the contact begins with. */
static void start_piece(const lmi_solver *s, uint32_t block, uint32_t lane)
{
    lmi_soft_block *b = &s->blocks[block];
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), h = vf_set1(s->h);
    sums seen = see(s, block, lane, true, true);
    v3 n = v3_load(b->normal, lane);
    vf deep = vf_select(vf_lt(zero, seen.load), seen.load, vf_set1(INFINITY));
    vf approach = zero - v3_dot(seen.v, n),
       limit = vf_max(h * (vf_set1(LMI_PART_SPEED) + vf_set1(1.5f) * vf_max(approach, zero)),
                      vf_set1(2.0f) * vf_load(b->share + lane));
    vf bounces = vf_load(b->bounce + lane) * approach, depth = vf_min(vf_load(b->level + lane), limit),
       came = h * approach;
    vf bounce = vf_select(vf_lt(vf_set1((float)LMI_BOUNCE_SPEED), approach), bounces, zero);
    vf share =
        vf_select(vf_lt(zero, came), vf_min(vf_max(depth, zero) / vf_select(vf_lt(zero, came), came, one), one), zero);
    vf_store(b->level + lane, depth + v3_dot(seen.x, n) - vf_load(b->share + lane));
    vf_store(b->deep + lane, deep);
    vf_store(b->approach + lane, approach);
    vf_store(b->bounce + lane, bounce);
    vf_store(b->share + lane, share);

    /* What its point was given last time, no more of it than loses energy (lmi_soft_keeps). */
    v3 braked = v3_load(b->braked, lane);
    vf pressed = vf_load(b->pressed + lane);
    braked = brake(v3_sub(braked, v3_scale(v3_dot(braked, n), n)), vf_load(b->friction + lane) * pressed);
    v3 impulse = v3_add(v3_scale(pressed, n), braked);
    vf takes = vf_max(zero - v3_dot(impulse, seen.v), zero), borne = v3_length(impulse) * see_borne(s, block, lane);
    vm much = vf_lt(vf_set1(2.0f) * takes, borne);
    vf keeps = vf_select(much, vf_set1(2.0f) * takes / vf_select(much, borne, one), one);
    pressed = keeps * pressed;
    braked = v3_scale(keeps, braked);
    v3 ahead = v3_scale(keeps, impulse);
    vf_store(b->pressed + lane, pressed);
    v3_store(b->braked, lane, braked);
    v3_store(b->ahead, lane, ahead);
    put(s->more + ((size_t)block * LMI_BLOCK + lane) * 4, ahead, zero);
}

/* Takes back the way that the velocities lost were good for: all of it along the surface, and as much as is below it. What
 * bounces has gone back a part of its way by now. */
static void take_back(const lmi_solver *s, lmi_soft_block *b, uint32_t lane, v3 n, vf pressed, v3 braked, float *shift)
{
    const vf zero = vf_set1(0.0f), h = vf_set1(s->h);
    vm presses = vf_lt(zero, pressed);
    vf share = vf_load(b->share + lane), level = vf_load(b->level + lane);
    vf shifted = vf_select(presses, share * h * pressed, zero);
    vf_store(b->level + lane, vf_select(presses, level + share * h * vf_load(b->bounce + lane), level));
    vf_store(b->shifted + lane, shifted);
    vf_store(b->along + lane, shifted);
    v3 way = v3_add(v3_scale(shifted, n), v3_scale(h, braked));
    put(shift, v3_select(presses, way, (v3){zero, zero, zero}), zero);
}

/* lmi_soft_pass. Returns how much it changed, m/s. */
static vf velocity_piece(const lmi_solver *s, uint32_t block, uint32_t lane)
{
    lmi_soft_block *b = &s->blocks[block];
    const vf zero = vf_set1(0.0f);
    v3 u = see(s, block, lane, false, true).v, n = v3_load(b->normal, lane);
    v3 last = v3_load(b->ahead, lane), braked = v3_load(b->braked, lane);
    vf deep = vf_load(b->deep + lane), pressed = vf_load(b->pressed + lane), along = v3_dot(last, n);
    v3 before = v3_add(v3_scale(pressed, n), braked);
    vf un = v3_dot(u, n), lacks = vf_load(b->bounce + lane) - un;
    pressed = vf_max(along + lacks / deep, zero);
    v3 total = v3_sub(v3_sub(last, v3_scale(along, n)), v3_scale(vf_set1(1.0f) / deep, v3_sub(u, v3_scale(un, n))));
    braked = brake(total, vf_load(b->friction + lane) * pressed);
    v3 now = v3_add(v3_scale(pressed, n), braked), ahead = v3_add(now, v3_scale(vf_set1(s->beta), v3_sub(now, before)));
    vf_store(b->pressed + lane, pressed);
    v3_store(b->braked, lane, braked);
    v3_store(b->ahead, lane, ahead);
    size_t at = ((size_t)block * LMI_BLOCK + lane) * 4;
    put(s->more + at, v3_sub(ahead, last), zero);
    if (s->pass + 1 == s->passes) {
        take_back(s, b, lane, n, pressed, braked, s->shift + at);
    }
    return v3_length(v3_sub(now, before)) * deep;
}

/* Bodies that are shifted while they move past each other change their angular momentum, and so do impulses that act in two
 * places. w: their speed, or below 0 where nothing happened. */
static void twist(const lmi_solver *s, const lmi_soft_block *b, uint32_t lane, v3 n, v3 u, vf shifted, float *to)
{
    const vf zero = vf_set1(0.0f);
    v3 braked = v3_load(b->braked, lane);
    vf pressed = vf_load(b->pressed + lane);
    v3 shift = v3_add(v3_scale(shifted, n), v3_scale(vf_set1(s->h), braked)),
       impulse = v3_add(v3_scale(pressed, n), braked);
    v3 turned = v3_add(v3_cross(shift, u), v3_cross(v3_load(b->extra, lane), impulse));
    vm happened = vf_lt(zero, pressed + shifted);
    put(to, v3_select(happened, turned, (v3){zero, zero, zero}), vf_select(happened, v3_length(u), vf_set1(-1.0f)));
}

/* Puts contacts out of each other; bodies keep most of the depth that was left (LMI_EASE). */
static void position_piece(const lmi_solver *s, uint32_t block, uint32_t lane)
{
    lmi_soft_block *b = &s->blocks[block];
    const vf zero = vf_set1(0.0f);
    bool first = s->pass == 0, last = s->pass + 1 == s->passes;
    sums seen = first ? see(s, block, lane, true, true) : see(s, block, lane, true, false);
    v3 n = v3_load(b->normal, lane), u = first ? seen.v : v3_load(b->ahead, lane);
    vf level = vf_load(b->level + lane), depth = level - v3_dot(seen.x, n), before = vf_load(b->shifted + lane);
    if (first) {
        vf below = vf_max(depth, zero), shallow = vf_min(below, vf_load(b->shallow + lane));
        vf keeps = vf_set1(1.0f - lmi_soft_ease_shallow(s->h)) * shallow +
                   vf_set1(1.0f - lmi_soft_ease(s->h)) * (below - shallow);
        vm pair = vf_lt(zero, vf_load(b->ratio + lane));
        vf_store(b->level + lane, vf_select(pair, level - keeps, level));
        depth = vf_select(pair, depth - keeps, depth);
        v3_store(b->ahead, lane, u);
    }
    vf along = vf_load(b->along + lane), shifted = vf_max(along + depth / vf_load(b->deep + lane), zero);
    vf ahead = shifted + vf_set1(s->beta) * (shifted - before);
    vf_store(b->shifted + lane, shifted);
    vf_store(b->along + lane, ahead);
    size_t at = ((size_t)block * LMI_BLOCK + lane) * 4;
    put(s->more + at, v3_scale(ahead - along, n), zero);
    if (last) {
        twist(s, b, lane, n, u, shifted, s->shift + at);
    }
}

static inline uint32_t end_of(const lmi_solver *s, uint32_t piece)
{
    uint32_t end = (piece + 1) * LMI_PIECE_BLOCKS;
    return end < s->block_count ? end : s->block_count;
}

static inline void each_piece(const lmi_solver *s, uint32_t piece, void (*each)(const lmi_solver *, uint32_t, uint32_t))
{
    for (uint32_t block = piece * LMI_PIECE_BLOCKS; block < end_of(s, piece); block++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            each(s, block, lane);
        }
    }
}

void LMI_KERNEL(soft_start)(lmi_solver *s, uint32_t piece) { each_piece(s, piece, start_piece); }

void LMI_KERNEL(soft_velocities)(lmi_solver *s, uint32_t piece)
{
    vf most = vf_set1(0.0f);
    for (uint32_t block = piece * LMI_PIECE_BLOCKS; block < end_of(s, piece); block++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            most =
                vf_max(velocity_piece(s, block, lane), most); /* lanes without a contact say NaN: the second counts */
        }
    }
    _Alignas(64) float lanes[LMI_LANES];
    vf_store(lanes, most);
    s->change[piece] = 0.0f;
    for (int k = 0; k < LMI_LANES; k++) {
        s->change[piece] = lanes[k] > s->change[piece] ? lanes[k] : s->change[piece];
    }
}

void LMI_KERNEL(soft_positions)(lmi_solver *s, uint32_t piece) { each_piece(s, piece, position_piece); }
