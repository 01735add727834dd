/*
 * Extraction of a surface from a signed distance: surface nets (Gibson 1998) on a grid of cubes. A cube with corners on
 * both sides holds one vertex, the mean of where its edges cross the surface; an edge that crosses joins the four cubes
 * around it by two triangles.
 *
 * One vertex for each cube is enough only where one sheet of the surface passes through it. A cube whose inner corners, or
 * whose outer corners, do not hang together along its edges holds several sheets (parts thinner than a cube, or close to
 * each other); there the solid is thickened by a corner until no such cube is left (a well-composed solid, Latecki 1997).
 * The sheets' outlines are then single loops, and the mesh is closed with every edge between two triangles and every
 * vertex with one fan, whatever the field.
 *
 * Deterministic: doubles with + - * / and sqrt only, in a fixed order.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_GRID (1u << 27) /* corners: half a gigabyte */
#define MARGIN 2.5              /* empty cells around the model: room for thickening */
#define THICKENED 0.05f         /* how deep inside a corner is put that was outside, in cells */

#define NO_VERTEX UINT32_MAX

/* Corner c of a cube is at (c & 1, c >> 1 & 1, c >> 2 & 1). */
typedef struct corner_grid {
    uint32_t n[3]; /* corners along x, y, z */
    double cell;
    field_point first;
    float *values; /* distances in cells, right where the surface is near, else right in sign */
    size_t step[3];
} corner_grid;

static field_point corner_point(const corner_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    return field_at(grid->first.x + i * grid->cell, grid->first.y + j * grid->cell, grid->first.z + k * grid->cell);
}

static size_t cube_corner(const corner_grid *grid, size_t base, int corner)
{
    return base + (corner & 1 ? grid->step[0] : 0) + (corner & 2 ? grid->step[1] : 0) +
           (corner & 4 ? grid->step[2] : 0);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Samples
 */

/* A grid that is symmetric about the middle of the model. */
static lm_result grid_make(corner_grid *grid, const shape_model *model, double cell)
{
    const double extent[3] = {model->upper.x - model->lower.x, model->upper.y - model->lower.y,
                              model->upper.z - model->lower.z};
    double size = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        double n = extent[axis] / cell + 2.0 * MARGIN + 1.0;
        if (n > (double)LARGEST_GRID) return LM_ERROR_LIMIT;
        grid->n[axis] = (uint32_t)n + 1u;
        size *= grid->n[axis];
    }
    if (size > (double)LARGEST_GRID) return LM_ERROR_LIMIT;
    grid->cell = cell;
    grid->first = field_at(0.5 * (model->lower.x + model->upper.x) - 0.5 * (grid->n[0] - 1.0) * cell,
                           0.5 * (model->lower.y + model->upper.y) - 0.5 * (grid->n[1] - 1.0) * cell,
                           0.5 * (model->lower.z + model->upper.z) - 0.5 * (grid->n[2] - 1.0) * cell);
    grid->step[0] = 1;
    grid->step[1] = grid->n[0];
    grid->step[2] = (size_t)grid->n[0] * grid->n[1];
    grid->values = malloc((size_t)size * sizeof *grid->values);
    return grid->values ? LM_OK : LM_ERROR_MEMORY;
}

/* The outermost corners count as outside: a model that reached them would be cut off, not left open. */
static bool is_outermost(const corner_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    return i == 0 || j == 0 || k == 0 || i == grid->n[0] - 1 || j == grid->n[1] - 1 || k == grid->n[2] - 1;
}

/* Far from the surface one sample stands for the corners after it: as many as lie within half the distance, less one, so
 * that none of them is next to the surface. */
