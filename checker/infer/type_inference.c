#include "checker/infer/type_inference.h"

#include "base/bug.h"
#include "checker/infer/counter_inference.h"
#include "checker/infer/inference.h"
#include "checker/infer/list_inference.h"
#include "checker/infer/list_problem.h"
#include "checker/infer/log_inference.h"
#include "checker/infer/register_inference.h"
#include "checker/infer/register_problem.h"
#include "checker/infer/row_inference.h"
#include "checker/infer/set_inference.h"
#include "checker/infer/set_problem.h"
#include "checker/infer/set_times.h"
#include "checker/model/anomaly.h"
#include "checker/model/level.h"
#include "checker/objects/object_model.h"

/*
 * Inference for objects: checks the rules, and counts. There are no edges (objects/object_decide.h).
 */

static bool shows_anything(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_EXPECT || ops[i].read_state != RIG_READ_UNKNOWN)
            return true;
    }
    return false;
}

static uint64_t count_unknown(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint64_t count = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        count += rig_op_reads(ops[i].kind) && ops[i].read_state == RIG_READ_UNKNOWN;
    return count;
}

/* The function `infer` of a row (type_inference.h). */
static enum rig_rc infer_objects(const struct rig_history *history, struct rig_assumptions assumptions,
                                 uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                 struct rig_err *err)
{
    *inference = (struct rig_inference){
        .history = history, .initial = assumptions.initial, .noncyclic = {.most_kept = most_kept}};
    const enum rig_rc rc = rig_object_ops_check(history, err);
    if (rc != RIG_OK)
        return rc;
    uint8_t *committed = rig_arena_array(arena, (size_t)history->txn_count + 1, 1);
    if (committed == NULL || !rig_links_init(&inference->links, arena, history->txn_count, 0, 0))
        return rig_memory_limit(err, "the operations");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const enum rig_outcome outcome = (enum rig_outcome)history->txns[txn].outcome;
        inference->fail_count += outcome == RIG_OUTCOME_FAIL;
        if (outcome != RIG_OUTCOME_OK)
            continue;
        committed[txn] = 1;
        inference->ok_count++;
        inference->observations += shows_anything(history, txn);
        inference->unknown_reads += count_unknown(history, txn);
    }
    inference->committed = committed;
    inference->committed_count = inference->ok_count;
    return RIG_OK;
}

#define A(id) RIG_ANOMALY_BIT(RIG_ANOMALY_##id)

#define OBJECTS(which)                                                                                                 \
    {                                                                                                                  \
        .infer = infer_objects, .objects = true, .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1, .any_initial = true,    \
        .anomalies = A(NONSEQUENTIAL) | A(NONLINEARIZABLE) | (which),                                                  \
    }

/* Registers, whose values are unique per key. */
#define REGISTERS(...)                                                                                                 \
    {                                                                                                                  \
        .infer = rig_infer_registers, .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1,                                    \
        .link_items = rig_infer_items_of_registers, .found_no_row = rig_register_found_no_row,                         \
        .build_problem = rig_register_problem, .whole = true, .any_initial = true, .has_certificates = true,           \
        .assumptions = RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_COUNT) - 1,                                                   \
        .anomalies = A(G1A) | A(G1B) | A(GARBAGE_READ) | A(FUTURE_READ) | A(INTERNAL) | A(LOST_UPDATE) |               \
                     A(INTERNAL_PREDICATE) | A(LOST_UPDATE_PREDICATE) | A(CYCLIC_VERSIONS) | A(LOST_WRITE),            \
        __VA_ARGS__                                                                                                    \
    }

/* Counters, of one or of several keys together. */
#define COUNTERS(how, which)                                                                                           \
    {                                                                                                                  \
        .infer = (how), .whole = true, .only_whole = true, .no_edges = true,                                           \
        .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1,                                                                  \
        .open_for = "no stronger level holds, and reads of counters do not show which increments they include",        \
        .anomalies = (which),                                                                                          \
    }

#define ROWS(which, ...)                                                                                               \
    {                                                                                                                  \
        .infer = rig_infer_rows, .link_items = rig_infer_items_of_rows, .continues = rig_row_continues, .whole = true, \
        .only_whole = true, .total_orders = true, .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1,                        \
        .open_for = "a read by condition does not tell which version it saw of a row that it does not show",           \
        .anomalies = A(G1A) | A(G1B) | A(GARBAGE_READ) | A(DUPLICATE_ELEMENTS) | A(FUTURE_READ) | A(INTERNAL) |        \
                     A(LOST_UPDATE) | A(PREDICATE_MISMATCH) | A(PREDICATE_READ_MISS) | A(NO_VERSION_ORDER) | (which),  \
        __VA_ARGS__                                                                                                    \
    }

