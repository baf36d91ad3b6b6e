/*
 * Transactions without errors, under every option: reads return what was written.
 */
#include "tests/system/postgres/pg_harness.h"

#include <string.h>

#include "base/clock.h"
#include "drivers/postgres/pg_cluster.h"

extern const struct rig_driver rig_driver;

/* Appends and reads in one session, across transactions and tables. */
static void exercise_lists(const struct rig_pg_options *options)
{
    struct harness run;
    struct client client;
    harness_attach(&run, &harness_server, options);
    client_open(&client, &run);
    client_begin(&client);
    client_read(&client, 1);
    client_append(&client, 1, 10);
    client_read(&client, 1);
    client_append(&client, 1, -11);
    client_append(&client, 2, INT64_MAX);
    client_read(&client, 1);
    client_read(&client, 2);
    expect_outcome(&client, client_run(&client), RIG_OUTCOME_OK, "");
    assert_string_equal(client_seen(&client, 0), "nil");
    assert_string_equal(client_seen(&client, 1), "unknown");
    assert_string_equal(client_seen(&client, 2), "10");
    assert_string_equal(client_seen(&client, 5), "10,-11");
    assert_string_equal(client_seen(&client, 6), "9223372036854775807");
    assert_false(client.transaction.session_lost);
    for (int64_t key = 1; key <= 6; key++) {
        client_begin(&client);
        client_append(&client, key, 100 + key);
        expect_outcome(&client, client_run(&client), RIG_OUTCOME_OK, "");
    }
    client_begin(&client);
    client_read(&client, 1);
    client_read(&client, 3);
    client_read(&client, 6);
    client_read(&client, 7);
    assert_true(client.transaction.read_only);
    expect_outcome(&client, client_run(&client), RIG_OUTCOME_OK, "");
    assert_string_equal(client_seen(&client, 0), "10,-11,101");
    assert_string_equal(client_seen(&client, 1), "103");
    assert_string_equal(client_seen(&client, 2), "106");
    assert_string_equal(client_seen(&client, 3), "nil");
    client_close(&client);
    harness_stop(&run);
}

static void every_combination_of_options(void **state)
{
    (void)state;
    for (int bits = 0; bits < 32; bits++) {
        struct rig_pg_options options;
        harness_defaults(&options);
        options.pipeline = (bits & 1) != 0;
        options.sql.prepared = (bits & 2) != 0;
        options.table_schema = (bits & 4) != 0 ? RIG_SQL_LIST_ARRAY : RIG_SQL_LIST_TEXT;
        options.sql.tables = (bits & 8) != 0 ? 3 : 1;
        options.write = (bits & 16) != 0 ? RIG_PG_INSERT_THEN_UPDATE : RIG_PG_UPSERT;
        options.sql.declare_read_only = options.sql.tables == 3;
        options.deferrable = options.sql.tables == 3 ? 0.5 : 0;
        if (!options.pipeline || options.write == RIG_PG_UPSERT)
            exercise_lists(&options);
    }
}

static void session_settings_arrive(void **state)
{
    (void)state;
    struct rig_pg_options options;
    struct harness run;
    struct client client;
    harness_defaults(&options);
    options.pipeline = false;
    options.sql.statement_timeout_ns = 1234 * RIG_NS_PER_MS;
    options.sql.lock_timeout_ns = 1; /* rounded up: 0 would disable it */
    options.synchronous_commit = 3;
    options.conninfo = "application_name=other options='-c work_mem=77kB'";
    harness_attach(&run, &harness_server, &options);
    client_open(&client, &run);
    assert_string_equal(sql(client_connection(&client), "SHOW statement_timeout"), "1234ms");
    assert_string_equal(sql(client_connection(&client), "SHOW lock_timeout"), "1ms");
    assert_string_equal(sql(client_connection(&client), "SHOW synchronous_commit"), "local");
    assert_string_equal(sql(client_connection(&client), "SHOW application_name"), "other");
    assert_string_equal(sql(client_connection(&client), "SHOW work_mem"), "77kB");
    client_close(&client);
    harness_stop(&run);
}

static void server_is_described(void **state)
{
    (void)state;
    char text[128];
    rig_driver.describe(harness_server.run, text, sizeof text);
    assert_memory_equal(text, "PostgreSQL 1", 12);
    struct rig_node_status status;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_driver.cluster->status(harness_server.run, 0, &status, &err), RIG_OK);
    assert_true(status.reachable);
    assert_string_equal(status.role, "primary");
    assert_true(status.pid > 0);
    assert_int_equal(rig_driver.cluster->status(harness_server.run, 1, &status, &err), RIG_E_CLUSTER);
}

int main(void)
{
    harness_require_postgres();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_of_options),
        cmocka_unit_test(session_settings_arrive),
        cmocka_unit_test(server_is_described),
    };
    return cmocka_run_group_tests(tests, harness_start_server, harness_stop_server);
}
