/*
 * A teddy bear, looking along z, sitting on y = 0 and about 2 high: arms held out for a hug, legs spread towards the
 * viewer so that the soles show, round ears, a light muzzle with a nose and a stitched mouth, and a red bow. A seam runs
 * around the middle, where the left half meets the right.
 */
#include "kind.h"
#include "model.h"

#define SHARE_BAND 0.12 /* width of the border between two groups */

static const field_point paw = {0.78, 0.86, 0.30}, shoulder = {0.30, 0.98, 0.00};
static const field_point ankle = {0.50, 0.23, 0.62}, hip = {0.26, 0.27, 0.02};

static double trunk(field_point p)
{
    double seat = field_ellipsoid(field_less(p, field_at(0.0, 0.47, -0.04)), 0.50, 0.50, 0.46);
    double chest = field_ellipsoid(field_less(p, field_at(0.0, 0.88, -0.04)), 0.38, 0.36, 0.34);
    return field_blend(seat, chest, 0.2);
}

static double skull(field_point p)
{
    double crown = field_ellipsoid(field_less(p, field_at(0.0, 1.48, -0.02)), 0.47, 0.43, 0.42);
    double cheeks = field_ellipsoid(field_less(p, field_at(0.0, 1.36, 0.06)), 0.49, 0.29, 0.35);
    return field_blend(crown, cheeks, 0.2);
}

static double muzzle(field_point p)
{
    return field_ellipsoid(field_less(p, field_at(0.0, 1.32, 0.38)), 0.22, 0.17, 0.20);
}

static double nose(field_point p)
{
    return field_ellipsoid(field_less(p, field_at(0.0, 1.41, 0.545)), 0.095, 0.068, 0.06);
}

static double eye(field_point side) { return field_sphere(side, field_at(0.185, 1.53, 0.36), 0.08); }

/* The point as seen from the middle of an ear, which opens along the z of this frame. */
static field_point ear_frame(field_point side)
{
    field_point q = field_turned_z(side, field_at(0.37, 1.80, -0.02), 0.8, -0.6);
    return field_turned_y(q, field_at(0.0, 0.0, 0.0), 0.96, 0.28);
}

/* A thick disc with a hollow. */
static double ear(field_point side)
{
    field_point q = ear_frame(side);
    double disc = field_ellipsoid(q, 0.23, 0.23, 0.18);
    double hollow = field_ellipsoid(field_less(q, field_at(0.0, 0.01, 0.20)), 0.155, 0.155, 0.10);
    return field_cut(disc, hollow, 0.05);
}

static double arm(field_point side)
{
    double limb = field_round_cone(side, paw, shoulder, 0.185, 0.17);
    return field_blend(limb, field_sphere(side, paw, 0.21), 0.1);
}

/* The point as seen from the middle of a sole, which faces along the z of this frame. */
static field_point sole_frame(field_point side)
{
    field_point q = field_turned_y(side, field_at(0.525, 0.27, 0.70), 0.936, 0.352);
    return field_turned_x(q, field_at(0.0, 0.0, 0.0), 0.98, -0.199);
}

static double leg(field_point side)
{
    double limb = field_round_cone(side, hip, ankle, 0.23, 0.19);
    double foot = field_ellipsoid(sole_frame(side), 0.21, 0.27, 0.14);
    return field_blend(limb, foot, 0.1);
}

/* A ribbon around the neck, tied in front. */
static double bow(field_point p, field_point side)
{
    field_point q = field_turned_x(p, field_at(0.0, 1.09, -0.01), 0.96, 0.28);
    double ribbon = field_torus_x(field_at(q.y, q.x, q.z), 0.32, 0.07);
    field_point wing = field_turned_z(side, field_at(0.0, 0.99, 0.37), 0.98, -0.199);
    double loop = field_round_cone(wing, field_at(0.26, 0.0, -0.06), field_at(0.06, 0.0, 0.0), 0.13, 0.05);
    loop = field_both(loop, fabs(wing.z + 0.2 * wing.x) - 0.10, 0.06);
    double knot = field_ellipsoid(field_less(p, field_at(0.0, 0.99, 0.40)), 0.08, 0.075, 0.075);
    return field_blend(field_blend(ribbon, loop, 0.03), knot, 0.01);
}

/* Everything that is covered with fur. */
static double fur(field_point p, field_point side)
{
    double bear = field_blend(trunk(p), skull(p), 0.08);
    bear = field_blend(bear, arm(side), 0.06);
    bear = field_blend(bear, leg(side), 0.05);
    if (field_near(side, field_at(0.37, 1.80, -0.02), 0.32 + bear)) bear = field_blend(bear, ear(side), 0.04);
    bear = field_blend(bear, muzzle(p), 0.05);
    double seam = field_clamp(1.0 - side.x / 0.045);
    return bear + 0.014 * seam * seam;
}

