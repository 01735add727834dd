/*
 * The tetrahedra of a body from a file: its own, that of its mesh where that has some, or none. They are placed as the mesh is.
 */
#include "limber/tets.h"
#include "scene/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Null: the entry's tetrahedra are made of its surface. */
static const char *file_of(const scene_body_entry *entry)
{
    const scene_tets *wanted = entry->tets;
    if (wanted->file != NULL) {
        return wanted->file;
    }
    bool own =
        lmi_json_get(wanted->head.json, "spacing") != NULL || lmi_json_get(wanted->head.json, "particles") != NULL;
    return !own && entry->mesh != NULL && lm_tets_is_name(entry->mesh->file) ? entry->mesh->file : NULL;
}

static lm_result keep(lm_tets_data *from, placing placed, body_model *model)
{
    lmi_place_points(placed, from->positions, from->vertex_count);
    model->tet_points = from->positions;
    model->tet_point_count = from->vertex_count;
    model->tets = from->tets;
    model->tet_count = from->tet_count;
    from->positions = NULL;
    from->tets = NULL;
    model->scaled_tet_points = malloc(model->tet_point_count * sizeof *model->scaled_tet_points);
    return model->scaled_tet_points != NULL ? LM_OK : LM_ERROR_MEMORY;
}

lm_result lmi_model_read_tets(const lm_scene *s, const scene_body_entry *entry, placing placed, body_model *model,
                              lm_scene_error *error)
{
    const char *file = entry->tets != NULL ? file_of(entry) : NULL;
    if (file == NULL) {
        return LM_OK;
    }
    char *path = lmi_scene_file_path(s, file);
    if (path == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_tets_options options = {.z_up = entry->mesh != NULL && entry->mesh->up == 1};
    lm_tets_data data;
    lm_mesh_error wrong;
    lm_result result = LM_ERROR_ARGUMENT;
    if (lm_tets_read(path, &options, &data, &wrong)) {
        model->volume = data.volume * placed.scale * placed.scale * placed.scale;
        model->closed = true;
        if (data.flat > 0) {
            char line[256];
            snprintf(line, sizeof line, "%.120s: %u tetrahedra have no volume and are left out, the first is %llu",
                     file, (unsigned)data.flat, (unsigned long long)data.first_flat_tag);
            lmi_scene_say(s, line);
        }
        result = keep(&data, placed, model);
        lm_tets_free(&data);
    } else if (entry->tets->file != NULL) {
        lmi_report_field(error, s->name, &entry->tets->head, "file", "%s", wrong.text);
    } else {
        lmi_report_field(error, s->name, &entry->mesh->head, "file", "%s", wrong.text);
    }
    free(path);
    return result;
}
