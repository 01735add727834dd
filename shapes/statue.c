/*
 * A robed woman of marble on a plinth, looking along z: her right arm (at negative x) raises a gilded torch, her left one
 * holds a scroll and carries the end of the mantle. She stands on the right leg; the left knee shows through the dress.
 *
 * The unit of length is about a metre. y is 0 under the plinth and STATUE_FLOOR at her feet.
 */
#include "statue.h"
#include "kind.h"
#include "model.h"

/* ------------------------------------------------------------------------------------------------------------------
 * Arms
 */

/* Around a bar along y through the origin: the back of the hand towards x, the fingers over z, the thumb the other way. */
static double fist(field_point p)
{
    double hand = field_ellipsoid(field_less(p, field_at(0.050, -0.005, -0.01)), 0.036, 0.072, 0.058);
    for (int finger = 0; finger < 4; finger++) {
        double y = 0.048 - 0.032 * finger;
        field_point knuckle = field_at(0.052, y, 0.036), middle = field_at(0.005, y - 0.004, 0.066);
        hand = field_blend(hand, field_capsule(p, knuckle, middle, 0.0205), 0.01);
        hand = field_blend(hand, field_capsule(p, middle, field_at(-0.052, y - 0.008, 0.024), 0.019), 0.004);
    }
    field_point ball = field_at(0.02, 0.035, -0.052);
    double thumb = field_round_cone(p, ball, field_at(-0.045, 0.055, -0.030), 0.026, 0.02);
    return field_blend(hand, thumb, 0.02);
}

static const field_point grip = {-0.565, 2.28, 0.12};

static double right_arm(field_point p)
{
    field_point shoulder = field_at(-0.20, 1.885, -0.01), elbow = field_at(-0.445, 1.93, 0.02);
    double upper = field_round_cone(p, shoulder, elbow, 0.084, 0.068);
    double fore = field_round_cone(p, elbow, field_at(-0.588, 2.205, 0.075), 0.068, 0.057);
    return field_blend(upper, fore, 0.03);
}

static double right_hand(field_point p) { return fist(field_at(grip.x - p.x, p.y - grip.y, p.z - grip.z)); }

static double torch(field_point p)
{
    field_point q = field_less(p, grip);
    double handle = field_round_cone(q, field_at(0.0, 0.14, 0.0), field_at(0.0, -0.12, 0.0), 0.058, 0.044);
    double knob = field_sphere(q, field_at(0.0, -0.145, 0.0), 0.052);
    double cup = field_round_cone(q, field_at(0.0, 0.19, 0.0), field_at(0.0, 0.12, 0.0), 0.086, 0.056);
    double rim = field_torus_x(field_at(q.y - 0.205, q.x, q.z), 0.08, 0.023);
    return field_blend(field_blend(handle, knob, 0.02), field_blend(cup, rim, 0.01), 0.02);
}

static double flame(field_point p)
{
    field_point q = field_less(p, grip);
    double low = field_round_cone(q, field_at(0.0, 0.25, 0.0), field_at(0.012, 0.36, 0.0), 0.086, 0.066);
    double tip = field_round_cone(q, field_at(0.012, 0.36, 0.0), field_at(-0.008, 0.41, 0.01), 0.066, 0.054);
    return 0.85 * (field_blend(low, tip, 0.03) - 0.010 * field_wave(5.0 * field_turn(q.x, q.z) + 4.0 * q.y));
}

static const field_point scroll_grip = {0.29, 1.615, 0.335};

static double left_arm(field_point p)
{
    field_point shoulder = field_at(0.20, 1.87, -0.02), elbow = field_at(0.30, 1.55, -0.03);
    double covered = field_round_cone(p, shoulder, elbow, 0.098, 0.084);
    covered = field_blend(covered, field_round_cone(p, elbow, field_at(0.30, 1.575, 0.13), 0.08, 0.066), 0.03);
    covered -= 0.015 * (0.4 - statue_valley(6.0 * p.y - 14.0 * p.x + 9.0 * p.z)); /* by the mantle */
    double fore = field_round_cone(p, elbow, field_at(0.305, 1.595, 0.26), 0.066, 0.054);
    return field_blend(0.85 * covered, fore, 0.01);
}

