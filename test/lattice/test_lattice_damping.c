/*
 * Damping of lattices: regional damping against its formulas in double precision, momentum and spin of every part, the rate
 * asked at every substep and number of substeps between, and bodies in motion that must not be braked.
 */
#include "test/lattice/lattice_cells.h"
#include "test/support/follow.h"

#include <math.h>

static void make_regional(lm_body_def *def, double ratio, uint32_t every)
{
    def->material.damping_kind = LM_DAMPING_REGIONAL;
    def->material.damping_ratio = (float)ratio;
    def->material.damping_every = every;
}

/* ---- the reference ---- */

static void check_reference(cells_kind kind, uint32_t width, lm_mode mode, uint32_t every, random_state *random)
{
    uint32_t x = 5 + random_below(random, 4), y = 3 + random_below(random, 3), z = 2 + random_below(random, 3);
    lattice_cells c = lattice_cells_make(kind, x, y, z);
    lm_world *world = make_world(-9.81);
    lm_body_def def = lattice_def(&c, width);
    def.material.mode = mode;
    make_regional(&def, 0.4, every);
    lm_body_id body = make_body(world, &def);
    randomise_state(world, body, random, 0.03, 1.0);
    apart worst = follow_reference(world, body, 6);
    /* Rounding: of a thousand bodies the worst differed by 1.6e-6 m and 2.2e-5 m/s. */
    if (worst.metres > 1e-5 || worst.speed > 2e-4)
        print_message("kind %d width %u mode %d every %u: %g m, %g m/s\n", (int)kind, width, (int)mode, every,
                      worst.metres, worst.speed);
    assert_at_most(worst.metres, 1e-5);
    assert_at_most(worst.speed, 2e-4);
    lm_world_destroy(world);
    free(c.is);
}

static void follows_reference(void **state)
{
    (void)state;
    random_state random = {21};
    for (int kind = 0; kind < CELLS_COUNT; kind++)
        for (uint32_t width = 1; width <= 3; width++) {
            check_reference((cells_kind)kind, width, LM_MODE_RIGID, 1, &random);
            check_reference((cells_kind)kind, width, LM_MODE_LINEAR, 2, &random);
        }
}

