/*
 * Making a blade ready to clip (geometry/sheet.h).
 */
#include "geometry/sheet.h"
#include "base/triples.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_SHEET_NONE
#define HAIR 0.015      /* of the grain, along the border */
#define OFFSET 8e-3     /* of the grain, forward: slivers are wider than what is drawn in (clip.h) */
#define NEAR_TIP 0.5    /* of the grain: how far the ends of cuts are looked for */
#define BEHIND_TIP 0.08 /* of the grain: how far behind it a sheet begins */
#define TREMBLE 1e-6    /* of the grain, of each point */
#define ASIDE 0.1       /* of the height of the lowest facet around it, of a point, in the plane of its facets */
#define FLAT 0.999999   /* cosine: facets around a point that differ by less are in one plane */
#define CREASE 0.75     /* cosine: edges that turn by more are sharp */
#define MOST 400000u    /* facets; a sheet that would have more is coarser */
#define COARSE 400.0    /* of what is around the body: with such edges a flat sheet has fewer */
#define NO_AREA 1e-10   /* of the square of its longest side: such a triangle cuts nothing */

double lmi_sheet_noise(uint64_t a, uint64_t b)
{
    uint64_t hash = lmi_hash_word(lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, a), b), 0x51ee7u);
    return (double)(hash >> 11) * 0x1p-52 - 1.0;
}

/* --- triangles as they were given --- */

typedef struct half {
    uint32_t low, high, owner, side;
    bool up; /* from low to high */
} half;

static int compare_halves(const void *a, const void *b)
{
    const half *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    return x->owner != y->owner ? (x->owner < y->owner ? -1 : 1) : (int)x->side - (int)y->side;
}

static half half_of(const uint32_t corner[3], uint32_t owner, uint32_t side)
{
    uint32_t a = corner[side], b = corner[(side + 1) % 3];
    return (half){a < b ? a : b, a < b ? b : a, owner, side, a < b};
}

static uint32_t add_point(lmi_sheet *s, lmi_memory *memory, lm_dvec3 at)
{
    if (!lmi_grow(memory, &s->points, &s->point_room, s->point_count + 1, sizeof *s->points)) {
        return NONE;
    }
    s->points[s->point_count] = at;
    return s->point_count++;
}

/* Corners at the same place become one point. */
typedef struct named {
    double at[3];
    uint32_t which;
} named;

static int compare_named(const void *a, const void *b)
{
    const named *x = a, *y = b;
    for (int i = 0; i < 3; i++) {
        if (x->at[i] != y->at[i]) {
            return x->at[i] < y->at[i] ? -1 : 1;
        }
    }
    return x->which < y->which ? -1 : x->which > y->which;
}

static bool weld(lmi_sheet *s, lmi_memory *memory)
{
    const uint32_t count = 3 * s->patch_count;
    named *all = lmi_allocate(memory, count, sizeof *all);
    bool ok = all != NULL;
    for (uint32_t n = 0; ok && n < count; n++) {
        lm_dvec3 p = s->patches[n / 3].corner[n % 3];
        all[n] = (named){{p.x + 0.0, p.y + 0.0, p.z + 0.0}, n};
    }
    if (ok) {
        qsort(all, count, sizeof *all, compare_named);
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        bool same = n > 0 && memcmp(all[n].at, all[n - 1].at, sizeof all[n].at) == 0;
        uint32_t point =
            same ? s->point_count - 1 : add_point(s, memory, dvec(all[n].at[0], all[n].at[1], all[n].at[2]));
        ok = point != NONE;
        s->patches[all[n].which / 3].point[all[n].which % 3] = point;
    }
    lmi_release(memory, all, count, sizeof *all);
    return ok;
}

static bool take(lmi_sheet *s, lmi_memory *memory, const lmi_blade_triangle *triangles, uint32_t count)
{
    s->patches = lmi_allocate(memory, count, sizeof *s->patches);
    s->patch_room = s->patches ? count : 0;
    for (uint32_t n = 0; s->patches && n < count; n++) {
        const lm_dvec3 *c = triangles[n].corner;
        double longest = 0.0;
        lm_dvec3 normal = dvec_cross(dvec_sub(c[1], c[0]), dvec_sub(c[2], c[0]));
        for (int i = 0; i < 3; i++) {
            longest = fmax(longest, dvec_length(dvec_sub(c[(i + 1) % 3], c[i])));
        }
        if (dvec_length(normal) > NO_AREA * longest * longest) {
            memcpy(s->patches[s->patch_count++].corner, c, sizeof triangles[n].corner);
        }
    }
    return s->patches != NULL && weld(s, memory);
}

