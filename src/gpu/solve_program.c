/*
 * The program of contacts that are solved. Cuts and self contact, and meshes and height maps, take long to compile: their texts are in
 * it from the first time on when a world has them.
 */
#include "gpu/account.h"
#include "gpu/solve.h"

#include <stdio.h>

typedef struct solve_text {
    const char *name;
    bool grounds; /* for meshes and height maps */
} solve_text;

static const solve_text texts[] = {{"prelude.cl", false},
                                   {"records.h", false},
                                   {"wall_records.h", false},
                                   {"account_records.h", false},
                                   {"vec.h", false},
                                   {"vec.c", false},
                                   {"solid.cl", false},
                                   {"rule.h", false},
                                   {"triangle.h", true},
                                   {"triangle.c", true},
                                   {"mesh.h", true},
                                   {"mesh_query.c", true},
                                   {"heights.h", true},
                                   {"solid.h", true},
                                   {"heights_query.c", true},
                                   {"solid_depth.c", true},
                                   {"quad.cl", false},
                                   {"depth.h", false},
                                   {"stretch.h", false},
                                   {"soft.h", false},
                                   {"braced.h", false},
                                   {"curve.h", false},
                                   {"disc.h", false},
                                   {"ball.h", false},
                                   {"contact.cl", false},
                                   {"solid_at.cl", true},
                                   {"solve_cut.cl", false},
                                   {"octree_voxels.h", false},
                                   {"octree_sight.c", false},
                                   {"firm.h", false},
                                   {"push.cl", false},
                                   {"solve_holds.cl", false},
                                   {"cubes.cl", false},
                                   {"solve_wall_at.cl", false},
                                   {"solve_find.cl", false},
                                   {"solve_self.cl", false},
                                   {"solve_contacts.cl", false},
                                   {"solve.cl", false},
                                   {"solve_whole.cl", false},
                                   {"solve_brace.cl", false},
                                   {"solve_sweep.cl", false},
                                   {"solve_walls.cl", false},
                                   {"press.cl", false},
                                   {"solve_rubble.cl", false},
                                   {"account.cl", false},
                                   {"account_solve.cl", false}};

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_solver *s)
{
    const char *names[sizeof texts / sizeof *texts + 1] = {NULL};
    size_t count = 0;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        if (s->grounds || !texts[n].grounds) {
            names[count++] = texts[n].name;
        }
    }
#define KERNEL(name) {&s->name##_kernel, "solve_" #name},
    const lmi_gpu_named kernels[] = {LMI_GPU_SOLVE_KERNELS(KERNEL)};
#undef KERNEL
    char options[1024];
    int length = lmi_gpu_common_options(gpu, options, sizeof options);
    snprintf(options + length, sizeof options - (size_t)length, "%s%s", s->torn ? " -DTORN" : "",
             s->grounds ? " -DSOLVE_SOLIDS" : "");
    return lmi_gpu_build(world, gpu, &s->program, names, options) && LMI_GPU_FIND(s->program, kernels);
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_solver *s = part;
    lmi_release(gpu->memory, s->room, s->room_size, sizeof *s->room);
    lmi_release(gpu->memory, s->points_of, s->slot_capacity, 2 * sizeof *s->points_of);
}

bool lmi_gpu_solve_find_program(lm_world *world, lmi_gpu *gpu)
{
    bool torn = gpu->solver && gpu->solver->torn, grounds = gpu->solver && gpu->solver->grounds;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        torn = torn || lmi_gpu_touches_itself(body) || lmi_gpu_is_cut(body);
    }
    LMI_POOL_EACH(&world->colliders, n)
    {
        grounds = grounds || lmi_solid_is(&LMI_POOL_AT(&world->colliders, lmi_collider, n)->solid);
    }
    if (!gpu->solver) {
        gpu->solver = lmi_gpu_make_part(gpu, sizeof *gpu->solver, end);
    } else if (torn != gpu->solver->torn || grounds != gpu->solver->grounds) {
        lmi_gpu_drop_program(gpu, &gpu->solver->program);
    }
    if (!gpu->solver) {
        return false;
    }
    gpu->solver->torn = torn;
    gpu->solver->grounds = grounds;
    return gpu->solver->program || build(world, gpu, gpu->solver);
}
