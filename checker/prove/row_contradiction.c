#include "checker/prove/row_contradiction.h"

#include "base/bug.h"
#include "checker/prove/row_chain.h"

struct checking {
    const struct rig_facts *facts;
    const struct rig_history *history;
    const struct rig_witness_orders *orders;
    bool serial;
    const struct rig_witness_line *line;
    const struct rig_txn_op *from, *to;
};

static bool is_chosen(const struct checking *c, uint32_t before, uint32_t after, uint32_t reader)
{
    for (size_t i = 0; i < c->orders->count; i++) {
        const struct rig_witness_order *order = &c->orders->at[i];
        if (order->before == before && order->after == after && (c->serial || order->reader == reader))
            return true;
    }
    return false;
}

static struct rig_row_miss miss_of(const struct checking *c, uint32_t txn, uint32_t op, int64_t id)
{
    return (struct rig_row_miss){
        .history = c->history, .committed = c->facts->committed, .txn = txn, .op = op, .key = c->from->key, .id = id};
}

/* ---- steps ---- */

/* Whether the read shows a version that the statement wrote. */
static bool shows(const struct checking *c, uint32_t txn, uint32_t op, const struct rig_txn_op *statement)
{
    const struct rig_txn_op *read = rig_row_known_read(c->history, txn, op, statement->key, false);
    return read != NULL && rig_row_count_shown(c->history, read, NULL, &statement->value) > 0;
}

bool rig_row_line_shows(const struct rig_facts *facts, const struct rig_witness_line *line)
{
    const struct checking c = {.facts = facts, .history = facts->history};
    return shows(&c, line->to, line->to_op, rig_txn_ops(facts->history, line->from) + line->from_op);
}

static bool is_seen(const void *context, uint32_t txn)
{
    const struct checking *c = context;
    return is_chosen(c, txn, c->line->to, c->line->to);
}

/* wr of a read that misses a row: it was there from the start, or a case says which version the read saw. */
static const char *check_taken_away(const struct checking *c)
{
    const struct rig_witness_line *line = c->line;
    const bool in_case = line->reason == RIG_REASON_CASE;
    const char *lacks = "the one did not read what the other one wrote";
    int64_t id;
    for (uint32_t i = 0; lacks != NULL && rig_row_written(c->history, line->from, line->from_op, i, &id); i++) {
        const struct rig_row_miss miss = miss_of(c, line->to, line->to_op, id);
        lacks = in_case ? rig_row_check_stretch(&miss, is_seen, c, line->from, c->from->value)
                        : rig_row_check_gone(&miss, c->from->value);
    }
    return lacks;
}

static const char *check_wr(const struct checking *c)
{
    const struct rig_witness_line *line = c->line;
    if (c->to->kind != RIG_OP_READ_WHERE || c->to->read_state == RIG_READ_UNKNOWN || !rig_row_op_writes(c->from))
        return "not a statement and a known read";
    if (line->reason == RIG_REASON_CASE)
        return is_chosen(c, line->from, line->to, line->to) ? NULL : check_taken_away(c);
    return shows(c, line->to, line->to_op, c->from) ? NULL : check_taken_away(c);
}

static const char *check_ww(const struct checking *c)
{
    const struct rig_witness_line *line = c->line;
    if (!rig_row_op_writes(c->from) || !rig_row_op_writes(c->to) || rig_row_inserts(c->to->value) || line->to_op == 0)
        return "not two statements, of which the later one replaces rows";
    const struct rig_txn_op *replaces =
        rig_row_replacing_read(c->history, line->to, line->to_op - 1, c->to->key, c->to->value);
    return shows(c, line->to, line->to_op - 1, c->from) ||
                   (replaces != NULL && rig_row_is_rewritten(c->history, c->facts->committed, line->from, line->from_op,
                                                             replaces, c->to->value))
               ? NULL
               : "the one did not replace what the other one wrote";
}

/* Whether the statement of the line's `to` replaced a version that the read shows. */
static bool is_replaced(const struct checking *c)
{
    const struct rig_witness_line *line = c->line;
    const struct rig_txn_op *read = rig_row_known_read(c->history, line->from, line->from_op, c->from->key, false);
    const struct rig_txn_op *replaces =
        line->to_op == 0 ? NULL
                         : rig_row_replacing_read(c->history, line->to, line->to_op - 1, c->to->key, c->to->value);
    if (read == NULL || replaces == NULL)
        return false;
    const struct rig_read_list list = rig_txn_op_list(c->history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at), version = rig_read_element(&list, at + 1);
        if (rig_row_count_shown(c->history, replaces, &id, &version) > 0 ||
            rig_row_is_overwritten(c->history, c->facts->committed, read, version, replaces, c->to->value))
            return true;
    }
    return false;
}

static const char *check_rw(const struct checking *c, bool *by_predicate)
{
    const struct rig_witness_line *line = c->line;
    const char *lacks =
        "the read shows no row that the other one replaced, and misses none that met its condition then";
    int64_t id;
    if (c->from->kind != RIG_OP_READ_WHERE || c->from->read_state == RIG_READ_UNKNOWN || !rig_row_op_writes(c->to))
        return "not a known read and a statement";
    if (line->reason == RIG_REASON_CASE) {
        *by_predicate = true;
        return is_chosen(c, line->from, line->to, line->from) ? NULL : "no case in scope has this order";
    }
    if (is_replaced(c))
        return NULL;
    *by_predicate = rig_row_asked_at(rig_txn_ops(c->history, line->from), line->from_op).column != RIG_ROW_BY_KEY;
    for (uint32_t i = 0; lacks != NULL && rig_row_written(c->history, line->to, line->to_op, i, &id); i++) {
        const struct rig_row_miss miss = miss_of(c, line->from, line->from_op, id);
        lacks = rig_row_check_before(&miss, c->to->value);
    }
    return lacks;
}

const char *rig_row_check_line(const struct rig_facts *facts, const struct rig_witness_orders *orders, bool serial,
                               const struct rig_witness_line *line, bool *by_predicate)
{
    const struct rig_history *history = facts->history;
    const struct checking c = {.facts = facts,
                               .history = history,
                               .orders = orders,
                               .serial = serial,
                               .line = line,
                               .from = rig_txn_ops(history, line->from) + line->from_op,
                               .to = rig_txn_ops(history, line->to) + line->to_op};
    RIG_REQUIRE(facts->form == RIG_FACTS_ROWS && facts->committed != NULL && c.from->key == c.to->key);
    *by_predicate = false;
    return line->kind == RIG_WITNESS_WW   ? check_ww(&c)
           : line->kind == RIG_WITNESS_WR ? check_wr(&c)
                                          : check_rw(&c, by_predicate);
}
