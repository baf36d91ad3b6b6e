/*
 * The titles of PostgreSQL's processes, as /proc shows them: `postgres: user database host activity` is a session, with
 * the cluster's name and a colon before the user where it has one; every other title is that of the main process or of
 * a process in the background.
 *
 * Threads: any.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TITLE_H
#define RIG_DRIVERS_POSTGRES_PG_TITLE_H

#include <stdbool.h>
#include <sys/types.h>

/* Sessions of clients and their parallel workers; not those of replication. */
bool rig_pg_title_is_session(const char *title);
/* False also for a process that has ended. */
bool rig_pg_process_is_session(pid_t pid);

#endif
