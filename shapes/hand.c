/*
 * A right hand, open and at ease: the fingers point along y, slightly spread and bent, the palm looks along z, the thumb is
 * at positive x. Cut off flat below the wrist. The unit of length is about ten centimetres; the knuckles are near y = 0.
 *
 * A digit is a chain of three bones in flesh: the fingers' own, and the thumb's two with the one inside its ball.
 */
#include "kind.h"
#include "model.h"

typedef struct digit {
    field_point joints[4]; /* from the knuckle to the middle of the tip */
    double radii[4];
    field_point back; /* about where the nail looks */
    double crease;    /* of the first bone's length: where the innermost crease is */
} digit;

enum { INDEX, MIDDLE, RING, LITTLE, THUMB, DIGITS };

static const digit digits[DIGITS] = {
    {{{0.297, 0.020, 0.000}, {0.401, 0.455, 0.047}, {0.460, 0.699, 0.148}, {0.501, 0.870, 0.263}},
     {0.112, 0.101, 0.092, 0.080},
     {0.0, 0.0, -1.0},
     0.42},
    {{{0.085, 0.060, -0.015}, {0.107, 0.556, 0.046}, {0.119, 0.836, 0.177}, {0.127, 1.012, 0.309}},
     {0.115, 0.104, 0.094, 0.082},
     {0.0, 0.0, -1.0},
     0.42},
    {{{-0.122, 0.020, -0.010}, {-0.195, 0.480, 0.055}, {-0.235, 0.733, 0.192}, {-0.261, 0.897, 0.336}},
     {0.110, 0.098, 0.089, 0.078},
     {0.0, 0.0, -1.0},
     0.42},
    {{{-0.318, -0.070, 0.010}, {-0.467, 0.264, 0.068}, {-0.541, 0.430, 0.173}, {-0.597, 0.557, 0.302}},
     {0.097, 0.086, 0.078, 0.069},
     {0.0, 0.0, -1.0},
     0.42},
    {{{0.220, -0.680, 0.090}, {0.525, -0.350, 0.190}, {0.725, -0.070, 0.240}, {0.840, 0.140, 0.245}},
     {0.165, 0.130, 0.112, 0.092},
     {0.62, -0.25, -0.74},
     0.9},
};

/* ------------------------------------------------------------------------------------------------------------------
 * Fingers
 */

/* A point as seen from a bone: along it, across it, and out of the back of the hand. */
static field_point on_bone(const digit *d, int bone, field_point p)
{
    field_point axis = field_less(d->joints[bone + 1], d->joints[bone]), q = field_less(p, d->joints[bone]);
    double length = field_length(axis);
    axis = field_at(axis.x / length, axis.y / length, axis.z / length);
    double lean = field_dot(axis, d->back);
    field_point back = field_at(d->back.x - lean * axis.x, d->back.y - lean * axis.y, d->back.z - lean * axis.z);
    double scale = 1.0 / field_length(back);
    back = field_at(scale * back.x, scale * back.y, scale * back.z);
    field_point side = field_at(axis.y * back.z - axis.z * back.y, axis.z * back.x - axis.x * back.z,
                                axis.x * back.y - axis.y * back.x);
    return field_at(field_dot(q, side), field_dot(q, axis), field_dot(q, back));
}

/* 1 on a line, falling to 0 at `width` from it. */
static double line(double distance, double width)
{
    double share = field_clamp(1.0 - fabs(distance) / width);
    return share * share * (3.0 - 2.0 * share);
}

/* How deep in a crease of a digit a point is, 0 to 1: across the inside of each joint; `wrinkle` is for the outside. */
static double digit_crease(const digit *d, field_point p, double *wrinkle)
{
    double deepest = 0.0;
    *wrinkle = 0.0;
    for (int bone = 0; bone < 3; bone++) {
        double at = bone == 0 ? d->crease : 0.0;
        field_point axis = field_less(d->joints[bone + 1], d->joints[bone]), joint = d->joints[bone];
        joint = field_at(joint.x + at * axis.x, joint.y + at * axis.y, joint.z + at * axis.z);
        if (!field_near(p, joint, 1.5 * d->radii[bone])) continue;
        field_point q = on_bone(d, bone, p);
        double away = q.y - at * field_length(axis);
        double inner = field_ramp(q.z, -0.2 * d->radii[bone], -0.7 * d->radii[bone]);
        deepest = field_larger(deepest, inner * line(away, 0.022));
        if (bone > 0) {
            double outer = field_ramp(q.z, 0.5 * d->radii[bone], 0.9 * d->radii[bone]) * line(away, 0.07);
            *wrinkle = field_larger(*wrinkle, outer * line(field_fraction(28.0 * away) - 0.5, 0.35));
        }
    }
    return deepest;
}

