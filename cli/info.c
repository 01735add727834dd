/* limber info: what a scene or a mesh contains, and what is wrong with it. */
#include "cli/cli.h"
#include "limber/mesh.h"
#include "limber/scene.h"
#include "limber/tets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

static void complain(uint32_t count, const char *what)
{
    if (count > 0) {
        printf("  problem     %u %s\n", (unsigned)count, what);
    }
}

/* Names of parts on one line, as many as fit. */
static void print_names(const lm_mesh_data *mesh)
{
    char line[100] = "";
    size_t length = 0;
    uint32_t shown = 0;
    for (; shown < mesh->part_count; shown++) {
        const char *name = mesh->names + mesh->parts[shown].name;
        size_t more = strlen(name) + 2;
        if (length + more >= sizeof line) break;
        length += (size_t)snprintf(line + length, sizeof line - length, "%s%s", shown > 0 ? ", " : "", name);
    }
    if (mesh->part_count == 0) return;
    printf("  named       %u: %s%s\n", (unsigned)mesh->part_count, line, shown < mesh->part_count ? " ..." : "");
}

static void print_mesh(const char *path, const lm_mesh_data *mesh, const lm_mesh_report *report)
{
    printf("%s: a mesh (%s)\n", path, mesh->format);
    printf("  vertices    %u", (unsigned)report->vertices);
    if (mesh->welded > 0) {
        printf(", welded from %u", (unsigned)(report->vertices + mesh->welded));
    }
    printf("%s%s\n", mesh->normals != NULL ? ", with normals" : "", mesh->colours != NULL ? ", with colours" : "");
    printf("  triangles   %u\n  parts       %u\n", (unsigned)report->triangles, (unsigned)report->parts);
    print_names(mesh);
    printf("  bounds      [%g, %g, %g] to [%g, %g, %g] m\n", (double)report->lower.x, (double)report->lower.y,
           (double)report->lower.z, (double)report->upper.x, (double)report->upper.y, (double)report->upper.z);
    printf("  area        %g m2\n", report->area);
    if (report->closed) {
        printf("  volume      %g m3, closed\n", report->volume);
    }
}

static void print_problems(const lm_mesh_report *report)
{
    if (report->triangles == 0) {
        printf("  problem     there are no triangles\n");
    } else if (report->degenerate_faces == report->triangles) {
        printf("  problem     not one triangle has an area\n");
    } else {
        complain(report->degenerate_faces, "triangles have no area");
    }
    complain(report->unused_vertices, "vertices are in no triangle");
    complain(report->duplicate_faces, "triangles are there twice");
    complain(report->open_edges, "edges are open");
    complain(report->nonmanifold_edges, "edges are in three triangles or more");
    complain(report->flipped_edges, "edges join triangles that turn opposite ways");
    if (report->closed && report->volume < 0.0) {
        printf("  problem     the surface is inside out\n");
    }
}

static int inform_mesh(const char *path)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    if (!lm_mesh_read(path, NULL, &mesh, &error)) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    lm_mesh_report report;
    lm_result result = lm_mesh_inspect(mesh.positions, mesh.vertex_count, mesh.triangles, mesh.triangle_count, &report);
    if (result == LM_OK) {
        print_mesh(path, &mesh, &report);
        print_problems(&report);
    }
    lm_mesh_free(&mesh);
    return result == LM_OK ? CLI_OK : cli_fail(CLI_FAILED, "%s: %s", path, lm_result_text(result));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tetrahedra
 */

static void print_tets(const char *path, const lm_tets_data *tets, const lm_mesh_report *surface)
{
    printf("%s: tetrahedra (%s)\n", path, tets->format);
    printf("  nodes       %u\n  tetrahedra  %u\n", (unsigned)tets->vertex_count, (unsigned)tets->tet_count);
    printf("  bounds      [%g, %g, %g] to [%g, %g, %g] m\n", (double)surface->lower.x, (double)surface->lower.y,
           (double)surface->lower.z, (double)surface->upper.x, (double)surface->upper.y, (double)surface->upper.z);
    printf("  volume      %g m3\n", tets->volume);
    printf("  surface     %u triangles, %g m2, %u part%s\n", (unsigned)tets->triangle_count, surface->area,
           (unsigned)surface->parts, surface->parts == 1 ? "" : "s");
    if (tets->others > 0) {
        printf("  passed over %llu elements that are no tetrahedra\n", (unsigned long long)tets->others);
    }
    if (tets->turned) {
        printf("  turned      every tetrahedron is the other way round in the file\n");
    }
}

