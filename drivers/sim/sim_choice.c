/*
 * The choice of the next step: one of the sessions that are ready, each with the same chance. All others wait in the
 * list or heap for the event that they wait for, so that a choice need not visit every session. The order in which
 * sessions became ready has no influence, since it depends on the clients' threads.
 *
 * A session that waits for a lock becomes ready whenever the lock is released; whether it is still free is checked when
 * the session is chosen, and if another one took it, it waits on.
 */
#include "drivers/sim/sim_choice.h"

#include <stdlib.h>

#include "base/bug.h"
#include "drivers/sim/engine_priv.h"

/* Locks: two modes on a key, held until the end of the transaction. */
static bool sim_lock_is_free(const struct rig_sim_engine *engine, uint32_t session, uint32_t key, bool write)
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
static void push_wait(struct rig_sim_engine *engine, uint32_t session, uint32_t *depth)
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
            push_wait(engine, k->writer, &depth);
        for (size_t i = 0; write && i < k->read_holders.count; i++)
            if (k->read_holders.at[i] != waiter)
                push_wait(engine, k->read_holders.at[i], &depth);
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
    if (!sim_lock_is_free(engine, session, key, write)) {
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

static void make_ready(struct rig_sim_engine *engine, uint32_t session)
{
    engine->sessions[session].place = RIG_SIM_READY;
    rig_sim_ready_add(&engine->ready, session);
}

/* A session that waits for a lock of the key may now get it. */
static void sim_wake_waiters(struct rig_sim_engine *engine, uint32_t key)
{
    struct rig_sim_key *k = &engine->store.keys.at[key];
    while (k->first_waiter != RIG_SIM_NONE) {
        uint32_t session = k->first_waiter;
        k->first_waiter = engine->sessions[session].next_waiter;
        make_ready(engine, session);
    }
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
        sim_wake_waiters(engine, s->work->locks.at[i]);
    }
    s->work->locks.count = 0;
    s->wanted_key = UINT32_MAX;
}

enum { BLOCK_WORDS = 16, BLOCK_BITS = BLOCK_WORDS * 64 };

/* ---- counting and finding bits ---- */

/* The number of bits set in each byte and those below it. */
static uint64_t counts_up_to_byte(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    word -= (word >> 1) & (each * 0x55);
    word = (word & (each * 0x33)) + ((word >> 2) & (each * 0x33));
    return ((word + (word >> 4)) & (each * 0x0f)) * each;
}

static inline uint32_t plain_ones(uint64_t word)
{
    return (uint32_t)(counts_up_to_byte(word) >> 56);
}

/*
 * The index of the bit with `rank` lower ones (Vigna 2008, broadword): the byte is the number of bytes up to which
 * there are at most `rank`.
 */
static inline uint32_t plain_bit_at(uint64_t word, uint32_t rank)
{
    const uint64_t each = UINT64_C(0x0101010101010101), top = each * 0x80;
    uint64_t counts = counts_up_to_byte(word);
    uint64_t at_most = (((rank * each) | top) - counts) & top; /* a top bit where count <= rank */
    uint32_t shift = (uint32_t)(((at_most >> 7) * each) >> 56) * 8;
    uint32_t below = shift == 0 ? 0 : (uint32_t)(counts >> (shift - 8)) & 0xff;
    uint32_t byte = (uint32_t)(word >> shift) & 0xff;
    for (rank -= below; rank > 0; rank--)
        byte &= byte - 1;
    return shift + (uint32_t)__builtin_ctz(byte);
}

/* The search itself, with given functions for counting and finding. */
#define FIND(ones, bit_at)                                                                                             \
    uint32_t word = 0, in_word;                                                                                        \
    for (uint32_t block = 0; rank >= ready->blocks[block]; word += BLOCK_WORDS)                                        \
        rank -= ready->blocks[block++];                                                                                \
    for (; rank >= (in_word = ones(ready->words[word])); word++)                                                       \
        rank -= in_word;                                                                                               \
    return word * 64 + bit_at(ready->words[word], rank)

static inline uint32_t find_plain(const struct rig_sim_ready *ready, uint32_t rank)
{
    FIND(plain_ones, plain_bit_at);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define HAS_BITS()         (__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
#define BITS               __attribute__((target("bmi2,popcnt")))
#define COUNT(word)        ((uint32_t)__builtin_popcountll(word))
#define BIT_AT(word, rank) ((uint32_t)__builtin_ctzll(_pdep_u64(UINT64_C(1) << (rank), (word))))

BITS static uint32_t find_with_bits(const struct rig_sim_ready *ready, uint32_t rank)
{
    FIND(COUNT, BIT_AT);
}

#else

#define HAS_BITS()     false
#define find_with_bits find_plain

#endif

/* ---- the set ---- */

bool rig_sim_ready_init(struct rig_sim_ready *ready, uint32_t session_count)
{
    size_t block_count = (size_t)session_count / BLOCK_BITS + 1;
    *ready = (struct rig_sim_ready){.words = calloc(block_count * BLOCK_WORDS, sizeof *ready->words),
                                    .blocks = calloc(block_count, sizeof *ready->blocks),
                                    .has_bits = HAS_BITS()};
    return ready->words != NULL && ready->blocks != NULL;
}

void rig_sim_ready_done(struct rig_sim_ready *ready)
{
    free(ready->words);
    free(ready->blocks);
    *ready = (struct rig_sim_ready){0};
}

static uint64_t bit_of(uint32_t session)
{
    return UINT64_C(1) << (session % 64);
}

void rig_sim_ready_add(struct rig_sim_ready *ready, uint32_t session)
{
    RIG_REQUIRE((ready->words[session / 64] & bit_of(session)) == 0);
    ready->words[session / 64] |= bit_of(session);
    ready->blocks[session / BLOCK_BITS]++;
    ready->count++;
}

void rig_sim_ready_remove(struct rig_sim_ready *ready, uint32_t session)
{
    RIG_REQUIRE((ready->words[session / 64] & bit_of(session)) != 0);
    ready->words[session / 64] &= ~bit_of(session);
    ready->blocks[session / BLOCK_BITS]--;
    ready->count--;
}

uint32_t rig_sim_ready_at(const struct rig_sim_ready *ready, uint32_t rank)
{
    RIG_REQUIRE(rank < ready->count);
    return ready->has_bits ? find_with_bits(ready, rank) : find_plain(ready, rank);
}

enum { LINE_BYTES = 64 }; /* lines of the cache */

/* Begins to bring the session into the cache. */
static void fetch_session(const struct rig_sim_engine *engine, uint32_t session)
{
    for (size_t at = 0; at < sizeof engine->sessions[0]; at += LINE_BYTES)
        __builtin_prefetch((const char *)&engine->sessions[session] + at);
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
        if (s->wanted_key == UINT32_MAX || sim_lock_is_free(engine, session, s->wanted_key, s->wants_write))
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
