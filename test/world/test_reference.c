/*
 * The library against the double-precision reference: random bodies, materials, states and surroundings, every
 * instruction set. After ten steps no particle may be further from the reference's than 1e-4 of the body's size.
 *
 * Where the answer is a matter of choice (an inverted region, a quadratic function at the edge of being dropped) the
 * reference says so and the case is passed over; most cases must be compared.
 */
#include "test/reference/reference.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 10
#define TOLERANCE 1e-4

/* What surrounds the body, what it is made of, or what has become of it, as bits. */
enum {
    WITH_GRAVITY = 1,
    WITH_COLLIDERS = 2,
    WITH_PINS = 4,
    WITH_FIELDS = 8,
    WITH_FORCES = 16,
    WITH_DRAG = 32,
    WITH_PLASTIC = 64,
    WITH_SHARES = 128,
    BLOWN_UP = 256,
    WITH_EXAMPLES = 512
};

typedef struct setting {
    sample_kind kind;
    lm_mode mode;
    unsigned surroundings;
    uint64_t seed;
    lm_isa isa;
} setting;

typedef struct outcome {
    double position_error, velocity_error; /* in body sizes; velocities times the step */
    double plastic_error, flowed;          /* of the plastic matrices: against the reference's, from the identity */
    bool compared;
} outcome;

static lm_material random_material(random_state *random, lm_mode mode)
{
    lm_material material = lm_material_default();
    material.mode = mode;
    material.stiffness = random_below(random, 3) == 0 ? LM_STIFFNESS_ALPHA : LM_STIFFNESS_HERTZ;
    material.alpha = (float)random_range(random, 0.05, 1.0);
    material.damping = random_below(random, 2) == 0 ? 0.0f : (float)random_range(random, 0.0, 20.0);
    material.hertz = (float)random_range(random, 1.0, 20.0);
    material.damping_ratio = random_below(random, 2) == 0 ? 0.0f : (float)random_range(random, 0.0, 1.5);
    material.beta = random_below(random, 4) == 0 ? 0.0f : (float)random_range(random, 0.0, 0.9);
    material.friction = (float)random_range(random, 0.0, 1.0);
    material.restitution = (float)random_range(random, 0.0, 1.0);
    return material;
}

/* The same collider for the library and for the reference, somewhere at the edge of the body. */
static void add_collider(lm_world *world, ref_body *reference, random_state *random, double size)
{
    lm_collider_def def = lm_collider_def_default();
    ref_collider *copy = &reference->colliders[reference->collider_count++];
    def.shape = (lm_shape)random_below(random, LM_SHAPE_BOX + 1);
    def.radius = (float)random_range(random, 0.2 * size, size);
    def.half_length = (float)random_range(random, 0.0, size);
    def.half_extents = to_float(ref_add(ref_v(0.6 * size, 0.6 * size, 0.6 * size), random_in_cube(random, 0.4 * size)));
    def.friction = (float)random_range(random, 0.0, 1.0);
    def.restitution = (float)random_range(random, 0.0, 1.0);
    ref_vec turn = random_in_cube(random, def.shape == LM_SHAPE_PLANE ? 0.3 : 2.0);
    double aside = random_range(random, -0.3, 0.3), below = random_range(random, 0.5, 1.0);
    ref_vec at = ref_v(aside * size, -below * size, 0.0);

    copy->frame = -1;
    if (random_below(random, 2) == 0) {
        lm_mover_def mover = lm_mover_def_default();
        ref_frame *frame = &reference->frames[reference->frame_count];
        frame->position = random_in_cube(random, size);
        frame->velocity = random_in_cube(random, size);
        frame->spin = random_in_cube(random, 1.0);
        frame->rotation = ref_identity();
        mover.pose.position = to_dvec3(frame->position);
        mover.velocity = to_float(frame->velocity);
        mover.spin = to_float(frame->spin);
        frame->velocity = to_double(mover.velocity);
        frame->spin = to_double(mover.spin);
        assert_ok(lm_mover_create(world, &mover, &def.mover));
        at = ref_sub(at, frame->position);
        copy->frame = reference->frame_count++;
    }
    def.pose.position = to_dvec3(at);
    def.pose.rotation = quaternion(turn);
    copy->shape = def.shape;
    copy->radius = (double)def.radius;
    copy->half_length = (double)def.half_length;
    copy->half_extents = to_double(def.half_extents);
    copy->position = at;
    copy->rotation = ref_rotation(turn);
    copy->friction = (double)def.friction;
    copy->restitution = (double)def.restitution;
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
}

