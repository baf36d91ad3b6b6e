/*
 * One session of the server: a connection to the database that runs what the driver asks for.
 */
#ifndef RIG_DRIVERS_SQLITE_SERVER_SQLITE_WORKER_H
#define RIG_DRIVERS_SQLITE_SERVER_SQLITE_WORKER_H

/* Serves the connected socket until its other side closes it, and closes it. */
void rig_sqlite_serve(int socket, const char *database);

#endif
