/*
 * Examples: the mix is the nearest one there is, however the body is turned and whatever the examples are; the body goes where
 * the mix says and comes back; nothing else (momentum, snapshots, mangled states) suffers from it.
 */
#include "examples.h"
#include "test/reference/reference.h"
#include "test/unit/lattice_cells.h"

#define MOST 400 /* particles of the bodies here */

/* ---- the projection by itself ---- */

/* Corners in `dimensions`, some of them the same, mixes of others, or the rest pose; and a target in or out of their hull. */
static void random_corners(random_state *random, int count, int dimensions, double corners[][64], double *target)
{
    for (int d = 0; d < dimensions; d++) corners[0][d] = 0.0;
    for (int k = 1; k <= count; k++) {
        uint32_t kind = random_below(random, 8);
        double size = kind == 0 ? 1e-3 : 1.0, share = random_range(random, 0.0, 1.0);
        int a = (int)random_below(random, (uint32_t)k), b = (int)random_below(random, (uint32_t)k);
        for (int d = 0; d < dimensions; d++)
            corners[k][d] = kind == 1   ? corners[a][d]
                            : kind == 2 ? share * corners[a][d] + (1.0 - share) * corners[b][d]
                                        : size * random_range(random, -1.0, 1.0);
    }
    double far = random_below(random, 3) == 0 ? 0.0 : random_range(random, 0.0, 2.0), sum = 0.0, mix[16];
    for (int k = 0; k <= count; k++) sum += mix[k] = random_range(random, 0.0, 1.0);
    for (int d = 0; d < dimensions; d++) {
        target[d] = far * random_range(random, -1.0, 1.0);
        for (int k = 0; k <= count; k++) target[d] += mix[k] / sum * corners[k][d];
    }
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int d = 0; d < n; d++) sum += a[d] * b[d];
    return sum;
}

static void the_projection_is_the_nearest_point(void **context)
{
    (void)context;
    random_state random = {90};
    double worst = 0.0;
    for (int trial = 0; trial < 4000; trial++) {
        int count = 1 + (int)random_below(&random, LM_MAX_EXAMPLES), dimensions = 1 + (int)random_below(&random, 64);
        double corners[9][64], target[64], gram[100], expected[9], packed[36], b[8], w[8], largest = 0.0;
        random_corners(&random, count, dimensions, corners, target);
        int stride = count + 2;
        for (int i = 0; i < stride; i++)
            for (int j = 0; j < stride; j++)
                gram[i * stride + j] =
                    dot(i <= count ? corners[i] : target, j <= count ? corners[j] : target, dimensions);
        double distance = sqrt(fmax(0.0, ref_nearest_mix(count + 1, gram, expected)));
        for (int k = 1; k <= count; k++) largest = fmax(largest, gram[k * stride + k]);
        double scale = largest > 0.0 ? 1.0 / largest : 0.0;
        for (int i = 0, at = 0; i < count; i++) {
            b[i] = scale * gram[(i + 1) * stride + count + 1];
            for (int j = i; j < count; j++)
                packed[at++] = scale * gram[(i + 1) * stride + j + 1] + (i == j ? 1e-11 : 0.0);
        }
        lmi_project((uint32_t)count, packed, b, w);
        double sum = 0.0, off = 0.0, away = 0.0;
        for (int k = 0; k < count; k++) {
            assert_true(w[k] >= 0.0);
            sum += w[k];
        }
        assert_at_most(sum, 1.0 + 1e-12);
        for (int d = 0; d < dimensions; d++) {
            double mine = 0.0, best = 0.0;
            for (int k = 1; k <= count; k++) {
                mine += w[k - 1] * corners[k][d];
                best += expected[k] * corners[k][d];
            }
            off += (mine - best) * (mine - best);
            away += (mine - target[d]) * (mine - target[d]);
        }
        if (!(sqrt(off) <= 1e-5))
            print_error("trial %d, %d corners in %d dimensions: off by %g, at %g instead of %g\n", trial, count,
                        dimensions, sqrt(off), sqrt(away), distance);
        worst = fmax(worst, sqrt(off));
        assert_at_most(sqrt(away), distance + 1e-6);
    }
    print_message("nearest points are off by at most %.3g\n", worst);
    assert_at_most(worst, 1e-5);
}

/* ---- bodies ---- */

typedef struct specimen {
    lm_world *world;
    lm_body_id body;
    lm_body_info info;
    ref_vec rest[MOST];
    double size;
} specimen;

