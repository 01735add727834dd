/*
 * Abuse of lattices: states that no simulation would lead to. They must stay finite, must not gain energy without end, and
 * damped ones must come back to a rigid copy of their rest shape in as many steps as the slowest mode allows.
 *
 * A lattice's regions can be handed to a body of clusters (lm_body_get_regions), whose slowest mode is known. How many steps
 * follow from it is in mangle.h.
 *
 * Hollow bodies with walls of one cell and narrow regions have other shapes to rest in, as a rubber ball rests turned inside
 * out: clusters with the same regions and the double-precision reference end in the same ones. Those are not held to their
 * rest shape but to what clusters make of the same states.
 */
#include "test/world/mangle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINITE_STEPS 600
#define MOST_STEPS 12000.0
#define SPACING 0.1f

/* Shells with regions of up to this many steps are the thin ones. */
#define THIN_WIDTH 2

/* Of the size: noise on a state that is given to a lattice and to clusters. Exactly at a point all rotations are equally right,
 * and only rounding, which differs between the two, would choose. */
#define NOISE 1e-3

#define AT_REST 1e-3 /* sizes a step */

static uint32_t case_count = 100, first_case = 0;

typedef enum form_kind {
    FORM_SOLID,
    FORM_SHELL, /* hollow */
    FORM_COMB,  /* teeth two cells apart: regions end at the gaps */
    FORM_SHEET, /* one cell thick */
    FORM_LINE,  /* one cell thick and wide */
    FORM_CELL,  /* a single one */
    FORM_HOLES, /* a cell in six is missing; not waited for, since parts may hang by a corner */
    FORM_PARTS, /* two that do not touch; not waited for, since nothing holds them together */
    FORM_COUNT
} form_kind;

static const char *const form_names[FORM_COUNT] = {"solid", "shell", "comb", "sheet", "line", "cell", "holes", "parts"};

typedef struct specimen {
    uint32_t index, width, count;
    form_kind form;
    bool thin; /* a shell with narrow regions */
    mangled_kind mangled;
    lm_material material;
    lm_body_id body;
    double size;    /* metres */
    double share;   /* of the slowest mode */
    uint32_t steps; /* within which it must be itself again; 0: it need not */
} specimen;

static bool form_has(form_kind form, const uint32_t n[3], uint32_t x, uint32_t y, uint32_t z, random_state *random)
{
    bool border = x == 0 || y == 0 || z == 0 || x + 1 == n[0] || y + 1 == n[1] || z + 1 == n[2];
    switch (form) {
    case FORM_SHELL: return border;
    case FORM_COMB: return y == 0 || x % 2 == 0;
    case FORM_HOLES: return random_below(random, 6) != 0;
    case FORM_PARTS: return x != n[0] / 2;
    default: return true;
    }
}

static uint8_t *form_make(form_kind form, uint32_t n[3], random_state *random)
{
    static const uint32_t least[FORM_COUNT][3] = {{2, 2, 2}, {4, 4, 4}, {3, 2, 1}, {3, 3, 1},
                                                  {3, 1, 1}, {1, 1, 1}, {3, 3, 3}, {5, 2, 2}};
    static const uint32_t more[FORM_COUNT][3] = {{3, 2, 2}, {2, 2, 2}, {5, 3, 2}, {4, 4, 1},
                                                 {8, 1, 1}, {1, 1, 1}, {3, 3, 2}, {2, 2, 2}};
    for (int a = 0; a < 3; a++) n[a] = least[form][a] + random_below(random, more[form][a]);
    uint8_t *cells = calloc((size_t)n[0] * n[1] * n[2], 1);
    for (uint32_t k = 0; k < n[0] * n[1] * n[2]; k++)
        cells[k] = form_has(form, n, k % n[0], k / n[0] % n[1], k / n[0] / n[1], random);
    cells[0] = 1;
    return cells;
}

/* ---- how long it may take ---- */

/* Clusters with the lattice's regions, in another world. */
static lm_body_id make_twin(const lm_world *world, const specimen *s, lm_world *other)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, s->body, &info));
    uint32_t *offsets = calloc(info.regions + 1, sizeof *offsets), *members = calloc(info.memberships, sizeof *members);
    lm_vec3 *points = calloc(info.particles, sizeof *points);
    float *masses = calloc(info.particles, sizeof *masses);
    assert_ok(lm_body_get_regions(world, s->body, offsets, members));
    assert_ok(lm_body_get_rest_positions(world, s->body, points));
    assert_ok(lm_body_get_masses(world, s->body, masses));
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = info.particles;
    def.masses = masses;
    def.material = s->material;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = info.regions;
    lm_body_id twin = make_body(other, &def);
    free(offsets);
    free(members);
    free(points);
    free(masses);
    return twin;
}

