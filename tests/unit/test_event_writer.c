#include "tests/unit/cmocka_first.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "history/source/event_writer.h"
#include "tests/history/history_model.h"

static void check(enum rig_rc rc, const struct rig_err *err)
{
    if (rc != RIG_OK)
        fail_msg("%s", err->text);
}

static struct rig_output memory_file(void)
{
    const struct rig_output output = {.path = "memory", .fd = memfd_create("history", MFD_CLOEXEC)};
    assert_true(output.fd >= 0);
    return output;
}

/* Reads the whole file, and closes it. */
static struct rig_buf file_of(struct rig_output *output)
{
    struct rig_buf file;
    char bytes[4096];
    ssize_t got;
    rig_buf_init(&file, 0);
    assert_int_equal(lseek(output->fd, 0, SEEK_SET), 0);
    while ((got = read(output->fd, bytes, sizeof bytes)) > 0)
        rig_buf_add(&file, bytes, (size_t)got);
    assert_int_equal(got, 0);
    assert_int_equal(close(output->fd), 0);
    return file;
}

static void write_event(struct rig_event_writer *writer, const struct model_txn *txn, bool is_completion)
{
    struct rig_err err = {0};
    struct rig_client_event event = {txn->channel, txn->op_count, txn->process, txn->invoke_ns, txn->ops};
    if (!is_completion) {
        check(rig_event_writer_invoke(writer, &event, &err), &err);
        return;
    }
    struct rig_record_read reads[MODEL_MAX_OPS] = {{0}};
    for (uint32_t i = 0; txn->has_reads && i < txn->op_count; i++)
        reads[i] = (struct rig_record_read){.state = txn->reads[i].state,
                                            .count = txn->reads[i].count,
                                            .elements = txn->elements + txn->reads[i].first_element,
                                            .value = txn->reads[i].value};
    const struct rig_record_completion completion = {.outcome = txn->outcome,
                                                     .error = txn->error,
                                                     .error_length = txn->error == NULL ? 0 : strlen(txn->error),
                                                     .reads = txn->has_reads ? reads : NULL};
    event.time_ns = txn->complete_ns;
    check(rig_event_writer_complete(writer, &event, &completion, &err), &err);
}

static void round_trip(enum rig_form form, enum rig_workload workload, uint64_t seed)
{
    struct rig_err err = {0};
    struct rig_rng rng;
    struct model model;
    struct model_options options = {
        .workload = workload, .txn_count = 200, .channel_count = 5, .key_count = 6, .exchange = form != RIG_FORM_RIG};
    rig_rng_init(&rng, seed, 0);
    model_make(&model, &options, &rng);
    struct rig_event_writer *writer = NULL;
    const struct rig_event_writer_options writer_options = {.save = {.form = form}, .workload = workload};
    struct rig_output output = memory_file();
    check(rig_event_writer_new(&writer_options, &output, &writer, &err), &err);
    for (uint32_t i = 0; i < model.event_count; i++)
        write_event(writer, &model.txns[model.events[i].txn], model.events[i].is_completion);
    check(rig_event_writer_finish(writer, &err), &err);
    assert_int_equal(rig_event_writer_count(writer), model.event_count);
    struct rig_buf file = file_of(&output);
    assert_int_equal(rig_event_writer_bytes(writer), file.size);
    struct rig_history *got = NULL;
    struct rig_history *wanted = model_history(&model, model.event_count);
    const struct rig_load_options load = {.workload_given = true, .workload = workload};
    check(rig_history_parse("written", file.data, file.size, &load, &got, &err), &err);
    assert_same_history(got, wanted);
    rig_history_free(got);
    rig_history_free(wanted);
    rig_buf_done(&file);
    rig_event_writer_free(writer);
    model_done(&model);
}

static void every_form_reads_back(void **state)
{
    (void)state;
    static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t i = 0; i < 3; i++) {
            round_trip(forms[i], RIG_WORKLOAD_LIST_APPEND, seed);
            round_trip(forms[i], RIG_WORKLOAD_RW_REGISTER, seed);
        }
    }
}

