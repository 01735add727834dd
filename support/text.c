#include "support/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(text_buffer *text, size_t more)
{
    if (text->failed || more >= SIZE_MAX / 4) {
        text->failed = true;
        return false;
    }
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = text->capacity == 0 ? 256 : text->capacity;
    while (capacity < needed) {
        capacity *= 2;
    }
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void lmi_text_add(text_buffer *text, const char *bytes, size_t length)
{
    if (!reserve(text, length)) {
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void lmi_text_addf(text_buffer *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else {
        text->failed = true;
    }
    va_end(again);
}

void lmi_text_add_json_string(text_buffer *text, const char *string)
{
    lmi_text_add(text, "\"", 1);
    for (const char *c = string; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            lmi_text_addf(text, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            lmi_text_addf(text, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            lmi_text_add(text, c, 1);
        }
    }
    lmi_text_add(text, "\"", 1);
}

void lmi_text_add_json_number(text_buffer *text, double number)
{
    if (!isfinite(number)) {
        lmi_text_addf(text, "null");
        return;
    }
    char shortest[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, number);
        if (strtod(shortest, NULL) == number) {
            break;
        }
    }
    /* The host may have chosen a locale with a decimal comma. */
    for (char *c = shortest; *c != '\0'; c++) {
        if (*c == ',') {
            *c = '.';
        }
    }
    lmi_text_addf(text, "%s", shortest);
}

char *lmi_text_take(text_buffer *text)
{
    if (text->failed || !reserve(text, 0)) {
        lmi_text_free(text);
        return NULL;
    }
    char *bytes = text->bytes;
    bytes[text->length] = '\0';
    memset(text, 0, sizeof *text);
    return bytes;
}

void lmi_text_free(text_buffer *text)
{
    free(text->bytes);
    memset(text, 0, sizeof *text);
}
