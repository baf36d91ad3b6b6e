/*
 * The driver's entry: its tables for the SQL core and for rig's loader, and the hooks of a whole run.
 */
#include "drivers/sqlite/sqlite_driver.h"

#include <stdio.h>
#include <string.h>

#include "drivers/sql/sql_cluster.h"
#include "drivers/sql/sql_told.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"
#include "drivers/sql/sql_text.h"
#include "drivers/sqlite/sqlite_outcome.h"
#include "drivers/sqlite/sqlite_schema.h"
#include "drivers/sqlite/sqlite_session.h"

/* Indexes into the choices of the option of the same name; the words of the others are SQLite's own. */
enum sqlite_journal { SQLITE_WAL };

#define AT(member) .offset = offsetof(struct rig_sqlite_options, member)

const char *const rig_sqlite_journal_words[] = {"wal", "delete", "truncate", "persist", "memory", "off", NULL};
const char *const rig_sqlite_synchronous_words[] = {"off", "normal", "full", "extra", NULL};
const char *const rig_sqlite_begin_words[] = {"deferred", "immediate", "exclusive", NULL};

/* clang-format off */
static const struct rig_option sqlite_option_table[] = {
    /* Those which survive the end of a client's process: a hunt ends with the load, whatever a client does then. */
    {.name = "journal", RIG_OPTION_VARIED(.chance = 0.3, .values = "truncate persist", .with = "database.journal=delete"), .type = RIG_OPTION_CHOICE, AT(journal), .default_text = "wal",
     .choices = rig_sqlite_journal_words,
     .help = "SQLite's journal_mode: a write-ahead log, or one of the rollback journals; memory and off survive neither "
             "kills nor power failures"},
    /* It matters to power failures alone, with which SQLite promises less. */
    {.name = "synchronous", RIG_OPTION_VARIED(.chance = 0.25, .values = "off normal extra", .with = "nemesis.faults=[]"), .type = RIG_OPTION_CHOICE, AT(synchronous), .default_text = "full",
     .choices = rig_sqlite_synchronous_words,
     .help = "SQLite's synchronous: how much is made durable, and when"},
    {.name = "begin", RIG_OPTION_VARIED(.chance = 0.4), .type = RIG_OPTION_CHOICE, AT(begin), .default_text = "deferred",
     .choices = rig_sqlite_begin_words,
     .help = "how transactions that write begin; those that only read begin deferred"},
    {.name = "embedded", RIG_OPTION_VARIED(.chance = 0.25, .values = "true"), .type = RIG_OPTION_BOOL, AT(embedded), .default_text = "false",
     .help = "whether rig's own threads call the library, as an application's do, in place of a process for each client; without "
             "faults of processes, disks and clocks"},
    {.name = "shared-cache", RIG_OPTION_VARIED(.chance = 0.15, .values = "true"), .type = RIG_OPTION_BOOL, AT(shared_cache), .default_text = "false",
     .help = "whether all clients are threads of one process with a shared cache, which locks tables in place of the file"},
    {.name = "read-uncommitted", .type = RIG_OPTION_BOOL, AT(read_uncommitted), .default_text = "false",
     .help = "whether reads take no locks in the shared cache, and so see writes that are not committed"},
    {.name = "busy-timeout", RIG_OPTION_VARIED(.chance = 0.25, .values = "0s 50ms"), .type = RIG_OPTION_DURATION, AT(busy_timeout_ns), .default_text = "5s",
     .least = 0, .most = 6e11, .help = "time for which a statement waits for a lock, as SQLite's busy_timeout"},
    {.name = "tables", RIG_OPTION_VARIED(.chance = 0.2, .values = "2 8"), .type = RIG_OPTION_INT, AT(sql.tables), .default_text = "1", .least = 1, .most = 100,
     .help = "number of tables for the keys"},
    {.name = "row-padding", RIG_OPTION_VARIED(.chance = 0.15, .values = "900B 3900B"), .type = RIG_OPTION_SIZE, AT(sql.row_padding_bytes), .default_text = "0B", .least = 0,
     .most = 3900,
     .help = "bytes that each row has besides its key and value. 0B: hundreds of keys share a page of 4 KiB; 900B: four do, so "
             "that a transaction changes more pages, and with a small `cache_size` its changes reach the file before the commit"},
    {.name = "pragmas", RIG_OPTION_VARIED(.chance = 0.3, .values = "cache_size=10 wal_autocheckpoint=10 wal_autocheckpoint=1 wal_autocheckpoint=0 "
     "mmap_size=1048576 cache_spill=0 secure_delete=1 reverse_unordered_selects=1 automatic_index=0 journal_size_limit=0 "
     "temp_store=2"), .type = RIG_OPTION_TEXT_LIST, AT(pragmas),
     .help = "further pragmas of each connection, each `name=value`, such as `wal_autocheckpoint=100`"},
    {.name = "open-timeout", .type = RIG_OPTION_DURATION, AT(sql.connect_timeout_ns), .default_text = "10s",
     .least = 1e6, .most = 6e11, .help = "time limit for opening the database"},
    {.name = "transaction-timeout", .type = RIG_OPTION_DURATION, AT(sql.transaction_timeout_ns), .default_text = "30s",
     .least = 1e6, .most = 6e11, .help = "time limit of a transaction, without holds, after which its session is closed"},
    {.name = "cluster.local.nodes", .type = RIG_OPTION_INT, AT(sql.nodes), .default_text = "1", .least = 1, .most = 1,
     .help = "SQLite has one node: a server of rig's own, with a process for each client"},
    {.name = "cluster.local.run-as", .type = RIG_OPTION_TEXT, AT(sql.run_as), .default_text = "nobody",
     .help = "user under which it runs if rig is root"},
    {.name = "cluster.local.start-timeout", .type = RIG_OPTION_DURATION, AT(sql.start_timeout_ns), .default_text = "30s",
     .least = 1e9, .most = 6e11, .help = "time in which it must answer"},
    {.name = "cluster.local.stop-timeout", .type = RIG_OPTION_DURATION, AT(sql.stop_timeout_ns), .default_text = "5s",
     .least = 1e8, .most = 6e10, .help = "time after which it is killed if it does not end"},
    {0},
};
/* clang-format on */

