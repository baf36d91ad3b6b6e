/* Runs with questions from a list instead of the generator. */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "generator/question_stream.h"
#include "run/load/run.h"
#include "tests/unit/fake_database.h"
#include "tests/unit/fake_recorder.h"

/* In place of the plan's writer: `run/` stores the text as the record's metadata. */
void rig_plan_write(const struct rig_plan *plan, bool with_help, struct rig_buf *yaml)
{
    (void)with_help;
    rig_buf_printf(yaml, "name: %s\n", plan->name);
}

/* -- a list as the source of questions ----------------------------------------------------------------------------- */

enum { CLIENTS = 4, LISTED_MOST = 200, LISTED_OPS = 3 };

struct listed_stream {
    struct rig_question_stream stream;
    uint32_t client;
    uint64_t count, position;
    struct rig_op ops[LISTED_OPS];
};

static uint64_t listed_counts[CLIENTS];
static atomic_int listed_open;

/* Transaction `number` of a client: appends of values that name both, to two keys, and a read. */
static void listed_ops(uint32_t client, uint64_t number, struct rig_op ops[LISTED_OPS])
{
    const int64_t value = 1 + (int64_t)client + (int64_t)number * CLIENTS;
    ops[0] = (struct rig_op){.kind = RIG_OP_APPEND, .key = (int64_t)number, .value = value};
    ops[1] = (struct rig_op){.kind = RIG_OP_READ_LIST, .key = (int64_t)number + 1};
    ops[2] = (struct rig_op){.kind = RIG_OP_APPEND, .key = client, .value = 1000 + value};
}

static struct listed_stream *listed_of(const struct rig_question_stream *stream)
{
    return (struct listed_stream *)(uintptr_t)stream;
}

static void listed_next(struct rig_question_stream *stream, struct rig_transaction *transaction)
{
    struct listed_stream *listed = listed_of(stream);
    assert_true(listed->position < listed->count);
    listed_ops(listed->client, listed->position++, listed->ops);
    transaction->ops = listed->ops;
    transaction->op_count = LISTED_OPS;
    transaction->read_only = false;
    transaction->hold = (struct rig_hold){0};
}

static uint64_t listed_left(const struct rig_question_stream *stream)
{
    return listed_of(stream)->count - listed_of(stream)->position;
}

static uint64_t listed_position(const struct rig_question_stream *stream)
{
    return listed_of(stream)->position;
}

static int64_t listed_key_bound(const struct rig_question_stream *stream)
{
    const int64_t bound = (int64_t)listed_of(stream)->position + 1;
    return bound > CLIENTS ? bound : CLIENTS;
}

static void listed_free(struct rig_question_stream *stream)
{
    atomic_fetch_sub(&listed_open, 1);
    free(stream);
}

static const struct rig_question_stream_ops listed_stream_ops = {
    .next = listed_next,
    .left = listed_left,
    .position = listed_position,
    .key_bound = listed_key_bound,
    .free = listed_free,
};

static enum rig_rc listed_open_stream(const struct rig_questions *questions, uint32_t client, uint32_t client_count,
                                      struct rig_question_stream **stream, struct rig_err *err)
{
    (void)questions, (void)err;
    assert_int_equal(client_count, CLIENTS);
    struct listed_stream *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->stream.ops = &listed_stream_ops;
    made->client = client;
    made->count = listed_counts[client];
    atomic_fetch_add(&listed_open, 1);
    *stream = &made->stream;
    return RIG_OK;
}

static const struct rig_questions listed_questions = {.most_operations = LISTED_OPS, .open = listed_open_stream};

/* -- runs ---------------------------------------------------------------------------------------------------------- */

static struct rig_plan plan;
static struct rig_run_result result;
static struct rig_err err;

