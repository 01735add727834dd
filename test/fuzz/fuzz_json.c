/*
 * Any bytes as JSON: either an error of one line at a place within the text, or a tree whose counts are right and whose
 * numbers are finite.
 */
#include "fuzz.h"

#include "io/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_tree(const json_value *value)
{
    if (value->kind == JSON_KIND_NUMBER && !isfinite(value->number)) abort();
    if (value->kind == JSON_KIND_STRING && value->text[value->length] != '\0') abort();
    uint32_t count = 0;
    for (const json_value *child = value->first; child != NULL; child = child->next, count++) {
        if ((child->key != NULL) != (value->kind == JSON_KIND_OBJECT)) abort();
        if (child->place.line < value->place.line) abort();
        check_tree(child);
    }
    if (count != value->count) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_document *document = lmi_json_create();
    json_error error;
    const json_value *root = lmi_json_parse(document, (const char *)data, size, NULL, &error);
    if (root != NULL) {
        check_tree(root);
    } else if (error.text[0] == '\0' || error.place.line == 0 || error.place.column > size + 1) {
        abort();
    }
    lmi_json_free(document);
    return 0;
}
