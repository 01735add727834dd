/*
 * Kernels from the texts that are compiled in: those of gpu/kernels, and the arithmetic that they share with the host, which
 * comes from the same files that the host compiles.
 */
#include "base/base.h"
#include "cmake/embedded.h"
#include "contact/contact.h"
#include "contact/halt.h"
#include "contact/touching.h"
#include "gpu/gpu.h"
#include "lattice/lattice_motion.h"
#include "touch/cube.h"

#include <stdio.h>
#include <string.h>

/* The kernels load these two together. */
_Static_assert(LMI_LATTICE_SHARE % 2 == 0 && LMI_LATTICE_HOLD == LMI_LATTICE_SHARE + 1, "a pair of floats");

/* A text without its includes: what they would bring comes before it. */
static size_t copy_without_includes(const char *text, char *to)
{
    size_t length = 0;
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t line = end ? (size_t)(end - text) + 1 : strlen(text);
        if (strncmp(text, "#include", 8) != 0) {
            memcpy(to + length, text, line);
            length += line;
        }
        text += line;
    }
    to[length] = '\0';
    return length;
}

/* The compiler's words, one line of the log for each of the first few. */
static void tell_log(const lm_world *world, lmi_gpu *gpu, cl_program program)
{
    char words[2048] = "";
    gpu->cl.clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, sizeof words - 1, words, NULL);
    for (const char *line = words; *line;) {
        int length = (int)strcspn(line, "\n");
        if (length > 0) {
            lmi_fail(world, LM_ERROR_UNSUPPORTED, "kernels: %.*s", length < 240 ? length : 240, line);
        }
        line += length + (line[length] == '\n');
    }
}

/* Whether a table of the device has room for one more. */
static bool reserve_one(lmi_gpu *gpu, void **table, uint32_t *capacity, uint32_t count, size_t size)
{
    bool ok = lmi_reserve(gpu->memory, table, capacity, count + 1, size);
    if (!ok && gpu->status == CL_SUCCESS) {
        gpu->status = CL_OUT_OF_HOST_MEMORY;
    }
    return ok;
}

static bool reserve_program(lmi_gpu *gpu)
{
    void *programs = gpu->programs;
    bool ok = reserve_one(gpu, &programs, &gpu->program_capacity, gpu->program_count, sizeof *gpu->programs);
    gpu->programs = programs;
    return ok;
}

static bool reserve_kernel(lmi_gpu *gpu)
{
    void *kernels = gpu->kernels;
    bool ok = reserve_one(gpu, &kernels, &gpu->kernel_capacity, gpu->kernel_count, sizeof *gpu->kernels);
    gpu->kernels = kernels;
    return ok;
}

bool lmi_gpu_build(const lm_world *world, lmi_gpu *gpu, cl_program *to, const char *const *texts, const char *options)
{
    char common[1024];
    size_t size = 1;
    for (uint32_t n = 0; texts[n]; n++) {
        size += strlen(embedded_find(lmi_embedded_kernels, texts[n])) + 1;
    }
    lmi_memory *memory = (lmi_memory *)&world->memory; /* scratch: nothing of the world changes */
    char *source = lmi_allocate(memory, size, 1);
    if (!source || !reserve_program(gpu)) {
        lmi_release(memory, source, size, 1);
        gpu->status = CL_OUT_OF_HOST_MEMORY;
        return false;
    }
    size_t length = 0;
    for (uint32_t n = 0; texts[n]; n++) {
        length += copy_without_includes(embedded_find(lmi_embedded_kernels, texts[n]), source + length);
    }
    if (!options) {
        lmi_gpu_common_options(gpu, common, sizeof common);
        options = common;
    }
    cl_int status = CL_SUCCESS;
    const char *one = source;
    cl_program program = gpu->cl.clCreateProgramWithSource(gpu->context, 1, &one, &length, &status);
    if (status == CL_SUCCESS) {
        status = gpu->cl.clBuildProgram(program, 1, &gpu->device, options, NULL, NULL);
        if (status != CL_SUCCESS) {
            tell_log(world, gpu, program);
            gpu->cl.clReleaseProgram(program);
        }
    }
    lmi_release(memory, source, size, 1);
    if (status != CL_SUCCESS) {
        gpu->status = gpu->status == CL_SUCCESS ? status : gpu->status;
        return false;
    }
    gpu->programs[gpu->program_count++] = *to = program;
    return true;
}

