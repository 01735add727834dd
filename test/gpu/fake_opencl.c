/*
 * An OpenCL library that pretends to share buffers with OpenGL: everything goes to the machine's own library, but for what
 * cl_khr_gl_sharing adds. A buffer of "OpenGL" is an ordinary buffer under a name. Whatever breaks the rules of the extension is
 * counted:
 *
 *   - buffers come from OpenGL only into a context that was made for it;
 *   - a kernel or a write that uses one finds it acquired;
 *   - what is acquired is released, once, and OpenGL reads it when the queue has been finished since.
 */
#include "test/gpu/fake_opencl.h"

#include "gpu/opencl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64
#define CL_INVALID_OPERATION (-59)
#define CL_INVALID_GL_OBJECT (-60)
#define EXPORT __attribute__((visibility("default")))

#define DECLARE(result, name, parameters) result name parameters;
LMI_CL_FUNCTIONS(DECLARE)
LMI_CL_SHARING(DECLARE)
#undef DECLARE

static lmi_cl real;
static bool loaded;

static struct {
    uint32_t name;
    size_t size;
    cl_mem memory;
    bool acquired, pending; /* pending: released, and the queue not finished since */
} buffers[MOST];

static struct {
    cl_kernel kernel;
    cl_uint index;
    cl_mem memory;
} uses[MOST];
static uint32_t use_count;

static cl_context shared_context;
static cl_command_queue last_queue;
static fake_counts counts;
static bool refuses;
static fake_size_function *real_size;
static fake_put_function *real_put;

static void load(void)
{
    void *library = loaded ? NULL : dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(result, name, parameters)                                                                                 \
    if (library) {                                                                                                     \
        void *found = dlsym(library, #name);                                                                           \
        memcpy(&real.name, &found, sizeof found);                                                                      \
    }
    LMI_CL_FUNCTIONS(FIND)
    LMI_CL_SHARING(FIND)
#undef FIND
    loaded = loaded || library;
}

static int find(cl_mem memory)
{
    for (int n = 0; n < MOST; n++)
        if (buffers[n].memory && buffers[n].memory == memory) return n;
    return -1;
}

/* ---- what tests call ---- */

EXPORT void fake_gl_buffer(uint32_t name, size_t size)
{
    for (int n = 0; n < MOST; n++) {
        if (buffers[n].size == 0 || buffers[n].name == name) {
            buffers[n].name = name;
            buffers[n].size = size;
            return;
        }
    }
    abort();
}

EXPORT bool fake_gl_read(uint32_t name, void *to, size_t size)
{
    for (int n = 0; n < MOST; n++) {
        if (buffers[n].name == name && buffers[n].memory) {
            if (buffers[n].acquired || buffers[n].pending) counts.wrong++;
            return real.clEnqueueReadBuffer(last_queue, buffers[n].memory, 1, 0, size, to, 0, NULL, NULL) == CL_SUCCESS;
        }
    }
    return false;
}

EXPORT fake_counts fake_gl_counts(void) { return counts; }
EXPORT void fake_gl_refuse(bool refuse) { refuses = refuse; }

EXPORT void fake_gl_hooks(fake_size_function *size, fake_put_function *put)
{
    real_size = size;
    real_put = put;
}

/* ---- the extension ---- */

EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t size, void *to, size_t *needed)
{
    load();
    cl_int status = real.clGetDeviceInfo(device, what, size, to, needed);
    if (status == CL_SUCCESS && what == CL_DEVICE_EXTENSIONS && to && strlen(to) + 20 < size)
        strcat(to, " cl_khr_gl_sharing");
    return status;
}

