/*
 * An octree that a blade has cut, out of the records of all of them, for the texts of src/octree/octree_voxels.h and octree_sight.c, which
 * follow.
 */
#define LMI_FAR __global
typedef long int64_t;
typedef ushort uint16_t;
typedef uchar uint8_t;

#define LMI_OCTREE_NONE 0xffffffffu

/* As on the host. */
typedef struct lmi_octree_bend {
    uint64_t corner;
    float by[3];
} lmi_octree_bend;

typedef struct lmi_octree_face {
    lm_dvec3 middle, normal;
} lmi_octree_face;

typedef struct lmi_voxels {
    double spacing;
    lm_dvec3 first;
    uint32_t n[3], row_words;
    __global const uint64_t *bits;
} lmi_voxels;

typedef struct lmi_octree {
    lmi_voxels voxels;
    __global const uint32_t *word_rank;
    __global const uint16_t (*at)[3];
    __global const uint8_t *cut;
    __global const lmi_octree_bend *bends;
    uint32_t bend_count;
} lmi_octree;

/* The arrays of all of them. */
typedef struct cut_view {
    __global const lmi_gpu_cut *cuts;
    __global const ulong *bits;
    __global const uint *ranks;
    __global const ushort *places;
    __global const uchar *links;
    __global const lmi_octree_bend *bends;
} cut_view;

#define CUT_ARGUMENTS                                                                                                 \
    __global const lmi_gpu_cut *cuts, __global const ulong *cut_bits, __global const uint *cut_ranks,                 \
        __global const ushort *cut_places, __global const uchar *cut_links, __global const lmi_octree_bend *cut_bends
#define CUT_VIEW                                                                                                      \
    {                                                                                                                 \
        cuts, cut_bits, cut_ranks, cut_places, cut_links, cut_bends                                                   \
    }

static lmi_octree octree_of(const cut_view *v, uint index)
{
    __global const lmi_gpu_cut *c = v->cuts + index;
    lmi_octree t;
    t.voxels.spacing = c->spacing;
    t.voxels.first = dvec(c->first[0], c->first[1], c->first[2]);
    for (int i = 0; i < 3; i++) {
        t.voxels.n[i] = c->n[i];
    }
    t.voxels.row_words = c->row_words;
    t.voxels.bits = v->bits + c->first_word;
    t.word_rank = v->ranks + c->first_word;
    t.at = (__global const uint16_t(*)[3])(v->places + 3 * c->first_voxel);
    t.cut = v->links + c->first_voxel;
    t.bends = v->bends + c->first_bend;
    t.bend_count = c->bends;
    return t;
}
