#include "drivers/sim/engine_priv.h"

#include "base/bug.h"

/* long-fork: a site shows the other's commits at the latest when it lags this many behind. */
enum { MOST_REMOTE_LAG = 64 };

static bool uses_snapshots(const struct rig_sim_engine *engine)
{
    return engine->options.isolation == RIG_SIM_SERIALIZABLE || engine->options.isolation == RIG_SIM_SNAPSHOT;
}

/* ---- snapshots ---- */

/* Up to `staleness` commits before `commit`, and at least one. */
static uint64_t stale(struct rig_sim_engine *engine, uint64_t commit)
{
    uint64_t back = 1 + rig_rng_below(&engine->rng, (uint64_t)engine->options.staleness);
    return commit > back ? commit - back : 0;
}

void rig_sim_take_snapshot(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    uint64_t last = engine->commit;
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_STALE_READ))
        last = stale(engine, last);
    if (session->last_seen > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_NON_MONOTONIC_SESSION))
        last = stale(engine, session->last_seen);
    for (uint32_t site = 0; site < RIG_SIM_SITE_COUNT; site++)
        session->snapshot.last[site] = last;
    if (engine->options.bug == RIG_SIM_BUG_LONG_FORK) {
        uint64_t *remote = &engine->remote[session->site];
        bool late = rig_sim_bug_strikes(engine, RIG_SIM_BUG_LONG_FORK);
        if (!late || engine->commit - *remote > MOST_REMOTE_LAG)
            *remote = engine->commit;
        session->snapshot.last[1 - session->site] = *remote;
    }
    if (last > session->last_seen)
        session->last_seen = last;
}

/* ---- reads ---- */

static struct rig_sim_write *find_write(struct rig_sim_session *session, uint32_t key)
{
    for (size_t i = 0; i < session->work->writes.count; i++)
        if (session->work->writes.at[i].key == key)
            return &session->work->writes.at[i];
    return NULL;
}

/* A node that another open transaction has written to the key; RIG_SIM_NO_NODE when none has. */
static uint32_t find_dirty(struct rig_sim_engine *engine, const struct rig_sim_session *session, uint32_t key)
{
    uint32_t start = (uint32_t)rig_rng_below(&engine->rng, engine->session_count);
    for (uint32_t i = 0; i < engine->session_count; i++) {
        struct rig_sim_session *other = &engine->sessions[(start + i) % engine->session_count];
        bool asks = other->busy && other->begun && other != session;
        const struct rig_sim_write *write = asks ? find_write(other, key) : NULL;
        if (write != NULL)
            return write->tip;
    }
    return RIG_SIM_NO_NODE;
}

/* The node that the isolation level shows. */
static uint32_t visible_node(struct rig_sim_engine *engine, const struct rig_sim_session *session, uint32_t key)
{
    const struct rig_sim_key *k = &engine->store.keys.at[key];
    if (uses_snapshots(engine) && !rig_sim_bug_strikes(engine, RIG_SIM_BUG_MOVING_SNAPSHOT))
        return rig_sim_key_at(k, &session->snapshot);
    if (engine->options.isolation == RIG_SIM_READ_UNCOMMITTED && k->writer != RIG_SIM_NONE) {
        const struct rig_sim_write *write = find_write(&engine->sessions[k->writer], key);
        if (write != NULL)
            return write->tip;
    }
    return rig_sim_key_latest(k);
}

/* A value of no write, behind the node. */
static uint32_t invented_node(struct rig_sim_engine *engine, struct rig_sim_key *key, uint32_t node)
{
    const uint32_t invented = rig_sim_key_add_node(key, node, RIG_SIM_INVENTED_VALUE - (int64_t)engine->next_id, 0);
    return invented == RIG_SIM_NO_NODE ? node : invented;
}

/* The next write of the session's own transaction to the key, behind the node; `node` when there is none. */
static uint32_t future_node(const struct rig_sim_session *session, struct rig_sim_key *key, uint32_t node)
{
    for (uint32_t i = session->next_op + 1; i < session->op_count; i++) {
        const struct rig_op *op = &session->ops[i];
        if (op->key != key->name || rig_op_reads(op->kind))
            continue;
        const uint32_t future = rig_sim_key_add_node(key, node, op->value, session->id);
        return future == RIG_SIM_NO_NODE ? node : future;
    }
    return node;
}

