/*
 * The rotations nearest to many matrices, in lanes.
 *
 * R maximises trace(R^T A) over rotations (det R = +1), for every A = B diag(d): singular, mirrored or zero. Three pieces (polar_lanes.h):
 *
 *   FOAM      F. L. Markley 1993, "Attitude determination using vector observations: a fast optimal matrix algorithm":
 *             lambda = s1 + s2 + s3 (s3 negative where det A is) as the largest root of a quartic, then R in closed form.
 *   doubtful  where s2 + s3 is near 0 the nearest rotation is (nearly) ambiguous and the closed form divides by nearly 0.
 *             There R is the largest eigenvector of Horn's 4x4 matrix (B. K. P. Horn 1987), found by squaring it
 *             repeatedly and applying the result to the previous rotation: among equally good rotations the one nearest
 *             to the previous comes out.
 *   polish    for long and flat regions, and after the above: one Newton step on the rotation itself, measured in the
 *             region's own axes, where small extents keep their own relative precision (A = B diag(d) mixes them away).
 *
 * FOAM runs over chunks of blocks in three short loops, so that many roots are in flight at once: each is a long chain of
 * dependent divisions. The few lanes that want more than FOAM are then packed into blocks of their own, so that one
 * ambiguous region does not cost its fifteen neighbours anything.
 *
 * Deterministic because what a lane computes depends on its own matrix alone, whichever block it runs in.
 */
#include "base/compiler.h"
#include "base/vmat.h"
#include "match/polar_lanes.h"
#include "world/kernel_names.h"

/* Blocks in flight. */
#define CHUNK 8
#define CHUNK_LANES (CHUNK * LMI_BLOCK)

static inline void load_extents(const float *d, vf out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = vf_load(d + i * LMI_BLOCK);
    }
}

/* What FOAM knows of a matrix before it has lambda. */
typedef struct invariants {
    _Alignas(64) float norm[CHUNK_LANES];   /* |A|² */
    _Alignas(64) float minors[CHUNK_LANES]; /* |cof A|² */
    _Alignas(64) float det[CHUNK_LANES];
    _Alignas(64) float lambda[CHUNK_LANES];
    _Alignas(64) float step[CHUNK_LANES]; /* the last change of lambda */
} invariants;

/* Normalised A = B diag(d) into `a`, and its invariants. */
static void find_invariants(const float *B, const float *d, uint32_t blocks, float *a, invariants *of)
{
    for (uint32_t n = 0; n < blocks * LMI_BLOCK; n += LMI_LANES) {
        size_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        vmat3 m = vmat_load(B + block * 9 * LMI_BLOCK + lane);
        for (int i = 0; i < 9; i++) {
            m.m[i] = m.m[i] * vf_load(d + (block * 3 + (size_t)(i % 3)) * LMI_BLOCK + lane);
        }
        m = normalise(m);
        vmat3 cofactors = vmat_cofactors(m);
        vmat_store(a + block * 9 * LMI_BLOCK + lane, m);
        vf_store(of->det + n, vmat_determinant(m, cofactors));
        vf_store(of->norm + n, vmat_dot(m, m));
        vf_store(of->minors + n, vmat_dot(cofactors, cofactors));
    }
}

/* lambda of every lane, and the last change of it. */
static void find_lambda(uint32_t blocks, invariants *of)
{
    for (uint32_t n = 0; n < blocks * LMI_BLOCK; n += LMI_LANES) {
        vf step;
        vf lambda = foam_lambda(vf_load(of->norm + n), vf_load(of->minors + n), vf_load(of->det + n), &step);
        vf_store(of->lambda + n, lambda);
        vf_store(of->step + n, step);
    }
}

/* The closed form in the lanes where that is sound; sets the bits of the others in `doubtful`. */
static void find_rotations(const float *a, uint32_t blocks, const invariants *of, float *R, uint16_t *doubtful)
{
    for (uint32_t n = 0; n < blocks * LMI_BLOCK; n += LMI_LANES) {
        size_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        vm sound;
        vmat3 r = foam_rotation(vmat_load(a + block * 9 * LMI_BLOCK + lane), vf_load(of->lambda + n),
                                vf_load(of->step + n), vf_load(of->norm + n), vf_load(of->det + n), &sound);
        doubtful[block] = (uint16_t)(doubtful[block] | vm_bits(vm_not(sound)) << lane);
        float *at = R + block * 9 * LMI_BLOCK + lane;
        vmat_store(at, vmat_select(sound, r, vmat_load(at)));
    }
}

