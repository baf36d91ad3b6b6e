#include "checker/prove/impossible.h"

#include "base/table.h"

struct claim {
    const struct rig_facts *facts;
    const struct rig_history *history;
    const struct rig_witness_line *line;
    const struct rig_txn_op *read, *other; /* their operations */
    uint32_t read_at, other_at;            /* in history->ops */
};

bool rig_shows(const struct rig_history *history, const struct rig_txn_op *read, int64_t value)
{
    if (read->read_state != RIG_READ_SEEN || !rig_op_reads_sequence(read->kind))
        return read->read_state == RIG_READ_SEEN && read->value == value;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return true;
    }
    return false;
}

static bool is_initial(const struct claim *c, const struct rig_txn_op *read)
{
    return read->read_state == RIG_READ_NIL ||
           (read->read_state == RIG_READ_SEEN && rig_facts_writer(c->facts, read->key, read->value) == NULL);
}

static bool is_same_version(const struct rig_txn_op *a, const struct rig_txn_op *b)
{
    return a->read_state == b->read_state && (a->read_state != RIG_READ_SEEN || a->value == b->value);
}

/* Whether the transaction writes the key with an operation behind this one. */
static bool writes_after(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key)
{
    for (uint32_t i = op + 1; i < history->txns[txn + 1].first_op; i++) {
        if (!rig_op_reads(history->ops[i].kind) && history->ops[i].key == key)
            return true;
    }
    return false;
}

static bool is_intermediate(const struct claim *c)
{
    if (rig_op_reads(c->other->kind) || c->line->from == c->line->to ||
        !writes_after(c->history, c->line->to, c->other_at, c->other->key))
        return false;
    if (c->facts->shape != RIG_RESULT_LIST)
        return c->facts->shape == RIG_RESULT_VALUE && rig_shows(c->history, c->read, c->other->value);
    const struct rig_read_list list = rig_facts_external(c->facts, c->line->from, c->read_at);
    return list.count > 0 && rig_read_element(&list, list.count - 1) == c->other->value;
}

static bool is_garbage(const struct claim *c)
{
    if (c->facts->shape == RIG_RESULT_VALUE)
        return is_initial(c, c->read) && is_initial(c, c->other) && c->facts->committed[c->line->to] &&
               !is_same_version(c->read, c->other);
    const struct rig_read_list list = rig_txn_op_list(c->history, c->read);
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_facts_writer(c->facts, c->read->key, rig_read_element(&list, i)) == NULL)
            return true;
    }
    return false;
}

static bool is_repetition(const struct claim *c)
{
    if (c->facts->shape == RIG_RESULT_VALUE) /* its reads have no lists */
        return false;
    const struct rig_read_list list = rig_txn_op_list(c->history, c->read);
    struct rig_table met;
    bool repeated = false;
    rig_table_init(&met);
    for (uint32_t i = 0; i < list.count && !repeated; i++) {
        uint32_t *slot = rig_table_put(&met, (uint64_t)rig_read_element(&list, i));
        if (slot == NULL)
            break;
        repeated = *slot != RIG_TABLE_NONE;
        *slot = i;
    }
    rig_table_done(&met);
    return repeated;
}

static bool is_incompatible(const struct claim *c)
{
    if (c->facts->shape != RIG_RESULT_LIST || !rig_op_reads(c->other->kind) || !c->facts->committed[c->line->to] ||
        c->other->read_state == RIG_READ_UNKNOWN)
        return false;
    const struct rig_read_list a = rig_txn_op_list(c->history, c->read), b = rig_txn_op_list(c->history, c->other);
    for (uint32_t i = 0; i < a.count && i < b.count; i++) {
        if (rig_read_element(&a, i) != rig_read_element(&b, i))
            return true;
    }
    return false;
}

/* A later append of the other transaction stands in the list, and this one does not stand before it. */
static bool is_fractured(const struct claim *c)
{
    if (c->facts->shape != RIG_RESULT_LIST || rig_op_reads(c->other->kind) || !c->facts->committed[c->line->to])
        return false;
    const struct rig_read_list list = rig_txn_op_list(c->history, c->read);
    for (uint32_t i = 0; i < list.count; i++) {
        const int64_t value = rig_read_element(&list, i);
        const struct rig_fact_write *write = rig_facts_writer(c->facts, c->read->key, value);
        if (value == c->other->value)
            return false;
        if (write != NULL && write->txn == c->line->to && write->op > c->other_at)
            return true;
    }
    return false;
}

static bool is_future(const struct claim *c)
{
    for (uint32_t i = c->read_at + 1; i < c->history->txns[c->line->from + 1].first_op; i++) {
        const struct rig_txn_op *op = &c->history->ops[i];
        if (!rig_op_reads(op->kind) && op->key == c->read->key && rig_shows(c->history, c->read, op->value))
            return true;
    }
    return false;
}

