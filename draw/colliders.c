/*
 * Colliders: boxes, balls and capsules, all from one mesh in one call (see shaders/collider.vert). Planes are put aside for
 * planes.c, height maps and meshes for solids.c.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

/* One collider as the shader reads it. */
typedef struct draw_collider {
    vec4 rows[3]; /* rotation and position */
    vec4 extent;  /* how far the eight parts of the ball are moved apart, and its radius */
    vec4 colour;  /* linear light */
} draw_collider;

/* ---- the mesh: a ball in eight parts, made of the six sides of a cube ---- */

enum {
    PART = 6,             /* squares along a part of a side */
    ROW = 2 * (PART + 1), /* vertices along a side: those in the middle twice, once for each part */
    SIDE = ROW * ROW,     /* vertices of a side */
    CELLS = (ROW - 1) * (ROW - 1),
};

typedef struct mesh_vertex {
    vec3 direction, corner;
} mesh_vertex;

/* The place along a side, -1 to 1, of a row of vertices; and which half it belongs to. */
static float along(int n, float *half)
{
    *half = n <= PART ? -1.0f : 1.0f;
    float degrees = n <= PART ? -45.0f + 45.0f * (float)n / PART : 45.0f * (float)(n - PART - 1) / PART;
    return tanf(degrees * 0.017453293f); /* even angles on the ball */
}

static void make_side(int side, mesh_vertex *out)
{
    int axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    float sign = side % 2 ? -1.0f : 1.0f;
    for (int n = 0; n < SIDE; n++) {
        mesh_vertex *vertex = &out[n];
        vertex->direction[axis] = sign;
        vertex->corner[axis] = sign;
        vertex->direction[u] = along(n % ROW, &vertex->corner[u]);
        vertex->direction[v] = along(n / ROW, &vertex->corner[v]);
        glm_vec3_normalize(vertex->direction);
    }
}

static void make_mesh(draw_colliders *c)
{
    static mesh_vertex vertices[6 * SIDE];
    static uint16_t indices[6 * CELLS * 6];
    size_t count = 0;
    for (int side = 0; side < 6; side++) {
        make_side(side, vertices + (size_t)side * SIDE);
        for (int n = 0; n < CELLS; n++) {
            int first = side * SIDE + n / (ROW - 1) * ROW + n % (ROW - 1);
            int corners[6] = {first, first + 1, first + ROW + 1, first, first + ROW + 1, first + ROW};
            for (int k = 0; k < 6; k++) { /* the other way round on the far sides, to face outward */
                indices[count++] = (uint16_t)corners[side % 2 ? 5 - k : k];
            }
        }
    }
    c->index_count = (GLsizei)count;
    glGenVertexArrays(1, &c->array);
    glBindVertexArray(c->array);
    glGenBuffers(1, &c->mesh);
    glBindBuffer(GL_ARRAY_BUFFER, c->mesh);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
    for (GLuint n = 0; n < 2; n++) {
        glEnableVertexAttribArray(n);
        glVertexAttribPointer(n, 3, GL_FLOAT, GL_FALSE, sizeof(mesh_vertex), (const void *)(n * sizeof(vec3)));
    }
    glGenBuffers(1, &c->indices);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, c->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    draw_stream_write(&c->stream, NULL, sizeof(draw_collider), 0, 0);
    for (GLuint n = 0; n < 5; n++) {
        glEnableVertexAttribArray(2 + n);
        glVertexAttribPointer(2 + n, 4, GL_FLOAT, GL_FALSE, sizeof(draw_collider), (const void *)(n * sizeof(vec4)));
        glVertexAttribDivisor(2 + n, 1);
    }
    glBindVertexArray(0);
}

/* ---- those of the world ---- */

static void set_extent(const lm_collider_def *def, vec4 extent)
{
    glm_vec4_copy((vec4){0.0f, 0.0f, 0.0f, def->radius}, extent);
    if (def->shape == LM_SHAPE_CAPSULE) {
        extent[1] = def->half_length;
    } else if (def->shape == LM_SHAPE_BOX) {
        float h[3] = {def->half_extents.x, def->half_extents.y, def->half_extents.z};
        float least = fminf(h[0], fminf(h[1], h[2])), most = fmaxf(h[0], fmaxf(h[1], h[2]));
        extent[3] = fminf(0.3f * least, 0.03f * most); /* rounded edges catch the light */
        for (int n = 0; n < 3; n++) {
            extent[n] = h[n] - extent[3];
        }
    }
}

