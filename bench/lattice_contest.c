/*
 * Worlds are without colliders and fall freely while they turn: a step costs the same every time.
 */
#include "lattice_contest.h"

#include "base/os.h"
#include "lattice/lattice_body.h"
#include "runner.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define FRAME (1.0 / 60.0)
#define BODY_DISTANCE 10.0 /* metres */

static const char *const damping_names[LATTICE_DAMPING_COUNT] = {
    [LATTICE_UNDAMPED] = "none",
    [LATTICE_GLOBAL] = "global",
    [LATTICE_REGIONAL] = "regional",
};

static const char *const method_names[] = {
    [PLAIN_NAIVE] = "naive",
    [PLAIN_BARS] = "bar-plate-cube",
    [PLAIN_FAST] = "fast",
};

/* ------------------------------------------------------------------------------------------------------------------
 * Worlds
 */

static void *count_allocate(size_t size, size_t alignment, void *user)
{
    lattice_bytes *bytes = user;
    void *memory = lmi_os_allocate((size + alignment - 1) / alignment * alignment, alignment);
    if (!memory) return NULL;
    bytes->now += size;
    if (bytes->now > bytes->peak) bytes->peak = bytes->now;
    return memory;
}

static void count_release(void *memory, size_t size, void *user)
{
    lattice_bytes *bytes = user;
    bytes->now -= size;
    lmi_os_release(memory);
}

static void set_damping(lm_material *material, lattice_damping damping)
{
    material->damping_ratio = damping == LATTICE_UNDAMPED ? 0.0f : 0.1f;
    material->damping_kind = damping == LATTICE_REGIONAL ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
}

static bool add_bodies(lm_world *world, const lattice_cells *cells, uint32_t width)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.lattice.cells = cells->cells;
    memcpy(def.lattice.counts, cells->counts, sizeof def.lattice.counts);
    def.lattice.spacing = cells->spacing;
    def.lattice.width = width;
    def.lattice.mass = LM_LATTICE_MASS_EQUAL; /* as in the plain program */
    def.material.mode =
        LM_MODE_RIGID; /* a region's goal is its rotated rest shape, as in the paper and the plain program */
    set_damping(&def.material, LATTICE_UNDAMPED);
    def.spin.y = 0.5f;
    for (uint32_t i = 0; i < cells->bodies; i++) {
        lm_body_id id;
        def.pose.position.x = BODY_DISTANCE * i;
        if (lm_body_create(world, &def, &id) != LM_OK) return false;
    }
    return true;
}

/* The share of regions that are not all there is in their cube. */
static double irregular_share(const lm_world *world)
{
    double irregular = 0.0, regions = 0.0;
    LMI_POOL_EACH(&world->bodies, slot)
    {
        const lmi_lattice *lattice = &lmi_body_at(world, slot)->lattice->shape;
        irregular += lattice->irregular_regions;
        regions += lattice->region_count;
    }
    return regions > 0.0 ? irregular / regions : 0.0;
}

static bool make_world(lattice_contestant *c, const lattice_cells *cells)
{
    c->bytes = calloc(1, sizeof *c->bytes);
    if (!c->bytes) return false;
    lm_world_def def = lm_world_def_default();
    def.isa = c->isa;
    def.workers = c->threads;
    def.allocator = (lm_allocator){count_allocate, count_release, c->bytes};
    if (lm_world_create(&def, &c->world) != LM_OK || !add_bodies(c->world, cells, c->width)) return false;
    lm_stats stats;
    lm_world_get_stats(c->world, &stats);
    c->particles = stats.particles;
    c->isa = lm_world_get_isa(c->world);
    c->irregular = irregular_share(c->world);
    return true;
}

