#include "world/load.h"

#include "base/dmath.h"
#include "lattice/lattice_body.h"

#include <string.h>

#define N LMI_LOAD_LAYERS
#define NOWHERE UINT16_MAX
#define LEAST_FIRM 1e-3 /* a layer in which nothing bears is as firm as this share of the firmest */

/* ---- where things are ---- */

static int cell_of(double at, double from, double to)
{
    double n = to > from ? (at - from) / (to - from) * N : 0.0;
    return n < 0.0 ? 0 : n < N - 1 ? (int)n : N - 1;
}

static int layer_at(const lmi_load *load, double y) { return cell_of(y, load->lower.y, load->upper.y); }

/* By Newton's method, with the same bits everywhere. */
static double cube_root(double v)
{
    double r = 1.0;
    for (int n = 0; n < 200 && v > 0.0; n++) {
        double next = (2.0 * r + v / (r * r)) / 3.0;
        if (fabs(next - r) <= 1e-14 * r) {
            break;
        }
        r = next;
    }
    return v > 0.0 ? r : 0.0;
}

/* Marks the cells that a particle of this size fills. */
static void fill(lmi_load *load, lm_dvec3 p, double half)
{
    const lm_dvec3 *a = &load->lower, *b = &load->upper;
    int x1 = cell_of(p.x + half, a->x, b->x), y1 = cell_of(p.y + half, a->y, b->y),
        z1 = cell_of(p.z + half, a->z, b->z);
    for (int y = cell_of(p.y - half, a->y, b->y); y <= y1; y++) {
        for (int z = cell_of(p.z - half, a->z, b->z); z <= z1; z++) {
            for (int x = cell_of(p.x - half, a->x, b->x); x <= x1; x++) {
                load->cells[y][z][x] = NOWHERE;
            }
        }
    }
}

/* Of the regions along their longest axes: of the ring around a particle of even tetrahedra it is 0.7 of their edge. */
static double mean_extent(const lmi_body *body)
{
    double sum = 0.0;
    for (uint32_t r = 0; r < body->region_count; r++) {
        sum += body->regions[r].extent[0];
    }
    return body->region_count ? sum / body->region_count : 0.0;
}

static void add_particles(lmi_load *load, const lmi_body *body, double volume)
{
    double mean = body->lattice ? 0.5 * (double)body->lattice->shape.spacing : 0.75 * mean_extent(body);
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 p = dmat_apply(&load->rotation, dvec_from(body->rest[n]));
        double mass = body->mass[n] / body->total_mass;
        double half = body->octree ? 0.5 * cube_root(volume * mass) : mean;
        int layer = layer_at(load, p.y);
        load->mass[layer] += mass;
        load->x[layer] += mass * p.x;
        load->z[layer] += mass * p.z;
        fill(load, p, 1.05 * half); /* neighbours touch */
    }
}

/* ---- sections ---- */

/* Gives all cells of a layer that are connected with this one its section. */
static void flood(uint16_t cells[N][N], int z, int x, uint16_t label)
{
    uint16_t stack[N * N];
    int count = 0;
    stack[count++] = (uint16_t)(z * N + x);
    cells[z][x] = label;
    while (count > 0) {
        int at = stack[--count];
        for (int side = 0; side < 4; side++) {
            int zz = at / N + (side == 0) - (side == 1), xx = at % N + (side == 2) - (side == 3);
            if (zz >= 0 && zz < N && xx >= 0 && xx < N && cells[zz][xx] == NOWHERE) {
                cells[zz][xx] = label;
                stack[count++] = (uint16_t)(zz * N + xx);
            }
        }
    }
}

static void find_sections(lmi_load *load)
{
    for (int i = 0; i < N * N * N; i++) {
        int y = i / (N * N), z = i / N % N, x = i % N;
        if (load->cells[y][z][x] == NOWHERE) {
            if (load->section_count < LMI_LOAD_SECTIONS) { /* what is beyond belongs to the last one */
                lmi_section *s = &load->sections[load->section_count++];
                s->layer = (uint16_t)y;
                s->far = y == 0 ? 0 : NOWHERE;
            }
            flood(load->cells[y], z, x, (uint16_t)load->section_count);
        }
    }
}

static void add_meeting(lmi_load *load, uint16_t lower, uint16_t upper)
{
    for (uint32_t n = load->meeting_count; n-- > 0;) {
        if (load->meetings[n].lower == lower && load->meetings[n].upper == upper) {
            load->meetings[n].area += 1.0;
            return;
        }
        if (load->sections[load->meetings[n].lower].layer != load->sections[lower].layer) {
            break;
        }
    }
    if (load->meeting_count < LMI_LOAD_MEETINGS) {
        load->meetings[load->meeting_count++] = (lmi_meeting){lower, upper, 1.0};
    }
}

