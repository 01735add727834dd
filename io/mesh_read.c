/*
 * Reading a mesh of any format: load the file, find out what it is, read it, and weld it.
 */
#include "io/mesh_reader.h"
#include "io/system.h"

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
    const char *point = strrchr(name, '.');
    return point && !strchr(point, '/') ? point + 1 : "";
}

static bool same_ending(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char lower = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
        if (lower != *b) return false;
    }
    return *a == *b;
}

bool mesh_has_ending(const char *name, const char *ending) { return same_ending(ending_of(name), ending); }

static const struct {
    const char *ending;
    read_function *read;
} formats[] = {{"obj", obj_read},           {"ply", ply_read},           {"stl", stl_read},
               {"gltf", gltf_read},         {"glb", gltf_read},          {"dae", assimp_read},
               {"fbx", assimp_read},        {"x", assimp_read},          {"3ds", assimp_read},
               {"off", assimp_read},        {"3mf", assimp_read},        {"ac", assimp_read},
               {"amf", assimp_read},        {"ase", assimp_read},        {"b3d", assimp_read},
               {"cob", assimp_read},        {"dxf", assimp_read},        {"ifc", assimp_read},
               {"lwo", assimp_read},        {"lxo", assimp_read},        {"md2", assimp_read},
               {"md3", assimp_read},        {"ms3d", assimp_read},       {"nff", assimp_read},
               {"ogex", assimp_read},       {"pmx", assimp_read},        {"q3o", assimp_read},
               {"smd", assimp_read},        {"wrl", assimp_read},        {"x3d", assimp_read},
               {"xgl", assimp_read},        {"zae", assimp_read},        {"blend", assimp_read},
               {"iqm", assimp_read},        {"irrmesh", assimp_read},    {"md5mesh", assimp_read},
               {"msh", tets_surface_read},  {"mesh", tets_surface_read}, {"meshb", tets_surface_read},
               {"node", tets_surface_read}, {"ele", tets_surface_read}};

static read_function *function_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (same_ending(ending_of(name), formats[i].ending)) return formats[i].read;
    return NULL;
}

bool mesh_is_name(const char *path) { return function_by_name(path) != NULL; }

static bool begins_with(const mesh_reader *reader, const char *start)
{
    size_t length = strlen(start);
    return (size_t)(reader->end - reader->bytes) >= length && memcmp(reader->bytes, start, length) == 0;
}

/* By the first bytes, where those are unmistakable; null otherwise. An ASCII STL file and an OBJ file begin with words
 * that others may begin with too. */
static read_function *function_by_contents(const mesh_reader *reader)
{
    if (begins_with(reader, "glTF")) return gltf_read;
    if (begins_with(reader, "$MeshFormat") || begins_with(reader, "MeshVersionFormatted")) return tets_surface_read;
    if (begins_with(reader, "ply\n") || begins_with(reader, "ply\r")) return ply_read;
    if (stl_is_binary(reader->bytes, (size_t)(reader->end - reader->bytes))) return stl_read;
    return NULL;
}

static read_function *choose_function(const mesh_reader *reader)
{
    read_function *function = function_by_contents(reader);
    if (!function) function = function_by_name(reader->name);
    if (!function && begins_with(reader, "solid")) function = stl_read;
    if (!function && begins_with(reader, "{")) function = gltf_read;
    return function;
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is done to a mesh of any format
 */

static void turn_z_up(mesh_data *mesh)
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

static bool has_area(const mesh_data *mesh)
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

static bool finish(mesh_reader *reader, const mesh_options *options)
{
    mesh_data *mesh = &reader->mesh;
    reader->line = 0;
    mesh_reader_end_part(reader);
    if (mesh->vertex_count == 0) return mesh_reader_fail(reader, "it has no vertices");
    if (options->surface && mesh->triangle_count == 0) return mesh_reader_fail(reader, "it has no faces");
    if (options->z_up) turn_z_up(mesh);
    if (options->weld >= 0.0f && mesh_weld(mesh, options->weld) != LM_OK) return mesh_reader_out_of_memory(reader);
    if (options->surface && !has_area(mesh))
        return mesh_reader_fail(reader, "none of its %u triangles has an area", mesh->triangle_count);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

bool mesh_parse_at(const char *name, const char *path, const char *bytes, size_t size, const mesh_options *options,
                   mesh_data *mesh, mesh_error *error)
{
    static const mesh_options plain = {0};
    options = options ? options : &plain;
    mesh_reader reader = {.name = name,
                          .path = path,
                          .bytes = bytes,
                          .at = bytes,
                          .end = bytes + size,
                          .target = options->target,
                          .error = error};
    *mesh = (mesh_data){0};
    read_function *read = choose_function(&reader);
    bool done = false;
    if (size == 0)
        mesh_reader_fail(&reader, "the file is empty");
    else if (!read)
        mesh_reader_fail(&reader, "not a mesh file (expected OBJ, PLY, STL, glTF or GLB)");
    else if (options->target && read != gltf_read)
        mesh_reader_fail(&reader, "it has no morph targets (expected a glTF file)");
    else
        done = read(&reader) && finish(&reader, options);
    free(reader.corners);
    if (done)
        *mesh = reader.mesh;
    else
        mesh_free(&reader.mesh);
    return done;
}

bool mesh_parse(const char *name, const void *bytes, size_t size, const mesh_options *options, mesh_data *mesh,
                mesh_error *error)
{
    return mesh_parse_at(name, NULL, size > 0 ? bytes : "", size, options, mesh, error);
}

char *mesh_load(const char *path, size_t *size, const char **reason)
{
    FILE *file = system_open(path, "rb");
    *reason = file ? NULL : strerror(errno);
    char *bytes = NULL;
    size_t capacity = 0;
    *size = 0;
    while (file && !*reason && !feof(file)) {
        char *larger = mesh_grow(bytes, &capacity, (uint64_t)*size + 65536, 1);
        if (!larger) {
            *reason = "out of memory";
            break;
        }
        bytes = larger;
        *size += fread(bytes + *size, 1, capacity - *size, file);
        if (ferror(file)) *reason = strerror(errno);
        if (*size > MESH_MAX_BYTES) *reason = "larger than 1 GiB";
    }
    if (file) fclose(file);
    if (!*reason) return bytes;
    free(bytes);
    return NULL;
}

bool mesh_read(const char *path, const mesh_options *options, mesh_data *mesh, mesh_error *error)
{
    size_t size;
    const char *reason;
    *mesh = (mesh_data){0};
    char *bytes = mesh_load(path, &size, &reason);
    if (!bytes) {
        mesh_reader nothing = {.name = path, .error = error};
        return mesh_reader_fail(&nothing, "%s", reason);
    }
    bool read = mesh_parse_at(path, path, bytes, size, options, mesh, error);
    free(bytes);
    return read;
}

void mesh_free(mesh_data *mesh)
{
    if (!mesh) return;
    free(mesh->positions);
    free(mesh->normals);
    free(mesh->colours);
    free(mesh->triangles);
    free(mesh->parts);
    free(mesh->names);
    free(mesh->sources);
    *mesh = (mesh_data){0};
}
