/*
 * Feeding ffmpeg.
 *
 * Arguments go to it as they are, no shell between, so that a file may have any name. What it says goes to a temporary file
 * and not to a second pipe: it can then never wait for us to read while we wait for it to take a frame.
 */
#define _POSIX_C_SOURCE 200809L

#include "draw/video.h"

#include "support/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct video {
    partial_file file;
    FILE *said;   /* what ffmpeg writes to standard error */
    int frames;   /* where frames go in; -1 when closed */
    pid_t ffmpeg; /* 0 when it has ended */
    int status;   /* how it ended */
    uint32_t width, height;
    struct sigaction broken_pipe; /* what the program did about it before */
};

/* ------------------------------------------------------------------------------------------------------------------
 * The program
 */

/* Standard input is the pipe, standard error the file. It gets a process group of its own, so that Ctrl-C on a terminal
 * reaches us alone, and we end it in our own way. */
static int spawn(video *v, int input, char *const *arguments)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* which we ignore */
    sigaddset(&defaults, SIGXFSZ); /* the same: ffmpeg would go on and say that all is well */
    int result = posix_spawn_file_actions_init(&files);
    if (result != 0) {
        return result;
    }
    result = posix_spawnattr_init(&attributes);
    if (result != 0) {
        posix_spawn_file_actions_destroy(&files);
        return result;
    }
    result = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    result = result ? result : posix_spawn_file_actions_adddup2(&files, fileno(v->said), STDERR_FILENO);
    result = result ? result : posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    result = result ? result : posix_spawnattr_setsigdefault(&attributes, &defaults);
    result = result ? result : posix_spawnattr_setpgroup(&attributes, 0);
    result = result ? result : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    result = result ? result : posix_spawnp(&v->ffmpeg, arguments[0], &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return result;
}

/* Neither end of the pipe may live on in a program that someone else starts. */
static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0) {
        return false;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static bool start(video *v, uint32_t frames_a_second, image_error *error)
{
    char size[32], rate[16];
    snprintf(size, sizeof size, "%ux%u", (unsigned)v->width, (unsigned)v->height);
    snprintf(rate, sizeof rate, "%u", (unsigned)frames_a_second);
    /* "file:" so that a name with a colon or a leading dash is nothing but a name. */
    size_t room = strlen(v->file.temporary) + 6;
    char *output = malloc(room);
    int ends[2];
    if (output == NULL || !make_pipe(ends)) {
        snprintf(error->text, sizeof error->text, "ffmpeg cannot be started: %s",
                 output == NULL ? "out of memory" : strerror(errno));
        free(output);
        return false;
    }
    snprintf(output, room, "file:%s", v->file.temporary);
    /* clang-format off */
    const char *const arguments[] = {
        "ffmpeg", "-hide_banner", "-nostats", "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", size, "-framerate", rate, "-i", "pipe:0",
        /* Colours as screens expect them of video: without a name for them, players guess by the size. */
        "-vf", "scale=out_color_matrix=bt709:out_range=tv",
        "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
        "-c:v", "libx264", "-preset", "fast", "-crf", "18", "-pix_fmt", "yuv420p",
        "-movflags", "+faststart", "-f", "mp4", output, NULL};
    /* clang-format on */
    int result = spawn(v, ends[0], (char *const *)(uintptr_t)arguments);
    free(output);
    close(ends[0]);
    v->frames = ends[1];
    if (result == ENOENT) {
        snprintf(error->text, sizeof error->text,
                 "the program ffmpeg, which makes videos, is not installed (on Debian: apt install ffmpeg)");
        return false;
    }
    if (result != 0) {
        snprintf(error->text, sizeof error->text, "ffmpeg cannot be started: %s", strerror(result));
        return false;
    }
    lmi_partial_set_writer(&v->file, (int)v->ffmpeg);
    return true;
}

/* Waits until ffmpeg has ended. */
static void wait_for(video *v)
{
    if (v->frames >= 0) {
        close(v->frames);
        v->frames = -1;
    }
    while (v->ffmpeg > 0 && waitpid(v->ffmpeg, &v->status, 0) < 0 && errno == EINTR) {
    }
    v->ffmpeg = 0;
    lmi_partial_set_writer(&v->file, 0);
}

/* The last line that ffmpeg wrote, or how it ended. */
static void quote(video *v, image_error *error)
{
    char line[256] = "", last[256] = "";
    rewind(v->said);
    while (fgets(line, sizeof line, v->said) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0') {
            memcpy(last, line, sizeof last);
        }
    }
    if (last[0] != '\0') {
        snprintf(error->text, sizeof error->text, "%.200s: ffmpeg: %.250s", v->file.path, last);
    } else if (WIFSIGNALED(v->status)) {
        snprintf(error->text, sizeof error->text, "%.200s: ffmpeg was ended by signal %d", v->file.path,
                 WTERMSIG(v->status));
    } else {
        snprintf(error->text, sizeof error->text, "%.200s: ffmpeg ended with exit code %d", v->file.path,
                 WEXITSTATUS(v->status));
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The video
 */

static void release(video *v)
{
    lmi_partial_drop(&v->file);
    if (v->said != NULL) {
        fclose(v->said);
    }
    sigaction(SIGPIPE, &v->broken_pipe, NULL);
    free(v);
}

video *video_open(const char *path, uint32_t width, uint32_t height, uint32_t frames_a_second, image_error *error)
{
    if (width == 0 || height == 0 || width % 2 != 0 || height % 2 != 0 || frames_a_second == 0) {
        snprintf(error->text, sizeof error->text,
                 "%.200s: a video of %ux%u at %u frames a second (expected even numbers)", path, (unsigned)width,
                 (unsigned)height, (unsigned)frames_a_second);
        return NULL;
    }
    video *v = calloc(1, sizeof *v);
    if (v == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: out of memory", path);
        return NULL;
    }
    v->frames = -1;
    v->width = width;
    v->height = height;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, &v->broken_pipe); /* an ffmpeg that went away is a failed write, reported as such */
    if (!lmi_partial_open(&v->file, path, error->text)) {
        release(v);
        return NULL;
    }
    fclose(v->file.stream); /* ffmpeg writes it */
    v->file.stream = NULL;
    v->said = tmpfile();
    if (v->said == NULL) {
        snprintf(error->text, sizeof error->text, "ffmpeg cannot be started: a temporary file: %s", strerror(errno));
    }
    if (v->said == NULL || !start(v, frames_a_second, error)) {
        wait_for(v);
        release(v);
        return NULL;
    }
    return v;
}

bool video_add(video *v, const image *frame, image_error *error)
{
    const uint8_t *bytes = frame->pixels;
    size_t left = 3u * (size_t)v->width * v->height;
    while (left > 0 && v->frames >= 0) {
        ssize_t written = write(v->frames, bytes, left);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            wait_for(v);
            break;
        }
        bytes += written;
        left -= (size_t)written;
    }
    if (left > 0) {
        quote(v, error);
    }
    return left == 0;
}

