#include "drivers/postgres/pg_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/postgres/pg_view.h"

/* Changes asked for at a time; the server ends a batch with a whole transaction. */
enum { BATCH = 500, SQL_BYTES = 1024, MESSAGES_SINCE = 140000 /* pgoutput hands over logical messages */ };

static const int64_t batch_answer_most = INT64_C(1) << 30, batch_ns = INT64_C(120000000000);

enum rig_rc rig_pg_ask_number(struct rig_pg_connection *connection, const char *sql, int base, int64_t deadline_ns,
                              uint64_t *number, struct rig_err *err)
{
    PGresult *result = NULL;
    enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, &result, err);
    char *end = NULL;
    if (rc == RIG_OK) {
        const char *text = PQntuples(result) == 1 && PQnfields(result) == 1 ? PQgetvalue(result, 0, 0) : "";
        *number = strtoull(text, &end, base);
        if (end == text || *end != '\0')
            rc = rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: `%.120s`: the result is not a number", sql);
    }
    PQclear(result);
    return rc;
}

enum rig_rc rig_pg_ask_timeline(struct rig_pg_connection *connection, int64_t deadline_ns, uint32_t *timeline,
                                struct rig_err *err)
{
    uint64_t number;
    const enum rig_rc rc = rig_pg_ask_number(connection, "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)",
                                             16, deadline_ns, &number, err);
    if (rc == RIG_OK)
        *timeline = (uint32_t)number;
    return rc;
}

enum rig_rc rig_pg_slot_create(struct rig_pg_connection *connection, const char *run_name, int64_t deadline_ns,
                               uint64_t *first_id, struct rig_err *err)
{
    char sql[SQL_BYTES];
    (void)snprintf(sql, sizeof sql, "SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", run_name);
    const enum rig_rc rc = rig_pg_query(connection, sql, deadline_ns, NULL, err);
    return rc != RIG_OK ? rc
                        : rig_pg_ask_number(connection, "SELECT pg_snapshot_xmax(pg_current_snapshot())", 10,
                                            deadline_ns, first_id, err);
}

enum rig_rc rig_pg_slot_drop(struct rig_pg_connection *connection, const char *run_name, int64_t deadline_ns,
                             struct rig_err *err)
{
    char sql[SQL_BYTES];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '%s'",
                   run_name);
    return rig_pg_query(connection, sql, deadline_ns, NULL, err);
}

/* ---- reading ---- */

