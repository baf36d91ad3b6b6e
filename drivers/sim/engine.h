/*
 * The simulated database: an in-memory multi-version store that runs transactions of many sessions, one operation at a
 * time, in an interleaving that depends only on its seed.
 *
 * The engine is pure and single-threaded: it has no clock, no locks of the operating system and no I/O. A caller gives
 * sessions transactions (begin), lets the engine choose the next session and run its operation (step), and collects the
 * answers of completed transactions. drivers/sim/sim_driver.c puts client threads around it.
 *
 * Time is virtual. It is counted in ticks of RIG_SIM_TICK_NS; each step takes one tick and up to `latency` more. A
 * completion happens on a tick, alone on it; the same session's next invocation follows between that tick and the next
 * (later by up to `think` ticks). No two events of different sessions happen at the same time, up to
 * RIG_SIM_TICK_NS - 1 sessions.
 *
 * Time: a step's cost is independent of the number of sessions and the length of lists, except for locks, where a
 * release wakes every session that waits for the key. Space: that of drivers/sim/sim_store.h, until the key is
 * forgotten; 16 bytes a read for as long as a concurrent transaction may conflict with it (serializable only).
 *
 * Sources: first committer wins, BERN95 4.2; dangerous structures, Fekete et al., TODS 2005, theorem 2.1, as in Cahill,
 * Roehm & Fekete, SIGMOD 2008; parallel snapshots, Sovran et al., SOSP 2011.
 */
#ifndef RIG_DRIVERS_SIM_ENGINE_H
#define RIG_DRIVERS_SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/driver.h"

/* X(id, name, its behaviour and its guarantees) */
#define RIG_SIM_ISOLATION_TABLE(X)                                                                                     \
    X(SERIALIZABLE, "serializable",                                                                                    \
      "snapshots, first committer wins, and aborts of pivots (serializable snapshot isolation): strict serializable")  \
    X(SNAPSHOT, "snapshot-isolation",                                                                                  \
      "a snapshot of the commits before the start, first committer wins: strong snapshot isolation, with write "       \
      "skew")                                                                                                          \
    X(REPEATABLE_READ, "repeatable-read",                                                                              \
      "read and write locks on keys until the end, deadlocks detected: PL-2.99, which without predicates is strict "   \
      "serializable; with the workloads `predicate` and `sql` a snapshot whose rows do not change, and phantoms")      \
    X(READ_COMMITTED, "read-committed",                                                                                \
      "each read sees the latest commit; writes lock their key until the end and build on its latest commit: strong "  \
      "read committed, with lost updates and read skew")                                                               \
    X(READ_UNCOMMITTED, "read-uncommitted",                                                                            \
      "reads see uncommitted writes; writes lock their key until the end: strong read uncommitted")

enum rig_sim_isolation {
#define RIG_SIM_ISOLATION_ENUM(id, name, help) RIG_SIM_##id,
    RIG_SIM_ISOLATION_TABLE(RIG_SIM_ISOLATION_ENUM)
#undef RIG_SIM_ISOLATION_ENUM
        RIG_SIM_ISOLATION_COUNT
};

