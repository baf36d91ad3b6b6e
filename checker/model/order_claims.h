/*
 * The order that a database itself gives to transactions, where it does not hold (evidence/claims.h): plain data.
 */
#ifndef RIG_CHECKER_MODEL_ORDER_CLAIMS_H
#define RIG_CHECKER_MODEL_ORDER_CLAIMS_H

#include "base/arena.h"
#include "checker/model/anomaly.h"

enum rig_order_claim {
    RIG_CLAIM_ORDER_MISMATCH,
    RIG_CLAIM_G_SIA,
    RIG_CLAIM_G_SIB,
    RIG_CLAIM_STALE_SNAPSHOT,
    RIG_CLAIM_COUNT,
};

/* As results name them. */
extern const enum rig_anomaly rig_claim_anomalies[RIG_CLAIM_COUNT];

enum { RIG_CLAIMS_KEPT = 8 /* of each kind */ };

/* A claim that does not hold. */
struct rig_claim_case {
    enum rig_order_claim kind;
    uint32_t txn;
    uint32_t op;       /* its operation; UINT32_MAX: none, of a stale snapshot or a commit before its own start */
    uint32_t other;    /* the other transaction; UINT32_MAX: none */
    int64_t value;     /* the other one's write that `op` shows, misses or replaces */
    uint32_t names[2]; /* of txn and other in reports */
    char *text;
};

struct rig_order_claims {
    bool is_order;                      /* places in one order; else timestamps */
    uint64_t placed_count;              /* transactions with a place */
    uint64_t unplaced_count;            /* transactions that may have committed without a place */
    uint64_t key_count, excluded_count; /* keys, and those left out */
    uint64_t read_count;                /* reads compared with the replay */
    uint64_t counts[RIG_CLAIM_COUNT];
    struct rig_claim_case *kept[RIG_CLAIM_COUNT]; /* at most RIG_CLAIMS_KEPT, the first ones of the order */
    char *unjudged;                               /* why the claims were not checked; NULL: they were */
    struct rig_arena arena;
};

#endif
