/* A rig over time: tracks to transforms, down the tree of nodes, and what is rigid of the joints. */
#include "limber/rig.h"

#include "base/dmath.h"
#include "base/vec.h"
#include "io/gltf.h"
#include "io/gltf_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lm_rig_free(lm_rig_data *rig)
{
    for (uint32_t i = 0; i < rig->track_count; i++) {
        free(rig->tracks[i].times);
        free(rig->tracks[i].values);
    }
    free(rig->names);
    free(rig->nodes);
    free(rig->joints);
    free(rig->animations);
    free(rig->tracks);
    free(rig->positions);
    free(rig->followed);
    free(rig->weights);
    *rig = (lm_rig_data){0};
}

const char *lm_rig_joint_name(const lm_rig_data *rig, uint32_t joint) { return rig->names + rig->joints[joint].name; }

uint32_t lm_rig_find_animation(const lm_rig_data *rig, const char *name)
{
    for (uint32_t i = 0; i < rig->animation_count; i++)
        if (strcmp(rig->names + rig->animations[i].name, name) == 0) return i;
    return LM_RIG_NONE;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Keys
 */

/* Of unit length; one without length is no rotation, and taken as none. */
static void normalise(double q[4])
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-12) || !isfinite(length)) {
        q[0] = q[1] = q[2] = 0.0;
        q[3] = 1.0;
        return;
    }
    for (int i = 0; i < 4; i++) q[i] /= length;
}

/* Along the shorter arc of the sphere, evenly. */
static void mix_rotations(const double *from, const double *to, double share, double out[4])
{
    double a[4], b[4], dot = 0.0;
    memcpy(a, from, sizeof a);
    memcpy(b, to, sizeof b);
    normalise(a);
    normalise(b);
    for (int i = 0; i < 4; i++) dot += a[i] * b[i];
    double side = dot < 0.0 ? -1.0 : 1.0, near = fabs(dot), first = 1.0 - share, second = share;
    if (near < 0.9995) {
        double angle = lmi_acos(near), sine = lmi_sin(angle);
        first = lmi_sin(first * angle) / sine;
        second = lmi_sin(second * angle) / sine;
    }
    for (int i = 0; i < 4; i++) out[i] = first * a[i] + side * second * b[i];
    normalise(out);
}

/* A cubic with these values and tangents at its ends; tangents are changes a second. */
static double hermite(double p, double m, double q, double n, double length, double s)
{
    double s2 = s * s, s3 = s2 * s;
    return (2.0 * s3 - 3.0 * s2 + 1.0) * p + (s3 - 2.0 * s2 + s) * length * m + (3.0 * s2 - 2.0 * s3) * q +
           (s3 - s2) * length * n;
}

