/*
 * The host may have changed the rounding mode or switched denormals off. What we compute must not depend on that, and
 * the host must find its mode again.
 */
#ifndef LMI_GUARD_H
#define LMI_GUARD_H

#if defined(_WIN32) && (defined(__x86_64__) || defined(_M_X64))

/* The register itself: what fesetenv sets of it depends on the C library there. */
#include <xmmintrin.h>

typedef unsigned lmi_float_mode;

static inline void lmi_float_mode_enter(lmi_float_mode *host)
{
    *host = _mm_getcsr();
    _mm_setcsr(0x1f80); /* to nearest, no exceptions, denormals as they are */
}

static inline void lmi_float_mode_leave(const lmi_float_mode *host) { _mm_setcsr(*host); }

#else

#include <fenv.h>

typedef fenv_t lmi_float_mode;

static inline void lmi_float_mode_enter(lmi_float_mode *host)
{
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

static inline void lmi_float_mode_leave(const lmi_float_mode *host) { fesetenv(host); }

#endif

#endif
