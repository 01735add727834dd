/* The format told to others: as a JSON Schema (draft 2020-12) and as the tables of docs/scene-format.md. */
#include "limber/scene.h"
#include "scene/format.h"
#include "scene/measure.h"
#include "support/text.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * JSON Schema
 */

static void add_range(text_buffer *t, const format_field *field)
{
    double low, high;
    lmi_format_range(field, &low, &high);
    lmi_text_addf(t, field->above_low ? ", \"exclusiveMinimum\": " : ", \"minimum\": ");
    lmi_text_add_json_number(t, low);
    lmi_text_addf(t, ", \"maximum\": ");
    lmi_text_add_json_number(t, high);
}

static void add_number(text_buffer *t, const format_field *field, const char *type)
{
    lmi_text_addf(t, "\"type\": \"%s\"", type);
    add_range(t, field);
}

static void add_three(text_buffer *t, const format_field *field, const char *type)
{
    lmi_text_addf(t, "\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {");
    add_number(t, field, type);
    lmi_text_addf(t, "}");
}

static void add_choice(text_buffer *t, const format_field *field)
{
    lmi_text_addf(t, "\"enum\": [");
    for (uint32_t i = 0; field->choice(i) != NULL; i++) {
        lmi_text_addf(t, i > 0 ? ", " : "");
        lmi_text_add_json_string(t, field->choice(i));
    }
    lmi_text_addf(t, "]");
}

