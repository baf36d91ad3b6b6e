#include "drivers/mysql/my_outcome.h"

#include <string.h>

#include "base/bug.h"

#define BEFORE_COMMIT RIG_PHASE_CONNECT, RIG_PHASE_OPERATION
#define AT_COMMIT     RIG_PHASE_COMMIT, RIG_PHASE_COMMIT

/* Behind rows that no live server has answered so far; tests/system/run/run_mysql_outcomes.py has the attempts. */
#define NOT_PROVOKED

/* clang-format off */
const struct rig_my_outcome_row rig_my_outcome_table[] = {
    /* COMMIT has not been sent, or an earlier statement was answered with the error. */
    {"2006", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the server has gone away without a COMMIT: it rolls back"},
    {"2013", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the connection was lost without a COMMIT: the server rolls back"},
    {"2014", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session is out of step and is closed without a COMMIT: the server rolls back"},
    {"2020", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "a row is longer than max-answer: rig closes the session without a COMMIT, and the server rolls back"},
    {"2027", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "a malformed packet: rig closes the session without a COMMIT, and the server rolls back"},
    {RIG_MY_TIMEOUT, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig gave up and closes the session without a COMMIT: the server rolls back"},
    {RIG_MY_INTERRUPTED, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "rig was told to end and closes the session without a COMMIT: the server rolls back"},
    {RIG_MY_PROTOCOL, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session is out of step and is closed without a COMMIT: the server rolls back"},
    {"1047", "08", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "a Galera node without a quorum, or one that is joining, refuses statements: look for another node"},
    {"1053", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the server shuts down and ends the session before COMMIT"} NOT_PROVOKED,
    {"1927", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "the session was killed before COMMIT: the server rolls back"},
    {"", "08", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "connection exception, from the server or a proxy, before COMMIT was sent"},
    {"1290", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "a write on a read-only server (a replica, or a demoted primary): look for the primary again"},
    {"1836", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "a write on a server in read-only mode: look for the primary again"} NOT_PROVOKED,
    {RIG_MY_UNREACHABLE, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the requested node cannot be reached: nothing was sent to it"},
    {RIG_ROWS_ROLLED_BACK, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the program rolled its transaction back"},
    {RIG_MY_POOR, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the transfer would leave a balance below 0: rig rolls it back"},
    {RIG_MY_CHANGED, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the rows of an update were not those that it changed: rig rolls back"},
    {RIG_MY_TOO_LONG, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the statements are longer than a request may be: they were not sent, and rig rolls back"},
    {"1213", "40", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "deadlock, or a conflict with another Galera node's transaction: the server rolled the transaction back"},
    {"1205", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "lock wait time-out: the server rolled back the statement only, and rig rolls back the transaction"},
    {"1020", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the record has changed since the snapshot (innodb_snapshot_isolation): the transaction cannot commit"},
    {"1969", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "max_statement_time ended the statement: rig rolls back the transaction"},
    {"1317", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "KILL QUERY ended the statement: rig rolls back the transaction"},
    /* Two phases: XA COMMIT is sent only after XA PREPARE was acknowledged. */
    {"1397", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "XAER_NOTA: the server does not know the transaction, and rig sends no XA COMMIT"} NOT_PROVOKED,
    {"1399", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "XAER_RMFAIL: the transaction's state does not allow the statement, and rig sends no XA COMMIT"} NOT_PROVOKED,
    {"1401", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "XAER_RMERR: the server could not prepare the transaction, and rig sends no XA COMMIT"} NOT_PROVOKED,
    {"1402", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "XA_RBROLLBACK: the server has rolled the transaction back"} NOT_PROVOKED,
    {"1440", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, true,
     "XAER_DUPID: a transaction with this identifier exists, so this one has not begun"} NOT_PROVOKED,
    {"1613", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "XA_RBTIMEOUT: the server has rolled the transaction back, as it took too long"} NOT_PROVOKED,
    {"1614", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "XA_RBDEADLOCK: the server has rolled the transaction back because of a deadlock"} NOT_PROVOKED,
    {RIG_MY_MISMATCH, "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "the comparison did not hold, so no row was changed"},
    {"", "", BEFORE_COMMIT, RIG_OUTCOME_FAIL, false,
     "any other error before COMMIT: rig rolls back the transaction"},

    /* COMMIT was sent, or may have been, and no earlier statement was answered with an error. */
    {RIG_MY_MISMATCH, "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "the comparison did not hold, so there was nothing to commit"},
    {"1213", "40", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "Galera's certification failed: every node rejects the write set, and the transaction was rolled back"},
    {"3101", "40", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "group replication's certification failed: every member rejects the transaction"} NOT_PROVOKED,
    {"1290", "", AT_COMMIT, RIG_OUTCOME_FAIL, true,
     "the server became read-only before COMMIT: it checks this before it prepares the commit, and rolls back"},
    /* TiDB, from its list of error codes, which says of these three that the transaction may safely be tried again. */
    {"8002", "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "TiDB met a conflict in a transaction with locking reads, and rolled it back"} NOT_PROVOKED,
    {"8022", "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "TiDB could not commit the transaction, and rolled it back"} NOT_PROVOKED,
    {"8028", "", AT_COMMIT, RIG_OUTCOME_FAIL, false,
     "a table's definition changed during the transaction: TiDB checks this before it commits, and refuses"} NOT_PROVOKED,
    {"1180", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "an error during COMMIT: the binary log, or other Galera nodes, may already have the transaction"},
    {"1047", "08", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the Galera node lost its quorum at COMMIT: other nodes may have received the transaction"},
    {"1205", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "a time-out at COMMIT is not documented as a rollback"},
    {"1317", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "KILL QUERY at COMMIT may come after the commit is durable (while waiting for a replica)"},
    {"1053", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the server shuts down while committing: the commit may be durable"} NOT_PROVOKED,
    {"1927", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the session was killed while committing: the commit may be durable"},
    {"1397", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "XAER_NOTA at XA COMMIT: the server does not know the transaction; an earlier request or another session ended it"} NOT_PROVOKED,
    {"1399", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "XAER_RMFAIL at XA COMMIT: the transaction stays prepared, or another session is ending it"} NOT_PROVOKED,
    {"1402", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "XA_RBROLLBACK at XA COMMIT: rig takes no answer to it as proof that a prepared transaction is gone"} NOT_PROVOKED,
    {"2006", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the server has gone away after COMMIT may have been sent"},
    {"2013", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the connection was lost after COMMIT may have been sent: its answer is unknown"},
    {"2014", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "the session is out of step, and COMMIT may still be executed"},
    {"2020", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "a row is longer than max-answer: rig closes the session, and COMMIT may still be executed"},
    {"2027", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "a malformed packet proves nothing, and COMMIT may still be executed"},
    {"", "08", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "connection exception while committing: the answer is lost, but the commit may have happened"},
    {RIG_MY_TIMEOUT, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "no answer to COMMIT in time: it may still be executed"},
    {RIG_MY_INTERRUPTED, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "rig gave up waiting for the answer to COMMIT: it may still be executed"},
    {RIG_MY_PROTOCOL, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "an answer that is neither a result nor an error proves nothing"},
    {RIG_MY_MALFORMED, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged, but a result cannot be recorded as rig's operations"},
    {RIG_MY_LIMIT, "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "acknowledged, but its reads are too long to be recorded"},
    {"", "", AT_COMMIT, RIG_OUTCOME_INFO, true,
     "this error is not known to exclude a commit"},
};
/* clang-format on */

const size_t rig_my_outcome_row_count = sizeof rig_my_outcome_table / sizeof rig_my_outcome_table[0];

const struct rig_my_outcome_row *rig_my_outcome_find(enum rig_phase phase, const char *code, const char *sqlstate)
{
    RIG_INVARIANT(code != NULL && sqlstate != NULL);
    const struct rig_my_outcome_row *found = NULL;
    for (size_t i = 0; found == NULL && i < rig_my_outcome_row_count; i++) {
        const struct rig_my_outcome_row *row = &rig_my_outcome_table[i];
        const bool fits = row->code[0] == '\0' || strcmp(code, row->code) == 0;
        if (fits && phase >= row->from && phase <= row->to &&
            strncmp(sqlstate, row->sqlstate, strlen(row->sqlstate)) == 0)
            found = row;
    }
    RIG_INVARIANT(found != NULL);
    return found;
}

enum rig_error_class rig_my_error_class(const char *code)
{
    static const struct {
        const char *code;
        enum rig_error_class error_class;
    } classes[] = {
        {"1213", RIG_ERROR_CONFLICT},
        {"1205", RIG_ERROR_CONFLICT},
        {"1020", RIG_ERROR_CONFLICT},
        {"1614", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"3101", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"8002", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"8005", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"8022", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"8028", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"9007", RIG_ERROR_CONFLICT} NOT_PROVOKED,
        {"1021", RIG_ERROR_RESOURCES},
        {"1037", RIG_ERROR_RESOURCES},
        {"1038", RIG_ERROR_RESOURCES},
        {"1040", RIG_ERROR_RESOURCES},
        {"1041", RIG_ERROR_RESOURCES},
        {"1114", RIG_ERROR_RESOURCES},
        {"1135", RIG_ERROR_RESOURCES},
        {"1203", RIG_ERROR_RESOURCES},
        {"1206", RIG_ERROR_RESOURCES},
        {"1226", RIG_ERROR_RESOURCES},
    };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strcmp(code, classes[i].code) == 0)
            return classes[i].error_class;
    }
    return RIG_ERROR_OTHER;
}
