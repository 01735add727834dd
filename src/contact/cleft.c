#include "contact/cleft.h"
#include "contact/disc.h"
#include "octree/octree_sight.h"
#include "octree/touch_octree.h"

#include <string.h>

/* --- discs --- */

static bool is_disc(const lmi_body *body, uint32_t n)
{
    lmi_slash link;
    bool upper;
    return lmi_octree_is_cut_point(&body->octree->tree, body->touch.rest[n], body->touch.voxel[n], &link, &upper);
}

void lmi_clefts_free(lm_world *world, lmi_clefts *c)
{
    lmi_memory *memory = &world->memory;
    if (c) {
        lmi_release(memory, c->point, c->count, sizeof *c->point);
        lmi_release(memory, c->place, c->count, sizeof *c->place);
        lmi_release(memory, c->normal, c->count, sizeof *c->normal);
        lmi_release(memory, c->next, c->count, sizeof *c->next);
        lmi_release(memory, c->head, c->buckets, sizeof *c->head);
        lmi_release(memory, c->of, c->points, sizeof *c->of);
        lmi_release(memory, c, 1, sizeof *c);
    }
}

bool lmi_clefts_make(lm_world *world, const lmi_body *body, lmi_clefts **clefts)
{
    lmi_memory *memory = &world->memory;
    const lmi_touch *touch = &body->touch;
    *clefts = NULL;
    if (!lmi_is_cut_octree(body) || !body->self_contact || !body->bulk || !touch->voxel) {
        return true;
    }
    lmi_clefts *c = lmi_allocate(memory, 1, sizeof *c);
    if (!c) {
        return false;
    }
    c->points = touch->count;
    c->cell = LMI_DISC_BELOW * body->octree->tree.voxels.spacing;
    c->of = lmi_allocate(memory, c->points, sizeof *c->of);
    for (uint32_t n = 0; c->of && n < touch->count; n++) {
        c->of[n] = is_disc(body, n) ? ++c->count : 0;
    }
    for (c->buckets = 64; c->buckets < 2 * c->count;) {
        c->buckets *= 2;
    }
    c->point = lmi_allocate(memory, c->count, sizeof *c->point);
    c->place = lmi_allocate(memory, c->count, sizeof *c->place);
    c->normal = lmi_allocate(memory, c->count, sizeof *c->normal);
    c->next = lmi_allocate(memory, c->count, sizeof *c->next);
    c->head = lmi_allocate(memory, c->buckets, sizeof *c->head);
    if (!c->of || !c->point || !c->place || !c->normal || !c->next || !c->head) {
        lmi_clefts_free(world, c);
        return false;
    }
    for (uint32_t n = 0; n < touch->count; n++) {
        if (c->of[n]) {
            c->point[c->of[n] - 1] = n;
            c->place[c->of[n] - 1] = lmi_octree_point_place(&body->octree->tree, touch->rest[n], touch->voxel[n]);
        }
    }
    *clefts = c;
    return true;
}

static uint32_t bucket_of(const lmi_clefts *c, const int64_t at[3])
{
    uint32_t hash = (uint32_t)at[0] * 0x9e3779b1u ^ (uint32_t)at[1] * 0x85ebca6bu ^ (uint32_t)at[2] * 0xc2b2ae35u;
    return (hash ^ hash >> 15) & (c->buckets - 1);
}

static void cell_of(const lmi_clefts *c, lm_dvec3 p, int64_t at[3])
{
    lm_dvec3 q = dvec_limit(dvec_scale(p, 1.0 / c->cell), 1e9);
    at[0] = (int64_t)floor(q.x), at[1] = (int64_t)floor(q.y), at[2] = (int64_t)floor(q.z);
}

void lmi_clefts_update(const lmi_body *body)
{
    lmi_clefts *c = body->octree->clefts;
    memset(c->head, 0xff, c->buckets * sizeof *c->head);
    for (uint32_t n = c->count; n-- > 0;) {
        int64_t at[3];
        cell_of(c, dvec_from(lmi_touch_now(&body->touch, c->point[n])), at);
        uint32_t bucket = bucket_of(c, at);
        c->normal[n] = lmi_bulk_facing(body->bulk, &body->touch, c->point[n]);
        c->next[n] = c->head[bucket];
        c->head[bucket] = n;
    }
}

/* Whether the body is between two discs: whole, or they turn their backs on each other at rest. */
static bool is_slice(const lmi_body *body, uint32_t disc_a, uint32_t disc_b)
{
    const lmi_octree *t = &body->octree->tree;
    const lmi_clefts *c = body->octree->clefts;
    const uint32_t a = c->point[disc_a], b = c->point[disc_b];
    const uint32_t one = body->touch.voxel[a], other = body->touch.voxel[b];
    const uint32_t *part = body->octree->part;
    const lm_dvec3 d = dvec_sub(dvec_from(c->place[disc_b]), dvec_from(c->place[disc_a]));
    if (lmi_discs_back(d, dvec_from(body->touch.facing[a]), dvec_from(body->touch.facing[b]), t->voxels.spacing)) {
        return true;
    }
    return part[t->nodes[t->owner[one]].leaf] == part[t->nodes[t->owner[other]].leaf] &&
           lmi_octree_sees(t, dvec(t->at[one][0] + 0.5, t->at[one][1] + 0.5, t->at[one][2] + 0.5),
                           dvec(t->at[other][0] + 0.5, t->at[other][1] + 0.5, t->at[other][2] + 0.5));
}