static double slowest_mode(const lm_world *world, const specimen *s)
{
    lm_world *other = make_world(0.0);
    float share;
    assert_ok(lm_body_get_slowest_mode(other, make_twin(world, s, other), &share));
    lm_world_destroy(other);
    return (double)share;
}

static void set_damping(lm_world *world, specimen *s, random_state *random)
{
    s->share = slowest_mode(world, s);
    double ratio = random_range(random, 0.5, 1.5);
    if (!(s->share > 0.0)) return;
    s->steps = damp_to_recover(world, s->body, &s->material, ratio, s->share, s->mangled, s->size, MOST_STEPS);
}

/* ---- states ---- */

static void mangle(lm_world *world, const specimen *s, random_state *random, bool moving)
{
    lm_vec3 *x = calloc(s->count, sizeof *x), *v = calloc(s->count, sizeof *v);
    ref_mat turn = random_rotation(random), axes = random_rotation(random);
    assert_ok(lm_body_get_rest_positions(world, s->body, x));
    double fast = pow(10.0, random_range(random, -2.0, 4.0));
    for (uint32_t i = 0; i < s->count; i++) {
        ref_vec a = ref_mat_vec(axes, to_double(x[i])), r = random_in_cube(random, 0.5 * s->size);
        x[i] = to_float(ref_mat_vec(turn, mangled(s->mangled, a, r)));
        if (moving) v[i] = to_float(random_in_cube(random, fast));
    }
    assert_ok(lm_body_set_state(world, s->body, to_dvec3(random_in_cube(random, 10.0)), x, v));
    free(x);
    free(v);
}

/* With `thin` a thin shell; else what is to recover is none. */
static void make_specimen(lm_world *world, uint32_t index, bool thin, specimen *s)
{
    random_state random = {index};
    memset(s, 0, sizeof *s);
    bool recoverable = thin || index % 2 == 0;
    s->index = index;
    s->thin = thin;
    s->form = (form_kind)random_below(&random, recoverable ? FORM_HOLES : FORM_COUNT);
    if (thin) s->form = FORM_SHELL;
    s->mangled = (mangled_kind)random_below(&random, MANGLED_COUNT);
    s->width = 1 + random_below(&random, recoverable ? 4 : 8);
    if (thin) s->width = 1 + s->width % THIN_WIDTH;
    if (!thin && recoverable && s->form == FORM_SHELL && s->width <= THIN_WIDTH) s->width += THIN_WIDTH;
    s->material = lm_material_default();
    s->material.mode = random_below(&random, 2) ? LM_MODE_LINEAR : LM_MODE_RIGID;
    s->material.stiffness = LM_STIFFNESS_ALPHA;
    s->material.alpha = random_below(&random, 3) ? (float)random_range(&random, 0.2, 1.0) : 1.0f;
    s->material.beta = (float)random_range(&random, 0.0, recoverable ? 0.9 : 0.95);
    s->material.damping = recoverable || random_below(&random, 2) ? 0.0f : (float)random_range(&random, 0.0, 100.0);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    uint8_t *cells = form_make(s->form, def.lattice.counts, &random);
    def.lattice.cells = cells;
    def.lattice.spacing = SPACING;
    def.lattice.width = s->width;
    def.material = s->material;
    s->body = make_body(world, &def);
    free(cells);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, s->body, &info));
    s->count = info.particles;
    for (int a = 0; a < 3; a++) s->size += pow((double)SPACING * def.lattice.counts[a], 2.0);
    s->size = sqrt(s->size);
    if (recoverable) set_damping(world, s, &random);
    mangle(world, s, &random, !recoverable);
}

static void report(const specimen *s, const char *what, double value)
{
    print_error("case %u: %s, width %u, %s, mode %d, beta %g, alpha %g, damping %g, share %g, %u particles, %u steps: "
                "%s %g\n",
                s->index, form_names[s->form], s->width, mangled_names[s->mangled], s->material.mode,
                (double)s->material.beta, (double)s->material.alpha, (double)s->material.damping, s->share, s->count,
                s->steps, what, value);
}

/* ---- the test ---- */

