#include "tests/unit/cmocka_first.h"

#include "drivers/postgres/pg_title.h"

static void sessions(void **state)
{
    (void)state;
    static const char *const titles[] = {
        "postgres: rig postgres [local] idle",
        "postgres: rig postgres [local] idle in transaction",
        "postgres: rig postgres 127.0.0.1(41234) COMMIT",
        "postgres: rig postgres ::1(41234) SELECT",
        "postgres: pg-1: rig postgres [local] UPDATE waiting",
        "postgres: rig postgres [local] authentication",
        "postgres: parallel worker for PID 4711 ",
        "postgres: pg-1: parallel worker for PID 4711 ",
    };
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (!rig_pg_title_is_session(titles[i]))
            fail_msg("%s", titles[i]);
    }
}

static void other_processes(void **state)
{
    (void)state;
    static const char *const titles[] = {
        "/usr/lib/postgresql/15/bin/postgres",
        "",
        "postgres: ",
        "postgres: checkpointer ",
        "postgres: pg-1: background writer ",
        "postgres: walwriter ",
        "postgres: autovacuum launcher ",
        "postgres: autovacuum worker postgres",
        "postgres: logical replication launcher ",
        "postgres: bgworker: logical replication launcher   ",
        "postgres: logical replication worker for subscription 16394 ",
        "postgres: stats collector ",
        "postgres: archiver last was 000000010000000000000003",
        "postgres: startup recovering 000000010000000000000003",
        "postgres: pg-2: walreceiver streaming 0/3000060",
        "postgres: walsender replicator 127.0.0.1(41234) streaming 0/3000060",
        "postgres: pg-1: walsender replicator [local] streaming 0/3000060",
        "postgres: io worker 2",
        "postgres: slotsync worker ",
        "postgres: logger ",
    };
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (rig_pg_title_is_session(titles[i]))
            fail_msg("%s", titles[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions),
        cmocka_unit_test(other_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
