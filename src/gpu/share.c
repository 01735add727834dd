/*
 * Skins in buffers of OpenGL.
 *
 * Each frame: acquire all buffers from OpenGL; one launch for each of them writes what goes there from the skins that the device has
 * made; what the host makes (a skin that fades, a state that is the host's just now) is written beside; release all; wait. OpenGL is
 * the caller's: not a function of it is called here.
 */
#include "gpu/share.h"
#include "world/access.h"

#include "gpu/layout.h"
#include "gpu/skins.h"
#include "world/body.h"

/* A buffer of OpenGL as the device knows it. */
typedef struct shared_buffer {
    uint32_t name, users;
    cl_mem memory;
    size_t size;
} shared_buffer;

/* Where positions or normals of a body go. */
typedef struct target {
    uint32_t buffer;        /* or LMI_GPU_NONE: nowhere */
    uint32_t first, stride; /* words */
} target;

typedef struct share {
    lm_body_id body;
    uint32_t vertices;
    target to[2]; /* positions, normals */
} share;

typedef struct lmi_gpu_shares {
    shared_buffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    share *shares;
    uint32_t count, capacity;
    lmi_gpu_buffer puts, chunks;
    bool off; /* it has failed */
} lmi_gpu_shares;

/* --- opening --- */

static bool has_extension(const lmi_gpu *gpu, const char *name)
{
    char words[8192] = "";
    if (gpu->cl.clGetDeviceInfo(gpu->device, CL_DEVICE_EXTENSIONS, sizeof words - 1, words, NULL) != CL_SUCCESS) {
        return false;
    }
    const size_t length = strlen(name);
    for (const char *at = strstr(words, name); at; at = strstr(at + 1, name)) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

bool lmi_gpu_share_properties(const lmi_gpu *gpu, cl_platform_id platform, const lm_gl *gl,
                              intptr_t properties[LMI_GPU_SHARE_PROPERTIES], const char **why)
{
    static const intptr_t display[LM_GL_KIND_COUNT] = {CL_EGL_DISPLAY_KHR, CL_GLX_DISPLAY_KHR, CL_WGL_HDC_KHR};
    *why = (unsigned)gl->kind >= LM_GL_KIND_COUNT || !gl->context        ? "lm_world_def.gl names no context"
           : !gpu->cl.shares || !has_extension(gpu, "cl_khr_gl_sharing") ? "its driver has no cl_khr_gl_sharing"
                                                                         : NULL;
    if (*why) {
        return false;
    }
    const intptr_t all[LMI_GPU_SHARE_PROPERTIES] = {CL_GL_CONTEXT_KHR,
                                                    (intptr_t)gl->context,
                                                    display[gl->kind],
                                                    (intptr_t)gl->display,
                                                    CL_CONTEXT_PLATFORM,
                                                    (intptr_t)platform,
                                                    0,
                                                    0};
    memcpy(properties, all, sizeof all);
    return true;
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_shares *s = part;
    for (uint32_t n = 0; n < s->buffer_count; n++) {
        if (s->buffers[n].users && s->buffers[n].memory) {
            gpu->cl.clReleaseMemObject(s->buffers[n].memory);
        }
    }
    lmi_release(gpu->memory, s->buffers, s->buffer_capacity, sizeof *s->buffers);
    lmi_release(gpu->memory, s->shares, s->capacity, sizeof *s->shares);
}

bool lmi_gpu_share_open(lmi_gpu *gpu)
{
    gpu->shared = lmi_gpu_make_part(gpu, sizeof *gpu->shared, end);
    return gpu->shared != NULL;
}

static lmi_gpu_shares *shares_of(const lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    return gpu && !gpu->lost && gpu->shared && !gpu->shared->off ? gpu->shared : NULL;
}

bool lm_world_can_share(const lm_world *world) { return shares_of(world) != NULL; }

/* --- who shares --- */

/* A buffer as it is now; false: the driver refuses it. */
static bool open_buffer(lmi_gpu *gpu, uint32_t name, shared_buffer *b)
{
    cl_int status = CL_SUCCESS;
    b->name = name;
    b->memory = gpu->cl.clCreateFromGLBuffer(gpu->context, CL_MEM_READ_WRITE, name, &status);
    if (status != CL_SUCCESS || !b->memory) {
        return false;
    }
    if (gpu->cl.clGetMemObjectInfo(b->memory, CL_MEM_SIZE, sizeof b->size, &b->size, NULL) != CL_SUCCESS) {
        gpu->cl.clReleaseMemObject(b->memory);
        return false;
    }
    return true;
}

/* The place of a buffer that is in use, or LMI_GPU_NONE. */
static uint32_t find_buffer(const lmi_gpu_shares *s, uint32_t name)
{
    for (uint32_t n = 0; n < s->buffer_count; n++) {
        if (s->buffers[n].users && s->buffers[n].name == name) {
            return n;
        }
    }
    return LMI_GPU_NONE;
}

/* The place of a buffer, taken from OpenGL where it is not yet; LMI_GPU_NONE: the driver refuses it, or (*memory) there is none. */
static uint32_t take_buffer(lm_world *world, lmi_gpu *gpu, uint32_t name, bool *memory)
{
    lmi_gpu_shares *s = gpu->shared;
    uint32_t place = find_buffer(s, name);
    if (place != LMI_GPU_NONE) {
        s->buffers[place].users++;
        return place;
    }
    for (place = 0; place < s->buffer_count && s->buffers[place].users;) {
        place++;
    }
    void *buffers = s->buffers;
    if (!lmi_reserve(&world->memory, &buffers, &s->buffer_capacity, place + 1, sizeof *s->buffers)) {
        *memory = false;
        return LMI_GPU_NONE;
    }
    s->buffers = buffers;
    shared_buffer now = {.users = 1};
    if (!open_buffer(gpu, name, &now)) {
        return LMI_GPU_NONE;
    }
    s->buffers[place] = now;
    s->buffer_count = place == s->buffer_count ? place + 1 : s->buffer_count;
    return place;
}

/* A body that goes to the same buffer once more may have found that its storage is another: others go there too, to the new one.
 * Where the driver refuses it nothing has room there any more. */
static void renew_buffer(lmi_gpu *gpu, uint32_t name)
{
    uint32_t place = find_buffer(gpu->shared, name);
    if (place != LMI_GPU_NONE) {
        shared_buffer *b = &gpu->shared->buffers[place];
        if (b->memory) {
            gpu->cl.clReleaseMemObject(b->memory);
        }
        if (!open_buffer(gpu, name, b)) {
            b->memory = NULL;
            b->size = 0;
        }
    }
}

static void give_buffer(lmi_gpu *gpu, uint32_t buffer)
{
    if (buffer != LMI_GPU_NONE && --gpu->shared->buffers[buffer].users == 0 && gpu->shared->buffers[buffer].memory) {
        gpu->cl.clReleaseMemObject(gpu->shared->buffers[buffer].memory);
    }
}

static bool is_same(lm_body_id a, lm_body_id b) { return a.slot == b.slot && a.generation == b.generation; }

/* Ends what a body shares, if anything; the names of the buffers, or 0. */
static void forget(lmi_gpu *gpu, lm_body_id body, uint32_t names[2])
{
    lmi_gpu_shares *s = gpu->shared;
    names[0] = names[1] = 0;
    for (uint32_t n = 0; n < s->count; n++) {
        if (is_same(s->shares[n].body, body)) {
            for (int k = 0; k < 2; k++) {
                uint32_t buffer = s->shares[n].to[k].buffer;
                names[k] = buffer == LMI_GPU_NONE ? 0 : s->buffers[buffer].name;
                give_buffer(gpu, buffer);
            }
            s->shares[n] = s->shares[--s->count];
            return;
        }
    }
}

/* Whether so many vertices have room where they go. */
static bool has_room(const lmi_gpu_shares *s, const target *to, uint32_t vertices)
{
    uint64_t end = 4 * ((uint64_t)to->first + (uint64_t)(vertices - 1) * to->stride) + 12;
    return end <= s->buffers[to->buffer].size;
}

static lm_result add_target(lm_world *world, lmi_gpu *gpu, const lm_skin_buffer *from, uint32_t vertices, target *to)
{
    *to = (target){.buffer = LMI_GPU_NONE};
    if (!from) {
        return LM_OK;
    }
    if (from->name == 0 || from->stride < 12 || from->stride % 4 || from->offset % 4) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_body_share_skin: a buffer needs a name, a stride of at least 12, and multiples of 4");
    }
    bool memory = true;
    uint32_t buffer = take_buffer(world, gpu, from->name, &memory);
    if (buffer == LMI_GPU_NONE) {
        return memory ? lmi_fail(world, LM_ERROR_UNSUPPORTED, "lm_body_share_skin: the driver refuses buffer %u",
                                 from->name)
                      : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_share_skin: out of memory");
    }
    *to = (target){buffer, (uint32_t)(from->offset / 4), from->stride / 4};
    if (from->offset / 4 > UINT32_MAX || gpu->shared->buffers[buffer].size / 4 > UINT32_MAX ||
        !has_room(gpu->shared, to, vertices)) {
        give_buffer(gpu, buffer);
        *to = (target){.buffer = LMI_GPU_NONE};
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_share_skin: buffer %u has no room for %u vertices",
                        from->name, vertices);
    }
    return LM_OK;
}

