/*
 * Bodies of tetrahedra: a body of points whose regions are the one-rings of its mesh. Everything after that is as for any
 * other clusters; the tetrahedra are kept for skins, which ride on them.
 */
#include "tets/tets.h"
#include "world/body.h"

#include <stdio.h>

static const char *def_fault(const lm_body_def *def)
{
    const lm_tets *tets = &def->tets;
    if (!tets->vertices) {
        return "tets need vertices";
    }
    if (def->points || def->point_count || def->lattice.vertices || def->lattice.cells) {
        return "a body has points, a lattice or tets, not several of them";
    }
    if (!tets->tets == !tets->triangles) {
        return "tets need tetrahedra, or the triangles of a surface, and not both";
    }
    if (tets->tets && (tets->spacing != 0.0f || tets->particles || tets->triangle_count)) {
        return "tets.spacing and tets.particles are for a surface: the tetrahedra are given";
    }
    if ((unsigned)tets->mass >= LM_TETS_MASS_COUNT) {
        return "tets.mass is not one of lm_tets_mass";
    }
    return NULL;
}

static lm_result divide_surface(lm_world *world, const lm_tets *def, lmi_tets *tets, char *fault)
{
    lmi_voxel_def mesh = {.vertices = def->vertices,
                          .vertex_count = def->vertex_count,
                          .triangles = def->triangles,
                          .triangle_count = def->triangle_count,
                          .spacing = (double)def->spacing,
                          .particles = def->particles};
    lmi_voxels voxels;
    lm_result result = lmi_voxels_make(&world->memory, &mesh, &voxels, fault);
    if (result != LM_OK) {
        return result;
    }
    result = lmi_tets_of_voxels(&world->memory, &voxels, tets);
    lmi_voxels_free(&world->memory, &voxels);
    if (result != LM_OK) {
        snprintf(fault, LMI_TETS_FAULT_SIZE, "%s",
                 result == LM_ERROR_LIMIT ? "more than 2^26 tetrahedra" : "out of memory");
        return result;
    }
    lm_tets made = {
        .vertices = tets->points, .vertex_count = tets->point_count, .tets = tets->tets, .tet_count = tets->tet_count};
    lmi_tets checked;
    result = lmi_tets_copy(&world->memory, &made, &checked, fault); /* where a spacing is too fine for its distance */
    lmi_tets_free(&world->memory, &checked);
    return result;
}

/* The masses of the particles, or null where they are equal shares. */
static float *share_mass(lm_world *world, const lm_body_def *def, const lmi_tets *tets, bool *ok)
{
    *ok = true;
    if (def->masses || def->tets.mass == LM_TETS_MASS_EQUAL || !(def->mass > 0.0f && def->mass <= 1e12f)) {
        return NULL; /* a mass that cannot be is refused with the rest of the definition */
    }
    float *masses = lmi_allocate(&world->memory, tets->point_count, sizeof *masses);
    double *shares = lmi_allocate(&world->memory, tets->point_count, sizeof *shares);
    *ok = masses && shares;
    if (*ok) {
        lmi_tets_volume_shares(tets, shares);
        for (uint32_t n = 0; n < tets->point_count; n++) {
            masses[n] = (float)((double)def->mass * shares[n]);
        }
    }
    lmi_release(&world->memory, shares, tets->point_count, sizeof *shares);
    return masses;
}

/* The same body as points with one-rings. */
static lm_result create_rings(lm_world *world, const lm_body_def *def, const lmi_tets *tets, uint32_t *slot)
{
    bool ok;
    lm_body_def plain = *def;
    float *masses = share_mass(world, def, tets, &ok);
    plain.masses = masses ? masses : def->masses;
    plain.points = tets->points;
    plain.point_count = tets->point_count;
    plain.clusters.kind = LM_CLUSTERS_RINGS;
    plain.clusters.elements = tets->tets;
    plain.clusters.element_count = tets->tet_count;
    plain.clusters.element_size = 4;
    plain.tets.tets = tets->tets;
    plain.tets.tet_count = tets->tet_count;
    lm_result result = ok ? lmi_body_create_cloud(world, &plain, slot)
                          : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    lmi_release(&world->memory, masses, tets->point_count, sizeof *masses);
    return result;
}

lm_result lmi_tets_body_create(lm_world *world, const lm_body_def *def, uint32_t *slot)
{
    const char *wrong = def_fault(def);
    if (wrong) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", wrong);
    }
    char fault[LMI_TETS_FAULT_SIZE];
    lmi_tets tets = {0};
    lm_result result = def->tets.tets ? lmi_tets_copy(&world->memory, &def->tets, &tets, fault)
                                      : divide_surface(world, &def->tets, &tets, fault);
    result =
        result == LM_OK ? create_rings(world, def, &tets, slot) : lmi_fail(world, result, "lm_body_create: %s", fault);
    lmi_tets_free(&world->memory, &tets);
    return result;
}

lm_result lm_body_get_tets(const lm_world *world, lm_body_id id, uint32_t *tets)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_tets");
    if (!body) {
        return LM_ERROR_ID;
    }
    for (size_t n = 0; n < (size_t)body->tet_count * 4; n++) {
        tets[n] = body->order[body->tets[n]];
    }
    return LM_OK;
}
