/* All limits in one place, so that whoever mends something tightens them here. Ratios are of what was measured over what theory says. */
#include "validate/limits.h"

#include <stddef.h>
#include <string.h>

#define CURVES "bars a few cells thick are too stiff in bending and twisting"

/* clang-format off */
static const limit limits[] = {
    /* study        quantity                 low    high   known to be off */
    {"hanging",     "E",                     0.95,  1.05,  NULL},
    {"poisson",     "nu - asked",           -0.04,  0.04,  NULL},
    {"poisson",     "nu - asked, wide",     -0.15,  0.06,  "regions wider than the bar is thick see little of its getting thinner"},
    {"cantilever",  "tip",                   0.80,  1.20,  "bars of 3 cells are stiffer, regions half as wide as the bar is thick softer"},
    {"cantilever",  "tip, two sizes / one",  0.90,  1.10,  NULL},
    {"torsion",     "frequency",             0.85,  2.40,  CURVES},
    {"wave",        "speed",                 0.93,  1.07,  NULL},
    {"beam",        "frequency",             0.85,  2.00,  CURVES},
    {"compression", "sag",                   0.90,  2.10,  "regions that a surface cuts off are softer across it, within a width of it"},
    {"default",     "sag",                   0.01,  0.08,  NULL},
    {"drift",       "energy",                0.80,  1.25,  NULL},
    {"cloth",       "stretch",               0.00,  0.80,  NULL},
    {"cloth",       "droop",                 0.95,  1.05,  NULL},
    {"drift",       "momentum",              0.00,  1e-4,  NULL},
    {"drift",       "angular momentum",      0.00,  1e-2,  NULL},
};
/* clang-format on */

const limit *limit_find(const char *study, const char *quantity)
{
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++) {
        if (strcmp(limits[n].study, study) == 0 && strcmp(limits[n].quantity, quantity) == 0) {
            return &limits[n];
        }
    }
    return NULL;
}