static void turn(lmi_sheet_patch *p)
{
    lm_dvec3 c = p->corner[1];
    uint32_t point = p->point[1];
    p->corner[1] = p->corner[2];
    p->point[1] = p->point[2];
    p->corner[2] = c;
    p->point[2] = point;
}

/* The other patch at an edge where exactly two meet; NONE: the edge is a border, or has more. */
static const half *beside(const half *halves, uint32_t count, uint32_t at)
{
    const half *h = &halves[at];
    uint32_t first = at, end = at + 1;
    while (first > 0 && halves[first - 1].low == h->low && halves[first - 1].high == h->high) {
        first--;
    }
    while (end < count && halves[end].low == h->low && halves[end].high == h->high) {
        end++;
    }
    return end - first == 2 ? &halves[at == first ? first + 1 : first] : NULL;
}

static lm_dvec3 unit(lm_dvec3 a)
{
    double length = dvec_length(a);
    return dvec_scale(a, length > 0.0 ? 1.0 / length : 0.0);
}

static void start_patch(lmi_sheet_patch *p)
{
    lm_dvec3 along = dvec_sub(p->corner[1], p->corner[0]);
    p->normal = unit(dvec_cross(along, dvec_sub(p->corner[2], p->corner[0])));
    p->from = p->corner[0];
    p->u = unit(along);
    p->v = dvec_cross(p->normal, p->u);
    p->at[0] = p->at[1] = 0.0;
}

/* A patch beside one whose coordinates are known, unfolded into its plane: along the edge nothing changes. */
static void unfold(const lmi_sheet_patch *known, lmi_sheet_patch *p, uint32_t side)
{
    lm_dvec3 a = p->corner[side], along = unit(dvec_sub(p->corner[(side + 1) % 3], a));
    p->normal = unit(dvec_cross(dvec_sub(p->corner[1], p->corner[0]), dvec_sub(p->corner[2], p->corner[0])));
    lm_dvec3 across = dvec_cross(p->normal, along), before = dvec_cross(known->normal, along);
    p->from = a;
    p->u = dvec_add(dvec_scale(along, dvec_dot(known->u, along)), dvec_scale(across, dvec_dot(known->u, before)));
    p->v = dvec_add(dvec_scale(along, dvec_dot(known->v, along)), dvec_scale(across, dvec_dot(known->v, before)));
    p->at[0] = known->at[0] + dvec_dot(dvec_sub(a, known->from), known->u);
    p->at[1] = known->at[1] + dvec_dot(dvec_sub(a, known->from), known->v);
}

/* Follows edges from a patch; each that is reached is turned as the one that it was reached from. */
static void reach(lmi_sheet *s, const half *halves, const uint32_t (*at)[3], uint32_t *stack, bool *seen)
{
    const uint32_t count = 3 * s->patch_count;
    uint32_t depth = 1;
    while (depth) {
        uint32_t n = stack[--depth];
        for (uint32_t k = 0; k < 3; k++) {
            const half *other = beside(halves, count, at[n][k]), *own = &halves[at[n][k]];
            if (!other || seen[other->owner]) {
                continue;
            }
            lmi_sheet_patch *p = &s->patches[other->owner], *known = &s->patches[n];
            const uint32_t *q = known->point;
            bool up = q[0] == own->low ? q[1] == own->high : q[1] == own->low ? q[2] == own->high : q[0] == own->high;
            uint32_t side = 0;
            if (up == other->up) { /* as it was given */
                turn(p);
            }
            for (half h = half_of(p->point, 0, 0); side < 2 && (h.low != own->low || h.high != own->high);) {
                h = half_of(p->point, 0, ++side);
            }
            unfold(known, p, side);
            p->smooth = dvec_dot(p->normal, known->normal) > CREASE ? known->smooth : other->owner;
            seen[other->owner] = true;
            stack[depth++] = other->owner;
        }
    }
}

