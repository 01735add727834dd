/* The files of `limber run --out`: surfaces, a snapshot to go on from, the summary. */
#include "cli/run.h"
#include "limber/mesh.h"
#include "support/partial.h"
#include "support/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

/* folder/name; null when out of memory. To be freed. */
static char *join(const char *folder, const char *name)
{
    text_buffer path = {.bytes = NULL};
    lmi_text_addf(&path, "%s/%s", folder, name);
    return lmi_text_take(&path);
}

int output_prepare(const char *folder)
{
    if (folder[0] == '\0') {
        return cli_fail(CLI_USAGE, "run: --out needs the name of a folder");
    }
    char *path = join(folder, "");
    if (path == NULL) {
        return cli_fail(CLI_FAILED, "out of memory");
    }
    int failure = 0;
    for (char *slash = path + 1; *slash != '\0'; slash++) {
        if (!lmi_system_parts_folders(*slash)) {
            continue;
        }
        *slash = '\0';
        failure = lmi_system_make_folder(path);
        failure = failure == EEXIST || lmi_system_look(path) == SYSTEM_FOLDER ? 0 : failure;
        *slash = '/';
    }
    failure = failure != 0 ? failure : lmi_system_may_write(path);
    free(path);
    return failure == 0 ? -1 : cli_fail(CLI_FAILED, "--out %s: %s", folder, strerror(failure));
}

void *output_read_file(const char *path, size_t *size)
{
    FILE *file = lmi_system_open(path, "rb");
    if (file == NULL) {
        cli_fail(CLI_FAILED, "%s: cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    text_buffer bytes = {.bytes = NULL};
    char block[65536];
    size_t got;
    while ((got = fread(block, 1, sizeof block, file)) > 0) {
        lmi_text_add(&bytes, block, got);
    }
    int failure = ferror(file) ? errno : 0;
    fclose(file);
    *size = bytes.length;
    char *taken = lmi_text_take(&bytes);
    if (failure != 0 || taken == NULL) {
        free(taken);
        cli_fail(CLI_FAILED, "%s: cannot be read: %s", path, failure != 0 ? strerror(failure) : "out of memory");
        return NULL;
    }
    return taken;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Surfaces
 */

/* A colour for each vertex, to be freed; null when the scene has none, or no memory is left for them. */
static uint8_t *spread_colours(lm_scene_colours colours, uint32_t vertices)
{
    if (colours.count != 1 && colours.count != vertices) {
        return NULL;
    }
    uint8_t *spread = malloc(3u * (size_t)vertices + 1u);
    for (uint32_t i = 0; spread != NULL && i < vertices; i++) {
        memcpy(spread + 3u * (size_t)i, colours.rgb + (colours.count > 1 ? 3u * (size_t)i : 0), 3);
    }
    return spread;
}

/* The body's surface, or its particles alone when it has none. The arrays belong to the object, see free_objects. */
static lm_result fill_object(const lm_world *world, lm_scene_body body, lm_scene_colours colours,
                             lm_mesh_object *object)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, body.id, &info);
    if (result != LM_OK) {
        return result;
    }
    bool skinned = info.skin_vertices > 0;
    uint32_t vertices = skinned ? info.skin_vertices : info.particles;
    lm_vec3 *positions = malloc((vertices + 1u) * sizeof *positions);
    lm_vec3 *normals = skinned ? malloc((vertices + 1u) * sizeof *normals) : NULL;
    uint32_t *triangles = malloc((3u * (size_t)info.skin_triangles + 1u) * sizeof *triangles);
    *object = (lm_mesh_object){.name = body.name,
                               .positions = positions,
                               .normals = normals,
                               .colours = spread_colours(colours, vertices),
                               .vertex_count = vertices,
                               .triangles = triangles,
                               .triangle_count = info.skin_triangles};
    if (positions == NULL || triangles == NULL || (skinned && normals == NULL)) {
        return LM_ERROR_MEMORY;
    }
    if (!skinned) {
        return lm_body_get_positions(world, body.id, lm_dvec3_zero(), positions);
    }
    result = lm_body_get_skin(world, body.id, lm_dvec3_zero(), positions, normals);
    return result ? result : lm_body_get_skin_triangles(world, body.id, triangles);
}

static void free_objects(lm_mesh_object *objects, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)objects[i].positions);
        free((void *)(uintptr_t)objects[i].normals);
        free((void *)(uintptr_t)objects[i].colours);
        free((void *)(uintptr_t)objects[i].triangles);
    }
    free(objects);
}

