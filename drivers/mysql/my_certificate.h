/*
 * The certificate of MariaDB: all changes of the run's rows, from the server's binary log after the load
 * (docs/certificates.md).
 *
 * Threads: the main thread's.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_CERTIFICATE_H
#define RIG_DRIVERS_MYSQL_MY_CERTIFICATE_H

#include "drivers/mysql/my_connection.h"
#include "drivers/mysql/my_schema.h"
#include "drivers/mysql/my_view.h"

enum { RIG_MY_BINLOG_NAME_BYTES = 256 };

/* A place in the binary log. */
struct rig_my_certificate {
    char file[RIG_MY_BINLOG_NAME_BYTES];
    uint64_t position;
};

/* Whether the run can have one: one server, whose lists are texts; `full`: the level has snapshots, too. RIG_E_PLAN. */
enum rig_rc rig_my_certificate_check(const struct rig_my_schema *schema, const struct rig_my_options *options,
                                     bool galera, bool full, struct rig_err *err);
/* Before the first session, once the tables exist: notes the place. RIG_E_CLUSTER where the server's settings do not fit. */
enum rig_rc rig_my_certificate_begin(struct rig_my_certificate *certificate, struct rig_my_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err);
/* After the last session: hands over all changes since, then the views. The connection is then only good for being closed. */
enum rig_rc rig_my_certificate_drain(const struct rig_my_certificate *certificate, struct rig_my_views *views,
                                     const struct rig_my_schema *schema, const struct rig_run_env *env,
                                     struct rig_my_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err);

#endif
