#include "report/shrunk_report.h"
#include "report/tell.h"

#include "base/json_members.h"
#include "checker/model/anomaly.h"
#include "history/types/types.h"
#include "report/sent.h"
#include "report/words.h"

static const char *end_of(const struct rig_history *history, uint32_t txn)
{
    static const char *const words[] = {[RIG_OUTCOME_OK] = "commit",
                                        [RIG_OUTCOME_FAIL] = "rollback",
                                        [RIG_OUTCOME_INFO] = "commit, with an unknown outcome"};
    return words[history->txns[txn].outcome];
}

static void add_statement(struct rig_buf *out, const struct rig_history *history, const struct rig_interleaved *step)
{
    switch (step->statement) {
    case RIG_STATEMENT_BEGIN:
        rig_buf_add_text(out, "begin");
        break;
    case RIG_STATEMENT_OPERATION:
        rig_words_op(out, history, &history->ops[step->op]);
        break;
    case RIG_STATEMENT_END:
        rig_buf_add_text(out, end_of(history, step->txn));
        break;
    }
}

static const struct rig_witness *witness_of(const struct rig_smallest_part *shrunk)
{
    return &shrunk->verdict->findings[shrunk->anomaly].witnesses[0];
}

static void add_counts(struct rig_buf *out, const struct rig_smallest_part *shrunk)
{
    const struct rig_history *history = shrunk->history;
    const char *name = rig_anomaly_info(shrunk->anomaly)->name;
    if (shrunk->txns > 0)
        rig_tell(out, "%s: %d of %n transaction%p, with %d of %n operation%p on %d key%p.\n", name,
                 (unsigned)history->txn_count, shrunk->txns, shrunk->txns, (unsigned)history->op_count, shrunk->ops,
                 shrunk->ops, (unsigned)history->key_count, history->key_count);
    else
        rig_tell(out, "%s: %d transaction%p, with %d operation%p on %d key%p.\n", name, (unsigned)history->txn_count,
                 history->txn_count, (unsigned)history->op_count, history->op_count, (unsigned)history->key_count,
                 history->key_count);
    if (shrunk->minimal)
        rig_buf_add_text(out, "Without any one of these operations the anomaly is gone.\n");
    else
        rig_buf_add_text(out, "The budget was spent: a smaller part may have the anomaly, too.\n");
    rig_buf_printf(out, "%u parts were checked.\n", (unsigned)shrunk->candidate_count);
}

static void add_order(struct rig_buf *out, const struct rig_smallest_part *shrunk,
                      const struct rig_interleaving *interleaving)
{
    if (interleaving->step_count == 0)
        return;
    rig_tell(out, "\n%s",
             interleaving->by_times
                 ? "An order of the statements that gives these results, by the clients' clocks; one that waits for "
                   "another transaction does not hold up the others:\n"
             : interleaving->by_snapshots
                 ? "An order of the statements that gives these results where a transaction reads a snapshot "
                   "that its first read takes:\n"
             : interleaving->explains_reads
                 ? "An order of the statements that gives these results:\n"
                 : "The statements in the order of their times; no order gives these results where a "
                   "read sees all that was committed before:\n");
    for (uint32_t i = 0; i < interleaving->step_count; i++) {
        rig_buf_printf(out, "  %3u  ", (unsigned)i + 1);
        rig_words_txn(out, shrunk->history, interleaving->steps[i].txn);
        rig_buf_add_text(out, "  ");
        add_statement(out, shrunk->history, &interleaving->steps[i]);
        rig_buf_add_char(out, '\n');
    }
}

static void add_others(struct rig_buf *out, uint32_t count, uint32_t width)
{
    if (count > 0)
        rig_tell(out, " [.. %d other%p ..]", count / width, count / width);
}

