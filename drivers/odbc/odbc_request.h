/*
 * The lines that rig sends to a program with SQL sessions (docs/sql-programs.md), parsed in place: the greeting and
 * requests.
 *
 * Texts of a request are in its line, NUL-ended: they are valid as long as the line. Members that the protocol does not
 * have are skipped, and so are known ones with a value of another type. Time: one pass. Threads: any, each with its own
 * request.
 */
#ifndef RIG_DRIVERS_ODBC_ODBC_REQUEST_H
#define RIG_DRIVERS_ODBC_ODBC_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RIG_ODBC_ARGUMENTS_MOST = 1024 };

struct rig_odbc_request {
    int64_t rig; /* of the greeting, with `role` */
    const char *role, *progress;
    int64_t id, session;                 /* -1: absent */
    const char *sql, *types, *condition; /* NULL: absent; the condition is the member `if` */
    bool has_arguments;
    size_t argument_count;
    size_t bad_argument; /* the number of the first one that is no text and no null, from 1; 0: none */
    struct rig_odbc_text {
        const char *text; /* NULL: null */
        size_t length;
    } arguments[RIG_ODBC_ARGUMENTS_MOST]; /* the first ones */
    bool commit, rollback, close;
    bool opens; /* with the members of `open`, NULL: absent */
    const char *connection, *user, *password, *isolation;
    bool autocommit;
};

/* False: the line is no JSON object, names a member twice, or has a text with a NUL character. `line` has `size` bytes
 * and a further one that may be written. */
bool rig_odbc_request_parse(char *line, size_t size, struct rig_odbc_request *request);

#endif
