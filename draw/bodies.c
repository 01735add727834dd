/*
 * The bodies of a world in one set of buffers: a picture of hundreds of bodies takes as few calls as that of one.
 *
 * What stays while bodies move is put together when the list of bodies or the shape of one changes, which their ids and
 * shape hashes tell: rest vertices, what they ride on, triangles, and for each vertex the triangles around it.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- which bodies there are ---- */

/* Whether a body is the one that the buffers hold in this place. */
static bool is_known(const draw_body *body, lm_body_id id, const lm_body_info *info)
{
    return body->id.slot == id.slot && body->id.generation == id.generation && body->shape_hash == info->shape_hash &&
           body->particles == info->particles && body->vertices == info->skin_vertices &&
           body->triangles == info->skin_triangles && body->regions == info->regions &&
           body->memberships == info->memberships;
}

static void take_info(draw_body *body, lm_body_id id, const lm_body_info *info)
{
    body->id = id;
    body->shape_hash = info->shape_hash;
    body->particles = info->particles;
    body->regions = info->regions;
    body->memberships = info->memberships;
    body->vertices = info->skin_vertices;
    body->triangles = info->skin_triangles;
    body->contact_radius = info->contact_radius;
    body->spacing = info->spacing;
    body->tets = info->tets;
    body->lower = info->lower;
    body->upper = info->upper;
    body->centre = info->centre;
}

/* Reads all bodies; *changed says whether buffers must be made again. */
static bool read_list(draw_bodies *b, const lm_world *world, bool *changed, draw_error *error)
{
    uint32_t count = lm_world_get_bodies(world, NULL, 0);
    if (!draw_reserve(&b->ids, &b->id_capacity, count, sizeof *b->ids) ||
        !draw_reserve(&b->list, &b->list_capacity, count, sizeof *b->list)) {
        return false;
    }
    lm_world_get_bodies(world, b->ids, count);
    *changed = *changed || count != b->count;
    for (uint32_t n = 0; n < count; n++) {
        lm_body_info info;
        if (!draw_could_read(lm_body_get_info(world, b->ids[n], &info), error)) {
            return false;
        }
        if (n >= b->count || !is_known(&b->list[n], b->ids[n], &info)) {
            *changed = true;
        }
        if (*changed) {
            memset(&b->list[n], 0, sizeof b->list[n]);
        }
        take_info(&b->list[n], b->ids[n], &info);
    }
    b->count = count;
    return true;
}

void draw_bodies_bounds(const draw_bodies *b, draw_bounds *bounds)
{
    for (size_t n = 0; n < b->count; n++) {
        /* A surface may reach a little beyond the particles. */
        const draw_body *body = &b->list[n];
        lm_dvec3 side = draw_subtract(body->upper, body->lower);
        double margin = 0.1 * fmax(side.x, fmax(side.y, side.z)) + (double)body->particle_radius;
        draw_bounds_add(bounds, body->lower, margin);
        draw_bounds_add(bounds, body->upper, margin);
    }
}

/* ---- what stays while they move ---- */

/* Half the distance that is usual between a particle and the one next to it, from some of them. */
static float find_radius(const lm_vec3 *points, const draw_body *body)
{
    enum { SOME = 48 };
    float nearest[SOME], sum = 0.0f;
    uint32_t step = body->particles > SOME ? body->particles / SOME : 1, count = 0;
    for (uint32_t n = 0; n < body->particles && count < SOME; n += step) {
        float least = INFINITY;
        for (uint32_t k = 0; k < body->particles; k++) {
            float x = points[k].x - points[n].x, y = points[k].y - points[n].y, z = points[k].z - points[n].z;
            float square = x * x + y * y + z * z;
            least = square > 0.0f && square < least ? square : least;
        }
        nearest[count] = sqrtf(least);
        sum += isfinite(nearest[count]) ? nearest[count] : 0.0f;
        count++;
    }
    float radius = 0.5f * sum / (float)(count ? count : 1);
    radius = radius > body->contact_radius ? radius : body->contact_radius;
    return radius > 0.0f ? radius : 0.05f; /* a single point without any size */
}

static bool add_particles(draw_bodies *b, const lm_world *world, draw_body *body, draw_error *error)
{
    size_t total = (size_t)b->particles + body->particles;
    if (!draw_reserve(&b->particle_rest, &b->particle_rest_capacity, total, sizeof *b->particle_rest) ||
        !draw_could_read(lm_body_get_rest_positions(world, body->id, b->particle_rest + b->particles), error)) {
        return false;
    }
    body->particle_radius = find_radius(b->particle_rest + b->particles, body);
    body->first_particle = b->particles;
    body->first_region = b->regions;
    b->particles += body->particles;
    return true;
}

