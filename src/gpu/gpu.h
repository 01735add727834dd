/*
 * gpu/: the same stages on a device (OpenCL, any vendor), and what the host asks of it.
 *
 * reads   a world as its host has laid it out
 * writes  positions, velocities and state of bodies, on the device and back on the host
 * uses    base contact lattice world; in sources also collide cut fracture match octree skeleton skin touch
 *
 *   device.c    the OpenCL library of the machine, if there is one; which devices there are, and opening one
 *   program.c   kernels from the texts that are compiled in
 *   buffer.c    memory of the device
 *   ability.c   what it can step
 *   small.c     lattices that one work-group steps by itself
 *   kinds.c     lattices that flow, are damped region by region, have examples or are in several parts (kinds_layout.c)
 *   places.c    where batches and bodies stand on the device, and which of them are there as they are
 *   layout.c    a world as the kernels want it: built where something has changed, and uploaded (layout_tiles.c and
 *               layout_lists.c: lattices; clusters.c: clusters, and their substep)
 *   octrees.c   octrees, up to what pulls their particles
 *   large.c     octrees and clusters that are too large for one work-group
 *   sever.c     octrees and clusters that a blade has divided: each part is damped by itself
 *   example_regions.c  regions of clusters that have examples
 *   gpu_meet.c  bodies that keep each other out by depth cube maps, and who is near whom (meet_layout.c)
 *   walls.c     colliders that the kernels which move particles do not see: meshes, height maps, very many; and
 *               who touches them
 *   stand.c     bodies that answer colliders as a whole with their bare particles
 *   gpu_held.c  pins, drags and bones
 *   rest.c      who has come to rest
 *   account.c   who touches whom, where bodies meet
 *   solve.c     contacts that are solved: bodies with each other, touch points with colliders (solve_layout.c, solve_program.c;
 *               solve_whole.c: those that are processed in order; solve_self.c: bodies that touch themselves or were
 *               cut; solve_rubble.c: that can break; solve_ground.c: on meshes and height maps)
 *   press.c     bodies that are pushed out of each other by a force, among all that solve.c knows
 *   forces.c    wind, point fields and forces of a single step
 *   gpu.c       substeps
 *   fetch.c     the way back, and the end of a device that is lost
 *   look.c      what is known without the way back: single bodies, sums
 *   skins.c     skins, and what goes back of them (skin_layout.c)
 *   share.c     skins into buffers of OpenGL
 *
 * State lives in one place at a time. After an upload the device has it, and steps; the host's copy is behind until somebody
 * reads it (lmi_gpu_fetch in state.h), and the device's is void when somebody changes something (lmi_gpu_edit); world/access.c
 * says so. That holds batch by batch: where one body is changed (lmi_gpu_edit_batch), its batch is read back and uploaded again, and
 * the others stay on the device where they are. What the device cannot step the host does, in this substep or for good, with the same state; a line in
 * the log says so.
 */
#ifndef LMI_GPU_H
#define LMI_GPU_H

#include "base/os.h"
#include "gpu/opencl.h"
#include "gpu/records.h"
#include "world/world.h"

#include <stdatomic.h>
#include <string.h>

/* How a device is opened: what the world's definition says besides its name, and what tests and benchmarks set; zeros for nothing. */
typedef struct lmi_gpu_limits {
    size_t memory;                   /* bytes that may be taken of the device */
    const char *options;             /* more options for the compiler */
    uint32_t tile_x, tile_y, planes; /* of tiles; 0: as the body wants it */
    uint32_t levels;                 /* of contacts one after the other that are the device's in any case */
    uint32_t move_planes;            /* of tiles that are moved; 0: as above */
    const lm_gl *gl;                 /* that skins are shared with; read when it is opened */
    const char *library;             /* instead of the machine's OpenCL */
    uint32_t operations; /* launches, reads and writes that succeed before the device is lost; 0: all of them */
    bool whole;          /* whatever changes, everything is laid out again */
} lmi_gpu_limits;

/* Memory of the device. It is also in a table of the device (lmi_gpu_allocation), which frees it in the end. */
typedef struct lmi_gpu_buffer {
    cl_mem memory;
    size_t size;
    uint32_t place; /* in the table */
} lmi_gpu_buffer;

