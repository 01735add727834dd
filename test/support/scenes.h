/*
 * Scenes from texts, for tests.
 */
#ifndef LIMBER_TEST_SCENES_H
#define LIMBER_TEST_SCENES_H

#include "limber/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* As if read from a file s.json; null with an error when something is wrong with it. */
static inline lm_scene *lmi_read_scene(const char *text, lm_scene_error *error)
{
    return lm_scene_open_text("s.json", text, strlen(text), NULL, 0, error);
}

/* One that must be good. */
static inline lm_scene *open_scene(const char *text)
{
    lm_scene_error error;
    lm_scene *s = lmi_read_scene(text, &error);
    if (s == NULL) fail_msg("%s", error.text);
    return s;
}

/* A world of the scene on one thread; fails the test when it cannot be made. */
static inline lm_world *make_scene_world(lm_scene *s)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    lm_world *world = NULL;
    lm_scene_error error;
    if (lm_scene_make_world(s, &def, &world, &error) != LM_OK) fail_msg("%s", error.text);
    return world;
}

static inline void assert_vector(lm_dvec3 v, double x, double y, double z)
{
    if (fabs(v.x - x) + fabs(v.y - y) + fabs(v.z - z) > 1e-12) {
        fail_msg("[%.15g, %.15g, %.15g], expected [%g, %g, %g]", v.x, v.y, v.z, x, y, z);
    }
}

#endif