EXPORT cl_context clCreateContext(const intptr_t *properties, cl_uint count, const cl_device_id *devices,
                                  void (*tell)(const char *, const void *, size_t, void *), void *user, cl_int *status)
{
    intptr_t others[16];
    int kept = 0;
    bool shares = false;
    for (int n = 0; properties && properties[n]; n += 2) {
        intptr_t key = properties[n];
        if (key == CL_GL_CONTEXT_KHR && (void *)properties[n + 1] == FAKE_GL_CONTEXT) shares = true;
        if (key == CL_EGL_DISPLAY_KHR && (void *)properties[n + 1] != FAKE_EGL_DISPLAY) counts.wrong++;
        if (key != CL_GL_CONTEXT_KHR && key != CL_EGL_DISPLAY_KHR && kept < 14) {
            others[kept++] = key;
            others[kept++] = properties[n + 1];
        }
    }
    others[kept] = 0;
    load();
    cl_context context = real.clCreateContext(kept ? others : NULL, count, devices, tell, user, status);
    shared_context = shares ? context : shared_context;
    return context;
}

EXPORT cl_mem clCreateFromGLBuffer(cl_context context, cl_bitfield flags, cl_uint name, cl_int *status)
{
    if (context != shared_context) counts.wrong++;
    if (real_size) fake_gl_buffer(name, real_size(name));
    for (int n = 0; n < MOST && !refuses; n++) {
        if (buffers[n].size && buffers[n].name == name) {
            if (buffers[n].memory) counts.wrong++; /* one is enough */
            buffers[n].memory = real.clCreateBuffer(context, flags, buffers[n].size, NULL, status);
            buffers[n].acquired = buffers[n].pending = false;
            counts.created++;
            return buffers[n].memory;
        }
    }
    *status = CL_INVALID_GL_OBJECT;
    return NULL;
}

static cl_int hand_over(cl_command_queue queue, cl_uint count, const cl_mem *memory, bool acquire)
{
    last_queue = queue;
    for (cl_uint k = 0; k < count; k++) {
        int n = find(memory[k]);
        if (n < 0 || buffers[n].acquired == acquire) {
            counts.wrong++;
            return CL_INVALID_OPERATION;
        }
        buffers[n].acquired = acquire;
        buffers[n].pending = !acquire;
        counts.acquired += acquire;
        counts.released += !acquire;
    }
    return CL_SUCCESS;
}

EXPORT cl_int clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint count, const cl_mem *memory, cl_uint waits,
                                        const cl_event *wait, cl_event *event)
{
    (void)waits, (void)wait, (void)event;
    return refuses ? CL_INVALID_OPERATION : hand_over(queue, count, memory, true);
}

EXPORT cl_int clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint count, const cl_mem *memory, cl_uint waits,
                                        const cl_event *wait, cl_event *event)
{
    (void)waits, (void)wait, (void)event;
    return refuses ? CL_INVALID_OPERATION : hand_over(queue, count, memory, false);
}

/* ---- what looks at how buffers are used ---- */

EXPORT cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    cl_mem memory = NULL;
    if (size == sizeof memory) memcpy(&memory, value, size);
    uint32_t at = 0;
    while (at < use_count && (uses[at].kernel != kernel || uses[at].index != index)) at++;
    if (find(memory) >= 0 || at < use_count) {
        if (at == use_count && use_count < MOST) use_count++;
        uses[at].kernel = kernel;
        uses[at].index = index;
        uses[at].memory = memory;
    }
    return real.clSetKernelArg(kernel, index, size, value);
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *all, const size_t *group, cl_uint waits, const cl_event *wait,
                                     cl_event *event)
{
    for (uint32_t n = 0; n < use_count; n++) {
        int b = uses[n].kernel == kernel ? find(uses[n].memory) : -1;
        if (b >= 0) {
            counts.launches++;
            counts.wrong += !buffers[b].acquired;
        }
    }
    return real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, all, group, waits, wait, event);
}

EXPORT cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem memory, cl_uint blocking, const size_t *at,
                                       const size_t *from, const size_t *region, size_t row, size_t slice,
                                       size_t from_row, size_t from_slice, const void *data, cl_uint waits,
                                       const cl_event *wait, cl_event *event)
{
    int b = find(memory);
    counts.writes++;
    counts.wrong += b < 0 || !buffers[b].acquired;
    return real.clEnqueueWriteBufferRect(queue, memory, blocking, at, from, region, row, slice, from_row, from_slice,
                                         data, waits, wait, event);
}

