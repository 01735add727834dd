#include "scene/read.h"

#include "scene/report.h"
#include "support/nearest.h"

#include <stdio.h>
#include <string.h>

typedef struct reading {
    json_document *document;
    const char *file;
    lm_scene_error *error;
    char path[REPORT_PATH_SIZE]; /* of the value being read */
    size_t path_length;
    bool failed;
} reading;

/* ------------------------------------------------------------------------------------------------------------------
 * Saying what is wrong
 */

static void fail(reading *r, report_place place, const char *format, ...)
{
    if (r->failed) {
        return; /* the first one is what the user should see */
    }
    r->failed = true;
    va_list arguments;
    va_start(arguments, format);
    lmi_report_va(r->error, place, format, arguments);
    va_end(arguments);
}

static void fail_memory(reading *r, const json_value *value)
{
    fail(r, lmi_report_at(r->file, value, r->path), "out of memory");
}

/* Extends the path; returns its old length for leave(). */
static size_t enter(reading *r, const char *format, ...)
{
    size_t old = r->path_length;
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(r->path + old, sizeof r->path - old, format, arguments);
    va_end(arguments);
    size_t length = old + (added > 0 ? (size_t)added : 0);
    r->path_length = length < sizeof r->path ? length : sizeof r->path - 1;
    return old;
}

static size_t enter_field(reading *r, const char *name) { return enter(r, r->path_length > 0 ? ".%s" : "%s", name); }

static void leave(reading *r, size_t old)
{
    r->path_length = old;
    r->path[old] = '\0';
}

typedef struct phrase {
    char text[160];
} phrase;

/* The value as the user wrote it, shortened. */
static phrase describe(const json_value *value)
{
    phrase p;
    if (value->kind == JSON_KIND_NUMBER) {
        snprintf(p.text, sizeof p.text, "%.9g", value->number);
    } else if (value->kind == JSON_KIND_STRING) {
        snprintf(p.text, sizeof p.text, "\"%.40s\"", value->text);
    } else if (value->kind == JSON_KIND_BOOL) {
        snprintf(p.text, sizeof p.text, value->boolean ? "true" : "false");
    } else {
        snprintf(p.text, sizeof p.text, "%s", lmi_json_kind_text(value->kind));
    }
    return p;
}

/* "a number from 0 to 0.95 in m", "a number above 0 and at most 1000 in kg", ... */
static phrase describe_range(const format_field *field, const char *kind)
{
    double low, high;
    lmi_format_range(field, &low, &high);
    const char *unit = field->unit != NULL ? field->unit : "";
    const char *in = field->unit != NULL ? " in " : "";
    phrase p;
    if (field->above_low) {
        snprintf(p.text, sizeof p.text, "%s above %.10g and at most %.10g%s%s", kind, low, high, in, unit);
    } else if (low == high) {
        snprintf(p.text, sizeof p.text, "%.10g", low);
    } else {
        snprintf(p.text, sizeof p.text, "%s from %.10g to %.10g%s%s", kind, low, high, in, unit);
    }
    return p;
}

