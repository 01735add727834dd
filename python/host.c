/*
 * Memory, log and batches for worlds of Python programs (host.h).
 *
 * Arrays of a program look into a world's memory without a copy. When the world releases a block into which somebody looks, the block is
 * given to that view instead of the C library, and goes when the last view of it does: an old array shows old values, and never
 * reads memory that is not there.
 */
#define _POSIX_C_SOURCE 200809L
#include "python/host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host_view {
    host *host;
    const char *at;
    host_view *next;
    char *orphan; /* a block that the world has released, with this view's place in it; or null */
    size_t orphan_size;
};

struct host {
    pthread_mutex_t lock;
    uint32_t users; /* whoever made it, and views */
    host_view *views;
    size_t limit, used;
    bool has_line;
    lm_result result;
    char line[HOST_LINE_SIZE];
};

static atomic_uint_fast64_t all_blocks, all_bytes, all_hosts;

/* ------------------------------------------------------------------------------------------------------------------
 * Memory
 */

static void free_block(void *memory, size_t size)
{
    free(memory);
    atomic_fetch_sub(&all_blocks, 1);
    atomic_fetch_sub(&all_bytes, size);
}

static void *allocate(size_t size, size_t alignment, void *user)
{
    host *h = user;
    void *memory = NULL;
    if (h->limit > 0 && size > h->limit - h->used) {
        return NULL;
    }
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size > 0 ? size : 1) != 0) {
        return NULL;
    }
    h->used += size;
    atomic_fetch_add(&all_blocks, 1);
    atomic_fetch_add(&all_bytes, size);
    return memory;
}

static bool is_inside(const char *at, const char *block, size_t size)
{
    return (uintptr_t)at - (uintptr_t)block < size;
}

/* The first view of a block, from `view` on. */
static host_view *find_view(host_view *view, const char *block, size_t size)
{
    while (view != NULL && !is_inside(view->at, block, size)) {
        view = view->next;
    }
    return view;
}

static void release(void *memory, size_t size, void *user)
{
    host *h = user;
    h->used -= size;
    pthread_mutex_lock(&h->lock);
    host_view *view = find_view(h->views, memory, size);
    if (view != NULL) {
        view->orphan = memory;
        view->orphan_size = size;
    }
    pthread_mutex_unlock(&h->lock);
    if (view == NULL) {
        free_block(memory, size);
    }
}

static void write_line(lm_result result, const char *line, void *user)
{
    host *h = user;
    h->has_line = true;
    h->result = result;
    snprintf(h->line, sizeof h->line, "%s", line);
}

host *host_create(size_t limit)
{
    host *h = calloc(1, sizeof *h);
    if (h == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&h->lock, NULL) != 0) {
        free(h);
        return NULL;
    }
    h->users = 1;
    h->limit = limit;
    atomic_fetch_add(&all_hosts, 1);
    return h;
}

/* The lock is held, and given back here. */
static void drop_locked(host *h)
{
    bool last = --h->users == 0;
    pthread_mutex_unlock(&h->lock);
    if (last) {
        pthread_mutex_destroy(&h->lock);
        free(h);
        atomic_fetch_sub(&all_hosts, 1);
    }
}

void host_drop(host *h)
{
    pthread_mutex_lock(&h->lock);
    drop_locked(h);
}

void host_fill_def(host *h, lm_world_def *def)
{
    def->allocator = (lm_allocator){.allocate = allocate, .release = release, .user = h};
    def->log = (lm_log){.write = write_line, .user = h};
}

bool host_take_line(host *h, lm_result *result, char line[HOST_LINE_SIZE])
{
    bool has = h->has_line;
    if (has) {
        *result = h->result;
        memcpy(line, h->line, sizeof h->line);
        h->has_line = false;
    }
    return has;
}

host_view *host_look(host *h, const void *memory)
{
    host_view *view = calloc(1, sizeof *view);
    if (view != NULL) {
        pthread_mutex_lock(&h->lock);
        *view = (host_view){.host = h, .at = memory, .next = h->views};
        h->views = view;
        h->users++;
        pthread_mutex_unlock(&h->lock);
    }
    return view;
}

void host_drop_view(host_view *view)
{
    host *h = view->host;
    pthread_mutex_lock(&h->lock);
    host_view **link = &h->views;
    while (*link != view) {
        link = &(*link)->next;
    }
    *link = view->next;
    host_view *heir = view->orphan != NULL ? find_view(h->views, view->orphan, view->orphan_size) : NULL;
    if (heir != NULL) {
        heir->orphan = view->orphan;
        heir->orphan_size = view->orphan_size;
    } else if (view->orphan != NULL) {
        free_block(view->orphan, view->orphan_size);
    }
    drop_locked(h);
    free(view);
}