static bool is_pragma(const char *text)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz_";
    const size_t name = strspn(text, lower);
    if (name == 0 || text[name] != '=' || text[name + 1] == '\0')
        return false;
    const char *value = text + name + 1;
    return value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
}

/* Rejects contradictory options. RIG_E_PLAN. */
static enum rig_rc sqlite_options_check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct rig_sqlite_options *options = object;
    (void)workload;
    if (options->read_uncommitted && !options->shared_cache)
        return rig_fail(err, RIG_E_PLAN,
                        "`read-uncommitted` has an effect in a shared cache only: give `shared-cache: true`");
    for (size_t i = 0; i < options->pragmas.count; i++) {
        const char *text = options->pragmas.at[i];
        if (!is_pragma(text))
            return rig_fail(err, RIG_E_PLAN, "`pragmas`: expected name=value, not `%.60s`", text);
        if (strncmp(text, "journal_mode=", 13) == 0 || strncmp(text, "synchronous=", 12) == 0 ||
            strncmp(text, "read_uncommitted=", 17) == 0)
            return rig_fail(err, RIG_E_PLAN, "`pragmas`: `%.60s` has an option of its own", text);
    }
    return RIG_OK;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    const enum rig_rc rc = run->options->embedded ? rig_sqlite_cluster_embed(&run->cluster, err) : RIG_OK;
    return rc == RIG_OK ? rig_sql_run_setup(object, err) : rc;
}

static void describe(void *object, char *text, size_t size)
{
    const struct rig_sqlite_run *run = object;
    const char *version = run->sql.server_version;
    (void)snprintf(text, size, "SQLite%s%s%s", version[0] == '\0' ? "" : " ", version,
                   run->options->embedded ? ", embedded" : "");
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct rig_sqlite_run *run = object;
    run->options = env->options;
    rig_sqlite_cluster_init(&run->cluster, env);
    rig_buf_init(&run->pragmas, 0);
    enum rig_rc rc = rig_sql_run_init(&run->sql, &rig_sqlite_client, env, &run->cluster.sql, err);
    if (rc == RIG_OK)
        rc = rig_sqlite_schema_init(&run->schema, env, err);
    if (rc == RIG_OK)
        rig_sqlite_schema_pragmas(&run->schema, &run->pragmas);
    return rc == RIG_OK && run->pragmas.failed ? rig_no_memory(err, "the pragmas of a run") : rc;
}

static void done(void *object)
{
    struct rig_sqlite_run *run = object;
    if (run->sql.env == NULL)
        return;
    rig_buf_done(&run->pragmas);
    rig_sqlite_schema_done(&run->schema);
    rig_sqlite_cluster_done(&run->cluster);
    rig_sql_run_done(&run->sql);
}