static int nibble(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes `\x0123...` in place; returns its bytes, SIZE_MAX for anything else. */
static size_t unhex(char *text, size_t length)
{
    if (length < 2 || text[0] != '\\' || text[1] != 'x' || length % 2 != 0)
        return SIZE_MAX;
    for (size_t i = 2; i < length; i += 2) {
        const int high = nibble(text[i]), low = nibble(text[i + 1]);
        if (high < 0 || low < 0)
            return SIZE_MAX;
        text[i / 2 - 1] = (char)(high << 4 | low);
    }
    return length / 2 - 1;
}

enum rig_rc rig_pg_slot_read(struct rig_pg_connection *connection, const struct rig_run_env *env,
                             enum rig_rc (*take)(void *context, const uint8_t *data, size_t size, struct rig_err *err),
                             void *context, struct rig_err *err)
{
    char sql[SQL_BYTES];
    int rows = 1;
    /* A commit that is flushed: the slot is read at least up to here. */
    enum rig_rc rc = rig_pg_query(connection,
                                  "SET bytea_output = hex; SET synchronous_commit = local; "
                                  "SELECT pg_logical_emit_message(true, 'rig', 'end of the load')",
                                  env->core->now_ns() + batch_ns, NULL, err);
    connection->answer_most = batch_answer_most;
    (void)snprintf(sql, sizeof sql,
                   "SELECT data FROM pg_logical_slot_get_binary_changes('%s', NULL, %d, 'proto_version', '1', "
                   "'publication_names', '%s'%s)",
                   env->run_name, BATCH, env->run_name,
                   PQserverVersion(connection->pg) >= MESSAGES_SINCE ? ", 'messages', 'true'" : "");
    while (rc == RIG_OK && rows > 0) {
        PGresult *result = NULL;
        rc = rig_pg_query(connection, sql, env->core->now_ns() + batch_ns, &result, err);
        rows = rc == RIG_OK ? PQntuples(result) : 0;
        for (int row = 0; row < rows && rc == RIG_OK; row++) {
            char *data = PQgetvalue(result, row, 0);
            const size_t size = unhex(data, (size_t)PQgetlength(result, row, 0));
            rc = size == SIZE_MAX ? rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: a message of the slot is not binary")
                                  : take(context, (const uint8_t *)data, size, err);
        }
        PQclear(result);
    }
    return rc;
}

struct message {
    const uint8_t *at, *end;
    bool bad; /* it ended too early */
};

static uint64_t get_number(struct message *m, unsigned bytes)
{
    uint64_t number = 0;
    if ((size_t)(m->end - m->at) < bytes) {
        m->bad = true;
        m->at = m->end;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | *m->at++;
    return number;
}

static void begin(struct rig_pg_stream *stream, struct message *m)
{
    stream->place = get_number(m, 8);
    (void)get_number(m, 8);
    stream->xid = stream->last_id = rig_pg_extend(get_number(m, 4), stream->last_id);
    stream->begun = false;
    stream->skipped = stream->place <= stream->last_place || stream->place < stream->from ||
                      (stream->until != 0 && stream->place >= stream->until);
}

static const char *get_text(struct message *m)
{
    const uint8_t *begin = m->at, *end = memchr(begin, 0, (size_t)(m->end - begin));
    if (end == NULL) {
        m->bad = true;
        m->at = m->end;
        return "";
    }
    m->at = end + 1;
    return (const char *)begin;
}

static enum rig_rc refuse(const char *what, struct rig_err *err)
{
    return rig_fail(err, RIG_E_CLUSTER, "PostgreSQL: the stream of commits has %s", what);
}

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the certificate");
}

void rig_pg_stream_init(struct rig_pg_stream *stream, const struct rig_certificate_sink *sink)
{
    *stream = (struct rig_pg_stream){.sink = sink};
}

void rig_pg_stream_done(struct rig_pg_stream *stream)
{
    free(stream->elements);
    stream->elements = NULL;
}

static bool is_known(const struct rig_pg_stream *stream, uint32_t table)
{
    bool known = false;
    for (uint32_t i = 0; i < stream->table_count; i++)
        known |= stream->tables[i] == table;
    return known;
}

enum { MOST_COLUMNS = 3 };

/* The columns of a table that are the run's; others follow. */
static unsigned column_count(const struct rig_pg_stream *stream)
{
    return stream->is_rows ? 3 : 2;
}

/* A relation is described before its first change, and again after it was altered. */
static enum rig_rc take_relation(struct rig_pg_stream *stream, struct message *m, struct rig_err *err)
{
    const uint32_t table = (uint32_t)get_number(m, 4);
    (void)get_text(m);
    (void)get_text(m);
    (void)get_number(m, 1);
    static const char *const names[][MOST_COLUMNS] = {{"k", "v"}, {"k", "id", "v"}};
    const uint64_t columns = get_number(m, 2), own = column_count(stream);
    bool fits = columns >= own;
    for (uint64_t i = 0; i < columns && !m->bad; i++) {
        (void)get_number(m, 1);
        const char *name = get_text(m);
        (void)get_number(m, 4);
        (void)get_number(m, 4);
        fits &= i >= own || strcmp(name, names[stream->is_rows][i]) == 0;
    }
    if (m->bad || !fits)
        return refuse("a table that is not the run's", err);
    if (is_known(stream, table))
        return RIG_OK;
    if (stream->table_count == RIG_PG_STREAM_TABLES)
        return refuse("too many tables", err);
    stream->tables[stream->table_count++] = table;
    return RIG_OK;
}

struct value {
    const char *text;
    size_t length;
};

/* The run's columns of a row; others, such as those that an ALTER added, are ignored. */
static enum rig_rc get_row(const struct rig_pg_stream *stream, struct message *m, struct value values[MOST_COLUMNS],
                           struct rig_err *err)
{
    const uint64_t columns = get_number(m, 2), own = column_count(stream);
    for (uint64_t i = 0; i < columns && !m->bad; i++) {
        const uint64_t kind = get_number(m, 1);
        struct value value = {.text = NULL};
        if (kind == 't') {
            value.length = (size_t)get_number(m, 4);
            if (value.length > (size_t)(m->end - m->at))
                return refuse("a row that is cut", err);
            value.text = (const char *)m->at;
            m->at += value.length;
        }
        if (i < own)
            values[i] = value;
    }
    return m->bad || columns < own ? refuse("a row that is cut", err) : RIG_OK;
}

static bool make_room(struct rig_pg_stream *stream, size_t count)
{
    if (count <= stream->element_capacity)
        return true;
    int64_t *elements = realloc(stream->elements, count * 2 * sizeof *elements);
    if (elements == NULL)
        return false;
    stream->elements = elements;
    stream->element_capacity = count * 2;
    return true;
}

/* The version of a row, from its id and, unless it was removed, its version. */
static bool parse_row(struct rig_pg_stream *stream, const struct value values[MOST_COLUMNS], bool removed)
{
    if (values[1].text == NULL || (!removed && values[2].text == NULL) || !make_room(stream, 2))
        return false;
    stream->elements[1] = 0;
    return rig_sql_int_parse(values[1].text, values[1].length, &stream->elements[0]) &&
           (removed || rig_sql_int_parse(values[2].text, values[2].length, &stream->elements[1]));
}

static bool parse(struct rig_pg_stream *stream, const struct value *value, size_t *count)
{
    *count = stream->is_list ? rig_sql_list_count(stream->form, value->text, value->length) : 1;
    if (!make_room(stream, *count))
        return false;
    return stream->is_list ? rig_sql_list_parse(stream->form, value->text, value->length, stream->elements)
                           : rig_sql_int_parse(value->text, value->length, stream->elements);
}

/* Hands over a version of the transaction at hand, with its commit before the first one. */
static enum rig_rc hand_over(struct rig_pg_stream *stream, int64_t key, const int64_t *elements, size_t count,
                             struct rig_err *err)
{
    const struct rig_certificate_sink *sink = stream->sink;
    if (!stream->begun &&
        !(stream->lost ? sink->lost : sink->commit)(sink->context, stream->place, stream->xid, stream->timeline))
        return no_memory(err);
    stream->begun = true;
    stream->last_place = stream->place;
    return sink->version(sink->context, key, elements, (uint32_t)count) ? RIG_OK : no_memory(err);
}

static enum rig_rc give(struct rig_pg_stream *stream, const struct value values[MOST_COLUMNS], bool removed,
                        struct rig_err *err)
{
    int64_t key;
    size_t count = 0;
    if (stream->skipped)
        return RIG_OK;
    if (values[0].text == NULL || !rig_sql_int_parse(values[0].text, values[0].length, &key))
        return refuse("a row without a key", err);
    const bool parsed = stream->is_rows ? parse_row(stream, values, removed)
                                        : removed || (values[1].text != NULL && parse(stream, &values[1], &count));
    if (!parsed || count > UINT32_MAX)
        return refuse("a value that the run did not write", err);
    count = stream->is_rows ? 2 : count;
    const bool none = removed && !stream->is_rows;
    return hand_over(stream, key, none ? NULL : stream->elements, count, err);
}

static enum rig_rc take_message(struct rig_pg_stream *stream, struct message *m, struct rig_err *err)
{
    const bool transactional = (get_number(m, 1) & 1) != 0;
    (void)get_number(m, 8);
    const char *prefix = get_text(m);
    const size_t length = (size_t)get_number(m, 4);
    if (m->bad || length > (size_t)(m->end - m->at))
        return refuse("a message that is cut", err);
    if (!stream->is_rows || stream->run_name == NULL || strcmp(prefix, stream->run_name) != 0 || stream->skipped)
        return RIG_OK;
    const char *text = (const char *)m->at, *space = memchr(text, ' ', length);
    const size_t first = space == NULL ? 0 : (size_t)(space - text);
    int64_t key, elements[2];
    if (!transactional || space == NULL || !rig_sql_int_parse(text, first, &key) ||
        !rig_sql_int_parse(space + 1, length - first - 1, &elements[0]))
        return refuse("a mark that the run did not make", err);
    elements[1] = elements[0];
    return hand_over(stream, key, elements, 2, err);
}

static enum rig_rc take_change(struct rig_pg_stream *stream, uint8_t type, struct message *m, struct rig_err *err)
{
    struct value values[MOST_COLUMNS], old[MOST_COLUMNS];
    const uint32_t table = (uint32_t)get_number(m, 4);
    uint64_t part = get_number(m, 1);
    bool has_old = part == 'K' || part == 'O';
    if (!is_known(stream, table))
        return refuse("a change of an unknown table", err);
    if (has_old) {
        const enum rig_rc rc = get_row(stream, m, old, err);
        if (rc != RIG_OK)
            return rc;
    }
    if (type == 'D')
        return has_old ? give(stream, old, true, err) : refuse("a removal without its key", err);
    if (has_old)
        part = get_number(m, 1);
    if (part != 'N')
        return refuse("a change without a row", err);
    enum rig_rc rc = get_row(stream, m, values, err);
    if (rc == RIG_OK && has_old && !stream->is_rows) /* of rows without an index, the whole old row is there */
        rc = give(stream, old, true, err);           /* the key itself was changed, which no client does */
    return rc == RIG_OK ? give(stream, values, false, err) : rc;
}

enum rig_rc rig_pg_stream_take(struct rig_pg_stream *stream, const uint8_t *data, size_t size, struct rig_err *err)
{
    struct message m = {.at = data, .end = data + size};
    const uint8_t type = (uint8_t)get_number(&m, 1);
    switch (type) {
    case 'B':
        begin(stream, &m);
        return m.bad ? refuse("a message that is cut", err) : RIG_OK;
    case 'R':
        return take_relation(stream, &m, err);
    case 'I':
    case 'U':
    case 'D':
        return take_change(stream, type, &m, err);
    case 'M':
        return take_message(stream, &m, err);
    case 'T':
        return refuse("a TRUNCATE of the run's tables", err);
    case 'C': /* commit */
    case 'O': /* origin */
    case 'Y': /* type */
        return m.bad ? refuse("a message that is cut", err) : RIG_OK;
    default:
        return refuse("a message of an unknown type", err);
    }
}
