/*
 * The examples of the selected body: a slider for the weight of each, which moves by itself while the engine finds the mix, and
 * forces it when it is taken hold of.
 */
#include "viewer/panel.h"

#include "viewer/widgets.h"

#include <math.h>
#include <stdio.h>

/* Sets one weight. What the others have in all can only be the rest: they keep their proportions. */
static void set_weight(example_mix *mix, uint32_t count, uint32_t which, float weight)
{
    float others = 0.0f, room = 1.0f - weight;
    for (uint32_t k = 0; k < count; k++) {
        others += k != which ? mix->weights[k] : 0.0f;
    }
    float share = others > room ? room / others : 1.0f;
    for (uint32_t k = 0; k < count; k++) {
        mix->weights[k] = k == which ? weight : mix->weights[k] * share;
    }
    mix->forced = true;
}

static bool show_weights(const lm_body_info *info, example_mix *mix)
{
    bool changed = false;
    float rest = 1.0f;
    for (uint32_t k = 0; k < info->examples; k++) {
        char label[32];
        float weight = mix->weights[k];
        snprintf(label, sizeof label, "Example %u", (unsigned)k + 1);
        if (widget_slider(label, "", &weight, weight, 0.0f, 1.0f, false)) {
            set_weight(mix, info->examples, k, fminf(fmaxf(weight, 0.0f), 1.0f));
            changed = true;
        }
        ui_tooltip("Its weight in the mix that the body is pulled to. Dragging the slider forces it.");
        rest -= mix->weights[k];
    }
    ui_text(UI_SMALL, "rest pose %.2f%s", (double)fmaxf(rest, 0.0f),
            info->example_groups > 1 ? ", means of all groups" : "");
    return changed;
}

void panel_examples(app *a)
{
    const lm_world *world = a->session->world;
    example_mix mix;
    lm_body_info info;
    if (lm_body_get_info(world, a->selected, &info) != LM_OK || !change_get_examples(world, a->selected, &mix)) {
        return;
    }
    bool changed = show_weights(&info, &mix);
    changed = widget_toggle("Force the mix", &mix.forced) || changed;
    ui_tooltip("The weights stay as the sliders say. Off: in every step the mix nearest to the body is found.");
    ui_disable_begin(mix.forced);
    changed = widget_slider("Example beta", "", &mix.beta, mix.beta, 0.0f, 1.0f, false) || changed;
    ui_disable_end();
    ui_tooltip("How much of the mix counts. The rest pose gets the remainder, so that the body returns.");
    mix.beta = fminf(fmaxf(mix.beta, 0.0f), 1.0f);
    if (changed) {
        app_set_examples(a, &mix);
    }
    ui_line();
}
