/*
 * Solid voxels: the fill against a plain flood, the inside of closed shapes against winding numbers, no leaks, volumes,
 * and the search for a number of particles.
 */
#include "test/support/soup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- the fill itself ---- */

/* Unoccupied cells connected to the sides, found one at a time. */
static bool *plain_outside(const lmi_voxels *v)
{
    size_t count = (size_t)v->n[0] * v->n[1] * v->n[2], waiting = 0;
    bool *outside = calloc(count, sizeof *outside);
    uint32_t(*stack)[3] = calloc(count, sizeof *stack);
    static const int steps[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (uint32_t z = 0; z < v->n[2]; z++)
        for (uint32_t y = 0; y < v->n[1]; y++)
            for (uint32_t x = 0; x < v->n[0]; x++) {
                uint32_t c[3] = {x, y, z};
                bool side = false;
                for (int i = 0; i < 3; i++) side = side || c[i] == 0 || c[i] == v->n[i] - 1;
                if (!side || lmi_voxels_cell(v, x, y, z)) continue;
                outside[((size_t)z * v->n[1] + y) * v->n[0] + x] = true;
                memcpy(stack[waiting++], c, sizeof c);
            }
    while (waiting > 0) {
        uint32_t c[3];
        memcpy(c, stack[--waiting], sizeof c);
        for (int k = 0; k < 6; k++) {
            uint32_t d[3] = {c[0] + (uint32_t)steps[k][0], c[1] + (uint32_t)steps[k][1], c[2] + (uint32_t)steps[k][2]};
            if (d[0] >= v->n[0] || d[1] >= v->n[1] || d[2] >= v->n[2]) continue;
            size_t index = ((size_t)d[2] * v->n[1] + d[1]) * v->n[0] + d[0];
            if (outside[index] || lmi_voxels_cell(v, d[0], d[1], d[2])) continue;
            outside[index] = true;
            memcpy(stack[waiting++], d, sizeof d);
        }
    }
    free(stack);
    return outside;
}

static void set_cell(lmi_voxels *v, uint32_t x, uint32_t y, uint32_t z, bool occupied)
{
    uint64_t *word = &v->bits[((size_t)z * v->n[1] + y) * v->row_words + x / 64], bit = 1ull << (x % 64);
    *word = occupied ? *word | bit : *word & ~bit;
}

/* Straight tunnels, each begun within another. */
static void dig(lmi_voxels *v, random_state *random)
{
    uint32_t at[3];
    for (int i = 0; i < 3; i++) at[i] = random_below(random, v->n[i]);
    for (int tunnel = 0; tunnel < 40; tunnel++) {
        uint32_t axis = random_below(random, 3), to = random_below(random, v->n[axis]);
        while (at[axis] != to) {
            set_cell(v, at[0], at[1], at[2], false);
            at[axis] += at[axis] < to ? 1 : UINT32_MAX;
        }
    }
}

/* Random cells, dense enough that the ways between them are long and crooked, or solid with tunnels, in rows of one to
 * four words. */
static void the_fill_equals_a_plain_flood(void **context)
{
    (void)context;
    random_state random = {21};
    lmi_memory memory;
    lm_allocator hooks = {0};
    lmi_memory_init(&memory, &hooks);
    uint64_t filled = 0;
    for (int round = 0; round < 300; round++) {
        lmi_voxels v = {0};
        for (int i = 0; i < 3; i++) v.n[i] = 1 + random_below(&random, i == 0 ? 200 : 24);
        v.row_words = (v.n[0] + 63) / 64;
        size_t words = (size_t)v.row_words * v.n[1] * v.n[2];
        v.bits = lmi_allocate(&memory, words, sizeof *v.bits);
        double share = round % 2 ? 1.0 : random_range(&random, 0.2, 0.8);
        for (uint32_t z = 0; z < v.n[2]; z++)
            for (uint32_t y = 0; y < v.n[1]; y++)
                for (uint32_t x = 0; x < v.n[0]; x++) set_cell(&v, x, y, z, random_range(&random, 0, 1) < share);
        for (int k = 0; k < 3 && share == 1.0; k++) dig(&v, &random);
        bool *outside = plain_outside(&v);
        uint64_t *before = malloc(words * sizeof *before);
        memcpy(before, v.bits, words * sizeof *before);
        assert_true(lmi_voxels_fill(&memory, &v));
        for (uint32_t z = 0; z < v.n[2]; z++)
            for (uint32_t y = 0; y < v.n[1]; y++)
                for (uint32_t x = 0; x < 64 * v.row_words; x++) {
                    size_t word = ((size_t)z * v.n[1] + y) * v.row_words + x / 64;
                    bool bit = v.bits[word] >> (x % 64) & 1;
                    bool expected = x < v.n[0] && !outside[((size_t)z * v.n[1] + y) * v.n[0] + x];
                    assert_int_equal(bit, expected);
                    filled += bit && !(before[word] >> (x % 64) & 1);
                }
        free(before);
        free(outside);
        lmi_voxels_free(&memory, &v);
    }
    assert_true(filled > 10000);
    assert_int_equal(memory.used, 0);
}

static void corners_are_those_of_occupied_cells(void **context)
{
    (void)context;
    const char *names[] = {"torus", "duck", "box", "sphere"};
    for (int k = 0; k < 4; k++) {
        soup s = soup_shape(names[k], 10);
        lmi_voxels v = voxelise(&s, k == 2 ? 1.0 / 64 : k == 3 ? 1.0 / 70 : 0.031, k % 2);
        uint64_t *row = malloc(lmi_voxels_corner_words(&v) * sizeof *row), cells = 0, corners = 0;
        for (uint32_t z = 0; z <= v.n[2]; z++)
            for (uint32_t y = 0; y <= v.n[1]; y++) {
                uint32_t count = lmi_voxels_corner_row(&v, y, z, row), expected_count = 0;
                for (uint32_t x = 0; x < 64 * lmi_voxels_corner_words(&v); x++) {
                    bool expected = false;
                    for (uint32_t c = 0; c < 8; c++)
                        expected = expected || lmi_voxels_cell(&v, (int64_t)x - (c & 1), (int64_t)y - (c >> 1 & 1),
                                                               (int64_t)z - (c >> 2));
                    assert_int_equal(row[x / 64] >> (x % 64) & 1, expected);
                    expected_count += expected;
                    cells += lmi_voxels_cell(&v, x, y, z);
                }
                assert_int_equal(count, expected_count);
                corners += count;
            }
        assert_int_equal(corners, v.corner_count);
        assert_int_equal(cells, v.cell_count);
        free(row);
        voxels_free(&v);
        soup_free(&s);
    }
}

/* ---- closed shapes ---- */

static ref_vec centre_of(const lmi_voxels *v, uint32_t x, uint32_t y, uint32_t z)
{
    return ref_v(v->first.x + (x + 0.5) * v->spacing, v->first.y + (y + 0.5) * v->spacing,
                 v->first.z + (z + 0.5) * v->spacing);
}

/* How often the surface goes round a point (Van Oosterom and Strackee 1983). */
static double winding_number(const soup *s, ref_vec at)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        ref_vec p[3];
        double length[3];
        for (int k = 0; k < 3; k++) {
            p[k] = ref_sub(to_double(s->vertices[s->triangles[3 * n + (uint32_t)k]]), at);
            length[k] = ref_length(p[k]);
        }
        double numerator = ref_dot(p[0], ref_cross(p[1], p[2]));
        double denominator = length[0] * length[1] * length[2] + ref_dot(p[0], p[1]) * length[2] +
                             ref_dot(p[1], p[2]) * length[0] + ref_dot(p[2], p[0]) * length[1];
        sum += 2.0 * atan2(numerator, denominator);
    }
    return sum / (4.0 * PI);
}

