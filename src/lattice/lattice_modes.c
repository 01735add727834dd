/*
 * The slowest mode of a lattice.
 *
 * As for clusters (modes.c) a deformation with the eigenvalue lambda of I - G rings at sqrt(lambda) times the frequency of a
 * single region. Lanczos' method would need as many vectors as the body is long; a lattice of a million particles has room
 * for few. Instead the mode is found on a lattice of cells twice as large, which has an eighth of the particles, found there
 * in the same way, and carried over; what is left to do is local and takes few steps. A step is the best combination of the
 * vector, its residual and the last step: A. Knyazev's locally optimal conjugate gradients (2001). The quotient never
 * grows, and is an upper bound for the eigenvalue.
 *
 * Vectors are displacements times the root of the mass, [block][3][LMI_BLOCK] along the lattice's own axes, so that I - G is
 * symmetric. Motions as a whole are taken out of them by their momentum and spin.
 */
#include "lattice/lattice_modes.h"
#include "base/compiler.h"
#include "base/vec.h"
#include "lattice/lattice_body.h"

#include <math.h>
#include <string.h>

#define B LMI_BLOCK
#define COARSEST 1500u /* particles at which the search starts from nothing */
#define MOST_STEPS 3000u
#define MOST_WORK 6e7   /* steps times particles, at most, */
#define LEAST_STEPS 24u /* but at least so many steps */
#define SETTLED 2e-3    /* share of the quotient: when some steps together lower it by less, that is the end */
#define FEW 10u         /* those steps, from a good start, */
#define MANY 600u       /* and from one that may lack the mode wanted */
#define SWOLLEN 1.25    /* a coarse lattice larger by this may have closed gaps: its mode is no good start alone */
#define NOISE 0.1       /* then something of every mode is added, this much of the length */

enum { X, R, P, IMAGE_X, IMAGE_R, IMAGE_P, SCRATCH, VECTORS };

typedef struct search {
    const lmi_lattice *l;
    size_t size;     /* of a vector */
    double *weights; /* m~ by place */
    double *root;    /* of the mass, by place; 0 where there is no particle */
    double mass;
    lm_dvec3 centre;   /* in spacings, along the lattice's axes */
    double inertia[6]; /* about it */
    lmi_lattice_match match;
    double *v[VECTORS];
} search;

static lm_dvec3 arm_of(const search *s, uint32_t place)
{
    int32_t corner[3];
    lmi_lattice_corner(s->l, place, corner);
    return dvec_sub(dvec(corner[0], corner[1], corner[2]), s->centre);
}

#define EACH_PLACE(s, n)                                                                                               \
    for (uint32_t n = 0; n < (s)->l->block_count * B; n++)                                                             \
        if ((s)->root[n] > 0.0)

static double dot(const search *s, const double *a, const double *b)
{
    double sum[B] = {0.0}, all = 0.0;
    for (size_t n = 0; n < s->size; n += B) {
        for (size_t lane = 0; lane < B; lane++) {
            sum[lane] += a[n + lane] * b[n + lane];
        }
    }
    for (size_t lane = 0; lane < B; lane++) {
        all += sum[lane];
    }
    return all;
}

/* a = a + by b */
static void add(const search *s, double *a, double by, const double *b)
{
    for (size_t n = 0; n < s->size; n++) {
        a[n] += by * b[n];
    }
}

static void scale(const search *s, double *a, double by)
{
    for (size_t n = 0; n < s->size; n++) {
        a[n] *= by;
    }
}

/* Takes the motions as a whole out of a vector. */
static void take_motion(const search *s, double *y)
{
    lm_dvec3 momentum = lm_dvec3_zero(), spin = momentum;
    EACH_PLACE(s, n)
    {
        const double *at = y + (size_t)(n / B) * 3 * B + n % B;
        lm_dvec3 p = dvec_scale(dvec(at[0], at[B], at[2 * B]), s->root[n]);
        momentum = dvec_add(momentum, p);
        spin = dvec_add(spin, dvec_cross(arm_of(s, n), p));
    }
    lm_dvec3 u = dvec_scale(momentum, 1.0 / s->mass), w = lmi_dmat_solve_spin(s->inertia, spin);
    EACH_PLACE(s, n)
    {
        double *at = y + (size_t)(n / B) * 3 * B + n % B;
        lm_dvec3 by = dvec_scale(dvec_add(u, dvec_cross(w, arm_of(s, n))), s->root[n]);
        at[0] -= by.x, at[B] -= by.y, at[2 * B] -= by.z;
    }
}

