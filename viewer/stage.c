/* Colours and cameras of scenes. */
#include "viewer/stage.h"

#include <math.h>

bool stage_tell_colours(const lm_scene *shown, draw *renderer, draw_error *error)
{
    for (uint32_t i = 0; i < lm_scene_body_count(shown); i++) {
        lm_scene_colours colours = lm_scene_get_colours(shown, i);
        lm_body_id body = lm_scene_get_body(shown, i).id;
        if (colours.count > 0 && !draw_set_colours(renderer, body, colours.rgb, colours.count, error)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < lm_scene_get_contents(shown).colliders; i++) {
        lm_scene_collider_made made = lm_scene_get_collider(shown, i);
        if (made.colour.count > 0 && !draw_set_collider_colour(renderer, made.id, made.colour.rgb, error)) {
            return false;
        }
    }
    return true;
}

/* A picture narrower than 16:9, as a tile of a sheet often is, shows more above and below in place of less to the left and
 * right. */
static double field_of_view_for(double degrees, double aspect)
{
    const double half_turn = 3.14159265358979323846, framed_for = 16.0 / 9.0;
    double tangent = tan(0.5 * degrees * half_turn / 180.0) * fmax(framed_for / aspect, 1.0);
    return 2.0 * atan(tangent) * 180.0 / half_turn;
}

draw_camera stage_adapt_camera(draw_camera camera, double aspect)
{
    camera.field_of_view = field_of_view_for(camera.field_of_view, aspect);
    return camera;
}

draw_camera stage_camera(const lm_scene *shown, const lm_world *world, double aspect)
{
    lm_scene_view view;
    if (lm_scene_get_view(shown, &view)) {
        return stage_adapt_camera((draw_camera){view.at, view.look_at, view.field_of_view}, aspect);
    }
    return draw_fit_camera(world, aspect);
}
