/*
 * world/: the world, its bodies and what acts on them; the step, which leads through all other rooms.
 *
 * reads   definitions and calls of the host program; what other rooms have found in a step
 * writes  everything in a world
 * uses    base collide match touch; in sources also cluster contact cut fracture gpu joint lattice octree skeleton skin snapshot
 *
 *   access.c     the one way to a body for the calls of a host program; a device is told there (in_step.h: in a step)
 *   step.c       one step, as the list of what happens      stages.c    batches of bodies through their stages, on the host
 *   kernels.h    the stages that run in lanes, for each instruction set
 *   world.c      creation, settings, contact rules           body.c      bodies made, freed, and put into batches
 *   state.c      reading and writing a body                 material.c  materials in numbers of a substep
 *   motion.h     a body as a whole
 *   force.c      forces, impulses and fields                pin.c, held.h  pins and drags
 *
 * The inside of a world: what the files of the library share.
 *
 *   world    pools of bodies, colliders, movers, pins, drags, fields and skeletons; batches of bodies
 *   body     what a body is (rest shape, regions, material) and where it is
 *   batch    bodies that are stepped together by one task, and their lane layout (match/pack.h)
 */
#ifndef LMI_WORLD_H
#define LMI_WORLD_H

#include "base/compiler.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/tasks.h"
#include "base/vec.h"
#include "collide/collide.h"
#include "limber/limber.h"
#include "match/match.h"
#include "match/pack.h"
#include "match/region.h"
#include "touch/bulk.h"
#include "world/kernels.h"
#include "world/rule.h"

typedef struct lmi_force {
    uint32_t next;     /* of the same body, or LMI_NONE */
    uint32_t body;     /* slot */
    uint32_t particle; /* internal order, or LMI_NONE: the whole body */
    lm_vec3 force;
} lmi_force;

#define LMI_SKIN_REGION 0x80000000u

typedef struct lmi_skin {
    lm_skin_kind kind;
    lm_vec3 *vertices; /* rest pose */
    uint32_t vertex_count;
    uint32_t *triangles;
    uint32_t triangle_count;
    uint32_t *offsets; /* vertices + 1, into the two below */
    uint32_t *riders;  /* particles in internal order, or LMI_SKIN_REGION + region */
    float *weights;
    uint32_t weight_count;
    struct lmi_carrier *carriers; /* where each region carries its frame since the last step; regions skins only */
    uint32_t carrier_count;
    float *maps; /* [carrier_count][16] of an octree: the same from the body's frame, as skin.c reads it */
    lm_vec3 *
        rest_normals; /* of a skin on cells or tetrahedra; else null. On tetrahedra times the rest edges: skin_kernels.c */
    bool on_cells;    /* of a lattice: eight riders for each vertex */
    uint32_t *sources; /* of a broken body: the vertex as it was given, or LM_SKIN_INNER; else null */
    bool on_tets;      /* of a body of tetrahedra: four */
    lm_vec3 *fading;   /* [vertex_count] of an octree whose cells changed: added to where vertices are; else null */
    float fading_left; /* seconds until nothing of it is left */
    uint32_t vertex_room, triangle_room, weight_room; /* of the arrays: more than counted while a body breaks */
} lmi_skin;

