#include "jobs/shrink/interleaving.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/explain/waits.h"
#include "history/types/row_ops.h"
#include "history/types/types.h"
#include "jobs/shrink/proved_order.h"
#include "jobs/shrink/value_writers.h"

/* Step `from` comes before step `to`, as far as the rule is obeyed. */
enum rule {
    RULE_ALWAYS,          /* the order within a transaction, and real time */
    RULE_SHOWN,           /* a read comes after the write that it shows */
    RULE_WRITTEN,         /* a write comes after that of the version before */
    RULE_UNSEEN,          /* a read comes before the end of a writer that it did not see */
    RULE_UNSEEN_SNAPSHOT, /* the first read of a reader comes before the end of a writer that it did not see */
    RULE_LOCKED,          /* a write comes after the end of each transaction that wrote the key before, and so after
                           * that of the writer of the version before */
    RULE_SHOWN_COMMITTED, /* a read comes after the end of the writer that it shows */
    RULE_SHOWN_ABORTED,   /* a read comes before the end of a failed writer that it shows */
    RULE_MAYBE_UNSEEN     /* as RULE_UNSEEN, of a version whose place is not known */
};

struct before {
    uint32_t from, to;
    enum rule rule;
};

RIG_VEC(struct before, before_vec)
RIG_VEC(struct rig_interleaved, step_vec)

/* Which rules are obeyed, the most first. */
#define OBEY(rule) (1u << (rule))
/* A read comes after the write that it shows, after the end of a writer that commits and before that of one that does
 * not. */
#define SHOWN_WHOLE (OBEY(RULE_SHOWN) | OBEY(RULE_SHOWN_COMMITTED) | OBEY(RULE_SHOWN_ABORTED))
static const unsigned obeyed[] = {
    OBEY(RULE_ALWAYS) | OBEY(RULE_UNSEEN) | OBEY(RULE_MAYBE_UNSEEN) | OBEY(RULE_LOCKED) | SHOWN_WHOLE,
    OBEY(RULE_ALWAYS) | OBEY(RULE_UNSEEN) | OBEY(RULE_LOCKED) | SHOWN_WHOLE,
    OBEY(RULE_ALWAYS) | OBEY(RULE_UNSEEN_SNAPSHOT) | OBEY(RULE_LOCKED) | SHOWN_WHOLE,
    OBEY(RULE_ALWAYS) | OBEY(RULE_UNSEEN) | OBEY(RULE_LOCKED) | OBEY(RULE_SHOWN) | OBEY(RULE_SHOWN_ABORTED),
    OBEY(RULE_ALWAYS) | OBEY(RULE_UNSEEN) | OBEY(RULE_WRITTEN) | OBEY(RULE_SHOWN) | OBEY(RULE_SHOWN_ABORTED),
    OBEY(RULE_ALWAYS) | OBEY(RULE_LOCKED) | SHOWN_WHOLE,
    OBEY(RULE_ALWAYS) | OBEY(RULE_WRITTEN) | OBEY(RULE_SHOWN),
    OBEY(RULE_ALWAYS) | OBEY(RULE_SHOWN),
    OBEY(RULE_ALWAYS),
};
enum { OBEYED_COUNT = sizeof obeyed / sizeof obeyed[0], MOVES_MOST = 16 * RIG_INTERLEAVING_STEPS_MOST };

struct weave {
    const struct rig_history *history;
    struct rig_value_writers writers;
    struct before_vec befores;
    bool plain_rows; /* of the workload predicate: rows have no contents but their class */
    bool full;       /* memory ran out */
};

/* Steps are numbered transaction by transaction: begin, operations, end. */
static uint32_t begin_of(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn].first_op + 2 * txn;
}

static uint32_t end_of(const struct rig_history *history, uint32_t txn)
{
    return begin_of(history, txn) + rig_txn_op_count(history, txn) + 1;
}

static uint32_t step_of(const struct rig_history *history, uint32_t op)
{
    return op + 2 * rig_history_txn_of(history, op) + 1;
}

static void add_before(struct weave *weave, uint32_t from, uint32_t to, enum rule rule)
{
    if (!before_vec_add(&weave->befores, (struct before){from, to, rule}))
        weave->full = true;
}

/* ---- rules ---- */

static void add_order_of_times(struct weave *weave)
{
    const struct rig_history *history = weave->history;
    for (uint32_t a = 0; a < history->txn_count; a++) {
        for (uint32_t step = begin_of(history, a); step < end_of(history, a); step++)
            add_before(weave, step, step + 1, RULE_ALWAYS);
        for (uint32_t b = 0; b < history->txn_count; b++) {
            const uint32_t invoked = history->txns[b].invoke_at;
            if (a != b && invoked != RIG_POSITION_NONE && rig_txn_end(history, a) < invoked)
                add_before(weave, end_of(history, a), begin_of(history, b), RULE_ALWAYS);
        }
    }
}

