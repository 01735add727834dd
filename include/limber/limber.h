/*
 * Limber: a real-time deformable-body engine based on shape matching.
 *
 * This header is the whole public interface and its manual. It compiles as C (C11 and later) and as C++.
 *
 * In ten lines:
 *
 *     lm_world_def world_def = lm_world_def_default();
 *     lm_world *world = NULL;
 *     lm_world_create(&world_def, &world);
 *     lm_body_def body_def = lm_body_def_default();
 *     body_def.points = points;                    // rest positions, metres
 *     body_def.point_count = point_count;
 *     lm_body_id body;
 *     lm_body_create(world, &body_def, &body);
 *     for (int frame = 0; frame < 60; frame++) lm_world_step(world, 1.0 / 60.0);
 *     lm_body_get_positions(world, body, lm_dvec3_zero(), positions);
 *
 * Conventions
 *
 *   Space      right-handed, Y up; metres, kilograms, seconds, radians; quaternions are x y z w;
 *              triangles are counter-clockwise seen from outside.
 *   Position   a body keeps an origin in double precision and its particles in single precision around it, so a body
 *              ten kilometres away behaves as one at the origin. Functions that return positions take a `base`: what
 *              you get is relative to it (pass your camera's position, or zero).
 *   Time       lm_world_step advances by a frame, divided into substeps. Stiffness, damping and friction do not depend
 *              on the length of the substep (stiffness as long as it can be reached, see lm_material).
 *   Definitions come from lm_..._def_default(), because zero means something for most parameters. A definition that did
 *              not come from there is refused (its cookie is wrong).
 *   Ids        the world is a pointer, everything in it is an id. {0} is "none". An id of something destroyed stays
 *              invalid; using it gives LM_ERROR_ID. (lm_world_load is the exception: it restores the ids of the time
 *              of saving, and forgets those given out since.)
 *   Failure    data from outside gives an lm_result, and a line to the log callback that says what and where. A call
 *              that fails changes nothing; a lm_..._create that fails sets its id to {0}. Unless a comment says
 *              otherwise, a function that takes an id can return LM_ERROR_ID, one that takes values
 *              LM_ERROR_ARGUMENT, and one that stores something LM_ERROR_MEMORY. A null world, definition or array
 *              where none is allowed is a bug of the caller, and not checked in release builds.
 *   Threads    a world belongs to one thread at a time; different worlds are independent; functions that take a
 *              `const lm_world *` may run concurrently with each other (and may log, when they fail, on the thread that
 *              calls them). Callbacks must not call back into the world (but see lm_substep).
 *   Lifetime   whatever a definition points to is copied; nothing is kept of a caller's array after a call returns.
 *   Sameness   for the same calls the state is the same to the last bit, whatever the number of workers and the
 *              instruction set.
 */
#ifndef LIMBER_LIMBER_H
#define LIMBER_LIMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(LM_SHARED)
#ifdef LM_BUILDING
#define LM_API __declspec(dllexport)
#else
#define LM_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define LM_API __attribute__((visibility("default")))
#else
#define LM_API
#endif

#define LM_VERSION_MAJOR 0
#define LM_VERSION_MINOR 1
#define LM_VERSION_PATCH 0

/* The version of the library that is linked, as "0.1.0"; LM_VERSION_... are those of this header. */
LM_API const char *lm_version(void);

/* ------------------------------------------------------------------------------------------------------------------
 * Results
 */

typedef enum lm_result {
    LM_OK = 0,
    LM_ERROR_ARGUMENT,    /* a value is out of its range, not finite, or contradicts another */
    LM_ERROR_ID,          /* the id is none, stale, or of another world */
    LM_ERROR_MEMORY,      /* an allocation failed, or a thread could not be started; nothing was changed */
    LM_ERROR_LIMIT,       /* more than the engine can hold (LM_MAX_...) */
    LM_ERROR_CAPACITY,    /* the caller's buffer is too small */
    LM_ERROR_FORMAT,      /* a snapshot is truncated or damaged */
    LM_ERROR_VERSION,     /* a snapshot was written by an incompatible version */
    LM_ERROR_UNSUPPORTED, /* this machine lacks the instruction set or the driver that was requested */
    LM_RESULT_COUNT
} lm_result;

/* A few words of English for a result. Never null, for no value of `result`. */
LM_API const char *lm_result_text(lm_result result);

/* ------------------------------------------------------------------------------------------------------------------
 * Small types
 */

typedef struct lm_vec3 {
    float x, y, z;
} lm_vec3;

typedef struct lm_dvec3 {
    double x, y, z;
} lm_dvec3;

/* A rotation as a unit quaternion; functions that take one normalise it, and refuse a length below 1e-6 or above
 * 1e6. */
typedef struct lm_quat {
    float x, y, z, w;
} lm_quat;

/* A rigid frame: first rotate, then move. */
typedef struct lm_pose {
    lm_dvec3 position;
    lm_quat rotation;
} lm_pose;

static inline lm_dvec3 lm_dvec3_zero(void)
{
    lm_dvec3 zero = {0.0, 0.0, 0.0};
    return zero;
}

static inline lm_pose lm_pose_identity(void)
{
    lm_pose pose = {{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f, 1.0f}};
    return pose;
}

#define LM_DEFINE_ID(name)                                                                                             \
    typedef struct name {                                                                                              \
        uint32_t slot;       /* one-based; 0 is none */                                                                \
        uint32_t generation; /* changes when the slot is used again */                                                 \
    } name

LM_DEFINE_ID(lm_body_id);
LM_DEFINE_ID(lm_collider_id);
LM_DEFINE_ID(lm_mover_id);
LM_DEFINE_ID(lm_pin_id);
LM_DEFINE_ID(lm_drag_id);
LM_DEFINE_ID(lm_field_id);
LM_DEFINE_ID(lm_skeleton_id);
LM_DEFINE_ID(lm_joint_id);

/* ------------------------------------------------------------------------------------------------------------------
 * Host hooks
 */

/* Memory. Both functions or neither (null: the C library's). `allocate` returns `size` bytes aligned to `alignment` (a
 * power of two, at most 64) or null; `release` gets the size that was asked for, and never a null pointer. Called from
 * the thread that calls into the world only. */
typedef struct lm_allocator {
    void *(*allocate)(size_t size, size_t alignment, void *user);
    void (*release)(void *memory, size_t size, void *user);
    void *user;
} lm_allocator;

typedef void lm_task(void *context, uint32_t index);

/* Tasks. `run` calls task(context, index) once for every index below `count`, in any order and on any threads, at most
 * lm_world_get_workers of them at a time, and returns when all are done. Null: the built-in pool. */
typedef struct lm_tasks {
    void (*run)(lm_task *task, void *context, uint32_t count, void *user);
    void *user;
} lm_tasks;

/* Log. One line of at most 255 bytes without a newline, valid during the call; `result` says of what kind. The default
 * writes to standard error; null: silence. Lines of LM_OK say what is allowed and seldom meant, each once: bodies that
 * touch each other and are deeper inside each other than a twentieth of the smaller one's size when they are first stepped
 * (once in a world; see lm_world_def.may_overlap), stiffness that a substep does not reach, a blade without an area, and
 * what a device leaves to the CPU. */
typedef struct lm_log {
    void (*write)(lm_result result, const char *line, void *user);
    void *user;
} lm_log;

/* ------------------------------------------------------------------------------------------------------------------
 * World
 */

typedef struct lm_world lm_world;

typedef enum lm_isa {
    LM_ISA_BEST = 0, /* the widest one this machine has */
    LM_ISA_SCALAR,
    LM_ISA_SSE2,
    LM_ISA_AVX2,
    LM_ISA_AVX512,
    LM_ISA_NEON,    /* 64-bit ARM */
    LM_ISA_SIMD128, /* web assembly */
    LM_ISA_COUNT
} lm_isa;

/* The name of an instruction set: "best", "scalar", "sse2", "avx2", "avx512", "neon", "simd128"; null for anything
 * else. */
LM_API const char *lm_isa_name(lm_isa isa);

/* Whether this build and this machine can run an instruction set; LM_ISA_BEST always. */
LM_API bool lm_isa_supported(lm_isa isa);

#define LM_MAX_WORKERS 64
#define LM_MAX_SUBSTEPS 1024
#define LM_MAX_SAG_SUBSTEPS 256 /* of those that are found, see lm_world_set_substeps */
#define LM_MAX_YOUNG_SUBSTEPS 16
#define LM_MAX_PARTICLES (1u << 26)   /* in a world */
#define LM_MAX_MEMBERSHIPS (1u << 28) /* particles summed over regions, in a world */

/* Coordinates, lengths and speeds beyond these are refused where they are given, and limited while stepping. */
#define LM_MAX_COORDINATE 1e9f /* of a particle from its body's origin, metres */
#define LM_MAX_SPEED 1e6f      /* metres a second, along each axis */
#define LM_MAX_POSITION 1e12   /* of a body, mover or collider in the world, metres */

/* The OpenGL context of a program that draws, for a device that shares skins with it (lm_body_share_skin). */
typedef enum lm_gl_kind { LM_GL_EGL, LM_GL_GLX, LM_GL_WGL, LM_GL_KIND_COUNT } lm_gl_kind;
typedef struct lm_gl {
    lm_gl_kind kind;
    void *context; /* the context, as its kind has it: EGLContext, GLXContext or HGLRC */
    void *display; /* EGLDisplay, Display * or HDC */
} lm_gl;

typedef struct lm_world_def {
    lm_vec3 gravity; /* metres a second squared, up to 1e6 along each axis; default (0, -9.81, 0) */
    uint32_t
        substeps; /* of each lm_world_step; 1 to LM_MAX_SUBSTEPS, or 0 (default): as many as are needed, see below */
    uint32_t workers; /* threads that work on a step, the caller's among them, at most LM_MAX_WORKERS; 0 (default): one
                          for each core */
    lm_isa isa;       /* default LM_ISA_BEST; results do not depend on it */
    /* what steps the world: null (default) or "cpu"; "gpu": the best OpenCL device there is; its number in
     * lm_device_list, or a part of its name. Read by lm_world_create only. See below. */
    const char *device;
    /* null (default), or the OpenGL context that the device is to share skins with; current in the calling thread.
     * Read by lm_world_create only. Where the driver cannot share, one line in the log says so. */
    const lm_gl *gl;
    lm_allocator allocator;
    lm_tasks tasks;
    lm_log log;
    bool may_overlap; /* bodies may begin inside each other: the log says nothing of it; default false */
    uint32_t cookie;  /* set by lm_world_def_default */
} lm_world_def;

/* Devices that can step a world instead of the CPU, through OpenCL. The OpenCL library is loaded when it is needed;
 * nothing depends on it. State stays on the device, and is read back when a function needs it. Where there is no such
 * device, where it fails, or where the world has something that it cannot step, the CPU steps the world, and one line
 * in the log says so. A device that fails loses what it has stepped since all of the state was last read back (for a
 * hash or a snapshot); the line says how much that was. Only what a function needs is read back: for lm_body_get_skin
 * the vertices, which the device computes; for lm_world_cast_ray what is near the ray; for lm_body_get_info and
 * lm_world_get_totals sums; for lm_body_get_positions and _velocities that body. (From the ninth call for particles
 * between two steps on, all particles are read back.) A device gives the same results in every run, but not those of
 * the CPU to the last bit: they agree to 1e-5 of a body's size after a step. docs/gpu.md is the guide. */
typedef struct lm_device_info {
    char name[128], platform[128];
    uint64_t memory; /* bytes */
    uint32_t units;  /* that compute side by side */
    bool gpu;        /* false: a CPU that OpenCL runs on, or something else */
    bool usable;
    char fault[64]; /* why not */
} lm_device_info;

/* All OpenCL devices of the machine. Fills in up to `capacity` of them, and returns how many there are. */
LM_API uint32_t lm_device_list(lm_device_info *devices, uint32_t capacity);

/* A definition with the defaults above; change what you like, then lm_world_create. */
LM_API lm_world_def lm_world_def_default(void);

/* Makes an empty world and starts its threads. On failure *world is null: LM_ERROR_ARGUMENT, LM_ERROR_UNSUPPORTED (the
 * instruction set) or LM_ERROR_MEMORY. */
LM_API lm_result lm_world_create(const lm_world_def *def, lm_world **world);

/* Frees the world and everything in it. Null is allowed. */
LM_API void lm_world_destroy(lm_world *world);

/* Advances by `seconds` (above 0, at most 1; a frame is 1.0 / 60.0) in the world's substeps of equal length. When
 * memory runs out it returns LM_ERROR_MEMORY before it has changed anything, and may be called again. Allocates
 * nothing once nothing is added, removed, pinned or given another mode, and nobody falls asleep or wakes. */
LM_API lm_result lm_world_step(lm_world *world, double seconds);

/* Called before every substep, in the thread that calls lm_world_step; `h` is the substep's length in seconds. For a
 * rigid-body engine of the host that moves movers: what the last substep gave them is told by lm_mover_get_wrench, and
 * lm_mover_steer says where they are now and how they move through this one. Of the world it may call these two,
 * lm_collider_get_wrench, lm_mover_get_pose and lm_collider_get_pose, and nothing else. Null (default): none. It is not part of a
 * snapshot. A world with one is stepped by the CPU. */
typedef void lm_substep(lm_world *world, double h, void *user);
LM_API void lm_world_set_substep_function(lm_world *world, lm_substep *called, void *user);

/* Gravity, metres a second squared, up to 1e6 along each axis; from the next step on. */
LM_API lm_result lm_world_set_gravity(lm_world *world, lm_vec3 gravity);
LM_API lm_vec3 lm_world_get_gravity(const lm_world *world);

/* Into how many substeps a step is divided, 1 to LM_MAX_SUBSTEPS; from the next step on. 0: as many as the materials of
 * the bodies that are awake ask for: 1 with `hertz` and `alpha`, which say what a substep does; what reaches the modulus
 * with `sag`, at most LM_MAX_SAG_SUBSTEPS, and with `young`, at most LM_MAX_YOUNG_SUBSTEPS.
 * lm_body_info.substeps_needed says how many there were. */
LM_API lm_result lm_world_set_substeps(lm_world *world, uint32_t substeps);
LM_API uint32_t lm_world_get_substeps(const lm_world *world);

/* The instruction set in use (never LM_ISA_BEST), the number of workers, and the seconds simulated so far. */
LM_API lm_isa lm_world_get_isa(const lm_world *world);

/* The name of the device that the world was given, or "cpu". Lives as long as the world. */
LM_API const char *lm_world_get_device(const lm_world *world);
LM_API uint32_t lm_world_get_workers(const lm_world *world);
LM_API double lm_world_get_time(const lm_world *world);

/* Writes up to `capacity` ids of living bodies in slot order into `ids` (may be null when capacity is 0) and returns
 * how many bodies there are. */
LM_API uint32_t lm_world_get_bodies(const lm_world *world, lm_body_id *ids, uint32_t capacity);

/* The same for colliders. */
LM_API uint32_t lm_world_get_colliders(const lm_world *world, lm_collider_id *ids, uint32_t capacity);

/* ------------------------------------------------------------------------------------------------------------------
 * Materials
 *
 * Each region (cluster) of a body is fitted to the particles in it; the fit says where each particle ought to be, and
 * the particle is pulled there. The mode is what a fit can follow without resisting:
 *
 *   rigid      rotation and translation: every deformation is resisted.
 *   linear     stretch and shear too, at constant volume, to the share `beta`.
 *   quadratic  bending and twisting too, to the share `beta`. Not for lattices, which bend by their many small regions.
 *
 * Stiffness is given as the frequency and damping ratio with which a single rigid region rings. The deformations that
 * a mode follows ring slower, by about sqrt(1 - beta), and a body of many regions rings slower still (see
 * lm_body_get_slowest_mode). A substep of h seconds can reach 1/(2 pi h) hertz (9.5 Hz at 1/60 s); beyond that
 * the body is as stiff as the step allows, and lm_body_info says so.
 *
 * Or stiffness is given in physical units: `young` (Pa) and `poisson`, region by region, so that it is the same everywhere in
 * a body and does not change with the sampling, the spacing or the width of regions, nor where cells are divided, joined or
 * cut. `sag` is the same for people who do not know pascals: the share of its height by which the body sinks under its own
 * weight, as it was put into the world (at 9.81 m/s²). For an even column that is young = density 9.81 height / (2 sag); of other
 * shapes what is above thin parts counts, and what would make them buckle. A substep of h seconds reaches
 * young = (1 - 2 poisson) density <x²>/h², where <x²> is about a third of the square of a region's half-width: more
 * substeps and wider regions reach more, and lm_body_info says how many. It holds for bodies whose regions overlap densely
 * (lattices, octrees, tetrahedra). Of clusters it is the nearest that can be said: of each along its longest axis, of a few
 * large ones for stretching and not for bending. The damping ratio is then that of the slowest stretching of a cube of the
 * body's size, pi/2 sqrt(young/density) over the side, rad/s.
 *
 * A rigid body is the limit: LM_STIFFNESS_ALPHA with
 * alpha 1 and some damping.
 *
 * With a yield above 0 the body is plastic, in every mode, clusters and lattices alike: where a region is strained beyond
 * the yield (the largest stretch less 1), its rest shape follows at the rate of the creep, at constant volume, up to
 * max_plastic. Strain below the yield is elastic and goes back.
 */

