#include "drivers/mysql/my_binlog.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/sql/sql_values.h"

enum { TYPE_BIGINT = 8, TYPE_BLOB = 252, BIGINT_BYTES = 8 };

void rig_my_binlog_init(struct rig_my_binlog *binlog, const struct rig_certificate_sink *sink, const char *database,
                        const char *stem, bool is_list, const char *file)
{
    *binlog = (struct rig_my_binlog){
        .sink = sink, .database = database, .stem = stem, .is_list = is_list, .file = rig_my_binlog_number(file) - 1};
}

void rig_my_binlog_done(struct rig_my_binlog *binlog)
{
    free(binlog->elements);
    binlog->elements = NULL;
}

static enum rig_rc refuse(const char *what, struct rig_err *err)
{
    return rig_fail(err, RIG_E_CLUSTER, "the binary log has %s", what);
}

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_no_memory(err, "the certificate");
}

static bool is_text(MARIADB_STRING text, const char *wanted, bool prefix)
{
    const size_t length = strlen(wanted);
    return (prefix ? text.length >= length : text.length == length) && memcmp(text.str, wanted, length) == 0;
}

/* ---- tables ---- */

static const struct rig_my_binlog_table *find_table(const struct rig_my_binlog *binlog, uint64_t id)
{
    for (uint32_t i = binlog->table_count; i-- > 0;) {
        if (binlog->tables[i].id == id)
            return &binlog->tables[i];
    }
    return NULL;
}

static enum rig_rc take_table(struct rig_my_binlog *binlog, const struct st_mariadb_rpl_table_map_event *map,
                              struct rig_err *err)
{
    struct rig_my_binlog_table table = {.id = map->table_id, .column_count = map->column_count};
    size_t at = 0; /* in the metadata, of which only texts have a byte */
    if (!is_text(map->database, binlog->database, false) || !is_text(map->table, binlog->stem, true) ||
        find_table(binlog, map->table_id) != NULL)
        return RIG_OK;
    if (binlog->table_count == RIG_MY_BINLOG_TABLES)
        return refuse("a transaction with more tables than rig reads", err);
    if (map->column_count < 2 || map->column_count > RIG_MY_BINLOG_COLUMNS ||
        map->column_types.length < map->column_count || (uint8_t)map->column_types.str[0] != TYPE_BIGINT)
        return refuse("a table that rig did not make", err);
    for (uint32_t i = 0; i < map->column_count; i++) {
        table.types[i] = (uint8_t)map->column_types.str[i];
        if (table.types[i] == TYPE_BLOB && at < map->metadata.length)
            table.length_bytes[i] = (uint8_t)map->metadata.str[at++];
        else if (table.types[i] != TYPE_BIGINT)
            return refuse("a column that rig did not make", err);
    }
    binlog->tables[binlog->table_count++] = table;
    return RIG_OK;
}

/* ---- rows ---- */