/* A bar of 13 x 4 x 4 points along x, in overlapping clusters or as a lattice. */
static specimen make_bar(bool lattice, lm_material material, lm_isa isa)
{
    specimen s = {.world = make_world_with(0.0, isa, 1), .size = 12 * 0.1};
    lm_body_def def = lm_body_def_default();
    uint8_t cells[12 * 3 * 3];
    lm_vec3 *points = grid_points(13, 4, 4, 0.1);
    memset(cells, 1, sizeof cells);
    def.material = material;
    if (lattice) {
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
    assert_ok(lm_body_get_info(s.world, s.body, &s.info));
    lm_vec3 rest[MOST];
    assert_ok(lm_body_get_rest_positions(s.world, s.body, rest));
    for (uint32_t i = 0; i < s.info.particles; i++) s.rest[i] = to_double(rest[i]);
    return s;
}

static void free_bar(specimen *s) { lm_world_destroy(s->world); }

typedef enum deformer { TWIST, BEND, SWELL, SHEAR, SAME, MIRROR, CRUSH, DEFORMERS } deformer;

static ref_vec deform(deformer kind, double amount, ref_vec p)
{
    double turn = amount * p.x / 0.6, c = cos(turn), sine = sin(turn), radius = 0.6 / amount;
    switch (kind) {
    case TWIST: return ref_v(p.x, c * p.y - sine * p.z, sine * p.y + c * p.z);
    case BEND: return ref_v((radius - p.y) * sine, radius - (radius - p.y) * c, p.z);
    case SWELL: return ref_v(p.x * (1.0 - 0.3 * amount), p.y * (1.0 + amount), p.z * (1.0 + 0.5 * amount));
    case SHEAR: return ref_v(p.x + amount * p.y, p.y, p.z + 0.5 * amount * p.x);
    case MIRROR: return ref_v(-p.x, p.y * (1.0 + amount), p.z);
    case CRUSH: return ref_v(0.0, 1e-3 * p.y, 50.0 * p.z);
    default: return p;
    }
}

static void pose_of(const specimen *s, deformer kind, double amount, lm_vec3 *out)
{
    for (uint32_t i = 0; i < s->info.particles; i++) out[i] = to_float(deform(kind, amount, s->rest[i]));
}

/* Poses of the given kinds, each by `amount`. */
static void give_examples(specimen *s, const deformer *kinds, uint32_t count, double amount, lm_example_scope scope,
                          double beta, lm_examples_def *used)
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
static lm_material still_material(void)
{
    lm_material material = lm_material_default();
    material.stiffness = LM_STIFFNESS_ALPHA;
    material.alpha = 0.0f;
    material.mode = LM_MODE_RIGID;
    return material;
}

static void put(const specimen *s, const lm_vec3 *at)
{
    static const lm_vec3 still[MOST];
    assert_ok(lm_body_set_state(s->world, s->body, lm_dvec3_zero(), at, still));
}

/* Turned and moved. */
static void put_turned(const specimen *s, const lm_vec3 *at, ref_mat turn, ref_vec by)
{
    lm_vec3 x[MOST];
    for (uint32_t i = 0; i < s->info.particles; i++) x[i] = to_float(ref_add(by, ref_mat_vec(turn, to_double(at[i]))));
    put(s, x);
}

static void read_weights(const specimen *s, float *weights)
{
    assert_ok(lm_world_step(s->world, FRAME));
    assert_ok(lm_body_get_example_weights(s->world, s->body, weights));
}

/* ---- the mix ---- */

/* Against the reference, which tries every face: the stretch of the mix in every region. The examples depend on each other in
 * every other trial, so that weights by themselves mean nothing. */
static void the_mix_of_a_body_is_the_nearest(void **context)
{
    (void)context;
    static const deformer kinds[2][5] = {{TWIST, BEND, SWELL, SHEAR, MIRROR}, {BEND, SAME, BEND, SHEAR, CRUSH}};
    double worst = 0.0;
    for (int trial = 0; trial < 96; trial++) {
        int isa = LM_ISA_SCALAR + trial % 4, lattice = trial / 4 % 2, scope = trial / 8 % 3, set = trial / 24 % 2;
        if (!lm_isa_supported((lm_isa)isa)) continue;
        random_state random = {(uint64_t)(500 + trial / 4)};
        specimen s = make_bar(lattice, still_material(), (lm_isa)isa);
        lm_examples_def def;
        uint32_t count = 1 + random_below(&random, 5);
        give_examples(&s, kinds[set], count, 0.5, (lm_example_scope)scope, 1.0, &def);
        lm_vec3 x[MOST];
        ref_mat turn = random_rotation(&random);
        double amounts[5];
        for (int k = 0; k < 5; k++) amounts[k] = random_range(&random, -0.3, 0.6);
        for (uint32_t i = 0; i < s.info.particles; i++) {
            ref_vec at = s.rest[i];
            for (int k = 0; k < 4; k++)
                at = ref_add(at,
                             ref_sub(deform(kinds[0][k], amounts[k] == 0.0 ? 0.1 : amounts[k], s.rest[i]), s.rest[i]));
            x[i] = to_float(ref_add(ref_mat_vec(turn, at), random_in_cube(&random, 0.01)));
        }
        put(&s, x);
        ref_body *reference = ref_body_copy(s.world, s.body, 0.0);
        ref_set_examples(reference, &def);
        ref_mix(reference);
        ref_mat *expected = reference->mix, identity = ref_identity();
        float weights[4096];
        read_weights(&s, weights);
        /* The library's mix: its weights on the reference's stretches. */
        ref_mat *mine = calloc(s.info.regions, sizeof *mine);
        for (uint32_t r = 0; r < s.info.regions; r++) mine[r] = identity;
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t r = 0; r < s.info.regions; r++) {
                if (reference->examples.group[r] == LM_NO_GROUP) continue;
                float w = weights[reference->examples.group[r] * count + k];
                assert_true(w >= 0.0f && w <= 1.0f);
                ref_mat one = ref_example_stretch(reference, r, k);
                for (int i = 0; i < 9; i++) mine[r].at[i / 3][i % 3] += (double)w * one.at[i / 3][i % 3];
            }
        }
        for (uint32_t r = 0; r < s.info.regions; r++)
            for (int i = 0; i < 9; i++) {
                double off = fabs(mine[r].at[i / 3][i % 3] - expected[r].at[i / 3][i % 3]);
                /* A region by itself is solved in single precision. */
                if (!(off <= (scope == LM_EXAMPLES_REGIONS ? 1e-4 : 1e-5)))
                    print_error("%s, %s, scope %d, set %d, %u examples: region %u off by %g\n",
                                lm_isa_name((lm_isa)isa), lattice ? "lattice" : "clusters", scope, set, count, r, off);
                assert_at_most(off, scope == LM_EXAMPLES_REGIONS ? 1e-4 : 1e-5);
                worst = fmax(worst, off);
            }
        free(mine);
        ref_body_free(reference);
        free_bar(&s);
    }
    print_message("mixes are off by at most %.3g\n", worst);
}

