/* Keeping the last seconds. Everything is in the order of time, so that the oldest and the newest are at the ends. */
#include "viewer/timeline.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more element. */
static bool reserve(void *array, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    size_t wanted = *capacity > 0 ? 2 * *capacity : 64;
    void *grown = realloc(*(void **)array, wanted * size);
    if (grown == NULL) {
        return false;
    }
    *(void **)array = grown;
    *capacity = wanted;
    return true;
}

static void free_key(timeline_key *key)
{
    free(key->snapshot);
    free(key->marks);
}

static void forget(timeline *t)
{
    for (size_t i = 0; i < t->key_count; i++) {
        free_key(&t->keys[i]);
    }
    t->key_count = t->change_count = 0;
}

bool timeline_begin(timeline *t, uint32_t frame, uint64_t hash)
{
    forget(t);
    if (!reserve(&t->hashes, &t->hash_capacity, 0, sizeof *t->hashes)) {
        return false;
    }
    t->first = t->last = frame;
    t->hashes[0] = hash;
    return true;
}

void timeline_free(timeline *t)
{
    forget(t);
    free(t->keys);
    free(t->changes);
    free(t->hashes);
    memset(t, 0, sizeof *t);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The old end
 */

/* Everything before the key that the ten seconds begin with, or before them. */
static void trim(timeline *t)
{
    size_t gone = 0;
    while (gone + 1 < t->key_count && t->keys[gone + 1].frame + TIMELINE_FRAMES <= t->last) {
        free_key(&t->keys[gone]);
        gone++;
    }
    if (gone == 0) {
        return;
    }
    t->key_count -= gone;
    memmove(t->keys, t->keys + gone, t->key_count * sizeof *t->keys);
    uint32_t frames = t->keys[0].frame - t->first;
    t->first += frames;
    memmove(t->hashes, t->hashes + frames, (t->last - t->first + 1) * sizeof *t->hashes);
    size_t old = 0;
    while (old < t->change_count && t->changes[old].frame < t->first) {
        old++;
    }
    t->change_count -= old;
    if (old > 0) { /* without any change there is no array either */
        memmove(t->changes, t->changes + old, t->change_count * sizeof *t->changes);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The new end
 */

bool timeline_add_frame(timeline *t, uint64_t hash)
{
    size_t count = t->last - t->first + 1;
    if (!reserve(&t->hashes, &t->hash_capacity, count, sizeof *t->hashes)) {
        return false;
    }
    t->hashes[count] = hash;
    t->last++;
    trim(t);
    return true;
}

bool timeline_wants_key(const timeline *t, size_t size)
{
    if (t->key_count == 0) {
        return true;
    }
    size_t frames = t->last - t->keys[t->key_count - 1].frame;
    return frames >= TIMELINE_KEY_FRAMES || frames * TIMELINE_BYTES_A_FRAME >= size;
}

bool timeline_add_key(timeline *t, timeline_key key)
{
    if (!reserve(&t->keys, &t->key_capacity, t->key_count, sizeof *t->keys)) {
        free_key(&key);
        return false;
    }
    key.frame = t->last;
    t->keys[t->key_count++] = key;
    return true;
}

void timeline_add_waypoint(timeline *t, timeline_key key)
{
    if (!reserve(&t->keys, &t->key_capacity, t->key_count, sizeof *t->keys)) {
        free_key(&key);
        return;
    }
    size_t place = t->key_count;
    while (place > 0 && t->keys[place - 1].frame > key.frame) {
        place--;
    }
    memmove(&t->keys[place + 1], &t->keys[place], (t->key_count - place) * sizeof *t->keys);
    key.waypoint = true;
    t->keys[place] = key;
    t->key_count++;
}

void timeline_drop_waypoints(timeline *t, uint32_t frame)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->key_count; i++) {
        timeline_key *key = &t->keys[i];
        if (key->waypoint && (key->frame > frame || key->frame + TIMELINE_KEY_FRAMES < frame)) {
            free_key(key);
        } else {
            t->keys[kept++] = *key;
        }
    }
    t->key_count = kept;
}

bool timeline_add_change(timeline *t, const change *made)
{
    /* Where a hand is moved twice in a frame, only the last counts. */
    timeline_change *before = t->change_count > 0 ? &t->changes[t->change_count - 1] : NULL;
    if (made->kind == CHANGE_PULL && before != NULL && before->frame == t->last && before->change.kind == CHANGE_PULL) {
        before->change = *made;
        return true;
    }
    if (!reserve(&t->changes, &t->change_capacity, t->change_count, sizeof *t->changes)) {
        return false;
    }
    t->changes[t->change_count++] = (timeline_change){t->last, *made};
    return true;
}

void timeline_cut(timeline *t, uint32_t frame)
{
    while (t->key_count > 0 && t->keys[t->key_count - 1].frame > frame) {
        free_key(&t->keys[--t->key_count]);
    }
    while (t->change_count > 0 && t->changes[t->change_count - 1].frame >= frame) {
        t->change_count--;
    }
    t->last = frame;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Looking back
 */

const timeline_key *timeline_find_key(const timeline *t, uint32_t frame)
{
    const timeline_key *found = NULL;
    for (size_t i = 0; i < t->key_count && t->keys[i].frame <= frame; i++) {
        found = &t->keys[i];
    }
    return found;
}

uint64_t timeline_hash(const timeline *t, uint32_t frame) { return t->hashes[frame - t->first]; }

const timeline_change *timeline_changes(const timeline *t, uint32_t frame, size_t *count)
{
    size_t from = 0;
    while (from < t->change_count && t->changes[from].frame < frame) {
        from++;
    }
    *count = 0;
    while (from + *count < t->change_count && t->changes[from + *count].frame == frame) {
        (*count)++;
    }
    return t->changes + from;
}

size_t timeline_memory(const timeline *t)
{
    size_t bytes = t->change_capacity * sizeof *t->changes + t->hash_capacity * sizeof *t->hashes;
    for (size_t i = 0; i < t->key_count; i++) {
        bytes += t->keys[i].size + sizeof t->keys[i];
    }
    return bytes;
}
