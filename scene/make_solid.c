/* The arrays of a collider that is a height map or a mesh: values, a formula or a picture; a file, a model or a list. */
#include "io/png.h"
#include "scene/formula.h"
#include "scene/model.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES 4096u /* along an axis, as in the table of the format */

/* ------------------------------------------------------------------------------------------------------------------
 * Height maps
 */

static double spacing_of(const scene_heights *from, uint32_t columns)
{
    return from->size > 0.0 && columns > 1 ? from->size / (columns - 1.0) : from->spacing;
}

static lm_result fill_by_formula(lm_scene *s, const scene_heights *from, float *heights, lm_scene_error *error)
{
    double spacing = spacing_of(from, from->columns);
    for (uint32_t i = 0; i < from->columns * from->rows; i++) {
        double x = (i % from->columns - 0.5 * (from->columns - 1.0)) * spacing;
        double z = ((double)(i / from->columns) - 0.5 * (from->rows - 1.0)) * spacing, value;
        formula_error wrong;
        if (!lmi_formula_value(from->formula, x, z, &value, &wrong)) {
            lmi_report_field(error, s->name, &from->head, "formula", "is wrong at its character %u (expected %s)",
                             wrong.column, wrong.text);
            return LM_ERROR_ARGUMENT;
        }
        if (!(fabs(value) <= 1e6)) {
            lmi_report_field(error, s->name, &from->head, "formula",
                             "is %g at x = %g, z = %g (expected at most 1000000 in size)", value, x, z);
            return LM_ERROR_ARGUMENT;
        }
        heights[i] = (float)value;
    }
    return LM_OK;
}

/* The errors of a picture are those of its own file. */
static lm_result read_picture(lm_scene *s, const scene_heights *from, solid_arrays *arrays, lm_scene_error *error)
{
    png_picture picture;
    png_error wrong;
    char *path = lmi_scene_file_path(s, from->file);
    if (path == NULL) {
        return LM_ERROR_MEMORY;
    }
    bool read = lmi_png_read_file(path, MOST_SAMPLES, &picture, &wrong);
    free(path);
    if (!read) {
        lmi_report_field(error, s->name, &from->head, "file", "%s", wrong.text);
        return LM_ERROR_ARGUMENT;
    }
    arrays->columns = picture.columns;
    arrays->rows = picture.rows;
    uint32_t count = picture.columns * picture.rows;
    arrays->heights = malloc(count * sizeof *arrays->heights);
    for (uint32_t i = 0; i < count && arrays->heights != NULL; i++) {
        arrays->heights[i] = (float)(from->height * picture.grey[i] / 65535.0);
    }
    lmi_png_free(&picture);
    if (arrays->heights != NULL && (arrays->columns < 2 || arrays->rows < 2)) {
        lmi_report_field(error, s->name, &from->head, "file",
                         "has %u columns and %u rows (expected at least 2 of each)", (unsigned)arrays->columns,
                         (unsigned)arrays->rows);
        return LM_ERROR_ARGUMENT;
    }
    return arrays->heights != NULL ? LM_OK : LM_ERROR_MEMORY;
}

static lm_result make_heights(lm_scene *s, const scene_heights *from, solid_arrays *arrays, lm_scene_error *error)
{
    if (from->file != NULL) {
        return read_picture(s, from, arrays, error);
    }
    uint32_t count = from->columns * from->rows;
    arrays->columns = from->columns;
    arrays->rows = from->rows;
    arrays->heights = malloc(count * sizeof *arrays->heights);
    if (arrays->heights == NULL) {
        return LM_ERROR_MEMORY;
    }
    if (from->formula != NULL) {
        return fill_by_formula(s, from, arrays->heights, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        arrays->heights[i] = (float)*LIST_ITEM(double, from->values, i);
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

static lm_result list_mesh(const scene_collider *from, lm_shape_mesh *mesh)
{
    mesh->vertices = malloc(from->vertices.count * sizeof *mesh->vertices);
    mesh->triangles = malloc(3 * (size_t)from->triangles.count * sizeof *mesh->triangles);
    if (mesh->vertices == NULL || mesh->triangles == NULL) {
        return LM_ERROR_MEMORY;
    }
    mesh->vertex_count = from->vertices.count;
    mesh->triangle_count = from->triangles.count;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        mesh->vertices[i] = vector_narrow(*LIST_ITEM(lm_dvec3, from->vertices, i));
    }
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const scene_list *corners = LIST_ITEM(scene_list, from->triangles, i);
        for (uint32_t k = 0; k < 3; k++) {
            mesh->triangles[3 * (size_t)i + k] = *LIST_ITEM(uint32_t, *corners, k);
        }
    }
    return LM_OK;
}

static lm_result make_mesh(lm_scene *s, scene_collider *from, lm_shape_mesh *mesh, lm_scene_error *error)
{
    if (from->mesh != NULL) {
        mesh_origins origins = {.sources = NULL};
        lm_result result = lmi_mesh_of_file(s, from->mesh, mesh, &origins, error);
        result = result ? result : lmi_collider_motion_read(s, from, &origins, mesh, error);
        free(origins.sources);
        return result;
    }
    if (from->model == NULL) {
        return list_mesh(from, mesh);
    }
    lm_shape_def def = lm_shape_def_default();
    def.name = lm_shape_name(from->model->name);
    def.size = vector_narrow(lmi_size_of_shape(from->model));
    def.detail = from->model->detail;
    return lm_shape_make_mesh(&def, mesh);
}

lm_result lmi_solid_arrays_make(lm_scene *s, scene_collider *from, solid_arrays *arrays, lm_collider_def *def,
                                lm_scene_error *error)
{
    *arrays = (solid_arrays){0};
    lm_result result = LM_OK;
    if (from->shape == LM_SHAPE_HEIGHTS) {
        const scene_heights *h = from->heights;
        result = make_heights(s, h, arrays, error);
        float spacing = (float)spacing_of(h, arrays->columns);
        def->heights = (lm_heights){arrays->heights, {arrays->columns, arrays->rows}, spacing};
    } else if (from->shape == LM_SHAPE_MESH) {
        const lm_shape_mesh *m = &arrays->mesh;
        result = make_mesh(s, from, &arrays->mesh, error);
        def->mesh = (lm_collider_mesh){m->vertices,       m->vertex_count, m->triangles,
                                       m->triangle_count, from->solid,     from->cache != NULL};
    }
    bool told = result == LM_ERROR_ARGUMENT && (from->shape == LM_SHAPE_HEIGHTS || from->mesh != NULL);
    if (result != LM_OK && !told) {
        lmi_report_field(error, s->name, &from->head, NULL, "%s", lm_result_text(result));
    }
    return result;
}

void lmi_solid_arrays_free(solid_arrays *arrays)
{
    free(arrays->heights);
    lm_shape_mesh_free(&arrays->mesh);
    *arrays = (solid_arrays){0};
}
