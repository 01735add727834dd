/*
 * The part of OpenCL 1.2 that the device backend uses, declared by ourselves, so that neither headers nor a library are
 * needed to build. The library is looked for at run time (device.c); names and values are those of the OpenCL 1.2
 * specification, which fixes them for every implementation.
 */
#ifndef LMI_GPU_OPENCL_H
#define LMI_GPU_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong, cl_bitfield;
typedef struct lmi_cl_platform *cl_platform_id;
typedef struct lmi_cl_device *cl_device_id;
typedef struct lmi_cl_context *cl_context;
typedef struct lmi_cl_queue *cl_command_queue;
typedef struct lmi_cl_memory *cl_mem;
typedef struct lmi_cl_program *cl_program;
typedef struct lmi_cl_kernel *cl_kernel;
typedef struct lmi_cl_event *cl_event;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_INVALID_BUFFER_SIZE = -61,

    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_MEM_SIZE = 0x1102,
    CL_GL_CONTEXT_KHR = 0x2008, /* of cl_khr_gl_sharing, as are: */
    CL_EGL_DISPLAY_KHR = 0x2009,
    CL_GLX_DISPLAY_KHR = 0x200A,
    CL_WGL_HDC_KHR = 0x200B,
};

#define CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ((cl_bitfield)1 << 7)
#define CL_DEVICE_TYPE_GPU ((cl_bitfield)1 << 2)
#define CL_DEVICE_TYPE_ALL ((cl_bitfield)0xFFFFFFFF)
#define CL_QUEUE_PROFILING_ENABLE ((cl_bitfield)1 << 1)
#define CL_MEM_READ_WRITE ((cl_bitfield)1 << 0)

/* Every function, as X(result, name, parameters). */
#define LMI_CL_FUNCTIONS(X)                                                                                            \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                                \
    X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))                                  \
    X(cl_int, clGetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))                       \
    X(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                                      \
    X(cl_context, clCreateContext,                                                                                     \
      (const intptr_t *, cl_uint, const cl_device_id *, void (*)(const char *, const void *, size_t, void *), void *,  \
       cl_int *))                                                                                                      \
    X(cl_int, clReleaseContext, (cl_context))                                                                          \
    X(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *))                       \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                               \
    X(cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                                     \
    X(cl_int, clReleaseMemObject, (cl_mem))                                                                            \
    X(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))           \
    X(cl_int, clBuildProgram,                                                                                          \
      (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *))                 \
    X(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))                    \
    X(cl_int, clReleaseProgram, (cl_program))                                                                          \
    X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                                                 \
    X(cl_int, clReleaseKernel, (cl_kernel))                                                                            \
    X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                              \
    X(cl_int, clEnqueueNDRangeKernel,                                                                                  \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,                  \
       const cl_event *, cl_event *))                                                                                  \
    X(cl_int, clEnqueueReadBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))              \
    X(cl_int, clEnqueueWriteBuffer,                                                                                    \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))        \
    X(cl_int, clEnqueueFillBuffer,                                                                                     \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))         \
    X(cl_int, clEnqueueCopyBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))               \
    X(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                  \
    X(cl_int, clWaitForEvents, (cl_uint, const cl_event *))                                                            \
    X(cl_int, clReleaseEvent, (cl_event))                                                                              \
    X(cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))                                  \
    X(cl_int, clFlush, (cl_command_queue))                                                                             \
    X(cl_int, clFinish, (cl_command_queue))

/* Those that only sharing with OpenGL needs; there are libraries without. */
#define LMI_CL_SHARING(X)                                                                                              \
    X(cl_int, clGetMemObjectInfo, (cl_mem, cl_uint, size_t, void *, size_t *))                                         \
    X(cl_int, clEnqueueWriteBufferRect,                                                                                \
      (cl_command_queue, cl_mem, cl_uint, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t,      \
       size_t, const void *, cl_uint, const cl_event *, cl_event *))                                                   \
    X(cl_mem, clCreateFromGLBuffer, (cl_context, cl_bitfield, cl_uint, cl_int *))                                      \
    X(cl_int, clEnqueueAcquireGLObjects,                                                                               \
      (cl_command_queue, cl_uint, const cl_mem *, cl_uint, const cl_event *, cl_event *))                              \
    X(cl_int, clEnqueueReleaseGLObjects,                                                                               \
      (cl_command_queue, cl_uint, const cl_mem *, cl_uint, const cl_event *, cl_event *))

typedef struct lmi_cl {
#define LMI_CL_MEMBER(result, name, parameters) result(*name) parameters;
    LMI_CL_FUNCTIONS(LMI_CL_MEMBER)
    LMI_CL_SHARING(LMI_CL_MEMBER)
    bool shares; /* all of the last ones are there */
#undef LMI_CL_MEMBER
} lmi_cl;

/* Fills the table from the machine's OpenCL library, or (tests) another one. False: there is none, or it lacks a function. The library
 * stays loaded: drivers do not like to be unloaded. */
bool lmi_cl_load(lmi_cl *cl, const char *library);

/* A few words for a result of OpenCL. */
const char *lmi_cl_text(cl_int status);

#endif
