/* Witnesses over lists (type_words.h): the operations that prove the steps, and the sentences. */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/infer/inference.h"
#include "checker/infer/list_acknowledged.h"
#include "checker/model/verdict.h"

/* ---- steps ---- */

/* The first and the last place from `begin` on, and before `end`, at which `txn` wrote the key; or RIG_VERSION_NONE. */
struct places {
    uint32_t first, last;
};

static struct places appends_within(const struct rig_versions *versions, uint32_t txn, uint32_t key, uint32_t begin,
                                    uint32_t end)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, txn);
    struct places places = {RIG_VERSION_NONE, RIG_VERSION_NONE};
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, txn); i++) {
        if (ops[i].kind != RIG_OP_APPEND || ops[i].key != key)
            continue;
        const struct rig_append *append = rig_versions_append(versions, key, ops[i].value);
        if (!rig_append_is_placed(append) || append->position < begin || append->position >= end)
            continue;
        if (places.first == RIG_VERSION_NONE || append->position < places.first)
            places.first = append->position;
        if (places.last == RIG_VERSION_NONE || append->position > places.last)
            places.last = append->position;
    }
    return places;
}

/* Whether the step allows this key and this reading operation: it names them, or leaves the choice. */
static bool may_use(const struct rig_step *step, uint32_t key, uint32_t chosen_op, uint32_t op)
{
    return (step->key == UINT32_MAX || step->key == key) && (chosen_op == UINT32_MAX || chosen_op == op);
}

/* `acknowledged`: where acknowledged reads show the order. */
static bool prove_order(const struct rig_versions *versions, bool acknowledged, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, step->to); i++) {
        if (ops[i].kind != RIG_OP_APPEND)
            continue;
        uint32_t key = ops[i].key;
        const struct rig_key_versions *k = &versions->keys[key];
        uint32_t position = rig_versions_append(versions, key, ops[i].value)->position;
        if (position == RIG_VERSION_UNPLACED || k->contested || !may_use(step, key, UINT32_MAX, i))
            continue;
        bool observed = position != RIG_VERSION_NONE;
        const uint32_t place = observed ? position : k->order.count;
        uint32_t before = acknowledged ? rig_acknowledged_before(versions, step->from, key, place)
                                       : appends_within(versions, step->from, key, 0, place).last;
        if (before == RIG_VERSION_NONE)
            continue;
        RIG_INVARIANT(before < place && place <= k->order.count);
        step->key = key;
        step->from_value = k->order.at[before];
        step->to_value = ops[i].value;
        step->to_op = i;
        step->order_txn = observed ? k->order_txn : UINT32_MAX;
        step->order_op = observed ? k->order_op : UINT32_MAX;
        return true;
    }
    return false;
}

static bool prove_ww(const struct rig_versions *versions, struct rig_step *step)
{
    return (versions->acknowledged != NULL && prove_order(versions, true, step)) || prove_order(versions, false, step);
}

static bool prove_wr(const struct rig_versions *versions, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, step->to); i++) {
        if (ops[i].kind != RIG_OP_READ_LIST || !may_use(step, ops[i].key, step->to_op, i))
            continue;
        struct rig_read_list list = rig_txn_op_list(versions->history, &ops[i]);
        for (uint32_t j = list.count; j-- > 0;) {
            const struct rig_append *slot = rig_versions_find(versions, ops[i].key, rig_read_element(&list, j));
            if (slot == NULL || !versions->committed[slot->writer] || slot->writer == step->to)
                continue;
            if (slot->writer != step->from)
                continue;
            step->key = ops[i].key;
            step->from_value = rig_read_element(&list, j);
            step->to_op = i;
            return true;
        }
    }
    return false;
}

/* The append of `txn` to `key` that no read shows, or NULL. */
static const struct rig_txn_op *unread_append(const struct rig_versions *versions, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key &&
            rig_versions_append(versions, key, ops[i].value)->position == RIG_VERSION_NONE)
            return &ops[i];
    }
    return NULL;
}

