#include "history/import/plume_text.h"

#include "base/buf.h"
#include "history/import/session_text.h"
#include "history/import/session_writer.h"

enum { FLUSH_BYTES = 1 << 20 };

RIG_VEC(int64_t, txn_ids)

struct decoder {
    struct rig_text_cursor cursor;
    struct rig_sessions *sessions;
    struct rig_table known; /* a hash of process and transaction -> the transaction's number */
    struct txn_ids ids;     /* as in the file, by number */
    uint32_t last;          /* the transaction of the last line, if there is any */
};

struct line {
    uint64_t key, value;
    int32_t session;
    int64_t txn; /* -1: aborted */
    bool is_read;
};

static bool recognise(const char *data, size_t size)
{
    size_t at = rig_session_skip_blank(data, size);
    return size - at > 2 && (data[at] == 'r' || data[at] == 'w') && data[at + 1] == '(' && data[at + 2] >= '0' &&
           data[at + 2] <= '9';
}

static enum rig_rc read_txn(struct rig_text_cursor *cursor, int64_t *txn)
{
    const size_t at = rig_cursor_offset(cursor);
    enum rig_rc rc = rig_cursor_int(cursor, txn);
    return rc == RIG_OK && *txn < -1
               ? rig_cursor_fail(cursor, at, "expected the number of a transaction, or -1 if it was aborted")
               : rc;
}

static enum rig_rc read_session(struct rig_text_cursor *cursor, int32_t *session)
{
    uint64_t number;
    const size_t at = rig_cursor_offset(cursor);
    enum rig_rc rc = rig_session_number(cursor, "the number of a session", &number);
    if (rc == RIG_OK && number > INT32_MAX)
        return rig_cursor_fail(cursor, at, "session %llu is not within 0 to %d; renumber the sessions",
                               (unsigned long long)number, INT32_MAX);
    *session = rc == RIG_OK ? (int32_t)number : 0;
    return rc;
}

static enum rig_rc read_line(struct rig_text_cursor *cursor, struct line *line)
{
    if (*cursor->at != 'r' && *cursor->at != 'w')
        return rig_cursor_unexpected(cursor, "r(key,value,session,transaction) or w(...)");
    line->is_read = *cursor->at++ == 'r';
    enum rig_rc rc = rig_session_expect(cursor, '(', "'('");
    if (rc == RIG_OK)
        rc = rig_session_number(cursor, "a key, which is a number from 0 on", &line->key);
    if (rc == RIG_OK)
        rc = rig_session_expect(cursor, ',', "a comma and the value");
    if (rc == RIG_OK)
        rc = rig_session_number(cursor, "a value, which is a number from 0 on", &line->value);
    if (rc == RIG_OK)
        rc = rig_session_expect(cursor, ',', "a comma and the session");
    if (rc == RIG_OK)
        rc = read_session(cursor, &line->session);
    if (rc == RIG_OK)
        rc = rig_session_expect(cursor, ',', "a comma and the transaction");
    if (rc == RIG_OK)
        rc = read_txn(cursor, &line->txn);
    if (rc == RIG_OK)
        rc = rig_session_expect(cursor, ')', "')'");
    return rc == RIG_OK ? rig_session_end_line(cursor) : rc;
}

static bool is_txn(const struct decoder *d, uint32_t number, const struct line *line)
{
    return d->ids.at[number] == line->txn && d->sessions->txns.at[number].process == line->session;
}

static uint32_t add_txn(struct decoder *d, const struct line *line, enum rig_outcome outcome)
{
    const uint32_t txn = rig_sessions_begin(d->sessions, line->session, outcome);
    const size_t capacity = d->ids.capacity;
    if (!d->sessions->no_memory && !txn_ids_add(&d->ids, line->txn))
        d->sessions->no_memory = true;
    d->sessions->beside_bytes += (d->ids.capacity - capacity) * sizeof line->txn;
    return txn;
}

