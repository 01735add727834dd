/*
 * The readers of tetrahedral meshes: one mesh in every format, encoding and byte order reads the same; files of other
 * programs; broken files are refused with a line that names what is wrong; any prefix and any damage is survived.
 */
#include "limber/mesh.h"
#include "limber/tets.h"
#include "support/text.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Files made in memory. They share nothing with the readers.
 */

typedef struct plain_tets {
    lm_vec3 *points;
    uint32_t point_count;
    uint32_t *tets;
    uint32_t tet_count;
} plain_tets;

static plain_tets make_block(uint64_t seed)
{
    random_state random = {seed};
    plain_tets t = {.points = grid_points(4, 3, 3, 0.5), .point_count = 36};
    t.tets = grid_tets(4, 3, 3, &t.tet_count);
    for (uint32_t i = 0; i < 36; i++)
        t.points[i] = to_float(ref_add(to_double(t.points[i]), random_in_cube(&random, 0.1)));
    return t;
}

static void free_block(plain_tets *t)
{
    free(t->points);
    free(t->tets);
}

typedef struct file_style {
    const char *label;
    enum { NETGEN, MEDIT, TETGEN, GMSH_2, GMSH_40, GMSH_41 } format;
    bool binary, big_endian;
    int version;      /* of MEDIT, or the first number of TetGen */
    uint64_t stretch; /* Gmsh: nodes have this many times their number as their tag */
} file_style;

static const file_style styles[] = {
    {"netgen", NETGEN, false, false, 0, 1},         {"medit text", MEDIT, false, false, 2, 1},
    {"medit 1", MEDIT, true, false, 1, 1},          {"medit 2", MEDIT, true, false, 2, 1},
    {"medit 3", MEDIT, true, false, 3, 1},          {"medit 4", MEDIT, true, false, 4, 1},
    {"medit 2, big", MEDIT, true, true, 2, 1},      {"medit 4, big", MEDIT, true, true, 4, 1},
    {"tetgen from 0", TETGEN, false, false, 0, 1},  {"tetgen from 1", TETGEN, false, false, 1, 1},
    {"gmsh 2 text", GMSH_2, false, false, 0, 1},    {"gmsh 2 gaps", GMSH_2, false, false, 0, 7},
    {"gmsh 2 binary", GMSH_2, true, false, 0, 3},   {"gmsh 2 binary, big", GMSH_2, true, true, 0, 1},
    {"gmsh 4.0 text", GMSH_40, false, false, 0, 3}, {"gmsh 4.0 binary", GMSH_40, true, false, 0, 3},
    {"gmsh 4.1 text", GMSH_41, false, false, 0, 3}, {"gmsh 4.1 binary", GMSH_41, true, false, 0, 5},
    {"gmsh 4.0 big", GMSH_40, true, true, 0, 1},    {"gmsh 4.1 big", GMSH_41, true, true, 0, 1},
};
#define STYLE_COUNT (sizeof styles / sizeof styles[0])

static void put(text_buffer *file, const file_style *style, uint64_t bits, int size)
{
    for (int k = 0; k < size; k++) {
        char byte = (char)(bits >> 8 * (style->big_endian ? size - 1 - k : k));
        lmi_text_add(file, &byte, 1);
    }
}

static void put_real(text_buffer *file, const file_style *style, double value, int size)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    uint32_t narrow_bits;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    put(file, style, size == 8 ? bits : narrow_bits, size);
}

static void add_number(text_buffer *file, const file_style *style, uint64_t value, int size)
{
    if (style->binary)
        put(file, style, value, size);
    else
        lmi_text_addf(file, "%llu ", (unsigned long long)value);
}

static void add_point(text_buffer *file, const file_style *style, lm_vec3 p, int size)
{
    const double at[3] = {(double)p.x, (double)p.y, (double)p.z};
    for (int i = 0; i < 3; i++) {
        if (style->binary)
            put_real(file, style, at[i], size);
        else
            lmi_text_addf(file, "%.9g ", at[i]);
    }
}

static void end_line(text_buffer *file, const file_style *style)
{
    if (!style->binary) lmi_text_addf(file, "\n");
}

static void make_netgen(text_buffer *file, const plain_tets *t, const file_style *style)
{
    lmi_text_addf(file, "%u\n", t->point_count);
    for (uint32_t i = 0; i < t->point_count; i++) add_point(file, style, t->points[i], 8), end_line(file, style);
    lmi_text_addf(file, "%u\n", t->tet_count);
    for (uint32_t i = 0; i < t->tet_count; i++) { /* Netgen's are the other way round */
        const uint32_t *c = t->tets + 4 * (size_t)i;
        lmi_text_addf(file, "  1 %u %u %u %u\n", c[0] + 1, c[1] + 1, c[3] + 1, c[2] + 1);
    }
    lmi_text_addf(file, "1\n 1 1 2 3\n");
}

