#include "drivers/postgres/pg_outcome.h"

#include <string.h>

#include "base/bug.h"

#define BEFORE_COMMIT RIG_PHASE_CONNECT, RIG_PHASE_OPERATION
#define AT_COMMIT     RIG_PHASE_COMMIT, RIG_PHASE_COMMIT

/* clang-format off */
const struct rig_pg_outcome_row rig_pg_outcome_table[] = {
    /* COMMIT has not been sent, or an earlier statement was answered with the error. */
    {RIG_PG_LOST, BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session ended without a COMMIT: the server rolls back"},
    {RIG_PG_TIMEOUT, BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig gave up and closes the session without a COMMIT: the server rolls back"},
    {RIG_PG_INTERRUPTED, BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig was told to end and closes the session without a COMMIT: the server rolls back"},
    {RIG_PG_TOO_LARGE, BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the answers are longer than max-answer: rig closes the session without a COMMIT, and the server rolls back"},
    {RIG_PG_PROTOCOL, BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session is out of step and is closed without a COMMIT: the server rolls back"},
    {"08", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "connection exception, from the server or a pooler, before COMMIT was sent"},
    {"57P", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "operator intervention (terminated, shut down, crashed, starting up): the session ended before COMMIT"},
    {"25P03", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "idle_in_transaction_session_timeout ended the session before COMMIT"},
    {"25P04", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "transaction_timeout ended the session before COMMIT"},
    {"25006", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "a write on a read-only server (a standby, or a demoted primary): look for the primary again"},
    {RIG_PG_UNREACHABLE, BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the requested node cannot be reached: nothing was sent to it"},
    {RIG_ROWS_ROLLED_BACK, BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the program rolled its transaction back"},
    {RIG_PG_POOR, BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the transfer would leave a balance below 0: rig rolls it back"},
    {"40001", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "serialization failure: the server aborted the transaction"},
    {"40P01", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "deadlock: the server aborted the transaction"},
    {"57014", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "statement_timeout or a cancel ended a statement: the transaction is aborted"},
    {"55P03", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "lock_timeout ended a statement: the transaction is aborted"},
    {RIG_PG_MISMATCH, BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the comparison did not hold, so no row was changed"},
    {"", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "any error before COMMIT aborts the transaction"},

    /* COMMIT was sent, or may have been, and no earlier statement was answered with an error. */
    {RIG_PG_MISMATCH, AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "the comparison did not hold, so there was nothing to commit"},
    {RIG_PG_ROLLED_BACK, AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "COMMIT of an aborted transaction is a rollback, and the server reports it"},
    {"40001", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "serialization failure at commit is raised before the commit record is written"},
    {"40P01", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "deadlock at commit: only deferred constraints wait for locks there, before the commit record"},
    {"23", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "deferred constraints are checked before the commit record is written"},
    {"55P03", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "lock_timeout at commit: only deferred constraints wait for locks there, before the commit record"},
    {"25P03", AT_COMMIT, RIG_OUTCOME_FAIL, true,
     "raised only while the server waits for a statement inside a transaction: it has not read the COMMIT"},
    {"57014", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "a cancel during commit may come after the commit record (while waiting for a standby)"},
    {"57P", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "terminated, shut down or crashed while committing: the commit record may be on disk"},
    {"08", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "connection exception while committing: the answer is lost, but the commit may have happened"},
    {"40003", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "statement completion unknown, by its own name"},
    {RIG_PG_COMMIT_WARNING, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged on this server only: a cancelled wait for a standby commits with a warning, and a fail-over may lose it"},
    {RIG_PG_LOST, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the connection was lost after COMMIT may have been sent: its answer is unknown"},
    {RIG_PG_TIMEOUT, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "no answer to COMMIT in time: it may still be executed"},
    {RIG_PG_INTERRUPTED, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "rig gave up waiting for the answer to COMMIT: it may still be executed"},
    {RIG_PG_TOO_LARGE, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the answers are longer than max-answer: rig closes the session, and COMMIT may still be executed"},
    {RIG_PG_PROTOCOL, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "an answer to COMMIT that is neither COMMIT, ROLLBACK nor an error proves nothing"},
    {RIG_PG_MALFORMED, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged, but a result cannot be recorded as rig's operations"},
    {RIG_PG_LIMIT, AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged, but its reads are too long to be recorded"},
    {"", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "this error is not known to exclude a commit"},
};
/* clang-format on */

const size_t rig_pg_outcome_row_count = sizeof rig_pg_outcome_table / sizeof rig_pg_outcome_table[0];

const struct rig_pg_outcome_row *rig_pg_outcome_find(enum rig_phase phase, const char *code)
{
    RIG_INVARIANT(code != NULL);
    const struct rig_pg_outcome_row *found = NULL;
    for (size_t i = 0; found == NULL && i < rig_pg_outcome_row_count; i++) {
        const struct rig_pg_outcome_row *row = &rig_pg_outcome_table[i];
        if (phase >= row->from && phase <= row->to && strncmp(code, row->code, strlen(row->code)) == 0)
            found = row;
    }
    RIG_INVARIANT(found != NULL);
    return found;
}

enum rig_error_class rig_pg_error_class(const char *code)
{
    static const struct {
        const char *start;
        enum rig_error_class error_class;
    } classes[] = {{"40001", RIG_ERROR_CONFLICT},
                   {"40P01", RIG_ERROR_CONFLICT},
                   {"55P03", RIG_ERROR_CONFLICT},
                   {"53", RIG_ERROR_RESOURCES}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(code, classes[i].start, strlen(classes[i].start)) == 0)
            return classes[i].error_class;
    }
    return RIG_ERROR_OTHER;
}