/* to = (I - G) y */
static void apply(const search *s, const double *y, double *to)
{
    double *u = s->v[SCRATCH];
    for (size_t n = 0; n < s->size; n++) {
        double root = s->root[n / (3 * B) * B + n % B];
        u[n] = root > 0.0 ? y[n] / root : 0.0;
    }
    lmi_lattice_match_apply(&s->match, u, to);
    for (size_t n = 0; n < s->size; n++) {
        to[n] *= s->root[n / (3 * B) * B + n % B];
    }
}

/* Makes v of length 1 and, with its image, square to an earlier one; false when nothing is left of it. */
static bool orthogonalise(const search *s, int v, int image, int first)
{
    for (int k = first; k < v; k++) {
        double along = dot(s, s->v[v], s->v[k]);
        add(s, s->v[v], -along, s->v[k]);
        if (image) {
            add(s, s->v[image], -along, s->v[k + IMAGE_X]);
        }
    }
    double length = sqrt(dot(s, s->v[v], s->v[v]));
    if (!(length > 1e-150)) {
        return false;
    }
    scale(s, s->v[v], 1.0 / length);
    if (image) {
        scale(s, s->v[image], 1.0 / length);
    }
    return true;
}

/* The best combination of x, r and p (`count` of them) becomes x, the part of it that is new becomes p. */
static void combine(const search *s, int count)
{
    double a[9], values[3], vectors[9], c[3] = {0.0};
    for (int i = 0; i < count; i++) {
        for (int j = 0; j <= i; j++) {
            double value = dot(s, s->v[i], s->v[IMAGE_X + j]);
            a[i * count + j] = a[j * count + i] = value;
        }
    }
    lmi_symmetric_eigen(count, a, values, vectors);
    for (int i = 0; i < count; i++) {
        c[i] = vectors[i * count + count - 1]; /* they come in descending order */
    }
    for (int image = 0; image <= IMAGE_X; image += IMAGE_X) {
        double *x = s->v[X + image], *r = s->v[R + image], *p = s->v[P + image];
        for (size_t n = 0; n < s->size; n++) {
            double fresh = c[1] * r[n] + (count > 2 ? c[2] * p[n] : 0.0);
            x[n] = c[0] * x[n] + fresh;
            p[n] = fresh;
        }
    }
}

/* From the vector x on; returns the quotient. */
static double descend(const search *s, uint32_t most, uint32_t settled_after)
{
    bool ahead = false; /* there is a last step */
    double quotient = 1.0, checked = INFINITY;
    take_motion(s, s->v[X]);
    if (!orthogonalise(s, X, 0, X)) {
        return 1.0;
    }
    apply(s, s->v[X], s->v[IMAGE_X]);
    for (uint32_t step = 0; step < most; step++) {
        quotient = dot(s, s->v[X], s->v[IMAGE_X]);
        if (step % settled_after == 0) {
            if (!(quotient < checked * (1.0 - SETTLED)) || quotient < 1e-14) {
                break;
            }
            checked = quotient;
        }
        memcpy(s->v[R], s->v[IMAGE_X], s->size * sizeof(double));
        add(s, s->v[R], -quotient, s->v[X]);
        take_motion(s, s->v[R]);
        if (!orthogonalise(s, R, 0, X)) {
            break;
        }
        apply(s, s->v[R], s->v[IMAGE_R]);
        ahead = ahead && orthogonalise(s, P, IMAGE_P, X);
        combine(s, ahead ? 3 : 2);
        ahead = true;
        double length = sqrt(dot(s, s->v[X], s->v[X]));
        scale(s, s->v[X], 1.0 / length);
        scale(s, s->v[IMAGE_X], 1.0 / length);
    }
    return quotient < 0.0 ? 0.0 : quotient;
}

/* --- levels --- */

