/*
 * A human head on its neck, looking along z: the size of a person's is about 0.32 m from the neck's foot to the crown.
 */
#include "base/dmath.h"
#include "kind.h"
#include "model.h"

static double skull(field_point p, field_point side)
{
    double cranium = field_ellipsoid(field_less(p, field_at(0.0, 0.20, -0.08)), 0.36, 0.38, 0.45);
    double face = field_ellipsoid(field_less(p, field_at(0.0, -0.10, 0.13)), 0.27, 0.38, 0.26);
    double jaw = field_round_cone(side, field_at(0.17, -0.22, 0.02), field_at(0.05, -0.44, 0.27), 0.11, 0.075);
    double chin = field_ellipsoid(field_less(p, field_at(0.0, -0.455, 0.32)), 0.085, 0.065, 0.07);
    double cheek = field_sphere(side, field_at(0.18, -0.06, 0.26), 0.10);
    double whole = field_blend(cranium, face, 0.18);
    whole = field_blend(whole, jaw, 0.12);
    whole = field_blend(whole, cheek, 0.08);
    return field_blend(whole, chin, 0.08);
}

static double neck(field_point p)
{
    double throat = field_round_cone(p, field_at(0.0, -0.68, -0.16), field_at(0.0, -0.28, -0.10), 0.225, 0.195);
    double foot = field_ellipsoid(field_less(p, field_at(0.0, -0.79, -0.14)), 0.36, 0.12, 0.28);
    return field_blend(throat, foot, 0.2);
}

/* Sockets under a brow; in them balls, and lids: a larger ball around each, open at the front. */
static double with_eyes(double head, field_point side)
{
    field_point eye = field_at(0.135, 0.03, 0.26);
    double brow = field_capsule(side, field_at(0.04, 0.13, 0.355), field_at(0.22, 0.125, 0.28), 0.05);
    double socket = field_ellipsoid(field_less(side, field_at(0.138, 0.03, 0.43)), 0.12, 0.085, 0.12);
    double ball = field_sphere(side, eye, 0.098);
    double around = field_sphere(side, eye, 0.121);
    double opening = field_ellipsoid(field_less(side, field_at(0.137, 0.025, 0.36)), 0.085, 0.036, 0.12);
    head = field_blend(head, brow, 0.07);
    head = field_cut(head, socket, 0.05);
    head = field_blend(head, field_cut(around, opening, 0.012), 0.02);
    return field_blend(head, ball, 0.01);
}

static double nose(field_point p, field_point side)
{
    double bridge = field_round_cone(p, field_at(0.0, -0.13, 0.415), field_at(0.0, 0.10, 0.35), 0.058, 0.035);
    double tip = field_sphere(p, field_at(0.0, -0.13, 0.44), 0.054);
    double wing = field_ellipsoid(field_less(side, field_at(0.062, -0.145, 0.395)), 0.036, 0.036, 0.05);
    double whole = field_blend(field_blend(bridge, tip, 0.04), wing, 0.03);
    double nostril = field_ellipsoid(field_less(side, field_at(0.035, -0.195, 0.415)), 0.02, 0.03, 0.025);
    return field_cut(whole, nostril, 0.02);
}

static double upper_lip(field_point side)
{
    return field_capsule(side, field_at(0.02, -0.262, 0.395), field_at(0.115, -0.288, 0.335), 0.03);
}

static double lower_lip(field_point side)
{
    return field_capsule(side, field_at(0.0, -0.336, 0.385), field_at(0.095, -0.312, 0.335), 0.036);
}

static double mouth_line(field_point side)
{
    return field_capsule(side, field_at(0.0, -0.295, 0.435), field_at(0.135, -0.297, 0.35), 0.02);
}

static double with_mouth(double head, field_point p, field_point side)
{
    double dip = field_sphere(p, field_at(0.0, -0.392, 0.43), 0.05); /* between the lower lip and the chin */
    double groove = field_capsule(p, field_at(0.0, -0.20, 0.45), field_at(0.0, -0.24, 0.45), 0.018);
    head = field_cut(head, dip, 0.05);
    head = field_blend(head, field_blend(upper_lip(side), lower_lip(side), 0.01), 0.03);
    head = field_cut(head, groove, 0.03);
    return field_cut(head, mouth_line(side), 0.02);
}

/* A shell that stands off behind: a rim around a hollow, and a lobe. */
static double ear(field_point side)
{
    field_point q = field_turned_x(side, field_at(0.355, 0.02, -0.07), 0.98, -0.199);
    q = field_turned_y(q, field_at(0.0, 0.0, 0.0), 0.9, 0.436);
    double shell = field_ellipsoid(q, 0.045, 0.135, 0.085);
    double lobe = field_sphere(q, field_at(0.0, -0.125, 0.03), 0.035);
    double hollow = field_ellipsoid(field_less(q, field_at(0.045, 0.012, 0.008)), 0.035, 0.085, 0.048);
    return field_blend(field_cut(shell, hollow, 0.02), lobe, 0.04);
}