static void examples_and_the_rest_pose_are_themselves(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND, SWELL};
    for (int lattice = 0; lattice < 2; lattice++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
            random_state random = {(uint64_t)(40 + scope)};
            specimen s = make_bar(lattice, still_material(), LM_ISA_BEST);
            give_examples(&s, kinds, 3, 0.6, (lm_example_scope)scope, 1.0, NULL);
            for (uint32_t k = 0; k <= 3; k++) {
                lm_vec3 x[MOST];
                float weights[4096];
                pose_of(&s, k < 3 ? kinds[k] : SAME, 0.6, x);
                put_turned(&s, x, random_rotation(&random), random_in_cube(&random, 2.0));
                read_weights(&s, weights);
                /* A region in the middle of a bent bar is bent but hardly stretched: there poses are all but the same. */
                double tolerance = scope == LM_EXAMPLES_REGIONS ? 2e-3 : 1e-5;
                for (uint32_t g = 0; g < s.info.example_groups; g++)
                    for (uint32_t j = 0; j < 3; j++) {
                        double off = fabs((double)weights[g * 3 + j] - (j == k));
                        if (!(off <= tolerance))
                            print_error("%s, scope %d, pose %u, group %u: weight %u is off by %g\n",
                                        lattice ? "lattice" : "clusters", scope, k, g, j, off);
                        assert_at_most(off, tolerance);
                    }
            }
            free_bar(&s);
        }
}

/* The same body with another idea of which way is x. */
static void the_mix_does_not_depend_on_how_the_rest_shape_is_turned(void **context)
{
    (void)context;
    random_state random = {61};
    for (int trial = 0; trial < 10; trial++) {
        ref_mat turn = trial == 0 ? ref_identity() : random_rotation(&random);
        static float first[3];
        lm_vec3 *points = grid_points(13, 4, 4, 0.1);
        lm_vec3 turned[208], poses[3 * 208], x[208];
        static const deformer kinds[] = {TWIST, BEND, SHEAR};
        for (uint32_t i = 0; i < 208; i++) {
            ref_vec p = to_double(points[i]);
            turned[i] = to_float(ref_mat_vec(turn, p));
            for (uint32_t k = 0; k < 3; k++) poses[k * 208 + i] = to_float(ref_mat_vec(turn, deform(kinds[k], 0.7, p)));
            x[i] = to_float(deform(SHEAR, 0.2, deform(TWIST, 0.5, p)));
        }
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.points = turned;
        def.point_count = 208;
        def.clusters.kind = LM_CLUSTERS_KMEANS;
        def.clusters.count = 5;
        def.material = still_material();
        uint32_t offsets[4] = {0, 80, 160, 208}, members[208];
        for (uint32_t i = 0; i < 208; i++) members[i] = i;
        def.clusters.kind = LM_CLUSTERS_LISTS; /* the same ones whichever way it is turned */
        def.clusters.offsets = offsets;
        def.clusters.members = members;
        def.clusters.list_count = 3;
        lm_body_id body = make_body(world, &def);
        lm_examples_def examples = lm_examples_def_default();
        examples.poses = poses;
        examples.count = 3;
        examples.particles = 208;
        assert_ok(lm_body_set_examples(world, body, &examples));
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        assert_ok(lm_world_step(world, FRAME));
        float weights[3];
        assert_ok(lm_body_get_example_weights(world, body, weights));
        if (trial == 0) memcpy(first, weights, sizeof first);
        for (int k = 0; k < 3; k++) assert_near(weights[k], first[k], 1e-5);
        assert_true(weights[0] > 0.2f && weights[2] > 0.02f);
        lm_world_destroy(world);
        free(points);
    }
}

