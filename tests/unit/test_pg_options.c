#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/postgres/pg_options.h"
#include "drivers/postgres/pg_schema.h"

static void endpoints_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host;
        const char *port;
    } good[] = {
        {"db1", "db1", ""},
        {"db1:5433", "db1", "5433"},
        {"10.0.0.1:1", "10.0.0.1", "1"},
        {"[::1]:5432", "::1", "5432"},
        {"[fe80::1]", "fe80::1", ""},
        {"fe80::1", "fe80::1", ""},
        {"/run/postgresql", "/run/postgresql", ""},
        {"/run/postgresql:65535", "/run/postgresql", "65535"},
    };
    const char *const bad[] = {"",       ":5432",     "db1:", "db1:0", "db1:65536", "db1:5432x",
                               "db1:-1", "[::1]5432", "[::1", "[]",    "a,b:5432",  "db 1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct rig_sql_endpoint endpoint;
        assert_true(rig_sql_endpoint_parse(good[i].text, &endpoint));
        assert_string_equal(endpoint.host, good[i].host);
        assert_string_equal(endpoint.port, good[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rig_sql_endpoint endpoint = {"untouched", "1"};
        if (rig_sql_endpoint_parse(bad[i], &endpoint))
            fail_msg("`%s` was taken for a server", bad[i]);
        assert_string_equal(endpoint.host, "untouched");
    }
}

static void settings_are_split(void **state)
{
    (void)state;
    char name[16];
    const char *value = NULL;
    assert_true(rig_sql_setting_split("fsync=off", name, sizeof name, &value));
    assert_string_equal(name, "fsync");
    assert_string_equal(value, "off");
    assert_true(rig_sql_setting_split("a.b_c = x = 'y'", name, sizeof name, &value));
    assert_string_equal(name, "a.b_c");
    assert_string_equal(value, "x = 'y'");
    const char *const bad[] = {"", "fsync", "=off", "a b=c", "a;b=c", "sixteen_letters_=1", "a=b\nc=d"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(rig_sql_setting_split(bad[i], name, sizeof name, &value));
}

static struct rig_pg_options plain(void)
{
    return (struct rig_pg_options){.sql.isolation = RIG_SQL_SERIALIZABLE,
                                   .sql.tables = 1,
                                   .sql.prepared = true,
                                   .pipeline = true,
                                   .row_index = RIG_PG_ROWS_INDEX};
}

static void expect_refused(const struct rig_pg_options *options, const char *part)
{
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_pg_options_check(options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_E_PLAN);
    if (strstr(err.text, part) == NULL)
        fail_msg("`%s` does not say `%s`", err.text, part);
}

static void tls_is_asked_for(void **state)
{
    (void)state;
    static const char *const hosts[] = {"db1"}, *const socket[] = {"/run/postgresql"};
    static const struct {
        struct rig_tls_options tls;
        bool required, verifies;
    } cases[] = {
        {{.ca = NULL}, false, true},
        {{.ca = ""}, false, true},
        {{.required = RIG_TLS_TRUE}, true, true},
        {{.required = RIG_TLS_FALSE}, false, true},
        {{.required = RIG_TLS_FALSE, .verify = RIG_TLS_FALSE}, false, false},
        {{.verify = RIG_TLS_TRUE}, true, true},
        {{.verify = RIG_TLS_FALSE}, true, false},
        {{.ca = "ca.pem"}, true, true},
        {{.cert = "a.pem", .key = "a.key"}, true, true},
    };
    struct rig_pg_options options = plain();
    struct rig_err err = {.rc = RIG_OK};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.sql.tls = cases[i].tls;
        assert_int_equal(rig_tls_is_required(&options.sql.tls), cases[i].required);
        assert_int_equal(rig_tls_verifies(&options.sql.tls), cases[i].verifies);
        options.sql.hosts = (struct rig_text_list){hosts, 1};
        options.conninfo = NULL;
        assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
        if (!cases[i].required)
            continue;
        options.conninfo = "sslmode=prefer";
        expect_refused(&options, "give TLS in one place");
        options.conninfo = NULL;
        options.sql.hosts = (struct rig_text_list){socket, 1};
        expect_refused(&options, "socket of this machine");
        options.sql.hosts = (struct rig_text_list){NULL, 0};
        expect_refused(&options, "for given servers");
    }
    options.sql.hosts = (struct rig_text_list){hosts, 1};
    options.sql.tls = (struct rig_tls_options){.key = "a.key"};
    expect_refused(&options, "belong together");
    options.sql.tls = (struct rig_tls_options){.ca = "ca.pem", .required = RIG_TLS_FALSE};
    expect_refused(&options, "leave out one of the two");
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    static const char *const one[] = {"db1"};
    static const char *const nonsense[] = {"db1:x"};
    static const char *const setting[] = {"fsync"};
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_options options = plain();
    assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
    assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_RW_REGISTER, &err), RIG_OK);
    options.write = RIG_PG_INSERT_THEN_UPDATE;
    expect_refused(&options, "pipeline: false");
    options = plain();
    options.sql.declare_read_only = true;
    options.deferrable = 1;
    assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
    options.sql.isolation = RIG_SQL_REPEATABLE_READ;
    expect_refused(&options, "isolation: serializable");
    options = plain();
    options.sql.nodes = 1;
    options.sql.hosts = (struct rig_text_list){one, 1};
    expect_refused(&options, "not both");
    options.sql.nodes = 0;
    options.sql.settings = (struct rig_text_list){setting, 1};
    expect_refused(&options, "leave out cluster.hosts");
    options.sql.hosts.count = 0;
    expect_refused(&options, "`fsync` is not name=value");
    options = plain();
    options.sql.read_only_hosts = (struct rig_text_list){one, 1};
    expect_refused(&options, "needs cluster.hosts");
    options.sql.hosts = (struct rig_text_list){nonsense, 1};
    expect_refused(&options, "`db1:x` is not a server");
}

