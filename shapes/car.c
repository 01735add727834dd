/*
 * A small old-fashioned car, driving along z and standing at y = 0: a hull with wings over the wheels and a bonnet between
 * the front ones, a cabin with glass all around, and what is mounted on them: lamps, bumpers, grille, mirrors, handles,
 * plates. It is about two units long. Wheels sit in wells that narrow inwards like a funnel, so that a coarse grid closes
 * them from the bottom up and no bridges arise across them.
 */
#include "kind.h"
#include "model.h"

#define BELT 0.625         /* where hull and cabin meet */
#define AXLE 0.60          /* half the wheelbase */
#define WHEEL_RADIUS 0.215 /* the axle's height too */
#define TYRE_FACE 0.485    /* how far out the wheels reach */

/* ------------------------------------------------------------------------------------------------------------------
 * Hull and cabin
 */

static double hull(field_point side)
{
    double tub = field_pillow(field_less(side, field_at(0.0, 0.385, -0.01)), 0.455, 0.245, 0.94);
    double bonnet = field_ellipsoid(field_less(side, field_at(0.0, 0.445, 0.52)), 0.36, 0.195, 0.46);
    double boot = field_ellipsoid(field_less(side, field_at(0.0, 0.47, -0.62)), 0.40, 0.20, 0.36);
    double ends = fabs(side.z) - AXLE; /* wings front and rear are alike */
    double wing = field_ellipsoid(field_at(side.x - 0.345, side.y - 0.34, ends), 0.155, 0.235, 0.34);
    return field_blend(field_blend(field_blend(tub, bonnet, 0.08), boot, 0.10), wing, 0.06);
}

