#include "history/import/awdit_text.h"

#include "history/import/session_text.h"

struct decoder {
    struct rig_text_cursor cursor;
    struct rig_sessions *sessions;
    int32_t session;
    uint32_t txn;
    bool in_txn;
};

static bool recognise(const char *data, size_t size)
{
    struct rig_text_cursor cursor = {.start = data, .at = data, .end = data + size};
    while (rig_session_next_line(&cursor) && (rig_session_rule(&cursor, '=') || rig_session_rule(&cursor, '-')))
        ;
    const char *at = cursor.at;
    return cursor.end - at > 2 && (*at == 'r' || *at == 'w') && (at[1] == ' ' || at[1] == '\t') &&
           ((at[2] >= '0' && at[2] <= '9') || at[2] == ' ' || at[2] == '\t');
}

static enum rig_rc read_number(struct rig_text_cursor *cursor, const char *what, uint64_t *number)
{
    if (cursor->at == cursor->end || (*cursor->at != ' ' && *cursor->at != '\t'))
        return rig_cursor_unexpected(cursor, what);
    rig_session_blanks(cursor);
    return rig_session_number(cursor, what, number);
}

static enum rig_rc read_operation(struct decoder *d)
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
        rc = rig_session_end_line(cursor);
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

static enum rig_rc decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err)
{
    struct decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
                        .sessions = sessions};
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !sessions->no_memory && rig_session_next_line(&d.cursor)) {
        const bool ends_session = rig_session_rule(&d.cursor, '=');
        if (ends_session && d.session == INT32_MAX)
            return rig_cursor_fail(&d.cursor, rig_cursor_offset(&d.cursor), "more than %d sessions", INT32_MAX);
        d.session += ends_session;
        if (ends_session || rig_session_rule(&d.cursor, '-'))
            d.in_txn = false;
        else
            rc = read_operation(&d);
    }
    return rc;
}

const struct rig_session_form rig_awdit_form = {
    .what = "a test of AWDIT",
    .zero_is_initial = true,
    .recognise = recognise,
    .decode = decode,
};
