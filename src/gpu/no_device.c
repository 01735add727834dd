/*
 * In the place of gpu/ where the library is built without OpenCL (LIMBER_OPENCL=OFF): no world has a device, and the host's
 * state is always the state.
 */
#include "gpu/gpu.h"
#include "gpu/look.h"
#include "gpu/state.h"
#include "world/access.h"
#include "world/body.h"

uint32_t lm_device_list(lm_device_info *devices, uint32_t capacity)
{
    (void)devices, (void)capacity;
    return 0;
}

void lmi_gpu_open(lm_world *world, const char *device, const lmi_gpu_limits *limits)
{
    (void)limits;
    lmi_fail(world, LM_ERROR_UNSUPPORTED,
             "lm_world_create: device \"%.60s\": the library was built without OpenCL; the CPU steps this world",
             device);
}

bool lm_world_can_share(const lm_world *world)
{
    (void)world;
    return false;
}

lm_result lm_body_share_skin(lm_world *world, lm_body_id id, const lm_skin_buffer *positions,
                             const lm_skin_buffer *normals)
{
    (void)positions, (void)normals;
    return lmi_body_known(world, id, "lm_body_share_skin") ? LM_ERROR_UNSUPPORTED : LM_ERROR_ID;
}

lm_result lm_world_share_skins(lm_world *world, lm_dvec3 base)
{
    (void)world, (void)base;
    return LM_ERROR_UNSUPPORTED;
}

/* ---- the host has the state, and steps ---- */

void lmi_gpu_close(lm_world *world) { (void)world; }
void lmi_gpu_fetch(const lm_world *world) { (void)world; }
void lmi_gpu_fetch_batch(lm_world *world, uint32_t batch) { (void)world, (void)batch; }
void lmi_gpu_fetch_step(lm_world *world) { (void)world; }
void lmi_gpu_edit(lm_world *world, bool laid) { (void)world, (void)laid; }
void lmi_gpu_edit_batch(lm_world *world, uint32_t batch, bool laid) { (void)world, (void)batch, (void)laid; }

size_t lmi_gpu_memory(const lm_world *world) { return world->memory.used; }

bool lmi_gpu_goals(const lm_world *world, const lmi_body *body, lm_dvec3 from, lm_vec3 *goals)
{
    (void)world, (void)body, (void)from, (void)goals;
    return false;
}

bool lmi_gpu_continues(const lm_world *world, double h)
{
    (void)world, (void)h;
    return false;
}

bool lmi_gpu_take(lm_world *world, double h)
{
    (void)world, (void)h;
    return false;
}

lmi_left lmi_gpu_substep(const lmi_step *step)
{
    (void)step;
    return LMI_LEFT_ALL;
}

void lmi_gpu_resume(const lmi_step *step) { (void)step; }

lmi_gpu_end lmi_gpu_conclude(lm_world *world, double seconds)
{
    (void)world, (void)seconds;
    return LMI_END_SHARED;
}

static bool no(const lm_world *world)
{
    (void)world;
    return false;
}

bool lmi_gpu_tells(const lm_world *world) { return no(world); }

/* ---- and nothing is to be seen elsewhere ---- */

bool lmi_gpu_get_skin(const lm_world *world, const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals,
                      lm_dvec3 *origin)
{
    (void)body, (void)positions, (void)normals, (void)origin;
    return no(world);
}

bool lmi_gpu_look_body(const lm_world *world, const lmi_body *body, bool velocities, lmi_look *look)
{
    (void)body, (void)velocities, (void)look;
    return no(world);
}

void lmi_gpu_look_end(const lm_world *world, lmi_look *look) { (void)world, (void)look; }

bool lmi_gpu_look_sums(const lm_world *world, const lmi_body *body, lmi_look_sums *sums)
{
    (void)body, (void)sums;
    return no(world);
}

bool lmi_gpu_look_stats(const lm_world *world, uint32_t *contacts, lm_dvec3 *outside_impulse)
{
    (void)contacts, (void)outside_impulse;
    return no(world);
}

bool lmi_gpu_look_totals(const lm_world *world, lm_totals *totals)
{
    (void)totals;
    return no(world);
}

lmi_seen *lmi_gpu_look_all(const lm_world *world)
{
    (void)world;
    return NULL;
}

void *lmi_gpu_scratch_take(const lm_world *world, size_t count, size_t size)
{
    (void)world, (void)count, (void)size;
    return NULL;
}

void lmi_gpu_scratch_give(const lm_world *world, void *scratch, size_t count, size_t size)
{
    (void)world, (void)scratch, (void)count, (void)size;
}
