/*
 * Shared by the files of the simulated database: the engine's state, and its isolation rules.
 */
#ifndef RIG_DRIVERS_SIM_ENGINE_PRIV_H
#define RIG_DRIVERS_SIM_ENGINE_PRIV_H

#include "base/heap.h"
#include "base/rng.h"
#include "drivers/sim/engine.h"
#include "drivers/sim/sim_choice.h"
#include "drivers/sim/sim_predicates.h"
#include "drivers/sim/sim_store.h"

/* A transaction's writes to one key: its nodes from `base`, exclusive, to `tip`. */
struct rig_sim_write {
    uint32_t key;
    uint32_t base;
    uint32_t tip;
};

RIG_VEC(struct rig_sim_write, rig_sim_writes)
RIG_VEC(struct rig_read, rig_sim_results)
RIG_VEC(int64_t, rig_sim_elements)

/* The result of a read: a node of the key. */
struct rig_sim_seen {
    uint32_t key;
    uint32_t node; /* RIG_SIM_NO_NODE: the initial state, or not a read that was answered */
    bool reordered;
    bool headless; /* without its first element */
};

RIG_VEC(struct rig_sim_seen, rig_sim_sights)
RIG_VEC(struct rig_sim_list, rig_sim_lists)

/* The place where a session with an open transaction waits for its next step (sim_choice.c). */
enum rig_sim_place {
    RIG_SIM_NOWHERE, /* no open transaction */
    RIG_SIM_READY,   /* among those from which the next step is chosen */
    RIG_SIM_QUEUED,  /* for one of the workers */
    RIG_SIM_LOCKED,  /* for the lock of its wanted key */
    RIG_SIM_TIMED,   /* for a time */
    RIG_SIM_COUNTED, /* for commits of others */
};

/*
 * A transaction's state from its first step on. It is its session's until the next begin; then another transaction
 * takes it, so that only as many are in use as transactions in work, and they stay in the cache.
 */
struct rig_sim_work {
    struct rig_sim_writes writes;
    struct rig_sim_writes saved; /* as they were at the savepoint */
    struct rig_sim_ids reads;    /* keys read from the snapshot; serializable only */
    struct rig_sim_ids locks;    /* keys with a lock of the session */
    struct rig_sim_results results;
    struct rig_sim_sights seen;       /* parallel to the results */
    struct rig_sim_lists lists;       /* parallel to the results; made on demand */
    struct rig_sim_elements apart;    /* of lists that are not on the trunk of their key; of all polls of logs */
    struct rig_sim_elements elements; /* of all lists; made on demand */
    struct rig_sim_predicate_work predicate;
    struct rig_sim_work *next; /* unused one */
};

struct rig_sim_session {
    /* the choice of the next step */
    enum rig_sim_place place;
    uint32_t wanted_key; /* for the lock that it waits for, or UINT32_MAX */
    bool wants_write;

    /* the open transaction */
    bool busy;
    bool begun; /* has a snapshot, and work */
    bool holding;
    bool wants_hold; /* a hold is still to come */
    bool rolls_back; /* in place of its commit, on purpose */
    uint32_t next_op;
    uint32_t op_count;
    uint32_t abort_at; /* operation before which it is aborted, op_count: at the commit; UINT32_MAX: never */
    uint32_t lose_at;  /* operation before which its connection is lost, in the same way */
    const struct rig_op *ops;
    struct rig_sim_work *work; /* NULL before it is begun */
    uint64_t id;
    struct rig_sim_snapshot snapshot;
    uint64_t last_seen; /* the newest commit that an earlier snapshot showed or that it made */
    int64_t invoke_ns;
    int64_t next_ns; /* invocation of the next transaction */
    uint8_t site;

    /* the answer */
    bool session_lost;
    enum rig_outcome outcome;
    enum rig_phase phase;
    int64_t complete_ns;
    const char *error_code;
    const char *error_text;

    /* needed by some transactions only */
    struct rig_rollback rollback; /* to == 0 once it is done, and then */
    struct rig_rollback undone;   /*   it is here */
    struct rig_hold hold;
    int64_t held_from_ns;        /* while it holds */
    int64_t held_ns;             /* how long it held; -1: it has not */
    int64_t hold_until_ns;       /* when it holds for a time, else 0 */
    uint64_t hold_until_commits; /* when it holds for others' commits */
    uint32_t next_waiter;        /* the next session that waits for a lock of the same key */
    uint32_t mark;               /* number of the last deadlock search that visited it */
};

/* garbage-read: larger than any value of a generator. */
#define RIG_SIM_INVENTED_VALUE (INT64_C(1) << 52)

enum { RIG_SIM_AHEAD = 8, RIG_SIM_MANY = 1024 };

