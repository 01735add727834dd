/*
 * A pose for particles from a pose of a surface.
 *
 * Each particle follows an affine map that is fitted to the vertices near it, by weights that fall with the fourth power of
 * the distance (moving least squares): with q and p the vertices at rest and posed from their weighted means,
 *
 *     A = (sum w p q^T + ridge R) (sum w q q^T + ridge)^-1          R = the rotation nearest to sum w p q^T
 *
 * so that a direction in which the vertices have no extent, as across a flat sheet, turns with the rest and is not stretched. Vertices
 * that are far from a particle and near each other count as one in their middle, as often as they are: an affine pose is still carried
 * exactly, and a particle sees hundreds of them instead of all.
 */
#include "base/guard.h"
#include "geometry/nearest.h"
#include "world/access.h"
#include "world/world.h"

#include <string.h>

/* To the trace of sum w q q^T: small enough for 1e-6 of an affine pose's exactness. */
#define RIDGE 1e-7

/* The distance at which a vertex is on the particle, to the size of the body. */
#define TOUCH 1e-4

/* Of the vertices, to that: what is less is rounding. */
#define NO_EXTENT 1e-12

/* The rotation nearest to a; where a does not say, the identity's directions are kept as far as they fit. */
static dmat3 nearest_rotation(const dmat3 *a)
{
    double square[9], values[3], vectors[9];
    for (int i = 0; i < 9; i++) {
        square[i] = a->m[0][i / 3] * a->m[0][i % 3] + a->m[1][i / 3] * a->m[1][i % 3] + a->m[2][i / 3] * a->m[2][i % 3];
    }
    lmi_symmetric_eigen(3, square, values, vectors);
    lm_dvec3 v[3], u[3];
    double largest = sqrt(values[0] > 0.0 ? values[0] : 0.0);
    for (int k = 0; k < 3; k++) {
        v[k] = dvec(vectors[k], vectors[3 + k], vectors[6 + k]);
        double s = sqrt(values[k] > 0.0 ? values[k] : 0.0);
        bool known = s > 1e-9 * largest && s > 0.0;
        u[k] = known ? dvec_scale(dmat_apply(a, v[k]), 1.0 / s) : v[k];
        for (int j = 0; j < k; j++) {
            u[k] = dvec_sub(u[k], dvec_scale(u[j], dvec_dot(u[k], u[j])));
        }
        double length = dvec_length(u[k]);
        if (length < 1e-6) { /* anything across the others */
            lm_dvec3 any = fabs(u[0].x) < 0.9 ? dvec(1.0, 0.0, 0.0) : dvec(0.0, 1.0, 0.0);
            u[k] = k == 2 ? dvec_cross(u[0], u[1]) : dvec_cross(u[0], any);
            length = dvec_length(u[k]);
        }
        u[k] = dvec_scale(u[k], 1.0 / length);
    }
    v[2] = dvec_cross(v[0], v[1]); /* both are rotations, so the product is */
    u[2] = dvec_cross(u[0], u[1]);
    dmat3 r;
    for (int i = 0; i < 3; i++) {
        const double ui[3][3] = {{u[0].x, u[1].x, u[2].x}, {u[0].y, u[1].y, u[2].y}, {u[0].z, u[1].z, u[2].z}};
        const double vj[3][3] = {{v[0].x, v[1].x, v[2].x}, {v[0].y, v[1].y, v[2].y}, {v[0].z, v[1].z, v[2].z}};
        for (int j = 0; j < 3; j++) {
            r.m[i][j] = ui[i][0] * vj[j][0] + ui[i][1] * vj[j][1] + ui[i][2] * vj[j][2];
        }
    }
    return r;
}

/* x with q x = b, q symmetric and positive definite: one row of A at a time. */
static void solve_row(const dmat3 *q, const double b[3], double x[3])
{
    const double inertia[6] = {q->m[0][0], q->m[1][1], q->m[2][2], q->m[0][1], q->m[1][2], q->m[2][0]};
    double xx = inertia[0], yy = inertia[1], zz = inertia[2], xy = inertia[3], yz = inertia[4], zx = inertia[5];
    double c[6] = {yy * zz - yz * yz, xx * zz - zx * zx, xx * yy - xy * xy,
                   zx * yz - xy * zz, xy * zx - yz * xx, xy * yz - zx * yy};
    double determinant = xx * c[0] + xy * c[3] + zx * c[5];
    x[0] = (c[0] * b[0] + c[3] * b[1] + c[5] * b[2]) / determinant;
    x[1] = (c[3] * b[0] + c[1] * b[1] + c[4] * b[2]) / determinant;
    x[2] = (c[5] * b[0] + c[4] * b[1] + c[2] * b[2]) / determinant;
}

/* Vertices that count as one have a box with a diagonal of this share of their distance, at most. */
#define FAR 0.7

/* Vertices in their middle: at rest, posed, and how many. */
typedef struct bunch {
    lm_dvec3 rest, pose;
    double count;
} bunch;

