/* Linux, macOS and their relatives. */
#define _POSIX_C_SOURCE 200809L

#include "support/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---- */

FILE *lmi_system_open(const char *path, const char *mode) { return fopen(path, mode); }

system_kind lmi_system_look(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return SYSTEM_NOTHING;
    }
    return S_ISREG(status.st_mode) ? SYSTEM_FILE : S_ISDIR(status.st_mode) ? SYSTEM_FOLDER : SYSTEM_OTHER;
}

int lmi_system_may_write(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return errno;
    }
    return access(path, S_ISDIR(status.st_mode) ? W_OK | X_OK : W_OK) != 0 ? errno : 0;
}

int lmi_system_make_folder(const char *path) { return mkdir(path, 0777) != 0 ? errno : 0; }
int lmi_system_rename(const char *from, const char *to) { return rename(from, to) != 0 ? errno : 0; }
void lmi_system_remove(const char *path) { unlink(path); }
long lmi_system_process(void) { return (long)getpid(); }

bool lmi_system_parts_folders(char letter) { return letter == '/'; }

const char *lmi_system_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool lmi_system_is_absolute(const char *path) { return path[0] == '/'; }

/* ---- interruptions ---- */

static const int interruptions[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

#define INTERRUPTION_COUNT (sizeof interruptions / sizeof interruptions[0])

static struct sigaction before[INTERRUPTION_COUNT], too_large_before;
static void (*to_clean_up)(void);

static void interrupted(int signal_number)
{
    to_clean_up();
    raise(signal_number); /* the default action again, once the handler returns: the caller sees what ended us */
}

void lmi_system_catch(void (*clean_up)(void))
{
    to_clean_up = clean_up;
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        struct sigaction action = {.sa_handler = interrupted, .sa_flags = (int)SA_RESETHAND};
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

void lmi_system_release(void)
{
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaction(interruptions[i], &before[i], NULL);
    }
    sigaction(SIGXFSZ, &too_large_before, NULL);
}

void lmi_system_end_process(long process)
{
    kill((pid_t)process, SIGKILL);
    waitpid((pid_t)process, NULL, 0);
}

/* ---- the terminal ---- */

double lmi_system_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool lmi_system_is_terminal(FILE *stream) { return isatty(fileno(stream)) != 0; }

int lmi_system_mute(void)
{
    fflush(stderr);
    int was = dup(STDERR_FILENO);
    int nowhere = open("/dev/null", O_WRONLY);
    if (was >= 0 && nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
    return was;
}

void lmi_system_unmute(int was)
{
    fflush(stderr);
    if (was >= 0) {
        dup2(was, STDERR_FILENO);
        close(was);
    }
}

/* A standard stream that was closed would give its number to the next file that is opened, and what is said there would end up
 * in that file. The number is taken by something that cannot be used: reading or writing fails as if it were closed. */
static bool occupy_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) {
            return false;
        }
    }
    return true;
}

bool lmi_system_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv; /* UTF-8 as they come, or whatever the files' names are */
    /* A reader that went away and a file that has become too large are errors of writing, reported like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return occupy_closed_streams();
}