/* Cells that the surface does not touch are occupied when, and only when, their centres are inside. */
static void the_inside_is_where_the_surface_winds(void **context)
{
    (void)context;
    const char *names[] = {"box", "sphere", "torus", "cylinder", "duck", "head"};
    for (int k = 0; k < 6; k++) {
        soup s = soup_shape(names[k], 10);
        for (double spacing = 0.2; spacing > 0.03; spacing *= 0.61) {
            lmi_voxels solid = voxelise(&s, spacing, false), shell = voxelise(&s, spacing, true);
            assert_int_equal(shell.cell_count, solid.touched);
            uint64_t inside = 0;
            for (uint32_t z = 0; z < solid.n[2]; z++)
                for (uint32_t y = 0; y < solid.n[1]; y++)
                    for (uint32_t x = 0; x < solid.n[0]; x++) {
                        if (lmi_voxels_cell(&shell, x, y, z)) {
                            assert_true(lmi_voxels_cell(&solid, x, y, z));
                            continue;
                        }
                        bool expected = winding_number(&s, centre_of(&solid, x, y, z)) > 0.5;
                        assert_int_equal(lmi_voxels_cell(&solid, x, y, z), expected);
                        inside += expected;
                    }
            assert_int_equal(inside, solid.cell_count - solid.touched);
            voxels_free(&solid);
            voxels_free(&shell);
        }
        soup_free(&s);
    }
}