static void make_medit_text(text_buffer *file, const plain_tets *t, const file_style *style)
{
    lmi_text_addf(file, "# a comment\nMeshVersionFormatted 2\nDimension\n3\nVertices\n%u\n", t->point_count);
    for (uint32_t i = 0; i < t->point_count; i++) add_point(file, style, t->points[i], 8), lmi_text_addf(file, "0\n");
    lmi_text_addf(file, "Triangles 1\n1 2 3 0\nTetrahedra %u\n", t->tet_count);
    for (uint32_t i = 0; i < t->tet_count; i++) {
        const uint32_t *c = t->tets + 4 * (size_t)i;
        lmi_text_addf(file, "%u %u %u %u 7\n", c[0] + 1, c[1] + 1, c[2] + 1, c[3] + 1);
    }
    lmi_text_addf(file, "Corners 1\n1\nEnd\n");
}

/* A section of a binary MEDIT file: its keyword and where the next one begins. */
static void begin_section(text_buffer *file, const file_style *style, uint32_t key, size_t size)
{
    int position = style->version < 3 ? 4 : 8;
    put(file, style, key, 4);
    put(file, style, file->length + (size_t)position + size, position);
}

static void make_medit_binary(text_buffer *file, const plain_tets *t, const file_style *style)
{
    int whole = style->version < 4 ? 4 : 8, real = style->version < 2 ? 4 : 8;
    put(file, style, 1, 4);
    put(file, style, (uint64_t)style->version, 4);
    begin_section(file, style, 3, 4);
    put(file, style, 3, 4);
    begin_section(file, style, 6, 11); /* something that nobody asked for */
    lmi_text_add(file, "eleven byte", 11);
    begin_section(file, style, 4, (size_t)whole + t->point_count * (3 * (size_t)real + (size_t)whole));
    put(file, style, t->point_count, whole);
    for (uint32_t i = 0; i < t->point_count; i++) {
        add_point(file, style, t->points[i], real);
        put(file, style, 9, whole);
    }
    begin_section(file, style, 8, (size_t)whole * (1 + 5 * (size_t)t->tet_count));
    put(file, style, t->tet_count, whole);
    for (uint32_t i = 0; i < t->tet_count; i++) {
        for (uint32_t k = 0; k < 4; k++) put(file, style, t->tets[4 * (size_t)i + k] + 1, whole);
        put(file, style, 9, whole);
    }
    put(file, style, 54, 4);
}

static void make_tetgen(text_buffer *file, text_buffer *tets, const plain_tets *t, const file_style *style)
{
    uint32_t first = (uint32_t)style->version;
    lmi_text_addf(file, "# nodes\n%u 3 1 1\n", t->point_count);
    for (uint32_t i = 0; i < t->point_count; i++) {
        lmi_text_addf(file, "%u ", i + first);
        add_point(file, style, t->points[i], 8);
        lmi_text_addf(file, "0.5 1\n");
    }
    lmi_text_addf(tets, "%u 4 1\n", t->tet_count);
    for (uint32_t i = 0; i < t->tet_count; i++) {
        const uint32_t *c = t->tets + 4 * (size_t)i;
        lmi_text_addf(tets, "%u %u %u %u %u 3\n", i + first, c[0] + first, c[1] + first, c[2] + first, c[3] + first);
    }
    lmi_text_addf(tets, "# the end\n");
}

static void begin_gmsh(text_buffer *file, const file_style *style, const char *version)
{
    lmi_text_addf(file, "$MeshFormat\n%s %d 8\n", version, style->binary);
    if (style->binary) put(file, style, 1, 4), lmi_text_addf(file, "\n");
    lmi_text_addf(file, "$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"$ all\"\n$EndPhysicalNames\n");
}

