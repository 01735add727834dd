/*
 * Procedural models: that each holds its shape from its coarsest detail on, and carries the colours, named groups and
 * bones that belong to it.
 */
#include "shape_measures.h"

#define FINE 80u   /* the detail at which models are looked at closely */
#define COARSE 24u /* where their named parts must still be there; or their coarsest, if that is finer */

/* ------------------------------------------------------------------------------------------------------------------
 * Each model once fine and once coarse: making them takes most of the time
 */

typedef struct model_case {
    const char *name;
    const shape_model *model;
    lm_shape_mesh fine, coarse;
} model_case;

static model_case cases[64];
static uint32_t case_count;

static int make_cases(void **state)
{
    (void)state;
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        if (!model_of(lm_shape_name(i))) continue;
        model_case *made = &cases[case_count++];
        lm_shape_def fine = natural_def(lm_shape_name(i), FINE), coarse = natural_def(lm_shape_name(i), COARSE);
        *made = (model_case){.name = lm_shape_name(i), .model = model_of(lm_shape_name(i))};
        if (lm_shape_make_mesh(&fine, &made->fine) != LM_OK || lm_shape_make_mesh(&coarse, &made->coarse) != LM_OK) {
            print_error("%s cannot be made\n", made->name);
            return -1;
        }
    }
    return case_count > 0 ? 0 : -1;
}

static int free_cases(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        lm_shape_mesh_free(&cases[i].fine);
        lm_shape_mesh_free(&cases[i].coarse);
    }
    return 0;
}

/* A vertex in the model's own coordinates. */
static field_point own_point(const model_case *of, lm_vec3 at)
{
    field_point lower = of->model->lower, upper = of->model->upper;
    lm_vec3 size = lm_shape_natural_size(of->name);
    return field_at(0.5 * (lower.x + upper.x) + at.x * (upper.x - lower.x) / size.x,
                    0.5 * (lower.y + upper.y) + at.y * (upper.y - lower.y) / size.y,
                    0.5 * (lower.z + upper.z) + at.z * (upper.z - lower.z) / size.z);
}

static double longest_extent(const shape_model *model)
{
    field_point extent = field_less(model->upper, model->lower);
    return fmax(extent.x, fmax(extent.y, extent.z));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Surfaces
 */

static double smallest_angle(const lm_shape_mesh *mesh)
{
    double smallest = pi;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        for (size_t c = 0; c < 3; c++) {
            double a[3], b[3], d[3], dot = 0.0, bb = 0.0, dd = 0.0;
            corner(mesh, t, c, a);
            corner(mesh, t, (c + 1) % 3, b);
            corner(mesh, t, (c + 2) % 3, d);
            for (int axis = 0; axis < 3; axis++) {
                dot += (b[axis] - a[axis]) * (d[axis] - a[axis]);
                bb += (b[axis] - a[axis]) * (b[axis] - a[axis]);
                dd += (d[axis] - a[axis]) * (d[axis] - a[axis]);
            }
            smallest = fmin(smallest, acos(dot / sqrt(bb * dd)));
        }
    }
    return smallest * 180.0 / pi;
}

/* One skin without handles and without slivers, with as many vertices as its area asks for. */
static void assert_good_skin(const char *name, uint32_t detail, const lm_shape_mesh *mesh)
{
    assert_closed(mesh);
    if (parts_of(mesh) != 1 || euler_of(mesh) != 2)
        fail_msg("%s, detail %u: %u parts, Euler characteristic %d", name, detail, parts_of(mesh), (int)euler_of(mesh));
    double angle = smallest_angle(mesh);
    if (angle < 5.0) fail_msg("%s, detail %u: an angle of %g degrees", name, detail, angle);
    double vertices = mesh->vertex_count / (whole_area_of(mesh) * detail * detail);
    if (vertices < 0.95 || vertices > 1.35)
        fail_msg("%s, detail %u: %g vertices for each square edge", name, detail, vertices);
}

