#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "history/types/types.h"
#include "history/source/load.h"
#include "history/model/read_list.h"
#include "history/source/source.h"
#include "history/text/scan/text_block.h"
#include "history/model/window.h"
#include "tests/history/history_model.h"

static struct rig_rng rng;

/* Parts of `part_bytes`, read by `threads` threads; each call uses the next set of rig_text_blocks(). */
static enum rig_rc read_in_parts(const char *data, size_t size, size_t part_bytes, unsigned threads,
                                 struct rig_history **history, struct rig_err *err)
{
    static unsigned reads = 0;
    size_t sets = 0;
    (void)rig_text_blocks(&sets);
    struct rig_source_options options = {
        .load = {.part_bytes = part_bytes, .block_set = reads++ % (unsigned)sets},
        .threads = threads,
    };
    struct rig_source *source = NULL;
    const struct rig_segment *segment = NULL;
    enum rig_rc rc = rig_source_open_memory("x", data, size, &options, &source, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_window *window = rig_window_new(rig_source_facts(source)->workload, 0);
    rc = rig_source_next(source, &segment, err);
    while (rc == RIG_OK && segment != NULL) {
        rc = rig_window_add(window, segment, err);
        if (rc == RIG_OK)
            rc = rig_source_next(source, &segment, err);
    }
    if (rc == RIG_OK)
        rc = rig_window_give(window, rig_source_facts(source), history, err);
    else
        rig_window_free(window);
    rig_source_close(source);
    return rc;
}

static void make_file(enum rig_form form, uint32_t txn_count, struct rig_buf *buf)
{
    struct model_options options = {
        .exchange = true,
        .columns = rig_rng_below(&rng, 2) == 0,
        .workload = (enum rig_workload)rig_rng_below(&rng, RIG_WORKLOAD_COUNT),
        .txn_count = txn_count,
        .channel_count = 4,
        .key_count = 5,
        .text_keys = rig_rng_below(&rng, 3) == 0,
        .no_invocations = rig_rng_below(&rng, 4) == 0,
        .position_gaps = rig_rng_below(&rng, 2) == 0,
    };
    /* Nothing tells their transactions from those of registers; objects_compare.c reads objects in parts. */
    while (rig_workload_is_object(options.workload))
        options.workload = (enum rig_workload)rig_rng_below(&rng, RIG_WORKLOAD_COUNT);
    struct model model;
    struct rig_err err = {0};
    char path[] = "/tmp/rig-text-reader-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    model_make(&model, &options, &rng);
    struct rig_history *history = model_history(&model, model.event_count);
    rig_buf_clear(buf);
    assert_int_equal(rig_history_save(history, path, &(struct rig_save_options){.form = form}, &err), RIG_OK);
    assert_int_equal(rig_buf_read_file(buf, path, &err), RIG_OK);
    (void)unlink(path);
    rig_history_free(history);
    model_done(&model);
}

static void without_indices(struct rig_buf *buf, enum rig_form form)
{
    const char *name = form == RIG_FORM_EDN ? ":index " : "\"index\":";
    const char *other = form == RIG_FORM_EDN ? ":xndex " : "\"xndex\":";
    for (char *at = buf->data; (at = strstr(at, name)) != NULL;)
        memcpy(at, other, strlen(other));
}

/* For any size of the parts and any number of threads: the history that is read in one piece. */
static void compare_cuts(const struct rig_buf *buf, size_t from, size_t to, size_t step)
{
    struct rig_history *whole = NULL;
    struct rig_err whole_err = {0};
    enum rig_rc wanted = read_in_parts(buf->data, buf->size, 0, 1, &whole, &whole_err);
    for (size_t part_bytes = from; part_bytes <= to; part_bytes += step) {
        struct rig_history *cut = NULL;
        struct rig_err err = {0};
        enum rig_rc got = read_in_parts(buf->data, buf->size, part_bytes, part_bytes % 2 == 0 ? 1 : 3, &cut, &err);
        assert_int_equal(got, wanted);
        assert_string_equal(err.text, whole_err.text);
        if (got == RIG_OK)
            assert_same_history(cut, whole);
        rig_history_free(cut);
    }
    rig_history_free(whole);
}

static void every_cut_gives_the_same(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (unsigned i = 0; i < 6; i++) {
        enum rig_form form = i % 2 == 0 ? RIG_FORM_JSON_LINES : RIG_FORM_EDN;
        make_file(form, 12, &buf);
        if (i >= 4)
            without_indices(&buf, form);
        compare_cuts(&buf, 1, buf.size, 1 + buf.size / 200);
        make_file(form, 300, &buf);
        if (i >= 4)
            without_indices(&buf, form);
        compare_cuts(&buf, 200, 5000, 601);
    }
    rig_buf_done(&buf);
}

/* Writes processes as names ("w3", or :w3 in EDN): those of number modulo 2 = `rest`, or all of them for 2. */
static void name_processes(const struct rig_buf *from, enum rig_form form, int64_t rest, struct rig_buf *to)
{
    const char *field = form == RIG_FORM_EDN ? ":process " : "\"process\":";
    const char *at = from->data, *next;
    rig_buf_clear(to);
    for (; (next = strstr(at, field)) != NULL; at = next) {
        char *behind;
        rig_buf_add(to, at, (size_t)(next - at) + strlen(field));
        long process = strtol(next + strlen(field), &behind, 10);
        next = behind;
        if (rest < 2 && process % 2 != rest)
            rig_buf_printf(to, "%ld", process);
        else
            rig_buf_printf(to, form == RIG_FORM_EDN ? ":w%ld" : "\"w%ld\"", process);
    }
    rig_buf_add_text(to, at);
}

/* The named ones became numbers from -1 downwards, each its own number; all else is the same. */
static void expect_named(const struct rig_history *named, const struct rig_history *plain, int64_t rest)
{
    enum { MOST = 4096 };
    int32_t number_of[MOST] = {0};
    assert_int_equal(named->txn_count, plain->txn_count);
    assert_int_equal(named->skipped_count, plain->skipped_count);
    assert_int_equal(named->lost_count, 0);
    int32_t lowest = 0;
    for (uint32_t txn = 0; txn < plain->txn_count; txn++) {
        int32_t process = plain->txns[txn].process, now = named->txns[txn].process;
        assert_in_range(process, 0, MOST - 1);
        if (rest < 2 && process % 2 != rest) {
            assert_int_equal(now, process);
            continue;
        }
        assert_true(now < 0);
        assert_true(number_of[process] == 0 || number_of[process] == now);
        for (int other = 0; other < MOST; other++)
            assert_true(other == process || number_of[other] != now);
        number_of[process] = now;
        lowest = now < lowest ? now : lowest;
        assert_int_equal(named->txns[txn].invoke_at, plain->txns[txn].invoke_at);
        assert_int_equal(named->txns[txn].complete_at, plain->txns[txn].complete_at);
    }
    assert_true(lowest >= -(int32_t)plain->txn_count);
}

static void names_of_processes_are_clients(void **state)
{
    (void)state;
    struct rig_buf plain, named;
    rig_buf_init(&plain, 0);
    rig_buf_init(&named, 0);
    for (unsigned i = 0; i < 12; i++) {
        enum rig_form form = i % 2 == 0 ? RIG_FORM_JSON_LINES : RIG_FORM_EDN;
        struct rig_history *with_numbers = NULL, *with_names = NULL;
        struct rig_err err = {0};
        make_file(form, 40, &plain);
        name_processes(&plain, form, i / 2 % 3, &named);
        assert_int_equal(read_in_parts(plain.data, plain.size, 0, 1, &with_numbers, &err), RIG_OK);
        assert_int_equal(read_in_parts(named.data, named.size, 0, 1, &with_names, &err), RIG_OK);
        expect_named(with_names, with_numbers, i / 2 % 3);
        rig_history_free(with_numbers);
        rig_history_free(with_names);
        compare_cuts(&named, 30, named.size, 1 + named.size / 60);
    }
    rig_buf_done(&plain);
    rig_buf_done(&named);
}

static void expect_refused(const char *text, const char *why)
{
    struct rig_history *history = NULL;
    for (size_t part_bytes = 0; part_bytes < 120; part_bytes += 40) {
        struct rig_err err = {0};
        assert_int_equal(read_in_parts(text, strlen(text), part_bytes, 1, &history, &err), RIG_E_INPUT);
        if (strstr(err.text, why) == NULL)
            fail_msg("%s", err.text);
    }
}

static void names_beside_negative_numbers(void **state)
{
    (void)state;
    expect_refused("{\"type\":\"ok\",\"process\":\"w\",\"value\":[[\"append\",0,1]]}\n"
                   "{\"type\":\"ok\",\"process\":-1,\"value\":[[\"r\",0,[1]]]}\n",
                   "x:2:1: processes with names beside negative numbers");
    expect_refused("{\"type\":\"ok\",\"process\":-1,\"value\":[[\"r\",0,[1]]]}\n"
                   "{\"type\":\"ok\",\"process\":\"w\",\"value\":[[\"append\",0,1]]}\n",
                   "x:2:1: processes with names beside negative numbers");
    expect_refused("{\"type\":\"ok\",\"process\":\"a\\u0000b\",\"value\":[[\"append\",0,1]]}\n",
                   "an escape that is not allowed in a text");
}

/* A process goes on without a completion: the earlier transaction stays open, in whichever parts the two are. */
static void processes_may_go_on_without_a_completion(void **state)
{
    (void)state;
    static const char text[] = "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"append\",0,1]]}\n"
                               "{\"type\":\"invoke\",\"process\":1,\"value\":[[\"append\",0,9]]}\n"
                               "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"append\",0,2]]}\n"
                               "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"append\",0,3]]}\n"
                               "{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",0,3]]}\n"
                               "{\"type\":\"ok\",\"process\":1,\"value\":[[\"append\",0,9]]}\n"
                               "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"r\",0,null]]}\n"
                               "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",0,[1,3,9]]]}\n";
    for (size_t part_bytes = 0; part_bytes < 500; part_bytes += 25) {
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        if (read_in_parts(text, strlen(text), part_bytes, 1, &history, &err) != RIG_OK)
            fail_msg("%s", err.text);
        assert_int_equal(history->reused_count, 2);
        assert_int_equal(history->txn_count, 5);
        assert_int_equal(history->txns[0].invoke_at, 3);
        assert_int_equal(history->txns[1].invoke_at, 1);
        assert_int_equal(history->txns[2].invoke_at, 6);
        assert_int_equal(history->txns[3].invoke_at, 0);
        assert_int_equal(history->txns[4].invoke_at, 2);
        for (uint32_t txn = 3; txn < 5; txn++) {
            assert_int_equal(history->txns[txn].outcome, RIG_OUTCOME_INFO);
            assert_int_equal(history->txns[txn].complete_at, RIG_POSITION_NONE);
            assert_int_equal(rig_txn_ops(history, txn)->value, (int64_t)txn - 2);
        }
        rig_history_free(history);
    }
    /* The completion after the last one has no invocation: the earlier transactions do not take it. */
    char more[sizeof text + 100];
    (void)snprintf(more, sizeof more, "%s%s", text, "{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",0,1]]}\n");
    for (size_t part_bytes = 0; part_bytes < 600; part_bytes += 25) {
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        assert_int_equal(read_in_parts(more, strlen(more), part_bytes, 1, &history, &err), RIG_E_INPUT);
        assert_non_null(strstr(err.text, "has a completion without an invocation"));
    }
}

