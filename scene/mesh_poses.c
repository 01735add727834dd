/*
 * The vertices of a body's mesh in the poses that come from files: second meshes, morph targets, frames of point caches.
 *
 * A file of a pose holds the vertices of the mesh's file, in their order. Which of them became a vertex of the body is known
 * from the mesh in its rest shape alone: vertices that meet in a pose, or faces that have no area there, do not matter.
 */
#include "limber/pose.h"
#include "scene/model.h"

#include <stdlib.h>

bool lmi_pose_is_of_file(const scene_pose *pose) { return pose->file != NULL || pose->target != NULL; }

/* In the units and with the axes of the body's own mesh. Where it stands does not matter. */
static lm_result keep_pose(const lm_scene *s, const scene_body_entry *entry, const scene_pose *pose,
                           const lm_pose_data *data, const body_model *model, lm_vec3 *vertices, lm_scene_error *error)
{
    if (data->vertex_count != model->source_count) {
        lmi_report_field(error, s->name, &pose->head, pose->file != NULL ? "file" : "target",
                         "%.80s: has %u vertices (expected %u, as many as %.80s)",
                         pose->file != NULL ? pose->file : entry->mesh->file, (unsigned)data->vertex_count,
                         (unsigned)model->source_count, entry->mesh->file);
        return LM_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < model->mesh.vertex_count; i++) {
        lm_dvec3 p = vector_widen(data->positions[model->sources[i]]);
        vertices[i] = vector_narrow(vector_scale(p, model->mesh_scale));
    }
    return LM_OK;
}

static lm_result read_pose(const lm_scene *s, const scene_body_entry *entry, const scene_pose *pose,
                           const body_model *model, lm_vec3 *vertices, lm_scene_error *error)
{
    lm_pose_options options = {.target = pose->target,
                               .has_frame = lmi_json_get(pose->head.json, "frame") != NULL,
                               .frame = pose->frame,
                               .z_up = entry->mesh->up == 1};
    char *path = lmi_scene_file_path(s, pose->file != NULL ? pose->file : entry->mesh->file);
    if (path == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_pose_data data;
    lm_mesh_error wrong;
    lm_result result = LM_ERROR_ARGUMENT;
    if (lm_pose_read(path, &options, &data, &wrong)) {
        result = keep_pose(s, entry, pose, &data, model, vertices, error);
        lm_pose_free(&data);
    } else {
        lmi_report_field(error, s->name, &pose->head, pose->file != NULL ? "file" : "target", "%s", wrong.text);
    }
    free(path);
    return result;
}

lm_result lmi_model_read_poses(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    const scene_list *poses = entry->examples != NULL ? &entry->examples->poses : NULL;
    size_t count = model->mesh.vertex_count;
    if (poses == NULL || entry->mesh == NULL) {
        return LM_OK;
    }
    model->poses = malloc(poses->count * count * sizeof *model->poses);
    lm_result result = model->poses != NULL ? LM_OK : LM_ERROR_MEMORY;
    for (uint32_t k = 0; k < poses->count && result == LM_OK; k++) {
        const scene_pose *pose = LIST_ITEM(scene_pose, *poses, k);
        if (lmi_pose_is_of_file(pose)) {
            result = read_pose(s, entry, pose, model, model->poses + k * count, error);
        }
    }
    return result;
}
