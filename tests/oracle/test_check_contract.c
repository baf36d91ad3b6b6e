#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "checker/judge/check.h"
#include "history/model/builder.h"
#include "tests/oracle/ask_checker.h"

static const char write_skew[] = "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]";

static struct rig_history *history_of(const char *notation)
{
    struct small_history small;
    struct rig_history *history = NULL;
    struct rig_err err = {.rc = RIG_OK};
    assert_true(small_parse(notation, &small));
    if (build_history(&small, NULL, &history, &err) != RIG_OK)
        fail_msg("%s: %s", notation, err.text);
    return history;
}

static struct rig_verdict *verdict_of(const struct rig_history *history, const struct rig_check_options *options)
{
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {.rc = RIG_OK};
    struct rig_check_options prefilled = *options; /* reads of nil are reads of items here, too */
    prefilled.assumptions |= RIG_ASSUMES_PREFILLED;
    if (rig_check(history, &prefilled, &verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return verdict;
}

static enum rig_valid validity(const char *notation, uint64_t levels, rig_anomaly_set anomalies)
{
    struct rig_history *history = history_of(notation);
    const struct rig_check_options options = {.levels = levels, .anomalies = anomalies};
    struct rig_verdict *verdict = verdict_of(history, &options);
    enum rig_valid valid = verdict->valid;
    assert_int_equal(valid == RIG_VALID_UNKNOWN, verdict->unknown_reason != NULL);
    assert_non_null(verdict->summary);
    rig_verdict_free(verdict);
    rig_history_free(history);
    return valid;
}

static void requested_levels_decide(void **state)
{
    (void)state;
    const uint64_t snapshot = RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION);
    const uint64_t serializable = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE);
    assert_int_equal(validity(write_skew, snapshot, 0), RIG_VALID_TRUE);
    assert_int_equal(validity(write_skew, serializable, 0), RIG_VALID_FALSE);
    assert_int_equal(validity(write_skew, snapshot | serializable, 0), RIG_VALID_FALSE);
    assert_int_equal(validity(write_skew, 0, 0), RIG_VALID_FALSE); /* strict serializable, unless asked otherwise */
    assert_int_equal(validity(write_skew, snapshot, RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM)), RIG_VALID_FALSE);
    assert_int_equal(validity(write_skew, snapshot, RIG_ANOMALY_BIT(RIG_ANOMALY_G1A)), RIG_VALID_TRUE);
}

static void nothing_observed_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(validity("", 0, 0), RIG_VALID_UNKNOWN);
    assert_int_equal(validity("ok 0 0-1: ax1; ok 1 2-3: ax2", 0, 0), RIG_VALID_UNKNOWN);
    assert_int_equal(validity("info 0 0-1: ax1; fail 1 2-3: rx[1]", 0, 0), RIG_VALID_UNKNOWN);
    assert_int_equal(validity("ok 0 0-1: ax1; ok 1 2-3: rx[1]", 0, 0), RIG_VALID_TRUE);
}

static void frontiers_are_those_of_the_fates(void **state)
{
    (void)state;
    struct rig_history *history = history_of("ok 0 0-2: ax1 ay1; ok 1 1-3: rx[1] ry[]; ok 2 4-5: rx[1] ry[1];"
                                             "fail 3 6-7: ax2; info 4 8-: ax3");
    struct rig_verdict *verdict = verdict_of(history, &(struct rig_check_options){0});
    uint64_t refuted = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        assert_non_null(verdict->levels[level].reason);
        refuted |= verdict->levels[level].fate == RIG_FATE_REFUTED ? RIG_LEVEL_BIT(level) : 0;
    }
    uint64_t all = RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1;
    assert_true(verdict->weakest_refuted == rig_levels_weakest(refuted));
    assert_true(verdict->strongest_unrefuted == rig_levels_strongest(all & ~refuted));
    assert_int_equal(verdict->ok_count, 3);
    assert_int_equal(verdict->fail_count, 1);
    assert_int_equal(verdict->info_count, 1);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

