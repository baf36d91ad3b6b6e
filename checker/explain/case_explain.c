#include "checker/explain/case_explain.h"

#include <string.h>

#include "base/bug.h"
#include "checker/explain/type_words.h"
#include "checker/infer/type_inference.h"
#include "checker/decide/cycle/cycle.h"
#include "checker/explain/refutes.h"
#include "history/types/types.h"

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the witnesses");
}

/* ---- steps ---- */

/* The value of the version that the transaction installed: its last write of the key. */
static int64_t last_write(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = rig_txn_op_count(history, txn); i-- > 0;) {
        if (ops[i].key == key && !rig_op_reads(ops[i].kind))
            return ops[i].value;
    }
    RIG_INVARIANT(false && "a transaction that writes the key");
    return 0;
}

/* The value that a read of the initial state returned; 0: it has none. */
static int64_t value_read(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    const bool has_value = rig_op_infos[read->kind].shape == RIG_RESULT_VALUE && read->read_state == RIG_READ_SEEN;
    return has_value ? read->value : 0;
}

static struct rig_step step_of(const struct rig_inference *inference, const struct rig_case_edge *edge)
{
    const struct rig_history *history = inference->history;
    const struct rig_type_words *type = rig_type_words(history->workload);
    struct rig_step step = {.from = edge->arc.from,
                            .to = edge->arc.to,
                            .kind = edge->arc.kind,
                            .key = edge->arc.key,
                            .from_op = edge->arc.from_op,
                            .to_op = edge->arc.to_op,
                            .order_txn = edge->a,
                            .order_other = edge->b,
                            .order_op = UINT32_MAX,
                            .order = edge->source};
    if (edge->source == RIG_ORDER_UPDATE) {
        step.order_op = edge->b;
        step.order_other = UINT32_MAX;
    }
    if (edge->arc.kind == RIG_EDGE_PROCESS || edge->arc.kind == RIG_EDGE_REALTIME)
        return step;
    if (edge->arc.writer != RIG_ARC_NONE)
        step.from_value = last_write(history, edge->arc.writer, step.key);
    else if (edge->arc.kind == RIG_EDGE_RW)
        step.from_value = value_read(history, step.from, step.from_op);
    if (edge->arc.kind == RIG_EDGE_WR)
        return step;
    step.by_predicate =
        step.kind == RIG_EDGE_RW && rig_type_found_no_row(history, inference->prefilled, step.from, step.from_op);
    step.to_value = last_write(history, step.to, step.key);
    if (edge->source != RIG_ORDER_CASE && edge->source != RIG_ORDER_UPDATE && type->explain_order != NULL)
        type->explain_order(inference, &step);
    return step;
}

/* ---- the levels that it refutes ---- */

/* Whether the rule forbids each of the cycles. `arcs` and `nothing`: room for all edges. */
static bool forbids_all(const struct rig_case_proof *proof, const struct rig_rule *rule, const struct rig_step *steps,
                        const struct rig_arc *arcs, const bool *nothing)
{
    for (uint32_t i = 0; i < proof->line_count; i++) {
        const struct rig_case_line *line = &proof->lines[i];
        if (line->kind != RIG_CASE_CYCLE)
            continue;
        for (uint32_t e = line->first_edge; rule->items && e < line->first_edge + line->edge_count; e++) {
            if (steps[e].by_predicate)
                return false;
        }
        if (!rig_rule_forbids(rule, arcs + line->first_edge, line->edge_count, nothing + line->first_edge))
            return false;
    }
    return true;
}

/* `settled`: a cycle of writes is one at read uncommitted, too. */
static bool find_refuted(const struct rig_history *history, const struct rig_case_proof *proof,
                         const struct rig_step *steps, bool settled, struct rig_arena *arena, uint64_t *levels)
{
    struct rig_arc *arcs = rig_arena_array(arena, proof->edge_count, sizeof arcs[0]);
    bool *nothing = rig_arena_array(arena, proof->edge_count, sizeof nothing[0]);
    if (arcs == NULL || nothing == NULL)
        return false;
    for (uint32_t i = 0; i < proof->edge_count; i++) {
        arcs[i] = proof->edges[i].arc;
        nothing[i] = rig_witness_writes_nothing(history, arcs[i].from);
    }
    *levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((settled || (rig_levels_below_committed & RIG_LEVEL_BIT(level)) == 0) &&
            forbids_all(proof, rig_level_rule((enum rig_level)level), steps, arcs, nothing))
            *levels |= rig_level_info((enum rig_level)level)->above;
    }
    RIG_INVARIANT((*levels & RIG_LEVEL_BIT(proof->level)) != 0);
    return true;
}

/* ---- lines ---- */

/* The line that supposes this order or its reverse, and that is in scope at `at`. */
static uint32_t line_with_order(const struct rig_case_proof *proof, uint32_t at, const struct rig_arc *arc)
{
    for (uint32_t i = at; i-- > 0;) {
        const struct rig_case_line *line = &proof->lines[i];
        if (line->kind == RIG_CASE_SUPPOSE && ((line->before == arc->writer && line->after == arc->to) ||
                                               (line->before == arc->to && line->after == arc->writer)))
            return i;
    }
    RIG_INVARIANT(false && "a supposition or a conclusion");
    return UINT32_MAX;
}