/* `found`: not by a read that found no row of its key. */
static bool prove_rw(const struct rig_versions *versions, bool found, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(versions->history, step->from);
    for (uint32_t i = 0; i < rig_txn_op_count(versions->history, step->from); i++) {
        if (ops[i].kind != RIG_OP_READ_LIST || ops[i].read_state == RIG_READ_UNKNOWN ||
            versions->keys[ops[i].key].contested || !rig_versions_is_prefix(versions, &ops[i]) ||
            !may_use(step, ops[i].key, step->from_op, i) ||
            (found && rig_list_found_no_row(versions->history, &ops[i])))
            continue;
        uint32_t key = ops[i].key;
        const struct rig_key_versions *k = &versions->keys[key];
        struct rig_read_list list = rig_txn_op_list(versions->history, &ops[i]);
        uint32_t own = appends_within(versions, step->from, key, list.count, RIG_VERSION_NONE).first;
        uint32_t next = appends_within(versions, step->to, key, list.count, RIG_VERSION_NONE).first;
        if (next != RIG_VERSION_NONE) {
            if (own != RIG_VERSION_NONE && own < next)
                continue;
            RIG_INVARIANT(list.count <= next && next < k->order.count);
            step->to_value = k->order.at[next];
            step->order_txn = k->order_txn;
            step->order_op = k->order_op;
        } else {
            const struct rig_txn_op *unread = unread_append(versions, step->to, key);
            if (unread == NULL || own != RIG_VERSION_NONE)
                continue;
            step->to_value = unread->value;
        }
        step->key = key;
        step->from_value = list.count > 0 ? rig_read_element(&list, list.count - 1) : 0;
        step->from_op = i;
        return true;
    }
    return false;
}

static bool explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_versions *versions = &inference->versions;
    return step->kind == RIG_EDGE_WW   ? prove_ww(versions, step)
           : step->kind == RIG_EDGE_WR ? prove_wr(versions, step)
                                       : prove_rw(versions, true, step) || prove_rw(versions, false, step);
}

static void explain_order(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_versions *versions = &inference->versions;
    const struct rig_key_versions *k = &versions->keys[step->key];
    const uint32_t from = appends_within(versions, step->from, step->key, 0, RIG_VERSION_NONE).last;
    const uint32_t to = appends_within(versions, step->to, step->key, 0, RIG_VERSION_NONE).last;
    if (step->kind == RIG_EDGE_WW && from != RIG_VERSION_NONE)
        step->from_value = k->order.at[from];
    if (to == RIG_VERSION_NONE)
        return;
    step->to_value = k->order.at[to];
    step->order_txn = k->order_txn;
    step->order_op = k->order_op;
}

static bool appended(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key && ops[i].value == value)
            return true;
    }
    return false;
}

/* The last element of a list that the reader did not append itself; false: there is none. */
static bool version_read(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t *value)
{
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t end = read->read_state == RIG_READ_SEEN ? list.count : 0; end > 0; end--) {
        *value = rig_read_element(&list, end - 1);
        if (!appended(history, txn, read->key, *value))
            return true;
    }
    return false;
}

/* ---- sentences ---- */

static void add_ww(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_say(history, text, ": it appended %V to key %K", step->from_value, step->key);
    if (step->order == RIG_ORDER_CASE)
        rig_say(history, text, ", and %T then %V", step->to, step->to_value);
    else if (step->order_txn == UINT32_MAX)
        rig_say(history, text, ", which reads show; no read shows %T's append of %V, so it came later.", step->to,
                step->to_value);
    else
        rig_say(history, text, ", and %T then %V, as %T read the list: %S.", step->to, step->to_value, step->order_txn,
                step->order_txn, step->order_op, step->from_value, step->to_value);
}

