/*
 * TLS of connections on libmariadb, which by itself goes on in clear text when a server offers no TLS and its certificate is
 * not to be verified.
 *
 * rig reads the server's greeting as libmariadb receives it, and shuts the connection before the answer, which has the
 * user's name and a proof of the password, if the greeting offers no TLS. After a server has offered TLS libmariadb sends
 * nothing else before it is established.
 *
 * Threads: any; a connection is opened by one thread.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_TLS_H
#define RIG_DRIVERS_MYSQL_MY_TLS_H

#include <mysql.h>

#include "base/err.h"
#include "base/tls_options.h"

enum { RIG_MY_GREETING_MOST = 512 };

/* The bytes that libmariadb has received while a connection is opened. */
struct rig_my_greeting {
    MYSQL *my;
    unsigned char bytes[RIG_MY_GREETING_MOST];
    size_t count;
    bool offers_tls;
    bool refused; /* the connection was shut */
};

/* Before the first connection with TLS, while no other thread uses libmariadb. RIG_E_DRIVER. */
enum rig_rc rig_my_tls_watch(struct rig_err *err);
/* Sets the options of a new handle; false when libmariadb does not take them. */
bool rig_my_tls_set(MYSQL *my, const struct rig_tls_options *tls);
/* From now on this thread opens the greeting's connection, or none (NULL). The greeting is borrowed until then. */
void rig_my_tls_opening(struct rig_my_greeting *greeting);
/* Why the connection that was opened may not be used; NULL: it is encrypted. A static text. */
const char *rig_my_tls_problem(const struct rig_my_greeting *greeting);

#endif