static void grid_sample(corner_grid *grid, const shape_model *model)
{
    float *row = grid->values;
    for (uint32_t k = 0; k < grid->n[2]; k++) {
        for (uint32_t j = 0; j < grid->n[1]; j++, row += grid->n[0]) {
            for (uint32_t i = 0; i < grid->n[0];) {
                double distance = model->field(corner_point(grid, i, j, k)) / grid->cell;
                uint32_t same = 0.5 * fabs(distance) > 2.0 ? (uint32_t)(0.5 * fabs(distance)) - 1u : 0u;
                uint32_t end = same < grid->n[0] - 1 - i ? i + 1 + same : grid->n[0];
                for (; i < end; i++) row[i] = is_outermost(grid, i, j, k) ? 1.0f : (float)distance;
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * One sheet in each cube
 */

static uint32_t cube_inside(const corner_grid *grid, size_t base)
{
    uint32_t inside = 0;
    for (int c = 0; c < 8; c++) inside |= (grid->values[cube_corner(grid, base, c)] < 0.0f ? 1u : 0u) << c;
    return inside;
}

/* Whether a set of corners hangs together along the edges of the cube. */
static bool is_connected(uint32_t set)
{
    uint32_t reached = set & (~set + 1u); /* the lowest of them */
    for (int round = 0; round < 7; round++) {
        uint32_t x = (reached & 0x55u) << 1 | (reached & 0xaau) >> 1;
        uint32_t y = (reached & 0x33u) << 2 | (reached & 0xccu) >> 2;
        uint32_t z = (reached & 0x0fu) << 4 | (reached & 0xf0u) >> 4;
        reached |= (x | y | z) & set;
    }
    return reached == set;
}

static void thicken_cube(corner_grid *grid, size_t base)
{
    size_t best = SIZE_MAX;
    for (int c = 0; c < 8; c++) {
        size_t at = cube_corner(grid, base, c);
        if (grid->values[at] >= 0.0f && (best == SIZE_MAX || grid->values[at] < grid->values[best])) best = at;
    }
    grid->values[best] = -THICKENED;
}

static void grid_separate_sheets(corner_grid *grid)
{
    bool good[256];
    for (uint32_t set = 0; set < 256; set++) good[set] = is_connected(set) && is_connected(~set & 255u);
    for (bool changed = true; changed;) { /* ends: every change takes a corner from the outside */
        changed = false;
        for (uint32_t k = 0; k + 1 < grid->n[2]; k++) {
            for (uint32_t j = 0; j + 1 < grid->n[1]; j++) {
                size_t base = k * grid->step[2] + j * grid->step[1];
                for (uint32_t i = 0; i + 1 < grid->n[0]; i++, base++) {
                    while (!good[cube_inside(grid, base)]) {
                        thicken_cube(grid, base);
                        changed = true;
                    }
                }
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Vertices and triangles
 */

/* Room for `more` elements, at least half as many again as there are. */
static bool grow(void **items, size_t *capacity, size_t count, size_t more, size_t size)
{
    if (count + more <= *capacity) return true;
    size_t larger = *capacity + *capacity / 2 + 1024;
    void *grown = realloc(*items, larger * size);
    if (!grown) return false;
    *items = grown;
    *capacity = larger;
    return true;
}

/* The mean of where the cube's edges cross the surface. */
static field_point cube_vertex(const corner_grid *grid, size_t base, uint32_t i, uint32_t j, uint32_t k)
{
    double sum[3] = {0.0, 0.0, 0.0}, count = 0.0;
    for (int c = 0; c < 8; c++) {
        double value = grid->values[cube_corner(grid, base, c)];
        for (int axis = 0; axis < 3; axis++) {
            if (c >> axis & 1) continue;
            double other = grid->values[cube_corner(grid, base, c | 1 << axis)];
            if ((value < 0.0) == (other < 0.0)) continue;
            for (int a = 0; a < 3; a++) sum[a] += a == axis ? value / (value - other) : (double)(c >> a & 1);
            count += 1.0;
        }
    }
    field_point at = corner_point(grid, i, j, k);
    double scale = grid->cell / count;
    return field_at(at.x + scale * sum[0], at.y + scale * sum[1], at.z + scale * sum[2]);
}

/* Vertices of one layer of cubes, their numbers into `layer`. */
static bool add_vertices(const corner_grid *grid, uint32_t k, uint32_t *layer, draft_mesh *draft)
{
    for (uint32_t j = 0; j + 1 < grid->n[1]; j++) {
        for (uint32_t i = 0; i + 1 < grid->n[0]; i++) {
            size_t base = k * grid->step[2] + j * grid->step[1] + i;
            uint32_t inside = cube_inside(grid, base);
            layer[j * grid->step[1] + i] = NO_VERTEX;
            if (inside == 0 || inside == 255) continue;
            if (!grow((void **)&draft->points, &draft->point_capacity, draft->point_count, 1, sizeof *draft->points))
                return false;
            layer[j * grid->step[1] + i] = (uint32_t)draft->point_count;
            draft->points[draft->point_count++] = cube_vertex(grid, base, i, j, k);
        }
    }
    return true;
}

static double square_distance(const draft_mesh *draft, uint32_t a, uint32_t b)
{
    field_point between = field_less(draft->points[a], draft->points[b]);
    return field_dot(between, between);
}

/* Two triangles for the quad a b c d, divided along the shorter diagonal; turned over when `flip`. */
static bool add_quad(draft_mesh *draft, uint32_t a, uint32_t b, uint32_t c, uint32_t d, bool flip)
{
    if (!grow((void **)&draft->triangles, &draft->triangle_capacity, draft->triangle_count, 2,
              3 * sizeof *draft->triangles))
        return false;
    if (flip) {
        uint32_t keep = b;
        b = d;
        d = keep;
    }
    bool straight = square_distance(draft, a, c) <= square_distance(draft, b, d);
    const uint32_t corners[6] = {a, b, straight ? c : d, straight ? a : b, c, d};
    memcpy(draft->triangles + 3 * draft->triangle_count, corners, sizeof corners);
    draft->triangle_count += 2;
    return true;
}

/* The quads around the edges that begin at the corners of layer k: across x and y between the cubes of the layers below and
 * above, across z among those above. */
static bool add_triangles(const corner_grid *grid, uint32_t k, const uint32_t *below, const uint32_t *above,
                          draft_mesh *draft)
{
    bool good = true;
    for (uint32_t j = 1; j + 1 < grid->n[1] && good; j++) {
        for (uint32_t i = 1; i + 1 < grid->n[0] && good; i++) {
            const float *corner = grid->values + k * grid->step[2] + j * grid->step[1] + i;
            bool inside = *corner < 0.0f;
            size_t at = j * grid->step[1] + i, left = at - 1, front = at - grid->step[1], both = front - 1;
            if (inside != (corner[grid->step[0]] < 0.0f))
                good = good && add_quad(draft, below[front], below[at], above[at], above[front], !inside);
            if (inside != (corner[grid->step[1]] < 0.0f))
                good = good && add_quad(draft, below[left], above[left], above[at], below[at], !inside);
            if (inside != (corner[grid->step[2]] < 0.0f))
                good = good && add_quad(draft, above[both], above[front], above[at], above[left], !inside);
        }
    }
    return good;
}

static lm_result grid_triangulate(const corner_grid *grid, draft_mesh *draft)
{
    uint32_t *layers = malloc(2 * grid->step[2] * sizeof *layers);
    if (!layers) return LM_ERROR_MEMORY;
    uint32_t *below = layers, *above = layers + grid->step[2];
    bool good = add_vertices(grid, 0, below, draft);
    for (uint32_t k = 1; k + 1 < grid->n[2] && good; k++) {
        good = add_vertices(grid, k, above, draft) && add_triangles(grid, k, below, above, draft);
        uint32_t *keep = below;
        below = above;
        above = keep;
    }
    free(layers);
    return good ? LM_OK : LM_ERROR_MEMORY;
}

/* ------------------------------------------------------------------------------------------------------------------
 * One surface
 */

/* The vertex that stands for all that hang together with v; shortens the way there. */
static uint32_t leader(uint32_t *leaders, uint32_t v)
{
    while (leaders[v] != v) {
        leaders[v] = leaders[leaders[v]];
        v = leaders[v];
    }
    return v;
}

/* Makes the corners of every triangle point to one leader, and returns the leader of most of them. */
static uint32_t find_largest_part(const draft_mesh *draft, uint32_t *leaders, uint32_t *counts)
{
    uint32_t largest = 0;
    for (uint32_t v = 0; v < draft->point_count; v++) leaders[v] = v;
    for (size_t e = 0; e < 3 * draft->triangle_count; e++) {
        uint32_t a = leader(leaders, draft->triangles[e]), b = leader(leaders, draft->triangles[e - e % 3]);
        if (a < b) leaders[b] = a;
        if (b < a) leaders[a] = b;
    }
    memset(counts, 0, draft->point_count * sizeof *counts);
    for (uint32_t v = 0; v < draft->point_count; v++) counts[leader(leaders, v)]++;
    for (uint32_t v = 0; v < draft->point_count; v++)
        if (counts[v] > counts[largest]) largest = v;
    return largest;
}

/* Parts of the model too thin for the grid leave specks behind, and narrow hollows bubbles: only the largest surface
 * stays. */
static lm_result keep_largest_part(draft_mesh *draft)
{
    uint32_t *leaders = malloc(2 * draft->point_count * sizeof *leaders + 1);
    if (!leaders) return LM_ERROR_MEMORY;
    uint32_t *places = leaders + draft->point_count;
    uint32_t largest = find_largest_part(draft, leaders, places), points = 0;
    for (uint32_t v = 0; v < draft->point_count; v++) {
        places[v] = NO_VERTEX;
        if (leader(leaders, v) != largest) continue;
        places[v] = points;
        draft->points[points++] = draft->points[v];
    }
    size_t triangles = 0;
    for (size_t t = 0; t < draft->triangle_count; t++) {
        const uint32_t *corner = draft->triangles + 3 * t;
        if (places[corner[0]] == NO_VERTEX) continue;
        for (size_t c = 0; c < 3; c++) draft->triangles[3 * triangles + c] = places[corner[c]];
        triangles++;
    }
    draft->point_count = points;
    draft->triangle_count = triangles;
    free(leaders);
    return LM_OK;
}

lm_result shape_extract(const shape_model *model, double cell, draft_mesh *draft)
{
    corner_grid grid = {.values = NULL};
    lm_result result = grid_make(&grid, model, cell);
    if (result == LM_OK) {
        grid_sample(&grid, model);
        grid_separate_sheets(&grid);
        result = grid_triangulate(&grid, draft);
    }
    if (result == LM_OK) result = keep_largest_part(draft);
    free(grid.values);
    return result;
}
