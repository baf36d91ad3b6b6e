#include "checker/prove/row_impossible.h"

#include "base/bug.h"
#include "checker/prove/impossible.h"
#include "checker/prove/row_chain.h"

struct claim {
    const struct rig_facts *facts;
    const struct rig_history *history;
    const struct rig_witness_line *line;
    const struct rig_txn_op *read, *other;
};

/* Whether a read at `op` of an update or delete by the transaction shows the row at this version. */
static bool replaces(const struct claim *c, uint32_t txn, uint32_t op, int64_t id, int64_t version)
{
    if (op + 1 >= rig_txn_op_count(c->history, txn))
        return false;
    const struct rig_txn_op *statement = rig_txn_ops(c->history, txn) + op + 1;
    const struct rig_txn_op *read = rig_row_op_writes(statement)
                                        ? rig_row_replacing_read(c->history, txn, op, c->read->key, statement->value)
                                        : NULL;
    return read != NULL && rig_row_count_shown(c->history, read, &id, &version) > 0;
}

/* The statement's transaction replaced the row's version itself with a later one. */
static bool is_intermediate(const struct claim *c, int64_t id, int64_t version)
{
    bool replaced = false;
    for (uint32_t op = c->line->to_op + 1; !replaced && op < rig_txn_op_count(c->history, c->line->to); op++)
        replaced = replaces(c, c->line->to, op, id, version);
    return replaced;
}

/* No statement gave this row this version. */
static bool is_garbage(const struct claim *c, int64_t id, int64_t version)
{
    const struct rig_fact_write *of = rig_facts_writer(c->facts, c->read->key, version);
    if (of == NULL || rig_facts_writer(c->facts, c->read->key, id) == NULL || !rig_row_inserts(id) ||
        rig_row_action(version) == RIG_ROWS_DELETE)
        return true;
    if (rig_row_inserts(version))
        return id != version;
    const uint32_t op = of->op - c->history->txns[of->txn].first_op;
    const struct rig_txn_op *read =
        op == 0 ? NULL : rig_row_replacing_read(c->history, of->txn, op - 1, c->read->key, version);
    return read != NULL && rig_row_count_shown(c->history, read, &id, NULL) == 0;
}

/* Whether the transaction wrote the row, or may have, with a statement after `op` and before the read. */
static bool wrote_again(const struct claim *c, int64_t id)
{
    const struct rig_txn_op *ops = rig_txn_ops(c->history, c->line->from);
    for (uint32_t i = c->line->to_op + 1; i < c->line->from_op; i++) {
        if (!rig_row_op_writes(&ops[i]) || ops[i].key != c->read->key)
            continue;
        const struct rig_txn_op *read =
            rig_row_replacing_read(c->history, c->line->from, i - 1, ops[i].key, ops[i].value);
        if (rig_row_inserts(ops[i].value) ? ops[i].value == id
                                          : read == NULL || rig_row_count_shown(c->history, read, &id, NULL) > 0)
            return true;
    }
    return false;
}

/* A row that the transaction wrote with its operation to_op before the read, which shows it otherwise, or misses it. */
static bool is_internal(const struct claim *c)
{
    const struct rig_witness_line *line = c->line;
    const struct rig_row_where condition = rig_row_asked_by(c->history, line->from, line->from_op);
    const struct rig_read_list list = rig_txn_op_list(c->history, c->read);
    const bool lists = condition.form == RIG_ROW_LISTED;
    bool found = false;
    int64_t id;
    if (line->from != line->to || line->to_op >= line->from_op || !rig_row_op_writes(c->other) ||
        (!lists && (list.count != 2 || !rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1)))))
        return false;
    for (uint32_t i = 0; !found && rig_row_written(c->history, line->to, line->to_op, i, &id); i++) {
        const uint32_t shown = lists ? rig_row_count_shown(c->history, c->read, &id, NULL) : 0;
        if (!wrote_again(c, id))
            found = shown > 0 ? rig_row_count_shown(c->history, c->read, &id, &c->other->value) < shown
                              : !condition.is_partial && rig_row_meets_at(c->history, &condition, c->read->key, id,
                                                                          c->other->value) == RIG_ROW_IS_MET;
    }
    return found;
}

/* A row of the statement that was there from the start, and met the condition at each version that the read could
 * see. */
static bool is_read_miss(const struct claim *c)
{
    const struct rig_row_miss miss = {.history = c->history,
                                      .committed = c->facts->committed,
                                      .txn = c->line->from,
                                      .op = c->line->from_op,
                                      .key = c->read->key,
                                      .id = c->other->value};
    return rig_row_op_writes(c->other) && rig_row_check_gone(&miss, 0) == NULL;
}

