/*
 * The scene format: what a file says, as C structures, and the tables that describe them.
 *
 * One table (format.c) names every field with its type, unit, range, default and meaning. It drives reading and checking
 * (read.c), suggestions for misspelt names, `limber schema` and the reference in docs/scene-format.md (schema.c). A new
 * field is a line in the table and a member here.
 */
#ifndef LIMBER_SCENE_FORMAT_H
#define LIMBER_SCENE_FORMAT_H

#include "io/json.h"
#include "limber/scene.h"
#include "scene/geometry.h"

/* ------------------------------------------------------------------------------------------------------------------
 * Description
 */

typedef enum field_type {
    FIELD_NUMBER,      /* double */
    FIELD_COUNT,       /* uint32_t: a whole number, not negative */
    FIELD_FLAG,        /* bool */
    FIELD_TEXT,        /* const char * */
    FIELD_CHOICE,      /* uint32_t: index of one of `choice` */
    FIELD_VECTOR,      /* lm_dvec3 */
    FIELD_COUNTS,      /* uint32_t[3] */
    FIELD_ROTATION,    /* rotation: [x, y, z] Euler degrees, or {axis, angle} */
    FIELD_RECORD,      /* pointer to a structure; null when absent */
    FIELD_RECORDS,     /* scene_list of structures */
    FIELD_NUMBERS,     /* scene_list of double */
    FIELD_INDICES,     /* scene_list of uint32_t */
    FIELD_VECTORS,     /* scene_list of lm_dvec3 */
    FIELD_INDEX_LISTS, /* scene_list of scene_list of uint32_t */
    FIELD_COLOUR,      /* uint8_t[3], from "#rrggbb" */
    FIELD_COLOURS,     /* scene_list of uint8_t[3] */
} field_type;

typedef struct format_record format_record;

typedef struct format_field {
    const char *name;
    field_type type;
    size_t offset; /* in the structure */
    bool required;
    bool above_low;   /* the value must be above `low`, not just at least */
    double low, high; /* of a number, count, or each component; both 0: any value within +-1e9 */
    const char *unit;
    const char *standard;                  /* the default as JSON; null: absent */
    const char *(*choice)(uint32_t index); /* FIELD_CHOICE: names, null past the end */
    const format_record *record;           /* FIELD_RECORD, FIELD_RECORDS */
    const char *doc;
} format_field;

/* Fields that exclude each other. */
typedef struct field_group {
    const char *names[5]; /* null past the end */
    bool required;        /* exactly one, not at most one */
} field_group;

/* The field of the material record that a plain string stands for ("material": "jelly"), and whether one may stand there. */
#define WORD_OF_MATERIAL "preset"
bool lmi_format_takes_word(const format_field *field);

struct format_record {
    const char *name;
    const char *doc;
    size_t size;
    const format_field *fields;
    uint32_t field_count;
    const field_group *groups;
    uint32_t group_count;
};

/* The top of a scene file, and all records in the order of the reference. */
extern const format_record lmi_format_scene;
extern const format_record *const lmi_format_records[];
extern const uint32_t lmi_format_record_count;

const format_field *lmi_format_find(const format_record *record, const char *name);

/* The limits of a number as the table gives them, those left open filled in. */
void lmi_format_range(const format_field *field, double *low, double *high);

/* ------------------------------------------------------------------------------------------------------------------
 * Contents
 *
 * What the file says, and (marked so) what prepare.c works out from it.
 */

typedef struct scene_list {
    void *items;
    uint32_t count;
} scene_list;

/* Bodies that a name stands for: one, or all copies of an entry with `repeat`. */
typedef struct scene_range {
    uint32_t first, count;
} scene_range;

#define SCENE_NO_MOVER UINT32_MAX

/* What one scene may ask for. A particle takes some 200 bytes: the limit is about 3 GB. */
#define SCENE_MAX_PARTICLES (1u << 24)
#define SCENE_MAX_BODIES (1u << 17)

/* Every structure begins with this: where it stood, so that whatever is found wrong later can be reported there. */
typedef struct scene_head {
    const json_value *json;
    const char *path; /* "bodies[0].material" */
} scene_head;

typedef struct scene_box {
    scene_head head;
    lm_dvec3 min, max;
} scene_box;

typedef struct scene_shape {
    scene_head head;
    uint32_t name; /* index into lm_shape_name */
    lm_dvec3 size;
    uint32_t detail;
} scene_shape;

typedef enum mesh_origin { ORIGIN_CENTRE, ORIGIN_BOTTOM, ORIGIN_FILE } mesh_origin;