static void make_gmsh_2(text_buffer *file, const plain_tets *t, const file_style *style)
{
    begin_gmsh(file, style, "2.2");
    lmi_text_addf(file, "$Nodes\n%u\n", t->point_count);
    for (uint32_t i = 0; i < t->point_count; i++) {
        add_number(file, style, (i + 1) * style->stretch, 4);
        add_point(file, style, t->points[i], 8);
        end_line(file, style);
    }
    lmi_text_addf(file, "%s$EndNodes\n$Elements\n%u\n", style->binary ? "\n" : "", t->tet_count + 1);
    const uint64_t triangle[] = {2, 1, 2, 1, 5, 6, style->stretch, 2 * style->stretch, 3 * style->stretch};
    if (style->binary) {
        for (int i = 0; i < 9; i++) put(file, style, triangle[i], 4);
        put(file, style, 4, 4), put(file, style, t->tet_count, 4), put(file, style, 2, 4);
    } else
        lmi_text_addf(file, "1 2 2 5 6 %u %u %u\n", (unsigned)triangle[6], (unsigned)triangle[7],
                      (unsigned)triangle[8]);
    for (uint32_t i = 0; i < t->tet_count; i++) {
        add_number(file, style, i + 2, 4);
        if (!style->binary) lmi_text_addf(file, "4 2 ");
        add_number(file, style, 5, 4), add_number(file, style, 6, 4);
        for (uint32_t k = 0; k < 4; k++) add_number(file, style, (t->tets[4 * (size_t)i + k] + 1) * style->stretch, 4);
        end_line(file, style);
    }
    lmi_text_addf(file, "%s$EndElements\n", style->binary ? "\n" : "");
}

/* A block's head: the entity, its dimension (in the other order in 4.0), a third number, how many follow. */
static void add_head(text_buffer *file, const file_style *style, uint32_t dimension, uint32_t third, uint64_t count)
{
    bool first = style->format == GMSH_40;
    add_number(file, style, first ? 77 : dimension, 4);
    add_number(file, style, first ? dimension : 77, 4);
    add_number(file, style, third, 4);
    add_number(file, style, count, 8);
    end_line(file, style);
}

static void add_totals(text_buffer *file, const file_style *style, uint64_t count)
{
    add_number(file, style, 2, 8), add_number(file, style, count, 8);
    if (style->format == GMSH_41) add_number(file, style, 1, 8), add_number(file, style, count, 8);
    end_line(file, style);
}

/* Nodes in two blocks, the first with parametric coordinates of a surface. */
static void add_gmsh_4_nodes(text_buffer *file, const plain_tets *t, const file_style *style)
{
    int tag = style->format == GMSH_40 ? 4 : 8;
    const uint32_t bounds[3] = {0, 10, t->point_count};
    add_totals(file, style, t->point_count);
    for (int b = 0; b < 2; b++) {
        add_head(file, style, b ? 3 : 2, b ? 0 : 1, bounds[b + 1] - bounds[b]);
        for (uint32_t i = bounds[b]; style->format == GMSH_41 && i < bounds[b + 1]; i++)
            add_number(file, style, (i + 1) * style->stretch, tag), end_line(file, style);
        for (uint32_t i = bounds[b]; i < bounds[b + 1]; i++) {
            if (style->format == GMSH_40) add_number(file, style, (i + 1) * style->stretch, tag);
            add_point(file, style, t->points[i], 8);
            for (int k = 0; b == 0 && k < 2; k++) {
                if (style->binary)
                    put_real(file, style, 0.25, 8);
                else
                    lmi_text_addf(file, "0.25 ");
            }
            end_line(file, style);
        }
    }
}

static void make_gmsh_4(text_buffer *file, const plain_tets *t, const file_style *style)
{
    int tag = style->format == GMSH_40 ? 4 : 8;
    begin_gmsh(file, style, style->format == GMSH_40 ? "4" : "4.1");
    lmi_text_addf(file, "$Nodes\n");
    add_gmsh_4_nodes(file, t, style);
    lmi_text_addf(file, "%s$EndNodes\n$Elements\n", style->binary ? "\n" : "");
    add_totals(file, style, t->tet_count + 1);
    add_head(file, style, 2, 2, 1);
    for (uint64_t i = 0; i < 4; i++) add_number(file, style, i ? i * style->stretch : 1, tag);
    end_line(file, style);
    add_head(file, style, 3, 4, t->tet_count);
    for (uint32_t i = 0; i < t->tet_count; i++) {
        add_number(file, style, i + 2, tag);
        for (uint32_t k = 0; k < 4; k++)
            add_number(file, style, (t->tets[4 * (size_t)i + k] + 1) * style->stretch, tag);
        end_line(file, style);
    }
    lmi_text_addf(file, "%s$EndElements\n", style->binary ? "\n" : "");
}

typedef struct made_file {
    const char *name;
    text_buffer file, tets; /* the second of TetGen's only */
} made_file;

