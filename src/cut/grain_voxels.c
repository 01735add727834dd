/*
 * The voxels inside the skin of a body that is cut (grain.h): which particle each belongs to, and what is around a point.
 */
#include "cut/grain.h"
#include "skin/skin_octree_cut.h"

#include <string.h>

#define NONE LMI_OCTREE_NONE

/* Voxels for each particle, and in all: fine enough for a cut to look like the blade, few enough to be cut in a moment. */
#define VOXELS_EACH 12u
#define LEAST_VOXELS 4000u
#define MOST_VOXELS 60000u

/* --- voxels --- */

static bool never(const lmi_octree *tree, const lmi_octree_node *node, void *user)
{
    (void)tree, (void)node, (void)user;
    return false;
}

bool lmi_grain_grow(lm_world *world, lmi_octree *t)
{
    lmi_memory *memory = &world->memory;
    if (lmi_octree_divide(t, memory, never, NULL) != LM_OK) {
        return false;
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        t->width[leaf] = lmi_octree_least_width(&t->nodes[t->leaves[leaf]]);
    }
    return lmi_octree_find_neighbours(t, memory) && lmi_octree_find_regions(t, memory);
}

lm_result lmi_grain_fill(lm_world *world, lmi_grain *g, const lmi_body *body, const lmi_skin *skin)
{
    lmi_memory *memory = &world->memory;
    uint64_t wanted = (uint64_t)VOXELS_EACH * body->particle_count;
    wanted = wanted < LEAST_VOXELS ? LEAST_VOXELS : wanted > MOST_VOXELS ? MOST_VOXELS : wanted;
    lmi_voxel_def def = {.vertices = skin->vertices,
                         .vertex_count = skin->vertex_count,
                         .triangles = skin->triangles,
                         .triangle_count = skin->triangle_count,
                         .particles = (uint32_t)wanted};
    lmi_octree_mesh faces = {skin->vertices, skin->triangles, skin->triangle_count};
    lmi_voxels voxels;
    char fault[LMI_VOXEL_FAULT_SIZE];
    lm_result result = lmi_voxels_make(memory, &def, &voxels, fault);
    result = result == LM_OK ? lmi_octree_begin(&g->tree, memory, &voxels, 0) : result;
    if (result != LM_OK) {
        return result;
    }
    bool ok = lmi_octree_cut_gaps(&g->tree, memory, &faces) && lmi_grain_grow(world, &g->tree);
    g->seed = ok ? lmi_allocate(memory, g->particle_count, sizeof *g->seed) : NULL;
    for (uint32_t n = 0; g->seed && n < g->particle_count; n++) {
        uint32_t cell[3];
        lmi_voxels_locate(&g->tree.voxels, dvec_from(body->rest[n]), cell);
        g->seed[n] = lmi_octree_voxel(&g->tree, cell[0], cell[1], cell[2]);
    }
    g->shell = g->seed ? lmi_octree_shell_make(world, &g->tree, skin) : NULL;
    return g->shell ? LM_OK : LM_ERROR_MEMORY;
}

/* --- whose they are --- */

/* A voxel belongs to the first particle that links lead to it from. */
typedef struct spreader {
    const lmi_octree *t;
    uint32_t *owner;  /* [voxels] */
    uint8_t *slashed; /* [voxels] bit k: the blade that is cutting crosses the link to the next one along axis k */
    uint32_t *queue;  /* [voxels] */
    uint32_t count;
    uint8_t *beside; /* [particles] of a sliver */
    uint32_t *stack; /* [particles] */
} spreader;

/* The voxel that a link leads to which is not being cut, or NONE. */
static uint32_t linked(const spreader *s, uint32_t voxel, int axis, bool up)
{
    uint32_t other = lmi_octree_linked(s->t, voxel, axis, up);
    return other != NONE && s->slashed[up ? voxel : other] >> axis & 1 ? NONE : other;
}

static void flood(spreader *s, uint32_t from)
{
    for (uint32_t n = from; n < s->count; n++) {
        uint32_t voxel = s->queue[n];
        for (int k = 0; k < 6; k++) {
            uint32_t other = linked(s, voxel, k / 2, k & 1);
            if (other != NONE && s->owner[other] == NONE) {
                s->owner[other] = s->owner[voxel];
                s->queue[s->count++] = other;
            }
        }
    }
}

static uint32_t nearest_particle(const lmi_body *body, lm_vec3 point)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[n]), dvec_from(point));
        double square = dvec_dot(d, d);
        if (square < least) {
            least = square;
            best = n;
        }
    }
    return best;
}

