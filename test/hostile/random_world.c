/* Random worlds: what is in them, and what happens to them. */
#include "test/hostile/random_inner.h"

#include <math.h>
#include <stdlib.h>

#define FRAME (1.0 / 60.0)
#define MOST_PARTICLES 600 /* of a body, about */

/* ------------------------------------------------------------------------------------------------------------------
 * Materials
 */

static lm_material make_material(const random_world *r, random_source *random, bool regional, bool quadratic)
{
    lm_material m = lm_material_default();
    uint32_t modes = quadratic ? 3 : 2;
    m.mode = (lm_mode)random_source_below(random, modes);
    m.stiffness = random_source_chance(random, 0.3) ? LM_STIFFNESS_ALPHA : LM_STIFFNESS_HERTZ;
    m.hertz = (float)exp(random_source_range(random, log(1.0), log(60.0)));
    m.damping_ratio = (float)random_source_range(random, 0.0, 1.5);
    m.alpha = (float)random_source_range(random, 0.05, 1.0);
    m.damping = (float)random_source_range(random, 0.0, 20.0);
    m.damping_kind = random_source_chance(random, 0.5) && regional ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
    m.damping_every = 1 + random_source_below(random, 3);
    m.beta = (float)random_source_range(random, 0.0, 0.95);
    float yield = (float)random_source_range(random, 0.01, 0.3), creep = m.creep;
    creep *= (float)random_source_range(random, 0.1, 10.0);
    if (may(r, random, RANDOM_PLASTIC, 0.3)) {
        m.yield = yield;
        m.creep = creep;
    }
    m.friction = (float)random_source_range(random, 0.0, 1.2);
    m.restitution = random_source_chance(random, 0.3) ? (float)random_source_range(random, 0.0, 1.0) : 0.0f;
    return m;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Bodies
 */

typedef enum sampling { CLUSTERS, LATTICE, TETS, OCTREE, SAMPLINGS } sampling;

static const char *const sampling_names[SAMPLINGS] = {"clusters", "lattice", "tets", "octree"};

/* The surface and smaller copies of it inside: a cloud of points. */
static lm_vec3 *make_points(const random_shape *shape, random_source *random, uint32_t *count)
{
    uint32_t shells = 1 + random_source_below(random, 3);
    lm_vec3 *points = malloc(shells * shape->vertex_count * sizeof *points);
    for (uint32_t i = 0; points != NULL && i < shells * shape->vertex_count; i++) {
        float scale = 1.0f - (float)(i / shape->vertex_count) / (float)shells;
        lm_vec3 v = shape->vertices[i % shape->vertex_count];
        points[i] = (lm_vec3){scale * v.x, scale * v.y, scale * v.z};
    }
    *count = shells * shape->vertex_count;
    return points;
}

static void choose_clusters(lm_body_def *def, random_source *random, double size)
{
    lm_clusters *c = &def->clusters;
    c->overlap = (float)random_source_range(random, 0.05, 0.6);
    switch (random_source_below(random, 3)) {
    case 0:
        for (int i = 0; i < 3; i++) {
            c->counts[i] = 1 + random_source_below(random, 3);
        }
        break;
    case 1:
        c->kind = LM_CLUSTERS_SIZE;
        c->cell_size = (float)(size * random_source_range(random, 0.3, 1.2));
        break;
    default:
        c->kind = LM_CLUSTERS_KMEANS;
        c->count = 1 + random_source_below(random, 12);
        break;
    }
}

static void choose_sampling(lm_body_def *def, sampling kind, const random_shape *shape, random_source *random,
                            double size)
{
    uint32_t particles = 60 + random_source_below(random, MOST_PARTICLES - 60);
    if (kind == CLUSTERS) {
        choose_clusters(def, random, size);
    } else if (kind == LATTICE) {
        lm_lattice *l = &def->lattice;
        l->vertices = shape->vertices;
        l->vertex_count = shape->vertex_count;
        l->triangles = shape->triangles;
        l->triangle_count = shape->triangle_count;
        l->particles = particles;
        l->width = 1 + random_source_below(random, 4);
        l->shell = random_source_chance(random, 0.15);
        l->mass = random_source_chance(random, 0.3) ? LM_LATTICE_MASS_EQUAL : LM_LATTICE_MASS_VOLUME;
        l->width_metres = random_source_chance(random, 0.2) ? (float)(0.2 * size) : 0.0f;
    } else if (kind == TETS) {
        lm_tets *t = &def->tets;
        t->vertices = shape->vertices;
        t->vertex_count = shape->vertex_count;
        t->triangles = shape->triangles;
        t->triangle_count = shape->triangle_count;
        t->particles = particles;
        t->mass = random_source_chance(random, 0.3) ? LM_TETS_MASS_EQUAL : LM_TETS_MASS_VOLUME;
    } else {
        lm_octree *o = &def->octree;
        o->vertices = shape->vertices;
        o->vertex_count = shape->vertex_count;
        o->triangles = shape->triangles;
        o->triangle_count = shape->triangle_count;
        o->spacing = (float)(size / random_source_range(random, 8.0, 20.0));
        o->levels = random_source_below(random, 4);
        o->detail = (float)random_source_range(random, 0.5, 2.5);
        o->width = (float)(size * random_source_range(random, 0.1, 0.8));
        o->shell = random_source_chance(random, 0.1);
    }
}

static void choose_motion(const random_world *r, lm_body_def *def, random_source *random, uint32_t index)
{
    lm_vec3 place = random_source_vector(random, 0.6);
    double height = random_source_range(random, 0.4, 1.6);
    def->pose.position = moved(r->middle, (lm_vec3){place.x, place.y + (float)(height * (1 + index)), place.z});
    def->pose.rotation = random_source_rotation(random);
    double speed = random_source_range(random, 0.0, 6.0), spin = random_source_range(random, 0.0, 8.0);
    if (may(r, random, RANDOM_FAST, 0.15)) {
        speed = exp(random_source_range(random, log(6.0), log(200.0)));
    }
    def->velocity = random_source_vector(random, speed);
    def->spin = random_source_vector(random, spin);
    def->contact_radius = random_source_chance(random, 0.3) ? (float)random_source_range(random, 0.0, 0.05) : 0.0f;
    uint32_t points = random_source_below(random, 6);
    def->contact_points = points < LM_CONTACT_COUNT ? (lm_contact_points)points : LM_CONTACT_AUTO;
    def->mask = may(r, random, RANDOM_TOUCH, 0.6) ? UINT32_MAX : 0;
    def->self_contact = may(r, random, RANDOM_SELF, 0.4);
    def->may_sleep = random_source_chance(random, 0.9);
}

static void give_fracture(const random_world *r, lm_body_id body, random_source *random)
{
    lm_fracture_def def = lm_fracture_def_default();
    def.limit = (float)exp(random_source_range(random, log(0.005), log(0.5)));
    def.variation = random_source_chance(random, 0.5) ? (float)random_source_range(random, 0.0, 1.0) : 0.0f;
    def.seed = random_source_below(random, 1000);
    def.grain = random_source_chance(random, 0.4) ? (float)random_source_range(random, 0.05, 0.5) : 0.0f;
    if (may(r, random, RANDOM_BREAK, 0.6)) {
        tell(r, "  breaks at %g, variation %g, grain %g", (double)def.limit, (double)def.variation, (double)def.grain);
        lm_body_set_fracture(r->world, body, &def);
    }
}

/* Regions of different stiffness, from one end to the other. */
static void give_stiffness(const random_world *r, lm_body_id body, random_source *random)
{
    lm_body_info info;
    bool wanted = random_source_chance(random, 0.2);
    double low = random_source_range(random, 0.0, 1.0), high = random_source_range(random, 0.0, 1.0);
    if (!wanted || lm_body_get_info(r->world, body, &info) != LM_OK || info.regions == 0) {
        return;
    }
    float *shares = malloc(info.regions * sizeof *shares);
    for (uint32_t i = 0; shares != NULL && i < info.regions; i++) {
        shares[i] = (float)(low + (high - low) * i / info.regions);
    }
    if (shares != NULL) {
        tell(r, "  stiffness of regions %g to %g", low, high);
        lm_body_set_region_stiffness(r->world, body, shares);
    }
    free(shares);
}

/* One pose: the rest shape sheared and stretched. */
static void give_examples(const random_world *r, lm_body_id body, random_source *random)
{
    lm_body_info info;
    bool wanted = may(r, random, RANDOM_EXAMPLES, 0.15);
    float shear = (float)random_source_range(random, -0.8, 0.8), stretch = (float)random_source_range(random, 0.6, 1.5);
    if (!wanted || lm_body_get_info(r->world, body, &info) != LM_OK) {
        return;
    }
    lm_vec3 *pose = malloc(info.particles * sizeof *pose);
    if (pose != NULL && lm_body_get_rest_positions(r->world, body, pose) == LM_OK) {
        for (uint32_t i = 0; i < info.particles; i++) {
            pose[i].x += shear * pose[i].y;
            pose[i].z *= stretch;
        }
        lm_examples_def def = lm_examples_def_default();
        def.poses = pose;
        def.count = 1;
        def.particles = info.particles;
        def.scope = random_source_chance(random, 0.5) ? LM_EXAMPLES_BODY : LM_EXAMPLES_REGIONS;
        lm_result result = lm_body_set_examples(r->world, body, &def);
        tell(r, "  an example: %s", lm_result_text(result));
    }
    free(pose);
}

static void give_detail(const random_world *r, lm_body_id body, random_source *random)
{
    lm_detail detail = lm_detail_default();
    bool touch = random_source_chance(random, 0.7);
    detail.touch_size = touch ? (float)random_source_range(random, 0.02, 0.2) : 0.0f;
    detail.touch_radius = touch ? (float)random_source_range(random, 0.05, 0.5) : 0.0f;
    detail.eye_angle = (float)random_source_range(random, 0.01, 0.2);
    detail.budget = 2 * MOST_PARTICLES;
    detail.hold = (float)random_source_range(random, 0.0, 0.3);
    if (may(r, random, RANDOM_DETAIL, 0.3)) {
        tell(r, "  detail that changes");
        lm_body_set_detail(r->world, body, &detail);
    }
}

static void give_skin(const random_world *r, lm_body_id body, const random_shape *shape, random_source *random)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = shape->vertices;
    skin.vertex_count = shape->vertex_count;
    skin.triangles = shape->triangles;
    skin.triangle_count = shape->triangle_count;
    if (random_source_chance(random, 0.6)) {
        lm_body_set_skin(r->world, body, &skin);
    }
}