/* How far a point of the back of the last bone is outside the outline of the nail; positive on its other sides. */
static double nail_edge(const digit *d, field_point p)
{
    double radius = d->radii[3];
    if (!field_near(p, d->joints[3], 2.5 * radius)) return radius;
    double length = field_length(field_less(d->joints[3], d->joints[2]));
    field_point q = field_less(on_bone(d, 2, p), field_at(0.0, length - 0.25 * radius, 0.0));
    double outline = field_pillow(field_at(q.x, q.y, 0.0), 0.72 * radius, 1.0 * radius, radius);
    return field_larger(outline, 0.3 * radius - q.z);
}

static double flesh(const digit *d, field_point p)
{
    double whole = field_round_cone(p, d->joints[0], d->joints[1], d->radii[0], 0.98 * d->radii[1]);
    for (int bone = 1; bone < 3; bone++) {
        const field_point *joint = &d->joints[bone];
        double cone = field_round_cone(p, joint[0], joint[1], 0.98 * d->radii[bone], d->radii[bone + 1]);
        whole = field_blend(whole, cone, 0.04);
        double r = d->radii[bone];
        field_point knuckle = field_at(joint[0].x + 0.10 * r * d->back.x, joint[0].y + 0.10 * r * d->back.y,
                                       joint[0].z + 0.10 * r * d->back.z);
        whole = field_blend(whole, field_sphere(p, knuckle, 0.97 * r), 0.04);
    }
    /* the pad of the tip, inside */
    double r = d->radii[3];
    field_point tip = field_at(0.75 * d->joints[3].x + 0.25 * d->joints[2].x - 0.22 * r * d->back.x,
                               0.75 * d->joints[3].y + 0.25 * d->joints[2].y - 0.22 * r * d->back.y,
                               0.75 * d->joints[3].z + 0.25 * d->joints[2].z - 0.22 * r * d->back.z);
    return field_blend(whole, field_sphere(p, tip, r), 0.05);
}

static double finger(const digit *d, field_point p)
{
    double whole = flesh(d, p);
    if (whole > 0.05 || whole < -0.05) return whole;
    double wrinkle, crease = digit_crease(d, p, &wrinkle), edge = nail_edge(d, p);
    whole += 0.009 * crease + 0.004 * wrinkle;
    return whole - 0.006 * field_ramp(edge, 0.008, -0.008) + 0.007 * line(edge - 0.008, 0.014);
}

