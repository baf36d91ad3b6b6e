#include "tests/model/as_registers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/vec.h"
#include "history/model/builder.h"

RIG_VEC(struct rig_op, register_ops)
RIG_VEC(struct rig_read, register_reads)

static void require(bool done, const char *what)
{
    if (done)
        return;
    (void)fprintf(stderr, "as_registers: %s\n", what);
    exit(3);
}

static void add_op(const struct rig_history *lists, const struct rig_txn_op *mop, struct register_ops *ops,
                   struct register_reads *reads)
{
    struct rig_op op = {.kind = RIG_OP_WRITE, .key = lists->keys[mop->key]};
    struct rig_read read = {.state = RIG_READ_UNKNOWN};
    if (mop->kind == RIG_OP_APPEND) {
        op.value = mop->value;
    } else {
        struct rig_read_list list = rig_txn_op_list(lists, mop);
        op.kind = RIG_OP_READ_REGISTER;
        if (mop->read_state != RIG_READ_UNKNOWN)
            read.state = list.count == 0 ? RIG_READ_NIL : RIG_READ_SEEN;
        read.value = list.count == 0 ? 0 : rig_read_element(&list, list.count - 1);
    }
    require(register_ops_add(ops, op) && register_reads_add(reads, read), "no memory");
}

struct rig_history *as_registers(const struct rig_history *lists, uint32_t doubt, uint64_t seed)
{
    struct rig_err err = {.text = "no memory"};
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_RW_REGISTER, 0);
    struct rig_history *history = NULL;
    struct register_ops ops = {0};
    struct register_reads reads = {0};
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 2);
    require(builder != NULL, "no memory");
    for (uint32_t number = 0; number < lists->txn_count; number++) {
        const struct rig_txn *txn = &lists->txns[number];
        bool doubtful = doubt > 0 && txn->outcome == RIG_OUTCOME_OK && rig_rng_below(&rng, doubt) == 0;
        ops.count = reads.count = 0;
        for (uint32_t i = 0; i < rig_txn_op_count(lists, number); i++)
            add_op(lists, &rig_txn_ops(lists, number)[i], &ops, &reads);
        const struct rig_txn_input input = {.invoke_ns = txn->invoke_ns,
                                            .complete_ns = txn->complete_ns,
                                            .invoke_at = txn->invoke_at,
                                            .complete_at = txn->complete_at,
                                            .process = txn->process,
                                            .outcome = doubtful ? RIG_OUTCOME_INFO : (enum rig_outcome)txn->outcome,
                                            .ops = ops.at,
                                            .reads = reads.at,
                                            .op_count = (uint32_t)ops.count};
        require(rig_history_builder_add(builder, &input, &err) == RIG_OK, err.text);
    }
    require(rig_history_builder_finish(builder, &history, &err) == RIG_OK, err.text);
    register_ops_done(&ops);
    register_reads_done(&reads);
    return history;
}