static void lost_of(const char *text, uint64_t skipped, uint64_t lost)
{
    for (size_t part_bytes = 0; part_bytes < 300; part_bytes += 30) {
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        if (read_in_parts(text, strlen(text), part_bytes, 1, &history, &err) != RIG_OK)
            fail_msg("%s", err.text);
        assert_int_equal(history->skipped_count, skipped);
        assert_int_equal(history->lost_count, lost);
        rig_history_free(history);
    }
}

/* Left-out operations that may have read or written are distinguished from those that did not. */
static void left_out_operations_are_weighed(void **state)
{
    (void)state;
#define CLIENT "{\"type\":\"invoke\",\"process\":1,\"value\":[[\"append\",1,1]]}\n"
    lost_of(CLIENT "{\"type\":\"info\",\"process\":\"nemesis\",\"f\":\"kill\",\"value\":{\"n1\":\"killed\"}}\n", 1, 0);
    lost_of(CLIENT "{\"type\":\"info\",\"process\":\":nemesis\",\"value\":[\"n1\"]}\n", 1, 0);
    lost_of(CLIENT "{\"type\":\"info\",\"process\":\"nemesis\",\"value\":[[\"append\",1,2]]}\n", 1, 1);
    lost_of(CLIENT "{\"type\":\"ok\",\"process\":null,\"value\":[[\"append\",1,2]]}\n", 1, 1);
    lost_of(CLIENT "{\"type\":\"fail\",\"process\":null,\"value\":[[\"append\",1,2]]}\n", 1, 0);
    lost_of(CLIENT "{\"type\":\"ok\",\"value\":[[\"append\",1,2]]}\n", 1, 1);
    lost_of(CLIENT "{\"type\":\"ok\",\"process\":true,\"value\":[]}\n", 1, 0);
    lost_of(CLIENT "{\"type\":\"invoke\",\"process\":2,\"f\":\"drain\",\"value\":null}\n"
                   "{\"type\":\"ok\",\"process\":2,\"f\":\"drain\",\"value\":[1,2]}\n",
            2, 1);
    lost_of(CLIENT "{\"type\":\"info\",\"process\":1,\"value\":\"timed out\"}\n", 0, 0);
    lost_of(CLIENT "{\"type\":\"invoke\",\"process\":\"w\",\"value\":[\"append\",1,2]}\n", 1, 1);
#undef CLIENT
}