static bool commits(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn].outcome != RIG_OUTCOME_FAIL;
}

/* The first step of the statement that reads: that of the condition before it, where it has one. */
static uint32_t statement_of(const struct rig_history *history, uint32_t read)
{
    const bool has_condition = rig_op_reads_rows(history->ops[read].kind) &&
                               read > history->txns[rig_history_txn_of(history, read)].first_op &&
                               !rig_op_reads(history->ops[read - 1].kind) && history->ops[read - 1].value < 0;
    return step_of(history, read) - has_condition;
}

/* A read shows what operation `write` wrote. */
static void add_shown(struct weave *weave, uint32_t read, uint32_t write)
{
    const struct rig_history *history = weave->history;
    const uint32_t writer = rig_history_txn_of(history, write);
    if (writer == rig_history_txn_of(history, read))
        return;
    add_before(weave, step_of(history, write), statement_of(history, read), RULE_SHOWN);
    if (commits(history, writer))
        add_before(weave, end_of(history, writer), statement_of(history, read), RULE_SHOWN_COMMITTED);
    else
        add_before(weave, step_of(history, read), end_of(history, writer), RULE_SHOWN_ABORTED);
}

/* A read came, perhaps, before the version that operation `write` made. */
static void add_unseen(struct weave *weave, uint32_t read, uint32_t write, enum rule rule)
{
    const struct rig_history *history = weave->history;
    const uint32_t writer = rig_history_txn_of(history, write);
    if (writer == rig_history_txn_of(history, read) || !commits(history, writer))
        return;
    add_before(weave, step_of(history, read), end_of(history, writer), rule);
    if (rule != RULE_UNSEEN)
        return;
    uint32_t first = history->txns[rig_history_txn_of(history, read)].first_op;
    while (!rig_op_reads(history->ops[first].kind))
        first++;
    add_before(weave, step_of(history, first), end_of(history, writer), RULE_UNSEEN_SNAPSHOT);
}

static void add_written(struct weave *weave, uint32_t first, uint32_t second)
{
    const struct rig_history *history = weave->history;
    const uint32_t writer = rig_history_txn_of(history, first), other = rig_history_txn_of(history, second);
    if (writer == other || !commits(history, writer) || !commits(history, other))
        return;
    add_before(weave, step_of(history, first), step_of(history, second), RULE_WRITTEN);
    add_before(weave, end_of(history, writer), step_of(history, second), RULE_LOCKED);
}

static bool shows(const struct rig_read_list *list, int64_t value)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (rig_read_element(list, i) == value)
            return true;
    }
    return false;
}

/* Reads of sequences show each write that they saw; the others came later. */
static void add_read_of_many(struct weave *weave, uint32_t read)
{
    const struct rig_history *history = weave->history;
    const struct rig_txn_op *op = &history->ops[read];
    const struct rig_read_list list = rig_txn_op_list(history, op);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *write = &history->ops[i];
        if (rig_op_reads(write->kind) || write->key != op->key)
            continue;
        if (shows(&list, write->value))
            add_shown(weave, read, i);
        else
            add_unseen(weave, read, i, RULE_UNSEEN);
    }
}

/* Whether the transaction of operation `write` read the same as operation `read` before it wrote. */
static bool replaces(const struct rig_history *history, uint32_t write, const struct rig_txn_op *read)
{
    for (uint32_t i = history->txns[rig_history_txn_of(history, write)].first_op; i < write; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (op->kind == read->kind && op->key == read->key && op->read_state == read->read_state &&
            (op->read_state == RIG_READ_NIL || op->value == read->value))
            return true;
    }
    return false;
}

/* ---- rows ---- */

/* Whether the operation is a statement of the workload predicate that writes rows. */
static bool writes_rows(const struct rig_txn_op *op)
{
    return !rig_op_reads(op->kind) && op->value > 0 && !rig_row_is_of_sql(op->value);
}

/* The rows that the statement of an update or a delete met: the read before it has them. */
static struct rig_read_list met_by(const struct rig_history *history, uint32_t write)
{
    const uint32_t first = history->txns[rig_history_txn_of(history, write)].first_op;
    const bool has = write > first && rig_op_reads(history->ops[write - 1].kind) &&
                     history->ops[write - 1].key == history->ops[write].key &&
                     history->ops[write - 1].read_state == RIG_READ_SEEN && !rig_row_inserts(history->ops[write].value);
    return has ? rig_txn_op_list(history, &history->ops[write - 1]) : (struct rig_read_list){0};
}

