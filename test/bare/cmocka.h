/*
 * The part of cmocka that the tests use, for systems that it is not packaged for (test/CMakeLists.txt). The first failure ends the
 * program: nothing here needs a long jump, which web assembly does not have.
 */
#ifndef TEST_BARE_CMOCKA_H
#define TEST_BARE_CMOCKA_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bare_test {
    const char *name;
    void (*run)(void **state);
    int (*set_up)(void **state);
    int (*tear_down)(void **state);
    void *initial; /* state, instead of the group's; or null */
} bare_test;

static const char *bare_filter;

static inline void bare_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: error: %s\n", file, line, what);
    fflush(NULL);
    exit(1);
}

/* By its name in cmocka, for helpers that fail on behalf of their callers. */
static inline void _fail(const char *file, int line) { bare_fail("failed", file, line); }

static inline void bare_print(FILE *to, const char *format, va_list arguments)
{
    vfprintf(to, format, arguments);
    fflush(to);
}

static inline void print_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bare_print(stdout, format, arguments);
    va_end(arguments);
}

static inline void print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bare_print(stderr, format, arguments);
    va_end(arguments);
}

static inline void bare_true(bool is, const char *what, const char *file, int line)
{
    if (!is) bare_fail(what, file, line);
}

static inline void bare_equal(uint64_t a, uint64_t b, bool equal, const char *file, int line)
{
    if ((a == b) == equal) return;
    fprintf(stderr, "%" PRIu64 " (%#" PRIx64 ") %s %" PRIu64 " (%#" PRIx64 ")\n", a, a, equal ? "!=" : "==", b, b);
    bare_fail("two numbers", file, line);
}

static inline void bare_string_equal(const char *a, const char *b, const char *file, int line)
{
    if (strcmp(a, b) == 0) return;
    fprintf(stderr, "\"%s\" != \"%s\"\n", a, b);
    bare_fail("two texts", file, line);
}

static inline void bare_float_equal(double a, double b, double by, const char *file, int line)
{
    if ((a < b ? b - a : a - b) <= by) return;
    fprintf(stderr, "%.17g != %.17g\n", a, b);
    bare_fail("two numbers", file, line);
}

/* A star at the end of the filter stands for anything. */
static inline bool bare_wanted(const char *name)
{
    size_t length = strcspn(bare_filter, "*");
    return strncmp(name, bare_filter, length) == 0 && (bare_filter[length] == '*' || name[length] == '\0');
}

static inline int bare_run(const char *group, const bare_test *tests, size_t count, int (*set_up)(void **),
                           int (*tear_down)(void **))
{
    void *shared = NULL;
    if (set_up && set_up(&shared) != 0) bare_fail("set up", group, 0);
    size_t ran = 0;
    for (size_t n = 0; n < count; n++) {
        const bare_test *t = &tests[n];
        if (bare_filter && !bare_wanted(t->name)) continue;
        printf("[ RUN      ] %s\n", t->name);
        fflush(stdout);
        void *state = t->initial != NULL ? t->initial : shared;
        if (t->set_up && t->set_up(&state) != 0) bare_fail("set up", t->name, 0);
        t->run(&state);
        if (t->tear_down && t->tear_down(&state) != 0) bare_fail("tear down", t->name, 0);
        printf("[       OK ] %s\n", t->name);
        ran++;
    }
    if (tear_down && tear_down(&shared) != 0) bare_fail("tear down", group, 0);
    printf("[  PASSED  ] %zu test(s) of %s\n", ran, group);
    fflush(NULL);
    return 0;
}

#define cmocka_unit_test(f)                                                                                            \
    {                                                                                                                  \
#f, f, NULL, NULL, NULL                                                                                        \
    }
#define cmocka_unit_test_teardown(f, tear_down)                                                                        \
    {                                                                                                                  \
#f, f, NULL, tear_down, NULL                                                                                   \
    }
#define cmocka_unit_test_prestate(f, state)                                                                            \
    {                                                                                                                  \
#f, f, NULL, NULL, state                                                                                       \
    }
#define cmocka_unit_test_setup_teardown(f, set_up, tear_down)                                                          \
    {                                                                                                                  \
#f, f, set_up, tear_down, NULL                                                                                 \
    }
#define CMUnitTest bare_test /* struct CMUnitTest */
#define cmocka_run_group_tests(tests, set_up, tear_down)                                                               \
    bare_run(#tests, tests, sizeof(tests) / sizeof(tests)[0], set_up, tear_down)
#define cmocka_run_group_tests_name(name, tests, set_up, tear_down)                                                    \
    bare_run(name, tests, sizeof(tests) / sizeof(tests)[0], set_up, tear_down)
#define cmocka_set_test_filter(pattern) ((void)(bare_filter = (pattern)))

#define BARE_NUMBER(a) ((uint64_t)(uintptr_t)(a))
#define assert_true(c) bare_true((bool)(c), #c, __FILE__, __LINE__)
#define assert_false(c) bare_true(!(c), "not " #c, __FILE__, __LINE__)
#define assert_null(p) bare_true((p) == NULL, #p " is null", __FILE__, __LINE__)
#define assert_non_null(p) bare_true((p) != NULL, #p " is not null", __FILE__, __LINE__)
#define assert_int_equal(a, b) bare_equal((uint64_t)(a), (uint64_t)(b), true, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) bare_equal((uint64_t)(a), (uint64_t)(b), false, __FILE__, __LINE__)
#define assert_ptr_equal(a, b) bare_equal(BARE_NUMBER(a), BARE_NUMBER(b), true, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) bare_equal(BARE_NUMBER(a), BARE_NUMBER(b), false, __FILE__, __LINE__)
#define assert_string_equal(a, b) bare_string_equal(a, b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) bare_true(memcmp(a, b, size) == 0, #a " is " #b, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) bare_true(memcmp(a, b, size) != 0, #a " is not " #b, __FILE__, __LINE__)
#define assert_float_equal(a, b, by) bare_float_equal((double)(a), (double)(b), (double)(by), __FILE__, __LINE__)
#define assert_in_range(a, low, high)                                                                                  \
    bare_true((uint64_t)(a) >= (uint64_t)(low) && (uint64_t)(a) <= (uint64_t)(high), #a " in range", __FILE__, __LINE__)
#define fail() bare_fail("failed", __FILE__, __LINE__)
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), bare_fail("failed", __FILE__, __LINE__))
#define skip()                                                                                                         \
    do {                                                                                                               \
        printf("[  SKIPPED ]\n");                                                                                      \
        return;                                                                                                        \
    } while (0)

#endif
