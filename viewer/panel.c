/* The panel and its pages; how the window is divided. */
#include "viewer/panel.h"

#include "viewer/parameters.h"
#include "viewer/widgets.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const pages[] = {"Scenes", "Body", "World", "View", "Numbers"};

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes
 */

void panel_scenes(app *a)
{
    ui_input("Search", "Search scenes", a->search, sizeof a->search);
    float half = 0.5f * (ui_width_left() - 8.0f);
    ui_scroll_begin("scene list", -36.0f);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < a->catalogue.count; i++) {
        const catalogue_entry *entry = &a->catalogue.entries[i];
        if (!catalogue_matches(entry, a->search)) {
            continue;
        }
        shown++;
        bool is_open = strcmp(entry->name, a->session->name) == 0;
        bool pressed = widget_entry(entry->name, entry->sentence, is_open);
        if (is_open && a->show_scene) {
            ui_scroll_here();
            a->show_scene = false;
        }
        if (pressed) {
            app_open_file(a, entry->name);
        }
    }
    if (shown == 0) {
        ui_text_wrapped(UI_FAINT, "No scene has these words.");
    }
    ui_scroll_end();
    if (ui_button("Open file...", half, false)) {
        app_pick_file(a, true);
    }
    ui_tooltip(
        "A scene (.json), a mesh (.obj, .ply, .stl, .gltf, .glb) or a snapshot (.limber). Files can also be dropped "
        "on the window.");
    ui_same_line();
    if (ui_button("Restart", half, false)) {
        app_restart(a, false);
    }
    ui_tooltip(
        "Everything as the scene's file says (R). With Shift+R materials, gravity and substeps stay as they are.");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Body
 */

static void show_counts(const lm_body_info *info)
{
    ui_text(UI_SMALL, "%u particles   %u region%s   %.3g kg", (unsigned)info->particles, (unsigned)info->regions,
            info->regions == 1 ? "" : "s", (double)info->mass);
    if (info->broken_links > 0) {
        ui_text(UI_SMALL, "%u piece%s   %u broken link%s", (unsigned)info->pieces, info->pieces == 1 ? "" : "s",
                (unsigned)info->broken_links, info->broken_links == 1 ? "" : "s");
    }
    if (info->stiffness_limited) {
        ui_text(UI_SMALL, "as stiff as the substep allows: %.1f Hz", (double)info->reached_hertz);
        ui_text(UI_SMALL, "%u substeps would reach what is asked", (unsigned)info->substeps_needed);
    }
}

/* One slider of the table, with its way back. */
static bool show_parameter(const parameter *p, const lm_material *first, lm_material *material)
{
    bool idle = p->matters != NULL && !p->matters(material);
    float value = parameter_get(p, material), start = parameter_get(p, first);
    ui_disable_begin(idle);
    int count = (int)value;
    bool changed = p->whole ? widget_slider_count(p->name, &count, (int)start, (int)p->low, (int)p->high)
                            : widget_slider(p->name, p->unit, &value, start, p->low, p->high, p->logarithmic);
    value = p->whole ? (float)count : value;
    ui_disable_end();
    char help[256];
    snprintf(help, sizeof help, "%s%s\n%g to %g%s%s. Ctrl+click to type a value. At the start: %g.", p->help,
             idle ? " Without effect as things are." : "", (double)p->low, (double)p->high,
             p->unit[0] != '\0' ? " " : "", p->unit, (double)start);
    ui_tooltip(help);
    if (changed) {
        parameter_set(p, material, value);
    }
    return changed;
}

/* Which of them a material is given in, counted from hertz. */
static uint32_t way_of(const lm_material *m)
{
    lm_stiffness way = m->stiffness != LM_STIFFNESS_GIVEN ? m->stiffness
                       : m->young > 0.0f                  ? LM_STIFFNESS_YOUNG
                       : m->sag > 0.0f                    ? LM_STIFFNESS_SAG
                                                          : LM_STIFFNESS_HERTZ;
    return (uint32_t)way - 1;
}

/* Another way of giving it starts from something soft and firm. */
static void take_way(lm_material *m, lm_stiffness way)
{
    m->stiffness = way;
    m->hertz = way == LM_STIFFNESS_HERTZ && m->hertz == 0.0f ? 8.0f : m->hertz;
    m->young = way == LM_STIFFNESS_YOUNG && m->young == 0.0f ? 1e5f : m->young;
    m->sag = way == LM_STIFFNESS_SAG && m->sag == 0.0f ? 0.03f : m->sag;
}