static bool add_riders(draw_bodies *b, const lm_world *world, draw_body *body, uint32_t index, draw_error *error)
{
    uint32_t *offsets = malloc(((size_t)body->vertices + 1) * sizeof *offsets), *riders = NULL, total = 0;
    float *weights = NULL;
    bool ok = offsets && draw_could_read(lm_body_get_skin_riders(world, body->id, offsets, NULL, NULL), error);
    if (ok) {
        total = offsets[body->vertices];
        riders = malloc(((size_t)total + 1) * sizeof *riders);
        weights = malloc(((size_t)total + 1) * sizeof *weights);
        ok = riders && weights &&
             draw_could_read(lm_body_get_skin_riders(world, body->id, NULL, riders, weights), error) &&
             draw_reserve(&b->rider, &b->rider_capacity, (size_t)b->riders + total, sizeof *b->rider);
    }
    for (uint32_t n = 0; ok && n < body->vertices; n++) {
        b->ride[body->first_vertex + n] = (draw_ride){b->riders + offsets[n], offsets[n + 1] - offsets[n], index};
    }
    for (uint32_t n = 0; ok && n < total; n++) {
        bool region = riders[n] >= LM_RIDER_REGION;
        uint32_t first = region ? body->first_region : body->first_particle;
        body->rides_on_regions = body->rides_on_regions || region;
        b->rider[b->riders + n] = (draw_rider){riders[n] + first, weights[n]};
    }
    /* All corners of a tetrahedron each; once it is cut, some vertices ride on other numbers of particles. */
    body->rides_on_tets = ok && body->tets && !body->rides_on_regions;
    for (uint32_t n = 0; n < body->vertices && body->rides_on_tets; n++) {
        body->rides_on_tets = offsets[n + 1] - offsets[n] == 4;
    }
    b->riders += ok ? total : 0;
    free(offsets);
    free(riders);
    free(weights);
    return ok;
}

static bool add_skin(draw_bodies *b, const lm_world *world, draw_body *body, uint32_t index, draw_error *error)
{
    body->first_vertex = b->vertices;
    body->first_triangle = b->triangles;
    size_t vertices = (size_t)b->vertices + body->vertices, corners = 3 * ((size_t)b->triangles + body->triangles);
    bool ok =
        draw_reserve(&b->scratch, &b->scratch_capacity, body->vertices, sizeof *b->scratch) &&
        draw_reserve(&b->rest, &b->rest_capacity, vertices, sizeof *b->rest) &&
        draw_reserve(&b->ride, &b->ride_capacity, vertices, sizeof *b->ride) &&
        draw_reserve(&b->corners, &b->corner_capacity, corners, sizeof *b->corners) &&
        draw_reserve(&b->rest_normals, &b->rest_normal_capacity, vertices, sizeof *b->rest_normals) &&
        draw_could_read(lm_body_get_skin_rest(world, body->id, b->scratch), error) &&
        draw_could_read(lm_body_get_skin_rest_normals(world, body->id, b->rest_normals + body->first_vertex), error) &&
        draw_could_read(lm_body_get_skin_triangles(world, body->id, b->corners + 3 * (size_t)b->triangles), error) &&
        draw_reserve(&b->source, &b->source_capacity, vertices, sizeof *b->source) &&
        draw_could_read(lm_body_get_skin_sources(world, body->id, b->source + body->first_vertex), error) &&
        add_riders(b, world, body, index, error);
    if (!ok) {
        return false;
    }
    for (uint32_t n = 0; n < body->vertices; n++) {
        lm_vec3 p = b->scratch[n];
        float carrier = body->rides_on_tets ? -1.0f : body->spacing;
        glm_vec4_copy((vec4){p.x, p.y, p.z, carrier}, b->rest[body->first_vertex + n]);
    }
    for (size_t n = 3 * (size_t)b->triangles; n < corners; n++) {
        b->corners[n] += body->first_vertex;
    }
    body->is_closed =
        draw_surface_is_closed((const vec4 *)b->rest, b->corners + 3 * (size_t)b->triangles, body->triangles);
    b->vertices += body->vertices;
    b->triangles += body->triangles;
    if (body->rides_on_regions) {
        b->regions += body->regions;
    }
    return true;
}

