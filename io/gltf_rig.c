/*
 * Reading the rig of a glTF file: the first node with a mesh and a skin, the joints of that skin and the nodes that carry
 * them, inverse bind matrices, and the weights of the skinned vertices.
 *
 * Every number is checked before it is used; values that are not finite are refused.
 */
#include "io/gltf_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Nodes
 */

bool lmi_rig_keep_name(gltf_file *file, rig_reading *reading, const json_value *value, const char *fallback,
                       uint32_t number, uint32_t *name)
{
    char own[32] = "";
    if (fallback) snprintf(own, sizeof own, "%s%u", fallback, number);
    bool given = value && value->kind == JSON_KIND_STRING && strlen(value->text) > 0;
    const char *text = given ? value->text : own;
    size_t length = strlen(text) + 1;
    char *names = lmi_mesh_grow(reading->rig->names, &reading->name_capacity, reading->name_size + length, 1);
    if (!names) return lmi_mesh_reader_out_of_memory(file->reader);
    reading->rig->names = names;
    *name = (uint32_t)reading->name_size;
    memcpy(names + reading->name_size, text, length);
    for (char *at = names + *name; *at; at++) *at = (unsigned char)*at < ' ' ? '?' : *at; /* messages are one line */
    reading->name_size += length;
    return true;
}

/* The parent of each node in the file, or LM_RIG_NONE. */
static bool find_parents(gltf_file *file, uint32_t *parents)
{
    for (uint32_t i = 0; i < file->nodes.count; i++) parents[i] = LM_RIG_NONE;
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        const json_value *children = lmi_json_get(file->nodes.items[i], "children");
        for (const json_value *child = children ? children->first : NULL; child; child = child->next) {
            if (child->kind != JSON_KIND_NUMBER || !(child->number >= 0.0 && child->number < file->nodes.count) ||
                child->number != floor(child->number))
                return lmi_gltf_fail(file, child, "a child that is not a node (there are %u)", file->nodes.count);
            uint32_t node = (uint32_t)child->number;
            if (parents[node] != LM_RIG_NONE) return lmi_gltf_fail(file, child, "node %u has two parents", node);
            parents[node] = i;
        }
    }
    return true;
}

#define MAX_DEPTH 512 /* of nodes within nodes */

/* Adds a node after all that carry it, unless it is there. */
static bool add_node(gltf_file *file, rig_reading *reading, const uint32_t *parents, uint32_t node)
{
    lm_rig_data *rig = reading->rig;
    while (reading->places[node] == LM_RIG_NONE) {
        uint32_t top = node, steps = 0;
        while (parents[top] != LM_RIG_NONE && reading->places[parents[top]] == LM_RIG_NONE) {
            top = parents[top];
            if (++steps > MAX_DEPTH)
                return lmi_gltf_fail(file, file->nodes.items[node],
                                     "node %u: nodes are more than %d deep, or their own ancestors", node, MAX_DEPTH);
        }
        gltf_parts parts;
        if (!lmi_gltf_read_parts(file, top, &parts)) return false;
        lm_rig_node *to = &rig->nodes[rig->node_count];
        *to = (lm_rig_node){.parent = parents[top] == LM_RIG_NONE ? LM_RIG_NONE : reading->places[parents[top]],
                            .is_matrix = parts.is_matrix};
        memcpy(to->parts[LM_RIG_TRANSLATION], parts.translation, sizeof parts.translation);
        memcpy(to->parts[LM_RIG_ROTATION], parts.rotation, sizeof parts.rotation);
        memcpy(to->parts[LM_RIG_SCALE], parts.scale, sizeof parts.scale);
        memcpy(to->matrix, parts.matrix.m, sizeof to->matrix);
        reading->places[top] = rig->node_count++;
    }
    return true;
}

