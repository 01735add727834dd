/*
 * Examples: the mix is the nearest one there is, however the body is turned, whatever the examples are, and whoever else is
 * there.
 */
#include "match/examples.h"
#include "test/match/examples_bar.h"

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

/* ---- the mix ---- */

/* By how much the mix that a step finds is off the reference's, which tries every face: the stretch of the mix in every region,
 * in units of what the examples add to it, or of 1 where that is less. */
static double error_of_mix(const specimen *s, const lm_examples_def *def)
{
    ref_body *reference = ref_body_copy(s->world, s->body, 0.0);
    ref_set_examples(reference, def);
    ref_mix(reference);
    float weights[4096];
    read_weights(s, weights);
    double worst = 0.0;
    for (uint32_t r = 0; r < s->info.regions; r++) {
        if (reference->examples.group[r] == LM_NO_GROUP) continue;
        /* The library's mix: its weights on the reference's stretches. */
        ref_mat mine = ref_identity();
        double largest = 1.0;
        for (uint32_t k = 0; k < def->count; k++) {
            float w = weights[reference->examples.group[r] * def->count + k];
            assert_true(w >= 0.0f && w <= 1.0f);
            ref_mat one = ref_example_stretch(reference, r, k);
            for (int i = 0; i < 9; i++) {
                mine.at[i / 3][i % 3] += (double)w * one.at[i / 3][i % 3];
                largest = fmax(largest, fabs(one.at[i / 3][i % 3]));
            }
        }
        for (int i = 0; i < 9; i++)
            worst = fmax(worst, fabs(mine.at[i / 3][i % 3] - reference->mix[r].at[i / 3][i % 3]) / largest);
    }
    ref_body_free(reference);
    return worst;
}

/* Deformed in all ways at once, turned and jittered. */
static void put_anyhow(const specimen *s, random_state *random)
{
    static const deformer kinds[] = {TWIST, BEND, SWELL, SHEAR};
    lm_vec3 x[MOST];
    ref_mat turn = random_rotation(random);
    double amounts[4];
    for (int k = 0; k < 4; k++) amounts[k] = random_range(random, -0.3, 0.6);
    for (uint32_t i = 0; i < s->info.particles; i++) {
        ref_vec at = s->rest[i];
        for (int k = 0; k < 4; k++)
            at = ref_add(at, ref_sub(deform(kinds[k], amounts[k] == 0.0 ? 0.1 : amounts[k], s->rest[i]), s->rest[i]));
        x[i] = to_float(ref_add(ref_mat_vec(turn, at), random_in_cube(random, 0.01)));
    }
    put(s, x);
}

/* The examples depend on each other in every other trial, so that weights by themselves mean nothing. */
static void the_mix_of_a_body_is_the_nearest(void **context)
{
    (void)context;
    static const deformer kinds[2][5] = {{TWIST, BEND, SWELL, SHEAR, MIRROR}, {BEND, SAME, BEND, SHEAR, CRUSH}};
    double worst = 0.0;
    for (int trial = 0; trial < 120; trial++) {
        sampling kind = trial < 96 ? (sampling)(trial / 4 % 2) : TETS;
        int turn_of = trial < 96 ? trial / 8 : trial / 4, scope = turn_of % 3, set = turn_of / 3 % 2;
        int isa = LM_ISA_SCALAR + trial % 4;
        if (!lm_isa_supported((lm_isa)isa)) continue;
        random_state random = {(uint64_t)(500 + trial / 4)};
        specimen s = make_bar(kind, still_material(), (lm_isa)isa);
        lm_examples_def def;
        uint32_t count = 1 + random_below(&random, 5);
        give_examples(&s, kinds[set], count, 0.5, (lm_example_scope)scope, 1.0, &def);
        put_anyhow(&s, &random);
        double off = error_of_mix(&s, &def), most = scope == LM_EXAMPLES_REGIONS ? 1e-4 : 1e-5;
        /* A region by itself is solved in single precision. */
        if (!(off <= most))
            print_error("%s, %s, scope %d, set %d, %u examples: off by %g\n", lm_isa_name((lm_isa)isa),
                        sampling_names[kind], scope, set, count, off);
        assert_at_most(off, most);
        worst = fmax(worst, off);
        free_bar(&s);
    }
    print_message("mixes are off by at most %.3g\n", worst);
}