/* The node that a read shows instead of `node` when a bug strikes. */
static uint32_t mistaken_node(struct rig_sim_engine *engine, const struct rig_sim_session *session, uint32_t key,
                              uint32_t node)
{
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_NIL_READ))
        return RIG_SIM_NO_NODE;
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_GARBAGE_READ))
        return invented_node(engine, &engine->store.keys.at[key], node);
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_FUTURE_READ))
        return future_node(session, &engine->store.keys.at[key], node);
    const struct rig_sim_key *k = &engine->store.keys.at[key];
    const struct rig_sim_node *nodes = k->nodes.at;
    /* Only a ghost that grew from the node that the read should show: any other would be a stale read as well. */
    if (k->ghost != RIG_SIM_NO_NODE && nodes[k->ghost].parent == node &&
        rig_sim_bug_strikes(engine, RIG_SIM_BUG_ABORTED_READ))
        return k->ghost;
    if (node != RIG_SIM_NO_NODE && nodes[node].parent != RIG_SIM_NO_NODE &&
        nodes[nodes[node].parent].writer == nodes[node].writer &&
        rig_sim_bug_strikes(engine, RIG_SIM_BUG_INTERMEDIATE_READ))
        return nodes[node].parent;
    return node;
}

/* The write to the key that the session's own transaction rolled back, when it follows `node`; else `node`. */
static uint32_t undone_node(struct rig_sim_engine *engine, const struct rig_sim_session *session, uint32_t key,
                            uint32_t node)
{
    const struct rig_sim_key *k = &engine->store.keys.at[key];
    const bool is_own = k->ghost != RIG_SIM_NO_NODE && k->nodes.at[k->ghost].writer == session->id;
    return is_own && k->nodes.at[k->ghost].parent == node && rig_sim_bug_strikes(engine, RIG_SIM_BUG_SAVEPOINT_READ)
               ? k->ghost
               : node;
}

/* The number that a register, counter or account has as of the node. */
static int64_t number_of(const struct rig_sim_engine *engine, const struct rig_sim_key *key, uint32_t node)
{
    return node == RIG_SIM_NO_NODE ? engine->accounts.balance : key->nodes.at[node].value;
}

/* The answer names the node that was seen; its list is made on demand. */
static void answer_read(struct rig_sim_engine *engine, struct rig_sim_session *session, uint32_t key, uint32_t node,
                        bool own)
{
    const struct rig_sim_key *k = &engine->store.keys.at[key];
    struct rig_read *read = &session->work->results.at[session->next_op];
    struct rig_sim_seen *seen = &session->work->seen.at[session->next_op];
    *seen = (struct rig_sim_seen){.key = key, .node = node};
    if (node == RIG_SIM_NO_NODE && engine->accounts.count == 0) {
        const struct rig_op *op = &session->ops[session->next_op];
        const bool is_list = rig_op_reads_sequence(op->kind);
        read->state = is_list && op->key < engine->prefilled_keys ? RIG_READ_SEEN : RIG_READ_NIL;
        read->count = 0;
        return;
    }
    read->state = RIG_READ_SEEN;
    if (!rig_op_reads_sequence(session->ops[session->next_op].kind)) {
        read->value = number_of(engine, k, node);
        return;
    }
    read->count = k->nodes.at[node].depth;
    seen->headless = !own && read->count >= 2 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_HEADLESS_READ);
    read->count -= seen->headless;
    seen->reordered = !own && read->count >= 2 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_REORDERED_APPEND);
}

/* A bug can strike while the session waits for the lock, too. */
static enum rig_sim_progress lock_key(struct rig_sim_engine *engine, struct rig_sim_session *session, uint32_t key,
                                      bool write)
{
    if (!rig_sim_bug_strikes(engine, write ? RIG_SIM_BUG_UNLOCKED_WRITE : RIG_SIM_BUG_UNLOCKED_READ))
        return rig_sim_lock(engine, rig_sim_session_index(engine, session), key, write);
    session->wanted_key = UINT32_MAX;
    return RIG_SIM_WENT_ON;
}

enum rig_sim_progress rig_sim_run_read(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    uint32_t key = rig_sim_store_key(&engine->store, session->ops[session->next_op].key);
    if (key == UINT32_MAX)
        return RIG_SIM_NO_MEMORY;
    const struct rig_sim_write *write = find_write(session, key);
    if (write != NULL && !rig_sim_bug_strikes(engine, RIG_SIM_BUG_FORGOTTEN_WRITE)) {
        answer_read(engine, session, key, undone_node(engine, session, key, write->tip), true);
        return RIG_SIM_WENT_ON;
    }
    uint32_t node = RIG_SIM_NO_NODE;
    if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_DIRTY_READ))
        node = find_dirty(engine, session, key);
    if (node == RIG_SIM_NO_NODE) {
        if (engine->options.isolation == RIG_SIM_REPEATABLE_READ) {
            enum rig_sim_progress progress = lock_key(engine, session, key, false);
            if (progress != RIG_SIM_WENT_ON)
                return progress;
        }
        node = mistaken_node(engine, session, key, visible_node(engine, session, key));
        node = undone_node(engine, session, key, node);
    }
    if (engine->options.isolation == RIG_SIM_SERIALIZABLE && !rig_sim_ids_add(&session->work->reads, key))
        return RIG_SIM_NO_MEMORY;
    answer_read(engine, session, key, node, false);
    return RIG_SIM_WENT_ON;
}