typedef enum lm_mode { LM_MODE_RIGID = 0, LM_MODE_LINEAR, LM_MODE_QUADRATIC, LM_MODE_COUNT } lm_mode;

typedef enum lm_stiffness {
    LM_STIFFNESS_GIVEN =
        0, /* whichever of `hertz`, `young` and `sag` is above 0; two of them are refused; none: a sag of LM_DEFAULT_SAG for a body
                           made from a mesh, 8 hertz for others */
    LM_STIFFNESS_HERTZ, /* `hertz` and `damping_ratio` count: the same motion at every substep */
    LM_STIFFNESS_YOUNG, /* `young`, `poisson` and `damping_ratio` count */
    LM_STIFFNESS_SAG,   /* `sag`, `poisson` and `damping_ratio` count */
    LM_STIFFNESS_ALPHA, /* `alpha` and `damping` count: the papers' share of the way to the goal in one substep */
    LM_STIFFNESS_COUNT
} lm_stiffness;

/* Damping takes out the share of velocity that is not rigid motion: of the body (each connected part of a lattice) as a
 * whole, or of the regions around each particle. Regional damping stills what is local (a jelly's ripples) at the rate
 * asked, and waves much longer than a region hardly at all: a deformation that rings at sqrt(share) times the frequency of a
 * single region loses its velocity at `share` times the rate. */
typedef enum lm_damping {
    LM_DAMPING_GLOBAL = 0, /* towards the motion of the body as a whole */
    LM_DAMPING_REGIONAL,   /* towards the motion of the regions. Of lattices and octrees; clusters refuse it */
    LM_DAMPING_COUNT
} lm_damping;

#define LM_MAX_POISSON 0.46f
#define LM_DEFAULT_SAG 0.02f

typedef struct lm_material {
    lm_mode mode;           /* default LM_MODE_LINEAR */
    lm_stiffness stiffness; /* default LM_STIFFNESS_GIVEN */
    float hertz;            /* 0 to 1e6; default 0 */
    float young;            /* Young's modulus, 0 to 1e15 Pa; default 0 */
    float poisson;       /* Poisson's ratio, 0 to LM_MAX_POISSON; default 0.3. With young and sag, not in rigid mode */
    float sag;           /* share of its height by which the body sinks under its own weight, 0 to 10; default 0 */
    float damping_ratio; /* 0 to 1e6, 1 is critical; default 0.1 */
    float alpha;         /* 0 to 1 for each substep; default 0.5 */
    float damping;       /* 1/s at which deformation velocity decays, with alpha; 0 to 1e6; default 0 */
    lm_damping damping_kind; /* default LM_DAMPING_GLOBAL */
    uint32_t damping_every; /* every how many substeps, for all that time at once: regional damping costs nearly as much
                               as the rest of the step; 1 to LM_MAX_SUBSTEPS; default 1 */
    float beta;             /* 0 to 0.95; default 0.5. No effect in rigid mode */
    float yield;            /* strain above which the shape flows, 0 to 1e6; default 0: it never does */
    float creep;            /* 1/s at which strain becomes lasting while it is above the yield; 0 to 1e6; default 5 */
    float max_plastic;      /* lasting strain is kept below this, 0 to 0.9; default 0.5 */
    float friction;         /* Coulomb's coefficient, 0 to 1e6; default 0.5. A contact takes sqrt(product of both) */
    float restitution;      /* 0 to 1; default 0. A contact takes the larger of both, above 0.5 m/s of approach */
} lm_material;

/* A material with the defaults above. */
LM_API lm_material lm_material_default(void);

#define LM_PRESET_COUNT 9

/* A material by its name: "jelly", "soft rubber", "rubber", "foam", "flesh", "dough" and "clay" (plastic), "cork", "wood"; and its
 * density for lm_body_def.density, kg/m³ (may be null). docs/materials.md has the numbers. False: there is none of that name, and
 * nothing was written. lm_material_preset_name gives the names from 0 on; null beyond the last. */
LM_API bool lm_material_preset(const char *name, lm_material *material, float *density);
LM_API const char *lm_material_preset_name(uint32_t index);

/* ------------------------------------------------------------------------------------------------------------------
 * Bodies
 */

typedef enum lm_cluster_kind {
    LM_CLUSTERS_COUNTS = 0, /* the bounding box divided into counts[0] x counts[1] x counts[2] overlapping cells */
    LM_CLUSTERS_SIZE,       /* the same with cells of about `cell_size` metres */
    LM_CLUSTERS_LISTS,      /* the caller's own lists */
    LM_CLUSTERS_KMEANS,     /* `count` compact groups, each with its neighbours added `rings` times */
    LM_CLUSTERS_ELEMENTS,   /* one for each element (tetrahedron, triangle, edge) of a mesh */
    LM_CLUSTERS_RINGS,      /* one for each particle: itself and all that share an element with it */
    LM_CLUSTERS_KIND_COUNT
} lm_cluster_kind;

/* How the particles of a body are divided into regions. Cells without particles make no region. A particle in no region
 * moves as a free particle. */
typedef struct lm_clusters {
    lm_cluster_kind kind;    /* default LM_CLUSTERS_COUNTS */
    uint32_t counts[3];      /* 1 to 2^20 along each axis; default 1, 1, 1: the whole body is one region */
    float cell_size;         /* metres, above 0; no default */
    float overlap;           /* each cell grows on every side by this share of its size, 0 to 1; default 0.25 */
    const uint32_t *offsets; /* lists: list_count + 1 offsets into members, from 0, increasing (no list is empty) */
    const uint32_t *members; /* lists: particle indices; each at most once in a list */
    uint32_t list_count;     /* 0: no regions at all, every particle is free */
    uint32_t count;          /* k-means: groups, at least 1; default 1. More than points: one for each point */
    /* k-means: how many times neighbours are added; default 1. Neighbours share an element, or without elements are
     * among the six nearest. */
    uint32_t rings;
    const uint32_t *elements; /* element_count times element_size particle indices */
    uint32_t element_count;
    uint32_t element_size; /* 2 to 8: edges, triangles, tetrahedra, ...; default 4 */
} lm_clusters;

/* How the mass of a lattice is spread over its particles. */
typedef enum lm_lattice_mass {
    LM_LATTICE_MASS_VOLUME = 0, /* cells share their mass among their corners: an even density, with the inertia
                                   of the solid */
    LM_LATTICE_MASS_EQUAL, /* every particle has the same, as in the paper: the surface is denser than the inside */
    LM_LATTICE_MASS_COUNT
} lm_lattice_mass;

/* A lattice: the space that a mesh takes up is divided into cubic cells, the corners of occupied cells are the
 * particles, and around each is a region: whoever is within `width` corners along every axis and connected with it inside
 * the intersection of both cubes; repetitions of a region count once. Any soup of triangles will do, open and in parts:
 * what cannot be reached from outside is inside. Particles are numbered by their corners, along x first, then y, then z.
 *
 * Pieces that no cell joins are parts of one body: each keeps its own momentum and spin, and is damped by itself.
 *
 * Cost. Inside a solid body a step takes time in proportion to the particles, and a few times as much at the widest as
 * at the narrowest. Where not everything in the cube around a particle is connected there (beside
 * slits, between fingers, and on shells with wide regions) time and memory grow with the members of a region, of
 * which there are up to (2 width + 1)^3: for shells and thin parts use a narrow width, or a coarser spacing.
 * docs/performance.md has figures.
 *
 * Stiffness. A wider region makes the body stiffer: a rod carries waves at c = 2 pi hertz spacing
 * sqrt(width (width + 1) / 3) metres a second, which is the root of Young's modulus over density (rigid mode; in linear
 * mode deformations that keep the volume are softer by 1 - beta). So with the width in steps the stiffness of a body
 * changes with its spacing.
 *
 * With `width_metres` it does not: hertz is then the frequency of an ideal region of that half-width, a rod has c = 2
 * pi hertz width_metres / sqrt(3) whatever the spacing, and the damping ratio belongs to that frequency too. The width
 * in steps is the nearest to width_metres / spacing from 1 to 8; what is missing to it is made good by the pull of the
 * regions. The sag and the frequency of a bar then change by less than 15 % between a spacing of a quarter of its
 * thickness and finer ones. There are limits, beyond which they change more. Two cells across a bar are too few, and
 * where width_metres is outside 0.7 to 8.5 spacings the regions themselves are of another size. The pull of a region is
 * at most alpha = 1 for a substep: lm_body_info says when that is reached, and more substeps help. And a mesh that does
 * not end where cells end is made thicker by its lattice, by less than a cell on each side: bending is stiffer by as
 * much. Not used with LM_STIFFNESS_ALPHA, where alpha is what it is.
 *
 * Shape. A damped body that was crushed returns to its rest shape as long as its regions are not small compared with
 * it. Hollow ones with walls of one cell may not: mirrored, mixed up or shrunk to a grain they may come to rest in
 * another shape, as a rubber ball does turned inside out. Of cubes 4 or 5 cells wide two in five did with a width of 1;
 * with 2 only mirrored ones, with 3 none; 8 cells wide more than half did with a width of 2. A solid one of 7 cells and
 * width 1 did only from a grain, one time in five. Clusters with the same regions do the same. Squashed flat or to a
 * line all returned.
 *
 * No corner may be more than 2^22 spacings from the origin of the body's frame: single precision could not tell it from
 * the next.
 *
 * The mesh is not kept. To draw it, or any other surface in the same place, give it to lm_body_set_skin: each vertex
 * then follows the corners of its cell. */
typedef struct lm_lattice {
    const lm_vec3 *vertices; /* of the mesh, in the body's own frame, metres; null (default): no mesh */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices each */
    uint32_t triangle_count;
    float spacing;        /* side of a cell, 1e-9 to 1e6 m; 0 (default): found so that there are about `particles` */
    uint32_t particles;   /* wanted, with a spacing of 0; 8 to LM_MAX_PARTICLES */
    bool shell;           /* only cells that the mesh touches, not what it encloses; default false */
    const uint8_t *cells; /* instead of a mesh: counts[0] x counts[1] x counts[2] bytes, x first; not 0: occupied */
    uint32_t counts[3];
    lm_vec3 first;      /* with cells: position of the lowest corner of the first one */
    uint32_t width;     /* steps, 1 to 8; 0 (default): about an eighth of the side of a cube of the body's volume, with
                             `hertz` and `alpha` 1 */
    float width_metres; /* instead of `width`, above 0 and at most 1e6; 0 (default): `width` counts */
    lm_lattice_mass mass; /* how lm_body_def.mass is spread; default LM_LATTICE_MASS_VOLUME */
    /* With a mesh: one for each vertex, above 0 and at most 1e12, copied. A particle's share of the mass is multiplied
     * by the value of the nearest vertex, so that a part can be heavy; the whole still has lm_body_def.mass. Null
     * (default): all 1. */
    const float *vertex_masses;
} lm_lattice;

/* How the mass of a body of tetrahedra is spread over its particles. */
typedef enum lm_tets_mass {
    LM_TETS_MASS_VOLUME = 0, /* a tetrahedron gives a quarter of its mass to each corner: an even density */
    LM_TETS_MASS_EQUAL,      /* every particle has the same */
    LM_TETS_MASS_COUNT
} lm_tets_mass;

/* Tetrahedra: the vertices of the mesh are the particles, and around each of them is a region, its one-ring: the
 * particle and all that share a tetrahedron with it. Particles are dense where the mesh is fine and few where it is
 * coarse, and lie on the surface where the mesh does. (Regions of other sizes are to be had from the same mesh with
 * LM_CLUSTERS_KMEANS, whose `elements` the tetrahedra can be.)
 *
 * The tetrahedra are given, or made here of a surface: the space that it takes up is divided into cubic cells as for a
 * lattice, from any soup of triangles, and each cell into five tetrahedra, which enclose the surface by less than a
 * cell on each side. Particles are then numbered by their corners, along x first, then y, then z.
 *
 * What is refused, with a log line that names the vertex or the tetrahedron, counted from 0: an index beyond the last
 * vertex, a tetrahedron without volume (six times it below 1e-7 of its longest edge cubed), one that is turned against
 * most others, a vertex in no tetrahedron. The right way round is: corners 1, 2 and 3 counter-clockwise seen from
 * outside. A mesh that is the other way round as a whole is turned.
 *
 * Pieces that have no vertex in common are one body all the same: damping takes out their motion against each other.
 * Make them bodies of their own where they should part.
 *
 * To draw it give a surface to lm_body_set_skin: a vertex follows the corners of the tetrahedron that it is in, and one
 * that is outside is extrapolated from the nearest. */
typedef struct lm_tets {
    const lm_vec3 *vertices; /* in the body's own frame, metres; copied; null (default): no tetrahedra */
    uint32_t vertex_count;
    const uint32_t *tets;      /* four vertex indices each; copied */
    uint32_t tet_count;        /* 1 to 2^26 */
    const uint32_t *triangles; /* instead of tets: three indices each, and the vertices are those of a surface */
    uint32_t triangle_count;
    float spacing; /* of a surface: side of a cell, metres; 0 (default): found so that there are about `particles` */
    uint32_t particles; /* of a surface, with a spacing of 0: wanted; 8 to LM_MAX_PARTICLES */
    lm_tets_mass mass;  /* how lm_body_def.mass is spread; default LM_TETS_MASS_VOLUME */
} lm_tets;

/* An octree: the space that a mesh takes up, divided into cubic cells of several sizes, with a particle in the middle
 * of each. Thin parts have small cells and thick ones large, so that a hand needs hundreds of particles where a lattice
 * that tells its fingers apart needs tens of thousands. Around each particle is a region: what is within a width of it,
 * which may be another for each particle. A wide region is stiff, a narrow one soft.
 *
 * Cells. The mesh, any soup of triangles, is first divided into voxels of the finest spacing, as for a lattice. Over
 * them lies a base lattice of cubes of spacing x 2^levels; a cube is halved along every axis again and again, down to
 * single voxels, where the body is less than `detail` cells thick, or where vertex_sizes ask for it. Each connected
 * filled part of a cell is a particle, in the middle of that part and with its mass: two fingers in one cell are two.
 *
 * Gaps. Parts that touch, or are nearer to each other than voxels can show, are apart where the surface between them
 * goes out of one and into the other: fingers do not stick together. (Of a solid; faces must look outward, or all of
 * them inward.)
 *
 * Regions. Distances are measured along the body, from cell to cell: a finger is far from the next one even where they
 * touch. A region has everything within its width, and nothing beyond (1 + slack) times that; what is between may
 * belong to it or not, whichever takes fewer sums. A width less than the cell's own side counts as that. Regions may
 * reach 16,384 cells each, in the mean, besides those that have all of the body; wider ones are refused
 * (LM_ERROR_LIMIT): the time to find them grows with that.
 *
 * Cost. A step takes time in proportion to lm_body_info.summation_nodes, a few for each particle when the width is near
 * the side of a base cell or more.
 *
 * Modes are rigid and linear; plasticity and examples as for clusters; damping of both kinds. Pieces that nothing joins
 * are one body all the same, as with tets.
 *
 * The mesh is not kept. To draw it give it to lm_body_set_skin: a vertex follows the particles around it, as far as
 * they can be reached along the body. Points on the mesh are what touches; with LM_CONTACT_PARTICLES colliders keep off
 * the particles, which lie inside the body, by half the side of a cube of their volume, besides the contact_radius. */
typedef struct lm_octree {
    const lm_vec3 *vertices; /* of the mesh, in the body's own frame, metres; null (default): no octree */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices each */
    uint32_t triangle_count;
    float spacing;      /* side of the finest cells, 1e-9 to 1e6 m; 0 (default): 1/64 of the mesh's longest side */
    uint32_t levels;    /* base cells are 2^levels times as wide, 0 to 8; default 3 */
    float detail;       /* cells across what is thin, 0 (one size, but for vertex_sizes) to 1000; default 2 */
    uint32_t particles; /* wanted: the detail that comes nearest is found; 0 (default): `detail` counts */
    bool shell;         /* only what the mesh touches, not what it encloses; default false */
    float width;        /* of regions, metres, up to 1e6; 0 (default): the side of a base cell */
    float slack;        /* share by which regions may be larger, 0 to 4; default 0.5 */
    /* One for each vertex, metres, up to 1e6, 0 for no wish; or null (default). A cell is no larger than what is wanted
     * at the vertex nearest to each of its voxels. */
    const float *vertex_sizes;
    /* The widths of regions, in the same way: that of the vertex nearest to the particle; 0: `width` counts. */
    const float *vertex_widths;
} lm_octree;

/* What of a body touches other things. The particles of a lattice lie outside its surface, and those of a coarse cloud
 * inside it; points on the surface move with the particles around them and push them in turn. They are spread over the
 * mesh about as densely as the particles are. */