static void find_meetings(lmi_load *load)
{
    for (int i = 0; i < (N - 1) * N * N; i++) {
        int y = i / (N * N), z = i / N % N, x = i % N;
        uint16_t lower = load->cells[y][z][x], upper = load->cells[y + 1][z][x];
        if (lower && upper) {
            add_meeting(load, (uint16_t)(lower - 1), (uint16_t)(upper - 1));
        }
    }
}

void lmi_load_begin(lmi_load *load, const lmi_body *body, const dmat3 *rotation, double volume)
{
    memset(load, 0, sizeof *load);
    load->rotation = *rotation;
    load->lower = dvec(INFINITY, INFINITY, INFINITY);
    load->upper = dvec(-INFINITY, -INFINITY, -INFINITY);
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 p = dmat_apply(rotation, dvec_from(body->rest[n]));
        load->lower = dvec(fmin(load->lower.x, p.x), fmin(load->lower.y, p.y), fmin(load->lower.z, p.z));
        load->upper = dvec(fmax(load->upper.x, p.x), fmax(load->upper.y, p.y), fmax(load->upper.z, p.z));
    }
    add_particles(load, body, volume);
    find_sections(load);
    find_meetings(load);
}

/* ---- regions ---- */

/* R C R^T */
static void turned(const dmat3 *rotation, const double covariance[9], double out[9])
{
    double half[9];
    for (int i = 0; i < 9; i++) {
        const double *row = rotation->m[i / 3], *c = covariance + i % 3;
        half[i] = row[0] * c[0] + row[1] * c[3] + row[2] * c[6];
    }
    for (int i = 0; i < 9; i++) {
        const double *a = half + 3 * (i / 3), *row = rotation->m[i % 3];
        out[i] = a[0] * row[0] + a[1] * row[1] + a[2] * row[2];
    }
}

/* The section of a layer that is nearest to a cell; null: the layer has none. */
static lmi_section *section_near(lmi_load *load, int layer, int z, int x)
{
    const lmi_section *found = NULL;
    int nearest = 3 * N * N;
    if (load->cells[layer][z][x]) {
        return &load->sections[load->cells[layer][z][x] - 1];
    }
    for (int i = 0; i < N * N; i++) {
        int dz = i / N - z, dx = i % N - x, far = dz * dz + dx * dx;
        if (load->cells[layer][i / N][i % N] && far < nearest) {
            nearest = far;
            found = &load->sections[load->cells[layer][i / N][i % N] - 1];
        }
    }
    return (lmi_section *)found;
}

void lmi_load_add(lmi_load *load, double mass, lm_dvec3 centre, const double covariance[9], double whole)
{
    double c[9], low = load->lower.y, high = load->upper.y, height = (high - low) / N;
    lm_dvec3 p = dmat_apply(&load->rotation, centre);
    turned(&load->rotation, covariance, c);
    load->regions += mass;
    /* A region of even mass with this second moment reaches so far up and down. */
    double reach = fmax(sqrt(3.0 * fmax(c[4], 0.0)), 0.5 * height), firm = mass * fmin(fmax(c[4], 0.0) / whole, 1.0);
    double from = fmax(p.y - reach, low), to = fmin(p.y + reach, high);
    int x = cell_of(p.x, load->lower.x, load->upper.x), z = cell_of(p.z, load->lower.z, load->upper.z);
    for (int n = layer_at(load, from); n <= layer_at(load, to) && to > from; n++) {
        double below = low + n * height;
        double share = fmax(fmin(to, below + height) - fmax(from, below), 0.0) / (to - from) * firm;
        lmi_section *s = section_near(load, n, z, x);
        if (s) {
            s->bearing.firm += share;
            s->bearing.x += share * p.x;
            s->bearing.z += share * p.z;
            s->bearing.xx += share * (p.x * p.x + c[0]);
            s->bearing.xz += share * (p.x * p.z + c[2]);
            s->bearing.zz += share * (p.z * p.z + c[8]);
        }
    }
}

/* ---- what comes through ---- */

/* How many sections each is from the ground. What nothing connects with it stays where it is. */
static uint16_t find_ways(lmi_load *load)
{
    bool changed = true;
    uint16_t farthest = 0;
    for (uint32_t turn = 0; changed && turn < LMI_LOAD_SECTIONS; turn++) {
        changed = false;
        for (uint32_t i = 0; i < load->meeting_count; i++) { /* once upwards, once downwards */
            const lmi_meeting *m = &load->meetings[turn % 2 ? load->meeting_count - 1 - i : i];
            lmi_section *a = &load->sections[m->lower], *b = &load->sections[m->upper];
            if (a->far != NOWHERE && (b->far == NOWHERE || b->far > a->far + 1)) {
                b->far = (uint16_t)(a->far + 1);
                changed = true;
            }
            if (b->far != NOWHERE && (a->far == NOWHERE || a->far > b->far + 1)) {
                a->far = (uint16_t)(b->far + 1);
                changed = true;
            }
        }
        changed = changed || turn == 0;
    }
    for (uint32_t n = 0; n < load->section_count; n++) {
        uint16_t far = load->sections[n].far;
        farthest = far != NOWHERE && far > farthest ? far : farthest;
    }
    return farthest;
}

