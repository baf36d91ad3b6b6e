#include "checker/witness/sentence.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "checker/witness/answered.h"

enum {
    LIST_SHOWN = 12, /* a longer list is shown by its ends */
    LIST_ENDS = 4,
    OPS_SHOWN = 16,
    KEY_BYTES = 128,
    CYCLE_SHOWN = 64, /* transactions; of a longer cycle, the text has the ends */
    CYCLE_ENDS = 8,
};

void rig_sentence_txn(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    rig_buf_printf(text, "T%" PRIu32, rig_txn_name(history, txn));
}

static void add_elements(struct rig_read_list list, uint32_t from, uint32_t to, struct rig_buf *text)
{
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            rig_buf_add_char(text, ' ');
        rig_buf_add_int(text, rig_read_element(&list, i));
    }
}

void rig_sentence_list(struct rig_read_list list, struct rig_buf *text)
{
    rig_buf_add_char(text, '[');
    if (list.count <= LIST_SHOWN) {
        add_elements(list, 0, list.count, text);
        rig_buf_add_char(text, ']');
        return;
    }
    add_elements(list, 0, LIST_ENDS, text);
    rig_buf_add_text(text, " ... ");
    add_elements(list, list.count - LIST_ENDS, list.count, text);
    rig_buf_printf(text, " (%" PRIu32 " elements)]", list.count);
}

static void add_key(const struct rig_history *history, uint32_t key, struct rig_buf *text)
{
    char name[KEY_BYTES];
    rig_history_key_text(history, key, name, sizeof name);
    rig_buf_add_text(text, name);
}

static void add_read(const struct rig_history *history, const struct rig_txn_op *op, struct rig_buf *text)
{
    if (op->read_state == RIG_READ_UNKNOWN)
        rig_buf_add_text(text, "?");
    else if (op->read_state == RIG_READ_NIL)
        rig_buf_add_text(text, "nil");
    else if (op->kind == RIG_OP_READ_REGISTER)
        rig_buf_add_int(text, op->value);
    else
        rig_sentence_list(rig_txn_op_list(history, op), text);
}

void rig_sentence_ops(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint32_t count = rig_txn_op_count(history, txn);
    for (uint32_t i = 0; i < count && i < OPS_SHOWN; i++) {
        rig_buf_add_text(text, i > 0 ? " [" : "[");
        if (ops[i].kind == RIG_OP_APPEND || ops[i].kind == RIG_OP_WRITE) {
            rig_buf_add_text(text, ops[i].kind == RIG_OP_WRITE ? "w " : "append ");
            add_key(history, ops[i].key, text);
            rig_buf_printf(text, " %" PRId64, ops[i].value);
        } else {
            rig_buf_add_text(text, "r ");
            add_key(history, ops[i].key, text);
            rig_buf_add_char(text, ' ');
            add_read(history, &ops[i], text);
        }
        rig_buf_add_char(text, ']');
    }
    if (count > OPS_SHOWN)
        rig_buf_printf(text, " ... (%" PRIu32 " operations)", count);
}

/* What an operation read, as "read key 5 as [1 2]". */
static void add_reading(const struct rig_history *history, uint32_t txn, uint32_t op, struct rig_buf *text)
{
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    rig_buf_add_text(text, "read key ");
    add_key(history, read->key, text);
    rig_buf_add_text(text, " as ");
    add_read(history, read, text);
}

/* The part of the order of a list around `value`: "[... 3 4 5 ...]". */
static void add_stretch(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t from, int64_t to,
                        struct rig_buf *text)
{
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, txn) + op);
    if (list.count <= LIST_SHOWN) {
        rig_sentence_list(list, text);
        return;
    }
    uint32_t first = 0, last = list.count - 1;
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == from)
            first = i;
        if (rig_read_element(&list, i) == to)
            last = i;
    }
    if (last < first || last - first > LIST_SHOWN) {
        rig_sentence_list(list, text);
        return;
    }
    rig_buf_add_text(text, first > 0 ? "[... " : "[");
    add_elements(list, first, last + 1, text);
    rig_buf_add_text(text, last + 1 < list.count ? " ...]" : "]");
}