typedef enum lm_contact_points {
    LM_CONTACT_AUTO =
        0, /* lattices and octrees made from a mesh touch with their surface, everything else with its particles */
    LM_CONTACT_PARTICLES, /* the particles */
    /* points on the skin or, without one, on the mesh of a lattice or octree; without either the particles */
    LM_CONTACT_SURFACE,
    LM_CONTACT_COUNT
} lm_contact_points;

typedef struct lm_body_def {
    const lm_vec3 *points; /* rest positions in the body's own frame, metres; copied */
    uint32_t point_count;  /* at least 1 */
    const float *masses;   /* kilograms, above 0 and at most 1e12, none below 1e-9 of the mean, one for each point
                              (of a lattice or tets: for each particle), copied; null (default): equal shares of
                              `mass`, or what lm_lattice or lm_tets says */
    float mass;            /* kilograms in all, used when masses is null; above 0, at most 1e12, default 1 */
    float density; /* kg/m³, instead of mass; 0 to 1e12, default 0: `mass` counts. The volume is that of the mesh
                              where it encloses one, else of the cells or tetrahedra; of a cloud of points, of the box with
                              the same moments */
    lm_clusters clusters;
    lm_lattice lattice; /* instead of points and clusters */
    lm_tets tets;       /* the same */
    lm_octree octree;   /* the same */
    lm_material material;
    float contact_radius; /* metres by which what touches is kept away from colliders; 0 to 1e6, default 0 */
    lm_contact_points contact_points; /* default LM_CONTACT_AUTO */
    /* Two bodies touch each other when each has a group, as a bit, that is in the mask of the other. Their surfaces are
     * their skins, the mesh of a lattice, or balls around the particles of a bare cloud. */
    uint32_t group;    /* default 1 */
    uint32_t mask;     /* default all groups; 0: it touches colliders only. The call that brings the first body that
                          it may touch makes the solids of both; without such company a mask costs nothing */
    bool self_contact; /* parts of it that are far from each other in the rest shape touch too; default false */
    /* N/m, 0 to 1e12, for LM_CONTACT_METHOD_PENALTY and _CUBE_MAP; default 0: a quarter of the mean mass of its
     * particles over the square of the substep, which its own particles bear; of two such the smaller */
    float penalty;
    uint32_t collider_mask; /* groups of colliders that it touches, as bits; default all of them */
    bool may_sleep;         /* in a world that lets bodies sleep (lm_world_set_sleep); default true */
    lm_pose pose;           /* where the body's frame starts */
    lm_vec3 velocity;       /* metres a second, up to LM_MAX_SPEED along each axis */
    lm_vec3 spin;           /* radians a second about the centre of mass, world axes, up to 1e6 about each */
    uint64_t user_data;     /* yours; lm_body_info returns it */
    uint32_t cookie;        /* set by lm_body_def_default */
} lm_body_def;

/* A definition with the defaults above; it needs points, a lattice, tets or an octree. */
LM_API lm_body_def lm_body_def_default(void);

/* Adds a body. LM_ERROR_ARGUMENT, LM_ERROR_LIMIT (LM_MAX_PARTICLES, each body counted up to a multiple of 16, or
 * LM_MAX_MEMBERSHIPS) or LM_ERROR_MEMORY. */
LM_API lm_result lm_body_create(lm_world *world, const lm_body_def *def, lm_body_id *body);

/* Bodies made beside the world: what takes long runs on any thread while the world steps on another, and a short call
 * hands over what came of it. */
typedef struct lm_prepared lm_prepared;

typedef struct lm_prepare_def {
    const lm_body_def *body;        /* what to make; nothing of it is needed afterwards */
    const struct lm_skin_def *skin; /* as for lm_body_set_skin; null (default): none */
    bool solid;      /* makes the solid that others touch, as far as the mask asks for it; default true */
    bool cut;        /* makes it ready for its first cut, as lm_body_prepare_cut does; default false */
    uint32_t cookie; /* set by lm_prepare_def_default */
} lm_prepare_def;

/* A definition with the defaults above; it needs a body. */
LM_API lm_prepare_def lm_prepare_def_default(void);

/* Makes a body that is in no world yet. Of `world`, the definition of the world that it is for, the allocator and the
 * log are used, on the calling thread, and the instruction set. Fails as lm_body_create, lm_body_set_skin and lm_body_prepare_cut
 * do; then *prepared is null. */
LM_API lm_result lm_body_prepare(const lm_world_def *world, const lm_prepare_def *def, lm_prepared **prepared);

/* Puts a prepared body into a world: the same body, to the last bit, as lm_body_create and lm_body_set_skin make there.
 * The prepared one is gone then. LM_ERROR_ARGUMENT (a world with another allocator), LM_ERROR_LIMIT or LM_ERROR_MEMORY: it
 * is as it was. Takes time for bodies in the world that have had no company and get it by this one (lm_body_def.mask). */
LM_API lm_result lm_body_create_prepared(lm_world *world, lm_prepared *prepared, lm_body_id *body);

/* Frees a prepared body that was not put into a world. Null is allowed. */
LM_API void lm_prepared_destroy(lm_prepared *prepared);

/* Destroys the body with its pins, drags, joints, skeleton, pending forces and skin. */
LM_API lm_result lm_body_destroy(lm_world *world, lm_body_id body);

/* Whether the id is that of a living body; logs nothing. */
LM_API bool lm_body_is_valid(const lm_world *world, lm_body_id body);

/* Every parameter may change while running; the next step uses it. Another mode makes that step lay the body out again,
 * which allocates; on a lattice another mode, a first yield and a first regional damping allocate here. */
LM_API lm_result lm_body_set_material(lm_world *world, lm_body_id body, const lm_material *material);
LM_API lm_result lm_body_get_material(const lm_world *world, lm_body_id body, lm_material *material);

typedef struct lm_body_info {
    uint32_t particles;
    uint32_t regions;
    uint64_t memberships;     /* particles summed over regions */
    uint32_t tets;            /* tetrahedra; 0 for other bodies */
    uint32_t octree_nodes;    /* cells of all sizes; 0 for other bodies */
    uint64_t summation_nodes; /* that the regions of an octree are added up from; else 0 */
    uint32_t skin_vertices;
    uint32_t skin_triangles;
    uint32_t pieces;          /* that no links join; 1 for clusters and tetrahedra that were not cut */
    uint32_t broken_links;    /* of a lattice, so far */
    uint32_t examples;        /* 0: none */
    uint32_t example_groups;  /* that have a mix of their own */
    bool examples_forced;     /* the mix is the one of lm_body_set_example_weights */
    float mass;               /* kilograms */
    lm_dvec3 centre;          /* of mass, world */
    lm_vec3 velocity;         /* of the centre of mass */
    lm_vec3 angular_momentum; /* about the centre of mass, kg m²/s */
    lm_vec3 spin;             /* the rigid rotation with that angular momentum, rad/s */
    float kinetic_energy;     /* joules */
    float max_speed;          /* of a particle, m/s */
    lm_dvec3 lower, upper;    /* bounding box of the particles, world */
    bool stiffness_limited;   /* alpha was cut to 1 in the last step: as stiff as the substep allows */
    float reached_hertz;      /* the frequency a single region really has, from the last step; 0 before the first. Of a
                                 lattice with width_metres: the hertz that the material really has */
    float density;            /* kg/m³ */
    float young;              /* Pa that a material in physical units asks for; 0: it is not */
    float reached_young;      /* Pa that it has, from the last step */
    uint32_t
        substeps_needed; /* with which stiffness_limited would be false, from the last step; else those that there are */
    float spacing;       /* of a lattice, metres; else 0 */
    uint32_t width;      /* of a lattice, steps; else 0 */
    float contact_radius;    /* metres, as in the definition */
    uint32_t contact_points; /* points that touch: of the surface, or all particles */
    uint32_t contacts;       /* points of it that pressed on a collider in the last substep, once for each collider */
    bool asleep;             /* see lm_world_set_sleep */
    bool enabled;            /* see lm_body_set_enabled */
    uint64_t user_data;
    /* of what stays while the body moves: rest positions, regions and skin. Bodies with the same hash can share
     * whatever a program made from these, in whichever world they are */
    uint64_t shape_hash;
} lm_body_info;

/* What the body is and how it moves now; measured over its particles at each call. */
LM_API lm_result lm_body_get_info(const lm_world *world, lm_body_id body, lm_body_info *info);

/* Positions (metres from `base`), velocities (m/s), masses (kg) and rest positions (metres, in the body's own frame),
 * into the caller's array of lm_body_info.particles elements, in the order of the definition's points. */
LM_API lm_result lm_body_get_positions(const lm_world *world, lm_body_id body, lm_dvec3 base, lm_vec3 *positions);
LM_API lm_result lm_body_get_velocities(const lm_world *world, lm_body_id body, lm_vec3 *velocities);
LM_API lm_result lm_body_get_masses(const lm_world *world, lm_body_id body, float *masses);
LM_API lm_result lm_body_get_rest_positions(const lm_world *world, lm_body_id body, lm_vec3 *points);

/* A look into the state of a body, without a copy. Particles have places, in an order of the engine's own, and there
 * may be places without one. */
typedef struct lm_state_view {
    const float *positions;    /* four floats for each place: x, y, z in metres from `origin`, and one for the engine */
    const float *velocities;   /* four floats for each place: x, y, z in metres a second, and one for the engine */
    const uint32_t *particles; /* which particle is at a place; UINT32_MAX: none */
    const uint32_t *places;    /* where a particle is; lm_body_info.particles of them */
    uint32_t place_count;
    lm_dvec3 origin; /* world; a step may move it */
} lm_state_view;

/* The body's state in the world's own memory, to be read only. Valid until the next call that may change the world (any
 * that takes it without const). Of a world that a device steps, the state is read back first. */
LM_API lm_result lm_body_view_state(const lm_world *world, lm_body_id body, lm_state_view *view);

/* Where each particle was being pulled to in the last substep, relative to `base`; a free particle's goal is where it
 * is. LM_ERROR_ARGUMENT when there was no step since bodies were created, destroyed, pinned, given another mode or
 * loaded, or the body sleeps; and for a lattice or an octree, which keep none. */
LM_API lm_result lm_body_get_goals(const lm_world *world, lm_body_id body, lm_dvec3 base, lm_vec3 *goals);

/* Where the body's lm_body_info.contact_points are now, relative to `base`: in the order of the particles when these
 * are what touches. */
LM_API lm_result lm_body_get_contact_points(const lm_world *world, lm_body_id body, lm_dvec3 base, lm_vec3 *positions);

/* Puts the particles anywhere within LM_MAX_COORDINATE of `base`, however mangled, with velocities up to LM_MAX_SPEED
 * along each axis (null: unchanged). Particles that are farther from their goals than the body is large lose
 * deformation velocity (20 1/s) whatever the material: a body torn apart recovers without swinging forever. */
LM_API lm_result lm_body_set_state(lm_world *world, lm_body_id body, lm_dvec3 base, const lm_vec3 *positions,
                                   const lm_vec3 *velocities);

/* Where the body is as a whole, and how it is turned: the rigid motion that takes its rest shape (the body's own frame,
 * as in lm_body_def.pose) nearest to its particles, weighted by their masses. Where several rotations are equally near,
 * as for particles on one line, the smallest of them. Something that follows a part of a body wants a socket
 * (below). */
LM_API lm_result lm_body_get_pose(const lm_world *world, lm_body_id body, lm_pose *pose);

/* Puts the body elsewhere at once, so that lm_body_get_pose gives `pose`. `keep_shape`: deformed as it is, with its
 * velocities turned along; else in its rest shape, with the velocity of its centre and its spin, turned along. Lasting
 * deformation stays either way (lm_body_reset_plastic). Forgets what it touched; wakes it. Pins and bones pull back
 * what they hold. */
LM_API lm_result lm_body_set_pose(lm_world *world, lm_body_id body, lm_pose pose, bool keep_shape);

/* Gives all particles the velocities of a rigid motion: metres a second, and radians a second about the centre of mass,
 * world axes, each up to LM_MAX_SPEED along each axis. What lm_body_info calls velocity and spin. Wakes the body. */
LM_API lm_result lm_body_set_velocity(lm_world *world, lm_body_id body, lm_vec3 velocity, lm_vec3 spin);

/* What of a definition can be set later. Each wakes the body, and holds from the next step on. */

/* Which bodies and colliders it touches, as in lm_body_def. Bodies that touch others are solids to them; where this
 * brings the first company, the solids of both are made, of the mesh, the skin, or the particles where a body has
 * neither. A lattice or octree that was made from a mesh with a mask of 0 and without self_contact has not kept the mesh, and an
 * octree that was cut cannot be given a solid: LM_ERROR_ARGUMENT (of the former: give it a skin first). */
typedef struct lm_body_filter {
    uint32_t group;         /* bits */
    uint32_t mask;          /* 0: no other bodies */
    uint32_t collider_mask; /* 0: no colliders */
    bool self_contact;
} lm_body_filter;

LM_API lm_result lm_body_set_filter(lm_world *world, lm_body_id body, const lm_body_filter *filter);
LM_API lm_result lm_body_get_filter(const lm_world *world, lm_body_id body, lm_body_filter *filter);

/* Metres, 0 to 1e6; lm_body_info has it. Of a body that others touch at its bare particles the solid is made again. */
LM_API lm_result lm_body_set_contact_radius(lm_world *world, lm_body_id body, float metres);

/* The constant of lm_body_def.penalty, N/m, 0 to 1e12. */
LM_API lm_result lm_body_set_penalty(lm_world *world, lm_body_id body, float penalty);
LM_API lm_result lm_body_get_penalty(const lm_world *world, lm_body_id body, float *penalty);

/* Kilograms in all, above 0, at most 1e12: every particle's mass is scaled, velocities stay. lm_body_info has it. */
LM_API lm_result lm_body_set_mass(lm_world *world, lm_body_id body, float mass);

/* Kilograms of each particle, in the order of lm_body_get_masses and in the range of lm_body_def.masses; velocities
 * stay. The next step lays the body out again, which allocates. */
LM_API lm_result lm_body_set_masses(lm_world *world, lm_body_id body, const float *masses);

/* Yours; lm_body_info has it. Wakes nobody. */
LM_API lm_result lm_body_set_user_data(lm_world *world, lm_body_id body, uint64_t user_data);

/* Takes a body out of the world without destroying it: it stands still with the velocity that it had, touches nothing,
 * and is not found by rays and overlaps, until it is enabled again. Pins, drags and forces do nothing meanwhile. All of
 * it can be read and set. Bodies are enabled when they are made. */
LM_API lm_result lm_body_set_enabled(lm_world *world, lm_body_id body, bool enabled);

/* A copy of a body: rest shape, masses, material, skin, examples, filter, stiffness, detail,
 * cuts and breaks, and its state, at the same place. Pins, drags, forces and the skeleton are not copied, nor what they
 * changed. Nothing is found again, and solids, cells of octrees and their sums are shared until one of the bodies
 * changes them, so that it takes less than a tenth of a millisecond for each thousand particles (a body that can break
 * or was cut takes as long as loading it from a snapshot). lm_body_set_pose puts it elsewhere. LM_ERROR_LIMIT or
 * LM_ERROR_MEMORY. */
LM_API lm_result lm_body_clone(lm_world *world, lm_body_id body, lm_body_id *clone);

/* Sockets: frames at any point of a body, for what follows it: a hat, a sound, a camera. A socket is a plain value of
 * the caller's; it can be copied, needs no end, and the same one serves all bodies of one shape. It follows up to
 * LM_SOCKET_PARTICLES particles around its place in the rest shape, all of one piece: its position moves with their
 * affine motion, its rotation is the nearest one to it. Beyond them it is rigid. */
#define LM_SOCKET_PARTICLES 12

typedef struct lm_socket {
    lm_pose rest; /* in the body's own frame, the rotation a unit quaternion */
    uint32_t count;
    uint32_t particles[LM_SOCKET_PARTICLES]; /* indices */
    float weights[LM_SOCKET_PARTICLES];      /* they sum to 1 */
    uint64_t shape;                          /* stands for the shape that it was made for */
} lm_socket;

typedef struct lm_socket_state {
    lm_pose pose;     /* world */
    lm_vec3 velocity; /* of its place, m/s */
    lm_vec3 spin;     /* rad/s, world axes */
} lm_socket_state;

/* A socket at a place in the rest shape. Looks at all particles. */
LM_API lm_result lm_socket_make(const lm_world *world, lm_body_id body, lm_pose rest, lm_socket *socket);

/* Where it is now. When the body was cut, broken or refined since (or is one of another shape), the socket is made
 * again first, at the same place of the rest shape. */
LM_API lm_result lm_socket_read(const lm_world *world, lm_body_id body, lm_socket *socket, lm_socket_state *state);

/* The regions, as offsets (regions + 1 of them) into members (memberships of them). Either array may be null. */
LM_API lm_result lm_body_get_regions(const lm_world *world, lm_body_id body, uint32_t *offsets, uint32_t *members);

