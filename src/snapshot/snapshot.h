/*
 * snapshot/: the state of a world as bytes and back, and its hash.
 *
 * reads   everything that the future of a world depends on
 * writes  bytes; a world that was loaded
 * uses    octree world; in sources also base cluster collide contact cut fracture joint match skeleton skin tets
 *
 *   snapshot.c  the format, in one description for saving, comparing and loading (archive.h); snapshot_*.c the parts of it: bodies, joints,
 *               skeletons, ... are structure; snapshot_state.c, snapshot_copy.c state
 *   snapshot_check.c  what only several values together show to be wrong          hash.c  the hash of a world
 *
 * The frame around a snapshot.
 *
 *     bytes 0..7    "LIMBERSN"
 *     bytes 8..11   format version
 *     bytes 12..19  size of what follows the header
 *     bytes 20..27  checksum of what follows the header
 *
 * All numbers are little-endian. Another version is refused.
 */
#ifndef LMI_SNAPSHOT_H
#define LMI_SNAPSHOT_H

#include "limber/limber.h"

#include <stddef.h>

#define LMI_SNAPSHOT_HEADER 28
#define LMI_SNAPSHOT_VERSION 20

/* Writes a header that fits the payload behind it; for the saver, and for tests that damage payloads on purpose. */
void lmi_snapshot_seal(unsigned char *buffer, size_t size);

struct lmi_body;

/* A copy of a body, made by saving and loading it alone, into an empty element of the world's pool. It is awake, in no batch, and has no
 * pins, drags, forces and skeleton. LM_ERROR_MEMORY, or LM_ERROR_ARGUMENT for a body that cannot be saved. */
lm_result lmi_snapshot_copy_body(lm_world *world, const struct lmi_body *from, struct lmi_body *to);

#endif
