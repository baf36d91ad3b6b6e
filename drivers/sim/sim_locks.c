/*
 * Locks with owners: each acquisition gives a token that is larger than those before, and work is done under the token
 * of the session's last acquisition. An operation takes effect in one step.
 */
#include "drivers/sim/engine_priv.h"

#include "base/bug.h"

/* A lock has in its key's trunk: the last token, the largest one under which work was done, and holds. */
enum { LAST, WORKED, HOLDS };
/* A hold stays after its end, because its session remembers the token. */
enum { OWNER, SESSION, COUNT, TOKEN, UNTIL, HOLD_SIZE };

static int64_t now_ns(const struct rig_sim_engine *engine)
{
    return engine->now_ticks * RIG_SIM_TICK_NS;
}

static int64_t *find_hold(const struct rig_sim_key *key, int field, int64_t value)
{
    for (size_t at = HOLDS; at < key->trunk.count; at += HOLD_SIZE) {
        if (key->trunk.at[at + (size_t)field] == value)
            return &key->trunk.at[at];
    }
    return NULL;
}

/* The hold of an owner, which is made where there is none: there is room for it. */
static int64_t *hold_of(struct rig_sim_key *key, int64_t owner, int64_t session)
{
    int64_t *hold = find_hold(key, OWNER, owner);
    while (key->trunk.count < HOLDS)
        key->trunk.at[key->trunk.count++] = 0;
    if (hold == NULL) {
        hold = &key->trunk.at[key->trunk.count];
        key->trunk.count += HOLD_SIZE;
        hold[OWNER] = owner;
        hold[COUNT] = hold[TOKEN] = hold[UNTIL] = 0;
    }
    hold[SESSION] = session;
    return hold;
}

/* Ends the holds whose leases are over. Gives how many permits are taken. */
static int64_t expire(struct rig_sim_engine *engine, struct rig_sim_key *key)
{
    int64_t taken = 0;
    for (size_t at = HOLDS; at < key->trunk.count; at += HOLD_SIZE) {
        int64_t *hold = &key->trunk.at[at];
        if (hold[UNTIL] != 0 && hold[UNTIL] <= now_ns(engine))
            hold[COUNT] = hold[UNTIL] = 0;
        taken += hold[COUNT];
    }
    return taken;
}

static enum rig_sim_progress acquire(struct rig_sim_engine *engine, struct rig_sim_key *key,
                                     const struct rig_sim_session *session)
{
    const struct rig_op *ops = session->ops;
    const uint32_t count = session->op_count;
    const int64_t limit = count > 2 ? ops[1].value : 1, lease_ns = count > 3 ? ops[2].value : 0;
    struct rig_read *answer = &session->work->results.at[count - 1];
    int64_t *hold = hold_of(key, ops[0].value, session - engine->sessions);
    const int64_t taken = expire(engine, key);
    const bool fits = limit < 0 ? taken == hold[COUNT] && taken < -limit : taken < limit;
    if (!fits && !rig_sim_bug_strikes(engine, RIG_SIM_BUG_DOUBLE_GRANT))
        return RIG_SIM_MISMATCH;
    const bool again = limit < 0 && hold[COUNT] > 0;
    if (!again && (key->trunk.at[LAST] == 0 || !rig_sim_bug_strikes(engine, RIG_SIM_BUG_REPEATED_TOKEN)))
        key->trunk.at[LAST]++;
    if (!again)
        hold[TOKEN] = key->trunk.at[LAST];
    hold[COUNT]++;
    if (lease_ns > 0) {
        const bool early = rig_sim_bug_strikes(engine, RIG_SIM_BUG_EARLY_EXPIRY);
        hold[UNTIL] = now_ns(engine) + (early ? lease_ns / 2 : lease_ns);
    }
    answer->state = RIG_READ_SEEN;
    answer->value = hold[TOKEN];
    return RIG_SIM_COMMITTED;
}

static enum rig_sim_progress release(struct rig_sim_engine *engine, struct rig_sim_key *key, int64_t owner)
{
    (void)expire(engine, key);
    int64_t *hold = find_hold(key, OWNER, owner);
    if (hold == NULL || hold[COUNT] == 0)
        return RIG_SIM_MISMATCH;
    hold[COUNT]--;
    for (size_t at = HOLDS; at < key->trunk.count; at += HOLD_SIZE) {
        int64_t *other = &key->trunk.at[at];
        if (other != hold && other[COUNT] > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_DOUBLE_RELEASE)) {
            other[COUNT]--;
            break;
        }
    }
    return RIG_SIM_COMMITTED;
}

static enum rig_sim_progress work(struct rig_sim_engine *engine, struct rig_sim_key *key,
                                  const struct rig_sim_session *session)
{
    struct rig_read *answer = &session->work->results.at[0];
    const int64_t *hold = find_hold(key, SESSION, session - engine->sessions);
    if (hold == NULL || hold[TOKEN] == 0)
        return RIG_SIM_MISMATCH;
    if (hold[TOKEN] < key->trunk.at[WORKED] && !rig_sim_bug_strikes(engine, RIG_SIM_BUG_STALE_WORK))
        return RIG_SIM_MISMATCH;
    if (hold[TOKEN] > key->trunk.at[WORKED])
        key->trunk.at[WORKED] = hold[TOKEN];
    answer->state = RIG_READ_SEEN;
    answer->value = hold[TOKEN];
    return RIG_SIM_COMMITTED;
}

enum rig_sim_progress rig_sim_apply_to_lock(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    const struct rig_op *first = &session->ops[0];
    RIG_REQUIRE(session->op_count > 0);
    const uint32_t index = rig_sim_store_key(&engine->store, first->key);
    if (index == UINT32_MAX)
        return RIG_SIM_NO_MEMORY;
    struct rig_sim_key *key = &engine->store.keys.at[index];
    if (!rig_sim_values_reserve(&key->trunk, key->trunk.count + HOLDS + HOLD_SIZE))
        return RIG_SIM_NO_MEMORY;
    if (first->kind == RIG_OP_HOLD)
        return acquire(engine, key, session);
    if (first->kind == RIG_OP_FREE)
        return release(engine, key, first->value);
    return work(engine, key, session);
}