/* The tetrahedra, lm_body_info.tets of them with four particle indices each, all the right way round (see lm_tets). */
LM_API lm_result lm_body_get_tets(const lm_world *world, lm_body_id body, uint32_t *tets);

/* The side of each particle's cell, metres. Of an octree. */
LM_API lm_result lm_body_get_cells(const lm_world *world, lm_body_id body, float *sides);

/* The widths of an octree's regions, metres, one for each particle, 0 to 1e6: what is soft and what is stiff, while
 * running. A width is rounded down to half a voxel, and is never less than the side of the particle's cell. Setting
 * them finds all regions again. */
LM_API lm_result lm_body_set_widths(lm_world *world, lm_body_id body, const float *metres);
LM_API lm_result lm_body_get_widths(const lm_world *world, lm_body_id body, float *metres);

/* Stiffness of single regions, as shares of the body's own pull towards the goals (0 to 1, one for each region): a soft
 * tip on a hard stick. With the same share everywhere the frequency goes with its square root. Null: 1 everywhere. */
LM_API lm_result lm_body_set_region_stiffness(lm_world *world, lm_body_id body, const float *shares);

/* The same from values for each particle: a region gets the mean of its members' values, weighted by mass. Regions of a
 * lattice are taken one by one: wide ones of a large one take seconds. */
LM_API lm_result lm_body_set_particle_stiffness(lm_world *world, lm_body_id body, const float *values);
LM_API lm_result lm_body_get_region_stiffness(const lm_world *world, lm_body_id body, float *shares);

/* The lasting deformation of each region: nine floats, row by row, a symmetric matrix of determinant 1 that turns the
 * rest shape (in the body's own frame) into the shape it has flowed to. Identity where nothing has flowed. */
LM_API lm_result lm_body_get_plastic(const lm_world *world, lm_body_id body, float *matrices);

/* Forgets all lasting deformation. */
LM_API lm_result lm_body_reset_plastic(lm_world *world, lm_body_id body);

/* How slow the body's slowest deformation is, as a share: it rings at sqrt(share) times the frequency of a single
 * region, and a mangled body is itself again after some 40 / share substeps at full stiffness. 1 for a rigid body of
 * one region; near 0 for a long chain of small ones, and 0 for one that falls apart. Takes many matches: not for every
 * frame. Of a lattice it is an upper bound, within a few percent where gaps are wider than a cell; a million particles
 * take some ten seconds and 400 MB. */
LM_API lm_result lm_body_get_slowest_mode(lm_world *world, lm_body_id body, float *share);

/* ------------------------------------------------------------------------------------------------------------------
 * Examples
 *
 * A body may have example poses that it likes to deform into: a bar that twists whichever way it is pushed, a bear that
 * waves. In every substep the stretch of the regions is compared with the stretch that they have in the examples. The
 * mix of rest pose and examples that is nearest (weights of at least 0 that sum to 1) takes the place of the rest
 * shape, so that nothing pulls the body out of it, and the rest is resisted as always. Only stretch and shear count,
 * not where a pose is or how it is turned. Works in every mode, for clusters, tetrahedra and lattices; the part `beta`
 * of a material in linear and quadratic mode follows the particles as it did.
 *
 * A region follows a pose as far as it is stretched or sheared in it. Twists and bends are followed by bodies whose
 * regions are small compared with their thickness; a region as thick as the body resists them nearly as it does without
 * examples. An example has a sign: a body that likes to twist one way has to be given the other way as another example.
 *
 * Examples may be anything finite. Equal ones, one that is a mix of others, and one that is the rest pose itself add
 * nothing, and share their weight in an arbitrary but repeatable way. A region that is inside out in an example counts
 * as mirrored back; stretches in an example are limited to 0.05 to 20, and a direction in which a region has no
 * thickness at rest is not stretched.
 *
 * A plastic body that flows changes its rest shape, and the examples with it: what counts is the stretch on top of the
 * lasting deformation, and the mix is applied to the shape that it has flowed to. Strain is compared with the yield as
 * without examples, so a body that is bent into an example beyond the yield keeps part of it for good.
 *
 * lm_body_get_slowest_mode tells of the body without its examples, and skins know nothing of them: they follow the
 * particles.
 */

#define LM_MAX_EXAMPLES 8

/* What is compared with the examples as one. */
typedef enum lm_example_scope {
    LM_EXAMPLES_BODY = 0, /* the whole body: it takes one mix of the poses */
    LM_EXAMPLES_GROUPS,   /* groups of regions, each with a mix of its own: a bear whose halves move on their own */
    LM_EXAMPLES_REGIONS,  /* each region with a mix of its own: examples show only where the body is strained */
    LM_EXAMPLES_SCOPE_COUNT
} lm_example_scope;

#define LM_NO_GROUP UINT32_MAX /* a region without examples */

typedef struct lm_examples_def {
    const lm_vec3 *poses;   /* `count` times a position for each particle, in the order of lm_body_get_positions;
                               metres, in any frame, up to LM_MAX_COORDINATE; copied */
    uint32_t count;         /* 1 to LM_MAX_EXAMPLES; the rest pose is always there besides */
    uint32_t particles;     /* in each pose: must be lm_body_info.particles */
    lm_example_scope scope; /* default LM_EXAMPLES_BODY */
    const uint32_t *groups; /* with groups: for each region (lm_body_get_regions) a number below group_count, or
                               LM_NO_GROUP; copied */
    uint32_t group_count;   /* with groups: 1 to 65536 */
    float beta;             /* 0 to 1: how much of the mix counts, the rest pose gets the remainder; default 0.95.
                               Below 1 the body returns to its rest pose when it is let go, the slower the nearer beta
                               is to 1; at 1 it may stay in an example */
    uint32_t cookie;
} lm_examples_def;

/* A definition with the defaults above; it needs poses. */
LM_API lm_examples_def lm_examples_def_default(void);

/* Gives the body examples in place of any it had; null: none. The regions of a lattice are taken one by one: wide ones
 * of a large one take seconds. The next step lays the body out again, which allocates. Wakes it. LM_ERROR_ARGUMENT for
 * a body that can break or an octree whose detail changes (lm_body_set_detail). */
LM_API lm_result lm_body_set_examples(lm_world *world, lm_body_id body, const lm_examples_def *def);

/* `beta` of the definition, from the next step on. LM_ERROR_ARGUMENT when the body has no examples, as below. */
LM_API lm_result lm_body_set_example_beta(lm_world *world, lm_body_id body, float beta);
LM_API lm_result lm_body_get_example_beta(const lm_world *world, lm_body_id body, float *beta);

/* The mix found in the last substep, before beta: lm_body_info.examples weights for each of lm_body_info.example_groups
 * groups (1 for the whole body, or as many as regions); what they lack to 1 is the weight of the rest pose. All 0
 * before the first step. Forced weights are given as they were set. */
LM_API lm_result lm_body_get_example_weights(const lm_world *world, lm_body_id body, float *weights);

/* Forces the mix, as an animator's slider does: as many weights as above, each 0 to 1, for no group more than 1 in all.
 * They count in full, whatever beta is, until others are set. Null: the mix is found again. */
LM_API lm_result lm_body_set_example_weights(lm_world *world, lm_body_id body, const float *weights);

/* A pose for the particles from a pose of a surface alone. `rest` and `pose` are the vertices of any surface around or
 * in the body, in the rest pose (body frame, metres) and as they shall be; null for `rest`: those of the body's skin.
 * Each particle goes where the surface near it goes, by an affine fit that weighs vertices by the inverse fourth power
 * of their distance: turns, shears and stretches of the whole surface come out exactly. */
LM_API lm_result lm_body_carry_pose(const lm_world *world, lm_body_id body, const lm_vec3 *rest, const lm_vec3 *pose,
                                    uint32_t vertex_count, lm_vec3 *positions);

/* ------------------------------------------------------------------------------------------------------------------
 * Forces
 *
 * A force acts during the whole of the next lm_world_step only; an impulse acts at once. Both may be any finite number;
 * speeds stay within LM_MAX_SPEED. Points are in world coordinates. A particle index beyond the last gives
 * LM_ERROR_ARGUMENT.
 */

/* Newtons on the whole body, spread by mass (so that it does not deform the body). */
LM_API lm_result lm_body_add_force(lm_world *world, lm_body_id body, lm_vec3 force);

/* Newtons on one particle. */
LM_API lm_result lm_body_add_particle_force(lm_world *world, lm_body_id body, uint32_t particle, lm_vec3 force);

/* Newton seconds at a point, as on a rigid body: changes velocity and spin, does not deform. */
LM_API lm_result lm_body_add_impulse(lm_world *world, lm_body_id body, lm_vec3 impulse, lm_dvec3 point);

/* Newton seconds on one particle. */
LM_API lm_result lm_body_add_particle_impulse(lm_world *world, lm_body_id body, uint32_t particle, lm_vec3 impulse);

typedef enum lm_field_kind {
    LM_FIELD_UNIFORM = 0, /* acceleration `vector` everywhere */
    LM_FIELD_WIND,        /* air that moves at `vector` m/s pulls every particle along at the rate `strength` 1/s */
    LM_FIELD_POINT,       /* acceleration `strength` towards `position` (away from it when negative), falling off
                             linearly to nothing at `radius` */
    LM_FIELD_KIND_COUNT
} lm_field_kind;

typedef struct lm_field_def {
    lm_field_kind kind;
    lm_vec3 vector;    /* uniform: m/s², wind: m/s; up to 1e6 along each axis, default 0 */
    lm_dvec3 position; /* point: world */
    float strength;    /* wind: 1/s, 0 to 1e6; point: m/s², -1e6 to 1e6; default 1 */
    float radius;      /* point: metres, above 0; default 1 */
    uint32_t cookie;
} lm_field_def;

/* A uniform field of no acceleration, and the defaults above. */
LM_API lm_field_def lm_field_def_default(void);

/* Adds a field, which acts on every particle of the world from the next step on; replaces it; takes it away. */
LM_API lm_result lm_field_create(lm_world *world, const lm_field_def *def, lm_field_id *field);
LM_API lm_result lm_field_set(lm_world *world, lm_field_id field, const lm_field_def *def);
LM_API lm_result lm_field_get(const lm_world *world, lm_field_id field, lm_field_def *def);
LM_API lm_result lm_field_destroy(lm_world *world, lm_field_id field);

/* ------------------------------------------------------------------------------------------------------------------
 * Movers: frames on which colliders, pins and joints can ride
 *
 * A mover without mass (default) moves as told and is never pushed; what pushes it can be read.
 *
 * A mover with mass is a rigid body that Limber moves: it falls, turns, is pushed by what touches its colliders and by its
 * joints, comes to rest and sleeps. Its position is its centre of mass: place the colliders around it. Contacts with bodies are
 * solved together with all others of the bodies, for both sides at once, so that neither a heavy mover on a light body nor the
 * other way round is a matter of small steps. Its spheres, capsules and boxes also touch planes, spheres, capsules and boxes, of
 * the world and of other movers, where the group of each is in the mask of the other; height maps and meshes they touch with
 * some of their points (ends and middles of what is round; corners and middles of edges and faces of boxes). Its height maps and
 * meshes touch bodies alone, its planes bodies and other movers. Friction and restitution are those of colliders with bodies,
 * with the other collider's in place of the material's. It has no pins (glue it: lm_joint_def), makes no contact events for what
 * it has to do with other colliders, feels gravity and no fields, and is not stopped on its way through a thin collider in a
 * fast substep. A device leaves a world with such movers to the CPU.
 */

typedef struct lm_mover_def {
    lm_pose pose;
    lm_vec3 velocity;   /* metres a second, up to 1e6 along each axis; default 0 */
    lm_vec3 spin;       /* radians a second, world axes, about the frame's origin, up to 1e6 about each; default 0 */
    uint64_t user_data; /* yours */
    float mass;         /* kilograms, 1e-30 to 1e12; or 0 (default): it moves as told */
    lm_vec3 inertia; /* with a mass: moments of inertia about the frame's axes, kg m²; default 0: those of its spheres,
                           capsules and boxes, as if filled evenly (without any: of a ball of half a metre) */
    bool may_sleep;  /* with a mass: in a world that lets bodies sleep (lm_world_set_sleep); default true */
    uint32_t cookie;
} lm_mover_def;

/* A mover that stands still at the origin, without mass. */
LM_API lm_mover_def lm_mover_def_default(void);

/* Adds a mover; it begins to move with the next step. */
LM_API lm_result lm_mover_create(lm_world *world, const lm_mover_def *def, lm_mover_id *mover);

/* Takes a mover away; what rides on it stays where it is, at rest. */
LM_API lm_result lm_mover_destroy(lm_world *world, lm_mover_id mover);

/* From now on it moves with this velocity (m/s) and spin (rad/s), each up to 1e6 an axis; forgets a
 * lm_mover_move_to. */
LM_API lm_result lm_mover_set_velocity(lm_world *world, lm_mover_id mover, lm_vec3 velocity, lm_vec3 spin);

/* It moves evenly, and turns the short way, so that the next lm_world_step ends with this pose; it stands still
 * after. Not for a mover with mass: LM_ERROR_ARGUMENT. */
LM_API lm_result lm_mover_move_to(lm_world *world, lm_mover_id mover, lm_pose pose);

/* Where the mover is now. */
LM_API lm_result lm_mover_get_pose(const lm_world *world, lm_mover_id mover, lm_pose *pose);

/* It is there at once, with what rides on it; velocity and spin stay; forgets a lm_mover_move_to. Colliders that arrive
 * inside a body push it out in the next step. Wakes what is near a collider of it, before and after, and what it
 * pins. */
LM_API lm_result lm_mover_set_pose(lm_world *world, lm_mover_id mover, lm_pose pose);

/* Gives it another mass (0: none) and other moments of inertia, as lm_mover_def has them; forgets a lm_mover_move_to. What is
 * without mass from now on goes on as it moves. */
LM_API lm_result lm_mover_set_mass(lm_world *world, lm_mover_id mover, float mass, lm_vec3 inertia);

/* Gives a mover with mass an impulse (N s, up to 1e12 along each axis) at a point of the world, at once. */
LM_API lm_result lm_mover_apply_impulse(lm_world *world, lm_mover_id mover, lm_vec3 impulse, lm_dvec3 point);

/* Whether a mover takes part in steps (one without mass always does); false for an id that is not valid. Sleep is as that of
 * bodies: movers with mass and bodies near each other, or joined, fall asleep and wake together. */
LM_API bool lm_mover_is_awake(const lm_world *world, lm_mover_id mover);
LM_API lm_result lm_mover_set_may_sleep(lm_world *world, lm_mover_id mover, bool may_sleep);
LM_API lm_result lm_mover_wake(lm_world *world, lm_mover_id mover);

/* What it would be made with now: its pose, velocity and spin, mass and what is yours. */
LM_API lm_result lm_mover_get_def(const lm_world *world, lm_mover_id mover, lm_mover_def *def);
LM_API lm_result lm_mover_set_user_data(lm_world *world, lm_mover_id mover, uint64_t user_data);

/* From now on, and first of all in this substep: it is at this pose and moves with this velocity and spin, in one call and
 * without waking anybody, for lm_substep functions. (Bodies near a mover that moves when a step begins are awake.) Limits and
 * failures as those of lm_mover_set_pose and lm_mover_set_velocity. */
LM_API lm_result lm_mover_steer(lm_world *world, lm_mover_id mover, lm_pose pose, lm_vec3 velocity, lm_vec3 spin);

/* What bodies have given something that does not yield: the sum of all impulses, and of their moments about its centre. Forces
 * are these over the seconds of the step or the substep. */
typedef struct lm_wrench {
    lm_dvec3 impulse; /* N s, world axes */
    lm_dvec3 angular; /* N m s, world axes, about where its position was in that substep */
} lm_wrench;

/* What contacts with its colliders, pins and joints gave a mover in the last step and in its last substep; either may be null.
 * Zero before the first step and after loading. The sum over everything that a body touches is what the body lost, and it is the
 * same for any number of workers. A body that sleeps presses on nothing. LM_ERROR_UNSUPPORTED when a device made the last step:
 * devices keep no such account (a world with joints or a substep function is stepped by the CPU). */
LM_API lm_result lm_mover_get_wrench(const lm_world *world, lm_mover_id mover, lm_wrench *step, lm_wrench *substep);

/* ------------------------------------------------------------------------------------------------------------------
 * Colliders
 */

typedef enum lm_shape {
    LM_SHAPE_PLANE = 0, /* solid below the plane through the pose's position; the normal is the pose's Y axis */
    LM_SHAPE_SPHERE,    /* radius */
    LM_SHAPE_CAPSULE,   /* radius, and half_length of its axis along Y */
    LM_SHAPE_BOX,       /* half_extents */
    LM_SHAPE_HEIGHTS,   /* a height map: solid below it, nothing beyond its borders */
    LM_SHAPE_MESH,      /* a triangle mesh: a solid, or a sheet of no thickness with two sides */
    LM_SHAPE_COUNT
} lm_shape;

/* A grid of heights along the collider's Y axis. Sample (i, k) stands at x = (i - (counts[0] - 1) / 2) spacing and
 * z = (k - (counts[1] - 1) / 2) spacing: the middle of the map is the collider's position. The diagonal from (i, k) to
 * (i + 1, k + 1) divides four samples into two triangles. */
