/*
 * A human head on its neck, looking along z: the size of a person's is about 0.32 m from the neck's foot to the crown.
 */
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

static double with_mouth(double head, field_point p, field_point side)
{
    double upper = field_capsule(side, field_at(0.02, -0.262, 0.395), field_at(0.115, -0.288, 0.335), 0.03);
    double lower = field_capsule(side, field_at(0.0, -0.336, 0.385), field_at(0.095, -0.312, 0.335), 0.036);
    double line = field_capsule(side, field_at(0.0, -0.295, 0.435), field_at(0.135, -0.297, 0.35), 0.02);
    double dip = field_sphere(p, field_at(0.0, -0.392, 0.43), 0.05); /* between the lower lip and the chin */
    double groove = field_capsule(p, field_at(0.0, -0.20, 0.45), field_at(0.0, -0.24, 0.45), 0.018);
    head = field_cut(head, dip, 0.05);
    head = field_blend(head, field_blend(upper, lower, 0.01), 0.03);
    head = field_cut(head, groove, 0.03);
    return field_cut(head, line, 0.02);
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

static field_colour head_colour(field_point p, double blur)
{
    (void)p, (void)blur;
    return paint(0xd8a183);
}

static const shape_model head_model = {
    .field = head_field,
    .colour = head_colour,
    .lower = {-0.408, -0.820, -0.530},
    .upper = {0.408, 0.580, 0.496},
    .coarsest = 6,
};

const shape_kind shape_kind_head = {
    .name = "head",
    .description = "a human head and neck, looking along z",
    .natural_size = {0.583f, 1.0f, 0.733f},
    .model = &head_model,
};
