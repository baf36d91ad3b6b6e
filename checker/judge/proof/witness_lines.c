#include "checker/judge/proof/witness_lines.h"

#include <inttypes.h>

#include "checker/decide/rule.h"
#include "checker/prove/witness/single_line.h"
#include "history/types/object_kinds.h"
#include "history/types/types.h"

static const uint32_t none = UINT32_MAX;

static bool shows(const struct rig_history *history, const struct rig_txn_op *op, int64_t value)
{
    if (!rig_op_reads(op->kind) || op->read_state != RIG_READ_SEEN)
        return false;
    if (!rig_op_reads_sequence(op->kind))
        return op->value == value;
    const struct rig_read_list list = rig_txn_op_list(history, op);
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return true;
    }
    return false;
}

/* The transaction's operation that reads what the value's writer wrote to the key. */
static uint32_t read_of(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
        const struct rig_txn_op *at = rig_txn_ops(history, txn) + op;
        if (at->key == key && shows(history, at, value))
            return op;
    }
    return none;
}

static void add_line(const struct rig_history *history, const char *kind, uint32_t from, uint32_t from_op, uint32_t to,
                     uint32_t to_op, struct rig_buf *text)
{
    rig_buf_printf(text, "%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, kind, rig_txn_name(history, from), from_op,
                   rig_txn_name(history, to), to_op);
}

/* Writes that follow reads need no assumption at read committed and above. */
static bool add_reason(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const bool sequential = step->order == RIG_ORDER_SEQUENTIAL;
    uint32_t read;
    switch (step->order) {
    case RIG_ORDER_LIST:
    case RIG_ORDER_INITIAL:
        return true;
    case RIG_ORDER_WFR:
        read = read_of(history, step->to, step->key, step->from_value);
        if (read == none || step->order_txn != step->to)
            return false;
        rig_buf_printf(text, " update %" PRIu32, read);
        return true;
    case RIG_ORDER_UPDATE:
        rig_buf_printf(text, " update %" PRIu32, step->order_op);
        return true;
    case RIG_ORDER_SEQUENTIAL:
    case RIG_ORDER_LINEARIZABLE:
        rig_buf_printf(text, " %s %" PRIu32 " %" PRIu32, sequential ? "sequential" : "linearizable",
                       rig_txn_name(history, step->order_txn), rig_txn_name(history, step->order_other));
        return true;
    case RIG_ORDER_CASE:
        rig_buf_add_text(text, " case");
        return true;
    }
    return false;
}

static bool add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    static const char *const kinds[] = {[RIG_EDGE_WW] = "ww", [RIG_EDGE_WR] = "wr", [RIG_EDGE_RW] = "rw"};
    uint32_t from_op, to_op;
    if (step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME) {
        rig_buf_printf(text, "%s %" PRIu32 " %" PRIu32 "\n", step->kind == RIG_EDGE_PROCESS ? "process" : "realtime",
                       rig_txn_name(history, step->from), rig_txn_name(history, step->to));
        return true;
    }
    from_op =
        step->kind == RIG_EDGE_RW ? step->from_op : rig_write_of(history, step->from, step->key, step->from_value);
    to_op = step->to_op;
    if (step->kind == RIG_EDGE_RW || (step->kind == RIG_EDGE_WW && to_op == none))
        to_op = rig_write_of(history, step->to, step->key, step->to_value);
    if (step->kind == RIG_EDGE_WR && to_op == none)
        to_op = read_of(history, step->to, step->key, step->from_value);
    if (from_op == none || to_op == none)
        return false;
    add_line(history, kinds[step->kind], step->from, from_op, step->to, to_op, text);
    const bool reasoned = step->kind == RIG_EDGE_WR || add_reason(history, step, text);
    rig_buf_add_char(text, '\n');
    return reasoned;
}

/* A step over rows: of the statements that made the versions, and the read. */
static bool add_row_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const bool is_order = step->kind == RIG_EDGE_PROCESS || step->kind == RIG_EDGE_REALTIME;
    const bool in_case = step->order == RIG_ORDER_CASE && !is_order;
    struct rig_step line = *step;
    if (step->by_snapshot)
        return false; /* a certificate takes no part in a proof */
    line.order = in_case ? RIG_ORDER_CASE : RIG_ORDER_LIST;
    if (!is_order && step->kind != RIG_EDGE_RW && step->to_op == none)
        return false;
    if (step->kind == RIG_EDGE_WW)
        line.to_op++; /* the statement after the read */
    if (!add_step(history, &line, text))
        return false;
    if (in_case && step->kind == RIG_EDGE_WR && !text->failed) {
        text->size--; /* before the end of the line */
        rig_buf_add_text(text, " case\n");
    }
    return true;
}

