/*
 * Joints for a deforming mesh.
 *
 * Joints are placed by farthest-point sampling. A vertex is carried by the joints nearest to it, with weights that fall to nothing at
 * the distance of the first one that does not carry it, so that they are continuous from vertex to vertex. In each frame the maps
 * start as those of the frame before, moved with the mesh as a whole, and are then corrected one joint after the other (block
 * Gauss-Seidel on the normal equations): each takes as much as it can of what the others leave unexplained. Directions in which the
 * vertices of a joint have no extent, and joints that carry next to nothing, keep that motion: a weak pull draws all towards it.
 */
#include "io/joints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SWEEPS 300 /* of the first frame; the others start from the one before */
#define SWEEPS 30
#define STAY 1e-4 /* pull towards the motion as a whole, as a share of what the vertices of a joint pull in the mean */

/* ------------------------------------------------------------------------------------------------------------------
 * Small matrices
 */

/* Jacobi rotations of a symmetric n x n matrix (n at most 4); the columns of `v`, which is orthogonal beforehand, turn along. Angles
 * are at most an eighth of a turn, so that axes stay near where they were. */
static void diagonalise(int n, double *a, double *v)
{
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0, on = 0.0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                *(i == j ? &on : &off) += a[n * i + j] * a[n * i + j];
            }
        }
        if (off <= 1e-30 * on) {
            return;
        }
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                double apq = a[n * p + q];
                if (apq == 0.0) {
                    continue;
                }
                double theta = (a[n * q + q] - a[n * p + p]) / (2.0 * apq);
                double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < n; k++) {
                    double x = a[n * k + p], y = a[n * k + q];
                    a[n * k + p] = c * x - s * y;
                    a[n * k + q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = a[n * p + k], y = a[n * q + k];
                    a[n * p + k] = c * x - s * y;
                    a[n * q + k] = s * x + c * y;
                    x = v[n * k + p], y = v[n * k + q];
                    v[n * k + p] = c * x - s * y;
                    v[n * k + q] = s * x + c * y;
                }
            }
        }
    }
}

/* Gauss-Jordan with pivots on the diagonal: a symmetric positive matrix. */
static void invert4(const double m[16], double inverse[16])
{
    double a[4][8] = {{0}};
    for (int i = 0; i < 4; i++) {
        memcpy(a[i], m + 4 * i, 4 * sizeof(double));
        a[i][4 + i] = 1.0;
    }
    for (int p = 0; p < 4; p++) {
        double pivot = 1.0 / a[p][p];
        for (int k = 0; k < 8; k++) a[p][k] *= pivot;
        for (int i = 0; i < 4; i++) {
            double factor = i == p ? 0.0 : a[i][p];
            for (int k = 0; k < 8; k++) a[i][k] -= factor * a[p][k];
        }
    }
    for (int i = 0; i < 4; i++) {
        memcpy(inverse + 4 * i, a[i] + 4, 4 * sizeof(double));
    }
}

static void multiply3(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}

static void quaternion_matrix(const double q[4], double m[9])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    m[0] = 1 - 2 * (y * y + z * z), m[1] = 2 * (x * y - w * z), m[2] = 2 * (x * z + w * y);
    m[3] = 2 * (x * y + w * z), m[4] = 1 - 2 * (x * x + z * z), m[5] = 2 * (y * z - w * x);
    m[6] = 2 * (x * z - w * y), m[7] = 2 * (y * z + w * x), m[8] = 1 - 2 * (x * x + y * y);
}

/* Of a rotation; on the same side as the one that was there before. */
static void matrix_quaternion(const double m[9], float q[4])
{
    double t[4] = {1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8], 1 - m[0] - m[4] + m[8], 1 + m[0] + m[4] + m[8]};
    int best = 0;
    for (int i = 1; i < 4; i++) best = t[i] > t[best] ? i : best;
    double r = sqrt(t[best]), s = 0.5 / r, f[4];
    f[best] = 0.5 * r;
    const double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7];
    const double x = m[7] - m[5], y = m[2] - m[6], z = m[3] - m[1];
    const double others[4][4] = {{0, xy, xz, x}, {xy, 0, yz, y}, {xz, yz, 0, z}, {x, y, z, 0}};
    for (int i = 0; i < 4; i++) f[i] = i == best ? f[i] : s * others[best][i];
    double side = f[0] * (double)q[0] + f[1] * (double)q[1] + f[2] * (double)q[2] + f[3] * (double)q[3];
    double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2] + f[3] * f[3]);
    for (int i = 0; i < 4; i++) q[i] = (float)(side < 0.0 ? -f[i] / length : f[i] / length);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Where joints are, and what they carry
 */

