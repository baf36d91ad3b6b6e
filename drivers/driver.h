/*
 * The driver contract: the interface between rig and a database.
 *
 * A driver is a shared object `rig-driver-<name>.so` that exports one `const struct rig_driver rig_driver`. It includes
 * this header and needs no other; it links nothing of rig. rig searches for it beside its own binary, in
 * RIG_DRIVER_PATH and in its library folder, and rejects a wrong ABI number or a missing required hook before any
 * thread starts. drivers/skeleton.c is the manual by example, docs/driver-guide.md the one in prose.
 *
 * Life of a run, on the main thread except where noted:
 *
 *     init -> [cluster.start] -> setup -> {open -> transact* -> close}* per client thread -> teardown
 *          -> [cluster.stop] -> done
 *
 * `init` leaves the run object safe for `done` even when it fails; teardown runs when setup was called, cluster.stop
 * when cluster.start was called, each also when that call failed. The core allocates run, session and options objects,
 * zeroed, of the sizes given; the driver owns the memory that they point to.
 *
 * Blocking: every hook is bounded by the time-outs in the driver's own options. `interrupt` never blocks.
 * Errors: rig_fail() with RIG_E_CLUSTER or RIG_E_DRIVER and a text that names the node and the remedy.
 */
#ifndef RIG_DRIVERS_DRIVER_H
#define RIG_DRIVERS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/option.h"
#include "drivers/fault.h"
#include "drivers/rows.h"
#include "drivers/texts.h"
#include "history/model/transaction.h"
#include "history/types/sql_forms.h"

#define RIG_DRIVER_ABI    21u
#define RIG_DRIVER_SYMBOL "rig_driver"
#define RIG_DRIVER_EXPORT __attribute__((visibility("default")))

/* Bits for rig_driver.workloads. */
#define RIG_WORKLOAD_BIT(workload) (UINT64_C(1) << (workload))

enum { RIG_ERROR_CODE_BYTES = 32, RIG_ERROR_TEXT_BYTES = 256 };

/* The phase of a transaction at an event. */
enum rig_phase {
    RIG_PHASE_CONNECT,   /* nothing of the transaction was sent */
    RIG_PHASE_BEGIN,     /* the transaction was being opened */
    RIG_PHASE_OPERATION, /* before anything that could commit was sent */
    RIG_PHASE_COMMIT,    /* a commit was sent (or may have been): its fate may be unknown */
};

/* The reason of a failed transaction, where clients should wait before the next one (plan: clients.back-off). A lost
 * connection is told by session_lost. */
enum rig_error_class {
    RIG_ERROR_OTHER,
    RIG_ERROR_CONFLICT,  /* with another transaction: a serialization failure, a deadlock, a lock time-out */
    RIG_ERROR_RESOURCES, /* the server lacks memory, locks, disk or connections */
    RIG_ERROR_CLASS_COUNT
};

/*
 * A pause that the generator asks for inside a transaction ("long transactions"). The driver calls core->hold() when
 * `before_op` operations are done (before_op == op_count: just before the commit). A driver that sends a transaction in
 * one request ignores it, and leaves RIG_DRIVER_HOLDS out of its features.
 */
struct rig_hold {
    bool wanted;
    uint32_t before_op;
    int64_t duration_ns;    /* hold for this long; 0: see other_commits */
    uint64_t other_commits; /* when > 0: hold until this many transactions of other clients have committed */
};

/*
 * Operations that the transaction undoes and goes on without: the driver sets a savepoint before operation `from`, and
 * rolls back to it before operation `to`. `to` is below op_count. The writes between them are undone; a read between
 * them is of a key that none of them has written before it, so it is a read like any other. A COMMIT that could succeed
 * without that rollback must not be sent.
 */
struct rig_rollback {
    uint32_t from, to; /* equal: nothing is undone */
};

static inline bool rig_rollback_wanted(const struct rig_rollback *rollback)
{
    return rollback->from < rollback->to;
}

