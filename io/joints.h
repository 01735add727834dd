/*
 * A deforming mesh as a skin on joints: each vertex is carried by a few joints with fixed weights, and each joint by an affine map for
 * each frame. Weights come from the rest shape, maps from least squares, one frame at a time.
 *
 *     where vertex n is shown  =  sum over its joints j of  weight * (linear_j (rest_n - centre_j) + place_j)
 */
#ifndef LIMBER_IO_JOINTS_H
#define LIMBER_IO_JOINTS_H

#include "limber/limber.h"

/* As players have it: first `inner` turns, then `scale` stretches along the axes, then `rotation` turns; quaternions x y z w. */
typedef struct joint_track {
    float place[3], rotation[4], scale[3], inner[4];
} joint_track;

#define JOINT_TRACK_FLOATS 14

typedef struct joint_map {
    double linear[9], place[3]; /* row by row */
} joint_map;

typedef struct joint_rig {
    uint32_t vertex_count, joint_count;
    uint32_t influences; /* joints for each vertex, 4 or 8; those that are not needed have weight 0 and are joint 0 */
    const lm_vec3 *rest; /* the caller's */
    double (*centres)[3];
    uint16_t *joints; /* `influences` for each vertex, the heaviest first */
    float *weights;
    uint32_t *offsets, *members; /* which vertices (and which of their influences) a joint carries */
    double (*inverses)[16];      /* of the sums over the vertices of a joint */
    joint_map *maps;
    joint_map *locals; /* of the frame before, beside the motion as a whole: */
    double whole[9], turn[9], middle[3], rest_middle[3];
    double stay[2]; /* how strongly maps are drawn to that motion: their linear parts, and their places */
    bool has_started;
    double (*axes)[9]; /* that a joint was stretched along in the frame before */
    joint_track *tracks;
    double (*rests)[3]; /* what is left to explain, for each vertex */
} joint_rig;

/* At most `joints` of them, spread evenly over `seeds` and, where these are too few, over the vertices. `rest` must live as
 * long as the rig. False when out of memory; free it in any case. */
bool lmi_glb_joints_make(joint_rig *rig, const lm_vec3 *rest, uint32_t vertex_count, const lm_vec3 *seeds,
                         uint32_t seed_count, uint32_t joints, uint32_t influences);
void lmi_glb_joints_free(joint_rig *rig);

/* Finds the tracks of a frame, and measures them: the largest squared distance of a vertex, and the sum of all squares. */
void lmi_glb_joints_fit(joint_rig *rig, const lm_vec3 *positions, double *largest, double *sum);

#endif
