/*
 * Definitions of bodies for the bench "gpu".
 */
#include "gpu_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

crowd crowd_of_lattices(const char *name, const lattice_cells *cells, uint32_t bodies, uint32_t width)
{
    crowd c = {.name = name, .bodies = bodies, .width = width, .mode = "rigid", .bytes = CROWD_LATTICE_BYTES};
    c.def = lm_body_def_default();
    c.def.material.hertz = 8.0f;
    c.def.lattice.cells = cells->cells;
    memcpy(c.def.lattice.counts, cells->counts, sizeof cells->counts);
    c.def.lattice.spacing = cells->spacing;
    c.def.lattice.width = width;
    c.def.material.mode = LM_MODE_RIGID;
    c.def.contact_points = LM_CONTACT_PARTICLES;
    return c;
}

crowd crowd_of_clusters(const char *name, uint32_t bodies, lm_vec3 points[100])
{
    crowd c = {.name = name, .bodies = bodies, .clusters = 8, .mode = "quadratic", .bytes = CROWD_BYTES};
    c.def = lm_body_def_default();
    c.def.material.hertz = 8.0f;
    for (uint32_t n = 0; n < 100; n++)
        points[n] = (lm_vec3){0.1f * (float)(n % 5), 0.1f * (float)(n / 5 % 5), 0.1f * (float)(n / 25)};
    c.def.points = points;
    c.def.point_count = 100;
    c.def.clusters.counts[0] = c.def.clusters.counts[1] = c.def.clusters.counts[2] = 2;
    c.def.material.mode = LM_MODE_QUADRATIC;
    c.def.contact_points = LM_CONTACT_PARTICLES;
    return c;
}

crowd crowd_of_tets(const char *name, const tets_block *block, uint32_t bodies, bool examples, bool regions)
{
    crowd c = {.name = name, .bodies = bodies, .mode = "rigid", .bytes = CROWD_BYTES};
    c.def = lm_body_def_default();
    c.def.points = block->points;
    c.def.point_count = block->point_count;
    c.def.clusters.kind = LM_CLUSTERS_RINGS;
    c.def.clusters.elements = block->elements;
    c.def.clusters.element_count = block->element_count;
    c.def.material.mode = LM_MODE_RIGID;
    c.def.material.hertz = 4.0f;
    c.def.material.damping_ratio = 0.0f;
    c.def.contact_points = LM_CONTACT_PARTICLES;
    c.examples = lm_examples_def_default();
    if (examples) {
        c.examples.poses = block->poses;
        c.examples.count = BLOCK_EXAMPLES;
        c.examples.particles = block->point_count;
        c.examples.scope = regions ? LM_EXAMPLES_REGIONS : LM_EXAMPLES_BODY;
    }
    c.start = block->poses; /* twisted, so that there is something to project */
    return c;
}

crowd crowd_of_octrees(const char *name, const lm_shape_mesh *mesh, uint32_t particles, float spacing, uint32_t bodies)
{
    crowd c = {.name = name, .bodies = bodies, .mode = "rigid", .bytes = CROWD_BYTES};
    c.def = lm_body_def_default();
    c.def.material.hertz = 8.0f;
    c.def.octree.vertices = mesh->vertices;
    c.def.octree.vertex_count = mesh->vertex_count;
    c.def.octree.triangles = mesh->triangles;
    c.def.octree.triangle_count = mesh->triangle_count;
    c.def.octree.spacing = spacing;
    c.def.octree.levels = 4;
    c.def.octree.particles = particles;
    c.def.octree.detail = 200.0f;
    c.def.octree.width = 6.5f * spacing;
    c.def.material.mode = LM_MODE_RIGID;
    c.def.contact_points = LM_CONTACT_PARTICLES;
    return c;
}

/* Ground of so many samples along x and z, a metre apart; its middle is that of the first 10,000 bodies. */
#define GROUND 304
#define GROUND_MIDDLE 148.5

/* Metres, at a place from the middle of the ground. */
static float height_at(double x, double z) { return (float)(0.3 * sin(0.7 * x) * cos(0.5 * z)); }

