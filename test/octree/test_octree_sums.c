/*
 * The operator of octrees against plain sums: distances against Dijkstra's, regions against all distances, hierarchical gather
 * and scatter against direct sums over the regions' members, on random bodies divided at random.
 *
 *   test_octree_sums       24 of them
 *   test_octree_sums N     N
 */
#include "octree/octree_body.h"
#include "test/support/boxes.h"
#include "test/support/support.h"
#include "world/in_step.h"
#include "world/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t case_count = 24;

/* A heap of boxes that overlap or not, cells wanted at random, widths and stiffness too. */
static lm_world *random_octree(uint64_t seed, lmi_body **body)
{
    random_state random = {seed};
    boxes b = {.count = 0};
    uint32_t count = 1 + random_below(&random, 6);
    for (uint32_t n = 0; n < count; n++) {
        ref_vec middle = random_in_cube(&random, 0.8);
        ref_vec half = random_in_box(&random, ref_v(0.1, 0.1, 0.1), ref_v(0.7, 0.4, 0.6));
        boxes_add(&b, to_float(ref_sub(middle, half)), to_float(ref_add(middle, half)));
    }
    uint32_t levels = random_below(&random, 5);
    float spacing = (float)random_range(&random, 0.08, 0.2);
    float width = (float)random_range(&random, 0.0, 1.2);
    lm_body_def def = boxes_octree(&b, spacing, levels, width);
    float sizes[8 * BOXES_MOST], widths[8 * BOXES_MOST];
    for (uint32_t n = 0; n < def.octree.vertex_count; n++) {
        sizes[n] = (float)random_range(&random, 0.05, 1.5);
        widths[n] = (float)random_range(&random, 0.1, 1.2);
    }
    def.octree.detail = (float)random_range(&random, 0.0, 2.0);
    def.octree.slack = (float)random_range(&random, 0.0, 1.0);
    def.octree.vertex_sizes = sizes;
    if (random_below(&random, 2)) def.octree.vertex_widths = widths;
    lm_world *world = make_world(0.0);
    lm_body_id id = make_body(world, &def);
    *body = lmi_body_in_step(world, 0);
    float *shares = calloc((*body)->particle_count, sizeof *shares);
    for (uint32_t n = 0; n < (*body)->particle_count; n++) shares[n] = (float)random_range(&random, 0.1, 1.0);
    assert_ok(lm_body_set_region_stiffness(world, id, shares));
    free(shares);
    return world;
}

/* Distances from a leaf to all, by looking for the nearest that is not done yet. */
static void plain_distances(const lmi_octree *t, uint32_t from, uint32_t *distance)
{
    bool *done = calloc(t->leaf_count, sizeof *done);
    memset(distance, 0xff, t->leaf_count * sizeof *distance);
    distance[from] = 0;
    for (;;) {
        uint32_t nearest = UINT32_MAX;
        for (uint32_t n = 0; n < t->leaf_count; n++)
            if (!done[n] && distance[n] != UINT32_MAX && (nearest == UINT32_MAX || distance[n] < distance[nearest]))
                nearest = n;
        if (nearest == UINT32_MAX) break;
        done[nearest] = true;
        for (uint32_t k = t->neighbours.offsets[nearest]; k < t->neighbours.offsets[nearest + 1]; k++) {
            uint32_t other = t->neighbours.items[k], way = distance[nearest] + lmi_octree_length(t, nearest, other);
            if (way < distance[other]) distance[other] = way;
        }
    }
    free(done);
}

static void buckets_find_the_shortest_paths(void **context)
{
    (void)context;
    uint64_t compared = 0;
    for (uint32_t n = 0; n < case_count; n++) {
        lmi_body *body;
        lm_world *world = random_octree(1000 + n, &body);
        const lmi_octree *t = &body->octree->tree;
        uint32_t *plain = calloc(t->leaf_count, sizeof *plain);
        lmi_octree_search search;
        assert_true(lmi_octree_search_make(&search, &world->memory, t));
        random_state random = {n};
        for (int run = 0; run < 6; run++) {
            uint32_t from = random_below(&random, t->leaf_count), limit = random_below(&random, 60);
            plain_distances(t, from, plain);
            lmi_octree_search_run(&search, t, from, limit);
            for (uint32_t k = 0; k < t->leaf_count; k++, compared++)
                assert_int_equal(search.distance[k], plain[k] <= limit ? plain[k] : LMI_OCTREE_NONE);
            for (uint32_t k = 1; k < search.reached_count; k++)
                assert_true(search.distance[search.reached[k]] >= search.distance[search.reached[k - 1]]);
        }
        lmi_octree_search_free(&search, &world->memory);
        free(plain);
        lm_world_destroy(world);
    }
    print_message("%llu distances\n", (unsigned long long)compared);
}

