/*
 * Contacts that are solved, on a device (kernels/solve_find.cl, solve.cl): bodies that answer locally, with each other and with
 * colliders. Who may touch whom, touch points and carriers are those of gpu_meet.h.
 */
#ifndef LMI_GPU_SOLVE_H
#define LMI_GPU_SOLVE_H

#include "contact/cleft.h"
#include "gpu/gpu.h"
#include "gpu/walls.h"

/* The kernels, by their names without "solve_". */
/* clang-format off */
#define LMI_GPU_SOLVE_KERNELS(X)                                                                                       \
    X(line) X(curve) X(order) X(find) X(pairs) X(stops) X(count) X(offsets) X(claim) X(fill) X(buckets) X(list) X(sort)         \
    X(load) X(weigh) X(warm) X(begin) X(velocity) X(back) X(shift) X(gather) X(apply) X(twist) X(untwist) X(keep)               \
    X(push) X(chain) X(merge) X(groups) X(levels) X(sweep) X(end)                                                                \
    X(impulse) X(again) X(inner) X(slack) X(discs) X(itself) X(starts) X(behind) \
    X(rubble) X(grains) X(rubbed) X(rub) X(untwist_pieces) \
    X(crush) X(brace) X(braced) X(arms) X(steps) X(pass) X(share) X(give) X(renew)
/* clang-format on */

/* Bodies that touch themselves, and octrees that were cut: solve_self.c. */
typedef struct lmi_gpu_self {
    lmi_gpu_buffer rest;                                    /* of touch points */
    lmi_gpu_buffer cuts, bits, ranks, places, links, bends; /* of cut octrees */
    lmi_gpu_buffer discs, disc_of, heads, disc_met;         /* on the sides of cuts */
    uint32_t count;                                         /* bodies that touch themselves */
    uint32_t disc_count;
} lmi_gpu_self;

/* Bodies that can break: solve_rubble.c. */
typedef struct lmi_gpu_rubble {
    lmi_gpu_buffer grains, heads, frame; /* balls and touch points, in a table by cells of space */
    lmi_gpu_buffer rubbed;               /* of each touch point: how many balls it touches */
    lmi_gpu_buffer pieces, points, particles;
    uint32_t grain_count; /* 0: nothing can break */
    uint32_t table, piece_count;
} lmi_gpu_rubble;

/* Bodies that brace themselves: solve_brace.c. */
typedef struct lmi_gpu_bracing {
    lmi_gpu_buffer deepest;        /* of each partner of each body */
    lmi_gpu_buffer braces, counts; /* LMI_BRACES of each body, and how many there are */
    lmi_gpu_buffer braced;         /* whether a body is in any */
    lmi_gpu_buffer list, lengths;  /* of those of each body, on either side */
    lmi_gpu_buffer ahead;          /* of each brace, twice */
    lmi_gpu_buffer state, shares;
    uint32_t substeps; /* in which there were any, so far */
} lmi_gpu_bracing;

