/*
 * Two ways. Up to 15 digits and a power of ten up to 22 are exact in a double, so one multiplication or division rounds
 * once and correctly: almost every number a person writes. Everything else is done in decimal digits: the number is
 * shifted left or right by powers of two, as one does with pencil and paper, until it lies in [1/2, 1); then 53 bits of
 * it are an integer, and what follows the decimal point says how to round.
 */
#include "io/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The longest decimal that lies exactly between two doubles has 767 significant digits. */
#define MAX_DIGITS 800

/* Bits moved in one shift: a digit times 2^27 plus a carry stays far below 2^64. */
#define MAX_SHIFT 27

typedef struct decimal {
    uint8_t digits[MAX_DIGITS]; /* most significant first; no leading and no trailing zeros */
    int count;
    int point;    /* the value is 0.d1 d2 d3 ... times 10^point */
    bool dropped; /* digits other than zero did not fit */
} decimal;

static void trim(decimal *d)
{
    while (d->count > 0 && d->digits[d->count - 1] == 0) {
        d->count--;
    }
    if (d->count == 0) {
        d->point = 0;
    }
}

/* d / 2^bits, 1 to MAX_SHIFT bits: long division from the left. */
static void shift_right(decimal *d, int bits)
{
    int read = 0;
    uint64_t rest = 0;
    while ((rest >> bits) == 0) {
        if (read >= d->count) {
            if (rest == 0) {
                return; /* the value is zero */
            }
            while ((rest >> bits) == 0) {
                rest *= 10;
                read++;
            }
            break;
        }
        rest = rest * 10 + d->digits[read++];
    }
    d->point -= read - 1;

    uint64_t mask = ((uint64_t)1 << bits) - 1;
    int write = 0;
    for (; read < d->count; read++) {
        d->digits[write++] = (uint8_t)(rest >> bits);
        rest = (rest & mask) * 10 + d->digits[read];
    }
    while (rest > 0) {
        uint8_t digit = (uint8_t)(rest >> bits);
        rest = (rest & mask) * 10;
        if (write < MAX_DIGITS) {
            d->digits[write++] = digit;
        } else if (digit > 0) {
            d->dropped = true;
        }
    }
    d->count = write;
    trim(d);
}

/* d * 2^bits, 1 to MAX_SHIFT bits: long multiplication from the right. */
static void shift_left(decimal *d, int bits)
{
    uint8_t product[MAX_DIGITS + 12]; /* 2^27 has 9 digits */
    int start = (int)sizeof product;
    uint64_t carry = 0;
    for (int i = d->count - 1; i >= 0; i--) {
        carry += (uint64_t)d->digits[i] << bits;
        product[--start] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    for (; carry > 0; carry /= 10) {
        product[--start] = (uint8_t)(carry % 10);
    }
    int made = (int)sizeof product - start;
    d->point += made - d->count;
    d->count = made < MAX_DIGITS ? made : MAX_DIGITS;
    for (int i = MAX_DIGITS; i < made; i++) {
        d->dropped = d->dropped || product[start + i] != 0;
    }
    memcpy(d->digits, product + start, (size_t)d->count);
    trim(d);
}

static void shift(decimal *d, int bits)
{
    for (; bits > MAX_SHIFT; bits -= MAX_SHIFT) {
        shift_left(d, MAX_SHIFT);
    }
    for (; bits < -MAX_SHIFT; bits += MAX_SHIFT) {
        shift_right(d, MAX_SHIFT);
    }
    if (bits > 0) {
        shift_left(d, bits);
    } else if (bits < 0) {
        shift_right(d, -bits);
    }
}

/* The nearest integer, ties to even; the value is below 2^54. */
static uint64_t rounded_integer(const decimal *d)
{
    uint64_t integer = 0;
    for (int i = 0; i < d->point; i++) {
        integer = integer * 10 + (i < d->count ? d->digits[i] : 0);
    }
    if (d->point < 0 || d->point >= d->count) {
        return integer;
    }
    bool tie = d->digits[d->point] == 5 && d->point + 1 == d->count && !d->dropped;
    bool up = tie ? (integer & 1) != 0 : d->digits[d->point] >= 5;
    return integer + (up ? 1 : 0);
}

static double convert(decimal *d)
{
    /* A shift that is sure not to overshoot [1/2, 1) for this many places before or after the point. */
    static const int safe_bits[] = {0, 3, 6, 9, 13, 16, 19, 23, 26};
    if (d->count == 0 || d->point < -330) {
        return 0.0;
    }
    if (d->point > 310) {
        return (double)INFINITY;
    }
    int exponent = 0; /* the number is d * 2^exponent */
    while (d->point > 0) {
        int bits = d->point >= 9 ? MAX_SHIFT : safe_bits[d->point];
        shift(d, -bits);
        exponent += bits;
    }
    while (d->point < 0 || d->digits[0] < 5) {
        int bits = d->point == 0 ? 1 : -d->point >= 9 ? MAX_SHIFT : safe_bits[-d->point];
        shift(d, bits);
        exponent -= bits;
    }
    int precision = 53;
    if (exponent < -1021) { /* subnormal: fewer bits are left */
        precision = 53 - (-1021 - exponent);
        if (precision < 0) {
            return 0.0;
        }
    }
    shift(d, precision);
    return ldexp((double)rounded_integer(d), exponent - precision); /* exact, or an infinity */
}

/* A decimal exponent; large ones stop growing (they are zero or infinity anyway, however many digits come first). */
static int read_exponent(const char *c, const char *end)
{
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+')) {
        c++;
    }
    int exponent = 0;
    for (; c < end; c++) {
        if (exponent < 100000000) {
            exponent = exponent * 10 + (*c - '0');
        }
    }
    return negative ? -exponent : exponent;
}