typedef struct lmi_gpu_allocation {
    cl_mem memory;    /* null: nobody's */
    uint64_t *hashes; /* of what lmi_gpu_renew put there, piece by piece */
    uint32_t hash_count, hash_room;
} lmi_gpu_allocation;

/* What batches have a place for, each counted by itself. */
typedef enum lmi_gpu_count {
    LMI_GPU_PARTICLES,
    LMI_GPU_LANE_BLOCKS,
    LMI_GPU_ROWS,
    LMI_GPU_LIST_ROWS,
    LMI_GPU_SHARES,
    LMI_GPU_NODE_BLOCKS, /* of octrees: blocks of virtual nodes and of regions, rows of nodes, of lists, and pieces of these */
    LMI_GPU_REGION_BLOCKS,
    LMI_GPU_NODES,
    LMI_GPU_LEAF_ROWS,
    LMI_GPU_NODE_ROWS,
    LMI_GPU_SPREAD_ROWS,
    LMI_GPU_LIST_PIECES,
    LMI_GPU_COUNTS
} lmi_gpu_count;

/* A batch as it was laid out. A batch that grows a little stays where it is, so that nothing else has to move. */
typedef struct lmi_gpu_batch {
    uint32_t first[LMI_GPU_COUNTS], room[LMI_GPU_COUNTS];
    uint32_t left[LMI_GPU_COUNTS],
        left_room[LMI_GPU_COUNTS]; /* where it was before it went elsewhere, in this layout */
    uint64_t brought;              /* serial of the state of it that the host has */
    bool laid;                     /* the device has it as it is, but that its state may be another */
    bool valid;                    /* and its state too */
    bool coming;                   /* it is being brought back */
} lmi_gpu_batch;

typedef struct lmi_gpu_tiles {
    lmi_gpu_buffer buffer;
    uint32_t count, capacity;
    lmi_gpu_tile *items; /* while they are laid out */
} lmi_gpu_tiles;

/* The kernels of lattices for one width, tile and material, and what they are to do. */
typedef struct lmi_gpu_variant {
    struct lmi_gpu_kind {
        uint32_t width, tile_x, tile_y, channels;
        uint32_t cells; /* for bodies of which one work-group steps each: corners of a box; 0: for tiles */
        uint32_t linear, surfaces, even; /* linear fits; colliders; all regions have the same share of the stiffness */
        uint32_t lists;                  /* some regions are irregular */
    } kind;
    cl_program program;
    cl_kernel fit, move, small;
    lmi_gpu_tiles to_fit, to_move; /* the same corners, in columns of different lengths */
    lmi_gpu_buffer smalls;
    uint32_t small_count, small_capacity;
    lmi_gpu_small *small_body;
} lmi_gpu_variant;

#define LMI_GPU_VARIANTS 512

/* Lists of one kind, of all lattices. */
typedef struct lmi_gpu_lists {
    lmi_gpu_buffer lists, entries;
} lmi_gpu_lists;

/* A kernel: where it is kept, and how long it took, where they are timed. */
typedef struct lmi_gpu_kernel {
    cl_kernel *kept;
    cl_program program;
    char name[24];
    uint64_t nanoseconds;
} lmi_gpu_kernel;

/* The state of one of the files here, made when it is first needed (lmi_gpu_make_part). */
#define LMI_GPU_PARTS 24
typedef struct lmi_gpu_part {
    void *memory;
    size_t size;
    void (*end)(struct lmi_gpu *gpu, void *part);
} lmi_gpu_part;

struct lmi_gpu {
    lmi_cl cl;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue side; /* for what is read while `queue` goes on */
    cl_event prepared;     /* the last `prepare` is done */
    char name[128];
    uint32_t units;       /* multiprocessors */
    char options[256];    /* for the compiler, those of the device */
    const char *rounding; /* the option for division and square root that round correctly, or empty */
    lmi_gpu_limits limits;
    size_t used, largest; /* bytes of the device, and the most that one buffer may have */
    size_t total;         /* that it has */
    cl_int status;        /* the first failure; CL_SUCCESS while all is well */