struct rig_sim_engine {
    struct rig_sim_options options;
    enum rig_workload workload;
    bool has_objects; /* the workload is one of objects */
    bool has_logs;    /* it is log */
    struct rig_accounts accounts;
    int64_t prefilled_keys;
    struct rig_rng rng;
    const struct rig_model_calls *calls; /* of a model */
    struct rig_sim_values called;        /* scratch: the state after a call */
    struct rig_sim_store store;
    bool has_tables; /* the workload is one of tables of rows */
    struct rig_sim_predicates predicates;
    struct rig_sim_session *sessions;
    struct rig_sim_work *unused_work;
    uint32_t session_count;
    uint32_t busy_count;
    int64_t now_ticks;
    uint64_t next_id;
    uint64_t commit;                     /* number of the last commit */
    uint64_t remote[RIG_SIM_SITE_COUNT]; /* long-fork: the last commit of the other site that a site shows */
    uint32_t mark;                       /* number of the last search for a deadlock */
    uint32_t *stack;                     /* session_count entries, for that search */
    uint64_t oldest, oldest_until;       /* oldest snapshot, as long as there are fewer commits */
    struct rig_sim_ready ready;          /* sessions from which the next step is chosen */
    bool draws_ahead;                    /* more transactions are in work than the cache holds */
    uint32_t ahead[RIG_SIM_AHEAD];       /* sessions drawn for the next steps; RIG_SIM_NONE: none */
    uint32_t ahead_at;                   /* index of the next one */
    uint32_t working_count;              /* transactions that are under way: they have begun and are not queued */
    struct rig_heap queued;              /* for a worker, by invocation */
    struct rig_heap timed;               /* until a time, ns */
    struct rig_heap counted;             /* until a number of commits */
    struct rig_sim_counts counts;
};

/* The result of one operation or commit of a session. */
enum rig_sim_progress {
    RIG_SIM_WENT_ON,
    RIG_SIM_BLOCKED,    /* on wanted_key */
    RIG_SIM_COMMITTED,  /* the rules allow the commit, and it has committed */
    RIG_SIM_CONFLICT,   /* must abort: another transaction committed first */
    RIG_SIM_PIVOT,      /* must abort: it would complete a dangerous structure */
    RIG_SIM_CONSTRAINT, /* must abort: it would leave rows that break a constraint */
    RIG_SIM_MISMATCH,   /* must abort: an object is not as the operation expects */
    RIG_SIM_DEADLOCK,   /* must abort: the waits form a cycle */
    RIG_SIM_POOR,       /* must abort: a balance would be below 0 */
    RIG_SIM_NO_MEMORY,  /* must abort */
};

/* True with the chance `bug-rate` when this is the engine's bug. */
bool rig_sim_bug_strikes(struct rig_sim_engine *engine, enum rig_sim_bug bug);

/* Isolation rules (sim_isolation.c). */
void rig_sim_take_snapshot(struct rig_sim_engine *engine, struct rig_sim_session *session);
enum rig_sim_progress rig_sim_run_read(struct rig_sim_engine *engine, struct rig_sim_session *session);
enum rig_sim_progress rig_sim_run_write(struct rig_sim_engine *engine, struct rig_sim_session *session);
/* Before an operation: sets the transaction's savepoint or rolls back to it where that is due; false: no memory. */
bool rig_sim_pass_savepoint(struct rig_sim_engine *engine, struct rig_sim_session *session);
enum rig_sim_progress rig_sim_commit(struct rig_sim_engine *engine, struct rig_sim_session *session);
/* Undoes the writes of the session's transaction and releases its locks. */
void rig_sim_roll_back(struct rig_sim_engine *engine, struct rig_sim_session *session);

/* Runs the whole transaction, one operation on an object, at once (sim_objects.c). */
enum rig_sim_progress rig_sim_apply(struct rig_sim_engine *engine, struct rig_sim_session *session);
/* The same for locks with owners. */
enum rig_sim_progress rig_sim_apply_to_lock(struct rig_sim_engine *engine, struct rig_sim_session *session);
/* The same for a call of a model. */
enum rig_sim_progress rig_sim_apply_call(struct rig_sim_engine *engine, struct rig_sim_session *session);

/* Logs (sim_logs.c). A transaction takes effect at its commit. Before it, at an operation, and to undo it: */
enum rig_sim_progress rig_sim_commit_logs(struct rig_sim_engine *engine, struct rig_sim_session *session);
enum rig_sim_progress rig_sim_run_log_operation(struct rig_sim_engine *engine, struct rig_sim_session *session);
void rig_sim_roll_back_logs(struct rig_sim_engine *engine, struct rig_sim_session *session);

/* Tables of rows (sim_predicates.c). */
enum rig_sim_progress rig_sim_run_row_operation(struct rig_sim_engine *engine, struct rig_sim_session *session);
enum rig_sim_progress rig_sim_commit_rows(struct rig_sim_engine *engine, struct rig_sim_session *session);
void rig_sim_roll_back_rows(struct rig_sim_engine *engine, struct rig_sim_session *session);
/* The transaction is acknowledged: keeps its view, where views are asked for. False when memory runs out. */
bool rig_sim_view_rows_of(struct rig_sim_engine *engine, struct rig_sim_session *session);

/* The choice of the next step (sim_choice.c). Heaps have room for every session. */

/* The session's transaction is new, or its step has to wait: it continues when the awaited event has come. */
void rig_sim_place(struct rig_sim_engine *engine, uint32_t session);
/* The session's transaction is complete, or about to be rolled back wherever it waits. */
void rig_sim_displace(struct rig_sim_engine *engine, uint32_t session);
/* Chooses the session with the next step; advances the time when no session can go on. */
uint32_t rig_sim_choose(struct rig_sim_engine *engine);

/* Locks (sim_choice.c): two modes on a key, held until the end of the transaction. Takes the lock, or returns BLOCKED
 * (wanted_key is set), DEADLOCK when the wait could not end, or NO_MEMORY. */
enum rig_sim_progress rig_sim_lock(struct rig_sim_engine *engine, uint32_t session, uint32_t key, bool write);
void rig_sim_unlock_all(struct rig_sim_engine *engine, uint32_t session);

static inline uint32_t rig_sim_session_index(const struct rig_sim_engine *engine, const struct rig_sim_session *session)
{
    return (uint32_t)(session - engine->sessions);
}

#endif
