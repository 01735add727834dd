/*
 * The hash of a world: bodies in slot order; positions, velocities, region rotations and connectivity.
 */
#include "base/hash.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "octree/octree_body.h"
#include "skin/skin_octree_cut.h"
#include "world/access.h"
#include "world/world.h"

#include <string.h>

uint64_t lmi_hash_bytes(uint64_t hash, const unsigned char *bytes, size_t size)
{
    size_t n = 0;
    for (; n + 8 <= size; n += 8) {
        const unsigned char *b = bytes + n; /* compilers make one load of it, where memory is little-endian */
        hash = lmi_hash_word(hash, (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
                                       (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
                                       (uint64_t)b[7] << 56);
    }
    uint64_t word = 0;
    for (size_t k = 0; n + k < size; k++) {
        word |= (uint64_t)bytes[n + k] << (8 * k);
    }
    if (n < size) {
        hash = lmi_hash_word(hash, word);
    }
    return lmi_hash_word(hash, size);
}

uint64_t lmi_hash_array(uint64_t hash, const void *array, size_t size)
{
    enum { LANES = 8 };
    const unsigned char *bytes = array;
    uint64_t lane[LANES], word[LANES];
    size_t n = 0;
    if (size == 0) {
        return lmi_hash_word(hash, 0);
    }
    for (uint64_t k = 0; k < LANES; k++) {
        lane[k] = hash + k;
    }
    for (; n + sizeof word <= size; n += sizeof word) {
        memcpy(word, bytes + n, sizeof word);
        for (int k = 0; k < LANES; k++) {
            lane[k] = lmi_hash_word(lane[k], word[k]);
        }
    }
    hash = lmi_hash_bytes(hash, bytes + n, size - n);
    for (int k = 0; k < LANES; k++) {
        hash = lmi_hash_word(hash, lane[k]);
    }
    return lmi_hash_word(hash, size);
}

uint64_t lmi_hash_solid(const lmi_solid *solid)
{
    const lmi_heights *map = solid->heights;
    const lmi_mesh *mesh = solid->mesh;
    uint64_t hash = map || mesh ? LMI_HASH_SEED : 0;
    if (map) {
        hash = lmi_hash_array(hash, &map->spacing, sizeof map->spacing);
        hash = lmi_hash_word(hash, (uint64_t)map->n[0] << 32 | map->n[1]);
        hash = lmi_hash_array(hash, map->heights, (size_t)map->n[0] * map->n[1] * sizeof *map->heights);
    }
    if (mesh) {
        hash = lmi_hash_word(hash, (uint64_t)(mesh->motion != NULL) << 1 | mesh->solid);
        hash = lmi_hash_array(hash, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
        hash = lmi_hash_array(hash, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof *mesh->triangles);
    }
    return hash;
}

static uint64_t hash_float(uint64_t hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return lmi_hash_word(hash, bits);
}

static uint64_t hash_double(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return lmi_hash_word(hash, bits);
}

static uint64_t hash_body(const lm_world *world, const lmi_body *body, uint64_t hash)
{
    hash = hash_double(hash, body->origin.x);
    hash = hash_double(hash, body->origin.y);
    hash = hash_double(hash, body->origin.z);
    LMI_PARTICLES_EACH(body, n)
    {
        for (int i = 0; i < 3; i++) {
            hash = hash_float(hash, body->x[(size_t)n * 4 + i]);
            hash = hash_float(hash, body->v[(size_t)n * 4 + i]);
        }
        hash = lmi_hash_word(hash, body->order[n]);
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        const float *rotation = lmi_body_rotation(world, body, r, &stride);
        for (int i = 0; i < 9; i++) {
            hash = hash_float(hash, rotation[i * stride]);
        }
        const float *plastic = lmi_body_plastic(world, body, r, &stride);
        for (int i = 0; body->plastic_material && i < 6; i++) {
            hash = hash_float(hash, plastic[i * stride]);
        }
        hash = lmi_hash_word(hash, body->region_offsets[r + 1]);
    }
    for (uint32_t n = 0; n < body->membership_count; n++) {
        hash = lmi_hash_word(hash, body->members[n]);
    }
    for (uint32_t n = 0; body->octree && n < body->octree->tree.regions.item_count; n++) {
        hash = lmi_hash_word(hash, body->octree->tree.regions.items[n]);
    }
    for (uint32_t n = 0; body->grain && n < body->grain->bond_count; n++) {
        hash = lmi_hash_word(hash, body->grain->bonds[n].cut);
    }
    if (body->fracture) {
        hash = lmi_hash_word(hash, body->fracture->links_hash);
    }
    if (body->lattice && body->lattice->plastic.state) {
        LMI_PARTICLES_EACH(body, n)
        {
            const float *plastic = lmi_lattice_body_plastic(body, n);
            for (int i = 0; i < 6; i++) {
                hash = hash_float(hash, plastic[i * LMI_BLOCK]);
            }
        }
    }
    return hash;
}

static uint64_t hash_words(uint64_t hash, const uint32_t *words, size_t count)
{
    hash = lmi_hash_word(hash, count);
    for (size_t n = 0; n < count; n++) {
        hash = lmi_hash_word(hash, words[n]);
    }
    return hash;
}

static uint64_t hash_points(uint64_t hash, const lm_vec3 *points, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        hash = hash_float(hash, points[n].x);
        hash = hash_float(hash, points[n].y);
        hash = hash_float(hash, points[n].z);
    }
    return hash;
}

uint64_t lmi_hash_shape(const lmi_body *body)
{
    const lmi_skin *skin = &body->skin;
    uint64_t hash = hash_words(LMI_HASH_SEED, body->order, body->place_count);
    hash = hash_points(hash, body->rest, body->place_count);
    if (body->lattice) { /* its regions follow from its particles */
        hash = lmi_hash_word(hash, body->lattice->shape.width);
    } else if (body->octree) {
        const lmi_octree *t = &body->octree->tree;
        hash = hash_words(hash, t->regions.offsets, (size_t)t->leaf_count + 1);
        hash = hash_words(hash, t->regions.items, t->regions.item_count);
    } else {
        hash = hash_words(hash, body->region_offsets, (size_t)body->region_count + 1);
        hash = hash_words(hash, body->members, body->membership_count);
    }
    if (body->tet_count > 0) { /* normals of a skin depend on them */
        hash = hash_words(hash, body->tets, (size_t)body->tet_count * 4);
    }
    hash = lmi_hash_word(hash, skin->vertex_count);
    if (lmi_octree_skin_is_cut(body->octree)) { /* the rest follows from how it was cut */
        return lmi_octree_shell_hash(body->octree->shell, &body->octree->tree, hash);
    }
    if (skin->vertex_count == 0) {
        return hash;
    }
    hash = hash_points(hash, skin->vertices, skin->vertex_count);
    hash = hash_words(hash, skin->triangles, (size_t)skin->triangle_count * 3);
    hash = hash_words(hash, skin->offsets, (size_t)skin->vertex_count + 1);
    hash = hash_words(hash, skin->riders, skin->weight_count);
    for (uint32_t n = 0; n < skin->weight_count; n++) {
        hash = hash_float(hash, skin->weights[n]);
    }
    return hash;
}

/* A mover that is pushed. */
static uint64_t hash_rigid(const lmi_mover *mover, uint64_t hash)
{
    const lm_dvec3 p = mover->pose.position;
    const lm_quat q = mover->pose.rotation;
    const float values[10] = {
        q.x,           q.y,           q.z,          q.w, mover->velocity.x, mover->velocity.y, mover->velocity.z,
        mover->spin.x, mover->spin.y, mover->spin.z};
    hash = hash_double(hash_double(hash_double(hash, p.x), p.y), p.z);
    for (int i = 0; i < 10; i++) {
        hash = hash_float(hash, values[i]);
    }
    return hash;
}

uint64_t lm_world_hash(const lm_world *world)
{
    lmi_world_read(world);
    uint64_t hash = LMI_HASH_SEED;
    LMI_POOL_EACH(&world->bodies, n)
    {
        hash = lmi_hash_word(hash, ((uint64_t)world->bodies.generations[n] << 32) | n);
        hash = hash_body(world, lmi_body_at(world, n), hash);
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        const lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        hash = mover->mass > 0.0f ? hash_rigid(mover, lmi_hash_word(hash, n)) : hash;
    }
    return hash;
}