static double squared_distance(lm_vec3 a, const double b[3])
{
    double x = (double)a.x - b[0], y = (double)a.y - b[1], z = (double)a.z - b[2];
    return x * x + y * y + z * z;
}

/* Farthest points: each next joint is where the seeds are farthest from the joints so far. False when out of memory. */
static bool place_joints(joint_rig *rig, const lm_vec3 *seeds, uint32_t seed_count, uint32_t joints)
{
    double *nearest = malloc((seed_count + 1u) * sizeof *nearest);
    if (nearest == NULL) {
        return false;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < seed_count; i++) {
        nearest[i] = INFINITY;
        for (uint32_t j = 0; j < rig->joint_count; j++) {
            nearest[i] = fmin(nearest[i], squared_distance(seeds[i], rig->centres[j]));
        }
        next = nearest[i] > nearest[next] ? i : next;
    }
    while (rig->joint_count < joints && seed_count > 0 && nearest[next] > 0.0) {
        double *centre = rig->centres[rig->joint_count++];
        centre[0] = (double)seeds[next].x, centre[1] = (double)seeds[next].y, centre[2] = (double)seeds[next].z;
        for (uint32_t i = 0; i < seed_count; i++) nearest[i] = fmin(nearest[i], squared_distance(seeds[i], centre));
        for (uint32_t i = 0; i < seed_count; i++) next = nearest[i] > nearest[next] ? i : next;
    }
    free(nearest);
    return true;
}

typedef struct near_joint {
    double squared;
    uint32_t joint;
} near_joint;

/* The nearest `most` joints in order; returns how many there are. */
static uint32_t find_nearest(const joint_rig *rig, lm_vec3 p, near_joint *found, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < rig->joint_count; j++) {
        near_joint one = {squared_distance(p, rig->centres[j]), j};
        uint32_t at = count;
        while (at > 0 && found[at - 1].squared > one.squared) at--;
        if (at == most) continue;
        count += count < most;
        memmove(found + at + 1, found + at, (count - 1 - at) * sizeof *found);
        found[at] = one;
    }
    return count;
}

static void weigh(joint_rig *rig, uint32_t vertex)
{
    near_joint near[9];
    uint32_t count = find_nearest(rig, rig->rest[vertex], near, rig->influences + 1), used = count;
    double reach = near[count - 1].squared;
    if (count > rig->influences) {
        used = rig->influences; /* the one beyond them is the border */
    } else {
        reach *= 4.0;
    }
    float *weights = rig->weights + (size_t)rig->influences * vertex;
    uint16_t *joints = rig->joints + (size_t)rig->influences * vertex;
    double raw[8], sum = 0.0;
    for (uint32_t k = 0; k < used; k++) {
        double share = reach > 0.0 ? fmax(1.0 - near[k].squared / reach, 0.0) : 1.0;
        raw[k] = share * share / (near[k].squared / (reach > 0.0 ? reach : 1.0) + 0.05);
        sum += raw[k];
    }
    for (uint32_t k = 0; k < used; k++) {
        joints[k] = (uint16_t)near[k].joint;
        weights[k] = sum > 0.0 ? (float)(raw[k] / sum) : k == 0 ? 1.0f : 0.0f;
        if (weights[k] == 0.0f) joints[k] = 0; /* players want unused places empty */
    }
}

