/* Sizes and numbers from the command line. */
#include "cli/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_whole(const char *text, uint32_t least, uint32_t most, uint32_t *number, const char **end)
{
    if (!isdigit((unsigned char)text[0])) {
        return false; /* strtoull would take blanks and signs */
    }
    char *after;
    errno = 0;
    unsigned long long value = strtoull(text, &after, 10);
    *number = (uint32_t)value;
    *end = after;
    return errno == 0 && value >= least && value <= most;
}

bool value_read_pair(const char *text, uint32_t least, uint32_t most, uint32_t *first, uint32_t *second)
{
    const char *end;
    return read_whole(text, least, most, first, &end) && (*end == 'x' || *end == 'X') &&
           read_whole(end + 1, least, most, second, &end) && *end == '\0';
}

bool value_read_numbers(const char *text, double *numbers, uint32_t count, const char **end)
{
    for (uint32_t i = 0; i < count; i++) {
        char *after;
        numbers[i] = strtod(text, &after);
        bool last = i + 1 == count;
        /* Blanks, "0x10" and "inf", which strtod would take too, have other characters. */
        bool decimal = (size_t)(after - text) <= strspn(text, "0123456789+-.eE");
        if (after == text || !decimal || !isfinite(numbers[i]) || (!last && *after != ',')) {
            return false;
        }
        *end = after;
        text = after + 1;
    }
    return true;
}

bool value_ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), wanted = strlen(ending);
    if (length < wanted) {
        return false;
    }
    for (size_t i = 0; i < wanted; i++) {
        if (tolower((unsigned char)name[length - wanted + i]) != ending[i]) {
            return false;
        }
    }
    return true;
}
