/*
 * Materials with names. Figures are of the order of what handbooks have; wood and cork are beyond what most substeps reach, and
 * are then as stiff as the substep allows.
 */
#include "world/world.h"

#include <string.h>

typedef struct preset {
    const char *name;
    float young, poisson, density, damping_ratio, friction, restitution, yield, creep, max_plastic;
} preset;

/* clang-format off */
static const preset presets[LM_PRESET_COUNT] = {
    /*               Pa    nu     kg/m³    ratio  friction bounce yield   creep  limit */
    {"jelly",        2e4f, 0.40f, 1050.0f, 0.08f, 0.4f,    0.0f,  0.0f,   5.0f,  0.5f},
    {"soft rubber",  3e5f, 0.40f, 1000.0f, 0.10f, 0.8f,    0.0f,  0.0f,   5.0f,  0.5f},
    {"rubber",       3e6f, 0.42f, 1100.0f, 0.08f, 0.8f,    0.3f,  0.0f,   5.0f,  0.5f},
    {"foam",         5e4f, 0.10f,   60.0f, 0.30f, 0.6f,    0.0f,  0.0f,   5.0f,  0.5f},
    {"flesh",        3e4f, 0.40f, 1050.0f, 0.25f, 0.6f,    0.0f,  0.0f,   5.0f,  0.5f},
    {"dough",        5e4f, 0.35f, 1200.0f, 0.80f, 0.7f,    0.0f,  0.10f, 10.0f,  0.8f},
    {"clay",         1e6f, 0.30f, 1700.0f, 1.00f, 0.7f,    0.0f,  0.02f, 30.0f,  0.8f},
    {"cork",         2e7f, 0.05f,  180.0f, 0.20f, 0.5f,    0.1f,  0.0f,   5.0f,  0.5f},
    {"wood",         1e9f, 0.30f,  600.0f, 0.10f, 0.4f,    0.2f,  0.0f,   5.0f,  0.5f},
};
/* clang-format on */

const char *lm_material_preset_name(uint32_t index) { return index < LM_PRESET_COUNT ? presets[index].name : NULL; }

bool lm_material_preset(const char *name, lm_material *material, float *density)
{
    for (uint32_t n = 0; n < LM_PRESET_COUNT; n++) {
        const preset *p = &presets[n];
        if (strcmp(p->name, name) != 0) {
            continue;
        }
        lm_material m = lm_material_default();
        m.stiffness = LM_STIFFNESS_YOUNG;
        m.young = p->young;
        m.poisson = p->poisson;
        m.damping_ratio = p->damping_ratio;
        m.friction = p->friction;
        m.restitution = p->restitution;
        m.yield = p->yield;
        m.creep = p->creep;
        m.max_plastic = p->max_plastic;
        *material = m;
        if (density) {
            *density = p->density;
        }
        return true;
    }
    return false;
}
