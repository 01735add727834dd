/*
 * The edges of the public interface: ids, cookies, arguments out of range, and that every refusal is a result, a line in
 * the log, and nothing else.
 */
#include "test/support/support.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef struct journal {
    uint32_t lines;
    lm_result last;
    char text[512];
} journal;

typedef struct fixture {
    lm_world *world;
    lm_body_id body;
    lm_mover_id mover;
    journal journal;
} fixture;

static void write_journal(lm_result result, const char *line, void *user)
{
    journal *j = user;
    j->lines++;
    j->last = result;
    assert_non_null(line);
    assert_true(line[0] != '\0');
    assert_null(strchr(line, '\n'));
    strncpy(j->text, line, sizeof j->text - 1);
}

static int set_up(void **context)
{
    fixture *f = calloc(1, sizeof *f);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    def.log.write = write_journal;
    def.log.user = &f->journal;
    assert_ok(lm_world_create(&def, &f->world));
    random_state random = {1};
    sample s = sample_make(SAMPLE_BOX, &random);
    f->body = make_body(f->world, &s.def);
    sample_free(&s);
    lm_mover_def mover = lm_mover_def_default();
    assert_ok(lm_mover_create(f->world, &mover, &f->mover));
    *context = f;
    return 0;
}

static int tear_down(void **context)
{
    fixture *f = *context;
    lm_world_destroy(f->world);
    free(f);
    return 0;
}

/* The call must be refused with this result, say so in one line of the log, and leave the state as it was. */
#define assert_refused(f, call, expected)                                                                              \
    do {                                                                                                               \
        uint32_t lines_before = (f)->journal.lines;                                                                    \
        uint64_t hash_before = lm_world_hash((f)->world);                                                              \
        assert_result(call, expected);                                                                                 \
        if ((f)->journal.lines != lines_before + 1)                                                                    \
            fail_msg("%s wrote %u lines to the log", #call, (f)->journal.lines - lines_before);                        \
        assert_int_equal((f)->journal.last, expected);                                                                 \
        assert_true(lm_world_hash((f)->world) == hash_before);                                                         \
    } while (0)

static const float not_finite[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};

static void names_and_texts(void **context)
{
    (void)context;
    assert_string_equal(lm_version(), "0.1.0");
    for (int r = 0; r < LM_RESULT_COUNT; r++) assert_true(strlen(lm_result_text((lm_result)r)) > 0);
    assert_non_null(lm_result_text((lm_result)999));
    assert_string_equal(lm_isa_name(LM_ISA_SCALAR), "scalar");
    assert_string_equal(lm_isa_name(LM_ISA_AVX512), "avx512");
    assert_null(lm_isa_name(LM_ISA_COUNT));
    assert_null(lm_isa_name((lm_isa)77));
    assert_true(lm_isa_supported(LM_ISA_BEST));
    assert_true(lm_isa_supported(LM_ISA_SCALAR));
    assert_false(lm_isa_supported(LM_ISA_COUNT));
    assert_string_equal(lm_stage_name(LM_STAGE_PREDICT), "predict");
    assert_string_equal(lm_stage_name(LM_STAGE_CONTACT), "contact");
    assert_string_equal(lm_stage_name(LM_STAGE_SOLVE), "solve");
    assert_null(lm_stage_name(LM_STAGE_COUNT));
}

static void release_nothing(void *memory, size_t size, void *user)
{
    (void)memory;
    (void)size;
    (void)user;
}

static void world_definitions(void **context)
{
    (void)context;
    journal j = {0};
    lm_world_def good = lm_world_def_default();
    good.log.write = write_journal;
    good.log.user = &j;
    lm_world_def bad[9];
    for (int k = 0; k < 9; k++) bad[k] = good;
    bad[0].cookie ^= 1u;
    bad[1].gravity.y = (float)NAN;
    bad[2].gravity.x = (float)INFINITY;
    bad[3].gravity.z = -(float)INFINITY;
    bad[4].substeps = LM_MAX_SUBSTEPS + 1;
    bad[5].workers = LM_MAX_WORKERS + 1;
    bad[6].isa = LM_ISA_COUNT;
    bad[7].allocator.release = release_nothing; /* one hook without the other */
    bad[8].isa = (lm_isa)-1;
    for (int k = 0; k < 9; k++) {
        lm_world *world = (lm_world *)&j;
        lm_result result = lm_world_create(&bad[k], &world);
        if (result == LM_OK) fail_msg("definition %d was accepted", k);
        assert_true(result == LM_ERROR_ARGUMENT || result == LM_ERROR_UNSUPPORTED);
        assert_null(world);
    }
    assert_true(j.lines >= 8); /* of a definition without its cookie not even the log can be trusted */
    lm_world_destroy(NULL);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (lm_isa_supported((lm_isa)isa)) continue;
        lm_world *world = NULL;
        good.isa = (lm_isa)isa;
        assert_result(lm_world_create(&good, &world), LM_ERROR_UNSUPPORTED);
    }
}

