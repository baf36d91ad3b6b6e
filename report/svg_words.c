#include "report/svg_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/explain/say.h"
#include "history/types/row_clauses.h"
#include "history/types/types.h"
#include "report/tell.h"
#include "report/words.h"

enum { OP_COLUMNS = 44, LABEL_COLUMNS = 40, ODDITY_COLUMNS = 56 };

double rig_svg_words_columns(const char *text)
{
    double columns = 0;
    for (; *text != '\0'; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

/* Moves `at` back to the start of a UTF-8 character. */
static size_t at_character(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Copies `text`, leaving out its middle when it is longer than `most` bytes. */
static void copy_short(char *line, const char *text, size_t most)
{
    RIG_REQUIRE(most < RIG_SVG_LINE_BYTES);
    size_t length = strlen(text);
    if (length <= most) {
        (void)snprintf(line, RIG_SVG_LINE_BYTES, "%s", text);
        return;
    }
    size_t head = at_character(text, most / 2 - 2);
    size_t tail = at_character(text, length - (most - most / 2 - 1));
    while (head > most / 4 && text[head - 1] != ' ')
        head--;
    size_t word = strcspn(text + tail, " ");
    if (word < most / 4)
        tail += word;
    (void)snprintf(line, RIG_SVG_LINE_BYTES, "%.*s...%s", (int)head, text, text + tail);
}

static void take(char *line, struct rig_buf *text, size_t most)
{
    copy_short(line, rig_buf_text(text), most);
    rig_buf_done(text);
}

static bool is_write(const struct rig_txn_op *mop)
{
    return !rig_op_reads(mop->kind);
}

/* Whether an anomaly that is no cycle rests on this operation. */
static bool is_odd(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *mop = rig_txn_ops(history, txn) + op;
    bool shows_it = txn == witness->txns[0];
    if (op == (shows_it ? witness->op : witness->other_op))
        return true;
    if (mop->key != witness->key)
        return false;
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_G1A:
        return !shows_it && is_write(mop) && mop->value == witness->value;
    case RIG_ANOMALY_G1B:
        return !shows_it && is_write(mop);
    case RIG_ANOMALY_FRACTURED_APPEND:
        return !shows_it && is_write(mop) && (mop->value == witness->value || mop->value == witness->other_value);
    case RIG_ANOMALY_FUTURE_READ:
        return is_write(mop) && mop->value == witness->value;
    case RIG_ANOMALY_INTERNAL:
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        return op < witness->op;
    case RIG_ANOMALY_LOST_UPDATE:
    case RIG_ANOMALY_LOST_UPDATE_PREDICATE:
        return is_write(mop);
    case RIG_ANOMALY_LOST_APPEND:
    case RIG_ANOMALY_LOST_WRITE:
        return shows_it && is_write(mop) && mop->value == witness->value;
    case RIG_ANOMALY_DIRTY_UPDATE:
        return is_write(mop) && mop->value == (shows_it ? witness->value : witness->other_value);
    default:
        return false;
    }
}

/* Whether the witness rests on this operation: read or written where a step says so. */
static bool is_strong(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn, uint32_t op)
{
    const struct rig_step *steps = witness->cases != NULL ? witness->cases->steps : witness->steps;
    const uint32_t step_count = witness->cases != NULL ? witness->cases->step_count : witness->step_count;
    if (step_count == 0)
        return is_odd(history, witness, txn, op);
    const struct rig_txn_op *mop = rig_txn_ops(history, txn) + op;
    bool writes = is_write(mop);
    for (uint32_t i = 0; i < step_count; i++) {
        const struct rig_step *step = &steps[i];
        if (step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME)
            continue;
        if (step->from == txn && (step->from_op == op || (step->kind != RIG_EDGE_RW && writes &&
                                                          mop->key == step->key && mop->value == step->from_value)))
            return true;
        if (step->to == txn && (step->to_op == op || (step->kind != RIG_EDGE_WR && writes && mop->key == step->key &&
                                                      mop->value == step->to_value)))
            return true;
    }
    return false;
}

static void add_op_line(const struct rig_history *history, struct rig_svg_box *box, uint32_t op, bool strong)
{
    RIG_REQUIRE(box->line_count < RIG_SVG_BOX_LINES);
    struct rig_svg_line *line = &box->lines[box->line_count++];
    line->strong = strong;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_words_op(&text, history, rig_txn_ops(history, box->txn) + op);
    take(line->text, &text, OP_COLUMNS);
}

static void add_ops(const struct rig_history *history, const struct rig_witness *witness, uint32_t most_lines,
                    struct rig_svg_box *box)
{
    uint32_t op_count = rig_txn_op_count(history, box->txn);
    uint32_t strong_count = 0;
    for (uint32_t op = 0; op < op_count; op++)
        strong_count += is_strong(history, witness, box->txn, op);
    uint32_t weak_room = most_lines > strong_count + 1 ? most_lines - strong_count - 1 : 0;
    bool all_fit = op_count <= most_lines;
    uint32_t left_out = 0;
    for (uint32_t op = 0; op < op_count; op++) {
        bool strong = is_strong(history, witness, box->txn, op);
        bool room = box->line_count + 1 < RIG_SVG_BOX_LINES;
        if (all_fit || (strong && room)) {
            add_op_line(history, box, op, strong);
        } else if (!strong && weak_room > 0 && room) {
            weak_room--;
            add_op_line(history, box, op, false);
        } else {
            left_out++;
        }
    }
    if (left_out > 0) {
        struct rig_svg_line *line = &box->lines[box->line_count++];
        line->strong = false;
        (void)snprintf(line->text, sizeof line->text, "... and %" PRIu32 " more", left_out);
    }
}

void rig_svg_words_box(const struct rig_history *history, const struct rig_witness *witness, uint32_t most_lines,
                       struct rig_svg_box *box)
{
    RIG_REQUIRE(most_lines < RIG_SVG_BOX_LINES);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_say(history, &text, "%T", box->txn);
    const char *node = rig_history_column_name(history, box->txn, RIG_COLUMN_NODE);
    if (node != NULL)
        rig_tell(&text, " on %c", node);
    take(box->name, &text, 48);
    rig_buf_init(&text, 0);
    rig_words_txn_when(&text, history, box->txn, rig_history_zero_ns(history));
    if (history->txns[box->txn].outcome == RIG_OUTCOME_INFO)
        rig_buf_add_text(&text, " (unknown fate)");
    else if (rig_txn_is_rolled_back(history, box->txn))
        rig_buf_add_text(&text, " (rolled back on purpose)");
    else if (history->txns[box->txn].outcome == RIG_OUTCOME_FAIL)
        rig_buf_add_text(&text, " (aborted)");
    take(box->when, &text, 60);
    add_ops(history, witness, most_lines, box);
}

/* The condition of a read of rows, or "all". */
static void add_condition(struct rig_buf *out, const struct rig_txn_op *ops, uint32_t read)
{
    struct rig_row_where condition;
    if (read > 0 && !rig_op_reads(ops[read - 1].kind) && ops[read - 1].key == ops[read].key &&
        rig_row_condition_of(ops[read - 1].value, &condition))
        rig_row_say_condition(&condition, out);
    else
        rig_buf_add_text(out, "all");
}

/* "T14: id >= 1000, without row 7010", "T14 read 4030, which T26 replaced". */
static void add_rw_of_rows(struct rig_buf *out, const struct rig_history *history, const struct rig_step *step)
{
    if (!step->absent) {
        rig_say(history, out, "%T read %V, which %T replaced", step->from, step->from_value, step->to);
        return;
    }
    rig_say(history, out, "%T: ", step->from);
    add_condition(out, rig_txn_ops(history, step->from), step->from_op);
    rig_say(history, out, ", without row %V", step->from_value);
}

/* "did not see 3 of T23": what an anti-dependency rests on. */
static void add_rw_words(struct rig_buf *out, const struct rig_history *history, const struct rig_step *step)
{
    const struct rig_txn_op *op = step->from_op == UINT32_MAX ? NULL : rig_txn_ops(history, step->from) + step->from_op;
    bool is_list = op != NULL && rig_op_reads_sequence(op->kind);
    const uint32_t from = step->from;
    if (op != NULL && rig_data_types[history->workload].shape == RIG_RESULT_ROWS) {
        add_rw_of_rows(out, history, step);
        return;
    }
    if (op != NULL && op->read_state != RIG_READ_SEEN)
        rig_say(history, out, "%T read nil", from);
    else if (is_list && rig_txn_op_list(history, op).count == 0)
        rig_say(history, out, "%T read []", from);
    else
        rig_say(history, out, is_list ? "%T read up to %V" : "%T read %V", from, step->from_value);
    rig_say(history, out, " and did not see %V", step->to_value);
}

static void add_realtime_words(struct rig_buf *out, const struct rig_history *history, const struct rig_step *step)
{
    int64_t done_ns = history->txns[step->from].complete_ns, begun_ns = history->txns[step->to].invoke_ns;
    rig_say(history, out, "%T was done ", step->from);
    if (done_ns != RIG_NO_TIME && begun_ns != RIG_NO_TIME && begun_ns >= done_ns)
        rig_tell(out, "%t ", begun_ns - done_ns);
    rig_say(history, out, "before %T began", step->to);
}

static void add_words(struct rig_buf *out, const struct rig_history *history, const struct rig_step *step)
{
    switch (step->kind) {
    case RIG_EDGE_WW:
        rig_say(history, out, "%V %s %V", step->from_value, rig_data_types[history->workload].followed_by,
                step->to_value);
        break;
    case RIG_EDGE_WR:
        rig_say(history, out, "%T read %V, written by %T", step->to, step->from_value, step->from);
        break;
    case RIG_EDGE_RW:
        add_rw_words(out, history, step);
        break;
    case RIG_EDGE_PROCESS:
        rig_say(history, out, "process %d did %T first", history->txns[step->from].process, step->from);
        break;
    case RIG_EDGE_REALTIME:
        add_realtime_words(out, history, step);
        break;
    }
}

void rig_svg_words_edge(const struct rig_history *history, struct rig_svg_edge *edge)
{
    const struct rig_step *step = edge->step;
    if (step == NULL)
        return;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_say(history, &text, "%T before %T: %s", step->from, step->to, rig_words_edge(step->kind));
    if (step->kind != RIG_EDGE_PROCESS && step->kind != RIG_EDGE_REALTIME) {
        rig_buf_add_text(&text, ", ");
        rig_words_key(&text, history, step->key);
    }
    take(edge->kind, &text, LABEL_COLUMNS);
    rig_buf_init(&text, 0);
    add_words(&text, history, step);
    take(edge->words, &text, LABEL_COLUMNS);
}

static void add_noncyclic_words(struct rig_buf *out, const struct rig_history *history,
                                const struct rig_witness *witness)
{
    const uint32_t one = witness->txns[0], two = witness->txns[witness->txn_count - 1];
    const int64_t value = witness->value, other = witness->other_value;
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_say(history, out, "%T read %V, written by %T, which aborted", one, value, two);
        break;
    case RIG_ANOMALY_G1B:
        rig_say(history, out, "%T read %V, after which %T wrote more", one, value, two);
        break;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, out, "%T read %V, which no transaction wrote", one, value);
        break;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, out, "%T read %V more than once", one, value);
        break;
    case RIG_ANOMALY_INCOMPATIBLE_ORDER:
        rig_say(history, out, "neither list is a prefix of the other");
        break;
    case RIG_ANOMALY_FRACTURED_APPEND:
        rig_say(history, out, "%T read %V of %T, but not its earlier %V", one, value, two, other);
        break;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, out, "%T read %V before it wrote it itself", one, value);
        break;
    case RIG_ANOMALY_INTERNAL:
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        rig_say(history, out, "%T's read disagrees with its own earlier operations", one);
        break;
    case RIG_ANOMALY_LOST_UPDATE_PREDICATE:
        rig_say(history, out, "both found no row, both wrote it");
        break;
    case RIG_ANOMALY_LOST_UPDATE:
        rig_say(history, out, "both read the same version, both wrote the next");
        break;
    case RIG_ANOMALY_DIRTY_UPDATE:
        rig_say(history, out, "%T wrote %V onto %V of %T, which aborted", one, value, other, two);
        break;
    case RIG_ANOMALY_LOST_APPEND:
    case RIG_ANOMALY_LOST_WRITE:
        rig_say(history, out, "%V of %T was acknowledged, and is missing for %T", value, one, two);
        break;
    case RIG_ANOMALY_PHANTOM_ELEMENT:
        rig_say(history, out, "%V was never added", value);
        break;
    case RIG_ANOMALY_INT_POLL_SKIP:
    case RIG_ANOMALY_POLL_SKIP:
        rig_say(history, out, "%T went past %V, which it did not poll", one, value);
        break;
    case RIG_ANOMALY_INT_NONMONOTONIC_POLL:
    case RIG_ANOMALY_NONMONOTONIC_POLL:
        rig_say(history, out, "%T polled %V, which is not after %V", one, value, other);
        break;
    case RIG_ANOMALY_INT_NONMONOTONIC_SEND:
        rig_say(history, out, "%T sent %V after %V, and the log has it before", one, value, other);
        break;
    case RIG_ANOMALY_INCONSISTENT_OFFSETS:
        rig_say(history, out, "%V and %V have one offset", value, other);
        break;
    case RIG_ANOMALY_DUPLICATED_ELEMENT:
        rig_say(history, out, "%V was taken more often than added", value);
        break;
    case RIG_ANOMALY_LOST_ELEMENT:
        rig_say(history, out, "%V was acknowledged, and is missing for %T", value, one);
        break;
    default:
        rig_say(history, out, "a contradiction");
    }
}

void rig_svg_words_noncyclic(const struct rig_history *history, const struct rig_witness *witness,
                             struct rig_svg_edge *edge)
{
    RIG_REQUIRE(witness->step_count == 0 && witness->txn_count > 0);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, rig_anomaly_info(witness->anomaly)->name);
    if (witness->key != UINT32_MAX) {
        rig_buf_add_text(&text, ", ");
        rig_words_key(&text, history, witness->key);
    }
    take(edge->kind, &text, ODDITY_COLUMNS);
    rig_buf_init(&text, 0);
    add_noncyclic_words(&text, history, witness);
    take(edge->words, &text, ODDITY_COLUMNS);
}
