#include "checker/prove/object_orders.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "checker/prove/replay_object.h"

enum { MOST_STEPS = 1 << 28, MOST_WORDS = 1 << 24 };

/* An operation that takes effect at once: a transaction, or one take of a drain. */
struct unit {
    uint32_t first_op, end_op; /* in history->ops */
    uint32_t key;              /* number of its object among those of the units */
    uint32_t begin, end;       /* positions; the end of one of unknown outcome is RIG_POSITION_NONE */
    uint32_t group;            /* operations of one group keep their order in time */
    uint32_t needs,
        gives; /* of registers and locks: numbers of the value that it observes first, and of the one that it
                                * leaves; RIG_FACT_NONE */
    bool observes;
};

RIG_VEC(struct unit, units)
RIG_VEC(uint64_t, words)
RIG_VEC(uint32_t, links)

/* Distinct records of 64-bit words. */
struct records {
    struct words words;
    struct links first; /* per record: where it begins in words */
    struct links chain; /* per record: one more than another one of the same hash, or 0 */
    struct rig_table table;
};

struct search {
    const struct rig_facts *facts;
    const struct rig_history *history;
    enum rig_keeps keeps;
    uint8_t *named; /* per transaction */
    uint32_t *key;  /* per key of the history: one more than its number, or 0 */
    uint32_t keys;
    struct units units;
    uint32_t bits; /* words for which units took effect; the states of the objects follow, a word each */
    struct records states, now, next;
    struct rig_replay_object object;
    struct words scratch;
    uint64_t *earliest; /* per group: the configuration for which this is known, and the earliest end of what is left */
    uint32_t groups;
    uint64_t
        *given; /* per value: the last configuration in which an operation that is left leaves it; NULL: no values */
    uint64_t configurations, steps;
    int64_t nil;
    bool explained, no_memory;
    struct rig_err *err;
};

/* ---- records ---- */

static uint64_t hash_of(const uint64_t *at, size_t count)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static size_t record_end(const struct records *r, uint32_t record)
{
    return record + 1 < r->first.count ? r->first.at[record + 1] : r->words.count;
}

/* The number of the record, new or known; UINT32_MAX when memory runs out. */
static uint32_t put_record(struct records *r, const uint64_t *at, size_t count)
{
    uint32_t *slot = rig_table_put(&r->table, hash_of(at, count));
    if (slot == NULL)
        return UINT32_MAX;
    for (uint32_t i = *slot == RIG_TABLE_NONE ? 0 : *slot + 1; i > 0; i = r->chain.at[i - 1]) {
        if (record_end(r, i - 1) - r->first.at[i - 1] == count &&
            (count == 0 || memcmp(r->words.at + r->first.at[i - 1], at, count * sizeof *at) == 0))
            return i - 1;
    }
    const uint32_t chain = *slot == RIG_TABLE_NONE ? 0 : *slot + 1, number = (uint32_t)r->first.count;
    bool ok = r->words.count + count < MOST_WORDS && links_add(&r->first, (uint32_t)r->words.count) &&
              links_add(&r->chain, chain);
    for (size_t i = 0; ok && i < count; i++)
        ok = words_add(&r->words, at[i]);
    *slot = number;
    return ok ? number : UINT32_MAX;
}

static void clear_records(struct records *r)
{
    r->words.count = r->first.count = r->chain.count = 0;
    rig_table_clear(&r->table);
}

static void records_done(struct records *r)
{
    words_done(&r->words);
    links_done(&r->first);
    links_done(&r->chain);
    rig_table_done(&r->table);
}

/* ---- states of an object as records: the value, the length of the text, the text, the row ---- */

static void load_state(struct search *s, uint32_t state)
{
    const uint64_t *at = s->states.words.at + s->states.first.at[state];
    const size_t size = (size_t)at[1], text = (size + 7) / 8,
                 row = record_end(&s->states, state) - s->states.first.at[state] - 2 - text;
    struct rig_replay_object *object = &s->object;
    object->value = (int64_t)at[0];
    rig_buf_clear(&object->text);
    rig_buf_add(&object->text, (const char *)(at + 2), size);
    object->row.count = object->from = 0;
    for (size_t i = 0; i < row; i++)
        object->no_memory |= !rig_replay_row_add(&object->row, (int64_t)at[2 + text + i]);
    object->no_memory |= object->text.failed;
}

