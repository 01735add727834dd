/*
 * Which devices there are, and opening one.
 */
#include "base/os.h"
#include "gpu/gpu.h"
#include "gpu/opencl.h"
#include "gpu/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLATFORMS 16
#define MOST_DEVICES 64

typedef struct found_device {
    cl_platform_id platform;
    cl_device_id device;
} found_device;

static uint32_t find_all(const lmi_cl *cl, found_device *found)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    uint32_t count = 0;
    if (cl->clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) {
        return 0;
    }
    for (cl_uint p = 0; p < platform_count && p < MOST_PLATFORMS; p++) {
        cl_device_id devices[MOST_DEVICES];
        cl_uint device_count = 0;
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &device_count) != CL_SUCCESS) {
            continue;
        }
        for (cl_uint d = 0; d < device_count && d < MOST_DEVICES && count < MOST_DEVICES; d++) {
            found[count++] = (found_device){platforms[p], devices[d]};
        }
    }
    return count;
}

/* A number that a device tells of itself; 0 where it does not know the question. */
static cl_ulong ask(const lmi_cl *cl, cl_device_id device, cl_uint what, size_t size)
{
    cl_ulong value = 0;
    return cl->clGetDeviceInfo(device, what, size, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* What a device lacks, or null. */
static const char *device_fault(const lmi_cl *cl, cl_device_id device)
{
    if (!ask(cl, device, CL_DEVICE_AVAILABLE, sizeof(cl_uint)) ||
        !ask(cl, device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_uint))) {
        return "it is not available, or has no compiler";
    }
    if (!ask(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_bitfield))) {
        return "it has no double precision";
    }
    if (ask(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) < 256 ||
        ask(cl, device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)) < 48 << 10) {
        return "its work-groups are too small";
    }
    return NULL;
}

