#include "tests/unit/cmocka_first.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "checker/objects/object_model.h"
#include "checker/objects/object_sequential.h"
#include "checker/objects/object_sessions.h"
#include "checker/prove/witness/verify_type.h"
#include "history/source/load.h"

struct stage {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_sequential sequential;
};

enum { FIELDS = 5 };

/* The next field of a line, without its blank. */
static const char *field(const char **at, char *text, size_t room)
{
    const size_t length = strcspn(*at, " \n");
    assert_true(length < room);
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length + 1;
    return text;
}

/* Operations as "process type function key value", all completions. */
static struct rig_history *parse(const char *lines, enum rig_workload workload)
{
    static const char *const names[FIELDS] = {"{\"process\":", ",\"type\":\"", "\",\"f\":\"",
                                              "\",\"key\":", ",\"value\":"};
    const struct rig_load_options load = {.form = RIG_FORM_JSON_LINES, .workload_given = true, .workload = workload};
    struct rig_history *history = NULL;
    struct rig_buf text;
    struct rig_err err = {0};
    char value[32];
    rig_buf_init(&text, 0);
    while (*lines != '\0') {
        for (int i = 0; i < FIELDS; i++) {
            rig_buf_add_text(&text, names[i]);
            rig_buf_add_text(&text, field(&lines, value, sizeof value));
        }
        rig_buf_add_text(&text, "}\n");
    }
    assert_int_equal(RIG_OK, rig_history_parse("hand", text.data, text.size, &load, &history, &err));
    rig_buf_done(&text);
    return history;
}

static enum rig_object_answer decide(struct stage *stage, const char *lines, enum rig_workload workload, uint64_t steps)
{
    const struct rig_object_search_limits limits = {.deadline_ns = rig_clock_now_ns() + 60 * RIG_NS_PER_S,
                                                    .steps = steps};
    struct rig_err err = {0};
    stage->history = parse(lines, workload);
    rig_arena_init(&stage->arena, 0);
    assert_int_equal(RIG_OK, rig_object_ops_check(stage->history, &err));
    assert_int_equal(RIG_OK, rig_objects_sequential(stage->history, (struct rig_known_initial){0}, &limits,
                                                    &stage->arena, &stage->sequential, &err));
    return stage->sequential.answer;
}

static void clean(struct stage *stage)
{
    rig_arena_done(&stage->arena);
    rig_history_free(stage->history);
}

static void expect(enum rig_object_answer wanted, const char *lines, enum rig_workload workload, uint32_t txn_count)
{
    struct stage stage;
    assert_int_equal(wanted, decide(&stage, lines, workload, 0));
    if (wanted == RIG_OBJECT_REFUTED) {
        assert_int_equal(txn_count, stage.sequential.witness.txn_count);
        assert_null(rig_verify_object_order(&(struct rig_proof){.history = stage.history}, &stage.sequential.witness));
    }
    clean(&stage);
}

/* A process that lags is allowed, one that goes back is not; what the contradiction does not need is left out. */
static void processes_keep_their_order(void **state)
{
    (void)state;
    expect(RIG_OBJECT_LINEARIZABLE,
           "0 ok write 0 1\n"
           "0 ok write 0 2\n"
           "1 ok read 0 1\n",
           RIG_WORKLOAD_CAS_REGISTER, 0);
    expect(RIG_OBJECT_REFUTED,
           "0 ok write 0 1\n"
           "0 ok write 0 2\n"
           "0 ok write 0 3\n"
           "1 ok read 0 2\n"
           "1 ok read 0 1\n"
           "1 ok read 0 3\n",
           RIG_WORKLOAD_CAS_REGISTER, 4);
}

/* Each object has an order of its own, and both have none together. */
static void objects_are_joined(void **state)
{
    (void)state;
    static const char lines[] = "0 ok write 0 1\n"
                                "1 ok write 1 1\n"
                                "0 ok read 1 null\n"
                                "1 ok read 0 null\n";
    expect(RIG_OBJECT_REFUTED, lines, RIG_WORKLOAD_CAS_REGISTER, 4);
    expect(RIG_OBJECT_LINEARIZABLE,
           "0 ok write 0 1\n"
           "1 ok write 1 1\n"
           "0 ok read 1 null\n"
           "1 ok read 0 1\n",
           RIG_WORKLOAD_CAS_REGISTER, 0);
    /* The orders found for the two objects contradict each other, and others do not. */
    expect(RIG_OBJECT_LINEARIZABLE,
           "0 ok write 0 1\n"
           "1 ok read 0 null\n"
           "1 ok write 1 1\n"
           "0 ok read 1 null\n"
           "2 ok read 1 1\n"
           "2 ok read 0 1\n",
           RIG_WORKLOAD_CAS_REGISTER, 0);
}

