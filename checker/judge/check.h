/*
 * The checker: from a history to a verdict on every isolation level, in one pass.
 *
 * Sound: every anomaly reported is in every interpretation of what the clients saw. Decided: there are no time-outs.
 * Checked: each witness in the verdict has been proved again from the raw history (checker/prove/witness/verify.h).
 *
 * Threads: one call uses the calling thread; several histories may be checked side by side.
 */
#ifndef RIG_CHECKER_JUDGE_CHECK_H
#define RIG_CHECKER_JUDGE_CHECK_H

#include "base/err.h"
#include "checker/model/assumption.h"
#include "checker/model/durability.h"
#include "checker/model/verdict.h"
#include "history/model/history.h"

enum { RIG_WITNESSES_MOST = 10000 }; /* that a user may ask for, of each anomaly */
#define RIG_DEFAULT_BUDGET_NS INT64_C(60000000000)

struct rig_check_options {
    uint64_t levels;           /* bits 1 << enum rig_level that decide `valid`; 0: strict serializable */
    rig_anomaly_set anomalies; /* bits 1 << enum rig_anomaly that also decide it */
    uint32_t max_witnesses;    /* kept per anomaly; 0: the default of 8 */
    unsigned assumptions;      /* RIG_ASSUMPTION_BIT()s and RIG_ASSUMES_...s (checker/model/assumption.h) */
    struct rig_known_total total;
    struct rig_known_initial initial;
    size_t limit_bytes; /* --max-memory; 0: none */
    enum rig_lattice lattice;
    int64_t budget_ns;           /* for the solver, of the whole check; 0: RIG_DEFAULT_BUDGET_NS */
    int64_t spent_ns;            /* of that, by an earlier pass */
    enum rig_promise durability; /* the promise that also decides `valid` where a server crashed */
};

static inline struct rig_assumptions rig_check_assumptions(const struct rig_check_options *options)
{
    /* The reference knows no predicates in lists, registers and sets. */
    const unsigned prefilled = options->lattice == RIG_LATTICE_REFERENCE ? RIG_ASSUMES_PREFILLED : 0;
    return (struct rig_assumptions){
        .made = options->assumptions | prefilled, .total = options->total, .initial = options->initial};
}

/*
 * Gives a verdict to the caller (rig_verdict_free()). RIG_E_INPUT when the history breaks the workload's rules (the
 * same value written twice to a key, operations of another workload), naming the transactions; RIG_E_LIMIT beyond
 * limit_bytes.
 */
enum rig_rc rig_check(const struct rig_history *history, const struct rig_check_options *options,
                      struct rig_verdict **verdict, struct rig_err *err);

#endif
