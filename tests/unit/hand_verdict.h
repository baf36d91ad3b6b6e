/*
 * Verdicts made by hand, for the tests of the reports: write skew between two transactions, a clean history, longer
 * cycles, non-cyclic anomalies, an object that is not linearizable, and one with hostile texts. hand_verdict_done()
 * frees the results of hand_verdict_*().
 */
#ifndef RIG_TESTS_UNIT_HAND_VERDICT_H
#define RIG_TESTS_UNIT_HAND_VERDICT_H

#include <stdlib.h>
#include <string.h>

#include "checker/model/verdict.h"
#include "history/model/builder.h"
#include "history/model/value_texts.h"

enum { HAND_TXNS_MAX = 64, HAND_ROOM = 300 }; /* of a picture; of anything */

struct hand_verdict {
    struct rig_verdict verdict;
    struct rig_history *history;
    struct rig_witness witnesses[4];
    uint32_t txns[HAND_ROOM];
    struct rig_step steps[HAND_ROOM];
    struct rig_blocked blocked;
    char *states[2];
};

#define HAND_HOSTILE "<script>alert(\"x\")</script> & ]]> 'q' \033[31m\001\xff\xfe \xc2\x9b \xed\xa0\x80 end"

static inline void hand_refute(struct rig_verdict *verdict, enum rig_level from, enum rig_anomaly because)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if ((rig_level_info(from)->above & RIG_LEVEL_BIT(level)) != 0)
            verdict->levels[level] = (struct rig_level_result){
                .fate = RIG_FATE_REFUTED, .because = because, .reason = (char *)"a witness of the anomaly was found"};
}

/* The frontier sets, from the fates. */
static inline void hand_close(struct rig_verdict *verdict)
{
    uint64_t refuted = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        if (verdict->levels[level].fate == RIG_FATE_REFUTED)
            refuted |= RIG_LEVEL_BIT(level);
    verdict->weakest_refuted = rig_levels_weakest(refuted);
    verdict->strongest_unrefuted = rig_levels_strongest(~refuted & (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1));
}

static inline void hand_add(struct rig_history_builder *builder, int64_t process, uint32_t invoke_at,
                            uint32_t complete_at, enum rig_outcome outcome, const struct rig_op *ops,
                            const struct rig_read *reads, uint32_t op_count, const int64_t *elements)
{
    struct rig_err err = {0};
    const struct rig_txn_input input = {
        .invoke_ns = 1000000000 + (int64_t)invoke_at * 1000000,
        .complete_ns = complete_at == RIG_POSITION_NONE ? RIG_NO_TIME : 1000000000 + (int64_t)complete_at * 1000000,
        .invoke_at = invoke_at,
        .complete_at = complete_at,
        .process = process,
        .outcome = outcome,
        .ops = ops,
        .reads = reads,
        .op_count = op_count,
        .elements = elements,
        .error = outcome == RIG_OUTCOME_OK ? NULL : "40001: could not serialize",
    };
    if (rig_history_builder_add(builder, &input, &err) != RIG_OK)
        abort();
}

static inline void hand_finish(struct hand_verdict *hand, struct rig_history_builder *builder)
{
    struct rig_err err = {0};
    if (rig_history_builder_finish(builder, &hand->history, &err) != RIG_OK)
        abort();
    hand->verdict.history = hand->history;
    hand->verdict.scope = (struct rig_scope){.workload = hand->history->workload,
                                             .has_invocations = hand->history->has_invocations,
                                             .txn_count = hand->history->txn_count,
                                             .op_count = hand->history->op_count,
                                             .committed_count = hand->history->txn_count};
    hand->verdict.ok_count = hand->history->txn_count;
    hand->verdict.valid = RIG_VALID_TRUE;
    hand->verdict.requested_levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE);
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        hand->verdict.levels[level] =
            (struct rig_level_result){.fate = RIG_FATE_HELD, .reason = (char *)"the dependency graph has no cycle"};
    hand->verdict.cost = (struct rig_cost){
        .read_ms = 1.5, .infer_ms = 2.25, .search_ms = 3, .peak_bytes = 4096, .window_count = 1, .pass_count = 1};
}

