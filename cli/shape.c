/* limber shape: a procedural model as an OBJ file. */
#include "shapes/shapes.h"

#include "cli/cli.h"
#include "io/obj.h"
#include "scene/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_size(const char *text, lm_vec3 *size)
{
    float numbers[3];
    for (int i = 0; i < 3; i++) {
        char *end;
        numbers[i] = strtof(text, &end);
        bool last = i == 2;
        if (end == text || *end != (last ? '\0' : ',') || !isfinite(numbers[i]) || !(numbers[i] > 0.0f)) {
            return false;
        }
        text = end + 1;
    }
    *size = (lm_vec3){numbers[0], numbers[1], numbers[2]};
    return true;
}

static int fail_unknown_shape(const char *name)
{
    char known[256] = "";
    nearest_name near = nearest_to(name);
    for (uint32_t i = 0; shape_name(i) != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", shape_name(i));
        nearest_offer(&near, shape_name(i));
    }
    if (near.best != NULL) {
        return cli_fail(CLI_FAILED, "no shape \"%s\" (expected %s; did you mean \"%s\"?)", name, known, near.best);
    }
    return cli_fail(CLI_FAILED, "no shape \"%s\" (expected %s)", name, known);
}

static int write_shape(const shape_def *def, const char *path)
{
    shape_mesh mesh;
    lm_result result = shape_make_mesh(def, &mesh);
    if (result != LM_OK) {
        return cli_fail(CLI_FAILED, "shape %s: %s", def->name, lm_result_text(result));
    }
    obj_object object = {.name = def->name,
                         .positions = mesh.vertices,
                         .colours = (const uint8_t *)mesh.colours,
                         .vertex_count = mesh.vertex_count,
                         .triangles = mesh.triangles,
                         .triangle_count = mesh.triangle_count};
    obj_error error;
    bool good = obj_write(path, &object, 1, &error);
    if (good) {
        printf("%s: %s, %u vertices, %u triangles\n", path, shape_description(def->name), (unsigned)mesh.vertex_count,
               (unsigned)mesh.triangle_count);
    }
    shape_mesh_free(&mesh);
    return good ? CLI_OK : cli_fail(CLI_FAILED, "%s", error.text);
}

static int run(const cli_command *command, int argc, char **argv)
{
    shape_def def = shape_def_default();
    const char *out = NULL, *size = NULL;
    const cli_option options[] = {
        {"--out", "FILE.obj", CLI_TEXT, &out, 0, 0, "where to write it"},
        {"--size", "X,Y,Z", CLI_TEXT, &size, 0, 0, "extents in metres; default: the model's natural size"},
        {"--detail", "N", CLI_COUNT, &def.detail, 1, 4096, "edges along its longest extent; default 4"},
    };
    int code = cli_parse(command, argc, argv, options, sizeof options / sizeof options[0], &def.name, 1);
    if (code >= 0) {
        return code;
    }
    if (out == NULL) {
        return cli_fail(CLI_USAGE, "shape: --out FILE.obj is missing");
    }
    if (size != NULL && !parse_size(size, &def.size)) {
        return cli_fail(CLI_USAGE, "shape: --size %s: expected three numbers above 0, as 1,0.5,2", size);
    }
    if (shape_description(def.name) == NULL) {
        return fail_unknown_shape(def.name);
    }
    if (size == NULL) {
        def.size = shape_natural_size(def.name);
    }
    return write_shape(&def, out);
}

const cli_command cli_shape = {"shape", "NAME", "writes a procedural model (box, sphere, duck, head, ...) as OBJ", run};
