/* Limits can fail: what is outside, or not a number, is counted and told; and every study has limits or says that it has none. */
#include "validate/limits.h"
#include "validate/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void what_is_outside_its_limits_is_off(void **context)
{
    (void)context;
    const validate_options options = {.quick = true};
    const limit *l = limit_find("hanging", "E");
    assert_non_null(l);
    assert_true(l->low > 0.5 && l->low < 1.0 && l->high > 1.0 && l->high < 1.5);
    report r = {.options = &options};
    report_begin(&r);
    report_study(&r, "hanging", "title", "text");
    const double values[] = {1.0, l->low, l->high, l->low - 1e-6, l->high + 1e-6, NAN, INFINITY, -1.0};
    for (uint32_t n = 0; n < 8; n++) {
        report_check(&r, "E", values[n], "case %u", (unsigned)n);
        assert_int_equal(r.checks, n + 1);
        assert_int_equal(r.off, n < 3 ? 0 : n - 2);
    }
    const char *told = strstr(r.limits.bytes, "case 3");
    assert_non_null(told);
    assert_non_null(strstr(told, "**off**"));
    assert_true(strstr(r.limits.bytes, "**off**") > told);
    assert_int_equal(r.fault[0], '\0');
    report_check(&r, "colour", 1.0, "case"); /* there is no such limit: that is a mistake of the study */
    assert_non_null(strstr(r.fault, "no limit is set for \"colour\""));
    report_finish(&r);
}

static void tables_become_markdown(void **context)
{
    (void)context;
    const validate_options options = {.json = true};
    report r = {.options = &options};
    report_begin(&r);
    report_study(&r, "wave", "A title", "Words.");
    report_columns(&r, "a|b|c");
    for (int n = 0; n < 100; n++) { /* more rows than there was room for */
        report_row(&r, "x%d|%.2f|", n, 0.5 * n);
    }
    report_end_table(&r);
    assert_non_null(strstr(
        r.page.bytes, "\n## A title\n\nWords.\n\n| a | b | c |\n|---|---|---|\n| x0 | 0.00 |  |\n| x1 | 0.50 |  |\n"));
    assert_non_null(strstr(r.page.bytes, "| x99 | 49.50 |  |\n"));
    report_finish(&r);
}

static void studies_have_limits(void **context)
{
    (void)context;
    static const char *const wanted[][2] = {
        {"hanging", "E"},         {"poisson", "nu - asked"}, {"compression", "sag"}, {"cantilever", "tip"},
        {"torsion", "frequency"}, {"wave", "speed"},         {"beam", "frequency"},  {"default", "sag"},
        {"drift", "energy"},      {"drift", "momentum"},     {"cloth", "stretch"},   {"cloth", "droop"},
    };
    for (size_t n = 0; n < sizeof wanted / sizeof wanted[0]; n++) {
        const limit *l = limit_find(wanted[n][0], wanted[n][1]);
        assert_non_null(l);
        assert_true(l->low < l->high && isfinite(l->low) && isfinite(l->high));
    }
    for (uint32_t n = 0; validate_name(n) != NULL; n++) {
        assert_non_null(validate_title(n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_outside_its_limits_is_off),
        cmocka_unit_test(tables_become_markdown),
        cmocka_unit_test(studies_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