static void describe(const lmi_cl *cl, const found_device *from, lm_device_info *to)
{
    memset(to, 0, sizeof *to);
    cl->clGetDeviceInfo(from->device, CL_DEVICE_NAME, sizeof to->name - 1, to->name, NULL);
    cl->clGetPlatformInfo(from->platform, CL_PLATFORM_NAME, sizeof to->platform - 1, to->platform, NULL);
    to->memory = ask(cl, from->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    to->units = (uint32_t)ask(cl, from->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    to->gpu = ask(cl, from->device, CL_DEVICE_TYPE, sizeof(cl_bitfield)) & CL_DEVICE_TYPE_GPU;
    const char *fault = device_fault(cl, from->device);
    to->usable = fault == NULL;
    snprintf(to->fault, sizeof to->fault, "%s", fault ? fault : "");
}

uint32_t lm_device_list(lm_device_info *devices, uint32_t capacity)
{
    lmi_cl cl;
    found_device found[MOST_DEVICES];
    uint32_t count = lmi_cl_load(&cl, NULL) ? find_all(&cl, found) : 0;
    for (uint32_t n = 0; n < count && n < capacity; n++) {
        describe(&cl, &found[n], &devices[n]);
    }
    return count;
}

/* The device that `name` asks for: "gpu", a number as in lm_device_list, or a part of its name. Null: none, and why. */
static const found_device *choose(const lmi_cl *cl, const found_device *found, uint32_t count, const char *name,
                                  const char **why)
{
    char *end;
    unsigned long index = strtoul(name, &end, 10);
    bool any = strcmp(name, "gpu") == 0, numbered = end != name && *end == '\0';
    const found_device *best = NULL;
    bool best_is_gpu = false;
    *why = count ? "no device is called that" : "there is no OpenCL device";
    for (uint32_t n = 0; n < count; n++) {
        lm_device_info info;
        describe(cl, &found[n], &info);
        if (numbered ? index != n : !any && !strstr(info.name, name)) {
            continue;
        }
        if (!info.usable) {
            *why = device_fault(cl, found[n].device);
        } else if (!best || (info.gpu && !best_is_gpu)) { /* a real one, where there is one */
            best = &found[n];
            best_is_gpu = info.gpu;
        }
    }
    return best;
}

/* A context that shares with OpenGL where one is given; where that cannot be, one that does not, and a line that says so. */
static void open_context(lm_world *world, lmi_gpu *gpu, cl_platform_id platform, cl_int *status)
{
    intptr_t properties[LMI_GPU_SHARE_PROPERTIES];
    const lm_gl *gl = gpu->limits.gl;
    const char *why = NULL;
    if (gl && lmi_gpu_share_properties(gpu, platform, gl, properties, &why)) {
        gpu->context = gpu->cl.clCreateContext(properties, 1, &gpu->device, NULL, NULL, status);
        if (*status == CL_SUCCESS && lmi_gpu_share_open(gpu)) {
            return;
        }
        why = *status == CL_SUCCESS ? "out of memory" : "it does not draw this context";
        if (*status == CL_SUCCESS) {
            gpu->cl.clReleaseContext(gpu->context);
        }
    }
    if (gl) {
        lmi_fail(world, LM_ERROR_UNSUPPORTED, "lm_world_create: device %.80s: skins are not shared with OpenGL: %s",
                 gpu->name, why);
    }
    gpu->context = gpu->cl.clCreateContext(NULL, 1, &gpu->device, NULL, NULL, status);
}

static bool open_queue(lm_world *world, lmi_gpu *gpu, cl_platform_id platform)
{
    cl_int status = CL_SUCCESS;
    open_context(world, gpu, platform, &status);
    if (status == CL_SUCCESS) {
        gpu->queue = gpu->cl.clCreateCommandQueue(gpu->context, gpu->device, 0, &status);
    }
    if (status == CL_SUCCESS) {
        gpu->side = gpu->cl.clCreateCommandQueue(gpu->context, gpu->device, 0, &status);
    }
    gpu->status = status;
    return status == CL_SUCCESS;
}

static void give_up(lm_world *world, const char *device, const char *why)
{
    lmi_fail(world, LM_ERROR_UNSUPPORTED, "lm_world_create: device \"%.60s\": %s; the CPU steps this world", device,
             why);
    lmi_gpu_close(world);
}

void lmi_gpu_open(lm_world *world, const char *device, const lmi_gpu_limits *limits)
{
    lmi_gpu *gpu = lmi_allocate(&world->memory, 1, sizeof *gpu);
    world->gpu = gpu;
    if (!gpu || !lmi_mutex_init(&gpu->fetching)) {
        lmi_release(&world->memory, gpu, 1, sizeof *gpu);
        world->gpu = NULL;
        lmi_fail(world, LM_ERROR_MEMORY, "lm_world_create: device \"%.60s\": out of memory; the CPU steps this world",
                 device);
        return;
    }
    gpu->memory = &world->memory;
    gpu->limits = limits ? *limits : (lmi_gpu_limits){0};
    const char *why = "this machine has no OpenCL (libOpenCL.so.1)";
    found_device found[MOST_DEVICES];
    const found_device *chosen = NULL;
    if (lmi_cl_load(&gpu->cl, gpu->limits.library)) {
        chosen = choose(&gpu->cl, found, find_all(&gpu->cl, found), device, &why);
    }
    if (!chosen) {
        give_up(world, device, why);
        return;
    }
    gpu->device = chosen->device;
    lm_device_info info;
    describe(&gpu->cl, chosen, &info);
    snprintf(gpu->name, sizeof gpu->name, "%s", info.name);
    gpu->units = info.units ? info.units : 1;
    gpu->total = (size_t)ask(&gpu->cl, gpu->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    gpu->largest = (size_t)ask(&gpu->cl, gpu->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    bool exact = ask(&gpu->cl, gpu->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_bitfield)) &
                 CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    gpu->rounding = exact ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
    snprintf(gpu->options, sizeof gpu->options, "-cl-std=CL1.2 %s", gpu->limits.options ? gpu->limits.options : "");
    if (!open_queue(world, gpu, chosen->platform)) {
        give_up(world, device, lmi_cl_text(gpu->status));
    } else if (!lmi_gpu_build_bodies(world, gpu)) {
        give_up(world, device, "its kernels could not be built");
    }
}

/* ---- the library ----
 *
 * Finds the OpenCL library of the machine, if it has one.
 */

bool lmi_cl_load(lmi_cl *cl, const char *name)
{
    void *library = lmi_os_library(name ? name : "libOpenCL.so.1");
    if (!library) {
        return false;
    }
    bool complete = true;
    /* A pointer to a function comes as a pointer to data; both have one size wherever a library can be loaded so. */
#define FIND(result, name, parameters)                                                                                 \
    {                                                                                                                  \
        void *found = lmi_os_symbol(library, #name);                                                                   \
        memcpy(&cl->name, &found, sizeof found);                                                                       \
        complete = complete && found;                                                                                  \
    }
    LMI_CL_FUNCTIONS(FIND)
    bool usable = complete;
    LMI_CL_SHARING(FIND)
#undef FIND
    cl->shares = complete;
    return usable;
}

const char *lmi_cl_text(cl_int status)
{
    switch (status) {
    case CL_SUCCESS: return "success";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE: return "out of device memory";
    case CL_DEVICE_NOT_AVAILABLE: return "it was lost";
    case CL_OUT_OF_RESOURCES: return "out of device resources";
    case CL_OUT_OF_HOST_MEMORY: return "out of memory";
    case CL_BUILD_PROGRAM_FAILURE: return "the kernels do not compile";
    default: return "the device failed";
    }
}