static bool begin(lmi_memory *memory, const lmi_lattice *l, const float *masses, const float *stiffness, double share,
                  search *s)
{
    size_t places = ((size_t)l->block_count + 1) * B;
    double mean = 0.0;
    memset(s, 0, sizeof *s);
    s->l = l;
    s->size = 3 * places;
    s->weights = lmi_allocate(memory, places, sizeof *s->weights);
    s->root = lmi_allocate(memory, places, sizeof *s->root);
    bool ok = s->weights && s->root;
    for (int k = 0; k < VECTORS; k++) {
        s->v[k] = lmi_allocate(memory, s->size, sizeof(double));
        ok = ok && s->v[k];
    }
    if (!ok) {
        return false;
    }
    for (size_t n = 0; n < places - B; n++) {
        bool is = l->occupied[n / B] >> (n % B) & 1;
        mean += is ? (double)masses[n] / l->particle_count : 0.0;
    }
    for (size_t n = 0; n < places - B; n++) {
        bool is = l->occupied[n / B] >> (n % B) & 1;
        s->root[n] = is ? sqrt(masses[n] / mean) : 0.0;
        s->weights[n] = is ? masses[n] / mean / l->degree[n] : 0.0;
        s->mass += is ? masses[n] / mean : 0.0;
    }
    EACH_PLACE(s, n)
    {
        s->centre = dvec_add(s->centre, dvec_scale(arm_of(&(search){.l = l}, n), s->root[n] * s->root[n] / s->mass));
    }
    EACH_PLACE(s, n)
    {
        lm_dvec3 r = arm_of(s, n);
        double m = s->root[n] * s->root[n];
        s->inertia[0] += m * (r.y * r.y + r.z * r.z), s->inertia[3] -= m * r.x * r.y;
        s->inertia[1] += m * (r.z * r.z + r.x * r.x), s->inertia[4] -= m * r.y * r.z;
        s->inertia[2] += m * (r.x * r.x + r.y * r.y), s->inertia[5] -= m * r.z * r.x;
    }
    return lmi_lattice_match_make(memory, l, s->weights, stiffness, share, &s->match);
}

static void end(lmi_memory *memory, search *s)
{
    if (s->l) {
        size_t places = ((size_t)s->l->block_count + 1) * B;
        lmi_release(memory, s->weights, places, sizeof *s->weights);
        lmi_release(memory, s->root, places, sizeof *s->root);
        for (int k = 0; k < VECTORS; k++) {
            lmi_release(memory, s->v[k], s->size, sizeof(double));
        }
        lmi_lattice_match_free(memory, &s->match);
    }
}

static uint64_t cell_count(const lmi_lattice *l)
{
    uint64_t count = 0;
    for (uint32_t n = 0; n < l->block_count; n++) {
        count += (uint64_t)lmi_bit_count(l->cell[n]);
    }
    return count;
}

/* The even bits of a word, side by side. */
static uint64_t even_bits(uint64_t bits)
{
    bits &= 0x5555555555555555u;
    bits = (bits | bits >> 1) & 0x3333333333333333u;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits >> 8) & 0x0000ffff0000ffffu;
    return (bits | bits >> 16) & 0xffffffffu;
}

/* 64 cells twice as large, from one on: where there is any of the eight that it covers. */
static uint64_t coarse_cells(const lmi_lattice *l, uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t out = 0;
    for (uint32_t half = 0; half < 2; half++) {
        uint64_t bits = 0;
        for (uint32_t n = 0; n < 4; n++) {
            uint32_t at[3] = {2 * x + 64 * half, 2 * y + n % 2, 2 * z + n / 2};
            bool within = at[0] < l->cells[0] && at[1] < l->cells[1] && at[2] < l->cells[2];
            bits |= within ? lmi_lattice_cells(l, at[0], at[1], at[2]) : 0;
        }
        out |= even_bits(bits | bits >> 1) << (32 * half);
    }
    return out;
}

static lm_result coarsen(lmi_memory *memory, const lmi_lattice *l, lmi_lattice *coarse)
{
    lmi_voxels v = {.spacing = 2.0 * l->spacing, .first = l->first};
    for (int a = 0; a < 3; a++) {
        v.n[a] = (l->cells[a] + 1) / 2;
    }
    v.row_words = (v.n[0] + 63) / 64;
    size_t words = (size_t)v.row_words * v.n[1] * v.n[2];
    v.bits = lmi_allocate(memory, words, sizeof *v.bits);
    if (!v.bits) {
        return LM_ERROR_MEMORY;
    }
    for (size_t n = 0; n < words; n++) {
        size_t row = n / v.row_words;
        v.bits[n] =
            coarse_cells(l, (uint32_t)(n % v.row_words) * 64, (uint32_t)(row % v.n[1]), (uint32_t)(row / v.n[1]));
        v.cell_count += (uint64_t)lmi_bit_count(v.bits[n]);
    }
    lm_result result =
        lmi_lattice_make(memory, &v, l->width > 1 ? l->width / 2 : 1, LMI_LATTICE_QUICKEST, NULL, coarse);
    lmi_release(memory, v.bits, words, sizeof *v.bits);
    return result;
}

