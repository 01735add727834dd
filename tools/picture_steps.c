/*
 * Draws a run of an example into a sheet of pictures: the example is compiled with lm_world_step named picture_step (examples/CMakeLists.txt),
 * and what its world is like at some times is drawn here. PICTURE_TIMES are those times in seconds, PICTURE_EYE and PICTURE_LOOK where the
 * camera is and looks, PICTURE_FOLLOWS whether it goes along x with the first mover, PICTURE_BOX half the size of a box that stands for
 * that mover, where it has no collider (or zeros). The file is the environment's PICTURE.
 */
#undef lm_world_step
#include "draw/draw.h"
#include "draw/sheet.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 272, HEIGHT = 200 };

static const double times[] = {PICTURE_TIMES};
enum { COUNT = sizeof times / sizeof *times, COLUMNS = (COUNT + 1) / 2 };

lm_result picture_step(lm_world *world, double seconds);

static int fail(const char *text)
{
    fprintf(stderr, "picture_steps: %s\n", text);
    exit(1);
}

static void show(draw *renderer, const lm_world *world, sheet *pictures, uint32_t index)
{
    draw_settings settings = draw_settings_default();
    draw_error error;
    image picture = {0};
    char label[32];
    lm_mover_id first = {1, 1};
    lm_pose pose = lm_pose_identity();
    if (PICTURE_FOLLOWS) lm_mover_get_pose(world, first, &pose);
    settings.camera = (draw_camera){.at = {PICTURE_EYE}, .look_at = {PICTURE_LOOK}, .field_of_view = 30.0};
    settings.camera.at.x += pose.position.x;
    settings.camera.look_at.x += pose.position.x;
    if (!image_make(&picture, WIDTH, HEIGHT)) fail("out of memory");
    if (!draw_world(renderer, world, &settings, &picture, &error)) fail(error.text);
    snprintf(label, sizeof label, "%.1f s", times[index]);
    sheet_place(pictures, index, &picture, label);
    image_free(&picture);
}

/* It touches nothing. */
static void add_box(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.shape = LM_SHAPE_BOX;
    def.half_extents = (lm_vec3){PICTURE_BOX};
    def.mover = (lm_mover_id){1, 1};
    def.mask = 0;
    if (def.half_extents.x > 0.0f && lm_collider_create(world, &def, &id) != LM_OK) fail("no box");
}

lm_result picture_step(lm_world *world, double seconds)
{
    static draw *renderer;
    static sheet pictures;
    static uint32_t done, steps;
    const char *path = getenv("PICTURE");
    uint32_t rows = (COUNT + COLUMNS - 1) / COLUMNS;
    draw_error error;
    if (!renderer) {
        renderer = path ? draw_open(WIDTH, HEIGHT, &error) : NULL;
        if (!path || !renderer) fail(path ? error.text : "PICTURE is not set");
        if (!sheet_make(&pictures, COLUMNS, rows, sheet_size(COLUMNS, WIDTH), sheet_size(rows, HEIGHT)))
            fail("out of memory");
        add_box(world);
    }
    lm_result result = lm_world_step(world, seconds);
    steps++;
    if (done < COUNT && steps * seconds >= times[done] - 1e-6) show(renderer, world, &pictures, done++);
    if (done == COUNT) {
        image_error wrong;
        if (!image_write_png(path, &pictures.picture, &wrong)) fail(wrong.text);
        exit(0);
    }
    return result;
}
