/*
 * Archives: values that are counted, written, compared or read by the same calls.
 *
 * A visit_... function is handed a field. While measuring it counts the field's bytes, while saving it writes them, while comparing it
 * finds out whether the bytes are those that saving would write, and while loading it reads them and checks what can be checked of the
 * value alone. Numbers are little-endian.
 *
 * Nothing that was read is trusted, whatever the checksum says: that finds damage, not intent. An index is checked against what it
 * points into (visit_index), a count against what is left to read (visit_count), a number against the range that the interface
 * allows (refuse_if), each where it is read; what only several values together show is in snapshot_check.c. Then things are made
 * of it as the interface makes them, which must cope with every value that it allows.
 */
#ifndef LMI_ARCHIVE_H
#define LMI_ARCHIVE_H

#include "octree/octree.h"
#include "world/world.h"

#include <string.h>

typedef enum archive_mode { MEASURE, SAVE, COMPARE, LOAD } archive_mode;

typedef struct archive {
    archive_mode mode;
    unsigned char *bytes; /* null while measuring */
    size_t size;
    size_t at;
    bool damaged;       /* loading: something cannot be; saving: there is no room; comparing: something differs */
    bool out_of_memory; /* loading */
} archive;

/* --- single values --- */

/* Marks what was read as damaged. What is in a world may be saved whatever it is. */
static inline void refuse_if(archive *a, bool fault) { a->damaged = a->damaged || (fault && a->mode == LOAD); }

static inline bool take(archive *a, size_t count, size_t *at)
{
    if (a->damaged || a->out_of_memory) {
        return false;
    }
    if (a->mode != MEASURE && count > a->size - a->at) {
        a->damaged = true;
        return false;
    }
    *at = a->at;
    a->at += count;
    return a->mode != MEASURE;
}

/* Numbers are copied where memory is little-endian, as nearly everywhere. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NUMBERS_AS_THEY_ARE 1
#else
#define NUMBERS_AS_THEY_ARE 0
#endif

static inline uint64_t get_bits(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    if (NUMBERS_AS_THEY_ARE) {
        memcpy(&value, from, (size_t)bytes);
        return value;
    }
    for (int k = 0; k < bytes; k++) {
        value |= (uint64_t)from[k] << (8 * k);
    }
    return value;
}

static inline void put_bits(unsigned char *to, uint64_t value, int bytes)
{
    if (NUMBERS_AS_THEY_ARE) {
        memcpy(to, &value, (size_t)bytes);
        return;
    }
    for (int k = 0; k < bytes; k++) {
        to[k] = (unsigned char)(value >> (8 * k));
    }
}

/* Of `bytes`, the low ones of *value, which has no others. */
static inline void visit_bits(archive *a, uint64_t *value, int bytes)
{
    size_t at;
    if (!take(a, (size_t)bytes, &at)) {
        return;
    }
    if (a->mode == SAVE) {
        put_bits(a->bytes + at, *value, bytes);
    } else if (a->mode == COMPARE) {
        a->damaged = get_bits(a->bytes + at, bytes) != *value;
    } else {
        *value = get_bits(a->bytes + at, bytes);
    }
}

static inline void visit_u32(archive *a, uint32_t *value)
{
    uint64_t bits = *value;
    visit_bits(a, &bits, 4);
    *value = (uint32_t)bits;
}

static inline void visit_u64(archive *a, uint64_t *value) { visit_bits(a, value, 8); }

static inline void visit_bool(archive *a, bool *value)
{
    uint64_t bits = *value;
    visit_bits(a, &bits, 1);
    refuse_if(a, bits > 1);
    if (!a->damaged && !a->out_of_memory) { /* a world that is saved, into too small a buffer, stays as it is */
        *value = bits == 1;
    }
}

static inline void visit_float(archive *a, float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    visit_u32(a, &bits);
    memcpy(value, &bits, sizeof bits);
    refuse_if(a, !isfinite(*value));
}

static inline void visit_double(archive *a, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    visit_u64(a, &bits);
    memcpy(value, &bits, sizeof bits);
    refuse_if(a, !isfinite(*value));
}

static inline void visit_vec3(archive *a, lm_vec3 *v)
{
    visit_float(a, &v->x);
    visit_float(a, &v->y);
    visit_float(a, &v->z);
}

