/*
 * The SQL core: runs, sessions and transactions of any SQL database, over a table of functions, struct rig_sql_client.
 *
 * The core has what is the same everywhere: the servers of a run and the search for one (sql_servers.h), a session's
 * connections and the course of its transactions (sql_session.h), the run's tables, two-phase commits and programs
 * (sql_run.h), hooks of the cluster (sql_cluster.h). A database's folder has its protocol, its SQL, its outcomes
 * (sql_outcome.h), its cluster and its faults.
 *
 * A driver's run, session, connection and turn begin with the struct of the same name here, and its options with a
 * struct rig_sql_options. The functions of the table get pointers to these, and turn them into their own.
 *
 * Threads: those of the driver's hooks (drivers/driver.h). A session and its connections belong to one thread; only the
 * waiter's wake is raised from others.
 */
#ifndef RIG_DRIVERS_SQL_SQL_CLIENT_H
#define RIG_DRIVERS_SQL_SQL_CLIENT_H

#include <stdatomic.h>

#include "base/rng.h"
#include "drivers/local/local_site.h"
#include "drivers/rows.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_options.h"
#include "drivers/sql/sql_outcome.h"

struct rig_sql_client;
struct rig_sql_texts;

/* The nodes that rig starts. A driver's cluster begins with it. */
struct rig_sql_cluster {
    void *nodes;       /* an array of the driver's nodes, for as many as the plan names */
    size_t node_bytes; /* each begins with its struct rig_local_node */
    uint32_t count;    /* of nodes that were started; 0 before the start and after the stop */
};

/* The run's numbers of commits in two phases. */
struct rig_sql_two_phase {
    _Atomic uint64_t begun, prepared, committed, rolled_back;
};

struct rig_sql_run {
    const struct rig_sql_client *client;
    const struct rig_run_env *env;
    const struct rig_sql_options *options;
    struct rig_sql_cluster *cluster; /* borrowed; used when no hosts are given; NULL: the driver starts none */
    const char *server_name; /* of the one server, where its address is not the driver's; NULL: it has hosts or nodes */
    struct rig_sql_hosts hosts;
    struct rig_wakes wakes;
    struct rig_sql_two_phase two_phase;
    double level_up_to[RIG_SQL_ISOLATION_COUNT]; /* rig_sql_options_shares() */
    int64_t level_names[RIG_SQL_ISOLATION_COUNT];
    char server_version[96];
    bool own_servers;  /* rig started them otherwise than by `cluster`, and removes them with all their data */
    uint64_t reminder; /* of the run's tables on given hosts; 0: none */
    bool created;      /* the server was asked to make the tables */
};

struct rig_sql_connection {
    bool open;           /* it was set up, and not disconnected since */
    bool refuses_writes; /* the server did when the connection was made: it is a standby, a replica, read-only */
    int64_t node;        /* the server's name, as core->name() numbers it */
    int64_t backend;     /* the server's number of the connection; 0: none */
};

/*
 * One client's connection to the server that takes its writes, another one when a different server answers its reads, a
 * third to a node that a read requests.
 */
struct rig_sql_session {
    struct rig_sql_run *run;
    uint32_t client;
    struct rig_rng rng; /* of shares of transactions */
    struct rig_sql_waiter waiter;
    struct rig_sql_connection *main;   /* owned, with the two others */
    struct rig_sql_connection *reader; /* not open when the main one reads as well */
    struct rig_sql_connection *visit;  /* to the node requested last; not open: none */
    uint32_t main_server, reader_server, visit_server;
};

enum { RIG_SQL_NAME_BYTES = 128, RIG_SQL_TURN_BYTES = 512 };

/* A transaction in progress: the state that its statements share. */
struct rig_sql_turn {
    struct rig_sql_session *session;
    struct rig_sql_connection *connection;
    struct rig_transaction *transaction;
    struct rig_row_program *program; /* NULL: the transaction's operations */
    int64_t isolation;               /* enum rig_sql_isolation: the transaction's own level, or that of all */
    int64_t deadline_ns;
    enum rig_phase phase;          /* the phase that the sending has reached, or that of the statement that failed */
    bool failed;                   /* the transaction has an error_code, answered or seen in `phase` */
    bool may_commit;               /* a statement may have left that could commit */
    bool committed;                /* COMMIT was acknowledged: only an answer that contradicts it changes the outcome */
    bool session_lost;             /* the session's connection is of no further use */
    char name[RIG_SQL_NAME_BYTES]; /* of a commit in two phases; empty: it has one */
    bool prepared;                 /* by its first phase */
    char state[6];                 /* the SQLSTATE of the failure, where the outcomes depend on it */
};

/* The run's own connection to the server that takes writes. */
struct rig_sql_own {
    struct rig_sql_run *run;
    struct rig_sql_waiter waiter;
    struct rig_sql_connection *connection; /* owned */
    int64_t deadline_ns;                   /* of the purpose of the connection */
};

/* The workloads that a driver of a SQL database runs. */
#define RIG_SQL_WORKLOADS                                                                                              \
    (RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS | RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) |    \
     RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) |                              \
     RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) |                                     \
     RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) |                         \
     RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_PREDICATE))

typedef void (*rig_sql_tell)(void *context, const char *const *values, uint32_t count);

