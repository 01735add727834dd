/* Displacing a rest shape: modes, scale, shear, squash, taper, twist, bend, curve, rotate and move, noise, in this order. */
#include "scene/internal.h"

static void get_axes(uint32_t axis, lm_dvec3 p, double c[3])
{
    const double all[3] = {p.x, p.y, p.z};
    for (uint32_t i = 0; i < 3; i++) {
        c[i] = all[(axis + i) % 3];
    }
}

static lm_dvec3 put_axes(uint32_t axis, const double c[3])
{
    double all[3];
    for (uint32_t i = 0; i < 3; i++) {
        all[(axis + i) % 3] = c[i];
    }
    return vector(all[0], all[1], all[2]);
}

static lm_dvec3 twisted(const scene_deform *deform, lm_dvec3 p)
{
    double c[3], sine, cosine;
    get_axes(deform->axis, p, c);
    lmi_sine_cosine(deform->twist * c[0], &sine, &cosine);
    double turned[3] = {c[0], cosine * c[1] - sine * c[2], sine * c[1] + cosine * c[2]};
    return put_axes(deform->axis, turned);
}

/* The axis becomes an arc of constant curvature; sections stay plane and at right angles to it. */
static lm_dvec3 bent(const scene_deform *deform, lm_dvec3 p)
{
    double c[3], sine, cosine;
    get_axes(deform->axis, p, c);
    lmi_sine_cosine(deform->bend * c[0], &sine, &cosine);
    double radius = 1.0 / (deform->bend * RADIANS_PER_DEGREE);
    double arm = radius - c[1];
    double turned[3] = {arm * sine, radius - arm * cosine, c[2]};
    return put_axes(deform->axis, turned);
}

/* The modes of the quadratic fit are functions of the rest place, so their order does not matter. */
static lm_dvec3 with_modes(const scene_deform *deform, lm_dvec3 q)
{
    const double functions[9] = {q.x, q.y, q.z, q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x};
    double grown[3] = {q.x, q.y, q.z};
    for (uint32_t i = 0; i < deform->modes.count; i++) {
        const scene_mode *mode = LIST_ITEM(scene_mode, deform->modes, i);
        grown[mode->axis] += mode->amount * functions[mode->function];
    }
    return vector(grown[0], grown[1], grown[2]);
}

/* Shorter along the axis and wider across it, at the same volume; then wider or narrower along it. */
static lm_dvec3 squashed(const scene_deform *deform, lm_dvec3 p)
{
    double c[3], across = 1.0 / sqrt(1.0 - deform->squash);
    get_axes(deform->axis, p, c);
    c[0] *= 1.0 - deform->squash;
    across *= 1.0 + deform->taper * c[0];
    c[1] *= across;
    c[2] *= across;
    return put_axes(deform->axis, c);
}

/* The axis becomes a sine wave; sections stay plane and at right angles to it. */
static lm_dvec3 curved(const scene_deform *deform, lm_dvec3 p)
{
    double c[3], sine, cosine;
    get_axes(deform->axis, p, c);
    lmi_sine_cosine(360.0 * c[0] / deform->wave, &sine, &cosine);
    double slope = deform->curve * cosine * 360.0 * RADIANS_PER_DEGREE / deform->wave;
    double length = sqrt(1.0 + slope * slope);
    double moved[3] = {c[0] - c[1] * slope / length, deform->curve * sine + c[1] / length, c[2]};
    return put_axes(deform->axis, moved);
}

/* How much of the deformation a place takes: 1 in the box, 0 beyond its fade. */
static double share_at(const scene_deform *deform, lm_dvec3 p)
{
    const scene_box *box = deform->where;
    if (box == NULL) {
        return 1.0;
    }
    lm_dvec3 out =
        vector(fmax(fmax(box->min.x - p.x, p.x - box->max.x), 0.0), fmax(fmax(box->min.y - p.y, p.y - box->max.y), 0.0),
               fmax(fmax(box->min.z - p.z, p.z - box->max.z), 0.0));
    double away = vector_length(out);
    return away <= 0.0 ? 1.0 : away < deform->fade ? 1.0 - away / deform->fade : 0.0;
}

static bool moves(const scene_deform *deform)
{
    const rotation r = deform->rotate;
    const lm_dvec3 m = deform->move;
    return r.x != 0.0 || r.y != 0.0 || r.z != 0.0 || m.x != 0.0 || m.y != 0.0 || m.z != 0.0;
}

void lmi_deform_points(const scene_deform *deform, const lm_vec3 *rest, uint32_t count, lm_dvec3 *out)
{
    random_source source = lmi_random_start(deform->seed, 0);
    for (uint32_t i = 0; i < count; i++) {
        lm_dvec3 q = with_modes(deform, vector_widen(rest[i]));
        lm_dvec3 p = vector(q.x * deform->scale.x, q.y * deform->scale.y, q.z * deform->scale.z);
        p.x += deform->shear.x * p.y + deform->shear.y * p.z;
        p.y += deform->shear.z * p.z;
        if (deform->squash != 0.0 || deform->taper != 0.0) {
            p = squashed(deform, p);
        }
        if (deform->twist != 0.0) {
            p = twisted(deform, p);
        }
        if (fabs(deform->bend) > 1e-6) { /* below that the arc is a straight line, and its radius too long to compute */
            p = bent(deform, p);
        }
        if (deform->curve != 0.0) {
            p = curved(deform, p);
        }
        if (moves(deform)) {
            p = lmi_rotation_apply(deform->rotate, vector_subtract(p, deform->about));
            p = vector_add(p, vector_add(deform->about, deform->move));
        }
        if (deform->noise > 0.0) {
            p = vector_add(p, vector_scale(lmi_random_vector(&source), deform->noise));
        }
        out[i] = deform->where ? vector_mix(vector_widen(rest[i]), p, share_at(deform, vector_widen(rest[i]))) : p;
    }
}
