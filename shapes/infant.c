/*
 * A small child, looking along z, standing on y = 0 and about 2 high, in a nappy: a large head with a curl on top, a round
 * belly, and chubby arms and legs spread for its skeleton. The joints lie in the flesh; every point of the skin is shared
 * among the bones near it.
 */
#include "kind.h"
#include "model.h"

static const field_point shoulder = {0.21, 1.13, -0.01}, elbow = {0.43, 0.97, -0.01}, wrist = {0.62, 0.79, 0.03};
static const field_point hip = {0.16, 0.58, 0.00}, knee = {0.235, 0.35, 0.02}, ankle = {0.255, 0.12, -0.01};

/* ------------------------------------------------------------------------------------------------------------------
 * Flesh
 */

static double trunk(field_point p)
{
    double chest = field_ellipsoid(field_less(p, field_at(0.0, 1.06, -0.01)), 0.27, 0.24, 0.21);
    double belly = field_ellipsoid(field_less(p, field_at(0.0, 0.84, 0.05)), 0.30, 0.25, 0.27);
    double neck = field_capsule(p, field_at(0.0, 1.15, -0.01), field_at(0.0, 1.40, -0.01), 0.13);
    double navel = field_sphere(p, field_at(0.0, 0.83, 0.335), 0.03);
    return field_cut(field_blend(field_blend(chest, belly, 0.15), neck, 0.08), navel, 0.03);
}

static double nappy(field_point p)
{
    double pouch = field_ellipsoid(field_less(p, field_at(0.0, 0.63, -0.01)), 0.335, 0.235, 0.305);
    return field_both(pouch, p.y - 0.76, 0.05);
}

static double leg(field_point side)
{
    double thigh = field_round_cone(side, hip, knee, 0.175, 0.125);
    double shin = field_round_cone(side, field_at(0.24, 0.29, 0.00), ankle, 0.13, 0.105);
    return field_blend(thigh, shin, 0.04);
}

/* The point as seen from the heel, toes along z. */
static field_point foot_frame(field_point side) { return field_turned_y(side, field_at(0.26, 0.0, 0.0), 0.98, 0.199); }

static double foot(field_point side)
{
    static const field_point toes[5] = {
        {-0.068, 0.05, 0.225}, {-0.010, 0.05, 0.240}, {0.042, 0.05, 0.228}, {0.084, 0.05, 0.202}, {0.110, 0.05, 0.165},
    };
    field_point q = foot_frame(side);
    double whole = field_round_cone(q, field_at(0.01, 0.075, 0.13), field_at(0.0, 0.085, -0.03), 0.115, 0.105);
    for (int toe = 0; toe < 5; toe++) {
        double radius = toe == 0 ? 0.055 : 0.046 - 0.002 * toe;
        whole = field_blend(whole, field_sphere(q, toes[toe], radius), 0.03);
    }
    return whole;
}

/* The point as seen from the wrist: fingers along x, the thumb along y, the palm towards z. */
static field_point hand_frame(field_point side) { return field_turned_z(side, wrist, 0.72, -0.694); }

static double hand(field_point side)
{
    static const double reach[4] = {0.24, 0.26, 0.25, 0.22};
    field_point q = hand_frame(side);
    double whole = field_ellipsoid(field_less(q, field_at(0.11, 0.0, 0.005)), 0.14, 0.125, 0.095);
    for (int finger = 0; finger < 4; finger++) {
        double across = 0.085 - 0.058 * finger;
        field_point knuckle = field_at(0.12, 0.8 * across, 0.0), tip = field_at(reach[finger], 1.15 * across, 0.03);
        whole = field_blend(whole, field_capsule(q, knuckle, tip, 0.046), 0.03);
    }
    double thumb = field_round_cone(q, field_at(0.07, 0.08, 0.01), field_at(0.125, 0.165, 0.035), 0.065, 0.05);
    return field_blend(whole, thumb, 0.03);
}

