/*
 * Windows (contact/windows.h). Reads where carriers are, at rest and now.
 */
#include "contact/windows.h"
#include "touch/stretch.h"

#include <string.h>

#define LEVELS 2
#define LEAST_CARRIERS 8u
#define LEAST_IN_BOX 16u /* of fewer, a contact or two dent it, and the body is not crushed */

/* Narrower than this share of their largest extent carriers are a sheet. */
#define SHEET 0.1

/* Boxes of a size beside each other. */
typedef struct boxes {
    lm_dvec3 first;
    double side;
    uint32_t n[3];
} boxes;

static double axis(lm_dvec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }

static boxes boxes_of(lm_dvec3 low, lm_dvec3 size, double side, bool shifted)
{
    boxes b = {.side = side};
    double first[3];
    for (int i = 0; i < 3; i++) {
        uint32_t n = (uint32_t)fmax(ceil(axis(size, i) / side - 0.25), 1.0);
        bool more = shifted && n > 1;
        first[i] = axis(low, i) - 0.5 * ((double)n * side - axis(size, i)) - (more ? 0.5 * side : 0.0);
        b.n[i] = n + more;
    }
    b.first = dvec(first[0], first[1], first[2]);
    return b;
}

static uint32_t box_at(const boxes *b, lm_vec3 p)
{
    uint32_t at[3];
    for (int i = 0; i < 3; i++) {
        double t = floor((axis(dvec_from(p), i) - axis(b->first, i)) / b->side);
        at[i] = (uint32_t)fmin(fmax(t, 0.0), (double)b->n[i] - 1.0);
    }
    return (at[2] * b->n[1] + at[1]) * b->n[0] + at[0];
}

/* The inverse of the moments of carriers about their middle. False where they do not fill space. */
static bool invert_spread(const lmi_windows *s, const uint32_t *carrier, uint32_t count, lm_dvec3 *middle,
                          double inverse[9])
{
    double moments[9] = {0}, values[3], v[9];
    *middle = lm_dvec3_zero();
    for (uint32_t k = 0; k < count; k++) {
        *middle = dvec_add(*middle, dvec_scale(dvec_from(s->rest[carrier[k]]), 1.0 / count));
    }
    for (uint32_t k = 0; k < count; k++) {
        lm_dvec3 d = dvec_sub(dvec_from(s->rest[carrier[k]]), *middle);
        for (int i = 0; i < 9; i++) {
            moments[i] += axis(d, i / 3) * axis(d, i % 3);
        }
    }
    lmi_symmetric_eigen(3, moments, values, v);
    memset(inverse, 0, 9 * sizeof *inverse);
    for (int i = 0; i < 27 && values[2] > SHEET * SHEET * values[0]; i++) {
        int k = i / 9, a = i % 9 / 3, b = i % 3;
        inverse[3 * a + b] += v[3 * a + k] * v[3 * b + k] / values[k];
    }
    return values[2] > SHEET * SHEET * values[0];
}

/* Adds the carriers from the end of the list on as a window, where they are one. */
static void add_window(lmi_windows *s, uint32_t count, uint32_t least)
{
    const uint32_t first = s->first[s->count], *carrier = s->carrier + first;
    lm_dvec3 middle;
    double inverse[9], reach = 0.0;
    if (count < least || !invert_spread(s, carrier, count, &middle, inverse)) {
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        lm_dvec3 d = dvec_sub(dvec_from(s->rest[carrier[k]]), middle);
        const double *m = inverse;
        lm_dvec3 lever = dvec(m[0] * d.x + m[1] * d.y + m[2] * d.z, m[3] * d.x + m[4] * d.y + m[5] * d.z,
                              m[6] * d.x + m[7] * d.y + m[8] * d.z);
        float *to = s->lever + 3 * (size_t)(first + k);
        to[0] = (float)lever.x, to[1] = (float)lever.y, to[2] = (float)lever.z;
        reach += dvec_length(lever);
    }
    s->reach = fmax(s->reach, reach);
    s->first[++s->count] = first + count;
}

static void add_boxes(lmi_windows *s, const boxes *b, uint32_t most)
{
    const uint32_t all = b->n[0] * b->n[1] * b->n[2];
    for (uint32_t box = 0; box < all && s->count < most; box++) {
        uint32_t *to = s->carrier + s->first[s->count], count = 0;
        for (uint32_t c = 0; c < s->carriers; c++) {
            if (box_at(b, s->rest[c]) == box) {
                to[count++] = c;
            }
        }
        add_window(s, count, all > 1 ? LEAST_IN_BOX : LEAST_CARRIERS);
    }
}

