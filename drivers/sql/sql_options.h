/*
 * The options that drivers of SQL databases share, their words, and their checks. A driver's own options begin with
 * them; its table has those that the database can follow.
 *
 * Pure functions. All errors are RIG_E_PLAN, and name the key.
 */
#ifndef RIG_DRIVERS_SQL_SQL_OPTIONS_H
#define RIG_DRIVERS_SQL_SQL_OPTIONS_H

#include "base/tls_options.h"
#include "drivers/sql/sql_servers.h"

/* Indexes into the choices of the options of the same name. */
enum rig_sql_isolation {
    RIG_SQL_READ_UNCOMMITTED,
    RIG_SQL_READ_COMMITTED,
    RIG_SQL_REPEATABLE_READ,
    RIG_SQL_SERIALIZABLE,
};
enum rig_sql_lock_mode { RIG_SQL_LOCK_UPDATE, RIG_SQL_LOCK_SHARE };
enum rig_sql_listen { RIG_SQL_LISTEN_SOCKET, RIG_SQL_LISTEN_TCP };

enum { RIG_SQL_ISOLATION_COUNT = RIG_SQL_SERIALIZABLE + 1 };

struct rig_sql_options {
    int64_t isolation;            /* enum rig_sql_isolation */
    const char *isolation_shares; /* each transaction has its own level: rig_sql_options_shares(); NULL: it has not */
    int64_t tables;
    int64_t row_padding_bytes;
    bool prepared;
    double lock_reads; /* share */
    int64_t lock_mode; /* enum rig_sql_lock_mode */
    bool declare_read_only;
    const char *begin_ts, *commit_ts; /* SQL; NULL: none */
    double two_phase;                 /* share */
    int64_t statement_timeout_ns;     /* 0: the server's own */
    int64_t lock_timeout_ns;          /* 0: the server's own */
    int64_t connect_timeout_ns;
    int64_t transaction_timeout_ns;
    int64_t max_answer_bytes; /* of all answers to one transaction */
    bool keep_tables;
    const char *user;
    const char *password;
    struct rig_tls_options tls; /* of connections to given hosts */

    struct rig_text_list hosts; /* empty: rig starts a cluster */
    struct rig_text_list read_only_hosts;
    int64_t reads_from;  /* enum rig_sql_reads_from */
    int64_t nodes;       /* 0: one, unless hosts are given */
    int64_t replication; /* the database's own choices; 0: the default */
    int64_t listen;      /* enum rig_sql_listen */
    const char *bin_dir;
    const char *version; /* "14.3"; NULL or empty: the driver's default */
    const char *servers; /* a folder of servers, by version */
    const char *run_as;
    struct rig_text_list settings;
    int64_t start_timeout_ns;
    int64_t stop_timeout_ns;
};

/* The words of the choices, each ended by NULL; `rig_sql_isolation_sql` are SQL's own. */
extern const char *const rig_sql_isolation_words[];
extern const char *const rig_sql_isolation_sql[];
extern const char *const rig_sql_lock_words[];
extern const char *const rig_sql_listen_words[];

/*
 * Shares of levels, "serializable: 60%, read-committed: 40%": per level the sum of its share and of those before it, so
 * that the last one is 1. All 0 where the options have none. RIG_E_PLAN, naming the key.
 */
enum rig_rc rig_sql_options_shares(const struct rig_sql_options *options, double up_to[RIG_SQL_ISOLATION_COUNT],
                                   struct rig_err *err);
/* The servers beside the first one that writes. */
int64_t rig_sql_options_others(const struct rig_sql_options *options);
/* Hosts, nodes, the binary, the settings and TLS. `has_settings`: the plan has settings of a server that rig starts
 * beside those in `options`. */
enum rig_rc rig_sql_options_check_cluster(const struct rig_sql_options *options, bool has_settings,
                                          struct rig_err *err);
/* The statement of `begin-ts` or `commit-ts`: one SELECT, which cannot end the transaction, and not in a pipeline. NULL
 * or empty: there is none. */
enum rig_rc rig_sql_options_check_timestamp(const char *option, const char *sql, bool pipelines, struct rig_err *err);
/* Each is `name=value`; `option` is the key below cluster.local. */
enum rig_rc rig_sql_options_check_settings(const char *option, const struct rig_text_list *list,
                                           struct rig_err *err); /* Whether an option that is a text has a value. */
static inline bool rig_sql_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

#endif
