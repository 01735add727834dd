/*
 * Voxels: exactly the cells a mesh touches, against an oracle that solves for common points of face and cell; the rule
 * for faces in the border between cells; broken meshes, limits and memory.
 */
#include "geometry/voxel.h"
#include "test/support/soup.h"
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 4096 /* of the sub-lattice to a cell */

/* ---- the oracle ---- */

/* A face in steps of the sub-lattice from corner (0, 0, 0). */
typedef struct int_face {
    int64_t p[3][3];
} int_face;

/* a u + b v + c >= 0 for points p0 + u (p1 - p0) + v (p2 - p0). */
typedef struct constraint {
    int64_t a, b, c;
} constraint;

static int64_t sign_of(int64_t a) { return (a > 0) - (a < 0); }

/* Whether the face has points within the open cell: nine half-planes bound a polygon of (u, v), whose corners are among
 * the crossings of their lines. An open cell is met when for each of its sides some corner lies strictly within. All in
 * whole numbers, up to about 2^51 for the few cells of these tests. */
static bool meets(const int_face *f, const int cell[3])
{
    constraint all[9] = {{1, 0, 0}, {0, 1, 0}, {-1, -1, 1}};
    for (int i = 0; i < 3; i++) {
        int64_t e = f->p[1][i] - f->p[0][i], g = f->p[2][i] - f->p[0][i], low = (int64_t)cell[i] * STEPS;
        all[3 + 2 * i] = (constraint){e, g, f->p[0][i] - low};
        all[4 + 2 * i] = (constraint){-e, -g, low + STEPS - f->p[0][i]};
    }
    bool strictly[9] = {false};
    for (int m = 0; m < 9; m++) {
        for (int n = 0; n < m; n++) {
            int64_t w = all[m].a * all[n].b - all[n].a * all[m].b;
            int64_t u = all[m].b * all[n].c - all[n].b * all[m].c, v = all[n].a * all[m].c - all[m].a * all[n].c;
            if (w == 0) continue;
            bool common = true;
            int64_t value[9];
            for (int k = 0; k < 9; k++) {
                value[k] = sign_of(w) * (all[k].a * u + all[k].b * v + all[k].c * w);
                common = common && value[k] >= 0;
            }
            for (int k = 0; k < 9 && common; k++) strictly[k] = strictly[k] || value[k] > 0;
        }
    }
    for (int k = 3; k < 9; k++)
        if (!strictly[k]) return false;
    return true;
}

/* Lays a face that lies in a border half a cell back, against its normal. */
static void lay_back(int_face *f, bool inside_out)
{
    for (int i = 0; i < 3; i++) {
        int64_t at = f->p[0][i];
        if (f->p[1][i] != at || f->p[2][i] != at || at % STEPS != 0) continue;
        int u = (i + 1) % 3, v = (i + 2) % 3;
        int64_t normal = (f->p[1][u] - f->p[0][u]) * (f->p[2][v] - f->p[0][v]) -
                         (f->p[1][v] - f->p[0][v]) * (f->p[2][u] - f->p[0][u]);
        assert_true(normal != 0);
        for (int k = 0; k < 3; k++) f->p[k][i] -= sign_of(normal) * (inside_out ? -1 : 1) * STEPS / 2;
    }
}

static int_face read_face(const soup *s, uint32_t number)
{
    int_face f;
    for (int k = 0; k < 3; k++) {
        lm_vec3 v = s->vertices[s->triangles[3 * number + (uint32_t)k]];
        f.p[k][0] = (int64_t)((double)v.x * STEPS);
        f.p[k][1] = (int64_t)((double)v.y * STEPS);
        f.p[k][2] = (int64_t)((double)v.z * STEPS);
    }
    return f;
}

/* Six times the volume, in cubed steps, about the middle of the box. */
static double volume_of(const soup *s, const int cells[3])
{
    double sum = 0.0;
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        int_face f = read_face(s, n);
        double p[3][3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) p[k][i] = (double)(f.p[k][i] - cells[i] * STEPS / 2);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            sum += p[0][i] * (p[1][j] * p[2][k] - p[1][k] * p[2][j]);
        }
    }
    return sum;
}

