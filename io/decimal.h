/*
 * Decimal text to double, correctly rounded (to nearest, ties to even), whatever the host's locale.
 *
 * strtod would read "1,5" under a locale with a decimal comma and refuse "1.5"; a scene must mean the same everywhere.
 */
#ifndef LIMBER_IO_DECIMAL_H
#define LIMBER_IO_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* `text` is a JSON number of `length` bytes (the caller has checked its grammar). Too large gives an infinity, too small
 * a zero, both with the number's sign. */
double lmi_decimal_to_double(const char *text, size_t length);

/* A whole word as a number: [+-] digits [. digits] [e [+-] digits] with a digit before or after the point, which is
 * more than JSON allows and what mesh files hold. False: the word is something else, "nan" and "inf" among it. */
bool lmi_decimal_read(const char *word, size_t length, double *value);

/* The same to the nearest float, always (float) of the above, and faster for the many digits that mesh files have. */
bool lmi_decimal_read_float(const char *word, size_t length, float *value);

#endif