bool lmi_gpu_find_kernels(lmi_gpu *gpu, cl_program program, const lmi_gpu_named *kernels, size_t count)
{
    cl_int status = CL_SUCCESS;
    for (size_t n = 0; n < count; n++) {
        if (*kernels[n].to) {
            continue;
        }
        if (!reserve_kernel(gpu)) {
            return false;
        }
        cl_kernel kernel = gpu->cl.clCreateKernel(program, kernels[n].name, &status);
        if (status != CL_SUCCESS) {
            gpu->status = gpu->status == CL_SUCCESS ? status : gpu->status;
            return false;
        }
        *kernels[n].to = kernel;
        lmi_gpu_kernel *known = &gpu->kernels[gpu->kernel_count++];
        *known = (lmi_gpu_kernel){.kept = kernels[n].to, .program = program};
        snprintf(known->name, sizeof known->name, "%s", kernels[n].name);
    }
    return true;
}

void lmi_gpu_drop_program(lmi_gpu *gpu, cl_program *program)
{
    uint32_t kernels = 0, programs = 0;
    for (uint32_t n = 0; n < gpu->kernel_count; n++) {
        const lmi_gpu_kernel known = gpu->kernels[n];
        if (known.program == *program) {
            gpu->cl.clReleaseKernel(*known.kept);
            *known.kept = NULL;
        } else {
            gpu->kernels[kernels++] = known;
        }
    }
    for (uint32_t n = 0; n < gpu->program_count; n++) {
        if (gpu->programs[n] == *program) {
            gpu->cl.clReleaseProgram(*program);
        } else {
            gpu->programs[programs++] = gpu->programs[n];
        }
    }
    gpu->kernel_count = kernels;
    gpu->program_count = programs;
    *program = NULL;
}

void lmi_gpu_free_programs(lmi_gpu *gpu)
{
    for (uint32_t n = 0; n < gpu->kernel_count; n++) {
        gpu->cl.clReleaseKernel(*gpu->kernels[n].kept);
    }
    for (uint32_t n = 0; n < gpu->program_count; n++) {
        gpu->cl.clReleaseProgram(gpu->programs[n]);
    }
    lmi_release(gpu->memory, gpu->kernels, gpu->kernel_capacity, sizeof *gpu->kernels);
    lmi_release(gpu->memory, gpu->programs, gpu->program_capacity, sizeof *gpu->programs);
}

/* Names that kernels share with the host, as options. */
static int common_options(const lmi_gpu *gpu, const char *rounding, char *to, size_t size)
{
    return snprintf(
        to, size,
        "%s %s -DLM_SHAPE_PLANE=%d -DLM_SHAPE_SPHERE=%d -DLM_SHAPE_CAPSULE=%d -DLM_SHAPE_BOX=%d "
        "-DLMI_BOUNCE_SPEED=%gf -DLMI_FRAME_TOLERANCE=%g -DLMI_COLLAPSED=%g -DLMI_UNPRESSED=%g -DLMI_CUBE_SIDE=%d "
        "-DLMI_FLIGHT=%g -DLMI_HASTE=%g",
        gpu->options, rounding, LM_SHAPE_PLANE, LM_SHAPE_SPHERE, LM_SHAPE_CAPSULE, LM_SHAPE_BOX, LMI_BOUNCE_SPEED,
        LMI_LATTICE_FRAME_TOLERANCE, LMI_LATTICE_COLLAPSED, LMI_UNPRESSED, LMI_CUBE_SIDE, LMI_FLIGHT, LMI_HASTE);
}

int lmi_gpu_common_options(const lmi_gpu *gpu, char *to, size_t size)
{
    return common_options(gpu, gpu->rounding, to, size);
}

bool lmi_gpu_build_bodies(const lm_world *world, lmi_gpu *gpu)
{
    static const char *const texts[] = {"prelude.cl", "records.h",   "vec.h",   "vec.c", "firm.h",
                                        "record.cl",  "conclude.cl", "body.cl", NULL};
    const lmi_gpu_named kernels[] = {{&gpu->prepare, "prepare"},
                                     {&gpu->conclude, "conclude"},
                                     {&gpu->settle, "settle"},
                                     {&gpu->measure, "measure"},
                                     {&gpu->reduce, "reduce"}};
    return lmi_gpu_build(world, gpu, &gpu->program, texts, NULL) && LMI_GPU_FIND(gpu->program, kernels);
}