/* Gives every body of the contestant's world its damping. */
static bool apply_damping(const lattice_contestant *c)
{
    LMI_POOL_EACH(&c->world->bodies, slot)
    {
        lmi_id id = lmi_pool_id(&c->world->bodies, slot);
        lm_body_id body = {id.slot, id.generation};
        lm_material material;
        if (lm_body_get_material(c->world, body, &material) != LM_OK) return false;
        set_damping(&material, c->damping);
        if (lm_body_set_material(c->world, body, &material) != LM_OK) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Contestants
 */

/* A place in the list for a contestant, or null when it is full. */
static lattice_contestant *add(lattice_contest *contest, lattice_contestant contestant)
{
    if (contest->count == LATTICE_MAX_CONTESTANTS) return NULL;
    contest->list[contest->count] = contestant;
    return &contest->list[contest->count++];
}

bool lattice_contest_add_world(lattice_contest *contest, const lattice_cells *cells, uint32_t width, lm_isa isa,
                               uint32_t threads, bool damped)
{
    lattice_contestant *first =
        add(contest, (lattice_contestant){
                         .kind = LATTICE_WORLD, .name = cells->name, .isa = isa, .threads = threads, .width = width});
    if (!first || !make_world(first, cells)) return false;
    for (int damping = LATTICE_UNDAMPED + 1; damped && damping < LATTICE_DAMPING_COUNT; damping++) {
        lattice_contestant *other = add(contest, *first);
        if (!other) return false;
        other->shared = true;
        other->damping = (lattice_damping)damping;
    }
    return true;
}

static plain_lattice *make_plain(const lattice_cells *box, uint32_t width)
{
    return plain_lattice_make(box->counts[0] + 1, box->counts[1] + 1, box->counts[2] + 1, box->spacing, width);
}

static uint32_t box_particles(const lattice_cells *box)
{
    return (box->counts[0] + 1) * (box->counts[1] + 1) * (box->counts[2] + 1);
}

bool lattice_contest_add_plain(lattice_contest *contest, const lattice_cells *box, uint32_t width)
{
    lattice_contestant *c = add(contest, (lattice_contestant){.kind = LATTICE_PLAIN,
                                                              .name = box->name,
                                                              .sums = PLAIN_FAST,
                                                              .isa = LM_ISA_SCALAR,
                                                              .threads = 1,
                                                              .width = width,
                                                              .particles = box_particles(box)});
    if (c) c->plain = make_plain(box, width);
    return c && c->plain;
}

/* The library's sums: arrays as its kernels want them. */
static bool make_sums(lattice_contestant *c, const lattice_cells *box)
{
    if (!make_world(c, box) || lm_world_step(c->world, FRAME) != LM_OK) return false;
    const lmi_lattice *lattice = &lmi_body_at(c->world, 0)->lattice->shape;
    size_t lanes = ((size_t)lattice->block_count + 1) * LMI_BLOCK;
    c->input = lmi_os_allocate(lanes * 4 * sizeof(float), LMI_ALIGNMENT);
    c->between = lmi_os_allocate(lanes * 12 * sizeof(float), LMI_ALIGNMENT);
    c->output = lmi_os_allocate(lanes * 3 * sizeof(float), LMI_ALIGNMENT);
    size_t scratch = (lmi_lattice_scratch(lattice) * sizeof(float) + LMI_ALIGNMENT) / LMI_ALIGNMENT * LMI_ALIGNMENT;
    c->scratch = lmi_os_allocate(scratch, LMI_ALIGNMENT);
    if (!c->input || !c->between || !c->output || !c->scratch) return false;
    memcpy(c->input, lmi_body_at(c->world, 0)->x, (size_t)lattice->block_count * LMI_BLOCK * 4 * sizeof(float));
    memset(c->input + (size_t)lattice->block_count * LMI_BLOCK * 4, 0, LMI_BLOCK * 4 * sizeof(float));
    memset(c->scratch, 0, scratch);
    return true;
}

bool lattice_contest_add_sums(lattice_contest *contest, const lattice_cells *box, uint32_t width, lm_isa isa)
{
    plain_lattice *plain = NULL;
    for (int how = PLAIN_NAIVE; how <= PLAIN_FAST; how++) {
        lattice_contestant *c = add(contest, (lattice_contestant){.kind = LATTICE_PLAIN_SUMS,
                                                                  .name = "sums",
                                                                  .method = method_names[how],
                                                                  .sums = (plain_sums)how,
                                                                  .isa = LM_ISA_SCALAR,
                                                                  .threads = 1,
                                                                  .width = width,
                                                                  .particles = box_particles(box),
                                                                  .shared = plain != NULL});
        if (!c) return false;
        c->plain = plain = plain ? plain : make_plain(box, width);
        if (!plain) return false;
    }
    lattice_contestant *c = add(
        contest,
        (lattice_contestant){
            .kind = LATTICE_WORLD_SUMS, .name = "sums", .method = "lanes", .isa = isa, .threads = 1, .width = width});
    return c && make_sums(c, box);
}

static void contest_free(lattice_contest *contest)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        lattice_contestant *c = &contest->list[i];
        for (int row = 0; row < LATTICE_ROW_COUNT; row++) bench_samples_free(&c->rows[row]);
        if (c->shared) continue;
        lm_world_destroy(c->world);
        plain_lattice_free(c->plain);
        free(c->bytes);
        lmi_os_release(c->input);
        lmi_os_release(c->between);
        lmi_os_release(c->output);
        lmi_os_release(c->scratch);
    }
    contest->count = 0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Measuring
 */

static void sum_lanes(const lattice_contestant *c)
{
    const lmi_lattice *lattice = &lmi_body_at(c->world, 0)->lattice->shape;
    const lmi_lattice_kernels *kernels = &c->world->kernels->lattice;
    kernels->gather(lattice, c->input, c->scratch, c->between);
    kernels->scatter(lattice, c->between, c->scratch, c->output);
}

static bool step_world(lattice_contestant *c, bool count)
{
    if (lm_world_step(c->world, FRAME) != LM_OK) return false;
    lm_stats stats;
    lm_world_get_stats(c->world, &stats);
    double unit = 1e9 / c->particles;
    for (int stage = 0; count && stage < LM_STAGE_COUNT; stage++)
        bench_samples_add(&c->rows[stage], unit * stats.stage_seconds[stage]);
    if (count) bench_samples_add(&c->rows[LATTICE_ROW_STEP], unit * stats.step_seconds);
    return true;
}

static bool take_step(lattice_contestant *c, bool count)
{
    if (c->kind == LATTICE_WORLD) return step_world(c, count);
    uint64_t start = lmi_os_nanoseconds();
    if (c->kind == LATTICE_PLAIN) plain_lattice_step(c->plain, c->sums, (float)FRAME, 0.5f, -9.81f);
    if (c->kind == LATTICE_PLAIN_SUMS) {
        plain_lattice_sum(c->plain, c->sums);
        plain_lattice_sum(c->plain, c->sums);
    }
    if (c->kind == LATTICE_WORLD_SUMS) sum_lanes(c);
    double taken = (double)(lmi_os_nanoseconds() - start);
    if (count) bench_samples_add(&c->rows[LATTICE_ROW_STEP], taken / c->particles);
    return true;
}

/* The first step of a turn only brings the data back into the caches. Naive sums read everything many times anyway. */
static bool take_turn(lattice_contestant *c, uint32_t steps)
{
    if (c->kind == LATTICE_WORLD && !apply_damping(c)) return false;
    if (c->kind == LATTICE_PLAIN_SUMS) plain_lattice_load(c->plain);
    bool warm = c->kind == LATTICE_PLAIN_SUMS && c->sums == PLAIN_NAIVE;
    for (uint32_t step = warm ? 1 : 0; step <= steps; step++)
        if (!take_step(c, step > 0)) return false;
    if (c->bytes && c->held.now == 0) c->held = *c->bytes;
    return true;
}

static void add_row(bench_report *report, lattice_contestant *c, int row)
{
    bool library = c->kind == LATTICE_WORLD || c->kind == LATTICE_WORLD_SUMS;
    bool sums = c->kind == LATTICE_PLAIN_SUMS || c->kind == LATTICE_WORLD_SUMS;
    bench_row r = {.bench = "lattice",
                   .name = c->name,
                   .variant = library ? "limber" : "plain",
                   .stage = sums                      ? "sums"
                            : row == LATTICE_ROW_STEP ? "step"
                                                      : lm_stage_name((lm_stage)row),
                   .particles = c->particles,
                   .threads = c->threads,
                   .isa = lm_isa_name(c->isa),
                   .method = c->method,
                   .width = c->width,
                   .damping = sums ? NULL : damping_names[c->damping]};
    if (c->kind == LATTICE_WORLD && row == LATTICE_ROW_STEP) {
        r.has_lattice = true;
        r.irregular = c->irregular;
        r.bytes_per_particle = (double)c->held.now / c->particles;
        r.peak_bytes_per_particle = (double)c->held.peak / c->particles;
    }
    bench_report_add(report, r, &c->rows[row]);
}

/* The stages that lattices have: the sweep is gather, fit, scatter and integrate at once. */
static bool has_row(const lattice_contestant *c, int row)
{
    if (row == LATTICE_ROW_STEP) return true;
    return c->kind == LATTICE_WORLD && (row == LM_STAGE_PREDICT || row == LM_STAGE_SWEEP || row == LM_STAGE_CONTACT);
}

int lattice_contest_run(lattice_contest *contest, bool made, uint32_t rounds, uint32_t steps, bench_report *report)
{
    bool ok = made;
    for (uint32_t round = 0; ok && round < rounds; round++)
        for (uint32_t i = 0; ok && i < contest->count; i++) ok = take_turn(&contest->list[i], steps);
    for (uint32_t i = 0; ok && i < contest->count; i++)
        for (int row = 0; row < LATTICE_ROW_COUNT; row++)
            if (has_row(&contest->list[i], row)) add_row(report, &contest->list[i], row);
    bench_report_write(report);
    contest_free(contest);
    return ok ? 0 : bench_fail("out of memory");
}
