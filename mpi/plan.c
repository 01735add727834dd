/* The plan of a sweep: its values, what it measures, and the head of its table. */
#include "mpi/sweep.h"

#include "base/dmath.h"
#include "base/hash.h"
#include "limber/scene.h"
#include "scene/internal.h"
#include "scene/measure.h"
#include "support/nearest.h"
#include "support/system.h"
#include "support/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 10000000u

lm_result lmi_mpi_fail(lm_mpi_error *error, lm_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return result;
}

lm_mpi_sweep_def lm_mpi_sweep_def_default(void)
{
    lm_mpi_sweep_def def = {.threads = 1, .isa = LM_ISA_BEST};
    return def;
}

static char *copy_of(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* ---- values ---- */

static char *word_of(double value)
{
    text_buffer text = {.bytes = NULL};
    lmi_text_add_json_number(&text, value);
    return lmi_text_take(&text);
}

static bool make_room(sweep_axis *axis, uint32_t count)
{
    axis->count = count;
    axis->words = calloc(count, sizeof *axis->words);
    axis->values = calloc(count, sizeof *axis->values);
    return axis->words != NULL && axis->values != NULL;
}

/* "FROM:TO:lin:COUNT". The ends are hit exactly. */
static lm_result read_range(const char *vary, const char *text, sweep_axis *axis, lm_mpi_error *error)
{
    char kind[4] = "", rest = '\0';
    double from, to;
    unsigned count;
    if (sscanf(text, "%lf:%lf:%3[a-z]:%u%c", &from, &to, kind, &count, &rest) != 4 ||
        (strcmp(kind, "lin") != 0 && strcmp(kind, "log") != 0) || !isfinite(from) || !isfinite(to)) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "vary %.300s: expected PATH=FROM:TO:lin:COUNT or :log:", vary);
    }
    bool by_ratio = kind[1] == 'o';
    if (count < 1 || count > MOST_RUNS || (by_ratio && !(from > 0.0 && to > 0.0))) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "vary %.300s: expected %s", vary,
                            by_ratio && !(from > 0.0 && to > 0.0) ? "values above 0 for log"
                                                                  : "a count of 1 to 10000000");
    }
    if (!make_room(axis, count)) {
        return lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    for (uint32_t n = 0; n < count; n++) {
        double t = count > 1 ? (double)n / (count - 1) : 0.0;
        double value = by_ratio ? from * lmi_exp(lmi_log(to / from) * t) : from + (to - from) * t;
        axis->values[n] = n == 0 ? from : n + 1 == count ? to : value;
        axis->words[n] = word_of(axis->values[n]);
        if (axis->words[n] == NULL) {
            return lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
        }
    }
    return LM_OK;
}

/* "VALUE,VALUE,...": numbers or words. */
static lm_result read_list(const char *vary, const char *text, sweep_axis *axis, lm_mpi_error *error)
{
    uint32_t count = 1;
    for (const char *c = text; *c != '\0'; c++) {
        count += *c == ',';
    }
    if (!make_room(axis, count)) {
        return lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    bool numbers = true;
    for (uint32_t n = 0; n < count; n++) {
        size_t length = strcspn(text, ",");
        if (length == 0 || memchr(text, '"', length) != NULL) {
            return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "vary %.300s: expected numbers or words with commas between",
                                vary);
        }
        axis->words[n] = copy_of(text, length);
        if (axis->words[n] == NULL) {
            return lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
        }
        char *end;
        axis->values[n] = strtod(axis->words[n], &end);
        numbers = numbers && *end == '\0';
        text += length + 1;
    }
    if (!numbers) {
        free(axis->values);
        axis->values = NULL;
    }
    return LM_OK;
}

static lm_result read_axis(const char *vary, sweep_axis *axis, lm_mpi_error *error)
{
    const char *equals = strchr(vary, '=');
    if (equals == NULL || equals == vary || strpbrk(vary, "\"\r\n") != NULL) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "vary %.300s: expected PATH=FROM:TO:lin:COUNT", vary);
    }
    axis->path = copy_of(vary, (size_t)(equals - vary));
    if (axis->path == NULL) {
        return lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    return strchr(equals, ':') != NULL ? read_range(vary, equals + 1, axis, error)
                                       : read_list(vary, equals + 1, axis, error);
}

