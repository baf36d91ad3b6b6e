/*
 * The clients' view of one simulated run, directly from the engine, without threads.
 *
 * Each session issues its generator's stream until the transactions are spent, under a new process after each info, as
 * `run/` does. A run is a pure function of its settings.
 */
#ifndef RIG_TESTS_MODEL_SIM_HISTORY_H
#define RIG_TESTS_MODEL_SIM_HISTORY_H

#include "base/vec.h"
#include "drivers/sim/engine.h"
#include "generator/generator.h"
#include "history/model/history.h"

struct sim_settings {
    struct rig_sim_options sim;
    struct rig_generator_options workload; /* type, operations, keys, holds; its bounds are not used */
    uint32_t session_count;
    uint32_t txn_count;
    uint64_t seed;
};

struct seen_txn {
    int64_t invoke_ns, complete_ns;
    int64_t process;
    enum rig_outcome outcome;
    const char *error_code; /* static */
    size_t first_op;        /* into ops and reads */
    uint32_t op_count;
    size_t first_element;
    uint32_t invoke_at, complete_at; /* positions */
};

RIG_VEC(struct seen_txn, seen_txns)
RIG_VEC(struct rig_op, seen_ops)
RIG_VEC(struct rig_read, seen_reads)
RIG_VEC(int64_t, seen_elements)

struct seen_run {
    struct seen_txns txns; /* in completion order */
    struct seen_ops ops;
    struct seen_reads reads; /* first_element counts from the transaction's */
    struct seen_elements elements;
    struct rig_sim_counts counts;
};

/* Defaults: 5 sessions, lists, 1 to 5 operations on 10 exponential keys of 64 appends, half of them reads. */
void sim_settings_init(struct sim_settings *settings, enum rig_sim_isolation isolation, enum rig_sim_bug bug);

/* Runs it. Stops the program with a message when memory runs out. */
void seen_run_init(struct seen_run *run, const struct sim_settings *settings);
void seen_run_done(struct seen_run *run);

/* As the checker reads it; the caller owns it. */
struct rig_history *seen_run_history(const struct seen_run *run, enum rig_workload workload);

#endif