static double power_of_ten(int exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return exact[exponent];
}

double lmi_decimal_to_double(const char *text, size_t length)
{
    const char *c = text;
    const char *end = text + length;
    bool negative = c < end && *c == '-';
    c += negative ? 1 : 0;

    decimal d = {.count = 0};
    uint64_t leading = 0; /* the first 18 digits, for the short way */
    bool after_point = false;
    for (; c < end && *c != 'e' && *c != 'E'; c++) {
        if (*c == '.') {
            after_point = true;
            continue;
        }
        uint8_t digit = (uint8_t)(*c - '0');
        if (digit == 0 && d.count == 0) {
            d.point -= after_point ? 1 : 0;
            continue;
        }
        d.point += after_point ? 0 : 1;
        if (d.count < MAX_DIGITS) {
            d.digits[d.count++] = digit;
            leading = d.count <= 18 ? leading * 10 + digit : leading;
        } else {
            d.dropped = d.dropped || digit != 0;
        }
    }
    if (d.count == 0) {
        return negative ? -0.0 : 0.0;
    }
    d.point += c < end ? read_exponent(c + 1, end) : 0;

    double value;
    int power = d.point - d.count; /* the value is leading * 10^power while all digits are in it */
    if (d.count <= 15 && power >= -22 && power <= 22) {
        value = power < 0 ? (double)leading / power_of_ten(-power) : (double)leading * power_of_ten(power);
    } else {
        trim(&d);
        value = convert(&d);
    }
    return negative ? -value : value;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Words
 */

/* A word taken apart: sign, the first 19 digits as an integer, and the power of ten that goes with it. */
typedef struct parts {
    bool negative;
    bool whole; /* no digit was left out of `digits` */
    uint64_t digits;
    int power;
} parts;

static const char *take_digits(const char *c, const char *end, bool after_point, parts *p)
{
    for (; c < end && *c >= '0' && *c <= '9'; c++) {
        if (p->digits < UINT64_MAX / 10 - 1) {
            p->digits = p->digits * 10 + (uint64_t)(*c - '0');
            p->power -= after_point ? 1 : 0;
        } else {
            p->whole = false;
        }
    }
    return c;
}

static bool take_apart(const char *c, const char *end, parts *p)
{
    *p = (parts){.whole = true, .negative = c < end && *c == '-'};
    c += c < end && (*c == '-' || *c == '+') ? 1 : 0;
    const char *start = c;
    c = take_digits(c, end, false, p);
    ptrdiff_t count = c - start;
    if (c < end && *c == '.') {
        start = ++c;
        c = take_digits(c, end, true, p);
        count += c - start;
    }
    if (count == 0) {
        return false;
    }
    if (c < end && (*c == 'e' || *c == 'E')) {
        const char *exponent = ++c;
        c += c < end && (*c == '-' || *c == '+') ? 1 : 0;
        start = c;
        while (c < end && *c >= '0' && *c <= '9') {
            c++;
        }
        if (c == start) {
            return false;
        }
        int shifted = read_exponent(exponent, c);
        p->whole = p->whole && shifted > -1000 && shifted < 1000;
        p->power += shifted;
    }
    return c == end;
}

bool lmi_decimal_read(const char *word, size_t length, double *value)
{
    parts p;
    if (!take_apart(word, word + length, &p)) {
        return false;
    }
    if (p.whole && p.digits <= (uint64_t)1 << 53 && p.power >= -22 && p.power <= 22) { /* both exact: rounded once */
        double digits = (double)p.digits;
        double size = p.power < 0 ? digits / power_of_ten(-p.power) : digits * power_of_ten(p.power);
        *value = p.negative ? -size : size;
        return true;
    }
    size_t sign = *word == '+' ? 1 : 0;
    *value = lmi_decimal_to_double(word + sign, length - sign);
    return true;
}

bool lmi_decimal_read_float(const char *word, size_t length, float *value)
{
    parts p;
    if (!take_apart(word, word + length, &p)) {
        return false;
    }
    if (p.whole && p.power >= -22 && p.power <= 22) {
        /* Two roundings, of the digits and of the quotient: less than three parts in 10^16 off, which nearly always
         * lies on one side of the border between two floats. */
        double digits = (double)p.digits;
        double size = p.power < 0 ? digits / power_of_ten(-p.power) : digits * power_of_ten(p.power);
        float low = (float)(size * (1.0 - 6e-16)), high = (float)(size * (1.0 + 6e-16));
        if (low == high) {
            *value = p.negative ? -low : low;
            return true;
        }
    }
    size_t sign = *word == '+' ? 1 : 0;
    *value = (float)lmi_decimal_to_double(word + sign, length - sign);
    return true;
}