/* Two particles are held: one where it is, one at a point a little away that a mover carries along. */
static void add_pins(lm_world *world, lm_body_id body, ref_body *reference, random_state *random, double size)
{
    uint32_t first = random_below(random, reference->count);
    uint32_t second = (first + 1 + random_below(random, reference->count - 1)) % reference->count;
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id pin;
    def.body = body;
    def.particles = &first;
    def.particle_count = 1;
    assert_ok(lm_pin_create(world, &def, &pin));
    reference->pinned[first] = true;
    reference->target[first] = reference->x[first];
    reference->target_frame[first] = -1;

    lm_mover_def mover = lm_mover_def_default();
    ref_frame *frame = &reference->frames[reference->frame_count];
    frame->position = random_in_cube(random, size);
    frame->rotation = ref_identity();
    mover.pose.position = to_dvec3(frame->position);
    mover.velocity = to_float(random_in_cube(random, 0.3 * size));
    mover.spin = to_float(random_in_cube(random, 0.5));
    frame->velocity = to_double(mover.velocity);
    frame->spin = to_double(mover.spin);
    assert_ok(lm_mover_create(world, &mover, &def.mover));
    ref_vec target = ref_add(reference->x[second], random_in_cube(random, 0.02 * size));
    lm_dvec3 world_target = to_dvec3(target);
    def.particles = &second;
    def.targets = &world_target;
    assert_ok(lm_pin_create(world, &def, &pin));
    reference->pinned[second] = true;
    reference->target[second] = ref_sub(target, frame->position);
    reference->target_frame[second] = reference->frame_count++;
}

static void add_field(lm_world *world, ref_body *reference, lm_field_kind kind, random_state *random, double size)
{
    lm_field_def def = lm_field_def_default();
    ref_field *copy = &reference->fields[reference->field_count++];
    def.kind = kind;
    def.vector = to_float(random_in_cube(random, 10.0 * size));
    def.position = to_dvec3(random_in_cube(random, size));
    def.strength = (float)random_range(random, 0.5, 10.0);
    def.radius = (float)random_range(random, 0.5 * size, 3.0 * size);
    copy->kind = kind;
    copy->vector = to_double(def.vector);
    copy->position = ref_v(def.position.x, def.position.y, def.position.z);
    copy->strength = (double)def.strength;
    copy->radius = (double)def.radius;
    lm_field_id field;
    assert_ok(lm_field_create(world, &def, &field));
}

static void add_drag(lm_world *world, lm_body_id body, ref_body *reference, random_state *random, double size)
{
    lm_drag_def def = lm_drag_def_default();
    ref_drag *copy = &reference->drags[reference->drag_count++];
    def.body = body;
    def.particle = random_below(random, reference->count);
    def.radius = random_below(random, 2) == 0 ? 0.0f : (float)(0.413 * size);
    def.hertz = (float)random_range(random, 0.2, 5.0);
    def.damping_ratio = (float)random_range(random, 0.0, 1.5);
    if (random_below(random, 3) == 0) def.max_force = (float)random_range(random, 0.5, 5.0);
    def.target = to_dvec3(ref_add(reference->x[def.particle], random_in_cube(random, 0.5 * size)));
    copy->particle = def.particle;
    copy->radius = (double)def.radius;
    copy->hertz = (double)def.hertz;
    copy->damping_ratio = (double)def.damping_ratio;
    copy->max_force = (double)def.max_force;
    copy->target = ref_v(def.target.x, def.target.y, def.target.z);
    lm_drag_id drag;
    assert_ok(lm_drag_create(world, &def, &drag));
}

