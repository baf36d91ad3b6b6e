#include "checker/prove/impossible.h"

#include "base/bug.h"
#include "base/table.h"

struct claim {
    const struct rig_facts *facts;
    const struct rig_history *history;
    const struct rig_witness_line *line;
    const int64_t *value;                  /* the one that is in question; NULL: any */
    const struct rig_txn_op *read, *other; /* their operations */
    uint32_t read_at, other_at;            /* in history->ops */
};

bool rig_shows(const struct rig_history *history, const struct rig_txn_op *read, int64_t value)
{
    RIG_REQUIRE(rig_op_reads(read->kind));
    if (read->read_state != RIG_READ_SEEN || !rig_op_reads_sequence(read->kind))
        return read->read_state == RIG_READ_SEEN && read->value == value;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return true;
    }
    return false;
}

/* The elements of a read; none of a register. */
static struct rig_read_list list_of(const struct claim *c, const struct rig_txn_op *read)
{
    RIG_REQUIRE(rig_op_reads(read->kind));
    return c->facts->shape == RIG_RESULT_VALUE ? (struct rig_read_list){0} : rig_txn_op_list(c->history, read);
}

static bool is_in_question(const struct claim *c, int64_t value)
{
    return c->value == NULL || *c->value == value;
}

/* The place in the history of the transaction's write of the value to the key of the claim, or RIG_FACT_NONE. */
static uint32_t write_in(const struct claim *c, uint32_t txn, int64_t value)
{
    return rig_facts_write_in(c->history, txn, c->read->key, value);
}

static bool is_initial(const struct claim *c, const struct rig_txn_op *read)
{
    RIG_REQUIRE(c->facts->shape == RIG_RESULT_VALUE);
    return read->read_state == RIG_READ_NIL ||
           (read->read_state == RIG_READ_SEEN && !rig_facts_is_written(c->facts, read->key, read->value));
}

static bool is_same_version(const struct rig_txn_op *a, const struct rig_txn_op *b)
{
    RIG_REQUIRE(a->key == b->key);
    return a->read_state == b->read_state && (a->read_state != RIG_READ_SEEN || a->value == b->value);
}

/* Whether the transaction writes the key with an operation after this one. */
static bool writes_after(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key)
{
    RIG_REQUIRE(op >= history->txns[txn].first_op && op < history->txns[txn + 1].first_op);
    for (uint32_t i = op + 1; i < history->txns[txn + 1].first_op; i++) {
        if (!rig_op_reads(history->ops[i].kind) && history->ops[i].key == key)
            return true;
    }
    return false;
}

static bool is_intermediate(const struct claim *c)
{
    if (rig_op_reads(c->other->kind) || c->line->from == c->line->to || !is_in_question(c, c->other->value) ||
        !writes_after(c->history, c->line->to, c->other_at, c->other->key))
        return false;
    if (c->facts->shape != RIG_RESULT_LIST)
        return c->facts->shape == RIG_RESULT_VALUE && rig_shows(c->history, c->read, c->other->value);
    const struct rig_read_list list = rig_facts_external(c->facts, c->line->from, c->read_at);
    return list.count > 0 && rig_read_element(&list, list.count - 1) == c->other->value;
}

/* Whether the read shows another initial value than the one that the proof assumes. */
static bool is_other_than_assumed(const struct claim *c)
{
    const int64_t *initial = rig_facts_initial(c->facts);
    const bool nil = c->read->read_state == RIG_READ_NIL;
    return initial != NULL && is_initial(c, c->read) && !rig_facts_begins(c->facts, c->read) &&
           (nil || c->value == NULL || rig_shows(c->history, c->read, *c->value));
}

