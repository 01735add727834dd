/*
 * What the tests of examples share: a bar in each of the ways in which bodies are sampled, deformed in some ways that are its
 * examples.
 */
#ifndef LIMBER_TEST_EXAMPLES_BAR_H
#define LIMBER_TEST_EXAMPLES_BAR_H

#include "test/lattice/lattice_cells.h"
#include "test/reference/reference.h"

#define MOST 400 /* particles of the bodies here */

typedef struct specimen {
    lm_world *world;
    lm_body_id body;
    lm_body_info info;
    ref_vec rest[MOST];
    double size;
} specimen;

typedef enum sampling { CLUSTERS, LATTICE, TETS, SAMPLINGS } sampling;

static const char *const sampling_names[SAMPLINGS] = {"clusters", "lattice", "tetrahedra"};

/* Lattices have no quadratic mode. */
static inline int modes_of(sampling kind) { return kind == LATTICE ? 2 : LM_MODE_COUNT; }

/* A bar of 13 x 4 x 4 points along x. */
static inline specimen make_bar(sampling kind, lm_material material, lm_isa isa)
{
    specimen s = {.world = make_world_with(0.0, isa, 1), .size = 12 * 0.1};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    uint8_t cells[12 * 3 * 3];
    lm_vec3 *points = grid_points(13, 4, 4, 0.1);
    uint32_t *tets = NULL;
    memset(cells, 1, sizeof cells);
    def.material = material;
    if (kind == TETS) {
        tets = grid_tets(13, 4, 4, &def.tets.tet_count);
        def.tets.tets = tets;
        def.tets.vertices = points;
        def.tets.vertex_count = 13 * 4 * 4;
    } else if (kind == LATTICE) {
        def.lattice.cells = cells;
        memcpy(def.lattice.counts, (uint32_t[]){12, 3, 3}, 12);
        def.lattice.spacing = 0.1f;
        def.lattice.first = points[0];
        def.lattice.mass = LM_LATTICE_MASS_EQUAL;
    } else {
        def.points = points;
        def.point_count = 13 * 4 * 4;
        def.clusters.counts[0] = 6;
        def.clusters.counts[1] = def.clusters.counts[2] = 2;
        def.clusters.overlap = 0.5f;
    }
    s.body = make_body(s.world, &def);
    free(points);
    free(tets);
    assert_ok(lm_body_get_info(s.world, s.body, &s.info));
    lm_vec3 rest[MOST];
    assert_ok(lm_body_get_rest_positions(s.world, s.body, rest));
    for (uint32_t i = 0; i < s.info.particles; i++) s.rest[i] = to_double(rest[i]);
    return s;
}

static inline void free_bar(specimen *s) { lm_world_destroy(s->world); }

typedef enum deformer { TWIST, BEND, SWELL, SHEAR, SAME, MIRROR, CRUSH, ROD, DEFORMERS } deformer;

static inline ref_vec deform(deformer kind, double amount, ref_vec p)
{
    double turn = amount * p.x / 0.6, c = cos(turn), sine = sin(turn), radius = 0.6 / amount;
    switch (kind) {
    case TWIST: return ref_v(p.x, c * p.y - sine * p.z, sine * p.y + c * p.z);
    case BEND: return ref_v((radius - p.y) * sine, radius - (radius - p.y) * c, p.z);
    case SWELL: return ref_v(p.x * (1.0 - 0.3 * amount), p.y * (1.0 + amount), p.z * (1.0 + 0.5 * amount));
    case SHEAR: return ref_v(p.x + amount * p.y, p.y, p.z + 0.5 * amount * p.x);
    case MIRROR: return ref_v(-p.x, p.y * (1.0 + amount), p.z);
    case ROD: return ref_v(p.x, (1.0 - amount) * p.y, (1.0 - amount) * p.z);
    case CRUSH: return ref_v(0.0, 1e-3 * p.y, 50.0 * p.z);
    default: return p;
    }
}

static inline void pose_of(const specimen *s, deformer kind, double amount, lm_vec3 *out)
{
    for (uint32_t i = 0; i < s->info.particles; i++) out[i] = to_float(deform(kind, amount, s->rest[i]));
}

/* Poses of the given kinds, each by `amount`. */
static inline void give_examples(specimen *s, const deformer *kinds, uint32_t count, double amount,
                                 lm_example_scope scope, double beta, lm_examples_def *used)
{
    static lm_vec3 poses[LM_MAX_EXAMPLES * MOST];
    static uint32_t groups[4096];
    lm_examples_def def = lm_examples_def_default();
    for (uint32_t k = 0; k < count; k++) pose_of(s, kinds[k], amount, poses + k * s->info.particles);
    for (uint32_t r = 0; r < s->info.regions; r++) groups[r] = r % 5 == 0 ? LM_NO_GROUP : r * 3 / s->info.regions;
    def.poses = poses;
    def.count = count;
    def.particles = s->info.particles;
    def.scope = scope;
    def.groups = groups;
    def.group_count = 3;
    def.beta = (float)beta;
    assert_ok(lm_body_set_examples(s->world, s->body, &def));
    assert_ok(lm_body_get_info(s->world, s->body, &s->info));
    assert_int_equal(s->info.examples, count);
    if (used) *used = def;
}

/* One that is measured and does not move. */
static inline lm_material still_material(void)
{
    lm_material material = lm_material_default();
    material.stiffness = LM_STIFFNESS_ALPHA;
    material.alpha = 0.0f;
    material.mode = LM_MODE_RIGID;
    return material;
}

static inline void put(const specimen *s, const lm_vec3 *at)
{
    static const lm_vec3 still[MOST];
    assert_ok(lm_body_set_state(s->world, s->body, lm_dvec3_zero(), at, still));
}

/* Turned and moved. */
static inline void put_turned(const specimen *s, const lm_vec3 *at, ref_mat turn, ref_vec by)
{
    lm_vec3 x[MOST];
    for (uint32_t i = 0; i < s->info.particles; i++) x[i] = to_float(ref_add(by, ref_mat_vec(turn, to_double(at[i]))));
    put(s, x);
}

static inline void read_weights(const specimen *s, float *weights)
{
    assert_ok(lm_world_step(s->world, FRAME));
    assert_ok(lm_body_get_example_weights(s->world, s->body, weights));
}

static inline lm_material soft_material(lm_mode mode, double damping_ratio)
{
    lm_material material = lm_material_default();
    material.mode = mode;
    material.hertz = 8.0f;
    material.damping_ratio = (float)damping_ratio;
    material.beta = 0.5f;
    return material;
}

static inline void run_for(const specimen *s, double seconds)
{
    for (int step = 0; step < (int)(seconds / FRAME + 0.5); step++) assert_ok(lm_world_step(s->world, FRAME));
}

#endif
