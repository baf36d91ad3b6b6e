#include "drivers/postgres/pg_connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/bug.h"
#include "drivers/postgres/pg_outcome.h"
#include "drivers/sql/sql_wait.h"

enum { PARAMETERS_MOST = 64 };
enum { GREETING_MOST = 1 << 20 }; /* bytes that a server may send until the session is open */
enum { HOSTS_BYTES = RIG_SQL_ADDRESSES_MOST * 256 };

/* Removes libpq's guesses at the cause, keeping the error itself. */
static void drop_guesses(char *line)
{
    static const char *const guesses[] = {
        " This probably means the server terminated abnormally before or while processing the request.",
        " Is the server running on that host and accepting TCP/IP connections?",
        " Is the server running locally and accepting connections on that socket?",
        " invalid socket", /* of a connection that is closed already */
    };
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
        const size_t length = strlen(guesses[i]);
        char *at;
        while ((at = strstr(line, guesses[i])) != NULL)
            memmove(at, at + length, strlen(at + length) + 1);
    }
}

void rig_pg_one_line(char *line, size_t size, const char *message)
{
    size_t length = 0;
    for (const char *p = message == NULL ? "" : message; *p != '\0' && length + 1 < size; p++) {
        char c = *p == '\n' || *p == '\t' ? ' ' : *p;
        if (c == ' ' && (length == 0 || line[length - 1] == ' '))
            continue;
        line[length++] = c;
    }
    while (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    drop_guesses(line);
}

/* Runs inside libpq while it parses. Nothing is printed; facts that matter for an outcome are kept. */
static void receive_notice(void *context, const PGresult *notice)
{
    struct rig_pg_connection *connection = context;
    const char *code = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    if (code == NULL) /* libpq's own: it drops a message that no statement waits for */
        connection->unasked = true;
    if (code != NULL && strncmp(code, "57P", 3) == 0) {
        rig_pg_one_line(connection->farewell_code, sizeof connection->farewell_code, code);
        rig_pg_one_line(connection->farewell_text, sizeof connection->farewell_text, text);
    }
    if (connection->awaiting_commit && severity != NULL && strcmp(severity, "WARNING") == 0) {
        connection->commit_warned = true;
        rig_pg_one_line(connection->warning_text, sizeof connection->warning_text, text);
    }
}

struct parameters {
    const char *names[PARAMETERS_MOST + 1];
    const char *values[PARAMETERS_MOST + 1];
    size_t count;
};

static void parameters_add(struct parameters *parameters, const char *name, const char *value)
{
    RIG_INVARIANT(parameters->count < PARAMETERS_MOST);
    if (value == NULL || value[0] == '\0')
        return;
    parameters->names[parameters->count] = name;
    parameters->values[parameters->count++] = value;
}

/* libpq's lists: the name once for each of its addresses (certificates and password files use it), and the
 * addresses. */
static void add_host(struct parameters *parameters, const char *host, const struct rig_sql_addresses *addresses,
                     char names[static HOSTS_BYTES], char numbers[static HOSTS_BYTES])
{
    int name_length = 0;
    int number_length = 0;
    if (addresses->count == 0) {
        parameters_add(parameters, "host", host);
        return;
    }
    for (size_t i = 0; i < addresses->count; i++) {
        const char *comma = i == 0 ? "" : ",";
        name_length += snprintf(names + name_length, (size_t)(HOSTS_BYTES - name_length), "%s%s", comma, host);
        number_length +=
            snprintf(numbers + number_length, (size_t)(HOSTS_BYTES - number_length), "%s%s", comma, addresses->at[i]);
        RIG_INVARIANT(name_length < HOSTS_BYTES && number_length < HOSTS_BYTES);
    }
    parameters_add(parameters, "host", names);
    parameters_add(parameters, "hostaddr", numbers);
}

/*
 * libpq sends nothing but a request for TLS until TLS is there, in both of these modes. Without `verify` it would still
 * verify if the user has a file of its own default name, so it gets the name of no file.
 */
static void add_tls(struct parameters *parameters, const struct rig_tls_options *tls)
{
    const bool verifies = rig_tls_verifies(tls);
    parameters_add(parameters, "sslmode", verifies ? "verify-full" : "require");
    parameters_add(parameters, "sslrootcert", verifies ? rig_tls_trusted(tls) : "/dev/null/none");
    parameters_add(parameters, "sslcert", tls->cert);
    parameters_add(parameters, "sslkey", tls->key);
}

/* Starts connecting; NULL only when memory ran out. libpq uses the last value of a parameter given twice. */
static PGconn *start_connecting(const struct rig_pg_target *target, const struct rig_sql_addresses *addresses)
{
    struct parameters parameters = {.count = 0};
    char names[HOSTS_BYTES];
    char numbers[HOSTS_BYTES];
    parameters_add(&parameters, "application_name", target->application == NULL ? "rig" : target->application);
    /* Encryption by GSSAPI costs a round trip to refuse; a plan requests it in conninfo. */
    parameters_add(&parameters, "gssencmode", "disable");
    /* The kernel notices a peer that is gone without notice, whatever the time-outs of a plan. */
    parameters_add(&parameters, "keepalives_idle", "5");
    parameters_add(&parameters, "keepalives_interval", "2");
    parameters_add(&parameters, "keepalives_count", "3");
    parameters_add(&parameters, "tcp_user_timeout", "15000");
    add_host(&parameters, target->endpoint->host, addresses, names, numbers);
    parameters_add(&parameters, "port", target->endpoint->port);
    parameters_add(&parameters, "user", target->user);
    parameters_add(&parameters, "dbname", target->dbname);
    parameters_add(&parameters, "password", target->password);
    PQconninfoOption *further = NULL;
    if (target->conninfo != NULL)
        further = PQconninfoParse(target->conninfo, NULL);
    for (const PQconninfoOption *option = further; option != NULL && option->keyword != NULL; option++)
        parameters_add(&parameters, option->keyword, option->val);
    if (target->tls != NULL)
        add_tls(&parameters, target->tls);
    PGconn *pg = PQconnectStartParams(parameters.names, parameters.values, 0);
    PQconninfoFree(further);
    return pg;
}

/* A second attempt, without TLS, failed for the same reason as the first; libpq repeats the reason. */
static void drop_repetition(char *reason)
{
    char *again = strstr(reason, " connection to server ");
    const char *failed = again == NULL ? NULL : strstr(again, " failed: ");
    const size_t length = again == NULL ? 0 : (size_t)(again - reason);
    if (failed != NULL && strncmp(failed + strlen(" failed: "), reason, length) == 0 &&
        strlen(failed + strlen(" failed: ")) == length)
        *again = '\0';
}

static enum rig_rc connect_failed(const struct rig_pg_target *target, const char *why, struct rig_err *err)
{
    const struct rig_sql_endpoint *endpoint = target->endpoint;
    char line[2048];
    rig_pg_one_line(line, sizeof line, why);
    /* libpq names the server again. */
    char *failed = strncmp(line, "connection to server ", 21) == 0 ? strstr(line, " failed: ") : NULL;
    char *reason = failed == NULL ? line : failed + strlen(" failed: ");
    drop_repetition(reason);
    const char *remedy = target->tls != NULL && strstr(reason, "certificate verify failed") != NULL
                             ? "; it has expired, or none of those that database.tls.ca gives has signed it"
                             : "";
    return rig_fail(err, RIG_E_CLUSTER, "connecting to PostgreSQL at %s%s%s: %.512s%s", endpoint->host,
                    endpoint->port[0] == '\0' ? "" : ":", endpoint->port, reason, remedy);
}

/* Counts the bytes that wait in the socket, which libpq reads next. */
static void count_waiting(struct rig_pg_connection *connection)
{
    int waiting = 0;
    if (ioctl(PQsocket(connection->pg), FIONREAD, &waiting) == 0 && waiting > 0)
        connection->answer_bytes += waiting;
}

enum rig_rc rig_pg_connect(struct rig_pg_connection *connection, const struct rig_pg_target *target,
                           struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err)
{
    *connection = (struct rig_pg_connection){.waiter = waiter};
    struct rig_sql_addresses addresses;
    enum rig_rc rc = rig_sql_resolve("PostgreSQL", target->endpoint->host, waiter, deadline_ns, &addresses, err);
    if (rc != RIG_OK)
        return rc;
    PGconn *pg = connection->pg = start_connecting(target, &addresses);
    if (pg == NULL)
        return rig_no_memory(err, "a connection");
    PostgresPollingStatusType state = PQstatus(pg) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED)
            return connect_failed(target, PQerrorMessage(pg), err);
        short ready;
        const char *reason = rig_sql_waiter_wait(
            waiter, PQsocket(pg), state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ns, &ready);
        if (reason != NULL)
            return connect_failed(
                target, strcmp(reason, RIG_SQL_TIMEOUT) == 0 ? "no answer within connect-timeout" : reason, err);
        count_waiting(connection);
        if (connection->answer_bytes > GREETING_MOST)
            return connect_failed(target, "more than 1 MiB came before the session was open", err);
        state = PQconnectPoll(pg);
    }
    const char *cipher = PQsslInUse(pg) != 0 ? PQsslAttribute(pg, "cipher") : NULL;
    if (target->tls != NULL && (cipher == NULL || cipher[0] == '\0'))
        return connect_failed(target, "database.tls asks for TLS, and the session is not encrypted", err);
    (void)PQsetNoticeReceiver(pg, receive_notice, connection);
    if (PQsetnonblocking(pg, 1) != 0)
        return connect_failed(target, PQerrorMessage(pg), err);
    return RIG_OK;
}