/* Whether the operation is undone. */
static inline bool rig_rollback_undoes(const struct rig_rollback *rollback, const struct rig_op *ops, uint32_t op)
{
    return op >= rollback->from && op < rollback->to && !rig_op_reads(ops[op].kind);
}

/* The operations before `op` that are not undone: the number that it has without those. */
static inline uint32_t rig_rollback_number(const struct rig_rollback *rollback, const struct rig_op *ops, uint32_t op)
{
    uint32_t number = op;
    for (uint32_t i = rollback->from; i < op && i < rollback->to; i++)
        number -= rig_rollback_undoes(rollback, ops, i);
    return number;
}

/*
 * Increments. One of a key that the transaction has read before is a read-modify-write: the driver writes the sum of
 * what was read (a key that does not exist: 0, or the balance of an account) and of the transaction's increments since
 * then, so that a database that loses updates shows it. Any other is one statement that adds, where the database has
 * one.
 *
 * Strings, of the workload append-register. A string is one to 18 digits from 1 to 9, and travels as the number that it
 * spells. A write replaces it, and RIG_OP_EXTEND appends one digit: 46 and an append of 2 make 462; a key that does not
 * exist is the empty string. An append to a string of RIG_STRING_FULL or more has no effect and fails.
 */
#define RIG_STRING_FULL 100000000000000000 /* 10^17: 18 digits */

/*
 * One transaction on its way through a driver. The first part is the question, written by the core and constant for the
 * driver; the second is the answer, cleared by the core and written by the driver.
 */
struct rig_transaction {
    /* the question */
    const struct rig_op *ops;
    uint32_t op_count;
    struct rig_hold hold;
    struct rig_rollback rollback; /* with RIG_DRIVER_SAVEPOINTS */
    /* With RIG_DRIVER_ROLLBACKS: the driver sends ROLLBACK in place of COMMIT, and answers fail with
     * RIG_ROLLED_BACK_CODE, unless an operation has failed before. A COMMIT must not be sent. */
    bool rolls_back;
    bool delayed;    /* call core->delay() between two operations; with RIG_DRIVER_HOLDS */
    uint32_t client; /* 0 .. client_count-1 */
    bool read_only;  /* no operation writes */
    uint32_t node;   /* 1 + the node that is to answer, 0: any; not 0 for reads only, with RIG_DRIVER_NODES */

    /* the answer */
    struct rig_read *reads; /* op_count entries, with the state RIG_READ_UNKNOWN; fill those of answered reads */
    int64_t *elements;      /* list elements of all reads; memory from core->elements(), indexed by first_element */
    size_t element_count;
    size_t element_capacity;
    enum rig_phase phase;             /* the phase that it reached; for fail and info */
    enum rig_error_class error_class; /* for fail and info; optional */
    bool session_lost;                /* the session can no longer be used: the core closes it and opens another */
    bool answers_void; /* the answers did not fit the requests: the core records the transaction's reads as unknown; for
                          fail and info */
    /* Side columns, for every outcome, RIG_COLUMN_ORDER for ok only. The driver gives those that it lists in
       rig_driver.columns; the core gives those of holds. */
    struct rig_column_row columns;
    /* Start and end of each operation on the clock of core->now_ns(), 2 * op_count numbers; NULL: not wanted. A driver
     * that waits for the answer to one operation before it sends the next calls rig_op_began() and rig_op_ended(). */
    int64_t *times;
    char error_code[RIG_ERROR_CODE_BYTES]; /* short and stable ("40001", "timeout"), empty for ok */
    char error_text[RIG_ERROR_TEXT_BYTES]; /* one line for a person; the core redacts secrets */
    void *core_private;
};

/* A server that rig started has ended although rig did not end it. Borrowed. */
struct rig_server_end {
    const char *node; /* its name */
    int signal;       /* that killed it; 0: it ended with `exit_status` */
    int exit_status;
    const char *log_tail; /* the last lines of its log, as one line; empty: there are none */
};