static void add_time(const struct rig_history *history, int64_t ns, const char *unknown, struct rig_buf *text)
{
    if (ns == RIG_NO_TIME)
        rig_buf_add_text(text, unknown);
    else
        rig_buf_printf(text, "%.6f s", (double)(ns - rig_history_zero_ns(history)) / 1e9);
}

static void describe_ww(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_printf(text, ": it appended %" PRId64 " to key ", step->from_value);
    add_key(history, step->key, text);
    if (step->order_txn == UINT32_MAX) {
        rig_buf_printf(text, ", which reads show; no read shows ");
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, "'s append of %" PRId64 ", so it came later.", step->to_value);
        return;
    }
    rig_buf_add_text(text, ", and ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_printf(text, " then %" PRId64 ", as ", step->to_value);
    rig_sentence_txn(history, step->order_txn, text);
    rig_buf_add_text(text, " read the list: ");
    add_stretch(history, step->order_txn, step->order_op, step->from_value, step->to_value, text);
    rig_buf_add_char(text, '.');
}

static void describe_wr(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_add_char(text, ' ');
    add_reading(history, step->to, step->to_op, text);
    rig_buf_printf(text, " and so saw the %" PRId64 " that ", step->from_value);
    rig_sentence_txn(history, step->from, text);
    rig_buf_add_text(text, " appended.");
}

static void describe_rw(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, step->from, text);
    rig_buf_add_char(text, ' ');
    add_reading(history, step->from, step->from_op, text);
    rig_buf_add_text(text, " and did not see ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_printf(text, "'s append of %" PRId64, step->to_value);
    if (step->order_txn == UINT32_MAX)
        rig_buf_add_text(text, ", which no read shows");
    rig_buf_add_char(text, '.');
}

static void describe_realtime(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const struct rig_txn *from = &history->txns[step->from], *to = &history->txns[step->to];
    rig_buf_add_text(text, ": it completed at ");
    if (from->complete_ns == RIG_NO_TIME || to->invoke_ns == RIG_NO_TIME) {
        rig_buf_printf(text, "event %" PRIu32 ", before ", from->complete_at);
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, " was invoked at event %" PRIu32 ".", to->invoke_at);
        return;
    }
    add_time(history, from->complete_ns, "?", text);
    rig_buf_add_text(text, ", before ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_add_text(text, " was invoked at ");
    add_time(history, to->invoke_ns, "?", text);
    rig_buf_add_char(text, '.');
}

/* What orders two versions of a register: ", as T3 had read 1 before it wrote 2 (writes follow reads)". */
static void add_register_order(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    static const char *const assumptions[] = {"", "", "writes follow reads", "sequential keys", "linearizable keys"};
    if (step->order == RIG_ORDER_INITIAL || step->order == RIG_ORDER_LIST) {
        rig_buf_add_text(text, ", which comes after the initial state.");
        return;
    }
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, step->order_txn, text);
    if (step->order == RIG_ORDER_WFR) {
        rig_buf_add_text(text, " had read the one before it wrote the other");
    } else {
        rig_buf_add_text(text, step->order == RIG_ORDER_SEQUENTIAL ? " left the one, and then, in its process, "
                                                                   : " left the one and completed before ");
        rig_sentence_txn(history, step->order_other, text);
        rig_buf_add_text(text,
                         step->order == RIG_ORDER_SEQUENTIAL ? " met the other" : ", which met the other, was invoked");
    }
    rig_buf_printf(text, " (assumed: %s).", assumptions[step->order]);
}

