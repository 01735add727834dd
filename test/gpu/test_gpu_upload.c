/*
 * What goes over to an OpenCL device and comes back when one body of many changes: its batch, and nothing of the others. What is in
 * its batch has the same bits afterwards as in a world where everything is brought back and laid out anew, and what is in others the same
 * as in a world where nothing has happened. All of it agrees with the CPU.
 */
#include "lattice/lattice_body.h"
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define CLUSTERS 120
#define LATTICES 32
#define TILED 3 /* lattices that are too large for one work-group */
#define OCTREES 4
#define BODIES (CLUSTERS + LATTICES + TILED + OCTREES)

typedef struct changes {
    lm_world *world
        [4]; /* the device; the device with everything laid out anew at each change; the CPU; a device without changes */
    lines log[4];
    bool touched[64]; /* batches */
    uint32_t changed;
    lm_body_id id[BODIES + 48];
    uint32_t count;
} changes;

static void place(lm_body_def *def, uint32_t n)
{
    def->material.hertz = 4.0f;
    def->material.damping_ratio = 0.2f;
    def->contact_points = LM_CONTACT_PARTICLES;
    def->pose.position = (lm_dvec3){10.0 * (n % 8), 10.0 * (n / 8), 0.0};
    def->velocity = (lm_vec3){0.3f, -0.5f, 0.01f * (float)n};
    def->spin = (lm_vec3){1.0f, 2.0f, -0.02f * (float)n};
}

static lm_body_id make_cluster(lm_world *world, uint32_t n)
{
    static const sample_kind kinds[] = {SAMPLE_GRID, SAMPLE_LARGE, SAMPLE_ROD, SAMPLE_LISTS};
    random_state random = {77 + n};
    sample s = sample_make(kinds[n % 4], &random);
    place(&s.def, n);
    s.def.material.mode = n % 3 ? LM_MODE_RIGID : LM_MODE_LINEAR;
    lm_body_id id = make_body(world, &s.def);
    sample_free(&s);
    return id;
}

static lm_body_id make_lattice(lm_world *world, uint32_t n, uint32_t cells)
{
    uint8_t *filled = malloc((size_t)cells * cells * cells);
    memset(filled, 1, (size_t)cells * cells * cells);
    filled[n % cells] = 0;
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = filled;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = cells;
    def.lattice.spacing = 0.1f;
    def.mass = 3.0f;
    place(&def, n);
    def.material.yield = cells == 4 && n % 4 == 1 ? 0.02f : 0.0f;
    def.material.creep = 5.0f;
    def.material.damping_kind = cells == 4 && n % 4 == 2 ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    free(filled);
    return id;
}

static lm_body_id make_octree(lm_world *world, uint32_t n)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.7f, 0.45f, 0.35f});
    lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.15f);
    def.octree.detail = 6.0f;
    place(&def, n);
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

/* Several batches of each kind of body. */
static void begin(changes *c)
{
    memset(c, 0, sizeof *c);
    for (int k = 0; k < 4; k++) {
        c->world[k] = world_on(k % 3 == 0 ? "gpu" : NULL, 1, &c->log[k]);
        const lmi_gpu_limits limits = {.whole = true};
        if (k == 1) lmi_gpu_open(c->world[1], "gpu", &limits);
        for (c->count = 0; c->count < BODIES; c->count++) {
            uint32_t n = c->count;
            c->id[n] = n < CLUSTERS                      ? make_cluster(c->world[k], n)
                       : n < CLUSTERS + LATTICES         ? make_lattice(c->world[k], n, 4)
                       : n < CLUSTERS + LATTICES + TILED ? make_lattice(c->world[k], n, 8)
                                                         : make_octree(c->world[k], n);
        }
        assert_ok(lm_world_step(c->world[k], FRAME));
    }
}

static void end(changes *c)
{
    for (int k = 0; k < 4; k++) {
        assert_int_equal(c->log[k].count, 0);
        lm_world_destroy(c->world[k]);
    }
}

/* What has gone over and come back since, in the two worlds on the device. */
typedef struct traffic {
    uint64_t read[2], written[2], patches;
} traffic;

