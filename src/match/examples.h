/*
 * Examples of a body: poses that it likes to deform into (Koyama et al. 2012), as the step wants them.
 *
 * A region's deformation is described by its right stretch S, the symmetric root of A^T A with A its best affine map, less 1.
 * With E that of the current pose and D_k that of example k, both in the region's own axes, and <,> the product of symmetric
 * matrices as matrices (off-diagonal ones count twice, so that axes do not matter), a group of regions r of masses M_r has
 *
 *     G_kl = sum M_r <D_k, D_l>          b_k = sum M_r <D_k, E>
 *     minimise  w^T G w / 2 - b^T w      over  w_k >= 0,  sum w_k <= 1                          (match/project.h)
 *     stretch of the mix  = 1 + beta sum w_k D_k, and that times the rest shape is what the region is matched with
 *
 * M_r is the mass of the region without the weight that pins add: a pinned end must not outvote the rest of the body.
 *
 * What the lanes need of a region stands in channels LMI_BLOCK floats apart, one lane to a region: those of clusters are in
 * their batch's pack, those of a lattice are the examples' own.
 */
#ifndef LMI_EXAMPLES_H
#define LMI_EXAMPLES_H

#include "base/block.h"
#include "base/memory.h"
#include "match/example_channels.h"

#include <stdbool.h>

struct lm_world;
struct lmi_body;

#define LMI_MOST_GROUPS 65536u

typedef struct lmi_examples {
    uint32_t count; /* n */
    lm_example_scope scope;
    uint32_t group_count;  /* 1, as given, or the number of regions */
    uint32_t region_count; /* of the body */
    uint32_t particle_count;
    float beta;
    bool forced;
    lm_vec3 *poses;        /* [count][particles], in the caller's order */
    uint32_t *group;       /* [regions] below group_count or LM_NO_GROUP */
    float *forced_weights; /* [groups][count] */
    float *weights;        /* [groups][count] of the last substep; of regions by themselves, before the last layout */

    double *gram;  /* [groups][n (n + 1) / 2] upper triangles, largest diagonal 1; not where regions have their own */
    double *scale; /* [groups] what the sums are multiplied by for that */
    double *sums;  /* [groups][count] */

    float *lanes;  /* where the channels are; null: not laid out yet */
    size_t *at;    /* [regions] of the first channel */
    size_t *along; /* the same in ascending order: as the body's regions stand in memory, whoever else is there */
    bool
        in_blocks; /* the n-th of `along` is lane n % LMI_BLOCK of the n / LMI_BLOCK-th of blocks that follow each other */
    float *home;    /* of a lattice: [blocks + 1][channels][LMI_BLOCK] */
    float *moments; /* of a lattice: [blocks + 1][12][LMI_BLOCK] */
    float *local;   /* of a lattice: [blocks + 1][LMI_BLOCK][4] */
    uint32_t blocks;
} lmi_examples;

/* With the counts set: all arrays. False when out of memory; lmi_examples_free takes what there is. */
bool lmi_examples_allocate(struct lm_world *world, const struct lmi_body *body, lmi_examples *examples);
void lmi_examples_free(struct lm_world *world, lmi_examples *examples);

/* Fills the channels of all regions of a body, whose `lanes` and `at` are known: match/example_rest.c. `list_count`: how many
 * regions the particles of clusters are in; null for a lattice. */
void lmi_examples_measure(const struct lmi_body *body, const float *list_count);

/* Of a lattice: where its channels are. */
void lmi_examples_place_lattice(const struct lmi_body *body, lmi_examples *examples);

/* Brings beta and forced weights into the channels. */
void lmi_examples_apply(lmi_examples *examples);

/* When all M_r <D_k, E> are in the channels: sums, solves, and puts the weights of groups into the channels. */
void lmi_examples_solve(lmi_examples *examples);

/* The weights of the last substep, [groups][count]. */
void lmi_examples_read(const lmi_examples *examples, float *weights);

/* The projection, in double precision: G (upper triangle row by row, largest diagonal about 1, positive definite) and b to w. */
void lmi_project(uint32_t count, const double *gram, const double *b, double *w);

#endif
