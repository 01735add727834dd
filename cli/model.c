/*
 * Pictures of models. A model becomes a rigid body, alone in a world, and is drawn as any world is, so that what is seen
 * here is what a scene shows.
 */
#include "cli/model.h"

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/renderer.h"
#include "draw/sheet.h"
#include "support/partial.h"
#include "support/system.h"

#include <math.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------------------
 * The camera
 */

#define AZIMUTH 0.52   /* radians to the right of the front */
#define ELEVATION 0.30 /* radians above the horizon */
#define FIELD_OF_VIEW 26.0
#define MARGIN 1.22 /* of the picture's edge to the model's */

/* A direction and what is right and up of it. */
typedef struct view_frame {
    double forward[3], right[3], up[3];
} view_frame;

static double along(const double axis[3], lm_vec3 p, lm_dvec3 from)
{
    return axis[0] * (p.x - from.x) + axis[1] * (p.y - from.y) + axis[2] * (p.z - from.z);
}

static lm_dvec3 moved(lm_dvec3 p, const double axis[3], double by)
{
    return (lm_dvec3){p.x + by * axis[0], p.y + by * axis[1], p.z + by * axis[2]};
}

/* How near the eye can come while the model stays in the picture, its middle moved to the middle of what is seen. */
static draw_camera frame_model(const lm_shape_mesh *mesh, double aspect)
{
    double tangent_up = tan(0.5 * FIELD_OF_VIEW * 3.14159265358979323846 / 180.0) / MARGIN;
    double tangent_right = tangent_up * aspect;
    double ca = cos(AZIMUTH), sa = sin(AZIMUTH), ce = cos(ELEVATION), se = sin(ELEVATION);
    view_frame f = {{-sa * ce, -se, -ca * ce}, {ca, 0.0, -sa}, {-sa * se, ce, -ca * se}};
    lm_dvec3 middle = {0.0, 0.0, 0.0};
    double distance = 0.0;
    for (int round = 0; round < 6; round++) { /* each leaves a fraction of the last one's error */
        distance = 0.0;
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            lm_vec3 p = mesh->vertices[i];
            double depth = along(f.forward, p, middle);
            distance = fmax(distance, fabs(along(f.right, p, middle)) / tangent_right - depth);
            distance = fmax(distance, fabs(along(f.up, p, middle)) / tangent_up - depth);
        }
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            lm_vec3 p = mesh->vertices[i];
            double depth = distance + along(f.forward, p, middle);
            double seen[2] = {along(f.right, p, middle) / depth, along(f.up, p, middle) / depth};
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], seen[k]);
                high[k] = fmax(high[k], seen[k]);
            }
        }
        middle = moved(middle, f.right, 0.5 * (low[0] + high[0]) * distance);
        middle = moved(middle, f.up, 0.5 * (low[1] + high[1]) * distance);
    }
    return (draw_camera){moved(middle, f.forward, -distance), middle, FIELD_OF_VIEW};
}

/* ------------------------------------------------------------------------------------------------------------------
 * The world
 */

static lm_vec3 lower_corner(const lm_shape_mesh *mesh)
{
    lm_vec3 lower = mesh->vertices[0];
    for (uint32_t i = 1; i < mesh->vertex_count; i++) {
        lower.x = fminf(lower.x, mesh->vertices[i].x);
        lower.y = fminf(lower.y, mesh->vertices[i].y);
        lower.z = fminf(lower.z, mesh->vertices[i].z);
    }
    return lower;
}

