/*
 * For programs in which someone interferes with a running scene (a viewer): going back in time, and more bodies.
 */
#include "scene/internal.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Marks: the ids of the drags that the scene holds, in the order of the file
 */

size_t lm_scene_marks_size(const lm_scene *s)
{
    size_t size = 0;
    for (uint32_t i = 0; i < s->file->drags.count; i++) {
        size += LIST_ITEM(scene_drag, s->file->drags, i)->range.count * sizeof(lm_drag_id);
    }
    return size;
}

void lm_scene_get_marks(const lm_scene *s, void *marks)
{
    char *to = marks;
    for (uint32_t i = 0; i < s->file->drags.count; i++) {
        const scene_drag *drag = LIST_ITEM(scene_drag, s->file->drags, i);
        memcpy(to, drag->ids, drag->range.count * sizeof *drag->ids);
        to += drag->range.count * sizeof *drag->ids;
    }
}

void lm_scene_set_marks(lm_scene *s, const void *marks)
{
    const char *from = marks;
    for (uint32_t i = 0; i < s->file->drags.count; i++) {
        scene_drag *drag = LIST_ITEM(scene_drag, s->file->drags, i);
        memcpy(drag->ids, from, drag->range.count * sizeof *drag->ids);
        from += drag->range.count * sizeof *drag->ids;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * More bodies
 */

lm_result lm_scene_add_again(lm_scene *s, lm_world *world, uint32_t body_index, lm_dvec3 at, lm_body_id *body,
                             lm_scene_error *error)
{
    *body = (lm_body_id){0, 0};
    for (uint32_t i = 0; i < s->file->bodies.count; i++) {
        scene_body_entry *entry = LIST_ITEM(scene_body_entry, s->file->bodies, i);
        uint32_t first = entry->range.first;
        if (body_index >= first && body_index - first < entry->range.count) {
            made_body made = {.name = NULL};
            lm_result result = lmi_make_again(s, world, entry, body_index - first, at, &made, error);
            *body = result == LM_OK ? made.id : *body;
            return result;
        }
    }
    snprintf(error->text, sizeof error->text, "%.160s: has no body %u", s->name, (unsigned)body_index);
    return LM_ERROR_ARGUMENT;
}
