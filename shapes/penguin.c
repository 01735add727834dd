/*
 * A young penguin, looking along z, standing on y = 0 and about 2 high: an egg of a body with a large
 * head, flippers that hang a little off the sides, a short tail, and webbed feet whose flat soles it stands on. Black coat,
 * white belly and face, a golden breast, orange beak and feet.
 */
#include "kind.h"
#include "model.h"

#define SHARE_BAND 0.12 /* width of the border between two groups */

static double trunk(field_point p)
{
    double egg = field_round_cone(p, field_at(0.0, 0.60, -0.02), field_at(0.0, 1.12, -0.02), 0.54, 0.36);
    double belly = field_ellipsoid(field_less(p, field_at(0.0, 0.58, 0.12)), 0.47, 0.50, 0.47);
    return field_both(field_blend(egg, belly, 0.2), 0.07 - p.y, 0.12);
}

static double head(field_point p)
{
    double skull = field_ellipsoid(field_less(p, field_at(0.0, 1.52, 0.02)), 0.46, 0.43, 0.44);
    double cheeks = field_ellipsoid(field_less(p, field_at(0.0, 1.40, 0.12)), 0.45, 0.30, 0.36);
    return field_blend(skull, cheeks, 0.2);
}

/* A paddle, flat across and bent outwards towards its tip. */
static double flipper(field_point side)
{
    field_point q = field_turned_z(side, field_at(0.44, 1.10, -0.04), 0.88, 0.475);
    q = field_turned_x(q, field_at(0.0, 0.0, 0.0), 0.98, 0.199);
    double bend = q.y + 0.25;
    double blade = field_round_cone(q, field_at(0.0, -0.12, 0.0), field_at(0.0, -0.60, -0.03), 0.22, 0.15);
    return field_both(blade, fabs(q.x - 0.3 * bend * bend) - 0.10, 0.12);
}

static double tail(field_point p)
{
    return field_round_cone(p, field_at(0.0, 0.32, -0.42), field_at(0.0, 0.15, -0.66), 0.22, 0.10);
}

/* Three toes with a web between them, turned outwards. */
static double foot(field_point side)
{
    field_point q = field_turned_y(side, field_at(0.25, 0.0, 0.16), 0.96, 0.28);
    double heel = field_ellipsoid(field_less(q, field_at(0.0, 0.08, 0.05)), 0.16, 0.12, 0.20);
    double middle = field_capsule(q, field_at(0.0, 0.07, 0.05), field_at(0.0, 0.075, 0.42), 0.09);
    double inner = field_capsule(q, field_at(-0.03, 0.07, 0.05), field_at(-0.16, 0.07, 0.35), 0.085);
    double outer = field_capsule(q, field_at(0.03, 0.07, 0.05), field_at(0.16, 0.07, 0.35), 0.085);
    double toes = field_blend(field_blend(middle, inner, 0.09), outer, 0.09);
    return field_both(field_blend(heel, toes, 0.1), -side.y, 0.06);
}

/* The beak has two halves, the upper one longer. */
static double upper_beak(field_point p)
{
    return field_round_cone(p, field_at(0.0, 1.405, 0.44), field_at(0.0, 1.365, 0.71), 0.135, 0.06);
}

static double lower_beak(field_point p)
{
    return field_round_cone(p, field_at(0.0, 1.325, 0.42), field_at(0.0, 1.30, 0.61), 0.10, 0.05);
}

static double beak(field_point p) { return field_blend(upper_beak(p), lower_beak(p), 0.03); }

/* The point as seen from the middle of an eye, which looks along the z of this frame. */
static field_point eye_frame(field_point side) { return field_turned_y(side, field_at(0.21, 1.60, 0.39), 0.91, 0.415); }

static double eye(field_point side) { return field_ellipsoid(eye_frame(side), 0.10, 0.13, 0.065); }

static double penguin_field(field_point p)
{
    field_point side = field_mirror_x(p);
    double penguin = field_blend(trunk(p), head(p), 0.16);
    penguin = field_blend(penguin, flipper(side), 0.08);
    penguin = field_blend(penguin, tail(p), 0.12);
    penguin = field_blend(penguin, foot(side), 0.06);
    penguin = field_blend(penguin, beak(p), 0.04);
    return field_blend(penguin, eye(side), 0.02);
}

