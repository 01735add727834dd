/*
 * Contacts that are solved on an OpenCL device: bodies of all kinds in a heap agree with the CPU, keep their momentum, are the
 * same in every run, remember what they were given when the state goes to the CPU and back, and leave what is too fast to it.
 */
#include "gpu/solve.h"
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define SIDE 3
#define BODIES (SIDE * SIDE * SIDE)

typedef enum kind { CLUSTERS, LATTICES, OCTREES, MIXED } kind;

/* How a body begins. */
typedef struct start {
    lm_dvec3 at;
    lm_vec3 velocity;
    uint32_t mask; /* 0: it does not see others */
} start;

static void set_def(lm_body_def *def, start from)
{
    def->material.hertz = 8.0f; /* softer ones are in braced_heap */
    def->material.damping_ratio = 0.1f;
    def->material.restitution = 0.3f;
    def->mask = from.mask;
    def->group = 1;
    def->pose.position = from.at;
    def->velocity = from.velocity;
    def->spin = (lm_vec3){0.3f, 0.1f, -0.2f};
}

static lm_body_id add_sample(lm_world *world, sample_kind which, start from, uint64_t seed)
{
    random_state random = {seed};
    sample s = sample_make(which, &random);
    set_def(&s.def, from);
    lm_body_id id = make_body(world, &s.def);
    sample_free(&s);
    return id;
}

/* A lattice, about as large as the samples. */
static lm_body_id add_soft_lattice(lm_world *world, start from)
{
    uint8_t filled[4 * 4 * 4];
    memset(filled, 1, sizeof filled);
    filled[0] = filled[5] = 0;
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = filled;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 4;
    def.lattice.spacing = 0.2f;
    def.lattice.width = 1;
    def.mass = 2.0f;
    set_def(&def, from);
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

static lm_body_id add_octree(lm_world *world, start from)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){-0.4f, -0.4f, -0.4f}, (lm_vec3){0.4f, 0.4f, 0.4f});
    lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.2f);
    def.mass = 2.0f;
    set_def(&def, from);
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

/* A heap of bodies that overlap a little and come together. */
static void fill_moving(lm_world *world, kind of, double apart, uint32_t mask, float down, lm_body_id ids[BODIES])
{
    static const sample_kind kinds[] = {SAMPLE_BLOB, SAMPLE_GRID, SAMPLE_BOX, SAMPLE_TETS, SAMPLE_ROD};
    apart += of == LATTICES ? 0.05 : 0.0; /* balls around their particles reach further */
    random_state random = {9};
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, 0.0f, 0.0f}));
    for (uint32_t n = 0; n < BODIES; n++) {
        lm_dvec3 at = {apart * (n % SIDE), apart * (n / SIDE % SIDE), apart * (n / SIDE / SIDE)};
        ref_vec off = random_in_cube(&random, 0.1 * apart), v = random_in_cube(&random, 0.4);
        double middle = 0.5 * apart * (SIDE - 1);
        lm_vec3 velocity = {(float)(v.x - 0.6 * (at.x - middle)), (float)(v.y - 0.6 * (at.y - middle)) - down,
                            (float)(v.z - 0.6 * (at.z - middle))};
        at = (lm_dvec3){at.x + off.x, at.y + off.y, at.z + off.z};
        start from = {at, velocity, mask};
        kind here = of == MIXED ? (kind)(n % 3) : of;
        ids[n] = here == LATTICES  ? add_soft_lattice(world, from)
                 : here == OCTREES ? add_octree(world, from)
                                   : add_sample(world, kinds[n % 5], from, n);
    }
}

static void fill(lm_world *world, kind of, double apart, uint32_t mask, lm_body_id ids[BODIES])
{
    fill_moving(world, of, apart, mask, 0.0f, ids);
}

