/*
 * Reading glTF 2.0: .gltf (JSON, its buffers in base64 or in files beside it) and .glb (JSON and one buffer in one
 * binary file).
 *
 * The scene that the file shows is read: its nodes with their transforms, the meshes on them. Cameras, lights, textures,
 * animations and skins are passed over: a mesh is read in the shape in which it is stored, or in that of one of its morph
 * targets where the reader wants it. (gltf_rig.c reads skins and animations.)
 */
#include "io/gltf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 512 /* of nodes within nodes */

/* ------------------------------------------------------------------------------------------------------------------
 * The tree
 */

bool lmi_gltf_fail(gltf_file *file, const json_value *where, const char *format, ...)
{
    char text[LM_MESH_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    file->reader->line = file->has_lines && where ? where->place.line : 0;
    return lmi_mesh_reader_fail(file->reader, "%s", text);
}

bool lmi_gltf_take_number(gltf_file *file, const gltf_list *list, uint64_t index, const json_value *object,
                          const char *key, uint64_t limit, uint64_t fallback, uint64_t *number)
{
    const json_value *value = lmi_json_get(object, key);
    unsigned long long at = index;
    if (!value) {
        *number = fallback;
        return fallback != GLTF_REQUIRED ||
               lmi_gltf_fail(file, object ? object : list->items[index], "%s %llu: it has no %s", list->name, at, key);
    }
    if (value->kind != JSON_KIND_NUMBER)
        return lmi_gltf_fail(file, value, "%s %llu: %s is %s (expected a number)", list->name, at, key,
                             lmi_json_kind_text(value->kind));
    if (limit == 0)
        return lmi_gltf_fail(file, value, "%s %llu: %s is %.15g (the file has none)", list->name, at, key,
                             value->number);
    if (!(value->number >= 0.0 && value->number < (double)limit) || value->number != floor(value->number))
        return lmi_gltf_fail(file, value, "%s %llu: %s is %.15g (expected a whole number below %llu)", list->name, at,
                             key, value->number, (unsigned long long)limit);
    *number = (uint64_t)value->number;
    return true;
}

/* A list at the top of the file, such as "nodes"; empty when there is none. */
static bool find_list(gltf_file *file, const json_value *root, const char *key, const char *name, gltf_list *list)
{
    const json_value *value = lmi_json_get(root, key);
    *list = (gltf_list){.name = name};
    if (!value) return true;
    if (value->kind != JSON_KIND_ARRAY) return lmi_gltf_fail(file, value, "%s is not a list", key);
    list->items = lmi_json_allocate(file->document, ((size_t)value->count + 1) * sizeof *list->items);
    if (!list->items) return lmi_mesh_reader_out_of_memory(file->reader);
    for (const json_value *item = value->first; item; item = item->next) {
        if (item->kind != JSON_KIND_OBJECT)
            return lmi_gltf_fail(file, item, "%s holds something else than objects", key);
        list->items[list->count++] = item;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Transforms
 */

const gltf_matrix lmi_gltf_identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

gltf_matrix lmi_gltf_multiply(const gltf_matrix *a, const gltf_matrix *b)
{
    gltf_matrix product;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double sum = j == 3 ? a->m[i][3] : 0.0;
            for (int k = 0; k < 3; k++) sum += a->m[i][k] * b->m[k][j];
            product.m[i][j] = sum;
        }
    }
    return product;
}

/* `count` numbers of a node, which keep their values when the node has none. */
static bool take_numbers(gltf_file *file, uint32_t node, const char *key, uint32_t count, double *numbers)
{
    const json_value *value = lmi_json_get(file->nodes.items[node], key);
    if (!value) return true;
    const json_value *item = value->kind == JSON_KIND_ARRAY && value->count == count ? value->first : NULL;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        if (!item || item->kind != JSON_KIND_NUMBER)
            return lmi_gltf_fail(file, value, "node %u: %s is not %u numbers", node, key, count);
        numbers[i] = item->number;
    }
    return true;
}

