#include "checker/witness/explain.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/acknowledged.h"

struct explain {
    const struct rig_history *history;
    const struct rig_versions *versions;
    const struct rig_registers *registers;
    struct rig_arena *arena;
    struct rig_err *err;
};

static enum rig_rc no_memory(const struct explain *e)
{
    return rig_fail(e->err, RIG_E_LIMIT, "not enough memory for the witnesses; raise --max-memory");
}

/* ---- the operations behind an edge ---- */

/* The first and the last place from `begin` on, and before `end`, at which `txn` wrote the key; or RIG_VERSION_NONE. */
struct places {
    uint32_t first, last;
};

static struct places appends_within(const struct explain *e, uint32_t txn, uint32_t key, uint32_t begin, uint32_t end)
{
    const struct rig_txn_op *ops = rig_txn_ops(e->history, txn);
    struct places places = {RIG_VERSION_NONE, RIG_VERSION_NONE};
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, txn); i++) {
        if (ops[i].kind != RIG_OP_APPEND || ops[i].key != key)
            continue;
        const struct rig_append *append = rig_versions_append(e->versions, key, ops[i].value);
        if (!rig_append_is_placed(append) || append->position < begin || append->position >= end)
            continue;
        if (places.first == RIG_VERSION_NONE || append->position < places.first)
            places.first = append->position;
        if (places.last == RIG_VERSION_NONE || append->position > places.last)
            places.last = append->position;
    }
    return places;
}