static void pass_loads(lmi_load *load)
{
    uint16_t farthest = find_ways(load);
    for (uint32_t n = 0; n < load->meeting_count; n++) {
        lmi_section *a = &load->sections[load->meetings[n].lower], *b = &load->sections[load->meetings[n].upper];
        if (a->far != NOWHERE && a->far != b->far) {
            (a->far > b->far ? a : b)->passed += load->meetings[n].area;
        }
    }
    for (uint32_t n = 0; n < load->section_count; n++) {
        load->sections[n].load = load->sections[n].bearing.firm;
    }
    for (uint16_t far = farthest; far > 0; far--) {
        for (uint32_t n = 0; n < load->meeting_count; n++) {
            lmi_section *a = &load->sections[load->meetings[n].lower], *b = &load->sections[load->meetings[n].upper];
            lmi_section *from = a->far > b->far ? a : b, *to = a->far > b->far ? b : a;
            if (from->far == far && to->far + 1 == far) {
                to->load += from->load * load->meetings[n].area / from->passed;
            }
        }
    }
}

/* What bears in each layer. */
static void find_bearings(lmi_load *load, lmi_bearing layers[N])
{
    double most[N] = {0};
    memset(layers, 0, N * sizeof *layers);
    pass_loads(load);
    for (uint32_t n = 0; n < load->section_count; n++) {
        const lmi_section *s = &load->sections[n];
        most[s->layer] = s->bearing.firm > 0.0 ? fmax(most[s->layer], s->load / s->bearing.firm) : most[s->layer];
    }
    for (uint32_t n = 0; n < load->section_count; n++) {
        const lmi_section *s = &load->sections[n];
        const lmi_bearing *b = &s->bearing;
        lmi_bearing *l = &layers[s->layer];
        if (b->firm > 0.0) {
            double share = s->load / b->firm / most[s->layer];
            l->firm += share * b->firm;
            l->x += share * b->x;
            l->z += share * b->z;
            l->xx += share * b->xx;
            l->xz += share * b->xz;
            l->zz += share * b->zz;
        }
    }
}

/* ---- the column ---- */

/* The least second moment across of what bears in a layer, about its middle. */
static double least_moment(const lmi_bearing *l)
{
    double xx = l->xx - l->x * l->x / l->firm, zz = l->zz - l->z * l->z / l->firm, xz = l->xz - l->x * l->z / l->firm;
    double apart = 0.5 * (xx - zz);
    return fmax(0.5 * (xx + zz) - sqrt(apart * apart + xz * xz), 0.0);
}

double lmi_load_column(lmi_load *load, double height)
{
    const double tall = load->upper.y - load->lower.y, dy = tall / N, per = 1.0 / (load->regions * dy);
    double firmest = 0.0, widest = 0.0, k[N], j[N], above[N];
    lmi_bearing layers[N];
    find_bearings(load, layers);
    for (int n = 0; n < N; n++) {
        j[n] = layers[n].firm > 0.0 ? least_moment(&layers[n]) : 0.0;
        firmest = fmax(firmest, layers[n].firm);
        widest = fmax(widest, j[n]);
    }
    if (!(firmest > 0.0 && widest > 0.0)) {
        return height;
    }
    double mass = 0.0, x = 0.0, z = 0.0, moment = 0.0, sinks = 0.0;
    for (int n = N - 1; n >= 0; n--) {
        const lmi_bearing *l = &layers[n];
        double firm = fmax(l->firm, LEAST_FIRM * firmest) * per, aside = 0.0;
        j[n] = fmax(j[n], LEAST_FIRM * LEAST_FIRM * widest) * per;
        above[n] = mass + 0.5 * load->mass[n]; /* the middle of the layer */
        moment += above[n] * dy;
        x += 0.5 * load->x[n], z += 0.5 * load->z[n];
        if (l->firm > 0.0 && above[n] > 0.0) {
            double dx = x / above[n] - l->x / l->firm, dz = z / above[n] - l->z / l->firm;
            aside = dx * dx + dz * dz;
        }
        sinks += above[n] * (1.0 / firm + aside / j[n]) * dy;
        k[n] = moment / j[n];
        mass += load->mass[n];
        x += 0.5 * load->x[n], z += 0.5 * load->z[n];
    }
    double slope = 0.0, weight = 0.0, bending = 0.0;
    for (int n = 0; n < N; n++) {
        slope += 0.5 * k[n] * dy;
        weight += above[n] * slope * slope;
        bending += j[n] * k[n] * k[n];
        slope += 0.5 * k[n] * dy;
    }
    double column = 2.0 * sinks / tall + LMI_LOAD_SAFE * weight / bending;
    return column < LMI_LOAD_MOST * height ? column : LMI_LOAD_MOST * height;
}