static lm_vec3 middle_of(const lmi_octree *t, uint32_t voxel)
{
    const lmi_voxels *v = &t->voxels;
    return vec_from(dvec(v->first.x + (t->at[voxel][0] + 0.5) * v->spacing,
                         v->first.y + (t->at[voxel][1] + 0.5) * v->spacing,
                         v->first.z + (t->at[voxel][2] + 0.5) * v->spacing));
}

/* The particle that a sliver without one stays with: that of the first voxel beyond a link which is being cut, or where there is
 * no such link the nearest. The sliver is the queue from `from` on. */
static uint32_t choose_owner(const spreader *s, const lmi_body *body, uint32_t from)
{
    for (uint32_t n = from; n < s->count; n++) {
        for (int k = 0; k < 6; k++) {
            uint32_t voxel = s->queue[n], other = lmi_octree_linked(s->t, voxel, k / 2, k & 1);
            if (other != NONE && s->owner[other] < LMI_NONE - 1) {
                return s->owner[other];
            }
        }
    }
    return nearest_particle(body, middle_of(s->t, s->queue[from]));
}

/* Marks the particles beside a sliver (1) and of these the ones that bonds join with one of them, by way of each other (2). */
static void mark_beside(spreader *s, const lmi_grain *g, uint32_t from, uint32_t particle)
{
    uint32_t depth = 0;
    for (uint32_t n = from; n < s->count; n++) {
        for (int k = 0; k < 6; k++) {
            uint32_t other = lmi_octree_linked(s->t, s->queue[n], k / 2, k & 1);
            if (other != NONE && s->owner[other] < LMI_NONE - 1) {
                s->beside[s->owner[other]] = 1;
            }
        }
    }
    s->beside[particle] = 2;
    s->stack[depth++] = particle;
    while (depth) {
        uint32_t at = s->stack[--depth];
        for (uint32_t n = g->index.bond_offsets[at]; n < g->index.bond_offsets[at + 1]; n++) {
            uint32_t other = g->index.neighbours[n];
            if (s->beside[other] == 1) {
                s->beside[other] = 2;
                s->stack[depth++] = other;
            }
        }
    }
}

/* Gives a sliver to a particle, and back the links to what that one is joined with. */
static void keep_sliver(spreader *s, const lmi_grain *g, uint32_t from, uint32_t particle)
{
    mark_beside(s, g, from, particle);
    for (uint32_t n = from; n < s->count; n++) {
        for (int k = 0; k < 6; k++) {
            uint32_t voxel = s->queue[n], other = lmi_octree_linked(s->t, voxel, k / 2, k & 1);
            if (other != NONE && s->owner[other] < LMI_NONE - 1 && s->beside[s->owner[other]] == 2) {
                s->slashed[k & 1 ? voxel : other] &= (uint8_t) ~(1u << (k / 2));
            }
        }
    }
    for (uint32_t n = from; n < s->count; n++) { /* the marks go again */
        for (int k = 0; k < 6; k++) {
            uint32_t other = lmi_octree_linked(s->t, s->queue[n], k / 2, k & 1);
            if (other != NONE && s->owner[other] < LMI_NONE - 1) {
                s->beside[s->owner[other]] = 0;
            }
        }
    }
    s->beside[particle] = 0;
    for (uint32_t n = from; n < s->count; n++) {
        s->owner[s->queue[n]] = particle;
    }
}

/* Voxels that no particle reaches, one connected sliver after the other. */
static void keep_slivers(spreader *s, const lmi_grain *g, const lmi_body *body)
{
    for (uint32_t voxel = 0; voxel < s->t->voxel_count; voxel++) {
        if (s->owner[voxel] != NONE) {
            continue;
        }
        uint32_t from = s->count;
        s->owner[voxel] = LMI_NONE - 1; /* on its way */
        s->queue[s->count++] = voxel;
        flood(s, from);
        keep_sliver(s, g, from, choose_owner(s, body, from));
    }
}

static void drop_kept(const spreader *s, lmi_slashes *slashes)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < slashes->count; n++) {
        const lmi_slash *slash = &slashes->items[n];
        if (s->slashed[slash->voxel] >> slash->axis & 1) {
            slashes->items[kept++] = *slash;
        }
    }
    slashes->count = kept;
}

