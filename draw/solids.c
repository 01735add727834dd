/*
 * Colliders that are height maps and triangle meshes. Each has vertices of its own, which stay on the card while the collider
 * lives; where it is comes with each frame.
 *
 * They go through the shader of the other colliders (shaders/collider.vert): with no radius and a half extent of 1 its
 * `corner` is the position and its `direction` the normal.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

/* Between faces that meet at less than about 45 degrees the surface looks round. */
#define ROUND_COSINE 0.7f

typedef struct solid_vertex {
    vec3 normal, position;
} solid_vertex;

struct draw_solid_shape {
    lm_collider_id id;
    uint64_t key; /* of the arrays that the vertices were made from */
    GLuint array, buffer;
    GLsizei count;
    vec4 rows[3], colour; /* as in colliders.c */
    bool present;         /* in this frame */
};

/* ---- the triangles of a collider ---- */

/* A mesh as such, or the grid of a height map as one. */
typedef struct solid_mesh {
    lm_vec3 *vertices; /* null: the definition's */
    uint32_t *triangles;
    uint32_t vertex_count, triangle_count;
} solid_mesh;

static bool mesh_of_heights(const lm_heights *map, solid_mesh *mesh)
{
    uint32_t nx = map->counts[0], nz = map->counts[1];
    mesh->vertex_count = nx * nz;
    mesh->triangle_count = 2 * (nx - 1) * (nz - 1);
    mesh->vertices = malloc(mesh->vertex_count * sizeof *mesh->vertices);
    mesh->triangles = malloc(3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
    if (!mesh->vertices || !mesh->triangles) {
        return false;
    }
    for (uint32_t n = 0; n < mesh->vertex_count; n++) {
        float x = (float)(n % nx) - 0.5f * (float)(nx - 1), z = (float)(n / nx) - 0.5f * (float)(nz - 1);
        mesh->vertices[n] = (lm_vec3){x * map->spacing, map->heights[n], z * map->spacing};
    }
    uint32_t *to = mesh->triangles;
    for (uint32_t n = 0; n < (nx - 1) * (nz - 1); n++) {
        uint32_t a = n / (nx - 1) * nx + n % (nx - 1);
        const uint32_t corners[6] = {a, a + nx, a + nx + 1, a, a + nx + 1, a + 1};
        memcpy(to, corners, sizeof corners);
        to += 6;
    }
    return true;
}

static void corner_at(const lm_vec3 *vertices, uint32_t index, vec3 out)
{
    out[0] = vertices[index].x;
    out[1] = vertices[index].y;
    out[2] = vertices[index].z;
}

/* As long as twice the area. */
static void face_normal(const lm_vec3 *vertices, const uint32_t *corners, vec3 out)
{
    vec3 a, b, c;
    corner_at(vertices, corners[0], a);
    corner_at(vertices, corners[1], b);
    corner_at(vertices, corners[2], c);
    glm_vec3_sub(b, a, b);
    glm_vec3_sub(c, a, c);
    glm_vec3_cross(b, c, out);
}

/* Three vertices for each triangle, with the mean normal around a corner, or the face's own at an edge. */
static solid_vertex *expand(const lm_vec3 *vertices, uint32_t vertex_count, const uint32_t *triangles,
                            uint32_t triangle_count)
{
    vec3 *means = calloc(vertex_count, sizeof *means);
    solid_vertex *out = malloc(3 * (size_t)triangle_count * sizeof *out);
    for (size_t n = 0; means && out && n < 3 * (size_t)triangle_count; n++) {
        vec3 normal;
        face_normal(vertices, triangles + n / 3 * 3, normal);
        glm_vec3_add(means[triangles[n]], normal, means[triangles[n]]);
    }
    for (size_t n = 0; means && out && n < 3 * (size_t)triangle_count; n++) {
        vec3 face, mean;
        face_normal(vertices, triangles + n / 3 * 3, face);
        glm_vec3_normalize(face);
        glm_vec3_normalize_to(means[triangles[n]], mean);
        glm_vec3_copy(glm_vec3_dot(face, mean) > ROUND_COSINE ? mean : face, out[n].normal);
        corner_at(vertices, triangles[n], out[n].position);
    }
    if (!means) {
        free(out);
        out = NULL;
    }
    free(means);
    return out;
}

static void upload(draw_solid_shape *solid, const solid_vertex *vertices, uint32_t count)
{
    if (!solid->array) {
        glGenVertexArrays(1, &solid->array);
        glGenBuffers(1, &solid->buffer);
    }
    solid->count = (GLsizei)count;
    glBindVertexArray(solid->array);
    glBindBuffer(GL_ARRAY_BUFFER, solid->buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof *vertices), vertices, GL_STATIC_DRAW);
    for (GLuint n = 0; n < 2; n++) {
        glEnableVertexAttribArray(n);
        glVertexAttribPointer(n, 3, GL_FLOAT, GL_FALSE, sizeof *vertices, (const void *)(n * sizeof(vec3)));
    }
    glBindVertexArray(0);
}