/* The version of a row in a list of rows; 0: the row is not there. */
static int64_t version_in(const struct rig_read_list *rows, int64_t id)
{
    for (uint32_t i = 0; i + 1 < rows->count; i += 2) {
        if (rig_read_element(rows, i) == id)
            return rig_read_element(rows, i + 1);
    }
    return 0;
}

/* Whether another statement replaced or removed this version of a row. */
static bool is_replaced(const struct rig_history *history, uint32_t key, int64_t id, int64_t version)
{
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].key != key || !writes_rows(&history->ops[i]))
            continue;
        const struct rig_read_list met = met_by(history, i);
        if (version_in(&met, id) == version)
            return true;
    }
    return false;
}

/* A read of rows, its condition, and what it shows. */
struct row_read {
    uint32_t op;
    struct rig_row_where where;
    struct rig_read_list rows;
};

/* Statement `write` made a version of a row. A read whose condition it meets comes before it if it does not show the
 * row, unless another statement replaced the version. */
static void add_version(struct weave *weave, const struct row_read *read, uint32_t write, int64_t id)
{
    const struct rig_txn_op *op = &weave->history->ops[write];
    const int64_t shown = version_in(&read->rows, id);
    if (shown == op->value)
        add_shown(weave, read->op, write);
    else if (shown == 0 && rig_row_matches(&read->where, id, op->value))
        add_unseen(weave, read->op, write,
                   is_replaced(weave->history, op->key, id, op->value) ? RULE_MAYBE_UNSEEN : RULE_UNSEEN);
}

/* Statement `write` replaced or removed a version of a row. A read that shows it came before; one that misses it came
 * after, if the row was there when the reader began. */
static void add_replaced(struct weave *weave, const struct row_read *read, uint32_t write, int64_t id, int64_t version)
{
    const struct rig_history *history = weave->history;
    const int64_t shown = version_in(&read->rows, id);
    if (shown == version) {
        add_unseen(weave, read->op, write, RULE_UNSEEN);
        return;
    }
    const uint32_t maker = rig_value_writer(&weave->writers, history->ops[write].key, version);
    const uint32_t began = history->txns[rig_history_txn_of(history, read->op)].invoke_at;
    if (shown == 0 && rig_row_matches(&read->where, id, version) && maker != UINT32_MAX && began != RIG_POSITION_NONE &&
        rig_txn_end(history, rig_history_txn_of(history, maker)) < began)
        add_shown(weave, read->op, write);
}

static void add_read_of_rows(struct weave *weave, uint32_t op)
{
    const struct rig_history *history = weave->history;
    const uint32_t first = history->txns[rig_history_txn_of(history, op)].first_op;
    struct row_read read = {.op = op, .where = rig_row_all(), .rows = rig_txn_op_list(history, &history->ops[op])};
    if (op > first && !rig_op_reads(history->ops[op - 1].kind) && history->ops[op - 1].value < 0)
        (void)rig_row_condition_of(history->ops[op - 1].value, &read.where);
    const bool is_none =
        read.rows.count == 2 && rig_row_total_is_none(rig_read_element(&read.rows, 0), rig_read_element(&read.rows, 1));
    if (read.where.form != RIG_ROW_LISTED && read.rows.count > 0 && !is_none)
        return; /* a number of rows says nothing of a single one */
    if (read.where.form != RIG_ROW_LISTED)
        read.rows.count = 0;
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (history->ops[i].key != history->ops[op].key || !writes_rows(&history->ops[i]))
            continue;
        const struct rig_read_list met = met_by(history, i);
        if (rig_row_inserts(history->ops[i].value))
            add_version(weave, &read, i, history->ops[i].value);
        for (uint32_t row = 0; row + 1 < met.count; row += 2) {
            const int64_t id = rig_read_element(&met, row);
            if (rig_row_action(history->ops[i].value) == RIG_ROWS_UPDATE)
                add_version(weave, &read, i, id);
            add_replaced(weave, &read, i, id, rig_read_element(&met, row + 1));
        }
    }
}

/* Whether the history is of the workload predicate. */
static bool has_plain_rows(const struct rig_history *history)
{
    for (uint32_t i = 0; i < history->op_count; i++) {
        if (writes_rows(&history->ops[i]))
            return rig_data_types[history->workload].shape == RIG_RESULT_ROWS;
    }
    return false;
}

/* ---- single values ---- */

/* A read of one value shows one write. Later are all writes of a key that was read in its initial state, and those of
 * transactions that read the same. */
