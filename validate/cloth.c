/*
 * Cloth and rope: clusters over triangles or edges, as stiff as the substep allows. How far they stretch under their own weight, and
 * how far a flap hangs down that started level.
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct weave {
    const char *name;
    bool rope;
    lm_cluster_kind kind; /* one region for each element, or for each particle's ring */
} weave;

static const weave weaves[] = {
    {"cloth, each triangle", false, LM_CLUSTERS_ELEMENTS},
    {"cloth, ring of triangles", false, LM_CLUSTERS_RINGS},
    {"rope, each edge", true, LM_CLUSTERS_ELEMENTS},
    {"rope, ring of edges", true, LM_CLUSTERS_RINGS},
};

typedef struct sheet {
    uint32_t across, along; /* points */
    lm_vec3 *points;
    uint32_t *elements, element_count;
} sheet;

/* Half as wide as long, a metre long, from y = 0 down; a rope is one row. */
static bool make_sheet(bool rope, uint32_t cells, sheet *s)
{
    s->across = rope ? 1 : cells / 2 + 1;
    s->along = cells + 1;
    s->points = calloc((size_t)s->across * s->along, sizeof *s->points);
    s->elements = calloc(6u * (size_t)s->across * s->along, sizeof *s->elements);
    s->element_count = 0;
    for (uint32_t n = 0; s->points != NULL && n < s->across * s->along; n++) {
        s->points[n] = (lm_vec3){(float)(n % s->across) / (float)cells, -(float)(n / s->across) / (float)cells, 0.0f};
    }
    for (uint32_t j = 0; s->elements != NULL && j + 1 < s->along; j++) {
        uint32_t *to = s->elements + (rope ? 2u : 3u) * s->element_count, a = j * s->across;
        if (rope) {
            to[0] = a, to[1] = a + 1;
            s->element_count++;
        }
        for (uint32_t i = 0; i + 1 < s->across; i++, to += 6) {
            uint32_t p = a + i, q = p + s->across, odd = (i + j) % 2;
            const uint32_t two[6] = {p, q, odd ? q + 1 : p + 1, odd ? p : q, q + 1, p + 1};
            memcpy(to, two, sizeof two);
            s->element_count += 2;
        }
    }
    return s->points != NULL && s->elements != NULL;
}

static lm_result hang(lm_world *world, const weave *w, const sheet *s, lm_body_id *body)
{
    lm_body_def def = lm_body_def_default();
    def.points = s->points;
    def.point_count = s->across * s->along;
    def.clusters.kind = w->kind;
    def.clusters.elements = s->elements;
    def.clusters.element_count = s->element_count;
    def.clusters.element_size = w->rope ? 2 : 3;
    def.mass = 0.2f;
    def.material.mode = LM_MODE_RIGID;
    def.material.stiffness = LM_STIFFNESS_ALPHA;
    def.material.alpha = 1.0f;
    def.material.damping = 0.0f;
    lm_result result = lm_body_create(world, &def, body);
    uint32_t held[64];
    for (uint32_t n = 0; n < s->across && n < 64; n++) {
        held[n] = n;
    }
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = *body;
    pin.particles = held;
    pin.particle_count = s->across;
    result = result ? result : lm_pin_create(world, &pin, &pin_id);
    lm_field_def air = lm_field_def_default();
    lm_field_id air_id;
    air.kind = LM_FIELD_WIND;
    air.strength = 4.0f;
    return result ? result : lm_field_create(world, &air, &air_id);
}

/* How far the free end is from the held one, along gravity, over the length; and processor time. */
static bool measure(report *r, const weave *w, const sheet *s, uint32_t substeps, bool level, double *down,
                    double *nanoseconds)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world = NULL;
    lm_body_id body;
    uint32_t count = s->across * s->along, frames = r->options->quick ? 240 : 480;
    lm_vec3 *now = calloc(count, sizeof *now);
    def.workers = 1;
    def.substeps = substeps;
    def.gravity = level ? (lm_vec3){0.0f, 0.0f, -9.81f} : (lm_vec3){0.0f, -9.81f, 0.0f};
    lm_result result = now != NULL ? lm_world_create(&def, &world) : LM_ERROR_MEMORY;
    result = result ? result : hang(world, w, s, &body);
    clock_t before = clock();
    for (uint32_t n = 0; n < frames && result == LM_OK; n++) {
        result = lm_world_step(world, 1.0 / 60.0);
    }
    *nanoseconds = 1e9 * (double)(clock() - before) / CLOCKS_PER_SEC / frames / substeps / count;
    result = result ? result : lm_body_get_positions(world, body, lm_dvec3_zero(), now);
    *down = 0.0;
    for (uint32_t n = count - s->across; result == LM_OK && n < count; n++) {
        *down -= (double)(level ? now[n].z : now[n].y) / s->across;
    }
    free(now);
    lm_world_destroy(world);
    return result == LM_OK || report_fail(r, "%s: %s", w->name, lm_result_text(result));
}

bool study_cloth(report *r)
{
    report_study(r, "cloth", "Cloth and rope",
                 "A sheet of a metre by half a metre, 40 x 20 cells, and a rope of 40 edges hang from one end under "
                 "9.81 m/s², as stiff as the substep allows\n"
                 "(`alpha` 1), with a region for each triangle or edge, or for the ring of those around each particle. "
                 "*Stretch* is how much longer they hang.\n"
                 "*Droop* is how far the free end of a flap that started level ends below the held one, over its "
                 "length as it hangs: 1 is straight down, as cloth does.");
    report_columns(r, "body|particles|substeps of 1/60 s|stretch|droop|ns a particle and substep");
    for (size_t n = 0; n < sizeof weaves / sizeof weaves[0]; n++) {
        sheet s;
        if (!make_sheet(weaves[n].rope, r->options->quick ? 12 : 40, &s)) {
            free(s.points), free(s.elements);
            return report_fail(r, "out of memory");
        }
        bool ok = true;
        for (uint32_t substeps = 1; ok && substeps <= 16; substeps *= 4) {
            double down, droop, time, unused;
            if (r->options->quick && substeps != 4) {
                continue;
            }
            ok = measure(r, &weaves[n], &s, substeps, false, &down, &time) &&
                 measure(r, &weaves[n], &s, substeps, true, &droop, &unused);
            if (ok) {
                droop /= down;
                report_row(r, "%s|%u|%u|%.4f|%.3f|%.0f", weaves[n].name, s.across * s.along, substeps, down - 1.0,
                           droop, time);
                report_check(r, "droop", droop, "%s, %u substeps", weaves[n].name, substeps);
                if (substeps >= 4) {
                    report_check(r, "stretch", down - 1.0, "%s, %u substeps", weaves[n].name, substeps);
                }
            }
        }
        free(s.points), free(s.elements);
        if (!ok) {
            return false;
        }
    }
    report_end_table(r);
    return true;
}