typedef struct scene_mesh {
    scene_head head;
    const char *file;
    double longest; /* 0: as long as the file says */
    uint32_t up;    /* 0: y, 1: z */
    double weld;
    uint32_t origin; /* mesh_origin */
} scene_mesh;

typedef struct scene_lattice {
    scene_head head;
    double spacing; /* 0: found from `particles` */
    uint32_t particles;
    uint32_t width;
    double width_metres; /* 0: `width` counts */
    uint32_t mass;       /* lm_lattice_mass */
    bool shell;
} scene_lattice;

typedef struct scene_fracture {
    scene_head head;
    double limit, variation;
    uint32_t seed;
    double grain, grain_strength;
    scene_list zones; /* scene_zone */
} scene_fracture;

typedef struct scene_tets {
    scene_head head;
    const char *file; /* null: the mesh's, or made here */
    double spacing;   /* of those made here; 0: found from `particles` */
    uint32_t particles;
    uint32_t mass; /* lm_tets_mass */
} scene_tets;

/* A named part of a model, as painted: a factor where it is. */
typedef struct scene_part {
    scene_head head;
    const char *group;
    double value;
} scene_part;

typedef struct scene_octree {
    scene_head head;
    double spacing; /* 0: found from the mesh */
    uint32_t levels;
    double detail;
    uint32_t particles; /* 0: `detail` counts */
    double width;       /* 0: that of a base cell */
    double slack;
    bool shell;
    scene_list width_zones, size_zones; /* scene_zone */
    scene_list width_groups;            /* scene_part */
} scene_octree;

/* Level of detail of an octree: lm_detail. */
typedef struct scene_detail {
    scene_head head;
    double touch_size, touch_radius, eye_angle, finest, coarsest, hold;
    uint32_t budget, per_step;
} scene_detail;

typedef struct scene_clusters {
    scene_head head;
    uint32_t counts[3];
    double size;
    scene_list lists; /* of scene_list of uint32_t */
    double overlap;
    uint32_t kmeans, rings;
    uint32_t each;       /* cluster_each */
    scene_list elements; /* of scene_list of uint32_t */
} scene_clusters;

typedef enum cluster_each { EACH_TRIANGLE, EACH_EDGE, EACH_PARTICLE, EACH_ELEMENT } cluster_each;

typedef struct scene_material {
    scene_head head;
    uint32_t preset; /* lm_material_preset_name */
    uint32_t mode;   /* lm_mode */
    double hertz, damping_ratio;
    double young, poisson, sag;
    double alpha, damping;
    uint32_t damping_kind; /* lm_damping */
    uint32_t damping_every;
    double beta;
    double yield, creep, max_plastic;
    double friction, restitution;
} scene_material;

typedef struct scene_surface {
    scene_head head;
    uint32_t detail; /* 0: the shape's own */
    uint32_t skin;   /* lm_skin_kind */
} scene_surface;

/* A part of a body that differs from the rest. */
typedef struct scene_zone {
    scene_head head;
    scene_box *where;
    lm_dvec3 near;
    double radius, fade;
    double value;
} scene_zone;

/* One of the 27 functions that a quadratic fit follows: a coordinate grows by `amount` times a function of the place. */
typedef struct scene_mode {
    scene_head head;
    uint32_t axis;     /* 0, 1, 2: the coordinate */
    uint32_t function; /* 0 to 8: x, y, z, xx, yy, zz, xy, yz, zx */
    double amount;
} scene_mode;

/* How particles are displaced from the rest shape, in this order. */
typedef struct scene_deform {
    scene_head head;
    scene_list modes; /* scene_mode */
    lm_dvec3 scale;
    lm_dvec3 shear;
    double squash, taper;
    double twist, bend; /* degrees a metre */
    double curve, wave; /* metres */
    uint32_t axis;      /* 0, 1, 2 */
    rotation rotate;
    lm_dvec3 about, move;
    scene_box *where;
    double fade;
    double noise;
    uint32_t seed;
} scene_deform;

/* A pose that a body likes: its mesh with other positions from a file, then deformations, one after the other. */
typedef struct scene_pose {
    scene_head head;
    const char *file;   /* or null: with a target the file of the mesh, else none */
    const char *target; /* of a glTF file; or null */
    uint32_t frame;     /* of a point cache */
    scene_list deform;  /* scene_deform */
} scene_pose;

typedef struct scene_examples {
    scene_head head;
    scene_list poses; /* scene_pose */
    double beta;
    scene_list groups; /* scene_box */
    bool each_region;
    scene_list weights; /* double */
} scene_examples;