/* Services of the core. Every function may be called from any thread. */
struct rig_core {
    uint32_t abi;
    /* level: 0 error, 1 warning, 2 information, 3 debugging; goes to rig.log, redacted */
    void (*log)(int level, const char *area, const char *format, ...) RIG_PRINTF(3, 4);
    /* ns of the run's monotonic clock */
    int64_t (*now_ns)(void);
    /* Memory for `count` (0 included) more elements behind transaction->element_count (which the driver advances), or
     * NULL when the transaction's elements would exceed the core's maximum (64 MiB): then answer info or fail, by
     * phase. May move transaction->elements. */
    int64_t *(*elements)(struct rig_transaction *transaction, size_t count);
    /* Blocks as transaction->hold requires; returns early, with false, when the run is ending. */
    bool (*hold)(struct rig_transaction *transaction);
    /* Blocks for a pause that the plan wants between two operations (rig_transaction.delayed); returns early, with
     * false, when the run is ending. */
    bool (*delay)(struct rig_transaction *transaction);
    /* True once the run is ending early (a signal): stop retries and waits. */
    bool (*stopping)(void);
    /*
     * The port to connect to in place of `host`:`port`, where node `to` listens (TCP), when coming from `from` (a
     * node's name, or "client"): a port of rig's own proxy on 127.0.0.1 when the plan has faults of the network, else
     * the same port. One call a pair and run, before the first connection; the route stays the same for the run. A node
     * that listens on another port after a restart calls again.
     */
    enum rig_rc (*route)(const char *from, const char *to, const char *host, uint16_t port, uint16_t *via,
                         struct rig_err *err);
    /* True when the plan has faults of the network: nodes must listen on TCP, and every connection take its route. */
    bool (*routed)(void);
    /*
     * The number of a name, for side columns of names: the same text has the same number throughout the run. From
     * `init` on. Locks and may allocate: call it in `open`, or when the name changes, not for each transaction. A node
     * has the name that faults and reports use ("pg-1"), or "host:port" where rig did not start it. RIG_COLUMN_NONE for
     * a text that is empty, has control characters or needs RIG_COLUMN_NAME_BYTES or more, and when memory runs out:
     * leave the column out.
     */
    int64_t (*name)(const char *text);
    /*
     * Call it before creating something that stays on a server if rig is killed: keeps `text`, one line that describes
     * it and the way to remove it, in rig's journal on disk. After a kill the next start of rig, or `rig heal`, shows
     * the line. Copies the text; writes to disk. From the main thread, in `setup` and `teardown`. Returns the
     * reminder's number, or 0 when it cannot be kept (the log has the reason); the driver goes on then.
     */
    uint64_t (*remind)(const char *text);
    /* The object was removed: drops the reminder; 0 is ignored. */
    void (*forget)(uint64_t reminder);
    /*
     * A server that rig started has ended by itself, or by a signal that rig did not send: the run keeps that as
     * evidence (plan: check.server-crash). Returns whether the driver may start it again: not while a fault that can
     * end a server affects this node, which is started when that fault is healed. Locks and writes to the log.
     */
    bool (*server_ended)(const struct rig_server_end *end);
};

/* The operation is about to be sent. */
static inline void rig_op_began(const struct rig_core *core, struct rig_transaction *transaction, uint32_t op)
{
    if (transaction->times != NULL)
        transaction->times[2 * (size_t)op] = core->now_ns();
}

/* The number of the transaction's first operations that have times. */
static inline int64_t rig_times_count(const struct rig_transaction *transaction)
{
    const bool given = (transaction->columns.given & RIG_COLUMN_BIT(RIG_COLUMN_TIMES)) != 0;
    return given ? transaction->columns.at[RIG_COLUMN_TIMES] : 0;
}

