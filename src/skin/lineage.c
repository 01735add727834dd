#include "skin/lineage.h"
#include "skin/slit.h"

lmi_lineage *lmi_lineage_make(lm_world *world, uint32_t count)
{
    lmi_memory *memory = &world->memory;
    lmi_lineage *l = lmi_allocate(memory, 1, sizeof *l);
    if (!l) {
        return NULL;
    }
    l->count = count;
    l->sources = lmi_allocate(memory, count, sizeof *l->sources);
    l->uv = lmi_allocate(memory, count, sizeof *l->uv);
    l->material = lmi_allocate(memory, count, sizeof *l->material);
    l->normals = lmi_allocate(memory, count, sizeof *l->normals);
    if (!l->sources || !l->uv || !l->material || !l->normals) {
        lmi_lineage_free(world, l);
        return NULL;
    }
    return l;
}

void lmi_lineage_free(lm_world *world, lmi_lineage *l)
{
    lmi_memory *memory = &world->memory;
    if (l) {
        lmi_release(memory, l->sources, l->count, sizeof *l->sources);
        lmi_release(memory, l->uv, l->count, sizeof *l->uv);
        lmi_release(memory, l->material, l->count, sizeof *l->material);
        lmi_release(memory, l->normals, l->count, sizeof *l->normals);
        lmi_release(memory, l, 1, sizeof *l);
    }
}

uint32_t lmi_lineage_source(const lmi_body *body, const lmi_skin *skin, uint32_t vertex)
{
    const uint32_t given = skin->sources ? skin->sources[vertex] : vertex;
    return body->lineage && given != LM_SKIN_INNER ? body->lineage->sources[given] : given;
}

uint32_t lmi_lineage_cut(const lmi_body *body, const lmi_skin *skin, uint32_t vertex, float uv[2])
{
    const uint32_t given = skin->sources ? skin->sources[vertex] : vertex;
    const lmi_lineage *l = body->lineage;
    const lmi_slit *slit = skin == &body->skin ? body->slit : NULL;
    const bool fresh = given == LM_SKIN_INNER, old = !fresh && l;
    const float *from = old ? l->uv[given] : slit ? slit->uv[vertex] : NULL;
    uv[0] = from ? from[0] : 0.0f;
    uv[1] = from ? from[1] : 0.0f;
    return old ? l->material[given] : fresh && slit ? slit->material[vertex] : 0;
}
