/* The studies: each adds its tables, plots and checks to the report. False: it could not be done, and the report says why. */
#ifndef LIMBER_VALIDATE_STUDIES_H
#define LIMBER_VALIDATE_STUDIES_H

#include "validate/report.h"

bool study_hanging(report *report);
bool study_poisson(report *report);
bool study_compression(report *report);
bool study_cantilever(report *report);
bool study_torsion(report *report);
bool study_wave(report *report);
bool study_beam(report *report);
bool study_default(report *report);
bool study_drift(report *report);
bool study_cloth(report *report);
bool study_cost(report *report);

#endif
