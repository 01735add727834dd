/*
 * Reading a tetrahedral mesh of any format: load the file (of TetGen's the two), find out what it is, read it, check it. And
 * its surface for those who want a triangle mesh.
 */
#include "io/tets_reader.h"
#include "support/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Formats
 */

static bool has_ending(const char *name, const char *ending)
{
    const char *point = strrchr(lmi_system_last_part(name), '.');
    if (!point) return false;
    for (point++; *point && *ending; point++, ending++) {
        char lower = *point >= 'A' && *point <= 'Z' ? (char)(*point - 'A' + 'a') : *point;
        if (lower != *ending) return false;
    }
    return *point == *ending;
}

bool lm_tets_is_name(const char *path)
{
    static const char *const endings[] = {"msh", "mesh", "meshb", "node", "ele"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (has_ending(path, endings[i])) return true;
    return false;
}

static bool begins_with(const mesh_reader *file, const char *start)
{
    size_t length = strlen(start);
    return (size_t)(file->end - file->bytes) >= length && memcmp(file->bytes, start, length) == 0;
}

/* The first word that is not part of a comment. */
static bool is_medit(const mesh_reader *file)
{
    mesh_reader ahead = *file;
    const char *word;
    size_t length;
    while ((length = lmi_mesh_reader_word(&ahead, &word)) > 0 && word[0] == '#') {
        ahead.at = word;
        lmi_mesh_reader_rest_of_line(&ahead, &word);
    }
    return length >= 20 && memcmp(word, "MeshVersionFormatted", 20) == 0;
}

static bool is_number(const mesh_reader *file)
{
    mesh_reader ahead = *file;
    const char *word;
    size_t length = lmi_mesh_reader_word(&ahead, &word);
    for (size_t i = 0; i < length; i++)
        if (word[i] < '0' || word[i] > '9') return false;
    return length > 0;
}

static bool read_format(tets_reader *reader)
{
    mesh_reader *file = &reader->file;
    if (file->end == file->bytes) return lmi_mesh_reader_fail(file, "the file is empty");
    if (begins_with(file, "$MeshFormat")) return lmi_gmsh_read(reader);
    if (begins_with(file, "$NOD")) return lmi_mesh_reader_fail(file, "Gmsh version 1 (expected 2, 4.0 or 4.1)");
    if (lmi_medit_is_binary(file->bytes, (size_t)(file->end - file->bytes))) return lmi_medit_binary_read(reader);
    if (is_medit(file)) return lmi_medit_read(reader);
    if (is_number(file)) return lmi_netgen_read(reader);
    return lmi_mesh_reader_fail(file,
                                "not a tetrahedral mesh (expected Gmsh, MEDIT, Netgen's neutral format, or TetGen's "
                                ".node and .ele)");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static void reader_free(tets_reader *reader)
{
    free(reader->node_tags);
    free(reader->corner_tags);
    free(reader->tet_tags);
    lm_mesh_free(&reader->file.mesh);
    lm_tets_free(&reader->data);
}

/* The nodes come from one file, the tetrahedra from another, by whose name messages about them go. */
static bool read_pair(tets_reader *reader, const char *tets_name, const lm_tets_bytes *tets)
{
    mesh_reader *file = &reader->file;
    if (!tets) return lmi_mesh_reader_fail(file, "a .node file has no tetrahedra (expected its .ele file beside it)");
    if (file->end == file->bytes) return lmi_mesh_reader_fail(file, "the file is empty");
    if (!lmi_tetgen_read_nodes(reader)) return false;
    file->name = tets_name;
    file->bytes = file->at = tets->size > 0 ? tets->bytes : "";
    file->end = file->bytes + tets->size;
    return lmi_tetgen_read_tets(reader);
}

static bool is_tetgen(const char *name) { return has_ending(name, "node") || has_ending(name, "ele"); }

/* `tets_name`: of the .ele file. */
static bool parse(const char *name, lm_tets_bytes file, const char *tets_name, const lm_tets_bytes *tetgen_tets,
                  const lm_tets_options *options, lm_tets_data *tets, lm_mesh_error *error)
{
    static const lm_tets_options plain = {0};
    const char *bytes = file.size > 0 ? file.bytes : "";
    tets_reader reader = {
        .file = {.name = name, .bytes = bytes, .at = bytes, .end = bytes + file.size, .error = error}};
    bool done = is_tetgen(name) ? read_pair(&reader, tets_name, tetgen_tets) : read_format(&reader);
    done = done && lmi_tets_reader_check(&reader, options ? options : &plain);
    *tets = (lm_tets_data){0};
    if (done) {
        *tets = reader.data;
        reader.data = (lm_tets_data){0};
    }
    reader_free(&reader);
    return done;
}

bool lm_tets_parse(const char *name, lm_tets_bytes file, const lm_tets_bytes *tetgen_tets,
                   const lm_tets_options *options, lm_tets_data *tets, lm_mesh_error *error)
{
    return parse(name, file, name, tetgen_tets, options, tets, error);
}

static bool fail_reading(const char *path, const char *reason, lm_mesh_error *error)
{
    mesh_reader nothing = {.name = path, .error = error};
    return lmi_mesh_reader_fail(&nothing, "%s", reason);
}

/* The path with another ending, to be freed; null when out of memory. */
static char *with_ending(const char *path, const char *ending)
{
    size_t stem = (size_t)(strrchr(path, '.') - path) + 1, length = strlen(ending);
    char *other = malloc(stem + length + 1);
    if (other) {
        memcpy(other, path, stem);
        memcpy(other + stem, ending, length + 1);
    }
    return other;
}

static bool read_tetgen(const char *path, const lm_tets_options *options, lm_tets_data *tets, lm_mesh_error *error)
{
    char *names[2] = {with_ending(path, "node"), with_ending(path, "ele")}, *bytes[2] = {NULL, NULL};
    lm_tets_bytes files[2] = {{0}};
    bool done = (names[0] && names[1]) || fail_reading(path, "out of memory", error);
    for (int i = 0; done && i < 2; i++) {
        const char *reason;
        bytes[i] = lmi_mesh_load(names[i], &files[i].size, &reason);
        files[i].bytes = bytes[i];
        if (!bytes[i]) done = fail_reading(names[i], reason, error);
    }
    done = done && parse(names[0], files[0], names[1], &files[1], options, tets, error);
    for (int i = 0; i < 2; i++) {
        free(names[i]);
        free(bytes[i]);
    }
    return done;
}

bool lm_tets_read(const char *path, const lm_tets_options *options, lm_tets_data *tets, lm_mesh_error *error)
{
    *tets = (lm_tets_data){0};
    if (is_tetgen(path)) return read_tetgen(path, options, tets, error);
    lm_tets_bytes file;
    const char *reason;
    char *bytes = lmi_mesh_load(path, &file.size, &reason);
    if (!bytes) return fail_reading(path, reason, error);
    file.bytes = bytes;
    bool done = parse(path, file, NULL, NULL, options, tets, error);
    free(bytes);
    return done;
}

void lm_tets_free(lm_tets_data *tets)
{
    if (!tets) return;
    free(tets->positions);
    free(tets->tets);
    free(tets->triangles);
    *tets = (lm_tets_data){0};
}

/* ------------------------------------------------------------------------------------------------------------------
 * As a triangle mesh
 */

/* The nodes of the surface, in their order, and its triangles. */
static bool keep_surface(mesh_reader *reader, lm_tets_data *tets)
{
    uint32_t *place = malloc(((size_t)tets->vertex_count + 1) * sizeof *place), kept = 0;
    if (!place) return lmi_mesh_reader_out_of_memory(reader);
    memset(place, 0xff, tets->vertex_count * sizeof *place);
    for (size_t n = 0; n < 3 * (size_t)tets->triangle_count; n++) place[tets->triangles[n]] = 0;
    for (uint32_t n = 0; n < tets->vertex_count; n++) {
        if (place[n] == UINT32_MAX) continue;
        place[n] = kept;
        tets->positions[kept++] = tets->positions[n];
    }
    for (size_t n = 0; n < 3 * (size_t)tets->triangle_count; n++) tets->triangles[n] = place[tets->triangles[n]];
    free(place);
    lm_mesh_data *mesh = &reader->mesh;
    memcpy(mesh->format, tets->format, sizeof mesh->format);
    mesh->positions = tets->positions, mesh->vertex_count = kept;
    mesh->triangles = tets->triangles, mesh->triangle_count = tets->triangle_count;
    tets->positions = NULL, tets->triangles = NULL;
    return true;
}

bool lmi_tets_surface_read(mesh_reader *reader)
{
    lm_tets_data tets;
    lm_tets_bytes file = {reader->bytes, (size_t)(reader->end - reader->bytes)};
    bool done = is_tetgen(reader->name) && reader->path
                    ? read_tetgen(reader->path, NULL, &tets, reader->error)
                    : parse(reader->name, file, NULL, NULL, NULL, &tets, reader->error);
    done = done && keep_surface(reader, &tets);
    lm_tets_free(&tets);
    return done;
}