typedef struct tally {
    uint32_t cases, infinite, gained;
    uint32_t waited, nudged;  /* that must recover; held up by a symmetry */
    uint32_t elsewhere, lost; /* in another shape, as clusters are, or alone */
    uint32_t by_form[FORM_COUNT], by_mangled[MANGLED_COUNT], by_width[9];
    double longest, worst, gain;
} tally;

/* Kinetic energy, and the most that the pull can hold: alpha/h² on the whole distance from the centre of mass, which is
 * beyond what any goal can be away. */
static double energy_of(const lm_world *world, const specimen *s, double *kinetic)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, s->body, &info));
    body_state now = state_read(world, s->body, info.centre);
    motion m = motion_of(&now);
    double held = 0.0;
    for (uint32_t i = 0; i < now.count; i++) {
        ref_vec r = ref_sub(now.x[i], m.centre);
        double reach = ref_length(r) + s->size;
        held += 0.5 * now.mass[i] * reach * reach * (double)s->material.alpha / (FRAME * FRAME);
    }
    state_free(&now);
    *kinetic = m.kinetic;
    return m.kinetic + held;
}

/* A body that was squashed exactly flat, to a line or to a point may stand on a saddle, pulled neither to the one side nor to
 * the other. Noise of a hundred thousandth of the size must be enough to let it fall; then it gets its steps again. */
static double residual_after_nudge(const lm_world *world, const specimen *s)
{
    lm_world *other = make_world(0.0);
    specimen again;
    make_specimen(other, s->index, s->thin, &again);
    double left = left_after_nudge(world, s->body, other, again.body, s->index, s->size, s->steps);
    lm_world_destroy(other);
    return left;
}

/* The fastest particle of a body, in sizes a step, seen from its centre of mass. */
static double still_moving(const lm_world *world, const specimen *s)
{
    body_state now = state_read(world, s->body, lm_dvec3_zero());
    motion m = motion_of(&now);
    double fastest = 0.0;
    for (uint32_t i = 0; i < now.count; i++)
        fastest = fmax(fastest, ref_length(ref_sub(now.v[i], ref_scale(1.0 / m.mass, m.momentum))));
    state_free(&now);
    return m.finite ? fastest * FRAME / s->size : INFINITY;
}

/* The specimen and clusters with its regions, both from its first state with the same noise. */
typedef struct pair {
    double lattice, twin; /* how far from the rest shape after the specimen's steps, in sizes */
    double moving;        /* the lattice, at the latest after ten times as many, if asked for */
} pair;

static pair run_pair(uint32_t index, bool thin, uint64_t seed, bool wait)
{
    lm_world *world = make_world(0.0), *other = make_world(0.0);
    specimen s;
    make_specimen(world, index, thin, &s);
    lm_body_id twin = make_twin(world, &s, other);
    lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, s.body, &info));
    assert_ok(lm_body_get_positions(world, s.body, info.centre, x)); /* near it nothing is rounded */
    random_state random = {seed};
    for (uint32_t i = 0; i < s.count; i++)
        x[i] = to_float(ref_add(to_double(x[i]), random_in_cube(&random, NOISE * s.size)));
    assert_ok(lm_body_set_state(world, s.body, lm_dvec3_zero(), x, v));
    assert_ok(lm_body_set_state(other, twin, lm_dvec3_zero(), x, v));
    for (uint32_t step = 0; step < s.steps; step++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(other, FRAME));
    }
    pair both = {deformation(world, s.body) / s.size, deformation(other, twin) / s.size, 0.0};
    for (int again = 0; wait && again < 10; again++) { /* other shapes may have slower modes */
        both.moving = still_moving(world, &s);
        if (both.moving < AT_REST) break;
        for (uint32_t step = 0; step < s.steps; step++) assert_ok(lm_world_step(world, FRAME));
    }
    free(x);
    free(v);
    lm_world_destroy(world);
    lm_world_destroy(other);
    return both;
}

/* Whether clusters rest in another shape too. From a grain of dust the way home is chaotic: they get five tries. */
static bool twin_is_lost_too(const specimen *s)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        if (!(run_pair(s->index, s->thin, seed, false).twin < 0.01)) return true;
    return false;
}

