/*
 * Skins of octrees whose cells were divided or joined: a vertex that rides on other leaves now is elsewhere, by a small part of a
 * cell. The difference is added to where it is shown, and fades (lmi_skin.fading). Nothing but the picture knows of it.
 */
#include "octree/octree_change.h"
#include "skin/skin.h"

bool lmi_octree_fade_begin(lmi_octree_change *c)
{
    const lmi_body *old = c->body;
    uint32_t count = old->skin.vertex_count;
    if (count == 0 || c->slashes.count) {
        return true; /* a cut is seen at once */
    }
    c->fading = lmi_allocate_plain(&c->world->memory, count, sizeof *c->fading);
    c->fading_count = count;
    for (uint32_t n = 0; c->fading && n < count; n++) {
        c->fading[n] = vec_from(lmi_skin_vertex(old, n));
    }
    return c->fading != NULL;
}

void lmi_octree_fade_end(lmi_octree_change *c)
{
    lmi_skin *skin = &c->body->skin;
    if (!c->fading || c->fading_count != skin->vertex_count) {
        return; /* its vertices are others */
    }
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        lm_dvec3 was = dvec_from(c->fading[n]);
        c->fading[n] = vec_from(dvec_sub(was, lmi_skin_vertex(c->body, n)));
    }
    skin->fading = c->fading;
    skin->fading_left = LMI_SKIN_FADES;
    c->fading = NULL;
}