/* Looks at the discs in a bucket; `nearest`: how far beside it the best so far is. */
static void look_in(const lmi_body *body, uint32_t disc, uint32_t bucket, double margin, double *nearest,
                    lmi_inside *inside)
{
    const lmi_clefts *c = body->octree->clefts;
    const double voxel = body->octree->tree.voxels.spacing;
    const lm_dvec3 at = dvec_from(lmi_touch_now(&body->touch, c->point[disc])), out = c->normal[disc];
    for (uint32_t n = c->head[bucket]; n != LMI_NONE; n = c->next[n]) {
        if (dvec_dot(c->normal[n], out) > LMI_DISC_OPPOSITE) {
            continue;
        }
        lm_dvec3 d = dvec_sub(dvec_from(lmi_touch_now(&body->touch, c->point[n])), at);
        const lmi_disc_meeting m = lmi_discs_meet(d, out, c->normal[n]);
        if (m.depth <= -margin || m.depth > LMI_DISC_BELOW * voxel || m.beside >= *nearest || is_slice(body, disc, n)) {
            continue;
        }
        *nearest = m.beside;
        *inside = (lmi_inside){.rest = dvec_from(body->touch.rest[c->point[n]]),
                               .depth = m.depth,
                               .normal = m.normal,
                               .carrier = body->touch.carrier[c->point[n]]};
    }
}

bool lmi_cleft_meet(const lmi_body *body, uint32_t point, double margin, lmi_inside *inside)
{
    const lmi_clefts *c = body->octree->clefts;
    const double most = LMI_DISC_BESIDE * body->octree->tree.voxels.spacing;
    double nearest = most;
    int64_t at[3];
    if (!c->of[point]) {
        return false;
    }
    cell_of(c, dvec_from(lmi_touch_now(&body->touch, point)), at);
    uint32_t seen[27], count = 0; /* two cells may share a bucket */
    for (int64_t k = 0; k < 27; k++) {
        const int64_t cell[3] = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
        uint32_t bucket = bucket_of(c, cell), n = 0;
        while (n < count && seen[n] != bucket) {
            n++;
        }
        if (n == count) {
            seen[count++] = bucket;
            look_in(body, c->of[point] - 1, bucket, margin, &nearest, inside);
        }
    }
    return nearest < most;
}

/* --- other bodies --- */

/* The blend of the carriers that see where they take a point. False where there are none. */
static bool blend(const lmi_body *body, lm_dvec3 point, double margin, lm_dvec3 *rest, dmat3 *inverse, lm_dvec3 *side,
                  uint32_t *carrier)
{
    const lmi_bulk *s = body->bulk;
    const lmi_octree *t = &body->octree->tree;
    double total = 0.0, best = INFINITY, reach = s->mould->far;
    *rest = lm_dvec3_zero();
    memset(inverse, 0, sizeof *inverse);
    for (uint32_t c = 0; c < s->mould->carrier_count; c++) {
        lm_dvec3 d = dvec_sub(point, lmi_bulk_at(s, c));
        double square = dvec_dot(d, d);
        if (!(square < reach * reach)) {
            continue;
        }
        const dmat3 back = lmi_bulk_inverse(s, c);
        lm_dvec3 from = dvec_from(s->mould->rest[c]), to = dvec_add(from, dmat_apply(&back, d));
        lm_dvec3 a = lmi_octree_in_voxels(t, from), b = lmi_octree_in_voxels(t, to), way = dvec_sub(b, a);
        /* What is a hair beyond a face counts as before it. */
        double length = dvec_length(way), pull = margin / t->voxels.spacing + 0.1;
        lm_dvec3 short_of = length > pull ? dvec_sub(b, dvec_scale(way, pull / length)) : a;
        if (!lmi_octree_sees(t, a, short_of)) {
            continue;
        }
        double left = 1.0 - square / (reach * reach), w = left * left * left * left;
        total += w;
        *rest = dvec_add(*rest, dvec_scale(to, w));
        for (int i = 0; i < 9; i++) {
            inverse->m[i / 3][i % 3] += w * back.m[i / 3][i % 3];
        }
        if (square < best) {
            best = square;
            *carrier = c;
            *side = short_of;
        }
    }
    if (!(total > 1e-12)) {
        return false;
    }
    *rest = dvec_scale(*rest, 1.0 / total);
    for (int i = 0; i < 9; i++) {
        inverse->m[i / 3][i % 3] /= total;
    }
    return true;
}

bool lmi_cleft_inside(const lmi_body *body, lm_dvec3 point, double margin, lmi_inside *inside)
{
    const lmi_octree *t = &body->octree->tree;
    lm_dvec3 side, normal;
    dmat3 inverse;
    double depth;
    lm_vec3 slope;
    if (!blend(body, point, margin, &inside->rest, &inverse, &side, &inside->carrier)) {
        return false;
    }
    double distance = lmi_mould_slope(body->bulk->mould, vec_from(inside->rest), &slope);
    bool found = lmi_bulk_conclude(body->bulk, point, distance, dvec_from(slope), &inverse, margin, inside);
    if (!found || !lmi_octree_cut_depth(t, lmi_octree_in_voxels(t, inside->rest), side, &depth, &normal)) {
        return found;
    }
    lm_dvec3 n = dmat_apply_transposed(&inverse, normal);
    double steep = dvec_length(n);
    depth = steep > 0.05 ? depth * t->voxels.spacing / steep : inside->depth;
    if (depth < inside->depth) {
        inside->depth = depth;
        inside->normal = dvec_scale(n, 1.0 / steep);
    }
    return inside->depth + margin > 0.0;
}