static enum rig_rc write_shell(const void *options, const struct rig_row_schema *rows, struct rig_row_shell *shell,
                               struct rig_err *err)
{
    return rig_sqlite_schema_shell(options, rows, shell, err);
}

static const struct rig_row_ops row_ops = {.load = rig_sql_run_load,
                                           .run_program = rig_sql_session_run_program,
                                           .query = rig_sql_run_query,
                                           .shell = write_shell};

static const struct rig_text_ops text_ops = {.clear = rig_sql_text_clear,
                                             .space = rig_sql_text_space,
                                             .execute = rig_sql_text_execute,
                                             .look = rig_sql_text_look,
                                             .looks_at_once = true};

/* The statement of this number, among texts that each end with a NUL. */
static const char *statement_text(const struct rig_sqlite_schema *schema, uint32_t number)
{
    const char *text = rig_buf_text(&schema->statements);
    for (; number > 0; number--)
        text += strlen(text) + 1;
    return text;
}

/* The statements of the first table come after those of every run, in the order of sqlite_schema.c. */
static void tell_all(struct rig_sql_told *told, const struct rig_sqlite_schema *schema)
{
    static const enum rig_sql_action actions[] = {RIG_SQL_READ,    RIG_SQL_PUT,  RIG_SQL_REPLACE,
                                                  RIG_SQL_COMPARE, RIG_SQL_TAKE, RIG_SQL_EXTEND};
    const bool rows = schema->env->workload == RIG_WORKLOAD_PREDICATE;
    const uint32_t count = rows ? (uint32_t)RIG_SQL_PREDICATE_COUNT : sizeof actions / sizeof actions[0];
    rig_sql_told_say(told, RIG_SQL_FORM_BEGIN, statement_text(schema, RIG_SQLITE_BEGIN));
    rig_sql_told_say(told, RIG_SQL_FORM_BEGIN_READ_ONLY, statement_text(schema, RIG_SQLITE_BEGIN_READ));
    rig_sql_told_usual(told);
    for (uint32_t i = 0; i < count; i++) {
        const int form = rows ? RIG_SQL_FORM_LIST_BY_ID + (int)i : RIG_SQL_FORM_READ + (int)actions[i];
        const char *text = statement_text(schema, RIG_SQLITE_FIXED_COUNT + i);
        if (strcmp(text, "SELECT 1") == 0) /* the workload has no such operation */
            continue;
        rig_sql_told_add(told, text, '?', NULL);
        rig_sql_told_end(told, (enum rig_sql_form)form);
    }
}

static enum rig_rc statements(const struct rig_run_env *env, struct rig_statement_texts *texts, struct rig_err *err)
{
    const struct rig_sqlite_options *options = env->options;
    struct rig_sqlite_schema schema = {.env = NULL};
    struct rig_sql_told told;
    if (env->rows != NULL)
        return RIG_OK;
    const enum rig_rc rc = rig_sqlite_schema_init(&schema, env, err);
    if (rc == RIG_OK) {
        if (rig_sql_told_init(&told, env, &options->sql, "rig_0", texts))
            tell_all(&told, &schema);
        rig_sql_told_done(&told);
    }
    rig_sqlite_schema_done(&schema);
    return rc;
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "sqlite",
    .summary = "SQLite: a database file of rig's own, with a process for each client or embedded in rig",
    .workloads = RIG_SQL_WORKLOADS | RIG_WORKLOAD_BIT(RIG_WORKLOAD_SQL),
    .features =
        RIG_DRIVER_HOLDS | RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_ROLLBACKS | RIG_DRIVER_SUBQUERIES | RIG_DRIVER_PREFILLS,
    .options = sqlite_option_table,
    .options_size = sizeof(struct rig_sqlite_options),
    .run_size = sizeof(struct rig_sqlite_run),
    .session_size = sizeof(struct rig_sql_session),
    .check = sqlite_options_check,
    .init = init,
    .done = done,
    .setup = setup,
    .open = rig_sql_session_open,
    .transact = rig_sql_session_transact,
    .interrupt = rig_sql_session_interrupt,
    .close = rig_sql_session_close,
    .describe = describe,
    .statements = statements,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) | RIG_COLUMN_BIT(RIG_COLUMN_TIMES),
    .cluster = &rig_sqlite_cluster_ops,
    .rows = &row_ops,
    .texts = &text_ops,
};
