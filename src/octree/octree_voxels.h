/*
 * Which voxels of an octree there are, and where a blade has cut the links between them; the host and devices compile this text, each
 * after its own lmi_octree.
 */
#ifndef LMI_OCTREE_VOXELS_H
#define LMI_OCTREE_VOXELS_H

#ifndef LMI_FAR /* where a device has its arrays */
#define LMI_FAR
#endif

static inline uint32_t lmi_count_bits(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(bits * 0x0101010101010101u >> 56);
}

/* The filled voxel at a place, or LMI_OCTREE_NONE; the coordinates may lie outside. */
static inline uint32_t lmi_octree_voxel(const lmi_octree *tree, int64_t x, int64_t y, int64_t z)
{
    const lmi_voxels *v = &tree->voxels;
    if (x < 0 || y < 0 || z < 0 || x >= v->n[0] || y >= v->n[1] || z >= v->n[2]) {
        return LMI_OCTREE_NONE;
    }
    size_t word = ((size_t)z * v->n[1] + (size_t)y) * v->row_words + (size_t)(x / 64);
    uint64_t bits = v->bits[word], bit = (uint64_t)1 << (x % 64);
    return bits & bit ? tree->word_rank[word] + lmi_count_bits(bits & (bit - 1)) : LMI_OCTREE_NONE;
}

/* A corner of voxels as a number: lmi_octree_bend. */
static inline uint64_t lmi_octree_corner(uint32_t x, uint32_t y, uint32_t z)
{
    return (uint64_t)x | (uint64_t)y << 20 | (uint64_t)z << 40;
}

/* Whether a blade has cut the link from a voxel to the next one along an axis. */
static inline bool lmi_octree_is_slashed(const lmi_octree *tree, uint32_t voxel, uint32_t axis)
{
    return tree->cut[voxel] >> (3 + axis) & 1;
}

#endif