/* A number of steps within `cells` cells: anywhere, or at one of few places so that borders and corners are hit. */
static double random_coordinate(random_state *random, int cells)
{
    uint32_t most = (uint32_t)cells * STEPS;
    uint32_t grain = random_below(random, 3) == 0 ? STEPS : random_below(random, 2) ? STEPS / 4 : 1;
    return (double)(random_below(random, most / grain + 1) * grain) / STEPS;
}

/* Faces whose box is a whole number of cells from the origin: two of them have its corners. */
static soup random_soup(random_state *random, const int cells[3], uint32_t faces)
{
    soup s = soup_make(3 * faces, faces);
    for (uint32_t n = 0; n < faces; n++) {
        int flat = (int)random_below(random, 6); /* 0 to 2: in a plane across that axis */
        double at = flat < 3 ? floor(random_coordinate(random, cells[flat])) : 0.0;
        for (uint32_t k = 0; k < 3; k++) {
            double p[3];
            for (int i = 0; i < 3; i++) {
                p[i] = i == flat ? at : random_coordinate(random, cells[i]);
                if (n == 0) p[i] = k == 0 ? 0.0 : k == 1 ? cells[i] : p[i];
            }
            s.vertices[3 * n + k] = (lm_vec3){(float)p[0], (float)p[1], (float)p[2]};
            s.triangles[3 * n + k] = 3 * n + k;
        }
    }
    return s;
}

static bool has_line(const soup *s)
{
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        int_face f = read_face(s, n);
        int64_t sum = 0;
        for (int i = 0; i < 3; i++) {
            int u = (i + 1) % 3, v = (i + 2) % 3;
            int64_t normal =
                (f.p[1][u] - f.p[0][u]) * (f.p[2][v] - f.p[0][v]) - (f.p[1][v] - f.p[0][v]) * (f.p[2][u] - f.p[0][u]);
            sum += normal != 0;
        }
        if (sum == 0) return true;
    }
    return false;
}

static void cells_are_those_the_faces_meet(void **context)
{
    (void)context;
    random_state random = {11};
    uint64_t compared = 0, touched = 0, borders = 0;
    for (int round = 0; round < 3000; round++) {
        int cells[3];
        for (int i = 0; i < 3; i++) cells[i] = 1 + (int)random_below(&random, 6);
        soup s = random_soup(&random, cells, 1 + random_below(&random, 3));
        double volume = volume_of(&s, cells);
        /* Faces without area are left out, and a volume of about nothing has no clear sign: other rounds have both. */
        if (has_line(&s) || (s.triangle_count > 1 && fabs(volume) < 1e6)) {
            soup_free(&s);
            continue;
        }
        lmi_voxels v = voxelise(&s, 1.0, true);
        for (int i = 0; i < 3; i++) assert_int_equal(v.n[i], cells[i]);
        assert_true(v.first.x == 0.0 && v.first.y == 0.0 && v.first.z == 0.0);
        for (uint32_t n = 0; n < s.triangle_count; n++) {
            int_face f = read_face(&s, n), back = f;
            lay_back(&back, volume < 0.0);
            borders += memcmp(&f, &back, sizeof f) != 0;
        }
        for (int c = 0; c < cells[0] * cells[1] * cells[2]; c++) {
            int cell[3] = {c % cells[0], c / cells[0] % cells[1], c / cells[0] / cells[1]};
            bool expected = false;
            for (uint32_t n = 0; n < s.triangle_count; n++) {
                int_face f = read_face(&s, n);
                lay_back(&f, volume < 0.0);
                for (int i = 0; i < 3; i++) { /* at the sides of the box there is only one place to go */
                    bool below = f.p[0][i] < 0 && f.p[1][i] < 0 && f.p[2][i] < 0, above = true;
                    for (int k = 0; k < 3; k++) above = above && f.p[k][i] > cells[i] * STEPS;
                    for (int k = 0; k < 3; k++) f.p[k][i] += below ? STEPS : above ? -STEPS : 0;
                }
                expected = expected || meets(&f, cell);
            }
            if (lmi_voxels_cell(&v, cell[0], cell[1], cell[2]) != expected)
                fail_msg("round %d: cell %d %d %d should be %d", round, cell[0], cell[1], cell[2], expected);
            compared++;
            touched += expected;
        }
        voxels_free(&v);
        soup_free(&s);
    }
    print_message("%u cells compared, %u touched, %u faces in borders\n", (unsigned)compared, (unsigned)touched,
                  (unsigned)borders);
    assert_true(touched > 20000 && touched < compared && borders > 500);
}