static int prepare(void **state)
{
    (void)state;
    fake_reset();
    const uint64_t counts[CLIENTS] = {150, 0, LISTED_MOST, 1};
    memcpy(listed_counts, counts, sizeof counts);
    err = (struct rig_err){0};
    plan = (struct rig_plan){
        .name = "test",
        .seed = 11,
        .workload = {.type = RIG_WORKLOAD_LIST_APPEND,
                     .transactions = 7, /* has no effect */
                     .min_operations = 1,
                     .max_operations = 1,
                     .active_keys = 5,
                     .appends_per_key = 32},
        .clients = {.count = CLIENTS,
                    .backoff_ns = RIG_NS_PER_MS,
                    .max_backoff_ns = 8 * RIG_NS_PER_MS,
                    .stop_grace_ns = 5 * RIG_NS_PER_S},
        .driver = &fake_driver,
    };
    return 0;
}

static void run(void)
{
    const struct rig_run_options options = {.folder = "/nonexistent", .questions = &listed_questions};
    const enum rig_rc rc = rig_run(&plan, &options, &result, &err);
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(atomic_load(&listed_open), 0);
}

/* The client's recorded transactions begin with its list, and no more of the load follows. */
static void assert_issued(uint32_t client)
{
    const struct rig_channel *channel = &fake_record.channels[client];
    assert_true(channel->count >= listed_counts[client]);
    for (size_t i = 0; i < channel->count; i++) {
        const struct fake_event *event = &channel->events[i];
        struct rig_op expected[LISTED_OPS];
        listed_ops(client, i, expected);
        if (i >= listed_counts[client]) {
            for (uint32_t op = 0; op < event->op_count; op++)
                assert_int_equal(event->ops[op].kind, RIG_OP_READ_LIST);
            continue;
        }
        assert_int_equal(event->op_count, LISTED_OPS);
        for (uint32_t op = 0; op < LISTED_OPS; op++) {
            assert_int_equal(event->ops[op].kind, expected[op].kind);
            assert_int_equal(event->ops[op].key, expected[op].key);
            assert_int_equal(event->ops[op].value, expected[op].value);
        }
    }
}

static void streams_are_issued_whole_and_in_order(void **state)
{
    (void)state;
    run();
    assert_int_equal(result.counters.invoked, 351);
    assert_int_equal(result.final_reads, 0);
    assert_true(result.effort.load >= 1);
    for (uint32_t client = 0; client < CLIENTS; client++) {
        assert_int_equal(fake_record.channels[client].count, listed_counts[client]);
        assert_issued(client);
    }
}

/* A client that is cut off continues with its own list: no transaction is lost, or issued by another client. */
static void lost_sessions_lose_no_question(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        (void)prepare(NULL);
        fake.info_every = round == 0 ? 5 : 0;
        fake.lose_every = round == 0 ? 0 : 7;
        fake.fail_opens = 10; /* the load may start without some clients */
        run();
        assert_int_equal(result.counters.invoked, 351);
        assert_true(result.counters.sessions_renewed + result.counters.sessions_lost > 40);
        for (uint32_t client = 0; client < CLIENTS; client++)
            assert_issued(client);
    }
}

/* Without a pool of keys there are no closing reads: every key below the bound is read at the end. */
static void final_reads_cover_the_keys_of_the_lists(void **state)
{
    (void)state;
    plan.workload.final_reads = RIG_FINAL_CLOSING;
    run();
    bool is_read[LISTED_MOST + 1] = {false};
    for (uint32_t client = 0; client < CLIENTS; client++) {
        const struct rig_channel *channel = &fake_record.channels[client];
        assert_issued(client);
        for (size_t i = listed_counts[client]; i < channel->count; i++) {
            for (uint32_t op = 0; op < channel->events[i].op_count; op++)
                is_read[channel->events[i].ops[op].key] = true;
        }
    }
    for (int key = 0; key <= LISTED_MOST; key++)
        assert_true(is_read[key]);
    assert_int_equal(result.counters.invoked, 351 + result.final_reads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(streams_are_issued_whole_and_in_order, prepare),
        cmocka_unit_test_setup(lost_sessions_lose_no_question, prepare),
        cmocka_unit_test_setup(final_reads_cover_the_keys_of_the_lists, prepare),
    };
    char journal[] = "/tmp/rig-test-run-XXXXXX";
    if (mkdtemp(journal) == NULL || setenv("RIG_JOURNAL", journal, 1) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    failed += rmdir(journal) == 0 ? 0 : 1; /* nothing was left to undo */
    fake_recorder_release();
    return failed;
}
