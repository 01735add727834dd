/*
 * Streams of bytes that are written side by side and read one after the other, on disk: for files whose order is not that of time.
 * Memory does not grow with what is written. The file is beside the one that it is for, and is removed with the spool.
 */
#ifndef LIMBER_IO_SPOOL_H
#define LIMBER_IO_SPOOL_H

#include "support/partial.h"

typedef struct spool_stream {
    int64_t first, last; /* where its first and last chunks begin; -1: there is none */
    uint64_t size;       /* bytes in all */
} spool_stream;

typedef struct spool {
    partial_file file;
    spool_stream *streams;
    uint32_t count;
    int64_t end;
} spool;

/* False and *error on failure, as below. `path` is the file that it is for, `ending` tells several of them apart. */
bool lmi_spool_open(spool *spool, const char *path, const char *ending, uint32_t streams,
                    char error[PARTIAL_ERROR_SIZE]);

/* Appends a chunk to a stream. */
bool lmi_spool_add(spool *spool, uint32_t stream, const void *bytes, size_t size, char error[PARTIAL_ERROR_SIZE]);

/* Copies a stream to a file. Whether that could be written is known by the file. */
bool lmi_spool_copy(spool *spool, uint32_t stream, FILE *to, char error[PARTIAL_ERROR_SIZE]);

/* A part of one chunk, of a spool that has a single stream whose chunks all have `chunk_size` bytes. */
bool lmi_spool_read(spool *spool, uint64_t chunk, size_t chunk_size, size_t offset, void *bytes, size_t size,
                    char error[PARTIAL_ERROR_SIZE]);

/* Does nothing when it is closed, or was never opened. */
void lmi_spool_close(spool *spool);

#endif