static void regions_keep_to_their_intervals(void **context)
{
    (void)context;
    uint64_t inside = 0, between = 0;
    for (uint32_t n = 0; n < case_count / 2; n++) {
        lmi_body *body;
        lm_world *world = random_octree(2000 + n, &body);
        const lmi_octree *t = &body->octree->tree;
        uint32_t *plain = calloc(t->leaf_count, sizeof *plain), *offsets = calloc(t->leaf_count + 1, sizeof *offsets);
        uint32_t *members = calloc(lmi_octree_body_regions(body, NULL, NULL) + 1, sizeof *members);
        uint8_t *is = calloc(t->leaf_count, 1);
        lmi_octree_body_regions(body, offsets, members);
        for (uint32_t leaf = 0; leaf < t->leaf_count; leaf += 1 + leaf / 40) {
            plain_distances(t, leaf, plain);
            memset(is, 0, t->leaf_count);
            for (uint32_t k = offsets[leaf]; k < offsets[leaf + 1]; k++) is[members[k]]++;
            for (uint32_t k = 0; k < t->leaf_count; k++) {
                double most = (1.0 + t->slack) * t->width[leaf];
                assert_true(is[k] <= 1);
                if (plain[k] <= t->width[leaf]) assert_int_equal(is[k], 1);
                if ((double)plain[k] > most) assert_int_equal(is[k], 0);
                inside += plain[k] <= t->width[leaf];
                between += is[k] && plain[k] > t->width[leaf];
            }
        }
        free(plain);
        free(offsets);
        free(members);
        free(is);
        lm_world_destroy(world);
    }
    print_message("%llu leaves within the width of a region, %llu taken beyond it\n", (unsigned long long)inside,
                  (unsigned long long)between);
    assert_true(between > 0);
}

/* What the kernels read and write, by place and by lane, and the regions by their members. */
typedef struct operands {
    lmi_body *body;
    float *x;          /* records of four */
    float *transforms; /* as in the pack */
    float *moments;
    uint32_t *offsets, *members;
    size_t lanes;
} operands;

static operands operands_make(lmi_body *body, random_state *random)
{
    const lmi_octree *t = &body->octree->tree;
    operands o = {.body = body, .lanes = (size_t)body->padded_count * LMI_MOMENTS};
    o.x = aligned_alloc(64, (size_t)body->padded_count * 4 * sizeof(float));
    o.transforms = aligned_alloc(64, o.lanes * sizeof(float));
    o.moments = aligned_alloc(64, o.lanes * sizeof(float));
    memset(o.x, 0, (size_t)body->padded_count * 4 * sizeof(float));
    for (size_t n = 0; n < o.lanes; n++) o.transforms[n] = (float)random_range(random, -1.0, 1.0);
    for (uint32_t n = 0; n < body->particle_count; n++)
        for (int i = 0; i < 3; i++) o.x[4 * n + (uint32_t)i] = (float)random_range(random, -1.0, 1.0);
    o.offsets = calloc(t->leaf_count + 1, sizeof *o.offsets);
    o.members = calloc(lmi_octree_body_regions(body, NULL, NULL) + 1, sizeof *o.members);
    lmi_octree_body_regions(body, o.offsets, o.members);
    return o;
}

static void operands_free(operands *o)
{
    free(o->x);
    free(o->transforms);
    free(o->moments);
    free(o->offsets);
    free(o->members);
}

static float *of_lane(float *channels, uint32_t place, int channel)
{
    return channels + ((size_t)(place / LMI_BLOCK) * LMI_MOMENTS + (size_t)channel) * LMI_BLOCK + place % LMI_BLOCK;
}

/* The moments of a region by direct sums; `scale`: the size of what is added up. */
static void direct_moments(const operands *o, uint32_t leaf, double out[12], double scale[12])
{
    const lmi_body *body = o->body;
    const float *from = o->x + 4 * (size_t)body->place[leaf];
    memset(out, 0, 12 * sizeof *out);
    memset(scale, 0, 12 * sizeof *scale);
    for (uint32_t k = o->offsets[leaf]; k < o->offsets[leaf + 1]; k++) {
        uint32_t place = body->place[o->members[k]];
        lm_dvec3 q = lmi_region_local(&body->regions[leaf], body->rest[place]);
        const double local[3] = {q.x, q.y, q.z};
        for (int i = 0; i < 3; i++) {
            double p = (double)body->x[4 * (size_t)place + 3] *
                       ((double)o->x[4 * (size_t)place + (size_t)i] - (double)from[i]);
            out[i] += p;
            scale[i] += fabs(p);
            for (int j = 0; j < 3; j++) {
                out[3 + 3 * i + j] += p * local[j];
                scale[3 + 3 * i + j] += fabs(p) * (1.0 + fabs(local[j]));
            }
        }
    }
}