static bool add_lines(const struct rig_inference *inference, const struct rig_case_proof *proof,
                      struct rig_arena *arena, struct rig_cases *cases)
{
    cases->lines = rig_arena_array(arena, proof->line_count, sizeof cases->lines[0]);
    cases->steps = rig_arena_array(arena, proof->edge_count, sizeof cases->steps[0]);
    if (cases->lines == NULL || cases->steps == NULL)
        return false;
    cases->line_count = proof->line_count;
    cases->step_count = proof->edge_count;
    for (uint32_t i = 0; i < proof->line_count; i++) {
        const struct rig_case_line *line = &proof->lines[i];
        cases->lines[i] = (struct rig_case){.kind = line->kind,
                                            .before = line->before,
                                            .after = line->after,
                                            .key = line->key,
                                            .reader = UINT32_MAX,
                                            .first_step = line->first_edge,
                                            .step_count = line->edge_count};
        for (uint32_t e = line->first_edge; e < line->first_edge + line->edge_count; e++) {
            cases->steps[e] = step_of(inference, &proof->edges[e]);
            if (cases->steps[e].order == RIG_ORDER_CASE)
                cases->steps[e].order_op = line_with_order(proof, i, &proof->edges[e].arc);
        }
    }
    return true;
}

/* ---- the witness ---- */

static bool explain_cases(const struct rig_inference *inference, const struct rig_case_proof *proof,
                          struct rig_arena *arena, struct rig_witness *witness)
{
    struct rig_cases *cases = rig_arena_alloc(arena, sizeof *cases);
    witness->txns = rig_arena_array(arena, proof->txn_count, sizeof witness->txns[0]);
    if (cases == NULL || witness->txns == NULL || !add_lines(inference, proof, arena, cases) ||
        !find_refuted(inference->history, proof, cases->steps, false, arena, &witness->refutes))
        return false;
    cases->level = proof->level;
    cases->minimal = proof->minimal;
    memcpy(witness->txns, proof->txns, proof->txn_count * sizeof witness->txns[0]);
    witness->anomaly = RIG_ANOMALY_NO_VERSION_ORDER;
    witness->txn_count = proof->txn_count;
    witness->cases = cases;
    return true;
}

static bool explain_cycle(const struct rig_inference *inference, const struct rig_case_proof *proof,
                          struct rig_arena *arena, struct rig_witness *witness)
{
    const uint32_t count = proof->edge_count;
    struct rig_cycle cycle = {0};
    witness->txns = rig_arena_array(arena, count, sizeof witness->txns[0]);
    witness->steps = rig_arena_array(arena, count, sizeof witness->steps[0]);
    bool done = witness->txns != NULL && witness->steps != NULL;
    for (uint32_t i = 0; done && i < count; i++) {
        witness->txns[i] = proof->edges[i].arc.from;
        witness->steps[i] = step_of(inference, &proof->edges[i]);
        done = rig_cycle_add(&cycle, (struct rig_hop){witness->txns[i], witness->steps[i].kind});
    }
    if (done) {
        bool by_predicate = false;
        for (uint32_t i = 0; i < count; i++)
            by_predicate |= witness->steps[i].by_predicate;
        witness->anomaly = rig_cycle_anomaly(inference->history, &inference->versions, &cycle);
        if (by_predicate)
            witness->anomaly = rig_anomaly_by_predicate(witness->anomaly);
        witness->txn_count = witness->step_count = count;
        const uint64_t by_name = rig_levels_refuted_by(RIG_LATTICE_EXACT, witness->anomaly, true);
        done = find_refuted(inference->history, proof, witness->steps, (by_name & rig_levels_below_committed) != 0,
                            arena, &witness->refutes);
        witness->refutes |= by_name;
    }
    rig_cycle_done(&cycle);
    return done;
}

/* One cycle whose steps hold in every order of the versions, also where a level allows cycles of ww and wr edges. */
static bool is_plain_cycle(const struct rig_case_proof *proof)
{
    bool plain = proof->line_count == 1;
    for (uint32_t i = 0; plain && i < proof->edge_count; i++)
        plain = proof->edges[i].source != RIG_ORDER_UPDATE;
    return plain;
}

enum rig_rc rig_explain_proof(const struct rig_inference *inference, const struct rig_case_proof *proof,
                              struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err)
{
    struct rig_witness result = {.key = UINT32_MAX, .op = UINT32_MAX, .other_op = UINT32_MAX};
    RIG_REQUIRE(proof->line_count > 0);
    const bool done = is_plain_cycle(proof) ? explain_cycle(inference, proof, arena, &result)
                                            : explain_cases(inference, proof, arena, &result);
    if (!done)
        return no_memory(err);
    *witness = result;
    return RIG_OK;
}
