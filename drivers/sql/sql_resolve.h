/*
 * Addresses of a host's name, within a deadline, which a client library's own look-up lacks.
 *
 * A thread of its own calls the resolver. When the deadline passes first, that thread ends with the resolver's own
 * time-out (seconds), and frees the request.
 */
#ifndef RIG_DRIVERS_SQL_SQL_RESOLVE_H
#define RIG_DRIVERS_SQL_SQL_RESOLVE_H

#include "drivers/sql/sql_wait.h"

enum { RIG_SQL_ADDRESSES_MOST = 8, RIG_SQL_ADDRESS_BYTES = 80 };

struct rig_sql_addresses {
    char at[RIG_SQL_ADDRESSES_MOST][RIG_SQL_ADDRESS_BYTES]; /* in numbers, in the resolver's order */
    size_t count; /* 0: the host needs none: it is an address, the folder of a socket, or left to the library */
};

/* `product`: in messages. RIG_E_CLUSTER: there is no such host, or no answer in time; RIG_E_LIMIT: no thread or descriptor. */
enum rig_rc rig_sql_resolve(const char *product, const char *host, struct rig_sql_waiter *waiter, int64_t deadline_ns,
                            struct rig_sql_addresses *addresses, struct rig_err *err);

#endif