/* The pull on every particle by direct sums, from the transforms; by leaf. */
static void direct_pulls(operands *o, ref_vec *pulls, double *scale)
{
    const lmi_body *body = o->body;
    uint32_t count = body->particle_count;
    double *whole = calloc(count, sizeof *whole);
    for (uint32_t r = 0; r < count; r++) {
        double mass = body->mass[body->place[r]] / body->mean_mass;
        for (uint32_t k = o->offsets[r]; k < o->offsets[r + 1]; k++) {
            uint32_t leaf = o->members[k], place = body->place[leaf];
            lm_dvec3 q = lmi_region_local(&body->regions[r], body->rest[place]);
            double goal[3], w = mass * (double)body->stiffness[r];
            for (int i = 0; i < 3; i++) {
                goal[i] = (double)*of_lane(o->transforms, body->place[r], i);
                const double local[3] = {q.x, q.y, q.z};
                for (int j = 0; j < 3; j++)
                    goal[i] += (double)*of_lane(o->transforms, body->place[r], 3 + 3 * i + j) * local[j];
            }
            const float *x = o->x + 4 * (size_t)place;
            ref_vec way = ref_v(goal[0] - (double)x[0], goal[1] - (double)x[1], goal[2] - (double)x[2]);
            pulls[leaf] = ref_add_scaled(pulls[leaf], w, way);
            scale[leaf] += w * (ref_length(way) + 3.0);
            whole[leaf] += mass;
        }
    }
    for (uint32_t leaf = 0; leaf < count; leaf++) {
        pulls[leaf] = ref_scale(1.0 / whole[leaf], pulls[leaf]);
        scale[leaf] /= whole[leaf];
    }
    free(whole);
}

static float pull_at(const lmi_body *body, uint32_t place, int i)
{
    return body->octree->lanes.pull[4 * (size_t)place + (size_t)i];
}

static void sums_are_those_over_the_members(void **context)
{
    (void)context;
    double worst_gather = 0.0, worst_scatter = 0.0;
    uint64_t nodes = 0, members = 0;
    for (uint32_t n = 0; n < case_count; n++) {
        lmi_body *body;
        lm_world *world = random_octree(3000 + n, &body);
        random_state random = {n};
        operands o = operands_make(body, &random);
        const lmi_kernels *kernels = lmi_kernels_get(lm_world_get_isa(world));
        kernels->octree_gather(&body->octree->lanes, o.x, o.moments);
        for (uint32_t leaf = 0; leaf < body->particle_count; leaf++) {
            double direct[12], scale[12];
            direct_moments(&o, leaf, direct, scale);
            for (int i = 0; i < 12; i++) {
                double off = fabs((double)*of_lane(o.moments, body->place[leaf], i) - direct[i]);
                if (scale[i] > 0.0) worst_gather = fmax(worst_gather, off / scale[i]);
            }
        }
        ref_vec *pulls = calloc(body->particle_count, sizeof *pulls);
        double *scale = calloc(body->particle_count, sizeof *scale);
        direct_pulls(&o, pulls, scale);
        kernels->octree_scatter(&body->octree->lanes, o.x, o.transforms);
        for (uint32_t leaf = 0; leaf < body->particle_count; leaf++) {
            const double direct[3] = {pulls[leaf].x, pulls[leaf].y, pulls[leaf].z};
            for (int i = 0; i < 3; i++)
                worst_scatter =
                    fmax(worst_scatter, fabs((double)pull_at(body, body->place[leaf], i) - direct[i]) / scale[leaf]);
        }
        nodes += body->octree->tree.regions.item_count;
        members += o.offsets[body->particle_count];
        free(pulls);
        free(scale);
        operands_free(&o);
        lm_world_destroy(world);
    }
    print_message("gather differs by %.2g, scatter by %.2g of what is added up; %.1f members to a summation node\n",
                  worst_gather, worst_scatter, (double)members / (double)nodes);
    assert_at_most(worst_gather, 1e-5);
    assert_at_most(worst_scatter, 1e-5);
    assert_true(members > nodes + nodes / 4);
}

/* sum over regions of m s (transform . moments of z)  =  sum over particles of weight z . (sum that scatter makes of the
 * transforms) */