static traffic traffic_of(const changes *c)
{
    traffic t = {.patches = c->world[0]->gpu->patches};
    for (int k = 0; k < 2; k++) {
        t.read[k] = c->world[k]->gpu->read_bytes;
        t.written[k] = c->world[k]->gpu->written_bytes;
    }
    return t;
}

/* A step in all worlds, and what has gone over since. */
static traffic step_all(changes *c, traffic before)
{
    for (int k = 0; k < 4; k++) assert_ok(lm_world_step(c->world[k], FRAME));
    assert_true(c->world[0]->gpu->holds);
    assert_true(c->world[1]->gpu->holds);
    traffic now = traffic_of(c);
    now.patches -= before.patches;
    for (int k = 0; k < 2; k++) {
        now.read[k] -= before.read[k];
        now.written[k] -= before.written[k];
    }
    return now;
}

static uint64_t bits_of(lm_world *world, lm_body_id id)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *x = malloc(2 * info.particles * sizeof *x);
    const lm_dvec3 base = {0.0, 0.0, 0.0};
    assert_ok(lm_body_get_positions(world, id, base, x));
    assert_ok(lm_body_get_velocities(world, id, x + info.particles));
    uint64_t bits = lmi_gpu_hash(x, 2 * info.particles * sizeof *x);
    free(x);
    return bits;
}

static uint32_t batch_of(const lm_world *world, lm_body_id id) { return lmi_body_at(world, id.slot - 1)->batch; }

/* Then one more step, so that nothing is here any more. */
static void check(changes *c, double allowed)
{
    uint32_t touched = 0, same = 0;
    for (uint32_t n = 0; n < c->count; n++) {
        if (!lm_body_is_valid(c->world[2], c->id[n])) continue;
        assert_at_most(difference(c->world[2], c->world[0], c->id[n]), allowed);
        if (!c->touched[batch_of(c->world[0], c->id[n])]) {
            assert_true(bits_of(c->world[0], c->id[n]) == bits_of(c->world[3], c->id[n]));
            same++;
        } else if (c->changed == 1) {
            assert_true(bits_of(c->world[0], c->id[n]) == bits_of(c->world[1], c->id[n]));
            touched++;
        }
    }
    assert_true(same > c->count / 4 && (touched || c->changed != 1));
    step_all(c, traffic_of(c));
}

/* A body is about to be changed: what its batch has. */
static void touch(changes *c, lm_body_id id)
{
    c->touched[batch_of(c->world[0], id)] = true;
    c->changed++;
}

/* State that a batch has: particles, rotations, lasting deformation and records. */
static uint64_t state_of(const lm_world *world, uint32_t batch)
{
    const lmi_pack *pack = &world->batches[batch].pack;
    uint64_t bytes = pack->particle_blocks * LMI_BLOCK * 32u + pack->lane_blocks * LMI_BLOCK * 15u * 4u +
                     world->batches[batch].body_count * sizeof(lmi_gpu_body);
    for (uint32_t n = 0; n < world->batches[batch].body_count; n++) {
        const lmi_lattice_body *lattice = lmi_body_at(world, world->batches[batch].bodies[n])->lattice;
        bytes += lattice && lattice->plastic.state ? (lattice->shape.block_count + 1) * LMI_BLOCK * 6u * 4u : 0;
    }
    return bytes;
}

/* The share of a world's particles that a batch has. */
static double share_of(const lm_world *world, uint32_t batch)
{
    uint64_t all = 0;
    for (uint32_t n = 0; n < world->batch_count; n++) all += world->batches[n].pack.particle_blocks;
    return (double)world->batches[batch].pack.particle_blocks / (double)all;
}

#define LITTLE 16384 /* bytes that may go over besides: lists of what is launched, colliders */

/* After a change of what is in one batch: that batch came back and went over, and no other. */
static void assert_one_batch(const changes *c, traffic t, uint64_t state, double share)
{
    if (getenv("LIMBER_TEST_VERBOSE"))
        print_message("read %llu of %llu (state %llu), written %llu of %llu (share %g), patches %llu\n",
                      (unsigned long long)t.read[0], (unsigned long long)t.read[1], (unsigned long long)state,
                      (unsigned long long)t.written[0], (unsigned long long)t.written[1], share,
                      (unsigned long long)t.patches);
    assert_int_equal(t.patches, 1);
    assert_true(t.read[0] > 0 && t.read[0] <= state + state / 8 + LITTLE / 4);
    assert_true(t.read[1] >= 3 * t.read[0]);
    assert_true(t.written[0] > 0 && (double)t.written[0] <= 2.0 * share * (double)t.written[1] + LITTLE);
    assert_true(t.written[1] >= 3 * t.written[0]);
    (void)c;
}