typedef struct surface {
    lmi_nearest tree;
    bunch *bunches; /* [nodes of the tree] */
    const lm_vec3 *pose;
    bunch *seen; /* [vertices] what the particle at hand sees */
    uint32_t seen_count;
    double touch; /* square of the distance that counts as none */
} surface;

static void surface_free(surface *s)
{
    if (s->tree.memory) {
        lmi_release(s->tree.memory, s->bunches, lmi_nearest_nodes(&s->tree), sizeof *s->bunches);
        lmi_release(s->tree.memory, s->seen, s->tree.count, sizeof *s->seen);
    }
    lmi_nearest_free(&s->tree);
}

/* Finds the middles of a node of the tree, and of all below it. */
static bunch gather_bunch(surface *s, uint32_t node, uint32_t first, uint32_t last)
{
    bunch b = {.count = last - first};
    if (last - first <= LMI_NEAREST_LEAF) {
        for (uint32_t n = first; n < last; n++) {
            b.rest = dvec_add(b.rest, s->tree.points[n]);
            b.pose = dvec_add(b.pose, dvec_from(s->pose[s->tree.index[n]]));
        }
    } else {
        const uint32_t middle = first + (last - first) / 2;
        bunch left = gather_bunch(s, 2 * node, first, middle), right = gather_bunch(s, 2 * node + 1, middle, last);
        b.rest = dvec_add(dvec_scale(left.rest, left.count), dvec_scale(right.rest, right.count));
        b.pose = dvec_add(dvec_scale(left.pose, left.count), dvec_scale(right.pose, right.count));
    }
    b.rest = dvec_scale(b.rest, 1.0 / b.count);
    b.pose = dvec_scale(b.pose, 1.0 / b.count);
    s->bunches[node] = b;
    return b;
}

/* False when out of memory; to be freed then, too. */
static bool surface_make(surface *s, lmi_memory *memory, const lm_vec3 *rest, const lm_vec3 *pose, uint32_t count)
{
    *s = (surface){.pose = pose};
    bool ok = lmi_nearest_make_from(&s->tree, memory, rest, count);
    s->bunches = lmi_allocate(memory, lmi_nearest_nodes(&s->tree), sizeof *s->bunches);
    s->seen = lmi_allocate(memory, count, sizeof *s->seen);
    ok = ok && s->bunches && s->seen;
    if (ok) {
        gather_bunch(s, 1, 0, count);
    }
    return ok;
}

/* What a particle sees of the vertices of a node. */
static void see(surface *s, lm_dvec3 at, uint32_t node, uint32_t first, uint32_t last)
{
    const lmi_nearest_node *box = &s->tree.nodes[node];
    lm_dvec3 diagonal = dvec_sub(box->high, box->low);
    if (dvec_dot(diagonal, diagonal) < FAR * FAR * lmi_nearest_gap(box, at)) {
        s->seen[s->seen_count++] = s->bunches[node];
    } else if (last - first <= LMI_NEAREST_LEAF) {
        for (uint32_t n = first; n < last; n++) {
            s->seen[s->seen_count++] = (bunch){s->tree.points[n], dvec_from(s->pose[s->tree.index[n]]), 1.0};
        }
    } else {
        const uint32_t middle = first + (last - first) / 2;
        see(s, at, 2 * node, first, middle);
        see(s, at, 2 * node + 1, middle, last);
    }
}

static double weight_of(const surface *s, const bunch *b, lm_dvec3 at)
{
    lm_dvec3 d = dvec_sub(b->rest, at);
    double near = dvec_dot(d, d) + s->touch;
    return b->count * (s->touch * s->touch / (near * near));
}

static lm_dvec3 carry(surface *s, lm_dvec3 at)
{
    lm_dvec3 from = lm_dvec3_zero(), to = from;
    double mass = 0.0, ridge = 0.0;
    s->seen_count = 0;
    see(s, at, 1, 0, s->tree.count);
    s->tree.memory->work += s->seen_count;
    for (uint32_t n = 0; n < s->seen_count; n++) {
        double w = weight_of(s, &s->seen[n], at);
        mass += w;
        from = dvec_add(from, dvec_scale(s->seen[n].rest, w));
        to = dvec_add(to, dvec_scale(s->seen[n].pose, w));
    }
    from = dvec_scale(from, 1.0 / mass);
    to = dvec_scale(to, 1.0 / mass);
    dmat3 moved = {{{0}}}, rest = {{{0}}};
    for (uint32_t n = 0; n < s->seen_count; n++) {
        lm_dvec3 q = dvec_sub(s->seen[n].rest, from), p = dvec_sub(s->seen[n].pose, to);
        double w = weight_of(s, &s->seen[n], at) / mass, qs[3] = {q.x, q.y, q.z}, ps[3] = {p.x, p.y, p.z};
        for (int i = 0; i < 9; i++) {
            moved.m[i / 3][i % 3] += w * ps[i / 3] * qs[i % 3];
            rest.m[i / 3][i % 3] += w * qs[i / 3] * qs[i % 3];
        }
    }
    ridge = RIDGE * (rest.m[0][0] + rest.m[1][1] + rest.m[2][2]);
    if (!(ridge > NO_EXTENT * s->touch)) { /* one vertex, or all in one place */
        return dvec_add(to, dvec_sub(at, from));
    }
    dmat3 rotation = nearest_rotation(&moved);
    lm_dvec3 arm = dvec_sub(at, from);
    double out[3], row[3];
    for (int i = 0; i < 3; i++) {
        rest.m[i][i] += ridge;
    }
    for (int i = 0; i < 3; i++) {
        double b[3] = {moved.m[i][0] + ridge * rotation.m[i][0], moved.m[i][1] + ridge * rotation.m[i][1],
                       moved.m[i][2] + ridge * rotation.m[i][2]};
        solve_row(&rest, b, row);
        out[i] = row[0] * arm.x + row[1] * arm.y + row[2] * arm.z;
    }
    return dvec_add(to, dvec(out[0], out[1], out[2]));
}