struct bytes {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t get_number(struct bytes *bytes, unsigned count)
{
    uint64_t number = 0;
    if ((size_t)(bytes->end - bytes->at) < count || count > 8) {
        bytes->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < count; i++)
        number |= (uint64_t)bytes->at[i] << (8 * i);
    bytes->at += count;
    return number;
}

struct row {
    int64_t key, number;
    const char *text;
    size_t length;
};

/* A row without nulls, all of its columns. */
static bool get_row(const struct rig_my_binlog_table *table, struct bytes *bytes, struct row *row)
{
    const uint64_t nulls = get_number(bytes, (table->column_count + 7) / 8);
    *row = (struct row){.text = NULL};
    for (uint32_t i = 0; i < table->column_count && !bytes->bad; i++) {
        if ((nulls >> i & 1) != 0)
            return false;
        const uint64_t value =
            get_number(bytes, table->types[i] == TYPE_BIGINT ? BIGINT_BYTES : table->length_bytes[i]);
        if (table->types[i] == TYPE_BLOB) {
            if (bytes->bad || value > (size_t)(bytes->end - bytes->at))
                return false;
            row->text = (const char *)bytes->at;
            row->length = (size_t)value;
            bytes->at += value;
        } else if (i == 0) {
            row->key = (int64_t)value;
        } else if (i == 1) {
            row->number = (int64_t)value;
        }
    }
    return !bytes->bad;
}

static enum rig_rc parse(struct rig_my_binlog *binlog, const struct row *row, size_t *count, struct rig_err *err)
{
    if ((row->text != NULL) != binlog->is_list)
        return refuse("a value of another type", err);
    *count = binlog->is_list ? rig_sql_list_count(RIG_SQL_LIST_TEXT, row->text, row->length) : 1;
    if (*count > binlog->element_capacity) {
        int64_t *elements = realloc(binlog->elements, *count * 2 * sizeof *elements);
        if (elements == NULL)
            return no_memory(err);
        binlog->elements = elements;
        binlog->element_capacity = *count * 2;
    }
    if (!binlog->is_list)
        binlog->elements[0] = row->number;
    else if (!rig_sql_list_parse(RIG_SQL_LIST_TEXT, row->text, row->length, binlog->elements))
        return refuse("a list that rig did not write", err);
    return RIG_OK;
}

static enum rig_rc give(struct rig_my_binlog *binlog, const struct row *row, bool removed, struct rig_err *err)
{
    const struct rig_certificate_sink *sink = binlog->sink;
    size_t count = 0;
    enum rig_rc rc = removed ? RIG_OK : parse(binlog, row, &count, err);
    if (rc != RIG_OK)
        return rc;
    if ((!binlog->begun && !sink->commit(sink->context, binlog->place, binlog->gtid, 0)) || count > UINT32_MAX ||
        !sink->version(sink->context, row->key, removed ? NULL : binlog->elements, (uint32_t)count))
        return no_memory(err);
    binlog->begun = true;
    return RIG_OK;
}

/* Whether all columns are in the rows. */
static bool is_full(const unsigned char *bitmap, uint32_t columns)
{
    return bitmap != NULL && (bitmap[0] & ((1U << columns) - 1)) == (1U << columns) - 1;
}

static enum rig_rc take_rows(struct rig_my_binlog *binlog, const struct st_mariadb_rpl_rows_event *rows,
                             struct rig_err *err)
{
    const struct rig_my_binlog_table *table = find_table(binlog, rows->table_id);
    struct bytes bytes = {.at = rows->row_data, .end = (const uint8_t *)rows->row_data + rows->row_data_size};
    enum rig_rc rc = RIG_OK;
    if (table == NULL)
        return RIG_OK; /* of something else on the server */
    if (binlog->place == 0)
        return refuse("rows outside of a transaction", err);
    if (rows->compressed || rows->column_count != table->column_count ||
        !is_full(rows->column_bitmap, rows->column_count) ||
        (rows->type == UPDATE_ROWS && !is_full(rows->column_update_bitmap, rows->column_count)))
        return refuse("rows that are compressed, or without some of their columns", err);
    while (rc == RIG_OK && bytes.at < bytes.end) {
        struct row row, before;
        if (!get_row(table, &bytes, &row))
            return refuse("a row that is cut or has a null", err);
        before = row;
        if (rows->type == UPDATE_ROWS && (!get_row(table, &bytes, &row) || row.key != before.key))
            return refuse("an update that is cut, or that changes the key", err);
        rc = give(binlog, &row, rows->type == DELETE_ROWS, err);
    }
    return rc;
}

/* ---- events ---- */

uint64_t rig_my_binlog_number(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot == NULL ? 0 : strtoull(dot + 1, NULL, 10);
}

enum rig_rc rig_my_binlog_take(struct rig_my_binlog *binlog, const MARIADB_RPL_EVENT *event, struct rig_err *err)
{
    if (event->next_event_pos > 0)
        binlog->read_to = event->next_event_pos;
    switch ((int)event->event_type) {
    case FORMAT_DESCRIPTION_EVENT: /* the first one of each file; the name in a ROTATE_EVENT may be cut */
        binlog->file++;
        binlog->read_to = 0;
        return RIG_OK;
    case GTID_EVENT:
        binlog->place = binlog->file << 32 | event->next_event_pos;
        binlog->gtid = event->event.gtid.sequence_nr;
        binlog->begun = false;
        binlog->table_count = 0;
        return RIG_OK;
    case TABLE_MAP_EVENT:
        return take_table(binlog, &event->event.table_map, err);
    case WRITE_ROWS_EVENT_V1:
    case UPDATE_ROWS_EVENT_V1:
    case DELETE_ROWS_EVENT_V1:
    case WRITE_ROWS_EVENT:
    case UPDATE_ROWS_EVENT:
    case DELETE_ROWS_EVENT:
    case WRITE_ROWS_COMPRESSED_EVENT_V1:
    case UPDATE_ROWS_COMPRESSED_EVENT_V1:
    case DELETE_ROWS_COMPRESSED_EVENT_V1:
    case WRITE_ROWS_COMPRESSED_EVENT:
    case UPDATE_ROWS_COMPRESSED_EVENT:
    case DELETE_ROWS_COMPRESSED_EVENT:
        return take_rows(binlog, &event->event.rows, err);
    case QUERY_EVENT:
        if (!is_text(event->event.query.database, binlog->database, false) || !binlog->begun)
            return RIG_OK;
        return is_text(event->event.query.statement, "COMMIT", false) ||
                       is_text(event->event.query.statement, "SAVEPOINT", true)
                   ? RIG_OK
                   : refuse("a statement other than COMMIT after rows of the run", err);
    case INCIDENT_EVENT:
        return refuse("an incident: events are missing", err);
    default:
        return RIG_OK;
    }
}
