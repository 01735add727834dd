/*
 * What the skin of a lattice that was cut rides on, and where at rest what is inside of it is (skin/slit.h).
 */
#include "base/sets.h"
#include "base/triples.h"
#include "fracture/fracture.h"
#include "lattice/lattice_body.h"
#include "skin/slit.h"
#include "skin/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LMI_LATTICE_NONE
#define ASIDE 0.02 /* spacings that a point is moved off the faces that it is on before it looks around */
#define JUMP 0.75  /* spacings that a point may move when it rides on another cell */
#define FAR 4      /* cells that it looks for one */

static uint32_t whole_cell(const lmi_lattice *l, const int32_t at[3])
{
    uint32_t cell = lmi_lattice_find(l, at[0], at[1], at[2]);
    bool is = cell != NONE && (lmi_lattice_whole(l)[cell / LMI_BLOCK] >> (cell % LMI_BLOCK) & 1);
    return is ? cell : NONE;
}

/* Square of the distance from a point to a cell. */
static double distance(const double at[3], const int32_t cell[3])
{
    double sum = 0.0;
    for (int a = 0; a < 3; a++) {
        double off = fmax(fmax(cell[a] - at[a], at[a] - cell[a] - 1.0), 0.0);
        sum += off * off;
    }
    return sum;
}

/* --- from now to rest --- */

/* The nearest whole cell of a part; NONE: none is near. */
static uint32_t cell_near(const lmi_body *body, uint32_t part, const double at[3])
{
    const lmi_lattice *l = &body->lattice->shape;
    const int32_t from[3] = {(int32_t)floor(at[0]), (int32_t)floor(at[1]), (int32_t)floor(at[2])};
    uint32_t best = NONE;
    double least = INFINITY;
    for (int32_t reach = 0; reach <= FAR && best == NONE; reach++) {
        const int32_t side = 2 * reach + 1;
        for (int32_t n = 0; n < side * side * side; n++) {
            const int32_t cell[3] = {from[0] + n % side - reach, from[1] + n / side % side - reach,
                                     from[2] + n / (side * side) - reach};
            double square = distance(at, cell);
            uint32_t place = square < least ? whole_cell(l, cell) : NONE;
            if (place != NONE && lmi_lattice_part_of(body, place) == part) {
                least = square;
                best = place;
            }
        }
    }
    return best;
}

/* Where a cell carries a place now, and how that changes along its axes. */
static lm_dvec3 carry(const lmi_body *body, uint32_t cell, const double at[3], lm_dvec3 by[3])
{
    const lmi_lattice *l = &body->lattice->shape;
    int32_t low[3];
    lm_dvec3 sum = lm_dvec3_zero();
    lmi_lattice_corner(l, cell, low);
    const double t[3] = {at[0] - low[0], at[1] - low[1], at[2] - low[2]};
    by[0] = by[1] = by[2] = sum;
    for (int32_t k = 0; k < 8; k++) {
        const int32_t up[3] = {k & 1, k >> 1 & 1, k >> 2};
        const float *x = body->x + 4 * (size_t)lmi_lattice_find(l, low[0] + up[0], low[1] + up[1], low[2] + up[2]);
        double w[3], d[3];
        for (int a = 0; a < 3; a++) {
            w[a] = up[a] ? t[a] : 1.0 - t[a];
            d[a] = up[a] ? 1.0 : -1.0;
        }
        lm_dvec3 p = dvec(x[0], x[1], x[2]);
        sum = dvec_add(sum, dvec_scale(p, w[0] * w[1] * w[2]));
        by[0] = dvec_add(by[0], dvec_scale(p, d[0] * w[1] * w[2]));
        by[1] = dvec_add(by[1], dvec_scale(p, w[0] * d[1] * w[2]));
        by[2] = dvec_add(by[2], dvec_scale(p, w[0] * w[1] * d[2]));
    }
    return sum;
}