/* It was answered, perhaps by an error. Operations that come after one without times have none. */
static inline void rig_op_ended(const struct rig_core *core, struct rig_transaction *transaction, uint32_t op)
{
    if (transaction->times == NULL || rig_times_count(transaction) != (int64_t)op)
        return;
    transaction->times[2 * (size_t)op + 1] = core->now_ns();
    rig_column_give(&transaction->columns, RIG_COLUMN_TIMES, (int64_t)op + 1);
}

/*
 * The accounts of the workload bank: keys 0 to count - 1. An account that nothing has changed yet has `balance`:
 * `setup` opens all of them with it, or the driver takes it for keys that do not exist.
 */
struct rig_accounts {
    int64_t count; /* 0: another workload */
    int64_t balance;
    bool negative; /* balances may be below 0; else the driver aborts a transfer that would leave one: a fail */
};

/* A request of the run to the database itself, beside the answers to clients (docs/adr/0034-certificates.md). */
enum rig_certificate_mode {
    RIG_CERTIFICATE_NONE,
    RIG_CERTIFICATE_STREAM, /* the order of commits and versions; what clients send does not change */
    RIG_CERTIFICATE_FULL,   /* that, and the views of transactions: each has the side column `view` with its number */
};

/* Where `certify` puts a certificate. The functions return false when memory runs out, or for a commit out of order:
 * then give up. */
struct rig_certificate_sink {
    void *context;
    /* A commit. `place` ascends: its place in the database's order; `id`: the database's number of the transaction, 0:
     * none; `timeline`: of the server, 0: there is no such thing. */
    bool (*commit)(void *context, uint64_t place, uint64_t id, uint32_t timeline);
    /* A version that the last commit made, in the order in which it made them: all elements of a list, or the one value
     * of a register; NULL: the key was removed. */
    bool (*version)(void *context, int64_t key, const int64_t *elements, uint32_t count);
    /* After the commits: a failover left `timeline` at `place` for the timeline `next`; ascending. Then the commits of
     * former timelines from their forks on, which are lost, by ascending timeline and place, with their versions; only
     * those of a timeline whose commits before its fork are all there. */
    bool (*fork)(void *context, uint32_t timeline, uint64_t place, uint32_t next);
    bool (*lost)(void *context, uint64_t place, uint64_t id, uint32_t timeline);
    /* With RIG_CERTIFICATE_FULL, after the commits (history/model/txn_views.h): a view, by ascending number; then its
     * rows, by ascending operation as the history numbers them, and before the first row that has it a new snapshot.
     * `id`: the transaction's own number, 0: none is known; `single`: one snapshot serves all statements; `version`:
     * number of the transaction that wrote the row, 0: no row; `active`: in progress, ascending, from xmin to below
     * xmax. */
    bool (*view)(void *context, uint64_t number, uint64_t id, bool single, bool standby);
    bool (*snapshot)(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count);
    bool (*row)(void *context, uint32_t op, uint64_t version, bool with_snapshot);
    /* Once, at the end. `complete`: no commit of the run is missing, and none can follow; else `why` says what may be
     * missing. */
    void (*end)(void *context, bool complete, const char *why);
};

struct rig_buf;

/*
 * The calls of the workload model (docs/models.md). A transaction is one: RIG_OP_CALL with the number of the
 * operation's name, RIG_OP_ARGUMENT for each argument, and RIG_OP_RESULT, whose read the driver fills in; its key is
 * the object. A value is an integer, or a number below -2^62 that stands for another value.
 */
struct rig_model_calls {
    const void *specification; /* the first argument of execute() */
    /* Adds the value as JSON. */
    void (*write)(int64_t value, struct rig_buf *json);
    /* The value of this JSON; false: it is none, or memory runs out. */
    bool (*read)(const char *json, size_t length, int64_t *value);
    /* Executes the call, for a driver that simulates the object: a state is numbers, at first none. `random` chooses
     * where several cases are possible. False: the call is impossible, or the new state, at `to`, has no room. */
    bool (*execute)(const void *specification, const struct rig_op *ops, uint32_t count, uint64_t random,
                    const int64_t *from, size_t from_count, int64_t *to, size_t room, size_t *to_count,
                    struct rig_read *result);
};

