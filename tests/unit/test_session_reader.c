#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "base/rng.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "history/model/window.h"
#include "tests/history/history_model.h"

/*
 * The histories of solver-based checkers, each compared with the same operations as JSON lines: completions only, in
 * the order in which the file names the transactions.
 */

static struct rig_history *parse(const char *name, const void *data, size_t size)
{
    struct rig_load_options options = {0};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_parse(name, data, size, &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void assert_is(struct rig_history *got, const char *lines)
{
    struct rig_history *wanted = parse("wanted.jsonl", lines, strlen(lines));
    assert_int_equal(got->workload, RIG_WORKLOAD_RW_REGISTER);
    assert_int_equal(got->skipped_count + got->lost_count, 0);
    assert_same_history(got, wanted);
    rig_history_free(got);
    rig_history_free(wanted);
}

static void assert_text_is(const char *text, const char *lines)
{
    assert_is(parse("text", text, strlen(text)), lines);
}

/* ---- Plume and PolySI ---- */

static void plume_lines(void **state)
{
    (void)state;
    assert_text_is("w(0,1,1,1)\nw(0,2,1,1)\nr(0,2,2,8)\nw(5,18446744073709551615,2,8)\n",
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",0,1],[\"w\",0,2]]}\n"
                   "{\"type\":\"ok\",\"process\":2,\"value\":[[\"r\",0,2],[\"w\",5,-1]]}\n");
    assert_text_is("\n\r\nr(3,4,0,0)\r\nw(3,4,0,1)", "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",3,4]]}\n"
                                                     "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",3,4]]}\n");
}

/* The lines of a transaction need not be together; transactions of two sessions may have the same number. */
static void plume_transactions_are_gathered(void **state)
{
    (void)state;
    assert_text_is("w(0,1,1,1)\nw(0,2,2,1)\nr(1,3,1,1)\nw(1,3,1,2)\nw(1,4,2,1)\nr(0,2,1,1)\n",
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",0,1],[\"r\",1,3],[\"r\",0,2]]}\n"
                   "{\"type\":\"ok\",\"process\":2,\"value\":[[\"w\",0,2],[\"w\",1,4]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",1,3]]}\n");
}

/* 0 is the initial state, except of a key to which a transaction that committed writes 0. */
static void plume_initial_state(void **state)
{
    (void)state;
    assert_text_is("r(0,0,0,0)\nr(1,0,0,0)\nw(1,0,1,1)\nw(0,0,1,-1)\n",
                   "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",0,null],[\"r\",1,0]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",1,0]]}\n"
                   "{\"type\":\"fail\",\"process\":1,\"value\":[[\"w\",0,0]]}\n");
}

/* The transaction -1 is all that were aborted; each of their writes stands for itself, and their reads say nothing. */
static void plume_aborted(void **state)
{
    (void)state;
    assert_text_is("w(0,1,4,-1)\nr(0,7,4,-1)\nw(0,2,4,-1)\nr(0,2,5,0)\n",
                   "{\"type\":\"fail\",\"process\":4,\"value\":[[\"w\",0,1]]}\n"
                   "{\"type\":\"fail\",\"process\":4,\"value\":[[\"w\",0,2]]}\n"
                   "{\"type\":\"ok\",\"process\":5,\"value\":[[\"r\",0,2]]}\n");
}

/* ---- AWDIT's tests ---- */

static void awdit_rules_end_transactions_and_sessions(void **state)
{
    (void)state;
    assert_text_is("w 0 0\nw 1 0\n=====\n\nw 0 1\n-----\nr 0  1\nr 1 0\n===\n===\nr 2 0",
                   "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",0,0],[\"w\",1,0]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",0,1]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",0,1],[\"r\",1,0]]}\n"
                   "{\"type\":\"ok\",\"process\":3,\"value\":[[\"r\",2,null]]}\n");
    assert_text_is("---\n=\nw 2 1\n", "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",2,1]]}\n");
}

/* ---- dbcop ---- */

