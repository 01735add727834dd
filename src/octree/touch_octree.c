#include "octree/touch_octree.h"
#include "cluster/embed.h"
#include "octree/octree_body.h"
#include "skin/skin_octree.h"
#include "world/world.h"

#include <string.h>

#define NONE LMI_OCTREE_NONE
#define MOST_RIDERS 20u

/* A cell of which less than the first share is filled counts for less than others, in proportion, and at least for the second. */
#define ENOUGH_FILLED 0.25f
#define LEAST_COUNTED 0.0625f

/* How far inside its voxel a point of a cut is, in voxels. */
#define INSET 0.05

/* --- faces of cuts --- */

bool lmi_octree_is_cut_point(const lmi_octree *t, lm_vec3 point, uint32_t voxel, lmi_slash *link, bool *upper)
{
    const lmi_voxels *v = &t->voxels;
    const double in[3] = {(point.x - v->first.x) / v->spacing - t->at[voxel][0],
                          (point.y - v->first.y) / v->spacing - t->at[voxel][1],
                          (point.z - v->first.z) / v->spacing - t->at[voxel][2]};
    for (uint32_t axis = 0; axis < 3; axis++) {
        *upper = in[axis] < 0.5;
        if (fabs(fabs(in[axis] - 0.5) - (0.5 - INSET)) > 0.2 * INSET || fabs(in[(axis + 1) % 3] - 0.5) > 0.2 * INSET ||
            fabs(in[(axis + 2) % 3] - 0.5) > 0.2 * INSET) {
            continue;
        }
        int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
        at[axis] -= *upper;
        *link = (lmi_slash){.voxel = lmi_octree_voxel(t, at[0], at[1], at[2]), .axis = axis};
        if (link->voxel != NONE && lmi_octree_is_slashed(t, link->voxel, axis)) {
            return true;
        }
    }
    return false;
}

/* Whether a voxel has others all around it across an axis: a point on its face along that axis is inside the body. */
static bool is_within(const lmi_octree *t, uint32_t voxel, uint32_t axis)
{
    bool within = true;
    for (uint32_t k = 1; within && k < 3; k++) {
        for (int up = -1; within && up < 2; up += 2) {
            int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
            at[(axis + k) % 3] += up;
            within = lmi_octree_voxel(t, at[0], at[1], at[2]) != NONE;
        }
    }
    return within;
}