static int write_surfaces(const char *folder, const lm_scene *scene_run, const lm_world *world)
{
    uint32_t count = lm_scene_body_count(scene_run);
    lm_mesh_object *objects = calloc(count + 1u, sizeof *objects);
    char *path = join(folder, "surfaces.obj");
    lm_result result = objects == NULL || path == NULL ? LM_ERROR_MEMORY : LM_OK;
    for (uint32_t i = 0; i < count && result == LM_OK; i++) {
        result = fill_object(world, lm_scene_get_body(scene_run, i), lm_scene_get_colours(scene_run, i), &objects[i]);
    }
    int code = -1;
    lm_mesh_error error;
    if (result != LM_OK) {
        code = cli_fail(CLI_FAILED, "surfaces: %s", lm_result_text(result));
    } else if (!lm_mesh_write_obj(path, objects, count, &error)) {
        code = cli_fail(CLI_FAILED, "%s", error.text);
    }
    free(path);
    if (objects != NULL) {
        free_objects(objects, count);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of it
 */

static int write_snapshot(partial_file *file, const lm_world *world)
{
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size > 0 ? size : 1);
    lm_result result = bytes == NULL ? LM_ERROR_MEMORY : lm_world_save(world, bytes, size);
    if (result == LM_OK) {
        lmi_partial_write(file, bytes, size);
    }
    free(bytes);
    return result == LM_OK ? -1 : cli_fail(CLI_FAILED, "snapshot: %s", lm_result_text(result));
}

static int write_summary(partial_file *file, const run_summary *summary)
{
    char *json = summary_json(summary);
    if (json == NULL) {
        return cli_fail(CLI_FAILED, "out of memory");
    }
    lmi_partial_write(file, json, strlen(json));
    free(json);
    return -1;
}

enum { STATE, SUMMARY, OUTPUTS };

static int open_files(const char *folder, partial_file files[OUTPUTS])
{
    static const char *const names[OUTPUTS] = {"state.limber", "summary.json"};
    for (int i = 0; i < OUTPUTS; i++) {
        char *path = join(folder, names[i]), error[PARTIAL_ERROR_SIZE] = "out of memory";
        bool good = path != NULL && lmi_partial_open(&files[i], path, error);
        free(path);
        if (!good) {
            return cli_fail(CLI_FAILED, "%s", error);
        }
    }
    return -1;
}

static int for_each_file(partial_file files[OUTPUTS], bool (*function)(partial_file *, char *))
{
    char error[PARTIAL_ERROR_SIZE];
    bool good = true;
    for (int i = 0; i < OUTPUTS && good; i++) {
        good = function(&files[i], error);
    }
    return good ? -1 : cli_fail(CLI_FAILED, "%s", error);
}

int output_write(const char *folder, const lm_scene *scene_run, const lm_world *world, const run_summary *summary)
{
    partial_file files[OUTPUTS] = {{.path = NULL}};
    int code = open_files(folder, files);
    code = code >= 0 ? code : write_snapshot(&files[STATE], world);
    code = code >= 0 ? code : write_summary(&files[SUMMARY], summary);
    /* The files belong together: none takes its place before all of them are written. */
    code = code >= 0 ? code : for_each_file(files, lmi_partial_close);
    code = code >= 0 ? code : write_surfaces(folder, scene_run, world);
    code = code >= 0 ? code : for_each_file(files, lmi_partial_keep);
    for (int i = 0; i < OUTPUTS; i++) {
        lmi_partial_drop(&files[i]); /* what was kept is no longer there */
    }
    return code;
}
