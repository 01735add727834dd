/* Opening and closing scenes: built-in by name, or from a file. */
#include "limber/scene.h"

#include "cmake/embedded.h"
#include "io/system.h"
#include "limber/mesh.h"
#include "scene/from_mesh.h"
#include "scene/internal.h"
#include "scene/nearest.h"
#include "scene/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lm_scene_builtin_name(uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (lmi_embedded_scenes[i].name == NULL) {
            return NULL;
        }
    }
    return lmi_embedded_scenes[index].name;
}

const char *lm_scene_builtin_text(const char *name) { return embedded_find(lmi_embedded_scenes, name); }

static char *copy_text(json_document *document, const char *text)
{
    size_t length = strlen(text);
    char *copy = lmi_json_allocate(document, length + 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

lm_scene *lmi_scene_open_text_as(const char *name, bool own, const char *text, size_t length, const char *const *sets,
                                 uint32_t set_count, lm_scene_error *error)
{
    json_document *document = lmi_json_create();
    lm_scene *s = document != NULL ? lmi_json_allocate(document, sizeof *s) : NULL;
    if (s == NULL || (s->name = copy_text(document, name)) == NULL) {
        lmi_json_free(document);
        snprintf(error->text, sizeof error->text, "%.200s: out of memory", name);
        return NULL;
    }
    s->document = document;
    s->watching = true;

    json_error wrong;
    json_value *root = lmi_json_parse(document, text, length, own ? NULL : s->name, &wrong);
    bool good = root != NULL;
    if (!good) {
        lmi_report(error, (report_place){s->name, NULL, wrong.place, "JSON"}, "%s", wrong.text);
    }
    for (uint32_t i = 0; i < set_count && good; i++) {
        const char *set = copy_text(document, sets[i]); /* values keep pointing to it */
        if (set == NULL) {
            snprintf(error->text, sizeof error->text, "%.200s: out of memory", name);
        }
        good = set != NULL && lmi_set_apply(document, root, set, error);
    }
    s->file = good ? lmi_read_scene(document, root, s->name, error) : NULL;
    if (s->file == NULL || !lmi_prepare_scene(s, error)) {
        lm_scene_close(s);
        return NULL;
    }
    return s;
}

lm_scene *lm_scene_open_text(const char *name, const char *text, size_t length, const char *const *sets,
                             uint32_t set_count, lm_scene_error *error)
{
    return lmi_scene_open_text_as(name, true, text, length, sets, set_count, error);
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

static void report_unknown(const char *name, lm_scene_error *error)
{
    nearest_name near = lmi_nearest_to(name);
    for (uint32_t i = 0; lm_scene_builtin_name(i) != NULL; i++) {
        lmi_nearest_offer(&near, lm_scene_builtin_name(i));
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
static char *read_file(const char *path, size_t *length, lm_scene_error *error)
{
    FILE *file = lmi_system_open(path, "rb");
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
        lmi_text_add(&text, block, got);
    }
    bool bad = ferror(file) != 0;
    int why = errno;
    fclose(file);
    *length = text.length;
    char *bytes = lmi_text_take(&text);
    if (bad || bytes == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: cannot be read: %s", path,
                 bad ? strerror(why) : "out of memory");
        free(bytes);
        return NULL;
    }
    return bytes;
}

lm_scene *lm_scene_open(const char *name, const char *const *sets, uint32_t set_count, lm_scene_error *error)
{
    const char *builtin = lm_scene_builtin_text(name);
    if (builtin != NULL) {
        return lm_scene_open_text(name, builtin, strlen(builtin), sets, set_count, error);
    }
    if (lm_mesh_is_name(name)) {
        return lmi_scene_open_mesh(name, sets, set_count, error);
    }
    size_t length = 0;
    char *text = read_file(name, &length, error);
    if (text == NULL) {
        return NULL;
    }
    lm_scene *s = lm_scene_open_text(name, text, length, sets, set_count, error);
    free(text);
    return s;
}

void lm_scene_close(lm_scene *s)
{
    if (s != NULL) {
        lm_mesh_free(&s->mesh);
        lmi_rig_files_free(s);
        lmi_collider_motions_free(s);
        lmi_stamps_free(s);
        lmi_json_free(s->document); /* the scene itself lives in it */
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Getters
 */

const char *lm_scene_note(const lm_scene *s) { return s->note; }

const char *lm_scene_title(const lm_scene *s) { return s->file->title; }

const char *lm_scene_figure(const lm_scene *s) { return s->file->figure; }

uint32_t lm_scene_frames(const lm_scene *s) { return s->file->frames; }

bool lm_scene_get_view(const lm_scene *s, lm_scene_view *view)
{
    const scene_camera *camera = s->file->camera;
    if (camera == NULL) {
        return false;
    }
    *view = (lm_scene_view){camera->at, camera->look_at, camera->field_of_view};
    return true;
}

bool lm_scene_has_eye(const lm_scene *s)
{
    bool has = lmi_json_get(s->file->head.json, "eye") != NULL;
    for (uint32_t i = 0; i < s->file->events.count && !has; i++) {
        has = lmi_json_get(LIST_ITEM(scene_event, s->file->events, i)->head.json, "eye") != NULL;
    }
    return has;
}

uint32_t lm_scene_body_count(const lm_scene *s) { return s->body_count; }

lm_scene_body lm_scene_get_body(const lm_scene *s, uint32_t index)
{
    return (lm_scene_body){s->bodies[index].id, s->bodies[index].name, s->bodies[index].label};
}

lm_scene_colours lm_scene_get_colours(const lm_scene *s, uint32_t body_index) { return s->bodies[body_index].colours; }

lm_scene_texture lm_scene_get_texture(const lm_scene *s, uint32_t body_index) { return s->bodies[body_index].texture; }

lm_scene_collider_made lm_scene_get_collider(const lm_scene *s, uint32_t index)
{
    const scene_collider *collider = LIST_ITEM(scene_collider, s->file->colliders, index);
    bool coloured = lmi_json_get(collider->head.json, "colour") != NULL;
    return (lm_scene_collider_made){collider->id, {coloured ? collider->colour : NULL, coloured ? 1 : 0}};
}

void lm_scene_watch(lm_scene *s, bool on) { s->watching = on; }

lm_scene_contents lm_scene_get_contents(const lm_scene *s)
{
    const scene_file *file = s->file;
    return (lm_scene_contents){.colliders = file->colliders.count,
                               .movers = file->movers.count,
                               .pins = file->pins.count,
                               .joints = file->joints.count,
                               .drags = file->drags.count,
                               .fields = file->fields.count,
                               .events = file->events.count,
                               .expectations = file->expect.count};
}