/* A bone in the middle that holds what is near it. */
static void give_skeleton(const random_world *r, lm_body_id body, const lm_body_def *def, random_source *random)
{
    lm_bone bone = lm_bone_default();
    bone.radius = (float)random_source_range(random, 0.0, 0.2);
    bone.fade = (float)random_source_range(random, 0.0, 0.3);
    lm_skeleton_def skeleton = lm_skeleton_def_default();
    lm_skeleton_id id;
    skeleton.body = body;
    skeleton.bones = &bone;
    skeleton.bone_count = 1;
    skeleton.pose = def->pose;
    if (may(r, random, RANDOM_HOLD, 0.08)) {
        tell(r, "  a bone");
        lm_skeleton_create(r->world, &skeleton, &id);
    }
}

static lm_result add_body(random_world *r, random_source *random, uint32_t index)
{
    sampling kind = (sampling)random_source_below(random, SAMPLINGS);
    double size = exp(random_source_range(random, log(0.3), log(1.5)));
    random_shape shape = random_shape_make(random, size);
    uint32_t count = 0;
    lm_vec3 *points = make_points(&shape, random, &count);
    if (shape.vertices == NULL || points == NULL) {
        random_shape_free(&shape);
        free(points);
        return LM_ERROR_MEMORY;
    }
    lm_body_def def = lm_body_def_default();
    if (kind == CLUSTERS) {
        def.points = points;
        def.point_count = count;
    }
    def.mass = (float)exp(random_source_range(random, log(0.1), log(50.0)));
    def.material = make_material(r, random, kind == LATTICE || kind == OCTREE, kind == CLUSTERS || kind == TETS);
    choose_sampling(&def, kind, &shape, random, size);
    choose_motion(r, &def, random, index);
    lm_result result = lm_body_create(r->world, &def, &r->bodies[index]);
    tell(r,
         "body %u: %s, %s, size %g m, %g kg, mode %d, %s %g, damping %s %g, beta %g, yield %g, mask %x, self %d, speed "
         "%g %g %g: %s",
         index, sampling_names[kind], shape.vertex_count == 8 ? "box" : "tube", size, (double)def.mass,
         (int)def.material.mode, def.material.stiffness == LM_STIFFNESS_ALPHA ? "alpha" : "hertz",
         (double)(def.material.stiffness == LM_STIFFNESS_ALPHA ? def.material.alpha : def.material.hertz),
         def.material.damping_kind == LM_DAMPING_REGIONAL ? "regional" : "global",
         (double)(def.material.stiffness == LM_STIFFNESS_ALPHA ? def.material.damping : def.material.damping_ratio),
         (double)def.material.beta, (double)def.material.yield, def.mask, def.self_contact, (double)def.velocity.x,
         (double)def.velocity.y, (double)def.velocity.z, lm_result_text(result));
    if (result == LM_OK) {
        lm_body_id body = r->bodies[index];
        give_skin(r, body, &shape, random);
        if (kind == LATTICE) give_fracture(r, body, random);
        give_stiffness(r, body, random);
        give_examples(r, body, random);
        if (kind == OCTREE) give_detail(r, body, random);
        give_skeleton(r, body, &def, random);
    }
    random_shape_free(&shape);
    free(points);
    return result == LM_ERROR_ARGUMENT ? LM_OK : result; /* a shape of a single cell, say: there is one body fewer */
}