static uint32_t save_state(struct search *s)
{
    const struct rig_replay_object *object = &s->object;
    const size_t text = (object->text.size + 7) / 8;
    bool ok = !object->no_memory && words_reserve(&s->scratch, 2 + text + object->row.count);
    s->scratch.count = 0;
    if (!ok)
        return UINT32_MAX;
    s->scratch.at[s->scratch.count++] = (uint64_t)object->value;
    s->scratch.at[s->scratch.count++] = object->text.size;
    memset(s->scratch.at + 2, 0, text * sizeof s->scratch.at[0]);
    if (object->text.size > 0)
        memcpy(s->scratch.at + 2, rig_buf_text(&object->text), object->text.size);
    s->scratch.count += text;
    for (size_t i = object->from; i < object->row.count; i++)
        s->scratch.at[s->scratch.count++] = (uint64_t)object->row.at[i];
    s->steps += s->scratch.count;
    return put_record(&s->states, s->scratch.at, s->scratch.count);
}

/* The state after the unit; false: it is impossible. */
static bool apply(struct search *s, const struct unit *unit, uint32_t state, uint32_t *after)
{
    load_state(s, state);
    for (uint32_t op = unit->first_op; op < unit->end_op; op++) {
        if (!rig_replay_object_apply(&s->object, s->history->workload, s->nil, &s->history->ops[op]))
            return false;
    }
    *after = unit->observes ? state : save_state(s);
    s->no_memory |= *after == UINT32_MAX;
    return true;
}

/* ---- what may be left out ---- */

static bool observes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_REGISTER || op->kind == RIG_OP_EXPECT ||
           (rig_replay_object_takes(op) && op->read_state == RIG_READ_NIL);
}

/* Operations [first, end) of one transaction: they change nothing. So does a write of the value that it expects. */
static bool only_observe(const struct rig_history *history, uint32_t first, uint32_t end)
{
    const struct rig_txn_op *ops = history->ops + first;
    bool all = true;
    for (uint32_t i = 0; i < end - first; i++)
        all = all && observes(&ops[i]);
    return all || (end - first == 2 && ops[0].kind == RIG_OP_EXPECT && ops[1].kind == RIG_OP_WRITE &&
                   ops[0].value == ops[1].value);
}