/* Forces act during the first step only. */
static void add_forces(lm_world *world, lm_body_id body, ref_body *reference, random_state *random)
{
    double total = 0.0;
    for (uint32_t i = 0; i < reference->count; i++) total += reference->mass[i];
    lm_vec3 whole = to_float(random_in_cube(random, 20.0 * total));
    assert_ok(lm_body_add_force(world, body, whole));
    reference->push = ref_scale(1.0 / total, to_double(whole));
    for (int k = 0; k < 2; k++) {
        uint32_t i = random_below(random, reference->count);
        lm_vec3 force = to_float(random_in_cube(random, 30.0 * reference->mass[i]));
        assert_ok(lm_body_add_particle_force(world, body, i, force));
        reference->force[i] = ref_add(reference->force[i], to_double(force));
    }
}

/* The thinnest direction of the rest shape that is not flat: jitter beyond it would turn regions inside out. */
static double thickness(const sample *s)
{
    double thin = s->size;
    ref_vec low = to_double(s->points[0]), high = low;
    for (uint32_t i = 0; i < s->count; i++) {
        ref_vec p = to_double(s->points[i]);
        low = ref_v(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = ref_v(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    ref_vec extent = ref_sub(high, low);
    if (extent.x > 0.0) thin = fmin(thin, extent.x);
    if (extent.y > 0.0) thin = fmin(thin, extent.y);
    if (extent.z > 0.0) thin = fmin(thin, extent.z);
    return thin;
}

/* A yield low enough for most bodies to flow within the ten steps, and limits that some of them reach. */
static void make_plastic(lm_material *material, random_state *random)
{
    material->yield = (float)random_range(random, 0.005, 0.08);
    material->creep = (float)random_range(random, 1.0, 60.0);
    material->max_plastic = random_below(random, 3) == 0 ? 0.05f : (float)random_range(random, 0.2, 0.9);
}

static void set_shares(lm_world *world, lm_body_id body, random_state *random)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    float *shares = calloc(info.regions, sizeof *shares);
    for (uint32_t r = 0; r < info.regions; r++)
        shares[r] = random_below(random, 5) == 0 ? 0.0f : (float)random_range(random, 0.0, 1.0);
    assert_ok(lm_body_set_region_stiffness(world, body, shares));
    free(shares);
}

/* One to four poses, some the same or the rest pose, for the body, for groups or for each region. */
static void add_examples(lm_world *world, lm_body_id body, ref_body *reference, random_state *random, double thin)
{
    lm_examples_def def = lm_examples_def_default();
    def.count = 1 + random_below(random, 4);
    def.particles = reference->count;
    def.scope = (lm_example_scope)random_below(random, LM_EXAMPLES_SCOPE_COUNT);
    def.beta = (float)random_range(random, 0.3, 1.0);
    def.group_count = 3;
    uint32_t *groups = calloc(reference->region_count + 1, sizeof *groups);
    for (uint32_t r = 0; r < reference->region_count; r++)
        groups[r] = random_below(random, 6) == 0 ? LM_NO_GROUP : random_below(random, 3);
    lm_vec3 *poses = calloc((size_t)def.count * def.particles, sizeof *poses);
    for (uint32_t k = 0; k < def.count; k++) {
        uint32_t kind = random_below(random, 6);
        ref_mat map = random_rotation(random);
        for (int i = 0; i < 9; i++) map.at[i / 3][i % 3] += random_range(random, -0.3, 0.3);
        for (uint32_t i = 0; i < def.particles; i++) {
            ref_vec at = ref_add(ref_mat_vec(map, reference->rest[i]), random_in_cube(random, 0.1 * thin));
            poses[k * def.particles + i] = kind == 0            ? to_float(reference->rest[i])
                                           : kind == 1 && k > 0 ? poses[i]
                                                                : to_float(at);
        }
    }
    def.groups = groups;
    def.poses = poses;
    assert_ok(lm_body_set_examples(world, body, &def));
    ref_set_examples(reference, &def);
    free(groups);
    free(poses);
}

/* The largest difference between the library's plastic matrices and the reference's; `flowed` gets how far the furthest is
 * from the identity. */
static double plastic_error(const lm_world *world, lm_body_id body, const ref_body *reference, double *flowed)
{
    float *matrices = calloc(reference->region_count + 1, 9 * sizeof *matrices);
    assert_ok(lm_body_get_plastic(world, body, matrices));
    double worst = 0.0;
    *flowed = 0.0;
    for (uint32_t r = 0; r < reference->region_count; r++)
        for (uint32_t k = 0; k < 9; k++) {
            double expected = reference->plastic[r].at[k / 3][k % 3];
            double off = fabs((double)matrices[9 * r + k] - expected);
            if (!(off <= worst)) worst = off;
            *flowed = fmax(*flowed, fabs(expected - (k % 4 == 0)));
        }
    free(matrices);
    return worst;
}

/* To two to five times its size along each axis. */
static void blow_up(lm_world *world, lm_body_id body, random_state *random)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(state.count, sizeof *x);
    double by[3];
    for (int k = 0; k < 3; k++) by[k] = random_range(random, 2.0, 5.0);
    for (uint32_t i = 0; i < state.count; i++)
        x[i] = to_float(ref_v(by[0] * state.x[i].x, by[1] * state.x[i].y, by[2] * state.x[i].z));
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
    free(x);
    state_free(&state);
}

static outcome compare(setting set)
{
    random_state random = {set.seed};
    sample s = sample_make(set.kind, &random);
    s.def.material = random_material(&random, set.mode);
    if (set.surroundings & WITH_PLASTIC) make_plastic(&s.def.material, &random);
    s.def.contact_radius = random_below(&random, 2) == 0 ? 0.0f : (float)(0.05 * s.size);
    s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
    lm_world *world = make_world_with(set.surroundings & WITH_GRAVITY ? -9.81 : 0.0, set.isa, 1);
    uint32_t substeps = 1 + random_below(&random, 3);
    assert_ok(lm_world_set_substeps(world, substeps));
    lm_body_id body = make_body(world, &s.def);
    if (set.surroundings & WITH_SHARES) set_shares(world, body, &random);
    randomise_state(world, body, &random, random_range(&random, 0.02, 0.2) * thickness(&s), s.size);
    if (set.surroundings & BLOWN_UP) blow_up(world, body, &random);
    ref_body *reference = ref_body_copy(world, body, (double)s.def.contact_radius);

    if (set.surroundings & WITH_COLLIDERS)
        for (int k = 0; k < 2; k++) add_collider(world, reference, &random, s.size);
    if (set.surroundings & WITH_PINS) add_pins(world, body, reference, &random, s.size);
    if (set.surroundings & WITH_FIELDS)
        for (int kind = 0; kind < LM_FIELD_KIND_COUNT; kind++)
            add_field(world, reference, (lm_field_kind)kind, &random, s.size);
    if (set.surroundings & WITH_EXAMPLES) add_examples(world, body, reference, &random, thickness(&s));
    if (set.surroundings & WITH_FORCES) add_forces(world, body, reference, &random);
    if (set.surroundings & WITH_DRAG) add_drag(world, body, reference, &random, s.size);

    double h = FRAME / substeps;
    for (int step = 0; step < STEPS; step++) {
        assert_ok(lm_world_step(world, FRAME));
        for (uint32_t k = 0; k < substeps; k++) ref_body_step(reference, h);
        reference->push = ref_v(0, 0, 0);
        for (uint32_t i = 0; i < reference->count; i++) reference->force[i] = ref_v(0, 0, 0);
    }

    outcome result = {.compared = reference->margin > 1.0};
    result.plastic_error = plastic_error(world, body, reference, &result.flowed);
    body_state state = state_read(world, body, lm_dvec3_zero());
    for (uint32_t i = 0; i < state.count; i++) {
        double x = ref_length(ref_sub(state.x[i], reference->x[i])) / s.size;
        double v = ref_length(ref_sub(state.v[i], reference->v[i])) * h / s.size;
        if (!(x <= result.position_error)) result.position_error = x;
        if (!(v <= result.velocity_error)) result.velocity_error = v;
    }
    state_free(&state);
    ref_body_free(reference);
    lm_world_destroy(world);
    sample_free(&s);
    return result;
}

/* Every case with every instruction set; otherwise with one of them in turn, because they give the same bits
 * (test_determinism.c). */
static bool every_isa;

static bool is_left_out(lm_isa isa, uint32_t turn)
{
    uint32_t supported = 0, place = 0;
    for (int k = LM_ISA_SCALAR; k < LM_ISA_COUNT; k++) {
        place = k == (int)isa ? supported : place;
        supported += lm_isa_supported((lm_isa)k);
    }
    return !lm_isa_supported(isa) || (!every_isa && place != turn % supported);
}

static void sweep(unsigned surroundings, uint32_t trials)
{
    uint32_t cases = 0, compared = 0, flowed = 0, wrong = 0;
    double worst = 0.0;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (uint32_t trial = 0; trial < trials; trial++)
                for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
                    if (is_left_out((lm_isa)isa, trial + (uint32_t)kind + (uint32_t)mode)) continue;
                    setting set = {(sample_kind)kind, (lm_mode)mode, surroundings,
                                   1000u * trial + 10u * (unsigned)kind + (unsigned)mode + 7u * surroundings,
                                   (lm_isa)isa};
                    outcome result = compare(set);
                    cases++;
                    if (!result.compared) continue;
                    compared++;
                    flowed += result.flowed > 0.01;
                    worst = fmax(worst, result.position_error);
                    if (result.position_error <= TOLERANCE && result.velocity_error <= TOLERANCE &&
                        result.plastic_error <= TOLERANCE)
                        continue;
                    if (wrong++ < 12)
                        print_error("%s, mode %d, surroundings %u, seed %u, %s: position off by %.3g, velocity by "
                                    "%.3g, plastic by "
                                    "%.3g\n",
                                    sample_name(set.kind), mode, surroundings, (unsigned)set.seed, lm_isa_name(set.isa),
                                    result.position_error, result.velocity_error, result.plastic_error);
                }
    print_message("compared %u of %u cases (%u flowed), largest error %.3g of the body size\n", compared, cases, flowed,
                  worst);
    assert_int_equal(wrong, 0);
    assert_true(compared >= cases * 2 / 3);
    if (surroundings & WITH_PLASTIC) {
        assert_true(flowed >= compared / 2);
    } else {
        assert_int_equal(flowed, 0);
    }
}