static void a_torus_keeps_its_hole(void **context)
{
    (void)context;
    soup s = soup_shape("torus", 24);
    for (double spacing = 0.1; spacing > 0.01; spacing *= 0.8) {
        lmi_voxels v = voxelise(&s, spacing, false);
        for (uint32_t y = 0; y < v.n[1]; y++) assert_false(lmi_voxels_cell(&v, v.n[0] / 2, y, v.n[2] / 2));
        voxels_free(&v);
    }
    soup_free(&s);
}

/* A bubble inside a body cannot be reached: it is filled. A shell keeps it. */
static void bubbles_are_filled(void **context)
{
    (void)context;
    soup s = soup_make(0, 0);
    soup_add_box(&s, (lm_vec3){0, 0, 0}, (lm_vec3){10, 10, 10});
    soup_add_box(&s, (lm_vec3){7, 7, 7}, (lm_vec3){3, 3, 3}); /* turned through its middle: it looks inwards */
    lmi_voxels v = voxelise(&s, 0.5, false), w = voxelise(&s, 0.5, true);
    assert_int_equal(v.cell_count, 8000);
    /* The skin of the box, and the cells around the bubble: its faces are in borders, and lie back into the material. */
    assert_int_equal(w.cell_count, 8000 - 18 * 18 * 18 + 6 * 8 * 8);
    assert_false(lmi_voxels_cell(&w, 10, 10, 10));
    voxels_free(&v);
    voxels_free(&w);
    soup_free(&s);
}

