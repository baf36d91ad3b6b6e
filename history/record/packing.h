/*
 * Compressing a frame's payload with zstd, where rig was built with it (docs/history-format.md).
 *
 * Packed bytes are their unpacked size, u32, and one zstd frame.
 *
 * Threads: a packer belongs to one thread at a time.
 */
#ifndef RIG_HISTORY_RECORD_PACKING_H
#define RIG_HISTORY_RECORD_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { RIG_PACKING_MAX_BYTES = 1 << 26 /* unpacked */ };

/* Whether this build can pack and unpack. */
bool rig_packing_available(void);

struct rig_packer; /* memory allocated, and reused */

/* NULL when memory runs out, or if packing is not available. */
struct rig_packer *rig_packer_new(void);
/* Takes NULL. */
void rig_packer_free(struct rig_packer *packer);
/* Packs `buf` from `start` on; false if it stays unpacked, which is shorter. */
bool rig_packer_pack(struct rig_packer *packer, struct rig_buf *buf, size_t start);

/* The unpacked size that these bytes claim, at most 2^32 - 1; 0 if they are too short. */
size_t rig_packed_size(const uint8_t *packed, size_t size);

enum rig_unpacked { RIG_UNPACKED, RIG_UNPACKED_DAMAGED, RIG_UNPACKED_NO_MEMORY };
/* Unpacks `size` bytes into `buf`, replacing what is there. */
enum rig_unpacked rig_packer_unpack(struct rig_packer *packer, const uint8_t *packed, size_t size, struct rig_buf *buf);

#endif
