/*
 * The servers of a run as a client sees them: those that rig started, or the given hosts followed by the read-only
 * hosts; the search for one that takes writes, and for one that answers reads; and how options name servers and
 * settings: "db1", "db1:5433", "[::1]:5432", "/run/postgresql:5432"; "name=value".
 *
 * Each connect tries the expected server first, then the others. A server in another role is skipped. So clients find
 * the primary again after a failover, and servers that all take writes are used evenly.
 *
 * Threads: any; a host list is constant after its initialisation.
 */
#ifndef RIG_DRIVERS_SQL_SQL_SERVERS_H
#define RIG_DRIVERS_SQL_SQL_SERVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "drivers/driver.h"

/* The address of a server. */
struct rig_sql_endpoint {
    char host[256]; /* a name, an address, or the path of a socket or of its folder; empty: the library's default */
    char port[6];   /* empty: the library's default */
};

/* False when `text` is no endpoint. */
bool rig_sql_endpoint_parse(const char *text, struct rig_sql_endpoint *endpoint);

/* Splits "name=value"; false when there is no such name. `value` points into `text`. */
bool rig_sql_setting_split(const char *text, char *name, size_t name_size, const char **value);
/* Gives each setting to `add`, in its order, with the text. RIG_E_PLAN where one is not "name=value". */
enum rig_rc rig_sql_settings_add(const struct rig_text_list *settings,
                                 void (*add)(struct rig_buf *text, const char *name, const char *value),
                                 struct rig_buf *text, struct rig_err *err);

/* The server of transactions that only read: indexes into the choices of a driver's option reads-from. */
enum rig_sql_reads_from { RIG_SQL_READS_AUTO, RIG_SQL_READS_PRIMARY, RIG_SQL_READS_REPLICA, RIG_SQL_READS_ANY };

/* The servers of a plan. Without any, rig starts its own. */
struct rig_sql_hosts {
    const struct rig_text_list *hosts;           /* borrowed */
    const struct rig_text_list *read_only_hosts; /* borrowed */
    struct rig_sql_endpoint *endpoints;          /* owned: the hosts, then the read-only hosts */
};

/* RIG_E_PLAN: a text is no server; RIG_E_LIMIT. Safe for rig_sql_hosts_done() also on failure. */
enum rig_rc rig_sql_hosts_init(struct rig_sql_hosts *list, const struct rig_text_list *hosts,
                               const struct rig_text_list *read_only_hosts, struct rig_err *err);
void rig_sql_hosts_done(struct rig_sql_hosts *list);
/* 0: rig starts its own. */
uint32_t rig_sql_hosts_count(const struct rig_sql_hosts *list);
/* The plan's text for a host. */
const char *rig_sql_hosts_name(const struct rig_sql_hosts *list, uint32_t server);

/*
 * Connects to a server and sets the session up; `*refuses_writes` is its role. The callee keeps the connection, and
 * leaves it safe for `drop` also on failure.
 */
typedef enum rig_rc (*rig_sql_open_function)(void *context, uint32_t server, int64_t deadline_ns, bool *refuses_writes,
                                             struct rig_err *err);

/* A search over servers `first`, `first` + 1, ... in a circle of `count` from `base`. */
struct rig_sql_search {
    uint32_t base;
    uint32_t count;
    uint32_t first;
    bool any_role;
    bool want_refusing; /* a server that refuses writes; unless any_role */

    rig_sql_open_function open;
    void (*drop)(void *context); /* of what was opened last */
    const char *(*name)(void *context, uint32_t server);
    void *context;
};

/*
 * The search of a client for transactions that only read, over `count` servers. `writer` is the server for its writes.
 * False: that one answers its reads, too.
 */
bool rig_sql_search_readers(struct rig_sql_search *search, enum rig_sql_reads_from from,
                            const struct rig_sql_hosts *list, uint32_t count, uint32_t client, uint32_t writer);
/*
 * Opens the first server that fits; `*server` is its number. At most `timeout_ns`, which all tried servers share. When
 * there is none: the first error that a server gave, else RIG_E_CLUSTER; the connection is dropped then.
 */
enum rig_rc rig_sql_search_run(const struct rig_sql_search *search, const struct rig_core *core, int64_t timeout_ns,
                               uint32_t *server, struct rig_err *err);

#endif
