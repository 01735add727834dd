/*
 * Welding: vertices at one place become one vertex.
 *
 * A hash grid of cells as wide as the tolerance holds the vertices kept so far: what is in reach of a vertex lies in
 * its cell or one of the 26 around it. Kept vertices lie further apart than the tolerance, so a cell holds few. Without
 * a tolerance a cell is a place.
 */
#include "limber/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING UINT32_MAX

typedef struct cell_key {
    int64_t x, y, z;
} cell_key;

/* A kept vertex, and the hash of its cell: most others are told apart without a look at their positions. */
typedef struct weld_slot {
    uint32_t hash;
    uint32_t kept; /* NOTHING: the slot is free */
} weld_slot;

typedef struct weld_grid {
    const lm_vec3 *kept; /* the positions kept so far */
    uint32_t kept_count;
    weld_slot *slots; /* by hash, probed one after another; at most half of them are taken */
    size_t slot_count;
    double tolerance;
    double width; /* of a cell: not less than the tolerance, and LM_MAX_COORDINATE has less than 2^63 of them */
} weld_grid;

static cell_key cell_of(const weld_grid *grid, lm_vec3 p)
{
    if (grid->tolerance > 0.0)
        return (cell_key){(int64_t)floor(p.x / grid->width), (int64_t)floor(p.y / grid->width),
                          (int64_t)floor(p.z / grid->width)};
    uint32_t bits[3];
    p.x += 0.0f, p.y += 0.0f, p.z += 0.0f; /* -0 becomes 0 */
    memcpy(bits, &p, sizeof bits);
    return (cell_key){bits[0], bits[1], bits[2]};
}

static uint32_t hash_of(cell_key key)
{
    uint64_t hash = (uint64_t)key.x * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key.y) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 32 ^ (uint64_t)key.z) * 0x94d049bb133111ebu;
    return (uint32_t)(hash ^ hash >> 32);
}

static bool in_reach(const weld_grid *grid, lm_vec3 p, lm_vec3 q)
{
    if (grid->tolerance == 0.0) return p.x == q.x && p.y == q.y && p.z == q.z;
    double x = (double)p.x - q.x, y = (double)p.y - q.y, z = (double)p.z - q.z;
    return x * x + y * y + z * z <= grid->tolerance * grid->tolerance;
}

/* The first kept vertex in reach in a cell, or `found` when that comes before it. */
static uint32_t find_in_cell(const weld_grid *grid, uint32_t hash, lm_vec3 p, uint32_t found)
{
    size_t mask = grid->slot_count - 1;
    for (size_t at = hash & mask; grid->slots[at].kept != NOTHING; at = (at + 1) & mask) {
        weld_slot slot = grid->slots[at];
        if (slot.hash == hash && slot.kept < found && in_reach(grid, p, grid->kept[slot.kept])) found = slot.kept;
    }
    return found;
}

static uint32_t find_kept(const weld_grid *grid, cell_key centre, uint32_t hash, lm_vec3 p)
{
    uint32_t found = find_in_cell(grid, hash, p, NOTHING);
    if (grid->tolerance == 0.0) return found;
    for (int i = 0; i < 27; i++) {
        cell_key near = {centre.x + i % 3 - 1, centre.y + i / 3 % 3 - 1, centre.z + i / 9 - 1};
        if (i != 13) found = find_in_cell(grid, hash_of(near), p, found);
    }
    return found;
}

static void put(weld_grid *grid, weld_slot slot)
{
    size_t mask = grid->slot_count - 1, at = slot.hash & mask;
    while (grid->slots[at].kept != NOTHING) at = (at + 1) & mask;
    grid->slots[at] = slot;
}

/* Doubles the table while more than half of it would be taken. It grows with what is kept, so it stays small, and near
 * in memory, for a mesh that welds to a sixth. */
