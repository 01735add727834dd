/* Snapshots of sessions in files: what `limber run --out` writes as state.limber is the same. */
#include "support/partial.h"
#include "viewer/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 0x7fffffffL /* of a snapshot that is read */

static bool write_world(const lm_world *world, const char *path, char wrong[PARTIAL_ERROR_SIZE])
{
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    partial_file file;
    bool good = bytes != NULL && lm_world_save(world, bytes, size) == LM_OK && lmi_partial_open(&file, path, wrong);
    if (good) {
        lmi_partial_write(&file, bytes, size);
        good = lmi_partial_keep(&file, wrong);
    }
    free(bytes);
    return good;
}

bool session_save(session *s, const char *path, lm_scene_error *error)
{
    timeline_key now;
    char wrong[PARTIAL_ERROR_SIZE] = "out of memory";
    bool good = session_take_key(s, &now);
    if (good) {
        company_leave(&s->company, s->world);
        good = write_world(s->world, path, wrong);
        session_return_to_key(s, &now, error);
        session_free_key(&now);
    }
    if (!good) {
        snprintf(error->text, sizeof error->text, "%s", wrong);
    }
    return good;
}

/* The whole file, to be freed; null: *error says why. */
static void *read_bytes(const char *path, size_t *size, lm_scene_error *error)
{
    FILE *file = fopen(path, "rb");
    long length = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        length = ftell(file);
    }
    void *bytes = length >= 0 && length < MOST_BYTES ? malloc((size_t)length + 1) : NULL;
    bool good =
        bytes != NULL && fseek(file, 0, SEEK_SET) == 0 && fread(bytes, 1, (size_t)length, file) == (size_t)length;
    if (!good) {
        snprintf(error->text, sizeof error->text, "%.200s: cannot be read: %s", path,
                 errno != 0 ? strerror(errno) : "it is no snapshot");
        free(bytes);
        bytes = NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    *size = good ? (size_t)length : 0;
    return bytes;
}

/* Bodies that are none of the scene's own were added: their user data says like which of them. */
static void find_added_bodies(session *s)
{
    uint32_t own = lm_scene_body_count(s->scene), count = lm_world_get_bodies(s->world, NULL, 0);
    lm_body_id *all = malloc(((size_t)count + 1) * sizeof *all);
    s->company = (company){.ball_count = 0};
    if (all != NULL) {
        lm_world_get_bodies(s->world, all, count);
    }
    for (uint32_t i = 0; i < count && all != NULL && s->company.body_count < COMPANY_BODIES; i++) {
        lm_body_info info;
        if (company_find_like(&s->company, s->scene, all[i]) == UINT32_MAX &&
            lm_body_get_info(s->world, all[i], &info) == LM_OK && info.user_data < own) {
            s->company.bodies[s->company.body_count++] = (company_body){all[i], (uint32_t)info.user_data};
        }
    }
    free(all);
}

static lm_result load_bytes(session *s, const void *bytes, size_t size, lm_scene_error *error)
{
    timeline_key before;
    if (!session_take_key(s, &before)) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return LM_ERROR_MEMORY;
    }
    uint32_t frame;
    lm_result result = session_return_to_key(s, &s->start, error); /* where the scene's drags are as at the start */
    result = result ? result : lm_scene_load(s->scene, s->world, bytes, size, &frame, error);
    if (result == LM_OK) {
        s->frame = frame;
        find_added_bodies(s);
        result = session_begin_timeline(s, error);
    } else {
        lm_scene_error ignored;
        session_return_to_key(s, &before, &ignored);
    }
    session_free_key(&before);
    return result;
}

lm_result session_load(session *s, const char *path, lm_scene_error *error)
{
    size_t size;
    errno = 0;
    void *bytes = read_bytes(path, &size, error);
    if (bytes == NULL) {
        return LM_ERROR_ARGUMENT;
    }
    lm_result result = load_bytes(s, bytes, size, error);
    free(bytes);
    return result;
}