/* ---- the same for meshes that do not lie on the sub-lattice, to its rounding ---- */

/* Whether the face comes within `slack` (in cells) of a cell: clipped against its six sides. */
static bool comes_near(const double face[3][3], const int64_t cell[3], double slack)
{
    double polygon[12][3], next[12][3];
    int count = 3;
    memcpy(polygon, face, 9 * sizeof(double));
    for (int side = 0; side < 6 && count > 0; side++) {
        int i = side / 2, kept = 0;
        double sign = side % 2 ? -1.0 : 1.0, limit = sign * ((double)cell[i] + (side % 2 ? 1 + slack : -slack));
        for (int k = 0; k < count; k++) {
            const double *p = polygon[k], *q = polygon[(k + 1) % count];
            double a = sign * p[i] - limit, b = sign * q[i] - limit;
            if (a >= 0.0) memcpy(next[kept++], p, sizeof next[0]);
            if ((a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0)) {
                for (int j = 0; j < 3; j++) next[kept][j] = p[j] + a / (a - b) * (q[j] - p[j]);
                kept++;
            }
        }
        count = kept;
        memcpy(polygon, next, sizeof next);
    }
    return count > 0;
}

static void in_cells(const soup *s, const lmi_voxels *v, uint32_t number, double p[3][3])
{
    for (int k = 0; k < 3; k++) {
        lm_vec3 at = s->vertices[s->triangles[3 * number + (uint32_t)k]];
        p[k][0] = ((double)at.x - v->first.x) / v->spacing;
        p[k][1] = ((double)at.y - v->first.y) / v->spacing;
        p[k][2] = ((double)at.z - v->first.z) / v->spacing;
    }
}

/* Points all over a face lie in touched cells, or next to one by the rounding. */
static void expect_covered(const lmi_voxels *v, double p[3][3], double steps, random_state *random)
{
    for (int point = 0; point < 60; point++) {
        double u = random_range(random, 0, 1), w = random_range(random, 0, 1), x[3];
        if (point < 3) {
            u = point == 1;
            w = point == 2;
        }
        if (u + w > 1.0) {
            u = 1.0 - u;
            w = 1.0 - w;
        }
        for (int i = 0; i < 3; i++) x[i] = p[0][i] + u * (p[1][i] - p[0][i]) + w * (p[2][i] - p[0][i]);
        bool covered = false;
        for (int near = 0; near < 8; near++) {
            double hair = 0.5001 / steps;
            int64_t c[3];
            for (int i = 0; i < 3; i++) c[i] = (int64_t)floor(x[i] + (near >> i & 1 ? hair : -hair));
            covered = covered || lmi_voxels_cell(v, c[0], c[1], c[2]);
        }
        assert_true(covered);
    }
}

/* Every face is covered by cells, and every cell is near a face, both to the rounding. */
static void expect_covered_and_no_more(const soup *s, const lmi_voxels *v, double steps, random_state *random)
{
    double(*p)[3][3] = calloc(s->triangle_count, sizeof *p);
    for (uint32_t n = 0; n < s->triangle_count; n++) {
        in_cells(s, v, n, p[n]);
        expect_covered(v, p[n], steps, random);
    }
    for (int64_t z = 0; z < v->n[2]; z++)
        for (int64_t y = 0; y < v->n[1]; y++)
            for (int64_t x = 0; x < v->n[0]; x++) {
                if (x % 64 == 0 && lmi_voxels_row(v, (uint32_t)y, (uint32_t)z)[x / 64] == 0) {
                    x += 63; /* large lattices are mostly empty */
                    continue;
                }
                bool near = !lmi_voxels_cell(v, x, y, z);
                for (uint32_t n = 0; n < s->triangle_count && !near; n++)
                    near = comes_near((const double(*)[3])p[n], (int64_t[3]){x, y, z}, 1.0 / steps);
                assert_true(near);
            }
    free(p);
}

