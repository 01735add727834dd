/* What the files that read and sample rigs share. */
#ifndef LIMBER_IO_GLTF_RIG_H
#define LIMBER_IO_GLTF_RIG_H

#include "io/gltf.h"
#include "limber/rig.h"

/* While a rig is read: where the nodes of the file are in the rig. */
typedef struct rig_reading {
    lm_rig_data *rig;
    uint32_t *places; /* for each node of the file the one of the rig, or LM_RIG_NONE */
    size_t name_size, name_capacity;
} rig_reading;

/* Keeps a name. `value` may be null or no string: then it is `fallback` with the number. */
bool lmi_rig_keep_name(gltf_file *file, rig_reading *reading, const json_value *value, const char *fallback,
                       uint32_t number, uint32_t *name);

/* gltf_rig.c: every node of the file. `parents` has room for one number for each. */
bool lmi_rig_add_all_nodes(gltf_file *file, rig_reading *reading, uint32_t *parents);

/* gltf_animation.c: all animations of nodes that the rig has. */
bool lmi_gltf_read_animations(gltf_file *file, rig_reading *reading);

/* rig.c: where all nodes are at a time (false when out of memory); and the rotation and position of a transform, without scale and mirroring. */
bool lmi_rig_sample_nodes(const lm_rig_data *rig, uint32_t animation, double time, gltf_matrix *places);
lm_rig_pose lmi_rig_rigid_part(const gltf_matrix *matrix);

#endif
