#include "drivers/odbc/odbc_connection.h"

#include <odbcinst.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

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
    {"libsqlite3odbc", "Timeout", "Timeout", "1000",
     NULL}, /* ms; its own 100 s for a lock are longer than a transaction may take */
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

/* -- connection strings ----------------------------------------------------------------------------------------------
 * */

/* "KEY=VALUE;KEY={VALUE};...", keys in any case, a `}` in braces doubled. */

enum { NAME_BYTES = 256, PATH_BYTES = 1024 };

/* The rest of the string after its first attribute. `key` and `value` are where the two stand, blanks included. */
static const char *next_attribute(const char *at, const char **key, size_t *key_size, const char **value,
                                  size_t *value_size)
{
    *key = at;
    *key_size = strcspn(at, "=;");
    at += *key_size;
    at += *at == '=';
    *value = at;
    if (*at == '{')
        for (at++; *at != '\0'; at++)
            if (*at == '}' && *++at != '}')
                break;
    at += strcspn(at, ";");
    *value_size = (size_t)(at - *value);
    return at + (*at == ';');
}

static void trim(const char **text, size_t *size)
{
    while (*size > 0 && (*text)[0] == ' ') {
        ++*text;
        --*size;
    }
    while (*size > 0 && (*text)[*size - 1] == ' ')
        --*size;
}

static void copy_value(const char *from, size_t from_size, char *value, size_t size)
{
    const bool braces = from_size >= 2 && from[0] == '{' && from[from_size - 1] == '}';
    const char *const end = from + from_size - braces;
    size_t used = 0;
    for (from += braces; from < end && used + 1 < size; from++) {
        value[used++] = *from;
        from += braces && from[0] == '}' && from + 1 < end && from[1] == '}';
    }
    value[used] = '\0';
}

/* The first value of `key`, without its braces and cut to `size` bytes, as drivers take it. False, and an empty value,
 * where the string has no such key. */
static bool find_attribute(const char *connection, const char *key, char *value, size_t size)
{
    value[0] = '\0';
    while (*connection != '\0') {
        const char *found = NULL, *text = NULL;
        size_t found_size = 0, text_size = 0;
        connection = next_attribute(connection, &found, &found_size, &text, &text_size);
        trim(&found, &found_size);
        if (found_size != strlen(key) || strncasecmp(found, key, found_size) != 0)
            continue;
        trim(&text, &text_size);
        copy_value(text, text_size, value, size);
        return true;
    }
    return false;
}

/* Appends ";KEY={VALUE}", in braces where the value needs them. */
static void append_attribute(struct rig_buf *connection, const char *key, const char *value)
{
    const size_t length = strlen(value);
    const bool braces = strpbrk(value, "[]{}(),;?*=!@ ") != NULL;
    rig_buf_printf(connection, "%s%s=", connection->size == 0 ? "" : ";", key);
    if (!braces) {
        rig_buf_add_text(connection, value);
        return;
    }
    rig_buf_add_char(connection, '{');
    for (size_t i = 0; i < length; i++) {
        rig_buf_add_char(connection, value[i]);
        if (value[i] == '}')
            rig_buf_add_char(connection, '}');
    }
    rig_buf_add_char(connection, '}');
}

/* Whether the name of a driver's file begins so. */
static bool is_driver(const char *file, const char *name)
{
    const char *const slash = strrchr(file, '/');
    return strncasecmp(slash == NULL ? file : slash + 1, name, strlen(name)) == 0;
}

/* The value of a key for the data source that the string names; empty: there is none. */
static void ask_source(const char *connection, const char *key, char *value, int size)
{
    char name[NAME_BYTES];
    value[0] = '\0';
    if (strchr(connection, '=') == NULL)
        (void)SQLGetPrivateProfileString(connection, key, "", value, size, "odbc.ini");
    else if (find_attribute(connection, "DSN", name, sizeof name))
        (void)SQLGetPrivateProfileString(name, key, "", value, size, "odbc.ini");
}

/* Whether odbc.ini gives the key for the data source that the string names. */
static bool source_has(const char *connection, const char *key)
{
    char value[NAME_BYTES];
    ask_source(connection, key, value, sizeof value);
    return value[0] != '\0';
}