/* At most the distance of a digit, by its outline seen from the palm. */
static double digit_bound(const digit *d, field_point p)
{
    field_point knuckle = d->joints[0], tip = d->joints[3];
    knuckle.z = tip.z = p.z;
    return field_capsule(p, knuckle, tip, d->radii[0] + 0.015);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Palm
 */

/* The bones of the palm, in flesh, and the tendons on the back. */
static double slab(field_point p)
{
    static const field_point wrist[4] = {
        {0.125, -0.74, 0.01}, {0.04, -0.75, -0.01}, {-0.05, -0.75, -0.01}, {-0.125, -0.73, 0.01}};
    double whole = 1e3, tendons = 1e3, knuckles = 1e3;
    for (int f = INDEX; f <= LITTLE; f++) {
        field_point knuckle = digits[f].joints[0];
        whole = field_blend(whole, field_round_cone(p, wrist[f], knuckle, 0.145, digits[f].radii[0] + 0.012), 0.12);
    }
    if (p.z - whole > 0.11) return whole; /* the side of the palm */
    for (int f = INDEX; f <= LITTLE; f++) {
        field_point knuckle = digits[f].joints[0], high = field_at(knuckle.x, knuckle.y, knuckle.z - 0.06);
        field_point start = field_at(0.6 * wrist[f].x, wrist[f].y + 0.12, wrist[f].z - 0.125);
        knuckles = field_join(knuckles, field_sphere(p, high, 0.066));
        tendons = field_join(tendons, field_capsule(p, start, high, 0.024));
    }
    return field_blend(field_blend(whole, tendons, 0.06), knuckles, 0.09);
}

/* Skin between neighbouring fingers. */
static double webs(field_point p)
{
    static const field_point between[4] = {
        {0.345, 0.12, 0.03}, {0.09, 0.19, 0.015}, {-0.145, 0.15, 0.02}, {-0.365, 0.03, 0.045}};
    double whole = 1e3;
    for (int i = 0; i < 3; i++) whole = field_join(whole, field_capsule(p, between[i], between[i + 1], 0.066));
    return whole;
}

/* The distance of a point, seen from the palm's side, from the three lines of the palm. */
static double palm_line(field_point p)
{
    static const field_point lines[3][4] = {
        {{-0.40, -0.16, 0.0}, {-0.14, -0.15, 0.0}, {0.06, -0.08, 0.0}, {0.16, 0.05, 0.0}},
        {{0.40, -0.10, 0.0}, {0.16, -0.20, 0.0}, {-0.04, -0.28, 0.0}, {-0.24, -0.39, 0.0}},
        {{0.40, -0.12, 0.0}, {0.16, -0.26, 0.0}, {0.05, -0.45, 0.0}, {0.09, -0.68, 0.0}},
    };
    field_point q = field_at(p.x, p.y, 0.0);
    double nearest = 1e3;
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < 3; i++) nearest = field_join(nearest, field_capsule(q, lines[l][i], lines[l][i + 1], 0.0));
    return nearest;
}

static double palm_crease(field_point p)
{
    if (p.z < 0.0 || p.y > 0.12 || p.y < -0.8) return 0.0;
    return line(palm_line(p), 0.030) * field_ramp(p.z, 0.02, 0.10);
}

static double palm(field_point p)
{
    double whole = slab(p);
    if (p.z + whole > -0.19) { /* what is only on the palm's side */
        field_point ball = field_turned_z(p, field_at(0.29, -0.45, 0.13), 0.80, -0.60);
        double thenar = field_ellipsoid(ball, 0.18, 0.33, 0.17);
        field_point edge = field_turned_z(p, field_at(-0.22, -0.42, 0.07), 0.98, 0.199);
        double hypothenar = field_ellipsoid(edge, 0.15, 0.34, 0.155);
        whole = field_blend(whole, field_blend(thenar, hypothenar, 0.05), 0.10);
        double cushion = field_capsule(p, field_at(0.27, 0.06, 0.075), field_at(-0.29, -0.02, 0.085), 0.085);
        whole = field_blend(whole, cushion, 0.08);
        double hollow = field_ellipsoid(field_less(p, field_at(0.03, -0.27, 0.24)), 0.17, 0.24, 0.11);
        whole = field_cut(whole, hollow, 0.10);
    }
    if (p.y + whole > -0.16) whole = field_blend(whole, webs(p), 0.06);
    /* the skin from the thumb to the index finger */
    double skin = field_capsule(p, field_at(0.42, -0.34, 0.12), field_at(0.32, -0.13, 0.04), 0.085);
    return field_blend(whole, skin, 0.12);
}