/* A read as the client saw it: the elements that the part has, and in their places how many others there were. */
static void add_original(struct rig_buf *out, const struct rig_history *history, const struct rig_original_read *read)
{
    const struct rig_txn_op *op = &history->ops[read->op];
    const uint32_t width = rig_op_reads_rows(op->kind) ? 2 : 1;
    const struct rig_read_list list = rig_txn_op_list(history, op);
    uint32_t shown = 0, others = 0;
    rig_buf_add_text(out, "  ");
    rig_words_txn(out, history, rig_history_txn_of(history, read->op));
    rig_buf_add_text(out, " read ");
    rig_words_key(out, history, op->key);
    rig_buf_add_text(out, " as:");
    for (uint32_t i = 0; i < read->count; i += width) {
        if (shown >= list.count || read->elements[i] != rig_read_element(&list, shown)) {
            others += width;
            continue;
        }
        add_others(out, others, width);
        others = 0;
        rig_buf_add_char(out, ' ');
        rig_buf_add_int(out, read->elements[i]);
        shown += width;
    }
    add_others(out, others, width);
    rig_buf_add_char(out, '\n');
}

static void add_originals(struct rig_buf *out, const struct rig_smallest_part *shrunk)
{
    if (shrunk->read_count > 0)
        rig_buf_add_text(out, "\nThese reads are shown without what other transactions wrote. The clients saw:\n");
    for (uint32_t i = 0; i < shrunk->read_count; i++)
        add_original(out, shrunk->history, &shrunk->reads[i]);
}

static void add_sql(struct rig_buf *out, const struct rig_history *history)
{
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sent_history_text(&sql, history, "  ");
    if (sql.size > 0)
        rig_tell(out, "\nThe SQL that was sent for these operations:\n%s", rig_buf_text(&sql));
    rig_buf_done(&sql);
}

void rig_report_shrunk_text(const struct rig_smallest_part *shrunk, const struct rig_interleaving *interleaving,
                            const char *file, struct rig_buf *out)
{
    add_counts(out, shrunk);
    rig_buf_add_char(out, '\n');
    rig_words_clean(out, witness_of(shrunk)->text, true);
    rig_buf_add_char(out, '\n');
    add_order(out, shrunk, interleaving);
    add_originals(out, shrunk);
    add_sql(out, shrunk->history);
    if (file != NULL)
        rig_buf_printf(out, "\nhistory: %s\n", file);
}

static void add_json_step(struct rig_json_writer *json, const struct rig_history *history,
                          const struct rig_interleaved *step)
{
    struct rig_buf words;
    rig_buf_init(&words, 0);
    add_statement(&words, history, step);
    rig_json_object(json, NULL, "transaction: %d, statement: %s", rig_txn_name(history, step->txn),
                    rig_buf_text(&words));
    rig_buf_done(&words);
}

static void add_json_count(struct rig_json_writer *json, const char *name, uint64_t kept, uint64_t whole)
{
    rig_json_object(json, name, "kept: %d, whole: %d", kept, whole);
}

void rig_report_shrunk_json(const struct rig_smallest_part *shrunk, const struct rig_interleaving *interleaving,
                            const char *file, struct rig_buf *out)
{
    struct rig_json_writer json;
    const struct rig_history *history = shrunk->history;
    rig_json_init(&json, out);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json, "anomaly: %s, workload: %s", rig_anomaly_info(shrunk->anomaly)->name,
                     rig_data_types[history->workload].name);
    if (shrunk->level != RIG_LEVEL_COUNT)
        rig_json_string(&json, "level", rig_level_info(shrunk->level)->name);
    add_json_count(&json, "transactions", history->txn_count, shrunk->txns);
    add_json_count(&json, "operations", history->op_count, shrunk->ops);
    rig_json_members(&json, "minimal: %b, candidates: %d, witness: %s, explains-reads: %b", shrunk->minimal,
                     shrunk->candidate_count, witness_of(shrunk)->text, interleaving->explains_reads);
    rig_json_begin_array(&json, "order");
    for (uint32_t i = 0; i < interleaving->step_count; i++)
        add_json_step(&json, history, &interleaving->steps[i]);
    rig_json_end(&json);
    rig_sent_history_json(&json, history);
    if (file != NULL)
        rig_json_string(&json, "file", file);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}
