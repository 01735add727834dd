#include "contact/rubble.h"
#include "base/quad.h"
#include "contact/ball.h"

#include <string.h>

/* A particle of a body that can break, or a touch point of one that cannot. */
typedef struct grain {
    float
        out[3]; /* away from the particles it is linked to, or from the surface, unit; 0 where they are on all sides */
    float radius;
    float plate; /* metres along the surface for which it stands */
    int32_t cell[3];
    uint32_t entry, part;
    uint32_t place; /* or the number of the point */
    uint32_t next;  /* in its bucket: one that came before it */
    bool point;
} grain;

struct lmi_rubble {
    grain *grains;
    uint32_t *buckets; /* the last grain of each, or LMI_NONE */
    uint32_t *coarse;  /* the piece in each cell of another table, MIXED, or LMI_NONE */
    uint32_t count, capacity, bucket_capacity, coarse_capacity;
    uint32_t mask;
};

bool lmi_rubble_reserve(lmi_memory *memory, lmi_rubble **rubble, uint32_t count)
{
    if (count == 0) {
        return true;
    }
    if (!*rubble) {
        *rubble = lmi_allocate(memory, 1, sizeof **rubble);
    }
    lmi_rubble *r = *rubble;
    if (!r) {
        return false;
    }
    uint32_t size = 64;
    while (size / 4 < count) {
        size *= 2;
    }
    void *grains = r->grains, *buckets = r->buckets, *coarse = r->coarse;
    bool ok = lmi_reserve(memory, &grains, &r->capacity, count, sizeof *r->grains) &&
              lmi_reserve(memory, &buckets, &r->bucket_capacity, size, sizeof *r->buckets) &&
              lmi_reserve(memory, &coarse, &r->coarse_capacity, size, sizeof *r->coarse);
    r->grains = grains;
    r->buckets = buckets;
    r->coarse = coarse;
    r->mask = ok ? size - 1 : 0;
    return ok;
}

void lmi_rubble_free(lmi_memory *memory, lmi_rubble *r)
{
    if (r) {
        lmi_release(memory, r->grains, r->capacity, sizeof *r->grains);
        lmi_release(memory, r->buckets, r->bucket_capacity, sizeof *r->buckets);
        lmi_release(memory, r->coarse, r->coarse_capacity, sizeof *r->coarse);
        lmi_release(memory, r, 1, sizeof *r);
    }
}

double lmi_rubble_reach(const lmi_body *body) { return LMI_BALL_DEEP * body->lattice->shape.spacing; }

static uint32_t bucket_of(const lmi_rubble *r, const int32_t cell[3])
{
    uint32_t hash = (uint32_t)cell[0] * 0x8da6b343u ^ (uint32_t)cell[1] * 0xd8163841u ^ (uint32_t)cell[2] * 0xcb1ab31fu;
    return (hash ^ hash >> 15) & r->mask;
}

/* --- collecting --- */

/* Cells of the coarse table, in those of the fine one. */
#define COARSE 4.0

#define MIXED (UINT32_MAX - 1u)

/* All that is collected. */
typedef struct collection {
    lmi_rubble *rubble;
    lm_dvec3 from;
    double cell;
} collection;

static void cell_of(const double at[3], double by, double side, int32_t cell[3])
{
    for (int i = 0; i < 3; i++) {
        cell[i] = (int32_t)lmi_min(lmi_max(floor((at[i] + by) / side), -1e9), 1e9);
    }
}

/* Enters a particle of a piece in the coarse cells that it may touch something in; or (`look`) says whether another piece is
 * in one of them. Cells that share a place in the table count as one. */
static bool enter(const collection *c, const double at[3], uint32_t piece, bool look)
{
    int32_t low[3], high[3], cell[3];
    cell_of(at, -c->cell, COARSE * c->cell, low);
    cell_of(at, c->cell, COARSE * c->cell, high);
    for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++) {
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++) {
            for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++) {
                uint32_t *owner = &c->rubble->coarse[bucket_of(c->rubble, cell)];
                if (look && *owner == MIXED) {
                    return true;
                }
                *owner = *owner == LMI_NONE || *owner == piece ? piece : MIXED;
            }
        }
    }
    return false;
}

