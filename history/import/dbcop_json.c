#include "history/import/dbcop_json.h"

#include <string.h>

#include "history/import/session_text.h"
#include "history/text/json_lines.h"

struct decoder {
    struct rig_text_cursor cursor;
    struct rig_sessions *sessions;
    int32_t session;
};

/* An object's fields, or an array's values, one after the other. */
struct sequence {
    char closer;
    bool started;
};

struct event {
    bool has_variable, has_version, is_null;
    int64_t variable, version;
};

/* Sessions of transactions of events: after at most DEEPEST brackets there is an object, a text, or an end. */
static bool is_nested_array(const char *data, size_t size)
{
    enum { DEEPEST = 4 };
    size_t at = 0;
    unsigned depth = 0;
    for (; depth <= DEEPEST && at < size && data[at] == '['; depth++) {
        at++;
        at += rig_session_skip_blank(data + at, size - at);
    }
    return depth >= 2 && at < size && (data[at] == '{' || data[at] == '"' || data[at] == ']');
}

static bool recognise(const char *data, size_t size)
{
    static const char first_field[] = "\"params\"";
    size_t at = rig_session_skip_blank(data, size);
    if (at == size || (data[at] != '{' && data[at] != '['))
        return false;
    if (data[at] == '[')
        return is_nested_array(data + at, size - at);
    at++;
    at += rig_session_skip_blank(data + at, size - at);
    return size - at >= sizeof first_field - 1 && memcmp(data + at, first_field, sizeof first_field - 1) == 0;
}

