/*
 * Extraction of a surface from a signed distance: surface nets (Gibson 1998) on a grid of cubes. A cube with corners on
 * both sides holds one vertex, the mean of where its edges cross the surface; an edge that crosses joins the four cubes
 * around it by two triangles.
 *
 * One vertex for each cube is enough only where one sheet of the surface passes through it. A cube whose inner corners, or
 * whose outer corners, are not connected along its edges holds several sheets (parts thinner than a cube, or close to
 * each other); there the solid is thickened by a corner until no such cube is left (a well-composed solid, Latecki 1997).
 * The sheets' outlines are then single loops, and the mesh is closed with every edge between two triangles and every
 * vertex with one fan, whatever the field.
 *
 * The field is sampled in blocks of corners, large ones divided until they are far from the surface or small. What follows
 * looks only at the small blocks left, which are near it: its cost grows with the surface, not with the room around it.
 *
 * Deterministic: doubles with + - * / and sqrt only, in a fixed order.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_GRID (1u << 27) /* corners: half a gigabyte */
#define MARGIN 2.5              /* empty cells around the model: room for thickening */
#define THICKENED 0.05f         /* how deep inside a corner is put that was outside, in cells */

#define LARGEST_BLOCK 32u /* corners along a side */
#define BLOCK 4u          /* the smallest */
#define CLEARANCE                                                                                                      \
    2.0 /* a block is far when its corners are at least this far from the surface, in cells: more than the
                           * diagonal of a cube, so that no cube with a corner in it can hold a vertex */

#define NO_VERTEX UINT32_MAX