/* Whether the string selects such a driver, as far as the files odbc.ini and odbcinst.ini tell. */
static bool selects_driver(const char *connection, const char *name)
{
    char driver[PATH_BYTES], file[PATH_BYTES] = "";
    if (!find_attribute(connection, "Driver", driver, sizeof driver))
        ask_source(connection, "Driver", driver, sizeof driver);
    if (driver[0] == '\0' || is_driver(driver, name))
        return driver[0] != '\0';
    (void)SQLGetPrivateProfileString(driver, "Driver", "", file, sizeof file, "odbcinst.ini");
    return is_driver(file, name);
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static bool add_attribute(const char *connection, const struct addition *addition, struct rig_buf *text,
                          struct rig_odbc_fault *fault)
{
    char value[RIG_ODBC_NAME_BYTES];
    const bool given = find_attribute(connection, addition->key, value, sizeof value) ||
                       find_attribute(connection, addition->alias, value, sizeof value);
    if (addition->otherwise != NULL && given && strcmp(value, addition->value) != 0)
        return rig_odbc_refuse(
            fault,
            "%s=%s in the connection string: with it %s, so that other transactions run than rig asked for; remove it "
            "(%s=%s is added)",
            addition->key, value, addition->otherwise, addition->key, addition->value);
    if (!given && (addition->otherwise != NULL || !source_has(connection, addition->key)))
        append_attribute(text, addition->key, addition->value);
    return true;
}

/* `addition`: of the driver; NULL: it needs none. */
static bool compose(const struct rig_odbc_target *target, const struct addition *addition, struct rig_buf *text,
                    struct rig_odbc_fault *fault)
{
    char value[RIG_ODBC_NAME_BYTES];
    if (strchr(target->connection, '=') == NULL)
        append_attribute(text, "DSN", target->connection);
    else
        rig_buf_add_text(text, target->connection);
    const struct {
        const char *key, *value;
    } account[] = {{"UID", target->user}, {"PWD", target->password}};
    for (size_t i = 0; i < sizeof account / sizeof account[0]; i++) {
        if (account[i].value == NULL)
            continue;
        if (find_attribute(target->connection, account[i].key, value, sizeof value))
            return rig_odbc_refuse(
                fault, "the connection string has %s, and the session a value of its own for it: remove one of them",
                account[i].key);
        append_attribute(text, account[i].key, account[i].value);
    }
    if (addition != NULL && !add_attribute(target->connection, addition, text, fault))
        return false;
    return !text->failed || rig_odbc_refuse(fault, RIG_NO_MEMORY "the connection string");
}

/*
 * A data source or driver that unixODBC does not know, with the remedy, in place of the driver manager's text: it names
 * neither. Other faults stay.
 */
static void explain_unknown(const char *connection, struct rig_odbc_fault *fault)
{
    static const char example[] = "Driver=NAME;Server=HOST;Database=NAME";
    char driver[PATH_BYTES], source[NAME_BYTES] = "", file[PATH_BYTES] = "";
    const bool has_driver = find_attribute(connection, "Driver", driver, sizeof driver);
    if (!has_driver && strchr(connection, '=') == NULL)
        (void)snprintf(source, sizeof source, "%s", connection);
    else if (!has_driver && !find_attribute(connection, "DSN", source, sizeof source)) {
        (void)rig_odbc_refuse(fault, "the connection string has no Driver and no DSN; write it as %s, or DSN=NAME",
                              example);
        return;
    }
    if (!has_driver)
        ask_source(connection, "Driver", driver, sizeof driver);
    if (driver[0] == '\0') {
        (void)rig_odbc_refuse(fault,
                              "unixODBC has no data source `%s`: `odbcinst -q -s` lists those that it has, and "
                              "`odbcinst -j` names the files odbc.ini where it looks; add [%s] there, or give a "
                              "connection string such as %s",
                              source, source, example);
        return;
    }
    (void)SQLGetPrivateProfileString(driver, "Driver", "", file, sizeof file, "odbcinst.ini");
    if (file[0] == '\0' && strchr(driver, '/') == NULL)
        (void)rig_odbc_refuse(fault,
                              "unixODBC has no driver `%s`: `odbcinst -q -d` lists those that it has, and `odbcinst "
                              "-j` names the file odbcinst.ini where it looks; install the driver's package, or give "
                              "the path of its file",
                              driver);
}

static bool connect_as(struct rig_odbc_connection *connection, const struct rig_odbc_target *target,
                       const struct addition *addition, struct rig_odbc_fault *fault)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    bool good = compose(target, addition, &text, fault);
    if (good && !SQL_SUCCEEDED(SQLDriverConnect(connection->handle, NULL, (SQLCHAR *)text.data, SQL_NTS, NULL, 0, NULL,
                                                SQL_DRIVER_NOPROMPT))) {
        good = diagnose_connection(connection, fault);
        explain_unknown(target->connection, fault);
    }
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
        if (selects_driver(target->connection, additions[i].driver))
            expected = &additions[i];
    if (!connect_as(connection, target, expected, fault))
        return false;
    ask_name(connection, SQL_DRIVER_NAME, SQL_DRIVER_VER, connection->driver);
    for (size_t i = 0; i < ADDITION_COUNT && needed == NULL; i++)
        if (is_driver(connection->driver, additions[i].driver))
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