void lmi_slit_find_rest(const lmi_body *body, uint32_t part, lm_dvec3 at, double guess[3])
{
    double best[3] = {guess[0], guess[1], guess[2]}, least = INFINITY;
    for (int tries = 0; tries < 16; tries++) {
        lm_dvec3 by[3];
        uint32_t cell = cell_near(body, part, guess);
        if (cell == NONE) {
            break;
        }
        lm_dvec3 off = dvec_sub(at, carry(body, cell, guess, by));
        double away = dvec_length(off);
        if (away < least) {
            least = away;
            memcpy(best, guess, sizeof best);
        }
        if (away < 1e-7 * body->lattice->shape.spacing) {
            break;
        }
        double volume = dvec_dot(by[0], dvec_cross(by[1], by[2]));
        if (!(fabs(volume) > 1e-300)) {
            break;
        }
        const double step[3] = {dvec_dot(off, dvec_cross(by[1], by[2])) / volume,
                                dvec_dot(off, dvec_cross(by[2], by[0])) / volume,
                                dvec_dot(off, dvec_cross(by[0], by[1])) / volume};
        for (int a = 0; a < 3; a++) {
            guess[a] += fmin(fmax(step[a], -1.0), 1.0);
        }
    }
    memcpy(guess, best, sizeof best);
}

bool lmi_slit_is_near(const lmi_body *body, uint32_t part, const double at[3], double far)
{
    int32_t low[3];
    uint32_t cell = cell_near(body, part, at);
    if (cell != NONE) {
        lmi_lattice_corner(&body->lattice->shape, cell, low);
    }
    return cell != NONE && distance(at, low) <= far * far;
}

lm_dvec3 lmi_slit_turn_back(const lmi_body *body, uint32_t part, const double at[3], lm_dvec3 normal)
{
    const lmi_lattice *l = &body->lattice->shape;
    uint32_t cell = cell_near(body, part, at);
    lm_dvec3 by[3];
    double to[3];
    if (cell == NONE) {
        return normal;
    }
    carry(body, cell, at, by);
    for (uint32_t a = 0; a < 3; a++) {
        to[(a + l->turn) % 3] = dvec_dot(by[a], normal);
    }
    return dvec(to[0], to[1], to[2]);
}

/* --- riders --- */

typedef struct rider {
    const lmi_body *body;
    const lmi_lattice *l;
    lmi_slit_plan *plan;
    lmi_blade faces;  /* of earlier cuts, along the lattice's axes */
    lm_dvec3 *normal; /* [vertices] of points: sums over the faces around */
    uint32_t *cell;   /* [vertices] of points: what they ride on; NONE: not known */
    bool *changed;    /* [vertices] of points */
    uint32_t old;     /* vertices that there were */

    /* Cells that were looked at lately: many points look at the same ones, and each at most of them several times. */
    lm_dvec3 *middle; /* [places] where the middle of a cell is now */
    bool *known;      /* [places] it was found */
    uint32_t *asked;  /* [places] who looked last: see asked_by; 0: nobody */
    bool *seen;       /* [places] what came of it */
} rider;

/* A point and how it looks. */
static uint32_t asked_by(uint32_t point, bool earlier) { return 2 * point + 1 + earlier; }

/* Where a point is now; a new one a little off the blade. */
static lm_dvec3 now_of(const rider *r, uint32_t point)
{
    return point < r->old ? r->plan->points[point] : r->plan->eyes[point - r->old];
}

static void place_of(const rider *r, uint32_t vertex, double at[3])
{
    lmi_slit_locate(r->l, dvec_from(r->plan->skin.vertices[vertex]), at);
}

/* What lay between points before, and the normals of points on faces. */
static bool look(rider *r, lmi_memory *memory)
{
    const lmi_skin *skin = &r->plan->skin;
    const lmi_slit *before = r->body->slit;
    const uint32_t faces = before ? before->wall_count : 0;
    lmi_blade_triangle *list = lmi_allocate(memory, faces, sizeof *list);
    for (uint32_t n = 0; list && n < 3 * faces; n++) {
        double at[3];
        lmi_slit_locate(r->l, dvec_from(before->walls[n / 3][n % 3]), at);
        list[n / 3].corner[n % 3] = dvec(at[0], at[1], at[2]);
    }
    for (uint32_t n = 0; list && faces && n < skin->triangle_count; n++) {
        lm_dvec3 p[3];
        if (skin->sources[skin->triangles[3 * (size_t)n]] != LM_SKIN_INNER) {
            continue;
        }
        for (uint32_t i = 0; i < 3; i++) {
            double at[3];
            place_of(r, skin->triangles[3 * (size_t)n + i], at);
            p[i] = dvec(at[0], at[1], at[2]);
        }
        lm_dvec3 area = dvec_cross(dvec_sub(p[1], p[0]), dvec_sub(p[2], p[0]));
        for (uint32_t i = 0; i < 3; i++) {
            lm_dvec3 *sum = &r->normal[r->plan->slit->point[skin->triangles[3 * (size_t)n + i]]];
            *sum = dvec_add(*sum, area);
        }
    }
    bool ok = list && lmi_blade_make(&r->faces, memory, list, faces);
    lmi_release(memory, list, faces, sizeof *list);
    return ok;
}