static void dbcop_text(void **state)
{
    (void)state;
    assert_text_is("// first\n[x:=1 y_2==?] [x==1]!\n\n--\n// second\n[y_2:=0][ x==1 ]\n[]",
                   "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",\"x\",1],[\"r\",\"y_2\",null]]}\n"
                   "{\"type\":\"fail\",\"process\":0,\"value\":[[\"r\",\"x\",1]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",\"y_2\",0]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",\"x\",1]]}\n"
                   "{\"type\":\"ok\",\"process\":1,\"value\":[]}\n");
}

/* Both ways of writing an event; 0 is a version like any other. */
static void dbcop_json(void **state)
{
    (void)state;
    static const char lines[] = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",3,0],[\"r\",1,null]]}\n"
                                "{\"type\":\"fail\",\"process\":1,\"value\":[[\"r\",3,0]]}\n";
    assert_text_is("[[{\"events\":[[\"w\",3,0],[\"r\",1,null]],\"committed\":true}],\n"
                   " [{\"committed\":false,\"events\":[[\"r\",3,0]]}]]\n",
                   lines);
    assert_text_is(
        " {\"params\": {\"id\": [0, {}]}, \"info\": \"\\\"\", \"data\": [[ {\"events\": [\n"
        "{\"Write\": {\"variable\": 3, \"version\": 0}}, {\"Read\": {\"version\": null, \"variable\": 1}}],\n"
        "\"committed\": true}], [{\"events\": [{\"Read\": {\"variable\": 3, \"version\": 0}}], \"committed\": "
        "false}]],\n"
        "\"end\": null}",
        lines);
}

static void put_little(struct rig_buf *buf, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++, number >>= 8)
        rig_buf_add_char(buf, (char)(unsigned char)number);
}

static void put_text(struct rig_buf *buf, const char *text)
{
    put_little(buf, strlen(text));
    rig_buf_add_text(buf, text);
}

static void put_event(struct rig_buf *buf, bool writes, uint64_t key, uint64_t value, bool succeeded)
{
    rig_buf_add_char(buf, (char)writes);
    put_little(buf, key);
    put_little(buf, value);
    rig_buf_add_char(buf, (char)succeeded);
}

/* A read without success has no result; a write without success is of unknown outcome, also within a transaction that
 * committed. */
static void dbcop_binary(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (unsigned i = 0; i < 5; i++)
        put_little(&buf, 7);
    put_text(&buf, "");
    put_text(&buf, "2021-09-23T20:15:40.123456789+02:00");
    put_text(&buf, "2021-09-23T20:15:41+02:00");
    put_little(&buf, 2);
    put_little(&buf, 2);
    put_little(&buf, 4);
    put_event(&buf, true, 3, 1, true);
    put_event(&buf, false, 4, 0, true);
    put_event(&buf, false, 5, 0, false);
    put_event(&buf, true, 5, 2, false);
    rig_buf_add_char(&buf, 1);
    put_little(&buf, 1);
    put_event(&buf, false, 3, 9, false);
    rig_buf_add_char(&buf, 0);
    put_little(&buf, 1);
    put_little(&buf, 0);
    rig_buf_add_char(&buf, 1);
    struct rig_history *history = parse("history.bincode", buf.data, buf.size);
    assert_int_equal(rig_txn_ops(history, 2)[0].read_state, RIG_READ_UNKNOWN);
    assert_is(history, "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",3,1],[\"r\",4,null]]}\n"
                       "{\"type\":\"info\",\"process\":2,\"value\":[[\"w\",5,2]]}\n"
                       "{\"type\":\"info\",\"process\":3,\"value\":[[\"r\",3,null]]}\n"
                       "{\"type\":\"ok\",\"process\":1,\"value\":[]}\n");
    rig_buf_done(&buf);
}

/* ---- Cobra ---- */

static void put_big(struct rig_buf *buf, uint64_t number)
{
    for (unsigned i = 8; i-- > 0;)
        rig_buf_add_char(buf, (char)(unsigned char)(number >> (8 * i)));
}

