/* Files that are whole or not there. */
#define _POSIX_C_SOURCE 200809L

#include "io/partial.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Interruptions
 *
 * The handler can reach nothing but globals, and may call nothing but what POSIX allows in one.
 */

static const int interruptions[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

#define INTERRUPTION_COUNT (sizeof interruptions / sizeof interruptions[0])

#define MOST_GUARDED 4 /* files that are open at once */

typedef struct guarded_file {
    char *volatile temporary; /* or null */
    volatile sig_atomic_t writer;
} guarded_file;

static guarded_file guarded[MOST_GUARDED];
static struct sigaction before[INTERRUPTION_COUNT], too_large_before;

static void clean_up(int signal_number)
{
    for (int i = 0; i < MOST_GUARDED; i++) {
        if (guarded[i].writer > 0) {
            kill((pid_t)guarded[i].writer, SIGKILL);
            waitpid((pid_t)guarded[i].writer, NULL, 0); /* so that it cannot make the file again */
        }
        if (guarded[i].temporary != NULL) {
            unlink(guarded[i].temporary);
        }
    }
    raise(signal_number); /* the default action again, once the handler returns: the caller sees what ended us */
}

static bool is_guarding(void)
{
    bool any = false;
    for (int i = 0; i < MOST_GUARDED; i++) {
        any = any || guarded[i].temporary != NULL;
    }
    return any;
}

static void catch_interruptions(void)
{
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        struct sigaction action = {.sa_handler = clean_up, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        sigaction(interruptions[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) { /* as under nohup: who ignores it goes on ignoring it */
            sigaction(interruptions[i], &action, NULL);
        }
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, &too_large_before); /* the write fails then, and is reported as any other */
}

static void let_interruptions_be(void)
{
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaction(interruptions[i], &before[i], NULL);
    }
    sigaction(SIGXFSZ, &too_large_before, NULL);
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
        catch_interruptions();
    }
    return true;
}

static void unguard(const partial_file *file)
{
    guarded[file->guard].temporary = NULL;
    guarded[file->guard].writer = 0;
    if (!is_guarding()) {
        let_interruptions_be();
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
    struct stat status;
    if (path[0] == '\0') {
        return fail("\"\"", strerror(ENOENT), error);
    }
    if (stat(path, &status) == 0) {
        if (!S_ISREG(status.st_mode)) {
            return fail(path, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "it is no regular file", error);
        }
        if (access(path, W_OK) != 0) {
            return fail(path, strerror(errno), error);
        }
    }
    size_t room = strlen(path) + 32;
    file->path = malloc(room);
    file->temporary = malloc(room);
    if (file->path == NULL || file->temporary == NULL) {
        forget(file);
        return fail(path, "out of memory", error);
    }
    snprintf(file->path, room, "%s", path);
    snprintf(file->temporary, room, "%s.%ld.tmp", path, (long)getpid());
    if (!guard(file)) {
        forget(file);
        return fail(path, "too many files are being written", error);
    }
    file->stream = fopen(file->temporary, "wb");
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
        unlink(file->temporary);
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
    errno = 0;
    if (rename(file->temporary, file->path) != 0) {
        return fail_and_drop(file, errno, error);
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
