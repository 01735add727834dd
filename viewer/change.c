/* Making changes: each is a few calls of the public interface. */
#include "viewer/change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The hand that grabs: as strong as a spring that would swing the whole body at this frequency, without overshooting. */
#define GRAB_HERTZ 2.0f
#define GRAB_DAMPING_RATIO 1.0f

/* ------------------------------------------------------------------------------------------------------------------
 * Holding
 */

static lm_result release(lm_world *world, company *c)
{
    lm_result result = c->grab.slot != 0 ? lm_drag_destroy(world, c->grab) : LM_OK;
    c->grab = (lm_drag_id){0, 0};
    c->grabbed = (lm_body_id){0, 0};
    return result;
}

static lm_result grab(const change *made, lm_world *world, company *c)
{
    lm_drag_def def = lm_drag_def_default();
    def.body = made->body;
    def.particle = made->particle;
    def.radius = made->size;
    def.target = made->point;
    def.hertz = GRAB_HERTZ;
    def.damping_ratio = GRAB_DAMPING_RATIO;
    release(world, c);
    lm_result result = lm_drag_create(world, &def, &c->grab);
    if (result == LM_OK) {
        c->grabbed = made->body;
        c->grabbed_particle = made->particle;
        c->grab_target = made->point;
    }
    return result;
}

static lm_result pull(const change *made, lm_world *world, company *c)
{
    if (c->grab.slot == 0) {
        return LM_OK;
    }
    c->grab_target = made->point;
    return lm_drag_set_target(world, c->grab, made->point);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Mangling
 */

typedef void mangle(lm_vec3 *positions, uint32_t count);

/* Positions are relative to the body's centre. */
static void flatten(lm_vec3 *positions, uint32_t count)
{
    float lowest = positions[0].y;
    for (uint32_t i = 1; i < count; i++) {
        lowest = fminf(lowest, positions[i].y);
    }
    for (uint32_t i = 0; i < count; i++) {
        positions[i].y = lowest;
    }
}

static void turn_inside_out(lm_vec3 *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        positions[i] = (lm_vec3){-positions[i].x, -positions[i].y, -positions[i].z};
    }
}

static lm_result mangle_body(lm_world *world, lm_body_id body, mangle *how)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, body, &info);
    if (result != LM_OK) {
        return result;
    }
    lm_vec3 *positions = malloc(info.particles * sizeof *positions);
    lm_vec3 *at_rest = calloc(info.particles, sizeof *at_rest);
    result = positions == NULL || at_rest == NULL ? LM_ERROR_MEMORY : LM_OK;
    result = result ? result : lm_body_get_positions(world, body, info.centre, positions);
    if (result == LM_OK) {
        how(positions, info.particles);
        result = lm_body_set_state(world, body, info.centre, positions, at_rest);
    }
    free(positions);
    free(at_rest);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Cutting
 */

static lm_result cut_body(const change *made, lm_world *world, lm_body_id body)
{
    static const uint32_t corners[3] = {0, 1, 2};
    lm_blade blade = lm_blade_default();
    blade.vertices = made->blade;
    blade.vertex_count = 3;
    blade.triangles = corners;
    blade.triangle_count = 1;
    lm_result result = lm_body_cut(world, body, &blade, NULL);
    return result == LM_ERROR_ARGUMENT ? LM_OK : result; /* one that cannot be cut stays whole */
}

/* The hand lets go first: particles are numbered again by a cut. */
static lm_result cut(const change *made, const lm_scene *played, lm_world *world, company *c)
{
    lm_result result = release(world, c);
    for (uint32_t i = 0; i < lm_scene_body_count(played) && result == LM_OK; i++) {
        result = cut_body(made, world, lm_scene_get_body(played, i).id);
    }
    for (uint32_t i = 0; i < c->body_count && result == LM_OK; i++) {
        result = cut_body(made, world, c->bodies[i].id);
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Brushes on octrees
 */

/* An octree's particles, from the middle of a brush, with a value for each; both to be freed, on failure too. */
typedef struct painted {
    lm_vec3 *positions;
    float *values;
    uint32_t count;
} painted;

static lm_result read_painted(const change *made, const lm_world *world,
                              lm_result (*read)(const lm_world *, lm_body_id, float *), painted *p)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, made->body, &info);
    if (result != LM_OK) {
        return result;
    }
    p->count = info.particles;
    p->positions = malloc(info.particles * sizeof *p->positions);
    p->values = malloc(info.particles * sizeof *p->values);
    result = p->positions != NULL && p->values != NULL ? LM_OK : LM_ERROR_MEMORY;
    result = result ? result : lm_body_get_positions(world, made->body, made->point, p->positions);
    return result ? result : read(world, made->body, p->values);
}