    lmi_gpu_allocation *memories; /* all that was made, and is freed when the device is closed */
    uint32_t memory_count, memory_capacity;
    cl_program *programs;
    uint32_t program_count, program_capacity;
    lmi_gpu_kernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    lmi_gpu_part part[LMI_GPU_PARTS];
    uint32_t part_total;

    cl_program program;
    cl_kernel prepare, conclude, settle, measure, reduce;
    lmi_gpu_variant variant[LMI_GPU_VARIANTS];
    uint32_t variant_count;
    struct lmi_gpu_clusters *clusters;
    struct lmi_gpu_octrees *octrees; /* null until there are any, as are: */
    struct lmi_gpu_forces *forces;
    struct lmi_gpu_meet *meet;
    struct lmi_gpu_walls *walls;
    struct lmi_gpu_held *held;
    struct lmi_gpu_resting *resting;
    struct lmi_gpu_solver *solver;
    struct lmi_gpu_accounts *accounts;
    struct lmi_gpu_stands *standing;
    struct lmi_gpu_presses *pressing;
    struct lmi_gpu_examples *examples;
    struct lmi_gpu_matters *matters;
    struct lmi_gpu_severed *severed;
    struct lmi_gpu_larges *larges;
    struct lmi_gpu_skinning *skins;
    struct lmi_gpu_looks *looks;
    struct lmi_gpu_shares *shared;

    lmi_gpu_buffer x, v, bodies, before, stop, surfaces, chunks, parts, partials, fresh, fresh_chunks;
    lmi_gpu_buffer map, constants_of, kinds, constants, regions, linear_regions, corners;
    lmi_gpu_buffer irregular, irregular_moments, kept, corrected, corrections;
    lmi_gpu_lists gather, scatter;

    lmi_gpu_body *records; /* as they were last uploaded or fetched */
    uint32_t *slots;       /* of the bodies, in the order of the records */
    uint32_t *batch_of;    /* the same: batches that they were in when they were laid out */
    uint32_t *renumber;    /* [old records] while some are laid out again: where each is now, or LMI_GPU_NONE */
    uint32_t body_count, body_capacity, slot_capacity, batch_of_capacity, renumber_capacity;
    uint32_t lattice_count; /* of them, which come first */
    uint32_t chunk_count, part_count;
    lmi_gpu_batch *batch;
    uint32_t batch_count, batch_capacity;
    uint32_t end[LMI_GPU_COUNTS]; /* of all places */
    struct lmi_gpu_plan *plan;    /* what lattices were laid out as (layout.h); null where nothing of it can be kept */
    uint32_t particles;           /* places of all batches */
    float *staging; /* [2][particles][4]: positions and velocities on their way back; none where there are very many */
    size_t staging_size;

    bool holds;     /* the world is laid out and uploaded as it is */
    bool fits;      /* it is laid out as it is, but for single batches */
    bool whole;     /* while it is laid out: all of it, not single batches */
    bool mixed;     /* the host has newer state of some batches, the device of others */
    bool shares;    /* the host does contacts: state is read back and uploaded in every substep */
    bool walled;    /* colliders have kernels of their own (walls.h) */
    bool stands;    /* and know bodies that answer them as a whole (stand.h) */
    bool stiff;     /* there are stiff bodies with bare particles */
    bool breaks;    /* bodies may break: the host looks at them before each step */
    bool grips;     /* there are pins, drags or bones (gpu_held.h) */
    bool meets;     /* bodies keep each other out on the device: by cube maps, or */
    bool presses;   /* or found as if they were, and pushed by a force (press.h) */
    double h;       /* for this substep */
    lm_dvec3 given; /* momentum from gravity since the last fetch */
    double total_mass;
    _Atomic bool newer; /* the device's state is newer than the host's */
    lmi_mutex fetching;
    const char *said;    /* the last reason that was given */
    bool told;           /* that the host has a part */
    bool timed;          /* waits after every launch, and counts the device's time: lmi_gpu_time_kernels */
    uint32_t told_stops; /* bits, as LMI_GPU_RIGID: why substeps were the host's, as far as it was said */
    uint32_t wary;       /* steps for which the host does the contacts */
    uint32_t fast_steps; /* steps for which bodies may answer colliders as a whole, because one did */
    uint32_t operations;
    uint64_t since; /* substeps since the host's state was the device's */
    bool lost;      /* it failed: the host has taken over for good */

