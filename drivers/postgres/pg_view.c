#include "drivers/postgres/pg_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/types/row_ops.h"

/*
 * A view in words: its number, its flags, its id, the number of its rows, and the rows: operation and flags, version,
 * and with ROW_NEW_SNAPSHOT xmin, xmax, the number of transactions in progress, and these.
 */
enum { VIEW_NUMBER, VIEW_FLAGS, VIEW_ID, VIEW_ROWS, VIEW_WORDS };
enum { VIEW_SINGLE = 1, VIEW_STANDBY = 2 };
enum { ROW_NO_SNAPSHOT, ROW_LAST_SNAPSHOT, ROW_NEW_SNAPSHOT, ROW_SHIFT = 2 };

uint64_t rig_pg_extend(uint64_t number, uint64_t near)
{
    return near + (uint64_t)(int64_t)(int32_t)((uint32_t)number - (uint32_t)near);
}

enum rig_rc rig_pg_views_init(struct rig_pg_views *views, uint32_t clients, struct rig_err *err)
{
    views->logs = calloc(clients, sizeof *views->logs);
    if (views->logs == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the views of %u clients", clients);
    views->count = clients;
    return RIG_OK;
}

void rig_pg_views_done(struct rig_pg_views *views)
{
    for (uint32_t i = 0; i < views->count; i++)
        rig_pg_words_done(&views->logs[i].words);
    free(views->logs);
    views->logs = NULL;
    views->count = 0;
}

/* ---- taking ---- */

static void put(struct rig_pg_view_log *log, uint64_t word)
{
    log->bad = !rig_pg_words_add(&log->words, word) || log->bad;
}

/* Without digits the log is bad. */
static uint64_t get_number(struct rig_pg_view_log *log, const char **text)
{
    uint64_t number = 0;
    log->bad |= **text < '0' || **text > '9';
    while (**text >= '0' && **text <= '9')
        number = number * 10 + (uint64_t)(*(*text)++ - '0');
    return number;
}

/* "xmin:xmax:active,active". */
static void put_snapshot(struct rig_pg_view_log *log, const char *text)
{
    const uint64_t xmin = get_number(log, &text);
    log->bad |= *text != ':';
    text += *text == ':';
    log->xmax = get_number(log, &text);
    log->bad |= *text != ':';
    text += *text == ':';
    put(log, xmin);
    put(log, log->xmax);
    const size_t count_at = log->words.count;
    put(log, 0);
    for (uint64_t count = 1; *text != '\0' && !log->bad; count++) {
        put(log, get_number(log, &text));
        log->bad |= (*text != ',' && *text != '\0') || (*text == ',' && text[1] == '\0');
        text += *text == ',';
        if (!log->bad)
            log->words.at[count_at] = count;
    }
}

static uint64_t get_field(struct rig_pg_view_log *log, const PGresult *result, int row, int column)
{
    const char *text = PQgetvalue(result, row, column);
    const uint64_t number = get_number(log, &text);
    log->bad |= *text != '\0';
    return number;
}

/* Puts a row; `snapshot`: its text, or NULL. The numbers of the row follow those of its snapshot. `version`: the column
 * of the row's writer; -1: it has none. */
static void put_row(struct rig_pg_view_log *log, uint32_t op, const char *snapshot, const PGresult *result, int row,
                    int version)
{
    const bool same = snapshot != NULL && snapshot[0] != '\0' && strcmp(snapshot, log->snapshot) == 0;
    const unsigned where = snapshot == NULL ? ROW_NO_SNAPSHOT : same ? ROW_LAST_SNAPSHOT : ROW_NEW_SNAPSHOT;
    put(log, (uint64_t)op << ROW_SHIFT | where);
    const size_t at = log->words.count;
    put(log, 0);
    if (where == ROW_NEW_SNAPSHOT) {
        put_snapshot(log, snapshot);
        const size_t length = strlen(snapshot);
        log->bad |= length >= sizeof log->snapshot;
        if (!log->bad)
            memcpy(log->snapshot, snapshot, length + 1);
    }
    const uint64_t near = log->xmax != 0 ? log->xmax : log->id;
    if (!log->bad && version >= 0 && !PQgetisnull(result, row, version))
        log->words.at[at] = rig_pg_extend(get_field(log, result, row, version), near);
    log->rows++;
}

void rig_pg_view_begin(struct rig_pg_views *views, uint32_t client)
{
    if (views->logs == NULL)
        return;
    RIG_REQUIRE(client < views->count);
    struct rig_pg_view_log *log = &views->logs[client];
    log->begin = log->words.count;
    log->snapshot[0] = '\0';
    log->id = log->xmax = 0;
    log->rows = 0;
    for (int i = 0; i < VIEW_WORDS; i++)
        put(log, 0);
}

/* The operation as the history numbers it; UINT32_MAX: the transaction rolled it back. */
static uint32_t number_op(const struct rig_transaction *transaction, uint32_t op)
{
    return rig_rollback_undoes(&transaction->rollback, transaction->ops, op)
               ? UINT32_MAX
               : rig_rollback_number(&transaction->rollback, transaction->ops, op);
}

/* The snapshot of a statement that read the newest version extends the numbers of its rows all the same. */
static void note_xmax(struct rig_pg_view_log *log, const char *snapshot)
{
    const char *xmax = strchr(snapshot, ':');
    if (xmax == NULL)
        return;
    xmax++;
    log->xmax = get_number(log, &xmax);
}

/* A statement on rows: see RIG_PG_ROW_VIEW_TABLE. */
static void take_rows(struct rig_pg_view_log *log, const struct rig_transaction *transaction, uint32_t op,
                      uint32_t number, bool locked, const PGresult *result)
{
    enum { XMIN = 2, SNAPSHOT, OWN, READ_COLUMNS = OWN, WRITE_COLUMNS };
    const int columns = PQnfields(result), rows = PQntuples(result);
    log->bad |= rows == 0 || (columns != READ_COLUMNS && columns != WRITE_COLUMNS);
    if (log->bad)
        return;
    const char *snapshot = PQgetvalue(result, 0, SNAPSHOT);
    const bool updates = columns == WRITE_COLUMNS && op + 1 < transaction->op_count &&
                         rig_row_action(transaction->ops[op + 1].value) == RIG_ROWS_UPDATE;
    if (columns == WRITE_COLUMNS && !PQgetisnull(result, 0, OWN))
        log->id = get_field(log, result, 0, OWN);
    if (locked)
        note_xmax(log, snapshot);
    for (int row = 0; row < (updates ? 1 : rows); row++)
        put_row(log, number, locked ? NULL : snapshot, result, row, updates ? -1 : XMIN);
    if (updates && !PQgetisnull(result, 0, XMIN))
        put_row(log, number + 1, locked ? NULL : snapshot, result, 0, XMIN);
}

void rig_pg_view_take(struct rig_pg_views *views, uint32_t client, const struct rig_transaction *transaction,
                      uint32_t op, bool locked, const PGresult *result)
{
    const bool by_condition = transaction->ops[op].kind == RIG_OP_READ_WHERE;
    if (views->logs == NULL || PQresultStatus(result) != PGRES_TUPLES_OK || (!by_condition && PQntuples(result) != 1))
        return;
    struct rig_pg_view_log *log = &views->logs[client];
    const uint32_t number = number_op(transaction, op);
    const int columns = PQnfields(result);
    if (number == UINT32_MAX || log->bad)
        return;
    if (by_condition) {
        take_rows(log, transaction, op, number, locked, result);
        return;
    }
    if (rig_op_reads(transaction->ops[op].kind)) {
        log->bad |= columns != 3;
        if (log->bad)
            return;
        const char *snapshot = PQgetvalue(result, 0, 2);
        if (locked)
            note_xmax(log, snapshot);
        put_row(log, number, locked ? NULL : snapshot, result, 0, 1);
        return;
    }
    log->bad |= columns < 2 || columns > 3;
    if (log->bad)
        return;
    log->id = get_field(log, result, 0, 1);
    put_row(log, number, columns == 3 ? PQgetvalue(result, 0, 2) : NULL, result, 0, 0);
}

void rig_pg_view_end(struct rig_pg_views *views, uint32_t client, struct rig_transaction *transaction, bool single,
                     bool standby)
{
    if (views->logs == NULL)
        return;
    struct rig_pg_view_log *log = &views->logs[client];
    if (log->bad || log->rows == 0 || transaction->answers_void) {
        log->words.count = log->begin;
        return;
    }
    uint64_t *view = log->words.at + log->begin;
    view[VIEW_NUMBER] = atomic_fetch_add_explicit(&views->taken, 1, memory_order_relaxed) + 1;
    view[VIEW_FLAGS] = (single ? VIEW_SINGLE : 0U) | (standby ? VIEW_STANDBY : 0U);
    view[VIEW_ID] = log->id;
    view[VIEW_ROWS] = log->rows;
    rig_column_give(&transaction->columns, RIG_COLUMN_VIEW, (int64_t)view[VIEW_NUMBER]);
}

/* ---- giving ---- */

/* Hands over the view at `words`; returns its end, or NULL when the sink gave up. */
static const uint64_t *give(const uint64_t *words, const struct rig_certificate_sink *sink)
{
    const uint64_t rows = words[VIEW_ROWS];
    const uint64_t flags = words[VIEW_FLAGS];
    bool taken = sink->view(sink->context, words[VIEW_NUMBER], words[VIEW_ID], (flags & VIEW_SINGLE) != 0,
                            (flags & VIEW_STANDBY) != 0);
    words += VIEW_WORDS;
    for (uint64_t i = 0; i < rows && taken; i++) {
        const uint32_t op = (uint32_t)(words[0] >> ROW_SHIFT);
        const unsigned where = words[0] & ((1U << ROW_SHIFT) - 1);
        const uint64_t version = words[1];
        words += 2;
        if (where == ROW_NEW_SNAPSHOT) {
            taken = sink->snapshot(sink->context, words[0], words[1], words + 3, (uint32_t)words[2]);
            words += 3 + words[2];
        }
        taken = taken && sink->row(sink->context, op, version, where != ROW_NO_SNAPSHOT);
    }
    return taken ? words : NULL;
}

enum rig_rc rig_pg_views_give(struct rig_pg_views *views, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    for (uint32_t i = 0; i < views->count; i++) {
        if (views->logs[i].bad)
            return rig_fail(err, RIG_E_DRIVER,
                            "PostgreSQL: client %u: memory ran out for its views, or a statement did not return a "
                            "snapshot and numbers of transactions: certificate: stream needs none",
                            i);
        views->logs[i].begin = 0;
    }
    for (;;) {
        struct rig_pg_view_log *next = NULL;
        for (uint32_t i = 0; i < views->count; i++) {
            struct rig_pg_view_log *log = &views->logs[i];
            if (log->begin < log->words.count &&
                (next == NULL || log->words.at[log->begin] < next->words.at[next->begin]))
                next = log;
        }
        if (next == NULL)
            return RIG_OK;
        const uint64_t *end = give(next->words.at + next->begin, sink);
        if (end == NULL)
            return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the views of the certificate, or one is out of order");
        next->begin = (size_t)(end - next->words.at);
    }
}