static void random_meshes_are_covered_and_no_more(void **context)
{
    (void)context;
    random_state random = {12};
    for (int round = 0; round < 150; round++) {
        uint32_t faces = 1 + random_below(&random, 12);
        soup s = soup_make(3 * faces, faces);
        double size = pow(10.0, random_range(&random, -6, 6)), far = random_range(&random, 0, 3) * size;
        for (uint32_t k = 0; k < 3 * faces; k++) {
            ref_vec p = random_in_cube(&random, size);
            s.vertices[k] = (lm_vec3){(float)(p.x + far), (float)(0.5 * p.y), (float)(p.z - far)};
            s.triangles[k] = k;
        }
        lmi_voxels v = voxelise(&s, size / random_range(&random, 0.3, 40.0), true);
        expect_covered_and_no_more(&s, &v, STEPS, &random);
        voxels_free(&v);
        soup_free(&s);
    }
}

/* Lattices so large that numbers become as large as they get, and the sub-lattice coarser. */
static void large_lattices_are_covered_and_no_more(void **context)
{
    (void)context;
    static const struct {
        double size[3];
        double breadth; /* of the faces, as a share of the box */
        int steps;
    } cases[] = {{{4090, 90, 70}, 1.0, 4096},     {{60, 4000, 100}, 1.0, 4096},   {{8100, 30, 20}, 1.0, 4096},
                 {{900, 800, 9}, 1.0, 4096},      {{11, 65500, 7}, 1.0, 4096},    {{9000, 9000, 5}, 1e-3, 2048},
                 {{60, 12000, 2500}, 1e-3, 4096}, {{30000, 9, 6000}, 1e-3, 2048}, {{19000, 25000, 4}, 1e-3, 1024}};
    random_state random = {18};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        soup s = soup_make(9, 3);
        for (uint32_t n = 0; n < 9; n++) { /* each from one corner of the box to the opposite one, and aside */
            double p[3], along = random_range(&random, 0.2, 0.8);
            for (int i = 0; i < 3; i++) {
                double size = cases[k].size[i], aside = random_range(&random, -0.5, 0.5) * cases[k].breadth;
                bool high = (n / 3 >> i & 1) != 0;
                p[i] = n % 3 == 0 ? high * size : n % 3 == 1 ? !high * size : fabs(!high - along) * size;
                if (n % 3 == 2) p[i] = fmin(fmax(p[i] + aside * size, 0.0), size);
            }
            s.vertices[n] = (lm_vec3){(float)p[0], (float)p[1], (float)p[2]};
            s.triangles[n] = n;
        }
        lmi_voxels v = voxelise(&s, 1.0, true);
        for (int i = 0; i < 3; i++) assert_int_equal(v.n[i], (uint32_t)cases[k].size[i]);
        expect_covered_and_no_more(&s, &v, cases[k].steps, &random);
        voxels_free(&v);
        soup_free(&s);
    }
}

/* Faces thinner than a step of the sub-lattice become lines, and are covered as well. */
static void hairs_are_covered_and_no_more(void **context)
{
    (void)context;
    random_state random = {19};
    for (int round = 0; round < 300; round++) {
        soup s = soup_make(0, 0);
        for (int n = 0; n < 3; n++) {
            ref_vec p = random_in_cube(&random, 6.0), q = random_in_cube(&random, 6.0);
            if (n == 0 && round % 2) q.y = p.y;
            ref_vec beside = ref_add(ref_scale(0.5, ref_add(p, q)), random_in_cube(&random, 1e-5));
            soup_add_triangle(&s, to_float(p), to_float(q), to_float(beside));
        }
        lmi_voxels v = voxelise(&s, 1.0, true);
        expect_covered_and_no_more(&s, &v, STEPS, &random);
        voxels_free(&v);
        soup_free(&s);
    }
}

/* A vertex is found in its cell; another point in the nearest one. */
static void points_are_located(void **context)
{
    (void)context;
    random_state random = {13};
    soup s = soup_shape("torus", 12);
    lmi_voxels v = voxelise(&s, 0.07, false);
    for (uint32_t k = 0; k < s.vertex_count + 300; k++) {
        ref_vec at = k < s.vertex_count ? to_double(s.vertices[k]) : random_in_cube(&random, 0.4);
        if (k >= s.vertex_count) at.y *= 0.3;
        uint32_t cell[3];
        lmi_voxels_locate(&v, to_dvec3(at), cell);
        assert_true(lmi_voxels_cell(&v, cell[0], cell[1], cell[2]));
        double found = voxels_distance(&v, at, cell), nearest = INFINITY;
        for (uint32_t c = 0; c < v.n[0] * v.n[1] * v.n[2]; c++) {
            uint32_t other[3] = {c % v.n[0], c / v.n[0] % v.n[1], c / v.n[0] / v.n[1]};
            if (lmi_voxels_cell(&v, other[0], other[1], other[2]))
                nearest = fmin(nearest, voxels_distance(&v, at, other));
        }
        assert_near(found, nearest, 1e-12);
        if (k < s.vertex_count) assert_at_most(found, v.spacing / (2 * STEPS));
    }
    uint32_t cell[3]; /* far outside: somewhere, and soon */
    lmi_voxels_locate(&v, (lm_dvec3){1e9, -1e9, 3.0}, cell);
    assert_true(lmi_voxels_cell(&v, cell[0], cell[1], cell[2]));
    voxels_free(&v);
    soup_free(&s);
}

