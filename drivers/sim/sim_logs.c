/*
 * Logs: records with offsets, and consumers that poll them.
 *
 * A session is a consumer. It begins at the start of each log and goes on after the last record that it polled; a poll
 * may end before the log does. A transaction takes effect at its commit, in one step: first its polls, which show none
 * of its own records, then its sends. One that fails moves no consumer. Its records take offsets that no poll shows,
 * which leaves gaps.
 */
#include "drivers/sim/engine_priv.h"

#include "base/bug.h"
#include "history/types/log_ops.h"

/* Records of a poll, at most. */
enum { MOST_POLLED = 32 };

enum rig_sim_record_state { RECORD_SHOWN, RECORD_LOST, RECORD_ABORTED };

/* A log for which memory is reserved. */
static struct rig_sim_key *key_of(struct rig_sim_engine *engine, int64_t name)
{
    const uint32_t index = rig_sim_store_key(&engine->store, name);
    RIG_INVARIANT(index < engine->store.keys.count);
    return &engine->store.keys.at[index];
}

/* Room for whatever the session's operations add. */
static bool reserve(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    const size_t added = 2 * (size_t)session->op_count;
    for (uint32_t i = 0; i < session->op_count; i++) {
        const uint32_t index = rig_sim_store_key(&engine->store, session->ops[i].key);
        if (index == UINT32_MAX)
            return false;
        struct rig_sim_key *key = &engine->store.keys.at[index];
        if (!rig_sim_values_reserve(&key->trunk, key->trunk.count + added) ||
            !rig_sim_ids_reserve(&key->trunk_nodes, key->trunk.count + added) ||
            !rig_sim_ids_reserve(&key->positions, engine->session_count))
            return false;
        while (key->positions.count < engine->session_count)
            key->positions.at[key->positions.count++] = 0;
    }
    struct rig_sim_elements *shown = &session->work->apart;
    return rig_sim_elements_reserve(shown, shown->count + (size_t)session->op_count * 2 * MOST_POLLED);
}

/* Shows a record in a result, whose elements follow one another. */
static void show(struct rig_sim_work *work, struct rig_read *result, uint32_t offset, int64_t value)
{
    struct rig_sim_elements *shown = &work->apart;
    RIG_INVARIANT(shown->count + 2 <= shown->capacity);
    if (result->count == 0)
        result->first_element = shown->count;
    shown->at[shown->count++] = offset;
    shown->at[shown->count++] = value;
    result->count += 2;
}

/* ---- polls ---- */

static void swap_last(struct rig_sim_work *work, const struct rig_read *result)
{
    int64_t *last = work->apart.at + result->first_element + result->count - 4;
    const int64_t offset = last[0], value = last[1];
    last[0] = last[2];
    last[1] = last[3];
    last[2] = offset;
    last[3] = value;
}

static bool shows(struct rig_sim_engine *engine, enum rig_sim_record_state state)
{
    if (state == RECORD_SHOWN)
        return !rig_sim_bug_strikes(engine, RIG_SIM_BUG_SKIPPED_POLL);
    return state == RECORD_ABORTED && rig_sim_bug_strikes(engine, RIG_SIM_BUG_ABORTED_READ);
}

static void poll(struct rig_sim_engine *engine, struct rig_sim_session *session, struct rig_sim_key *key,
                 struct rig_read *result)
{
    uint32_t *position = &key->positions.at[rig_sim_session_index(engine, session)];
    if (engine->options.move_rate > 0 && rig_rng_unit(&engine->rng) < engine->options.move_rate) {
        *position = (uint32_t)rig_rng_below(&engine->rng, (uint64_t)*position + 1);
        result->state = RIG_READ_NIL;
        return;
    }
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_NON_MONOTONIC_SESSION)) {
        const uint64_t back = 1 + rig_rng_below(&engine->rng, (uint64_t)engine->options.staleness);
        *position = *position > back ? *position - (uint32_t)back : 0;
    }
    const uint32_t most = 2 * (1 + (uint32_t)rig_rng_below(&engine->rng, MOST_POLLED));
    result->state = RIG_READ_SEEN;
    for (; *position < key->trunk.count && result->count < most; ++*position) {
        if (shows(engine, (enum rig_sim_record_state)key->trunk_nodes.at[*position]))
            show(session->work, result, *position, key->trunk.at[*position]);
    }
    if (result->count >= 4 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_REORDERED_APPEND))
        swap_last(session->work, result);
    if (result->count >= 2 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_GARBAGE_READ))
        session->work->apart.at[session->work->apart.count - 1] = RIG_SIM_INVENTED_VALUE - (int64_t)engine->next_id;
}

/* ---- sends ---- */

