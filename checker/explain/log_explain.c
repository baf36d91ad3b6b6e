/* Witnesses over logs (type_words.h): the operations that prove the steps, and the sentences. */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/infer/inference.h"
#include "checker/model/verdict.h"

/* ---- steps ---- */

static uint32_t record_of(const struct rig_logs *logs, const struct rig_txn_op *send)
{
    return rig_sets_find(&logs->values, send->key, send->value);
}

/* The last place before this one at which `txn` sent to the key; RIG_LOG_NO_PLACE: there is none. */
static uint32_t place_before(const struct rig_logs *logs, uint32_t txn, uint32_t key, uint32_t place)
{
    const struct rig_txn_op *ops = rig_txn_ops(logs->values.history, txn);
    uint32_t last = RIG_LOG_NO_PLACE;
    for (uint32_t i = 0; i < rig_txn_op_count(logs->values.history, txn); i++) {
        if (rig_op_reads(ops[i].kind) || ops[i].key != key)
            continue;
        const uint32_t at = logs->records[record_of(logs, &ops[i])].place;
        if (at < place && (last == RIG_LOG_NO_PLACE || at > last))
            last = at;
    }
    return last;
}

static bool prove_ww(const struct rig_logs *logs, struct rig_step *step)
{
    const struct rig_history *history = logs->values.history;
    const struct rig_txn_op *ops = rig_txn_ops(history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(history, step->to); i++) {
        if (rig_op_reads(ops[i].kind) || (step->key != UINT32_MAX && step->key != ops[i].key))
            continue;
        const struct rig_log_record *to = &logs->records[record_of(logs, &ops[i])];
        const uint32_t before =
            to->place == RIG_LOG_NO_PLACE ? RIG_LOG_NO_PLACE : place_before(logs, step->from, ops[i].key, to->place);
        if (before == RIG_LOG_NO_PLACE)
            continue;
        step->key = ops[i].key;
        step->from_value = rig_log_sent(logs, logs->order[before])->value;
        step->to_value = ops[i].value;
        step->to_op = i;
        step->order_txn = rig_log_at(logs, before)->shown_txn;
        step->order_other = to->shown_txn;
        return true;
    }
    return false;
}

static bool prove_wr(const struct rig_logs *logs, struct rig_step *step)
{
    const struct rig_history *history = logs->values.history;
    const struct rig_txn_op *ops = rig_txn_ops(history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(history, step->to); i++) {
        if (!rig_op_reads(ops[i].kind) || (step->key != UINT32_MAX && step->key != ops[i].key) ||
            (step->to_op != UINT32_MAX && step->to_op != i))
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        for (uint32_t at = list.count; at >= 2; at -= 2) {
            const uint32_t record = rig_sets_find(&logs->values, ops[i].key, rig_read_element(&list, at - 1));
            if (record == RIG_SET_NONE || rig_log_sent(logs, record)->writer != step->from)
                continue;
            step->key = ops[i].key;
            step->from_value = step->to_value = rig_log_sent(logs, record)->value;
            step->to_op = i;
            return true;
        }
    }
    return false;
}

static bool explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    return (step->kind == RIG_EDGE_WW && prove_ww(&inference->logs, step)) ||
           (step->kind == RIG_EDGE_WR && prove_wr(&inference->logs, step));
}

/* ---- sentences ---- */

/* The offset at which an operation shows the value. */
static int64_t offset_in(const struct rig_history *history, const struct rig_txn_op *poll, int64_t value)
{
    const struct rig_read_list list = rig_txn_op_list(history, poll);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at + 1) == value)
            return rig_read_element(&list, at);
    }
    return INT64_MIN;
}

/* The same of a transaction. */
static int64_t offset_by(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    int64_t offset = INT64_MIN;
    for (uint32_t i = 0; offset == INT64_MIN && i < rig_txn_op_count(history, txn); i++)
        offset = rig_op_reads(ops[i].kind) && ops[i].key == key ? offset_in(history, &ops[i], value) : INT64_MIN;
    return offset;
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_WR);
    if (step->kind == RIG_EDGE_WR) {
        rig_say(history, text, ": %R, with %V, which %T sent.", step->to, step->to_op, step->to_value, step->from);
        return;
    }
    rig_say(history, text, ": in the log of key %K, %T sent the %V at offset ", step->key, step->from,
            step->from_value);
    rig_buf_add_int(text, offset_by(history, step->order_txn, step->key, step->from_value));
    rig_say(history, text, ", and %T sent the %V at offset ", step->to, step->to_value);
    rig_buf_add_int(text, offset_by(history, step->order_other, step->key, step->to_value));
    rig_buf_add_char(text, '.');
}

/* Where the consumer was before: "T3 read key 5 as [1 7]", or the earlier operation of the transaction itself. */
static void add_before(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (w->txn_count > 1)
        rig_say(history, text, " after %R", w->txns[1], w->other_op);
    else if (w->other_op != w->op)
        rig_say(history, text, " after it %r", w->txns[0], w->other_op);
}

static void add_read(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_INT_POLL_SKIP:
    case RIG_ANOMALY_POLL_SKIP:
        rig_say(history, text, ": the %V lies between the records that it polled before and then.", w->value);
        return;
    case RIG_ANOMALY_INT_NONMONOTONIC_POLL:
    case RIG_ANOMALY_NONMONOTONIC_POLL:
        rig_say(history, text, ": the %V is not after the %V, which it had polled last.", w->value, w->other_value);
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, text, ", and %R: the %V is at two offsets.", other, w->other_op, w->value);
        return;
    case RIG_ANOMALY_INCONSISTENT_OFFSETS:
        rig_say(history, text, ", and %R: the %V and the %V have one offset.", other, w->other_op, w->value,
                w->other_value);
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, text, ", with %V, which no transaction sent%E.", w->value);
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, ", with %V, which it sent itself only later.", w->value);
        return;
    default:
        RIG_REQUIRE(w->anomaly == RIG_ANOMALY_G1A && w->txn_count == 2);
        rig_say(history, text, ", with %V, which %T sent, which failed.", w->value, other);
    }
}

static bool compares(enum rig_anomaly anomaly)
{
    return anomaly == RIG_ANOMALY_INT_POLL_SKIP || anomaly == RIG_ANOMALY_POLL_SKIP ||
           anomaly == RIG_ANOMALY_INT_NONMONOTONIC_POLL || anomaly == RIG_ANOMALY_NONMONOTONIC_POLL;
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (w->anomaly == RIG_ANOMALY_LOST_WRITE) {
        rig_say(
            history, text,
            "%T sent %V to key %K and was acknowledged. No poll shows it, and %R, with a record at a higher offset.",
            w->txns[0], w->value, w->key, w->txns[1], w->other_op);
        return;
    }
    if (w->anomaly == RIG_ANOMALY_INT_NONMONOTONIC_SEND) {
        rig_say(history, text, "%T sent the %V to key %K after the %V, and the log has it before that one.", w->txns[0],
                w->value, w->key, w->other_value);
        return;
    }
    rig_say(history, text, "%R", w->txns[0], w->op);
    if (compares(w->anomaly))
        add_before(history, w, text);
    add_read(history, w, text);
}

const struct rig_type_words rig_log_words = {
    .explain_step = explain_step,
    .write = "send to key",
    .writes = "sends to keys",
    .add_step = add_step,
    .add_noncyclic = add_noncyclic,
};