/* The run, as a driver sees it; borrowed, valid until `done` returns. */
struct rig_run_env {
    const struct rig_core *core;
    const void *options; /* the driver's options object, filled and range-checked */
    enum rig_workload workload;
    uint32_t client_count;
    uint64_t seed;
    const char *work_dir; /* an existing empty folder of this run, for the driver's files; removed after the run. Its
                             path is short enough for a socket's, and every user may pass through it (mode 0711) */
    const char *log_dir;  /* the run's folder; put the nodes' logs there */
    /*
     * The run's name on a server, unique over all runs on all machines: `rig_20260131_235959_0f3a9c51`, at most 40
     * characters of a-z, 0-9 and `_`, a letter first. The driver creates a schema, a database or a prefix of this name,
     * works in it alone, and removes nothing else.
     */
    const char *run_name;
    /* The tables and statements of the programs that clients run by rows->run_program; NULL: they use `transact`. */
    const struct rig_row_schema *rows;
    /* Sessions send texts (drivers/texts.h), and `rows` has no tables; NULL: they do not. */
    const struct rig_text_env *texts;
    struct rig_accounts accounts;
    /* With RIG_DRIVER_PREFILLS: `setup` makes a row for each of the keys 0 to this - 1, an empty list or a register
     * without a value. Every session sees these rows, on every server. 0: keys have no row before their first write. */
    int64_t prefilled_keys;
    bool rolls_back;  /* some transactions have a rollback */
    uint32_t clauses; /* of sql: bits of enum rig_row_clause_kind and RIG_ROW_HAS_...: what statements have */
    enum rig_certificate_mode certificate; /* one that rig_driver.certificates has, or NONE */
    const struct rig_model_calls *calls;   /* of the workload model; NULL: another one */
};

/* One node, as health and reports show it. */
struct rig_node_status {
    char name[RIG_NODE_NAME_BYTES];
    char role[16];  /* "primary", "standby", "leader", "member", ...; empty: not known */
    bool reachable; /* it answers */
    bool healthy;   /* it answers and has caught up: no fault has an effect any more */
    pid_t pid;      /* main process when rig started it, else 0 */
    char detail[128];
};

enum { RIG_NODE_HOST_BYTES = 256, RIG_NODE_SOCKET_BYTES = 256 };

/* The node's own address, not a port of core->route(). At least one of host and socket is given. */
struct rig_node_address {
    char host[RIG_NODE_HOST_BYTES];     /* a host name or an IP address; empty: the node does not listen on TCP */
    uint16_t port;                      /* the TCP port, or the number in a socket's name (PostgreSQL); 0: none */
    char socket[RIG_NODE_SOCKET_BYTES]; /* its socket on this machine, or the socket's folder; empty: none */
};

/* The way to stop a node. */
enum rig_node_end {
    RIG_NODE_KILL,      /* SIGKILL to each of its processes */
    RIG_NODE_IMMEDIATE, /* the database's own way without a clean shutdown; as RIG_NODE_KILL where there is none */
    RIG_NODE_FAST,      /* a clean shutdown that does not wait for clients */
};

/* A setting of `database.cluster.local.settings` that `rig hunt` varies (docs/hunt.md). */
struct rig_server_variation {
    const char *name, *values; /* values separated by blanks */
    /* The database promises with each value what it promises without, except at this level of `database.isolation`
     * (NULL: none), where it promises other levels of rig, separated by commas. */
    const char *level, *promise;
};

