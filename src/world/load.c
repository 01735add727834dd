#include "world/load.h"

#include "base/dmath.h"
#include "lattice/lattice_body.h"
#include "world/limb.h"

#include <string.h>
#include <stdio.h>
#include <stdlib.h>

#define N LMI_LOAD_LAYERS
#define NOWHERE UINT16_MAX
#define LEAST_FIRM 1e-3 /* a section in which nothing bears is as firm as this share of the firmest */
#define BEYOND 0.2 /* of <x²> along a region: what a bend of its axis has beyond its best affine fit, where it is even; */
#define LEANS (getenv("LN") ? atof(getenv("LN")) : 0.55)
#define STEPS 0.05 /* where it is points that stand apart by s, less than that by this share of s² */
#define GIVES (getenv("GV") ? atof(getenv("GV")) : 1.0)
#define TURNS 12        /* of the iteration for the load at which the body buckles */

/* ---- where things are ---- */

static int cell_of(double at, double from, double to)
{
    double n = to > from ? (at - from) / (to - from) * N : 0.0;
    return n < 0.0 ? 0 : n < N - 1 ? (int)n : N - 1;
}

static double middle_of(int cell, double from, double to) { return from + (cell + 0.5) / N * (to - from); }

static int layer_at(const lmi_load *load, double y) { return cell_of(y, load->lower.y, load->upper.y); }

static int grid_cell(const lmi_load *load, lm_dvec3 p)
{
    int z = cell_of(p.z, load->lower.z, load->upper.z), x = cell_of(p.x, load->lower.x, load->upper.x);
    return (layer_at(load, p.y) * N + z) * N + x;
}

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

/* What weighs: a tetrahedron, or a particle as the cell that it stands for. */
typedef struct part {
    lm_dvec3 at;
    double mass, half; /* of a cube that reaches as far */
    double own;        /* second moment along an axis, over its mass, about `at` */
} part;

static uint32_t part_count(const lmi_body *body) { return body->tet_count ? body->tet_count : body->particle_count; }

static part tet_part(const lmi_body *body, uint32_t n)
{
    lm_dvec3 at[4], middle = lm_dvec3_zero();
    double squares = 0.0;
    for (int i = 0; i < 4; i++) {
        at[i] = dvec_from(body->rest[body->tets[4 * (size_t)n + (size_t)i]]);
        middle = dvec_add(middle, dvec_scale(at[i], 0.25));
    }
    for (int i = 0; i < 4; i++) {
        lm_dvec3 d = dvec_sub(at[i], middle);
        squares += dvec_dot(d, d);
    }
    double six = fabs(dvec_dot(dvec_sub(at[1], at[0]), dvec_cross(dvec_sub(at[2], at[0]), dvec_sub(at[3], at[0]))));
    return (part){middle, six / 6.0, sqrt(squares / 20.0), squares / 60.0};
}