typedef struct lm_heights {
    const float *heights; /* metres, counts[0] x counts[1] of them, x first; finite; copied */
    uint32_t counts[2];   /* along x and z, 2 to 16384, at most 2^26 in all */
    float spacing;        /* metres between samples, above 0, at most 1e6; default 1 */
} lm_heights;

/* Any soup of triangles. Those without area are ignored; one must have some. */
typedef struct lm_collider_mesh {
    const lm_vec3 *vertices; /* in the collider's frame, metres; copied */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three vertex indices each; copied */
    uint32_t triangle_count;   /* 1 to 2^24 */
    /* closed parts that face outward (they may overlap) have an inside; default false: two sides of a sheet */
    bool solid;
    /* its vertices can be moved (lm_collider_move_vertices); default false. Contacts with it take longer to find, and a
     * device leaves the world to the CPU. */
    bool deforms;
} lm_collider_mesh;

typedef struct lm_collider_def {
    lm_shape shape;       /* default LM_SHAPE_PLANE */
    float radius;         /* metres, above 0; default 0.5 */
    float half_length;    /* metres, at least 0; default 0.5 */
    lm_vec3 half_extents; /* metres, above 0; default 0.5 each */
    lm_heights heights;
    lm_collider_mesh mesh;
    lm_pose pose;      /* in the world, or in the mover's frame */
    lm_mover_id mover; /* {0} (default): stands still */
    float friction;    /* 0 to 1e6; default 0.5; see lm_material */
    float restitution; /* 0 to 1; default 0; see lm_material */
    /* A body and a collider touch when a group of the body, as a bit, is in the collider's mask, and one of the
     * collider in the body's collider_mask. */
    uint32_t group;     /* default 1 */
    uint32_t mask;      /* default all groups */
    uint64_t user_data; /* yours */
    uint32_t cookie;
} lm_collider_def;

/* A plane through the origin that faces up, and the defaults above. */
LM_API lm_collider_def lm_collider_def_default(void);

/* Adds a collider. At the end of a substep each particle inside it, or nearer to it than the body's contact radius, is
 * put on its surface; where several colliders claim a particle, the one with the highest slot comes last. Particles
 * that meet a height map or a mesh on their way through a substep are stopped there, however fast they are: they do not
 * pass through a sheet. They are kept up to 0.1 mm off its surface, so that rounding does not change their side. A body
 * that goes further in a substep than its own size and a metre, seen from the map or mesh, stops as a whole where it
 * meets it: it loses the rest of its way, bounces and slides on from there, and is not turned. (A device leaves such
 * substeps to the CPU.) */
LM_API lm_result lm_collider_create(lm_world *world, const lm_collider_def *def, lm_collider_id *collider);
LM_API lm_result lm_collider_destroy(lm_world *world, lm_collider_id collider);

/* Where the collider is now, in the world. */
LM_API lm_result lm_collider_get_pose(const lm_world *world, lm_collider_id collider, lm_pose *pose);

/* The definition it was made with, or that was set since: the pose in its mover's frame (when that was destroyed, in
 * the world), vertices that were moved where they are, what the shape does not use at its default. Its arrays are the world's own: they live until the collider
 * is destroyed or given another shape, or the world is loaded or destroyed. */
LM_API lm_result lm_collider_get_def(const lm_world *world, lm_collider_id collider, lm_collider_def *def);

/* Makes it what another definition says, from the next step on; its id stays. Height maps and meshes are made again.
 * Wakes what is near it, before and after, as all of these but the last do. */
LM_API lm_result lm_collider_set_def(lm_world *world, lm_collider_id collider, const lm_collider_def *def);

/* Single parts of the definition: the pose in the world, or in its mover's frame; friction (0 to 1e6) and restitution
 * (0 to 1); group and mask. It is there at once: what is in its way is pushed out, not hit. To move it, let it ride on
 * a mover. */
LM_API lm_result lm_collider_set_pose(lm_world *world, lm_collider_id collider, lm_pose pose);
LM_API lm_result lm_collider_set_friction(lm_world *world, lm_collider_id collider, float friction, float restitution);
LM_API lm_result lm_collider_set_filter(lm_world *world, lm_collider_id collider, uint32_t group, uint32_t mask);

/* Where the vertices of a mesh that deforms (lm_collider_mesh) are, in its frame; as many as it has. Moved, they go in
 * straight lines during the next step and are there at its end, and stand still after it: call it before every step of
 * an animation. What touches the mesh gets its velocity; it does not get through, however fast the mesh passes. Set, they
 * are there at once: what is in the way is pushed out, not hit. The last call before a step counts.
 * lm_collider_get_def tells where they are. */
LM_API lm_result lm_collider_move_vertices(lm_world *world, lm_collider_id collider, const lm_vec3 *vertices,
                                           uint32_t vertex_count);
LM_API lm_result lm_collider_set_vertices(lm_world *world, lm_collider_id collider, const lm_vec3 *vertices,
                                          uint32_t vertex_count);

/* A collider that is not enabled touches nothing and is not found by rays and overlaps. They are enabled when they are
 * made. */
LM_API lm_result lm_collider_set_enabled(lm_world *world, lm_collider_id collider, bool enabled);
LM_API bool lm_collider_is_enabled(const lm_world *world,
                                   lm_collider_id collider); /* false for an id that is not valid */
LM_API lm_result lm_collider_set_user_data(lm_world *world, lm_collider_id collider, uint64_t user_data);

/* What contacts gave a collider, as lm_mover_get_wrench says it, about the position of the collider's own frame. */
LM_API lm_result lm_collider_get_wrench(const lm_world *world, lm_collider_id collider, lm_wrench *step,
                                        lm_wrench *substep);

/* ------------------------------------------------------------------------------------------------------------------
 * Contact rules and methods: friction and restitution between groups, in place of what lm_material says; and how bodies
 * keep each other out
 */

#define LM_MAX_CONTACT_RULES 64
#define LM_CONTACT_COMBINED (-1.0f) /* in a rule: the root of the product, or the larger one, as without the rule */

/* Between bodies and colliders of which one is in a group of group_a and the other in one of group_b (bits; several are
 * allowed, and a and b may be the same), friction is `friction` (0 to 1e6) and restitution `restitution` (0 to 1),
 * either of them LM_CONTACT_COMBINED to leave it as it was. Where several rules fit, the one given last counts. A rule
 * for the same two sets of groups takes the place of the one before. LM_ERROR_ARGUMENT for a number out of its range or
 * an empty set, LM_ERROR_LIMIT beyond LM_MAX_CONTACT_RULES. Wakes everybody. */
LM_API lm_result lm_world_set_contact_rule(lm_world *world, uint32_t group_a, uint32_t group_b, float friction,
                                           float restitution);

/* Takes the rule for these two sets of groups away, in either order; LM_ERROR_ARGUMENT when there is none. */
LM_API lm_result lm_world_remove_contact_rule(lm_world *world, uint32_t group_a, uint32_t group_b);

/* How bodies keep each other out. Colliders are the same with all of them. */
typedef enum lm_contact_method {
    LM_CONTACT_METHOD_SOLVED =
        0, /* distance fields, and impulses that are solved together: friction, restitution, rest */
    /* The papers', for comparison: a force of lm_body_def.penalty times the depth, of two bodies the larger constant
     * that was given, on both sides. No friction and no restitution; bodies sink into each other. A point is given at
     * most what brings it out within the substep, whatever the constant. Momentum is kept, energy is not: what is deep
     * in another body comes out fast. */
    LM_CONTACT_METHOD_PENALTY,
    /* The same force, with depth and direction from cube maps of 6 x 16 x 16 distances around places inside the body,
     * straight away from the place: for bodies that are star-shaped around a few. A body touches itself as with the
     * penalty. The step after the method was chosen makes the maps, which allocates: 200 kB for each body. */
    LM_CONTACT_METHOD_CUBE_MAP,
    LM_CONTACT_METHOD_COUNT
} lm_contact_method;

/* For all bodies of the world, from the next step on; wakes everybody. */
LM_API lm_result lm_world_set_contact_method(lm_world *world, lm_contact_method method);
LM_API lm_contact_method lm_world_get_contact_method(const lm_world *world);

/* ------------------------------------------------------------------------------------------------------------------
 * Contact events: who touches whom
 */

typedef enum lm_contact_phase {
    LM_CONTACT_BEGAN = 0, /* they press on each other and did not touch before this step */
    LM_CONTACT_PERSISTS,  /* they touched before and still do, or are less than a step's fall apart */
    LM_CONTACT_ENDED,     /* they touched before and do not now, or one of them is gone */
    LM_CONTACT_PHASE_COUNT
} lm_contact_phase;

/* What one body and another, itself or a collider did to each other during a step, all places together. */
typedef struct lm_contact_event {
    lm_contact_phase phase;
    lm_body_id body;         /* of two bodies the one with the lower slot */
    lm_body_id other;        /* the same id: it touches itself; {0}: a collider */
    lm_collider_id collider; /* or {0} */
    lm_dvec3 point;          /* world: the mean of all places, those that were pressed harder counting more; of one that
                                ended, where it last was */
    lm_vec3 normal;          /* unit, towards `body`: the mean, as above; zero where directions cancel */
    /* N s that `body` got in this step, friction included; the other side got the opposite. Zero when it ended, and
     * of a body that touches itself */
    lm_vec3 impulse;
    float pressed;  /* N s along the normals, the sizes of all places added up */
    float approach; /* m/s at which the fastest two points met along their normal; 0 when they parted only */
} lm_contact_event;

/* Colliders that a body is known to touch in one step, at most; and pairs of bodies, for each body that has a mask or
 * touches itself. More are left out. */
#define LM_MAX_TOUCHED_COLLIDERS 8
#define LM_MAX_TOUCHED_BODIES 8

/* Whether steps keep account of who touches whom; from the next step on. Off by default: it takes up to four kilobytes
 * for each body, and some time for each contact. Switched off it forgets what touched, so that events begin again. */
LM_API lm_result lm_world_set_contact_events(lm_world *world, bool on);
LM_API bool lm_world_get_contact_events_on(const lm_world *world);

/* Writes up to `capacity` events of the last step into `events` (may be null when capacity is 0) and returns how many
 * there are. They come by the slot of `body`; of each first itself, then colliders, then other bodies, by their slots,
 * whatever the number of workers. lm_stats.contacts_left_out counts places for which there was no room. Ids of what was
 * destroyed since are stale. Sleeping bodies go on touching what they touched, without impulse. Empty after
 * lm_world_load, which still knows what touched. */
LM_API uint32_t lm_world_get_contact_events(const lm_world *world, lm_contact_event *events, uint32_t capacity);

/* ------------------------------------------------------------------------------------------------------------------
 * Sleep: bodies at rest are left out of the step
 *
 * Bodies that touch each other fall asleep together, when none of their particles has been faster than `speed` for
 * `seconds`. Then their velocities are exactly zero, and nothing of them is computed, until one is woken, which wakes
 * the others: by a body that presses on it, by a moving collider near it (whose box reaches its own) or a moving mover
 * that pins it, by a drag, or by any call that changes it, what it rests on (colliders and bodies created, destroyed)
 * or what acts on it (gravity, fields, forces, contact rules). A body that is hit while asleep takes its share of the
 * impulse at once, and begins to move with the next step. One that is dragged does not fall asleep.
 *
 * Off by default. A body asleep does not creep, sag or settle any further, which is a change of result that a host
 * should ask for; and what moves slower than the threshold on purpose would be stopped.
 */

typedef struct lm_sleep {
    bool enabled;  /* default false */
    float speed;   /* m/s, above 0, at most 1e6; default 0.05 */
    float seconds; /* 0 to 1e6; default 0.5 */
} lm_sleep;

/* The defaults above. */
LM_API lm_sleep lm_sleep_default(void);

/* Sets it for the world; switching it off wakes everybody. */
LM_API lm_result lm_world_set_sleep(lm_world *world, const lm_sleep *sleep);
LM_API lm_sleep lm_world_get_sleep(const lm_world *world);

/* Allows or forbids a body to sleep (lm_body_def.may_sleep); forbidding wakes it, and whatever touches it stays
 * awake. */
LM_API lm_result lm_body_set_may_sleep(lm_world *world, lm_body_id body, bool may_sleep);
LM_API bool lm_body_may_sleep(const lm_world *world, lm_body_id body); /* false for an id that is not valid */

/* Whether a body takes part in steps; false for an id that is not valid. */
LM_API bool lm_body_is_awake(const lm_world *world, lm_body_id body);

/* Wakes a body and those that sleep with it. Of one that is awake, it restarts the time. */
LM_API lm_result lm_body_wake(lm_world *world, lm_body_id body);

/* ------------------------------------------------------------------------------------------------------------------
 * Pins and drags
 */

/* Holds particles at points of the world or of a mover, at the end of every substep, whatever drags and colliders say.
 * In the fit a held particle weighs as much as the whole body, so that the body hangs on it instead of stretching away
 * from it. A mover with mass is pushed by its pins: it and what they hold are one rigid body, and their particles weigh
 * what they weigh. A particle can be held by one pin at a time (LM_ERROR_ARGUMENT). */
typedef struct lm_pin_def {
    lm_body_id body;
    const uint32_t *particles; /* copied */
    uint32_t particle_count;   /* at least 1 */
    const lm_dvec3 *targets;   /* world coordinates, one for each; null (default): where the particles are now */
    lm_mover_id mover;         /* {0} (default): the world. The targets ride on the mover from its pose now */
    uint32_t cookie;
} lm_pin_def;

/* A pin that holds nothing yet: it needs a body and particles. */
LM_API lm_pin_def lm_pin_def_default(void);

/* Adds a pin; lets its particles go. The step after either lays the body out again, which allocates. */
LM_API lm_result lm_pin_create(lm_world *world, const lm_pin_def *def, lm_pin_id *pin);
LM_API lm_result lm_pin_destroy(lm_world *world, lm_pin_id pin);

typedef struct lm_pin_info {
    lm_body_id body;
    lm_mover_id mover; /* {0}: the world, also when its mover was destroyed */
    uint32_t particles;
} lm_pin_info;

LM_API lm_result lm_pin_get_info(const lm_world *world, lm_pin_id pin, lm_pin_info *info);

/* Its particles (indices), and where they are held now, in the world: lm_pin_info.particles of each. Either array may
 * be null. */
LM_API lm_result lm_pin_get_targets(const lm_world *world, lm_pin_id pin, uint32_t *particles, lm_dvec3 *targets);

/* Holds the particles at other points from the next step on: world coordinates, one for each particle in the order of
 * lm_pin_get_targets. On a mover they ride along from its pose now. Wakes the body. */
LM_API lm_result lm_pin_set_targets(lm_world *world, lm_pin_id pin, const lm_dvec3 *targets);

/* A spring from a target point to a particle and its surroundings: a hand that pulls. It is integrated implicitly and
 * so stays stable however stiff it is. */
typedef struct lm_drag_def {
    lm_body_id body;
    uint32_t particle;   /* index */
    float radius;        /* rest-pose neighbourhood that is pulled along, less the farther away, metres; default 0: the
                            particle alone */
    lm_dvec3 target;     /* world */
    float hertz;         /* as if the spring held the whole body's mass; above 0, at most 1e6, default 2 */
    float damping_ratio; /* 0 to 1e6; default 1 */
    float max_force;     /* newtons, above 0; default FLT_MAX */
    uint32_t cookie;
} lm_drag_def;

/* A drag of particle 0 to the origin; it needs a body. */
LM_API lm_drag_def lm_drag_def_default(void);

/* Adds a drag; it acts in every step until it is destroyed. */
LM_API lm_result lm_drag_create(lm_world *world, const lm_drag_def *def, lm_drag_id *drag);

/* Moves the point that it pulls to, in world coordinates. */
LM_API lm_result lm_drag_set_target(lm_world *world, lm_drag_id drag, lm_dvec3 target);

/* The definition it was made with, or that was set since; and another one, from the next step on: any part of it but
 * the body (LM_ERROR_ARGUMENT). Wakes the body. */
LM_API lm_result lm_drag_get_def(const lm_world *world, lm_drag_id drag, lm_drag_def *def);
LM_API lm_result lm_drag_set_def(lm_world *world, lm_drag_id drag, const lm_drag_def *def);

/* The force on the body in the last substep, newtons; zero before the first. */
LM_API lm_result lm_drag_get_force(const lm_world *world, lm_drag_id drag, lm_vec3 *force);

/* Takes a drag away. */
LM_API lm_result lm_drag_destroy(lm_world *world, lm_drag_id drag);

