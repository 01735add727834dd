/*
 * Errors in scenes: one line that says where, which field, what is wrong and what was expected.
 *
 *     crowd.json:12:17: bodies[0].material.hertz: is -1 (expected a number from 0 to 1000000 in Hz)
 *
 * Values given by --set have no place in the file; the line then begins with the --set itself.
 */
#ifndef LIMBER_SCENE_REPORT_H
#define LIMBER_SCENE_REPORT_H

#include "io/json.h"
#include "limber/scene.h"
#include "scene/format.h"
#include "support/text.h"

#include <stdarg.h>

/* At a value, or at its key. `path` may be "" for the file as a whole. */
typedef struct report_place {
    const char *file;
    const char *source; /* see json_value */
    json_place place;
    const char *path;
} report_place;

report_place lmi_report_at(const char *file, const json_value *value, const char *path);
report_place lmi_report_at_key(const char *file, const json_value *member, const char *path);

void lmi_report_va(lm_scene_error *error, report_place place, const char *format, va_list arguments);
void lmi_report(lm_scene_error *error, report_place place, const char *format, ...) LIKE_PRINTF(3, 4);

/* Room for the path of a field: deeper or longer ones are cut. */
#define REPORT_PATH_SIZE 256

/* About the field `name` of a structure that has been read (at its value, or at the structure when it is absent);
 * null: about the structure itself. */
void lmi_report_field(lm_scene_error *error, const char *file, const scene_head *head, const char *name,
                      const char *format, ...) LIKE_PRINTF(5, 6);

#endif