static bool fill(draw_solid_shape *solid, const lm_collider_def *def)
{
    solid_mesh grid = {0};
    bool map = def->shape == LM_SHAPE_HEIGHTS;
    if (map && !mesh_of_heights(&def->heights, &grid)) {
        free(grid.vertices);
        free(grid.triangles);
        return false;
    }
    uint32_t triangles = map ? grid.triangle_count : def->mesh.triangle_count;
    solid_vertex *vertices = map ? expand(grid.vertices, grid.vertex_count, grid.triangles, triangles)
                                 : expand(def->mesh.vertices, def->mesh.vertex_count, def->mesh.triangles, triangles);
    if (vertices) {
        upload(solid, vertices, 3 * triangles);
    }
    free(vertices);
    free(grid.vertices);
    free(grid.triangles);
    return vertices != NULL;
}

/* ---- those of the world ---- */

static uint64_t mix(uint64_t key, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    for (size_t n = 0; n < size; n++) {
        key = (key ^ from[n]) * 0x100000001b3u;
    }
    return key;
}

/* Where the arrays are and how long, and a few of their values: a world that was loaded may have others at the same place. */
static uint64_t key_of(const lm_collider_def *def)
{
    bool map = def->shape == LM_SHAPE_HEIGHTS;
    const void *array = map ? (const void *)def->heights.heights : (const void *)def->mesh.vertices;
    size_t count = map ? (size_t)def->heights.counts[0] * def->heights.counts[1] : 3 * (size_t)def->mesh.vertex_count;
    size_t step = !map && def->mesh.deforms ? 1 : count / 512 + 1;
    uint64_t key = mix(0xcbf29ce484222325u, &array, sizeof array);
    key = mix(key, &count, sizeof count);
    for (size_t n = 0; n < count; n += step) {
        key = mix(key, (const float *)array + n, sizeof(float));
    }
    return key;
}

static draw_solid_shape *find_or_add(draw_solids *solids, lm_collider_id id)
{
    for (size_t n = 0; n < solids->count; n++) {
        if (solids->list[n].id.slot == id.slot && solids->list[n].id.generation == id.generation) {
            return &solids->list[n];
        }
    }
    if (!draw_reserve(&solids->list, &solids->capacity, solids->count + 1, sizeof *solids->list)) {
        return NULL;
    }
    draw_solid_shape *solid = &solids->list[solids->count++];
    memset(solid, 0, sizeof *solid);
    solid->id = id;
    return solid;
}

void draw_solids_begin(draw_solids *solids)
{
    for (size_t n = 0; n < solids->count; n++) {
        solids->list[n].present = false;
    }
}

bool draw_solids_add(draw_solids *solids, lm_collider_id id, const lm_collider_def *def, vec4 rows[3], vec3 colour)
{
    draw_solid_shape *solid = find_or_add(solids, id);
    uint64_t key = key_of(def);
    if (!solid || (solid->key != key && !fill(solid, def))) {
        return false;
    }
    solid->key = key;
    solid->present = true;
    for (int n = 0; n < 3; n++) {
        glm_vec4_copy(rows[n], solid->rows[n]);
    }
    glm_vec4(colour, 1.0f, solid->colour);
    return true;
}

static void free_solid(draw_solid_shape *solid)
{
    glDeleteBuffers(1, &solid->buffer);
    glDeleteVertexArrays(1, &solid->array);
}

void draw_solids_end(draw_solids *solids)
{
    size_t kept = 0;
    for (size_t n = 0; n < solids->count; n++) {
        if (solids->list[n].present) {
            solids->list[kept++] = solids->list[n];
        } else {
            free_solid(&solids->list[n]);
        }
    }
    solids->count = kept;
}

void draw_solids_draw(const draw_solids *solids)
{
    for (size_t n = 0; n < solids->count; n++) {
        const draw_solid_shape *solid = &solids->list[n];
        glBindVertexArray(solid->array);
        for (GLuint k = 0; k < 3; k++) {
            glVertexAttrib4fv(2 + k, solid->rows[k]);
        }
        glVertexAttrib4f(5, 1.0f, 1.0f, 1.0f, 0.0f);
        glVertexAttrib4fv(6, solid->colour);
        glDrawArrays(GL_TRIANGLES, 0, solid->count);
    }
    glBindVertexArray(0);
}

void draw_solids_free(draw_solids *solids)
{
    for (size_t n = 0; n < solids->count; n++) {
        free_solid(&solids->list[n]);
    }
    free(solids->list);
    memset(solids, 0, sizeof *solids);
}
