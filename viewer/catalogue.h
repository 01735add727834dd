/* The scenes that there are: built in, each with a sentence; and finding them. */
#ifndef LIMBER_VIEWER_CATALOGUE_H
#define LIMBER_VIEWER_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct catalogue_entry {
    const char *name; /* static */
    char *sentence;   /* what it shows */
} catalogue_entry;

typedef struct catalogue {
    catalogue_entry *entries;
    uint32_t count;
} catalogue;

/* False: no memory. */
bool catalogue_read(catalogue *catalogue);
void catalogue_free(catalogue *catalogue);

/* Whether every word of `search` is in the name or the sentence, in capitals or not. */
bool catalogue_matches(const catalogue_entry *entry, const char *search);

/* By name; UINT32_MAX: none. */
uint32_t catalogue_find(const catalogue *catalogue, const char *name);

#endif