/* The nodes that rig starts. Functions that are called optional may be NULL. */
struct rig_sql_nodes {
    /* The node that takes writes; UINT32_MAX: all do. */
    uint32_t (*primary)(const struct rig_sql_run *run);
    /* Optional: whether writers must wait for the node. */
    bool (*holds_back)(const struct rig_sql_run *run, uint32_t node);
    enum rig_rc (*status)(struct rig_sql_run *run, uint32_t node, struct rig_node_status *status, struct rig_err *err);
    /* The node's socket, and its port for clients on TCP, 0 where it has none. */
    uint16_t (*socket)(const struct rig_sql_run *run, uint32_t node, struct rig_sql_endpoint *endpoint);
};

/* The run's tables on the server, and transactions that are prepared there. All but `create` are for hosts that are
 * given, or for options of their own: NULL where the database has neither. */
struct rig_sql_tables {
    /* Logs the tables of other runs on the server. */
    void (*tell_others)(struct rig_sql_own *own);
    /* Whether the server allows commits in two phases. RIG_E_CLUSTER. */
    enum rig_rc (*check_two_phase)(struct rig_sql_own *own, struct rig_err *err);
    /* For the case that rig is killed before it can remove its tables: where they are, and how to remove them. */
    void (*remind)(struct rig_sql_own *own, char *text, size_t size);
    enum rig_rc (*create)(struct rig_sql_own *own, struct rig_err *err);
    /* Whether `create`, which failed, has left nothing on the server. */
    bool (*left_nothing)(struct rig_sql_own *own);
    /* Optional: when the tables are there, the certificate's part, and the server's version. */
    enum rig_rc (*created)(struct rig_sql_own *own, struct rig_err *err);
    /* Rolls back what is left prepared, and logs what stays. */
    void (*remove_prepared)(struct rig_sql_run *run);
    /* Optional: ends what the run has on the server beside its tables, also where these are kept. */
    void (*release)(struct rig_sql_run *run);
    /* RIG_OK also when there are none. RIG_E_CLUSTER names the tables that stay, and the reason. */
    enum rig_rc (*drop)(struct rig_sql_own *own, struct rig_err *err);
    /* The SQL that removes the run's tables by hand. */
    void (*remedy)(const struct rig_sql_run *run, char *text, size_t size);
    /* The name of a commit in two phases, as the database's SQL has it; `number` is different for each of the run's. */
    void (*name)(const struct rig_run_env *env, uint32_t client, uint64_t number, char name[static RIG_SQL_NAME_BYTES]);
};

/* A database's part. */
struct rig_sql_client {
    const char *area;                    /* in rig.log: "postgres" */
    const char *product;                 /* in messages: "PostgreSQL" */
    const char *replica;                 /* a server that refuses writes: "standby" */
    size_t connection_bytes, turn_bytes; /* of the driver's own, at most RIG_SQL_TURN_BYTES */
    uint64_t share_stream; /* of the seed, for shares of transactions; other streams are numbered by client */
    uint16_t default_port, socket_port;
    bool trusts_single; /* a single server is used whether or not it refuses writes */
    const struct rig_sql_outcomes *outcomes;

    /* ---- connections ---- */

    /* Connects, with the account of clients; sets `backend`, and `refuses_writes`, which need not be found out where a
     * client has only one server. `for_client`: `prepare` follows; else it is a connection of the run's own. Leaves the
     * connection safe for `disconnect` also on failure. RIG_E_CLUSTER, naming the server. */
    enum rig_rc (*connect)(struct rig_sql_run *run, uint32_t server, bool for_client, struct rig_sql_waiter *waiter,
                           int64_t deadline_ns, struct rig_sql_connection *connection, struct rig_err *err);
    /* Sets a fresh connection up for a client's transactions. */
    enum rig_rc (*prepare)(struct rig_sql_session *session, struct rig_sql_connection *connection, int64_t deadline_ns,
                           struct rig_err *err);
    /* Without waiting for the server. Safe to repeat. */
    void (*disconnect)(struct rig_sql_connection *connection);
    /* Runs statements of the run's own, outside of a transaction; `tell` (may be NULL) gets the rows. RIG_E_CLUSTER. */
    enum rig_rc (*query)(struct rig_sql_connection *connection, const char *sql, int64_t deadline_ns, rig_sql_tell tell,
                         void *context, struct rig_err *err);

    /* ---- transactions ---- */

    /* Runs the turn's operations, or its program by rig_sql_turn_run_program(), to the answer of COMMIT or the first
     * error. A client that sends one statement after the other has rig_sql_turn_run_statements() for it. */
    void (*run)(struct rig_sql_turn *turn);
    /* Optional, for rig_sql_turn_run_statements(): runs operation `op`, and takes its answer. */
    bool (*operate)(struct rig_sql_turn *turn, uint32_t op);
    /* One by one: opens the transaction; of a program runs statement `index` and fills the answer; commits. False, or a
     * turn that failed: there was an error. */
    bool (*begin)(struct rig_sql_turn *turn);
    bool (*execute)(struct rig_sql_turn *turn, uint32_t index, const int64_t *values, struct rig_row_answer *answer);
    void (*commit)(struct rig_sql_turn *turn);
    /* After a turn that failed: ends the transaction on the server where it may be open, and sets `session_lost` where
     * the connection cannot be used any longer. It may overrule the error by one that proves less. */
    void (*settle)(struct rig_sql_turn *turn);
    /* Optional: between two transactions. False: the connection cannot be used any longer. */
    bool (*rest)(struct rig_sql_turn *turn);

    const struct rig_sql_nodes *nodes;
    const struct rig_sql_tables *tables;
    const struct rig_sql_texts *texts; /* any SQL (sql_text.h) */
    /* The dialect of a program's SQL; borrows the run. */
    struct rig_sql_dialect (*dialect)(const struct rig_sql_run *run);
};

#endif
