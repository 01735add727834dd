/*
 * Squeezed bodies: every sampling, in every mode that it has, between a floor and a plane that comes down to 2 cm, to nothing, and
 * beyond the floor, and goes up again; or with its particles put into a plane, a line, a point, or mirrored.
 *
 * A plane and a press are tried with and without weight; a line, a point and a mirror image, which no press makes, without.
 *
 * What is weight and what is a wrong shape are told apart. A soft body sinks under its own weight, squeezed or not. So
 *
 *   - squeezed, and then left alone without weight, it must come back to its rest shape;
 *   - squeezed, and then left on the floor, it must not be deformed much more than a twin that was never squeezed, or it is its weight
 *     that keeps it so (a soft duck may come to lie on its side): then it comes back as soon as its weight is taken away. The surface of
 *     neither may hang through the floor. Velocities are taken away in between: what a stiff body stored may leave the planes as a spin
 *     that draws it out, which on a floor takes long to end.
 *
 * Arguments: how many of the cases are left out between two that are run (0: all; without arguments a few remain), and parts of
 * names that a case must have.
 */
#include "limber/shapes.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Metres. */
#define SPACING_LATTICE (1.0f / 6.0f)
#define SPACING_TETS (1.0f / 5.0f)
#define SPACING_OCTREE (1.0f / 16.0f)

/* Of the body's size: the largest distance of a particle from where it should be. */
#define RECOVERED 0.01

#define PRESS_HEIGHT 2.0
#define MOST_FRAMES 2400u
#define MOST_NAMES 8

typedef enum sampling {
    POINTS, /* one region */
    KMEANS,
    LATTICE_1,
    LATTICE_2,
    LATTICE_3,
    TETS,
    OCTREE,
    SAMPLING_COUNT
} sampling;

typedef enum harm {
    CLOSED, /* to 2 cm */
    SHUT,
    CROSSED, /* the planes: what is between them cannot be right */
    FLAT,
    LINE,
    POINT,
    MIRRORED,
    HARM_COUNT
} harm;

static const char *const shape_names[] = {"box", "sphere", "torus", "duck"};
static const char *const sampling_names[] = {"points", "kmeans", "lattice1", "lattice2", "lattice3", "tets", "octree"};
static const char *const mode_names[] = {"rigid", "linear", "quadratic"};
static const char *const harm_names[] = {"closed", "shut", "crossed", "flat", "line", "point", "mirrored"};

typedef struct trial {
    uint32_t shape;
    sampling sampling;
    lm_mode mode;
    float hertz, beta;
    harm harm;
    bool fast;
} trial;

typedef struct stage {
    lm_world *world;
    lm_body_id body;
    lm_mover_id press;
    double size, floor;
} stage;

static uint32_t skipped = 126;
static uint32_t name_count = 0;
static const char *names[MOST_NAMES];

/* ---- bodies ---- */

static void describe(const trial *t, char *text, size_t size)
{
    snprintf(text, size, "%s %s %s %g Hz beta %g %s%s", shape_names[t->shape], sampling_names[t->sampling],
             mode_names[t->mode], (double)t->hertz, (double)t->beta, harm_names[t->harm], t->fast ? " fast" : "");
}

static void sample_mesh(const trial *t, const lm_shape_mesh *mesh, lm_body_def *def)
{
    if (t->sampling == TETS) {
        def->tets.vertices = mesh->vertices, def->tets.vertex_count = mesh->vertex_count;
        def->tets.triangles = mesh->triangles, def->tets.triangle_count = mesh->triangle_count;
        def->tets.spacing = SPACING_TETS;
    } else if (t->sampling == OCTREE) {
        def->octree.vertices = mesh->vertices, def->octree.vertex_count = mesh->vertex_count;
        def->octree.triangles = mesh->triangles, def->octree.triangle_count = mesh->triangle_count;
        def->octree.spacing = SPACING_OCTREE;
        def->octree.levels = 2;
    } else {
        def->lattice.vertices = mesh->vertices, def->lattice.vertex_count = mesh->vertex_count;
        def->lattice.triangles = mesh->triangles, def->lattice.triangle_count = mesh->triangle_count;
        def->lattice.spacing = SPACING_LATTICE;
        def->lattice.width = (uint32_t)t->sampling - LATTICE_1 + 1;
    }
}

static lm_body_id add_body(lm_world *world, const trial *t)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    lm_shape_cloud cloud = {0};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    how.name = shape_names[t->shape];
    how.size = lm_shape_natural_size(how.name);
    how.detail = 6;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    def.material.mode = t->mode;
    def.material.hertz = t->hertz;
    def.material.beta = t->beta;
    def.material.damping_ratio = 0.3f;
    if (t->sampling <= KMEANS) {
        assert_ok(lm_shape_make_cloud(&how, &mesh, 0, &cloud));
        def.points = cloud.points;
        def.point_count = cloud.point_count;
        if (t->sampling == KMEANS) {
            def.clusters.kind = LM_CLUSTERS_KMEANS;
            def.clusters.count = 6;
            def.clusters.rings = 2;
        }
    } else {
        sample_mesh(t, &mesh, &def);
    }
    lm_body_id body;
    assert_ok(lm_body_create(world, &def, &body));
    lm_shape_mesh_free(&mesh);
    lm_shape_cloud_free(&cloud);
    return body;
}

