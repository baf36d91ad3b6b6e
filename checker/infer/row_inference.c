#include "checker/infer/row_inference.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/row_absence.h"
#include "checker/infer/row_constraints.h"
#include "checker/infer/row_sweep.h"

struct infer {
    const struct rig_history *history;
    const struct rig_row_chains *rows;
    struct rig_noncyclic_findings *noncyclic; /* NULL: only links are wanted */
    struct rig_links *links;
    struct rig_row_sweep *sweep; /* NULL: the history has no places */
    bool items_only;
    const uint8_t *among; /* per transaction: its reads have edges; NULL: all have */
    uint32_t *shown_by;   /* per statement: the read (`reads`) that shows its row */
    uint32_t *written_by; /* per statement: the read whose transaction wrote its row */
    struct rig_row_states states;
    uint32_t *linked[RIG_LINK_RW + 1]; /* per transaction: the read with which it was linked last */
    uint32_t reads;
    uint64_t unknown_reads, open_reads, missing_reads;
};

/* A read, and the anomalies that were noted of it: each once. */
struct shown {
    const struct rig_txn_op *ops; /* of its transaction */
    uint32_t txn, op;
    uint32_t seen;         /* rig_row_seen() */
    rig_anomaly_set noted; /* bits */
    bool has_own;          /* its transaction wrote to the table before */
    bool has_later;        /* its transaction writes to the table later */
    bool is_open;    /* it may have seen different versions of some row, with different edges; or has an anomaly */
    bool is_missing; /* the same, of a row that it misses and may have missed before all its versions */
    struct rig_row_where condition;
};

static bool note(struct infer *in, struct shown *shown, enum rig_anomaly anomaly, int64_t id, int64_t version,
                 uint32_t other, uint32_t other_op)
{
    const struct rig_noncyclic found = {.anomaly = anomaly,
                                        .key = shown->ops[shown->op].key,
                                        .txn = shown->txn,
                                        .op = shown->op,
                                        .other = other,
                                        .other_op = other_op,
                                        .unsettled = in->history->txns[shown->txn].outcome != RIG_OUTCOME_OK,
                                        .value = version,
                                        .other_value = id};
    shown->is_open = true;
    if (in->noncyclic == NULL || (shown->noted & RIG_ANOMALY_BIT(anomaly)) != 0)
        return true;
    shown->noted |= RIG_ANOMALY_BIT(anomaly);
    return rig_noncyclic_note(in->noncyclic, &found);
}

/* Links two transactions, once a read. */
static bool link(struct infer *in, uint32_t from, uint32_t to, uint32_t other, enum rig_link link)
{
    if (from == to || in->linked[link][other] == in->reads)
        return true;
    in->linked[link][other] = in->reads;
    return rig_links_add(in->links, from, to, link);
}

uint32_t rig_row_own_version(const struct rig_row_chains *rows, uint32_t txn, uint32_t op, int64_t id, uint32_t *own_op)
{
    const struct rig_txn_op *ops = rig_txn_ops(rows->history, txn);
    for (uint32_t i = op; i-- > 0;) {
        if (!rig_row_writes(&ops[i]) || ops[i].key != ops[op].key)
            continue;
        const uint32_t version = rig_rows_version(rows, rig_rows_statement(rows, ops[i].key, ops[i].value), id);
        if (version != RIG_ROW_NONE && own_op != NULL)
            *own_op = i;
        if (version != RIG_ROW_NONE)
            return version;
    }
    return RIG_ROW_NONE;
}

uint32_t rig_row_later_version(const struct rig_row_chains *rows, uint32_t txn, uint32_t op, int64_t id)
{
    const struct rig_txn_op *ops = rig_txn_ops(rows->history, txn);
    uint32_t version = RIG_ROW_NONE;
    for (uint32_t i = op + 1; version == RIG_ROW_NONE && i < rig_txn_op_count(rows->history, txn); i++) {
        if (rig_row_writes(&ops[i]) && ops[i].key == ops[op].key)
            version = rig_rows_version(rows, rig_rows_statement(rows, ops[i].key, ops[i].value), id);
    }
    return version;
}

