/*
 * The mesh of a body from a file: read, freed of what nobody sees, scaled, and moved to the body's origin.
 */
#include "scene/model.h"
#include "support/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lmi_scene_file_path(const lm_scene *s, const char *file)
{
    size_t folder = lmi_system_is_absolute(file) ? 0 : (size_t)(lmi_system_last_part(s->name) - s->name);
    size_t length = strlen(file);
    char *path = malloc(folder + length + 1);
    if (path != NULL) {
        memcpy(path, s->name, folder);
        memcpy(path + folder, file, length + 1);
    }
    return path;
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is kept of a file
 */

static bool has_area(const lm_mesh_data *from, const uint32_t *corner)
{
    lm_dvec3 a = vector_widen(from->positions[corner[0]]);
    lm_dvec3 u = vector_subtract(vector_widen(from->positions[corner[1]]), a);
    lm_dvec3 v = vector_subtract(vector_widen(from->positions[corner[2]]), a);
    lm_dvec3 n = vector_cross(u, v);
    return n.x != 0.0 || n.y != 0.0 || n.z != 0.0;
}

/* Faces with an area, and the vertices that they use: a stray vertex far away would only enlarge the box. `places` says
 * where each vertex goes, or is UINT32_MAX. */
static uint32_t choose(const lm_mesh_data *from, uint32_t *places, uint32_t *triangles, float *uvs)
{
    uint32_t vertices = 0, kept = 0;
    memset(places, 0xff, from->vertex_count * sizeof *places);
    for (uint32_t t = 0; t < from->triangle_count; t++) {
        const uint32_t *corner = from->triangles + 3 * (size_t)t;
        if (!has_area(from, corner)) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            uint32_t *place = &places[corner[i]];
            *place = *place == UINT32_MAX ? vertices++ : *place;
            triangles[3 * (size_t)kept + (size_t)i] = *place;
        }
        if (uvs != NULL) {
            memcpy(uvs + 6 * (size_t)kept, from->uvs + 6 * (size_t)t, 6 * sizeof *uvs);
        }
        kept++;
    }
    return kept;
}

/* What was read of a file: the mesh that is kept, and which vertices of the file its vertices are. */
typedef struct kept_mesh {
    lm_shape_mesh mesh;
    uint32_t *sources;
    uint32_t source_count; /* vertices in the file */
    float *uvs;            /* two for each corner of each triangle, or null */
} kept_mesh;

static void kept_mesh_free(kept_mesh *kept)
{
    lm_shape_mesh_free(&kept->mesh);
    free(kept->sources);
    free(kept->uvs);
}

static lm_result keep(const lm_mesh_data *from, kept_mesh *kept)
{
    lm_shape_mesh *mesh = &kept->mesh;
    uint32_t *places = malloc(from->vertex_count * sizeof *places);
    kept->sources = malloc(from->vertex_count * sizeof *kept->sources);
    kept->source_count = from->vertex_count + from->welded;
    mesh->triangles = malloc(3 * (size_t)from->triangle_count * sizeof *mesh->triangles);
    mesh->vertices = malloc(from->vertex_count * sizeof *mesh->vertices);
    mesh->colours = from->colours != NULL ? malloc(from->vertex_count * sizeof *mesh->colours) : NULL;
    kept->uvs = from->uvs != NULL ? malloc(6 * ((size_t)from->triangle_count + 1) * sizeof *kept->uvs) : NULL;
    bool room = places != NULL && kept->sources != NULL && mesh->triangles != NULL && mesh->vertices != NULL &&
                (from->colours == NULL || mesh->colours != NULL) && (from->uvs == NULL || kept->uvs != NULL);
    if (room) {
        mesh->triangle_count = choose(from, places, mesh->triangles, kept->uvs);
    }
    for (uint32_t i = 0; room && i < from->vertex_count; i++) {
        uint32_t place = places[i];
        if (place == UINT32_MAX) {
            continue;
        }
        mesh->vertices[place] = from->positions[i];
        kept->sources[place] = from->sources != NULL ? from->sources[i] : i;
        if (from->colours != NULL) {
            memcpy(&mesh->colours[place], from->colours + 3 * (size_t)i, 3);
        }
        mesh->vertex_count++;
    }
    free(places);
    return room ? LM_OK : LM_ERROR_MEMORY;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Size and place
 */

static scene_box empty_box(void)
{
    return (scene_box){.min = vector(INFINITY, INFINITY, INFINITY), .max = vector(-INFINITY, -INFINITY, -INFINITY)};
}

static void enclose(scene_box *box, lm_vec3 point)
{
    lm_dvec3 p = vector_widen(point);
    box->min = vector(fmin(box->min.x, p.x), fmin(box->min.y, p.y), fmin(box->min.z, p.z));
    box->max = vector(fmax(box->max.x, p.x), fmax(box->max.y, p.y), fmax(box->max.z, p.z));
}

static double longest_side(const scene_box *box)
{
    lm_dvec3 size = vector_subtract(box->max, box->min);
    return fmax(size.x, fmax(size.y, size.z));
}

double lmi_mesh_longest_side(const lm_mesh_data *mesh)
{
    scene_box box = empty_box();
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        for (int i = 0; i < 3 && has_area(mesh, corner); i++) {
            enclose(&box, mesh->positions[corner[i]]);
        }
    }
    return longest_side(&box);
}