static void world_settings(void **context)
{
    fixture *f = *context;
    static const double steps[] = {0.0, -1.0, 1.0001, NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 6; k++) assert_refused(f, lm_world_step(f->world, steps[k]), LM_ERROR_ARGUMENT);
    assert_ok(lm_world_step(f->world, 1.0));
    assert_ok(lm_world_step(f->world, 1e-6));
    assert_refused(f, lm_world_set_substeps(f->world, LM_MAX_SUBSTEPS + 1), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_world_get_substeps(f->world), 0); /* as many as are needed */
    assert_ok(lm_world_set_substeps(f->world, 4));
    assert_int_equal(lm_world_get_substeps(f->world), 4);
    for (int k = 0; k < 3; k++)
        assert_refused(f, lm_world_set_gravity(f->world, (lm_vec3){0, not_finite[k], 0}), LM_ERROR_ARGUMENT);
    assert_near(lm_world_get_gravity(f->world).y, -9.81, 1e-6);
    assert_ok(lm_world_set_gravity(f->world, (lm_vec3){1, 2, 3}));
    assert_near(lm_world_get_gravity(f->world).z, 3.0, 0.0);
    assert_int_equal(lm_world_get_workers(f->world), 1);
    assert_near(lm_world_get_time(f->world), 1.000001, 1e-12);
}

