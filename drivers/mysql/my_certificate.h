/*
 * The certificate of MariaDB: all changes of the run's rows, from the server's binary log after the load
 * (docs/certificates.md).
 *
 * Threads: the main thread's.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_CERTIFICATE_H
#define RIG_DRIVERS_MYSQL_MY_CERTIFICATE_H

#include <mysql.h>

#include <mariadb_rpl.h>

#include "drivers/driver.h"
#include "drivers/mysql/my_connection.h"
#include "drivers/mysql/my_view.h"
#include "drivers/mysql/my_schema.h"

/*
 * Reads the events of a binary log (MariaDB, binlog_format=ROW, binlog_row_image=FULL) and hands the commits and the
 * versions of the run's keys to the core.
 *
 * A transaction begins with its GTID; its rows follow, each statement's behind the table maps that name its tables.
 * Only rows that the run's tables can have are read: k bigint, v bigint or longtext, and further bigints. Anything else
 * is an error, because a certificate that leaves something out would accuse the database.
 *
 * Threads: one.
 */

enum { RIG_MY_BINLOG_TABLES = 256, RIG_MY_BINLOG_COLUMNS = 3 };

/* A table of the run, under the number that the transaction at hand gives it. */
struct rig_my_binlog_table {
    uint64_t id;
    uint32_t column_count;
    uint8_t types[RIG_MY_BINLOG_COLUMNS];
    uint8_t length_bytes[RIG_MY_BINLOG_COLUMNS]; /* of a text */
};

struct rig_my_binlog {
    const struct rig_certificate_sink *sink; /* borrowed */
    const char *database, *stem;             /* of the run's tables: "`database`.`stem`N" */
    bool is_list;
    uint64_t file;    /* the number of the file at hand */
    uint64_t read_to; /* the end of the last event in it */
    uint64_t place, gtid;
    bool begun; /* its commit was handed over; a transaction without changes of the run's tables is not */
    struct rig_my_binlog_table tables[RIG_MY_BINLOG_TABLES];
    uint32_t table_count;
    int64_t *elements; /* owned */
    size_t element_capacity;
};

/* `file`: the first one that is read. Texts are borrowed. */
void rig_my_binlog_init(struct rig_my_binlog *binlog, const struct rig_certificate_sink *sink, const char *database,
                        const char *stem, bool is_list, const char *file);
void rig_my_binlog_done(struct rig_my_binlog *binlog);
/* One event. RIG_E_CLUSTER for one that the run's tables do not produce, RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_my_binlog_take(struct rig_my_binlog *binlog, const MARIADB_RPL_EVENT *event, struct rig_err *err);

enum { RIG_MY_BINLOG_NAME_BYTES = 256 };

/* A place in the binary log. */
struct rig_my_certificate {
    char file[RIG_MY_BINLOG_NAME_BYTES];
    uint64_t position;
};

/* Whether the run can have one: one server, whose lists are texts; `full`: the level has snapshots, too. RIG_E_PLAN. */
enum rig_rc rig_my_certificate_check(const struct rig_my_schema *schema, const struct rig_my_options *options,
                                     bool galera, bool full, struct rig_err *err);
/* Before the first session, once the tables exist: notes the place. RIG_E_CLUSTER where the server's settings do not
 * fit. */
enum rig_rc rig_my_certificate_begin(struct rig_my_certificate *certificate, struct rig_my_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err);
/* After the last session: hands over all changes since, then the views. The connection is then only good for being
 * closed. */
enum rig_rc rig_my_certificate_drain(const struct rig_my_certificate *certificate, struct rig_my_views *views,
                                     const struct rig_my_schema *schema, const struct rig_run_env *env,
                                     struct rig_my_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err);

#endif
