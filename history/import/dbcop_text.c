#include "history/import/dbcop_text.h"

#include <string.h>

#include "history/import/session_text.h"

struct decoder {
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

static bool recognise(const char *data, size_t size)
{
    struct rig_text_cursor cursor = {.start = data, .at = data, .end = data + size};
    while (rig_session_next_line(&cursor) && (skip_comment(&cursor) || rig_session_rule(&cursor, '-')))
        ;
    const char *at = cursor.at;
    if (cursor.end - at < 2 || *at++ != '[')
        return false;
    while (at < cursor.end && is_name(*at))
        at++;
    return at > cursor.at + 1 && cursor.end - at > 1 && (at[0] == ':' || at[0] == '=') && at[1] == '=';
}

static enum rig_rc read_variable(struct decoder *d, uint32_t *key)
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

static enum rig_rc read_event(struct decoder *d, uint32_t txn)
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

static enum rig_rc read_txn(struct decoder *d)
{
    struct rig_text_cursor *cursor = &d->cursor;
    enum rig_rc rc = rig_session_expect(cursor, '[', "a transaction `[...]`, a comment, or a line of '-'");
    const uint32_t txn = rig_sessions_begin(d->sessions, d->session, RIG_OUTCOME_OK);
    bool is_first = true;
    while (rc == RIG_OK && !d->sessions->no_memory) {
        const char *from = cursor->at;
        rig_session_blanks(cursor);
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

static enum rig_rc decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err)
{
    struct decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
                        .sessions = sessions};
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !sessions->no_memory && rig_session_next_line(&d.cursor)) {
        if (skip_comment(&d.cursor))
            continue;
        const bool ends_session = rig_session_rule(&d.cursor, '-');
        if (ends_session && d.session == INT32_MAX)
            return rig_cursor_fail(&d.cursor, rig_cursor_offset(&d.cursor), "more than %d sessions", INT32_MAX);
        d.session += ends_session;
        if (!ends_session)
            rc = read_txn(&d);
    }
    return rc;
}

const struct rig_session_form rig_dbcop_text_form = {
    .what = "a text of dbcop",
    .recognise = recognise,
    .decode = decode,
};