/* Sets of workloads that the simulated database runs. */
enum {
    RIG_SIM_LISTS = 1 << RIG_WORKLOAD_LIST_APPEND,
    RIG_SIM_UNIQUE = RIG_SIM_LISTS | 1 << RIG_WORKLOAD_RW_REGISTER | 1 << RIG_WORKLOAD_SET,
    RIG_SIM_TRANSACTIONS = RIG_SIM_LISTS | RIG_WORKLOADS_OF_REGISTERS | 1 << RIG_WORKLOAD_SET |
                           1 << RIG_WORKLOAD_COUNTER | 1 << RIG_WORKLOAD_BANK,
    RIG_SIM_GROWING = RIG_SIM_LISTS | 1 << RIG_WORKLOAD_SET,
    RIG_SIM_SUMS = 1 << RIG_WORKLOAD_COUNTER | 1 << RIG_WORKLOAD_BANK,
    RIG_SIM_COMPARED = 1 << RIG_WORKLOAD_CAS_REGISTER | 1 << RIG_WORKLOAD_MUTEX,
    RIG_SIM_TAKEN = 1 << RIG_WORKLOAD_QUEUE | 1 << RIG_WORKLOAD_STACK,
    RIG_SIM_STRINGS = 1 << RIG_WORKLOAD_APPEND_REGISTER,
    RIG_SIM_LOCKS = 1 << RIG_WORKLOAD_LOCK,
    RIG_SIM_CALLS = 1 << RIG_WORKLOAD_MODEL,
    /* each operation is atomic, at any level */
    RIG_SIM_OBJECTS = RIG_SIM_COMPARED | RIG_SIM_TAKEN | RIG_SIM_STRINGS | RIG_SIM_LOCKS | RIG_SIM_CALLS,
    RIG_SIM_ROWS = 1 << RIG_WORKLOAD_PREDICATE | 1 << RIG_WORKLOAD_SQL,
    RIG_SIM_LOGS = 1 << RIG_WORKLOAD_LOG, /* a transaction takes effect at its commit, at any level */
    RIG_SIM_MULTIVERSION = RIG_SIM_TRANSACTIONS | RIG_SIM_ROWS,
    RIG_SIM_ALL = RIG_SIM_TRANSACTIONS | RIG_SIM_OBJECTS | RIG_SIM_ROWS | RIG_SIM_LOGS
};

/* Sets of isolation levels. */
enum {
    RIG_SIM_AT_SERIALIZABLE = 1 << RIG_SIM_SERIALIZABLE,
    RIG_SIM_AT_SNAPSHOTS = RIG_SIM_AT_SERIALIZABLE | 1 << RIG_SIM_SNAPSHOT,
    RIG_SIM_AT_REPEATABLE_READ = 1 << RIG_SIM_REPEATABLE_READ,
    RIG_SIM_AT_LOCKS = RIG_SIM_AT_REPEATABLE_READ | 1 << RIG_SIM_READ_COMMITTED | 1 << RIG_SIM_READ_UNCOMMITTED,
    RIG_SIM_AT_STATEMENTS = 1 << RIG_SIM_READ_COMMITTED | 1 << RIG_SIM_READ_UNCOMMITTED,
    RIG_SIM_AT_ANY = RIG_SIM_AT_SNAPSHOTS | RIG_SIM_AT_LOCKS
};

