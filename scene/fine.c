/*
 * How fine the surfaces of bodies are that nobody has asked for, when a scene is made to be looked at.
 *
 * Particles are few: a model of forty has no eyes, and the light on a box of four edges a side bleeds around its corners.
 * What is drawn need not be as coarse as what is simulated. All triangles of a scene together stay within a limit: where
 * there are many bodies, all get surfaces less fine by the same share, down to those they have anyway.
 */
#include "scene/internal.h"

#include <math.h>
#include <string.h>

#define MOST_TRIANGLES 300000.0
#define MOST_TRIANGLES_EACH 20000.0 /* of a plain shape: a thin sheet would take any number */

#define MODEL_DETAIL 64      /* shows eyes and fingers */
#define PLAIN_DETAIL 24      /* narrow bevels, round outlines */
#define PLAIN_MOST_DETAIL 96 /* for sticks and sheets */
#define PLAIN_LEAST_ACROSS 8 /* edges across the thinnest side */

static bool is_plain(const char *name)
{
    return strcmp(name, "box") == 0 || strcmp(name, "sphere") == 0 || strcmp(name, "cylinder") == 0 ||
           strcmp(name, "torus") == 0;
}

lm_dvec3 lmi_size_of_shape(const scene_shape *shape)
{
    return lmi_json_get(shape->head.json, "size") != NULL
               ? shape->size
               : vector_widen(lm_shape_natural_size(lm_shape_name(shape->name)));
}

/* Two for each square of an edge's length on the box around the shape; others have less surface than that: the sphere half,
 * the cylinder most with three quarters. */
static double estimate_triangles(const scene_shape *shape, uint32_t detail)
{
    lm_dvec3 size = lmi_size_of_shape(shape);
    double edge = fmax(size.x, fmax(size.y, size.z)) / detail;
    double x = fmax(1.0, size.x / edge), y = fmax(1.0, size.y / edge), z = fmax(1.0, size.z / edge);
    double share = strcmp(lm_shape_name(shape->name), "box") == 0 ? 1.0 : 0.75;
    return share * 4.0 * (x * y + y * z + z * x);
}

static uint32_t wanted_detail(const scene_shape *shape)
{
    if (!is_plain(lm_shape_name(shape->name))) {
        return MODEL_DETAIL;
    }
    lm_dvec3 size = lmi_size_of_shape(shape);
    double thinness = fmax(size.x, fmax(size.y, size.z)) / fmin(size.x, fmin(size.y, size.z));
    double detail = fmin(fmax(PLAIN_DETAIL, PLAIN_LEAST_ACROSS * thinness), PLAIN_MOST_DETAIL);
    while (detail > PLAIN_DETAIL && estimate_triangles(shape, (uint32_t)detail) > MOST_TRIANGLES_EACH) {
        detail -= 1.0;
    }
    return (uint32_t)detail;
}

/* Whether there is another body that it touches. */
static bool has_company(const lm_scene *s, const scene_body_entry *entry)
{
    for (uint32_t i = 0; i < s->file->bodies.count; i++) {
        const scene_body_entry *other = LIST_ITEM(scene_body_entry, s->file->bodies, i);
        if ((other != entry || entry->range.count > 1) && (entry->group & other->mask) != 0 &&
            (other->group & entry->mask) != 0) {
            return true;
        }
    }
    return false;
}

/* Whether others, or colliders, touch the surface of the body: then what is drawn must be what was simulated. */
static bool is_touched(const lm_scene *s, const scene_body_entry *entry)
{
    return entry->lattice != NULL || entry->self_contact || entry->contact_points == LM_CONTACT_SURFACE ||
           has_company(s, entry);
}

/* With every detail lowered to a share of what is wanted. Returns the triangles of all bodies. */
static double choose_details(lm_scene *s, double share)
{
    double triangles = 0.0;
    for (uint32_t i = 0; i < s->file->bodies.count; i++) {
        scene_body_entry *entry = LIST_ITEM(scene_body_entry, s->file->bodies, i);
        if (entry->shape == NULL) {
            continue;
        }
        uint32_t own = entry->shape->detail;
        if (entry->surface != NULL || is_divided(entry) ||
            is_touched(s, entry)) { /* what is drawn is what it is made of */
            own = entry->surface != NULL && entry->surface->detail > 0 ? entry->surface->detail : own;
        } else {
            uint32_t detail = (uint32_t)(share * wanted_detail(entry->shape));
            entry->fine_detail = detail > own ? detail : 0;
            own = detail > own ? detail : own;
        }
        triangles += entry->range.count * estimate_triangles(entry->shape, own);
    }
    return triangles;
}

void lmi_choose_fine_details(lm_scene *s)
{
    for (uint32_t i = 0; i < s->file->bodies.count; i++) {
        LIST_ITEM(scene_body_entry, s->file->bodies, i)->fine_detail = 0;
    }
    if (!s->fine_surfaces) {
        return;
    }
    double share = 1.0;
    while (choose_details(s, share) > MOST_TRIANGLES && share * MODEL_DETAIL > 1.0) {
        share *= 0.95;
    }
}

void lm_scene_want_fine_surfaces(lm_scene *s, bool on) { s->fine_surfaces = on; }
