#include "world/elastic.h"

#include "base/dmath.h"
#include "lattice/lattice_body.h"
#include "octree/octree_body.h"
#include "world/body.h"
#include "world/limb.h"

#include <string.h>

#define SIDE (2 * LMI_LATTICE_MAX_WIDTH + 1)
#define GRAVITY 9.81
#define MOST_BETA 0.95         /* beyond it the volume is kept by too much for a step */
#define LEAST_HELD (1.0 / 9.0) /* share of a region that a layer of particles is, at the surface, at width 4 */
#define LEAST_SPREAD 0.2       /* with less, what is beyond the fit of a region would be too free */
#define RESTS 5.0              /* powers of e by which a body of which nothing is said has lost its swing */
#define REST_SECONDS 3.0       /* within this time */
#define LEAST_SQUARE 0.01      /* of the mean: what is smaller yet (two parts of one cell) is softer than asked */
#define SAMPLED 4096u          /* regions of a lattice whose second moment is found */

lm_stiffness lmi_stiffness_of(const lm_material *m)
{
    if (m->stiffness != LM_STIFFNESS_GIVEN) {
        return m->stiffness;
    }
    return m->young > 0.0f ? LM_STIFFNESS_YOUNG : m->sag > 0.0f ? LM_STIFFNESS_SAG : LM_STIFFNESS_HERTZ;
}

double lmi_material_hertz(const lm_material *m)
{
    return m->stiffness == LM_STIFFNESS_GIVEN && m->hertz == 0.0f ? 8.0 : (double)m->hertz;
}

bool lmi_is_elastic(const lm_material *m)
{
    lm_stiffness kind = lmi_stiffness_of(m);
    return kind == LM_STIFFNESS_YOUNG || kind == LM_STIFFNESS_SAG;
}

static double poisson_of(const lm_material *m)
{
    double most = MOST_BETA / (3.0 - MOST_BETA), nu = (double)m->poisson;
    return nu < most ? nu : most;
}

lm_material lmi_material_resolved(const lm_material *material)
{
    lm_material m = *material;
    if (lmi_is_elastic(&m)) {
        double nu = poisson_of(&m);
        m.beta = (float)(3.0 * nu / (1.0 + nu));
    }
    return m;
}

/* Of a mesh, and nothing is said of its stiffness. */
static bool is_default(const lm_body_def *def)
{
    const lm_material *m = &def->material;
    bool meshed = def->lattice.triangles || def->octree.triangles || def->tets.triangles;
    return meshed && m->stiffness == LM_STIFFNESS_GIVEN && m->hertz == 0.0f && m->young == 0.0f && m->sag == 0.0f;
}

lm_material lmi_material_of(const lm_body_def *def)
{
    lm_material m = def->material;
    if (is_default(def)) {
        m.sag = LM_DEFAULT_SAG;
    }
    return lmi_material_resolved(&m);
}

/* --- volume and height --- */

typedef struct mesh {
    const lm_vec3 *vertices;
    const uint32_t *triangles;
    uint32_t triangle_count;
} mesh;

/* By the signed tetrahedra under its triangles, seen from its first vertex. */
static double volume_of_mesh(const mesh *m)
{
    double six = 0.0;
    lm_dvec3 from = m->triangle_count ? dvec_from(m->vertices[m->triangles[0]]) : lm_dvec3_zero();
    for (size_t n = 0; n < m->triangle_count; n++) {
        lm_dvec3 p[3];
        for (int i = 0; i < 3; i++) {
            p[i] = dvec_sub(dvec_from(m->vertices[m->triangles[3 * n + (size_t)i]]), from);
        }
        six += dvec_dot(p[0], dvec_cross(p[1], p[2]));
    }
    return fabs(six) / 6.0;
}

/* The box that has the same mass moments as the particles: for clouds of points, of which nothing else is known. */
static double volume_of_cloud(const lmi_body *body)
{
    lm_dvec3 middle = lm_dvec3_zero();
    double covariance[9] = {0}, values[3], vectors[9], volume = 1.0;
    LMI_PARTICLES_EACH(body, n)
    {
        middle = dvec_add(middle, dvec_scale(dvec_from(body->rest[n]), body->mass[n] / body->total_mass));
    }
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[n]), middle);
        double p[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++) {
            covariance[i] += body->mass[n] / body->total_mass * p[i / 3] * p[i % 3];
        }
    }
    lmi_symmetric_eigen(3, covariance, values, vectors);
    double longest = sqrt(12.0 * fmax(values[0], 0.0));
    for (int k = 0; k < 3; k++) { /* a sheet or a line is not without volume */
        volume *= fmax(sqrt(12.0 * fmax(values[k], 0.0)), 0.02 * longest);
    }
    return volume;
}