/* Optional group: a cluster that the driver can start itself. Required members are marked (r). */
struct rig_cluster_ops {
    /* True when these options ask rig to start the cluster (and not to use an existing one). (r) */
    bool (*wanted)(const void *options);
    /* Optional: whether a server of this version (NULL: of the options' own, true where they name none) is installed,
     * such that `start` finds it. Reads folders alone. */
    bool (*has_version)(const void *options, const char *version);
    /* Starts every node and waits until they answer. Blocks up to the start time-out. Processes are children of rig.
     * (r) */
    enum rig_rc (*start)(void *run, struct rig_err *err);
    /* Stops every process that `start` started and removes their files, always; safe after a failed start, safe to
     * repeat. (r) */
    void (*stop)(void *run);
    /* Kills at once, from a signal handler or rig_bug(): only async-signal-safe calls. (r) */
    void (*kill_now)(void *run);
    uint32_t (*node_count)(const void *run);
    /* Asks the node, for at most a second. From any thread. RIG_OK also for a node that is down. */
    enum rig_rc (*status)(void *run, uint32_t node, struct rig_node_status *status, struct rig_err *err);

    /* The members below are for faults: from the nemesis's thread, one call at a time, while the load goes on. All
     * optional. */

    /* Ends a node's processes and waits until they are reaped. RIG_OK for a node that is already down. */
    enum rig_rc (*stop_node)(void *run, uint32_t node, enum rig_node_end how, struct rig_err *err);
    /* Starts a node that is down, over its existing data, and waits until it answers. RIG_OK for a node that runs. */
    enum rig_rc (*start_node)(void *run, uint32_t node, struct rig_err *err);
    /* Makes `node` the primary and points the other answering nodes at it. The old primary is left alone. */
    enum rig_rc (*promote)(void *run, uint32_t node, struct rig_err *err);
    /*
     * Restores every node: starts those that are down, makes followers of all but the primary (rebuilt from the primary
     * where their data diverged), and waits until each is healthy. Ends a fault of roles, and the load.
     */
    enum rig_rc (*restore)(void *run, struct rig_err *err);
    /* Process numbers of the node, the main one first; returns their count, and fills at most `capacity`. */
    uint32_t (*processes)(void *run, uint32_t node, pid_t *pids, uint32_t capacity);
    /* Whether a process of `processes` serves a session of a client, now; of processes in the background false. From
     * any thread. Optional: the database has no such processes, or they cannot be told apart. */
    bool (*is_session)(pid_t pid);
    /* The folder that holds the node's data. */
    const char *(*data_dir)(const void *run, uint32_t node);
    /* Sets a variable of the environment of the node's processes, from its next start on (NULL: removes it), for faults
     * that preload a library. Also before `start`, from `init` on, when node_count already has the number of nodes. */
    enum rig_rc (*set_environment)(void *run, uint32_t node, const char *name, const char *value, struct rig_err *err);
    /* This database's own faults, one object each; ended by NULL; NULL for none. */
    const struct rig_fault *const *faults;
    /*
     * The node's address, for commands of the plan (`{host}`, `{port}`, `{socket}`); also for a node that is down, and
     * for hosts that the plan gives, when node_count counts them. Does not contact the node. RIG_E_CLUSTER when there
     * is no such node, and before `start`. From the main thread and the nemesis's.
     */
    enum rig_rc (*address)(void *run, uint32_t node, struct rig_node_address *address, struct rig_err *err);
    /* RIG_NEED_... of faults that a cluster with these options cannot meet, although the driver has the hooks or the
     * feature for it: RIG_NEED_ROUTES when connections do not take core->route() with these options. NULL: 0. Also for
     * options that do not ask rig to start the cluster. */
    uint64_t (*lacks)(const void *options);
    /* Optional: tells the settings of a plan ("database.cluster.hosts=[127.0.0.1:5432]") with which another rig of this
     * account uses the nodes that `start` started; they may have a password. Not told: settings of `local`, which such
     * a plan has none of. From the main thread. */
    enum rig_rc (*access)(void *run, void (*tell)(void *context, const char *setting), void *context,
                          struct rig_err *err);
    const struct rig_server_variation *varied; /* ended by a NULL name; NULL for none */
};

