#include "collide/rigid.h"
#include "world/access.h"
#include "world/in_step.h"
#include "world/world.h"

#include <string.h>

/* Metres: nothing turns more easily than a ball of about this radius, or its spin would not be a number. */
#define SMALLEST 1e-6
#define LIGHTEST 1e-30f

const char *lmi_rigid_fault(float mass, lm_vec3 moments)
{
    uint32_t bits; /* what is denormal is nothing to some of the arithmetic and something to the rest */
    memcpy(&bits, &mass, sizeof bits);
    if (bits << 1 && !(mass >= LIGHTEST && mass <= 1e12f)) {
        return "mass must be 0, or 1e-30 to 1e12 kg";
    }
    const float m[3] = {moments.x, moments.y, moments.z};
    bool none = m[0] == 0.0f && m[1] == 0.0f && m[2] == 0.0f;
    for (int i = 0; i < 3; i++) {
        if (!none && !(m[i] > 0.0f && m[i] <= 1e24f)) {
            return "moments of inertia must be above 0, or all of them 0";
        }
        if (m[i] > 1.0001f * (m[(i + 1) % 3] + m[(i + 2) % 3])) {
            return "no solid has a moment of inertia above the sum of the other two";
        }
    }
    return NULL;
}

/* --- mass of shapes --- */

/* The volume of a shape, and its moments about its own axes for a density of 1; false where it has none that is finite. */
static bool moments_of(const lmi_collider *c, double *volume, double moments[3])
{
    const double pi = 3.14159265358979323846, r = c->radius, l = 2.0 * c->half_length;
    const double x = c->half_extents.x, y = c->half_extents.y, z = c->half_extents.z;
    switch (c->shape) {
    case LM_SHAPE_SPHERE:
        *volume = 4.0 / 3.0 * pi * r * r * r;
        moments[0] = moments[1] = moments[2] = 0.4 * *volume * r * r;
        return true;
    case LM_SHAPE_CAPSULE: {
        double cylinder = pi * r * r * l, balls = 4.0 / 3.0 * pi * r * r * r;
        *volume = cylinder + balls;
        moments[1] = 0.5 * cylinder * r * r + 0.4 * balls * r * r;
        moments[0] = moments[2] =
            cylinder * (0.25 * r * r + l * l / 12.0) + balls * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
        return true;
    }
    case LM_SHAPE_BOX:
        *volume = 8.0 * x * y * z;
        moments[0] = *volume / 3.0 * (y * y + z * z);
        moments[1] = *volume / 3.0 * (z * z + x * x);
        moments[2] = *volume / 3.0 * (x * x + y * y);
        return true;
    default: return false;
    }
}

/* Adds R diag(moments) R^T and the volume's own moments about the mover's origin. */
static void add_moments(const lmi_collider *c, double volume, const double moments[3], double sum[6])
{
    static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    const double p[3] = {c->position.x, c->position.y, c->position.z};
    double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    for (int n = 0; n < 6; n++) {
        const double *a = c->rotation.m[row[n]], *b = c->rotation.m[column[n]];
        sum[n] += a[0] * b[0] * moments[0] + a[1] * b[1] * moments[1] + a[2] * b[2] * moments[2];
        sum[n] += volume * ((n < 3 ? square : 0.0) - p[row[n]] * p[column[n]]);
    }
}

/* How far a collider reaches from the mover's origin. */
static double reach_of(const lmi_collider *c)
{
    double far = dvec_length(c->position), x = c->half_extents.x, y = c->half_extents.y, z = c->half_extents.z;
    if (lmi_solid_is(&c->solid)) {
        lm_dvec3 lower, upper;
        lmi_solid_bounds(&c->solid, &lower, &upper);
        double size = lmi_max(dvec_length(lower), dvec_length(upper));
        return size < 1e6 ? far + size : far;
    }
    switch (c->shape) {
    case LM_SHAPE_SPHERE: return far + c->radius;
    case LM_SHAPE_CAPSULE: return far + c->radius + c->half_length;
    case LM_SHAPE_BOX: return far + sqrt(x * x + y * y + z * z);
    default: return far;
    }
}

/* Inertia and size. Without a shape that has a volume, a ball of half a metre. */
static void weigh(const lm_world *world, uint32_t slot, lmi_mover *mover)
{
    double all = 0.0, sum[6] = {0};
    mover->size = 0.0;
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        double volume, moments[3];
        if (c->mover != slot) {
            continue;
        }
        mover->size = lmi_max(mover->size, reach_of(c));
        if (moments_of(c, &volume, moments)) {
            all += volume;
            add_moments(c, volume, moments, sum);
        }
    }
    mover->size = mover->size > 0.0 ? mover->size : 0.5;
    const lm_vec3 m = mover->moments;
    const double given[6] = {m.x, m.y, m.z, 0.0, 0.0, 0.0};
    const double ball = 0.1 * (double)mover->mass;
    for (int n = 0; n < 6; n++) {
        double found = all > 0.0 ? sum[n] * mover->mass / all : n < 3 ? ball : 0.0;
        double inertia = m.x > 0.0f ? given[n] : found;
        mover->inertia[n] = n < 3 ? lmi_max(inertia, SMALLEST * SMALLEST * (double)mover->mass) : inertia;
    }
}

/* Whether a collider of a mover with mass may touch the body. */
static bool faces_rigid(const lm_world *world, const lmi_body *body)
{
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        if (c->mover != LMI_NONE && !c->disabled && lmi_may_collide(body, c->group, c->mask) &&
            LMI_POOL_AT(&world->movers, lmi_mover, c->mover)->mass > 0.0f) {
            return true;
        }
    }
    return false;
}