uint32_t lmi_sweep_place(const sweep_plan *plan, uint32_t run, uint32_t axis)
{
    for (uint32_t a = plan->axis_count; --a > axis;) {
        run /= plan->axes[a].count;
    }
    return run % plan->axes[axis].count;
}

/* ---- measures ---- */

static lm_result add_short_measure(text_buffer *out, const char *text, lm_mpi_error *error)
{
    static const char *const whens[] = {"end", "max", "min", "mean"};
    const char *colon = strchr(text, ':'), *name = colon != NULL ? colon + 1 : text, *at = strchr(name, '@');
    char when[8] = "end", measure[64];
    snprintf(measure, sizeof measure, "%.*s", at != NULL ? (int)(at - name) : 63, name);
    bool known = colon == NULL;
    for (size_t n = 0; n < sizeof whens / sizeof *whens && colon != NULL; n++) {
        if (strlen(whens[n]) == (size_t)(colon - text) && strncmp(whens[n], text, strlen(whens[n])) == 0) {
            snprintf(when, sizeof when, "%s", whens[n]);
            known = true;
        }
    }
    if (!known) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "measure %.300s: expected end:, max:, min: or mean:", text);
    }
    nearest_name near = lmi_nearest_to(measure);
    bool found = false;
    for (uint32_t n = 0; lmi_measure_name(n) != NULL; n++) {
        lmi_nearest_offer(&near, lmi_measure_name(n));
        found = found || strcmp(lmi_measure_name(n), measure) == 0;
    }
    if (!found) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "measure %.300s: unknown measure \"%s\"%s%s%s", text, measure,
                            near.best != NULL ? " (did you mean \"" : "", near.best != NULL ? near.best : "",
                            near.best != NULL ? "\"?)" : "");
    }
    lmi_text_addf(out, "{\"measure\": \"%s\", \"when\": \"%s\", \"less_than\": 0", measure, when);
    if (at != NULL) {
        lmi_text_addf(out, ", \"body\": ");
        lmi_text_add_json_string(out, at + 1);
    }
    lmi_text_addf(out, "}");
    return LM_OK;
}

/* The expect block; its bounds say nothing, only what is measured counts. */
static lm_result make_expect(const lm_mpi_sweep_def *def, sweep_plan *plan, lm_mpi_error *error)
{
    text_buffer out = {.bytes = NULL};
    lm_result result = LM_OK;
    lmi_text_addf(&out, "expect=[");
    for (uint32_t n = 0; n < def->measure_count && result == LM_OK; n++) {
        const char *text = def->measures[n];
        lmi_text_addf(&out, "%s", n > 0 ? ", " : "");
        if (text[0] != '{') {
            result = add_short_measure(&out, text, error);
        } else if (strchr(text, '}') == NULL) {
            result = lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "measure %.300s: expected an object of JSON", text);
        } else {
            lmi_text_addf(&out, "{\"less_than\": 0, %s", text + 1);
        }
    }
    lmi_text_addf(&out, "]");
    plan->expect = lmi_text_take(&out);
    if (plan->expect == NULL && result == LM_OK) {
        result = lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    return result;
}

/* ---- the head of the table ---- */

/* Of the scene's text, so that a table is not continued with another scene under the same name. */
static uint64_t hash_of_scene(const char *name)
{
    const char *text = lm_scene_builtin_text(name);
    if (text != NULL) {
        return lmi_hash_bytes(LMI_HASH_SEED, (const unsigned char *)text, strlen(text));
    }
    uint64_t hash = LMI_HASH_SEED;
    FILE *file = lmi_system_open(name, "rb");
    unsigned char bytes[4096];
    for (size_t got; file != NULL && (got = fread(bytes, 1, sizeof bytes, file)) > 0;) {
        hash = lmi_hash_bytes(hash, bytes, got);
    }
    if (file != NULL) {
        fclose(file);
    }
    return hash;
}

