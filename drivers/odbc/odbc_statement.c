#include "drivers/odbc/odbc_statement.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

enum { CELL_FIRST_BYTES = 1024, LONG_TEXT = 8000, BIGINT_DIGITS = 19 };

static bool diagnose_statement(const struct rig_odbc_connection *connection, SQLHSTMT handle,
                               struct rig_odbc_fault *fault)
{
    rig_odbc_diagnose(connection, SQL_HANDLE_STMT, handle, fault);
    return false;
}

/* -- the table of statements --------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static void forget(struct rig_odbc_prepared *prepared)
{
    if (prepared->handle != SQL_NULL_HSTMT)
        (void)SQLFreeHandle(SQL_HANDLE_STMT, prepared->handle);
    free(prepared->text);
    *prepared = (struct rig_odbc_prepared){.handle = SQL_NULL_HSTMT};
}

void rig_odbc_forget_statements(struct rig_odbc_statements *statements)
{
    for (size_t i = 0; i < RIG_ODBC_PREPARED; i++)
        forget(&statements->kept[i]);
    if (statements->direct != SQL_NULL_HSTMT)
        (void)SQLFreeHandle(SQL_HANDLE_STMT, statements->direct);
    statements->direct = SQL_NULL_HSTMT;
    rig_buf_done(&statements->cell);
    rig_buf_init(&statements->cell, 0);
}

/* The place of the text: where it is kept, or the one that makes room for it. */
static struct rig_odbc_prepared *place_of(struct rig_odbc_statements *statements, uint64_t hash, const char *sql)
{
    struct rig_odbc_prepared *oldest = &statements->kept[0];
    for (size_t i = 0; i < RIG_ODBC_PREPARED; i++) {
        struct rig_odbc_prepared *const here = &statements->kept[i];
        if (here->text != NULL && here->hash == hash && strcmp(here->text, sql) == 0)
            return here;
        if (here->last_use < oldest->last_use)
            oldest = here;
    }
    forget(oldest);
    return oldest;
}

/* NULL with the fault. */
static struct rig_odbc_prepared *prepare(struct rig_odbc_statements *statements,
                                         const struct rig_odbc_connection *connection, const char *sql,
                                         struct rig_odbc_fault *fault)
{
    const uint64_t hash = hash_of(sql);
    struct rig_odbc_prepared *const place = place_of(statements, hash, sql);
    place->last_use = ++statements->use_count;
    if (place->text != NULL)
        return place;
    bool good = SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection->handle, &place->handle));
    if (!good)
        rig_odbc_diagnose(connection, SQL_HANDLE_DBC, connection->handle, fault);
    else if (!SQL_SUCCEEDED(SQLPrepare(place->handle, (SQLCHAR *)sql, SQL_NTS)))
        good = diagnose_statement(connection, place->handle, fault);
    else if ((place->text = strdup(sql)) == NULL)
        good = rig_odbc_refuse(fault, RIG_NO_MEMORY "a statement");
    if (!good) {
        forget(place);
        return NULL;
    }
    place->hash = hash;
    return place;
}

static SQLHSTMT direct(struct rig_odbc_statements *statements, const struct rig_odbc_connection *connection,
                       struct rig_odbc_fault *fault)
{
    if (statements->direct == SQL_NULL_HSTMT &&
        !SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection->handle, &statements->direct))) {
        rig_odbc_diagnose(connection, SQL_HANDLE_DBC, connection->handle, fault);
        return SQL_NULL_HSTMT;
    }
    return statements->direct;
}

/* -- execution ----------------------------------------------------------------------------------------------------- */

/* Columns of size 0 are refused, so that an empty text has the size 1. */
static bool bind_arguments(struct rig_odbc_prepared *prepared, struct rig_odbc_argument *arguments, size_t count)
{
    const SQLHSTMT handle = prepared->handle;
    const bool was_bound = prepared->bound == arguments && prepared->bound_count == count;
    bool good = true, integers = true;
    for (size_t i = 0; i < count && good; i++) {
        struct rig_odbc_argument *const argument = &arguments[i];
        const SQLUSMALLINT number = (SQLUSMALLINT)(i + 1);
        argument->indicator = argument->text == NULL ? SQL_NULL_DATA
                              : argument->is_integer ? 0
                                                     : (SQLLEN)argument->length;
        if (argument->is_integer)
            good = was_bound || SQL_SUCCEEDED(SQLBindParameter(handle, number, SQL_PARAM_INPUT, SQL_C_SBIGINT,
                                                               SQL_BIGINT, BIGINT_DIGITS, 0, &argument->number,
                                                               sizeof argument->number, &argument->indicator));
        else
            good = SQL_SUCCEEDED(SQLBindParameter(handle, number, SQL_PARAM_INPUT, SQL_C_CHAR,
                                                  argument->length > LONG_TEXT ? SQL_LONGVARCHAR : SQL_VARCHAR,
                                                  argument->length == 0 ? 1 : argument->length, 0,
                                                  (SQLPOINTER)(argument->text == NULL ? "" : argument->text),
                                                  (SQLLEN)argument->length, &argument->indicator));
        integers = integers && argument->is_integer;
    }
    prepared->bound = good && integers ? arguments : NULL;
    prepared->bound_count = count;
    return good;
}