static void invoke(struct rig_event_writer *writer, int64_t time_ns)
{
    struct rig_err err = {0};
    const struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = 1};
    const struct rig_client_event event = {0, 1, 0, time_ns, &op};
    check(rig_event_writer_invoke(writer, &event, &err), &err);
}

static void complete(struct rig_event_writer *writer, int64_t time_ns, const int64_t *elements, uint32_t count,
                     uint64_t origin, uint32_t origin_count)
{
    struct rig_err err = {0};
    const struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = 1};
    const struct rig_record_read read = {
        .state = RIG_READ_SEEN, .count = count, .elements = elements, .origin = origin, .origin_count = origin_count};
    const struct rig_record_completion completion = {.outcome = RIG_OUTCOME_OK, .reads = &read};
    const struct rig_client_event event = {0, 1, 0, time_ns, &op};
    check(rig_event_writer_complete(writer, &event, &completion, &err), &err);
}

/* Lists with an origin, with another one, beyond it, forgotten in between: the file is the same as without origins. */
static void origins_change_nothing(void **state)
{
    (void)state;
    static const int64_t first[] = {1, 2, 3, 4, 5}, second[] = {1, 2, 7, 8, 9};
    static const struct {
        const int64_t *elements;
        uint32_t count, origin_count;
        uint64_t origin;
    } reads[] = {{first, 3, 3, 1},  {first, 2, 2, 1},  {first, 5, 4, 1}, {second, 4, 4, 2}, {second, 5, 5, 2},
                 {second, 2, 2, 2}, {first, 5, 5, 3},  {first, 1, 1, 3}, {second, 5, 2, 3}, {second, 5, 0, 3},
                 {first, 0, 0, 3},  {second, 5, 5, 4}, {first, 4, 2, 4}};
    for (enum rig_form form = RIG_FORM_RIG; form <= RIG_FORM_EDN; form++) {
        struct rig_err err = {0};
        struct rig_event_writer *writers[2];
        struct rig_output outputs[2] = {memory_file(), memory_file()};
        const struct rig_event_writer_options options = {.save = {.form = form}, .workload = RIG_WORKLOAD_LIST_APPEND};
        for (size_t w = 0; w < 2; w++) {
            check(rig_event_writer_new(&options, &outputs[w], &writers[w], &err), &err);
            for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
                invoke(writers[w], (int64_t)i * 10);
                complete(writers[w], (int64_t)i * 10 + 5, reads[i].elements, reads[i].count, w * reads[i].origin,
                         w == 0 ? 0 : reads[i].origin_count);
            }
            check(rig_event_writer_finish(writers[w], &err), &err);
        }
        struct rig_buf plain = file_of(&outputs[0]), helped = file_of(&outputs[1]);
        assert_int_equal(plain.size, helped.size);
        assert_memory_equal(plain.data, helped.data, plain.size);
        rig_buf_done(&plain);
        rig_buf_done(&helped);
        rig_event_writer_free(writers[0]);
        rig_event_writer_free(writers[1]);
    }
}

static void forgotten_keys_are_written_again(void **state)
{
    (void)state;
    static const int64_t elements[] = {11, 12};
    struct rig_err err = {0};
    struct rig_event_writer *writer = NULL;
    const struct rig_event_writer_options options = {.save = {.form = RIG_FORM_JSON_LINES}};
    struct rig_output output = memory_file();
    check(rig_event_writer_new(&options, &output, &writer, &err), &err);
    for (int64_t i = 0; i < 3; i++) {
        invoke(writer, i * 10);
        complete(writer, i * 10 + 5, elements, 2, 1, 2);
        rig_event_writer_forget(writer, 1);
        rig_event_writer_forget(writer, 2);
    }
    check(rig_event_writer_finish(writer, &err), &err);
    struct rig_buf file = file_of(&output);
    const char *at = rig_buf_text(&file);
    uint32_t count = 0;
    while ((at = strstr(at, "[[\"r\",1,[11,12]]]")) != NULL) {
        count++;
        at++;
    }
    assert_int_equal(count, 3);
    rig_buf_done(&file);
    rig_event_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_reads_back),
        cmocka_unit_test(origins_change_nothing),
        cmocka_unit_test(forgotten_keys_are_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