static void add_cell(text_buffer *out, const char *text)
{
    bool plain = strpbrk(text, ",\" ") == NULL;
    lmi_text_addf(out, plain ? "" : "\"");
    for (const char *c = text; *c != '\0'; c++) {
        lmi_text_add(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    }
    lmi_text_addf(out, plain ? "" : "\"");
}

static bool make_header(const lm_mpi_sweep_def *def, sweep_plan *plan)
{
    text_buffer out = {.bytes = NULL};
    lmi_text_addf(&out, "# limber-mpi sweep %s", def->scene);
    for (uint32_t n = 0; n < def->set_count; n++) {
        lmi_text_addf(&out, " --set %s", def->sets[n]);
    }
    for (uint32_t n = 0; n < def->vary_count; n++) {
        lmi_text_addf(&out, " --vary %s", def->vary[n]);
    }
    for (uint32_t n = 0; n < def->measure_count; n++) {
        lmi_text_addf(&out, " --measure %s", def->measures[n]);
    }
    lmi_text_addf(&out, " --frames %u (scene %016llx, limber %s)\nrun", (unsigned)def->frames,
                  (unsigned long long)hash_of_scene(def->scene), lm_version());
    for (uint32_t n = 0; n < plan->axis_count; n++) {
        lmi_text_addf(&out, ",");
        add_cell(&out, plan->axes[n].path);
    }
    for (uint32_t n = 0; n < def->measure_count; n++) {
        lmi_text_addf(&out, ",");
        add_cell(&out, def->measures[n]);
    }
    lmi_text_addf(&out, ",hash,error\n");
    plan->header = lmi_text_take(&out);
    return plan->header != NULL;
}

/* The scene with what is the same in all runs: what is wrong there would fail them all. */
static lm_result try_scene(const lm_mpi_sweep_def *def, const sweep_plan *plan, lm_mpi_error *error)
{
    lm_scene_error why;
    const char **sets = calloc((size_t)def->set_count + 1, sizeof *sets);
    if (sets == NULL) {
        return lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    for (uint32_t n = 0; n < def->set_count; n++) {
        sets[n] = def->sets[n];
    }
    sets[def->set_count] = plan->expect;
    lm_scene *scene = lm_scene_open(def->scene, sets, def->set_count + 1, &why);
    free((void *)sets);
    if (scene == NULL) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "%s", why.text);
    }
    lm_result result = LM_OK;
    for (uint32_t n = 0; n < def->measure_count && result == LM_OK; n++) {
        uint32_t bodies = LIST_ITEM(scene_expect, scene->file->expect, n)->range.count;
        if (bodies != 1) { /* there is one column for it */
            result = lmi_mpi_fail(error, LM_ERROR_ARGUMENT,
                                  "measure %.200s is of %u bodies (expected one: name it with @BODY)", def->measures[n],
                                  (unsigned)bodies);
        }
    }
    lm_scene_close(scene);
    return result;
}

lm_result lmi_sweep_plan(const lm_mpi_sweep_def *def, sweep_plan *plan, lm_mpi_error *error)
{
    *plan = (sweep_plan){.def = def, .runs = 1};
    if (def->vary_count == 0 || def->vary_count > LM_MPI_MAX_VARIED || def->measure_count == 0) {
        return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "expected 1 to %d values that vary and at least one measure",
                            LM_MPI_MAX_VARIED);
    }
    for (uint32_t n = 0; n < def->set_count + def->measure_count; n++) {
        const char *text = n < def->set_count ? def->sets[n] : def->measures[n - def->set_count];
        if (strpbrk(text, "\r\n") != NULL) {
            return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "%.300s: expected one line", text);
        }
    }
    for (uint32_t n = 0; n < def->vary_count; n++) {
        plan->axis_count++;
        lm_result result = read_axis(def->vary[n], &plan->axes[n], error);
        if (result != LM_OK) {
            return result;
        }
        if ((uint64_t)plan->runs * plan->axes[n].count > MOST_RUNS) {
            return lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "more than %u runs", MOST_RUNS);
        }
        plan->runs *= plan->axes[n].count;
    }
    lm_result result = make_expect(def, plan, error);
    result = result == LM_OK ? try_scene(def, plan, error) : result;
    if (result == LM_OK && !make_header(def, plan)) {
        result = lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    return result;
}

void lmi_sweep_plan_free(sweep_plan *plan)
{
    for (uint32_t a = 0; a < plan->axis_count; a++) {
        for (uint32_t n = 0; n < plan->axes[a].count && plan->axes[a].words != NULL; n++) {
            free(plan->axes[a].words[n]);
        }
        free(plan->axes[a].words);
        free(plan->axes[a].values);
        free(plan->axes[a].path);
    }
    free(plan->expect);
    free(plan->header);
}