/* X(id, name, its isolation levels, its workloads, the mistake, each time with the chance `bug-rate`) */
#define RIG_SIM_BUG_TABLE(X)                                                                                           \
    X(NONE, "none", RIG_SIM_AT_ANY, RIG_SIM_ALL, "nothing")                                                            \
    X(LOST_UPDATE, "lost-update", RIG_SIM_AT_SNAPSHOTS, RIG_SIM_MULTIVERSION | RIG_SIM_CALLS,                          \
      "a commit does not check for conflicting ones and overwrites them")                                              \
    X(STALE_READ, "stale-read", RIG_SIM_AT_SNAPSHOTS,                                                                  \
      RIG_SIM_MULTIVERSION | 1 << RIG_WORKLOAD_CAS_REGISTER | RIG_SIM_STRINGS | RIG_SIM_CALLS,                         \
      "a transaction's snapshot is up to `staleness` commits old")                                                     \
    X(LONG_FORK, "long-fork", RIG_SIM_AT_SNAPSHOTS, RIG_SIM_TRANSACTIONS,                                              \
      "two sites that see each other's commits late")                                                                  \
    X(DIRTY_READ, "dirty-read", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS,                                                  \
      "a read sees an uncommitted write of another transaction")                                                       \
    X(ABORTED_READ, "aborted-read", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS | RIG_SIM_LOGS,                               \
      "a read sees a write of an aborted transaction")                                                                 \
    X(INTERMEDIATE_READ, "intermediate-read", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS,                                    \
      "a read sees a transaction's second to last write")                                                              \
    X(DUPLICATE_APPEND, "duplicate-append", RIG_SIM_AT_ANY, RIG_SIM_LISTS | RIG_SIM_STRINGS | RIG_SIM_LOGS,            \
      "a transaction's last append to a key is applied twice")                                                         \
    X(LOST_APPEND, "lost-append", RIG_SIM_AT_ANY, RIG_SIM_ALL & ~RIG_SIM_LOCKS,                                        \
      "a transaction's last write to a key is acknowledged and dropped")                                               \
    X(REORDERED_APPEND, "reordered-append", RIG_SIM_AT_ANY, RIG_SIM_LISTS | RIG_SIM_STRINGS | RIG_SIM_LOGS,            \
      "a read sees the last two elements in reverse order")                                                            \
    X(NON_MONOTONIC_SESSION, "non-monotonic-session", RIG_SIM_AT_SNAPSHOTS, RIG_SIM_TRANSACTIONS | RIG_SIM_LOGS,       \
      "a session's snapshot is up to `staleness` commits older than its last one, or a consumer goes back in a log "   \
      "by up to "                                                                                                      \
      "`staleness` records")                                                                                           \
    X(WRONG_COMPARE, "wrong-compare", RIG_SIM_AT_ANY, RIG_SIM_COMPARED,                                                \
      "a compare-and-set succeeds whatever the value is, so that a lock is granted twice")                             \
    X(REFUSED_WRITE, "refused-write", RIG_SIM_AT_ANY, 1 << RIG_WORKLOAD_CAS_REGISTER,                                  \
      "a compare-and-set that is refused takes effect all the same")                                                   \
    X(DOUBLE_TAKE, "double-take", RIG_SIM_AT_ANY, RIG_SIM_TAKEN, "a dequeue or pop leaves the value that it gives")    \
    X(REORDERED_TAKE, "reordered-take", RIG_SIM_AT_ANY, RIG_SIM_TAKEN,                                                 \
      "a dequeue or pop gives the second value instead of the first")                                                  \
    X(EMPTY_TAKE, "empty-take", RIG_SIM_AT_ANY, RIG_SIM_TAKEN,                                                         \
      "a dequeue or pop finds nothing although there are values")                                                      \
    X(SAVEPOINT_LEAK, "savepoint-leak", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS,                                          \
      "a rollback to a savepoint keeps the writes that it should undo")                                                \
    X(SAVEPOINT_LOSS, "savepoint-loss", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS,                                          \
      "a rollback to a savepoint also undoes the transaction's earlier writes")                                        \
    X(SAVEPOINT_READ, "savepoint-read", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS,                                          \
      "a transaction still sees a write that it rolled back to a savepoint")                                           \
    X(MISSED_PIVOT, "missed-pivot", RIG_SIM_AT_SERIALIZABLE, RIG_SIM_MULTIVERSION,                                     \
      "a transaction that completes a dangerous structure commits")                                                    \
    X(MOVING_SNAPSHOT, "moving-snapshot", RIG_SIM_AT_SNAPSHOTS, RIG_SIM_MULTIVERSION,                                  \
      "a read sees the latest commit instead of its transaction's snapshot")                                           \
    X(FORGOTTEN_WRITE, "forgotten-write", RIG_SIM_AT_ANY, RIG_SIM_UNIQUE,                                              \
      "a read does not see the earlier writes of its own transaction")                                                 \
    X(FUTURE_READ, "future-read", RIG_SIM_AT_ANY, RIG_SIM_UNIQUE, "a read sees a later write of its own transaction")  \
    X(GARBAGE_READ, "garbage-read", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS | RIG_SIM_LOGS,                               \
      "a read shows a value that nothing wrote")                                                                       \
    X(NIL_READ, "nil-read", RIG_SIM_AT_ANY, RIG_SIM_TRANSACTIONS,                                                      \
      "a read finds the initial state of a key that was written")                                                      \
    X(HEADLESS_READ, "headless-read", RIG_SIM_AT_ANY, RIG_SIM_GROWING,                                                 \
      "a read of a list or set misses its first element")                                                              \
    X(LOST_COMMIT, "lost-commit", RIG_SIM_AT_ANY, RIG_SIM_MULTIVERSION,                                                \
      "a commit is acknowledged and all of its writes are dropped")                                                    \
    X(ABORTED_COMMIT, "aborted-commit", RIG_SIM_AT_ANY, RIG_SIM_MULTIVERSION | RIG_SIM_LOGS,                           \
      "the writes of an aborted transaction are committed")                                                            \
    X(UNLOCKED_READ, "unlocked-read", RIG_SIM_AT_REPEATABLE_READ, RIG_SIM_TRANSACTIONS, "a read takes no lock")        \
    X(UNLOCKED_WRITE, "unlocked-write", RIG_SIM_AT_LOCKS, RIG_SIM_TRANSACTIONS,                                        \
      "a write takes no lock, and overwrites what is committed meanwhile")                                             \
    X(DOUBLE_INCREMENT, "double-increment", RIG_SIM_AT_ANY, RIG_SIM_SUMS,                                              \
      "a transaction's increments of a key are applied twice")                                                         \
    X(OVERDRAFT, "overdraft", RIG_SIM_AT_ANY, 1 << RIG_WORKLOAD_BANK, "a transfer may take more than there is")        \
    X(DOUBLE_PUT, "double-put", RIG_SIM_AT_ANY, RIG_SIM_TAKEN, "an enqueue or push is applied twice")                  \
    X(LOST_ROW, "lost-row", RIG_SIM_AT_ANY, RIG_SIM_ROWS, "a read by a condition misses one of its rows")              \
    X(LOST_INDEX_ENTRY, "lost-index-entry", RIG_SIM_AT_ANY, 1 << RIG_WORKLOAD_SQL,                                     \
      "a version of a row is left out of the index of one column, and conditions that begin with the column miss it")  \
    X(SKIPPED_RECHECK, "skipped-recheck", RIG_SIM_AT_STATEMENTS, RIG_SIM_ROWS,                                         \
      "an update or delete chooses rows as they were when its transaction began, and changes their newest versions "   \
      "without another test")                                                                                          \
    X(STALE_FOREIGN_KEY, "stale-foreign-key", RIG_SIM_AT_ANY, 1 << RIG_WORKLOAD_SQL,                                   \
      "a commit checks references between rows as they were when its transaction began")                               \
    X(STALE_CHECK, "stale-check", RIG_SIM_AT_ANY, 1 << RIG_WORKLOAD_SQL,                                               \
      "the CHECKs of an update are evaluated on the row as it was before")                                             \
    X(WRONG_LIMIT, "wrong-limit", 1 << RIG_SIM_SNAPSHOT, 1 << RIG_WORKLOAD_SQL,                                        \
      "a limit counts rows that other transactions have changed since the snapshot, and does not show them")           \
    X(STALE_SUBQUERY, "stale-subquery", RIG_SIM_AT_ANY, 1 << RIG_WORKLOAD_SQL,                                         \
      "a subquery, or a table that is joined, is read as it was 20 commits before")                                    \
    X(SKIPPED_POLL, "skipped-poll", RIG_SIM_AT_ANY, RIG_SIM_LOGS, "a poll leaves out one of its records")              \
    X(EARLY_SEND, "early-send", RIG_SIM_AT_ANY, RIG_SIM_LOGS, "a record is in its log before its transaction commits") \
    X(REORDERED_SEND, "reordered-send", RIG_SIM_AT_ANY, RIG_SIM_LOGS,                                                  \
      "two sends of a transaction to a log get their offsets in reverse order")                                        \
    X(WRONG_OFFSET, "wrong-offset", RIG_SIM_AT_ANY, RIG_SIM_LOGS,                                                      \
      "a send is acknowledged with the offset of the record before its own")                                           \
    X(DOUBLE_GRANT, "double-grant", RIG_SIM_AT_ANY, RIG_SIM_LOCKS,                                                     \
      "an acquisition succeeds although the lock has no permit left, so that it has two owners")                       \
    X(DOUBLE_RELEASE, "double-release", RIG_SIM_AT_ANY, RIG_SIM_LOCKS,                                                 \
      "a release also takes a permit from another owner, which still works: a semaphore gives too many permits")       \
    X(REPEATED_TOKEN, "repeated-token", RIG_SIM_AT_ANY, RIG_SIM_LOCKS,                                                 \
      "an acquisition gives the token of the one before it")                                                           \
    X(STALE_WORK, "stale-work", RIG_SIM_AT_ANY, RIG_SIM_LOCKS,                                                         \
      "work under an old token is accepted after work under a larger one")                                             \
    X(EARLY_EXPIRY, "early-expiry", RIG_SIM_AT_ANY, RIG_SIM_LOCKS, "a lease ends after half of its time")