uint32_t lmi_octree_cut_points(const lmi_body *body, const lmi_slashes *slashes, lm_vec3 *points)
{
    const lmi_octree *t = &body->octree->tree;
    const lmi_voxels *v = &t->voxels;
    uint32_t count = 0;
    for (uint32_t n = 0; n < slashes->count; n++) {
        const lmi_slash *s = &slashes->items[n];
        const uint16_t *at = t->at[s->voxel];
        for (int side = 0; side < 2; side++) {
            int64_t place[3] = {at[0], at[1], at[2]};
            double middle[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
            place[s->axis] += side;
            middle[s->axis] += side ? 0.5 + INSET : 0.5 - INSET;
            if (!is_within(t, lmi_octree_voxel(t, place[0], place[1], place[2]), s->axis)) {
                continue;
            }
            if (points) {
                points[count] = vec_from(dvec(v->first.x + middle[0] * v->spacing, v->first.y + middle[1] * v->spacing,
                                              v->first.z + middle[2] * v->spacing));
            }
            count++;
        }
    }
    return count;
}

lm_vec3 lmi_octree_point_place(const lmi_octree *t, lm_vec3 point, uint32_t voxel)
{
    const lmi_voxels *v = &t->voxels;
    lmi_slash link;
    bool upper;
    if (!(t->cut[voxel] >> 3 || t->bend_count) || !lmi_octree_is_cut_point(t, point, voxel, &link, &upper)) {
        return point;
    }
    lmi_octree_face face = lmi_octree_face_at(t, link.voxel, link.axis);
    return vec_from(dvec(v->first.x + v->spacing * face.middle.x, v->first.y + v->spacing * face.middle.y,
                         v->first.z + v->spacing * face.middle.z));
}

/* --- what points ride on --- */

static uint32_t voxel_of(const lmi_octree *t, lm_vec3 point)
{
    uint32_t cell[3];
    lmi_voxels_locate(&t->voxels, dvec_from(point), cell);
    return lmi_octree_voxel(t, cell[0], cell[1], cell[2]);
}

typedef struct embedding {
    lm_world *world;
    const lmi_body *body;
    const lmi_octree_past *past;
    lmi_octree_around around;
    lmi_embedder embedder;
    uint32_t *rider; /* of the blocks so far */
    float *weight;
    uint32_t rows, rider_capacity, weight_capacity;
    uint32_t riders[LMI_BLOCK][LMI_EMBED_MOST]; /* of a block */
    float weights[LMI_BLOCK][LMI_EMBED_MOST];
    uint32_t used[LMI_BLOCK];
} embedding;

/* What a point rode on before, in the places of now. False where that was something else. */
static bool take_over(embedding *e, uint32_t point, uint32_t lane)
{
    const lmi_touch *was = &e->past->body->touch;
    uint32_t row = was->first_row[point / LMI_BLOCK], end = was->first_row[point / LMI_BLOCK + 1], count = 0;
    for (; row < end; row++) {
        size_t at = (size_t)row * LMI_BLOCK + point % LMI_BLOCK;
        if (was->weight[at] == 0.0f) {
            continue;
        }
        uint32_t leaf = e->past->now[e->past->body->order[was->rider[at]]];
        if (leaf == NONE) {
            return false;
        }
        e->riders[lane][count] = e->body->place[leaf];
        e->weights[lane][count++] = was->weight[at];
    }
    e->used[lane] = count;
    return true;
}

/* Whether a point rode on just these: then on the same weights, which follow from where it and they are at rest. */
static bool rode_on(embedding *e, uint32_t point, const uint32_t *places, uint32_t count, uint32_t lane)
{
    uint32_t known = e->past ? e->past->body->touch.count : 0;
    bool same = point < known && take_over(e, point, lane) && e->used[lane] == count;
    for (uint32_t n = 0; n < count && same; n++) {
        same = e->riders[lane][n] == places[n];
    }
    return same;
}

static bool embed_point(embedding *e, const lmi_touch *touch, uint32_t n, uint32_t voxel, uint32_t lane)
{
    const lmi_octree *t = &e->body->octree->tree;
    uint32_t leaves[MOST_RIDERS], leaf = t->nodes[t->owner[voxel]].leaf;
    lm_vec3 place = lmi_octree_point_place(t, touch->rest[n], voxel);
    uint32_t count = lmi_octree_nearest(&e->around, &e->world->memory, leaf, place, MOST_RIDERS, leaves);
    for (uint32_t k = 0; k < count; k++) {
        leaves[k] = e->body->place[leaves[k]];
    }
    if (count > 0 && !rode_on(e, n, leaves, count, lane)) {
        memcpy(e->riders[lane], leaves, count * sizeof *leaves);
        e->used[lane] = lmi_embed_from(&e->embedder, place, e->riders[lane], count, LMI_EMBED_STEADY, e->weights[lane]);
    }
    return count > 0;
}

/* Appends the rows of a block. */
static bool add_rows(embedding *e, uint32_t lanes, lmi_touch *touch, uint32_t block)
{
    uint32_t most = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        most = e->used[lane] > most ? e->used[lane] : most;
    }
    void *rider = e->rider, *weight = e->weight;
    uint32_t needed = (e->rows + most) * LMI_BLOCK;
    bool ok = lmi_reserve(&e->world->memory, &rider, &e->rider_capacity, needed, sizeof *e->rider);
    e->rider = rider;
    ok = ok && lmi_reserve(&e->world->memory, &weight, &e->weight_capacity, needed, sizeof *e->weight);
    e->weight = weight;
    for (uint32_t n = 0; ok && n < most * LMI_BLOCK; n++) {
        uint32_t lane = n % LMI_BLOCK, row = n / LMI_BLOCK;
        bool is = lane < lanes && row < e->used[lane];
        e->rider[(size_t)e->rows * LMI_BLOCK + n] = is ? e->riders[lane][row] : 0;
        e->weight[(size_t)e->rows * LMI_BLOCK + n] = is ? e->weights[lane][row] : 0.0f;
    }
    e->rows += most;
    touch->most_rows = most > touch->most_rows ? most : touch->most_rows;
    touch->first_row[block + 1] = e->rows;
    return ok;
}

