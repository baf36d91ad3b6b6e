/* drivers/http/transaction_state: sets, the effect of operations on a key, and the answers to reads. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/http/transaction_state.h"

enum { ROOM = 64 };

#define APPEND RIG_OP_APPEND
#define LIST   RIG_OP_READ_LIST
#define WRITE  RIG_OP_WRITE
#define READ   RIG_OP_READ_REGISTER

static int64_t room[ROOM];
static struct rig_read reads[8];
static struct rig_transaction transaction;
static struct rig_arena arena;
static struct rig_transaction_state state;

static int64_t *elements(struct rig_transaction *asked, size_t count)
{
    return asked->element_count + count <= ROOM ? room + asked->element_count : NULL;
}

static const struct rig_core core = {.elements = elements};

static void begin(const struct rig_op *ops, uint32_t count)
{
    memset(reads, 0, sizeof reads);
    transaction = (struct rig_transaction){.ops = ops, .op_count = count, .reads = reads, .elements = room};
    rig_arena_reset(&arena);
    assert_true(rig_state_begin(&state, &core, &arena, &transaction));
}

static void tell_list(uint32_t key, const int64_t *list, size_t count)
{
    state.keys[key].told = true;
    state.keys[key].exists = list != NULL;
    state.keys[key].value = (struct rig_value){.kind = RIG_IS_LIST, .list = list, .count = count};
}

static void saw_list(uint32_t op, const int64_t *list, size_t count)
{
    assert_int_equal(reads[op].state, RIG_READ_SEEN);
    assert_int_equal(reads[op].count, count);
    assert_memory_equal(room + reads[op].first_element, list, count * sizeof *list);
}

static void test_sets(void **unused)
{
    (void)unused;
    const struct rig_op ops[] = {{LIST, 7, 0},   {APPEND, 5, 1}, {LIST, 5, 0},
                                 {APPEND, 7, 2}, {APPEND, 5, 3}, {LIST, 9, 0}};
    begin(ops, 6);
    assert_int_equal(rig_state_set_size(&state, RIG_SET_ONCE), 1);
    assert_int_equal(rig_state_set_size(&state, RIG_SET_OPERATIONS), 6);
    assert_int_equal(rig_state_set_size(&state, RIG_SET_KEYS), 3);
    assert_int_equal(rig_state_set_size(&state, RIG_SET_READS), 2);
    assert_int_equal(rig_state_set_size(&state, RIG_SET_WRITES), 2);
    assert_int_equal(rig_state_key(&state, RIG_SET_KEYS, 1)->key, 5);
    assert_int_equal(rig_state_key(&state, RIG_SET_READS, 1)->key, 9);
    assert_int_equal(rig_state_key(&state, RIG_SET_WRITES, 0)->key, 5);
    assert_int_equal(rig_state_key(&state, RIG_SET_OPERATIONS, 3)->key, 7);
}

static void test_lists(void **unused)
{
    (void)unused;
    static const int64_t told[] = {10, 20}, after_one[] = {10, 20, 1}, after_all[] = {10, 20, 1, 3}, fresh[] = {2};
    const struct rig_op ops[] = {{LIST, 5, 0}, {APPEND, 5, 1}, {LIST, 5, 0}, {APPEND, 5, 3},
                                 {LIST, 6, 0}, {APPEND, 6, 2}, {LIST, 6, 0}};
    begin(ops, 7);
    assert_int_equal(rig_state_final_value(&state, &state.keys[0]).kind, RIG_IS_UNKNOWN);
    assert_int_equal(rig_state_answer_reads(&state), RIG_STATE_UNTOLD);
    begin(ops, 7);
    tell_list(0, told, 2);
    tell_list(1, NULL, 0);
    const struct rig_value left = rig_state_final_value(&state, &state.keys[0]);
    assert_int_equal(left.count, 4);
    assert_memory_equal(left.list, after_all, sizeof after_all);
    assert_int_equal(rig_state_answer_reads(&state), RIG_STATE_ANSWERED);
    saw_list(0, told, 2);
    saw_list(2, after_one, 3);
    assert_int_equal(reads[4].state, RIG_READ_NIL);
    saw_list(6, fresh, 1);
}

static void test_registers(void **unused)
{
    (void)unused;
    const struct rig_op ops[] = {{WRITE, 5, 1}, {READ, 5, 0}, {WRITE, 5, 2}, {READ, 6, 0}, {WRITE, 6, 9}};
    begin(ops, 5);
    /* A write does not need the previous value. */
    assert_int_equal(rig_state_final_value(&state, &state.keys[0]).integer, 2);
    state.keys[1].told = state.keys[1].exists = true;
    state.keys[1].value = (struct rig_value){.kind = RIG_IS_INTEGER, .integer = -4};
    assert_int_equal(rig_state_answer_reads(&state), RIG_STATE_ANSWERED);
    assert_int_equal(reads[1].value, 1);
    assert_int_equal(reads[3].value, -4);
    assert_int_equal(rig_state_final_value(&state, &state.keys[1]).integer, 9);
}

static void test_an_operations_own_answer_counts(void **unused)
{
    (void)unused;
    static const int64_t seen[] = {1, 2, 3};
    const struct rig_op ops[] = {{LIST, 5, 0}, {LIST, 5, 0}};
    const struct rig_value value = {.kind = RIG_IS_LIST, .list = seen, .count = 3};
    begin(ops, 2);
    assert_true(rig_state_answer_op(&state, 0, true, &value));
    assert_true(rig_state_answer_op(&state, 1, false, &value));
    assert_int_equal(rig_state_answer_reads(&state), RIG_STATE_ANSWERED);
    saw_list(0, seen, 3);
    assert_int_equal(reads[1].state, RIG_READ_NIL);
}

static void test_more_elements_than_the_core_takes(void **unused)
{
    (void)unused;
    static const int64_t many[ROOM + 1];
    const struct rig_op ops[] = {{LIST, 5, 0}};
    begin(ops, 1);
    tell_list(0, many, ROOM + 1);
    assert_int_equal(rig_state_answer_reads(&state), RIG_STATE_NO_ROOM);
}

static int prepare(void **unused)
{
    (void)unused;
    rig_arena_init(&arena, 0);
    return 0;
}

static int clean(void **unused)
{
    (void)unused;
    rig_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_an_operations_own_answer_counts),
        cmocka_unit_test(test_more_elements_than_the_core_takes),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