/* Goes back over the transaction's operations on the key: the list must end with its appends since an earlier read, and
 * begin with what that one showed. A register must show the last of them, a set all of its additions. */
static bool is_internal(const struct claim *c)
{
    const struct rig_read_list list =
        c->facts->shape == RIG_RESULT_VALUE ? (struct rig_read_list){0} : rig_txn_op_list(c->history, c->read);
    uint32_t left = list.count;
    for (uint32_t i = c->read_at; i-- > c->history->txns[c->line->from].first_op;) {
        const struct rig_txn_op *op = &c->history->ops[i];
        const bool reads = rig_op_reads(op->kind);
        if (op->key != c->read->key || (reads && op->read_state == RIG_READ_UNKNOWN))
            continue;
        if (c->facts->shape == RIG_RESULT_VALUE)
            return reads ? !is_same_version(op, c->read) : !rig_shows(c->history, c->read, op->value);
        if (!reads && c->facts->shape == RIG_RESULT_SET && !rig_shows(c->history, c->read, op->value))
            return true;
        if (!reads && c->facts->shape == RIG_RESULT_LIST && (left == 0 || rig_read_element(&list, --left) != op->value))
            return true;
        if (!reads)
            continue;
        const struct rig_read_list before = rig_txn_op_list(c->history, op);
        for (uint32_t e = 0; e < before.count; e++) {
            if (!rig_shows(c->history, c->read, rig_read_element(&before, e)))
                return true;
        }
        if (c->facts->shape == RIG_RESULT_SET) { /* elements that appeared in between, and are others' */
            for (uint32_t e = 0; e < list.count; e++) {
                const int64_t value = rig_read_element(&list, e);
                const struct rig_fact_write *write = rig_facts_writer(c->facts, op->key, value);
                if (!rig_shows(c->history, op, value) && (write == NULL || write->txn != c->line->from))
                    return true;
            }
            return false;
        }
        for (uint32_t e = 0; e < before.count && e < left; e++) {
            if (rig_read_element(&before, e) != rig_read_element(&list, e))
                return true;
        }
        return before.count != left;
    }
    return false;
}

static bool is_lost_update(const struct claim *c)
{
    bool same = c->facts->shape != RIG_RESULT_SET && rig_op_reads(c->other->kind) && c->facts->committed[c->line->to] &&
                c->line->from != c->line->to && c->other->read_state != RIG_READ_UNKNOWN &&
                writes_after(c->history, c->line->from, c->read_at, c->read->key) &&
                writes_after(c->history, c->line->to, c->other_at, c->read->key);
    if (!same || c->facts->shape == RIG_RESULT_VALUE) {
        const struct rig_fact_write *write = same && c->read->read_state == RIG_READ_SEEN
                                                 ? rig_facts_writer(c->facts, c->read->key, c->read->value)
                                                 : NULL;
        return same && is_same_version(c->read, c->other) &&
               (write == NULL || (write->txn != c->line->from && write->txn != c->line->to));
    }
    const struct rig_read_list a = rig_facts_external(c->facts, c->line->from, c->read_at),
                               b = rig_facts_external(c->facts, c->line->to, c->other_at);
    for (uint32_t i = 0; i < a.count && a.count == b.count; i++)
        same = same && rig_read_element(&a, i) == rig_read_element(&b, i);
    return same && a.count == b.count && !c->facts->contested[c->read->key];
}

static bool is_true(const struct claim *c)
{
    switch ((int)c->line->kind) {
    case RIG_WITNESS_G1A:
        return !rig_op_reads(c->other->kind) && c->history->txns[c->line->to].outcome == RIG_OUTCOME_FAIL &&
               rig_shows(c->history, c->read, c->other->value);
    case RIG_WITNESS_G1B:
        return is_intermediate(c);
    case RIG_WITNESS_GARBAGE:
        return is_garbage(c);
    case RIG_WITNESS_DUPLICATE:
        return is_repetition(c);
    case RIG_WITNESS_INCOMPATIBLE:
        return is_incompatible(c);
    case RIG_WITNESS_FRACTURED:
        return is_fractured(c);
    case RIG_WITNESS_FUTURE:
        return is_future(c);
    case RIG_WITNESS_INTERNAL:
        return is_internal(c);
    case RIG_WITNESS_LOST_UPDATE:
        return is_lost_update(c);
    default:
        return false;
    }
}