/* A hair along the border. */
static bool widen(lmi_sheet *s, lmi_memory *memory, const half *halves, double by)
{
    lm_dvec3 *out = lmi_allocate(memory, s->point_count, sizeof *out);
    for (uint32_t n = 0; out && n < 3 * s->patch_count; n++) {
        if (!beside(halves, 3 * s->patch_count, n)) {
            const lmi_sheet_patch *p = &s->patches[halves[n].owner];
            lm_dvec3 a = s->points[halves[n].low], along = dvec_sub(s->points[halves[n].high], a);
            lm_dvec3 middle = dvec_scale(dvec_add(p->corner[0], dvec_add(p->corner[1], p->corner[2])), 1.0 / 3.0);
            lm_dvec3 across = unit(dvec_cross(p->normal, along));
            across = dvec_scale(across, dvec_dot(across, dvec_sub(middle, a)) > 0.0 ? -1.0 : 1.0);
            out[halves[n].low] = dvec_add(out[halves[n].low], across);
            out[halves[n].high] = dvec_add(out[halves[n].high], across);
        }
    }
    for (uint32_t n = 0; out && n < s->point_count; n++) {
        s->points[n] = dvec_add(s->points[n], dvec_scale(unit(out[n]), by));
    }
    lmi_release(memory, out, s->point_count, sizeof *out);
    return out != NULL;
}

/* Turns the patches, finds their coordinates, and widens the whole. */
static bool join(lmi_sheet *s, lmi_memory *memory, double hair)
{
    const uint32_t count = 3 * s->patch_count;
    half *halves = lmi_allocate(memory, count, sizeof *halves);
    uint32_t(*at)[3] = lmi_allocate(memory, s->patch_count, sizeof *at);
    uint32_t *stack = lmi_allocate(memory, s->patch_count, sizeof *stack);
    bool *seen = lmi_allocate(memory, s->patch_count, sizeof *seen);
    bool ok = halves && at && stack && seen;
    for (uint32_t n = 0; ok && n < count; n++) {
        halves[n] = half_of(s->patches[n / 3].point, n / 3, n % 3);
    }
    if (ok) {
        qsort(halves, count, sizeof *halves, compare_halves);
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        at[halves[n].owner][halves[n].side] = n;
    }
    for (uint32_t n = 0; ok && n < s->patch_count; n++) {
        if (!seen[n]) {
            seen[n] = true;
            start_patch(&s->patches[n]);
            s->patches[n].smooth = n;
            stack[0] = n;
            reach(s, halves, (const uint32_t(*)[3])at, stack, seen);
        }
    }
    ok = ok && widen(s, memory, halves, hair);
    lmi_release(memory, halves, count, sizeof *halves);
    lmi_release(memory, at, s->patch_count, sizeof *at);
    lmi_release(memory, stack, s->patch_count, sizeof *stack);
    lmi_release(memory, seen, s->patch_count, sizeof *seen);
    return ok;
}

/* --- dividing --- */

typedef struct divider {
    lmi_sheet *s;
    lmi_memory *memory;
    lmi_box near;
    double grain;
    lmi_triples middles;
} divider;

static double off(double low, double high, double a, double b)
{
    double least = lmi_min(a, b), most = lmi_max(a, b);
    return lmi_max(lmi_max(low - most, least - high), 0.0);
}

/* Depends on the edge alone: long ones near the body are, and such as are longer than they are far from it. */
static bool is_long(const divider *d, uint32_t from, uint32_t to)
{
    lm_dvec3 a = d->s->points[from], b = d->s->points[to];
    lm_dvec3 gap = dvec(off(d->near.low.x, d->near.high.x, a.x, b.x), off(d->near.low.y, d->near.high.y, a.y, b.y),
                        off(d->near.low.z, d->near.high.z, a.z, b.z));
    return dvec_length(dvec_sub(b, a)) > lmi_max(d->grain, dvec_length(gap));
}

static uint32_t middle_of(divider *d, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a, point = lmi_triples_get(&d->middles, low, high, 0);
    if (point == NONE) {
        point = add_point(d->s, d->memory, dvec_scale(dvec_add(d->s->points[low], d->s->points[high]), 0.5));
        if (point != NONE && !lmi_triples_put(&d->middles, d->memory, low, high, 0, point)) {
            point = NONE;
        }
    }
    return point;
}