/* The blocks on the six sides of a block: along x, y, z, the one before and the one after. */
typedef struct surroundings {
    uint32_t block;
    uint32_t beside[3][2];
} surroundings;

static void look_around(const lmi_lattice *l, uint32_t block, surroundings *s)
{
    const int32_t *at = l->at[block];
    s->block = block;
    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++) {
            int32_t to[3] = {at[0], at[1], at[2]};
            to[axis] += (side ? 1 : -1) * (axis == 0 ? (int32_t)LMI_BLOCK : 1);
            s->beside[axis][side] = lmi_lattice_find_block(l, to[0], to[1], to[2]);
        }
    }
}

/* The particle on a side of another if there is a link between them; else LMI_NONE. */
static uint32_t linked(const lmi_lattice *l, const surroundings *s, uint32_t place, int axis, int side)
{
    uint32_t lane = place % LMI_BLOCK, to = place, block = s->block;
    if (axis == 0 && (side ? lane + 1 < LMI_BLOCK : lane > 0)) {
        to = side ? place + 1 : place - 1;
    } else {
        block = s->beside[axis][side];
        lane = axis == 0 ? (side ? 0 : LMI_BLOCK - 1) : lane;
        to = block * LMI_BLOCK + lane;
    }
    if (block >= l->block_count) {
        return LMI_NONE;
    }
    uint32_t from = side ? place : to; /* the lower end of the link knows of it */
    return l->bond[axis][from / LMI_BLOCK] >> (from % LMI_BLOCK) & 1 ? to : LMI_NONE;
}

void lmi_rubble_links(const lmi_lattice *l, uint32_t block, uint32_t links[LMI_BLOCK][6])
{
    surroundings around;
    look_around(l, block, &around);
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        for (int n = 0; n < 6; n++) {
            links[lane][n] = linked(l, &around, block * LMI_BLOCK + lane, n / 2, n % 2);
        }
    }
}

static void find_out(const lmi_body *body, const surroundings *s, uint32_t place, float out[3])
{
    quad sum = {0}, x = quad_load(body->x + (size_t)place * 4);
    uint32_t links = 0;
    for (int n = 0; n < 6; n++) {
        uint32_t to = linked(&body->lattice->shape, s, place, n / 2, n % 2);
        if (to != LMI_NONE) {
            sum = quad_add(sum, quad_sub(x, quad_load(body->x + (size_t)to * 4)));
            links++;
        }
    }
    float length = sqrtf(quad_dot(sum, sum)), by = links < 6 && length > 0.0f ? 1.0f / length : 0.0f;
    for (int i = 0; i < 3; i++) {
        out[i] = by * quad_at(sum, i);
    }
}

/* Puts a grain into the fine table. */
static void add(const collection *c, const double at[3], grain made)
{
    lmi_rubble *r = c->rubble;
    cell_of(at, 0.0, c->cell, made.cell);
    uint32_t bucket = bucket_of(r, made.cell);
    made.next = r->buckets[bucket];
    r->buckets[bucket] = r->count;
    r->grains[r->count++] = made;
}