static void describe_register_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    if (step->kind == RIG_EDGE_WR) {
        rig_sentence_txn(history, step->to, text);
        rig_buf_add_char(text, ' ');
        add_reading(history, step->to, step->to_op, text);
        rig_buf_add_text(text, ", which ");
        rig_sentence_txn(history, step->from, text);
        rig_buf_add_text(text, " wrote.");
        return;
    }
    if (step->kind == RIG_EDGE_RW) {
        rig_sentence_txn(history, step->from, text);
        rig_buf_add_char(text, ' ');
        add_reading(history, step->from, step->from_op, text);
    } else {
        rig_buf_printf(text, "it wrote %" PRId64 " to key ", step->from_value);
        add_key(history, step->key, text);
    }
    rig_buf_add_text(text, ", and ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_printf(text, " overwrote that with %" PRId64, step->to_value);
    add_register_order(history, step, text);
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_sentence_txn(history, step->from, text);
    rig_buf_add_text(text, " before ");
    rig_sentence_txn(history, step->to, text);
    bool dependency = step->kind != RIG_EDGE_PROCESS && step->kind != RIG_EDGE_REALTIME;
    if (dependency && history->workload == RIG_WORKLOAD_RW_REGISTER) {
        describe_register_step(history, step, text);
        return;
    }
    switch (step->kind) {
    case RIG_EDGE_WW:
        describe_ww(history, step, text);
        break;
    case RIG_EDGE_WR:
        describe_wr(history, step, text);
        break;
    case RIG_EDGE_RW:
        describe_rw(history, step, text);
        break;
    case RIG_EDGE_PROCESS:
        rig_buf_printf(text, ": process %" PRId32 " ran it first.", history->txns[step->from].process);
        break;
    case RIG_EDGE_REALTIME:
        describe_realtime(history, step, text);
        break;
    }
}

static char *keep(struct rig_buf *text, struct rig_arena *arena)
{
    char *copy = text->failed ? NULL : rig_arena_text(arena, rig_buf_text(text), text->size);
    rig_buf_done(text);
    return copy;
}

char *rig_sentence_step(const struct rig_history *history, const struct rig_step *step, struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    add_step(history, step, &text);
    return keep(&text, arena);
}

/* "1.204 s - 1.209 s", behind the time of the wall clock where that is known. */
static void add_times(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const struct rig_txn *t = &history->txns[txn];
    const bool has_utc = rig_answered_at(history, txn, text);
    if (t->invoke_ns == RIG_NO_TIME)
        return;
    rig_buf_add_text(text, has_utc ? " (" : ", ");
    add_time(history, t->invoke_ns, "?", text);
    rig_buf_add_text(text, " - ");
    add_time(history, t->complete_ns, "never completed", text);
    rig_buf_add_text(text, has_utc ? ")" : "");
}

/* "T17 = process 3, node n2, backend 4711, 12:03:04.567 UTC (1.204 s - 1.209 s): [r 5 [1 2]]", and how it was held */
static void add_txn_line(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const struct rig_txn *t = &history->txns[txn];
    rig_buf_add_text(text, "\n  ");
    rig_sentence_txn(history, txn, text);
    rig_buf_printf(text, " = process %" PRId32, t->process);
    rig_answered_by(history, txn, text);
    add_times(history, txn, text);
    if (t->outcome == RIG_OUTCOME_FAIL)
        rig_buf_add_text(text, ", failed");
    else if (t->outcome == RIG_OUTCOME_INFO)
        rig_buf_add_text(text, ", its outcome unknown to the client");
    rig_buf_add_text(text, ": ");
    rig_sentence_ops(history, txn, text);
    rig_answered_held(history, txn, text);
}

/* The first and the last of `count` transactions or steps are shown; where some are left out, says so once. */
static bool is_shown(uint32_t i, uint32_t count, const char *what, struct rig_buf *text)
{
    if (count <= CYCLE_SHOWN || i < CYCLE_ENDS || i >= count - CYCLE_ENDS)
        return true;
    if (i == CYCLE_ENDS)
        rig_buf_printf(text, "\n  ... (%" PRIu32 " more %s)", count - 2 * CYCLE_ENDS, what);
    return false;
}