static void scatter_is_the_transpose_of_gather(void **context)
{
    (void)context;
    double worst = 0.0;
    for (uint32_t n = 0; n < case_count; n++) {
        lmi_body *body;
        lm_world *world = random_octree(4000 + n, &body);
        random_state random = {n};
        operands o = operands_make(body, &random);
        const lmi_kernels *kernels = lmi_kernels_get(lm_world_get_isa(world));
        lmi_octree_lanes *lanes = &body->octree->lanes;
        kernels->octree_gather(lanes, o.x, o.moments);
        float *still = aligned_alloc(64, (size_t)body->padded_count * 4 * sizeof(float));
        memset(still, 0, (size_t)body->padded_count * 4 * sizeof(float));
        kernels->octree_scatter(lanes, still, o.transforms);
        double left = 0.0, right = 0.0, size = 0.0;
        for (uint32_t r = 0; r < body->particle_count; r++) {
            uint32_t place = body->place[r];
            double w = body->mass[place] / body->mean_mass * (double)body->stiffness[r], sum = 0.0;
            for (int c = 0; c < 12; c++)
                sum += (double)*of_lane(o.transforms, place, c) * (double)*of_lane(o.moments, place, c);
            for (int i = 0; i < 3; i++) /* moments are taken from the region's own particle */
                sum += (double)*of_lane(o.transforms, place, i) * (double)o.x[4 * (size_t)place + (size_t)i] /
                       (double)body->regions[r].inverse_mass;
            left += w * sum;
        }
        for (uint32_t lane = 0; lane < body->particle_count; lane++) {
            uint32_t place = lanes->spread_place[lane];
            for (int i = 0; i < 3; i++) {
                double term = (double)body->x[4 * (size_t)place + 3] * (double)o.x[4 * (size_t)place + (size_t)i] *
                              (double)pull_at(body, place, i) / (double)lanes->share[lane];
                right += term;
                size += fabs(term);
            }
        }
        worst = fmax(worst, fabs(left - right) / size);
        free(still);
        operands_free(&o);
        lm_world_destroy(world);
    }
    print_message("the two differ by at most %.2g\n", worst);
    assert_at_most(worst, 3e-6);
}

static void every_instruction_set_has_the_same_bits(void **context)
{
    (void)context;
    for (uint32_t n = 0; n < case_count / 4; n++) {
        lmi_body *body;
        lm_world *world = random_octree(5000 + n, &body);
        random_state random = {n};
        operands o = operands_make(body, &random);
        size_t pulls = (size_t)body->padded_count * 4;
        float *moments = NULL, *pull = NULL;
        for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
            const lmi_kernels *kernels = lmi_kernels_get((lm_isa)isa);
            if (!kernels) continue;
            memset(o.moments, 0, o.lanes * sizeof(float));
            kernels->octree_gather(&body->octree->lanes, o.x, o.moments);
            kernels->octree_scatter(&body->octree->lanes, o.x, o.transforms);
            if (!moments) {
                moments = malloc(o.lanes * sizeof(float));
                pull = malloc(pulls * sizeof(float));
                memcpy(moments, o.moments, o.lanes * sizeof(float));
                memcpy(pull, body->octree->lanes.pull, pulls * sizeof(float));
            }
            assert_memory_equal(moments, o.moments, o.lanes * sizeof(float));
            assert_memory_equal(pull, body->octree->lanes.pull, pulls * sizeof(float));
        }
        free(moments);
        free(pull);
        operands_free(&o);
        lm_world_destroy(world);
    }
}

/* Every voxel is in one leaf, leaves hang together, are in their cells, and have the middle of their voxels. */
static void trees_are_whole(void **context)
{
    (void)context;
    for (uint32_t n = 0; n < case_count; n++) {
        lmi_body *body;
        lm_world *world = random_octree(6000 + n, &body);
        const lmi_octree *t = &body->octree->tree;
        uint32_t voxels = 0;
        for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
            const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
            lm_dvec3 sum = {0.0, 0.0, 0.0};
            for (uint32_t k = 0; k < node->voxel_count; k++) {
                uint32_t voxel = t->voxel_order[node->first_voxel + k];
                assert_int_equal(t->owner[voxel], t->leaves[leaf]);
                for (int a = 0; a < 3; a++) {
                    uint32_t at = t->at[voxel][a] + t->pad[a];
                    assert_true(at >= node->cell[a] && at < node->cell[a] + (1u << node->level));
                }
                sum.x += t->at[voxel][0] + 0.5, sum.y += t->at[voxel][1] + 0.5, sum.z += t->at[voxel][2] + 0.5;
            }
            lm_dvec3 middle = lmi_octree_middle(t, node);
            assert_near(middle.x, t->voxels.first.x + t->voxels.spacing * sum.x / node->voxel_count, 1e-9);
            assert_near(middle.z, t->voxels.first.z + t->voxels.spacing * sum.z / node->voxel_count, 1e-9);
            voxels += node->voxel_count;
        }
        assert_int_equal(voxels, t->voxel_count);
        for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) /* neighbours are mutual */
            for (uint32_t k = t->neighbours.offsets[leaf]; k < t->neighbours.offsets[leaf + 1]; k++) {
                uint32_t other = t->neighbours.items[k];
                bool back = false;
                for (uint32_t j = t->neighbours.offsets[other]; j < t->neighbours.offsets[other + 1]; j++)
                    back = back || t->neighbours.items[j] == leaf;
                assert_true(back && other != leaf);
            }
        lm_world_destroy(world);
    }
}

