/*
 * Streams on disk. Chunks of all streams follow each other in one file; each begins with where the next one of its stream is and with
 * its size. The former is filled in when that one is written.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct chunk_head {
    int64_t next; /* -1: the last one */
    uint64_t size;
} chunk_head;

static bool fail(const spool *s, const char *why, char error[PARTIAL_ERROR_SIZE])
{
    snprintf(error, PARTIAL_ERROR_SIZE, "%.300s: cannot be written: %s", s->file.path, why);
    return false;
}

static bool fail_system(const spool *s, char error[PARTIAL_ERROR_SIZE])
{
    return fail(s, errno != 0 ? strerror(errno) : "the disk may be full", error);
}

bool lmi_spool_open(spool *s, const char *path, const char *ending, uint32_t streams, char error[PARTIAL_ERROR_SIZE])
{
    *s = (spool){.streams = NULL};
    size_t room = strlen(path) + strlen(ending) + 1;
    char *name = malloc(room);
    spool_stream *made = malloc((streams + 1u) * sizeof *made);
    bool good = name != NULL && made != NULL;
    if (good) {
        snprintf(name, room, "%s%s", path, ending);
        good = lmi_partial_open(&s->file, name, error);
    } else {
        snprintf(error, PARTIAL_ERROR_SIZE, "%.300s: out of memory", path);
    }
    free(name);
    if (!good) {
        free(made);
        return false;
    }
    for (uint32_t i = 0; i < streams; i++) {
        made[i] = (spool_stream){.first = -1, .last = -1};
    }
    s->streams = made;
    s->count = streams;
    return true;
}

static bool put(spool *s, int64_t at, const void *bytes, size_t size)
{
    errno = 0;
    return fseeko(s->file.stream, (off_t)at, SEEK_SET) == 0 && fwrite(bytes, 1, size, s->file.stream) == size;
}

bool lmi_spool_add(spool *s, uint32_t stream, const void *bytes, size_t size, char error[PARTIAL_ERROR_SIZE])
{
    spool_stream *st = &s->streams[stream];
    chunk_head head = {.next = -1, .size = size};
    int64_t here = s->end;
    if (!put(s, here, &head, sizeof head) || !put(s, here + (int64_t)sizeof head, bytes, size)) {
        return fail_system(s, error);
    }
    if (st->last >= 0 && !put(s, st->last, &here, sizeof here)) {
        return fail_system(s, error);
    }
    st->first = st->first < 0 ? here : st->first;
    st->last = here;
    st->size += size;
    s->end = here + (int64_t)sizeof head + (int64_t)size;
    return true;
}

static bool copy_bytes(spool *s, uint64_t size, FILE *to)
{
    char block[16384];
    while (size > 0) {
        size_t some = size < sizeof block ? (size_t)size : sizeof block;
        if (fread(block, 1, some, s->file.stream) != some) {
            return false;
        }
        fwrite(block, 1, some, to);
        size -= some;
    }
    return true;
}

bool lmi_spool_copy(spool *s, uint32_t stream, FILE *to, char error[PARTIAL_ERROR_SIZE])
{
    for (int64_t at = s->streams[stream].first; at >= 0;) {
        chunk_head head;
        errno = 0;
        if (fseeko(s->file.stream, (off_t)at, SEEK_SET) != 0 ||
            fread(&head, 1, sizeof head, s->file.stream) != sizeof head || !copy_bytes(s, head.size, to)) {
            return fail_system(s, error);
        }
        at = head.next;
    }
    return true;
}

bool lmi_spool_read(spool *s, uint64_t chunk, size_t chunk_size, size_t offset, void *bytes, size_t size,
                    char error[PARTIAL_ERROR_SIZE])
{
    uint64_t at = chunk * (sizeof(chunk_head) + chunk_size) + sizeof(chunk_head) + offset;
    errno = 0;
    bool good = fseeko(s->file.stream, (off_t)at, SEEK_SET) == 0 && fread(bytes, 1, size, s->file.stream) == size;
    return good ? true : fail_system(s, error);
}

void lmi_spool_close(spool *s)
{
    lmi_partial_drop(&s->file);
    free(s->streams);
    *s = (spool){.streams = NULL};
}