static bool embed_all(embedding *e, lmi_touch *touch)
{
    const lmi_octree *t = &e->body->octree->tree;
    const uint32_t known = e->past ? e->past->body->touch.count : 0;
    const uint32_t *voxels = e->past ? e->past->body->touch.voxel : NULL;
    bool ok = true;
    for (uint32_t block = 0; block < touch->blocks && ok; block++) {
        uint32_t lanes = touch->count - block * LMI_BLOCK < LMI_BLOCK ? touch->count - block * LMI_BLOCK : LMI_BLOCK;
        for (uint32_t lane = 0; lane < lanes && ok; lane++) {
            uint32_t n = block * LMI_BLOCK + lane;
            uint32_t voxel = n < known && voxels ? voxels[n] : voxel_of(t, touch->rest[n]);
            touch->leader[n] = n;
            touch->voxel[n] = voxel;
            bool same = n < known && e->past->then[t->nodes[t->owner[voxel]].leaf] != NONE && take_over(e, n, lane);
            ok = same || embed_point(e, touch, n, voxel, lane);
        }
        ok = ok && add_rows(e, lanes, touch, block);
    }
    return ok;
}

/* --- the whole --- */

/* Whether a particle lies within the surface for certain: the voxel that it is in has others on all sides. */
static bool is_inside(const lmi_octree *t, lm_vec3 rest)
{
    uint32_t cell[3];
    lmi_voxels_locate(&t->voxels, dvec_from(rest), cell);
    bool inside = true;
    for (uint32_t k = 0; inside && k < 7; k++) {
        int64_t at[3] = {cell[0], cell[1], cell[2]};
        at[k / 2 % 3] += k == 6 ? 0 : k % 2 ? 1 : -1;
        inside = lmi_octree_voxel(t, at[0], at[1], at[2]) != NONE;
    }
    return inside;
}

/* Particles that lie within the surface. Those that points ride on count too: a point is extrapolated from particles behind it,
 * so that it can be in front of a wall while they are beyond it and the body is turned inside out there. (Those at the surface whose
 * cells have no point do not: walls would then throw light particles of cut bodies.) */
static bool find_inner(lmi_memory *memory, const lmi_body *body, lmi_touch *touch)
{
    const lmi_octree *t = &body->octree->tree;
    bool *ridden = lmi_allocate(memory, body->place_count, sizeof *ridden); /* by several points each */
    for (size_t n = 0; ridden && n < (size_t)touch->rows * LMI_BLOCK; n++) {
        ridden[touch->rider[n]] = ridden[touch->rider[n]] || touch->weight[n] != 0.0f;
    }
    LMI_PARTICLES_EACH(body, n)
    {
        if (ridden && !(ridden[n] && !is_inside(t, body->rest[n]))) {
            touch->inner[n / LMI_BLOCK] |= (uint16_t)(1u << (n % LMI_BLOCK));
        }
    }
    lmi_release(memory, ridden, body->place_count, sizeof *ridden);
    return ridden != NULL;
}

