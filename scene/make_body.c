/* Bodies from their entries: a shape or points, copies on a grid, variation, material, starting state. */
#include "scene/internal.h"

#include <stdlib.h>
#include <string.h>

/* What the copies of an entry have in common: the points and surface at the entry's own size. */
typedef struct body_model {
    shape_mesh mesh;    /* its vertices are the first particles; empty when the entry gives points */
    shape_mesh surface; /* a finer one to draw; empty: the mesh */
    lm_vec3 *points;
    uint32_t point_count;
    float *masses;               /* null: equal shares */
    double *shares;              /* of the mass, adding up to 1, where zones make them differ; else null */
    float *stiffness;            /* null: 1 everywhere */
    double volume;               /* of the body, from which its mass comes */
    double drawn_volume;         /* within the surface as drawn */
    uint32_t *offsets, *members; /* the entry's own clusters */
    connections connections;     /* for clusters that follow them */
    lm_vec3 *scaled;             /* points of the copy at hand */
    lm_vec3 *scaled_surface;     /* vertices of its finer surface */
    lm_dvec3 *displaced;
} body_model;

static bool given(const scene_head *head, const char *name) { return json_get(head->json, name) != NULL; }

static void model_free(body_model *model)
{
    shape_mesh_free(&model->mesh);
    shape_mesh_free(&model->surface);
    free(model->points);
    free(model->masses);
    free(model->shares);
    free(model->stiffness);
    free(model->connections.elements);
    free(model->scaled_surface);
    free(model->offsets);
    free(model->members);
    free(model->scaled);
    free(model->displaced);
}

static double volume_of(const shape_mesh *mesh)
{
    double six = 0.0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        lm_dvec3 a = vector_widen(mesh->vertices[corner[0]]);
        lm_dvec3 b = vector_widen(mesh->vertices[corner[1]]);
        lm_dvec3 c = vector_widen(mesh->vertices[corner[2]]);
        six += vector_dot(a, vector_cross(b, c));
    }
    return six / 6.0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The model
 */

/* A finer surface than the particles carry by themselves. One that the file asks for is the body's true extent, and its
 * mass follows; one only to be looked at changes nothing. */
static lm_result model_add_surface(scene *s, const scene_body_entry *entry, shape_def *def, body_model *model,
                                   scene_error *error)
{
    bool asked = entry->surface != NULL && entry->surface->detail > 0;
    if (!asked && entry->fine_detail == 0) {
        return LM_OK;
    }
    def->detail = asked ? entry->surface->detail : entry->fine_detail;
    lm_result result = shape_make_mesh(def, &model->surface);
    if (result != LM_OK) {
        report_field(error, s->name, &entry->head, "surface", "%s", lm_result_text(result));
        return result;
    }
    model->drawn_volume = volume_of(&model->surface);
    model->volume = asked ? model->drawn_volume : model->volume;
    model->scaled_surface = malloc(model->surface.vertex_count * sizeof *model->scaled_surface);
    return model->scaled_surface != NULL ? LM_OK : LM_ERROR_MEMORY;
}

static lm_result model_from_shape(scene *s, const scene_body_entry *entry, body_model *model, scene_error *error)
{
    const scene_shape *shape = entry->shape;
    shape_def def = shape_def_default();
    def.name = shape_name(shape->name);
    def.size = vector_narrow(size_of_shape(shape));
    def.detail = shape->detail;
    lm_result result = shape_make_mesh(&def, &model->mesh);
    if (result != LM_OK) {
        report_field(error, s->name, &entry->head, "shape", "%s (expected a size from 1e-6 to 1e6 m)",
                     lm_result_text(result));
        return result;
    }
    if (entry->particles > 0 && entry->particles < model->mesh.vertex_count) {
        report_field(error, s->name, &entry->head, "particles",
                     "is %u (expected at least %u, the vertices of the surface; a smaller \"detail\" has fewer)",
                     (unsigned)entry->particles, (unsigned)model->mesh.vertex_count);
        return LM_ERROR_ARGUMENT;
    }
    shape_cloud cloud;
    result = shape_make_cloud(&def, &model->mesh, entry->particles, &cloud);
    if (result != LM_OK) {
        report_field(error, s->name, &entry->head, "shape", "%s", lm_result_text(result));
        return result;
    }
    model->points = cloud.points;
    model->point_count = cloud.point_count;
    model->volume = volume_of(&model->mesh);
    model->drawn_volume = model->volume;
    return model_add_surface(s, entry, &def, model, error);
}