typedef struct lmi_body {
    /* What it is. Particles are kept in an order of our own (most regions first, so that neighbours in lanes have
     * equally long lists; in a lattice by their blocks): order[] leads to the caller's index or is LMI_NONE at a place without
     * a particle, place[] leads back. */
    uint32_t particle_count;
    uint32_t place_count;  /* places that particles have, with empty ones between them in a lattice */
    uint32_t padded_count; /* a whole number of blocks */
    uint32_t region_count;
    uint32_t membership_count;
    lm_vec3 *rest;
    float *mass; /* kilograms */
    uint32_t *order;
    uint32_t *place;
    uint32_t *region_offsets; /* regions + 1, into members */
    uint32_t *members;        /* internal order of particles */
    uint32_t tet_count;       /* 0: not a body of tetrahedra */
    uint32_t *tets;           /* four particles each, internal order, the right way round */
    lmi_region *regions;
    float *rotation; /* 9 for each region, while the body is not packed */
    float *plastic; /* 6 for each region, while the body is not packed: lasting deformation in the region's rest axes */
    float *stiffness;      /* for each region, the share of alpha; null: 1 everywhere */
    bool plastic_material; /* it may flow, or has flowed */
    double total_mass;
    double mean_mass; /* the unit of the masses in lanes */
    double volume;    /* cubic metres (world/elastic.h) */
    double height;    /* metres, of the even column that sinks under its own weight by the same share (world/load.h) */
    double square;    /* the least <x²> of its regions, of a lattice the mean, m² */
    double across;    /* <x²> across the longest axes of regions, over that along them */
    double swelling;  /* what resists a change of volume; both as shares of what whole regions have (world/elastic.h) */
    double spread;    /* share of E with which what is beyond a region's affine fit is resisted (world/elastic.h) */
    bool elastic;     /* its material is in physical units: regions pull by their own <x²>, but in lattices */
    double rest_size; /* the diagonal of the rest shape's bounding box, metres */
    float contact_radius;
    float fastest; /* speed of its fastest particle in this substep, m/s; where there are solids to meet */

    /* Within a substep (contact/halt.h). */
    bool kept;    /* the batch has where its particles were when it began, from `kept_origin` */
    bool halted;  /* a solid has cut short its way */
    bool hurries; /* its particles may go far in this substep, seen from a solid */
    double moved; /* then: the share of the substep in which it went what is left of it */
    lm_dvec3 kept_origin;

    lm_contact_points contact_points; /* what touches, as the definition wished */
    lmi_touch touch;
    uint32_t group, mask;   /* bits: what it is, and what it touches */
    uint32_t collider_mask; /* the same for groups of colliders */
    bool self_contact;
    bool faces_rigid;          /* it may touch a collider of a mover that has a mass; found when a step begins */
    lmi_bulk *bulk;            /* null: it touches no other body, or (fracture) with its particles alone */
    float penalty;             /* N/m, as in the definition */
    bool company;              /* there is another body that it may touch; found when a step begins (solids.c) */
    struct lmi_mould *surface; /* the mesh of a lattice whose solid nobody has needed yet; else null */
    struct lmi_cubes *cubes;   /* depth cube maps of the bulk (touch/cube.h), once they were asked for */
    lm_material material;
    uint64_t user_data;
    lmi_skin skin;
    uint64_t shape_hash; /* lmi_hash_shape, when it was made or given a skin */

    /* Where it is: four floats a particle, x y z and the weight in fits (0: in no region); vx vy vz and the mass in units
     * of mean_mass. Both point into the batch's pack, or into `home` until the body is packed. */
    lm_dvec3 origin;
    float *x;
    float *v;
    float *home;
    uint32_t batch;        /* LMI_NONE: it sleeps or is not enabled, or was so and has not been packed since */
    uint32_t first;        /* particle index in the pack */
    uint32_t reference;    /* place of a particle that sums are taken from */
    uint32_t first_region; /* index into the pack's region lanes */
    lm_vec3 lower, upper;  /* bounds of the particles at the end of the last integration */

    /* The share of the way to the goal and of the deformation velocity lost in a substep of `tuned_step` seconds. */
    double tuned_step;
    float alpha;
    float firmness; /* the share of a strain that a substep takes away: alpha, and more in physical units (elastic.h) */
    float damping;
    uint32_t damping_turn; /* state: substeps since the last that was damped */
    float damping_now;     /* damping, or 0 in a substep without */
    double flow; /* the share of elastic strain that becomes lasting in a substep, where it is above the yield */
    bool stiffness_limited;
    float reached_hertz;
    float reached_young;
    double beyond; /* alpha before it was limited to 1 */
    bool told;     /* the log says that this material is beyond what a substep reaches */
    bool fresh;    /* made since the last step: it may have been put into another (contact/fresh.h) */

    lmi_motion motion;
    uint32_t slot;                    /* its own */
    struct lmi_lattice_body *lattice; /* null: not a lattice (lattice/lattice_body.h) */
    struct lmi_octree_body *octree; /* null: not an octree (octree_body.h); its regions have no members of their own */
    struct lmi_examples *examples;  /* null: none */
    struct lmi_fracture *fracture;  /* null: it cannot break */
    struct lmi_lineage *lineage;    /* of one that was split off another, with its skin (skin/lineage.h); else null */
    struct lmi_slit *slit;          /* of a lattice whose skin blades have cut (skin/slit.h); null: none has */
    struct lmi_grain *grain;        /* of clusters that a blade has cut (grain.h); else null */
    struct lmi_ready *ready;        /* what it will need later, made beforehand (cut/ready.h); else null */
    uint32_t contacts;
    lm_dvec3 outside_impulse; /* N s in this call of lm_world_step */
    lm_dvec3 held_impulse,
        held_moment; /* that the match gave a body with pins, N s; about `held_origin`: pins bear it (motion.c) */
    lm_dvec3 held_origin;
    struct lmi_touching
        *touched; /* [LM_MAX_TOUCHED_COLLIDERS] walls in this call; null: nobody asks (contact/touching.h) */
    uint32_t touched_count, touched_left_out;

    /* Sleep (contact/sleep.h). While it sleeps it is in no batch, and its velocities are 0. */
    bool may_sleep, asleep;
    bool disabled;   /* lm_body_set_enabled: in no batch either, and nobody meets it */
    bool roused;     /* in this call: something pressed on it while it slept */
    float still;     /* state: seconds for which it has been slow enough */
    bool was_asleep; /* before this call, until all that it needs is there */
    float was_still;
    uint32_t island; /* state: slot of the first of those that fell asleep together */
    uint32_t first_pin, first_drag, first_force;
    uint32_t skeleton; /* slot or LMI_NONE */
    uint32_t joints;   /* that have an end on it */
    bool anchored;     /* a pin holds it that nothing pushes: particles of such pins weigh more in fits */
} lmi_body;