/* ------------------------------------------------------------------------------------------------------------------
 * Skeletons
 *
 * Rigid bones inside a soft body, moved by the host program (an animation, a character controller): bones push the
 * flesh, flesh does not move bones, unless they ride on movers that have a mass (lm_skeleton_set_mover). A body of any
 * kind (clusters, tets, a lattice) can have one skeleton.
 *
 * A bone has a frame in the rest pose of the body, and a segment from the frame's origin (its joint) to its tail.
 * Particles are attached to bones by weights from 0 to 1. Where a particle belongs is the mean of the places to which
 * its bones carry its rest position, weighted by its weights; how firmly it is drawn there is the sum of them:
 *
 *   1         held: at the end of every substep it is there, with the velocity that its bones have there, whatever
 *             drags and colliders say. A pin goes before.
 *   below 1   pulled, by a spring of its own with the stiffness of `hertz` times weight / (1 - weight), integrated
 *             implicitly. Colliders go before.
 *
 * In fits an attached particle weighs what it weighs: soft flesh lags behind its bones and swings after them, as far as
 * the material lets it. (A pin, in contrast, weighs as much as the body.) Regional damping suits a body with a
 * skeleton: global damping would hold its limbs back.
 *
 * In each frame:
 *
 *     lm_skeleton_move_to(world, skeleton, poses);      // one for each bone: where it shall be at the end of the step
 *     lm_world_step(world, 1.0 / 60.0);
 */

#define LM_MAX_BONES 4096

typedef struct lm_bone {
    lm_pose rest; /* its frame in the rest pose, in the body's own frame; within LM_MAX_COORDINATE */
    lm_vec3 tail; /* where its segment ends, in the bone's own frame, metres; default the origin: a point */
    /* Attachment by distance of the rest position from the segment: 1 up to `radius`, then less, smoothly to 0 at
     * radius + fade. A particle in reach of several bones is drawn as firmly as by the nearest and shared between them
     * in proportion. Metres, 0 to LM_MAX_COORDINATE; a radius below 0 (default) attaches nothing. */
    float radius, fade;
} lm_bone;

/* A bone at the origin that attaches nothing by itself. */
LM_API lm_bone lm_bone_default(void);

typedef struct lm_attachment {
    uint32_t particle; /* index */
    uint32_t bone;     /* index */
    float weight;      /* 0 to 1; where those of a particle add up to more than 1 they are scaled to 1 */
} lm_attachment;

typedef struct lm_skeleton_def {
    lm_body_id body;
    const lm_bone *bones;             /* copied */
    uint32_t bone_count;              /* 1 to LM_MAX_BONES */
    const lm_attachment *attachments; /* in any order, copied; null (default): by distance, as the bones say */
    uint32_t attachment_count;
    lm_pose pose; /* of the body's frame in the world, as in lm_body_def: bones start at their rest poses in it; default
                     identity */
    float hertz;  /* of the pull on a particle of weight 1/2, 0 to 1e6; default 8 */
    float damping_ratio; /* of that pull, 0 to 1e6; default 0.5 */
    uint32_t cookie;
} lm_skeleton_def;

/* A definition with the defaults above; it needs a body and bones. */
LM_API lm_skeleton_def lm_skeleton_def_default(void);

/* Gives a body a skeleton. LM_ERROR_ARGUMENT when it has one already, or is an octree whose detail changes
 * (lm_body_set_detail). No particle need be attached. */
LM_API lm_result lm_skeleton_create(lm_world *world, const lm_skeleton_def *def, lm_skeleton_id *skeleton);

/* Takes a skeleton away; its particles are free. */
LM_API lm_result lm_skeleton_destroy(lm_world *world, lm_skeleton_id skeleton);

/* The bones move evenly, and turn the short way, so that the next lm_world_step ends with these world poses, one for
 * each bone; they stand still after. Nothing moves when one of the poses is not finite, or its rotation is no rotation
 * (see lm_quat): LM_ERROR_ARGUMENT, with the number of the bone in the log. */
LM_API lm_result lm_skeleton_move_to(lm_world *world, lm_skeleton_id skeleton, const lm_pose *poses);

/* The bones are there at once, and at rest, for a character that is put elsewhere. The flesh is not moved along: what
 * is held follows in the next substep and drags the rest behind it, unless lm_body_set_state puts it there as well. */
LM_API lm_result lm_skeleton_set_poses(lm_world *world, lm_skeleton_id skeleton, const lm_pose *poses);

/* A bone rides on a mover from now on, as it stands to it now; {0}: on none, and it stays where it is. Its poses in
 * lm_skeleton_move_to then do not count, and lm_skeleton_set_poses puts it elsewhere on the mover. A mover with mass is
 * pushed by what its bones hold: both are one rigid body, and springs pull at both ends. One bone for each mover, and
 * joints between these, are a character of flesh that falls. LM_ERROR_ARGUMENT when a joint is on the bone. A mover
 * that is destroyed leaves its bones where they are. */
LM_API lm_result lm_skeleton_set_mover(lm_world *world, lm_skeleton_id skeleton, uint32_t bone, lm_mover_id mover);
LM_API lm_result lm_skeleton_get_mover(const lm_world *world, lm_skeleton_id skeleton, uint32_t bone,
                                       lm_mover_id *mover); /* {0}: none */

typedef struct lm_skeleton_info {
    lm_body_id body;
    uint32_t bones;
    uint32_t attachments; /* pairs of a particle and a bone */
    uint32_t particles;   /* that are attached */
    uint32_t held;        /* of them with a weight of 1 in all */
    float hertz, damping_ratio;
} lm_skeleton_info;

LM_API lm_result lm_skeleton_get_info(const lm_world *world, lm_skeleton_id skeleton, lm_skeleton_info *info);

/* Another pull on what is attached, from now on, as in lm_skeleton_def: flesh grows firmer or slacker. */
LM_API lm_result lm_skeleton_set_spring(lm_world *world, lm_skeleton_id skeleton, float hertz, float damping_ratio);

/* The body's skeleton; {0} when it has none. */
LM_API lm_result lm_body_get_skeleton(const lm_world *world, lm_body_id body, lm_skeleton_id *skeleton);

/* The bones as they were defined, their world poses now, and the attachments that were given or found, in the order of
 * particles and then bones. Each into the caller's array, of the lengths that lm_skeleton_info says. */
LM_API lm_result lm_skeleton_get_bones(const lm_world *world, lm_skeleton_id skeleton, lm_bone *bones);
LM_API lm_result lm_skeleton_get_poses(const lm_world *world, lm_skeleton_id skeleton, lm_pose *poses);
LM_API lm_result lm_skeleton_get_attachments(const lm_world *world, lm_skeleton_id skeleton,
                                             lm_attachment *attachments);

/* What the flesh gave each bone in the last step, about where the bone's frame was; one for each bone. As with
 * lm_mover_get_wrench. */
LM_API lm_result lm_skeleton_get_wrenches(const lm_world *world, lm_skeleton_id skeleton, lm_wrench *wrenches);

/* Where the bones want the particles of the body now, relative to `base`: for each of lm_body_info.particles a position
 * and a weight (0 and the particle's own position for those that are not attached). Either array may be null. */
LM_API lm_result lm_skeleton_get_targets(const lm_world *world, lm_skeleton_id skeleton, lm_dvec3 base,
                                         lm_vec3 *positions, float *weights);

/* Values for particles from values for the vertices of a surface (the weights of an animated mesh, say): `channels`
 * floats for each vertex become as many for each particle, the mean over the four vertices nearest to its rest position
 * weighted by the inverse square of their distance; on a vertex they are that vertex's. `vertices` are in the body's
 * own frame; null: those of its skin. */
LM_API lm_result lm_body_carry_values(const lm_world *world, lm_body_id body, const lm_vec3 *vertices,
                                      uint32_t vertex_count, const float *values, uint32_t channels, float *carried);

/* ------------------------------------------------------------------------------------------------------------------
 * Joints
 *
 * A joint connects two ends. An end is a patch of a body (some of its particles, which move together as far as the joint is
 * concerned), a mover, a bone, or the world. What it leaves free is what its kind says:
 *
 *   glue       nothing: the ends keep the places and the angles that they have when it is made
 *   ball       turning about the anchors, which are held together
 *   hinge      turning about the axis through the anchors
 *   distance   everything but the distance of the anchors
 *   slider     moving along the axis
 *
 * A joint is as stiff as it can be (hertz 0), or a spring and a damper of that frequency. Both are integrated implicitly: they are
 * stable however stiff, and whatever the masses. What one end is given the other loses: momentum and angular momentum of two bodies
 * are kept. Joints act at the end of a substep, after contacts and pins, in the order of their slots; where they share particles
 * they are solved together in sweeps.
 *
 * A patch answers with the mass of its own particles, and the body follows in the next substeps as its material lets it: a small
 * patch of a stiff body gives way under a load, by about force times h² over the patch's mass. A body of LM_STIFFNESS_ALPHA with
 * alpha 0.9 or more is held as a whole, unless particles are listed. A patch with a particle that a pin or a bone holds does
 * not yield.
 *
 * Bodies that are joined sleep and wake together. A joint goes with the bodies and the skeleton at its ends; of a mover that is
 * destroyed the world takes the place. A body with a joint must not be an octree whose cells change (lm_body_set_detail,
 * lm_body_refine and cuts of octrees are refused), because its patch would be gone.
 */

typedef enum lm_joint_kind {
    LM_JOINT_GLUE = 0,
    LM_JOINT_BALL,
    LM_JOINT_HINGE,
    LM_JOINT_DISTANCE,
    LM_JOINT_SLIDER,
    LM_JOINT_KIND_COUNT
} lm_joint_kind;

typedef struct lm_joint_end {
    lm_dvec3 anchor; /* where it is attached now, world; up to LM_MAX_POSITION along each axis */
    lm_body_id body; /* {0} (default): something else */
    /* The patch: these particles (copied), or (null, the default) those whose rest positions are within `radius` metres of the
     * particle nearest to the anchor, and at least the eight nearest. INFINITY: the whole body. */
    const uint32_t *particles;
    uint32_t particle_count;
    float radius;
    lm_mover_id mover;       /* where there is no body; {0} (default): something else */
    lm_skeleton_id skeleton; /* where there is neither: its `bone`; {0} (default): the world */
    uint32_t bone;
} lm_joint_end;

typedef struct lm_joint_def {
    lm_joint_kind kind;  /* default LM_JOINT_GLUE */
    lm_joint_end a, b;   /* one of them a body */
    lm_vec3 axis;        /* of a hinge or a slider, world, not 0; default Z */
    float length;        /* of a distance, metres; below 0 (default): as it is now */
    float hertz;         /* 0 (default): as stiff as can be; up to 1e6. As if it held the bodies as a whole. */
    float damping_ratio; /* of the spring; 0 to 1e6; default 1 */
    float max_force;     /* newtons, above 0: beyond it the joint breaks; default FLT_MAX */
    float max_torque;    /* the same for its torque, N m */
    uint64_t user_data;  /* yours */
    uint32_t cookie;
} lm_joint_def;

/* Glue between two ends that are still to be given. */
LM_API lm_joint_def lm_joint_def_default(void);

/* Adds a joint; it acts from the next step on. Ends that are apart (anchors of a ball or a hinge) are drawn together. */
LM_API lm_result lm_joint_create(lm_world *world, const lm_joint_def *def, lm_joint_id *joint);
LM_API lm_result lm_joint_destroy(lm_world *world, lm_joint_id joint);

typedef struct lm_joint_info {
    lm_joint_kind kind;
    lm_body_id body[2]; /* of a and b; {0}: something else */
    lm_mover_id mover[2];
    lm_skeleton_id skeleton[2];
    uint32_t bone[2];
    uint32_t particles[2]; /* of the patches */
    float length, hertz, damping_ratio, max_force, max_torque;
    bool enabled; /* false also once it has broken */
    bool broken;
    uint64_t user_data;
} lm_joint_info;

LM_API lm_result lm_joint_get_info(const lm_world *world, lm_joint_id joint, lm_joint_info *info);

/* Where the anchors are, and what the joint did in the last substep; zero before the first. */
typedef struct lm_joint_state {
    lm_dvec3 anchor[2]; /* of a and b, world */
    lm_vec3 force;      /* newtons on b at the anchors; a has the opposite */
    lm_vec3 torque;     /* N m on b, beside the moment of the force */
    float apart;        /* metres by which what it holds is not where it should be */
    float turned;       /* the same for angles, radians */
} lm_joint_state;

LM_API lm_result lm_joint_get_state(const lm_world *world, lm_joint_id joint, lm_joint_state *state);

/* The particles of the patch of end 0 (a) or 1 (b): lm_joint_info.particles[end] of them. */
LM_API lm_result lm_joint_get_particles(const lm_world *world, lm_joint_id joint, uint32_t end, uint32_t *particles);

/* Parts of the definition, with its limits, from the next step on. Enabling a joint that has broken mends it. All of them wake the
 * bodies at its ends. */
LM_API lm_result lm_joint_set_spring(lm_world *world, lm_joint_id joint, float hertz, float damping_ratio);
LM_API lm_result lm_joint_set_strength(lm_world *world, lm_joint_id joint, float max_force, float max_torque);
LM_API lm_result lm_joint_set_length(lm_world *world, lm_joint_id joint, float length); /* at least 0 */
LM_API lm_result lm_joint_set_enabled(lm_world *world, lm_joint_id joint, bool enabled);
LM_API lm_result lm_joint_set_user_data(lm_world *world, lm_joint_id joint, uint64_t user_data);

/* All joints, and those that broke in the last step, in slot order: up to `capacity` ids, and how many there are. */
LM_API uint32_t lm_world_get_joints(const lm_world *world, lm_joint_id *ids, uint32_t capacity);
LM_API uint32_t lm_world_get_broken_joints(const lm_world *world, lm_joint_id *ids, uint32_t capacity);

/* ------------------------------------------------------------------------------------------------------------------
 * Fracture
 *
 * Neighbouring particles of a lattice are linked along the edges of its cells. A link that is stretched beyond its
 * limit breaks at the beginning of the next step. Particles on two sides of a crack are no longer in each other's
 * regions, and the surface opens along it: the skin of a body that can break is cut between particles whose link has
 * broken, each side is closed by an inner face, and lm_body_info.skin_vertices, skin_triangles and shape_hash change
 * with it.
 *
 * The smallest piece, a chip, has two particles a side, the corners of a cell; at the border of the body some more.
 * Only links from chip to chip break. Mass and momentum stay where they are. Pieces stay particles of their body; each
 * of them moves by itself, breaks again, and is told by lm_body_get_pieces.
 *
 * A step breaks at most LM_MAX_BREAKS links of a body, those farthest beyond their limits; others wait for the next. A
 * body that can break sums its regions by lists, which takes longer in shells and wide regions, has no examples, and
 * touches with its particles instead of its surface: colliders, and, where it has a mask (lm_body_def), other bodies
 * and its pieces each other. Fast pieces may pass through each other; they do not pass through other bodies.
 */

#define LM_MAX_BREAKS 2048

typedef struct lm_fracture_def {
    float limit;     /* strain at which a link breaks: 0.1 is a tenth longer than at rest. 0 to 1e6, default 0.1 */
    float variation; /* 0 to 1, default 0: each link has a limit of its own, drawn from limit (1 - variation) to
                      * limit (1 + variation) */
    uint32_t seed;   /* of what is drawn; default 1 */
    float grain; /* metres, 0 to 1e6: the body is made of grains of about this size that break apart easily. Default 0:
                      * there are none */
    float grain_strength; /* 0 to 1, default 0.3: of the links between grains, as a share of what they would have */
    /* For each particle a factor for the limits of its links, 0 or more; a link has the lower one of its two. Parts of
     * a body are made tough or brittle with it. Null: 1. Copied. */
    const float *factors;
    uint32_t cookie;
} lm_fracture_def;

LM_API lm_fracture_def lm_fracture_def_default(void);

/* Lets a lattice break; null: what holds holds from now on. LM_ERROR_ARGUMENT (not a lattice, one with examples, a
 * value out of range), LM_ERROR_LIMIT (a lattice whose lists would be too long) or LM_ERROR_MEMORY; then nothing has
 * changed. */
LM_API lm_result lm_body_set_fracture(lm_world *world, lm_body_id body, const lm_fracture_def *def);

/* Whether it can break, and how; `factors` is null. */
LM_API lm_result lm_body_get_fracture(const lm_world *world, lm_body_id body, bool *breaks, lm_fracture_def *def);

/* Breaks the links from chip to chip whose middles at rest (body frame) are in a ball. The body can break
 * (lm_body_set_fracture). `broken` (may be null) is their number, however many. */
LM_API lm_result lm_body_break(lm_world *world, lm_body_id body, lm_vec3 centre, float radius, uint32_t *broken);

/* A link that broke. */
typedef struct lm_break {
    lm_body_id body;
    uint32_t particles[2];
    lm_dvec3 point; /* the middle of the link, world */
    float strain;   /* that it had */
    float limit;    /* that it had */
    float speed;    /* m/s at which its ends moved apart */
} lm_break;

/* What broke in the last step, and in lm_body_break since then, by body and particle. Writes up to `capacity`, returns
 * how many there are. A world that was loaded has none. */
LM_API uint32_t lm_world_get_breaks(const lm_world *world, lm_break *breaks, uint32_t capacity);

