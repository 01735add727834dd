#include "io/json.h"

#include "io/decimal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * The arena
 */

typedef struct block {
    struct block *next;
    size_t used;
    size_t size;
    max_align_t bytes[];
} block;

struct json_document {
    block *blocks; /* the one in use first */
    uint32_t values;
};

#define BLOCK_SIZE ((size_t)16 << 10)

json_document *lmi_json_create(void) { return calloc(1, sizeof(json_document)); }

void lmi_json_free(json_document *document)
{
    if (document == NULL) {
        return;
    }
    for (block *b = document->blocks; b != NULL;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(document);
}

void *lmi_json_allocate(json_document *document, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    size = (size + unit - 1) / unit * unit;
    block *b = document->blocks;
    if (b == NULL || b->size - b->used < size) {
        /* Blocks grow with the document, so that a large one needs few of them. */
        size_t block_size = b == NULL ? BLOCK_SIZE : b->size < ((size_t)4 << 20) ? b->size * 2 : b->size;
        block_size = block_size < size ? size : block_size;
        b = malloc(sizeof(block) + block_size);
        if (b == NULL) {
            return NULL;
        }
        *b = (block){.next = document->blocks, .used = 0, .size = block_size};
        document->blocks = b;
    }
    void *memory = (char *)b->bytes + b->used;
    b->used += size;
    return memset(memory, 0, size);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The reader
 */

typedef struct reader {
    json_document *document;
    const char *source;
    const char *at;
    const char *end;
    uint32_t line;
    const char *line_start; /* moved forward by one for each byte that continues a character, so that columns count
                               characters */
    uint32_t depth;
    json_error *error;
    bool failed;
} reader;

static json_place place_of(const reader *r) { return (json_place){r->line, (uint32_t)(r->at - r->line_start) + 1}; }

static void fail_at(reader *r, json_place place, const char *format, ...)
{
    if (r->failed) {
        return;
    }
    r->failed = true;
    r->error->place = place;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error->text, sizeof r->error->text, format, arguments);
    va_end(arguments);
}

/* "expected ..., found ..." at the reader's place. */
static void fail_expected(reader *r, const char *expected)
{
    json_place place = place_of(r);
    unsigned char c = r->at < r->end ? (unsigned char)*r->at : 0;
    if (r->at >= r->end) {
        fail_at(r, place, "expected %s, found the end of the text", expected);
    } else if (c >= 0x20 && c < 0x7f) {
        fail_at(r, place, "expected %s, found '%c'", expected, c);
    } else {
        fail_at(r, place, "expected %s, found byte 0x%02x", expected, c);
    }
}

static void fail_memory(reader *r) { fail_at(r, place_of(r), "out of memory"); }

static void skip_space(reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
            break;
        }
    }
}

static bool is_digit(const reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

static bool take(reader *r, char c)
{
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool take_digits(reader *r)
{
    if (!is_digit(r)) {
        fail_expected(r, "a digit");
        return false;
    }
    while (is_digit(r)) {
        r->at++;
    }
    return true;
}

static void read_number(reader *r, json_value *value)
{
    const char *start = r->at;
    take(r, '-');
    if (take(r, '0')) {
        if (is_digit(r)) {
            fail_at(r, value->place, "a number may not start with a zero and another digit");
            return;
        }
    } else if (!take_digits(r)) {
        return;
    }
    if (take(r, '.') && !take_digits(r)) {
        return;
    }
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '-')) {
            take(r, '+');
        }
        if (!take_digits(r)) {
            return;
        }
    }
    value->kind = JSON_KIND_NUMBER;
    value->number = lmi_decimal_to_double(start, (size_t)(r->at - start));
    if (isinf(value->number)) {
        fail_at(r, value->place, "the number is too large (expected at most 1.8e308)");
    }
}

/* Length of the UTF-8 character at r->at, or 0 when it is not one (overlong, a surrogate, beyond U+10FFFF, cut off). */
static size_t utf8_length(const reader *r)
{
    const unsigned char *c = (const unsigned char *)r->at;
    size_t left = (size_t)(r->end - r->at);
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xed && c[1] >= 0xa0;
    bool beyond = c[0] == 0xf4 && c[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static size_t write_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static uint32_t read_hex4(reader *r)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->end ? *r->at : '\0';
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) {
            fail_expected(r, "four hexadecimal digits");
            return 0;
        }
        code = code * 16 + digit;
    }
    return code;
}

