/*
 * Statements through unixODBC: prepared ones are kept by their text, cells are read as text.
 *
 * Space: RIG_ODBC_PREPARED statements, then the least recently used one makes room. Time: a look-up compares one hash a
 * kept statement. Threads: one.
 */
#ifndef RIG_DRIVERS_ODBC_ODBC_STATEMENT_H
#define RIG_DRIVERS_ODBC_ODBC_STATEMENT_H

#include "base/buf.h"
#include "drivers/odbc/odbc_connection.h"

enum { RIG_ODBC_PREPARED = 256 };

struct rig_odbc_argument {
    const char *text; /* borrowed; NULL: null, and the value of an integer */
    size_t length;
    SQLBIGINT number;
    bool is_integer;
    SQLLEN indicator; /* for the driver */
};

struct rig_odbc_statements {
    SQLHSTMT direct; /* for texts without arguments */
    struct rig_odbc_prepared {
        char *text; /* owned; NULL: a free place */
        uint64_t hash;
        uint64_t last_use;
        SQLHSTMT handle;
        const struct rig_odbc_argument *bound; /* its arguments, all integers, are bound here; NULL: not */
        size_t bound_count;
    } kept[RIG_ODBC_PREPARED];
    uint64_t use_count;
    struct rig_buf cell; /* the cell that is being read */
};

struct rig_odbc_answer {
    bool has_rows;
    struct rig_buf rows; /* as JSON: an array of arrays of texts and nulls. The caller's, cleared here */
    int64_t count;       /* without rows: rows found or changed, -1: the driver does not tell */
};

/* A zeroed object is empty. Frees every statement; the object can be used again. */
void rig_odbc_forget_statements(struct rig_odbc_statements *statements);

/*
 * Executes a text; with arguments (NULL: none, also no preparation) as a prepared statement. The first set of rows is
 * the answer, else the first count; further results are awaited, for their errors. False with the fault. Arguments that
 * are integers stay bound: `arguments` of the next call with this text may be the same array.
 */
bool rig_odbc_run(struct rig_odbc_statements *statements, const struct rig_odbc_connection *connection, const char *sql,
                  struct rig_odbc_argument *arguments, size_t count, struct rig_odbc_answer *answer,
                  struct rig_odbc_fault *fault);

#endif