/* ------------------------------------------------------------------------------------------------------------------
 * Worlds
 */

static void set_world(random_world *r, random_source *random)
{
    static const uint32_t substeps[] = {1, 1, 2, 4, 8};
    lm_vec3 gravity = {0.0f, -9.81f, 0.0f}, other = random_source_vector(random, 30.0);
    uint32_t which = random_source_below(random, 6);
    gravity = which == 0 ? (lm_vec3){0.0f, 0.0f, 0.0f} : which == 1 ? other : gravity;
    lm_world_set_gravity(r->world, gravity);
    uint32_t count = substeps[random_source_below(random, 5)];
    lm_world_set_substeps(r->world, count);
    lm_sleep sleep = lm_sleep_default();
    sleep.speed = (float)random_source_range(random, 0.05, 0.5);
    sleep.seconds = (float)random_source_range(random, 0.05, 0.3);
    sleep.enabled = may(r, random, RANDOM_SLEEP, 0.4);
    lm_world_set_sleep(r->world, &sleep);
    uint32_t method = random_source_below(random, 10);
    method = method < LM_CONTACT_METHOD_COUNT ? method : LM_CONTACT_METHOD_SOLVED;
    lm_world_set_contact_method(r->world, (lm_contact_method)method);
    lm_world_set_contact_events(r->world, random_source_chance(random, 0.5));
    tell(r, "gravity %g %g %g, %u substeps, sleep %d, method %u", (double)gravity.x, (double)gravity.y,
         (double)gravity.z, count, sleep.enabled, method);
}

