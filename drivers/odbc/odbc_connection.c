#include "drivers/odbc/odbc_connection.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "drivers/odbc/odbc_string.h"

/* SQL Server's own attribute and level, as in Microsoft's headers: the ODBC levels have no snapshot. */
enum { SS_TXN_ISOLATION = 1227, SS_TXN_SNAPSHOT = 32 };

/* Attributes that a driver needs, added where the connection string does not give them. */
static const struct addition {
    const char *driver;
    const char *key, *alias;
    const char *value;
    const char *otherwise; /* what another value does, which is refused; NULL: it is taken */
} additions[] = {
    {"psqlodbc", "Protocol", "A1", "7.4-0", "psqlodbc sets a savepoint before each statement, or rolls back by itself"},
    {"libmaodbc", "OPTION", "OPTIONS", "2", NULL}, /* an update counts the rows that it finds, as in other databases */
};

enum { ADDITION_COUNT = sizeof additions / sizeof additions[0] };

static const struct level {
    const char *name;
    SQLINTEGER attribute;
    SQLUINTEGER value;
} levels[] = {
    {"READ UNCOMMITTED", SQL_ATTR_TXN_ISOLATION, SQL_TXN_READ_UNCOMMITTED},
    {"READ COMMITTED", SQL_ATTR_TXN_ISOLATION, SQL_TXN_READ_COMMITTED},
    {"REPEATABLE READ", SQL_ATTR_TXN_ISOLATION, SQL_TXN_REPEATABLE_READ},
    {"SERIALIZABLE", SQL_ATTR_TXN_ISOLATION, SQL_TXN_SERIALIZABLE},
    {"SNAPSHOT", SS_TXN_ISOLATION, SS_TXN_SNAPSHOT},
};

enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

/* -- errors -------------------------------------------------------------------------------------------------------- */