/* From where a point looks past earlier cuts: a little off their faces. */
static lm_dvec3 eye_of(const rider *r, uint32_t point)
{
    double at[3], length = dvec_length(r->normal[point]);
    place_of(r, point, at);
    return dvec_sub(dvec(at[0], at[1], at[2]), dvec_scale(r->normal[point], length > 0.0 ? ASIDE / length : 0.0));
}

/* Whether a point sees the middle of a cell: past this cut as it is now, where the blade is straight, and past earlier ones at rest. */
static bool looks(const rider *r, uint32_t point, uint32_t cell, bool earlier)
{
    const lm_dvec3 eye = now_of(r, point);
    int32_t low[3];
    lmi_lattice_corner(r->l, cell, low);
    const double middle[3] = {low[0] + 0.5, low[1] + 0.5, low[2] + 0.5};
    if (!r->known[cell]) {
        lm_dvec3 by[3];
        r->middle[cell] = carry(r->body, cell, middle, by);
        r->known[cell] = true;
    }
    return !lmi_blade_crossed(&r->plan->sheet.tree, eye, r->middle[cell]) &&
           (!earlier || !lmi_blade_crossed(&r->faces, eye_of(r, point), dvec(middle[0], middle[1], middle[2])));
}

static bool sees_middle(const rider *r, uint32_t point, uint32_t cell, bool earlier)
{
    if (r->asked[cell] != asked_by(point, earlier)) {
        r->asked[cell] = asked_by(point, earlier);
        r->seen[cell] = looks(r, point, cell, earlier);
    }
    return r->seen[cell];
}

/* A cell goes with the chips of its corners, and blades part chips by their middles: it is those that a point has to see. */
static bool sees(const rider *r, uint32_t point, uint32_t cell, bool earlier)
{
    const uint32_t *chips = r->body->fracture ? r->body->fracture->chips : NULL;
    uint32_t seen[8], count = 0;
    int32_t low[3];
    lmi_lattice_corner(r->l, cell, low);
    for (int32_t k = 0; chips && k < 8; k++) {
        uint32_t chip = chips[lmi_lattice_find(r->l, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2))];
        bool fresh = true;
        for (uint32_t n = 0; n < count; n++) {
            fresh = fresh && seen[n] != chip;
        }
        if (fresh && !sees_middle(r, point, chip, earlier)) {
            return false;
        }
        if (fresh) {
            seen[count++] = chip;
        }
    }
    return chips || sees_middle(r, point, cell, earlier);
}

/* Whether a cell carries a point about to where it is now: those of pieces that have moved away do not. */
static bool keeps_place(const rider *r, uint32_t point, uint32_t cell, const double at[3])
{
    lm_dvec3 by[3];
    return dvec_length(dvec_sub(carry(r->body, cell, at, by), now_of(r, point))) < JUMP * r->l->spacing;
}

/* The nearest whole cell that a point sees and that carries it where it is, or (`blind`) the nearest. */
static uint32_t find_cell(const rider *r, uint32_t point, bool blind)
{
    double at[3], least = INFINITY;
    uint32_t best = NONE;
    place_of(r, point, at);
    const int32_t from[3] = {(int32_t)floor(at[0]), (int32_t)floor(at[1]), (int32_t)floor(at[2])};
    for (int32_t reach = 0; reach <= FAR && (best == NONE || reach * reach < least); reach++) {
        const int32_t side = 2 * reach + 1;
        for (int32_t n = 0; n < side * side * side; n++) {
            const int32_t off[3] = {n % side - reach, n / side % side - reach, n / (side * side) - reach};
            if (abs(off[0]) != reach && abs(off[1]) != reach && abs(off[2]) != reach) {
                continue; /* of the last round */
            }
            const int32_t cell[3] = {from[0] + off[0], from[1] + off[1], from[2] + off[2]};
            double square = distance(at, cell);
            uint32_t place = square < least ? whole_cell(r->l, cell) : NONE;
            if (place != NONE && keeps_place(r, point, place, at) && (blind || sees(r, point, place, true))) {
                least = square;
                best = place;
            }
        }
    }
    return best;
}