static lm_result model_from_points(const scene_body_entry *entry, body_model *model)
{
    uint32_t count = entry->points.count;
    model->points = malloc(count * sizeof *model->points);
    if (model->points == NULL) {
        return LM_ERROR_MEMORY;
    }
    model->point_count = count;
    for (uint32_t i = 0; i < count; i++) {
        model->points[i] = vector_narrow(*LIST_ITEM(lm_dvec3, entry->points, i));
    }
    if (entry->masses.count > 0) {
        model->masses = malloc(count * sizeof *model->masses);
        if (model->masses == NULL) {
            return LM_ERROR_MEMORY;
        }
        for (uint32_t i = 0; i < count; i++) {
            model->masses[i] = (float)*LIST_ITEM(double, entry->masses, i);
        }
    }
    return LM_OK;
}

/* The entry's own cluster lists, as offsets and members. */
static lm_result model_add_lists(scene *s, const scene_body_entry *entry, body_model *model, scene_error *error)
{
    const scene_clusters *clusters = entry->clusters;
    if (clusters == NULL || clusters->lists.count == 0) {
        return LM_OK;
    }
    size_t total = 0;
    for (uint32_t i = 0; i < clusters->lists.count; i++) {
        total += LIST_ITEM(scene_list, clusters->lists, i)->count;
    }
    model->offsets = malloc((clusters->lists.count + 1u) * sizeof *model->offsets);
    model->members = malloc((total + 1) * sizeof *model->members);
    if (model->offsets == NULL || model->members == NULL) {
        return LM_ERROR_MEMORY;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < clusters->lists.count; i++) {
        const scene_list *list = LIST_ITEM(scene_list, clusters->lists, i);
        model->offsets[i] = used;
        for (uint32_t k = 0; k < list->count; k++) {
            uint32_t index = *LIST_ITEM(uint32_t, *list, k);
            if (index >= model->point_count) {
                const json_value *value = json_at(json_at(json_get(clusters->head.json, "lists"), i), k);
                report(error, report_at(s->name, value, clusters->head.path),
                       "lists[%u][%u] is %u (expected a particle below %u)", (unsigned)i, (unsigned)k, (unsigned)index,
                       (unsigned)model->point_count);
                return LM_ERROR_ARGUMENT;
            }
            model->members[used++] = index;
        }
    }
    model->offsets[clusters->lists.count] = used;
    return LM_OK;
}

/* Neighbours for the clusters that need them. */
static lm_result model_connect(scene *s, const scene_body_entry *entry, body_model *model, scene_error *error)
{
    const scene_clusters *clusters = entry->clusters;
    if (clusters == NULL || !given(&clusters->head, "each")) {
        return clusters != NULL && clusters->elements.count > 0
                   ? connect_lists(&clusters->elements, &model->connections)
                   : LM_OK;
    }
    if (clusters->elements.count > 0) {
        return connect_lists(&clusters->elements, &model->connections);
    }
    if (clusters->each == EACH_PARTICLE) {
        return connect_edges(&model->mesh, model->points, model->point_count, &model->connections);
    }
    if (model->point_count > model->mesh.vertex_count) {
        report_field(error, s->name, &clusters->head, "each",
                     "leaves %u inner particles alone (expected \"particles\": %u, those of the surface)",
                     (unsigned)(model->point_count - model->mesh.vertex_count), (unsigned)model->mesh.vertex_count);
        return LM_ERROR_ARGUMENT;
    }
    return clusters->each == EACH_EDGE
               ? connect_edges(&model->mesh, model->points, model->point_count, &model->connections)
               : connect_triangles(&model->mesh, &model->connections);
}

