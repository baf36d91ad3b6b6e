#include "drivers/postgres/pg_stream.h"
#include "drivers/postgres/pg_view.h"

#include <stdlib.h>
#include <string.h>

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

static void begin(struct rig_pg_stream *stream, struct message *m)
{
    stream->place = get_number(m, 8);
    (void)get_number(m, 8);
    stream->xid = stream->last_id = rig_pg_extend(get_number(m, 4), stream->last_id);
    stream->begun = false;
    stream->skipped = stream->place <= stream->last_place || stream->place < stream->from ||
                      (stream->until != 0 && stream->place >= stream->until);
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