static bool is_garbage(const struct claim *c)
{
    if (c->facts->shape == RIG_RESULT_VALUE && c->read_at == c->other_at)
        return is_other_than_assumed(c);
    if (c->facts->shape == RIG_RESULT_VALUE)
        return is_initial(c, c->read) && is_initial(c, c->other) && c->facts->committed[c->line->to] &&
               !is_same_version(c->read, c->other) && (c->value == NULL || rig_shows(c->history, c->read, *c->value));
    const struct rig_read_list list = list_of(c, c->read);
    for (uint32_t i = 0; i < list.count; i++) {
        const int64_t value = rig_read_element(&list, i);
        if (is_in_question(c, value) && !rig_facts_is_written(c->facts, c->read->key, value))
            return true;
    }
    return false;
}

static bool is_repetition(const struct claim *c)
{
    const struct rig_read_list list = list_of(c, c->read);
    struct rig_table met;
    bool repeated = false;
    rig_table_init(&met);
    for (uint32_t i = 0; i < list.count && !repeated; i++) {
        uint32_t *slot = rig_table_put(&met, (uint64_t)rig_read_element(&list, i));
        if (slot == NULL)
            break;
        repeated = *slot != RIG_TABLE_NONE && is_in_question(c, rig_read_element(&list, i));
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
    const struct rig_read_list list = list_of(c, c->read);
    for (uint32_t i = 0; i < list.count; i++) {
        const int64_t value = rig_read_element(&list, i);
        const uint32_t write = is_in_question(c, value) ? write_in(c, c->line->to, value) : RIG_FACT_NONE;
        if (value == c->other->value)
            return false;
        if (write != RIG_FACT_NONE && write > c->other_at)
            return true;
    }
    return false;
}

static bool is_future(const struct claim *c)
{
    for (uint32_t i = c->read_at + 1; i < c->history->txns[c->line->from + 1].first_op; i++) {
        const struct rig_txn_op *op = &c->history->ops[i];
        if (!rig_op_reads(op->kind) && op->key == c->read->key && is_in_question(c, op->value) &&
            rig_shows(c->history, c->read, op->value))
            return true;
    }
    return false;
}

/* A set: whether one of two reads shows an element that the other one does not; of others, unless own ones count,
 * too. */
static bool is_changed(const struct claim *c, const struct rig_txn_op *in, const struct rig_txn_op *missing_in,
                       bool own)
{
    RIG_REQUIRE(c->facts->shape == RIG_RESULT_SET && in->key == missing_in->key);
    const struct rig_read_list list = list_of(c, in);
    for (uint32_t i = 0; i < list.count; i++) {
        const int64_t value = rig_read_element(&list, i);
        if (is_in_question(c, value) && !rig_shows(c->history, missing_in, value) &&
            (own || write_in(c, c->line->from, value) == RIG_FACT_NONE))
            return true;
    }
    return false;
}

/* A set must show all that the transaction added before, and of others what it showed when it was read last. */
static bool is_internal_set(const struct claim *c, uint32_t *against)
{
    const uint32_t own = c->value == NULL ? RIG_FACT_NONE : write_in(c, c->line->from, *c->value);
    if (own < c->read_at) { /* also where an earlier read misses it, too */
        *against = own;
        return !rig_shows(c->history, c->read, *c->value);
    }
    for (uint32_t i = c->read_at; i-- > c->history->txns[c->line->from].first_op;) {
        const struct rig_txn_op *op = &c->history->ops[i];
        const bool reads = rig_op_reads(op->kind);
        if (op->key != c->read->key || (reads && op->read_state == RIG_READ_UNKNOWN))
            continue;
        *against = i;
        if (reads)
            return is_changed(c, op, c->read, true) || is_changed(c, c->read, op, false);
        if (is_in_question(c, op->value) && !rig_shows(c->history, c->read, op->value))
            return true;
    }
    return false;
}

/* Goes back over the transaction's operations on the key: the list must end with its appends since an earlier read, and
 * begin with what that one showed. A register must show the last of them. Gives the operation that the read
 * contradicts, in history->ops. */
static bool is_internal(const struct claim *c, uint32_t *against)
{
    const struct rig_read_list list = list_of(c, c->read);
    uint32_t left = list.count;
    if (c->facts->shape == RIG_RESULT_SET)
        return is_internal_set(c, against);
    for (uint32_t i = c->read_at; i-- > c->history->txns[c->line->from].first_op;) {
        const struct rig_txn_op *op = &c->history->ops[i];
        const bool reads = rig_op_reads(op->kind);
        if (op->key != c->read->key || (reads && op->read_state == RIG_READ_UNKNOWN))
            continue;
        *against = i;
        if (c->facts->shape == RIG_RESULT_VALUE)
            return reads ? !is_same_version(op, c->read) : !rig_shows(c->history, c->read, op->value);
        if (!reads && (left == 0 || rig_read_element(&list, --left) != op->value))
            return true;
        if (!reads)
            continue;
        const struct rig_read_list before = list_of(c, op);
        bool same = before.count == left;
        for (uint32_t e = 0; same && e < left; e++)
            same = rig_read_element(&before, e) == rig_read_element(&list, e);
        return !same;
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
        const bool seen = same && c->read->read_state == RIG_READ_SEEN;
        return same && is_same_version(c->read, c->other) &&
               (!seen || (write_in(c, c->line->from, c->read->value) == RIG_FACT_NONE &&
                          write_in(c, c->line->to, c->read->value) == RIG_FACT_NONE));
    }
    const struct rig_read_list a = rig_facts_external(c->facts, c->line->from, c->read_at),
                               b = rig_facts_external(c->facts, c->line->to, c->other_at);
    for (uint32_t i = 0; i < a.count && a.count == b.count; i++)
        same = same && rig_read_element(&a, i) == rig_read_element(&b, i);
    return same && a.count == b.count && !rig_facts_contested(c->facts, c->read->key);
}

static bool is_true(const struct claim *c, uint32_t *against)
{
    RIG_REQUIRE(c->read->key == c->other->key && c->facts->committed[c->line->from]);
    switch ((int)c->line->kind) {
    case RIG_WITNESS_G1A:
        return !rig_op_reads(c->other->kind) && c->history->txns[c->line->to].outcome == RIG_OUTCOME_FAIL &&
               is_in_question(c, c->other->value) && rig_shows(c->history, c->read, c->other->value);
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
        return is_internal(c, against);
    case RIG_WITNESS_LOST_UPDATE:
        return is_lost_update(c);
    default:
        return false;
    }
}

/* Two transactions that read one version and both write the key: in either order, a cycle of a ww and an rw edge. */
bool rig_forbids_lost_update(enum rig_forbids forbids)
{
    return forbids == RIG_FORBIDS_CURSOR || forbids == RIG_FORBIDS_SINGLE || forbids == RIG_FORBIDS_UPDATE_ATOMIC ||
           forbids == RIG_FORBIDS_SNAPSHOT || forbids == RIG_FORBIDS_UPDATES || forbids == RIG_FORBIDS_ITEMS ||
           forbids == RIG_FORBIDS_ANY;
}

/* Whether the transaction wrote the key before operation `op` (of the history). */
static bool wrote_before(const struct claim *c, uint32_t op)
{
    RIG_REQUIRE(op >= c->history->txns[c->line->from].first_op && op < c->history->txns[c->line->from + 1].first_op);
    bool wrote = false;
    for (uint32_t i = c->history->txns[c->line->from].first_op; i < op; i++)
        wrote |= !rig_op_reads(c->history->ops[i].kind) && c->history->ops[i].key == c->read->key;
    return wrote;
}

/* Whether the disagreement of reads of a set is about elements of others. */
static bool is_about_others(const struct claim *c)
{
    RIG_REQUIRE(c->facts->shape == RIG_RESULT_SET);
    bool others = c->value == NULL || write_in(c, c->line->from, *c->value) == RIG_FACT_NONE;
    for (uint32_t i = c->history->txns[c->line->from].first_op; i < c->read_at && c->value == NULL; i++) {
        const struct rig_txn_op *op = &c->history->ops[i];
        others &= rig_op_reads(op->kind) || op->key != c->read->key || rig_shows(c->history, c->read, op->value);
    }
    return others;
}

/* Whether the read disagrees only with an earlier read, and one of the two found no row of the key, which the
 * transaction had not made itself; of a set, only in elements of others. */
static bool is_phantom(const struct claim *c)
{
    RIG_REQUIRE(c->line->kind == RIG_WITNESS_INTERNAL);
    const struct rig_read_list list = list_of(c, c->read);
    uint32_t left = list.count;
    if (c->facts->prefilled || c->facts->shape == RIG_RESULT_SET)
        return !c->facts->prefilled && is_about_others(c);
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

static bool is_by_predicate(const struct claim *c)
{
    return c->line->kind == RIG_WITNESS_INTERNAL      ? is_phantom(c)
           : c->line->kind == RIG_WITNESS_LOST_UPDATE ? rig_facts_found_no_row(c->facts, c->read_at)
                                                      : false;
}

static uint64_t levels_against(const struct claim *c, bool by_predicate)
{
    const bool impossible = c->line->kind == RIG_WITNESS_GARBAGE || c->line->kind == RIG_WITNESS_DUPLICATE;
    const bool settled = c->history->txns[c->line->from].outcome == RIG_OUTCOME_OK &&
                         c->history->txns[c->line->to].outcome == RIG_OUTCOME_OK;
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const struct rig_proved_level *level = &rig_proved_levels[i];
        bool against = level->forbids != RIG_FORBIDS_WRITES || (impossible && settled);
        if (c->line->kind == RIG_WITNESS_INTERNAL)
            against = level->internal;
        else if (c->line->kind == RIG_WITNESS_LOST_UPDATE)
            against = rig_forbids_lost_update(level->forbids);
        against = against && !(by_predicate && rig_forbids_items_alone(level->forbids));
        levels |= (uint64_t)against << i;
    }
    RIG_INVARIANT(levels >> RIG_PROVED_LEVELS == 0);
    RIG_INVARIANT(!by_predicate || c->line->kind == RIG_WITNESS_INTERNAL || c->line->kind == RIG_WITNESS_LOST_UPDATE);
    return levels;
}

enum rig_rc rig_impossible_read(const struct rig_facts *facts, const struct rig_witness_line *line,
                                const int64_t *value, struct rig_impossible *found, struct rig_err *err)
{
    const struct rig_history *history = facts->history;
    struct claim c = {.facts = facts, .history = history, .line = line, .value = value};
    uint32_t against = RIG_FACT_NONE;
    RIG_REQUIRE(facts->form == RIG_FACTS_VERSIONS && facts->committed != NULL);
    RIG_REQUIRE(line->from < history->txn_count && line->to < history->txn_count);
    c.read_at = history->txns[line->from].first_op + line->from_op;
    c.other_at = history->txns[line->to].first_op + line->to_op;
    if (line->from_op < rig_txn_op_count(history, line->from) && line->to_op < rig_txn_op_count(history, line->to)) {
        c.read = &history->ops[c.read_at];
        c.other = &history->ops[c.other_at];
    }
    if (c.read == NULL || c.read->key != c.other->key || !rig_op_reads(c.read->kind) ||
        c.read->read_state == RIG_READ_UNKNOWN || !facts->committed[line->from] || !is_true(&c, &against))
        return rig_fail(err, RIG_E_INPUT, "%s of T%u and T%u: the history does not show it",
                        rig_witness_kinds[line->kind], rig_txn_name(history, line->from),
                        rig_txn_name(history, line->to));
    RIG_INVARIANT(line->kind != RIG_WITNESS_INTERNAL ||
                  (against < c.read_at && history->ops[against].key == c.read->key));
    found->against = against == RIG_FACT_NONE ? against : against - history->txns[line->from].first_op;
    found->by_predicate = is_by_predicate(&c);
    found->levels = levels_against(&c, found->by_predicate);
    return RIG_OK;
}
