/*
 * The client of the SQL core for databases that a program carries (sql_program.h), in a dialect that a file gives
 * (dialect_file.h): any database with a library for some language.
 *
 * Statements are sent one by one. After an error nothing is committed: rig rolls back. A session that gives no answer
 * in time ends its program. The run refuses a database that does not keep the level, does not give back what was
 * written, or does not roll back.
 *
 * Threads: those of the driver's hooks.
 */
#ifndef RIG_DRIVERS_SQL_PROGRAM_CLIENT_H
#define RIG_DRIVERS_SQL_PROGRAM_CLIENT_H

#include "drivers/local/command_cluster.h"
#include "drivers/sql/program_schema.h"
#include "drivers/sql/sql_client.h"
#include "drivers/sql/sql_program.h"

/* A driver's options begin with them. */
struct rig_sql_program_options {
    struct rig_sql_options sql; /* first */
    const char *dialect;
    const char *isolation;  /* NULL: the dialect's default */
    const char *connection; /* for the program; NULL: none */
    const char *dsn;        /* the same, as the name of a data source */
    int64_t processes;      /* index into rig_sql_processes_words: 0 each session has one, 1 all share one */
    struct rig_text_list command;
    struct rig_command_options servers;
};

extern const char *const rig_sql_processes_words[];

/* Rows of the option tables of drivers, for all but `dialect`, `command` and `connection`. */
#define RIG_SQL_PROGRAM_AT(member) .offset = offsetof(struct rig_sql_program_options, member)
/* clang-format off */
#define RIG_SQL_PROGRAM_OPTIONS                                                                                        \
    {.name = "isolation", .type = RIG_OPTION_TEXT, RIG_SQL_PROGRAM_AT(isolation),                                      \
     .help = "isolation level of each transaction, by a name of the dialect"},                                        \
    {.name = "user", .type = RIG_OPTION_TEXT, RIG_SQL_PROGRAM_AT(sql.user),                                            \
     .help = "user name for the program, where the connection does not have it"},                                     \
    {.name = "password", .type = RIG_OPTION_SECRET, RIG_SQL_PROGRAM_AT(sql.password),                                  \
     .help = "password for the program"},                                                                             \
    {RIG_OPTION_VARIED(.chance = 0.2, .values = "2 5"), \
     .name = "tables", .type = RIG_OPTION_INT, RIG_SQL_PROGRAM_AT(sql.tables), .default_text = "1", .least = 1,        \
     .most = 100, .help = "number of tables for the keys"},                                                           \
    {RIG_OPTION_VARIED(.chance = 0.2, .values = "10% 50%"), \
     .name = "lock-reads", .type = RIG_OPTION_SHARE, RIG_SQL_PROGRAM_AT(sql.lock_reads), .default_text = "0",          \
     .least = 0, .most = 1, .help = "share of the reads of transactions that also write that lock what they read"},   \
    {RIG_OPTION_VARIED(.chance = 0.2, .values = "true"), \
     .name = "declare-read-only", .type = RIG_OPTION_BOOL, RIG_SQL_PROGRAM_AT(sql.declare_read_only),                  \
     .default_text = "false", .help = "whether transactions that only read are declared as such"},                    \
    {.name = "open-timeout", .type = RIG_OPTION_DURATION, RIG_SQL_PROGRAM_AT(sql.connect_timeout_ns),                  \
     .default_text = "30s", .least = 1e6, .most = 6e11,                                                                \
     .help = "time in which the program must start and a session must open"},                                         \
    {.name = "transaction-timeout", .type = RIG_OPTION_DURATION, RIG_SQL_PROGRAM_AT(sql.transaction_timeout_ns),       \
     .default_text = "10s", .least = 1e6, .most = 6e11,                                                                \
     .help = "time limit of a transaction, without holds, after which its program is ended"},                         \
    {.name = "max-answer", .type = RIG_OPTION_SIZE, RIG_SQL_PROGRAM_AT(sql.max_answer_bytes), .default_text = "16MiB", \
     .least = 1024, .most = 1e9, .help = "longest line that rig reads from the program"},                             \
    {.name = "keep-tables", .type = RIG_OPTION_BOOL, RIG_SQL_PROGRAM_AT(sql.keep_tables), .default_text = "false",     \
     .help = "whether the run's tables stay after it"},                                                                \
    RIG_COMMAND_OPTION_ROWS(struct rig_sql_program_options, servers)
