#include "scene/report.h"

#include <stdio.h>
#include <string.h>

report_place lmi_report_at(const char *file, const json_value *value, const char *path)
{
    return (report_place){file, value->source, value->place, path};
}

report_place lmi_report_at_key(const char *file, const json_value *member, const char *path)
{
    return (report_place){file, member->source, member->key_place, path};
}

/* A line must stay one line, whatever the file contains. */
static void flatten(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            *text = '?';
        }
    }
}

void lmi_report_va(lm_scene_error *error, report_place place, const char *format, va_list arguments)
{
    char what[LM_SCENE_ERROR_SIZE];
    vsnprintf(what, sizeof what, format, arguments);
    const char *path = place.path;
    const char *colon = path[0] == '\0' ? "" : ": ";
    int written;
    if (place.source != NULL) {
        written = snprintf(error->text, sizeof error->text, "%.160s: %.200s%s%s", place.source, path, colon, what);
    } else {
        written = snprintf(error->text, sizeof error->text, "%.160s:%u:%u: %.200s%s%s", place.file,
                           (unsigned)place.place.line, (unsigned)place.place.column, path, colon, what);
    }
    if (written < 0) error->text[0] = '\0'; /* longer lines are cut, which is what we want */
    flatten(error->text);
}

void lmi_report(lm_scene_error *error, report_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lmi_report_va(error, place, format, arguments);
    va_end(arguments);
}

void lmi_report_field(lm_scene_error *error, const char *file, const scene_head *head, const char *name,
                      const char *format, ...)
{
    char path[REPORT_PATH_SIZE];
    snprintf(path, sizeof path, "%s%s%s", head->path, name != NULL && head->path[0] != '\0' ? "." : "",
             name != NULL ? name : "");
    const json_value *value = name != NULL ? lmi_json_get(head->json, name) : NULL;
    va_list arguments;
    va_start(arguments, format);
    lmi_report_va(error, lmi_report_at(file, value != NULL ? value : head->json, path), format, arguments);
    va_end(arguments);
}
