/*
 * Bodies that can break, in snapshots: how they break, and which links have broken. Regions, chips, grains and the cut skin
 * are made again.
 */
#include "base/compiler.h"
#include "fracture/chips.h"
#include "fracture/fracture.h"
#include "snapshot/archive.h"

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

/* What the links make of a body that was read: breaks as they were, in their order by place. */
static void restore(archive *a, lm_world *world, lmi_body *body, const lmi_lattice_link *links, uint32_t count)
{
    lmi_fracture *f = body->fracture;
    lmi_lattice_breaks breaks = {links, count};
    lm_result result = lmi_fracture_start(world, body, &breaks, false);
    a->out_of_memory = result == LM_ERROR_MEMORY;
    refuse_if(a, result != LM_OK && result != LM_ERROR_MEMORY);
    f->chips = ok(a) ? lmi_allocate(&world->memory, body->place_count, sizeof *f->chips) : NULL;
    f->deep = ok(a) ? lmi_allocate(&world->memory, lmi_fracture_deep_blocks(body), sizeof *f->deep) : NULL;
    a->out_of_memory = a->out_of_memory || (ok(a) && (!f->chips || !f->deep));
    if (ok(a) && f->def.grain > 0.0f) {
        f->grains = lmi_allocate(&world->memory, body->place_count, sizeof *f->grains);
        a->out_of_memory = !f->grains;
    }
    if (!ok(a)) {
        return;
    }
    lmi_fracture_find_deep(body);
    lmi_lattice_find_chips(&body->lattice->shape, f->chips);
    for (uint32_t n = 0; n < count; n++) {
        f->links_hash += lmi_fracture_link_hash(links[n]);
        refuse_if(a, f->chips[links[n].particle] == f->chips[lmi_lattice_link_end(&body->lattice->shape, links[n])]);
    }
    lmi_fracture_derive(body);
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
        return;
    }
    const uint32_t count = f->broken;
    lmi_lattice_link *links = ok(a) ? lmi_allocate(&world->memory, count, sizeof *links) : NULL;
    a->out_of_memory = a->out_of_memory || (ok(a) && !links);
    for (uint32_t n = 0; n < count && ok(a); n++) {
        visit_link(a, l, &links[n]);
    }
    if (ok(a)) {
        restore(a, world, body, links, count);
    }
    lmi_release(&world->memory, links, count, sizeof *links);
}
