/*
 * Primitives of a glTF mesh: lists, strips and fans of triangles; points and lines are passed over.
 *
 * Only vertices that a primitive uses are added: many files let all primitives share one long accessor.
 */
#include "io/gltf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_TRIANGLES = 4, MODE_STRIP, MODE_FAN };

typedef struct gltf_primitive {
    uint64_t mesh, number; /* in messages */
    const json_value *object;
    uint64_t mode;
    gltf_array positions, normals, colours, uvs, indices; /* without values where the file has none */
    double base_colour[3];                                /* linear; of the material */
    bool has_base_colour;
} gltf_primitive;

static bool fail_primitive(gltf_file *file, const gltf_primitive *primitive, const char *what)
{
    return lmi_gltf_fail(file, primitive->object, "mesh %llu: primitive %llu: %s", (unsigned long long)primitive->mesh,
                         (unsigned long long)primitive->number, what);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Reading
 */

/* An attribute such as "NORMAL"; nothing when the primitive has none. */
static bool read_attribute(gltf_file *file, const gltf_primitive *primitive, const char *name, gltf_array *array)
{
    const json_value *attributes = lmi_json_get(primitive->object, "attributes");
    uint64_t accessor;
    if (!lmi_gltf_take_number(file, &file->meshes, primitive->mesh, attributes, name, file->accessors.count, GLTF_NONE,
                              &accessor))
        return false;
    if (accessor == GLTF_NONE) return true;
    if (!lmi_gltf_read_accessor(file, accessor, array)) return false;
    if (array->components < 3 || array->components > 4)
        return fail_primitive(file, primitive, "an attribute that is not VEC3 or VEC4");
    if (primitive->positions.values && array->count != primitive->positions.count)
        return fail_primitive(file, primitive, "its attributes have different counts");
    return true;
}

static bool read_indices(gltf_file *file, gltf_primitive *primitive)
{
    uint64_t accessor;
    if (!lmi_gltf_take_number(file, &file->meshes, primitive->mesh, primitive->object, "indices", file->accessors.count,
                              GLTF_NONE, &accessor))
        return false;
    if (accessor == GLTF_NONE) return true;
    gltf_array *indices = &primitive->indices;
    if (!lmi_gltf_read_accessor(file, accessor, indices)) return false;
    if (!indices->whole || indices->components != 1)
        return fail_primitive(file, primitive, "its indices are not whole numbers");
    for (uint32_t i = 0; i < indices->count; i++)
        if (!(indices->values[i] >= 0.0 && indices->values[i] < primitive->positions.count))
            return lmi_gltf_fail(file, primitive->object,
                                 "mesh %llu: primitive %llu: index %u names vertex %.0f, there are %u",
                                 (unsigned long long)primitive->mesh, (unsigned long long)primitive->number, i,
                                 indices->values[i], primitive->positions.count);
    return true;
}

static bool read_base_colour(gltf_file *file, gltf_primitive *primitive)
{
    uint64_t material;
    if (!lmi_gltf_take_number(file, &file->meshes, primitive->mesh, primitive->object, "material",
                              file->materials.count, GLTF_NONE, &material))
        return false;
    if (material == GLTF_NONE) return true;
    const json_value *surface = lmi_json_get(file->materials.items[material], "pbrMetallicRoughness");
    const json_value *factor = lmi_json_get(surface, "baseColorFactor");
    for (uint32_t i = 0; factor && i < 3; i++) {
        const json_value *value = lmi_json_at(factor, i);
        if (!value || value->kind != JSON_KIND_NUMBER)
            return lmi_gltf_fail(file, factor, "material %llu: baseColorFactor is not four numbers",
                                 (unsigned long long)material);
        primitive->base_colour[i] = value->number;
    }
    primitive->has_base_colour = factor != NULL;
    return true;
}

static void free_primitive(gltf_primitive *primitive)
{
    free(primitive->positions.values);
    free(primitive->normals.values);
    free(primitive->colours.values);
    free(primitive->uvs.values);
    free(primitive->indices.values);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Vertices
 */

static double to_srgb(double linear)
{
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
}

/* Where a node puts its mesh. Normals are turned by the cofactors of the matrix, which are the transposed inverse but
 * for a factor; where the matrix mirrors, that factor is negative, and triangles turn the other way round. */
typedef struct gltf_placing {
    const gltf_matrix *points;
    double normals[3][3];
    bool mirrored;
} gltf_placing;

static gltf_placing make_placing(const gltf_matrix *place)
{
    gltf_placing placing = {.points = place};
    double determinant = 0.0;
    for (int i = 0; i < 3; i++) {
        const double *a = place->m[(i + 1) % 3], *b = place->m[(i + 2) % 3];
        for (int j = 0; j < 3; j++) {
            int k = (j + 1) % 3, l = (j + 2) % 3;
            placing.normals[i][j] = a[k] * b[l] - a[l] * b[k];
        }
    }
    for (int j = 0; j < 3; j++) determinant += place->m[0][j] * placing.normals[0][j];
    placing.mirrored = determinant < 0.0;
    return placing;
}

static lm_vec3 place_point(const gltf_placing *placing, const double *p)
{
    double q[3];
    for (int i = 0; i < 3; i++) {
        const double *row = placing->points->m[i];
        q[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
    }
    return (lm_vec3){(float)q[0], (float)q[1], (float)q[2]};
}

static lm_vec3 place_normal(const gltf_placing *placing, const double *n)
{
    double q[3], largest = 0.0;
    for (int i = 0; i < 3; i++) {
        const double *row = placing->normals[i];
        q[i] = row[0] * n[0] + row[1] * n[1] + row[2] * n[2];
        largest = fmax(largest, fabs(q[i]));
    }
    double scale = largest > 0.0 && isfinite(largest) ? 1.0 / largest : 0.0; /* so that it fits into floats */
    if (placing->mirrored) scale = -scale;
    return (lm_vec3){(float)(q[0] * scale), (float)(q[1] * scale), (float)(q[2] * scale)};
}

static bool keep_origin(gltf_file *file, const gltf_primitive *primitive, uint32_t vertex)
{
    if (!file->keeps_origins) return true;
    size_t count = file->reader->mesh.vertex_count;
    gltf_origin *origins = lmi_mesh_grow(file->origins, &file->origin_capacity, count, sizeof *origins);
    if (!origins) return lmi_mesh_reader_out_of_memory(file->reader);
    file->origins = origins;
    origins[count - 1] = (gltf_origin){primitive->object, file->node, (uint32_t)primitive->mesh, vertex};
    return true;
}

static bool add_vertex(gltf_file *file, const gltf_primitive *primitive, const gltf_placing *placing, uint32_t vertex)
{
    mesh_reader *reader = file->reader;
    const double *position = primitive->positions.values + (size_t)vertex * primitive->positions.components;
    reader->line = file->has_lines ? primitive->object->place.line : 0;
    if (!lmi_mesh_reader_add_vertex(reader, place_point(placing, position)) || !keep_origin(file, primitive, vertex))
        return false;
    if (primitive->normals.values) {
        const double *normal = primitive->normals.values + (size_t)vertex * primitive->normals.components;
        if (!lmi_mesh_reader_set_normal(reader, place_normal(placing, normal))) return false;
    }
    if (!primitive->colours.values && !primitive->has_base_colour) return true;
    uint8_t colour[3];
    for (int i = 0; i < 3; i++) {
        double linear = primitive->has_base_colour ? primitive->base_colour[i] : 1.0;
        if (primitive->colours.values)
            linear *= primitive->colours.values[(size_t)vertex * primitive->colours.components + (size_t)i];
        colour[i] = lmi_mesh_colour_byte(to_srgb(linear));
    }
    return lmi_mesh_reader_set_colour(reader, colour);
}

/* Adds the vertices that are used, in their order. target[i] becomes where vertex i went. */
static bool add_vertices(gltf_file *file, const gltf_primitive *primitive, const gltf_placing *placing,
                         uint32_t *target)
{
    const gltf_array *indices = &primitive->indices;
    uint32_t count = primitive->positions.count, used = 0;
    for (uint32_t i = 0; i < count; i++) target[i] = indices->values ? 0 : 1;
    for (uint32_t i = 0; indices->values && i < indices->count; i++) target[(uint32_t)indices->values[i]] = 1;
    for (uint32_t i = 0; i < count; i++) used += target[i];

    bool colours = primitive->colours.values || primitive->has_base_colour;
    if (!lmi_mesh_reader_reserve(file->reader, used, primitive->normals.values, colours)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!target[i]) continue;
        target[i] = file->reader->mesh.vertex_count;
        if (!add_vertex(file, primitive, placing, i)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Triangles
 */

/* The three corners of triangle t, by their place in the list of indices. */
static void find_corners(uint64_t mode, uint32_t t, uint32_t corner[3])
{
    if (mode == MODE_TRIANGLES)
        corner[0] = 3 * t, corner[1] = 3 * t + 1, corner[2] = 3 * t + 2;
    else if (mode == MODE_STRIP)
        corner[0] = t, corner[1] = t + 1 + t % 2, corner[2] = t + 2 - t % 2;
    else
        corner[0] = 0, corner[1] = t + 1, corner[2] = t + 2;
}

static bool add_triangles(gltf_file *file, const gltf_primitive *primitive, const gltf_matrix *place, uint32_t *target)
{
    const gltf_array *indices = &primitive->indices;
    uint32_t length = indices->values ? indices->count : primitive->positions.count;
    uint32_t count = primitive->mode == MODE_TRIANGLES ? length / 3 : length < 3 ? 0 : length - 2;
    uint64_t allowance = file->total_size > GLTF_LEAST_ALLOWANCE ? file->total_size : GLTF_LEAST_ALLOWANCE;
    const lm_mesh_data *mesh = &file->reader->mesh;
    if ((uint64_t)mesh->triangle_count + count > allowance || (uint64_t)mesh->vertex_count + length > 3 * allowance)
        return lmi_gltf_fail(file, NULL, "its meshes are placed so often that they make more than %llu triangles",
                             (unsigned long long)allowance);
    gltf_placing placing = make_placing(place);
    if (!add_vertices(file, primitive, &placing, target)) return false;
    uint32_t *triangles = lmi_mesh_reader_add_triangles(file->reader, count);
    if (!triangles) return false;
    for (uint32_t t = 0; t < count; t++) {
        uint32_t corner[3];
        find_corners(primitive->mode, t, corner);
        for (int c = 0; c < 3; c++) {
            uint32_t at = corner[placing.mirrored ? 2 - c : c];
            triangles[3 * (size_t)t + (size_t)c] = target[indices->values ? (uint32_t)indices->values[at] : at];
        }
    }
    return true;
}

/* Texture coordinates of the triangles from `first` on. In the file v points down. */
static bool add_uvs(gltf_file *file, const gltf_primitive *primitive, uint32_t first, const gltf_matrix *place)
{
    const gltf_array *from = &primitive->uvs, *indices = &primitive->indices;
    float *uvs = lmi_mesh_reader_uvs(file->reader, first);
    if (!uvs) return false;
    bool mirrored = make_placing(place).mirrored;
    for (uint32_t t = first; t < file->reader->mesh.triangle_count; t++) {
        uint32_t corner[3];
        find_corners(primitive->mode, t - first, corner);
        for (int c = 0; c < 3; c++, uvs += 2) {
            uint32_t at = corner[mirrored ? 2 - c : c];
            const double *uv = from->values + 2 * (size_t)(indices->values ? (uint32_t)indices->values[at] : at);
            uvs[0] = fabs(uv[0]) <= 1e6 ? (float)uv[0] : 0.0f;
            uvs[1] = fabs(uv[1]) <= 1e6 ? (float)(1.0 - uv[1]) : 0.0f;
        }
    }
    return true;
}

/* TEXCOORD_0, where it is two numbers for each position; anything else is passed over. */
static bool read_uvs(gltf_file *file, gltf_primitive *primitive)
{
    uint64_t accessor;
    gltf_array *uvs = &primitive->uvs;
    if (!lmi_gltf_take_number(file, &file->meshes, primitive->mesh, lmi_json_get(primitive->object, "attributes"),
                              "TEXCOORD_0", file->accessors.count, GLTF_NONE, &accessor))
        return false;
    if (accessor == GLTF_NONE) return true;
    if (!lmi_gltf_read_accessor(file, accessor, uvs)) return false;
    if (uvs->components != 2 || uvs->count != primitive->positions.count) {
        free(uvs->values);
        uvs->values = NULL;
    }
    return true;
}

static bool add_primitive(gltf_file *file, gltf_primitive *primitive, const gltf_matrix *place)
{
    if (!lmi_gltf_take_number(file, &file->meshes, primitive->mesh, primitive->object, "mode", 7, MODE_TRIANGLES,
                              &primitive->mode))
        return false;
    if (primitive->mode < MODE_TRIANGLES) return true; /* points and lines */
    if (!read_attribute(file, primitive, "POSITION", &primitive->positions)) return false;
    if (!primitive->positions.values) return true;
    if (!lmi_gltf_morph(file, primitive->mesh, primitive->number, primitive->object, &primitive->positions))
        return false;
    if (!read_attribute(file, primitive, "NORMAL", &primitive->normals) ||
        !read_attribute(file, primitive, "COLOR_0", &primitive->colours) || !read_indices(file, primitive) ||
        !read_uvs(file, primitive) || !read_base_colour(file, primitive))
        return false;
    uint32_t *target = malloc(((size_t)primitive->positions.count + 1) * sizeof *target);
    if (!target) return lmi_mesh_reader_out_of_memory(file->reader);
    uint32_t first = file->reader->mesh.triangle_count;
    bool added = add_triangles(file, primitive, place, target);
    free(target);
    return added && (!primitive->uvs.values || add_uvs(file, primitive, first, place));
}

bool lmi_gltf_add_mesh(gltf_file *file, uint64_t index, const gltf_matrix *place)
{
    const json_value *object = file->meshes.items[index], *primitives = lmi_json_get(object, "primitives");
    if (!primitives || primitives->kind != JSON_KIND_ARRAY)
        return lmi_gltf_fail(file, object, "mesh %llu: it has no primitives", (unsigned long long)index);
    uint64_t number = 0;
    for (const json_value *value = primitives->first; value; value = value->next, number++) {
        gltf_primitive primitive = {.mesh = index, .number = number, .object = value};
        bool added = add_primitive(file, &primitive, place);
        free_primitive(&primitive);
        if (!added) return false;
    }
    return true;
}
