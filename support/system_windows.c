/* Windows: names of files are passed in UTF-16, whatever the code page of the machine is. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "support/system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <shellapi.h>
#include <signal.h>
#include <stdlib.h>

/* ---- names ---- */

/* To be freed; null, with errno, where it is no UTF-8 or there is no memory. */
static wchar_t *wide(const char *text)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *to = length > 0 ? malloc((size_t)length * sizeof *to) : NULL;
    if (to == NULL) {
        errno = length > 0 ? ENOMEM : ENOENT;
        return NULL;
    }
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, to, length);
    return to;
}

static char *narrow(const wchar_t *text)
{
    int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *to = length > 0 ? malloc((size_t)length) : NULL;
    if (to != NULL) {
        WideCharToMultiByte(CP_UTF8, 0, text, -1, to, length, NULL, NULL);
    }
    return to;
}

static int error_number(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION: return EACCES;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS: return EEXIST;
    case ERROR_DISK_FULL: return ENOSPC;
    case ERROR_DIRECTORY: return ENOTDIR;
    default: return EIO;
    }
}

/* ---- files ---- */

static DWORD attributes_of(const char *path)
{
    wchar_t *name = wide(path);
    DWORD is = name != NULL ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    free(name);
    return is;
}

static bool is_folder(DWORD attributes)
{
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

FILE *lmi_system_open(const char *path, const char *mode)
{
    wchar_t *name = wide(path), *how = wide(mode);
    FILE *file = name != NULL && how != NULL ? _wfopen(name, how) : NULL;
    int why = errno;
    if (file == NULL && why == EACCES && is_folder(attributes_of(path))) {
        why = EISDIR;
    }
    free(name);
    free(how);
    errno = why;
    return file;
}

/* Attributes do not tell devices (NUL, CON) from files. */
static bool is_on_disk(const char *path)
{
    wchar_t *name = wide(path);
    HANDLE file = name == NULL ? INVALID_HANDLE_VALUE
                               : CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                             OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    bool is = file == INVALID_HANDLE_VALUE || GetFileType(file) == FILE_TYPE_DISK;
    if (file != INVALID_HANDLE_VALUE) {
        CloseHandle(file);
    }
    free(name);
    return is;
}

system_kind lmi_system_look(const char *path)
{
    DWORD is = attributes_of(path);
    if (is == INVALID_FILE_ATTRIBUTES) {
        return SYSTEM_NOTHING;
    }
    return is_folder(is) ? SYSTEM_FOLDER : is_on_disk(path) ? SYSTEM_FILE : SYSTEM_OTHER;
}

int lmi_system_may_write(const char *path)
{
    DWORD is = attributes_of(path);
    if (is == INVALID_FILE_ATTRIBUTES) {
        return ENOENT;
    }
    /* The mark means nothing for folders; whether one lets us in shows when something is written. */
    return !(is & FILE_ATTRIBUTE_DIRECTORY) && is & FILE_ATTRIBUTE_READONLY ? EACCES : 0;
}

int lmi_system_make_folder(const char *path)
{
    wchar_t *name = wide(path);
    int why = name == NULL ? errno : CreateDirectoryW(name, NULL) ? 0 : error_number(GetLastError());
    free(name);
    return why;
}

int lmi_system_rename(const char *from, const char *to)
{
    wchar_t *source = wide(from), *target = wide(to);
    int why = ENOMEM;
    if (source != NULL && target != NULL) {
        why = MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING) ? 0 : error_number(GetLastError());
    }
    free(source);
    free(target);
    return why;
}

void lmi_system_remove(const char *path)
{
    wchar_t *name = wide(path);
    if (name != NULL) {
        DeleteFileW(name);
    }
    free(name);
}

long lmi_system_process(void) { return (long)_getpid(); }

static bool has_drive(const char *path) { return ((path[0] | 32) >= 'a' && (path[0] | 32) <= 'z') && path[1] == ':'; }

bool lmi_system_parts_folders(char letter) { return letter == '/' || letter == '\\'; }

const char *lmi_system_last_part(const char *path)
{
    const char *last = has_drive(path) ? path + 2 : path;
    for (const char *at = last; *at != '\0'; at++) {
        if (lmi_system_parts_folders(*at)) {
            last = at + 1;
        }
    }
    return last;
}

bool lmi_system_is_absolute(const char *path) { return lmi_system_parts_folders(path[0]) || has_drive(path); }

/* ---- interruptions ---- */

static void (*to_clean_up)(void);

static BOOL WINAPI interrupted(DWORD kind)
{
    (void)kind;
    to_clean_up();
    return FALSE; /* whoever comes next ends the program */
}

void lmi_system_catch(void (*clean_up)(void))
{
    to_clean_up = clean_up;
    SetConsoleCtrlHandler(interrupted, TRUE);
}

void lmi_system_release(void) { SetConsoleCtrlHandler(interrupted, FALSE); }
void lmi_system_end_process(long process) { (void)process; }

/* ---- the terminal ---- */

double lmi_system_seconds(void)
{
    LARGE_INTEGER now, second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    return (double)now.QuadPart / (double)second.QuadPart;
}

bool lmi_system_is_terminal(FILE *stream) { return _isatty(_fileno(stream)) != 0; }

int lmi_system_mute(void)
{
    fflush(stderr);
    int was = _dup(2), nowhere = _open("NUL", _O_WRONLY);
    if (was >= 0 && nowhere >= 0) {
        _dup2(nowhere, 2);
    }
    if (nowhere >= 0) {
        _close(nowhere);
    }
    return was;
}

void lmi_system_unmute(int was)
{
    fflush(stderr);
    if (was >= 0) {
        _dup2(was, 2);
        _close(was);
    }
}

/* The bar of progress is made with escape sequences, as on other terminals. */
static void prepare_console(DWORD which)
{
    HANDLE console = GetStdHandle(which);
    DWORD mode;
    if (console != INVALID_HANDLE_VALUE && GetConsoleMode(console, &mode)) {
        SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
}

bool lmi_system_begin(int *argc, char ***argv)
{
    SetConsoleOutputCP(CP_UTF8);
    prepare_console(STD_OUTPUT_HANDLE);
    prepare_console(STD_ERROR_HANDLE);
    _setmode(1, _O_BINARY); /* lines end as everywhere else, so that what a script reads is the same */
    _setmode(2, _O_BINARY);
    int count = 0;
    wchar_t **given = CommandLineToArgvW(GetCommandLineW(), &count);
    char **arguments = given != NULL ? calloc((size_t)count + 1, sizeof *arguments) : NULL;
    if (arguments == NULL) {
        return false;
    }
    for (int i = 0; i < count; i++) { /* kept until the program ends */
        arguments[i] = narrow(given[i]);
        if (arguments[i] == NULL) {
            return false;
        }
    }
    LocalFree(given);
    *argc = count;
    *argv = arguments;
    return true;
}
