/*
 * Lanes: one name for a row of floats that is as wide as the instruction set allows.
 *
 * A kernel file is compiled once for each instruction set, with one of LMI_ISA_SCALAR, LMI_ISA_SSE2, LMI_ISA_AVX2,
 * LMI_ISA_AVX512, LMI_ISA_NEON and LMI_ISA_SIMD128 defined. Arithmetic is written with the plain operators on `vf`; the files
 * in base/lanes/ add what C has no operator for, one for each instruction set. Every operation there rounds correctly and alike
 * on every instruction set (no fused multiply-add, no reciprocal approximations, no denormals taken for zero), and a lane never
 * sees its neighbours, so all widths give the same bits. test/base/test_lanes.c compares each with plain C.
 *
 * Data is laid out in blocks of LMI_BLOCK lanes whatever the width; a narrower instruction set walks through a block in
 * several pieces.
 */
#ifndef LMI_LANES_H
#define LMI_LANES_H

#include "base/base.h"
#include "base/compiler.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(LMI_ISA_AVX512)
#include "base/lanes/avx512.h"
#elif defined(LMI_ISA_AVX2)
#include "base/lanes/avx2.h"
#elif defined(LMI_ISA_SSE2)
#include "base/lanes/sse2.h"
#elif defined(LMI_ISA_NEON)
#include "base/lanes/neon.h"
#elif defined(LMI_ISA_SIMD128)
#include "base/lanes/simd128.h"
#elif defined(LMI_ISA_SCALAR)
#include "base/lanes/scalar.h"
#else
#error "define one of LMI_ISA_SCALAR, LMI_ISA_SSE2, LMI_ISA_AVX2, LMI_ISA_AVX512, LMI_ISA_NEON, LMI_ISA_SIMD128"
#endif

/* What they define:
 *
 *   LMI_ISA_SUFFIX, LMI_LANES, LMI_REGISTERS   the name in names of kernels, floats in a register, registers
 *   vf, vm                                     floats; which lanes
 *   vf_set1, vf_sqrt, vf_abs                   of all lanes alike
 *   vf_min, vf_max                             the second operand where they are equal (zeros of either sign) or unordered
 *   vf_lt, vm_and, vm_or, vm_not, vm_any       vm_bits has lane 0 in its lowest bit; vm_lane is one lane of LMI_LANES
 *   vf_select                                  the first where the mask is set, else the second
 *   vf_load, vf_store                          at multiples of their size; vf_loadu: anywhere
 *   vf_near                                    from k floats beyond such a multiple, |k| <= LMI_BLOCK; whole blocks on both
 *                                              sides of it must be there
 *   vf_load4, vf_store4                        LMI_LANES consecutive records of x y z w; vf_gather4: those that LMI_LANES
 *                                              indices name
 */

/* lmi_name_avx512 and so on: each instruction set has its own copy of a kernel. */
#define LMI_JOIN_(a, b) a##_##b
#define LMI_JOIN(a, b) LMI_JOIN_(a, b)
#define LMI_KERNEL(name) LMI_JOIN(lmi_##name, LMI_ISA_SUFFIX)

/* The pieces in which a block is walked. */
#define LMI_PIECES (LMI_BLOCK / LMI_LANES)

static inline vf vf_clamp(vf a, vf low, vf high) { return vf_min(vf_max(a, low), high); }

#endif