/* Without one side a box is only its walls; with a hole smaller than a cell it is whole. */
static void large_holes_leak_and_small_ones_do_not(void **context)
{
    (void)context;
    soup s = soup_make(0, 0);
    soup_add_box(&s, (lm_vec3){0, 0, 0}, (lm_vec3){1, 1, 1});
    s.triangle_count -= 2;
    lmi_voxels v = voxelise(&s, 0.1, false), w = voxelise(&s, 0.1, true);
    assert_int_equal(v.cell_count, w.cell_count);
    assert_true(voxels_equal(&v, &w));
    voxels_free(&v);
    voxels_free(&w);
    /* Its side again, around a hole of 0.09 within one cell. */
    lm_vec3 outer[4] = {{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    lm_vec3 inner[4] = {{0.505f, 0.505f, 1}, {0.595f, 0.505f, 1}, {0.595f, 0.595f, 1}, {0.505f, 0.595f, 1}};
    for (int k = 0; k < 4; k++) {
        soup_add_triangle(&s, outer[k], outer[(k + 1) % 4], inner[k]);
        soup_add_triangle(&s, inner[k], outer[(k + 1) % 4], inner[(k + 1) % 4]);
    }
    v = voxelise(&s, 0.1, false);
    assert_int_equal(v.cell_count, 1000);
    voxels_free(&v);
    soup_free(&s);
}

/* ---- leaks ---- */

/* A convex body: which side of all its faces a point is on does not depend on how they are wound. */
static bool is_inside_convex(const soup *s, ref_vec middle, ref_vec at)
{
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        ref_vec p[3];
        for (int k = 0; k < 3; k++) p[k] = to_double(s->vertices[s->triangles[3 * n + (uint32_t)k]]);
        ref_vec normal = ref_cross(ref_sub(p[1], p[0]), ref_sub(p[2], p[0]));
        if (ref_dot(normal, ref_sub(at, p[0])) * ref_dot(normal, ref_sub(middle, p[0])) <= 0.0) return false;
    }
    return true;
}

static void wind_at_random(soup *s, random_state *random)
{
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        if (random_below(random, 2)) {
            uint32_t kept = s->triangles[3 * n];
            s->triangles[3 * n] = s->triangles[3 * n + 2];
            s->triangles[3 * n + 2] = kept;
        }
    }
}

/* Tetrahedra and boxes at any angle or none, each face wound at random: all cells whose centre is inside are occupied. */
static void closed_surfaces_never_leak(void **context)
{
    (void)context;
    random_state random = {22};
    uint64_t inner = 0;
    for (int round = 0; round < 1500; round++) {
        soup s = soup_make(0, 0);
        ref_mat turn = random_rotation(&random);
        bool straight = round % 3 == 0; /* along the axes, and on borders when the spacing allows */
        if (round % 2) {
            static const lm_vec3 p[4] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
            static const int faces[4][3] = {{0, 1, 3}, {0, 2, 1}, {0, 3, 2}, {1, 2, 3}};
            for (int k = 0; k < 4; k++) soup_add_triangle(&s, p[faces[k][0]], p[faces[k][1]], p[faces[k][2]]);
        } else {
            float a = (float)(1 + random_below(&random, 8)) / 8, b = (float)(1 + random_below(&random, 8)) / 8;
            soup_add_box(&s, (lm_vec3){-a, -1, -b}, (lm_vec3){a, 1, b});
        }
        for (uint32_t k = 0; k < s.vertex_count && !straight; k++)
            s.vertices[k] = to_float(ref_mat_vec(turn, to_double(s.vertices[k])));
        wind_at_random(&s, &random);
        double spacing = round % 4 == 0 ? 1.0 / (1 + random_below(&random, 16)) : random_range(&random, 0.03, 0.5);
        lmi_voxels v = voxelise(&s, spacing, false);
        for (uint32_t z = 0; z < v.n[2]; z++)
            for (uint32_t y = 0; y < v.n[1]; y++)
                for (uint32_t x = 0; x < v.n[0]; x++)
                    if (!lmi_voxels_cell(&v, x, y, z)) {
                        assert_false(is_inside_convex(&s, ref_v(0, 0, 0), centre_of(&v, x, y, z)));
                    }
        inner += v.cell_count - v.touched;
        voxels_free(&v);
        soup_free(&s);
    }
    assert_true(inner > 1000000);
}

/* Boxes into each other whose faces are all in borders between cells, wound at random: whichever side a face lies back
 * to, no cell of a box can be reached. */