static double left_hand(field_point p)
{
    field_point q = field_turned_x(p, scroll_grip, 0.8, 0.6);
    double scroll = field_both(sqrt(q.x * q.x + q.z * q.z) - 0.053, fabs(q.y - 0.02) - 0.19, 0.015);
    return field_blend(scroll, fist(q), 0.006);
}

/* The dress over the right shoulder, hanging from the arm. */
static double sleeve(field_point p)
{
    double around = field_round_cone(p, field_at(-0.21, 1.865, -0.01), field_at(-0.345, 1.88, 0.01), 0.115, 0.095);
    double loose = field_round_cone(p, field_at(-0.285, 1.83, 0.0), field_at(-0.245, 1.66, 0.0), 0.095, 0.05);
    double t = 9.0 * field_turn(p.y - 1.90, p.z + 0.01) + 2.0 * p.x;
    double fold = 0.018 * (0.3 - statue_valley(t));
    return 0.8 * field_both(field_blend(around, loose, 0.06) - fold, -0.385 - p.x - 0.2 * (p.y - 1.88), 0.06);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Head
 */

#define HEAD 0.30 /* its height */

static const field_point head_middle = {0.0, 2.155, 0.02};

/* As seen from a frame in which it looks along z and has the height 1. */
static field_point in_head(field_point p)
{
    field_point q = field_turned_y(p, head_middle, 0.96, -0.28);
    return field_at(q.x / HEAD, q.y / HEAD, q.z / HEAD);
}

static double face(field_point q)
{
    field_point side = field_mirror_x(q);
    double head = field_ellipsoid(field_less(q, field_at(0.0, 0.13, -0.06)), 0.34, 0.36, 0.42);
    double front = field_ellipsoid(field_less(q, field_at(0.0, -0.12, 0.12)), 0.265, 0.37, 0.26);
    double chin = field_sphere(q, field_at(0.0, -0.41, 0.26), 0.075);
    head = field_blend(field_blend(head, front, 0.15), chin, 0.12);
    double socket = field_ellipsoid(field_less(side, field_at(0.125, 0.02, 0.43)), 0.095, 0.07, 0.11);
    double ball = field_ellipsoid(field_less(side, field_at(0.125, 0.01, 0.29)), 0.075, 0.045, 0.065);
    head = field_blend(field_cut(head, socket, 0.06), ball, 0.02);
    double brow = field_capsule(side, field_at(0.045, 0.095, 0.37), field_at(0.20, 0.10, 0.30), 0.025);
    double nose = field_round_cone(q, field_at(0.0, -0.11, 0.43), field_at(0.0, 0.10, 0.365), 0.048, 0.028);
    head = field_blend(field_blend(head, brow, 0.05), nose, 0.04);
    double lips = field_ellipsoid(field_less(q, field_at(0.0, -0.235, 0.35)), 0.085, 0.05, 0.055);
    double mouth = field_capsule(side, field_at(0.0, -0.237, 0.415), field_at(0.10, -0.243, 0.36), 0.012);
    return field_cut(field_blend(head, lips, 0.04), mouth, 0.02);
}

/* Strands from a parting along the middle to a knot behind. */
static double hair(field_point q)
{
    double cap = field_ellipsoid(field_less(q, field_at(0.0, 0.12, -0.08)), 0.41, 0.43, 0.46);
    double away = sqrt((q.y - 0.04) * (q.y - 0.04) + (q.z + 0.60) * (q.z + 0.60));
    double strands =
        statue_valley(24.0 * field_turn(q.y - 0.04, q.z + 0.60) + 0.22 * field_wave(3.2 * away + fabs(q.x)));
    cap = cap + 0.045 * strands * field_clamp(2.0 * away) + 0.03 * field_ramp(fabs(q.x), 0.07, 0.0);
    cap = field_both(cap, 0.789 * (q.z - 0.31) - 0.614 * (q.y - 0.24), 0.05);
    double knot = field_ellipsoid(field_less(q, field_at(0.0, 0.04, -0.56)), 0.17, 0.17, 0.14);
    knot += 0.02 * statue_valley(6.0 * field_turn(q.x, q.y - 0.04) + 2.0 * away);
    return 0.85 * field_blend(cap, knot, 0.05);
}

/* Leaves in two rows around a ring. */
static double wreath(field_point q)
{
    field_point r = field_turned_x(q, field_at(0.0, 0.26, -0.12), 0.96, -0.28);
    double ring = sqrt(r.x * r.x + 0.8 * r.z * r.z) - 0.40, t = 16.0 * field_turn(r.x, r.z);
    double upper = field_ramp(r.y, -0.02, 0.02);
    double height = 0.028 * (upper * statue_valley(t) + (1.0 - upper) * statue_valley(t + 0.5));
    return 0.6 * (sqrt(3.0 * ring * ring + r.y * r.y) - 0.075 + height);
}

static double head(field_point p)
{
    field_point q = in_head(p);
    return HEAD * field_blend(field_blend(face(q), hair(q), 0.02), wreath(q), 0.015);
}

static double neck(field_point p)
{
    return field_round_cone(p, field_at(0.0, 1.90, -0.02), field_at(0.0, 2.10, -0.005), 0.082, 0.068);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Plinth
 */

static double slab(field_point p, double half, double from, double to, double round)
{
    return field_box(field_at(p.x, p.y - 0.5 * (from + to), p.z), half, 0.5 * (to - from), half, round);
}

static double plinth(field_point p)
{
    double whole = slab(p, 0.40, 0.12, 0.46, 0.01); /* between a foot and a cornice */
    if (p.y < 0.3) {
        whole = field_blend(whole, slab(p, 0.47, 0.05, 0.155, 0.05), 0.06);
        whole = field_join(whole, slab(p, 0.50, 0.0, 0.10, 0.012));
    } else {
        whole = field_blend(whole, slab(p, 0.46, 0.43, 0.49, 0.03), 0.05);
        whole = field_blend(whole, slab(p, 0.485, 0.475, STATUE_FLOOR, 0.012), 0.02);
    }
    bool aside = fabs(p.x) > fabs(p.z);
    field_point wall = field_at(aside ? p.z : p.x, p.y - 0.30, fabs(aside ? p.x : p.z) - 0.40);
    return field_cut(whole, field_box(wall, 0.27, 0.085, 0.02, 0.01), 0.012);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The whole
 */

static double foot(field_point p)
{
    double left = field_ellipsoid(field_less(p, field_at(0.13, STATUE_FLOOR + 0.02, 0.275)), 0.055, 0.045, 0.10);
    double right = field_ellipsoid(field_less(p, field_at(-0.12, STATUE_FLOOR + 0.02, 0.25)), 0.055, 0.045, 0.09);
    return field_join(left, right);
}

/* Each part is evaluated only where it can be near (field_near); arms and cloth also by their side. */
static double with_right_arm(double whole, field_point p)
{
    if (p.x - whole > -0.05) return whole;
    if (field_near(p, field_at(-0.38, 1.93, 0.03), 0.45 + whole)) {
        whole = field_blend(whole, right_arm(p), 0.015);
        whole = field_blend(whole, sleeve(p), 0.03);
    }
    if (field_near(p, grip, 0.14 + whole)) whole = field_blend(whole, right_hand(p), 0.015);
    if (field_near(p, field_at(-0.565, 2.43, 0.12), 0.36 + whole))
        whole = field_blend(field_blend(whole, torch(p), 0.008), flame(p), 0.008);
    return whole;
}

static double with_left_arm(double whole, field_point p)
{
    if (p.x + whole < 0.07) return whole;
    if (field_near(p, field_at(0.25, 1.70, 0.05), 0.38 + whole)) whole = field_blend(whole, left_arm(p), 0.025);
    if (field_near(p, scroll_grip, 0.26 + whole)) whole = field_blend(whole, left_hand(p), 0.015);
    if (field_near(p, field_at(0.29, 1.14, 0.12), 0.51 + whole))
        whole = field_blend(whole, lmi_statue_hanging(p).distance, 0.03);
    return whole;
}

static double statue_field(field_point p)
{
    double below = p.y - STATUE_FLOOR, bound = lmi_statue_robe_bound(p);
    bool clothed = bound < 0.03, footing = !clothed && below < 0.0;
    double whole = clothed ? lmi_statue_robe(p).distance : footing ? plinth(p) : 1e3;
    whole = with_left_arm(with_right_arm(whole, p), p);
    if (p.y > 1.78 - whole) whole = field_blend(whole, neck(p), 0.015);
    if (field_near(p, head_middle, 0.27 + whole)) whole = field_blend(whole, head(p), 0.03);
    if (field_near(p, field_at(0.0, STATUE_FLOOR, 0.26), 0.27 + whole)) whole = field_blend(whole, foot(p), 0.01);
    if (!clothed && bound < whole + 0.03) whole = field_blend(whole, lmi_statue_robe(p).distance, 0.015);
    if (!footing && below < whole + 0.012) whole = field_blend(whole, plinth(p), 0.012);
    return whole;
}

static field_colour statue_colour(field_point p, double blur)
{
    statue_cloth cover = lmi_statue_robe(p), end = lmi_statue_hanging(p);
    double shade = cover.shade * field_clamp(1.0 - cover.distance / 0.02);
    shade = field_larger(shade, end.shade * field_clamp(1.0 - end.distance / 0.02));
    field_colour colour =
        paint_mix(paint(0xece5d6), paint(0x978a78), 0.75 * field_clamp(shade) * field_clamp(1.3 - 12.0 * blur));
    double gilded = field_join(flame(p), HEAD * wreath(in_head(p))) - 0.004;
    colour = paint_over(colour, paint(0xd9a441), field_join(gilded, torch(p) - 0.003), blur);
    return paint_over(colour, paint(0x8f867c), plinth(p) - 0.006, blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

/* 1 on a part, falling to 0 at `width` from it. */
static double belongs(double distance, double width) { return field_clamp(1.25 - distance / width); }

static double plinth_weight(field_point p) { return belongs(plinth(p), 0.03); }

static double head_weight(field_point p) { return belongs(head(p), 0.05); }

static double torch_weight(field_point p) { return belongs(field_join(torch(p), flame(p)), 0.02); }

static double right_arm_weight(field_point p)
{
    double arm = field_join(field_join(right_arm(p), right_hand(p)), sleeve(p));
    return belongs(arm, 0.03) * field_ramp(p.x, -0.14, -0.28) * (1.0 - torch_weight(p));
}

static double left_arm_weight(field_point p)
{
    return belongs(field_join(left_arm(p), left_hand(p)), 0.03) * field_ramp(p.x + 0.5 * p.z, 0.14, 0.26);
}

static double figure_weight(field_point p)
{
    return 1.0 - plinth_weight(p) - head_weight(p) - torch_weight(p) - right_arm_weight(p) - left_arm_weight(p);
}

static const model_group statue_groups[] = {
    {"plinth", plinth_weight},       {"figure", figure_weight},     {"head", head_weight},
    {"right_arm", right_arm_weight}, {"left_arm", left_arm_weight}, {"torch", torch_weight},
};

static const shape_model statue_model = {
    .field = statue_field,
    .colour = statue_colour,
    .groups = statue_groups,
    .group_count = sizeof statue_groups / sizeof statue_groups[0],
    .lower = {-0.668, 0.0, -0.50},
    .upper = {0.50, 2.749, 0.50},
    .coarsest = 53,
};

const shape_kind lmi_shape_kind_statue = {
    .name = "statue",
    .description = "a robed figure on a plinth, looking along z",
    .natural_size = {0.425f, 1.0f, 0.364f},
    .model = &statue_model,
};
