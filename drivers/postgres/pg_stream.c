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

/* A relation is described before its first change, and again after it was altered. */
static enum rig_rc take_relation(struct rig_pg_stream *stream, struct message *m, struct rig_err *err)
{
    const uint32_t table = (uint32_t)get_number(m, 4);
    (void)get_text(m);
    (void)get_text(m);
    (void)get_number(m, 1);
    const uint64_t columns = get_number(m, 2);
    bool fits = columns >= 2;
    for (uint64_t i = 0; i < columns && !m->bad; i++) {
        (void)get_number(m, 1);
        const char *name = get_text(m);
        (void)get_number(m, 4);
        (void)get_number(m, 4);
        fits &= i > 1 || strcmp(name, i == 0 ? "k" : "v") == 0;
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

/* The first two columns of a row; those that an ALTER added are ignored. */
static enum rig_rc get_row(struct message *m, struct value values[2], struct rig_err *err)
{
    const uint64_t columns = get_number(m, 2);
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
        if (i < 2)
            values[i] = value;
    }
    return m->bad || columns < 2 ? refuse("a row that is cut", err) : RIG_OK;
}

static bool parse(struct rig_pg_stream *stream, const struct value *value, size_t *count)
{
    *count = stream->is_list ? rig_sql_list_count(stream->form, value->text, value->length) : 1;
    if (*count > stream->element_capacity) {
        int64_t *elements = realloc(stream->elements, *count * 2 * sizeof *elements);
        if (elements == NULL)
            return false;
        stream->elements = elements;
        stream->element_capacity = *count * 2;
    }
    return stream->is_list ? rig_sql_list_parse(stream->form, value->text, value->length, stream->elements)
                           : rig_sql_int_parse(value->text, value->length, stream->elements);
}

/* `values[1].text` NULL: the row was removed. */
static enum rig_rc give(struct rig_pg_stream *stream, const struct value values[2], bool removed, struct rig_err *err)
{
    const struct rig_certificate_sink *sink = stream->sink;
    int64_t key;
    size_t count = 0;
    if (stream->skipped)
        return RIG_OK;
    if (values[0].text == NULL || !rig_sql_int_parse(values[0].text, values[0].length, &key))
        return refuse("a row without a key", err);
    if (!removed && (values[1].text == NULL || !parse(stream, &values[1], &count) || count > UINT32_MAX))
        return refuse("a value that the run did not write", err);
    if (!stream->begun &&
        !(stream->lost ? sink->lost : sink->commit)(sink->context, stream->place, stream->xid, stream->timeline))
        return no_memory(err);
    stream->begun = true;
    stream->last_place = stream->place;
    return sink->version(sink->context, key, removed ? NULL : stream->elements, (uint32_t)count) ? RIG_OK
                                                                                                 : no_memory(err);
}

static enum rig_rc take_change(struct rig_pg_stream *stream, uint8_t type, struct message *m, struct rig_err *err)
{
    struct value values[2], old[2];
    const uint32_t table = (uint32_t)get_number(m, 4);
    uint64_t part = get_number(m, 1);
    bool has_old = part == 'K' || part == 'O';
    if (!is_known(stream, table))
        return refuse("a change of an unknown table", err);
    if (has_old) {
        const enum rig_rc rc = get_row(m, old, err);
        if (rc != RIG_OK)
            return rc;
    }
    if (type == 'D')
        return has_old ? give(stream, old, true, err) : refuse("a removal without its key", err);
    if (has_old)
        part = get_number(m, 1);
    if (part != 'N')
        return refuse("a change without a row", err);
    enum rig_rc rc = get_row(m, values, err);
    if (rc == RIG_OK && has_old)
        rc = give(stream, old, true, err); /* the key itself was changed, which no client does */
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
    case 'T':
        return refuse("a TRUNCATE of the run's tables", err);
    case 'C': /* commit */
    case 'O': /* origin */
    case 'Y': /* type */
    case 'M': /* message */
        return m.bad ? refuse("a message that is cut", err) : RIG_OK;
    default:
        return refuse("a message of an unknown type", err);
    }
}
