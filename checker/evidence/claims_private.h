/*
 * The parts of checking claims. Private to claims.c and claims_replay.c.
 */
#ifndef RIG_CHECKER_EVIDENCE_CLAIMS_PRIVATE_H
#define RIG_CHECKER_EVIDENCE_CLAIMS_PRIVATE_H

#include "checker/evidence/claims.h"

/* No place, or no timestamp. */
#define RIG_NO_PLACE INT64_MIN

struct rig_claim_place {
    int64_t start, commit; /* RIG_NO_PLACE: none. In an order both are the same, or there is no commit */
    bool may_commit, writes;
};

struct rig_claim_write {
    int64_t value;
    uint32_t key, txn;
};

struct rig_claim_event {
    int64_t place;
    uint32_t txn;
    uint8_t turn; /* at one place: reads of writers that commit there, writes, reads */
};

enum { RIG_TURN_OWN_READS, RIG_TURN_WRITES, RIG_TURN_READS };

struct rig_claiming {
    const struct rig_history *history;
    struct rig_order_claims *into;
    struct rig_arena *scratch;
    struct rig_claim_place *places; /* per transaction */
    struct rig_claim_write *writes; /* of all that may have committed or failed, by key and value */
    size_t write_count;
    struct rig_claim_event *events; /* in their order */
    size_t event_count;
    uint8_t *excluded; /* per key */
    bool failed;       /* memory ran out */
};

void rig_claim_note(struct rig_claiming *c, enum rig_order_claim kind, uint32_t txn, uint32_t op, uint32_t other,
                    int64_t value);
/* The transaction that wrote the value; UINT32_MAX: none, or several. */
uint32_t rig_claim_writer(const struct rig_claiming *c, uint32_t key, int64_t value);
/* Replays the events. False when memory runs out. */
bool rig_claims_replay(struct rig_claiming *c);

#endif