/* The volume settles as triangles shrink; at the coarsest detail a third may be missing. */
static void test_details(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        const char *name = cases[i].name;
        const uint32_t coarsest = cases[i].model->coarsest;
        assert_good_skin(name, FINE, &cases[i].fine);
        double finest = volume_of(&cases[i].fine);
        for (uint32_t detail = coarsest; detail < 55 || detail < 1.3 * coarsest; detail += 1 + detail / 4) {
            lm_shape_def def = natural_def(name, detail);
            lm_shape_mesh mesh = make_mesh(&def);
            assert_good_skin(name, detail, &mesh);
            double coarse = (double)coarsest / detail, change = volume_of(&mesh) / finest - 1.0;
            if (fabs(change) > 0.33 * coarse * coarse + 0.003)
                fail_msg("%s, detail %u: volume off by %g", name, detail, change);
            lm_shape_mesh_free(&mesh);
        }
    }
}

/* A detail below the coarsest gives the same mesh, and a mesh made twice is the same to the bit. */
static void test_made_twice(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        lm_shape_def def = natural_def(cases[i].name, 1), again = natural_def(cases[i].name, cases[i].model->coarsest);
        lm_shape_mesh coarsest = make_mesh(&def), second = make_mesh(&again);
        const lm_shape_mesh *first = &coarsest;
        assert_int_equal(second.vertex_count, first->vertex_count);
        assert_int_equal(second.triangle_count, first->triangle_count);
        size_t vertices = first->vertex_count, triangles = first->triangle_count;
        assert_memory_equal(second.vertices, first->vertices, vertices * sizeof *first->vertices);
        assert_memory_equal(second.colours, first->colours, vertices * sizeof *first->colours);
        assert_memory_equal(second.triangles, first->triangles, 3 * triangles * sizeof *first->triangles);
        for (uint32_t g = 0; g < first->group_count; g++)
            assert_memory_equal(second.groups[g].weights, first->groups[g].weights, vertices * sizeof(float));
        lm_shape_mesh_free(&coarsest);
        lm_shape_mesh_free(&second);
    }
}

/* The box that a model states just holds it, and its natural size has the proportions of that box. */
static void test_boxes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        const shape_model *model = cases[i].model;
        lm_vec3 natural = lm_shape_natural_size(cases[i].name);
        const double size[3] = {natural.x, natural.y, natural.z};
        const double own[3] = {model->upper.x - model->lower.x, model->upper.y - model->lower.y,
                               model->upper.z - model->lower.z};
        mesh_box box = box_of(&cases[i].fine, NULL);
        for (int axis = 0; axis < 3; axis++) {
            double proportion = own[axis] / longest_extent(model);
            if (fabs(proportion / size[axis] - 1.0) > 0.004)
                fail_msg("%s: natural size %g along axis %d, the box says %g", cases[i].name, size[axis], axis,
                         proportion);
            double low = box.lower[axis] + 0.5 * size[axis], high = box.upper[axis] - 0.5 * size[axis];
            if (fabs(low) > 0.02 * size[axis] || fabs(high) > 0.02 * size[axis])
                fail_msg("%s: the box along axis %d is off by %g and %g", cases[i].name, axis, low, high);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Fields
 */

static double slope_at(const shape_model *model, field_point p, double reach)
{
    double x = model->field(field_at(p.x + reach, p.y, p.z)) - model->field(field_at(p.x - reach, p.y, p.z));
    double y = model->field(field_at(p.x, p.y + reach, p.z)) - model->field(field_at(p.x, p.y - reach, p.z));
    double z = model->field(field_at(p.x, p.y, p.z + reach)) - model->field(field_at(p.x, p.y, p.z - reach));
    return sqrt(x * x + y * y + z * z) / (2.0 * reach);
}

/* Near the surface a field measures length: extraction and relaxation rely on it. In blends it may fall short. */
static void test_field_slopes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        const lm_shape_mesh *mesh = &cases[i].fine;
        double reach = 1e-4 * longest_extent(cases[i].model);
        uint32_t good = 0;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            double slope = slope_at(cases[i].model, own_point(&cases[i], mesh->vertices[v]), reach);
            if (slope > 0.5 && slope < 1.5) good++;
        }
        if (good < 0.95 * mesh->vertex_count)
            fail_msg("%s: the slope is good at %u of %u points", cases[i].name, good, mesh->vertex_count);
    }
}

/* Away from the surface it may fall short, but never says more than twice the distance: extraction skips half of what it
 * says. */
