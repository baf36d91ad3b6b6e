/*
 * Errors answered by a running server: each SQLSTATE of the outcome table raised before and at COMMIT, and the
 * situations that cause them. After each the table's row must hold on the wire: the outcome, the code, whether the
 * session can go on, and whether the write is in the database.
 */
#include "tests/system/postgres/pg_harness.h"

#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"

/* Two sessions, and one of the test's own, on fresh tables. */
struct scene {
    struct harness run;
    struct client first;
    struct client second;
    PGconn *pg;
};

static void set_scene(struct scene *scene, const struct rig_pg_options *options)
{
    harness_attach(&scene->run, &harness_server, options);
    client_open(&scene->first, &scene->run);
    client_open(&scene->second, &scene->run);
    scene->pg = sql_connect(&scene->run);
}

static void clear_scene(struct scene *scene)
{
    client_close(&scene->first);
    client_close(&scene->second);
    PQfinish(scene->pg);
    harness_stop(&scene->run);
}

static struct rig_pg_options options_of(bool pipeline, enum rig_sql_isolation isolation)
{
    struct rig_pg_options options;
    harness_defaults(&options);
    options.pipeline = pipeline;
    options.sql.isolation = isolation;
    return options;
}

/* The session can run another transaction, and the server has no old one open. */
static void expect_usable(struct client *client)
{
    assert_false(client->transaction.session_lost);
    client_begin(client);
    client_append(client, 99, 1);
    client_read(client, 99);
    expect_outcome(client, client_run(client), RIG_OUTCOME_OK, "");
}

/* ---- every SQLSTATE ---- */

/* Raises the error that the table `forced` holds, for the keys that rig writes. */
static void install_trigger(PGconn *pg, bool at_commit)
{
    (void)sql(pg, "CREATE TABLE public.forced (code text)");
    (void)sql(
        pg, "CREATE OR REPLACE FUNCTION public.force() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE c text; BEGIN "
            "SELECT code INTO c FROM public.forced; IF c IS NOT NULL THEN RAISE EXCEPTION 'forced' USING ERRCODE = c; "
            "END IF; RETURN NULL; END $$");
    (void)sql(pg,
              "CREATE CONSTRAINT TRIGGER forcing AFTER INSERT OR UPDATE ON rig_list_0 DEFERRABLE INITIALLY %s FOR "
              "EACH ROW EXECUTE FUNCTION public.force()",
              at_commit ? "DEFERRED" : "IMMEDIATE");
}

static void force_each(bool pipeline, bool at_commit)
{
    static const struct {
        const char *code;
        enum rig_outcome at_commit;
        bool lost_before;
    } rows[] = {
        {"40001", RIG_OUTCOME_FAIL, false}, {"40P01", RIG_OUTCOME_FAIL, false}, {"23505", RIG_OUTCOME_FAIL, false},
        {"23503", RIG_OUTCOME_FAIL, false}, {"55P03", RIG_OUTCOME_FAIL, false}, {"40003", RIG_OUTCOME_INFO, false},
        {"57014", RIG_OUTCOME_INFO, false}, {"57P01", RIG_OUTCOME_INFO, true},  {"57P02", RIG_OUTCOME_INFO, true},
        {"57P03", RIG_OUTCOME_INFO, true},  {"57P05", RIG_OUTCOME_INFO, true},  {"08000", RIG_OUTCOME_INFO, true},
        {"08006", RIG_OUTCOME_INFO, true},  {"25P04", RIG_OUTCOME_INFO, true},  {"53100", RIG_OUTCOME_INFO, false},
        {"XX000", RIG_OUTCOME_INFO, false}, {"P0001", RIG_OUTCOME_INFO, false},
    };
    struct rig_pg_options options = options_of(pipeline, RIG_SQL_READ_COMMITTED);
    struct scene scene;
    set_scene(&scene, &options);
    install_trigger(scene.pg, at_commit);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct client client;
        client_open(&client, &scene.run);
        (void)sql(scene.pg, "INSERT INTO public.forced VALUES ('%s')", rows[i].code);
        client_begin(&client);
        client_append(&client, 1, (int64_t)i + 1);
        client_read(&client, 2);
        enum rig_outcome outcome = client_run(&client);
        expect_outcome(&client, outcome, at_commit ? rows[i].at_commit : RIG_OUTCOME_FAIL, rows[i].code);
        assert_int_equal(client.transaction.phase, at_commit ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION);
        assert_string_equal(client.transaction.error_text, "forced");
        (void)sql(scene.pg, "TRUNCATE public.forced");
        bool lost = at_commit ? outcome == RIG_OUTCOME_INFO : rows[i].lost_before;
        assert_int_equal(client.transaction.session_lost, lost);
        if (!lost)
            expect_usable(&client);
        client_close(&client);
        assert_string_equal(sql_list(scene.pg, 1), "nil");
    }
    (void)sql(scene.pg,
              "SET client_min_messages = warning; DROP FUNCTION public.force CASCADE; DROP TABLE public.forced");
    clear_scene(&scene);
}