static field_colour penguin_colour(field_point p, double blur)
{
    field_point side = field_mirror_x(p), eyes = eye_frame(side);
    const field_colour white = paint(0xf6f4ee), orange = paint(0xf08a1c);
    field_colour colour = paint(0x20242e);

    double bib = field_ellipsoid(field_less(p, field_at(0.0, 0.58, 0.52)), 0.42, 0.56, 0.50);
    field_colour breast = paint_over(white, paint(0xffc02e), 0.98 - p.y, 0.30);
    colour = paint_over(colour, breast, bib, blur);
    double mask = field_ellipsoid(field_less(side, field_at(0.21, 1.575, 0.42)), 0.20, 0.25, 0.30);
    double cheek = field_ellipsoid(field_less(side, field_at(0.14, 1.36, 0.45)), 0.22, 0.16, 0.30);
    colour = paint_over(colour, white, field_blend(mask, cheek, 0.06) - 0.25 * blur, blur);

    colour = paint_over(colour, orange, beak(p) - head(p), blur);
    double mouth = field_larger(fabs(upper_beak(p) - lower_beak(p)) - 0.018, beak(p) - 0.02);
    colour = paint_over(colour, paint(0x9c4a10), mouth + 0.25 * blur, blur);
    colour = paint_over(colour, orange, foot(side) - trunk(p), blur);

    colour = paint_over(colour, paint(0x14161c), field_ellipsoid(eyes, 0.105, 0.135, 0.3), 0.8 * blur);
    double glint = field_sphere(eyes, field_at(p.x > 0.0 ? 0.03 : -0.03, 0.05, 0.06), 0.042);
    return paint_over(colour, paint(0xffffff), glint + 0.6 * blur, blur);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Groups
 */

/* 1 on the skin of a part, 0 on the skin of the rest, from the distances to both. */
static double share(double part, double rest) { return field_clamp(0.5 - (part - rest) / SHARE_BAND); }

static double beak_share(field_point p) { return share(beak(p), field_smaller(head(p), trunk(p))); }

static double head_share(field_point p)
{
    field_point side = field_mirror_x(p);
    double whole = field_smaller(head(p), field_smaller(beak(p), eye(side)));
    return share(whole, field_smaller(trunk(p), flipper(side)));
}

static double wing_share(field_point side) { return share(flipper(side), field_smaller(trunk(side), head(side))); }

static double foot_share(field_point side) { return share(foot(side), trunk(side)); }

static double left_wing_share(field_point p) { return p.x > 0.0 ? wing_share(p) : 0.0; }

static double right_wing_share(field_point p) { return p.x < 0.0 ? wing_share(field_mirror_x(p)) : 0.0; }

static double left_foot_share(field_point p) { return p.x > 0.0 ? foot_share(p) : 0.0; }

static double right_foot_share(field_point p) { return p.x < 0.0 ? foot_share(field_mirror_x(p)) : 0.0; }

static double tail_share(field_point p) { return share(tail(p), trunk(p)); }

static double body_share(field_point p)
{
    field_point side = field_mirror_x(p);
    double limbs = field_larger(wing_share(side), foot_share(side));
    return 1.0 - field_larger(limbs, field_larger(head_share(p), tail_share(p)));
}

static const model_group penguin_groups[] = {
    {"head", head_share},
    {"beak", beak_share},
    {"body", body_share},
    {"left_wing", left_wing_share},
    {"right_wing", right_wing_share},
    {"left_foot", left_foot_share},
    {"right_foot", right_foot_share},
    {"tail", tail_share},
};

static const shape_model penguin_model = {
    .field = penguin_field,
    .colour = penguin_colour,
    .groups = penguin_groups,
    .group_count = sizeof penguin_groups / sizeof penguin_groups[0],
    .lower = {-0.851, 0.000, -0.760},
    .upper = {0.851, 1.950, 0.770},
    .coarsest = 10,
};

const shape_kind lmi_shape_kind_penguin = {
    .name = "penguin",
    .description = "a penguin, looking along z",
    .natural_size = {0.872f, 1.0f, 0.785f},
    .model = &penguin_model,
};
