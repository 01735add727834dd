/*
 * The numbers that sliders change, as a table: adding a parameter of the material is a line of parameters.c.
 */
#ifndef LIMBER_VIEWER_PARAMETERS_H
#define LIMBER_VIEWER_PARAMETERS_H

#include "limber/limber.h"

typedef struct parameter {
    const char *name; /* on the slider */
    const char *key;  /* as in scene files and reports */
    const char *unit; /* "Hz", or "" */
    const char *help; /* a sentence or two */
    size_t offset;    /* in lm_material: of a float, or of a uint32_t where it is whole */
    float low, high;  /* of the slider; typed values may go to `most` */
    float most;
    bool logarithmic;                             /* the slider's way */
    bool whole;                                   /* a count */
    bool (*matters)(const lm_material *material); /* null: always. Others are shown faint */
} parameter;

/* The parameters of a material that are numbers, in the order of the panel. Null past the end. */
const parameter *parameter_at(uint32_t index);

/* By its key; null when there is none. */
const parameter *parameter_find(const char *key);

float parameter_get(const parameter *parameter, const lm_material *material);

/* Within what the engine takes. */
void parameter_set(const parameter *parameter, lm_material *material, float value);

#endif