bool lmi_grain_spread(lm_world *world, lmi_grain *g, const lmi_octree *t, const lmi_body *body, lmi_slashes *slashes)
{
    lmi_memory *memory = &world->memory;
    spreader s = {.t = t};
    s.owner = lmi_allocate(memory, t->voxel_count, sizeof *s.owner);
    s.slashed = lmi_allocate(memory, t->voxel_count, sizeof *s.slashed);
    s.queue = lmi_allocate(memory, t->voxel_count, sizeof *s.queue);
    s.beside = lmi_allocate(memory, g->particle_count, sizeof *s.beside);
    s.stack = lmi_allocate(memory, g->particle_count, sizeof *s.stack);
    bool ok = s.owner && s.slashed && s.queue && s.beside && s.stack;
    if (ok) {
        memset(s.owner, 0xff, t->voxel_count * sizeof *s.owner);
        for (uint32_t n = 0; slashes && n < slashes->count; n++) {
            s.slashed[slashes->items[n].voxel] |= (uint8_t)(1u << slashes->items[n].axis);
        }
        for (uint32_t n = 0; n < g->particle_count; n++) {
            uint32_t seed = g->seed[body->place[n]];
            if (s.owner[seed] == NONE) {
                s.owner[seed] = body->place[n];
                s.queue[s.count++] = seed;
            }
        }
        flood(&s, 0);
        keep_slivers(&s, g, body);
        if (slashes) {
            drop_kept(&s, slashes);
        }
        lmi_release(memory, g->owner, g->owner_count, sizeof *g->owner);
        g->owner = s.owner;
        g->owner_count = t->voxel_count;
        s.owner = NULL;
    }
    lmi_release(memory, s.owner, t->voxel_count, sizeof *s.owner);
    lmi_release(memory, s.slashed, t->voxel_count, sizeof *s.slashed);
    lmi_release(memory, s.queue, t->voxel_count, sizeof *s.queue);
    lmi_release(memory, s.beside, g->particle_count, sizeof *s.beside);
    lmi_release(memory, s.stack, g->particle_count, sizeof *s.stack);
    return ok;
}

/* --- what is around a point --- */

uint32_t lmi_grain_particle_at(const lmi_body *body, lm_vec3 point)
{
    const lmi_grain *g = body->grain;
    if (!g->owner) {
        return nearest_particle(body, point);
    }
    uint32_t cell[3];
    lmi_voxels_locate(&g->tree.voxels, dvec_from(point), cell);
    return g->owner[lmi_octree_voxel(&g->tree, cell[0], cell[1], cell[2])];
}

/* Particles that are considered around one, at most: its bonds and theirs, and some more. */
#define MOST_SEEN 192u
#define BUCKETS 512u

/* Particles in the order in which bonds lead to them. */
typedef struct walk {
    uint32_t places[MOST_SEEN];
    uint16_t bucket[BUCKETS]; /* one more than where the particle is in the list; 0: none */
    uint32_t count;
} walk;

static void visit(walk *w, uint32_t place)
{
    uint32_t at = place * 0x9e3779b1u >> 23;
    while (w->bucket[at]) {
        if (w->places[w->bucket[at] - 1] == place) {
            return;
        }
        at = (at + 1) % BUCKETS;
    }
    if (w->count < MOST_SEEN) {
        w->places[w->count++] = place;
        w->bucket[at] = (uint16_t)w->count;
    }
}

uint32_t lmi_grain_around(const lmi_body *body, uint32_t particle, lm_vec3 point, uint32_t most, uint32_t *places)
{
    const lmi_grain_index *index = &body->grain->index;
    walk w = {.count = 0};
    visit(&w, particle);
    for (uint32_t n = 0; n < w.count && w.count < MOST_SEEN; n++) { /* a full list takes no more */
        for (uint32_t k = index->bond_offsets[w.places[n]]; k < index->bond_offsets[w.places[n] + 1]; k++) {
            visit(&w, index->neighbours[k]);
        }
    }
    double squares[MOST_SEEN];
    uint32_t count = 0;
    for (uint32_t n = 0; n < w.count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[w.places[n]]), dvec_from(point));
        double square = dvec_dot(d, d);
        if (count == most && square >= squares[count - 1]) {
            continue;
        }
        uint32_t at = count < most ? count++ : most - 1;
        for (; at > 0 && square < squares[at - 1]; at--) {
            squares[at] = squares[at - 1];
            places[at] = places[at - 1];
        }
        squares[at] = square;
        places[at] = w.places[n];
    }
    return count;
}
