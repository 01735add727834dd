/* What the copies of a body entry have in common: its particles or the mesh of its lattice, and its surface. */
#ifndef LIMBER_SCENE_MODEL_H
#define LIMBER_SCENE_MODEL_H

#include "limber/mesh.h"
#include "scene/internal.h"

typedef struct body_model {
    lm_shape_mesh mesh; /* what a lattice or tetrahedra are made of; else its vertices are the first points; or empty */
    lm_shape_mesh surface; /* a finer one to draw; empty: the mesh */
    lm_vec3 *points;       /* none for a lattice or tetrahedra, whose particles are known once they are made */
    uint32_t point_count;
    float *masses;               /* null: equal shares */
    double *shares;              /* of the mass, adding up to 1, where zones make them differ; else null */
    float *stiffness;            /* null: 1 everywhere */
    bool closed;                 /* the mesh has an inside */
    double volume;               /* of the body, from which its mass comes */
    double drawn_volume;         /* within the surface as drawn */
    uint32_t *offsets, *members; /* the entry's own clusters */
    connections connections;     /* for clusters that follow them */
    lm_vec3 *tet_points;         /* of tetrahedra from a file; else null */
    uint32_t tet_point_count;
    uint32_t *tets; /* four of them each */
    uint32_t tet_count;
    lm_vec3 *scaled; /* points of the copy at hand, or vertices of what its lattice or tetrahedra are made of */
    lm_vec3 *scaled_tet_points;
    lm_vec3 *scaled_surface; /* vertices of its finer surface */
    double mesh_scale;       /* from the units of its mesh file to metres */
    float *uvs;              /* of a mesh from a file: two for each corner of each triangle, or null */
    uint32_t *sources;       /* for each vertex of a mesh from a file, which of the file's it is */
    uint32_t source_count;   /* vertices in that file */
    lm_dvec3 mesh_from;      /* the point of the file that is the body's origin, its axes turned as wanted */
    lm_vec3 *poses;          /* vertices of the mesh in each pose that has a file, one after the other; or null */
    lm_dvec3 *displaced;
} body_model;

/* At the entry's own size. To be freed in either case; on failure *error may say what is wrong. */
lm_result lmi_model_make(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error);
void lmi_model_free(body_model *model);

/* The model's colours, kept with the scene for whoever draws it. They are the same each time a world is made with
 * surfaces as fine. */
lm_result lmi_model_keep_colours(lm_scene *s, scene_body_entry *entry, const body_model *model);

/* The same for texture coordinates, where its mesh file has some. */
lm_result lmi_model_keep_texture(lm_scene *s, scene_body_entry *entry, const body_model *model);

/* mesh_model.c: the mesh of an entry's file, turned, scaled and moved as the entry says, and its volume. */
lm_result lmi_model_read_mesh(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error);

/* mesh_poses.c: whether a pose comes from a file, its own or that of the mesh; and the vertices of the mesh in the poses of the
 * entry's examples that do. */
bool lmi_pose_is_of_file(const scene_pose *pose);
lm_result lmi_model_read_poses(lm_scene *s, const scene_body_entry *entry, body_model *model, lm_scene_error *error);

/* How the points of a file become those of a body: less `from`, times `scale`. */
typedef struct placing {
    lm_dvec3 from;
    double scale;
} placing;

/* Which vertices of its file those of a mesh are, and how they were placed; `sources` is to be freed. */
typedef struct mesh_origins {
    uint32_t *sources;
    uint32_t source_count; /* vertices in the file */
    placing placed;
} mesh_origins;

/* The same for a mesh that is no body's. `origins` may be null. */
lm_result lmi_mesh_of_file(const lm_scene *s, const scene_mesh *wanted, lm_shape_mesh *mesh, mesh_origins *origins,
                           lm_scene_error *error);

/* rig.c: the bones of an entry's bodies, from its model, its file or the entry itself, kept with the scene; nothing without a
 * skeleton. On failure *error says what is wrong. */
lm_result lmi_model_keep_rig(lm_scene *s, const scene_body_entry *entry, const body_model *model,
                             lm_scene_error *error);

/* lmi_make_skeleton.c: gives a body the entry's skeleton, if it has one. */
lm_result lmi_make_skeleton(const scene_body_entry *entry, const body_model *model, lm_world *world,
                            const made_body *body);

/* lmi_make_examples.c: gives a body the entry's examples, if it has any; `scale` is that of the copy. */
lm_result lmi_make_examples(const scene_body_entry *entry, const body_model *model, lm_world *world, lm_body_id body,
                            double scale);

void lmi_place_points(placing placed, lm_vec3 *points, uint32_t count);

/* tets_model.c: the tetrahedra of an entry that come from a file, if any, placed as its mesh is. */
lm_result lmi_model_read_tets(const lm_scene *s, const scene_body_entry *entry, placing placed, body_model *model,
                              lm_scene_error *error);

/* make_solid.c: what a collider's definition points to while it is made. Nothing for a shape without arrays. On failure *error
 * says what is wrong; to be freed in either case. */
typedef struct solid_arrays {
    float *heights;
    uint32_t columns, rows; /* of the heights */
    lm_shape_mesh mesh;
} solid_arrays;

/* collider_cache.c: reads the motion of a collider's mesh, if it has one, and keeps it with the scene; its vertices as the scene begins
 * go to `mesh`. */
lm_result lmi_collider_motion_read(lm_scene *s, scene_collider *collider, mesh_origins *origins, lm_shape_mesh *mesh,
                                   lm_scene_error *error);

lm_result lmi_solid_arrays_make(lm_scene *s, scene_collider *from, solid_arrays *arrays, lm_collider_def *def,
                                lm_scene_error *error);
void lmi_solid_arrays_free(solid_arrays *arrays);

/* Of the box around the faces that have an area. */
double lmi_mesh_longest_side(const lm_mesh_data *mesh);

#endif