/* ---- the border between cells ---- */

static void a_box_on_the_lattice_is_filled_exactly(void **context)
{
    (void)context;
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        for (uint32_t cells = 1; cells <= 130; cells += cells < 12 ? 1 : 59) {
            soup s = soup_shape("box", 4);
            if (inside_out) soup_turn_over(&s);
            /* 1 / cells is rarely a binary number, nor is what a float makes of it. */
            for (int rounding = 0; rounding < 3; rounding++) {
                double spacing = rounding == 2 ? (double)(1.0f / (float)cells) : 1.0 / cells;
                if (rounding == 1) spacing = nextafter(spacing, 0.0);
                lmi_voxels v = voxelise(&s, spacing, false);
                for (int i = 0; i < 3; i++) assert_int_equal(v.n[i], cells);
                assert_int_equal(v.cell_count, (uint64_t)cells * cells * cells);
                assert_int_equal(v.corner_count, (cells + 1) * (cells + 1) * (cells + 1));
                uint32_t inner = cells > 2 ? cells - 2 : 0;
                assert_int_equal(v.touched, v.cell_count - (uint64_t)inner * inner * inner);
                assert_near(v.first.x, -0.5, 1e-6);
                voxels_free(&v);
            }
            soup_free(&s);
        }
    }
}

/* Two boxes that share a side, an L: none of its inner faces takes a cell of the notch, whichever way round it is. */
static void a_notch_on_the_lattice_stays_free(void **context)
{
    (void)context;
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        soup s = soup_make(0, 0);
        soup_add_box(&s, (lm_vec3){0, 0, 0}, (lm_vec3){4, 1, 2});
        soup_add_box(&s, (lm_vec3){0, 1, 0}, (lm_vec3){1, 4, 2});
        soup_add_box(&s, (lm_vec3){3, 2, 0}, (lm_vec3){4, 3, 2}); /* and one that floats before it */
        if (inside_out) soup_turn_over(&s);
        for (int fine = 1; fine <= 3; fine++) {
            for (int shell = 0; shell < 2; shell++) {
                lmi_voxels v = voxelise(&s, 1.0 / fine, shell);
                if (!shell || fine <= 2) assert_int_equal(v.cell_count, (4 + 3 + 1) * 2 * fine * fine * fine);
                assert_false(lmi_voxels_cell(&v, 2 * fine, 2 * fine, 0));
                assert_false(lmi_voxels_cell(&v, fine, fine, 0));
                voxels_free(&v);
            }
        }
        soup_free(&s);
    }
}

/* A sheet in the border between two layers takes one of them, the one behind it. */
static void a_sheet_in_a_border_is_one_layer(void **context)
{
    (void)context;
    for (int turned = 0; turned < 2; turned++) {
        soup s = soup_make(0, 0);
        soup_add_triangle(&s, (lm_vec3){0, 1, 0}, (lm_vec3){0, 1, 4}, (lm_vec3){4, 1, 0}); /* looks up */
        soup_add_triangle(&s, (lm_vec3){4, 1, 0}, (lm_vec3){0, 1, 4}, (lm_vec3){4, 1, 4});
        if (turned) soup_turn_over(&s);
        /* The rest of the box, from both sides: together they enclose nothing, so nothing is inside out. */
        lm_vec3 a = {0, 0.1f, 0.1f}, b = {0.1f, 2, 0.3f}, c = {0.1f, 0, 0.7f};
        soup_add_triangle(&s, a, b, c);
        soup_add_triangle(&s, c, b, a);
        lmi_voxels v = voxelise(&s, 1.0, true);
        assert_int_equal(v.n[1], 2);
        for (int64_t x = 0; x < 4; x++)
            for (int64_t z = 0; z < 4; z++)
                for (int64_t y = 0; y < 2; y++)
                    assert_int_equal(lmi_voxels_cell(&v, x, y, z), y == turned || (x == 0 && z == 0));
        voxels_free(&v);
        soup_free(&s);
    }
    /* Alone, a sheet lies in the middle of its layer. */
    soup s = soup_make(0, 0);
    soup_add_triangle(&s, (lm_vec3){0, 7, 0}, (lm_vec3){0, 7, 4}, (lm_vec3){4, 7, 0});
    soup_add_triangle(&s, (lm_vec3){4, 7, 0}, (lm_vec3){0, 7, 4}, (lm_vec3){4, 7, 4});
    lmi_voxels v = voxelise(&s, 1.0, false);
    assert_int_equal(v.cell_count, 16);
    assert_int_equal(v.n[1], 1);
    assert_near(v.first.y, 6.5, 1e-12);
    voxels_free(&v);
    soup_free(&s);
}

