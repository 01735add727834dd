/* Values of options that are more than a word: sizes, lists of numbers. */
#ifndef LIMBER_CLI_VALUES_H
#define LIMBER_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* "1280x720", each from `least` to `most`. */
bool value_read_pair(const char *text, uint32_t least, uint32_t most, uint32_t *first, uint32_t *second);

/* `count` finite numbers with commas between; *end is what follows. */
bool value_read_numbers(const char *text, double *numbers, uint32_t count, const char **end);

/* Whether a name ends so (".png"), in capitals too. */
bool value_ends_with(const char *name, const char *ending);

#endif
