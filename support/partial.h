/*
 * A file that is whole or not there: it is written under another name beside its place (PATH.123.tmp, by the process's
 * number), then renamed. Should the program be interrupted meanwhile (SIGINT, SIGTERM, SIGHUP, SIGQUIT), what was written is
 * removed first; a file that grows beyond what the system allows (SIGXFSZ) is a failed write. A few may be open at once, as a
 * screenshot while a video is made; all of them by one thread.
 *
 * A series is many of them that belong together, one for each frame: all take their places, or none does.
 */
#ifndef LIMBER_SUPPORT_PARTIAL_H
#define LIMBER_SUPPORT_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARTIAL_ERROR_SIZE 512 /* of one line: "FILE: cannot be written: why" */

typedef struct partial_file {
    char *path, *temporary;
    FILE *stream; /* to write to; may be closed early (and set to null) when another program writes the file */
    int failure;  /* errno of the first lmi_partial_write that failed, or 0 */
    int guard;    /* where the handler of interruptions finds it */
} partial_file;

/* Makes the file under its temporary name. False and *error when it cannot be written there, or when `path` is something that
 * must not be replaced (a folder, a device). */
bool lmi_partial_open(partial_file *file, const char *path, char error[PARTIAL_ERROR_SIZE]);

/* Writes to the stream; a failure is kept and told by lmi_partial_keep. */
void lmi_partial_write(partial_file *file, const void *bytes, size_t size);

/* Another program, by its process number, that is to be killed before the file is removed; 0: none any more. */
void lmi_partial_set_writer(const partial_file *file, int process);

/* All that was written goes out, and the stream is closed: what is left to do then is to rename the file. False and *error when
 * something could not be written; it is removed then. For files that come in a set: close all, then keep all. */
bool lmi_partial_close(partial_file *file, char error[PARTIAL_ERROR_SIZE]);

/* Closes the file and puts it in its place. False and *error when something could not be written; it is removed then. */
bool lmi_partial_keep(partial_file *file, char error[PARTIAL_ERROR_SIZE]);

/* Removes it; does nothing when it was kept, removed or never opened. */
void lmi_partial_drop(partial_file *file);

/* Files with numbers: "a/b.obj" stands for a/b.0000.obj, a/b.0001.obj, ... */
typedef struct partial_series {
    char *path, *temporary; /* names of one of them; the number is written over */
    size_t number_at;       /* where the number begins in both */
    int width;              /* its digits */
    uint32_t count;         /* files begun so far */
    uint32_t most;          /* that the width allows */
    FILE *stream;           /* of the last one, while it is open */
    int guard;
} partial_series;

/* At most `most` files (at least 1). Nothing is written yet. False and *error when memory runs out. */
bool lmi_partial_series_open(partial_series *series, const char *path, uint32_t most, char error[PARTIAL_ERROR_SIZE]);

/* Closes the file before, and begins the next one under its temporary name. False and *error when either fails; drop the series
 * then. */
bool lmi_partial_series_next(partial_series *series, char error[PARTIAL_ERROR_SIZE]);

/* The name that file `index` will have, without its folder; valid until the next call for this series. */
const char *lmi_partial_series_name(partial_series *series, uint32_t index);

/* Closes the last file. False and *error when something could not be written; drop the series then. */
bool lmi_partial_series_close(partial_series *series, char error[PARTIAL_ERROR_SIZE]);

/* Closes the last file and puts all of them in their places. False and *error on failure: none is there then that was not there
 * before. */
bool lmi_partial_series_keep(partial_series *series, char error[PARTIAL_ERROR_SIZE]);

/* Removes all of them; does nothing when they were kept, removed or never begun. */
void lmi_partial_series_drop(partial_series *series);

/* Whether a file could be written there now; leaves nothing behind. For knowing before hours are spent. */
bool lmi_partial_check(const char *path, char error[PARTIAL_ERROR_SIZE]);

#endif