/* What follows a backslash; returns the bytes written to `out`. */
static size_t read_escape(reader *r, json_place place, char *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char bytes[] = "\"\\/\b\f\n\r\t";
    const char *known = r->at < r->end && *r->at != '\0' ? strchr(names, *r->at) : NULL;
    if (known != NULL) {
        r->at++;
        *out = bytes[known - names];
        return 1;
    }
    if (!take(r, 'u')) {
        fail_expected(r, "one of \" \\ / b f n r t u after a backslash");
        return 0;
    }
    uint32_t code = read_hex4(r);
    if (code >= 0xd800 && code < 0xdc00) {
        uint32_t low = take(r, '\\') && take(r, 'u') ? read_hex4(r) : 0;
        if (low < 0xdc00 || low > 0xdfff) {
            fail_at(r, place, "the first half of a surrogate pair stands alone");
            return 0;
        }
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        fail_at(r, place, "the second half of a surrogate pair stands alone");
        return 0;
    }
    return write_utf8(out, code);
}

/* Bytes up to the closing quote: an upper bound of the string's length, as no escape is shorter than what it means. */
static size_t string_bound(const reader *r)
{
    const char *c = r->at;
    while (c < r->end && *c != '"') {
        c += *c == '\\' ? 2 : 1;
    }
    return (size_t)((c < r->end ? c : r->end) - r->at);
}

/* A string whose opening quote has been read. */
static void read_string(reader *r, const char **text, uint32_t *length)
{
    char *out = lmi_json_allocate(r->document, string_bound(r) + 1);
    if (out == NULL) {
        fail_memory(r);
        return;
    }
    *text = out;
    while (!r->failed) {
        json_place place = place_of(r);
        if (r->at >= r->end) {
            fail_expected(r, "'\"' at the end of the string");
        } else if (take(r, '"')) {
            *length = (uint32_t)(out - *text);
            return;
        } else if (take(r, '\\')) {
            out += read_escape(r, place, out);
        } else if ((unsigned char)*r->at < 0x20) {
            fail_at(r, place, "a control character within a string (expected \\n, \\t or \\u00..)");
        } else {
            size_t bytes = utf8_length(r);
            if (bytes == 0) {
                fail_at(r, place, "not valid UTF-8");
                return;
            }
            memcpy(out, r->at, bytes);
            out += bytes;
            r->at += bytes;
            r->line_start += bytes - 1;
        }
    }
}

static void append(json_value *parent, json_value *child)
{
    if (parent->last == NULL) {
        parent->first = child;
    } else {
        parent->last->next = child;
    }
    parent->last = child;
    parent->count++;
}

static bool same_key(const json_value *a, const json_value *b)
{
    return a->key_length == b->key_length && memcmp(a->key, b->key, a->key_length) == 0;
}

static uint64_t hash_key(const json_value *member)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < member->key_length; i++) {
        hash = (hash ^ (unsigned char)member->key[i]) * 0x100000001b3u;
    }
    return hash ^ hash >> 29;
}

/* Two keys of one object must not be equal: with a hash table, so that a large object is not checked pair by pair. */
static void check_keys(reader *r, const json_value *object)
{
    size_t size = 8;
    while (size < (size_t)object->count * 2) {
        size *= 2;
    }
    const json_value *few[32] = {NULL};
    const json_value **table = size <= 32 ? few : calloc(size, sizeof *table);
    if (table == NULL) {
        fail_memory(r);
        return;
    }
    for (const json_value *member = object->first; member != NULL && !r->failed; member = member->next) {
        size_t slot = (size_t)hash_key(member) & (size - 1);
        while (table[slot] != NULL && !same_key(table[slot], member)) {
            slot = (slot + 1) & (size - 1);
        }
        if (table[slot] != NULL) {
            fail_at(r, member->key_place, "the key \"%.60s\" was given before, on line %u", member->key,
                    (unsigned)table[slot]->key_place.line);
        }
        table[slot] = member;
    }
    if (table != few) {
        free(table);
    }
}

static void read_value(reader *r, json_value *value);

static json_value *new_value(reader *r)
{
    if (r->document->values >= JSON_MAX_VALUES) {
        fail_at(r, place_of(r), "more than %u values", JSON_MAX_VALUES);
        return NULL;
    }
    json_value *value = lmi_json_allocate(r->document, sizeof *value);
    if (value == NULL) {
        fail_memory(r);
        return NULL;
    }
    r->document->values++;
    return value;
}

static json_value *read_member(reader *r)
{
    json_place place = place_of(r);
    if (!take(r, '"')) {
        fail_expected(r, "a key in quotes");
        return NULL;
    }
    json_value *value = new_value(r);
    if (value == NULL) {
        return NULL;
    }
    value->key_place = place;
    read_string(r, &value->key, &value->key_length);
    skip_space(r);
    if (!r->failed && !take(r, ':')) {
        fail_expected(r, "':' after the key");
    }
    skip_space(r);
    if (!r->failed) {
        read_value(r, value);
    }
    return value;
}

