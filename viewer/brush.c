/* Brushes: octrees are painted harder or softer (the widths of their regions), finer or coarser (the sizes of their cells). */
#include "viewer/app.h"
#include "viewer/ui.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SIZE 0.01f /* of the distance of what is looked at */
#define MOST_SIZE 0.5f
#define FIRST_SIZE 0.06f
#define INK 0x20242c

static const float factors[BRUSH_COUNT] = {1.0f, 1.15f, 0.87f, 0.5f, 2.0f};

static bool paints_widths(app_brush brush) { return brush == BRUSH_HARDER || brush == BRUSH_SOFTER; }

void app_next_brush(app *a, app_brush first)
{
    static const char *const says[BRUSH_COUNT] = {"The mouse grabs again", "The mouse paints octrees harder",
                                                  "The mouse paints octrees softer", "The mouse paints finer cells",
                                                  "The mouse paints coarser cells"};
    a->brush = a->brush == first ? (app_brush)(first + 1) : a->brush == (app_brush)(first + 1) ? BRUSH_NONE : first;
    a->brush_size = a->brush_size > 0.0f ? a->brush_size : FIRST_SIZE;
    a->knife = a->cutting = false;
    app_say(a, false, "%s", says[a->brush]);
}

void app_resize_brush(app *a, float factor)
{
    float size = a->brush_size > 0.0f ? a->brush_size : FIRST_SIZE;
    a->brush_size = fminf(fmaxf(factor * size, LEAST_SIZE), MOST_SIZE);
}

static float radius_of(const app *a) { return a->brush_size * (float)a->camera.distance; }

/* The octree under the mouse, and where. */
static bool find_octree(const app *a, float x, float y, lm_ray_hit *hit)
{
    lm_ray ray = app_ray(a, x, y);
    lm_body_info info;
    return lm_world_cast_ray(a->session->world, &ray, hit) &&
           lm_body_get_info(a->session->world, hit->body, &info) == LM_OK && info.octree_nodes > 0;
}

void app_paint(app *a, float x, float y)
{
    lm_ray_hit hit;
    if (a->brush == BRUSH_NONE || !find_octree(a, x, y, &hit)) {
        return;
    }
    change made = {
        .kind = paints_widths(a->brush) ? CHANGE_WIDTHS : CHANGE_CELLS, .body = hit.body, .point = hit.point};
    made.size = radius_of(a);
    made.factor = factors[a->brush];
    app_change(a, made);
    app_select(a, hit.body);
}

/* From blue over grey to red. */
static uint32_t colour_of(float share)
{
    float t = fminf(fmaxf(share, 0.0f), 1.0f);
    uint32_t red = (uint32_t)(60.0f + 180.0f * t), blue = (uint32_t)(240.0f - 180.0f * t);
    uint32_t green = (uint32_t)(70.0f + 120.0f * (1.0f - fabsf(2.0f * t - 1.0f)));
    return red << 16 | green << 8 | blue;
}

/* The particles of an octree, as wide as its regions are. */
static void draw_widths(const app *a, lm_body_id body)
{
    lm_body_info info;
    const lm_world *world = a->session->world;
    if (lm_body_get_info(world, body, &info) != LM_OK || info.octree_nodes == 0) {
        return;
    }
    lm_vec3 *positions = malloc(info.particles * sizeof *positions);
    float *widths = malloc(info.particles * sizeof *widths), least = INFINITY, most = 0.0f;
    bool good = positions != NULL && widths != NULL &&
                lm_body_get_positions(world, body, info.centre, positions) == LM_OK &&
                lm_body_get_widths(world, body, widths) == LM_OK;
    for (uint32_t n = 0; good && n < info.particles; n++) {
        least = fminf(least, widths[n]);
        most = fmaxf(most, widths[n]);
    }
    for (uint32_t n = 0; good && n < info.particles; n++) {
        float x, y, share = most > least ? (widths[n] - least) / (most - least) : 0.5f;
        lm_dvec3 at = {info.centre.x + (double)positions[n].x, info.centre.y + (double)positions[n].y,
                       info.centre.z + (double)positions[n].z};
        if (app_project(a, at, &x, &y)) {
            ui_draw_disc(UI_BELOW, x, y, 3.0f, colour_of(share), 0.9f);
        }
    }
    free(positions);
    free(widths);
}

void app_draw_brush(const app *a)
{
    lm_ray_hit hit;
    if (a->brush == BRUSH_NONE) {
        return;
    }
    bool over = find_octree(a, a->mouse_x, a->mouse_y, &hit);
    if (paints_widths(a->brush)) {
        draw_widths(a, over ? hit.body : a->selected);
    }
    if (over) {
        /* As large as it is at the place that it is over. */
        double far = (double)hit.distance * tan(0.5 * a->camera.field_of_view * 0.017453292519943295);
        float points = far > 0.0 ? (float)(0.5 * (double)(a->picture.height * radius_of(a)) / far) : 8.0f;
        ui_draw_ring(UI_BELOW, a->mouse_x, a->mouse_y, points, 2.0f, INK, 0.9f);
    }
}
