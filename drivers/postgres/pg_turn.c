#include "drivers/postgres/pg_turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/sql_ops.h"

/* How the rows that came agree with the number in the tag. */
enum rows { ROWS_NO_NUMBER, ROWS_IF_ANY, ROWS_ALWAYS };

static const struct {
    const char *sql; /* the beginning of the statement */
    const char *tag; /* without its numbers */
    enum rows rows;
} tags[] = {
    {"SELECT ", "SELECT", ROWS_ALWAYS},
    {"INSERT ", "INSERT 0", ROWS_IF_ANY},
    {"UPDATE ", "UPDATE", ROWS_IF_ANY},
    {"DELETE ", "DELETE", ROWS_IF_ANY},
    {"WITH ", "SELECT", ROWS_ALWAYS},
    {"WITH ", "INSERT 0", ROWS_IF_ANY},
    {"WITH ", "UPDATE", ROWS_IF_ANY},
    {"WITH ", "DELETE", ROWS_IF_ANY},
    {"BEGIN", "BEGIN", ROWS_NO_NUMBER},
    {"SAVEPOINT ", "SAVEPOINT", ROWS_NO_NUMBER},
    {"RELEASE ", "RELEASE", ROWS_NO_NUMBER},
    {"ROLLBACK", "ROLLBACK", ROWS_NO_NUMBER},
    {"COMMIT PREPARED", "COMMIT PREPARED", ROWS_NO_NUMBER},
    {"COMMIT", "COMMIT", ROWS_NO_NUMBER},
    {"COMMIT", "ROLLBACK", ROWS_NO_NUMBER}, /* of a transaction that had failed */
    {"PREPARE TRANSACTION", "PREPARE TRANSACTION", ROWS_NO_NUMBER},
    {"PREPARE TRANSACTION", "ROLLBACK", ROWS_NO_NUMBER},
};

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether the rest of the tag is the number of the rows. */
static bool counts(const char *rest, enum rows how, int rows)
{
    if (how == ROWS_NO_NUMBER)
        return rest[0] == '\0' && rows < 0;
    if (rest[0] != ' ' || rest[1] < '0' || rest[1] > '9' || (how == ROWS_ALWAYS && rows < 0))
        return false;
    char *end;
    const unsigned long long count = strtoull(rest + 1, &end, 10);
    return *end == '\0' && (rows < 0 || count == (unsigned long long)rows);
}

bool rig_pg_tag_fits(const char *sql, const char *tag, int rows)
{
    bool known = false;
    RIG_REQUIRE(sql != NULL && tag != NULL);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (!starts(sql, tags[i].sql))
            continue;
        known = true;
        if (starts(tag, tags[i].tag) && counts(tag + strlen(tags[i].tag), tags[i].rows, rows))
            return true;
    }
    return !known;
}

bool rig_pg_ends_transaction(const char *sql)
{
    return starts(sql, "COMMIT") || starts(sql, "PREPARE TRANSACTION") ||
           (starts(sql, "ROLLBACK") && !starts(sql, "ROLLBACK TO"));
}

void rig_pg_turn_fail(struct rig_pg_turn *turn, enum rig_phase phase, const char *code, const char *text)
{
    char line[RIG_ERROR_TEXT_BYTES];
    rig_pg_one_line(line, sizeof line, text);
    rig_sql_turn_fail(&turn->sql, phase, code, line);
}

/* The server reports that no transaction is open, in the middle of one: it may have committed what it has executed. */
static void lose_transaction(struct rig_pg_turn *turn)
{
    turn->sql.may_commit = true;
    rig_sql_turn_lose_step(&turn->sql, "the server reports another state of the transaction than it is in");
}

bool rig_pg_turn_check_status(struct rig_pg_turn *turn, PGTransactionStatusType expected)
{
    PGconn *pg = rig_pg_connection_of(turn)->pg;
    if (PQstatus(pg) == CONNECTION_BAD || PQtransactionStatus(pg) == PQTRANS_ACTIVE) /* there is no report */
        return true;
    if (PQtransactionStatus(pg) != expected)
        lose_transaction(turn);
    else if (rig_pg_has_unasked(rig_pg_connection_of(turn)))
        rig_sql_turn_lose_step(&turn->sql, "the server sent more than the answers");
    else
        return true;
    return false;
}

