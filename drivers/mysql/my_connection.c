#include "drivers/mysql/my_connection.h"

#include <errmsg.h>
#include <ma_pvio.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bug.h"
#include "drivers/sql/sql_wait.h"

/*
 * TLS of connections on libmariadb, which by itself goes on in clear text when a server offers no TLS and its
 * certificate is not to be verified.
 *
 * rig reads the server's greeting as libmariadb receives it, and shuts the connection before the answer, which has the
 * user's name and a proof of the password, if the greeting offers no TLS. After a server has offered TLS libmariadb
 * sends nothing else before it is established.
 *
 * Threads: any; a connection is opened by one thread.
 */

enum { MY_GREETING_MOST = 512 };

/* The bytes that libmariadb has received while a connection is opened. */
struct my_greeting {
    MYSQL *my;
    unsigned char bytes[MY_GREETING_MOST];
    size_t count;
    bool offers_tls;
    bool refused; /* the connection was shut */
};

static bool watches;

static _Thread_local struct my_greeting *opening;

enum {
    RECEIVED = 0, /* a mode of the callback */
    PROTOCOL_AT = 4,
    VERSION_AT = 5,
    PROTOCOL = 10,
    ERROR = 0xff,
    AFTER_VERSION = 4 + 8 + 1, /* the thread, half of the salt, a filler */
};

/* libmariadb exports it, and declares it in a header that needs others. */
int STDCALL ma_pvio_register_callback(my_bool register_callback,
                                      void (*callback)(int mode, MYSQL *my, const unsigned char *bytes, size_t count));

/* Whether the greeting is known well enough to see its capabilities; a message of an error has none. */
static bool read_greeting(struct my_greeting *greeting, bool *offers_tls)
{
    const unsigned char *bytes = greeting->bytes;
    *offers_tls = false;
    if (greeting->count <= PROTOCOL_AT)
        return false;
    if (bytes[PROTOCOL_AT] != PROTOCOL)
        return true;
    const unsigned char *end = memchr(bytes + VERSION_AT, '\0', greeting->count - VERSION_AT);
    const size_t at = end == NULL ? MY_GREETING_MOST : (size_t)(end - bytes) + 1 + AFTER_VERSION;
    if (at + 2 > greeting->count)
        return greeting->count == MY_GREETING_MOST;
    *offers_tls = ((unsigned)(bytes[at] | bytes[at + 1] << 8) & CLIENT_SSL) != 0;
    return true;
}

static void on_bytes(int mode, MYSQL *my, const unsigned char *bytes, size_t count)
{
    struct my_greeting *greeting = opening;
    if (greeting == NULL || greeting->my != my || mode != RECEIVED || greeting->offers_tls || greeting->refused ||
        count == 0 || count > SIZE_MAX / 2) /* the latter: an error */
        return;
    const size_t left = MY_GREETING_MOST - greeting->count;
    const size_t taken = count < left ? count : left;
    memcpy(greeting->bytes + greeting->count, bytes, taken);
    greeting->count += taken;
    if (!read_greeting(greeting, &greeting->offers_tls) || greeting->offers_tls)
        return;
    if (greeting->bytes[PROTOCOL_AT] == ERROR)
        return; /* libmariadb reports it, and ends */
    greeting->refused = true;
    (void)shutdown((int)mysql_get_socket(my), SHUT_RDWR);
}

static void register_callback(void)
{
    watches = ma_pvio_register_callback(1, on_bytes) == 0;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

enum rig_rc rig_my_tls_watch(struct rig_err *err)
{
    (void)pthread_once(&once, register_callback);
    return watches ? RIG_OK : rig_fail(err, RIG_E_DRIVER, "libmariadb does not show what a server offers");
}

/* Sets the options of a new handle; false when libmariadb does not take them. */
static bool my_tls_set(MYSQL *my, const struct rig_tls_options *tls)
{
    const my_bool on = 1, verify = rig_tls_verifies(tls) ? 1 : 0;
    /* Without a file libmariadb checks no host name. */
    const char *trusted = verify ? rig_tls_trusted(tls) : NULL;
    return mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &on) == 0 &&
           mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify) == 0 &&
           (!verify || trusted == NULL || mysql_options(my, MYSQL_OPT_SSL_CA, trusted) == 0) &&
           (tls->cert == NULL || mysql_options(my, MYSQL_OPT_SSL_CERT, tls->cert) == 0) &&
           (tls->key == NULL || mysql_options(my, MYSQL_OPT_SSL_KEY, tls->key) == 0);
}

/* From now on this thread opens the greeting's connection, or none (NULL). The greeting is borrowed until then. */
static void my_tls_opening(struct my_greeting *greeting)
{
    opening = greeting;
}

