/*
 * Proving witnesses over counters and banks from the raw history: bounds and totals are added up again, increment after
 * increment.
 */
#include "checker/prove/counter_sums.h"

#include "base/bug.h"
#include "checker/prove/witness/single_line.h"
#include "checker/prove/witness/verify_type.h"

static bool prove_committed(struct rig_proof *proof)
{
    for (uint32_t txn = 0; txn < proof->history->txn_count; txn++)
        proof->committed[txn] = proof->history->txns[txn].outcome == RIG_OUTCOME_OK;
    return true;
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof;
    (void)step;
    return "has a dependency, which counters do not show";
}

static const struct rig_txn_op *known_read(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    return read->kind == RIG_OP_READ_COUNTER && read->read_state != RIG_READ_UNKNOWN ? read : NULL;
}

/* All that a transaction adds to the key. */
static int64_t net_of(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    int64_t net = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        net += ops[i].kind == RIG_OP_INCREMENT && ops[i].key == key ? ops[i].value : 0;
    return net;
}

static const char unexplained[] = "is not explained by the failed transaction";

/* Whether the witness names a failed transaction that explains the value; `*rest`: what is left without it, the value
 * itself where that transaction cannot. */
static bool has_undone(const struct rig_history *history, const struct rig_witness *w, int64_t value, int64_t *rest)
{
    RIG_REQUIRE(w->txn_count > 0);
    if (w->txn_count == 1)
        return false;
    const struct rig_txn *undone = &history->txns[w->txns[1]], *reader = &history->txns[w->txns[0]];
    const bool in_time =
        !history->has_invocations || undone->invoke_at == RIG_POSITION_NONE || undone->invoke_at < reader->complete_at;
    const bool failed = w->txn_count == 2 && undone->outcome == RIG_OUTCOME_FAIL;
    *rest = value - (failed && in_time ? net_of(history, w->txns[1], w->key) : 0);
    return true;
}

/* By one read the account began with at least a balance that is above the most by the other read. */
static const char *check_balances(const struct rig_history *history, const struct rig_witness *w,
                                  const struct rig_txn_op *read)
{
    RIG_REQUIRE(w->txn_count <= 2 && history->workload == RIG_WORKLOAD_BANK);
    const uint32_t other_txn = w->txns[w->txn_count - 1]; /* the same transaction may have both reads */
    const struct rig_txn_op *other = known_read(history, other_txn, w->other_op);
    int64_t least, most, other_least, other_most;
    if (other == NULL || other->key != read->key)
        return "is not compared with a read of the account";
    if (!rig_sums_by(history, w->txns[0], history->txns[w->txns[0]].first_op + w->op, &least, &most) ||
        !rig_sums_by(history, other_txn, history->txns[other_txn].first_op + w->other_op, &other_least, &other_most))
        return "has no time";
    const bool above = w->value > w->other_value;
    return w->value == read->value - (above ? most : least) &&
                   w->other_value == other->value - (above ? other_least : other_most)
               ? NULL
               : "gives another balance at the beginning";
}

static const char *check_bounds(const struct rig_history *history, const struct rig_witness *w,
                                const struct rig_txn_op *read)
{
    int64_t least, most, rest;
    if (history->workload == RIG_WORKLOAD_BANK)
        return w->txn_count <= 2 ? check_balances(history, w, read) : "is not compared with a read of the account";
    if (!has_undone(history, w, read->read_state == RIG_READ_SEEN ? read->value : 0, &rest))
        return NULL;
    return rig_sums_by(history, w->txns[0], history->txns[w->txns[0]].first_op + w->op, &least, &most) &&
                   rest >= least && rest <= most
               ? NULL
               : unexplained;
}

static const char *check_impossible(const struct rig_history *history, const struct rig_witness *w,
                                    const struct rig_txn_op *read)
{
    int64_t rest;
    return !has_undone(history, w, read->read_state == RIG_READ_SEEN ? read->value : 0, &rest) ||
                   rig_sums_reach(history, w->key, rest)
               ? NULL
               : unexplained;
}

/* A failed transaction that would explain the whole difference, if it had taken effect. */
static const char *check_undone(const struct rig_history *history, const struct rig_witness *w, uint32_t txn)
{
    RIG_REQUIRE(history->txns[txn].outcome == RIG_OUTCOME_FAIL);
    const struct rig_txn *t = &history->txns[txn], *reader = &history->txns[w->txns[0]];
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    int64_t sum = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        sum += ops[i].kind == RIG_OP_INCREMENT ? ops[i].value : 0;
    if (sum != w->value - w->other_value)
        return "is not explained by the failed transaction";
    if (history->has_invocations && t->invoke_at != RIG_POSITION_NONE && t->invoke_at > reader->complete_at)
        return "ended before the failed transaction began";
    return NULL;
}

