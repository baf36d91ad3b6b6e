/*
 * The choice of the next step: one of the sessions that are ready, each with the same chance. All others wait in the
 * list or heap for the event that they wait for, so that a choice need not visit every session. The order in which
 * sessions became ready has no influence, since it depends on the clients' threads.
 *
 * A session that waits for a lock becomes ready whenever the lock is released; whether it is still free is checked when
 * the session is chosen, and if another one took it, it waits on.
 */
#include "base/bug.h"
#include "drivers/sim/engine_priv.h"

enum { LINE_BYTES = 64 }; /* lines of the cache */

/* Begins to bring the session into the cache. */
static void fetch_session(const struct rig_sim_engine *engine, uint32_t session)
{
    for (size_t at = 0; at < sizeof engine->sessions[0]; at += LINE_BYTES)
        __builtin_prefetch((const char *)&engine->sessions[session] + at);
}

static void make_ready(struct rig_sim_engine *engine, uint32_t session)
{
    engine->sessions[session].place = RIG_SIM_READY;
    rig_sim_ready_add(&engine->ready, session);
}

static void push(struct rig_heap *heap, int64_t when, uint32_t session)
{
    bool pushed = rig_heap_push(heap, when, session);
    RIG_INVARIANT(pushed); /* there is space for every session */
}

/* The transaction has arrived: it is worked on, or waits for a worker. */
static void arrive(struct rig_sim_engine *engine, uint32_t session)
{
    struct rig_sim_session *s = &engine->sessions[session];
    if (engine->options.workers == 0) {
        engine->working_count++;
        make_ready(engine, session);
    } else {
        s->place = RIG_SIM_QUEUED;
        push(&engine->queued, s->invoke_ns, session);
    }
}

/* Workers take queued transactions. Only when a step is due: then all earlier invocations have arrived. */
static void begin_queued(struct rig_sim_engine *engine)
{
    while (engine->queued.count > 0 && engine->working_count < engine->options.workers) {
        uint32_t session = rig_heap_pop(&engine->queued).id;
        engine->working_count++;
        make_ready(engine, session);
        /* Fetches the state of long unused sessions: what the first step needs now, and the next session in the
         * queue. */
        __builtin_prefetch(engine->sessions[session].ops);
        if (engine->queued.count > 0)
            fetch_session(engine, rig_heap_first(&engine->queued)->id);
    }
}

/* ---- waiting ---- */

static void wait_for_lock(struct rig_sim_engine *engine, uint32_t session)
{
    struct rig_sim_session *s = &engine->sessions[session];
    struct rig_sim_key *key = &engine->store.keys.at[s->wanted_key];
    s->place = RIG_SIM_LOCKED;
    s->next_waiter = key->first_waiter;
    key->first_waiter = session;
}

static void stop_waiting(struct rig_sim_engine *engine, uint32_t session)
{
    uint32_t *at = &engine->store.keys.at[engine->sessions[session].wanted_key].first_waiter;
    while (*at != session)
        at = &engine->sessions[*at].next_waiter;
    *at = engine->sessions[session].next_waiter;
}

void rig_sim_wake_waiters(struct rig_sim_engine *engine, uint32_t key)
{
    struct rig_sim_key *k = &engine->store.keys.at[key];
    while (k->first_waiter != RIG_SIM_NONE) {
        uint32_t session = k->first_waiter;
        k->first_waiter = engine->sessions[session].next_waiter;
        make_ready(engine, session);
    }
}

void rig_sim_place(struct rig_sim_engine *engine, uint32_t session)
{
    struct rig_sim_session *s = &engine->sessions[session];
    if (s->place == RIG_SIM_NOWHERE) {
        if (s->invoke_ns < (engine->now_ticks + 1) * RIG_SIM_TICK_NS) {
            arrive(engine, session);
        } else {
            s->place = RIG_SIM_TIMED;
            push(&engine->timed, s->invoke_ns, session);
        }
        return;
    }
    RIG_INVARIANT(s->place == RIG_SIM_READY && (s->holding || s->wanted_key != UINT32_MAX));
    rig_sim_ready_remove(&engine->ready, session);
    if (!s->holding) {
        wait_for_lock(engine, session);
    } else if (s->hold_until_ns != 0) {
        s->place = RIG_SIM_TIMED;
        push(&engine->timed, s->hold_until_ns, session);
    } else {
        s->place = RIG_SIM_COUNTED;
        push(&engine->counted, (int64_t)s->hold_until_commits, session);
    }
}

void rig_sim_displace(struct rig_sim_engine *engine, uint32_t session)
{
    struct rig_sim_session *s = &engine->sessions[session];
    bool was_working = true;
    if (s->place == RIG_SIM_READY) {
        rig_sim_ready_remove(&engine->ready, session);
    } else if (s->place == RIG_SIM_LOCKED) {
        stop_waiting(engine, session);
    } else if (s->place == RIG_SIM_COUNTED) {
        (void)rig_heap_remove(&engine->counted, session);
    } else if (s->place == RIG_SIM_TIMED) {
        (void)rig_heap_remove(&engine->timed, session);
        was_working = s->begun;
    } else if (s->place == RIG_SIM_QUEUED) {
        (void)rig_heap_remove(&engine->queued, session);
        was_working = false;
    }
    s->place = RIG_SIM_NOWHERE;
    engine->working_count -= was_working ? 1 : 0;
}

