/*
 * The JSON reader against jansson: both must accept and refuse the same documents and read the same values.
 *
 * Where they differ on purpose, the generator stays away or the comparison knows: we refuse more than 64 levels (jansson
 * 2048), keep a zero character in keys (jansson refuses it), and refuse a zero byte between values (jansson passes over
 * some).
 */
#include "io/decimal.h"
#include "io/json.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Random documents
 */

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % bound);
}

typedef struct random_text {
    char text[1 << 16];
    size_t length;
} random_text;

static void put(random_text *d, const char *text)
{
    size_t length = strlen(text);
    if (d->length + length < sizeof d->text) {
        memcpy(d->text + d->length, text, length + 1);
        d->length += length;
    }
}

static void put_space(random_text *d)
{
    static const char *const spaces[] = {"", "", "", " ", "\n", "\t", "\r\n", "  "};
    put(d, spaces[random_below(8)]);
}

static void put_string(random_text *d)
{
    static const char *const pieces[] = {
        "a",    "key", "\xc3\xa9",     "\xe2\x82\xac", "\xf0\x9f\x90\xa7", "\\n",     "\\\\",
        "\\\"", "\\/", "\\u0041",      "\\u20ac",      "\\ud83d\\udc27",   "\\u0000", "\\u00e9",
        " ",    "0",   "\\b\\f\\r\\t", "\x7f"};
    put(d, "\"");
    for (uint32_t i = random_below(5); i > 0; i--) put(d, pieces[random_below(18)]);
    put(d, "\"");
}

static void put_number(random_text *d)
{
    char text[64];
    uint32_t kind = random_below(6), first = random_below(10), a = random_below(1000000000),
             b = random_below(1000000000);
    uint32_t power = random_below(330);
    switch (kind) {
    case 0: snprintf(text, sizeof text, "%d", (int)(a % 2001) - 1000); break;
    case 1: snprintf(text, sizeof text, "%.17g", (a % 1000000 - 5e5) * 1e-3); break;
    case 2: snprintf(text, sizeof text, "%u%u.%ue-%u", first + 1, a, b, power); break;
    case 3: snprintf(text, sizeof text, "-%u.%uE+%u", first, a % 1000000, power % 307); break;
    case 4: snprintf(text, sizeof text, "%u%09u%09u", first + 1, a, b); break;
    default: put(d, first % 2 ? "0" : "-0.0"); return;
    }
    put(d, text);
}

static void put_value(random_text *d, uint32_t depth)
{
    static const char *const words[] = {"true", "false", "null"};
    uint32_t kind = random_below(depth > 5 ? 4 : 7);
    put_space(d);
    if (kind <= 1) {
        put_number(d);
    } else if (kind == 2) {
        put_string(d);
    } else if (kind == 3) {
        put(d, words[random_below(3)]);
    } else {
        bool object = kind == 4;
        put(d, object ? "{" : "[");
        put_space(d);
        for (uint32_t i = 0, count = random_below(6); i < count; i++) {
            put(d, i > 0 ? "," : "");
            put_space(d);
            if (object) {
                put_string(d);
                put_space(d);
                put(d, ":");
            }
            put_value(d, depth + 1);
        }
        put(d, object ? "}" : "]");
    }
    put_space(d);
}

