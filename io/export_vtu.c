/*
 * VTU and PVD, for ParaView and VTK: particles with what is known of them, and surfaces, each as a series of files, and one PVD file
 * that says which belong to which time.
 *
 *   name.pvd, name.particles.0000.vtu, name.surface.0000.vtu, ...
 *
 * A VTU file is XML in front of the arrays as they are in memory ("appended raw": each with its length in bytes, 64 bits, first).
 */
#include "io/export_writer.h"
#include "support/text.h"

#include <stdlib.h>
#include <string.h>

enum { VERTEX_CELL = 1, TRIANGLE_CELL = 5, TET_CELL = 10 };

typedef struct vtu_state {
    partial_file pvd;
    partial_series particles, surface;
} vtu_state;

/* ------------------------------------------------------------------------------------------------------------------
 * One file. Its XML tells where each array begins, so all of them are announced before the first is written.
 */

typedef struct vtu_file {
    FILE *file;
    uint64_t offset; /* of the next array */
} vtu_file;

static void announce(vtu_file *v, const char *type, const char *name, int components, uint64_t values, int size)
{
    fprintf(v->file,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
            type, name, components, (unsigned long long)v->offset);
    v->offset += 8u + values * (uint64_t)components * (uint64_t)size;
}

static void put_u64(FILE *file, uint64_t value)
{
    lmi_export_put_u32(file, (uint32_t)value);
    lmi_export_put_u32(file, (uint32_t)(value >> 32));
}

static void put_words(FILE *file, const void *words, uint64_t count)
{
    lmi_export_put_words(file, words, (size_t)count);
}

static void begin_file(vtu_file *v, uint64_t points, uint64_t cells)
{
    fprintf(v->file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"%llu\" NumberOfCells=\"%llu\">\n",
            (unsigned long long)points, (unsigned long long)cells);
}

/* Points and cells come after the data of points, in the XML and in the bytes. */
static void announce_grid(vtu_file *v, uint64_t points, uint64_t cells, uint64_t corners)
{
    fputs("</PointData>\n<Points>\n", v->file);
    announce(v, "Float32", "Points", 3, points, 4);
    fputs("</Points>\n<Cells>\n", v->file);
    announce(v, "Int32", "connectivity", 1, corners, 4);
    announce(v, "Int32", "offsets", 1, cells, 4);
    announce(v, "UInt8", "types", 1, cells, 1);
    fputs("</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_", v->file);
}

static void end_file(vtu_file *v) { fputs("\n</AppendedData>\n</VTKFile>\n", v->file); }

/* Offsets and types of cells of two kinds in turn, for each body: `counts` of `corners` and `types` each. */
static void put_cell_ends(FILE *file, uint64_t cells, const uint32_t *counts, const uint8_t *types, uint32_t runs)
{
    put_u64(file, 4 * cells);
    uint32_t end = 0;
    for (uint32_t r = 0; r < runs; r++) {
        for (uint32_t i = 0; i < counts[r]; i++) {
            end += types[r] == VERTEX_CELL ? 1 : types[r] == TRIANGLE_CELL ? 3 : 4;
            lmi_export_put_u32(file, end);
        }
    }
    put_u64(file, cells);
    for (uint32_t r = 0; r < runs; r++) {
        for (uint32_t i = 0; i < counts[r]; i++) {
            fputc(types[r], file);
        }
    }
}