/* From several states on the way one step of the device agrees with one of the host. Returns the largest push. */
static double compare(lm_world *host, lm_world *device, const lm_body_id ids[BODIES], int snapshots, double *worst)
{
    double pushed = 0.0;
    for (int snapshot = 0; snapshot < snapshots; snapshot++) {
        copy_world(device, host);
        lm_body_info before[BODIES], after;
        for (int n = 0; n < BODIES; n++) assert_ok(lm_body_get_info(host, ids[n], &before[n]));
        for (int step = 1; step <= 2; step++) {
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2)); /* all of it was the device's */
            assert_ok(lm_world_step(host, FRAME));
            double off = 0.0;
            for (int n = 0; n < BODIES; n++) {
                off = fmax(off, difference(host, device, ids[n]) / step);
                assert_ok(lm_body_get_info(device, ids[n], &after));
                pushed = fmax(pushed, fabs((double)after.velocity.x - before[n].velocity.x));
            }
            if (getenv("LIMBER_TEST_VERBOSE"))
                print_message("%d.%d: %g, %u contacts\n", snapshot, step, off, device->gpu->solver->contact_count);
            *worst = fmax(*worst, off);
        }
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(host, FRAME));
    }
    return pushed;
}

static void heaps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const double apart[] = {0.7, 0.78, 0.78, 0.72};
    for (kind of = CLUSTERS; of <= MIXED; of++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(host, of, apart[of], 1, ids);
        double worst = 0.0, pushed = compare(host, device, ids, 4, &worst);
        if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
            print_message("kind %d: worst %g, of pushes of %g\n%s", of, worst, pushed, log.all);
        assert_int_equal(log.count, 0);
        assert_true(pushed > 0.03); /* bodies do touch */
        assert_at_most(worst, AGREEMENT);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

static lm_dvec3 momentum_of(lm_world *world)
{
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    return totals.momentum;
}

/* Contacts give and take alike, and every run is the same. */
static void contacts_keep_momentum(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint64_t hash[2];
    for (int run = 0; run < 2; run++) {
        lines log = {0};
        lm_world *world = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(world, MIXED, 0.72, 1, ids);
        lm_dvec3 before = momentum_of(world);
        for (int n = 0; n < 20; n++) assert_ok(lm_world_step(world, FRAME));
        lm_dvec3 after = momentum_of(world);
        assert_near(after.x, before.x, 1e-3);
        assert_near(after.y, before.y, 1e-3);
        assert_near(after.z, before.z, 1e-3);
        hash[run] = lm_world_hash(world);
        assert_true(lmi_gpu_goes_on(world, FRAME / 2));
        lm_world_destroy(world);
    }
    assert_true(hash[0] == hash[1]);
}

/* What points were given goes to the CPU with the state: a copy of the world goes on as the device does. */
static void contacts_are_remembered(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id ids[BODIES];
    fill(device, MIXED, 0.72, 1, ids);
    double worst = 0.0, warmest = 0.0;
    for (int n = 0; n < 12; n++) {
        assert_ok(lm_world_step(device, FRAME));
        if (n % 4 != 3) continue;
        copy_world(host, device);
        for (int k = 0; k < BODIES; k++) {
            const lmi_body *body = lmi_body_at(host, (uint32_t)k);
            for (uint32_t i = 0; i < body->touch.count; i++) warmest = fmax(warmest, body->touch.warm[i].pressed);
        }
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
        for (int k = 0; k < BODIES; k++) worst = fmax(worst, difference(host, device, ids[k]));
    }
    assert_int_equal(log.count, 0);
    assert_true(warmest > 0.01);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* One body in the middle of another: all points look away, and both part along the line between their middles. */
static void nested_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, 0.0f, 0.0f}));
    lm_body_id large = add_octree(host, (start){{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f}, 1});
    lm_body_id small = add_sample(host, SAMPLE_CELL, (start){{0.05, 0.02, 0.01}, {0.0f, 0.0f, 0.0f}, 1}, 3);
    copy_world(device, host);
    for (int n = 0; n < 10; n++) {
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
        assert_true(lmi_gpu_goes_on(device, FRAME / 2));
        assert_at_most(difference(host, device, large), AGREEMENT * (n + 1));
        assert_at_most(difference(host, device, small), AGREEMENT * (n + 1));
    }
    lm_body_info info;
    assert_ok(lm_body_get_info(device, small, &info));
    assert_true(info.velocity.x > 0.0f || info.centre.x > 0.06); /* it comes out */
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void add_collider(lm_world *world, lm_shape shape, lm_dvec3 at)
{
    lm_collider_def def = lm_collider_def_default();
    def.shape = shape;
    def.radius = 0.4f;
    def.half_extents = (lm_vec3){0.5f, 0.3f, 0.4f};
    def.pose.position = at;
    def.friction = 0.8f;
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &def, &id));
}

