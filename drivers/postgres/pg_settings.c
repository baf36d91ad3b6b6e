#include "drivers/postgres/pg_settings.h"

/* Settings of the session come from rig and its account, paths from the server's location. */
static const char question[] =
    "SELECT name, CASE WHEN unit IS NULL THEN setting ELSE current_setting(name) END"
    " FROM pg_settings"
    " WHERE source NOT IN ('default', 'override', 'client', 'session', 'environment variable')"
    " ORDER BY name";

void rig_pg_settings_tell(struct rig_pg_connection *connection, int64_t deadline_ns,
                          void (*tell)(void *context, const char *name, const char *value), void *context)
{
    PGresult *result = NULL;
    struct rig_err ignored = {.rc = RIG_OK};
    if (rig_pg_query(connection, question, deadline_ns, &result, &ignored) == RIG_OK && PQnfields(result) == 2) {
        for (int i = 0; i < PQntuples(result); i++)
            tell(context, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1));
    }
    PQclear(result);
}
