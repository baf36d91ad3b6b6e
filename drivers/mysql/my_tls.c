#include "drivers/mysql/my_tls.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

/* libmariadb exports it, and declares it in a header that needs others. */
int STDCALL ma_pvio_register_callback(my_bool register_callback,
                                      void (*callback)(int mode, MYSQL *my, const unsigned char *bytes, size_t count));

enum {
    RECEIVED = 0, /* a mode of the callback */
    PROTOCOL_AT = 4,
    VERSION_AT = 5,
    PROTOCOL = 10,
    ERROR = 0xff,
    AFTER_VERSION = 4 + 8 + 1, /* the thread, half of the salt, a filler */
};

static _Thread_local struct rig_my_greeting *opening;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool watches;

/* Whether the greeting is known well enough to see its capabilities; a message of an error has none. */
static bool read_greeting(struct rig_my_greeting *greeting, bool *offers_tls)
{
    const unsigned char *bytes = greeting->bytes;
    *offers_tls = false;
    if (greeting->count <= PROTOCOL_AT)
        return false;
    if (bytes[PROTOCOL_AT] != PROTOCOL)
        return true;
    const unsigned char *end = memchr(bytes + VERSION_AT, '\0', greeting->count - VERSION_AT);
    const size_t at = end == NULL ? RIG_MY_GREETING_MOST : (size_t)(end - bytes) + 1 + AFTER_VERSION;
    if (at + 2 > greeting->count)
        return greeting->count == RIG_MY_GREETING_MOST;
    *offers_tls = ((unsigned)(bytes[at] | bytes[at + 1] << 8) & CLIENT_SSL) != 0;
    return true;
}

static void on_bytes(int mode, MYSQL *my, const unsigned char *bytes, size_t count)
{
    struct rig_my_greeting *greeting = opening;
    if (greeting == NULL || greeting->my != my || mode != RECEIVED || greeting->offers_tls || greeting->refused ||
        count == 0 || count > SIZE_MAX / 2) /* the latter: an error */
        return;
    const size_t left = RIG_MY_GREETING_MOST - greeting->count;
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

enum rig_rc rig_my_tls_watch(struct rig_err *err)
{
    (void)pthread_once(&once, register_callback);
    return watches ? RIG_OK : rig_fail(err, RIG_E_DRIVER, "libmariadb does not show what a server offers");
}

bool rig_my_tls_set(MYSQL *my, const struct rig_tls_options *tls)
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

void rig_my_tls_opening(struct rig_my_greeting *greeting)
{
    opening = greeting;
}

const char *rig_my_tls_problem(const struct rig_my_greeting *greeting)
{
    if (greeting->refused)
        return "database.tls asks for TLS, and the server does not offer it";
    const char *cipher = mysql_get_ssl_cipher(greeting->my);
    if (!greeting->offers_tls || cipher == NULL || cipher[0] == '\0')
        return "database.tls asks for TLS, and the session is not encrypted";
    return NULL;
}