static void add_names(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    if (witness->txn_count > CYCLE_SHOWN) {
        for (uint32_t i = 0; i < CYCLE_ENDS; i++) {
            rig_sentence_txn(history, witness->txns[i], text);
            rig_buf_add_text(text, i + 1 < CYCLE_ENDS ? ", " : "");
        }
        rig_buf_printf(text, " and %" PRIu32 " others", witness->txn_count - CYCLE_ENDS);
        return;
    }
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (i > 0)
            rig_buf_add_text(text, i + 1 == witness->txn_count ? " and " : ", ");
        rig_sentence_txn(history, witness->txns[i], text);
    }
}

static void add_refuted(const struct rig_witness *witness, struct rig_buf *text)
{
    rig_buf_add_text(text, "Refutes: ");
    bool first = true;
    uint64_t weakest = rig_levels_weakest(witness->refutes);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (!(weakest & RIG_LEVEL_BIT(i)))
            continue;
        if (!first)
            rig_buf_add_text(text, ", ");
        rig_buf_add_text(text, rig_level_info((enum rig_level)i)->name);
        first = false;
    }
    bool top = weakest == RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    rig_buf_add_text(text, top ? "." : " and every stronger level.");
}

/* Why a cycle of writes alone is not called G0 (cycle/cycle.h). */
static void add_doubt(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    uint32_t doubtful = UINT32_MAX;
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (witness->steps[i].kind == RIG_EDGE_WR || witness->steps[i].kind == RIG_EDGE_RW)
            return;
        if (history->txns[witness->txns[i]].outcome == RIG_OUTCOME_INFO)
            doubtful = witness->txns[i];
    }
    if (doubtful == UINT32_MAX)
        return;
    rig_buf_add_text(text, "\n  Whether ");
    rig_sentence_txn(history, doubtful, text);
    rig_buf_add_text(text,
                     " committed is unknown; if it did not, those who read its write made an aborted read (G1a).");
}

static void add_cycle(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    add_names(history, witness, text);
    rig_buf_printf(text, " form a cycle of %" PRIu32 " transactions", witness->txn_count);
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (is_shown(i, witness->txn_count, "transactions", text))
            add_txn_line(history, witness->txns[i], text);
    }
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (!is_shown(i, witness->step_count, "steps", text))
            continue;
        rig_buf_add_text(text, "\n  - ");
        add_step(history, &witness->steps[i], text);
    }
    add_doubt(history, witness, text);
    rig_buf_add_text(text, "\n  No order can have each of them before the next: a contradiction.  ");
}

/* The sentence of a non-cyclic anomaly of registers, behind its name. */
static void add_register_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    if (w->anomaly == RIG_ANOMALY_CYCLIC_VERSIONS) {
        rig_buf_add_text(text, "what is assumed of key ");
        add_key(history, w->key, text);
        rig_buf_printf(text, " would put its versions %" PRId64 " and %" PRId64 " each before the other.", w->value,
                       w->other_value);
        return;
    }
    rig_sentence_txn(history, w->txns[0], text);
    rig_buf_add_char(text, ' ');
    add_reading(history, w->txns[0], w->op, text);
    rig_buf_add_text(text, ", ");
    if (w->anomaly == RIG_ANOMALY_INTERNAL) {
        rig_buf_add_text(text, "which disagrees with what the same transaction read or wrote before.");
        return;
    }
    if (w->anomaly == RIG_ANOMALY_FUTURE_READ) {
        rig_buf_add_text(text, "which it wrote itself only after that.");
        return;
    }
    if (w->anomaly == RIG_ANOMALY_LOST_UPDATE) {
        rig_buf_add_text(text, "and ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, " read the same; then both wrote it: one update did not see the other.");
        return;
    }
    rig_buf_add_text(text, "the value of ");
    rig_sentence_txn(history, other, text);
    rig_buf_add_text(text, w->anomaly == RIG_ANOMALY_G1A
                               ? ", which failed."
                               : ", which wrote that key again later: an intermediate state.");
}

