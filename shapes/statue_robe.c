/*
 * The robe of the statue (statue.c).
 *
 * The dress is a pile of ellipses (`profile`) with folds: a change of the distance along the surface, up on a ridge and down
 * in a valley. The mantle is a second skin over the same ellipses, cut off along an edge and a hem.
 */
#include "statue.h"

#define STEEP 0.75 /* folds are steeper than the surface they are on: distances are taken this much smaller */

typedef struct section {
    double width, depth, x, z; /* half axes and middle */
} section;

/* The dress without folds, from 0.50 upwards in steps of 0.15. */
static const section profile[] = {
    {0.345, 0.300, 0.00, 0.00},   {0.310, 0.265, 0.00, 0.00},   {0.285, 0.240, -0.01, 0.00},
    {0.268, 0.220, -0.02, 0.00},  {0.256, 0.208, -0.03, 0.00},  {0.248, 0.198, -0.03, 0.00},
    {0.232, 0.184, -0.03, -0.01}, {0.188, 0.150, -0.02, -0.01}, {0.192, 0.152, 0.00, 0.00},
    {0.212, 0.150, 0.01, 0.00},   {0.200, 0.125, 0.01, -0.02},
};

#define SECTIONS ((int)(sizeof profile / sizeof profile[0]))

/* Between four values in a row, along the curve through the two in the middle (Catmull and Rom). */
static double between(double a, double b, double c, double d, double t)
{
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
}

static section section_at(double y)
{
    double at = field_clamp((y - 0.50) / (0.15 * (SECTIONS - 1))) * (SECTIONS - 1);
    int i = at < SECTIONS - 2 ? (int)at : SECTIONS - 2;
    const section *b = &profile[i], *a = i > 0 ? b - 1 : b, *c = b + 1, *d = i < SECTIONS - 2 ? c + 1 : c;
    double t = at - i;
    return (section){between(a->width, b->width, c->width, d->width, t),
                     between(a->depth, b->depth, c->depth, d->depth, t), between(a->x, b->x, c->x, d->x, t),
                     between(a->z, b->z, c->z, d->z, t)};
}

/* The left leg through the cloth. */
static double leg(field_point p)
{
    field_point knee = field_at(0.115, 1.05, 0.185);
    double thigh = field_round_cone(p, field_at(0.10, 1.42, 0.06), knee, 0.125, 0.085);
    double shin = field_round_cone(p, knee, field_at(0.135, 0.62, 0.10), 0.085, 0.07);
    return field_blend(thigh, shin, 0.04);
}

/* The body under the cloth, and how far the leg stands out of it there, 0 to 1: cloth is tight over it. */
static double body(field_point p, double *tight)
{
    section s = section_at(p.y);
    double x = (p.x - s.x) / s.width, z = (p.z - s.z) / s.depth, round = x * x + z * z;
    double steep = x * x / (s.width * s.width) + z * z / (s.depth * s.depth);
    double trunk = round > 1e-9 ? (round - sqrt(round)) / sqrt(steep) : -s.depth;
    field_point side = field_mirror_x(p);
    if (field_near(side, field_at(0.09, 1.765, 0.105), 0.14 + trunk))
        trunk = field_blend(trunk, field_ellipsoid(field_less(side, field_at(0.09, 1.765, 0.105)), 0.08, 0.085, 0.075),
                            0.05);
    trunk = field_both(trunk, p.y - 1.94, 0.12);
    if (field_near(side, field_at(0.17, 1.885, -0.015), 0.16 + trunk)) {
        field_point q = field_less(side, field_at(0.17, 1.885, -0.015));
        trunk = field_blend(trunk, field_ellipsoid(q, 0.10, 0.085, 0.10), 0.06);
    }
    *tight = 0.0;
    if (p.x + trunk < -0.11 || p.z + trunk < -0.15 || p.y - trunk > 1.63) return trunk; /* too far from the leg */
    double limb = leg(p);
    *tight = field_ramp(trunk - limb, -0.05, 0.05);
    return field_blend(trunk, limb, 0.08);
}

/* Vertical folds, deeper towards the hem, none where the leg is; a belt under the breast. */
static statue_cloth dress(field_point p, double skin, double tight)
{
    double turn = field_turn(p.x + 0.01, p.z);
    double t = 17.0 * turn + 0.24 * field_wave(3.0 * turn + 0.35 * p.y) + 0.08 * field_wave(7.0 * turn - 0.5 * p.y);
    double low = field_ramp(p.y, 1.5, 0.7);
    double depth = (0.012 + 0.030 * low * (1.0 + 0.2 * field_wave(5.0 * turn + 0.2))) * (1.0 - 0.9 * tight);
    double shade = statue_valley(t);
    double belt = 1.0 - field_clamp(fabs(p.y - 1.60) / 0.035);
    double relief = depth * (0.35 - shade) * (1.0 - belt) - 0.012 * belt;
    return (statue_cloth){STEEP * (skin - relief), shade * depth / 0.04};
}

