/*
 * A body as a whole, and parts of it, as rigid frames: where it is, teleporting it, and sockets.
 *
 * The pose of a body is the rotation R that makes the sum of m (x - c) . R (r - d) largest, where c and d are the centres of mass of
 * the particles x and of the rest shape r: the eigenvector to the largest eigenvalue of a symmetric 4 x 4 matrix (Horn 1987), which
 * exists for every cloud, flat or mirrored. Sums run over the particles in the order of their places, in double precision, on the
 * thread of the caller.
 */
#include "base/guard.h"
#include "base/hash.h"
#include "base/rotation.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "gpu/look.h"
#include "lattice/lattice_motion.h"
#include "octree/octree_body.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

/* How much of a socket's neighbourhood, as a share of its extent, is taken as rigid, so that flat ones have an affine map. */
#define SOCKET_RIGID 1e-4

/* In the quaternion with a positive w. */
static lm_quat quat_of(const dmat3 *rotation)
{
    lm_quat q = lmi_quat_from_dmat(rotation);
    return q.w < 0.0f ? (lm_quat){-q.x, -q.y, -q.z, -q.w} : q;
}

static void add_outer(dmat3 *a, lm_dvec3 x, lm_dvec3 r, double m)
{
    const double u[3] = {m * x.x, m * x.y, m * x.z}, v[3] = {r.x, r.y, r.z};
    for (int i = 0; i < 9; i++) {
        a->m[i / 3][i % 3] += u[i / 3] * v[i % 3];
    }
}

/* --- the whole --- */

typedef struct whole {
    lm_dvec3 centre, rest_centre; /* of mass: from the body's origin, and in its own frame */
    dmat3 rotation;
} whole;

static lm_dvec3 rest_of(const lmi_body *body, uint32_t n)
{
    return body->lattice ? lmi_lattice_rest(&body->lattice->shape, n) : dvec_from(body->rest[n]);
}

static lm_dvec3 position_of(const lmi_body *body, uint32_t n)
{
    const float *x = body->x + (size_t)n * 4;
    return dvec(x[0], x[1], x[2]);
}

static lm_dvec3 velocity_of(const lmi_body *body, uint32_t n)
{
    const float *v = body->v + (size_t)n * 4;
    return dvec(v[0], v[1], v[2]);
}

static whole measure(const lmi_body *body)
{
    whole w = {.centre = lm_dvec3_zero(), .rest_centre = lm_dvec3_zero()};
    dmat3 a = {{{0}}};
    LMI_PARTICLES_EACH(body, n)
    {
        double share = body->mass[n] / body->total_mass;
        w.centre = dvec_add(w.centre, dvec_scale(position_of(body, n), share));
        w.rest_centre = dvec_add(w.rest_centre, dvec_scale(rest_of(body, n), share));
    }
    LMI_PARTICLES_EACH(body, n)
    {
        add_outer(&a, dvec_sub(position_of(body, n), w.centre), dvec_sub(rest_of(body, n), w.rest_centre),
                  body->mass[n] / body->total_mass);
    }
    w.rotation = lmi_dmat_nearest_rotation(&a);
    return w;
}

lm_result lm_body_get_pose(const lm_world *world, lm_body_id id, lm_pose *pose)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_pose");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_look look;
    bool looked = lmi_gpu_look_body(world, body, false, &look);
    body = looked ? &look.body : body;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    whole w = measure(body);
    lm_dvec3 to_frame = dmat_apply(&w.rotation, w.rest_centre);
    pose->position = dvec_add(body->origin, dvec_sub(w.centre, to_frame));
    pose->rotation = quat_of(&w.rotation);
    lmi_float_mode_leave(&host);
    if (looked) {
        lmi_gpu_look_end(world, &look);
    }
    return LM_OK;
}