/* Vertices by joint. */
static bool list_members(joint_rig *rig)
{
    size_t total = (size_t)rig->influences * rig->vertex_count;
    rig->offsets = calloc(rig->joint_count + 2u, sizeof *rig->offsets);
    rig->members = malloc((total + 1u) * sizeof *rig->members);
    if (rig->offsets == NULL || rig->members == NULL) {
        return false;
    }
    for (size_t i = 0; i < total; i++) rig->offsets[rig->joints[i] + 2u] += rig->weights[i] > 0.0f;
    for (uint32_t j = 0; j < rig->joint_count; j++) rig->offsets[j + 2] += rig->offsets[j + 1];
    for (size_t i = 0; i < total; i++) {
        if (rig->weights[i] > 0.0f) rig->members[rig->offsets[rig->joints[i] + 1u]++] = (uint32_t)i;
    }
    return true;
}

/* (rest - centre, 1) */
static void place_in_joint(const joint_rig *rig, uint32_t joint, uint32_t vertex, double d[4])
{
    lm_vec3 p = rig->rest[vertex];
    d[0] = (double)p.x - rig->centres[joint][0];
    d[1] = (double)p.y - rig->centres[joint][1];
    d[2] = (double)p.z - rig->centres[joint][2];
    d[3] = 1.0;
}

static void sum_joint(const joint_rig *rig, uint32_t joint, double m[16])
{
    double d[4];
    memset(m, 0, 16 * sizeof *m);
    for (uint32_t k = rig->offsets[joint]; k < rig->offsets[joint + 1]; k++) {
        double w = (double)rig->weights[rig->members[k]];
        place_in_joint(rig, joint, rig->members[k] / rig->influences, d);
        for (int i = 0; i < 16; i++) m[i] += w * w * d[i / 4] * d[i % 4];
    }
}

static void prepare_joints(joint_rig *rig)
{
    double m[16], spread = 0.0, weight = 0.0;
    for (uint32_t j = 0; j < rig->joint_count; j++) {
        sum_joint(rig, j, m);
        spread += (m[0] + m[5] + m[10]) / (3.0 * rig->joint_count);
        weight += m[15] / rig->joint_count;
    }
    rig->stay[0] = STAY * spread + 1e-30;
    rig->stay[1] = STAY * weight + 1e-30;
    for (uint32_t j = 0; j < rig->joint_count; j++) {
        sum_joint(rig, j, m);
        for (int i = 0; i < 4; i++) m[5 * i] += rig->stay[i / 3];
        invert4(m, rig->inverses[j]);
        for (int k = 0; k < 3; k++) rig->axes[j][4 * k] = 1.0;
    }
}

bool lmi_glb_joints_make(joint_rig *rig, const lm_vec3 *rest, uint32_t vertex_count, const lm_vec3 *seeds,
                         uint32_t seed_count, uint32_t joints, uint32_t influences)
{
    *rig = (joint_rig){.vertex_count = vertex_count, .influences = influences, .rest = rest};
    size_t places = (size_t)influences * vertex_count + 1u;
    rig->centres = calloc(joints, sizeof *rig->centres);
    rig->joints = calloc(places, sizeof *rig->joints);
    rig->weights = calloc(places, sizeof *rig->weights);
    rig->rests = calloc(vertex_count + 1u, sizeof *rig->rests);
    rig->inverses = calloc(joints, sizeof *rig->inverses);
    rig->maps = calloc(joints, sizeof *rig->maps);
    rig->locals = calloc(joints, sizeof *rig->locals);
    rig->axes = calloc(joints, sizeof *rig->axes);
    rig->tracks = calloc(joints, sizeof *rig->tracks);
    if (rig->centres == NULL || rig->joints == NULL || rig->weights == NULL || rig->rests == NULL ||
        rig->inverses == NULL || rig->maps == NULL || rig->locals == NULL || rig->axes == NULL || rig->tracks == NULL ||
        !place_joints(rig, seeds, seed_count, joints) || !place_joints(rig, rest, vertex_count, joints)) {
        return false;
    }
    for (uint32_t i = 0; i < vertex_count; i++) weigh(rig, i);
    if (!list_members(rig)) {
        return false;
    }
    prepare_joints(rig);
    return true;
}

