/*
 * The last seconds of a run: what is needed to return to any frame of them exactly, and to see that it was exact.
 *
 * For every frame its hash, and the changes that were made in it. For some frames a snapshot (a key): to return to a frame is
 * to load the last key before it and to step from there, making the recorded changes again. Small worlds get a key in every
 * frame, large ones up to one a second, so that neither the memory nor the time for saving gets out of hand.
 *
 * A frame's number is that of steps since the scene's start. The state of a frame is the one before any change made in it.
 */
#ifndef LIMBER_VIEWER_TIMELINE_H
#define LIMBER_VIEWER_TIMELINE_H

#include "viewer/change.h"

#define TIMELINE_FRAMES 600           /* ten seconds */
#define TIMELINE_KEY_FRAMES 60        /* at most, from one key to the next */
#define TIMELINE_BYTES_A_FRAME 200000 /* of snapshots, where that allows a key so often */

#define TIMELINE_WAY_FRAMES 8 /* from one waypoint to the next, see timeline_add_waypoint */

typedef struct timeline_key {
    uint32_t frame;
    bool waypoint;
    void *snapshot;
    size_t size;
    void *marks; /* the scene's */
    company company;
} timeline_key;

typedef struct timeline_change {
    uint32_t frame;
    change change;
} timeline_change;

typedef struct timeline {
    timeline_key *keys;
    size_t key_count, key_capacity;
    timeline_change *changes;
    size_t change_count, change_capacity;
    uint64_t *hashes; /* from `first` to `last` */
    size_t hash_capacity;
    uint32_t first, last;
} timeline;

/* Forgets everything; the run is at `frame`, with this hash. The first key must follow. False: no memory. */
bool timeline_begin(timeline *timeline, uint32_t frame, uint64_t hash);
void timeline_free(timeline *timeline);

/* The next frame after the last one. Frames that are too old are forgotten. False: no memory, nothing is recorded. */
bool timeline_add_frame(timeline *timeline, uint64_t hash);

/* Whether the last frame should have a key, for a snapshot of `size` bytes. */
bool timeline_wants_key(const timeline *timeline, size_t size);

/* A key for the last frame; takes over key->snapshot and key->marks, in any case. */
bool timeline_add_key(timeline *timeline, timeline_key key);

/* A key for a frame between others, made on the way back to it, so that the frames before it are near too; takes over what
 * `key` holds in any case. Those that are no longer on the way to a frame are dropped. */
void timeline_add_waypoint(timeline *timeline, timeline_key key);
void timeline_drop_waypoints(timeline *timeline, uint32_t frame);

/* A change made in the last frame. */
bool timeline_add_change(timeline *timeline, const change *change);

/* Forgets everything after the state of a frame, the changes made in it among them. */
void timeline_cut(timeline *timeline, uint32_t frame);

/* The last key no later than a frame, and the hash of a frame, from `first` to `last`. */
const timeline_key *timeline_find_key(const timeline *timeline, uint32_t frame);
uint64_t timeline_hash(const timeline *timeline, uint32_t frame);

/* The changes made in a frame: *count of them. */
const timeline_change *timeline_changes(const timeline *timeline, uint32_t frame, size_t *count);

/* Bytes held. */
size_t timeline_memory(const timeline *timeline);

#endif