/* The triangles around each vertex: where its list begins and how long it is, and the other two corners of each. */
static bool write_rings(draw_bodies *b)
{
    size_t corners = 3 * (size_t)b->triangles;
    draw_pair *ring = calloc((size_t)b->vertices + 1, sizeof *ring), *pairs = calloc(corners + 1, sizeof *pairs);
    if (ring && pairs) {
        for (size_t n = 0; n < corners; n++) {
            ring[b->corners[n]].second++;
        }
        uint32_t first = 0;
        for (uint32_t n = 0; n < b->vertices; n++) {
            ring[n].first = first;
            first += ring[n].second;
            ring[n].second = 0;
        }
        for (size_t n = 0; n < corners; n++) {
            const uint32_t *triangle = b->corners + n / 3 * 3;
            draw_pair *of = &ring[b->corners[n]];
            pairs[of->first + of->second++] = (draw_pair){triangle[(n + 1) % 3], triangle[(n + 2) % 3]};
        }
        draw_stream_write(&b->ring_stream, ring, b->vertices * sizeof *ring, 0, 0);
        draw_stream_write(&b->ring_pair_stream, pairs, corners * sizeof *pairs, GL_RG32UI, UNIT_RINGS);
    }
    bool ok = ring && pairs;
    free(ring);
    free(pairs);
    return ok;
}

static int compare_pairs(const void *a, const void *b)
{
    const draw_pair *x = a, *y = b;
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return x->second < y->second ? -1 : x->second > y->second;
}

bool draw_bodies_make_edges(draw_bodies *b, draw_error *error)
{
    if (b->edges) {
        return true;
    }
    size_t count = 3 * (size_t)b->triangles;
    if (!draw_reserve(&b->edge, &b->edge_capacity, count, sizeof *b->edge)) {
        return draw_out_of_memory(error);
    }
    draw_pair *edges = b->edge;
    for (size_t n = 0; n < count; n++) {
        uint32_t from = b->corners[n], to = b->corners[n / 3 * 3 + (n + 1) % 3];
        edges[n] = from < to ? (draw_pair){from, to} : (draw_pair){to, from};
    }
    if (count) {
        qsort(edges, count, sizeof *edges, compare_pairs);
    }
    for (size_t n = 0; n < count; n++) { /* an edge of two triangles is drawn once */
        if (b->edges == 0 || compare_pairs(&edges[n], &edges[b->edges - 1]) != 0) {
            edges[b->edges++] = edges[n];
        }
    }
    draw_stream_write(&b->edge_stream, edges, b->edges * sizeof *edges, 0, 0);
    return true;
}

/* ---- the arrays that OpenGL draws from ---- */

static void attribute(GLuint place, const draw_stream *stream, int size, GLenum type, GLsizei stride)
{
    glBindBuffer(GL_ARRAY_BUFFER, stream->buffer);
    glEnableVertexAttribArray(place);
    if (type == GL_UNSIGNED_INT) {
        glVertexAttribIPointer(place, size, type, stride, NULL);
    } else {
        glVertexAttribPointer(place, size, type, type == GL_UNSIGNED_BYTE, stride, NULL);
    }
}

static void make_arrays(draw_bodies *b)
{
    GLuint *arrays[] = {&b->surface_array, &b->skin_array, &b->ring_array, &b->wire_array};
    for (int n = 0; n < 4; n++) {
        if (!*arrays[n]) {
            glGenVertexArrays(1, arrays[n]);
        }
    }
    draw_stream *streams[] = {&b->position_stream, &b->normal_stream, &b->value_stream, &b->colour_stream,
                              &b->edge_stream};
    for (int n = 0; n < 5; n++) {
        if (!streams[n]->buffer) {
            glGenBuffers(1, &streams[n]->buffer);
        }
    }
    glBindVertexArray(b->skin_array);
    attribute(0, &b->rest_stream, 3, GL_FLOAT, sizeof *b->rest);
    attribute(1, &b->ride_stream, 3, GL_UNSIGNED_INT, sizeof *b->ride);
    glBindVertexArray(b->ring_array);
    attribute(0, &b->position_stream, 4, GL_FLOAT, 0);
    attribute(1, &b->ring_stream, 2, GL_UNSIGNED_INT, sizeof(draw_pair));
    attribute(2, &b->rest_stream, 4, GL_FLOAT, sizeof *b->rest);
    attribute(3, &b->ride_stream, 3, GL_UNSIGNED_INT, sizeof *b->ride);
    attribute(4, &b->rest_normal_stream, 3, GL_FLOAT, 0);
    glBindVertexArray(b->wire_array);
    attribute(0, &b->edge_stream, 2, GL_UNSIGNED_INT, sizeof(draw_pair));
    glVertexAttribDivisor(0, 1);
    glBindVertexArray(b->surface_array);
    attribute(0, &b->position_stream, 4, GL_FLOAT, 0);
    attribute(1, &b->normal_stream, 3, GL_FLOAT, 0);
    attribute(2, &b->colour_stream, 4, GL_UNSIGNED_BYTE, 0);
    attribute(3, &b->value_stream, 1, GL_FLOAT, 0);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, b->corner_stream.buffer);
    glBindVertexArray(0);
}

