/*
 * Fuzzes the making of lattices: any cells or mesh, spacing, width and place, as a host might hand them in. What is taken
 * must step, stay finite, and come back from a snapshot; what is refused must leave nothing.
 *
 * Input: a few bytes for each choice, then cells or vertices. Sizes are kept small, so that the fuzzer sees much.
 */
#include "limber/limber.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
    const uint8_t *bytes;
    size_t left;
} input;

static uint32_t take(input *in, size_t size)
{
    uint32_t value = 0;
    for (size_t k = 0; k < size && in->left > 0; k++, in->left--) value |= (uint32_t)*in->bytes++ << (8 * k);
    return value;
}

/* Any float at all, or one near 1. */
static float take_float(input *in, bool any)
{
    if (!any) return (float)(int16_t)take(in, 2) / 4096.0f;
    uint32_t bits = take(in, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define MOST_CELLS 512
#define MOST_VERTICES 64

typedef struct shape {
    uint8_t cells[MOST_CELLS];
    lm_vec3 vertices[MOST_VERTICES];
    uint32_t triangles[3 * MOST_VERTICES];
} shape;

static void take_cells(input *in, lm_lattice *lattice, shape *s)
{
    uint32_t cells = 1;
    for (int a = 0; a < 3; a++) {
        lattice->counts[a] = take(in, 1) % 40;
        cells *= lattice->counts[a];
    }
    for (int a = 0; a < 3 && cells > MOST_CELLS; a++) {
        cells = cells / lattice->counts[a] * 4;
        lattice->counts[a] = 4;
    }
    for (uint32_t n = 0; n < MOST_CELLS; n += 8) {
        uint32_t bits = take(in, 1);
        for (uint32_t k = 0; k < 8; k++) s->cells[n + k] = bits >> k & 1;
    }
    bool any = take(in, 1) & 1;
    lattice->first = (lm_vec3){take_float(in, any), take_float(in, any), take_float(in, any)};
    lattice->cells = s->cells;
}

static void take_mesh(input *in, lm_lattice *lattice, shape *s)
{
    bool any = take(in, 1) & 1;
    lattice->vertex_count = take(in, 1) % MOST_VERTICES;
    lattice->triangle_count = take(in, 1) % MOST_VERTICES;
    for (uint32_t n = 0; n < lattice->vertex_count; n++)
        s->vertices[n] = (lm_vec3){take_float(in, any), take_float(in, any), take_float(in, any)};
    for (uint32_t n = 0; n < 3 * lattice->triangle_count; n++) {
        s->triangles[n] = take(in, 1);
        if (!any && lattice->vertex_count) s->triangles[n] %= lattice->vertex_count;
    }
    lattice->vertices = s->vertices;
    lattice->triangles = s->triangles;
    lattice->particles = take(in, 1) * 2;
    lattice->shell = take(in, 1) & 1;
}

/* Memory of a world, of which making a body may take a part only: a mesh of few triangles can ask for millions of particles, each of
 * which takes its time. */
#define MOST_BYTES ((size_t)8 << 20)

typedef struct purse {
    size_t used, most;
} purse;

static void *allocate(size_t size, size_t alignment, void *user)
{
    purse *p = user;
    if (size > p->most || p->used > p->most - size) return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    p->used += memory ? size : 0;
    return memory;
}

static void release(void *memory, size_t size, void *user)
{
    purse *p = user;
    p->used -= size;
    free(memory);
}

static void demand(bool is)
{
    if (!is) abort();
}

static void live(lm_world *world, lm_body_id body, const shape *s)
{
    lm_body_info info;
    lm_totals totals;
    demand(lm_body_get_info(world, body, &info) == LM_OK && info.particles >= 8 && info.regions >= 1);
    for (int step = 0; step < 3; step++) demand(lm_world_step(world, 1.0 / 60.0) == LM_OK);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = s->vertices;
    skin.vertex_count = MOST_VERTICES;
    skin.triangles = (const uint32_t[]){0, 1, 2};
    skin.triangle_count = 1;
    lm_result dressed = lm_body_set_skin(world, body, &skin);
    demand(dressed == LM_OK || dressed == LM_ERROR_ARGUMENT);
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id held;
    pin.body = body;
    pin.particles = (const uint32_t[]){0, info.particles - 1};
    pin.particle_count = 2;
    demand(lm_pin_create(world, &pin, &held) == LM_OK);
    for (int step = 0; step < 2; step++) demand(lm_world_step(world, 1.0 / 60.0) == LM_OK);
    lm_world_get_totals(world, &totals);
    demand(totals.finite);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    uint64_t hash = lm_world_hash(world);
    demand(lm_world_save(world, bytes, size) == LM_OK && lm_world_load(world, bytes, size) == LM_OK);
    demand(lm_world_hash(world) == hash);
    free(bytes);
    demand(lm_body_destroy(world, body) == LM_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    lm_world_def world_def = lm_world_def_default();
    lm_world *world;
    purse memory = {.most = MOST_BYTES};
    world_def.workers = 1;
    world_def.allocator = (lm_allocator){allocate, release, &memory};
    demand(lm_world_create(&world_def, &world) == LM_OK);
    shape *s = calloc(1, sizeof *s);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    uint32_t choice = take(&in, 1);
    def.lattice.width = take(&in, 1) % 10;
    def.lattice.spacing = choice & 2 ? take_float(&in, true) : (float)(take(&in, 1) % 64) / 32.0f;
    def.material.mode = choice & 4 ? LM_MODE_RIGID : LM_MODE_LINEAR;
    def.mass = choice & 8 ? take_float(&in, true) : 1.0f;
    if (choice & 1) {
        take_mesh(&in, &def.lattice, s);
    } else {
        take_cells(&in, &def.lattice, s);
    }
    lm_body_id body;
    if (lm_body_create(world, &def, &body) == LM_OK) {
        memory.most = SIZE_MAX;
        live(world, body, s);
    }
    demand(lm_world_get_bodies(world, NULL, 0) == 0);
    free(s);
    lm_world_destroy(world);
    demand(memory.used == 0);
    return 0;
}