static void mutate(random_text *d)
{
    static const char bytes[] = "{}[],:\"\\0123456789+-.eEtrufalsn /\n\x01\x80\xc3\xff";
    for (uint32_t i = 1 + random_below(3); i > 0 && d->length > 0; i--) {
        uint32_t at = random_below((uint32_t)d->length);
        switch (random_below(3)) {
        case 0: d->text[at] = bytes[random_below(sizeof bytes - 1)]; break;
        case 1:
            memmove(d->text + at, d->text + at + 1, d->length - at - 1);
            d->length--;
            break;
        default:
            if (d->length + 1 < sizeof d->text) {
                memmove(d->text + at + 1, d->text + at, d->length - at);
                d->text[at] = bytes[random_below(sizeof bytes - 1)];
                d->length++;
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Comparison
 */

static void assert_same(const json_value *ours, json_t *theirs)
{
    switch (ours->kind) {
    case JSON_KIND_NULL: assert_true(json_is_null(theirs)); break;
    case JSON_KIND_BOOL: assert_int_equal(ours->boolean, json_is_true(theirs)); break;
    case JSON_KIND_NUMBER: {
        assert_true(json_is_real(theirs));
        double number = json_real_value(theirs);
        assert_memory_equal(&ours->number, &number, sizeof number);
        break;
    }
    case JSON_KIND_STRING:
        assert_true(json_is_string(theirs));
        assert_int_equal(ours->length, json_string_length(theirs));
        assert_memory_equal(ours->text, json_string_value(theirs), ours->length + 1);
        break;
    case JSON_KIND_ARRAY: {
        assert_true(json_is_array(theirs));
        assert_int_equal(ours->count, json_array_size(theirs));
        size_t index = 0;
        for (const json_value *item = ours->first; item != NULL; item = item->next) {
            assert_same(item, json_array_get(theirs, index++));
        }
        break;
    }
    case JSON_KIND_OBJECT:
        assert_true(json_is_object(theirs));
        assert_int_equal(ours->count, json_object_size(theirs));
        for (const json_value *member = ours->first; member != NULL; member = member->next) {
            json_t *value = json_object_get(theirs, member->key);
            assert_non_null(value);
            assert_same(member, value);
        }
        break;
    }
}

/* jansson refuses a zero character in keys; ours keeps it. */
static bool has_zero_in_key(const json_value *value)
{
    if (value->key != NULL && strlen(value->key) != value->key_length) return true;
    for (const json_value *child = value->first; child != NULL; child = child->next) {
        if (has_zero_in_key(child)) return true;
    }
    return false;
}

static bool compare(const char *text, size_t length)
{
    json_document *document = lmi_json_create();
    json_error wrong;
    json_value *ours = lmi_json_parse(document, text, length, NULL, &wrong);
    json_error_t error;
    const size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    json_t *theirs = json_loadb(text, length, flags, &error);
    bool known_difference = ours != NULL && theirs == NULL && has_zero_in_key(ours);
    if ((ours != NULL) != (theirs != NULL) && !known_difference) {
        fail_msg("ours: %s (%u:%u), jansson: %s, for: %.*s", ours != NULL ? "accepts" : wrong.text, wrong.place.line,
                 wrong.place.column, theirs != NULL ? "accepts" : error.text, (int)length, text);
    }
    if (ours != NULL && theirs != NULL) assert_same(ours, theirs);
    bool accepted = ours != NULL;
    json_decref(theirs);
    lmi_json_free(document);
    return accepted;
}

static void test_random_documents_agree(void **state)
{
    (void)state;
    static random_text d;
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        d.length = 0;
        put_value(&d, 0);
        accepted += compare(d.text, d.length) ? 1 : 0;
    }
    assert_in_range(accepted, 12000, 20000); /* the rest repeats a key */
}

static void test_mutated_documents_agree(void **state)
{
    (void)state;
    static random_text d;
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < 60000; i++) {
        d.length = 0;
        put_value(&d, 0);
        mutate(&d);
        accepted += compare(d.text, d.length) ? 1 : 0;
    }
    assert_in_range(accepted, 5000, 45000);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Numbers
 */

static double bits_to_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void assert_reads_as(const char *text, double expected)
{
    double value = lmi_decimal_to_double(text, strlen(text));
    if (memcmp(&value, &expected, sizeof value) != 0) fail_msg("%s reads as %.17g, not %.17g", text, value, expected);
}

static void test_every_kind_of_double_reads_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200000; i++) {
        random_below(2);
        double value = bits_to_double(random_state ^ random_state >> 29);
        if (!isfinite(value)) continue;
        char text[64];
        snprintf(text, sizeof text, "%.*e", (int)(15 + random_below(8)), value);
        assert_reads_as(text, strtod(text, NULL));
    }
}

/* Numbers half way between two doubles, and a hair above and below. */
static void test_halfway_cases_round_to_even(void **state)
{
    (void)state;
    assert_reads_as("9007199254740993", 9007199254740992.0);
    assert_reads_as("9007199254740995", 9007199254740996.0);
    assert_reads_as("9007199254740993.00000000000000000000000000000001", 9007199254740994.0);
    assert_reads_as("2.2250738585072012e-308", 2.2250738585072014e-308);
    assert_reads_as("4.9406564584124654e-324", 5e-324);
    assert_reads_as("2.4703282292062327e-324", 0.0);
    assert_reads_as("2.4703282292062328e-324", 5e-324);
    assert_reads_as("1.7976931348623157e308", 1.7976931348623157e308);
    assert_reads_as("1.7976931348623159e308", (double)INFINITY);
    assert_reads_as("1e999999999999", (double)INFINITY);
    assert_reads_as("-1e-999999999999", -0.0);
    assert_reads_as("0.000000000000000000000000000000000000001e39", 1.0);
    for (uint32_t i = 0; i < 2000; i++) {
        random_below(2);
        uint64_t bits = (random_state >> 2) % 0x7fe0000000000000u;
        char text[1200];
        /* Exactly between the two, written out in full: 1100 digits hold any double and its half steps. */
        int length = snprintf(text, sizeof text, "%.1100Lf",
                              ((long double)bits_to_double(bits) + (long double)bits_to_double(bits + 1)) / 2.0L);
        if (length < (int)sizeof text) assert_reads_as(text, strtod(text, NULL));
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Places and messages
 */

static void assert_error(const char *text, uint32_t line, uint32_t column, const char *expected)
{
    json_document *document = lmi_json_create();
    json_error error;
    assert_null(lmi_json_parse(document, text, strlen(text), NULL, &error));
    lmi_json_free(document);
    if (error.place.line != line || error.place.column != column || strcmp(error.text, expected) != 0) {
        fail_msg("%u:%u: %s, expected %u:%u: %s", error.place.line, error.place.column, error.text, line, column,
                 expected);
    }
}

static void test_errors_say_where_and_what(void **state)
{
    (void)state;
    assert_error("", 1, 1, "expected a value, found the end of the text");
    assert_error("{\n  \"a\": 1,\n}", 3, 1, "expected a key in quotes, found '}'");
    assert_error("{\"a\" 1}", 1, 6, "expected ':' after the key, found '1'");
    assert_error("[1, 2", 1, 6, "expected ',' or ']', found the end of the text");
    assert_error("{\"a\": NaN}", 1, 7, "expected a value, found 'N'");
    assert_error("[1] 2", 1, 5, "expected nothing after the value, found '2'");
    assert_error("{\"a\": 1,\n \"a\": 2}", 2, 2, "the key \"a\" was given before, on line 1");
    assert_error("[01]", 1, 2, "a number may not start with a zero and another digit");
    assert_error("[1e400]", 1, 2, "the number is too large (expected at most 1.8e308)");
    assert_error("\"\xc3\xa9\xff\"", 1, 3, "not valid UTF-8"); /* columns count characters, not bytes */
    assert_error("\"\\ud800\"", 1, 2, "the first half of a surrogate pair stands alone");
    assert_error("\"a\nb\"", 1, 3, "a control character within a string (expected \\n, \\t or \\u00..)");
    assert_error("\xef\xbb\xbf{}", 1, 1, "expected a value, found byte 0xef");
    assert_error("// no\n1", 1, 1, "expected a value, found '/'");
}

static void test_zero_bytes_are_refused(void **state)
{
    (void)state;
    const char text[] = "[1\0]";
    json_document *document = lmi_json_create();
    json_error error;
    assert_null(lmi_json_parse(document, text, 4, NULL, &error));
    assert_string_equal(error.text, "expected ',' or ']', found byte 0x00");
    lmi_json_free(document);
}

static void test_values_know_their_place(void **state)
{
    (void)state;
    const char text[] = "{\n  \"\xc3\xa9\": [1,\n   {\"x\" : null}]\n}";
    json_document *document = lmi_json_create();
    json_error error;
    json_value *root = lmi_json_parse(document, text, sizeof text - 1, NULL, &error);
    assert_non_null(root);
    const json_value *list = lmi_json_get(root, "\xc3\xa9");
    assert_int_equal(list->key_place.line, 2);
    assert_int_equal(list->key_place.column, 3);
    assert_int_equal(list->place.column, 8);
    const json_value *x = lmi_json_get(lmi_json_at(list, 1), "x");
    assert_int_equal(x->place.line, 3);
    assert_int_equal(x->key_place.column, 5);
    assert_int_equal(x->place.column, 11);
    assert_null(lmi_json_at(list, 2));
    assert_null(lmi_json_get(list, "x"));
    lmi_json_free(document);
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    char text[2 * (JSON_MAX_DEPTH + 1) + 1];
    for (uint32_t depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        json_document *document = lmi_json_create();
        json_error error;
        bool accepted = lmi_json_parse(document, text, 2 * depth, NULL, &error) != NULL;
        assert_int_equal(accepted, depth <= JSON_MAX_DEPTH);
        lmi_json_free(document);
    }
    assert_string_equal(lmi_json_kind_text(JSON_KIND_ARRAY), "a list");
}

static void test_many_keys_are_checked_fast(void **state)
{
    (void)state;
    const uint32_t count = 200000;
    char *text = malloc(count * 16);
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        length += (size_t)sprintf(text + length, "%s\"k%u\":0", i > 0 ? "," : "{", i);
    }
    text[length++] = '}';
    json_document *document = lmi_json_create();
    json_error error;
    json_value *root = lmi_json_parse(document, text, length, NULL, &error);
    assert_non_null(root);
    assert_int_equal(root->count, count);
    lmi_json_free(document);
    free(text);
}

/* A host that has chosen a decimal comma must read the same numbers. */
static void test_locale_does_not_matter(void **state)
{
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
        skip();
    }
    assert_reads_as("1.5", 1.5);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_documents_agree),          cmocka_unit_test(test_mutated_documents_agree),
        cmocka_unit_test(test_every_kind_of_double_reads_back), cmocka_unit_test(test_halfway_cases_round_to_even),
        cmocka_unit_test(test_errors_say_where_and_what),       cmocka_unit_test(test_zero_bytes_are_refused),
        cmocka_unit_test(test_values_know_their_place),         cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_many_keys_are_checked_fast),      cmocka_unit_test(test_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
