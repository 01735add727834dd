/*
 * Reading a pose: a frame of a point cache, everything else as a mesh whose triangles are not needed.
 */
#include "io/point_cache.h"
#include "limber/pose.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Point caches
 */

static bool read_cache(mesh_reader *reader, const lm_pose_options *options, lm_pose_data *pose)
{
    point_cache cache;
    if (options->target) return lmi_mesh_reader_fail(reader, "it has frames, not targets (expected a glTF file)");
    if (!lmi_point_cache_open(&cache, reader)) return false;
    if (options->frame >= cache.frames)
        return lmi_mesh_reader_fail(reader, "there is no frame %u (it has %u, counted from 0)",
                                    (unsigned)options->frame, (unsigned)cache.frames);
    pose->positions = malloc(cache.points * sizeof *pose->positions);
    if (!pose->positions) return lmi_mesh_reader_out_of_memory(reader);
    pose->vertex_count = cache.points;
    return lmi_point_cache_frame(&cache, options->frame, pose->positions);
}

static void turn_z_up(lm_pose_data *pose)
{
    for (uint32_t i = 0; i < pose->vertex_count; i++) {
        lm_vec3 p = pose->positions[i];
        pose->positions[i] = (lm_vec3){p.x, p.z, -p.y};
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

static bool read_mesh(const mesh_reader *reader, const lm_pose_options *options, lm_pose_data *pose)
{
    lm_mesh_options as_mesh = {.weld = -1.0f, .z_up = options->z_up, .target = options->target};
    lm_mesh_data mesh;
    size_t size = (size_t)(reader->end - reader->bytes);
    if (!lmi_mesh_parse_at(reader->name, reader->path, reader->bytes, size, &as_mesh, &mesh, reader->error))
        return false;
    *pose = (lm_pose_data){mesh.positions, mesh.vertex_count};
    mesh.positions = NULL;
    lm_mesh_free(&mesh);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool parse(const char *name, const char *path, const char *bytes, size_t size, const lm_pose_options *options,
                  lm_pose_data *pose, lm_mesh_error *error)
{
    mesh_reader reader = {.name = name, .path = path, .bytes = bytes, .end = bytes + size, .error = error};
    bool done;
    *pose = (lm_pose_data){.positions = NULL};
    if (lmi_point_cache_is(&reader)) {
        done = read_cache(&reader, options, pose);
        if (done && options->z_up) turn_z_up(pose);
    } else if (options->has_frame) {
        done = lmi_mesh_reader_fail(&reader, "it has no frames (expected an MDD or PC2 file)");
    } else {
        done = read_mesh(&reader, options, pose);
    }
    if (!done) lm_pose_free(pose);
    return done;
}

bool lm_pose_parse(const char *name, const void *bytes, size_t size, const lm_pose_options *options, lm_pose_data *pose,
                   lm_mesh_error *error)
{
    return parse(name, NULL, size > 0 ? bytes : "", size, options, pose, error);
}

bool lm_pose_read(const char *path, const lm_pose_options *options, lm_pose_data *pose, lm_mesh_error *error)
{
    size_t size;
    const char *reason;
    *pose = (lm_pose_data){.positions = NULL};
    char *bytes = lmi_mesh_load(path, &size, &reason);
    if (!bytes) {
        mesh_reader nothing = {.name = path, .error = error};
        return lmi_mesh_reader_fail(&nothing, "%s", reason);
    }
    bool read = parse(path, path, bytes, size, options, pose, error);
    free(bytes);
    return read;
}

void lm_pose_free(lm_pose_data *pose)
{
    free(pose->positions);
    *pose = (lm_pose_data){.positions = NULL};
}