static bool add_facet(divider *d, uint32_t a, uint32_t b, uint32_t c, uint32_t patch)
{
    lmi_sheet *s = d->s;
    uint32_t room = s->facet_room;
    if (!lmi_grow(d->memory, &s->patch, &room, s->facet_count + 1, sizeof *s->patch)) {
        return false;
    }
    bool ok = lmi_grow(d->memory, &s->facets, &s->facet_room, s->facet_count + 1, sizeof *s->facets);
    if (!ok || room != s->facet_room) { /* both grow alike, or the first is as it was */
        lmi_release(d->memory, s->patch, room, sizeof *s->patch);
        s->patch = NULL;
        lmi_release(d->memory, s->facets, s->facet_room, sizeof *s->facets);
        s->facets = NULL;
        s->facet_room = s->facet_count = 0;
        return false;
    }
    memcpy(s->facets[s->facet_count], (uint32_t[3]){a, b, c}, sizeof *s->facets);
    s->patch[s->facet_count++] = patch;
    return true;
}

/* Divides a triangle at the middles of its long edges, and what comes of it again. */
static bool divide(divider *d, uint32_t a, uint32_t b, uint32_t c, uint32_t patch, int depth)
{
    const uint32_t corner[3] = {a, b, c};
    uint32_t m[3], count = 0, first = 0;
    if (d->s->facet_count > MOST) { /* too fine: one triangle may be a thousand kilometres wide */
        return false;
    }
    for (uint32_t n = 0; n < 3; n++) {
        bool split = depth < 60 && is_long(d, corner[n], corner[(n + 1) % 3]);
        m[n] = split ? middle_of(d, corner[n], corner[(n + 1) % 3]) : NONE;
        if (split && m[n] == NONE) {
            return false;
        }
        count += split;
    }
    if (count == 0) {
        return add_facet(d, a, b, c, patch);
    }
    for (; m[first] == NONE || (count == 2 && m[(first + 1) % 3] == NONE);) {
        first++;
    }
    uint32_t p = corner[first], q = corner[(first + 1) % 3], r = corner[(first + 2) % 3];
    uint32_t x = m[first], y = m[(first + 1) % 3], z = m[(first + 2) % 3];
    depth++;
    if (count == 1) {
        return divide(d, p, x, r, patch, depth) && divide(d, x, q, r, patch, depth);
    }
    if (count == 2) {
        return divide(d, x, q, y, patch, depth) && divide(d, p, x, y, patch, depth) && divide(d, p, y, r, patch, depth);
    }
    return divide(d, p, x, z, patch, depth) && divide(d, x, q, y, patch, depth) && divide(d, z, y, r, patch, depth) &&
           divide(d, x, y, z, patch, depth);
}

static bool divide_all(lmi_sheet *s, lmi_memory *memory, const lmi_box *near, double grain)
{
    divider d = {.s = s, .memory = memory, .near = *near, .grain = grain};
    bool ok = true;
    for (uint32_t n = 0; ok && n < s->patch_count; n++) {
        const uint32_t *p = s->patches[n].point;
        ok = divide(&d, p[0], p[1], p[2], n, 0);
    }
    memory->work += s->facet_count;
    lmi_triples_free(&d.middles, memory);
    return ok;
}

/* --- edges --- */

static bool find_edges(lmi_sheet *s, lmi_memory *memory)
{
    const uint32_t count = 3 * s->facet_count;
    half *halves = lmi_allocate(memory, count, sizeof *halves);
    s->sides = lmi_allocate(memory, s->facet_room, sizeof *s->sides);
    s->edges = lmi_allocate(memory, count, sizeof *s->edges);
    s->edge_room = s->edges ? count : 0;
    s->border = lmi_allocate(memory, s->point_room, sizeof *s->border);
    bool ok = halves && s->sides && s->edges && s->border;
    for (uint32_t n = 0; ok && n < count; n++) {
        halves[n] = half_of(s->facets[n / 3], n / 3, n % 3);
    }
    if (ok) {
        qsort(halves, count, sizeof *halves, compare_halves);
    }
    for (uint32_t n = 0, end; ok && n < count; n = end) {
        for (end = n + 1; end < count && halves[end].low == halves[n].low && halves[end].high == halves[n].high;) {
            end++;
        }
        const bool inner = end == n + 2 && halves[n].up != halves[n + 1].up;
        for (uint32_t k = n; k < end; k++) {
            if (k == n || !inner) {
                s->edges[s->edge_count++] = (lmi_sheet_edge){halves[n].low, halves[n].high, inner};
            }
            s->sides[halves[k].owner][halves[k].side] = s->edge_count - 1;
        }
        s->border[halves[n].low] |= !inner;
        s->border[halves[n].high] |= !inner;
    }
    lmi_release(memory, halves, count, sizeof *halves);
    return ok;
}