/* The velocity of the centre of mass, and the rotation with the body's angular momentum about it. */
static void rigid_motion(const lmi_body *body, lm_dvec3 centre, lm_dvec3 *velocity, lm_dvec3 *spin)
{
    lm_dvec3 angular = lm_dvec3_zero();
    double inertia[6] = {0};
    *velocity = lm_dvec3_zero();
    LMI_PARTICLES_EACH(body, n)
    {
        double m = body->mass[n] / body->total_mass;
        lm_dvec3 r = dvec_sub(position_of(body, n), centre), v = velocity_of(body, n);
        *velocity = dvec_add(*velocity, dvec_scale(v, m));
        angular = dvec_add(angular, dvec_scale(dvec_cross(r, v), m));
        inertia[0] += m * (r.y * r.y + r.z * r.z), inertia[1] += m * (r.z * r.z + r.x * r.x);
        inertia[2] += m * (r.x * r.x + r.y * r.y), inertia[3] -= m * r.x * r.y;
        inertia[4] -= m * r.y * r.z, inertia[5] -= m * r.z * r.x;
    }
    *spin = lmi_dmat_solve_spin(inertia, angular);
}

static void put_position(lmi_body *body, uint32_t n, lm_dvec3 at)
{
    lm_vec3 to = vec_from(dvec_limit(at, LM_MAX_COORDINATE));
    float *x = body->x + (size_t)n * 4;
    x[0] = to.x, x[1] = to.y, x[2] = to.z;
}

static void put_velocity(lmi_body *body, uint32_t n, lm_dvec3 velocity)
{
    lm_vec3 to = vec_from(dvec_limit(velocity, LM_MAX_SPEED));
    float *v = body->v + (size_t)n * 4;
    v[0] = to.x, v[1] = to.y, v[2] = to.z;
}

/* Turns all that a body remembers of its directions. */
static void turn_state(const lm_world *world, lmi_body *body, const dmat3 *turn, lm_dvec3 centre)
{
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        float *at = lmi_body_rotation(world, body, r, &stride);
        dmat3 before;
        for (uint32_t i = 0; i < 9; i++) {
            before.m[i / 3][i % 3] = at[i * stride];
        }
        dmat3 after = lmi_dmat_multiply(turn, &before);
        for (uint32_t i = 0; i < 9; i++) {
            at[i * stride] = (float)after.m[i / 3][i % 3];
        }
    }
    if (!body->lattice) {
        return;
    }
    body->lattice->frame = lmi_dmat_multiply(turn, &body->lattice->frame);
    for (uint32_t n = 0; n < body->lattice->shape.part_count; n++) {
        lmi_lattice_part *part = &body->lattice->part[n];
        lm_dvec3 off = dvec_sub(dvec_from(part->drift_centre), centre);
        part->drift_centre = vec_from(dmat_apply(turn, off));
        part->drift_velocity = vec_from(dmat_apply(turn, dvec_from(part->drift_velocity)));
        part->drift_spin = vec_from(dmat_apply(turn, dvec_from(part->drift_spin)));
        part->owed_momentum = dmat_apply(turn, part->owed_momentum);
        part->owed_angular = dmat_apply(turn, part->owed_angular);
    }
}

/* The directions of the rest shape, turned. */
static void reset_state(const lm_world *world, lmi_body *body, const dmat3 *rotation)
{
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        float *at = lmi_body_rotation(world, body, r, &stride);
        dmat3 frame = lmi_dmat_multiply(rotation, &body->regions[r].axes);
        for (uint32_t i = 0; i < 9; i++) {
            at[i * stride] = (float)frame.m[i / 3][i % 3];
        }
    }
    if (body->lattice) {
        for (uint32_t i = 0; i < 9; i++) { /* from the lattice's axes to the body's, then to the world's */
            body->lattice->frame.m[i / 3][i % 3] = rotation->m[i / 3][(i % 3 + body->lattice->shape.turn) % 3];
        }
        lmi_lattice_forget_drift(body->lattice);
    }
}

/* After positions or velocities were set. */
static void settle(lm_world *world, lmi_body *body)
{
    lmi_body_update_bounds(body);
    lmi_skin_update(world, body);
    lmi_body_rouse(world, body);
}

