/*
 * Overstretched bodies: states of several times the body's size. A caller can set a million times; an engine that cannot
 * explode must come back from there. Three things would hold it up.
 *
 * The speed limit, applied to each particle by itself, turns a pull without torque into one with torque. So the limit is
 * applied to the whole deformation velocity by one factor, which keeps momentum and spin.
 *
 * Angular momentum grows with the square of the size and is kept while the body shrinks: what rounding gives to a body of
 * a million sizes becomes a spin of millions of turns a second in a body of one, and a spinning body is stretched. So an
 * angular momentum that is no more than the rounding of its terms is taken for what it is, and removed. As the body
 * shrinks, so does the rounding; what is left at OVERSTRETCHED sizes does not show.
 *
 * Goals that a fit finds far from the particles jump (a region that is turned inside out may turn either way), and each
 * jump may add energy: an undamped body of many regions that tear at each other could gain it without end. So while
 * particles are torn from their goals by more than the body's size, deformation velocity is lost, whatever the material.
 * Pieces of one body that fly apart are not torn: they have goals of their own.
 *
 * Müller et al. 2005 have no such states. All this is done in double precision, one particle after the other, and only for
 * such bodies: others are not touched, and pay one comparison.
 */
#include "base/dmath.h"
#include "lattice/lattice_body.h"
#include "world/motion.h"

#define OVERSTRETCHED 3.0

/* In units of the sum of the terms' magnitudes. Float32 leaves about 1e-7; what a step left must still count as rounding
 * when damping has shrunk the terms in the next one. */
#define ROUNDING 1e-5

/* Of LM_MAX_SPEED, for the deformation velocity; the rest is for the motion as a whole. */
#define SPEED_SHARE 0.5

/* Sizes between a particle and its goal, and 1/s of deformation velocity lost beyond them. */
#define TORN 1.0
#define LOSS 20.0

static double spread_of(const lmi_body *body)
{
    return dvec_length(dvec_sub(dvec_from(body->upper), dvec_from(body->lower)));
}

bool lmi_is_overstretched(const lmi_step *step, const lmi_body *body)
{
    double spread = spread_of(body);
    if (body->lattice && body->lattice->shape.part_count > 1) { /* how far apart the parts are does not matter */
        spread = 0.0;
        for (uint32_t n = 0; n < body->lattice->shape.part_count; n++) {
            const lmi_lattice_part *part = &body->lattice->part[n];
            spread = lmi_max(spread, dvec_length(dvec_sub(dvec_from(part->upper), dvec_from(part->lower))));
        }
    }
    return spread > OVERSTRETCHED * body->rest_size ||
           body->alpha / step->h * spread > 0.5 * SPEED_SHARE * LM_MAX_SPEED;
}

static lm_dvec3 position_of(const lmi_body *body, uint32_t n)
{
    const float *x = body->x + (size_t)n * 4;
    return dvec(x[0], x[1], x[2]);
}

static lm_dvec3 velocity_of(const lmi_body *body, uint32_t n)
{
    const float *v = body->v + (size_t)n * 4;
    return dvec(v[0], v[1], v[2]);
}

/* Mass in lanes of a particle that is matched, else 0. */
static double matched_mass(const lmi_body *body, uint32_t n)
{
    return body->x[(size_t)n * 4 + 3] > 0.0f ? body->v[(size_t)n * 4 + 3] : 0.0;
}

/* The motion as a whole again, in double precision throughout. */
static void measure(lmi_body *body)
{
    lm_dvec3 first = position_of(body, body->reference), from = velocity_of(body, body->reference);
    lm_dvec3 moment = dvec(0.0, 0.0, 0.0), momentum = moment, angular = moment;
    double mass = 0.0, second[6] = {0.0};
    LMI_PARTICLES_EACH(body, n)
    {
        double m = matched_mass(body, n);
        lm_dvec3 r = dvec_sub(position_of(body, n), first), p = dvec_scale(dvec_sub(velocity_of(body, n), from), m);
        mass += m;
        moment = dvec_add(moment, dvec_scale(r, m));
        momentum = dvec_add(momentum, p);
        angular = dvec_add(angular, dvec_cross(r, p));
        const double products[6] = {r.x * r.x, r.y * r.y, r.z * r.z, r.x * r.y, r.y * r.z, r.z * r.x};
        for (int i = 0; i < 6; i++) second[i] += m * products[i];
    }
    lmi_motion_solve(&body->motion, vec_from(first), vec_from(from), mass,
                     (const double[3]){moment.x, moment.y, moment.z},
                     (const double[3]){momentum.x, momentum.y, momentum.z},
                     (const double[3]){angular.x, angular.y, angular.z}, second);
}

void lmi_quiet_rounding(const lmi_step *step, lmi_body *body)
{
    measure(body);
    lm_dvec3 centre = dvec_from(body->motion.centre), drift = dvec_from(body->motion.velocity);
    lm_dvec3 spin = dvec_from(body->motion.spin), angular = dvec(0.0, 0.0, 0.0);
    double size = 0.0; /* m r² + m (h u)²: of the same order at every phase of an oscillation */
    LMI_PARTICLES_EACH(body, n)
    {
        double m = matched_mass(body, n);
        lm_dvec3 r = dvec_sub(position_of(body, n), centre), u = dvec_sub(velocity_of(body, n), drift);
        angular = dvec_add(angular, dvec_scale(dvec_cross(r, u), m));
        size += m * (dvec_dot(r, r) + step->h * step->h * dvec_dot(u, u));
    }
    if (step->h * dvec_length(angular) > ROUNDING * size) return;
    LMI_PARTICLES_EACH(body, n)
    {
        if (matched_mass(body, n) == 0.0) continue;
        float *v = body->v + (size_t)n * 4;
        lm_dvec3 turning = dvec_cross(spin, dvec_sub(position_of(body, n), centre));
        lmi_change_velocity(v, dvec_scale(turning, -1.0));
    }
    body->motion.spin = (lm_vec3){0.0f, 0.0f, 0.0f};
}

float lmi_overstretch_keeps(const lmi_step *step, const lmi_body *body, const float *pull, lm_vec3 velocity,
                            lm_vec3 spin)
{
    double rate = body->alpha / step->h, keep = 1.0 - body->damping_now, fastest = 0.0, farthest = 0.0;
    LMI_PARTICLES_EACH(body, n)
    {
        if (matched_mass(body, n) == 0.0) continue;
        const float *d = pull + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
        lm_dvec3 r = dvec_sub(position_of(body, n), dvec_from(body->motion.centre));
        lm_dvec3 whole = dvec_add(dvec_from(body->motion.velocity), dvec_cross(dvec_from(body->motion.spin), r));
        lm_dvec3 extra = dvec_add(dvec_from(velocity), dvec_cross(dvec_from(spin), r));
        lm_dvec3 wish = dvec_sub(dvec(d[0], d[LMI_BLOCK], d[2 * LMI_BLOCK]), extra);
        farthest = lmi_max(farthest, dvec_length(wish));
        lm_dvec3 u = dvec_add(dvec_scale(dvec_sub(velocity_of(body, n), whole), keep), dvec_scale(wish, rate));
        fastest = lmi_max(fastest, dvec_length(u));
    }
    double limit = SPEED_SHARE * LM_MAX_SPEED, share = 1.0;
    if (farthest > TORN * body->rest_size) share = lmi_exp(-LOSS * step->h);
    return (float)lmi_min(share, fastest * share > limit ? limit / fastest : 1.0);
}
