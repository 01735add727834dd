/*
 * Where cuts end (geometry/clip.h).
 */
#include "base/triples.h"
#include "geometry/clip.h"

#include <string.h>

void lmi_sheet_tips_free(lmi_sheet_tips *tips, lmi_memory *memory)
{
    lmi_release(memory, tips->items, tips->room, sizeof *tips->items);
    memset(tips, 0, sizeof *tips);
}

static lm_dvec3 normal_of(const lmi_clip_surface *s, const uint32_t *t)
{
    lm_dvec3 a = s->points[t[0]], n = dvec_cross(dvec_sub(s->points[t[1]], a), dvec_sub(s->points[t[2]], a));
    double length = dvec_length(n);
    return dvec_scale(n, length > 0.0 ? 1.0 / length : 0.0);
}

static bool touches(const lmi_clip_surface *s, const uint32_t *t, const lmi_box *box)
{
    lm_dvec3 a = s->points[t[0]], b = s->points[t[1]], c = s->points[t[2]];
    return lmi_max(a.x, lmi_max(b.x, c.x)) >= box->low.x && lmi_min(a.x, lmi_min(b.x, c.x)) <= box->high.x &&
           lmi_max(a.y, lmi_max(b.y, c.y)) >= box->low.y && lmi_min(a.y, lmi_min(b.y, c.y)) <= box->high.y &&
           lmi_max(a.z, lmi_max(b.z, c.z)) >= box->low.z && lmi_min(a.z, lmi_min(b.z, c.z)) <= box->high.z;
}

/* Of an edge of two triangles. */
static bool add_tip(lmi_sheet_tips *tips, lmi_memory *memory, const lmi_clip_surface *s, const uint32_t *t,
                    uint32_t side, const uint32_t *other)
{
    if (dvec_dot(normal_of(s, t), normal_of(s, other)) > -0.5) {
        return true;
    }
    void *items = tips->items;
    bool ok = lmi_reserve(memory, &items, &tips->room, tips->count + 1, sizeof *tips->items);
    tips->items = items;
    if (ok) {
        lm_dvec3 from = s->points[t[side]], to = s->points[t[(side + 1) % 3]];
        lm_dvec3 along = dvec_sub(to, from), back = lm_dvec3_zero();
        const uint32_t *faces[2] = {t, other};
        for (int n = 0; n < 2; n++) { /* into both faces, across the edge */
            lm_dvec3 middle = lm_dvec3_zero();
            for (int i = 0; i < 3; i++) {
                middle = dvec_add(middle, dvec_scale(dvec_sub(s->points[faces[n][i]], from), 1.0 / 3.0));
            }
            double square = dvec_dot(along, along);
            lm_dvec3 across =
                dvec_sub(middle, dvec_scale(along, square > 0.0 ? dvec_dot(middle, along) / square : 0.0));
            double length = dvec_length(across);
            back = dvec_add(back, dvec_scale(across, length > 0.0 ? 1.0 / length : 0.0));
        }
        double length = dvec_length(back);
        tips->items[tips->count++] = (lmi_sheet_tip){from, to, dvec_scale(back, length > 0.0 ? 1.0 / length : 0.0)};
    }
    return ok;
}

bool lmi_clip_tips(lmi_sheet_tips *tips, lmi_memory *memory, const lmi_clip_surface *s, const lmi_box *near)
{
    lmi_triples seen = {0};
    bool ok = true;
    memset(tips, 0, sizeof *tips);
    for (uint32_t n = 0; ok && s->inner && n < s->count; n++) {
        const uint32_t triangle = s->which[n], *t = s->triangles[triangle];
        if (!s->inner[triangle] || !touches(s, t, near)) {
            continue;
        }
        for (uint32_t side = 0; ok && side < 3; side++) {
            uint32_t a = t[side], b = t[(side + 1) % 3], back = lmi_triples_get(&seen, b, a, 0);
            ok = back == LMI_TRIPLES_NONE ? lmi_triples_put(&seen, memory, a, b, 0, triangle)
                                          : add_tip(tips, memory, s, t, side, s->triangles[back]);
        }
    }
    lmi_triples_free(&seen, memory);
    return ok;
}
