/*
 * Triangle soups for the tests of voxels and lattices, an allocator that counts and refuses, and short names for making
 * voxels that must succeed.
 */
#ifndef LIMBER_TEST_SOUP_H
#define LIMBER_TEST_SOUP_H

#include "geometry/voxel.h"
#include "test/support/support.h"

typedef struct soup {
    lm_vec3 *vertices;
    uint32_t vertex_count, vertex_capacity;
    uint32_t *triangles;
    uint32_t triangle_count, triangle_capacity;
} soup;

soup soup_make(uint32_t vertices, uint32_t triangles); /* zeroed */
soup soup_shape(const char *name, uint32_t detail);    /* one of shapes/, in its natural size */
void soup_free(soup *s);
void soup_add_triangle(soup *s, lm_vec3 a, lm_vec3 b, lm_vec3 c);
void soup_add_box(soup *s, lm_vec3 lower, lm_vec3 upper); /* twelve faces, counter-clockwise from outside */
void soup_turn_over(soup *s);                             /* every face clockwise */

lmi_voxel_def soup_def(const soup *s, double spacing, bool shell);
lmi_voxels voxelise(const soup *s, double spacing, bool shell);
lmi_voxels voxelise_to(const soup *s, uint32_t particles, bool shell);
void voxels_free(lmi_voxels *v);
bool voxels_equal(const lmi_voxels *a, const lmi_voxels *b);                        /* the cells */
double voxels_distance(const lmi_voxels *v, ref_vec point, const uint32_t cell[3]); /* metres; 0 within the cell */

typedef struct account {
    size_t live, peak;
    uint64_t refuse; /* 0: none; n: the n-th request from now */
} account;

lm_allocator account_hooks(account *a);

#endif