static void errors_have_the_same_text(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (unsigned i = 0; i < 60; i++) {
        make_file(i % 2 == 0 ? RIG_FORM_JSON_LINES : RIG_FORM_EDN, 20, &buf);
        buf.data[rig_rng_below(&rng, buf.size)] = "]}[{,1 \"#"[rig_rng_below(&rng, 9)];
        compare_cuts(&buf, 40, buf.size, 1 + buf.size / 12);
    }
    rig_buf_done(&buf);
}

static void texts_that_look_like_something_else(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* an array over several lines, an operation over several lines */
        "[{\"type\":\"invoke\",\"process\":1,\n\"value\":[[\"append\",1,2]]}\n,\n{\"type\":\"ok\",\n\"process\":1,"
        "\"value\":[[\"append\",1,2]]},{\"type\":\"invoke\",\"process\":1,\"value\":[[\"r\",1,null]]},\n"
        "{\"type\":\"info\",\"process\":1,\"value\":null}]\n\n",
        /* an error behind the last comma */
        "[{\"type\":\"invoke\",\"process\":1,\"value\":[[\"append\",1,2]]},\n",
        "[{\"type\":\"invoke\",\"process\":1,\"value\":[[\"append\",1,2]]},\n]",
        /* brackets in texts */
        "{:type :invoke :process 0 :value [[:append \"]], :process 5, :x \" 1] [:r \"]]\" nil]]}\n"
        "{:type :ok :process 0 :value [[:append \"]], :process 5, :x \" 1] [:r \"]]\" [1]]]}\n"
        "{:type :invoke :process 0 :value [[:append \"]]\n{:type :ok\" 1]]} {:type :info :process 0 :error \"]]\"}\n",
        "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"append\",\"]],\",1],[\"r\",\"]]\",null]]}\n"
        "{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",\"]],\",1],[\"r\",\"]]\",[1]]]}\n",
        /* discarded, commented, tagged */
        "; {:type :ok\n#_ {:type :ok\n :process 7}\n#a.B{:type :invoke, :process 0, :value [[:append :k 1]]}\n#_ #_ {} "
        "\n{}\n{:type :ok, :process 0, :value [[:append :k 1]]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct rig_buf buf;
        rig_buf_init(&buf, 0);
        rig_buf_add_text(&buf, texts[i]);
        compare_cuts(&buf, 1, buf.size, 1);
        /* far from the file's end, so that the fast path is used */
        for (unsigned k = 0; k < 400; k++)
            rig_buf_add_char(&buf, '\n');
        compare_cuts(&buf, 1, buf.size, 7);
        rig_buf_done(&buf);
    }
}