static lm_dvec3 centre_of(lm_world *world, lm_body_id id)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    return info.centre;
}

/* Where the body is is known before anything is counted. */
static void cut_in_two(lm_world *world, lm_body_id id, lm_dvec3 m)
{
    const lm_dvec3 corners[4] = {{m.x + 0.03, m.y - 5.0, m.z - 5.0},
                                 {m.x + 0.03, m.y + 5.0, m.z - 5.0},
                                 {m.x + 0.03, m.y + 5.0, m.z + 5.0},
                                 {m.x + 0.03, m.y - 5.0, m.z + 5.0}};
    const uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    lm_blade blade = lm_blade_default();
    blade.vertices = corners;
    blade.vertex_count = 4;
    blade.triangles = triangles;
    blade.triangle_count = 2;
    lm_cut_info cut;
    assert_ok(lm_body_cut(world, id, &blade, &cut));
    assert_true(cut.links > 0);
}

static void cuts(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    const uint32_t who[] = {24, CLUSTERS + LATTICES + TILED + 1, 24, 57};
    for (int n = 0; n < 4; n++) {
        lm_body_id id = c.id[who[n]];
        lm_dvec3 m = centre_of(c.world[2], id);
        uint64_t bytes = state_of(c.world[0], batch_of(c.world[0], id));
        double share = share_of(c.world[0], batch_of(c.world[0], id));
        touch(&c, id);
        traffic before = traffic_of(&c);
        for (int k = 0; k < 3; k++) cut_in_two(c.world[k], id, n == 2 ? (lm_dvec3){m.x + 0.11, m.y, m.z} : m);
        assert_one_batch(&c, step_all(&c, before), bytes, share);
        check(&c, 20 * AGREEMENT);
    }
    end(&c);
}

/* Many bodies of a batch at once: it outgrows its places, and what it has left there does nothing any more. */
static void batches_grow(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    const uint32_t batch = batch_of(c.world[0], c.id[24]),
                   first = c.world[0]->gpu->batch[batch].first[LMI_GPU_LANE_BLOCKS];
    for (int round = 0; round < 2; round++) {
        touch(&c, c.id[24]);
        for (uint32_t n = 0; n < CLUSTERS; n++) {
            if (n % 4 > 1 || batch_of(c.world[0], c.id[n]) != batch) continue;
            lm_dvec3 m = centre_of(c.world[2], c.id[n]);
            for (int k = 0; k < 3; k++) cut_in_two(c.world[k], c.id[n], (lm_dvec3){m.x + 0.2 * round, m.y, m.z});
        }
        traffic t = step_all(&c, traffic_of(&c));
        assert_int_equal(t.patches, 1);
        check(&c, 30 * AGREEMENT);
    }
    assert_true(c.world[0]->gpu->batch[batch].first[LMI_GPU_LANE_BLOCKS] != first);
    end(&c);
}

static void details(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    lm_body_id id = c.id[CLUSTERS + LATTICES + TILED + 2];
    for (int n = 0; n < 3; n++) { /* coarser, finer in the middle, and finer everywhere */
        lm_dvec3 m = centre_of(c.world[2], id);
        uint64_t bytes = state_of(c.world[0], batch_of(c.world[0], id));
        touch(&c, id);
        traffic before = traffic_of(&c);
        uint32_t changed = 0;
        for (int k = 0; k < 3; k++)
            assert_ok(lm_body_refine(c.world[k], id, m, n == 1 ? 0.3f : 2.0f, n == 0 ? 0.4f : 0.1f, &changed));
        assert_true(changed > 0);
        double share = share_of(c.world[2], batch_of(c.world[2], id));
        assert_one_batch(&c, step_all(&c, before), bytes, 2.0 * share);
        check(&c, 20 * AGREEMENT);
    }
    end(&c);
}

