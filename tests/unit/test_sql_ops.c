/* The statements of operations, and the sums that increments write. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/sql/sql_ops.h"

enum { OPS = 8 };

/* A transaction of reads of 10 (`r`) and increments by their place (`+`), of the keys in `keys`. */
struct made {
    struct rig_op ops[OPS];
    struct rig_read reads[OPS];
    struct rig_transaction transaction;
};

static const struct rig_transaction *make(struct made *made, const char *kinds, const char *keys, uint32_t from,
                                          uint32_t to)
{
    *made = (struct made){.transaction = {.rollback = {.from = from, .to = to}}};
    for (uint32_t i = 0; kinds[i] != '\0'; i++) {
        const bool reads = kinds[i] == 'r';
        made->ops[i] = (struct rig_op){
            .kind = reads ? RIG_OP_READ_COUNTER : RIG_OP_INCREMENT, .key = keys[i], .value = reads ? 0 : (int64_t)i};
        made->reads[i] = (struct rig_read){.state = reads ? RIG_READ_SEEN : RIG_READ_UNKNOWN, .value = reads ? 10 : 0};
        made->transaction.op_count++;
    }
    made->transaction.ops = made->ops;
    made->transaction.reads = made->reads;
    return &made->transaction;
}

static void an_increment_builds_on_the_last_read_of_its_key(void **state)
{
    (void)state;
    struct made made;
    const struct rig_transaction *transaction = make(&made, "rr+r+", "aabba", 0, 0);
    assert_int_equal(rig_sql_builds_on(transaction, 0), UINT32_MAX); /* a read */
    assert_int_equal(rig_sql_builds_on(transaction, 2), UINT32_MAX); /* the read of its key comes later */
    assert_int_equal(rig_sql_builds_on(transaction, 4), 1);
}

static void a_sum_has_the_increments_of_its_key_alone(void **state)
{
    (void)state;
    struct made made;
    const struct rig_transaction *transaction = make(&made, "+r+++", "aaaba", 0, 0);
    assert_int_equal(rig_sql_sum_since(transaction, 1, 2), 10 + 2);
    assert_int_equal(rig_sql_sum_since(transaction, 1, 4), 10 + 2 + 4);
}

/* Operations 2 and 3 are undone before operation 4: until then their increments are in the row, afterwards not. */
static void a_sum_leaves_out_what_a_savepoint_undid(void **state)
{
    (void)state;
    struct made made;
    const struct rig_transaction *transaction = make(&made, "r++++", "aaaaa", 2, 4);
    assert_int_equal(rig_sql_sum_since(transaction, 0, 2), 10 + 1 + 2);
    assert_int_equal(rig_sql_sum_since(transaction, 0, 3), 10 + 1 + 2 + 3);
    assert_int_equal(rig_sql_sum_since(transaction, 0, 4), 10 + 1 + 4);
}

/* Reads among the undone operations are of keys that these do not write, so a later increment may build on them. */
static void an_undone_read_can_be_built_on(void **state)
{
    (void)state;
    struct made made;
    const struct rig_transaction *transaction = make(&made, "+r+", "baa", 0, 2);
    assert_int_equal(rig_sql_builds_on(transaction, 2), 1);
    assert_int_equal(rig_sql_sum_since(transaction, 1, 2), 10 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_increment_builds_on_the_last_read_of_its_key),
        cmocka_unit_test(a_sum_has_the_increments_of_its_key_alone),
        cmocka_unit_test(a_sum_leaves_out_what_a_savepoint_undid),
        cmocka_unit_test(an_undone_read_can_be_built_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