/* What is put right, and what a body would be refused for. */
static void print_tet_problems(const lm_tets_data *tets)
{
    complain(tets->dropped, "nodes are in no tetrahedron (left out)");
    complain(tets->repeated, "tetrahedra are there twice (left out)");
    complain(tets->crowded, "faces belong to three tetrahedra or more: some of them overlap");
    if (tets->flat > 0) {
        printf("  problem     %u tetrahedra have no volume, the first is %llu (left out)\n", (unsigned)tets->flat,
               (unsigned long long)tets->first_flat_tag);
    }
    if (tets->inverted > 0) {
        printf("  problem     %u tetrahedra are inverted, the first is %llu (a body refuses them)\n",
               (unsigned)tets->inverted, (unsigned long long)tets->first_inverted_tag);
    }
}

static int inform_tets(const char *path)
{
    lm_tets_data tets;
    lm_mesh_error error;
    lm_tets_options options = {.faulty = true};
    if (!lm_tets_read(path, &options, &tets, &error)) {
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    lm_mesh_report report;
    lm_result result = lm_mesh_inspect(tets.positions, tets.vertex_count, tets.triangles, tets.triangle_count, &report);
    if (result == LM_OK) {
        print_tets(path, &tets, &report);
        print_tet_problems(&tets);
    }
    lm_tets_free(&tets);
    return result == LM_OK ? CLI_OK : cli_fail(CLI_FAILED, "%s: %s", path, lm_result_text(result));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Scenes
 */

/* Bodies of one entry, told together. */
typedef struct entry_group {
    const char *name;
    size_t name_length;
    uint32_t bodies, particles, regions, memberships;
    uint32_t octree_nodes;
    uint64_t summation_nodes;
    double mass;
    uint32_t free_particles; /* in no region */
    uint32_t poor_regions;   /* with fewer particles than their mode can use */
    lm_material material;
    float young; /* Pa; 0: the material is in hertz */
} entry_group;

static lm_result count_regions(const lm_world *world, lm_body_id body, const lm_body_info *info, entry_group *group)
{
    uint32_t *offsets = malloc((info->regions + 1u) * sizeof *offsets);
    uint32_t *members = malloc((info->memberships + 1u) * sizeof *members);
    bool *used = calloc(info->particles + 1u, sizeof *used);
    lm_result result = offsets == NULL || members == NULL || used == NULL
                           ? LM_ERROR_MEMORY
                           : lm_body_get_regions(world, body, offsets, members);
    if (result == LM_OK) {
        uint32_t wanted = group->material.mode == LM_MODE_QUADRATIC ? 10 : 4;
        for (uint32_t i = 0; i < info->regions; i++) {
            group->poor_regions += offsets[i + 1] - offsets[i] < wanted ? 1 : 0;
        }
        for (uint32_t i = 0; i < info->memberships; i++) {
            used[members[i]] = true;
        }
        for (uint32_t i = 0; i < info->particles; i++) {
            group->free_particles += used[i] ? 0 : 1;
        }
    }
    free(offsets);
    free(members);
    free(used);
    return result;
}

static void print_group(const entry_group *group)
{
    static const char *const modes[] = {"rigid", "linear", "quadratic"};
    const lm_material *material = &group->material;
    printf("  %-11.*s %u bod%s, %u particles, %u regions (%.2f a particle), %g kg, %s, ", (int)group->name_length,
           group->name, (unsigned)group->bodies, group->bodies == 1 ? "y" : "ies", (unsigned)group->particles,
           (unsigned)group->regions, group->particles > 0 ? (double)group->memberships / group->particles : 0.0,
           group->mass, modes[material->mode]);
    if (material->stiffness == LM_STIFFNESS_ALPHA) {
        printf("alpha %g\n", (double)material->alpha);
    } else if (group->young > 0.0f) {
        printf("Young's modulus %g Pa, Poisson's ratio %g, damping ratio %g\n", (double)group->young,
               (double)material->poisson, (double)material->damping_ratio);
    } else {
        printf("%g Hz, damping ratio %g\n", (double)material->hertz, (double)material->damping_ratio);
    }
    if (group->octree_nodes > 0) {
        printf("  %-11s an octree of %u cells of all sizes; a region is %.2f of them\n", "",
               (unsigned)group->octree_nodes, (double)group->summation_nodes / group->regions);
    }
    complain(group->free_particles, "particles are in no region and move freely");
    complain(group->poor_regions, "regions have too few particles for their mode");
}

static int inform_bodies(const lm_scene *scene_read, const lm_world *world)
{
    entry_group current = {.name = ""};
    for (uint32_t i = 0; i < lm_scene_body_count(scene_read); i++) {
        lm_scene_body body = lm_scene_get_body(scene_read, i);
        size_t stem = strcspn(body.name, "[");
        if (stem != current.name_length || strncmp(current.name, body.name, stem) != 0) {
            if (current.bodies > 0) {
                print_group(&current);
            }
            current = (entry_group){.name = body.name, .name_length = stem};
            lm_body_get_material(world, body.id, &current.material);
        }
        lm_body_info info;
        lm_result result = lm_body_get_info(world, body.id, &info);
        result = result ? result : count_regions(world, body.id, &info, &current);
        if (result != LM_OK) {
            return cli_fail(CLI_FAILED, "%s: %s", body.name, lm_result_text(result));
        }
        current.bodies++;
        current.young = info.young;
        current.particles += info.particles;
        current.regions += info.regions;
        current.memberships += info.memberships;
        current.octree_nodes += info.octree_nodes;
        current.summation_nodes += info.summation_nodes;
        current.mass += (double)info.mass;
    }
    if (current.bodies > 0) {
        print_group(&current);
    }
    return CLI_OK;
}

static int inform_scene(const char *name)
{
    lm_scene_error error;
    lm_scene *scene_read = lm_scene_open(name, NULL, 0, &error);
    lm_world *world = NULL;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    if (scene_read == NULL || lm_scene_make_world(scene_read, &def, &world, &error) != LM_OK) {
        lm_scene_close(scene_read);
        return cli_fail(CLI_FAILED, "%s", error.text);
    }
    lm_scene_contents contents = lm_scene_get_contents(scene_read);
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    const char *figure = lm_scene_figure(scene_read);
    printf("%s: %s%s%s%s\n", name, lm_scene_title(scene_read), figure[0] != '\0' ? " [" : "", figure,
           figure[0] != '\0' ? "]" : "");
    uint32_t substeps = lm_world_get_substeps(world);
    printf("  frames      %u", (unsigned)lm_scene_frames(scene_read));
    if (substeps > 0) {
        printf(", %u substep%s each\n", (unsigned)substeps, substeps == 1 ? "" : "s");
    } else {
        printf(", in as many substeps as the materials need\n");
    }
    printf("  bodies      %u, %u particles, %u regions, %.1f MB\n", (unsigned)stats.bodies, (unsigned)stats.particles,
           (unsigned)stats.regions, (double)stats.memory / 1e6);
    int code = inform_bodies(scene_read, world);
    printf("  colliders %u, movers %u, pins %u, joints %u, drags %u, fields %u, events %u, expectations %u\n",
           (unsigned)contents.colliders, (unsigned)contents.movers, (unsigned)contents.pins, (unsigned)contents.joints,
           (unsigned)contents.drags, (unsigned)contents.fields, (unsigned)contents.events,
           (unsigned)contents.expectations);
    if (contents.expectations == 0) {
        printf("  problem     nothing is expected: --check has nothing to check\n");
    }
    lm_world_destroy(world);
    lm_scene_close(scene_read);
    return code;
}

static int run(const cli_command *command, int argc, char **argv)
{
    const char *file = NULL;
    int code = cli_parse(command, argc, argv, NULL, 0, &file, 1);
    if (code >= 0) {
        return code;
    }
    return lm_tets_is_name(file) ? inform_tets(file) : lm_mesh_is_name(file) ? inform_mesh(file) : inform_scene(file);
}

const cli_command cli_info = {"info", "FILE", "tells what a scene or a mesh contains, and what is wrong with it", run};
