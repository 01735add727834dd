/* Web assembly with WASI: files, and no processes, signals or terminals. */
#define _POSIX_C_SOURCE 200809L /* fileno, clock_gettime */

#include "support/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

FILE *lmi_system_open(const char *path, const char *mode) { return fopen(path, mode); }

system_kind lmi_system_look(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return SYSTEM_NOTHING;
    }
    return S_ISREG(status.st_mode) ? SYSTEM_FILE : S_ISDIR(status.st_mode) ? SYSTEM_FOLDER : SYSTEM_OTHER;
}

int lmi_system_may_write(const char *path) { return access(path, W_OK) != 0 ? errno : 0; }
int lmi_system_make_folder(const char *path) { return mkdir(path, 0777) != 0 ? errno : 0; }
int lmi_system_rename(const char *from, const char *to) { return rename(from, to) != 0 ? errno : 0; }
void lmi_system_remove(const char *path) { unlink(path); }
long lmi_system_process(void) { return 1; }

bool lmi_system_parts_folders(char letter) { return letter == '/'; }

const char *lmi_system_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool lmi_system_is_absolute(const char *path) { return path[0] == '/'; }

void lmi_system_catch(void (*clean_up)(void)) { (void)clean_up; }
void lmi_system_release(void) {}
void lmi_system_end_process(long process) { (void)process; }

double lmi_system_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool lmi_system_is_terminal(FILE *stream) { return isatty(fileno(stream)) != 0; }
int lmi_system_mute(void) { return -1; }
void lmi_system_unmute(int before) { (void)before; }

bool lmi_system_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *folder = getenv("PWD"); /* programs start in the root there; what runs us may say where it is itself */
    if (folder != NULL && chdir(folder) != 0) {
        errno = 0; /* then names are taken from the root */
    }
    return true;
}