/* The transaction of a line, which mostly is that of the line before. */
static uint32_t find_txn(struct decoder *d, const struct line *line)
{
    if (d->ids.count > 0 && is_txn(d, d->last, line))
        return d->last;
    uint64_t hash = (uint64_t)line->txn * 0x9e3779b97f4a7c15u ^ (uint64_t)line->session << 32;
    uint32_t *known = rig_sessions_put(d->sessions, &d->known, hash);
    while (known != NULL && *known != RIG_TABLE_NONE && !is_txn(d, *known, line))
        known = rig_sessions_put(d->sessions, &d->known, ++hash);
    if (known == NULL)
        return 0;
    if (*known == RIG_TABLE_NONE)
        *known = add_txn(d, line, RIG_OUTCOME_OK);
    return d->last = *known;
}

static void take_line(struct decoder *d, const struct line *line)
{
    if (line->txn == -1 && line->is_read)
        return;
    const uint32_t txn = line->txn == -1 ? add_txn(d, line, RIG_OUTCOME_FAIL) : find_txn(d, line);
    const uint32_t key = rig_sessions_number_key(d->sessions, (int64_t)line->key);
    if (d->sessions->no_memory)
        return;
    if (line->is_read)
        rig_sessions_read(d->sessions, txn, key, RIG_READ_SEEN, (int64_t)line->value);
    else
        rig_sessions_write(d->sessions, txn, key, (int64_t)line->value);
}

static enum rig_rc decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err)
{
    struct decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
                        .sessions = sessions};
    rig_table_init(&d.known);
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !sessions->no_memory && rig_session_next_line(&d.cursor)) {
        struct line line;
        rc = read_line(&d.cursor, &line);
        if (rc == RIG_OK)
            take_line(&d, &line);
    }
    rig_sessions_drop(sessions, &d.known);
    sessions->beside_bytes -= d.ids.capacity * sizeof *d.ids.at;
    txn_ids_done(&d.ids);
    return rc;
}

const struct rig_session_form rig_plume_form = {
    .what = "a text of Plume or PolySI",
    .zero_is_initial = true,
    .recognise = recognise,
    .decode = decode,
};

static enum rig_rc flush(struct rig_buf *buf, struct rig_output *output, struct rig_err *err)
{
    if (buf->failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", output->path);
    enum rig_rc rc = rig_output_write(output, buf->data, buf->size, err);
    rig_buf_clear(buf);
    return rc;
}

static void put_line(struct rig_buf *buf, const struct rig_session_export *export, uint32_t txn,
                     const struct rig_txn_op *op, long long id)
{
    const bool reads = rig_op_reads(op->kind);
    rig_buf_add_text(buf, reads ? "r(" : "w(");
    rig_buf_add_int(buf, rig_session_export_key(export, op->key));
    rig_buf_add_char(buf, ',');
    rig_buf_printf(buf, "%llu", (unsigned long long)rig_session_export_value(op));
    rig_buf_add_char(buf, ',');
    rig_buf_add_int(buf, export->history->txns[txn].process);
    rig_buf_add_char(buf, ',');
    rig_buf_add_int(buf, id);
    rig_buf_add_text(buf, ")\n");
}

/* Aborted writes are named where they were read: only there they matter, and PolySI knows none. */
static void put_txn(struct rig_buf *buf, const struct rig_session_export *export, uint32_t txn, long long *next_id)
{
    const struct rig_history *history = export->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const enum rig_session_fate fate = rig_session_export_fate(export, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    for (uint32_t i = 0; i < count; i++) {
        if (fate == RIG_SESSION_COMMITTED && rig_session_export_has(&ops[i]))
            put_line(buf, export, txn, &ops[i], *next_id);
        else if (fate == RIG_SESSION_ABORTED && rig_session_export_observed(export, &ops[i]))
            put_line(buf, export, txn, &ops[i], -1);
    }
    *next_id += fate == RIG_SESSION_COMMITTED;
}

enum rig_rc rig_plume_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err)
{
    struct rig_session_export export;
    struct rig_buf buf;
    long long next_id = 0;
    enum rig_rc rc = rig_session_export_init(&export, history, true, output->path, err);
    rig_buf_init(&buf, 0);
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++) {
        put_txn(&buf, &export, txn, &next_id);
        if (buf.size >= FLUSH_BYTES || buf.failed)
            rc = flush(&buf, output, err);
    }
    if (rc == RIG_OK)
        rc = flush(&buf, output, err);
    rig_buf_done(&buf);
    rig_session_export_done(&export);
    return rc;
}
