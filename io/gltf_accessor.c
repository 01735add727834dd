/*
 * Numbers out of bytes: a glTF accessor is a typed look at a view, a view is a piece of a buffer, and a buffer is part
 * of the file, base64 text within it, or another file beside it.
 */
#include "io/gltf.h"
#include "support/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Buffers
 */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

/* Writes up to length / 4 * 3 + 2 bytes. False when the text is not base64. */
static bool decode_base64(const char *text, size_t length, unsigned char *bytes, uint64_t *size)
{
    while (length > 0 && text[length - 1] == '=') length--;
    uint32_t bits = 0, count = 0;
    *size = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0) return false;
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes[(*size)++] = (unsigned char)(bits >> count);
    }
    return true;
}

static bool load_data(gltf_file *file, uint64_t index, const json_value *uri, gltf_buffer *buffer)
{
    const char *data = strchr(uri->text, ',');
    static const char marker[] = ";base64";
    size_t tail = sizeof marker - 1;
    if (!data || (size_t)(data - uri->text) < tail || memcmp(data - tail, marker, tail) != 0)
        return lmi_gltf_fail(file, uri, "buffer %llu: data that is not base64", (unsigned long long)index);
    data++;
    size_t length = uri->length - (size_t)(data - uri->text);
    buffer->memory = malloc(length / 4 * 3 + 3);
    if (!buffer->memory) return lmi_mesh_reader_out_of_memory(file->reader);
    buffer->bytes = buffer->memory;
    return decode_base64(data, length, buffer->memory, &buffer->size) ||
           lmi_gltf_fail(file, uri, "buffer %llu: not valid base64", (unsigned long long)index);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Replaces %20 and its like; returns the length. */
static size_t decode_percent(const char *uri, size_t length, char *out)
{
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        bool escaped = uri[i] == '%' && i + 2 < length && hex_digit(uri[i + 1]) >= 0 && hex_digit(uri[i + 2]) >= 0;
        out[size++] = escaped ? (char)(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2])) : uri[i];
        i += escaped ? 2 : 0;
    }
    out[size] = '\0';
    return size;
}

/* A path below the folder of the file: no root, no scheme, no way up. */
static bool stays_below(const char *path, size_t length)
{
    if (length == 0 || strlen(path) != length || path[0] == '/' || strpbrk(path, ":\\")) return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
    }
    return true;
}

static bool load_file(gltf_file *file, uint64_t index, const json_value *uri, gltf_buffer *buffer)
{
    const char *beside = file->reader->path;
    unsigned long long number = index;
    if (!beside) return lmi_gltf_fail(file, uri, "buffer %llu: it is in another file, which cannot be reached", number);
    size_t folder = (size_t)(lmi_system_last_part(beside) - beside);
    char *path = malloc(folder + uri->length + 1);
    if (!path) return lmi_mesh_reader_out_of_memory(file->reader);
    memcpy(path, beside, folder);
    size_t length = decode_percent(uri->text, uri->length, path + folder);
    bool loaded = stays_below(path + folder, length);
    if (!loaded) {
        lmi_gltf_fail(file, uri, "buffer %llu: \"%.60s\" is not a file in the same folder or below", number, uri->text);
    } else {
        size_t size;
        const char *reason;
        buffer->memory = lmi_mesh_load(path, &size, &reason);
        buffer->bytes = buffer->memory;
        buffer->size = size;
        loaded = buffer->memory != NULL;
        if (!loaded) lmi_gltf_fail(file, uri, "buffer %llu: %.200s: %s", number, path, reason);
    }
    free(path);
    return loaded;
}

static bool load_buffer(gltf_file *file, uint64_t index)
{
    const json_value *object = file->buffers.items[index], *uri = lmi_json_get(object, "uri");
    gltf_buffer *buffer = &file->loaded[index];
    uint64_t length;
    if (!lmi_gltf_take_number(file, &file->buffers, index, object, "byteLength", UINT32_MAX, GLTF_REQUIRED, &length))
        return false;
    if (uri) {
        if (uri->kind != JSON_KIND_STRING)
            return lmi_gltf_fail(file, uri, "buffer %llu: its uri is not a string", (unsigned long long)index);
        bool inside = uri->length > 5 && memcmp(uri->text, "data:", 5) == 0;
        if (inside ? !load_data(file, index, uri, buffer) : !load_file(file, index, uri, buffer)) return false;
        file->total_size += buffer->size;
    } else if (index == 0 && file->binary) {
        buffer->bytes = file->binary;
        buffer->size = file->binary_size;
    } else {
        return lmi_gltf_fail(file, object, "buffer %llu: it has no data (expected a uri%s)", (unsigned long long)index,
                             index == 0 ? ", or a binary chunk" : "");
    }
    if (buffer->size < length)
        return lmi_gltf_fail(file, object, "buffer %llu: %llu bytes (expected %llu, its byteLength)",
                             (unsigned long long)index, (unsigned long long)buffer->size, (unsigned long long)length);
    if (file->total_size > LM_MESH_MAX_BYTES) return lmi_gltf_fail(file, object, "its buffers are larger than 1 GiB");
    buffer->size = length;
    return true;
}

