#include "history/import/dbcop_binary.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "history/import/register_sessions.h"

enum {
    PARAM_COUNT = 5, /* id and four counts */
    EVENT_BYTES = 18,
    LEAST_TXN_BYTES = 9,
    LEAST_TIME_BYTES = 16,
    MOST_TIME_BYTES = 64,
    MOST_INFO_BYTES = 32 << 10,
    FLUSH_BYTES = 1 << 20,
};

struct decoder {
    const char *name;
    const char *data;
    size_t size, at;
    struct rig_sessions *sessions;
    struct rig_err *err;
    enum rig_rc rc;
    int32_t next_process; /* of transactions of unknown outcome */
};

struct event {
    uint64_t key, value;
    bool is_write, succeeded;
};

static uint64_t load(const char *at)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return number;
}

/* A text of RFC 3339: "2021-08-...". */
static bool is_time(const char *data, size_t size, size_t *at)
{
    const uint64_t length = size - *at < 8 ? 0 : load(data + *at);
    if (length < LEAST_TIME_BYTES || length > MOST_TIME_BYTES || size - *at - 8 < length)
        return false;
    const char *text = data + *at + 8;
    *at += 8 + (size_t)length;
    return text[0] >= '0' && text[0] <= '9' && text[4] == '-' && text[7] == '-';
}

/* Behind the parameters: a text, two times, and the number of sessions. */
static bool recognise(const char *data, size_t size)
{
    size_t at = (size_t)PARAM_COUNT * 8;
    if (size < at + 8 || load(data + at) > MOST_INFO_BYTES)
        return false;
    at += 8 + (size_t)load(data + at);
    return at <= size && is_time(data, size, &at) && is_time(data, size, &at);
}

static void fail(struct decoder *d, size_t at, const char *text)
{
    if (d->rc == RIG_OK)
        d->rc = rig_fail(d->err, RIG_E_INPUT, "%s: byte %zu: %s", d->name, at, text);
}

static bool has(struct decoder *d, size_t bytes, const char *what)
{
    if (d->rc == RIG_OK && d->size - d->at >= bytes)
        return true;
    if (d->rc == RIG_OK)
        d->rc =
            rig_fail(d->err, RIG_E_INPUT, "%s: byte %zu: expected %s, not the end of the file; it may have been cut",
                     d->name, d->at, what);
    return false;
}

static uint64_t read_number(struct decoder *d, const char *what)
{
    if (!has(d, 8, what))
        return 0;
    d->at += 8;
    return load(d->data + d->at - 8);
}

static bool read_flag(struct decoder *d, const char *what)
{
    if (!has(d, 1, what))
        return false;
    const char flag = d->data[d->at++];
    if (flag != 0 && flag != 1)
        fail(d, d->at - 1, "expected 0 or 1, for false or true");
    return flag == 1;
}

/* A number of things that take at least `least_bytes` each. */
static uint64_t read_count(struct decoder *d, const char *what, size_t least_bytes)
{
    const size_t at = d->at;
    const uint64_t count = read_number(d, what);
    if (d->rc == RIG_OK && count > (d->size - d->at) / least_bytes)
        d->rc = rig_fail(d->err, RIG_E_INPUT,
                         "%s: byte %zu: %s is %llu, for which the file is too short; it may have been cut", d->name, at,
                         what, (unsigned long long)count);
    return d->rc == RIG_OK ? count : 0;
}

static void skip_head(struct decoder *d)
{
    for (unsigned i = 0; i < PARAM_COUNT; i++)
        (void)read_number(d, "the parameters, five numbers of 8 bytes");
    for (unsigned i = 0; i < 3; i++)
        d->at += (size_t)read_count(d, i == 0 ? "the length of the information" : "the length of a time", 1);
}

static struct event read_event(struct decoder *d)
{
    struct event event = {0};
    event.is_write = read_flag(d, "whether an event writes");
    event.key = read_number(d, "a variable of 8 bytes");
    event.value = read_number(d, "a value of 8 bytes");
    event.succeeded = read_flag(d, "whether an event succeeded");
    return event;
}

