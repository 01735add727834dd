/* The folder that the file picker shows: other folders, scenes, meshes and snapshots. */
#ifndef LIMBER_VIEWER_FILES_H
#define LIMBER_VIEWER_FILES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum file_kind { FILE_FOLDER, FILE_SCENE, FILE_MESH, FILE_SNAPSHOT, FILE_OTHER } file_kind;

typedef struct file_entry {
    char *name; /* without the folder */
    file_kind kind;
} file_entry;

typedef struct file_list {
    char *folder; /* absolute where that can be found */
    file_entry *entries;
    uint32_t count;
    char problem[256]; /* why the folder cannot be shown, or "" */
} file_list;

/* What a name says it is. */
file_kind file_kind_of(const char *name);

/* Shows a folder ("." is where the program was started): folders first, then by name. */
void file_list_show(file_list *list, const char *folder);
void file_list_free(file_list *list);

/* The whole path of an entry, to be freed; null without memory. */
char *file_list_path(const file_list *list, const char *name);

/* The first of NAME-1ENDING, NAME-2ENDING, ... that is not there yet, in the current folder. */
void file_free_name(char *path, uint32_t size, const char *name, const char *ending);

#endif