void lmi_gltf_free_buffers(gltf_file *file)
{
    for (uint32_t i = 0; file->loaded && i < file->buffers.count; i++) free(file->loaded[i].memory);
    free(file->loaded);
    file->loaded = NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Views and accessors
 */

typedef struct gltf_view {
    const unsigned char *bytes;
    uint64_t size;
    uint64_t stride; /* 0: elements follow each other */
} gltf_view;

static bool find_view(gltf_file *file, uint64_t index, gltf_view *view)
{
    const gltf_list *views = &file->buffer_views;
    const json_value *object = views->items[index];
    uint64_t buffer, offset;
    if (!lmi_gltf_take_number(file, views, index, object, "buffer", file->buffers.count, GLTF_REQUIRED, &buffer) ||
        !lmi_gltf_take_number(file, views, index, object, "byteOffset", UINT32_MAX, 0, &offset) ||
        !lmi_gltf_take_number(file, views, index, object, "byteLength", UINT32_MAX, GLTF_REQUIRED, &view->size) ||
        !lmi_gltf_take_number(file, views, index, object, "byteStride", 256, 0, &view->stride))
        return false;
    if (!file->loaded[buffer].bytes && !load_buffer(file, buffer)) return false;
    if (offset + view->size > file->loaded[buffer].size)
        return lmi_gltf_fail(file, object, "bufferView %llu: it ends at byte %llu of a buffer of %llu",
                             (unsigned long long)index, (unsigned long long)(offset + view->size),
                             (unsigned long long)file->loaded[buffer].size);
    view->bytes = file->loaded[buffer].bytes + offset;
    return true;
}

enum { BYTE = 5120, UNSIGNED_BYTE, SHORT, UNSIGNED_SHORT, UNSIGNED_INT = 5125, FLOAT };

static uint32_t component_size(uint64_t type)
{
    switch (type) {
    case BYTE:
    case UNSIGNED_BYTE: return 1;
    case SHORT:
    case UNSIGNED_SHORT: return 2;
    case UNSIGNED_INT:
    case FLOAT: return 4;
    default: return 0;
    }
}

static double load_component(const unsigned char *b, uint64_t type, bool normalised)
{
    switch (type) {
    case BYTE: return normalised ? fmax((int8_t)b[0] / 127.0, -1.0) : (int8_t)b[0];
    case UNSIGNED_BYTE: return normalised ? b[0] / 255.0 : b[0];
    case SHORT: {
        int16_t value = (int16_t)(b[0] | b[1] << 8);
        return normalised ? fmax(value / 32767.0, -1.0) : value;
    }
    case UNSIGNED_SHORT: return normalised ? (b[0] | b[1] << 8) / 65535.0 : (b[0] | b[1] << 8);
    default: break;
    }
    uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    if (type == UNSIGNED_INT) return bits;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The type of an accessor, and where its elements lie. */
typedef struct gltf_layout {
    uint64_t type, count;
    uint32_t components;
    bool normalised;
    const unsigned char *bytes; /* null: all zero */
    uint64_t stride;
} gltf_layout;

static uint32_t components_of(const json_value *type)
{
    static const char *const names[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    for (uint32_t i = 0; type && type->kind == JSON_KIND_STRING && i < 4; i++)
        if (strcmp(type->text, names[i]) == 0) return i + 1;
    if (type && type->kind == JSON_KIND_STRING && strcmp(type->text, "MAT4") == 0) return 16;
    return 0;
}

/* Lays `count` elements over a view, beginning at a byte offset. */
static bool lay_over_view(gltf_file *file, uint64_t accessor, uint64_t view_index, uint64_t offset, bool strided,
                          gltf_layout *layout)
{
    gltf_view view;
    if (!find_view(file, view_index, &view)) return false;
    const json_value *where = file->accessors.items[accessor];
    uint64_t size = (uint64_t)component_size(layout->type) * layout->components;
    layout->stride = strided && view.stride > 0 ? view.stride : size;
    if (layout->stride < size)
        return lmi_gltf_fail(file, where, "accessor %llu: elements of %llu bytes in steps of %llu",
                             (unsigned long long)accessor, (unsigned long long)size,
                             (unsigned long long)layout->stride);
    uint64_t end = layout->count > 0 ? offset + (layout->count - 1) * layout->stride + size : 0;
    if (end > view.size)
        return lmi_gltf_fail(file, where, "accessor %llu: it ends at byte %llu of bufferView %llu, which has %llu",
                             (unsigned long long)accessor, (unsigned long long)end, (unsigned long long)view_index,
                             (unsigned long long)view.size);
    layout->bytes = view.bytes + (layout->count > 0 ? offset : 0);
    return true;
}

static bool find_layout(gltf_file *file, uint64_t index, gltf_layout *layout)
{
    const gltf_list *list = &file->accessors;
    const json_value *object = list->items[index], *normalised = lmi_json_get(object, "normalized");
    uint64_t view, offset;
    *layout = (gltf_layout){.components = components_of(lmi_json_get(object, "type"))};
    if (!lmi_gltf_take_number(file, list, index, object, "componentType", 65536, GLTF_REQUIRED, &layout->type) ||
        !lmi_gltf_take_number(file, list, index, object, "count", UINT32_MAX, GLTF_REQUIRED, &layout->count) ||
        !lmi_gltf_take_number(file, list, index, object, "byteOffset", UINT32_MAX, 0, &offset) ||
        !lmi_gltf_take_number(file, list, index, object, "bufferView", file->buffer_views.count, GLTF_NONE, &view))
        return false;
    if (layout->components == 0 || component_size(layout->type) == 0)
        return lmi_gltf_fail(file, object, "accessor %llu: its type or componentType is not one of a mesh",
                             (unsigned long long)index);
    layout->normalised = normalised && normalised->kind == JSON_KIND_BOOL && normalised->boolean;
    if (view != GLTF_NONE) return lay_over_view(file, index, view, offset, true, layout);
    if (layout->count > file->total_size)
        return lmi_gltf_fail(file, object, "accessor %llu: %llu elements without a bufferView in a file of %llu bytes",
                             (unsigned long long)index, (unsigned long long)layout->count,
                             (unsigned long long)file->total_size);
    return true;
}

static void load_element(const gltf_layout *layout, uint64_t element, double *values)
{
    const unsigned char *at = layout->bytes + element * layout->stride;
    uint32_t size = component_size(layout->type);
    for (uint32_t i = 0; i < layout->components; i++)
        values[i] = load_component(at + (size_t)i * size, layout->type, layout->normalised);
}

/* A sparse accessor puts other values in the place of some elements. */
static bool read_sparse(gltf_file *file, uint64_t index, const json_value *sparse, const gltf_layout *base,
                        gltf_array *array)
{
    const gltf_list *list = &file->accessors;
    const json_value *indices = lmi_json_get(sparse, "indices"), *values = lmi_json_get(sparse, "values");
    uint64_t index_view, index_offset, value_view, value_offset;
    gltf_layout places = {.components = 1}, changes = *base;
    if (!lmi_gltf_take_number(file, list, index, sparse, "count", base->count + 1, GLTF_REQUIRED, &places.count) ||
        !lmi_gltf_take_number(file, list, index, indices, "bufferView", file->buffer_views.count, GLTF_REQUIRED,
                              &index_view) ||
        !lmi_gltf_take_number(file, list, index, indices, "byteOffset", UINT32_MAX, 0, &index_offset) ||
        !lmi_gltf_take_number(file, list, index, indices, "componentType", 65536, GLTF_REQUIRED, &places.type) ||
        !lmi_gltf_take_number(file, list, index, values, "bufferView", file->buffer_views.count, GLTF_REQUIRED,
                              &value_view) ||
        !lmi_gltf_take_number(file, list, index, values, "byteOffset", UINT32_MAX, 0, &value_offset))
        return false;
    changes.count = places.count;
    if (component_size(places.type) == 0 || places.type == FLOAT)
        return lmi_gltf_fail(file, sparse, "accessor %llu: sparse indices that are not whole numbers",
                             (unsigned long long)index);
    if (!lay_over_view(file, index, index_view, index_offset, false, &places) ||
        !lay_over_view(file, index, value_view, value_offset, false, &changes))
        return false;
    for (uint64_t i = 0; i < places.count; i++) {
        double place;
        load_element(&places, i, &place);
        if (!(place >= 0.0 && place < array->count))
            return lmi_gltf_fail(file, sparse, "accessor %llu: it changes element %.0f of %u",
                                 (unsigned long long)index, place, array->count);
        load_element(&changes, i, array->values + (size_t)place * array->components);
    }
    return true;
}

bool lmi_gltf_read_accessor(gltf_file *file, uint64_t index, gltf_array *array)
{
    gltf_layout layout;
    *array = (gltf_array){.values = NULL};
    if (!find_layout(file, index, &layout)) return false;
    const json_value *object = file->accessors.items[index], *sparse = lmi_json_get(object, "sparse");
    file->work += layout.count;
    if (file->work > LM_MAX_PARTICLES && file->work > 16 * file->total_size)
        return lmi_gltf_fail(file, object, "its meshes are placed so often that they have too many vertices");
    array->count = (uint32_t)layout.count;
    array->components = layout.components;
    array->whole = layout.type != FLOAT && !layout.normalised;
    array->values = calloc((size_t)layout.count * layout.components + 1, sizeof *array->values);
    if (!array->values) return lmi_mesh_reader_out_of_memory(file->reader);
    for (uint64_t i = 0; layout.bytes && i < layout.count; i++)
        load_element(&layout, i, array->values + (size_t)i * layout.components);
    return !sparse || read_sparse(file, index, sparse, &layout, array);
}