/* Of what the particles stand for, whether it fills the mesh or stands out beyond it. */
static double volume_of_cells(const lmi_body *body)
{
    double volume = 0.0;
    if (body->lattice) {
        volume = body->volume; /* it was made with that */
    } else if (body->octree) {
        double s = body->octree->tree.voxels.spacing;
        volume = (double)body->octree->tree.voxel_count * s * s * s;
    } else if (body->tet_count) {
        for (size_t n = 0; n < body->tet_count; n++) {
            const uint32_t *tet = body->tets + 4 * n;
            lm_dvec3 from = dvec_from(body->rest[tet[0]]), a = dvec_sub(dvec_from(body->rest[tet[1]]), from);
            lm_dvec3 b = dvec_sub(dvec_from(body->rest[tet[2]]), from),
                     c = dvec_sub(dvec_from(body->rest[tet[3]]), from);
            volume += fabs(dvec_dot(a, dvec_cross(b, c))) / 6.0;
        }
    } else {
        volume = volume_of_cloud(body);
    }
    return volume;
}

static mesh mesh_of(const lm_body_def *def)
{
    if (def->lattice.triangles && !def->lattice.shell) {
        return (mesh){def->lattice.vertices, def->lattice.triangles, def->lattice.triangle_count};
    }
    if (def->octree.triangles && !def->octree.shell) {
        return (mesh){def->octree.vertices, def->octree.triangles, def->octree.triangle_count};
    }
    return (mesh){def->tets.vertices, def->tets.triangles, def->tets.triangles ? def->tets.triangle_count : 0};
}

/* Returns the volume that the particles stand for. `sheet`: the mesh encloses next to nothing of it. */
static double measure(lmi_body *body, const lm_body_def *def, bool *sheet)
{
    double cells = volume_of_cells(body), low = INFINITY, high = -INFINITY;
    mesh m = mesh_of(def);
    double inside = volume_of_mesh(&m); /* of a mesh with holes this may be anything */
    *sheet = m.triangle_count > 0 && !(inside > 0.1 * cells);
    body->volume = !*sheet && inside > 0.0 && inside < 1.05 * cells ? inside : cells;
    body->volume = body->volume > 1e-30 ? body->volume : 1e-30;
    dmat3 rotation = lmi_dmat_from_quat(def->pose.rotation);
    LMI_PARTICLES_EACH(body, n)
    {
        double y = dmat_apply(&rotation, dvec_from(body->rest[n])).y;
        low = fmin(low, y);
        high = fmax(high, y);
    }
    for (size_t n = 0; n < 3 * (size_t)m.triangle_count; n++) {
        double y = dmat_apply(&rotation, dvec_from(m.vertices[m.triangles[n]])).y;
        low = n == 0 ? y : fmin(low, y);
        high = n == 0 ? y : fmax(high, y);
    }
    double least = 0.01 * body->rest_size;
    body->height = high - low > least ? high - low : least > 0.0 ? least : 1.0;
    return cells;
}

/* --- second moments --- */

/* Adds a region of three <x²>, the largest first. */
static void add_shape(lmi_elastic_shape *shape, const double values[3], double mass)
{
    double longest = values[0], middle = fmax(values[1], 0.0), least = fmax(values[2], 0.0);
    if (longest > 0.0) {
        double sum =
            middle * least + longest * least + longest * middle; /* the product times the sum of the inverses */
        shape->mass += mass;
        shape->across += mass * 0.5 * (middle + least) / longest;
        shape->bulk += sum > 0.0 ? mass * 3.0 * middle * least / sum : 0.0;
    }
}

void lmi_elastic_take_shape(lmi_body *body, const lmi_elastic_shape *shape)
{
    body->across = shape->mass > 0.0 ? fmin(shape->across / shape->mass, 1.0) : 1.0;
    body->swelling = shape->mass > 0.0 ? fmin(shape->bulk / shape->mass, 1.0) : 1.0;
}

