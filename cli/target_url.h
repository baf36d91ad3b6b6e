/*
 * A URL that names a database: `rig run PLAN --on URL`, `rig try URL`.
 *
 *   postgres://user:password@host:port,host:port/db?sslmode=verify-full&sslrootcert=FILE   also postgresql, pg
 *   mysql://user:password@host:port/db?tls=true&ca=FILE                                    also mariadb
 *   etcd://host:port, etcds://host:port (TLS), http://host:port, https://host:port/path
 *   odbc:DSN, odbc:Driver=...;Server=...                                                   an ODBC connection string
 *   sqlite:                                                                                a database file of rig's own
 *
 * `%41` stands for a byte in users, passwords and names, as in every URL.
 */
#ifndef RIG_CLI_TARGET_URL_H
#define RIG_CLI_TARGET_URL_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Adds the settings of a plan that the URL stands for, each `KEY=VALUE` with its ending NUL. http and https name the
 * endpoints only; the others name the driver, too. RIG_E_PLAN names what is wrong in the URL, without its password.
 */
enum rig_rc rig_target_url_settings(const char *url, struct rig_buf *settings, struct rig_err *err);
/* Overwrites the passwords of a URL that is an argument of this process: all users of a machine can read these. */
void rig_target_url_hide(const char *argument);

#endif