static bool halves(const lmi_octree *t, const lmi_octree_node *node, void *user)
{
    (void)t;
    (void)user;
    return node->level > 1 || node->voxel_count > 5;
}

/* Whether a link leads from one leaf to the other. */
static bool linked(const lmi_octree *t, uint32_t leaf, uint32_t other)
{
    const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
    for (uint32_t k = 0; k < node->voxel_count; k++)
        for (int way = 0; way < 6; way++) {
            uint32_t voxel = lmi_octree_linked(t, t->voxel_order[node->first_voxel + k], way / 2, way % 2);
            if (voxel != LMI_OCTREE_NONE && t->owner[voxel] == t->leaves[other]) return true;
        }
    return false;
}

/* With links cut at random: leaves whose cells share a face are neighbours where a link joins them, and only there. */
static void cuts_part_neighbours(void **context)
{
    (void)context;
    uint32_t apart = 0;
    for (uint32_t n = 0; n < case_count; n++) {
        lmi_body *body;
        lm_world *world = random_octree(7000 + n, &body);
        random_state random = {n};
        const lmi_voxels *from = &body->octree->tree.voxels;
        size_t words = (size_t)from->row_words * from->n[1] * from->n[2];
        lmi_voxels v = *from;
        lmi_octree t;
        v.bits = lmi_allocate(&world->memory, words, sizeof *v.bits);
        memcpy(v.bits, from->bits, words * sizeof *v.bits);
        assert_ok(lmi_octree_begin(&t, &world->memory, &v, 2));
        for (uint32_t k = 0; k < t.voxel_count; k++)
            t.cut[k] = random_below(&random, 3) ? 0 : (uint8_t)random_below(&random, 8);
        assert_ok(lmi_octree_divide(&t, &world->memory, halves, NULL));
        assert_true(lmi_octree_find_neighbours(&t, &world->memory));
        for (uint32_t leaf = 0; leaf < t.leaf_count; leaf++)
            for (uint32_t other = 0; other < t.leaf_count; other++) {
                const lmi_octree_node *a = &t.nodes[t.leaves[leaf]], *b = &t.nodes[t.leaves[other]];
                int overlaps = 0, touches = 0;
                for (int k = 0; k < 3; k++) {
                    uint32_t a_end = a->cell[k] + (1u << a->level), b_end = b->cell[k] + (1u << b->level);
                    overlaps += a->cell[k] < b_end && b->cell[k] < a_end;
                    touches += a->cell[k] == b_end || b->cell[k] == a_end;
                }
                if (overlaps != 2 || touches != 1) continue;
                bool neighbours = false;
                for (uint32_t k = t.neighbours.offsets[leaf]; k < t.neighbours.offsets[leaf + 1]; k++)
                    neighbours = neighbours || t.neighbours.items[k] == other;
                assert_true(neighbours == linked(&t, leaf, other));
                apart += !neighbours;
            }
        lmi_octree_free(&t, &world->memory);
        lm_world_destroy(world);
    }
    print_message("%u pairs of leaves share a face and are not neighbours\n", apart);
    assert_true(apart > 0);
}

int main(int count, char **arguments)
{
    if (count > 1) case_count = (uint32_t)strtoul(arguments[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_whole),
        cmocka_unit_test(cuts_part_neighbours),
        cmocka_unit_test(buckets_find_the_shortest_paths),
        cmocka_unit_test(regions_keep_to_their_intervals),
        cmocka_unit_test(sums_are_those_over_the_members),
        cmocka_unit_test(scatter_is_the_transpose_of_gather),
        cmocka_unit_test(every_instruction_set_has_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
