#include "checker/judge/known_anomaly.h"

#include "history/model/columns.h"
#include "history/types/types.h"

static bool is_within(const struct rig_count_range *range, uint64_t count)
{
    return count >= range->least && (range->most == 0 || count <= range->most);
}

/* Quadratic in the nodes of one witness, which are few; a long witness is compared up to a limit. */
static uint32_t count_nodes(const struct rig_verdict *verdict, const struct rig_witness *witness)
{
    enum { NODES_MOST = 64 };
    int64_t nodes[NODES_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < witness->txn_count && count < NODES_MOST; i++) {
        const int64_t node = rig_history_column(verdict->history, witness->txns[i], RIG_COLUMN_NODE);
        uint32_t at = 0;
        while (at < count && nodes[at] != node)
            at++;
        if (at == count && node != RIG_COLUMN_NONE)
            nodes[count++] = node;
    }
    return count;
}

static uint64_t most_meanwhile(const struct rig_verdict *verdict, const struct rig_witness *witness)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const int64_t count = rig_history_column(verdict->history, witness->txns[i], RIG_COLUMN_MEANWHILE);
        most = count > most ? count : most;
    }
    return (uint64_t)most;
}

static bool are_acknowledged(const struct rig_verdict *verdict, const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (verdict->history->txns[witness->txns[i]].outcome != RIG_OUTCOME_OK)
            return false;
    }
    return true;
}

/* ---- commits at the same time ---- */

static bool ended_together(const struct rig_history *history, uint32_t a, uint32_t b, int64_t within_ns)
{
    const struct rig_txn *first = &history->txns[a], *second = &history->txns[b];
    if (first->complete_ns == RIG_NO_TIME || second->complete_ns == RIG_NO_TIME)
        return false;
    const int64_t apart_ns = first->complete_ns - second->complete_ns;
    return apart_ns <= within_ns && apart_ns >= -within_ns;
}

/* Whether the transaction read the value of the key, a single one. */
static bool has_read(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
    for (; op < end; op++) {
        if (op->key == key && rig_op_reads(op->kind) && op->read_state == RIG_READ_SEEN && op->value == value)
            return true;
    }
    return false;
}

/* The element after the last one that the reader of an rw step saw, in the longest read. False: there is none. */
static bool next_element(const struct rig_history *history, const struct rig_step *step, int64_t *next)
{
    const struct rig_list *spine = &history->spines[step->key];
    uint32_t at = 0;
    while (at < spine->count && spine->at[at] != step->from_value)
        at++;
    at = at == spine->count ? 0 : at + 1; /* no element: the list was empty */
    if (at >= spine->count)
        return false;
    *next = spine->at[at];
    return true;
}

/* Whether the reader of an rw step missed a write of a transaction besides those of the step that ended at the same
 * time. */
static bool missed_a_third(const struct rig_history *history, const struct rig_step *step, int64_t within_ns)
{
    const struct rig_data_type *type = &rig_data_types[history->workload];
    const bool sequences = rig_data_type_has_sequences(type);
    int64_t next = 0;
    if (type->shape == RIG_RESULT_ROWS) /* the order in which a read shows rows is not that of their versions */
        return false;
    if (sequences && !next_element(history, step, &next))
        return false;
    for (uint32_t op = 0; op < history->op_count; op++) {
        const struct rig_txn_op *write = &history->ops[op];
        if (write->key != step->key || rig_op_reads(write->kind) || (sequences && write->value != next))
            continue;
        const uint32_t txn = rig_history_txn_of(history, op);
        if (txn != step->from && txn != step->to && history->txns[txn].outcome == RIG_OUTCOME_OK &&
            ended_together(history, step->from, txn, within_ns) &&
            (sequences || !has_read(history, step->from, step->key, write->value)))
            return true;
    }
    return false;
}

static bool cycle_is_together(const struct rig_verdict *verdict, const struct rig_step *steps, uint32_t count,
                              int64_t within_ns)
{
    const struct rig_history *history = verdict->history;
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_step *into = &steps[(i + count - 1) % count], *out = &steps[i];
        if (into->kind != RIG_EDGE_RW || out->kind != RIG_EDGE_RW)
            continue;
        if (count > 2 ? ended_together(history, out->from, out->to, within_ns)
                      : history->is_excerpt || missed_a_third(history, out, within_ns))
            return true;
    }
    return false;
}

/* ---- the shape ---- */

static bool cycle_fits(const struct rig_known_anomaly *known, const struct rig_verdict *verdict,
                       const struct rig_step *steps, uint32_t count)
{
    return is_within(&known->transactions, count) &&
           (known->together_ns == 0 || cycle_is_together(verdict, steps, count, known->together_ns));
}

/* Every cycle of a proof by cases; or the witness. */
static bool cycles_fit(const struct rig_known_anomaly *known, const struct rig_verdict *verdict,
                       const struct rig_witness *witness)
{
    const struct rig_cases *cases = witness->cases;
    if (cases == NULL)
        return witness->step_count == 0 ? known->together_ns == 0 && is_within(&known->transactions, witness->txn_count)
                                        : cycle_fits(known, verdict, witness->steps, witness->step_count);
    for (uint32_t i = 0; i < cases->line_count; i++) {
        const struct rig_case *line = &cases->lines[i];
        if (line->kind == RIG_CASE_CYCLE &&
            !cycle_fits(known, verdict, cases->steps + line->first_step, line->step_count))
            return false;
    }
    return cases->line_count > 0;
}

bool rig_known_anomaly_fits(const struct rig_known_anomaly *known, const struct rig_verdict *verdict,
                            const struct rig_witness *witness)
{
    enum rig_anomaly item; /* the shape is that of the edges: whether keys had rows depends on the load */
    (void)rig_anomaly_is_by_predicate(witness->anomaly, &item);
    return (known->anomalies & (RIG_ANOMALY_BIT(witness->anomaly) | RIG_ANOMALY_BIT(item))) != 0 &&
           is_within(&known->nodes, count_nodes(verdict, witness)) &&
           is_within(&known->meanwhile, most_meanwhile(verdict, witness)) &&
           (!known->acknowledged || are_acknowledged(verdict, witness)) && cycles_fit(known, verdict, witness);
}

bool rig_known_anomaly_is_kept(const struct rig_known_anomaly *known, const struct rig_verdict *verdict)
{
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((known->keeps & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_REFUTED)
            return false;
    }
    return true;
}

const struct rig_witness *rig_known_anomaly_find(const struct rig_known_anomaly *known,
                                                 const struct rig_verdict *verdict)
{
    if (!rig_known_anomaly_is_kept(known, verdict))
        return NULL;
    for (int anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            if (rig_known_anomaly_fits(known, verdict, &finding->witnesses[i]))
                return &finding->witnesses[i];
        }
    }
    return NULL;
}
