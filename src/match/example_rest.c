/*
 * What the step must know of a body's examples region by region: the stretches D_k of each example, and their products.
 * See examples.h for the equations.
 *
 * Done in double precision when a body is laid out, from the example poses and the weights that particles have in the fits
 * then: a pin changes weights, and with them the best affine maps of poses and of the body alike.
 */
#include "lattice/lattice_body.h"
#include "match/examples.h"
#include "octree/octree_body.h"

#include <stdlib.h>
#include <string.h>

/* Stretches of an example are kept within these: a rest shape squashed flat, or blown up, would be none to match. */
#define LEAST_STRETCH 0.05
#define MOST_STRETCH 20.0

/* Added to the products with themselves, the largest being 1, so that examples that depend on each other leave a system that
 * can be solved; in double precision for groups, in single precision for regions by themselves. */
#define GROUP_RIDGE 1e-11
#define REGION_RIDGE 2e-6

/* Examples that differ from the rest pose by less than this stretch are the rest pose. */
#define NO_STRETCH 1e-7

/* S - 1 of the map A (columns along the axes in which D is wanted), as xx yy zz xy yz zx. Columns of an axis along which
 * there is no extent are not looked at. */
static void deviation_of(double a[3][3], const bool some[3], double out[6])
{
    double c[9], values[3], vectors[9];
    for (int i = 0; i < 9; i++) {
        int row = i / 3, column = i % 3;
        bool both = some[row] && some[column];
        c[i] = both ? a[0][row] * a[0][column] + a[1][row] * a[1][column] + a[2][row] * a[2][column] : row == column;
    }
    lmi_symmetric_eigen(3, c, values, vectors);
    static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    memset(out, 0, 6 * sizeof *out);
    for (int k = 0; k < 3; k++) {
        double s = sqrt(values[k] > 0.0 ? values[k] : 0.0);
        s = s < LEAST_STRETCH ? LEAST_STRETCH : s > MOST_STRETCH ? MOST_STRETCH : s;
        for (int i = 0; i < 6; i++) {
            out[i] += (s - 1.0) * vectors[place[i][0] * 3 + k] * vectors[place[i][1] * 3 + k];
        }
    }
    for (int i = 0; i < 6; i++) {
        out[i] = fabs(out[i]) > NO_STRETCH ? out[i] : 0.0;
    }
}

/* Members of a region, their weights in fits, and their masses shared among their regions. */
typedef struct region_members {
    const lmi_body *body;
    const uint32_t *members;
    uint32_t count;
} region_members;

static lm_dvec3 pose_of(const region_members *m, uint32_t example, uint32_t n)
{
    const lmi_examples *e = m->body->examples;
    return dvec_from(e->poses[(size_t)example * e->particle_count + m->body->order[m->members[n]]]);
}

static double weight_of(const region_members *m, uint32_t n) { return m->body->x[(size_t)m->members[n] * 4 + 3]; }

/* The weighted mean of a pose. */
static lm_dvec3 mean_of(const region_members *m, uint32_t example)
{
    lm_dvec3 sum = lm_dvec3_zero(), from = pose_of(m, example, 0);
    double mass = 0.0;
    for (uint32_t n = 0; n < m->count; n++) {
        sum = dvec_add(sum, dvec_scale(dvec_sub(pose_of(m, example, n), from), weight_of(m, n)));
        mass += weight_of(m, n);
    }
    return dvec_add(from, dvec_scale(sum, 1.0 / mass));
}

/* In the region's rest axes, whose coordinates q have unit covariance: A = sum m~ p q^T / (M d). */
static void measure_cluster(const region_members *m, const lmi_region *region, uint32_t example, double out[6])
{
    double a[3][3] = {{0}}, mass = 0.0;
    lm_dvec3 mean = mean_of(m, example);
    for (uint32_t n = 0; n < m->count; n++) {
        lm_dvec3 p = dvec_sub(pose_of(m, example, n), mean);
        lm_dvec3 q = lmi_region_local(region, m->body->rest[m->members[n]]);
        double w = weight_of(m, n), ps[3] = {p.x, p.y, p.z}, qs[3] = {q.x, q.y, q.z};
        mass += w;
        for (int i = 0; i < 9; i++) {
            a[i / 3][i % 3] += w * ps[i / 3] * qs[i % 3];
        }
    }
    bool some[3];
    for (int j = 0; j < 3; j++) {
        some[j] = region->extent[j] > 0.0;
        for (int i = 0; i < 3; i++) {
            a[i][j] = some[j] ? a[i][j] / (mass * region->extent[j]) : 0.0;
        }
    }
    deviation_of(a, some, out);
}