enum rig_sim_bug {
#define RIG_SIM_BUG_ENUM(id, name, levels, workloads, help) RIG_SIM_BUG_##id,
    RIG_SIM_BUG_TABLE(RIG_SIM_BUG_ENUM)
#undef RIG_SIM_BUG_ENUM
        RIG_SIM_BUG_COUNT
};

/* The names in the order of the enums, ended by NULL. */
extern const char *const rig_sim_isolation_names[];
extern const char *const rig_sim_bug_names[];

#define RIG_SIM_TICK_NS INT64_C(100000)
#define RIG_SIM_NONE    UINT32_MAX

struct rig_sim_options {
    int64_t isolation;   /* enum rig_sim_isolation */
    int64_t bug;         /* enum rig_sim_bug */
    double bug_rate;     /* chance that the bug strikes where it can */
    double abort_rate;   /* chance that the database aborts a transaction for no reason */
    double info_rate;    /* chance that a commit's answer is lost; it happened or it did not */
    double loss_rate;    /* chance that the connection breaks during a transaction */
    double move_rate;    /* chance that a poll of a log finds its consumer moved back */
    int64_t staleness;   /* commits; the lag of stale-read and non-monotonic-session */
    int64_t latency;     /* ticks; maximum of a step beyond one */
    int64_t think;       /* ticks; maximum pause of a session between two transactions */
    int64_t workers;     /* transactions in work at a time; the others wait for their turn; 0: all */
    int64_t patience_ns; /* real time; of the driver, not of the engine */
};

