/*
 * Bodies that touch themselves, and bodies that were cut, on an OpenCL device: from several states one step there agrees with one on the
 * CPU, contacts and all, and all of it is the device's.
 */
#include "gpu/solve.h"
#include "test/gpu/device.h"
#include "test/support/boxes.h"

typedef enum kind { CLUSTERS, LATTICE, OCTREE, KINDS } kind;

static const char *const names[] = {"clusters", "lattice", "octree"};

#define LENGTH 2.4
#define THICK 0.3

static void make_soft(lm_body_def *def)
{
    def->mass = 2.0f;
    def->material.hertz = 4.0f;
    def->material.damping_ratio = 0.1f;
    def->material.restitution = 0.3f;
    def->group = 1;
    def->mask = 1;
    def->self_contact = true;
}

static lm_body_id add_bar_of_clusters(lm_world *world)
{
    lm_vec3 points[25 * 4 * 4];
    for (int n = 0; n < 25 * 16; n++)
        points[n] =
            (lm_vec3){0.1f * (float)(n / 16) - 1.2f, 0.1f * (float)(n / 4 % 4) - 0.15f, 0.1f * (float)(n % 4) - 0.15f};
    lm_body_def def = lm_body_def_default();
    def.points = points;
    def.point_count = 25 * 16;
    def.clusters.counts[0] = 8;
    def.clusters.counts[1] = def.clusters.counts[2] = 1;
    def.clusters.overlap = 0.5f;
    make_soft(&def);
    return make_body(world, &def);
}

static lm_body_id add_bar_of_cells(lm_world *world)
{
    uint8_t filled[24 * 3 * 3];
    memset(filled, 1, sizeof filled);
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = filled;
    def.lattice.counts[0] = 24;
    def.lattice.counts[1] = def.lattice.counts[2] = 3;
    def.lattice.spacing = 0.1f;
    def.lattice.width = 1;
    make_soft(&def);
    return make_body(world, &def);
}

static lm_body_id add_box(lm_world *world, lm_vec3 size, lm_dvec3 at, bool self)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){-0.5f * size.x, -0.5f * size.y, -0.5f * size.z},
              (lm_vec3){0.5f * size.x, 0.5f * size.y, 0.5f * size.z});
    lm_body_def def = boxes_octree(&b, 0.1f, 1, 0.25f);
    make_soft(&def);
    def.self_contact = self;
    def.pose.position = at;
    return make_body(world, &def);
}

static lm_body_id add_bar(lm_world *world, kind of)
{
    return of == CLUSTERS ? add_bar_of_clusters(world)
           : of == LATTICE
               ? add_bar_of_cells(world)
               : add_box(world, (lm_vec3){(float)LENGTH, (float)THICK, (float)THICK}, lm_dvec3_zero(), true);
}

/* The bar as a ring whose ends are a little in each other; it flies along z. */
static void bend(lm_world *world, lm_body_id id, float along)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *x = malloc(2 * info.particles * sizeof *x), *v = x + info.particles;
    double low = 1e9, high = -1e9, middle[3] = {info.centre.x, info.centre.y, info.centre.z};
    assert_ok(lm_body_get_positions(world, id, info.centre, x));
    for (uint32_t n = 0; n < info.particles; n++) low = fmin(low, x[n].x), high = fmax(high, x[n].x);
    double radius = (high - low) / 6.5;
    for (uint32_t n = 0; n < info.particles; n++) {
        double angle = x[n].x / radius, r = radius + x[n].y;
        x[n].x = (float)(r * sin(angle)), x[n].y = (float)(radius - r * cos(angle));
        v[n] = (lm_vec3){(float)(-0.3 * x[n].x), (float)(0.2 * x[n].y), along};
    }
    assert_ok(lm_body_set_state(world, id, (lm_dvec3){middle[0], middle[1], middle[2]}, x, v));
    free(x);
}

static uint32_t pairs; /* events of bodies that press each other, or themselves */

/* How far the two worlds are apart after a step of each from the same state, over several states; `contacts` of the device. What they tell
 * of it is the same too. */
static double compare(lm_world *host, lm_world *device, const lm_body_id *ids, int count, int states,
                      uint32_t *contacts)
{
    lm_stats stats;
    lm_world_get_stats(host, &stats);
    double worst = 0.0, h = FRAME / stats.substeps, told = 0.0;
    uint32_t walls = 0;
    *contacts = 0;
    assert_ok(lm_world_set_contact_events(host, true));
    for (int n = 0; n < states; n++) {
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_true(lmi_gpu_goes_on(device, h)); /* all of it was the device's */
        assert_ok(lm_world_step(host, FRAME));
        double off = 0.0;
        for (int k = 0; k < count; k++) off = fmax(off, difference(host, device, ids[k]));
        if (getenv("LIMBER_TEST_VERBOSE"))
            print_message("%d: %g, %u contacts\n", n, off, device->gpu->solver->contact_count);
        told = fmax(told, compare_events(host, device, &pairs, &walls));
        *contacts += device->gpu->solver->contact_count;
        worst = fmax(worst, off);
    }
    assert_at_most(told, 2e-3);
    return worst;
}

