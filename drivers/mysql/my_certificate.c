#include "drivers/mysql/my_certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "drivers/sql/sql_values.h"

enum { TYPE_BIGINT = 8, TYPE_BLOB = 252, BIGINT_BYTES = 8 };

/* The number in a file's name: 12 of "binlog.000012". */
static uint64_t my_binlog_number(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot == NULL ? 0 : strtoull(dot + 1, NULL, 10);
}

void rig_my_binlog_init(struct rig_my_binlog *binlog, const struct rig_certificate_sink *sink, const char *database,
                        const char *stem, bool is_list, const char *file)
{
    *binlog = (struct rig_my_binlog){
        .sink = sink, .database = database, .stem = stem, .is_list = is_list, .file = my_binlog_number(file) - 1};
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

static const int64_t wait_ns = INT64_C(10000000000), query_ns = INT64_C(10000000000), pause_ns = 50000000;

/* ---- the beginning ---- */

enum rig_rc rig_my_certificate_check(const struct rig_my_schema *schema, const struct rig_my_options *options,
                                     bool galera, bool full, struct rig_err *err)
{
    if (schema->workload == RIG_WORKLOAD_PREDICATE)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.certificate: rig does not read rows of the workload predicate from the binary log; use "
            "certificate: none");
    if (galera || options->sql.nodes > 1 || options->sql.hosts.count > 1 || options->sql.read_only_hosts.count > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: a certificate has the commits of one server; give one host or node, or "
                        "use certificate: none");
    if (options->sql.row_padding_bytes > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: rig reads key and value from the binary log; leave out "
                        "database.row-padding, or use certificate: none");
    if (options->sql.two_phase > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: the binary log has the changes of a prepared transaction before its "
                        "commit; leave out database.two-phase, or use certificate: none");
    if (full && options->sql.isolation != RIG_SQL_SERIALIZABLE)
        return rig_fail(
            err, RIG_E_PLAN,
            "database.certificate: full needs isolation: serializable, where locks keep what was read: below "
            "it MariaDB does not show which commits a read saw; use certificate: stream");
    if (full && rig_my_pipelines(options))
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: full asks for a place before and after COMMIT; give database.pipeline: "
                        "false, or use certificate: stream");
    if (rig_my_schema_has_element_rows(schema))
        return rig_fail(err, RIG_E_PLAN,
                        "database.certificate: a certificate needs lists that are texts, not a row for each element");
    return RIG_OK;
}

static void take_place(void *context, const char *const *values, uint32_t count)
{
    struct rig_my_certificate *place = context;
    if (count < 2 || values[0] == NULL || values[1] == NULL)
        return;
    (void)snprintf(place->file, sizeof place->file, "%s", values[0]);
    place->position = strtoull(values[1], NULL, 10);
}

static enum rig_rc find_place(struct rig_my_connection *connection, int64_t deadline_ns,
                              struct rig_my_certificate *place, struct rig_err *err)
{
    *place = (struct rig_my_certificate){.position = 0};
    enum rig_rc rc = rig_my_query_rows(connection, "SHOW MASTER STATUS", deadline_ns, take_place, place, err);
    if (rc == RIG_OK && place->position == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "the server shows no place in its binary log");
    return rc;
}

enum rig_rc rig_my_certificate_begin(struct rig_my_certificate *certificate, struct rig_my_connection *connection,
                                     int64_t deadline_ns, struct rig_err *err)
{
    static const char sql[] =
        "SELECT CONCAT_WS(' ', IF(@@log_bin, 'ON', 'OFF'), @@binlog_format, @@binlog_row_image, @@sync_binlog)";
    char answer[RIG_MY_ANSWER_BYTES];
    enum rig_rc rc = rig_my_query(connection, sql, deadline_ns, answer, err);
    if (rc == RIG_OK && strcmp(answer, "ON ROW FULL 1") != 0)
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "database.certificate: the server has log_bin, binlog_format, binlog_row_image and sync_binlog = "
                      "%.60s; set them to ON, ROW, FULL and 1, or use certificate: none",
                      answer);
    return rc == RIG_OK ? find_place(connection, deadline_ns, certificate, err) : rc;
}

/* ---- draining ---- */

