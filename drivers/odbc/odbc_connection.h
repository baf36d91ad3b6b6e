/*
 * One connection through unixODBC: opening it with its isolation level, ending transactions, and the meaning of errors.
 *
 * Threads: one. Calls block as long as the driver does; the way to interrupt them is to end the process.
 */
#ifndef RIG_DRIVERS_ODBC_ODBC_CONNECTION_H
#define RIG_DRIVERS_ODBC_ODBC_CONNECTION_H

#include <sql.h>
#include <sqlext.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { RIG_ODBC_TEXT_BYTES = 4096, RIG_ODBC_NAME_BYTES = 160 };

/* An error as the driver gives it: state and native code of the first diagnostic record, the texts of all of them. */
struct rig_odbc_fault {
    char state[SQL_SQLSTATE_SIZE + 1]; /* empty: the program's own error */
    int32_t code;
    bool lost; /* the connection is of no further use */
    char text[RIG_ODBC_TEXT_BYTES];
};

/* The request of a session, texts borrowed. */
struct rig_odbc_target {
    const char *connection; /* a connection string, or the name of a data source */
    const char *user;       /* NULL: the string has it */
    const char *password;
    const char *isolation; /* NULL: the server's default; else SERIALIZABLE and so on */
    bool autocommit;       /* transactions are texts; false: rig_odbc_end() ends them */
};

struct rig_odbc_connection {
    SQLHENV environment;
    SQLHDBC handle;
    bool autocommit;
    bool forgets_prepared; /* the end of a transaction deletes prepared statements */
    char server[RIG_ODBC_NAME_BYTES];
    char driver[RIG_ODBC_NAME_BYTES];
};

/* Each returns false with the fault. A failed open leaves a zeroed connection. */
bool rig_odbc_open(struct rig_odbc_connection *connection, const struct rig_odbc_target *target,
                   struct rig_odbc_fault *fault);
/* `warning`: the record of a success that has one, else empty. */
bool rig_odbc_end(struct rig_odbc_connection *connection, bool commit, char warning[static RIG_ODBC_TEXT_BYTES],
                  struct rig_odbc_fault *fault);
/* Rolls back and disconnects. Takes a zeroed connection. */
void rig_odbc_close(struct rig_odbc_connection *connection);

/* The error that the last call on `handle` has left. */
void rig_odbc_diagnose(const struct rig_odbc_connection *connection, SQLSMALLINT type, SQLHANDLE handle,
                       struct rig_odbc_fault *fault);
/* An error of the program itself. Returns false. */
bool rig_odbc_refuse(struct rig_odbc_fault *fault, const char *format, ...) RIG_PRINTF(2, 3);

#endif