/* A heap in a corner of planes, on a sphere, a capsule and a box; `apart`: bodies do not see each other, and touch colliders
 * with points on their surfaces all the same. */
static void heap_on_colliders(kind of, bool apart, int others)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    device->gpu->limits.levels = 1000000; /* however long that takes */
    lm_body_id ids[BODIES];
    fill(host, of, 0.72, apart ? 0 : 1, ids);
    assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, -5.0f, 0.0f}));
    for (int n = 0; n < others; n++)
        add_collider(host, LM_SHAPE_SPHERE, (lm_dvec3){50.0 + n, -10.0, 0.0}); /* far away */
    add_collider(host, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.5, 0.0});
    add_collider(host, LM_SHAPE_SPHERE, (lm_dvec3){0.2, -0.45, 0.1});
    add_collider(host, LM_SHAPE_CAPSULE, (lm_dvec3){1.3, -0.3, 1.2});
    add_collider(host, LM_SHAPE_BOX, (lm_dvec3){0.7, -0.4, 1.3});
    double worst = 0.0;
    uint32_t touching = 0;
    for (int snapshot = 0; snapshot < 5; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 2; step++) {
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2));
            assert_ok(lm_world_step(host, FRAME));
            for (int n = 0; n < BODIES; n++) worst = fmax(worst, difference(host, device, ids[n]) / step);
            lm_stats a, b;
            lm_world_get_stats(host, &a);
            lm_world_get_stats(device, &b);
            touching += a.contacts;
            assert_true(abs((int)a.contacts - (int)b.contacts) <= 2);
            assert_near(b.outside_impulse.y, a.outside_impulse.y, 1e-3);
            if (getenv("LIMBER_TEST_VERBOSE"))
                print_message("%d.%d: %g, %u contacts of %u\n", snapshot, step, worst, b.contacts, a.contacts);
        }
        for (int n = 0; n < 4; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
        print_message("kind %d: worst %g, %u contacts\n%s", of, worst, touching, log.all);
    assert_int_equal(log.count, 0);
    assert_true(touching > 100);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void colliders_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    heap_on_colliders(MIXED, false, 40); /* more than bits of a word, fewer than 64 */
    heap_on_colliders(OCTREES, true, 0);
}

