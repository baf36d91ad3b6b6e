/*
 * Connection strings of ODBC: "KEY=VALUE;KEY={VALUE};...", keys in any case, a `}` in braces doubled.
 *
 * Threads: any; unixODBC guards its files of drivers and data sources itself.
 */
#ifndef RIG_DRIVERS_ODBC_ODBC_STRING_H
#define RIG_DRIVERS_ODBC_ODBC_STRING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The first value of `key`, without its braces and cut to `size` bytes, as drivers take it. False, and an empty value, where the string has no such key. */
bool rig_odbc_attribute(const char *connection, const char *key, char *value, size_t size);
/* Appends ";KEY={VALUE}", in braces where the value needs them. */
void rig_odbc_add_attribute(struct rig_buf *connection, const char *key, const char *value);
/* Whether the name of a driver's file begins so. */
bool rig_odbc_is_driver(const char *file, const char *name);
/* Whether the string selects such a driver, as far as the files odbc.ini and odbcinst.ini tell. */
bool rig_odbc_selects_driver(const char *connection, const char *name);
/* Whether odbc.ini gives the key for the data source that the string names. */
bool rig_odbc_source_has(const char *connection, const char *key);

#endif