/* Faces so small that they become points still have their cell, wherever they lie. */
static void specks_are_not_lost(void **context)
{
    (void)context;
    random_state random = {14};
    for (int round = 0; round < 200; round++) {
        soup s = soup_make(0, 0);
        soup_add_triangle(&s, (lm_vec3){0, 0, 0}, (lm_vec3){0, 0.3f, 0.2f}, (lm_vec3){0.2f, 0.2f, 0});
        soup_add_triangle(&s, (lm_vec3){4, 4, 4}, (lm_vec3){4, 3.7f, 3.8f}, (lm_vec3){3.8f, 3.8f, 4});
        float e = 1e-5f;
        uint32_t x = random_below(&random, 3), y = random_below(&random, 5), z = random_below(&random, 7);
        lm_vec3 at = {(float)(1 + x), (float)(1 + y) / 2, (float)(1 + z) / 2};
        soup_add_triangle(&s, at, (lm_vec3){at.x + e, at.y, at.z}, (lm_vec3){at.x, at.y + e, at.z - e});
        lmi_voxels v = voxelise(&s, 1.0, true);
        assert_int_equal(v.cell_count, 3);
        uint32_t cell[3];
        lmi_voxels_locate(&v, to_dvec3(to_double(at)), cell);
        assert_near(voxels_distance(&v, to_double(at), cell), 0.0, 1e-9);
        voxels_free(&v);
        soup_free(&s);
    }
}

/* ---- broken meshes and limits ---- */

static void expect_fault(const lmi_voxel_def *def, lm_result expected, const char *part)
{
    account a = {0};
    lmi_memory memory;
    lm_allocator hooks = account_hooks(&a);
    lmi_memory_init(&memory, &hooks);
    lmi_voxels v;
    char fault[LMI_VOXEL_FAULT_SIZE];
    assert_result(lmi_voxels_make(&memory, def, &v, fault), expected);
    if (!strstr(fault, part)) fail_msg("'%s' does not say '%s'", fault, part);
    assert_null(v.bits);
    assert_int_equal(memory.used, 0);
    assert_int_equal(a.live, 0);
    assert_at_most(a.peak, 100000);
}