static double wrist(field_point p)
{
    double arm = field_ellipsoid(field_less(p, field_at(0.0, -1.02, 0.0)), 0.265, 0.75, 0.195);
    double ulna = field_sphere(p, field_at(-0.185, -0.89, -0.115), 0.075);
    double tendon = field_capsule(p, field_at(0.03, -1.3, 0.165), field_at(0.03, -0.85, 0.145), 0.03);
    return field_blend(field_blend(arm, ulna, 0.08), tendon, 0.08);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The whole
 */

static double palm_and_wrist(field_point p)
{
    double whole = palm(p);
    if (p.y + 0.13 < whole) whole = field_blend(whole, wrist(p), 0.14);
    return fabs(whole) < 0.05 ? whole + 0.011 * palm_crease(p) : whole;
}

/* Each part is evaluated only where it can be near: the palm not from the fingers, a finger not from the others. */
static double hand_field(field_point p)
{
    double bound = field_larger(p.y - 0.28, p.x - 0.56); /* at most the distance of the palm */
    bool beyond = bound > 0.07;
    double whole = beyond ? 1e3 : palm_and_wrist(p), bounds[DIGITS];
    int nearest = 0;
    for (int f = 0; f < DIGITS; f++) {
        bounds[f] = digit_bound(&digits[f], p);
        if (bounds[f] < bounds[nearest]) nearest = f;
    }
    for (int n = 0; n < DIGITS; n++) {
        int f = n == 0 ? nearest : n == nearest ? 0 : n;
        double width = f == THUMB ? 0.07 : 0.05;
        if (bounds[f] < whole + width) whole = field_blend(whole, finger(&digits[f], p), width);
    }
    if (beyond && bound < whole) whole = field_join(whole, palm_and_wrist(p));
    return field_both(whole, -1.08 - p.y, 0.03);
}

static field_colour hand_colour(field_point p, double blur)
{
    field_colour colour = paint_mix(paint(0xd9a385), paint(0xe3ae95), field_ramp(p.z, -0.1, 0.1));
    double red = 0.7 * field_ramp(p.z, 0.05, 0.2) * field_ramp(p.y, -0.8, -0.5) * field_ramp(p.y, 0.3, 0.0);
    double crease = palm_crease(p);
    for (int f = 0; f < DIGITS; f++) {
        const digit *d = &digits[f];
        if (flesh(d, p) > 0.06) continue;
        double wrinkle, joint = digit_crease(d, p, &wrinkle);
        crease = field_larger(crease, field_larger(joint, 0.4 * wrinkle));
        red = field_larger(red, 0.8 * field_ramp(field_length(field_less(p, d->joints[3])), 0.22, 0.08));
        red = field_larger(red, 0.5 * field_ramp(field_length(field_less(p, d->joints[1])), 0.16, 0.08));
    }
    colour = paint_mix(colour, paint(0xdb8c78), red);
    colour = paint_mix(colour, paint(0xa9634f), 0.42 * crease);
    for (int f = 0; f < DIGITS; f++) colour = paint_over(colour, paint(0xf3d3c8), nail_edge(&digits[f], p), 0.5 * blur);
    return colour;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

/* From the palm to the part of a digit that is free; shared between two where they meet. */
static double digit_weight(int f, field_point p)
{
    const digit *d = &digits[f];
    double along = field_along(p, d->joints[0], d->joints[1]), own = flesh(d, p), other = 1e3;
    for (int g = 0; g < DIGITS; g++)
        if (g != f) other = field_join(other, flesh(&digits[g], p));
    double rise = f == THUMB ? field_ramp(along, 0.45, 0.95) : field_ramp(along, 0.1, 0.6);
    return rise * field_ramp(own, 0.06, 0.02) * field_ramp(other - own, -0.03, 0.03);
}

static double thumb_weight(field_point p) { return digit_weight(THUMB, p); }

static double index_weight(field_point p) { return digit_weight(INDEX, p); }

static double middle_weight(field_point p) { return digit_weight(MIDDLE, p); }

static double ring_weight(field_point p) { return digit_weight(RING, p); }

static double little_weight(field_point p) { return digit_weight(LITTLE, p); }

static double wrist_weight(field_point p) { return field_ramp(p.y, -0.68, -0.88); }

static double palm_weight(field_point p)
{
    double rest = 1.0 - wrist_weight(p);
    for (int f = 0; f < DIGITS; f++) rest -= digit_weight(f, p);
    return rest;
}

static const model_group hand_groups[] = {
    {"thumb", thumb_weight},   {"index", index_weight}, {"middle", middle_weight}, {"ring", ring_weight},
    {"little", little_weight}, {"palm", palm_weight},   {"wrist", wrist_weight},
};

static const shape_model hand_model = {
    .field = hand_field,
    .colour = hand_colour,
    .groups = hand_groups,
    .group_count = sizeof hand_groups / sizeof hand_groups[0],
    .lower = {-0.671, -1.08, -0.221},
    .upper = {0.939, 1.096, 0.416},
    .coarsest = 36,
};

const shape_kind lmi_shape_kind_hand = {
    .name = "hand",
    .description = "a right hand, palm along z",
    .natural_size = {0.740f, 1.0f, 0.293f},
    .model = &hand_model,
};