static void comes_and_goes(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    const uint32_t who[] = {30, CLUSTERS + 7, CLUSTERS + LATTICES + 1, CLUSTERS + LATTICES + TILED};
    for (int n = 0; n < 4; n++) {
        lm_body_id id = c.id[who[n]];
        uint64_t bytes = state_of(c.world[0], batch_of(c.world[0], id));
        double share = share_of(c.world[0], batch_of(c.world[0], id));
        touch(&c, id);
        traffic before = traffic_of(&c);
        for (int k = 0; k < 3; k++) assert_ok(lm_body_destroy(c.world[k], id));
        assert_one_batch(&c, step_all(&c, before), bytes, share);
        check(&c, 30 * AGREEMENT);
        for (int k = 0; k < 3; k++) { /* one of another kind, in the same slot */
            c.id[c.count] = n % 2 ? make_cluster(c.world[k], 70) : make_lattice(c.world[k], 71, 4);
        }
        touch(&c, c.id[c.count]);
        c.count++;
        step_all(&c, traffic_of(&c));
        check(&c, 30 * AGREEMENT);
    }
    end(&c);
}

/* What a buffer has more than before goes over, also where it is zeros. */
static void zeros_count(void **state)
{
    (void)state;
    const uint32_t words[4] = {7, 3, 5, 0};
    assert_true(lmi_gpu_hash(words, 12) != lmi_gpu_hash(words, 16));
    assert_true(lmi_gpu_hash(words, 1) != lmi_gpu_hash(words, 2));
    assert_true(lmi_gpu_hash(words, 16) == lmi_gpu_hash(words, 16));
}

/* Where everything was laid out anew: sums are others, and so are bits. */
static void check_all(changes *c, double allowed)
{
    for (uint32_t n = 0; n < c->count; n++) {
        if (lm_body_is_valid(c->world[2], c->id[n]))
            assert_at_most(difference(c->world[2], c->world[0], c->id[n]), allowed);
    }
    step_all(c, traffic_of(c));
}

/* No octree is left, others take their places, and octrees come back elsewhere. */
static void octrees_come_back(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    for (uint32_t n = CLUSTERS + LATTICES + TILED; n < CLUSTERS + LATTICES + TILED + OCTREES; n++) {
        for (int k = 0; k < 3; k++) assert_ok(lm_body_destroy(c.world[k], c.id[n]));
    }
    step_all(&c, traffic_of(&c));
    check_all(&c, 30 * AGREEMENT);
    for (uint32_t n = 0; n < 42; n++) { /* more than their batch has room for */
        for (int k = 0; k < 3; k++) {
            c.id[c.count] = n < 40 ? make_cluster(c.world[k], n) : make_octree(c.world[k], n);
        }
        c.count++;
        if (n % 10 == 0 || n > 38) {
            step_all(&c, traffic_of(&c));
            check_all(&c, 30 * AGREEMENT);
        }
    }
    end(&c);
}

/* Another material, a pin that holds, and a push: all of it concerns one body. */
static void single_changes(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    const uint32_t who[] = {CLUSTERS + 1, 50, CLUSTERS + 2, CLUSTERS + LATTICES + TILED + 3};
    for (int n = 0; n < 4; n++) {
        lm_body_id id = c.id[who[n]];
        uint64_t bytes = state_of(c.world[0], batch_of(c.world[0], id));
        double share = share_of(c.world[0], batch_of(c.world[0], id));
        touch(&c, id);
        traffic before = traffic_of(&c);
        lm_material material = lm_material_default();
        material.hertz = 7.0f;
        material.yield = n == 0 ? 0.01f : 0.0f;
        for (int k = 0; k < 3; k++) assert_ok(lm_body_set_material(c.world[k], id, &material));
        assert_one_batch(&c, step_all(&c, before), bytes, share);
        check(&c, 30 * AGREEMENT);
        before = traffic_of(&c);
        for (int k = 0; k < 3; k++)
            assert_ok(lm_body_add_particle_impulse(c.world[k], id, 3, (lm_vec3){0.001f, 0.002f, 0.0f}));
        traffic t = step_all(&c, before);
        assert_true(t.patches == 0 && t.read[0] <= bytes + LITTLE / 4 && t.written[0] <= bytes + LITTLE);
        check(&c, 30 * AGREEMENT);
    }
    end(&c);
}