static uint32_t own_version(const struct infer *in, const struct shown *shown, int64_t id, uint32_t *own_op)
{
    return shown->has_own ? rig_row_own_version(in->rows, shown->txn, shown->op, id, own_op) : RIG_ROW_NONE;
}

/* The read shows a version of another transaction, which committed. */
static bool take_committed(struct infer *in, struct shown *shown, int64_t id, uint32_t statement, uint32_t version)
{
    const struct rig_row_write *of = &in->rows->statements[statement];
    const uint32_t txn = shown->txn;
    shown->is_open |= !in->rows->statements[rig_rows_statement(in->rows, of->key, id)].is_whole;
    if (version == RIG_ROW_NONE) /* rows of the statement are not known, and this is one of them */
        return link(in, of->txn, txn, of->txn, RIG_LINK_WR);
    const uint32_t next = in->rows->versions[version].next;
    const uint32_t next_writer = next == RIG_ROW_NONE ? txn : rig_rows_writer(in->rows, next);
    if (next_writer == of->txn && !note(in, shown, RIG_ANOMALY_G1B, id, of->number, of->txn,
                                        in->rows->statements[in->rows->versions[next].statement].op))
        return false;
    const bool replaces = next_writer == txn && next != RIG_ROW_NONE &&
                          in->rows->statements[in->rows->versions[next].statement].op == shown->op + 1;
    return link(in, of->txn, txn, of->txn, RIG_LINK_WR) &&
           (!replaces || link(in, of->txn, txn, of->txn, RIG_LINK_WW)) &&
           (next_writer == of->txn || link(in, txn, next_writer, next_writer, RIG_LINK_RW));
}

/* Two committed transactions replaced this version: each of them missed the other's. */
static bool note_lost(struct infer *in, struct shown *shown, int64_t id, uint32_t version)
{
    const uint32_t next = in->rows->versions[version].next;
    const bool writes =
        rig_txn_op_count(in->history, shown->txn) > shown->op + 1 && rig_row_writes(&shown->ops[shown->op + 1]) &&
        shown->ops[shown->op + 1].key == shown->ops[shown->op].key && !rig_row_inserts(shown->ops[shown->op + 1].value);
    if (!writes || next == RIG_ROW_NONE || rig_rows_writer(in->rows, next) == shown->txn)
        return true;
    const struct rig_row_write *other = &in->rows->statements[in->rows->versions[next].statement];
    return note(in, shown, RIG_ANOMALY_LOST_UPDATE, id, rig_rows_number(in->rows, version), other->txn, other->op);
}

/* Whether the row meets the condition at the version that the read shows, as far as its contents are known: the read is
 * open where they are not. */
static bool may_meet(const struct infer *in, struct shown *shown, int64_t id, int64_t number, uint32_t version)
{
    if (shown->condition.column != RIG_ROW_BY_TESTS)
        return rig_row_matches(&shown->condition, id, number);
    const bool unknown = version == RIG_ROW_NONE || in->rows->versions[version].contents == RIG_ROW_CONTENTS_UNKNOWN;
    shown->is_open |= unknown;
    return unknown || rig_rows_meets(in->rows, &shown->condition, version);
}