/* Damping alone, without goals, of bodies that are stretched evenly. */
static void damps_as_the_reference(void **state)
{
    (void)state;
    random_state random = {22};
    for (uint32_t width = 1; width <= 4; width++) {
        lattice_cells c = lattice_cells_make(width % 2 ? CELLS_BOX : CELLS_COMB, 7, 5, 4);
        lm_world *world = make_world(0.0);
        lm_body_def def = lattice_def(&c, width);
        def.material.stiffness = LM_STIFFNESS_ALPHA;
        def.material.alpha = 0.0f;
        def.material.damping = 30.0f;
        def.material.damping_kind = LM_DAMPING_REGIONAL;
        lm_body_id body = make_body(world, &def);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        lm_vec3 *x = calloc(info.particles, sizeof *x), *v = calloc(info.particles, sizeof *v);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
        ref_mat stretch = {{{1.3, 0.2, 0.0}, {0.0, 0.8, 0.1}, {0.0, 0.0, 1.1}}};
        for (uint32_t n = 0; n < info.particles; n++) {
            x[n] = to_float(ref_mat_vec(stretch, to_double(x[n])));
            v[n] = to_float(random_in_cube(&random, 1.0));
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
        assert_at_most(follow_reference(world, body, 1).speed, 5e-6);
        free(x);
        free(v);
        lm_world_destroy(world);
        free(c.is);
    }
}

/* ---- momentum ---- */

/* Of the particles of one side of a CELLS_PARTS body, or of all where `side` is negative. */
static motion motion_of_side(const lm_world *world, lm_body_id body, int side, double middle)
{
    body_state all = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *rest = calloc(all.count, sizeof *rest);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    uint32_t kept = 0;
    for (uint32_t n = 0; n < all.count; n++) {
        if (side >= 0 && ((double)rest[n].x > middle) != (side == 1)) continue;
        all.x[kept] = all.x[n], all.v[kept] = all.v[n], all.mass[kept] = all.mass[n];
        kept++;
    }
    all.count = kept;
    motion m = motion_of(&all);
    free(rest);
    state_free(&all);
    return m;
}

static void check_momentum(cells_kind kind, uint32_t x, uint32_t width, lm_damping damping, uint32_t every)
{
    random_state random = {31 + width};
    lattice_cells c = lattice_cells_make(kind, x, 7, 5);
    double middle = (x / 2 + 0.5) * CELL;
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_def(&c, width);
    make_regional(&def, 0.1, every);
    def.material.damping_kind = damping;
    lm_body_id body = make_body(world, &def);
    randomise_state(world, body, &random, 0.04, 3.0);
    if (kind == CELLS_PARTS) { /* on ways of their own */
        body_state now = state_read(world, body, lm_dvec3_zero());
        lm_vec3 *at = calloc(now.count, sizeof *at), *v = calloc(now.count, sizeof *v),
                *rest = calloc(now.count, sizeof *rest);
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        for (uint32_t n = 0; n < now.count; n++) {
            at[n] = to_float(now.x[n]);
            ref_vec turn = ref_cross(ref_v(1.5, -0.5, 0.7), now.x[n]);
            if ((double)rest[n].x > middle)
                now.v[n] = ref_add(ref_scale(-0.5, now.v[n]), ref_add(turn, ref_v(0.1, 0.3, 0)));
            v[n] = to_float(now.v[n]);
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, v));
        free(at), free(v), free(rest);
        state_free(&now);
    }
    motion before[2], after[2];
    int sides = kind == CELLS_PARTS ? 2 : 1;
    for (int side = 0; side < sides; side++) before[side] = motion_of_side(world, body, sides == 2 ? side : -1, middle);
    for (int step = 0; step < 1000; step++) assert_ok(lm_world_step(world, FRAME));
    for (int side = 0; side < sides; side++) {
        after[side] = motion_of_side(world, body, sides == 2 ? side : -1, middle);
        assert_true(after[side].finite);
        double drift = ref_length(ref_sub(after[side].momentum, before[side].momentum)) / before[side].momentum_scale;
        double turn = ref_length(ref_sub(after[side].angular, before[side].angular)) / ref_length(before[side].angular);
        print_message("kind %d width %u damping %d every %u side %d: momentum %.2g, spin %.2g, energy kept %.2g\n",
                      (int)kind, width, (int)damping, every, side, drift, turn,
                      after[side].kinetic / before[side].kinetic);
        assert_at_most(drift, 1e-5);
        assert_at_most(turn, 2e-4);
        assert_true(after[side].kinetic < 0.97 * before[side].kinetic); /* it was damped */
    }
    lm_world_destroy(world);
    free(c.is);
}

static void keeps_momentum(void **state)
{
    (void)state;
    check_momentum(CELLS_BOX, 12, 1, LM_DAMPING_REGIONAL, 1);
    check_momentum(CELLS_COMB, 12, 2, LM_DAMPING_REGIONAL, 1);
    check_momentum(CELLS_BOX, 12, 3, LM_DAMPING_REGIONAL, 3);
    check_momentum(CELLS_PARTS, 9, 1, LM_DAMPING_REGIONAL, 1);
    check_momentum(CELLS_PARTS, 40, 2, LM_DAMPING_REGIONAL, 2);
    check_momentum(CELLS_PARTS, 9, 2, LM_DAMPING_GLOBAL, 1);
    check_momentum(CELLS_PARTS, 40, 1, LM_DAMPING_GLOBAL, 1);
}