/* Zones are given at the entry's own size: copies of another size have them where they belong. */
static lm_result model_add_zones(const scene_body_entry *entry, body_model *model)
{
    uint32_t count = model->point_count;
    if (entry->mass_zones.count > 0) {
        model->shares = malloc(count * sizeof *model->shares);
        if (model->shares == NULL) {
            return LM_ERROR_MEMORY;
        }
        double sum = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            model->shares[i] = zone_value(&entry->mass_zones, model->points[i]);
            sum += model->shares[i];
        }
        for (uint32_t i = 0; i < count; i++) {
            model->shares[i] /= sum;
        }
        model->masses = malloc(count * sizeof *model->masses);
    }
    if (entry->stiffness_zones.count > 0) {
        model->stiffness = malloc(count * sizeof *model->stiffness);
        if (model->stiffness == NULL) {
            return LM_ERROR_MEMORY;
        }
        for (uint32_t i = 0; i < count; i++) {
            model->stiffness[i] = (float)zone_value(&entry->stiffness_zones, model->points[i]);
        }
    }
    return model->shares != NULL && model->masses == NULL ? LM_ERROR_MEMORY : LM_OK;
}

static lm_result model_make(scene *s, const scene_body_entry *entry, body_model *model, scene_error *error)
{
    lm_result result =
        entry->shape != NULL ? model_from_shape(s, entry, model, error) : model_from_points(entry, model);
    result = result ? result : model_add_lists(s, entry, model, error);
    result = result ? result : model_connect(s, entry, model, error);
    result = result ? result : model_add_zones(entry, model);
    if (result != LM_OK) {
        return result;
    }
    model->scaled = malloc(model->point_count * sizeof *model->scaled);
    model->displaced = malloc(model->point_count * sizeof *model->displaced);
    return model->scaled == NULL || model->displaced == NULL ? LM_ERROR_MEMORY : LM_OK;
}

/* The model's colours, kept with the scene for whoever draws it. They are the same each time a world is made with
 * surfaces as fine. */