/* ---- writes ---- */

/* The sum after an increment of what its transaction read of the key, or else of the number that it builds on. */
static int64_t incremented(const struct rig_sim_session *session, int64_t built_on)
{
    const struct rig_op *op = &session->ops[session->next_op];
    int64_t since = op->value;
    for (uint32_t i = session->next_op; i-- > 0;) {
        const struct rig_op *earlier = &session->ops[i];
        if (earlier->key != op->key || rig_rollback_undoes(&session->undone, session->ops, i))
            continue;
        if (rig_op_reads(earlier->kind))
            return session->work->results.at[i].value + since;
        since += earlier->value;
    }
    return built_on + op->value;
}

/* The value that the operation writes over the node `base`. */
static int64_t written_value(const struct rig_sim_engine *engine, const struct rig_sim_session *session,
                             const struct rig_sim_key *key, uint32_t base)
{
    const struct rig_op *op = &session->ops[session->next_op];
    return op->kind == RIG_OP_INCREMENT ? incremented(session, number_of(engine, key, base)) : op->value;
}

enum rig_sim_progress rig_sim_run_write(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    const struct rig_op *op = &session->ops[session->next_op];
    uint32_t key = rig_sim_store_key(&engine->store, op->key);
    if (key == UINT32_MAX)
        return RIG_SIM_NO_MEMORY;
    if (!uses_snapshots(engine)) {
        enum rig_sim_progress progress = lock_key(engine, session, key, true);
        if (progress != RIG_SIM_WENT_ON)
            return progress;
    }
    struct rig_sim_write *write = find_write(session, key);
    uint32_t base = RIG_SIM_NO_NODE;
    if (write != NULL)
        base = write->tip;
    else if (uses_snapshots(engine))
        base = rig_sim_key_at(&engine->store.keys.at[key], &session->snapshot);
    else
        base = rig_sim_key_latest(&engine->store.keys.at[key]); /* as a row that is read again once it is locked */
    const int64_t value = written_value(engine, session, &engine->store.keys.at[key], base);
    if (engine->accounts.count > 0 && !engine->accounts.negative && op->value < 0 && value < 0 &&
        !rig_sim_bug_strikes(engine, RIG_SIM_BUG_OVERDRAFT))
        return RIG_SIM_POOR;
    uint32_t tip = rig_sim_key_add_node(&engine->store.keys.at[key], base, value, session->id);
    if (tip == RIG_SIM_NO_NODE)
        return RIG_SIM_NO_MEMORY;
    if (write != NULL) {
        write->tip = tip;
        return RIG_SIM_WENT_ON;
    }
    const struct rig_sim_write fresh = {.key = key, .base = base, .tip = tip};
    return rig_sim_writes_add(&session->work->writes, fresh) ? RIG_SIM_WENT_ON : RIG_SIM_NO_MEMORY;
}

/* ---- commits ---- */

/* First committer wins: no other transaction has committed a key that this one writes since its snapshot. */
static bool is_first_committer(const struct rig_sim_engine *engine, const struct rig_sim_session *session)
{
    for (size_t i = 0; i < session->work->writes.count; i++) {
        const struct rig_sim_versions *versions = &engine->store.keys.at[session->work->writes.at[i].key].versions;
        if (versions->count == 0)
            continue;
        const struct rig_sim_version *last = &versions->at[versions->count - 1];
        if (!rig_sim_snapshot_shows(&session->snapshot, last->commit, last->site))
            return false;
    }
    return true;
}

/*
 * A dangerous structure is R -rw-> P -rw-> W, consecutive transactions concurrent, of which W commits first; every
 * cycle that snapshots allow has one. It is completed by the commit of P or of R (W is first), and that one is aborted:
 *   as P: some W committed before, and some R read what P overwrites and did not commit before the first such W;
 *   as R: it read what P overwrote, and P had a W when it committed.
 * `has_out` tells whether this transaction, once committed, is a P with its W.
 */
