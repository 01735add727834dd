/*
 * Built with -O2 -fno-tree-vectorize and no instruction set beyond the compiler's default: see CMakeLists.txt.
 */
#include "plain_lattice.h"

#include "plain_polar.h"

#include <stdlib.h>
#include <string.h>

#define CHANNELS 12

typedef struct channels {
    float c[CHANNELS]; /* 3, then 3 x 3 */
} channels;

struct plain_lattice {
    uint32_t n[3], count, width;
    float *x, *v, *rest; /* three each */
    float *share;        /* 1 / |R(i)| */
    float *mass;         /* of each region, and its centre in the rest pose: four each */
    channels *sums, *other;
};

plain_lattice *plain_lattice_make(uint32_t nx, uint32_t ny, uint32_t nz, float spacing, uint32_t width)
{
    plain_lattice *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    *l = (plain_lattice){.n = {nx, ny, nz}, .count = nx * ny * nz, .width = width};
    l->x = calloc(l->count, 3 * sizeof(float));
    l->v = calloc(l->count, 3 * sizeof(float));
    l->rest = calloc(l->count, 3 * sizeof(float));
    l->share = calloc(l->count, sizeof(float));
    l->mass = calloc(l->count, 4 * sizeof(float));
    l->sums = calloc(l->count, sizeof *l->sums);
    l->other = calloc(l->count, sizeof *l->other);
    if (!l->x || !l->v || !l->rest || !l->share || !l->mass || !l->sums || !l->other) {
        plain_lattice_free(l);
        return NULL;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t at[3] = {i % nx, i / nx % ny, i / nx / ny}, regions = 1;
        for (int a = 0; a < 3; a++) {
            uint32_t low = at[a] < width ? 0 : at[a] - width;
            uint32_t high = at[a] + width >= l->n[a] ? l->n[a] - 1 : at[a] + width;
            regions *= high - low + 1;
            l->x[3 * i + (uint32_t)a] = l->rest[3 * i + (uint32_t)a] = spacing * (float)at[a];
        }
        l->share[i] = 1.0f / (float)regions;
    }
    /* Mass and centre of the regions, once. */
    for (uint32_t i = 0; i < l->count; i++) {
        double sum[4] = {0};
        int64_t at[3] = {i % nx, i / nx % ny, i / nx / ny}, w = width;
        for (int64_t z = at[2] - w; z <= at[2] + w; z++)
            for (int64_t y = at[1] - w; y <= at[1] + w; y++)
                for (int64_t x = at[0] - w; x <= at[0] + w; x++) {
                    if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz) continue;
                    uint32_t k = (uint32_t)((z * ny + y) * nx + x);
                    sum[0] += l->share[k];
                    for (int a = 0; a < 3; a++) sum[1 + a] += (double)l->share[k] * l->rest[3 * k + (uint32_t)a];
                }
        l->mass[4 * i] = (float)sum[0];
        for (uint32_t a = 0; a < 3; a++) l->mass[4 * i + 1 + a] = (float)(sum[1 + a] / sum[0]);
    }
    return l;
}

void plain_lattice_free(plain_lattice *l)
{
    if (!l) return;
    free(l->x);
    free(l->v);
    free(l->rest);
    free(l->share);
    free(l->mass);
    free(l->sums);
    free(l->other);
    free(l);
}

static void add(channels *to, const channels *from)
{
    for (int c = 0; c < CHANNELS; c++) to->c[c] += from->c[c];
}

static void take(channels *to, const channels *from)
{
    for (int c = 0; c < CHANNELS; c++) to->c[c] -= from->c[c];
}

/* Sums along one axis, of a line of `count` elements `stride` apart. */
static void sum_line(const channels *from, channels *to, uint32_t count, uint32_t stride, uint32_t w, bool running)
{
    channels sum = {{0}};
    for (uint32_t k = 0; k < w && k < count; k++) add(&sum, &from[(size_t)k * stride]);
    for (uint32_t i = 0; i < count; i++) {
        if (!running) {
            memset(&sum, 0, sizeof sum);
            for (uint32_t k = i < w ? 0 : i - w; k <= i + w && k < count; k++) add(&sum, &from[(size_t)k * stride]);
        } else {
            if (i + w < count) add(&sum, &from[(size_t)(i + w) * stride]);
            if (i > w) take(&sum, &from[(size_t)(i - w - 1) * stride]);
        }
        to[(size_t)i * stride] = sum;
    }
}