/* ---- motion ---- */

static lm_material soft_material(lm_mode mode, double damping_ratio)
{
    lm_material material = lm_material_default();
    material.mode = mode;
    material.hertz = 8.0f;
    material.damping_ratio = (float)damping_ratio;
    material.beta = 0.5f;
    return material;
}

static void run_for(const specimen *s, double seconds)
{
    for (int step = 0; step < (int)(seconds / FRAME + 0.5); step++) assert_ok(lm_world_step(s->world, FRAME));
}

/* Pulled out into a twist that is an example and let go. */
static void a_body_let_go_returns_to_rest(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND};
    for (int lattice = 0; lattice < 2; lattice++)
        for (int mode = 0; mode < (lattice ? 2 : 3); mode++)
            for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
                specimen s = make_bar(lattice, soft_material((lm_mode)mode, 0.3), LM_ISA_BEST);
                lm_vec3 x[MOST];
                give_examples(&s, kinds, 2, 0.6, (lm_example_scope)scope, 0.9, NULL);
                pose_of(&s, TWIST, 0.6, x);
                put(&s, x);
                run_for(&s, 30.0);
                double off = deformation(s.world, s.body) / s.size;
                if (!(off <= 1e-3))
                    print_error("%s, mode %d, scope %d: off by %g\n", lattice ? "lattice" : "clusters", mode, scope,
                                off);
                assert_at_most(off, 1e-3);
                free_bar(&s);
            }
}

/* With beta 1 nothing pulls it out of an example that its regions can follow exactly, so it stays. */
static void with_beta_1_it_stays_in_an_example(void **context)
{
    (void)context;
    for (int lattice = 0; lattice < 2; lattice++) {
        static const deformer kinds[] = {SHEAR};
        specimen s = make_bar(lattice, soft_material(LM_MODE_RIGID, 1.0), LM_ISA_BEST);
        lm_vec3 x[MOST];
        ref_vec pose[MOST];
        give_examples(&s, kinds, 1, 0.6, LM_EXAMPLES_BODY, 1.0, NULL);
        pose_of(&s, SHEAR, 0.6, x);
        for (uint32_t i = 0; i < s.info.particles; i++) pose[i] = to_double(x[i]);
        put(&s, x);
        run_for(&s, 5.0);
        assert_at_most(deformation_from(s.world, s.body, pose) / s.size, 1e-3);
        assert_true(deformation(s.world, s.body) / s.size > 0.1);
        /* Another beta, and it leaves. */
        assert_ok(lm_body_set_example_beta(s.world, s.body, 0.5f));
        run_for(&s, 20.0);
        assert_at_most(deformation(s.world, s.body) / s.size, 1e-3);
        free_bar(&s);
    }
}

static void an_example_that_is_the_rest_pose_changes_nothing(void **context)
{
    (void)context;
    static const deformer same[] = {SAME, SAME};
    for (int lattice = 0; lattice < 2; lattice++)
        for (int mode = 0; mode < (lattice ? 2 : 3); mode++)
            for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
                for (int plastic = 0; plastic < 2; plastic++) {
                    lm_material material = soft_material((lm_mode)mode, 0.1);
                    material.yield = plastic ? 0.02f : 0.0f;
                    specimen with = make_bar(lattice, material, LM_ISA_BEST);
                    specimen without = make_bar(lattice, material, LM_ISA_BEST);
                    lm_vec3 x[MOST];
                    give_examples(&with, same, 2, 0.0, (lm_example_scope)scope, 1.0, NULL);
                    pose_of(&with, BEND, 0.4, x);
                    put(&with, x);
                    put(&without, x);
                    double off = 0.0;
                    for (int step = 0; step < 100; step++) {
                        assert_ok(lm_world_step(with.world, FRAME));
                        assert_ok(lm_world_step(without.world, FRAME));
                        body_state a = state_read(with.world, with.body, lm_dvec3_zero());
                        body_state b = state_read(without.world, without.body, lm_dvec3_zero());
                        for (uint32_t i = 0; i < a.count; i++) off = fmax(off, ref_length(ref_sub(a.x[i], b.x[i])));
                        state_free(&a);
                        state_free(&b);
                    }
                    assert_at_most(off / with.size, 2e-5);
                    free_bar(&with);
                    free_bar(&without);
                }
}

