/* The table of material parameters. */
#include "viewer/parameters.h"

#include <math.h>
#include <string.h>

static bool by_hertz(const lm_material *m) { return m->stiffness == LM_STIFFNESS_HERTZ; }

static bool by_young(const lm_material *m) { return m->stiffness == LM_STIFFNESS_YOUNG; }

static bool by_sag(const lm_material *m) { return m->stiffness == LM_STIFFNESS_SAG; }

static bool by_units(const lm_material *m) { return by_young(m) || by_sag(m); }

static bool by_ratio(const lm_material *m) { return by_hertz(m) || by_units(m); }

static bool by_alpha(const lm_material *m) { return m->stiffness == LM_STIFFNESS_ALPHA; }

static bool by_regions(const lm_material *m) { return m->damping_kind == LM_DAMPING_REGIONAL; }

static bool is_free(const lm_material *m) { return m->mode != LM_MODE_RIGID && !by_units(m); }

static bool is_plastic(const lm_material *m) { return m->yield > 0.0f; }

#define AT(member) offsetof(lm_material, member)

static const parameter parameters[] = {
    {"Stiffness", "hertz", "Hz", "How fast a single region rings: higher is stiffer.", AT(hertz), 0.1f, 60.0f, 1e6f,
     true, false, by_hertz},
    {"Damping ratio", "damping_ratio", "", "How soon ringing dies out: 1 is just without overshoot.", AT(damping_ratio),
     0.0f, 2.0f, 1e6f, false, false, by_ratio},
    {"Young's modulus", "young", "Pa", "Stress over strain: jelly has some thousand, rubber a million.", AT(young),
     100.0f, 1e8f, 1e15f, true, false, by_young},
    {"Sag", "sag", "", "The share of its height by which it sinks under its own weight.", AT(sag), 0.001f, 0.5f, 10.0f,
     true, false, by_sag},
    {"Poisson's ratio", "poisson", "", "How much thinner it gets when it is stretched; 0.5 would keep its volume.",
     AT(poisson), 0.0f, LM_MAX_POISSON, LM_MAX_POISSON, false, false, by_units},
    {"Alpha", "alpha", "", "The share of the way to its goal that a particle goes in one substep.", AT(alpha), 0.0f,
     1.0f, 1.0f, false, false, by_alpha},
    {"Damping", "damping", "1/s", "The rate at which velocity of deformation decays.", AT(damping), 0.0f, 50.0f, 1e6f,
     false, false, by_alpha},
    {"Damping every", "damping_every", "substeps",
     "Regional damping is made every so many substeps, for all that time.", AT(damping_every), 1.0f, 16.0f,
     (float)LM_MAX_SUBSTEPS, false, true, by_regions},
    {"Beta", "beta", "", "How much of a deformation is followed without resistance.", AT(beta), 0.0f, 0.95f, 0.95f,
     false, false, is_free},
    {"Yield", "yield", "", "The strain above which the shape flows for good; 0: it never does.", AT(yield), 0.0f, 1.0f,
     1e6f, false, false, NULL},
    {"Creep", "creep", "1/s", "The rate at which strain becomes lasting while it is above the yield.", AT(creep), 0.0f,
     60.0f, 1e6f, false, false, is_plastic},
    {"Plastic limit", "max_plastic", "", "Lasting strain is kept below this.", AT(max_plastic), 0.0f, 0.9f, 0.9f, false,
     false, is_plastic},
    {"Friction", "friction", "", "Coulomb's coefficient.", AT(friction), 0.0f, 2.0f, 1e6f, false, false, NULL},
    {"Bounce", "restitution", "", "The share of the speed of approach that comes back.", AT(restitution), 0.0f, 1.0f,
     1.0f, false, false, NULL},
};

#define COUNT (sizeof parameters / sizeof parameters[0])

const parameter *parameter_at(uint32_t index) { return index < COUNT ? &parameters[index] : NULL; }

const parameter *parameter_find(const char *key)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        if (strcmp(parameters[i].key, key) == 0) {
            return &parameters[i];
        }
    }
    return NULL;
}

float parameter_get(const parameter *p, const lm_material *material)
{
    float value;
    uint32_t count;
    memcpy(&value, (const char *)material + p->offset, sizeof value);
    memcpy(&count, (const char *)material + p->offset, sizeof count);
    return p->whole ? (float)count : value;
}

void parameter_set(const parameter *p, lm_material *material, float value)
{
    value = fminf(fmaxf(value, p->whole ? 1.0f : 0.0f), p->most);
    uint32_t count = (uint32_t)fminf(value, (float)LM_MAX_SUBSTEPS);
    memcpy((char *)material + p->offset, p->whole ? (const void *)&count : (const void *)&value, sizeof value);
}