/* Rejects a bug that does not apply to the isolation level or the workload. */
enum rig_rc rig_sim_options_check(const struct rig_sim_options *options, enum rig_workload workload,
                                  struct rig_err *err);

/* A list that a transaction read: of lists of one key with the same origin, the first `origin_count` elements that both
 * have are the same. */
struct rig_sim_list {
    const int64_t *elements;
    uint32_t count;
    uint32_t origin_count;
    uint64_t origin;
};

/* The result of a transaction; arrays are the engine's, valid until the session's next begin. */
struct rig_sim_answer {
    int64_t invoke_ns, complete_ns; /* virtual */
    enum rig_outcome outcome;
    enum rig_phase phase;
    bool session_lost;
    const char *error_code; /* static; "" for ok */
    const char *error_text;
    uint64_t view;                /* number of the transaction's view in the certificate; 0: it has none */
    const struct rig_read *reads; /* parallel to the operations */
    const int64_t *elements;
    size_t element_count;
    int64_t held_ns;      /* virtual: time held; -1: not held */
    uint32_t held_before; /* operation */
};

struct rig_sim_counts {
    uint64_t commits, aborts, conflicts, pivots, deadlocks, mismatches;
};

struct rig_sim_engine;

/* Borrows nothing. NULL when memory runs out. 1 <= session_count < RIG_SIM_TICK_NS. */
struct rig_sim_engine *rig_sim_engine_new(const struct rig_sim_options *options, enum rig_workload workload,
                                          uint64_t seed, uint32_t session_count);