double lmi_elastic_square_of(const double covariance[9], lm_dvec3 off, double mass, lmi_elastic_shape *shape)
{
    double copy[9], values[3], vectors[9];
    memcpy(copy, covariance, sizeof copy);
    double mean = (covariance[0] + covariance[4] + covariance[8] + dvec_dot(off, off)) / 3.0;
    lmi_symmetric_eigen(3, copy, values, vectors);
    add_shape(shape, values, mass);
    return fmax(values[0], mean);
}

/* What a particle counts in a region. */
static double counts(const lmi_body *body, uint32_t place, bool alike)
{
    return alike ? 1.0 : body->lattice ? body->mass[place] / body->lattice->shape.degree[place] : body->mass[place];
}

typedef struct particle_moments {
    double mass, covariance[9]; /* about the middle */
    lm_dvec3 middle;
} particle_moments;

/* Of some particles, by their masses or all alike. */
static particle_moments moments_of(const lmi_body *body, const uint32_t *members, uint32_t count, bool alike)
{
    particle_moments of = {0};
    for (uint32_t n = 0; n < count; n++) {
        double m = counts(body, members[n], alike);
        of.mass += m;
        of.middle = dvec_add(of.middle, dvec_scale(dvec_from(body->rest[members[n]]), m));
    }
    of.middle = dvec_scale(of.middle, 1.0 / of.mass);
    for (uint32_t n = 0; n < count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[members[n]]), of.middle);
        double p[3] = {d.x, d.y, d.z}, share = counts(body, members[n], alike) / of.mass;
        for (int i = 0; i < 9; i++) {
            of.covariance[i] += share * p[i / 3] * p[i % 3];
        }
    }
    return of;
}

/* Around one of them or (LMI_NONE) around none. */
static double square_of(const lmi_body *body, const uint32_t *members, uint32_t count, uint32_t around, bool alike,
                        lmi_elastic_shape *shape)
{
    particle_moments of = moments_of(body, members, count, alike);
    lm_dvec3 off = around == LMI_NONE ? lm_dvec3_zero() : dvec_sub(of.middle, dvec_from(body->rest[around]));
    return lmi_elastic_square_of(of.covariance, off, of.mass, shape);
}

double lmi_elastic_square(const lmi_body *body, uint32_t r, lmi_elastic_shape *shape)
{
    uint32_t first = body->region_offsets[r], count = body->region_offsets[r + 1] - first;
    bool ring = body->tet_count > 0 && body->region_count == body->particle_count && !body->grain;
    return square_of(body, body->members + first, count, ring ? body->place[r] : LMI_NONE, false, shape);
}

static double spread_of(double too_much, double square)
{
    double spread = square > 0.0 ? 1.0 - too_much / square : 1.0;
    return spread > LEAST_SPREAD ? spread : LEAST_SPREAD;
}

/* 5/3 of the mean variance along an axis of the corners of tetrahedra, by their volumes: 4/5 is what lumped masses have too much, the
 * rest was chosen by beams of 4 to 12 cells. */
static double lumped_of_tets(const lmi_body *body)
{
    double sum = 0.0, volume = 0.0;
    for (size_t n = 0; n < body->tet_count; n++) {
        lm_dvec3 at[4], middle = lm_dvec3_zero();
        double squares = 0.0;
        for (int i = 0; i < 4; i++) {
            at[i] = dvec_from(body->rest[body->tets[4 * n + (size_t)i]]);
            middle = dvec_add(middle, dvec_scale(at[i], 0.25));
        }
        for (int i = 0; i < 4; i++) {
            lm_dvec3 d = dvec_sub(at[i], middle);
            squares += 0.25 * dvec_dot(d, d) / 3.0;
        }
        double six = fabs(dvec_dot(dvec_sub(at[1], at[0]), dvec_cross(dvec_sub(at[2], at[0]), dvec_sub(at[3], at[0]))));
        sum += 5.0 / 3.0 * squares * six;
        volume += six;
    }
    return volume > 0.0 ? sum / volume : 0.0;
}

