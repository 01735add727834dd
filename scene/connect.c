/* Which particles are neighbours: elements for clusters that follow a body's connectivity. */
#include "scene/internal.h"

#include <stdlib.h>
#include <string.h>

#define NEAREST 6u /* that an inner particle is joined to */

lm_result lmi_connect_lists(const scene_list *lists, connections *out)
{
    out->count = lists->count;
    out->size = lists->count > 0 ? LIST_ITEM(scene_list, *lists, 0)->count : 0;
    out->elements = malloc(((size_t)out->count * out->size + 1) * sizeof *out->elements);
    if (out->elements == NULL) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        const scene_list *list = LIST_ITEM(scene_list, *lists, i);
        memcpy(out->elements + (size_t)i * out->size, list->items, out->size * sizeof *out->elements);
    }
    return LM_OK;
}

lm_result lmi_connect_triangles(const lm_shape_mesh *surface, connections *out)
{
    size_t bytes = 3 * (size_t)surface->triangle_count * sizeof *out->elements;
    *out = (connections){malloc(bytes + 1), surface->triangle_count, 3};
    if (out->elements == NULL) {
        return LM_ERROR_MEMORY;
    }
    memcpy(out->elements, surface->triangles, bytes);
    return LM_OK;
}

static void add_edge(connections *out, uint32_t a, uint32_t b)
{
    uint32_t *edge = out->elements + 2 * (size_t)out->count++;
    edge[0] = a;
    edge[1] = b;
}

/* Joins a point to its nearest ones, the lower index first where distances are equal. */
static void join_nearest(const lm_vec3 *points, uint32_t count, uint32_t from, connections *out)
{
    uint32_t nearest[NEAREST], found = 0;
    double distances[NEAREST];
    for (uint32_t i = 0; i < count; i++) {
        lm_dvec3 off = vector_subtract(vector_widen(points[i]), vector_widen(points[from]));
        double distance = vector_dot(off, off);
        if (i == from || (found == NEAREST && distance >= distances[NEAREST - 1])) {
            continue;
        }
        uint32_t place = found < NEAREST ? found++ : NEAREST - 1;
        for (; place > 0 && distances[place - 1] > distance; place--) {
            distances[place] = distances[place - 1];
            nearest[place] = nearest[place - 1];
        }
        distances[place] = distance;
        nearest[place] = i;
    }
    for (uint32_t k = 0; k < found; k++) {
        add_edge(out, from, nearest[k]);
    }
}

lm_result lmi_connect_edges(const lm_shape_mesh *surface, const lm_vec3 *points, uint32_t count, connections *out)
{
    size_t most = 3 * (size_t)surface->triangle_count / 2 + (size_t)NEAREST * (count - surface->vertex_count);
    *out = (connections){malloc((2 * most + 1) * sizeof *out->elements), 0, 2};
    if (out->elements == NULL) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *corner = surface->triangles + 3 * (size_t)t;
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t next = corner[(c + 1) % 3];
            if (corner[c] < next) { /* each edge of a closed surface comes once in each direction */
                add_edge(out, corner[c], next);
            }
        }
    }
    for (uint32_t i = surface->vertex_count; i < count; i++) {
        join_nearest(points, count, i, out);
    }
    return LM_OK;
}
