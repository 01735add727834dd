/* One run of a sweep: a scene with its values set, stepped to the end, and the line that it gives the table. */
#include "mpi/sweep.h"

#include "limber/scene.h"
#include "scene/internal.h"
#include "scene/measure.h"
#include "support/text.h"

#include <stdlib.h>
#include <string.h>

static void add_values(const sweep_plan *plan, uint32_t run, text_buffer *out)
{
    lmi_text_addf(out, "%u", (unsigned)run);
    for (uint32_t a = 0; a < plan->axis_count; a++) {
        lmi_text_addf(out, ",%s", plan->axes[a].words[lmi_sweep_place(plan, run, a)]);
    }
}

/* Instead of numbers: why there are none, in the last column. */
static char *failed_line(const sweep_plan *plan, uint32_t run, const char *why)
{
    text_buffer out = {.bytes = NULL};
    add_values(plan, run, &out);
    for (uint32_t n = 0; n < plan->def->measure_count; n++) {
        lmi_text_addf(&out, ",");
    }
    lmi_text_addf(&out, ",,\"");
    for (const char *c = why; *c != '\0'; c++) {
        char plain = *c == '"' ? '\'' : *c == '\n' || *c == '\r' ? ' ' : *c;
        lmi_text_add(&out, &plain, 1);
    }
    lmi_text_addf(&out, "\"\n");
    return lmi_text_take(&out);
}

/* Of a world that was stepped to the end. */
static char *measured_line(const sweep_plan *plan, uint32_t run, const lm_scene *scene, const lm_world *world)
{
    text_buffer out = {.bytes = NULL};
    add_values(plan, run, &out);
    for (uint32_t n = 0; n < plan->def->measure_count; n++) {
        const expect_record *record = LIST_ITEM(scene_expect, scene->file->expect, n)->records;
        if (record->frames == 0) {
            lmi_text_free(&out);
            return failed_line(plan, run, "the run ended before the time of a measure");
        }
        lmi_text_addf(&out, ",");
        lmi_text_add_json_number(&out, record->value);
    }
    lmi_text_addf(&out, ",%016llx,\n", (unsigned long long)lm_world_hash(world));
    return lmi_text_take(&out);
}

static char *simulate(const sweep_plan *plan, uint32_t run, lm_scene *scene)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world = NULL;
    lm_scene_error error;
    def.workers = plan->def->threads > 0 ? plan->def->threads : 1;
    def.isa = plan->def->isa;
    def.log = (lm_log){NULL, NULL}; /* what would be said of each run again */
    char *line = NULL;
    if (lm_scene_make_world(scene, &def, &world, &error) != LM_OK) {
        return failed_line(plan, run, error.text);
    }
    lm_result result = LM_OK;
    uint32_t frames = plan->def->frames > 0 ? plan->def->frames : lm_scene_frames(scene);
    for (uint32_t frame = 0; frame < frames && result == LM_OK; frame++) {
        result = lm_scene_step(scene, world, frame);
    }
    if (result != LM_OK) {
        line = failed_line(plan, run, lm_result_text(result));
    } else {
        lm_scene_check(scene, world, NULL, NULL); /* what is measured at the end */
        line = measured_line(plan, run, scene, world);
    }
    lm_world_destroy(world);
    return line;
}

char *lmi_sweep_run(const sweep_plan *plan, uint32_t run)
{
    const lm_mpi_sweep_def *def = plan->def;
    const char **sets = calloc((size_t)def->set_count + plan->axis_count + 1, sizeof *sets);
    char *own[LM_MPI_MAX_VARIED] = {NULL}, *line = NULL;
    uint32_t count = 0;
    bool ok = sets != NULL;
    for (; ok && count < def->set_count; count++) {
        sets[count] = def->sets[count];
    }
    for (uint32_t a = 0; a < plan->axis_count && ok; a++) {
        text_buffer out = {.bytes = NULL};
        lmi_text_addf(&out, "%s=%s", plan->axes[a].path, plan->axes[a].words[lmi_sweep_place(plan, run, a)]);
        own[a] = lmi_text_take(&out);
        ok = own[a] != NULL;
        sets[count++] = own[a];
    }
    if (ok) {
        lm_scene_error error;
        sets[count++] = plan->expect;
        lm_scene *scene = lm_scene_open(def->scene, sets, count, &error);
        line = scene != NULL ? simulate(plan, run, scene) : failed_line(plan, run, error.text);
        lm_scene_close(scene);
    }
    for (uint32_t a = 0; a < plan->axis_count; a++) {
        free(own[a]);
    }
    free((void *)sets);
    return line;
}
