/*
 * The motion of a glTF file: for each vertex that the mesh reader gives, where it is at a time of an animation. A vertex is moved by
 * the morph targets of its primitive, then by the joints of its skin, or by its node where it has none.
 */
#include "io/gltf_cache.h"
#include "io/gltf_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INFLUENCES 8u

/* Vertices of one primitive on one node. */
typedef struct part {
    uint32_t first, count; /* vertices */
    uint32_t node;         /* in the rig */
    uint32_t skin;         /* or LM_RIG_NONE */
    double *positions;     /* [vertex][3] */
    uint32_t influences;   /* 0, 4 or 8 */
    uint32_t *joints;      /* [vertex][influences] of the skin */
    float *weights;
    uint32_t target_count;
    float *moves;    /* [target][vertex][3] */
    double *amounts; /* [target] where nothing animates them */
} part;

typedef struct skin {
    uint32_t count;
    uint32_t *nodes;      /* in the rig */
    gltf_matrix *inverse; /* bind matrices */
} skin;

/* How the weights of morph targets change. */
typedef struct weight_track {
    uint32_t node; /* in the rig */
    lm_rig_interpolation interpolation;
    uint32_t count;   /* of keys */
    uint32_t targets; /* values for each */
    double *times, *values;
} weight_track;

struct gltf_motion {
    lm_rig_data rig; /* all nodes, no joints */
    part *parts;
    uint32_t part_count, vertex_count;
    skin *skins;
    uint32_t skin_count;
    weight_track *tracks; /* of the animation that was asked for */
    uint32_t track_count, animation;
    const char *wanted; /* while it is read */
};

void lmi_gltf_motion_free(gltf_motion *m)
{
    if (!m) return;
    for (uint32_t i = 0; i < m->part_count; i++) {
        free(m->parts[i].positions);
        free(m->parts[i].joints);
        free(m->parts[i].weights);
        free(m->parts[i].moves);
        free(m->parts[i].amounts);
    }
    for (uint32_t i = 0; i < m->skin_count; i++) {
        free(m->skins[i].nodes);
        free(m->skins[i].inverse);
    }
    for (uint32_t i = 0; i < m->track_count; i++) {
        free(m->tracks[i].times);
        free(m->tracks[i].values);
    }
    free(m->parts);
    free(m->skins);
    free(m->tracks);
    lm_rig_free(&m->rig);
    free(m);
}

uint32_t lmi_gltf_motion_vertex_count(const gltf_motion *m) { return m->vertex_count; }

/* ------------------------------------------------------------------------------------------------------------------
 * Skins
 */

static bool read_matrices(gltf_file *file, uint32_t index, skin *to)
{
    const json_value *object = file->skins.items[index];
    uint64_t accessor;
    for (uint32_t i = 0; i < to->count; i++) to->inverse[i] = lmi_gltf_identity;
    if (!lmi_gltf_take_number(file, &file->skins, index, object, "inverseBindMatrices", file->accessors.count,
                              GLTF_NONE, &accessor))
        return false;
    if (accessor == GLTF_NONE) return true;
    gltf_array matrices = {0};
    bool read = lmi_gltf_read_accessor(file, accessor, &matrices);
    if (read && (matrices.components != 16 || matrices.count < to->count))
        read = lmi_gltf_fail(file, object, "skin %u: its inverseBindMatrices are not %u MAT4", index, to->count);
    for (uint32_t i = 0; read && i < to->count; i++)
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 4; column++)
                to->inverse[i].m[row][column] = matrices.values[16 * (size_t)i + 4 * (size_t)column + (size_t)row];
    free(matrices.values);
    return read;
}