static void each_code_before_commit(void **state)
{
    (void)state;
    force_each(false, false);
    force_each(true, false);
}

static void each_code_at_commit(void **state)
{
    (void)state;
    force_each(false, true);
    force_each(true, true);
}

/* ---- serialization failures and deadlocks ---- */

static void run_second(void *context)
{
    struct scene *scene = context;
    expect_outcome(&scene->second, client_run(&scene->second), RIG_OUTCOME_OK, "");
}

/* Write skew: the second transaction runs inside the first one's pause. */
static void skew(bool pipeline, bool at_commit)
{
    struct rig_pg_options options = options_of(pipeline, RIG_SQL_SERIALIZABLE);
    struct scene scene;
    set_scene(&scene, &options);
    (void)sql(scene.pg, "INSERT INTO rig_list_0 VALUES (1, '10'), (2, '20')");
    client_begin(&scene.second);
    client_read(&scene.second, 2);
    client_append(&scene.second, 1, 11);
    client_begin(&scene.first);
    client_read(&scene.first, 1);
    client_append(&scene.first, 2, 21);
    client_hold(&scene.first, at_commit ? 2 : 1, run_second, &scene);
    expect_outcome(&scene.first, client_run(&scene.first), RIG_OUTCOME_FAIL, "40001");
    assert_int_equal(scene.first.transaction.phase, at_commit ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION);
    assert_string_equal(sql_list(scene.pg, 1), "10,11");
    assert_string_equal(sql_list(scene.pg, 2), "20");
    expect_usable(&scene.first);
    clear_scene(&scene);
}

static void serialization_failures(void **state)
{
    (void)state;
    for (int bits = 0; bits < 4; bits++)
        skew((bits & 1) != 0, (bits & 2) != 0);
}

/* The second transaction has written key 2 and waits for key 1. */
static void block_second(void *context)
{
    struct scene *scene = context;
    client_start(&scene->second);
    sql_await_wait(scene->pg, client_backend(&scene->second), "transactionid");
}

static void deadlocks(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct rig_pg_options options = options_of(pipeline == 1, RIG_SQL_READ_COMMITTED);
        struct scene scene;
        set_scene(&scene, &options);
        (void)sql(scene.pg, "INSERT INTO rig_list_0 VALUES (1, '10'), (2, '20')");
        client_begin(&scene.second);
        client_append(&scene.second, 2, 22);
        client_append(&scene.second, 1, 12);
        client_begin(&scene.first);
        client_append(&scene.first, 1, 11);
        client_append(&scene.first, 2, 21);
        client_hold(&scene.first, 1, block_second, &scene);
        enum rig_outcome first = client_run(&scene.first);
        enum rig_outcome second = client_join(&scene.second);
        /* Either may be the victim; exactly one is. */
        bool first_lost = first == RIG_OUTCOME_FAIL;
        struct client *victim = first_lost ? &scene.first : &scene.second;
        struct client *winner = first_lost ? &scene.second : &scene.first;
        expect_outcome(victim, first_lost ? first : second, RIG_OUTCOME_FAIL, "40P01");
        expect_outcome(winner, first_lost ? second : first, RIG_OUTCOME_OK, "");
        assert_string_equal(sql_list(scene.pg, 1), first_lost ? "10,12" : "10,11");
        assert_string_equal(sql_list(scene.pg, 2), first_lost ? "20,22" : "20,21");
        expect_usable(victim);
        clear_scene(&scene);
    }
}