static bool is_of_row(const struct rig_txn_op *op)
{
    return rig_replay_object_takes(op) || op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

static int64_t value_of(const struct search *s, const struct rig_txn_op *op)
{
    return op->read_state == RIG_READ_NIL ? s->nil : op->value;
}

/* Whether a named operation adds or takes the same value; of a register, observes it. */
static bool is_named_value(const struct search *s, const struct rig_txn_op *left_out)
{
    for (size_t u = 0; u < s->units.count; u++) {
        for (uint32_t i = s->units.at[u].first_op; i < s->units.at[u].end_op; i++) {
            const struct rig_txn_op *op = &s->history->ops[i];
            const bool has_value =
                rig_replay_object_takes(op) ? op->read_state == RIG_READ_SEEN : is_of_row(op) || observes(op);
            if (has_value && op->key == left_out->key && value_of(s, op) == value_of(s, left_out))
                return true;
        }
    }
    return false;
}

/* One operation of a transaction that is not named: without what began after the end. */
static bool may_leave_out(const struct search *s, const struct rig_txn_op *op)
{
    if (observes(op) || s->key[op->key] == 0)
        return true;
    if (rig_replay_object_takes(op) && op->read_state == RIG_READ_UNKNOWN)
        return false; /* it may have taken any value */
    return s->history->workload != RIG_WORKLOAD_APPEND_REGISTER && !is_named_value(s, op);
}

/* Whether the transaction may be left out whenever it began. */
static bool is_left_out(struct search *s, uint32_t txn)
{
    const struct rig_history *history = s->history;
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    bool may = true;
    if (s->named[txn] || history->txns[txn].outcome == RIG_OUTCOME_FAIL || only_observe(history, first, end))
        return true;
    for (uint32_t op = first; may && op < end; op++) {
        may = may_leave_out(s, &history->ops[op]);
        s->steps += s->units.count;
    }
    return may;
}

/* In real time, those that may not be left out otherwise come after every named operation that ended before the first of them
 * began. So an order can be cut behind these: what ended later may be in it, and need not be. */
static enum rig_rc check_left_out(struct search *s)
{
    uint32_t cut = RIG_POSITION_NONE;
    for (uint32_t txn = 0; txn < s->history->txn_count; txn++) {
        const uint32_t begin = s->history->txns[txn].invoke_at;
        if (s->steps > MOST_STEPS)
            return rig_fail(s->err, RIG_E_LIMIT, "no-order: the witness leaves out too many operations");
        if (is_left_out(s, txn))
            continue;
        if (s->keeps != RIG_KEEPS_TIME || begin == RIG_POSITION_NONE)
            return rig_fail(s->err, RIG_E_INPUT, "no-order: T%u is left out, and the others may depend on it",
                            rig_txn_name(s->history, txn));
        cut = begin < cut ? begin : cut;
    }
    for (size_t u = 0; u < s->units.count; u++) {
        if (s->units.at[u].end >= cut)
            s->units.at[u].end = RIG_POSITION_NONE;
    }
    return RIG_OK;
}

/* ---- the units ---- */

static uint32_t begin_of(const struct search *s, const struct rig_txn *txn)
{
    const bool in_turn = s->keeps == RIG_KEEPS_PROCESSES && s->history->in_turn;
    if (txn->invoke_at != RIG_POSITION_NONE && !(in_turn && txn->complete_at != RIG_POSITION_NONE))
        return txn->invoke_at;
    return s->keeps == RIG_KEEPS_PROCESSES && txn->complete_at != RIG_POSITION_NONE ? txn->complete_at : 0;
}

/* Values that may have been added to the object: a drain of unknown outcome may have taken each of them. */
static uint32_t count_additions(const struct rig_history *history, uint32_t key)
{
    uint32_t additions = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++)
            additions += history->txns[txn].outcome != RIG_OUTCOME_FAIL && history->ops[op].key == key &&
                         !rig_replay_object_takes(&history->ops[op]);
    }
    return additions;
}

/* Whether a drain took a value that a transaction added which is not named. Then no named operation adds it, so it is one of the
 * values that are left out with all of their operations. */
static bool is_of_left_out_value(const struct search *s, const struct rig_txn_op *take)
{
    const struct rig_history *history = s->history;
    bool left_out = false;
    if (take->read_state != RIG_READ_SEEN)
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t i = history->txns[txn].first_op; i < history->txns[txn + 1].first_op; i++) {
            const struct rig_txn_op *op = &history->ops[i];
            if (history->txns[txn].outcome == RIG_OUTCOME_FAIL || rig_replay_object_takes(op) || op->key != take->key ||
                op->value != take->value)
                continue;
            if (s->named[txn])
                return false;
            left_out = true;
        }
    }
    return left_out;
}

static bool add_units(struct search *s, uint32_t txn, uint32_t group)
{
    const struct rig_history *history = s->history;
    const uint32_t first = history->txns[txn].first_op, end = history->txns[txn + 1].first_op;
    const bool open_drain = rig_replay_object_is_open_drain(history, txn);
    const uint32_t step = rig_replay_object_is_drain(history, txn) ? 1 : end - first;
    const uint32_t units = open_drain ? count_additions(history, history->ops[first].key) : (end - first) / step;
    for (uint32_t unit = 0; unit < units; unit++) {
        const uint32_t op = open_drain ? first : first + unit * step;
        if (units > 1 && !open_drain && is_of_left_out_value(s, &history->ops[op]))
            continue;
        uint32_t *key = &s->key[history->ops[op].key];
        const bool all_observe = only_observe(history, op, op + step);
        *key = *key == 0 ? ++s->keys : *key;
        /* An operation that only observes, and perhaps did not happen, need not happen. */
        if (!(all_observe && history->txns[txn].outcome != RIG_OUTCOME_OK) &&
            !units_add(&s->units, (struct unit){.first_op = op,
                                                .end_op = op + step,
                                                .key = *key - 1,
                                                .begin = begin_of(s, &history->txns[txn]),
                                                .end = rig_txn_end(history, txn),
                                                .group = group,
                                                .needs = RIG_FACT_NONE,
                                                .gives = RIG_FACT_NONE,
                                                .observes = all_observe}))
            return false;
    }
    return true;
}