bool rig_odbc_refuse(struct rig_odbc_fault *fault, const char *format, ...)
{
    *fault = (struct rig_odbc_fault){.code = 0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_dead(const struct rig_odbc_connection *connection)
{
    SQLUINTEGER dead = SQL_CD_FALSE;
    return connection->handle == SQL_NULL_HDBC ||
           (SQL_SUCCEEDED(SQLGetConnectAttr(connection->handle, SQL_ATTR_CONNECTION_DEAD, &dead, sizeof dead, NULL)) &&
            dead == SQL_CD_TRUE);
}

void rig_odbc_diagnose(const struct rig_odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                       struct rig_odbc_fault *fault)
{
    *fault = (struct rig_odbc_fault){.code = 0};
    size_t used = 0;
    for (SQLSMALLINT record = 1; used + 1 < sizeof fault->text; record++) {
        SQLCHAR state[SQL_SQLSTATE_SIZE + 1] = "", text[SQL_MAX_MESSAGE_LENGTH + 1] = "";
        SQLINTEGER code = 0;
        SQLSMALLINT length = 0;
        if (!SQL_SUCCEEDED(SQLGetDiagRec(type, handle, record, state, &code, text, sizeof text, &length)))
            break;
        if (record == 1) {
            memcpy(fault->state, state, sizeof fault->state);
            fault->code = code;
        }
        const int put = snprintf(fault->text + used, sizeof fault->text - used, "%s%s%s%s", record == 1 ? "" : "; ",
                                 record == 1 ? "" : (const char *)state, record == 1 ? "" : " ", (const char *)text);
        used += put > 0 ? (size_t)put : 0;
    }
    if (used == 0)
        (void)rig_odbc_refuse(fault, "the driver reports an error without a diagnostic record");
    /* Class 08: some drivers report the loss and do not notice it. */
    fault->lost = strncmp(fault->state, "08", 2) == 0 || is_dead(connection);
}

static bool diagnose_connection(const struct rig_odbc_connection *connection, struct rig_odbc_fault *fault)
{
    rig_odbc_diagnose(connection, SQL_HANDLE_DBC, connection->handle, fault);
    return false;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static bool add_attribute(const char *connection, const struct addition *addition, struct rig_buf *text,
                          struct rig_odbc_fault *fault)
{
    char value[RIG_ODBC_NAME_BYTES];
    const bool given = rig_odbc_attribute(connection, addition->key, value, sizeof value) ||
                       rig_odbc_attribute(connection, addition->alias, value, sizeof value);
    if (addition->otherwise != NULL && given && strcmp(value, addition->value) != 0)
        return rig_odbc_refuse(
            fault,
            "%s=%s in the connection string: with it %s, so that other transactions run than rig asked for; remove it "
            "(%s=%s is added)",
            addition->key, value, addition->otherwise, addition->key, addition->value);
    if (!given && (addition->otherwise != NULL || !rig_odbc_source_has(connection, addition->key)))
        rig_odbc_add_attribute(text, addition->key, addition->value);
    return true;
}

/* `addition`: of the driver; NULL: it needs none. */
static bool compose(const struct rig_odbc_target *target, const struct addition *addition, struct rig_buf *text,
                    struct rig_odbc_fault *fault)
{
    char value[RIG_ODBC_NAME_BYTES];
    if (strchr(target->connection, '=') == NULL)
        rig_odbc_add_attribute(text, "DSN", target->connection);
    else
        rig_buf_add_text(text, target->connection);
    const struct {
        const char *key, *value;
    } account[] = {{"UID", target->user}, {"PWD", target->password}};
    for (size_t i = 0; i < sizeof account / sizeof account[0]; i++) {
        if (account[i].value == NULL)
            continue;
        if (rig_odbc_attribute(target->connection, account[i].key, value, sizeof value))
            return rig_odbc_refuse(
                fault, "the connection string has %s, and the session a value of its own for it: remove one of them",
                account[i].key);
        rig_odbc_add_attribute(text, account[i].key, account[i].value);
    }
    if (addition != NULL && !add_attribute(target->connection, addition, text, fault))
        return false;
    return !text->failed || rig_odbc_refuse(fault, RIG_NO_MEMORY "the connection string");
}

static bool connect_as(struct rig_odbc_connection *connection, const struct rig_odbc_target *target,
                       const struct addition *addition, struct rig_odbc_fault *fault)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    bool good = compose(target, addition, &text, fault);
    if (good && !SQL_SUCCEEDED(SQLDriverConnect(connection->handle, NULL, (SQLCHAR *)text.data, SQL_NTS, NULL, 0, NULL,
                                                SQL_DRIVER_NOPROMPT)))
        good = diagnose_connection(connection, fault);
    rig_buf_done(&text);
    return good;
}

static void ask_name(const struct rig_odbc_connection *connection, SQLUSMALLINT name, SQLUSMALLINT version,
                     char text[static RIG_ODBC_NAME_BYTES])
{
    char of[2][RIG_ODBC_NAME_BYTES / 2] = {"", ""};
    SQLSMALLINT length = 0;
    (void)SQLGetInfo(connection->handle, name, of[0], sizeof of[0], &length);
    (void)SQLGetInfo(connection->handle, version, of[1], sizeof of[1], &length);
    (void)snprintf(text, RIG_ODBC_NAME_BYTES, "%s%s%s", of[0], of[1][0] == '\0' ? "" : " ", of[1]);
}

/* The driver that has connected tells its name; files and strings only hint at it. */
static bool connect_driver(struct rig_odbc_connection *connection, const struct rig_odbc_target *target,
                           struct rig_odbc_fault *fault)
{
    const struct addition *expected = NULL, *needed = NULL;
    for (size_t i = 0; i < ADDITION_COUNT && expected == NULL; i++)
        if (rig_odbc_selects_driver(target->connection, additions[i].driver))
            expected = &additions[i];
    if (!connect_as(connection, target, expected, fault))
        return false;
    ask_name(connection, SQL_DRIVER_NAME, SQL_DRIVER_VER, connection->driver);
    for (size_t i = 0; i < ADDITION_COUNT && needed == NULL; i++)
        if (rig_odbc_is_driver(connection->driver, additions[i].driver))
            needed = &additions[i];
    if (needed == expected || needed == NULL)
        return true;
    (void)SQLDisconnect(connection->handle);
    return connect_as(connection, target, needed, fault);
}

static const char *level_name(SQLINTEGER attribute, SQLUINTEGER value)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        if (levels[i].attribute == attribute && levels[i].value == value)
            return levels[i].name;
    return "an unknown level";
}

/* After connecting: several drivers ignore a level that is set before, and read back the wish. */
static bool set_isolation(struct rig_odbc_connection *connection, const char *isolation, struct rig_odbc_fault *fault)
{
    const struct level *level = NULL;
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        if (strcmp(levels[i].name, isolation) == 0)
            level = &levels[i];
    if (level == NULL)
        return rig_odbc_refuse(fault,
                               "isolation %s: ODBC has READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, "
                               "SERIALIZABLE, and SNAPSHOT for SQL Server",
                               isolation);
    SQLUINTEGER kept = 0;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): ODBC passes numbers so */
    if (!SQL_SUCCEEDED(SQLSetConnectAttr(connection->handle, level->attribute, (SQLPOINTER)(SQLULEN)level->value, 0)) ||
        !SQL_SUCCEEDED(SQLGetConnectAttr(connection->handle, level->attribute, &kept, sizeof kept, NULL)))
        return diagnose_connection(connection, fault);
    return kept == level->value || rig_odbc_refuse(fault, "isolation %s was set, and the driver keeps %s", isolation,
                                                   level_name(level->attribute, kept));
}

