/*
 * Decimal text to double, correctly rounded (to nearest, ties to even), whatever the host's locale.
 *
 * strtod would read "1,5" under a locale with a decimal comma and refuse "1.5"; a scene must mean the same everywhere.
 */
#ifndef LIMBER_IO_DECIMAL_H
#define LIMBER_IO_DECIMAL_H

#include <stddef.h>

/* `text` is a JSON number of `length` bytes (the caller has checked its grammar). Too large gives an infinity, too small
 * a zero, both with the number's sign. */
double decimal_to_double(const char *text, size_t length);

#endif
