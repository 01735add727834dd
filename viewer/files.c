/* Reading folders. */
#define _XOPEN_SOURCE 700 /* POSIX, and realpath */

#include "viewer/files.h"

#include "limber/mesh.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

file_kind file_kind_of(const char *name)
{
    return ends_with(name, ".limber") ? FILE_SNAPSHOT
           : ends_with(name, ".json") ? FILE_SCENE
           : lm_mesh_is_name(name)    ? FILE_MESH
                                      : FILE_OTHER;
}

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", name);
    }
    return path;
}

char *file_list_path(const file_list *list, const char *name) { return join(list->folder, name); }

static void forget_entries(file_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->entries[i].name);
    }
    free(list->entries);
    list->entries = NULL;
    list->count = 0;
}

void file_list_free(file_list *list)
{
    forget_entries(list);
    free(list->folder);
    *list = (file_list){.folder = NULL};
}

static int compare(const void *a, const void *b)
{
    const file_entry *x = a, *y = b;
    bool folder_x = x->kind == FILE_FOLDER, folder_y = y->kind == FILE_FOLDER;
    return folder_x != folder_y ? folder_y - folder_x : strcmp(x->name, y->name);
}

/* False without memory. Hidden files and what the viewer cannot open are left out. */
static bool add(file_list *list, const char *name)
{
    char *path = join(list->folder, name);
    struct stat about;
    bool there = path != NULL && stat(path, &about) == 0;
    file_kind kind = there && S_ISDIR(about.st_mode) ? FILE_FOLDER : file_kind_of(name);
    free(path);
    if (!there || kind == FILE_OTHER || (name[0] == '.' && strcmp(name, "..") != 0)) {
        return true;
    }
    file_entry *grown = realloc(list->entries, (list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    list->entries = grown;
    grown[list->count].kind = kind;
    grown[list->count].name = strdup(name);
    list->count += grown[list->count].name != NULL;
    return true;
}

void file_list_show(file_list *list, const char *folder)
{
    char *whole = realpath(folder, NULL);
    char *kept = whole != NULL ? whole : strdup(folder);
    forget_entries(list);
    free(list->folder);
    list->folder = kept;
    list->problem[0] = '\0';
    DIR *opened = kept != NULL ? opendir(kept) : NULL;
    if (opened == NULL) {
        snprintf(list->problem, sizeof list->problem, "%.150s: %s", folder, strerror(errno));
        return;
    }
    for (struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        if (!add(list, entry->d_name)) {
            break;
        }
    }
    closedir(opened);
    qsort(list->entries, list->count, sizeof *list->entries, compare);
}

void file_free_name(char *path, uint32_t size, const char *name, const char *ending)
{
    struct stat about;
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;
    int length = (int)strcspn(base, ".");
    for (uint32_t i = 1; i < 100000; i++) {
        snprintf(path, size, "%.*s-%u%s", length, base, (unsigned)i, ending);
        if (stat(path, &about) != 0) {
            return;
        }
    }
}