/* ---- time-outs ---- */

/* The first session waits for a row that the test's own session holds. */
static void wait_for_lock(struct scene *scene, const char *code, bool lost)
{
    (void)sql(scene->pg, "INSERT INTO rig_list_0 VALUES (1, '10')");
    (void)sql(scene->pg, "BEGIN");
    (void)sql(scene->pg, "UPDATE rig_list_0 SET v = v WHERE k = 1");
    client_begin(&scene->first);
    client_append(&scene->first, 2, 21);
    client_append(&scene->first, 1, 11);
    int64_t start_ns = rig_clock_now_ns();
    expect_outcome(&scene->first, client_run(&scene->first), RIG_OUTCOME_FAIL, code);
    assert_true(rig_clock_now_ns() - start_ns < 25 * RIG_NS_PER_S);
    assert_int_equal(scene->first.transaction.phase, strcmp(code, "timeout") == 0 && scene->run.options.pipeline
                                                         ? RIG_PHASE_COMMIT
                                                         : RIG_PHASE_OPERATION);
    assert_int_equal(scene->first.transaction.session_lost, lost);
    (void)sql(scene->pg, "COMMIT");
    assert_string_equal(sql_list(scene->pg, 1), "10");
    assert_string_equal(sql_list(scene->pg, 2), "nil");
    if (!lost)
        expect_usable(&scene->first);
}

static void server_time_outs(void **state)
{
    (void)state;
    for (int bits = 0; bits < 4; bits++) {
        struct rig_pg_options options = options_of((bits & 1) != 0, RIG_SQL_READ_COMMITTED);
        bool statement = (bits & 2) != 0;
        *(statement ? &options.sql.statement_timeout_ns : &options.sql.lock_timeout_ns) = 50 * RIG_NS_PER_MS;
        struct scene scene;
        set_scene(&scene, &options);
        wait_for_lock(&scene, statement ? "57014" : "55P03", false);
        clear_scene(&scene);
    }
}

static void own_time_out_before_commit(void **state)
{
    (void)state;
    struct rig_pg_options options = options_of(false, RIG_SQL_READ_COMMITTED);
    options.sql.transaction_timeout_ns = 100 * RIG_NS_PER_MS;
    struct scene scene;
    set_scene(&scene, &options);
    wait_for_lock(&scene, "timeout", true);
    clear_scene(&scene);
}

/* In one round trip COMMIT left together with the statements: the client cannot know. The server ends the session
 * although its statement waits, and the locks that it holds are free. */
static void own_time_out_in_a_pipeline(void **state)
{
    (void)state;
    struct rig_pg_options options = options_of(true, RIG_SQL_READ_COMMITTED);
    options.sql.transaction_timeout_ns = 100 * RIG_NS_PER_MS;
    struct scene scene;
    set_scene(&scene, &options);
    (void)sql(scene.pg, "INSERT INTO rig_list_0 VALUES (1, '10')");
    (void)sql(scene.pg, "BEGIN");
    (void)sql(scene.pg, "UPDATE rig_list_0 SET v = v WHERE k = 1");
    client_begin(&scene.first);
    client_append(&scene.first, 2, 21);
    client_append(&scene.first, 1, 11);
    expect_outcome(&scene.first, client_run(&scene.first), RIG_OUTCOME_INFO, "timeout");
    assert_true(scene.first.transaction.session_lost);
    char query[128];
    (void)snprintf(query, sizeof query, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d",
                   client_backend(&scene.first));
    client_close(&scene.first);
    sql_await(scene.pg, query, "0");
    (void)sql(scene.pg, "COMMIT");
    assert_string_equal(sql_list(scene.pg, 1), "10");
    clear_scene(&scene);
}

