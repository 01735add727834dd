#include "test/support/snapshots.h"

#include "test/support/snapshot_parts.h"

#include "cut/grain.h"
#include "skin/skin_octree_cut.h"
#include "skin/slit.h"
#include "world/in_step.h"
#include "world/world.h"

#include <string.h>

/* ---- surroundings ---- */

/* A mesh is for itself: making it ready takes most of the time. */
static void make_mesh(lm_world *world)
{
    lm_collider_def collider = lm_collider_def_default();
    lm_collider_id id;
    collider.shape = LM_SHAPE_MESH;
    collider.mesh = (lm_collider_mesh){cube_vertices, 8, cube_triangles, 12, true, false};
    collider.pose.position.y = -1.0;
    check(lm_collider_create(world, &collider, &id));
    lm_body_def def = cloud_def(LM_MODE_LINEAR, 0.0f);
    make(world, &def);
}

static lm_mover_id add_colliders_and_fields(lm_world *world)
{
    static const float heights[6] = {0.0f, 0.1f, 0.2f, 0.1f, 0.0f, 0.3f};
    lm_mover_def mover = lm_mover_def_default();
    mover.spin.y = 1.0f;
    lm_mover_id mover_id;
    check(lm_mover_create(world, &mover, &mover_id));
    for (int shape = 0; shape < LM_SHAPE_MESH; shape++) {
        lm_collider_def collider = lm_collider_def_default();
        lm_collider_id id;
        collider.shape = (lm_shape)shape;
        collider.heights = (lm_heights){heights, {3, 2}, 0.5f};
        collider.mover = shape % 2 ? mover_id : collider.mover;
        check(lm_collider_create(world, &collider, &id));
    }
    lm_mover_def rigid = lm_mover_def_default(); /* with mass, on the plane: it has contacts that it remembers */
    lm_collider_def box = lm_collider_def_default();
    lm_mover_id rigid_id;
    lm_collider_id box_id;
    rigid.pose.position = (lm_dvec3){6.0, 0.5, 0.0};
    rigid.mass = 2.0f;
    check(lm_mover_create(world, &rigid, &rigid_id));
    box.shape = LM_SHAPE_BOX;
    box.mover = rigid_id;
    check(lm_collider_create(world, &box, &box_id));
    for (int kind = 0; kind < LM_FIELD_KIND_COUNT; kind++) {
        lm_field_def field = lm_field_def_default();
        lm_field_id id;
        field.kind = (lm_field_kind)kind;
        check(lm_field_create(world, &field, &id));
    }
    return mover_id;
}

static void hold(lm_world *world, lm_body_id body, lm_mover_id mover)
{
    static const uint32_t held[] = {0, 3};
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = body;
    pin.particles = held;
    pin.particle_count = 2;
    pin.mover = mover;
    check(lm_pin_create(world, &pin, &pin_id));
    lm_drag_def drag = lm_drag_def_default();
    lm_drag_id drag_id;
    drag.body = body;
    drag.particle = 1;
    drag.radius = 1.0f;
    check(lm_drag_create(world, &drag, &drag_id));
    check(lm_body_add_particle_force(world, body, 2, (lm_vec3){1, 2, 3}));
    check(lm_body_add_force(world, body, (lm_vec3){3, 2, 1}));
}

/* ---- the worlds ---- */

static void make_nothing(lm_world *world) { (void)world; }

static void make_cloud(lm_world *world)
{
    lm_body_def def = cloud_def(LM_MODE_LINEAR, 0.0f);
    give_face(world, make(world, &def), LM_SKIN_PARTICLES);
}

static void make_plastic(lm_world *world)
{
    static const float shares[] = {0.5f, 1.0f};
    lm_body_def def = cloud_def(LM_MODE_QUADRATIC, 0.01f);
    lm_body_id body = make(world, &def);
    give_face(world, body, LM_SKIN_REGIONS);
    check(lm_body_set_region_stiffness(world, body, shares));
    step(world, 1);
}