static void test_field_distances(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (uint32_t i = 0; i < case_count; i++) {
        const lm_shape_mesh *mesh = &cases[i].fine;
        const lm_vec3 size = lm_shape_natural_size(cases[i].name);
        double unit = longest_extent(cases[i].model);
        for (int sample = 0; sample < 400; sample++) {
            float at[3];
            for (int axis = 0; axis < 3; axis++) {
                random = random * 1664525u + 1013904223u;
                at[axis] = 1.2f * ((float)(random >> 8) / 16777216.0f - 0.5f);
            }
            lm_vec3 p = {at[0] * size.x, at[1] * size.y, at[2] * size.z};
            double nearest = INFINITY;
            for (uint32_t v = 0; v < mesh->vertex_count; v++) nearest = fmin(nearest, distance(p, mesh->vertices[v]));
            double field = cases[i].model->field(own_point(&cases[i], p)) / unit;
            if (fabs(field) > 2.0 * nearest + 0.1 / FINE)
                fail_msg("%s: %g from the surface the field says %g", cases[i].name, nearest, field);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours, groups and bones
 */

static int colour_difference(lm_shape_colour a, lm_shape_colour b)
{
    return abs(a.r - b.r) + abs(a.g - b.g) + abs(a.b - b.b);
}

/* The colour of most vertices, told apart by the upper half of each channel. */
static lm_shape_colour commonest_colour(const lm_shape_mesh *mesh)
{
    uint32_t counts[4096] = {0}, best = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        lm_shape_colour c = mesh->colours[v];
        uint32_t kind = (c.r >> 4u) << 8u | (c.g >> 4u) << 4u | c.b >> 4u;
        if (++counts[kind] > counts[best]) best = kind;
    }
    return (lm_shape_colour){(uint8_t)((best >> 8u) * 16u + 8u), (uint8_t)((best >> 4u & 15u) * 16u + 8u),
                             (uint8_t)((best & 15u) * 16u + 8u)};
}

/* One vertex in a hundred at least has a colour that nobody takes for that of most. */
static void test_colours(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        const lm_shape_mesh *mesh = &cases[i].fine;
        lm_shape_colour common = commonest_colour(mesh);
        uint32_t unlike = 0;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) unlike += colour_difference(mesh->colours[v], common) > 80;
        if (unlike < mesh->vertex_count / 100)
            fail_msg("%s: all but %u of %u vertices have one colour", cases[i].name, unlike, mesh->vertex_count);
    }
}

static void assert_groups(const char *name, const lm_shape_mesh *mesh)
{
    if (mesh->group_count < 2) fail_msg("%s: %u groups", name, mesh->group_count);
    for (uint32_t g = 0; g < mesh->group_count; g++) {
        const lm_shape_group *group = &mesh->groups[g];
        assert_true(strlen(group->name) > 0);
        assert_ptr_equal(lm_shape_find_group(mesh, group->name), group); /* the first of its name: names are unique */
        for (uint32_t v = 0; v < mesh->vertex_count; v++)
            assert_true(group->weights[v] >= 0.0f && group->weights[v] <= 1.0f);
        uint32_t count = box_of(mesh, group->weights).count;
        if (count == 0 || count == mesh->vertex_count)
            fail_msg("%s: the group %s has %u of %u vertices", name, group->name, count, mesh->vertex_count);
    }
    assert_null(lm_shape_find_group(mesh, "nothing"));
}

static void test_groups(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        assert_groups(cases[i].name, &cases[i].fine);
        assert_groups(cases[i].name, &cases[i].coarse);
    }
}

/* Every part is still there, and as large but for three edges, where the mesh is coarse. */
static void test_parts_survive(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < case_count; i++) {
        const double edge = 1.0 / (cases[i].model->coarsest > COARSE ? cases[i].model->coarsest : COARSE);
        for (uint32_t g = 0; g < cases[i].fine.group_count; g++) {
            mesh_box fine = box_of(&cases[i].fine, cases[i].fine.groups[g].weights);
            mesh_box coarse = box_of(&cases[i].coarse, cases[i].coarse.groups[g].weights);
            for (int axis = 0; axis < 3; axis++) {
                double low = fabs(coarse.lower[axis] - fine.lower[axis]) / edge;
                double high = fabs(coarse.upper[axis] - fine.upper[axis]) / edge;
                if (!(low < 3.0 && high < 3.0))
                    fail_msg("%s: coarse, the ends of %s move by %g and %g edges", cases[i].name,
                             cases[i].fine.groups[g].name, low, high);
            }
        }
    }
}

