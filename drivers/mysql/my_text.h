/*
 * Texts of any SQL on MariaDB and MySQL (drivers/sql/sql_text.h), in a database of the run's name.
 *
 * Threads: those of the hooks.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_TEXT_H
#define RIG_DRIVERS_MYSQL_MY_TEXT_H

#include "drivers/mysql/my_session.h"
#include "drivers/sql/sql_text.h"

extern const struct rig_sql_texts rig_my_texts;

/* The settings of a session of texts; the server's own sql_mode stays. RIG_E_CLUSTER. */
enum rig_rc rig_my_text_prepare(const struct rig_my_run *run, struct rig_my_connection *connection, int64_t deadline_ns,
                                struct rig_err *err);

#endif
