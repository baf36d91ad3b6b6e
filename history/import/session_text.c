#include "history/import/session_text.h"

#include <string.h>

#include "base/buf.h"
#include "history/import/register_sessions.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

size_t rig_session_skip_blank(const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && (is_blank(data[at]) || data[at] == '\n'))
        at++;
    return at;
}

bool rig_session_next_line(struct rig_text_cursor *cursor)
{
    cursor->at += rig_session_skip_blank(cursor->at, (size_t)(cursor->end - cursor->at));
    return cursor->at < cursor->end;
}

/* Moves over blanks within the line. */
static void session_blanks(struct rig_text_cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

/* Moves over the end of the line, which may be that of the file. */
static enum rig_rc session_end_line(struct rig_text_cursor *cursor)
{
    session_blanks(cursor);
    if (cursor->at == cursor->end)
        return RIG_OK;
    if (*cursor->at != '\n')
        return rig_cursor_unexpected(cursor, "the end of the line");
    cursor->at++;
    return RIG_OK;
}

enum rig_rc rig_session_expect(struct rig_text_cursor *cursor, char wanted, const char *what)
{
    if (cursor->at == cursor->end || *cursor->at != wanted)
        return rig_cursor_unexpected(cursor, what);
    cursor->at++;
    return RIG_OK;
}

enum rig_rc rig_session_number(struct rig_text_cursor *cursor, const char *what, uint64_t *number)
{
    const char *from = cursor->at;
    uint64_t sum = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        const uint64_t digit = (uint64_t)(*cursor->at - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return rig_cursor_fail(cursor, (size_t)(from - cursor->start), "a number beyond 64 bits");
        sum = sum * 10 + digit;
    }
    if (cursor->at == from)
        return rig_cursor_unexpected(cursor, what);
    *number = sum;
    return RIG_OK;
}

struct line {
    uint64_t key, value;
    int32_t session;
    int64_t txn; /* -1: aborted */
    bool is_read;
};

/* If the line consists of at least one `mark` and of blanks, moves over it. */
static bool session_rule(struct rig_text_cursor *cursor, char mark)
{
    struct rig_text_cursor line = *cursor;
    line.err = NULL;
    session_blanks(&line);
    const char *from = line.at;
    while (line.at < line.end && *line.at == mark)
        line.at++;
    if (line.at == from || session_end_line(&line) != RIG_OK)
        return false;
    cursor->at = line.at;
    return true;
}

struct awdit_decoder {
    struct rig_text_cursor cursor;
    struct rig_sessions *sessions;
    int32_t session;
    uint32_t txn;
    bool in_txn;
};

static bool awdit_recognise(const char *data, size_t size)
{
    struct rig_text_cursor cursor = {.start = data, .at = data, .end = data + size};
    while (rig_session_next_line(&cursor) && (session_rule(&cursor, '=') || session_rule(&cursor, '-')))
        ;
    const char *at = cursor.at;
    return cursor.end - at > 2 && (*at == 'r' || *at == 'w') && (at[1] == ' ' || at[1] == '\t') &&
           ((at[2] >= '0' && at[2] <= '9') || at[2] == ' ' || at[2] == '\t');
}

static enum rig_rc read_number(struct rig_text_cursor *cursor, const char *what, uint64_t *number)
{
    if (cursor->at == cursor->end || (*cursor->at != ' ' && *cursor->at != '\t'))
        return rig_cursor_unexpected(cursor, what);
    session_blanks(cursor);
    return rig_session_number(cursor, what, number);
}

static enum rig_rc read_operation(struct awdit_decoder *d)
{
    struct rig_text_cursor *cursor = &d->cursor;
    uint64_t key = 0, value = 0;
    if (*cursor->at != 'r' && *cursor->at != 'w')
        return rig_cursor_unexpected(cursor, "`r KEY VALUE`, `w KEY VALUE`, or a line of '-' or '='");
    const bool is_read = *cursor->at++ == 'r';
    enum rig_rc rc = read_number(cursor, "a blank and the key, a number from 0 on", &key);
    if (rc == RIG_OK)
        rc = read_number(cursor, "a blank and the value, a number from 0 on", &value);
    if (rc == RIG_OK)
        rc = session_end_line(cursor);
    if (rc != RIG_OK)
        return rc;
    if (!d->in_txn)
        d->txn = rig_sessions_begin(d->sessions, d->session, RIG_OUTCOME_OK);
    d->in_txn = true;
    const uint32_t id = rig_sessions_number_key(d->sessions, (int64_t)key);
    if (d->sessions->no_memory)
        return RIG_OK;
    if (is_read)
        rig_sessions_read(d->sessions, d->txn, id, RIG_READ_SEEN, (int64_t)value);
    else
        rig_sessions_write(d->sessions, d->txn, id, (int64_t)value);
    return RIG_OK;
}

static enum rig_rc awdit_decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                                struct rig_err *err)
{
    struct awdit_decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
                              .sessions = sessions};
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !sessions->no_memory && rig_session_next_line(&d.cursor)) {
        const bool ends_session = session_rule(&d.cursor, '=');
        if (ends_session && d.session == INT32_MAX)
            return rig_cursor_fail(&d.cursor, rig_cursor_offset(&d.cursor), "more than %d sessions", INT32_MAX);
        d.session += ends_session;
        if (ends_session || session_rule(&d.cursor, '-'))
            d.in_txn = false;
        else
            rc = read_operation(&d);
    }
    return rc;
}

