/* The state of the viewer as JSON. */
#include "viewer/report.h"

#include "support/text.h"
#include "viewer/parameters.h"

#include <math.h>
#include <stdlib.h>

static void add_vector(text_buffer *text, const char *key, double x, double y, double z)
{
    lmi_text_addf(text, ", \"%s\": [", key);
    lmi_text_add_json_number(text, x);
    lmi_text_addf(text, ", ");
    lmi_text_add_json_number(text, y);
    lmi_text_addf(text, ", ");
    lmi_text_add_json_number(text, z);
    lmi_text_addf(text, "]");
}

static void add_flag(text_buffer *text, const char *key, bool on)
{
    lmi_text_addf(text, ", \"%s\": %s", key, on ? "true" : "false");
}

static void add_time(const app *a, text_buffer *text)
{
    const session *s = a->session;
    lmi_text_addf(text, ", \"frame\": %u, \"first\": %u, \"last\": %u", (unsigned)s->frame, (unsigned)session_first(s),
                  (unsigned)session_last(s));
    lmi_text_addf(text, ", \"hash\": \"%016llx\", \"mismatches\": %u", (unsigned long long)s->hash,
                  (unsigned)s->mismatches);
    lmi_text_addf(text, ", \"factor\": ");
    lmi_text_add_json_number(text, clock_factor(&a->clock));
    lmi_text_addf(text, ", \"speed\": ");
    lmi_text_add_json_number(text, a->clock.speed);
    add_flag(text, "paused", a->paused);
    add_flag(text, "recording", a->capture.video != NULL);
}

static void add_world(const app *a, text_buffer *text)
{
    const lm_world *world = a->session->world;
    lm_vec3 gravity = lm_world_get_gravity(world);
    add_vector(text, "gravity", (double)gravity.x, (double)gravity.y, (double)gravity.z);
    lmi_text_addf(text, ", \"substeps\": %u, \"threads\": %u, \"isa\": \"%s\"", (unsigned)lm_world_get_substeps(world),
                  (unsigned)lm_world_get_workers(world), lm_isa_name(lm_world_get_isa(world)));
    lmi_text_addf(text, ", \"colliders\": %u", (unsigned)lm_world_get_colliders(world, NULL, 0));
}

static bool add_bodies(const app *a, text_buffer *text)
{
    const lm_world *world = a->session->world;
    uint32_t count = lm_world_get_bodies(world, NULL, 0);
    lm_body_id *ids = calloc((size_t)count + 1, sizeof *ids);
    if (ids == NULL) {
        return false;
    }
    lm_world_get_bodies(world, ids, count);
    lmi_text_addf(text, ", \"bodies\": [");
    for (uint32_t i = 0; i < count; i++) {
        lm_body_info info = {.mass = 0.0f};
        lm_body_get_info(world, ids[i], &info);
        lmi_text_addf(text, "%s{\"particles\": %u, \"memberships\": %llu, \"pieces\": %u, \"broken_links\": %u",
                      i > 0 ? ", " : "", (unsigned)info.particles, (unsigned long long)info.memberships,
                      (unsigned)info.pieces, (unsigned)info.broken_links);
        add_vector(text, "centre", info.centre.x, info.centre.y, info.centre.z);
        add_vector(text, "lower", info.lower.x, info.lower.y, info.lower.z);
        add_vector(text, "upper", info.upper.x, info.upper.y, info.upper.z);
        lmi_text_addf(text, ", \"speed\": ");
        lmi_text_add_json_number(text, (double)info.max_speed);
        lmi_text_addf(text, "}");
    }
    lmi_text_addf(text, "], \"selected\": ");
    uint32_t selected = 0;
    while (selected < count &&
           (ids[selected].slot != a->selected.slot || ids[selected].generation != a->selected.generation)) {
        selected++;
    }
    lmi_text_addf(text, selected < count ? "%u" : "null", (unsigned)selected);
    free(ids);
    return true;
}

