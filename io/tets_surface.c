/*
 * The surface of a tetrahedral mesh: the faces that belong to one tetrahedron only. Found by sorting, in the order of the
 * tetrahedra.
 */
#include "limber/tets.h"

#include <stdlib.h>
#include <string.h>

/* Seen from outside, of a tetrahedron whose corners 1, 2 and 3 are counter-clockwise from outside. */
static const uint8_t corners_of_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

typedef struct sorted_face {
    uint32_t corner[3]; /* ascending */
    uint32_t face;      /* 4 times the tetrahedron, and which of its faces */
} sorted_face;

static int compare_faces(const void *a, const void *b)
{
    const sorted_face *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->corner[i] != y->corner[i]) return x->corner[i] < y->corner[i] ? -1 : 1;
    return x->face < y->face ? -1 : x->face > y->face;
}

static sorted_face face_at(const uint32_t *tets, uint32_t face)
{
    const uint32_t *tet = tets + face / 4 * (size_t)4;
    const uint8_t *which = corners_of_face[face % 4];
    uint32_t a = tet[which[0]], b = tet[which[1]], c = tet[which[2]], swap;
    if (a > b) swap = a, a = b, b = swap;
    if (b > c) swap = b, b = c, c = swap;
    if (a > b) swap = a, a = b, b = swap;
    return (sorted_face){{a, b, c}, face};
}

uint32_t *lm_tets_surface(const uint32_t *tets, uint32_t tet_count, uint32_t *triangle_count, uint32_t *crowded)
{
    uint32_t faces = 4 * tet_count, count = 0; /* below 2^28 */
    sorted_face *sorted = malloc(((size_t)faces + 1) * sizeof *sorted);
    bool *outside = calloc((size_t)faces + 1, sizeof *outside);
    *triangle_count = *crowded = 0;
    for (uint32_t f = 0; sorted && f < faces; f++) sorted[f] = face_at(tets, f);
    if (sorted) qsort(sorted, faces, sizeof *sorted, compare_faces);
    for (uint32_t first = 0, last; sorted && outside && first < faces; first = last) {
        last = first + 1;
        while (last < faces && memcmp(sorted[last].corner, sorted[first].corner, sizeof sorted[first].corner) == 0)
            last++;
        outside[sorted[first].face] = last - first == 1;
        count += last - first == 1;
        *crowded += last - first > 2;
    }
    uint32_t *triangles = sorted && outside ? malloc(((size_t)count + 1) * 3 * sizeof *triangles) : NULL;
    for (uint32_t f = 0; triangles && f < faces; f++) {
        if (!outside[f]) continue;
        for (int i = 0; i < 3; i++)
            triangles[3 * (size_t)*triangle_count + (size_t)i] = tets[f / 4 * (size_t)4 + corners_of_face[f % 4][i]];
        ++*triangle_count;
    }
    free(sorted);
    free(outside);
    return triangles;
}