static part part_of(const lmi_load *load, const lmi_body *body, uint32_t n)
{
    part p;
    if (body->tet_count) {
        p = tet_part(body, n);
        p.mass /= load->volume;
    } else {
        uint32_t place = body->place[n];
        p = (part){dvec_from(body->rest[place]), body->mass[place] / body->total_mass, load->half, load->own};
        if (body->octree) {
            p.half = 0.5 * cube_root(load->volume * p.mass);
            p.own = p.half * p.half / 3.0;
        }
    }
    p.at = dmat_apply(&load->rotation, p.at);
    return p;
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

static void add_meeting(lmi_load *load, uint16_t lower, uint16_t upper, double x, double z)
{
    lmi_meeting *m = NULL;
    for (uint32_t n = load->meeting_count; n-- > 0 && !m;) {
        if (load->meetings[n].lower == lower && load->meetings[n].upper == upper) {
            m = &load->meetings[n];
        } else if (load->sections[load->meetings[n].lower].layer != load->sections[lower].layer) {
            break;
        }
    }
    if (!m && load->meeting_count < LMI_LOAD_MEETINGS) {
        m = &load->meetings[load->meeting_count++];
        *m = (lmi_meeting){.lower = lower, .upper = upper};
    }
    if (m) {
        m->area += 1.0;
        m->at[0] += x;
        m->at[1] += z;
    }
}

static void find_meetings(lmi_load *load)
{
    for (int i = 0; i < (N - 1) * N * N; i++) {
        int y = i / (N * N), z = i / N % N, x = i % N;
        uint16_t lower = load->cells[y][z][x], upper = load->cells[y + 1][z][x];
        if (lower && upper) {
            add_meeting(load, (uint16_t)(lower - 1), (uint16_t)(upper - 1), middle_of(x, load->lower.x, load->upper.x),
                        middle_of(z, load->lower.z, load->upper.z));
        }
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

/* Something that reaches up and down over several layers: next_section gives the section of each and the share that lies there. */
typedef struct reach {
    int layer, last, x, z;
    double from, to;
} reach;

static reach reach_of(const lmi_load *load, lm_dvec3 p, double half)
{
    double low = load->lower.y, high = load->upper.y;
    half = fmax(half, 0.5 * (high - low) / N);
    reach r = {.from = fmax(p.y - half, low), .to = fmin(p.y + half, high)};
    r.layer = layer_at(load, r.from);
    r.last = layer_at(load, r.to);
    r.x = cell_of(p.x, load->lower.x, load->upper.x);
    r.z = cell_of(p.z, load->lower.z, load->upper.z);
    return r;
}

static lmi_section *next_section(lmi_load *load, reach *r, double *share)
{
    double height = (load->upper.y - load->lower.y) / N, below = load->lower.y + r->layer * height;
    *share = fmax(fmin(r->to, below + height) - fmax(r->from, below), 0.0) / (r->to - r->from);
    return section_near(load, r->layer++, r->z, r->x);
}

static void add_part(lmi_load *load, const part *p)
{
    double share;
    for (reach r = reach_of(load, p->at, p->half); r.layer <= r.last;) {
        lmi_section *s = next_section(load, &r, &share);
        share *= p->mass;
        if (s) {
            s->mass += share;
            s->side += share * 2.0 * p->half;
            s->middle[0] += share * p->at.x;
            s->middle[1] += share * p->at.z;
            s->j[0] += share * (p->at.x * p->at.x + p->own);
            s->j[1] += share * p->at.x * p->at.z;
            s->j[2] += share * (p->at.z * p->at.z + p->own);
        }
    }
}

void lmi_load_begin(lmi_load *load, lmi_limbs *limbs, const lmi_body *body, const dmat3 *rotation, double volume)
{
    double spacing = body->lattice ? (double)body->lattice->shape.spacing : mean_extent(body);
    memset(load, 0, sizeof *load);
    load->limbs = limbs;
    load->rotation = *rotation;
    load->spread = body->spread;
    load->spacing = body->lattice ? spacing : 0.0;
    load->volume = volume;
    load->dents = body->octree != NULL;
    load->half = (body->lattice ? 0.5 : 0.75) * spacing;
    load->own = body->lattice ? -spacing * spacing / 6.0 : 0.0; /* masses at the corners of cells have too much */
    load->lower = dvec(INFINITY, INFINITY, INFINITY);
    load->upper = dvec(-INFINITY, -INFINITY, -INFINITY);
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 p = dmat_apply(rotation, dvec_from(body->rest[n]));
        load->lower = dvec(fmin(load->lower.x, p.x), fmin(load->lower.y, p.y), fmin(load->lower.z, p.z));
        load->upper = dvec(fmax(load->upper.x, p.x), fmax(load->upper.y, p.y), fmax(load->upper.z, p.z));
    }
    for (uint32_t n = 0; n < part_count(body); n++) {
        part p = part_of(load, body, n);
        fill(load, p.at, 1.05 * p.half); /* neighbours touch */
    }
    find_sections(load);
    find_meetings(load);
    double size = 0.0;
    for (uint32_t n = 0; n < part_count(body); n++) {
        part p = part_of(load, body, n);
        add_part(load, &p);
        size += 2.0 * p.half / part_count(body);
    }
    lmi_limbs_begin(limbs, load, size);
    for (uint32_t n = 0; n < part_count(body); n++) {
        part p = part_of(load, body, n);
        lmi_limbs_add(limbs, grid_cell(load, p.at), p.at, p.mass, p.own);
    }
}

void lmi_load_add(lmi_load *load, double mass, lm_dvec3 centre, const double covariance[9], double whole)
{
    const double *up = load->rotation.m[1], *c = covariance;
    double tall = fmax(up[0] * (c[0] * up[0] + (c[1] + c[3]) * up[1]) + up[1] * (c[4] * up[1] + (c[5] + c[7]) * up[2]) +
                           up[2] * (c[8] * up[2] + (c[2] + c[6]) * up[0]),
                       0.0);
    double share;
    /* A region of even mass with this second moment reaches so far up and down. */
    for (reach r = reach_of(load, dmat_apply(&load->rotation, centre), sqrt(3.0 * tall)); r.layer <= r.last;) {
        lmi_section *s = next_section(load, &r, &share);
        if (s) {
            s->seen += share * mass;
            s->firm += share * mass * fmin(tall / whole, 1.0);
            s->tall += share * mass * tall;
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

/* The ends of a meeting: that which is nearer to the ground is `to`. False where nothing goes through it. */
static bool ends_of(lmi_load *load, const lmi_meeting *m, lmi_section **from, lmi_section **to)
{
    lmi_section *a = &load->sections[m->lower], *b = &load->sections[m->upper];
    *from = a->far > b->far ? a : b;
    *to = a->far > b->far ? b : a;
    return (*from)->far != NOWHERE && (*from)->far != (*to)->far;
}

/* What sections are made of, for each metre of height. */
static bool measure(lmi_load *load, double dy)
{
    double firmest = 0.0, widest = 0.0, seen = 0.0, firm = 0.0, tall = 0.0;
    for (uint32_t n = 0; n < load->section_count; n++) {
        seen += load->sections[n].seen;
        firm += load->sections[n].firm;
        tall += load->sections[n].tall;
    }
    load->bent = seen > 0.0 ? load->spread * 0.125 * tall / seen : 0.0;
    for (uint32_t n = 0; n < load->section_count; n++) {
        lmi_section *s = &load->sections[n];
        bool known = s->seen > 0.0;
        double share = known ? s->firm / s->seen : firm / seen, beyond = known ? s->tall / s->seen : tall / seen;
        for (int i = 0; i < 2; i++) {
            s->middle[i] = s->mass > 0.0 ? s->middle[i] / s->mass : 0.0;
            s->at[i] = s->middle[i];
        }
        s->j[0] = fmax(s->j[0] - s->mass * s->at[0] * s->at[0], 0.0);
        s->j[2] = fmax(s->j[2] - s->mass * s->at[1] * s->at[1], 0.0);
        s->j[1] = s->j[1] - s->mass * s->at[0] * s->at[1];
        double side = load->spacing > 0.0 ? load->spacing : load->dents && s->mass > 0.0 ? s->side / s->mass : sqrt(1.5 * beyond);
        double bent = load->spread * fmax(BEYOND * beyond - STEPS * side * side, 0.0);
        for (int i = 0; i < 2; i++) {
            s->foot[i] = share / dy * (s->j[2 * i] + s->mass * dy * dy / 12.0);
        }
        for (int i = 0; i < 3; i++) {
            s->j[i] = share / dy * (s->j[i] + (i == 1 ? 0.0 : s->mass * bent));
        }
        s->firm = share * s->mass / dy;
        s->gives = s->layer == 0 && load->dents && s->side > 0.0 ? GIVES * beyond / (s->side / s->mass * dy) : 0.0;
        firmest = fmax(firmest, s->firm);
        widest = fmax(widest, s->j[0] + s->j[2]);
    }
    for (uint32_t n = 0; n < load->section_count; n++) {
        lmi_section *s = &load->sections[n];
        s->firm = fmax(s->firm, LEAST_FIRM * firmest);
        s->j[0] += LEAST_FIRM * LEAST_FIRM * widest;
        s->j[2] += LEAST_FIRM * LEAST_FIRM * widest;
        s->j[1] *= s->j[1] * s->j[1] < 0.9 * s->j[0] * s->j[2] ? 1.0 : 0.0;
    }
    return seen > 0.0 && firmest > 0.0 && widest > 0.0;
}

/* The middle of where each section meets those that bear it. */
static void find_supports(lmi_load *load)
{
    lmi_section *from, *to;
    for (uint32_t n = 0; n < load->section_count; n++) {
        load->sections[n].meets[0] = load->sections[n].meets[1] = 0.0;
    }
    for (uint32_t n = 0; n < load->meeting_count; n++) {
        const lmi_meeting *m = &load->meetings[n];
        for (int i = 0; i < 2 && ends_of(load, m, &from, &to); i++) {
            from->meets[i] += m->area / from->passed * m->at[i];
        }
    }
}

/* How much of a section's turning goes into bending what bears it: legs that stand apart are pressed and pulled instead. */
static void find_ties(lmi_load *load)
{
    lmi_section *from, *to;
    for (uint32_t n = 0; n < load->meeting_count; n++) {
        lmi_meeting *m = &load->meetings[n];
        m->at[0] /= m->area;
        m->at[1] /= m->area;
        if (ends_of(load, m, &from, &to)) {
            from->passed += m->area;
            from->stands = from->stands || from->layer > to->layer;
        }
    }
    find_supports(load);
    for (uint32_t n = 0; n < load->meeting_count; n++) {
        const lmi_meeting *m = &load->meetings[n];
        for (int i = 0; i < 2 && ends_of(load, m, &from, &to); i++) {
            double d = m->at[i] - from->meets[i];
            from->tied[i] += m->area * d * d;
            from->bends[i] += m->area * to->j[2 * i] / to->firm;
        }
    }
    for (uint32_t n = 0; n < load->section_count; n++) {
        lmi_section *s = &load->sections[n];
        for (int i = 0; i < 2; i++) {
            s->bends[i] = s->passed > 0.0 ? s->bends[i] / (s->bends[i] + s->tied[i]) : 1.0;
        }
    }
}

/* Passes on what comes through each section, with its first moments. */
static void pass_loads(lmi_load *load, uint16_t farthest)
{
    lmi_section *from, *to;
    for (uint32_t n = 0; n < load->section_count; n++) {
        lmi_section *s = &load->sections[n];
        s->load = s->mass;
        s->moment[0] = s->mass * s->at[0];
        s->moment[1] = s->mass * s->at[1];
    }
    for (uint16_t far = farthest; far > 0; far--) {
        for (uint32_t n = 0; n < load->meeting_count; n++) {
            const lmi_meeting *m = &load->meetings[n];
            if (ends_of(load, m, &from, &to) && from->far == far) {
                double share = m->area / from->passed;
                to->load += share * from->load;
                for (int i = 0; i < 2; i++) {
                    double turns = from->moment[i] - from->load * from->meets[i];
                    to->moment[i] += share * (from->load * m->at[i] + from->bends[i] * turns);
                }
            }
        }
    }
}

/* Bends a section by what comes through it. */
static void bend(lmi_section *s, double dy, bool hinged)
{
    double x = s->moment[0] - s->load * s->at[0], z = s->moment[1] - s->load * s->at[1];
    double per = dy / (s->j[0] * s->j[2] - s->j[1] * s->j[1]);
    double turn[2] = {per * (s->j[2] * x - s->j[1] * z), per * (s->j[0] * z - s->j[1] * x)};
    s->sinks += s->load / s->firm * dy * (1.0 + s->gives);
    for (int i = 0; i < 2 && hinged && s->gives > 0.0; i++) { /* about where it stands */
        s->lean[i] += s->gives * dy * (i ? z : x) / s->foot[i];
        s->aside[i] += s->lean[i] * dy;
    }
    for (int i = 0; i < 2 && s->stands; i++) {
        s->lean[i] += turn[i];
        s->aside[i] += 0.5 * turn[i] * dy;
        s->steep += 0.5 * s->lean[i] * s->lean[i] * dy;
    }
}

/* How sections sink, lean and move aside under what comes through them, from the ground on. */
static void deform(lmi_load *load, uint16_t farthest, double dy, bool hinged)
{
    lmi_section *s, *t;
    for (uint32_t n = 0; n < load->section_count; n++) {
        s = &load->sections[n];
        s->sinks = s->tips = s->steep = s->lean[0] = s->lean[1] = s->aside[0] = s->aside[1] = 0.0;
    }
    for (uint16_t far = 0; far <= farthest; far++) {
        for (uint32_t n = 0; n < load->meeting_count; n++) {
            const lmi_meeting *m = &load->meetings[n];
            if (ends_of(load, m, &s, &t) && s->far == far) {
                double share = m->area / s->passed, up = s->layer > t->layer ? dy : -dy;
                s->sinks += share * t->sinks;
                s->tips += share * t->tips;
                s->steep += share * t->steep;
                for (int i = 0; i < 2; i++) {
                    s->lean[i] += share * s->bends[i] * t->lean[i];
                    s->aside[i] += share * (t->aside[i] + up * t->lean[i]);
                    s->tips += share * t->lean[i] * (s->at[i] - t->at[i]);
                }
            }
        }
        for (uint32_t n = 0; n < load->section_count; n++) {
            if (load->sections[n].far == far) {
                bend(&load->sections[n], dy, hinged);
            }
        }
    }
}

/* ---- the column ---- */

/* e/g below which the body buckles: the largest share of a sideways shape that comes back as what its own weight, moved aside by
 * it, bends. By iteration, from a body that leans. */
static double buckling_of(lmi_load *load, uint16_t farthest, double dy)
{
    lmi_section *from, *to;
    double found = 0.0;
    for (uint32_t n = 0; n < load->section_count; n++) {
        load->sections[n].aside[0] = load->sections[n].aside[1] = 1.0 + load->sections[n].layer;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        double square = 0.0;
        for (uint32_t n = 0; n < load->section_count; n++) {
            const lmi_section *s = &load->sections[n];
            square += s->mass * (s->aside[0] * s->aside[0] + s->aside[1] * s->aside[1]);
        }
        for (uint32_t n = 0; n < load->section_count; n++) {
            lmi_section *s = &load->sections[n];
            s->at[0] = square > 0.0 ? s->aside[0] / sqrt(square) : 0.0;
            s->at[1] = square > 0.0 ? s->aside[1] / sqrt(square) : 0.0;
        }
        for (uint32_t n = 0; n < load->meeting_count; n++) {
            lmi_meeting *m = &load->meetings[n];
            for (int i = 0; i < 2 && ends_of(load, m, &from, &to); i++) {
                m->at[i] = to->at[i];
            }
        }
        find_supports(load);
        pass_loads(load, farthest);
        deform(load, farthest, dy, true);
        found = 0.0;
        for (uint32_t n = 0; n < load->section_count; n++) {
            const lmi_section *s = &load->sections[n];
            found += s->mass * (s->at[0] * s->aside[0] + s->at[1] * s->aside[1]);
        }
    }
    return fmax(found, 0.0);
}

/* What a place sinks by where e/g is 1, as shares of e, of what buckling leaves of it, and of the square of that. */
typedef struct descent {
    double sinks, tips, steep;
} descent;

static double sunk_by(const descent *d, double e, double buckles)
{
    double left = e - buckles;
    return d->sinks / e + LEANS * d->tips / left + d->steep / (left * left);
}

/* The cell that sinks most, with the section that it is in as it leans. */
static descent deepest(const lmi_load *load, const descent *of, double e, double buckles)
{
    descent found = {0};
    double most = -1.0;
    for (int i = 0; i < N * N * N; i++) {
        int y = i / (N * N), z = i / N % N, x = i % N;
        uint16_t label = load->cells[y][z][x];
        const lmi_section *s = label ? &load->sections[label - 1] : NULL;
        if (s && s->far != NOWHERE && s->mass > 0.0) {
            descent d = of[label - 1];
            d.tips += s->slope[0] * (middle_of(x, load->lower.x, load->upper.x) - s->middle[0]) +
                      s->slope[1] * (middle_of(z, load->lower.z, load->upper.z) - s->middle[1]);
            d.tips = fmax(d.tips, (getenv("LM") ? atof(getenv("LM")) : 1.0) / LEANS * lmi_limbs_sinks(load->limbs, i,
                                                  dvec(middle_of(x, load->lower.x, load->upper.x),
                                                       middle_of(y, load->lower.y, load->upper.y),
                                                       middle_of(z, load->lower.z, load->upper.z))));
            double sinks = sunk_by(&d, e, buckles);
            if (sinks > most) {
                most = sinks;
                found = d;
            }
        }
    }
    return found;
}

/* The e at which this sinks by what is asked: by Newton's method, from below. */
static double enough(const descent *d, double e, double buckles, double asked)
{
    for (int turn = 0; turn < 100; turn++) {
        double left = e - buckles, more = sunk_by(d, e, buckles) - asked;
        if (more <= 1e-9 * asked) {
            break;
        }
        e += more / (d->sinks / (e * e) + LEANS * d->tips / (left * left) + 2.0 * d->steep / (left * left * left));
    }
    return e;
}

double lmi_load_column(lmi_load *load, double height)
{
    const double tall = load->upper.y - load->lower.y, dy = tall / N, asked = (double)LM_DEFAULT_SAG * tall;
    descent of[LMI_LOAD_SECTIONS];
    uint16_t farthest = find_ways(load);
    if (!measure(load, dy)) {
        return height;
    }
    find_ties(load);
    pass_loads(load, farthest);
    deform(load, farthest, dy, false);
    for (uint32_t n = 0; n < load->section_count; n++) {
        lmi_section *s = &load->sections[n];
        of[n] = (descent){s->sinks, s->tips, s->steep};
        s->slope[0] = s->lean[0];
        s->slope[1] = s->lean[1];
    }
    lmi_limbs_bend(load->limbs, load->bent);
    double buckles = buckling_of(load, farthest, dy), e = (load->spacing > 0.0 ? 1.15 : LMI_LOAD_SAFE) * buckles + 1e-9 * tall;
    for (int turn = 0; turn < 8; turn++) { /* another place may sink most then */
        descent d = deepest(load, of, e, buckles);
        double before = e;
        e = enough(&d, e, buckles, asked);
        if (e <= before) {
            break;
        }
    }
    if (getenv("DBGL")) {
        descent d = deepest(load, of, e, buckles);
        for (int i = 0; i < N*N*N; i++) if (load->cells[i/N/N][i/N%N][i%N]) { static double m; static lmi_load *l; if (l != load) m = 0, l = load; double q = lmi_limbs_sinks(load->limbs, i, dvec(middle_of(i%N, load->lower.x, load->upper.x), middle_of(i/N/N, load->lower.y, load->upper.y), middle_of(i/N%N, load->lower.z, load->upper.z))); if (q > m) { m = q; if (i > 30000*0) fprintf(stderr, "limb %d: y %d z %d x %d %g\n", i, i/N/N, i/N%N, i%N, q); } }
        printf("e %g buckles %g sinks/e %.4f tips/d %.4f steep %.4f (of tall)\n", e, buckles, d.sinks/e/tall, d.tips/(e-buckles)/tall, d.steep/(e-buckles)/(e-buckles)/tall);
        for (uint32_t n = 0; n < load->section_count; n++) { lmi_section *s = &load->sections[n];
            printf("s%u layer %u far %u mass %.5f load %.4f firm %.4f j %.3g %.3g bends %.2f %.2f mid %.3f %.3f share-tall %.4g aside %.3g %.3g\n", n, s->layer, s->far, s->mass, s->load, s->firm, s->j[0], s->j[2], s->bends[0], s->bends[1], s->middle[0], s->middle[1], s->seen>0?s->tall/s->seen:-1, s->aside[0], s->aside[1]); }
    }
    if (getenv("EMUL")) e *= atof(getenv("EMUL"));
    double column = 2.0 * (double)LM_DEFAULT_SAG * e;
    return column < LMI_LOAD_MOST * height ? column : LMI_LOAD_MOST * height;
}
