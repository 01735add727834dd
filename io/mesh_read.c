/*
 * Reading a mesh of any format: load the file, find out what it is, read it, and weld it.
 */
#include "io/mesh_reader.h"
#include "support/system.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Formats
 */

typedef bool read_function(mesh_reader *reader);

static const char *ending_of(const char *name)
{
    const char *point = strrchr(lmi_system_last_part(name), '.');
    return point ? point + 1 : "";
}

static bool same_ending(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char lower = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
        if (lower != *b) return false;
    }
    return *a == *b;
}

bool lmi_mesh_has_ending(const char *name, const char *ending) { return same_ending(ending_of(name), ending); }

static const struct {
    const char *ending;
    read_function *read;
} formats[] = {{"obj", lmi_obj_read},           {"ply", lmi_ply_read},           {"stl", lmi_stl_read},
               {"gltf", lmi_gltf_read},         {"glb", lmi_gltf_read},          {"dae", lmi_assimp_read},
               {"fbx", lmi_assimp_read},        {"x", lmi_assimp_read},          {"3ds", lmi_assimp_read},
               {"off", lmi_off_read},           {"3mf", lmi_assimp_read},        {"ac", lmi_assimp_read},
               {"amf", lmi_assimp_read},        {"ase", lmi_assimp_read},        {"b3d", lmi_assimp_read},
               {"cob", lmi_assimp_read},        {"dxf", lmi_assimp_read},        {"ifc", lmi_assimp_read},
               {"lwo", lmi_assimp_read},        {"lxo", lmi_assimp_read},        {"md2", lmi_assimp_read},
               {"md3", lmi_assimp_read},        {"ms3d", lmi_assimp_read},       {"nff", lmi_assimp_read},
               {"ogex", lmi_assimp_read},       {"pmx", lmi_assimp_read},        {"q3o", lmi_assimp_read},
               {"smd", lmi_assimp_read},        {"wrl", lmi_assimp_read},        {"x3d", lmi_assimp_read},
               {"xgl", lmi_assimp_read},        {"zae", lmi_assimp_read},        {"blend", lmi_assimp_read},
               {"iqm", lmi_assimp_read},        {"irrmesh", lmi_assimp_read},    {"md5mesh", lmi_assimp_read},
               {"msh", lmi_tets_surface_read},  {"mesh", lmi_tets_surface_read}, {"meshb", lmi_tets_surface_read},
               {"node", lmi_tets_surface_read}, {"ele", lmi_tets_surface_read}};

static read_function *function_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (same_ending(ending_of(name), formats[i].ending)) return formats[i].read;
    return NULL;
}

bool lm_mesh_is_name(const char *path) { return function_by_name(path) != NULL; }

static bool begins_with(const mesh_reader *reader, const char *start)
{
    size_t length = strlen(start);
    return (size_t)(reader->end - reader->bytes) >= length && memcmp(reader->bytes, start, length) == 0;
}

/* By the first bytes, where those are unmistakable; null otherwise. An ASCII STL file and an OBJ file begin with words
 * that others may begin with too. */
static read_function *function_by_contents(const mesh_reader *reader)
{
    if (begins_with(reader, "glTF")) return lmi_gltf_read;
    if (begins_with(reader, "$MeshFormat") || begins_with(reader, "MeshVersionFormatted")) return lmi_tets_surface_read;
    if (begins_with(reader, "ply\n") || begins_with(reader, "ply\r")) return lmi_ply_read;
    if (lmi_stl_is_binary(reader->bytes, (size_t)(reader->end - reader->bytes))) return lmi_stl_read;
    return NULL;
}

static read_function *choose_function(const mesh_reader *reader)
{
    read_function *function = function_by_contents(reader);
    if (!function) function = function_by_name(reader->name);
    if (!function && begins_with(reader, "solid")) function = lmi_stl_read;
    if (!function && (begins_with(reader, "OFF") || begins_with(reader, "COFF"))) function = lmi_off_read;
    if (!function && begins_with(reader, "{")) function = lmi_gltf_read;
    return function;
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is done to a mesh of any format
 */

static void turn_z_up(lm_mesh_data *mesh)
{
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        lm_vec3 p = mesh->positions[i];
        mesh->positions[i] = (lm_vec3){p.x, p.z, -p.y};
    }
    for (uint32_t i = 0; mesh->normals && i < mesh->vertex_count; i++) {
        lm_vec3 n = mesh->normals[i];
        mesh->normals[i] = (lm_vec3){n.x, n.z, -n.y};
    }
}

