/*
 * --set PATH=VALUE: changes a parsed scene before it is checked.
 *
 * PATH is names and indices, as errors print them: bodies[0].material.alpha. Objects on the way that are not there are
 * made; lists keep their length. VALUE is JSON; a bare word is a string.
 */
#include "scene/internal.h"

#include <stdio.h>
#include <string.h>

typedef struct setting {
    json_document *document;
    const char *text;   /* "bodies[0].mass=2" */
    const char *source; /* "--set bodies[0].mass=2" */
    const char *at;     /* what is left of the path */
    const char *equals; /* the end of the path */
    lm_scene_error *error;
} setting;

static bool fail(setting *s, const char *format, ...)
{
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(s->error->text, sizeof s->error->text, "%.200s: %s", s->source, what);
    return false;
}

/* The path up to what has been read. */
static int done_length(const setting *s)
{
    size_t length = (size_t)(s->at - s->text);
    return length < 100 ? (int)length : 100;
}

static bool is_bare_word(const char *text)
{
    bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_' ||
                  text[0] == '#'; /* a colour */
    return letter && strpbrk(text, "\"{}[],:") == NULL;
}

static json_value *parse_value(setting *s)
{
    const char *text = s->equals + 1;
    json_error error;
    json_value *value = lmi_json_parse(s->document, text, strlen(text), s->source, &error);
    if (value != NULL) {
        return value;
    }
    if (!is_bare_word(text)) {
        fail(s, "%s, at character %u of the value", error.text, (unsigned)error.place.column);
        return NULL;
    }
    value = lmi_json_allocate(s->document, sizeof *value);
    if (value == NULL) {
        fail(s, "out of memory");
        return NULL;
    }
    *value = (json_value){
        .kind = JSON_KIND_STRING, .place = {1, 1}, .source = s->source, .text = text, .length = (uint32_t)strlen(text)};
    return value;
}

/* "[12]": the element, which must be there. */
static json_value *step_into_list(setting *s, json_value *value)
{
    uint32_t index = 0;
    const char *c = s->at + 1;
    for (; *c >= '0' && *c <= '9' && index < 100000000; c++) {
        index = index * 10 + (uint32_t)(*c - '0');
    }
    if (c == s->at + 1 || *c != ']') {
        fail(s, "%.*s: expected an index in brackets, as in bodies[0]", done_length(s), s->text);
        return NULL;
    }
    if (value->kind != JSON_KIND_ARRAY) {
        fail(s, "%.*s: is %s (expected a list)", done_length(s), s->text, lmi_json_kind_text(value->kind));
        return NULL;
    }
    json_value *element = lmi_json_at(value, index);
    if (element == NULL) {
        fail(s, "%.*s: has %u elements (expected an index below that)", done_length(s), s->text,
             (unsigned)value->count);
        return NULL;
    }
    s->at = c + 1;
    return element;
}

/* "name": the member, which is made (as an object, or as the value at the end of the path) when it is not there. */
static json_value *step_into_object(setting *s, json_value *value)
{
    const char *c = s->at;
    while (c < s->equals && *c != '.' && *c != '[') {
        c++;
    }
    size_t length = (size_t)(c - s->at);
    char name[64];
    if (length == 0 || length >= sizeof name) {
        fail(s, "%.*s: expected a name in the path", done_length(s), s->text);
        return NULL;
    }
    memcpy(name, s->at, length);
    name[length] = '\0';
    if (value->kind != JSON_KIND_OBJECT) {
        fail(s, "%.*s: is %s (expected an object)", done_length(s), s->text, lmi_json_kind_text(value->kind));
        return NULL;
    }
    s->at = c;
    json_value *member = lmi_json_get(value, name);
    if (member == NULL) {
        json_value made = {.kind = JSON_KIND_OBJECT, .place = {1, 1}, .source = s->source};
        member = lmi_json_put(s->document, value, name, &made);
        if (member == NULL) {
            fail(s, "out of memory");
        }
    }
    return member;
}

bool lmi_set_apply(json_document *document, json_value *root, const char *text, lm_scene_error *error)
{
    size_t length = strlen(text);
    char *source = lmi_json_allocate(document, length + 7);
    const char *equals = strchr(text, '=');
    setting s = {document, text, source, text, equals, error};
    if (source == NULL) {
        s.source = "--set";
        return fail(&s, "out of memory");
    }
    snprintf(source, length + 7, "--set %s", text);
    if (equals == NULL || equals == text) {
        return fail(&s, "expected PATH=VALUE, as in bodies[0].mass=2");
    }
    json_value *value = parse_value(&s);
    json_value *place = root;
    while (value != NULL && place != NULL && s.at < s.equals) {
        if (*s.at == '[') {
            place = step_into_list(&s, place);
        } else {
            s.at += *s.at == '.' && s.at > s.text ? 1 : 0;
            place = step_into_object(&s, place);
        }
    }
    if (value == NULL || place == NULL) {
        return false;
    }
    json_value kept = *place;
    *place = *value;
    place->next = kept.next;
    place->key = kept.key;
    place->key_length = kept.key_length;
    place->key_place = kept.key_place;
    return true;
}