/* Two parts that fly apart keep flying, however far they get, and are never taken for one torn body. */
static void parts_part(void **state)
{
    (void)state;
    for (int kind = 0; kind < LM_DAMPING_COUNT; kind++) {
        lattice_cells c = lattice_cells_make(CELLS_PARTS, 9, 4, 4);
        lm_world *world = make_world(0.0);
        lm_body_def def = lattice_def(&c, 1);
        make_regional(&def, 0.5, 1);
        def.material.damping_kind = (lm_damping)kind;
        lm_body_id body = make_body(world, &def);
        body_state now = state_read(world, body, lm_dvec3_zero());
        lm_vec3 *x = calloc(now.count, sizeof *x), *v = calloc(now.count, sizeof *v);
        for (uint32_t n = 0; n < now.count; n++) {
            x[n] = to_float(now.x[n]);
            v[n].x = now.x[n].x > 4.5 * CELL ? 2.0f : -2.0f;
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
        for (int step = 0; step < 600; step++) assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_body_get_velocities(world, body, v));
        for (uint32_t n = 0; n < now.count; n++) {
            /* 20 m apart a position is rounded by 2e-6 m, divided by h. */
            assert_near(v[n].x, now.x[n].x > 4.5 * CELL ? 2.0 : -2.0, 2e-4);
            assert_near(v[n].y, 0.0, 2e-4);
        }
        free(x);
        free(v);
        state_free(&now);
        lm_world_destroy(world);
        free(c.is);
    }
}

/* A box of crumbs, each a cell and a part of its own, with others in its cube: more than a slab of them. */
static void crumbs_keep_to_themselves(void **state)
{
    (void)state;
    enum { SIDE = 24, PARTS = SIDE / 2 * SIDE / 2 * SIDE / 2 };
    random_state random = {41};
    lattice_cells c = lattice_cells_make(CELLS_BOX, SIDE, SIDE, SIDE);
    for (uint32_t n = 0; n < SIDE * SIDE * SIDE; n++)
        c.is[n] = n % SIDE % 2 == 0 && n / SIDE % SIDE % 2 == 0 && n / SIDE / SIDE % 2 == 0;
    lm_world *world = make_world_with(0.0, LM_ISA_BEST, 2);
    lm_body_def def = lattice_def(&c, 1);
    make_regional(&def, 0.3, 1);
    lm_body_id body = make_body(world, &def);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_int_equal(info.particles, 8 * PARTS);
    assert_int_equal(info.regions, PARTS);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest), *v = calloc(info.particles, sizeof *v);
    ref_vec *before = calloc(PARTS, sizeof *before), *after = calloc(PARTS, sizeof *after);
    ref_vec *spin = calloc(PARTS, sizeof *spin);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (int round = 0; round < 2; round++) {
        if (round == 0) {
            for (uint32_t n = 0; n < info.particles; n++) v[n] = to_float(random_in_cube(&random, 1.0));
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), rest, v));
        } else {
            for (int step = 0; step < 200; step++) assert_ok(lm_world_step(world, FRAME));
        }
        body_state now = state_read(world, body, lm_dvec3_zero());
        for (uint32_t n = 0; n < now.count; n++) {
            uint32_t at[3] = {(uint32_t)((double)rest[n].x / CELL + 0.5) / 2,
                              (uint32_t)((double)rest[n].y / CELL + 0.5) / 2,
                              (uint32_t)((double)rest[n].z / CELL + 0.5) / 2};
            uint32_t part = (at[2] * (SIDE / 2) + at[1]) * (SIDE / 2) + at[0];
            ref_vec *momentum = round ? &after[part] : &before[part];
            double sign = round ? 1.0 : -1.0;
            *momentum = ref_add_scaled(*momentum, 1.0 / 8.0, now.v[n]);
            spin[part] = ref_add_scaled(spin[part], sign / 8.0, ref_cross(now.x[n], now.v[n]));
        }
        state_free(&now);
    }
    double worst = 0.0, turned = 0.0;
    for (uint32_t part = 0; part < PARTS; part++) {
        worst = fmax(worst, ref_length(ref_sub(after[part], before[part])));
        turned = fmax(turned, ref_length(spin[part])); /* about the origin, some metres away */
    }
    print_message("crumbs: %.2g m/s, %.2g m²/s\n", worst, turned);
    assert_at_most(worst, 2e-5);
    assert_at_most(turned, 2e-4);
    free(rest);
    free(v);
    free(before);
    free(after);
    free(spin);
    lm_world_destroy(world);
    free(c.is);
}