static bool is_mirrored(const model_case *of)
{
    for (uint32_t v = 0; v < of->coarse.vertex_count; v++) {
        field_point p = own_point(of, of->coarse.vertices[v]), m = field_at(-p.x, p.y, p.z);
        if (fabs(of->model->field(p) - of->model->field(m)) > 1e-9) return false;
    }
    return true;
}

/* The group that is this one's mirror image: "left" and "right" exchanged in its name. */
static const model_group *mirror_group(const shape_model *model, const model_group *group)
{
    char name[64];
    const char *left = strstr(group->name, "left"), *right = strstr(group->name, "right");
    const char *at = left ? left : right;
    if (!at) return group;
    snprintf(name, sizeof name, "%.*s%s%s", (int)(at - group->name), group->name, left ? "right" : "left",
             at + (left ? 4 : 5));
    for (uint32_t g = 0; g < model->group_count; g++)
        if (strcmp(model->groups[g].name, name) == 0) return &model->groups[g];
    fail_msg("%s has no mirror image", group->name);
    return NULL;
}

/* Left is at positive x, for all that look along z. */
static void test_mirrored_groups(void **state)
{
    (void)state;
    uint32_t mirrored = 0;
    for (uint32_t i = 0; i < case_count; i++) {
        const shape_model *model = cases[i].model;
        if (!is_mirrored(&cases[i])) continue;
        mirrored++;
        for (uint32_t g = 0; g < model->group_count; g++) {
            const model_group *group = &model->groups[g], *other = mirror_group(model, group);
            double sum = 0.0;
            for (uint32_t v = 0; v < cases[i].coarse.vertex_count; v++) {
                field_point p = own_point(&cases[i], cases[i].coarse.vertices[v]);
                double here = group->weight(p), there = other->weight(field_at(-p.x, p.y, p.z));
                if (fabs(here - there) > 1e-6)
                    fail_msg("%s: %s is %g where %s is %g", cases[i].name, group->name, here, other->name, there);
                sum += here * p.x;
            }
            if (strstr(group->name, "left")) assert_true(sum > 0.0);
            if (strstr(group->name, "right")) assert_true(sum < 0.0);
        }
    }
    assert_true(mirrored > 0);
}

static void assert_bones(const char *name, const lm_shape_mesh *mesh)
{
    for (uint32_t b = 0; b < mesh->bone_count; b++) {
        const lm_shape_bone *bone = &mesh->bones[b];
        assert_true(bone->parent == LM_SHAPE_NO_BONE ? b == 0 : bone->parent < b); /* one root, parents first */
        assert_true(distance(bone->head, bone->tail) > 0.01);
        if (winding_number(mesh, bone->head) < 0.99 || winding_number(mesh, bone->tail) < 0.99)
            fail_msg("%s: the bone %s sticks out", name, bone->name);
        if (!lm_shape_find_group(mesh, bone->name)) fail_msg("%s: the bone %s carries no group", name, bone->name);
    }
    for (uint32_t v = 0; v < mesh->vertex_count && mesh->bone_count; v++) {
        double sum = 0.0;
        for (uint32_t b = 0; b < mesh->bone_count; b++)
            sum += lm_shape_find_group(mesh, mesh->bones[b].name)->weights[v];
        if (fabs(sum - 1.0) > 1e-4) fail_msg("%s: the bones carry %g of a vertex", name, sum);
    }
}

static void test_bones(void **state)
{
    (void)state;
    uint32_t with_bones = 0;
    for (uint32_t i = 0; i < case_count; i++) {
        assert_bones(cases[i].name, &cases[i].fine);
        with_bones += cases[i].fine.bone_count > 0;
    }
    assert_true(with_bones > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_details),         cmocka_unit_test(test_made_twice),
        cmocka_unit_test(test_boxes),           cmocka_unit_test(test_field_slopes),
        cmocka_unit_test(test_field_distances), cmocka_unit_test(test_colours),
        cmocka_unit_test(test_groups),          cmocka_unit_test(test_parts_survive),
        cmocka_unit_test(test_mirrored_groups), cmocka_unit_test(test_bones),
    };
    return cmocka_run_group_tests_name("models", tests, make_cases, free_cases);
}