/* clang-format on */

struct rig_sql_program_run {
    struct rig_sql_run sql;       /* first */
    struct rig_sql_client client; /* with the dialect's outcomes */
    const struct rig_sql_program_options *options;
    struct rig_sql_dialect_file *dialect;
    const struct rig_sql_dialect_level *level;
    struct rig_sql_program_schema schema;
    struct rig_sql_programs programs;
    struct rig_command_cluster cluster; /* nodes that rig starts by a command */
    char *connection;                   /* the plan's, with the ports of these nodes; owned. NULL: as it is */
    const char **arguments;             /* NULL-ended; the first is `program` */
    char program[8200];                 /* its path */
    char home[4096];
    char remedy[512]; /* the removal of the run's tables */
};

/* ---- hooks of a driver; `object` is a struct rig_sql_program_options or a struct rig_sql_program_run ---- */

enum rig_rc rig_sql_program_check(const void *object, enum rig_workload workload, struct rig_err *err);
/* `command`: the program and its arguments, borrowed. `name` of the server in reports. */
enum rig_rc rig_sql_program_init(struct rig_sql_program_run *run, const struct rig_run_env *env,
                                 const struct rig_text_list *command, const char *name, struct rig_err *err);
void rig_sql_program_done(void *object);
/* Hook of struct rig_driver. */
enum rig_rc rig_sql_program_preview(const void *object, enum rig_workload workload,
                                    const struct rig_transaction *transaction,
                                    void (*show)(void *context, const char *text), void *context, struct rig_err *err);
enum rig_rc rig_sql_program_statements(const struct rig_run_env *env, struct rig_statement_texts *texts,
                                       struct rig_err *err);
void rig_sql_program_describe(void *object, char *text, size_t size);

extern const struct rig_row_ops rig_sql_program_row_ops;
extern const struct rig_text_ops rig_sql_program_text_ops;

/* Members of a struct rig_driver, for all but its name, summary, options, `run_size`, `check` and `init`. */
/* clang-format off */
#define RIG_SQL_PROGRAM_HOOKS                                                                                          \
    .abi = RIG_DRIVER_ABI,                                                                                             \
    .struct_size = sizeof(struct rig_driver),                                                                          \
    .workloads = RIG_SQL_WORKLOADS | RIG_WORKLOAD_BIT(RIG_WORKLOAD_SQL),                                               \
    .features = RIG_DRIVER_HOLDS | RIG_DRIVER_ROUTES | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_ROLLBACKS | RIG_DRIVER_PREFILLS,                    \
    .options_size = sizeof(struct rig_sql_program_options),                                                            \
    .session_size = sizeof(struct rig_sql_session),                                                                    \
    .done = rig_sql_program_done,                                                                                      \
    .setup = rig_sql_run_setup,                                                                                        \
    .teardown = rig_sql_run_teardown,                                                                                  \
    .open = rig_sql_session_open,                                                                                      \
    .transact = rig_sql_session_transact,                                                                              \
    .interrupt = rig_sql_session_interrupt,                                                                            \
    .close = rig_sql_session_close,                                                                                    \
    .describe = rig_sql_program_describe,                                                                              \
    .preview = rig_sql_program_preview,                                                                                \
    .statements = rig_sql_program_statements,                                                                          \
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) | RIG_COLUMN_BIT(RIG_COLUMN_TIMES), \
    .cluster = &rig_command_cluster_ops,                                                                               \
    .rows = &rig_sql_program_row_ops,                                                                                  \
    .texts = &rig_sql_program_text_ops
/* clang-format on */

#endif