/* Every particle of a body by its place; the places of a lattice that have none are passed over. */
#define LMI_PARTICLES_EACH(body, n)                                                                                    \
    for (uint32_t n = 0; n < (body)->place_count; n++)                                                                 \
        if ((body)->order[n] != LMI_NONE)

typedef struct lmi_pin {
    uint32_t next; /* of the same body */
    uint32_t body;
    uint32_t mover;
    bool yields; /* its mover has a mass, and is pushed (joint/hold.h) */
    uint32_t count;
    uint32_t *particles; /* internal order */
    lm_dvec3 *targets;   /* in the mover's frame, or in the world */
} lmi_pin;

typedef struct lmi_drag {
    uint32_t next; /* of the same body */
    uint32_t body;
    uint32_t count;
    uint32_t *particles; /* internal order */
    float *weights;      /* sum of relative mass times weight is 1 */
    uint32_t particle;   /* as the caller gave it */
    float radius;
    lm_dvec3 target;
    float hertz, damping_ratio, max_force;
    lm_vec3 force; /* of the last substep */
} lmi_drag;

typedef struct lmi_batch {
    uint32_t *bodies; /* slots */
    uint32_t body_count;
    uint32_t body_capacity;
    uint32_t particles; /* padded */
    bool dirty;         /* bodies came or went, or changed their regions: pack again before the next step */
    lmi_pack pack;
    uint32_t pieces;        /* of one large lattice or octree, whose sums are divided into tasks; else 0 */
    struct lmi_herd *herds; /* lattices that are alike (lattice/herd.h) */
    uint32_t herd_count, herd_capacity;
    bool herded; /* its herds are those of its bodies as they were packed */
    float *kept; /* [particle][4] where they were when the substep began (contact/halt.h); where there are solids */
    uint32_t kept_capacity;
    uint64_t stage_nanoseconds[LM_STAGE_COUNT];
} lmi_batch;

/* A piece of a large body: a slab of a lattice, a range of an octree's blocks. */
typedef struct lmi_piece_task {
    uint32_t batch, piece;
    uint64_t nanoseconds; /* that it took in this call of lm_world_step */
} lmi_piece_task;

struct lm_world {
    lmi_memory memory;
    lm_log log;
    lm_isa isa;
    const lmi_kernels *kernels;
    lmi_workers *workers;
    struct lmi_gpu *gpu; /* null: none was asked for, or there is none (gpu/gpu.h) */

    lm_vec3 gravity;
    uint32_t substeps; /* 0: as many as are needed */
    uint32_t division; /* substeps of the last step */
    double time;
    uint64_t steps;

    lmi_contact_rule rules[LM_MAX_CONTACT_RULES]; /* the last that fits counts */
    uint32_t rule_count;
    lm_sleep sleep;
    bool contact_events;
    lm_contact_method contact_method;
    bool has_eye;
    lm_dvec3 eye; /* where the camera is, for level of detail */