static bool add_heights(lm_world *world, lm_collider_def *def)
{
    float *heights = malloc(sizeof *heights * GROUND * GROUND);
    for (int n = 0; heights && n < GROUND * GROUND; n++)
        heights[n] = height_at(n % GROUND - (GROUND - 1) / 2.0, n / GROUND - (GROUND - 1) / 2.0);
    def->shape = LM_SHAPE_HEIGHTS;
    def->heights.heights = heights;
    def->heights.counts[0] = def->heights.counts[1] = GROUND;
    lm_collider_id id;
    bool ok = heights && lm_collider_create(world, def, &id) == LM_OK;
    free(heights);
    return ok;
}

/* The same as a sheet of triangles. */
static bool add_mesh(lm_world *world, lm_collider_def *def)
{
    const uint32_t cells = (GROUND - 1) * (GROUND - 1);
    lm_vec3 *vertices = malloc(sizeof *vertices * GROUND * GROUND);
    uint32_t *triangles = malloc(sizeof *triangles * 6 * cells);
    for (int n = 0; vertices && n < GROUND * GROUND; n++) {
        const double x = n % GROUND - (GROUND - 1) / 2.0, z = n / GROUND - (GROUND - 1) / 2.0;
        vertices[n] = (lm_vec3){(float)x, height_at(x, z), (float)z};
    }
    for (uint32_t n = 0; triangles && n < cells; n++) {
        const uint32_t at = n / (GROUND - 1) * GROUND + n % (GROUND - 1);
        const uint32_t corners[6] = {at, at + GROUND, at + GROUND + 1, at, at + GROUND + 1, at + 1};
        memcpy(triangles + 6 * (size_t)n, corners, sizeof corners);
    }
    def->shape = LM_SHAPE_MESH;
    def->mesh = (lm_collider_mesh){vertices, GROUND * GROUND, triangles, 2 * cells, false, false};
    lm_collider_id id;
    bool ok = vertices && triangles && lm_collider_create(world, def, &id) == LM_OK;
    free(vertices);
    free(triangles);
    return ok;
}

static bool add_ground(lm_world *world, crowd_ground ground)
{
    lm_collider_def def = lm_collider_def_default();
    def.pose.position = (lm_dvec3){GROUND_MIDDLE, 0.0, GROUND_MIDDLE};
    lm_collider_id id;
    switch (ground) {
    case CROWD_PLANE: return lm_collider_create(world, &def, &id) == LM_OK;
    case CROWD_HEIGHTS: return add_heights(world, &def);
    case CROWD_MESH: return add_mesh(world, &def);
    default: return true;
    }
}

static lm_dvec3 place_of(const crowd *c, uint32_t n)
{
    const double x = 3.0 * (n % 100), y = 3.0 * (n / 100 % 100);
    if (c->ground == CROWD_NO_GROUND) return (lm_dvec3){x, y, 3.0 * (n / 10000)};
    double up = c->ground == CROWD_PLANE ? 0.0 : height_at(x - GROUND_MIDDLE, y - GROUND_MIDDLE);
    return (lm_dvec3){x, up + c->drop, y};
}

static bool pin_first(lm_world *world, lm_body_id id)
{
    const uint32_t first = 0;
    lm_pin_def pin = lm_pin_def_default();
    pin.body = id;
    pin.particles = &first;
    pin.particle_count = 1;
    lm_pin_id made;
    return lm_pin_create(world, &pin, &made) == LM_OK;
}

static bool add_one(lm_world *world, const crowd *c, uint32_t n, lm_body_id *id)
{
    lm_body_def def = c->def;
    def.pose.position = place_of(c, n);
    def.spin = (lm_vec3){0.1f, 0.2f, 0.1f};
    if (lm_body_create(world, &def, id) != LM_OK) return false;
    if (c->examples.poses && lm_body_set_examples(world, *id, &c->examples) != LM_OK) return false;
    if (c->pinned && !pin_first(world, *id)) return false;
    return !c->start || lm_body_set_state(world, *id, def.pose.position, c->start, NULL) == LM_OK;
}

bool crowd_fill(lm_world *world, const crowd *c, uint32_t *particles)
{
    lm_body_info info = {.particles = 0};
    if (!add_ground(world, c->ground)) return false;
    for (uint32_t n = 0; n < c->bodies; n++) {
        lm_body_id id;
        if (!add_one(world, c, n, &id) || (n == 0 && lm_body_get_info(world, id, &info) != LM_OK)) return false;
    }
    *particles = c->bodies * info.particles;
    return true;
}
