/*
 * Any bytes as a scene: either an error of one line that begins with the file's name, or a world that can be made (unless
 * the library refuses it) and stepped. Scenes that are merely large are left out: they would only be slow.
 */
#include "fuzz.h"

#include "scene/internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_small(const lm_scene *s)
{
    uint64_t particles = 0;
    for (uint32_t i = 0; i < s->file->bodies.count; i++) {
        const scene_body_entry *entry = LIST_ITEM(scene_body_entry, s->file->bodies, i);
        uint64_t each = entry->shape == NULL ? entry->points.count : entry->particles > 0 ? entry->particles : 1000;
        if (entry->shape != NULL && entry->shape->detail > 6) return false;
        /* A thin shape is filled on a fine lattice. */
        lm_dvec3 size = entry->shape != NULL ? entry->shape->size : vector(1, 1, 1);
        double longest = fmax(size.x, fmax(size.y, size.z)), shortest = fmin(size.x, fmin(size.y, size.z));
        if (longest > 20.0 * shortest) return false;
        if (entry->mesh != NULL)
            return false; /* files are not part of the input; their readers have targets of their own */
        if (entry->lattice != NULL) {
            if (entry->lattice->spacing > 0.0 && entry->lattice->spacing < 0.05 * longest) return false;
            each = entry->lattice->spacing > 0.0 ? 1000 : entry->lattice->particles;
        }
        if (entry->tets != NULL) {
            if (entry->tets->file != NULL) return false;
            if (entry->tets->spacing > 0.0 && entry->tets->spacing < 0.05 * longest) return false;
            each = entry->tets->spacing > 0.0 ? 1000 : entry->tets->particles;
        }
        if (entry->clusters != NULL) {
            const uint32_t *counts = entry->clusters->counts;
            if ((uint64_t)counts[0] * counts[1] * counts[2] > 1000) return false;
            if (lmi_json_get(entry->clusters->head.json, "size") != NULL) return false;
        }
        particles += each * entry->range.count;
    }
    return particles <= 4000 && s->file->substeps <= 4 && s->body_count <= 100;
}

static void check_error(const lm_scene_error *error)
{
    if (strncmp(error->text, "fuzz.json:", 10) != 0 || strchr(error->text, '\n') != NULL) abort();
}

static void try_world(lm_scene *s)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    lm_world *world = NULL;
    lm_scene_error error = {""};
    if (lm_scene_make_world(s, &def, &world, &error) != LM_OK) {
        check_error(&error);
        return;
    }
    for (uint32_t frame = 0; frame < 4; frame++) {
        if (lm_scene_step(s, world, frame) != LM_OK) break;
    }
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    if (!totals.finite) abort();
    lm_scene_check(s, world, NULL, NULL);
    lm_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lm_scene_error error = {""};
    lm_scene *s = lm_scene_open_text("fuzz.json", (const char *)data, size, NULL, 0, &error);
    if (s == NULL) {
        check_error(&error);
        return 0;
    }
    if (is_small(s)) try_world(s);
    lm_scene_close(s);
    return 0;
}