/* A space behind each comma: read field by field, and not line by line. */
static void with_spaces(const struct rig_buf *from, struct rig_buf *to)
{
    bool in_text = false;
    rig_buf_clear(to);
    for (size_t i = 0; i < from->size; i++) {
        char c = from->data[i];
        in_text ^= c == '"' && (i == 0 || from->data[i - 1] != '\\');
        rig_buf_add_char(to, c);
        if (c == ',' && !in_text && from->data[i + 1] != ' ')
            rig_buf_add_char(to, ' ');
    }
}

/* Lines as programs write them, and the same in another notation. */
static void every_way_reads_the_same(void **state)
{
    (void)state;
    struct rig_buf buf, spaced;
    rig_buf_init(&buf, 0);
    rig_buf_init(&spaced, 0);
    for (unsigned i = 0; i < 30; i++) {
        struct rig_history *histories[2] = {NULL, NULL};
        struct rig_err err = {0};
        make_file(RIG_FORM_JSON_LINES, 200, &buf);
        with_spaces(&buf, &spaced);
        assert_int_equal(read_in_parts(buf.data, buf.size, 0, 1, &histories[0], &err), RIG_OK);
        assert_int_equal(read_in_parts(spaced.data, spaced.size, 0, 1, &histories[1], &err), RIG_OK);
        assert_same_history(histories[0], histories[1]);
        rig_history_free(histories[0]);
        rig_history_free(histories[1]);
    }
    rig_buf_done(&spaced);
    rig_buf_done(&buf);
}

