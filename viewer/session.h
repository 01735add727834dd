/*
 * A scene being played with: its world, what was done to it, and the last ten seconds of both.
 *
 * No window and no graphics: the viewer's actions are calls of this header, and tests make the same calls.
 */
#ifndef LIMBER_VIEWER_SESSION_H
#define LIMBER_VIEWER_SESSION_H

#include "viewer/timeline.h"

typedef struct session_options {
    uint32_t threads;        /* 0: one for each core */
    lm_isa isa;              /* LM_ISA_BEST: the widest there is */
    const char *const *sets; /* "PATH=VALUE" */
    uint32_t set_count;
    const char *device; /* as in lm_world_def; null: the CPU */
    const lm_gl *gl;    /* likewise */
} session_options;

typedef struct session session;

struct session {
    char *name; /* as it was asked for */
    lm_scene *scene;
    lm_world *world;
    uint32_t frame; /* steps since the scene's start */
    company company;
    timeline timeline;
    timeline_key start;     /* the scene's start */
    lm_material *materials; /* of the scene's bodies at its start */
    lm_vec3 gravity;        /* at its start */
    uint32_t substeps;      /* at its start */
    uint64_t hash;          /* of the state now */
    uint32_t mismatches; /* frames that were returned to and had another hash than before: 0, or the engine is wrong */
};

/* Opens a scene (a name, or a file), or a mesh as a scene. Null: *error says why. */
session *session_open(const char *name, const session_options *options, lm_scene_error *error);
void session_close(session *session); /* null is allowed */

/* ---- time ---- */

/* One frame on: along the recorded ones while there are any, else a new one. */
lm_result session_step(session *session, lm_scene_error *error);

/* To a recorded frame, from session_first to session_last (others are moved into that range). */
lm_result session_seek(session *session, uint32_t frame, lm_scene_error *error);
uint32_t session_first(const session *session);
uint32_t session_last(const session *session);
bool session_is_live(const session *session); /* at the end of what is recorded */

/* Back to the scene's start; with `keep_settings` the materials, the gravity and the substeps stay as they are now. */
lm_result session_restart(session *session, bool keep_settings, lm_scene_error *error);

/* ---- changes ---- */

/* Makes a change and records it. Made in the past, it begins another future: what was recorded after this frame is forgotten. */
lm_result session_change(session *session, const change *change, lm_scene_error *error);

/* Tells the world where it is looked at from, as a change like others, where that matters: at the end of what is recorded, in a scene
 * that has no eye of its own, with a body whose detail goes by it, and only when it has moved. */
lm_result session_look_from(session *session, lm_dvec3 eye, lm_scene_error *error);

/* The world goes on with other workers or another instruction set; its state and its future stay the same. */
lm_result session_set_host(session *session, uint32_t threads, lm_isa isa, lm_scene_error *error);

/* ---- files ---- */

/* The world's snapshot into a file, without balls in flight and without the hand; and from a file that was saved while this
 * scene ran, here or by `limber run`. A load that fails changes nothing. */
bool session_save(session *session, const char *path, lm_scene_error *error);
lm_result session_load(session *session, const char *path, lm_scene_error *error);

/* The state as it is, to be given back or returned to. */
bool session_take_key(const session *session, timeline_key *key);
void session_free_key(timeline_key *key);
lm_result session_return_to_key(session *session, const timeline_key *key, lm_scene_error *error);

/* The recorded time begins now. */
lm_result session_begin_timeline(session *session, lm_scene_error *error);

/* ---- what there is ---- */

/* A name for a body: the scene's, or "a copy of" it. */
void session_body_name(const session *session, lm_body_id body, char *text, size_t size);

/* The material that a body had at the start. */
lm_material session_first_material(const session *session, lm_body_id body);

#endif
