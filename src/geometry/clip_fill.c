/*
 * Triangles from polygons (geometry/clip.h): holes and slits are joined to the outline that they are in by bridges, then ears are cut
 * off, the best first. What comes out is always bounded by the outline, whatever its shape.
 */
#include "geometry/clip.h"

#include <string.h>

void lmi_outline_clear(lmi_outline *o) { o->count = o->cycles = o->triangle_count = 0; }

bool lmi_outline_begin(lmi_outline *o, lmi_memory *memory)
{
    bool ok = lmi_grow(memory, &o->first, &o->first_room, o->cycles + 2, sizeof *o->first);
    if (ok) {
        o->first[o->cycles++] = o->count;
        o->first[o->cycles] = o->count;
    }
    return ok;
}

bool lmi_outline_add(lmi_outline *o, lmi_memory *memory, const double at[2], uint32_t name)
{
    bool ok = lmi_grow(memory, &o->at, &o->at_room, o->count + 1, sizeof *o->at) &&
              lmi_grow(memory, &o->name, &o->name_room, o->count + 1, sizeof *o->name);
    if (ok) {
        memcpy(o->at[o->count], at, sizeof *o->at);
        o->name[o->count++] = name;
        o->first[o->cycles] = o->count;
    }
    return ok;
}

void lmi_outline_free(lmi_outline *o, lmi_memory *memory)
{
    lmi_release(memory, o->at, o->at_room, sizeof *o->at);
    lmi_release(memory, o->name, o->name_room, sizeof *o->name);
    lmi_release(memory, o->first, o->first_room, sizeof *o->first);
    lmi_release(memory, o->triangles, o->triangle_room, sizeof *o->triangles);
    lmi_release(memory, o->ear, o->ear_room, sizeof *o->ear);
    lmi_release(memory, o->ring, o->ring_room, sizeof *o->ring);
    memset(o, 0, sizeof *o);
}

static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Of a slit, which goes to and fro, 0 but for rounding: that counts as 0. */
static double area_of(const lmi_outline *o, uint32_t cycle)
{
    double sum = 0.0, length = 0.0;
    const uint32_t from = o->first[cycle], end = o->first[cycle + 1];
    for (uint32_t n = from; n < end; n++) {
        const double *a = o->at[n], *b = o->at[n + 1 < end ? n + 1 : from];
        sum += (a[0] - o->at[from][0]) * (b[1] - o->at[from][1]) - (a[1] - o->at[from][1]) * (b[0] - o->at[from][0]);
        length += fabs(b[0] - a[0]) + fabs(b[1] - a[1]);
    }
    return fabs(sum) > 1e-14 * length * length ? 0.5 * sum : 0.0;
}

/* Whether a cycle's first point is in another: crossings of a line. */
static bool is_within(const lmi_outline *o, uint32_t inner, uint32_t outer)
{
    const double *p = o->at[o->first[inner]];
    const uint32_t from = o->first[outer], end = o->first[outer + 1];
    bool within = false;
    for (uint32_t n = from; n < end; n++) {
        const double *a = o->at[n], *b = o->at[n + 1 < end ? n + 1 : from];
        if ((a[1] > p[1]) != (b[1] > p[1])) {
            within ^= p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
        }
    }
    return within;
}

static bool same(const lmi_outline *o, uint32_t a, uint32_t b)
{
    return o->at[a][0] == o->at[b][0] && o->at[a][1] == o->at[b][1];
}

/* How good an ear the point at a place of the ring is: the sine of its narrowest angle, about; below 0 where it is none, and lower
 * where another point is in the way. */
static double ear_of(const lmi_outline *o, const uint32_t *ring, uint32_t count, uint32_t n)
{
    const uint32_t a = ring[(n + count - 1) % count], b = ring[n], c = ring[(n + 1) % count];
    const double *p[3] = {o->at[a], o->at[b], o->at[c]};
    double size = turn(p[0], p[1], p[2]), longest = 0.0;
    for (int i = 0; i < 3; i++) {
        double x = p[(i + 1) % 3][0] - p[i][0], y = p[(i + 1) % 3][1] - p[i][1];
        longest = lmi_max(longest, x * x + y * y);
    }
    double quality = longest > 0.0 ? size / longest : 0.0;
    if (!(size > 0.0)) {
        return quality - 10.0;
    }
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t other = ring[k];
        const double *q = o->at[other];
        if (same(o, other, a) || same(o, other, b) || same(o, other, c)) {
            continue;
        }
        if (turn(p[0], p[1], q) >= 0.0 && turn(p[1], p[2], q) >= 0.0 && turn(p[2], p[0], q) >= 0.0) {
            return quality - 100.0;
        }
    }
    return quality;
}