bool lmi_gltf_read_parts(gltf_file *file, uint32_t node, gltf_parts *parts)
{
    double *q = parts->rotation, columns[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    *parts = (gltf_parts){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    if (!take_numbers(file, node, "matrix", 16, columns) ||
        !take_numbers(file, node, "translation", 3, parts->translation) ||
        !take_numbers(file, node, "rotation", 4, q) || !take_numbers(file, node, "scale", 3, parts->scale))
        return false;
    parts->is_matrix = lmi_json_get(file->nodes.items[node], "matrix") != NULL;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) parts->matrix.m[i][j] = columns[4 * j + i];
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 0.0) || !isfinite(length)) q[0] = q[1] = q[2] = 0.0, q[3] = length = 1.0;
    for (int i = 0; i < 4; i++) q[i] /= length;
    return true;
}

gltf_matrix lmi_gltf_from_parts(const gltf_parts *parts)
{
    if (parts->is_matrix) return parts->matrix;
    double x = parts->rotation[0], y = parts->rotation[1], z = parts->rotation[2], w = parts->rotation[3];
    const double rotation[3][3] = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
        {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
        {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)},
    };
    gltf_matrix local;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) local.m[i][j] = rotation[i][j] * parts->scale[j];
        local.m[i][3] = parts->translation[i];
    }
    return local;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Nodes
 */

typedef struct gltf_walk {
    gltf_file *file;
    bool *seen; /* by node: a node has one place in the tree */
} gltf_walk;

static bool add_node(gltf_walk *walk, const json_value *number, const gltf_matrix *parent, uint32_t depth);

static bool add_nodes(gltf_walk *walk, const json_value *numbers, const gltf_matrix *parent, uint32_t depth)
{
    for (const json_value *number = numbers ? numbers->first : NULL; number; number = number->next)
        if (!add_node(walk, number, parent, depth)) return false;
    return true;
}

static bool add_mesh_of_node(gltf_file *file, uint32_t node, const gltf_matrix *place)
{
    const json_value *object = file->nodes.items[node];
    uint64_t mesh;
    if (!lmi_gltf_take_number(file, &file->nodes, node, object, "mesh", file->meshes.count, GLTF_NONE, &mesh))
        return false;
    if (mesh == GLTF_NONE) return true;
    const json_value *name = lmi_json_get(object, "name");
    if (!name) name = lmi_json_get(file->meshes.items[mesh], "name");
    bool named = name && name->kind == JSON_KIND_STRING;
    if (!lmi_mesh_reader_begin_part(file->reader, named ? name->text : "", named ? strlen(name->text) : 0))
        return false;
    file->node = node;
    return lmi_gltf_add_mesh(file, mesh, place);
}

static bool add_node(gltf_walk *walk, const json_value *number, const gltf_matrix *parent, uint32_t depth)
{
    gltf_file *file = walk->file;
    if (number->kind != JSON_KIND_NUMBER || !(number->number >= 0.0 && number->number < file->nodes.count) ||
        number->number != floor(number->number))
        return lmi_gltf_fail(file, number, "a child that is not a node (there are %u)", file->nodes.count);
    uint32_t node = (uint32_t)number->number;
    if (walk->seen[node]) return lmi_gltf_fail(file, number, "node %u has two parents, or is its own ancestor", node);
    walk->seen[node] = true;
    if (depth > MAX_DEPTH) return lmi_gltf_fail(file, number, "node %u: nodes are more than %d deep", node, MAX_DEPTH);
    gltf_parts parts;
    if (!lmi_gltf_read_parts(file, node, &parts)) return false;
    gltf_matrix local = lmi_gltf_from_parts(&parts), place;
    place = lmi_gltf_multiply(parent, &local);
    return add_mesh_of_node(file, node, &place) &&
           add_nodes(walk, lmi_json_get(file->nodes.items[node], "children"), &place, depth + 1);
}