/* A bone, or what a bone of the model does. */
typedef struct scene_bone {
    scene_head head;
    const char *name;
    const char *parent; /* or null */
    lm_dvec3 joint, tail;
    double radius, fade;
    scene_list keyframes; /* scene_bone_keyframe */
} scene_bone;

typedef struct scene_bone_keyframe {
    scene_head head;
    double time;
    lm_dvec3 rotate; /* Euler degrees, interpolated as they are */
    lm_dvec3 move;
} scene_bone_keyframe;

typedef enum skeleton_attach { ATTACH_DISTANCE, ATTACH_GROUPS } skeleton_attach;

typedef struct scene_skeleton {
    scene_head head;
    scene_list bones; /* scene_bone */
    uint32_t attach;  /* skeleton_attach */
    double radius, fade;
    double hertz, damping_ratio;
    double loop; /* 0: none */
    bool smooth;
    const char *animation; /* or null */
    struct scene_rig *rig; /* worked out when the body is made */
} scene_skeleton;

typedef struct scene_vary {
    scene_head head;
    lm_dvec3 rotate;
    double size;
    lm_dvec3 velocity, spin;
} scene_vary;

typedef struct scene_repeat {
    scene_head head;
    uint32_t grid[3];
    lm_dvec3 spacing;
    lm_dvec3 jitter;
    uint32_t seed;
    scene_vary *vary;
} scene_repeat;

typedef struct scene_body_entry {
    scene_head head;
    const char *name;
    scene_shape *shape;
    scene_mesh *mesh;
    scene_lattice *lattice;
    scene_tets *tets;
    scene_octree *octree;
    scene_detail *detail;
    scene_surface *surface;
    scene_list points;  /* lm_dvec3 */
    uint32_t particles; /* 0: as the shape gives them */
    scene_list masses;  /* double */
    double mass, density;
    scene_list mass_zones, stiffness_zones; /* scene_zone */
    scene_clusters *clusters;
    scene_material *material;
    scene_examples *examples;
    scene_skeleton *skeleton;
    scene_fracture *fracture;
    double contact_radius;
    uint32_t contact_points; /* lm_contact_points */
    uint32_t group, mask;    /* bits */
    bool self_contact;
    lm_dvec3 at;
    rotation rotate;
    lm_dvec3 velocity, spin;
    uint32_t collider_mask; /* bits */
    double penalty;
    bool may_sleep;
    scene_deform *state;
    scene_repeat *repeat;
    uint8_t colour[3];
    scene_list colours; /* uint8_t[3] */
    const char *label;

    scene_range range;      /* the bodies it makes */
    uint32_t fine_detail;   /* of a surface only to be looked at; 0: none */
    scene_list own_colours; /* uint8_t[3]: those of the model, one for each vertex of the surface */
    lm_scene_texture own_texture;
} scene_body_entry;

typedef struct scene_keyframe {
    scene_head head;
    double time;
    lm_dvec3 at;
    lm_dvec3 rotate; /* Euler degrees: interpolated as they are, so that several turns are possible */
} scene_keyframe;

typedef struct scene_mover {
    scene_head head;
    const char *name;
    lm_dvec3 at;
    rotation rotate;
    lm_dvec3 velocity, spin;
    double mass; /* 0: it moves as told */
    lm_dvec3 inertia;
    scene_list keyframes; /* scene_keyframe */
    lm_mover_id id;
} scene_mover;

typedef struct scene_heights {
    scene_head head;
    uint32_t columns, rows;
    double spacing;
    double size;         /* 0: `spacing` counts */
    scene_list values;   /* double */
    const char *formula; /* or null */
    const char *file;    /* or null */
    double height;       /* of white in the file */
} scene_heights;

/* How a mesh moves: over time, from a file. */
typedef struct scene_cache {
    scene_head head;
    const char *file; /* null: the mesh's own */
    double fps;       /* of a PC2 file */
    const char *animation;
    double start, speed;
    bool loop;
} scene_cache;

typedef struct scene_collider {
    scene_head head;
    uint32_t shape; /* lm_shape */
    double radius, length;
    lm_dvec3 size;
    scene_heights *heights;
    scene_mesh *mesh;
    scene_cache *cache;
    struct collider_motion *motion; /* what was read of it; the scene's */
    scene_shape *model;
    scene_list vertices;  /* lm_dvec3 */
    scene_list triangles; /* scene_list of uint32_t */
    bool solid;
    lm_dvec3 at, normal;
    rotation rotate;
    const char *mover;
    uint32_t mover_index; /* or SCENE_NO_MOVER */
    double friction, restitution;
    uint32_t group, mask; /* bits */
    uint8_t colour[3];
    lm_collider_id id;
} scene_collider;