static void fail_value(reading *r, const json_value *value, const char *expected)
{
    fail(r, lmi_report_at(r->file, value, r->path), "is %s (expected %s)", describe(value).text, expected);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Values
 */

static double read_number(reading *r, const format_field *field, const json_value *value)
{
    double low, high;
    lmi_format_range(field, &low, &high);
    bool good = value->kind == JSON_KIND_NUMBER && value->number <= high &&
                (field->above_low ? value->number > low : value->number >= low);
    /* Numbers end as float32: one that would become zero there is not above zero. */
    if (good && field->above_low && low == 0.0 && value->number < 1.2e-38) {
        good = false;
    }
    if (!good) {
        fail_value(r, value, describe_range(field, "a number").text);
        return 0.0;
    }
    return value->number;
}

static uint32_t read_count(reading *r, const format_field *field, const json_value *value)
{
    double low, high;
    lmi_format_range(field, &low, &high);
    if (value->kind != JSON_KIND_NUMBER || !(value->number >= low && value->number <= high) ||
        value->number != floor(value->number)) {
        fail_value(r, value, describe_range(field, "a whole number").text);
        return 0;
    }
    return (uint32_t)value->number;
}

static bool read_flag(reading *r, const json_value *value)
{
    if (value->kind != JSON_KIND_BOOL) {
        fail_value(r, value, "true or false");
        return false;
    }
    return value->boolean;
}

static const char *read_text(reading *r, const json_value *value)
{
    if (value->kind != JSON_KIND_STRING) {
        fail_value(r, value, "a string");
        return "";
    }
    if (strlen(value->text) != value->length) {
        fail(r, lmi_report_at(r->file, value, r->path), "contains a zero character (expected text)");
    }
    return value->text;
}

static uint32_t read_choice(reading *r, const format_field *field, const json_value *value)
{
    phrase names = {""};
    size_t used = 0;
    const char *wanted = value->kind == JSON_KIND_STRING ? value->text : "";
    nearest_name near = lmi_nearest_to(wanted);
    for (uint32_t i = 0; field->choice(i) != NULL; i++) {
        const char *name = field->choice(i);
        if (value->kind == JSON_KIND_STRING && value->length == strlen(name) && strcmp(wanted, name) == 0) {
            return i;
        }
        lmi_nearest_offer(&near, name);
        if (used < sizeof names.text) {
            int added = snprintf(names.text + used, sizeof names.text - used, "%s\"%s\"", i > 0 ? ", " : "", name);
            used += added > 0 ? (size_t)added : 0;
        }
    }
    if (used >= sizeof names.text) {
        snprintf(names.text, sizeof names.text, "a known name");
    }
    report_place place = lmi_report_at(r->file, value, r->path);
    if (near.best != NULL) {
        fail(r, place, "is %s (expected %s%s; did you mean \"%s\"?)", describe(value).text,
             names.text[0] == '"' ? "one of " : "", names.text, near.best);
    } else {
        fail(r, place, "is %s (expected %s%s)", describe(value).text, names.text[0] == '"' ? "one of " : "",
             names.text);
    }
    return 0;
}

static int hexadecimal(char digit)
{
    const char *digits = "0123456789abcdef";
    const char *found = strchr(digits, digit >= 'A' && digit <= 'F' ? digit - 'A' + 'a' : digit);
    return digit != '\0' && found != NULL ? (int)(found - digits) : -1;
}

static void read_colour(reading *r, const json_value *value, uint8_t colour[3])
{
    bool good = value->kind == JSON_KIND_STRING && value->length == 7 && value->text[0] == '#';
    for (int i = 0; i < 3 && good; i++) {
        int high = hexadecimal(value->text[1 + 2 * i]), low = hexadecimal(value->text[2 + 2 * i]);
        good = high >= 0 && low >= 0;
        colour[i] = good ? (uint8_t)(16 * high + low) : 0;
    }
    if (!good) {
        fail_value(r, value, "a colour as \"#rrggbb\"");
    }
}

/* Three of something: calls read for each. */
static bool read_three(reading *r, const json_value *value, const char *expected, const json_value *parts[3])
{
    if (value->kind != JSON_KIND_ARRAY || value->count != 3) {
        if (value->kind == JSON_KIND_ARRAY) {
            fail(r, lmi_report_at(r->file, value, r->path), "has %u elements (expected %s)", (unsigned)value->count,
                 expected);
        } else {
            fail_value(r, value, expected);
        }
        return false;
    }
    parts[0] = value->first;
    parts[1] = parts[0]->next;
    parts[2] = parts[1]->next;
    return true;
}

static lm_dvec3 read_vector(reading *r, const format_field *field, const json_value *value)
{
    const json_value *parts[3];
    double numbers[3] = {0.0, 0.0, 0.0};
    if (!read_three(r, value, "a list of three numbers, [x, y, z]", parts)) {
        return lm_dvec3_zero();
    }
    for (uint32_t i = 0; i < 3; i++) {
        size_t old = enter(r, "[%u]", (unsigned)i);
        numbers[i] = read_number(r, field, parts[i]);
        leave(r, old);
    }
    return vector(numbers[0], numbers[1], numbers[2]);
}

static void read_counts(reading *r, const format_field *field, const json_value *value, uint32_t counts[3])
{
    const json_value *parts[3];
    if (!read_three(r, value, "a list of three whole numbers, [x, y, z]", parts)) {
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        size_t old = enter(r, "[%u]", (unsigned)i);
        counts[i] = read_count(r, field, parts[i]);
        leave(r, old);
    }
}

static void read_record(reading *r, const format_record *record, const json_value *json, scene_head *out);

/* {axis, angle} of a rotation; not in the list of records, as it is a way to write one value. */
typedef struct axis_angle {
    scene_head head;
    lm_dvec3 axis;
    double angle;
} axis_angle;

static const format_field axis_angle_fields[] = {
    {.name = "axis", .type = FIELD_VECTOR, .offset = offsetof(axis_angle, axis), .required = true},
    {.name = "angle", .type = FIELD_NUMBER, .offset = offsetof(axis_angle, angle), .required = true, .unit = "deg"},
};
static const format_record axis_angle_record = {"rotation", "", sizeof(axis_angle), axis_angle_fields, 2, NULL, 0};

static rotation read_rotation(reading *r, const json_value *value)
{
    static const format_field euler = {.low = -1e6, .high = 1e6, .unit = "deg"};
    if (value->kind == JSON_KIND_ARRAY) {
        return lmi_rotation_from_euler(read_vector(r, &euler, value));
    }
    if (value->kind != JSON_KIND_OBJECT) {
        fail_value(r, value, "three angles in degrees, [x, y, z], or {\"axis\": [x, y, z], \"angle\": degrees}");
        return lmi_rotation_identity();
    }
    axis_angle given = {.angle = 0.0};
    read_record(r, &axis_angle_record, value, &given.head);
    if (r->failed) {
        return lmi_rotation_identity();
    }
    if (!(vector_length(given.axis) > 1e-100)) {
        fail(r, lmi_report_at(r->file, lmi_json_get(value, "axis"), r->path), "the axis has no length");
        return lmi_rotation_identity();
    }
    return lmi_rotation_about(given.axis, given.angle);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Lists
 */

static void read_field(reading *r, const format_field *field, const json_value *value, void *out);

static field_type element_type(field_type list)
{
    switch (list) {
    case FIELD_NUMBERS: return FIELD_NUMBER;
    case FIELD_INDICES: return FIELD_COUNT;
    case FIELD_VECTORS: return FIELD_VECTOR;
    case FIELD_COLOURS: return FIELD_COLOUR;
    default: return FIELD_INDICES; /* FIELD_INDEX_LISTS */
    }
}

static size_t element_size(const format_field *field)
{
    switch (field->type) {
    case FIELD_RECORDS: return field->record->size;
    case FIELD_NUMBERS: return sizeof(double);
    case FIELD_INDICES: return sizeof(uint32_t);
    case FIELD_VECTORS: return sizeof(lm_dvec3);
    case FIELD_COLOURS: return sizeof(uint8_t[3]);
    default: return sizeof(scene_list);
    }
}

static void read_list(reading *r, const format_field *list, const json_value *value, scene_list *out)
{
    if (value->kind != JSON_KIND_ARRAY) {
        fail_value(r, value, "a list");
        return;
    }
    size_t size = element_size(list);
    char *items = lmi_json_allocate(r->document, size * (value->count + 1));
    if (items == NULL) {
        fail_memory(r, value);
        return;
    }
    *out = (scene_list){items, value->count};
    format_field element = *list;
    if (list->type != FIELD_RECORDS) {
        element.type = element_type(list->type);
    }
    if (list->type == FIELD_INDICES) {
        element.high = element.high > 0.0 ? element.high : (double)(LM_MAX_PARTICLES - 1);
    }
    uint32_t index = 0;
    for (const json_value *item = value->first; item != NULL && !r->failed; item = item->next, index++) {
        size_t old = enter(r, "[%u]", (unsigned)index);
        if (list->type == FIELD_RECORDS) {
            read_record(r, list->record, item, (scene_head *)(void *)(items + size * index));
        } else {
            read_field(r, &element, item, items + size * index);
        }
        leave(r, old);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Structures
 */

/* A material may be a plain string, which is then its preset. */
static const json_value *record_of_word(reading *r, const format_field *field, const json_value *value)
{
    json_value *object = NULL;
    if (value->kind == JSON_KIND_STRING && lmi_format_takes_word(field)) {
        object = lmi_json_allocate(r->document, sizeof *object);
        if (object != NULL) {
            *object = *value;
            object->kind = JSON_KIND_OBJECT;
            object->first = object->last = NULL;
            object->count = 0;
            object->key = NULL;
            object = lmi_json_put(r->document, object, WORD_OF_MATERIAL, value) ? object : NULL;
        }
        if (object == NULL) {
            fail_memory(r, value);
        }
    }
    return object ? object : value;
}

static void read_field(reading *r, const format_field *field, const json_value *value, void *out)
{
    switch (field->type) {
    case FIELD_NUMBER: *(double *)out = read_number(r, field, value); break;
    case FIELD_COUNT: *(uint32_t *)out = read_count(r, field, value); break;
    case FIELD_FLAG: *(bool *)out = read_flag(r, value); break;
    case FIELD_TEXT: *(const char **)out = read_text(r, value); break;
    case FIELD_CHOICE: *(uint32_t *)out = read_choice(r, field, value); break;
    case FIELD_VECTOR: *(lm_dvec3 *)out = read_vector(r, field, value); break;
    case FIELD_COUNTS: read_counts(r, field, value, out); break;
    case FIELD_ROTATION: *(rotation *)out = read_rotation(r, value); break;
    case FIELD_COLOUR: read_colour(r, value, out); break;
    case FIELD_RECORD: {
        scene_head *head = lmi_json_allocate(r->document, field->record->size);
        if (head == NULL) {
            fail_memory(r, value);
            break;
        }
        read_record(r, field->record, record_of_word(r, field, value), head);
        *(void **)out = head;
        break;
    }
    case FIELD_RECORDS:
    case FIELD_NUMBERS:
    case FIELD_INDICES:
    case FIELD_VECTORS:
    case FIELD_COLOURS:
    case FIELD_INDEX_LISTS: read_list(r, field, value, out); break;
    }
}

static void check_names(reading *r, const format_record *record, const json_value *json)
{
    for (const json_value *member = json->first; member != NULL && !r->failed; member = member->next) {
        bool whole = strlen(member->key) == member->key_length; /* no zero character in it */
        if (whole && lmi_format_find(record, member->key) != NULL) {
            continue;
        }
        nearest_name near = lmi_nearest_to(member->key);
        for (uint32_t i = 0; i < record->field_count; i++) {
            lmi_nearest_offer(&near, record->fields[i].name);
        }
        char key[48];
        snprintf(key, sizeof key, "%.40s", member->key);
        size_t old = enter_field(r, key);
        report_place place = lmi_report_at_key(r->file, member, r->path);
        if (near.best != NULL) {
            fail(r, place, "unknown field (expected a field of %s; did you mean \"%s\"?)", record->name, near.best);
        } else {
            fail(r, place, "unknown field (expected a field of %s, see limber schema)", record->name);
        }
        leave(r, old);
    }
}

static bool is_before(json_place a, json_place b) { return a.line != b.line ? a.line < b.line : a.column < b.column; }

static void check_group(reading *r, const field_group *group, const json_value *json)
{
    phrase names = {""};
    size_t used = 0;
    const json_value *first = NULL;
    const size_t most = sizeof group->names / sizeof group->names[0];
    for (size_t i = 0; i < most && group->names[i] != NULL; i++) {
        const json_value *member = lmi_json_get(json, group->names[i]);
        if (member != NULL && first != NULL) {
            const json_value *later = is_before(first->key_place, member->key_place) ? member : first;
            fail(r, lmi_report_at_key(r->file, later, r->path), "\"%s\" and \"%s\" exclude each other", first->key,
                 member->key);
            return;
        }
        first = member != NULL ? member : first;
        int added =
            snprintf(names.text + used, sizeof names.text - used, "%s\"%s\"", i > 0 ? " or " : "", group->names[i]);
        used += added > 0 ? (size_t)added : 0;
    }
    if (first == NULL && group->required) {
        fail(r, lmi_report_at(r->file, json, r->path), "incomplete (expected %s)", names.text);
    }
}

/* The table's default, read as if the file had said it. */
static const json_value *standard_value(reading *r, const format_field *field, const json_value *json)
{
    if (field->standard == NULL) {
        return NULL;
    }
    json_error error;
    const json_value *value = lmi_json_parse(r->document, field->standard, strlen(field->standard), NULL, &error);
    if (value == NULL) {
        fail(r, lmi_report_at(r->file, json, r->path), "default of \"%s\": %s", field->name, error.text);
    }
    return value;
}

static void read_record(reading *r, const format_record *record, const json_value *json, scene_head *out)
{
    if (json->kind != JSON_KIND_OBJECT) {
        phrase expected;
        snprintf(expected.text, sizeof expected.text, "an object {...} (%s)", record->name);
        fail_value(r, json, expected.text);
        return;
    }
    char *path = lmi_json_allocate(r->document, r->path_length + 1);
    if (path == NULL) {
        fail_memory(r, json);
        return;
    }
    out->json = json;
    out->path = memcpy(path, r->path, r->path_length);

    check_names(r, record, json);
    for (uint32_t i = 0; i < record->group_count && !r->failed; i++) {
        check_group(r, &record->groups[i], json);
    }
    for (uint32_t i = 0; i < record->field_count && !r->failed; i++) {
        const format_field *field = &record->fields[i];
        const json_value *value = lmi_json_get(json, field->name);
        if (value == NULL && field->required) {
            fail(r, lmi_report_at(r->file, json, r->path), "incomplete (expected \"%s\": %s)", field->name,
                 field->doc != NULL ? field->doc : "a value");
            return;
        }
        value = value != NULL ? value : standard_value(r, field, json);
        if (value != NULL && !r->failed) {
            size_t old = enter_field(r, field->name);
            read_field(r, field, value, (char *)out + field->offset);
            leave(r, old);
        }
    }
}

scene_file *lmi_read_scene(json_document *document, const json_value *root, const char *file, lm_scene_error *error)
{
    reading r = {.document = document, .file = file, .error = error};
    scene_file *s = lmi_json_allocate(document, sizeof *s);
    if (s == NULL) {
        snprintf(error->text, sizeof error->text, "%s: out of memory", file);
        return NULL;
    }
    read_record(&r, &lmi_format_scene, root, &s->head);
    return r.failed ? NULL : s;
}
