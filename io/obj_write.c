/*
 * Writing OBJ. printf is kept away from numbers: it would write "0,5" under a locale with a decimal comma.
 */
#include "io/obj.h"

#include "io/decimal.h"
#include "io/partial.h"

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

size_t obj_format_number(float value, char text[OBJ_NUMBER_SIZE])
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
        if ((float)decimal_to_double(at, length) == (float)size) break;
    }
    return (size_t)(at - text) + length;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Lines
 */

/* `colour` may be null. */
static void write_vector(FILE *file, const char *keyword, lm_vec3 v, const uint8_t *colour)
{
    char line[6 * OBJ_NUMBER_SIZE + 16];
    float value[6] = {v.x, v.y, v.z};
    for (int i = 0; colour && i < 3; i++) value[3 + i] = (float)colour[i] / 255.0f;
    size_t length = strlen(keyword);
    memcpy(line, keyword, length);
    for (int i = 0; i < (colour ? 6 : 3); i++) {
        line[length++] = ' ';
        length += obj_format_number(value[i], line + length);
    }
    line[length++] = '\n';
    fwrite(line, 1, length, file);
}

static void write_name(FILE *file, const char *name)
{
    fputs("o ", file);
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        fputc(byte <= ' ' || byte == 127 ? '_' : byte, file);
    }
    fputc('\n', file);
}

static void write_vertices(FILE *file, const obj_object *object)
{
    write_name(file, object->name);
    const uint8_t *colours = object->colours;
    for (uint32_t i = 0; i < object->vertex_count; i++)
        write_vector(file, "v", object->positions[i], colours ? colours + 3u * (size_t)i : NULL);
    for (uint32_t i = 0; object->normals && i < object->vertex_count; i++)
        write_vector(file, "vn", object->normals[i], NULL);
}

/* `first` and `first_normal` are the numbers, counted through the whole file from 1, of the object's first position and
 * normal. */
static void write_faces(FILE *file, const obj_object *object, uint64_t first, uint64_t first_normal)
{
    for (uint32_t t = 0; t < object->triangle_count; t++) {
        fputc('f', file);
        for (int c = 0; c < 3; c++) {
            uint64_t index = object->triangles[3u * (size_t)t + c];
            if (object->normals)
                fprintf(file, " %llu//%llu", (unsigned long long)(first + index),
                        (unsigned long long)(first_normal + index));
            else
                fprintf(file, " %llu", (unsigned long long)(first + index));
        }
        fputc('\n', file);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool is_finite(lm_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static bool check_object(const char *path, const obj_object *object, obj_error *error)
{
    for (uint32_t i = 0; i < object->vertex_count; i++) {
        if (is_finite(object->positions[i]) && (!object->normals || is_finite(object->normals[i]))) continue;
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

bool obj_check(const char *path, const obj_object *objects, uint32_t object_count, obj_error *error)
{
    for (uint32_t i = 0; i < object_count; i++)
        if (!check_object(path, &objects[i], error)) return false;
    return true;
}

void obj_print(FILE *file, const obj_object *objects, uint32_t object_count)
{
    fputs("# Limber: metres, Y up\n", file);
    uint64_t first = 1, first_normal = 1;
    for (uint32_t i = 0; i < object_count && !ferror(file); i++) {
        write_vertices(file, &objects[i]);
        write_faces(file, &objects[i], first, first_normal);
        first += objects[i].vertex_count;
        if (objects[i].normals) first_normal += objects[i].vertex_count;
    }
}

bool obj_write(const char *path, const obj_object *objects, uint32_t object_count, obj_error *error)
{
    partial_file file;
    if (!obj_check(path, objects, object_count, error) || !partial_open(&file, path, error->text)) return false;
    obj_print(file.stream, objects, object_count);
    return partial_keep(&file, error->text);
}
