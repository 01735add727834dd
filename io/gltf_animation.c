/*
 * Animations of a glTF file: which part of which node follows which sampler, and the keys of the samplers. Morph targets,
 * and nodes that carry no joint, are passed over.
 */
#include "io/gltf_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct channel {
    uint32_t animation; /* number */
    const json_value *object;
    const gltf_list *list; /* for messages */
} channel;

/* Of `values`; -1 when it is none of them. */
static int choose(const json_value *value, const char *const *names, int count)
{
    for (int i = 0; value && value->kind == JSON_KIND_STRING && i < count; i++)
        if (strcmp(value->text, names[i]) == 0) return i;
    return -1;
}

static bool check_times(gltf_file *file, const channel *c, const gltf_array *times)
{
    if (times->components != 1 || times->count == 0)
        return lmi_gltf_fail(file, c->object, "animation %u: the times of a sampler are not numbers, or there are none",
                             c->animation);
    for (uint32_t i = 0; i < times->count; i++)
        if (!(fabs(times->values[i]) <= 1e9) || (i > 0 && !(times->values[i] > times->values[i - 1])))
            return lmi_gltf_fail(file, c->object, "animation %u: key %u at %g s (expected later than the one before)",
                                 c->animation, i, times->values[i]);
    return true;
}

static bool check_values(gltf_file *file, const channel *c, const lm_rig_track *track, const gltf_array *values)
{
    uint32_t width = track->path == LM_RIG_ROTATION ? 4 : 3, each = track->interpolation == LM_RIG_CUBIC ? 3 : 1;
    if (values->components != width || values->count != (uint64_t)each * track->count)
        return lmi_gltf_fail(file, c->object, "animation %u: %u values of %u numbers for %u keys (expected %u of %u)",
                             c->animation, values->count, values->components, track->count, each * track->count, width);
    for (uint32_t i = 0; i < values->count; i++) {
        const double *v = values->values + (size_t)i * width;
        double square = 0.0;
        for (uint32_t k = 0; k < width; k++) {
            square += v[k] * v[k];
            if (!(fabs(v[k]) <= 1e9))
                return lmi_gltf_fail(file, c->object, "animation %u: value %u is not finite or too large", c->animation,
                                     i);
        }
        bool tangent = each == 3 && i % 3 != 1;
        if (track->path == LM_RIG_ROTATION && !tangent && !(square > 1e-12))
            return lmi_gltf_fail(file, c->object, "animation %u: key %u is a rotation of length 0", c->animation,
                                 i / each);
    }
    return true;
}

static bool read_sampler(gltf_file *file, const channel *c, const json_value *sampler, lm_rig_track *track)
{
    static const char *const interpolations[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    const json_value *interpolation = lmi_json_get(sampler, "interpolation");
    int kind = interpolation ? choose(interpolation, interpolations, 3) : LM_RIG_LINEAR;
    if (kind < 0)
        return lmi_gltf_fail(file, interpolation,
                             "animation %u: its interpolation is unknown (expected LINEAR, STEP or CUBICSPLINE)",
                             c->animation);
    uint64_t input, output;
    if (!lmi_gltf_take_number(file, c->list, c->animation, sampler, "input", file->accessors.count, GLTF_REQUIRED,
                              &input) ||
        !lmi_gltf_take_number(file, c->list, c->animation, sampler, "output", file->accessors.count, GLTF_REQUIRED,
                              &output))
        return false;
    gltf_array times = {0}, values = {0};
    track->interpolation = (lm_rig_interpolation)kind;
    bool read = lmi_gltf_read_accessor(file, input, &times) && check_times(file, c, &times);
    track->count = times.count;
    read = read && lmi_gltf_read_accessor(file, output, &values) && check_values(file, c, track, &values);
    track->times = times.values;
    track->values = values.values;
    return read;
}

/* The channel's track at the end of the rig's list, unless it moves nothing of the rig. */
static bool read_channel(gltf_file *file, rig_reading *reading, const channel *c, const json_value *samplers)
{
    static const char *const paths[] = {"translation", "rotation", "scale"};
    const json_value *target = lmi_json_get(c->object, "target");
    lm_rig_data *rig = reading->rig;
    uint64_t node, number;
    uint32_t sampler_count = samplers && samplers->kind == JSON_KIND_ARRAY ? samplers->count : 0;
    if (!lmi_gltf_take_number(file, c->list, c->animation, target, "node", file->nodes.count, GLTF_NONE, &node) ||
        !lmi_gltf_take_number(file, c->list, c->animation, c->object, "sampler", sampler_count, GLTF_REQUIRED, &number))
        return false;
    int path = choose(lmi_json_get(target, "path"), paths, LM_RIG_PATH_COUNT);
    if (node == GLTF_NONE || reading->places[node] == LM_RIG_NONE || path < 0) return true;
    lm_rig_track *track = &rig->tracks[rig->track_count];
    *track =
        (lm_rig_track){.animation = rig->animation_count, .node = reading->places[node], .path = (lm_rig_path)path};
    rig->track_count++; /* so that what it has is freed, whatever comes */
    if (!read_sampler(file, c, lmi_json_at(samplers, (uint32_t)number), track)) return false;
    double *duration = &rig->animations[rig->animation_count].duration;
    *duration = fmax(*duration, track->times[track->count - 1]);
    return true;
}

static bool read_animation(gltf_file *file, rig_reading *reading, uint32_t index)
{
    lm_rig_data *rig = reading->rig;
    const json_value *object = file->animations.items[index], *channels = lmi_json_get(object, "channels");
    uint32_t count = channels && channels->kind == JSON_KIND_ARRAY ? channels->count : 0;
    lm_rig_track *tracks = realloc(rig->tracks, ((size_t)rig->track_count + count + 1) * sizeof *tracks);
    if (!tracks) return lmi_mesh_reader_out_of_memory(file->reader);
    rig->tracks = tracks;
    if (!lmi_rig_keep_name(file, reading, lmi_json_get(object, "name"), NULL, index, &rig->animations[index].name))
        return false;
    for (const json_value *item = count > 0 ? channels->first : NULL; item; item = item->next) {
        channel c = {index, item, &file->animations};
        if (!read_channel(file, reading, &c, lmi_json_get(object, "samplers"))) return false;
    }
    rig->animation_count++;
    return true;
}

bool lmi_gltf_read_animations(gltf_file *file, rig_reading *reading)
{
    lm_rig_data *rig = reading->rig;
    rig->animations = calloc((size_t)file->animations.count + 1, sizeof *rig->animations);
    if (!rig->animations) return lmi_mesh_reader_out_of_memory(file->reader);
    for (uint32_t i = 0; i < file->animations.count; i++)
        if (!read_animation(file, reading, i)) return false;
    return true;
}