/* Whether what an old point rides on is whole, and still in sight. */
static bool still_rides(const rider *r, uint32_t point, uint32_t cell)
{
    const double reach = 4.0 * r->l->spacing;
    const lm_dvec3 at = r->plan->points[point], far = dvec(reach, reach, reach);
    const lmi_box box = {dvec_sub(at, far), dvec_add(at, far)};
    int32_t low[3];
    lmi_lattice_corner(r->l, cell, low);
    if (whole_cell(r->l, low) == NONE) {
        return false;
    }
    return r->plan->sheet.tree.count == 0 || !lmi_blade_is_near(&r->plan->sheet.tree, &box) ||
           sees(r, point, cell, false);
}

/* Points that found nothing take what a neighbour rides on. */
static void spread(rider *r)
{
    const lmi_skin *skin = &r->plan->skin;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < 3 * skin->triangle_count; n++) {
            uint32_t a = r->plan->slit->point[skin->triangles[n]];
            uint32_t b = r->plan->slit->point[skin->triangles[n / 3 * 3 + (n % 3 + 1) % 3]];
            uint32_t lost = r->cell[a] == NONE ? a : b, found = lost == a ? b : a;
            if (r->cell[lost] == NONE && r->cell[found] != NONE) {
                r->cell[lost] = r->cell[found];
                changed = true;
            }
        }
    }
}

/* What the nearest point rides on that found something: for crumbs of bodies that are so deformed that no cell is near them. */
static uint32_t cell_of_nearest(const rider *r, uint32_t point)
{
    uint32_t best = NONE;
    double least = INFINITY;
    for (uint32_t n = 0; n < r->plan->skin.vertex_count; n++) {
        const lm_dvec3 way = dvec_sub(now_of(r, n), now_of(r, point));
        const double square = dvec_dot(way, way);
        if (r->plan->slit->point[n] == n && r->cell[n] != NONE && square < least) {
            least = square;
            best = r->cell[n];
        }
    }
    return best;
}

static void find_cells(rider *r)
{
    const lmi_skin *skin = &r->plan->skin;
    bool lost = false;
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        if (r->plan->slit->point[n] != n) {
            continue;
        }
        r->cell[n] = n < r->old ? skin->riders[8 * (size_t)n] : NONE;
        r->changed[n] = n >= r->old || !still_rides(r, n, r->cell[n]);
        if (r->changed[n]) {
            r->cell[n] = find_cell(r, n, false);
            lost = lost || r->cell[n] == NONE;
        }
    }
    if (lost) {
        spread(r);
    }
    for (uint32_t n = 0; lost && n < skin->vertex_count; n++) {
        if (r->plan->slit->point[n] == n && r->cell[n] == NONE) {
            r->cell[n] = find_cell(r, n, true);
            r->cell[n] = r->cell[n] == NONE ? cell_of_nearest(r, n) : r->cell[n];
        }
    }
}

/* --- surfaces that are connected --- */

static uint32_t part_of(const rider *r, uint32_t point) { return r->l->part ? r->l->part[r->cell[point]] : 0; }

/* Counts, for each surface and part, the points that ride on it; the part that most of a surface's do, in most[root]. */
static bool count_parts(const rider *r, lmi_memory *memory, uint32_t *to, lmi_triples *counts, uint32_t *most)
{
    const lmi_skin *skin = &r->plan->skin;
    bool ok = true;
    for (uint32_t n = 0; n < 3 * skin->triangle_count; n++) {
        lmi_sets_join(to, r->plan->slit->point[skin->triangles[n]], r->plan->slit->point[skin->triangles[n / 3 * 3]]);
    }
    for (uint32_t n = 0; ok && n < skin->vertex_count; n++) {
        if (r->plan->slit->point[n] == n && r->cell[n] != NONE) {
            uint32_t root = lmi_set_of(to, n), part = part_of(r, n), count = lmi_triples_get(counts, root, part, 0);
            count = count == NONE ? 1 : count + 1;
            ok = lmi_triples_put(counts, memory, root, part, 0, count);
            uint32_t best = lmi_triples_get(counts, root, most[root], 0);
            most[root] = best == NONE || count > best ? part : most[root];
        }
    }
    return ok;
}

