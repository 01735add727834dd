/*
 * A 64-bit hash over words, the same on every machine.
 */
#ifndef LMI_HASH_H
#define LMI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define LMI_HASH_SEED 0x9e3779b97f4a7c15u

static inline uint64_t lmi_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}

/* Over bytes, little-endian words of eight with zeros after the last, and their number. */
uint64_t lmi_hash_bytes(uint64_t hash, const unsigned char *bytes, size_t size);

/* Of what stays while a body moves: rest positions, regions and skin (lm_body_info.shape_hash). */
struct lmi_body;
uint64_t lmi_hash_shape(const struct lmi_body *body);

/* Of the arrays of a height map or a mesh; 0 where there are none. */
struct lmi_solid;
uint64_t lmi_hash_solid(const struct lmi_solid *solid);

/* Over the bytes of an array as it is in memory, eight words side by side: several times as fast as lmi_hash_bytes. */
uint64_t lmi_hash_array(uint64_t hash, const void *array, size_t size);

#endif
