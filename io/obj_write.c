/*
 * Writing OBJ. printf is kept away from numbers: it would write "0,5" under a locale with a decimal comma.
 */
#include "io/obj.h"

#include "io/decimal.h"
#include "support/partial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Numbers
 */

static double power_of_ten(int exponent)
{
    /* Exact up to 10^22; beyond it, and below 1, a few roundings that nine digits do not show. */
    double power = 1.0;
    for (int n = exponent < 0 ? -exponent : exponent; n > 0; n--) power *= 10.0;
    return exponent < 0 ? 1.0 / power : power;
}

/* `count` significant digits of a positive value: value = d.ddd * 10^*exponent. */
static void take_digits(double value, int count, char *digits, int *exponent)
{
    int power = 0;
    while (value >= power_of_ten(power + 1)) power++;
    while (value < power_of_ten(power)) power--;

    int shift = count - 1 - power;
    double scaled = shift >= 0 ? value * power_of_ten(shift) : value / power_of_ten(-shift);
    uint64_t integer = (uint64_t)(scaled + 0.5);
    uint64_t limit = (uint64_t)power_of_ten(count);
    if (integer >= limit) { /* 9.996 rounds up to 10.00 */
        integer /= 10;
        power++;
    }
    for (int i = count - 1; i >= 0; i--) {
        digits[i] = (char)('0' + integer % 10);
        integer /= 10;
    }
    *exponent = power;
}

/* Digits with the point where it belongs: plain between 1e-5 and 1e9, else with an exponent. */
static size_t place_point(const char *digits, int count, int exponent, char *text)
{
    char *at = text;
    bool plain = exponent >= -5 && exponent < 9;
    int point = plain ? exponent + 1 : 1; /* digits before the point */
    if (point <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = point; i < 0; i++) *at++ = '0';
        point = -1; /* placed */
    }
    for (int i = 0; i < count; i++) {
        if (i == point) *at++ = '.';
        *at++ = digits[i];
    }
    for (int i = count; i < point; i++) *at++ = '0';
    if (!plain) {
        int size = exponent < 0 ? -exponent : exponent; /* at most 45 for a float */
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        *at++ = (char)('0' + size / 10);
        *at++ = (char)('0' + size % 10);
    }
    *at = '\0';
    return (size_t)(at - text);
}

size_t lmi_obj_format_number(float value, char text[OBJ_NUMBER_SIZE])
{
    char *at = text;
    if (value == 0.0f) { /* of either sign: nobody reads -0 as anything else */
        memcpy(text, "0", 2);
        return 1;
    }
    double size = (double)value;
    if (size < 0.0) {
        *at++ = '-';
        size = -size;
    }
    /* Six digits hold most numbers that people choose; nine hold every float. */
    size_t length = 0;
    for (int count = 6; count <= 9; count++) {
        char digits[9];
        int exponent;
        take_digits(size, count, digits, &exponent);
        int significant = count;
        while (significant > 1 && digits[significant - 1] == '0') significant--;
        length = place_point(digits, significant, exponent, at);
        if ((float)lmi_decimal_to_double(at, length) == (float)size) break;
    }
    return (size_t)(at - text) + length;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Lines
 */

static void write_numbers(FILE *file, const char *keyword, const float *values, int count)
{
    char line[6 * OBJ_NUMBER_SIZE + 16];
    size_t length = strlen(keyword);
    memcpy(line, keyword, length);
    for (int i = 0; i < count; i++) {
        line[length++] = ' ';
        length += lmi_obj_format_number(values[i], line + length);
    }
    line[length++] = '\n';
    fwrite(line, 1, length, file);
}

/* `colour` may be null. */
static void write_vector(FILE *file, const char *keyword, lm_vec3 v, const uint8_t *colour)
{
    float value[6] = {v.x, v.y, v.z};
    for (int i = 0; colour && i < 3; i++) value[3 + i] = (float)colour[i] / 255.0f;
    write_numbers(file, keyword, value, colour ? 6 : 3);
}

static void write_name(FILE *file, const char *keyword, const char *name)
{
    fputs(keyword, file);
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        fputc(byte <= ' ' || byte == 127 ? '_' : byte, file);
    }
    fputc('\n', file);
}

