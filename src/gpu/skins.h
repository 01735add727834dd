/*
 * Skins on a device: vertices and normals of all bodies where the particles are (kernels/skin.cl).
 *
 *   skin_layout.c   tables of shapes, which bodies of one shape share, and what each body has of its own; regions that skins ride on
 *   skins.c         launches, and the way back to whoever asks
 *   share.c         the way into buffers of OpenGL
 *
 * Nothing is laid out or made before somebody asks. Vertices are made once for each state of the world, whoever asks for them how
 * often; getters call all of this with gpu->fetching locked.
 */
#ifndef LMI_GPU_SKINS_H
#define LMI_GPU_SKINS_H

#include "gpu/gpu.h"

/* What a skin rides on decides which kernel makes it. */
typedef enum lmi_gpu_skin_kind { LMI_GPU_CELLS, LMI_GPU_TETS, LMI_GPU_LISTS, LMI_GPU_SKIN_KINDS } lmi_gpu_skin_kind;

/* Vertices of one body that a work-group makes; SKIN_GROUP in kernels/skin.cl. */
#define LMI_GPU_SKIN_GROUP 64

/* Several skins that were read back together: those that are requested in order, ever more at once. */
typedef struct lmi_gpu_skin_window {
    float *room;
    size_t room_size; /* floats */
    double *origins;  /* of the skins in it */
    uint32_t origin_room;
    uint32_t first, end; /* skins */
    uint32_t ahead;      /* to be read next, if the next one is requested */
    uint64_t serial;     /* of the state */
} lmi_gpu_skin_window;

/* A shape whose skin is in the tables; where, as in lmi_gpu_skin. */
typedef struct lmi_gpu_skin_shape {
    uint64_t hash;
    lmi_gpu_skin_kind kind;
    lmi_gpu_skin first;
    uint32_t members, particle_rest; /* of skins on the regions of clusters */
    bool used;                       /* by any body, when shapes were last laid out */
} lmi_gpu_skin_shape;

#define LMI_GPU_SKIN_TABLES 9

typedef struct lmi_gpu_skinning {
    cl_program program;
    cl_kernel cells, tets, lists, normals_of_faces, carriers_of_clusters, nodes_of_octrees, leaves_of_octrees,
        origins_of, put;

    lmi_gpu_skin_shape *shapes;
    uint32_t shape_count, shape_capacity;
    uint32_t words[LMI_GPU_SKIN_TABLES]; /* in each table, in the order of: */
    lmi_gpu_buffer riders, numbers, offsets, rest, ring_offsets, rings, triangles, members, particle_rest;

    lmi_gpu_skin *records; /* in the order of the bodies' slots */
    uint32_t count, capacity;
    uint32_t *of_slot; /* [slots] skin, or LMI_GPU_NONE */
    uint32_t slots, slot_capacity;
    uint64_t laid_out; /* serial of the layout of the world that this belongs to */
    uint32_t vertices; /* of all */
    bool faces;        /* there are normals to be made of triangles */
    lmi_gpu_buffer skins, positions, normals, origins;
    lmi_gpu_buffer chunks[LMI_GPU_SKIN_KINDS];
    uint32_t chunk_count[LMI_GPU_SKIN_KINDS];

    lmi_gpu_buffer carried, regions, carriers, nodes, node_order, node_items, node_rest, node_sums;
    uint32_t region_count, leaf_count; /* of both kinds, and of octrees among them */
    uint32_t heights, *height;         /* of octrees' nodes: first of each in node_order, one more than there are */
    uint32_t height_capacity;

    uint64_t made, made_normals;   /* serial of the state that they are of */
    lmi_gpu_skin_window window[2]; /* positions, normals */
    const char *off;               /* why the host makes them, for good; null: the device does */
} lmi_gpu_skinning;

/* Whether the device makes the skin of a body that it steps. */
bool lmi_gpu_skin_is_made(const lmi_body *body);

/* skin_layout.c: tables and records for the world as it is laid out now. False after a failure. */
bool lmi_gpu_skins_lay_out(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s);

/* skin_layout.c: the same for regions; `record` is one of a skin on regions, whose `region` is filled in. */
struct lmi_gpu_skin_regions;
bool lmi_gpu_skin_regions_lay_out(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s);
bool lmi_gpu_skin_regions_make(lmi_gpu *gpu, lmi_gpu_skinning *s);

/* skins.c: vertices, and normals where they are wanted, for the state that the device has; null after a failure, which is to be
 * told where it is the first. */
lmi_gpu_skinning *lmi_gpu_skins_ready(lm_world *world, lmi_gpu *gpu, bool normals);
void lmi_gpu_skins_tell(lm_world *world, const lmi_gpu *gpu, const char *why);

#endif
