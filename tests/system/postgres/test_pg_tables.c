/*
 * The place of a run's tables on a server that rig did not start, and that rig touches nothing else there.
 */
#include "tests/system/postgres/pg_harness.h"

#include <stdio.h>
#include <string.h>

extern const struct rig_driver rig_driver;

static PGconn *admin;

static int start_server(void **state)
{
    (void)harness_start_server(state);
    admin = sql_connect(&harness_server);
    (void)sql(admin, "CREATE ROLE guest LOGIN");
    (void)sql(admin, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"); /* as from PostgreSQL 15 on */
    return 0;
}

static int stop_server(void **state)
{
    PQfinish(admin);
    return harness_stop_server(state);
}

/* The driver's setup for a run of its own; its error, or "" for none. */
static const char *try_setup(struct harness *run, const struct rig_pg_options *options)
{
    static struct rig_err err;
    err = (struct rig_err){.rc = RIG_OK};
    harness_attach_without_tables(run, &harness_server, options);
    return rig_driver.setup(run->run, &err) == RIG_OK ? "" : err.text;
}

static void append_and_read(struct harness *run, const char *expected)
{
    struct client client;
    client_open(&client, run);
    client_begin(&client);
    client_append(&client, 1, 10);
    client_read(&client, 1);
    assert_int_equal(client_run(&client), RIG_OUTCOME_OK);
    assert_string_equal(client_seen(&client, 1), expected);
    client_close(&client);
}

static const char *schemas_of_runs(void)
{
    return sql(admin,
               "SELECT coalesce(string_agg(nspname, ' ' ORDER BY nspname), '') FROM pg_namespace WHERE nspname"
               " LIKE 'rig!_%%' ESCAPE '!' AND nspname <> '%s'",
               harness_server.run_name);
}

static void other_tables_are_not_touched(void **state)
{
    struct rig_pg_options options;
    struct harness run;
    (void)state;
    harness_defaults(&options);
    for (int i = 0; i < 2; i++) {
        options.schema = i == 0 ? NULL : "public";
        (void)sql(admin, "CREATE TABLE public.rig_list_0 AS SELECT 1 AS mine");
        assert_string_equal(try_setup(&run, &options), "");
        append_and_read(&run, "10");
        harness_stop(&run);
        assert_string_equal(sql(admin, "SELECT mine FROM public.rig_list_0"), "1");
        assert_string_equal(schemas_of_runs(), "");
        assert_string_equal(sql(admin, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "1");
        (void)sql(admin, "DROP TABLE public.rig_list_0");
    }
}

static void runs_at_one_time_do_not_meet(void **state)
{
    static const char *const schemas[] = {NULL, "public"};
    struct rig_pg_options options;
    struct harness first, second;
    (void)state;
    harness_defaults(&options);
    for (int i = 0; i < 2; i++) {
        options.schema = schemas[i];
        assert_string_equal(try_setup(&first, &options), "");
        append_and_read(&first, "10");
        assert_string_equal(try_setup(&second, &options), "");
        append_and_read(&second, "10");
        harness_stop(&second);
        append_and_read(&first, "10,10");
        harness_stop(&first);
    }
}

static void a_name_that_is_taken_is_refused(void **state)
{
    struct rig_pg_options options;
    struct harness run;
    struct rig_err err = {.rc = RIG_OK};
    (void)state;
    harness_defaults(&options);
    for (int i = 0; i < 2; i++) {
        const char *kind = i == 0 ? "SCHEMA" : "TABLE";
        char name[128];
        options.schema = i == 0 ? NULL : "public";
        harness_attach_without_tables(&run, &harness_server, &options);
        (void)snprintf(name, sizeof name, i == 0 ? "%s" : "public.%s_list_0", run.run_name);
        (void)sql(admin, "CREATE %s %s%s", kind, name, i == 0 ? "" : " (mine int)");
        assert_int_equal(rig_driver.setup(run.run, &err), RIG_E_CLUSTER);
        assert_non_null(strstr(err.text, "already exists"));
        err = (struct rig_err){.rc = RIG_OK};
        harness_stop(&run);
        (void)sql(admin, "DROP %s %s", kind, name);
    }
}

static void only_marked_schemas_are_removed(void **state)
{
    struct rig_pg_options options;
    struct harness run;
    (void)state;
    harness_defaults(&options);
    /* A user took the schema over. */
    assert_string_equal(try_setup(&run, &options), "");
    (void)sql(admin, "COMMENT ON SCHEMA %s IS 'ours now'", run.run_name);
    harness_stop(&run);
    assert_string_equal(schemas_of_runs(), run.run_name);
    (void)sql(admin, "DROP SCHEMA %s CASCADE", run.run_name);
    /* A user put a table into it, or a view over one of its tables: all stays. */
    for (int i = 0; i < 2; i++) {
        assert_string_equal(try_setup(&run, &options), "");
        append_and_read(&run, "10");
        (void)sql(admin,
                  i == 0 ? "CREATE TABLE %s.mine AS SELECT 7 AS v"
                         : "CREATE VIEW public.mine AS SELECT v FROM %s.rig_list_0",
                  run.run_name);
        harness_stop(&run);
        (void)sql(admin, "SET search_path = public, %s", run.run_name);
        assert_string_equal(sql(admin, "SELECT v FROM mine"), i == 0 ? "7" : "10");
        assert_string_equal(sql(admin, "SELECT v FROM %s.rig_list_0", run.run_name), "10");
        (void)sql(admin, "DROP SCHEMA %s CASCADE", run.run_name);
    }
    assert_string_equal(schemas_of_runs(), "");
}

static void all_tables_go_again(void **state)
{
    struct rig_pg_options options;
    struct harness run;
    (void)state;
    harness_defaults(&options);
    options.sql.tables = 50;
    for (int i = 0; i < 2; i++) {
        options.schema = i == 0 ? NULL : "public";
        assert_string_equal(try_setup(&run, &options), "");
        assert_string_equal(
            sql(admin, "SELECT count(*) FROM pg_tables WHERE schemaname = '%s'", i == 0 ? run.run_name : "public"),
            "50");
        harness_stop(&run);
        assert_string_equal(schemas_of_runs(), "");
        assert_string_equal(sql(admin, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
    }
}

static void a_grant_that_is_missing_is_named(void **state)
{
    struct rig_pg_options options;
    struct harness run;
    (void)state;
    harness_defaults(&options);
    options.sql.user = "guest";
    assert_non_null(strstr(try_setup(&run, &options), "`GRANT CREATE ON DATABASE \"postgres\" TO \"guest\"`"));
    harness_stop(&run);
    options.schema = "public";
    assert_non_null(strstr(try_setup(&run, &options), "`GRANT USAGE, CREATE ON SCHEMA \"public\" TO \"guest\"`"));
    harness_stop(&run);
    options.schema = "nowhere";
    assert_non_null(strstr(try_setup(&run, &options), "leave out database.schema"));
    harness_stop(&run);
    /* With a schema of its own the user needs no further right. */
    (void)sql(admin, "CREATE SCHEMA \"the-guest\" AUTHORIZATION guest");
    options.schema = "the-guest";
    assert_string_equal(try_setup(&run, &options), "");
    append_and_read(&run, "10");
    harness_stop(&run);
    assert_string_equal(sql(admin, "SELECT count(*) FROM pg_tables WHERE schemaname = 'the-guest'"), "0");
    (void)sql(admin, "GRANT CREATE ON DATABASE postgres TO guest");
    options.schema = NULL;
    assert_string_equal(try_setup(&run, &options), "");
    append_and_read(&run, "10");
    harness_stop(&run);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_tables_are_not_touched),
        cmocka_unit_test(runs_at_one_time_do_not_meet),
        cmocka_unit_test(a_name_that_is_taken_is_refused),
        cmocka_unit_test(only_marked_schemas_are_removed),
        cmocka_unit_test(all_tables_go_again),
        cmocka_unit_test(a_grant_that_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