static void add_rotation(text_buffer *t)
{
    lmi_text_addf(
        t, "\"oneOf\": [{\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": {\"type\": \"number\"}}, "
           "{\"type\": \"object\", \"required\": [\"axis\", \"angle\"], \"additionalProperties\": false, "
           "\"properties\": {\"axis\": {\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": "
           "{\"type\": \"number\"}}, \"angle\": {\"type\": \"number\"}}}]");
}

static void add_colour(text_buffer *t) { lmi_text_addf(t, "\"type\": \"string\", \"pattern\": \"^#[0-9A-Fa-f]{6}$\""); }

static void add_type(text_buffer *t, const format_field *field)
{
    static const format_field index = {.low = 0, .high = LM_MAX_PARTICLES - 1.0};
    switch (field->type) {
    case FIELD_NUMBER: add_number(t, field, "number"); break;
    case FIELD_COUNT: add_number(t, field, "integer"); break;
    case FIELD_FLAG: lmi_text_addf(t, "\"type\": \"boolean\""); break;
    case FIELD_TEXT: lmi_text_addf(t, "\"type\": \"string\""); break;
    case FIELD_CHOICE: add_choice(t, field); break;
    case FIELD_VECTOR: add_three(t, field, "number"); break;
    case FIELD_COUNTS: add_three(t, field, "integer"); break;
    case FIELD_ROTATION: add_rotation(t); break;
    case FIELD_COLOUR: add_colour(t); break;
    case FIELD_COLOURS:
        lmi_text_addf(t, "\"type\": \"array\", \"minItems\": 1, \"items\": {");
        add_colour(t);
        lmi_text_addf(t, "}");
        break;
    case FIELD_RECORD:
        if (lmi_format_takes_word(field)) {
            lmi_text_addf(t, "\"anyOf\": [{\"$ref\": \"#/$defs/%s\"}, {\"$ref\": \"#/$defs/%s/properties/%s\"}]",
                          field->record->name, field->record->name, WORD_OF_MATERIAL);
        } else {
            lmi_text_addf(t, "\"$ref\": \"#/$defs/%s\"", field->record->name);
        }
        break;
    case FIELD_RECORDS:
        lmi_text_addf(t, "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}", field->record->name);
        break;
    case FIELD_NUMBERS:
        lmi_text_addf(t, "\"type\": \"array\", \"items\": {");
        add_number(t, field, "number");
        lmi_text_addf(t, "}");
        break;
    case FIELD_INDICES:
    case FIELD_INDEX_LISTS:
        lmi_text_addf(t, field->type == FIELD_INDICES
                             ? "\"type\": \"array\", \"items\": {"
                             : "\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {");
        add_number(t, &index, "integer");
        lmi_text_addf(t, field->type == FIELD_INDICES ? "}" : "}}");
        break;
    case FIELD_VECTORS:
        lmi_text_addf(t, "\"type\": \"array\", \"items\": {");
        add_three(t, field, "number");
        lmi_text_addf(t, "}");
        break;
    }
}

static void add_property(text_buffer *t, const format_field *field)
{
    lmi_text_addf(t, "        \"%s\": {\"description\": ", field->name);
    char doc[256];
    size_t length = strlen(field->doc);
    length = length < 200 ? length : 200;
    memcpy(doc, field->doc, length);
    doc[length] = '\0';
    if (field->unit != NULL) {
        strncat(doc, " [", sizeof doc - strlen(doc) - 1);
        strncat(doc, field->unit, sizeof doc - strlen(doc) - 1);
        strncat(doc, "]", sizeof doc - strlen(doc) - 1);
    }
    lmi_text_add_json_string(t, doc);
    lmi_text_addf(t, ", ");
    add_type(t, field);
    if (field->standard != NULL) {
        lmi_text_addf(t, ", \"default\": %s", field->standard);
    }
    lmi_text_addf(t, "}");
}

/* One of the names, or no two of them. */
static void add_group(text_buffer *t, const field_group *group)
{
    const uint32_t most = sizeof group->names / sizeof group->names[0];
    if (group->required) {
        lmi_text_addf(t, "{\"oneOf\": [");
        for (uint32_t i = 0; i < most && group->names[i] != NULL; i++) {
            lmi_text_addf(t, "%s{\"required\": [\"%s\"]}", i > 0 ? ", " : "", group->names[i]);
        }
        lmi_text_addf(t, "]}");
        return;
    }
    lmi_text_addf(t, "{\"not\": {\"anyOf\": [");
    bool first = true;
    for (uint32_t i = 0; i < most && group->names[i] != NULL; i++) {
        for (uint32_t j = i + 1; j < most && group->names[j] != NULL; j++) {
            lmi_text_addf(t, "%s{\"required\": [\"%s\", \"%s\"]}", first ? "" : ", ", group->names[i], group->names[j]);
            first = false;
        }
    }
    lmi_text_addf(t, "]}}");
}

static void add_record(text_buffer *t, const format_record *record)
{
    lmi_text_addf(t, "      \"description\": ");
    lmi_text_add_json_string(t, record->doc);
    lmi_text_addf(t, ",\n      \"type\": \"object\",\n      \"additionalProperties\": false,\n      \"required\": [");
    bool first = true;
    for (uint32_t i = 0; i < record->field_count; i++) {
        if (record->fields[i].required) {
            lmi_text_addf(t, "%s\"%s\"", first ? "" : ", ", record->fields[i].name);
            first = false;
        }
    }
    lmi_text_addf(t, "],\n");
    if (record->group_count > 0) {
        lmi_text_addf(t, "      \"allOf\": [");
        for (uint32_t i = 0; i < record->group_count; i++) {
            lmi_text_addf(t, i > 0 ? ", " : "");
            add_group(t, &record->groups[i]);
        }
        lmi_text_addf(t, "],\n");
    }
    lmi_text_addf(t, "      \"properties\": {\n");
    for (uint32_t i = 0; i < record->field_count; i++) {
        add_property(t, &record->fields[i]);
        lmi_text_addf(t, i + 1 < record->field_count ? ",\n" : "\n");
    }
    lmi_text_addf(t, "      }");
}

char *lm_scene_schema(void)
{
    text_buffer t = {.bytes = NULL};
    lmi_text_addf(&t, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                      "  \"title\": \"Limber scene, version 1\",\n  \"$ref\": \"#/$defs/scene\",\n  \"$defs\": {\n");
    for (uint32_t i = 0; i < lmi_format_record_count; i++) {
        lmi_text_addf(&t, "    \"%s\": {\n", lmi_format_records[i]->name);
        add_record(&t, lmi_format_records[i]);
        lmi_text_addf(&t, "\n    }%s\n", i + 1 < lmi_format_record_count ? "," : "");
    }
    lmi_text_addf(&t, "  }\n}\n");
    return lmi_text_take(&t);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Tables
 */

static void add_type_words(text_buffer *t, const format_field *field)
{
    switch (field->type) {
    case FIELD_NUMBER: lmi_text_addf(t, "number"); break;
    case FIELD_COUNT: lmi_text_addf(t, "whole number"); break;
    case FIELD_FLAG: lmi_text_addf(t, "true or false"); break;
    case FIELD_TEXT: lmi_text_addf(t, "string"); break;
    case FIELD_VECTOR: lmi_text_addf(t, "[x, y, z]"); break;
    case FIELD_COUNTS: lmi_text_addf(t, "three whole numbers"); break;
    case FIELD_ROTATION: lmi_text_addf(t, "rotation"); break;
    case FIELD_RECORD:
        lmi_text_addf(t, "[%s](#%s)%s", field->record->name, field->record->name,
                      lmi_format_takes_word(field) ? ", or the name of a preset" : "");
        break;
    case FIELD_RECORDS: lmi_text_addf(t, "list of [%s](#%s)", field->record->name, field->record->name); break;
    case FIELD_NUMBERS: lmi_text_addf(t, "list of numbers"); break;
    case FIELD_INDICES: lmi_text_addf(t, "list of indices"); break;
    case FIELD_VECTORS: lmi_text_addf(t, "list of [x, y, z]"); break;
    case FIELD_INDEX_LISTS: lmi_text_addf(t, "list of lists of indices"); break;
    case FIELD_COLOUR: lmi_text_addf(t, "`\"#rrggbb\"`"); break;
    case FIELD_COLOURS: lmi_text_addf(t, "list of `\"#rrggbb\"`"); break;
    case FIELD_CHOICE:
        for (uint32_t i = 0; field->choice(i) != NULL; i++) {
            lmi_text_addf(t, "%s`\"%s\"`", i > 0 ? ", " : "", field->choice(i));
        }
        break;
    }
}

static void add_range_words(text_buffer *t, const format_field *field)
{
    double low, high;
    lmi_format_range(field, &low, &high);
    bool numeric = field->type == FIELD_NUMBER || field->type == FIELD_COUNT || field->type == FIELD_VECTOR ||
                   field->type == FIELD_COUNTS || field->type == FIELD_NUMBERS;
    if (!numeric || (low <= -1e9 && high >= 1e9)) {
        return;
    }
    if (low == high) {
        lmi_text_addf(t, "%.10g", low);
    } else if (field->above_low) {
        lmi_text_addf(t, "above %.10g, to %.10g", low, high);
    } else {
        lmi_text_addf(t, "%.10g to %.10g", low, high);
    }
}

static void add_table(text_buffer *t, const format_record *record)
{
    lmi_text_addf(t, "### %s\n\n%s\n\n", record->name, record->doc);
    lmi_text_addf(t, "| field | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < record->field_count; i++) {
        const format_field *field = &record->fields[i];
        lmi_text_addf(t, "| `%s` | ", field->name);
        add_type_words(t, field);
        lmi_text_addf(t, " | %s | ", field->unit != NULL ? field->unit : "");
        add_range_words(t, field);
        if (field->required) {
            lmi_text_addf(t, " | required | %s |\n", field->doc);
        } else if (field->standard != NULL) {
            lmi_text_addf(t, " | `%s` | %s |\n", field->standard, field->doc);
        } else {
            lmi_text_addf(t, " | | %s |\n", field->doc);
        }
    }
    lmi_text_addf(t, "\n");
    for (uint32_t i = 0; i < record->group_count; i++) {
        const field_group *group = &record->groups[i];
        lmi_text_addf(t, group->required ? "- exactly one of " : "- at most one of ");
        for (uint32_t k = 0; k < sizeof group->names / sizeof group->names[0] && group->names[k] != NULL; k++) {
            lmi_text_addf(t, "%s`%s`", k > 0 ? ", " : "", group->names[k]);
        }
        lmi_text_addf(t, "\n");
    }
    lmi_text_addf(t, record->group_count > 0 ? "\n" : "");
}

char *lm_scene_reference(void)
{
    text_buffer t = {.bytes = NULL};
    for (uint32_t i = 0; i < lmi_format_record_count; i++) {
        add_table(&t, lmi_format_records[i]);
    }
    lmi_text_addf(&t, "### Measures\n\n| measure | of | meaning |\n|---|---|---|\n");
    for (uint32_t i = 0; lmi_measure_name(i) != NULL; i++) {
        lmi_text_addf(&t, "| `%s` | %s | %s |\n", lmi_measure_name(i),
                      lmi_measure_is_of_body(i) ? "a body" : "the world", lmi_measure_doc(i));
    }
    return lmi_text_take(&t);
}
