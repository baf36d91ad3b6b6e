#include "drivers/sql/sql_run.h"

#include <stdlib.h>

#include "base/bug.h"
#include "drivers/sql/sql_cluster.h"

enum rig_rc rig_sql_run_init(struct rig_sql_run *run, const struct rig_sql_client *client,
                             const struct rig_run_env *env, struct rig_sql_cluster *cluster, struct rig_err *err)
{
    run->client = client;
    run->env = env;
    run->options = env->options;
    run->cluster = cluster;
    enum rig_rc rc = rig_wakes_init(&run->wakes, env->client_count, err);
    if (rc == RIG_OK)
        rc = rig_sql_options_shares(run->options, run->level_up_to, err);
    for (int64_t level = 0; level < RIG_SQL_ISOLATION_COUNT && rig_sql_given(run->options->isolation_shares); level++)
        run->level_names[level] = env->core->name(rig_sql_isolation_words[level]);
    if (rc == RIG_OK)
        rc = rig_tls_options_find_files(&run->options->tls, err);
    return rc != RIG_OK ? rc
                        : rig_sql_hosts_init(&run->hosts, &run->options->hosts, &run->options->read_only_hosts, err);
}

void rig_sql_run_done(struct rig_sql_run *run)
{
    rig_wakes_done(&run->wakes);
    rig_sql_hosts_done(&run->hosts);
    run->env = NULL;
}

/* ---- servers ---- */

bool rig_sql_run_is_local(const struct rig_sql_run *run)
{
    return run->cluster != NULL && run->options->hosts.count == 0;
}

uint32_t rig_sql_run_server_count(const struct rig_sql_run *run)
{
    if (rig_sql_run_is_local(run))
        return run->options->nodes > 1 ? (uint32_t)run->options->nodes : 1;
    return run->server_name != NULL ? 1 : rig_sql_hosts_count(&run->hosts);
}

const char *rig_sql_run_server_name(const struct rig_sql_run *run, uint32_t server)
{
    RIG_REQUIRE(server < rig_sql_run_server_count(run));
    if (run->server_name != NULL)
        return run->server_name;
    return rig_sql_run_is_local(run) ? rig_sql_cluster_node(run->cluster, server)->name
                                     : rig_sql_hosts_name(&run->hosts, server);
}

/* The connection of a search. */
struct opening {
    struct rig_sql_run *run;
    const struct rig_sql_opening *by;
};

static enum rig_rc open_server(void *context, uint32_t server, int64_t deadline_ns, bool *refuses_writes,
                               struct rig_err *err)
{
    const struct opening *opening = context;
    const struct rig_sql_run *run = opening->run;
    const enum rig_rc rc = opening->by->open(opening->by->context, opening->by->connection, server, deadline_ns, err);
    /* Asked once the connection knows its role: a session that is opened in between is refused. */
    const bool held_back = rig_sql_run_is_local(run) && run->client->nodes->holds_back != NULL &&
                           run->client->nodes->holds_back(run, server);
    *refuses_writes = opening->by->connection->refuses_writes || held_back;
    return rc;
}

static void drop_connection(void *context)
{
    const struct opening *opening = context;
    opening->run->client->disconnect(opening->by->connection);
    opening->by->connection->open = false;
}

static const char *name_of(void *context, uint32_t server)
{
    return rig_sql_run_server_name(((const struct opening *)context)->run, server);
}

static enum rig_rc run_search(struct opening *opening, struct rig_sql_search *search, uint32_t *server,
                              struct rig_err *err)
{
    const struct rig_sql_run *run = opening->run;
    search->open = open_server;
    search->drop = drop_connection;
    search->name = name_of;
    search->context = opening;
    return rig_sql_search_run(search, run->env->core, run->options->connect_timeout_ns, server, err);
}

enum rig_rc rig_sql_run_open_writer(struct rig_sql_run *run, uint32_t client, const struct rig_sql_opening *by,
                                    uint32_t *server, struct rig_err *err)
{
    const bool local = rig_sql_run_is_local(run);
    const uint32_t primary = local ? run->client->nodes->primary(run) : UINT32_MAX;
    struct opening opening = {run, by};
    struct rig_sql_search search = {.want_refusing = false};
    search.count =
        local || run->server_name != NULL ? rig_sql_run_server_count(run) : (uint32_t)run->options->hosts.count;
    search.first = primary == UINT32_MAX ? client % search.count : primary;
    search.any_role = run->client->trusts_single && search.count == 1; /* it rejects unsuitable transactions itself */
    return run_search(&opening, &search, server, err);
}