static void add_read_of_one(struct weave *weave, uint32_t read)
{
    const struct rig_history *history = weave->history;
    const struct rig_txn_op *op = &history->ops[read];
    const uint32_t began = history->txns[rig_history_txn_of(history, read)].invoke_at;
    const uint32_t shown =
        op->read_state == RIG_READ_SEEN ? rig_value_writer(&weave->writers, op->key, op->value) : UINT32_MAX;
    if (shown != UINT32_MAX)
        add_shown(weave, read, shown);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *write = &history->ops[i];
        if (i == shown || rig_op_reads(write->kind) || write->key != op->key)
            continue;
        if (op->read_state == RIG_READ_NIL || replaces(history, i, op))
            add_unseen(weave, read, i, RULE_UNSEEN);
        else if (began == RIG_POSITION_NONE || rig_txn_end(history, rig_history_txn_of(history, i)) > began)
            add_unseen(weave, read, i, RULE_MAYBE_UNSEEN);
    }
}

/* Neighbours in the longest list of each key. */
static void add_spines(struct weave *weave)
{
    const struct rig_history *history = weave->history;
    if (!rig_workload_has_sequences(history->workload) || rig_data_types[history->workload].shape != RIG_RESULT_LIST)
        return;
    for (uint32_t key = 0; key < history->key_count; key++) {
        uint32_t last = UINT32_MAX;
        for (uint32_t i = 0; i < history->spines[key].count; i++) {
            const uint32_t write = rig_value_writer(&weave->writers, key, history->spines[key].at[i]);
            if (last != UINT32_MAX && write != UINT32_MAX)
                add_written(weave, last, write);
            last = write;
        }
    }
}

/* The orders of versions that a witness shows. */
static void add_witness(struct weave *weave, const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < witness->step_count; i++) {
        const struct rig_step *step = &witness->steps[i];
        if (step->kind != RIG_EDGE_WW && step->kind != RIG_EDGE_RW)
            continue;
        const uint32_t later = rig_value_writer(&weave->writers, step->key, step->to_value);
        if (later == UINT32_MAX)
            continue;
        if (step->kind == RIG_EDGE_RW && step->from_op != UINT32_MAX) {
            add_unseen(weave, weave->history->txns[step->from].first_op + step->from_op, later, RULE_UNSEEN);
            continue;
        }
        const uint32_t earlier = rig_value_writer(&weave->writers, step->key, step->from_value);
        if (step->kind == RIG_EDGE_WW && earlier != UINT32_MAX)
            add_written(weave, earlier, later);
    }
}

/* Two concurrent transactions that together break a constraint each write before the other one ends: one after the
 * other, a database sees the first one's row. */
static void add_constraint(struct weave *weave, const struct rig_witness *witness)
{
    const struct rig_history *history = weave->history;
    if (witness->txn_count != 2)
        return;
    const uint32_t a = witness->txns[0], b = witness->txns[1];
    if (witness->op >= rig_txn_op_count(history, a) || witness->other_op >= rig_txn_op_count(history, b) ||
        rig_txn_end(history, a) < history->txns[b].invoke_at || rig_txn_end(history, b) < history->txns[a].invoke_at)
        return;
    add_before(weave, step_of(history, history->txns[a].first_op + witness->op), end_of(history, b), RULE_ALWAYS);
    add_before(weave, step_of(history, history->txns[b].first_op + witness->other_op), end_of(history, a), RULE_ALWAYS);
}

static void add_rules(struct weave *weave, const struct rig_verdict *verdict)
{
    const struct rig_history *history = weave->history;
    weave->plain_rows = has_plain_rows(history);
    add_order_of_times(weave);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (!rig_op_reads(op->kind) || op->read_state == RIG_READ_UNKNOWN)
            continue;
        if (weave->plain_rows)
            add_read_of_rows(weave, i);
        else if (rig_op_reads_sequence(op->kind))
            add_read_of_many(weave, i);
        else
            add_read_of_one(weave, i);
    }
    add_spines(weave);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        for (uint32_t i = 0; i < verdict->findings[anomaly].witness_count; i++) {
            add_witness(weave, &verdict->findings[anomaly].witnesses[i]);
            if (anomaly == RIG_ANOMALY_BROKEN_UNIQUE || anomaly == RIG_ANOMALY_BROKEN_REFERENCE)
                add_constraint(weave, &verdict->findings[anomaly].witnesses[i]);
        }
    }
}

/* ---- an order ---- */

/* An order that grows by one step at a time. */
struct order {
    const struct weave *weave;
    unsigned obey;
    uint32_t *waits;   /* by step: how many steps must still come before it */
    uint32_t *next;    /* by transaction: its next step */
    uint32_t *first;   /* by step: the first entry of weave->befores that begins with it; sorted by find_successors() */
    uint32_t *holder;  /* by key: the transaction under way that wrote it; UINT32_MAX: none */
    uint32_t *pending; /* by key: the transactions that have yet to write it for the first time */
    struct step_vec steps;
};

