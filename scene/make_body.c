/* Bodies from their entries: copies on a grid, variation, material, starting state. */
#include "scene/model.h"

#include <stdlib.h>
#include <string.h>

static bool given(const scene_head *head, const char *name) { return lmi_json_get(head->json, name) != NULL; }

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

    random_source source = lmi_random_start(repeat->seed, index);
    lm_dvec3 jitter = lmi_random_vector(&source);
    lm_dvec3 turn = lmi_random_vector(&source);
    double size = lmi_random_signed(&source);
    lm_dvec3 velocity = lmi_random_vector(&source);
    lm_dvec3 spin = lmi_random_vector(&source);
    c.at =
        vector_add(c.at, vector(jitter.x * repeat->jitter.x, jitter.y * repeat->jitter.y, jitter.z * repeat->jitter.z));
    const scene_vary *vary = repeat->vary;
    if (vary != NULL) {
        rotation more =
            lmi_rotation_from_euler(vector(turn.x * vary->rotate.x, turn.y * vary->rotate.y, turn.z * vary->rotate.z));
        c.rotate = lmi_rotation_then(c.rotate, more);
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
    } else if (lmi_json_get(from->head.json, "size") != NULL) {
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

void lmi_material_apply(const scene_material *from, bool only_given, lm_material *to)
{
    const json_value *json = from->head.json;
    if (lmi_json_get(json, "preset") != NULL) {
        lm_material_preset(lm_material_preset_name(from->preset), to, NULL);
        only_given = true;
    }
#define APPLY(member)                                                                                                  \
    if (!only_given || lmi_json_get(json, #member) != NULL) to->member = (float)from->member
    if (!only_given || lmi_json_get(json, "mode") != NULL) {
        to->mode = (lm_mode)from->mode;
    }
    if (!only_given || lmi_json_get(json, "damping_kind") != NULL) {
        to->damping_kind = (lm_damping)from->damping_kind;
    }
    if (!only_given || lmi_json_get(json, "damping_every") != NULL) {
        to->damping_every = from->damping_every;
    }
    APPLY(hertz);
    APPLY(young);
    APPLY(poisson);
    APPLY(sag);
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
    if (lmi_json_get(json, "alpha") != NULL || lmi_json_get(json, "damping") != NULL) {
        to->stiffness = LM_STIFFNESS_ALPHA;
    } else if (lmi_json_get(json, "young") != NULL) {
        to->stiffness = LM_STIFFNESS_YOUNG;
    } else if (lmi_json_get(json, "sag") != NULL) {
        to->stiffness = LM_STIFFNESS_SAG;
    } else if (lmi_json_get(json, "hertz") != NULL) {
        to->stiffness = LM_STIFFNESS_HERTZ;
    } else if (!only_given || (to->stiffness == LM_STIFFNESS_ALPHA && lmi_json_get(json, "damping_ratio") != NULL)) {
        to->stiffness = LM_STIFFNESS_GIVEN;
    }
}

/* Puts the particles where the entry's `state` wants them. `points` are their rest positions, which it writes over. */
static lm_result apply_state(lm_world *world, lm_body_id id, const scene_deform *state, const copy *c, lm_vec3 *points,
                             uint32_t count, lm_dvec3 *displaced)
{
    lmi_deform_points(state, points, count, displaced);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = vector_narrow(lmi_rotation_apply(c->rotate, displaced[i]));
    }
    return lm_body_set_state(world, id, c->at, points, NULL);
}

static lm_result set_skin(const scene_body_entry *entry, lm_world *world, lm_body_id id, const body_model *model,
                          double scale)
{
    bool finer = model->surface.vertex_count > 0;
    const lm_shape_mesh *mesh = finer ? &model->surface : &model->mesh;
    for (uint32_t i = 0; i < model->surface.vertex_count; i++) {
        model->scaled_surface[i] = vector_narrow(vector_scale(vector_widen(model->surface.vertices[i]), scale));
    }
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = entry->surface != NULL ? (lm_skin_kind)entry->surface->skin : LM_SKIN_PARTICLES;
    skin.vertices = finer ? model->scaled_surface : model->scaled; /* else the lattice's mesh, or the first particles */
    skin.vertex_count = mesh->vertex_count;
    skin.triangles = mesh->triangles;
    skin.triangle_count = mesh->triangle_count;
    return lm_body_set_skin(world, id, &skin);
}

static lm_scene_colours colours_of(const scene_body_entry *entry, uint32_t index)
{
    if (given(&entry->head, "colour")) {
        return (lm_scene_colours){entry->colour, 1};
    }
    if (entry->colours.count > 0) {
        return (lm_scene_colours){(const uint8_t *)entry->colours.items + 3u * (index % entry->colours.count), 1};
    }
    return (lm_scene_colours){entry->own_colours.items, entry->own_colours.count};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Lattices and tetrahedra
 *
 * Where their particles are is known once they are made, and depends on the size of the copy: what the entry says of single
 * particles is worked out for each.
 */

static lm_lattice lattice_of(const scene_body_entry *entry, const body_model *model, double scale)
{
    lm_lattice lattice = lm_body_def_default().lattice;
    const scene_lattice *from = entry->lattice;
    lattice.vertices = model->scaled;
    lattice.vertex_count = model->mesh.vertex_count;
    lattice.triangles = model->mesh.triangles;
    lattice.triangle_count = model->mesh.triangle_count;
    lattice.spacing = (float)(from->spacing * scale); /* a larger copy has as many particles */
    lattice.particles = from->particles;
    lattice.width = from->width;
    lattice.width_metres = (float)(from->width_metres * scale);
    lattice.mass = (lm_lattice_mass)from->mass;
    lattice.shell = from->shell;
    return lattice;
}

static lm_tets tets_of(const scene_body_entry *entry, const body_model *model, double scale)
{
    lm_tets tets = lm_body_def_default().tets;
    tets.mass = (lm_tets_mass)entry->tets->mass;
    if (model->tet_count > 0) {
        for (uint32_t i = 0; i < model->tet_point_count; i++) {
            model->scaled_tet_points[i] = vector_narrow(vector_scale(vector_widen(model->tet_points[i]), scale));
        }
        tets.vertices = model->scaled_tet_points;
        tets.vertex_count = model->tet_point_count;
        tets.tets = model->tets;
        tets.tet_count = model->tet_count;
        return tets;
    }
    tets.vertices = model->scaled;
    tets.vertex_count = model->mesh.vertex_count;
    tets.triangles = model->mesh.triangles;
    tets.triangle_count = model->mesh.triangle_count;
    tets.spacing = (float)(entry->tets->spacing * scale); /* as for a lattice */
    tets.particles = entry->tets->particles;
    return tets;
}

/* Values of the vertices of what an octree is made of, from zones at the entry's own size; null: none are given. */
static float *values_of_vertices(const scene_list *zones, const scene_list *parts, const body_model *model,
                                 double whole, lm_result *result)
{
    if ((zones->count == 0 && parts->count == 0) || *result != LM_OK) {
        return NULL;
    }
    float *values = malloc(model->mesh.vertex_count * sizeof *values);
    *result = values != NULL ? LM_OK : LM_ERROR_MEMORY;
    for (uint32_t i = 0; values != NULL && i < model->mesh.vertex_count; i++) {
        values[i] = (float)(whole * lmi_zone_value(zones, model->mesh.vertices[i]));
        for (uint32_t k = 0; k < parts->count; k++) {
            const scene_part *part = LIST_ITEM(scene_part, *parts, k);
            const lm_shape_group *group =
                lm_shape_find_group(&model->mesh, part->group); /* prepare has looked for it */
            values[i] *= group != NULL ? (float)(1.0 + (part->value - 1.0) * (double)group->weights[i]) : 1.0f;
        }
    }
    return values;
}

/* The longest side of the mesh's box. */
static double longest_side(const lm_shape_mesh *mesh)
{
    lm_vec3 low = mesh->vertices[0], high = low;
    for (uint32_t i = 1; i < mesh->vertex_count; i++) {
        lm_vec3 p = mesh->vertices[i];
        low = (lm_vec3){fminf(low.x, p.x), fminf(low.y, p.y), fminf(low.z, p.z)};
        high = (lm_vec3){fmaxf(high.x, p.x), fmaxf(high.y, p.y), fmaxf(high.z, p.z)};
    }
    return (double)fmaxf(high.x - low.x, fmaxf(high.y - low.y, high.z - low.z));
}

static lm_octree octree_of(const scene_body_entry *entry, const body_model *model, double scale)
{
    const scene_octree *from = entry->octree;
    lm_octree octree = lm_body_def_default().octree;
    octree.vertices = model->scaled;
    octree.vertex_count = model->mesh.vertex_count;
    octree.triangles = model->mesh.triangles;
    octree.triangle_count = model->mesh.triangle_count;
    octree.spacing = (float)(from->spacing * scale);
    octree.levels = from->levels;
    octree.detail = (float)from->detail;
    octree.particles = from->particles;
    octree.width = (float)(from->width * scale);
    octree.slack = (float)from->slack;
    octree.shell = from->shell;
    return octree;
}

typedef struct particle_arrays {
    uint32_t count;
    lm_vec3 *rest;
    lm_dvec3 *displaced;
    float *values;
} particle_arrays;

static void particle_arrays_free(particle_arrays *p)
{
    free(p->rest);
    free(p->displaced);
    free(p->values);
}

static lm_result particle_arrays_read(lm_world *world, lm_body_id id, particle_arrays *p)
{
    lm_body_info info;
    lm_result result = lm_body_get_info(world, id, &info);
    if (result != LM_OK) {
        return result;
    }
    p->count = info.particles;
    p->rest = malloc(info.particles * sizeof *p->rest);
    p->displaced = malloc(info.particles * sizeof *p->displaced);
    p->values = malloc(info.particles * sizeof *p->values);
    bool room = p->rest != NULL && p->displaced != NULL && p->values != NULL;
    return room ? lm_body_get_rest_positions(world, id, p->rest) : LM_ERROR_MEMORY;
}

/* Zones are given at the entry's own size. */
static void zones_of_particles(const scene_list *zones, double scale, const particle_arrays *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        p->values[i] = (float)lmi_zone_value(zones, vector_narrow(vector_scale(vector_widen(p->rest[i]), 1.0 / scale)));
    }
}

/* The same body again, its particles heavier or lighter by the factors of the zones, and as heavy as a whole. */
static lm_result remake_with_masses(const scene_body_entry *entry, lm_world *world, const lm_body_def *def,
                                    double scale, const particle_arrays *p, lm_body_id *id)
{
    lm_body_def weighed = *def;
    float *masses = malloc(p->count * sizeof *masses);
    lm_result result = masses != NULL ? lm_body_get_masses(world, *id, masses) : LM_ERROR_MEMORY;
    double sum = 0.0;
    zones_of_particles(&entry->mass_zones, scale, p);
    for (uint32_t i = 0; i < p->count && result == LM_OK; i++) {
        p->values[i] *= masses[i];
        sum += (double)p->values[i];
    }
    for (uint32_t i = 0; i < p->count; i++) {
        p->values[i] = (float)((double)p->values[i] / sum * (double)def->mass);
    }
    free(masses);
    weighed.masses = p->values;
    result = result ? result : lm_body_destroy(world, *id);
    return result ? result : lm_body_create(world, &weighed, id);
}

static lm_result finish_divided(const scene_body_entry *entry, lm_world *world, const lm_body_def *def, const copy *c,
                                lm_body_id *id)
{
    if (entry->mass_zones.count == 0 && entry->stiffness_zones.count == 0 && entry->state == NULL) {
        return LM_OK;
    }
    particle_arrays p = {.count = 0};
    lm_result result = particle_arrays_read(world, *id, &p);
    if (result == LM_OK && entry->mass_zones.count > 0) {
        result = remake_with_masses(entry, world, def, c->scale, &p, id);
    }
    if (result == LM_OK && entry->stiffness_zones.count > 0) {
        zones_of_particles(&entry->stiffness_zones, c->scale, &p);
        result = lm_body_set_particle_stiffness(world, *id, p.values);
    }
    if (result == LM_OK && entry->state != NULL) {
        result = apply_state(world, *id, entry->state, c, p.rest, p.count, p.displaced);
    }
    particle_arrays_free(&p);
    return result;
}

static lm_result make_fracture(const scene_body_entry *entry, lm_world *world, lm_body_id id, double scale)
{
    const scene_fracture *from = entry->fracture;
    if (from == NULL) {
        return LM_OK;
    }
    particle_arrays p = {0};
    lm_fracture_def def = lm_fracture_def_default();
    def.limit = (float)from->limit;
    def.variation = (float)from->variation;
    def.seed = from->seed;
    def.grain = (float)(from->grain * scale);
    def.grain_strength = (float)from->grain_strength;
    lm_result result = LM_OK;
    if (from->zones.count > 0) {
        result = particle_arrays_read(world, id, &p);
        if (result == LM_OK) {
            zones_of_particles(&from->zones, scale, &p);
            def.factors = p.values;
        }
    }
    result = result ? result : lm_body_set_fracture(world, id, &def);
    particle_arrays_free(&p);
    return result;
}

static lm_result make_detail(const scene_body_entry *entry, lm_world *world, lm_body_id id, double scale)
{
    const scene_detail *from = entry->detail;
    if (from == NULL) {
        return LM_OK;
    }
    lm_detail detail = lm_detail_default();
    detail.touch_size = (float)(from->touch_size * scale);
    detail.touch_radius = (float)(from->touch_radius * scale);
    detail.eye_angle = (float)(from->eye_angle * RADIANS_PER_DEGREE);
    detail.finest = (float)(from->finest * scale);
    detail.coarsest = (float)(from->coarsest * scale);
    detail.budget = from->budget;
    detail.per_step = from->per_step;
    detail.hold = (float)from->hold;
    return lm_body_set_detail(world, id, &detail);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Bodies
 */

/* All but what the particles are. */
static lm_body_def describe(const scene_body_entry *entry, const body_model *model, const copy *c, uint32_t index)
{
    lm_body_def def = lm_body_def_default();
    def.mass = (float)entry->mass;
    if (lmi_json_get(entry->head.json, "density") != NULL) {
        def.mass = (float)(entry->density * model->volume * c->scale * c->scale * c->scale);
    }
    if (entry->material != NULL) {
        lmi_material_apply(entry->material, false, &def.material);
        lm_material named;
        if (given(&entry->material->head, "preset") && !given(&entry->head, "mass") &&
            !given(&entry->head, "density") && !given(&entry->head, "masses")) {
            lm_material_preset(lm_material_preset_name(entry->material->preset), &named, &def.density);
        }
    }
    def.contact_radius = (float)entry->contact_radius;
    def.collider_mask = entry->collider_mask;
    def.penalty = (float)entry->penalty;
    def.may_sleep = entry->may_sleep;
    def.contact_points = (lm_contact_points)entry->contact_points;
    def.group = entry->group;
    def.mask = entry->mask;
    def.self_contact = entry->self_contact;
    def.pose = (lm_pose){c->at, lmi_rotation_narrow(c->rotate)};
    def.velocity = vector_narrow(c->velocity);
    def.spin = vector_narrow(vector_scale(c->spin, RADIANS_PER_DEGREE));
    def.user_data = entry->range.first + index;
    return def;
}

static lm_result make_divided(const scene_body_entry *entry, lm_world *world, body_model *model, const copy *c,
                              lm_body_def *def, lm_body_id *id)
{
    for (uint32_t i = 0; i < model->mesh.vertex_count; i++) {
        model->scaled[i] = vector_narrow(vector_scale(vector_widen(model->mesh.vertices[i]), c->scale));
    }
    if (entry->lattice != NULL) {
        def->lattice = lattice_of(entry, model, c->scale);
    } else if (entry->tets != NULL) {
        def->tets = tets_of(entry, model, c->scale);
    } else {
        def->octree = octree_of(entry, model, c->scale);
    }
    lm_result result = LM_OK;
    float *widths = NULL, *sizes = NULL;
    if (entry->octree != NULL) {
        double spacing = entry->octree->spacing > 0.0 ? entry->octree->spacing : longest_side(&model->mesh) / 64.0;
        double base = c->scale * spacing * (double)(1u << entry->octree->levels);
        double width = entry->octree->width > 0.0 ? c->scale * entry->octree->width : base;
        const scene_octree *o = entry->octree;
        const scene_list none = {0};
        widths = values_of_vertices(&o->width_zones, &o->width_groups, model, width, &result);
        sizes = values_of_vertices(&o->size_zones, &none, model, base, &result);
        def->octree.vertex_widths = widths;
        def->octree.vertex_sizes = sizes;
    }
    result = result ? result : lm_body_create(world, def, id);
    result = result ? result : finish_divided(entry, world, def, c, id);
    free(widths);
    free(sizes);
    return result ? result : set_skin(entry, world, *id, model, c->scale);
}

static lm_result make_cloud(const scene_body_entry *entry, lm_world *world, body_model *model, const copy *c,
                            lm_body_def *def, lm_body_id *id)
{
    for (uint32_t i = 0; i < model->point_count; i++) {
        model->scaled[i] = vector_narrow(vector_scale(vector_widen(model->points[i]), c->scale));
    }
    for (uint32_t i = 0; model->shares != NULL && i < model->point_count; i++) {
        model->masses[i] = (float)(def->mass * model->shares[i]);
    }
    def->points = model->scaled;
    def->point_count = model->point_count;
    def->masses = model->masses;
    def->clusters = clusters_of(entry, model, c->scale);
    lm_result result = lm_body_create(world, def, id);
    if (result == LM_OK && model->mesh.vertex_count > 0) {
        result = set_skin(entry, world, *id, model, c->scale);
    }
    if (result == LM_OK && model->stiffness != NULL) {
        result = lm_body_set_particle_stiffness(world, *id, model->stiffness);
    }
    if (result == LM_OK && entry->state != NULL) {
        result = apply_state(world, *id, entry->state, c, model->scaled, model->point_count, model->displaced);
    }
    return result;
}

static lm_result make_copy(const scene_body_entry *entry, lm_world *world, body_model *model, uint32_t index, copy c,
                           made_body *body)
{
    lm_body_def def = describe(entry, model, &c, index);
    body->at = c.at;
    body->rotate = c.rotate;
    body->scale = c.scale;
    body->rest_volume = model->drawn_volume * c.scale * c.scale * c.scale;
    body->colours = colours_of(entry, index);
    body->texture = entry->own_texture;
    body->label = entry->label;
    lm_result result = is_divided(entry) ? make_divided(entry, world, model, &c, &def, &body->id)
                                         : make_cloud(entry, world, model, &c, &def, &body->id);
    result = result ? result : lmi_make_examples(entry, model, world, body->id, c.scale);
    result = result ? result : lmi_make_skeleton(entry, model, world, body);
    result = result ? result : make_detail(entry, world, body->id, c.scale);
    return result ? result : make_fracture(entry, world, body->id, c.scale);
}

/* A solid has at least a particle for each cell's worth of its volume: one that is far too fine is refused before it takes
 * any memory. */
static uint64_t least_particles(const scene_body_entry *entry, const body_model *model)
{
    bool shell = (entry->lattice != NULL && entry->lattice->shell) || entry->octree != NULL;
    double spacing = entry->lattice != NULL ? entry->lattice->spacing
                     : entry->tets != NULL  ? entry->tets->spacing
                                            : 0.0;
    if (shell || !(spacing > 0.0) || !model->closed) {
        return 0;
    }
    double cells = model->volume / (spacing * spacing * spacing);
    return cells < 1e9 ? (uint64_t)(cells + 0.5) : 0; /* beyond, the library says how many cells there would be */
}

/* The field that says what is made of a shape or mesh; null: none does. */
static const char *divided_field(const scene_body_entry *entry)
{
    return entry->lattice != NULL ? "lattice" : entry->tets != NULL ? "tets" : entry->octree != NULL ? "octree" : NULL;
}

/* The parts that an octree's entry names must be there. */
static lm_result check_parts(const lm_scene *s, const scene_body_entry *entry, const body_model *model,
                             lm_scene_error *error)
{
    for (uint32_t k = 0; entry->octree != NULL && k < entry->octree->width_groups.count; k++) {
        const scene_part *part = LIST_ITEM(scene_part, entry->octree->width_groups, k);
        if (lm_shape_find_group(&model->mesh, part->group) == NULL) {
            lmi_report_field(error, s->name, &part->head, "group",
                             "is \"%.40s\" (expected a part that the model names)", part->group);
            return LM_ERROR_ARGUMENT;
        }
    }
    return LM_OK;
}

/* All copies together may not have more than a scene holds: found before they are all made. */
static lm_result check_total(lm_scene *s, const scene_body_entry *entry, uint64_t total, lm_scene_error *error)
{
    if (total <= SCENE_MAX_PARTICLES) {
        return LM_OK;
    }
    lmi_report_field(error, s->name, &entry->head, divided_field(entry),
                     "asks for %llu particles (expected at most %u in all)", (unsigned long long)total,
                     SCENE_MAX_PARTICLES);
    return LM_ERROR_LIMIT;
}

lm_result lmi_make_bodies(lm_scene *s, lm_world *world, scene_body_entry *entry, uint64_t *particles,
                          lm_scene_error *error)
{
    body_model model = {.points = NULL};
    error->text[0] = '\0';
    lm_result result = lmi_model_make(s, entry, &model, error);
    result = result ? result : lmi_model_keep_colours(s, entry, &model);
    result = result ? result : lmi_model_keep_texture(s, entry, &model);
    result = result ? result : check_parts(s, entry, &model, error);
    result = result ? result : lmi_model_keep_rig(s, entry, &model, error);
    uint64_t wanted = *particles + (uint64_t)model.point_count * entry->range.count;
    result = result ? result : check_total(s, entry, wanted + least_particles(entry, &model), error);
    for (uint32_t i = 0; i < entry->range.count && result == LM_OK; i++) {
        made_body *body = &s->bodies[entry->range.first + i];
        result = make_copy(entry, world, &model, i, place_copy(entry, i), body);
        if (result == LM_OK && is_divided(entry)) {
            lm_body_info info;
            result = lm_body_get_info(world, body->id, &info);
            wanted += info.particles;
            uint64_t rest = i == 0 ? (uint64_t)info.particles * (entry->range.count - 1) : 0;
            result = result ? result : check_total(s, entry, wanted + rest, error);
        }
    }
    *particles = wanted;
    lmi_model_free(&model);
    if (result != LM_OK && error->text[0] == '\0') {
        lmi_report_result(s, result, &entry->head, divided_field(entry), error);
    }
    return result;
}

lm_result lmi_make_again(lm_scene *s, lm_world *world, const scene_body_entry *entry, uint32_t index, lm_dvec3 at,
                         made_body *body, lm_scene_error *error)
{
    body_model model = {.points = NULL};
    scene_body_entry at_rest = *entry;
    at_rest.state = NULL;
    copy c = place_copy(entry, index);
    c.at = at;
    c.velocity = c.spin = lm_dvec3_zero();
    error->text[0] = '\0';
    lm_result result = lmi_model_make(s, &at_rest, &model, error);
    result = result ? result : make_copy(&at_rest, world, &model, index, c, body);
    if (result != LM_OK && body->id.slot != 0) {
        lm_body_destroy(world, body->id); /* only its surface could not be made */
    }
    lmi_model_free(&model);
    if (result != LM_OK && error->text[0] == '\0') {
        lmi_report_result(s, result, &entry->head, NULL, error);
    }
    return result;
}
