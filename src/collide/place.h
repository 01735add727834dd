/*
 * Movers and colliders where they are in a step (place.c).
 */
#ifndef LMI_PLACE_H
#define LMI_PLACE_H

#include "collide/collide.h"

/* Movers with a target get the velocity that leads them there within a step; all go on for a substep; those with a target are there. */
void lmi_movers_aim(lm_world *world, double seconds);
void lmi_movers_advance(lm_world *world, double h);
void lmi_movers_arrive(lm_world *world);

/* The same of meshes that deform; and whether there are such. */
void lmi_meshes_advance(lm_world *world, double h, uint32_t substep);
void lmi_meshes_arrive(lm_world *world);
bool lmi_meshes_deform(const lm_world *world);

/* A collider where it is now; and all of them, in the order of their slots. `solids`: meshes or height maps are among them. */
lmi_surface lmi_surface_place(const lm_world *world, uint32_t collider);
uint32_t lmi_surfaces_place(const lm_world *world, lmi_surface *to, bool *solids);

#endif
