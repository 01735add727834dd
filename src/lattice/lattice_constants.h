/*
 * Reading the constants of a lattice's regions in lanes.
 */
#ifndef LMI_LATTICE_CONSTANTS_H
#define LMI_LATTICE_CONSTANTS_H

#include "base/vmat.h"
#include "lattice/lattice_lanes.h"

/* Where the constants of a region are, and how far one is from the next; on a device otherwise (gpu/kernels/prelude.cl). */
#ifndef __OPENCL_VERSION__
typedef const float *lattice_at;
#define LATTICE_STRIDE LMI_BLOCK
#endif
/* A constant of regions side by side; or, where lanes are bodies (lattice_herd.c), of one region in all of them. */
LMI_INLINE vf lattice_constant(lattice_at at)
{
#ifdef LATTICE_HERD
    return vf_set1(*at);
#else
    return vf_load(at);
#endif
}

/* xx yy zz xy yz zx. */
LMI_INLINE vmat3 lattice_symmetric(lattice_at at)
{
    vf xx = lattice_constant(at), xy = lattice_constant(at + 3 * LATTICE_STRIDE);
    vf yy = lattice_constant(at + LATTICE_STRIDE), yz = lattice_constant(at + 4 * LATTICE_STRIDE);
    vf zz = lattice_constant(at + 2 * LATTICE_STRIDE), zx = lattice_constant(at + 5 * LATTICE_STRIDE);
    vmat3 m = {{xx, xy, zx, xy, yy, yz, zx, yz, zz}};
    return m;
}

#endif
