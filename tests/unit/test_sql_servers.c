#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "drivers/sql/sql_servers.h"

enum { SERVERS = 5 };

/* Servers that answer or not, in a role, and the time that passes with each. */
static struct stage {
    int64_t now_ns;
    bool stops;
    bool answers[SERVERS], refuses[SERVERS];
    int64_t takes_ns[SERVERS], deadline_ns[SERVERS];
    char tried[SERVERS + 1];
    int open;
} stage;

static int64_t now_ns(void)
{
    return stage.now_ns;
}

static bool stopping(void)
{
    return stage.stops;
}

static const struct rig_core core = {.now_ns = now_ns, .stopping = stopping};

static enum rig_rc open_server(void *context, uint32_t server, int64_t deadline_ns, bool *refuses_writes,
                               struct rig_err *err)
{
    assert_ptr_equal(context, &stage);
    assert_int_equal(stage.open, 0);
    stage.tried[strlen(stage.tried)] = (char)('0' + server);
    stage.deadline_ns[server] = deadline_ns;
    stage.now_ns += stage.takes_ns[server];
    stage.open = 1;
    *refuses_writes = stage.refuses[server];
    return stage.answers[server] ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "%u is down", server);
}

static void drop(void *context)
{
    (void)context;
    stage.open = 0;
}

static const char *name_of(void *context, uint32_t server)
{
    static char name[8];
    (void)context;
    (void)snprintf(name, sizeof name, "db%u", server);
    return name;
}

static struct rig_sql_search all_of(uint32_t count)
{
    return (struct rig_sql_search){
        .count = count, .open = open_server, .drop = drop, .name = name_of, .context = &stage};
}

static int begin(void **state)
{
    (void)state;
    stage = (struct stage){.answers = {true, true, true, true, true}};
    return 0;
}

static void it_goes_round_from_the_first(void **state)
{
    (void)state;
    struct rig_sql_search search = all_of(4);
    uint32_t server = 99;
    struct rig_err err = {.rc = RIG_OK};
    search.first = 2;
    stage.answers[2] = false;
    stage.refuses[3] = true;
    assert_int_equal(rig_sql_search_run(&search, &core, 1000, &server, &err), RIG_OK);
    assert_int_equal(server, 0);
    assert_string_equal(stage.tried, "230");
    assert_int_equal(stage.open, 1);
}

static void the_first_error_counts_and_a_wrong_role_least(void **state)
{
    (void)state;
    struct rig_sql_search search = all_of(3);
    uint32_t server = 99;
    struct rig_err err = {.rc = RIG_OK};
    memset(stage.refuses, true, sizeof stage.refuses);
    stage.answers[1] = stage.answers[2] = false;
    assert_int_equal(rig_sql_search_run(&search, &core, 1000, &server, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "1 is down");
    assert_int_equal(server, 99);
    assert_int_equal(stage.open, 0);
    begin(NULL);
    err = (struct rig_err){.rc = RIG_OK};
    search = all_of(2);
    search.want_refusing = true;
    assert_int_equal(rig_sql_search_run(&search, &core, 1000, &server, &err), RIG_E_CLUSTER);
    assert_string_equal(err.text, "db0 is not a replica");
}

static void a_silent_server_uses_up_its_own_share(void **state)
{
    (void)state;
    struct rig_sql_search search = all_of(3);
    uint32_t server;
    struct rig_err err = {.rc = RIG_OK};
    stage.answers[0] = stage.answers[1] = false;
    stage.takes_ns[0] = 100;
    assert_int_equal(rig_sql_search_run(&search, &core, 300, &server, &err), RIG_OK);
    assert_int_equal(stage.deadline_ns[0], 100);
    assert_int_equal(stage.deadline_ns[1], 200);
    assert_int_equal(stage.deadline_ns[2], 300);
}

static void a_stop_ends_it(void **state)
{
    (void)state;
    struct rig_sql_search search = all_of(3);
    uint32_t server;
    struct rig_err err = {.rc = RIG_OK};
    memset(stage.answers, false, sizeof stage.answers);
    stage.stops = true;
    assert_int_equal(rig_sql_search_run(&search, &core, 300, &server, &err), RIG_E_CLUSTER);
    assert_string_equal(stage.tried, "0");
}

static void readers_are_chosen_as_the_plan_says(void **state)
{
    (void)state;
    static const char *const writers_text[] = {"a", "b", "c"}, *const readers_text[] = {"d", "e:5"};
    const struct rig_text_list hosts = {writers_text, 3}, readers = {readers_text, 2}, none = {NULL, 0};
    struct rig_sql_hosts list, alone;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_sql_hosts_init(&list, &hosts, &readers, &err), RIG_OK);
    assert_int_equal(rig_sql_hosts_init(&alone, &hosts, &none, &err), RIG_OK);
    assert_int_equal(rig_sql_hosts_count(&list), 5);
    assert_string_equal(rig_sql_hosts_name(&list, 4), "e:5");
    assert_string_equal(list.endpoints[4].port, "5");
    struct rig_sql_search search = all_of(0);
    assert_true(rig_sql_search_readers(&search, RIG_SQL_READS_AUTO, &list, 5, 3, 0));
    assert_int_equal(search.base, 3);
    assert_int_equal(search.count, 2);
    assert_int_equal(search.first, 1);
    assert_true(search.any_role);
    assert_false(rig_sql_search_readers(&search, RIG_SQL_READS_AUTO, &alone, 3, 1, 1));
    assert_false(rig_sql_search_readers(&search, RIG_SQL_READS_PRIMARY, &alone, 3, 1, 1));
    search = all_of(0);
    assert_true(rig_sql_search_readers(&search, RIG_SQL_READS_REPLICA, &alone, 3, 1, 1));
    assert_true(search.want_refusing && !search.any_role);
    /* Any: the client's turn may be that of the server of its writes. */
    assert_false(rig_sql_search_readers(&search, RIG_SQL_READS_ANY, &alone, 3, 4, 1));
    assert_true(rig_sql_search_readers(&search, RIG_SQL_READS_ANY, &alone, 3, 5, 1));
    assert_int_equal(search.base + search.first, 2);
    rig_sql_hosts_done(&list);
    rig_sql_hosts_done(&alone);
    static const char *const bad_text[] = {"x:70000"};
    const struct rig_text_list bad = {bad_text, 1};
    assert_int_equal(rig_sql_hosts_init(&list, &bad, &none, &err), RIG_E_PLAN);
    rig_sql_hosts_done(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_goes_round_from_the_first, begin),
        cmocka_unit_test_setup(the_first_error_counts_and_a_wrong_role_least, begin),
        cmocka_unit_test_setup(a_silent_server_uses_up_its_own_share, begin),
        cmocka_unit_test_setup(a_stop_ends_it, begin),
        cmocka_unit_test_setup(readers_are_chosen_as_the_plan_says, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
