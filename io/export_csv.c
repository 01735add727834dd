/*
 * Measures over time as a table: a line for each body in each frame. Numbers are written without the host's locale, with as many
 * digits as their floats have; fields of text are quoted where RFC 4180 asks for it.
 */
#include "io/export_writer.h"
#include "support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv_state {
    partial_file file;
} csv_state;

static bool begin(lm_exporter *out, const lm_export_frame *first)
{
    (void)first;
    csv_state *s = out->state;
    if (!lmi_partial_open(&s->file, out->path, out->error.text)) {
        return false;
    }
    fputs("time,body,centre_x,centre_y,centre_z,velocity_x,velocity_y,velocity_z,spin_x,spin_y,spin_z,"
          "angular_momentum_x,angular_momentum_y,angular_momentum_z,mass,kinetic_energy,max_speed,"
          "lower_x,lower_y,lower_z,upper_x,upper_y,upper_z,volume,area,particles,regions,pieces,broken_links,contacts,"
          "asleep\n",
          s->file.stream);
    return true;
}

static void put_name(FILE *file, const char *name)
{
    if (strpbrk(name, ",\"\r\n") == NULL) {
        fputs(name, file);
        return;
    }
    fputc('"', file);
    for (; *name != '\0'; name++) {
        if (*name == '"') fputc('"', file);
        fputc(*name, file);
    }
    fputc('"', file);
}

/* Volume inside the surface (m3) and its area (m2). */
static void measure_surface(const lm_export_body *body, double *volume, double *area)
{
    double six_volumes = 0.0, two_areas = 0.0;
    lm_vec3 o = body->vertex_count > 0 ? body->positions[0] : (lm_vec3){0.0f, 0.0f, 0.0f};
    for (uint32_t t = 0; t < body->triangle_count; t++) {
        double e[3][3];
        for (int c = 0; c < 3; c++) {
            lm_vec3 p = body->positions[body->triangles[3u * (size_t)t + (uint32_t)c]];
            e[c][0] = (double)p.x - (double)o.x;
            e[c][1] = (double)p.y - (double)o.y;
            e[c][2] = (double)p.z - (double)o.z;
        }
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++) {
            u[k] = e[1][k] - e[0][k];
            v[k] = e[2][k] - e[0][k];
        }
        for (int k = 0; k < 3; k++) {
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        }
        six_volumes += e[0][0] * n[0] + e[0][1] * n[1] + e[0][2] * n[2];
        two_areas += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    *volume = six_volumes / 6.0;
    *area = two_areas / 2.0;
}

static void put_line(text_buffer *line, const lm_export_body *body)
{
    const lm_body_info *i = &body->info;
    double volume, area;
    measure_surface(body, &volume, &area);
    const double numbers[] = {i->centre.x,
                              i->centre.y,
                              i->centre.z,
                              (double)i->velocity.x,
                              (double)i->velocity.y,
                              (double)i->velocity.z,
                              (double)i->spin.x,
                              (double)i->spin.y,
                              (double)i->spin.z,
                              (double)i->angular_momentum.x,
                              (double)i->angular_momentum.y,
                              (double)i->angular_momentum.z,
                              (double)i->mass,
                              (double)i->kinetic_energy,
                              (double)i->max_speed,
                              i->lower.x,
                              i->lower.y,
                              i->lower.z,
                              i->upper.x,
                              i->upper.y,
                              i->upper.z,
                              volume,
                              area};
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        lmi_text_addf(line, ",");
        lmi_text_add_json_number(line, numbers[n]);
    }
    lmi_text_addf(line, ",%u,%u,%u,%u,%u,%d\n", (unsigned)i->particles, (unsigned)i->regions, (unsigned)i->pieces,
                  (unsigned)i->broken_links, (unsigned)i->contacts, i->asleep ? 1 : 0);
}

static bool add(lm_exporter *out, const lm_export_frame *frame)
{
    csv_state *s = out->state;
    for (uint32_t b = 0; b < frame->body_count; b++) {
        text_buffer time = {.bytes = NULL}, line = {.bytes = NULL};
        lmi_text_add_json_number(&time, frame->time);
        lmi_text_addf(&time, ",");
        put_line(&line, &frame->bodies[b]);
        bool good = !time.failed && !line.failed;
        if (good) {
            fwrite(time.bytes, 1, time.length, s->file.stream);
            put_name(s->file.stream, frame->bodies[b].name);
            fwrite(line.bytes, 1, line.length, s->file.stream);
        }
        lmi_text_free(&time);
        lmi_text_free(&line);
        if (!good) {
            return lmi_export_fail_memory(out);
        }
    }
    return ferror(s->file.stream) ? lmi_partial_close(&s->file, out->error.text) : true;
}

static bool finish(lm_exporter *out)
{
    csv_state *s = out->state;
    return lmi_partial_keep(&s->file, out->error.text);
}

static void close_file(lm_exporter *out)
{
    csv_state *s = out->state;
    lmi_partial_drop(&s->file);
}

const export_writer lmi_export_csv = {"csv",
                                      "measures of each body in each frame as a table",
                                      LM_EXPORT_SURFACE | LM_EXPORT_MEASURES,
                                      false,
                                      sizeof(csv_state),
                                      begin,
                                      add,
                                      finish,
                                      close_file};