/* The displacement at a particle from the corners of the coarse cell it is in; a component along each of its axes. */
static void carry_over(const search *from, const search *to)
{
    const lmi_lattice *f = to->l, *c = from->l;
    EACH_PLACE(to, n)
    {
        int32_t corner[3], body[3];
        double sum[3] = {0.0};
        lmi_lattice_corner(f, n, corner);
        for (uint32_t a = 0; a < 3; a++) {
            body[(a + f->turn) % 3] = corner[a];
        }
        for (uint32_t k = 0; k < 8; k++) {
            int32_t at[3];
            double weight = 1.0;
            for (uint32_t a = 0; a < 3; a++) {
                int32_t whole = body[a] / 2, odd = body[a] % 2;
                at[a] = whole + (int32_t)(k >> a & 1);
                weight *= odd ? 0.5 : k >> a & 1 ? 0.0 : 1.0;
            }
            if (weight == 0.0) {
                continue;
            }
            uint32_t t = c->turn, other = lmi_lattice_find(c, at[t % 3], at[(1 + t) % 3], at[(2 + t) % 3]);
            for (uint32_t a = 0; other != LMI_LATTICE_NONE && a < 3; a++) {
                double y = from->v[X][(size_t)(other / B) * 3 * B + (size_t)a * B + other % B];
                sum[(a + t) % 3] += weight * y / from->root[other];
            }
        }
        for (uint32_t a = 0; a < 3; a++) {
            to->v[X][(size_t)(n / B) * 3 * B + (size_t)a * B + n % B] = sum[(a + f->turn) % 3] * to->root[n];
        }
    }
}

/* Adds something of every mode, of about this length: a fixed sequence of pseudo-random numbers. */
static void add_every_mode(const search *s, double length)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    double by = length / sqrt(s->mass);
    for (size_t n = 0; n < s->size; n++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        s->v[X][n] += by * s->root[n / (3 * B) * B + n % B] * ((double)(state >> 40) / 8388608.0 - 1.0);
    }
}

static double find(const search *s, bool good_start)
{
    double room = MOST_WORK / s->l->particle_count;
    uint32_t most = room < MOST_STEPS ? (uint32_t)room : MOST_STEPS;
    if (!good_start) {
        add_every_mode(s, NOISE);
    }
    return descend(s, most > LEAST_STEPS ? most : LEAST_STEPS, good_start ? FEW : MANY);
}

/* The mode of a coarser lattice as the start, of length 1, where there is one. */
static bool start_from_coarser(lmi_memory *memory, const search *s, double share, bool *good)
{
    lmi_lattice coarse = {0};
    *good = false;
    if (s->l->particle_count <= COARSEST) {
        return true;
    }
    lm_result result = coarsen(memory, s->l, &coarse);
    if (result != LM_OK || coarse.particle_count > s->l->particle_count / 4 * 3) {
        lmi_lattice_free(memory, &coarse);
        return result != LM_ERROR_MEMORY;
    }
    search c = {0};
    size_t places = ((size_t)coarse.block_count + 1) * B;
    float *masses = lmi_allocate(memory, places, sizeof *masses);
    bool ok = masses != NULL, good_start;
    if (ok) {
        lmi_lattice_volumes(&coarse, masses);
        ok = begin(memory, &coarse, masses, NULL, share, &c) && start_from_coarser(memory, &c, share, &good_start);
    }
    if (ok) {
        find(&c, good_start);
        carry_over(&c, s);
        scale(s, s->v[X], 1.0 / fmax(sqrt(dot(s, s->v[X], s->v[X])), 1e-150));
        *good = 8.0 * (double)cell_count(&coarse) < SWOLLEN * (double)cell_count(s->l);
    }
    end(memory, &c);
    lmi_release(memory, masses, places, sizeof *masses);
    lmi_lattice_free(memory, &coarse);
    return ok;
}

bool lmi_lattice_slowest(lmi_memory *memory, const lmi_lattice *l, const float *masses, const float *stiffness,
                         double share, double *slowest)
{
    search s;
    bool good_start;
    bool ok = begin(memory, l, masses, stiffness, share, &s) && start_from_coarser(memory, &s, share, &good_start);
    if (ok) {
        *slowest = find(&s, good_start && !stiffness);
    }
    end(memory, &s);
    return ok;
}