/* A row that the read shows. */
static bool take_row(struct infer *in, struct shown *shown, int64_t id, int64_t number)
{
    const struct rig_row_chains *rows = in->rows;
    const uint32_t key = shown->ops[shown->op].key, insert = rig_rows_statement(rows, key, id);
    const uint32_t statement = rig_rows_statement(rows, key, number);
    uint32_t own_op = UINT32_MAX;
    const bool again = insert != RIG_ROW_NONE && in->shown_by[insert] == in->reads;
    if (insert != RIG_ROW_NONE)
        in->shown_by[insert] = in->reads;
    if (again && !note(in, shown, RIG_ANOMALY_DUPLICATE_ELEMENTS, id, number, UINT32_MAX, UINT32_MAX))
        return false;
    const struct rig_row_write *of = statement == RIG_ROW_NONE ? NULL : &rows->statements[statement];
    const uint32_t version = of == NULL ? RIG_ROW_NONE : rig_rows_version(rows, statement, id);
    const bool unwritten = of == NULL || insert == RIG_ROW_NONE || (of->rows_known && version == RIG_ROW_NONE);
    if (unwritten || rig_row_action(number) == RIG_ROWS_DELETE)
        return note(in, shown, RIG_ANOMALY_GARBAGE_READ, id, number, UINT32_MAX, UINT32_MAX);
    if (!may_meet(in, shown, id, number, version) &&
        !note(in, shown, RIG_ANOMALY_PREDICATE_MISMATCH, id, number, UINT32_MAX, UINT32_MAX))
        return false;
    if (of->txn == shown->txn && of->op > shown->op)
        return note(in, shown, RIG_ANOMALY_FUTURE_READ, id, number, shown->txn, of->op);
    const uint32_t own = own_version(in, shown, id, &own_op);
    if (own != RIG_ROW_NONE && own != version)
        return note(in, shown, RIG_ANOMALY_INTERNAL, id, number, UINT32_MAX, own_op);
    if (of->txn == shown->txn)
        return true;
    if (in->history->txns[of->txn].outcome == RIG_OUTCOME_FAIL)
        return note(in, shown, RIG_ANOMALY_G1A, id, number, of->txn, of->op);
    RIG_INVARIANT(rows->committed[of->txn]);
    return take_committed(in, shown, id, statement, version) &&
           (version == RIG_ROW_NONE || note_lost(in, shown, id, version));
}

/* Whether its transaction wrote no later version of the row: others can see this one. */
static bool is_last_of_txn(const struct rig_row_chains *rows, uint32_t version)
{
    const uint32_t next = rows->versions[version].next;
    return next == RIG_ROW_NONE || rig_rows_writer(rows, next) != rig_rows_writer(rows, version);
}

/* Whether a read by the condition that does not show the row can have seen this version. */
static bool can_miss(const struct rig_row_chains *rows, const struct rig_row_where *condition, uint32_t version)
{
    return !rig_rows_meets(rows, condition, version) && is_last_of_txn(rows, version);
}

struct rig_row_span rig_row_span_of(const struct rig_row_chains *rows, uint32_t insert,
                                    const struct rig_row_where *condition, uint32_t own)
{
    const struct rig_row_write *of = &rows->statements[insert];
    const uint32_t end = own == RIG_ROW_NONE ? of->last : rows->versions[own].before;
    struct rig_row_span span = {.known = of->is_whole && rig_rows_tell_contents(rows, of, condition),
                                .first = RIG_ROW_NONE,
                                .last = end,
                                .end = end};
    while (span.known && span.last != RIG_ROW_NONE && !can_miss(rows, condition, span.last))
        span.last = rows->versions[span.last].before;
    if (!span.known || span.last == RIG_ROW_NONE || rig_row_action(of->number) != RIG_ROWS_INITIAL)
        return span;
    span.first = of->first_version;
    while (!can_miss(rows, condition, span.first))
        span.first = rows->versions[span.first].next;
    return span;
}

/* Whether the row meets the condition at a version of the span: then versions that a read without it saw differ in
 * their edges. */
static bool meets_within(const struct rig_row_chains *rows, const struct rig_row_where *condition,
                         const struct rig_row_span *span)
{
    uint32_t version = span->last;
    while (version != span->first && (!rig_rows_meets(rows, condition, version) || !is_last_of_txn(rows, version)))
        version = rows->versions[version].before;
    return version != span->first;
}

