/*
 * A formula is read again for each point, by the usual descent: sums of products of powers of values. That needs no memory;
 * a map of a million samples takes about a second.
 */
#include "scene/formula.h"

#include "base/dmath.h"
#include "io/decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEEPEST 64     /* brackets within brackets */
#define MOST_ANGLE 1e5 /* radians */

typedef struct formula {
    const char *text, *at;
    double x, z;
    unsigned depth;
    formula_error *error;
    bool failed;
} formula;

static double fail(formula *f, const char *expected)
{
    if (!f->failed) {
        f->failed = true;
        f->error->column = (unsigned)(f->at - f->text) + 1;
        snprintf(f->error->text, sizeof f->error->text, "%s", expected);
    }
    return 0.0;
}

static void skip_spaces(formula *f)
{
    while (*f->at == ' ' || *f->at == '\t') f->at++;
}

static bool take(formula *f, char symbol)
{
    skip_spaces(f);
    if (*f->at != symbol) return false;
    f->at++;
    return true;
}

static double sum(formula *f);

static double bounded_angle(double angle) { return fmin(fmax(angle, -MOST_ANGLE), MOST_ANGLE); }

/* A function by its name; `second` for those of two. */
static double apply(const char *name, double first, double second)
{
    if (strcmp(name, "sin") == 0) return lmi_sin(bounded_angle(first));
    if (strcmp(name, "cos") == 0) return lmi_cos(bounded_angle(first));
    if (strcmp(name, "exp") == 0) return lmi_exp(first);
    if (strcmp(name, "sqrt") == 0) return sqrt(fmax(first, 0.0));
    if (strcmp(name, "abs") == 0) return fabs(first);
    if (strcmp(name, "floor") == 0) return floor(first);
    if (strcmp(name, "min") == 0) return fmin(first, second);
    return fmax(first, second);
}

static double word(formula *f)
{
    static const char *const functions[] = {"sin", "cos", "exp", "sqrt", "abs", "floor", "min", "max"};
    size_t length = strspn(f->at, "abcdefghijklmnopqrstuvwxyz");
    if (length == 1 && *f->at == 'x') return f->at++, f->x;
    if (length == 1 && *f->at == 'z') return f->at++, f->z;
    if (length == 2 && strncmp(f->at, "pi", 2) == 0) return f->at += 2, 3.14159265358979323846;
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
        if (strlen(functions[k]) != length || strncmp(f->at, functions[k], length) != 0) continue;
        f->at += length;
        if (!take(f, '(')) return fail(f, "\"(\" after the name of a function");
        double first = sum(f), second = 0.0;
        if (k >= 6) {
            if (!take(f, ',')) return fail(f, "\",\" and a second value: min and max take two");
            second = sum(f);
        }
        if (!take(f, ')')) return fail(f, "\")\"");
        return apply(functions[k], first, second);
    }
    return fail(f, "x, z, pi, sin, cos, exp, sqrt, abs, floor, min or max");
}

static double value(formula *f)
{
    skip_spaces(f);
    if (f->failed || ++f->depth > DEEPEST) return fail(f, "fewer brackets within brackets");
    double result = 0.0;
    if (take(f, '(')) {
        result = sum(f);
        if (!take(f, ')')) fail(f, "\")\"");
    } else if (take(f, '-')) {
        result = -value(f);
    } else if (*f->at >= 'a' && *f->at <= 'z') {
        result = word(f);
    } else {
        size_t length = strspn(f->at, "0123456789.");
        if (length > 0 && (f->at[length] == 'e' || f->at[length] == 'E')) {
            size_t sign = f->at[length + 1] == '-' || f->at[length + 1] == '+' ? 2 : 1;
            size_t digits = strspn(f->at + length + sign, "0123456789");
            length += digits > 0 ? sign + digits : 0;
        }
        if (length == 0 || !lmi_decimal_read(f->at, length, &result))
            return fail(f, "a number, x, z, a function or \"(\"");
        f->at += length;
    }
    f->depth--;
    return result;
}

static double power(formula *f)
{
    double base = value(f);
    if (!take(f, '^')) return base;
    double exponent = value(f), result = 1.0;
    if (!(exponent >= 0.0 && exponent <= 64.0 && exponent == floor(exponent))) {
        return fail(f, "a whole number from 0 to 64 before this, as a power");
    }
    for (int k = 0; k < (int)exponent; k++) result *= base;
    return result;
}

static double product(formula *f)
{
    double result = power(f);
    while (!f->failed) {
        if (take(f, '*')) {
            result *= power(f);
        } else if (take(f, '/')) {
            result /= power(f);
        } else {
            break;
        }
    }
    return result;
}

static double sum(formula *f)
{
    double result = product(f);
    while (!f->failed) {
        if (take(f, '+')) {
            result += product(f);
        } else if (take(f, '-')) {
            result -= product(f);
        } else {
            break;
        }
    }
    return result;
}

bool lmi_formula_value(const char *text, double x, double z, double *result, formula_error *error)
{
    formula f = {.text = text, .at = text, .x = x, .z = z, .error = error};
    *result = sum(&f);
    skip_spaces(&f);
    if (!f.failed && *f.at != '\0') fail(&f, "an operator or the end");
    return !f.failed;
}