/* Ids of nothing, of something destroyed, of a slot that is used again, and invented ones. */
static void stale_and_wrong_ids(void **context)
{
    fixture *f = *context;
    lm_body_info info;
    lm_body_id none = {0, 0}, invented = {12345, 1}, huge = {UINT32_MAX, UINT32_MAX}, other = f->body;
    other.generation++;
    lm_body_id wrong[4] = {none, invented, huge, other};
    for (int k = 0; k < 4; k++) {
        assert_false(lm_body_is_valid(f->world, wrong[k]));
        assert_refused(f, lm_body_get_info(f->world, wrong[k], &info), LM_ERROR_ID);
        assert_refused(f, lm_body_destroy(f->world, wrong[k]), LM_ERROR_ID);
        assert_refused(f, lm_body_add_force(f->world, wrong[k], (lm_vec3){0, 0, 0}), LM_ERROR_ID);
    }
    assert_true(lm_body_is_valid(f->world, f->body));
    assert_ok(lm_body_destroy(f->world, f->body));
    assert_false(lm_body_is_valid(f->world, f->body));
    random_state random = {1};
    sample s = sample_make(SAMPLE_CELL, &random);
    lm_body_id again = make_body(f->world, &s.def);
    sample_free(&s);
    assert_int_equal(again.slot, f->body.slot);
    assert_true(again.generation != f->body.generation);
    lm_vec3 buffer[64];
    float masses[64];
    uint32_t lists[65];
    lm_material material = lm_material_default();
    lm_skin_def skin = lm_skin_def_default();
    lm_pin_def pin = lm_pin_def_default();
    lm_drag_def drag = lm_drag_def_default();
    lm_pin_id pin_id;
    lm_drag_id drag_id;
    uint32_t zero = 0;
    pin.body = drag.body = f->body;
    pin.particles = &zero;
    pin.particle_count = 1;
    lm_dvec3 origin = lm_dvec3_zero();
    lm_vec3 push = {1, 0, 0};
    assert_refused(f, lm_body_get_info(f->world, f->body, &info), LM_ERROR_ID);
    assert_refused(f, lm_body_get_positions(f->world, f->body, origin, buffer), LM_ERROR_ID);
    assert_refused(f, lm_body_get_velocities(f->world, f->body, buffer), LM_ERROR_ID);
    lm_state_view view;
    assert_refused(f, lm_body_view_state(f->world, f->body, &view), LM_ERROR_ID);
    assert_refused(f, lm_body_get_masses(f->world, f->body, masses), LM_ERROR_ID);
    assert_refused(f, lm_body_get_rest_positions(f->world, f->body, buffer), LM_ERROR_ID);
    assert_refused(f, lm_body_get_goals(f->world, f->body, origin, buffer), LM_ERROR_ID);
    assert_refused(f, lm_body_set_state(f->world, f->body, origin, buffer, NULL), LM_ERROR_ID);
    assert_refused(f, lm_body_get_regions(f->world, f->body, lists, NULL), LM_ERROR_ID);
    assert_refused(f, lm_body_set_material(f->world, f->body, &material), LM_ERROR_ID);
    assert_refused(f, lm_body_get_material(f->world, f->body, &material), LM_ERROR_ID);
    assert_refused(f, lm_body_add_particle_force(f->world, f->body, 0, push), LM_ERROR_ID);
    assert_refused(f, lm_body_add_impulse(f->world, f->body, push, origin), LM_ERROR_ID);
    assert_refused(f, lm_body_add_particle_impulse(f->world, f->body, 0, push), LM_ERROR_ID);
    assert_refused(f, lm_body_set_skin(f->world, f->body, &skin), LM_ERROR_ID);
    assert_refused(f, lm_body_get_skin(f->world, f->body, origin, buffer, NULL), LM_ERROR_ID);
    assert_refused(f, lm_body_get_skin_triangles(f->world, f->body, lists), LM_ERROR_ID);
    assert_refused(f, lm_pin_create(f->world, &pin, &pin_id), LM_ERROR_ID);
    assert_refused(f, lm_drag_create(f->world, &drag, &drag_id), LM_ERROR_ID);
}

/* Destroying anything twice is noticed; so is everything that went with a body. */
/* The lowest free slot is used first: ids depend on what is there, not on how it came to be. */
static void freed_slots_are_used_again(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    random_state random = {5};
    sample s = sample_make(SAMPLE_CELL, &random);
    lm_body_id bodies[5];
    for (int k = 0; k < 5; k++) bodies[k] = make_body(world, &s.def);
    for (int k = 0; k < 3; k++) assert_ok(lm_body_destroy(world, bodies[2 - k]));
    for (int k = 0; k < 3; k++) {
        lm_body_id again = make_body(world, &s.def);
        assert_int_equal(again.slot, bodies[k].slot);
        assert_int_not_equal(again.generation, bodies[k].generation);
    }
    assert_int_equal(make_body(world, &s.def).slot, bodies[4].slot + 1);
    sample_free(&s);
    lm_world_destroy(world);
}