static void make_surroundings(lm_world *world)
{
    lm_body_def def = cloud_def(LM_MODE_LINEAR, 0.0f);
    lm_body_id body = make(world, &def);
    hold(world, body, add_colliders_and_fields(world));
}

static void make_lattices(lm_world *world)
{
    static const lm_mode modes[] = {LM_MODE_RIGID, LM_MODE_LINEAR};
    for (uint32_t n = 0; n < 2; n++) {
        lm_body_def def = comb_def(modes[n], 1 + 2 * n);
        def.material.yield = n ? 0.01f : 0.0f;
        def.pose.position.y = 2.0 * n;
        give_face(world, make(world, &def), LM_SKIN_PARTICLES);
    }
    add_floor(world);
    step(world, 1);
}

static void make_tets(lm_world *world)
{
    lm_body_def def = tets_def();
    give_face(world, make(world, &def), LM_SKIN_PARTICLES);
    give_face(world, make(world, &def), LM_SKIN_REGIONS);
}

static void make_skeletons(lm_world *world)
{
    lm_body_def clusters = cloud_def(LM_MODE_LINEAR, 0.0f), lattice = comb_def(LM_MODE_LINEAR, 1);
    add_skeleton(world, make(world, &clusters));
    add_skeleton(world, make(world, &lattice));
}

static void make_octree(lm_world *world)
{
    lm_body_def def = octree_def(1);
    def.material.yield = 0.01f;
    lm_body_id body = make(world, &def);
    give_cube(world, body, LM_SKIN_REGIONS);
    add_floor(world);
    step(world, 2);
    add_skeleton(world, body);
}

static void make_cut_octree(lm_world *world)
{
    lm_body_def def = octree_def(1);
    lm_body_id body = make(world, &def);
    give_cube(world, body, LM_SKIN_REGIONS);
    cut(world, body, 0.4, 0.6);
    cut(world, body, 0.8, 9.0);
    hold(world, body, (lm_mover_id){0, 0});
    step(world, 1);
}

/* One that was severed and touches itself, on a floor. */
static void make_severed_octree(lm_world *world)
{
    lm_body_def def = octree_def(1);
    def.self_contact = true;
    def.mask = 1;
    lm_body_id body = make(world, &def);
    cut(world, body, 0.4, 9.0);
    add_floor(world);
    step(world, 2);
}

/* Detail by touch and by the eye, after a brush and perhaps a cut, on its way. */
static void add_detail(lm_world *world, bool is_cut)
{
    lm_body_def def = octree_def(2);
    lm_body_id body = make(world, &def);
    give_cube(world, body, LM_SKIN_REGIONS);
    lm_detail detail = lm_detail_default();
    detail.touch_size = 0.25f;
    detail.touch_radius = 0.3f;
    detail.eye_angle = 0.3f;
    detail.per_step = 4;
    detail.hold = 0.0f;
    check(lm_body_set_detail(world, body, &detail));
    check(lm_world_set_eye(world, &(lm_dvec3){0.5, 1.5, 1.5}));
    check(lm_body_refine(world, body, (lm_dvec3){1, 1, 1}, 0.3f, 0.25f, NULL));
    if (is_cut) cut(world, body, 0.4, 0.6);
    add_floor(world);
    step(world, 4);
    check(lm_world_set_eye(world, &(lm_dvec3){0.5, 9.0, 1.5}));
}

static void make_detail(lm_world *world) { add_detail(world, false); }

static void make_cut_detail(lm_world *world) { add_detail(world, true); }

