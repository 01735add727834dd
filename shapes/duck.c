/*
 * A rubber duck, looking along z: a boat-shaped body with a raised tail, folded wings, a round head, a bill with a lower
 * and an upper half, and eyes that stand out. Its bottom is flattened, so that it stands.
 */
#include "kind.h"
#include "model.h"

/* Parts that are farther away than what is nearest by more than the width of their blend change nothing, to the last bit, and are not
 * evaluated. For that a lower bound of a part's field is needed: of a sphere or a cone the distance to a ball around it, of an ellipsoid
 * with half axes from a to c, outside of a ball of radius c, a (distance / c - 1); a blend lies at most a fourth of its width below both. */
static field_point rump_middle(void) { return field_at(0.0, 0.15, -0.53); }

static double body(field_point p)
{
    double belly = field_ellipsoid(p, 0.52, 0.42, 0.66);
    double breast = field_sphere(p, field_at(0.0, 0.06, 0.32), 0.42);
    double whole = field_blend(belly, breast, 0.2);
    if (field_near(p, rump_middle(), 0.47 + 0.22 + whole)) { /* a ball of 0.46 holds it */
        double rump = field_round_cone(p, field_at(0.0, 0.06, -0.42), field_at(0.0, 0.40, -0.84), 0.24, 0.05);
        whole = field_blend(whole, rump, 0.22);
    }
    return field_both(whole, -0.34 - p.y, 0.12); /* the flat bottom */
}

/* A leaf on the flank that stands off at its tip, which points up and back. */
static double wing(field_point side)
{
    field_point q = field_turned_x(side, field_at(0.47, 0.08, -0.10), 0.96, 0.28);
    q = field_turned_y(q, field_at(0.0, 0.0, 0.0), 0.98, -0.199);
    double leaf = field_ellipsoid(q, 0.10, 0.19, 0.34);
    field_point tip = field_less(q, field_at(0.02, 0.06, -0.32));
    return field_blend(leaf, field_ellipsoid(tip, 0.05, 0.07, 0.14), 0.1);
}

/* Two flat halves, the upper one longer and turned up at its end. */
static double bill(field_point p)
{
    field_point upper = field_turned_x(p, field_at(0.0, 0.705, 0.73), 0.96, -0.28);
    field_point lower = field_turned_x(p, field_at(0.0, 0.595, 0.69), 0.995, -0.1);
    double top = field_ellipsoid(upper, 0.215, 0.08, 0.28);
    double bottom = field_ellipsoid(lower, 0.17, 0.085, 0.22);
    return field_blend(top, bottom, 0.03);
}

static double duck_field(field_point p)
{
    field_point side = field_mirror_x(p);
    double duck = body(p), out = field_larger(duck, 0.0);
    if (field_near(side, field_at(0.47, 0.08, -0.10), 0.69 + 3.41 * out)) duck = field_blend(duck, wing(side), 0.05);

    double head = field_sphere(p, field_at(0.0, 0.76, 0.36), 0.36);
    if (head < duck + 0.24) { /* the cheeks are at most 0.05 nearer than the head */
        double cheeks = field_sphere(side, field_at(0.13, 0.66, 0.44), 0.22);
        duck = field_blend(duck, field_blend(head, cheeks, 0.1), 0.16);
    }
    out = field_larger(duck, 0.0);
    if (field_near(p, field_at(0.0, 0.705, 0.73), 0.53 + 3.51 * out)) duck = field_blend(duck, bill(p), 0.06);
    out = field_larger(duck, 0.0);
    field_point eye = field_less(side, field_at(0.185, 0.875, 0.625));
    if (field_near(eye, field_at(0.0, 0.0, 0.0), 0.125 + 1.33 * out))
        duck = field_blend(duck, field_ellipsoid(eye, 0.072, 0.095, 0.072), 0.015);
    return duck;
}

/* Black eyes with a light in each; the wings and the tail a little deeper in colour towards their tips. */
static field_colour duck_colour(field_point p, double blur)
{
    field_point side = field_mirror_x(p);
    field_colour colour = paint(0xfad02c);
    double tips = field_clamp(-0.9 * p.z - 0.2);
    colour = paint_mix(colour, paint(0xf0a91c), 0.7 * tips * field_clamp(1.0 - 2.5 * field_larger(p.y - 0.45, 0.0)));
    colour = paint_over(colour, paint(0xf0731a), bill(p) - 0.5 * blur, blur);
    field_point eye = field_less(side, field_at(0.185, 0.875, 0.625));
    colour = paint_over(colour, paint(0x14110f), field_ellipsoid(eye, 0.075, 0.098, 0.075) - 0.3 * blur, blur);
    return paint_over(colour, paint(0xffffff), field_sphere(eye, field_at(0.012, 0.045, 0.07), 0.030), 0.5 * blur);
}

/* 1 on a part's own surface, 0 a little away from it. */
static double belongs(double distance) { return field_clamp(1.5 - distance / 0.03); }

static double in_bill(field_point p) { return belongs(bill(p)); }

/* From the neck up. */
static double in_head(field_point p) { return field_clamp((p.y - 0.38) / 0.12) * field_clamp((p.z + 0.15) / 0.1); }

static double in_wings(field_point p) { return belongs(wing(field_mirror_x(p))); }

static double in_left_wing(field_point p) { return p.x > 0.0 ? in_wings(p) : 0.0; }

static double in_right_wing(field_point p) { return p.x < 0.0 ? in_wings(p) : 0.0; }

static double in_tail(field_point p) { return field_clamp((-0.52 - p.z) / 0.12) * (1.0 - in_wings(p)); }

static double in_body(field_point p) { return (1.0 - in_head(p)) * (1.0 - in_wings(p)) * (1.0 - in_tail(p)); }

static const model_group duck_groups[] = {
    {"body", in_body}, {"head", in_head}, {"bill", in_bill}, {"left_wing", in_left_wing}, {"right_wing", in_right_wing},
    {"tail", in_tail},
};

static const shape_model duck_model = {
    .field = duck_field,
    .colour = duck_colour,
    .groups = duck_groups,
    .group_count = sizeof duck_groups / sizeof duck_groups[0],
    .lower = {-0.615, -0.338, -0.889},
    .upper = {0.615, 1.120, 0.999},
    .coarsest = 7,
};

const shape_kind lmi_shape_kind_duck = {
    .name = "duck",
    .description = "a rubber duck, looking along z",
    .natural_size = {0.651f, 0.772f, 1.0f},
    .model = &duck_model,
};
