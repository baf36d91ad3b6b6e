#include "drivers/postgres/pg_two_phase.h"

#include <stdio.h>
#include <string.h>

enum { SQL_BYTES = 256 };

void rig_pg_two_phase_name(struct rig_pg_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                           char gid[static RIG_PG_GID_BYTES])
{
    const uint64_t number = atomic_fetch_add(&numbers->begun, 1);
    (void)snprintf(gid, RIG_PG_GID_BYTES, "%s.%u.%llu", env->run_name, client, (unsigned long long)number);
}

enum rig_rc rig_pg_two_phase_check(struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection, "SHOW max_prepared_transactions", deadline_ns, &result, err);
    if (rc == RIG_OK && (PQntuples(result) != 1 || strcmp(PQgetvalue(result, 0, 0), "0") == 0))
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "PostgreSQL: database.two-phase needs max_prepared_transactions above 0 on the server");
    PQclear(result);
    return rc;
}

/* True when it is gone. One that is busy has a request under way. */
static bool roll_back(struct rig_pg_connection *connection, const char *gid, int64_t deadline_ns, struct rig_err *err)
{
    char sql[SQL_BYTES];
    (void)snprintf(sql, sizeof sql, "ROLLBACK PREPARED '%.*s'", RIG_PG_GID_BYTES, gid);
    return rig_pg_query(connection, sql, deadline_ns, NULL, err) == RIG_OK;
}

enum rig_rc rig_pg_two_phase_resolve(struct rig_pg_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                                     struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    char sql[SQL_BYTES];
    char start[RIG_PG_GID_BYTES];
    int length = snprintf(start, sizeof start, "%s.", env->run_name);
    if (client != UINT32_MAX)
        length = snprintf(start, sizeof start, "%s.%u.", env->run_name, client);
    (void)snprintf(sql, sizeof sql,
                   "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND left(gid, %d) = '%s'",
                   length, start);
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, &result, err);
    for (int i = 0; rc == RIG_OK && i < PQntuples(result); i++) {
        const char *gid = PQgetvalue(result, i, 0);
        struct rig_err own = {.rc = RIG_OK};
        if (roll_back(connection, gid, deadline_ns, &own)) {
            (void)atomic_fetch_add(&numbers->rolled_back, 1);
            env->core->log(3, "postgres", "rolled back %s, which was left prepared", gid);
        } else {
            env->core->log(1, "postgres", "the transaction %s stays prepared: %s", gid, own.text);
        }
    }
    PQclear(result);
    return rc;
}