/* Invocations that nearly have the form that programs write, far enough into a file, and whether they have an error. */
static void odd_invocations(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool fits;
    } cases[] = {
        {"[[\"r\",5,null]]", true},
        {"[[\"r\",0,null]]", true},
        {"[[\"r\",123456789012,null]]", true},
        {"[[\"r\",-7,null],[\"append\",-7,-12345678]]", true},
        {"[[\"r\",5]]", true},
        {"[[\"append\",5,12345678901]]", true},
        {"[[\"r\",123456789,xnull]]", false},
        {"[[\"r\",5,xnull]]", false},
        {"[[\"r\",05,null]]", false},
        {"[[\"append\",5,01]]", false},
        {"[[\"append\",5,null]]", true},
        {"[[\"append\",5,]]", false},
        {"[[\"append\",,5]]", false},
        {"[[\"append\" 5,5]]", false},
        {"[[\"r\",5,null],]", false},
        {"[[\"r\",5,null][\"r\",5,null]]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned completes = 0; completes < 2; completes++) {
            struct rig_buf buf;
            struct rig_history *history = NULL;
            struct rig_err err = {0};
            rig_buf_init(&buf, 0);
            for (int k = 0; k < 4; k++)
                rig_buf_printf(&buf,
                               "{\"index\":%d,\"type\":\"%s\",\"process\":0,\"time\":%d,\"f\":\"txn\",\"value\":"
                               "[[\"append\",5,%d]]}\n",
                               k, k % 2 == 0 ? "invoke" : "ok", k, 1 + k / 2);
            for (unsigned k = 0; k <= completes; k++)
                rig_buf_printf(&buf,
                               "{\"index\":%u,\"type\":\"%s\",\"process\":0,\"time\":9,\"f\":\"txn\",\"value\":%s}\n",
                               4 + k, k == 0 ? "invoke" : "fail", cases[i].value);
            for (unsigned k = 0; k < 400; k++)
                rig_buf_add_char(&buf, '\n');
            enum rig_rc rc = read_in_parts(buf.data, buf.size, 0, 1, &history, &err);
            if ((rc == RIG_OK) != cases[i].fits || (rc != RIG_OK && strstr(err.text, "x:5:") == NULL))
                fail_msg("%s: %s", cases[i].value, err.text);
            rig_history_free(history);
            rig_buf_done(&buf);
        }
    }
}