/* Sums over the cubes of all particles, in l->sums. */
static void sum_cubes(plain_lattice *l, plain_sums how)
{
    uint32_t nx = l->n[0], ny = l->n[1], nz = l->n[2], w = l->width;
    bool running = how == PLAIN_FAST;
    if (how == PLAIN_NAIVE) {
        for (uint32_t i = 0; i < l->count; i++) {
            uint32_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
            channels sum = {{0}};
            for (uint32_t c = z < w ? 0 : z - w; c <= z + w && c < nz; c++)
                for (uint32_t b = y < w ? 0 : y - w; b <= y + w && b < ny; b++)
                    for (uint32_t a = x < w ? 0 : x - w; a <= x + w && a < nx; a++)
                        add(&sum, &l->sums[((size_t)c * ny + b) * nx + a]);
            l->other[i] = sum;
        }
        channels *swap = l->sums;
        l->sums = l->other, l->other = swap;
        return;
    }
    for (uint32_t line = 0; line < ny * nz; line++)
        sum_line(l->sums + (size_t)line * nx, l->other + (size_t)line * nx, nx, 1, w, running);
    for (uint32_t line = 0; line < nx * nz; line++) {
        size_t first = (size_t)(line / nx) * nx * ny + line % nx;
        sum_line(l->other + first, l->sums + first, ny, nx, w, running);
    }
    for (uint32_t line = 0; line < nx * ny; line++) sum_line(l->sums + line, l->other + line, nz, nx * ny, w, running);
    channels *swap = l->sums;
    l->sums = l->other, l->other = swap;
}

/* Sums of m x and m x x0^T to the map x0 -> c + R (x0 - c0): its constant and its matrix. */
static void fit_regions(plain_lattice *l)
{
    for (uint32_t r = 0; r < l->count; r++) {
        float *s = l->sums[r].c, mass = l->mass[4 * r], c[3], R[9], A[9];
        const float *c0 = l->mass + 4 * r + 1;
        for (int a = 0; a < 3; a++) c[a] = s[a] / mass;
        for (int k = 0; k < 9; k++) A[k] = s[3 + k] - mass * c[k / 3] * c0[k % 3];
        plain_polar_foam(A, R);
        for (int a = 0; a < 3; a++) {
            s[a] = c[a] - (R[3 * a] * c0[0] + R[3 * a + 1] * c0[1] + R[3 * a + 2] * c0[2]);
            for (int b = 0; b < 3; b++) s[3 + 3 * a + b] = R[3 * a + b];
        }
    }
}

void plain_lattice_load(plain_lattice *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const float *x = l->x + 3 * i, *x0 = l->rest + 3 * i;
        for (int a = 0; a < 3; a++) {
            float m = l->share[i] * x[a];
            l->sums[i].c[a] = m;
            for (int b = 0; b < 3; b++) l->sums[i].c[3 + 3 * a + b] = m * x0[b];
        }
    }
}

void plain_lattice_sum(plain_lattice *l, plain_sums sums) { sum_cubes(l, sums); }

void plain_lattice_step(plain_lattice *l, plain_sums sums, float h, float alpha, float gravity)
{
    plain_lattice_load(l);
    sum_cubes(l, sums);
    fit_regions(l);
    sum_cubes(l, sums);
    for (uint32_t i = 0; i < l->count; i++) {
        const float *T = l->sums[i].c, *x0 = l->rest + 3 * i;
        l->v[3 * i + 1] += h * gravity;
        for (uint32_t a = 0; a < 3; a++) {
            float *x = &l->x[3 * i + a], *v = &l->v[3 * i + a];
            float goal = (T[a] + T[3 + 3 * a] * x0[0] + T[4 + 3 * a] * x0[1] + T[5 + 3 * a] * x0[2]) * l->share[i];
            *v += alpha * (goal - *x) / h;
            *x += h * *v;
        }
    }
}

float plain_lattice_channel(const plain_lattice *l, uint32_t particle, uint32_t channel)
{
    return l->sums[particle].c[channel];
}

void plain_lattice_set(plain_lattice *l, uint32_t particle, const float position[3], const float velocity[3])
{
    memcpy(l->x + 3 * (size_t)particle, position, 3 * sizeof(float));
    memcpy(l->v + 3 * (size_t)particle, velocity, 3 * sizeof(float));
}

void plain_lattice_position(const plain_lattice *l, uint32_t particle, float position[3])
{
    memcpy(position, l->x + 3 * (size_t)particle, 3 * sizeof(float));
}
