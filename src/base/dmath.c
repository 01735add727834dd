#include "base/dmath.h"

#include <math.h>

double lmi_exp(double x)
{
    if (x < -745.0) {
        return 0.0;
    }
    if (x > 709.0) {
        return INFINITY;
    }
    /* x = k ln 2 + r with |r| <= ln(2)/2; ln 2 in two parts so that k ln 2 is exact. */
    double k = floor(x * 1.4426950408889634 + 0.5);
    double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double sum = 1.0;
    for (int n = 14; n >= 1; n--) {
        sum = 1.0 + sum * r / n;
    }
    return ldexp(sum, (int)k);
}

/* sin and cos of |x| <= pi/4 by their series. */
static double sin_series(double x)
{
    double square = x * x, sum = 1.0;
    for (int n = 18; n >= 2; n -= 2) {
        sum = 1.0 - sum * square / (n * (n + 1));
    }
    return x * sum;
}

static double cos_series(double x)
{
    double square = x * x, sum = 1.0;
    for (int n = 17; n >= 1; n -= 2) {
        sum = 1.0 - sum * square / (n * (n + 1));
    }
    return sum;
}

/* x = quadrant pi/2 + rest; pi/2 in three parts so that the products are exact for moderate x. */
static double reduce(double x, int *quadrant)
{
    double k = floor(x * 6.36619772367581382433e-01 + 0.5);
    *quadrant = (int)((long long)k & 3);
    return ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
}

double lmi_sin(double x)
{
    int quadrant;
    double r = reduce(x, &quadrant);
    double value = quadrant & 1 ? cos_series(r) : sin_series(r);
    return quadrant & 2 ? -value : value;
}

double lmi_cos(double x)
{
    int quadrant;
    double r = reduce(x, &quadrant);
    double value = quadrant & 1 ? sin_series(r) : cos_series(r);
    return quadrant == 1 || quadrant == 2 ? -value : value;
}

double lmi_log(double x)
{
    /* x = 2^k m with m near 1, then log m = 2 artanh((m-1)/(m+1)). */
    int k;
    double m = frexp(x, &k);
    if (m < 0.70710678118654752440) {
        m *= 2.0;
        k--;
    }
    double t = (m - 1.0) / (m + 1.0), square = t * t, sum = 0.0;
    for (int n = 27; n >= 1; n -= 2) {
        sum = 1.0 / n + sum * square;
    }
    return k * 1.90821492927058770002e-10 + 2.0 * t * sum + k * 6.93147180369123816490e-01;
}

double lmi_acos(double x)
{
    /* A first guess good to 1e-4, then Newton on cos; near the ends on the half angle, where acos is steep. */
    if (x > 0.9) {
        double s = sqrt(0.5 * (1.0 - x)); /* sin(angle/2), small */
        double a = s * (1.0 + s * s * (1.0 / 6.0 + s * s * (3.0 / 40.0)));
        for (int n = 0; n < 4; n++) {
            a += (s - lmi_sin(a)) / lmi_cos(a);
        }
        return 2.0 * a;
    }
    if (x < -0.9) {
        return 3.14159265358979323846 - lmi_acos(-x);
    }
    double a = 1.57079632679489661923 - x - x * x * x / 6.0;
    for (int n = 0; n < 5; n++) {
        a += (lmi_cos(a) - x) / lmi_sin(a);
    }
    return a;
}