/* The corners of the model's box are its particles: a rigid body needs no more. */
static lm_result make_body(lm_world *world, const lm_shape_mesh *mesh, lm_vec3 lower, lm_body_id *body)
{
    lm_vec3 corners[8];
    for (int i = 0; i < 8; i++) { /* models are centred on their origin */
        corners[i] = (lm_vec3){i & 1 ? -lower.x : lower.x, i & 2 ? -lower.y : lower.y, i & 4 ? -lower.z : lower.z};
    }
    lm_body_def def = lm_body_def_default();
    def.points = corners;
    def.point_count = 8;
    def.material.mode = LM_MODE_RIGID;
    lm_result result = lm_body_create(world, &def, body);
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = LM_SKIN_REGIONS;
    skin.vertices = mesh->vertices;
    skin.vertex_count = mesh->vertex_count;
    skin.triangles = mesh->triangles;
    skin.triangle_count = mesh->triangle_count;
    return result ? result : lm_body_set_skin(world, *body, &skin);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Pictures
 */

/* What models are drawn with, one after the other: a renderer, an empty world, and the picture of the
 * last one. */
typedef struct studio {
    draw *renderer;
    lm_world *world;
    image picture;
} studio;

/* Returns -1 or the exit code; to be closed in either case. */
static int open_studio(studio *s, uint32_t width, uint32_t height)
{
    *s = (studio){.renderer = NULL};
    int code = renderer_open(width, height, &s->renderer);
    if (code >= 0) {
        return code;
    }
    lm_world_def world = lm_world_def_default();
    world.workers = 1;
    lm_result result = lm_world_create(&world, &s->world);
    if (result != LM_OK || !image_make(&s->picture, width, height)) {
        return cli_fail(CLI_FAILED, "a picture of %ux%u: %s", (unsigned)width, (unsigned)height,
                        lm_result_text(result != LM_OK ? result : LM_ERROR_MEMORY));
    }
    return -1;
}

static void close_studio(studio *s)
{
    image_free(&s->picture);
    lm_world_destroy(s->world);
    draw_close(s->renderer);
}

/* A model and the floor it stands on. */
static lm_result put_in(studio *s, const lm_shape_mesh *mesh, lm_body_id *body, lm_collider_id *floor)
{
    lm_vec3 lower = lower_corner(mesh);
    lm_collider_def floor_def = lm_collider_def_default();
    floor_def.pose.position.y = (double)lower.y;
    lm_result result = make_body(s->world, mesh, lower, body);
    return result ? result : lm_collider_create(s->world, &floor_def, floor);
}

static int draw_body(studio *s, const lm_shape_mesh *mesh, lm_body_id body)
{
    draw_error error;
    draw_settings settings = draw_settings_default();
    settings.camera = frame_model(mesh, (double)s->picture.width / s->picture.height);
    bool good = draw_set_colours(s->renderer, body, (const uint8_t *)mesh->colours, mesh->vertex_count, &error) &&
                draw_world(s->renderer, s->world, &settings, &s->picture, &error);
    return good ? -1 : cli_fail(CLI_FAILED, "%s", error.text);
}

/* Draws a model. */
static int portray(studio *s, const lm_shape_def *def)
{
    lm_shape_mesh mesh;
    lm_body_id body = {0};
    lm_collider_id floor = {0};
    lm_result result = lm_shape_make_mesh(def, &mesh);
    result = result ? result : put_in(s, &mesh, &body, &floor);
    int code = result == LM_OK ? draw_body(s, &mesh, body)
                               : cli_fail(CLI_FAILED, "shape %s: %s", def->name, lm_result_text(result));
    lm_body_destroy(s->world, body); /* where a failure left none, nothing happens */
    lm_collider_destroy(s->world, floor);
    lm_shape_mesh_free(&mesh);
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static int write_picture(const char *path, const image *picture, double began)
{
    image_error error;
    if (!image_write_png(path, picture, &error)) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    printf("%s: %ux%u; took %.1f s\n", path, (unsigned)picture->width, (unsigned)picture->height,
           lmi_system_seconds() - began);
    return CLI_OK;
}

int model_write_picture(const lm_shape_def *def, uint32_t width, uint32_t height, const char *path)
{
    double began = lmi_system_seconds();
    image_error error;
    if (!lmi_partial_check(path, error.text)) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    studio s;
    int code = open_studio(&s, width, height);
    code = code >= 0 ? code : portray(&s, def);
    code = code >= 0 ? code : write_picture(path, &s.picture, began);
    close_studio(&s);
    return code;
}

static uint32_t shape_count(void)
{
    uint32_t count = 0;
    while (lm_shape_name(count) != NULL) {
        count++;
    }
    return count;
}

/* A grid half as wide again as high, as full as can be. */
static void choose_grid(uint32_t count, uint32_t *columns, uint32_t *rows)
{
    uint32_t wide = (uint32_t)ceil(sqrt(1.5 * count));
    *rows = (count + wide - 1) / wide;
    *columns = (count + *rows - 1) / *rows;
}

static int draw_all(const lm_shape_def *def, studio *s, sheet *all)
{
    int code = -1;
    progress bar = progress_begin(shape_count(), "models");
    for (uint32_t i = 0; lm_shape_name(i) != NULL && code < 0; i++) {
        lm_shape_def one = *def;
        one.name = lm_shape_name(i);
        one.size = lm_shape_natural_size(one.name);
        code = portray(s, &one);
        if (code < 0) {
            sheet_place(all, i, &s->picture, one.name);
            progress_show(&bar, i + 1);
        }
    }
    progress_end(&bar);
    return code;
}

int model_write_sheet(const lm_shape_def *def, uint32_t tile_width, uint32_t tile_height, const char *path)
{
    double began = lmi_system_seconds();
    image_error error;
    if (!lmi_partial_check(path, error.text)) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    uint32_t columns, rows;
    choose_grid(shape_count(), &columns, &rows);
    sheet all;
    if (!sheet_make(&all, columns, rows, sheet_size(columns, tile_width), sheet_size(rows, tile_height))) {
        return cli_fail(CLI_FAILED, "out of memory for a sheet of %u models", (unsigned)shape_count());
    }
    studio s;
    int code = open_studio(&s, tile_width, tile_height);
    code = code >= 0 ? code : draw_all(def, &s, &all);
    code = code >= 0 ? code : write_picture(path, &all.picture, began);
    close_studio(&s);
    sheet_free(&all);
    return code;
}
