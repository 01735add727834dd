/* The summary of a run, for people and as JSON. */
#include "cli/run.h"

#include <math.h>
#include <stdio.h>

void summary_add_step(run_summary *summary, const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    summary->frames++;
    summary->step_seconds += stats.step_seconds;
    for (int i = 0; i < LM_STAGE_COUNT; i++) {
        summary->stage_seconds[i] += stats.stage_seconds[i];
    }
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    /* Not a maximum of fmaxf's kind: a speed that is no number must show. */
    if (!(totals.max_speed <= summary->max_speed)) {
        summary->max_speed = totals.max_speed;
    }
}

void summary_finish(run_summary *summary, const lm_scene *scene_run, const lm_world *world)
{
    lm_stats stats;
    lm_totals totals;
    lm_world_get_stats(world, &stats);
    lm_world_get_totals(world, &totals);
    summary->bodies = stats.bodies;
    summary->particles = stats.particles;
    summary->regions = stats.regions;
    summary->regions_per_particle = stats.particles > 0 ? (double)stats.memberships / stats.particles : 0.0;
    summary->threads = lm_world_get_workers(world);
    summary->isa = lm_world_get_isa(world);
    summary->finite = totals.finite;
    summary->momentum_error = lm_scene_momentum_error(scene_run, world);
    summary->hash = lm_world_hash(world);
}

/* Seconds in all to milliseconds a step. */
static double per_step(const run_summary *summary, double seconds)
{
    return summary->frames > 0 ? 1000.0 * seconds / summary->frames : 0.0;
}

void summary_print(const run_summary *summary)
{
    printf("%s: %u frames\n", summary->scene, (unsigned)summary->frames);
    printf("  bodies      %u\n", (unsigned)summary->bodies);
    printf("  particles   %u\n", (unsigned)summary->particles);
    printf("  regions     %u (a particle is in %.2f)\n", (unsigned)summary->regions, summary->regions_per_particle);
    printf("  step        %.3f ms on %u thread%s, %s\n", per_step(summary, summary->step_seconds),
           (unsigned)summary->threads, summary->threads == 1 ? "" : "s", lm_isa_name(summary->isa));
    for (int i = 0; i < LM_STAGE_COUNT; i++) {
        printf("    %-9s %.3f ms\n", lm_stage_name((lm_stage)i), per_step(summary, summary->stage_seconds[i]));
    }
    printf("  max speed   %.3f m/s%s\n", (double)summary->max_speed, summary->finite ? "" : ", NOT FINITE");
    printf("  momentum    %.2g unexplained\n", summary->momentum_error);
    printf("  hash        %016llx\n", (unsigned long long)summary->hash);
}

static void add_number(text_buffer *out, const char *key, double value)
{
    lmi_text_addf(out, ", \"%s\": ", key);
    lmi_text_add_json_number(out, value);
}

char *summary_json(const run_summary *summary)
{
    text_buffer out = {.bytes = NULL};
    lmi_text_addf(&out, "{\"scene\": ");
    lmi_text_add_json_string(&out, summary->scene);
    lmi_text_addf(&out, ", \"frames\": %u, \"bodies\": %u, \"particles\": %u, \"regions\": %u",
                  (unsigned)summary->frames, (unsigned)summary->bodies, (unsigned)summary->particles,
                  (unsigned)summary->regions);
    add_number(&out, "regions_per_particle", summary->regions_per_particle);
    lmi_text_addf(&out, ", \"threads\": %u, \"isa\": \"%s\"", (unsigned)summary->threads, lm_isa_name(summary->isa));
    add_number(&out, "ms_per_step", per_step(summary, summary->step_seconds));
    lmi_text_addf(&out, ", \"stages\": {");
    for (int i = 0; i < LM_STAGE_COUNT; i++) {
        lmi_text_addf(&out, "%s\"%s\": ", i > 0 ? ", " : "", lm_stage_name((lm_stage)i));
        lmi_text_add_json_number(&out, per_step(summary, summary->stage_seconds[i]));
    }
    lmi_text_addf(&out, "}");
    add_number(&out, "max_speed", (double)summary->max_speed);
    lmi_text_addf(&out, ", \"finite\": %s", summary->finite ? "true" : "false");
    add_number(&out, "momentum_error", summary->momentum_error);
    lmi_text_addf(&out, ", \"hash\": \"%016llx\"}\n", (unsigned long long)summary->hash);
    return lmi_text_take(&out);
}
