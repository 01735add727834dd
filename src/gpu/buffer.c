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

static void free_memory(lmi_gpu *gpu, lmi_gpu_allocation *m)
{
    if (m->memory) {
        gpu->cl.clReleaseMemObject(m->memory);
    }
    lmi_release(gpu->memory, m->hashes, m->hash_room, sizeof *m->hashes);
    *m = (lmi_gpu_allocation){.memory = NULL};
}

void lmi_gpu_free(lmi_gpu *gpu, lmi_gpu_buffer *buffer)
{
    if (buffer->memory) {
        free_memory(gpu, &gpu->memories[buffer->place]);
        gpu->used -= buffer->size;
    }
    *buffer = (lmi_gpu_buffer){.memory = NULL};
}

void lmi_gpu_free_memories(lmi_gpu *gpu)
{
    for (uint32_t n = 0; n < gpu->memory_count; n++) {
        free_memory(gpu, &gpu->memories[n]);
    }
    lmi_release(gpu->memory, gpu->memories, gpu->memory_capacity, sizeof *gpu->memories);
}

/* A place in the table that is nobody's. */
static bool find_place(lmi_gpu *gpu, uint32_t *place)
{
    for (*place = 0; *place < gpu->memory_count; ++*place) {
        if (!gpu->memories[*place].memory) {
            return true;
        }
    }
    void *memories = gpu->memories;
    bool ok = lmi_reserve(gpu->memory, &memories, &gpu->memory_capacity, *place + 1, sizeof *gpu->memories);
    gpu->memories = memories;
    if (!ok) {
        return note(gpu, CL_OUT_OF_HOST_MEMORY);
    }
    gpu->memories[gpu->memory_count++] = (lmi_gpu_allocation){.memory = NULL};
    return true;
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
    uint32_t place = 0;
    if (!find_place(gpu, &place)) {
        return false;
    }
    cl_mem memory = gpu->cl.clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, size, NULL, &status);
    if (!note(gpu, status)) {
        return false;
    }
    gpu->memories[place].memory = memory;
    *buffer = (lmi_gpu_buffer){.memory = memory, .size = size, .place = place};
    gpu->used += size;
    return true;
}

