/* history/ keeps the results of a data type in every shape: tested with rows that rig's own tables do not have. */
#include "tests/unit/cmocka_first.h"

#include <string.h>
#include <unistd.h>

#include "history/source/load.h"
#include "history/record/record_encoder.h"
#include "history/types/types.h"
#include "history/model/window.h"
#include "tests/history/model_segment.h"

enum { VARIANTS = 24 };

static struct rig_rng rng;
static char path[] = "/tmp/rig-test-types-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    const uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static struct model_options options_of(enum rig_workload workload, unsigned variant)
{
    return (struct model_options){
        .exchange = true,
        .columns = variant % 3 == 0,
        .workload = workload,
        .txn_count = 300,
        .channel_count = 9,
        .key_count = 20,
        .no_invocations = (variant & 1) != 0,
        .text_keys = (variant & 2) != 0,
        .no_times = (variant & 4) != 0,
        .position_gaps = (variant & 8) != 0,
    };
}

/* The history as it comes back from a file of that form. */
static struct rig_history *through_file(const struct rig_history *history, enum rig_form form, unsigned block_set)
{
    struct rig_err err = {0};
    struct rig_history *back = NULL;
    const struct rig_load_options load = {
        .workload_given = true, .workload = history->workload, .block_set = block_set};
    if (rig_history_save(history, path, &(struct rig_save_options){.form = form}, &err) != RIG_OK ||
        rig_history_load(path, &load, &back, &err) != RIG_OK)
        fail_msg("%s: %s", rig_data_types[history->workload].name, err.text);
    return back;
}

/* From the builder through the record, JSON lines, EDN and another record. */
static void histories_come_back(void **state)
{
    static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN, RIG_FORM_RIG};
    (void)state;
    for (unsigned variant = 0; variant < VARIANTS * RIG_WORKLOAD_COUNT; variant++) {
        struct model model;
        struct model_options options = options_of(variant % RIG_WORKLOAD_COUNT, variant / RIG_WORKLOAD_COUNT);
        if (options.workload == RIG_WORKLOAD_MULTI_KEY)
            continue; /* its text gives values that repeat, as these do, values of their own */
        if (rig_workload_has_specification(options.workload))
            continue; /* these are no calls of a model */
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count), *last = wanted;
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
            struct rig_history *back = through_file(last, forms[i], variant % 3);
            assert_same_history(back, wanted);
            if (last != wanted)
                rig_history_free(last);
            last = back;
        }
        rig_history_free(last);
        rig_history_free(wanted);
        model_done(&model);
    }
}

/* A window of segments has the same content, and knows which operations write to sequences. */
static void windows_have_them(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < VARIANTS * RIG_WORKLOAD_COUNT; variant++) {
        struct model model;
        struct rig_segment segment;
        struct rig_err err = {0};
        struct model_options options = options_of(variant % RIG_WORKLOAD_COUNT, variant / RIG_WORKLOAD_COUNT);
        model_make(&model, &options, &rng);
        const struct rig_data_type *type = &rig_data_types[options.workload];
        struct rig_history *wanted = model_history(&model, model.event_count);
        struct rig_window *window = rig_window_new(options.workload, 0);
        rig_segment_init(&segment, 0);
        for (uint32_t from = 0, to; from < model.event_count; from = to) {
            to = from + 1 + (uint32_t)rig_rng_below(&rng, model.event_count - from);
            rig_segment_reset(&segment);
            model_segment(&model, from, to, &rng, &segment);
            if (rig_window_add(window, &segment, &err) != RIG_OK)
                fail_msg("%s", err.text);
        }
        assert_same_history(rig_window_history(window, true), wanted);
        const struct rig_history *complete = rig_window_history(window, false);
        uint32_t writes = 0;
        for (uint32_t op = 0; op < complete->op_count; op++)
            writes += complete->ops[op].kind == type->write_op && rig_data_type_has_sequences(type);
        assert_true(complete->summary == NULL || complete->summary->append_count == writes);
        assert_true(complete->summary == NULL || !complete->summary->any_foreign);
        assert_true(complete->summary != NULL || rig_data_type_has_sequences(type));
        rig_segment_done(&segment);
        rig_window_free(window);
        rig_history_free(wanted);
        model_done(&model);
    }
}

static struct rig_history *parse(const char *text, struct rig_err *err)
{
    struct rig_history *history = NULL;
    const struct rig_load_options load = {0};
    *err = (struct rig_err){0};
    enum rig_rc rc = rig_history_parse("x", text, strlen(text), &load, &history, err);
    assert_true((rc == RIG_OK) == (history != NULL));
    return history;
}