void rig_pg_disconnect(struct rig_pg_connection *connection)
{
    PQfinish(connection->pg);
    connection->pg = NULL;
}

static int64_t answer_most(const struct rig_pg_connection *connection)
{
    return connection->answer_most > 0 ? connection->answer_most : RIG_PG_ANSWER_MOST;
}

/*
 * Reads the bytes that have arrived; false when they exceed the answers' limit. libpq may read further bytes meanwhile,
 * which are not counted here: is_within_limit() checks again.
 */
static bool consume(struct rig_pg_connection *connection)
{
    count_waiting(connection);
    if (connection->answer_bytes > answer_most(connection))
        return false;
    (void)PQconsumeInput(connection->pg);
    return true;
}

const char *rig_pg_flush(struct rig_pg_connection *connection, int64_t deadline_ns)
{
    PGconn *pg = connection->pg;
    while (PQflush(pg) > 0) {
        short ready;
        const char *reason =
            rig_sql_waiter_wait(connection->waiter, PQsocket(pg), POLLIN | POLLOUT, deadline_ns, &ready);
        if (reason != NULL)
            return reason;
        /* The server may stop reading until its own answers are read. */
        if ((ready & POLLIN) != 0 && !consume(connection))
            return RIG_PG_TOO_LARGE;
        if (PQstatus(pg) == CONNECTION_BAD)
            return NULL;
    }
    return NULL;
}

