/*
 * Data for the kernels is laid out in blocks of this many lanes, whatever the width of the instruction set.
 */
#ifndef LMI_BLOCK_H
#define LMI_BLOCK_H

#define LMI_BLOCK 16

#endif