static bool add_cycle(const struct rig_history *history, const struct rig_step *steps, uint32_t count,
                      struct rig_buf *text)
{
    const bool of_rows = rig_data_types[history->workload].shape == RIG_RESULT_ROWS;
    bool done = count > 1;
    for (uint32_t i = 0; done && i < count; i++)
        done = (of_rows ? add_row_step : add_step)(history, &steps[i], text);
    rig_buf_add_text(text, "cycle\n");
    return done;
}

static bool add_cases(const struct rig_history *history, const struct rig_cases *cases, struct rig_buf *text)
{
    bool done = true;
    for (uint32_t i = 0; done && i < cases->line_count; i++) {
        const struct rig_case *line = &cases->lines[i];
        const bool is_whole = line->reader == none || rig_level_rule(cases->level)->form == RIG_RULE_SERIAL;
        if (line->kind == RIG_CASE_SUPPOSE)
            rig_buf_printf(text, "%s %" PRIu32 " %" PRIu32 "\n",
                           is_whole                       ? "suppose"
                           : line->reader == line->before ? "reads"
                                                          : "commits",
                           rig_txn_name(history, line->before), rig_txn_name(history, line->after));
        else
            done = add_cycle(history, cases->steps + line->first_step, line->step_count, text);
    }
    return done;
}

/* A read that began after the append was acknowledged and misses it: the read comes before the append (rw)
 * and after it (real time). */
static bool add_lost_append(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const uint32_t writer = witness->txns[0], reader = witness->txns[1];
    const uint32_t write = rig_write_of(history, writer, witness->key, witness->value);
    if (witness->txn_count != 2 || write == none || witness->other_op == none)
        return false;
    add_line(history, "rw", reader, witness->other_op, writer, write, text);
    rig_buf_printf(text, "\nrealtime %" PRIu32 " %" PRIu32 "\ncycle\n", rig_txn_name(history, writer),
                   rig_txn_name(history, reader));
    return true;
}

/* ---- a lost write: a read of an older version began after the write was acknowledged ---- */

/* The read of the older version. */
struct older {
    uint32_t reader, read; /* an acknowledged transaction that began after the write's end, and its operation */
    int64_t value;         /* the value that it read */
    uint32_t maker;        /* the transaction that wrote `value`; none: it is the initial state */
    uint32_t own;          /* the operation of the write's transaction that read the value, too; or none */
    uint32_t before;       /* an acknowledged one that ended before that began, and wrote or read the value; or none */
};

/* The transaction that writes the value to the key. */
static uint32_t writer_of(const struct rig_history *history, uint32_t key, int64_t value)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t op = rig_write_of(history, txn, key, value);
        if (op != none && rig_txn_ops(history, txn)[op].value == value)
            return txn;
    }
    return none;
}

static struct older find_older(const struct rig_history *history, uint32_t writer, uint32_t reader, uint32_t op)
{
    const struct rig_txn_op *read = rig_txn_ops(history, reader) + op;
    struct older o = {.reader = reader, .read = op, .value = read->value, .maker = none, .own = none, .before = none};
    if (read->read_state == RIG_READ_SEEN)
        o.maker = writer_of(history, read->key, read->value);
    if (o.maker != none)
        o.own = read_of(history, writer, read->key, read->value);
    for (uint32_t txn = 0; txn < history->txn_count && o.maker != none && o.before == none; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        if (t->outcome == RIG_OUTCOME_OK && t->complete_at < history->txns[writer].invoke_at &&
            (txn == o.maker || read_of(history, txn, read->key, read->value) != none))
            o.before = txn;
    }
    return o;
}

/* The transaction's read of the key before it wrote it, or none. */
static uint32_t first_read(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
        if (ops[op].key == key)
            return rig_op_reads(ops[op].kind) && ops[op].read_state != RIG_READ_UNKNOWN ? op : none;
    }
    return none;
}

/* A cycle of the write's transaction and the reader that missed it. Where the order of the two versions is not known,
 * the other order makes one with the older version's maker. */