lm_result lm_body_carry_pose(const lm_world *world, lm_body_id id, const lm_vec3 *rest, const lm_vec3 *pose,
                             uint32_t vertex_count, lm_vec3 *positions)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_carry_pose");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (!rest && body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_pose: the body has no skin whose vertices were meant");
    }
    if (vertex_count == 0 || (!rest && vertex_count != body->skin.vertex_count)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_pose: %u vertices, the skin has %u", vertex_count,
                        body->skin.vertex_count);
    }
    rest = rest ? rest : body->skin.vertices;
    for (uint32_t n = 0; n < vertex_count; n++) {
        const float c[6] = {rest[n].x, rest[n].y, rest[n].z, pose[n].x, pose[n].y, pose[n].z};
        for (int i = 0; i < 6; i++) {
            if (!(fabsf(c[i]) <= LM_MAX_COORDINATE)) {
                return lmi_fail(world, LM_ERROR_ARGUMENT,
                                "lm_body_carry_pose: vertex %u is not finite or beyond LM_MAX_COORDINATE", n);
            }
        }
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    double touch = TOUCH * (body->rest_size > 0.0 ? body->rest_size : 1.0);
    lmi_memory memory = world->memory;
    surface s;
    bool ok = surface_make(&s, &memory, rest, pose, vertex_count);
    s.touch = touch * touch;
    for (uint32_t n = 0; ok && n < body->particle_count; n++) {
        lm_dvec3 to = carry(&s, dvec_from(body->rest[body->place[n]]));
        positions[n] = vec_from(dvec_limit(to, (double)LM_MAX_COORDINATE));
    }
    surface_free(&s);
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_carry_pose: out of memory");
}

/* ---- values ----
 *
 * Values for particles from values for the vertices of a surface: the four nearest vertices, by inverse square of distance.
 */

#define NEAREST 4

static void carry_nearest(const lmi_neighbour *near, uint32_t count, const float *values, uint32_t channels, float *out)
{
    double weight[NEAREST], sum = 0.0;
    bool on_vertex = !(near[0].square > 1e-30);
    for (uint32_t k = 0; k < count; k++) {
        weight[k] = on_vertex ? (double)(k == 0) : 1.0 / near[k].square;
        sum += weight[k];
    }
    for (uint32_t c = 0; c < channels; c++) {
        double mean = 0.0;
        for (uint32_t k = 0; k < count; k++) {
            mean += weight[k] / sum * (double)values[(size_t)near[k].index * channels + c];
        }
        out[c] = (float)mean;
    }
}

lm_result lm_body_carry_values(const lm_world *world, lm_body_id id, const lm_vec3 *vertices, uint32_t vertex_count,
                               const float *values, uint32_t channels, float *carried)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_carry_values");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (!vertices && vertex_count != body->skin.vertex_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_values: %u vertices, the skin has %u", vertex_count,
                        body->skin.vertex_count);
    }
    vertices = vertices ? vertices : body->skin.vertices;
    if (vertex_count == 0 || channels == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_values: there are no vertices or no channels");
    }
    for (uint32_t n = 0; n < vertex_count; n++) {
        if (!vec_is_finite(vertices[n])) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_carry_values: vertex %u is not finite", n);
        }
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_memory memory = world->memory;
    lmi_nearest near;
    bool ok = lmi_nearest_make_from(&near, &memory, vertices, vertex_count);
    for (uint32_t p = 0; ok && p < body->particle_count; p++) {
        lmi_neighbour found[NEAREST];
        lm_dvec3 at = dvec_from(body->rest[body->place[p]]);
        uint32_t count = lmi_nearest_find(&near, at, NEAREST, UINT32_MAX, found, 0);
        carry_nearest(found, count, values, channels, carried + (size_t)p * channels);
    }
    lmi_nearest_free(&near);
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_carry_values: out of memory");
}
