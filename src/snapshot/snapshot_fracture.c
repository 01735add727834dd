/*
 * Bodies that can break, in snapshots: how they break, and which links have broken. Regions, chips, grains and the cut skin
 * are made again.
 */
#include "base/compiler.h"
#include "cluster/embed.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "skin/skin_octree_cut.h"
#include "snapshot/archive.h"
#include "world/in_step.h"

static void visit_def(archive *a, lm_fracture_def *def)
{
    visit_float(a, &def->limit);
    visit_float(a, &def->variation);
    visit_u32(a, &def->seed);
    visit_float(a, &def->grain);
    visit_float(a, &def->grain_strength);
    refuse_if(a, ok(a) && lmi_fracture_fault(def));
}

static void visit_factors(archive *a, lm_world *world, const lmi_body *body, lmi_fracture *f)
{
    bool own = f->factors != NULL;
    visit_bool(a, &own);
    if (a->mode == LOAD && own && ok(a)) {
        f->factors = lmi_allocate(&world->memory, body->place_count, sizeof *f->factors);
        a->out_of_memory = !f->factors;
    }
    for (uint32_t n = 0; own && n < body->particle_count && ok(a); n++) {
        float *factor = &f->factors[body->place[n]];
        visit_float(a, factor);
        refuse_if(a, !(*factor >= 0.0f && *factor <= 1e6f));
    }
}

static void visit_link(archive *a, const lmi_lattice *l, lmi_lattice_link *link)
{
    uint64_t axis = link->axis;
    visit_index(a, &link->particle, l->block_count * LMI_BLOCK, false);
    visit_bits(a, &axis, 1);
    refuse_if(a, axis > 2);
    link->axis = (uint32_t)axis;
}

/* The broken links of a body, by place and axis. */
static void write_links(archive *a, const lmi_lattice *l)
{
    for (uint32_t n = 0; n < 3 * l->block_count; n++) {
        uint32_t left = lmi_lattice_links(l, n / 3, n % 3) & ~(uint32_t)l->bond[n % 3][n / 3];
        for (; left; left &= left - 1) {
            visit_link(a, l, &(lmi_lattice_link){n / 3 * LMI_BLOCK + (uint32_t)lmi_low_bit(left), n % 3});
        }
    }
}

/* Broken links that the skin, as it was given, shows. */
static void visit_inborn(archive *a, lm_world *world, lmi_fracture *f, const lmi_lattice *l)
{
    uint32_t count = f->inborn_count;
    visit_count(a, &count, 5);
    lmi_lattice_link *links = a->mode == LOAD && ok(a) ? lmi_allocate(&world->memory, count, sizeof *links) : NULL;
    a->out_of_memory = a->out_of_memory || (a->mode == LOAD && ok(a) && !links);
    for (uint32_t n = 0; n < count && ok(a); n++) {
        visit_link(a, l, a->mode == LOAD ? &links[n] : &f->inborn[n]);
    }
    if (a->mode == LOAD && ok(a)) {
        a->out_of_memory = !lmi_fracture_bear(world, f, links, count);
    }
    lmi_release(&world->memory, links, count, sizeof *links);
}

void lmi_visit_fracture(archive *a, lm_world *world, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    const lmi_lattice *l = &body->lattice->shape;
    visit_bool(a, &f->breaks);
    visit_def(a, &f->def);
    visit_factors(a, world, body, f);
    visit_count(a, &f->broken, 5);
    if (a->mode != LOAD) {
        write_links(a, l);
        visit_inborn(a, world, f, l);
        return;
    }
    const uint32_t count = f->broken;
    lmi_lattice_link *links = ok(a) ? lmi_allocate(&world->memory, count, sizeof *links) : NULL;
    a->out_of_memory = a->out_of_memory || (ok(a) && !links);
    for (uint32_t n = 0; n < count && ok(a); n++) {
        visit_link(a, l, &links[n]);
    }
    if (ok(a)) {
        visit_inborn(a, world, f, l);
    }
    if (ok(a)) {
        lm_result result = lmi_fracture_remake(world, body, links, count);
        a->out_of_memory = result == LM_ERROR_MEMORY;
        refuse_if(a, result != LM_OK && result != LM_ERROR_MEMORY);
    }
    lmi_release(&world->memory, links, count, sizeof *links);
}

/* ---- bodies that were cut ----
 *
 * The grain of bodies that were cut (grain.h), in snapshots: bonds, what regions were part of, the skin as it was given with what
 * it rode on, voxels with the links that are cut, seeds and bends. What follows from these is made again.
 */

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
    const bool given = body->skin.vertex_count > 0; /* it came with its skin; else that is made from what follows */
    refuse_if(a, a->mode == LOAD && given && (g->whole.vertex_count > 0 || !body->lineage));
    refuse_if(a, !given && !lmi_lineage_fits(body, &g->whole));
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
        lmi_body *body = lmi_pool_used(&world->bodies, n) ? lmi_body_in_step(world, n) : NULL;
        if (!body || body->lattice || body->octree) {
            continue;
        }
        bool has = body->grain != NULL;
        visit_bool(a, &has);
        if (!has || !ok(a)) {
            continue;
        }
        if (a->mode == LOAD && ok(a)) {
            body->grain = lmi_allocate(&world->memory, 1, sizeof *body->grain);
            a->out_of_memory = !body->grain;
        }
        if (ok(a)) {
            visit_grain(a, world, body, body->grain);
        }
    }
}