/* A step that another one could have preceded: a write of a key that other transactions have yet to write. */
struct choice {
    uint32_t step_count; /* before it */
    uint32_t number;     /* of the step that was chosen, among those that waited for none */
};

RIG_VEC(struct choice, choice_vec)

static struct rig_interleaved step_at(const struct rig_history *history, uint32_t txn, uint32_t step)
{
    const uint32_t begin = begin_of(history, txn);
    if (step == begin)
        return (struct rig_interleaved){txn, RIG_STATEMENT_BEGIN, UINT32_MAX};
    if (step == end_of(history, txn))
        return (struct rig_interleaved){txn, RIG_STATEMENT_END, UINT32_MAX};
    return (struct rig_interleaved){txn, RIG_STATEMENT_OPERATION, history->txns[txn].first_op + step - begin - 1};
}

/* The key that the next step of a transaction writes, as its first write of it; UINT32_MAX: none. */
static uint32_t key_to_take(const struct order *order, uint32_t txn)
{
    const struct rig_history *history = order->weave->history;
    const struct rig_interleaved step = step_at(history, txn, order->next[txn]);
    if (step.statement != RIG_STATEMENT_OPERATION || rig_op_reads(history->ops[step.op].kind) ||
        order->weave->plain_rows)
        return UINT32_MAX; /* a statement locks rows, not their table, and reads show which rows it met */
    const uint32_t key = history->ops[step.op].key;
    for (uint32_t i = history->txns[txn].first_op; i < step.op; i++) {
        if (!rig_op_reads(history->ops[i].kind) && history->ops[i].key == key)
            return UINT32_MAX;
    }
    return key;
}

static bool can_go(const struct order *order, uint32_t txn)
{
    if (order->next[txn] > end_of(order->weave->history, txn) || order->waits[order->next[txn]] != 0)
        return false;
    if ((order->obey & OBEY(RULE_LOCKED)) == 0)
        return true;
    const uint32_t key = key_to_take(order, txn);
    return key == UINT32_MAX || order->holder[key] == UINT32_MAX;
}

/*
 * The transaction of the step that comes `number`-th among those that wait for none: the running transaction's first,
 * then by the transactions' beginning. UINT32_MAX: there are no more.
 */
static uint32_t choose_txn(const struct order *order, uint32_t number)
{
    const struct rig_history *history = order->weave->history;
    const uint32_t running = order->steps.count == 0 ? UINT32_MAX : order->steps.at[order->steps.count - 1].txn;
    if (running != UINT32_MAX && can_go(order, running) && number-- == 0)
        return running;
    uint32_t last = UINT32_MAX;
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t txn = 0; txn < history->txn_count; txn++) {
            const uint32_t invoked = history->txns[txn].invoke_at;
            const bool is_after = last == UINT32_MAX || invoked > history->txns[last].invoke_at ||
                                  (invoked == history->txns[last].invoke_at && txn > last);
            if (is_after && txn != running && (best == UINT32_MAX || invoked < history->txns[best].invoke_at) &&
                can_go(order, txn))
                best = txn;
        }
        if (best == UINT32_MAX || number-- == 0)
            return best;
        last = best;
    }
}

/* Adds the next step of a transaction, or with `is_back` takes the last step back, which is that transaction's. */
static void move(struct order *order, uint32_t txn, bool is_back)
{
    const struct weave *weave = order->weave;
    const struct rig_history *history = weave->history;
    order->next[txn] -= is_back;
    const uint32_t step = order->next[txn], key = key_to_take(order, txn);
    for (uint32_t i = order->first[step]; i < weave->befores.count && weave->befores.at[i].from == step; i++) {
        const bool counts = (order->obey & OBEY(weave->befores.at[i].rule)) != 0;
        order->waits[weave->befores.at[i].to] += is_back ? counts : -(uint32_t)counts;
    }
    if (key != UINT32_MAX) {
        order->holder[key] = is_back ? UINT32_MAX : txn;
        order->pending[key] += is_back ? 1 : -(uint32_t)1;
    }
    for (uint32_t i = 0; step == end_of(history, txn) && i < rig_txn_op_count(history, txn); i++) {
        const struct rig_txn_op *op = &rig_txn_ops(history, txn)[i];
        if (!rig_op_reads(op->kind))
            order->holder[op->key] = is_back ? txn : UINT32_MAX;
    }
    order->next[txn] += !is_back;
    if (is_back)
        order->steps.count--;
    else
        order->steps.at[order->steps.count++] = step_at(history, txn, step);
}