static void await_idle_end(void *context)
{
    struct scene *scene = context;
    char query[128];
    (void)snprintf(query, sizeof query, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d",
                   client_backend(&scene->first));
    sql_await(scene->pg, query, "0");
}

/* The server ends a session that holds a transaction open for too long; it answers COMMIT with the reason. */
static void idle_in_transaction_time_out(void **state)
{
    (void)state;
    for (int bits = 0; bits < 4; bits++) {
        bool pipeline = (bits & 1) != 0;
        bool at_commit = (bits & 2) != 0;
        struct rig_pg_options options = options_of(pipeline, RIG_SQL_READ_COMMITTED);
        options.conninfo = "options='-c idle_in_transaction_session_timeout=200ms'";
        struct scene scene;
        set_scene(&scene, &options);
        client_begin(&scene.first);
        client_append(&scene.first, 1, 11);
        client_append(&scene.first, 2, 11);
        client_hold(&scene.first, at_commit ? 2 : 1, await_idle_end, &scene);
        expect_outcome(&scene.first, client_run(&scene.first), RIG_OUTCOME_FAIL, "25P03");
        assert_int_equal(scene.first.transaction.phase, at_commit ? RIG_PHASE_COMMIT : RIG_PHASE_OPERATION);
        assert_true(scene.first.transaction.session_lost);
        assert_string_equal(sql_list(scene.pg, 1), "nil");
        clear_scene(&scene);
    }
}

/* ---- the rest ---- */

static void deferred_constraint(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct rig_pg_options options = options_of(pipeline == 1, RIG_SQL_SERIALIZABLE);
        struct scene scene;
        set_scene(&scene, &options);
        (void)sql(scene.pg, "ALTER TABLE rig_list_0 ADD UNIQUE (v) DEFERRABLE INITIALLY DEFERRED");
        client_begin(&scene.first);
        client_append(&scene.first, 1, 5);
        client_append(&scene.first, 2, 5);
        expect_outcome(&scene.first, client_run(&scene.first), RIG_OUTCOME_FAIL, "23505");
        assert_int_equal(scene.first.transaction.phase, RIG_PHASE_COMMIT);
        assert_string_equal(sql_list(scene.pg, 1), "nil");
        expect_usable(&scene.first);
        clear_scene(&scene);
    }
}

static void break_transaction(void *context)
{
    struct scene *scene = context;
    PGresult *result = PQexec(client_connection(&scene->first), "SELECT 1 / 0");
    assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
    PQclear(result);
}

static void commit_answered_by_rollback(void **state)
{
    (void)state;
    struct rig_pg_options options = options_of(false, RIG_SQL_READ_COMMITTED);
    struct scene scene;
    set_scene(&scene, &options);
    client_begin(&scene.first);
    client_append(&scene.first, 1, 11);
    client_hold(&scene.first, 1, break_transaction, &scene);
    expect_outcome(&scene.first, client_run(&scene.first), RIG_OUTCOME_FAIL, "rolled-back");
    assert_string_equal(sql_list(scene.pg, 1), "nil");
    expect_usable(&scene.first);
    clear_scene(&scene);
}

static void foreign_values_are_not_invented(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct rig_pg_options options = options_of(pipeline == 1, RIG_SQL_READ_COMMITTED);
        struct scene scene;
        set_scene(&scene, &options);
        (void)sql(scene.pg, "INSERT INTO rig_list_0 VALUES (1, '10,x')");
        client_begin(&scene.first);
        client_append(&scene.first, 2, 1);
        client_read(&scene.first, 1);
        expect_outcome(&scene.first, client_run(&scene.first), pipeline == 1 ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL,
                       "malformed-value");
        assert_string_equal(client_seen(&scene.first, 1), "unknown");
        assert_string_equal(sql_list(scene.pg, 2), pipeline == 1 ? "1" : "nil");
        clear_scene(&scene);
    }
}