/* A row that the read does not show. */
static bool take_absent(struct infer *in, struct shown *shown, uint32_t insert)
{
    const struct rig_row_chains *rows = in->rows;
    const struct rig_row_write *row = &rows->statements[insert];
    uint32_t own_op = UINT32_MAX;
    const uint32_t own = own_version(in, shown, row->number, &own_op);
    if (own != RIG_ROW_NONE)
        return !rig_rows_meets(rows, &shown->condition, own) ||
               note(in, shown, RIG_ANOMALY_INTERNAL, row->number, rig_rows_number(rows, own), UINT32_MAX, own_op);
    const uint32_t later =
        shown->has_later ? rig_row_later_version(rows, shown->txn, shown->op, row->number) : RIG_ROW_NONE;
    const struct rig_row_span span = rig_row_span_of(rows, insert, &shown->condition, later);
    const bool may_exist = in->history->txns[row->txn].outcome != RIG_OUTCOME_FAIL;
    const bool is_item = shown->condition.column == RIG_ROW_BY_KEY, is_known_choice = shown->is_missing && !is_item;
    const bool is_choice = span.known && (is_known_choice || meets_within(rows, &shown->condition, &span));
    shown->is_missing |= is_choice && !is_item;
    shown->is_open |= span.known ? is_choice && is_item : may_exist;
    if (!span.known)
        return true;
    if (span.last == RIG_ROW_NONE && rig_row_action(row->number) == RIG_ROWS_INITIAL &&
        !note(in, shown, RIG_ANOMALY_PREDICATE_READ_MISS, row->number, row->number, row->txn, row->op))
        return false;
    if (span.first != RIG_ROW_NONE && span.first != row->first_version) {
        const uint32_t before = rig_rows_writer(rows, span.first);
        if (!link(in, before, shown->txn, before, RIG_LINK_WR))
            return false;
    }
    if (span.last == span.end || (in->items_only && shown->condition.column != RIG_ROW_BY_KEY))
        return true;
    const uint32_t change = span.last == RIG_ROW_NONE ? row->first_version : rows->versions[span.last].next;
    const uint32_t writer = rig_rows_writer(rows, change);
    return link(in, shown->txn, writer, writer, RIG_LINK_RW);
}

uint32_t rig_row_seen(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    return history->places == NULL ? RIG_PLACE_NONE : history->places->seen[history->txns[txn].first_op + op];
}

struct rig_row_turns rig_row_turns_of(const struct rig_row_chains *rows, uint32_t insert,
                                      const struct rig_row_where *condition, uint32_t seen)
{
    const struct rig_row_write *of = &rows->statements[insert];
    struct rig_row_turns turns = {.known = of->is_whole, .seen = RIG_ROW_NONE, .missed = RIG_ROW_NONE};
    const bool adds = rig_row_adds(condition);
    bool met = false, behind = false;
    for (uint32_t at = of->first_version; turns.known && at != RIG_ROW_NONE; at = rows->versions[at].next) {
        const uint32_t place = rig_row_place(rows, at);
        if (rig_row_is_replaced_at_once(rows, at))
            continue;
        const bool meets = rig_rows_meets(rows, condition, at);
        turns.known = place != RIG_PLACE_NONE;
        behind |= place >= seen;
        const bool turned = meets != met || (adds && meets);
        if (turned && behind) {
            turns.missed = at;
            turns.is_item = adds && met;
            break;
        }
        turns.seen = turned ? at : turns.seen;
        met = meets;
    }
    return turns;
}