/* An operation of unknown outcome may take effect late or never, but not before what its process completed earlier. */
static void unknown_outcomes(void **state)
{
    (void)state;
    expect(RIG_OBJECT_LINEARIZABLE,
           "0 info write 0 1\n"
           "1 ok read 0 null\n"
           "1 ok read 0 1\n",
           RIG_WORKLOAD_CAS_REGISTER, 0);
    expect(RIG_OBJECT_REFUTED,
           "0 ok write 0 2\n"
           "0 info write 0 1\n"
           "1 ok read 0 1\n"
           "1 ok read 0 2\n",
           RIG_WORKLOAD_CAS_REGISTER, 4);
    expect(RIG_OBJECT_REFUTED,
           "0 info cas 0 [2,1]\n"
           "1 ok read 0 1\n",
           RIG_WORKLOAD_CAS_REGISTER, 2);
}

static void queues(void **state)
{
    (void)state;
    expect(RIG_OBJECT_LINEARIZABLE,
           "0 ok enqueue 0 1\n"
           "1 ok dequeue 0 null\n"
           "1 ok dequeue 0 1\n",
           RIG_WORKLOAD_QUEUE, 0);
    expect(RIG_OBJECT_REFUTED,
           "0 ok enqueue 0 1\n"
           "0 ok dequeue 0 null\n"
           "1 ok dequeue 0 1\n"
           "1 ok enqueue 0 2\n"
           "0 ok dequeue 0 1\n",
           RIG_WORKLOAD_QUEUE, 4);
}

/* Without steps nothing is decided, and a wrong answer is none. */
static void steps_are_spent(void **state)
{
    (void)state;
    struct rig_buf lines;
    struct stage stage;
    rig_buf_init(&lines, 0);
    for (int i = 0; i < 200; i++)
        rig_buf_printf(&lines, "%d ok enqueue 0 %d\n", i % 8, i);
    for (int i = 0; i < 200; i++)
        rig_buf_printf(&lines, "%d ok dequeue 0 %d\n", 8 + i % 4, i);
    rig_buf_printf(&lines, "7 ok dequeue 0 -1\n");
    assert_int_equal(RIG_OBJECT_TIME, decide(&stage, rig_buf_text(&lines), RIG_WORKLOAD_QUEUE, 1 << 16));
    clean(&stage);
    rig_buf_done(&lines);
}

/* The verifier refuses a witness without an operation that matters, and one whose operations have an order. */
static void verifier_refuses(void **state)
{
    (void)state;
    struct stage stage;
    assert_int_equal(RIG_OBJECT_REFUTED, decide(&stage,
                                                "0 ok write 0 1\n"
                                                "0 ok write 0 2\n"
                                                "0 ok read 0 1\n"
                                                "1 ok read 0 1\n",
                                                RIG_WORKLOAD_CAS_REGISTER, 0));
    struct rig_witness *witness = &stage.sequential.witness;
    assert_int_equal(3, witness->txn_count);
    uint32_t without_write[] = {1, 2}, without_read[] = {0, 1}, twice[] = {0, 1, 2, 2};
    witness->txns = without_write;
    witness->txn_count = 2;
    assert_string_equal("leaves out an operation that changes the object",
                        rig_verify_object_order(&(struct rig_proof){.history = stage.history}, witness));
    witness->txns = without_read;
    assert_string_equal("has an order with the others",
                        rig_verify_object_order(&(struct rig_proof){.history = stage.history}, witness));
    witness->txns = twice;
    witness->txn_count = 4;
    assert_string_equal("is no operation on the object, or named twice",
                        rig_verify_object_order(&(struct rig_proof){.history = stage.history}, witness));
    clean(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_keep_their_order),
        cmocka_unit_test(objects_are_joined),
        cmocka_unit_test(unknown_outcomes),
        cmocka_unit_test(queues),
        cmocka_unit_test(steps_are_spent),
        cmocka_unit_test(verifier_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