/* Reads a cell in pieces. `*length` is its size before conversion, SQL_NULL_DATA for a null. */
static bool read_cell(SQLHSTMT handle, SQLUSMALLINT column, struct rig_buf *cell, SQLLEN *length)
{
    rig_buf_clear(cell);
    for (;;) {
        const size_t size = cell->size < CELL_FIRST_BYTES ? CELL_FIRST_BYTES : cell->size * 2;
        char *const piece = rig_buf_reserve(cell, size);
        if (piece == NULL)
            return false;
        piece[0] = '\0';
        const SQLRETURN got = SQLGetData(handle, column, SQL_C_CHAR, piece, (SQLLEN)size, length);
        if (got == SQL_NO_DATA) { /* the piece before was the last one */
            *length = (SQLLEN)cell->size;
            return true;
        }
        if (!SQL_SUCCEEDED(got))
            return false;
        if (*length == SQL_NULL_DATA)
            return true;
        const bool last = *length >= 0 && (size_t)*length < size;
        const size_t bytes = last ? (size_t)*length : strnlen(piece, size - 1);
        cell->size += bytes;
        if (last)
            return true;
        if (bytes == 0)
            return false;
    }
}

static bool read_rows(struct rig_odbc_statements *statements, const struct rig_odbc_connection *connection,
                      SQLHSTMT handle, SQLSMALLINT columns, struct rig_buf *rows, struct rig_odbc_fault *fault)
{
    SQLRETURN got;
    rig_buf_add_char(rows, '[');
    for (const char *separator = "["; SQL_SUCCEEDED(got = SQLFetch(handle)); separator = ", [") {
        rig_buf_add_text(rows, separator);
        for (SQLSMALLINT column = 1; column <= columns; column++) {
            SQLLEN length = 0;
            if (!read_cell(handle, (SQLUSMALLINT)column, &statements->cell, &length))
                return diagnose_statement(connection, handle, fault);
            if (column > 1)
                rig_buf_add_text(rows, ", ");
            if (length == SQL_NULL_DATA)
                rig_buf_add_text(rows, "null");
            else
                rig_json_quote(rows, statements->cell.data, statements->cell.size);
        }
        rig_buf_add_char(rows, ']');
    }
    rig_buf_add_char(rows, ']');
    if (got != SQL_NO_DATA)
        return diagnose_statement(connection, handle, fault);
    return !rows->failed || rig_odbc_refuse(fault, "the answer has more than 1 GiB, or memory ran out");
}

static bool read_results(struct rig_odbc_statements *statements, const struct rig_odbc_connection *connection,
                         SQLHSTMT handle, SQLRETURN executed, struct rig_odbc_answer *answer,
                         struct rig_odbc_fault *fault)
{
    bool has_count = false;
    SQLRETURN done = executed;
    for (; SQL_SUCCEEDED(done); done = SQLMoreResults(handle)) {
        SQLSMALLINT columns = 0;
        SQLLEN count = -1;
        if (!SQL_SUCCEEDED(SQLNumResultCols(handle, &columns)))
            return diagnose_statement(connection, handle, fault);
        if (columns > 0 && !answer->has_rows) {
            answer->has_rows = true;
            if (!read_rows(statements, connection, handle, columns, &answer->rows, fault))
                return false;
        } else if (columns == 0 && !has_count && SQL_SUCCEEDED(SQLRowCount(handle, &count))) {
            has_count = true;
            answer->count = count;
        }
    }
    return done == SQL_NO_DATA || diagnose_statement(connection, handle, fault);
}

bool rig_odbc_run(struct rig_odbc_statements *statements, const struct rig_odbc_connection *connection, const char *sql,
                  struct rig_odbc_argument *arguments, size_t count, struct rig_odbc_answer *answer,
                  struct rig_odbc_fault *fault)
{
    rig_buf_clear(&answer->rows);
    answer->has_rows = false;
    answer->count = -1;
    struct rig_odbc_prepared *const prepared = arguments == NULL ? NULL : prepare(statements, connection, sql, fault);
    const SQLHSTMT handle = prepared != NULL    ? prepared->handle
                            : arguments == NULL ? direct(statements, connection, fault)
                                                : SQL_NULL_HSTMT;
    if (handle == SQL_NULL_HSTMT)
        return false;
    if (prepared != NULL && !bind_arguments(prepared, arguments, count))
        return diagnose_statement(connection, handle, fault);
    const SQLRETURN executed = arguments == NULL ? SQLExecDirect(handle, (SQLCHAR *)sql, SQL_NTS) : SQLExecute(handle);
    bool good;
    if (executed == SQL_NO_DATA) { /* an UPDATE or DELETE that found no row */
        answer->count = 0;
        good = true;
    } else {
        good = SQL_SUCCEEDED(executed) ? read_results(statements, connection, handle, executed, answer, fault)
                                       : diagnose_statement(connection, handle, fault);
    }
    (void)SQLFreeStmt(handle, SQL_CLOSE);
    return good;
}