/* A row of the table at the one version that the read saw of it, shown or not. */
static bool take_exact(struct infer *in, struct shown *shown, uint32_t insert)
{
    const struct rig_row_chains *rows = in->rows;
    const struct rig_row_write *row = &rows->statements[insert];
    uint32_t own_op;
    if (own_version(in, shown, row->number, &own_op) != RIG_ROW_NONE)
        return in->shown_by[insert] == in->reads || rig_row_adds(&shown->condition) || take_absent(in, shown, insert);
    const struct rig_row_turns turns = rig_row_turns_of(rows, insert, &shown->condition, shown->seen);
    shown->is_open |= !turns.known && in->history->txns[row->txn].outcome != RIG_OUTCOME_FAIL;
    if (!turns.known)
        return true;
    const uint32_t before = turns.seen == RIG_ROW_NONE ? shown->txn : rig_rows_writer(rows, turns.seen);
    const bool by_predicate = shown->condition.column != RIG_ROW_BY_KEY && !turns.is_item;
    const uint32_t behind = turns.missed == RIG_ROW_NONE || (in->items_only && by_predicate)
                                ? shown->txn
                                : rig_rows_writer(rows, turns.missed);
    return link(in, before, shown->txn, before, RIG_LINK_WR) && link(in, shown->txn, behind, behind, RIG_LINK_RW);
}

/* A row that an update or delete did not change, whose answer did not come: that it missed the row is no observation,
 * so there is no edge, and the read is open if a version of the row meets the condition. */
static void leave_open(struct infer *in, struct shown *shown, uint32_t insert)
{
    const struct rig_row_write *row = &in->rows->statements[insert];
    if (own_version(in, shown, row->number, NULL) != RIG_ROW_NONE)
        return;
    const uint32_t later = rig_row_later_version(in->rows, shown->txn, shown->op, row->number);
    const struct rig_row_span span = rig_row_span_of(in->rows, insert, &shown->condition, later);
    shown->is_open |= span.known ? span.last != span.end || meets_within(in->rows, &shown->condition, &span)
                                 : in->history->txns[row->txn].outcome != RIG_OUTCOME_FAIL;
}

/* Marks the rows of the table that the read's transaction wrote itself. */
static void mark_written(struct infer *in, const struct shown *shown)
{
    const uint32_t key = shown->ops[shown->op].key;
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, shown->txn); i++) {
        const bool writes = rig_row_writes(&shown->ops[i]) && shown->ops[i].key == key;
        const uint32_t statement = writes ? rig_rows_statement(in->rows, key, shown->ops[i].value) : RIG_ROW_NONE;
        const uint32_t count = statement == RIG_ROW_NONE ? 0 : in->rows->statements[statement].version_count;
        for (uint32_t v = 0; v < count; v++) {
            const uint32_t version = in->rows->statements[statement].first_version + v;
            const uint32_t insert = rig_rows_statement(in->rows, key, in->rows->versions[version].id);
            if (insert != RIG_ROW_NONE)
                in->written_by[insert] = in->reads;
        }
    }
}

/* A row, of `inserts`, that the read does not show, by its states. */
static bool take_missed(struct infer *in, struct shown *shown, uint32_t i, const struct rig_row_masks *masks)
{
    const int64_t id = in->rows->statements[in->rows->inserts[i]].number;
    const struct rig_row_absence absence = rig_row_states_missed(&in->states, i, masks, id, shown->is_missing);
    shown->is_missing = absence.is_choice;
    return absence.writer == RIG_ROW_NONE || link(in, shown->txn, absence.writer, absence.writer, RIG_LINK_RW);
}

/* The rows from `i` on that the read does not show; none of them has its version from a snapshot. */
static bool take_misses(struct infer *in, struct shown *shown, uint32_t i, uint32_t end)
{
    const bool plain = rig_row_states_tell(&in->states, &shown->condition);
    struct rig_row_masks masks;
    bool ok = true;
    if (in->items_only && shown->condition.column != RIG_ROW_BY_KEY && !in->states.has_initial)
        return true; /* each edge would be by a predicate */
    if (plain)
        rig_row_masks_make(&shown->condition, &masks);
    if (shown->has_own || shown->has_later)
        mark_written(in, shown);
    for (; ok && i < end; i++) {
        const uint32_t insert = in->rows->inserts[i];
        const bool is_own = in->written_by[insert] == in->reads;
        if (in->shown_by[insert] == in->reads || (!is_own && rig_row_states_none(&in->states, i)))
            continue;
        const bool known = plain && !is_own && in->states.first[i + 1] > in->states.first[i];
        ok = known ? take_missed(in, shown, i, &masks) : take_absent(in, shown, insert);
    }
    return ok;
}