static void add_rw(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_say(history, text, ": %R%s and did not see %T's append of %V", step->from, step->from_op,
            step->by_predicate ? " before it had a row," : "", step->to, step->to_value);
    if (step->order == RIG_ORDER_CASE)
        rig_say(history, text, ", which came later");
    else
        rig_say(history, text, "%s%s", step->order_txn == UINT32_MAX ? ", which no read shows" : "",
                step->by_predicate ? ": a phantom." : ".");
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_WR || step->kind == RIG_EDGE_RW);
    if (step->kind == RIG_EDGE_WW)
        add_ww(history, step, text);
    else if (step->kind == RIG_EDGE_WR)
        rig_say(history, text, ": %R and so saw the %V that %T appended.", step->to, step->to_op, step->from_value,
                step->from);
    else
        add_rw(history, step, text);
}

/* Whether an operation read a list that holds the value. */
static bool shows(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t value)
{
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, txn) + op);
    bool found = false;
    for (uint32_t i = 0; i < list.count && !found; i++)
        found = rig_read_element(&list, i) == value;
    return found;
}

static bool shows_any(const struct rig_history *history, const struct rig_witness *w)
{
    return rig_txn_op_list(history, rig_txn_ops(history, w->txns[0]) + w->op).count > 0;
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    rig_say(history, text, "%T ", w->txns[0]);
    if (w->op != UINT32_MAX)
        rig_say(history, text, "%r", w->txns[0], w->op);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_say(history, text, ", which shows the %V of %T, which %F.", w->value, other, other);
        return;
    case RIG_ANOMALY_G1B:
        rig_say(history, text,
                ", which ends with the %V of %T, which appended to that key again later: an intermediate state.",
                w->value, other);
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, text, ", which shows %V, a value that no transaction appended%E.", w->value);
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, text, ", which shows %V more than once.", w->value);
        return;
    case RIG_ANOMALY_INCOMPATIBLE_ORDER:
        rig_say(history, text, ", while %R: neither is a prefix of the other.", other, w->other_op);
        return;
    case RIG_ANOMALY_FRACTURED_APPEND:
        rig_say(history, text, ", which shows the %V of %T%s the %V that it appended to that key earlier.", w->value,
                other, shows(history, w->txns[0], w->op, w->other_value) ? " before" : ", but not", w->other_value);
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, ", which shows the %V that it appended itself only later.", w->value);
        return;
    case RIG_ANOMALY_INTERNAL:
        rig_say(history, text, ", which disagrees with its own earlier reads and appends.");
        return;
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        rig_say(history, text, ", which it had read before %s a row: a phantom.",
                shows_any(history, w) ? "without" : "with");
        return;
    case RIG_ANOMALY_LOST_UPDATE_PREDICATE:
        rig_say(history, text,
                " before it had a row, and %T read the same; then both appended to it: one did not see the other's, a "
                "phantom.",
                other);
        return;
    case RIG_ANOMALY_LOST_UPDATE:
        rig_say(history, text, ", and %T read the same; then both appended to it: one update did not see the other.",
                other);
        return;
    case RIG_ANOMALY_DIRTY_UPDATE:
        rig_say(history, text, "appended %V to key %K on top of the %V of %T, which %F.", w->value, w->key,
                w->other_value, other, other);
        return;
    case RIG_ANOMALY_LOST_APPEND:
        rig_say(history, text,
                "appended %V to key %K and was acknowledged before %T began; %R without it, and no acknowledged read "
                "that ended later shows the %V.",
                w->value, w->key, other, other, w->other_op, w->value);
        return;
    default:
        RIG_REQUIRE(false && "a non-cyclic anomaly");
    }
}

const struct rig_type_words rig_list_words = {
    .explain_step = explain_step,
    .explain_order = explain_order,
    .version_read = version_read,
    .write = "append to key",
    .writes = "appends to keys",
    .add_step = add_step,
    .add_noncyclic = add_noncyclic,
};