/* T17 (process 3) and T23 (process 5) each read what the other appended to. */
static inline void hand_verdict_skew(struct hand_verdict *hand)
{
    *hand = (struct hand_verdict){0};
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    const int64_t elements[] = {1, 2};
    const struct rig_read seen[] = {{.state = RIG_READ_SEEN, .count = 2}, {0}};
    const struct rig_read nil[] = {{.state = RIG_READ_NIL}, {0}};
    const struct rig_op set_up[] = {{RIG_OP_APPEND, 5, 1}, {RIG_OP_APPEND, 5, 2}};
    const struct rig_op first[] = {{RIG_OP_READ_LIST, 5, 0}, {RIG_OP_APPEND, 9, 4}};
    const struct rig_op second[] = {{RIG_OP_READ_LIST, 9, 0}, {RIG_OP_APPEND, 5, 3}};
    hand_add(builder, 1, 0, 1, RIG_OUTCOME_OK, set_up, NULL, 2, NULL);
    hand_add(builder, 3, 10, 17, RIG_OUTCOME_OK, first, seen, 2, elements);
    hand_add(builder, 5, 12, 23, RIG_OUTCOME_OK, second, nil, 2, NULL);
    hand_finish(hand, builder);
    struct rig_verdict *verdict = &hand->verdict;
    verdict->valid = RIG_VALID_FALSE;
    verdict->summary = (char *)"Serializability is refuted: T17 and T23 each missed the other's append.";
    hand_refute(verdict, RIG_LEVEL_REPEATABLE_READ, RIG_ANOMALY_G2_ITEM);
    hand_close(verdict);
    hand->txns[0] = 1;
    hand->txns[1] = 2;
    hand->steps[0] =
        (struct rig_step){.from = 1,
                          .to = 2,
                          .kind = RIG_EDGE_RW,
                          .key = 0,
                          .from_value = 2,
                          .to_value = 3,
                          .from_op = 0,
                          .to_op = 1,
                          .text = (char *)"T17 before T23: T17 read key 5 as [1 2] and did not see T23's append of 3."};
    hand->steps[1] =
        (struct rig_step){.from = 2,
                          .to = 1,
                          .kind = RIG_EDGE_RW,
                          .key = 1,
                          .from_value = 0,
                          .to_value = 4,
                          .from_op = 0,
                          .to_op = 1,
                          .text = (char *)"T23 before T17: T23 read key 9 as [] and did not see T17's append of 4."};
    hand->witnesses[0] = (struct rig_witness){
        .anomaly = RIG_ANOMALY_G2_ITEM,
        .txns = hand->txns,
        .txn_count = 2,
        .steps = hand->steps,
        .step_count = 2,
        .key = UINT32_MAX,
        .refutes = rig_level_info(RIG_LEVEL_REPEATABLE_READ)->above,
        .text = (char *)"G2-item: T17 and T23 form a cycle\n"
                        "  T17 = process 3, 0.010 s - 0.017 s: [r 5 [1 2]] [append 9 4]\n"
                        "  - T17 before T23: T17 read key 5 as [1 2] and did not see T23's append of 3."};
    verdict->findings[RIG_ANOMALY_G2_ITEM] =
        (struct rig_finding){.count = 3, .exact = true, .witnesses = hand->witnesses, .witness_count = 1};
}

/*
 * A cycle of `count` transactions, one a process, each overlapping the next; the kinds of its edges repeat ww, wr, rw,
 * and the last is real-time. Every transaction also has irrelevant operations, and long lists.
 */
static inline void hand_verdict_ring(struct hand_verdict *hand, uint32_t count)
{
    *hand = (struct hand_verdict){0};
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    int64_t elements[200];
    for (size_t i = 0; i < 200; i++)
        elements[i] = (int64_t)(1000 + i);
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_op ops[] = {{RIG_OP_APPEND, i, 7},         {RIG_OP_READ_LIST, 100, 0},
                                     {RIG_OP_READ_LIST, i + 1, 0},  {RIG_OP_APPEND, 200 + i, 1},
                                     {RIG_OP_APPEND, 200 + i, 2},   {RIG_OP_APPEND, 200 + i, 3},
                                     {RIG_OP_APPEND, i + 1, 8 + i}, {RIG_OP_APPEND, 300 + i, INT64_MAX}};
        struct rig_read reads[8] = {0};
        reads[1] = (struct rig_read){.state = RIG_READ_SEEN, .count = 200};
        reads[2] = (struct rig_read){.state = RIG_READ_SEEN, .count = 3};
        bool last = i + 1 == count;
        uint32_t start = last ? 2 * count + 40 : 10 + 2 * i;
        hand_add(builder, (int64_t)i, start, last ? RIG_POSITION_NONE : start + 5,
                 last ? RIG_OUTCOME_INFO : RIG_OUTCOME_OK, ops, reads, 8, elements);
    }
    hand_finish(hand, builder);
    for (uint32_t i = 0; i < count; i++) {
        enum rig_edge_kind kind = i + 2 == count ? RIG_EDGE_REALTIME : (enum rig_edge_kind)(i % 3);
        hand->txns[i] = i;
        hand->steps[i] = (struct rig_step){.from = i,
                                           .to = (i + 1) % count,
                                           .kind = kind,
                                           .key = 0,
                                           .from_value = kind == RIG_EDGE_RW ? 1002 : 7,
                                           .to_value = 8,
                                           .from_op = kind == RIG_EDGE_RW ? 2 : 0,
                                           .to_op = kind == RIG_EDGE_WR ? 2 : 6,
                                           .text = (char *)"one before the next"};
    }
    hand->witnesses[0] = (struct rig_witness){.anomaly = RIG_ANOMALY_G2_ITEM_REALTIME,
                                              .txns = hand->txns,
                                              .txn_count = count,
                                              .steps = hand->steps,
                                              .step_count = count,
                                              .key = UINT32_MAX,
                                              .refutes = rig_level_info(RIG_LEVEL_STRICT_SERIALIZABLE)->above,
                                              .text = (char *)"G2-item-realtime: a long cycle"};
    hand->verdict.findings[RIG_ANOMALY_G2_ITEM_REALTIME] =
        (struct rig_finding){.count = 1, .exact = false, .witnesses = hand->witnesses, .witness_count = 1};
    hand_refute(&hand->verdict, RIG_LEVEL_STRICT_SERIALIZABLE, RIG_ANOMALY_G2_ITEM_REALTIME);
    hand_close(&hand->verdict);
}

