/*
 * Ear clipping (Meisters 1975): a corner whose triangle is convex and holds no other corner is cut off, again and again.
 * The polygon is seen along its mean normal (Newell), which works for faces that are not quite flat.
 */
#include "io/polygon.h"

#include <math.h>

typedef struct point {
    double x, y;
} point;

static void add_triangle(uint32_t **triangles, uint32_t a, uint32_t b, uint32_t c)
{
    (*triangles)[0] = a;
    (*triangles)[1] = b;
    (*triangles)[2] = c;
    *triangles += 3;
}

static void make_fan(const uint32_t *corners, uint32_t count, uint32_t *triangles)
{
    for (uint32_t i = 1; i + 1 < count; i++) add_triangle(&triangles, corners[0], corners[i], corners[i + 1]);
}

/* Projects the corners along the axis in which the polygon is largest, so that it turns counter-clockwise. False when
 * it has no area to look at. */
static bool project(const lm_vec3 *positions, const uint32_t *corners, uint32_t count, point *points)
{
    double normal[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < count; i++) {
        lm_vec3 p = positions[corners[i]], q = positions[corners[(i + 1) % count]];
        normal[0] += ((double)p.y - q.y) * ((double)p.z + q.z);
        normal[1] += ((double)p.z - q.z) * ((double)p.x + q.x);
        normal[2] += ((double)p.x - q.x) * ((double)p.y + q.y);
    }
    int axis = fabs(normal[0]) > fabs(normal[1]) ? 0 : 1;
    if (fabs(normal[2]) > fabs(normal[axis])) axis = 2;
    if (!(fabs(normal[axis]) > 0.0)) return false;

    for (uint32_t i = 0; i < count; i++) {
        lm_vec3 p = positions[corners[i]];
        double u = axis == 0 ? p.y : axis == 1 ? p.z : p.x;
        double v = axis == 0 ? p.z : axis == 1 ? p.x : p.y;
        points[i] = normal[axis] > 0.0 ? (point){u, v} : (point){v, u};
    }
    return true;
}

/* Twice the area of a b c, positive when they turn counter-clockwise. */
static double turn(point a, point b, point c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

static bool contains(point a, point b, point c, point p)
{
    return turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
}

static bool same(point a, point b) { return a.x == b.x && a.y == b.y; }

/* Whether corner `at` of the ring of `count` corners that are left can be cut off. */
static bool is_ear(const point *points, const uint16_t *ring, uint32_t count, uint32_t at)
{
    point a = points[ring[(at + count - 1) % count]], b = points[ring[at]], c = points[ring[(at + 1) % count]];
    if (!(turn(a, b, c) > 0.0)) return false;
    for (uint32_t i = 0; i < count; i++) {
        point p = points[ring[i]];
        /* A corner that is visited twice (the bridge to a hole) does not block itself. */
        if (same(p, a) || same(p, b) || same(p, c)) continue;
        if (contains(a, b, c, p)) return false;
    }
    return true;
}

void lmi_polygon_triangulate(const lm_vec3 *positions, const uint32_t *corners, uint32_t count, uint32_t *triangles)
{
    point points[POLYGON_MAX_CORNERS];
    uint16_t ring[POLYGON_MAX_CORNERS]; /* the corners that are left */
    if (count <= 3 || count > POLYGON_MAX_CORNERS || !project(positions, corners, count, points)) {
        make_fan(corners, count, triangles);
        return;
    }
    for (uint32_t i = 0; i < count; i++) ring[i] = (uint16_t)i;

    /* Starting each search behind the last ear spreads the cuts: strips stay strips, discs do not become fans. */
    uint32_t at = 0;
    while (count > 3) {
        uint32_t tried = 0;
        while (tried < count && !is_ear(points, ring, count, at)) {
            at = (at + 1) % count;
            tried++;
        }
        if (tried == count) break; /* no ear: the polygon crosses itself */
        uint32_t before = ring[(at + count - 1) % count], after = ring[(at + 1) % count];
        add_triangle(&triangles, corners[before], corners[ring[at]], corners[after]);
        count--;
        for (uint32_t i = at; i < count; i++) ring[i] = ring[i + 1];
        at = at % count;
    }
    for (uint32_t i = 1; i + 1 < count; i++)
        add_triangle(&triangles, corners[ring[0]], corners[ring[i]], corners[ring[i + 1]]);
}