/* Without a scene: every node that is no child of another. */
static bool add_all_roots(gltf_walk *walk)
{
    gltf_file *file = walk->file;
    bool *is_child = calloc((size_t)file->nodes.count + 1, sizeof *is_child);
    if (!is_child) return lmi_mesh_reader_out_of_memory(file->reader);
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        const json_value *children = lmi_json_get(file->nodes.items[i], "children");
        for (const json_value *child = children ? children->first : NULL; child; child = child->next)
            if (child->kind == JSON_KIND_NUMBER && child->number >= 0.0 && child->number < file->nodes.count)
                is_child[(uint32_t)child->number] = true;
    }
    bool added = true;
    for (uint32_t i = 0; added && i < file->nodes.count; i++) {
        json_value number = {.kind = JSON_KIND_NUMBER, .place = file->nodes.items[i]->place, .number = i};
        if (!is_child[i]) added = add_node(walk, &number, &lmi_gltf_identity, 0);
    }
    free(is_child);
    return added;
}

bool lmi_gltf_add_scene(gltf_file *file, const json_value *root)
{
    static const gltf_list top = {.name = "file"};
    uint64_t scene;
    if (file->nodes.count == 0) { /* a library of meshes */
        for (uint32_t i = 0; i < file->meshes.count; i++)
            if (!lmi_gltf_add_mesh(file, i, &lmi_gltf_identity)) return false;
        return true;
    }
    gltf_walk walk = {file, calloc(file->nodes.count, sizeof *walk.seen)};
    if (!walk.seen) return lmi_mesh_reader_out_of_memory(file->reader);
    bool added;
    if (file->scenes.count == 0)
        added = add_all_roots(&walk);
    else
        added = lmi_gltf_take_number(file, &top, 0, root, "scene", file->scenes.count, 0, &scene) &&
                add_nodes(&walk, lmi_json_get(file->scenes.items[scene], "nodes"), &lmi_gltf_identity, 0);
    free(walk.seen);
    return added;
}