static void lists_in_every_writing(void **state)
{
    (void)state;
    const char *text = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,12,-3]]]}\n"
                       "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1, 12, -3]]]}\n"
                       "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,1]]]}\n"
                       "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,12]],[\"r\",1,[]]]}\n"
                       "{\"type\":\"fail\",\"process\":0,\"value\":[[\"r\",1,[1,12,-3,4]]]}\n"
                       "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,12,-3,5]]]}\n"
                       "{\"value\":[[\"r\",1,[1,12,-3,5,6]]],\"type\":\"fail\",\"process\":0}\n"
                       "{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",1,1]]}\n";
    static const uint32_t counts[] = {3, 3, 2, 2, 4, 4, 5};
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    rig_buf_add_text(&buf, text);
    for (unsigned k = 0; k < 400; k++)
        rig_buf_add_char(&buf, '\n');
    compare_cuts(&buf, 1, buf.size, 11);
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    assert_int_equal(read_in_parts(buf.data, buf.size, 0, 1, &history, &err), RIG_OK);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(rig_txn_op_list(history, rig_txn_ops(history, i)).count, counts[i]);
    for (uint32_t i = 4; i < 6; i++) {
        struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, i));
        const int64_t wanted[] = {1, 12, -3, i};
        assert_true(rig_read_same(&list, &(struct rig_read_list){.at = wanted, .shared = 4, .count = 4}, 4));
    }
    rig_history_free(history);
    rig_buf_clear(&buf);
    rig_buf_add_text(&buf, "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,2,3]]]}\n"
                           "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,2,]]]}\n");
    for (unsigned k = 0; k < 400; k++)
        rig_buf_add_char(&buf, '\n');
    assert_int_equal(read_in_parts(buf.data, buf.size, 0, 1, &history, &err), RIG_E_INPUT);
    assert_non_null(strstr(err.text, "x:2:"));
    rig_buf_done(&buf);
}