/* The inside of an array or object whose opening bracket has been read. */
static void read_children(reader *r, json_value *parent, char closing)
{
    if (++r->depth > JSON_MAX_DEPTH) {
        fail_at(r, parent->place, "nested too deep (expected at most %d levels)", JSON_MAX_DEPTH);
        return;
    }
    skip_space(r);
    bool more = !take(r, closing);
    while (more && !r->failed) {
        json_value *child = parent->kind == JSON_KIND_OBJECT ? read_member(r) : new_value(r);
        if (child == NULL) {
            return;
        }
        if (parent->kind == JSON_KIND_ARRAY) {
            read_value(r, child);
        }
        append(parent, child);
        skip_space(r);
        if (r->failed) {
            return;
        }
        more = take(r, ',');
        if (!more && !take(r, closing)) {
            fail_expected(r, closing == '}' ? "',' or '}'" : "',' or ']'");
        }
        skip_space(r);
    }
    if (parent->kind == JSON_KIND_OBJECT && !r->failed) {
        check_keys(r, parent);
    }
    r->depth--;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

/* Reads the value at r->at (no space before it) into `value`, which may have a key already. */
static void read_value(reader *r, json_value *value)
{
    value->place = place_of(r);
    value->source = r->source;
    if (take(r, '{')) {
        value->kind = JSON_KIND_OBJECT;
        read_children(r, value, '}');
    } else if (take(r, '[')) {
        value->kind = JSON_KIND_ARRAY;
        read_children(r, value, ']');
    } else if (take(r, '"')) {
        value->kind = JSON_KIND_STRING;
        read_string(r, &value->text, &value->length);
    } else if (r->at < r->end && (*r->at == '-' || is_digit(r))) {
        read_number(r, value);
    } else if (take_word(r, "true")) {
        value->kind = JSON_KIND_BOOL;
        value->boolean = true;
    } else if (take_word(r, "false")) {
        value->kind = JSON_KIND_BOOL;
    } else if (take_word(r, "null")) {
        value->kind = JSON_KIND_NULL;
    } else {
        fail_expected(r, "a value");
    }
}

json_value *lmi_json_parse(json_document *document, const char *text, size_t length, const char *source,
                           json_error *error)
{
    reader r = {.document = document,
                .source = source,
                .at = text,
                .end = text + length,
                .line = 1,
                .line_start = text,
                .error = error};
    *error = (json_error){.place = {1, 1}};
    if (length > JSON_MAX_BYTES) {
        fail_at(&r, place_of(&r), "%zu bytes are too many (expected at most %u)", length, JSON_MAX_BYTES);
        return NULL;
    }
    skip_space(&r);
    json_value *value = new_value(&r);
    if (value == NULL) {
        return NULL;
    }
    read_value(&r, value);
    skip_space(&r);
    if (!r.failed && r.at < r.end) {
        fail_expected(&r, "nothing after the value");
    }
    return r.failed ? NULL : value;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The tree
 */

json_value *lmi_json_get(const json_value *object, const char *key)
{
    if (object == NULL || object->kind != JSON_KIND_OBJECT) {
        return NULL;
    }
    size_t length = strlen(key);
    for (json_value *member = object->first; member != NULL; member = member->next) {
        if (member->key_length == length && memcmp(member->key, key, length) == 0) {
            return member;
        }
    }
    return NULL;
}

json_value *lmi_json_at(const json_value *array, uint32_t index)
{
    if (array == NULL || array->kind != JSON_KIND_ARRAY) {
        return NULL;
    }
    json_value *value = array->first;
    for (uint32_t i = 0; i < index && value != NULL; i++) {
        value = value->next;
    }
    return value;
}

json_value *lmi_json_put(json_document *document, json_value *object, const char *key, const json_value *value)
{
    json_value *member = lmi_json_get(object, key);
    if (member == NULL) {
        size_t length = strlen(key);
        member = lmi_json_allocate(document, sizeof *member);
        char *copy = lmi_json_allocate(document, length + 1);
        if (member == NULL || copy == NULL) {
            return NULL;
        }
        member->key = memcpy(copy, key, length);
        member->key_length = (uint32_t)length;
        member->key_place = value->place;
        append(object, member);
    }
    json_value kept = *member;
    *member = *value;
    member->next = kept.next;
    member->key = kept.key;
    member->key_length = kept.key_length;
    member->key_place = kept.key_place;
    return member;
}

const char *lmi_json_kind_text(json_kind kind)
{
    static const char *const texts[] = {"null", "true or false", "a number", "a string", "a list", "an object"};
    return texts[kind];
}