/* The scene, and the morph target in it that was asked for. */
static bool read_meshes(gltf_file *file, const json_value *root)
{
    return lmi_gltf_add_scene(file, root) && lmi_gltf_check_target(file);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

/* Extensions that a file may ask for although we pass over them, or that change nothing here. */
static bool is_harmless(const char *extension)
{
    static const char *const starts[] = {"KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_",
                                         "KHR_mesh_quantization"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(extension, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

static bool check_asset(gltf_file *file, const json_value *root)
{
    const json_value *version = lmi_json_get(lmi_json_get(root, "asset"), "version");
    const json_value *required = lmi_json_get(root, "extensionsRequired");
    if (!version || version->kind != JSON_KIND_STRING)
        return lmi_gltf_fail(file, NULL, "not a glTF file: it has no asset.version");
    if (strncmp(version->text, "2.", 2) != 0)
        return lmi_gltf_fail(file, version, "glTF version \"%.20s\" (expected 2.0)", version->text);
    for (const json_value *value = required ? required->first : NULL; value; value = value->next)
        if (value->kind == JSON_KIND_STRING && !is_harmless(value->text))
            return lmi_gltf_fail(file, value, "it needs the extension %.60s, which is not read", value->text);
    return true;
}

static bool read_json(gltf_file *file, const char *text, size_t length)
{
    json_error error;
    file->document = lmi_json_create();
    if (!file->document) return lmi_mesh_reader_out_of_memory(file->reader);
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, length -= 3;
    const json_value *root = lmi_json_parse(file->document, text, length, NULL, &error);
    if (!root) {
        file->reader->line = file->has_lines ? error.place.line : 0;
        return lmi_mesh_reader_fail(file->reader, "JSON: %s", error.text);
    }
    if (!check_asset(file, root) || !find_list(file, root, "accessors", "accessor", &file->accessors) ||
        !find_list(file, root, "bufferViews", "bufferView", &file->buffer_views) ||
        !find_list(file, root, "buffers", "buffer", &file->buffers) ||
        !find_list(file, root, "materials", "material", &file->materials) ||
        !find_list(file, root, "meshes", "mesh", &file->meshes) ||
        !find_list(file, root, "nodes", "node", &file->nodes) ||
        !find_list(file, root, "scenes", "scene", &file->scenes) ||
        !find_list(file, root, "skins", "skin", &file->skins) ||
        !find_list(file, root, "animations", "animation", &file->animations))
        return false;
    file->loaded = calloc((size_t)file->buffers.count + 1, sizeof *file->loaded);
    if (!file->loaded) return lmi_mesh_reader_out_of_memory(file->reader);
    return file->use(file, root);
}

static uint32_t load_u32(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* A .glb file: a header of 12 bytes, then chunks of a length, a type and their bytes; JSON first, the buffer second. */
static bool read_binary(gltf_file *file)
{
    mesh_reader *reader = file->reader;
    uint64_t size = (uint64_t)(reader->end - reader->bytes);
    if (size < 20) return lmi_mesh_reader_fail(reader, "the file ends within its header");
    if (load_u32(reader->bytes + 4) != 2)
        return lmi_mesh_reader_fail(reader, "GLB version %u (expected 2)", load_u32(reader->bytes + 4));
    uint64_t length = load_u32(reader->bytes + 8), json_length = load_u32(reader->bytes + 12);
    if (length > size)
        return lmi_mesh_reader_fail(reader, "%llu bytes (expected %llu, as its header says)", (unsigned long long)size,
                                    (unsigned long long)length);
    if (memcmp(reader->bytes + 16, "JSON", 4) != 0) return lmi_mesh_reader_fail(reader, "its first chunk is not JSON");
    if (20 + json_length > length)
        return lmi_mesh_reader_fail(reader, "its JSON chunk has %llu bytes, more than the file holds",
                                    (unsigned long long)json_length);
    uint64_t at = 20 + (json_length + 3) / 4 * 4;
    if (at + 8 <= length && memcmp(reader->bytes + at + 4, "BIN\0", 4) == 0) {
        file->binary = (const unsigned char *)reader->bytes + at + 8;
        file->binary_size = load_u32(reader->bytes + at);
        if (at + 8 + file->binary_size > length)
            return lmi_mesh_reader_fail(reader, "its binary chunk has %llu bytes, more than the file holds",
                                        (unsigned long long)file->binary_size);
    }
    /* The chunk is filled up with blanks; a few programs take zeros. */
    while (json_length > 0 && reader->bytes[20 + json_length - 1] == '\0') json_length--;
    return read_json(file, reader->bytes + 20, (size_t)json_length);
}

bool lmi_gltf_open(gltf_file *file)
{
    mesh_reader *reader = file->reader;
    size_t size = (size_t)(reader->end - reader->bytes);
    bool binary = size >= 4 && memcmp(reader->bytes, "glTF", 4) == 0;
    file->has_lines = !binary;
    file->total_size = size;
    snprintf(reader->mesh.format, sizeof reader->mesh.format, binary ? "glTF 2.0, binary" : "glTF 2.0");
    bool read = binary ? read_binary(file) : read_json(file, reader->bytes, size);
    lmi_gltf_free_buffers(file);
    lmi_json_free(file->document);
    return read;
}

bool lmi_gltf_read(mesh_reader *reader)
{
    gltf_file file = {.reader = reader, .use = read_meshes};
    if (!lmi_gltf_open(&file)) return false;
    reader->line = 0;
    if (reader->mesh.uvs && !lmi_mesh_reader_uvs(reader, 0)) return false; /* for the last triangles too */
    return reader->mesh.vertex_count > 0 || lmi_mesh_reader_fail(reader, "its scene shows no triangles");
}