bool lmi_rig_add_all_nodes(gltf_file *file, rig_reading *reading, uint32_t *parents)
{
    bool added = find_parents(file, parents);
    for (uint32_t i = 0; added && i < file->nodes.count; i++) added = add_node(file, reading, parents, i);
    return added;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Joints
 */

static bool read_joints(gltf_file *file, rig_reading *reading, const uint32_t *parents, uint64_t skin)
{
    const json_value *list = lmi_json_get(file->skins.items[skin], "joints");
    lm_rig_data *rig = reading->rig;
    unsigned long long number = skin;
    if (!list || list->kind != JSON_KIND_ARRAY || list->count == 0)
        return lmi_gltf_fail(file, file->skins.items[skin], "skin %llu: it has no joints", number);
    if (list->count > LM_MAX_BONES)
        return lmi_gltf_fail(file, list, "skin %llu: %u joints (expected at most %d)", number, (unsigned)list->count,
                             LM_MAX_BONES);
    rig->joints = calloc(list->count, sizeof *rig->joints);
    if (!rig->joints) return lmi_mesh_reader_out_of_memory(file->reader);
    for (const json_value *item = list->first; item; item = item->next) {
        if (item->kind != JSON_KIND_NUMBER || !(item->number >= 0.0 && item->number < file->nodes.count) ||
            item->number != floor(item->number))
            return lmi_gltf_fail(file, item, "skin %llu: a joint that is not a node (there are %u)", number,
                                 file->nodes.count);
        uint32_t node = (uint32_t)item->number, joint = rig->joint_count;
        if (!add_node(file, reading, parents, node) ||
            !lmi_rig_keep_name(file, reading, lmi_json_get(file->nodes.items[node], "name"), "joint", joint,
                               &rig->joints[joint].name))
            return false;
        rig->joints[joint].node = reading->places[node];
        rig->joint_count++;
        for (uint32_t i = 0; i < joint; i++)
            if (rig->joints[i].node == rig->joints[joint].node)
                return lmi_gltf_fail(file, item, "skin %llu: node %u is a joint twice", number, node);
    }
    return true;
}

/* Of each joint the next joint above it. */
static bool find_joint_parents(gltf_file *file, lm_rig_data *rig)
{
    uint32_t *joint_of = malloc(((size_t)rig->node_count + 1) * sizeof *joint_of);
    if (!joint_of) return lmi_mesh_reader_out_of_memory(file->reader);
    memset(joint_of, 0xff, rig->node_count * sizeof *joint_of);
    for (uint32_t i = 0; i < rig->joint_count; i++) joint_of[rig->joints[i].node] = i;
    for (uint32_t i = 0; i < rig->joint_count; i++) {
        uint32_t above = rig->nodes[rig->joints[i].node].parent;
        while (above != LM_RIG_NONE && joint_of[above] == LM_RIG_NONE) above = rig->nodes[above].parent;
        rig->joints[i].parent = above == LM_RIG_NONE ? LM_RIG_NONE : joint_of[above];
    }
    free(joint_of);
    return true;
}

/* False when the matrix flattens space. */
static bool invert(const double *columns, gltf_matrix *inverse)
{
    double a[3][3], t[3], determinant = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) a[i][j] = columns[4 * j + i];
        t[i] = columns[12 + i];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int k = (i + 1) % 3, l = (i + 2) % 3, m = (j + 1) % 3, n = (j + 2) % 3;
            inverse->m[j][i] = a[k][m] * a[l][n] - a[k][n] * a[l][m];
        }
    }
    for (int j = 0; j < 3; j++) determinant += a[0][j] * inverse->m[j][0];
    if (!(fabs(determinant) > 1e-30) || !isfinite(determinant)) return false;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) inverse->m[i][j] /= determinant;
        inverse->m[i][3] = -(inverse->m[i][0] * t[0] + inverse->m[i][1] * t[1] + inverse->m[i][2] * t[2]);
    }
    return true;
}

static bool is_near(const lm_rig_pose *pose)
{
    bool near = true;
    for (int i = 0; i < 3; i++) near = near && fabs(pose->position[i]) <= LM_MAX_COORDINATE;
    return near;
}

/* Where the mesh is bound to each joint: where the mesh is, by the inverse of its inverse bind matrix; or as the file shows
 * the joints, when it has none. */
static bool find_rest(gltf_file *file, lm_rig_data *rig, uint64_t skin, const gltf_matrix *places, uint32_t mesh_node)
{
    gltf_array matrices = {0};
    uint64_t accessor;
    const json_value *object = file->skins.items[skin];
    if (!lmi_gltf_take_number(file, &file->skins, skin, object, "inverseBindMatrices", file->accessors.count, GLTF_NONE,
                              &accessor))
        return false;
    bool read = accessor == GLTF_NONE || lmi_gltf_read_accessor(file, accessor, &matrices);
    if (read && matrices.values && (matrices.components != 16 || matrices.count < rig->joint_count))
        read = lmi_gltf_fail(file, object, "skin %llu: its inverseBindMatrices are not %u MAT4",
                             (unsigned long long)skin, rig->joint_count);
    for (uint32_t i = 0; read && i < rig->joint_count; i++) {
        gltf_matrix place = places[rig->joints[i].node], back;
        if (matrices.values) {
            read = invert(matrices.values + 16 * (size_t)i, &back) ||
                   lmi_gltf_fail(file, object, "skin %llu: the inverse bind matrix of joint %u has no inverse",
                                 (unsigned long long)skin, i);
            if (read) place = lmi_gltf_multiply(&places[mesh_node], &back);
        }
        rig->joints[i].rest = lmi_rig_rigid_part(&place);
        if (read && !is_near(&rig->joints[i].rest))
            read = lmi_gltf_fail(file, object, "skin %llu: joint %u is not finite or too far away",
                                 (unsigned long long)skin, i);
    }
    free(matrices.values);
    return read;
}

