/* What the files of scene/ share: the scene itself, and the steps from a file to a running world. */
#ifndef LIMBER_SCENE_INTERNAL_H
#define LIMBER_SCENE_INTERNAL_H

#include "limber/mesh.h"
#include "limber/scene.h"
#include "limber/shapes.h"
#include "scene/format.h"
#include "scene/report.h"

/* A body that the scene made. */
typedef struct made_body {
    lm_body_id id;
    const char *name;
    lm_dvec3 at; /* the pose it was made with */
    rotation rotate;
    double scale;       /* to the entry's own size */
    double rest_volume; /* within its surface, m³; 0 without one */
    lm_scene_colours colours;
    lm_scene_texture texture;
    const char *label; /* or null */
} made_body;

/* Momentum as it was when the bookkeeping began, and what went wrong before that (see momentum.c). */
typedef struct momentum_book {
    lm_dvec3 momentum, outside;
    lm_dvec3 unexplained;
    double scale; /* the largest sum of m |v| so far */
} momentum_book;

struct lm_scene {
    const char *name; /* as it was asked for; errors begin with it */
    json_document *document;
    scene_file *file;
    made_body *bodies;
    uint32_t body_count;
    lm_world_def world_def; /* as the last world was made */
    lm_log host_log;        /* what the maker of the world wanted to hear */
    char last_log[LM_SCENE_ERROR_SIZE];
    momentum_book momentum;
    bool watching;
    bool fine_surfaces;
    lm_mesh_data mesh;               /* of a scene that was made for a mesh file: the file's; else empty */
    struct rig_of_file *rigs;        /* of mesh files, the last one read; each leads to the one before */
    struct collider_motion *motions; /* of colliders that deform, likewise */
    struct scene_stamped *stamps;    /* what events cut out, likewise */
    char note[LM_SCENE_ERROR_SIZE];  /* see lm_scene_note */
};

/* The i-th structure of a list. */
#define LIST_ITEM(type, list, index) (&((type *)(list).items)[index])

/* Whether the entry's particles are made of its shape or mesh by the library, as a lattice, tetrahedra or an octree: they are known once
 * the body is made. */
static inline bool is_divided(const scene_body_entry *entry)
{
    return entry->lattice != NULL || entry->tets != NULL || entry->octree != NULL;
}

/* scene.c: lm_scene_open_text; with `own` false the text is not that of the file `name`, and errors do not say a line of it. */
lm_scene *lmi_scene_open_text_as(const char *name, bool own, const char *text, size_t length, const char *const *sets,
                                 uint32_t set_count, lm_scene_error *error);

/* set.c: applies one "path=value" to the tree. `text` must live as long as the document. */
bool lmi_set_apply(json_document *document, json_value *root, const char *text, lm_scene_error *error);

/* prepare.c: what can be checked without making a world, names looked up, numbers of bodies worked out. */
bool lmi_prepare_scene(lm_scene *s, lm_scene_error *error);

/* make_body.c: all bodies of one entry. */
lm_result lmi_make_bodies(lm_scene *s, lm_world *world, scene_body_entry *entry, uint64_t *particles,
                          lm_scene_error *error);

/* One more body like the index-th of an entry, at rest, outside the scene's own list. */
lm_result lmi_make_again(lm_scene *s, lm_world *world, const scene_body_entry *entry, uint32_t index, lm_dvec3 at,
                         made_body *body, lm_scene_error *error);

/* fine.c: fills in the fine_detail of every entry; and the extents of a shape, given or natural. */
void lmi_choose_fine_details(lm_scene *s);
lm_dvec3 lmi_size_of_shape(const scene_shape *shape);

/* zone.c: what the zones make of a point: 1 where there are none. */
double lmi_zone_value(const scene_list *zones, lm_vec3 point);

/* connect.c: which particles are neighbours, for clusters that are made from it. */
typedef struct connections {
    uint32_t *elements;
    uint32_t count, size; /* elements, and particles in each */
} connections;

/* The caller's lists, all of one length. */
lm_result lmi_connect_lists(const scene_list *lists, connections *out);
lm_result lmi_connect_triangles(const lm_shape_mesh *surface, connections *out);

/* The edges of the surface (whose vertices are the first points), and from each point after them to its six nearest. */
lm_result lmi_connect_edges(const lm_shape_mesh *surface, const lm_vec3 *points, uint32_t count, connections *out);

/* The library's material; with `only_given` the fields that the file does not name keep their value. */
void lmi_material_apply(const scene_material *from, bool only_given, lm_material *to);

/* A field as it is at a time. */
lm_field_def lmi_scene_field_at(const scene_field *field, double time);

/* A failed call of the library, reported at a field with what the library's log said. */
void lmi_report_result(lm_scene *s, lm_result result, const scene_head *head, const char *name, lm_scene_error *error);

/* mesh_model.c: a path that a scene names: relative to the scene file, unless it begins at the root. To be freed. */
char *lmi_scene_file_path(const lm_scene *s, const char *file);

/* deform.c: rest points to displaced ones, in the body's frame. */
void lmi_deform_points(const scene_deform *deform, const lm_vec3 *rest, uint32_t count, lm_dvec3 *out);

/* drive.c: the frame that begins nearest to a time; pose of a mover with keyframes. */
uint32_t lmi_frame_at(double time);
lm_pose lmi_mover_pose_at(const scene_mover *mover, double time);

/* rig_file.c: frees the rigs that were read for the scene. */
void lmi_rig_files_free(lm_scene *s);

/* collider_cache.c: moves the vertices of colliders to where they are at the end of a frame; and frees what was read of them. */
lm_result lmi_drive_colliders(lm_scene *s, lm_world *world, uint32_t frame);
void lmi_collider_motions_free(lm_scene *s);

/* cuts.c: what an event cuts in a frame. Before the first frame stamps are read, and bodies that will be cut are made ready,
 * not in the frame of the first stroke; what finds no memory for that is tried again then. */
lm_result lmi_cuts_apply(lm_scene *s, lm_world *world, const scene_event *event, uint32_t frame);
lm_result lmi_cuts_prepare(lm_scene *s, lm_world *world, lm_scene_error *error);
void lmi_stamps_free(lm_scene *s);

/* drive_bones.c: leads the skeletons of all bodies to where they shall be at a time. */
lm_result lmi_drive_skeletons(const lm_scene *s, lm_world *world, double time);

/* warn.c: says in the log what a scene seldom means, once its world is made. */
void lmi_scene_warn(const lm_scene *s, const lm_world *world);
void lmi_scene_say(const lm_scene *s, const char *line); /* one line for whoever made the world */

/* momentum.c */
void lmi_momentum_begin(lm_scene *s, const lm_world *world);
void lmi_momentum_close(lm_scene *s, const lm_world *world);
void lmi_momentum_reopen(lm_scene *s, const lm_world *world);
void lmi_momentum_watch(lm_scene *s, const lm_world *world); /* after each frame */

/* expect.c: measures what the expect block needs after the step of `frame`. */
void lmi_expect_reset(lm_scene *s);
lm_result lmi_expect_record_frame(lm_scene *s, const lm_world *world, uint32_t frame);

#endif
