/* Opening and closing scenes: built-in by name, or from a file. */
#include "scene/scene.h"

#include "cmake/embedded.h"
#include "io/mesh.h"
#include "io/system.h"
#include "scene/from_mesh.h"
#include "scene/internal.h"
#include "scene/nearest.h"
#include "scene/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *scene_builtin_name(uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (embedded_scenes[i].name == NULL) {
            return NULL;
        }
    }
    return embedded_scenes[index].name;
}

const char *scene_builtin_text(const char *name) { return embedded_find(embedded_scenes, name); }

static char *copy_text(json_document *document, const char *text)
{
    size_t length = strlen(text);
    char *copy = json_allocate(document, length + 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

scene *scene_open_text_as(const char *name, bool own, const char *text, size_t length, const char *const *sets,
                          uint32_t set_count, scene_error *error)
{
    json_document *document = json_create();
    scene *s = document != NULL ? json_allocate(document, sizeof *s) : NULL;
    if (s == NULL || (s->name = copy_text(document, name)) == NULL) {
        json_free(document);
        snprintf(error->text, sizeof error->text, "%.200s: out of memory", name);
        return NULL;
    }
    s->document = document;
    s->watching = true;

    json_error wrong;
    json_value *root = json_parse(document, text, length, own ? NULL : s->name, &wrong);
    bool good = root != NULL;
    if (!good) {
        report(error, (report_place){s->name, NULL, wrong.place, "JSON"}, "%s", wrong.text);
    }
    for (uint32_t i = 0; i < set_count && good; i++) {
        const char *set = copy_text(document, sets[i]); /* values keep pointing to it */
        if (set == NULL) {
            snprintf(error->text, sizeof error->text, "%.200s: out of memory", name);
        }
        good = set != NULL && set_apply(document, root, set, error);
    }
    s->file = good ? read_scene(document, root, s->name, error) : NULL;
    if (s->file == NULL || !prepare_scene(s, error)) {
        scene_close(s);
        return NULL;
    }
    return s;
}

scene *scene_open_text(const char *name, const char *text, size_t length, const char *const *sets, uint32_t set_count,
                       scene_error *error)
{
    return scene_open_text_as(name, true, text, length, sets, set_count, error);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool looks_like_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') != NULL || strchr(name, '\\') != NULL ||
           (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static void report_unknown(const char *name, scene_error *error)
{
    nearest_name near = nearest_to(name);
    for (uint32_t i = 0; scene_builtin_name(i) != NULL; i++) {
        nearest_offer(&near, scene_builtin_name(i));
    }
    if (near.best != NULL) {
        snprintf(
            error->text, sizeof error->text,
            "%.200s: no such scene (expected a built-in scene, see limber list, or a JSON or mesh file; did you mean "
            "\"%s\"?)",
            name, near.best);
    } else {
        snprintf(error->text, sizeof error->text,
                 "%.200s: no such scene (expected a built-in scene, see limber list, or a JSON or mesh file)", name);
    }
}

/* The whole file, to be freed; null and *error on failure. */
static char *read_file(const char *path, size_t *length, scene_error *error)
{
    FILE *file = system_open(path, "rb");
    if (file == NULL) {
        if (!looks_like_path(path)) {
            report_unknown(path, error);
        } else {
            snprintf(error->text, sizeof error->text, "%.200s: cannot be opened: %s", path, strerror(errno));
        }
        return NULL;
    }
    text_buffer text = {.bytes = NULL};
    char block[16384];
    size_t got;
    while ((got = fread(block, 1, sizeof block, file)) > 0 && text.length <= JSON_MAX_BYTES) {
        text_add(&text, block, got);
    }
    bool bad = ferror(file) != 0;
    int why = errno;
    fclose(file);
    *length = text.length;
    char *bytes = text_take(&text);
    if (bad || bytes == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: cannot be read: %s", path,
                 bad ? strerror(why) : "out of memory");
        free(bytes);
        return NULL;
    }
    return bytes;
}

scene *scene_open(const char *name, const char *const *sets, uint32_t set_count, scene_error *error)
{
    const char *builtin = scene_builtin_text(name);
    if (builtin != NULL) {
        return scene_open_text(name, builtin, strlen(builtin), sets, set_count, error);
    }
    if (mesh_is_name(name)) {
        return scene_open_mesh(name, sets, set_count, error);
    }
    size_t length = 0;
    char *text = read_file(name, &length, error);
    if (text == NULL) {
        return NULL;
    }
    scene *s = scene_open_text(name, text, length, sets, set_count, error);
    free(text);
    return s;
}

void scene_close(scene *s)
{
    if (s != NULL) {
        mesh_free(&s->mesh);
        rig_files_free(s);
        json_free(s->document); /* the scene itself lives in it */
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Getters
 */

const char *scene_note(const scene *s) { return s->note; }

const char *scene_title(const scene *s) { return s->file->title; }

const char *scene_figure(const scene *s) { return s->file->figure; }

uint32_t scene_frames(const scene *s) { return s->file->frames; }

bool scene_get_view(const scene *s, scene_view *view)
{
    const scene_camera *camera = s->file->camera;
    if (camera == NULL) {
        return false;
    }
    *view = (scene_view){camera->at, camera->look_at, camera->field_of_view};
    return true;
}

bool scene_has_eye(const scene *s)
{
    bool has = json_get(s->file->head.json, "eye") != NULL;
    for (uint32_t i = 0; i < s->file->events.count && !has; i++) {
        has = json_get(LIST_ITEM(scene_event, s->file->events, i)->head.json, "eye") != NULL;
    }
    return has;
}

uint32_t scene_body_count(const scene *s) { return s->body_count; }

scene_body scene_get_body(const scene *s, uint32_t index)
{
    return (scene_body){s->bodies[index].id, s->bodies[index].name, s->bodies[index].label};
}

scene_colours scene_get_colours(const scene *s, uint32_t body_index) { return s->bodies[body_index].colours; }

scene_collider_made scene_get_collider(const scene *s, uint32_t index)
{
    const scene_collider *collider = LIST_ITEM(scene_collider, s->file->colliders, index);
    bool coloured = json_get(collider->head.json, "colour") != NULL;
    return (scene_collider_made){collider->id, {coloured ? collider->colour : NULL, coloured ? 1 : 0}};
}

void scene_watch(scene *s, bool on) { s->watching = on; }

scene_contents scene_get_contents(const scene *s)
{
    const scene_file *file = s->file;
    return (scene_contents){.colliders = file->colliders.count,
                            .movers = file->movers.count,
                            .pins = file->pins.count,
                            .drags = file->drags.count,
                            .fields = file->fields.count,
                            .events = file->events.count,
                            .expectations = file->expect.count};
}
