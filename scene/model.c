/* What an entry says its bodies are made of: a shape, a mesh or points; their clusters, zones and surfaces. */
#include "scene/model.h"

#include <stdlib.h>
#include <string.h>

static bool given(const scene_head *head, const char *name) { return lmi_json_get(head->json, name) != NULL; }

void lmi_model_free(body_model *model)
{
    lm_shape_mesh_free(&model->mesh);
    lm_shape_mesh_free(&model->surface);
    free(model->points);
    free(model->masses);
    free(model->shares);
    free(model->stiffness);
    free(model->connections.elements);
    free(model->scaled_surface);
    free(model->offsets);
    free(model->members);
    free(model->scaled);
    free(model->poses);
    free(model->sources);
    free(model->uvs);
    free(model->tet_points);
    free(model->tets);
    free(model->scaled_tet_points);
    free(model->displaced);
}

static double volume_of(const lm_shape_mesh *mesh)
{
    double six = 0.0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        lm_dvec3 a = vector_widen(mesh->vertices[corner[0]]);
        lm_dvec3 b = vector_widen(mesh->vertices[corner[1]]);
        lm_dvec3 c = vector_widen(mesh->vertices[corner[2]]);
        six += vector_dot(a, vector_cross(b, c));
    }
    return six / 6.0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The model
 */

/* A finer surface than the particles carry by themselves. One that the file asks for is the body's true extent, and its
 * mass follows; one only to be looked at changes nothing. */
static lm_result model_add_surface(lm_scene *s, const scene_body_entry *entry, lm_shape_def *def, body_model *model,
                                   lm_scene_error *error)
{
    bool asked = entry->surface != NULL && entry->surface->detail > 0;
    if (!asked && entry->fine_detail == 0) {
        return LM_OK;
    }
    def->detail = asked ? entry->surface->detail : entry->fine_detail;
    lm_result result = lm_shape_make_mesh(def, &model->surface);
    if (result != LM_OK) {
        lmi_report_field(error, s->name, &entry->head, "surface", "%s", lm_result_text(result));
        return result;
    }
    model->drawn_volume = volume_of(&model->surface);
    model->volume = asked ? model->drawn_volume : model->volume;
    model->scaled_surface = malloc(model->surface.vertex_count * sizeof *model->scaled_surface);
    return model->scaled_surface != NULL ? LM_OK : LM_ERROR_MEMORY;
}

/* Points in and on the shape. */
static lm_result fill_shape(lm_scene *s, const scene_body_entry *entry, const lm_shape_def *def, body_model *model,
                            lm_scene_error *error)
{
    if (entry->particles > 0 && entry->particles < model->mesh.vertex_count) {
        lmi_report_field(error, s->name, &entry->head, "particles",
                         "is %u (expected at least %u, the vertices of the surface; a smaller \"detail\" has fewer)",
                         (unsigned)entry->particles, (unsigned)model->mesh.vertex_count);
        return LM_ERROR_ARGUMENT;
    }
    lm_shape_cloud cloud;
    lm_result result = lm_shape_make_cloud(def, &model->mesh, entry->particles, &cloud);
    if (result != LM_OK) {
        lmi_report_field(error, s->name, &entry->head, "shape", "%s", lm_result_text(result));
        return result;
    }
    model->points = cloud.points;
    model->point_count = cloud.point_count;
    return LM_OK;
}

/* The surface that the file asks for is what a lattice or tetrahedra are made of. */
static lm_result model_from_shape(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    const scene_shape *shape = entry->shape;
    bool asked = entry->surface != NULL && entry->surface->detail > 0;
    lm_shape_def def = lm_shape_def_default();
    def.name = lm_shape_name(shape->name);
    def.size = vector_narrow(lmi_size_of_shape(shape));
    def.detail = is_divided(entry) && asked ? entry->surface->detail : shape->detail;
    lm_result result = lm_shape_make_mesh(&def, &model->mesh);
    if (result != LM_OK) {
        lmi_report_field(error, s->name, &entry->head, "shape", "%s (expected a size from 1e-6 to 1e6 m)",
                         lm_result_text(result));
        return result;
    }
    model->closed = true;
    model->volume = volume_of(&model->mesh);
    model->drawn_volume = model->volume;
    result = !is_divided(entry) ? fill_shape(s, entry, &def, model, error)
                                : lmi_model_read_tets(s, entry, (placing){lm_dvec3_zero(), 1.0}, model, error);
    if (result != LM_OK || (is_divided(entry) && asked)) {
        return result;
    }
    return model_add_surface(s, entry, &def, model, error);
}

