/*
 * Normals of a surface from its triangles: of each vertex the sum over those around it, in their order, to length 1.
 *
 * Compiled by the host and, as a text of gpu/program.c, by a device.
 */
#ifndef LMI_FACE_NORMALS_H
#define LMI_FACE_NORMALS_H

#include "base/vec.h"

/* The normal of a triangle with the length of twice its area. */
static inline lm_vec3 lmi_face_area(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c)
{
    return vec_from(dvec_cross(dvec_sub(b, a), dvec_sub(c, a)));
}

/* A sum of these, to length 1 or 0. */
static inline lm_vec3 lmi_face_unit(lm_vec3 sum)
{
    lm_dvec3 normal = dvec_from(sum);
    double length = dvec_length(normal);
    return vec_from(dvec_scale(normal, length > 0.0 ? 1.0 / length : 0.0));
}

#endif
