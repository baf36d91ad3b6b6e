/*
 * The objects of a model (docs/models.md): each call takes effect in one step, as the core's specification says.
 */
#include "drivers/sim/engine_priv.h"

#include <string.h>

#include "base/bug.h"

enum { MOST_NUMBERS = 1 << 16 };

/* A key's trunk has the state, and after it the state before the last change, each after its length; none: the initial
 * state. */
struct state {
    const int64_t *at;
    size_t count;
};

static struct state state_of(const struct rig_sim_key *key, bool before)
{
    const struct rig_sim_values *trunk = &key->trunk;
    if (trunk->count == 0)
        return (struct state){NULL, 0};
    const size_t now = (size_t)trunk->at[0];
    return before ? (struct state){trunk->at + now + 2, (size_t)trunk->at[now + 1]}
                  : (struct state){trunk->at + 1, now};
}

/* The call on the state: the next one is in engine->called. */
static bool execute(struct rig_sim_engine *engine, const struct rig_sim_session *session, struct state state,
                    struct rig_read *answer)
{
    return engine->calls->execute(engine->calls->specification, session->ops, session->op_count,
                                  rig_rng_next(&engine->rng), state.at, state.count, engine->called.at,
                                  engine->called.capacity, &engine->called.count, answer);
}

/* The called state is the key's one now. False when memory runs out. */
static bool keep(struct rig_sim_engine *engine, struct rig_sim_key *key)
{
    struct rig_sim_values *trunk = &key->trunk;
    const size_t now = engine->called.count, before = trunk->count == 0 ? 0 : (size_t)trunk->at[0];
    if (!rig_sim_values_reserve(trunk, now + before + 2))
        return false;
    memmove(trunk->at + now + 2, trunk->at + 1, before * sizeof *trunk->at);
    trunk->at[0] = (int64_t)now;
    memcpy(trunk->at + 1, engine->called.at, now * sizeof *trunk->at);
    trunk->at[now + 1] = (int64_t)before;
    trunk->count = now + before + 2;
    return true;
}

static bool is_same(const struct rig_sim_engine *engine, struct state state)
{
    return engine->called.count == state.count &&
           (state.count == 0 || memcmp(engine->called.at, state.at, state.count * sizeof *state.at) == 0);
}

enum rig_sim_progress rig_sim_apply_call(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    RIG_REQUIRE(session->op_count > 0 && engine->calls != NULL);
    const uint32_t index = rig_sim_store_key(&engine->store, session->ops[0].key);
    if (index == UINT32_MAX || !rig_sim_values_reserve(&engine->called, MOST_NUMBERS))
        return RIG_SIM_NO_MEMORY;
    struct rig_sim_key *key = &engine->store.keys.at[index];
    struct rig_read none; /* of an operation that returns nothing */
    const bool returns = session->ops[session->op_count - 1].kind == RIG_OP_RESULT;
    struct rig_read *answer = returns ? &session->work->results.at[session->op_count - 1] : &none;
    const struct state now = state_of(key, false), before = state_of(key, true);
    const bool stale = rig_sim_bug_strikes(engine, RIG_SIM_BUG_STALE_READ);
    if (stale && execute(engine, session, before, answer) && is_same(engine, before))
        return RIG_SIM_COMMITTED;
    *answer = (struct rig_read){.state = RIG_READ_UNKNOWN};
    const bool overwrites = rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_UPDATE);
    if (!execute(engine, session, overwrites ? before : now, answer))
        return RIG_SIM_MISMATCH;
    if (is_same(engine, overwrites ? before : now) || rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_APPEND))
        return RIG_SIM_COMMITTED;
    return keep(engine, key) ? RIG_SIM_COMMITTED : RIG_SIM_NO_MEMORY;
}