bool lmi_rigids_weigh(lm_world *world)
{
    bool any = false;
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (mover->mass > 0.0f) {
            any = true;
            weigh(world, n, mover);
        }
    }
    return any;
}

void lmi_rigids_prepare(lm_world *world)
{
    bool any = lmi_rigids_weigh(world);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->faces_rigid = any && faces_rigid(world, body);
    }
}

uint32_t lmi_rigids_count(const lm_world *world)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->movers, n) { count += lmi_rigid_yields(LMI_POOL_AT(&world->movers, lmi_mover, n)); }
    return count;
}

/* --- motion --- */

void lmi_rigid_inertia(const lmi_mover *mover, const dmat3 *rotation, double inertia[6])
{
    static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    const double *i = mover->inertia;
    const double own[3][3] = {{i[0], i[3], i[5]}, {i[3], i[1], i[4]}, {i[5], i[4], i[2]}};
    for (int n = 0; n < 6; n++) {
        const double *a = rotation->m[row[n]], *b = rotation->m[column[n]];
        inertia[n] = 0.0;
        for (int k = 0; k < 3; k++) {
            inertia[n] += a[k] * (own[k][0] * b[0] + own[k][1] * b[1] + own[k][2] * b[2]);
        }
    }
}

void lmi_inertia_add(double inertia[6], double mass, lm_dvec3 p)
{
    inertia[0] += mass * (p.y * p.y + p.z * p.z);
    inertia[1] += mass * (p.z * p.z + p.x * p.x);
    inertia[2] += mass * (p.x * p.x + p.y * p.y);
    inertia[3] -= mass * p.x * p.y;
    inertia[4] -= mass * p.y * p.z;
    inertia[5] -= mass * p.z * p.x;
}

lmi_rigid_whole lmi_rigid_with_carried(const lmi_mover *mover, const dmat3 *rotation)
{
    const lmi_carried *c = &mover->carried;
    lmi_rigid_whole all = {.mass = (double)mover->mass + c->mass};
    lmi_rigid_inertia(mover, rotation, all.inertia);
    if (c->mass > 0.0) {
        all.offset = dvec_scale(c->first, 1.0 / all.mass);
        for (int n = 0; n < 6; n++) {
            all.inertia[n] += c->inertia[n];
        }
        lmi_inertia_add(all.inertia, -all.mass, all.offset);
    }
    return all;
}

static lm_dvec3 apply_inertia(const double i[6], lm_dvec3 w)
{
    return dvec(i[0] * w.x + i[3] * w.y + i[5] * w.z, i[3] * w.x + i[1] * w.y + i[4] * w.z,
                i[5] * w.x + i[4] * w.y + i[2] * w.z);
}

void lmi_rigid_push(lmi_mover *mover, lm_dvec3 velocity, lm_dvec3 spin)
{
    mover->velocity = vec_from(dvec_limit(dvec_add(dvec_from(mover->velocity), velocity), LM_MAX_SPEED));
    mover->spin = vec_from(dvec_limit(dvec_add(dvec_from(mover->spin), spin), LM_MAX_SPEED));
}

void lmi_rigid_move(lmi_mover *mover, lm_dvec3 way, lm_dvec3 turn)
{
    mover->pose.position = dvec_limit(dvec_add(mover->pose.position, way), LM_MAX_POSITION);
    if (turn.x != 0.0 || turn.y != 0.0 || turn.z != 0.0) {
        turn = dvec_limit(turn, 2.0 * LM_MAX_SPEED);
        dmat3 rotation = lmi_dmat_from_rotation_vector(turn);
        rotation = lmi_dmat_multiply(&rotation, &mover->rotation);
        mover->pose.rotation = lmi_quat_from_dmat(&rotation);
        mover->rotation = lmi_dmat_from_quat(mover->pose.rotation);
    }
}

/* Its spin at a rotation of its frame, by its angular momentum. */
static lm_dvec3 spin_at(const lmi_mover *mover, const dmat3 *rotation)
{
    double inertia[6];
    lmi_rigid_inertia(mover, rotation, inertia);
    return lmi_dmat_solve_spin(inertia, mover->angular);
}

void lmi_rigid_fall(lmi_mover *mover, lm_dvec3 gravity, double h)
{
    if (mover->asleep) {
        mover->velocity = mover->spin = (lm_vec3){0.0f, 0.0f, 0.0f};
        return;
    }
    double inertia[6];
    lm_dvec3 spin = dvec_from(mover->spin);
    lmi_rigid_push(mover, dvec_scale(gravity, h), lm_dvec3_zero());
    lmi_rigid_inertia(mover, &mover->rotation, inertia);
    mover->angular = apply_inertia(inertia, spin);
    /* The spin in the middle of the substep leads to its end: energy stays as well. */
    dmat3 half = lmi_dmat_from_rotation_vector(dvec_scale(spin, 0.5 * h));
    half = lmi_dmat_multiply(&half, &mover->rotation);
    mover->spin = vec_from(dvec_limit(spin_at(mover, &half), LM_MAX_SPEED));
}

void lmi_rigid_turn(lmi_mover *mover)
{
    if (!mover->asleep) {
        mover->spin = vec_from(dvec_limit(spin_at(mover, &mover->rotation), LM_MAX_SPEED));
    }
}