static bool add_triangle(lmi_outline *o, lmi_memory *memory, uint32_t a, uint32_t b, uint32_t c)
{
    bool ok = lmi_grow(memory, &o->triangles, &o->triangle_room, o->triangle_count + 3, sizeof *o->triangles);
    if (ok) {
        o->triangles[o->triangle_count++] = o->name[a];
        o->triangles[o->triangle_count++] = o->name[b];
        o->triangles[o->triangle_count++] = o->name[c];
    }
    return ok;
}

static bool cut_ears(lmi_outline *o, lmi_memory *memory, uint32_t count)
{
    uint32_t *ring = o->ring;
    if (!lmi_grow(memory, &o->ear, &o->ear_room, count, sizeof *o->ear)) {
        return false;
    }
    for (uint32_t n = 0; n < count; n++) {
        o->ear[n] = ear_of(o, ring, count, n);
    }
    while (count > 2) {
        uint32_t best = 0;
        for (uint32_t n = 1; n < count; n++) {
            best = o->ear[n] > o->ear[best] ? n : best;
        }
        const uint32_t before = (best + count - 1) % count, after = (best + 1) % count;
        if (!add_triangle(o, memory, ring[before], ring[best], ring[after])) {
            return false;
        }
        memmove(ring + best, ring + best + 1, (count - best - 1) * sizeof *ring);
        memmove(o->ear + best, o->ear + best + 1, (count - best - 1) * sizeof *o->ear);
        count--;
        for (uint32_t n = 0; n < count; n++) { /* those in the way of others may be gone */
            bool beside = n == best % count || n == (best + count - 1) % count;
            if (beside || o->ear[n] < -50.0) {
                o->ear[n] = ear_of(o, ring, count, n);
            }
        }
    }
    return true;
}

/* Whether the straight way between two points of the plane crosses an edge of the ring. */
static bool is_blocked(const lmi_outline *o, const uint32_t *ring, uint32_t count, const double a[2], const double b[2])
{
    for (uint32_t n = 0; n < count; n++) {
        const double *p = o->at[ring[n]], *q = o->at[ring[(n + 1) % count]];
        if ((turn(a, b, p) > 0.0) != (turn(a, b, q) > 0.0) && (turn(p, q, a) > 0.0) != (turn(p, q, b) > 0.0) &&
            p != a && q != a && p != b && q != b) {
            return true;
        }
    }
    return false;
}

/* Goes round a hole from the nearest point of the ring that can see it, and back. */
static uint32_t join_hole(lmi_outline *o, uint32_t count, uint32_t hole)
{
    const uint32_t from = o->first[hole], length = o->first[hole + 1] - from;
    uint32_t mine = 0, other = 0;
    double best = INFINITY;
    for (int tries = 0; tries < 2 && best == INFINITY; tries++) {
        for (uint32_t n = 0; n < length; n++) {
            for (uint32_t k = 0; k < count; k++) {
                const double *a = o->at[o->ring[k]], *b = o->at[from + n];
                double x = a[0] - b[0], y = a[1] - b[1], square = x * x + y * y;
                if (square < best && (tries || !is_blocked(o, o->ring, count, a, b))) {
                    best = square;
                    mine = k;
                    other = n;
                }
            }
        }
    }
    memmove(o->ring + mine + length + 2, o->ring + mine, (count - mine) * sizeof *o->ring);
    for (uint32_t n = 0; n <= length; n++) {
        o->ring[mine + 1 + n] = from + (other + n) % length;
    }
    return count + length + 2;
}

/* The smallest outline that a hole is in; `cycles`: none. */
static uint32_t around(const lmi_outline *o, uint32_t hole)
{
    uint32_t best = o->cycles;
    double least = INFINITY;
    for (uint32_t n = 0; n < o->cycles; n++) {
        double area = n == hole ? 0.0 : area_of(o, n);
        if (area > 0.0 && area < least && is_within(o, hole, n)) {
            least = area;
            best = n;
        }
    }
    return best;
}

bool lmi_outline_fill(lmi_outline *o, lmi_memory *memory)
{
    for (uint32_t cycle = 0; cycle < o->cycles; cycle++) {
        const uint32_t from = o->first[cycle], length = o->first[cycle + 1] - from;
        const bool alone = area_of(o, cycle) > 0.0 || o->cycles == 1;
        if (!alone && around(o, cycle) != o->cycles) {
            continue; /* it is joined to what it is in */
        }
        uint32_t count = length;
        if (!lmi_grow(memory, &o->ring, &o->ring_room, o->count + 2 * o->cycles + 2, sizeof *o->ring)) {
            return false;
        }
        for (uint32_t n = 0; n < length; n++) {
            o->ring[n] = from + n;
        }
        for (uint32_t hole = 0; hole < o->cycles; hole++) {
            if (hole != cycle && !(area_of(o, hole) > 0.0) && around(o, hole) == cycle) {
                count = join_hole(o, count, hole);
            }
        }
        if (!cut_ears(o, memory, count)) {
            return false;
        }
    }
    return true;
}