static void add_lost_cycles(const struct rig_history *history, uint32_t writer, uint32_t write, uint32_t key,
                            const struct older *o, struct rig_buf *text)
{
    const uint32_t name = rig_txn_name(history, writer);
    const bool cases = o->maker != none && o->own == none;
    if (cases)
        rig_buf_printf(text, "suppose %" PRIu32 " %" PRIu32 "\n", rig_txn_name(history, o->maker), name);
    add_line(history, "rw", o->reader, o->read, writer, write, text);
    if (cases)
        rig_buf_add_text(text, " case");
    else if (o->maker != none)
        rig_buf_printf(text, " update %" PRIu32, o->own);
    rig_buf_printf(text, "\nrealtime %" PRIu32 " %" PRIu32 "\ncycle\n", name, rig_txn_name(history, o->reader));
    if (!cases)
        return;
    const uint32_t made = rig_write_of(history, o->maker, key, o->value);
    add_line(history, "ww", writer, write, o->maker, made, text);
    rig_buf_add_text(text, " case\n");
    if (o->before != o->maker) {
        add_line(history, "wr", o->maker, made, o->before, read_of(history, o->before, key, o->value), text);
        rig_buf_add_char(text, '\n');
    }
    rig_buf_printf(text, "realtime %" PRIu32 " %" PRIu32 "\ncycle\n", rig_txn_name(history, o->before), name);
}

static bool add_lost_write(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const uint32_t writer = witness->txns[0], key = witness->key;
    const uint32_t write = rig_write_of(history, writer, key, witness->value);
    if (witness->txn_count != 2 || write == none || witness->other_op == none)
        return false;
    struct older o = find_older(history, writer, witness->txns[1], witness->other_op);
    /* An update after the lost write made the version from an older one: so it missed the write itself. */
    for (uint32_t i = 0; i < history->txn_count && o.maker != none && o.own == none && o.before == none; i++) {
        const uint32_t read = first_read(history, o.maker, key);
        if (read == none)
            return false;
        o = find_older(history, writer, o.maker, read);
    }
    if (o.maker != none && o.own == none && o.before == none)
        return false;
    add_lost_cycles(history, writer, write, key, &o, text);
    return true;
}

/* The read that shows the aborted element under a committed one: by any transaction that was acknowledged. */
static bool add_dirty_update(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const uint32_t aborted = witness->txns[witness->txn_count - 1];
    const uint32_t write = rig_write_of(history, aborted, witness->key, witness->other_value);
    for (uint32_t txn = 0; txn < history->txn_count && write != none; txn++) {
        const uint32_t read = history->txns[txn].outcome == RIG_OUTCOME_OK
                                  ? read_of(history, txn, witness->key, witness->other_value)
                                  : none;
        if (read == none)
            continue;
        add_line(history, "G1a", txn, read, aborted, write, text);
        rig_buf_add_char(text, '\n');
        return true;
    }
    return false;
}

static bool add_single(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    struct rig_witness_line line;
    if (!rig_single_line(history, witness, &line))
        return false;
    add_line(history, rig_witness_kinds[line.kind], line.from, line.from_op, line.to, line.to_op, text);
    rig_buf_add_char(text, '\n');
    return true;
}

/* ---- rows ---- */

/* A read that shows something impossible. Constraints that rows break after the load have no line. */
static bool add_row_read(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const uint32_t first = witness->txns[0];
    uint32_t second = witness->txns[witness->txn_count > 1 ? 1 : 0], other = witness->op;
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_G1A:
    case RIG_ANOMALY_G1B:
    case RIG_ANOMALY_FUTURE_READ:
        other = rig_write_of(history, second, witness->key, witness->value);
        break;
    case RIG_ANOMALY_PREDICATE_MISMATCH:
        second = writer_of(history, witness->key, witness->value);
        other = second == none ? none : rig_write_of(history, second, witness->key, witness->value);
        break;
    case RIG_ANOMALY_PREDICATE_READ_MISS:
        second = writer_of(history, witness->key, witness->other_value);
        other = second == none ? none : rig_write_of(history, second, witness->key, witness->other_value);
        break;
    case RIG_ANOMALY_INTERNAL:
    case RIG_ANOMALY_LOST_UPDATE:
        other = witness->other_op;
        break;
    case RIG_ANOMALY_GARBAGE_READ:
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        break;
    default:
        return false;
    }
    if (witness->op == none || other == none)
        return false;
    add_line(history, rig_anomaly_info(witness->anomaly)->name, first, witness->op, second, other, text);
    rig_buf_add_char(text, '\n');
    return true;
}

