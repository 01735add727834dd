/*
 * Definitions of bodies for the bench "gpu".
 */
#include "gpu_cases.h"

#include <string.h>

crowd crowd_of_lattices(const char *name, const lattice_cells *cells, uint32_t bodies, uint32_t width)
{
    crowd c = {.name = name, .bodies = bodies, .width = width, .mode = "rigid", .bytes = CROWD_LATTICE_BYTES};
    c.def = lm_body_def_default();
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

crowd crowd_of_octrees(const char *name, const shape_mesh *mesh, uint32_t particles, float spacing, uint32_t bodies)
{
    crowd c = {.name = name, .bodies = bodies, .mode = "rigid", .bytes = CROWD_BYTES};
    c.def = lm_body_def_default();
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

static bool add_one(lm_world *world, const crowd *c, uint32_t n, lm_body_id *id)
{
    lm_body_def def = c->def;
    def.pose.position = (lm_dvec3){3.0 * (n % 100), 3.0 * (n / 100 % 100), 3.0 * (n / 10000)};
    def.spin = (lm_vec3){0.1f, 0.2f, 0.1f};
    if (lm_body_create(world, &def, id) != LM_OK) return false;
    if (c->examples.poses && lm_body_set_examples(world, *id, &c->examples) != LM_OK) return false;
    return !c->start || lm_body_set_state(world, *id, def.pose.position, c->start, NULL) == LM_OK;
}

bool crowd_fill(lm_world *world, const crowd *c, uint32_t *particles)
{
    lm_body_info info = {.particles = 0};
    for (uint32_t n = 0; n < c->bodies; n++) {
        lm_body_id id;
        if (!add_one(world, c, n, &id) || (n == 0 && lm_body_get_info(world, id, &info) != LM_OK)) return false;
    }
    *particles = c->bodies * info.particles;
    return true;
}
