/* Files compiled in as text (cmake/embed.cmake). */
#ifndef LIMBER_EMBEDDED_H
#define LIMBER_EMBEDDED_H

#include <string.h>

typedef struct embedded_text {
    const char *name; /* of the file, without its folder and without .json; null at the end of a table */
    const char *text;
} embedded_text;

extern const embedded_text lmi_embedded_scenes[];
extern const embedded_text embedded_shaders[];
extern const embedded_text lmi_embedded_kernels[];

/* The text of that name in a table, or null. */
static inline const char *embedded_find(const embedded_text *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table->text;
    return NULL;
}

#endif