/* `out`: from the sheet, at its border. Moves a point of it across the nearest edge that a cut ended at, between its faces; false: there is none. */
static bool begin_between(const lmi_sheet_tips *tips, double grain, lm_dvec3 out, lm_dvec3 *point)
{
    double least = NEAR_TIP * grain;
    lm_dvec3 best = *point;
    least *= least;
    for (uint32_t n = 0; tips && n < tips->count; n++) {
        const lmi_sheet_tip *tip = &tips->items[n];
        lm_dvec3 along = dvec_sub(tip->to, tip->from), from = dvec_sub(*point, tip->from);
        double square = dvec_dot(along, along), share = square > 0.0 ? dvec_dot(from, along) / square : 0.0;
        lm_dvec3 nearest = dvec_add(tip->from, dvec_scale(along, lmi_max(lmi_min(share, 1.0), 0.0)));
        lm_dvec3 off = dvec_sub(*point, nearest);
        if (dvec_dot(off, off) < least && dvec_dot(out, tip->back) > 0.2) {
            least = dvec_dot(off, off);
            lm_dvec3 across = dvec_sub(from, dvec_scale(along, share)); /* beyond the ends of the edge too */
            best = dvec_add(dvec_sub(*point, across), dvec_scale(tip->back, BEHIND_TIP * grain));
        }
    }
    bool is = least < NEAR_TIP * grain * (NEAR_TIP * grain);
    *point = best;
    return is;
}

/* What is around a point. */
typedef struct around {
    lm_dvec3 normal, out; /* sums: of its facets' normals; of ways off the sheet, across the edges of the border */
    double count, height; /* of the lowest facet */
} around;

static void look_around(const lmi_sheet *s, around *of)
{
    for (uint32_t n = 0; n < 3 * s->facet_count; n++) {
        const uint32_t *f = s->facets[n / 3], point = f[n % 3];
        lm_dvec3 p = s->points[point], a = dvec_sub(s->points[f[(n % 3 + 1) % 3]], p);
        lm_dvec3 b = dvec_sub(s->points[f[(n % 3 + 2) % 3]], p), c = dvec_sub(b, a);
        double base = lmi_max(dvec_dot(a, a), lmi_max(dvec_dot(b, b), dvec_dot(c, c)));
        double height = base > 0.0 ? dvec_length(dvec_cross(a, b)) / sqrt(base) : 0.0;
        of[point].normal = dvec_add(of[point].normal, s->patches[s->patch[n / 3]].normal);
        if (!s->edges[s->sides[n / 3][n % 3]].inner) { /* to the next corner */
            const uint32_t next = f[(n % 3 + 1) % 3];
            lm_dvec3 across = unit(dvec_sub(dvec_scale(a, dvec_dot(a, b) / dvec_dot(a, a)), b));
            of[point].out = dvec_add(of[point].out, across);
            of[next].out = dvec_add(of[next].out, across);
        }
        of[point].height = of[point].count > 0.0 ? lmi_min(of[point].height, height) : height;
        of[point].count += 1.0;
    }
}

/* A hair along the normal, on the side of a direction that is nobody's, so that strokes that go on from each other are moved alike;
 * and a little less that differs. From the second try on points inside a plane are moved along it as well: blades of one size cross each
 * other with edges in the same places, and nodes that are as near to each other as floats can tell may have changed places there. */