/* Four bytes for each point: the number of its body. */
static void put_bodies(FILE *file, const lm_export_frame *frame, uint64_t points, bool surface)
{
    put_u64(file, 4 * points);
    for (uint32_t b = 0; b < frame->body_count; b++) {
        uint32_t count = surface ? frame->bodies[b].vertex_count : frame->bodies[b].particles.count;
        for (uint32_t i = 0; i < count; i++) {
            lmi_export_put_u32(file, b);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Particles: cells are the particles themselves or, of a body of tetrahedra, these
 */

static uint32_t cells_of(const lm_export_particles *p) { return p->tet_count > 0 ? p->tet_count : p->count; }

static void put_particle_data(FILE *file, const lm_export_frame *frame, uint64_t points)
{
    static const struct {
        size_t at;
        uint32_t words;
    } columns[] = {{offsetof(lm_export_particles, velocities), 3}, {offsetof(lm_export_particles, masses), 1},
                   {offsetof(lm_export_particles, strains), 6},    {offsetof(lm_export_particles, stretches), 1},
                   {offsetof(lm_export_particles, stresses), 6},   {offsetof(lm_export_particles, von_mises), 1},
                   {offsetof(lm_export_particles, regions), 1},    {offsetof(lm_export_particles, pieces), 1}};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        put_u64(file, 4u * columns[c].words * points);
        for (uint32_t b = 0; b < frame->body_count; b++) {
            const lm_export_particles *p = &frame->bodies[b].particles;
            const void *array;
            memcpy(&array, (const char *)p + columns[c].at, sizeof array);
            put_words(file, array, (uint64_t)columns[c].words * p->count);
        }
    }
}

static void put_particle_cells(FILE *file, const lm_export_frame *frame, uint64_t corners)
{
    put_u64(file, 4 * corners);
    uint32_t first = 0;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        const lm_export_particles *p = &frame->bodies[b].particles;
        for (size_t i = 0; i < 4u * (size_t)p->tet_count; i++) {
            lmi_export_put_u32(file, first + p->tets[i]);
        }
        for (uint32_t i = 0; p->tet_count == 0 && i < p->count; i++) {
            lmi_export_put_u32(file, first + i);
        }
        first += p->count;
    }
}

static void announce_particles(vtu_file *v, uint64_t points)
{
    fputs("<PointData Scalars=\"stretch\" Vectors=\"velocity\" Tensors=\"strain\">\n", v->file);
    announce(v, "Float32", "velocity", 3, points, 4);
    announce(v, "Float32", "mass", 1, points, 4);
    announce(v, "Float32", "strain", 6, points, 4);
    announce(v, "Float32", "stretch", 1, points, 4);
    announce(v, "Float32", "stress", 6, points, 4);
    announce(v, "Float32", "von_mises", 1, points, 4);
    announce(v, "Int32", "region", 1, points, 4);
    announce(v, "Int32", "piece", 1, points, 4);
    announce(v, "Int32", "body", 1, points, 4);
}

static bool write_particles(lm_exporter *out, FILE *file, const lm_export_frame *frame, uint32_t *counts,
                            uint8_t *types)
{
    uint64_t points = 0, cells = 0, corners = 0;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        const lm_export_particles *p = &frame->bodies[b].particles;
        points += p->count;
        cells += counts[b] = cells_of(p);
        types[b] = p->tet_count > 0 ? TET_CELL : VERTEX_CELL;
        corners += (uint64_t)counts[b] * (p->tet_count > 0 ? 4 : 1);
    }
    if (points > INT32_MAX || corners > INT32_MAX) {
        return lmi_export_fail(out, "there are more particles than the format can count");
    }
    vtu_file v = {.file = file};
    begin_file(&v, points, cells);
    announce_particles(&v, points);
    announce_grid(&v, points, cells, corners);
    put_particle_data(file, frame, points);
    put_bodies(file, frame, points, false);
    put_u64(file, 12 * points);
    for (uint32_t b = 0; b < frame->body_count; b++) {
        put_words(file, frame->bodies[b].particles.positions, 3u * (uint64_t)frame->bodies[b].particles.count);
    }
    put_particle_cells(file, frame, corners);
    put_cell_ends(file, cells, counts, types, frame->body_count);
    end_file(&v);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Surfaces: bodies that have one
 */

static void put_surface_data(FILE *file, const lm_export_frame *frame, uint64_t points)
{
    put_u64(file, 12 * points);
    for (uint32_t b = 0; b < frame->body_count; b++) {
        const lm_export_body *body = &frame->bodies[b];
        for (uint32_t i = 0; body->normals == NULL && i < 3u * body->vertex_count; i++) lmi_export_put_u32(file, 0);
        if (body->normals != NULL) put_words(file, body->normals, 3u * (uint64_t)body->vertex_count);
    }
    put_u64(file, 3 * points);
    for (uint32_t b = 0; b < frame->body_count; b++) {
        const lm_export_body *body = &frame->bodies[b];
        for (uint32_t i = 0; body->colours == NULL && i < 3u * body->vertex_count; i++) fputc(255, file);
        if (body->colours != NULL) fwrite(body->colours, 3, body->vertex_count, file);
    }
}

static bool write_surface(lm_exporter *out, FILE *file, const lm_export_frame *frame, uint32_t *counts, uint8_t *types)
{
    uint64_t points = lmi_export_count_vertices(frame), cells = 0;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        cells += counts[b] = frame->bodies[b].triangle_count;
        types[b] = TRIANGLE_CELL;
    }
    if (points > INT32_MAX || 3 * cells > INT32_MAX) {
        return lmi_export_fail(out, "there are more triangles than the format can count");
    }
    vtu_file v = {.file = file};
    begin_file(&v, points, cells);
    fputs("<PointData Normals=\"normal\">\n", file);
    announce(&v, "Float32", "normal", 3, points, 4);
    announce(&v, "UInt8", "colour", 3, points, 1);
    announce(&v, "Int32", "body", 1, points, 4);
    announce_grid(&v, points, cells, 3 * cells);
    put_surface_data(file, frame, points);
    put_bodies(file, frame, points, true);
    put_u64(file, 12 * points);
    for (uint32_t b = 0; b < frame->body_count; b++) {
        put_words(file, frame->bodies[b].positions, 3u * (uint64_t)frame->bodies[b].vertex_count);
    }
    put_u64(file, 12 * cells);
    uint32_t first = 0;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        for (size_t i = 0; i < 3u * (size_t)frame->bodies[b].triangle_count; i++) {
            lmi_export_put_u32(file, first + frame->bodies[b].triangles[i]);
        }
        first += frame->bodies[b].vertex_count;
    }
    put_cell_ends(file, cells, counts, types, frame->body_count);
    end_file(&v);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * All of them
 */

