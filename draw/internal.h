/*
 * The inside of the renderer: what its files share.
 *
 * Coordinates. Everything goes to OpenGL in "eye space": the world's axes, with the camera's position as the origin. It is
 * subtracted in double precision, so that a world far away from its origin is drawn as well as one that is near.
 */
#ifndef LIMBER_DRAW_INTERNAL_H
#define LIMBER_DRAW_INTERNAL_H

#include "draw/draw.h"
#include "support/like_printf.h"

#include <cglm/cglm.h>
#include <epoxy/gl.h>

#include <math.h>

/* ---- errors and small things ---- */

bool draw_fail(draw_error *error, const char *format, ...) LIKE_PRINTF(2, 3); /* always false */
bool draw_out_of_memory(draw_error *error);                                   /* always false */
bool draw_could_read(lm_result result, draw_error *error); /* whether a call that reads the world went well */
bool draw_give_up(draw_error *error); /* always false: for memory, unless something else was told already */

/* Room for `needed` elements of `size` bytes in *array; grows by half, keeps the contents. False: no memory. */
bool draw_reserve(void *array, size_t *capacity, size_t needed, size_t size);

static inline lm_dvec3 draw_subtract(lm_dvec3 a, lm_dvec3 b) { return (lm_dvec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

static inline void draw_to_vec3(lm_dvec3 a, vec3 out) { out[0] = (float)a.x, out[1] = (float)a.y, out[2] = (float)a.z; }

/* ---- context.c: an OpenGL 3.3 context of our own, or the host's ---- */

typedef struct draw_context {
    void *window, *context; /* SDL's; null when the host's context is used */
    void *host_window, *host_context;
} draw_context;

bool draw_context_open(draw_context *context, draw_error *error);
bool draw_context_check(draw_error *error); /* whether the current one, which may be a host's, has OpenGL 3.3 */
void draw_context_close(draw_context *context);
bool draw_context_enter(draw_context *context, draw_error *error); /* makes it current */
void draw_context_leave(draw_context *context);                    /* gives back what was current before */

/* ---- program.c: shaders ---- */

/* Units that textures stay bound to during a frame. */
enum {
    UNIT_PARTICLES,
    UNIT_REGIONS,
    UNIT_ANCHORS,
    UNIT_RIDERS,
    UNIT_RINGS,
    UNIT_REST,
    UNIT_PARTICLE_REST,
    UNIT_POSITIONS,
    UNIT_COLOURS,
    UNIT_VALUES,
    UNIT_SHADOW,         /* depths, compared */
    UNIT_SHADOW_DEPTH,   /* the same depths, as numbers */
    UNIT_DEPTH,          /* of the small picture that visibility is found in */
    UNIT_VISIBILITY,     /* key light and occlusion */
    UNIT_VISIBILITY_RAW, /* before it is smoothed */
    UNIT_COUNT
};

/* Builds a program from files of draw/shaders; `defines` go before them. `captured` is what transform feedback writes, one
 * buffer each, or null. 0: *error says why. */
GLuint draw_program_build(const char *vertex, const char *fragment, const char *defines, const char *captured,
                          draw_error *error);

typedef struct draw_programs {
    GLuint skin, normal, strain;             /* transform feedback */
    GLuint surface, surface_depth, inside;   /* bodies */
    GLuint collider, collider_depth;         /* boxes, balls, capsules */
    GLuint floor, floor_depth, wall;         /* planes */
    GLuint backdrop;                         /* what is behind everything */
    GLuint sphere, sphere_depth, line, wire; /* overlays */
    GLuint visibility, smooth;               /* of the key light and the surroundings */
} draw_programs;

bool draw_programs_build(draw_programs *programs, draw_error *error);
void draw_programs_free(draw_programs *programs);

/* ---- buffers: one that is written again each frame, and perhaps read as a texture ---- */

typedef struct draw_stream {
    GLuint buffer, texture;
    size_t capacity;
} draw_stream;

/* Room for `size` bytes; `data` null leaves them undefined. `format` 0: no texture; else it is bound to `unit`. */
void draw_stream_write(draw_stream *stream, const void *data, size_t size, GLenum format, int unit);
void draw_stream_bind(const draw_stream *stream, GLenum format, int unit);
void draw_stream_free(draw_stream *stream);

/* ---- target.c: framebuffers ---- */

#define DRAW_SHADOW_SIZE 2048

typedef struct draw_target {
    uint32_t width, height;                          /* of the picture */
    uint32_t small_width, small_height;              /* of what visibility is found in */
    GLuint colour_buffer, depth_buffer, framebuffer; /* several samples a pixel */
    GLuint resolved, resolved_framebuffer;           /* one */
    GLuint small_depth, small_framebuffer;
    GLuint visibility[2], visibility_framebuffer[2];
    GLuint shadow, shadow_framebuffer;
    GLuint compare, plain; /* samplers */
} draw_target;

bool draw_target_make(draw_target *target, uint32_t width, uint32_t height, draw_error *error);
void draw_target_free(draw_target *target);

/* ---- colour.c ---- */

/* Linear light from sRGB bytes and back. */
void draw_colour_linear(const uint8_t rgb[3], vec3 out);
void draw_colour_bytes(const vec3 linear, uint8_t rgb[3]);

/* The n-th of a row of colours that are told apart easily, sRGB. */
void draw_palette_body(uint32_t n, uint8_t rgb[3]);
void draw_palette_region(uint32_t n, uint8_t rgb[3]);

/* Colours being mixed, in linear light. */
typedef struct draw_mixture {
    vec3 sum;
    float weight;
} draw_mixture;

void draw_mixture_add(draw_mixture *mixture, const vec3 colour, float weight);
void draw_mixture_write(const draw_mixture *mixture, const vec3 otherwise, uint8_t rgba[4]); /* sRGB */

/* Colours that were told for ids. */
typedef struct draw_colour_set {
    uint32_t slot, generation;
    uint8_t *rgb;
    uint32_t count;
} draw_colour_set;

typedef struct draw_colours {
    draw_colour_set *sets;
    size_t count, capacity;
    uint64_t revision; /* changes with every set */
} draw_colours;

bool draw_colours_put(draw_colours *colours, uint32_t slot, uint32_t generation, const uint8_t *rgb, uint32_t count);
const draw_colour_set *draw_colours_find(const draw_colours *colours, uint32_t slot, uint32_t generation);
void draw_colours_free(draw_colours *colours);

/* ---- colour_map.c ---- */

#define DRAW_MAP_STOPS 7

typedef struct draw_range {
    float low, high;
    float most;                /* the largest value so far */
    float usual;               /* the largest so far that few values are above, and the range goes to; 0: `most` */
    const char *label, *brief; /* the latter for small pictures */
    float unit;                /* of the label, in units of the values: 1000 for kPa; 0: 1 */
} draw_range;

const float *draw_map_stops(void); /* 3 * DRAW_MAP_STOPS, linear */
void draw_legend(image *picture, const draw_range *range);

/* Left, top, width and height of what it covers; all 0 where there is no room for it. */
void draw_legend_place(const image *picture, const draw_range *range, int box[4]);

/* The range up to `asked`; or, where that is 0, up to a round number no less than `least` and all values so far. */
void draw_range_set(draw_range *range, float asked, float most, float least);

/* The unit that a legend writes values of the range in; and for a range in pascals: Pa, kPa, MPa or GPa, whichever has short
 * numbers. */
float draw_range_unit(const draw_range *range);
void draw_range_name_pascals(draw_range *range);

/* ---- frame: the camera and the light of one picture ---- */

/* The uniform block `frame` of the shaders; see shaders/frame.glsl. */
typedef struct draw_frame_block {
    mat4 clip_from_eye;
    mat4 shadow_from_eye;
    vec4 to_light;
    vec4 right, up, forward;
    vec4 look_at;
    vec4 size;
    vec4 lens;
    vec4 shadow;
} draw_frame_block;

typedef struct draw_frame {
    draw_frame_block block;
    lm_dvec3 eye;
    double distance; /* from the eye to what it looks at */
    const lm_world *world;
    const draw_settings *settings;
    uint32_t views; /* with what they imply */
    bool ghost;     /* the surface lets see what is inside */
    vec4 wire_ink;  /* the colour of wires, sRGB, and how far it takes the place of the bodies' colours */
} draw_frame;

/* A box around something; empty while lower > upper. */
typedef struct draw_bounds {
    lm_dvec3 lower, upper;
} draw_bounds;

draw_bounds draw_bounds_empty(void);
bool draw_bounds_is_empty(const draw_bounds *bounds);
void draw_bounds_add(draw_bounds *bounds, lm_dvec3 point, double margin);
void draw_bounds_add_collider(draw_bounds *bounds, const lm_collider_def *def, lm_pose pose); /* no planes */

void draw_rotation(lm_quat q, double m[3][3]); /* rows */

/* camera.c, light.c */
void draw_camera_set(draw_frame *frame, const draw_settings *settings, const draw_bounds *bounds, double aspect);
void draw_light_set(draw_frame *frame, const draw_bounds *bounds);

/* ---- bodies: all skins of the world in one set of buffers ---- */

typedef struct draw_body {
    lm_body_id id;
    uint64_t shape_hash;
    uint32_t particles, first_particle;
    uint32_t regions, memberships, first_region;
    uint32_t vertices, first_vertex;
    uint32_t triangles, first_triangle;
    bool rides_on_regions, rides_on_tets, is_closed;
    float particle_radius; /* for drawing, metres */
    float contact_radius;
    float spacing; /* of a lattice; else 0 */
    uint32_t tets; /* tetrahedra */
    lm_dvec3 lower, upper, centre;
} draw_body;

/* First rider, how many, the body. */
typedef struct draw_ride {
    uint32_t first, count, body;
} draw_ride;

/* A particle or LM_RIDER_REGION + region, counted over all bodies. */
typedef struct draw_rider {
    uint32_t index;
    float weight;
} draw_rider;

/* A pair of vertices, or of an offset and a count. */
typedef struct draw_pair {
    uint32_t first, second;
} draw_pair;

/* Parts of the index buffer that are drawn in one call. */
typedef struct draw_list {
    GLsizei *counts;
    const void **offsets;
    size_t count_capacity, offset_capacity;
    GLsizei length;
} draw_list;

typedef struct draw_bodies {
    draw_body *list;
    size_t count, list_capacity;
    lm_body_id *ids;
    size_t id_capacity;
    uint32_t particles, regions, vertices, triangles, riders, edges;

    /* Until a body's shape changes; on the host, and as OpenGL has them. */
    lm_vec3 *particle_rest;
    size_t particle_rest_capacity;
    uint32_t *source; /* of vertices: as they were given, or LM_SKIN_INNER */
    size_t source_capacity;
    lm_vec3 *rest_normals; /* of vertices */
    size_t rest_normal_capacity;
    vec4 *rest; /* of vertices; w: the spacing of the lattice that carries them; -1 on tetrahedra; or 0 */
    draw_ride *ride;
    draw_rider *rider;
    uint32_t *corners; /* three for each triangle */
    draw_pair *edge;   /* of triangles, once wires were looked at */
    size_t rest_capacity, ride_capacity, rider_capacity, corner_capacity, edge_capacity;
    GLuint surface_array, skin_array, ring_array, wire_array;
    draw_stream particle_rest_stream; /* where something rides on tetrahedra */
    draw_stream rest_normal_stream, rest_stream, ride_stream, rider_stream, ring_stream, ring_pair_stream,
        corner_stream, edge_stream;

    /* Until colours are told, or others are looked at. */
    bool is_coloured, by_region;
    uint64_t colour_revision;
    uint8_t (*vertex_colours)[4], (*particle_colours)[4]; /* sRGB */
    size_t vertex_colour_capacity, particle_colour_capacity;
    draw_stream colour_stream;

    /* Every frame. */
    bool on_host;       /* deformed by lm_body_get_skin */
    lm_world *shares;   /* the world that writes into the buffers by itself, or null (share.c) */
    lm_body_id *shared; /* its bodies that do */
    size_t shared_count, shared_capacity;
    draw_list one_sided, two_sided;   /* surfaces whose front faces alone are seen, and others */
    vec4 *particle, *region, *anchor; /* what goes up; particles and regions are relative to their body's anchor */
    vec4 *position;                   /* of vertices, in eye space; on_host alone */
    size_t particle_capacity, region_capacity, anchor_capacity, position_capacity;
    draw_stream particle_stream, region_stream, anchor_stream, position_stream, normal_stream, value_stream;
    lm_vec3 *scratch, *normals;
    size_t scratch_capacity, normal_capacity;
    lm_region_transform *transforms;
    size_t transform_capacity;
    float *particle_values, *vertex_values; /* of the colour map */
    size_t particle_value_capacity, vertex_value_capacity;
} draw_bodies;

/* bodies.c: finds the bodies of the world and, where they are not those of the last picture, makes the buffers again. */
bool draw_bodies_find(draw_bodies *bodies, const lm_world *world, draw_error *error);
void draw_bodies_bounds(const draw_bodies *bodies, draw_bounds *bounds);
void draw_bodies_free(draw_bodies *bodies);
bool draw_bodies_make_edges(draw_bodies *bodies, draw_error *error); /* for wires, once */

/* body_colours.c: colours of vertices and particles. */
bool draw_bodies_colour(draw_bodies *bodies, const lm_world *world, const draw_colours *colours, bool by_region,
                        draw_error *error);

/* region_colours.c: colours by region. */
bool draw_body_region_colours(draw_bodies *bodies, const lm_world *world, const draw_body *body, draw_error *error);

/* deform.c: this frame's particles, and the vertices and normals that follow from them. */
bool draw_bodies_deform(draw_bodies *bodies, const draw_frame *frame, const draw_programs *programs, draw_error *error);

/* share.c: the same by the device that steps the world; false: it does not. And no longer. */
bool draw_bodies_share(draw_bodies *bodies, const draw_frame *frame);
void draw_bodies_unshare(draw_bodies *bodies, const lm_world *world);

/* sides.c: draws surfaces with the program in use; insides are faces that are hidden unless a surface is folded through
 * itself. */
bool draw_surface_is_closed(const vec4 *vertices, const uint32_t *corners, uint32_t triangles);
bool draw_bodies_sort_out(draw_bodies *bodies,
                          bool known); /* false: nothing is known of particles, all have two sides */
void draw_bodies_outsides(const draw_bodies *bodies);
void draw_bodies_insides(const draw_bodies *bodies);

/* Runs a vertex shader over all deformed vertices and keeps what it writes. */
void draw_bodies_capture(const draw_bodies *bodies, GLuint program, const draw_stream *into);

/* values.c: speed, strain or von Mises stress of vertices and particles; *most is the largest, *usual is above
 * 99 of 100 particles, *stiffest the largest Young's
 * modulus that was reached. */
bool draw_bodies_speed(draw_bodies *bodies, const draw_frame *frame, float *most, draw_error *error);
bool draw_bodies_stress(draw_bodies *bodies, const draw_frame *frame, float *most, float *usual, float *stiffest,
                        draw_error *error);
bool draw_bodies_strain(draw_bodies *bodies, const draw_frame *frame, const draw_programs *programs, float *most,
                        draw_error *error);

/* ---- solids.c: height maps and meshes ---- */

typedef struct draw_solid_shape draw_solid_shape;

typedef struct draw_solids {
    draw_solid_shape *list;
    size_t count, capacity;
} draw_solids;

/* Each frame: begin, add those that there are (rows of rotation and position in eye space, linear colour), end; which drops
 * those that are gone. False when out of memory. */
void draw_solids_begin(draw_solids *solids);
bool draw_solids_add(draw_solids *solids, lm_collider_id id, const lm_collider_def *def, vec4 rows[3], vec3 colour);
void draw_solids_end(draw_solids *solids);
void draw_solids_draw(const draw_solids *solids);
void draw_solids_free(draw_solids *solids);

/* ---- colliders.c: boxes, balls and capsules ---- */

typedef struct draw_colliders {
    lm_collider_id *ids;
    size_t id_capacity;
    GLuint array, mesh, indices;
    GLsizei index_count;
    struct draw_collider *list; /* what goes up */
    size_t count, capacity;
    struct draw_plane *planes;
    size_t plane_count, plane_capacity;
    draw_solids solids;
    draw_stream stream;
} draw_colliders;

/* Finds the colliders of the world, for this frame's eye. */
bool draw_colliders_find(draw_colliders *colliders, const lm_world *world, const draw_colours *colours, lm_dvec3 eye,
                         draw_bounds *bounds, draw_error *error);
void draw_colliders_draw(const draw_colliders *colliders); /* with the program in use */
void draw_colliders_free(draw_colliders *colliders);

/* planes.c: floors and walls. A floor is drawn where a plane faces up; a wall is steep, and seen from its free side only. */
typedef struct draw_plane {
    vec3 middle, normal, colour; /* eye space; linear light */
    bool has_colour;
} draw_plane;

void draw_floors(const draw_frame *frame, const draw_colliders *colliders, GLuint program);
void draw_walls(const draw_frame *frame, const draw_colliders *colliders, const draw_bounds *bounds, GLuint program);

/* ---- overlays.c: balls and lines ---- */

typedef struct draw_ball {
    vec3 middle;
    float radius;
    uint8_t rgba[4]; /* sRGB */
} draw_ball;

typedef struct draw_line {
    vec3 from, to;
    uint8_t rgba[4];
} draw_line;

typedef struct draw_overlays {
    draw_ball *balls;
    draw_line *lines;
    size_t ball_count, ball_capacity, line_count, line_capacity;
    size_t wire_lines;               /* come first; none where the graphics card finds them */
    size_t solid_balls, solid_lines; /* the end of those that things in front of them hide; marks follow */
    draw_stream ball_stream, line_stream;
    GLuint ball_array, line_array;
} draw_overlays;

bool draw_overlays_ball(draw_overlays *overlays, const vec3 middle, float radius, const uint8_t rgba[4]);
bool draw_overlays_line(draw_overlays *overlays, const vec3 from, const vec3 to, const uint8_t rgba[4]);
void draw_overlays_send(draw_overlays *overlays);
void draw_overlays_balls(const draw_overlays *overlays, size_t first, size_t count);
void draw_overlays_lines(const draw_overlays *overlays, size_t first, size_t count);
void draw_overlays_free(draw_overlays *overlays);

/* views.c: fills the overlays with what the views show. */
bool draw_views_fill(draw_overlays *overlays, draw_bodies *bodies, const draw_colliders *colliders,
                     const draw_frame *frame, const draw_range *range, draw_error *error);

/* ---- draw.c ---- */

struct draw {
    draw_context context;
    draw_target target;
    draw_programs programs;
    draw_bodies bodies;
    draw_colliders colliders;
    draw_overlays overlays;
    draw_colours colours, collider_colours;
    draw_range speed, strain, stress;
    const draw_range *map; /* the one of them that was used last */
    int legend[4];         /* what it covers in the last picture */
    GLuint frame_buffer, empty_array;
};

#endif