static bool shift(lmi_sheet *s, lmi_memory *memory, double grain, const lmi_sheet_tips *tips, uint32_t seed)
{
    const lm_dvec3 side = {0.48, 0.6, 0.64};
    around *of = lmi_allocate(memory, s->point_count, sizeof *of);
    uint64_t chance = seed;
    if (of) {
        look_around(s, of);
    }
    for (uint32_t n = 0; n < 3 && s->patch_count; n++) {
        const lm_dvec3 *c = &s->patches[0].corner[n];
        const double at[3] = {c->x, c->y, c->z};
        chance = lmi_hash_bytes(chance, (const unsigned char *)at, sizeof at);
    }
    for (uint32_t n = 0; of && n < s->point_count; n++) {
        double by[3], noise[3];
        for (uint32_t i = 0; i < 3; i++) {
            by[i] = grain * TREMBLE * lmi_sheet_noise(3 * (uint64_t)n + i, seed);
            noise[i] = lmi_sheet_noise(3 * (uint64_t)n + i, chance);
        }
        lm_dvec3 normal = unit(of[n].normal), aside = dvec(noise[0], noise[1], noise[2]);
        bool flat = !s->border[n] && dvec_length(of[n].normal) > FLAT * of[n].count;
        aside = dvec_sub(aside, dvec_scale(normal, dvec_dot(aside, normal)));
        aside = dvec_scale(aside, flat && seed ? ASIDE * of[n].height : 0.0);
        double off_by = dvec_dot(normal, side) < 0.0 ? -OFFSET * grain : OFFSET * grain;
        normal = dvec_scale(normal,
                            s->border[n] && begin_between(tips, grain, unit(of[n].out), &s->points[n]) ? 0.0 : off_by);
        s->points[n] = dvec_add(dvec_add(s->points[n], aside), dvec_add(normal, dvec(by[0], by[1], by[2])));
    }
    lmi_release(memory, of, s->point_count, sizeof *of);
    return of != NULL;
}

static bool make_tree(lmi_sheet *s, lmi_memory *memory)
{
    lmi_blade_triangle *all = lmi_allocate(memory, s->facet_count, sizeof *all);
    for (uint32_t n = 0; all && n < s->facet_count; n++) {
        for (int i = 0; i < 3; i++) {
            lm_dvec3 p = s->points[s->facets[n][i]];
            all[n].corner[i] = p;
            s->box.low = n + i == 0
                             ? p
                             : dvec(lmi_min(s->box.low.x, p.x), lmi_min(s->box.low.y, p.y), lmi_min(s->box.low.z, p.z));
            s->box.high = n + i == 0 ? p
                                     : dvec(lmi_max(s->box.high.x, p.x), lmi_max(s->box.high.y, p.y),
                                            lmi_max(s->box.high.z, p.z));
        }
    }
    bool ok = all && lmi_blade_make(&s->tree, memory, all, s->facet_count);
    lmi_release(memory, all, s->facet_count, sizeof *all);
    return ok;
}

void lmi_sheet_free(lmi_sheet *s, lmi_memory *memory)
{
    lmi_blade_free(&s->tree, memory);
    lmi_release(memory, s->border, s->border ? s->point_room : 0, sizeof *s->border);
    lmi_release(memory, s->points, s->point_room, sizeof *s->points);
    lmi_release(memory, s->sides, s->sides ? s->facet_room : 0, sizeof *s->sides);
    lmi_release(memory, s->patch, s->facet_room, sizeof *s->patch);
    lmi_release(memory, s->facets, s->facet_room, sizeof *s->facets);
    lmi_release(memory, s->edges, s->edge_room, sizeof *s->edges);
    lmi_release(memory, s->patches, s->patch_room, sizeof *s->patches);
    memset(s, 0, sizeof *s);
}

bool lmi_sheet_make(lmi_sheet *s, lmi_memory *memory, const lmi_blade_triangle *triangles, uint32_t count,
                    const lmi_box *near, double grain, const lmi_sheet_tips *tips, uint32_t seed)
{
    bool ok = false;
    const double coarse = dvec_length(dvec_sub(near->high, near->low)) / COARSE;
    grain *= 0.5;
    for (int tries = 0; tries < 12 && !ok; tries++) {
        grain = lmi_max(2.0 * grain, tries < 3 ? 0.0 : coarse);
        memset(s, 0, sizeof *s);
        ok = take(s, memory, triangles, count) && join(s, memory, HAIR * grain) && divide_all(s, memory, near, grain);
        if (!ok && s->facet_count <= MOST) {
            return false;
        }
        if (!ok || s->facet_count > MOST) {
            ok = false;
            lmi_sheet_free(s, memory);
        }
    }
    if (!ok) {
        return false;
    }
    return find_edges(s, memory) && shift(s, memory, grain, tips, seed) && make_tree(s, memory);
}

void lmi_sheet_coordinates(const lmi_sheet *s, uint32_t facet, lm_dvec3 place, float to[2])
{
    const lmi_sheet_patch *p = &s->patches[s->patch[facet]];
    lm_dvec3 from = dvec_sub(place, p->from);
    to[0] = (float)(p->at[0] + dvec_dot(from, p->u));
    to[1] = (float)(p->at[1] + dvec_dot(from, p->v));
}
