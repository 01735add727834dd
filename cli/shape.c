/* limber shape: procedural models, as OBJ files and as pictures. */
#include "limber/mesh.h"
#include "limber/shapes.h"

#include "cli/cli.h"
#include "cli/model.h"
#include "cli/values.h"
#include "support/nearest.h"

#include <stdio.h>
#include <string.h>

#define OBJ_DETAIL 64
#define PICTURE_DETAIL 128
#define PICTURE_SIZE 720 /* pixels each way */
#define TILE_SIZE 384

/* The options as they were typed. */
typedef struct shape_options {
    const char *name, *out, *sheet, *size, *picture;
    uint32_t detail; /* 0: not given */
    bool all;
} shape_options;

static int fail_unknown_shape(const char *name)
{
    char known[512] = "";
    nearest_name near = lmi_nearest_to(name);
    for (uint32_t i = 0; lm_shape_name(i) != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", lm_shape_name(i));
        lmi_nearest_offer(&near, lm_shape_name(i));
    }
    if (near.best != NULL) {
        return cli_fail(CLI_FAILED, "no shape \"%s\" (expected %s; did you mean \"%s\"?)", name, known, near.best);
    }
    return cli_fail(CLI_FAILED, "no shape \"%s\" (expected %s)", name, known);
}

static int write_shape(const lm_shape_def *def, const char *path)
{
    lm_shape_mesh mesh;
    lm_result result = lm_shape_make_mesh(def, &mesh);
    if (result != LM_OK) {
        return cli_fail(CLI_FAILED, "shape %s: %s", def->name, lm_result_text(result));
    }
    lm_mesh_object object = {.name = def->name,
                             .positions = mesh.vertices,
                             .colours = (const uint8_t *)mesh.colours,
                             .vertex_count = mesh.vertex_count,
                             .triangles = mesh.triangles,
                             .triangle_count = mesh.triangle_count};
    lm_mesh_error error;
    bool good = lm_mesh_write_obj(path, &object, 1, &error);
    if (good) {
        printf("%s: %s, %u vertices, %u triangles\n", path, lm_shape_description(def->name),
               (unsigned)mesh.vertex_count, (unsigned)mesh.triangle_count);
    }
    lm_shape_mesh_free(&mesh);
    return good ? CLI_OK : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The command
 */

static int check(const shape_options *o)
{
    if (!o->all && o->name[0] == '\0') {
        return cli_fail(CLI_USAGE, "shape: NAME or --all is missing (see limber shape --help)");
    }
    if (o->all && (o->name[0] != '\0' || o->size != NULL || o->out != NULL)) {
        return cli_fail(CLI_USAGE, "shape: --all and %s exclude each other",
                        o->name[0] != '\0' ? "NAME"
                        : o->size != NULL  ? "--size"
                                           : "--out");
    }
    if (o->all != (o->sheet != NULL)) {
        return cli_fail(CLI_USAGE, "shape: --all and --sheet FILE.png need each other");
    }
    const char *out = o->all ? o->sheet : o->out;
    if (out == NULL) {
        return cli_fail(CLI_USAGE, "shape: --out FILE.obj or --out FILE.png is missing");
    }
    bool picture = value_ends_with(out, ".png");
    if (o->all && !picture) {
        return cli_fail(CLI_USAGE, "shape: --sheet %s: expected a name that ends in .png", out);
    }
    if (o->picture != NULL && !picture) {
        return cli_fail(CLI_USAGE, "shape: --picture is for pictures (expected --out FILE.png)");
    }
    return -1;
}

static int run_checked(const shape_options *o)
{
    const char *out = o->all ? o->sheet : o->out;
    bool picture = value_ends_with(out, ".png");
    lm_shape_def def = lm_shape_def_default();
    def.name = o->name;
    def.detail = o->detail != 0 ? o->detail : picture ? PICTURE_DETAIL : OBJ_DETAIL;
    double size[3];
    const char *end;
    if (o->size != NULL && (!value_read_numbers(o->size, size, 3, &end) || *end != '\0' || !(size[0] > 0.0) ||
                            !(size[1] > 0.0) || !(size[2] > 0.0))) {
        return cli_fail(CLI_USAGE, "shape: --size %s: expected three numbers above 0, as 1,0.5,2", o->size);
    }
    uint32_t width = o->all ? TILE_SIZE : PICTURE_SIZE, height = width;
    if (o->picture != NULL && !value_read_pair(o->picture, 16, 4096, &width, &height)) {
        return cli_fail(CLI_USAGE, "shape: --picture %s: expected width and height from 16 to 4096, as 640x640",
                        o->picture);
    }
    if (o->all) {
        return model_write_sheet(&def, width, height, out);
    }
    if (lm_shape_description(def.name) == NULL) {
        return fail_unknown_shape(def.name);
    }
    def.size = lm_shape_natural_size(def.name);
    if (o->size != NULL) {
        def.size = (lm_vec3){(float)size[0], (float)size[1], (float)size[2]};
    }
    return picture ? model_write_picture(&def, width, height, out) : write_shape(&def, out);
}

static int run(const cli_command *command, int argc, char **argv)
{
    shape_options o = {.name = ""};
    const cli_option options[] = {
        {"--out", "FILE", CLI_TEXT, &o.out, 0, 0, "FILE.obj: the model; FILE.png: a picture of it"},
        {"--size", "X,Y,Z", CLI_TEXT, &o.size, 0, 0, "extents in metres; default: the model's natural size"},
        {"--detail", "N", CLI_COUNT, &o.detail, 1, 4096, "edges along its longest extent; default 64, in pictures 128"},
        {"--picture", "WxH", CLI_TEXT, &o.picture, 0, 0,
         "size of the picture in pixels; default 720x720; with --all of each model, default 384x384"},
        {"--all", NULL, CLI_FLAG, &o.all, 0, 0, "every model, in place of NAME"},
        {"--sheet", "FILE.png", CLI_TEXT, &o.sheet, 0, 0, "with --all: one picture of them all, with their names"},
    };
    int code = cli_parse(command, argc, argv, options, sizeof options / sizeof options[0], &o.name, 1);
    code = code >= 0 ? code : check(&o);
    return code >= 0 ? code : run_checked(&o);
}

const cli_command cli_shape = {"shape", "NAME",
                               "writes a procedural model (box, sphere, duck, head, ...) as OBJ or picture", run};