static void begin_order(struct order *order, unsigned obey)
{
    const struct weave *weave = order->weave;
    const struct rig_history *history = weave->history;
    order->obey = obey;
    order->steps.count = 0;
    memset(order->waits, 0, (history->op_count + 2 * (size_t)history->txn_count) * sizeof *order->waits);
    memset(order->pending, 0, history->key_count * sizeof *order->pending);
    for (uint32_t key = 0; key < history->key_count; key++)
        order->holder[key] = UINT32_MAX;
    for (size_t i = 0; i < weave->befores.count; i++)
        order->waits[weave->befores.at[i].to] += (obey & OBEY(weave->befores.at[i].rule)) != 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (order->next[txn] = begin_of(history, txn); order->next[txn] <= end_of(history, txn); order->next[txn]++) {
            const uint32_t key = key_to_take(order, txn);
            if (key != UINT32_MAX)
                order->pending[key]++;
        }
        order->next[txn] = begin_of(history, txn);
    }
}

/* Whether taking the next step of `txn` now could be a mistake: only where it takes a key that another one needs as
 * well. */
static bool is_choice(const struct order *order, uint32_t txn)
{
    const uint32_t key = (order->obey & OBEY(RULE_LOCKED)) == 0 ? UINT32_MAX : key_to_take(order, txn);
    return key != UINT32_MAX && order->pending[key] > 1;
}

/*
 * A topological order under the rules of `obey`. Where a step waits for a key forever, the last choice of the
 * transaction that takes a key first is made otherwise, at most MOVES_MOST steps in all. False: there is no order, or
 * none was found.
 */
static bool order_steps(struct order *order, unsigned obey, struct choice_vec *choices)
{
    const struct rig_history *history = order->weave->history;
    const uint32_t step_count = history->op_count + 2 * history->txn_count;
    uint32_t number = 0;
    begin_order(order, obey);
    choices->count = 0;
    for (uint32_t moves = 0; order->steps.count < step_count;) {
        const uint32_t txn = choose_txn(order, number);
        if (txn != UINT32_MAX) {
            if (is_choice(order, txn) &&
                !choice_vec_add(choices, (struct choice){(uint32_t)order->steps.count, number}))
                return false;
            move(order, txn, false);
            moves++;
            number = 0;
            continue;
        }
        if (choices->count == 0 || moves > MOVES_MOST)
            return false;
        const struct choice last = choices->at[--choices->count];
        while (order->steps.count > last.step_count)
            move(order, order->steps.at[order->steps.count - 1].txn, true);
        number = last.number + 1;
    }
    return true;
}

static int compare_befores(const void *a, const void *b)
{
    const struct before *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : 0;
}

static void find_successors(struct weave *weave, uint32_t *first, uint32_t step_count)
{
    uint32_t at = 0;
    if (weave->befores.count > 0)
        qsort(weave->befores.at, weave->befores.count, sizeof *weave->befores.at, compare_befores);
    for (uint32_t step = 0; step < step_count; step++) {
        while (at < weave->befores.count && weave->befores.at[at].from < step)
            at++;
        first[step] = at;
    }
}

/* ---- the order of times ---- */

/* Where COMMIT or ROLLBACK is in it. It was sent after the last operation was answered, and after the operations began
 * that waited for it; its answer came at the end. */
enum ending { ENDING_SENT, ENDING_ANSWERED };

struct sent {
    int64_t at_ns;
    uint32_t txn, step;
};

static int compare_sent(const void *a, const void *b)
{
    const struct sent *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* By transaction, the earliest time at which it can have sent its end. False: no operation waited for another
 * transaction. */
static bool find_ends(const struct rig_timed *timed, int64_t *ends)
{
    const struct rig_history *history = timed->history;
    bool found = false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        ends[txn] = rig_timed_ending_ns(timed, txn);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = 0; op < rig_txn_op_count(history, txn); op++) {
            const uint32_t from = rig_timed_wait(timed, txn, op).from;
            if (from == UINT32_MAX)
                continue;
            const int64_t begun_ns = rig_timed_start_ns(timed, txn, op) + 1;
            ends[from] = begun_ns > ends[from] ? begun_ns : ends[from];
            found = true;
        }
    }
    return found;
}

static void gather_sent(const struct rig_timed *timed, const int64_t *ends, enum ending ending, struct sent *sent)
{
    const struct rig_history *history = timed->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t begin = begin_of(history, txn), end = end_of(history, txn);
        const int64_t complete_ns = history->txns[txn].complete_ns;
        sent[begin] = (struct sent){history->txns[txn].invoke_ns, txn, begin};
        for (uint32_t step = begin + 1; step < end; step++)
            sent[step] = (struct sent){rig_timed_start_ns(timed, txn, step - begin - 1), txn, step};
        sent[end] =
            (struct sent){ending == ENDING_SENT || complete_ns == RIG_NO_TIME ? ends[txn] : complete_ns, txn, end};
    }
}

