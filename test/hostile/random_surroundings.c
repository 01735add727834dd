/* What is around the bodies of random worlds: a mover, colliders, fields, crates. */
#include "test/hostile/random_inner.h"

#include <math.h>

lm_mover_id random_add_mover(random_world *r, random_source *random)
{
    lm_mover_def def = lm_mover_def_default();
    lm_mover_id mover = {0, 0};
    def.pose.position = r->middle;
    def.velocity = random_source_vector(random, 2.0);
    def.spin = random_source_vector(random, 2.0);
    lm_mover_create(r->world, &def, &mover);
    return mover;
}

/* Planes leave room above: all contain a point far up, so that what is between several of them has somewhere to go. */
static void turn_up(lm_pose *pose, lm_vec3 place)
{
    lm_quat q = pose->rotation;
    double up[3] = {2.0 * ((double)q.x * q.y - (double)q.w * q.z), 1.0 - 2.0 * ((double)q.x * q.x + (double)q.z * q.z),
                    2.0 * ((double)q.y * q.z + (double)q.w * q.x)};
    double to[3] = {0.0 - (double)place.x, 4.0 - (double)place.y, 0.0 - (double)place.z};
    if (up[0] * to[0] + up[1] * to[1] + up[2] * to[2] < 0.0) {
        pose->rotation = (lm_quat){q.w, q.z, -q.y, -q.x}; /* half a turn about the plane's own x: q (1, 0, 0, 0) */
    }
}

lm_result random_add_collider(random_world *r, random_source *random, uint32_t index)
{
    static float heights[36];
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    uint32_t kind = random_source_below(random, LM_SHAPE_COUNT);
    def.shape = index == 0 && kind != LM_SHAPE_HEIGHTS ? LM_SHAPE_PLANE : (lm_shape)kind; /* most worlds have a floor */
    def.friction = (float)random_source_range(random, 0.0, 1.2);
    def.restitution = random_source_chance(random, 0.3) ? (float)random_source_range(random, 0.0, 1.0) : 0.0f;
    lm_vec3 place = random_source_vector(random, 1.5);
    def.pose.position = index == 0 ? r->middle : moved(r->middle, place);
    lm_quat turned = random_source_rotation(random);
    def.pose.rotation = index == 0 && random_source_chance(random, 0.7) ? def.pose.rotation : turned;
    if (def.shape == LM_SHAPE_PLANE) {
        turn_up(&def.pose, index == 0 ? (lm_vec3){0.0f, 0.0f, 0.0f} : place);
    }
    def.radius = (float)random_source_range(random, 0.1, 0.8);
    def.half_length = (float)random_source_range(random, 0.0, 1.0);
    lm_vec3 half = random_source_vector(random, 0.8);
    def.half_extents = (lm_vec3){fabsf(half.x) + 0.05f, fabsf(half.y) + 0.05f, fabsf(half.z) + 0.05f};
    for (int i = 0; i < 36; i++) {
        heights[i] = (float)random_source_range(random, -0.4, 0.2);
    }
    def.heights = (lm_heights){.heights = heights, .counts = {6, 6}, .spacing = 1.0f};
    random_shape shape = random_shape_make(random, 1.5);
    def.mesh = (lm_collider_mesh){.vertices = shape.vertices,
                                  .vertex_count = shape.vertex_count,
                                  .triangles = shape.triangles,
                                  .triangle_count = shape.triangle_count,
                                  .solid = random_source_chance(random, 0.5)};
    if (random_source_chance(random, 0.2) && index > 0) {
        def.mover = r->mover;
        def.pose.position = moved(lm_dvec3_zero(), place);
    }
    lm_result result = shape.vertices == NULL ? LM_ERROR_MEMORY : lm_collider_create(r->world, &def, &collider);
    static const char *const names[LM_SHAPE_COUNT] = {"plane", "sphere", "capsule", "box", "heights", "mesh"};
    tell(r, "collider %u: %s%s: %s", index, names[def.shape], def.mover.slot != 0 ? ", moving" : "",
         lm_result_text(result));
    random_shape_free(&shape);
    return result;
}

void random_add_field(random_world *r, random_source *random)
{
    lm_field_def def = lm_field_def_default();
    lm_field_id field;
    def.kind = (lm_field_kind)random_source_below(random, LM_FIELD_KIND_COUNT);
    def.vector = random_source_vector(random, 10.0);
    def.position = r->middle;
    def.strength = (float)random_source_range(random, 0.0, 5.0);
    def.radius = (float)random_source_range(random, 0.5, 3.0);
    if (may(r, random, RANDOM_FIELD, 0.3)) {
        tell(r, "a field of kind %d", (int)def.kind);
        lm_field_create(r->world, &def, &field);
    }
}

/* One world in three has movers with mass: a box, a ball or a capsule each, light or heavy. */
lm_result random_add_crates(random_world *r, random_source *random)
{
    static const lm_shape shapes[3] = {LM_SHAPE_BOX, LM_SHAPE_SPHERE, LM_SHAPE_CAPSULE};
    uint32_t count = may(r, random, RANDOM_CRATES, 0.35) ? 1 + random_source_below(random, 3) : 0;
    lm_result result = LM_OK;
    for (uint32_t i = 0; i < count && result == LM_OK; i++) {
        lm_mover_def def = lm_mover_def_default();
        lm_collider_def shape = lm_collider_def_default();
        lm_collider_id collider;
        def.pose.position = moved(r->middle, random_source_vector(random, 1.5));
        def.pose.rotation = random_source_rotation(random);
        def.velocity = random_source_vector(random, 4.0);
        def.spin = random_source_vector(random, 3.0);
        def.mass = (float)pow(10.0, random_source_range(random, -1.0, 2.0));
        shape.shape = shapes[random_source_below(random, 3)];
        lm_vec3 half = random_source_vector(random, 0.4);
        shape.half_extents = (lm_vec3){fabsf(half.x) + 0.05f, fabsf(half.y) + 0.05f, fabsf(half.z) + 0.05f};
        shape.radius = (float)random_source_range(random, 0.1, 0.4);
        shape.half_length = (float)random_source_range(random, 0.0, 0.4);
        result = lm_mover_create(r->world, &def, &r->crate);
        shape.mover = r->crate;
        result = result ? result : lm_collider_create(r->world, &shape, &collider);
        tell(r, "crate %u: %g kg: %s", i, (double)def.mass, lm_result_text(result));
    }
    return result;
}