/* Along the lattice's axes: A = (sum m~ p k^T) (sum m~ k k^T)^-1 with k from the mean corner. */
static void measure_lattice(const region_members *m, uint32_t example, double out[6])
{
    const lmi_lattice *l = &m->body->lattice->shape;
    double b[3][3] = {{0}}, q[3][3] = {{0}}, a[3][3], middle[3] = {0}, mass = 0.0;
    int32_t corner[3];
    for (uint32_t n = 0; n < m->count; n++) {
        lmi_lattice_corner(l, m->members[n], corner);
        mass += weight_of(m, n);
        for (int i = 0; i < 3; i++) {
            middle[i] += weight_of(m, n) * corner[i];
        }
    }
    lm_dvec3 mean = mean_of(m, example);
    for (uint32_t n = 0; n < m->count; n++) {
        lm_dvec3 p = dvec_scale(dvec_sub(pose_of(m, example, n), mean), 1.0 / l->spacing);
        double w = weight_of(m, n), ps[3] = {p.x, p.y, p.z}, ks[3];
        lmi_lattice_corner(l, m->members[n], corner);
        for (int i = 0; i < 3; i++) {
            ks[i] = corner[i] - middle[i] / mass;
        }
        for (int i = 0; i < 9; i++) {
            b[i / 3][i % 3] += w * ps[i / 3] * ks[i % 3];
            q[i / 3][i % 3] += w * ks[i / 3] * ks[i % 3];
        }
    }
    lmi_matrix_divide(b, q, a); /* the corners of a cell span space */
    const bool some[3] = {true, true, true};
    deviation_of(a, some, out);
}

static double product(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + 2.0 * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* An upper triangle of products: the largest on the diagonal becomes 1, and each gets a little more. Returns what they were
 * multiplied by. */
static double finish_gram(uint32_t count, double *gram, double ridge)
{
    double most = 0.0;
    for (uint32_t i = 0, at = 0; i < count; at += count - i, i++) {
        most = gram[at] > most ? gram[at] : most;
    }
    double scale = most > 0.0 ? 1.0 / most : 0.0;
    for (uint32_t i = 0, at = 0; i < count; i++) {
        for (uint32_t j = i; j < count; j++, at++) {
            gram[at] = gram[at] * scale + (i == j ? ridge : 0.0);
        }
    }
    return scale;
}

static void write_region(lmi_examples *e, uint32_t r, double deviations[][6], double mass)
{
    const uint32_t n = e->count;
    float *to = e->lanes + e->at[r];
    double own[LM_MAX_EXAMPLES * (LM_MAX_EXAMPLES + 1) / 2];
    bool none = e->group[r] == LM_NO_GROUP, alone = e->scope == LM_EXAMPLES_REGIONS;
    for (uint32_t i = 0, at = 0; i < n; i++) {
        for (uint32_t j = i; j < n; j++, at++) {
            own[at] = none ? 0.0 : product(deviations[i], deviations[j]);
            if (!none && !alone) {
                e->gram[(size_t)e->group[r] * (n * (n + 1) / 2) + at] += mass * own[at];
            }
        }
        for (uint32_t c = 0; c < 6; c++) {
            to[(lmi_example_deviations(n) + 6 * i + c) * LMI_BLOCK] = none ? 0.0f : (float)deviations[i][c];
        }
        to[(LMI_EXAMPLE_WEIGHT + i) * LMI_BLOCK] = alone ? e->weights[(size_t)r * n + i] : 0.0f;
    }
    to[LMI_EXAMPLE_MASS * LMI_BLOCK] = (float)mass;
    to[LMI_EXAMPLE_SCALE * LMI_BLOCK] = (float)finish_gram(n, own, REGION_RIDGE);
    for (uint32_t k = 0; k < n * (n + 1) / 2; k++) {
        to[(lmi_example_gram(n) + k) * LMI_BLOCK] = (float)own[k];
    }
}

/* The mass of a region in units of the mean, each particle's shared among its regions; `degree` by place. */
static double mass_of(const region_members *m, const uint16_t *degree, const float *list_count)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < m->count; n++) {
        uint32_t place = m->members[n];
        sum += m->body->mass[place] / m->body->mean_mass / (degree ? (double)degree[place] : (double)list_count[place]);
    }
    return sum;
}