/* The particles go where a forced mix says, and back when it is given back. */
static void forced_weights_lead_to_the_pose(void **context)
{
    (void)context;
    static const deformer kinds[] = {SHEAR, SWELL};
    for (int lattice = 0; lattice < 2; lattice++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
            specimen s = make_bar(lattice, soft_material(LM_MODE_RIGID, 1.0), LM_ISA_BEST);
            give_examples(&s, kinds, 2, 0.5, (lm_example_scope)scope, 0.9, NULL);
            float weights[4096], read[4096];
            for (uint32_t k = 0; k < 2; k++) {
                ref_vec pose[MOST];
                for (uint32_t g = 0; g < s.info.example_groups; g++) {
                    weights[2 * g + k] = 1.0f;
                    weights[2 * g + 1 - k] = 0.0f;
                }
                assert_ok(lm_body_set_example_weights(s.world, s.body, weights));
                run_for(&s, 20.0);
                read_weights(&s, read);
                assert_memory_equal(read, weights, s.info.example_groups * 2 * sizeof *read);
                for (uint32_t i = 0; i < s.info.particles; i++) pose[i] = deform(kinds[k], 0.5, s.rest[i]);
                /* Regions that nobody asked resist. */
                double off = deformation_from(s.world, s.body, pose) / s.size;
                if (!(off <= (scope == LM_EXAMPLES_GROUPS ? 0.15 : 1e-3)))
                    print_error("%s, scope %d, pose %u: off by %g\n", lattice ? "lattice" : "clusters", scope, k, off);
                assert_at_most(off, scope == LM_EXAMPLES_GROUPS ? 0.15 : 1e-3);
                assert_true(deformation(s.world, s.body) / s.size > 0.03);
            }
            assert_ok(lm_body_set_example_weights(s.world, s.body, NULL));
            run_for(&s, 30.0);
            assert_at_most(deformation(s.world, s.body) / s.size, 2e-3);
            free_bar(&s);
        }
}

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND, SWELL};
    double worst = 0.0;
    for (int lattice = 0; lattice < 2; lattice++)
        for (int mode = 0; mode < (lattice ? 2 : 3); mode++)
            for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
                for (int damped = 0; damped < 2; damped++) {
                    random_state random = {(uint64_t)(mode * 10 + scope)};
                    lm_material material = soft_material((lm_mode)mode, damped ? 0.3 : 0.0);
                    specimen s = make_bar(lattice, material, LM_ISA_BEST);
                    give_examples(&s, kinds, 3, 0.5, (lm_example_scope)scope, 0.95, NULL);
                    randomise_state(s.world, s.body, &random, 0.02, 1.0);
                    motion start = motion_read(s.world, s.body, lm_dvec3_zero());
                    for (int step = 0; step < 600; step++) assert_ok(lm_world_step(s.world, FRAME));
                    lm_body_info info;
                    assert_ok(lm_body_get_info(s.world, s.body, &info));
                    motion end = motion_read(s.world, s.body, info.centre);
                    assert_true(end.finite);
                    double linear = ref_length(ref_sub(end.momentum, start.momentum)) / start.momentum_scale;
                    double angular = ref_length(ref_sub(end.angular, start.angular)) / start.angular_scale;
                    worst = fmax(worst, fmax(linear, angular));
                    if (!(worst <= 1e-4))
                        print_error("%s, mode %d, scope %d: momentum off by %g, spin by %g\n",
                                    lattice ? "lattice" : "clusters", mode, scope, linear, angular);
                    assert_at_most(linear, 1e-4);
                    assert_at_most(angular, 1e-4);
                    free_bar(&s);
                }
    print_message("momentum and spin change by at most %.3g\n", worst);
}

/* The angle by which one end is turned against the other about x. */
static double twist_of(const specimen *s)
{
    body_state state = state_read(s->world, s->body, lm_dvec3_zero());
    double across[2] = {0}, along[2] = {0};
    for (uint32_t i = 0; i < state.count; i++) {
        int end = s->rest[i].x > 0.0;
        if (fabs(s->rest[i].x) < 0.59) continue;
        across[end] += s->rest[i].y * state.x[i].z - s->rest[i].z * state.x[i].y;
        along[end] += s->rest[i].y * state.x[i].y + s->rest[i].z * state.x[i].z;
    }
    state_free(&state);
    return atan2(across[1], along[1]) - atan2(across[0], along[0]);
}

/* How far the ends are above the middle. */
static double sag_of(const specimen *s)
{
    body_state state = state_read(s->world, s->body, lm_dvec3_zero());
    double ends = 0.0, middle = 0.0;
    for (uint32_t i = 0; i < state.count; i++) {
        if (fabs(s->rest[i].x) > 0.59) ends += state.x[i].y / 32.0;
        if (fabs(s->rest[i].x) < 0.01) middle += state.x[i].y / 16.0;
    }
    state_free(&state);
    return ends - middle;
}

/* The same couple on the ends twists a bar more whose example is a twist, and the same load bends one more whose example is a
 * bend. */