    lmi_pool bodies, movers, colliders, pins, drags, fields, skeletons, joints;
    lmi_force *forces;
    uint32_t force_count, force_capacity;

    lmi_batch *batches;
    uint32_t batch_count, batch_capacity;
    uint64_t particles, memberships; /* of all bodies, against the limits */

    /* Scratch for stepping, grown before a step starts. */
    lmi_surface *surfaces; /* colliders where they are in this substep */
    uint32_t surface_capacity;
    lmi_flow *flows; /* fields in this substep */
    uint32_t flow_capacity;
    lmi_scratch *scratch; /* one for each worker */
    uint32_t scratch_count;
    struct lmi_mould *moulds;        /* rest shapes that bodies share (touch/mould.h) */
    struct lmi_mutual *mutual;       /* bodies that touch each other (contact/mutual.h) */
    struct lmi_touchings *touchings; /* who touched whom in the last call (contact/touching.h); null: never asked */
    lmi_piece_task *piece_tasks;
    uint32_t piece_count, piece_capacity;

    lm_break *breaks; /* of the last step */
    uint32_t break_count, break_capacity;

    /* What colliders, and after them movers, were given (collide/wrench.h): in the substep that runs, and before. Those that there were
     * when the last step began, by their slots. */
    struct lmi_account *accounts;
    lmi_wrenches *wrenches;
    uint32_t account_capacity, wrench_capacity, wrench_colliders, wrench_movers;
    bool wrench_lost; /* a device has made the last step */

    lm_split *splits; /* since the last step began */
    uint32_t split_count, split_capacity;

    struct lmi_joining *joining; /* joints in a substep (joint/joining.h) */
    struct lmi_holding *holding; /* movers with mass that carry particles (joint/hold.h) */

    lm_substep *substep_function;
    void *substep_user;

    double step_seconds;
    double stage_seconds[LM_STAGE_COUNT];
    lm_contact_stats contact_stats;               /* of the last substep */
    uint64_t find_nanoseconds, solve_nanoseconds; /* of contacts between bodies, in this call */
    uint32_t contacts;
    uint32_t stiffness_limited;
    lm_dvec3 outside_impulse;
    bool may_overlap; /* or the log has said that they do (contact/fresh.h) */
    bool has_octrees; /* or has had: else a step need not look for them among all bodies */
};

/* Reports a failure to the log and returns it. */
lm_result lmi_fail(const lm_world *world, lm_result result, const char *format, ...) LMI_PRINTF(3, 4);

/* A body for reading; for writing see access.h and in_step.h. */
static inline const lmi_body *lmi_body_at(const lm_world *world, uint32_t slot)
{
    return LMI_POOL_AT(&world->bodies, lmi_body, slot);
}

/* gpu/, for worlds that a device steps: bytes in use, which getters may be changing; and what lm_body_get_goals wants of clusters
 * after a substep that was the device's (false: it was not), `from` added. */
size_t lmi_gpu_memory(const lm_world *world);
bool lmi_gpu_goals(const lm_world *world, const lmi_body *body, lm_dvec3 from, lm_vec3 *goals);

/* body.c */
void lmi_body_free(lm_world *world, lmi_body *body);
void lmi_body_update_bounds(lmi_body *body);
/* The same without writing anything down: what getters may do. */
void lmi_body_find_bounds(const lmi_body *body, lm_vec3 *lower, lm_vec3 *upper);

/* What others touch, where it is needed at once: from a mesh, or (no triangles) from the particles. In place of what there was. Where it
 * may be needed later a mesh is kept for it. False when out of memory, then nothing has changed. */
bool lmi_body_make_bulk(lm_world *world, lmi_body *body, const lmi_touch_mesh *mesh);
void lmi_body_free_bulk(lm_world *world, lmi_body *body);

/* Whether its contacts are found together with those of other bodies (contact/mutual.h). */
static inline bool lmi_body_meets(const lmi_body *body)
{
    return !body->disabled && ((body->bulk && (body->company || body->self_contact)) || body->faces_rigid ||
                               (body->fracture && (body->mask != 0 || body->self_contact)));
}