static void boxes_on_the_lattice_never_leak(void **context)
{
    (void)context;
    random_state random = {23};
    for (int round = 0; round < 200; round++) {
        soup s = soup_make(0, 0);
        for (int k = 0; k < 4; k++) {
            uint32_t x = random_below(&random, 4), y = random_below(&random, 4), z = random_below(&random, 4);
            ref_vec p = ref_v(x, y, z);
            soup_add_box(&s, to_float(p), to_float(ref_add(p, ref_v(3, 4, 3))));
        }
        wind_at_random(&s, &random);
        lmi_voxels v = voxelise(&s, 1.0, false);
        for (uint32_t box = 0; box < 4; box++) {
            lm_vec3 lower = s.vertices[36 * box]; /* the first corner that soup_add_box adds */
            for (int c = 0; c < 3 * 4 * 3; c++)
                assert_true(lmi_voxels_cell(&v, (int64_t)((double)lower.x - v.first.x) + c % 3,
                                            (int64_t)((double)lower.y - v.first.y) + c / 3 % 4,
                                            (int64_t)((double)lower.z - v.first.z) + c / 12));
        }
        voxels_free(&v);
        soup_free(&s);
    }
}

/* ---- volume ---- */

/* The volume, and the areas of the three shadows of the surface, both sides counted. */
static void measure(const soup *s, double *volume, double *shadows)
{
    *volume = *shadows = 0.0;
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        ref_vec p[3];
        for (int k = 0; k < 3; k++) p[k] = to_double(s->vertices[s->triangles[3 * n + (uint32_t)k]]);
        ref_vec normal = ref_cross(ref_sub(p[1], p[0]), ref_sub(p[2], p[0]));
        *volume += ref_dot(p[0], ref_cross(p[1], p[2])) / 6.0;
        *shadows += 0.5 * (fabs(normal.x) + fabs(normal.y) + fabs(normal.z));
    }
}

/* On average a touched cell reaches half its width, as seen along the normal, beyond the surface: the volume exceeds the
 * mesh's by half a spacing times the three shadows, and tends to it. */
static void the_volume_converges(void **context)
{
    (void)context;
    const char *names[] = {"sphere", "torus", "duck", "head"};
    for (int k = 0; k < 4; k++) {
        soup s = soup_shape(names[k], 24);
        double volume, shadows;
        measure(&s, &volume, &shadows);
        for (double spacing = 0.05; spacing > 0.004; spacing *= 0.5) {
            lmi_voxels v = voxelise(&s, spacing, false);
            double excess = (double)v.cell_count * spacing * spacing * spacing - volume;
            assert_near(excess / (0.5 * spacing * shadows), 1.0, 0.02 + 5.0 * spacing);
            voxels_free(&v);
        }
        soup_free(&s);
    }
}

/* ---- a number of particles ---- */

/* The nearest count among many spacings. */
static double best_of_scan(const soup *s, double wanted, double around, bool shell)
{
    double best = INFINITY;
    for (int k = -100; k <= 100; k++) {
        lmi_voxels v = voxelise(s, around * exp(0.004 * k), shell);
        best = fmin(best, fabs(v.corner_count - wanted));
        voxels_free(&v);
    }
    return best;
}

/* Within 2 %, or as near as any spacing comes: small symmetric shapes have few numbers to choose from. */
static void numbers_of_particles_are_met(void **context)
{
    (void)context;
    const char *names[] = {"sphere", "torus", "duck", "head", "box"};
    const uint32_t wanted[] = {8, 20, 57, 150, 400, 1000, 5000, 57600, 1000000};
    for (int k = 0; k < 5; k++) {
        soup s = soup_shape(names[k], 16);
        for (int n = 0; n < 9; n++) {
            for (int shell = 0; shell < 2; shell++) {
                lmi_voxels v = voxelise_to(&s, wanted[n], shell);
                double miss = fabs((double)v.corner_count - wanted[n]);
                if (miss > 0.02 * wanted[n]) {
                    assert_true(k == 4 || wanted[n] <= 1000);
                    assert_at_most(miss, best_of_scan(&s, wanted[n], v.spacing, shell));
                }
                lmi_voxels w = voxelise(&s, v.spacing, shell); /* what it says is what it is */
                assert_true(voxels_equal(&v, &w));
                voxels_free(&v);
                voxels_free(&w);
            }
        }
        soup_free(&s);
    }
}