lm_result random_world_make(random_world *made, uint64_t seed, uint32_t features, const lm_world_def *def, FILE *file)
{
    random_source random = {seed};
    random.state = random_source_bits(&random); /* or the next seed would draw the same numbers one draw later */
    *made = (random_world){.seed = seed, .features = features, .tell = file};
    lm_result result = lm_world_create(def, &made->world);
    if (result != LM_OK) {
        return result;
    }
    lm_vec3 far_away = random_source_vector(&random, 20000.0);
    made->middle = may(made, &random, RANDOM_FAR, 0.15) ? moved(lm_dvec3_zero(), far_away) : lm_dvec3_zero();
    set_world(made, &random);
    made->mover = random_add_mover(made, &random);
    uint32_t colliders = random_source_below(&random, RANDOM_WORLD_COLLIDERS + 1);
    uint32_t bodies = 1 + random_source_below(&random, RANDOM_WORLD_BODIES);
    for (uint32_t i = 0; i < colliders && result == LM_OK; i++) {
        random_source own = {random_source_bits(&random)};
        result = (features & RANDOM_COLLIDERS) != 0 ? random_add_collider(made, &own, i) : LM_OK;
    }
    random_add_field(made, &random);
    for (uint32_t i = 0; i < bodies && result == LM_OK; i++) {
        random_source own = {random_source_bits(&random)};
        result = add_body(made, &own, i);
        made->body_count = i + 1;
    }
    result = result ? result : random_add_crates(made, &random); /* last: worlds without them are what they were */
    if (result == LM_OK) {
        lm_dvec3 eye = moved(made->middle, (lm_vec3){3.0f, 2.0f, 3.0f});
        result = lm_world_set_eye(made->world, &eye);
    }
    if (result != LM_OK) {
        random_world_free(made);
    }
    return result;
}