static void examples_decide_how_a_body_deforms(void **context)
{
    (void)context;
    double twist[2], sag[2];
    for (int kind = 0; kind < 2; kind++)
        for (int load = 0; load < 2; load++) {
            const deformer kinds[] = {kind ? BEND : TWIST};
            specimen s = make_bar(true, soft_material(LM_MODE_RIGID, 0.5), LM_ISA_BEST);
            give_examples(&s, kinds, 1, 0.8, LM_EXAMPLES_BODY, 0.99, NULL);
            for (int step = 0; step < 600; step++) {
                for (uint32_t i = 0; i < s.info.particles; i++) {
                    ref_vec p = s.rest[i], force = {0};
                    bool end = fabs(p.x) > 0.59, middle = fabs(p.x) < 0.01;
                    if (load == 0 && end) force = ref_scale(p.x > 0.0 ? 0.5 : -0.5, ref_v(0.0, -p.z, p.y));
                    if (load == 1) force.y = end ? 0.01 : middle ? -0.02 : 0.0;
                    if (end || middle) assert_ok(lm_body_add_particle_force(s.world, s.body, i, to_float(force)));
                }
                assert_ok(lm_world_step(s.world, FRAME));
            }
            if (load == 0) twist[kind] = twist_of(&s);
            if (load == 1) sag[kind] = sag_of(&s);
            free_bar(&s);
        }
    print_message("twisted by %.3g and %.3g, bent by %.3g and %.3g\n", twist[0], twist[1], sag[0], sag[1]);
    assert_true(twist[0] > 1.2 * twist[1] && twist[1] > 0.0);
    assert_true(sag[1] > 1.2 * sag[0] && sag[0] > 0.0);
}

/* ---- trouble ---- */

static ref_vec mangle(int kind, ref_vec p, random_state *random)
{
    ref_vec any = random_in_cube(random, 0.6);
    return kind == 0   ? any
           : kind == 1 ? ref_v(p.x, 0.0, p.z)
           : kind == 2 ? ref_v(p.x, 0.0, 0.0)
           : kind == 3 ? ref_v(0.0, 0.0, 0.0)
           : kind == 4 ? ref_v(-p.x, p.y, p.z)
           : kind == 5 ? ref_scale(1e6, p)
                       : ref_scale(1e-6, p);
}

/* How far a mangled bar is from its rest shape after 1500 steps; `set` of examples, or null. */
static double after_mangling(int trial, const deformer *set)
{
    int lattice = trial % 2, mangled = trial / 6 % 7, scope = trial % 3, mode = trial / 3 % (lattice ? 2 : 3);
    random_state random = {(uint64_t)(900 + trial)};
    lm_material material = soft_material((lm_mode)mode, 1.0);
    material.stiffness = LM_STIFFNESS_ALPHA;
    material.alpha = 1.0f;
    material.damping = 20.0f;
    specimen s = make_bar(lattice, material, LM_ISA_BEST);
    if (set) give_examples(&s, set, 4, 0.7, (lm_example_scope)scope, trial % 4 == 0 ? 1.0 : 0.5, NULL);
    lm_vec3 x[MOST];
    for (uint32_t i = 0; i < s.info.particles; i++) x[i] = to_float(mangle(mangled, s.rest[i], &random));
    put(&s, x);
    for (int step = 0; step < 1500; step++) assert_ok(lm_world_step(s.world, FRAME));
    lm_totals totals;
    lm_world_get_totals(s.world, &totals);
    assert_true(totals.finite);
    float weights[4096];
    if (set) assert_ok(lm_body_get_example_weights(s.world, s.body, weights));
    for (uint32_t g = 0; set && g < s.info.example_groups; g++) {
        double sum = 0.0;
        for (uint32_t k = 0; k < 4; k++) {
            assert_true(weights[4 * g + k] >= 0.0f);
            sum += (double)weights[4 * g + k];
        }
        assert_at_most(sum, 1.0 + 1e-6);
    }
    double off = deformation(s.world, s.body) / s.size;
    free_bar(&s);
    return off;
}

/* Squashed to a plane or a line, or blown up, a bar comes back with examples wherever it does without. From a random cloud, a
 * point or a mirror image it may stay knotted; and with a beta of 1 the examples are as good as the rest pose. */
static void mangled_bodies_stay_finite_and_come_back(void **context)
{
    (void)context;
    static const deformer sets[3][4] = {
        {TWIST, BEND, SWELL, SHEAR}, {MIRROR, CRUSH, SAME, TWIST}, {CRUSH, CRUSH, SAME, MIRROR}};
    uint32_t returned = 0;
    for (int trial = 0; trial < 84; trial++) {
        int mangled = trial / 6 % 7;
        double off = after_mangling(trial, sets[trial / 2 % 3]);
        if (trial % 4 == 0 || !(mangled == 1 || mangled == 2 || mangled == 5)) continue;
        if (!(after_mangling(trial, NULL) <= 0.01)) continue;
        if (!(off <= 0.01)) print_error("trial %d: off by %g\n", trial, off);
        assert_at_most(off, 0.01);
        returned++;
    }
    assert_true(returned >= 20);
}

