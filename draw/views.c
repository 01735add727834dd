/*
 * Views: what they show beside surfaces: particles, goals, links, bones and contacts.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t goal_colour[4] = {214, 40, 120, 255};
static const uint8_t bone_colour[4] = {236, 226, 196, 255};
static const uint8_t contact_colour[4] = {235, 60, 40, 230};

/* Where a particle is, in eye space. */
static void place_of(const draw_bodies *b, size_t body, uint32_t particle, vec3 out)
{
    glm_vec3_add(b->particle[b->list[body].first_particle + particle], b->anchor[body], out);
}

/* ---- particles ---- */

static bool fill_particles(draw_overlays *o, const draw_bodies *b, size_t index, float size, const draw_range *range)
{
    const draw_body *body = &b->list[index];
    for (uint32_t n = 0; n < body->particles; n++) {
        vec3 at;
        uint8_t rgba[4] = {0, 0, 0, 255};
        place_of(b, index, n, at);
        if (range) {
            draw_map_colour(b->particle_values[body->first_particle + n] / range->high, rgba);
        } else {
            memcpy(rgba, b->particle_colours[body->first_particle + n], 3);
        }
        if (!draw_overlays_ball(o, at, size * body->particle_radius, rgba)) {
            return false;
        }
    }
    return true;
}

/* ---- wires ---- */

/* The skins' edges where vertices are found on the host; as shaders/line.vert colours them. */
static bool fill_wires(draw_overlays *o, const draw_bodies *b, const draw_frame *frame, const draw_range *range)
{
    for (uint32_t n = 0; n < b->edges; n++) {
        draw_pair edge = b->edge[n];
        uint8_t rgba[4] = {0, 0, 0, 230}; /* nine tenths */
        if (range) {
            float value = 0.5f * (b->vertex_values[edge.first] + b->vertex_values[edge.second]);
            draw_map_colour(value / range->high, rgba);
        } else {
            memcpy(rgba, b->vertex_colours[edge.first], 3);
        }
        for (int k = 0; k < 3; k++) {
            float own = (float)rgba[k], ink = 255.0f * frame->wire_ink[k];
            rgba[k] = (uint8_t)(own + (ink - own) * frame->wire_ink[3] + 0.5f);
        }
        if (!draw_overlays_line(o, b->position[edge.first], b->position[edge.second], rgba)) {
            return false;
        }
    }
    return true;
}

/* ---- goals ---- */

static bool fill_goals(draw_overlays *o, draw_bodies *b, const draw_frame *frame, size_t index)
{
    const draw_body *body = &b->list[index];
    if (!draw_reserve(&b->scratch, &b->scratch_capacity, body->particles, sizeof *b->scratch)) {
        return false;
    }
    if (lm_body_get_goals(frame->world, body->id, frame->eye, b->scratch) != LM_OK) {
        return true; /* there was no step yet, so there are none */
    }
    for (uint32_t n = 0; n < body->particles; n++) {
        vec3 from, to = {b->scratch[n].x, b->scratch[n].y, b->scratch[n].z};
        place_of(b, index, n, from);
        if (!draw_overlays_ball(o, to, 0.3f * body->particle_radius, goal_colour) ||
            !draw_overlays_line(o, from, to, goal_colour)) {
            return false;
        }
    }
    return true;
}

/* ---- links ---- */

static bool fill_links(draw_overlays *o, const draw_bodies *b, const lm_world *world, size_t index, draw_error *error)
{
    const draw_body *body = &b->list[index];
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    bool ok = offsets && members && draw_could_read(lm_body_get_regions(world, body->id, offsets, members), error);
    for (uint32_t r = 0; ok && r < body->regions; r++) {
        vec3 middle = {0.0f, 0.0f, 0.0f}, at;
        uint8_t rgba[4] = {0, 0, 0, 150};
        draw_palette_region(r + 5 * body->id.slot, rgba);
        for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
            place_of(b, index, members[n], at);
            glm_vec3_muladds(at, 1.0f / (float)(offsets[r + 1] - offsets[r]), middle);
        }
        for (uint32_t n = offsets[r]; ok && n < offsets[r + 1]; n++) {
            place_of(b, index, members[n], at);
            ok = draw_overlays_line(o, middle, at, rgba);
        }
        rgba[3] = 255;
        ok = ok && draw_overlays_ball(o, middle, 0.7f * body->particle_radius, rgba);
    }
    free(offsets);
    free(members);
    return ok;
}

