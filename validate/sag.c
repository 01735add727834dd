/* What a mesh with the library's defaults does on a floor: nothing is set but the mesh, the sampling and the number of particles. */
#include "limber/shapes.h"
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct standing {
    double sag; /* share of its height that it has lost */
    bool rests; /* nothing moves faster than a hundredth of its size a second */
    lm_body_info info;
} standing;

static void set_mesh(const lm_shape_mesh *mesh, sampling kind, uint32_t particles, lm_body_def *def)
{
    if (kind == LATTICE) {
        def->lattice.vertices = mesh->vertices;
        def->lattice.vertex_count = mesh->vertex_count;
        def->lattice.triangles = mesh->triangles;
        def->lattice.triangle_count = mesh->triangle_count;
        def->lattice.particles = particles;
    } else if (kind == OCTREE) {
        def->octree.vertices = mesh->vertices;
        def->octree.vertex_count = mesh->vertex_count;
        def->octree.triangles = mesh->triangles;
        def->octree.triangle_count = mesh->triangle_count;
        def->octree.particles = particles;
    } else {
        def->tets.vertices = mesh->vertices;
        def->tets.vertex_count = mesh->vertex_count;
        def->tets.triangles = mesh->triangles;
        def->tets.triangle_count = mesh->triangle_count;
        def->tets.particles = particles;
    }
}

/* The body carries the mesh. */
static lm_result add_skin(lm_world *world, lm_body_id body, const lm_shape_mesh *mesh)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = LM_SKIN_PARTICLES;
    skin.vertices = mesh->vertices;
    skin.vertex_count = mesh->vertex_count;
    skin.triangles = mesh->triangles;
    skin.triangle_count = mesh->triangle_count;
    return lm_body_set_skin(world, body, &skin);
}

/* By how much of its height what was highest has come down over the floor (y = 0) or, where it is higher, the lowest of the mesh. Of
 * the mesh turned as it is: ducks and teddies rock. */
static double sag_of(const lm_shape_mesh *mesh, const lm_vec3 *at, const lm_pose *pose)
{
    double x = pose->rotation.x, y = pose->rotation.y, z = pose->rotation.z, w = pose->rotation.w;
    double up[3] = {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)};
    double low = INFINITY, high = -INFINITY, from = INFINITY, sinks = 0.0, count = 0.0;
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t n = 0; n < mesh->vertex_count; n++) {
            lm_vec3 p = mesh->vertices[n];
            double h = (double)p.x * up[0] + (double)p.y * up[1] + (double)p.z * up[2];
            if (turn == 0) {
                low = fmin(low, h);
                high = fmax(high, h);
                from = fmin(from, (double)at[n].y);
            } else if (h > high - 0.03 * (high - low)) {
                sinks += h - low - ((double)at[n].y - fmax(from, 0.0));
                count += 1.0;
            }
        }
    }
    return sinks / count / (high - low);
}

static void stay_silent(lm_result result, const char *line, void *user) { (void)result, (void)line, (void)user; }

static bool stand(report *r, const lm_shape_mesh *mesh, sampling kind, uint32_t particles, double size, standing *out)
{
    lm_world *world = NULL;
    lm_world_def world_def = lm_world_def_default();
    lm_body_def def = lm_body_def_default();
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id floor_id;
    lm_body_id body;
    lm_pose pose;
    lm_vec3 *at = calloc(mesh->vertex_count, sizeof *at);
    world_def.workers = 1;
    world_def.log = (lm_log){stay_silent, NULL};
    set_mesh(mesh, kind, particles, &def);
    def.pose.position.y = 0.5 * size;
    lm_result result = at ? lm_world_create(&world_def, &world) : LM_ERROR_MEMORY;
    result = result ? result : lm_collider_create(world, &floor, &floor_id);
    result = result ? result : lm_body_create(world, &def, &body);
    result = result ? result : add_skin(world, body, mesh);
    for (int frame = 0; frame < 180 && result == LM_OK; frame++) {
        result = lm_world_step(world, 1.0 / 60.0);
    }
    result = result ? result : lm_body_get_info(world, body, &out->info);
    result = result ? result : lm_body_get_pose(world, body, &pose);
    result = result ? result : lm_body_get_skin(world, body, lm_dvec3_zero(), at, NULL);
    out->sag = result ? 0.0 : sag_of(mesh, at, &pose);
    out->rests = result == LM_OK && (double)out->info.max_speed < 0.01 * size;
    lm_world_destroy(world);
    free(at);
    return result == LM_OK || report_fail(r, "a default body could not be made: %s", lm_result_text(result));
}

static bool add_case(report *r, const char *name, sampling kind, uint32_t particles, double size, double *sag)
{
    lm_shape_def def = lm_shape_def_default();
    lm_shape_mesh mesh;
    lm_vec3 natural = lm_shape_natural_size(name);
    float scale = (float)(size / (double)natural.y);
    def.name = name;
    def.size = (lm_vec3){scale * natural.x, (float)size, scale * natural.z};
    def.detail = 16;
    if (lm_shape_make_mesh(&def, &mesh) != LM_OK) {
        return report_fail(r, "the shape %s could not be made", name);
    }
    standing s;
    bool ok = stand(r, &mesh, kind, particles, size, &s);
    lm_shape_mesh_free(&mesh);
    if (ok) {
        report_row(r, "%s|%g|%s|%u|%.3f|%s", name, size, sampling_name(kind), s.info.particles, s.sag,
                   s.rests ? "yes" : "no");
        report_check(r, "sag", s.sag, "%s of %g m, %s, %u particles", name, size, sampling_name(kind), particles);
        *sag = s.sag;
    }
    return ok;
}

bool study_default(report *r)
{
    static const uint32_t counts[] = {500, 3000, 20000};
    static const char *const names[] = {"box", "duck", "teddy"};
    double sag;
    report_study(r, "default", "A mesh with the defaults",
                 "A mesh stands on a floor for three seconds with everything at the library's default: it should lose "
                 "a few percent of its height, whatever\n"
                 "its size and resolution, and come to rest.");
    report_plot p = {.plot = {.title = "Sag of a default mesh of a metre (duck)",
                              .x_label = "particles",
                              .y_label = "share of its height that it loses in 3 s",
                              .x_log = true,
                              .band_low = 0.01,
                              .band_high = 0.08}};
    report_columns(r, "shape|height, m|sampling|particles|sag|at rest after 3 s");
    for (int kind = LATTICE; kind < SAMPLING_COUNT; kind++) {
        uint32_t series = report_series(&p, true, false, "%s", sampling_name((sampling)kind));
        for (int n = 0; n < 3; n++) {
            for (int shape = 0; shape < 3; shape++) {
                if (r->options->quick && (n > 0 || shape != 1)) {
                    continue;
                }
                if (!add_case(r, names[shape], (sampling)kind, counts[n], 1.0, &sag)) {
                    return false;
                }
                if (shape == 1) {
                    report_point(&p, series, counts[n], sag);
                }
            }
        }
        for (int n = 0; n < 2 && !r->options->quick; n++) {
            if (!add_case(r, "duck", (sampling)kind, 3000, n ? 100.0 : 0.01, &sag)) {
                return false;
            }
        }
    }
    report_end_plot(r, &p, "default");
    report_end_table(r);
    return true;
}