static void add_material(const app *a, text_buffer *text)
{
    lm_material material;
    if (!lm_body_is_valid(a->session->world, a->selected) ||
        lm_body_get_material(a->session->world, a->selected, &material) != LM_OK) {
        lmi_text_addf(text, ", \"material\": null");
        return;
    }
    lmi_text_addf(text, ", \"material\": {\"mode\": %u, \"stiffness\": %u, \"damping_kind\": %u",
                  (unsigned)material.mode, (unsigned)material.stiffness, (unsigned)material.damping_kind);
    for (uint32_t i = 0; parameter_at(i) != NULL; i++) {
        lmi_text_addf(text, ", \"%s\": ", parameter_at(i)->key);
        lmi_text_add_json_number(text, (double)parameter_get(parameter_at(i), &material));
    }
    lmi_text_addf(text, "}");
}

static void add_examples(const app *a, text_buffer *text)
{
    example_mix mix;
    lm_body_info info;
    if (!lm_body_is_valid(a->session->world, a->selected) ||
        lm_body_get_info(a->session->world, a->selected, &info) != LM_OK ||
        !change_get_examples(a->session->world, a->selected, &mix)) {
        lmi_text_addf(text, ", \"examples\": null");
        return;
    }
    lmi_text_addf(text, ", \"examples\": {\"beta\": ");
    lmi_text_add_json_number(text, (double)mix.beta);
    add_flag(text, "forced", mix.forced);
    lmi_text_addf(text, ", \"weights\": [");
    for (uint32_t k = 0; k < info.examples; k++) {
        lmi_text_addf(text, k > 0 ? ", " : "");
        lmi_text_add_json_number(text, (double)mix.weights[k]);
    }
    lmi_text_addf(text, "]}");
}

static void add_hand(const app *a, text_buffer *text)
{
    lm_vec3 force = {0.0f, 0.0f, 0.0f};
    const company *c = &a->session->company;
    bool holds = c->grab.slot != 0 && lm_drag_get_force(a->session->world, c->grab, &force) == LM_OK;
    add_flag(text, "holding", holds);
    add_vector(text, "force", (double)force.x, (double)force.y, (double)force.z);
    lmi_text_addf(text, ", \"balls\": %u", (unsigned)c->ball_count);
}

static void add_looks(const app *a, text_buffer *text)
{
    draw_camera camera = app_camera(a);
    add_vector(text, "camera", camera.at.x, camera.at.y, camera.at.z);
    add_vector(text, "look_at", camera.look_at.x, camera.look_at.y, camera.look_at.z);
    lmi_text_addf(text, ", \"views\": [");
    bool first = true;
    for (uint32_t i = 0; draw_view_name(i) != NULL; i++) {
        if (a->drawing.views & draw_view_find(draw_view_name(i))) {
            lmi_text_addf(text, "%s\"%s\"", first ? "" : ", ", draw_view_name(i));
            first = false;
        }
    }
    lmi_text_addf(text, "], \"window\": [%.0f, %.0f], \"picture\": [%.0f, %.0f, %.0f, %.0f]", (double)a->width,
                  (double)a->height, (double)a->picture.x, (double)a->picture.y, (double)a->picture.width,
                  (double)a->picture.height);
    add_flag(text, "panel", a->settings.panel);
    add_flag(text, "help", a->helping);
    add_flag(text, "picker", a->picking_file);
    lmi_text_addf(text, ", \"message\": ");
    lmi_text_add_json_string(text, a->now < a->message_until ? a->message : "");
}

bool report_write(const app *a, const char *name, FILE *file)
{
    text_buffer text = {.bytes = NULL};
    lmi_text_addf(&text, "{\"report\": ");
    lmi_text_add_json_string(&text, name);
    lmi_text_addf(&text, ", \"scene\": ");
    lmi_text_add_json_string(&text, a->session->name);
    add_time(a, &text);
    add_world(a, &text);
    bool good = add_bodies(a, &text);
    add_material(a, &text);
    add_examples(a, &text);
    add_hand(a, &text);
    add_looks(a, &text);
    lmi_text_addf(&text, "}\n");
    char *line = lmi_text_take(&text);
    good = good && line != NULL && fputs(line, file) != EOF && fflush(file) == 0;
    free(line);
    return good;
}