static void teleport(lm_world *world, lmi_body *body, lm_pose pose, bool keep_shape)
{
    whole w = measure(body);
    dmat3 rotation = lmi_dmat_from_quat(pose.rotation), turn;
    lm_dvec3 velocity, spin;
    rigid_motion(body, w.centre, &velocity, &spin);
    for (int i = 0; i < 9; i++) {
        const double *to = rotation.m[i / 3], *from = w.rotation.m[i % 3];
        turn.m[i / 3][i % 3] = to[0] * from[0] + to[1] * from[1] + to[2] * from[2];
    }
    velocity = dmat_apply(&turn, velocity);
    spin = dmat_apply(&turn, spin);
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 rest = dmat_apply(&rotation, dvec_sub(rest_of(body, n), w.rest_centre));
        lm_dvec3 kept = dmat_apply(&turn, dvec_sub(position_of(body, n), w.centre));
        lm_dvec3 turned = dmat_apply(&turn, velocity_of(body, n));
        put_position(body, n, keep_shape ? kept : rest);
        put_velocity(body, n, keep_shape ? turned : dvec_add(velocity, dvec_cross(spin, rest)));
    }
    body->origin = dvec_add(pose.position, dmat_apply(&rotation, w.rest_centre));
    if (keep_shape) {
        turn_state(world, body, &turn, w.centre);
    } else {
        reset_state(world, body, &rotation);
    }
    if (body->touch.warm) { /* it touched what is elsewhere now */
        memset(body->touch.warm, 0, body->touch.count * sizeof *body->touch.warm);
    }
    settle(world, body);
}

lm_result lm_body_set_pose(lm_world *world, lm_body_id id, lm_pose pose, bool keep_shape)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_pose");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!lmi_pose_is_sound(pose)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_body_set_pose: the pose is not finite or beyond LM_MAX_POSITION, or its rotation is zero");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    teleport(world, body, pose, keep_shape);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

static bool is_slow(lm_vec3 v)
{
    return fabsf(v.x) <= LM_MAX_SPEED && fabsf(v.y) <= LM_MAX_SPEED && fabsf(v.z) <= LM_MAX_SPEED;
}

lm_result lm_body_set_velocity(lm_world *world, lm_body_id id, lm_vec3 velocity, lm_vec3 spin)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_velocity");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!is_slow(velocity) || !is_slow(spin)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_velocity: velocity or spin is not finite or above 1e6");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_STATE);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lm_dvec3 centre = lm_dvec3_zero(), about = dvec_from(spin);
    LMI_PARTICLES_EACH(body, n)
    {
        centre = dvec_add(centre, dvec_scale(position_of(body, n), body->mass[n] / body->total_mass));
    }
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 arm = dvec_sub(position_of(body, n), centre);
        put_velocity(body, n, dvec_add(dvec_from(velocity), dvec_cross(about, arm)));
    }
    if (body->lattice) {
        lmi_lattice_forget_drift(body->lattice);
    }
    settle(world, body);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

/* --- sockets --- */

/* Stands for all that decides which particles a socket follows. */
static uint64_t socket_shape(const lmi_body *body)
{
    uint64_t hash = lmi_hash_word(body->shape_hash, body->particle_count);
    hash = lmi_hash_word(hash, body->fracture ? body->fracture->links_hash : 0);
    hash = lmi_hash_word(hash, body->grain ? body->grain->part_count : 0);
    hash = lmi_hash_word(hash, body->lattice ? body->lattice->shape.part_count : 0);
    return lmi_hash_word(hash, body->octree ? body->octree->part_count : 0);
}

static uint32_t piece_of(const lmi_body *body, uint32_t n)
{
    return body->lattice  ? lmi_lattice_part_of(body, n)
           : body->octree ? body->octree->part[body->order[n]]
           : body->grain  ? body->grain->part[n]
                          : 0;
}

static double square_from(const lmi_body *body, uint32_t n, lm_dvec3 point)
{
    lm_dvec3 d = dvec_sub(dvec_from(body->rest[n]), point);
    return dvec_dot(d, d);
}

