/*
 * rig try: a short load at each level of a database that a URL names.
 *
 * It is a matrix of one server: configs/try/<driver>.yaml has the levels and what the database's manual promises.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/check_progress.h"
#include "cli/command_matrix.h"
#include "cli/target_plan.h"
#include "cli/target_url.h"
#include "report/words.h"

enum { ARGUMENTS_MOST = 64, PATH_BYTES = 4096 };

static const struct rig_argument arguments_of_try[] = {
    {.name = "level",
     .value = "LEVEL",
     .repeatable = true,
     .help = "try only this level, by the database's name for it, such as \"read committed\""},
    {.name = "for", .value = "TIME", .help = "time of the load at each level; 10s when not given"},
    {.name = "set",
     .value = "A.B=C",
     .repeatable = true,
     .help = "set a key of the plan, such as database.schema=test"},
    {.name = "keep-plan", .value = "FILE", .help = "write a plan for `rig run` with this database and load"},
    {.name = "output",
     .letter = 'o',
     .value = "DIR",
     .help = "keep the runs with their records and reports in this folder"},
    RIG_ARGUMENT_QUIET,
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_try = {
    .command = "try",
    .positionals = "URL",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Connects to a database, runs a short load at each isolation level that it has, and prints one table: what\n"
        "each level promises, whether it was kept, and what the load broke. It makes tables of its own and removes\n"
        "them. URL is one of\n"
        "  postgres://USER:PASSWORD@HOST:PORT/DB    also with ?sslmode=verify-full&sslrootcert=FILE\n"
        "  mysql://USER:PASSWORD@HOST:PORT/DB       MariaDB and MySQL\n"
        "  etcd://HOST:PORT                         etcds:// with TLS\n"
        "  odbc:DSN, odbc:Driver=...;Server=...     any database with an ODBC driver\n"
        "  sqlite:                                  the SQLite of this machine\n"
        "Exit status: 1 a promised level is refuted; else 3 a run failed; else 2 one is undecided; 0 all are kept.\n",
    .arguments = arguments_of_try,
};

/* ---- the table ---- */

/* "This history keeps X; it breaks Y." without its beginning. */
static const char *what_it_did(const struct rig_matrix_cell *cell)
{
    static const char beginning[] = "This history ";
    const bool has = strncmp(cell->detail, beginning, sizeof beginning - 1) == 0;
    return cell->detail + (has ? sizeof beginning - 1 : 0);
}

static void write_row(const struct rig_matrix_value *level, const char *result, const char *transactions,
                      const char *detail, struct rig_buf *out)
{
    struct rig_buf promises;
    rig_buf_init(&promises, 0);
    for (size_t i = 0; i < level->promises.count; i++)
        rig_buf_printf(&promises, "%s%s", i == 0 ? "" : ", ", level->promises.at[i]);
    rig_buf_printf(out, "%-20s  %-20s  %-16s  %12s\n    ", level->name, rig_buf_text(&promises), result, transactions);
    rig_wrap(detail, 4, rig_terminal_text_columns(stdout), out);
    rig_buf_add_char(out, '\n');
    rig_buf_done(&promises);
}

static void write_level(const struct rig_matrix_cell *cell, struct rig_buf *out)
{
    struct rig_buf count;
    rig_buf_init(&count, 0);
    rig_words_count(&count, cell->acknowledged);
    write_row(cell->job->values[RIG_MATRIX_LEVELS], cell->state == RIG_MATRIX_ANOMALIES ? "BROKEN" : cell->word,
              rig_buf_text(&count), what_it_did(cell), out);
    rig_buf_done(&count);
}

/* The one reason why no level reached the server; NULL: there are several, or none. */
static const char *common_failure(const struct rig_matrix_cells *cells)
{
    bool common = cells->count > 0;
    for (size_t i = 0; common && i < cells->count; i++)
        common = cells->at[i].state == RIG_MATRIX_FAILED && cells->at[i].server[0] == '\0' &&
                 strcmp(cells->at[i].detail, cells->at[0].detail) == 0;
    return common ? cells->at[0].detail : NULL;
}

static void write_table(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    const char *server = "", *failure = common_failure(facts->cells);
    if (failure != NULL) {
        rig_buf_add_text(out, "\nThe server was not reached. No level was tried:\n    ");
        rig_wrap(failure, 4, rig_terminal_text_columns(stdout), out);
        rig_buf_add_char(out, '\n');
        return;
    }
    for (size_t i = 0; i < facts->cells->count; i++)
        server = facts->cells->at[i].server[0] != '\0' ? facts->cells->at[i].server : server;
    rig_buf_printf(out, "\n%s\n\n%-20s  %-20s  %-16s  %12s\n",
                   server[0] != '\0' ? server : "The server was not reached.", "level", "promises", "result",
                   "transactions");
    for (size_t i = 0; i < facts->cells->count; i++)
        write_level(&facts->cells->at[i], out);
    for (size_t i = 0; i < facts->skipped_count; i++)
        write_row(facts->skipped[i].level, "skipped", "-", facts->skipped[i].reason, out);
    if (facts->ending != NULL)
        rig_buf_printf(out, "%s\n", facts->ending);
}

