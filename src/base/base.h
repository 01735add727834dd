/*
 * base/: memory, ids, tasks, lanes, and mathematics that gives the same bits on every machine. Knows nothing of bodies.
 *
 * reads   what callers hand to it
 * writes  what it is handed, and memory of the host's allocator
 * uses    nothing
 *
 *   memory.h   the host's allocator         pool.h    slots and ids          tasks.h   the same function for every index
 *   lanes.h    rows of floats               vmat.h    small vectors and matrices in lanes
 *   vec.h      the same in double precision dmath.h   exp, log, sin, cos     hash.h    64 bits over words
 *   os.h       clock, threads, libraries    cpu.h     instruction sets       guard.h   the floating-point mode
 *   block.h    16 lanes to a block          quad.h    four floats            compiler.h  what compilers spell differently
 */
#ifndef LMI_BASE_H
#define LMI_BASE_H

#include <stdint.h>

#define LMI_NONE UINT32_MAX /* no slot, and no index of anything else */

#endif