static bool read_skin(gltf_file *file, const rig_reading *reading, uint32_t index, skin *to)
{
    const json_value *list = lmi_json_get(file->skins.items[index], "joints");
    if (!list || list->kind != JSON_KIND_ARRAY || list->count == 0)
        return lmi_gltf_fail(file, file->skins.items[index], "skin %u: it has no joints", index);
    to->nodes = malloc(list->count * sizeof *to->nodes);
    to->inverse = malloc(list->count * sizeof *to->inverse);
    if (!to->nodes || !to->inverse) return lmi_mesh_reader_out_of_memory(file->reader);
    for (const json_value *item = list->first; item; item = item->next) {
        if (item->kind != JSON_KIND_NUMBER || !(item->number >= 0.0 && item->number < file->nodes.count) ||
            item->number != floor(item->number))
            return lmi_gltf_fail(file, item, "skin %u: a joint that is not a node (there are %u)", index,
                                 file->nodes.count);
        to->nodes[to->count++] = reading->places[(uint32_t)item->number];
    }
    return read_matrices(file, index, to);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Parts
 */

static bool read_attribute(gltf_file *file, const gltf_origin *from, const json_value *attributes, const char *name,
                           gltf_array *array)
{
    uint64_t accessor;
    *array = (gltf_array){0};
    if (!lmi_gltf_take_number(file, &file->meshes, from->mesh, attributes, name, file->accessors.count, GLTF_NONE,
                              &accessor))
        return false;
    return accessor == GLTF_NONE || lmi_gltf_read_accessor(file, accessor, array);
}

static bool keep_positions(gltf_file *file, const gltf_origin *from, part *p)
{
    gltf_array positions;
    bool read = read_attribute(file, from, lmi_json_get(from->primitive, "attributes"), "POSITION", &positions);
    p->positions = read ? malloc(3 * (size_t)p->count * sizeof *p->positions) : NULL;
    if (read && !p->positions) read = lmi_mesh_reader_out_of_memory(file->reader);
    for (uint32_t i = 0; read && i < p->count; i++)
        memcpy(p->positions + 3 * (size_t)i, positions.values + (size_t)from[i].vertex * positions.components,
               3 * sizeof *p->positions);
    free(positions.values);
    return read;
}

/* Four joints and weights of each vertex, from the place `at` on of its influences. */
static bool keep_influences(gltf_file *file, const gltf_origin *from, part *p, uint32_t at, const gltf_array *joints,
                            const gltf_array *weights, uint32_t joint_count)
{
    if (joints->components != 4 || !joints->whole || weights->components != 4 || joints->count != weights->count)
        return lmi_gltf_fail(file, from->primitive, "mesh %u: JOINTS_%u or WEIGHTS_%u is not VEC4, or not as many",
                             from->mesh, at / 4, at / 4);
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t vertex = from[i].vertex;
        if (vertex >= joints->count)
            return lmi_gltf_fail(file, from->primitive, "mesh %u: vertex %u has no joints", from->mesh, vertex);
        for (uint32_t k = 0; k < 4; k++) {
            double joint = joints->values[4 * (size_t)vertex + k], weight = weights->values[4 * (size_t)vertex + k];
            size_t to = (size_t)i * MOST_INFLUENCES + at + k;
            if (!(weight >= 0.0 && weight <= 1e6) || (weight > 0.0 && !(joint >= 0.0 && joint < joint_count)))
                return lmi_gltf_fail(file, from->primitive,
                                     "mesh %u: vertex %u follows joint %.0f by %g (there are %u joints)", from->mesh,
                                     vertex, joint, weight, joint_count);
            p->joints[to] = weight > 0.0 ? (uint32_t)joint : 0;
            p->weights[to] = (float)weight;
        }
    }
    return true;
}

static bool read_influences(gltf_file *file, const gltf_origin *from, const gltf_motion *m, part *p)
{
    const json_value *attributes = lmi_json_get(from->primitive, "attributes");
    for (uint32_t set = 0; set < MOST_INFLUENCES / 4; set++) {
        char name[2][16];
        gltf_array joints, weights = {0};
        snprintf(name[0], sizeof name[0], "JOINTS_%u", set);
        snprintf(name[1], sizeof name[1], "WEIGHTS_%u", set);
        bool read = read_attribute(file, from, attributes, name[0], &joints) &&
                    read_attribute(file, from, attributes, name[1], &weights);
        bool there = read && joints.values && weights.values;
        if (there && !p->joints) {
            p->joints = calloc((size_t)p->count * MOST_INFLUENCES, sizeof *p->joints);
            p->weights = calloc((size_t)p->count * MOST_INFLUENCES, sizeof *p->weights);
            if (!p->joints || !p->weights) read = lmi_mesh_reader_out_of_memory(file->reader);
        }
        if (there && read) read = keep_influences(file, from, p, 4 * set, &joints, &weights, m->skins[p->skin].count);
        free(joints.values);
        free(weights.values);
        if (!read) return false;
        if (there) p->influences = 4 * (set + 1);
    }
    return true;
}