static void add_all(lmi_windows *s, uint32_t most)
{
    lm_dvec3 low = dvec_from(s->rest[0]), high = low;
    for (uint32_t c = 1; c < s->carriers; c++) {
        lm_dvec3 p = dvec_from(s->rest[c]);
        low = dvec(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = dvec(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    lm_dvec3 size = dvec_sub(high, low);
    double longest = 1.0001 * fmax(fmax(size.x, fmax(size.y, size.z)), 1e-30);
    for (int level = 0; level < LEVELS; level++) {
        for (int shift = 0; shift < (level ? 2 : 1); shift++) {
            const boxes b = boxes_of(low, size, longest / (double)(1 << level), shift);
            add_boxes(s, &b, most);
        }
    }
}

lmi_windows *lmi_windows_make(lmi_memory *memory, const lmi_mould *mould)
{
    lmi_windows *s = lmi_allocate(memory, 1, sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (lmi_windows){.carriers = mould->carrier_count, .riders = (2 * LEVELS - 1) * mould->carrier_count};
    const uint32_t most = s->riders / LEAST_CARRIERS + 1;
    s->rest = lmi_allocate(memory, s->carriers, sizeof *s->rest);
    s->first = lmi_allocate(memory, (size_t)most + 1, sizeof *s->first);
    s->carrier = lmi_allocate(memory, s->riders, sizeof *s->carrier);
    s->lever = lmi_allocate(memory, (size_t)s->riders * 3, sizeof *s->lever);
    if ((s->carriers && (!s->rest || !s->carrier || !s->lever)) || !s->first) {
        lmi_windows_free(memory, s);
        return NULL;
    }
    s->first[0] = 0;
    if (s->carriers) {
        memcpy(s->rest, mould->rest, s->carriers * sizeof *s->rest);
        add_all(s, most);
    }
    return s;
}

void lmi_windows_free(lmi_memory *memory, lmi_windows *s)
{
    if (!s) {
        return;
    }
    lmi_release(memory, s->rest, s->carriers, sizeof *s->rest);
    lmi_release(memory, s->first, (size_t)(s->riders / LEAST_CARRIERS + 1) + 1, sizeof *s->first);
    lmi_release(memory, s->carrier, s->riders, sizeof *s->carrier);
    lmi_release(memory, s->lever, (size_t)s->riders * 3, sizeof *s->lever);
    lmi_release(memory, s, 1, sizeof *s);
}

bool lmi_windows_fit(const lmi_windows *s, const lmi_mould *mould)
{
    return s && s->carriers == mould->carrier_count &&
           (s->carriers == 0 || memcmp(s->rest, mould->rest, s->carriers * sizeof *s->rest) == 0);
}

/* --- how much is crushed --- */

/* Whether no window can be crushed, because the body as a whole is not and no carrier is far from where the whole takes it: with
 * x_c = x + F (X_c + e_c), |e_c| <= slack, the map of a window is F (1 + sum e_c l_c^T). The largest stretch that is known of F^-1 is
 * no less than it is, so that nothing is passed over that the windows would find. */
static bool is_far_from_crushed(const lmi_windows *s, const lmi_bulk *solid)
{
    double whole[9], apart = (double)solid->slack * s->reach;
    for (int i = 0; i < 9; i++) {
        whole[i] = solid->whole[i];
    }
    return 1.0 - apart > 1.1 * LMI_CRUSH_FROM * lmi_largest_stretch(whole);
}

double lmi_windows_crush(const lmi_windows *s, const lmi_bulk *solid)
{
    double shortest = 1.0;
    if (s->count == 0 || is_far_from_crushed(s, solid)) {
        return 0.0;
    }
    for (uint32_t w = 0; w < s->count; w++) {
        dmat3 f = {{{0.0}}};
        for (uint32_t k = s->first[w]; k < s->first[w + 1]; k++) {
            const float *x = solid->map + (size_t)s->carrier[k] * 16, *l = s->lever + 3 * (size_t)k;
            for (int i = 0; i < 3; i++) {
                const double at = (double)x[i] - solid->map[i];
                f.m[i][0] += at * l[0];
                f.m[i][1] += at * l[1];
                f.m[i][2] += at * l[2];
            }
        }
        shortest = lmi_min(shortest, lmi_shortest_stretch(&f));
    }
    return lmi_crush_of(shortest);
}