static void clusters_are_checked(void **state)
{
    (void)state;
    static const char *const two[] = {"db1", "db2"};
    static const char *const nonsense[] = {"wal_level"};
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_options options = plain();
    options.sql.nodes = 3;
    options.sql.replication = 1;
    options.synchronous_standbys = 2;
    options.sql.reads_from = RIG_SQL_READS_REPLICA;
    assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
    options.synchronous_standbys = 3;
    expect_refused(&options, "COMMIT waits for 3 standby, and there are 2");
    options.sql.nodes = 0;
    options.synchronous_standbys = 1;
    expect_refused(&options, "and there are 0");
    options.sql.replication = RIG_PG_ASYNC;
    expect_refused(&options, "cluster.local.nodes: 2");
    options.sql.hosts = (struct rig_text_list){two, 2};
    assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
    options.sql.replication = 2;
    expect_refused(&options, "leave out cluster.hosts");
    options.sql.replication = RIG_PG_ASYNC;
    options.sql.read_only_hosts = (struct rig_text_list){two, 1};
    options.sql.reads_from = RIG_SQL_READS_PRIMARY;
    expect_refused(&options, "sends no reads");
    options = plain();
    options.standby_settings = (struct rig_text_list){nonsense, 1};
    expect_refused(&options, "standby-settings: `wal_level` is not name=value");
}

static void conninfo_is_checked(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_options options = plain();
    options.conninfo = "sslmode=require sslrootcert='/a b/ca.pem'";
    assert_int_equal(rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
    options.conninfo = "sslmoed=require";
    expect_refused(&options, "sslmoed");
    options.conninfo = "sslmode";
    expect_refused(&options, "libpq reports");
    options.conninfo = "host=db1";
    expect_refused(&options, "cluster.hosts");
    options.conninfo = "password=geheim";
    expect_refused(&options, "never shown");
    memset(&err, 0, sizeof err);
    (void)rig_pg_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err);
    assert_null(strstr(err.text, "geheim"));
}

static void table_is_well_formed(void **state)
{
    (void)state;
    for (const struct rig_option *option = rig_pg_option_table; option->name != NULL; option++) {
        assert_true(option->offset < sizeof(struct rig_pg_options));
        assert_int_equal(option->type == RIG_OPTION_CHOICE, option->choices != NULL);
        assert_int_equal(option->help[strlen(option->help) - 1], '.');
        for (const struct rig_option *other = rig_pg_option_table; other != option; other++) {
            assert_string_not_equal(option->name, other->name);
            assert_int_not_equal(option->offset, other->offset);
        }
    }
}

static void statements_are_written(void **state)
{
    (void)state;
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_options options = plain();
    const struct rig_run_env env = {.workload = RIG_WORKLOAD_LIST_APPEND, .run_name = "rig_1_2"};
    struct rig_pg_schema schema;
    char sql[2 * RIG_PG_STATEMENT_TEXT_BYTES];
    options.sql.tables = 1000;
    assert_int_equal(rig_pg_schema_init(&schema, &env, &options, &err), RIG_OK);
    const struct rig_sql_numbers numbers = {.key = 1999, .value = INT64_MIN};
    rig_pg_statement_print(rig_pg_schema_of_key(&schema, 1999, RIG_PG_PUT), &numbers, sql, sizeof sql);
    assert_string_equal(sql, "INSERT INTO rig_1_2.rig_list_999 AS t (k, v) VALUES ('1999'::bigint, "
                             "'-9223372036854775808'::text) ON CONFLICT (k) DO UPDATE SET v = "
                             "concat_ws(',', t.v, EXCLUDED.v)");
    rig_pg_statement_print(rig_pg_schema_fixed(&schema, RIG_PG_BEGIN_READ_ONLY), &numbers, sql, sizeof sql);
    assert_string_equal(sql, "BEGIN ISOLATION LEVEL SERIALIZABLE");
    rig_pg_schema_done(&schema);
    options.schema = "Mine";
    assert_int_equal(rig_pg_schema_init(&schema, &env, &options, &err), RIG_OK);
    assert_string_equal(rig_pg_schema_of_key(&schema, 7, RIG_PG_READ)->text,
                        "SELECT v FROM \"Mine\".rig_1_2_list_7 WHERE k = $1::bigint");
    rig_pg_schema_done(&schema);
    options.sql.declare_read_only = true;
    options.deferrable = 0.05;
    assert_int_equal(rig_pg_schema_init(&schema, &env, &options, &err), RIG_OK);
    assert_string_equal(rig_pg_schema_fixed(&schema, RIG_PG_BEGIN_READ_ONLY)->text,
                        "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY");
    assert_string_equal(rig_pg_schema_fixed(&schema, RIG_PG_BEGIN_DEFERRABLE)->text,
                        "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE");
    assert_string_equal(rig_pg_schema_fixed(&schema, RIG_PG_BEGIN_STANDBY)->text,
                        "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    assert_string_equal(rig_pg_schema_fixed(&schema, RIG_PG_BEGIN)->text, "BEGIN ISOLATION LEVEL SERIALIZABLE");
    rig_pg_schema_done(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_are_read),     cmocka_unit_test(settings_are_split),
        cmocka_unit_test(clusters_are_checked),   cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(conninfo_is_checked),    cmocka_unit_test(table_is_well_formed),
        cmocka_unit_test(statements_are_written), cmocka_unit_test(tls_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