/* Fewer voxels than a cut would make (grain_voxels.c), so that the snapshot is small. */
static void coarse_grain(lm_world *world, lm_body_id id)
{
    lmi_body *body = lmi_body_in_step(world, id.slot - 1);
    lmi_memory *memory = &world->memory;
    const char *fault = NULL;
    lmi_grain *g = lmi_grain_make(world, body, &fault);
    lmi_voxel_def def = {.vertices = body->skin.vertices,
                         .vertex_count = body->skin.vertex_count,
                         .triangles = body->skin.triangles,
                         .triangle_count = body->skin.triangle_count,
                         .spacing = 0.25};
    lmi_octree_mesh faces = {def.vertices, def.triangles, def.triangle_count};
    lmi_voxels voxels;
    char text[LMI_VOXEL_FAULT_SIZE];
    if (!g || !g->shell) exit(1);
    lmi_octree_free(&g->tree, memory);
    memset(&g->tree, 0, sizeof g->tree);
    check(lmi_voxels_make(memory, &def, &voxels, text));
    check(lmi_octree_begin(&g->tree, memory, &voxels, 0));
    lmi_octree_shell_free(world, g->shell);
    g->shell = NULL;
    if (!lmi_octree_cut_gaps(&g->tree, memory, &faces) || !lmi_grain_grow(world, &g->tree)) exit(1);
    for (uint32_t n = 0; n < g->particle_count; n++) {
        uint32_t cell[3];
        lmi_voxels_locate(&g->tree.voxels, dvec_from(body->rest[n]), cell);
        g->seed[n] = lmi_octree_voxel(&g->tree, cell[0], cell[1], cell[2]);
    }
    g->shell = lmi_octree_shell_make(world, &g->tree, &g->whole);
    if (!g->shell || !lmi_grain_derive(world, g, body) || !lmi_grain_spread(world, g, &g->tree, body, NULL)) exit(1);
    body->grain = g;
}

static void make_cut_clusters(lm_world *world)
{
    static const lm_skin_kind kinds[] = {LM_SKIN_PARTICLES, LM_SKIN_REGIONS};
    for (int n = 0; n < 2; n++) {
        lm_body_def def = cloud_def(n ? LM_MODE_LINEAR : LM_MODE_RIGID, n ? 0.01f : 0.0f);
        def.clusters.counts[0] = 1 + (uint32_t)n;
        def.pose.position.y = 0.0;
        lm_body_id body = make(world, &def);
        give_cube(world, body, kinds[n]);
        coarse_grain(world, body);
        cut(world, body, 0.4, n ? 0.6 : 9.0);
    }
    lm_body_def def = cloud_def(LM_MODE_RIGID, 0.0f); /* and one without a skin */
    def.clusters.counts[0] = 1;
    cut(world, make(world, &def), 0.4, 9.0);
    step(world, 1);
}

static void make_cut_tets(lm_world *world)
{
    static const uint32_t surface[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 1, 4, 3, 2, 3, 4};
    lm_body_def def = tets_def();
    def.mask = 1;
    lm_body_id body = make(world, &def);
    give_skin(world, body, LM_SKIN_PARTICLES, def.tets.vertices, 5, surface, 6);
    coarse_grain(world, body);
    cut(world, body, 0.4, 9.0);
    add_floor(world);
    step(world, 1);
}

/* Broken by strain and by hand, in grains, with a skin, and touching others. */
static void make_broken(lm_world *world)
{
    float factors[45];
    for (uint32_t n = 0; n < COUNT_OF(factors); n++) factors[n] = 1.0f;
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.grain = 0.5f;
    fracture.variation = 0.5f;
    fracture.factors = factors;
    lm_body_def def = bar_def();
    def.mask = 1;
    lm_body_id body = make(world, &def);
    give_cube(world, body, LM_SKIN_PARTICLES);
    check(lm_body_set_fracture(world, body, &fracture));
    uint32_t broken;
    check(lm_body_break(world, body, (lm_vec3){0.375f, 0.25f, 0.25f}, 0.2f, &broken));
    add_floor(world);
    step(world, 1);
}