typedef struct lmi_gpu_solver {
    cl_program program;
    bool torn; /* it knows of bodies that were cut or touch themselves */
#define LMI_GPU_SOLVE_KERNEL(name) cl_kernel name##_kernel;
    LMI_GPU_SOLVE_KERNELS(LMI_GPU_SOLVE_KERNEL)
#undef LMI_GPU_SOLVE_KERNEL

    /* Bodies as solids; cells of lattices; what points are. */
    lmi_gpu_buffer solids, moulds, distances, rests, levers, facing, corners, around, cell_of, cells, leaders;
    lmi_gpu_buffer windows, window_riders; /* where each begins; levers, with the carrier as their last float */
    lmi_gpu_buffer inner_of;               /* bits of the particles of each block: no touch point rides on them */
    /* Contacts with each carrier and cell. */
    lmi_gpu_buffer bucket_owner, map_bucket, bucket_counts, bucket_first, listed;
    /* Of this substep; and state. */
    lmi_gpu_buffer axis, stops, met, turned, walls, first, found, contacts, loads, warmth;
    lmi_gpu_buffer ways, noticed;  /* of points: lmi_warm.out and .other; and what this substep finds */
    lmi_gpu_buffer near, rules;    /* colliders that each body may touch; contact rules */
    lmi_gpu_buffer starts, behind; /* of points, where there are meshes or height maps: solve_ground.c */
    /* Bodies that answer as a whole: solve_whole.c. */
    lmi_gpu_buffer pushes, unsorted, chains, groups, roots, members, heads, order, levels, sweeps;
    lmi_gpu_self self;
    lmi_gpu_rubble rubble;
    lmi_gpu_bracing bracing;
    uint32_t bucket_count, contact_count, contact_room;
    uint32_t whole_count; /* contacts where a side answers as a whole, at most */
    uint32_t most_whole;  /* the same, of the last substep */
    uint32_t most_levels; /* one after the other, of them */
    uint32_t last_whole;  /* such contacts when walls had the last word */
    bool alone;           /* the contacts of each body are solved by themselves */
    bool grounds;         /* its program knows meshes and height maps */
    float *room; /* [points][4] what points were given, on its way; then [points][4] what they left behind them */
    size_t room_size;
    uint32_t *points_of; /* [slots][2] first point of a body and how many it has, as they were laid out */
    uint32_t slots, slot_capacity;
} lmi_gpu_solver;

/* Arguments of kernels in solve.c and solve_self.c: the macros of the same names in the kernels' texts. */
#define LMI_GPU_SOLID_ARGUMENTS                                                                                        \
    LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->moulds),     \
        LMI_GPU_BUFFER(m->map_now), LMI_GPU_BUFFER(s->distances), LMI_GPU_BUFFER(s->rests), LMI_GPU_BUFFER(s->facing), \
        LMI_GPU_BUFFER(m->now), LMI_GPU_VALUE(fall), LMI_GPU_VALUE(seconds), LMI_GPU_BUFFER(m->cubes),                 \
        LMI_GPU_BUFFER(m->depths), LMI_GPU_BUFFER(s->self.cuts), LMI_GPU_BUFFER(s->self.bits),                         \
        LMI_GPU_BUFFER(s->self.ranks), LMI_GPU_BUFFER(s->self.places), LMI_GPU_BUFFER(s->self.links),                  \
        LMI_GPU_BUFFER(s->self.bends), LMI_GPU_BUFFER(s->ways)
#define LMI_GPU_SELF_ARGUMENTS                                                                                         \
    LMI_GPU_BUFFER(s->self.rest), LMI_GPU_BUFFER(s->self.discs), LMI_GPU_BUFFER(s->self.disc_of),                      \
        LMI_GPU_BUFFER(s->self.heads)

#define LMI_GPU_HOLD_ARGUMENTS                                                                                         \
    LMI_GPU_BUFFER(m->point_first), LMI_GPU_BUFFER(m->point_rider), LMI_GPU_BUFFER(m->point_weight),                   \
        LMI_GPU_BUFFER(m->map_first), LMI_GPU_BUFFER(m->map_rider), LMI_GPU_BUFFER(m->map_hold),                       \
        LMI_GPU_BUFFER(s->corners)
#define LMI_GPU_WALL_ARGUMENTS                                                                                         \
    LMI_GPU_BUFFER(gpu->surfaces), LMI_GPU_BUFFER(s->near), LMI_GPU_BUFFER(s->rules), LMI_GPU_VALUE(rules),            \
        LMI_GPU_BUFFER(w->solids), LMI_GPU_BUFFER(w->heights), LMI_GPU_BUFFER(w->spans), LMI_GPU_BUFFER(w->faces),     \
        LMI_GPU_BUFFER(w->nodes), LMI_GPU_BUFFER(w->cells), LMI_GPU_BUFFER(s->starts), LMI_GPU_VALUE(seconds)
#define LMI_GPU_LIST_ARGUMENTS                                                                                         \
    LMI_GPU_BUFFER(s->first), LMI_GPU_BUFFER(s->met), LMI_GPU_BUFFER(s->walls), LMI_GPU_BUFFER(s->rubble.rubbed),      \
        LMI_GPU_BUFFER(s->bucket_counts), LMI_GPU_BUFFER(s->bucket_first), LMI_GPU_BUFFER(s->listed)

