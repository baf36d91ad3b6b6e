/*
 * Texts: SQL as a person writes it, sent as it is. The client interface for any statement: scenarios and loads that
 * know their own SQL use it.
 *
 * With rig_run_env.texts a session begins without a transaction: each text commits by itself until one begins a
 * transaction, and transactions have the plan's isolation unless a text says otherwise. A session never sends anything
 * that its caller did not give. The run's own tables are not made; texts work in a space of their own (a schema, a
 * database, a file), which `clear` empties.
 *
 * Threads: as for struct rig_driver; `look` is called from the thread of the session that looks.
 */
#ifndef RIG_DRIVERS_TEXTS_H
#define RIG_DRIVERS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* How sessions are set up. Borrowed; the core may change it between two sessions. */
struct rig_text_env {
    int64_t
        lock_wait_ns; /* a statement gives up a lock after it, where the database has such a limit in any case and the
                             plan does not give one (innodb_lock_wait_timeout, SQLite's busy_timeout) */
    const char *const *nodes; /* by client: the name of its node; NULL: the one that takes writes */
};

enum rig_text_kind {
    RIG_TEXT_NULL,
    RIG_TEXT_INTEGER,
    RIG_TEXT_REAL, /* binary floating point, with enough digits to be read back */
    RIG_TEXT_DECIMAL,
    RIG_TEXT_BOOLEAN, /* "true" or "false" */
    RIG_TEXT_MOMENT,  /* a date, a time of day, both */
    RIG_TEXT_OTHER,   /* any other type: its text */
    RIG_TEXT_UNTYPED, /* the client gives texts without types */
};

struct rig_text_cell {
    enum rig_text_kind kind;
    const char *text; /* ends with a NUL, which `length` does not count; NULL: null */
    size_t length;
};

enum { RIG_TEXT_CODE_BYTES = 32, RIG_TEXT_MESSAGE_BYTES = 512 };

/* The caller sets the functions, which may be NULL; the driver sets the rest, which is cleared before. */
struct rig_text_answer {
    /* `columns` is called once for a set of rows, with the names of its columns (NULL: the client does not tell them),
     * `row` once for a row. Texts are borrowed until the function returns. The last set counts, where there are
     * several. False: no more. */
    bool (*columns)(void *context, const char *const *names, uint32_t count);
    bool (*row)(void *context, const struct rig_text_cell *cells, uint32_t count);
    void *context;

    bool has_rows;
    int64_t count; /* rows that the statement inserted, updated or deleted, as the database counts; -1: it is no such
                          statement, or the client does not tell */
    bool
        untagged; /* the client does not tell which statement was answered: `rolled_back` is unknown, and the count of a
                      statement that begins with another word than its own */
    bool rolled_back;  /* a commit that the database answered by a rollback, because the transaction had failed */
    bool failed;       /* by an error: */
    bool ended;        /* the error has ended the transaction, or nothing but its end will be executed */
    bool conflict;     /* the error is one of another transaction's making */
    bool session_lost; /* the session can no longer be used */
    char code[RIG_TEXT_CODE_BYTES]; /* as rig names the error: "40001", "1213", "BUSY_SNAPSHOT"; "timeout" and the like
                                       for those of the client */
    char state[6];                  /* SQLSTATE; empty: none */
    int64_t native;                 /* the database's own number; 0: none */
    char text[RIG_TEXT_MESSAGE_BYTES]; /* one line */
};

enum rig_text_wait_kind {
    RIG_TEXT_WAIT_UNKNOWN, /* there is nothing to ask */
    RIG_TEXT_RUNS,         /* it works, or has answered already */
    RIG_TEXT_WAITS,        /* for another session, or for a time that its statement names */
};

/* The database's word on a session. */
struct rig_text_wait {
    enum rig_text_wait_kind kind;
    uint32_t
        attempts; /* how often it has tried to get its lock so far, where the client tries again and again; 0: the server
                          wakes it */
    uint64_t blockers; /* a bit for each of the asked sessions that it waits for, where the database tells; 0: none */
};

/* Optional group of a driver that sends texts. */
struct rig_text_ops {
    /* Makes the space empty, and drops what is in it. On the main thread, after `setup`, while no session is open. */
    enum rig_rc (*clear)(void *run, struct rig_err *err);
    /* The name of the space in SQL; empty: it has none. */
    const char *(*space)(const void *run);
    /* On the session's thread. Waits as long as the statement does; rig_driver.interrupt() ends the wait, and the
     * session. */
    void (*execute)(void *session, const char *sql, struct rig_text_answer *answer);
    /* Optional. Asks the server of `watch`, an idle session, for each of `count` (at most 64) others. False: it cannot
     * be asked now. */
    bool (*look)(void *watch, void *const *sessions, uint32_t count, struct rig_text_wait *waits);
    bool looks_at_once; /* `look` takes no time, and gives attempts */
};

#endif