/* Whether the order gives the reads. `place`: by step. */
static bool gives_reads(const struct weave *weave, const uint32_t *place)
{
    const unsigned rules = OBEY(RULE_ALWAYS) | OBEY(RULE_UNSEEN) | OBEY(RULE_SHOWN);
    for (size_t i = 0; i < weave->befores.count; i++) {
        const struct before *before = &weave->befores.at[i];
        if ((rules & OBEY(before->rule)) != 0 && place[before->from] >= place[before->to])
            return false;
    }
    return true;
}

/* Orders the steps by their times; without effect where that does not give the reads. */
static bool order_by_times(const struct weave *weave, const struct rig_timed *timed, const int64_t *ends,
                           struct rig_interleaving *interleaving)
{
    const struct rig_history *history = weave->history;
    const uint32_t step_count = history->op_count + 2 * history->txn_count;
    struct sent *sent = calloc((size_t)step_count + 1, sizeof *sent);
    uint32_t *place = calloc((size_t)step_count + 1, sizeof *place);
    struct step_vec steps = {0};
    bool found = false;
    const bool fits = sent != NULL && place != NULL && step_vec_reserve(&steps, (size_t)step_count + 1);
    for (int ending = ENDING_SENT; fits && !found && ending <= ENDING_ANSWERED; ending++) {
        gather_sent(timed, ends, (enum ending)ending, sent);
        qsort(sent, step_count, sizeof *sent, compare_sent);
        for (uint32_t i = 0; i < step_count; i++)
            place[sent[i].step] = i;
        found = gives_reads(weave, place);
    }
    for (uint32_t i = 0; found && i < step_count; i++)
        steps.at[steps.count++] = step_at(history, sent[i].txn, sent[i].step);
    free(sent);
    free(place);
    if (!found) {
        step_vec_done(&steps);
        return fits;
    }
    interleaving->steps = steps.at;
    interleaving->step_count = (uint32_t)steps.count;
    interleaving->explains_reads = interleaving->by_times = true;
    return true;
}

/* Where each operation has its times, and one waited. */
static enum rig_rc try_times(const struct weave *weave, struct rig_interleaving *interleaving, struct rig_err *err)
{
    const struct rig_history *history = weave->history;
    struct rig_timed timed;
    uint32_t *txns = calloc((size_t)history->txn_count + 1, sizeof *txns);
    int64_t *ends = calloc((size_t)history->txn_count + 1, sizeof *ends);
    bool fits = txns != NULL && ends != NULL && !weave->full;
    for (uint32_t txn = 0; fits && txn < history->txn_count; txn++)
        txns[txn] = txn;
    if (fits && rig_timed_init(&timed, history, txns, history->txn_count) && find_ends(&timed, ends))
        fits = order_by_times(weave, &timed, ends, interleaving);
    free(txns);
    free(ends);
    return fits ? RIG_OK : rig_no_memory(err, "an order of statements");
}

/* ---- the order of a proof ---- */

/* Adds the operations of a transaction from `next` to before `end`, both counted from its beginning, which comes
 * first. */
static void add_steps(const struct rig_history *history, uint32_t txn, uint32_t end, uint32_t *next,
                      struct step_vec *steps)
{
    for (; *next < end; ++*next)
        steps->at[steps->count++] = step_at(history, txn, begin_of(history, txn) + *next);
}

/* An operation runs where the transaction stands for it, or all of them run where it stands first. */
static void follow(const struct rig_history *history, const struct rig_proved_order *proved, uint32_t *left,
                   uint32_t *next, struct step_vec *steps)
{
    for (size_t i = 0; i < proved->count; i++)
        left[proved->events[i]]++;
    for (size_t i = 0; i < proved->count; i++) {
        const uint32_t txn = proved->events[i], ops = rig_txn_op_count(history, txn);
        const bool is_stepwise = next[txn] > 0 || left[txn] == ops + 1;
        const uint32_t end = --left[txn] == 0 ? ops + 2 : !is_stepwise ? ops + 1 : next[txn] == 0 ? 2 : next[txn] + 1;
        add_steps(history, txn, end, &next[txn], steps);
    }
}

