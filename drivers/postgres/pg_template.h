/*
 * The data folder that every server starts from: made by initdb once, and kept for later runs.
 *
 * Templates are in $XDG_CACHE_HOME/rig/postgres (or below $HOME/.cache), a folder that belongs to rig's user alone. One
 * is found by a hash over the programs' identity (path, size, time of change) and initdb's arguments; it holds no
 * password. At most RIG_PG_TEMPLATES_MOST are kept, about 40 MB each; the longest unused are removed first.
 *
 * Safe with concurrent rigs and crashes: a template appears under its name by one rename, when it is complete and on
 * disk; a copy holds a shared lock on the folder, a removal an exclusive one, and the kernel drops the locks of ended
 * processes. Without a cache (no home, no space, wrong owner) initdb runs each time.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TEMPLATE_H
#define RIG_DRIVERS_POSTGRES_PG_TEMPLATE_H

#include "drivers/postgres/pg_site.h"

enum { RIG_PG_TEMPLATES_MOST = 10 };

/* Makes the data folder `data`, which does not exist, of a server that has never run. */
enum rig_rc rig_pg_template_provide(struct rig_pg_site *site, const char *data, int64_t deadline_ns,
                                    struct rig_err *err);

#endif
