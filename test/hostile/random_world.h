/*
 * Random worlds, over the public header alone: what a seed makes is the same in every build and on every machine that has the
 * same C library. Bodies of every sampling (clusters, lattices, tetrahedra, octrees) and material, that can break, flow, touch
 * themselves and each other; up to six colliders of every shape, some of them moving; crates (movers with mass); pins, drags, joints,
 * fields, sleep. While the world is stepped it is cut, broken, pushed and changed, by what its seed and the number of the frame say and nothing else. So the same
 * seed can be run with other workers, another instruction set or in a world that was loaded, and must give the same hashes.
 *
 *     random_world r;
 *     random_world_make(&r, seed, &world_def, NULL);
 *     for (uint32_t frame = 0; frame < 60; frame++) result = random_world_step(&r, frame);
 *     random_world_free(&r);
 *
 * Calls that a world refuses (a body with examples cannot be cut) are a part of it. A failed allocation is told by the result.
 */
#ifndef LIMBER_TEST_HOSTILE_RANDOM_WORLD_H
#define LIMBER_TEST_HOSTILE_RANDOM_WORLD_H

#include "limber/limber.h"

#include <stdio.h>

#define RANDOM_WORLD_BODIES 6
#define RANDOM_WORLD_COLLIDERS 6
#define RANDOM_WORLD_JOINTS 4

/* What a world may have besides bodies of every sampling and material, as bits. */
typedef enum random_world_feature {
    RANDOM_COLLIDERS = 1, /* planes, spheres, capsules, boxes, height maps, meshes; some on movers */
    RANDOM_TOUCH = 2,     /* bodies touch each other */
    RANDOM_SELF = 4,      /* bodies touch themselves */
    RANDOM_BREAK = 8,     /* lattices break */
    RANDOM_CUT = 16,
    RANDOM_PLASTIC = 32,
    RANDOM_HOLD = 64, /* pins and drags, skeletons */
    RANDOM_FIELD = 128,
    RANDOM_SLEEP = 256,
    RANDOM_EDIT = 512,      /* materials, rules, gravity change; bodies are destroyed and others made */
    RANDOM_EXAMPLES = 1024, /* bodies with example poses */
    RANDOM_DETAIL = 2048,   /* octrees whose cells change */
    RANDOM_FAST = 4096,     /* speeds up to 200 m/s */
    RANDOM_FAR = 8192,      /* kilometres from the origin */
    RANDOM_JOINTS = 16384,  /* with RANDOM_HOLD: joints between bodies, and to the mover or the world */
    RANDOM_CRATES = 32768,  /* movers with mass, which joints may hold */
    RANDOM_EVERYTHING = 65535
} random_world_feature;

typedef struct random_world {
    lm_world *world;
    uint64_t seed;
    uint32_t features;
    lm_dvec3 middle;
    lm_body_id bodies[RANDOM_WORLD_BODIES];
    uint32_t body_count;
    lm_pin_id pin;
    lm_drag_id drag;
    lm_joint_id joints[RANDOM_WORLD_JOINTS];
    lm_mover_id mover;
    lm_mover_id crate; /* the last of them; {0}: there is none */
    FILE *tell;        /* what is made and done is written there, line by line; null: nowhere */
    lm_dvec3 edited;   /* momentum, kg m/s, that bodies took with them or brought when they were destroyed or made */
} random_world;

/* Makes the world of a seed. Instruction set, workers and hooks are those of `def`; gravity and substeps are the seed's.
 * `features` are those that are allowed. On failure there is no world. */
lm_result random_world_make(random_world *made, uint64_t seed, uint32_t features, const lm_world_def *def, FILE *tell);

/* What happens before a frame: cuts, pushes, edits, now and then. */
lm_result random_world_happen(random_world *r, uint32_t frame);

/* A frame of 1/60 s. */
lm_result random_world_step(const random_world *r);

void random_world_free(random_world *r);

/* ---- random numbers: the same on every machine. One draw a statement: compilers choose the order within one. ---- */

typedef struct random_source {
    uint64_t state;
} random_source;

uint64_t random_source_bits(random_source *random);
double random_source_range(random_source *random, double low, double high);
uint32_t random_source_below(random_source *random, uint32_t limit);
bool random_source_chance(random_source *random, double probability);
lm_vec3 random_source_vector(random_source *random, double half); /* in a cube */
lm_quat random_source_rotation(random_source *random);

/* ---- random shapes: closed surfaces that face outward, about `size` metres large ---- */

typedef struct random_shape {
    lm_vec3 *vertices;
    uint32_t *triangles;
    uint32_t vertex_count, triangle_count;
} random_shape;

/* A box, bar or slab; a ball with bumps; a ring; a horseshoe whose ends are near each other. All zero when memory runs out. */
random_shape random_shape_make(random_source *random, double size);
void random_shape_free(random_shape *shape);

#endif