static lm_body_info info_of(const stage *s)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(s->world, s->body, &info));
    return info;
}

/* A body on a floor, under a plane that looks down. */
static stage set_up(const trial *t)
{
    stage s = {.world = make_world(-9.81)};
    s.body = add_body(s.world, t);
    lm_body_info info = info_of(&s);
    s.size = fmax(info.upper.x - info.lower.x, fmax(info.upper.y - info.lower.y, info.upper.z - info.lower.z));
    s.floor = fmin(info.lower.y, -0.5 * (double)lm_shape_natural_size(shape_names[t->shape]).y);
    lm_collider_def floor = lm_collider_def_default(), press = floor;
    lm_collider_id id;
    floor.pose.position.y = s.floor;
    assert_ok(lm_collider_create(s.world, &floor, &id));
    lm_mover_def mover = lm_mover_def_default();
    mover.pose.position.y = s.floor + PRESS_HEIGHT;
    assert_ok(lm_mover_create(s.world, &mover, &s.press));
    press.mover = s.press;
    press.pose.rotation = (lm_quat){1.0f, 0.0f, 0.0f, 0.0f};
    assert_ok(lm_collider_create(s.world, &press, &id));
    return s;
}

/* ---- what is done to them ---- */

static void press_to(const stage *s, double gap, uint32_t frames)
{
    for (uint32_t n = 1; n <= 2 * frames + 30; n++) {
        uint32_t from_end = 2 * frames + 30 - n, way = n < from_end ? n : from_end;
        lm_pose pose = lm_pose_identity();
        double share = way < frames ? (double)way / frames : 1.0;
        pose.position.y = s->floor + PRESS_HEIGHT + share * (gap - PRESS_HEIGHT);
        assert_ok(lm_mover_move_to(s->world, s->press, pose));
        assert_ok(lm_world_step(s->world, FRAME));
    }
}

/* `how`: FLAT or worse, or HARM_COUNT: the positions stay, and velocities are taken away. */
static void put(const stage *s, harm how)
{
    lm_body_info info = info_of(s);
    lm_vec3 *x = malloc(info.particles * sizeof *x), *v = calloc(info.particles, sizeof *v);
    assert_ok(lm_body_get_positions(s->world, s->body, info.centre, x));
    for (uint32_t n = 0; n < info.particles && how < HARM_COUNT; n++) {
        x[n].y = how == MIRRORED ? -x[n].y : 0.0f;
        x[n].z = how == LINE || how == POINT ? 0.0f : x[n].z;
        x[n].x = how == POINT ? 0.0f : x[n].x;
    }
    assert_ok(lm_body_set_state(s->world, s->body, info.centre, x, v));
    free(x);
    free(v);
}

static void do_harm(const stage *s, const trial *t)
{
    steps(s->world, 30);
    if (t->harm <= CROSSED)
        press_to(s, t->harm == CLOSED ? 0.02 : t->harm == SHUT ? 0.0 : -0.3, t->fast ? 6 : 60);
    else
        put(s, t->harm);
}

static void free_from_everything(const stage *s)
{
    lm_collider_id ids[2];
    assert_int_equal(lm_world_get_colliders(s->world, ids, 2), 2);
    for (int n = 0; n < 2; n++) assert_ok(lm_collider_destroy(s->world, ids[n]));
    assert_ok(lm_world_set_gravity(s->world, (lm_vec3){0.0f, 0.0f, 0.0f}));
    put(s, HARM_COUNT);
}

/* ---- the cases ---- */

static const trial *trial_at(uint32_t index, trial *t)
{
    static const float hertz[] = {4.0f, 6.0f, 10.0f, 30.0f};
    t->fast = index % 2;
    t->beta = index / 2 % 2 ? 0.9f : 0.5f;
    t->hertz = hertz[index / 4 % 4];
    t->harm = (harm)(index / 16 % HARM_COUNT);
    t->mode = (lm_mode)(index / 16 / HARM_COUNT % LM_MODE_COUNT);
    t->sampling = (sampling)(index / 16 / HARM_COUNT / LM_MODE_COUNT % SAMPLING_COUNT);
    t->shape = index / 16 / HARM_COUNT / LM_MODE_COUNT / SAMPLING_COUNT;
    return t->shape < sizeof shape_names / sizeof *shape_names ? t : NULL;
}

/* Whether it is a case of its own, and asked for. */
static bool is_wanted(const trial *t)
{
    bool same = (t->mode == LM_MODE_RIGID && t->beta > 0.5f) || (t->harm > CROSSED && t->fast);
    bool refused =
        t->mode == LM_MODE_QUADRATIC && t->sampling != POINTS && t->sampling != KMEANS && t->sampling != TETS;
    char text[128];
    describe(t, text, sizeof text);
    bool named = true;
    for (uint32_t n = 0; n < name_count; n++) named = named && strstr(text, names[n]);
    return !same && !refused && named;
}