/* ---- bodies in motion ---- */

/* The rotation of a stretched body is rigid motion. With lever arms along the rest shape turned by R, and not along the
 * shape as it is, damping would take it for deformation. */
static void stretched_spin_is_not_braked(void **state)
{
    (void)state;
    lattice_cells c = lattice_cells_make(CELLS_BOX, 8, 6, 4);
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_def(&c, 2);
    def.material.stiffness = LM_STIFFNESS_ALPHA;
    def.material.alpha = 0.0f;
    def.material.damping = 120.0f;
    def.material.damping_kind = LM_DAMPING_REGIONAL;
    lm_body_id body = make_body(world, &def);
    body_state rest = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(rest.count, sizeof *x), *v = calloc(rest.count, sizeof *v);
    ref_vec middle = ref_v(4 * CELL, 3 * CELL, 2 * CELL), spin = ref_v(1.0, 3.0, -2.0);
    ref_mat stretch = {{{1.5, 0.3, 0.0}, {0.0, 0.7, 0.0}, {0.1, 0.0, 1.2}}};
    for (uint32_t n = 0; n < rest.count; n++) {
        ref_vec arm = ref_mat_vec(stretch, ref_sub(rest.x[n], middle));
        x[n] = to_float(arm);
        v[n] = to_float(ref_add(ref_v(5.0, 0.0, 1.0), ref_cross(spin, arm)));
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    lm_vec3 *after = calloc(rest.count, sizeof *after);
    assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_body_get_velocities(world, body, after));
    for (uint32_t n = 0; n < rest.count; n++)
        assert_at_most(ref_length(ref_sub(to_double(after[n]), to_double(v[n]))), 2e-5);
    free(x);
    free(v);
    free(after);
    state_free(&rest);
    lm_world_destroy(world);
    free(c.is);
}

/* A soft body that its spin stretches comes to turn as a whole, with the energy that its angular momentum asks for. */
static void spins_on(void **state)
{
    (void)state;
    lattice_cells c = lattice_cells_make(CELLS_BOX, 10, 5, 5);
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_def(&c, 1);
    make_regional(&def, 0.5, 1);
    def.material.hertz = 8.0f;
    def.spin = (lm_vec3){0.0f, 2.0f, 0.0f};
    lm_body_id body = make_body(world, &def);
    motion before = motion_read(world, body, lm_dvec3_zero());
    for (int step = 0; step < 1500; step++) assert_ok(lm_world_step(world, FRAME));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    motion after = motion_read(world, body, info.centre);
    assert_at_most(ref_length(ref_sub(after.angular, before.angular)) / ref_length(before.angular), 2e-4);
    double stretched = deformation(world, body) / CELL;
    double rigid = 0.5 * (double)info.spin.y * (double)info.angular_momentum.y;
    print_message("spins on: stretched by %.2g spacings, energy %.4g of a rigid turn's\n", stretched,
                  after.kinetic / rigid);
    assert_true(stretched > 0.02);
    assert_near(after.kinetic / rigid, 1.0, 1e-3);
    lm_world_destroy(world);
    free(c.is);
}

/* ---- the rate ---- */