static void find_tails(lm_rig_data *rig)
{
    for (uint32_t i = 0; i < rig->joint_count; i++) {
        lm_rig_joint *joint = &rig->joints[i];
        uint32_t below = 0;
        double sum[3] = {0.0, 0.0, 0.0};
        for (uint32_t k = 0; k < rig->joint_count; k++) {
            if (rig->joints[k].parent != i) continue;
            below++;
            for (int a = 0; a < 3; a++) sum[a] += rig->joints[k].rest.position[a];
        }
        for (int a = 0; a < 3; a++) {
            double here = joint->rest.position[a];
            double before = joint->parent == LM_RIG_NONE ? here : rig->joints[joint->parent].rest.position[a];
            joint->tail[a] = below > 0 ? sum[a] / below : here + 0.5 * (here - before);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Weights
 */

typedef struct skinned {
    gltf_array positions, joints, weights;
} skinned;

static bool read_attribute(gltf_file *file, uint64_t mesh, const json_value *primitive, const char *name,
                           gltf_array *array)
{
    uint64_t accessor;
    const json_value *attributes = lmi_json_get(primitive, "attributes");
    if (!lmi_gltf_take_number(file, &file->meshes, mesh, attributes, name, file->accessors.count, GLTF_NONE, &accessor))
        return false;
    return accessor == GLTF_NONE || lmi_gltf_read_accessor(file, accessor, array);
}

static bool add_vertices(gltf_file *file, lm_rig_data *rig, uint64_t mesh, const skinned *s, const gltf_matrix *place)
{
    unsigned long long number = mesh;
    uint32_t count = s->positions.count;
    if (!s->positions.values || !s->joints.values || !s->weights.values)
        return true; /* it does not follow the joints */
    if (s->joints.components != 4 || !s->joints.whole || s->weights.components != 4 || s->positions.components < 3 ||
        s->positions.components > 4 || s->joints.count != count || s->weights.count != count)
        return lmi_gltf_fail(file, file->meshes.items[mesh],
                             "mesh %llu: JOINTS_0 or WEIGHTS_0 is not VEC4, or as many as the positions", number);
    size_t total = (size_t)rig->vertex_count + count;
    lm_vec3 *positions = realloc(rig->positions, (total + 1) * sizeof *positions);
    rig->positions = positions ? positions : rig->positions;
    uint32_t *followed = realloc(rig->followed, (4 * total + 1) * sizeof *followed);
    rig->followed = followed ? followed : rig->followed;
    float *weights = realloc(rig->weights, (4 * total + 1) * sizeof *weights);
    rig->weights = weights ? weights : rig->weights;
    if (!positions || !followed || !weights) return lmi_mesh_reader_out_of_memory(file->reader);
    for (uint32_t v = 0; v < count; v++) {
        const double *p = s->positions.values + (size_t)v * s->positions.components;
        double q[3];
        size_t to = rig->vertex_count;
        for (int i = 0; i < 3; i++) {
            const double *row = place->m[i];
            q[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
            if (!(fabs(q[i]) <= LM_MAX_COORDINATE))
                return lmi_gltf_fail(file, file->meshes.items[mesh],
                                     "mesh %llu: vertex %u is not finite or too far away", number, v);
        }
        positions[to] = (lm_vec3){(float)q[0], (float)q[1], (float)q[2]};
        for (size_t k = 0; k < 4; k++) {
            double joint = s->joints.values[4 * (size_t)v + k], weight = s->weights.values[4 * (size_t)v + k];
            if (!(weight >= 0.0 && weight <= 1e6))
                return lmi_gltf_fail(file, file->meshes.items[mesh], "mesh %llu: vertex %u has a weight of %g", number,
                                     v, weight);
            if (!(joint >= 0.0 && joint < rig->joint_count) && weight > 0.0)
                return lmi_gltf_fail(file, file->meshes.items[mesh],
                                     "mesh %llu: vertex %u follows joint %.0f, there are %u", number, v, joint,
                                     rig->joint_count);
            followed[4 * to + k] = weight > 0.0 ? (uint32_t)joint : 0;
            weights[4 * to + k] = (float)weight;
        }
        rig->vertex_count++;
    }
    return true;
}

static bool read_weights(gltf_file *file, lm_rig_data *rig, uint64_t mesh, const gltf_matrix *place)
{
    const json_value *primitives = lmi_json_get(file->meshes.items[mesh], "primitives");
    for (const json_value *item = primitives ? primitives->first : NULL; item; item = item->next) {
        skinned s = {{0}, {0}, {0}};
        bool read = read_attribute(file, mesh, item, "POSITION", &s.positions) &&
                    read_attribute(file, mesh, item, "JOINTS_0", &s.joints) &&
                    read_attribute(file, mesh, item, "WEIGHTS_0", &s.weights) &&
                    add_vertices(file, rig, mesh, &s, place);
        free(s.positions.values);
        free(s.joints.values);
        free(s.weights.values);
        if (!read) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of it
 */

/* The first node with a mesh and a skin; LM_RIG_NONE when there is none. */
static bool find_skin(gltf_file *file, uint32_t *node, uint64_t *mesh, uint64_t *skin)
{
    *node = LM_RIG_NONE;
    for (uint32_t i = 0; i < file->nodes.count && *node == LM_RIG_NONE; i++) {
        const json_value *object = file->nodes.items[i];
        if (!lmi_gltf_take_number(file, &file->nodes, i, object, "skin", file->skins.count, GLTF_NONE, skin) ||
            !lmi_gltf_take_number(file, &file->nodes, i, object, "mesh", file->meshes.count, GLTF_NONE, mesh))
            return false;
        if (*skin != GLTF_NONE && *mesh != GLTF_NONE) *node = i;
    }
    return true;
}

static bool read_rig(gltf_file *file, rig_reading *reading, uint32_t *parents, gltf_matrix *places)
{
    lm_rig_data *rig = reading->rig;
    uint32_t node;
    uint64_t mesh, skin;
    if (!find_skin(file, &node, &mesh, &skin)) return false;
    if (node == LM_RIG_NONE) return true;
    if (!find_parents(file, parents) || !read_joints(file, reading, parents, skin) ||
        !add_node(file, reading, parents, node) || !find_joint_parents(file, rig))
        return false;
    if (!lmi_rig_sample_nodes(rig, LM_RIG_NONE, 0.0, places)) return lmi_mesh_reader_out_of_memory(file->reader);
    if (!find_rest(file, rig, skin, places, reading->places[node])) return false;
    find_tails(rig);
    return read_weights(file, rig, mesh, &places[reading->places[node]]) && lmi_gltf_read_animations(file, reading);
}

static bool use_file(gltf_file *file, const json_value *root)
{
    (void)root;
    rig_reading reading = {.rig = file->user};
    size_t count = (size_t)file->nodes.count + 1;
    uint32_t *parents = malloc(count * sizeof *parents);
    gltf_matrix *places = malloc(count * sizeof *places);
    reading.places = malloc(count * sizeof *reading.places);
    reading.rig->nodes = calloc(count, sizeof *reading.rig->nodes);
    bool room = parents && places && reading.places && reading.rig->nodes;
    if (room) memset(reading.places, 0xff, count * sizeof *reading.places);
    bool read = room ? read_rig(file, &reading, parents, places) : lmi_mesh_reader_out_of_memory(file->reader);
    free(parents);
    free(places);
    free(reading.places);
    return read;
}

static bool parse(const char *name, const char *path, const char *bytes, size_t size, lm_rig_data *rig,
                  lm_mesh_error *error)
{
    *rig = (lm_rig_data){0};
    const char *start = bytes, *end = bytes + size;
    bool binary = size >= 4 && memcmp(bytes, "glTF", 4) == 0;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) start += 3;
    while (start < end && (*start == ' ' || *start == '\n' || *start == '\r' || *start == '\t')) start++;
    if (!binary && (start == end || *start != '{')) return true; /* another format: no rig */
    mesh_reader reader = {.name = name, .path = path, .bytes = bytes, .at = bytes, .end = end, .error = error};
    gltf_file file = {.reader = &reader, .use = use_file, .user = rig};
    bool read = lmi_gltf_open(&file);
    if (!read) lm_rig_free(rig);
    return read;
}

bool lm_rig_parse(const char *name, const void *bytes, size_t size, lm_rig_data *rig, lm_mesh_error *error)
{
    return parse(name, NULL, size > 0 ? bytes : "", size, rig, error);
}

bool lm_rig_read(const char *path, lm_rig_data *rig, lm_mesh_error *error)
{
    size_t size;
    const char *reason;
    *rig = (lm_rig_data){0};
    char *bytes = lmi_mesh_load(path, &size, &reason);
    if (!bytes) {
        mesh_reader nothing = {.name = path, .error = error};
        return lmi_mesh_reader_fail(&nothing, "%s", reason);
    }
    bool read = parse(path, path, bytes, size, rig, error);
    free(bytes);
    return read;
}
