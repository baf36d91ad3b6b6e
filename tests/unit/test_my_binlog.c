/* Events of a binary log: those of the tables of a run are handed over, all others are refused or not the run's. */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "drivers/mysql/my_certificate.h"
#include "drivers/mysql/my_view.h"
#include "tests/unit/certificate_words.h"

static bool take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    (void)context;
    rig_buf_printf(&taken, "commit %llu/%llu %llu %u;", (unsigned long long)(place >> 32),
                   (unsigned long long)(place & UINT32_MAX), (unsigned long long)id, timeline);
    return true;
}

static const struct rig_certificate_sink sink = {.commit = take_commit, .version = take_version};

static MARIADB_STRING text_of(const char *text, size_t length)
{
    return (MARIADB_STRING){.str = (char *)(uintptr_t)text, .length = length};
}

static MARIADB_STRING text(const char *of)
{
    return text_of(of, strlen(of));
}

static MARIADB_RPL_EVENT format(void)
{
    return (MARIADB_RPL_EVENT){.event_type = FORMAT_DESCRIPTION_EVENT, .next_event_pos = 256};
}

static MARIADB_RPL_EVENT gtid(unsigned end, uint64_t number)
{
    MARIADB_RPL_EVENT event = {.event_type = GTID_EVENT, .next_event_pos = end};
    event.event.gtid.sequence_nr = number;
    return event;
}

static MARIADB_RPL_EVENT query(const char *statement)
{
    MARIADB_RPL_EVENT event = {.event_type = QUERY_EVENT};
    event.event.query.database = text("run");
    event.event.query.statement = text(statement);
    return event;
}

/* A table of the run with these columns: 8 a bigint, 252 a text with 4 bytes of length. */
static MARIADB_RPL_EVENT table(uint64_t id, const char *types, uint32_t columns)
{
    MARIADB_RPL_EVENT event = {.event_type = TABLE_MAP_EVENT};
    struct st_mariadb_rpl_table_map_event *map = &event.event.table_map;
    map->table_id = id;
    map->database = text("run");
    map->table = text("rig_list_0");
    map->column_count = columns;
    map->column_types = text_of(types, strlen(types));
    map->metadata = text_of("\4", strchr(types, '\xfc') != NULL ? 1 : 0);
    return event;
}

static unsigned char all[] = {0xff}, some[] = {0x01};

static MARIADB_RPL_EVENT rows(enum mariadb_row_event_type type, uint64_t id, const char *data, size_t size)
{
    MARIADB_RPL_EVENT event = {.event_type = type == UPDATE_ROWS   ? UPDATE_ROWS_EVENT_V1
                                             : type == DELETE_ROWS ? DELETE_ROWS_EVENT_V1
                                                                   : WRITE_ROWS_EVENT_V1};
    event.event.rows.type = type;
    event.event.rows.table_id = id;
    event.event.rows.column_count = 2;
    event.event.rows.column_bitmap = event.event.rows.column_update_bitmap = all;
    event.event.rows.row_data = (void *)(uintptr_t)data;
    event.event.rows.row_data_size = size;
    return event;
}
#define ROWS(type, id, data) rows(type, id, data, sizeof(data) - 1)

#define KEY_3 "\0\3\0\0\0\0\0\0\0"
#define KEY_4 "\0\4\0\0\0\0\0\0\0"
#define LIST_1                                                                                                         \
    KEY_3 "\1\0\0\0"                                                                                                   \
          "1"
#define LIST_12                                                                                                        \
    KEY_3 "\3\0\0\0"                                                                                                   \
          "1,2"

static enum rig_rc give(struct rig_my_binlog *binlog, MARIADB_RPL_EVENT event)
{
    struct rig_err err = {0};
    const enum rig_rc rc = rig_my_binlog_take(binlog, &event, &err);
    assert_true((rc == RIG_OK) == (err.text[0] == '\0'));
    assert_true(rc == RIG_OK || (rc == RIG_E_CLUSTER && strstr(err.text, "the binary log has ") != NULL));
    return rc;
}

