#include "checker/prove/counter_sums.h"

#include "base/bug.h"

struct sum {
    const struct rig_facts *facts;
    const struct rig_history *history;
    uint32_t txn; /* that reads */
    const struct rig_txn_op *read;
    uint32_t read_at;  /* in history->ops */
    uint32_t other;    /* the other reader */
    uint32_t other_op; /* the operation of `other`, from 0 */
};

static bool is_known_read(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_COUNTER && op->read_state != RIG_READ_UNKNOWN;
}

static int64_t shown(const struct rig_txn_op *read)
{
    RIG_REQUIRE(is_known_read(read));
    return read->read_state == RIG_READ_SEEN ? read->value : 0;
}

static bool may_have_committed(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn].outcome != RIG_OUTCOME_FAIL;
}

bool rig_sums_reach(const struct rig_history *history, uint32_t key, int64_t value)
{
    int64_t added = 0, taken = 0, common = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            if (at->kind != RIG_OP_INCREMENT || at->key != key || !may_have_committed(history, txn))
                continue;
            const bool wraps = at->value > 0 ? __builtin_add_overflow(added, at->value, &added)
                                             : __builtin_add_overflow(taken, at->value, &taken);
            if (wraps)
                return true;
            int64_t a = at->value, b = common;
            while (b != 0) {
                const int64_t rest = b == -1 ? 0 : a % b;
                a = b;
                b = rest;
            }
            common = a;
        }
    }
    RIG_INVARIANT(taken <= 0 && added >= 0);
    return value <= added && value >= taken && (value == 0 || (common != 0 && (common == -1 || value % common == 0)));
}

/* All that the transaction adds to the key with operations before `end`. False: it is beyond 64 bits. */
static bool net_of(const struct rig_history *history, uint32_t txn, uint32_t key, uint32_t end, int64_t *net)
{
    RIG_REQUIRE(txn < history->txn_count && key < history->key_count);
    *net = 0;
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op && op < end; op++) {
        if (history->ops[op].kind == RIG_OP_INCREMENT && history->ops[op].key == key &&
            __builtin_add_overflow(*net, history->ops[op].value, net))
            return false;
    }
    return true;
}

bool rig_sums_by(const struct rig_history *history, uint32_t reader_txn, uint32_t at, int64_t *least, int64_t *most)
{
    const struct rig_txn *reader = &history->txns[reader_txn];
    const uint32_t key = history->ops[at].key;
    int64_t net;
    RIG_REQUIRE(at >= reader->first_op && at < reader[1].first_op);
    if (!history->has_invocations || reader->invoke_at == RIG_POSITION_NONE ||
        !net_of(history, reader_txn, key, at, least))
        return false;
    *most = *least;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        const bool before = t->outcome == RIG_OUTCOME_OK && t->complete_at < reader->invoke_at;
        const bool meanwhile = t->invoke_at == RIG_POSITION_NONE || t->invoke_at < reader->complete_at;
        if (!net_of(history, txn, key, UINT32_MAX, &net))
            return false;
        if (txn == reader_txn || !may_have_committed(history, txn) || (!before && !meanwhile))
            continue;
        if (__builtin_add_overflow(*least, before || net < 0 ? net : 0, least) ||
            __builtin_add_overflow(*most, before || net > 0 ? net : 0, most))
            return false;
    }
    RIG_INVARIANT(*least <= *most);
    return true;
}

static bool is_out_of_bounds(const struct sum *s)
{
    RIG_REQUIRE(s->history->workload == RIG_WORKLOAD_COUNTER);
    int64_t least, most;
    return rig_sums_by(s->history, s->txn, s->read_at, &least, &most) &&
           (shown(s->read) < least || shown(s->read) > most);
}

/* An account that both transactions read cannot have begun with a balance that explains both. */
static bool is_contradiction(const struct sum *s)
{
    RIG_REQUIRE(s->history->workload == RIG_WORKLOAD_BANK && s->other < s->history->txn_count);
    const struct rig_history *history = s->history;
    if (s->other_op >= rig_txn_op_count(history, s->other) || history->txns[s->other].outcome != RIG_OUTCOME_OK)
        return false;
    const uint32_t at = history->txns[s->other].first_op + s->other_op;
    const struct rig_txn_op *other = &history->ops[at];
    int64_t least, most, other_least, other_most, between;
    if (other->kind != RIG_OP_READ_COUNTER || other->key != s->read->key || other->read_state != RIG_READ_SEEN ||
        s->read->read_state != RIG_READ_SEEN || !rig_sums_by(history, s->txn, s->read_at, &least, &most) ||
        !rig_sums_by(history, s->other, at, &other_least, &other_most) ||
        __builtin_sub_overflow(s->read->value, other->value, &between) ||
        __builtin_sub_overflow(most, other_least, &most) || __builtin_sub_overflow(least, other_most, &least))
        return false;
    return between > most || between < least;
}

static bool reads_key(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        if (history->ops[op].key == key && is_known_read(&history->ops[op]))
            return true;
    }
    return false;
}

bool rig_sums_total(const struct rig_history *history, uint32_t txn, int64_t *total)
{
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    *total = 0;
    for (uint32_t op = first; op < end; op++) {
        if (!is_known_read(&history->ops[op]))
            return false;
        for (uint32_t other = first; other < op; other++) {
            if (history->ops[other].key == history->ops[op].key)
                return false;
        }
        if (__builtin_add_overflow(*total, shown(&history->ops[op]), total))
            return false;
    }
    return end > first;
}