static void assert_type(const char *text, enum rig_workload workload)
{
    struct rig_err err;
    struct rig_history *history = parse(text, &err);
    if (history == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(history->workload, workload);
    rig_history_free(history);
}

static void assert_refused(const char *text, const char *why)
{
    struct rig_err err;
    assert_null(parse(text, &err));
    assert_string_equal(err.text, why);
}

/* By the name of the write, or by increments that do not add up to 0. Where several types are left, the text is
 * refused. */
static void a_text_tells_its_type(void **state)
{
    (void)state;
    assert_type("{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",1,null],[\"put\",1,2]]}", RIG_WORKLOAD_ROWS);
    assert_type("{\"type\":\"ok\",\"process\":1,\"value\":[[\"add\",1,2],[\"r\",1,[2]]]}", RIG_WORKLOAD_SET);
    assert_type("{:type :ok, :process 1, :value [[:inc 1 2] [:r 1 2]]}", RIG_WORKLOAD_COUNTER);
    assert_type("{:type :ok, :process 1, :value [[:w 1 2] [:r 1 2]]}", RIG_WORKLOAD_RW_REGISTER);
    assert_type("{:type :ok, :process 1, :value [[:r 1 [2]]]}\n{:type :ok, :process 1, :value [[:append 1 2]]}",
                RIG_WORKLOAD_LIST_APPEND);
    assert_type("{:type :ok, :process 1, :value [[:r 1 #{2}]]}", RIG_WORKLOAD_SET);
    assert_type(
        "{:type :ok, :process 1, :value [[:inc 1 -2] [:inc 2 2]]}\n{:type :ok, :process 1, :value [[:inc 1 1]]}",
        RIG_WORKLOAD_COUNTER);
    assert_type("{:type :ok, :process 1, :value [[:r 1 nil]]}", (enum rig_workload)RIG_WORKLOAD_DEFAULT);
    assert_refused(
        "{:type :ok, :process 1, :value [[:r 1 [2]]]}",
        "x:1:1: the operations may be those of list-append, set, predicate, sql or rows: nothing in the file tells; "
        "name its type with --workload");
    assert_refused(
        "{:type :ok, :process 1, :value [[:r 1 2]]}",
        "x:1:1: the operations may be those of rw-register, counter or bank: nothing in the file tells; name its "
        "type with --workload");
    assert_refused(
        "{:type :ok, :process 1, :value [[:inc 1 -2] [:inc 2 2]]}",
        "x:1:1: the operations may be those of counter or bank: nothing in the file tells; name its type with "
        "--workload");
}

static void what_is_of_no_type_is_refused(void **state)
{
    (void)state;
    assert_refused(
        "{\"type\":\"ok\",\"process\":1,\"value\":[[\"cas\",1,2]]}",
        "x:1:35: no micro-operation is called \"cas\"; there are append, r, w, add, inc, row, send, poll and put");
    assert_refused("{\"type\":\"ok\",\"process\":1,\"value\":[[\"add\",1,2],[\"inc\",1,2]]}",
                   "x:1:47: an increment of counter in a history of set; split the history, or name its workload");
    assert_refused("{\"type\":\"ok\",\"process\":1,\"value\":[[\"put\",1,2],[\"r\",1,2]]}",
                   "x:1:54: a read of rw-register in a history of rows; split the history, or name its workload");
    assert_refused("{\"type\":\"ok\",\"process\":1,\"value\":[[\"put\",1,2],[\"r\",1,[1,2,3]]]}",
                   "x:1:54: a row without a value; a row is a key and a value");
}

/* A record of one read of rows, with this number of elements. */
static enum rig_rc load_rows(uint32_t count, struct rig_err *err)
{
    static const int64_t elements[] = {1, 10, 2, 20};
    const struct rig_record_head head = {.workload = RIG_WORKLOAD_ROWS};
    const struct rig_op op = {.kind = RIG_OP_READ_ROWS, .key = 1};
    const struct rig_record_read read = {.state = RIG_READ_SEEN, .count = count, .elements = elements};
    const struct rig_record_completion completion = {.outcome = RIG_OUTCOME_OK, .reads = &read};
    struct rig_history *history = NULL;
    const struct rig_load_options load = {0};
    struct rig_record_encoder *encoder = rig_record_encoder_new(&head);
    struct rig_buf file;
    rig_buf_init(&file, 0);
    rig_record_encoder_header(encoder, &file);
    rig_record_encoder_lone(encoder, (struct rig_record_moment){.time_ns = 5}, 0, &op, 1, &completion);
    const struct rig_buf *frame = rig_record_encoder_frame(encoder);
    rig_buf_add(&file, frame->data, frame->size);
    enum rig_rc rc = rig_history_parse("x", file.data, file.size, &load, &history, err);
    rig_history_free(history);
    rig_buf_done(&file);
    rig_record_encoder_free(encoder);
    return rc;
}

static void rows_of_a_record_are_whole(void **state)
{
    (void)state;
    struct rig_err err = {0};
    assert_int_equal(load_rows(4, &err), RIG_OK);
    assert_int_equal(load_rows(3, &err), RIG_E_INPUT);
    assert_non_null(strstr(err.text, "a row without a value"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_come_back),        cmocka_unit_test(windows_have_them),
        cmocka_unit_test(a_text_tells_its_type),      cmocka_unit_test(what_is_of_no_type_is_refused),
        cmocka_unit_test(rows_of_a_record_are_whole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
