/*
 * A world of bodies with skins of every kind, for tests of skins on a device.
 */
#ifndef LIMBER_TEST_SKINNED_H
#define LIMBER_TEST_SKINNED_H

#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define ROWS 9
#define COLUMNS 14
#define BALL_VERTICES (ROWS * COLUMNS)
#define BALL_TRIANGLES ((ROWS - 1) * COLUMNS * 2)

/* Who they are. */
enum { CELLS, TWIN, CLOUD, REGIONS, TETS, TREE, STRIP, TREE_TOO, BARE, BODIES };

/* A ball around the body's rest shape, a little larger than it, open at its poles. */
static inline void add_skin(lm_world *world, lm_body_id id, lm_skin_kind kind, double scale)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *rest = malloc(info.particles * sizeof *rest), vertices[BALL_VERTICES];
    assert_ok(lm_body_get_rest_positions(world, id, rest));
    ref_vec low = to_double(rest[0]), high = low;
    for (uint32_t n = 1; n < info.particles; n++) {
        low = (ref_vec){fmin(low.x, rest[n].x), fmin(low.y, rest[n].y), fmin(low.z, rest[n].z)};
        high = (ref_vec){fmax(high.x, rest[n].x), fmax(high.y, rest[n].y), fmax(high.z, rest[n].z)};
    }
    free(rest);
    uint32_t triangles[3 * BALL_TRIANGLES], count = 0;
    for (uint32_t n = 0; n < BALL_VERTICES; n++) {
        double up = 0.1 + 2.9 * (n / COLUMNS) / (ROWS - 1.0), turn = 2.0 * 3.14159265358979 * (n % COLUMNS) / COLUMNS;
        vertices[n] = (lm_vec3){(float)(0.5 * (low.x + high.x) + scale * (high.x - low.x) * sin(up) * cos(turn)),
                                (float)(0.5 * (low.y + high.y) + scale * (high.y - low.y + 0.05) * cos(up)),
                                (float)(0.5 * (low.z + high.z) + scale * (high.z - low.z) * sin(up) * sin(turn))};
    }
    for (uint32_t n = 0; n < BALL_VERTICES - COLUMNS; n++) {
        uint32_t next = n % COLUMNS == COLUMNS - 1 ? n + 1 - COLUMNS : n + 1;
        const uint32_t corners[6] = {n, next, n + COLUMNS, next, next + COLUMNS, n + COLUMNS};
        for (int k = 0; k < 6; k++) triangles[count++] = corners[k];
    }
    lm_skin_def def = lm_skin_def_default();
    def.kind = kind;
    def.vertices = vertices;
    def.vertex_count = BALL_VERTICES;
    def.triangles = triangles;
    def.triangle_count = BALL_TRIANGLES;
    assert_ok(lm_body_set_skin(world, id, &def));
}

static inline lm_body_id add_octree(lm_world *world, float spacing, uint32_t levels, float width, double x)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.7f, 0.45f, 0.35f});
    lm_body_def def = boxes_octree(&b, spacing, levels, width);
    def.octree.detail = 6.0f;
    def.material.hertz = 4.0f;
    def.pose.position = (lm_dvec3){x, 0.5, 0.0};
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    return make_body(world, &def);
}

static inline void set_mode(lm_world *world, lm_body_id id, lm_mode mode)
{
    lm_material material;
    assert_ok(lm_body_get_material(world, id, &material));
    material.mode = mode;
    assert_ok(lm_body_set_material(world, id, &material));
}

static inline void fill_skinned(lm_world *world, lm_body_id ids[BODIES])
{
    ids[CELLS] = add_lattice(world, 5, 0.0, 0.4);
    ids[TWIN] = add_lattice(world, 5, 2000.0, 7.0);
    ids[CLOUD] = add_clusters(world, SAMPLE_GRID, 20.0, 0.4);
    ids[REGIONS] = add_clusters(world, SAMPLE_GRID, 40.0, 0.4);
    ids[TETS] = add_clusters(world, SAMPLE_TETS, 60.0, 0.4);
    ids[TREE] = add_octree(world, 0.1f, 2, 0.15f, 80.0);
    ids[STRIP] = add_clusters(world, SAMPLE_STRIP, 100.0, 0.4);
    ids[TREE_TOO] = add_octree(world, 0.05f, 3, 0.3f, 120.0);
    ids[BARE] = add_lattice(world, 4, 140.0, 0.4);
    set_mode(world, ids[REGIONS], LM_MODE_QUADRATIC);
    add_skin(world, ids[CELLS], LM_SKIN_PARTICLES, 0.52);
    add_skin(world, ids[TWIN], LM_SKIN_PARTICLES, 0.52);
    add_skin(world, ids[CLOUD], LM_SKIN_PARTICLES, 0.55);
    add_skin(world, ids[REGIONS], LM_SKIN_REGIONS, 0.55);
    add_skin(world, ids[TETS], LM_SKIN_PARTICLES, 0.5);
    add_skin(world, ids[TREE], LM_SKIN_REGIONS, 0.5);
    add_skin(world, ids[STRIP], LM_SKIN_REGIONS, 0.6);
    add_skin(world, ids[TREE_TOO], LM_SKIN_PARTICLES, 0.5);
    for (int n = 0; n < BODIES; n++) shake(world, ids[n], 0.01, 50 + (uint64_t)n);
}

/* A skin as it was given out. */
typedef struct skin_taken {
    lm_vec3 positions[BALL_VERTICES], normals[BALL_VERTICES];
} skin_taken;

static inline void take_skin(const lm_world *world, lm_body_id id, lm_dvec3 base, skin_taken *to)
{
    memset(to, 0xff, sizeof *to); /* no numbers */
    assert_ok(lm_body_get_skin(world, id, base, to->positions, to->normals));
}

/* The largest distance between the vertices of two, and (`normals`) between their normals. */
static inline double apart(const skin_taken *a, const skin_taken *b, double *normals)
{
    double worst = 0.0;
    for (int n = 0; n < BALL_VERTICES; n++) {
        double d = ref_length(ref_sub(to_double(a->positions[n]), to_double(b->positions[n])));
        double e = ref_length(ref_sub(to_double(a->normals[n]), to_double(b->normals[n])));
        worst = d > worst || isnan(d) ? d : worst;
        *normals = e > *normals || isnan(e) ? e : *normals;
    }
    return worst;
}

#endif