static char peek(struct rig_text_cursor *cursor)
{
    cursor->at += rig_session_skip_blank(cursor->at, (size_t)(cursor->end - cursor->at));
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static enum rig_rc expect(struct rig_text_cursor *cursor, char wanted, const char *what)
{
    (void)peek(cursor);
    return rig_session_expect(cursor, wanted, what);
}

static enum rig_rc begin(struct rig_text_cursor *cursor, char opener, const char *what, struct sequence *sequence)
{
    *sequence = (struct sequence){.closer = opener == '[' ? ']' : '}'};
    return expect(cursor, opener, what);
}

/* Moves to the next member, if there is one. */
static enum rig_rc next(struct rig_text_cursor *cursor, struct sequence *sequence, bool *more)
{
    const bool ends = peek(cursor) == sequence->closer;
    const bool started = sequence->started;
    sequence->started = true;
    *more = !ends;
    if (ends)
        cursor->at++;
    return ends || !started ? RIG_OK
                            : expect(cursor, ',', sequence->closer == ']' ? "a comma or ']'" : "a comma or '}'");
}

/* The next field's name, if there is one; the cursor is at its value. */
static enum rig_rc next_field(struct rig_text_cursor *cursor, struct sequence *sequence, struct rig_text_slice *name,
                              bool *more)
{
    enum rig_rc rc = next(cursor, sequence, more);
    if (rc != RIG_OK || !*more)
        return rc;
    (void)peek(cursor);
    rc = rig_cursor_string(cursor, false, name);
    if (rc == RIG_OK)
        rc = expect(cursor, ':', "a colon");
    (void)peek(cursor);
    return rc;
}

static bool take_word(struct rig_text_cursor *cursor, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static enum rig_rc unknown_field(const struct rig_text_cursor *cursor, const struct rig_text_slice *name,
                                 const char *expected)
{
    return rig_cursor_fail(cursor, (size_t)(name->at - cursor->start) - 1, "an unknown field; expected %s", expected);
}

static enum rig_rc read_number(struct rig_text_cursor *cursor, const char *what, int64_t *number)
{
    uint64_t read = 0;
    (void)peek(cursor);
    enum rig_rc rc = rig_session_number(cursor, what, &read);
    *number = (int64_t)read;
    return rc;
}

static enum rig_rc read_version(struct rig_text_cursor *cursor, struct event *event)
{
    (void)peek(cursor);
    event->has_version = true;
    event->is_null = take_word(cursor, "null");
    return event->is_null ? RIG_OK : read_number(cursor, "a version, which is a number or null", &event->version);
}

/* {"variable": 0, "version": 1} */
static enum rig_rc read_event_fields(struct rig_text_cursor *cursor, struct event *event)
{
    struct sequence fields;
    struct rig_text_slice name = {0};
    bool more = true;
    const size_t at = rig_cursor_offset(cursor);
    enum rig_rc rc = begin(cursor, '{', "an object with variable and version", &fields);
    while (rc == RIG_OK) {
        rc = next_field(cursor, &fields, &name, &more);
        if (rc != RIG_OK || !more)
            break;
        if (rig_slice_is(&name, "variable")) {
            event->has_variable = true;
            rc = read_number(cursor, "a variable, which is a number", &event->variable);
        } else {
            rc = rig_slice_is(&name, "version") ? read_version(cursor, event)
                                                : unknown_field(cursor, &name, "variable or version");
        }
    }
    if (rc == RIG_OK && !(event->has_variable && event->has_version))
        return rig_cursor_fail(cursor, at, "an event without variable or version");
    return rc;
}

/* ["r", 0, 1] */
static enum rig_rc read_short_event(struct rig_text_cursor *cursor, struct event *event, bool *is_read)
{
    struct rig_text_slice name = {0};
    enum rig_rc rc = expect(cursor, '[', "an event");
    (void)peek(cursor);
    const size_t at = rig_cursor_offset(cursor);
    if (rc == RIG_OK)
        rc = rig_cursor_string(cursor, false, &name);
    if (rc == RIG_OK && !rig_slice_is(&name, "r") && !rig_slice_is(&name, "w"))
        return rig_cursor_fail(cursor, at, "expected \"r\" or \"w\"");
    if (rc == RIG_OK)
        rc = expect(cursor, ',', "a comma and the variable");
    if (rc == RIG_OK)
        rc = read_number(cursor, "a variable, which is a number", &event->variable);
    if (rc == RIG_OK)
        rc = expect(cursor, ',', "a comma and the version");
    if (rc == RIG_OK)
        rc = read_version(cursor, event);
    if (rc == RIG_OK)
        rc = expect(cursor, ']', "']'");
    *is_read = rc == RIG_OK && rig_slice_is(&name, "r");
    return rc;
}

/* {"Read": {...}} */
static enum rig_rc read_long_event(struct rig_text_cursor *cursor, struct event *event, bool *is_read)
{
    struct sequence fields;
    struct rig_text_slice name = {0};
    bool more = true;
    enum rig_rc rc = begin(cursor, '{', "an event, {\"Read\": ...} or {\"Write\": ...}", &fields);
    if (rc == RIG_OK)
        rc = next_field(cursor, &fields, &name, &more);
    if (rc == RIG_OK && !more)
        return rig_cursor_fail(cursor, rig_cursor_offset(cursor) - 1, "expected \"Read\" or \"Write\"");
    if (rc == RIG_OK && !rig_slice_is(&name, "Read") && !rig_slice_is(&name, "Write"))
        return unknown_field(cursor, &name, "Read or Write");
    if (rc == RIG_OK)
        rc = read_event_fields(cursor, event);
    *is_read = rc == RIG_OK && rig_slice_is(&name, "Read");
    return rc == RIG_OK ? expect(cursor, '}', "'}'") : rc;
}

static enum rig_rc read_event(struct decoder *d, uint32_t txn)
{
    struct event event = {0};
    bool is_read = false;
    const bool is_short = peek(&d->cursor) == '[';
    const size_t at = rig_cursor_offset(&d->cursor);
    enum rig_rc rc =
        is_short ? read_short_event(&d->cursor, &event, &is_read) : read_long_event(&d->cursor, &event, &is_read);
    if (rc == RIG_OK && event.is_null && !is_read)
        return rig_cursor_fail(&d->cursor, at, "a write of null; only a read has it, for the initial state");
    if (rc != RIG_OK)
        return rc;
    const uint32_t key = rig_sessions_number_key(d->sessions, event.variable);
    if (d->sessions->no_memory)
        return RIG_OK;
    if (is_read)
        rig_sessions_read(d->sessions, txn, key, event.is_null ? RIG_READ_NIL : RIG_READ_SEEN, event.version);
    else
        rig_sessions_write(d->sessions, txn, key, event.version);
    return RIG_OK;
}

static enum rig_rc read_events(struct decoder *d, uint32_t txn)
{
    struct sequence events;
    bool more = true;
    enum rig_rc rc = begin(&d->cursor, '[', "an array of events", &events);
    while (rc == RIG_OK && !d->sessions->no_memory) {
        rc = next(&d->cursor, &events, &more);
        if (rc != RIG_OK || !more)
            break;
        rc = read_event(d, txn);
    }
    return rc;
}

/* {"events": [...], "committed": true} */
static enum rig_rc read_txn(struct decoder *d)
{
    struct rig_text_cursor *cursor = &d->cursor;
    struct sequence fields;
    struct rig_text_slice name = {0};
    bool more = true, has_events = false, has_fate = false, committed = true;
    const uint32_t txn = rig_sessions_begin(d->sessions, d->session, RIG_OUTCOME_OK);
    (void)peek(cursor);
    const size_t at = rig_cursor_offset(cursor);
    enum rig_rc rc = begin(cursor, '{', "a transaction, {\"events\": [...], \"committed\": ...}", &fields);
    while (rc == RIG_OK && !d->sessions->no_memory) {
        rc = next_field(cursor, &fields, &name, &more);
        if (rc != RIG_OK || !more)
            break;
        const bool is_events = rig_slice_is(&name, "events");
        if (is_events ? has_events : has_fate)
            return rig_cursor_fail(cursor, (size_t)(name.at - cursor->start) - 1, "a repeated or unknown field");
        if (is_events) {
            has_events = true;
            rc = read_events(d, txn);
        } else if (rig_slice_is(&name, "committed")) {
            has_fate = true;
            committed = take_word(cursor, "true");
            if (!committed && !take_word(cursor, "false"))
                rc = rig_cursor_unexpected(cursor, "true or false");
        } else {
            rc = unknown_field(cursor, &name, "events or committed");
        }
    }
    if (rc != RIG_OK || d->sessions->no_memory)
        return rc;
    if (!has_events || !has_fate)
        return rig_cursor_fail(cursor, at, "a transaction without %s", has_events ? "committed" : "events");
    if (!committed)
        rig_sessions_abort(d->sessions, txn);
    return RIG_OK;
}

static enum rig_rc read_session(struct decoder *d)
{
    struct sequence txns;
    bool more = true;
    enum rig_rc rc = begin(&d->cursor, '[', "a session, which is an array of transactions", &txns);
    while (rc == RIG_OK && !d->sessions->no_memory) {
        rc = next(&d->cursor, &txns, &more);
        if (rc != RIG_OK || !more)
            break;
        rc = read_txn(d);
    }
    return rc;
}

static enum rig_rc read_sessions(struct decoder *d)
{
    struct sequence sessions;
    bool more = true;
    enum rig_rc rc = begin(&d->cursor, '[', "an array of sessions", &sessions);
    while (rc == RIG_OK && !d->sessions->no_memory) {
        rc = next(&d->cursor, &sessions, &more);
        if (rc != RIG_OK || !more)
            break;
        if (d->session == INT32_MAX)
            return rig_cursor_fail(&d->cursor, rig_cursor_offset(&d->cursor), "more than %d sessions", INT32_MAX);
        rc = read_session(d);
        d->session++;
    }
    return rc;
}

/* {"params": {...}, ..., "data": [...]}; only `data` tells of transactions. */
static enum rig_rc read_history(struct decoder *d)
{
    struct sequence fields;
    struct rig_text_slice name = {0};
    bool more = true, has_data = false;
    enum rig_rc rc = begin(&d->cursor, '{', "an object", &fields);
    while (rc == RIG_OK && !d->sessions->no_memory) {
        rc = next_field(&d->cursor, &fields, &name, &more);
        if (rc != RIG_OK || !more)
            break;
        if (!rig_slice_is(&name, "data")) {
            rc = rig_json_skip(&d->cursor);
            continue;
        }
        if (has_data)
            return rig_cursor_fail(&d->cursor, (size_t)(name.at - d->cursor.start) - 1, "a repeated field");
        has_data = true;
        rc = read_sessions(d);
    }
    if (rc == RIG_OK && !has_data && !d->sessions->no_memory)
        return rig_cursor_fail(&d->cursor, 0, "a history of dbcop without `data`, the array of its sessions");
    return rc;
}

static enum rig_rc decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err)
{
    struct decoder d = {.cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
                        .sessions = sessions};
    enum rig_rc rc = peek(&d.cursor) == '{' ? read_history(&d) : read_sessions(&d);
    if (rc == RIG_OK && !sessions->no_memory && rig_session_next_line(&d.cursor))
        return rig_cursor_unexpected(&d.cursor, "the end of the file");
    return rc;
}

const struct rig_session_form rig_dbcop_json_form = {
    .what = "JSON of dbcop",
    .recognise = recognise,
    .decode = decode,
};
