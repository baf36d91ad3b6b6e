/* Witnesses over objects in words (type_words.h); they have no steps. */
#include "base/plural.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/model/verdict.h"
#include "checker/model/object_words.h"
#include "history/types/types.h"

/* " T3 (enqueue 1), T5 (dequeue 1)": the witness's operations from the first on. */
static void add_operations(const struct rig_history *history, const struct rig_witness *w, uint32_t first,
                           struct rig_buf *text)
{
    for (uint32_t i = first; i < w->txn_count; i++)
        rig_say(history, text, "%s%O", i == first ? " " : ", ", w->txns[i]);
}

/* Operations on a few values that have no order by themselves. */
static void add_alone(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const struct rig_blocked *blocked = w->blocked;
    rig_say(history, text, "\n  Operations on the value%s ", rig_plural(blocked->value_count));
    for (uint32_t i = 0; i < blocked->value_count; i++)
        rig_say(history, text, "%s%V",
                i == 0                          ? ""
                : i + 1 == blocked->value_count ? " and "
                                                : ", ",
                blocked->values[i]);
    rig_say(history, text, " alone have no order, and a %s stays one when other values are left out:",
            rig_data_types[history->workload].name);
    add_operations(history, w, 0, text);
    const char *phenomenon = rig_object_phenomenon(history, w);
    if (phenomenon != NULL)
        rig_say(history, text, ". Phenomenon: %s", phenomenon);
    rig_say(history, text, ".");
}

/* An element that was lost, given twice or never added. */
static void add_element(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const char *type = rig_data_types[history->workload].name;
    const char *plural = rig_plural((uint64_t)w->other_value);
    if (w->anomaly == RIG_ANOMALY_PHANTOM_ELEMENT) {
        rig_say(history, text, "%O of key %K took an element that no operation added to the %s.", w->txns[0], w->key,
                type);
        return;
    }
    if (w->anomaly == RIG_ANOMALY_DUPLICATED_ELEMENT)
        rig_say(
            history, text,
            "%O of key %K took an element that was taken before: %V was taken %d time%s more often than it was added:",
            w->txns[0], w->key, w->value, w->other_value, plural);
    else
        rig_say(history, text,
                "%O found the %s of key %K empty, and no operation has taken %V, whose addition had been acknowledged "
                "before; %d element%s of this %s %s lost:",
                w->txns[0], type, w->key, w->value, w->other_value, plural, type, w->other_value == 1 ? "is" : "are");
    add_operations(history, w, 1, text);
    rig_say(history, text, ".");
}

/* Operations without an order, process by process. */
static void add_sessions(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const bool one_key = w->key != UINT32_MAX;
    rig_say(history, text, "%d operation%s", w->txn_count, rig_plural(w->txn_count));
    if (one_key)
        rig_say(history, text, " on key %K", w->key);
    rig_say(history, text, " have no order that keeps the order of each process and explains their results:");
    for (uint32_t i = 0; i < w->txn_count; i++) {
        const int32_t process = history->txns[w->txns[i]].process;
        const bool follows = i > 0 && rig_witness_shows(w, i - 1);
        if (!rig_witness_shows(w, i))
            continue;
        if (follows && history->txns[w->txns[i - 1]].process == process)
            rig_say(history, text, ", ");
        else
            rig_say(history, text, "%s\n  - process %d: ", i == 0 || follows ? "" : "\n  ...", process);
        rig_say(history, text, "%O", w->txns[i]);
        if (!one_key)
            rig_say(history, text, " of key %K", rig_txn_ops(history, w->txns[i])->key);
    }
}

static void add_begin(const struct rig_history *history, const struct rig_blocked *blocked, struct rig_buf *text)
{
    if (blocked->explained > 0 || blocked->begin.as == RIG_BEGINS_PLAIN)
        return;
    if (blocked->begin.as == RIG_BEGINS_GIVEN)
        rig_say(history, text, "\n  The check was asked to let each register begin with %V.", blocked->begin.value);
    else
        rig_say(history, text, "\n  The register begins with %V: a first read shows it, and nothing writes it.",
                blocked->begin.value);
}

/* The operations on the key before the one that has no place, and those that were open. */
static void add_others(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const struct rig_blocked *blocked = w->blocked;
    const uint32_t open = blocked->open_count;
    if (blocked->explained == 0)
        rig_say(history, text, "\n  No operation on this key completed before");
    else
        rig_say(history, text, "\n  The %d operation%s on this key that completed before can be explained",
                blocked->explained, rig_plural(blocked->explained));
    rig_say(history, text, "; the object is then ");
    rig_object_words_states(blocked, text);
    if (open == 0)
        rig_say(history, text, ". No other operation was open.");
    else
        rig_say(history, text,
                ". %d other operation%s %s open, and no order of them leads to a state that allows it:", open,
                rig_plural(open), rig_was_were(open));
    add_operations(history, w, 1, text);
    if (w->txn_count > 1)
        rig_say(history, text, w->txn_count <= open ? " and others." : ".");
}

/* ---- locks with owners ---- */

/* Whether the transaction is an acknowledged acquisition by another owner without a lease. */
static bool may_be_holder(const struct rig_history *history, uint32_t txn, uint32_t other)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *others = rig_txn_ops(history, other);
    const uint32_t count = rig_txn_op_count(history, txn);
    return history->txns[txn].outcome == RIG_OUTCOME_OK && count >= 2 && count <= 3 && op->kind == RIG_OP_HOLD &&
           op->key == others->key && op->value != others->value;
}

/* Whether its owner had not begun to release the lock when the other acquisition ended: so both held it. */
static bool held_until_end(const struct rig_history *history, uint32_t holder, uint32_t other)
{
    const struct rig_txn_op *held = rig_txn_ops(history, holder);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *op = rig_txn_ops(history, txn);
        if (rig_txn_op_count(history, txn) > 0 && op->kind == RIG_OP_FREE && op->key == held->key &&
            op->value == held->value && history->txns[txn].outcome != RIG_OUTCOME_FAIL &&
            history->txns[txn].invoke_at < rig_txn_end(history, other) &&
            rig_txn_end(history, txn) > history->txns[holder].invoke_at)
            return false;
    }
    return true;
}

/* The two acquisitions whose owners held a lock at once, where one of the last ones before shows it. */
static void add_owners(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    enum { MOST = 4 };
    const uint32_t own = w->txns[0], count = rig_txn_op_count(history, own);
    const struct rig_txn_op *ops = rig_txn_ops(history, own);
    uint32_t tried = 0;
    if (ops->kind != RIG_OP_HOLD || (count > 2 && ops[1].value > 1))
        return;
    for (uint32_t txn = own; txn-- > 0 && tried < MOST;) {
        if (!may_be_holder(history, txn, own))
            continue;
        tried++;
        if (held_until_end(history, txn, own)) {
            rig_say(history, text, "\n  %T and %T both held lock %K.", txn, own, w->key);
            return;
        }
    }
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (w->anomaly == RIG_ANOMALY_NONSEQUENTIAL) {
        add_sessions(history, w, text);
        return;
    }
    if (w->blocked == NULL) {
        add_element(history, w, text);
        return;
    }
    rig_say(history, text, "%O of key %K cannot take effect at any point between its invocation and its completion.",
            w->txns[0], w->key);
    if (w->blocked->value_count > 0) {
        add_alone(history, w, text);
        return;
    }
    add_others(history, w, text);
    add_begin(history, w->blocked, text);
    add_owners(history, w, text);
}

const struct rig_type_words rig_object_words = {
    .write = "operation on key", .writes = "operations on keys", .add_noncyclic = add_noncyclic};
