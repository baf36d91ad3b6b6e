/*
 * Which transactions committed, from the raw history: the acknowledged ones, and those of unknown fate with a written
 * value that a committed transaction shows. A value identifies its writer.
 *
 * Time: linear in the history, and a binary search for each value shown. Space: 24 bytes a write of unknown fate.
 */
#ifndef RIG_CHECKER_PROVE_COMMITS_H
#define RIG_CHECKER_PROVE_COMMITS_H

#include <stdbool.h>

#include "base/vec.h"
#include "history/model/history.h"

/* A write of a transaction whose fate its client does not know. */
struct rig_claim {
    uint32_t key, txn;
    int64_t value;
};

RIG_VEC(struct rig_claim, rig_claims)
RIG_VEC(uint32_t, rig_proved_txns)

struct rig_commits {
    const struct rig_history *history;
    bool *committed;               /* per transaction: the answer */
    struct rig_claims claims;      /* by key, then value */
    struct rig_proved_txns proved; /* committed transactions whose reads have not been followed yet */
    void *context;                 /* of the caller */
};

/* Passes the values that a committed transaction read to rig_commits_show(). False when memory runs out. */
typedef bool rig_commits_follow(struct rig_commits *commits, uint32_t txn);

/* Fills in `committed`, which has room for every transaction: `writes` are the operations that claim, and `follow` is
 * called for each transaction that committed, once. False when memory runs out. */
bool rig_commits_prove(const struct rig_history *history, enum rig_op_kind writes, rig_commits_follow *follow,
                       void *context, bool *committed);

/* Notes that a committed transaction shows this value, so its writer committed. False when memory runs out. */
bool rig_commits_show(struct rig_commits *commits, uint32_t key, int64_t value);
/* Passes all values that the transaction read, of a type whose reads show values or lists of values. */
bool rig_commits_follow_reads(struct rig_commits *commits, uint32_t txn);

#endif