void lmi_glb_joints_free(joint_rig *rig)
{
    free(rig->centres);
    free(rig->joints);
    free(rig->weights);
    free(rig->offsets);
    free(rig->members);
    free(rig->inverses);
    free(rig->maps);
    free(rig->locals);
    free(rig->axes);
    free(rig->tracks);
    free(rig->rests);
    *rig = (joint_rig){.vertex_count = 0};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Maps
 */

/* Horn's matrix of the sums of products s (rows: now, columns: at rest): its largest eigenvector is the rotation. */
static void best_rotation(const double s[9], double m[9])
{
    double n[16] = {s[0] - s[4] - s[8], s[1] + s[3],        s[2] + s[6],        s[7] - s[5],
                    s[1] + s[3],        s[4] - s[0] - s[8], s[5] + s[7],        s[2] - s[6],
                    s[2] + s[6],        s[5] + s[7],        s[8] - s[0] - s[4], s[3] - s[1],
                    s[7] - s[5],        s[2] - s[6],        s[3] - s[1],        s[0] + s[4] + s[8]};
    double v[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    diagonalise(4, n, v);
    int best = 3;
    for (int i = 0; i < 3; i++) best = n[5 * i] > n[5 * best] ? i : best;
    const double q[4] = {v[best], v[4 + best], v[8 + best], v[12 + best]};
    quaternion_matrix(q, m);
}

/* The best affine map of all vertices, and its rotation. Where they have no extent it is the rotation too. */
static void find_whole(joint_rig *rig, const lm_vec3 *positions)
{
    double *rest = rig->rest_middle, *now = rig->middle, s[9] = {0}, m[16] = {0}, inverse[16];
    for (int k = 0; k < 3; k++) rest[k] = now[k] = 0.0;
    for (uint32_t i = 0; i < rig->vertex_count; i++) {
        const double p[3] = {(double)rig->rest[i].x, (double)rig->rest[i].y, (double)rig->rest[i].z};
        const double x[3] = {(double)positions[i].x, (double)positions[i].y, (double)positions[i].z};
        for (int k = 0; k < 3; k++) rest[k] += p[k] / rig->vertex_count, now[k] += x[k] / rig->vertex_count;
    }
    for (uint32_t i = 0; i < rig->vertex_count; i++) {
        const double p[3] = {(double)rig->rest[i].x - rest[0], (double)rig->rest[i].y - rest[1],
                             (double)rig->rest[i].z - rest[2]};
        const double x[3] = {(double)positions[i].x, (double)positions[i].y, (double)positions[i].z};
        for (int k = 0; k < 9; k++) {
            s[k] += (x[k / 3] - now[k / 3]) * p[k % 3];
            m[4 * (k / 3) + k % 3] += p[k / 3] * p[k % 3];
        }
    }
    best_rotation(s, rig->turn);
    double stay = 1e-9 * (m[0] + m[5] + m[10]) + 1e-30;
    for (int k = 0; k < 9; k++) s[k] += stay * rig->turn[k];
    for (int k = 0; k < 3; k++) m[5 * k] += stay;
    m[15] = 1.0;
    invert4(m, inverse);
    for (int k = 0; k < 9; k++) {
        rig->whole[k] = 0.0;
        for (int l = 0; l < 3; l++) rig->whole[k] += s[3 * (k / 3) + l] * inverse[4 * l + k % 3];
    }
}

/* Where the motion as a whole carries the centre of a joint. */
static void place_whole(const joint_rig *rig, uint32_t joint, double place[3])
{
    for (int k = 0; k < 3; k++) {
        place[k] = rig->middle[k];
        for (int l = 0; l < 3; l++) {
            place[k] += rig->whole[3 * k + l] * (rig->centres[joint][l] - rig->rest_middle[l]);
        }
    }
}

/* The motion as a whole, and on top of it what the joints did in the frame before, turned along. */
static void start(joint_rig *rig, const lm_vec3 *positions)
{
    find_whole(rig, positions);
    for (uint32_t j = 0; j < rig->joint_count; j++) {
        joint_map *map = &rig->maps[j];
        const joint_map *local = &rig->locals[j];
        multiply3(rig->turn, local->linear, map->linear);
        place_whole(rig, j, map->place);
        for (int k = 0; k < 9; k++) {
            map->linear[k] += rig->whole[k];
            map->place[k / 3] += rig->turn[k] * local->place[k % 3];
        }
    }
}

/* What the maps are beside the motion as a whole, for the next frame. */
static void keep_locals(joint_rig *rig)
{
    double back[9];
    for (int i = 0; i < 9; i++) back[i] = rig->turn[3 * (i % 3) + i / 3];
    for (uint32_t j = 0; j < rig->joint_count; j++) {
        joint_map *local = &rig->locals[j];
        double linear[9], place[3];
        place_whole(rig, j, place);
        for (int k = 0; k < 9; k++) linear[k] = rig->maps[j].linear[k] - rig->whole[k];
        multiply3(back, linear, local->linear);
        for (int k = 0; k < 3; k++) {
            local->place[k] = 0.0;
            for (int l = 0; l < 3; l++) local->place[k] += back[3 * k + l] * (rig->maps[j].place[l] - place[l]);
        }
    }
}

/* Where a joint carries a vertex. */
static void carry(const joint_map *map, const double d[4], double x[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] =
            map->linear[3 * k] * d[0] + map->linear[3 * k + 1] * d[1] + map->linear[3 * k + 2] * d[2] + map->place[k];
    }
}

/* What the maps leave unexplained. */
static void find_rests(joint_rig *rig, const lm_vec3 *positions)
{
    for (uint32_t i = 0; i < rig->vertex_count; i++) {
        double *left = rig->rests[i], d[4], x[3];
        left[0] = (double)positions[i].x, left[1] = (double)positions[i].y, left[2] = (double)positions[i].z;
        for (uint32_t n = 0; n < rig->influences; n++) {
            size_t at = (size_t)rig->influences * i + n;
            if (rig->weights[at] == 0.0f) continue;
            place_in_joint(rig, rig->joints[at], i, d);
            carry(&rig->maps[rig->joints[at]], d, x);
            for (int k = 0; k < 3; k++) left[k] -= (double)rig->weights[at] * x[k];
        }
    }
}

/* One joint takes what it can. */
static void correct(joint_rig *rig, uint32_t joint)
{
    double b[12] = {0}, d[4];
    for (uint32_t k = rig->offsets[joint]; k < rig->offsets[joint + 1]; k++) {
        uint32_t vertex = rig->members[k] / rig->influences;
        double w = (double)rig->weights[rig->members[k]];
        place_in_joint(rig, joint, vertex, d);
        for (int i = 0; i < 12; i++) b[i] += w * rig->rests[vertex][i / 4] * d[i % 4];
    }
    const joint_map *map = &rig->maps[joint];
    double whole[3];
    place_whole(rig, joint, whole);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            b[4 * i + k] -= rig->stay[0] * (map->linear[3 * i + k] - rig->whole[3 * i + k]);
        }
        b[4 * i + 3] -= rig->stay[1] * (map->place[i] - whole[i]);
    }
    joint_map change;
    const double *inverse = rig->inverses[joint];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++) sum += b[4 * i + k] * inverse[4 * k + j];
            *(j < 3 ? &change.linear[3 * i + j] : &change.place[i]) = sum;
        }
    }
    for (uint32_t k = rig->offsets[joint]; k < rig->offsets[joint + 1]; k++) {
        uint32_t vertex = rig->members[k] / rig->influences;
        double w = (double)rig->weights[rig->members[k]], x[3];
        place_in_joint(rig, joint, vertex, d);
        carry(&change, d, x);
        for (int i = 0; i < 3; i++) rig->rests[vertex][i] -= w * x[i];
    }
    for (int i = 0; i < 9; i++) rig->maps[joint].linear[i] += change.linear[i];
    for (int i = 0; i < 3; i++) rig->maps[joint].place[i] += change.place[i];
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tracks: linear = rotation * scale * inner, where inner turns onto the axes of stretch
 */

