/*
 * Elementary functions that give the same bits on every machine.
 *
 * The C library's versions differ between platforms in the last bit. These use only IEEE additions, multiplications,
 * divisions and square roots, and are accurate to a few units in the last place of a double.
 */
#ifndef LMI_DMATH_H
#define LMI_DMATH_H

double lmi_exp(double x);  /* 0 below -745, infinity above 709 */
double lmi_log(double x);  /* x above 0 */
double lmi_sin(double x);  /* |x| up to 1e5 */
double lmi_cos(double x);  /* |x| up to 1e5 */
double lmi_acos(double x); /* -1 to 1 */

#endif