static bool make_room(weld_grid *grid)
{
    if (2u * ((size_t)grid->kept_count + 1) <= grid->slot_count) return true;
    weld_slot *old = grid->slots;
    size_t old_count = grid->slot_count;
    size_t slot_count = old_count > 0 ? 2 * old_count : 1024;
    weld_slot *slots = malloc(slot_count * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, slot_count * sizeof *slots);
    grid->slots = slots;
    grid->slot_count = slot_count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].kept != NOTHING) put(grid, old[i]);
    free(old);
    return true;
}

/* Where each vertex goes, and the positions of those kept. */
static bool find_all(const lm_mesh_data *mesh, weld_grid *grid, lm_vec3 *kept, uint32_t *target)
{
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        if (!make_room(grid)) return false;
        cell_key cell = cell_of(grid, mesh->positions[i]);
        uint32_t hash = hash_of(cell);
        target[i] = find_kept(grid, cell, hash, mesh->positions[i]);
        if (target[i] != NOTHING) continue;
        target[i] = grid->kept_count++;
        kept[target[i]] = mesh->positions[i];
        put(grid, (weld_slot){hash, target[i]});
    }
    return true;
}

static void sum_normals(lm_mesh_data *mesh, const uint32_t *target, uint32_t kept_count)
{
    /* Vertices only move forward, so the sums can be made in place; a kept one starts its own. */
    uint32_t started = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        lm_vec3 n = mesh->normals[i], *sum = &mesh->normals[target[i]];
        *sum = target[i] == started ? n : (lm_vec3){sum->x + n.x, sum->y + n.y, sum->z + n.z};
        started += target[i] == started;
    }
    for (uint32_t i = 0; i < kept_count; i++) {
        lm_vec3 n = mesh->normals[i];
        double length = sqrt((double)n.x * n.x + (double)n.y * n.y + (double)n.z * n.z);
        double scale = length > 1e-6 ? 1.0 / length : 0.0; /* opposite normals: none */
        mesh->normals[i] = (lm_vec3){(float)(n.x * scale), (float)(n.y * scale), (float)(n.z * scale)};
    }
}

static void keep_colours(lm_mesh_data *mesh, const uint32_t *target)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        if (target[i] == next) memmove(mesh->colours + 3u * (size_t)next++, mesh->colours + 3u * (size_t)i, 3);
}

/* Of the vertices that are kept: those that they were in the file, also after an earlier welding. */
static void keep_sources(const lm_mesh_data *mesh, const uint32_t *target, uint32_t *sources)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        if (target[i] == next) sources[next++] = mesh->sources ? mesh->sources[i] : i;
}

lm_result lm_mesh_weld(lm_mesh_data *mesh, float tolerance)
{
    lm_vec3 *kept = malloc(((size_t)mesh->vertex_count + 1) * sizeof *kept);
    uint32_t *target = malloc(((size_t)mesh->vertex_count + 1) * sizeof *target);
    weld_grid grid = {.kept = kept, .tolerance = (double)tolerance, .width = fmax((double)tolerance, 1e-9)};
    bool found = kept && target && find_all(mesh, &grid, kept, target);
    bool joined = found && grid.kept_count < mesh->vertex_count;
    uint32_t *sources = joined ? malloc(((size_t)grid.kept_count + 1) * sizeof *sources) : NULL;
    free(grid.slots);
    found = found && (sources || !joined);
    if (found && joined) {
        keep_sources(mesh, target, sources);
        free(mesh->sources);
        mesh->sources = sources;
        if (mesh->normals) sum_normals(mesh, target, grid.kept_count);
        if (mesh->colours) keep_colours(mesh, target);
        for (size_t i = 0; i < 3u * (size_t)mesh->triangle_count; i++) mesh->triangles[i] = target[mesh->triangles[i]];
        memcpy(mesh->positions, kept, grid.kept_count * sizeof *kept);
        mesh->welded += mesh->vertex_count - grid.kept_count;
        mesh->vertex_count = grid.kept_count;
    }
    free(kept);
    free(target);
    return found ? LM_OK : LM_ERROR_MEMORY;
}