static lm_result keep_colours(scene *s, scene_body_entry *entry, const body_model *model)
{
    const shape_mesh *surface = model->surface.vertex_count > 0 ? &model->surface : &model->mesh;
    size_t size = surface->vertex_count * sizeof *surface->colours;
    if (entry->own_colours.count != surface->vertex_count && size > 0) {
        entry->own_colours.items = json_allocate(s->document, size);
        if (entry->own_colours.items == NULL) {
            return LM_ERROR_MEMORY;
        }
        memcpy(entry->own_colours.items, surface->colours, size);
        entry->own_colours.count = surface->vertex_count;
    }
    return LM_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The copies
 */

typedef struct copy {
    double scale;
    lm_dvec3 at;
    rotation rotate;
    lm_dvec3 velocity, spin;
} copy;

/* Everything random about a copy is drawn here, in a fixed order, whether it is used or not. */
static copy place_copy(const scene_body_entry *entry, uint32_t index)
{
    copy c = {1.0, entry->at, entry->rotate, entry->velocity, entry->spin};
    const scene_repeat *repeat = entry->repeat;
    if (repeat == NULL) {
        return c;
    }
    uint32_t x = index % repeat->grid[0];
    uint32_t z = index / repeat->grid[0] % repeat->grid[2];
    uint32_t y = index / repeat->grid[0] / repeat->grid[2];
    c.at.x += (x - 0.5 * (repeat->grid[0] - 1.0)) * repeat->spacing.x;
    c.at.y += (y - 0.5 * (repeat->grid[1] - 1.0)) * repeat->spacing.y;
    c.at.z += (z - 0.5 * (repeat->grid[2] - 1.0)) * repeat->spacing.z;

    random_source source = random_start(repeat->seed, index);
    lm_dvec3 jitter = random_vector(&source);
    lm_dvec3 turn = random_vector(&source);
    double size = random_signed(&source);
    lm_dvec3 velocity = random_vector(&source);
    lm_dvec3 spin = random_vector(&source);
    c.at =
        vector_add(c.at, vector(jitter.x * repeat->jitter.x, jitter.y * repeat->jitter.y, jitter.z * repeat->jitter.z));
    const scene_vary *vary = repeat->vary;
    if (vary != NULL) {
        rotation more =
            rotation_from_euler(vector(turn.x * vary->rotate.x, turn.y * vary->rotate.y, turn.z * vary->rotate.z));
        c.rotate = rotation_then(c.rotate, more);
        c.scale = 1.0 + size * vary->size;
        c.velocity = vector_add(c.velocity, vector(velocity.x * vary->velocity.x, velocity.y * vary->velocity.y,
                                                   velocity.z * vary->velocity.z));
        c.spin = vector_add(c.spin, vector(spin.x * vary->spin.x, spin.y * vary->spin.y, spin.z * vary->spin.z));
    }
    return c;
}

static lm_clusters clusters_of(const scene_body_entry *entry, const body_model *model, double scale)
{
    lm_clusters clusters = lm_body_def_default().clusters;
    const scene_clusters *from = entry->clusters;
    if (from == NULL) {
        return clusters;
    }
    memcpy(clusters.counts, from->counts, sizeof clusters.counts);
    clusters.overlap = (float)from->overlap;
    if (model->offsets != NULL) {
        clusters.kind = LM_CLUSTERS_LISTS;
        clusters.offsets = model->offsets;
        clusters.members = model->members;
        clusters.list_count = from->lists.count;
    } else if (json_get(from->head.json, "size") != NULL) {
        clusters.kind = LM_CLUSTERS_SIZE;
        clusters.cell_size = (float)(from->size * scale); /* a larger copy has as many clusters */
    } else if (given(&from->head, "kmeans")) {
        clusters.kind = LM_CLUSTERS_KMEANS;
        clusters.count = from->kmeans;
        clusters.rings = from->rings;
    } else if (given(&from->head, "each")) {
        clusters.kind = from->each == EACH_PARTICLE ? LM_CLUSTERS_RINGS : LM_CLUSTERS_ELEMENTS;
    }
    if (model->connections.count > 0) {
        clusters.elements = model->connections.elements;
        clusters.element_count = model->connections.count;
        clusters.element_size = model->connections.size;
    }
    return clusters;
}

void material_apply(const scene_material *from, bool only_given, lm_material *to)
{
    const json_value *json = from->head.json;
#define APPLY(member)                                                                                                  \
    if (!only_given || json_get(json, #member) != NULL) to->member = (float)from->member
    if (!only_given || json_get(json, "mode") != NULL) {
        to->mode = (lm_mode)from->mode;
    }
    if (!only_given || json_get(json, "damping_kind") != NULL) {
        to->damping_kind = (lm_damping)from->damping_kind;
    }
    if (!only_given || json_get(json, "damping_every") != NULL) {
        to->damping_every = from->damping_every;
    }
    APPLY(hertz);
    APPLY(damping_ratio);
    APPLY(alpha);
    APPLY(damping);
    APPLY(beta);
    APPLY(yield);
    APPLY(creep);
    APPLY(max_plastic);
    APPLY(friction);
    APPLY(restitution);
#undef APPLY
    if (json_get(json, "alpha") != NULL || json_get(json, "damping") != NULL) {
        to->stiffness = LM_STIFFNESS_ALPHA;
    } else if (json_get(json, "hertz") != NULL || json_get(json, "damping_ratio") != NULL) {
        to->stiffness = LM_STIFFNESS_HERTZ;
    }
}

/* Puts the particles where the entry's `state` wants them. */
static lm_result apply_state(lm_world *world, lm_body_id id, const scene_deform *state, const copy *c,
                             body_model *model)
{
    deform_points(state, model->scaled, model->point_count, model->displaced);
    for (uint32_t i = 0; i < model->point_count; i++) {
        model->scaled[i] = vector_narrow(rotation_apply(c->rotate, model->displaced[i]));
    }
    return lm_body_set_state(world, id, c->at, model->scaled, NULL);
}

static lm_result set_skin(const scene_body_entry *entry, lm_world *world, lm_body_id id, const body_model *model,
                          double scale)
{
    bool finer = model->surface.vertex_count > 0;
    const shape_mesh *mesh = finer ? &model->surface : &model->mesh;
    for (uint32_t i = 0; i < model->surface.vertex_count; i++) {
        model->scaled_surface[i] = vector_narrow(vector_scale(vector_widen(model->surface.vertices[i]), scale));
    }
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = entry->surface != NULL ? (lm_skin_kind)entry->surface->skin : LM_SKIN_PARTICLES;
    skin.vertices = finer ? model->scaled_surface : model->scaled; /* else the first particles, in their order */
    skin.vertex_count = mesh->vertex_count;
    skin.triangles = mesh->triangles;
    skin.triangle_count = mesh->triangle_count;
    return lm_body_set_skin(world, id, &skin);
}

static scene_colours colours_of(const scene_body_entry *entry, uint32_t index)
{
    if (given(&entry->head, "colour")) {
        return (scene_colours){entry->colour, 1};
    }
    if (entry->colours.count > 0) {
        return (scene_colours){(const uint8_t *)entry->colours.items + 3u * (index % entry->colours.count), 1};
    }
    return (scene_colours){entry->own_colours.items, entry->own_colours.count};
}

static lm_result make_copy(const scene_body_entry *entry, lm_world *world, body_model *model, uint32_t index,
                           made_body *body)
{
    copy c = place_copy(entry, index);
    for (uint32_t i = 0; i < model->point_count; i++) {
        model->scaled[i] = vector_narrow(vector_scale(vector_widen(model->points[i]), c.scale));
    }
    lm_body_def def = lm_body_def_default();
    def.points = model->scaled;
    def.point_count = model->point_count;
    def.masses = model->masses;
    def.mass = (float)entry->mass;
    if (json_get(entry->head.json, "density") != NULL) {
        def.mass = (float)(entry->density * model->volume * c.scale * c.scale * c.scale);
    }
    for (uint32_t i = 0; model->shares != NULL && i < model->point_count; i++) {
        model->masses[i] = (float)(def.mass * model->shares[i]);
    }
    def.clusters = clusters_of(entry, model, c.scale);
    if (entry->material != NULL) {
        material_apply(entry->material, false, &def.material);
    }
    def.contact_radius = (float)entry->contact_radius;
    def.pose = (lm_pose){c.at, rotation_narrow(c.rotate)};
    def.velocity = vector_narrow(c.velocity);
    def.spin = vector_narrow(vector_scale(c.spin, RADIANS_PER_DEGREE));
    def.user_data = entry->range.first + index;

    lm_result result = lm_body_create(world, &def, &body->id);
    body->at = c.at;
    body->rotate = c.rotate;
    body->rest_volume = model->drawn_volume * c.scale * c.scale * c.scale;
    body->colours = colours_of(entry, index);
    body->label = entry->label;
    if (result == LM_OK && model->mesh.vertex_count > 0) {
        result = set_skin(entry, world, body->id, model, c.scale);
    }
    if (result == LM_OK && model->stiffness != NULL) {
        result = lm_body_set_particle_stiffness(world, body->id, model->stiffness);
    }
    if (result == LM_OK && entry->state != NULL) {
        result = apply_state(world, body->id, entry->state, &c, model);
    }
    return result;
}

lm_result make_bodies(scene *s, lm_world *world, scene_body_entry *entry, uint64_t *particles, scene_error *error)
{
    body_model model = {.points = NULL};
    error->text[0] = '\0';
    lm_result result = model_make(s, entry, &model, error);
    result = result ? result : keep_colours(s, entry, &model);
    uint64_t wanted = *particles + (uint64_t)model.point_count * entry->range.count;
    if (result == LM_OK && wanted > SCENE_MAX_PARTICLES) {
        report_field(error, s->name, &entry->head, NULL, "asks for %llu particles (expected at most %u in all)",
                     (unsigned long long)wanted, SCENE_MAX_PARTICLES);
        result = LM_ERROR_LIMIT;
    }
    *particles = wanted;
    for (uint32_t i = 0; i < entry->range.count && result == LM_OK; i++) {
        result = make_copy(entry, world, &model, i, &s->bodies[entry->range.first + i]);
    }
    model_free(&model);
    if (result != LM_OK && error->text[0] == '\0') {
        report_result(s, result, &entry->head, NULL, error);
    }
    return result;
}