/* Counts the values of a result; false when the answers exceed their limit. */
static bool is_within_limit(struct rig_pg_connection *connection, const PGresult *result)
{
    const int rows = PQntuples(result), columns = PQnfields(result);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            connection->value_bytes += PQgetlength(result, row, column);
    return connection->value_bytes <= answer_most(connection);
}

const char *rig_pg_next(struct rig_pg_connection *connection, int64_t deadline_ns, PGresult **result)
{
    PGconn *pg = connection->pg;
    /* A broken connection has no socket any more, and PQgetResult() returns the received results, then an error. */
    while (PQisBusy(pg) != 0 && PQsocket(pg) >= 0) {
        short ready;
        const char *reason = rig_sql_waiter_wait(connection->waiter, PQsocket(pg), POLLIN, deadline_ns, &ready);
        if (reason != NULL)
            return reason;
        if (!consume(connection))
            return RIG_PG_TOO_LARGE;
        /* A TLS record can be longer than one read takes; the rest is in the TLS library, unseen by poll(). */
        if (PQsslInUse(pg) != 0 && PQisBusy(pg) != 0 && PQsocket(pg) >= 0)
            (void)PQconsumeInput(pg);
    }
    PGresult *next = PQgetResult(pg);
    if (!is_within_limit(connection, next)) {
        PQclear(next);
        return RIG_PG_TOO_LARGE;
    }
    /* libpq gives it again and again, until the client has copied. */
    const ExecStatusType status = PQresultStatus(next);
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
        PQclear(next);
        return RIG_SQL_PROTOCOL;
    }
    *result = next;
    return NULL;
}