/* Why the connection that was opened may not be used; NULL: it is encrypted. A static text. */
static const char *my_tls_problem(const struct my_greeting *greeting)
{
    if (greeting->refused)
        return "database.tls asks for TLS, and the server does not offer it";
    const char *cipher = mysql_get_ssl_cipher(greeting->my);
    if (!greeting->offers_tls || cipher == NULL || cipher[0] == '\0')
        return "database.tls asks for TLS, and the session is not encrypted";
    return NULL;
}

enum { ANSWER_LEAST = 64 * 1024, QUERY_VALUES = 32, FIRST_CLIENT_ERROR = 2000, LAST_CLIENT_ERROR = 2999 };

#define LIBMARIADB_WAITS (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE | MYSQL_WAIT_EXCEPT)

bool rig_my_is_client_error(unsigned number)
{
    return (number >= FIRST_CLIENT_ERROR && number <= LAST_CLIENT_ERROR) || number >= 5000;
}

/* ---- waiting ---- */

/* Waits for the events that libmariadb asks for; after an early end it gets them at once, on a socket that is shut. */
static int await(struct rig_my_connection *connection, int wanted)
{
    const int fd = (int)mysql_get_socket(connection->my);
    short ready = 0;
    if (connection->reason == NULL) {
        const short events =
            (short)(((wanted & MYSQL_WAIT_READ) != 0 ? POLLIN : 0) | ((wanted & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0));
        connection->reason = rig_sql_waiter_wait(connection->waiter, fd, events, connection->deadline_ns, &ready);
        if (connection->reason == NULL)
            return wanted & LIBMARIADB_WAITS;
    }
    (void)shutdown(fd, SHUT_RDWR);
    return wanted & LIBMARIADB_WAITS;
}

/* ---- connecting ---- */

/* The kernel notices a peer that is gone without notice, whatever the time-outs of a plan. */
static void keep_alive(const struct rig_my_connection *connection)
{
    static const struct {
        int name, value;
    } options[] = {{TCP_KEEPIDLE, 5}, {TCP_KEEPINTVL, 2}, {TCP_KEEPCNT, 3}, {TCP_USER_TIMEOUT, 15000}};
    const int fd = (int)mysql_get_socket(connection->my), on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        (void)setsockopt(fd, IPPROTO_TCP, options[i].name, &options[i].value, sizeof options[i].value);
}

static bool make_handle(struct rig_my_connection *connection, const struct rig_my_target *target, bool socket)
{
    MYSQL *my = connection->my = mysql_init(NULL);
    const unsigned off = 0, protocol = socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    size_t most = (size_t)target->max_answer_bytes;
    if (my == NULL || mysql_options(my, MYSQL_OPT_NONBLOCK, NULL) != 0 ||
        mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &off) != 0 || mysql_options(my, MYSQL_OPT_PROTOCOL, &protocol) != 0)
        return false;
    if (most > 0 && most < ANSWER_LEAST)
        most = ANSWER_LEAST;
    return (most == 0 || mysql_options(my, MYSQL_OPT_MAX_ALLOWED_PACKET, &most) == 0) &&
           (target->tls == NULL || my_tls_set(my, target->tls));
}

static enum rig_rc connect_failed(const struct rig_my_connection *connection, const struct rig_my_target *target,
                                  struct rig_err *err)
{
    const struct rig_sql_endpoint *endpoint = target->endpoint;
    const char *why = connection->my == NULL                             ? "no memory"
                      : connection->reason == NULL                       ? mysql_error(connection->my)
                      : strcmp(connection->reason, RIG_SQL_TIMEOUT) == 0 ? "no answer within connect-timeout"
                                                                         : connection->reason;
    const bool verified = target->tls != NULL && rig_tls_verifies(target->tls);
    if (verified && strstr(why, "Validation of SSL server certificate failed") != NULL)
        why = "the server's certificate is for another host name";
    const bool untrusted = verified && strstr(why, "certificate") != NULL && strstr(why, "name") == NULL;
    return rig_fail(err, RIG_E_CLUSTER, "connecting to MySQL at %s%s%s: %.512s%s", endpoint->host,
                    endpoint->port[0] == '\0' ? "" : ":", endpoint->port, why,
                    untrusted ? "; database.tls.ca gives the certificates to trust" : "");
}

