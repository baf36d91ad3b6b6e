#include "drivers/sqlite/sqlite_options.h"

#include <string.h>

#define AT(member) .offset = offsetof(struct rig_sqlite_options, member)

const char *const rig_sqlite_journal_words[] = {"wal", "delete", "truncate", "persist", "memory", "off", NULL};
const char *const rig_sqlite_synchronous_words[] = {"off", "normal", "full", "extra", NULL};
const char *const rig_sqlite_begin_words[] = {"deferred", "immediate", "exclusive", NULL};

/* clang-format off */
const struct rig_option rig_sqlite_option_table[] = {
    {.name = "journal", .type = RIG_OPTION_CHOICE, AT(journal), .default_text = "wal",
     .choices = rig_sqlite_journal_words,
     .help = "SQLite's journal_mode: a write-ahead log, or one of the rollback journals; memory and off survive neither "
             "kills nor power failures"},
    {.name = "synchronous", .type = RIG_OPTION_CHOICE, AT(synchronous), .default_text = "full",
     .choices = rig_sqlite_synchronous_words,
     .help = "SQLite's synchronous: how much is made durable, and when"},
    {.name = "begin", .type = RIG_OPTION_CHOICE, AT(begin), .default_text = "deferred",
     .choices = rig_sqlite_begin_words,
     .help = "how transactions that write begin; those that only read begin deferred"},
    {.name = "embedded", .type = RIG_OPTION_BOOL, AT(embedded), .default_text = "false",
     .help = "whether rig's own threads call the library, as an application's do, in place of a process for each client; without "
             "faults of processes, disks and clocks"},
    {.name = "shared-cache", .type = RIG_OPTION_BOOL, AT(shared_cache), .default_text = "false",
     .help = "whether all clients are threads of one process with a shared cache, which locks tables in place of the file"},
    {.name = "read-uncommitted", .type = RIG_OPTION_BOOL, AT(read_uncommitted), .default_text = "false",
     .help = "whether reads take no locks in the shared cache, and so see writes that are not committed"},
    {.name = "busy-timeout", .type = RIG_OPTION_DURATION, AT(busy_timeout_ns), .default_text = "5s",
     .least = 0, .most = 6e11, .help = "time for which a statement waits for a lock, as SQLite's busy_timeout"},
    {.name = "tables", .type = RIG_OPTION_INT, AT(sql.tables), .default_text = "1", .least = 1, .most = 100,
     .help = "number of tables for the keys"},
    {.name = "row-padding", .type = RIG_OPTION_SIZE, AT(sql.row_padding_bytes), .default_text = "0B", .least = 0,
     .most = 3900,
     .help = "bytes that each row has besides its key and value. 0B: hundreds of keys share a page of 4 KiB; 900B: four do, so "
             "that a transaction changes more pages, and with a small `cache_size` its changes reach the file before the commit"},
    {.name = "pragmas", .type = RIG_OPTION_TEXT_LIST, AT(pragmas),
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

enum rig_rc rig_sqlite_options_check(const void *object, enum rig_workload workload, struct rig_err *err)
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
