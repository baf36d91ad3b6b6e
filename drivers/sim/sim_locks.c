#include "drivers/sim/engine_priv.h"

#include "base/bug.h"

bool rig_sim_lock_is_free(const struct rig_sim_engine *engine, uint32_t session, uint32_t key, bool write)
{
    const struct rig_sim_key *k = &engine->store.keys.at[key];
    if (k->writer != RIG_SIM_NONE && k->writer != session)
        return false;
    if (!write)
        return true;
    for (size_t i = 0; i < k->read_holders.count; i++)
        if (k->read_holders.at[i] != session)
            return false;
    return true;
}

static bool holds(const struct rig_sim_key *key, uint32_t session, bool write)
{
    if (key->writer == session)
        return true;
    for (size_t i = 0; !write && i < key->read_holders.count; i++)
        if (key->read_holders.at[i] == session)
            return true;
    return false;
}

/* Pushes a session that another waits for, unless the search has been there. */
static void push(struct rig_sim_engine *engine, uint32_t session, uint32_t *depth)
{
    struct rig_sim_session *s = &engine->sessions[session];
    if (s->mark == engine->mark)
        return;
    s->mark = engine->mark;
    RIG_INVARIANT(*depth < engine->session_count);
    engine->stack[(*depth)++] = session;
}

/* Whether a session that waits for (key, write) waits, over any number of others, for itself. */
static bool would_deadlock(struct rig_sim_engine *engine, uint32_t session, uint32_t key, bool write)
{
    uint32_t depth = 0;
    uint32_t waiter = session;
    engine->mark++;
    for (;;) {
        const struct rig_sim_key *k = &engine->store.keys.at[key];
        if (k->writer != RIG_SIM_NONE && k->writer != waiter)
            push(engine, k->writer, &depth);
        for (size_t i = 0; write && i < k->read_holders.count; i++)
            if (k->read_holders.at[i] != waiter)
                push(engine, k->read_holders.at[i], &depth);
        if (engine->sessions[session].mark == engine->mark)
            return true;
        do {
            if (depth == 0)
                return false;
            waiter = engine->stack[--depth];
        } while (engine->sessions[waiter].wanted_key == UINT32_MAX);
        key = engine->sessions[waiter].wanted_key;
        write = engine->sessions[waiter].wants_write;
    }
}

enum rig_sim_progress rig_sim_lock(struct rig_sim_engine *engine, uint32_t session, uint32_t key, bool write)
{
    struct rig_sim_session *s = &engine->sessions[session];
    struct rig_sim_key *k = &engine->store.keys.at[key];
    s->wanted_key = UINT32_MAX;
    if (holds(k, session, write))
        return RIG_SIM_WENT_ON;
    if (!rig_sim_lock_is_free(engine, session, key, write)) {
        if (would_deadlock(engine, session, key, write))
            return RIG_SIM_DEADLOCK;
        s->wanted_key = key;
        s->wants_write = write;
        return RIG_SIM_BLOCKED;
    }
    if (!rig_sim_ids_add(&s->work->locks, key) || (!write && !rig_sim_ids_add(&k->read_holders, session)))
        return RIG_SIM_NO_MEMORY;
    if (write)
        k->writer = session;
    return RIG_SIM_WENT_ON;
}

void rig_sim_unlock_all(struct rig_sim_engine *engine, uint32_t session)
{
    struct rig_sim_session *s = &engine->sessions[session];
    for (size_t i = 0; i < s->work->locks.count; i++) {
        struct rig_sim_key *k = &engine->store.keys.at[s->work->locks.at[i]];
        if (k->writer == session)
            k->writer = RIG_SIM_NONE;
        for (size_t j = k->read_holders.count; j-- > 0;)
            if (k->read_holders.at[j] == session)
                k->read_holders.at[j] = k->read_holders.at[--k->read_holders.count];
        rig_sim_wake_waiters(engine, s->work->locks.at[i]);
    }
    s->work->locks.count = 0;
    s->wanted_key = UINT32_MAX;
}
