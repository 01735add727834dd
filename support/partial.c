/* Files that are whole or not there. */
#include "support/partial.h"

#include "support/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Interruptions
 *
 * What cleans up can reach nothing but globals, and may call nothing but what support/system.h allows.
 */

#define MOST_GUARDED 4 /* files that are open at once */

typedef struct guarded_file {
    char *volatile temporary; /* or null */
    volatile int writer;
    volatile int count; /* of a series: files begun; else 0 */
    size_t number_at;   /* of a series: where the number is in `temporary` */
    int width;
} guarded_file;

static guarded_file guarded[MOST_GUARDED];

/* Decimal digits with leading zeros. (snprintf is not allowed in a handler.) */
static void put_number(char *at, int width, uint32_t number)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + number % 10);
        number /= 10;
    }
}

static void remove_series(char *temporary, size_t number_at, int width, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_number(temporary + number_at, width, i);
        lmi_system_remove(temporary);
    }
}

static void clean_up(void)
{
    for (int i = 0; i < MOST_GUARDED; i++) {
        if (guarded[i].writer > 0) {
            lmi_system_end_process((long)guarded[i].writer); /* so that it cannot make the file again */
        }
        if (guarded[i].temporary != NULL && guarded[i].width > 0) {
            remove_series(guarded[i].temporary, guarded[i].number_at, guarded[i].width, (uint32_t)guarded[i].count);
        } else if (guarded[i].temporary != NULL) {
            lmi_system_remove(guarded[i].temporary);
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

/* The place of what is guarded now; -1 when too many files are open. */
static int guard(char *temporary, size_t number_at, int width)
{
    int free_one = 0;
    while (free_one < MOST_GUARDED && guarded[free_one].temporary != NULL) {
        free_one++;
    }
    if (free_one == MOST_GUARDED) {
        return -1;
    }
    bool is_first = !is_guarding();
    guarded[free_one].count = 0;
    guarded[free_one].number_at = number_at;
    guarded[free_one].width = width;
    guarded[free_one].temporary = temporary;
    if (is_first) {
        lmi_system_catch(clean_up);
    }
    return free_one;
}

static void unguard(int place)
{
    guarded[place].temporary = NULL;
    guarded[place].writer = 0;
    if (!is_guarding()) {
        lmi_system_release();
    }
}

void lmi_partial_set_writer(const partial_file *file, int process)
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

/* Whether a file of that name may be made or replaced. */
static bool check_place(const char *path, char error[PARTIAL_ERROR_SIZE])
{
    if (path[0] == '\0') {
        return fail("\"\"", strerror(ENOENT), error);
    }
    system_kind there = lmi_system_look(path);
    if (there == SYSTEM_FOLDER || there == SYSTEM_OTHER) {
        return fail(path, there == SYSTEM_FOLDER ? strerror(EISDIR) : "it is no regular file", error);
    }
    int refused = there == SYSTEM_FILE ? lmi_system_may_write(path) : 0;
    if (refused != 0) {
        return fail(path, strerror(refused), error);
    }
    return true;
}

bool lmi_partial_open(partial_file *file, const char *path, char error[PARTIAL_ERROR_SIZE])
{
    *file = (partial_file){.path = NULL};
    if (!check_place(path, error)) {
        return false;
    }
    size_t room = strlen(path) + 32;
    file->path = malloc(room);
    file->temporary = malloc(room);
    if (file->path == NULL || file->temporary == NULL) {
        forget(file);
        return fail(path, "out of memory", error);
    }
    snprintf(file->path, room, "%s", path);
    snprintf(file->temporary, room, "%s.%ld.tmp", path, lmi_system_process());
    file->guard = guard(file->temporary, 0, 0);
    if (file->guard < 0) {
        forget(file);
        return fail(path, "too many files are being written", error);
    }
    file->stream = lmi_system_open(file->temporary, "wb+"); /* io/spool.c reads again what it wrote */
    if (file->stream == NULL) {
        int why = errno;
        unguard(file->guard);
        forget(file);
        return fail(path, strerror(why), error);
    }
    return true;
}

void lmi_partial_write(partial_file *file, const void *bytes, size_t size)
{
    errno = 0;
    if (fwrite(bytes, 1, size, file->stream) != size && file->failure == 0) {
        file->failure = errno;
    }
}

void lmi_partial_drop(partial_file *file)
{
    if (file->temporary != NULL) {
        if (file->stream != NULL) {
            fclose(file->stream);
        }
        lmi_system_remove(file->temporary);
        unguard(file->guard);
        forget(file);
    }
}

static bool fail_and_drop(partial_file *file, int why, char error[PARTIAL_ERROR_SIZE])
{
    fail(file->path, why != 0 ? strerror(why) : "the disk may be full", error);
    lmi_partial_drop(file);
    return false;
}

bool lmi_partial_close(partial_file *file, char error[PARTIAL_ERROR_SIZE])
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

bool lmi_partial_keep(partial_file *file, char error[PARTIAL_ERROR_SIZE])
{
    if (!lmi_partial_close(file, error)) {
        return false;
    }
    int refused = lmi_system_rename(file->temporary, file->path);
    if (refused != 0) {
        return fail_and_drop(file, refused, error);
    }
    unguard(file->guard);
    forget(file);
    return true;
}

bool lmi_partial_check(const char *path, char error[PARTIAL_ERROR_SIZE])
{
    partial_file file;
    bool good = lmi_partial_open(&file, path, error);
    lmi_partial_drop(&file);
    return good;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Series
 */

static void forget_series(partial_series *series)
{
    free(series->path);
    free(series->temporary);
    *series = (partial_series){.path = NULL};
}

bool lmi_partial_series_open(partial_series *series, const char *path, uint32_t most, char error[PARTIAL_ERROR_SIZE])
{
    *series = (partial_series){.width = 4, .most = most};
    for (uint32_t last = (most > 0 ? most - 1 : 0) / 10000; last > 0; last /= 10) {
        series->width++;
    }
    const char *name = lmi_system_last_part(path), *ending = strrchr(name, '.');
    if (ending == NULL || ending == name) {
        return fail(path, "the name needs an ending, as in name.obj", error);
    }
    size_t room = strlen(path) + 64;
    series->number_at = (size_t)(ending - path) + 1;
    series->path = malloc(room);
    series->temporary = malloc(room);
    if (series->path == NULL || series->temporary == NULL) {
        forget_series(series);
        return fail(path, "out of memory", error);
    }
    int stem = (int)(ending - path);
    snprintf(series->path, room, "%.*s.%0*d%s", stem, path, series->width, 0, ending);
    snprintf(series->temporary, room, "%s.%ld.tmp", series->path, lmi_system_process());
    series->guard = guard(series->temporary, series->number_at, series->width);
    if (series->guard < 0) {
        forget_series(series);
        return fail(path, "too many files are being written", error);
    }
    return true;
}

bool lmi_partial_series_close(partial_series *series, char error[PARTIAL_ERROR_SIZE])
{
    if (series->stream == NULL) {
        return true;
    }
    bool good = !ferror(series->stream);
    errno = 0;
    good = fclose(series->stream) == 0 && good;
    series->stream = NULL;
    return good ? true : fail(series->path, errno != 0 ? strerror(errno) : "the disk may be full", error);
}

bool lmi_partial_series_next(partial_series *series, char error[PARTIAL_ERROR_SIZE])
{
    if (!lmi_partial_series_close(series, error)) {
        return false;
    }
    put_number(series->path + series->number_at, series->width, series->count);
    put_number(series->temporary + series->number_at, series->width, series->count);
    if (series->count >= series->most) {
        return fail(series->path, "there are more files than were announced", error);
    }
    if (!check_place(series->path, error)) {
        return false;
    }
    guarded[series->guard].count = (int)(series->count + 1); /* a name that is not there yet does no harm */
    series->stream = lmi_system_open(series->temporary, "wb");
    if (series->stream == NULL) {
        return fail(series->path, strerror(errno), error);
    }
    series->count++;
    return true;
}

const char *lmi_partial_series_name(partial_series *series, uint32_t index)
{
    put_number(series->path + series->number_at, series->width, index);
    return lmi_system_last_part(series->path);
}

bool lmi_partial_series_keep(partial_series *series, char error[PARTIAL_ERROR_SIZE])
{
    if (!lmi_partial_series_close(series, error)) {
        lmi_partial_series_drop(series);
        return false;
    }
    for (uint32_t i = 0; i < series->count; i++) {
        put_number(series->path + series->number_at, series->width, i);
        put_number(series->temporary + series->number_at, series->width, i);
        int refused = lmi_system_rename(series->temporary, series->path);
        if (refused != 0) {
            fail(series->path, strerror(refused), error);
            remove_series(series->path, series->number_at, series->width, i);
            lmi_partial_series_drop(series);
            return false;
        }
    }
    unguard(series->guard);
    forget_series(series);
    return true;
}

void lmi_partial_series_drop(partial_series *series)
{
    if (series->temporary != NULL) {
        if (series->stream != NULL) {
            fclose(series->stream);
        }
        remove_series(series->temporary, series->number_at, series->width, series->count);
        unguard(series->guard);
        forget_series(series);
    }
}