/* A single cell is one region: it rings as hertz and ratio say, however often it is damped. */
static double ring(double h, uint32_t every, double ratio, double seconds)
{
    lattice_cells c = lattice_cells_make(CELLS_BOX, 1, 1, 1);
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_def(&c, 1);
    make_regional(&def, ratio, every);
    def.material.hertz = 2.0f;
    lm_body_id body = make_body(world, &def);
    lm_vec3 x[8], v[8];
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    for (int n = 0; n < 8; n++) { /* breathing */
        v[n] = (lm_vec3){0.1f * (x[n].x - 0.125f), 0.1f * (x[n].y - 0.125f), 0.1f * (x[n].z - 0.125f)};
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    double energy = 0.0;
    int steps = (int)(seconds / h + 0.5), cycle = (int)(0.5 / h + 0.5);
    for (int step = 0; step < steps + cycle; step++) {
        assert_ok(lm_world_step(world, h));
        motion m = motion_read(world, body, lm_dvec3_zero());
        energy += step >= steps ? m.kinetic / cycle : 0.0;
    }
    lm_world_destroy(world);
    free(c.is);
    return energy;
}

static void decays_at_the_rate_asked(void **state)
{
    (void)state;
    const double ratio = 0.08, omega = 6.283185307179586 * 2.0, seconds = 1.5;
    for (uint32_t every = 1; every <= 4; every++)
        for (int divide = 1; divide <= 4; divide *= 2) {
            double h = FRAME / divide, start = ring(h, every, ratio, 0.0), end = ring(h, every, ratio, seconds);
            double rate = 0.5 * log(start / end) / seconds, asked = ratio * omega;
            print_message("every %u, 1/%d s: %.4f 1/s, asked %.4f\n", every, 60 * divide, rate, asked);
            assert_near(rate / asked, 1.0, 0.1);
        }
}

/* At rest, what damping does to a velocity is what the rigid goals do to a displacement: a deformation of the share lambda
 * loses its velocity at lambda times the rate. */
static void waves_decay_by_their_share(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 3; width++) {
        lattice_cells c = lattice_cells_make(CELLS_BOX, 20, 2, 2);
        double shares[2];
        for (int damped = 0; damped < 2; damped++) {
            lm_world *world = make_world(0.0);
            lm_body_def def = lattice_def(&c, width);
            def.material.stiffness = LM_STIFFNESS_ALPHA;
            def.material.alpha = damped ? 0.0f : 1.0f;
            def.material.damping = damped ? 30.0f : 0.0f;
            def.material.damping_kind = LM_DAMPING_REGIONAL;
            lm_body_id body = make_body(world, &def);
            body_state rest = state_read(world, body, lm_dvec3_zero());
            lm_vec3 *x = calloc(rest.count, sizeof *x), *v = calloc(rest.count, sizeof *v);
            double amplitude = damped ? 1.0 : 1e-3, along = 0.0, square = 0.0;
            for (uint32_t n = 0; n < rest.count; n++) {
                double wave = amplitude * cos(6.283185307179586 * rest.x[n].x / (10.0 * CELL));
                x[n] = to_float(rest.x[n]);
                if (damped) v[n].y = (float)wave;
                if (!damped) x[n].y += (float)wave;
            }
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
            assert_ok(lm_world_step(world, FRAME));
            assert_ok(lm_body_get_velocities(world, body, v));
            for (uint32_t n = 0; n < rest.count; n++) {
                double wave = amplitude * cos(6.283185307179586 * rest.x[n].x / (10.0 * CELL));
                along += wave * (damped ? wave - (double)v[n].y : -(double)v[n].y * FRAME);
                square += wave * wave;
            }
            shares[damped] = along / square / (damped ? 1.0 - exp(-30.0 * FRAME) : 1.0);
            free(x);
            free(v);
            state_free(&rest);
            lm_world_destroy(world);
        }
        print_message("width %u: share %.5f of the stiffness, %.5f of the damping\n", width, shares[0], shares[1]);
        assert_true(shares[0] > 1e-3 && shares[0] < 0.9);
        assert_near(shares[1] / shares[0], 1.0, 0.02);
        free(c.is);
    }
}

/* ---- the same bits, snapshots, and what is refused ---- */

static lm_world *crowd(lm_isa isa, uint32_t workers)
{
    random_state random = {51};
    lm_world *world = make_world_with(-9.81, isa, workers);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    floor.pose.position.y = -2.0;
    assert_ok(lm_collider_create(world, &floor, &id));
    for (uint32_t n = 0; n < 6; n++) {
        lattice_cells c =
            lattice_cells_make((cells_kind)(n % CELLS_COUNT), n < 2 ? 40 : 9, n < 2 ? 24 : 5, n < 2 ? 36 : 4);
        lm_body_def def = lattice_def(&c, 1 + n % 3);
        make_regional(&def, 0.2, 1 + n % 3);
        def.material.damping_kind = n == 3 ? LM_DAMPING_GLOBAL : LM_DAMPING_REGIONAL;
        def.material.mode = n == 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        def.material.yield = n % 2 ? 0.02f : 0.0f;
        def.pose.position.x = 15.0 * n;
        lm_body_id body = make_body(world, &def);
        randomise_state(world, body, &random, 0.03, 1.0);
        free(c.is);
    }
    return world;
}

