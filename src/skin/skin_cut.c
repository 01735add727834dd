/*
 * Skins of bodies that can break: what follows when a body gets one, and what its vertices come from.
 */
#include "base/hash.h"
#include "skin/skin.h"
#include "skin/skin_open.h"
#include "world/body.h"

#include <string.h>

bool lmi_fracture_skin(lm_world *world, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    if (!f) {
        return true;
    }
    lmi_opening *opening = NULL;
    if (body->skin.vertex_count) {
        opening = lmi_opening_make(world, body, &body->skin);
        if (!opening) {
            return false;
        }
    }
    lmi_opening_free(world, f->opening);
    lmi_skin_free(world, &f->whole);
    f->opening = opening;
    f->whole_hash = lmi_hash_shape(body);
    if (opening && f->broken) {
        f->whole = body->skin;
        body->skin = opening->ready;
        memset(&opening->ready, 0, sizeof opening->ready);
    }
    body->shape_hash = f->whole_hash + f->links_hash;
    return true;
}

lm_result lm_body_get_skin_sources(const lm_world *world, lm_body_id id, uint32_t *sources)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_skin_sources");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_skin_sources: the body has no skin");
    }
    for (uint32_t n = 0; n < body->skin.vertex_count; n++) {
        sources[n] = body->skin.sources ? body->skin.sources[n] : n;
    }
    return LM_OK;
}
