/*
 * Messages between the driver and its server (server/) over a socket of this machine.
 *
 * Each message is a head and `size` bytes in the machine's own byte order. The driver asks, the server answers each
 * question once. A session begins with a HELLO, whose bytes carry the descriptor of a page that both sides map: it
 * decides which side is first when the driver gives a transaction up while the server may be about to commit it.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_WIRE_H
#define RIG_DRIVERS_SQLITE_SQLITE_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

/* The longest message, and the longest text of an error. */
#define RIG_SQLITE_MESSAGE_MOST UINT32_C(0x10000000)
enum { RIG_SQLITE_TEXT_MOST = 240, RIG_SQLITE_VALUES_MOST = 24 };

enum rig_sqlite_kind {
    RIG_SQLITE_HELLO,  /* opens the database and prepares the statements */
    RIG_SQLITE_STEPS,  /* a part of a transaction, or all of it */
    RIG_SQLITE_SCRIPT, /* any SQL; the answer has the rows of its last statement that gives rows */
    RIG_SQLITE_ANY, /* any SQL, after which no error rolls back but SQLite itself; the answer is like that to a script, and the
                          names of the columns are before the first row */
};

struct rig_sqlite_head {
    uint32_t size;
    uint32_t kind;
};

/* Then `statement_count` texts, each ended by a NUL, and the text of a script that sets the connection up. */
struct rig_sqlite_hello {
    uint32_t busy_ms;
    uint32_t shared_cache;
    uint32_t statement_count;
    uint32_t reserved;
};

/* The statements that each session has before its own. */
enum rig_sqlite_fixed {
    RIG_SQLITE_BEGIN,
    RIG_SQLITE_BEGIN_READ,
    RIG_SQLITE_COMMIT,
    RIG_SQLITE_ROLLBACK,
    RIG_SQLITE_SAVEPOINT, /* this one and those after it are steps */
    RIG_SQLITE_ROLLBACK_TO,
    RIG_SQLITE_FIXED_COUNT,
};

/* The end of a message, after its steps. */
enum rig_sqlite_end { RIG_SQLITE_GOES_ON, RIG_SQLITE_COMMITS, RIG_SQLITE_ROLLS_BACK };

struct rig_sqlite_steps {
    uint32_t begin; /* 1 + the statement that opens the transaction; 0: it is open */
    uint32_t end;   /* enum rig_sqlite_end */
    uint32_t step_count;
    uint32_t reserved;
};

/* In place of a statement's number: its text follows instead of values, ended by a NUL. */
#define RIG_SQLITE_TEXT_STATEMENT UINT32_MAX

/* Then `value_count` values, as int64_t. */
struct rig_sqlite_step {
    uint32_t statement;
    uint32_t value_count;
    uint32_t compares; /* 1: the transaction ends when no row was changed */
    uint32_t reserved;
};

/* Codes of the server beside those of SQLite. */
enum { RIG_SQLITE_MISMATCHED = -1, RIG_SQLITE_GIVEN_UP = -2, RIG_SQLITE_BAD_MESSAGE = -3 };

/*
 * Then, for each step that was run, its rows: a struct rig_sqlite_rows and its cells. After an error the transaction
 * was rolled back; `ended` says whether that succeeded.
 */
struct rig_sqlite_answer {
    int32_t code;        /* an extended error code of SQLite, or of the server; 0: none */
    uint32_t committing; /* 1: the error was answered to COMMIT */
    uint32_t ended;      /* no transaction is open any more */
    uint32_t step_count;
    uint32_t changed; /* rows, by the last statement of a script */
    int32_t pid;
    int64_t began_ns, ended_ns;          /* of the step that failed; 0: none did */
    char text[RIG_SQLITE_TEXT_MOST + 4]; /* of the error; of a HELLO without one: SQLite's version */
};

/* Each cell is a type, and for an integer its 8 bytes, for a text its length (uint32_t) and bytes. A real number is a
 * text that is read back as the same number; only answers to RIG_SQLITE_ANY tell it from one. */
enum { RIG_SQLITE_NULL, RIG_SQLITE_INTEGER, RIG_SQLITE_TEXT, RIG_SQLITE_REAL };

struct rig_sqlite_rows {
    uint32_t row_count;
    uint32_t column_count;
    uint32_t changed;
    uint32_t reserved;
    int64_t began_ns, ended_ns; /* of the statement, on CLOCK_MONOTONIC */
};

/*
 * The page. The driver writes OPEN before it sends the beginning of a transaction. The server makes that COMMITTING
 * just before COMMIT, and the driver makes it GIVEN_UP when it stops waiting: each only from OPEN. So a transaction
 * that was given up never commits afterwards, and one that the driver finds OPEN once the server's process is gone
 * never did.
 */
enum { RIG_SQLITE_PAGE_OPEN = 1, RIG_SQLITE_PAGE_COMMITTING, RIG_SQLITE_PAGE_GIVEN_UP };

struct rig_sqlite_page {
    _Atomic uint32_t state;
    _Atomic uint32_t attempts; /* of the statement that runs, to get a lock; 0: it has not met one */
};

#endif