static void begin(struct rig_my_binlog *binlog, bool is_list)
{
    rig_buf_init(&taken, 4096);
    rig_my_binlog_init(binlog, &sink, "run", "rig_list_", is_list, "binlog.000012");
    assert_int_equal(give(binlog, format()), RIG_OK);
    assert_int_equal(give(binlog, gtid(400, 7)), RIG_OK);
    assert_int_equal(give(binlog, table(31, is_list ? "\x08\xfc" : "\x08\x08", 2)), RIG_OK);
}

static void end(struct rig_my_binlog *binlog)
{
    rig_my_binlog_done(binlog);
    rig_buf_done(&taken);
}

static void commits_are_handed_over(void **state)
{
    (void)state;
    struct rig_my_binlog binlog;
    begin(&binlog, true);
    assert_int_equal(give(&binlog, ROWS(WRITE_ROWS, 31, LIST_1)), RIG_OK);
    assert_int_equal(give(&binlog, ROWS(UPDATE_ROWS, 31, LIST_1 LIST_12)), RIG_OK);
    assert_int_equal(give(&binlog, query("COMMIT")), RIG_OK);
    assert_int_equal(give(&binlog, format()), RIG_OK); /* the next file */
    assert_int_equal(give(&binlog, gtid(300, 8)), RIG_OK);
    assert_int_equal(give(&binlog, table(32, "\x08\xfc", 2)), RIG_OK);
    assert_int_equal(give(&binlog, ROWS(DELETE_ROWS, 32, LIST_12)), RIG_OK);
    assert_string_equal(rig_buf_text(&taken), "commit 12/400 7 0; 3=1; 3=1,2;commit 13/300 8 0; 3=removed;");
    end(&binlog);
    begin(&binlog, false);
    assert_int_equal(give(&binlog, ROWS(WRITE_ROWS, 31, KEY_3 "\xfe\xff\xff\xff\xff\xff\xff\xff")), RIG_OK);
    assert_string_equal(rig_buf_text(&taken), "commit 12/400 7 0; 3=-2;");
    end(&binlog);
}

static void other_tables_are_ignored(void **state)
{
    (void)state;
    struct rig_my_binlog binlog;
    MARIADB_RPL_EVENT other = table(40, "\x0f", 1), named = table(41, "\x0f", 1);
    other.event.table_map.database = text("runs");
    named.event.table_map.table = text("rig_lis");
    begin(&binlog, true);
    assert_int_equal(give(&binlog, other), RIG_OK);
    assert_int_equal(give(&binlog, named), RIG_OK);
    assert_int_equal(give(&binlog, ROWS(WRITE_ROWS, 40, "\0")), RIG_OK);
    assert_int_equal(give(&binlog, query("DROP TABLE other")), RIG_OK); /* there are no rows of the run yet */
    assert_int_equal(taken.size, 0);
    end(&binlog);
}