#define LATTICE_CHANNELS(X)                                                                                            \
    X(LMI_LATTICE_INVERSE_MASS)                                                                                        \
    X(LMI_LATTICE_CENTRE)                                                                                              \
    X(LMI_LATTICE_SCALE)                                                                                               \
    X(LMI_LATTICE_SPREAD)                                                                                              \
    X(LMI_LATTICE_INVERSE_SQUARE)                                                                                      \
    X(LMI_LATTICE_REST)                                                                                                \
    X(LMI_LATTICE_RHO)                                                                                                 \
    X(LMI_LATTICE_SHARE)                                                                                               \
    X(LMI_LATTICE_HOLD)                                                                                                \
    X(LMI_LATTICE_WHITEN)                                                                                              \
    X(LMI_LATTICE_COLOUR)                                                                                              \
    X(LMI_LATTICE_INVERSE_EDGE)                                                                                        \
    X(LMI_LATTICE_INVERSE_REST)                                                                                        \
    X(LMI_LATTICE_ACTIVE)

/* The channels of a region's constants, as options. */
int lmi_gpu_lattice_options(char *to, size_t size)
{
#define OPTION(name) " -D" #name "=%d"
#define VALUE(name) , name
    return snprintf(to, size, LATTICE_CHANNELS(OPTION) LATTICE_CHANNELS(VALUE));
#undef OPTION
#undef VALUE
}

static bool build_variant(const lm_world *world, lmi_gpu *gpu, lmi_gpu_variant *v)
{
    static const char *const tiles[] = {"prelude.cl",
                                        "records.h",
                                        "vmat.h",
                                        "volume.h",
                                        "polar_lanes.h",
                                        "lattice_constants.h",
                                        "lattice_rotation.h",
                                        "nearest.cl",
                                        "rotation.cl",
                                        "contact.cl",
                                        "lists.cl",
                                        "lattice.cl",
                                        NULL};
    static const char *const small[] = {
        "prelude.cl",         "records.h",     "vec.h",       "vec.c",       "vmat.h",
        "volume.h",           "polar_lanes.h", "record.cl",   "conclude.cl", "lattice_constants.h",
        "lattice_rotation.h", "nearest.cl",    "rotation.cl", "contact.cl",  "lists.cl",
        "lattice.cl",         "small.cl",      NULL};
    char options[2048];
    /* Contraction, and a division that may be off by two units in the last place: a twelfth of the fit's time. */
    int length = common_options(gpu, "", options, sizeof options);
    length += snprintf(options + length, sizeof options - (size_t)length,
                       " -DCONTRACT -DW=%u -DTILE_X=%u -DTILE_Y=%u -DCELLS=%u -DLATTICE_ROW=%u%s%s%s%s", v->kind.width,
                       v->kind.tile_x, v->kind.tile_y, v->kind.cells, LMI_GPU_ROW(v->kind.channels),
                       v->kind.linear ? " -DLINEAR" : "", v->kind.surfaces ? " -DSURFACES" : "",
                       v->kind.even ? " -DEVEN" : "", v->kind.lists ? " -DLISTS" : "");
    lmi_gpu_lattice_options(options + length, sizeof options - (size_t)length);
    const lmi_gpu_named alone[] = {{&v->small, "lattice_small"}};
    const lmi_gpu_named tiled[] = {{&v->fit, "lattice_fit"}, {&v->move, "lattice_move"}};
    return lmi_gpu_build(world, gpu, &v->program, v->kind.cells ? small : tiles, options) &&
           (v->kind.cells ? LMI_GPU_FIND(v->program, alone) : LMI_GPU_FIND(v->program, tiled));
}

lmi_gpu_variant *lmi_gpu_find_variant(const lm_world *world, lmi_gpu *gpu, const struct lmi_gpu_kind *kind)
{
    for (uint32_t n = 0; n < gpu->variant_count; n++) {
        if (memcmp(&gpu->variant[n].kind, kind, sizeof *kind) == 0) {
            return &gpu->variant[n];
        }
    }
    if (gpu->variant_count == LMI_GPU_VARIANTS) {
        lmi_fail(world, LM_ERROR_LIMIT, "device %.80s: more than %d kinds of lattices", gpu->name, LMI_GPU_VARIANTS);
        return NULL;
    }
    lmi_gpu_variant *v = &gpu->variant[gpu->variant_count++];
    *v = (lmi_gpu_variant){.kind = *kind};
    return build_variant(world, gpu, v) ? v : NULL;
}