typedef struct scene_pin {
    scene_head head;
    const char *body;
    scene_list particles; /* uint32_t */
    scene_box *where;
    const char *mover;
    uint32_t mover_index; /* or SCENE_NO_MOVER */
    scene_range range;
} scene_pin;

typedef struct scene_joint {
    scene_head head;
    uint32_t kind; /* lm_joint_kind */
    const char *body, *to, *mover;
    lm_dvec3 at, from, axis, step;
    bool chain, whole;
    double radius, length, hertz, damping_ratio, max_force, max_torque;
    uint32_t mover_index; /* or SCENE_NO_MOVER */
    scene_range range, to_range;
} scene_joint;

typedef struct scene_drag_keyframe {
    scene_head head;
    double time;
    lm_dvec3 target;
} scene_drag_keyframe;

typedef struct scene_drag {
    scene_head head;
    const char *body;
    uint32_t particle;
    lm_dvec3 nearest;
    double radius;
    lm_dvec3 target, offset;
    scene_list keyframes; /* scene_drag_keyframe */
    double hertz, damping_ratio, max_force;
    double from, until;
    scene_range range;
    lm_drag_id *ids; /* one for each body of the range */
} scene_drag;

typedef struct scene_field {
    scene_head head;
    uint32_t kind; /* lm_field_kind */
    lm_dvec3 vector, at;
    double strength, radius;
    double gusts, gust_seconds;
    lm_field_id id;
} scene_field;

/* A straight edge on its way through bodies. */
typedef struct scene_cut {
    scene_head head;
    lm_dvec3 a, b, to_a, to_b;
    double seconds, finest;
} scene_cut;

/* Parallel planes. */
typedef struct scene_slice {
    scene_head head;
    lm_dvec3 at, normal;
    uint32_t count;
    double distance;
} scene_slice;

/* A closed surface that cuts its shape out. */
typedef struct scene_stamp {
    scene_head head;
    scene_shape *shape;
    scene_mesh *mesh;
    lm_dvec3 at;
    rotation rotate;
    double finest;
    struct scene_stamped *stamped; /* what was read of it; the scene's */
} scene_stamp;

/* Pieces that become bodies of their own, less those that are too small. */
typedef struct scene_split {
    scene_head head;
    double push;
    double least_mass, least_volume;
    uint32_t most;
} scene_split;

/* A brush: cells of octrees in a ball become finer or coarser. */
typedef struct scene_refine {
    scene_head head;
    lm_dvec3 centre;
    double radius, size;
} scene_refine;

typedef struct scene_event {
    scene_head head;
    double time;
    const char *body;
    scene_material *material;
    lm_dvec3 impulse, point;
    lm_dvec3 velocity;
    scene_deform *deform;
    scene_cut *cut;
    scene_slice *slice;
    scene_stamp *stamp;
    scene_split *split;
    scene_refine *refine;
    lm_dvec3 eye;
    lm_dvec3 gravity;
    scene_range range;
} scene_event;

typedef enum expect_when { WHEN_END, WHEN_MAX, WHEN_MIN, WHEN_MEAN } expect_when;

typedef struct scene_expect {
    scene_head head;
    uint32_t measure; /* index into lmi_measure_name */
    const char *body, *mover;
    lm_dvec3 point;
    scene_box *box;
    uint32_t example, group;
    double at;
    uint32_t when; /* expect_when */
    double from;
    double less_than, greater_than, equals;
    const char *times;
    const char *note;
    scene_range range;             /* one imaginary body for a measure of the whole world */
    uint32_t mover_index;          /* SCENE_NO_MOVER: none */
    uint32_t times_body;           /* index of the body that `times` names */
    struct expect_record *records; /* one for each body of the range, then one for `times` */
} scene_expect;

typedef struct scene_camera {
    scene_head head;
    lm_dvec3 at, look_at;
    double field_of_view;
} scene_camera;

typedef struct scene_sleep {
    scene_head head;
    double speed, seconds;
} scene_sleep;

typedef struct scene_contact_rule {
    scene_head head;
    uint32_t groups, others; /* bits */
    double friction, restitution;
} scene_contact_rule;

typedef struct scene_file {
    scene_head head;
    uint32_t limber;
    const char *title, *figure;
    uint32_t frames;
    lm_dvec3 gravity;
    uint32_t substeps;
    scene_camera *camera;
    lm_dvec3 eye;            /* where given */
    scene_sleep *sleep;      /* null: nobody does */
    uint32_t contact_method; /* lm_contact_method */
    scene_list contact_rules;
    scene_list bodies, colliders, movers, pins, joints, drags, fields, events, expect;
} scene_file;

#endif