/* The sentence of a non-cyclic anomaly, behind its name. */
/* Whether an operation read a list that holds the value. */
static bool shows(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t value)
{
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, txn) + op);
    bool found = false;
    for (uint32_t i = 0; i < list.count && !found; i++)
        found = rig_read_element(&list, i) == value;
    return found;
}

static void add_noncyclic_sentence(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (history->workload == RIG_WORKLOAD_RW_REGISTER) {
        add_register_noncyclic(history, w, text);
        return;
    }
    uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    rig_sentence_txn(history, w->txns[0], text);
    rig_buf_add_char(text, ' ');
    if (w->op != UINT32_MAX)
        add_reading(history, w->txns[0], w->op, text);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_buf_printf(text, ", which shows the %" PRId64 " of ", w->value);
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, ", which failed");
        break;
    case RIG_ANOMALY_G1B:
        rig_buf_printf(text, ", which ends with the %" PRId64 " of ", w->value);
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, ", which appended to that key again later: an intermediate state");
        break;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_buf_printf(text, ", which shows %" PRId64 ", a value that no transaction appended", w->value);
        break;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_buf_printf(text, ", which shows %" PRId64 " more than once", w->value);
        break;
    case RIG_ANOMALY_INCOMPATIBLE_ORDER:
        rig_buf_add_text(text, ", while ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_char(text, ' ');
        add_reading(history, other, w->other_op, text);
        rig_buf_add_text(text, ": neither is a prefix of the other");
        break;
    case RIG_ANOMALY_FRACTURED_APPEND:
        rig_buf_printf(text, ", which shows the %" PRId64 " of ", w->value);
        rig_sentence_txn(history, other, text);
        rig_buf_printf(text,
                       shows(history, w->txns[0], w->op, w->other_value)
                           ? " in front of the %" PRId64 " that it appended to that key before"
                           : ", but not the %" PRId64 " that it appended to that key before",
                       w->other_value);
        break;
    case RIG_ANOMALY_FUTURE_READ:
        rig_buf_printf(text, ", which shows the %" PRId64 " that it appended itself only after that", w->value);
        break;
    case RIG_ANOMALY_INTERNAL:
        rig_buf_add_text(text, ", which disagrees with what the same transaction read and appended before");
        break;
    case RIG_ANOMALY_LOST_UPDATE:
        rig_buf_add_text(text, ", and ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, " read the same; then both appended to it: one update did not see the other");
        break;
    case RIG_ANOMALY_DIRTY_UPDATE:
        rig_buf_printf(text, "appended %" PRId64 " to key ", w->value);
        add_key(history, w->key, text);
        rig_buf_printf(text, " on top of the %" PRId64 " of ", w->other_value);
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, ", which failed");
        break;
    default:
        RIG_REQUIRE(false && "a non-cyclic anomaly");
    }
    rig_buf_add_char(text, '.');
}

char *rig_sentence_witness(const struct rig_history *history, const struct rig_witness *witness,
                           struct rig_arena *arena)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s: ", rig_anomaly_info(witness->anomaly)->name);
    if (witness->step_count > 0) {
        add_cycle(history, witness, &text);
    } else {
        add_noncyclic_sentence(history, witness, &text);
        for (uint32_t i = 0; i < witness->txn_count; i++)
            add_txn_line(history, witness->txns[i], &text);
        rig_buf_add_text(&text, "\n  ");
    }
    add_refuted(witness, &text);
    return keep(&text, arena);
}

bool rig_sentence_word(const struct rig_history *history, struct rig_witness *witness, struct rig_arena *arena)
{
    for (uint32_t i = 0; i < witness->step_count; i++) {
        if (!rig_witness_shows(witness, i))
            continue;
        witness->steps[i].text = rig_sentence_step(history, &witness->steps[i], arena);
        if (witness->steps[i].text == NULL)
            return false;
    }
    witness->text = rig_sentence_witness(history, witness, arena);
    return witness->text != NULL;
}
