/*
 * Bodies that are too fast for contacts: they are halted at the first mesh or height map on their way.
 *
 * Contacts put points back onto the surface by depth and normal, in single precision. That works while the way of a substep
 * is some metres; a body at 1e6 m/s comes 17 km, and where its points end up is then known to a millimetre, which is more
 * than they are kept off a sheet: some of them would be left behind it. And an impulse on a corner makes a fast body spin so
 * fast that the next substep throws its particles about, into other walls and around the edges of this one.
 *
 * So a body that may go further in a substep, seen from a solid, than its own size and LMI_FLIGHT is put where the first of
 * its points meets the solid, all of it together, and a hair further; its origin comes along. It loses the rest of its way.
 * Contacts then see a way of a few centimetres (lmi_halt_step), and answer as a whole, without turning the body. On which side
 * of the solid points were is known exactly, from positions that were kept before anything moved.
 *
 * A device leaves substeps to the CPU in which bodies may be that fast (flies in gpu/kernels/body.cl).
 *
 * Reads and writes positions, origins and bounds; writes where points and particles were. One body is independent of others.
 */
#ifndef LMI_HALT_H
#define LMI_HALT_H

#include "world/world.h"

/* Metres in a substep. Single particles and small bodies need no help below this. */
#define LMI_FLIGHT 1.0

/* From this share of such a way on, particles that contacts have left behind a solid are taken back. */
#define LMI_HASTE 0.25

/* Keeps where the particles of a body are at the beginning of a substep, where there are solids. */
void lmi_halt_keep(const lmi_step *step, lmi_body *body);

/* After everything has moved. False for a body that is not that fast. Else `starts` ([block][3][LMI_BLOCK], of particles) and
 * those of its touch points are where they were, from where the body is now. */
bool lmi_halt(const lmi_step *step, lmi_body *body, float *starts);

/* After all contacts of a body: what is then behind a solid that it came to in this substep goes back to before it, each particle for
 * itself. Contacts that move a fast body as a whole may leave it there where it meets several solids. */
void lmi_halt_guard(const lmi_step *step, lmi_body *body);

/* The substep as contacts of this body with walls see it: a halted one has moved for a part of it only. */
static inline lmi_step lmi_halt_step(const lmi_step *step, const lmi_body *body)
{
    lmi_step own = *step;
    own.h *= body->halted ? body->moved : 1.0;
    return own;
}

#endif
