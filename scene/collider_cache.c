/*
 * Colliders whose vertices move: the motion from a file (io/cache.h), read once, placed as the mesh is, and played frame by frame.
 */
#include "limber/cache.h"
#include "scene/model.h"

#include <math.h>
#include <stdlib.h>

typedef struct collider_motion {
    struct collider_motion *before; /* the one that was read before it */
    const scene_cache *wanted;
    lm_cache_data *cache;
    uint32_t *sources; /* for each vertex of the collider one of the file */
    placing placed;
    lm_vec3 *all;      /* room for the file's vertices */
    lm_vec3 *vertices; /* and for the collider's */
    uint32_t vertex_count;
} collider_motion;

void lmi_collider_motions_free(lm_scene *s)
{
    while (s->motions != NULL) {
        collider_motion *motion = s->motions;
        s->motions = motion->before;
        lm_cache_free(motion->cache);
        free(motion->sources);
        free(motion->all);
        free(motion->vertices);
        free(motion);
    }
}

/* The time of the file at a time of the scene. */
static double file_time(const collider_motion *motion, double time)
{
    const scene_cache *wanted = motion->wanted;
    double begin = lm_cache_begin(motion->cache), length = lm_cache_end(motion->cache) - begin;
    double at = wanted->start + wanted->speed * time;
    if (wanted->loop && length > 0.0) {
        double turns = (at - begin) / length;
        at = begin + (turns - floor(turns)) * length;
    }
    return at;
}

static lm_result sample(collider_motion *motion, double time)
{
    if (!lm_cache_sample(motion->cache, file_time(motion, time), motion->all)) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < motion->vertex_count; i++) {
        motion->vertices[i] = motion->all[motion->sources[i]];
    }
    lmi_place_points(motion->placed, motion->vertices, motion->vertex_count);
    return LM_OK;
}

/* The file is that of the motion; what is wrong with it has no place in the scene's. */
static lm_result read_cache(lm_scene *s, const scene_collider *collider, lm_cache_data **cache, lm_scene_error *error)
{
    const scene_cache *wanted = collider->cache;
    lm_cache_options options = {.rate = wanted->fps, .animation = wanted->animation, .z_up = collider->mesh->up == 1};
    char *path = lmi_scene_file_path(s, wanted->file != NULL ? wanted->file : collider->mesh->file);
    lm_mesh_error wrong;
    if (path == NULL) {
        return LM_ERROR_MEMORY;
    }
    bool read = lm_cache_read(path, &options, cache, &wrong);
    free(path);
    if (!read) {
        lmi_report_field(error, s->name, &wanted->head, "file", "%s", wrong.text);
    }
    return read ? LM_OK : LM_ERROR_ARGUMENT;
}

static lm_result make_motion(lm_scene *s, scene_collider *collider, mesh_origins *origins, const lm_shape_mesh *mesh,
                             lm_scene_error *error)
{
    const scene_cache *wanted = collider->cache;
    collider_motion *motion = calloc(1, sizeof *motion);
    if (motion == NULL) {
        return LM_ERROR_MEMORY;
    }
    motion->before = s->motions;
    motion->wanted = wanted;
    s->motions = collider->motion = motion;
    lm_result result = read_cache(s, collider, &motion->cache, error);
    if (result != LM_OK) {
        return result;
    }
    uint32_t count = lm_cache_vertex_count(motion->cache);
    if (count != origins->source_count) {
        lmi_report_field(error, s->name, &wanted->head, "file",
                         "%.80s: has %u vertices (expected %u, as many as %.80s)",
                         wanted->file != NULL ? wanted->file : collider->mesh->file, (unsigned)count,
                         (unsigned)origins->source_count, collider->mesh->file);
        return LM_ERROR_ARGUMENT;
    }
    motion->vertex_count = mesh->vertex_count;
    motion->placed = origins->placed;
    motion->sources = origins->sources;
    origins->sources = NULL;
    motion->all = malloc(count * sizeof *motion->all);
    motion->vertices = malloc(mesh->vertex_count * sizeof *motion->vertices);
    return motion->all != NULL && motion->vertices != NULL ? LM_OK : LM_ERROR_MEMORY;
}

lm_result lmi_collider_motion_read(lm_scene *s, scene_collider *collider, mesh_origins *origins, lm_shape_mesh *mesh,
                                   lm_scene_error *error)
{
    if (collider->cache == NULL) {
        return LM_OK;
    }
    bool read = collider->motion != NULL && collider->motion->vertices != NULL;
    lm_result result = read ? LM_OK : make_motion(s, collider, origins, mesh, error);
    result = result ? result : sample(collider->motion, 0.0);
    for (uint32_t i = 0; i < mesh->vertex_count && result == LM_OK; i++) {
        mesh->vertices[i] = collider->motion->vertices[i];
    }
    if (result == LM_ERROR_MEMORY) {
        lmi_report_field(error, s->name, &collider->cache->head, NULL, "%s", lm_result_text(result));
        return LM_ERROR_ARGUMENT;
    }
    return result;
}

lm_result lmi_drive_colliders(lm_scene *s, lm_world *world, uint32_t frame)
{
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < s->file->colliders.count && result == LM_OK; i++) {
        const scene_collider *collider = LIST_ITEM(scene_collider, s->file->colliders, i);
        collider_motion *motion = collider->cache != NULL ? collider->motion : NULL;
        if (motion == NULL) {
            continue;
        }
        result = sample(motion, (frame + 1.0) / LM_SCENE_FRAME_RATE);
        result =
            result ? result : lm_collider_move_vertices(world, collider->id, motion->vertices, motion->vertex_count);
    }
    return result;
}