/* The size of the box of an MP4 file that begins here, 0 where there is none; whether it is the one that lists the frames. */
static uint64_t box_at(FILE *file, uint64_t at, bool *lists)
{
    uint8_t head[16];
    if (fseek(file, (long)at, SEEK_SET) != 0 || fread(head, 1, 8, file) != 8) {
        return 0;
    }
    uint64_t size = (uint64_t)head[0] << 24 | (uint64_t)head[1] << 16 | (uint64_t)head[2] << 8 | head[3];
    *lists = *lists || memcmp(head + 4, "moov", 4) == 0;
    if (size != 1) {
        return size >= 8 ? size : 0;
    }
    size = 0; /* in 64 bits, after the name */
    if (fread(head + 8, 1, 8, file) == 8) {
        for (int i = 8; i < 16; i++) {
            size = size << 8 | head[i];
        }
    }
    return size >= 16 ? size : 0;
}

/* An ffmpeg that says it succeeded may still have written nothing, or not all of it (a disk that was full): boxes must follow each
 * other up to the end of the file, and one of them is the list of frames. */
static bool is_whole(const video *v, image_error *error)
{
    struct stat status;
    FILE *file = fopen(v->file.temporary, "rb");
    uint64_t size = file != NULL && stat(v->file.temporary, &status) == 0 ? (uint64_t)status.st_size : 0, at = 0;
    bool lists = false;
    for (uint64_t box = size; at < size && box > 0; at += box) {
        box = box_at(file, at, &lists);
    }
    if (file != NULL) {
        fclose(file);
    }
    if (lists && at == size) {
        return true;
    }
    snprintf(error->text, sizeof error->text, "%.200s: ffmpeg succeeded but %s", v->file.path,
             size == 0 ? "wrote nothing" : "the file is not whole (the disk may be full)");
    return false;
}

bool video_finish(video *v, image_error *error)
{
    wait_for(v);
    bool good = WIFEXITED(v->status) && WEXITSTATUS(v->status) == 0;
    if (!good) {
        quote(v, error);
    }
    good = good && is_whole(v, error) && lmi_partial_keep(&v->file, error->text);
    release(v);
    return good;
}

void video_abandon(video *v)
{
    if (v == NULL) {
        return;
    }
    if (v->ffmpeg > 0) {
        kill(v->ffmpeg, SIGKILL);
    }
    wait_for(v);
    release(v);
}