static void check_recovered(specimen *s, lm_world *world, tally *t)
{
    double left = deformation(world, s->body) / s->size;
    t->longest = fmax(t->longest, s->steps);
    t->by_form[s->form]++;
    t->by_mangled[s->mangled]++;
    t->by_width[s->width]++;
    t->waited++;
    if (!(left < 0.01) && (s->mangled == MANGLED_FLAT || s->mangled == MANGLED_LINE || s->mangled == MANGLED_POINT ||
                           s->mangled == MANGLED_MIRROR)) {
        double nudged = residual_after_nudge(world, s);
        t->nudged += nudged < 0.01;
        left = nudged < 0.01 ? nudged : left;
    }
    if (left < 0.01) {
        t->worst = fmax(t->worst, left);
    } else if (twin_is_lost_too(s)) {
        t->elsewhere++;
    } else {
        report(s, "not itself again, off by", left);
        t->lost++;
    }
}

static void abuse(uint32_t index, tally *t)
{
    lm_world *world = make_world(0.0);
    specimen s;
    make_specimen(world, index, false, &s);
    double kinetic, most = energy_of(world, &s, &kinetic), largest = 0.0;
    uint32_t last = s.steps > FINITE_STEPS ? s.steps : FINITE_STEPS;
    for (uint32_t step = 1; step <= last; step++) {
        assert_ok(lm_world_step(world, FRAME));
        if (step % 50 == 1 || step < 10) {
            energy_of(world, &s, &kinetic);
            if (!isfinite(kinetic)) {
                report(&s, "not finite after steps:", step);
                t->infinite++;
                break;
            }
            largest = fmax(largest, kinetic);
        }
        if (s.steps == step) check_recovered(&s, world, t);
    }
    t->gain = fmax(t->gain, largest / most);
    if (largest > 4.0 * most) { /* plain energy swings within a cycle where alpha is 1 */
        report(&s, "energy grew by", largest / most);
        t->gained++;
    }
    t->cases++;
    lm_world_destroy(world);
}

static void mangled_lattices_stay_finite_and_recover(void **context)
{
    (void)context;
    tally t = {0};
    for (uint32_t n = 0; n < case_count; n++) abuse(first_case + n, &t);
    print_message(
        "%u cases, %u waited for (at most %.0f steps, %u nudged, %u in another shape): largest residual %.3g, "
        "energy at most %.3g\n",
        t.cases, t.waited, t.longest, t.nudged, t.elsewhere, t.worst, t.gain);
    for (int k = 0; k < FORM_COUNT; k++) print_message("  %s %u", form_names[k], t.by_form[k]);
    for (int k = 0; k < MANGLED_COUNT; k++) print_message("  %s %u", mangled_names[k], t.by_mangled[k]);
    for (int k = 1; k <= 4; k++) print_message("  w=%d %u", k, t.by_width[k]);
    print_message("\n");
    assert_int_equal(t.infinite, 0);
    assert_int_equal(t.gained, 0);
    assert_int_equal(t.lost, 0);
    assert_true(t.waited >= t.cases / 4);
    assert_true(t.nudged <= 2 + t.waited / 100);
    assert_true(t.elsewhere <= 2 + t.waited / 100);
    for (int k = 0; k < FORM_HOLES; k++) assert_true(t.by_form[k] > 0);
}

/* If both go by the same odds, a case in which only one of them rests in another shape is as often the lattice's as the
 * clusters': the difference has a standard deviation of the root of the number of such cases. Three of them are allowed;
 * and most lattices must do what the clusters do, or the comparison says nothing. */
static void thin_shells_return_as_often_as_clusters(void **context)
{
    (void)context;
    uint32_t cases = case_count / 5, lattice = 0, twin = 0, only_lattice = 0, only_twin = 0;
    double moving = 0.0;
    for (uint32_t n = 0; n < cases; n++) {
        pair both = run_pair(first_case + n, true, first_case + n, true);
        bool here = !(both.lattice < 0.01), there = !(both.twin < 0.01);
        lattice += here;
        twin += there;
        only_lattice += here && !there;
        only_twin += there && !here;
        moving = fmax(moving, both.moving);
    }
    print_message(
        "%u thin shells: %u in another shape, %u of the clusters; %u and %u alone; at most %.2g sizes a step\n", cases,
        lattice, twin, only_lattice, only_twin, moving);
    assert_true((double)only_lattice - (double)only_twin <= 3.0 * sqrt((double)(only_lattice + only_twin)));
    assert_true((only_lattice + only_twin) * 4 <= cases);
    assert_true(twin < cases); /* some must return, or nothing was compared */
    assert_at_most(moving, AT_REST);
}

/* The number of cases may be given, and the first one. */
int main(int argc, char **argv)
{
    if (argc > 1) case_count = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2) first_case = (uint32_t)strtoul(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mangled_lattices_stay_finite_and_recover),
        cmocka_unit_test(thin_shells_return_as_often_as_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