/* Narrower towards the roof; windscreen and rear window lean. */
static double cabin(field_point side)
{
    double narrow = 1.0 + 0.45 * (side.y - BELT);
    field_point q = {side.x * narrow, side.y - 0.60, side.z + 0.14};
    double shell = field_pillow(q, 0.435, 0.37, 0.66);
    double screen = 0.8 * q.z + 0.6 * q.y - 0.500;
    double rear = -0.88 * q.z + 0.475 * q.y - 0.595;
    return field_both(field_both(shell, screen, 0.12), rear, 0.16);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Outlines, drawn on the side (z, y) or on the ends (x, y)
 */

/* A rectangle with rounded corners between two points of a plane. */
static double panel(double u, double v, double u_low, double v_low, double u_high, double v_high, double round)
{
    field_point q = {u - 0.5 * (u_low + u_high), v - 0.5 * (v_low + v_high), 0.0};
    return field_box(q, 0.5 * (u_high - u_low), 0.5 * (v_high - v_low), 1.0, round);
}

/* Two panes on each side, the pillar between them upright. */
static double side_glass(field_point side)
{
    double both = panel(side.z, side.y, -0.66, 0.665, 0.46, 0.895, 0.05);
    both = field_both(both, 0.8 * (side.z + 0.14) + 0.6 * (side.y - 0.60) - 0.425, 0.03);
    both = field_both(both, -0.88 * (side.z + 0.14) + 0.475 * (side.y - 0.60) - 0.505, 0.03);
    return field_both(both, 0.035 - fabs(side.z + 0.19), 0.03);
}

static double end_glass(field_point side)
{
    double narrow = 1.0 + 0.45 * (side.y - BELT);
    return panel(side.x * narrow, side.y, -0.36, side.z > 0.0 ? 0.665 : 0.69, 0.36, 0.895, 0.06);
}

/* Negative on the panes. The corners of the cabin, where a side meets an end, are left to the pillars. */
static double glass(field_point side)
{
    field_point q = {side.x * (1.0 + 0.45 * (side.y - BELT)), side.y - 0.60, side.z + 0.14};
    double screen = 0.8 * q.z + 0.6 * q.y - 0.500, rear = -0.88 * q.z + 0.475 * q.y - 0.595;
    double corner = field_larger(screen, rear) - (q.x - 0.435); /* positive on the ends */
    return field_join(field_both(side_glass(side), corner + 0.03, 0.03),
                      field_both(end_glass(side), 0.03 - corner, 0.03));
}

static double door(field_point side) { return panel(side.z, side.y, -0.21, 0.225, 0.295, 1.2, 0.07); }

static double bonnet_lid(field_point side) { return panel(side.x, side.z, -0.27, 0.33, 0.27, 0.83, 0.09); }

static double grille(field_point side) { return panel(side.x, side.y, -0.17, 0.335, 0.17, 0.455, 0.055); }

static double plate(field_point side)
{
    double low = side.z > 0.0 ? 0.175 : 0.40;
    return panel(side.x, side.y, -0.115, low, 0.115, low + 0.065, 0.012);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is mounted
 */

/* Distance from the axis of the nearer wheel on this side. */
static double from_axle(field_point side)
{
    double y = side.y - WHEEL_RADIUS, z = fabs(side.z) - AXLE;
    return sqrt(y * y + z * z);
}

static double well(field_point side)
{
    return field_larger(0.37 - side.x, 0.93 * (from_axle(side) - 0.225 - 0.38 * (side.x - 0.37)));
}

/* A tyre around a sunken disc with a hub cap. */
static double wheel(field_point side)
{
    double away = from_axle(side);
    field_point q = {side.x - 0.365, away, 0.0};
    double tyre = field_box(q, TYRE_FACE - 0.365, WHEEL_RADIUS, 1.0, 0.045);
    double sunken = field_box(field_at(side.x - 0.52, away, 0.0), 0.065, 0.135, 1.0, 0.02);
    double cap = field_ellipsoid(field_at(side.x - 0.45, away, 0.0), 0.045, 0.075, 0.075);
    return field_blend(field_cut(tyre, sunken, 0.02), cap, 0.01);
}

static field_point headlight_frame(field_point side) { return field_less(side, field_at(0.315, 0.485, 0.845)); }

static double headlight(field_point side) { return field_ellipsoid(headlight_frame(side), 0.105, 0.105, 0.115); }

static double taillight(field_point side)
{
    return field_ellipsoid(field_less(side, field_at(0.345, 0.46, -0.865)), 0.062, 0.095, 0.06);
}

/* A bar around the front and one around the rear, at one distance from the hull. */
static double bumper(field_point side, double hull_distance)
{
    double bar = field_both(hull_distance - 0.045, fabs(side.y - 0.285) - 0.042, 0.03);
    return field_both(bar, 0.86 - fabs(side.z), 0.03);
}

static double mirror(field_point side)
{
    double shell = field_ellipsoid(field_less(side, field_at(0.468, 0.685, 0.25)), 0.075, 0.060, 0.060);
    double arm = field_capsule(side, field_at(0.38, 0.64, 0.25), field_at(0.46, 0.67, 0.25), 0.045);
    return field_blend(shell, arm, 0.03);
}

static double handle(field_point side)
{
    return field_capsule(side, field_at(0.463, 0.535, -0.14), field_at(0.463, 0.535, -0.06), 0.018);
}

/* How deep a line is engraved, by the distance from it: a notch with sloping walls. */
static double engraved(double distance) { return 0.010 * field_clamp(1.4 - fabs(distance) / 0.016); }

static double car_field(field_point p)
{
    field_point side = field_mirror_x(p);
    double base = hull(side);
    double car = field_blend(base, cabin(side), 0.035);
    if (side.y > 0.64) car += 0.012 * field_clamp(0.5 - glass(side) / 0.02);
    if (side.x > 0.38 && side.y < 0.66) car += engraved(door(side));
    if (side.z > 0.30 && side.y > 0.54 && side.y < 0.66) car += engraved(bonnet_lid(side));
    if (side.z > 0.80) car += 0.02 * field_clamp(0.5 - grille(side) / 0.03);
    car = field_blend(car, field_join(headlight(side), taillight(side)), 0.02);
    car = field_join(car, bumper(side, base));
    car = field_join(field_cut(car, well(side), 0.03), wheel(side));
    return field_blend(field_blend(car, handle(side), 0.015), mirror(side), 0.05);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours
 */

static field_colour with_cabin(field_colour colour, field_point side, double blur)
{
    double upper = field_larger(0.645 - side.y, cabin(side) - 0.03);
    colour = paint_over(colour, paint(0xf3ead6), upper, blur);
    return side.y > 0.64 ? paint_over(colour, paint(0x223140), field_larger(glass(side), upper), blur) : colour;
}

static field_colour with_ends(field_colour colour, field_point side, double blur)
{
    field_colour chrome = paint(0xc8ced4);
    if (side.z > 0.80) {
        colour = paint_over(colour, chrome, grille(side) - 0.02, blur);
        double bars = fabs(fabs(side.y - 0.395) - 0.03) - 0.008;
        colour = paint_over(colour, paint_over(paint(0x20262c), chrome, bars, blur), grille(side) + 0.004, blur);
    }
    if (fabs(side.z) > 0.80) colour = paint_over(colour, paint(0xf6f6f0), plate(side), blur);
    field_point lamp = headlight_frame(side);
    double ring = sqrt(lamp.x * lamp.x + lamp.y * lamp.y);
    field_colour light = paint_over(chrome, paint(0xfff3c0), ring - 0.08, blur);
    colour = paint_over(colour, light, headlight(side) - 0.5 * blur, blur);
    return paint_over(colour, paint(0xd01f1c), taillight(side) - 0.5 * blur, blur);
}

static field_colour car_colour(field_point p, double blur)
{
    field_point side = field_mirror_x(p);
    double away = from_axle(side);
    blur *= 0.75; /* many of its parts are small */
    field_colour body = paint(0x1f9fb0), chrome = paint(0xc8ced4), dark = paint(0x17181a);
    field_colour colour = paint_over(body, dark, side.y - 0.165, blur); /* the floor */
    if (side.x > 0.38 && side.y < 0.66) colour = paint_line(colour, paint(0x0d4a54), door(side), 0.012, blur);
    if (side.z > 0.30 && side.y > 0.50) colour = paint_line(colour, paint(0x0d4a54), bonnet_lid(side), 0.012, blur);
    colour = with_cabin(colour, side, blur);
    colour = with_ends(colour, side, blur);
    colour = paint_over(colour, chrome, bumper(side, hull(side)) - 0.5 * blur, blur);
    colour = paint_over(colour, chrome, handle(side) - 0.5 * blur, blur);
    colour = paint_over(colour, body, mirror(side) - 0.5 * blur, blur);
    colour = paint_over(colour, dark, field_larger(well(side) - 0.5 * blur, 0.30 - side.x), blur);
    field_colour rim = paint_over(paint(0xf3ead6), chrome, away - 0.078, blur);
    field_colour face = paint_over(dark, rim, away - 0.128, blur);
    return paint_over(colour, face, wheel(side) - 0.5 * blur, blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

#define BAND 0.06 /* over which a point passes from one group to its neighbour */

static double within(double distance) { return field_clamp(0.5 - distance / BAND); }

static double of_wheel(field_point side) { return field_clamp(0.5 - (wheel(side) - 0.01) / 0.02); }

static double in_wheels(field_point p) { return of_wheel(field_mirror_x(p)); }

static double in_front_left(field_point p) { return p.x > 0.0 && p.z > 0.0 ? in_wheels(p) : 0.0; }

static double in_front_right(field_point p) { return p.x < 0.0 && p.z > 0.0 ? in_wheels(p) : 0.0; }

static double in_rear_left(field_point p) { return p.x > 0.0 && p.z < 0.0 ? in_wheels(p) : 0.0; }

static double in_rear_right(field_point p) { return p.x < 0.0 && p.z < 0.0 ? in_wheels(p) : 0.0; }

static double in_cabin(field_point p) { return within(0.64 - p.y); }

static double in_body(field_point p) { return (1.0 - in_cabin(p)) * (1.0 - in_wheels(p)); }

static double in_front(field_point p) { return within(0.45 - p.z) * in_body(p); }

static double in_rear(field_point p) { return within(0.60 + p.z) * in_body(p); }

static const model_group car_groups[] = {
    {"body", in_body},
    {"cabin", in_cabin},
    {"wheel_front_left", in_front_left},
    {"wheel_front_right", in_front_right},
    {"wheel_rear_left", in_rear_left},
    {"wheel_rear_right", in_rear_right},
    {"front", in_front},
    {"rear", in_rear},
};

static const shape_model car_model = {
    .field = car_field,
    .colour = car_colour,
    .groups = car_groups,
    .group_count = sizeof car_groups / sizeof car_groups[0],
    .lower = {-0.543, 0.000, -1.002},
    .upper = {0.543, 0.970, 0.987},
    .coarsest = 12,
};

const shape_kind lmi_shape_kind_car = {
    .name = "car",
    .description = "a small old-fashioned car, driving along z",
    .natural_size = {0.546f, 0.488f, 1.0f},
    .model = &car_model,
};