static void free_bodies_agree(void **context)
{
    (void)context;
    sweep(0, 8);
}

/* Far beyond the rest volume a flat shape is nearer than a small one of the same proportions. */
static void blown_up_bodies_agree(void **context)
{
    (void)context;
    sweep(BLOWN_UP, 3);
}

static void falling_bodies_agree(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_FIELDS | WITH_FORCES, 3);
}

static void colliding_bodies_agree(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_COLLIDERS, 6);
}

static void pinned_bodies_agree(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_PINS, 4);
}

static void dragged_bodies_agree(void **context)
{
    (void)context;
    sweep(WITH_DRAG, 4);
}

static void everything_at_once_agrees(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_COLLIDERS | WITH_PINS | WITH_FIELDS | WITH_FORCES | WITH_DRAG, 3);
}

static void plastic_bodies_agree(void **context)
{
    (void)context;
    sweep(WITH_PLASTIC, 8);
}

static void bodies_with_different_shares_agree(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_SHARES, 4);
}

static void plastic_bodies_in_trouble_agree(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_COLLIDERS | WITH_PINS | WITH_DRAG | WITH_PLASTIC | WITH_SHARES, 4);
}

static void bodies_with_examples_agree(void **context)
{
    (void)context;
    sweep(WITH_EXAMPLES, 8);
}

static void bodies_with_examples_in_trouble_agree(void **context)
{
    (void)context;
    sweep(WITH_GRAVITY | WITH_COLLIDERS | WITH_PINS | WITH_PLASTIC | WITH_SHARES | WITH_EXAMPLES, 4);
}

int main(int argc, char **argv)
{
    every_isa = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_bodies_agree),
        cmocka_unit_test(blown_up_bodies_agree),
        cmocka_unit_test(falling_bodies_agree),
        cmocka_unit_test(colliding_bodies_agree),
        cmocka_unit_test(pinned_bodies_agree),
        cmocka_unit_test(dragged_bodies_agree),
        cmocka_unit_test(everything_at_once_agrees),
        cmocka_unit_test(plastic_bodies_agree),
        cmocka_unit_test(bodies_with_different_shares_agree),
        cmocka_unit_test(plastic_bodies_in_trouble_agree),
        cmocka_unit_test(bodies_with_examples_agree),
        cmocka_unit_test(bodies_with_examples_in_trouble_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