/* The client saw an error, which need not mean an abort: the commit may have been lost on its way back. Nothing follows
 * such a transaction, so it has a process of its own. */
static uint32_t begin_unknown(struct decoder *d)
{
    return rig_sessions_begin(d->sessions, d->next_process++, RIG_OUTCOME_INFO);
}

/* A write without success in a transaction that committed becomes a transaction of its own. */
static void take_event(struct decoder *d, uint32_t txn, bool committed, const struct event *event)
{
    struct rig_sessions *s = d->sessions;
    const uint32_t key = rig_sessions_number_key(s, (int64_t)event->key);
    if (event->is_write && committed && !event->succeeded)
        txn = begin_unknown(d);
    if (s->no_memory)
        return;
    if (event->is_write)
        rig_sessions_write(s, txn, key, (int64_t)event->value);
    else
        rig_sessions_read(s, txn, key, event->succeeded ? RIG_READ_SEEN : RIG_READ_UNKNOWN, (int64_t)event->value);
}

/* Whether it committed stands after the events. */
static void read_txn(struct decoder *d, int32_t session)
{
    const uint64_t count = read_count(d, "the number of events", EVENT_BYTES);
    const size_t events_at = d->at;
    d->at += (size_t)count * EVENT_BYTES;
    const bool committed = read_flag(d, "whether the transaction succeeded");
    const size_t end = d->at;
    if (d->rc != RIG_OK)
        return;
    const uint32_t txn = committed ? rig_sessions_begin(d->sessions, session, RIG_OUTCOME_OK) : begin_unknown(d);
    d->at = events_at;
    for (uint64_t i = 0; i < count && d->rc == RIG_OK && !d->sessions->no_memory; i++) {
        const struct event event = read_event(d);
        if (d->rc == RIG_OK)
            take_event(d, txn, committed, &event);
    }
    d->at = end;
}

static enum rig_rc decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err)
{
    struct decoder d = {.name = name, .data = data, .size = size, .sessions = sessions, .err = err};
    skip_head(&d);
    const uint64_t session_count = read_count(&d, "the number of sessions", 8);
    if (session_count > INT32_MAX / 2) /* the other half is for unknown outcomes */
        fail(&d, d.at - 8, "too many sessions");
    else
        d.next_process = (int32_t)session_count;
    for (uint64_t session = 0; session < session_count && d.rc == RIG_OK && !sessions->no_memory; session++) {
        const uint64_t txn_count = read_count(&d, "the number of transactions", LEAST_TXN_BYTES);
        for (uint64_t txn = 0; txn < txn_count && d.rc == RIG_OK && !sessions->no_memory; txn++)
            read_txn(&d, (int32_t)session);
    }
    if (d.rc == RIG_OK && !sessions->no_memory && d.at < size)
        fail(&d, d.at, "expected the end of the file");
    return d.rc;
}

const struct rig_session_form rig_dbcop_binary_form = {
    .what = "a binary file of dbcop",
    .zero_is_initial = true,
    .recognise = recognise,
    .decode = decode,
};

/* ---- writing ---- */

struct place {
    uint32_t session; /* in the order of first appearance */
    uint32_t txn;
};

RIG_VEC(struct place, places)

struct encoder {
    struct rig_session_export export;
    struct places places; /* by session, then as in the history */
    uint64_t session_count, op_count;
    struct rig_buf buf;
    struct rig_output *output;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->txn > y->txn) - (x->txn < y->txn);
}