/* Whether the read may miss rows that it asks for because of others that no answer shows: then these decide which
 * versions it may have seen. It may have missed the rows before they were inserted. */
static bool may_have_partners(const struct infer *in, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    const uint32_t *first = &in->rows->insert_first[ops[op].key];
    return !rig_row_may_skip(rig_row_clause_before(ops, op).kind) &&
           first[1] - first[0] > rig_txn_op_list(in->history, &ops[op]).count / 2;
}

/* Whether the read is of an inner join: two rows neither of which it shows may be a pair. */
static bool is_of_pairs(const struct rig_txn_op *ops, uint32_t op)
{
    struct rig_row_clause clause = {.kind = RIG_ROW_NO_CLAUSE};
    (void)rig_row_further_read(ops, op, &clause);
    return clause.kind == RIG_ROW_PAIRS || rig_row_clause_before(ops, op).kind == RIG_ROW_PAIRS;
}

static bool take_read(struct infer *in, uint32_t txn, uint32_t op)
{
    struct shown shown = {.ops = rig_txn_ops(in->history, txn), .txn = txn, .op = op};
    const uint32_t key = shown.ops[op].key;
    shown.condition = rig_rows_condition(in->rows, txn, op);
    if (shown.ops[op].read_state == RIG_READ_UNKNOWN) {
        in->unknown_reads += in->history->txns[txn].outcome == RIG_OUTCOME_OK;
        return true;
    }
    const struct rig_read_list list = rig_txn_op_list(in->history, &shown.ops[op]);
    const bool counted = rig_row_adds(&shown.condition);
    shown.seen = rig_row_seen(in->history, txn, op);
    const bool lost = shown.seen == RIG_PLACE_LOST, exact = shown.seen != RIG_PLACE_NONE && !lost;
    if (counted && !exact &&
        (list.count != 2 || !rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1)))) {
        in->open_reads++; /* which rows it counted is not known */
        return true;
    }
    in->reads++;
    for (uint32_t i = 0; i < op; i++)
        shown.has_own |= rig_row_writes(&shown.ops[i]) && shown.ops[i].key == key;
    for (uint32_t i = op + 1; i < rig_txn_op_count(in->history, txn); i++)
        shown.has_later |= rig_row_writes(&shown.ops[i]) && shown.ops[i].key == key;
    for (uint32_t at = 0; !counted && at + 1 < list.count; at += 2) {
        if (!take_row(in, &shown, rig_read_element(&list, at), rig_read_element(&list, at + 1)))
            return false;
    }
    uint32_t end, i = rig_rows_asked(in->rows, key, &shown.condition, &end), first = end, last = end;
    if (exact && !shown.has_own && !shown.condition.is_partial &&
        rig_row_sweep_takes(in->sweep, key, &shown.condition)) {
        if (!rig_row_sweep_add(in->sweep, txn, key, &shown.condition, shown.seen, &first, &last))
            return false;
    }
    if (!exact && !lost && !take_misses(in, &shown, i, end))
        return false;
    for (; (exact || lost) && i < end; i++) {
        i = i == first ? last : i;
        if (i == end)
            break;
        const uint32_t insert = in->rows->inserts[i];
        if (exact && !take_exact(in, &shown, insert))
            return false;
        if (lost && in->shown_by[insert] != in->reads)
            leave_open(in, &shown, insert);
    }
    if ((shown.condition.is_partial || is_of_pairs(shown.ops, op)) && !shown.is_missing)
        shown.is_missing = may_have_partners(in, txn, op);
    in->open_reads += shown.is_open || shown.is_missing;
    in->missing_reads += shown.is_missing && !shown.is_open;
    return true;
}

