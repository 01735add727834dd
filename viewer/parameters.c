/* The table of material parameters. */
#include "viewer/parameters.h"

#include <math.h>
#include <string.h>

static bool by_hertz(const lm_material *m) { return m->stiffness == LM_STIFFNESS_HERTZ; }

static bool by_alpha(const lm_material *m) { return m->stiffness == LM_STIFFNESS_ALPHA; }

static bool is_soft(const lm_material *m) { return m->mode != LM_MODE_RIGID; }

static bool is_plastic(const lm_material *m) { return m->yield > 0.0f; }

#define AT(member) offsetof(lm_material, member)

static const parameter parameters[] = {
    {"Stiffness", "hertz", "Hz", "How fast a single region rings: higher is stiffer.", AT(hertz), 0.1f, 60.0f, 1e6f,
     true, by_hertz},
    {"Damping ratio", "damping_ratio", "", "How soon ringing dies out: 1 is just without overshoot.", AT(damping_ratio),
     0.0f, 2.0f, 1e6f, false, by_hertz},
    {"Alpha", "alpha", "", "The share of the way to its goal that a particle goes in one substep.", AT(alpha), 0.0f,
     1.0f, 1.0f, false, by_alpha},
    {"Damping", "damping", "1/s", "The rate at which velocity of deformation decays.", AT(damping), 0.0f, 50.0f, 1e6f,
     false, by_alpha},
    {"Beta", "beta", "", "How much of a deformation is followed without resistance.", AT(beta), 0.0f, 0.95f, 0.95f,
     false, is_soft},
    {"Yield", "yield", "", "The strain above which the shape flows for good; 0: it never does.", AT(yield), 0.0f, 1.0f,
     1e6f, false, NULL},
    {"Creep", "creep", "1/s", "The rate at which strain becomes lasting while it is above the yield.", AT(creep), 0.0f,
     60.0f, 1e6f, false, is_plastic},
    {"Plastic limit", "max_plastic", "", "Lasting strain is kept below this.", AT(max_plastic), 0.0f, 0.9f, 0.9f, false,
     is_plastic},
    {"Friction", "friction", "", "Coulomb's coefficient.", AT(friction), 0.0f, 2.0f, 1e6f, false, NULL},
    {"Bounce", "restitution", "", "The share of the speed of approach that comes back.", AT(restitution), 0.0f, 1.0f,
     1.0f, false, NULL},
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
    memcpy(&value, (const char *)material + p->offset, sizeof value);
    return value;
}

void parameter_set(const parameter *p, lm_material *material, float value)
{
    value = fminf(fmaxf(value, 0.0f), p->most); /* none goes below 0 */
    memcpy((char *)material + p->offset, &value, sizeof value);
}