static bool open_series(lm_exporter *out, partial_series *series, const char *ending)
{
    char *path = lmi_export_beside(out->path, ending);
    bool good = path != NULL ? lmi_partial_series_open(series, path, out->options.frame_count, out->error.text)
                             : lmi_export_fail_memory(out);
    free(path);
    return good;
}

static bool begin(lm_exporter *out, const lm_export_frame *first)
{
    (void)first;
    vtu_state *s = out->state;
    char *path = lmi_export_beside(out->path, ".pvd");
    bool good = path != NULL ? lmi_partial_open(&s->pvd, path, out->error.text) : lmi_export_fail_memory(out);
    free(path);
    good = good && open_series(out, &s->particles, ".particles.vtu") && open_series(out, &s->surface, ".surface.vtu");
    if (good) {
        fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
              "<Collection>\n",
              s->pvd.stream);
    }
    return good;
}

static bool put_entry(lm_exporter *out, const lm_export_frame *frame, partial_series *series, int part,
                      const char *label)
{
    vtu_state *s = out->state;
    text_buffer time = {.bytes = NULL};
    lmi_text_add_json_number(&time, frame->time);
    bool good = !time.failed;
    if (good) {
        fprintf(s->pvd.stream, "<DataSet timestep=\"%s\" part=\"%d\" name=\"%s\" file=\"", time.bytes, part, label);
        for (const char *c = lmi_partial_series_name(series, out->frames); *c != '\0'; c++) {
            const char *word = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '"' ? "&quot;" : NULL;
            word != NULL ? fputs(word, s->pvd.stream) : fputc(*c, s->pvd.stream);
        }
        fputs("\"/>\n", s->pvd.stream);
    }
    lmi_text_free(&time);
    return good ? true : lmi_export_fail_memory(out);
}

static bool add(lm_exporter *out, const lm_export_frame *frame)
{
    vtu_state *s = out->state;
    uint32_t *counts = calloc(frame->body_count + 1u, sizeof *counts);
    uint8_t *types = calloc(frame->body_count + 1u, sizeof *types);
    bool good = counts != NULL && types != NULL ? true : lmi_export_fail_memory(out);
    good = good && lmi_partial_series_next(&s->particles, out->error.text) &&
           write_particles(out, s->particles.stream, frame, counts, types) &&
           lmi_partial_series_next(&s->surface, out->error.text) &&
           write_surface(out, s->surface.stream, frame, counts, types) &&
           put_entry(out, frame, &s->particles, 0, "particles") && put_entry(out, frame, &s->surface, 1, "surface");
    free(counts);
    free(types);
    return good;
}

static bool finish(lm_exporter *out)
{
    vtu_state *s = out->state;
    char *error = out->error.text;
    fputs("</Collection>\n</VTKFile>\n", s->pvd.stream);
    return lmi_partial_close(&s->pvd, error) && lmi_partial_series_close(&s->particles, error) &&
           lmi_partial_series_close(&s->surface, error) && lmi_partial_series_keep(&s->particles, error) &&
           lmi_partial_series_keep(&s->surface, error) && lmi_partial_keep(&s->pvd, error);
}

static void close_files(lm_exporter *out)
{
    vtu_state *s = out->state;
    lmi_partial_drop(&s->pvd);
    lmi_partial_series_drop(&s->particles);
    lmi_partial_series_drop(&s->surface);
}

const export_writer lmi_export_vtu = {"vtu",
                                      "for ParaView: name.pvd, and particles and surfaces of each frame as VTU files",
                                      LM_EXPORT_SURFACE | LM_EXPORT_PARTICLES,
                                      false,
                                      sizeof(vtu_state),
                                      begin,
                                      add,
                                      finish,
                                      close_files};