/* How much the particle in each place counts in where a point is: as much as it weighs. Weights w that reproduce affine motions and have
 * the least sum of w²/m are those of moving least squares with the masses in them, and that sum is how far a point gives way under a
 * force: particles are held by springs in proportion to their mass. What rode on fine cells as on the coarse ones behind them was pressed
 * into the floor, and trembled. It follows from the leaf alone, so that leaves which a cut does not change keep their weights. */
static void find_masses(const lmi_body *body, float *share)
{
    const lmi_octree *t = &body->octree->tree;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        float cell = (float)(1u << 3 * node->level), filled = (float)node->voxel_count / cell;
        share[body->place[leaf]] = fmaxf(fminf(filled / ENOUGH_FILLED, 1.0f), LEAST_COUNTED) * cell;
    }
}

/* As far as the middle of the largest leaf is from its own corners, and as much again. */
static double beyond(const lmi_octree *t)
{
    uint32_t level = 0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        level = t->nodes[t->leaves[leaf]].level > level ? t->nodes[t->leaves[leaf]].level : level;
    }
    return 1.75 * t->voxels.spacing * (double)(1u << level);
}

bool lmi_touch_embed_octree(lm_world *world, const lmi_body *body, const lmi_octree_past *past, const lm_vec3 *points,
                            uint32_t count, lmi_touch *touch)
{
    lmi_memory *memory = &world->memory;
    lmi_touch made;
    embedding e = {.world = world, .body = body, .past = past};
    float *share = lmi_allocate(memory, body->place_count, sizeof *share);
    e.embedder =
        (lmi_embedder){.rest = body->rest, .share = share, .count = body->particle_count, .size = body->rest_size};
    bool ok = lmi_touch_allocate(world, body, count, &made) && share;
    if (ok) {
        find_masses(body, share);
        memcpy(made.rest, points, count * sizeof *points);
        ok = lmi_octree_around_make(&e.around, memory, &body->octree->tree) && embed_all(&e, &made);
    }
    if (ok) {
        made.rider = lmi_allocate(memory, (size_t)e.rows * LMI_BLOCK, sizeof *made.rider);
        made.weight = lmi_allocate(memory, (size_t)e.rows * LMI_BLOCK, sizeof *made.weight);
        made.rows = e.rows;
        ok = made.rider && made.weight;
    }
    if (ok) {
        memcpy(made.rider, e.rider, (size_t)e.rows * LMI_BLOCK * sizeof *made.rider);
        memcpy(made.weight, e.weight, (size_t)e.rows * LMI_BLOCK * sizeof *made.weight);
        made.beyond = beyond(&body->octree->tree);
        ok = find_inner(memory, body, &made);
    }
    if (ok) {
        *touch = made;
    } else {
        lmi_touch_free(world, &made);
    }
    lmi_octree_around_free(&e.around, memory);
    lmi_release(memory, share, body->place_count, sizeof *share);
    lmi_release(memory, e.rider, e.rider_capacity, sizeof *e.rider);
    lmi_release(memory, e.weight, e.weight_capacity, sizeof *e.weight);
    return ok;
}

void lmi_octree_face_points(const lmi_body *body, lmi_touch *touch)
{
    const lmi_octree *t = &body->octree->tree;
    const lmi_mould *mould = body->bulk->mould;
    for (uint32_t n = 0; touch->voxel && n < touch->count; n++) {
        uint32_t voxel = touch->voxel[n], carrier = mould->of_leaf[t->nodes[t->owner[voxel]].leaf];
        lmi_slash link;
        bool upper;
        touch->carrier[n] = carrier == NONE ? 0 : carrier;
        if (t->bend_count && lmi_octree_is_cut_point(t, touch->rest[n], voxel, &link, &upper)) {
            lm_dvec3 normal = lmi_octree_face_at(t, link.voxel, link.axis).normal;
            touch->facing[n] = vec_from(dvec_scale(normal, upper ? -1.0 : 1.0));
        }
    }
}