/* A heap that falls so fast that its bodies answer as a whole, onto colliders. */
static void fast_heap(kind of, float down, uint32_t mask)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    device->gpu->limits.levels = 1000000; /* however long that takes */
    lm_body_id ids[BODIES];
    fill_moving(host, of, 0.76, mask, down, ids);
    assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, -9.81f, 0.0f}));
    add_collider(host, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.6, 0.0});
    add_collider(host, LM_SHAPE_SPHERE, (lm_dvec3){0.2, -0.6, 0.1});
    add_collider(host, LM_SHAPE_BOX, (lm_dvec3){0.7, -0.6, 1.3});
    double worst = 0.0;
    uint32_t whole = 0, mine = 0;
    for (int n = 0; n < 8; n++) {
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(host, FRAME));
        if (!lmi_gpu_goes_on(device, FRAME)) continue; /* stretched too far */
        double off = 0.0;
        for (int k = 0; k < BODIES; k++) off = fmax(off, difference(host, device, ids[k]));
        worst = fmax(worst, off);
        mine++;
        whole += device->gpu->solver->most_whole;
        if (getenv("LIMBER_TEST_VERBOSE")) print_message("%d: %g, %u whole\n", n, off, device->gpu->solver->most_whole);
    }
    if (worst > AGREEMENT || getenv("LIMBER_TEST_VERBOSE"))
        print_message("kind %d: worst %g, %u contacts, %u steps\n%s", of, worst, whole, mine, log.all);
    assert_true(mine > 4 && whole > 60);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void fast_heaps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    fast_heap(CLUSTERS, 4.0f, 1);
    fast_heap(LATTICES, 6.0f, 1);
    fast_heap(OCTREES, 6.0f, 0);
    fast_heap(MIXED, 8.0f, 1);
}

/* A body that flies through another in a substep meets it on its way. */
static void fast_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    device->gpu->limits.levels = 1000000;
    lm_body_id still = add_sample(host, SAMPLE_GRID, (start){{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f}, 1}, 1);
    lm_body_id fast = add_sample(host, SAMPLE_GRID, (start){{5.1, 0.2, 0.1}, {-70.0f, 0.0f, 0.0f}, 1}, 1);
    lm_body_info info;
    for (int n = 0; n < 6; n++) {
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(host, FRAME));
        assert_true(lmi_gpu_goes_on(device, FRAME));
        if (getenv("LIMBER_TEST_VERBOSE"))
            print_message("%d: %g, %u whole\n", n,
                          fmax(difference(host, device, still), difference(host, device, fast)),
                          device->gpu->solver->most_whole);
        assert_at_most(difference(host, device, still), AGREEMENT);
        assert_at_most(difference(host, device, fast), AGREEMENT);
    }
    assert_ok(lm_body_get_info(device, still, &info));
    assert_true(info.velocity.x < -5.0f);
    assert_int_equal(log.count, 0);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* More bodies around one than are looked at: the CPU steps them, from a state that nothing was done to. */