/* Bodies that all move but one: it falls asleep, and is woken. */
static void sleeps_and_wakes(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    const lm_vec3 none = {0.0f, 0.0f, 0.0f};
    lm_world_set_gravity(world, none);
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    sleep.seconds = 0.1f;
    assert_ok(lm_world_set_sleep(world, &sleep));
    lm_body_id id = {0, 0};
    for (uint32_t n = 0; n < 100; n++) {
        random_state random = {7};
        sample s = sample_make(SAMPLE_GRID, &random);
        place(&s.def, n);
        if (n == 45) s.def.velocity = s.def.spin = none;
        lm_body_id made = make_body(world, &s.def);
        id = n == 45 ? made : id;
        sample_free(&s);
    }
    const lmi_gpu *gpu = world->gpu;
    assert_ok(lm_world_step(world, FRAME));
    uint64_t bytes = state_of(world, batch_of(world, id)), read = 0, written = gpu->written_bytes;
    int steps = 0;
    while (lm_body_is_awake(world, id) && steps < 30) {
        read = gpu->read_bytes;
        written = gpu->written_bytes;
        assert_ok(lm_world_step(world, FRAME));
        steps++;
    }
    assert_true(steps > 4 && steps < 10);
    assert_ok(lm_world_step(world, FRAME));
    assert_true(world->batch_count >= 5 && gpu->patches == 1 && atomic_load(&world->gpu->newer));
    assert_true(gpu->read_bytes - read < bytes + bytes / 8 + LITTLE / 4);
    assert_true(gpu->written_bytes - written < 6 * bytes);
    read = gpu->read_bytes;
    written = gpu->written_bytes;
    assert_ok(lm_body_wake(world, id));
    assert_ok(lm_world_step(world, FRAME));
    assert_true(gpu->patches == 2 && lm_body_is_awake(world, id));
    assert_true(gpu->read_bytes - read < bytes + bytes / 8 + LITTLE / 4);
    assert_true(gpu->written_bytes - written < 6 * bytes);
    assert_int_equal(log.count, 0);
    lm_world_destroy(world);
}

/* A lattice that breaks twice: nothing of the others is laid out anew. */
static void breaks(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    lm_body_id id = c.id[CLUSTERS + 12];
    lm_fracture_def def = lm_fracture_def_default();
    for (int k = 0; k < 3; k++) {
        assert_ok(lm_body_set_fracture(c.world[k], id, &def));
        assert_ok(lm_world_step(c.world[k], FRAME));
    }
    for (int n = 0; n < 2; n++) {
        uint32_t broken = 0;
        const uint64_t patches = c.world[0]->gpu->patches;
        for (int k = 0; k < 3; k++) {
            assert_ok(lm_body_break(c.world[k], id, (lm_vec3){n ? 0.35f : 0.05f, 0.2f, 0.2f}, 0.25f, &broken));
            assert_ok(lm_world_step(c.world[k], FRAME));
        }
        assert_true(broken > 0);
        assert_int_equal(c.world[0]->gpu->patches, patches + 1);
        assert_int_equal(c.world[1]->gpu->patches, 0);
        for (uint32_t b = 0; b < c.count; b++) {
            assert_at_most(difference(c.world[2], c.world[0], c.id[b]), 20 * AGREEMENT);
            assert_at_most(difference(c.world[1], c.world[0], c.id[b]), AGREEMENT);
            if (n == 0 && batch_of(c.world[0], c.id[b]) == batch_of(c.world[0], id))
                assert_true(bits_of(c.world[0], c.id[b]) == bits_of(c.world[1], c.id[b]));
        }
    }
    for (int k = 0; k < 4; k++) lm_world_destroy(c.world[k]);
}