/* Squeezed to a rod, which it has as an example: the stretch of a region takes many more steps to find. */
static void the_mix_of_a_squeezed_body_is_the_nearest(void **context)
{
    (void)context;
    static const deformer kinds[] = {ROD};
    static const double amounts[] = {0.945, 0.9, 0.8}; /* stretches of examples end at 0.05 */
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++)
            for (int n = 0; n < 3; n++) {
                specimen s = make_bar(kind, still_material(), LM_ISA_BEST);
                lm_examples_def def;
                lm_vec3 x[MOST];
                random_state random = {(uint64_t)(60 + n)};
                give_examples(&s, kinds, 1, 0.999, (lm_example_scope)scope, 1.0, &def);
                pose_of(&s, ROD, amounts[n], x);
                put_turned(&s, x, random_rotation(&random), ref_v(0.0, 0.0, 0.0));
                double off = error_of_mix(&s, &def);
                if (!(off <= 2e-5))
                    print_error("%s, scope %d, squeezed by %g: off by %g\n", sampling_names[kind], scope, amounts[n],
                                off);
                assert_at_most(off, 2e-5);
                free_bar(&s);
            }
}

static void examples_and_the_rest_pose_are_themselves(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND, SWELL};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
            random_state random = {(uint64_t)(40 + scope)};
            specimen s = make_bar(kind, still_material(), LM_ISA_BEST);
            give_examples(&s, kinds, 3, 0.6, (lm_example_scope)scope, 1.0, NULL);
            for (uint32_t k = 0; k <= 3; k++) {
                lm_vec3 x[MOST];
                float weights[4096];
                pose_of(&s, k < 3 ? kinds[k] : SAME, 0.6, x);
                put_turned(&s, x, random_rotation(&random), random_in_cube(&random, 2.0));
                read_weights(&s, weights);
                /* A region in the middle of a bent bar is bent but hardly stretched: there poses are all but the same. */
                double tolerance = scope != LM_EXAMPLES_REGIONS ? 1e-5 : kind == TETS ? 2e-2 : 2e-3;
                for (uint32_t g = 0; g < s.info.example_groups; g++)
                    for (uint32_t j = 0; j < 3; j++) {
                        double off = fabs((double)weights[g * 3 + j] - (j == k));
                        if (!(off <= tolerance))
                            print_error("%s, scope %d, pose %u, group %u: weight %u is off by %g\n",
                                        sampling_names[kind], scope, k, g, j, off);
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
        def.mask = 0;
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

/* Sums run over a body's regions in an order that is the body's own, whether it has its blocks of lanes for itself or shares
 * them with others: not a bit depends on who else is there. */
static void the_mix_does_not_depend_on_other_bodies(void **context)
{
    (void)context;
    static const deformer kinds[] = {TWIST, BEND, SWELL};
    for (sampling kind = CLUSTERS; kind < SAMPLINGS; kind++)
        for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
            lm_vec3 x[2][MOST];
            float weights[2][4096];
            for (int company = 0; company < 2; company++) {
                specimen s = make_bar(kind, soft_material(LM_MODE_RIGID, 0.1), LM_ISA_BEST);
                lm_examples_def def;
                give_examples(&s, kinds, 3, 0.5, (lm_example_scope)scope, 0.9, &def);
                random_state random = {12};
                randomise_state(s.world, s.body, &random, 0.02, 1.0);
                for (int other = 0; other < 3 * company; other++) {
                    sample made = sample_make(other == 1 ? SAMPLE_TETS : SAMPLE_GRID, &random);
                    made.def.material = soft_material(LM_MODE_RIGID, 0.1);
                    lm_body_id body = make_body(s.world, &made.def);
                    lm_examples_def same = def;
                    same.scope = LM_EXAMPLES_BODY;
                    same.particles = made.count;
                    if (other < 2) assert_ok(lm_body_set_examples(s.world, body, &same));
                    randomise_state(s.world, body, &random, 0.02, 1.0);
                    sample_free(&made);
                }
                run_for(&s, 0.5);
                assert_ok(lm_body_get_positions(s.world, s.body, body_centre(s.world, s.body), x[company]));
                assert_ok(lm_body_get_example_weights(s.world, s.body, weights[company]));
                size_t count = (size_t)s.info.example_groups * 3, particles = s.info.particles;
                free_bar(&s);
                if (company == 0) continue;
                assert_memory_equal(weights[0], weights[1], count * sizeof weights[0][0]);
                assert_memory_equal(x[0], x[1], particles * sizeof x[0][0]);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_projection_is_the_nearest_point),
        cmocka_unit_test(the_mix_of_a_body_is_the_nearest),
        cmocka_unit_test(the_mix_of_a_squeezed_body_is_the_nearest),
        cmocka_unit_test(examples_and_the_rest_pose_are_themselves),
        cmocka_unit_test(the_mix_does_not_depend_on_how_the_rest_shape_is_turned),
        cmocka_unit_test(the_mix_does_not_depend_on_other_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
