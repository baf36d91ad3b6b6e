/*
 * The inference's table of data types. The windows (judge/stream/type_windows.h), the sentences (explain/type_words.h)
 * and the verifier (prove/witness/verify_type.h) have one of their own.
 *
 * A row is asked once a history, window, segment or key, never an operation. Long parts of a row are in files named
 * after the type; only these and the tables name its operations. To add a type is to add such files and a row to each.
 */
#ifndef RIG_CHECKER_INFER_TYPE_INFERENCE_H
#define RIG_CHECKER_INFER_TYPE_INFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/anomaly.h"
#include "checker/model/assumption.h"
#include "history/model/transaction.h"

struct rig_element_timing;
struct rig_history;
struct rig_txn_op;
struct rig_inference;
struct rig_problem;

/* How reads show that a write is gone. */
enum rig_losses {
    RIG_LOSSES_UNSEEN,       /* they do not */
    RIG_LOSSES_OF_LISTS,     /* an element is missing; lists show the order of elements */
    RIG_LOSSES_OF_SETS,      /* an element is missing */
    RIG_LOSSES_OF_REGISTERS, /* an older version is there */
};

struct rig_type_inference {
    /* ---- inference (infer/inference.h) ---- */

    /* Fills in all of the inference, but keeps a limited number of non-cyclic anomalies of each kind. Arrays come from
     * the arena; rig_inference_done() releases the rest, also after a failure. RIG_E_INPUT when an operation is of
     * another type or a value is written twice to a key; RIG_E_LIMIT when memory runs out. */
    enum rig_rc (*infer)(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                         struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);
    /* After the search for cycles (`cyclic`: there is one; `realtime`: there is one with real-time order): adds the
     * anomalies that take a pass of their own and cannot be there without others. NULL: there are none. False when
     * memory runs out. */
    bool (*infer_rest)(struct rig_inference *inference, bool cyclic, bool realtime);
    /* The question for the solver, of the committed transactions among `selected` (per transaction; NULL: all). The
     * caller releases the problem, also after a failure. `items`: without the reads that found no row of their key, for
     * the levels that allow phantoms. NULL: no level is decided by the solver. RIG_E_LIMIT when memory runs out. */
    enum rig_rc (*build_problem)(const struct rig_inference *inference, const uint8_t *selected, bool items,
                                 struct rig_problem *problem, struct rig_err *err);
    /* Adds to the links every edge that some order of the versions may have. NULL: `total_orders` is false, and there
     * is no such thing, or no order is open. False when memory runs out. */
    bool (*link_any_order)(struct rig_inference *inference);
    /* Links the transactions again, without the rw edges that rest on predicates: statements with conditions, and reads
     * that found no row of their key. `among`: per transaction; reads of the others may be left out (NULL: none are).
     * NULL: there are none of the type. False when memory runs out. */
    bool (*link_items)(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items);
    /* Whether an rw edge from this read with a known result rests on a predicate, unless the rows of all keys were
     * there before (RIG_ASSUMES_PREFILLED). NULL: rows and reads of the type are not those of keys. */
    bool (*found_no_row)(const struct rig_history *history, const struct rig_txn_op *read);
    /* Measures when the elements of the selected keys became visible: rig_set_times() (infer/set_times.h). NULL: there
     * are no elements. */
    void (*time_elements)(const struct rig_inference *inference, const uint8_t *keys, struct rig_arena *arena,
                          struct rig_element_timing *timing);
    /* A search for an order of the operations on each object decides the history (objects/object_decide.h); there are
     * no dependencies. */
    bool objects;
    unsigned assumptions; /* RIG_ASSUMPTION_BIT()s of what a user may assume */
    bool whole;           /* levels need the whole history, or explanations that windows go on from (explained.h) */
    bool only_whole;      /* windows find nothing: a history that does not fit into memory is refused */
    bool no_edges;        /* reads show no dependencies, but are an observation */
    bool claims;          /* committed transactions are an observation: none met another one at what it claims */
    /* Why a level that is not refuted is open if there are `open_reads` (inference.h); NULL: it is not, where every
     * read is known. */
    const char *open_for;
    bool any_initial;       /* a key may begin with a value that no transaction wrote */
    bool total_orders;      /* reads alone show the order of the versions, except that of writes that no read shows */
    bool has_certificates;  /* a certificate of its database shows its versions (model/certified.h) */
    bool certified_by_rows; /* which are not those of keys: evidence/row_judge.h; else evidence/certificate_judge.h */
    bool no_proofs;         /* rig-verify replays none of the type (prove/facts.h) */
    bool has_versions;      /* inference.versions has the order of a key (infer/versions.h) */
    enum rig_losses losses; /* how reads show that a crash took a write (infer/crash_loss.h) */

    /* Whether an operation belongs to the statement of the one before it (rig_statement_continues, history_excerpt.h).
     * NULL: each operation is a statement. */
    bool (*continues)(const struct rig_txn_op *ops, uint32_t op);

    /* ---- what it can show ---- */

    rig_anomaly_set anomalies; /* bits: the non-cyclic ones that it can have */
    uint64_t levels;           /* bits: those that can be held, where every read is known */
};

/* Whether the type has rw edges by predicates, and the ladder alone decides its levels. */
static inline bool rig_type_has_conditions(const struct rig_type_inference *type)
{
    return type->link_items != NULL && type->build_problem == NULL;
}

/* Why a level that is not refuted is open; NULL: it is not, where every read is known. */
static inline const char *rig_type_open_for(const struct rig_type_inference *type, uint64_t open_reads)
{
    return open_reads > 0 ? type->open_for : NULL;
}

/* Whether an rw edge from this operation, which reads a key, rests on a predicate. `prefilled`: see struct
 * rig_inference. */
bool rig_type_found_no_row(const struct rig_history *history, bool prefilled, uint32_t txn, uint32_t op);

/* Whether some read of the problem of that inference found no row of its key. */
bool rig_type_has_phantoms(const struct rig_inference *inference, const struct rig_problem *problem);

/* The row of a workload; NULL: rig does not check histories of it. */
const struct rig_type_inference *rig_type_inference(enum rig_workload workload);
/* RIG_E_INPUT when there is none. */
enum rig_rc rig_type_require(enum rig_workload workload, struct rig_err *err);

#endif