EXPORT cl_int clFinish(cl_command_queue queue)
{
    cl_int status = real.clFinish(queue);
    for (int n = 0; n < MOST; n++) {
        if (buffers[n].pending && buffers[n].memory && real_put) {
            void *data = malloc(buffers[n].size);
            real.clEnqueueReadBuffer(queue, buffers[n].memory, 1, 0, buffers[n].size, data, 0, NULL, NULL);
            real_put(buffers[n].name, data, buffers[n].size);
            free(data);
        }
        buffers[n].pending = false;
    }
    return status;
}

EXPORT cl_int clReleaseMemObject(cl_mem memory)
{
    int b = find(memory);
    if (b >= 0) {
        counts.wrong += buffers[b].acquired;
        buffers[b].memory = NULL;
        counts.freed++;
    }
    return real.clReleaseMemObject(memory);
}

/* ---- everything else ---- */

#define FORWARD(result, name, parameters, arguments)                                                                   \
    EXPORT result name parameters                                                                                      \
    {                                                                                                                  \
        load();                                                                                                        \
        return real.name arguments;                                                                                    \
    }

FORWARD(cl_int, clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *c), (n, p, c))
FORWARD(cl_int, clGetPlatformInfo, (cl_platform_id p, cl_uint w, size_t s, void *t, size_t *n), (p, w, s, t, n))
FORWARD(cl_int, clGetDeviceIDs, (cl_platform_id p, cl_bitfield t, cl_uint n, cl_device_id *d, cl_uint *c),
        (p, t, n, d, c))
FORWARD(cl_int, clReleaseContext, (cl_context c), (c))
FORWARD(cl_command_queue, clCreateCommandQueue, (cl_context c, cl_device_id d, cl_bitfield p, cl_int *s), (c, d, p, s))
FORWARD(cl_int, clReleaseCommandQueue, (cl_command_queue q), (q))
FORWARD(cl_mem, clCreateBuffer, (cl_context c, cl_bitfield f, size_t n, void *h, cl_int *s), (c, f, n, h, s))
FORWARD(cl_int, clGetMemObjectInfo, (cl_mem m, cl_uint w, size_t s, void *t, size_t *n), (m, w, s, t, n))
FORWARD(cl_program, clCreateProgramWithSource, (cl_context c, cl_uint n, const char **t, const size_t *l, cl_int *s),
        (c, n, t, l, s))
FORWARD(cl_int, clBuildProgram,
        (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void (*f)(cl_program, void *), void *u),
        (p, n, d, o, f, u))
FORWARD(cl_int, clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_uint w, size_t s, void *t, size_t *n),
        (p, d, w, s, t, n))
FORWARD(cl_int, clReleaseProgram, (cl_program p), (p))
FORWARD(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *s), (p, n, s))
FORWARD(cl_int, clReleaseKernel, (cl_kernel k), (k))
FORWARD(cl_int, clEnqueueReadBuffer,
        (cl_command_queue q, cl_mem m, cl_uint b, size_t o, size_t s, void *t, cl_uint n, const cl_event *w,
         cl_event *e),
        (q, m, b, o, s, t, n, w, e))
FORWARD(cl_int, clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_uint b, size_t o, size_t s, const void *f, cl_uint n, const cl_event *w,
         cl_event *e),
        (q, m, b, o, s, f, n, w, e))
FORWARD(cl_int, clEnqueueFillBuffer,
        (cl_command_queue q, cl_mem m, const void *p, size_t l, size_t o, size_t s, cl_uint n, const cl_event *w,
         cl_event *e),
        (q, m, p, l, o, s, n, w, e))
FORWARD(cl_int, clEnqueueCopyBuffer,
        (cl_command_queue q, cl_mem f, cl_mem t, size_t a, size_t b, size_t s, cl_uint n, const cl_event *w,
         cl_event *e),
        (q, f, t, a, b, s, n, w, e))
FORWARD(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e),
        (q, n, w, e))
FORWARD(cl_int, clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
FORWARD(cl_int, clReleaseEvent, (cl_event e), (e))
FORWARD(cl_int, clGetEventProfilingInfo, (cl_event e, cl_uint w, size_t s, void *t, size_t *n), (e, w, s, t, n))
FORWARD(cl_int, clFlush, (cl_command_queue q), (q))