/* Lattices bend by their many regions, and need no quadratic ones; clusters have no regional damping. */
static bool show_material(bool lattice, const lm_material *first, lm_material *material)
{
    static const char *const modes[] = {"Rigid", "Linear", "Quadratic"};
    static const char *const ways[] = {"hertz", "pascals", "sag",
                                       "alpha"}; /* as lm_stiffness after LM_STIFFNESS_GIVEN */
    static const char *const dampings[] = {"whole body", "each region"};
    uint32_t mode = material->mode, way = way_of(material), damping = material->damping_kind;
    bool changed = widget_choice("Regions follow", modes, lattice ? 2 : 3, &mode);
    changed = widget_choice("Stiffness in", ways, 4, &way) || changed;
    changed = (lattice && widget_choice("Damped towards the motion of", dampings, 2, &damping)) || changed;
    material->mode = (lm_mode)mode;
    take_way(material, (lm_stiffness)(way + 1));
    material->damping_kind = (lm_damping)damping;
    ui_gap(2.0f);
    for (uint32_t i = 0; parameter_at(i) != NULL; i++) {
        if (lattice || parameter_at(i) != parameter_find("damping_every")) {
            changed = show_parameter(parameter_at(i), first, material) || changed;
        }
    }
    return changed;
}

/* Materials by name, three in a row. The body keeps its mass: the density of a preset is for bodies that are made of it. */
static bool show_presets(lm_material *material)
{
    bool changed = false;
    float third = (ui_width_left() - 16.0f) / 3.0f;
    ui_text(UI_SMALL, "Made of");
    for (uint32_t n = 0; n < LM_PRESET_COUNT; n++) {
        lm_material preset;
        const char *name = lm_material_preset_name(n);
        lm_material_preset(name, &preset, NULL);
        bool is_it = material->stiffness == LM_STIFFNESS_YOUNG && material->young == preset.young &&
                     material->poisson == preset.poisson && material->yield == preset.yield &&
                     material->damping_ratio == preset.damping_ratio;
        if (n % 3 != 0) {
            ui_same_line();
        }
        if (ui_button(name, third, is_it)) {
            *material = preset;
            changed = true;
        }
        char help[128];
        snprintf(help, sizeof help, "%.3g Pa, Poisson's ratio %.2f, damping ratio %.2f%s.", (double)preset.young,
                 (double)preset.poisson, (double)preset.damping_ratio, preset.yield > 0.0f ? ", plastic" : "");
        ui_tooltip(help);
    }
    return changed;
}

void panel_body(app *a)
{
    lm_body_info info;
    lm_material material;
    const lm_world *world = a->session->world;
    if (!lm_body_is_valid(world, a->selected) || lm_body_get_info(world, a->selected, &info) != LM_OK ||
        lm_body_get_material(world, a->selected, &material) != LM_OK) {
        ui_text_wrapped(UI_FAINT, "No body is selected: click on one.");
        return;
    }
    char name[128];
    session_body_name(a->session, a->selected, name, sizeof name);
    ui_text(UI_STRONG, "%s", name);
    show_counts(&info);
    float third = (ui_width_left() - 16.0f) / 3.0f;
    if (ui_button("Squash flat", third, false)) {
        app_squash(a);
    }
    ui_tooltip("Puts all of its particles on one level, and lets go.");
    ui_same_line();
    if (ui_button("Inside out", third, false)) {
        app_turn_inside_out(a);
    }
    ui_tooltip("Puts each particle on the other side of the body's centre, and lets go.");
    ui_same_line();
    if (ui_button("Add another", third, false)) {
        app_add_another(a);
    }
    ui_tooltip("One more like this one, above it.");
    ui_gap(2.0f);
    ui_scroll_begin("material", 0.0f);
    panel_examples(a);
    lm_material first = session_first_material(a->session, a->selected);
    bool named = show_presets(&material);
    ui_gap(2.0f);
    if (show_material(info.spacing > 0.0f, &first, &material) || named) {
        app_set_material(a, &material);
    }
    ui_gap(2.0f);
    if (ui_button("Reset material", ui_width_left(), false)) {
        app_set_material(a, &first);
    }
    ui_tooltip("Every value as at the start of the scene.");
    ui_scroll_end();
}

/* ------------------------------------------------------------------------------------------------------------------
 * World
 */

static const char *isa_word(lm_isa isa)
{
    static const char *const words[] = {"Best", "Scalar", "SSE2", "AVX2", "AVX-512"};
    return words[isa];
}