/* The weights of the targets where no animation sets them: of the node, or of the mesh, or 0. */
static void find_amounts(const gltf_file *file, const gltf_origin *from, part *p)
{
    const json_value *list = lmi_json_get(file->nodes.items[from->node], "weights");
    if (!list) list = lmi_json_get(file->meshes.items[from->mesh], "weights");
    const json_value *item = list && list->kind == JSON_KIND_ARRAY ? list->first : NULL;
    for (uint32_t t = 0; t < p->target_count && item; t++, item = item->next)
        if (item->kind == JSON_KIND_NUMBER && fabs(item->number) <= 1e6) p->amounts[t] = item->number;
}

static bool read_targets(gltf_file *file, const gltf_origin *from, part *p)
{
    const json_value *targets = lmi_json_get(from->primitive, "targets");
    uint32_t number = 0;
    if (!targets || targets->kind != JSON_KIND_ARRAY || targets->count == 0) return true;
    p->target_count = targets->count;
    p->amounts = calloc(targets->count, sizeof *p->amounts);
    p->moves = calloc((size_t)targets->count, 3 * (size_t)p->count * sizeof *p->moves);
    if (!p->amounts || !p->moves) return lmi_mesh_reader_out_of_memory(file->reader);
    find_amounts(file, from, p);
    for (const json_value *item = targets->first; item; item = item->next, number++) {
        gltf_array moves;
        bool read = read_attribute(file, from, item, "POSITION", &moves);
        for (uint32_t i = 0; read && moves.values && i < p->count; i++) {
            if (moves.components != 3 || from[i].vertex >= moves.count) {
                read = lmi_gltf_fail(file, item, "mesh %u: morph target %u has no move for vertex %u", from->mesh,
                                     number, from[i].vertex);
                break;
            }
            for (uint32_t k = 0; k < 3; k++)
                p->moves[3 * ((size_t)number * p->count + i) + k] = (float)moves.values[3 * (size_t)from[i].vertex + k];
        }
        free(moves.values);
        if (!read) return false;
    }
    return true;
}

static bool read_part(gltf_file *file, const rig_reading *reading, gltf_motion *m, uint32_t first, uint32_t count)
{
    const gltf_origin *from = file->origins + first;
    uint64_t skinned;
    part *p = &m->parts[m->part_count++];
    *p = (part){.first = first, .count = count, .node = reading->places[from->node], .skin = LM_RIG_NONE};
    if (!lmi_gltf_take_number(file, &file->nodes, from->node, file->nodes.items[from->node], "skin", file->skins.count,
                              GLTF_NONE, &skinned))
        return false;
    p->skin = skinned == GLTF_NONE ? LM_RIG_NONE : (uint32_t)skinned;
    return keep_positions(file, from, p) && read_targets(file, from, p) &&
           (p->skin == LM_RIG_NONE || read_influences(file, from, m, p));
}