/* Corner c of a cube is at (c & 1, c >> 1 & 1, c >> 2 & 1). */
typedef struct corner_grid {
    uint32_t n[3]; /* corners along x, y, z */
    double cell;
    field_point first;
    float *values; /* distances in cells, right where the surface is near, else right in sign */
    size_t step[3];
    bool *near;    /* for each block, whether it is near the surface */
    uint32_t m[3]; /* blocks along x, y, z */
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

/* Whether the block that holds this corner is near the surface. */
static bool *block_near(const corner_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    return &grid->near[((size_t)(k / BLOCK) * grid->m[1] + j / BLOCK) * grid->m[0] + i / BLOCK];
}

/* The first corner of a row, at i or after it, in a block near the surface; n[0] when there is none. */
static uint32_t next_near(const corner_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    while (i < grid->n[0] && !*block_near(grid, i, j, k)) i = (i / BLOCK + 1) * BLOCK;
    return i;
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
    for (int axis = 0; axis < 3; axis++) grid->m[axis] = (grid->n[axis] + BLOCK - 1) / BLOCK;
    grid->values = malloc((size_t)size * sizeof *grid->values);
    grid->near = calloc((size_t)grid->m[0] * grid->m[1] * grid->m[2], sizeof *grid->near);
    return grid->values && grid->near ? LM_OK : LM_ERROR_MEMORY;
}

/* The two outermost layers of corners count as outside: a model that reached them would be cut off, not left open. Two,
 * because quads are looked for around the edges that begin behind the first. */
static bool is_outermost(const corner_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    return i < 2 || j < 2 || k < 2 || i + 2 >= grid->n[0] || j + 2 >= grid->n[1] || k + 2 >= grid->n[2];
}

/* Corners i, j and k from `from` on and before `to`. */
typedef struct corner_range {
    uint32_t from[3], to[3];
} corner_range;

static void fill_range(corner_grid *grid, const corner_range *range, float value)
{
    for (uint32_t k = range->from[2]; k < range->to[2]; k++) {
        for (uint32_t j = range->from[1]; j < range->to[1]; j++) {
            float *row = grid->values + k * grid->step[2] + j * grid->step[1];
            for (uint32_t i = range->from[0]; i < range->to[0]; i++)
                row[i] = is_outermost(grid, i, j, k) ? 1.0f : value;
        }
    }
}

static double sample_cells(const corner_grid *grid, const shape_model *model, field_point p)
{
    return model->field(p) / grid->cell;
}

static void sample_range(corner_grid *grid, const shape_model *model, const corner_range *range)
{
    *block_near(grid, range->from[0], range->from[1], range->from[2]) = true;
    for (uint32_t k = range->from[2]; k < range->to[2]; k++) {
        for (uint32_t j = range->from[1]; j < range->to[1]; j++) {
            float *row = grid->values + k * grid->step[2] + j * grid->step[1];
            for (uint32_t i = range->from[0]; i < range->to[0]; i++) {
                float value = (float)sample_cells(grid, model, corner_point(grid, i, j, k));
                row[i] = is_outermost(grid, i, j, k) ? 1.0f : value;
            }
        }
    }
}

/* Whether a block of `side` corners has no surface in it or next to it, by its value in the middle, in cells. Half the
 * distance is sure to be free of surface outside, even where blends make the field grow too fast. Inside it can be too much:
 * an ellipsoid's field deep inside is that of its longest axis. The corners of the block see the sides that are nearer. */
static bool is_far(const corner_grid *grid, const shape_model *model, uint32_t side, field_point first, double middle)
{
    if (0.5 * fabs(middle) <= sqrt(3.0) * 0.5 * (side - 1.0) + CLEARANCE) return false;
    for (int c = 0; c < 8; c++) {
        double reach = (side - 1.0) * grid->cell;
        field_point p =
            field_at(first.x + (c & 1 ? reach : 0.0), first.y + (c & 2 ? reach : 0.0), first.z + (c & 4 ? reach : 0.0));
        double value = sample_cells(grid, model, p);
        if ((value < 0.0) != (middle < 0.0) || 0.5 * fabs(value) <= CLEARANCE) return false;
    }
    return true;
}

/* The block of `side` corners at i, j, k, as far as it lies in the grid. */
static void sample_block(corner_grid *grid, const shape_model *model, uint32_t side, uint32_t i, uint32_t j, uint32_t k)
{
    if (i >= grid->n[0] || j >= grid->n[1] || k >= grid->n[2]) return;
    field_point first = corner_point(grid, i, j, k);
    double half = 0.5 * (side - 1.0) * grid->cell;
    double middle = sample_cells(grid, model, field_at(first.x + half, first.y + half, first.z + half));
    corner_range range = {{i, j, k}, {i + side, j + side, k + side}};
    for (int axis = 0; axis < 3; axis++)
        if (range.to[axis] > grid->n[axis]) range.to[axis] = grid->n[axis];

    if (is_far(grid, model, side, first, middle)) {
        fill_range(grid, &range, (float)middle);
    } else if (side == BLOCK) {
        sample_range(grid, model, &range);
    } else {
        side /= 2;
        for (uint32_t part = 0; part < 8; part++)
            sample_block(grid, model, side, i + (part & 1) * side, j + (part >> 1 & 1) * side, k + (part >> 2) * side);
    }
}

static void grid_sample(corner_grid *grid, const shape_model *model)
{
    for (uint32_t k = 0; k < grid->n[2]; k += LARGEST_BLOCK)
        for (uint32_t j = 0; j < grid->n[1]; j += LARGEST_BLOCK)
            for (uint32_t i = 0; i < grid->n[0]; i += LARGEST_BLOCK) sample_block(grid, model, LARGEST_BLOCK, i, j, k);
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

/* Whether a set of corners is connected along the edges of the cube. */
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

/* The corner nearest to the solid joins it. The outermost corners stay outside: those of one cube are connected, and so are
 * the others, so that one of the others is always left to join. */
static void thicken_cube(corner_grid *grid, uint32_t i, uint32_t j, uint32_t k)
{
    size_t base = k * grid->step[2] + j * grid->step[1] + i;
    float least = INFINITY;
    uint32_t best = 0;
    for (uint32_t c = 0; c < 8; c++) {
        float value = grid->values[cube_corner(grid, base, (int)c)];
        if (value < 0.0f || value >= least) continue;
        if (is_outermost(grid, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))) continue;
        least = value;
        best = c;
    }
    grid->values[cube_corner(grid, base, (int)best)] = -THICKENED;

    /* The blocks of the cubes around it are near the surface now. */
    i += best & 1, j += best >> 1 & 1, k += best >> 2;
    for (uint32_t c = 0; c < 8; c++) *block_near(grid, i - (c & 1), j - (c >> 1 & 1), k - (c >> 2)) = true;
}

static void grid_separate_sheets(corner_grid *grid)
{
    bool good[256];
    for (uint32_t set = 0; set < 256; set++) good[set] = is_connected(set) && is_connected(~set & 255u);
    for (bool changed = true; changed;) { /* ends: every change takes a corner from the outside */
        changed = false;
        for (uint32_t k = 0; k + 1 < grid->n[2]; k++) {
            for (uint32_t j = 0; j + 1 < grid->n[1]; j++) {
                size_t row = k * grid->step[2] + j * grid->step[1];
                for (uint32_t i = next_near(grid, 0, j, k); i + 1 < grid->n[0]; i = next_near(grid, i + 1, j, k)) {
                    while (!good[cube_inside(grid, row + i)]) {
                        thicken_cube(grid, i, j, k);
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
        for (uint32_t i = next_near(grid, 0, j, k); i + 1 < grid->n[0]; i = next_near(grid, i + 1, j, k)) {
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
        for (uint32_t i = next_near(grid, 1, j, k); i + 1 < grid->n[0] && good; i = next_near(grid, i + 1, j, k)) {
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

/* The vertex that stands for all that are connected with v; shortens the way there. */
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

lm_result lmi_shape_extract(const shape_model *model, double cell, draft_mesh *draft)
{
    corner_grid grid = {.values = NULL, .near = NULL};
    lm_result result = grid_make(&grid, model, cell);
    if (result == LM_OK) {
        grid_sample(&grid, model);
        grid_separate_sheets(&grid);
        result = grid_triangulate(&grid, draft);
    }
    if (result == LM_OK) result = keep_largest_part(draft);
    free(grid.values);
    free(grid.near);
    return result;
}