const struct rig_session_form rig_awdit_form = {
    .what = "a test of AWDIT",
    .zero_is_initial = true,
    .recognise = awdit_recognise,
    .decode = awdit_decode,
};

struct dbcop_decoder {
    struct rig_text_cursor cursor;
    struct rig_sessions *sessions;
    int32_t session;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Moves over a comment and the end of its line. */
static bool skip_comment(struct rig_text_cursor *cursor)
{
    if (cursor->end - cursor->at < 2 || cursor->at[0] != '/' || cursor->at[1] != '/')
        return false;
    const char *line_end = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
    cursor->at = line_end == NULL ? cursor->end : line_end + 1;
    return true;
}

static bool dbcop_recognise(const char *data, size_t size)
{
    struct rig_text_cursor cursor = {.start = data, .at = data, .end = data + size};
    while (rig_session_next_line(&cursor) && (skip_comment(&cursor) || session_rule(&cursor, '-')))
        ;
    const char *at = cursor.at;
    if (cursor.end - at < 2 || *at++ != '[')
        return false;
    while (at < cursor.end && is_name(*at))
        at++;
    return at > cursor.at + 1 && cursor.end - at > 1 && (at[0] == ':' || at[0] == '=') && at[1] == '=';
}

static enum rig_rc read_variable(struct dbcop_decoder *d, uint32_t *key)
{
    const char *from = d->cursor.at;
    while (d->cursor.at < d->cursor.end && is_name(*d->cursor.at))
        d->cursor.at++;
    if (d->cursor.at == from)
        return rig_cursor_unexpected(&d->cursor, "a variable of letters, digits and '_'");
    if (d->cursor.at - from > RIG_CURSOR_TEXT_BYTES)
        return rig_cursor_fail(&d->cursor, (size_t)(from - d->cursor.start), "a variable longer than %d bytes",
                               RIG_CURSOR_TEXT_BYTES);
    *key = rig_sessions_text_key(d->sessions, from, (uint32_t)(d->cursor.at - from));
    return RIG_OK;
}

static bool take(struct rig_text_cursor *cursor, const char *mark)
{
    const size_t length = strlen(mark);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, mark, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static enum rig_rc read_event(struct dbcop_decoder *d, uint32_t txn)
{
    struct rig_text_cursor *cursor = &d->cursor;
    uint32_t key = 0;
    uint64_t version = 0;
    enum rig_rc rc = read_variable(d, &key);
    if (rc != RIG_OK || d->sessions->no_memory)
        return rc;
    if (take(cursor, "==?")) {
        rig_sessions_read(d->sessions, txn, key, RIG_READ_NIL, 0);
        return RIG_OK;
    }
    const bool is_read = take(cursor, "==");
    if (!is_read && !take(cursor, ":="))
        return rig_cursor_unexpected(cursor, "`:=` or `==`");
    rc = rig_session_number(cursor, is_read ? "a version, or `?`" : "a version", &version);
    if (rc == RIG_OK && is_read)
        rig_sessions_read(d->sessions, txn, key, RIG_READ_SEEN, (int64_t)version);
    else if (rc == RIG_OK)
        rig_sessions_write(d->sessions, txn, key, (int64_t)version);
    return rc;
}

static enum rig_rc dbcop_read_txn(struct dbcop_decoder *d)
{
    struct rig_text_cursor *cursor = &d->cursor;
    enum rig_rc rc = rig_session_expect(cursor, '[', "a transaction `[...]`, a comment, or a line of '-'");
    const uint32_t txn = rig_sessions_begin(d->sessions, d->session, RIG_OUTCOME_OK);
    bool is_first = true;
    while (rc == RIG_OK && !d->sessions->no_memory) {
        const char *from = cursor->at;
        session_blanks(cursor);
        if (cursor->at < cursor->end && *cursor->at == ']')
            break;
        if (!is_first && cursor->at == from)
            return rig_cursor_unexpected(cursor, "a blank or ']'");
        is_first = false;
        rc = read_event(d, txn);
    }
    if (rc != RIG_OK || d->sessions->no_memory)
        return rc;
    cursor->at++;
    if (take(cursor, "!"))
        rig_sessions_abort(d->sessions, txn);
    return RIG_OK;
}

static enum rig_rc dbcop_decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                                struct rig_err *err)
{
    struct dbcop_decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
                              .sessions = sessions};
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !sessions->no_memory && rig_session_next_line(&d.cursor)) {
        if (skip_comment(&d.cursor))
            continue;
        const bool ends_session = session_rule(&d.cursor, '-');
        if (ends_session && d.session == INT32_MAX)
            return rig_cursor_fail(&d.cursor, rig_cursor_offset(&d.cursor), "more than %d sessions", INT32_MAX);
        d.session += ends_session;
        if (!ends_session)
            rc = dbcop_read_txn(&d);
    }
    return rc;
}