bool rig_pg_turn_check_tag(struct rig_pg_turn *turn, const char *sql, const PGresult *result)
{
    const int rows = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result) : -1;
    char text[RIG_ERROR_TEXT_BYTES];
    /* PQcmdStatus() takes a non-const result that it does not change. */
    const char *tag = PQcmdStatus((PGresult *)(uintptr_t)result);
    if (rig_pg_tag_fits(sql, tag, rows))
        return true;
    (void)snprintf(text, sizeof text, "not the answer to `%.80s`: %.64s, %d rows", sql, tag, rows < 0 ? 0 : rows);
    rig_sql_turn_lose_step(&turn->sql, text);
    return false;
}

void rig_pg_turn_fail_result(struct rig_pg_turn *turn, enum rig_phase phase, const PGresult *result)
{
    const struct rig_pg_connection *connection = rig_pg_connection_of(turn);
    const char *code = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (code == NULL && PQstatus(connection->pg) != CONNECTION_BAD) {
        char text[RIG_ERROR_TEXT_BYTES];
        rig_pg_one_line(text, sizeof text,
                        result == NULL ? "a statement was not answered" : PQresultErrorMessage(result));
        rig_sql_turn_lose_step(&turn->sql, text);
        return;
    }
    if (code == NULL) {
        /* A server that is shut down at once, or crashes, sends the reason in a notice before it breaks the
         * connection. */
        bool farewell = connection->farewell_code[0] != '\0';
        rig_pg_turn_fail(turn, phase, farewell ? connection->farewell_code : RIG_SQL_LOST,
                         farewell ? connection->farewell_text : PQerrorMessage(connection->pg));
        turn->sql.session_lost = true;
        return;
    }
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity != NULL && strcmp(severity, "ERROR") != 0)
        turn->sql.session_lost = true; /* FATAL or PANIC */
    rig_pg_turn_fail(turn, phase, code, PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
}

bool rig_pg_affected_a_row(const PGresult *result)
{
    return strcmp(PQcmdTuples((PGresult *)(uintptr_t)result), "0") != 0; /* does not change it */
}

/* At read committed a locking read, an update and a delete see the newest version, which their snapshot need not have.
 * */
static bool reads_past_snapshot(const struct rig_pg_turn *turn, uint32_t op)
{
    const struct rig_pg_run *run = rig_pg_run_of(turn);
    struct rig_sql_numbers numbers;
    if (turn->sql.transaction->ops[op].kind == RIG_OP_READ_WHERE) {
        (void)rig_sql_predicate_of(turn->sql.transaction, op, &numbers);
        return turn->sql.isolation < RIG_SQL_REPEATABLE_READ && numbers.further != 0;
    }
    return run->options->sql.lock_reads > 0 && turn->sql.isolation < RIG_SQL_REPEATABLE_READ &&
           rig_sql_action_of(run->schema.workload, run->options->sql.lock_reads, turn->sql.transaction, op, &numbers) ==
               RIG_SQL_READ_LOCKED;
}

void rig_pg_turn_take_view(struct rig_pg_turn *turn, uint32_t op, const PGresult *result)
{
    struct rig_pg_run *run = rig_pg_run_of(turn);
    if (run->views.logs != NULL)
        rig_pg_view_take(&run->views, turn->sql.session->client, turn->sql.transaction, op,
                         reads_past_snapshot(turn, op), result);
}

/* Rows of one text each, with pairs of numbers. */
static void take_texts(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result)
{
    struct rig_transaction *transaction = turn->sql.transaction;
    struct rig_read read = {.state = RIG_READ_SEEN, .first_element = transaction->element_count};
    for (int row = 0; row < PQntuples(result); row++) {
        const char *text = PQgetvalue(result, row, 0);
        const size_t length = (size_t)PQgetlength(result, row, 0);
        if (length > 0 && !rig_sql_turn_take_list(&turn->sql, phase, RIG_SQL_LIST_TEXT, text, length, text, &read))
            return;
    }
    if (read.count % 2 != 0)
        rig_pg_turn_fail(turn, phase, RIG_SQL_MALFORMED, "a list of pairs with an odd number of numbers");
    else
        transaction->reads[op] = read.count > 0 ? read : (struct rig_read){.state = RIG_READ_NIL};
}

