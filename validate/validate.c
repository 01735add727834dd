/* The list of studies. */
#include "validate/validate.h"

#include "support/system.h"
#include "validate/studies.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *title;
    bool (*run)(report *report);
} studies[] = {
    {"hanging", "Young's modulus of hanging bars: widths, substeps, damping, resolution", study_hanging},
    {"poisson", "Poisson's ratio of the same bars", study_poisson},
    {"compression", "a cube under its own weight, up to loads that crush it", study_compression},
    {"cantilever", "bending against beam theory: slenderness, thickness, width", study_cantilever},
    {"torsion", "twisting of a square bar", study_torsion},
    {"wave", "speed of waves along a rod", study_wave},
    {"beam", "bending frequencies of a free beam", study_beam},
    {"default", "sag of a mesh with the defaults over resolution and size", study_default},
    {"drift", "energy and momentum over 100,000 steps", study_drift},
    {"cloth", "stretch and droop of cloth and rope", study_cloth},
    {"cost", "memory and processor time of the kinds of bodies", study_cost},
};

#define STUDY_COUNT (sizeof studies / sizeof studies[0])

const char *validate_name(uint32_t index) { return index < STUDY_COUNT ? studies[index].name : NULL; }
const char *validate_title(uint32_t index) { return index < STUDY_COUNT ? studies[index].title : NULL; }

static bool make_folders(report *r, const char *folder)
{
    char pictures[1024];
    int length = snprintf(pictures, sizeof pictures, "%s/pictures", folder);
    if (length < 0 || (size_t)length > 900) {
        return report_fail(r, "--out: the name is too long");
    }
    const char *both[] = {folder, pictures};
    for (int n = 0; n < 2; n++) {
        if (lmi_system_look(both[n]) == SYSTEM_NOTHING) {
            int error = lmi_system_make_folder(both[n]);
            if (error != 0) {
                return report_fail(r, "%s: cannot be made: %s", both[n], strerror(error));
            }
        } else if (lmi_system_look(both[n]) != SYSTEM_FOLDER) {
            return report_fail(r, "%s: is no folder", both[n]);
        }
    }
    return true;
}

validate_result validate_run(const validate_options *options, char fault[VALIDATE_FAULT_SIZE])
{
    report r = {.options = options};
    bool ok = options->folder == NULL || make_folders(&r, options->folder);
    report_begin(&r);
    for (size_t n = 0; ok && n < STUDY_COUNT; n++) {
        if (options->only == NULL || strcmp(options->only, studies[n].name) == 0) {
            ok = studies[n].run(&r);
        }
    }
    report_finish(&r);
    snprintf(fault, VALIDATE_FAULT_SIZE, "%s", r.fault);
    return r.fault[0] != '\0' ? VALIDATE_FAILED : r.off > 0 ? VALIDATE_OFF : VALIDATE_GOOD;
}