/*
 * T17's read of the first transaction's appends to key 5, as a non-cyclic anomaly; of T17 alone when `txn_count` is 1.
 */
static inline void hand_verdict_noncyclic(struct hand_verdict *hand, enum rig_anomaly anomaly, uint32_t txn_count)
{
    hand_verdict_skew(hand);
    hand->verdict.findings[RIG_ANOMALY_G2_ITEM] = (struct rig_finding){0};
    hand->txns[0] = 1;
    hand->txns[1] = 0;
    hand->witnesses[0] = (struct rig_witness){.anomaly = anomaly,
                                              .txns = hand->txns,
                                              .txn_count = txn_count,
                                              .key = 0,
                                              .op = anomaly == RIG_ANOMALY_DIRTY_UPDATE ? UINT32_MAX : 0,
                                              .other_op = UINT32_MAX,
                                              .value = 2,
                                              .other_value = 1,
                                              .refutes = rig_level_info(RIG_LEVEL_READ_COMMITTED)->above,
                                              .text = (char *)"what happened, in one sentence.\n  and more"};
    hand->verdict.findings[anomaly] =
        (struct rig_finding){.count = 1, .exact = true, .witnesses = hand->witnesses, .witness_count = 1};
    hand_refute(&hand->verdict, RIG_LEVEL_READ_COMMITTED, anomaly);
    hand_close(&hand->verdict);
}

/*
 * A register with compare-and-set: `count` writes of 1, 2, ... one after the other by processes 0 to 2, a write of a
 * hostile text that never completes (process 3), and a read of the first value (process 5), which cannot take effect
 * when there are more.
 */
static inline void hand_verdict_blocked(struct hand_verdict *hand, uint32_t count)
{
    *hand = (struct hand_verdict){0};
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_CAS_REGISTER, 0);
    int64_t hostile = 0;
    if (!rig_value_number(HAND_HOSTILE, strlen(HAND_HOSTILE), &hostile))
        abort();
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_op write = {RIG_OP_WRITE, 5, 1 + i};
        hand_add(builder, i % 3, 2 * i, 2 * i + 1, RIG_OUTCOME_OK, &write, NULL, 1, NULL);
    }
    const struct rig_op read = {RIG_OP_READ_REGISTER, 5, 0}, never = {RIG_OP_WRITE, 5, hostile};
    const struct rig_read seen = {.state = RIG_READ_SEEN, .value = 1};
    hand_add(builder, 5, 2 * count + 1, 2 * count + 2, RIG_OUTCOME_OK, &read, &seen, 1, NULL);
    hand_add(builder, 3, 2 * count, RIG_POSITION_NONE, RIG_OUTCOME_INFO, &never, NULL, 1, NULL);
    hand_finish(hand, builder);
    hand->txns[0] = count;
    hand->txns[1] = count + 1;
    hand->states[0] = (char *)HAND_HOSTILE;
    hand->states[1] = (char *)"42";
    hand->blocked = (struct rig_blocked){
        .explained = count, .open_count = 1, .state_count = 2, .state_shown = 2, .states = hand->states};
    hand->witnesses[0] = (struct rig_witness){.anomaly = RIG_ANOMALY_NONLINEARIZABLE,
                                              .txns = hand->txns,
                                              .txn_count = 2,
                                              .blocked = &hand->blocked,
                                              .key = 0,
                                              .op = 0,
                                              .other_op = UINT32_MAX,
                                              .refutes = rig_level_info(RIG_LEVEL_STRICT_SERIALIZABLE)->above,
                                              .text = (char *)"nonlinearizable: one operation"};
    hand->verdict.findings[RIG_ANOMALY_NONLINEARIZABLE] =
        (struct rig_finding){.count = 1, .exact = true, .witnesses = hand->witnesses, .witness_count = 1};
    hand_refute(&hand->verdict, RIG_LEVEL_STRICT_SERIALIZABLE, RIG_ANOMALY_NONLINEARIZABLE);
    hand_close(&hand->verdict);
}

static inline void hand_verdict_done(struct hand_verdict *hand)
{
    rig_history_free(hand->history);
}

#endif