/* ---- the command ---- */

struct trying {
    const struct rig_arguments *args;
    struct rig_buf settings; /* each ended by a NUL */
    char *argv[ARGUMENTS_MOST];
    int argc;
    char matrix[PATH_BYTES], folder[PATH_BYTES];
};

static void add(struct trying *t, const char *argument)
{
    if (t->argc + 1 < ARGUMENTS_MOST)
        t->argv[t->argc++] = (char *)(uintptr_t)argument;
}

static void add_option(struct trying *t, const char *option, const char *value)
{
    add(t, option);
    add(t, value);
}

/* The arguments of `rig matrix`. */
static void collect(struct trying *t, char duration[64])
{
    const char *value, *text = rig_buf_text(&t->settings);
    add(t, "matrix");
    add(t, t->matrix);
    add_option(t, "-o", t->folder);
    for (size_t at = 0; at < t->settings.size; at += strlen(text + at) + 1)
        add_option(t, "--set", text + at);
    if ((value = rig_arguments_value(t->args, "for")) != NULL) {
        (void)snprintf(duration, 64, "workload.duration=%s", value);
        add_option(t, "--set", duration);
    }
    for (size_t i = 0; (value = rig_arguments_value_at(t->args, "set", i)) != NULL; i++)
        add_option(t, "--set", value);
    for (size_t i = 0; (value = rig_arguments_value_at(t->args, "level", i)) != NULL; i++)
        add_option(t, "--only", value);
    if (rig_arguments_has(t->args, "quiet"))
        add(t, "--quiet");
    if (rig_arguments_json(t->args))
        add_option(t, "--format", "json");
}

static enum rig_rc keep_plan(const struct trying *t, struct rig_err *err)
{
    const char *file = rig_arguments_value(t->args, "keep-plan");
    struct rig_buf yaml, secrets;
    if (file == NULL)
        return RIG_OK;
    rig_buf_init(&yaml, 0);
    rig_buf_init(&secrets, 0);
    enum rig_rc rc = rig_target_plan_write(&t->settings, t->matrix, t->args, &yaml, &secrets, err);
    if (rc == RIG_OK)
        rc = rig_output_save(&yaml, file, err);
    if (rc == RIG_OK && secrets.size > 0)
        rig_cli_complain("%s has no secret: set %s in the environment of `rig run`", file, rig_buf_text(&secrets));
    rig_buf_done(&yaml);
    rig_buf_done(&secrets);
    return rc;
}

static enum rig_rc make_folder(struct trying *t, struct rig_err *err)
{
    const char *given = rig_arguments_value(t->args, "output"), *parent = getenv("TMPDIR");
    if (given != NULL) {
        (void)snprintf(t->folder, sizeof t->folder, "%s", given);
        return RIG_OK;
    }
    (void)snprintf(t->folder, sizeof t->folder, "%s/rig-try-XXXXXX", parent != NULL ? parent : "/tmp");
    return mkdtemp(t->folder) != NULL ? RIG_OK : rig_fail(err, RIG_E_IO, "%s: cannot create the folder", t->folder);
}

/* A folder of its own is removed, unless a level was refuted: then its records are the evidence. */
static void leave_folder(const struct trying *t, int status)
{
    if (rig_arguments_has(t->args, "output"))
        return;
    if (status == RIG_EXIT_ANOMALY)
        rig_cli_complain("the records and reports are in %s/cells", t->folder);
    else
        rig_folder_remove(t->folder);
}

int rig_cli_try(int argc, char **argv)
{
    struct rig_arguments args;
    struct rig_err err = {0};
    int status = rig_arguments_parse(&table_of_try, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    char duration[64];
    static struct trying t; /* one command a process */
    t.args = &args;
    rig_buf_init(&t.settings, 0);
    enum rig_rc rc = rig_target_url_settings(args.positionals[0], &t.settings, &err);
    rig_target_url_hide(args.positionals[0]);
    if (rc == RIG_OK)
        rc = rig_target_plan_matrix(&t.settings, t.matrix, sizeof t.matrix, &err);
    if (rc == RIG_OK)
        rc = keep_plan(&t, &err);
    if (rc == RIG_OK)
        rc = make_folder(&t, &err);
    if (rc != RIG_OK) {
        status = rig_cli_fail(&err);
    } else {
        collect(&t, duration);
        status = rig_cli_matrix_for(t.argc, t.argv, write_table);
        leave_folder(&t, status);
    }
    rig_buf_done(&t.settings);
    return status;
}
