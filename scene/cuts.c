/*
 * What a scene's events cut with: an edge that moves, planes, or a stamp.
 */
#include "scene/internal.h"
#include "scene/model.h"

#include <math.h>
#include <stdlib.h>

/* A stamp's surface, read once and placed in the world. */
typedef struct scene_stamped {
    struct scene_stamped *before; /* the one that was read before it */
    lm_shape_mesh mesh;
    lm_dvec3 *vertices; /* where they are in the world */
} scene_stamped;

void lmi_stamps_free(lm_scene *s)
{
    while (s->stamps != NULL) {
        scene_stamped *stamped = s->stamps;
        s->stamps = stamped->before;
        lm_shape_mesh_free(&stamped->mesh);
        free(stamped->vertices);
        free(stamped);
    }
}

static lm_result read_mesh(lm_scene *s, const scene_stamp *stamp, lm_shape_mesh *mesh, lm_scene_error *error)
{
    if (stamp->mesh != NULL) {
        return lmi_mesh_of_file(s, stamp->mesh, mesh, NULL, error);
    }
    lm_shape_def def = lm_shape_def_default();
    def.name = lm_shape_name(stamp->shape->name);
    def.size = vector_narrow(lmi_size_of_shape(stamp->shape));
    def.detail = stamp->shape->detail;
    lm_result result = lm_shape_make_mesh(&def, mesh);
    if (result != LM_OK) {
        lmi_report_field(error, s->name, &stamp->head, NULL, "%s", lm_result_text(result));
    }
    return result;
}

static lm_result read_stamp(lm_scene *s, scene_stamp *stamp, lm_scene_error *error)
{
    scene_stamped *stamped = calloc(1, sizeof *stamped);
    if (stamped == NULL) {
        lmi_report_field(error, s->name, &stamp->head, NULL, "%s", lm_result_text(LM_ERROR_MEMORY));
        return LM_ERROR_MEMORY;
    }
    stamped->before = s->stamps;
    s->stamps = stamped;
    lm_result result = read_mesh(s, stamp, &stamped->mesh, error);
    if (result != LM_OK) {
        return result;
    }
    if (stamped->mesh.triangle_count > LM_MAX_BLADE_TRIANGLES ||
        stamped->mesh.vertex_count > 3 * LM_MAX_BLADE_TRIANGLES) {
        lmi_report_field(error, s->name, &stamp->head, NULL, "has %u triangles (expected at most %u)",
                         (unsigned)stamped->mesh.triangle_count, LM_MAX_BLADE_TRIANGLES);
        return LM_ERROR_LIMIT;
    }
    stamped->vertices = malloc(stamped->mesh.vertex_count * sizeof *stamped->vertices);
    if (stamped->vertices == NULL) {
        lmi_report_field(error, s->name, &stamp->head, NULL, "%s", lm_result_text(LM_ERROR_MEMORY));
        return LM_ERROR_MEMORY;
    }
    for (uint32_t n = 0; n < stamped->mesh.vertex_count; n++) {
        const lm_vec3 v = stamped->mesh.vertices[n];
        lm_dvec3 turned = lmi_rotation_apply(stamp->rotate, (lm_dvec3){v.x, v.y, v.z});
        stamped->vertices[n] = (lm_dvec3){turned.x + stamp->at.x, turned.y + stamp->at.y, turned.z + stamp->at.z};
    }
    stamp->stamped = stamped;
    return LM_OK;
}

lm_result lmi_cuts_prepare(lm_scene *s, lm_world *world, lm_scene_error *error)
{
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < s->file->events.count && result == LM_OK; i++) {
        const scene_event *event = LIST_ITEM(scene_event, s->file->events, i);
        const bool cuts = event->cut != NULL || event->slice != NULL || event->stamp != NULL;
        if (event->stamp != NULL && event->stamp->stamped == NULL) {
            result = read_stamp(s, event->stamp, error);
        }
        for (uint32_t k = 0; cuts && result == LM_OK && k < event->range.count; k++) {
            (void)lm_body_prepare_cut(world, s->bodies[event->range.first + k].id);
        }
    }
    return result;
}