static void wrong_definitions_are_refused(void **context)
{
    (void)context;
    specimen s = make_bar(false, soft_material(LM_MODE_RIGID, 0.1), LM_ISA_BEST);
    static lm_vec3 poses[9 * MOST];
    uint32_t groups[64] = {0};
    lm_examples_def good = lm_examples_def_default();
    pose_of(&s, TWIST, 0.5, poses);
    good.poses = poses;
    good.count = 1;
    good.particles = s.info.particles;
    float beta, weights[2] = {0.5f, 0.2f};
    assert_result(lm_body_set_example_beta(s.world, s.body, 0.5f), LM_ERROR_ARGUMENT);
    assert_result(lm_body_get_example_beta(s.world, s.body, &beta), LM_ERROR_ARGUMENT);
    assert_result(lm_body_get_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_set_examples(s.world, s.body, NULL));
    uint64_t before = lm_world_hash(s.world);
    for (int fault = 0; fault < 15; fault++) {
        lm_examples_def def = good;
        if (fault == 0) def.cookie = 0;
        if (fault == 1) def.count = 0;
        if (fault == 2) def.count = LM_MAX_EXAMPLES + 1;
        if (fault == 3) def.poses = NULL;
        if (fault == 4) def.particles--;
        if (fault == 5) def.particles++;
        if (fault == 6) def.scope = LM_EXAMPLES_SCOPE_COUNT;
        if (fault == 7) def.beta = -0.1f;
        if (fault == 8) def.beta = 1.1f;
        if (fault == 9) def.beta = NAN;
        if (fault >= 10 && fault < 13) def.scope = LM_EXAMPLES_GROUPS;
        def.groups = fault == 10 ? NULL : groups;
        def.group_count = fault == 11 ? 0 : 2;
        groups[3] = fault == 12 ? 2 : 1;
        poses[7].y = fault == 13 ? NAN : 0.1f;
        poses[9].z = fault == 14 ? 2e9f : 0.1f;
        assert_result(lm_body_set_examples(s.world, s.body, &def), LM_ERROR_ARGUMENT);
    }
    groups[3] = 1;
    poses[7].y = poses[9].z = 0.1f;
    lm_body_info info;
    assert_ok(lm_body_get_info(s.world, s.body, &info));
    assert_int_equal(info.examples, 0);
    assert_int_equal(lm_world_hash(s.world), before);
    assert_ok(lm_body_set_examples(s.world, s.body, &good));
    assert_ok(lm_body_get_example_beta(s.world, s.body, &beta));
    assert_near(beta, 0.95, 1e-6);
    weights[0] = 1.5f;
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    weights[0] = NAN;
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    assert_result(lm_body_set_example_beta(s.world, s.body, NAN), LM_ERROR_ARGUMENT);
    memcpy(poses + s.info.particles, poses, s.info.particles * sizeof *poses);
    good.count = 2;
    assert_ok(lm_body_set_examples(s.world, s.body, &good));
    weights[0] = weights[1] = 0.6f;
    assert_result(lm_body_set_example_weights(s.world, s.body, weights), LM_ERROR_ARGUMENT);
    lm_body_id none = {0, 0};
    assert_result(lm_body_set_examples(s.world, none, &good), LM_ERROR_ID);
    assert_result(lm_body_set_example_beta(s.world, none, 0.5f), LM_ERROR_ID);
    assert_result(lm_body_get_example_weights(s.world, none, weights), LM_ERROR_ID);
    /* And away with them. */
    assert_ok(lm_body_set_examples(s.world, s.body, NULL));
    assert_ok(lm_world_step(s.world, FRAME));
    free_bar(&s);
}

/* A loaded world goes on as the saved one did, with a mix forced or free. */
static void snapshots_keep_examples(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, SWELL};
    for (int lattice = 0; lattice < 2; lattice++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
            for (int forced = 0; forced < 2; forced++) {
                random_state random = {7};
                specimen s = make_bar(lattice, soft_material(LM_MODE_LINEAR, 0.1), LM_ISA_BEST);
                give_examples(&s, kinds, 2, 0.5, (lm_example_scope)scope, 0.8, NULL);
                uint32_t held = 0;
                lm_pin_def pin = lm_pin_def_default();
                lm_pin_id id;
                pin.body = s.body;
                pin.particles = &held;
                pin.particle_count = 1;
                assert_ok(lm_pin_create(s.world, &pin, &id));
                float weights[4096];
                for (uint32_t n = 0; n < s.info.example_groups * 2; n++) weights[n] = 0.1f + 0.4f * (float)(n % 2);
                if (forced) assert_ok(lm_body_set_example_weights(s.world, s.body, weights));
                randomise_state(s.world, s.body, &random, 0.02, 1.0);
                run_for(&s, 0.3);
                size_t size = lm_world_save_size(s.world);
                void *buffer = malloc(size);
                assert_ok(lm_world_save(s.world, buffer, size));
                lm_world *other = make_world(0.0);
                assert_ok(lm_world_load(other, buffer, size));
                lm_body_info info;
                float beta;
                assert_ok(lm_body_get_info(other, s.body, &info));
                assert_int_equal(info.examples, 2);
                assert_int_equal(info.example_groups, s.info.example_groups);
                assert_ok(lm_body_get_example_beta(other, s.body, &beta));
                assert_true(beta == 0.8f);
                { /* where regions have their own, solving goes on from them */
                    float now[4096], then[4096];
                    assert_ok(lm_body_get_example_weights(s.world, s.body, now));
                    assert_ok(lm_body_get_example_weights(other, s.body, then));
                    assert_memory_equal(now, then, s.info.example_groups * 2 * sizeof *now);
                }
                for (int step = 0; step < 30; step++) {
                    assert_ok(lm_world_step(s.world, FRAME));
                    assert_ok(lm_world_step(other, FRAME));
                    assert_int_equal(lm_world_hash(s.world), lm_world_hash(other));
                }
                /* Half of it is none. */
                assert_result(lm_world_load(other, buffer, size / 2), LM_ERROR_FORMAT);
                free(buffer);
                lm_world_destroy(other);
                free_bar(&s);
            }
}

