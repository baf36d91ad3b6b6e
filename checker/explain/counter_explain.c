/* Witnesses over counters and banks in words (type_words.h); they have no steps. */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/model/verdict.h"

/* All increments of the transaction; of one key, or of any (UINT32_MAX). */
static int64_t net_of(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    int64_t net = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        net += ops[i].kind == RIG_OP_INCREMENT && (key == UINT32_MAX || ops[i].key == key) ? ops[i].value : 0;
    return net;
}

/* "T3 failed", or was rolled back as a part of another transaction. */
static void add_failed(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const bool is_part = rig_history_column(history, txn, RIG_COLUMN_SAVEPOINT) != RIG_COLUMN_NONE;
    if (is_part)
        rig_say(history, text, " %T was rolled back to a savepoint", txn);
    else
        rig_say(history, text, " %T %F", txn, txn);
}

static void add_bounds(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const bool less = w->value < w->other_value;
    rig_say(
        history, text,
        ", %s than %d: the sum of the increments that were acknowledged before it was invoked, and of those %s 0 that "
        "were under way meanwhile.",
        less ? "less" : "more", w->other_value, less ? "below" : "above");
}

/* Two reads of an account, and the balance with which it began by each. */
static void add_balances(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const bool above = w->value > w->other_value;
    static const char *const limits[] = {"at most", "at least"};
    const uint32_t other = w->txns[w->txn_count - 1]; /* the same transaction may have both reads */
    rig_say(
        history, text,
        ": by the transfers that it can have seen, the account began with %s %d. %R: by those that this one can have "
        "seen, with %s %d.",
        limits[above], w->value, other, w->other_op, limits[!above], w->other_value);
}

static const struct rig_txn_op *increment_of(const struct rig_history *history, uint32_t txn, bool up)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_INCREMENT && (ops[i].value > 0) == up)
            return &ops[i];
    }
    return NULL;
}

static uint32_t transfer_count(const struct rig_history *history, const struct rig_witness *w)
{
    uint32_t count = 0;
    while (count + 1 < w->txn_count && (increment_of(history, w->txns[w->txn_count - 1 - count], true) != NULL ||
                                        increment_of(history, w->txns[w->txn_count - 1 - count], false) != NULL))
        count++;
    return count;
}

/* The sides of the transfers that make the total too low, as bits, so that all together make the difference. */
static unsigned low_sides(const struct rig_history *history, const struct rig_witness *w, const uint32_t *txns,
                          uint32_t count)
{
    const unsigned all = (1U << count) - 1;
    for (unsigned i = 0; i <= all; i++) {
        const unsigned low = w->value < w->other_value ? all - i : i;
        int64_t difference = 0;
        for (uint32_t t = 0; t < count; t++) {
            const struct rig_txn_op *to = increment_of(history, txns[t], true);
            const int64_t amount = to == NULL ? 0 : to->value;
            difference += (low >> t & 1) != 0 ? -amount : amount;
        }
        if (difference == w->value - w->other_value)
            return low;
    }
    return 0; /* the verifier refuses such a witness */
}

/* The transfers of which the read shows a half. */
static void add_halves(const struct rig_history *history, const struct rig_witness *w, uint32_t count,
                       struct rig_buf *text)
{
    const uint32_t *txns = w->txns + w->txn_count - count;
    if (count == 1 && history->txns[txns[0]].outcome == RIG_OUTCOME_FAIL) {
        const int64_t net = net_of(history, txns[0], UINT32_MAX);
        add_failed(history, txns[0], text);
        rig_say(history, text, "; with its change of %d the total is %d too %s.", net,
                net < 0 ? 0 - (uint64_t)net : (uint64_t)net, net < 0 ? "low" : "high");
        return;
    }
    const unsigned low = low_sides(history, w, txns, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_txn_op *from = increment_of(history, txns[i], false),
                                *to = increment_of(history, txns[i], true);
        const bool is_low = (low >> i & 1) != 0;
        if (from == NULL || to == NULL)
            return;
        rig_say(history, text,
                " %T moves %d from account %K to account %K; with its %s and without its %s the total is %d too %s.",
                txns[i], to->value, from->key, to->key, is_low ? "withdrawal" : "deposit",
                is_low ? "deposit" : "withdrawal", to->value, is_low ? "low" : "high");
    }
    if (count > 1)
        rig_say(history, text, " Together these %d transfers explain the total.", count);
}

static void add_total(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t transfers = transfer_count(history, w);
    rig_say(history, text, "%T read all accounts with a total of %d, and ", w->txns[0], w->value);
    if (w->txn_count - transfers == 1)
        rig_say(history, text, "it is %d; transfers do not change it.", w->other_value);
    else
        rig_say(history, text, "%T with %d; transfers do not change the total.", w->txns[1], w->other_value);
    add_halves(history, w, transfers, text);
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const bool is_bank = history->workload == RIG_WORKLOAD_BANK;
    if (w->anomaly == RIG_ANOMALY_WRONG_TOTAL) {
        add_total(history, w, text);
        return;
    }
    rig_say(history, text, "%R", w->txns[0], w->op);
    if (w->anomaly == RIG_ANOMALY_COUNTER_BOUNDS && is_bank)
        add_balances(history, w, text);
    else if (w->anomaly == RIG_ANOMALY_COUNTER_BOUNDS)
        add_bounds(history, w, text);
    else if (w->anomaly == RIG_ANOMALY_NEGATIVE_BALANCE)
        rig_say(history, text, ", a negative balance.");
    else
        rig_say(history, text, ", to which no choice among the increments that did not fail sums up.");
    if (w->txn_count == 1 || is_bank)
        return;
    add_failed(history, w->txns[1], text);
    rig_say(history, text, "; with its increment of %d the value is possible.", net_of(history, w->txns[1], w->key));
}

const struct rig_type_words rig_counter_words = {
    .write = "increment of key", .writes = "increments of keys", .add_noncyclic = add_noncyclic};
