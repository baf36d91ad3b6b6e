/*
 * Tells a cut record from a damaged one where its frames end too early, and how much follows.
 *
 * A cut ends the file, within a frame or between two. Everything else is damage: a frame with all its bytes and a
 * wrong checksum, bytes that begin no frame (zeros after a loss of power), a length that leads behind the end of the
 * file although frames follow, a frame that is missing or out of its place.
 *
 * Time: linear in what follows, which is read; the bytes that checksums are made of are bounded, whatever they are.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_DAMAGE_H
#define RIG_HISTORY_RECORD_RECORD_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_record_damage {
    bool is_damaged;
    uint64_t bytes;  /* from where reading ended to the end of the file */
    uint64_t frames; /* whole and undamaged ones among them */
    uint64_t txns;   /* transactions that completed before some point behind, as undamaged frames tell; 0: none does */
};

/*
 * Looks at the `size` bytes of a file of this format version, of which the frame `number` should begin at `at`, and
 * does not.
 */
struct rig_record_damage rig_record_damage_at(const uint8_t *data, size_t size, unsigned version, size_t at,
                                              uint64_t number);

#endif