/* A transfer that may explain the difference: it may have committed, had begun, and moves an amount. */
static const char *check_half(const struct rig_history *history, const struct rig_witness *w, uint32_t txn,
                              int64_t *amount)
{
    const struct rig_txn *t = &history->txns[txn], *reader = &history->txns[w->txns[0]];
    uint32_t deposits = 0, withdrawals = 0;
    int64_t sum = 0;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind != RIG_OP_INCREMENT)
            continue;
        sum += ops[i].value;
        *amount = ops[i].value > 0 ? ops[i].value : *amount;
        deposits += ops[i].value > 0;
        withdrawals += ops[i].value < 0;
    }
    RIG_INVARIANT(deposits + withdrawals <= rig_txn_op_count(history, txn));
    if (t->outcome == RIG_OUTCOME_FAIL || deposits != 1 || withdrawals != 1 || sum != 0)
        return "is not explained by the transfer";
    if (history->has_invocations && t->invoke_at != RIG_POSITION_NONE && t->invoke_at > reader->complete_at)
        return "ended before the transfer began";
    return NULL;
}

/* Whether one side of each amount adds up to the difference. */
static bool add_up(const int64_t *amounts, uint32_t count, int64_t difference)
{
    RIG_REQUIRE(count <= 3);
    return count == 0 ? difference == 0
                      : add_up(amounts + 1, count - 1, difference - *amounts) ||
                            add_up(amounts + 1, count - 1, difference + *amounts);
}

static bool changes(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_INCREMENT)
            return true;
    }
    return false;
}

/* The transfers at the end of the witness, each named once. */
static const char *check_halves(const struct rig_history *history, const struct rig_witness *w, uint32_t *readers)
{
    enum { MOST = 3 };
    int64_t amounts[MOST] = {0};
    uint32_t count = 0;
    const uint32_t last = w->txns[w->txn_count - 1];
    if (w->txn_count > 1 && history->txns[last].outcome == RIG_OUTCOME_FAIL) {
        *readers = w->txn_count - 1;
        return check_undone(history, w, last);
    }
    for (*readers = w->txn_count; *readers > 1 && changes(history, w->txns[*readers - 1]); --*readers) {
        const uint32_t txn = w->txns[*readers - 1];
        if (count == MOST)
            return "is explained by more transfers than a witness has";
        for (uint32_t i = 0; i < count; i++) {
            if (w->txns[w->txn_count - 1 - i] == txn)
                return "is explained by one transfer twice";
        }
        const char *why = check_half(history, w, txn, &amounts[count++]);
        if (why != NULL)
            return why;
    }
    RIG_INVARIANT(*readers >= 1 && *readers <= w->txn_count);
    return count == 0 || add_up(amounts, count, w->value - w->other_value) ? NULL : "is not explained by the transfers";
}

/* The totals that the witness gives: of its read, and of the other one, or the one that is known. */
static const char *check_total(const struct rig_history *history, const struct rig_witness *w)
{
    int64_t total, other = w->other_value;
    uint32_t readers;
    const char *why = check_halves(history, w, &readers);
    if (why != NULL)
        return why;
    if (readers > 2 || !rig_sums_total(history, w->txns[0], &total) ||
        (readers == 2 && !rig_sums_total(history, w->txns[1], &other)))
        return "is not compared with a read of the accounts";
    return total == w->value && other == w->other_value ? NULL : "read another total";
}

/* The line of a proof shows the anomaly; the rest are the amounts of the witness and what explains them. */
static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    RIG_REQUIRE(w->txn_count > 0);
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op);
    const struct rig_facts facts = {.history = history,
                                    .form = RIG_FACTS_SUMS,
                                    .shape = RIG_RESULT_VALUE,
                                    .assumes_balances = true,
                                    .assumes_total = rig_takes_total(history, w),
                                    .total = w->other_value};
    struct rig_witness_line line;
    struct rig_err err = {0};
    uint64_t levels;
    if (read == NULL || read->key != w->key)
        return "made no such read";
    if (!rig_single_line(history, w, &line) || rig_impossible_sum(&facts, &line, &levels, &err) != RIG_OK)
        return "shows no such anomaly";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_COUNTER_BOUNDS:
        return check_bounds(history, w, read);
    case RIG_ANOMALY_IMPOSSIBLE_VALUE:
        return check_impossible(history, w, read);
    case RIG_ANOMALY_WRONG_TOTAL:
        return check_total(history, w);
    default:
        return NULL;
    }
}

static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof;
    (void)step;
    return false;
}

const struct rig_type_verifier rig_verify_counter = {.prove_committed = prove_committed,
                                                     .check_step = check_step,
                                                     .check_noncyclic = check_noncyclic,
                                                     .is_acknowledged = is_acknowledged};
