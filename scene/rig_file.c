/* The rig of a body's mesh file: read once, placed as the mesh is, with the animation that the entry wants. */
#include "scene/rig.h"

#include "support/nearest.h"

#include <stdlib.h>

void lmi_rig_files_free(lm_scene *s)
{
    for (rig_of_file *file = s->rigs; file != NULL; file = file->before) {
        lm_rig_free(&file->data); /* the rest is in the scene's memory */
        free(file->poses);
    }
    s->rigs = NULL;
}

/* As the mesh's vertices go: turned when the file's z points up, then moved and scaled. */
rig_frame lmi_rig_file_frame(const rig_of_file *file, const double position[3], const double turn[4])
{
    lm_dvec3 at = vector(position[0], position[1], position[2]);
    rotation own = {turn[0], turn[1], turn[2], turn[3]};
    if (file->z_up) {
        at = vector(at.x, at.z, -at.y);
        own = lmi_rotation_then(own, lmi_rotation_about(vector(1.0, 0.0, 0.0), -90.0));
    }
    return (rig_frame){vector_scale(vector_subtract(at, file->from), file->scale), own};
}

/* The one that the entry names, or the first. */
static bool choose_animation(lm_scene *s, const scene_skeleton *skeleton, rig_of_file *file, lm_scene_error *error)
{
    const lm_rig_data *data = &file->data;
    file->animation = data->animation_count > 0 ? 0 : LM_RIG_NONE;
    if (skeleton->animation == NULL) {
        return true;
    }
    file->animation = lm_rig_find_animation(data, skeleton->animation);
    if (file->animation != LM_RIG_NONE) {
        return true;
    }
    nearest_name near = lmi_nearest_to(skeleton->animation);
    for (uint32_t i = 0; i < data->animation_count; i++) {
        lmi_nearest_offer(&near, data->names + data->animations[i].name);
    }
    lmi_report_field(error, s->name, &skeleton->head, "animation",
                     "the file has no animation \"%.40s\" (expected one of its %u%s%.40s%s)", skeleton->animation,
                     (unsigned)data->animation_count, near.best != NULL ? "; did you mean \"" : "",
                     near.best != NULL ? near.best : "", near.best != NULL ? "\"?" : "");
    return false;
}

lm_result lmi_rig_file_read(lm_scene *s, const scene_body_entry *entry, const body_model *model, rig_of_file **out,
                            lm_scene_error *error)
{
    *out = NULL;
    if (entry->mesh == NULL) {
        return LM_OK;
    }
    rig_of_file *file = lmi_json_allocate(s->document, sizeof *file);
    char *path = lmi_scene_file_path(s, entry->mesh->file);
    lm_mesh_error wrong;
    if (file == NULL || path == NULL) {
        free(path);
        return LM_ERROR_MEMORY;
    }
    *file = (rig_of_file){.z_up = entry->mesh->up == 1, .from = model->mesh_from, .scale = model->mesh_scale};
    bool read = lm_rig_read(path, &file->data, &wrong);
    free(path);
    if (!read) {
        lmi_report_field(error, s->name, &entry->mesh->head, "file", "%s", wrong.text);
        return LM_ERROR_ARGUMENT;
    }
    file->before = s->rigs;
    s->rigs = file;
    file->poses = malloc((file->data.joint_count + 1u) * sizeof *file->poses);
    if (file->poses == NULL) {
        return LM_ERROR_MEMORY;
    }
    if (!choose_animation(s, entry->skeleton, file, error)) {
        return LM_ERROR_ARGUMENT;
    }
    *out = file->data.joint_count > 0 ? file : NULL;
    return LM_OK;
}