/* To one address, or to the socket. With TLS, that of the connection is noted in the greeting. */
static bool connect_to(struct rig_my_connection *connection, const struct rig_my_target *target, const char *address)
{
    const struct rig_sql_endpoint *endpoint = target->endpoint;
    const bool socket = endpoint->host[0] == '/';
    const unsigned port = (unsigned)strtoul(endpoint->port, NULL, 10);
    struct my_greeting greeting = {.count = 0};
    MYSQL *done = NULL;
    if (!make_handle(connection, target, socket))
        return false;
    greeting.my = connection->my;
    my_tls_opening(target->tls != NULL ? &greeting : NULL);
    int wanted = mysql_real_connect_start(&done, connection->my, socket ? NULL : address, target->user,
                                          target->password, NULL, socket ? 0 : port, socket ? endpoint->host : NULL,
                                          CLIENT_MULTI_STATEMENTS | (target->found_rows ? CLIENT_FOUND_ROWS : 0));
    while (wanted != 0)
        wanted = mysql_real_connect_cont(&done, connection->my, await(connection, wanted));
    my_tls_opening(NULL);
    if (target->tls != NULL && connection->reason == NULL && (done != NULL || greeting.refused))
        connection->reason = my_tls_problem(&greeting);
    if (done == NULL || connection->reason != NULL)
        return false;
    if (!socket)
        keep_alive(connection);
    connection->sql.backend = (int64_t)mysql_thread_id(connection->my);
    return true;
}

enum rig_rc rig_my_connect(struct rig_my_connection *connection, const struct rig_my_target *target,
                           struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err)
{
    *connection = (struct rig_my_connection){.waiter = waiter, .deadline_ns = deadline_ns};
    struct rig_sql_addresses addresses;
    enum rig_rc rc = rig_sql_resolve("MySQL", target->endpoint->host, waiter, deadline_ns, &addresses, err);
    if (rc != RIG_OK)
        return rc;
    /* libmariadb compares a certificate with the host that it is given; it resolves the name again. */
    const bool by_name = addresses.count == 0 || (target->tls != NULL && rig_tls_verifies(target->tls));
    for (size_t i = 0; i == 0 || (i < addresses.count && !by_name); i++) {
        const int64_t now_ns = waiter->core->now_ns();
        const int64_t left = (int64_t)(addresses.count > i && !by_name ? addresses.count - i : 1);
        rig_my_disconnect(connection);
        connection->reason = NULL;
        /* An address that does not answer uses up its own share of the time. */
        connection->deadline_ns = now_ns + (deadline_ns - now_ns) / left;
        if (connect_to(connection, target, by_name ? target->endpoint->host : addresses.at[i]))
            return RIG_OK;
    }
    return connect_failed(connection, target, err);
}

void rig_my_disconnect(struct rig_my_connection *connection)
{
    if (connection->my == NULL)
        return;
    /* Closing a statement, or the connection, sends a message; on a full socket that would wait. */
    const int fd = (int)mysql_get_socket(connection->my);
    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
    for (uint32_t i = 0; i < connection->statement_count; i++) {
        if (connection->statements[i] != NULL)
            (void)mysql_stmt_close(connection->statements[i]);
    }
    free(connection->statements);
    connection->statements = NULL;
    connection->statement_count = 0;
    mysql_close(connection->my);
    connection->my = NULL;
}

/* ---- requests ---- */

bool rig_my_has_unasked(const struct rig_my_connection *connection)
{
    MYSQL *my = connection->my;
    const MARIADB_PVIO *pvio = my->net.pvio;
    unsigned char head[4];
    if (pvio == NULL)
        return false;
    if (pvio->cache != NULL && pvio->cache_pos < pvio->cache + pvio->cache_size)
        return true;
    /* Encrypted data need not be an answer. A message of the server's own, such as the end of the session, has the
     * number 0. */
    return mysql_get_ssl_cipher(my) == NULL &&
           recv((int)mysql_get_socket(my), head, sizeof head, MSG_PEEK | MSG_DONTWAIT) == sizeof head && head[3] != 0;
}

bool rig_my_send(struct rig_my_connection *connection, const char *sql, size_t length)
{
    int error = 0;
    int wanted = mysql_real_query_start(&error, connection->my, sql, length);
    while (wanted != 0)
        wanted = mysql_real_query_cont(&error, connection->my, await(connection, wanted));
    return error == 0 && connection->reason == NULL;
}

bool rig_my_next(struct rig_my_connection *connection)
{
    int error = 0;
    int wanted = mysql_next_result_start(&error, connection->my);
    while (wanted != 0)
        wanted = mysql_next_result_cont(&error, connection->my, await(connection, wanted));
    return error == 0 && connection->reason == NULL;
}

bool rig_my_rows(struct rig_my_connection *connection, MYSQL_RES **result)
{
    *result = NULL;
    if (mysql_field_count(connection->my) == 0)
        return true;
    int wanted = mysql_store_result_start(result, connection->my);
    while (wanted != 0)
        wanted = mysql_store_result_cont(result, connection->my, await(connection, wanted));
    if (*result != NULL && connection->reason != NULL) {
        mysql_free_result(*result);
        *result = NULL;
    }
    return *result != NULL;
}

