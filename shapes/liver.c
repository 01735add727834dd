/*
 * A human liver as an anatomist looks at it from the front, along -z: the body's right lobe, at negative x, is large and
 * domed; the left lobe tapers towards positive x. The falciform ligament divides them; the lower border is sharp, with a
 * notch at the ligament, and runs up from right to left. Below it the gallbladder peeps out. The underside is hollow; at
 * the back and below are stumps of the vessels. About two units wide.
 */
#include "base/dmath.h"
#include "kind.h"
#include "model.h"

/* ------------------------------------------------------------------------------------------------------------------
 * Lobes
 */

static double right_lobe(field_point p)
{
    field_point q = field_turned_z(p, field_at(-0.40, 0.03, 0.0), 0.96, 0.28);
    return field_ellipsoid(q, 0.58, 0.66, 0.46);
}

static double left_lobe(field_point p)
{
    field_point q = field_turned_z(p, field_at(0.31, 0.20, 0.03), 0.98, 0.199);
    return field_ellipsoid(q, 0.65, 0.38, 0.31);
}

/* Where the ligament runs, as seen from the front; positive on the left lobe. */
static double beyond_ligament(field_point p) { return 0.97 * (p.x - 0.12 + 0.22 * p.y); }

/* What lies below the underside: a slope that rises backwards and to the left, and a hollow in it. */
static double below(field_point p)
{
    double slope = -0.69 * (p.y + 0.30 - 0.46 * p.x + 0.85 * (p.z - 0.35));
    field_point q = field_turned_x(p, field_at(-0.15, -0.42, -0.42), 0.8, -0.6);
    return field_blend(-slope, field_ellipsoid(q, 0.75, 0.42, 0.52), 0.10);
}

static double notch(field_point p)
{
    return field_round_cone(p, field_at(0.19, -0.32, 0.22), field_at(0.14, -0.02, 0.34), 0.13, 0.035);
}

/* 1 at the ligament, 0 at `width` from it and beyond. */
static double at_ligament(field_point p, double width)
{
    double beside = beyond_ligament(p) / width;
    return field_clamp(1.0 - beside * beside);
}

static double flesh(field_point p)
{
    double both = field_blend(right_lobe(p), left_lobe(p), 0.28), under = below(p);
    both += 0.016 * at_ligament(p, 0.10); /* a furrow, and in it a ridge that ends at the border */
    both -= 0.020 * at_ligament(p, 0.045) * field_clamp(under / 0.06);
    return field_cut(field_cut(both, under, 0.07), notch(p), 0.05);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is attached
 */

static double gallbladder(field_point p)
{
    return field_round_cone(p, field_at(-0.22, -0.455, 0.32), field_at(-0.15, 0.0, -0.02), 0.125, 0.06);
}

/* A vessel from inside the liver at `a` to where it is cut off at `b`, with a hollow in the cut. */
static double stump(field_point p, field_point a, field_point b, double radius)
{
    field_point axis = field_less(b, a), q = field_less(p, a);
    double length = field_length(axis), along = field_dot(q, axis) / length;
    double away = sqrt(field_larger(field_dot(q, q) - along * along, 0.0));
    double solid = field_both(away - radius, fabs(along - 0.5 * length) - 0.5 * length, 0.3 * radius);
    double beyond = along - length - 0.5 * radius;
    return field_cut(solid, sqrt(away * away + beyond * beyond) - 0.8 * radius, 0.1 * radius);
}

static const field_point vena_cava_end = {-0.09, 0.70, -0.22}, portal_end = {0.06, -0.37, -0.02},
                         artery_end = {0.17, -0.31, 0.02};

static double vena_cava(field_point p) { return stump(p, field_at(-0.06, 0.04, -0.25), vena_cava_end, 0.11); }

static double portal_vein(field_point p) { return stump(p, field_at(0.07, 0.05, 0.03), portal_end, 0.092); }

static double artery(field_point p) { return stump(p, field_at(0.18, 0.05, 0.07), artery_end, 0.065); }

/* Negative in the hollows of the stumps. */
static double openings(field_point p)
{
    double veins = field_join(field_sphere(p, vena_cava_end, 0.070), field_sphere(p, portal_end, 0.056));
    return field_join(veins, field_sphere(p, artery_end, 0.040));
}

static double vessels(field_point p) { return field_join(vena_cava(p), field_blend(portal_vein(p), artery(p), 0.05)); }

static double liver_field(field_point p)
{
    double liver = field_blend(flesh(p), vessels(p), 0.04);
    return field_blend(liver, gallbladder(p), 0.03);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours
 */

/* Between -1 and 1, changing over about a tenth of a unit without repeating. */
static double mottle(field_point p)
{
    double a = lmi_sin(13.0 * p.x + 1.7 * lmi_sin(7.0 * p.y)) * lmi_sin(12.0 * p.y + 1.6 * lmi_sin(8.0 * p.z));
    double b = lmi_sin(23.0 * p.z + 9.0 * p.x) * lmi_sin(19.0 * p.x + 21.0 * p.y) * lmi_sin(17.0 * p.y - 20.0 * p.x);
    return 0.6 * a + 0.4 * b;
}

static field_colour liver_colour(field_point p, double blur)
{
    double part = 0.5 * blur;
    field_colour colour = paint_mix(paint(0x7e2a20), paint(0x601b16), 0.5 + 0.5 * mottle(p));
    colour = paint_mix(colour, paint(0x963a2a), 0.6 * field_clamp(p.y + 0.1)); /* lighter towards the dome */
    if (below(p) > 0.04) colour = paint_line(colour, paint(0xe0bda0), beyond_ligament(p), 0.022, blur);
    colour = paint_over(colour, paint(0x5b7a25), gallbladder(p) - part, blur);
    colour = paint_over(colour, paint(0x3b5a9c), field_join(vena_cava(p), portal_vein(p)) - part, blur);
    colour = paint_over(colour, paint(0xb5241f), artery(p) - part, blur);
    return paint_over(colour, paint(0x2a0d12), openings(p), blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

/* 1 on a part's own surface, 0 a little away from it. */
static double belongs(double distance) { return field_clamp(1.5 - distance / 0.02); }

static double in_gallbladder(field_point p) { return belongs(gallbladder(p)); }

static double in_vessels(field_point p) { return belongs(vessels(p)) * (1.0 - in_gallbladder(p)); }

static double in_flesh(field_point p) { return (1.0 - in_gallbladder(p)) * (1.0 - in_vessels(p)); }

static double on_left(field_point p) { return field_clamp(0.5 + beyond_ligament(p) / 0.1); }

static double in_left_lobe(field_point p) { return in_flesh(p) * on_left(p); }

static double in_right_lobe(field_point p) { return in_flesh(p) * (1.0 - on_left(p)); }

static const model_group liver_groups[] = {
    {"right_lobe", in_right_lobe},
    {"left_lobe", in_left_lobe},
    {"gallbladder", in_gallbladder},
    {"vessels", in_vessels},
};

static const shape_model liver_model = {
    .field = liver_field,
    .colour = liver_colour,
    .groups = liver_groups,
    .group_count = sizeof liver_groups / sizeof liver_groups[0],
    .lower = {-0.987, -0.580, -0.436},
    .upper = {0.906, 0.705, 0.460},
    .coarsest = 14,
};

const shape_kind lmi_shape_kind_liver = {
    .name = "liver",
    .description = "a human liver with its gallbladder, seen from the front along -z",
    .natural_size = {1.0f, 0.679f, 0.473f},
    .model = &liver_model,
};
