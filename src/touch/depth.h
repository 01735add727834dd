/*
 * How deep a point is in a solid, from the distances around it in the rest shape; the host and devices compile this text.
 */
#ifndef LMI_DEPTH_H
#define LMI_DEPTH_H

#include "base/vec.h"

/* The square of how much further than the nearest carrier a point is carried by others, where none is within their reach. */
#define LMI_REACH_ON 2.25f

/* Soft bodies keep a distance from each other: as far as the softer one sinks into what it lies on, and at most this share of a cell of
 * the finer of their two fields. Within a substep its pull brings that much of a dent back, and fields, which are linear in a cell, and
 * carriers, which are affine, are wrong by about as much where a body is bent; so what is left of a push stays outside of the surface
 * that is seen. */
#define LMI_GAP 0.2

/* firmness: the share of a strain that a substep takes away; fall: metres that a body falls in one, twice over. So fall / firmness is
 * 2 g / omega², whatever the substep. */
static inline double lmi_gap_between(double cell, double other_cell, double firmness, double other_firmness,
                                     double fall)
{
    double most = LMI_GAP * (cell < other_cell ? cell : other_cell);
    double softer = firmness < other_firmness ? firmness : other_firmness;
    return softer * most > fall ? fall / softer : most;
}

/* Cosine between the directions of two surfaces that touch, at most. */
#define LMI_FACING (-0.2)

/* Cosine between two ways out that count as the same (and, below 0, as opposite); steps along a way back, at most. */
#define LMI_SAME_WAY 0.3f
#define LMI_RECALL_STEPS 32

/* Whether the nearest way out has turned over since it was `along` the slope there: to the other side, or about to, in the very
 * middle. To a face beside the one that a point came in by it may turn: that is how it goes round an edge. */
static inline bool lmi_turned_over(float along, float steep)
{
    return along < (steep < 0.5f ? LMI_SAME_WAY : -LMI_SAME_WAY) * steep;
}

/* A distance between the eight nodes of a cell, d[x + 2 y + 4 z], at t of its side, and its slope; `by` is the inverse of the side.
 * Along x on the four edges, then along y, then along z. The slope is that of the cell, as it is: over more than that the edges
 * of a box would push sideways what lies on it. */
static inline float lmi_distance_between(const float d[8], const float t[3], float by, lm_vec3 *slope)
{
    float u = 1.0f - t[0], v = 1.0f - t[1], w = 1.0f - t[2];
    float x0 = u * d[0] + t[0] * d[1], x1 = u * d[2] + t[0] * d[3];
    float x2 = u * d[4] + t[0] * d[5], x3 = u * d[6] + t[0] * d[7];
    float y0 = v * x0 + t[1] * x1, y1 = v * x2 + t[1] * x3;
    float dx0 = v * (d[1] - d[0]) + t[1] * (d[3] - d[2]), dx1 = v * (d[5] - d[4]) + t[1] * (d[7] - d[6]);
    slope->x = by * (w * dx0 + t[2] * dx1);
    slope->y = by * (w * (x1 - x0) + t[2] * (x3 - x2));
    slope->z = by * (y1 - y0);
    return w * y0 + t[2] * y1;
}

/* A point of the world in a solid. */
typedef struct lmi_way_out {
    lm_dvec3 normal; /* unit */
    double depth;    /* metres; below 0 outside */
    bool found;      /* it is not further than the margin outside */
} lmi_way_out;

/* From the distance in the rest shape, its slope there and n, the slope as it is in the world. `off`: from the nearest carrier to
 * the point. */
static inline lmi_way_out lmi_find_way_out(double distance, lm_dvec3 slope, lm_dvec3 n, lm_dvec3 off, double cell,
                                           double margin)
{
    /* The slope is 1 but at edges and corners, and in the middle. Where it says little about the way out, little is done: what
     * lies along the edge of a box must not be wedged off it. */
    double steep = dvec_length(n), sure = lmi_min(lmi_max((dvec_length(slope) - 0.5) / 0.4, 0.0), 1.0);
    lmi_way_out out = {n, -distance, false};
    if (-distance < cell && sure == 0.0) {
        return out;
    }
    if (!(steep > 0.05)) { /* in the very middle: away from the carrier */
        double length = dvec_length(off);
        out.normal = length > 0.0 ? dvec_scale(off, 1.0 / length) : dvec(0.0, 1.0, 0.0);
    } else {
        out.normal = dvec_scale(n, 1.0 / steep);
        out.depth = -distance / steep;
        out.depth *= out.depth > 0.0 && -distance < cell ? sure : 1.0;
    }
    out.found = out.depth + margin > 0.0;
    return out;
}

#endif
