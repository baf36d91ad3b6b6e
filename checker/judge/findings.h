/*
 * The findings so far: counts, and the most telling witnesses, each proved. They add up over the judgements of a
 * history (judge.h): one for a history in memory, else one a window.
 *
 * The witnesses kept do not depend on the windows: of cycles the shortest, then the earliest; of other anomalies the
 * first, those that refute more levels before the rest. Beside these, each level that the anomalies found do not refute
 * is decided by its own rule (solve/decide.h), and the cycle that refutes it is kept.
 */
#ifndef RIG_CHECKER_JUDGE_FINDINGS_H
#define RIG_CHECKER_JUDGE_FINDINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/judge/stream/witness_txns.h"
#include "checker/judge/judge.h"
#include "checker/model/verdict.h"

struct rig_findings {
    uint32_t most_kept;
    enum rig_lattice lattice;
    int64_t budget_ns;                 /* left for the solver */
    size_t solver_limit_bytes;         /* that the solver may hold; 0: no limit */
    struct rig_arena *arena;           /* borrowed: for the witnesses */
    struct rig_witness_txns *evidence; /* borrowed; NULL: witnesses refer to the history that was judged */
    const struct rig_retired *retired; /* borrowed, with `evidence` */
    struct rig_finding of[RIG_ANOMALY_COUNT];
    uint64_t mixed_reads;        /* of transactions with levels of their own: reads that these forbid by themselves */
    enum rig_anomaly mixed_read; /* the anomaly of the first one, which has a witness */
    struct rig_lost_rows lost;   /* in the arena */
    rig_anomaly_set undecided;   /* bits of requested anomalies, found or not, that some judgement left open */
    bool cyclic[RIG_RUNG_COUNT][RIG_ALONG_COUNT];
    uint64_t unproven;  /* those of `spent` whose proof was too large (solve/decide.h) */
    uint64_t too_large; /* those of `spent` whose search takes more memory than the limit */
    uint64_t spent;     /* bits of levels that some judgement left open when the budget was spent */
    struct rig_level_effort effort[RIG_LEVEL_COUNT];
    uint64_t explained;                       /* bits of levels that some order of the increments shows to hold */
    uint64_t open_objects;                    /* objects that were not decided */
    struct rig_begun_facts begun;             /* registers that begin with another value, or may */
    const struct rig_objects_window *objects; /* borrowed: the window of a history of objects; NULL: it is whole */
    bool asks_sequential;                     /* a level below strict serializable is requested */
    enum rig_sequential_fate sequential;      /* of objects */
    size_t limit_bytes;                       /* for the search for an order of the operations on an object; 0: none */
    /* In windows, of a type whose levels need the whole history. Bits of levels: `denied` (set by the caller) have no
     * explanation of this window that continues those of earlier windows; `apart` have been open since some window,
     * because only an explanation that does not continue them was found. */
    uint64_t denied, apart;
    uint64_t doomed;    /* bits of levels that anomalies of waiting transactions will refute; not asked about before */
    uint64_t unfit;     /* bits of levels given up because what their explanations keep did not fit into memory */
    bool reads_at_once; /* the order of a transaction's reads is not known (history/model/history.h) */
    int64_t decide_ns;
};

/* Whether one of the levels, bits, is decided by an order that need not keep real time. */
bool rig_sequential_asked(uint64_t levels);

/* The levels that the solver can decide and that nothing refutes so far, as bits. */
uint64_t rig_findings_open(const struct rig_findings *findings, const struct rig_judge *judge);

/* Adds what the judge has found. RIG_E_BUG for a witness that cannot be proved. */
enum rig_rc rig_findings_add(struct rig_findings *findings, const struct rig_judge *judge, struct rig_err *err);

#endif
