/*
 * Nodes and tetrahedra as they are read, and the numbers of text and binary files.
 */
#include "io/tets_reader.h"

#include "io/decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * What is read
 */

/* Room for `needed` tags; on failure there is what there was. */
static bool grow_tags(uint64_t **tags, size_t *capacity, uint64_t needed)
{
    uint64_t *larger = lmi_mesh_grow(*tags, capacity, needed, sizeof **tags);
    if (larger) *tags = larger;
    return larger != NULL;
}

bool lmi_tets_reader_add_node(tets_reader *reader, int64_t tag, const double at[3])
{
    mesh_reader *file = &reader->file;
    uint32_t count = file->mesh.vertex_count;
    if (tag < 0) return lmi_mesh_reader_fail(file, "%lld is not the number of a node", (long long)tag);
    for (int i = 0; i < 3; i++) {
        if (!isfinite(at[i])) return lmi_mesh_reader_fail(file, "node %lld is not finite", (long long)tag);
        if (fabs(at[i]) > (double)LM_MAX_COORDINATE)
            return lmi_mesh_reader_fail(file, "a coordinate of node %lld is beyond 1e9", (long long)tag);
    }
    if (count >= LM_MAX_PARTICLES)
        return lmi_mesh_reader_fail(file, "more than %u nodes, the most there may be", LM_MAX_PARTICLES);
    if (!grow_tags(&reader->node_tags, &reader->node_tag_capacity, (uint64_t)count + 1))
        return lmi_mesh_reader_out_of_memory(file);
    reader->node_tags[count] = (uint64_t)tag;
    return lmi_mesh_reader_add_vertex(file, (lm_vec3){(float)at[0], (float)at[1], (float)at[2]});
}

bool lmi_tets_reader_add_tet(tets_reader *reader, int64_t tag, const int64_t corners[4])
{
    mesh_reader *file = &reader->file;
    uint32_t count = reader->data.tet_count;
    if (tag < 0) return lmi_mesh_reader_fail(file, "%lld is not the number of a tetrahedron", (long long)tag);
    if (count >= LM_TETS_MAX)
        return lmi_mesh_reader_fail(file, "more than %u tetrahedra, the most there may be", LM_TETS_MAX);
    if (!grow_tags(&reader->tet_tags, &reader->tet_tag_capacity, (uint64_t)count + 1) ||
        !grow_tags(&reader->corner_tags, &reader->corner_tag_capacity, 4 * ((uint64_t)count + 1)))
        return lmi_mesh_reader_out_of_memory(file);
    reader->tet_tags[count] = (uint64_t)tag;
    for (size_t i = 0; i < 4; i++) {
        if (corners[i] < 0)
            return lmi_mesh_reader_fail(file, "tetrahedron %lld has node %lld, which does not exist", (long long)tag,
                                        (long long)corners[i]);
        reader->corner_tags[4 * (size_t)count + i] = (uint64_t)corners[i];
    }
    reader->data.tet_count++;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Text
 */

static bool fail_expected(tets_reader *reader, const char *what, const char *word, size_t length)
{
    if (length == 0) return lmi_mesh_reader_fail(&reader->file, "the file ends where %s is expected", what);
    return lmi_mesh_reader_fail(&reader->file, "\"%.*s\" (expected %s)", lmi_mesh_reader_shown(length), word, what);
}

bool lmi_tets_reader_whole(tets_reader *reader, const char *what, int64_t *value)
{
    const char *word;
    size_t length = lmi_mesh_reader_word(&reader->file, &word), at = 0;
    bool negative = length > 0 && word[0] == '-';
    at += negative || (length > 0 && word[0] == '+');
    if (length == at || length - at > 18) return fail_expected(reader, what, word, length);
    *value = 0;
    for (; at < length; at++) {
        if (word[at] < '0' || word[at] > '9') return fail_expected(reader, what, word, length);
        *value = *value * 10 + (word[at] - '0');
    }
    *value = negative ? -*value : *value;
    return true;
}

bool lmi_tets_reader_count(tets_reader *reader, const char *what, uint64_t *value)
{
    int64_t number = 0;
    if (!lmi_tets_reader_whole(reader, what, &number)) return false;
    if (number < 0) return lmi_mesh_reader_fail(&reader->file, "%lld (expected %s)", (long long)number, what);
    *value = (uint64_t)number;
    return true;
}

bool lmi_tets_reader_real(tets_reader *reader, const char *what, double *value)
{
    const char *word;
    size_t length = lmi_mesh_reader_word(&reader->file, &word);
    return (length > 0 && lmi_decimal_read(word, length, value)) || fail_expected(reader, what, word, length);
}

const char *lmi_tets_reader_what(char buffer[TETS_WHAT_SIZE], const char *what, uint64_t index, uint64_t count)
{
    snprintf(buffer, TETS_WHAT_SIZE, "%s %llu of %llu", what, (unsigned long long)index + 1, (unsigned long long)count);
    return buffer;
}

bool lmi_tets_reader_peek(const tets_reader *reader, const char *expected)
{
    mesh_reader ahead = reader->file;
    const char *word;
    size_t length = lmi_mesh_reader_word(&ahead, &word);
    return length == strlen(expected) && memcmp(word, expected, length) == 0;
}

bool lmi_tets_reader_expect(tets_reader *reader, const char *expected)
{
    const char *word;
    size_t length = lmi_mesh_reader_word(&reader->file, &word);
    return (length == strlen(expected) && memcmp(word, expected, length) == 0) ||
           fail_expected(reader, expected, word, length);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Binary
 */

bool lmi_tets_reader_has(const tets_reader *reader, uint64_t count, uint64_t size)
{
    return count <= (uint64_t)(reader->file.end - reader->file.at) / size;
}

static uint64_t take_bits(tets_reader *reader, int size)
{
    const unsigned char *bytes = (const unsigned char *)reader->file.at;
    uint64_t bits = 0;
    for (int k = 0; k < size; k++) bits |= (uint64_t)bytes[k] << 8 * (reader->big_endian ? size - 1 - k : k);
    reader->file.at += size;
    return bits;
}

int32_t lmi_tets_reader_i32(tets_reader *reader) { return (int32_t)(uint32_t)take_bits(reader, 4); }

int64_t lmi_tets_reader_i64(tets_reader *reader) { return (int64_t)take_bits(reader, 8); }

double lmi_tets_reader_f64(tets_reader *reader)
{
    uint64_t bits = take_bits(reader, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float lmi_tets_reader_f32(tets_reader *reader)
{
    uint32_t bits = (uint32_t)take_bits(reader, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