/* The rows of a read by condition: pairs of numbers. */
static void take_rows(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result)
{
    struct rig_transaction *transaction = turn->sql.transaction;
    const bool views = rig_pg_run_of(turn)->views.logs != NULL; /* there is a row then where none meets the condition */
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQnfields(result) == 1 && !views) {
        take_texts(turn, op, phase, result);
        return;
    }
    if (PQresultStatus(result) != PGRES_TUPLES_OK || (views ? PQnfields(result) < 2 : PQnfields(result) != 2)) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_PROTOCOL, "a read of rows needs pairs of numbers as its answer");
        return;
    }
    const bool none = views && PQntuples(result) == 1 && PQgetisnull(result, 0, 0);
    const size_t count = none ? 0 : (size_t)PQntuples(result) * 2;
    if (count == 0) {
        transaction->reads[op].state = RIG_READ_NIL;
        return;
    }
    int64_t *room = count > UINT32_MAX ? NULL : turn->sql.session->run->env->core->elements(transaction, count);
    if (room == NULL) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_LIMIT, NULL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const int row = (int)(i / 2), column = (int)(i % 2);
        if (!rig_sql_int_parse(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), &room[i])) {
            rig_pg_turn_fail(turn, phase, RIG_SQL_MALFORMED, PQgetvalue(result, row, column));
            return;
        }
    }
    transaction->reads[op] = (struct rig_read){
        .state = RIG_READ_SEEN, .count = (uint32_t)count, .first_element = transaction->element_count};
    transaction->element_count += count;
}

void rig_pg_turn_take(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result)
{
    struct rig_transaction *transaction = turn->sql.transaction;
    enum rig_op_kind kind = transaction->ops[op].kind;
    rig_pg_turn_take_view(turn, op, result);
    if (rig_sql_compares(transaction, op) && !rig_pg_affected_a_row(result))
        rig_pg_turn_fail(turn, phase, RIG_SQL_MISMATCH, NULL);
    if (!rig_op_reads(kind))
        return;
    if (kind == RIG_OP_READ_WHERE) {
        take_rows(turn, op, phase, result);
        return;
    }
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) > 1) {
        rig_pg_turn_fail(turn, phase, RIG_SQL_PROTOCOL, "a read needs one row or none as its answer");
        return;
    }
    if (PQntuples(result) == 0 || PQgetisnull(result, 0, 0)) {
        /* NULL: an aggregate of no rows, a view of none, or a row that was made before the load */
        const struct rig_pg_run *run = rig_pg_run_of(turn);
        const bool has_row = PQntuples(result) == 1 && run->sql.env->prefilled_keys > 0 && run->views.logs == NULL;
        transaction->reads[op].state = has_row && rig_op_reads_sequence(kind) ? RIG_READ_SEEN : RIG_READ_NIL;
        return;
    }
    const char *text = PQgetvalue(result, 0, 0);
    size_t length = (size_t)PQgetlength(result, 0, 0);
    int64_t value = 0;
    struct rig_read list = {.state = RIG_READ_SEEN, .first_element = transaction->element_count};
    if (rig_op_reads_sequence(kind) &&
        rig_sql_turn_take_list(&turn->sql, phase, (enum rig_sql_list_form)rig_pg_run_of(turn)->options->table_schema,
                               text, length, text, &list))
        transaction->reads[op] = list;
    else if (rig_op_reads_sequence(kind))
        return;
    else if (rig_sql_int_parse(text, length, &value))
        transaction->reads[op] = (struct rig_read){.state = RIG_READ_SEEN, .value = value};
    else
        rig_pg_turn_fail(turn, phase, RIG_SQL_MALFORMED, text);
}

