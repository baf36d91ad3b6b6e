#include "drivers/postgres/pg_quiet.h"

#include <string.h>

#include "drivers/sql/sql_endpoint.h"

static bool sets_it_itself(const struct rig_text_list *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        char name[64];
        const char *value;
        if (rig_sql_setting_split(settings->at[i], name, sizeof name, &value) && strcmp(name, "log_min_messages") == 0)
            return true;
    }
    return false;
}

void rig_pg_quiet_init(struct rig_pg_connection *connection, const struct rig_pg_options *options,
                       bool is_own_superuser)
{
    const bool counts =
        is_own_superuser && !sets_it_itself(&options->sql.settings) && !sets_it_itself(&options->standby_settings);
    connection->counts_errors = counts;
    connection->errors = 0;
}

void rig_pg_quiet_count(struct rig_pg_connection *connection)
{
    connection->errors += connection->counts_errors;
}

bool rig_pg_quiet_is_due(const struct rig_pg_connection *connection)
{
    return connection->errors >= RIG_PG_ERRORS_LOGGED;
}

bool rig_pg_quiet_begin(struct rig_pg_connection *connection, int64_t deadline_ns)
{
    struct rig_err ignored = {.rc = RIG_OK};
    connection->counts_errors = false;
    connection->errors = 0;
    return rig_pg_query(connection, "SET log_min_messages = log", deadline_ns, NULL, &ignored) == RIG_OK;
}