static bool is_dangerous(const struct rig_sim_engine *engine, const struct rig_sim_session *session, bool *has_out)
{
    uint64_t first_out = UINT64_MAX;
    for (size_t i = 0; i < session->work->reads.count; i++) {
        const struct rig_sim_versions *versions = &engine->store.keys.at[session->work->reads.at[i]].versions;
        for (size_t j = versions->count; j-- > 0;) {
            const struct rig_sim_version *version = &versions->at[j];
            if (rig_sim_snapshot_shows(&session->snapshot, version->commit, version->site))
                break;
            if (version->writer_has_out)
                return true;
            if (version->commit < first_out)
                first_out = version->commit;
        }
    }
    *has_out = first_out != UINT64_MAX;
    for (size_t i = 0; *has_out && i < session->work->writes.count; i++) {
        const struct rig_sim_readers *readers = &engine->store.keys.at[session->work->writes.at[i].key].readers;
        for (size_t j = 0; j < readers->count; j++) {
            const struct rig_sim_reader *reader = &readers->at[j];
            if (reader->commit >= first_out &&
                !rig_sim_snapshot_shows(&session->snapshot, reader->commit, reader->site))
                return true;
        }
    }
    return false;
}

static uint64_t find_oldest_snapshot(const struct rig_sim_engine *engine)
{
    uint64_t staleness = (uint64_t)engine->options.staleness;
    uint64_t oldest = engine->commit;
    for (uint32_t i = 0; i < engine->session_count; i++) {
        const struct rig_sim_session *session = &engine->sessions[i];
        for (uint32_t site = 0; session->busy && session->begun && site < RIG_SIM_SITE_COUNT; site++)
            if (session->snapshot.last[site] < oldest)
                oldest = session->snapshot.last[site];
        if (engine->options.bug == RIG_SIM_BUG_NON_MONOTONIC_SESSION && session->last_seen < oldest)
            oldest = session->last_seen;
    }
    for (uint32_t site = 0; engine->options.bug == RIG_SIM_BUG_LONG_FORK && site < RIG_SIM_SITE_COUNT; site++)
        if (engine->remote[site] < oldest)
            oldest = engine->remote[site];
    if (engine->options.bug == RIG_SIM_BUG_STALE_READ || engine->options.bug == RIG_SIM_BUG_NON_MONOTONIC_SESSION)
        oldest = oldest > staleness ? oldest - staleness : 0;
    return oldest;
}

/*
 * The oldest commit that a snapshot taken now or held now may show last, or an older one: it only ascends, and the
 * exact one costs a pass over all sessions.
 */
static uint64_t oldest_snapshot(struct rig_sim_engine *engine)
{
    if (engine->commit >= engine->oldest_until) {
        engine->oldest = find_oldest_snapshot(engine);
        engine->oldest_until = engine->commit + engine->session_count / 16 + 1;
    }
    return engine->oldest;
}

/* Makes space for one more reader of the key, forgetting those that no transaction can be concurrent with any more. */
static bool reserve_reader(struct rig_sim_engine *engine, struct rig_sim_key *key)
{
    struct rig_sim_readers *readers = &key->readers;
    if (readers->count >= key->readers_prune_at) {
        uint64_t oldest = oldest_snapshot(engine);
        size_t kept = 0;
        for (size_t i = 0; i < readers->count; i++)
            if (readers->at[i].commit > oldest)
                readers->at[kept++] = readers->at[i];
        readers->count = kept;
        key->readers_prune_at = kept * 2 + 64;
    }
    return rig_sim_readers_reserve(readers, readers->count + 1);
}

/* All allocations of a commit, so that it cannot stop half-way. A key read twice takes two entries. */
static bool reserve_commit(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    for (size_t i = 0; i < session->work->writes.count; i++) {
        const struct rig_sim_write *write = &session->work->writes.at[i];
        if (!rig_sim_key_reserve(&engine->store.keys.at[write->key], write->tip))
            return false;
    }
    for (size_t i = 0; i < session->work->reads.count; i++)
        if (!reserve_reader(engine, &engine->store.keys.at[session->work->reads.at[i]]))
            return false;
    return true;
}