void lmi_elastic_take_spread(lmi_body *body)
{
    double sum = 0.0, mass = 0.0;
    for (uint32_t r = 0; body->tet_count && r < body->region_count; r++) {
        double m = body->regions[r].inverse_mass > 0.0f ? 1.0 / (double)body->regions[r].inverse_mass : 0.0;
        sum += m * body->regions[r].square;
        mass += m;
    }
    body->spread = body->tet_count && mass > 0.0 ? spread_of(lumped_of_tets(body), sum / mass) : 1.0;
}

double lmi_elastic_least(const lmi_region *regions, uint32_t count)
{
    double least = INFINITY, sum = 0.0;
    uint32_t strained = 0;
    for (uint32_t r = 0; r < count; r++) {
        if (regions[r].square > 0.0) {
            least = fmin(least, regions[r].square);
            sum += regions[r].square;
            strained++;
        }
    }
    return strained ? fmax(least, LEAST_SQUARE * sum / strained) : 1.0; /* single particles: nothing is strained */
}

static double square_of_lattice(lmi_body *body)
{
    lmi_elastic_shape shape = {0}, unused = {0};
    uint32_t every = 1 + body->particle_count / SAMPLED;
    double fullest = 0.0;
    uint32_t most = 0;
    for (uint32_t n = 0; n < body->particle_count; n += every) {
        uint32_t in[SIDE * SIDE * SIDE], place = body->place[n];
        uint32_t count = lmi_lattice_region(&body->lattice->shape, place, in);
        double square = square_of(body, in, count, place, true, &unused);
        fullest = count > most || (count == most && square > fullest) ? square : fullest;
        most = count > most ? count : most;
        square_of(body, in, count, place, false, &shape);
    }
    lmi_elastic_take_shape(body, &shape);
    return fullest > 0.0 ? fullest : 1.0;
}

/* --- what bears its weight --- */

static void add_lattice(lmi_load *load, const lmi_body *body)
{
    uint32_t every = 1 + body->particle_count / SAMPLED;
    for (uint32_t n = 0; n < body->particle_count; n += every) {
        uint32_t in[SIDE * SIDE * SIDE], count = lmi_lattice_region(&body->lattice->shape, body->place[n], in);
        particle_moments m = moments_of(body, in, count, false);
        lmi_load_add(load, m.mass, m.middle, m.covariance, body->square);
    }
}

static void add_regions(lmi_load *load, const lmi_body *body)
{
    for (uint32_t r = 0; r < body->region_count; r++) {
        const lmi_region *region = &body->regions[r];
        double c[9] = {0}, whole = region->extent[0] * region->extent[0];
        for (int i = 0; i < 27; i++) { /* axes diag(extent²) axes^T */
            int row = i / 9, column = i / 3 % 3, k = i % 3;
            double d = region->extent[k];
            c[3 * row + column] += region->axes.m[row][k] * region->axes.m[column][k] * d * d;
        }
        if (region->inverse_mass > 0.0f && whole > 0.0) {
            lmi_load_add(load, 1.0 / (double)region->inverse_mass, region->centre, c, whole);
        }
    }
}

/* In place of the height of a body, that of the column that sinks as it does. False when out of memory. */
static bool find_column(lm_world *world, lmi_body *body, const lm_body_def *def, double cells)
{
    dmat3 rotation = lmi_dmat_from_quat(def->pose.rotation);
    lmi_load *load = lmi_allocate(&world->memory, 1, sizeof *load);
    lmi_limbs *limbs = lmi_allocate(&world->memory, 1, sizeof *limbs);
    bool ok = load && limbs;
    if (ok) {
        lmi_load_begin(load, limbs, body, &rotation, cells);
        if (load->upper.y - load->lower.y > 0.01 * body->rest_size) { /* a flat cloth bears nothing */
            if (body->lattice) {
                add_lattice(load, body);
            } else {
                add_regions(load, body);
            }
            body->height = lmi_load_column(load, body->height);
        }
    }
    lmi_release(&world->memory, load, 1, sizeof *load);
    lmi_release(&world->memory, limbs, 1, sizeof *limbs);
    return ok;
}