static uint64_t run_crowd(lm_isa isa, uint32_t workers, int frames)
{
    lm_world *world = crowd(isa, workers);
    for (int frame = 0; frame < frames; frame++) assert_ok(lm_world_step(world, FRAME));
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void same_bits(void **state)
{
    (void)state;
    uint64_t expected = run_crowd(LM_ISA_BEST, 1, 8);
    for (uint32_t workers = 2; workers <= 4; workers += 2) assert_true(run_crowd(LM_ISA_BEST, workers, 8) == expected);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        if (lm_isa_supported((lm_isa)isa)) assert_true(run_crowd((lm_isa)isa, 2, 8) == expected);
}

static void saves_and_loads(void **state)
{
    (void)state;
    lm_world *world = crowd(LM_ISA_BEST, 1);
    for (int step = 0; step < 7; step++) assert_ok(lm_world_step(world, FRAME)); /* in the middle of everybody's turn */
    assert_reloads(world, 10);
    lm_world_destroy(world);
}

static void changes_while_it_lives(void **state)
{
    (void)state;
    random_state random = {61};
    lattice_cells c = lattice_cells_make(CELLS_COMB, 7, 5, 4);
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_def(&c, 1);
    def.material.damping_ratio = 0.0f;
    lm_body_id body = make_body(world, &def);
    randomise_state(world, body, &random, 0.03, 1.0);
    for (int step = 0; step < 3; step++) assert_ok(lm_world_step(world, FRAME));
    make_regional(&def, 0.4, 1);
    assert_ok(lm_body_set_material(world, body, &def.material));
    assert_at_most(follow_reference(world, body, 4).metres, 1e-5);
    lm_world_destroy(world);
    free(c.is);
}

static void refuses(void **state)
{
    (void)state;
    random_state random = {71};
    lm_world *world = make_world(0.0);
    sample s = sample_make(SAMPLE_BOX, &random);
    lm_body_id body, none;
    s.def.material.damping_kind = LM_DAMPING_REGIONAL;
    assert_result(lm_body_create(world, &s.def, &none), LM_ERROR_ARGUMENT);
    s.def.material.damping_kind = LM_DAMPING_GLOBAL;
    body = make_body(world, &s.def);
    lm_material material = s.def.material;
    material.damping_kind = LM_DAMPING_REGIONAL;
    assert_result(lm_body_set_material(world, body, &material), LM_ERROR_ARGUMENT);
    material.damping_kind = LM_DAMPING_COUNT;
    assert_result(lm_body_set_material(world, body, &material), LM_ERROR_ARGUMENT);
    material.damping_kind = LM_DAMPING_GLOBAL;
    material.damping_every = 0;
    assert_result(lm_body_set_material(world, body, &material), LM_ERROR_ARGUMENT);
    material.damping_every = LM_MAX_SUBSTEPS + 1;
    assert_result(lm_body_set_material(world, body, &material), LM_ERROR_ARGUMENT);
    material.damping_every = 5;
    assert_ok(lm_body_set_material(world, body, &material));
    sample_free(&s);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_reference),
                                       cmocka_unit_test(damps_as_the_reference),
                                       cmocka_unit_test(keeps_momentum),
                                       cmocka_unit_test(parts_part),
                                       cmocka_unit_test(crumbs_keep_to_themselves),
                                       cmocka_unit_test(stretched_spin_is_not_braked),
                                       cmocka_unit_test(spins_on),
                                       cmocka_unit_test(decays_at_the_rate_asked),
                                       cmocka_unit_test(waves_decay_by_their_share),
                                       cmocka_unit_test(same_bits),
                                       cmocka_unit_test(saves_and_loads),
                                       cmocka_unit_test(changes_while_it_lives),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