/* Waits for sessions of the run's user, whose transactions may still commit, and for prepared transactions. */
static enum rig_rc wait_for_others(const struct rig_run_env *env, struct rig_my_connection *connection, long *left,
                                   struct rig_err *err)
{
    static const char sql[] = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND "
                              "USER = SUBSTRING_INDEX(USER(), '@', 1)";
    const int64_t until_ns = env->core->now_ns() + wait_ns;
    char answer[RIG_MY_ANSWER_BYTES];
    enum rig_rc rc;
    while ((rc = rig_my_query(connection, sql, until_ns + wait_ns, answer, err)) == RIG_OK &&
           (*left = strtol(answer, NULL, 10)) > 0 && env->core->now_ns() < until_ns)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + pause_ns);
    return rc;
}

/* All events from the place on to the end of the last file. */
static enum rig_rc take_all(const struct rig_my_certificate *from, MARIADB_RPL *rpl, struct rig_my_binlog *binlog,
                            struct rig_err *err)
{
    MARIADB_RPL_EVENT *event = NULL;
    enum rig_rc rc = RIG_OK;
    if (mariadb_rpl_optionsv(rpl, MARIADB_RPL_FILENAME, from->file, strlen(from->file)) != 0 ||
        mariadb_rpl_optionsv(rpl, MARIADB_RPL_START, (unsigned long)from->position) != 0 ||
        mariadb_rpl_optionsv(rpl, MARIADB_RPL_SERVER_ID, 0U) != 0 ||
        mariadb_rpl_optionsv(rpl, MARIADB_RPL_FLAGS, (unsigned)MARIADB_RPL_BINLOG_DUMP_NON_BLOCK) != 0 ||
        mariadb_rpl_open(rpl) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "the binary log cannot be read: %.300s", mariadb_rpl_error(rpl));
    while (rc == RIG_OK && (event = mariadb_rpl_fetch(rpl, event)) != NULL)
        rc = rig_my_binlog_take(binlog, event, err);
    if (rc == RIG_OK && mariadb_rpl_errno(rpl) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "the binary log cannot be read on: %.300s", mariadb_rpl_error(rpl));
    mariadb_free_rpl_event(event);
    return rc;
}

static enum rig_rc read_log(const struct rig_my_certificate *from, const struct rig_my_certificate *to,
                            struct rig_my_connection *connection, struct rig_my_binlog *binlog, struct rig_err *err)
{
    MARIADB_RPL *rpl = mariadb_rpl_init(connection->my);
    if (rpl == NULL)
        return rig_no_memory(err, "the certificate");
    enum rig_rc rc = take_all(from, rpl, binlog, err);
    const uint64_t last = my_binlog_number(to->file);
    if (rc == RIG_OK && (binlog->file < last || (binlog->file == last && binlog->read_to < to->position)))
        rc = rig_fail(err, RIG_E_CLUSTER,
                      "the binary log was read up to position %" PRIu64 " of file %" PRIu64 ", not to %" PRIu64
                      " of %" PRIu64,
                      binlog->read_to, binlog->file, to->position, last);
    mariadb_rpl_close(rpl);
    return rc;
}

enum rig_rc rig_my_certificate_drain(const struct rig_my_certificate *certificate, struct rig_my_views *views,
                                     const struct rig_my_schema *schema, const struct rig_run_env *env,
                                     struct rig_my_connection *connection, const struct rig_certificate_sink *sink,
                                     struct rig_err *err)
{
    /* The library expects the server's own checksums; with MariaDB's own events (4: global transaction ids). */
    static const char capable[] =
        "SET @master_binlog_checksum = @@global.binlog_checksum, @mariadb_slave_capability = 4";
    struct rig_my_certificate end;
    struct rig_my_binlog binlog;
    char ending[128] = "";
    long left = 0;
    rig_my_binlog_init(&binlog, sink, schema->place.database, schema->place.stem,
                       rig_workload_has_sequences(schema->workload), certificate->file);
    enum rig_rc rc = wait_for_others(env, connection, &left, err);
    if (rc == RIG_OK)
        rc = find_place(connection, env->core->now_ns() + query_ns, &end, err);
    if (rc == RIG_OK)
        rc = rig_my_query(connection, capable, env->core->now_ns() + query_ns, NULL, err);
    if (rc == RIG_OK)
        rc = read_log(certificate, &end, connection, &binlog, err);
    if (rc == RIG_OK)
        rc = rig_my_views_give(views, sink, err);
    if (left > 0)
        (void)snprintf(ending, sizeof ending, "%ld sessions of the run's user were left on the server", left);
    if (rc == RIG_OK)
        sink->end(sink->context, left == 0, ending);
    rig_my_binlog_done(&binlog);
    return rc;
}
