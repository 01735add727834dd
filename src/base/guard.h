/*
 * The host may have changed the rounding mode or switched denormals off. What we compute must not depend on that, and
 * the host must find its mode again.
 */
#ifndef LMI_GUARD_H
#define LMI_GUARD_H

#include <fenv.h>

typedef fenv_t lmi_float_mode;

static inline void lmi_float_mode_enter(lmi_float_mode *host)
{
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

static inline void lmi_float_mode_leave(const lmi_float_mode *host) { fesetenv(host); }

#endif