static made_file make_file(const plain_tets *t, const file_style *style)
{
    made_file made = {.name = style->format == TETGEN   ? "block.node"
                              : style->format >= GMSH_2 ? "block.msh"
                                                        : "block.mesh"};
    switch (style->format) {
    case NETGEN: make_netgen(&made.file, t, style); break;
    case MEDIT:
        if (style->binary)
            make_medit_binary(&made.file, t, style);
        else
            make_medit_text(&made.file, t, style);
        break;
    case TETGEN: make_tetgen(&made.file, &made.tets, t, style); break;
    case GMSH_2: make_gmsh_2(&made.file, t, style); break;
    default: make_gmsh_4(&made.file, t, style); break;
    }
    return made;
}

static void free_file(made_file *made)
{
    lmi_text_free(&made->file);
    lmi_text_free(&made->tets);
}

static bool parse(const made_file *made, lm_tets_data *data, lm_mesh_error *error)
{
    lm_tets_bytes file = {made->file.bytes, made->file.length}, tets = {made->tets.bytes, made->tets.length};
    return lm_tets_parse(made->name, file, made->tets.bytes ? &tets : NULL, NULL, data, error);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sound files
 */

static void every_format_reads_the_same(void **context)
{
    (void)context;
    plain_tets t = make_block(1);
    for (size_t s = 0; s < STYLE_COUNT; s++) {
        made_file made = make_file(&t, &styles[s]);
        lm_tets_data data;
        lm_mesh_error error = {""};
        if (!parse(&made, &data, &error)) fail_msg("%s: %s", styles[s].label, error.text);
        assert_int_equal(data.vertex_count, t.point_count);
        assert_int_equal(data.tet_count, t.tet_count);
        assert_memory_equal(data.positions, t.points, t.point_count * sizeof *t.points);
        assert_memory_equal(data.tets, t.tets, 4 * (size_t)t.tet_count * sizeof *t.tets);
        assert_int_equal(data.turned, styles[s].format == NETGEN);
        assert_int_equal(data.others,
                         styles[s].format == TETGEN || (styles[s].format == MEDIT && styles[s].binary) ? 0 : 1);
        assert_int_equal(data.dropped + data.repeated + data.crowded + data.inverted + data.flat, 0);
        /* 3 x 2 x 2 cells: 32 squares outside, two triangles each. */
        assert_int_equal(data.triangle_count, 64);
        lm_tets_free(&data);
        free_file(&made);
    }
    free_block(&t);
}

/* Volume by the divergence theorem over the surface equals that of the tetrahedra. */
static void the_surface_encloses_the_volume(void **context)
{
    (void)context;
    plain_tets t = make_block(2);
    made_file made = make_file(&t, &styles[1]);
    lm_tets_data data;
    lm_mesh_error error;
    assert_true(parse(&made, &data, &error));
    double six = 0.0, direct = 0.0;
    for (uint32_t n = 0; n < data.triangle_count; n++) {
        ref_vec p[3];
        for (uint32_t k = 0; k < 3; k++) p[k] = to_double(data.positions[data.triangles[3 * (size_t)n + k]]);
        six += ref_dot(p[0], ref_cross(p[1], p[2]));
    }
    for (uint32_t n = 0; n < t.tet_count; n++) {
        ref_vec p[4];
        for (uint32_t k = 0; k < 4; k++) p[k] = to_double(t.points[t.tets[4 * (size_t)n + k]]);
        direct += ref_dot(ref_sub(p[1], p[0]), ref_cross(ref_sub(p[2], p[0]), ref_sub(p[3], p[0]))) / 6.0;
    }
    assert_near(six / 6.0, direct, 1e-6);
    assert_near(data.volume, direct, 1e-6);
    lm_tets_free(&data);
    free_file(&made);
    free_block(&t);
}

typedef struct sample_file {
    const char *name, *format;
    uint32_t nodes, tets;
    bool turned;
    double volume;
} sample_file;

/* The volume of the block is exact; the ball's is that of its polyhedron, the same in every file of it. */
static void files_of_other_programs(void **context)
{
    (void)context;
    static const sample_file files[] = {
        {"gmsh22.msh", "Gmsh 2.2, text", 28, 50, false, 0.401754},
        {"gmsh22-binary.msh", "Gmsh 2.2, binary", 28, 50, false, 0.401754},
        {"gmsh40.msh", "Gmsh 4.0, text", 28, 50, false, 0.401754},
        {"gmsh41.msh", "Gmsh 4.1, text", 28, 50, false, 0.401754},
        {"gmsh41-binary.msh", "Gmsh 4.1, binary", 28, 50, false, 0.401754},
        {"medit.mesh", "MEDIT, text", 28, 50, false, 0.401754},
        {"netgen.mesh", "Netgen, neutral", 8, 6, true, 2.0},
        {"tetgen.node", "TetGen", 28, 34, false, 2.0},
        {"tetgen.ele", "TetGen", 28, 34, false, 2.0},
    };
    for (size_t n = 0; n < sizeof files / sizeof files[0]; n++) {
        char path[512];
        snprintf(path, sizeof path, "%s/test/data/tets/%s", SOURCE_DIR, files[n].name);
        lm_tets_data data;
        lm_mesh_error error = {""};
        if (!lm_tets_read(path, NULL, &data, &error)) fail_msg("%s", error.text);
        assert_string_equal(data.format, files[n].format);
        assert_int_equal(data.vertex_count, files[n].nodes);
        assert_int_equal(data.tet_count, files[n].tets);
        assert_int_equal(data.turned, files[n].turned);
        assert_near(data.volume, files[n].volume, 1e-5);
        assert_int_equal(data.crowded, 0);
        lm_tets_free(&data);

        lm_mesh_data mesh; /* and as a triangle mesh: its surface */
        if (!lm_mesh_read(path, NULL, &mesh, &error)) fail_msg("%s", error.text);
        assert_int_equal(mesh.triangle_count, files[n].tets == 6 ? 12 : files[n].tets == 34 ? 52 : 50);
        lm_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is put right
 */

static lm_tets_data reads(const char *name, const char *text)
{
    lm_tets_data data;
    lm_mesh_error error = {""};
    lm_tets_bytes file = {text, strlen(text)};
    if (!lm_tets_parse(name, file, NULL, NULL, &data, &error)) fail_msg("%s", error.text);
    return data;
}

#define FOUR_NODES "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"

static void unused_nodes_are_left_out(void **context)
{
    (void)context;
    lm_tets_data data = reads("a.mesh", "6\n9 9 9\n" FOUR_NODES "8 8 8\n1\n1 2 3 4 5\n");
    assert_int_equal(data.vertex_count, 4);
    assert_int_equal(data.dropped, 2);
    for (uint32_t k = 0; k < 4; k++) assert_int_equal(data.tets[k], k);
    assert_near(data.volume, 1.0 / 6.0, 1e-12);
    lm_tets_free(&data);
}

static void repeated_tetrahedra_are_left_out(void **context)
{
    (void)context;
    lm_tets_data data = reads("a.mesh", "5\n" FOUR_NODES "1 1 1\n3\n1 1 2 3 4\n1 2 3 4 5\n2 2 3 1 4\n");
    assert_int_equal(data.tet_count, 2);
    assert_int_equal(data.repeated, 1);
    assert_int_equal(data.triangle_count, 6);
    lm_tets_free(&data);
}

static void quadratic_ones_have_corners(void **context)
{
    (void)context;
    lm_tets_data data = reads(
        "a.msh",
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 10 1 10\n3 1 0 10\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" FOUR_NODES
        "1 1 1\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 11 1\n"
        "1 1 2 3 4 5 6 7 8 9 10\n$EndElements\n");
    assert_int_equal(data.vertex_count, 4);
    assert_int_equal(data.dropped, 6);
    assert_int_equal(data.tet_count, 1);
    lm_tets_free(&data);
}

static void z_up_is_turned(void **context)
{
    (void)context;
    const char *text = "4\n" FOUR_NODES "1\n1 1 2 3 4\n";
    lm_tets_bytes file = {text, strlen(text)};
    lm_tets_options options = {.z_up = true};
    lm_tets_data data;
    lm_mesh_error error;
    assert_true(lm_tets_parse("a.mesh", file, NULL, &options, &data, &error));
    assert_near(data.positions[3].y, 1.0, 0.0);
    assert_near(data.positions[2].z, -1.0, 0.0);
    lm_tets_free(&data);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Broken files
 */

static void refuses(const char *name, const char *text, const char *tets_text, const char *expected)
{
    lm_tets_data data;
    lm_mesh_error error = {""};
    lm_tets_bytes file = {text, strlen(text)}, tets = {tets_text, tets_text ? strlen(tets_text) : 0};
    if (lm_tets_parse(name, file, tets_text ? &tets : NULL, NULL, &data, &error))
        fail_msg("was read (expected: %s)", expected);
    assert_string_equal(error.text, expected);
    assert_null(data.positions);
}

#define GMSH "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define GMSH_NODES GMSH "$Nodes\n4\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n$EndNodes\n"
#define TETGEN_NODES "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n"

static void broken_files_are_refused(void **context)
{
    (void)context;
    static const char *const cases[][3] = {
        {"a.mesh", "", "a.mesh: the file is empty"},
        {"a.mesh", "hello",
         "a.mesh: not a tetrahedral mesh (expected Gmsh, MEDIT, Netgen's neutral format, or TetGen's "
         ".node and .ele)"},
        {"a.msh", "$NOD\n", "a.msh: Gmsh version 1 (expected 2, 4.0 or 4.1)"},
        {"a.mesh", "4\n" FOUR_NODES "0\n", "a.mesh: it has no tetrahedra, only 0 elements of other kinds"},
        {"a.mesh", "0\n0\n", "a.mesh: it has no nodes"},
        {"a.mesh", "5\n" FOUR_NODES "1\n1 1 2 3 4\n", "a.mesh:6: node 5 of 5 needs a line with three coordinates"},
        {"a.mesh", "4\n" FOUR_NODES "1\n1 1 2 3\n",
         "a.mesh:7: element 1 of 1 has 3 nodes (expected a line with a domain and 4 nodes)"},
        {"a.mesh", "4\n" FOUR_NODES "2\n1 1 2 3 4\n", "a.mesh:8: the file ends where element 2 of 2 is expected"},
        {"a.mesh", "4\n0 0 0\n1 0 0\n0 nan 0\n0 0 1\n1\n1 1 2 3 4\n", "a.mesh:4: \"nan\" (expected node 3 of 4)"},
        {"a.mesh", "4\n0 0 0\n1 0 0\n0 2e9 0\n0 0 1\n1\n1 1 2 3 4\n", "a.mesh:4: a coordinate of node 3 is beyond 1e9"},
        {"a.mesh", "4\n" FOUR_NODES "1\n1 1 2 3 5\n", "a.mesh: tetrahedron 1 has node 5, which does not exist"},
        {"a.mesh", "4\n" FOUR_NODES "1\n1 0 2 3 4\n", "a.mesh: tetrahedron 1 has node 0, which does not exist"},
        {"a.mesh", "4\n" FOUR_NODES "1\n1 1 2 -3 4\n", "a.mesh:7: tetrahedron 1 has node -3, which does not exist"},
        {"a.mesh", "4\n" FOUR_NODES "1\n1 1 2 3 4\nmore\n", "a.mesh:8: \"more\" (expected the number of triangles)"},
        {"a.mesh", "4\n" FOUR_NODES "1\n1 1 2 2 4\n",
         "a.mesh: tetrahedron 1 (nodes 1, 2, 2, 4) has no volume, and no other has any"},
        {"a.mesh", "5\n" FOUR_NODES "1 1 0\n2\n1 1 2 4 4\n1 1 2 3 5\n",
         "a.mesh: tetrahedron 1 (nodes 1, 2, 4, 4) has no volume, and no other has any"},
        {"a.mesh", "6\n" FOUR_NODES "1 1 1\n-1 -1 -1\n3\n1 1 2 3 4\n1 3 2 4 5\n1 1 3 2 6\n",
         "a.mesh: tetrahedron 2 (nodes 3, 2, 4, 5) is inverted: it is turned against most others"},
        {"a.mesh", "MeshVersionFormatted 2\nDimension 2\n", "a.mesh:2: dimension 2 (expected 3)"},
        {"a.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n2\n0 0 0 0\nEnd\n",
         "a.mesh:6: \"End\" (expected vertex 2 of 2)"},
        {"a.mesh", "MeshVersionFormatted 2\nTetrahedra\n-1\n", "a.mesh:3: -1 (expected the number of tetrahedra)"},
        {"a.msh", "$MeshFormat\n3 0 8\n",
         "a.msh:2: Gmsh version 3, kind 0, size 8 (expected 2, 4.0 or 4.1; 0 or 1; 8)"},
        {"a.msh", GMSH "$Nodes\n2\n1 0 0 0\n$EndNodes\n", "a.msh:7: \"$EndNodes\" (expected node 2 of 2)"},
        {"a.msh", GMSH "$Nodes\n1\n1 0 0 0\n2 1 0 0\n$EndNodes\n", "a.msh:7: \"2\" (expected $EndNodes)"},
        {"a.msh", GMSH_NODES, "a.msh: it has no $Elements section"},
        {"a.msh", GMSH "$Comments\nx", "a.msh:4: section $Comments has no end"},
        {"a.msh", GMSH_NODES "$Elements\n1\n7 4 0 10 20 30 41\n$EndElements\n",
         "a.msh: tetrahedron 7 has node 41, which does not exist"},
        {"a.msh", GMSH_NODES "$Elements\n2\n7 4 0 10 20 30 40\n$EndElements\n",
         "a.msh:14: \"$EndElements\" (expected element 2 of 2)"},
        {"a.msh", GMSH "$Nodes\n2\n5 0 0 0\n5 1 0 0\n$EndNodes\n$Elements\n1\n1 4 0 5 5 5 5\n$EndElements\n",
         "a.msh: node 5 is there twice"},
        {"a.msh",
         "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 9 1 9\n3 1 0 4\n1\n2\n3\n4\n" FOUR_NODES "$EndNodes\n",
         "a.msh:14: 9 nodes are announced, but 4 are there"},
        {"a.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 3 1 9\n3 1 0 4\n",
         "a.msh:6: a block of 4 nodes, but 3 are left"},
        {"a.node", TETGEN_NODES, "a.node: a .node file has no tetrahedra (expected its .ele file beside it)"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) refuses(cases[n][0], cases[n][1], NULL, cases[n][2]);
    refuses("a.node", "1 2 0 0\n", "1 4 0\n", "a.node:1: dimension 2 (expected 3)");
    refuses("a.node", TETGEN_NODES "4 1 1 1\n", "1 4 0\n",
            "a.node:6: there is more than the first line announces (expected the end of the file)");
    refuses("a.node", TETGEN_NODES, "1 5 0\n", "a.node:1: 5 nodes of a tetrahedron (expected 4 or 10)");
    refuses("a.node", TETGEN_NODES, "1 4 0\n0 0 1 2 4\n", "a.node: tetrahedron 0 has node 4, which does not exist");
    refuses("a.node", TETGEN_NODES, "2 4 0\n0 0 1 2 3\n",
            "a.node:3: the file ends where tetrahedron 2 of 2 is expected");
}

/* Slivers go, and nodes that were in nothing else; the others stay in their order, also where all of them are to be turned. */
static void slivers_are_left_out(void **context)
{
    (void)context;
    for (int turned = 0; turned < 2; turned++) {
        const char *text =
            turned ? "7\n" FOUR_NODES "1 1 0\n1 1 1\n0 0 1e-9\n5\n1 1 2 3 5\n1 1 3 2 4\n1 1 2 3 7\n1 3 2 4 6\n"
                     "1 1 1 1 1\n"
                   : "7\n" FOUR_NODES "1 1 0\n1 1 1\n0 0 1e-9\n5\n1 1 2 3 5\n1 1 2 3 4\n1 1 2 3 7\n1 2 3 4 6\n"
                     "1 1 1 1 1\n";
        lm_tets_bytes file = {text, strlen(text)};
        lm_tets_data data;
        lm_mesh_error error;
        if (!lm_tets_parse("a.mesh", file, NULL, NULL, &data, &error)) fail_msg("%s", error.text);
        assert_int_equal(data.flat, 3);
        assert_int_equal(data.first_flat_tag, 1);
        assert_int_equal(data.inverted, 0);
        assert_int_equal(data.tet_count, 2);
        assert_int_equal(data.vertex_count, 5); /* nodes 5 and 7 were in slivers only */
        assert_int_equal(data.dropped, 2);
        assert_int_equal(data.turned, turned);
        assert_int_equal(data.triangle_count, 6);
        const float expected = 1.0f / 6.0f + 2.0f / 6.0f; /* the corner, and what is between it and (1, 1, 1) */
        assert_float_equal(data.volume, expected, 1e-6);
        lm_tets_free(&data);
    }
}

/* What the tool prints is counted instead of refused. */
static void faults_can_be_counted(void **context)
{
    (void)context;
    const char *text = "7\n" FOUR_NODES "1 1 0\n1 1 1\n-1 -1 -1\n4\n1 1 2 3 4\n1 1 2 3 5\n1 3 2 4 6\n1 1 3 2 7\n";
    lm_tets_bytes file = {text, strlen(text)};
    lm_tets_options options = {.faulty = true};
    lm_tets_data data;
    lm_mesh_error error;
    assert_true(lm_tets_parse("a.mesh", file, NULL, &options, &data, &error));
    assert_int_equal(data.flat, 1);
    assert_int_equal(data.first_flat_tag, 2);
    assert_int_equal(data.inverted, 1);
    assert_int_equal(data.first_inverted_tag, 3);
    lm_tets_free(&data);
}

/* Counts that no memory could hold: read as far as the file goes, with what it takes. */
static void lying_counts(void **context)
{
    (void)context;
    refuses("a.mesh", "999999999999999999\n0 0 0\n", NULL,
            "a.mesh:3: the file ends where node 2 of 999999999999999999 is expected");
    plain_tets t = make_block(3);
    static const char *const counts[] = {"\xff\xff\xff\x7f", "\xff\xff\xff\xff", "\x00\x00\x00\x01"};
    for (size_t s = 0; s < STYLE_COUNT; s++) {
        if (!styles[s].binary) continue;
        for (size_t c = 0; c < 3; c++) {
            made_file made = make_file(&t, &styles[s]);
            /* Somewhere in the file stands the number of tetrahedra. */
            for (size_t at = 0; at + 4 <= made.file.length; at++) {
                char kept[4];
                memcpy(kept, made.file.bytes + at, 4);
                uint32_t low = (uint8_t)kept[styles[s].big_endian ? 3 : 0];
                if (low != t.tet_count) continue;
                memcpy(made.file.bytes + at, counts[c], 4);
                lm_tets_data data;
                lm_mesh_error error = {""};
                if (parse(&made, &data, &error))
                    lm_tets_free(&data);
                else
                    assert_true(strncmp(error.text, "block.", 6) == 0 && !strchr(error.text, '\n'));
                memcpy(made.file.bytes + at, kept, 4);
            }
            free_file(&made);
        }
    }
    free_block(&t);
}

/* Every prefix of every kind of file: read only where nothing but the end of a text is missing. */
static void truncated_files(void **context)
{
    (void)context;
    plain_tets t = make_block(4);
    for (size_t s = 0; s < STYLE_COUNT; s++) {
        made_file made = make_file(&t, &styles[s]);
        text_buffer *cut = styles[s].format == TETGEN ? &made.tets : &made.file;
        size_t whole = cut->length, step = whole > 4000 ? 7 : 1;
        for (size_t length = 0; length < whole; length += step) {
            char *copy = malloc(length + 1); /* so that a sanitizer sees a read beyond the end */
            memcpy(copy, cut->bytes, length);
            text_buffer shorter = {.bytes = copy, .length = length};
            made_file other = made;
            *(styles[s].format == TETGEN ? &other.tets : &other.file) = shorter;
            lm_tets_data data;
            lm_mesh_error error = {""};
            if (parse(&other, &data, &error)) {
                assert_int_equal(data.tet_count, t.tet_count);
                assert_true(whole - length < (styles[s].binary ? 2 : 40)); /* a last line end, or what nobody needs */
                lm_tets_free(&data);
            } else
                assert_true(strncmp(error.text, "block.", 6) == 0 && !strchr(error.text, '\n'));
            free(copy);
        }
        free_file(&made);
    }
    free_block(&t);
}

/* Random bytes in place of others. */
static void damaged_files(void **context)
{
    (void)context;
    plain_tets t = make_block(5);
    random_state random = {6};
    for (int trial = 0; trial < 3000; trial++) {
        made_file made = make_file(&t, &styles[trial % (int)STYLE_COUNT]);
        for (uint32_t k = 0; k <= random_below(&random, 4); k++)
            made.file.bytes[random_below(&random, (uint32_t)made.file.length)] = (char)random_bits(&random);
        lm_tets_data data;
        lm_mesh_error error = {""};
        if (parse(&made, &data, &error)) {
            for (size_t n = 0; n < 4 * (size_t)data.tet_count; n++) assert_true(data.tets[n] < data.vertex_count);
            lm_tets_free(&data);
        } else
            assert_true(error.text[0] != '\0' && !strchr(error.text, '\n'));
        free_file(&made);
    }
    free_block(&t);
}

static void missing_files(void **context)
{
    (void)context;
    lm_tets_data data;
    lm_mesh_error error;
    assert_false(lm_tets_read("/nowhere/a.msh", NULL, &data, &error));
    assert_string_equal(error.text, "/nowhere/a.msh: No such file or directory");
    assert_false(lm_tets_read("/nowhere/a.ele", NULL, &data, &error));
    assert_string_equal(error.text, "/nowhere/a.node: No such file or directory");
    assert_true(lm_tets_is_name("a.MSH") && lm_tets_is_name("b.node") && !lm_tets_is_name("a.obj") &&
                !lm_tets_is_name("a.msh/b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_reads_the_same),
        cmocka_unit_test(the_surface_encloses_the_volume),
        cmocka_unit_test(files_of_other_programs),
        cmocka_unit_test(unused_nodes_are_left_out),
        cmocka_unit_test(repeated_tetrahedra_are_left_out),
        cmocka_unit_test(quadratic_ones_have_corners),
        cmocka_unit_test(z_up_is_turned),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(slivers_are_left_out),
        cmocka_unit_test(faults_can_be_counted),
        cmocka_unit_test(lying_counts),
        cmocka_unit_test(truncated_files),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(missing_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