    uint64_t serial, layouts; /* of the state that the device has, and of how it is laid out: never 0 then */
    uint64_t looked_at;       /* serial of the state that `look_count` bodies of were read one by one */
    uint32_t look_count;
    uint64_t read_bytes, written_bytes; /* from the device and to it, in all */
    uint64_t patches;                   /* layouts of single batches */
    lmi_memory *memory;
};
typedef struct lmi_gpu lmi_gpu;

/* Opens the device that a definition names, or reports in one line why not and leaves the world to the host. */
void lmi_gpu_open(lm_world *world, const char *device, const lmi_gpu_limits *limits);
void lmi_gpu_close(lm_world *world);

/* Whether a step of substeps of h seconds can go on where the last ended: nobody has changed anything since, and the host has
 * no part in it. */
bool lmi_gpu_goes_on(const lm_world *world, double h);
bool lmi_gpu_continues(const lm_world *world, double h); /* and nothing may break, which the host has to see first */

/* Whether the device keeps an account of who touches what: somebody wants to know. At the end of such a step it is taken; false: the
 * device is lost. */
bool lmi_gpu_tells(const lm_world *world);
bool lmi_gpu_events_tell(lm_world *world);

/* After the host has prepared a step: uploads. False: the host has to step, now. */
bool lmi_gpu_take(lm_world *world, double h);

/* The sums of all bodies from their particles, after something other than a substep has changed these. */
bool lmi_gpu_measure(lmi_gpu *gpu);

/* What a device leaves of a substep to the host, which then has the state. */
typedef enum lmi_left {
    LMI_LEFT_NOTHING,
    LMI_LEFT_CONTACTS, /* drags, bones, colliders, pins, bodies that touch each other; then lmi_gpu_resume */
    LMI_LEFT_ALL       /* and the rest of the step */
} lmi_left;
lmi_left lmi_gpu_substep(const lmi_step *step);

/* After the host's contacts: the state is the device's again. */
void lmi_gpu_resume(const lmi_step *step);

/* The end of a step whose last substep was the device's: the host had a part in it and concludes it; nobody else had, and the host's
 * state is behind; or that, and some bodies have come to rest. */
typedef enum lmi_gpu_end { LMI_END_SHARED, LMI_END_ALONE, LMI_END_RESTS } lmi_gpu_end;
lmi_gpu_end lmi_gpu_conclude(lm_world *world, double seconds);

/* Waits until the device has nothing left to do. */
void lmi_gpu_finish(const lm_world *world);

/* buffer.c: all return false and keep the status after a failure. */
bool lmi_gpu_time_kernels(lmi_gpu *gpu, bool timed); /* for benchmarks: from now on, or no more */
bool lmi_gpu_reserve(lmi_gpu *gpu, lmi_gpu_buffer *buffer, size_t size);
void lmi_gpu_free(lmi_gpu *gpu, lmi_gpu_buffer *buffer); /* before the end, where another takes its place */
void lmi_gpu_free_memories(lmi_gpu *gpu);
bool lmi_gpu_write(lmi_gpu *gpu, const lmi_gpu_buffer *to, size_t offset, const void *from, size_t size);
bool lmi_gpu_read(lmi_gpu *gpu, const lmi_gpu_buffer *from, size_t offset, void *to, size_t size);
bool lmi_gpu_copy(lmi_gpu *gpu, const lmi_gpu_buffer *from, const lmi_gpu_buffer *to, size_t size);
bool lmi_gpu_put(lmi_gpu *gpu, lmi_gpu_buffer *buffer, const void *from, size_t size); /* reserve and write */
bool lmi_gpu_clear(lmi_gpu *gpu, const lmi_gpu_buffer *buffer, size_t size);           /* to zeros */
bool lmi_gpu_clear_at(lmi_gpu *gpu, const lmi_gpu_buffer *buffer, size_t offset, size_t size);

