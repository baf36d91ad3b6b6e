/*
 * Proving witnesses over counters and banks from the raw history: bounds and totals are added up again, increment after
 * increment.
 */
#include "checker/prove/witness/verify_commits.h"
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

static int64_t shown(const struct rig_txn_op *read)
{
    return read->read_state == RIG_READ_SEEN ? read->value : 0;
}

/* The increments of the key by the transaction before `end`. */
static int64_t net_of(const struct rig_history *history, uint32_t txn, uint32_t key, uint32_t end)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    int64_t net = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn) && i < end; i++)
        net += ops[i].kind == RIG_OP_INCREMENT && ops[i].key == key ? ops[i].value : 0;
    return net;
}

static const char unexplained[] = "is not explained by the failed transaction";

/* Whether the witness names a failed transaction that explains the value; `*rest`: what is left without it, the value
 * itself where that transaction cannot. */
static bool has_undone(const struct rig_history *history, const struct rig_witness *w, int64_t value, int64_t *rest)
{
    if (w->txn_count == 1)
        return false;
    const struct rig_txn *undone = &history->txns[w->txns[1]], *reader = &history->txns[w->txns[0]];
    const bool in_time =
        !history->has_invocations || undone->invoke_at == RIG_POSITION_NONE || undone->invoke_at < reader->complete_at;
    const bool failed = w->txn_count == 2 && undone->outcome == RIG_OUTCOME_FAIL;
    *rest = value - (failed && in_time ? net_of(history, w->txns[1], w->key, UINT32_MAX) : 0);
    return true;
}

/* The least and the most that increments of the key sum up to by the time of the read. False: it has no time. */
static bool sums_at(const struct rig_history *history, uint32_t reader_txn, uint32_t op, uint32_t key, int64_t *least,
                    int64_t *most)
{
    const struct rig_txn *reader = &history->txns[reader_txn];
    *least = *most = net_of(history, reader_txn, key, op);
    if (!history->has_invocations || reader->invoke_at == RIG_POSITION_NONE)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        const int64_t net = net_of(history, txn, key, UINT32_MAX);
        const bool before = t->outcome == RIG_OUTCOME_OK && t->complete_at < reader->invoke_at;
        const bool meanwhile = t->outcome != RIG_OUTCOME_FAIL && t->invoke_at < reader->complete_at;
        if (txn == reader_txn || (!before && !meanwhile))
            continue;
        *least += before || net < 0 ? net : 0;
        *most += before || net > 0 ? net : 0;
    }
    return true;
}

/* By one read the account began with at least a balance that is above the most by the other read. */
static const char *check_balances(const struct rig_history *history, const struct rig_witness *w, int64_t value)
{
    const struct rig_txn_op *other = known_read(history, w->txns[1], w->other_op);
    int64_t least, most, other_least, other_most;
    if (w->txn_count != 2 || other == NULL || other->key != w->key || other->read_state != RIG_READ_SEEN ||
        history->txns[w->txns[0]].outcome != RIG_OUTCOME_OK || history->txns[w->txns[1]].outcome != RIG_OUTCOME_OK)
        return "is not compared with a read of the account";
    if (!sums_at(history, w->txns[0], w->op, w->key, &least, &most) ||
        !sums_at(history, w->txns[1], w->other_op, w->key, &other_least, &other_most))
        return "has no time";
    const bool above = w->value > w->other_value;
    if (w->value != value - (above ? most : least) ||
        w->other_value != other->value - (above ? other_least : other_most))
        return "gives another balance at the beginning";
    return w->value != w->other_value ? NULL : "agrees with the other read";
}

static const char *check_bounds(const struct rig_history *history, const struct rig_witness *w, int64_t value)
{
    int64_t least, most;
    if (history->workload == RIG_WORKLOAD_BANK)
        return check_balances(history, w, value);
    if (!sums_at(history, w->txns[0], w->op, w->key, &least, &most))
        return "has no time";
    if (value >= least && value <= most)
        return "read a value within the bounds";
    int64_t rest;
    return !has_undone(history, w, value, &rest) || (rest >= least && rest <= most) ? NULL : unexplained;
}

/* Whether increments of this range and common divisor may. */
static bool sums_up(int64_t value, int64_t up, int64_t down, uint64_t divisor)
{
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return value <= up && value >= down && (size == 0 || (divisor != 0 && size % divisor == 0));
}