/* Of the spacings with the same cells, a box takes the one that fits it; flat and long meshes are met as well. */
static void odd_shapes_are_met(void **context)
{
    (void)context;
    soup s = soup_shape("box", 3);
    lmi_voxels v = voxelise_to(&s, 940, false);
    assert_int_equal(v.corner_count, 1000);
    assert_near(v.spacing, 1.0 / 9, 1e-9);
    assert_near(v.first.x, -0.5, 1e-9);
    voxels_free(&v);
    soup_free(&s);
    lm_vec3 sizes[] = {{1, 0, 1}, {1000, 1, 1}, {1e-3f, 1, 1e-3f}, {3, 1e-4f, 2}};
    for (int k = 0; k < 4; k++) {
        s = soup_make(0, 0);
        soup_add_box(&s, (lm_vec3){0, 0, 0}, sizes[k]);
        for (uint32_t wanted = 1000; wanted <= 100000; wanted *= 10) {
            v = voxelise_to(&s, wanted, false);
            double miss = fabs((double)v.corner_count - wanted);
            if (miss > 0.02 * wanted) assert_at_most(miss, best_of_scan(&s, wanted, v.spacing, false));
            voxels_free(&v);
        }
        soup_free(&s);
    }
    /* A line through a box of which it fills next to nothing: more corners than it can have. */
    s = soup_make(0, 0);
    soup_add_triangle(&s, (lm_vec3){0, 0, 0}, (lm_vec3){1, 1, 1}, (lm_vec3){1, 0.99999f, 1});
    lmi_memory memory;
    lm_allocator hooks = {0};
    lmi_memory_init(&memory, &hooks);
    lmi_voxel_def def = soup_def(&s, 0.0, false);
    def.particles = 1000000;
    char fault[LMI_VOXEL_FAULT_SIZE];
    assert_result(lmi_voxels_make(&memory, &def, &v, fault), LM_ERROR_LIMIT);
    assert_non_null(strstr(fault, "1000000 particles were asked for"));
    assert_int_equal(memory.used, 0);
    soup_free(&s);
}

/* A million faces in all directions, most of them small. */
static void a_large_soup_is_no_trouble(void **context)
{
    (void)context;
    random_state random = {24};
    const uint32_t faces = 1000000;
    soup s = soup_make(3 * faces, faces);
    for (uint32_t n = 0; n < faces; n++) {
        ref_vec middle = random_in_cube(&random, 1.0);
        double size = n % 1000 == 0 ? 0.5 : 0.01;
        for (uint32_t k = 0; k < 3; k++) {
            s.vertices[3 * n + k] = to_float(ref_add(middle, random_in_cube(&random, size)));
            s.triangles[3 * n + k] = 3 * n + k;
        }
    }
    lmi_voxels v = voxelise(&s, 0.025, false);
    assert_true(v.cell_count > 500000);
    uint32_t cell[3];
    for (uint32_t k = 0; k < s.vertex_count; k += 1001) {
        lmi_voxels_locate(&v, to_dvec3(to_double(s.vertices[k])), cell);
        assert_at_most(voxels_distance(&v, to_double(s.vertices[k]), cell), v.spacing / 8192);
    }
    voxels_free(&v);
    soup_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fill_equals_a_plain_flood),
        cmocka_unit_test(corners_are_those_of_occupied_cells),
        cmocka_unit_test(the_inside_is_where_the_surface_winds),
        cmocka_unit_test(a_torus_keeps_its_hole),
        cmocka_unit_test(bubbles_are_filled),
        cmocka_unit_test(large_holes_leak_and_small_ones_do_not),
        cmocka_unit_test(closed_surfaces_never_leak),
        cmocka_unit_test(boxes_on_the_lattice_never_leak),
        cmocka_unit_test(the_volume_converges),
        cmocka_unit_test(numbers_of_particles_are_met),
        cmocka_unit_test(odd_shapes_are_met),
        cmocka_unit_test(a_large_soup_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
