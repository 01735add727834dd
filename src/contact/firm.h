/*
 * Which bodies answer a push as a whole, and for which share of it (contact/push.h). Text that the host and the kernels of devices share.
 *
 * A body does that when a substep brings it back to its shape (firmness, the share of a strain that is taken away) and what deforms it does
 * not last (damping, likewise of a velocity). Contacts of such bodies are processed one after the other, those of all others at once in
 * lanes: a heap of 384 bodies just above the limit took seven times as long to solve as one just below (`crowd`, 18 hertz, where firmness
 * is 0.89). So the limit is near the end of what a substep can reach, and a body is altogether firm only there.
 *
 * And when it crosses a good part of its own size in a substep: what it runs into is then so deep in it that pushes on single particles
 * would turn it inside out. Between not at all and altogether there is little: contacts of a body that answers as a whole for a small share
 * are not soft, so that they have no braces (contact/brace.h), and two octrees that met at 8 m/s went through each other.
 */
#ifndef LMI_FIRM_H
#define LMI_FIRM_H

static inline double lmi_firm_share(double firmness, double damping)
{
    double stiff = (firmness - 0.95) / 0.05, calm = (damping - 0.3) / 0.1;
    return stiff < calm ? stiff : calm;
}

/* way: metres in a substep. */
static inline double lmi_fast_share(double way, double size) { return (way / size - 0.08) / 0.01; }

#endif