static void put_mark(struct rig_buf *buf, char type, uint64_t txn)
{
    rig_buf_add_char(buf, type);
    put_big(buf, txn);
}

static void put_write(struct rig_buf *buf, uint64_t write, uint64_t key)
{
    put_mark(buf, 'W', write);
    put_big(buf, key);
    put_big(buf, 0xfeed); /* the value's hash */
}

static void put_read(struct rig_buf *buf, uint64_t txn, uint64_t write, uint64_t key)
{
    put_mark(buf, 'R', txn);
    put_big(buf, write);
    put_big(buf, key);
    put_big(buf, 0);
}

static void save_log(const char *folder, const char *name, struct rig_buf *buf)
{
    char path[128];
    struct rig_err err = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(rig_output_save(buf, path, &err), RIG_OK);
    rig_buf_clear(buf);
}

static struct rig_history *load_folder(const char *folder)
{
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_load(folder, &(struct rig_load_options){0}, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

/*
 * T2 before T10. A write without a log is of a transaction whose outcome its client does not know: one a transaction.
 * A deleted key reads as absent like one that never was, so such a read says nothing.
 */
static void cobra_folder(void **state)
{
    (void)state;
    static const uint64_t initial = 0xbebeebee, absent = 0xdeadbeef, removal = 0xabcdefab;
    char folder[] = "/tmp/rig-test-cobra-XXXXXX";
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    assert_non_null(mkdtemp(folder));
    put_mark(&buf, 'S', 0x8123456789abcdef);
    put_read(&buf, initial, initial, 1);
    put_read(&buf, absent, absent, 2);
    put_read(&buf, 70, 700, 1);
    put_read(&buf, 70, 701, 2);
    put_read(&buf, 71, 710, 2);
    put_mark(&buf, 'C', 0x8123456789abcdef);
    save_log(folder, "T10.log", &buf);
    put_mark(&buf, 'S', 5);
    put_write(&buf, 9, 1);
    put_write(&buf, removal, 3);
    put_mark(&buf, 'C', 5);
    put_mark(&buf, 'S', 6);
    put_read(&buf, 5, 9, 1);
    put_read(&buf, absent, absent, 3);
    put_mark(&buf, 'C', 6);
    save_log(folder, "T2.log", &buf);
    save_log(folder, "T3.log", &buf);
    rig_buf_add_text(&buf, "no log of a client");
    save_log(folder, "T2.debug", &buf);
    assert_is(load_folder(folder),
              "{\"type\":\"ok\",\"process\":2,\"value\":[[\"w\",1,9],[\"w\",3,-9223372036854775807]]}\n"
              "{\"type\":\"ok\",\"process\":2,\"value\":[[\"r\",1,9]]}\n"
              "{\"type\":\"ok\",\"process\":10,\"value\":[[\"r\",1,null],[\"r\",2,null],[\"r\",1,700],"
              "[\"r\",2,701],[\"r\",2,710]]}\n"
              "{\"type\":\"info\",\"process\":11,\"value\":[[\"w\",1,700],[\"w\",2,701]]}\n"
              "{\"type\":\"info\",\"process\":12,\"value\":[[\"w\",2,710]]}\n");
    rig_buf_done(&buf);
    rig_folder_remove(folder);
}

/* ---- large histories, writing, and limits ---- */

enum { LARGE_TXNS = 100000 };

/* Values are unique; a third of the reads meets the initial state. Numbers are from 0 on. */
static struct rig_history *make_large(struct rig_rng *rng)
{
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_RW_REGISTER, 0);
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    for (uint32_t txn = 0; txn < LARGE_TXNS; txn++) {
        struct rig_op ops[3];
        struct rig_read reads[3] = {{0}};
        for (unsigned i = 0; i < 3; i++) {
            const bool is_read = rig_rng_below(rng, 2) == 0;
            ops[i] = (struct rig_op){.kind = is_read ? RIG_OP_READ_REGISTER : RIG_OP_WRITE,
                                     .key = (int64_t)rig_rng_below(rng, 5000),
                                     .value = is_read ? 0 : (int64_t)txn * 3 + i + 1};
            if (is_read && rig_rng_below(rng, 3) == 0)
                reads[i].state = RIG_READ_NIL;
            else if (is_read)
                reads[i] = (struct rig_read){.state = RIG_READ_SEEN, .value = (int64_t)rig_rng_below(rng, 999999) + 1};
        }
        const struct rig_txn_input input = {
            .invoke_ns = RIG_NO_TIME,
            .complete_ns = RIG_NO_TIME,
            .invoke_at = RIG_POSITION_NONE,
            .complete_at = txn,
            .process = txn / (LARGE_TXNS / 20),
            .ops = ops,
            .reads = reads,
            .op_count = 3,
        };
        assert_int_equal(rig_history_builder_add(builder, &input, &err), RIG_OK);
    }
    assert_int_equal(rig_history_builder_finish(builder, &history, &err), RIG_OK);
    return history;
}

/* All parts, again after half of them. */
static struct rig_history *read_again(const char *path, unsigned threads)
{
    const struct rig_source_options options = {.threads = threads};
    const struct rig_segment *segment = NULL;
    struct rig_source *source;
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    unsigned parts = 0;
    assert_int_equal(rig_source_open(path, &options, &source, &err), RIG_OK);
    assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
    assert_non_null(segment);
    assert_true(rig_source_share(source) > 0 && rig_source_share(source) < 1);
    assert_int_equal(rig_source_rewind(source, &err), RIG_OK);
    struct rig_window *window = rig_window_new(rig_source_facts(source)->workload, 0);
    while (rig_source_next(source, &segment, &err) == RIG_OK && segment != NULL) {
        assert_int_equal(rig_window_add(window, segment, &err), RIG_OK);
        parts++;
    }
    assert_true(parts > 2);
    assert_int_equal(rig_window_give(window, rig_source_facts(source), &history, &err), RIG_OK);
    rig_source_close(source);
    return history;
}

static void written_and_read(void **state)
{
    (void)state;
    static const enum rig_form forms[] = {RIG_FORM_PLUME, RIG_FORM_DBCOP};
    char path[] = "/tmp/rig-test-sessions-XXXXXX";
    struct rig_rng rng;
    struct rig_err err = {0};
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    rig_rng_init(&rng, 20261122, 0);
    struct rig_history *wanted = make_large(&rng);
    for (size_t i = 0; i < 4; i++) {
        const struct rig_save_options save = {.form = forms[i / 2]};
        assert_int_equal(rig_history_save(wanted, path, &save, &err), RIG_OK);
        struct rig_history *got = read_again(path, i % 2 == 0 ? 1 : 3);
        assert_same_history(got, wanted);
        rig_history_free(got);
    }
    struct rig_history *got = NULL;
    assert_int_equal(rig_history_load(path, &(struct rig_load_options){.limit_bytes = 16 << 20}, &got, &err),
                     RIG_E_LIMIT);
    assert_non_null(strstr(err.text, "decoded as a whole"));
    rig_history_free(wanted);
    (void)unlink(path);
}

static void write_to(const char *lines, enum rig_form form, const char *path)
{
    struct rig_err err = {0};
    struct rig_history *history = parse("lines.jsonl", lines, strlen(lines));
    assert_int_equal(rig_history_save(history, path, &(struct rig_save_options){.form = form}, &err), RIG_OK);
    rig_history_free(history);
}

/* An unknown outcome is what its readers made of it; an aborted write is kept where it was read. */
static void outcomes_of_written_transactions(void **state)
{
    (void)state;
    static const char lines[] = "{\"type\":\"info\",\"process\":0,\"value\":[[\"w\",0,1],[\"r\",1,null]]}\n"
                                "{\"type\":\"info\",\"process\":1,\"value\":[[\"w\",0,2]]}\n"
                                "{\"type\":\"fail\",\"process\":2,\"value\":[[\"w\",0,3],[\"w\",1,4]]}\n"
                                "{\"type\":\"ok\",\"process\":3,\"value\":[[\"r\",0,1],[\"r\",1,4],[\"r\",2,null]]}\n";
    char path[] = "/tmp/rig-test-sessions-XXXXXX";
    struct rig_buf buf;
    struct rig_err err = {0};
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    write_to(lines, RIG_FORM_PLUME, path);
    rig_buf_init(&buf, 0);
    assert_int_equal(rig_buf_read_file(&buf, path, &err), RIG_OK);
    assert_string_equal(rig_buf_text(&buf), "w(0,1,0,0)\nw(1,4,2,-1)\nr(0,1,3,1)\nr(1,4,3,1)\nr(2,0,3,1)\n");
    write_to(lines, RIG_FORM_DBCOP, path);
    rig_buf_clear(&buf);
    assert_int_equal(rig_buf_read_file(&buf, path, &err), RIG_OK);
    assert_is(parse("history.bincode", buf.data, buf.size),
              "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",0,1]]}\n"
              "{\"type\":\"info\",\"process\":3,\"value\":[[\"w\",0,3],[\"w\",1,4]]}\n"
              "{\"type\":\"ok\",\"process\":2,\"value\":[[\"r\",0,1],[\"r\",1,4],[\"r\",2,null]]}\n");
    rig_buf_done(&buf);
    (void)unlink(path);
}