host_memory host_get_memory(void)
{
    return (host_memory){
        .blocks = atomic_load(&all_blocks), .bytes = atomic_load(&all_bytes), .hosts = atomic_load(&all_hosts)};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Batches
 */

typedef struct batch_job {
    const host_batch *batch;
    lm_result (*one)(lm_world *world, uint32_t index, const void *context);
    const void *context;
    atomic_uint next;
} batch_job;

static void *work(void *user)
{
    batch_job *job = user;
    const host_batch *b = job->batch;
    for (;;) {
        uint32_t n = atomic_fetch_add(&job->next, 1);
        if (n >= b->count) {
            return NULL;
        }
        if (b->chosen == NULL || b->chosen[n]) {
            b->results[n] = job->one(b->worlds[n], n, job->context);
        }
    }
}

/* The caller's thread works too. Fewer threads than asked for do the same work. */
static bool run_batch(const host_batch *batch, lm_result (*one)(lm_world *world, uint32_t index, const void *context),
                      const void *context)
{
    batch_job job = {.batch = batch, .one = one, .context = context};
    uint32_t others = (batch->threads < batch->count ? batch->threads : batch->count);
    others = others > 0 ? others - 1 : 0;
    pthread_t *threads = calloc(others + 1u, sizeof *threads);
    if (threads == NULL) {
        return false;
    }
    uint32_t started = 0;
    atomic_init(&job.next, 0);
    for (uint32_t n = 0; n < batch->count; n++) {
        batch->results[n] = LM_OK;
    }
    while (started < others && pthread_create(&threads[started], NULL, work, &job) == 0) {
        started++;
    }
    work(&job);
    for (uint32_t n = 0; n < started; n++) {
        pthread_join(threads[n], NULL);
    }
    free(threads);
    return true;
}

typedef struct step_context {
    double seconds;
    uint32_t steps;
} step_context;

static lm_result step_one(lm_world *world, uint32_t index, const void *context)
{
    const step_context *c = context;
    lm_result result = LM_OK;
    (void)index;
    for (uint32_t n = 0; n < c->steps && result == LM_OK; n++) {
        result = lm_world_step(world, c->seconds);
    }
    return result;
}

bool host_batch_step(const host_batch *batch, double seconds, uint32_t steps)
{
    step_context c = {seconds, steps};
    return run_batch(batch, step_one, &c);
}

typedef struct load_context {
    const void *const *snapshots;
    const size_t *sizes;
} load_context;

static lm_result load_one(lm_world *world, uint32_t index, const void *context)
{
    const load_context *c = context;
    return lm_world_load(world, c->snapshots[index], c->sizes[index]);
}

bool host_batch_load(const host_batch *batch, const void *const *snapshots, const size_t *sizes)
{
    load_context c = {snapshots, sizes};
    return run_batch(batch, load_one, &c);
}

/* The bodies of a world in slot order; null when out of memory. */
static lm_body_id *list_bodies(const lm_world *world, uint32_t *count)
{
    *count = lm_world_get_bodies(world, NULL, 0);
    lm_body_id *ids = calloc(*count + 1u, sizeof *ids);
    if (ids != NULL) {
        lm_world_get_bodies(world, ids, *count);
    }
    return ids;
}

typedef struct push_context {
    const lm_vec3 *forces;
    uint32_t bodies;
} push_context;

static lm_result push_one(lm_world *world, uint32_t index, const void *context)
{
    const push_context *c = context;
    uint32_t count;
    lm_body_id *ids = list_bodies(world, &count);
    if (ids == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_result result = count == c->bodies ? LM_OK : LM_ERROR_CAPACITY;
    for (uint32_t n = 0; n < count && result == LM_OK; n++) {
        result = lm_body_add_force(world, ids[n], c->forces[(size_t)index * c->bodies + n]);
    }
    free(ids);
    return result;
}

bool host_batch_push(const host_batch *batch, const lm_vec3 *forces, uint32_t bodies)
{
    push_context c = {forces, bodies};
    return run_batch(batch, push_one, &c);
}

typedef struct observe_context {
    host_observed what;
    float *out;
    uint64_t floats;
} observe_context;

/* Writes what is observed of a body at `out`, and says how many floats that is; LM_ERROR_CAPACITY beyond `room`. */
static lm_result observe_body(const lm_world *world, lm_body_id body, host_observed what, float *out, uint64_t room,
                              uint64_t *floats)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, body, &info);
    *floats = what == HOST_BODIES ? 9 : 3 * (uint64_t)info.particles;
    if (result != LM_OK || *floats > room) {
        return result != LM_OK ? result : LM_ERROR_CAPACITY;
    }
    if (what == HOST_POSITIONS) {
        return lm_body_get_positions(world, body, lm_dvec3_zero(), (lm_vec3 *)out);
    }
    if (what == HOST_VELOCITIES) {
        return lm_body_get_velocities(world, body, (lm_vec3 *)out);
    }
    float values[9] = {(float)info.centre.x, (float)info.centre.y, (float)info.centre.z,
                       info.velocity.x,      info.velocity.y,      info.velocity.z,
                       info.spin.x,          info.spin.y,          info.spin.z};
    memcpy(out, values, sizeof values);
    return LM_OK;
}

static lm_result observe_one(lm_world *world, uint32_t index, const void *context)
{
    const observe_context *c = context;
    uint32_t count;
    lm_body_id *ids = list_bodies(world, &count);
    if (ids == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_result result = LM_OK;
    uint64_t done = 0;
    for (uint32_t n = 0; n < count && result == LM_OK; n++) {
        uint64_t floats;
        result = observe_body(world, ids[n], c->what, c->out + index * c->floats + done, c->floats - done, &floats);
        done += floats;
    }
    free(ids);
    return result == LM_OK && done != c->floats ? LM_ERROR_CAPACITY : result;
}

bool host_batch_observe(const host_batch *batch, host_observed what, float *out, uint64_t floats)
{
    observe_context c = {what, out, floats};
    return run_batch(batch, observe_one, &c);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes
 */

void host_free(void *memory) { free(memory); }

typedef struct lines {
    char *text;
    size_t size, used;
} lines;

static void add_line(const char *line, void *user)
{
    lines *l = user;
    size_t length = strlen(line);
    if (l->used + length + 2 <= l->size) {
        memcpy(l->text + l->used, line, length);
        l->used += length;
        l->text[l->used++] = '\n';
        l->text[l->used] = '\0';
    }
}

uint32_t host_check_scene(lm_scene *checked, lm_world *world, char *text, size_t size)
{
    lines l = {text, size, 0};
    text[0] = '\0';
    return lm_scene_check(checked, world, add_line, &l);
}
