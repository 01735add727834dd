/*
 * Memory of the device, and launches.
 */
#include "gpu/gpu.h"

static bool note(lmi_gpu *gpu, cl_int status)
{
    if (status != CL_SUCCESS && gpu->status == CL_SUCCESS) {
        gpu->status = status;
    }
    return status == CL_SUCCESS;
}

/* Tests take a device away in the middle of something. */
static bool is_lost(lmi_gpu *gpu)
{
    return gpu->limits.operations && ++gpu->operations > gpu->limits.operations && !note(gpu, CL_DEVICE_NOT_AVAILABLE);
}

void lmi_gpu_free(lmi_gpu *gpu, lmi_gpu_buffer *buffer)
{
    if (buffer->memory) {
        gpu->cl.clReleaseMemObject(buffer->memory);
        gpu->used -= buffer->size;
    }
    *buffer = (lmi_gpu_buffer){NULL, 0};
}

bool lmi_gpu_reserve(lmi_gpu *gpu, lmi_gpu_buffer *buffer, size_t size)
{
    size = size ? size : 16; /* there is no empty buffer, and kernels want one for each argument */
    if (buffer->size >= size) {
        return true;
    }
    lmi_gpu_free(gpu, buffer);
    if (size > gpu->largest || (gpu->limits.memory && gpu->used + size > gpu->limits.memory)) {
        return note(gpu, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    cl_int status = CL_SUCCESS;
    buffer->memory = gpu->cl.clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, size, NULL, &status);
    if (!note(gpu, status)) {
        buffer->memory = NULL;
        return false;
    }
    buffer->size = size;
    gpu->used += size;
    return true;
}

bool lmi_gpu_write(lmi_gpu *gpu, const lmi_gpu_buffer *to, size_t offset, const void *from, size_t size)
{
    return size == 0 || (!is_lost(gpu) && note(gpu, gpu->cl.clEnqueueWriteBuffer(gpu->queue, to->memory, 1, offset,
                                                                                 size, from, 0, NULL, NULL)));
}

bool lmi_gpu_read(lmi_gpu *gpu, const lmi_gpu_buffer *from, size_t offset, void *to, size_t size)
{
    gpu->read_bytes += size;
    return size == 0 || (!is_lost(gpu) && note(gpu, gpu->cl.clEnqueueReadBuffer(gpu->queue, from->memory, 1, offset,
                                                                                size, to, 0, NULL, NULL)));
}

bool lmi_gpu_copy(lmi_gpu *gpu, const lmi_gpu_buffer *from, const lmi_gpu_buffer *to, size_t size)
{
    return size == 0 || (!is_lost(gpu) && note(gpu, gpu->cl.clEnqueueCopyBuffer(gpu->queue, from->memory, to->memory, 0,
                                                                                0, size, 0, NULL, NULL)));
}

bool lmi_gpu_clear(lmi_gpu *gpu, const lmi_gpu_buffer *buffer, size_t size)
{
    const cl_uint zero = 0;
    return size == 0 || (!is_lost(gpu) && note(gpu, gpu->cl.clEnqueueFillBuffer(gpu->queue, buffer->memory, &zero,
                                                                                sizeof zero, 0, size, 0, NULL, NULL)));
}

bool lmi_gpu_mark(lmi_gpu *gpu, cl_event *event)
{
    return note(gpu, gpu->cl.clEnqueueMarkerWithWaitList(gpu->queue, 0, NULL, event));
}

bool lmi_gpu_read_after(lmi_gpu *gpu, cl_event *event, const lmi_gpu_buffer *from, void *to, size_t size)
{
    gpu->read_bytes += size;
    bool ok = !is_lost(gpu) && note(gpu, gpu->cl.clFlush(gpu->queue)) &&
              note(gpu, gpu->cl.clEnqueueReadBuffer(gpu->side, from->memory, 1, 0, size, to, 1, event, NULL));
    gpu->cl.clReleaseEvent(*event);
    *event = NULL;
    return ok;
}

bool lmi_gpu_put(lmi_gpu *gpu, lmi_gpu_buffer *buffer, const void *from, size_t size)
{
    return lmi_gpu_reserve(gpu, buffer, size) && lmi_gpu_write(gpu, buffer, 0, from, size);
}

/* Waits for a launch, and adds the time that the device took for it. */
static void count_time(lmi_gpu *gpu, cl_kernel kernel, cl_event launch)
{
    cl_ulong start = 0, end = 0;
    gpu->cl.clWaitForEvents(1, &launch);
    gpu->cl.clGetEventProfilingInfo(launch, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    gpu->cl.clGetEventProfilingInfo(launch, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    gpu->cl.clReleaseEvent(launch);
    for (uint32_t n = 0; n < gpu->timer_count; n++) {
        if (gpu->timer[n].kernel == kernel) {
            gpu->timer[n].nanoseconds += end - start;
        }
    }
}

bool lmi_gpu_time_kernels(lmi_gpu *gpu, bool timed)
{
    cl_int status = CL_SUCCESS;
    if (timed == gpu->timed) {
        return true;
    }
    cl_bitfield properties = timed ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_command_queue queue = gpu->cl.clCreateCommandQueue(gpu->context, gpu->device, properties, &status);
    if (!note(gpu, status)) {
        return false;
    }
    gpu->cl.clFinish(gpu->queue);
    gpu->cl.clReleaseCommandQueue(gpu->queue);
    gpu->queue = queue;
    gpu->timed = timed;
    return true;
}

bool lmi_gpu_run(lmi_gpu *gpu, cl_kernel kernel, const lmi_gpu_argument *arguments, uint32_t count,
                 const size_t groups[2], const size_t group[2])
{
    bool ok = !is_lost(gpu);
    for (uint32_t n = 0; ok && n < count; n++) {
        ok = note(gpu, gpu->cl.clSetKernelArg(kernel, n, arguments[n].size, arguments[n].value));
    }
    const size_t all[2] = {groups[0] * group[0], groups[1] * group[1]};
    cl_event launch = NULL, *event = gpu->timed ? &launch : NULL;
    ok = ok && note(gpu, gpu->cl.clEnqueueNDRangeKernel(gpu->queue, kernel, 2, NULL, all, group, 0, NULL, event));
    if (ok && gpu->timed) {
        count_time(gpu, kernel, launch);
    }
    return ok;
}
