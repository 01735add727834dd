/*
 * Where blades went, at rest (skin/slit.h): the facets of a sheet that are in a part of the body or near it. From points of the sheet whose
 * place at rest is known, others beside them are found.
 */
#include "lattice/lattice_body.h"
#include "skin/slit.h"

#include <string.h>

#define NONE LMI_SHEET_NONE
#define BEYOND 1.5 /* spacings outside of cells */

typedef struct finder {
    const lmi_body *body;
    const lmi_sheet *sheet;
    const lmi_clip *clip;
    uint32_t part;
    double (*at)[3]; /* [points of the sheet] */
    uint8_t *known;  /* [points of the sheet] 1: there, 2: too far away */
} finder;

/* Finds a point from a place that is near it. */
static void find(finder *f, uint32_t point, const double guess[3])
{
    memcpy(f->at[point], guess, sizeof *f->at);
    lmi_slit_find_rest(f->body, f->part, f->sheet->points[point], f->at[point]);
    f->known[point] = lmi_slit_is_near(f->body, f->part, f->at[point], BEYOND) ? 1 : 2;
}

/* Points that are nodes, and the corners of facets with faces. */
static void start(finder *f, const double (*rest)[3])
{
    for (uint32_t n = 0; n < f->clip->node_count; n++) {
        const uint32_t point = f->clip->nodes[n].point;
        if (point != NONE) {
            memcpy(f->at[point], rest[n], sizeof *rest);
            f->known[point] = 1;
        }
    }
    for (uint32_t n = 0; n < 3 * f->clip->face_count; n++) {
        const lmi_clip_face *face = &f->clip->faces[n / 3];
        const uint32_t point = f->sheet->facets[face->facet][n % 3];
        if (!f->known[point]) {
            find(f, point, rest[face->node[0]]);
        }
    }
}

static void go_on(finder *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < 3 * f->sheet->facet_count; n++) {
            const uint32_t *facet = f->sheet->facets[n / 3], from = facet[n % 3];
            for (uint32_t i = 1; i < 3 && f->known[from] == 1; i++) {
                const uint32_t to = facet[(n % 3 + i) % 3];
                if (!f->known[to]) {
                    find(f, to, f->at[from]);
                    changed = true;
                }
            }
        }
    }
}

static bool add_walls(lm_world *world, const finder *f, lmi_slit_plan *p)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < f->sheet->facet_count; n++) {
        const uint32_t *facet = f->sheet->facets[n];
        if (f->known[facet[0]] != 1 || f->known[facet[1]] != 1 || f->known[facet[2]] != 1) {
            continue;
        }
        void *walls = p->walls;
        ok = lmi_reserve(&world->memory, &walls, &p->wall_room, p->wall_count + 1, sizeof *p->walls);
        p->walls = walls;
        for (int i = 0; ok && i < 3; i++) {
            p->walls[p->wall_count][i] = vec_from(lmi_slit_rest(&f->body->lattice->shape, f->at[facet[i]]));
        }
        p->wall_count += ok;
    }
    return ok;
}

bool lmi_slit_walls(lm_world *world, const lmi_body *body, lmi_slit_plan *p, const double (*rest)[3],
                    const uint32_t *first_node)
{
    const size_t points = p->sheet.point_count;
    finder f = {.body = body, .sheet = &p->sheet};
    f.at = lmi_allocate(&world->memory, points, sizeof *f.at);
    f.known = lmi_allocate(&world->memory, points, sizeof *f.known);
    bool ok = f.at && f.known;
    for (uint32_t part = 0; ok && part < p->clip_count; part++) {
        if (p->clips[part].face_count == 0) {
            continue;
        }
        f.clip = &p->clips[part];
        f.part = part;
        memset(f.known, 0, points * sizeof *f.known);
        start(&f, rest + first_node[part]);
        go_on(&f);
        ok = add_walls(world, &f, p);
    }
    lmi_release(&world->memory, f.at, points, sizeof *f.at);
    lmi_release(&world->memory, f.known, points, sizeof *f.known);
    return ok;
}
