/*
 * The expect block: what a scene states about its result.
 *
 * A statement about many bodies must hold for each of them. What is measured over the run (max, min, mean, or at a time)
 * is recorded after each frame; what is measured at the end is measured when the block is checked.
 */
#include "scene/internal.h"
#include "scene/measure.h"

#include <stdio.h>

static bool has(const scene_expect *expect, const char *field)
{
    return lmi_json_get(expect->head.json, field) != NULL;
}

/* The frame whose end is nearest to the expectation's `at`. */
static uint32_t frame_of(const scene_expect *expect)
{
    double frames = floor(expect->at * LM_SCENE_FRAME_RATE + 0.5);
    return frames < 1.0 ? 0 : (uint32_t)frames - 1;
}

static bool is_at_end(const scene_expect *expect) { return !has(expect, "at") && expect->when == WHEN_END; }

void lmi_expect_reset(lm_scene *s)
{
    for (uint32_t i = 0; i < s->file->expect.count; i++) {
        const scene_expect *expect = LIST_ITEM(scene_expect, s->file->expect, i);
        for (uint32_t k = 0; k <= expect->range.count; k++) {
            expect->records[k] = (expect_record){0.0, 0};
        }
    }
}

static void fold(expect_record *record, uint32_t when, double value)
{
    bool first = record->frames == 0;
    /* A value that is not a number must not get lost in a comparison. */
    if (when == WHEN_MAX && !first && value <= record->value) {
        value = record->value;
    } else if (when == WHEN_MIN && !first && value >= record->value) {
        value = record->value;
    } else if (when == WHEN_MEAN && !first) {
        value = record->value + (value - record->value) / (record->frames + 1.0);
    }
    record->value = value;
    record->frames++;
}

/* Measures the expectation's bodies, and the one it compares with, into its records. */
static lm_result record_all(const lm_scene *s, const lm_world *world, const scene_expect *expect)
{
    uint32_t total = expect->range.count + (expect->times != NULL ? 1 : 0);
    for (uint32_t k = 0; k < total; k++) {
        uint32_t body = k < expect->range.count ? expect->range.first + k : expect->times_body;
        double value = 0.0;
        lm_result result = lmi_measure_take(s, world, expect, body, &value);
        if (result != LM_OK) {
            return result;
        }
        fold(&expect->records[k], expect->when, value);
    }
    return LM_OK;
}

lm_result lmi_expect_record_frame(lm_scene *s, const lm_world *world, uint32_t frame)
{
    for (uint32_t i = 0; i < s->file->expect.count; i++) {
        const scene_expect *expect = LIST_ITEM(scene_expect, s->file->expect, i);
        bool counts =
            has(expect, "at") ? frame == frame_of(expect) : (frame + 1) / LM_SCENE_FRAME_RATE >= expect->from - 1e-9;
        if (is_at_end(expect) || !counts) {
            continue;
        }
        lm_result result = record_all(s, world, expect);
        if (result != LM_OK) {
            return result;
        }
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Checking
 */

typedef struct line {
    char text[512];
} line;

static double bound_of(const scene_expect *expect, const char **word)
{
    if (has(expect, "less_than")) {
        *word = "less than";
        return expect->less_than;
    }
    if (has(expect, "greater_than")) {
        *word = "greater than";
        return expect->greater_than;
    }
    *word = "equal to";
    return expect->equals;
}

static bool holds(const scene_expect *expect, double value, double bound)
{
    if (has(expect, "less_than")) {
        return value < bound;
    }
    return has(expect, "greater_than") ? value > bound : value == bound;
}

/* The body that fails, or the one that comes closest to failing. */
static uint32_t worst_body(const scene_expect *expect, double bound)
{
    uint32_t worst = 0;
    for (uint32_t k = 0; k < expect->range.count; k++) {
        double value = expect->records[k].value, least = expect->records[worst].value;
        if (!holds(expect, value, bound) && holds(expect, least, bound)) {
            worst = k; /* comparisons with what is not a number hold for nothing, so this must come first */
        } else if (has(expect, "less_than") ? value > least : has(expect, "greater_than") && value < least) {
            worst = k;
        }
    }
    return worst;
}

static void describe_when(const scene_expect *expect, char *out, size_t size)
{
    static const char *const texts[] = {"at the end", "at most", "at least", "on average"};
    if (has(expect, "at")) {
        snprintf(out, size, "at %g s", expect->at);
    } else {
        snprintf(out, size, "%s", texts[expect->when]);
    }
}

/* "residual of cube at the end: 0.0123, expected greater than 2 times soft (0.0045)" */
static line describe(const lm_scene *s, const scene_expect *expect, uint32_t k, bool good)
{
    const char *word;
    double number = bound_of(expect, &word);
    char when[40], other[160] = "", of[100] = "";
    describe_when(expect, when, sizeof when);
    if (expect->times != NULL) {
        snprintf(other, sizeof other, " times %.60s (%.6g)", expect->times, expect->records[expect->range.count].value);
    }
    if (lmi_measure_is_of_body(expect->measure)) {
        snprintf(of, sizeof of, " of %.80s", s->bodies[expect->range.first + k].name);
    }
    line l;
    snprintf(l.text, sizeof l.text, "%s expect[%u]: %s%s %s: %.6g, expected %s %.6g%s%s%.100s", good ? "ok" : "FAILED",
             (unsigned)(expect - (const scene_expect *)s->file->expect.items), lmi_measure_name(expect->measure), of,
             when, expect->records[k].value, word, number, other, expect->note != NULL ? ": " : "",
             expect->note != NULL ? expect->note : "");
    return l;
}

/* One line for the expectation, about the body that matters most. */
static bool check_one(lm_scene *s, const lm_world *world, const scene_expect *expect, line *out)
{
    uint32_t index = (uint32_t)(expect - (const scene_expect *)s->file->expect.items);
    if (is_at_end(expect)) {
        for (uint32_t k = 0; k <= expect->range.count; k++) {
            expect->records[k] = (expect_record){0.0, 0};
        }
        lm_result result = record_all(s, world, expect);
        if (result != LM_OK) {
            snprintf(out->text, sizeof out->text, "FAILED expect[%u]: %s: %s", (unsigned)index,
                     lmi_measure_name(expect->measure), lm_result_text(result));
            return false;
        }
    }
    if (expect->range.count > 0 && expect->records[0].frames == 0) {
        snprintf(out->text, sizeof out->text, "FAILED expect[%u]: %s was not measured: the run did not reach %g s",
                 (unsigned)index, lmi_measure_name(expect->measure), has(expect, "at") ? expect->at : expect->from);
        return false;
    }
    const char *word;
    double bound = bound_of(expect, &word);
    if (expect->times != NULL) {
        bound *= expect->records[expect->range.count].value;
    }
    if (expect->range.count == 0) {
        snprintf(out->text, sizeof out->text, "FAILED expect[%u]: %s: there are no bodies", (unsigned)index,
                 lmi_measure_name(expect->measure));
        return false;
    }
    uint32_t worst = worst_body(expect, bound);
    bool good = holds(expect, expect->records[worst].value, bound);
    *out = describe(s, expect, worst, good);
    return good;
}

uint32_t lm_scene_check(lm_scene *s, lm_world *world, void (*write)(const char *line, void *user), void *user)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < s->file->expect.count; i++) {
        line l;
        if (!check_one(s, world, LIST_ITEM(scene_expect, s->file->expect, i), &l)) {
            failed++;
        }
        if (write != NULL) {
            write(l.text, user);
        }
    }
    return failed;
}