static void sample_track(const lm_rig_track *track, double time, double out[4])
{
    uint32_t width = track->path == LM_RIG_ROTATION ? 4 : 3, low = 0, high = track->count - 1;
    uint32_t stride = track->interpolation == LM_RIG_CUBIC ? 3 * width : width;
    while (high - low > 1) { /* the last key that is not after `time` */
        uint32_t half = low + (high - low) / 2;
        if (track->times[half] <= time)
            low = half;
        else
            high = half;
    }
    if (track->times[high] <= time) low = high;
    uint32_t next = low + 1 < track->count ? low + 1 : low;
    const double *a = track->values + (size_t)low * stride, *b = track->values + (size_t)next * stride;
    uint32_t middle = track->interpolation == LM_RIG_CUBIC ? width : 0;
    double length = track->times[next] - track->times[low];
    double share = next > low && time > track->times[low] ? (time - track->times[low]) / length : 0.0;
    if (track->interpolation == LM_RIG_STEP) share = 0.0;
    if (track->interpolation == LM_RIG_LINEAR && width == 4) {
        mix_rotations(a, b, share, out);
        return;
    }
    for (uint32_t i = 0; i < width; i++) {
        double p = a[middle + i], q = b[middle + i];
        out[i] = track->interpolation == LM_RIG_CUBIC && share > 0.0
                     ? hermite(p, a[2 * width + i], q, b[i], length, share)
                     : p + (q - p) * share;
    }
    if (width == 4) normalise(out);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Poses
 */

static gltf_matrix local_of(const lm_rig_node *node)
{
    gltf_parts parts = {.is_matrix = node->is_matrix};
    memcpy(parts.matrix.m, node->matrix, sizeof parts.matrix.m);
    memcpy(parts.translation, node->parts[LM_RIG_TRANSLATION], sizeof parts.translation);
    memcpy(parts.rotation, node->parts[LM_RIG_ROTATION], sizeof parts.rotation);
    memcpy(parts.scale, node->parts[LM_RIG_SCALE], sizeof parts.scale);
    return lmi_gltf_from_parts(&parts);
}

lm_rig_pose lmi_rig_rigid_part(const gltf_matrix *m)
{
    double axis[3][3]; /* the columns, made orthonormal one after the other */
    for (int j = 0; j < 3; j++) {
        double length = 0.0;
        for (int i = 0; i < 3; i++) axis[j][i] = m->m[i][j];
        for (int k = 0; k < j; k++) {
            double dot = axis[j][0] * axis[k][0] + axis[j][1] * axis[k][1] + axis[j][2] * axis[k][2];
            for (int i = 0; i < 3; i++) axis[j][i] -= dot * axis[k][i];
        }
        for (int i = 0; i < 3; i++) length += axis[j][i] * axis[j][i];
        length = sqrt(length);
        bool lost = !(length > 1e-12) || !isfinite(length);
        for (int i = 0; i < 3; i++) axis[j][i] = lost ? (double)(i == j) : axis[j][i] / length;
    }
    for (int i = 0; i < 3; i++) { /* the third from the others: a mirrored joint turns as one that is not */
        int k = (i + 1) % 3, l = (i + 2) % 3;
        axis[2][i] = axis[0][k] * axis[1][l] - axis[0][l] * axis[1][k];
    }
    dmat3 matrix;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) matrix.m[i][j] = axis[j][i];
    lm_quat q = lmi_quat_from_dmat(&matrix);
    lm_rig_pose pose = {{m->m[0][3], m->m[1][3], m->m[2][3]}, {q.x, q.y, q.z, q.w}};
    normalise(pose.rotation);
    return pose;
}

bool lmi_rig_sample_nodes(const lm_rig_data *rig, uint32_t animation, double time, gltf_matrix *places)
{
    lm_rig_node *now = malloc(((size_t)rig->node_count + 1) * sizeof *now);
    if (!now) return false;
    memcpy(now, rig->nodes, rig->node_count * sizeof *now);
    for (uint32_t i = 0; animation != LM_RIG_NONE && i < rig->track_count; i++) {
        const lm_rig_track *track = &rig->tracks[i];
        if (track->animation == animation) sample_track(track, time, now[track->node].parts[track->path]);
    }
    for (uint32_t i = 0; i < rig->node_count; i++) { /* parents first */
        gltf_matrix local = local_of(&now[i]);
        places[i] = now[i].parent == LM_RIG_NONE ? local : lmi_gltf_multiply(&places[now[i].parent], &local);
    }
    free(now);
    return true;
}

bool lm_rig_sample(const lm_rig_data *rig, uint32_t animation, double time, lm_rig_pose *poses)
{
    gltf_matrix *places = malloc(((size_t)rig->node_count + 1) * sizeof *places);
    bool sampled = places && lmi_rig_sample_nodes(rig, animation, time, places);
    for (uint32_t i = 0; sampled && i < rig->joint_count; i++)
        poses[i] = lmi_rig_rigid_part(&places[rig->joints[i].node]);
    free(places);
    return sampled;
}