static int compare_places(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_in_blocks(const lmi_examples *e)
{
    const size_t stride = (size_t)lmi_example_channels(e->count) * LMI_BLOCK;
    bool in_blocks = e->region_count > 0 && e->along[0] % LMI_BLOCK == 0;
    for (uint32_t r = 0; r < e->region_count && in_blocks; r++) {
        in_blocks = e->along[r] == e->along[0] + r / LMI_BLOCK * stride + r % LMI_BLOCK;
    }
    return in_blocks;
}

void lmi_examples_measure(const lmi_body *body, const float *list_count)
{
    lmi_examples *e = body->examples;
    const lmi_lattice *l = body->lattice ? &body->lattice->shape : NULL;
    const uint32_t n = e->count, triangle = n * (n + 1) / 2;
    double deviations[LM_MAX_EXAMPLES][6];
    bool grouped = e->scope != LM_EXAMPLES_REGIONS;
    if (grouped) {
        memset(e->gram, 0, (size_t)e->group_count * triangle * sizeof *e->gram);
    }
    memcpy(e->along, e->at, e->region_count * sizeof *e->along);
    qsort(e->along, e->region_count, sizeof *e->along, compare_places);
    e->in_blocks = is_in_blocks(e);
    uint32_t next = 0;
    for (uint32_t r = 0; r < e->region_count; r++) {
        uint32_t
            in[(2 * LMI_LATTICE_MAX_WIDTH + 1) * (2 * LMI_LATTICE_MAX_WIDTH + 1) * (2 * LMI_LATTICE_MAX_WIDTH + 1)];
        region_members m = {body, in, 0};
        if (l) {
            while (!(l->active[body->place[next] / LMI_BLOCK] >> (body->place[next] % LMI_BLOCK) & 1)) {
                next++;
            }
            m.count = lmi_lattice_region(l, body->place[next++], in);
        } else if (body->octree) {
            m.members = lmi_octree_body_members(body, r, &m.count);
        } else {
            m.members = body->members + body->region_offsets[r];
            m.count = body->region_offsets[r + 1] - body->region_offsets[r];
        }
        for (uint32_t k = 0; k < n; k++) {
            if (l) {
                measure_lattice(&m, k, deviations[k]);
            } else {
                measure_cluster(&m, &body->regions[r], k, deviations[k]);
            }
        }
        double mass =
            body->octree ? lmi_octree_body_region_mass(body, r) : mass_of(&m, l ? l->degree : NULL, list_count);
        write_region(e, r, deviations, mass);
        for (uint32_t i = 0; !l && i < 3; i++) {
            double extent = body->regions[r].extent[i];
            e->lanes[e->at[r] + (LMI_EXAMPLE_INVERSE + i) * LMI_BLOCK] = extent > 0.0 ? (float)(1.0 / extent) : 0.0f;
        }
    }
    for (uint32_t g = 0; grouped && g < e->group_count; g++) {
        e->scale[g] = finish_gram(n, e->gram + (size_t)g * triangle, GROUP_RIDGE);
    }
    lmi_examples_apply(e);
}

void lmi_examples_place_lattice(const lmi_body *body, lmi_examples *e)
{
    const lmi_lattice *l = &body->lattice->shape;
    size_t block = (size_t)lmi_example_channels(e->count) * LMI_BLOCK;
    uint32_t region = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t place = body->place[n];
        if (l->active[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1) {
            size_t at = place / LMI_BLOCK * block + place % LMI_BLOCK;
            for (uint32_t k = 0; e->scope == LM_EXAMPLES_REGIONS && k < e->count; k++) { /* of a loaded body */
                e->home[at + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK] = e->weights[(size_t)region * e->count + k];
            }
            e->at[region++] = at;
        }
    }
    /* Lanes without a region match nothing; their mix is 1, which is harmless. */
    for (size_t b = 0; b < e->blocks; b++) {
        for (int n = 0; n < 3 * LMI_BLOCK; n++) {
            e->home[b * block + LMI_EXAMPLE_STRETCH * LMI_BLOCK + (size_t)n] = 1.0f;
        }
    }
    e->lanes = e->home;
}
