/*
 * The versions of a certificate by key, as the history numbers keys: the chain of each key, and the place of a value.
 *
 * A chain lists the elements of the key's versions in the order of the stream: of a list its final elements, of a
 * register every value that it had. It is irregular where a version drops elements of the one before it, repeats an
 * element or removes the key; then the place of a value is still known, but no read is compared with the chain.
 *
 * Space: 24 bytes an element, 24 a key. Time: sorting the elements. Threads: one.
 */
#ifndef RIG_CHECKER_EVIDENCE_CERTIFICATE_CHAINS_H
#define RIG_CHECKER_EVIDENCE_CERTIFICATE_CHAINS_H

#include "base/arena.h"
#include "base/table.h"
#include "history/model/history.h"

struct rig_certificate_slot {
    int64_t value;
    uint32_t key;
    uint32_t place;  /* in the key's chain */
    uint32_t commit; /* that made it */
};

struct rig_certificate_chain {
    int64_t *at;
    uint32_t count;
    bool irregular;
};

struct rig_certificate_chains {
    struct rig_certificate_chain *keys; /* per key of the history */
    struct rig_certificate_slot *slots; /* by key and value */
    size_t slot_count;
    uint32_t *commits;        /* the commits that make some chain irregular, ascending */
    uint32_t irregular_count; /* entries of `commits` */
    uint64_t foreign_count;   /* changes of keys that the history does not have */
};

/* The certificate is the history's, or has the commits that this one lost. Everything is in the arena; false when
 * memory runs out. */
bool rig_certificate_chains_build(const struct rig_history *history, const struct rig_certificate *certificate,
                                  struct rig_arena *arena, struct rig_certificate_chains *chains);
/* Puts the history's keys under their names; false when memory runs out. */
bool rig_certificate_number_keys(const struct rig_history *history, struct rig_table *numbers);
/* The first place of the value; NULL: the certificate does not have it. */
const struct rig_certificate_slot *rig_certificate_find(const struct rig_certificate_chains *chains, uint32_t key,
                                                        int64_t value);
/* Whether a commit need not show the write: a later operation of its transaction writes the register anew, and the
 * certificate has only last versions. */
bool rig_certificate_hides(const struct rig_history *history, uint32_t txn, uint32_t op);
/* The last write of the transaction to the key of operation `op` before it; NULL: none. */
const struct rig_txn_op *rig_certificate_own_write(const struct rig_history *history, uint32_t txn, uint32_t op);

#endif
