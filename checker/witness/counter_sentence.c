/* Witnesses over counters and banks in words (sentence.h); and their steps, which there are none (explain.h). */
#include <inttypes.h>

#include "base/bug.h"
#include "checker/witness/explain.h"
#include "checker/witness/sentence.h"

bool rig_counter_explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    (void)inference;
    (void)step;
    return false;
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    (void)history;
    (void)step;
    (void)text;
    RIG_REQUIRE(false && "counters have no dependencies");
}

static void add_bounds(const struct rig_witness *w, struct rig_buf *text)
{
    if (w->value < w->other_value)
        rig_buf_printf(text,
                       ", less than %" PRId64
                       ": the sum of the increments that were acknowledged before it was invoked, "
                       "and of those below 0 that were under way meanwhile.",
                       w->other_value);
    else
        rig_buf_printf(text,
                       ", more than %" PRId64
                       ": the sum of the increments that were acknowledged before it was invoked, "
                       "and of those above 0 that were under way meanwhile.",
                       w->other_value);
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    rig_sentence_txn(history, w->txns[0], text);
    rig_buf_add_char(text, ' ');
    if (w->anomaly == RIG_ANOMALY_WRONG_TOTAL) {
        rig_buf_printf(text, "read all accounts with a total of %" PRId64 ", and ", w->value);
        if (w->txn_count == 1) {
            rig_buf_printf(text, "it is %" PRId64 "; transfers do not change it.", w->other_value);
            return;
        }
        rig_sentence_txn(history, w->txns[1], text);
        rig_buf_printf(text, " with %" PRId64 "; transfers do not change the total.", w->other_value);
        return;
    }
    rig_sentence_reading(history, w->txns[0], w->op, text);
    if (w->anomaly == RIG_ANOMALY_COUNTER_BOUNDS)
        add_bounds(w, text);
    else if (w->anomaly == RIG_ANOMALY_NEGATIVE_BALANCE)
        rig_buf_add_text(text, ", a negative balance.");
    else
        rig_buf_add_text(text, ", to which no choice among the increments that did not fail sums up.");
}

const struct rig_type_sentences rig_counter_sentences = {
    .write = "increment of key", .writes = "increments of keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