static void add(struct rig_history_builder *builder, uint32_t invoke_at, uint32_t complete_at, int64_t process,
                const struct rig_op *ops, const struct rig_read *reads, uint32_t op_count, const int64_t *elements)
{
    struct rig_err err = {.rc = RIG_OK};
    const struct rig_txn_input input = {.invoke_ns = RIG_NO_TIME,
                                        .complete_ns = RIG_NO_TIME,
                                        .invoke_at = invoke_at,
                                        .complete_at = complete_at,
                                        .process = process,
                                        .outcome = RIG_OUTCOME_OK,
                                        .ops = ops,
                                        .reads = reads,
                                        .op_count = op_count,
                                        .elements = elements};
    if (rig_history_builder_add(builder, &input, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static struct rig_history *finished(struct rig_history_builder *builder)
{
    struct rig_history *history = NULL;
    struct rig_err err = {.rc = RIG_OK};
    if (rig_history_builder_finish(builder, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void expect_refusal(struct rig_history *history, const struct rig_check_options *options, enum rig_rc expected)
{
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {.rc = RIG_OK};
    assert_int_equal(rig_check(history, options, &verdict, &err), expected);
    assert_null(verdict);
    assert_int_not_equal(err.text[0], '\0');
    rig_history_free(history);
}

static void broken_workloads_are_refused(void **state)
{
    (void)state;
    /* one value twice to one key: the writer of the value is ambiguous */
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    const struct rig_op append = {.kind = RIG_OP_APPEND, .key = 7, .value = 1};
    add(builder, 0, 1, 0, &append, NULL, 1, NULL);
    add(builder, 2, 3, 0, &append, NULL, 1, NULL);
    expect_refusal(finished(builder), &(struct rig_check_options){0}, RIG_E_INPUT);
    /* the same value to another key is fine */
    builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    const struct rig_op other = {.kind = RIG_OP_APPEND, .key = 8, .value = 1};
    add(builder, 0, 1, 0, &append, NULL, 1, NULL);
    add(builder, 2, 3, 0, &other, NULL, 1, NULL);
    struct rig_history *history = finished(builder);
    rig_verdict_free(verdict_of(history, &(struct rig_check_options){0}));
    rig_history_free(history);
}

enum { MANY = 100 };

/* Transactions that all read key 1 as empty and append to it; no transaction reads the result. */
static struct rig_history *many_lost_updates(void)
{
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    const struct rig_read reads[2] = {{.state = RIG_READ_NIL}};
    for (uint32_t i = 0; i < MANY; i++) {
        const struct rig_op ops[2] = {{.kind = RIG_OP_READ_LIST, .key = 1},
                                      {.kind = RIG_OP_APPEND, .key = 1, .value = i + 1}};
        add(builder, i, 1000 + i, (int64_t)i, ops, reads, 2, NULL);
    }
    return finished(builder);
}

static void witnesses_are_bounded(void **state)
{
    (void)state;
    struct rig_history *history = many_lost_updates();
    for (uint32_t most = 1; most <= 5; most += 2) {
        struct rig_verdict *verdict = verdict_of(history, &(struct rig_check_options){.max_witnesses = most});
        for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
            assert_true(verdict->findings[a].witness_count <= most);
            assert_true(verdict->findings[a].witness_count <= verdict->findings[a].count);
        }
        assert_true(verdict->findings[RIG_ANOMALY_LOST_UPDATE].witness_count >= 1);
        rig_verdict_free(verdict);
    }
    rig_history_free(history);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    expect_refusal(many_lost_updates(), &(struct rig_check_options){.limit_bytes = 1000}, RIG_E_LIMIT);
}

static void same_history_same_words(void **state)
{
    (void)state;
    struct rig_history *history = many_lost_updates();
    struct rig_verdict *first = verdict_of(history, &(struct rig_check_options){0});
    struct rig_verdict *second = verdict_of(history, &(struct rig_check_options){0});
    assert_string_equal(first->summary, second->summary);
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
        assert_int_equal(first->findings[a].count, second->findings[a].count);
        assert_int_equal(first->findings[a].witness_count, second->findings[a].witness_count);
        for (uint32_t i = 0; i < first->findings[a].witness_count; i++)
            assert_string_equal(first->findings[a].witnesses[i].text, second->findings[a].witnesses[i].text);
    }
    rig_verdict_free(first);
    rig_verdict_free(second);
    rig_history_free(history);
}

/*
 * A chain: every transaction appends to the key of its index and reads the key before; all overlap but its two ends.
 * The last one completes before the first is invoked, which did not see its append: a contradiction in real time of two
 * transactions. The chain also makes a long cycle.
 */
static struct rig_history *long_chain(uint32_t length)
{
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    const int64_t one = 1;
    const struct rig_read nil_read[2] = {{.state = RIG_READ_NIL}};
    const struct rig_read one_read[2] = {{.state = RIG_READ_SEEN, .count = 1}};
    /* the writer of key 0 completes before the stale reader starts; it saw the end of the chain */
    const struct rig_op writer[2] = {{.kind = RIG_OP_READ_LIST, .key = length},
                                     {.kind = RIG_OP_APPEND, .key = 0, .value = 1}};
    add(builder, length, length + 1, 0, writer, one_read, 2, &one);
    const struct rig_op reader[2] = {{.kind = RIG_OP_READ_LIST, .key = 0},
                                     {.kind = RIG_OP_APPEND, .key = 1, .value = 1}};
    add(builder, length + 2, length + 3, 1, reader, nil_read, 2, NULL);
    for (uint32_t i = 2; i <= length; i++) {
        const struct rig_op link[2] = {{.kind = RIG_OP_READ_LIST, .key = i - 1},
                                       {.kind = RIG_OP_APPEND, .key = i, .value = 1}};
        add(builder, i - 2, length + 2 + i, i, link, one_read, 2, &one);
    }
    const struct rig_op last = {.kind = RIG_OP_READ_LIST, .key = 0};
    add(builder, 3 * length, 3 * length + 1, 1, &last, one_read, 1, &one);
    return finished(builder);
}

static void contradiction_of_two_is_shown_as_two(void **state)
{
    (void)state;
    struct rig_history *history = long_chain(20000);
    struct rig_verdict *verdict = verdict_of(history, &(struct rig_check_options){0});
    const struct rig_finding *stale = &verdict->findings[RIG_ANOMALY_G_SINGLE_REALTIME];
    assert_int_equal(verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_HELD);
    assert_int_equal(verdict->valid, RIG_VALID_FALSE);
    assert_true(stale->witness_count >= 1);
    assert_int_equal(stale->witnesses[0].txn_count, 2);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

/* Without invocations only the order within a process is known. */
static void completions_alone_give_no_real_time(void **state)
{
    (void)state;
    for (int64_t other = 0; other < 2; other++) {
        struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
        const int64_t one = 1;
        const struct rig_op append = {.kind = RIG_OP_APPEND, .key = 1, .value = 1};
        const struct rig_op read = {.kind = RIG_OP_READ_LIST, .key = 1};
        add(builder, RIG_POSITION_NONE, 0, 0, &append, NULL, 1, NULL);
        add(builder, RIG_POSITION_NONE, 1, other, &read, &(struct rig_read){.state = RIG_READ_NIL}, 1, NULL);
        add(builder, RIG_POSITION_NONE, 2, 2, &read, &(struct rig_read){.state = RIG_READ_SEEN, .count = 1}, 1, &one);
        struct rig_history *history = finished(builder);
        struct rig_verdict *verdict = verdict_of(history, &(struct rig_check_options){0});
        assert_true(verdict->levels[RIG_LEVEL_SERIALIZABLE].fate != RIG_FATE_REFUTED);
        assert_int_equal(verdict->levels[RIG_LEVEL_STRONG_SESSION_SERIALIZABLE].fate == RIG_FATE_REFUTED, other == 0);
        if (other != 0)
            assert_true(verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate == RIG_FATE_NOT_REFUTED);
        rig_verdict_free(verdict);
        rig_history_free(history);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requested_levels_decide),
        cmocka_unit_test(nothing_observed_is_unknown),
        cmocka_unit_test(frontiers_are_those_of_the_fates),
        cmocka_unit_test(broken_workloads_are_refused),
        cmocka_unit_test(witnesses_are_bounded),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(same_history_same_words),
        cmocka_unit_test(contradiction_of_two_is_shown_as_two),
        cmocka_unit_test(completions_alone_give_no_real_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