/* The rest positions of particles, which only normals on tetrahedra ask for. */
static bool write_particle_rest(draw_bodies *b)
{
    bool wanted = false;
    for (size_t n = 0; n < b->count; n++) {
        wanted = wanted || b->list[n].tets;
    }
    size_t count = wanted ? b->particles : 0;
    vec4 *rest = calloc(count + 1, sizeof *rest);
    for (size_t n = 0; rest && n < count; n++) {
        lm_vec3 p = b->particle_rest[n];
        rest[n][0] = p.x, rest[n][1] = p.y, rest[n][2] = p.z;
    }
    if (rest) {
        draw_stream_write(&b->particle_rest_stream, rest, count * sizeof *rest, GL_RGBA32F, UNIT_PARTICLE_REST);
    }
    free(rest);
    return rest != NULL;
}

static bool make_buffers(draw_bodies *b, const lm_world *world, draw_error *error)
{
    draw_bodies_unshare(b, world); /* the places are others now */
    b->particles = b->regions = b->vertices = b->triangles = b->riders = b->edges = 0;
    b->is_coloured = false;
    for (uint32_t n = 0; n < b->count; n++) {
        draw_body *body = &b->list[n];
        if (!add_particles(b, world, body, error) || (body->vertices && !add_skin(b, world, body, n, error))) {
            return false;
        }
    }
    draw_stream_write(&b->rest_stream, b->rest, b->vertices * sizeof *b->rest, GL_RGBA32F, UNIT_REST);
    draw_stream_write(&b->rest_normal_stream, b->rest_normals, b->vertices * sizeof *b->rest_normals, 0, 0);
    draw_stream_write(&b->ride_stream, b->ride, b->vertices * sizeof *b->ride, 0, 0);
    draw_stream_write(&b->rider_stream, b->rider, b->riders * sizeof *b->rider, GL_RG32UI, UNIT_RIDERS);
    draw_stream_write(&b->corner_stream, b->corners, 3 * (size_t)b->triangles * sizeof *b->corners, 0, 0);
    if (!write_particle_rest(b) || !write_rings(b)) {
        return false;
    }
    make_arrays(b);
    return true;
}

bool draw_bodies_find(draw_bodies *b, const lm_world *world, draw_error *error)
{
    bool changed = !b->surface_array;
    if (!read_list(b, world, &changed, error) || (changed && !make_buffers(b, world, error))) {
        b->count = 0; /* next time from the beginning */
        glDeleteVertexArrays(1, &b->surface_array);
        b->surface_array = 0;
        return draw_give_up(error);
    }
    draw_stream_bind(&b->rest_stream, GL_RGBA32F, UNIT_REST);
    draw_stream_bind(&b->particle_rest_stream, GL_RGBA32F, UNIT_PARTICLE_REST);
    draw_stream_bind(&b->rider_stream, GL_RG32UI, UNIT_RIDERS);
    draw_stream_bind(&b->ring_pair_stream, GL_RG32UI, UNIT_RINGS);
    return true;
}

void draw_bodies_free(draw_bodies *b)
{
    GLuint arrays[] = {b->surface_array, b->skin_array, b->ring_array, b->wire_array};
    glDeleteVertexArrays(4, arrays);
    draw_stream *streams[] = {&b->rest_normal_stream, &b->rest_stream,     &b->particle_rest_stream, &b->ride_stream,
                              &b->rider_stream,       &b->ring_stream,     &b->ring_pair_stream,     &b->corner_stream,
                              &b->edge_stream,        &b->colour_stream,   &b->particle_stream,      &b->region_stream,
                              &b->anchor_stream,      &b->position_stream, &b->normal_stream,        &b->value_stream};
    for (size_t n = 0; n < sizeof streams / sizeof streams[0]; n++) {
        draw_stream_free(streams[n]);
    }
    void *arrays_on_host[] = {b->list,
                              b->ids,
                              b->rest,
                              b->rest_normals,
                              b->ride,
                              b->source,
                              b->rider,
                              b->corners,
                              b->edge,
                              b->vertex_colours,
                              b->particle_colours,
                              b->particle,
                              b->region,
                              b->anchor,
                              b->position,
                              b->shared,
                              b->scratch,
                              b->normals,
                              b->transforms,
                              b->particle_values,
                              b->vertex_values,
                              b->particle_rest,
                              b->one_sided.counts,
                              (void *)b->one_sided.offsets,
                              b->two_sided.counts,
                              (void *)b->two_sided.offsets};
    for (size_t n = 0; n < sizeof arrays_on_host / sizeof arrays_on_host[0]; n++) {
        free(arrays_on_host[n]);
    }
    memset(b, 0, sizeof *b);
}