/* ---- bones ---- */

#define BONE_BALLS 12 /* from the joint to the tail, less and less thick */

static bool fill_bone(draw_overlays *o, const draw_body *body, const lm_bone *bone, const lm_pose *pose, lm_dvec3 eye)
{
    double m[3][3];
    const double tail[3] = {bone->tail.x, bone->tail.y, bone->tail.z};
    lm_dvec3 joint = draw_subtract(pose->position, eye);
    const double from[3] = {joint.x, joint.y, joint.z};
    draw_rotation(pose->rotation, m);
    for (int n = 0; n < BONE_BALLS; n++) {
        double share = n / (BONE_BALLS - 1.0);
        vec3 at;
        for (int k = 0; k < 3; k++) {
            double along = m[k][0] * tail[0] + m[k][1] * tail[1] + m[k][2] * tail[2];
            at[k] = (float)(from[k] + share * along);
        }
        float radius = body->particle_radius * (n == 0 ? 1.2f : (float)(0.8 - 0.4 * share));
        if (!draw_overlays_ball(o, at, radius, bone_colour)) {
            return false;
        }
    }
    return true;
}

static bool fill_bones(draw_overlays *o, const draw_body *body, const draw_frame *frame, draw_error *error)
{
    lm_skeleton_id id;
    lm_skeleton_info info;
    if (!draw_could_read(lm_body_get_skeleton(frame->world, body->id, &id), error) || id.slot == 0) {
        return !error->text[0];
    }
    if (!draw_could_read(lm_skeleton_get_info(frame->world, id, &info), error)) {
        return false;
    }
    lm_bone *bones = malloc(info.bones * sizeof *bones);
    lm_pose *poses = malloc(info.bones * sizeof *poses);
    bool ok = bones && poses && draw_could_read(lm_skeleton_get_bones(frame->world, id, bones), error) &&
              draw_could_read(lm_skeleton_get_poses(frame->world, id, poses), error);
    for (uint32_t n = 0; ok && n < info.bones; n++) {
        ok = fill_bone(o, body, &bones[n], &poses[n], frame->eye);
    }
    free(bones);
    free(poses);
    return ok;
}

/* ---- contacts ---- */

/* The distance of a point from a collider's surface, below 0 inside, and the way out. */
static double distance_from(const lm_collider_def *def, const double m[3][3], lm_dvec3 from, double normal[3])
{
    const double f[3] = {from.x, from.y, from.z};
    double p[3], n[3] = {0.0, 1.0, 0.0}, value;
    for (int k = 0; k < 3; k++) {
        p[k] = m[0][k] * f[0] + m[1][k] * f[1] + m[2][k] * f[2];
    }
    if (def->shape == LM_SHAPE_PLANE) {
        value = p[1];
    } else if (def->shape == LM_SHAPE_BOX) {
        const double half[3] = {def->half_extents.x, def->half_extents.y, def->half_extents.z};
        double out[3], square = 0.0;
        int nearest = 0;
        for (int k = 0; k < 3; k++) {
            out[k] = fmax(fabs(p[k]) - half[k], 0.0) * (p[k] < 0.0 ? -1.0 : 1.0);
            square += out[k] * out[k];
            nearest = fabs(p[k]) - half[k] > fabs(p[nearest]) - half[nearest] ? k : nearest;
        }
        value = square > 0.0 ? sqrt(square) : fabs(p[nearest]) - half[nearest];
        for (int k = 0; k < 3; k++) {
            n[k] = square > 0.0 ? out[k] / value : (k == nearest ? (p[k] < 0.0 ? -1.0 : 1.0) : 0.0);
        }
    } else {
        double half = def->shape == LM_SHAPE_CAPSULE ? (double)def->half_length : 0.0;
        p[1] -= fmax(-half, fmin(half, p[1]));
        double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        value = length - (double)def->radius;
        for (int k = 0; length > 0.0 && k < 3; k++) {
            n[k] = p[k] / length;
        }
    }
    for (int k = 0; k < 3; k++) {
        normal[k] = m[k][0] * n[0] + m[k][1] * n[1] + m[k][2] * n[2];
    }
    return value;
}