static void install(struct rig_sim_engine *engine, struct rig_sim_session *session, bool has_out)
{
    uint8_t site = engine->options.bug == RIG_SIM_BUG_LONG_FORK ? session->site : 0;
    engine->commit++;
    const bool is_lost = rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_COMMIT);
    for (size_t i = 0; i < session->work->writes.count && !is_lost; i++) {
        const struct rig_sim_write *write = &session->work->writes.at[i];
        struct rig_sim_key *key = &engine->store.keys.at[write->key];
        uint32_t tip = write->tip;
        if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_APPEND))
            tip = key->nodes.at[tip].parent;
        if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_DUPLICATE_APPEND))
            tip = rig_sim_key_add_node(key, tip, key->nodes.at[tip].value, session->id);
        if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_DOUBLE_INCREMENT))
            tip = rig_sim_key_add_node(key, tip, 2 * number_of(engine, key, tip) - number_of(engine, key, write->base),
                                       session->id);
        if (tip == write->base)
            continue;
        RIG_INVARIANT(key->versions.count < key->versions.capacity);
        RIG_INVARIANT(key->versions.count == 0 || key->versions.at[key->versions.count - 1].commit < engine->commit);
        key->versions.at[key->versions.count++] =
            (struct rig_sim_version){.commit = engine->commit, .node = tip, .site = site, .writer_has_out = has_out};
        rig_sim_store_extend(&engine->store, key, tip);
    }
    for (size_t i = 0; i < session->work->reads.count; i++) {
        struct rig_sim_readers *readers = &engine->store.keys.at[session->work->reads.at[i]].readers;
        bool known = readers->count > 0 && readers->at[readers->count - 1].commit == engine->commit;
        RIG_INVARIANT(known || readers->count < readers->capacity);
        if (!known)
            readers->at[readers->count++] = (struct rig_sim_reader){.commit = engine->commit, .site = site};
    }
    session->last_seen = engine->commit;
}

enum rig_sim_progress rig_sim_commit(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    bool has_out = false;
    bool blind = session->work->writes.count > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_LOST_UPDATE);
    if (uses_snapshots(engine) && !blind) {
        if (!is_first_committer(engine, session))
            return RIG_SIM_CONFLICT;
        if (engine->options.isolation == RIG_SIM_SERIALIZABLE && is_dangerous(engine, session, &has_out) &&
            !rig_sim_bug_strikes(engine, RIG_SIM_BUG_MISSED_PIVOT))
            return RIG_SIM_PIVOT;
    }
    if (!reserve_commit(engine, session))
        return RIG_SIM_NO_MEMORY;
    install(engine, session, has_out);
    rig_sim_unlock_all(engine, rig_sim_session_index(engine, session));
    return RIG_SIM_COMMITTED;
}

/* Keeps what an aborted transaction wrote behind the node `base`. The first node only: a longer ghost would be an
 * intermediate read of no transaction, or show two aborted values. */
static void keep_ghost(struct rig_sim_engine *engine, const struct rig_sim_write *write, uint32_t base)
{
    struct rig_sim_key *key = &engine->store.keys.at[write->key];
    uint32_t first = write->tip;
    while (key->nodes.at[first].parent != base)
        first = key->nodes.at[first].parent;
    key->ghost = first;
}

/* Takes the writes back to those of the savepoint. */
static void undo(struct rig_sim_engine *engine, struct rig_sim_work *work)
{
    for (size_t i = 0; i < work->writes.count; i++) {
        struct rig_sim_write *write = &work->writes.at[i];
        const uint32_t saved = i < work->saved.count ? work->saved.at[i].tip : write->base;
        if (write->tip != saved)
            keep_ghost(engine, write, saved);
        write->tip = saved;
    }
    work->writes.count = work->saved.count;
}

bool rig_sim_pass_savepoint(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    struct rig_sim_work *work = session->work;
    if (session->next_op == session->rollback.from) {
        work->saved.count = 0;
        if (!rig_sim_writes_reserve(&work->saved, work->writes.count + 1))
            return false;
        for (size_t i = 0; i < work->writes.count; i++)
            work->saved.at[work->saved.count++] = work->writes.at[i];
    } else if (session->next_op == session->rollback.to) {
        session->undone = session->rollback;
        session->rollback = (struct rig_rollback){0};
        if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_SAVEPOINT_LEAK))
            return true;
        if (rig_sim_bug_strikes(engine, RIG_SIM_BUG_SAVEPOINT_LOSS))
            work->saved.count = 0;
        undo(engine, work);
    }
    return true;
}

void rig_sim_roll_back(struct rig_sim_engine *engine, struct rig_sim_session *session)
{
    if (session->work == NULL)
        return; /* it has not begun */
    const bool commits = session->work->writes.count > 0 && rig_sim_bug_strikes(engine, RIG_SIM_BUG_ABORTED_COMMIT) &&
                         reserve_commit(engine, session);
    if (commits)
        install(engine, session, false);
    for (size_t i = 0; i < session->work->writes.count && !commits; i++)
        keep_ghost(engine, &session->work->writes.at[i], session->work->writes.at[i].base);
    rig_sim_unlock_all(engine, rig_sim_session_index(engine, session));
}