static const struct rig_type_inference types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] =
        {
            .infer = rig_infer_list_append,
            .infer_rest = rig_infer_list_rest,
            .link_items = rig_infer_items_of_lists,
            .found_no_row = rig_list_found_no_row,
            .build_problem = rig_list_problem,
            .link_any_order = rig_infer_list_any_order,
            .total_orders = true,
            .has_versions = true,
            .losses = RIG_LOSSES_OF_LISTS,
            .has_certificates = true,
            .anomalies = A(G1A) | A(G1B) | A(GARBAGE_READ) | A(DUPLICATE_ELEMENTS) | A(INCOMPATIBLE_ORDER) |
                         A(FRACTURED_APPEND) | A(FUTURE_READ) | A(INTERNAL) | A(LOST_UPDATE) | A(DIRTY_UPDATE) |
                         A(INTERNAL_PREDICATE) | A(LOST_UPDATE_PREDICATE) | A(LOST_APPEND),
            .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1,
        },
    [RIG_WORKLOAD_RW_REGISTER] = REGISTERS(.losses = RIG_LOSSES_OF_REGISTERS),
    [RIG_WORKLOAD_LONG_FORK] = REGISTERS(),
    [RIG_WORKLOAD_MONOTONIC] = REGISTERS(),
    [RIG_WORKLOAD_UNIQUE_IDS] = REGISTERS(.claims = true),
    [RIG_WORKLOAD_DIRTY_READS] = REGISTERS(),
    [RIG_WORKLOAD_SEQUENTIAL] = REGISTERS(),
    [RIG_WORKLOAD_MULTI_KEY] = REGISTERS(),
    [RIG_WORKLOAD_COUNTER] = COUNTERS(rig_infer_counters, A(IMPOSSIBLE_VALUE) | A(COUNTER_BOUNDS)),
    [RIG_WORKLOAD_BANK] = COUNTERS(rig_infer_banks, A(WRONG_TOTAL) | A(NEGATIVE_BALANCE) | A(COUNTER_BOUNDS)),
    [RIG_WORKLOAD_SET] =
        {
            .infer = rig_infer_sets,
            .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1,
            .link_items = rig_infer_items_of_sets,
            .found_no_row = rig_set_found_no_row,
            .build_problem = rig_set_problem,
            .time_elements = rig_set_times,
            .losses = RIG_LOSSES_OF_SETS,
            .total_orders = true,
            .anomalies =
                A(G1A) | A(GARBAGE_READ) | A(DUPLICATE_ELEMENTS) | A(FUTURE_READ) | A(INTERNAL) | A(INTERNAL_PREDICATE),
        },
    [RIG_WORKLOAD_PREDICATE] = ROWS(0, .has_certificates = true, .certified_by_rows = true),
    [RIG_WORKLOAD_SQL] = ROWS(A(BROKEN_UNIQUE) | A(BROKEN_CHECK) | A(BROKEN_REFERENCE), .certified_by_rows = true),
    [RIG_WORKLOAD_LOG] =
        {
            .infer = rig_infer_logs,
            .open_for = "a record has no known offset, or a poll left records out or went back",
            .continues = rig_log_acknowledges,
            .no_proofs = true,
            .whole = true,
            .only_whole = true,
            .total_orders = true,
            .levels = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1,
            .anomalies = A(G1A) | A(GARBAGE_READ) | A(DUPLICATE_ELEMENTS) | A(FUTURE_READ) | A(INCONSISTENT_OFFSETS) |
                         A(INT_NONMONOTONIC_SEND) | A(INT_NONMONOTONIC_POLL) | A(INT_POLL_SKIP) | A(NONMONOTONIC_POLL) |
                         A(POLL_SKIP) | A(LOST_WRITE),
        },
    [RIG_WORKLOAD_CAS_REGISTER] = OBJECTS(0),
    [RIG_WORKLOAD_MUTEX] = OBJECTS(0),
    [RIG_WORKLOAD_LOCK] = OBJECTS(0),
    [RIG_WORKLOAD_MODEL] = OBJECTS(0),
    [RIG_WORKLOAD_QUEUE] = OBJECTS(A(PHANTOM_ELEMENT) | A(DUPLICATED_ELEMENT) | A(LOST_ELEMENT)),
    [RIG_WORKLOAD_STACK] = OBJECTS(A(PHANTOM_ELEMENT) | A(DUPLICATED_ELEMENT) | A(LOST_ELEMENT)),
    [RIG_WORKLOAD_APPEND_REGISTER] = OBJECTS(0),
};

const struct rig_type_inference *rig_type_inference(enum rig_workload workload)
{
    return (unsigned)workload < RIG_WORKLOAD_COUNT && types[workload].infer != NULL ? &types[workload] : NULL;
}

bool rig_type_found_no_row(const struct rig_history *history, bool prefilled, uint32_t txn, uint32_t op)
{
    const struct rig_type_inference *type = &types[history->workload];
    return !prefilled && type->found_no_row != NULL && type->found_no_row(history, rig_txn_ops(history, txn) + op);
}

bool rig_type_has_phantoms(const struct rig_inference *inference, const struct rig_problem *problem)
{
    const struct rig_history *history = inference->history;
    const size_t count = inference->prefilled ? 0 : problem->reads.count;
    for (size_t read = 0; read < count; read++) {
        const uint32_t txn = problem->txns.at[problem->read_txn[read]].txn;
        if (problem->reads.at[read].writer == RIG_PROBLEM_INITIAL &&
            rig_type_found_no_row(history, false, txn, problem->reads.at[read].op))
            return true;
    }
    return false;
}

enum rig_rc rig_type_require(enum rig_workload workload, struct rig_err *err)
{
    const struct rig_type_inference *type = rig_type_inference(workload);
    if (type == NULL)
        return rig_fail(err, RIG_E_INPUT, "rig does not check histories of this workload");
    return RIG_OK;
}
