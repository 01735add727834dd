/*
 * What an x86-64 processor and its system can run beyond SSE2.
 */
#ifndef LMI_CPU_H
#define LMI_CPU_H

#include <stdbool.h>

bool lmi_cpu_has_avx2(void);
bool lmi_cpu_has_avx512(void); /* F, DQ, BW and VL */

#endif