static inline void visit_dvec3(archive *a, lm_dvec3 *v)
{
    visit_double(a, &v->x);
    visit_double(a, &v->y);
    visit_double(a, &v->z);
}

static inline void visit_dmat3(archive *a, dmat3 *m)
{
    for (int i = 0; i < 9; i++) {
        visit_double(a, &m->m[i / 3][i % 3]);
    }
}

/* Whether the columns are orthonormal and right-handed. */
static inline bool is_rotation(const dmat3 *m)
{
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double dot = m->m[0][i] * m->m[0][j] + m->m[1][i] * m->m[1][j] + m->m[2][i] * m->m[2][j];
            worst = fmax(worst, fabs(dot - (i == j)));
        }
    }
    lm_dvec3 x = dvec(m->m[0][0], m->m[1][0], m->m[2][0]), y = dvec(m->m[0][1], m->m[1][1], m->m[2][1]);
    lm_dvec3 z = dvec(m->m[0][2], m->m[1][2], m->m[2][2]);
    return worst < 1e-6 && dvec_dot(dvec_cross(x, y), z) > 0.0;
}

static inline bool is_unit(lm_quat q)
{
    double length = (double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w;
    return fabs(length - 1.0) < 1e-3;
}

static inline bool is_slow(lm_vec3 v)
{
    return fabsf(v.x) <= LM_MAX_SPEED && fabsf(v.y) <= LM_MAX_SPEED && fabsf(v.z) <= LM_MAX_SPEED;
}

static inline bool is_near(lm_vec3 v)
{
    return fabsf(v.x) <= LM_MAX_COORDINATE && fabsf(v.y) <= LM_MAX_COORDINATE && fabsf(v.z) <= LM_MAX_COORDINATE;
}

/* A place in the world. What was put within LM_MAX_POSITION may have moved beyond it. */
static inline void visit_position(archive *a, lm_dvec3 *p)
{
    const double most = 1e3 * LM_MAX_POSITION;
    visit_dvec3(a, p);
    refuse_if(a, !(fabs(p->x) <= most && fabs(p->y) <= most && fabs(p->z) <= most));
}

static inline void visit_pose(archive *a, lm_pose *pose)
{
    visit_position(a, &pose->position);
    visit_float(a, &pose->rotation.x);
    visit_float(a, &pose->rotation.y);
    visit_float(a, &pose->rotation.z);
    visit_float(a, &pose->rotation.w);
}

/* An enumeration that must stay below `count`. */
static inline void visit_enum(archive *a, int *value, int count)
{
    uint32_t bits = (uint32_t)*value;
    visit_u32(a, &bits);
    refuse_if(a, bits >= (uint32_t)count);
    if (a->mode == LOAD) { /* saved into too small a buffer, it stays as it is */
        *value = a->damaged ? 0 : (int)bits;
    }
}

#define VISIT_ENUM(a, field, count)                                                                                    \
    do {                                                                                                               \
        int plain = (int)(field);                                                                                      \
        visit_enum(a, &plain, count);                                                                                  \
        (field) = plain;                                                                                               \
    } while (0)

/* A count of things that take at least `least` bytes each: one that cannot fit into what is left is refused before any
 * memory is allocated. */
static inline void visit_count(archive *a, uint32_t *count, size_t least)
{
    visit_u32(a, count);
    if (a->mode == LOAD && (a->damaged || *count > (a->size - a->at) / least)) {
        a->damaged = true;
        *count = 0;
    }
}

/* Refuses what takes at least `bytes` that are still to be read, before any memory is allocated. */
static inline void refuse_beyond(archive *a, uint64_t bytes)
{
    refuse_if(a, a->mode == LOAD && (a->damaged || bytes > a->size - a->at));
}

/* A number that must be below `limit`, or LMI_NONE where that is allowed. */
static inline void visit_index(archive *a, uint32_t *index, uint32_t limit, bool none)
{
    visit_u32(a, index);
    refuse_if(a, (*index >= limit && !(none && *index == LMI_NONE)));
}

static inline bool ok(const archive *a) { return !a->damaged && !a->out_of_memory; }

/* The visitors take fields they can write; measuring, saving and comparing do not. */
static inline lm_world *lmi_savable(const lm_world *world) { return (lm_world *)(uintptr_t)world; }

/* snapshot_state.c: all state but that of particles. */
void lmi_visit_state(archive *a, lm_world *world);

/* Reads all state, from a->at to `end`, into a world of the structure that it belongs to; a->size is where that of particles begins, or
 * `end` where that is not known. The world is not sound when it cannot be read. */
void lmi_load_state(archive *a, lm_world *world, size_t end);

/* The same for a world that is in use: it stays as it was when the state cannot be read. */
void lmi_load_state_in_place(archive *a, lm_world *world, size_t end);

/* snapshot_body.c: what a body is made of; reading allocates it. */
void lmi_visit_body(archive *a, lm_world *world, lmi_body *body);
void lmi_visit_stiffness(archive *a, lm_world *world, lmi_body *body); /* of a body that can break: after its links */

/* snapshot_check.c: what a reader of single values cannot see, before anything is made of it. Members of regions: at most once in each,
 * and particles in the order that packing relies on. */
void lmi_check_regions(archive *a, lm_world *world, const lmi_body *body);

/* Links between voxels that a blade has cut lead from one voxel to another. */
void lmi_check_slashes(archive *a, const lmi_octree *tree);

/* Every pin, drag and force is in the list of its body, once. */
void lmi_check_lists(archive *a, const lm_world *world);

/* snapshot_skeleton.c: an element of the pool of skeletons, after all bodies. */
void lmi_visit_skeleton(archive *a, lm_world *world, void *element);

/* snapshot_joint.c: an element of the pool of joints, after all skeletons; and what steps and setters change of it. */
struct lmi_joint;
void lmi_visit_joint(archive *a, lm_world *world, void *element);
void lmi_visit_joint_state(archive *a, const lm_world *world, struct lmi_joint *joint);

/* What the vertices of a skin may ride on: particles by place, of which `order` (or null) says which there are, and regions; and how
 * many of them each. */
typedef struct lmi_riders {
    uint32_t particles, regions;
    const uint32_t *order;
    uint32_t least, most;
} lmi_riders;

/* snapshot_skin.c: the skin of a body as it was given, unless its grain keeps that. */
void lmi_visit_lineage(archive *a, lm_world *world, lmi_body *body);
bool lmi_lineage_fits(const lmi_body *body, const lmi_skin *given);
void lmi_visit_skin(archive *a, lm_world *world, lmi_body *body);

/* A skin in two parts; reading allocates its arrays. */
void lmi_visit_skin_counts(archive *a, lmi_skin *skin);
void lmi_visit_skin_arrays(archive *a, lm_world *world, lmi_skin *skin, const lmi_riders *riders);

/* snapshot_contacts.c: the arrays of a height map or a mesh, after the collider's own fields. */
void lmi_visit_solid(archive *a, lm_world *world, lmi_collider *collider);
void lmi_visit_vertices(archive *a, lmi_mesh *mesh); /* where those of a mesh that deforms are, and will be */

/* snapshot_octree.c: what an octree is made of, and its masses; reading allocates the body. */
void lmi_visit_octree(archive *a, lm_world *world, lmi_body *body);
void lmi_visit_details(archive *a, lm_world *world); /* level of detail of octrees */

/* The same without masses, for voxels alone: links that are cut, what is divided, and bends. */
void lmi_visit_voxel_tree(archive *a, lm_world *world, lmi_octree *tree);

/* snapshot_fracture.c: of all clusters, whether and how they were cut; after all bodies. */
void lmi_visit_grains(archive *a, lm_world *world);

/* snapshot_skeleton.c: bones alone, where they are and where they shall be. */
struct lmi_skeleton;
void lmi_visit_bones(archive *a, const lm_world *world, struct lmi_skeleton *skeleton);

/* How things touch: rules, method, sleep, and who touches whom (snapshot_contacts.c). */
void lmi_visit_contacts(archive *a, lm_world *world);

/* snapshot_fracture.c: of a body that can break, all but its parts and stiffness; reading breaks its links. */
void lmi_visit_fracture(archive *a, lm_world *world, lmi_body *body);

#endif