static void add_particle(const collection *c, const lmi_body *body, uint32_t entry, uint32_t place, const double at[3],
                         const surroundings *s)
{
    const lmi_lattice *l = &body->lattice->shape;
    bool deep = body->fracture->deep[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1;
    grain g = {.radius = (float)l->spacing * (deep ? LMI_BALL_DEEP : LMI_BALL_BORDER),
               .plate = (float)l->spacing * LMI_BALL_PLATE,
               .entry = entry,
               .place = place,
               .part = l->part ? l->part[place] : 0};
    find_out(body, s, place, g.out);
    add(c, at, g);
}

/* The touch points of a body that cannot break, as one piece: what is smaller than the gaps between particles has none of
 * them inside. */
static void collect_points(const collection *c, const lmi_body *body, uint32_t entry, uint32_t piece, bool look)
{
    lm_dvec3 shift = dvec_sub(body->origin, c->from);
    /* Without a solid it is here for movers that have a mass, and touches no other body. */
    for (uint32_t n = 0; body->bulk && n < body->touch.count; n++) {
        lm_vec3 p = lmi_touch_now(&body->touch, n);
        double at[3] = {shift.x + p.x, shift.y + p.y, shift.z + p.z};
        if (enter(c, at, piece, look)) {
            lm_dvec3 out = lmi_bulk_facing(body->bulk, &body->touch, n);
            grain g = {.out = {(float)out.x, (float)out.y, (float)out.z},
                       .radius = body->contact_radius,
                       .entry = entry,
                       .place = n,
                       .point = true};
            add(c, at, g);
        }
    }
}

/* The particles of a body, whose pieces are numbered from `first`: entered in the coarse table, or (`look`)
 * those among them that have another piece nearby as grains. */
static void collect(const collection *c, const lmi_body *body, uint32_t entry, uint32_t first, bool look)
{
    const lmi_lattice *l = &body->lattice->shape;
    lm_dvec3 shift = dvec_sub(body->origin, c->from);
    surroundings around = {.block = LMI_NONE};
    for (uint32_t n = 0; n < body->place_count; n++) {
        if (body->order[n] == LMI_NONE) {
            continue;
        }
        const float *x = body->x + (size_t)n * 4;
        double at[3] = {shift.x + x[0], shift.y + x[1], shift.z + x[2]};
        if (enter(c, at, first + (l->part ? l->part[n] : 0), look)) {
            if (around.block != n / LMI_BLOCK) {
                look_around(l, n / LMI_BLOCK, &around);
            }
            add_particle(c, body, entry, n, at, &around);
        }
    }
}

/* Whether there is anything to look for: pieces, or something else that is near. */
static bool is_wanted(const lmi_step *step, const lmi_pairs *pairs, double *cell, lm_dvec3 *from)
{
    uint32_t bodies = 0, pieces = 0;
    *cell = 0.0;
    for (uint32_t n = 0; n < pairs->count; n++) {
        const lmi_body *body = lmi_body_at(step->world, pairs->entries[n].slot);
        if (lmi_is_rubble(body)) {
            *from = bodies++ ? *from : body->origin;
            *cell = lmi_max(*cell, 2.0 * lmi_rubble_reach(body) + lmi_contact_slop(step, body));
            pieces += body->lattice->shape.part_count;
        } else {
            pieces += pairs->entries[n].met;
        }
    }
    return bodies > 0 && pieces > 1;
}

/* --- meeting --- */

typedef struct between {
    double friction, bounce, slop;
    bool may;
} between;

static between between_of(const lmi_step *step, const lmi_body *a, const lmi_body *b)
{
    between w = {.friction = sqrtf(a->material.friction * b->material.friction),
                 .bounce = lmi_maxf(a->material.restitution, b->material.restitution),
                 .slop = lmi_min(lmi_contact_slop(step, a), lmi_contact_slop(step, b)),
                 .may =
                     !(a->asleep && b->asleep) && (a == b || ((a->mask & b->group) != 0 && (b->mask & a->group) != 0))};
    lmi_contact_rule_apply(step->world, a->group, b->group, &w.friction, &w.bounce);
    return w;
}

/* One side of a contact: the particles that hold it, and where it is now from the origin of its body. */
typedef struct side {
    lmi_push *push;
    const uint32_t *rider;
    const float *weight;
    uint32_t count, stride;
    lm_dvec3 at;
} side;

static side side_of(const grain *g, lmi_push *pushes)
{
    static const float all = 1.0f;
    lmi_push *push = &pushes[g->entry];
    const lmi_touch *touch = &push->body->touch;
    side s = {lmi_push_at(push, g->place), &g->place, &all, 1, 1, lm_dvec3_zero()};
    if (g->point) {
        uint32_t row = touch->first_row[g->place / LMI_BLOCK];
        size_t at = (size_t)row * LMI_BLOCK + g->place % LMI_BLOCK;
        uint32_t rows = touch->first_row[g->place / LMI_BLOCK + 1] - row;
        s = (side){push, touch->rider + at, touch->weight + at, rows, LMI_BLOCK, lm_dvec3_zero()};
    }
    for (uint32_t n = 0; n < s.count; n++) {
        const float *x = push->x + (size_t)s.rider[(size_t)n * s.stride] * 4;
        s.at = dvec_add(s.at, dvec_scale(dvec(x[0], x[1], x[2]), s.weight[(size_t)n * s.stride]));
    }
    return s;
}

/* Of the two only the first may be a point. */
static void touch(const grain *g, const grain *h, lmi_push *pushes, const between *w, lmi_contact_list *list)
{
    side a = side_of(g, pushes), b = side_of(h, pushes);
    lm_dvec3 d = dvec_add(dvec_sub(a.push->body->origin, b.push->body->origin), dvec_sub(a.at, b.at));
    lm_dvec3 looks = dvec((double)h->out[0] - g->out[0], (double)h->out[1] - g->out[1], (double)h->out[2] - g->out[2]);
    lmi_ball_meeting m = lmi_balls_meet(d, looks, (double)g->radius + h->radius, w->slop, g->point ? h->plate : 0.0);
    if (!m.found) {
        return;
    }
    lmi_contact_def c = {.a = a.push,
                         .b = b.push,
                         .rider_a = a.rider,
                         .weight_a = a.weight,
                         .count_a = a.count,
                         .stride_a = a.stride,
                         .rider_b = b.rider,
                         .weight_b = b.weight,
                         .count_b = 1,
                         .normal = m.normal,
                         .depth = m.depth,
                         .friction = w->friction,
                         .restitution = w->bounce,
                         .off = d,
                         .point = LMI_NONE};
    pushes[g->entry].met = pushes[h->entry].met = true;
    lmi_contact_add(list, &c);
}

static bool is_in(const grain *g, const int32_t cell[3])
{
    return g->cell[0] == cell[0] && g->cell[1] == cell[1] && g->cell[2] == cell[2];
}

/* The contacts of a grain with those in its cell that came before it, and in the half of the cells around that follow: so
 * each two are checked once. */
static void meet_grain(const lmi_step *step, const lmi_rubble *r, uint32_t index, lmi_push *pushes,
                       lmi_contact_list *list)
{
    const grain *g = &r->grains[index];
    uint32_t other = LMI_NONE;
    between w = {0};
    for (int32_t n = 13; n < 27; n++) {
        int32_t cell[3] = {g->cell[0] + n % 3 - 1, g->cell[1] + n / 3 % 3 - 1, g->cell[2] + n / 9 - 1};
        for (uint32_t k = r->buckets[bucket_of(r, cell)]; k != LMI_NONE; k = r->grains[k].next) {
            const grain *h = &r->grains[k];
            bool same = (h->entry == g->entry && h->part == g->part) || (h->point && g->point);
            if (same || !is_in(h, cell) || (n == 13 && k >= index)) {
                continue;
            }
            if (h->entry != other) {
                other = h->entry;
                w = between_of(step, pushes[g->entry].body, pushes[other].body);
            }
            if (w.may) {
                touch(h->point ? h : g, h->point ? g : h, pushes, &w, list);
            }
        }
    }
}

void lmi_rubble_meet(const lmi_step *step, lmi_rubble *r, const lmi_pairs *pairs, lmi_push *pushes,
                     lmi_contact_list *list)
{
    double cell;
    lm_dvec3 from = lm_dvec3_zero();
    if (!r || !r->mask || !is_wanted(step, pairs, &cell, &from)) {
        return;
    }
    r->count = 0;
    memset(r->buckets, 0xff, ((size_t)r->mask + 1) * sizeof *r->buckets);
    memset(r->coarse, 0xff, ((size_t)r->mask + 1) * sizeof *r->coarse);
    const collection c = {r, from, cell};
    for (int look = 0; look < 2; look++) {
        uint32_t first = 0;
        for (uint32_t n = 0; n < pairs->count; n++) {
            const lmi_entry *entry = &pairs->entries[n];
            const lmi_body *body = lmi_body_at(step->world, entry->slot);
            bool rubble = lmi_is_rubble(body), pieces = rubble && body->lattice->shape.part_count > 1;
            if (entry->met && !rubble) {
                collect_points(&c, body, n, first++, look);
            } else if (entry->met || (pieces && !body->asleep)) {
                collect(&c, body, n, first, look);
                first += body->lattice->shape.part_count;
            }
        }
    }
    for (uint32_t n = 0; n < r->count; n++) {
        meet_grain(step, r, n, pushes, list);
    }
}