/* ---- poses of surfaces ---- */

static void surface_poses_are_carried_to_particles(void **context)
{
    (void)context;
    specimen s = make_bar(true, soft_material(LM_MODE_RIGID, 0.1), LM_ISA_BEST);
    lm_vec3 surface[2000], pose[2000], out[MOST];
    uint32_t count = 0;
    for (int i = 0; i <= 48; i++)
        for (int k = 0; k < 40; k++) { /* around the bar */
            double t = k % 10 / 10.0 * 0.3 - 0.15, u = k / 10 % 2 ? 0.15 : -0.15;
            surface[count++] = to_float(ref_v(-0.6 + 0.025 * i, k < 20 ? t : u, k < 20 ? u : t));
        }
    random_state random = {3};
    ref_mat map = random_rotation(&random);
    for (int i = 0; i < 9; i++) map.at[i / 3][i % 3] += random_range(&random, -0.2, 0.2);
    for (uint32_t n = 0; n < count; n++) pose[n] = to_float(ref_mat_vec(map, to_double(surface[n])));
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, count, out));
    for (uint32_t i = 0; i < s.info.particles; i++)
        assert_at_most(ref_length(ref_sub(to_double(out[i]), ref_mat_vec(map, s.rest[i]))) / s.size, 1e-5);
    for (uint32_t n = 0; n < count; n++) pose[n] = to_float(deform(TWIST, 0.8, to_double(surface[n])));
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, count, out));
    for (uint32_t i = 0; i < s.info.particles; i++)
        assert_at_most(ref_length(ref_sub(to_double(out[i]), deform(TWIST, 0.8, s.rest[i]))) / s.size, 0.01);
    /* A sheet: across it nothing is known, and it turns with the rest. */
    uint32_t flat = 0;
    for (uint32_t n = 0; n < 400; n++)
        surface[flat++] = (lm_vec3){-0.6f + 0.06f * (float)(n % 20), 0.1f * (float)(n / 20) - 0.9f, 0.0f};
    ref_mat turn = random_rotation(&random);
    for (uint32_t n = 0; n < flat; n++) pose[n] = to_float(ref_mat_vec(turn, to_double(surface[n])));
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, flat, out));
    for (uint32_t i = 0; i < s.info.particles; i++)
        assert_at_most(ref_length(ref_sub(to_double(out[i]), ref_mat_vec(turn, s.rest[i]))) / s.size, 1e-4);
    /* One vertex can only be followed. */
    pose[0] = (lm_vec3){surface[0].x + 1.0f, surface[0].y, surface[0].z};
    assert_ok(lm_body_carry_pose(s.world, s.body, surface, pose, 1, out));
    for (uint32_t i = 0; i < s.info.particles; i++) assert_near(out[i].x, s.rest[i].x + 1.0, 1e-5);
    assert_result(lm_body_carry_pose(s.world, s.body, NULL, pose, count, out), LM_ERROR_ARGUMENT);
    assert_result(lm_body_carry_pose(s.world, s.body, surface, pose, 0, out), LM_ERROR_ARGUMENT);
    pose[5].x = NAN;
    assert_result(lm_body_carry_pose(s.world, s.body, surface, pose, count, out), LM_ERROR_ARGUMENT);
    free_bar(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_projection_is_the_nearest_point),
        cmocka_unit_test(the_mix_of_a_body_is_the_nearest),
        cmocka_unit_test(examples_and_the_rest_pose_are_themselves),
        cmocka_unit_test(the_mix_does_not_depend_on_how_the_rest_shape_is_turned),
        cmocka_unit_test(a_body_let_go_returns_to_rest),
        cmocka_unit_test(with_beta_1_it_stays_in_an_example),
        cmocka_unit_test(an_example_that_is_the_rest_pose_changes_nothing),
        cmocka_unit_test(forced_weights_lead_to_the_pose),
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(examples_decide_how_a_body_deforms),
        cmocka_unit_test(mangled_bodies_stay_finite_and_come_back),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(snapshots_keep_examples),
        cmocka_unit_test(surface_poses_are_carried_to_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
