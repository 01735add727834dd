/*
 * What a world that belongs to a Python program needs of its host: memory that arrays may go on looking at after the world has
 * let go of it, the last line of the log, and many worlds stepped at once. Nothing here calls Python.
 */
#ifndef LIMBER_PYTHON_HOST_H
#define LIMBER_PYTHON_HOST_H

#include "limber/limber.h"
#include "limber/scene.h"

#define HOST_LINE_SIZE 256

/* ------------------------------------------------------------------------------------------------------------------
 * Memory and log of one world
 *
 * A host is kept by whoever made it and by every view of its memory; the last one to drop it frees it. It must outlive its world.
 */

typedef struct host host;

/* `limit`: bytes that the world may have, 0 for as many as there are. Null when out of memory. */
host *host_create(size_t limit);
void host_drop(host *host);

/* Fills in allocator and log. */
void host_fill_def(host *host, lm_world_def *def);

/* The last line of the log since the last call, with its result; false when there was none. */
bool host_take_line(host *host, lm_result *result, char line[HOST_LINE_SIZE]);

/* A place in the world's memory that stays readable until the view is dropped, though the world releases it or is destroyed.
 * Null when out of memory. */
typedef struct host_view host_view;
host_view *host_look(host *host, const void *memory);
void host_drop_view(host_view *view);

/* Blocks and bytes that worlds and views of this program have now, all of them together. */
typedef struct host_memory {
    uint64_t blocks, bytes, hosts;
} host_memory;
host_memory host_get_memory(void);

/* ------------------------------------------------------------------------------------------------------------------
 * Many worlds at once. `threads` threads share the worlds, each of which is one thread's at a time; results[n] is that of world n.
 * Worlds whose byte in `chosen` is 0 are left alone; null: all of them take part.
 */

typedef struct host_batch {
    lm_world *const *worlds;
    uint32_t count;
    uint32_t threads; /* at least 1 */
    const uint8_t *chosen;
    lm_result *results;
} host_batch;

/* Each world takes `steps` steps; one that fails takes no more. False when out of memory: nothing was done. */
bool host_batch_step(const host_batch *batch, double seconds, uint32_t steps);

/* Each world n loads snapshots[n], of sizes[n] bytes. */
bool host_batch_load(const host_batch *batch, const void *const *snapshots, const size_t *sizes);

/* Adds forces[n][body], newtons, to the bodies of world n in slot order; LM_ERROR_CAPACITY when it has another number of them. */
bool host_batch_push(const host_batch *batch, const lm_vec3 *forces, uint32_t bodies);

typedef enum host_observed {
    HOST_POSITIONS = 0, /* three floats for each particle, world coordinates */
    HOST_VELOCITIES,    /* three for each particle */
    HOST_BODIES         /* nine for each body: centre of mass, its velocity, spin */
} host_observed;

/* Writes what is observed of world n at out + n * floats, bodies in slot order; LM_ERROR_CAPACITY when it is not `floats` floats. */
bool host_batch_observe(const host_batch *batch, host_observed what, float *out, uint64_t floats);

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes and meshes
 */

/* Frees what a reader or a scene has made with malloc and given away. */
void host_free(void *memory);

/* lm_scene_check, with the lines one below the other in `text`, as far as there is room. */
uint32_t host_check_scene(lm_scene *scene, lm_world *world, char *text, size_t size);

#endif