/* The mantle covers the left shoulder and what is below an edge from there to the right hip, and above a hem: negative where
 * it does. */
static double mantle_edge(field_point p) { return -0.863 * (p.x - 0.05) + 0.506 * (p.y - 2.0); }

static double mantle_hem(field_point p) { return 0.89 - 0.42 * p.x + 0.10 * p.z - p.y; }

/* Folds spread from where the mantle is gathered, over the left forearm; its upper edge is rolled. */
static statue_cloth mantle(field_point p, double skin, double tight)
{
    double edge = mantle_edge(p), along = 0.506 * p.x + 0.863 * p.y;
    double dx = p.x - 0.33, dy = p.y - 1.56;
    double away = sqrt(dx * dx + dy * dy);
    double t = 25.0 * field_turn(dx, dy + 0.5 * dx * dx) + 0.25 * field_wave(1.7 * away + 0.4 * p.z) + 1.2 * p.z;
    double roll = field_ramp(fabs(edge + 0.045 + 0.008 * field_wave(2.3 * along)), 0.065, 0.015);
    double shade = (1.0 - roll) * statue_valley(t) + roll * statue_valley(11.0 * edge + 1.1 * along + 0.8 * p.z);
    double depth = field_smaller(0.042, 0.085 * field_larger(away - 0.05, 0.0)) * (1.0 - 0.6 * tight) * (1.0 - roll) +
                   0.016 * roll;
    double crease = 0.08 * field_wave(2.0 * t + 0.9 * p.y) * field_clamp(3.0 * away - 0.4) * (1.0 - roll);
    double relief = 0.028 + 0.026 * roll + depth * (0.4 - shade + crease);
    double sheet = field_both(STEEP * (skin - relief), STEEP * edge, 0.02);
    return (statue_cloth){field_both(sheet, STEEP * (mantle_hem(p) + 0.02 * shade), 0.015),
                          (shade - crease) * depth / 0.04};
}

/* The end of the mantle, down from the left forearm: pipes that widen downwards, cut off along a hem. */
statue_cloth lmi_statue_hanging(field_point p)
{
    static const struct {
        field_point top, foot;
        double hem;
    } pipes[4] = {
        {{0.305, 1.54, 0.200}, {0.285, 0.95, 0.235}, 1.08},
        {{0.310, 1.53, 0.140}, {0.295, 0.85, 0.160}, 0.97},
        {{0.310, 1.52, 0.070}, {0.320, 0.75, 0.085}, 0.87},
        {{0.300, 1.52, 0.000}, {0.290, 0.70, 0.000}, 0.79},
    };
    double inner = field_capsule(p, field_at(0.25, 1.50, 0.08), field_at(0.22, 1.02, 0.11), 0.075);
    double whole = inner, deepest = inner;
    for (int i = 0; i < 4; i++) {
        double pipe = field_round_cone(p, pipes[i].foot, pipes[i].top, 0.058, 0.036);
        pipe = field_both(pipe, pipes[i].hem + 0.25 * (p.x - 0.35) - p.y, 0.02);
        deepest = field_smaller(deepest, pipe);
        whole = field_blend(whole, pipe, 0.02);
    }
    return (statue_cloth){whole, field_clamp((deepest - whole) / 0.005)};
}

statue_cloth lmi_statue_robe(field_point p)
{
    double tight, skin = body(p, &tight), covered = -field_larger(mantle_edge(p), mantle_hem(p));
    statue_cloth whole = {1e3, 0.0};
    if (covered > -0.05 - field_larger(skin, 0.0)) whole = mantle(p, skin, tight);
    if (covered < 0.06) { /* the dress, sunk under the mantle where that begins */
        statue_cloth under = dress(p, skin, tight);
        under.distance += 0.05 * field_ramp(covered, 0.01, 0.06);
        if (under.distance < whole.distance) whole.shade = under.shade;
        whole.distance = field_blend(under.distance, whole.distance, 0.012);
    }
    whole.distance = field_both(whole.distance, STATUE_FLOOR - 0.05 - p.y, 0.01);
    return whole;
}

double lmi_statue_robe_bound(field_point p)
{
    double across = field_larger(fabs(p.x) - 0.38, fabs(p.z) - 0.35);
    return STEEP * field_larger(across, field_larger(p.y - 2.0, 0.5 - p.y));
}