/*
 * Cuts.
 *
 * A blade is a soup of triangles in the world; whatever it crosses is parted there, at once. It may be a strip that an edge
 * swept over, or a closed surface, which stamps its own shape out of the body as a cookie cutter or a drill does.
 * An octree's finest cells are linked where they share a face; links that the blade crosses, where the body is now, are cut. Cells that are cut
 * through become two particles of one size each. Where the blade ends inside a cell it is divided, down to cells of
 * `finest`. Particles on two sides of a cut are no longer in each other's regions, and what is severed moves by itself:
 * lm_body_get_pieces tells.
 *
 * The skin opens along the cut, which is within the finest spacing of the blade; each side is closed by an inner face
 * (lm_body_get_skin_sources: LM_SKIN_INNER), and all of the skin follows only what it is connected to. A skin that was
 * closed stays closed, and both sides together fill what was filled before. lm_body_info.skin_vertices, skin_triangles
 * and shape_hash change with it. Vertices of an octree's skin that were given keep their numbers; others come after
 * them, and only where something is cut. What is shown follows from what is cut, whatever the order of the cuts was. A
 * blade that crosses what is cut already cuts nothing there: two cuts are at least the finest spacing apart. The first
 * cut makes the skin ready, which takes about as long as ten others; lm_body_prepare_cut does that beforehand.
 *
 * An octree with self_contact touches itself along its cuts: the two sides do not pass through each other, whether they
 * are still connected or not, and what is severed may rest on what is left. (From its first cut on such a body answers
 * contacts locally, however stiff it is.) To other bodies a gap that has opened is empty, and its faces are solid.
 *
 * Mass, momentum and spin stay what they were. Particles are renumbered in the order of their cells; pins, drags and
 * forces stay with those that they were given to, and with all that these become.
 *
 * A lattice keeps its particles, and is parted between chips (Fracture): links between those whose middles the blade
 * parts break, and are told by lm_world_get_breaks. Its particles and regions keep their numbers. Its skin is cut along
 * the blade itself, within a fiftieth of a cell, whatever the cells: the surface of a cut is as smooth as the blade, and
 * each side follows the chips on its own side. Vertices that were given keep their numbers, places and normals; those
 * on edges that the blade divides have what is between the ends, and faces have vertices of their own, with normals and
 * coordinates on the blade (lm_body_get_skin_cuts). Strokes that begin where the last one ended are joined. What is cut
 * off without the middle of a chip in it moves with what is beside it. A skin that is not closed opens, without faces
 * where it has no inside. Where parts of the body overlap so that there is no telling what is inside, and in a body
 * that breaks by strain, was broken before, or is given limits, a break or another skin later, the skin opens between
 * chips instead, in steps. One that cannot break is given links by the first
 * blade that parts any of them; until then it stays as it was. From then on it is as a body that can break and never
 * does by strain, as after lm_body_set_fracture with null: it sums its regions by lists, has no examples, touches with
 * its particles instead of its surface (colliders, and, where it has a mask, other bodies and its pieces each other),
 * and lm_body_break breaks it. lm_body_get_fracture says that it does not break; lm_body_set_fracture may still give it
 * limits.
 *
 * Clusters and tetrahedra keep their particles: which side of the blade one is on is the side that it goes with, and
 * mass, momentum and spin stay to the bit. What connects them are bonds: the edges of tetrahedra, or in clusters the
 * nearest particles of the same region. Bonds that the blade crosses are cut, and a region whose particles are no
 * longer connected falls into as many as there are parts: lm_body_info.regions grows, and regions are renumbered in the
 * order of those that they were part of. Tetrahedra with a bond that is cut are no longer among those of
 * lm_body_get_tets. A region that is not cut through keeps holding both sides of a blade that ended in it. The skin
 * opens as that of an octree does, on a grid of voxels of about half the distance between particles, and may be given
 * again; a body that was cut without a skin cannot be given one. What is cut off without a particle in it has nothing
 * to move with, and stays where it was.
 */

#define LM_MAX_BLADE_TRIANGLES 65536

typedef struct lm_blade {
    const lm_dvec3 *vertices; /* world, metres */
    uint32_t vertex_count;
    const uint32_t *triangles; /* three indices each; which way round does not matter */
    uint32_t triangle_count;
    /* metres, 0 to 1e6: cells that the blade ends in are divided down to this side; 0 (default): as far as there are
     * cells */
    float finest;
    uint32_t material; /* an id of the caller's for the faces of a lattice's cut: lm_body_get_skin_cuts. 0 */
    /* Which pieces of the body it cuts: one for each (lm_body_get_pieces), 0 is spared. Null (default): all of them. */
    const uint8_t *pieces;
    uint32_t piece_count; /* of `pieces`: that of the body */
    uint32_t cookie;
} lm_blade;

LM_API lm_blade lm_blade_default(void);

/* What a cut did. */
typedef struct lm_cut_info {
    uint32_t links;         /* cut by it, bonds and links between voxels: 0 where it touched nothing */
    uint32_t particles;     /* of the body, now */
    uint32_t parts;         /* of the body that nothing joins, now */
    uint32_t regions_found; /* that had to be found again; the others stayed as they were */
} lm_cut_info;

/* Cuts a body. A blade without triangles, with triangles without an area, or beside the body cuts nothing. `info` may
 * be null. LM_ERROR_ARGUMENT (a body with examples or on a skeleton, a skin without an inside, a blade that is not
 * finite), LM_ERROR_LIMIT (more than LM_MAX_PARTICLES, or a lattice whose lists would be too long) or LM_ERROR_MEMORY;
 * then nothing has changed. */
LM_API lm_result lm_body_cut(lm_world *world, lm_body_id body, const lm_blade *blade, lm_cut_info *info);

/* Makes the skin of an octree, what is connected in clusters and tetrahedra, or the links of a lattice that cannot break
 * ready to be cut, so that the first cut does not have to. Nothing else changes; snapshots and clones do not hold it, and
 * another skin needs it again (a lattice does not). LM_ERROR_ARGUMENT (a skin without an inside) or LM_ERROR_MEMORY. */
LM_API lm_result lm_body_prepare_cut(lm_world *world, lm_body_id body);

/* Cuts with an edge on its way: a chain of `count` points (at least 2) that went from `from` to `to`, each along a
 * line. A blade that is moved frame by frame cuts all that it sweeps over when each call begins where the last one
 * ended. */
LM_API lm_result lm_body_cut_sweep(lm_world *world, lm_body_id body, const lm_dvec3 *from, const lm_dvec3 *to,
                                   uint32_t count, lm_cut_info *info);

#define LM_MAX_SLICES 4096

/* Cuts along `count` parallel planes, 1 to LM_MAX_SLICES: one through `point`, each of the others `distance` metres further
 * along `normal` than the one before. Results as lm_body_cut; LM_ERROR_ARGUMENT too when something is not finite or beyond
 * LM_MAX_POSITION, or the normal has no length. */
LM_API lm_result lm_body_slice(lm_world *world, lm_body_id body, lm_dvec3 point, lm_vec3 normal, uint32_t count,
                               float distance, lm_cut_info *info);

/*
 * Level of detail.
 *
 * The cells of an octree can change while it moves: cells are divided where detail is wanted, and joined where it is no
 * longer. Mass, momentum and spin stay what they were (but for a spin that what is left cannot have, as of particles on
 * one line about it), and so does the volume; cells are never joined across a cut or a gap. Each particle keeps what it
 * was: new ones are where their cell's region carries them, joined ones in the middle of what they were, with the
 * lasting deformation and stiffness of both. Particles are renumbered in the order of their cells; pins, drags and
 * forces stay with those that they were given to, and with all that these become; what is pinned is not joined. The
 * skin shows no jump: where a change of cells would move a vertex, the difference fades over a quarter of a second (in
 * what lm_body_get_skin gives; the simulation knows nothing of it).
 *
 * With lm_body_set_detail the body decides by itself, at the beginning of each step; with lm_body_refine the caller
 * does.
 */

typedef struct lm_detail {
    /* Cells within `touch_radius` metres of contacts (of points on the surface: LM_CONTACT_AUTO), drags, and pins that
     * move are divided down to `touch_size` metres. 0: off. */
    float touch_size, touch_radius;
    /* Cells that look larger than this angle in radians, seen from the world's eye (lm_world_set_eye), are divided;
     * those that would still look smaller than half of it are joined. 0, or a world without an eye: off, and cells that
     * nothing else divides go back to what they were when detail was set, or to what lm_body_refine made of them. */
    float eye_angle;
    float finest, coarsest; /* sides of cells, metres, that these stay between; 0: as far as there are cells */
    uint32_t budget;        /* particles at most; 0: LM_MAX_PARTICLES. A body that has more divides nothing */
    uint32_t per_step;      /* cells divided or joined in one step at most, 1 to 1,000,000; default 64 */
    float hold;             /* seconds that detail stays after its reason has gone, 0 to 3600; default 0.5 */
    uint32_t cookie;
} lm_detail;

/* Everything off. */
LM_API lm_detail lm_detail_default(void);

/* Sets what an octree decides its cells by; null: they stay as they are. A step that finds no memory for a change fails
 * as any other step does: nothing has changed, and called again it does what it would have done. LM_ERROR_ARGUMENT (not
 * an octree, an octree with examples or on a skeleton, a value out of range) or LM_ERROR_MEMORY. */
LM_API lm_result lm_body_set_detail(lm_world *world, lm_body_id body, const lm_detail *detail);

/* What was set (all 0, cookie too: nothing), and how many cells the last step wanted to change and left for the next
 * ones; either may be null. */
LM_API lm_result lm_body_get_detail(const lm_world *world, lm_body_id body, lm_detail *detail, uint32_t *waiting);

/* Where the camera is, for lm_detail.eye_angle; null: nowhere. LM_ERROR_ARGUMENT when it is not finite or beyond
 * LM_MAX_POSITION. */
LM_API lm_result lm_world_set_eye(lm_world *world, const lm_dvec3 *eye);

/* A brush: within a ball in the world, around the body as it is now, cells are divided down to `size` metres, or joined
 * up to it (those that are inside as a whole). Whatever else the body decides by, these cells go back to this size.
 * Without lm_body_set_detail at once; with it the body gets there in its next steps, at most `per_step` cells each and
 * within its budget. `*changed` (may be null): how many cells are not of the size that is wanted, and were or will be
 * divided or joined. LM_ERROR_ARGUMENT (as lm_body_set_detail; a centre that is not finite, a radius or size that is
 * not above 0), LM_ERROR_LIMIT (more than LM_MAX_PARTICLES) or LM_ERROR_MEMORY; then nothing has changed. */
LM_API lm_result lm_body_refine(lm_world *world, lm_body_id body, lm_dvec3 centre, float radius, float size,
                                uint32_t *changed);

/* The piece that each particle belongs to, from 0 on; lm_body_info.pieces has their number. Clusters and tetrahedra are
 * one piece until they are cut. */
LM_API lm_result lm_body_get_pieces(const lm_world *world, lm_body_id body, uint32_t *pieces);

/* A piece of a body as it is now. */
typedef struct lm_piece_info {
    uint32_t together; /* the lowest of the pieces that the same connected skin rides on: they leave a body together */
    uint32_t particles;
    float mass;
    float volume;    /* at rest: its share of the body's by mass */
    lm_dvec3 centre; /* of mass, world */
    lm_vec3 momentum;
    lm_vec3 angular_momentum; /* about its centre */
} lm_piece_info;

/* Of all pieces, in their order: lm_body_info.pieces of them. */
LM_API lm_result lm_body_get_piece_infos(const lm_world *world, lm_body_id body, lm_piece_info *pieces);

/*
 * Pieces that become bodies of their own.
 *
 * lm_body_split takes pieces out of a body and makes bodies of them. A piece takes along all that is its own: its
 * particles where they are and as fast as they are, with masses, stiffness and lasting deformation, the rest shape in
 * the frame that it had, the skin with the faces that were cut into it, cuts that end inside of it, limits of fracture,
 * level of detail, filters and material. Mass, momentum and angular momentum are to the bit what they were. Particles
 * and vertices keep their order among themselves, and lm_body_get_skin_sources goes on leading to the surface that the
 * first body was given. What is left of the body keeps its id and loses the rest.
 *
 * A pin goes with the piece that has its first particle, a drag with the piece that has lm_drag_def.particle; they let go
 * what they held of other pieces. Forces on single particles go with these, forces on the whole body stay. A joint goes
 * with the piece that it is on. What touches, and what others touch, is made again from the skin of each piece; contacts
 * begin again. All that is involved wakes.
 *
 * A blade may part particles where it leaves the skin in one, as in a slice that is thinner than cells are. Pieces that
 * one connected skin rides on go together (lm_piece_info.together), so that every surface is as closed as it was.
 *
 * A skin of clusters, tetrahedra or an octree stays open along cuts that end inside of a piece, and regions stay
 * divided. A library that was built to be small (LIMBER_SPLIT off, as for browsers) leaves pieces in their bodies: the
 * functions of pieces here say LM_ERROR_UNSUPPORTED.
 */

/* Makes bodies of pieces. `groups` has a number for each piece: 0 stays, 1 goes to the first new body, 2 to the second, and
 * so on, without a gap, the same for pieces that go together; null: the heaviest stays, and each other becomes a body. `*count`: how many bodies
 * were made; their ids go to `made`, which has room for `capacity`. LM_ERROR_ARGUMENT (nothing stays, a gap in the numbers, a
 * body with examples or on a skeleton, a joint on several of them), LM_ERROR_CAPACITY (*count tells what is needed),
 * LM_ERROR_LIMIT or LM_ERROR_MEMORY; then nothing has changed. */
LM_API lm_result lm_body_split(lm_world *world, lm_body_id body, const uint32_t *groups, lm_body_id *made,
                               uint32_t capacity, uint32_t *count);

/* Which pieces are too small to be kept. */
typedef struct lm_piece_limits {
    float least_mass;   /* kilograms; 0 (default): no limit */
    float least_volume; /* cubic metres; 0 (default): no limit */
    uint32_t most; /* the heaviest of what the other limits leave; of equal ones the first. 0 (default): no limit */
    uint32_t cookie;
} lm_piece_limits;

LM_API lm_piece_limits lm_piece_limits_default(void);

/* What was dropped, together. */
typedef struct lm_dropped {
    uint32_t pieces, particles;
    double mass, volume;
    lm_dvec3 momentum;
    lm_dvec3 angular_momentum; /* about the world's origin */
} lm_dropped;

/* Destroys pieces that are beyond the limits, with the pins, drags and joints on them. The heaviest piece stays whatever the limits
 * are. `dropped` (may be null) says what is gone. Errors as lm_body_split; then nothing has changed. */
LM_API lm_result lm_body_drop_pieces(lm_world *world, lm_body_id body, const lm_piece_limits *limits,
                                     lm_dropped *dropped);

/* Something that left a body. */
typedef struct lm_split {
    lm_body_id body; /* that it left */
    lm_body_id made; /* the body that it is now; {0, 0}: it was dropped */
    uint32_t particles;
    float mass, volume;
    lm_dvec3 centre; /* of mass, world */
} lm_split;

/* What lm_body_split made and lm_body_drop_pieces dropped since the last step began, in that order. Writes up to `capacity`,
 * returns how many there are. A world that was loaded has none. */
LM_API uint32_t lm_world_get_splits(const lm_world *world, lm_split *splits, uint32_t capacity);

/* ------------------------------------------------------------------------------------------------------------------
 * Surfaces
 */

typedef enum lm_skin_kind {
    /* A vertex is a weighted sum of the particles around it (of a lattice: of the corners of its cell; of tets: of its
     * tetrahedron), and reproduces affine motions exactly; on a particle it is that particle. */
    LM_SKIN_PARTICLES = 0,
    /* A vertex rides on a smooth blend of the regions around it, rotations included: smoother than the particles, and a
     * surface around a sheet, a string or a single particle keeps its thickness. */
    LM_SKIN_REGIONS,
    LM_SKIN_KIND_COUNT
} lm_skin_kind;

/* A triangle mesh in the rest pose that moves with the body. */
typedef struct lm_skin_def {
    lm_skin_kind kind;         /* default LM_SKIN_PARTICLES. A body without regions has only that */
    const lm_vec3 *vertices;   /* rest pose, body frame; copied */
    uint32_t vertex_count;     /* 1 to LM_MAX_PARTICLES */
    const uint32_t *triangles; /* three vertex indices each; copied */
    uint32_t triangle_count;   /* 1 to LM_MAX_PARTICLES */
    uint32_t cookie;
} lm_skin_def;

/* A skin without vertices: it needs both arrays. */
LM_API lm_skin_def lm_skin_def_default(void);

/* Gives the body a surface, in place of any it had. */
LM_API lm_result lm_body_set_skin(lm_world *world, lm_body_id body, const lm_skin_def *def);

/* Deformed vertices relative to `base`, and unit normals (area-weighted means over the triangles around a vertex; zero
 * for a vertex without area). Those of a lattice or tets are the means at rest, deformed as the cell or tetrahedron
 * around the vertex is: smooth where triangles are coarse, and cheap. Either array may be null. LM_ERROR_ARGUMENT when
 * the body has no skin. */