/* Cobra's keys are hashes. The text has no negative numbers: such keys are numbered, and values keep their 64 bits. */
static void negative_numbers(void **state)
{
    (void)state;
    static const char lines[] = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",-7,1],[\"w\",5,-1],[\"r\",5,-1]]}\n";
    char path[] = "/tmp/rig-test-sessions-XXXXXX";
    struct rig_buf buf;
    struct rig_err err = {0};
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    rig_buf_init(&buf, 0);
    write_to(lines, RIG_FORM_PLUME, path);
    assert_int_equal(rig_buf_read_file(&buf, path, &err), RIG_OK);
    assert_string_equal(rig_buf_text(&buf),
                        "w(0,1,0,0)\nw(1,18446744073709551615,0,0)\nr(1,18446744073709551615,0,0)\n");
    write_to(lines, RIG_FORM_DBCOP, path);
    rig_buf_clear(&buf);
    assert_int_equal(rig_buf_read_file(&buf, path, &err), RIG_OK);
    assert_is(parse("history.bincode", buf.data, buf.size), lines);
    rig_buf_done(&buf);
    (void)unlink(path);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *why;
    } cases[] = {
        {"{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",0,1]]}\n", "holds registers"},
        {"{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",7,0]]}\n{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",7,"
         "null]]}\n",
         "the initial state, which was read too"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct rig_err err = {0};
        const enum rig_form form = i % 2 == 0 ? RIG_FORM_PLUME : RIG_FORM_DBCOP;
        struct rig_history *history = parse("lines.jsonl", cases[i / 2].lines, strlen(cases[i / 2].lines));
        assert_int_equal(rig_history_save(history, "/dev/null", &(struct rig_save_options){.form = form}, &err),
                         RIG_E_INPUT);
        assert_non_null(strstr(err.text, cases[i / 2].why));
        rig_history_free(history);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plume_lines),
        cmocka_unit_test(plume_transactions_are_gathered),
        cmocka_unit_test(plume_initial_state),
        cmocka_unit_test(plume_aborted),
        cmocka_unit_test(awdit_rules_end_transactions_and_sessions),
        cmocka_unit_test(dbcop_text),
        cmocka_unit_test(dbcop_json),
        cmocka_unit_test(dbcop_binary),
        cmocka_unit_test(cobra_folder),
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(outcomes_of_written_transactions),
        cmocka_unit_test(negative_numbers),
        cmocka_unit_test(what_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