/* New weights after pins came or went (`held`: which particles are held, or null); false when out of memory. */
bool lmi_body_update_weights(lm_world *world, lmi_body *body, const bool *held);
lm_result lmi_body_join_batch(lm_world *world, uint32_t slot);
void lmi_body_leave_batch(lm_world *world, uint32_t slot);

/* Moves the origin after the body when it has come far from it; relative positions stay short, world positions stay. */
void lmi_body_follow(lmi_body *body);

/* The rotation of a region from its rest axes to the world, 9 floats `*stride` apart, row by row. */
float *lmi_body_rotation(const lm_world *world, const lmi_body *body, uint32_t region, uint32_t *stride);

/* Its lasting deformation, 6 floats `*stride` apart: xx yy zz xy yz zx in the rest axes. */
float *lmi_body_plastic(const lm_world *world, const lmi_body *body, uint32_t region, uint32_t *stride);

/* Weights again for the pins that there are; false when out of memory. */
bool lmi_body_update_pinned(lm_world *world, lmi_body *body);
uint32_t lmi_body_regions(const lmi_body *body); /* clusters or lattice */
uint64_t lmi_body_memberships(const lmi_body *body);

/* The body has to be packed again, unless it sleeps and will be anyway. */
static inline void lmi_body_is_dirty(lm_world *world, const lmi_body *body)
{
    if (body->batch != LMI_NONE) {
        world->batches[body->batch].dirty = true;
    }
}

/* Whether groups and masks let a body and a collider touch. */
static inline bool lmi_may_collide(const lmi_body *body, uint32_t group, uint32_t mask)
{
    return (body->group & mask) && (body->collider_mask & group);
}

/* Whether it is left out of steps. */
static inline bool lmi_body_is_out(const lmi_body *body) { return body->asleep || body->disabled; }

/* contact/sleep.c: wakes a body and its island; everybody; whoever is near a collider. */
void lmi_body_rouse(lm_world *world, const lmi_body *body);
void lmi_mover_rouse(lm_world *world, uint32_t mover); /* one with mass, and its island */
void lmi_rouse_all(lm_world *world);
void lmi_rouse_near(lm_world *world, uint32_t collider);
const char *lmi_sleep_fault(const lm_sleep *sleep); /* null when it is sound */

/* stages.c: memory for a task of a step, and back. */
lmi_scratch *lmi_scratch_take(lm_world *world);
void lmi_scratch_give(lmi_scratch *scratch);

/* world.c: what counts between two that touch, from their groups and what their materials say. */
void lmi_contact_rule_apply(const lm_world *world, uint32_t group_a, uint32_t group_b, double *friction,
                            double *restitution);
const char *lmi_contact_rule_fault(const lmi_contact_rule *rule); /* null when it is sound */

/* material.c: whether a substep does not reach the hertz that a material asks for; once. And one line in the log for all such bodies. */
bool lmi_hertz_beyond(lmi_body *body);
void lmi_hertz_tell(const lm_world *world, const lmi_body *first, uint32_t count);

/* material.c: sets alpha, damping, stiffness_limited and reached_hertz for substeps of h seconds. */
void lmi_material_tune(lmi_body *body, double h);
const char *lmi_material_fault(const lm_material *material); /* null when it is sound */
const char *lmi_clusters_fault(const lm_material *material); /* why clusters cannot have a sound one, or null */

/* pin.c: what goes with a body. */
/* Sets held[] of what pins hold: all of them, or those that nothing pushes, whose particles weigh more in fits. */
void lmi_pins_mark(const lm_world *world, const lmi_body *body, bool all, bool *held);
void lmi_body_anchor(const lm_world *world, lmi_body *body); /* finds lmi_body.anchored */

/* The pins of a mover yield from now on, or do not; false when there is no memory for the weights of all bodies. */
bool lmi_pins_of_mover(lm_world *world, uint32_t mover, bool yields);
void lmi_pins_free(lm_world *world, lmi_body *body);
void lmi_pin_free(lm_world *world, lmi_pin *pin);
void lmi_drags_free(lm_world *world, lmi_body *body);
void lmi_drags_weigh(lm_world *world, lmi_body *body); /* after its masses changed */
void lmi_drag_free(lm_world *world, lmi_drag *drag);

/* world.c: everything in the world but its host hooks, as a value that can be built aside and swapped in. */
void lmi_world_clear(lm_world *world);

#endif
