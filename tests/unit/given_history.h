/*
 * Histories for the checker's unit tests, written in the notation of tests/oracle/small_history.h.
 */
#ifndef RIG_TESTS_UNIT_GIVEN_HISTORY_H
#define RIG_TESTS_UNIT_GIVEN_HISTORY_H

#include "tests/unit/cmocka_first.h"

#include "history/model/builder.h"
#include "tests/oracle/small_history.h"

static inline void given_add(struct rig_history_builder *builder, const struct small_txn *small)
{
    static const enum rig_outcome outcomes[] = {RIG_OUTCOME_OK, RIG_OUTCOME_FAIL, RIG_OUTCOME_INFO};
    struct rig_op ops[SMALL_OPS];
    struct rig_read reads[SMALL_OPS];
    int64_t elements[SMALL_OPS * SMALL_LIST];
    size_t count = 0;
    for (int i = 0; i < small->op_count; i++) {
        const struct small_op *op = &small->ops[i];
        ops[i] = (struct rig_op){
            .kind = op->append ? RIG_OP_APPEND : RIG_OP_READ_LIST, .key = op->key, .value = op->append ? op->value : 0};
        reads[i] = (struct rig_read){.state = !op->append && op->known ? RIG_READ_SEEN : RIG_READ_UNKNOWN,
                                     .first_element = count};
        for (int j = 0; !op->append && op->known && j < op->count; j++) {
            elements[count++] = op->list[j];
            reads[i].count++;
        }
    }
    bool completed = small->complete_at != SMALL_NEVER;
    struct rig_txn_input input = {.invoke_ns = small->invoke_at * INT64_C(1000000),
                                  .complete_ns = completed ? small->complete_at * INT64_C(1000000) : RIG_NO_TIME,
                                  .invoke_at = (uint32_t)small->invoke_at,
                                  .complete_at = completed ? (uint32_t)small->complete_at : RIG_POSITION_NONE,
                                  .process = small->process,
                                  .outcome = outcomes[small->outcome],
                                  .ops = ops,
                                  .reads = reads,
                                  .op_count = (uint32_t)small->op_count,
                                  .elements = elements};
    struct rig_err err = {0};
    if (rig_history_builder_add(builder, &input, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

/* The history of lists; freed with rig_history_free(). Its keys x, y, z, w are the numbers 0 to 3. */
static inline struct rig_history *given_small(const struct small_history *small)
{
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    assert_non_null(builder);
    for (int i = 0; i < small->txn_count; i++)
        given_add(builder, &small->txns[i]);
    struct rig_history *history;
    struct rig_err err = {0};
    if (rig_history_builder_finish(builder, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

/* The same in the notation. */
static inline struct rig_history *given(const char *notation)
{
    static struct small_history small;
    assert_true(small_parse(notation, &small));
    return given_small(&small);
}

/* The transaction that completed at `position`. */
static inline uint32_t given_txn(const struct rig_history *history, uint32_t position)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].complete_at == position)
            return txn;
    }
    fail_msg("no transaction completed at %u", position);
    return 0;
}

/* The dense id of the key, which is in the order of first appearance. */
static inline uint32_t given_key(const struct rig_history *history, char name)
{
    static const char names[] = "xyzw";
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (names[history->keys[key]] == name)
            return key;
    }
    fail_msg("no key %c", name);
    return 0;
}

#endif