void random_world_free(random_world *r)
{
    lm_world_destroy(r->world);
    *r = (random_world){.world = NULL};
}

/* ------------------------------------------------------------------------------------------------------------------
 * What happens
 */

/* A blade through the body or into it: a square that is turned at random. */
static void cut(const random_world *r, lm_body_id body, const lm_body_info *info, random_source *random)
{
    lm_vec3 u = random_source_vector(random, 1.0), v = random_source_vector(random, 1.0);
    lm_vec3 off = random_source_vector(random, 0.2);
    double reach = random_source_chance(random, 0.6) ? 4.0 : random_source_range(random, 0.2, 0.8);
    lm_dvec3 corners[4];
    for (int i = 0; i < 4; i++) {
        double a = reach * (i & 1 ? 1.0 : -1.0), b = reach * (i & 2 ? 1.0 : -1.0);
        corners[i] = (lm_dvec3){info->centre.x + (double)off.x + a * (double)u.x + b * (double)v.x,
                                info->centre.y + (double)off.y + a * (double)u.y + b * (double)v.y,
                                info->centre.z + (double)off.z + a * (double)u.z + b * (double)v.z};
    }
    static const uint32_t faces[6] = {0, 1, 3, 0, 3, 2};
    lm_blade blade = lm_blade_default();
    blade.vertices = corners;
    blade.vertex_count = 4;
    blade.triangles = faces;
    blade.triangle_count = 2;
    lm_cut_info done = {0, 0, 0, 0};
    lm_result result = lm_body_cut(r->world, body, &blade, &done);
    tell(r, "  cut: %s, %u links, %u parts", lm_result_text(result), done.links, done.parts);
}

static void push(const random_world *r, lm_body_id body, const lm_body_info *info, random_source *random)
{
    lm_vec3 impulse = random_source_vector(random, 3.0 * (double)info->mass);
    lm_vec3 off = random_source_vector(random, 0.3);
    uint32_t particle = random_source_below(random, info->particles);
    switch (random_source_below(random, 4)) {
    case 0: lm_body_add_impulse(r->world, body, impulse, moved(info->centre, off)); break;
    case 1: lm_body_add_particle_impulse(r->world, body, particle, impulse); break;
    case 2: lm_body_add_force(r->world, body, impulse); break;
    default: lm_body_add_particle_force(r->world, body, particle, impulse); break;
    }
    tell(r, "  push");
}

