/*
 * Making a height map: heights, and the levels over them.
 */
#include "collide/heights.h"

#include <string.h>

#define SKIN 1e-4      /* of the spacing */
#define MOST_SKIN 1e-4 /* metres */

const char *lmi_heights_fault(const float *heights, const uint32_t n[2], double spacing)
{
    if (!heights) {
        return "a height map needs heights";
    }
    if (n[0] < 2 || n[1] < 2 || n[0] > LMI_HEIGHTS_MAX_SIDE || n[1] > LMI_HEIGHTS_MAX_SIDE ||
        (uint64_t)n[0] * n[1] > LMI_HEIGHTS_MAX_SAMPLES) {
        return "a height map has 2 to 16384 samples along each side and at most 2^26 in all";
    }
    if (!(spacing > 0.0 && spacing <= 1e6)) {
        return "the spacing of a height map must be above 0 and at most 1e6 m";
    }
    for (size_t i = 0; i < (size_t)n[0] * n[1]; i++) {
        if (!(fabsf(heights[i]) <= LM_MAX_COORDINATE)) {
            return "a height is not finite or beyond LM_MAX_COORDINATE";
        }
    }
    return NULL;
}

static void set_levels(lmi_heights *m)
{
    uint32_t x = m->n[0] - 1, z = m->n[1] - 1;
    size_t total = 0;
    for (;;) {
        m->side[m->level_count][0] = x;
        m->side[m->level_count][1] = z;
        m->start[m->level_count++] = total;
        total += (size_t)x * z;
        if (x == 1 && z == 1) {
            break;
        }
        x = (x + 1) / 2;
        z = (z + 1) / 2;
    }
    m->start[m->level_count] = total;
}

static lmi_heights_span join(lmi_heights_span a, lmi_heights_span b)
{
    return (lmi_heights_span){lmi_minf(a.low, b.low), lmi_maxf(a.high, b.high)};
}

static void fill_levels(lmi_heights *m)
{
    for (uint32_t k = 0; k < m->side[0][1]; k++) {
        for (uint32_t i = 0; i < m->side[0][0]; i++) {
            const float *h = m->heights + (size_t)k * m->n[0] + i;
            lmi_heights_span near = {lmi_minf(h[0], h[1]), lmi_maxf(h[0], h[1])};
            lmi_heights_span far = {lmi_minf(h[m->n[0]], h[m->n[0] + 1]), lmi_maxf(h[m->n[0]], h[m->n[0] + 1])};
            m->spans[(size_t)k * m->side[0][0] + i] = join(near, far);
        }
    }
    for (uint32_t level = 1; level < m->level_count; level++) {
        const lmi_heights_span *below = m->spans + m->start[level - 1];
        const uint32_t *side = m->side[level], *from = m->side[level - 1];
        for (uint32_t k = 0; k < side[1]; k++) {
            for (uint32_t i = 0; i < side[0]; i++) {
                lmi_heights_span span = below[(size_t)2 * k * from[0] + 2 * i];
                for (uint32_t c = 1; c < 4; c++) {
                    uint32_t x = 2 * i + c % 2, z = 2 * k + c / 2;
                    span = x < from[0] && z < from[1] ? join(span, below[(size_t)z * from[0] + x]) : span;
                }
                m->spans[m->start[level] + (size_t)k * side[0] + i] = span;
            }
        }
    }
}

lmi_heights *lmi_heights_make(lmi_memory *memory, const float *heights, const uint32_t n[2], double spacing)
{
    lmi_heights *m = lmi_allocate(memory, 1, sizeof *m);
    if (!m) {
        return NULL;
    }
    m->n[0] = n[0];
    m->n[1] = n[1];
    m->spacing = spacing;
    m->skin = lmi_min(SKIN * spacing, MOST_SKIN);
    set_levels(m);
    m->heights = lmi_allocate(memory, (size_t)n[0] * n[1], sizeof *m->heights);
    m->spans = lmi_allocate(memory, m->start[m->level_count], sizeof *m->spans);
    if (!m->heights || !m->spans) {
        lmi_heights_free(memory, m);
        return NULL;
    }
    memcpy(m->heights, heights, (size_t)n[0] * n[1] * sizeof *m->heights);
    fill_levels(m);
    return m;
}

void lmi_heights_free(lmi_memory *memory, lmi_heights *m)
{
    if (!m) {
        return;
    }
    lmi_release(memory, m->heights, (size_t)m->n[0] * m->n[1], sizeof *m->heights);
    lmi_release(memory, m->spans, m->start[m->level_count], sizeof *m->spans);
    lmi_release(memory, m, 1, sizeof *m);
}
