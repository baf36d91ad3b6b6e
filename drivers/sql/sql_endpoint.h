/*
 * Servers and settings as options name them: "db1", "db1:5433", "[::1]:5432", "/run/postgresql:5432"; "name=value".
 *
 * Pure functions.
 */
#ifndef RIG_DRIVERS_SQL_SQL_ENDPOINT_H
#define RIG_DRIVERS_SQL_SQL_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

/* The address of a server. */
struct rig_sql_endpoint {
    char host[256]; /* a name, an address, or the path of a socket or of its folder; empty: the library's default */
    char port[6];   /* empty: the library's default */
};

/* False when `text` is no endpoint. */
bool rig_sql_endpoint_parse(const char *text, struct rig_sql_endpoint *endpoint);

/* Splits "name=value"; false when there is no such name. `value` points into `text`. */
bool rig_sql_setting_split(const char *text, char *name, size_t name_size, const char **value);

#endif