/* Bodies that lie on a floor, and what their touch points remember of it. */
static void contacts_stay(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log[2] = {{0}, {0}};
    lm_world *world[2];
    lm_body_id id[70];
    for (int k = 0; k < 2; k++) {
        world[k] = world_on(NULL, 1, &log[k]);
        const lmi_gpu_limits limits = {.whole = k == 1};
        lmi_gpu_open(world[k], "gpu", &limits);
        lm_collider_def floor = lm_collider_def_default();
        lm_collider_id collider;
        floor.shape = LM_SHAPE_PLANE;
        assert_ok(lm_collider_create(world[k], &floor, &collider));
        for (uint32_t n = 0; n < 70; n++) {
            random_state random = {7};
            sample s = sample_make(SAMPLE_GRID, &random);
            place(&s.def, n);
            s.def.pose.position = (lm_dvec3){20.0 * n, 0.5 * s.size, 0.0};
            s.def.velocity = s.def.spin = (lm_vec3){0.0f, 0.0f, 0.0f};
            s.def.contact_points = LM_CONTACT_SURFACE;
            s.def.mask = 1;
            id[n] = make_body(world[k], &s.def);
            sample_free(&s);
        }
        for (int n = 0; n < 10; n++) assert_ok(lm_world_step(world[k], FRAME));
        assert_true(world[k]->gpu->meets);
    }
    uint64_t read = world[0]->gpu->read_bytes, bytes = state_of(world[0], batch_of(world[0], id[30]));
    uint32_t points = lmi_body_at(world[0], 30)->touch.count * world[0]->batches[batch_of(world[0], id[30])].body_count;
    lm_material material = lm_material_default();
    material.hertz = 6.0f;
    for (int k = 0; k < 2; k++) {
        assert_ok(lm_body_set_material(world[k], id[30], &material));
        assert_ok(lm_body_destroy(world[k], id[31]));
        assert_ok(lm_world_step(world[k], FRAME));
        assert_int_equal(log[k].count, 0);
    }
    assert_int_equal(world[0]->gpu->patches, 1);
    /* Of a point what it was given, and the way it came in. */
    assert_true(world[0]->gpu->read_bytes - read < bytes + bytes / 8 + 32 * points + LITTLE);
    uint32_t pressed = 0;
    for (int k = 0; k < 2; k++) lm_world_hash(world[k]); /* all comes back */
    for (uint32_t n = 0; n < 70; n++) {
        if (n == 31) continue;
        assert_at_most(difference(world[1], world[0], id[n]), AGREEMENT);
        const lmi_touch *touch[2] = {&lmi_body_at(world[0], n)->touch, &lmi_body_at(world[1], n)->touch};
        for (uint32_t p = 0; p < touch[0]->count; p++) {
            pressed += touch[0]->warm[p].pressed > 0.0f;
            assert_near(touch[0]->warm[p].pressed, touch[1]->warm[p].pressed, 1e-3);
        }
    }
    assert_true(pressed > 200);
    for (int k = 0; k < 2; k++) lm_world_destroy(world[k]);
}

/* Whatever happens between two steps. */
static void happen(lm_world *world, changes *c, random_state *random)
{
    uint32_t n = (uint32_t)random_range(random, 0.0, c->count - 0.01), what = (uint32_t)random_range(random, 0.0, 7.99);
    uint32_t other = (uint32_t)random_range(random, 0.0, 100.0), changed;
    lm_body_id id = c->id[n];
    lm_material material = lm_material_default();
    material.hertz = (float)random_range(random, 2.0, 6.0);
    lm_body_info info;
    if (what == 0) lm_world_hash(world);
    if (!lm_body_is_valid(world, id)) {
        c->id[n] = other % 3 == 0   ? make_cluster(world, other)
                   : other % 3 == 1 ? make_lattice(world, other, 4)
                                    : make_octree(world, other);
        return;
    }
    if (what == 1) assert_ok(lm_body_destroy(world, id));
    if (what == 2) assert_ok(lm_body_set_material(world, id, &material));
    if (what == 3) assert_ok(lm_body_add_particle_impulse(world, id, 3, (lm_vec3){0.001f, 0.002f, 0.0f}));
    if (what == 4) shake(world, id, 0.001, n);
    if (what >= 5 && !lmi_body_at(world, id.slot - 1)->lattice) {
        assert_ok(lm_body_get_info(world, id, &info));
        if (lmi_body_at(world, id.slot - 1)->octree && what == 6)
            assert_ok(
                lm_body_refine(world, id, info.centre, 0.2f + 0.01f * (float)other, other % 2 ? 0.4f : 0.1f, &changed));
        else if (what == 5 && info.particles > 150 &&
                 !lmi_body_at(world, id.slot - 1)->grain) /* small pieces are torn */
            cut_in_two(world, id, (lm_dvec3){info.centre.x - 0.03, info.centre.y, info.centre.z});
    }
}

