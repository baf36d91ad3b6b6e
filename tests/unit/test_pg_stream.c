/* Messages of pgoutput: those of the tables of a run are handed over, all others are refused. */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "drivers/postgres/pg_stream.h"
#include "tests/unit/certificate_words.h"

static bool take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    (void)context;
    rig_buf_printf(&taken, "commit %llu %llu %u;", (unsigned long long)place, (unsigned long long)id, timeline);
    return true;
}

static const struct rig_certificate_sink sink = {.commit = take_commit, .version = take_version};

struct bytes {
    const char *at;
    size_t size;
};
#define BYTES(text)                                                                                                    \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }

#define RELATION(first, second)                                                                                        \
    "R\0\0\0\7s\0t\0d\0\2\1" first "\0\0\0\0\x14\xff\xff\xff\xff\0" second "\0\0\0\0\x19\xff\xff\xff\xff"
static const struct bytes relation = BYTES(RELATION("k", "v"));
static const struct bytes begin_5 = BYTES("B\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0\0\0\2\xbc");
static const struct bytes begin_6 = BYTES("B\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\0\0\0\2\xbd");
static const struct bytes insert = BYTES("I\0\0\0\7N\0\2t\0\0\0\1"
                                         "3t\0\0\0\1"
                                         "1");
static const struct bytes update = BYTES("U\0\0\0\7N\0\2t\0\0\0\1"
                                         "3t\0\0\0\3"
                                         "1,2");
static const struct bytes removal = BYTES("D\0\0\0\7K\0\2t\0\0\0\1"
                                          "3n");
static const struct bytes commit = BYTES("C\0\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\0");

static enum rig_rc give(struct rig_pg_stream *stream, struct bytes message)
{
    struct rig_err err = {0};
    const enum rig_rc rc = rig_pg_stream_take(stream, (const uint8_t *)message.at, message.size, &err);
    assert_true((rc == RIG_OK) == (err.text[0] == '\0'));
    return rc;
}

static void begin(struct rig_pg_stream *stream)
{
    rig_buf_init(&taken, 4096);
    rig_pg_stream_init(stream, &sink);
    stream->is_list = true;
    stream->timeline = 1;
}

static void end(struct rig_pg_stream *stream)
{
    rig_pg_stream_done(stream);
    rig_buf_done(&taken);
}

static void commits_are_handed_over(void **state)
{
    (void)state;
    struct rig_pg_stream stream;
    begin(&stream);
    const struct bytes messages[] = {begin_5, relation, insert,  update,  commit,
                                     begin_6, commit,   begin_6, removal, commit};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        assert_int_equal(give(&stream, messages[i]), RIG_OK);
    assert_string_equal(rig_buf_text(&taken), "commit 5 700 1; 3=1; 3=1,2;commit 6 701 1; 3=removed;");
    end(&stream);
}

/* A slot may give the same again after the server crashed. */
static void repeated_commits_are_skipped(void **state)
{
    (void)state;
    struct rig_pg_stream stream;
    begin(&stream);
    const struct bytes messages[] = {begin_5, relation, insert, commit, begin_5, relation, insert, commit};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        assert_int_equal(give(&stream, messages[i]), RIG_OK);
    assert_string_equal(rig_buf_text(&taken), "commit 5 700 1; 3=1;");
    end(&stream);
}

