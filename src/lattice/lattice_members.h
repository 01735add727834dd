/*
 * The regions of a lattice one by one: lattice_members.c.
 */
#ifndef LMI_LATTICE_MEMBERS_H
#define LMI_LATTICE_MEMBERS_H

#include "lattice/lattice_body.h"

/* As lm_body_get_regions; either array may be null. */
void lmi_lattice_regions(const lmi_body *body, uint32_t *offsets, uint32_t *members);

/* As lm_body_get_region_transforms; `from` is where the body's origin is from the caller's base. */
void lmi_lattice_transforms(const lmi_body *body, lm_dvec3 from, lm_region_transform *transforms);

/* Shares of the regions from values of the particles (in the caller's order): means weighted by mass. */
void lmi_lattice_stiffness_of(const lmi_body *body, const float *values, float *shares);

/* body->stiffness, which is by region, by place. */
void lmi_lattice_stiffness_by_place(const lmi_body *body, float *by_place);

#endif