/* A mark where each particle of a body touches a collider, and a line along the normal there. */
static bool fill_contact(draw_overlays *o, const draw_bodies *b, size_t index, const lm_collider_def *def, lm_pose pose)
{
    const draw_body *body = &b->list[index];
    lm_dvec3 side = draw_subtract(body->upper, body->lower);
    double m[3][3], normal[3], slack = 1e-4 + 1e-3 * fmax(side.x, fmax(side.y, side.z));
    draw_rotation(pose.rotation, m);
    for (uint32_t n = 0; n < body->particles; n++) {
        vec3 at, to;
        const float *p = b->particle[body->first_particle + n];
        lm_dvec3 from = draw_subtract(body->centre, pose.position);
        from.x += (double)p[0], from.y += (double)p[1], from.z += (double)p[2];
        double away = distance_from(def, (const double(*)[3])m, from, normal);
        if (away > (double)body->contact_radius + slack) {
            continue;
        }
        place_of(b, index, n, at);
        for (int k = 0; k < 3; k++) {
            at[k] -= (float)(away * normal[k]);
            to[k] = at[k] + (float)(2.2 * (double)body->particle_radius * normal[k]);
        }
        if (!draw_overlays_ball(o, at, 0.35f * body->particle_radius, contact_colour) ||
            !draw_overlays_line(o, at, to, contact_colour)) {
            return false;
        }
    }
    return true;
}

static bool fill_contacts(draw_overlays *o, const draw_bodies *b, const draw_colliders *c, const draw_frame *frame,
                          draw_error *error)
{
    uint32_t count = lm_world_get_colliders(frame->world, NULL, 0);
    for (uint32_t k = 0; k < count; k++) {
        lm_collider_def def;
        lm_pose pose;
        if (!draw_could_read(lm_collider_get_def(frame->world, c->ids[k], &def), error) ||
            !draw_could_read(lm_collider_get_pose(frame->world, c->ids[k], &pose), error)) {
            return false;
        }
        for (size_t n = 0; n < b->count; n++) {
            if (!fill_contact(o, b, n, &def, pose)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- all of them ---- */

bool draw_views_fill(draw_overlays *o, draw_bodies *b, const draw_colliders *c, const draw_frame *frame,
                     const draw_range *range, draw_error *error)
{
    o->ball_count = o->line_count = o->wire_lines = o->solid_balls = o->solid_lines = 0;
    bool wires = frame->settings->bodies && (frame->views & DRAW_WIREFRAME) && b->on_host;
    bool ok = !wires || fill_wires(o, b, frame, range);
    o->wire_lines = o->line_count;
    for (size_t n = 0; ok && frame->settings->bodies && n < b->count; n++) {
        bool bare = b->list[n].vertices == 0 && (frame->views & (DRAW_SURFACE | DRAW_WIREFRAME));
        if (bare || (frame->views & DRAW_PARTICLES)) {
            ok = fill_particles(o, b, n, bare && !(frame->views & DRAW_PARTICLES) ? 1.0f : 0.6f, range);
        }
        ok = ok && (!(frame->views & DRAW_GOALS) || fill_goals(o, b, frame, n));
        ok = ok && (!(frame->views & DRAW_LINKS) || fill_links(o, b, frame->world, n, error));
        ok = ok && (!(frame->views & DRAW_BONES) || fill_bones(o, &b->list[n], frame, error));
    }
    o->solid_balls = o->ball_count;
    o->solid_lines = o->line_count;
    ok = ok && (!(frame->settings->bodies && (frame->views & DRAW_CONTACTS)) || fill_contacts(o, b, c, frame, error));
    return ok || draw_give_up(error);
}