bool rig_pg_has_unasked(struct rig_pg_connection *connection)
{
    (void)PQisBusy(connection->pg);
    return connection->unasked;
}

/* The results of a query up to its end; keeps the first one that is an error, or else the first one. */
static const char *collect(struct rig_pg_connection *connection, int64_t deadline_ns, PGresult **kept)
{
    for (;;) {
        PGresult *result = NULL;
        const char *reason = rig_pg_next(connection, deadline_ns, &result);
        if (reason != NULL || result == NULL)
            return reason;
        bool failed = PQresultStatus(result) == PGRES_FATAL_ERROR;
        if (*kept == NULL || (failed && PQresultStatus(*kept) != PGRES_FATAL_ERROR)) {
            PQclear(*kept);
            *kept = result;
        } else {
            PQclear(result);
        }
        if (failed && PQstatus(connection->pg) == CONNECTION_BAD)
            return NULL;
    }
}

enum rig_rc rig_pg_query(struct rig_pg_connection *connection, const char *sql, int64_t deadline_ns, PGresult **result,
                         struct rig_err *err)
{
    char line[512];
    PGresult *kept = NULL;
    const char *reason = NULL;
    connection->answer_bytes = connection->value_bytes = 0;
    if (PQsendQuery(connection->pg, sql) != 0) {
        reason = rig_pg_flush(connection, deadline_ns);
        if (reason == NULL)
            reason = collect(connection, deadline_ns, &kept);
    }
    ExecStatusType status = PQresultStatus(kept);
    if (reason == NULL && (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)) {
        if (result != NULL)
            *result = kept;
        else
            PQclear(kept);
        return RIG_OK;
    }
    rig_pg_one_line(line, sizeof line,
                    reason != NULL ? reason
                    : kept != NULL ? PQresultErrorMessage(kept)
                                   : PQerrorMessage(connection->pg));
    const char *code = reason != NULL ? NULL : PQresultErrorField(kept, PG_DIAG_SQLSTATE);
    (void)snprintf(connection->query_code, sizeof connection->query_code, "%s", code == NULL ? "" : code);
    PQclear(kept);
    return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: `%.120s`: %s", sql, line);
}

bool rig_pg_in_recovery(struct rig_pg_connection *connection, int64_t deadline_ns)
{
    const char *told = PQparameterStatus(connection->pg, "in_hot_standby"); /* from PostgreSQL 14 on */
    if (told != NULL)
        return strcmp(told, "on") == 0;
    PGresult *result = NULL;
    struct rig_err ignored = {.rc = RIG_OK};
    bool standby = rig_pg_query(connection, "SELECT pg_is_in_recovery()", deadline_ns, &result, &ignored) == RIG_OK &&
                   PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    return standby;
}