/* The nearest particles of the piece that the nearest one of all is in, nearest first; returns how many. */
static uint32_t gather_around(const lmi_body *body, lm_dvec3 point, uint32_t places[LM_SOCKET_PARTICLES],
                              double squares[LM_SOCKET_PARTICLES])
{
    uint32_t count = 0, piece = 0;
    double least = INFINITY;
    LMI_PARTICLES_EACH(body, n)
    {
        double square = square_from(body, n, point);
        if (square < least) {
            least = square;
            piece = piece_of(body, n);
        }
    }
    LMI_PARTICLES_EACH(body, n)
    {
        double square = square_from(body, n, point);
        bool room = count < LM_SOCKET_PARTICLES;
        if (piece_of(body, n) != piece || !(room || square < squares[count - 1])) {
            continue;
        }
        uint32_t at = room ? count++ : count - 1;
        for (; at > 0 && squares[at - 1] > square; at--) {
            squares[at] = squares[at - 1];
            places[at] = places[at - 1];
        }
        squares[at] = square;
        places[at] = n;
    }
    return count;
}

/* Weights fall smoothly towards half again the distance of the farthest. */
static void find_socket(const lmi_body *body, lm_socket *socket)
{
    uint32_t places[LM_SOCKET_PARTICLES];
    double squares[LM_SOCKET_PARTICLES], weights[LM_SOCKET_PARTICLES], sum = 0.0;
    socket->count = gather_around(body, socket->rest.position, places, squares);
    double edge = 2.25 * squares[socket->count - 1];
    for (uint32_t n = 0; n < socket->count; n++) {
        double left = edge > 0.0 ? 1.0 - squares[n] / edge : 1.0;
        weights[n] = left * left;
        sum += weights[n];
    }
    for (uint32_t n = 0; n < LM_SOCKET_PARTICLES; n++) {
        socket->particles[n] = n < socket->count ? body->order[places[n]] : 0;
        socket->weights[n] = n < socket->count ? (float)(weights[n] / sum) : 0.0f;
    }
    socket->shape = socket_shape(body);
}

static bool socket_is_sound(const lm_socket *socket, const lmi_body *body)
{
    bool sound = socket->count > 0 && socket->count <= LM_SOCKET_PARTICLES && socket->shape == socket_shape(body);
    for (uint32_t n = 0; sound && n < socket->count; n++) {
        sound = socket->particles[n] < body->particle_count;
    }
    return sound;
}

static const char *socket_fault(lm_pose rest)
{
    bool near = fabs(rest.position.x) <= (double)LM_MAX_COORDINATE &&
                fabs(rest.position.y) <= (double)LM_MAX_COORDINATE &&
                fabs(rest.position.z) <= (double)LM_MAX_COORDINATE;
    return near && lmi_pose_is_sound(rest) ? NULL
                                           : "the rest pose is not finite or beyond LM_MAX_COORDINATE, or its "
                                             "rotation is zero";
}

lm_result lm_socket_make(const lm_world *world, lm_body_id id, lm_pose rest, lm_socket *socket)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_socket_make");
    if (!body) {
        return LM_ERROR_ID;
    }
    const char *fault = socket_fault(rest);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_socket_make: %s", fault);
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    dmat3 rotation = lmi_dmat_from_quat(rest.rotation);
    memset(socket, 0, sizeof *socket);
    socket->rest.position = rest.position;
    socket->rest.rotation = quat_of(&rotation);
    find_socket(body, socket);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

/* The affine motion of a socket's particles. */
typedef struct patch {
    lm_dvec3 centre, rest_centre, velocity, spin;
    dmat3 rotation, map, rate; /* map: rest to now; rate: how that changes */
    double reach;              /* of the farthest particle from rest_centre */
} patch;

static void sum_patch(const lmi_body *body, const lm_socket *socket, patch *p, dmat3 *moved, dmat3 *rest, dmat3 *moving)
{
    double inertia[6] = {0};
    lm_dvec3 angular = lm_dvec3_zero();
    for (uint32_t n = 0; n < socket->count; n++) {
        uint32_t place = body->place[socket->particles[n]];
        double w = socket->weights[n];
        p->centre = dvec_add(p->centre, dvec_scale(position_of(body, place), w));
        p->rest_centre = dvec_add(p->rest_centre, dvec_scale(dvec_from(body->rest[place]), w));
        p->velocity = dvec_add(p->velocity, dvec_scale(velocity_of(body, place), w));
    }
    for (uint32_t n = 0; n < socket->count; n++) {
        uint32_t place = body->place[socket->particles[n]];
        double w = socket->weights[n];
        lm_dvec3 x = dvec_sub(position_of(body, place), p->centre), v = dvec_sub(velocity_of(body, place), p->velocity);
        lm_dvec3 r = dvec_sub(dvec_from(body->rest[place]), p->rest_centre);
        add_outer(moved, x, r, w);
        add_outer(rest, r, r, w);
        add_outer(moving, v, r, w);
        angular = dvec_add(angular, dvec_scale(dvec_cross(x, v), w));
        inertia[0] += w * (x.y * x.y + x.z * x.z), inertia[1] += w * (x.z * x.z + x.x * x.x);
        inertia[2] += w * (x.x * x.x + x.y * x.y), inertia[3] -= w * x.x * x.y;
        inertia[4] -= w * x.y * x.z, inertia[5] -= w * x.z * x.x;
        p->reach = lmi_max(p->reach, dvec_length(r));
    }
    p->spin = lmi_dmat_solve_spin(inertia, angular);
}

