#include "drivers/sql/program_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/data_folder.h"
#include "drivers/sql/program_text.h"
#include "drivers/sql/program_turn.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_text.h"

const char *const rig_sql_processes_words[] = {"each", "one", NULL};

static const int64_t goodbye_ns = INT64_C(1000000000);

struct rig_sql_program_run *rig_sql_program_run_of(const struct rig_sql_run *run)
{
    return (struct rig_sql_program_run *)run;
}

/* ---- connections ---- */

/* The level, for a session whose program sets it. */
static void write_open(const struct rig_sql_program_run *run, struct rig_json_writer *writer)
{
    const struct rig_sql_program_options *options = run->options;
    rig_json_begin_object(writer, "open");
    if (run->connection != NULL)
        rig_json_string(writer, "connection", run->connection);
    else if (rig_sql_given(options->connection))
        rig_json_string(writer, "connection", options->connection);
    else if (rig_sql_given(options->dsn))
        rig_json_string(writer, "connection", options->dsn);
    if (rig_sql_given(options->sql.user))
        rig_json_string(writer, "user", options->sql.user);
    if (rig_sql_given(options->sql.password))
        rig_json_string(writer, "password", options->sql.password);
    rig_json_bool(writer, "autocommit", run->dialect->by_text);
    if (run->dialect->level_by_call && run->level->is[0] != '\0')
        rig_json_string(writer, "isolation", run->level->is);
    rig_json_end(writer);
}

static void take_version(struct rig_sql_program_run *run, const json_t *answer)
{
    const char *server = json_string_value(json_object_get(answer, "server"));
    if (server != NULL && run->sql.server_version[0] == '\0')
        rig_sql_one_line(run->sql.server_version, sizeof run->sql.server_version, server);
}

static enum rig_rc open_session(struct rig_sql_program_run *run, struct rig_sql_program_connection *connection,
                                bool for_client, struct rig_err *err)
{
    struct rig_sql_program_request request = {0};
    struct rig_json_writer writer;
    rig_sql_link_begin(&connection->link, &writer);
    write_open(run, &writer);
    if (!rig_sql_program_exchange(connection, &writer, &request))
        return rig_fail(err, RIG_E_CLUSTER, "%s: %s", run->dialect->product, request.text);
    if (!for_client)
        take_version(run, request.answer);
    const json_t *backend = json_object_get(request.answer, "backend");
    connection->sql.backend = json_is_integer(backend) ? json_integer_value(backend) : 0;
    json_decref(request.answer);
    return RIG_OK;
}