static bool set_up(struct rig_odbc_connection *connection, const struct rig_odbc_target *target,
                   struct rig_odbc_fault *fault)
{
    ask_name(connection, SQL_DBMS_NAME, SQL_DBMS_VER, connection->server);
    SQLUSMALLINT at_commit = SQL_CB_CLOSE, at_rollback = SQL_CB_CLOSE;
    (void)SQLGetInfo(connection->handle, SQL_CURSOR_COMMIT_BEHAVIOR, &at_commit, sizeof at_commit, NULL);
    (void)SQLGetInfo(connection->handle, SQL_CURSOR_ROLLBACK_BEHAVIOR, &at_rollback, sizeof at_rollback, NULL);
    connection->forgets_prepared = at_commit == SQL_CB_DELETE || at_rollback == SQL_CB_DELETE;
    connection->autocommit = target->autocommit;
    if (target->isolation != NULL && !set_isolation(connection, target->isolation, fault))
        return false;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return target->autocommit ||
           SQL_SUCCEEDED(
               SQLSetConnectAttr(connection->handle, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0)) ||
           diagnose_connection(connection, fault);
}

bool rig_odbc_open(struct rig_odbc_connection *connection, const struct rig_odbc_target *target,
                   struct rig_odbc_fault *fault)
{
    *connection = (struct rig_odbc_connection){.environment = SQL_NULL_HENV, .handle = SQL_NULL_HDBC};
    bool good =
        SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &connection->environment)) &&
        SQL_SUCCEEDED(SQLSetEnvAttr(connection->environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0)) &&
        SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, connection->environment, &connection->handle));
    if (!good)
        (void)rig_odbc_refuse(fault, "unixODBC gives no handle for a connection");
    good = good && connect_driver(connection, target, fault) && set_up(connection, target, fault);
    if (!good)
        rig_odbc_close(connection);
    return good;
}

/* -- ending -------------------------------------------------------------------------------------------------------- */

bool rig_odbc_end(struct rig_odbc_connection *connection, bool commit, char warning[static RIG_ODBC_TEXT_BYTES],
                  struct rig_odbc_fault *fault)
{
    const SQLRETURN done = SQLEndTran(SQL_HANDLE_DBC, connection->handle, commit ? SQL_COMMIT : SQL_ROLLBACK);
    if (!SQL_SUCCEEDED(done))
        return diagnose_connection(connection, fault);
    warning[0] = '\0';
    if (done == SQL_SUCCESS_WITH_INFO) {
        struct rig_odbc_fault record;
        rig_odbc_diagnose(connection, SQL_HANDLE_DBC, connection->handle, &record);
        (void)snprintf(warning, RIG_ODBC_TEXT_BYTES, "%s %.*s", record.state,
                       RIG_ODBC_TEXT_BYTES - SQL_SQLSTATE_SIZE - 2, record.text);
    }
    return true;
}

void rig_odbc_close(struct rig_odbc_connection *connection)
{
    if (connection->handle != SQL_NULL_HDBC) {
        if (!connection->autocommit)
            (void)SQLEndTran(SQL_HANDLE_DBC, connection->handle, SQL_ROLLBACK);
        (void)SQLDisconnect(connection->handle);
        (void)SQLFreeHandle(SQL_HANDLE_DBC, connection->handle);
    }
    if (connection->environment != SQL_NULL_HENV)
        (void)SQLFreeHandle(SQL_HANDLE_ENV, connection->environment);
    *connection = (struct rig_odbc_connection){.environment = SQL_NULL_HENV, .handle = SQL_NULL_HDBC};
}