/* Before the first transaction: every key is an account. */
void rig_sim_engine_open_accounts(struct rig_sim_engine *engine, const struct rig_accounts *accounts);
/* Before the first transaction: keys below `count` have rows, which hold empty lists, or registers without a value. */
void rig_sim_engine_prefill(struct rig_sim_engine *engine, int64_t count);
/* Before the first transaction of the workload model: what its calls do. Borrows it. */
void rig_sim_engine_take_model(struct rig_sim_engine *engine, const struct rig_model_calls *calls);
/* Whether the simulated database gives a certificate of histories of that workload. */
static inline bool rig_sim_certifies(enum rig_workload workload)
{
    return (RIG_SIM_ROWS >> (unsigned)workload & 1) != 0;
}
/* Before the first transaction, and where rig_sim_certifies(): keeps the certificate; `full`: with views. */
void rig_sim_engine_certify(struct rig_sim_engine *engine, bool full);
/* Hands over its commits and views, but not its end. False when the sink gave up. */
bool rig_sim_engine_give_certificate(const struct rig_sim_engine *engine, const struct rig_certificate_sink *sink);
void rig_sim_engine_free(struct rig_sim_engine *engine);

/* The time of the session's next invocation; ascends. The session has no open transaction. */
int64_t rig_sim_engine_invoke_ns(const struct rig_sim_engine *engine, uint32_t session);

/*
 * Gives an idle session its next transaction. `ops` is borrowed until the answer; `hold` is honoured in virtual time.
 * Operations of the workload only; on objects, those of one operation (history/types/types.h).
 */
void rig_sim_engine_begin(struct rig_sim_engine *engine, uint32_t session, const struct rig_op *ops, uint32_t op_count,
                          const struct rig_hold *hold);

/* The transaction that the session has just begun rolls back; not on objects. */
void rig_sim_engine_roll_back_within(struct rig_sim_engine *engine, uint32_t session,
                                     const struct rig_rollback *rollback);
/* The same in place of its commit: it fails with RIG_ROLLED_BACK_CODE. */
void rig_sim_engine_roll_back_at_end(struct rig_sim_engine *engine, uint32_t session);

/*
 * Chooses one of the sessions with an open transaction (there must be one) and runs its next operation. Returns the
 * session when that completed its transaction, else RIG_SIM_NONE. Finitely many steps complete one.
 */
uint32_t rig_sim_engine_step(struct rig_sim_engine *engine);

/* Sessions with an open transaction. */
uint32_t rig_sim_engine_busy_count(const struct rig_sim_engine *engine);

/* Aborts the session's transaction, which has not committed: its answer is fail, the session is lost. */
void rig_sim_engine_cancel(struct rig_sim_engine *engine, uint32_t session);

/* The answer to the session's last transaction, which is complete. When memory runs out, it has no reads. */
void rig_sim_engine_answer(struct rig_sim_engine *engine, uint32_t session, struct rig_sim_answer *answer);
/* The same without elements: reads have states, counts and values. */
void rig_sim_engine_outcome(const struct rig_sim_engine *engine, uint32_t session, struct rig_sim_answer *answer);
/*
 * The lists that the session's last transaction read, parallel to its operations (empty for all others); valid until
 * the engine's next step. They are not copied, except for overwritten or uncommitted elements. NULL when memory runs
 * out, and for a transaction without operations.
 */
const struct rig_sim_list *rig_sim_engine_lists(struct rig_sim_engine *engine, uint32_t session);

/* The idle session has waited until now: its next invocation is not earlier. */
void rig_sim_engine_catch_up(struct rig_sim_engine *engine, uint32_t session);
/* Forgets every write to the key, which no open transaction has named; a key that is used again begins empty. */
void rig_sim_engine_forget(struct rig_sim_engine *engine, int64_t key);

#endif