static bool has_area(const lm_mesh_data *mesh)
{
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * t;
        lm_vec3 a = mesh->positions[corner[0]], b = mesh->positions[corner[1]], c = mesh->positions[corner[2]];
        double ux = (double)b.x - a.x, uy = (double)b.y - a.y, uz = (double)b.z - a.z;
        double vx = (double)c.x - a.x, vy = (double)c.y - a.y, vz = (double)c.z - a.z;
        double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        if (nx != 0.0 || ny != 0.0 || nz != 0.0) return true;
    }
    return false;
}

static bool finish(mesh_reader *reader, const lm_mesh_options *options)
{
    lm_mesh_data *mesh = &reader->mesh;
    reader->line = 0;
    lmi_mesh_reader_end_part(reader);
    if (mesh->vertex_count == 0) return lmi_mesh_reader_fail(reader, "it has no vertices");
    if (options->surface && mesh->triangle_count == 0) return lmi_mesh_reader_fail(reader, "it has no faces");
    if (options->z_up) turn_z_up(mesh);
    if (options->weld >= 0.0f && lm_mesh_weld(mesh, options->weld) != LM_OK)
        return lmi_mesh_reader_out_of_memory(reader);
    if (options->surface && !has_area(mesh))
        return lmi_mesh_reader_fail(reader, "none of its %u triangles has an area", mesh->triangle_count);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

bool lmi_mesh_parse_at(const char *name, const char *path, const char *bytes, size_t size,
                       const lm_mesh_options *options, lm_mesh_data *mesh, lm_mesh_error *error)
{
    static const lm_mesh_options plain = {0};
    options = options ? options : &plain;
    mesh_reader reader = {.name = name,
                          .path = path,
                          .bytes = bytes,
                          .at = bytes,
                          .end = bytes + size,
                          .target = options->target,
                          .error = error};
    *mesh = (lm_mesh_data){0};
    read_function *read = choose_function(&reader);
    bool done = false;
    if (size == 0)
        lmi_mesh_reader_fail(&reader, "the file is empty");
    else if (!read)
        lmi_mesh_reader_fail(&reader, "not a mesh file (expected OBJ, PLY, STL, OFF, glTF or GLB)");
    else if (options->target && read != lmi_gltf_read)
        lmi_mesh_reader_fail(&reader, "it has no morph targets (expected a glTF file)");
    else
        done = read(&reader) && finish(&reader, options);
    free(reader.corners);
    free(reader.textures);
    free(reader.corner_textures);
    if (done)
        *mesh = reader.mesh;
    else
        lm_mesh_free(&reader.mesh);
    return done;
}

bool lm_mesh_parse(const char *name, const void *bytes, size_t size, const lm_mesh_options *options, lm_mesh_data *mesh,
                   lm_mesh_error *error)
{
    return lmi_mesh_parse_at(name, NULL, size > 0 ? bytes : "", size, options, mesh, error);
}

char *lmi_mesh_load(const char *path, size_t *size, const char **reason)
{
    FILE *file = lmi_system_open(path, "rb");
    *reason = file ? NULL : strerror(errno);
    char *bytes = NULL;
    size_t capacity = 0;
    *size = 0;
    while (file && !*reason && !feof(file)) {
        char *larger = lmi_mesh_grow(bytes, &capacity, (uint64_t)*size + 65536, 1);
        if (!larger) {
            *reason = "out of memory";
            break;
        }
        bytes = larger;
        *size += fread(bytes + *size, 1, capacity - *size, file);
        if (ferror(file)) *reason = strerror(errno);
        if (*size > LM_MESH_MAX_BYTES) *reason = "larger than 1 GiB";
    }
    if (file) fclose(file);
    if (!*reason) return bytes;
    free(bytes);
    return NULL;
}

bool lm_mesh_read(const char *path, const lm_mesh_options *options, lm_mesh_data *mesh, lm_mesh_error *error)
{
    size_t size;
    const char *reason;
    *mesh = (lm_mesh_data){0};
    char *bytes = lmi_mesh_load(path, &size, &reason);
    if (!bytes) {
        mesh_reader nothing = {.name = path, .error = error};
        return lmi_mesh_reader_fail(&nothing, "%s", reason);
    }
    bool read = lmi_mesh_parse_at(path, path, bytes, size, options, mesh, error);
    free(bytes);
    return read;
}

void lm_mesh_free(lm_mesh_data *mesh)
{
    if (!mesh) return;
    free(mesh->positions);
    free(mesh->normals);
    free(mesh->colours);
    free(mesh->triangles);
    free(mesh->uvs);
    free(mesh->parts);
    free(mesh->names);
    free(mesh->sources);
    *mesh = (lm_mesh_data){0};
}