/* Columns of u from a v; those without a length stand square on the others. */
static void find_turn(const double *av, double s[3], double u[9])
{
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) s[i] = sqrt(av[i] * av[i] + av[3 + i] * av[3 + i] + av[6 + i] * av[6 + i]);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            if (s[order[j]] < s[order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1], order[j + 1] = swap;
            }
        }
    }
    int a = order[0], b = order[1], c = order[2];
    double column[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3 && s[a] > 0.0; k++) column[0][k] = av[3 * k + a] / s[a];
    double along = 0.0, length = 0.0;
    for (int k = 0; k < 3; k++) along += column[0][k] * av[3 * k + b];
    for (int k = 0; k < 3; k++) column[1][k] = av[3 * k + b] - along * column[0][k];
    for (int k = 0; k < 3; k++) length += column[1][k] * column[1][k];
    if (length <= 1e-18 * s[a] * s[a]) { /* anything across the first */
        int least = fabs(column[0][0]) < fabs(column[0][1]) ? 0 : 1;
        least = fabs(column[0][2]) < fabs(column[0][least]) ? 2 : least;
        for (int k = 0; k < 3; k++) column[1][k] = (k == least ? 1.0 : 0.0) - column[0][least] * column[0][k];
        length = 1.0 - column[0][least] * column[0][least];
    }
    for (int k = 0; k < 3; k++) column[1][k] /= sqrt(length);
    double across = 0.0;
    bool even = (b - a + 3) % 3 == 1; /* a, b, c in the order of the axes */
    for (int k = 0; k < 3; k++) {
        double cross =
            column[0][(k + 1) % 3] * column[1][(k + 2) % 3] - column[0][(k + 2) % 3] * column[1][(k + 1) % 3];
        column[2][k] = even ? cross : -cross;
        across += column[2][k] * av[3 * k + c];
    }
    s[c] = across; /* negative where the joint is inside out: u is a rotation */
    for (int k = 0; k < 3; k++) u[3 * k + a] = column[0][k], u[3 * k + b] = column[1][k], u[3 * k + c] = column[2][k];
}