/* `acknowledged`: where acknowledged reads show the order. */
static bool prove_order(const struct explain *e, bool acknowledged, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(e->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, step->to); i++) {
        if (ops[i].kind != RIG_OP_APPEND)
            continue;
        uint32_t key = ops[i].key;
        const struct rig_key_versions *k = &e->versions->keys[key];
        uint32_t position = rig_versions_append(e->versions, key, ops[i].value)->position;
        if (position == RIG_VERSION_UNPLACED || k->contested)
            continue;
        bool observed = position != RIG_VERSION_NONE;
        const uint32_t place = observed ? position : k->order.count;
        uint32_t before = acknowledged ? rig_acknowledged_before(e->versions, step->from, key, place)
                                       : appends_within(e, step->from, key, 0, place).last;
        if (before == RIG_VERSION_NONE)
            continue;
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

static bool prove_ww(const struct explain *e, struct rig_step *step)
{
    return (e->versions->acknowledged != NULL && prove_order(e, true, step)) || prove_order(e, false, step);
}

static bool prove_wr(const struct explain *e, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(e->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, step->to); i++) {
        if (ops[i].kind != RIG_OP_READ_LIST)
            continue;
        struct rig_read_list list = rig_txn_op_list(e->history, &ops[i]);
        for (uint32_t j = list.count; j-- > 0;) {
            const struct rig_append *slot = rig_versions_find(e->versions, ops[i].key, rig_read_element(&list, j));
            if (slot == NULL || !e->versions->committed[slot->writer] || slot->writer == step->to)
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
static const struct rig_txn_op *unread_append(const struct explain *e, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(e->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key &&
            rig_versions_append(e->versions, key, ops[i].value)->position == RIG_VERSION_NONE)
            return &ops[i];
    }
    return NULL;
}

static bool prove_rw(const struct explain *e, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(e->history, step->from);
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, step->from); i++) {
        if (ops[i].kind != RIG_OP_READ_LIST || ops[i].read_state == RIG_READ_UNKNOWN ||
            e->versions->keys[ops[i].key].contested || !rig_versions_is_prefix(e->versions, &ops[i]))
            continue;
        uint32_t key = ops[i].key;
        const struct rig_key_versions *k = &e->versions->keys[key];
        struct rig_read_list list = rig_txn_op_list(e->history, &ops[i]);
        uint32_t own = appends_within(e, step->from, key, list.count, RIG_VERSION_NONE).first;
        uint32_t next = appends_within(e, step->to, key, list.count, RIG_VERSION_NONE).first;
        if (next != RIG_VERSION_NONE) {
            if (own != RIG_VERSION_NONE && own < next)
                continue;
            step->to_value = k->order.at[next];
            step->order_txn = k->order_txn;
            step->order_op = k->order_op;
        } else {
            const struct rig_txn_op *unread = unread_append(e, step->to, key);
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

/* ---- the same of registers ---- */

static uint32_t version_of(const struct explain *e, uint32_t txn, uint32_t op)
{
    return e->registers->version_of[e->history->txns[txn].first_op + op];
}

/* The edge from `version` to one that `writer` wrote, or NULL. */
static const struct rig_version_edge *edge_to_writer(const struct explain *e, uint32_t version, uint32_t writer)
{
    uint32_t begin, end;
    rig_registers_edges_from(e->registers, version, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        if (e->registers->versions[rig_registers_edge(e->registers, i)->to].writer == writer)
            return rig_registers_edge(e->registers, i);
    }
    return NULL;
}

/* ww and rw: from a version that `from` wrote, or read, to a later one that `to` wrote. */
static bool prove_register_order(const struct explain *e, struct rig_step *step)
{
    enum rig_op_kind kind = step->kind == RIG_EDGE_WW ? RIG_OP_WRITE : RIG_OP_READ_REGISTER;
    const struct rig_txn_op *ops = rig_txn_ops(e->history, step->from);
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, step->from); i++) {
        uint32_t version = version_of(e, step->from, i);
        if (ops[i].kind != kind || version == RIG_REGISTER_NONE)
            continue;
        const struct rig_version_edge *edge = edge_to_writer(e, version, step->to);
        if (edge == NULL || (kind == RIG_OP_READ_REGISTER && e->registers->versions[version].writer == step->from))
            continue;
        step->key = ops[i].key;
        step->from_value = e->registers->versions[version].value;
        step->to_value = e->registers->versions[edge->to].value;
        step->from_op = i;
        step->order = edge->source;
        step->order_txn = edge->a;
        step->order_other = edge->b;
        return true;
    }
    return false;
}

static bool prove_register_wr(const struct explain *e, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(e->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(e->history, step->to); i++) {
        uint32_t version = version_of(e, step->to, i);
        if (ops[i].kind != RIG_OP_READ_REGISTER || version == RIG_REGISTER_NONE ||
            e->registers->versions[version].writer != step->from)
            continue;
        step->key = ops[i].key;
        step->from_value = ops[i].value;
        step->to_op = i;
        return true;
    }
    return false;
}

static void prove_step(const struct explain *e, struct rig_step *step)
{
    bool registers = e->history->workload == RIG_WORKLOAD_RW_REGISTER;
    bool proved = true;
    step->key = UINT32_MAX;
    step->from_op = step->to_op = step->order_txn = step->order_op = step->order_other = UINT32_MAX;
    switch (step->kind) {
    case RIG_EDGE_WW:
        proved = registers ? prove_register_order(e, step) : prove_ww(e, step);
        break;
    case RIG_EDGE_WR:
        proved = registers ? prove_register_wr(e, step) : prove_wr(e, step);
        break;
    case RIG_EDGE_RW:
        proved = registers ? prove_register_order(e, step) : prove_rw(e, step);
        break;
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        break;
    }
    RIG_INVARIANT(proved);
}

enum rig_rc rig_explain_cycle(const struct rig_inference *inference, const struct rig_cycle *cycle,
                              struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err)
{
    const struct explain e = {inference->history, &inference->versions, &inference->registers, arena, err};
    uint32_t count = (uint32_t)cycle->count;
    struct rig_witness result = {.anomaly = rig_cycle_anomaly(e.history, e.versions, cycle),
                                 .key = UINT32_MAX,
                                 .op = UINT32_MAX,
                                 .other_op = UINT32_MAX,
                                 .txn_count = count,
                                 .step_count = count};
    result.refutes = rig_levels_refuted_by(result.anomaly, true);
    result.txns = rig_arena_array(arena, count, sizeof *result.txns);
    result.steps = rig_arena_array(arena, count, sizeof *result.steps);
    if (result.txns == NULL || result.steps == NULL)
        return no_memory(&e);
    for (uint32_t i = 0; i < count; i++) {
        struct rig_step *step = &result.steps[i];
        result.txns[i] = cycle->at[i].txn;
        step->from = cycle->at[i].txn;
        step->to = cycle->at[(i + 1) % count].txn;
        step->kind = cycle->at[i].kind;
        prove_step(&e, step);
    }
    *witness = result;
    return RIG_OK;
}

enum rig_rc rig_explain_noncyclic(const struct rig_inference *inference, const struct rig_noncyclic *found,
                                  struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err)
{
    const struct explain e = {inference->history, &inference->versions, &inference->registers, arena, err};
    struct rig_witness result = {.anomaly = found->anomaly,
                                 .key = found->key,
                                 .op = found->op,
                                 .other_op = found->other_op,
                                 .value = found->value,
                                 .other_value = found->other_value,
                                 .txn_count = 1};
    result.refutes = rig_levels_refuted_by(found->anomaly, !found->unsettled);
    result.txns = rig_arena_array(arena, 2, sizeof *result.txns);
    if (result.txns == NULL)
        return no_memory(&e);
    result.txns[0] = found->txn;
    if (found->other != UINT32_MAX && found->other != found->txn)
        result.txns[result.txn_count++] = found->other;
    *witness = result;
    return RIG_OK;
}
