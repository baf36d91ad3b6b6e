/*
 * Judges a history in memory: inference, then the search for cycles among the selected transactions.
 *
 * A whole history is judged at once. In a window (stream.h), only the selected transactions are judged: edges that do
 * not join two of them are cut, and anomalies of other transactions belong to another judgement.
 *
 * Threads: one. Memory is kept from one judgement to the next.
 */
#ifndef RIG_CHECKER_JUDGE_JUDGE_H
#define RIG_CHECKER_JUDGE_JUDGE_H

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "checker/decide/cycle/ladder.h"
#include "checker/infer/inference.h"
#include "checker/model/assumption.h"
#include "checker/infer/type_inference.h"

struct rig_judge {
    uint32_t most_kept;                    /* witnesses of each anomaly */
    rig_anomaly_set asked;                 /* bits of anomalies whose existence has to be decided */
    struct rig_assumptions assumptions;    /* `contradicted` may be set at any time */
    const struct rig_history *history;     /* borrowed */
    const struct rig_type_inference *type; /* the row of its workload */
    struct rig_arena scratch;              /* inference and graph */
    struct rig_inference inference;
    struct rig_ladder ladder;
    bool has_phantoms; /* a transaction that may lie on a cycle with rw edges read something that has no row */
    /* Where some shape has cycles by predicates alone: the same without edges that rest on predicates. */
    bool has_items;
    struct rig_inference items;
    struct rig_ladder item_ladder;
    struct rig_cycles_found mixed; /* where transactions have levels of their own (decide/cycle/mixed.h) */
    const uint8_t *selected;       /* borrowed: of the latest search; NULL: all */
    uint8_t *anomalous_keys;       /* per key: some transaction shows an anomaly on it; NULL: no key has one */
    uint64_t edge_count[3];        /* ww, wr, rw edges into the transactions judged */
    int64_t infer_ns, search_ns;
};

void rig_judge_init(struct rig_judge *judge, uint32_t most_kept, struct rig_assumptions assumptions,
                    size_t limit_bytes);
void rig_judge_done(struct rig_judge *judge);

/*
 * Fills judge->inference; `history` must live until the next call. `some`: only part of its transactions will be
 * selected, so every anomaly is kept until the selection is known.
 */
enum rig_rc rig_judge_infer(struct rig_judge *judge, const struct rig_history *history, bool some, struct rig_err *err);

/*
 * Fills judge->ladder and anomalous_keys, and completes the non-cyclic anomalies. `selected`, per node of the graph
 * (NULL: all), must be closed: each predecessor of a selected transaction is selected, or was judged before.
 */
enum rig_rc rig_judge_search(struct rig_judge *judge, const uint8_t *selected, struct rig_err *err);

/* How many anomalies of that name the search found. No level is refuted by it that the witnesses do not refute. */
uint64_t rig_judge_found(const struct rig_judge *judge, enum rig_anomaly anomaly);

/* The first transaction from `txn` on that is not selected; `txn_count` when all are. */
static inline uint32_t rig_judge_left_out(const uint8_t *selected, uint32_t txn, uint32_t txn_count)
{
    const uint8_t *found = txn < txn_count ? memchr(selected + txn, 0, txn_count - txn) : NULL;
    return found == NULL ? txn_count : (uint32_t)(found - selected);
}

#endif