static void rings_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    pairs = 0;
    for (kind of = CLUSTERS; of < KINDS; of++) {
        for (int fast = 0; fast < 2; fast++) { /* so fast that it answers as a whole */
            lines log = {0}, quiet = {0};
            uint32_t substeps = fast ? 1 : 2, contacts;
            lm_world *host = world_on(NULL, substeps, &quiet), *device = world_on("gpu", substeps, &log);
            device->gpu->limits.levels = 1000000;
            assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, 0.0f, 0.0f}));
            lm_body_id id = add_bar(host, of);
            bend(host, id, fast ? 20.0f : 0.1f);
            double worst = compare(host, device, &id, 1, 4, &contacts);
            if (worst > AGREEMENT || getenv("LIMBER_TEST_VERBOSE"))
                print_message("ring of %s: %g, %u contacts\n%s", names[of], worst, contacts, log.all);
            assert_true(contacts > 10);
            assert_true((device->gpu->solver->most_whole > 0) == (fast == 1));
            assert_int_equal(log.count, 0);
            assert_at_most(worst, AGREEMENT);
            lm_world_destroy(host);
            lm_world_destroy(device);
        }
    }
    assert_true(pairs > 8);
}

/* --- cuts --- */

static void cut_across(lm_world *world, lm_body_id body, double y, double x0, double x1)
{
    lm_dvec3 from[2] = {{x0, y, -2}, {x0, y, 2}}, to[2] = {{x1, y, -2}, {x1, y, 2}};
    lm_cut_info info;
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &info));
    assert_true(info.links > 0);
}

/* Sets what is above a height going one way and what is below going the other, and all of it along z; and lifts the upper part. */
static void send(lm_world *world, lm_body_id body, double y, float speed, float along, float lift)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *rest = malloc(3 * info.particles * sizeof *rest), *at = rest + info.particles, *v = at + info.particles;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    for (uint32_t n = 0; n < info.particles; n++) {
        v[n] = (lm_vec3){0.1f, rest[n].y > y ? -speed : speed, along};
        at[n].y += rest[n].y > y ? lift : 0.0f;
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, v));
    free(rest);
}

/* The sides of a cut that goes through, and of a slit, are pressed together; and of one that flies so fast that it would answer as a
 * whole if it were whole. */
static void sides_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int way = 0; way < 3; way++) {
        bool slit = way == 1, fast = way == 2;
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, 0.0f, 0.0f}));
        lm_body_id id = add_box(host, (lm_vec3){1.0f, 1.0f, 1.0f}, lm_dvec3_zero(), true);
        cut_across(host, id, 0.02, -2.0, slit ? 0.25 : 2.0);
        send(host, id, 0.02, 1.0f, fast ? 60.0f : 0.0f, 0.0f);
        uint32_t contacts;
        double worst = compare(host, device, &id, 1, 8, &contacts);
        if (worst > AGREEMENT || getenv("LIMBER_TEST_VERBOSE"))
            print_message("sides: %g, %u contacts\n%s", worst, contacts, log.all);
        assert_true(device->gpu->solver->self.disc_count > 50);
        assert_true(contacts > 100);
        assert_int_equal(log.count, 0);
        assert_at_most(worst, AGREEMENT);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* A plate in the gap between the halves of a box: it touches the faces of the cut, and nothing else. */
static void plates_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int self = 0; self < 2; self++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, 0.0f, 0.0f}));
        lm_body_id ids[2];
        ids[0] = add_box(host, (lm_vec3){1.0f, 1.0f, 1.0f}, lm_dvec3_zero(), self);
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME)); /* it knows the body before it is cut */
        cut_across(host, ids[0], 0.02, -2.0, 2.0);
        send(host, ids[0], 0.02, 0.5f, 0.0f, 0.24f);
        ids[1] = add_box(host, (lm_vec3){0.63f, 0.21f, 0.57f}, (lm_dvec3){-0.31, 0.137, 0.053}, false);
        shake(host, ids[1], 0.01, 5); /* nothing lies on an edge */
        uint32_t contacts;
        double worst = compare(host, device, ids, 2, 6, &contacts);
        if (worst > AGREEMENT || getenv("LIMBER_TEST_VERBOSE"))
            print_message("plate: %g, %u contacts\n%s", worst, contacts, log.all);
        assert_true(contacts > 50);
        assert_int_equal(log.count, 0);
        assert_at_most(worst, AGREEMENT);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* Clusters and tetrahedra that were cut touch others as before. */
static void cut_clusters_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const sample_kind kinds[] = {SAMPLE_GRID, SAMPLE_TETS, SAMPLE_BLOB, SAMPLE_GRID};
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, 0.0f, 0.0f}));
    lm_body_id ids[4];
    for (int n = 0; n < 4; n++) {
        random_state random = {(uint64_t)n};
        sample s = sample_make(kinds[n], &random);
        make_soft(&s.def);
        s.def.self_contact = n % 2;
        s.def.pose.position = (lm_dvec3){0.62 * (n % 2), 0.62 * (n / 2), 0.0};
        s.def.velocity = (lm_vec3){n % 2 ? -1.0f : 1.0f, n / 2 ? -1.0f : 1.0f, 0.0f};
        ids[n] = make_body(host, &s.def);
        sample_free(&s);
        if (n < 2) cut_across(host, ids[n], 0.03, -2.0, 2.0);
    }
    assert_non_null(lmi_body_at(host, 0)->grain);
    uint32_t contacts;
    double worst = compare(host, device, ids, 4, 8, &contacts);
    if (worst > AGREEMENT || getenv("LIMBER_TEST_VERBOSE"))
        print_message("cut clusters: %g, %u contacts\n%s", worst, contacts, log.all);
    assert_true(contacts > 50);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rings_agree), cmocka_unit_test(sides_agree),
                                       cmocka_unit_test(plates_agree), cmocka_unit_test(cut_clusters_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