/* Points of a surface that ride on another part than most of it ride with the others, as those of slivers may; where they are many, two
 * pieces of the body have one surface, and both keep theirs. */
static bool keep_together(rider *r, lmi_memory *memory)
{
    const lmi_skin *skin = &r->plan->skin;
    uint32_t *to = lmi_allocate(memory, skin->vertex_count, sizeof *to);
    uint32_t *most = lmi_allocate(memory, skin->vertex_count, sizeof *most);
    lmi_triples counts = {0};
    bool ok = to && most, any = false;
    for (uint32_t n = 0; ok && n < skin->vertex_count; n++) {
        to[n] = n;
    }
    ok = ok && count_parts(r, memory, to, &counts, most);
    for (uint32_t n = 0; ok && n < skin->vertex_count; n++) {
        if (r->plan->slit->point[n] != n || r->cell[n] == NONE) {
            continue;
        }
        const uint32_t root = lmi_set_of(to, n), part = part_of(r, n);
        const uint32_t here = lmi_triples_get(&counts, root, part, 0),
                       there = lmi_triples_get(&counts, root, most[root], 0);
        if (part != most[root] && (2 * here < there || 5 * (here + there) < skin->vertex_count)) {
            r->cell[n] = NONE;
            r->changed[n] = any = true;
        }
    }
    if (any) {
        spread(r);
    }
    lmi_triples_free(&counts, memory);
    lmi_release(memory, to, skin->vertex_count, sizeof *to);
    lmi_release(memory, most, skin->vertex_count, sizeof *most);
    return ok;
}

static void write_riders(rider *r)
{
    lmi_skin *skin = &r->plan->skin;
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        uint32_t point = r->plan->slit->point[n];
        if (r->changed[point] && r->cell[point] != NONE) {
            double at[3];
            place_of(r, n, at);
            lmi_cut_ride(r->l, r->cell[point], at, skin->riders + 8 * (size_t)n, skin->weights + 8 * (size_t)n);
        }
    }
}

bool lmi_slit_ride(lm_world *world, const lmi_body *body, const lmi_lattice *next, lmi_slit_plan *plan)
{
    lmi_memory *memory = &world->memory;
    const size_t count = plan->skin.vertex_count;
    rider r = {.body = body, .l = next, .plan = plan, .old = body->skin.vertex_count};
    r.normal = lmi_allocate(memory, count, sizeof *r.normal);
    r.cell = lmi_allocate(memory, count, sizeof *r.cell);
    r.changed = lmi_allocate(memory, count, sizeof *r.changed);
    r.middle = lmi_allocate_plain(memory, body->place_count, sizeof *r.middle);
    r.known = lmi_allocate(memory, body->place_count, sizeof *r.known);
    r.asked = lmi_allocate(memory, body->place_count, sizeof *r.asked);
    r.seen = lmi_allocate(memory, body->place_count, sizeof *r.seen);
    bool ok = r.normal && r.cell && r.changed && r.middle && r.known && r.asked && r.seen && look(&r, memory);
    if (ok) {
        find_cells(&r);
        ok = keep_together(&r, memory);
    }
    if (ok) {
        write_riders(&r);
    }
    lmi_blade_free(&r.faces, memory);
    lmi_release(memory, r.normal, count, sizeof *r.normal);
    lmi_release(memory, r.cell, count, sizeof *r.cell);
    lmi_release(memory, r.changed, count, sizeof *r.changed);
    lmi_release(memory, r.middle, body->place_count, sizeof *r.middle);
    lmi_release(memory, r.known, body->place_count, sizeof *r.known);
    lmi_release(memory, r.asked, body->place_count, sizeof *r.asked);
    lmi_release(memory, r.seen, body->place_count, sizeof *r.seen);
    return ok;
}