static void broken_meshes_are_refused(void **context)
{
    (void)context;
    soup s = soup_shape("box", 2);
    lmi_voxel_def good = soup_def(&s, 0.1, false), def = good;
    def.triangle_count = 0;
    expect_fault(&def, LM_ERROR_ARGUMENT, "no triangles");
    float bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        float kept = s.vertices[3].y;
        s.vertices[3].y = bad[k];
        expect_fault(&good, LM_ERROR_ARGUMENT, "vertex 3 ");
        s.vertices[3].y = kept;
    }
    uint32_t kept = s.triangles[16];
    s.triangles[16] = s.vertex_count;
    expect_fault(&good, LM_ERROR_ARGUMENT, "triangle 5 ");
    s.triangles[16] = UINT32_MAX;
    expect_fault(&good, LM_ERROR_ARGUMENT, "4294967295");
    s.triangles[16] = kept;
    double spacings[] = {-1.0, NAN, INFINITY};
    for (int k = 0; k < 3; k++) {
        def = good;
        def.spacing = spacings[k];
        expect_fault(&def, LM_ERROR_ARGUMENT, "spacing");
    }
    def = good;
    def.spacing = 0.0;
    def.particles = 7;
    expect_fault(&def, LM_ERROR_ARGUMENT, "7 particles");
    def.particles = LM_MAX_PARTICLES + 1;
    expect_fault(&def, LM_ERROR_LIMIT, "67108865 particles");
    for (uint32_t k = 0; k < s.triangle_count; k++) s.triangles[3 * k + 2] = s.triangles[3 * k];
    expect_fault(&good, LM_ERROR_ARGUMENT, "no triangle of the mesh has an area");
    for (uint32_t k = 0; k < 3 * s.triangle_count; k++) s.triangles[k] = 0;
    expect_fault(&good, LM_ERROR_ARGUMENT, "no triangle of the mesh has an area");
    soup_free(&s);
    soup line = soup_make(0, 0);
    soup_add_triangle(&line, (lm_vec3){0, 0, 0}, (lm_vec3){1, 2, 3}, (lm_vec3){2, 4, 6});
    def = soup_def(&line, 0.1, false);
    expect_fault(&def, LM_ERROR_ARGUMENT, "no triangle of the mesh has an area");
    soup_free(&line);
}

/* Far more cells than may be are refused before anything of that size is allocated (expect_fault measures it). */
static void too_many_cells_are_refused(void **context)
{
    (void)context;
    soup s = soup_shape("box", 1);
    double spacings[] = {1.0 / 2155, 1e-5, 1e-9, 1e-300, 5e-324};
    for (int k = 0; k < 5; k++) {
        lmi_voxel_def def = soup_def(&s, spacings[k], false);
        expect_fault(&def, LM_ERROR_LIMIT, "65536 along an axis");
    }
    soup_free(&s);
    s = soup_make(0, 0); /* thin along x: rows of one cell would still take a word each */
    soup_add_box(&s, (lm_vec3){0, 0, 0}, (lm_vec3){1e-3f, 8, 8});
    lmi_voxel_def def = soup_def(&s, 1e-3, false);
    expect_fault(&def, LM_ERROR_LIMIT, "1 x 8000 x 8000");
    soup_free(&s);
    s = soup_make(0, 0); /* long, up to the limit */
    soup_add_box(&s, (lm_vec3){0, 0, 0}, (lm_vec3){65536, 2, 3});
    lmi_voxels v = voxelise(&s, 1.0, false);
    assert_int_equal(v.cell_count, 65536 * 6);
    voxels_free(&v);
    soup_free(&s);
}

static void any_allocation_may_fail(void **context)
{
    (void)context;
    soup s = soup_shape("duck", 8);
    for (int kind = 0; kind < 2; kind++) {
        lmi_voxel_def def = soup_def(&s, kind ? 0.0 : 0.1, false);
        def.particles = 500;
        uint64_t refused = 0;
        for (uint64_t refuse = 1;; refuse++) {
            account a = {.refuse = refuse};
            lmi_memory memory;
            lm_allocator hooks = account_hooks(&a);
            lmi_memory_init(&memory, &hooks);
            lmi_voxels v;
            char fault[LMI_VOXEL_FAULT_SIZE];
            lm_result result = lmi_voxels_make(&memory, &def, &v, fault);
            if (a.refuse > 0) { /* there were not so many */
                assert_ok(result);
                lmi_voxels_free(&memory, &v);
                assert_int_equal(a.live, 0);
                break;
            }
            refused++;
            assert_result(result, LM_ERROR_MEMORY);
            assert_null(v.bits);
            assert_int_equal(memory.used, 0);
            assert_int_equal(a.live, 0);
        }
        assert_true(refused >= 7);
    }
    soup_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_those_the_faces_meet),
        cmocka_unit_test(random_meshes_are_covered_and_no_more),
        cmocka_unit_test(large_lattices_are_covered_and_no_more),
        cmocka_unit_test(hairs_are_covered_and_no_more),
        cmocka_unit_test(points_are_located),
        cmocka_unit_test(a_box_on_the_lattice_is_filled_exactly),
        cmocka_unit_test(a_notch_on_the_lattice_stays_free),
        cmocka_unit_test(a_sheet_in_a_border_is_one_layer),
        cmocka_unit_test(specks_are_not_lost),
        cmocka_unit_test(broken_meshes_are_refused),
        cmocka_unit_test(too_many_cells_are_refused),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