/* As lmi_gpu_reserve, but what is there stays: in a buffer with room for more, where it has to be another one. */
bool lmi_gpu_grow(lmi_gpu *gpu, lmi_gpu_buffer *buffer, size_t size);

/* As lmi_gpu_put, for what no kernel writes (or only what the substep itself has no more use for): pieces that were put there
 * before are not uploaded again. */
bool lmi_gpu_renew(lmi_gpu *gpu, lmi_gpu_buffer *buffer, const void *from, size_t size);

/* Moves things of `size` bytes to other places of a buffer, which gets `count` of them: thing n comes from place from[n] of those
 * that are there, or from nowhere (LMI_GPU_NONE). */
bool lmi_gpu_rearrange(lmi_gpu *gpu, lmi_gpu_buffer *buffer, const uint32_t *from, uint32_t count, size_t size);

/* An event for when all that was queued so far is done, and a read after it that waits for nothing else. */
bool lmi_gpu_mark(lmi_gpu *gpu, cl_event *event);
bool lmi_gpu_read_after(lmi_gpu *gpu, cl_event *event, const lmi_gpu_buffer *from, void *to, size_t size);

/* A number for some bytes. */
static inline uint64_t lmi_gpu_hash(const void *from, size_t size)
{
    const unsigned char *bytes = from;
    uint64_t hash = 0xcbf29ce484222325u ^ size; /* zeros at the end count */
    for (size_t n = 0; n < size; n += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + n, size - n < 8 ? size - n : 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* One argument of a kernel. */
typedef struct lmi_gpu_argument {
    size_t size;
    const void *value;
} lmi_gpu_argument;
#define LMI_GPU_BUFFER(buffer)                                                                                         \
    {                                                                                                                  \
        sizeof(cl_mem), &(buffer).memory                                                                               \
    }
#define LMI_GPU_VALUE(value)                                                                                           \
    {                                                                                                                  \
        sizeof(value), &(value)                                                                                        \
    }
bool lmi_gpu_run(lmi_gpu *gpu, cl_kernel kernel, const lmi_gpu_argument *arguments, uint32_t count,
                 const size_t groups[2], const size_t group[2]);
#define LMI_GPU_RUN(kernel, arguments, groups, group)                                                                  \
    lmi_gpu_run(gpu, kernel, arguments, sizeof(arguments) / sizeof *(arguments), groups, group)

/* As many groups of 64 as hold `count`. */
#define LMI_GPU_GROUPS_OF(count)                                                                                       \
    {                                                                                                                  \
        ((count) + 63) / 64, 1                                                                                         \
    }

/* program.c: builds a program from texts that are compiled in, with these options of the compiler (null: those that all kernels
 * share); false after a failure, with the compiler's words in the log. */
bool lmi_gpu_build(const lm_world *world, lmi_gpu *gpu, cl_program *to, const char *const *texts, const char *options);
int lmi_gpu_common_options(const lmi_gpu *gpu, char *to, size_t size); /* names that all kernels share */
int lmi_gpu_lattice_options(char *to, size_t size);                    /* and those of lattices */
bool lmi_gpu_build_bodies(const lm_world *world, lmi_gpu *gpu);
lmi_gpu_variant *lmi_gpu_find_variant(const lm_world *world, lmi_gpu *gpu, const struct lmi_gpu_kind *kind);

/* Kernels of a program, by name, to where they are kept, which has to last as long as the device; those that are there stay. */
typedef struct lmi_gpu_named {
    cl_kernel *to;
    const char *name;
} lmi_gpu_named;
bool lmi_gpu_find_kernels(lmi_gpu *gpu, cl_program program, const lmi_gpu_named *kernels, size_t count);
#define LMI_GPU_FIND(program, kernels) lmi_gpu_find_kernels(gpu, program, kernels, sizeof(kernels) / sizeof *(kernels))

/* A program and its kernels are no longer wanted: where they are kept is null from then on. All programs. */
void lmi_gpu_drop_program(lmi_gpu *gpu, cl_program *program);
void lmi_gpu_free_programs(lmi_gpu *gpu);

/* Zeros for the state of one of the files here, until the device is closed; null without memory. `end` frees what it has of the
 * host's memory; may be null. */
typedef void lmi_gpu_end_part(lmi_gpu *gpu, void *part);
void *lmi_gpu_make_part(lmi_gpu *gpu, size_t size, lmi_gpu_end_part *end);

/* Whether there are so few lattices that each gets a large work-group to conclude a substep. */
static inline bool lmi_gpu_has_few(const lmi_gpu *gpu) { return gpu->lattice_count <= 64; }

/* fetch.c: a batch back, or all of them, with the records from this buffer; false: the device is lost, and nothing has changed here.
 * The device is lost, and why: one line, however often it is said. */
bool lmi_gpu_bring(lm_world *world, const lmi_gpu_buffer *records,
                   uint32_t batch); /* LMI_GPU_NONE: all that are behind */
void lmi_gpu_lose(lm_world *world, const char *why);

/* Particles are read back through a copy of their own: up to so many, or where they are in many batches. */
#define LMI_GPU_STAGED (1u << 22)
#define LMI_GPU_FEW_BATCHES 16u
bool lmi_gpu_is_staged(const lm_world *world, const lmi_gpu *gpu);

/* ability.c and layout.c */
const char *lmi_gpu_reason(const lm_world *world);    /* why the device cannot step this world, or null */
bool lmi_gpu_contacts_on_host(const lm_world *world); /* whether the host has a part in each substep */
bool lmi_gpu_meets(const lm_world *world);            /* whether bodies can meet each other on the device */
bool lmi_gpu_has_meeters(const lm_world *world);      /* and any of them are awake */
bool lmi_gpu_needs_solver(const lm_world *world, const lmi_body *body);
bool lmi_gpu_is_in_pieces(const lmi_body *body); /* it has broken */
bool lmi_gpu_lay_out(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_refresh(lm_world *world, lmi_gpu *gpu); /* state that is not valid, of a world that is laid out as it is */
bool lmi_gpu_upload_state(lm_world *world, lmi_gpu *gpu,
                          bool all);                      /* positions and velocities; else what is not valid */
bool lmi_gpu_measure_void(lm_world *world, lmi_gpu *gpu); /* the sums of bodies whose state has gone over */
void lmi_gpu_plan_free(lm_world *world, lmi_gpu *gpu);

/* places.c: whether the device's state of a batch is newer than the host's; the device's is void, of all batches, which are still
 * laid out as they are if `laid`; whether all are; whether some may stay while others are laid out again. */
bool lmi_gpu_is_behind(const lmi_gpu *gpu, uint32_t batch);
void lmi_gpu_void(lmi_gpu *gpu, bool laid);
bool lmi_gpu_all_laid(const lm_world *world, const lmi_gpu *gpu);
bool lmi_gpu_can_patch(const lm_world *world, const lmi_gpu *gpu);

/* Gives batches their places, and bodies their records: all of them again (gpu->whole), or those that are not laid out. And when all
 * is uploaded. */
bool lmi_gpu_plan_lasts(const lm_world *world, const lmi_gpu *gpu); /* layout.c: the same of what lattices have */
bool lmi_gpu_place_batches(lm_world *world, lmi_gpu *gpu);
bool lmi_gpu_place_bodies(lm_world *world, lmi_gpu *gpu);
void lmi_gpu_places_taken(lmi_gpu *gpu);

/* Whether a body is on the device as it is, with its state; and the first of its particles there. */
static inline bool lmi_gpu_is_kept(const lmi_gpu *gpu, const lmi_body *body) { return gpu->batch[body->batch].valid; }
static inline uint32_t lmi_gpu_first_of(const lmi_gpu *gpu, const lmi_body *body)
{
    return gpu->batch[body->batch].first[LMI_GPU_PARTICLES] + body->first;
}

/* Batches one after the other that `wanted` is true of, and whose places are so too: from *begin on, which is moved behind them;
 * false when there are no more. */
typedef bool lmi_gpu_wanted(const lmi_gpu_batch *batch);
bool lmi_gpu_next_run(const lmi_gpu *gpu, lmi_gpu_wanted *wanted, lmi_gpu_count count, uint32_t *begin, uint32_t *end);

#endif