/* Pins a particle, or lets go what was pinned. */
static void pin(random_world *r, lm_body_id body, uint32_t particle, bool moving)
{
    lm_pin_def def = lm_pin_def_default();
    lm_result result;
    def.body = body;
    def.particles = &particle;
    def.particle_count = 1;
    def.mover = moving ? r->mover : def.mover;
    if (r->crate.slot != 0 && particle % 2) {
        def.mover = r->crate;
    }
    if (r->pin.slot == 0) {
        result = lm_pin_create(r->world, &def, &r->pin);
    } else {
        result = lm_pin_destroy(r->world, r->pin); /* it may have gone with its body */
        r->pin = (lm_pin_id){0, 0};
    }
    tell(r, "  pin: %s", lm_result_text(result));
}

static void drag(random_world *r, lm_body_id body, uint32_t particle, lm_dvec3 target, random_source *random)
{
    lm_drag_def def = lm_drag_def_default();
    lm_result result;
    def.body = body;
    def.particle = particle;
    def.target = target;
    def.radius = random_source_chance(random, 0.5) ? 0.3f : 0.0f;
    def.hertz = (float)random_source_range(random, 0.5, 20.0);
    if (r->drag.slot == 0) {
        result = lm_drag_create(r->world, &def, &r->drag);
    } else {
        result = lm_drag_destroy(r->world, r->drag);
        r->drag = (lm_drag_id){0, 0};
    }
    tell(r, "  drag: %s", lm_result_text(result));
}

/* Joins a body to another, to the mover or to the world, or takes a joint away. */
static void join(random_world *r, lm_body_id body, const lm_body_info *info, random_source *random)
{
    lm_joint_def def = lm_joint_def_default();
    lm_joint_id *joint = &r->joints[random_source_below(random, RANDOM_WORLD_JOINTS)];
    lm_vec3 off = random_source_vector(random, 0.4);
    lm_result result;
    uint32_t other = random_source_below(random, r->body_count + 2);
    def.kind = (lm_joint_kind)random_source_below(random, LM_JOINT_KIND_COUNT);
    def.b.body = body;
    def.a.anchor = def.b.anchor = moved(info->centre, off);
    if (other < r->body_count) {
        def.a.body = r->bodies[other];
    } else if (other == r->body_count) {
        def.a.mover = r->crate.slot != 0 ? r->crate : r->mover;
    }
    def.axis = random_source_vector(random, 1.0);
    def.b.radius = (float)random_source_range(random, 0.0, 0.5);
    def.a.radius = random_source_chance(random, 0.3) ? INFINITY : 0.0f;
    def.hertz = random_source_chance(random, 0.5) ? (float)random_source_range(random, 0.1, 100.0) : 0.0f;
    def.damping_ratio = (float)random_source_range(random, 0.0, 2.0);
    def.max_force = random_source_chance(random, 0.3) ? (float)random_source_range(random, 1.0, 1000.0) : def.max_force;
    if (joint->slot == 0) {
        result = lm_joint_create(r->world, &def, joint);
    } else {
        result = lm_joint_destroy(r->world, *joint); /* it may have gone with its body */
        *joint = (lm_joint_id){0, 0};
    }
    tell(r, "  joint: %s", lm_result_text(result));
}

static void hold(random_world *r, lm_body_id body, const lm_body_info *info, random_source *random)
{
    if ((r->features & RANDOM_JOINTS) != 0 && random_source_chance(random, 0.6)) {
        join(r, body, info, random);
        return;
    }
    uint32_t particle = random_source_below(random, info->particles);
    lm_vec3 off = random_source_vector(random, 1.0);
    bool moving = random_source_chance(random, 0.5);
    if (random_source_chance(random, 0.5)) {
        pin(r, body, particle, moving);
    } else {
        drag(r, body, particle, moved(info->centre, off), random);
    }
}

static void shatter(const random_world *r, lm_body_id body, random_source *random)
{
    lm_vec3 centre = random_source_vector(random, 0.5);
    float radius = (float)random_source_range(random, 0.05, 0.5);
    uint32_t broken = 0;
    lm_result result = lm_body_break(r->world, body, centre, radius, &broken);
    tell(r, "  break: %s, %u links", lm_result_text(result), broken);
}