enum rig_rc rig_sql_run_open_reader(struct rig_sql_run *run, uint32_t client, uint32_t writer,
                                    const struct rig_sql_opening *by, uint32_t *server, struct rig_err *err)
{
    const enum rig_sql_reads_from from = (enum rig_sql_reads_from)run->options->reads_from;
    struct opening opening = {run, by};
    struct rig_sql_search search = {.want_refusing = true};
    *server = writer;
    if (!rig_sql_search_readers(&search, from, &run->hosts, rig_sql_run_server_count(run), client, writer))
        return RIG_OK;
    return run_search(&opening, &search, server, err);
}

/* ---- the run's own connections ---- */

static enum rig_rc open_own(void *context, struct rig_sql_connection *connection, uint32_t server, int64_t deadline_ns,
                            struct rig_err *err)
{
    struct rig_sql_own *own = context;
    return own->run->client->connect(own->run, server, false, &own->waiter, deadline_ns, connection, err);
}

static enum rig_rc begin_own(struct rig_sql_own *own, struct rig_sql_run *run, bool to_the_end, struct rig_err *err)
{
    *own = (struct rig_sql_own){.run = run, .waiter = {.core = run->env->core, .to_the_end = to_the_end}};
    own->connection = calloc(1, run->client->connection_bytes);
    return own->connection == NULL ? rig_no_memory(err, "a connection") : RIG_OK;
}

enum rig_rc rig_sql_own_connect(struct rig_sql_own *own, struct rig_sql_run *run, bool to_the_end, struct rig_err *err)
{
    uint32_t server;
    enum rig_rc rc = begin_own(own, run, to_the_end, err);
    if (rc == RIG_OK)
        rc = rig_sql_run_open_writer(run, 0, &(struct rig_sql_opening){open_own, own, own->connection}, &server, err);
    own->deadline_ns = rig_sql_own_deadline_ns(run->env->core, run->options->transaction_timeout_ns);
    return rc;
}

enum rig_rc rig_sql_own_connect_to(struct rig_sql_own *own, struct rig_sql_run *run, uint32_t server, bool to_the_end,
                                   int64_t timeout_ns, struct rig_err *err)
{
    enum rig_rc rc = begin_own(own, run, to_the_end, err);
    own->deadline_ns = run->env->core->now_ns() + timeout_ns;
    return rc != RIG_OK ? rc : open_own(own, own->connection, server, own->deadline_ns, err);
}

void rig_sql_own_disconnect(struct rig_sql_own *own)
{
    if (own->connection != NULL)
        own->run->client->disconnect(own->connection);
    free(own->connection);
    own->connection = NULL;
}

enum rig_rc rig_sql_own_query(struct rig_sql_own *own, const char *sql, rig_sql_tell tell, void *context,
                              struct rig_err *err)
{
    return own->run->client->query(own->connection, sql, own->deadline_ns, tell, context, err);
}

/* ---- the run's tables ---- */

static void forget_tables(struct rig_sql_run *run)
{
    run->env->core->forget(run->reminder);
    run->reminder = 0;
}

static enum rig_rc create_tables(struct rig_sql_own *own, struct rig_err *err)
{
    struct rig_sql_run *run = own->run;
    const bool given = !rig_sql_run_is_local(run) && !run->own_servers;
    char text[RIG_ERR_TEXT_BYTES];
    if (given) {
        run->client->tables->remind(own, text, sizeof text);
        run->reminder = run->env->core->remind(text);
    }
    run->created = true;
    const enum rig_rc rc = run->client->tables->create(own, err);
    if (rc != RIG_OK && given && run->client->tables->left_nothing(own)) {
        run->created = false;
        forget_tables(run);
    }
    return rc;
}