static placing place_of(const scene_mesh *wanted, const lm_shape_mesh *mesh)
{
    scene_box box = empty_box();
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        enclose(&box, mesh->vertices[i]);
    }
    double scale = wanted->longest > 0.0 ? wanted->longest / longest_side(&box) : 1.0;
    lm_dvec3 from = vector_scale(vector_add(box.min, box.max), 0.5);
    if (wanted->origin == ORIGIN_BOTTOM) {
        from.y = box.min.y;
    } else if (wanted->origin == ORIGIN_FILE) {
        from = lm_dvec3_zero();
    }
    return (placing){from, scale};
}

void lmi_place_points(placing placed, lm_vec3 *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        lm_dvec3 p = vector_subtract(vector_widen(points[i]), placed.from);
        points[i] = vector_narrow(vector_scale(p, placed.scale));
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of it
 */

/* The file of the scene that is made for it alone was read to make that. */
static bool is_at_hand(const lm_scene *s, const scene_mesh *wanted)
{
    return s->mesh.vertex_count > 0 && wanted->up == 0 && wanted->weld == 0.0;
}

static lm_result read_file(const lm_scene *s, const scene_mesh *wanted, kept_mesh *kept, lm_scene_error *error)
{
    if (is_at_hand(s, wanted)) {
        return keep(&s->mesh, kept);
    }
    char *path = lmi_scene_file_path(s, wanted->file);
    if (path == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_mesh_options options = {.weld = (float)wanted->weld, .z_up = wanted->up == 1, .surface = true};
    lm_mesh_data data;
    lm_mesh_error wrong;
    lm_result result = LM_ERROR_ARGUMENT;
    if (lm_mesh_read(path, &options, &data, &wrong)) {
        result = keep(&data, kept);
        lm_mesh_free(&data);
    } else {
        lmi_report_field(error, s->name, &wanted->head, "file", "%s", wrong.text);
    }
    free(path);
    return result;
}

/* Only a closed surface has a volume; tetrahedra always have one. */
static lm_result measure(const lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    const lm_shape_mesh *mesh = &model->mesh;
    lm_mesh_report report;
    lm_result result =
        lm_mesh_inspect(mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count, &report);
    if (result != LM_OK) {
        return result;
    }
    bool closed = report.closed && report.volume > 0.0;
    model->drawn_volume = closed ? report.volume : 0.0;
    if (model->tet_count == 0) {
        model->closed = closed;
        model->volume = model->drawn_volume;
    }
    if (!model->closed && lmi_json_get(entry->head.json, "density") != NULL) {
        lmi_report_field(error, s->name, &entry->head, "density",
                         "the mesh is open or inside out, and has no volume (expected \"mass\")");
        return LM_ERROR_ARGUMENT;
    }
    return LM_OK;
}

static lm_result read_placed(const lm_scene *s, const scene_mesh *wanted, kept_mesh *kept, placing *placed,
                             lm_scene_error *error)
{
    lm_result result = read_file(s, wanted, kept, error);
    if (result == LM_OK) {
        *placed = place_of(wanted, &kept->mesh);
        lmi_place_points(*placed, kept->mesh.vertices, kept->mesh.vertex_count);
    }
    return result;
}

lm_result lmi_mesh_of_file(const lm_scene *s, const scene_mesh *wanted, lm_shape_mesh *mesh, mesh_origins *origins,
                           lm_scene_error *error)
{
    placing placed;
    kept_mesh kept = {.sources = NULL};
    lm_result result = read_placed(s, wanted, &kept, &placed, error);
    if (result == LM_OK) {
        *mesh = kept.mesh;
        kept.mesh = (lm_shape_mesh){.vertices = NULL};
    }
    if (result == LM_OK && origins != NULL) {
        *origins = (mesh_origins){kept.sources, kept.source_count, placed};
        kept.sources = NULL;
    }
    kept_mesh_free(&kept);
    return result;
}

lm_result lmi_model_read_mesh(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error)
{
    placing placed;
    kept_mesh kept = {.sources = NULL};
    lm_result result = read_placed(s, entry->mesh, &kept, &placed, error);
    model->mesh = kept.mesh;
    model->sources = kept.sources;
    model->uvs = kept.uvs;
    model->source_count = kept.source_count;
    model->mesh_scale = result == LM_OK ? placed.scale : 1.0;
    model->mesh_from = result == LM_OK ? placed.from : lm_dvec3_zero();
    result = result ? result : lmi_model_read_tets(s, entry, placed, model, error);
    return result ? result : measure(s, entry, model, error);
}