static void crowded_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    for (int n = 0; n < 70; n++)
        add_sample(host, SAMPLE_CELL, (start){{0.0005 * n, 0.001 * (n % 7), 0.0}, {0.0f, 0.0f, 0.0f}, 1}, 1);
    copy_world(device, host);
    assert_ok(lm_world_step(device, FRAME));
    assert_ok(lm_world_step(host, FRAME));
    assert_false(lmi_gpu_goes_on(device, FRAME));
    assert_true(lm_world_hash(host) == lm_world_hash(device));
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "more than 64 others around them"));
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* A heap of bodies of one stiffness, some of them heavy, that falls together onto a floor: they brace themselves (contact/brace.h). */
static void braced_heap(kind of, double hertz, double apart, float down, uint32_t substeps, uint32_t least)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, substeps, &quiet), *device = world_on("gpu", substeps, &log);
    device->gpu->limits.levels = 1000000; /* however long that takes */
    lm_body_id ids[BODIES];
    fill_moving(host, of, apart, 1, down, ids);
    assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, -9.81f, 0.0f}));
    add_collider(host, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.5, 0.0});
    for (int n = 0; n < BODIES; n++) {
        lm_material m;
        assert_ok(lm_body_get_material(host, ids[n], &m));
        m.hertz = (float)hertz;
        assert_ok(lm_body_set_material(host, ids[n], &m));
        if (n % 4 == 3) assert_ok(lm_body_set_mass(host, ids[n], 20.0));
    }
    double worst = 0.0;
    uint32_t braced = 0, mine = 0;
    for (int n = 0; n < 12; n++) {
        copy_world(device, host);
        const uint32_t before = device->gpu->solver ? device->gpu->solver->bracing.substeps : 0;
        assert_ok(lm_world_step(device, FRAME));
        const bool own = lmi_gpu_goes_on(device, FRAME / substeps);
        const uint32_t after = device->gpu->solver->bracing.substeps;
        lm_dvec3 given[2];
        lm_stats stats;
        lm_world_get_stats(device, &stats);
        given[0] = stats.outside_impulse;
        assert_ok(lm_world_step(host, FRAME));
        lm_world_get_stats(host, &stats);
        given[1] = stats.outside_impulse;
        double off = 0.0;
        for (int k = 0; k < BODIES; k++) off = fmax(off, difference(host, device, ids[k]));
        if (getenv("LIMBER_TEST_VERBOSE"))
            print_message("%d: %g, %u braced substeps%s\n", n, off, after - before, own ? "" : ", not its own");
        if (own) {
            worst = fmax(worst, off);
            assert_near(given[0].y, given[1].y, 1e-3);
            mine++;
            braced += after - before;
        }
        assert_ok(lm_world_step(host, FRAME));
    }
    if (worst > AGREEMENT || braced < least || mine < 8 || getenv("LIMBER_TEST_VERBOSE"))
        print_message("kind %d, %g Hz: worst %g, %u braced substeps, %u steps of its own\n%s", of, hertz, worst, braced,
                      mine, log.all);
    assert_true(mine >= 8);
    assert_true(braced >= least);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void braced_heaps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    braced_heap(OCTREES, 1.0, 0.72, 1.0f, 1, 6);
    braced_heap(CLUSTERS, 6.0, 0.76, 1.0f, 2, 6);
    braced_heap(LATTICES, 6.0, 0.82, 2.0f, 2, 6);
    braced_heap(MIXED, 3.0, 0.78, 2.0f, 1, 4);
}

/* Whichever operation fails, the CPU goes on from a state that both have seen, and one line says so. */
static void lost_devices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t lost = 0;
    for (uint32_t operations = 40; operations < 400; operations += 53) {
        lines log = {0}, quiet = {0};
        lm_world *world = world_on(NULL, 2, &log), *host = world_on(NULL, 2, &quiet);
        const lmi_gpu_limits limits = {.operations = operations};
        lmi_gpu_open(world, "gpu", &limits);
        lm_body_id ids[BODIES];
        fill(world, CLUSTERS, 0.72, 1, ids);
        fill(host, CLUSTERS, 0.72, 1, ids);
        add_collider(world, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.3, 0.0});
        add_collider(host, LM_SHAPE_PLANE, (lm_dvec3){0.0, -0.3, 0.0});
        for (int n = 0; n < 3; n++) {
            assert_ok(lm_world_step(world, FRAME));
            assert_ok(lm_world_step(host, FRAME));
            lm_world_hash(world); /* nothing but a substep is lost then: this brings the state */
        }
        lost += world->gpu->lost;
        assert_int_equal(log.count, world->gpu->lost ? 1 : 0);
        bool whole = strstr(log.all, "and 1 substeps") == NULL; /* else half a step is missing */
        for (int k = 0; k < BODIES && whole && !strstr(log.all, "and 2 substeps"); k++)
            assert_at_most(difference(host, world, ids[k]), 3 * AGREEMENT);
        lm_world_destroy(world);
        lm_world_destroy(host);
    }
    assert_true(lost > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heaps_agree),
                                       cmocka_unit_test(contacts_keep_momentum),
                                       cmocka_unit_test(contacts_are_remembered),
                                       cmocka_unit_test(nested_bodies),
                                       cmocka_unit_test(colliders_agree),
                                       cmocka_unit_test(fast_heaps_agree),
                                       cmocka_unit_test(fast_bodies),
                                       cmocka_unit_test(crowded_bodies),
                                       cmocka_unit_test(braced_heaps_agree),
                                       cmocka_unit_test(lost_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
