/*
 * What a world that belongs to a JavaScript program needs of its host: memory, the last line of the log, tasks on workers, and values
 * for the vertices of a surface. docs/web.md is for users.
 */
#ifndef LIMBER_WEB_HOST_H
#define LIMBER_WEB_HOST_H

#include "limber/limber.h"
#include "limber/scene.h"

/* ------------------------------------------------------------------------------------------------------------------
 * Memory and log
 */

/* Memory for arguments and results, at a multiple of 16; null when there is none. */
void *web_allocate(size_t size);
void web_free(void *memory);

/* Fills in the log, and where there are workers the tasks. `workers`: threads that work on a step, the caller's among them; 0: all that
 * there are. */
void web_fill_def(lm_world_def *def, uint32_t workers);

/* The last line of the log since the last call, valid until the next line is written; null when there was none. */
const char *web_take_line(void);

/* ------------------------------------------------------------------------------------------------------------------
 * Workers. Each is an instance of the same module on the same memory with a stack of its own. It calls web_work, which takes tasks of
 * all worlds and returns only after web_stop_workers. A build without threads has none.
 */

bool web_has_threads(void);
void web_work(uint32_t index); /* from 1 on: 0 is the thread that steps worlds */
void web_stop_workers(void);
uint32_t web_workers_ready(void); /* that have begun to work and were not stopped */

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes and surfaces
 */

/* lm_scene_check, with the lines one below the other in `text`, as far as there is room. */
uint32_t web_check_scene(lm_scene *scene, lm_world *world, char *text, size_t size);

/* Values for colours: of each vertex of the skin (lm_body_info.skin_vertices), or of each particle of a body without one. */
typedef enum web_value {
    WEB_STRAIN =
        0,      /* change of the distance from the middle of its regions, as a share; what draw's view "strain" shows */
    WEB_SPEED,  /* metres a second; of a vertex the mean of the particles that it is near to */
    WEB_REGION, /* number of a region that it is in, or -1 */
    WEB_PIECE,  /* number of its piece */
    WEB_WIDTH,  /* metres: width of an octree's region; else 0 */
    WEB_VALUE_COUNT
} web_value;

lm_result web_get_values(const lm_world *world, lm_body_id body, web_value kind, float *values);

#endif