lm_result lm_body_share_skin(lm_world *world, lm_body_id id, const lm_skin_buffer *positions,
                             const lm_skin_buffer *normals)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_share_skin");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_gpu_shares *s = shares_of(world);
    if (!s) {
        return LM_ERROR_UNSUPPORTED; /* lm_world_create has said why */
    }
    uint32_t before[2];
    forget(world->gpu, id, before);
    if (!positions && !normals) {
        return LM_OK;
    }
    for (int n = 0; n < 2; n++) {
        bool again = before[n] && (n == 0 || before[1] != before[0]) &&
                     ((positions && positions->name == before[n]) || (normals && normals->name == before[n]));
        if (again) {
            renew_buffer(world->gpu, before[n]);
        }
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_share_skin: the body has no skin");
    }
    void *shares = s->shares;
    if (!lmi_reserve(&world->memory, &shares, &s->capacity, s->count + 1, sizeof *s->shares)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_share_skin: out of memory");
    }
    s->shares = shares;
    share now = {.body = id, .vertices = body->skin.vertex_count};
    lm_result result = add_target(world, world->gpu, positions, now.vertices, &now.to[0]);
    if (result == LM_OK) {
        result = add_target(world, world->gpu, normals, now.vertices, &now.to[1]);
        if (result != LM_OK) {
            give_buffer(world->gpu, now.to[0].buffer);
        }
    }
    if (result == LM_OK) {
        s->shares[s->count++] = now;
    }
    return result;
}