bool lmi_elastic_begin(lm_world *world, lmi_body *body, const lm_body_def *def)
{
    bool sheet;
    double cells = measure(body, def, &sheet);
    if (body->lattice) {
        body->square = square_of_lattice(body);
        body->spread = spread_of(body->lattice->shape.spacing * body->lattice->shape.spacing / 6.0, body->square);
    }
    /* A sheet is as thick as its cells, whatever they are: it may buckle, instead of taking hundreds of substeps to stand on its edge. */
    bool ok = sheet || find_column(world, body, def, cells);
    if (is_default(def)) { /* what is large swings slowly */
        double ratio = fmin(RESTS / (REST_SECONDS * lmi_elastic_pitch(body)), 1.0);
        body->material.damping_ratio = fmaxf(body->material.damping_ratio, (float)ratio);
    }
    if (ok && def->density > 0.0f && !def->masses) {
        float *masses = lmi_allocate(&world->memory, body->particle_count, sizeof *masses);
        double share = (double)def->density * body->volume / body->total_mass;
        for (uint32_t n = 0; masses && n < body->particle_count; n++) {
            masses[n] = (float)(body->mass[body->place[n]] * share);
        }
        ok = masses && lmi_body_take_masses(world, body, masses);
        lmi_release(&world->memory, masses, body->particle_count, sizeof *masses);
    }
    return ok;
}

/* --- what the material asks for --- */

double lmi_elastic_young(const lmi_body *body)
{
    const lm_material *m = &body->material;
    return lmi_stiffness_of(m) == LM_STIFFNESS_YOUNG
               ? (double)m->young
               : body->total_mass / body->volume * GRAVITY * body->height / (2.0 * (double)m->sag);
}

double lmi_elastic_omega_squared(const lmi_body *body)
{
    double nu = body->material.mode == LM_MODE_RIGID ? 0.0 : poisson_of(&body->material);
    double beta = 3.0 * nu / (1.0 + nu), shear = 1.0 - beta, bulk = beta * body->swelling / 3.0;
    double narrows = bulk > 0.0 ? -bulk / (shear * body->across + 2.0 * bulk) : 0.0,
           young = shear + bulk * (1.0 + 2.0 * narrows);
    return lmi_elastic_young(body) * body->volume / (young * body->total_mass * body->square);
}

uint32_t lmi_elastic_substeps(const lmi_body *body, double seconds)
{
    if (!lmi_is_elastic(&body->material)) {
        return 1;
    }
    bool sag = lmi_stiffness_of(&body->material) == LM_STIFFNESS_SAG;
    double most = sag ? LM_MAX_SAG_SUBSTEPS : LM_MAX_YOUNG_SUBSTEPS;
    double count = ceil(sqrt(lmi_elastic_omega_squared(body)) * seconds * (1.0 - 1e-6));
    return count < 1.0 ? 1 : count < most ? (uint32_t)count : (uint32_t)most;
}

double lmi_elastic_ease(const lmi_body *body)
{
    const lm_material *m = &body->material;
    return lmi_is_elastic(m) && m->mode == LM_MODE_LINEAR ? (1.0 - 2.0 * poisson_of(m)) * body->spread : 1.0;
}

float lmi_elastic_beyond(const lmi_body *body)
{
    double ease = lmi_elastic_ease(body);
    return (float)((1.0 - ease) / ease);
}

double lmi_elastic_hold(double share) { return share < LEAST_HELD ? 2.0 * LEAST_HELD / share : 2.0; }

double lmi_elastic_pitch(const lmi_body *body)
{
    double size = body->rest_size > 0.0 ? body->rest_size / 1.7320508075688772 : 1.0; /* the side, of a cube */
    double speed = sqrt(lmi_elastic_young(body) * body->volume / body->total_mass);
    return 1.5707963267948966 * speed / size;
}

void lmi_elastic_tell(const lm_world *world, lmi_body *body, double seconds)
{
    if (!body->stiffness_limited || body->told || !lmi_is_elastic(&body->material)) {
        return;
    }
    if (!world->substeps && lmi_elastic_substeps(body, seconds) > world->division) {
        return; /* its cells were divided in this step, and the next one has substeps enough */
    }
    double more = sqrt(body->beyond);
    body->told = true;
    lmi_fail(world, LM_OK,
             "body %u: Young's modulus is %.3g Pa in place of %.3g Pa, as stiff as the substep allows: %.0f substeps, "
             "or regions "
             "%.2g times as wide, would reach it",
             body->slot + 1, (double)body->reached_young, lmi_elastic_young(body), ceil(world->division * more), more);
}
