/*
 * Which particles follow which bones: by distance of their rest positions from the bones, or as they are told.
 */
#include "skeleton/skeleton.h"
#include "world/world.h"

#include <string.h>

/* Weights given as floats that should add up to 1 may lack this much to it. */
#define NEARLY_ONE 0.9999

/* From a point to the segment of a bone, in the frame of the body. */
static double distance_to(const lm_bone *bone, lm_dvec3 point)
{
    dmat3 rotation = lmi_dmat_from_quat(bone->rest.rotation);
    lm_dvec3 along = dmat_apply(&rotation, dvec_from(bone->tail));
    lm_dvec3 arm = dvec_sub(point, bone->rest.position);
    double square = dvec_dot(along, along);
    double share = square > 0.0 ? fmax(0.0, fmin(1.0, dvec_dot(arm, along) / square)) : 0.0;
    return dvec_length(dvec_sub(arm, dvec_scale(along, share)));
}

/* 1 within the radius, smoothly 0 at the end of the fade. */
static double firmness(const lm_bone *bone, lm_dvec3 point)
{
    double beyond = distance_to(bone, point) - bone->radius;
    if (bone->radius < 0.0f) {
        return 0.0;
    }
    if (beyond <= 0.0) {
        return 1.0;
    }
    double t = bone->fade > 0.0f ? beyond / bone->fade : 2.0;
    return t < 1.0 ? (1.0 - t * t) * (1.0 - t * t) : 0.0;
}

uint64_t lmi_skeleton_reach(const lmi_body *body, const lm_bone *bones, uint32_t bone_count, lm_attachment *out)
{
    uint64_t count = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        lm_dvec3 point = dvec_from(body->rest[body->place[n]]);
        uint64_t first = count;
        double sum = 0.0, most = 0.0;
        for (uint32_t b = 0; b < bone_count; b++) {
            double weight = firmness(&bones[b], point);
            if (!(weight > 0.0)) {
                continue;
            }
            if (out) {
                lm_attachment found = {n, b, (float)weight};
                out[count] = found;
            }
            count++;
            sum += weight;
            most = fmax(most, weight);
        }
        for (uint64_t k = first; out && k < count; k++) {
            out[k].weight = (float)(out[k].weight * most / sum);
        }
    }
    return count;
}

/* --- from a list to links --- */

/* Sorts the links of one particle by bone and joins those of the same; returns how many are left. The weights are in
 * `share` still. */
static uint32_t sort_links(lmi_bone_link *links, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        lmi_bone_link moving = links[i];
        uint32_t k = i;
        for (; k > 0 && links[k - 1].bone > moving.bone; k--) {
            links[k] = links[k - 1];
        }
        links[k] = moving;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && links[kept - 1].bone == links[i].bone) {
            links[kept - 1].share += links[i].share;
        } else {
            links[kept++] = links[i];
        }
    }
    return kept;
}

/* Weights to shares; returns how firmly the particle is attached. */
static float share_out(lmi_bone_link *links, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        sum += links[k].share;
    }
    for (uint32_t k = 0; k < count; k++) {
        links[k].share = (float)(links[k].share / sum);
    }
    return sum >= NEARLY_ONE ? 1.0f : (float)sum;
}

/* All links by the caller's index of their particle: offsets[n] to offsets[n + 1]. */
static void deal_links(const lm_attachment *list, uint32_t count, uint32_t particle_count, uint32_t *offsets,
                       lmi_bone_link *links)
{
    for (uint32_t k = 0; k < count; k++) {
        offsets[list[k].particle + 1] += list[k].weight > 0.0f;
    }
    for (uint32_t n = 0; n < particle_count; n++) {
        offsets[n + 1] += offsets[n];
    }
    for (uint32_t k = 0; k < count; k++) { /* offsets[n] walks to the end of its particle ... */
        if (list[k].weight > 0.0f) {
            lmi_bone_link link = {list[k].bone, list[k].weight, {0.0, 0.0, 0.0}};
            links[offsets[list[k].particle]++] = link;
        }
    }
    for (uint32_t n = particle_count; n > 0; n--) { /* ... and back */
        offsets[n] = offsets[n - 1];
    }
    offsets[0] = 0;
}

static void place_links(const lmi_body *body, lmi_skeleton *s, const uint32_t *offsets, const uint32_t *kept,
                        const lmi_bone_link *links)
{
    uint32_t particle = 0, link = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        if (kept[n] == 0) {
            continue;
        }
        lm_dvec3 rest = dvec_from(body->rest[body->place[n]]);
        memcpy(s->links + link, links + offsets[n], kept[n] * sizeof *links);
        s->particles[particle] = body->place[n];
        s->weights[particle] = share_out(s->links + link, kept[n]);
        for (uint32_t k = link; k < link + kept[n]; k++) {
            const lm_pose *pose = &s->bones[s->links[k].bone].def.rest;
            dmat3 rotation = lmi_dmat_from_quat(pose->rotation);
            s->links[k].local = dmat_apply_transposed(&rotation, dvec_sub(rest, pose->position));
        }
        link += kept[n];
        s->offsets[++particle] = link;
    }
}

bool lmi_skeleton_attach(lmi_memory *memory, const lmi_body *body, lmi_skeleton *s, const lm_attachment *list,
                         uint32_t count)
{
    uint32_t particles = body->particle_count;
    uint32_t *offsets = lmi_allocate(memory, (size_t)particles + 1, sizeof *offsets);
    uint32_t *kept = lmi_allocate(memory, particles, sizeof *kept);
    lmi_bone_link *links = lmi_allocate(memory, count, sizeof *links);
    bool ok = offsets && kept && links;
    if (ok) {
        deal_links(list, count, particles, offsets, links);
        for (uint32_t n = 0; n < particles; n++) {
            kept[n] = sort_links(links + offsets[n], offsets[n + 1] - offsets[n]);
            s->particle_count += kept[n] > 0;
            s->link_count += kept[n];
        }
        ok = lmi_skeleton_allocate(memory, s);
    }
    if (ok) {
        place_links(body, s, offsets, kept, links);
    }
    lmi_release(memory, offsets, (size_t)particles + 1, sizeof *offsets);
    lmi_release(memory, kept, particles, sizeof *kept);
    lmi_release(memory, links, count, sizeof *links);
    return ok;
}
