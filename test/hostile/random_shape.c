/* Shapes for random worlds: boxes, and tubes swept along a line, an arc or a circle. */
#include "test/hostile/random_world.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* ------------------------------------------------------------------------------------------------------------------
 * Random numbers: splitmix64
 */

uint64_t random_source_bits(random_source *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_source_range(random_source *random, double low, double high)
{
    return low + (high - low) * (double)(random_source_bits(random) >> 11) * 0x1p-53;
}

uint32_t random_source_below(random_source *random, uint32_t limit)
{
    return (uint32_t)(((random_source_bits(random) >> 32) * limit) >> 32);
}

bool random_source_chance(random_source *random, double probability)
{
    return random_source_range(random, 0.0, 1.0) < probability;
}

lm_vec3 random_source_vector(random_source *random, double half)
{
    float x = (float)random_source_range(random, -half, half);
    float y = (float)random_source_range(random, -half, half);
    float z = (float)random_source_range(random, -half, half);
    return (lm_vec3){x, y, z};
}

lm_quat random_source_rotation(random_source *random)
{
    lm_vec3 axis = random_source_vector(random, 1.0);
    float w = (float)random_source_range(random, 0.05, 1.0);
    float length = sqrtf(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z + w * w);
    return (lm_quat){axis.x / length, axis.y / length, axis.z / length, w / length};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Shapes
 */

static random_shape make_room(uint32_t vertices, uint32_t triangles)
{
    random_shape shape = {.vertices = malloc(vertices * sizeof *shape.vertices),
                          .triangles = malloc(3u * (size_t)triangles * sizeof *shape.triangles)};
    if (shape.vertices == NULL || shape.triangles == NULL) {
        random_shape_free(&shape);
    }
    return shape;
}

void random_shape_free(random_shape *shape)
{
    free(shape->vertices);
    free(shape->triangles);
    *shape = (random_shape){.vertices = NULL};
}

static void add_triangle(random_shape *shape, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *at = shape->triangles + 3u * (size_t)shape->triangle_count++;
    at[0] = a;
    at[1] = b;
    at[2] = c;
}

static random_shape make_box(random_source *random, double size)
{
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                          {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    double x = 0.5 * size;
    double y = x * random_source_range(random, 0.25, 1.0);
    double z = x * random_source_range(random, 0.25, 1.0);
    random_shape shape = make_room(8, 12);
    if (shape.vertices == NULL) {
        return shape;
    }
    for (uint32_t i = 0; i < 8; i++) {
        shape.vertices[shape.vertex_count++] =
            (lm_vec3){(float)(i & 1 ? x : -x), (float)(i & 2 ? y : -y), (float)(i & 4 ? z : -z)};
    }
    for (int i = 0; i < 12; i++) {
        add_triangle(&shape, faces[i][0], faces[i][1], faces[i][2]);
    }
    return shape;
}

/* A tube of rings around a curve in the plane z = 0: its point at `s` (0 to 1), and the direction across it. */
typedef struct tube {
    double turn;   /* radians of the arc; 0: a line along y; 2 pi: closed */
    double radius; /* of the arc, or half the length of the line */
    double thick;  /* radius of the tube */
    double bumps, phase;
    bool round; /* thickness as of a ball: nothing at its ends */
} tube;

static lm_vec3 tube_point(const tube *t, double s, double angle)
{
    double thick = t->thick * (t->round ? sin(PI * s) : 1.0);
    thick *= 1.0 + t->bumps * sin(3.0 * angle + t->phase) * sin(4.0 * PI * s + t->phase) * sin(PI * s);
    double across = thick * cos(angle), z = thick * sin(angle);
    if (t->turn == 0.0) {
        double y = t->round ? -t->radius * cos(PI * s) : t->radius * (2.0 * s - 1.0);
        return (lm_vec3){(float)across, (float)y, (float)-z};
    }
    double at = t->turn * (s - 0.5), distance = t->radius + across;
    return (lm_vec3){(float)(distance * cos(at)), (float)(distance * sin(at)), (float)-z};
}

static random_shape sweep(const tube *t, uint32_t rings, uint32_t sides)
{
    bool closed = t->turn > 2.0 * PI - 1e-9;
    random_shape shape = make_room(rings * sides + 2, 2 * rings * sides + 2 * sides);
    if (shape.vertices == NULL) {
        return shape;
    }
    for (uint32_t i = 0; i < rings; i++) {
        double s = closed ? (double)i / rings : t->round ? (i + 1.0) / (rings + 1.0) : i / (rings - 1.0);
        for (uint32_t k = 0; k < sides; k++) {
            shape.vertices[shape.vertex_count++] = tube_point(t, s, 2.0 * PI * k / sides);
        }
    }
    for (uint32_t i = 0; i + (closed ? 0 : 1) < rings; i++) {
        uint32_t a = i * sides, b = (i + 1) % rings * sides;
        for (uint32_t k = 0; k < sides; k++) {
            uint32_t next = (k + 1) % sides;
            add_triangle(&shape, a + k, b + k, b + next);
            add_triangle(&shape, a + k, b + next, a + next);
        }
    }
    for (uint32_t end = 0; end < 2 && !closed; end++) { /* a cap at either end */
        tube middle = *t;
        middle.thick = 0.0;
        uint32_t centre = shape.vertex_count, ring = end * (rings - 1) * sides;
        shape.vertices[shape.vertex_count++] = tube_point(&middle, (double)end, 0.0);
        for (uint32_t k = 0; k < sides; k++) {
            uint32_t next = (k + 1) % sides;
            add_triangle(&shape, centre, ring + (end ? next : k), ring + (end ? k : next));
        }
    }
    return shape;
}

random_shape random_shape_make(random_source *random, double size)
{
    uint32_t kind = random_source_below(random, 5);
    double thin = random_source_range(random, 0.4, 1.0);
    tube t = {.bumps = random_source_range(random, 0.0, 0.3), .phase = random_source_range(random, 0.0, 2.0 * PI)};
    uint32_t rings = 6 + random_source_below(random, 8);
    uint32_t sides = 5 + random_source_below(random, 7);
    switch (kind) {
    case 0: return make_box(random, size);
    case 1: /* a ball */
        t.round = true;
        t.radius = 0.5 * size;
        t.thick = 0.5 * size * thin;
        break;
    case 2: /* a rod */
        t.radius = 0.5 * size;
        t.thick = 0.2 * size * thin;
        break;
    case 3: /* a ring */
        t.turn = 2.0 * PI;
        t.radius = 0.35 * size;
        t.thick = 0.15 * size * thin;
        rings += 6;
        break;
    default: /* a horseshoe */
        t.turn = 1.7 * PI;
        t.radius = 0.35 * size;
        t.thick = 0.15 * size * thin;
        rings += 6;
        break;
    }
    return sweep(&t, rings, sides);
}