/* --- a frame --- */

/* The skin of a share on the device, or LMI_GPU_NONE. */
static uint32_t skin_of(const lmi_gpu_skinning *skins, const share *sh)
{
    uint32_t slot = sh->body.slot - 1;
    return skins && slot < skins->slots ? skins->of_slot[slot] : LMI_GPU_NONE;
}

/* Everything of the device that goes to one buffer, in one launch. */
static bool put_buffer(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *skins, uint32_t buffer, lm_dvec3 base)
{
    lmi_gpu_shares *s = gpu->shared;
    array puts = {NULL, 0, 0}, chunks = {NULL, 0, 0};
    bool ok = true;
    for (uint32_t n = 0; ok && n < 2 * s->count; n++) {
        const share *sh = &s->shares[n / 2];
        const target *to = &sh->to[n % 2];
        uint32_t skin = skin_of(skins, sh);
        if (to->buffer != buffer || skin == LMI_GPU_NONE || skins->records[skin].vertices != sh->vertices ||
            !has_room(s, to, sh->vertices)) { /* storage that others have made smaller */
            continue;
        }
        uint32_t groups = (sh->vertices + LMI_GPU_SKIN_GROUP - 1) / LMI_GPU_SKIN_GROUP, index = puts.count / 4;
        uint32_t *put = append(world, &puts, 4, sizeof *put);
        uint32_t *chunk = append(world, &chunks, 2 * groups, sizeof *chunk);
        ok = put && chunk;
        if (ok) {
            put[0] = skin, put[1] = n % 2, put[2] = to->first, put[3] = to->stride;
        }
        for (uint32_t g = 0; ok && g < groups; g++) {
            chunk[2 * g] = index;
            chunk[2 * g + 1] = g * LMI_GPU_SKIN_GROUP;
        }
    }
    const size_t groups[2] = {chunks.count / 2, 1}, group[2] = {LMI_GPU_SKIN_GROUP, 1};
    ok = ok && put_array(gpu, &s->puts, &puts, sizeof(uint32_t)) &&
         put_array(gpu, &s->chunks, &chunks, sizeof(uint32_t));
    drop(world, &puts, sizeof(uint32_t));
    drop(world, &chunks, sizeof(uint32_t));
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(s->chunks),      LMI_GPU_BUFFER(s->puts),
                                          LMI_GPU_BUFFER(skins->skins),   LMI_GPU_BUFFER(skins->origins),
                                          LMI_GPU_VALUE(base.x),          LMI_GPU_VALUE(base.y),
                                          LMI_GPU_VALUE(base.z),          LMI_GPU_BUFFER(skins->positions),
                                          LMI_GPU_BUFFER(skins->normals), LMI_GPU_BUFFER(s->buffers[buffer])};
    return ok && (groups[0] == 0 ||
                  lmi_gpu_run(gpu, skins->put, arguments, sizeof arguments / sizeof *arguments, groups, group));
}