/* A few transactions whose requests a script sends one after the other. */
struct rig_script_turn {
    uint32_t transaction;
    bool ends; /* its requests that commit; else those before them, and all of one that only reads */
};
struct rig_script_part {
    const char *title; /* a line that says what the script shows */
    const struct rig_transaction
        *transactions;        /* their questions, and the answers that their reads are to give again */
    const uint32_t *names;    /* of the transactions, in the script's words: T5 */
    const bool *acknowledged; /* the others' outcomes and answers mean nothing */
    uint32_t transaction_count;
    const struct rig_script_turn *turns;
    uint32_t turn_count;
};

/* Takes the texts of the forms that the statements of a workload have (history/types/sql_forms.h). */
struct rig_statement_texts {
    /* Once a form that the run may send. Several statements of one form are a line each, in their order; a line that
     * begins with -- is a remark. Copies the text. */
    void (*tell)(void *context, enum rig_sql_form form, const char *text);
    void *context;
    int64_t table_count; /* by the driver, for the placeholder $5; stays 0 where it tells no form */
    bool locks_some;     /* by the driver: of the reads in transactions that write, some lock and some do not */
};

/* Bits for rig_driver.certificates. */
#define RIG_CERTIFICATE_BIT(mode) (UINT32_C(1) << (mode))
/* Beside them: a commit has only the last version of each key, in any order of the keys
 * (history/model/certificate.h). */
#define RIG_CERTIFICATE_LAST_VERSIONS (UINT32_C(1) << 31)

/* Bits for rig_driver.features. */
#define RIG_DRIVER_HOLDS      UINT64_C(1) /* honours rig_transaction.hold and delayed */
#define RIG_DRIVER_NODES      UINT64_C(2) /* honours rig_transaction.node */
#define RIG_DRIVER_ROUTES     UINT64_C(4) /* takes every connection by core->route() while core->routed() */
#define RIG_DRIVER_SAVEPOINTS UINT64_C(8) /* honours rig_transaction.rollback */
/*
 * With options that name existing servers, sessions need nothing of `setup` but what it creates there under
 * env->run_name. So other processes, on other machines too, can open sessions of the same run: they call init, open,
 * transact, close and done, and neither setup nor teardown. Clients are numbered over all processes.
 */
#define RIG_DRIVER_JOINS UINT64_C(16)
/*
 * `setup` makes the rows of env->prefilled_keys. A read of a list shows that its row is there: an empty list, where a
 * key without a row is nil. A register without a value is nil in either case.
 */
#define RIG_DRIVER_PREFILLS UINT64_C(32)
/* Statements of the workload sql may have subqueries whose rows their answers show (history/types/row_ops.h). */
#define RIG_DRIVER_SUBQUERIES UINT64_C(64)
#define RIG_DRIVER_ROLLBACKS  UINT64_C(128) /* honours rig_transaction.rolls_back */
#define RIG_DRIVER_LOCK_KINDS UINT64_C(256) /* locks have limits and leases, not one owner alone */

struct rig_driver {
    uint32_t abi;         /* RIG_DRIVER_ABI */
    uint32_t struct_size; /* sizeof(struct rig_driver) */
    const char *name;     /* as in `driver: postgres` and in the file's name */
    const char *summary;  /* one line for `rig list drivers` */
    uint64_t workloads;   /* RIG_WORKLOAD_BIT()s */
    uint64_t features;
    const struct rig_option *options; /* ended by a NULL name; NULL for none */
    size_t options_size;
    size_t run_size;
    size_t session_size;

    /* Rejects options that contradict each other. No I/O except reading files that the options name. Optional. */
    enum rig_rc (*check)(const void *options, enum rig_workload workload, struct rig_err *err);
    /* Required. No I/O beyond work_dir. */
    enum rig_rc (*init)(void *run, const struct rig_run_env *env, struct rig_err *err);
    void (*done)(void *run);
    /* Creates the tables or the like that the workload needs, empty. Optional. */
    enum rig_rc (*setup)(void *run, struct rig_err *err);
    void (*teardown)(void *run);

