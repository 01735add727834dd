/*
 * JSON (RFC 8259, nothing more) as a tree that remembers where every value and key stood.
 *
 * Strict: UTF-8 is checked, keys may not repeat within an object, a number too large for a double is an error, nothing
 * may follow the value. The tree, and whatever else the reader of a file needs to keep beside it, lives in the
 * document's arena and is freed at once. A document may be changed through its (non-const) values before it is used.
 */
#ifndef LIMBER_IO_JSON_H
#define LIMBER_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 64          /* arrays and objects within each other */
#define JSON_MAX_BYTES (64u << 20) /* of text */
#define JSON_MAX_VALUES (8u << 20) /* in a document */

typedef enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_BOOL,
    JSON_KIND_NUMBER,
    JSON_KIND_STRING,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT
} json_kind;

/* Both count from 1; a column is a character (code point), not a byte. */
typedef struct json_place {
    uint32_t line;
    uint32_t column;
} json_place;

typedef struct json_value json_value;
struct json_value {
    json_kind kind;
    json_place place;
    const char *source; /* null: the document's text; else the caller's name for where the value came from */

    bool boolean;      /* JSON_KIND_BOOL */
    double number;     /* JSON_KIND_NUMBER, finite */
    const char *text;  /* JSON_KIND_STRING: UTF-8 and a zero byte */
    uint32_t length;   /* JSON_KIND_STRING: bytes; more than strlen(text) when the string contains \u0000 */
    json_value *first; /* JSON_KIND_ARRAY, JSON_KIND_OBJECT: the first of the values in it */
    json_value *last;
    uint32_t count;

    json_value *next; /* the next one in the same array or object */
    const char *key;  /* within an object, else null */
    uint32_t key_length;
    json_place key_place;
};

typedef struct json_document json_document;

typedef struct json_error {
    json_place place;
    char text[160]; /* "expected ',' or '}', found end of text" */
} json_error;

/* An empty document; null when out of memory. */
json_document *lmi_json_create(void);
void lmi_json_free(json_document *document);

/* Reads one value into the document's arena; null and *error on failure. `source` is stored in every value (see
 * json_value), and must live as long as the document. */
json_value *lmi_json_parse(json_document *document, const char *text, size_t length, const char *source,
                           json_error *error);

/* Zeroed memory that lives as long as the document; null when out of memory. */
void *lmi_json_allocate(json_document *document, size_t size);

/* The value of a key; null when there is none, or when `object` is not an object. */
json_value *lmi_json_get(const json_value *object, const char *key);

/* The value at an index; null past the end, or when `array` is not an array. */
json_value *lmi_json_at(const json_value *array, uint32_t index);

/* A new member at the end of an object, or in place of the one with the same key. Null when out of memory. */
json_value *lmi_json_put(json_document *document, json_value *object, const char *key, const json_value *value);

/* "an object", "a number", ... */
const char *lmi_json_kind_text(json_kind kind);

#endif