static lm_result model_from_points(const scene_body_entry *entry, body_model *model)
{
    uint32_t count = entry->points.count;
    model->points = malloc(count * sizeof *model->points);
    if (model->points == NULL) {
        return LM_ERROR_MEMORY;
    }
    model->point_count = count;
    for (uint32_t i = 0; i < count; i++) {
        model->points[i] = vector_narrow(*LIST_ITEM(lm_dvec3, entry->points, i));
    }
    if (entry->masses.count > 0) {
        model->masses = malloc(count * sizeof *model->masses);
        if (model->masses == NULL) {
            return LM_ERROR_MEMORY;
        }
        for (uint32_t i = 0; i < count; i++) {
            model->masses[i] = (float)*LIST_ITEM(double, entry->masses, i);
        }
    }
    return LM_OK;
}

/* The entry's own cluster lists, as offsets and members. */
static lm_result model_add_lists(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    const scene_clusters *clusters = entry->clusters;
    if (clusters == NULL || clusters->lists.count == 0) {
        return LM_OK;
    }
    size_t total = 0;
    for (uint32_t i = 0; i < clusters->lists.count; i++) {
        total += LIST_ITEM(scene_list, clusters->lists, i)->count;
    }
    model->offsets = malloc((clusters->lists.count + 1u) * sizeof *model->offsets);
    model->members = malloc((total + 1) * sizeof *model->members);
    if (model->offsets == NULL || model->members == NULL) {
        return LM_ERROR_MEMORY;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < clusters->lists.count; i++) {
        const scene_list *list = LIST_ITEM(scene_list, clusters->lists, i);
        model->offsets[i] = used;
        for (uint32_t k = 0; k < list->count; k++) {
            uint32_t index = *LIST_ITEM(uint32_t, *list, k);
            if (index >= model->point_count) {
                const json_value *value = lmi_json_at(lmi_json_at(lmi_json_get(clusters->head.json, "lists"), i), k);
                lmi_report(error, lmi_report_at(s->name, value, clusters->head.path),
                           "lists[%u][%u] is %u (expected a particle below %u)", (unsigned)i, (unsigned)k,
                           (unsigned)index, (unsigned)model->point_count);
                return LM_ERROR_ARGUMENT;
            }
            model->members[used++] = index;
        }
    }
    model->offsets[clusters->lists.count] = used;
    return LM_OK;
}

/* Neighbours for the clusters that need them. */
static lm_result model_connect(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    const scene_clusters *clusters = entry->clusters;
    if (clusters == NULL || !given(&clusters->head, "each")) {
        return clusters != NULL && clusters->elements.count > 0
                   ? lmi_connect_lists(&clusters->elements, &model->connections)
                   : LM_OK;
    }
    if (clusters->elements.count > 0) {
        return lmi_connect_lists(&clusters->elements, &model->connections);
    }
    if (clusters->each == EACH_PARTICLE) {
        return lmi_connect_edges(&model->mesh, model->points, model->point_count, &model->connections);
    }
    if (model->point_count > model->mesh.vertex_count) {
        lmi_report_field(error, s->name, &clusters->head, "each",
                         "leaves %u inner particles alone (expected \"particles\": %u, those of the surface)",
                         (unsigned)(model->point_count - model->mesh.vertex_count), (unsigned)model->mesh.vertex_count);
        return LM_ERROR_ARGUMENT;
    }
    return clusters->each == EACH_EDGE
               ? lmi_connect_edges(&model->mesh, model->points, model->point_count, &model->connections)
               : lmi_connect_triangles(&model->mesh, &model->connections);
}