static long peak_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* A row of 40 MB is neither held as a whole, nor waited for. */
static void huge_answers_are_given_up(void **state)
{
    (void)state;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        struct rig_pg_options options = options_of(pipeline == 1, RIG_SQL_READ_COMMITTED);
        struct scene scene;
        options.sql.max_answer_bytes = 1 << 20;
        set_scene(&scene, &options);
        (void)sql(scene.pg, "INSERT INTO rig_list_0 SELECT 1, repeat('1234567,', 5000000) || '1'");
        client_begin(&scene.first);
        client_append(&scene.first, 2, 1);
        client_read(&scene.first, 1);
        const long peak_before_kib = peak_kib();
        const int64_t start_ns = rig_clock_now_ns();
        expect_outcome(&scene.first, client_run(&scene.first), pipeline == 1 ? RIG_OUTCOME_INFO : RIG_OUTCOME_FAIL,
                       "answer-limit");
        assert_in_range(rig_clock_now_ns() - start_ns, 0, 25 * RIG_NS_PER_S);
        /* libpq reads on while a row arrives, so a result may hold a second copy of the row; its elements are never
         * parsed. */
        assert_in_range(peak_kib() - peak_before_kib, 0, 96 << 10);
        assert_true(scene.first.transaction.session_lost);
        assert_string_equal(client_seen(&scene.first, 1), "unknown");
        /* Several transactions within the limit do not add up to one above it. */
        client_begin(&scene.second);
        client_append(&scene.second, 3, 1);
        assert_int_equal(client_run(&scene.second), RIG_OUTCOME_OK);
        (void)sql(scene.pg, "UPDATE rig_list_0 SET v = repeat('1234567,', 60000) || '1' WHERE k = 1");
        for (int i = 0; i < 6; i++) {
            client_begin(&scene.second);
            client_read(&scene.second, 1);
            expect_outcome(&scene.second, client_run(&scene.second), RIG_OUTCOME_OK, "");
        }
        clear_scene(&scene);
    }
}

/* Two sessions insert one key: the second waits, gets a conflict, and updates instead. */
static void insert_is_beaten(void **state)
{
    (void)state;
    struct rig_pg_options options = options_of(false, RIG_SQL_READ_COMMITTED);
    options.write = RIG_PG_INSERT_THEN_UPDATE;
    struct scene scene;
    set_scene(&scene, &options);
    client_begin(&scene.second);
    client_append(&scene.second, 1, 12);
    client_begin(&scene.first);
    client_append(&scene.first, 1, 11);
    client_hold(&scene.first, 1, block_second, &scene);
    expect_outcome(&scene.first, client_run(&scene.first), RIG_OUTCOME_OK, "");
    expect_outcome(&scene.second, client_join(&scene.second), RIG_OUTCOME_OK, "");
    assert_string_equal(sql_list(scene.pg, 1), "11,12");
    clear_scene(&scene);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_before_commit),
        cmocka_unit_test(each_code_at_commit),
        cmocka_unit_test(serialization_failures),
        cmocka_unit_test(deadlocks),
        cmocka_unit_test(server_time_outs),
        cmocka_unit_test(own_time_out_before_commit),
        cmocka_unit_test(own_time_out_in_a_pipeline),
        cmocka_unit_test(idle_in_transaction_time_out),
        cmocka_unit_test(deferred_constraint),
        cmocka_unit_test(commit_answered_by_rollback),
        cmocka_unit_test(foreign_values_are_not_invented),
        cmocka_unit_test(huge_answers_are_given_up),
        cmocka_unit_test(insert_is_beaten),
    };
    return cmocka_run_group_tests(tests, harness_start_server, harness_stop_server);
}