/* Two transactions that read one version and both write the key: in either order, a cycle of a ww and an rw edge. */
static bool forbids_lost_update(enum rig_forbids forbids)
{
    return forbids == RIG_FORBIDS_CURSOR || forbids == RIG_FORBIDS_SINGLE || forbids == RIG_FORBIDS_UPDATE_ATOMIC ||
           forbids == RIG_FORBIDS_SNAPSHOT || forbids == RIG_FORBIDS_UPDATES || forbids == RIG_FORBIDS_ITEMS ||
           forbids == RIG_FORBIDS_ANY;
}

/* Whether the transaction wrote the key before operation `op` (of the history). */
static bool wrote_before(const struct claim *c, uint32_t op)
{
    bool wrote = false;
    for (uint32_t i = c->history->txns[c->line->from].first_op; i < op; i++)
        wrote |= !rig_op_reads(c->history->ops[i].kind) && c->history->ops[i].key == c->read->key;
    return wrote;
}

/* Whether a read of a set shows all that the transaction itself added before. */
static bool shows_own(const struct claim *c)
{
    bool shows = true;
    for (uint32_t i = c->history->txns[c->line->from].first_op; i < c->read_at; i++) {
        const struct rig_txn_op *op = &c->history->ops[i];
        shows &= rig_op_reads(op->kind) || op->key != c->read->key || rig_shows(c->history, c->read, op->value);
    }
    return shows;
}

/* Whether the read disagrees only with an earlier read, and one of the two found no row of the key, which the transaction
 * had not made itself; of a set, only in elements of others. */
static bool is_phantom(const struct claim *c)
{
    const struct rig_read_list list =
        c->facts->shape == RIG_RESULT_VALUE ? (struct rig_read_list){0} : rig_txn_op_list(c->history, c->read);
    uint32_t left = list.count;
    if (c->facts->prefilled || c->facts->shape == RIG_RESULT_SET)
        return !c->facts->prefilled && shows_own(c);
    for (uint32_t i = c->read_at; i-- > c->history->txns[c->line->from].first_op;) {
        const struct rig_txn_op *op = &c->history->ops[i];
        if (op->key != c->read->key)
            continue;
        if (!rig_op_reads(op->kind)) {
            if (c->facts->shape == RIG_RESULT_VALUE || left == 0 || rig_read_element(&list, --left) != op->value)
                return false;
        } else if (op->read_state != RIG_READ_UNKNOWN) {
            const bool now = rig_facts_found_no_row(c->facts, c->read_at);
            return now != rig_facts_found_no_row(c->facts, i) && !wrote_before(c, now ? c->read_at : i);
        }
    }
    return false;
}

static uint32_t levels_against(const struct claim *c)
{
    const bool by_predicate = c->line->kind == RIG_WITNESS_INTERNAL      ? is_phantom(c)
                              : c->line->kind == RIG_WITNESS_LOST_UPDATE ? rig_facts_found_no_row(c->facts, c->read_at)
                                                                         : false;
    const bool impossible = c->line->kind == RIG_WITNESS_GARBAGE || c->line->kind == RIG_WITNESS_DUPLICATE;
    const bool settled = c->history->txns[c->line->from].outcome == RIG_OUTCOME_OK &&
                         c->history->txns[c->line->to].outcome == RIG_OUTCOME_OK;
    uint32_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const struct rig_proved_level *level = &rig_proved_levels[i];
        bool against = level->forbids != RIG_FORBIDS_WRITES || (impossible && settled);
        if (c->line->kind == RIG_WITNESS_INTERNAL)
            against = level->internal;
        else if (c->line->kind == RIG_WITNESS_LOST_UPDATE)
            against = forbids_lost_update(level->forbids);
        against = against && !(by_predicate && rig_forbids_items_alone(level->forbids));
        levels |= (uint32_t)against << i;
    }
    return levels;
}

enum rig_rc rig_impossible_read(const struct rig_facts *facts, const struct rig_witness_line *line, uint32_t *levels,
                                struct rig_err *err)
{
    const struct rig_history *history = facts->history;
    struct claim c = {.facts = facts, .history = history, .line = line};
    c.read_at = history->txns[line->from].first_op + line->from_op;
    c.other_at = history->txns[line->to].first_op + line->to_op;
    if (line->from_op < rig_txn_op_count(history, line->from) && line->to_op < rig_txn_op_count(history, line->to)) {
        c.read = &history->ops[c.read_at];
        c.other = &history->ops[c.other_at];
    }
    if (c.read == NULL || c.read->key != c.other->key || !rig_op_reads(c.read->kind) ||
        c.read->read_state == RIG_READ_UNKNOWN || !facts->committed[line->from] || !is_true(&c))
        return rig_fail(err, RIG_E_INPUT, "%s of T%u and T%u: the history does not show it",
                        rig_witness_kinds[line->kind], rig_txn_name(history, line->from),
                        rig_txn_name(history, line->to));
    *levels = levels_against(&c);
    return RIG_OK;
}