static uint32_t append(struct rig_sim_key *key, int64_t value, enum rig_sim_record_state state)
{
    RIG_INVARIANT(key->trunk.count < key->trunk.capacity && key->trunk_nodes.count < key->trunk_nodes.capacity);
    key->trunk.at[key->trunk.count++] = value;
    key->trunk_nodes.at[key->trunk_nodes.count++] = (uint32_t)state;
    return (uint32_t)key->trunk.count - 1;
}

/* The acknowledgement of a send; NULL: it has none. */
static struct rig_read *acknowledgement(struct rig_sim_session *session, uint32_t send)
{
    const bool has = send + 1 < session->op_count && rig_op_acknowledges(session->ops, send + 1);
    return has ? &session->work->results.at[send + 1] : NULL;
}

/* Lets the send and the transaction's earlier one to the log change places. */
static void reorder(struct rig_sim_session *session, struct rig_sim_key *key, uint32_t send)
{
    uint32_t earlier = send;
    while (earlier-- > 0) {
        const struct rig_op *op = &session->ops[earlier];
        if (op->kind == RIG_OP_SEND && op->key == session->ops[send].key)
            break;
    }
    const struct rig_read *one = earlier == UINT32_MAX ? NULL : acknowledgement(session, earlier);
    const struct rig_read *other = acknowledgement(session, send);
    if (one == NULL || other == NULL)
        return;
    int64_t *first = session->work->apart.at + one->first_element;
    int64_t *second = session->work->apart.at + other->first_element;
    const int64_t offset = first[0];
    key->trunk.at[second[0]] = first[1];
    key->trunk.at[offset] = second[1];
    first[0] = second[0];
    second[0] = offset;
}

static void put(struct rig_sim_engine *engine, struct rig_sim_session *session, uint32_t send)
{
    const struct rig_op *op = &session->ops[send];
    struct rig_sim_key *key = key_of(engine, op->key);
    struct rig_read *acknowledged = acknowledgement(session, send);
    const bool lost = rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_APPEND);
    uint32_t offset = append(key, op->value, lost ? RECORD_LOST : RECORD_SHOWN);
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_DUPLICATE_APPEND))
        (void)append(key, op->value, RECORD_SHOWN);
    if (acknowledged == NULL)
        return;
    if (offset > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_WRONG_OFFSET))
        offset--;
    acknowledged->state = RIG_READ_SEEN;
    show(session->work, acknowledged, offset, op->value);
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_REORDERED_SEND))
        reorder(session, key, send);
}

/* The acknowledgement of a record that is in its log already, before the commit; NULL: it is not. */
static const struct rig_read *early_send(struct rig_sim_session *session, uint32_t send)
{
    const struct rig_read *acknowledged = acknowledgement(session, send);
    return acknowledged != NULL && acknowledged->state == RIG_READ_SEEN ? acknowledged : NULL;
}

/* ---- transactions ---- */

enum rig_sim_progress rig_sim_run_log_operation(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    const uint32_t at = session->next_op;
    if (session->ops[at].kind != RIG_OP_SEND || acknowledgement(session, at) == NULL ||
        !rig_sim_bug_strikes(engine, RIG_SIM_BUG_EARLY_SEND))
        return RIG_SIM_WENT_ON;
    if (!reserve(engine, session))
        return RIG_SIM_NO_MEMORY;
    put(engine, session, at);
    return RIG_SIM_WENT_ON;
}

enum rig_sim_progress rig_sim_commit_logs(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (!reserve(engine, session))
        return RIG_SIM_NO_MEMORY;
    for (uint32_t i = 0; i < session->op_count; i++) {
        if (session->ops[i].kind == RIG_OP_POLL && !rig_op_acknowledges(session->ops, i))
            poll(engine, session, key_of(engine, session->ops[i].key), &session->work->results.at[i]);
    }
    for (uint32_t i = 0; i < session->op_count; i++) {
        if (session->ops[i].kind == RIG_OP_SEND && early_send(session, i) == NULL)
            put(engine, session, i);
    }
    return RIG_SIM_COMMITTED;
}

void rig_sim_roll_back_logs(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (session->work == NULL || session->work->results.count == 0 || !reserve(engine, session))
        return; /* it has not begun */
    const bool commits = rig_sim_bug_strikes(engine, RIG_SIM_BUG_ABORTED_COMMIT);
    for (uint32_t i = 0; i < session->op_count; i++) {
        const struct rig_op *op = &session->ops[i];
        if (op->kind != RIG_OP_SEND)
            continue;
        struct rig_sim_key *key = key_of(engine, op->key);
        const struct rig_read *early = early_send(session, i);
        if (early != NULL)
            key->trunk_nodes.at[session->work->apart.at[early->first_element]] = RECORD_ABORTED;
        else
            (void)append(key, op->value, commits ? RECORD_SHOWN : RECORD_ABORTED);
    }
}
