/*
 * A flower in a clay pot, standing at y = 0 and a little over two units high: a stem that bends, two pointed leaves, and a
 * blossom of eight petals around a cushion of florets, its face turned up and towards z. Petals and leaves are sheets of
 * even thickness: an outline in a plane, raised above that plane by a height that bends them.
 */
#include "kind.h"
#include "model.h"

#define PETALS 8
#define HALF_THICKNESS 0.033 /* of petals and leaves */
#define FLORETS 30
#define POT_HEIGHT 0.38
#define STEM_TOP 1.50

static const field_point blossom_middle = {0.0, 1.58, 0.17};

typedef struct flower_petal {
    double x, z;  /* its direction around the axis of the blossom: a unit vector */
    double reach; /* how far out its middle is */
    double droop; /* how much its tip bends down */
} flower_petal;

static const flower_petal petals[PETALS] = {
    {0.0, 1.0, 0.42, 0.62},  {0.7071, 0.7071, 0.40, 0.50},   {1.0, 0.0, 0.42, 0.55},  {0.7071, -0.7071, 0.41, 0.46},
    {0.0, -1.0, 0.42, 0.56}, {-0.7071, -0.7071, 0.40, 0.50}, {-1.0, 0.0, 0.41, 0.47}, {-0.7071, 0.7071, 0.41, 0.60},
};

/* Across the blossom x and z, along its axis y. */
static field_point blossom_frame(field_point p) { return field_turned_x(p, blossom_middle, 0.6, 0.8); }

/* ------------------------------------------------------------------------------------------------------------------
 * Sheets
 */

/* Everything within HALF_THICKNESS of the bent sheet, its rim round: from the distance in the plane, the height above the
 * sheet, and how much longer the sheet is than its shadow on the plane, at most. */
static double sheet(double outline, double above, double stretch)
{
    double rim = field_larger(outline + HALF_THICKNESS, 0.0), height = above / stretch;
    return sqrt(rim * rim + height * height) - HALF_THICKNESS;
}

/* Cupped across, rising from the centre, bending down at the tip. */
static double petal(field_point q, const flower_petal *of)
{
    double u = q.x * of->x + q.z * of->z, v = q.x * of->z - q.z * of->x;
    double rise = u * (0.38 - of->droop * u * u) + 0.9 * v * v;
    double outline = field_ellipsoid(field_at(u - of->reach, v, 0.0), 0.315, 0.14, 1.0);
    return sheet(outline, q.y - rise, 1.15);
}

/* The petals whose directions are nearest and second nearest: the others are farther. */
static void nearest_petals(field_point q, int *first, int *second)
{
    double best = -1e30, next = -1e30;
    *first = *second = 0;
    for (int i = 0; i < PETALS; i++) {
        double along = q.x * petals[i].x + q.z * petals[i].z;
        if (along > best) {
            next = best, *second = *first;
            best = along, *first = i;
        } else if (along > next) {
            next = along, *second = i;
        }
    }
}

static double corolla(field_point q)
{
    int first, second;
    nearest_petals(q, &first, &second);
    return field_join(petal(q, &petals[first]), petal(q, &petals[second]));
}