void rig_pg_turn_take_commit(struct rig_pg_turn *turn, const PGresult *result)
{
    const struct rig_pg_connection *connection = rig_pg_connection_of(turn);
    /* PQcmdStatus() takes a non-const result that it does not change. */
    const char *tag = PQcmdStatus((PGresult *)(uintptr_t)result);
    if (strcmp(tag, "ROLLBACK") == 0 && turn->aborted)
        rig_pg_turn_fail(turn, RIG_PHASE_COMMIT, RIG_PG_ROLLED_BACK, NULL);
    else if (strcmp(tag, "ROLLBACK") == 0)
        rig_sql_turn_lose_step(&turn->sql, "COMMIT was answered with ROLLBACK, and no statement had failed");
    else if (strcmp(tag, turn->sql.name[0] != '\0' ? "COMMIT PREPARED" : "COMMIT") != 0)
        rig_sql_turn_lose_step(&turn->sql, tag);
    else if (connection->commit_warned)
        rig_pg_turn_fail(turn, RIG_PHASE_COMMIT, RIG_PG_COMMIT_WARNING, connection->warning_text);
    turn->sql.committed = !turn->sql.failed;
    if (turn->sql.committed && turn->sql.name[0] != '\0')
        (void)atomic_fetch_add(&turn->sql.session->run->two_phase.committed, 1);
}

void rig_pg_turn_take_prepare(struct rig_pg_turn *turn, const PGresult *result)
{
    const char *tag = PQcmdStatus((PGresult *)(uintptr_t)result);
    if (strcmp(tag, "ROLLBACK") == 0)
        rig_pg_turn_fail(turn, RIG_PHASE_OPERATION, RIG_PG_ROLLED_BACK, NULL);
    else if (strcmp(tag, "PREPARE TRANSACTION") != 0)
        rig_pg_turn_fail(turn, RIG_PHASE_OPERATION, RIG_SQL_PROTOCOL, tag);
    else
        turn->sql.prepared = true;
    if (turn->sql.prepared)
        (void)atomic_fetch_add(&turn->sql.session->run->two_phase.prepared, 1);
}

void rig_pg_turn_print_ending(const struct rig_pg_turn *turn, const char *statement,
                              char sql[static RIG_PG_ENDING_BYTES])
{
    (void)snprintf(sql, RIG_PG_ENDING_BYTES, "%s '%s'", statement, turn->sql.name);
}

const struct rig_pg_statement *rig_pg_turn_statement(const struct rig_pg_turn *turn, uint32_t op,
                                                     struct rig_pg_statement *random, struct rig_sql_numbers *numbers)
{
    const struct rig_pg_schema *schema = &rig_pg_run_of(turn)->schema;
    const struct rig_transaction *transaction = turn->sql.transaction;
    char table[RIG_PG_TABLE_BYTES], other[RIG_PG_TABLE_BYTES];
    struct rig_buf sql;
    if (schema->workload != RIG_WORKLOAD_SQL)
        return rig_pg_schema_of_op(schema, transaction, op, numbers);
    *numbers = (struct rig_sql_numbers){.key = transaction->ops[op].key};
    if (rig_sql_random_parts(RIG_SQL_RANDOM_POSTGRES, transaction, op) == 0)
        return NULL;
    const uint64_t tables = (uint64_t)schema->options->sql.tables;
    rig_pg_schema_table(schema, (uint32_t)((uint64_t)numbers->key % tables), table);
    rig_pg_schema_table(schema, (uint32_t)((uint64_t)rig_sql_random_other_key(transaction, op) % tables), other);
    rig_buf_init(&sql, sizeof random->text);
    rig_sql_random_print(RIG_SQL_RANDOM_POSTGRES, &(struct rig_sql_random_tables){table, other}, transaction, op, 0,
                         &sql);
    random->name[0] = '\0';
    random->parameter_count = 0;
    (void)snprintf(random->text, sizeof random->text, "%s", sql.failed ? "" : rig_buf_text(&sql));
    rig_buf_done(&sql);
    return random;
}

const struct rig_pg_statement *rig_pg_turn_begin_statement(const struct rig_pg_turn *turn)
{
    enum rig_pg_fixed which = !turn->sql.transaction->read_only                ? RIG_PG_BEGIN
                              : rig_pg_connection_of(turn)->sql.refuses_writes ? RIG_PG_BEGIN_STANDBY
                              : turn->deferrable                               ? RIG_PG_BEGIN_DEFERRABLE
                                                                               : RIG_PG_BEGIN_READ_ONLY;
    return rig_pg_schema_begin(&rig_pg_run_of(turn)->schema, which, turn->sql.isolation);
}
