/*
 * The folder of PostgreSQL's programs.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_BINARIES_H
#define RIG_DRIVERS_POSTGRES_PG_BINARIES_H

#include <stddef.h>

#include "base/err.h"

enum { RIG_PG_PATH_BYTES = 1024 };

/* Finds the folder of initdb and postgres: the given one, the newest below /usr/lib/postgresql, or in PATH. */
enum rig_rc rig_pg_binaries_find(const char *asked, char *folder, size_t size, struct rig_err *err);

#endif
