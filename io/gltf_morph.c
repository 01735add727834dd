/*
 * Morph targets of a glTF mesh: how far each position of a primitive moves. A target is known by its number, which is its place
 * in the list of every primitive of the mesh, or by its name, which programs write into the mesh's extras.targetNames.
 *
 * Several meshes of a file may have the same target, as the parts of a face do; those without it stay as they are.
 */
#include "io/gltf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_TARGET UINT32_MAX

static const json_value *names_of(const gltf_file *file, uint64_t mesh)
{
    const json_value *names = lmi_json_get(lmi_json_get(file->meshes.items[mesh], "extras"), "targetNames");
    return names && names->kind == JSON_KIND_ARRAY ? names : NULL;
}

static const json_value *targets_of(const json_value *primitive)
{
    const json_value *targets = lmi_json_get(primitive, "targets");
    return targets && targets->kind == JSON_KIND_ARRAY ? targets : NULL;
}

/* A word of digits alone as a number. */
static uint32_t number_in(const char *text)
{
    uint32_t number = 0, length = 0;
    for (; text[length] >= '0' && text[length] <= '9' && length < 9; length++)
        number = 10 * number + (uint32_t)(text[length] - '0');
    return length > 0 && text[length] == '\0' ? number : NO_TARGET;
}

/* A name comes before a number, which may be the name of another target. */
static uint32_t find_target(const gltf_file *file, uint64_t mesh, bool *by_name)
{
    const json_value *names = names_of(file, mesh);
    uint32_t number = 0;
    for (const json_value *name = names ? names->first : NULL; name; name = name->next, number++)
        if (name->kind == JSON_KIND_STRING && strcmp(name->text, file->reader->target) == 0) {
            *by_name = true;
            return number;
        }
    *by_name = false;
    return number_in(file->reader->target);
}

static bool move_positions(gltf_file *file, uint64_t accessor, gltf_array *moves, gltf_array *positions)
{
    if (!lmi_gltf_read_accessor(file, accessor, moves)) return false;
    if (moves->count != positions->count || moves->components != 3)
        return lmi_gltf_fail(file, file->accessors.items[accessor],
                             "accessor %llu: a morph target of %u elements of %u numbers (expected %u of 3)",
                             (unsigned long long)accessor, moves->count, moves->components, positions->count);
    for (uint32_t i = 0; i < moves->count; i++)
        for (uint32_t k = 0; k < 3; k++)
            positions->values[(size_t)i * positions->components + k] += moves->values[3 * (size_t)i + k];
    return true;
}

bool lmi_gltf_morph(gltf_file *file, uint64_t index, uint64_t number, const json_value *primitive,
                    gltf_array *positions)
{
    bool by_name;
    if (!file->reader->target) return true;
    const json_value *targets = targets_of(primitive);
    uint32_t wanted = find_target(file, index, &by_name);
    if (wanted == NO_TARGET) return true;
    if (!targets || wanted >= targets->count) {
        return !by_name ||
               lmi_gltf_fail(file, primitive, "mesh %llu: primitive %llu: it has no target %u, \"%.60s\"",
                             (unsigned long long)index, (unsigned long long)number, wanted, file->reader->target);
    }
    uint64_t accessor;
    if (!lmi_gltf_take_number(file, &file->meshes, index, lmi_json_at(targets, wanted), "POSITION",
                              file->accessors.count, GLTF_NONE, &accessor))
        return false;
    file->found_target = true;
    if (accessor == GLTF_NONE) return true; /* a target that changes something else, as colours */
    gltf_array moves = {.values = NULL};
    bool moved = move_positions(file, accessor, &moves, positions);
    free(moves.values);
    return moved;
}

/* What there is, for a message: the names of the first mesh that has some, or how many. */
static void describe_targets(const gltf_file *file, char *text, size_t size)
{
    uint32_t most = 0;
    for (uint32_t mesh = 0; mesh < file->meshes.count; mesh++) {
        const json_value *names = names_of(file, mesh),
                         *primitives = lmi_json_get(file->meshes.items[mesh], "primitives");
        const json_value *targets = targets_of(primitives ? primitives->first : NULL);
        most = targets && targets->count > most ? targets->count : most;
        size_t length = (size_t)snprintf(text, size, "expected one of:");
        const json_value *name = names && targets ? names->first : NULL;
        for (; name && length + 40 < size; name = name->next)
            if (name->kind == JSON_KIND_STRING)
                length += (size_t)snprintf(text + length, size - length, " \"%.30s\"", name->text);
        if (length > strlen("expected one of:")) return;
    }
    snprintf(text, size, most > 0 ? "it has %u, counted from 0" : "it has none", most);
}

bool lmi_gltf_check_target(gltf_file *file)
{
    if (!file->reader->target || file->found_target) return true;
    char there[200];
    describe_targets(file, there, sizeof there);
    return lmi_gltf_fail(file, NULL, "there is no morph target \"%.60s\" (%s)", file->reader->target, there);
}
