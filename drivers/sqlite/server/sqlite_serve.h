/*
 * One session of the server: what comes over its socket goes to a worker.
 */
#ifndef RIG_DRIVERS_SQLITE_SERVER_SQLITE_SERVE_H
#define RIG_DRIVERS_SQLITE_SERVER_SQLITE_SERVE_H

/* Serves the connected socket until its other side closes it or memory runs out, and closes it. */
void rig_sqlite_serve(int socket, const char *database);

#endif