static bool take_all(struct infer *in, struct rig_arena *arena)
{
    const size_t txns = (size_t)in->history->txn_count + 1;
    in->shown_by = rig_arena_array(arena, (size_t)in->rows->statement_count + 1, sizeof *in->shown_by);
    in->written_by = rig_arena_array(arena, (size_t)in->rows->statement_count + 1, sizeof *in->written_by);
    bool done = in->shown_by != NULL && in->written_by != NULL && rig_row_states_build(in->rows, arena, &in->states);
    for (unsigned link = RIG_LINK_WW; link <= RIG_LINK_RW; link++) {
        in->linked[link] = rig_arena_array(arena, txns, sizeof *in->linked[link]);
        done = done && in->linked[link] != NULL;
    }
    done = done && rig_links_init(in->links, arena, in->history->txn_count, 0, in->history->op_count);
    if (done && in->history->places != NULL) {
        in->sweep = rig_row_sweep_new(in->rows, in->links, in->items_only, arena);
        done = in->sweep != NULL;
    }
    for (uint32_t txn = 0; done && txn < in->history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
        const bool reads = in->rows->committed[txn] && (in->among == NULL || in->among[txn] != 0);
        const uint32_t count = reads ? rig_txn_op_count(in->history, txn) : 0;
        for (uint32_t i = 0; done && i < count; i++)
            done = ops[i].kind != RIG_OP_READ_WHERE || take_read(in, txn, i);
    }
    return done && (in->sweep == NULL || rig_row_sweep_link(in->sweep));
}

static enum rig_rc find_rows(const struct rig_history *history, struct rig_arena *arena,
                             const struct rig_row_chains **rows, struct rig_err *err)
{
    if (history->places != NULL && history->places->rows != NULL) {
        *rows = history->places->rows;
        RIG_INVARIANT((*rows)->history == history);
        return RIG_OK;
    }
    struct rig_row_chains *built = rig_arena_alloc(arena, sizeof *built);
    *rows = built;
    return built == NULL ? rig_memory_limit(err, "the versions of the rows")
                         : rig_rows_build(history, arena, built, err);
}

enum rig_rc rig_infer_rows(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                           struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    (void)assumptions;
    *inference = (struct rig_inference){.history = history, .noncyclic = {.most_kept = most_kept}};
    const struct rig_row_chains *rows;
    const enum rig_rc rc = find_rows(history, arena, &rows, err);
    if (rc != RIG_OK)
        return rc;
    inference->rows = rows;
    inference->committed = rows->committed;
    inference->committed_count = rows->committed_count;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        inference->ok_count += history->txns[txn].outcome == RIG_OUTCOME_OK;
        inference->fail_count += history->txns[txn].outcome == RIG_OUTCOME_FAIL;
    }
    struct infer in = {
        .history = history, .rows = rows, .noncyclic = &inference->noncyclic, .links = &inference->links};
    if (!take_all(&in, arena) || !rig_row_check_constraints(rows, &inference->noncyclic))
        return rig_memory_limit(err, "the dependencies");
    memcpy(inference->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    inference->unknown_reads = in.unknown_reads;
    inference->open_reads = in.open_reads;
    inference->missing_reads = in.missing_reads;
    return RIG_OK;
}

bool rig_infer_items_of_rows(const struct rig_inference *inference, const uint8_t *among, struct rig_inference *items)
{
    *items = (struct rig_inference){.history = inference->history,
                                    .rows = inference->rows,
                                    .committed = inference->committed,
                                    .committed_count = inference->committed_count,
                                    .of_items = true};
    struct infer in = {.history = inference->history,
                       .rows = inference->rows,
                       .links = &items->links,
                       .items_only = true,
                       .among = among};
    if (!take_all(&in, inference->links.arena))
        return false;
    memcpy(items->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    return true;
}