static void other_messages_are_refused(void **state)
{
    (void)state;
    static const struct bytes bad[] = {
        BYTES(""),
        BYTES("Q"),
        BYTES("T\0\0\0\1\0\0\0\0\7"),
        BYTES(RELATION("a", "v")),
        BYTES(RELATION("k", "w")),
        BYTES("I\0\0\0\x8N\0\2t\0\0\0\1"
              "3t\0\0\0\1"
              "1"), /* another table */
        BYTES("I\0\0\0\7N\0\2nt\0\0\0\1"
              "1"), /* no key */
        BYTES("I\0\0\0\7N\0\2t\0\0\0\1"
              "3u"), /* a value that was not sent */
        BYTES("I\0\0\0\7N\0\2t\0\0\0\1"
              "3t\0\0\0\1"
              "x"), /* no number */
        BYTES("I\0\0\0\7N\0\2t\0\0\0\1"
              "3t\xff\xff\xff\xff"
              "1"), /* a length beyond the message */
        BYTES("D\0\0\0\7N\0\2t\0\0\0\1"
              "3n"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rig_pg_stream stream;
        begin(&stream);
        assert_int_equal(give(&stream, begin_5), RIG_OK);
        assert_int_equal(give(&stream, relation), RIG_OK);
        assert_int_equal(give(&stream, bad[i]), RIG_E_CLUSTER);
        assert_string_equal(rig_buf_text(&taken), "");
        end(&stream);
    }
}

static void cut_messages_are_refused(void **state)
{
    (void)state;
    const struct bytes whole[] = {begin_5, relation, insert, update, removal};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        for (size_t size = 0; size < whole[i].size; size++) {
            struct rig_pg_stream stream;
            char *copy = malloc(size + 1); /* so that a sanitizer sees a read beyond it */
            assert_non_null(copy);
            memcpy(copy, whole[i].at, size);
            begin(&stream);
            assert_int_equal(give(&stream, begin_5), RIG_OK);
            assert_int_equal(give(&stream, relation), RIG_OK);
            assert_int_equal(give(&stream, (struct bytes){copy, size}), RIG_E_CLUSTER);
            end(&stream);
            free(copy);
        }
    }
}

/* Tables of rows: a change is a row's id and version; a removal has the id alone, or the whole row where no key names
 * it. */
static void rows_are_handed_over(void **state)
{
    (void)state;
    static const struct bytes rows =
        BYTES("R\0\0\0\7s\0t\0d\0\4\1k\0\0\0\0\x14\xff\xff\xff\xff\1id\0\0\0\0\x14\xff\xff\xff\xff"
              "\0v\0\0\0\0\x14\xff\xff\xff\xff\0c\0\0\0\0\x14\xff\xff\xff\xff");
    static const struct bytes inserted = BYTES("I\0\0\0\7N\0\4t\0\0\0\1"
                                               "3t\0\0\0\4"
                                               "1010t\0\0\0\4"
                                               "1010t\0\0\0\1"
                                               "1");
    static const struct bytes updated = BYTES("U\0\0\0\7O\0\4t\0\0\0\1"
                                              "3t\0\0\0\4"
                                              "1010t\0\0\0\4"
                                              "1010nN\0\4t\0\0\0\1"
                                              "3t\0\0\0\4"
                                              "1010t\0\0\0\4"
                                              "2021n");
    static const struct bytes removed = BYTES("D\0\0\0\7K\0\4t\0\0\0\1"
                                              "3t\0\0\0\4"
                                              "1010nn");
    static const struct bytes without_id = BYTES("I\0\0\0\7N\0\4t\0\0\0\1"
                                                 "3nt\0\0\0\4"
                                                 "1010n");
    static const struct bytes without_version = BYTES("I\0\0\0\7N\0\4t\0\0\0\1"
                                                      "3t\0\0\0\4"
                                                      "1010nn");
    struct rig_pg_stream stream;
    begin(&stream);
    stream.is_rows = true;
    const struct bytes messages[] = {begin_5, rows, inserted, updated, removed, commit};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        assert_int_equal(give(&stream, messages[i]), RIG_OK);
    assert_string_equal(rig_buf_text(&taken), "commit 5 700 1; 3=1010,1010; 3=1010,2021; 3=1010,0;");
    assert_int_equal(give(&stream, begin_6), RIG_OK);
    assert_int_equal(give(&stream, without_id), RIG_E_CLUSTER);
    assert_int_equal(give(&stream, without_version), RIG_E_CLUSTER);
    assert_int_equal(give(&stream, relation), RIG_E_CLUSTER); /* a table of another type */
    end(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_handed_over),         cmocka_unit_test(commits_are_handed_over),
        cmocka_unit_test(repeated_commits_are_skipped), cmocka_unit_test(other_messages_are_refused),
        cmocka_unit_test(cut_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
