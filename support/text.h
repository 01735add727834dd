/*
 * A growing string: what printf makes, and JSON string literals.
 *
 * A failed allocation is remembered, not reported each time: write everything, then ask lmi_text_take.
 */
#ifndef LIMBER_SUPPORT_TEXT_H
#define LIMBER_SUPPORT_TEXT_H

#include "support/like_printf.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct text_buffer {
    char *bytes; /* ends with a zero byte once anything was written */
    size_t length;
    size_t capacity;
    bool failed; /* an allocation failed: the contents are incomplete */
} text_buffer;

void lmi_text_add(text_buffer *text, const char *bytes, size_t length);
void lmi_text_addf(text_buffer *text, const char *format, ...) LIKE_PRINTF(2, 3);

/* A JSON string literal with its quotes; `string` is UTF-8. */
void lmi_text_add_json_string(text_buffer *text, const char *string);

/* A finite number so that reading it gives the same double; "null" for anything else (JSON has no word for it). */
void lmi_text_add_json_number(text_buffer *text, double number);

/* The string, to be freed by the caller; null when memory ran out. The text is empty afterwards. */
char *lmi_text_take(text_buffer *text);
void lmi_text_free(text_buffer *text);

#endif