/* The range, and the remainders of the increments by the distance that would be needed. */
static const char *check_impossible(const struct rig_history *history, const struct rig_witness *w, int64_t value)
{
    int64_t up = 0, down = 0;
    uint64_t divisor = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (ops[i].kind != RIG_OP_INCREMENT || ops[i].key != w->key ||
                history->txns[txn].outcome == RIG_OUTCOME_FAIL)
                continue;
            *(ops[i].value > 0 ? &up : &down) += ops[i].value;
            uint64_t a = ops[i].value < 0 ? 0 - (uint64_t)ops[i].value : (uint64_t)ops[i].value;
            while (a != 0) {
                const uint64_t rest = divisor % a;
                divisor = a;
                a = rest;
            }
        }
    }
    if (sums_up(value, up, down, divisor))
        return "read a value that some increments may sum up to";
    int64_t rest;
    return !has_undone(history, w, value, &rest) || sums_up(rest, up, down, divisor) ? NULL : unexplained;
}

/* The total of what the transaction read, each account once, without changing any. False: it is no such read. */
static bool total_of(const struct rig_history *history, uint32_t txn, int64_t *total)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    *total = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (known_read(history, txn, i) == NULL)
            return false;
        *total += shown(&ops[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (ops[j].key == ops[i].key)
                return false;
        }
    }
    return rig_txn_op_count(history, txn) > 0;
}

static bool reads_key(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == key)
            return true;
    }
    return false;
}

/* Compared with the total that the user knows: it read each account that acknowledged transactions read or
 * that a transfer names, also one that failed. */
static const char *check_known_total(const struct rig_history *history, const struct rig_witness *w)
{
    int64_t total;
    if (!total_of(history, w->txns[0], &total))
        return "is no read of the accounts";
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const enum rig_outcome outcome = history->txns[txn].outcome;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if ((outcome == RIG_OUTCOME_OK || ops[i].kind == RIG_OP_INCREMENT) &&
                !reads_key(history, w->txns[0], ops[i].key))
                return "did not read all accounts";
        }
    }
    return total == w->value && total != w->other_value ? NULL : "read the known total";
}

/* A failed transaction that would explain the whole difference, if it had taken effect. */
static const char *check_undone(const struct rig_history *history, const struct rig_witness *w, uint32_t txn)
{
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
    if (t->outcome == RIG_OUTCOME_FAIL || deposits != 1 || withdrawals != 1 || sum != 0)
        return "is not explained by the transfer";
    if (history->has_invocations && t->invoke_at != RIG_POSITION_NONE && t->invoke_at > reader->complete_at)
        return "ended before the transfer began";
    return NULL;
}

/* Whether one side of each amount adds up to the difference. */
static bool add_up(const int64_t *amounts, uint32_t count, int64_t difference)
{
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
    return count == 0 || add_up(amounts, count, w->value - w->other_value) ? NULL : "is not explained by the transfers";
}

static const char *check_total(const struct rig_history *history, const struct rig_witness *w)
{
    int64_t total, other;
    uint32_t readers;
    const char *why = check_halves(history, w, &readers);
    if (why != NULL || readers == 1)
        return why != NULL ? why : check_known_total(history, w);
    if (readers != 2 || history->txns[w->txns[1]].outcome != RIG_OUTCOME_OK || !total_of(history, w->txns[0], &total) ||
        !total_of(history, w->txns[1], &other))
        return "is not compared with a read of the accounts";
    if (rig_txn_op_count(history, w->txns[0]) != rig_txn_op_count(history, w->txns[1]))
        return "read other accounts than the other one";
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    for (uint32_t i = 0; i < rig_txn_op_count(history, w->txns[0]); i++) {
        if (!reads_key(history, w->txns[1], ops[i].key))
            return "read other accounts than the other one";
    }
    return total != other && total == w->value && other == w->other_value ? NULL : "read the same total";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op);
    if (read == NULL || read->key != w->key)
        return "made no such read";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_COUNTER_BOUNDS:
        return check_bounds(history, w, shown(read));
    case RIG_ANOMALY_IMPOSSIBLE_VALUE:
        return check_impossible(history, w, shown(read));
    case RIG_ANOMALY_WRONG_TOTAL:
        return check_total(history, w);
    case RIG_ANOMALY_NEGATIVE_BALANCE:
        return shown(read) < 0 ? NULL : "read no negative balance";
    default:
        return "shows an anomaly that counters cannot show";
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