const struct rig_session_form rig_dbcop_text_form = {
    .what = "a text of dbcop",
    .recognise = dbcop_recognise,
    .decode = dbcop_decode,
};

enum { FLUSH_BYTES = 1 << 20 };

RIG_VEC(int64_t, txn_ids)

struct plume_decoder {
    struct rig_text_cursor cursor;
    struct rig_sessions *sessions;
    struct rig_table known; /* a hash of process and transaction -> the transaction's number */
    struct txn_ids ids;     /* as in the file, by number */
    uint32_t last;          /* the transaction of the last line, if there is any */
};

static bool plume_recognise(const char *data, size_t size)
{
    size_t at = rig_session_skip_blank(data, size);
    return size - at > 2 && (data[at] == 'r' || data[at] == 'w') && data[at + 1] == '(' && data[at + 2] >= '0' &&
           data[at + 2] <= '9';
}

static enum rig_rc plume_read_txn(struct rig_text_cursor *cursor, int64_t *txn)
{
    const size_t at = rig_cursor_offset(cursor);
    enum rig_rc rc = rig_cursor_int(cursor, txn);
    return rc == RIG_OK && *txn < -1
               ? rig_cursor_fail(cursor, at, "expected the number of a transaction, or -1 if it was aborted")
               : rc;
}

static enum rig_rc read_session(struct rig_text_cursor *cursor, int32_t *session)
{
    uint64_t number = 0;
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
        rc = plume_read_txn(cursor, &line->txn);
    if (rc == RIG_OK)
        rc = rig_session_expect(cursor, ')', "')'");
    return rc == RIG_OK ? session_end_line(cursor) : rc;
}

static bool is_txn(const struct plume_decoder *d, uint32_t number, const struct line *line)
{
    return d->ids.at[number] == line->txn && d->sessions->txns.at[number].process == line->session;
}

static uint32_t add_txn(struct plume_decoder *d, const struct line *line, enum rig_outcome outcome)
{
    const uint32_t txn = rig_sessions_begin(d->sessions, line->session, outcome);
    const size_t capacity = d->ids.capacity;
    if (!d->sessions->no_memory && !txn_ids_add(&d->ids, line->txn))
        d->sessions->no_memory = true;
    d->sessions->beside_bytes += (d->ids.capacity - capacity) * sizeof line->txn;
    return txn;
}

/* The transaction of a line, which mostly is that of the line before. */
static uint32_t find_txn(struct plume_decoder *d, const struct line *line)
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

static void take_line(struct plume_decoder *d, const struct line *line)
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

static enum rig_rc plume_decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                                struct rig_err *err)
{
    struct plume_decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
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
    .recognise = plume_recognise,
    .decode = plume_decode,
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