static double teddy_field(field_point p)
{
    field_point side = field_mirror_x(p);
    double teddy = fur(p, side);
    if (field_near(p, field_at(0.0, 1.05, 0.05), 0.60 + teddy)) teddy = field_blend(teddy, bow(p, side), 0.03);
    if (field_near(p, field_at(0.0, 1.48, 0.42), 0.40 + teddy)) {
        teddy = field_blend(teddy, nose(p), 0.02);
        teddy = field_blend(teddy, eye(side), 0.015);
    }
    return field_both(teddy, -p.y, 0.1);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colour
 */

/* On the muzzle as seen from the front: down from the nose, then a smile to each side. */
static double mouth(field_point side)
{
    field_point flat = field_at(side.x, side.y, 0.0);
    double down = field_capsule(flat, field_at(0.0, 1.38, 0.0), field_at(0.0, 1.285, 0.0), 0.018);
    double smile = fabs(field_length(field_less(flat, field_at(0.075, 1.30, 0.0))) - 0.075) - 0.018;
    double line = field_smaller(down, field_larger(smile, side.y - 1.285));
    return field_larger(line, 0.30 - side.z);
}

static double pads(field_point side)
{
    field_point sole = sole_frame(side);
    double pad = field_ellipsoid(field_less(sole, field_at(0.0, -0.06, 0.14)), 0.115, 0.13, 0.14);
    double toe = field_sphere(field_mirror_x(sole), field_at(0.105, 0.12, 0.11), 0.05);
    double middle = field_sphere(sole, field_at(0.0, 0.165, 0.12), 0.052);
    double palm = field_sphere(side, field_at(0.83, 0.82, 0.46), 0.115);
    return field_smaller(field_smaller(pad, field_smaller(toe, middle)), palm);
}

static field_colour teddy_colour(field_point p, double blur)
{
    field_point side = field_mirror_x(p);
    const field_colour light = paint(0xeccb96), dark = paint(0x2a1a12);
    field_colour colour = paint(0xb5763c);
    double belly = field_ellipsoid(field_less(p, field_at(0.0, 0.54, 0.42)), 0.32, 0.36, 0.30);
    colour = paint_over(colour, paint(0xd9a868), belly, blur);
    colour = paint_over(colour, light, pads(side), blur);
    double shell = field_ellipsoid(field_less(ear_frame(side), field_at(0.0, 0.0, 0.19)), 0.155, 0.155, 0.16);
    colour = paint_over(colour, light, field_larger(shell, ear(side) - skull(p)), blur);
    colour = paint_over(colour, light, muzzle(p) - 0.02 - 0.25 * blur, blur);
    colour = paint_over(colour, dark, mouth(side) + 0.2 * blur, blur);
    colour = paint_over(colour, paint(0xc4283a), bow(p, side) - fur(p, side), blur);
    colour = paint_over(colour, dark, nose(p) - 0.008 - 0.4 * blur, blur);
    colour = paint_over(colour, paint(0x17100c), eye(side) - 0.012 - 0.15 * blur, blur);
    double glint = field_sphere(side, field_at(p.x > 0.0 ? 0.21 : 0.16, 1.57, 0.425), 0.034);
    return paint_over(colour, paint(0xffffff), glint + 0.6 * blur, blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

/* 1 on the skin of a part, 0 on the skin of the rest, from the distances to both. */
static double share(double part, double rest) { return field_clamp(0.5 - (part - rest) / SHARE_BAND); }

static double left_half_share(field_point p) { return share(-p.x, 0.0); }

static double right_half_share(field_point p) { return share(p.x, 0.0); }

static double head_share(field_point p)
{
    field_point side = field_mirror_x(p);
    double face = field_smaller(muzzle(p), field_smaller(nose(p), eye(side)));
    double rest = field_smaller(field_smaller(trunk(p), arm(side)), bow(p, side));
    return share(field_smaller(face, field_smaller(skull(p), ear(side))), rest);
}

static double arm_share(field_point side)
{
    return share(arm(side), field_smaller(field_smaller(trunk(side), skull(side)), leg(side)));
}

static double leg_share(field_point side) { return share(leg(side), field_smaller(trunk(side), arm(side))); }

static double ear_share(field_point side) { return share(ear(side), skull(side)); }

static double left_arm_share(field_point p) { return p.x > 0.0 ? arm_share(p) : 0.0; }

static double right_arm_share(field_point p) { return p.x < 0.0 ? arm_share(field_mirror_x(p)) : 0.0; }

static double left_leg_share(field_point p) { return p.x > 0.0 ? leg_share(p) : 0.0; }

static double right_leg_share(field_point p) { return p.x < 0.0 ? leg_share(field_mirror_x(p)) : 0.0; }

static double left_ear_share(field_point p) { return p.x > 0.0 ? ear_share(p) : 0.0; }

static double right_ear_share(field_point p) { return p.x < 0.0 ? ear_share(field_mirror_x(p)) : 0.0; }

static const model_group teddy_groups[] = {
    {"left_half", left_half_share}, {"right_half", right_half_share}, {"head", head_share},
    {"left_arm", left_arm_share},   {"right_arm", right_arm_share},   {"left_leg", left_leg_share},
    {"right_leg", right_leg_share}, {"left_ear", left_ear_share},     {"right_ear", right_ear_share},
};

static const shape_model teddy_model = {
    .field = teddy_field,
    .colour = teddy_colour,
    .groups = teddy_groups,
    .group_count = sizeof teddy_groups / sizeof teddy_groups[0],
    .lower = {-1.004, 0.013, -0.498},
    .upper = {1.004, 2.029, 0.863},
    .coarsest = 15,
};

const shape_kind lmi_shape_kind_teddy = {
    .name = "teddy",
    .description = "a teddy bear, looking along z",
    .natural_size = {0.996f, 1.0f, 0.675f},
    .model = &teddy_model,
};