enum rig_rc rig_sql_run_setup(void *object, struct rig_err *err)
{
    struct rig_sql_run *run = object;
    struct rig_sql_own own;
    enum rig_rc rc = rig_sql_own_connect(&own, run, false, err);
    if (rc == RIG_OK && !rig_sql_run_is_local(run))
        run->client->tables->tell_others(&own);
    if (rc == RIG_OK && run->options->two_phase > 0)
        rc = run->client->tables->check_two_phase(&own, err);
    if (rc == RIG_OK)
        rc = create_tables(&own, err);
    if (rc == RIG_OK && run->client->tables->created != NULL)
        rc = run->client->tables->created(&own, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

static void log_two_phase(const struct rig_sql_run *run)
{
    const struct rig_sql_two_phase *numbers = &run->two_phase;
    if (run->options->two_phase > 0)
        run->env->core->log(
            2, run->client->area,
            "two-phase: %llu transactions were prepared, %llu of them answered as committed, %llu rolled back later",
            (unsigned long long)atomic_load(&numbers->prepared), (unsigned long long)atomic_load(&numbers->committed),
            (unsigned long long)atomic_load(&numbers->rolled_back));
}

static void drop_tables(struct rig_sql_run *run)
{
    const struct rig_core *core = run->env->core;
    struct rig_sql_own own;
    struct rig_err err = {.rc = RIG_OK};
    char remedy[RIG_SQL_REMEDY_BYTES];
    run->client->tables->remedy(run, remedy, sizeof remedy);
    if (run->options->keep_tables) {
        core->log(2, run->client->area, "the run's tables are kept; %s removes them", remedy);
        core->forget(run->reminder);
        return;
    }
    enum rig_rc rc = rig_sql_own_connect(&own, run, true, &err);
    if (rc == RIG_OK)
        rc = run->client->tables->drop(&own, &err);
    rig_sql_own_disconnect(&own);
    if (rc == RIG_OK)
        core->forget(run->reminder);
    else
        core->log(0, run->client->area, "the run's tables remain on the server: %s; %s removes them", err.text, remedy);
}

void rig_sql_run_teardown(void *object)
{
    struct rig_sql_run *run = object;
    const bool given = !rig_sql_run_is_local(run) && !run->own_servers;
    if (!run->created)
        return;
    /* They would block the removal of the tables. */
    if (given && run->options->two_phase > 0)
        run->client->tables->remove_prepared(run);
    log_two_phase(run);
    if (run->client->tables->release != NULL)
        run->client->tables->release(run);
    /* rig's own cluster is removed as a whole. */
    if (given)
        drop_tables(run);
}

/* ---- settings ---- */

struct told {
    void (*tell)(void *context, const char *name, const char *value);
    void *context;
};

static void tell_pair(void *context, const char *const *values, uint32_t count)
{
    const struct told *told = context;
    if (count == 2)
        told->tell(told->context, values[0], values[1]);
}

void rig_sql_run_tell_settings(struct rig_sql_run *run, const char *question,
                               void (*tell)(void *context, const char *name, const char *value), void *context)
{
    struct rig_sql_own own;
    struct rig_err ignored = {.rc = RIG_OK};
    struct told told = {.tell = tell, .context = context};
    if (rig_sql_own_connect(&own, run, false, &ignored) == RIG_OK)
        (void)rig_sql_own_query(&own, question, tell_pair, &told, &ignored);
    rig_sql_own_disconnect(&own);
}

/* ---- programs ---- */

static enum rig_rc run_script(struct rig_sql_run *run, struct rig_buf *sql, const char *what, rig_sql_tell tell,
                              void *context, struct rig_err *err)
{
    struct rig_sql_own own;
    enum rig_rc rc = rig_sql_own_connect(&own, run, false, err);
    if (rc == RIG_OK)
        rc = sql->failed ? rig_no_memory(err, what) : rig_sql_own_query(&own, rig_buf_text(sql), tell, context, err);
    rig_sql_own_disconnect(&own);
    rig_buf_done(sql);
    return rc;
}

enum rig_rc rig_sql_run_load(void *object, uint32_t table, const int64_t *cells, uint32_t row_count,
                             struct rig_err *err)
{
    struct rig_sql_run *run = object;
    const struct rig_row_schema *schema = run->env->rows;
    const struct rig_sql_dialect dialect = run->client->dialect(run);
    struct rig_buf sql;
    RIG_REQUIRE(table < schema->table_count);
    if (row_count == 0)
        return RIG_OK;
    rig_buf_init(&sql, RIG_SQL_SCRIPT_MOST);
    rig_sql_insert_rows(&dialect, &schema->tables[table], cells, row_count, &sql);
    return run_script(run, &sql, "the rows of the program's tables", NULL, NULL, err);
}

enum rig_rc rig_sql_run_query(void *object, const char *query, rig_sql_tell tell, void *context, struct rig_err *err)
{
    struct rig_sql_run *run = object;
    const struct rig_sql_dialect dialect = run->client->dialect(run);
    struct rig_buf sql;
    rig_buf_init(&sql, RIG_SQL_SCRIPT_MOST);
    rig_sql_query(&dialect, query, &sql);
    return run_script(run, &sql, "a query", tell, context, err);
}
