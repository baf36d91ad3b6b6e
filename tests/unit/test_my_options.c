#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/mysql/my_options.h"

static const char *const hosts[] = {"db1:3306", "db2"};

static struct rig_my_options good(void)
{
    return (struct rig_my_options){
        .sql.isolation = RIG_SQL_SERIALIZABLE, .sql.tables = 1, .pipeline = RIG_MY_PIPELINE_ON};
}

static void expect(const struct rig_my_options *options, enum rig_workload workload, const char *part)
{
    struct rig_err err = {.rc = RIG_OK};
    const enum rig_rc rc = rig_my_options_check(options, workload, &err);
    assert_int_equal(rc, part == NULL ? RIG_OK : RIG_E_PLAN);
    if (part != NULL && strstr(err.text, part) == NULL)
        fail_msg("`%s` does not have `%s`", err.text, part);
}

static void statements_fit_each_other(void **state)
{
    (void)state;
    struct rig_my_options options = good();
    expect(&options, RIG_WORKLOAD_LIST_APPEND, NULL);
    options.sql.prepared = true;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, "pipeline: false");
    options.pipeline = RIG_MY_PIPELINE_OFF;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, NULL);
    options.table_schema = RIG_MY_LIST_ROWS;
    expect(&options, RIG_WORKLOAD_SET, NULL);
    expect(&options, RIG_WORKLOAD_LIST_APPEND, "table-schema");
    options = good();
    options.sql.lock_mode = RIG_SQL_LOCK_SHARE;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, "lock-reads");
    options = good();
    options.consistent_snapshot = true;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, "repeatable-read");
    options.sql.isolation = RIG_SQL_REPEATABLE_READ;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, NULL);
    options.sql.two_phase = 0.5;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, "XA START takes no snapshot");
    options = good();
    options.sql.two_phase = 0.5;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, NULL);
    options.sql.replication = RIG_MY_GALERA;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, "a Galera node certifies");
}

/* One request where nothing speaks against it; what the user asks for in any case. */
static void transactions_are_one_request(void **state)
{
    (void)state;
    struct rig_my_options options = {.pipeline = RIG_MY_PIPELINE_AUTO};
    assert_true(rig_my_pipelines(&options));
    options.sql.prepared = true;
    expect(&options, RIG_WORKLOAD_LIST_APPEND, NULL);
    assert_false(rig_my_pipelines(&options));
    options = (struct rig_my_options){.sql.replication = RIG_MY_GALERA};
    assert_false(rig_my_pipelines(&options));
    options.pipeline = RIG_MY_PIPELINE_ON;
    assert_true(rig_my_pipelines(&options));
    options.sql.replication = RIG_MY_ASYNC;
    options.pipeline = RIG_MY_PIPELINE_OFF;
    assert_false(rig_my_pipelines(&options));
}

static void servers_fit_each_other(void **state)
{
    (void)state;
    struct rig_my_options options = good();
    options.sql.hosts = (struct rig_text_list){.at = hosts, .count = 2};
    expect(&options, RIG_WORKLOAD_SET, NULL);
    options.sql.nodes = 1;
    expect(&options, RIG_WORKLOAD_SET, "not both");
    options.sql.nodes = 0;
    options.sql.replication = RIG_MY_GALERA;
    expect(&options, RIG_WORKLOAD_SET, "servers that rig starts");
    options = good();
    options.sql.replication = RIG_MY_SEMI_SYNC;
    expect(&options, RIG_WORKLOAD_SET, "there is none");
    options.sql.nodes = 2;
    options.sql.reads_from = RIG_SQL_READS_REPLICA;
    expect(&options, RIG_WORKLOAD_SET, NULL);
    options.sql.replication = RIG_MY_GALERA;
    expect(&options, RIG_WORKLOAD_SET, "no replica");
    options.sql.reads_from = RIG_SQL_READS_AUTO;
    options.sql.nodes = 6;
    expect(&options, RIG_WORKLOAD_SET, "5 nodes at most");
}

static void names_of_databases_need_no_quotes(void **state)
{
    (void)state;
    static const char *const bad[] = {"a`b", "a b", "a'b", "a.b", "a%b", "mysql", "information_schema"};
    struct rig_my_options options = good();
    options.dbname = "tester_tables";
    expect(&options, RIG_WORKLOAD_SET, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        options.dbname = bad[i];
        expect(&options, RIG_WORKLOAD_SET, "database.dbname");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_fit_each_other),
        cmocka_unit_test(transactions_are_one_request),
        cmocka_unit_test(servers_fit_each_other),
        cmocka_unit_test(names_of_databases_need_no_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
