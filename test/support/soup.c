#include "test/support/soup.h"
#include "limber/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

soup soup_make(uint32_t vertices, uint32_t triangles)
{
    soup s = {.vertex_count = vertices, .triangle_count = triangles};
    s.vertex_capacity = vertices + 16;
    s.triangle_capacity = triangles + 16;
    s.vertices = calloc(s.vertex_capacity, sizeof *s.vertices);
    s.triangles = calloc(3 * (size_t)s.triangle_capacity, sizeof *s.triangles);
    assert_true(s.vertices && s.triangles);
    return s;
}

soup soup_shape(const char *name, uint32_t detail)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = name;
    def.size = lm_shape_natural_size(name);
    def.detail = detail;
    lm_shape_mesh mesh;
    assert_ok(lm_shape_make_mesh(&def, &mesh));
    soup s = soup_make(mesh.vertex_count, mesh.triangle_count);
    memcpy(s.vertices, mesh.vertices, mesh.vertex_count * sizeof *s.vertices);
    memcpy(s.triangles, mesh.triangles, 3 * (size_t)mesh.triangle_count * sizeof *s.triangles);
    lm_shape_mesh_free(&mesh);
    return s;
}

void soup_free(soup *s)
{
    free(s->vertices);
    free(s->triangles);
    memset(s, 0, sizeof *s);
}

void soup_add_triangle(soup *s, lm_vec3 a, lm_vec3 b, lm_vec3 c)
{
    if (s->vertex_count + 3 > s->vertex_capacity) {
        s->vertex_capacity = 2 * s->vertex_capacity + 3;
        s->vertices = realloc(s->vertices, s->vertex_capacity * sizeof *s->vertices);
    }
    if (s->triangle_count + 1 > s->triangle_capacity) {
        s->triangle_capacity = 2 * s->triangle_capacity + 1;
        s->triangles = realloc(s->triangles, 3 * (size_t)s->triangle_capacity * sizeof *s->triangles);
    }
    assert_true(s->vertices && s->triangles);
    lm_vec3 corners[3] = {a, b, c};
    for (uint32_t k = 0; k < 3; k++) {
        s->triangles[3 * s->triangle_count + k] = s->vertex_count;
        s->vertices[s->vertex_count++] = corners[k];
    }
    s->triangle_count++;
}

void soup_add_box(soup *s, lm_vec3 lower, lm_vec3 upper)
{
    static const int sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    lm_vec3 corners[8];
    for (int k = 0; k < 8; k++)
        corners[k] = (lm_vec3){k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y, k & 4 ? upper.z : lower.z};
    for (int k = 0; k < 6; k++) {
        soup_add_triangle(s, corners[sides[k][0]], corners[sides[k][1]], corners[sides[k][2]]);
        soup_add_triangle(s, corners[sides[k][0]], corners[sides[k][2]], corners[sides[k][3]]);
    }
}

void soup_turn_over(soup *s)
{
    for (uint32_t k = 0; k < s->triangle_count; k++) {
        uint32_t kept = s->triangles[3 * k];
        s->triangles[3 * k] = s->triangles[3 * k + 1];
        s->triangles[3 * k + 1] = kept;
    }
}

lmi_voxel_def soup_def(const soup *s, double spacing, bool shell)
{
    lmi_voxel_def def = {.vertices = s->vertices,
                         .vertex_count = s->vertex_count,
                         .triangles = s->triangles,
                         .triangle_count = s->triangle_count,
                         .spacing = spacing,
                         .shell = shell};
    return def;
}

static lmi_voxels make_voxels(const lmi_voxel_def *def)
{
    lmi_memory memory;
    lm_allocator hooks = {0};
    lmi_memory_init(&memory, &hooks);
    lmi_voxels v;
    char fault[LMI_VOXEL_FAULT_SIZE];
    lm_result result = lmi_voxels_make(&memory, def, &v, fault);
    if (result != LM_OK) fail_msg("lmi_voxels_make: %s (%s)", lm_result_text(result), fault);
    return v;
}

lmi_voxels voxelise(const soup *s, double spacing, bool shell)
{
    lmi_voxel_def def = soup_def(s, spacing, shell);
    return make_voxels(&def);
}

lmi_voxels voxelise_to(const soup *s, uint32_t particles, bool shell)
{
    lmi_voxel_def def = soup_def(s, 0.0, shell);
    def.particles = particles;
    return make_voxels(&def);
}

void voxels_free(lmi_voxels *v)
{
    lmi_memory memory;
    lm_allocator hooks = {0};
    lmi_memory_init(&memory, &hooks);
    lmi_voxels_free(&memory, v);
}

bool voxels_equal(const lmi_voxels *a, const lmi_voxels *b)
{
    size_t words = (size_t)a->row_words * a->n[1] * a->n[2];
    return memcmp(a->n, b->n, sizeof a->n) == 0 && a->cell_count == b->cell_count && a->touched == b->touched &&
           a->corner_count == b->corner_count && memcmp(a->bits, b->bits, words * sizeof *a->bits) == 0;
}

double voxels_distance(const lmi_voxels *v, ref_vec point, const uint32_t cell[3])
{
    double p[3] = {point.x - v->first.x, point.y - v->first.y, point.z - v->first.z}, sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double d = fmax(0.0, fmax(cell[i] * v->spacing - p[i], p[i] - (cell[i] + 1) * v->spacing));
        sum += d * d;
    }
    return sqrt(sum);
}

static void *account_allocate(size_t size, size_t alignment, void *user)
{
    account *a = user;
    if (a->refuse > 0 && --a->refuse == 0) return NULL;
    void *memory = aligned_alloc(alignment, size);
    assert_non_null(memory);
    memset(memory, 0xa5, size); /* what is not set must not be read */
    a->live += size;
    a->peak = a->live > a->peak ? a->live : a->peak;
    return memory;
}

static void account_release(void *memory, size_t size, void *user)
{
    account *a = user;
    assert_true(a->live >= size);
    a->live -= size;
    free(memory);
}

lm_allocator account_hooks(account *a)
{
    lm_allocator hooks = {.allocate = account_allocate, .release = account_release, .user = a};
    return hooks;
}