/* The server says how many values the library takes from the caller's array. */
static bool takes_values(MYSQL_STMT *statement, const char *sql)
{
    unsigned long count = 0;
    for (; *sql != '\0'; sql++)
        count += *sql == '?';
    return mysql_stmt_param_count(statement) == count;
}

static MYSQL_STMT *prepared(struct rig_my_connection *connection, uint32_t number, uint32_t count, const char *sql,
                            MYSQL_STMT **failed)
{
    if (connection->statements == NULL) {
        connection->statements = calloc(count, sizeof *connection->statements);
        connection->statement_count = connection->statements == NULL ? 0 : count;
    }
    if (number >= connection->statement_count)
        return NULL;
    if (connection->statements[number] != NULL)
        return connection->statements[number];
    MYSQL_STMT *made = mysql_stmt_init(connection->my);
    if (made == NULL)
        return NULL;
    int error = 0;
    int wanted = mysql_stmt_prepare_start(&error, made, sql, strlen(sql));
    while (wanted != 0)
        wanted = mysql_stmt_prepare_cont(&error, made, await(connection, wanted));
    connection->statements[number] = made;
    const bool is_made = error == 0 && connection->reason == NULL;
    if (is_made && takes_values(made, sql))
        return made;
    if (is_made) /* it is the answer to another request */
        return NULL;
    *failed = made;
    return NULL;
}

MYSQL_STMT *rig_my_execute(struct rig_my_connection *connection, uint32_t number, uint32_t count, const char *sql,
                           MYSQL_BIND *values, MYSQL_STMT **failed)
{
    *failed = NULL;
    MYSQL_STMT *statement = prepared(connection, number, count, sql, failed);
    if (statement == NULL)
        return NULL;
    int error = mysql_stmt_bind_param(statement, values);
    int wanted = error != 0 ? 0 : mysql_stmt_execute_start(&error, statement);
    while (wanted != 0)
        wanted = mysql_stmt_execute_cont(&error, statement, await(connection, wanted));
    if (error == 0 && connection->reason == NULL && mysql_stmt_field_count(statement) > 0) {
        wanted = mysql_stmt_store_result_start(&error, statement);
        while (wanted != 0)
            wanted = mysql_stmt_store_result_cont(&error, statement, await(connection, wanted));
    }
    if (error == 0 && connection->reason == NULL)
        return statement;
    *failed = statement;
    return NULL;
}

/* ---- whole queries ---- */

/* The answer to rig_my_query(): the rows, or their first value. */
struct query {
    void (*tell)(void *context, const char *const *values, uint32_t count);
    void *context;
    char *answer;
    bool answered;
};

static void take_rows(void *context, MYSQL_RES *result)
{
    struct query *query = context;
    const unsigned columns = result == NULL ? 0 : mysql_num_fields(result);
    MYSQL_ROW row;
    while (result != NULL && (row = mysql_fetch_row(result)) != NULL) {
        const char *values[QUERY_VALUES];
        for (unsigned i = 0; i < columns && i < QUERY_VALUES; i++)
            values[i] = row[i] == NULL ? "" : row[i];
        if (query->tell != NULL)
            query->tell(query->context, values, columns < QUERY_VALUES ? columns : QUERY_VALUES);
        if (query->answer != NULL && !query->answered)
            (void)snprintf(query->answer, RIG_MY_ANSWER_BYTES, "%s", values[0]);
        query->answered = true;
    }
}

bool rig_my_each_answer(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns,
                        void (*take)(void *context, MYSQL_RES *result), void *context)
{
    connection->deadline_ns = deadline_ns;
    bool going = rig_my_send(connection, sql, strlen(sql));
    while (going) {
        MYSQL_RES *result = NULL;
        going = rig_my_rows(connection, &result);
        if (going || result != NULL)
            take(context, result);
        mysql_free_result(result);
        if (!going || !mysql_more_results(connection->my))
            break;
        going = rig_my_next(connection);
    }
    return going;
}

static enum rig_rc run(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns, struct query *query,
                       struct rig_err *err)
{
    if (rig_my_each_answer(connection, sql, deadline_ns, take_rows, query))
        return RIG_OK;
    const char *why = connection->reason != NULL ? connection->reason : mysql_error(connection->my);
    return rig_fail(err, RIG_E_CLUSTER, "MySQL: `%.120s`: %.512s", sql, why);
}

enum rig_rc rig_my_query(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns,
                         char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err)
{
    struct query query = {.answer = answer};
    if (answer != NULL)
        answer[0] = '\0';
    return run(connection, sql, deadline_ns, &query, err);
}

enum rig_rc rig_my_query_rows(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err)
{
    struct query query = {.tell = tell, .context = context};
    return run(connection, sql, deadline_ns, &query, err);
}