/* Sets the level by a statement, where the dialect has one. */
static enum rig_rc set_up(struct rig_sql_program_run *run, struct rig_sql_program_connection *connection,
                          struct rig_err *err)
{
    const struct rig_sql_dialect_file *dialect = run->dialect;
    struct rig_buf sql;
    enum rig_rc rc = RIG_OK;
    if (dialect->session_setup != NULL)
        rc = rig_sql_program_script(connection, dialect, dialect->session_setup, NULL, NULL, err);
    if (rc != RIG_OK || dialect->level_statement == NULL || run->level->is[0] == '\0')
        return rc;
    rig_buf_init(&sql, 0);
    rig_sql_dialect_add_level(dialect->level_statement, run->level, &sql);
    rc = sql.failed ? rig_no_memory(err, "a session's settings")
                    : rig_sql_program_script(connection, dialect, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

static enum rig_rc connect_to_server(struct rig_sql_run *sql, uint32_t server, bool for_client,
                                     struct rig_sql_waiter *waiter, int64_t deadline_ns,
                                     struct rig_sql_connection *connection, struct rig_err *err)
{
    struct rig_sql_program_run *run = rig_sql_program_run_of(sql);
    struct rig_sql_program_connection *own = (struct rig_sql_program_connection *)connection;
    (void)server; /* the only one */
    *own = (struct rig_sql_program_connection){
        .dialect = run->dialect,
        .patience = {.core = waiter->core, .deadline_ns = deadline_ns, .wake = for_client ? &waiter->wake : NULL}};
    enum rig_rc rc = rig_sql_link_open(&own->link, &run->programs, &own->patience, err);
    if (rc == RIG_OK)
        rc = open_session(run, own, for_client, err);
    return rc == RIG_OK ? set_up(run, own, err) : rc;
}

struct shown {
    char text[64];
    uint32_t count;
};

static void take_shown(void *context, const char *const *values, uint32_t count)
{
    struct shown *shown = context;
    if (count > 0 && values[0] != NULL)
        (void)snprintf(shown->text, sizeof shown->text, "%s", values[0]);
    shown->count++;
}

/* Asks for the level in force, in a transaction where its beginning sets it. */
static enum rig_rc ask_level(const struct rig_sql_program_run *run, struct rig_sql_program_connection *connection,
                             struct shown *shown, struct rig_err *err)
{
    const struct rig_sql_dialect_file *dialect = run->dialect;
    struct rig_buf begin;
    enum rig_rc rc = RIG_OK;
    if (dialect->level_by_begin) {
        rig_buf_init(&begin, 0);
        rig_sql_dialect_add_level(dialect->begin, run->level, &begin);
        rc = rig_sql_program_script(connection, dialect, rig_buf_text(&begin), NULL, NULL, err);
        rig_buf_done(&begin);
    }
    if (rc == RIG_OK)
        rc = rig_sql_program_script(connection, dialect, dialect->level_query, take_shown, shown, err);
    if (rc == RIG_OK && dialect->level_by_begin)
        rc = rig_sql_program_script(connection, dialect, dialect->rollback, NULL, NULL, err);
    return rc;
}

/* Reads back the level in force: a library may accept one, and keep another. */
static enum rig_rc check_level(const struct rig_sql_program_run *run, struct rig_sql_program_connection *connection,
                               struct rig_err *err)
{
    struct shown shown = {.count = 0};
    if (run->dialect->level_query == NULL || run->level->is[0] == '\0')
        return RIG_OK;
    const enum rig_rc rc = ask_level(run, connection, &shown, err);
    if (rc != RIG_OK || (shown.count == 1 && strcmp(shown.text, run->level->shows) == 0))
        return rc;
    return rig_fail(
        err, RIG_E_CLUSTER,
        "%s keeps another isolation level: `%.200s` gives `%s`, and %s is `%s`; give a level that it keeps, or "
        "mend the dialect",
        run->dialect->product, run->dialect->level_query, shown.text, run->level->name, run->level->shows);
}

static enum rig_rc prepare_connection(struct rig_sql_session *session, struct rig_sql_connection *connection,
                                      int64_t deadline_ns, struct rig_err *err)
{
    struct rig_sql_program_connection *own = (struct rig_sql_program_connection *)connection;
    own->patience.deadline_ns = deadline_ns;
    return check_level(rig_sql_program_run_of(session->run), own, err);
}

static void disconnect(struct rig_sql_connection *connection)
{
    struct rig_sql_program_connection *own = (struct rig_sql_program_connection *)connection;
    rig_sql_link_close(&own->link, own->lost ? 0 : goodbye_ns);
}

static enum rig_rc run_query(struct rig_sql_connection *connection, const char *sql, int64_t deadline_ns,
                             rig_sql_tell tell, void *context, struct rig_err *err)
{
    struct rig_sql_program_connection *own = (struct rig_sql_program_connection *)connection;
    own->patience.deadline_ns = deadline_ns;
    return rig_sql_program_script(own, own->dialect, sql, tell, context, err);
}

/* ---- the run's tables ---- */

static void tell_no_others(struct rig_sql_own *own)
{
    (void)own; /* catalogues differ: a run names its own tables alone */
}

static void write_remedy(const struct rig_sql_run *run, char *text, size_t size)
{
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sql_program_schema_drop(&rig_sql_program_run_of(run)->schema, &sql);
    (void)snprintf(text, size, "%.500s", rig_buf_text(&sql));
    rig_buf_done(&sql);
}

static void remind(struct rig_sql_own *own, char *text, size_t size)
{
    char remedy[RIG_SQL_REMEDY_BYTES];
    write_remedy(own->run, remedy, sizeof remedy);
    (void)snprintf(text, size, "tables of a run are on %s: %s removes them", rig_sql_run_server_name(own->run, 0),
                   remedy);
}

static void take_version_cell(void *context, const char *const *values, uint32_t count)
{
    struct rig_sql_program_run *run = context;
    if (count > 0 && values[0] != NULL)
        rig_sql_one_line(run->sql.server_version, sizeof run->sql.server_version, values[0]);
}

static void name_table(const struct rig_sql_own *own, uint32_t table, char name[static RIG_SQL_RANDOM_TABLE_BYTES])
{
    rig_sql_program_schema_table(&rig_sql_program_run_of(own->run)->schema, table, name);
}

static enum rig_rc create(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_sql_program_run *run = rig_sql_program_run_of(own->run);
    struct rig_buf sql;
    rig_buf_init(&sql, RIG_SQL_SCRIPT_MOST);
    rig_sql_program_schema_create(&run->schema, &sql);
    enum rig_rc rc = sql.failed ? rig_no_memory(err, "the run's tables")
                                : rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    if (rc == RIG_OK && run->dialect->version_query != NULL)
        rc = rig_sql_own_query(own, run->dialect->version_query, take_version_cell, run, err);
    if (rc == RIG_OK)
        rc = check_level(run, (struct rig_sql_program_connection *)own->connection, err);
    if (rc == RIG_OK)
        rc = rig_sql_program_canary(run, (struct rig_sql_program_connection *)own->connection, err);
    if (rc != RIG_OK || run->sql.env->workload != RIG_WORKLOAD_SQL || run->sql.env->rows != NULL)
        return rc;
    return rig_sql_random_prepare(rig_sql_program_random_dialect(run->dialect), own, (uint32_t)run->options->sql.tables,
                                  name_table, err);
}

static bool left_nothing(struct rig_sql_own *own)
{
    (void)own;
    return false; /* some tables may be there */
}

static enum rig_rc drop(struct rig_sql_own *own, struct rig_err *err)
{
    const struct rig_sql_program_run *run = rig_sql_program_run_of(own->run);
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sql_program_schema_drop(&run->schema, &sql);
    const enum rig_rc rc = rig_sql_own_query(own, rig_buf_text(&sql), NULL, NULL, err);
    rig_buf_done(&sql);
    return rc;
}

static const struct rig_sql_tables tables = {.tell_others = tell_no_others,
                                             .remind = remind,
                                             .create = create,
                                             .left_nothing = left_nothing,
                                             .drop = drop,
                                             .remedy = write_remedy};

static struct rig_sql_dialect dialect(const struct rig_sql_run *run)
{
    return rig_sql_program_schema_dialect(&rig_sql_program_run_of(run)->schema);
}

static const struct rig_sql_client client = {
    .connection_bytes = sizeof(struct rig_sql_program_connection),
    .turn_bytes = sizeof(struct rig_sql_program_turn),
    .share_stream = UINT64_C(3) << 48,
    .trusts_single = true,
    .connect = connect_to_server,
    .prepare = prepare_connection,
    .disconnect = disconnect,
    .query = run_query,
    .run = rig_sql_program_turn_run,
    .begin = rig_sql_program_turn_begin,
    .operate = rig_sql_program_turn_operate,
    .execute = rig_sql_program_turn_execute,
    .commit = rig_sql_program_turn_commit,
    .settle = rig_sql_program_turn_settle,
    .tables = &tables,
    .texts = &rig_sql_program_texts,
    .dialect = dialect,
};

/* ---- hooks ---- */

enum rig_rc rig_sql_program_check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct rig_sql_program_options *options = object;
    const struct rig_sql_dialect_level *level = NULL;
    struct rig_sql_dialect_file *dialect = NULL;
    (void)workload;
    enum rig_rc rc = rig_command_options_check(&options->servers, err);
    if (rc == RIG_OK && options->servers.command.count > 0)
        rc = rig_command_text_check("connection", options->connection, (unsigned)options->servers.nodes, err);
    if (rc == RIG_OK)
        rc = rig_sql_dialect_load(options->dialect, &dialect, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_err own = {0};
    if (rig_sql_dialect_find_level(dialect, options->isolation, &level, &own) != RIG_OK)
        rc = rig_fail(err, RIG_E_PLAN, "database.isolation: %s", own.text);
    if (rc == RIG_OK && options->sql.declare_read_only && dialect->begin_read_only == NULL)
        rc =
            rig_fail(err, RIG_E_PLAN,
                     "database.declare-read-only: the dialect %s has no `transactions.begin-read-only`", dialect->name);
    rig_sql_dialect_free(dialect);
    return rc;
}

/* An argument that names one of the programs that rig ships, and no file in the working folder, becomes its path. */
static const char *find_shim(struct rig_sql_program_run *run, const char *argument)
{
    char path[4096];
    struct rig_buf tried;
    const char *found = argument;
    rig_buf_init(&tried, 0);
    if (strchr(argument, '/') == NULL && strchr(argument, '.') != NULL && access(argument, R_OK) != 0 &&
        rig_data_folder_find(&rig_data_shims, argument, path, sizeof path, &tried)) {
        found = rig_arena_text(&run->dialect->arena, path, strlen(path));
        found = found == NULL ? argument : found;
    }
    rig_buf_done(&tried);
    return found;
}

static enum rig_rc find_command(struct rig_sql_program_run *run, const struct rig_text_list *command,
                                struct rig_err *err)
{
    if (command->count == 0)
        return rig_fail(err, RIG_E_PLAN, "`command`: expected a program and its arguments");
    if (getcwd(run->home, sizeof run->home) == NULL)
        return rig_fail(err, RIG_E_DRIVER, "the folder in which rig runs no longer exists: %s", strerror(errno));
    run->arguments = calloc(command->count + 1, sizeof *run->arguments);
    if (run->arguments == NULL)
        return rig_no_memory(err, "a command");
    for (size_t i = 0; i < command->count; i++)
        run->arguments[i] = i == 0 ? run->program : find_shim(run, command->at[i]);
    return rig_line_program_find(command->at[0], run->home, run->program, sizeof run->program, err);
}

enum rig_rc rig_sql_program_init(struct rig_sql_program_run *run, const struct rig_run_env *env,
                                 const struct rig_text_list *command, const char *name, struct rig_err *err)
{
    run->options = env->options;
    run->client = client;
    run->sql.env = env; /* for a `done` after a failure */
    enum rig_rc rc = rig_command_cluster_init(&run->cluster, "sql", env, &run->options->servers, err);
    if (rc == RIG_OK)
        rc = rig_sql_dialect_load(run->options->dialect, &run->dialect, err);
    if (rc == RIG_OK)
        rc = rig_sql_dialect_find_level(run->dialect, run->options->isolation, &run->level, err);
    if (rc == RIG_OK) {
        run->client.area = "sql";
        run->client.product = run->dialect->product;
        run->client.outcomes = &run->dialect->outcomes;
        const bool starts = run->options->servers.command.count > 0;
        run->sql.server_name = starts ? "node-1" : name == NULL ? run->dialect->product : name;
        rc = rig_sql_run_init(&run->sql, &run->client, env, NULL, err);
    }
    if (rc == RIG_OK)
        rc = rig_sql_program_schema_init(&run->schema, run->dialect, env, &run->options->sql, err);
    if (rc == RIG_OK)
        rc = find_command(run, command, err);
    run->programs = (struct rig_sql_programs){.env = env,
                                              .arguments = run->arguments,
                                              .home = run->home,
                                              .most_bytes = (size_t)run->options->sql.max_answer_bytes,
                                              .shared = run->options->processes == 1};
    return rc == RIG_OK ? rig_sql_programs_init(&run->programs, err) : rc;
}

void rig_sql_program_done(void *object)
{
    struct rig_sql_program_run *run = object;
    if (run->sql.env == NULL)
        return;
    rig_command_cluster_done(&run->cluster);
    free(run->connection);
    run->connection = NULL;
    rig_sql_programs_done(&run->programs);
    rig_sql_program_schema_done(&run->schema);
    if (run->sql.client != NULL)
        rig_sql_run_done(&run->sql);
    rig_sql_dialect_free(run->dialect);
    free(run->arguments);
    run->arguments = NULL;
    run->dialect = NULL;
    run->sql.env = NULL;
}

void rig_sql_program_describe(void *object, char *text, size_t size)
{
    const struct rig_sql_program_run *run = object;
    const char *version = run->sql.server_version;
    (void)snprintf(text, size, "%s", version[0] != '\0' ? version : run->dialect->product);
}

/* The words are the dialect's `shell`. */
static enum rig_rc write_shell(const void *object, const struct rig_row_schema *rows, struct rig_row_shell *shell,
                               struct rig_err *err)
{
    const struct rig_sql_program_options *options = object;
    const struct rig_sql_dialect_level *level = NULL;
    struct rig_sql_dialect_file *dialect = NULL;
    enum rig_rc rc = rig_sql_dialect_load(options->dialect, &dialect, err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_sql_dialect_find_level(dialect, options->isolation, &level, err);
    if (rc == RIG_OK && dialect->shell.run == NULL)
        rc =
            rig_fail(err, RIG_E_PLAN, "the dialect %s names no shell of the database: give its `shell`", dialect->name);
    if (rc == RIG_OK)
        rig_sql_program_schema_shell(dialect, level, rows, shell);
    rig_sql_dialect_free(dialect);
    return rc;
}

const struct rig_row_ops rig_sql_program_row_ops = {.load = rig_sql_run_load,
                                                    .run_program = rig_sql_session_run_program,
                                                    .query = rig_sql_run_query,
                                                    .shell = write_shell};

const struct rig_text_ops rig_sql_program_text_ops = {.space = rig_sql_text_space, .execute = rig_sql_text_execute};

/* ---- nodes that rig starts by a command (drivers/local/command_cluster.h) ---- */

RIG_COMMAND_CLUSTER_IN(struct rig_sql_program_options, struct rig_sql_program_run)

bool rig_command_cluster_is_routed(const void *options)
{
    const char *connection = ((const struct rig_sql_program_options *)options)->connection;
    return connection != NULL && rig_command_text_is_routed(connection);
}

enum rig_rc rig_command_cluster_started(void *object, struct rig_err *err)
{
    struct rig_sql_program_run *run = object;
    run->sql.own_servers = true;
    if (run->options->connection == NULL)
        return RIG_OK;
    free(run->connection);
    run->connection = rig_command_client_text(&run->cluster, run->options->connection, err);
    return run->connection == NULL ? RIG_E_PLAN : RIG_OK;
}