static void refine(const random_world *r, lm_body_id body, const lm_body_info *info, random_source *random)
{
    lm_vec3 off = random_source_vector(random, 0.4);
    float radius = (float)random_source_range(random, 0.05, 0.6);
    float size = (float)random_source_range(random, 0.03, 0.5);
    uint32_t changed = 0;
    lm_result result = lm_body_refine(r->world, body, moved(info->centre, off), radius, size, &changed);
    tell(r, "  refine: %s, %u cells", lm_result_text(result), changed);
}

static lm_dvec3 momentum_of(const lm_world *world)
{
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    return totals.momentum;
}

/* Another body in the place of one. What bodies took with them or brought is counted. */
static lm_result replace(random_world *r, uint32_t index, random_source *random)
{
    lm_dvec3 before = momentum_of(r->world);
    lm_body_destroy(r->world, r->bodies[index]);
    lm_result result = add_body(r, random, index);
    lm_dvec3 after = momentum_of(r->world);
    r->edited.x += after.x - before.x;
    r->edited.y += after.y - before.y;
    r->edited.z += after.z - before.z;
    return result;
}

static lm_result edit(random_world *r, uint32_t index, const lm_body_info *info, random_source *random)
{
    lm_body_id body = r->bodies[index];
    lm_vec3 vector = random_source_vector(random, 12.0);
    float number = (float)random_source_range(random, 0.0, 1.0);
    uint32_t what = random_source_below(random, 8);
    tell(r, "  edit %u of body %u", what, index);
    switch (what) {
    case 0: return replace(r, index, random);
    case 1: lm_world_set_gravity(r->world, vector); break;
    case 2: lm_world_set_contact_rule(r->world, 1, 1, 2.0f * number, number); break;
    case 3: lm_body_wake(r->world, body); break;
    case 4:
        lm_mover_set_velocity(r->world, r->mover, vector, (lm_vec3){0.0f, number, 0.0f});
        if (r->crate.slot != 0) lm_mover_set_velocity(r->world, r->crate, vector, (lm_vec3){number, 0.0f, number});
        break;
    case 5: lm_body_reset_plastic(r->world, body); break;
    case 6: give_stiffness(r, body, random); break;
    default: {
        bool cells = info->spacing > 0.0f || info->octree_nodes > 0;
        lm_material material = make_material(r, random, cells, !cells);
        lm_body_set_material(r->world, body, &material);
        break;
    }
    }
    return LM_OK;
}

static lm_result happen(random_world *r, random_source *random)
{
    uint32_t index = random_source_below(random, r->body_count);
    uint32_t what = random_source_below(random, 8);
    lm_body_id body = r->bodies[index];
    lm_body_info info;
    if (lm_body_get_info(r->world, body, &info) != LM_OK) {
        return LM_OK;
    }
    if (what < 2 && (r->features & RANDOM_CUT) != 0) {
        cut(r, body, &info, random);
    } else if (what == 2 && (r->features & RANDOM_BREAK) != 0) {
        shatter(r, body, random);
    } else if (what == 3 || what == 4) {
        push(r, body, &info, random);
    } else if (what == 5 && (r->features & RANDOM_HOLD) != 0) {
        hold(r, body, &info, random);
    } else if (what == 6 && (r->features & RANDOM_DETAIL) != 0) {
        refine(r, body, &info, random);
    } else if (what == 7 && (r->features & RANDOM_EDIT) != 0) {
        return edit(r, index, &info, random);
    }
    return LM_OK;
}

lm_result random_world_happen(random_world *r, uint32_t frame)
{
    random_source random = {r->seed * 0xd1342543de82ef95u + frame};
    random.state = random_source_bits(&random);
    lm_result result = LM_OK;
    while (result == LM_OK && random_source_chance(&random, 0.15)) {
        tell(r, "frame %u", frame);
        result = happen(r, &random);
    }
    return result;
}

lm_result random_world_step(const random_world *r) { return lm_world_step(r->world, FRAME); }
