/*
 * Objects: compare-and-set registers, locks, strings, queues and stacks. An operation takes effect in one step, so that
 * histories are linearizable unless a bug strikes.
 */
#include "drivers/sim/engine_priv.h"

#include <string.h>

#include "base/bug.h"

/* The value of a register, `back` writes ago; false: none, the initial state. */
static bool value_of(const struct rig_sim_key *key, size_t back, int64_t *value)
{
    if (key->trunk.count <= back)
        return false;
    *value = key->trunk.at[key->trunk.count - 1 - back];
    return true;
}

/* A lock is free at first. */
static bool is_as_expected(const struct rig_sim_engine *engine, const struct rig_sim_key *key, int64_t expected)
{
    int64_t value = 0;
    const bool has_value = value_of(key, 0, &value) || engine->workload == RIG_WORKLOAD_MUTEX;
    return has_value && value == expected;
}

static void write(struct rig_sim_engine *engine, struct rig_sim_key *key, int64_t value)
{
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_APPEND))
        return;
    key->trunk.at[key->trunk.count++] = value;
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_DOUBLE_PUT))
        key->trunk.at[key->trunk.count++] = value;
}

static void read(struct rig_sim_engine *engine, const struct rig_sim_key *key, struct rig_read *answer)
{
    size_t back = 0;
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_STALE_READ))
        back = 1 + rig_rng_below(&engine->rng, (uint64_t)engine->options.staleness);
    answer->state = value_of(key, back, &answer->value) ? RIG_READ_SEEN : RIG_READ_NIL;
    const int64_t value = answer->value; /* a register has no such bug, and a string of one digit no order */
    if (answer->state == RIG_READ_SEEN && value >= 10 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_REORDERED_APPEND))
        answer->value = value / 100 * 100 + value % 10 * 10 + value / 10 % 10;
}

/* False: the string is full. */
static bool extend(struct rig_sim_engine *engine, struct rig_sim_key *key, int64_t digit)
{
    int64_t value = 0;
    if (value_of(key, 0, &value) && value >= RIG_STRING_FULL)
        return false;
    value = value * 10 + digit;
    if (value < RIG_STRING_FULL && rig_sim_bug_strikes(engine, RIG_SIM_BUG_DUPLICATE_APPEND))
        value = value * 10 + digit;
    write(engine, key, value);
    return true;
}

/* Drops the values in front of the queue's first one, before they are more than the others. */
static void compact(struct rig_sim_key *key)
{
    struct rig_sim_values *values = &key->trunk;
    if (key->taken < 64 || key->taken < values->count / 2)
        return;
    values->count -= key->taken;
    memmove(values->at, values->at + key->taken, values->count * sizeof values->at[0]);
    key->taken = 0;
}

static void take(struct rig_sim_engine *engine, struct rig_sim_key *key, bool from_front, struct rig_read *answer)
{
    struct rig_sim_values *values = &key->trunk;
    const size_t count = values->count - key->taken;
    answer->state = RIG_READ_NIL;
    if (count == 0 || rig_sim_bug_strikes(engine, RIG_SIM_BUG_EMPTY_TAKE))
        return;
    const size_t second = count >= 2 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_REORDERED_TAKE) ? 1 : 0;
    const size_t at = from_front ? key->taken + second : values->count - 1 - second;
    answer->state = RIG_READ_SEEN;
    answer->value = values->at[at];
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_DOUBLE_TAKE))
        return;
    if (at == key->taken) {
        key->taken++;
        compact(key);
        return;
    }
    values->count--;
    memmove(values->at + at, values->at + at + 1, (values->count - at) * sizeof values->at[0]);
}

/* False: the object is not as the operation expects, or it is full. */
static bool apply(struct rig_sim_engine *engine, struct rig_sim_key *key, const struct rig_op *op,
                  struct rig_read *answer)
{
    if (op->kind == RIG_OP_EXPECT)
        return is_as_expected(engine, key, op->value) || rig_sim_bug_strikes(engine, RIG_SIM_BUG_WRONG_COMPARE);
    if (op->kind == RIG_OP_EXTEND)
        return extend(engine, key, op->value);
    if (!rig_op_reads(op->kind))
        write(engine, key, op->value);
    else if (op->kind == RIG_OP_READ_REGISTER)
        read(engine, key, answer);
    else
        take(engine, key, op->kind == RIG_OP_DEQUEUE, answer);
    return true;
}

enum rig_sim_progress rig_sim_apply(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    RIG_REQUIRE(session->op_count > 0);
    if (engine->workload == RIG_WORKLOAD_LOCK)
        return rig_sim_apply_to_lock(engine, session);
    if (engine->workload == RIG_WORKLOAD_MODEL)
        return rig_sim_apply_call(engine, session);
    const uint32_t index = rig_sim_store_key(&engine->store, session->ops[0].key);
    if (index == UINT32_MAX)
        return RIG_SIM_NO_MEMORY;
    struct rig_sim_key *key = &engine->store.keys.at[index];
    if (!rig_sim_values_reserve(&key->trunk, key->trunk.count + session->op_count + 1))
        return RIG_SIM_NO_MEMORY;
    for (uint32_t i = 0; i < session->op_count; i++) {
        RIG_REQUIRE(session->ops[i].key == session->ops[0].key);
        if (apply(engine, key, &session->ops[i], &session->work->results.at[i]))
            continue;
        if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_REFUSED_WRITE))
            write(engine, key, session->ops[i + 1].value);
        return RIG_SIM_MISMATCH;
    }
    return RIG_SIM_COMMITTED;
}