/* Zones are given at the entry's own size: copies of another size have them where they belong. */
static lm_result model_add_zones(const scene_body_entry *entry, body_model *model)
{
    uint32_t count = model->point_count;
    if (entry->mass_zones.count > 0) {
        model->shares = malloc(count * sizeof *model->shares);
        if (model->shares == NULL) {
            return LM_ERROR_MEMORY;
        }
        double sum = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            model->shares[i] = lmi_zone_value(&entry->mass_zones, model->points[i]);
            sum += model->shares[i];
        }
        for (uint32_t i = 0; i < count; i++) {
            model->shares[i] /= sum;
        }
        model->masses = malloc(count * sizeof *model->masses);
    }
    if (entry->stiffness_zones.count > 0) {
        model->stiffness = malloc(count * sizeof *model->stiffness);
        if (model->stiffness == NULL) {
            return LM_ERROR_MEMORY;
        }
        for (uint32_t i = 0; i < count; i++) {
            model->stiffness[i] = (float)lmi_zone_value(&entry->stiffness_zones, model->points[i]);
        }
    }
    return model->shares != NULL && model->masses == NULL ? LM_ERROR_MEMORY : LM_OK;
}

lm_result lmi_model_make(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    lm_result result = entry->shape != NULL  ? model_from_shape(s, entry, model, error)
                       : entry->mesh != NULL ? lmi_model_read_mesh(s, entry, model, error)
                                             : model_from_points(entry, model);
    if (!is_divided(entry)) {
        result = result ? result : model_add_lists(s, entry, model, error);
        result = result ? result : model_connect(s, entry, model, error);
        result = result ? result : model_add_zones(entry, model);
    }
    result = result ? result : lmi_model_read_poses(s, entry, model, error);
    if (result != LM_OK) {
        return result;
    }
    size_t count = is_divided(entry) ? model->mesh.vertex_count : model->point_count;
    model->scaled = malloc(count * sizeof *model->scaled);
    model->displaced = !is_divided(entry) ? malloc(count * sizeof *model->displaced) : NULL;
    return model->scaled == NULL || (!is_divided(entry) && model->displaced == NULL) ? LM_ERROR_MEMORY : LM_OK;
}

lm_result lmi_model_keep_colours(lm_scene *s, scene_body_entry *entry, const body_model *model)
{
    const lm_shape_mesh *surface = model->surface.vertex_count > 0 ? &model->surface : &model->mesh;
    size_t size = surface->colours != NULL ? surface->vertex_count * sizeof *surface->colours : 0;
    if (entry->own_colours.count != surface->vertex_count && size > 0) {
        entry->own_colours.items = lmi_json_allocate(s->document, size);
        if (entry->own_colours.items == NULL) {
            return LM_ERROR_MEMORY;
        }
        memcpy(entry->own_colours.items, surface->colours, size);
        entry->own_colours.count = surface->vertex_count;
    }
    return LM_OK;
}

lm_result lmi_model_keep_texture(lm_scene *s, scene_body_entry *entry, const body_model *model)
{
    const lm_shape_mesh *mesh = &model->mesh;
    if (model->uvs == NULL || model->surface.vertex_count > 0 || entry->own_texture.uvs != NULL) {
        return LM_OK;
    }
    size_t corners = 3 * (size_t)mesh->triangle_count;
    float *uvs = lmi_json_allocate(s->document, 2 * corners * sizeof *uvs);
    uint32_t *triangles = lmi_json_allocate(s->document, corners * sizeof *triangles);
    if (uvs == NULL || triangles == NULL) {
        return LM_ERROR_MEMORY;
    }
    memcpy(uvs, model->uvs, 2 * corners * sizeof *uvs);
    memcpy(triangles, mesh->triangles, corners * sizeof *triangles);
    entry->own_texture = (lm_scene_texture){triangles, uvs, mesh->triangle_count, mesh->vertex_count};
    return LM_OK;
}
