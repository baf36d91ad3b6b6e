#include "generator/synthetic/ring.h"

#include "history/types/types.h"

struct link {
    struct rig_op ops[3];
    struct rig_record_read reads[3];
    uint32_t op_count;
};

static const int64_t element = 1;

static void make_link(const struct rig_synthetic *synthetic, uint32_t i, uint32_t count, struct link *link)
{
    const struct rig_data_type *type = &rig_data_types[synthetic->workload.type];
    const int64_t shape = synthetic->shape;
    uint32_t before = i == 0 ? count - 1 : i - 1, after = i + 1 == count ? 0 : i + 1;
    bool wr_in = shape == RIG_SHAPE_RING_WR || (shape == RIG_SHAPE_RING_MIXED && before % 2 == 0);
    bool rw_out = shape == RIG_SHAPE_RING_RW || (shape == RIG_SHAPE_RING_MIXED && i % 2 == 1);
    *link = (struct link){.ops = {{.kind = type->write_op, .key = i, .value = element}}, .op_count = 1};
    if (wr_in) {
        link->ops[link->op_count] = (struct rig_op){.kind = type->read_op, .key = before};
        link->reads[link->op_count++] =
            (struct rig_record_read){.state = RIG_READ_SEEN, .count = 1, .elements = &element};
    }
    if (rw_out) {
        link->ops[link->op_count] = (struct rig_op){.kind = type->read_op, .key = after};
        link->reads[link->op_count++] = (struct rig_record_read){.state = RIG_READ_SEEN};
    }
}

enum rig_rc rig_ring_write(const struct rig_synthetic *synthetic, struct rig_synthetic_records *records,
                           struct rig_synthetic_counts *counts, struct rig_err *err)
{
    uint32_t count = (uint32_t)synthetic->workload.transactions;
    struct link link;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        make_link(synthetic, i, count, &link);
        rc = rig_synthetic_records_invoke(records, i, i, i, link.ops, link.op_count, err);
    }
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        make_link(synthetic, i, count, &link);
        const struct rig_record_completion completion = {.outcome = RIG_OUTCOME_OK, .reads = link.reads};
        rc = rig_synthetic_records_complete(records, i, i, (int64_t)count + i, link.ops, link.op_count, &completion,
                                            err);
        counts->operations += link.op_count;
    }
    counts->transactions = counts->ok = counts->keys = count;
    return rc;
}