static void malformed_events_are_refused(void **state)
{
    (void)state;
    MARIADB_RPL_EVENT compressed = ROWS(WRITE_ROWS, 31, LIST_1), partial = ROWS(WRITE_ROWS, 31, LIST_1);
    MARIADB_RPL_EVENT wider = ROWS(WRITE_ROWS, 31, LIST_1), half = ROWS(UPDATE_ROWS, 31, LIST_1 LIST_12);
    MARIADB_RPL_EVENT bare = table(50, "\x08\xfc", 2), short_types = table(50, "\x08", 2);
    compressed.event.rows.compressed = 1;
    partial.event.rows.column_bitmap = some;
    wider.event.rows.column_count = 3;
    half.event.rows.column_update_bitmap = some;
    bare.event.table_map.metadata = text_of("", 0);
    const MARIADB_RPL_EVENT bad[] = {
        compressed,
        partial,
        wider,
        half,
        bare,
        short_types,
        table(50, "\x08", 1),
        table(50, "\x08\x08\x08\x08", 4),
        table(50, "\x08\x0f", 2),
        table(50, "\xfc\x08", 2),
        ROWS(WRITE_ROWS, 31, "\0"),
        ROWS(WRITE_ROWS, 31, KEY_3),
        ROWS(WRITE_ROWS, 31, KEY_3 "\1\0\0"),
        ROWS(WRITE_ROWS, 31,
             KEY_3 "\2\0\0\0"
                   "1"),
        ROWS(WRITE_ROWS, 31,
             KEY_3 "\xff\xff\xff\xff"
                   "1"),
        ROWS(WRITE_ROWS, 31, "\2\3\0\0\0\0\0\0\0"),
        ROWS(WRITE_ROWS, 31,
             KEY_3 "\1\0\0\0"
                   "x"),
        ROWS(WRITE_ROWS, 31,
             KEY_3 "\2\0\0\0"
                   "1,"),
        ROWS(WRITE_ROWS, 31, LIST_1 "\0"),
        ROWS(UPDATE_ROWS, 31, LIST_1),
        ROWS(UPDATE_ROWS, 31,
             LIST_1 KEY_4 "\1\0\0\0"
                          "1"),
        (MARIADB_RPL_EVENT){.event_type = INCIDENT_EVENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rig_my_binlog binlog;
        begin(&binlog, true);
        if (give(&binlog, bad[i]) != RIG_E_CLUSTER)
            fail_msg("event %zu was taken: %s", i, rig_buf_text(&taken));
        end(&binlog);
    }
    struct rig_my_binlog binlog;
    begin(&binlog, true);
    assert_int_equal(give(&binlog, ROWS(WRITE_ROWS, 31, LIST_1)), RIG_OK);
    assert_int_equal(give(&binlog, query("TRUNCATE rig_list_0")), RIG_E_CLUSTER);
    end(&binlog);
    begin(&binlog, false); /* a text where registers have numbers, and the other way round */
    assert_int_equal(give(&binlog, table(60, "\x08\xfc", 2)), RIG_OK);
    assert_int_equal(give(&binlog, ROWS(WRITE_ROWS, 60, LIST_1)), RIG_E_CLUSTER);
    end(&binlog);
    begin(&binlog, true);
    assert_int_equal(give(&binlog, table(60, "\x08\x08", 2)), RIG_OK);
    assert_int_equal(give(&binlog, ROWS(WRITE_ROWS, 60, KEY_3 "\1\0\0\0\0\0\0\0")), RIG_E_CLUSTER);
    end(&binlog);
}

/* Rows of random bytes, each in memory of its own size: the sanitizers see any read behind them. */
static void damaged_rows_are_read_within_their_bytes(void **state)
{
    (void)state;
    static const char whole[] = LIST_1 LIST_12 LIST_12;
    const uint64_t seed = rig_rng_fresh_seed();
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    for (unsigned turn = 0; turn < 20000; turn++) {
        const size_t size = (size_t)rig_rng_below(&rng, sizeof whole);
        char *data = malloc(size == 0 ? 1 : size);
        struct rig_my_binlog binlog;
        assert_non_null(data);
        memcpy(data, whole, size);
        for (uint64_t times = rig_rng_below(&rng, 4); times > 0 && size > 0; times--)
            data[rig_rng_below(&rng, size)] ^= (char)(1U << rig_rng_below(&rng, 7));
        begin(&binlog, true);
        (void)give(&binlog, rows(turn % 2 == 0 ? UPDATE_ROWS : WRITE_ROWS, 31, data, size));
        end(&binlog);
        free(data);
    }
}

static void numbers_of_one_domain_are_read(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "0-1", "0-1-", "1-1-5", "0-1-5,1-1-6", "0-1-5-6", "0-1-1234567890123456789",
                                        "x"};
    uint64_t number = 0;
    assert_true(rig_my_gtid_parse("0-1-17", 6, &number) && number == 17);
    assert_true(rig_my_gtid_parse("0-21-123456789012345678,", 23, &number) && number == UINT64_C(123456789012345678));
    for (size_t at = 0; at < sizeof wrong / sizeof wrong[0]; at++)
        assert_false(rig_my_gtid_parse(wrong[at], strlen(wrong[at]), &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_one_domain_are_read),
        cmocka_unit_test(commits_are_handed_over),
        cmocka_unit_test(other_tables_are_ignored),
        cmocka_unit_test(malformed_events_are_refused),
        cmocka_unit_test(damaged_rows_are_read_within_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