static double arm(field_point side)
{
    double upper = field_round_cone(side, shoulder, elbow, 0.135, 0.115);
    double lower = field_round_cone(side, field_at(0.46, 0.94, 0.0), wrist, 0.125, 0.10);
    double sleeve = field_blend(upper, lower, 0.04);
    if (!field_near(side, field_at(0.73, 0.73, 0.04), 0.28 + sleeve)) return sleeve;
    return field_blend(sleeve, hand(side), 0.025);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Head, in a frame of its own
 */

#define HEAD_SCALE 1.1

static field_point head_frame(field_point p)
{
    return field_at(p.x / HEAD_SCALE, 1.27 + (p.y - 1.30) / HEAD_SCALE, p.z / HEAD_SCALE);
}

static double skull(field_point p, field_point side)
{
    double cranium = field_ellipsoid(field_less(p, field_at(0.0, 1.60, -0.02)), 0.37, 0.35, 0.365);
    double face = field_ellipsoid(field_less(p, field_at(0.0, 1.45, 0.05)), 0.34, 0.25, 0.28);
    double cheek = field_sphere(side, field_at(0.19, 1.385, 0.14), 0.15);
    return field_blend(field_blend(cranium, face, 0.15), cheek, 0.12);
}

static double ear(field_point side)
{
    field_point q = field_turned_y(side, field_at(0.37, 1.49, -0.02), 0.8, 0.6);
    double shell = field_ellipsoid(q, 0.07, 0.115, 0.085);
    double hollow = field_ellipsoid(field_less(q, field_at(0.065, 0.01, 0.01)), 0.035, 0.07, 0.047);
    return field_cut(shell, hollow, 0.02);
}

/* Negative where hair grows: above a line from the forehead, which it frames, down to the neck. */
static double hairline(field_point p)
{
    field_point q = field_less(p, field_at(0.0, 1.60, -0.02));
    return 0.85 * (0.10 + 0.55 * q.z - q.y - 0.6 * q.x * q.x);
}

/* Thicker than the skull by a little, and a curl. */
static double hair(field_point p)
{
    double cap = field_ellipsoid(field_less(p, field_at(0.0, 1.60, -0.02)), 0.39, 0.373, 0.39);
    double root = field_round_cone(p, field_at(-0.02, 1.92, 0.04), field_at(0.02, 2.01, 0.08), 0.09, 0.07);
    double curl = field_round_cone(p, field_at(0.02, 2.01, 0.08), field_at(0.07, 1.995, 0.16), 0.07, 0.05);
    return field_blend(field_both(cap, hairline(p), 0.03), field_blend(root, curl, 0.02), 0.03);
}

/* The point as seen from the middle of an eye, which looks along the z of this frame. */
static field_point eye_frame(field_point side)
{
    return field_turned_y(side, field_at(0.15, 1.515, 0.275), 0.936, 0.352);
}

static double head(field_point p)
{
    field_point side = field_mirror_x(p);
    double whole = field_blend(skull(p, side), ear(side), 0.03);
    whole = field_blend(whole, hair(p), 0.01);
    double nose = field_ellipsoid(field_less(p, field_at(0.0, 1.44, 0.335)), 0.05, 0.04, 0.05);
    whole = field_blend(whole, nose, 0.05);
    return field_blend(whole, field_ellipsoid(eye_frame(side), 0.075, 0.095, 0.075), 0.015);
}

static double infant_field(field_point p)
{
    field_point side = field_mirror_x(p);
    double infant = field_blend(trunk(p), arm(side), 0.06);
    double limb = leg(side);
    if (field_near(side, field_at(0.28, 0.06, 0.06), 0.40 + limb)) limb = field_blend(limb, foot(side), 0.04);
    infant = field_blend(infant, limb, 0.05);
    infant = field_blend(infant, nappy(p), 0.012);
    if (field_near(p, field_at(0.0, 1.64, 0.0), 0.72 + infant))
        infant = field_blend(infant, HEAD_SCALE * head(head_frame(p)), 0.05);
    return field_both(infant, -p.y, 0.04);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colour
 */

/* As seen from the front: a part of a circle. */
static double smile(field_point p)
{
    double away = field_length(field_at(p.x, p.y - 1.44, 0.0));
    double arc = field_larger(fabs(away - 0.115) - 0.012, p.y - 1.37);
    return field_larger(arc, 0.1 - p.z);
}

static double brow(field_point eye)
{
    double arc = fabs(sqrt(eye.x * eye.x + eye.y * eye.y) - 0.135) - 0.012;
    return field_larger(field_larger(arc, 0.108 - eye.y), -eye.z);
}

static field_colour face_colour(field_colour colour, field_point p, double blur)
{
    field_point side = field_mirror_x(p), eye = eye_frame(side);
    double blush = field_sphere(side, field_at(0.22, 1.40, 0.25), 0.06);
    colour = paint_over(colour, paint(0xee9080), blush, 0.12);
    colour = paint_over(colour, paint(0xa8483f), smile(p) + 0.1 * blur, blur);
    colour = paint_over(colour, paint(0xb98150), brow(eye) + 0.25 * blur, blur);
    double deep = 0.3; /* what is painted on an eye reaches through it */
    colour = paint_over(colour, paint(0x2b1a14), field_ellipsoid(eye, 0.074, 0.094, deep), 0.8 * blur);
    field_point shine = field_less(eye, field_at(0.0, -0.045, 0.0));
    colour = paint_over(colour, paint(0x7a4a2c), field_ellipsoid(shine, 0.045, 0.032, deep) + 0.3 * blur, blur);
    double glint = field_sphere(eye, field_at(p.x > 0.0 ? 0.02 : -0.02, 0.035, 0.065), 0.034);
    return paint_over(colour, paint(0xffffff), glint + 0.45 * blur, blur);
}

static field_colour infant_colour(field_point p, double blur)
{
    field_point side = field_mirror_x(p);
    field_colour colour = paint(0xf3c4a2);
    field_colour cloth = paint_over(paint(0x8ec6ea), paint(0xf4f6f8), 0.70 - p.y, blur);
    colour = paint_over(colour, cloth, nappy(p) - field_smaller(trunk(p), field_smaller(leg(side), arm(side))), blur);
    colour = paint_over(colour, paint(0xd99a7c), field_sphere(p, field_at(0.0, 0.83, 0.31), 0.02), blur);
    if (p.y < 1.2) return colour;

    field_point q = head_frame(p), temple = field_mirror_x(q);
    blur /= HEAD_SCALE;
    colour = paint_over(colour, paint(0xe8a88c), field_sphere(temple, field_at(0.42, 1.50, 0.04), 0.05), 0.06);
    colour = paint_over(colour, paint(0x8f5f30), hairline(q) - 0.012, blur);
    return q.z > 0.0 ? face_colour(colour, q, blur) : colour;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Skeleton
 */

/* Each with the name of its bone and group; parents come first. */
#define BONES(X)                                                                                                       \
    X(PELVIS, pelvis)                                                                                                  \
    X(SPINE, spine)                                                                                                    \
    X(CHEST, chest)                                                                                                    \
    X(NECK, neck)                                                                                                      \
    X(HEAD, head)                                                                                                      \
    X(LEFT_UPPER_ARM, left_upper_arm)                                                                                  \
    X(LEFT_FOREARM, left_forearm)                                                                                      \
    X(LEFT_HAND, left_hand)                                                                                            \
    X(RIGHT_UPPER_ARM, right_upper_arm)                                                                                \
    X(RIGHT_FOREARM, right_forearm)                                                                                    \
    X(RIGHT_HAND, right_hand)                                                                                          \
    X(LEFT_THIGH, left_thigh)                                                                                          \
    X(LEFT_SHIN, left_shin)                                                                                            \
    X(LEFT_FOOT, left_foot)                                                                                            \
    X(RIGHT_THIGH, right_thigh)                                                                                        \
    X(RIGHT_SHIN, right_shin)                                                                                          \
    X(RIGHT_FOOT, right_foot)

#define BONE_NUMBER(bone, name) bone,
enum { BONES(BONE_NUMBER) BONE_COUNT };

static const model_bone infant_bones[BONE_COUNT] = {
    [PELVIS] = {"pelvis", LM_SHAPE_NO_BONE, {0.0, 0.60, 0.0}, {0.0, 0.73, 0.0}},
    [SPINE] = {"spine", PELVIS, {0.0, 0.73, 0.0}, {0.0, 0.97, 0.0}},
    [CHEST] = {"chest", SPINE, {0.0, 0.97, 0.0}, {0.0, 1.17, -0.01}},
    [NECK] = {"neck", CHEST, {0.0, 1.17, -0.01}, {0.0, 1.40, 0.0}},
    [HEAD] = {"head", NECK, {0.0, 1.40, 0.0}, {0.0, 1.92, 0.0}},
    [LEFT_UPPER_ARM] = {"left_upper_arm", CHEST, {0.21, 1.13, -0.01}, {0.44, 0.96, -0.01}},
    [LEFT_FOREARM] = {"left_forearm", LEFT_UPPER_ARM, {0.44, 0.96, -0.01}, {0.62, 0.79, 0.03}},
    [LEFT_HAND] = {"left_hand", LEFT_FOREARM, {0.62, 0.79, 0.03}, {0.775, 0.645, 0.035}},
    [RIGHT_UPPER_ARM] = {"right_upper_arm", CHEST, {-0.21, 1.13, -0.01}, {-0.44, 0.96, -0.01}},
    [RIGHT_FOREARM] = {"right_forearm", RIGHT_UPPER_ARM, {-0.44, 0.96, -0.01}, {-0.62, 0.79, 0.03}},
    [RIGHT_HAND] = {"right_hand", RIGHT_FOREARM, {-0.62, 0.79, 0.03}, {-0.775, 0.645, 0.035}},
    [LEFT_THIGH] = {"left_thigh", PELVIS, {0.16, 0.58, 0.0}, {0.235, 0.33, 0.02}},
    [LEFT_SHIN] = {"left_shin", LEFT_THIGH, {0.235, 0.33, 0.02}, {0.255, 0.11, -0.01}},
    [LEFT_FOOT] = {"left_foot", LEFT_SHIN, {0.255, 0.11, -0.01}, {0.295, 0.06, 0.18}},
    [RIGHT_THIGH] = {"right_thigh", PELVIS, {-0.16, 0.58, 0.0}, {-0.235, 0.33, 0.02}},
    [RIGHT_SHIN] = {"right_shin", RIGHT_THIGH, {-0.235, 0.33, 0.02}, {-0.255, 0.11, -0.01}},
    [RIGHT_FOOT] = {"right_foot", RIGHT_SHIN, {-0.255, 0.11, -0.01}, {-0.295, 0.06, 0.18}},
};

/* How far the flesh of each bone reaches: distances are compared in these units. */
static const double flesh[BONE_COUNT] = {
    [PELVIS] = 0.30,         [SPINE] = 0.30,       [CHEST] = 0.31,
    [NECK] = 0.33,           [HEAD] = 0.40,        [LEFT_UPPER_ARM] = 0.11,
    [LEFT_FOREARM] = 0.105,  [LEFT_HAND] = 0.10,   [RIGHT_UPPER_ARM] = 0.11,
    [RIGHT_FOREARM] = 0.105, [RIGHT_HAND] = 0.10,  [LEFT_THIGH] = 0.16,
    [LEFT_SHIN] = 0.125,     [LEFT_FOOT] = 0.125,  [RIGHT_THIGH] = 0.16,
    [RIGHT_SHIN] = 0.125,    [RIGHT_FOOT] = 0.125,
};

/* The share of one bone among all: each pulls with the inverse sixteenth power of its distance. */
static double bone_share(field_point p, int bone)
{
    double sum = 0.0, own = 0.0;
    for (int b = 0; b < BONE_COUNT; b++) {
        double distance = field_capsule(p, infant_bones[b].head, infant_bones[b].tail, 0.0) / flesh[b];
        double square = distance * distance + 0.01, fourth = square * square, eighth = fourth * fourth;
        double pull = 1.0 / (eighth * eighth);
        sum += pull;
        if (b == bone) own = pull;
    }
    return own / sum;
}

#define SHARE(bone, name)                                                                                              \
    static double name##_share(field_point p) { return bone_share(p, bone); }
BONES(SHARE)

#define GROUP(bone, name) [bone] = {#name, name##_share},
static const model_group infant_groups[BONE_COUNT] = {BONES(GROUP)};

static const shape_model infant_model = {
    .field = infant_field,
    .colour = infant_colour,
    .groups = infant_groups,
    .group_count = BONE_COUNT,
    .bones = infant_bones,
    .bone_count = BONE_COUNT,
    .lower = {-0.906, 0.000, -0.451},
    .upper = {0.906, 2.196, 0.427},
    .coarsest = 32,
};

const shape_kind lmi_shape_kind_infant = {
    .name = "infant",
    .description = "a small child with a skeleton, looking along z",
    .natural_size = {0.825f, 1.0f, 0.400f},
    .model = &infant_model,
};