/* ---- choosing ---- */

/* Sessions with a time or a number of commits that has come. */
static void release_due(struct rig_sim_engine *engine)
{
    const struct rig_due *first;
    while ((first = rig_heap_first(&engine->timed)) != NULL &&
           first->when < (engine->now_ticks + 1) * RIG_SIM_TICK_NS) {
        uint32_t session = rig_heap_pop(&engine->timed).id;
        if (engine->sessions[session].begun)
            make_ready(engine, session);
        else
            arrive(engine, session);
    }
    while ((first = rig_heap_first(&engine->counted)) != NULL && (uint64_t)first->when <= engine->counts.commits)
        make_ready(engine, rig_heap_pop(&engine->counted).id);
}

/*
 * No session can go on. Advances the time to the next invocation or the end of a timed hold; when there is none, all
 * sessions wait directly or indirectly for one that waits for commits that cannot come, and that one goes on.
 */
static void wake_one(struct rig_sim_engine *engine)
{
    const struct rig_due *first = rig_heap_first(&engine->timed);
    if (first != NULL) {
        RIG_INVARIANT(first->when / RIG_SIM_TICK_NS > engine->now_ticks);
        engine->now_ticks = first->when / RIG_SIM_TICK_NS;
        return;
    }
    if (engine->counted.count == 0)
        rig_bug(__FILE__, __LINE__, "invariant every deadlock is detected");
    make_ready(engine, rig_heap_pop(&engine->counted).id);
}

static uint32_t draw(struct rig_sim_engine *engine)
{
    uint32_t rank = (uint32_t)rig_rng_below(&engine->rng, engine->ready.count);
    return rig_sim_ready_at(&engine->ready, rank);
}

/*
 * With many sessions the state for a step is not in the cache, so sessions are drawn some steps ahead, and their state
 * is prefetched meanwhile, pointer by pointer. A session that is no longer ready when its turn comes is skipped.
 */
static uint32_t draw_ahead(struct rig_sim_engine *engine)
{
    enum { WORK_AT = 3, ARRAYS_AT = 6 };
    uint32_t *ahead = engine->ahead, now = engine->ahead_at;
    uint32_t chosen = ahead[now], fresh = draw(engine);
    uint32_t second = ahead[(now + RIG_SIM_AHEAD - WORK_AT) % RIG_SIM_AHEAD];
    uint32_t third = ahead[(now + RIG_SIM_AHEAD - ARRAYS_AT) % RIG_SIM_AHEAD];
    ahead[now] = fresh;
    engine->ahead_at = (now + 1) % RIG_SIM_AHEAD;
    fetch_session(engine, fresh);
    if (second != RIG_SIM_NONE && engine->sessions[second].begun) {
        const struct rig_sim_session *s = &engine->sessions[second];
        __builtin_prefetch(&s->ops[s->next_op < s->op_count ? s->next_op : 0]);
        for (size_t at = 0; at < sizeof *s->work; at += LINE_BYTES)
            __builtin_prefetch((const char *)s->work + at);
    }
    if (third != RIG_SIM_NONE && engine->sessions[third].begun) {
        const struct rig_sim_session *s = &engine->sessions[third];
        __builtin_prefetch(s->work->writes.at);
        __builtin_prefetch(s->work->reads.at);
        __builtin_prefetch(s->work->seen.at + s->next_op);
        __builtin_prefetch(s->work->results.at + s->next_op);
    }
    return chosen;
}

/* A ready session; RIG_SIM_NONE when all of them wait for locks that were taken meanwhile. */
static uint32_t choose_ready(struct rig_sim_engine *engine)
{
    while (engine->ready.count > 0) {
        uint32_t session = engine->draws_ahead ? draw_ahead(engine) : draw(engine);
        if (session == RIG_SIM_NONE || engine->sessions[session].place != RIG_SIM_READY)
            continue;
        const struct rig_sim_session *s = &engine->sessions[session];
        if (s->wanted_key == UINT32_MAX || rig_sim_lock_is_free(engine, session, s->wanted_key, s->wants_write))
            return session;
        rig_sim_ready_remove(&engine->ready, session);
        wait_for_lock(engine, session);
    }
    return RIG_SIM_NONE;
}

uint32_t rig_sim_choose(struct rig_sim_engine *engine)
{
    for (;;) {
        release_due(engine);
        begin_queued(engine);
        uint32_t chosen = choose_ready(engine);
        if (chosen != RIG_SIM_NONE)
            return chosen;
        wake_one(engine);
    }
}