/* Sets the bits of lanes with slender extents. */
static void find_slender(const float *d, uint32_t blocks, uint16_t *slender)
{
    for (uint32_t n = 0; n < blocks * LMI_BLOCK; n += LMI_LANES) {
        size_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        vf e[3];
        load_extents(d + block * 3 * LMI_BLOCK + lane, e);
        vm thin = vf_lt(vf_min(e[0], vf_min(e[1], e[2])), vf_set1(SLENDER) * vf_max(e[0], vf_max(e[1], e[2])));
        slender[block] = (uint16_t)(slender[block] | vm_bits(thin) << lane);
    }
}

/* Lanes of a chunk, packed: where each came from. */
typedef struct packed {
    _Alignas(64) float B[CHUNK_LANES * 9];
    _Alignas(64) float d[CHUNK_LANES * 3];
    _Alignas(64) float R[CHUNK_LANES * 9];
    uint16_t from[CHUNK_LANES];
    uint32_t count;
} packed;

static void copy_lane(const float *from, uint32_t a, float *to, uint32_t b, uint32_t channels)
{
    from += (size_t)(a / LMI_BLOCK) * channels * LMI_BLOCK + a % LMI_BLOCK;
    to += (size_t)(b / LMI_BLOCK) * channels * LMI_BLOCK + b % LMI_BLOCK;
    for (uint32_t c = 0; c < channels; c++) {
        to[c * LMI_BLOCK] = from[c * LMI_BLOCK];
    }
}

/* The lanes of which `bits` is set; the last block is filled up with copies of the last lane. */
static void pack_lanes(const float *B, const float *d, const float *R, const uint16_t *bits, uint32_t blocks, packed *p)
{
    p->count = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t left = bits[block]; left; left &= left - 1) {
            p->from[p->count++] = (uint16_t)(block * LMI_BLOCK + (uint32_t)lmi_low_bit(left));
        }
    }
    for (uint32_t n = 0; n < (p->count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK; n++) {
        uint32_t from = p->from[n < p->count ? n : p->count - 1];
        copy_lane(B, from, p->B, n, 9);
        copy_lane(d, from, p->d, n, 3);
        copy_lane(R, from, p->R, n, 9);
    }
}

static void unpack_lanes(const packed *p, float *R)
{
    for (uint32_t n = 0; n < p->count; n++) {
        copy_lane(p->R, n, R, p->from[n], 9);
    }
}

/* Doubtful lanes from scratch, with a first polish. */
static void solve_packed(packed *p)
{
    for (uint32_t n = 0; n < p->count; n += LMI_LANES) {
        size_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        vmat3 b = vmat_load(p->B + block * 9 * LMI_BLOCK + lane), a = b;
        float *at = p->R + block * 9 * LMI_BLOCK + lane;
        vf d[3];
        load_extents(p->d + block * 3 * LMI_BLOCK + lane, d);
        for (int i = 0; i < 9; i++) {
            a.m[i] = a.m[i] * d[i % 3];
        }
        vmat_store(at, polish(solve_doubtful(normalise(a), vmat_load(at)), b, d));
    }
}

static void polish_packed(packed *p)
{
    for (uint32_t n = 0; n < p->count; n += LMI_LANES) {
        size_t block = n / LMI_BLOCK, lane = n % LMI_BLOCK;
        float *at = p->R + block * 9 * LMI_BLOCK + lane;
        vf d[3];
        load_extents(p->d + block * 3 * LMI_BLOCK + lane, d);
        vmat_store(at, polish(vmat_load(at), vmat_load(p->B + block * 9 * LMI_BLOCK + lane), d));
    }
}

void LMI_KERNEL(polar)(const float *B, const float *d, float *R, uint32_t blocks)
{
    _Alignas(64) float a[CHUNK_LANES * 9], ones[CHUNK_LANES * 3];
    for (int i = 0; !d && i < CHUNK_LANES * 3; i++) {
        ones[i] = 1.0f;
    }
    invariants of;
    packed few;
    for (uint32_t first = 0; first < blocks; first += CHUNK) {
        uint32_t count = blocks - first < CHUNK ? blocks - first : CHUNK;
        const float *b = B + (size_t)first * 9 * LMI_BLOCK, *extents = d ? d + (size_t)first * 3 * LMI_BLOCK : ones;
        float *r = R + (size_t)first * 9 * LMI_BLOCK;
        uint16_t doubtful[CHUNK] = {0}, slender[CHUNK] = {0};
        find_invariants(b, extents, count, a, &of);
        find_lambda(count, &of);
        find_rotations(a, count, &of, r, doubtful);
        pack_lanes(b, extents, r, doubtful, count, &few);
        if (few.count) {
            solve_packed(&few);
            unpack_lanes(&few, r);
        }
        if (d) {
            find_slender(extents, count, slender);
        }
        pack_lanes(b, extents, r, slender, count, &few);
        if (few.count) {
            polish_packed(&few);
            unpack_lanes(&few, r);
        }
    }
}