static double head_field(field_point p)
{
    field_point side = field_mirror_x(p);
    double head = field_blend(skull(p, side), neck(p), 0.12);
    head = with_eyes(head, side);
    head = field_blend(head, nose(p, side), 0.04);
    head = with_mouth(head, p, side);
    head = field_blend(head, ear(side), 0.03);
    return field_both(head, -0.82 - p.y, 0.05); /* cut off below */
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours
 */

/* Negative where hair grows: above a line from the forehead past the ears to the nape. */
static double hair(field_point p, field_point side)
{
    double line = 0.74 * (0.07 + 0.86 * p.z + 0.8 * side.x * side.x - p.y);
    double nape = -0.25 - p.y;
    double ears = 0.035 - ear(side);
    return field_both(field_both(line, nape, 0.15), ears, 0.05);
}

/* Strands from the crown down, where triangles are small enough to show them. */
static field_colour hair_colour(field_point p, double blur)
{
    double strands = lmi_sin(75.0 * p.x + 9.0 * lmi_sin(7.0 * p.z + 3.0 * p.y)) * field_clamp(0.018 / blur);
    return paint_mix(paint(0x4c2f1d), strands > 0.0 ? paint(0x7a5233) : paint(0x2e1b10), 0.28 * fabs(strands));
}

/* An almond seen from the front: two arcs that meet at its corners. */
static double between_lids(field_point side)
{
    double along = (side.x - 0.140) / 0.098, height = side.y - 0.026 - 0.05 * (side.x - 0.14);
    return 0.9 * (fabs(height) - 0.042 * (1.0 - along * along));
}

static field_colour with_eye_colours(field_colour colour, field_point side, double blur)
{
    field_point from_middle = {side.x - 0.137, side.y - 0.028, 0.0};
    double out = field_length(from_middle);
    field_colour eye = paint(0xf4efe9);
    eye = paint_over(eye, paint(0x4a6b7c), out - 0.040, blur);
    eye = paint_over(eye, paint(0x16120f), out - 0.019, blur);
    colour = paint_line(colour, paint(0x4a2c20), between_lids(side) - 0.010, 0.010, blur);
    return paint_over(colour, eye, between_lids(side), 0.6 * blur);
}

static field_colour with_face_colours(field_colour colour, field_point p, field_point side, double blur)
{
    double blush = field_sphere(side, field_at(0.20, -0.10, 0.30), 0.0);
    colour = paint_mix(colour, paint(0xd96f5e), 0.45 * field_clamp(1.0 - blush / 0.17));
    double tip = field_sphere(p, field_at(0.0, -0.14, 0.47), 0.0);
    colour = paint_mix(colour, paint(0xd97464), 0.35 * field_clamp(1.0 - tip / 0.11));
    double brow =
        field_capsule(field_at(side.x, side.y, 0.0), field_at(0.055, 0.135, 0.0), field_at(0.215, 0.150, 0.0), 0.022);
    colour = paint_over(colour, paint(0x4a2f1e), brow, blur);
    double lips = field_join(upper_lip(side), lower_lip(side));
    colour = paint_over(colour, paint(0xc0665e), lips, 0.7 * blur);
    colour = paint_line(colour, paint(0x7a3330), side.y + 0.296, lips < 0.01 ? 0.006 : 0.0, blur);
    return with_eye_colours(colour, side, blur);
}

static field_colour head_colour(field_point p, double blur)
{
    field_point side = field_mirror_x(p);
    field_colour colour = paint(0xe0ab8a);
    colour = paint_mix(colour, paint(0xd27f6c), 0.5 * field_clamp(1.0 - ear(side) / 0.03));
    if (p.z > 0.12) colour = with_face_colours(colour, p, side, blur);
    return paint_over(colour, hair_colour(p, blur), hair(p, side), blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

static double in_left_half(field_point p) { return field_clamp(0.5 + p.x / 0.06); }

static double in_right_half(field_point p) { return field_clamp(0.5 - p.x / 0.06); }

/* 1 on a part's own surface, 0 a little away from it. */
static double belongs(double distance) { return field_clamp(1.5 - distance / 0.02); }

static double in_nose(field_point p) { return belongs(nose(p, field_mirror_x(p))); }

static double in_mouth(field_point p)
{
    field_point side = field_mirror_x(p);
    return belongs(field_join(upper_lip(side), lower_lip(side)) - 0.01);
}

static double in_ears(field_point p) { return belongs(ear(field_mirror_x(p))); }

static double in_left_ear(field_point p) { return p.x > 0.0 ? in_ears(p) : 0.0; }

static double in_right_ear(field_point p) { return p.x < 0.0 ? in_ears(p) : 0.0; }

/* Below the jaw in front, below the skull at the back. */
static double in_neck(field_point p) { return field_clamp(0.5 - (p.y + 0.46 + 0.35 * p.z) / 0.10); }

static double in_face(field_point p)
{
    double above = field_clamp((0.36 - p.y) / 0.08);
    return field_clamp((p.z - 0.06) / 0.10) * above * (1.0 - in_neck(p));
}

static const model_group head_groups[] = {
    {"face", in_face},           {"nose", in_nose}, {"mouth", in_mouth},         {"left_ear", in_left_ear},
    {"right_ear", in_right_ear}, {"neck", in_neck}, {"left_half", in_left_half}, {"right_half", in_right_half},
};

static const shape_model head_model = {
    .field = head_field,
    .colour = head_colour,
    .groups = head_groups,
    .group_count = sizeof head_groups / sizeof head_groups[0],
    .lower = {-0.408, -0.820, -0.530},
    .upper = {0.408, 0.580, 0.496},
    .coarsest = 6,
};

const shape_kind lmi_shape_kind_head = {
    .name = "head",
    .description = "a human head and neck, looking along z",
    .natural_size = {0.583f, 1.0f, 0.733f},
    .model = &head_model,
};