/* ---- objects ---- */

/* A search over many operations takes long where many of unknown outcome may have taken effect at any time. */
enum { MOST_NAMED = 1 << 14, MOST_UNKNOWN = 14 };

static bool is_of_witness(const struct rig_witness *witness, uint32_t txn)
{
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (witness->txns[i] == txn)
            return true;
    }
    return false;
}

/* Whether the operation adds or takes one of the values, or may have. */
static bool is_about(const struct rig_txn_op *op, const int64_t *values, uint32_t count)
{
    if (rig_object_takes(op->kind) && op->read_state != RIG_READ_SEEN)
        return op->read_state == RIG_READ_UNKNOWN;
    for (uint32_t i = 0; i < count; i++) {
        if (op->value == values[i])
            return true;
    }
    return false;
}

/* The operations of a witness. One that names values is about these alone; another one is about all that began before
 * its first operation ended. */
static bool is_named(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool of_values = witness->blocked == NULL || witness->blocked->value_count > 0;
    const int64_t *values = witness->blocked == NULL ? &witness->value : witness->blocked->values;
    const uint32_t count = witness->blocked == NULL ? 1 : witness->blocked->value_count;
    if (witness->anomaly == RIG_ANOMALY_NONSEQUENTIAL)
        return is_of_witness(witness, txn);
    if (history->txns[txn].outcome == RIG_OUTCOME_FAIL || rig_txn_op_count(history, txn) == 0 ||
        ops[0].key != witness->key)
        return false;
    if (!of_values)
        return history->txns[txn].invoke_at < history->txns[witness->txns[0]].complete_at;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (is_about(&ops[i], values, count))
            return true;
    }
    return is_of_witness(witness, txn);
}

/* Takes of unknown result explain some of several lost elements, and another witness has to show the others. */
static bool has_line(const struct rig_history *history, const struct rig_witness *witness)
{
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_NONLINEARIZABLE:
        return witness->blocked != NULL;
    case RIG_ANOMALY_NONSEQUENTIAL:
    case RIG_ANOMALY_PHANTOM_ELEMENT:
    case RIG_ANOMALY_DUPLICATED_ELEMENT:
        return true;
    case RIG_ANOMALY_LOST_ELEMENT:
        for (uint32_t op = 0; op < history->op_count; op++) {
            if (rig_object_takes(history->ops[op].kind) && history->ops[op].read_state == RIG_READ_UNKNOWN)
                return false;
        }
        return true;
    default:
        return false;
    }
}

static bool add_object_line(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const size_t size = text->size;
    uint32_t named = 0, unknown = 0;
    if (!has_line(history, witness))
        return false;
    rig_buf_add_text(text, "no-order");
    for (uint32_t txn = 0; txn < history->txn_count && named <= MOST_NAMED; txn++) {
        if (!is_named(history, witness, txn))
            continue;
        rig_buf_printf(text, " %" PRIu32, rig_txn_name(history, txn));
        named++;
        unknown += history->txns[txn].outcome == RIG_OUTCOME_INFO;
    }
    rig_buf_add_char(text, '\n');
    if (named > 0 && named <= MOST_NAMED && unknown <= MOST_UNKNOWN)
        return true;
    if (!text->failed)
        text->size = size;
    return false;
}

bool rig_prove_witness(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const size_t size = text->size;
    bool done;
    if (rig_workload_is_object(history->workload))
        done = add_object_line(history, witness, text);
    else if (witness->cases != NULL)
        done = add_cases(history, witness->cases, text);
    else if (witness->step_count > 0)
        done = add_cycle(history, witness->steps, witness->step_count, text);
    else if (rig_data_types[history->workload].shape == RIG_RESULT_ROWS)
        done = add_row_read(history, witness, text);
    else if (witness->anomaly == RIG_ANOMALY_LOST_APPEND)
        done = add_lost_append(history, witness, text);
    else if (witness->anomaly == RIG_ANOMALY_LOST_WRITE)
        done = add_lost_write(history, witness, text);
    else if (witness->anomaly == RIG_ANOMALY_DIRTY_UPDATE)
        done = add_dirty_update(history, witness, text);
    else
        done = add_single(history, witness, text);
    if (!done && !text->failed)
        text->size = size;
    return done;
}
