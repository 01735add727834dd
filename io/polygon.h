/*
 * Dividing a polygon into triangles.
 */
#ifndef LIMBER_IO_POLYGON_H
#define LIMBER_IO_POLYGON_H

#include "limber/limber.h"

#define POLYGON_MAX_CORNERS 512 /* that are divided with care; a larger polygon becomes a fan */

/* Divides the polygon whose corners are positions[corners[0]], ... (`count` of them, at least 3) into count - 2
 * triangles with its own sense of turning, and writes their vertex indices. Convex and concave polygons are divided
 * properly; one that crosses itself or has no area becomes a fan or partly one. */
void lmi_polygon_triangulate(const lm_vec3 *positions, const uint32_t *corners, uint32_t count, uint32_t *triangles);

#endif