typedef bool check_trial(const trial *t, double *worst);

/* Runs a check on the cases; returns how many failed. */
static uint32_t each_trial(check_trial *check, const char *what)
{
    uint32_t wanted = 0, run = 0, wrong = 0;
    double worst = 0.0;
    trial t;
    for (uint32_t n = 0; trial_at(n, &t); n++) {
        if (!is_wanted(&t) || wanted++ % (skipped + 1)) continue;
        run++;
        wrong += !check(&t, &worst);
    }
    print_message("%s: %u of %u cases wrong, largest value %.3g\n", what, wrong, run, worst);
    return wrong;
}

/* What is left of its deformation, without colliders and weight, as soon as it is small. */
static double recover(const stage *s)
{
    double left = INFINITY;
    free_from_everything(s);
    for (uint32_t frames = 0; frames < MOST_FRAMES && !(left < RECOVERED); frames += 60) {
        steps(s->world, 60);
        left = deformation(s->world, s->body) / s->size;
    }
    return left;
}

static bool comes_back(const trial *t, double *worst)
{
    stage s = set_up(t);
    do_harm(&s, t);
    double left = recover(&s);
    lm_world_destroy(s.world);
    *worst = fmax(*worst, left);
    if (left < RECOVERED) return true;
    char text[128];
    describe(t, text, sizeof text);
    print_message("  %s: off by %.3f\n", text, left);
    return false;
}

/* How much more than the twin a squeezed body may be deformed before it is asked whether that is its weight: it may have come to lie on
 * another side, and friction holds the particles on the floor where they were left. */
#define EXCESS 1.6
#define EXCESS_FLAT 0.08

/* How far the surface may be below the floor, in sizes: 1.7 % of those that weight flattens to half of their height. */
#define BELOW 0.02

/* A body with regions of this stiffness stands: weight deforms it by no more than this. */
#define STANDS_HERTZ 10.0f
#define STANDS 0.25

typedef struct rest {
    double deformed, below; /* in sizes */
} rest;

/* The height of the lowest point of the surface: touch points lie on it, and so do particles where there are none. */
static double lowest(const stage *s)
{
    lm_body_info info = info_of(s);
    lm_vec3 *points = malloc((info.contact_points + 1) * sizeof *points);
    double low = info.contact_points ? INFINITY : info.lower.y;
    if (info.contact_points) assert_ok(lm_body_get_contact_points(s->world, s->body, lm_dvec3_zero(), points));
    for (uint32_t n = 0; n < info.contact_points; n++) low = fmin(low, (double)points[n].y);
    free(points);
    return low;
}

static rest measure(const stage *s)
{
    rest r = {deformation(s->world, s->body) / s->size, (s->floor - lowest(s)) / s->size};
    return r;
}

static bool stands_again(const trial *t, double *worst)
{
    if (t->harm > FLAT) return true;
    stage squeezed = set_up(t), twin = set_up(t);
    do_harm(&squeezed, t);
    steps(squeezed.world, 240);
    put(&squeezed, HARM_COUNT);
    steps(squeezed.world, 240);
    steps(twin.world, 660);
    rest a = measure(&squeezed), b = measure(&twin);
    double left = a.deformed > EXCESS * b.deformed + EXCESS_FLAT ? recover(&squeezed) : 0.0;
    lm_world_destroy(squeezed.world);
    lm_world_destroy(twin.world);
    double below = fmax(a.below, b.below);
    bool stiff = t->mode == LM_MODE_RIGID && t->hertz >= STANDS_HERTZ, weight = left < RECOVERED;
    *worst = fmax(*worst, below);
    char text[128];
    describe(t, text, sizeof text);
    if (left > 0.0 && weight)
        print_message("  %s: deformed by %.3f, the twin by %.3f, by its weight alone\n", text, a.deformed, b.deformed);
    if (weight && below <= BELOW && !(stiff && fmax(a.deformed, b.deformed) > STANDS)) return true;
    print_message("  %s: deformed by %.3f, the twin by %.3f; without weight by %.3f; %.4f and %.4f below the floor\n",
                  text, a.deformed, b.deformed, left, a.below, b.below);
    return false;
}

static void squeezed_bodies_come_back_without_weight(void **context)
{
    (void)context;
    assert_int_equal(each_trial(comes_back, "without weight"), 0);
}

static void squeezed_bodies_stand_as_others_do(void **context)
{
    (void)context;
    assert_int_equal(each_trial(stands_again, "on the floor"), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) skipped = (uint32_t)strtoul(argv[1], NULL, 10);
    for (int n = 2; n < argc && name_count < MOST_NAMES; n++) names[name_count++] = argv[n];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeezed_bodies_come_back_without_weight),
        cmocka_unit_test(squeezed_bodies_stand_as_others_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
