/* The names of views. */
#include "draw/draw.h"

#include <string.h>

static const char *const names[] = {
    "surface", "wireframe", "particles", "regions", "goals", "links", "contacts", "speed", "strain", "bones", "stress",
};

const char *draw_view_name(uint32_t index) { return index < sizeof names / sizeof names[0] ? names[index] : NULL; }

uint32_t draw_view_find(const char *name)
{
    for (uint32_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        if (strcmp(names[n], name) == 0) {
            return 1u << n;
        }
    }
    return 0;
}
