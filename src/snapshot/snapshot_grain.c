/*
 * The grain of bodies that were cut (grain.h), in snapshots: bonds, what regions were part of, the skin as it was given with what
 * it rode on, voxels with the links that are cut, seeds and bends. What follows from these is made again.
 */
#include "cluster/embed.h"
#include "cut/grain.h"
#include "skin/skin_octree_cut.h"
#include "snapshot/archive.h"

static void visit_bonds(archive *a, lm_world *world, lmi_grain *g)
{
    visit_count(a, &g->bond_count, 9);
    if (a->mode == LOAD && ok(a)) {
        g->bonds = lmi_allocate(&world->memory, g->bond_count, sizeof *g->bonds);
        a->out_of_memory = !g->bonds;
    }
    for (uint32_t n = 0; ok(a) && n < g->bond_count; n++) {
        lmi_bond *bond = &g->bonds[n];
        visit_index(a, &bond->a, g->particle_count, false);
        visit_index(a, &bond->b, g->particle_count, false);
        visit_bool(a, &bond->cut);
        refuse_if(a, bond->a >= bond->b);
        refuse_if(a, n > 0 && (bond->a < bond[-1].a || (bond->a == bond[-1].a && bond->b <= bond[-1].b)));
    }
}

static void visit_origins(archive *a, lm_world *world, lmi_grain *g)
{
    visit_u32(a, &g->origin_count);
    if (a->mode == LOAD && ok(a)) {
        g->origin = lmi_allocate(&world->memory, g->region_count, sizeof *g->origin);
        a->out_of_memory = !g->origin;
    }
    for (uint32_t r = 0; ok(a) && r < g->region_count; r++) {
        visit_index(a, &g->origin[r], g->origin_count, false);
    }
}

/* The skin as it was given. */
static void visit_whole_skin(archive *a, lm_world *world, lmi_grain *g)
{
    lmi_skin *skin = &g->whole;
    lmi_visit_skin_counts(a, skin);
    const lmi_riders riders = {g->particle_count, g->origin_count, NULL, 0, LMI_EMBED_MOST};
    lmi_visit_skin_arrays(a, world, skin, &riders);
}

/* The voxels, which particle sees which, and the shell of the skin. */
static void visit_inside(archive *a, lm_world *world, lmi_grain *g)
{
    lmi_visit_voxel_tree(a, world, &g->tree);
    refuse_if(a, g->tree.levels != 0);
    if (a->mode == LOAD && ok(a)) {
        g->seed = lmi_allocate(&world->memory, g->particle_count, sizeof *g->seed);
        a->out_of_memory = !g->seed;
    }
    for (uint32_t n = 0; ok(a) && n < g->particle_count; n++) {
        visit_index(a, &g->seed[n], g->tree.voxel_count, false);
    }
    if (a->mode == LOAD && ok(a)) {
        g->shell = lmi_octree_shell_make(world, &g->tree, &g->whole);
        a->out_of_memory = !g->shell;
    }
}

static void visit_grain(archive *a, lm_world *world, lmi_body *body, lmi_grain *g)
{
    g->particle_count = body->particle_count;
    g->region_count = body->region_count;
    visit_bonds(a, world, g);
    visit_origins(a, world, g);
    visit_whole_skin(a, world, g);
    if (ok(a) && g->whole.vertex_count) {
        visit_inside(a, world, g);
    }
    if (a->mode == LOAD && ok(a)) {
        a->out_of_memory =
            !lmi_grain_derive(world, g, body) || (g->shell && !lmi_grain_spread(world, g, &g->tree, body, NULL));
    }
}

void lmi_visit_grains(archive *a, lm_world *world)
{
    for (uint32_t n = 0; n < world->bodies.slots && ok(a); n++) {
        lmi_body *body = lmi_pool_used(&world->bodies, n) ? lmi_body_at(world, n) : NULL;
        if (!body || body->lattice || body->octree) {
            continue;
        }
        bool has = body->grain != NULL;
        visit_bool(a, &has);
        if (!has || !ok(a)) {
            continue;
        }
        refuse_if(a, body->skin.vertex_count > 0 && a->mode == LOAD); /* it is made from what follows */
        if (a->mode == LOAD && ok(a)) {
            body->grain = lmi_allocate(&world->memory, 1, sizeof *body->grain);
            a->out_of_memory = !body->grain;
        }
        if (ok(a)) {
            visit_grain(a, world, body, body->grain);
        }
    }
}