static void make_cut_lattice(lm_world *world)
{
    lm_body_def def = bar_def();
    def.material.yield = 0.01f;
    def.material.mode = LM_MODE_LINEAR;
    lm_body_id body = make(world, &def);
    give_cube(world, body, LM_SKIN_PARTICLES);
    cut(world, body, 0.38, 9.0);
    if (!lmi_body_at(world, body.slot - 1)->slit) {
        fprintf(stderr, "snapshots.c: a lattice that is not cut along its blade\n");
        exit(1);
    }
    step(world, 1);
}

/* All pieces of all bodies by themselves. */
static void split_all(lm_world *world)
{
    lm_body_id bodies[8], made[8];
    const uint32_t count = lm_world_get_bodies(world, bodies, 8);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t more;
        check(lm_body_split(world, bodies[n], NULL, made, 8, &more));
    }
    if (lm_world_get_bodies(world, bodies, 8) == count) {
        fprintf(stderr, "snapshots.c: no body that is in pieces\n");
        exit(1);
    }
    step(world, 1);
}

/* Pieces of lattices, cut by a blade and broken: cells without some of their corners, links that are broken inside. */
static void make_split_lattices(lm_world *world)
{
    make_broken(world);
    make_cut_lattice(world);
    split_all(world);
}

static void make_split_clusters(lm_world *world)
{
    make_cut_clusters(world);
    make_cut_tets(world);
    split_all(world);
}

static void make_split_octree(lm_world *world)
{
    make_severed_octree(world);
    split_all(world);
}

static void give_examples(lm_world *world, lm_body_id body, lm_example_scope scope, bool forced)
{
    lm_body_info info;
    check(lm_body_get_info(world, body, &info));
    lm_vec3 *poses = calloc(2 * (size_t)info.particles, sizeof *poses);
    uint32_t *groups = calloc(info.regions, sizeof *groups);
    check(lm_body_get_rest_positions(world, body, poses));
    check(lm_body_get_rest_positions(world, body, poses + info.particles));
    for (uint32_t n = 0; n < info.particles; n++) poses[n].x *= 1.3f, poses[info.particles + n].y *= 0.8f;
    for (uint32_t r = 0; r < info.regions; r++) groups[r] = r % 3 == 2 ? LM_NO_GROUP : r % 3;
    lm_examples_def def = lm_examples_def_default();
    def.poses = poses;
    def.count = 2;
    def.particles = info.particles;
    def.scope = scope;
    def.groups = groups;
    def.group_count = 2;
    check(lm_body_set_examples(world, body, &def));
    if (forced) {
        check(lm_body_get_info(world, body, &info));
        float *weights = calloc((size_t)info.example_groups * 2, sizeof *weights);
        check(lm_body_set_example_weights(world, body, weights));
        free(weights);
    }
    free(poses);
    free(groups);
}

static void lmi_make_examples(lm_world *world)
{
    for (int scope = 0; scope < LM_EXAMPLES_SCOPE_COUNT; scope++) {
        lm_body_def clusters = cloud_def(LM_MODE_LINEAR, 0.0f), lattice = comb_def(LM_MODE_LINEAR, 1);
        give_examples(world, make(world, &clusters), (lm_example_scope)scope, scope == LM_EXAMPLES_GROUPS);
        give_examples(world, make(world, &lattice), (lm_example_scope)scope, false);
    }
    step(world, 1);
}

static void make_octree_examples(lm_world *world)
{
    lm_body_def def = octree_def(1);
    give_examples(world, make(world, &def), LM_EXAMPLES_BODY, false);
    step(world, 1);
}

/* Two bodies of a kind, of which the distance around them is found once, that rest on each other and on a floor. */
static void add_heap(lm_world *world, lm_body_def def, double height)
{
    check(lm_world_set_contact_events(world, true));
    check(lm_world_set_contact_rule(world, 1, 1, 0.3f, 0.2f));
    add_floor(world);
    for (uint32_t n = 0; n < 2; n++) {
        def.mask = 1;
        def.pose.position.y = 0.99 * height * n - 0.01;
        make(world, &def);
    }
    step(world, 2);
}

