/*
 * How deep a point is in a mesh or a height map: the texts of src/collide, which follow this file, for arrays that lie in the
 * device's memory; then solid_at.cl.
 */
#define LMI_FAR __global
typedef char int8_t;