static int compare_units(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->first_op > b->first_op) - (a->first_op < b->first_op);
}

static enum rig_rc make_units(struct search *s, const uint32_t *txns, size_t count)
{
    const struct rig_history *history = s->history;
    struct rig_table groups;
    enum rig_rc rc = RIG_OK;
    rig_table_init(&groups);
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        const uint32_t ops = rig_txn_op_count(history, txns[i]), name = rig_txn_name(history, txns[i]);
        uint32_t *group =
            rig_table_put(&groups, s->keeps == RIG_KEEPS_PROCESSES ? (uint32_t)history->txns[txns[i]].process : 0);
        for (uint32_t op = 1; op < ops; op++) {
            if (rig_txn_ops(history, txns[i])[op].key != rig_txn_ops(history, txns[i])[0].key)
                rc = rig_fail(s->err, RIG_E_INPUT, "no-order: T%u is about several objects", name);
        }
        if (rc == RIG_OK && (s->named[txns[i]] || ops == 0 || history->txns[txns[i]].outcome == RIG_OUTCOME_FAIL))
            rc = rig_fail(s->err, RIG_E_INPUT, "no-order: T%u is named twice, or did nothing", name);
        s->named[txns[i]] = 1;
        if (group != NULL && *group == RIG_TABLE_NONE)
            *group = s->groups++;
        if (rc == RIG_OK && group == NULL)
            rc = rig_no_memory(s->err, "the search for an order");
    }
    for (size_t i = 0; rc == RIG_OK && i < count; i++) {
        const uint64_t process = s->keeps == RIG_KEEPS_PROCESSES ? (uint32_t)history->txns[txns[i]].process : 0;
        if (!add_units(s, txns[i], rig_table_get(&groups, process)))
            rc = rig_no_memory(s->err, "the search for an order");
    }
    rig_table_done(&groups);
    if (s->units.count > 1)
        qsort(s->units.at, s->units.count, sizeof s->units.at[0], compare_units);
    return rc;
}

/* ---- values of registers and locks ---- */

/* The number of a value that the operation has on its key: that of the first operation of the units that has it. */
static uint32_t number_of(const struct search *s, const struct rig_txn_op *op)
{
    for (uint32_t u = 0; u < s->units.count; u++) {
        const uint32_t first = s->units.at[u].first_op;
        for (uint32_t i = first; i < s->units.at[u].end_op; i++) {
            const struct rig_txn_op *other = &s->history->ops[i];
            if (other->key == op->key && value_of(s, other) == value_of(s, op))
                return 2 * u + (i > first);
        }
    }
    return RIG_FACT_NONE;
}

/* Makes the numbers, for few operations: else the look at all of them would take longer than it saves. */
static bool number_values(struct search *s)
{
    enum { MOST_UNITS = 512 };
    if (s->units.count > MOST_UNITS || rig_replay_object_has_row(s->history->workload) ||
        s->history->workload == RIG_WORKLOAD_APPEND_REGISTER)
        return true;
    for (size_t u = 0; u < s->units.count; u++) {
        const struct unit *unit = &s->units.at[u];
        const uint32_t count = unit->end_op - unit->first_op;
        if (count > 2 || (count == 2 && observes(&s->history->ops[unit->end_op - 1])))
            return true; /* neither a single operation nor a compare-and-set */
    }
    s->given = calloc(2 * s->units.count + 1, sizeof s->given[0]);
    for (size_t u = 0; s->given != NULL && u < s->units.count; u++) {
        struct unit *unit = &s->units.at[u];
        const struct rig_txn_op *first = &s->history->ops[unit->first_op], *last = &s->history->ops[unit->end_op - 1];
        if (observes(first) && (!rig_op_reads(first->kind) || first->read_state != RIG_READ_UNKNOWN))
            unit->needs = number_of(s, first);
        if (!observes(last))
            unit->gives = number_of(s, last);
    }
    return s->given != NULL;
}

