#include "checker/explain/refutes.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/explain/type_words.h"
#include "checker/infer/type_inference.h"
#include "checker/decide/rule.h"

bool rig_witness_writes_nothing(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind))
            return false;
    }
    return true;
}

static bool writes(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) && ops[i].key == key)
            return true;
    }
    return false;
}

static bool wrote(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) && ops[i].key == key && ops[i].value == value)
            return true;
    }
    return false;
}

/* The first write by `to` of a key that `from` writes, too. */
static uint32_t first_common_write(const struct rig_history *history, uint32_t from, uint32_t to)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, to);
    for (uint32_t i = 0; i < rig_txn_op_count(history, to); i++) {
        if (!rig_op_reads(ops[i].kind) && writes(history, from, ops[i].key))
            return i;
    }
    RIG_INVARIANT(false && "both write the key of the edge");
    return RIG_ARC_NONE;
}

/* Whether what a wr step shows is older than the version that was read, whose value this gives. */
static bool is_older(const struct rig_history *history, const struct rig_step *step, int64_t *value)
{
    const struct rig_type_words *type = rig_type_words(history->workload);
    return step->kind == RIG_EDGE_WR && type->version_read != NULL &&
           type->version_read(history, step->to, step->to_op, value) && !wrote(history, step->from, step->key, *value);
}

static bool is_in_cycle(const struct rig_history *history, const struct rig_witness *witness, uint32_t key,
                        int64_t value)
{
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (wrote(history, witness->txns[i], key, value))
            return true;
    }
    return false;
}

/* A cycle as the rules see it. */
struct arcs {
    struct rig_arc *at;
    bool *readers; /* per arc: its `from` writes nothing */
    uint32_t count;
};

static void add_arc(const struct rig_history *history, const struct rig_step *step, enum rig_edge_kind kind,
                    struct arcs *arcs)
{
    struct rig_arc *arc = &arcs->at[arcs->count];
    *arc = (struct rig_arc){.from = step->from,
                            .to = step->to,
                            .kind = kind,
                            .key = step->key,
                            .writer = RIG_ARC_NONE,
                            .from_op = kind == RIG_EDGE_RW ? step->from_op : RIG_ARC_NONE,
                            .to_op = kind == RIG_EDGE_WR ? step->to_op : RIG_ARC_NONE};
    if (kind == RIG_EDGE_WW)
        arc->to_op = first_common_write(history, step->from, step->to);
    arcs->readers[arcs->count++] = rig_witness_writes_nothing(history, step->from);
}

/* Over the writer of the version that was read, which has no number here. */
static void add_two_arcs(const struct rig_history *history, const struct rig_step *step, struct arcs *arcs)
{
    add_arc(history, step, RIG_EDGE_WR, arcs);
    struct rig_arc *first = &arcs->at[arcs->count - 1], *second = &arcs->at[arcs->count];
    *second = *first;
    *first = (struct rig_arc){.from = step->from,
                              .to = RIG_ARC_NONE,
                              .kind = RIG_EDGE_WW,
                              .key = step->key,
                              .writer = RIG_ARC_NONE,
                              .from_op = RIG_ARC_NONE,
                              .to_op = 0};
    second->from = RIG_ARC_NONE;
    arcs->readers[arcs->count++] = false;
}

/* False where the writer of a version that was read is in the cycle already: then the names of shorter cycles say more;
 * and where a read that misses a row saw a version or a later one, so that what it did not see is not known. */
static bool add_step(const struct rig_history *history, const struct rig_witness *witness, const struct rig_step *step,
                     struct arcs *arcs)
{
    int64_t value = 0;
    const bool older = is_older(history, step, &value);
    if (step->kind == RIG_EDGE_WR && step->absent)
        return false;
    if (older && is_in_cycle(history, witness, step->key, value))
        return false;
    if (older)
        add_two_arcs(history, step, arcs);
    else
        add_arc(history, step, step->kind, arcs);
    return true;
}

/* A ww arc beside one rw arc has the key of that one, if both transactions write it. */
static void use_common_key(const struct rig_history *history, struct rig_arc arcs[2])
{
    for (unsigned i = 0; i < 2; i++) {
        struct rig_arc *ww = &arcs[i];
        const struct rig_arc *rw = &arcs[1 - i];
        if (ww->kind == RIG_EDGE_WW && rw->kind == RIG_EDGE_RW && writes(history, ww->from, rw->key) &&
            writes(history, ww->to, rw->key))
            ww->key = rw->key;
    }
}

/* `asked`, bits: the levels whose rules are tried. Where those of a type are not all decided, which rules the witnesses
 * break would depend on which of them are kept. */
static uint64_t refuted_by_rules(const struct rig_arc *arcs, uint32_t count, const bool *readers, bool by_predicate,
                                 uint64_t asked)
{
    uint64_t refuted = 0;
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        const struct rig_rule *rule = rig_level_rule((enum rig_level)i);
        /* Which cycles of writes count at read uncommitted is in the name of the anomaly (cycle/cycle.h). */
        if ((asked & RIG_LEVEL_BIT(i)) != 0 && rule->form != RIG_RULE_WRITES && !(rule->items && by_predicate) &&
            rig_rule_forbids(rule, arcs, count, readers))
            refuted |= RIG_LEVEL_BIT(i);
    }
    return rig_levels_above(RIG_LATTICE_EXACT, refuted);
}

static bool make_arcs(const struct rig_history *history, const struct rig_witness *witness, struct arcs *arcs)
{
    bool made = true;
    for (uint32_t i = 0; made && i < witness->step_count; i++)
        made = add_step(history, witness, &witness->steps[i], arcs);
    if (made && arcs->count == 2)
        use_common_key(history, arcs->at);
    return made;
}

bool rig_witness_refutes(const struct rig_history *history, enum rig_lattice lattice, const struct rig_witness *witness,
                         bool settled, uint64_t *refutes)
{
    *refutes = rig_levels_refuted_by(lattice, witness->anomaly, settled);
    /* It is about the levels of its transactions; the levels of the whole history are refuted by cycles of other
     * names. */
    if (witness->anomaly == RIG_ANOMALY_G_MIXED)
        return true;
    const struct rig_type_inference *type = rig_type_inference(history->workload);
    if (lattice != RIG_LATTICE_EXACT || witness->step_count == 0 || type->no_edges)
        return true;
    struct arcs arcs = {.at = calloc(witness->step_count, 2 * sizeof *arcs.at),
                        .readers = calloc(witness->step_count, 2 * sizeof *arcs.readers)};
    const bool done = arcs.at != NULL && arcs.readers != NULL;
    bool by_predicate = false;
    for (uint32_t i = 0; i < witness->step_count; i++)
        by_predicate |= witness->steps[i].by_predicate;
    if (done && make_arcs(history, witness, &arcs))
        *refutes |= refuted_by_rules(arcs.at, arcs.count, arcs.readers, by_predicate,
                                     rig_type_has_conditions(type) ? rig_levels_by_states() : ~UINT64_C(0));
    free(arcs.at);
    free(arcs.readers);
    return done;
}