/* What the edge sweeps over in a frame of its way. */
static lm_result sweep(lm_world *world, lm_body_id body, const scene_cut *cut, double from, double to)
{
    const lm_dvec3 vertices[4] = {vector_mix(cut->a, cut->to_a, from), vector_mix(cut->b, cut->to_b, from),
                                  vector_mix(cut->a, cut->to_a, to), vector_mix(cut->b, cut->to_b, to)};
    static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
    lm_blade blade = lm_blade_default();
    blade.vertices = vertices;
    blade.vertex_count = 4;
    blade.triangles = triangles;
    blade.triangle_count = 2;
    blade.finest = (float)cut->finest;
    return lm_body_cut(world, body, &blade, NULL);
}

static lm_result stamp_out(lm_world *world, lm_body_id body, const scene_stamp *stamp)
{
    const lm_shape_mesh *mesh = &stamp->stamped->mesh;
    lm_blade blade = lm_blade_default();
    blade.vertices = stamp->stamped->vertices;
    blade.vertex_count = mesh->vertex_count;
    blade.triangles = mesh->triangles;
    blade.triangle_count = mesh->triangle_count;
    blade.finest = (float)stamp->finest;
    return lm_body_cut(world, body, &blade, NULL);
}

static lm_result push_apart(lm_world *world, const lm_body_id *bodies, uint32_t count, double speed)
{
    lm_dvec3 middle = {0.0, 0.0, 0.0};
    double mass = 0.0;
    lm_body_info info;
    lm_result result = LM_OK;
    for (uint32_t n = 0; n < count && result == LM_OK; n++) {
        result = lm_body_get_info(world, bodies[n], &info);
        middle = (lm_dvec3){middle.x + info.mass * info.centre.x, middle.y + info.mass * info.centre.y,
                            middle.z + info.mass * info.centre.z};
        mass += (double)info.mass;
    }
    for (uint32_t n = 0; n < count && result == LM_OK; n++) {
        result = lm_body_get_info(world, bodies[n], &info);
        const lm_dvec3 way = {info.centre.x - middle.x / mass, info.centre.y - middle.y / mass,
                              info.centre.z - middle.z / mass};
        const double length = vector_length(way), by = length > 0.0 ? speed * (double)info.mass / length : 0.0;
        const lm_dvec3 impulse = {by * way.x, by * way.y, by * way.z};
        result = result == LM_OK ? lm_body_add_impulse(world, bodies[n], vector_narrow(impulse), info.centre) : result;
    }
    return result;
}

static lm_result split_apart(lm_world *world, lm_body_id body, const scene_split *split)
{
    lm_piece_limits limits = lm_piece_limits_default();
    limits.least_mass = (float)split->least_mass;
    limits.least_volume = (float)split->least_volume;
    limits.most = split->most;
    lm_body_info info;
    uint32_t count = 0;
    lm_result result = lm_body_drop_pieces(world, body, &limits, NULL);
    result = result == LM_OK ? lm_body_get_info(world, body, &info) : result;
    if (result != LM_OK) {
        return result;
    }
    lm_body_id *bodies = calloc((size_t)info.pieces + 1, sizeof *bodies);
    if (bodies == NULL) {
        return LM_ERROR_MEMORY;
    }
    bodies[0] = body;
    result = lm_body_split(world, body, NULL, bodies + 1, info.pieces, &count);
    if (result == LM_OK && split->push > 0.0) {
        result = push_apart(world, bodies, count + 1, split->push);
    }
    free(bodies);
    return result;
}

lm_result lmi_cuts_apply(lm_scene *s, lm_world *world, const scene_event *event, uint32_t frame)
{
    const uint32_t first = lmi_frame_at(event->time);
    const scene_cut *cut = event->cut;
    const uint32_t last = cut != NULL ? lmi_frame_at(event->time + cut->seconds) : first;
    const double frames = last > first ? last - first : 1.0;
    lm_result result = LM_OK;
    for (uint32_t k = 0; k < event->range.count && result == LM_OK; k++) {
        const lm_body_id body = s->bodies[event->range.first + k].id;
        if (cut != NULL && frame >= first && frame < first + frames) {
            result = sweep(world, body, cut, (frame - first) / frames, (frame - first + 1.0) / frames);
        }
        const scene_slice *slice = event->slice;
        if (result == LM_OK && slice != NULL && frame == first) {
            result = lm_body_slice(world, body, slice->at, vector_narrow(slice->normal), slice->count,
                                   (float)slice->distance, NULL);
        }
        if (result == LM_OK && event->stamp != NULL && frame == first) {
            result = stamp_out(world, body, event->stamp);
        }
        if (result == LM_OK && event->split != NULL && frame == first) {
            result = split_apart(world, body, event->split);
        }
    }
    return result;
}