static bool took_effect(const uint64_t *configuration, uint32_t unit)
{
    return (configuration[unit / 64] >> unit % 64 & 1) != 0;
}

/* ---- the search ---- */

/* Whether an acknowledged operation that is left needs a value that is not there, and that no other one leaves. */
static bool lacks_value(struct search *s, const uint64_t *configuration)
{
    bool lacks = false;
    for (uint32_t u = 0; s->given != NULL && u < s->units.count; u++) {
        const uint32_t gives = s->units.at[u].gives;
        if (gives != RIG_FACT_NONE && !took_effect(configuration, u))
            s->given[gives] = s->configurations;
    }
    for (uint32_t u = 0; s->given != NULL && !lacks && u < s->units.count; u++) {
        const struct unit *unit = &s->units.at[u];
        if (unit->needs == RIG_FACT_NONE || unit->end == RIG_POSITION_NONE || took_effect(configuration, u) ||
            s->given[unit->needs] == s->configurations)
            continue;
        const uint64_t state = configuration[s->bits + unit->key];
        lacks = (int64_t)s->states.words.at[s->states.first.at[state]] != value_of(s, &s->history->ops[unit->first_op]);
    }
    s->steps += s->given != NULL ? s->units.count : 0;
    return lacks;
}

/* Adds the configuration in which the unit took effect, too. */
static void go_on(struct search *s, uint32_t from, uint32_t unit, uint32_t state)
{
    const size_t size = s->bits + (size_t)s->keys;
    if (!words_reserve(&s->scratch, size)) {
        s->no_memory = true;
        return;
    }
    memcpy(s->scratch.at, s->now.words.at + s->now.first.at[from], size * sizeof s->scratch.at[0]);
    s->scratch.at[unit / 64] |= UINT64_C(1) << unit % 64;
    s->scratch.at[s->bits + s->units.at[unit].key] = state;
    s->no_memory |= put_record(&s->next, s->scratch.at, size) == UINT32_MAX;
    s->steps += size;
}

/* Finds the units that may be next, up to `most` of them; fewer than `*count` were not acknowledged. */
static uint32_t find_next(struct search *s, const uint64_t *configuration, uint32_t *candidates, bool *left)
{
    uint32_t count = 0;
    s->configurations++;
    *left = false;
    for (uint32_t u = 0; u < s->units.count; u++) {
        const struct unit *unit = &s->units.at[u];
        uint64_t *earliest = &s->earliest[2 * (size_t)unit->group];
        s->steps++;
        if (took_effect(configuration, u))
            continue;
        if (earliest[0] != s->configurations) {
            earliest[0] = s->configurations;
            earliest[1] = RIG_POSITION_NONE;
        }
        if (s->keeps == RIG_KEEPS_NOTHING || unit->begin <= earliest[1])
            candidates[count++] = u;
        else if (s->keeps == RIG_KEEPS_TIME)
            break; /* all others begin later */
        earliest[1] = unit->end < earliest[1] ? unit->end : earliest[1];
        *left = *left || unit->end != RIG_POSITION_NONE;
    }
    return count;
}

static void expand(struct search *s, uint32_t number, uint32_t *candidates)
{
    uint32_t after;
    bool left;
    const uint32_t count = find_next(s, s->now.words.at + s->now.first.at[number], candidates, &left);
    const uint64_t *states = s->now.words.at + s->now.first.at[number] + s->bits;
    s->explained = s->explained || !left;
    if (left && lacks_value(s, s->now.words.at + s->now.first.at[number]))
        return;
    for (uint32_t i = 0; i < count && left; i++) {
        const struct unit *unit = &s->units.at[candidates[i]];
        if (unit->observes && apply(s, unit, (uint32_t)states[unit->key], &after)) {
            go_on(s, number, candidates[i], after);
            return;
        }
    }
    for (uint32_t i = 0; i < count && left && !s->no_memory; i++) {
        const struct unit *unit = &s->units.at[candidates[i]];
        if (!unit->observes && apply(s, unit, (uint32_t)states[unit->key], &after) && !s->no_memory)
            go_on(s, number, candidates[i], after);
    }
}