static void write_vertices(FILE *file, const lm_mesh_object *object)
{
    const uint8_t *colours = object->colours;
    for (uint32_t i = 0; i < object->vertex_count; i++)
        write_vector(file, "v", object->positions[i], colours ? colours + 3u * (size_t)i : NULL);
    for (uint32_t i = 0; object->uvs && i < object->vertex_count; i++)
        write_numbers(file, "vt", object->uvs + 2u * (size_t)i, 2);
    for (uint32_t i = 0; object->normals && i < object->vertex_count; i++)
        write_vector(file, "vn", object->normals[i], NULL);
}

/* Numbers of an object's first position, texture coordinates and normal, counted through the whole file from 1. */
typedef struct first_numbers {
    uint64_t position, uv, normal;
} first_numbers;

static void write_corner(FILE *file, const lm_mesh_object *object, first_numbers first, uint32_t index)
{
    fprintf(file, " %llu", (unsigned long long)(first.position + index));
    if (object->uvs) fprintf(file, "/%llu", (unsigned long long)(first.uv + index));
    if (object->normals) fprintf(file, "%s%llu", object->uvs ? "/" : "//", (unsigned long long)(first.normal + index));
}

/* Returns the numbers of the object that follows. */
static first_numbers write_faces(FILE *file, const lm_mesh_object *object, first_numbers first)
{
    for (uint32_t t = 0; t < object->triangle_count; t++) {
        fputc('f', file);
        for (int c = 0; c < 3; c++) write_corner(file, object, first, object->triangles[3u * (size_t)t + (unsigned)c]);
        fputc('\n', file);
    }
    first.position += object->vertex_count;
    if (object->uvs) first.uv += object->vertex_count;
    if (object->normals) first.normal += object->vertex_count;
    return first;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool is_finite(lm_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static bool is_complete(const lm_mesh_object *object)
{
    return object->name && (object->positions || object->vertex_count == 0) &&
           (object->triangles || object->triangle_count == 0);
}

static bool vertex_is_finite(const lm_mesh_object *object, uint32_t i)
{
    if (!is_finite(object->positions[i]) || (object->normals && !is_finite(object->normals[i]))) return false;
    const float *uv = object->uvs ? object->uvs + 2u * (size_t)i : NULL;
    return !uv || (isfinite(uv[0]) && isfinite(uv[1]));
}

static bool check_object(const char *path, const lm_mesh_object *object, lm_mesh_error *error)
{
    if (!is_complete(object)) {
        snprintf(error->text, sizeof error->text, "%s: an object lacks its name or an array", path);
        return false;
    }
    for (uint32_t i = 0; i < object->vertex_count; i++) {
        if (vertex_is_finite(object, i)) continue;
        snprintf(error->text, sizeof error->text, "%s: vertex %u of \"%s\" is not finite", path, i, object->name);
        return false;
    }
    for (size_t i = 0; i < 3u * (size_t)object->triangle_count; i++) {
        if (object->triangles[i] < object->vertex_count) continue;
        snprintf(error->text, sizeof error->text, "%s: triangle %zu of \"%s\" names vertex %u of %u", path, i / 3,
                 object->name, object->triangles[i], object->vertex_count);
        return false;
    }
    return true;
}

void lmi_obj_print(FILE *file, const lm_mesh_object *objects, uint32_t object_count, unsigned layout)
{
    bool one_mesh = (layout & OBJ_ONE_MESH) != 0;
    fprintf(file, "# Limber: metres, %c up\n", layout & OBJ_Z_UP ? 'Z' : 'Y');
    if (one_mesh) {
        fputs("o limber\n", file);
        for (uint32_t i = 0; i < object_count; i++) write_vertices(file, &objects[i]);
    }
    first_numbers first = {1, 1, 1};
    for (uint32_t i = 0; i < object_count && !ferror(file); i++) {
        write_name(file, one_mesh ? "g " : "o ", objects[i].name);
        if (!one_mesh) write_vertices(file, &objects[i]);
        first = write_faces(file, &objects[i], first);
    }
}

bool lm_mesh_write_obj(const char *path, const lm_mesh_object *objects, uint32_t object_count, lm_mesh_error *error)
{
    _Static_assert(PARTIAL_ERROR_SIZE <= LM_MESH_ERROR_SIZE, "one line for both");
    for (uint32_t i = 0; i < object_count; i++)
        if (!check_object(path, &objects[i], error)) return false;
    partial_file file;
    if (!lmi_partial_open(&file, path, error->text)) return false;
    lmi_obj_print(file.stream, objects, object_count, 0);
    return lmi_partial_keep(&file, error->text);
}