/* How far what falls from rest comes in a substep, twice over: lmi_contact_slop. */
static inline double lmi_gpu_fall(const lmi_step *step) { return 2.0 * step->h * step->h * dvec_length(step->gravity); }

/* solve_layout.c: everything that does not change in a step, where contacts are solved on the device. False after a failure. */
bool lmi_gpu_solve_lay_out(lm_world *world, lmi_gpu *gpu);

/* The program, or another one where there is more that it has to know of: solve_program.c. False after a failure. */
bool lmi_gpu_solve_find_program(lm_world *world, lmi_gpu *gpu);

/* What points remember, on its way back: read, and then put into the bodies. */
bool lmi_gpu_solve_read(lmi_gpu *gpu);
void lmi_gpu_solve_put(lm_world *world, lmi_gpu *gpu);

/* solve.c. After the particles have moved: contacts, as far as they can be counted. *stop is not 0 where the host must do it. */
bool lmi_gpu_solve_find(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop);

/* solve_self.c: its part of the layout; and the bits of points that touch their own body, after those of other bodies. */
bool lmi_gpu_self_lay_out(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_self_find(lmi_gpu *gpu, const lmi_step *step);
bool lmi_gpu_touches_itself(const lmi_body *body);
static inline bool lmi_gpu_is_cut(const lmi_body *body) { return body->bulk && lmi_is_cut_octree(body); }

/* solve_rubble.c: its part of the layout; the balls that each touch point is in, their contacts, and none of them when walls have the last
 * word; and the spin of pieces. */
bool lmi_gpu_rubble_lay_out(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_rubble_find(lmi_gpu *gpu, const lmi_step *step);
bool lmi_gpu_rubble_fill(lmi_gpu *gpu, const lmi_step *step);
bool lmi_gpu_rubble_forget(lmi_gpu *gpu);
bool lmi_gpu_rubble_untwist(lmi_gpu *gpu);

/* solve_whole.c: how bodies answer, before contacts are looked for. Contacts of those that answer as a whole: arranged, and gone
 * through. All of them do nothing where there are none. last: walls have the last word. */
typedef enum lmi_gpu_sweep { /* as in solve_whole.cl */
                             LMI_GPU_SWEEP_WARM,
                             LMI_GPU_SWEEP_VELOCITIES,
                             LMI_GPU_SWEEP_WEIGH,
                             LMI_GPU_SWEEP_BACK,
                             LMI_GPU_SWEEP_POSITIONS,
                             LMI_GPU_SWEEP_KEEP
} lmi_gpu_sweep;
bool lmi_gpu_push_begin(lmi_gpu *gpu, bool last);
bool lmi_gpu_whole_arrange(lmi_gpu *gpu, bool last, cl_uint *stop);
bool lmi_gpu_whole_sweep(lmi_gpu *gpu, lmi_gpu_sweep mode, uint32_t first, uint32_t end, float h);
bool lmi_gpu_push_end(lmi_gpu *gpu);

/* solve_brace.c: its part of the layout; how much of bodies is crushed, before contacts are looked for; and braces, before these are solved. */
bool lmi_gpu_brace_lay_out(lmi_gpu *gpu);
bool lmi_gpu_crush_find(lmi_gpu *gpu);
bool lmi_gpu_brace_bodies(lmi_gpu *gpu, const lmi_step *step);

/* solve_ground.c. Touch points on meshes and height maps: where points were, after the particles have moved and before anything else
 * moves them; and where these want the points that are still beyond them. Nothing where there are none. */
bool lmi_gpu_solve_begin(lmi_gpu *gpu, double h);
bool lmi_gpu_solve_behind(lmi_gpu *gpu, const lmi_step *step);

/* The walls of a world, or nothing where they need no kernels of their own. */
const lmi_gpu_walls *lmi_gpu_walls_there(const lmi_gpu *gpu);

/* Solves them, and measures the bodies. */
bool lmi_gpu_solve(lmi_gpu *gpu, const lmi_step *step);

#endif