/* In the order that proves a level which the history keeps; without effect where it does not. */
static enum rig_rc try_proof(const struct weave *weave, enum rig_level level, struct rig_interleaving *interleaving,
                             struct rig_err *err)
{
    const struct rig_history *history = weave->history;
    struct rig_proved_order proved;
    bool found = false;
    enum rig_rc rc = rig_proved_order_find(history, level, &proved, &found, err);
    if (rc == RIG_OK && found) {
        uint32_t *numbers = calloc(2 * (size_t)history->txn_count + 1, sizeof *numbers);
        struct step_vec steps = {0};
        const size_t count = (size_t)history->op_count + 2 * (size_t)history->txn_count;
        if (numbers == NULL || !step_vec_reserve(&steps, count + 1))
            rc = rig_no_memory(err, "an order of statements");
        else
            follow(history, &proved, numbers, numbers + history->txn_count, &steps);
        free(numbers);
        RIG_INVARIANT(rc != RIG_OK || steps.count == count);
        interleaving->steps = steps.at;
        interleaving->step_count = (uint32_t)steps.count;
        interleaving->explains_reads = rc == RIG_OK;
    }
    rig_proved_order_done(&proved);
    return rc;
}

static bool breaks_constraint(const struct rig_verdict *verdict)
{
    return verdict->findings[RIG_ANOMALY_BROKEN_UNIQUE].count + verdict->findings[RIG_ANOMALY_BROKEN_REFERENCE].count >
           0;
}

static enum rig_rc order_all(struct weave *weave, struct rig_interleaving *interleaving, struct rig_err *err)
{
    const struct rig_history *history = weave->history;
    const uint32_t step_count = history->op_count + 2 * history->txn_count;
    uint32_t *numbers =
        calloc(2 * (size_t)step_count + history->txn_count + 2 * (size_t)history->key_count + 1, sizeof *numbers);
    struct order order = {.weave = weave};
    struct choice_vec choices = {0};
    bool done = false;
    unsigned tried = 0;
    const bool fits = numbers != NULL && !weave->full && step_vec_reserve(&order.steps, (size_t)step_count + 1);
    if (fits) {
        order.waits = numbers;
        order.first = order.waits + step_count;
        order.next = order.first + step_count;
        order.holder = order.next + history->txn_count;
        order.pending = order.holder + history->key_count;
        find_successors(weave, order.first, step_count);
    }
    for (; fits && !done && tried < OBEYED_COUNT; tried++)
        done = order_steps(&order, obeyed[tried], &choices);
    free(numbers);
    choice_vec_done(&choices);
    if (!fits) {
        step_vec_done(&order.steps);
        return rig_no_memory(err, "an order of statements");
    }
    RIG_INVARIANT(done); /* the order of times alone contradicts nothing */
    const unsigned rules = obeyed[tried - 1];
    interleaving->steps = order.steps.at;
    interleaving->step_count = (uint32_t)order.steps.count;
    interleaving->by_snapshots = (rules & OBEY(RULE_UNSEEN_SNAPSHOT)) != 0;
    interleaving->explains_reads = interleaving->by_snapshots || (rules & OBEY(RULE_UNSEEN)) != 0;
    return RIG_OK;
}

enum rig_rc rig_interleaving_init(struct rig_interleaving *interleaving, const struct rig_history *history,
                                  const struct rig_verdict *verdict, struct rig_err *err)
{
    struct weave weave = {.history = history};
    *interleaving = (struct rig_interleaving){0};
    if ((uint64_t)history->op_count + 2 * (uint64_t)history->txn_count > RIG_INTERLEAVING_STEPS_MOST)
        return rig_fail(err, RIG_E_LIMIT, "an order of more than %d statements is not shown",
                        (int)RIG_INTERLEAVING_STEPS_MOST);
    const bool by_rules = breaks_constraint(verdict); /* a level says nothing of constraints */
    enum rig_rc rc = rig_value_writers_init(&weave.writers, history, err);
    if (rc == RIG_OK && !by_rules)
        rc = try_proof(&weave, RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION, interleaving, err);
    if (rc == RIG_OK && interleaving->step_count == 0) {
        add_rules(&weave, verdict);
        rc = try_times(&weave, interleaving, err);
    }
    if (rc == RIG_OK && interleaving->step_count == 0 && !by_rules)
        rc = try_proof(&weave, RIG_LEVEL_STRONG_MONOTONIC_SNAPSHOT_READ, interleaving, err);
    if (rc == RIG_OK && interleaving->step_count == 0)
        rc = order_all(&weave, interleaving, err);
    rig_value_writers_done(&weave.writers);
    before_vec_done(&weave.befores);
    return rc;
}

void rig_interleaving_done(struct rig_interleaving *interleaving)
{
    free(interleaving->steps);
    *interleaving = (struct rig_interleaving){0};
}