static void find_track(joint_rig *rig, uint32_t joint)
{
    const joint_map *map = &rig->maps[joint];
    double *v = rig->axes[joint], av[9], m[9], s[3], u[9], inner[9];
    multiply3(map->linear, v, av);
    for (int i = 0; i < 9; i++) {
        m[i] = av[i / 3] * av[i % 3] + av[3 + i / 3] * av[3 + i % 3] + av[6 + i / 3] * av[6 + i % 3];
    }
    diagonalise(3, m, v);
    multiply3(map->linear, v, av);
    find_turn(av, s, u);
    joint_track *track = &rig->tracks[joint];
    for (int i = 0; i < 9; i++) inner[i] = v[3 * (i % 3) + i / 3];
    matrix_quaternion(u, track->rotation);
    matrix_quaternion(inner, track->inner);
    for (int i = 0; i < 3; i++) {
        track->scale[i] = (float)s[i];
        track->place[i] = (float)map->place[i];
    }
}

/* The map that a player makes of a track. */
static void read_track(const joint_track *track, joint_map *map)
{
    double q[4], u[9], inner[9];
    for (int i = 0; i < 4; i++) q[i] = (double)track->rotation[i];
    quaternion_matrix(q, u);
    for (int i = 0; i < 4; i++) q[i] = (double)track->inner[i];
    quaternion_matrix(q, inner);
    for (int i = 0; i < 9; i++) u[i] *= (double)track->scale[i % 3];
    multiply3(u, inner, map->linear);
    for (int i = 0; i < 3; i++) map->place[i] = (double)track->place[i];
}

void lmi_glb_joints_fit(joint_rig *rig, const lm_vec3 *positions, double *largest, double *sum)
{
    start(rig, positions);
    find_rests(rig, positions);
    for (int left = rig->has_started ? SWEEPS : FIRST_SWEEPS; left > 0; left--) {
        for (uint32_t j = 0; j < rig->joint_count; j++) correct(rig, j);
    }
    rig->has_started = true;
    keep_locals(rig);
    for (uint32_t j = 0; j < rig->joint_count; j++) {
        find_track(rig, j);
        read_track(&rig->tracks[j], &rig->maps[j]);
    }
    find_rests(rig, positions);
    *largest = *sum = 0.0;
    for (uint32_t i = 0; i < rig->vertex_count; i++) {
        const double *left = rig->rests[i];
        double squared = left[0] * left[0] + left[1] * left[1] + left[2] * left[2];
        *largest = fmax(*largest, squared);
        *sum += squared;
    }
}