/* Whether no transaction that may have committed changes the total of the accounts that `reader` reads. */
static bool keep_total(const struct rig_history *history, uint32_t reader)
{
    RIG_REQUIRE(reader < history->txn_count);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        int64_t sum = 0;
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            if (at->kind == RIG_OP_INCREMENT && reads_key(history, reader, at->key) &&
                __builtin_add_overflow(sum, at->value, &sum))
                return false;
        }
        if (sum != 0 && may_have_committed(history, txn))
            return false;
    }
    return true;
}

static bool reads_all_of(const struct rig_history *history, uint32_t txn, uint32_t other)
{
    for (uint32_t op = history->txns[other].first_op; op < history->txns[other + 1].first_op; op++) {
        if (history->ops[op].kind == RIG_OP_READ_COUNTER && !reads_key(history, txn, history->ops[op].key))
            return false;
    }
    return true;
}

/* Whether `txn` reads all accounts that the other one changes. */
static bool reads_changed(const struct rig_history *history, uint32_t txn, uint32_t other)
{
    for (uint32_t op = history->txns[other].first_op; op < history->txns[other + 1].first_op; op++) {
        if (history->ops[op].kind == RIG_OP_INCREMENT && !reads_key(history, txn, history->ops[op].key))
            return false;
    }
    return true;
}

/* Compared with another read of the same accounts; of itself, with the total that is assumed. */
static bool is_wrong_total(const struct sum *s)
{
    RIG_REQUIRE(s->txn < s->history->txn_count && s->other < s->history->txn_count);
    const struct rig_history *history = s->history;
    int64_t total, other;
    if (!rig_sums_total(history, s->txn, &total) || !keep_total(history, s->txn))
        return false;
    if (s->other != s->txn)
        return history->txns[s->other].outcome == RIG_OUTCOME_OK && rig_sums_total(history, s->other, &other) &&
               reads_all_of(history, s->txn, s->other) && reads_all_of(history, s->other, s->txn) && total != other;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if ((history->txns[txn].outcome == RIG_OUTCOME_OK && !reads_all_of(history, s->txn, txn)) ||
            !reads_changed(history, s->txn, txn))
            return false;
    }
    return s->facts->assumes_total && total != s->facts->total;
}

static bool is_true(const struct sum *s, enum rig_witness_kind kind)
{
    switch ((int)kind) {
    case RIG_WITNESS_IMPOSSIBLE_VALUE:
        return s->history->workload == RIG_WORKLOAD_COUNTER &&
               !rig_sums_reach(s->history, s->read->key, shown(s->read));
    case RIG_WITNESS_BOUNDS:
        return s->history->workload == RIG_WORKLOAD_COUNTER ? is_out_of_bounds(s) : is_contradiction(s);
    case RIG_WITNESS_TOTAL:
        return s->history->workload == RIG_WORKLOAD_BANK && is_wrong_total(s);
    case RIG_WITNESS_NEGATIVE:
        return s->history->workload == RIG_WORKLOAD_BANK && s->facts->assumes_balances && shown(s->read) < 0;
    default:
        return false;
    }
}

/*
 * A value that no increments sum up to is read from no committed state. The bounds need snapshots that keep real time.
 * A balance falls below 0 where an update is lost between a transfer's read and its write. Different totals need
 * snapshots that have one half of a transfer, a cycle with one rw edge.
 */
static bool is_against(enum rig_witness_kind kind, const struct rig_proved_level *level)
{
    switch ((int)kind) {
    case RIG_WITNESS_BOUNDS:
        return level->keeps == RIG_KEEPS_TIME &&
               (level->forbids == RIG_FORBIDS_SNAPSHOT || level->forbids == RIG_FORBIDS_ANY);
    case RIG_WITNESS_TOTAL:
        return level->forbids == RIG_FORBIDS_SINGLE || level->forbids == RIG_FORBIDS_ITEMS ||
               level->forbids == RIG_FORBIDS_ANY;
    case RIG_WITNESS_NEGATIVE:
        return level->forbids == RIG_FORBIDS_CURSOR;
    default:
        return level->forbids != RIG_FORBIDS_WRITES;
    }
}

enum rig_rc rig_impossible_sum(const struct rig_facts *facts, const struct rig_witness_line *line, uint64_t *levels,
                               struct rig_err *err)
{
    RIG_REQUIRE(facts->form == RIG_FACTS_SUMS && line->from < facts->history->txn_count &&
                line->to < facts->history->txn_count);
    const struct rig_history *history = facts->history;
    struct sum s = {.facts = facts, .history = history, .txn = line->from, .other = line->to, .other_op = line->to_op};
    s.read_at = history->txns[line->from].first_op + line->from_op;
    if (line->from_op < rig_txn_op_count(history, line->from))
        s.read = &history->ops[s.read_at];
    if (s.read == NULL || !is_known_read(s.read) || history->txns[s.txn].outcome != RIG_OUTCOME_OK ||
        !is_true(&s, line->kind))
        return rig_fail(err, RIG_E_INPUT, "%s of T%u: the history does not show it", rig_witness_kinds[line->kind],
                        rig_txn_name(history, line->from));
    *levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        *levels |= (uint64_t)is_against(line->kind, &rig_proved_levels[i]) << i;
    RIG_INVARIANT(*levels >> RIG_PROVED_LEVELS == 0);
    return RIG_OK;
}
