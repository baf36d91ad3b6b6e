#include "checker/prove/witness/single_line.h"

#include <string.h>

#include "base/bug.h"
#include "checker/prove/impossible.h"

static const uint32_t none = UINT32_MAX;

uint32_t rig_write_of(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint32_t last = none;
    RIG_REQUIRE(txn < history->txn_count);
    for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
        if (rig_op_reads(ops[op].kind) || ops[op].key != key)
            continue;
        if (ops[op].value == value)
            return op;
        last = op;
    }
    return last;
}

bool rig_takes_total(const struct rig_history *history, const struct rig_witness *witness)
{
    RIG_REQUIRE(witness->txn_count > 0);
    if (witness->anomaly != RIG_ANOMALY_WRONG_TOTAL || witness->txn_count < 2)
        return witness->anomaly == RIG_ANOMALY_WRONG_TOTAL;
    const struct rig_txn_op *ops = rig_txn_ops(history, witness->txns[1]);
    for (uint32_t i = 0; i < rig_txn_op_count(history, witness->txns[1]); i++) {
        if (!rig_op_reads(ops[i].kind))
            return true;
    }
    return false;
}

/* The line of that name, which names no phantoms: the reads show which they are. */
static enum rig_witness_kind kind_of(enum rig_anomaly anomaly)
{
    enum rig_anomaly item;
    unsigned kind = RIG_WITNESS_SUPPOSE + 1;
    (void)rig_anomaly_is_by_predicate(anomaly, &item);
    while (kind < RIG_WITNESS_KINDS && strcmp(rig_witness_kinds[kind], rig_anomaly_info(item)->name) != 0)
        kind++;
    return (enum rig_witness_kind)kind;
}

bool rig_single_line(const struct rig_history *history, const struct rig_witness *witness,
                     struct rig_witness_line *line)
{
    RIG_REQUIRE(witness->txn_count > 0 && witness->txns[0] < history->txn_count);
    const uint32_t first = witness->txns[0];
    uint32_t second = witness->txns[witness->txn_count > 1 ? 1 : 0], other = witness->other_op;
    const enum rig_witness_kind kind = kind_of(witness->anomaly);
    switch ((int)kind) {
    case RIG_WITNESS_G1A:
    case RIG_WITNESS_G1B:
        other = rig_write_of(history, second, witness->key, witness->value);
        break;
    case RIG_WITNESS_FRACTURED:
        other = rig_write_of(history, second, witness->key, witness->other_value);
        break;
    case RIG_WITNESS_TOTAL:
        second = rig_takes_total(history, witness) ? first : second;
        other = 0;
        break;
    case RIG_WITNESS_DUPLICATE:
    case RIG_WITNESS_FUTURE:
    case RIG_WITNESS_INTERNAL:
    case RIG_WITNESS_IMPOSSIBLE_VALUE:
    case RIG_WITNESS_NEGATIVE:
        second = first;
        other = witness->op;
        break;
    case RIG_WITNESS_BOUNDS: /* of a bank: with the other read */
        other = other == none ? witness->op : other;
        break;
    case RIG_WITNESS_GARBAGE:
        second = other == none ? first : second;
        other = other == none ? witness->op : other;
        break;
    case RIG_WITNESS_INCOMPATIBLE:
    case RIG_WITNESS_LOST_UPDATE:
        break;
    default:
        return false;
    }
    if (witness->op == none || other == none)
        return false;
    *line =
        (struct rig_witness_line){.kind = kind, .from = first, .from_op = witness->op, .to = second, .to_op = other};
    return true;
}

/* A cited value that the line does not have: that of the read. */
static bool names_value(enum rig_witness_kind kind, enum rig_result_shape shape)
{
    return kind == RIG_WITNESS_G1A || kind == RIG_WITNESS_G1B || kind == RIG_WITNESS_GARBAGE ||
           kind == RIG_WITNESS_DUPLICATE || kind == RIG_WITNESS_FRACTURED || kind == RIG_WITNESS_FUTURE ||
           (kind == RIG_WITNESS_INTERNAL && shape == RIG_RESULT_SET);
}

const char *rig_verify_single(const struct rig_proof *proof, const struct rig_witness *witness)
{
    RIG_REQUIRE(proof->raw.form == RIG_FACTS_VERSIONS && proof->raw.committed == proof->committed);
    const struct rig_history *history = proof->history;
    const uint32_t txn = witness->txns[0];
    struct rig_witness_line line;
    struct rig_impossible found;
    struct rig_err err = {0};
    enum rig_anomaly item;
    if (witness->op >= rig_txn_op_count(history, txn) || rig_txn_ops(history, txn)[witness->op].key != witness->key)
        return "made no such read";
    if (!rig_single_line(history, witness, &line))
        return "shows an anomaly that cannot stand without a cycle";
    const int64_t *value = names_value(line.kind, proof->raw.shape) ? &witness->value : NULL;
    if (rig_impossible_read(&proof->raw, &line, value, &found, &err) != RIG_OK)
        return "shows no such anomaly";
    if (line.kind == RIG_WITNESS_INTERNAL && proof->raw.shape != RIG_RESULT_SET && witness->other_op != found.against)
        return "disagrees with another operation";
    return found.by_predicate == rig_anomaly_is_by_predicate(witness->anomaly, &item)
               ? NULL
               : "is in an anomaly that has another name where its key has no row";
}
