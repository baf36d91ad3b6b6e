/*
 * The driver's end of a session: asks the server, waits for its answer, and decides with it whether a transaction that
 * was given up can still commit (sqlite_wire.h). Where the database is embedded there is no server: the calling thread
 * runs the worker itself, which a lock holds up for `busy_ms` at most, and nothing is given up.
 *
 * Threads: one at a time; interrupts come through `wake`.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_LINK_H
#define RIG_DRIVERS_SQLITE_SQLITE_LINK_H

#include "base/buf.h"
#include "base/thread.h"
#include "drivers/driver.h"
#include "drivers/sqlite/sqlite_wire.h"

/* Zeroed: closed. */
struct rig_sqlite_link {
    const struct rig_core *core;
    int fd_plus_one;
    struct rig_sqlite_worker *embedded; /* in place of a connection to the server */
    struct rig_sqlite_page own_page;    /* of an embedded one */
    struct rig_sqlite_page *page;
    struct rig_buf question; /* begins with a struct rig_sqlite_head */
    struct rig_buf bytes;    /* of the answer */
    struct rig_sqlite_answer answer;
};

/* The deadline, and the event that ends a wait before it. */
struct rig_sqlite_patience {
    const struct rig_core *core;
    int64_t deadline_ns;
    const struct rig_wake *wake; /* NULL: none */
};

enum rig_sqlite_wait { RIG_SQLITE_ANSWERED, RIG_SQLITE_GONE, RIG_SQLITE_LATE, RIG_SQLITE_WOKEN };

/* A session prepares these statements, texts that each end with a NUL, after its script. */
struct rig_sqlite_setup {
    const char *socket;   /* of the server; NULL: embedded */
    const char *database; /* of an embedded one */
    uint32_t busy_ms;
    bool shared_cache;
    const struct rig_buf *statements; /* NULL: none */
    uint32_t statement_count;
    const char *script;
};

/* Connects, opens the database and prepares the statements. RIG_E_CLUSTER; RIG_E_INTERRUPTED. Close it in any case. */
enum rig_rc rig_sqlite_link_open(struct rig_sqlite_link *link, const struct rig_sqlite_setup *setup,
                                 const struct rig_sqlite_patience *patience, struct rig_err *err);
void rig_sqlite_link_close(struct rig_sqlite_link *link);

/* Begins a question, of which the caller adds the rest to link->question. */
void rig_sqlite_link_begin(struct rig_sqlite_link *link, enum rig_sqlite_kind kind);
/* Sends it and receives link->answer and link->bytes behind it. */
enum rig_sqlite_wait rig_sqlite_link_ask(struct rig_sqlite_link *link, const struct rig_sqlite_patience *patience);
/* Runs a script. `link->bytes` has its rows. RIG_E_CLUSTER with SQLite's own words. */
enum rig_rc rig_sqlite_link_run(struct rig_sqlite_link *link, const char *script,
                                const struct rig_sqlite_patience *patience, struct rig_err *err);

/* Before a transaction is begun. */
void rig_sqlite_link_open_transaction(struct rig_sqlite_link *link);
/* Gives the open transaction up: true if it is certain that it never commits. */
bool rig_sqlite_link_give_up(struct rig_sqlite_link *link);

/* A position in the results of link->bytes. */
struct rig_sqlite_cursor {
    const char *at, *end;
};
struct rig_sqlite_cell {
    uint32_t kind; /* RIG_SQLITE_NULL, ... */
    int64_t number;
    const char *text; /* not ended by a NUL */
    uint32_t length;
};

struct rig_sqlite_cursor rig_sqlite_link_results(const struct rig_sqlite_link *link);
/* Both: false when the answer is malformed. */
bool rig_sqlite_next_rows(struct rig_sqlite_cursor *cursor, struct rig_sqlite_rows *rows);
bool rig_sqlite_next_cell(struct rig_sqlite_cursor *cursor, struct rig_sqlite_cell *cell);

#endif