static void show_isa(app *a)
{
    const char *words[LM_ISA_COUNT];
    lm_isa isas[LM_ISA_COUNT];
    uint32_t count = 0, chosen = 0;
    for (lm_isa isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (lm_isa_supported(isa)) {
            chosen = isa == lm_world_get_isa(a->session->world) ? count : chosen;
            isas[count] = isa;
            words[count++] = isa_word(isa);
        }
    }
    if (widget_choice("Instruction set", words, count, &chosen)) {
        app_set_host(a, lm_world_get_workers(a->session->world), isas[chosen]);
    }
}

void panel_world(app *a)
{
    lm_world *world = a->session->world;
    lm_vec3 gravity = lm_world_get_gravity(world);
    lm_vec3 start = a->session->gravity;
    bool changed = widget_slider("Gravity, up", "m/s\xc2\xb2", &gravity.y, start.y, -20.0f, 20.0f, false);
    ui_tooltip("Below 0 is down. 9.81 on the Earth, 1.62 on the Moon.");
    changed = widget_slider("Gravity, right", "m/s\xc2\xb2", &gravity.x, start.x, -20.0f, 20.0f, false) || changed;
    changed = widget_slider("Gravity, front", "m/s\xc2\xb2", &gravity.z, start.z, -20.0f, 20.0f, false) || changed;
    if (changed) {
        app_set_gravity(a, gravity);
    }
    ui_line();
    int substeps = (int)lm_world_get_substeps(world);
    if (widget_slider_count("Substeps", &substeps, (int)a->session->substeps, 0, 16)) {
        app_set_substeps(a, (uint32_t)substeps);
    }
    ui_tooltip(
        "Into how many parts a step of 1/60 s is divided. More let stiff bodies be stiffer; 0: as many as they need.");
    ui_line();
    int threads = (int)lm_world_get_workers(world);
    if (widget_slider_count("Threads", &threads, threads, 1, threads > 16 ? LM_MAX_WORKERS : 16)) {
        app_set_host(a, (uint32_t)threads, lm_world_get_isa(world));
    }
    ui_tooltip("Workers that share a step. Results do not depend on them.");
    show_isa(a);
    ui_text_wrapped(UI_SMALL,
                    "Results are the same to the last bit with any number of threads and any instruction set: watch "
                    "the hash.");
}

/* ------------------------------------------------------------------------------------------------------------------
 * View
 */