/* Every coordinate of every position and velocity, in its smallest bit. */
static void the_hash_sees_every_coordinate(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    random_state random = {6};
    sample s = sample_make(SAMPLE_CELL, &random);
    lm_body_id body = make_body(world, &s.def);
    lm_vec3 x[8], v[8] = {{0}};
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    uint64_t still = lm_world_hash(world);
    for (int k = 0; k < 48; k++) {
        float *value = k < 24 ? &x[k / 3].x + k % 3 : &v[k / 3 - 8].x + k % 3, kept = *value;
        *value = nextafterf(kept, 1.0f);
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
        if (lm_world_hash(world) == still)
            fail_msg("%s %d is not in the hash", k < 24 ? "position" : "velocity", k % 24);
        *value = kept;
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    assert_true(lm_world_hash(world) == still);
    sample_free(&s);
    lm_world_destroy(world);
}

static void destroyed_things_stay_destroyed(void **context)
{
    fixture *f = *context;
    uint32_t first = 0;
    lm_pin_def pin = lm_pin_def_default();
    lm_drag_def drag = lm_drag_def_default();
    lm_field_def field = lm_field_def_default();
    lm_collider_def collider = lm_collider_def_default();
    lm_pin_id pin_id;
    lm_drag_id drag_id;
    lm_field_id field_id;
    lm_collider_id collider_id;
    lm_vec3 force;
    lm_pose pose;
    pin.body = drag.body = f->body;
    pin.particles = &first;
    pin.particle_count = 1;
    collider.mover = f->mover;
    assert_ok(lm_pin_create(f->world, &pin, &pin_id));
    assert_ok(lm_drag_create(f->world, &drag, &drag_id));
    assert_ok(lm_field_create(f->world, &field, &field_id));
    assert_ok(lm_collider_create(f->world, &collider, &collider_id));

    assert_ok(lm_field_destroy(f->world, field_id));
    assert_refused(f, lm_field_destroy(f->world, field_id), LM_ERROR_ID);
    assert_refused(f, lm_field_set(f->world, field_id, &field), LM_ERROR_ID);
    assert_ok(lm_mover_destroy(f->world, f->mover));
    assert_refused(f, lm_mover_destroy(f->world, f->mover), LM_ERROR_ID);
    assert_refused(f, lm_mover_get_pose(f->world, f->mover, &pose), LM_ERROR_ID);
    assert_refused(f, lm_mover_move_to(f->world, f->mover, lm_pose_identity()), LM_ERROR_ID);
    assert_refused(f, lm_mover_set_velocity(f->world, f->mover, (lm_vec3){0}, (lm_vec3){0}), LM_ERROR_ID);
    lm_collider_id unmade;
    assert_refused(f, lm_collider_create(f->world, &collider, &unmade), LM_ERROR_ID);
    assert_ok(lm_collider_destroy(f->world, collider_id));
    assert_refused(f, lm_collider_destroy(f->world, collider_id), LM_ERROR_ID);
    assert_refused(f, lm_collider_get_pose(f->world, collider_id, &pose), LM_ERROR_ID);

    assert_ok(lm_body_destroy(f->world, f->body));
    assert_refused(f, lm_pin_destroy(f->world, pin_id), LM_ERROR_ID);
    assert_refused(f, lm_drag_destroy(f->world, drag_id), LM_ERROR_ID);
    assert_refused(f, lm_drag_set_target(f->world, drag_id, lm_dvec3_zero()), LM_ERROR_ID);
    assert_refused(f, lm_drag_get_force(f->world, drag_id, &force), LM_ERROR_ID);
    assert_int_equal(lm_world_get_bodies(f->world, NULL, 0), 0);
    assert_ok(lm_world_step(f->world, FRAME));
}

static void body_definitions(void **context)
{
    fixture *f = *context;
    lm_vec3 points[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    lm_vec3 bad_points[3] = {{0, 0, 0}, {1, (float)NAN, 0}, {0, 1, 0}};
    lm_vec3 far_points[3] = {{0, 0, 0}, {2e9f, 0, 0}, {0, 1, 0}};
    float masses[4][3] = {{1, 0, 1}, {1, -1, 1}, {1, (float)NAN, 1}, {1, (float)INFINITY, 1}};
    uint32_t backwards[3] = {0, 3, 2}, late[3] = {1, 2, 3}, fine[3] = {0, 2, 3};
    uint32_t members[3] = {0, 1, 2}, outside[3] = {0, 1, 3}, twice[3] = {1, 1, 2};
    lm_body_def good = lm_body_def_default(), def;
    lm_body_id body;
    good.points = points;
    good.point_count = 3;

#define REFUSE(change, expected)                                                                                       \
    do {                                                                                                               \
        def = good;                                                                                                    \
        change;                                                                                                        \
        assert_refused(f, lm_body_create(f->world, &def, &body), expected);                                            \
    } while (0)

    REFUSE(def.cookie = 0, LM_ERROR_ARGUMENT);
    REFUSE(def.points = NULL, LM_ERROR_ARGUMENT);
    REFUSE(def.point_count = 0, LM_ERROR_ARGUMENT);
    REFUSE(def.points = bad_points, LM_ERROR_ARGUMENT);
    REFUSE(def.points = far_points, LM_ERROR_ARGUMENT);
    REFUSE(def.point_count = LM_MAX_PARTICLES + 1u, LM_ERROR_LIMIT);
    REFUSE(def.point_count = UINT32_MAX, LM_ERROR_LIMIT);
    for (int k = 0; k < 4; k++) REFUSE(def.masses = masses[k], LM_ERROR_ARGUMENT);
    REFUSE(def.mass = 0.0f, LM_ERROR_ARGUMENT);
    REFUSE(def.mass = -1.0f, LM_ERROR_ARGUMENT);
    for (int k = 0; k < 3; k++) {
        REFUSE(def.mass = not_finite[k], LM_ERROR_ARGUMENT);
        REFUSE(def.contact_radius = not_finite[k], LM_ERROR_ARGUMENT);
        REFUSE(def.pose.position.x = (double)not_finite[k], LM_ERROR_ARGUMENT);
        REFUSE(def.pose.rotation.w = not_finite[k], LM_ERROR_ARGUMENT);
        REFUSE(def.velocity.z = not_finite[k], LM_ERROR_ARGUMENT);
        REFUSE(def.spin.y = not_finite[k], LM_ERROR_ARGUMENT);
        REFUSE(def.clusters.overlap = not_finite[k], LM_ERROR_ARGUMENT);
    }
    REFUSE(def.contact_radius = -0.1f, LM_ERROR_ARGUMENT);
    REFUSE((def.pose.rotation = (lm_quat){0, 0, 0, 0}), LM_ERROR_ARGUMENT);
    REFUSE(def.velocity.x = 2e6f, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.overlap = -0.1f, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.overlap = 1.1f, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.counts[1] = 0, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.kind = (lm_cluster_kind)9, LM_ERROR_ARGUMENT);
    REFUSE((def.clusters.kind = LM_CLUSTERS_SIZE, def.clusters.cell_size = 0.0f), LM_ERROR_ARGUMENT);
    REFUSE((def.clusters.kind = LM_CLUSTERS_SIZE, def.clusters.cell_size = (float)NAN), LM_ERROR_ARGUMENT);
    REFUSE((def.clusters.kind = LM_CLUSTERS_SIZE, def.clusters.cell_size = -1.0f), LM_ERROR_ARGUMENT);

    good.clusters.kind = LM_CLUSTERS_LISTS;
    good.clusters.offsets = fine;
    good.clusters.members = members;
    good.clusters.list_count = 2;
    REFUSE(def.clusters.offsets = backwards, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.offsets = late, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.offsets = NULL, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.members = NULL, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.members = outside, LM_ERROR_ARGUMENT);
    REFUSE(def.clusters.members = twice, LM_ERROR_ARGUMENT);
#undef REFUSE
    assert_ok(lm_body_create(f->world, &good, &body));
    assert_int_equal(lm_world_get_bodies(f->world, NULL, 0), 2);
}

static void materials(void **context)
{
    fixture *f = *context;
    lm_material good = lm_material_default(), now;
    float *numbers[7];
    lm_material bad;
    numbers[0] = &bad.hertz;
    numbers[1] = &bad.damping_ratio;
    numbers[2] = &bad.alpha;
    numbers[3] = &bad.damping;
    numbers[4] = &bad.beta;
    numbers[5] = &bad.friction;
    numbers[6] = &bad.restitution;
    for (int k = 0; k < 7; k++)
        for (int v = 0; v < 4; v++) {
            bad = good;
            *numbers[k] = v < 3 ? not_finite[v] : -0.01f;
            assert_refused(f, lm_body_set_material(f->world, f->body, &bad), LM_ERROR_ARGUMENT);
        }
    static const float above[7] = {-1, -1, 1.01f, -1, 0.96f, -1, 1.01f};
    for (int k = 0; k < 7; k++) {
        bad = good;
        if (above[k] < 0) continue;
        *numbers[k] = above[k];
        assert_refused(f, lm_body_set_material(f->world, f->body, &bad), LM_ERROR_ARGUMENT);
    }
    bad = good;
    bad.mode = LM_MODE_COUNT;
    assert_refused(f, lm_body_set_material(f->world, f->body, &bad), LM_ERROR_ARGUMENT);
    bad = good;
    bad.stiffness = (lm_stiffness)-1;
    assert_refused(f, lm_body_set_material(f->world, f->body, &bad), LM_ERROR_ARGUMENT);
    good.hertz = 3.5f;
    good.mode = LM_MODE_QUADRATIC;
    assert_ok(lm_body_set_material(f->world, f->body, &good));
    assert_ok(lm_body_get_material(f->world, f->body, &now));
    assert_near(now.hertz, 3.5, 0.0);
    assert_int_equal(now.mode, LM_MODE_QUADRATIC);
}

static void states_and_forces(void **context)
{
    fixture *f = *context;
    lm_vec3 x[36], v[36];
    lm_dvec3 origin = lm_dvec3_zero(), nowhere = {NAN, 0, 0};
    assert_ok(lm_body_get_positions(f->world, f->body, origin, x));
    assert_ok(lm_body_get_velocities(f->world, f->body, v));
    assert_refused(f, lm_body_get_goals(f->world, f->body, origin, x), LM_ERROR_ARGUMENT);
    assert_ok(lm_world_step(f->world, FRAME));
    assert_ok(lm_body_get_goals(f->world, f->body, origin, x));
    assert_ok(lm_body_get_positions(f->world, f->body, origin, x));
    for (int k = 0; k < 3; k++) {
        lm_vec3 kept = x[7], bad = {0, 0, not_finite[k]};
        x[7].y = not_finite[k];
        assert_refused(f, lm_body_set_state(f->world, f->body, origin, x, v), LM_ERROR_ARGUMENT);
        x[7] = kept;
        kept = v[35];
        v[35].x = not_finite[k];
        assert_refused(f, lm_body_set_state(f->world, f->body, origin, x, v), LM_ERROR_ARGUMENT);
        v[35] = kept;
        assert_refused(f, lm_body_add_force(f->world, f->body, bad), LM_ERROR_ARGUMENT);
        assert_refused(f, lm_body_add_particle_force(f->world, f->body, 0, bad), LM_ERROR_ARGUMENT);
        assert_refused(f, lm_body_add_impulse(f->world, f->body, bad, origin), LM_ERROR_ARGUMENT);
        assert_refused(f, lm_body_add_particle_impulse(f->world, f->body, 0, bad), LM_ERROR_ARGUMENT);
    }
    assert_refused(f, lm_body_add_impulse(f->world, f->body, (lm_vec3){1, 0, 0}, nowhere), LM_ERROR_ARGUMENT);
    assert_refused(f, lm_body_set_state(f->world, f->body, nowhere, x, v), LM_ERROR_ARGUMENT);
    assert_refused(f, lm_body_add_particle_force(f->world, f->body, 36, (lm_vec3){0}), LM_ERROR_ARGUMENT);
    assert_refused(f, lm_body_add_particle_impulse(f->world, f->body, UINT32_MAX, (lm_vec3){0}), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_set_state(f->world, f->body, origin, x, v));
}

static void colliders_movers_and_fields(void **context)
{
    fixture *f = *context;
    lm_collider_def collider, good_collider = lm_collider_def_default();
    lm_collider_id collider_id;
#define REFUSE(change)                                                                                                 \
    do {                                                                                                               \
        collider = good_collider;                                                                                      \
        change;                                                                                                        \
        assert_refused(f, lm_collider_create(f->world, &collider, &collider_id), LM_ERROR_ARGUMENT);                   \
    } while (0)
    REFUSE(collider.cookie = 7);
    REFUSE(collider.shape = LM_SHAPE_COUNT);
    REFUSE((collider.shape = LM_SHAPE_SPHERE, collider.radius = 0.0f));
    REFUSE((collider.shape = LM_SHAPE_CAPSULE, collider.half_length = -1.0f));
    REFUSE((collider.shape = LM_SHAPE_BOX, collider.half_extents.y = 0.0f));
    REFUSE((collider.shape = LM_SHAPE_HEIGHTS));
    REFUSE((collider.shape = LM_SHAPE_MESH));
    give_arrays(&good_collider);
    float steep[12] = {0};
    steep[5] = (float)NAN;
    REFUSE((collider.shape = LM_SHAPE_HEIGHTS, collider.heights.heights = steep));
    REFUSE((collider.shape = LM_SHAPE_HEIGHTS, collider.heights.spacing = 0.0f));
    REFUSE((collider.shape = LM_SHAPE_HEIGHTS, collider.heights.counts[1] = 1));
    REFUSE((collider.shape = LM_SHAPE_MESH, collider.mesh.vertex_count = 3));
    REFUSE((collider.shape = LM_SHAPE_MESH, collider.mesh.triangle_count = 0));
    REFUSE(collider.friction = -0.1f);
    REFUSE(collider.restitution = 1.5f);
    REFUSE((collider.pose.rotation = (lm_quat){0, 0, 0, 0}));
    for (int k = 0; k < 3; k++) {
        REFUSE((collider.shape = LM_SHAPE_SPHERE, collider.radius = not_finite[k]));
        REFUSE((collider.shape = LM_SHAPE_BOX, collider.half_extents.z = not_finite[k]));
        REFUSE(collider.pose.position.z = (double)not_finite[k]);
        REFUSE(collider.friction = not_finite[k]);
        REFUSE(collider.restitution = not_finite[k]);
    }
#undef REFUSE
    lm_mover_def mover;
    lm_mover_id mover_id;
    lm_pose pose = lm_pose_identity();
    for (int k = 0; k < 3; k++) {
        lm_vec3 bad = {not_finite[k], 0, 0};
        mover = lm_mover_def_default();
        mover.velocity = bad;
        assert_refused(f, lm_mover_create(f->world, &mover, &mover_id), LM_ERROR_ARGUMENT);
        assert_refused(f, lm_mover_set_velocity(f->world, f->mover, bad, (lm_vec3){0}), LM_ERROR_ARGUMENT);
        assert_refused(f, lm_mover_set_velocity(f->world, f->mover, (lm_vec3){0}, bad), LM_ERROR_ARGUMENT);
        pose.position.y = (double)not_finite[k];
        assert_refused(f, lm_mover_move_to(f->world, f->mover, pose), LM_ERROR_ARGUMENT);
    }
    mover = lm_mover_def_default();
    mover.cookie++;
    assert_refused(f, lm_mover_create(f->world, &mover, &mover_id), LM_ERROR_ARGUMENT);

    lm_field_def field = lm_field_def_default();
    lm_field_id field_id;
    assert_ok(lm_field_create(f->world, &field, &field_id));
    for (int k = 0; k < 7; k++) {
        field = lm_field_def_default();
        if (k < 3) field.vector.x = not_finite[k];
        if (k == 3) field.kind = LM_FIELD_KIND_COUNT;
        if (k == 4) field.cookie = 0;
        if (k == 5) field.kind = LM_FIELD_WIND, field.strength = -1.0f;
        if (k == 6) field.kind = LM_FIELD_POINT, field.radius = 0.0f;
        lm_field_id other;
        assert_refused(f, lm_field_create(f->world, &field, &other), LM_ERROR_ARGUMENT);
        assert_refused(f, lm_field_set(f->world, field_id, &field), LM_ERROR_ARGUMENT);
    }
}

static void pins_drags_and_skins(void **context)
{
    fixture *f = *context;
    uint32_t particles[3] = {0, 1, 2}, outside[2] = {0, 36}, twice[2] = {4, 4}, beside[2] = {5, 2};
    lm_dvec3 targets[3] = {{0, 0, 0}, {NAN, 0, 0}, {0, 0, 0}};
    lm_pin_def good = lm_pin_def_default(), pin;
    lm_pin_id id, unmade;
    good.body = f->body;
    good.particles = particles;
    good.particle_count = 3;
#define REFUSE(change)                                                                                                 \
    do {                                                                                                               \
        pin = good;                                                                                                    \
        change;                                                                                                        \
        assert_refused(f, lm_pin_create(f->world, &pin, &unmade), LM_ERROR_ARGUMENT);                                  \
    } while (0)
    REFUSE(pin.cookie = 0);
    REFUSE(pin.particle_count = 0);
    REFUSE(pin.particles = NULL);
    REFUSE((pin.particles = outside, pin.particle_count = 2));
    REFUSE((pin.particles = twice, pin.particle_count = 2));
    REFUSE(pin.targets = targets);
    assert_ok(lm_pin_create(f->world, &good, &id));
    REFUSE((pin.particles = beside, pin.particle_count = 2)); /* 2 is held already */
#undef REFUSE
    assert_ok(lm_pin_destroy(f->world, id));
    assert_refused(f, lm_pin_destroy(f->world, id), LM_ERROR_ID);
    assert_ok(lm_pin_create(f->world, &good, &id));

    lm_drag_def drag;
    lm_drag_id drag_id;
    for (int k = 0; k < 11; k++) {
        drag = lm_drag_def_default();
        drag.body = f->body;
        if (k < 3) drag.hertz = not_finite[k];
        if (k == 3) drag.hertz = 0.0f;
        if (k == 4) drag.cookie = 1;
        if (k == 5) drag.particle = 36;
        if (k == 6) drag.radius = -1.0f;
        if (k == 7) drag.damping_ratio = -1.0f;
        if (k == 8) drag.max_force = 0.0f;
        if (k == 9) drag.target.x = NAN;
        if (k == 10) drag.radius = (float)NAN;
        assert_refused(f, lm_drag_create(f->world, &drag, &drag_id), LM_ERROR_ARGUMENT);
    }
    drag = lm_drag_def_default();
    drag.body = f->body;
    assert_ok(lm_drag_create(f->world, &drag, &drag_id));
    assert_refused(f, lm_drag_set_target(f->world, drag_id, (lm_dvec3){0, INFINITY, 0}), LM_ERROR_ARGUMENT);

    lm_vec3 vertices[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, out[3];
    uint32_t triangle[3] = {0, 1, 2}, bad_triangle[3] = {0, 1, 3};
    lm_skin_def skin;
    assert_refused(f, lm_body_get_skin(f->world, f->body, lm_dvec3_zero(), out, NULL), LM_ERROR_ARGUMENT);
    assert_refused(f, lm_body_get_skin_triangles(f->world, f->body, triangle), LM_ERROR_ARGUMENT);
    for (int k = 0; k < 4; k++) {
        skin = lm_skin_def_default();
        skin.vertices = vertices;
        skin.vertex_count = 3;
        skin.triangles = k == 0 ? bad_triangle : triangle;
        skin.triangle_count = 1;
        if (k == 1) vertices[1].y = (float)NAN;
        if (k == 2) skin.cookie = 0;
        if (k == 3) skin.vertices = NULL;
        assert_refused(f, lm_body_set_skin(f->world, f->body, &skin), LM_ERROR_ARGUMENT);
        vertices[1].y = 0.0f;
    }
}

/* A world that was given nothing but nonsense goes on as if nothing had been asked. */
static void ids_of_another_world_are_refused_or_harmless(void **context)
{
    fixture *f = *context;
    lm_world *other = make_world(0.0);
    assert_false(lm_body_is_valid(other, f->body));
    assert_result(lm_body_destroy(other, f->body), LM_ERROR_ID);
    lm_world_destroy(other);
    lm_body_id ids[2];
    assert_int_equal(lm_world_get_bodies(f->world, ids, 2), 1);
    assert_int_equal(ids[0].slot, f->body.slot);
    assert_int_equal(ids[0].generation, f->body.generation);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts),
        cmocka_unit_test(world_definitions),
        WITH_WORLD(world_settings),
        WITH_WORLD(stale_and_wrong_ids),
        cmocka_unit_test(freed_slots_are_used_again),
        cmocka_unit_test(the_hash_sees_every_coordinate),
        WITH_WORLD(destroyed_things_stay_destroyed),
        WITH_WORLD(body_definitions),
        WITH_WORLD(materials),
        WITH_WORLD(states_and_forces),
        WITH_WORLD(colliders_movers_and_fields),
        WITH_WORLD(pins_drags_and_skins),
        WITH_WORLD(ids_of_another_world_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