static enum rig_rc begin_search(struct search *s)
{
    s->bits = (uint32_t)(s->units.count / 64 + 1);
    rig_replay_object_init(&s->object, s->nil);
    const uint32_t initial = save_state(s);
    const size_t size = s->bits + (size_t)s->keys;
    struct words start = {0};
    bool ok = initial != UINT32_MAX && words_reserve(&start, size);
    for (size_t i = 0; ok && i < size; i++)
        start.at[start.count++] = i < s->bits ? 0 : initial;
    ok = ok && put_record(&s->now, start.at, size) != UINT32_MAX;
    words_done(&start);
    s->earliest = calloc((size_t)s->groups + 1, 2 * sizeof s->earliest[0]);
    return ok && s->earliest != NULL && number_values(s) ? RIG_OK : rig_no_memory(s->err, "the search for an order");
}

static enum rig_rc search(struct search *s)
{
    enum rig_rc rc = begin_search(s);
    uint32_t *candidates = malloc((s->units.count + 1) * sizeof *candidates);
    if (rc == RIG_OK && candidates == NULL)
        rc = rig_no_memory(s->err, "the search for an order");
    while (rc == RIG_OK && s->now.first.count > 0) {
        for (uint32_t i = 0; i < s->now.first.count && !s->no_memory && !s->explained && s->steps <= MOST_STEPS; i++)
            expand(s, i, candidates);
        if (s->explained)
            rc = rig_fail(s->err, RIG_E_INPUT, "no-order: the operations have an order");
        else if (s->no_memory || s->steps > MOST_STEPS)
            rc = rig_fail(s->err, RIG_E_LIMIT, "no-order: the search for an order takes too long");
        const struct records empty = s->now;
        s->now = s->next;
        s->next = empty;
        clear_records(&s->next);
    }
    free(candidates);
    return rc;
}

/* ---- the claim ---- */

/* The least that the levels keep. */
static enum rig_rc least_kept(struct search *s, uint32_t levels)
{
    s->keeps = RIG_KEEPS_TIME;
    for (int level = 0; level < RIG_PROVED_LEVELS; level++) {
        const struct rig_proved_level *info = &rig_proved_levels[level];
        if ((levels >> level & 1) == 0)
            continue;
        if (s->facts->form != RIG_FACTS_OBJECTS || info->forbids != RIG_FORBIDS_ANY)
            return rig_fail(s->err, RIG_E_INPUT, "no-order: it does not refute %s of such a history", info->name);
        s->keeps = info->keeps < s->keeps ? info->keeps : s->keeps;
    }
    return s->keeps == RIG_KEEPS_TIME && !s->history->has_invocations
               ? rig_fail(s->err, RIG_E_INPUT, "no-order: the history has no invocations, and so no real-time order")
               : RIG_OK;
}

enum rig_rc rig_no_order(const struct rig_facts *facts, uint32_t levels, const uint32_t *txns, size_t count,
                         struct rig_err *err)
{
    struct search s = {.facts = facts, .history = facts->history, .err = err};
    enum rig_rc rc = least_kept(&s, levels);
    if (rc != RIG_OK)
        return rc;
    s.named = calloc((size_t)facts->history->txn_count + 1, 1);
    s.key = calloc((size_t)facts->history->key_count + 1, sizeof s.key[0]);
    if (s.named == NULL || s.key == NULL || !rig_replay_object_nil(facts->history->workload, &s.nil))
        rc = rig_no_memory(err, "the search for an order");
    if (rc == RIG_OK)
        rc = make_units(&s, txns, count);
    if (rc == RIG_OK)
        rc = check_left_out(&s);
    if (rc == RIG_OK)
        rc = search(&s);
    free(s.named);
    free(s.key);
    free(s.earliest);
    free(s.given);
    units_done(&s.units);
    records_done(&s.states);
    records_done(&s.now);
    records_done(&s.next);
    words_done(&s.scratch);
    rig_replay_object_done(&s.object);
    return rc;
}