static void make_contacts(lm_world *world) { add_heap(world, tets_def(), 1.0); }

static void make_penalty(lm_world *world)
{
    check(lm_world_set_contact_method(world, LM_CONTACT_METHOD_PENALTY));
    add_heap(world, comb_def(LM_MODE_LINEAR, 1), 0.5);
}

static void make_cube_maps(lm_world *world)
{
    check(lm_world_set_contact_method(world, LM_CONTACT_METHOD_CUBE_MAP));
    add_heap(world, box_def(), 1.0);
}

/* Two bodies that sleep together, and one that is awake. */
static void make_sleepers(lm_world *world)
{
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    sleep.speed = 10.0f;
    sleep.seconds = 0.05f;
    check(lm_world_set_sleep(world, &sleep));
    check(lm_world_set_contact_events(world, true));
    add_floor(world);
    lm_body_def box = box_def();
    box.mask = 1;
    lm_body_id below = make(world, &box);
    box.pose.position.y = 0.99;
    lm_body_id above = make(world, &box);
    step(world, 20);
    if (lm_body_is_awake(world, below) || lm_body_is_awake(world, above)) {
        fprintf(stderr, "snapshots.c: nobody sleeps\n");
        exit(1);
    }
    lm_body_def awake = cloud_def(LM_MODE_LINEAR, 0.0f);
    awake.pose.position.x = 10.0;
    make(world, &awake);
}

static const struct {
    const char *name;
    void (*make)(lm_world *world);
    uint32_t share;
} worlds[] = {
    {"nothing", make_nothing, 1},
    {"cloud", make_cloud, 18},
    {"plastic", make_plastic, 18},
    {"surroundings", make_surroundings, 18},
    {"mesh", make_mesh, 18},
    {"lattices", make_lattices, 18},
    {"tets", make_tets, 18},
    {"skeletons", make_skeletons, 18},
    {"octree", make_octree, 18},
    {"cut-octree", make_cut_octree, 7},
    {"severed-octree", make_severed_octree, 7},
    {"detail", make_detail, 7},
    {"cut-detail", make_cut_detail, 7},
    {"cut-clusters", make_cut_clusters, 7},
    {"cut-tets", make_cut_tets, 7},
    {"broken", make_broken, 7},
    {"cut-lattice", make_cut_lattice, 7},
    {"examples", lmi_make_examples, 18},
    {"octree-examples", make_octree_examples, 18},
    {"contacts", make_contacts, 1},
    {"penalty", make_penalty, 7},
    {"cube-maps", make_cube_maps, 1},
    {"sleepers", make_sleepers, 1},
    {"joints", snapshot_make_joints, 7},
    {"chain", snapshot_make_chain, 1},
    {"slit", snapshot_make_slit, 7},
    {"split-lattices", make_split_lattices, 7},
    {"split-clusters", make_split_clusters, 7},
    {"split-octree", make_split_octree, 7},
};

size_t snapshot_seed_count(void) { return COUNT_OF(worlds); }

const char *snapshot_seed_name(size_t n) { return worlds[n].name; }

uint32_t snapshot_seed_share(size_t n) { return worlds[n].share; }

snapshot_seed snapshot_seed_make(size_t n)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    lm_world *world;
    check(lm_world_create(&def, &world));
    worlds[n].make(world);
    snapshot_seed seed = {.name = worlds[n].name, .size = lm_world_save_size(world)};
    seed.bytes = malloc(seed.size);
    if (!seed.bytes) exit(1);
    check(lm_world_save(world, seed.bytes, seed.size));
    lm_world_destroy(world);
    return seed;
}

void snapshot_seed_free(snapshot_seed *seed) { free(seed->bytes); }