/* 1 in the middle of the brush, 0 at its rim and beyond. */
static float under_brush(const change *made, lm_vec3 at)
{
    float share = (at.x * at.x + at.y * at.y + at.z * at.z) / (made->size * made->size);
    return share < 1.0f ? 1.0f - share : 0.0f;
}

static lm_result paint_widths(const change *made, lm_world *world)
{
    painted p = {0};
    lm_result result = read_painted(made, world, lm_body_get_widths, &p);
    for (uint32_t n = 0; n < p.count && result == LM_OK; n++) {
        p.values[n] *= 1.0f + (made->factor - 1.0f) * under_brush(made, p.positions[n]);
        p.values[n] = fminf(p.values[n], 1e6f);
    }
    result = result ? result : lm_body_set_widths(world, made->body, p.values);
    free(p.positions);
    free(p.values);
    return result;
}

/* The hand lets go first, as for a cut. */
static lm_result paint_cells(const change *made, lm_world *world, company *c)
{
    painted p = {0};
    lm_result result = release(world, c);
    result = result ? result : read_painted(made, world, lm_body_get_cells, &p);
    float least = INFINITY, most = 0.0f;
    for (uint32_t n = 0; n < p.count && result == LM_OK; n++) {
        if (under_brush(made, p.positions[n]) > 0.0f) {
            least = fminf(least, p.values[n]);
            most = fmaxf(most, p.values[n]);
        }
    }
    if (result == LM_OK &&
        most > 0.0f) { /* cells of several sizes first become alike: a brush that divides joins none */
        float size = made->factor < 1.0f ? least : most;
        size *= least < most ? 1.0f : made->factor;
        result = lm_body_refine(world, made->body, made->point, made->size, size, NULL);
    }
    free(p.positions);
    free(p.values);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Examples
 */

bool change_get_examples(const lm_world *world, lm_body_id body, example_mix *mix)
{
    lm_body_info info;
    *mix = (example_mix){.beta = 0.0f};
    if (lm_body_get_info(world, body, &info) != LM_OK || info.examples == 0) {
        return false;
    }
    float *weights = malloc((size_t)info.example_groups * info.examples * sizeof *weights);
    bool known = weights != NULL && lm_body_get_example_weights(world, body, weights) == LM_OK &&
                 lm_body_get_example_beta(world, body, &mix->beta) == LM_OK;
    for (uint32_t k = 0; known && k < info.examples; k++) {
        double sum = 0.0;
        for (uint32_t g = 0; g < info.example_groups; g++) {
            sum += (double)weights[(size_t)g * info.examples + k];
        }
        mix->weights[k] = (float)(sum / info.example_groups);
    }
    mix->forced = info.examples_forced;
    free(weights);
    return known;
}

static lm_result set_examples(const change *made, lm_world *world)
{
    const example_mix *mix = &made->examples;
    lm_body_info info;
    lm_result result = lm_body_get_info(world, made->body, &info);
    result = result ? result : lm_body_set_example_beta(world, made->body, mix->beta);
    if (result != LM_OK || !mix->forced) {
        return result ? result : lm_body_set_example_weights(world, made->body, NULL);
    }
    float *weights = malloc((size_t)info.example_groups * info.examples * sizeof *weights);
    for (uint32_t i = 0; weights != NULL && i < info.example_groups * info.examples; i++) {
        weights[i] = mix->weights[i % info.examples];
    }
    result = weights != NULL ? lm_body_set_example_weights(world, made->body, weights) : LM_ERROR_MEMORY;
    free(weights);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * More bodies
 */

uint32_t company_find_like(const company *c, const lm_scene *played, lm_body_id body)
{
    for (uint32_t i = 0; i < c->body_count; i++) {
        if (c->bodies[i].id.slot == body.slot && c->bodies[i].id.generation == body.generation) {
            return c->bodies[i].like;
        }
    }
    for (uint32_t i = 0; i < lm_scene_body_count(played); i++) {
        lm_body_id id = lm_scene_get_body(played, i).id;
        if (id.slot == body.slot && id.generation == body.generation) {
            return i;
        }
    }
    return UINT32_MAX;
}

static lm_result add_another(const change *made, lm_scene *played, lm_world *world, company *c, lm_scene_error *error)
{
    uint32_t like = company_find_like(c, played, made->body);
    if (like == UINT32_MAX || c->body_count == COMPANY_BODIES) {
        snprintf(error->text, sizeof error->text,
                 like == UINT32_MAX ? "no body is selected" : "%d bodies were added: no more", COMPANY_BODIES);
        return LM_ERROR_LIMIT;
    }
    company_body *added = &c->bodies[c->body_count];
    lm_result result = lm_scene_add_again(played, world, like, made->point, &added->id, error);
    if (result == LM_OK) {
        added->like = like;
        c->body_count++;
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Balls: spheres on movers, which push bodies and are pushed by none
 */

#define BALL_SECONDS 6.0
#define BALL_RESTITUTION 0.6f /* off floors */
#define BALL_ROLLING 0.8f     /* of the speed along a floor is left after touching it */

static void drop_ball(company *c, lm_world *world, uint32_t index)
{
    lm_collider_destroy(world, c->balls[index].collider);
    lm_mover_destroy(world, c->balls[index].mover);
    memmove(&c->balls[index], &c->balls[index + 1], (c->ball_count - index - 1) * sizeof c->balls[0]);
    c->ball_count--;
    memset(&c->balls[c->ball_count], 0, sizeof c->balls[0]);
}

static lm_result throw_ball(const change *made, lm_world *world, company *c)
{
    if (c->ball_count == COMPANY_BALLS) {
        drop_ball(c, world, 0);
    }
    company_ball ball = {.velocity = made->vector, .radius = made->size};
    ball.frames_left = (uint32_t)(BALL_SECONDS * LM_SCENE_FRAME_RATE);
    lm_mover_def mover = lm_mover_def_default();
    mover.pose.position = made->point;
    mover.velocity = made->vector;
    lm_result result = lm_mover_create(world, &mover, &ball.mover);
    lm_collider_def collider = lm_collider_def_default();
    collider.shape = LM_SHAPE_SPHERE;
    collider.radius = made->size;
    collider.mover = ball.mover;
    result = result ? result : lm_collider_create(world, &collider, &ball.collider);
    if (result == LM_OK) {
        c->balls[c->ball_count++] = ball;
    } else if (ball.mover.slot != 0) {
        lm_mover_destroy(world, ball.mover);
    }
    return result;
}

static float dot(lm_vec3 a, lm_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* The Y axis of a rotation. */
static lm_vec3 up_of(lm_quat q)
{
    return (lm_vec3){2.0f * (q.x * q.y - q.z * q.w), 1.0f - 2.0f * (q.x * q.x + q.z * q.z),
                     2.0f * (q.y * q.z + q.x * q.w)};
}

/* Off one plane, when the ball touches it and flies into it. */
static void bounce(company_ball *ball, lm_dvec3 at, lm_pose plane)
{
    lm_vec3 normal = up_of(plane.rotation);
    double height = (at.x - plane.position.x) * (double)normal.x + (at.y - plane.position.y) * (double)normal.y +
                    (at.z - plane.position.z) * (double)normal.z;
    float into = dot(ball->velocity, normal);
    if (height > (double)ball->radius || into >= 0.0f) {
        return;
    }
    float out = -BALL_RESTITUTION * into;
    ball->velocity.x = BALL_ROLLING * (ball->velocity.x - into * normal.x) + out * normal.x;
    ball->velocity.y = BALL_ROLLING * (ball->velocity.y - into * normal.y) + out * normal.y;
    ball->velocity.z = BALL_ROLLING * (ball->velocity.z - into * normal.z) + out * normal.z;
}

static lm_result move_ball(company_ball *ball, lm_world *world, const lm_collider_id *colliders, uint32_t count,
                           double seconds)
{
    lm_vec3 gravity = lm_world_get_gravity(world);
    float h = (float)seconds;
    ball->velocity.x += h * gravity.x;
    ball->velocity.y += h * gravity.y;
    ball->velocity.z += h * gravity.z;
    lm_pose pose;
    lm_result result = lm_mover_get_pose(world, ball->mover, &pose);
    for (uint32_t i = 0; i < count && result == LM_OK; i++) {
        lm_collider_def def;
        lm_pose plane;
        if (lm_collider_get_def(world, colliders[i], &def) == LM_OK && def.shape == LM_SHAPE_PLANE &&
            lm_collider_get_pose(world, colliders[i], &plane) == LM_OK) {
            bounce(ball, pose.position, plane);
        }
    }
    ball->frames_left--;
    return result ? result : lm_mover_set_velocity(world, ball->mover, ball->velocity, (lm_vec3){0.0f, 0.0f, 0.0f});
}

lm_result company_move(company *c, lm_world *world, double seconds)
{
    for (uint32_t i = c->ball_count; i-- > 0;) {
        if (c->balls[i].frames_left == 0) {
            drop_ball(c, world, i);
        }
    }
    if (c->ball_count == 0) {
        return LM_OK;
    }
    uint32_t count = lm_world_get_colliders(world, NULL, 0);
    lm_collider_id *colliders = malloc((count + 1) * sizeof *colliders);
    if (colliders == NULL) {
        return LM_ERROR_MEMORY;
    }
    lm_world_get_colliders(world, colliders, count);
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < c->ball_count && result == LM_OK; i++) {
        result = move_ball(&c->balls[i], world, colliders, count, seconds);
    }
    free(colliders);
    return result;
}

void company_leave(company *c, lm_world *world)
{
    release(world, c);
    while (c->ball_count > 0) {
        drop_ball(c, world, c->ball_count - 1);
    }
}

static lm_result look_from(const change *made, lm_world *world, company *c)
{
    lm_result result = lm_world_set_eye(world, &made->point);
    if (result == LM_OK) {
        c->has_eye = true;
        c->eye = made->point;
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of them
 */

lm_result change_make(const change *made, lm_scene *played, lm_world *world, company *c, lm_scene_error *error)
{
    lm_result result = LM_OK;
    error->text[0] = '\0';
    switch (made->kind) {
    case CHANGE_GRAB: result = grab(made, world, c); break;
    case CHANGE_PULL: result = pull(made, world, c); break;
    case CHANGE_RELEASE: result = release(world, c); break;
    case CHANGE_MATERIAL: result = lm_body_set_material(world, made->body, &made->material); break;
    case CHANGE_EXAMPLES: result = set_examples(made, world); break;
    case CHANGE_GRAVITY: result = lm_world_set_gravity(world, made->vector); break;
    case CHANGE_SUBSTEPS: result = lm_world_set_substeps(world, made->count); break;
    case CHANGE_SQUASH: result = mangle_body(world, made->body, flatten); break;
    case CHANGE_INVERT: result = mangle_body(world, made->body, turn_inside_out); break;
    case CHANGE_ADD: result = add_another(made, played, world, c, error); break;
    case CHANGE_THROW_BALL: result = throw_ball(made, world, c); break;
    case CHANGE_CUT: result = cut(made, played, world, c); break;
    case CHANGE_WIDTHS: result = paint_widths(made, world); break;
    case CHANGE_CELLS: result = paint_cells(made, world, c); break;
    case CHANGE_EYE: result = look_from(made, world, c); break;
    }
    if (result != LM_OK && error->text[0] == '\0') {
        snprintf(error->text, sizeof error->text, "%s", lm_result_text(result));
    }
    return result;
}