/* Two arcs that meet in a tip, from 0 to `length` along u; `bulge` is the radius of the arcs. */
static double pointed(double u, double v, double length, double bulge)
{
    double half = 0.5 * length, back = sqrt(bulge * bulge - half * half);
    double along = u - half, across = fabs(v) + back;
    return sqrt(along * along + across * across) - bulge;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Blossom
 */

/* How far from the nearest floret, seen along the axis. They sit on a spiral, each a golden angle on from the last. */
static double from_floret(field_point q)
{
    double x = 1.0, z = 0.0, best = 1e30;
    for (int i = 0; i < FLORETS; i++) {
        double out = 0.19 * sqrt((i + 0.5) / FLORETS);
        double dx = q.x - out * x, dz = q.z - out * z, square = dx * dx + dz * dz;
        if (square < best) best = square;
        double turned = -0.7373688780783197 * x - 0.6754902942615238 * z;
        z = 0.6754902942615238 * x - 0.7373688780783197 * z;
        x = turned;
    }
    return sqrt(best);
}

static double cushion(field_point q)
{
    return field_ellipsoid(field_less(q, field_at(0.0, 0.10, 0.0)), 0.20, 0.10, 0.20);
}

static double centre(field_point q)
{
    double smooth = cushion(q);
    if (smooth > 0.03 || smooth < -0.03 || q.y < 0.10) return smooth;
    double away = from_floret(q) / 0.036;
    return smooth - 0.014 * field_clamp(1.0 - away * away);
}

/* The green cup under the petals. */
static double calyx(field_point q)
{
    return field_round_cone(q, field_at(0.0, 0.01, 0.0), field_at(0.0, -0.14, 0.0), 0.10, 0.045);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Stem, leaves, pot
 */

/* Where the stem is at height y. */
static field_point stem_at(double y)
{
    double t = y / STEM_TOP;
    return field_at(0.16 * t * (1.0 - t), y, 0.26 * t * t - 0.17 * t);
}

static double stem(field_point p)
{
    double y = p.y < 0.2 ? 0.2 : p.y > STEM_TOP ? STEM_TOP : p.y;
    return 0.97 * (field_length(field_less(p, stem_at(y))) - (0.056 - 0.008 * y));
}

typedef struct flower_leaf {
    double way;    /* 1 or -1: to which side */
    double height; /* where it leaves the stem */
    double length;
} flower_leaf;

static const flower_leaf leaf_pair[2] = {{1.0, 0.56, 0.68}, {-1.0, 0.74, 0.62}};

/* Along the leaf x, across it z, above the arch that it follows y. */
static field_point leaf_frame(field_point p, const flower_leaf *of)
{
    field_point q = field_less(p, stem_at(of->height));
    double u = 0.96 * of->way * q.x + 0.28 * q.z, v = 0.96 * q.z - 0.28 * of->way * q.x;
    return field_at(u, q.y - u * (0.95 - 1.05 * u) - 0.9 * v * v, v);
}

static double leaf(field_point p, const flower_leaf *of)
{
    field_point q = leaf_frame(p, of);
    return sheet(pointed(q.x + 0.03, q.z, of->length, 0.40), q.y, 1.2);
}

static double leaves(field_point p) { return field_join(leaf(p, &leaf_pair[0]), leaf(p, &leaf_pair[1])); }

/* Distances in the plane of the radius and the height. */
static double pot(field_point p)
{
    double out = sqrt(p.x * p.x + p.z * p.z);
    double wall = field_both(0.97 * (out - 0.235 - 0.24 * p.y), -p.y, 0.05);
    wall = field_both(wall, p.y - 0.30, 0.02);
    double rim = field_box(field_at(out, p.y - 0.325, 0.0), 0.345, 0.055, 1.0, 0.025);
    double mouth = field_box(field_at(out, p.y - 0.39, 0.0), 0.285, 0.05, 1.0, 0.02);
    return field_cut(field_blend(wall, rim, 0.02), mouth, 0.02);
}

static double soil(field_point p) { return field_ellipsoid(field_less(p, field_at(0.0, 0.28, 0.0)), 0.30, 0.10, 0.30); }

static double flower_field(field_point p)
{
    field_point q = blossom_frame(p);
    double blossom = field_blend(corolla(q), calyx(q), 0.04);
    blossom = field_blend(blossom, centre(q), 0.015);
    double green = field_blend(stem(p), leaves(p), 0.05);
    double below = field_blend(field_blend(pot(p), soil(p), 0.02), green, 0.05);
    return field_blend(below, blossom, 0.04);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours
 */

static field_colour petal_colour(field_point q)
{
    double out = sqrt(q.x * q.x + q.z * q.z);
    field_colour inner = paint_mix(paint(0x8c0f4e), paint(0xe8348c), field_clamp((out - 0.18) / 0.22));
    return paint_mix(inner, paint(0xffb3d2), field_clamp((out - 0.40) / 0.36));
}

/* Paler towards the tip and along the rib. */
static field_colour leaf_colour(field_point p, double blur)
{
    field_point q = leaf_frame(p, &leaf_pair[p.x > 0.0 ? 0 : 1]);
    field_colour blade = paint_mix(paint(0x2c7a31), paint(0x62ad3b), field_clamp(q.x / 0.6));
    return paint_line(blade, paint(0xa9d66c), q.z, 0.012, blur);
}

static field_colour flower_colour(field_point p, double blur)
{
    field_point q = blossom_frame(p);
    double part = 0.5 * blur; /* how far around a part its colour is whole */
    field_colour colour = paint_over(paint(0x4a9a37), leaf_colour(p, blur), leaves(p) - part, blur);
    colour = paint_over(colour, petal_colour(q), corolla(q) - part, blur);
    colour = paint_over(colour, paint(0x3c8433), calyx(q) - 0.02, blur);
    double between = field_clamp(0.5 + (from_floret(q) - 0.028) / blur) * field_clamp(0.016 / blur);
    field_colour floret = paint_mix(paint(0xffcb22), paint(0xa85a10), between);
    colour = paint_over(colour, floret, field_larger(cushion(q) - 0.02, 0.07 - q.y), blur);
    if (p.y > POT_HEIGHT + 0.05) return colour;
    double beside_stem = 0.02 - stem(p);
    colour = paint_over(colour, paint(0xc4683e), field_larger(pot(p) - part, beside_stem), blur);
    return paint_over(colour, paint(0x4d3322), field_larger(soil(p) - part, beside_stem), blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

/* 1 on a part's own surface, 0 a little away from it. */
static double belongs(double distance) { return field_clamp(1.5 - distance / 0.02); }

/* The petals grow out of the blossom's middle: there they belong to it only in part. */
static double in_petals(field_point p)
{
    field_point q = blossom_frame(p);
    double out = sqrt(q.x * q.x + q.z * q.z);
    return belongs(corolla(q)) * field_clamp((out - 0.16) / 0.10);
}

static double in_petal(field_point p, int which)
{
    int first, second;
    nearest_petals(blossom_frame(p), &first, &second);
    return first == which ? in_petals(p) : 0.0;
}

#define PETAL_GROUP(number)                                                                                            \
    static double in_petal_##number(field_point p) { return in_petal(p, (number)-1); }

PETAL_GROUP(1)
PETAL_GROUP(2)
PETAL_GROUP(3)
PETAL_GROUP(4)
PETAL_GROUP(5)
PETAL_GROUP(6)
PETAL_GROUP(7)
PETAL_GROUP(8)

static double in_centre(field_point p)
{
    field_point q = blossom_frame(p);
    return belongs(cushion(q)) * field_clamp((q.y - 0.06) / 0.03);
}

static double in_base(field_point p) { return field_clamp((POT_HEIGHT + 0.02 - p.y) / 0.04); }

static double in_leaves(field_point p)
{
    double out = field_clamp(stem(p) / 0.05);
    return belongs(leaves(p)) * out;
}

static double in_stem(field_point p) { return belongs(stem(p)) * (1.0 - in_base(p)) * (1.0 - in_leaves(p)); }

static const model_group flower_groups[] = {
    {"petals", in_petals},   {"petal_1", in_petal_1}, {"petal_2", in_petal_2}, {"petal_3", in_petal_3},
    {"petal_4", in_petal_4}, {"petal_5", in_petal_5}, {"petal_6", in_petal_6}, {"petal_7", in_petal_7},
    {"petal_8", in_petal_8}, {"centre", in_centre},   {"stem", in_stem},       {"leaves", in_leaves},
    {"base", in_base},
};

static const shape_model flower_model = {
    .field = flower_field,
    .colour = flower_colour,
    .groups = flower_groups,
    .group_count = sizeof flower_groups / sizeof flower_groups[0],
    .lower = {-0.725, 0.000, -0.345},
    .upper = {0.734, 2.213, 0.663},
    .coarsest = 56,
};

const shape_kind lmi_shape_kind_flower = {
    .name = "flower",
    .description = "a flower with eight petals in a pot, facing up and along z",
    .natural_size = {0.659f, 1.0f, 0.456f},
    .model = &flower_model,
};