    /*
     * On the client's thread. Connects; required. After a failure the core closes the object, zeroes it, backs off and
     * tries again. `interrupt` may come at any time between the start of open and the return of close.
     */
    enum rig_rc (*open)(void *session, void *run, uint32_t client, struct rig_err *err);
    /* On the client's thread. Runs the transaction once; never retries it. Required. */
    enum rig_outcome (*transact)(void *session, struct rig_transaction *transaction);
    /*
     * From any thread, also while the session is inside open or transact: makes that call return soon, with an outcome
     * that is certain (a cancel during commit is info). Does not block. Required.
     */
    void (*interrupt)(void *session);
    /*
     * On the client's thread; required; also after a failed open. `last`: this client opens no further session until
     * every client has closed its last one. Then a second phase (the final reads) may begin, in which each client opens
     * a session again and closes it with `last`; no client waits for another while it has a session.
     */
    void (*close)(void *session, bool last);

    /*
     * Optional: the session's own clock, ns, for drivers that simulate time. When set, invocation and completion times
     * are taken from it, before and after transact on the same thread.
     */
    int64_t (*now_ns)(void *session);
    /*
     * With now_ns, optional; without it all phases of a plan have the same number of clients. `rests`: the session asks
     * for nothing until further notice, and simulated time passes without it; on the client's thread. Else it takes
     * part again, from the present time on; from any thread, while the client's own waits for that.
     */
    void (*rest)(void *session, bool rests);

    /* Optional: the server's name and version, for reports ("PostgreSQL 15.4"); after setup. */
    void (*describe)(void *run, char *text, size_t size);

    const struct rig_cluster_ops *cluster; /* optional group */

    /* Optional: the maximum number of keys in a transaction, 0: any number. Plans that ask for more are rejected. I/O
     * as for `check`. */
    int64_t (*most_keys)(const void *options, enum rig_workload workload);

    /* Optional: shows what `transact` would send for the transaction's question, one piece of text a call, each ending
     * with a newline. A dry run: no I/O except reading files that the options name. */
    enum rig_rc (*preview)(const void *options, enum rig_workload workload, const struct rig_transaction *transaction,
                           void (*show)(void *context, const char *text), void *context, struct rig_err *err);

    /*
     * Optional, of databases of SQL: the statements of the run's workload, for its record and its reports. I/O as for
     * `check`. Programs, and statements that are each a text of its own, have no forms: `preview` shows the latter.
     */
    enum rig_rc (*statements)(const struct rig_run_env *env, struct rig_statement_texts *texts, struct rig_err *err);

    /* Optional: a shell script that sends the requests of these transactions and compares the answers
     * (docs/reproduce.md). Lists and registers only; I/O as for `preview`. */
    enum rig_rc (*script)(const void *options, enum rig_workload workload, const struct rig_script_part *part,
                          void (*show)(void *context, const char *text), void *context, struct rig_err *err);

    /* RIG_COLUMN_BIT()s of the side columns that answers may carry; 0: none. */
    uint32_t columns;

    /*
     * Optional: the settings of the server that differ from its defaults, a call of `tell` each, for reports; after
     * setup. May query the server, within its time-outs; unavailable settings are left out. The core hides secrets and
     * cuts long texts.
     */
    void (*settings)(void *run, void (*tell)(void *context, const char *name, const char *value), void *context);

    const struct rig_row_ops *rows; /* optional group: programs over tables (drivers/rows.h) */

    /*
     * Optional: certificates. With env->certificate, `setup` begins to keep the database's own order of commits, before
     * any session is opened. `certify` hands it over after the last session was closed, on the main thread, before
     * `teardown`; it may take as long as reading it takes. It need not end with sink->end() when it fails.
     */
    uint32_t certificates;          /* RIG_CERTIFICATE_BIT()s */
    const char *certificate_source; /* its name in reports: "pgoutput" */
    enum rig_rc (*certify)(void *run, const struct rig_certificate_sink *sink, struct rig_err *err);

    const struct rig_text_ops *texts; /* optional group: any SQL (drivers/texts.h) */
};

#endif
