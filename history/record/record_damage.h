/*
 * Tells a cut record from a damaged one when its frames end too early, and how much follows.
 *
 * A cut ends the file, within a frame or between two. Everything else is damage: a frame with all its bytes and a wrong
 * checksum, bytes that begin no frame (zeros after a loss of power), a length past the end of the file although frames
 * follow, a missing or misplaced frame.
 *
 * Time: linear in the rest of the file, which is read; the number of bytes in checksums is bounded for any content.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_DAMAGE_H
#define RIG_HISTORY_RECORD_RECORD_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_record_damage {
    bool is_damaged;
    uint64_t bytes;  /* from where reading ended to the end of the file */
    uint64_t frames; /* complete and undamaged frames among them */
    uint64_t txns;   /* transactions that had completed at a later point, from undamaged frames; 0: unknown */
};

/*
 * Examines the `size` bytes of a file of this format version in which the frame `number` should begin at `at` but does
 * not.
 */
struct rig_record_damage rig_record_damage_at(const uint8_t *data, size_t size, unsigned version, size_t at,
                                              uint64_t number);

#endif
