/*
 * What a scene may say and seldom means: one line in the log for each kind, when its world is made.
 *
 *   - bodies that touch each other and begin inside each other, so that they are driven apart at once; but those that were put or turned at
 *     random, of which some always meet
 *   - bodies above each other whose groups and masks do not fit, though nobody wrote that they are to pass through each other
 *   - events after the last frame, which never happen
 */
#include "scene/overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bodies of one entry are looked at one by one up to so many in all: pairs grow with their square. */
#define MOST_BODIES 2000

/* How deep is too deep, as a share of the smaller one's mean extent; and how many triangles may be looked at to find that out. */
#define TOO_DEEP 0.05
#define MOST_TRIANGLES 20000000u

/* Of the smaller one's width that the two have in common, seen from above. */
#define COVERED 0.5

void lmi_scene_say(const lm_scene *s, const char *line)
{
    if (s->host_log.write != NULL) {
        s->host_log.write(LM_OK, line, s->host_log.user);
    }
}

/* --- masks --- */

typedef struct placed {
    const scene_body_entry *entry;
    lm_body_info info;
    bool asked; /* somebody wrote what it touches */
} placed;

static double common(double low_a, double high_a, double low_b, double high_b)
{
    double width = fmin(high_a - low_a, high_b - low_b);
    double shared = fmin(high_a, high_b) - fmax(low_a, low_b);
    return width > 0.0 ? shared / width : 0.0;
}

/* Whether one is above the other, whichever: they will meet when the lower one lies on something. */
static bool is_stacked(const placed *a, const placed *b)
{
    const lm_body_info *i = &a->info, *k = &b->info;
    return common(i->lower.x, i->upper.x, k->lower.x, k->upper.x) > COVERED &&
           common(i->lower.z, i->upper.z, k->lower.z, k->upper.z) > COVERED;
}

static bool touches(const placed *a, const placed *b)
{
    return (a->entry->group & b->entry->mask) != 0 && (b->entry->group & a->entry->mask) != 0;
}

/* Masks of both were written, or one that says that it touches nobody. */
static bool is_meant(const placed *a, const placed *b)
{
    return (a->asked && b->asked) || a->entry->mask == 0 || b->entry->mask == 0;
}

static void warn_of_masks(const lm_scene *s, const placed *bodies, uint32_t count)
{
    uint32_t pairs = 0, first = 0, second = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count; k++) {
            const placed *a = &bodies[i], *b = &bodies[k];
            if (!is_meant(a, b) && !touches(a, b) && is_stacked(a, b) && pairs++ == 0) {
                first = i;
                second = k;
            }
        }
    }
    if (pairs > 0) {
        char line[256];
        snprintf(
            line, sizeof line,
            "%.80s: bodies %u and %u are above each other and do not touch each other%s: the group of each must be "
            "in the mask of the other; write \"mask\": 0 where this is meant",
            s->name, first, second, pairs > 1 ? " (and other pairs)" : "");
        lmi_scene_say(s, line);
    }
}

/* --- overlaps --- */

static double mean_extent(const lm_body_info *i)
{
    return (i->upper.x - i->lower.x + i->upper.y - i->lower.y + i->upper.z - i->lower.z) / 3.0;
}

/* Boxes around particles. */
static bool boxes_meet(const lm_body_info *i, const lm_body_info *k)
{
    return i->lower.x < k->upper.x && k->lower.x < i->upper.x && i->lower.y < k->upper.y && k->lower.y < i->upper.y &&
           i->lower.z < k->upper.z && k->lower.z < i->upper.z;
}

static bool is_random(const placed *a)
{
    const scene_repeat *repeat = a->entry->repeat;
    return repeat != NULL &&
           (repeat->vary != NULL || repeat->jitter.x > 0.0 || repeat->jitter.y > 0.0 || repeat->jitter.z > 0.0);
}

static void warn_of_overlaps(const lm_scene *s, const lm_world *world, const placed *bodies, uint32_t count)
{
    uint64_t left = MOST_TRIANGLES;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count && left > 0; k++) {
            const placed *a = &bodies[i], *b = &bodies[k];
            double depth = TOO_DEEP * fmin(mean_extent(&a->info), mean_extent(&b->info));
            if (touches(a, b) && !is_random(a) && !is_random(b) && boxes_meet(&a->info, &b->info) &&
                lmi_overlap_is_deeper(world, s->bodies[i].id, s->bodies[k].id, depth, &left)) {
                char line[256];
                snprintf(line, sizeof line,
                         "%.80s: bodies %u and %u begin inside each other: they are driven apart at once; write "
                         "\"mask\": 0 where they are to pass through each other",
                         s->name, i, k);
                lmi_scene_say(s, line);
                return;
            }
        }
    }
}

/* The bodies of the scene as they were put; null when there is no memory for them: then nothing is said. */
static placed *read_bodies(const lm_scene *s, const lm_world *world, uint32_t count)
{
    placed *bodies = calloc(count, sizeof *bodies);
    for (uint32_t i = 0; i < s->file->bodies.count && bodies != NULL; i++) {
        const scene_body_entry *entry = LIST_ITEM(scene_body_entry, s->file->bodies, i);
        bool asked = lmi_json_get(entry->head.json, "mask") != NULL;
        for (uint32_t n = entry->range.first; n < entry->range.first + entry->range.count; n++) {
            bodies[n] = (placed){.entry = entry, .asked = asked};
            (void)lm_body_get_info(world, s->bodies[n].id, &bodies[n].info); /* it was made just now */
        }
    }
    return bodies;
}

/* --- events --- */

static void warn_of_events(const lm_scene *s)
{
    const double end = (double)s->file->frames / LM_SCENE_FRAME_RATE;
    uint32_t late = 0, first = 0;
    for (uint32_t n = 0; n < s->file->events.count; n++) {
        if (LIST_ITEM(scene_event, s->file->events, n)->time * LM_SCENE_FRAME_RATE + 0.5 >= s->file->frames &&
            late++ == 0) {
            first = n;
        }
    }
    if (late > 0) {
        char line[256];
        snprintf(line, sizeof line, "%.80s: events[%u] is at %.4g s, and the scene ends at %.4g s%s", s->name, first,
                 LIST_ITEM(scene_event, s->file->events, first)->time, end, late > 1 ? " (and others)" : "");
        lmi_scene_say(s, line);
    }
}

void lmi_scene_warn(const lm_scene *s, const lm_world *world)
{
    const scene_file *file = s->file;
    warn_of_events(s);
    if (s->body_count < 2 || s->body_count > MOST_BODIES) {
        return;
    }
    placed *bodies = read_bodies(s, world, s->body_count);
    if (bodies != NULL) {
        warn_of_overlaps(s, world, bodies, s->body_count);
    }
    if (bodies != NULL && file->gravity.y < 0.0 &&
        file->colliders.count > 0) { /* something falls, and onto something */
        warn_of_masks(s, bodies, s->body_count);
    }
    free(bodies);
}