/* Reads of failed transactions, before other reads of the same list or alone. */
static void reads_of_failed_transactions(void **state)
{
    (void)state;
    static const struct {
        const char *type, *invoked, *came;
        uint32_t count; /* of the last operation */
        bool branch;    /* it is no prefix of the spine */
    } cases[] = {
        {"ok", "[[\"r\",1,null]]", "[[\"r\",1,[1,2]]]", 2, false},
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3]]]", 3, false}, /* others read it later */
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4]]]", 4, false},
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3]]]", 3, false},
        {"ok", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3]]]", 3, false},
        {"ok", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5]]]", 5, false},
        {"fail", "[[\"append\",1,6],[\"r\",1,null]]", "[[\"append\",1,6],[\"r\",1,[1,2,3,4,5,6]]]", 6, true},
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,7,8]]]", 7, true}, /* no other transaction reads it */
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,7]]]", 6, true},
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5]]]", 5, false},
        {"ok", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,9]]]", 6, false}, /* another transaction reads another list */
        {"ok", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,9,10]]]", 7, false},
        {"ok", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,7]]]", 6, true},
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,9,10,11]]]", 8, true}, /* the last ones */
        {"fail", "[[\"r\",1,null]]", "[[\"r\",1,[1,2,3,4,5,9,10]]]", 7, false},
        {"fail", "[[\"r\",2,null],[\"r\",2,null]]", "[[\"r\",2,[1]],[\"r\",2,[1]]]", 1, true},
    };
    const uint32_t case_count = sizeof cases / sizeof cases[0];
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (uint32_t i = 0; i < case_count; i++)
        rig_buf_printf(&buf,
                       "{\"index\":%u,\"type\":\"invoke\",\"process\":0,\"time\":9,\"f\":\"txn\",\"value\":%s}\n"
                       "{\"index\":%u,\"type\":\"%s\",\"process\":0,\"time\":9,\"f\":\"txn\",\"value\":%s}\n",
                       i * 2, cases[i].invoked, i * 2 + 1, cases[i].type, cases[i].came);
    for (unsigned k = 0; k < 400; k++)
        rig_buf_add_char(&buf, '\n');
    compare_cuts(&buf, 1, buf.size, 17);
    for (unsigned set = 0; set < 3; set++) {
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        assert_int_equal(read_in_parts(buf.data, buf.size, 0, 1, &history, &err), RIG_OK);
        for (uint32_t i = 0; i < case_count; i++) {
            const struct rig_txn_op *mop = rig_txn_ops(history, i) + rig_txn_op_count(history, i) - 1;
            if (mop->count != cases[i].count || rig_txn_op_is_branch(mop) != cases[i].branch)
                fail_msg("case %u: %u elements%s", i, mop->count, rig_txn_op_is_branch(mop) ? ", a branch" : "");
        }
        rig_history_free(history);
    }
    rig_buf_done(&buf);
}

/* The planned memory for the parts of a file with this many processes. */
static size_t planned_bytes(unsigned process_count, size_t limit_bytes, bool edn)
{
    const struct rig_source_options options = {.load = {.limit_bytes = limit_bytes}, .threads = 1};
    struct rig_source *source = NULL;
    struct rig_err err = {0};
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (unsigned i = 0; i < 20000; i++)
        rig_buf_printf(&buf,
                       edn ? "{:index %u, :time %u, :type :%s, :process %u, :f :txn, :value [[:append 1 %u]]}\n"
                           : "{\"index\":%u,\"time\":%u,\"type\":\"%s\",\"process\":%u,\"f\":\"txn\",\"value\":"
                             "[[\"append\",1,%u]]}\n",
                       i, i, i / process_count % 2 == 0 ? "invoke" : "ok", i % process_count,
                       i / process_count / 2 * process_count + i % process_count);
    assert_int_equal(rig_source_open_memory("x", buf.data, buf.size, &options, &source, &err), RIG_OK);
    size_t bytes = rig_source_facts(source)->parts_bytes;
    rig_source_close(source);
    rig_buf_done(&buf);
    return bytes;
}

static void parts_of_many_processes_are_long(void **state)
{
    (void)state;
    const size_t limit = (size_t)64 << 20;
    for (unsigned edn = 0; edn < 2; edn++) {
        const size_t usual = planned_bytes(20, 0, edn);
        assert_int_equal(planned_bytes(1000, 0, edn), usual);
        assert_in_range(planned_bytes(10000, 0, edn), usual * 4, usual * 8);
        assert_int_equal(planned_bytes(10000, limit, edn), planned_bytes(20, limit, edn));
    }
}

int main(void)
{
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_may_go_on_without_a_completion),
        cmocka_unit_test(every_cut_gives_the_same),
        cmocka_unit_test(names_of_processes_are_clients),
        cmocka_unit_test(names_beside_negative_numbers),
        cmocka_unit_test(left_out_operations_are_weighed),
        cmocka_unit_test(errors_have_the_same_text),
        cmocka_unit_test(texts_that_look_like_something_else),
        cmocka_unit_test(every_way_reads_the_same),
        cmocka_unit_test(odd_invocations),
        cmocka_unit_test(parts_of_many_processes_are_long),
        cmocka_unit_test(lists_in_every_writing),
        cmocka_unit_test(reads_of_failed_transactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