/* False when memory runs out. */
static bool find_places(struct encoder *e)
{
    const struct rig_history *history = e->export.history;
    struct rig_table sessions;
    bool found = true;
    rig_table_init(&sessions);
    for (uint32_t txn = 0; found && txn < history->txn_count; txn++) {
        if (rig_session_export_fate(&e->export, txn) == RIG_SESSION_LEFT_OUT)
            continue;
        uint32_t *session = rig_table_put(&sessions, (uint64_t)(uint32_t)history->txns[txn].process);
        if (session != NULL && *session == RIG_TABLE_NONE)
            *session = (uint32_t)e->session_count++;
        found = session != NULL && places_add(&e->places, (struct place){.session = *session, .txn = txn});
    }
    rig_table_done(&sessions);
    if (found && e->places.count > 0)
        qsort(e->places.at, e->places.count, sizeof *e->places.at, compare_places);
    return found;
}

static void put_number(struct rig_buf *buf, uint64_t number)
{
    char bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(unsigned char)(number >> (8 * i));
    rig_buf_add(buf, bytes, sizeof bytes);
}

static void put_text(struct rig_buf *buf, const char *text)
{
    put_number(buf, strlen(text));
    rig_buf_add_text(buf, text);
}

/* The times are those of no run: a history does not know when dbcop began to record it. */
static void put_head(struct encoder *e)
{
    const struct rig_history *history = e->export.history;
    for (size_t i = 0; i < e->places.count; i++)
        e->op_count += rig_txn_op_count(history, e->places.at[i].txn);
    put_number(&e->buf, 0);
    put_number(&e->buf, e->session_count);
    put_number(&e->buf, history->key_count);
    put_number(&e->buf, e->places.count);
    put_number(&e->buf, e->op_count);
    put_text(&e->buf, "converted by rig");
    put_text(&e->buf, "1970-01-01T00:00:00+00:00");
    put_text(&e->buf, "1970-01-01T00:00:00+00:00");
    put_number(&e->buf, e->session_count);
}

static void put_txn(struct encoder *e, uint32_t txn)
{
    const struct rig_history *history = e->export.history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool committed = rig_session_export_fate(&e->export, txn) == RIG_SESSION_COMMITTED;
    put_number(&e->buf, rig_txn_op_count(history, txn));
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        rig_buf_add_char(&e->buf, rig_op_reads(ops[i].kind) ? 0 : 1);
        put_number(&e->buf, (uint64_t)rig_session_export_key(&e->export, ops[i].key));
        put_number(&e->buf, (uint64_t)rig_session_export_value(&ops[i]));
        rig_buf_add_char(&e->buf, rig_session_export_has(&ops[i]) ? 1 : 0); /* a read without a result failed */
    }
    rig_buf_add_char(&e->buf, committed ? 1 : 0);
}

static enum rig_rc flush(struct encoder *e, struct rig_err *err)
{
    if (e->buf.failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", e->output->path);
    enum rig_rc rc = rig_output_write(e->output, e->buf.data, e->buf.size, err);
    rig_buf_clear(&e->buf);
    return rc;
}

static enum rig_rc put_sessions(struct encoder *e, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t begin = 0, end = 0; rc == RIG_OK && begin < e->places.count; begin = end) {
        while (end < e->places.count && e->places.at[end].session == e->places.at[begin].session)
            end++;
        put_number(&e->buf, end - begin);
        for (size_t i = begin; rc == RIG_OK && i < end; i++) {
            put_txn(e, e->places.at[i].txn);
            if (e->buf.size >= FLUSH_BYTES || e->buf.failed)
                rc = flush(e, err);
        }
    }
    return rc == RIG_OK ? flush(e, err) : rc;
}

enum rig_rc rig_dbcop_binary_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err)
{
    struct encoder e = {.output = output};
    rig_buf_init(&e.buf, 0);
    enum rig_rc rc = rig_session_export_init(&e.export, history, false, output->path, err);
    if (rc == RIG_OK && !find_places(&e))
        rc = rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", output->path);
    if (rc == RIG_OK) {
        put_head(&e);
        rc = put_sessions(&e, err);
    }
    rig_session_export_done(&e.export);
    places_done(&e.places);
    rig_buf_done(&e.buf);
    return rc;
}