static bool is_mismatch(const struct claim *c, int64_t id, int64_t version)
{
    const struct rig_row_where condition = rig_row_asked_by(c->history, c->line->from, c->line->from_op);
    return rig_row_meets_at(c->history, &condition, c->read->key, id, version) == RIG_ROW_IS_UNMET;
}

/* Whether the read shows the anomaly in this row. */
static bool is_shown(const struct claim *c, int64_t id, int64_t version)
{
    const struct rig_witness_line *line = c->line;
    const bool by_other = rig_row_op_writes(c->other) && c->other->value == version;
    switch ((int)line->kind) {
    case RIG_WITNESS_G1A:
        return by_other && c->history->txns[line->to].outcome == RIG_OUTCOME_FAIL;
    case RIG_WITNESS_G1B:
        return by_other && line->from != line->to && c->facts->committed[line->to] && is_intermediate(c, id, version);
    case RIG_WITNESS_GARBAGE:
        return is_garbage(c, id, version);
    case RIG_WITNESS_DUPLICATE:
        return rig_row_count_shown(c->history, c->read, &id, NULL) > 1;
    case RIG_WITNESS_FUTURE:
        return by_other && line->from == line->to && line->to_op > line->from_op;
    case RIG_WITNESS_MISMATCH:
        return by_other && is_mismatch(c, id, version);
    case RIG_WITNESS_LOST_UPDATE:
        return line->from != line->to && c->facts->committed[line->to] && line->to_op > 0 &&
               replaces(c, line->from, line->from_op, id, version) &&
               replaces(c, line->to, line->to_op - 1, id, version);
    default:
        return false;
    }
}

static bool forbids(const struct rig_proved_level *level, enum rig_witness_kind kind, bool settled)
{
    const bool impossible = kind == RIG_WITNESS_GARBAGE || kind == RIG_WITNESS_DUPLICATE;
    if (kind == RIG_WITNESS_LOST_UPDATE)
        return rig_forbids_lost_update(level->forbids);
    if (kind == RIG_WITNESS_INTERNAL)
        return level->internal;
    if (kind == RIG_WITNESS_READ_MISS) /* each snapshot has the row; and what follows from these levels */
        return level->forbids == RIG_FORBIDS_MONOTONIC_READS || level->forbids == RIG_FORBIDS_SINGLE ||
               level->forbids == RIG_FORBIDS_ATOMIC;
    return level->forbids != RIG_FORBIDS_WRITES || (impossible && settled);
}

enum rig_rc rig_impossible_row(const struct rig_facts *facts, const struct rig_witness_line *line, uint64_t *levels,
                               struct rig_err *err)
{
    const struct rig_history *history = facts->history;
    struct claim c = {.facts = facts, .history = history, .line = line};
    bool shown = false;
    RIG_REQUIRE(facts->form == RIG_FACTS_ROWS && facts->committed != NULL);
    RIG_REQUIRE(line->from < history->txn_count && line->to < history->txn_count);
    if (line->from_op < rig_txn_op_count(history, line->from) && line->to_op < rig_txn_op_count(history, line->to)) {
        c.other = rig_txn_ops(history, line->to) + line->to_op;
        c.read = rig_row_known_read(history, line->from, line->from_op, c.other->key,
                                    line->kind == RIG_WITNESS_INTERNAL || line->kind == RIG_WITNESS_READ_MISS);
    }
    const bool is_known = c.read != NULL && facts->committed[line->from];
    if (is_known && (line->kind == RIG_WITNESS_INTERNAL || line->kind == RIG_WITNESS_READ_MISS)) {
        shown = line->kind == RIG_WITNESS_INTERNAL ? is_internal(&c) : is_read_miss(&c);
    } else if (is_known) {
        const struct rig_read_list list = rig_txn_op_list(history, c.read);
        for (uint32_t at = 0; !shown && at + 1 < list.count; at += 2)
            shown = is_shown(&c, rig_read_element(&list, at), rig_read_element(&list, at + 1));
    }
    if (!shown)
        return rig_fail(err, RIG_E_INPUT, "%s of T%u and T%u: the history does not show it",
                        rig_witness_kinds[line->kind], rig_txn_name(history, line->from),
                        rig_txn_name(history, line->to));
    const bool settled =
        history->txns[line->from].outcome == RIG_OUTCOME_OK && history->txns[line->to].outcome == RIG_OUTCOME_OK;
    *levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        *levels |= (__typeof__(*levels))forbids(&rig_proved_levels[i], line->kind, settled) << i;
    return RIG_OK;
}