/* One skin that the host makes. */
static bool write_share(lm_world *world, lmi_gpu *gpu, const share *sh, lm_dvec3 base)
{
    const size_t count = sh->vertices;
    lm_vec3 *made = lmi_allocate_plain(&world->memory, 2 * count, sizeof *made);
    bool ok = made && lm_body_get_skin(world, sh->body, base, made, made + count) == LM_OK;
    for (int n = 0; ok && n < 2; n++) {
        const target *to = &sh->to[n];
        const size_t at[3] = {(size_t)to->first * 4, 0, 0}, from[3] = {0, 0, 0}, region[3] = {12, count, 1};
        ok = to->buffer == LMI_GPU_NONE || !has_room(gpu->shared, to, sh->vertices) ||
             gpu->cl.clEnqueueWriteBufferRect(gpu->queue, gpu->shared->buffers[to->buffer].memory, 1, at, from, region,
                                              (size_t)to->stride * 4, 0, sizeof *made, 0, made + (n ? count : 0), 0,
                                              NULL, NULL) == CL_SUCCESS;
    }
    lmi_release(&world->memory, made, 2 * count, sizeof *made);
    return ok;
}

static bool put_all(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *skins, lm_dvec3 base)
{
    lmi_gpu_shares *s = gpu->shared;
    bool ok = true;
    for (uint32_t n = 0; ok && skins && n < s->buffer_count; n++) {
        ok = s->buffers[n].users == 0 || !s->buffers[n].memory || put_buffer(world, gpu, skins, n, base);
    }
    for (uint32_t n = 0; ok && n < s->count; n++) {
        const share *sh = &s->shares[n];
        const lmi_body *body = lmi_body_at(world, sh->body.slot - 1);
        bool left = skin_of(skins, sh) == LMI_GPU_NONE && body->skin.vertex_count == sh->vertices;
        ok = !left || write_share(world, gpu, sh, base);
    }
    return ok;
}

/* Bodies that are no more share nothing. */
static void forget_gone(lm_world *world, lmi_gpu *gpu)
{
    for (uint32_t n = gpu->shared->count; n-- > 0;) {
        if (!lm_body_is_valid(world, gpu->shared->shares[n].body)) {
            uint32_t names[2];
            forget(gpu, gpu->shared->shares[n].body, names);
        }
    }
}

/* All buffers that are in use, to and from OpenGL. */
static bool hand_over(lmi_gpu *gpu, bool acquire)
{
    bool ok = true;
    for (uint32_t n = 0; n < gpu->shared->buffer_count; n++) {
        const shared_buffer *b = &gpu->shared->buffers[n];
        if (b->users && b->memory && (ok || !acquire)) { /* whatever has failed, OpenGL gets them back */
            ok =
                (acquire ? gpu->cl.clEnqueueAcquireGLObjects(gpu->queue, 1, &b->memory, 0, NULL, NULL)
                         : gpu->cl.clEnqueueReleaseGLObjects(gpu->queue, 1, &b->memory, 0, NULL, NULL)) == CL_SUCCESS &&
                ok;
        }
    }
    return ok;
}

lm_result lm_world_share_skins(lm_world *world, lm_dvec3 base)
{
    lmi_gpu_shares *s = shares_of(world);
    lmi_gpu *gpu = world->gpu;
    if (!s) {
        return LM_ERROR_UNSUPPORTED;
    }
    forget_gone(world, gpu);
    bool was_off = gpu->skins && gpu->skins->off;
    lmi_gpu_skinning *skins = gpu->holds ? lmi_gpu_skins_ready(world, gpu, true) : NULL;
    if (!was_off && gpu->skins && gpu->skins->off) {
        lmi_gpu_skins_tell(world, gpu, gpu->skins->off);
    }
    bool ok = hand_over(gpu, true);
    ok = ok && put_all(world, gpu, skins, base);
    ok = hand_over(gpu, false) && ok;
    ok = gpu->cl.clFinish(gpu->queue) == CL_SUCCESS && ok;
    if (!ok) {
        s->off = true;
        gpu->status = CL_SUCCESS; /* what is wrong with the device besides will show when it steps */
        return lmi_fail(world, LM_ERROR_UNSUPPORTED,
                        "lm_world_share_skins: device %.80s: it cannot write to OpenGL's buffers any more", gpu->name);
    }
    return LM_OK;
}