LM_API lm_result lm_body_get_skin(const lm_world *world, lm_body_id body, lm_dvec3 base, lm_vec3 *positions,
                                  lm_vec3 *normals);

/* Three vertex indices for each of lm_body_info.skin_triangles triangles. LM_ERROR_ARGUMENT when the body has no
 * skin. */
LM_API lm_result lm_body_get_skin_triangles(const lm_world *world, lm_body_id body, uint32_t *triangles);

/* For each vertex the one of the surface as it was given whose colour, texture and the like it has: itself, unless the
 * body has broken. Then the skin has more vertices, those on an edge that was divided have the nearer end of the edge,
 * and those of inner faces, which share no vertex with the surface, have LM_SKIN_INNER. LM_ERROR_ARGUMENT when the body
 * has no skin.
 *
 * Vertices and triangles of a broken body, and their order, depend on which links are broken and not on when they
 * broke: bodies with the same shape_hash have the same arrays, in a world that was loaded too. The vertices that were
 * given come first. Every break may lengthen the arrays and give the rest other places: ask lm_body_info for their
 * lengths, and read all of them, when shape_hash has changed. */
#define LM_SKIN_INNER UINT32_MAX
LM_API lm_result lm_body_get_skin_sources(const lm_world *world, lm_body_id body, uint32_t *sources);

/* Of faces that blades have cut into the skin of a lattice (LM_SKIN_INNER): for each vertex two texture coordinates, in
 * metres on the blade, without a seam where its triangles meet, and lm_blade.material. Both 0 for other vertices, and
 * for those of other bodies. Either array may be null. LM_ERROR_ARGUMENT when the body has no skin. */
LM_API lm_result lm_body_get_skin_cuts(const lm_world *world, lm_body_id body, float *uvs, uint32_t *materials);

/* Vertices in the rest pose, as in the definition. LM_ERROR_ARGUMENT when the body has no skin. */
LM_API lm_result lm_body_get_skin_rest(const lm_world *world, lm_body_id body, lm_vec3 *vertices);

/* Unit normals in the rest pose: area-weighted means over the triangles around a vertex, zero for a vertex without
 * area. When a body breaks the old surface keeps those that it had, between its vertices too, and inner faces have
 * their own. LM_ERROR_ARGUMENT when the body has no skin. */
LM_API lm_result lm_body_get_skin_rest_normals(const lm_world *world, lm_body_id body, lm_vec3 *normals);

/* What the vertices ride on, for programs that deform the surface themselves (in a vertex shader, say):
 *
 *     vertex n  =  sum over k from offsets[n] to offsets[n + 1] - 1 of  weights[k] * where riders[k] carries it
 *
 * A rider is the index of a particle, which carries the vertex to its own position; or LM_RIDER_REGION + the index of a
 * region, which carries it where lm_region_transform says. Weights sum to 1 and may be negative for particles. On tets
 * they are the four corners of the vertex's tetrahedron. In a lattice they are the eight corners of the vertex's cell;
 * bits 0, 1 and 2 of a corner's number tell on which side of the cell it is along the body's x, y and z, so that the
 * weights of the corners on one side add up to the vertex's place in the cell. `offsets` has lm_body_info.skin_vertices
 * + 1 elements; how many riders and weights there are is its last one. Any array may be null. LM_ERROR_ARGUMENT when
 * the body has no skin. */
#define LM_RIDER_REGION 0x80000000u
LM_API lm_result lm_body_get_skin_riders(const lm_world *world, lm_body_id body, uint32_t *offsets, uint32_t *riders,
                                         float *weights);

/* Where a region carries the rest pose now: with d = rest position - centre,
 *
 *     position  =  constant + linear d + quadratic (dx dx, dy dy, dz dz, dx dy, dy dz, dz dx)
 *
 * Matrices row by row; `quadratic` (1/m) is zero unless the material's mode is quadratic. */
typedef struct lm_region_transform {
    lm_vec3 centre;   /* of the region in the rest pose, body frame */
    lm_vec3 constant; /* where that is now, relative to `base` */
    float linear[9];
    float quadratic[18];
} lm_region_transform;

/* The transforms of all regions (lm_body_info.regions of them), fitted to the particles as they are: what a skin of
 * LM_SKIN_REGIONS rides on. Where the body has no such skin they are fitted in the call. */
LM_API lm_result lm_body_get_region_transforms(const lm_world *world, lm_body_id body, lm_dvec3 base,
                                               lm_region_transform *transforms);

/* The Cauchy stress of each particle, pascals: xx yy zz xy yz zx along the world's axes (six for each particle), and von Mises'
 * (one each); either may be null. It is that of the region around the particle (of clusters the mean of its regions), from the
 * stretch of its fit without what is lasting, and from the modulus that was reached in the last step: of a material in hertz the
 * one that the header's section on materials says. LM_ERROR_MEMORY. */
LM_API lm_result lm_body_get_stress(lm_world *world, lm_body_id body, float *stresses, float *von_mises);

/*
 * Skins in buffers of OpenGL.
 *
 * A device that steps a world can write skins straight into vertex buffers that the same device draws from: nothing
 * is read back. The world is told of the OpenGL context when it is made (lm_world_def.gl); each body of
 * where its vertices go, once; and every frame all of them are brought up to date in one call. This needs a driver with
 * cl_khr_gl_sharing. Where it is missing both calls return LM_ERROR_UNSUPPORTED, and the way that always works is
 * lm_body_get_skin and glBufferSubData:
 *
 *     bool shared = lm_body_share_skin(world, body, &positions, &normals) == LM_OK;
 *     ...
 *     if (!shared || lm_world_share_skins(world, eye) != LM_OK) {
 *         lm_body_get_skin(world, body, eye, x, n);
 *         glBufferSubData(...);
 *     }
 */

/* A place in a buffer of OpenGL: where the first vertex is, and how far it is from one to the next, in bytes. Both are
 * multiples of 4; three floats are written for each vertex. */
typedef struct lm_skin_buffer {
    uint32_t name;   /* of the buffer, as glGenBuffers gave it; it has its storage */
    uint32_t stride; /* at least 12 */
    uint64_t offset;
} lm_skin_buffer;

/* Whether the world has a device that shares skins with OpenGL. */
LM_API bool lm_world_can_share(const lm_world *world);

/* From now on lm_world_share_skins writes the body's vertices and normals there; either may be null, both null ends it.
 * The context must be current. Call it again when skin_vertices (lm_body_info) or the buffer's storage has changed, and
 * end it before the buffer is deleted. LM_ERROR_UNSUPPORTED (the world cannot share, or the driver refuses the buffer),
 * LM_ERROR_ARGUMENT (no skin, or a buffer that is too small) or LM_ERROR_MEMORY; then the body is not shared. */
LM_API lm_result lm_body_share_skin(lm_world *world, lm_body_id body, const lm_skin_buffer *positions,
                                    const lm_skin_buffer *normals);

/* Writes the skins of all bodies that are shared, relative to `base`, as lm_body_get_skin would give them. What OpenGL
 * has queued that uses the buffers must be done (glFinish); when the call returns, they can be drawn from. What the
 * device cannot make (a skin that fades after its cells have changed, or a state that is the CPU's just now) is written
 * to the buffers from here. A body whose skin has another number of vertices than when it was shared is left as it was.
 * LM_ERROR_UNSUPPORTED when the device is lost or cannot share: copy then. */
LM_API lm_result lm_world_share_skins(lm_world *world, lm_dvec3 base);

/* ------------------------------------------------------------------------------------------------------------------
 * Queries: bodies and colliders at a place. They check everything in the world in order.
 */

/* A ray, and what it can meet. */
typedef struct lm_ray {
    lm_dvec3 origin;          /* world */
    lm_vec3 direction;        /* need not be a unit vector */
    float max_distance;       /* metres, at least 0; may be infinite */
    uint32_t body_groups;     /* it meets bodies in one of these groups, as bits; UINT32_MAX: all bodies, 0: none */
    uint32_t collider_groups; /* the same of colliders */
} lm_ray;

/* A ray without an end that meets everything. */
LM_API lm_ray lm_ray_default(lm_dvec3 origin, lm_vec3 direction);

/* What a ray meets first: a body or a collider, the other is {0}. */
typedef struct lm_ray_hit {
    lm_body_id body;
    lm_collider_id collider;
    uint32_t particle; /* of a body: the one nearest to the point */
    lm_dvec3 point;    /* world */
    lm_vec3 normal;    /* towards the ray's origin */
    float distance;    /* along the ray, metres */
} lm_ray_hit;

/* The nearest thing on a ray. A body is the triangles of its skin, from either side, or spheres around its particles
 * where it has none; their radius is the contact radius or, where that is larger, a tenth of the longest side of the
 * body's bounding box divided by the root of the number of particles, but at least a thousandth of that side. A ray that
 * starts inside a collider meets it at distance 0. Returns false, and leaves *hit alone, when nothing is hit nearer than
 * max_distance or a number of the ray is not sound. */
LM_API bool lm_world_cast_ray(const lm_world *world, const lm_ray *ray, lm_ray_hit *hit);

/* A body or a collider; the other is {0}. */
typedef struct lm_overlap {
    lm_body_id body;
    lm_collider_id collider;
} lm_overlap;

/* Writes up to `capacity` of what a ball (radius in metres, at least 0) or a box (half extents along the axes of its
 * pose) touches or has inside into `found` (may be null when capacity is 0): bodies, then colliders, in slot order.
 * Returns how many there are; 0 when an argument is no sound number. A body is its particles, each with the contact
 * radius around it, and the triangles of its skin. */
LM_API uint32_t lm_world_overlap_sphere(const lm_world *world, lm_dvec3 centre, float radius, lm_overlap *found,
                                        uint32_t capacity);
LM_API uint32_t lm_world_overlap_box(const lm_world *world, lm_pose pose, lm_vec3 half_extents, lm_overlap *found,
                                     uint32_t capacity);

/* ------------------------------------------------------------------------------------------------------------------
 * Statistics
 */

typedef enum lm_stage {
    LM_STAGE_PREDICT = 0, /* forces, and each body's rigid motion */
    LM_STAGE_GATHER,      /* particles to region moments */
    LM_STAGE_FIT,         /* moments to region transforms */
    LM_STAGE_SCATTER,     /* transforms to goal positions */
    LM_STAGE_SWEEP,       /* lattices: all three and integration at once */
    LM_STAGE_INTEGRATE,   /* damping, goals, velocities, positions */
    LM_STAGE_CONTACT,     /* drags and the pull of bones, then colliders, then what bones and pins hold */
    LM_STAGE_FIND,  /* bodies with a mask or self-contact: where they touch each other, themselves and colliders */
    LM_STAGE_SOLVE, /* what they do to each other there */
    LM_STAGE_COUNT
} lm_stage;

/* The name of a stage: "predict", "gather", ... ; null for anything else. */
LM_API const char *lm_stage_name(lm_stage stage);

/* Counts and times. Cheap enough for every frame. */
/* Contacts of bodies that touch other bodies, and how well they were solved, in the last substep. Zero where a device
 * solves them. */
typedef struct lm_contact_stats {
    uint32_t soft; /* contacts between bodies (or with colliders) that deform where they touch; those that are only near
                         count where somebody asks for events */
    uint32_t stiff;   /* contacts of bodies that answer as a whole */
    uint32_t passes;  /* over soft contacts, for velocities */
    uint32_t sweeps;  /* through stiff contacts, for velocities, at most */
    uint32_t islands; /* of stiff contacts that are connected through bodies */
    float residual;   /* m/s: the largest change of a contact's velocity in the last pass or sweep */
} lm_contact_stats;

typedef struct lm_stats {
    uint32_t bodies, particles, regions;
    uint64_t memberships;
    uint64_t steps;      /* calls of lm_world_step so far */
    uint32_t substeps;   /* that the last call was divided into; before the first those that were set, or 1 */
    double step_seconds; /* the last call, wall clock */
    double stage_seconds[LM_STAGE_COUNT]; /* the last call, summed over workers and substeps */
    uint32_t contacts;          /* particles put out of colliders in the last substep, once for each collider */
    uint32_t asleep;            /* bodies that are now */
    uint32_t contacts_left_out; /* places that were touched in the last step and are in no event for want of room */
    uint32_t stiffness_limited; /* bodies as stiff as the substep allows in the last call */
    lm_dvec3 outside_impulse; /* N s given by gravity, fields, forces, impulses, drags, pins, bones, colliders and sleep
                                             so far; snapshots keep it */
    size_t memory;            /* bytes held by the world now */
    lm_contact_stats mutual;  /* contacts between bodies */
} lm_stats;

/* Counts bodies, and copies what the last step measured. */
LM_API void lm_world_get_stats(const lm_world *world, lm_stats *stats);

/* Sums over all particles in their present state. */
typedef struct lm_totals {
    lm_dvec3 momentum;     /* kg m/s */
    double momentum_scale; /* sum of m |v| */
    double kinetic_energy; /* joules */
    float max_speed;       /* m/s */
    bool finite;           /* every position and velocity is */
} lm_totals;

/* One pass over all particles: as costly as part of a step, so not for every frame of a large world. */
LM_API void lm_world_get_totals(const lm_world *world, lm_totals *totals);

/* ------------------------------------------------------------------------------------------------------------------
 * Snapshots
 */

/* A hash of the state: positions, velocities, region rotations, lasting deformation and connectivity of all bodies, in
 * slot order. Not of materials, colliders and the like, nor of statistics. */
LM_API uint64_t lm_world_hash(const lm_world *world);

/* The number of bytes that lm_world_save needs now. */
LM_API size_t lm_world_save_size(const lm_world *world);

/* Writes everything that the future depends on (bodies, colliders, movers, pins, drags, joints, fields, skeletons,
 * gravity, substeps, time, pending forces) into `buffer`. LM_ERROR_CAPACITY when it is smaller than lm_world_save_size. */
LM_API lm_result lm_world_save(const lm_world *world, void *buffer, size_t capacity);

/* Puts what was saved in the place of the world's contents, gravity, substeps and time included. Ids from the time of
 * saving are valid again; ids given out since then are not, but new objects may come to have the same ones, so forget
 * them. Host hooks, workers and instruction set stay the world's own. LM_ERROR_FORMAT, LM_ERROR_VERSION or
 * LM_ERROR_MEMORY; on failure nothing changes. Where the snapshot has the world's own structure (see below) only state
 * is read, which takes no longer than saving; otherwise all bodies are made again, which takes far longer.
 *
 * The bytes may come from anywhere. Whatever they are, and though their checksum fits, nothing beyond `buffer` is read,
 * and what is loaded is a sound world: indices lead to something, numbers are finite and in their ranges. Anything else
 * is LM_ERROR_FORMAT, with the place in the log. A step of it takes what a step of such a world takes: its time goes
 * with the particles and with the substeps, which a file may ask for up to LM_MAX_SUBSTEPS. A program that opens files
 * of strangers and has no time to spare looks at lm_world_get_substeps and lm_world_get_stats first. */
LM_API lm_result lm_world_load(lm_world *world, const void *buffer, size_t size);

/* State alone, for rollback: a fraction of a snapshot's bytes, and of the time to load one.
 *
 * What is saved is all that steps change and what most setters set: where everything is and how it moves, who sleeps
 * and touches whom, materials, filters, poses, targets, fields, forces, gravity. What is not is the structure: which
 * bodies, colliders, movers, pins, drags, joints, fields and skeletons there are, rest shapes, masses, skins, regions and their
 * stiffness, examples, cuts, breaks and cells, what pins, drags and joints hold, the mode and kind of damping of a material.
 * State can be loaded as long as the structure is that of the time of saving: in the same world, or in another one that
 * was made or loaded alike. When it has changed (a body was created, a link broke, cells were divided),
 * lm_world_load_state returns LM_ERROR_ARGUMENT, says so in the log and changes nothing; such frames want a full
 * snapshot, so keep one from each time that lm_world_structure changes:
 *
 *     if (lm_world_structure(world) != structure) save a full snapshot, else save state     // each frame
 *     if (lm_world_load_state(world, state, size) != LM_OK) load the full snapshot before it and step up to the frame
 *
 * A world that was restored continues to the last bit as it did the first time. On a device the state is uploaded
 * with the next step. */

/* A number for the structure: it changes when the structure does, and is the same for the same structure. */
LM_API uint64_t lm_world_structure(const lm_world *world);

/* The bytes that lm_world_save_state needs now, at most. They change little from step to step: with who touches. */
LM_API size_t lm_world_state_size(const lm_world *world);

/* Writes the state into `buffer`, and how long it is into *size. LM_ERROR_CAPACITY when the buffer is too small; then
 * its contents are undefined. */
LM_API lm_result lm_world_save_state(const lm_world *world, void *buffer, size_t capacity, size_t *size);

/* Restores the state. LM_ERROR_ARGUMENT (another structure), LM_ERROR_FORMAT, LM_ERROR_VERSION or LM_ERROR_MEMORY;
 * on failure nothing changes. As with lm_world_load the bytes may come from anywhere. */
LM_API lm_result lm_world_load_state(lm_world *world, const void *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