bool lmi_gpu_write(lmi_gpu *gpu, const lmi_gpu_buffer *to, size_t offset, const void *from, size_t size)
{
    gpu->written_bytes += size;
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

bool lmi_gpu_clear_at(lmi_gpu *gpu, const lmi_gpu_buffer *buffer, size_t offset, size_t size)
{
    const cl_uint zero = 0;
    return size == 0 ||
           (!is_lost(gpu) && note(gpu, gpu->cl.clEnqueueFillBuffer(gpu->queue, buffer->memory, &zero, sizeof zero,
                                                                   offset, size, 0, NULL, NULL)));
}

bool lmi_gpu_clear(lmi_gpu *gpu, const lmi_gpu_buffer *buffer, size_t size)
{
    return lmi_gpu_clear_at(gpu, buffer, 0, size);
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
    if (!lmi_gpu_reserve(gpu, buffer, size)) {
        return false;
    }
    gpu->memories[buffer->place].hash_count = 0;
    return lmi_gpu_write(gpu, buffer, 0, from, size);
}

/* --- what is there already --- */

static bool copy_part(lmi_gpu *gpu, const lmi_gpu_buffer *from, size_t at, const lmi_gpu_buffer *to, size_t offset,
                      size_t size)
{
    return size == 0 || (!is_lost(gpu) && note(gpu, gpu->cl.clEnqueueCopyBuffer(gpu->queue, from->memory, to->memory,
                                                                                at, offset, size, 0, NULL, NULL)));
}

/* Takes the place of a buffer whose content it has. */
static void replace(lmi_gpu *gpu, lmi_gpu_buffer *buffer, lmi_gpu_buffer by)
{
    lmi_gpu_allocation *known = &gpu->memories[buffer->place], *to = &gpu->memories[by.place];
    to->hashes = known->hashes;
    to->hash_count = known->hash_count;
    to->hash_room = known->hash_room;
    known->hashes = NULL;
    known->hash_room = 0;
    lmi_gpu_free(gpu, buffer);
    *buffer = by;
}

bool lmi_gpu_grow(lmi_gpu *gpu, lmi_gpu_buffer *buffer, size_t size)
{
    if (!buffer->memory || buffer->size >= size) {
        return lmi_gpu_reserve(gpu, buffer, size);
    }
    lmi_gpu_buffer larger = {.memory = NULL};
    if (!lmi_gpu_reserve(gpu, &larger, (size + size / 4 + 15) / 16 * 16)) {
        gpu->status = CL_SUCCESS;
        if (!lmi_gpu_reserve(gpu, &larger, size)) { /* not so much, then */
            return false;
        }
    }
    bool ok = copy_part(gpu, buffer, 0, &larger, 0, buffer->size);
    replace(gpu, buffer, larger);
    return ok;
}

bool lmi_gpu_rearrange(lmi_gpu *gpu, lmi_gpu_buffer *buffer, const uint32_t *from, uint32_t count, size_t size)
{
    lmi_gpu_buffer other = {.memory = NULL};
    bool ok = lmi_gpu_reserve(gpu, &other, count * size);
    for (uint32_t n = 0, end; ok && n < count; n = end) { /* those that stay side by side go together */
        end = n + 1;
        while (from[n] != LMI_GPU_NONE && end < count && from[end] == from[n] + (end - n)) {
            end++;
        }
        ok = from[n] == LMI_GPU_NONE || copy_part(gpu, buffer, from[n] * size, &other, n * size, (end - n) * size);
    }
    if (ok) {
        lmi_gpu_free(gpu, buffer);
        *buffer = other;
    } else {
        lmi_gpu_free(gpu, &other);
    }
    return ok;
}

/* Bytes that are compared as one, and how many of them that are the same are uploaded with their neighbours: each way costs as much
 * as some kilobytes do. */
#define PIECE ((size_t)1024)
#define GAP 4u

static bool reserve_hashes(lmi_gpu *gpu, lmi_gpu_allocation *m, uint32_t count)
{
    void *hashes = m->hashes;
    bool ok = lmi_reserve(gpu->memory, &hashes, &m->hash_room, count, sizeof *m->hashes);
    m->hashes = hashes;
    return ok;
}

bool lmi_gpu_renew(lmi_gpu *gpu, lmi_gpu_buffer *buffer, const void *from, size_t size)
{
    const uint32_t count = (uint32_t)((size + PIECE - 1) / PIECE);
    const char *bytes = from;
    if (!lmi_gpu_grow(gpu, buffer, size)) {
        return false;
    }
    lmi_gpu_allocation *m = &gpu->memories[buffer->place];
    if (!reserve_hashes(gpu, m, count)) {
        return false;
    }
    uint32_t known = gpu->limits.whole ? 0 : m->hash_count, first = LMI_GPU_NONE, last = 0;
    bool ok = true;
    m->hash_count = 0; /* nothing is known of a buffer that could not be written */
    for (uint32_t n = 0; ok && n <= count; n++) {
        size_t at = n * PIECE, length = n == count ? 0 : size - at < PIECE ? size - at : PIECE;
        uint64_t hash = length ? lmi_gpu_hash(bytes + at, length) : 0;
        bool differs = length && (n >= known || m->hashes[n] != hash);
        if (first != LMI_GPU_NONE && (n == count || (differs && n - last > GAP))) {
            size_t end = (last + 1) * PIECE < size ? (last + 1) * PIECE : size;
            ok = lmi_gpu_write(gpu, buffer, first * PIECE, bytes + first * PIECE, end - first * PIECE);
            first = LMI_GPU_NONE;
        }
        if (differs) {
            first = first == LMI_GPU_NONE ? n : first;
            last = n;
            m->hashes[n] = hash;
        }
    }
    m->hash_count = ok ? count : 0;
    return ok;
}

/* --- launches --- */

/* Waits for a launch, and adds the time that the device took for it. */
static void count_time(lmi_gpu *gpu, cl_kernel kernel, cl_event launch)
{
    cl_ulong start = 0, end = 0;
    gpu->cl.clWaitForEvents(1, &launch);
    gpu->cl.clGetEventProfilingInfo(launch, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    gpu->cl.clGetEventProfilingInfo(launch, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    gpu->cl.clReleaseEvent(launch);
    for (uint32_t n = 0; n < gpu->kernel_count; n++) {
        if (*gpu->kernels[n].kept == kernel) {
            gpu->kernels[n].nanoseconds += end - start;
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
