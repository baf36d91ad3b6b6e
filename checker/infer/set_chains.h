/*
 * The edges of the reads of a set that is read often. Mostly each read shows what a smaller one shows, and more: the
 * reads form a chain. Then each element is linked once, with the first read of the chain that shows it, and relays
 * (model/graph.h) lead on:
 *
 *   writers of what read 1 shows -wr-> relay -> read 1       read 1 -rw-> relay -> writers of what read 2 adds
 *                                        |                                  |
 *   writers of what read 2 adds  -wr-> relay -> read 2       read 2 -rw-> relay -> writers of what read 3 adds
 *                                        |                                  |
 *
 * The last relay of the right side leads to the additions that no read of the chain shows. Only reads by transactions
 * that add nothing to the key take part, so no transaction reaches itself. A read that does not fit the chain, or shows
 * what the largest read misses, is linked alone.
 *
 * Time: sorting the reads, and a look-up for each element that the largest read shows, or that reads show which are not
 * the first elements of the spine. Space: two relays and six edges a read, two
 * edges an element, 16 bytes a read, 16 an element. Everything lies in the arena.
 */
#ifndef RIG_CHECKER_INFER_SET_CHAINS_H
#define RIG_CHECKER_INFER_SET_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "checker/model/links.h"
#include "checker/infer/sets.h"

struct rig_set_read {
    uint32_t key, txn;
    uint32_t place; /* in the transaction */
    uint32_t size;  /* different elements of committed transactions that it shows */
};

struct rig_set_chains {
    const struct rig_sets *sets; /* borrowed */
    uint8_t *pays;               /* per key: whether a chain needs fewer edges than the pairs */
    struct rig_set_read *reads;
    uint32_t read_count, read_room;
};

/* False when memory runs out. */
bool rig_set_chains_init(struct rig_set_chains *chains, const struct rig_sets *sets, struct rig_arena *arena);
/* Adds a read, by a transaction that adds nothing to the key, of a key that pays. */
void rig_set_chains_add(struct rig_set_chains *chains, struct rig_set_read read);
/* Links all reads that were added. `shown_only`: with what they show, not with what they miss. `alone` links one that
 * does not fit. False when it fails, or memory runs out. */
bool rig_set_chains_link(struct rig_set_chains *chains, struct rig_links *links, bool shown_only,
                         bool (*alone)(void *context, const struct rig_set_read *read), void *context);

#endif
