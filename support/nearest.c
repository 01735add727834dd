#include "support/nearest.h"

#include <stdbool.h>
#include <string.h>

#define LONGEST 64

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '-' ? '_' : c; }

/* Edits that turn a into b: a letter added, dropped or changed, or two neighbours swapped. Case and - or _ are free. */
static uint32_t edit_distance(const char *a, const char *b)
{
    uint32_t a_length = (uint32_t)strlen(a);
    uint32_t b_length = (uint32_t)strlen(b);
    if (a_length > LONGEST || b_length > LONGEST) {
        return UINT32_MAX;
    }
    uint32_t rows[3][LONGEST + 1]; /* the row before last, the last, this one */
    for (uint32_t j = 0; j <= b_length; j++) {
        rows[1][j] = j;
    }
    for (uint32_t i = 1; i <= a_length; i++) {
        rows[2][0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            uint32_t best = least(rows[1][j - 1] + change, least(rows[1][j], rows[2][j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) {
                best = least(best, rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        memcpy(rows[0], rows[1], sizeof rows[0]);
        memcpy(rows[1], rows[2], sizeof rows[1]);
    }
    return rows[1][b_length];
}

nearest_name lmi_nearest_to(const char *wanted)
{
    /* Up to a third of the letters may be wrong, and always two. */
    uint32_t length = (uint32_t)strlen(wanted);
    uint32_t allowed = length / 3 < 2 ? 2 : length / 3;
    return (nearest_name){.wanted = wanted, .best = NULL, .distance = allowed + 1};
}

void lmi_nearest_offer(nearest_name *nearest, const char *name)
{
    uint32_t distance = edit_distance(nearest->wanted, name);
    /* Replacing every letter of a short name is no likeness. */
    if (distance < nearest->distance && distance < strlen(name)) {
        nearest->distance = distance;
        nearest->best = name;
    }
}