static bool add_collider(draw_colliders *c, lm_collider_id id, const lm_collider_def *def, lm_pose pose, lm_dvec3 eye,
                         const draw_colour_set *set)
{
    double m[3][3];
    vec3 position, colour = {0.46f, 0.47f, 0.49f};
    draw_rotation(pose.rotation, m);
    draw_to_vec3(draw_subtract(pose.position, eye), position);
    if (set) {
        draw_colour_linear(set->rgb, colour);
    }
    if (def->shape == LM_SHAPE_PLANE) {
        if (!draw_reserve(&c->planes, &c->plane_capacity, c->plane_count + 1, sizeof *c->planes)) {
            return false;
        }
        draw_plane *plane = &c->planes[c->plane_count++];
        plane->has_colour = set != NULL;
        glm_vec3_copy(position, plane->middle);
        glm_vec3_copy(colour, plane->colour);
        glm_vec3_copy((vec3){(float)m[0][1], (float)m[1][1], (float)m[2][1]}, plane->normal);
        return true;
    }
    vec4 rows[3];
    for (int n = 0; n < 3; n++) {
        glm_vec4_copy((vec4){(float)m[n][0], (float)m[n][1], (float)m[n][2], position[n]}, rows[n]);
    }
    if (def->shape == LM_SHAPE_HEIGHTS || def->shape == LM_SHAPE_MESH) {
        return draw_solids_add(&c->solids, id, def, rows, colour);
    }
    if (!draw_reserve(&c->list, &c->capacity, c->count + 1, sizeof *c->list)) {
        return false;
    }
    draw_collider *collider = &c->list[c->count++];
    memcpy(collider->rows, rows, sizeof rows);
    set_extent(def, collider->extent);
    glm_vec4(colour, 1.0f, collider->colour);
    return true;
}

bool draw_colliders_find(draw_colliders *c, const lm_world *world, const draw_colours *colours, lm_dvec3 eye,
                         draw_bounds *bounds, draw_error *error)
{
    if (!c->array) {
        make_mesh(c);
    }
    uint32_t count = lm_world_get_colliders(world, NULL, 0);
    c->count = c->plane_count = 0;
    draw_solids_begin(&c->solids);
    if (!draw_reserve(&c->ids, &c->id_capacity, count, sizeof *c->ids)) {
        return draw_out_of_memory(error);
    }
    lm_world_get_colliders(world, c->ids, count);
    for (uint32_t n = 0; n < count; n++) {
        lm_collider_def def;
        lm_pose pose;
        if (!draw_could_read(lm_collider_get_def(world, c->ids[n], &def), error) ||
            !draw_could_read(lm_collider_get_pose(world, c->ids[n], &pose), error) ||
            !add_collider(c, c->ids[n], &def, pose, eye,
                          draw_colours_find(colours, c->ids[n].slot, c->ids[n].generation))) {
            return draw_give_up(error);
        }
        draw_bounds_add_collider(bounds, &def, pose);
    }
    draw_solids_end(&c->solids);
    draw_stream_write(&c->stream, c->list, c->count * sizeof *c->list, 0, 0);
    return true;
}

void draw_colliders_draw(const draw_colliders *c)
{
    if (c->count) {
        glBindVertexArray(c->array);
        glDrawElementsInstanced(GL_TRIANGLES, c->index_count, GL_UNSIGNED_SHORT, NULL, (GLsizei)c->count);
        glBindVertexArray(0);
    }
    draw_solids_draw(&c->solids);
}

void draw_colliders_free(draw_colliders *c)
{
    draw_solids_free(&c->solids);
    GLuint buffers[] = {c->mesh, c->indices};
    glDeleteBuffers(2, buffers);
    glDeleteVertexArrays(1, &c->array);
    draw_stream_free(&c->stream);
    free(c->ids);
    free(c->list);
    free(c->planes);
    memset(c, 0, sizeof *c);
}
