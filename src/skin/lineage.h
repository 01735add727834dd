/*
 * What the skin of a body that was split off another was there: the surface of the other as it was given, and the faces that were cut into
 * it. The piece was given what was shown of it; through this its vertices still tell where they come from.
 */
#ifndef LMI_LINEAGE_H
#define LMI_LINEAGE_H

#include "world/world.h"

typedef struct lmi_lineage {
    uint32_t count;     /* vertices of the skin as the piece was given it */
    uint32_t *sources;  /* [count] as lm_body_get_skin_sources */
    float (*uv)[2];     /* [count] as lm_body_get_skin_cuts, as the next */
    uint32_t *material; /* [count] */
    lm_vec3 *normals;   /* [count] at rest, of a lattice; else zero: they are found from the triangles */
} lmi_lineage;

/* For so many vertices, all zero; null when out of memory. */
lmi_lineage *lmi_lineage_make(lm_world *world, uint32_t count);
void lmi_lineage_free(lm_world *world, lmi_lineage *lineage); /* null is allowed */

/* Of a vertex of the body's skin, or of another that its skin as it was given might be shown as: what lm_body_get_skin_sources and
 * lm_body_get_skin_cuts tell. */
uint32_t lmi_lineage_source(const lmi_body *body, const lmi_skin *skin, uint32_t vertex);
uint32_t lmi_lineage_cut(const lmi_body *body, const lmi_skin *skin, uint32_t vertex, float uv[2]);

#endif