/* Several changes at once, and getters between them. */
static void many_changes(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    random_state random = {2026};
    uint32_t ids = c.count;
    for (int n = 0; n < 40; n++) {
        lm_body_id before[BODIES];
        random_state now = random;
        memcpy(before, c.id, ids * sizeof *before);
        for (int k = 0; k < 3; k++) { /* the same in each */
            random = now;
            memcpy(c.id, before, ids * sizeof *before);
            for (int m = 0; m < n % 4; m++) happen(c.world[k], &c, &random);
        }
        for (int k = 0; k < 3; k++) assert_ok(lm_world_step(c.world[k], FRAME));
        if (n % 8) continue;
        for (uint32_t b = 0; b < ids; b++) {
            if (!lm_body_is_valid(c.world[2], c.id[b])) continue;
            assert_at_most(difference(c.world[2], c.world[0], c.id[b]), 100 * AGREEMENT);
            assert_at_most(difference(c.world[1], c.world[0], c.id[b]), 10 * AGREEMENT);
        }
    }
    assert_true(c.world[0]->gpu->patches > 8);
    end(&c);
}

/* More bodies than there is memory for: the CPU goes on, with all that the device has done. */
static void memory_runs_out(void **state)
{
    (void)state;
    if (!has_device()) skip();
    changes c;
    begin(&c);
    for (int n = 0; n < 4; n++) step_all(&c, traffic_of(&c));
    lmi_gpu *gpu = c.world[0]->gpu;
    gpu->limits.memory = gpu->used + 4096;
    for (uint32_t n = 0; n < 40; n++, c.count++) {
        for (int k = 0; k < 3; k++) c.id[c.count] = make_lattice(c.world[k], n, 8);
    }
    for (int k = 0; k < 3; k++) assert_ok(lm_world_step(c.world[k], FRAME));
    assert_int_equal(c.log[0].count, 1);
    assert_non_null(strstr(c.log[0].last, "out of device memory; the CPU steps this world")); /* and nothing is lost */
    for (uint32_t n = 0; n < c.count; n++) assert_at_most(difference(c.world[2], c.world[0], c.id[n]), 30 * AGREEMENT);
    for (int k = 0; k < 4; k++) lm_world_destroy(c.world[k]);
}

/* A device that goes in the middle of changes: one line, and the CPU goes on. */
static void lost_devices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t lost = 0;
    for (uint32_t operations = 60; operations < 900; operations += 60) {
        changes c = {0};
        lm_world *world = world_on(NULL, 1, &c.log[0]);
        const lmi_gpu_limits limits = {.operations = operations};
        lmi_gpu_open(world, "gpu", &limits);
        for (c.count = 0; c.count < 60; c.count++) {
            c.id[c.count] = c.count < 40   ? make_cluster(world, c.count)
                            : c.count < 55 ? make_lattice(world, c.count, 4)
                                           : make_octree(world, c.count);
        }
        random_state random = {operations};
        for (int n = 0; n < 8; n++) {
            assert_ok(lm_world_step(world, FRAME));
            happen(world, &c, &random);
        }
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
        lost += world->gpu->lost;
        assert_int_equal(c.log[0].count, world->gpu->lost ? 1 : 0);
        lm_world_destroy(world);
    }
    assert_true(lost > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts),
        cmocka_unit_test(batches_grow),
        cmocka_unit_test(details),
        cmocka_unit_test(comes_and_goes),
        cmocka_unit_test(octrees_come_back),
        cmocka_unit_test(zeros_count),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(single_changes),
        cmocka_unit_test(sleeps_and_wakes),
        cmocka_unit_test(breaks),
        cmocka_unit_test(contacts_stay),
        cmocka_unit_test(many_changes),
        cmocka_unit_test(lost_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
