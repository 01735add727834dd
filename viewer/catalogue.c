/* Built-in scenes and their sentences. */
#include "viewer/catalogue.h"

#include "limber/scene.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a scene says of itself; a scene that cannot be read says nothing here, and why when it is opened. */
static char *read_sentence(const char *name)
{
    lm_scene_error error;
    lm_scene *opened = lm_scene_open(name, NULL, 0, &error);
    const char *title = opened != NULL ? lm_scene_title(opened) : "";
    size_t size = strlen(title) + 1;
    char *sentence = malloc(size);
    if (sentence != NULL) {
        memcpy(sentence, title, size);
    }
    lm_scene_close(opened);
    return sentence;
}

bool catalogue_read(catalogue *c)
{
    *c = (catalogue){.entries = NULL};
    uint32_t count = 0;
    while (lm_scene_builtin_name(count) != NULL) {
        count++;
    }
    c->entries = calloc((size_t)count + 1, sizeof *c->entries);
    bool good = c->entries != NULL;
    for (uint32_t i = 0; i < count && good; i++) {
        c->entries[i].name = lm_scene_builtin_name(i);
        c->entries[i].sentence = read_sentence(c->entries[i].name);
        c->count++;
        good = c->entries[i].sentence != NULL;
    }
    return good;
}

void catalogue_free(catalogue *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->entries[i].sentence);
    }
    free(c->entries);
    *c = (catalogue){.entries = NULL};
}

static bool contains(const char *text, const char *word, size_t length)
{
    for (; *text != '\0'; text++) {
        size_t same = 0;
        while (same < length && tolower((unsigned char)text[same]) == tolower((unsigned char)word[same])) {
            same++;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

bool catalogue_matches(const catalogue_entry *entry, const char *search)
{
    while (*search != '\0') {
        size_t blank = strspn(search, " "), length;
        search += blank;
        length = strcspn(search, " ");
        if (length > 0 && !contains(entry->name, search, length) && !contains(entry->sentence, search, length)) {
            return false;
        }
        search += length;
    }
    return true;
}

uint32_t catalogue_find(const catalogue *c, const char *name)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (strcmp(c->entries[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}
