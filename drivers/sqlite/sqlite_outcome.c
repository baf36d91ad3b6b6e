#include "drivers/sqlite/sqlite_outcome.h"

#include <sqlite3.h>

#include "drivers/sqlite/sqlite_wire.h"

#define BEFORE_COMMIT RIG_SQL_BEFORE_COMMIT
#define AT_COMMIT     RIG_SQL_AT_COMMIT

/* clang-format off */
static const struct rig_sql_outcome rows[] = {
    /* COMMIT was not executed, and will not be. */
    {RIG_SQL_LOST, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session's process ended before COMMIT: its writes are not visible, and recovery rolls them back"},
    {RIG_SQL_TIMEOUT, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig gave up before COMMIT: the session finds that, and rolls back"},
    {RIG_SQL_INTERRUPTED, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig was told to end before COMMIT: the session finds that, and rolls back"},
    {RIG_SQL_PROTOCOL, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session is out of step and is closed without a COMMIT: it rolls back"},
    {RIG_SQL_LIMIT, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the reads are too long to be recorded: rig rolls back"},
    {RIG_SQL_MALFORMED, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "a result cannot be recorded as rig's operations: rig rolls back"},
    {RIG_ROWS_ROLLED_BACK, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the program rolled its transaction back"},
    {RIG_ROLLED_BACK_CODE, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     RIG_ROLLED_BACK_TEXT},
    {RIG_SQL_POOR, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the transfer would leave a balance below 0: rig rolls it back"},
    {RIG_SQL_MISMATCH, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the comparison did not hold, so no row was changed"},
    {"BUSY", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "another connection holds the lock, or has committed since this one read: rig rolls back"},
    {"LOCKED", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "another connection of the shared cache holds a lock on the table: rig rolls back"},
    {"IOERR", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the disk failed before COMMIT: SQLite rolls back, now or when the file is opened next"},
    {"CORRUPT", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the file is damaged: the statement failed before COMMIT"},
    {"NOTADB", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the file is damaged: the statement failed before COMMIT"},
    {"CANTOPEN", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the file or its journal cannot be opened: the statement failed before COMMIT"},
    {"READONLY", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the file was replaced or became read-only: the statement failed before COMMIT"},
    {"NOMEM", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "no memory before COMMIT: SQLite rolls back"},
    {"", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "any error before COMMIT: SQLite or rig rolls back"},

    /* COMMIT was begun, or may have been. */
    {"BUSY", "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "COMMIT waits for readers before it writes to the file; the transaction stays open, and the server rolls it back"},
    {"LOCKED", "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "a lock in the shared cache is taken before anything is written; the server rolls back"},
    {"CONSTRAINT", "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "deferred constraints are checked before anything is written; the server rolls back"},
    {"IOERR", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the disk failed while committing: frames or pages may be on it, and recovery may find them"},
    {"FULL", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the disk became full while committing: the frames before may be on it"},
    {RIG_SQL_LOST, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the session's process ended during COMMIT: recovery decides"},
    {RIG_SQL_TIMEOUT, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "no answer to COMMIT in time: it may still be executed"},
    {RIG_SQL_INTERRUPTED, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "rig gave up waiting for the answer to COMMIT: it may still be executed"},
    {RIG_SQL_MALFORMED, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged, but a result cannot be recorded as rig's operations"},
    {RIG_SQL_LIMIT, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged, but its reads are too long to be recorded"},
    {RIG_SQL_PROTOCOL, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "an invalid answer to COMMIT proves nothing"},
    {"", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "this error is not known to exclude a commit"},
};
/* clang-format on */

static const struct rig_sql_class classes[] = {
    {"BUSY", RIG_ERROR_CONFLICT},
    {"LOCKED", RIG_ERROR_CONFLICT},
    {"FULL", RIG_ERROR_RESOURCES},
    {"NOMEM", RIG_ERROR_RESOURCES},
};

const struct rig_sql_outcomes rig_sqlite_outcomes = {
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
    .classes = classes,
    .class_count = sizeof classes / sizeof classes[0],
    .by_start = true,
};

/* clang-format off */
#define CODES(X) \
    X(ERROR) X(INTERNAL) X(PERM) X(ABORT) X(BUSY) X(LOCKED) X(NOMEM) X(READONLY) X(INTERRUPT) X(IOERR) X(CORRUPT) \
    X(NOTFOUND) X(FULL) X(CANTOPEN) X(PROTOCOL) X(EMPTY) X(SCHEMA) X(TOOBIG) X(CONSTRAINT) X(MISMATCH) X(MISUSE) \
    X(NOLFS) X(AUTH) X(FORMAT) X(RANGE) X(NOTADB) X(ABORT_ROLLBACK) X(BUSY_RECOVERY) X(BUSY_SNAPSHOT) \
    X(BUSY_TIMEOUT) X(LOCKED_SHAREDCACHE) X(READONLY_RECOVERY) X(READONLY_CANTLOCK) X(READONLY_ROLLBACK) \
    X(READONLY_DBMOVED) X(READONLY_CANTINIT) X(READONLY_DIRECTORY) X(IOERR_READ) X(IOERR_SHORT_READ) X(IOERR_WRITE) \
    X(IOERR_FSYNC) X(IOERR_DIR_FSYNC) X(IOERR_TRUNCATE) X(IOERR_FSTAT) X(IOERR_UNLOCK) X(IOERR_RDLOCK) \
    X(IOERR_DELETE) X(IOERR_NOMEM) X(IOERR_ACCESS) X(IOERR_LOCK) X(IOERR_CLOSE) X(IOERR_DIR_CLOSE) X(IOERR_SHMOPEN) \
    X(IOERR_SHMSIZE) X(IOERR_SHMLOCK) X(IOERR_SHMMAP) X(IOERR_SEEK) X(IOERR_DELETE_NOENT) X(IOERR_MMAP) \
    X(CORRUPT_VTAB) X(CORRUPT_SEQUENCE) X(CORRUPT_INDEX) X(CANTOPEN_NOTEMPDIR) X(CANTOPEN_ISDIR) \
    X(CANTOPEN_FULLPATH) X(CANTOPEN_CONVPATH) X(CANTOPEN_SYMLINK) X(CONSTRAINT_CHECK) X(CONSTRAINT_FOREIGNKEY) \
    X(CONSTRAINT_NOTNULL) X(CONSTRAINT_PRIMARYKEY) X(CONSTRAINT_TRIGGER) X(CONSTRAINT_UNIQUE) X(CONSTRAINT_ROWID)
/* clang-format on */

const char *rig_sqlite_code_name(int32_t code)
{
    static const struct {
        int32_t code;
        const char *name;
    } names[] = {
#define NAME(name) {SQLITE_##name, #name},
        CODES(NAME)
#undef NAME
        /* Names that a plan's reader knows from other drivers. */
        {RIG_SQLITE_MISMATCHED, RIG_SQL_MISMATCH},
        {RIG_SQLITE_BAD_MESSAGE, RIG_SQL_PROTOCOL},
        {RIG_SQLITE_GIVEN_UP, RIG_SQL_TIMEOUT}};
    for (int pass = 0; pass < 2; pass++) {
        const int32_t wanted = pass == 0 || code < 0 ? code : (code & 0xff);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (names[i].code == wanted)
                return names[i].name;
        }
    }
    return "unknown";
}