static const char *view_sentence(const char *name)
{
    static const char *const sentences[][2] = {
        {"surface", "skins in their colours"},
        {"wireframe", "the skins' triangles"},
        {"particles", "what the engine moves"},
        {"regions", "a colour for each region"},
        {"goals", "where particles are pulled"},
        {"links", "from regions to their members"},
        {"contacts", "particles that touch something"},
        {"speed", "colours by speed"},
        {"strain", "colours by strain"},
        {"stress", "colours by von Mises stress"},
        {"bones", "skeletons inside"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        if (strcmp(sentences[i][0], name) == 0) {
            return sentences[i][1];
        }
    }
    return "";
}

/* What a toggle shows: beside it, or where the panel is too narrow for that, when the mouse is on it. */
static void explain_toggle(const app *a, const char *sentence)
{
    if (a->settings.panel_width < 330) {
        ui_tooltip(sentence);
    } else {
        ui_same_line_at(138.0f);
        widget_row_text(UI_SMALL, 20.0f, sentence);
    }
}

void panel_views(app *a)
{
    for (uint32_t i = 0; draw_view_name(i) != NULL; i++) {
        const char *name = draw_view_name(i);
        char word[32];
        snprintf(word, sizeof word, "%c%s", name[0] - 'a' + 'A', name + 1);
        bool on = (a->drawing.views & draw_view_find(name)) != 0;
        if (widget_toggle(word, &on)) {
            app_toggle_view(a, draw_view_find(name));
        }
        explain_toggle(a, view_sentence(name));
    }
    ui_line();
    widget_toggle("Labels", &a->settings.labels);
    explain_toggle(a, "what the scene says of its bodies");
    ui_gap(4.0f);
    if (ui_button("Reset camera", 0.0f, false)) {
        app_reset_camera(a);
    }
    ui_tooltip("As the scene's file has it (Home).");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Numbers
 */

static void show_row(const char *name, const char *format, ...) LIKE_PRINTF(2, 3);

static void show_row(const char *name, const char *format, ...)
{
    char text[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ui_text(UI_FAINT, "%s", name);
    ui_same_line_at(130.0f);
    ui_text(UI_NORMAL, "%s", text);
}

void panel_numbers(app *a)
{
    const session *s = a->session;
    lm_stats stats;
    lm_world_get_stats(s->world, &stats);
    ui_text(UI_STRONG, "%.2f ms a step", (double)history_mean_step(&a->history));
    ui_same_line();
    ui_text(UI_SMALL, "of 16.7 that it is worth");
    widget_graph_data graph = {
        &a->history.milliseconds[0][0],     HISTORY_SERIES, HISTORY_STEPS, a->history.next, history_top(&a->history),
        (float)(1e3 / LM_SCENE_FRAME_RATE), "real time"};
    widget_graph(&graph, 110.0f);
    for (uint32_t i = 0, shown = 0; i < HISTORY_SERIES; i++) {
        float mean = history_mean(&a->history, i);
        if (mean < 0.0005f) {
            continue;
        }
        if (shown++ % 2 == 1) {
            ui_same_line_at(0.5f * (float)a->settings.panel_width - 8.0f);
        }
        widget_series_mark(i);
        ui_text(UI_SMALL, "%s  %.3f ms", history_name(i), (double)mean);
    }
    ui_line();
    show_row("Bodies", "%u", (unsigned)stats.bodies);
    show_row("Particles", "%u", (unsigned)stats.particles);
    show_row("Regions", "%u", (unsigned)stats.regions);
    show_row("Memberships", "%llu", (unsigned long long)stats.memberships);
    show_row("Contacts", "%u", (unsigned)stats.contacts);
    show_row("Memory", "%.1f MB", (double)stats.memory / 1e6);
    show_row("Last 10 s", "%.1f MB", (double)timeline_memory(&s->timeline) / 1e6);
    ui_line();
    show_row("Frame", "%u", (unsigned)s->frame);
    show_row("Time", "%.3f s", s->frame / LM_SCENE_FRAME_RATE);
    show_row("State hash", "%016llx", (unsigned long long)s->hash);
    ui_text_wrapped(UI_SMALL, s->mismatches == 0 ? "Every frame that was returned to had the hash it had before."
                                                 : "A frame that was returned to had another hash than before!");
}

/* ------------------------------------------------------------------------------------------------------------------
 * The panel
 */

static void draw_captures(app *a)
{
    float third = (ui_width_left() - 16.0f) / 3.0f;
    bool recording = a->capture.video != NULL;
    if (ui_button(recording ? "Stop" : "Record", third, recording)) {
        app_toggle_recording(a);
    }
    ui_tooltip("An MP4 video of the picture, with every step (F9).");
    ui_same_line();
    if (ui_button("Screenshot", third, false)) {
        app_screenshot(a);
    }
    ui_tooltip("A PNG file of the window (F12).");
    ui_same_line();
    if (ui_button("Save state", third, false)) {
        app_save_snapshot(a);
    }
    ui_tooltip("A snapshot of the world (F5), to be opened here or with limber run --load.");
}

static void draw_panel(app *a)
{
    ui_window_begin("panel", UI_PANEL, (ui_box){0.0f, 0.0f, (float)a->settings.panel_width, a->height});
    const char *slash = strrchr(a->session->name, '/');
    widget_row_text(UI_TITLE, 24.0f, "Limber");
    ui_same_line();
    widget_row_text(UI_FAINT, 26.0f, slash != NULL ? slash + 1 : a->session->name);
    ui_text_wrapped(UI_SMALL, lm_scene_title(a->session->scene));
    if (lm_scene_figure(a->session->scene)[0] != '\0') {
        ui_text_wrapped(UI_TINY, lm_scene_figure(a->session->scene));
    }
    ui_gap(2.0f);
    uint32_t page = a->settings.page;
    widget_tabs(pages, 5, &page);
    a->settings.page = page;
    ui_scroll_begin("page", -44.0f);
    static void (*const contents[])(app *) = {panel_scenes, panel_body, panel_world, panel_views, panel_numbers};
    contents[page](a);
    ui_scroll_end();
    ui_gap(0.0f);
    draw_captures(a);
    ui_window_end();
}

void panel_draw(app *a)
{
    overlay_draw(a);
    if (a->settings.panel) {
        draw_panel(a);
        transport_draw(a);
    }
    if (a->helping) {
        help_draw(a);
    }
    if (a->picking_file) {
        picker_draw(a);
    }
}
