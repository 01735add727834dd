/*
 * A scene for a mesh file alone: the mesh, as a lattice or with the tetrahedra that it has, falls on a floor from a little
 * height.
 *
 * It is an ordinary scene, written here as text, so that --set changes it as any other. Errors in it name the mesh, and no
 * line: nobody sees this text.
 */
#include "scene/from_mesh.h"

#include "limber/tets.h"
#include "scene/internal.h"
#include "scene/model.h"
#include "support/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model whose longest side is beyond these is taken to be in other units than metres: at its own size it would be a speck
 * that gravity tears down at once, or a mountain that falls for minutes. */
#define LEAST_SIZE 0.2
#define MOST_SIZE 10.0
#define USUAL_SIZE 1.0

/* A mesh of more triangles touches the floor with its particles, and others not at all: points on so many triangles, and the
 * distance from them, take minutes to make. */
#define MOST_TOUCHED 200000u

#define DROP 0.25 /* of its longest side, from the floor to its underside */

static void add_field(text_buffer *t, const char *before, double number, const char *after)
{
    lmi_text_addf(t, "%s", before);
    lmi_text_add_json_number(t, number);
    lmi_text_addf(t, "%s", after);
}

/* Of the default material; another one, added in the viewer, touches it. The camera has room for it to fall over to any side. */
static void add_body(text_buffer *t, const char *file, double longest, bool touches)
{
    lmi_text_addf(t, "  \"bodies\": [\n    {\n      \"name\": \"mesh\",\n      \"mesh\": {\"file\": ");
    lmi_text_add_json_string(t, file);
    add_field(t, ", \"longest\": ", longest, ", \"origin\": \"bottom\"},\n");
    lmi_text_addf(t, "      %s,\n", lm_tets_is_name(file) ? "\"tets\": {}" : "\"lattice\": {}");
    lmi_text_addf(t, touches ? "      \"mask\": 1,\n" : "      \"contact_points\": \"particles\",\n");
    add_field(t, "      \"at\": [0, ", DROP * longest, ", 0]\n    }\n  ],\n");
}

static void add_camera(text_buffer *t, double longest)
{
    add_field(t, "  \"camera\": {\"at\": [", 1.15 * longest, ", ");
    add_field(t, "", longest, ", ");
    add_field(t, "", 2.3 * longest, "], \"look_at\": [0, ");
    add_field(t, "", 0.6 * longest, ", 0], \"field_of_view\": 36},\n");
}

/* The scene as text, to be freed; null when memory runs out. */
static char *write_scene(const char *path, double longest, bool touches)
{
    text_buffer t = {.bytes = NULL};
    lmi_text_addf(&t, "{\n  \"limber\": 1,\n  \"title\": \"A mesh falls on a floor\",\n  \"frames\": 240,\n");
    add_camera(&t, longest);
    add_body(&t, lmi_system_last_part(path), longest, touches);
    lmi_text_addf(&t, "  \"colliders\": [{\"shape\": \"plane\"}],\n  \"expect\": [\n");
    lmi_text_addf(&t, "    {\"measure\": \"finite\", \"when\": \"min\", \"equals\": 1},\n");
    add_field(&t, "    {\"measure\": \"surface_lowest\", \"when\": \"min\", \"greater_than\": ", -0.01 * longest,
              "},\n");
    add_field(&t, "    {\"measure\": \"height\", \"less_than\": ", longest, "}\n  ]\n}\n");
    return lmi_text_take(&t);
}

/* What was decided about the size, in one line. */
static void write_note(lm_scene *s, double found, double longest)
{
    if (found != longest) {
        snprintf(
            s->note, sizeof s->note,
            "%.200s: its longest side, %.4g, is scaled to %g m (for another size: --set bodies[0].mesh.longest=...)",
            s->name, found, longest);
    }
}

lm_scene *lmi_scene_open_mesh(const char *path, const char *const *sets, uint32_t set_count, lm_scene_error *error)
{
    lm_mesh_options options = {.surface = true};
    lm_mesh_data mesh;
    lm_mesh_error wrong;
    if (!lm_mesh_read(path, &options, &mesh, &wrong)) {
        snprintf(error->text, sizeof error->text, "%s", wrong.text);
        return NULL;
    }
    double found = lmi_mesh_longest_side(&mesh);
    double longest = found >= LEAST_SIZE && found <= MOST_SIZE ? found : USUAL_SIZE;
    char *text = write_scene(path, longest, mesh.triangle_count <= MOST_TOUCHED);
    lm_scene *s = NULL;
    if (text == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: out of memory", path);
    } else {
        s = lmi_scene_open_text_as(path, false, text, strlen(text), sets, set_count, error);
    }
    free(text);
    if (s == NULL) {
        lm_mesh_free(&mesh);
        return NULL;
    }
    s->mesh = mesh;
    write_note(s, found, longest);
    return s;
}
