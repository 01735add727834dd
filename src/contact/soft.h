/*
 * What a soft contact is given (solve.h), as plain arithmetic: the host and devices compile this text.
 */
#ifndef LMI_SOFT_H
#define LMI_SOFT_H

#include "base/quad.h"

/* Times through soft contacts: for velocities, and for positions. */
#define LMI_SOFT_PASSES 4
#define LMI_SOFT_SHIFTS 2

/* What rests may stay this deep, as a share of the body's size: putting it out would only move it about. */
#define LMI_LEFT 3e-4f

/* Soft bodies are put out of each other by these shares of their depth in a second (for short substeps). What is shallow, as deep as
 * LMI_SHALLOW times the distance that they keep (touch/depth.h), is what their own pull has brought back since the last substep, and goes
 * quickly; the rest slowly, because all at once would wind them up. */
#define LMI_SHALLOW 2.0
#define LMI_EASE_SHALLOW 120.0f
#define LMI_EASE 24.0f

/* Bodies that were in each other when they met part at this speed, m/s: at once would be a leap. */
#define LMI_PART_SPEED 2.0f

/* What turns a body back, in units of the speed at which it met others: more than this would feed on itself where many bodies
 * are deep in each other. */
#define LMI_MOST_UNTWIST 0.1

static inline float lmi_soft_ease(float h) { return LMI_EASE * h < 0.5f ? LMI_EASE * h : 0.5f; }
static inline float lmi_soft_ease_shallow(float h) { return LMI_EASE_SHALLOW * h < 1.0f ? LMI_EASE_SHALLOW * h : 1.0f; }

/* What a contact has been given so far, as in lmi_contact. */
typedef struct lmi_soft {
    quad braked, ahead, more;
    float pressed;
} lmi_soft;

/* As much of an impulse as friction allows. */
static inline quad lmi_soft_brake(quad wanted, float most)
{
    float size = quad_length(wanted);
    return size > most ? quad_scale(wanted, most / size) : wanted;
}

/*
 * The share of the impulse J that its point was given last time with which a contact begins, so that all of them together add no energy.
 *
 *     takes   -J . u, u: how fast its sides move against each other
 *     borne   |J| sum_i |w_i| / m_i  sum_q |w_qi| |J_q|     (q: all contacts, i: the particles that hold this one)
 *
 * With shares s the energy changes by sum_p s_p J_p . u_p + 1/2 sum_pq s_p s_q M_pq, M_pq: the work of J_q on J_p. Since 2 s_p s_q <= s_p^2 + s_q^2
 * that is at most sum_p (s_p^2 borne_p / 2 - s_p takes_p), and no term is above 0 while s <= 2 takes / borne. A load at rest has takes = borne: it
 * is kept whole, however unevenly the points share it.
 */
static inline float lmi_soft_keeps(float takes, float borne)
{
    takes = lmi_maxf(takes, 0.0f);
    return 2.0f * takes < borne ? 2.0f * takes / borne : 1.0f;
}

/* What is left of a without so much of it along the normal. */
static inline quad lmi_soft_without(quad a, quad normal, float along) { return quad_sub(a, quad_scale(normal, along)); }

static inline quad lmi_soft_total(lmi_soft c, quad normal) { return quad_add(quad_scale(normal, c.pressed), c.braked); }

/* A contact that begins with an impulse. */
static inline lmi_soft lmi_soft_start(quad impulse, quad normal, float friction)
{
    lmi_soft c;
    c.pressed = lmi_maxf(quad_dot(impulse, normal), 0.0f);
    c.braked = lmi_soft_brake(lmi_soft_without(impulse, normal, quad_dot(impulse, normal)), friction * c.pressed);
    c.more = c.ahead = lmi_soft_total(c, normal);
    return c;
}

/* A contact whose sides move at the relative velocity u: what it should have been given, and a little further. */
static inline lmi_soft lmi_soft_pass(lmi_soft c, quad u, quad normal, float bounce, float deep, float friction,
                                     float beta)
{
    quad before = lmi_soft_total(c, normal);
    float along = quad_dot(c.ahead, normal), lacks = bounce - quad_dot(u, normal);
    c.pressed = lmi_maxf(along + lacks / deep, 0.0f);
    quad slide = lmi_soft_without(u, normal, quad_dot(u, normal));
    quad total = quad_sub(lmi_soft_without(c.ahead, normal, along), quad_scale(slide, 1.0f / deep));
    c.braked = lmi_soft_brake(total, friction * c.pressed);
    quad now = lmi_soft_total(c, normal), ahead = quad_add_scaled(now, beta, quad_sub(now, before));
    c.more = quad_sub(ahead, c.ahead);
    c.ahead = ahead;
    return c;
}

/* How much further than they should soft contacts go in a pass, so that the next one has less to do (Nesterov); the last pass
 * ends where they should be. */
static inline float lmi_soft_further(uint32_t pass, uint32_t passes)
{
    return pass + 1 >= passes ? 0.0f : pass == 0 ? 0.0f : pass == 1 ? 0.28f : pass == 2 ? 0.43f : 0.53f;
}

/* The share of its impulses that an island keeps (contact/stiff.c, "energy"), whose work is b / 2 - a and may be `slack`. */
static inline float lmi_work_share(double a, double b, double slack)
{
    b = b > 0.0 ? b : 0.0;
    if (!(0.5 * b - a > slack)) {
        return 1.0f;
    }
    double root = sqrt(a * a + 2.0 * b * slack);
    return (float)(a > 0.0 ? (a + root) / b : 2.0 * slack / (root - a));
}

/* The depth that counts in a substep: what is deeper comes out later. At least twice of what may stay: of less, nothing would be put out
 * of large bodies and in short substeps. */
static inline float lmi_soft_depth(float depth, float approach, float left, float h)
{
    return lmi_minf(depth, lmi_maxf(h * (LMI_PART_SPEED + 1.5f * lmi_maxf(approach, 0.0f)), 2.0f * left));
}

/* The share of the way it came that a contact takes back: what lies below the surface. */
static inline float lmi_soft_share(float depth, float approach, float h)
{
    float came = h * approach;
    return came > 0.0f ? lmi_minf(lmi_maxf(depth, 0.0f) / came, 1.0f) : 0.0f;
}

#endif