/* Vertices that came one after the other from one primitive on one node are a part. */
static bool read_parts(gltf_file *file, const rig_reading *reading, gltf_motion *m)
{
    const gltf_origin *origins = file->origins;
    uint32_t total = file->reader->mesh.vertex_count, first = 0, count = 0;
    m->vertex_count = total;
    for (uint32_t i = 0; i < total; i++)
        count += i == 0 || origins[i].node != origins[i - 1].node || origins[i].primitive != origins[i - 1].primitive;
    m->parts = calloc((size_t)count + 1, sizeof *m->parts);
    if (!m->parts) return lmi_mesh_reader_out_of_memory(file->reader);
    for (uint32_t i = 1; i <= total; i++) {
        bool ends =
            i == total || origins[i].node != origins[first].node || origins[i].primitive != origins[first].primitive;
        if (!ends) continue;
        if (!read_part(file, reading, m, first, i - first)) return false;
        first = i;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Weights of morph targets over time
 */

static uint32_t targets_of(const gltf_motion *m, uint32_t node)
{
    for (uint32_t i = 0; i < m->part_count; i++)
        if (m->parts[i].node == node && m->parts[i].target_count > 0) return m->parts[i].target_count;
    return 0;
}

static bool check_track(gltf_file *file, const json_value *where, const weight_track *track, uint64_t values)
{
    uint64_t each = track->interpolation == LM_RIG_CUBIC ? 3 : 1;
    if (track->count == 0 || values != each * track->count * track->targets)
        return lmi_gltf_fail(file, where, "animation: %llu weights for %u keys of %u morph targets",
                             (unsigned long long)values, track->count, track->targets);
    for (uint32_t i = 0; i < track->count; i++)
        if (!(fabs(track->times[i]) <= 1e9) || (i > 0 && !(track->times[i] > track->times[i - 1])))
            return lmi_gltf_fail(file, where, "animation: key %u at %g s (expected later than the one before)", i,
                                 track->times[i]);
    for (uint64_t i = 0; i < values; i++)
        if (!(fabs(track->values[i]) <= 1e6))
            return lmi_gltf_fail(file, where, "animation: weight %llu is not finite or too large",
                                 (unsigned long long)i);
    return true;
}

static bool read_track(gltf_file *file, gltf_motion *m, uint32_t animation, const json_value *sampler, uint32_t node)
{
    const json_value *kind = lmi_json_get(sampler, "interpolation");
    const char *name = kind && kind->kind == JSON_KIND_STRING ? kind->text : "LINEAR";
    weight_track *track = &m->tracks[m->track_count++];
    uint64_t input, output;
    gltf_array times = {0}, values = {0};
    *track = (weight_track){.node = node, .targets = targets_of(m, node)};
    track->interpolation = strcmp(name, "STEP") == 0          ? LM_RIG_STEP
                           : strcmp(name, "CUBICSPLINE") == 0 ? LM_RIG_CUBIC
                                                              : LM_RIG_LINEAR;
    bool read = lmi_gltf_take_number(file, &file->animations, animation, sampler, "input", file->accessors.count,
                                     GLTF_REQUIRED, &input) &&
                lmi_gltf_take_number(file, &file->animations, animation, sampler, "output", file->accessors.count,
                                     GLTF_REQUIRED, &output) &&
                lmi_gltf_read_accessor(file, input, &times) && lmi_gltf_read_accessor(file, output, &values);
    track->count = times.count;
    track->times = times.values;
    track->values = values.values;
    if (read && (times.components != 1 || values.components != 1))
        return lmi_gltf_fail(file, sampler, "animation %u: times or weights are not single numbers", animation);
    return read && check_track(file, sampler, track, values.count);
}

static bool read_weight_tracks(gltf_file *file, const rig_reading *reading, gltf_motion *m)
{
    if (m->animation == LM_RIG_NONE) return true;
    const json_value *object = file->animations.items[m->animation], *channels = lmi_json_get(object, "channels");
    const json_value *samplers = lmi_json_get(object, "samplers");
    uint32_t sampler_count = samplers && samplers->kind == JSON_KIND_ARRAY ? samplers->count : 0;
    uint32_t count = channels && channels->kind == JSON_KIND_ARRAY ? channels->count : 0;
    m->tracks = calloc((size_t)count + 1, sizeof *m->tracks);
    if (!m->tracks) return lmi_mesh_reader_out_of_memory(file->reader);
    for (const json_value *item = count > 0 ? channels->first : NULL; item; item = item->next) {
        const json_value *target = lmi_json_get(item, "target"), *path = lmi_json_get(target, "path");
        uint64_t node, sampler;
        if (!path || path->kind != JSON_KIND_STRING || strcmp(path->text, "weights") != 0) continue;
        if (!lmi_gltf_take_number(file, &file->animations, m->animation, target, "node", file->nodes.count, GLTF_NONE,
                                  &node) ||
            !lmi_gltf_take_number(file, &file->animations, m->animation, item, "sampler", sampler_count, GLTF_REQUIRED,
                                  &sampler))
            return false;
        if (node == GLTF_NONE || targets_of(m, reading->places[node]) == 0) continue;
        if (!read_track(file, m, m->animation, lmi_json_at(samplers, (uint32_t)sampler), reading->places[node]))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of it
 */

static bool choose_animation(gltf_file *file, gltf_motion *m)
{
    m->animation = m->rig.animation_count > 0 ? 0 : LM_RIG_NONE;
    if (!m->wanted) return true;
    m->animation = lm_rig_find_animation(&m->rig, m->wanted);
    return m->animation != LM_RIG_NONE || lmi_gltf_fail(file, NULL, "it has no animation \"%.60s\"", m->wanted);
}

static bool read_all(gltf_file *file, rig_reading *reading, uint32_t *parents, const json_value *root)
{
    gltf_motion *m = file->user;
    if (!lmi_rig_add_all_nodes(file, reading, parents)) return false;
    m->skins = calloc((size_t)file->skins.count + 1, sizeof *m->skins);
    if (!m->skins) return lmi_mesh_reader_out_of_memory(file->reader);
    for (uint32_t i = 0; i < file->skins.count; i++) {
        m->skin_count++;
        if (!read_skin(file, reading, i, &m->skins[i])) return false;
    }
    file->keeps_origins = true;
    if (!lmi_gltf_add_scene(file, root)) return false;
    if (file->reader->mesh.vertex_count == 0) return lmi_gltf_fail(file, NULL, "its scene shows no triangles");
    return lmi_gltf_read_animations(file, reading) && choose_animation(file, m) && read_parts(file, reading, m) &&
           read_weight_tracks(file, reading, m);
}

static bool use_file(gltf_file *file, const json_value *root)
{
    gltf_motion *m = file->user;
    rig_reading reading = {.rig = &m->rig};
    size_t count = (size_t)file->nodes.count + 1;
    if (file->nodes.count == 0) return lmi_gltf_fail(file, NULL, "it has no nodes, so nothing moves");
    uint32_t *parents = malloc(count * sizeof *parents);
    reading.places = malloc(count * sizeof *reading.places);
    m->rig.nodes = calloc(count, sizeof *m->rig.nodes);
    bool room = parents && reading.places && m->rig.nodes;
    if (room) memset(reading.places, 0xff, count * sizeof *reading.places);
    bool read = room ? read_all(file, &reading, parents, root) : lmi_mesh_reader_out_of_memory(file->reader);
    free(parents);
    free(reading.places);
    free(file->origins);
    file->origins = NULL;
    return read;
}

gltf_motion *lmi_gltf_motion_read(mesh_reader *reader, const char *animation)
{
    gltf_motion *m = calloc(1, sizeof *m);
    if (!m) {
        lmi_mesh_reader_out_of_memory(reader);
        return NULL;
    }
    m->wanted = animation;
    gltf_file file = {.reader = reader, .use = use_file, .user = m};
    bool read = lmi_gltf_open(&file);
    m->wanted = NULL;
    lm_mesh_free(&reader->mesh);
    if (!read) {
        lmi_gltf_motion_free(m);
        return NULL;
    }
    return m;
}

void lmi_gltf_motion_span(const gltf_motion *m, double *begin, double *end)
{
    bool any = false;
    *begin = *end = 0.0;
    for (uint32_t i = 0; i < m->rig.track_count + m->track_count; i++) {
        const lm_rig_track *track = i < m->rig.track_count ? &m->rig.tracks[i] : NULL;
        if (track && track->animation != m->animation) continue;
        const weight_track *weights = track ? NULL : &m->tracks[i - m->rig.track_count];
        const double *times = track ? track->times : weights->times;
        double last = times[(track ? track->count : weights->count) - 1];
        *begin = any ? fmin(*begin, times[0]) : times[0];
        *end = any ? fmax(*end, last) : last;
        any = true;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sampling
 */

static double cubic(double p, double m, double q, double n, double length, double s)
{
    double s2 = s * s, s3 = s2 * s;
    return (2.0 * s3 - 3.0 * s2 + 1.0) * p + (s3 - 2.0 * s2 + s) * length * m + (3.0 * s2 - 2.0 * s3) * q +
           (s3 - s2) * length * n;
}

static double weight_at(const weight_track *track, uint32_t target, double time)
{
    uint32_t low = 0, count = track->count;
    for (uint32_t step = count; step > 0; step /= 2) /* the last key that is not after `time` */
        while (low + step < count && track->times[low + step] <= time) low += step;
    uint32_t next = low + 1 < count ? low + 1 : low, stride = track->targets;
    double length = track->times[next] - track->times[low];
    double share = next > low && time > track->times[low] ? (time - track->times[low]) / length : 0.0;
    const double *v = track->values;
    if (track->interpolation == LM_RIG_CUBIC) {
        const double *a = v + 3 * (size_t)low * stride + target, *b = v + 3 * (size_t)next * stride + target;
        return share > 0.0 ? cubic(a[stride], a[2 * (size_t)stride], b[stride], b[0], length, share) : a[stride];
    }
    double a = v[(size_t)low * stride + target], b = v[(size_t)next * stride + target];
    return track->interpolation == LM_RIG_STEP ? a : a + (b - a) * share;
}

static void apply_morphs(const gltf_motion *m, const part *p, double time, double *positions)
{
    const weight_track *track = NULL;
    for (uint32_t i = 0; i < m->track_count; i++)
        if (m->tracks[i].node == p->node) track = &m->tracks[i];
    for (uint32_t t = 0; t < p->target_count; t++) {
        double amount = track && t < track->targets ? weight_at(track, t, time) : p->amounts[t];
        const float *moves = p->moves + 3 * (size_t)t * p->count;
        for (size_t i = 0; amount != 0.0 && i < 3 * (size_t)p->count; i++) positions[i] += amount * moves[i];
    }
}

static void apply_matrix(const gltf_matrix *matrix, const double *p, double amount, double out[3])
{
    for (int i = 0; i < 3; i++) {
        const double *row = matrix->m[i];
        out[i] += amount * (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
    }
}

/* Vertex i of a part; `joints`: the matrices of its skin. */
static void place_vertex(const part *p, uint32_t i, const gltf_matrix *node, const gltf_matrix *joints,
                         const double *positions, double out[3])
{
    double sum = 0.0;
    out[0] = out[1] = out[2] = 0.0;
    for (uint32_t k = 0; k < p->influences; k++) {
        size_t at = (size_t)i * MOST_INFLUENCES + k;
        if (p->weights[at] > 0.0f) {
            apply_matrix(&joints[p->joints[at]], positions, p->weights[at], out);
            sum += p->weights[at];
        }
    }
    if (sum > 0.0) {
        for (int k = 0; k < 3; k++) out[k] /= sum;
    } else {
        apply_matrix(node, positions, 1.0, out);
    }
}

static bool sample_part(const gltf_motion *m, const part *p, double time, const gltf_matrix *nodes, lm_vec3 *out)
{
    const skin *s = p->skin != LM_RIG_NONE ? &m->skins[p->skin] : NULL;
    double *positions = malloc(3 * (size_t)p->count * sizeof *positions);
    gltf_matrix *joints = malloc((s ? (size_t)s->count : 1) * sizeof *joints);
    bool sampled = positions && joints;
    if (sampled) {
        memcpy(positions, p->positions, 3 * (size_t)p->count * sizeof *positions);
        apply_morphs(m, p, time, positions);
    }
    for (uint32_t k = 0; sampled && s && k < s->count; k++)
        joints[k] = lmi_gltf_multiply(&nodes[s->nodes[k]], &s->inverse[k]);
    for (uint32_t i = 0; sampled && i < p->count; i++) {
        double at[3];
        place_vertex(p, i, &nodes[p->node], joints, positions + 3 * (size_t)i, at);
        for (int k = 0; k < 3; k++) sampled = sampled && fabs(at[k]) <= LM_MAX_COORDINATE;
        out[i] = (lm_vec3){(float)at[0], (float)at[1], (float)at[2]};
    }
    free(positions);
    free(joints);
    return sampled;
}

bool lmi_gltf_motion_sample(const gltf_motion *m, double time, lm_vec3 *positions)
{
    gltf_matrix *nodes = malloc(((size_t)m->rig.node_count + 1) * sizeof *nodes);
    bool sampled = nodes && lmi_rig_sample_nodes(&m->rig, m->animation, time, nodes);
    for (uint32_t i = 0; sampled && i < m->part_count; i++)
        sampled = sample_part(m, &m->parts[i], time, nodes, positions + m->parts[i].first);
    free(nodes);
    return sampled;
}
