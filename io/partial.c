/* Files that are whole or not there. */
#include "io/partial.h"

#include "io/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Interruptions
 *
 * What cleans up can reach nothing but globals, and may call nothing but what io/system.h allows.
 */

#define MOST_GUARDED 4 /* files that are open at once */

typedef struct guarded_file {
    char *volatile temporary; /* or null */
    volatile int writer;
} guarded_file;

static guarded_file guarded[MOST_GUARDED];

static void clean_up(void)
{
    for (int i = 0; i < MOST_GUARDED; i++) {
        if (guarded[i].writer > 0) {
            system_end_process((long)guarded[i].writer); /* so that it cannot make the file again */
        }
        if (guarded[i].temporary != NULL) {
            system_remove(guarded[i].temporary);
        }
    }
}

static bool is_guarding(void)
{
    bool any = false;
    for (int i = 0; i < MOST_GUARDED; i++) {
        any = any || guarded[i].temporary != NULL;
    }
    return any;
}

/* False when too many files are open. */
static bool guard(partial_file *file)
{
    int free_one = 0;
    while (free_one < MOST_GUARDED && guarded[free_one].temporary != NULL) {
        free_one++;
    }
    if (free_one == MOST_GUARDED) {
        return false;
    }
    bool is_first = !is_guarding();
    file->guard = free_one;
    guarded[free_one].temporary = file->temporary;
    if (is_first) {
        system_catch(clean_up);
    }
    return true;
}

static void unguard(const partial_file *file)
{
    guarded[file->guard].temporary = NULL;
    guarded[file->guard].writer = 0;
    if (!is_guarding()) {
        system_release();
    }
}

void partial_set_writer(const partial_file *file, int process)
{
    if (file->temporary != NULL) {
        guarded[file->guard].writer = process;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

static bool fail(const char *path, const char *why, char error[PARTIAL_ERROR_SIZE])
{
    snprintf(error, PARTIAL_ERROR_SIZE, "%.300s: cannot be written: %s", path, why);
    return false;
}

static void forget(partial_file *file)
{
    free(file->path);
    free(file->temporary);
    *file = (partial_file){.path = NULL};
}

bool partial_open(partial_file *file, const char *path, char error[PARTIAL_ERROR_SIZE])
{
    *file = (partial_file){.path = NULL};
    if (path[0] == '\0') {
        return fail("\"\"", strerror(ENOENT), error);
    }
    system_kind there = system_look(path);
    if (there == SYSTEM_FOLDER || there == SYSTEM_OTHER) {
        return fail(path, there == SYSTEM_FOLDER ? strerror(EISDIR) : "it is no regular file", error);
    }
    int refused = there == SYSTEM_FILE ? system_may_write(path) : 0;
    if (refused != 0) {
        return fail(path, strerror(refused), error);
    }
    size_t room = strlen(path) + 32;
    file->path = malloc(room);
    file->temporary = malloc(room);
    if (file->path == NULL || file->temporary == NULL) {
        forget(file);
        return fail(path, "out of memory", error);
    }
    snprintf(file->path, room, "%s", path);
    snprintf(file->temporary, room, "%s.%ld.tmp", path, system_process());
    if (!guard(file)) {
        forget(file);
        return fail(path, "too many files are being written", error);
    }
    file->stream = system_open(file->temporary, "wb");
    if (file->stream == NULL) {
        int why = errno;
        unguard(file);
        forget(file);
        return fail(path, strerror(why), error);
    }
    return true;
}

void partial_write(partial_file *file, const void *bytes, size_t size)
{
    errno = 0;
    if (fwrite(bytes, 1, size, file->stream) != size && file->failure == 0) {
        file->failure = errno;
    }
}

void partial_drop(partial_file *file)
{
    if (file->temporary != NULL) {
        if (file->stream != NULL) {
            fclose(file->stream);
        }
        system_remove(file->temporary);
        unguard(file);
        forget(file);
    }
}

static bool fail_and_drop(partial_file *file, int why, char error[PARTIAL_ERROR_SIZE])
{
    fail(file->path, why != 0 ? strerror(why) : "the disk may be full", error);
    partial_drop(file);
    return false;
}

bool partial_close(partial_file *file, char error[PARTIAL_ERROR_SIZE])
{
    if (file->stream == NULL) {
        return true;
    }
    bool good = !ferror(file->stream);
    errno = 0;
    good = fclose(file->stream) == 0 && good; /* a full disk may show only when the last buffer goes out */
    file->stream = NULL;
    return good ? true : fail_and_drop(file, file->failure != 0 ? file->failure : errno, error);
}

bool partial_keep(partial_file *file, char error[PARTIAL_ERROR_SIZE])
{
    if (!partial_close(file, error)) {
        return false;
    }
    int refused = system_rename(file->temporary, file->path);
    if (refused != 0) {
        return fail_and_drop(file, refused, error);
    }
    unguard(file);
    forget(file);
    return true;
}

bool partial_check(const char *path, char error[PARTIAL_ERROR_SIZE])
{
    partial_file file;
    bool good = partial_open(&file, path, error);
    partial_drop(&file);
    return good;
}