/* Where particles say nothing about a direction, or little, it is carried as by a rigid body. */
static void fit_patch(patch *p, dmat3 *moved, dmat3 *rest, dmat3 *moving)
{
    double rigid = SOCKET_RIGID * (rest->m[0][0] + rest->m[1][1] + rest->m[2][2]);
    p->rotation = lmi_dmat_nearest_rotation(moved);
    const dmat3 cross = {{{0.0, -p->spin.z, p->spin.y}, {p->spin.z, 0.0, -p->spin.x}, {-p->spin.y, p->spin.x, 0.0}}};
    dmat3 turning = lmi_dmat_multiply(&cross, &p->rotation);
    p->map = p->rotation;
    p->rate = turning;
    if (!(rigid > 0.0)) {
        return;
    }
    dmat3 again;
    for (int i = 0; i < 9; i++) {
        moved->m[i / 3][i % 3] += rigid * p->rotation.m[i / 3][i % 3];
        moving->m[i / 3][i % 3] += rigid * turning.m[i / 3][i % 3];
        rest->m[i / 3][i % 3] += i % 4 == 0 ? rigid : 0.0;
    }
    again = *rest;
    lmi_matrix_divide(moved->m, rest->m, p->map.m);
    lmi_matrix_divide(moving->m, again.m, p->rate.m);
}

static lm_socket_state place_socket(const lmi_body *body, const lm_socket *socket)
{
    patch p = {.reach = 0.0};
    dmat3 moved = {{{0}}}, rest = {{{0}}}, moving = {{{0}}};
    sum_patch(body, socket, &p, &moved, &rest, &moving);
    fit_patch(&p, &moved, &rest, &moving);
    lm_dvec3 arm = dvec_sub(socket->rest.position, p.rest_centre);
    double length = dvec_length(arm), inner = length > p.reach ? p.reach / length : 1.0;
    lm_dvec3 in = dvec_scale(arm, inner), out = dmat_apply(&p.rotation, dvec_sub(arm, in));
    lm_dvec3 at = dvec_add(dvec_add(p.centre, dmat_apply(&p.map, in)), out);
    lm_dvec3 velocity = dvec_add(dvec_add(p.velocity, dmat_apply(&p.rate, in)), dvec_cross(p.spin, out));
    dmat3 own = lmi_dmat_from_quat(socket->rest.rotation), rotation = lmi_dmat_multiply(&p.rotation, &own);
    return (lm_socket_state){.pose = {dvec_add(body->origin, at), quat_of(&rotation)},
                             .velocity = vec_from(velocity),
                             .spin = vec_from(p.spin)};
}

lm_result lm_socket_read(const lm_world *world, lm_body_id id, lm_socket *socket, lm_socket_state *state)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_socket_read");
    if (!body) {
        return LM_ERROR_ID;
    }
    const char *fault = socket_fault(socket->rest);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_socket_read: %s", fault);
    }
    lmi_look look;
    bool looked = lmi_gpu_look_body(world, body, true, &look);
    body = looked ? &look.body : body;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    if (!socket_is_sound(socket, body)) {
        find_socket(body, socket);
    }
    *state = place_socket(body, socket);
    lmi_float_mode_leave(&host);
    if (looked) {
        lmi_gpu_look_end(world, &look);
    }
    return LM_OK;
}
