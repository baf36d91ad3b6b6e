/* The memory of finished lists (retired.h). */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/infer/inference.h"
#include "checker/judge/stream/closing_private.h"
#include "checker/judge/stream/retired_private.h"
#include "history/model/window_view.h"

/* The closing set of lists (closing.h): transactions of unknown fate. */

/* Makes the writers of unread appends to the key wait. */
static void wait_unread(struct rig_closing_search *s, uint32_t key)
{
    const struct rig_versions *versions = s->versions;
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        if (slots[i].writer != RIG_TXN_NONE && slots[i].position == RIG_VERSION_NONE && s->committed[slots[i].writer])
            rig_closing_wait_again(s, slots[i].writer);
    }
}

static void wait_behind_read(struct rig_closing_search *s, const struct rig_txn_op *read)
{
    if (!rig_versions_is_prefix(s->versions, read)) {
        s->out->alive[read->key] = 1;
        s->again = true;
        s->first = 0;
        return;
    }
    uint32_t next = rig_versions_from(s->versions, read->key, read->read_state == RIG_READ_SEEN ? read->count : 0);
    if (next == RIG_VERSION_NONE)
        wait_unread(s, read->key);
    else
        rig_closing_wait_again(s, rig_versions_writer(s->versions, read->key, next));
}

/*
 * A transaction of unknown fate counts as soon as a read shows one of its writes, which may happen later. Then its read
 * precedes the next write, so that writer waits, too; or its read changes the order of the key, so the key stays alive.
 * (Its appends come after all others in either case, and so precede nothing.)
 */
void rig_list_wait_for_unknown(struct rig_closing_search *s)
{
    const struct rig_history *history = s->history;
    for (uint32_t txn = s->first; txn < history->txn_count; txn++) {
        if (!rig_closing_is_unknown(s, txn))
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            bool known = ops[i].kind == RIG_OP_READ_LIST && ops[i].read_state != RIG_READ_UNKNOWN;
            if (known && !s->out->alive[ops[i].key])
                wait_behind_read(s, &ops[i]);
        }
    }
}

/* Retired lists that are used again (retired.h): cuts their judged parts off a segment's lists. */

/* The greatest length of an admissible read of this list; 0: no read can be admitted that has to show something. */
static uint32_t limit_of(const struct retired_key *key, const struct rig_read_list *list)
{
    if (list->count < key->count || rig_retired_hash_on(rig_retired_empty_hash, list, key->count) != key->hash)
        return 0;
    uint32_t limit = key->count;
    while (limit < list->count && !rig_retired_holds(key, rig_read_element(list, limit)))
        limit++;
    return limit;
}

static bool keep_prefix(struct rig_retired *retired, struct retired_key *key, const struct rig_read_list *list)
{
    if (key->prefix != NULL || key->cut == 0)
        return true;
    key->prefix = malloc(key->cut * sizeof *key->prefix);
    if (key->prefix == NULL)
        return false;
    retired->owned_bytes += key->cut * sizeof *key->prefix;
    rig_read_copy(list, 0, key->cut, key->prefix);
    return true;
}

/* Whether the list begins with the judged part; *limit: the greatest length of a read of it. */
static bool continues(const struct retired_key *key, const struct rig_read_list *list, uint32_t *limit)
{
    *limit = limit_of(key, list);
    return list->count >= key->count && (*limit > 0 || key->count == 0);
}

/* Leaves `count` elements after the first `from`. */
static struct rig_growing_list cut_from(const struct rig_growing_list *list, uint32_t from, uint32_t count)
{
    return (struct rig_growing_list){.at = list->at == NULL ? NULL : list->at + from, .count = count};
}

/* Cuts the judged part off a spine. A spine that does not begin with it becomes empty, and loses its reads. */
static bool cut_spine(struct rig_retired *retired, uint32_t number, struct rig_growing_list *spine, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {.at = spine->at, .shared = spine->count, .count = spine->count};
    if (!continues(key, &all, limit)) {
        *spine = (struct rig_growing_list){0};
        return true;
    }
    RIG_INVARIANT(key->cut <= spine->count);
    *spine = cut_from(spine, key->cut, spine->count - key->cut);
    return keep_prefix(retired, key, &all);
}

/*
 * The same for a branch of `from`, the spine before it was cut. The judged part may end in the tail. If the spine
 * became empty although the branch begins with the judged part, their common elements are judged as well, and stay.
 */
static bool cut_branch(struct rig_retired *retired, uint32_t number, const struct rig_growing_list *from,
                       struct rig_growing_list *spine, struct rig_growing_branch *branch, uint32_t *limit)
{
    struct retired_key *key = &retired->keys.at[number];
    const struct rig_read_list all = {
        .at = from->at, .tail = branch->tail.at, .shared = branch->shared, .count = rig_growing_branch_count(branch)};
    if (!continues(key, &all, limit)) {
        branch->shared = 0;
        branch->tail = (struct rig_growing_list){0};
        return true;
    }
    uint32_t off_tail = key->cut > branch->shared ? key->cut - branch->shared : 0;
    RIG_INVARIANT(off_tail <= branch->tail.count && key->cut - off_tail <= branch->shared);
    branch->shared -= key->cut - off_tail;
    branch->tail = cut_from(&branch->tail, off_tail, branch->tail.count - off_tail);
    if (spine->count < branch->shared)
        *spine = cut_from(from, key->cut, branch->shared);
    return keep_prefix(retired, key, &all);
}

/* Cuts the judged parts off the lists of the copy. False when memory runs out. */
static bool cut_lists(struct rig_retired *retired, const struct rig_segment *segment)
{
    struct rig_segment *cleaned = &retired->cleaned;
    if (!list_limits_reserve(&retired->spine_limits, segment->keys.count + 1) ||
        !list_limits_reserve(&retired->branch_limits, segment->branches.count + 1))
        return false;
    for (size_t i = 0; i < segment->keys.count; i++) {
        uint32_t number = retired->numbers.at[i];
        if (number == RIG_RETIRED_NONE)
            continue;
        cleaned->keys.at[i].had_row = retired->keys.at[number].cut > 0;
        if (!cut_spine(retired, number, &cleaned->keys.at[i].spine, &retired->spine_limits.at[i]))
            return false;
    }
    for (size_t i = 0; i < segment->branches.count; i++) {
        uint32_t key = segment->branches.at[i].key, number = retired->numbers.at[key];
        if (number != RIG_RETIRED_NONE &&
            !cut_branch(retired, number, &segment->keys.at[key].spine, &cleaned->keys.at[key].spine,
                        &cleaned->branches.at[i], &retired->branch_limits.at[i]))
            return false;
    }
    return true;
}

static void admit_read(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome,
                       struct rig_txn_op *op)
{
    struct rig_retired *retired = a->retired;
    uint32_t count = op->read_state == RIG_READ_SEEN ? op->count : 0, limit = key->count;
    if (op->read_state == RIG_READ_SEEN)
        limit = rig_txn_op_is_branch(op) ? retired->branch_limits.at[rig_txn_op_branch(op)]
                                         : retired->spine_limits.at[op->key];
    bool fits = count >= key->count && count <= limit;
    if (outcome == RIG_OUTCOME_FAIL) {
        /* Reads of aborted transactions cause no conflict. */
        if (op->read_state == RIG_READ_SEEN && (!fits || count < key->cut))
            *op = (struct rig_txn_op){.key = op->key, .kind = op->kind, .read_state = RIG_READ_UNKNOWN};
        else if (op->read_state == RIG_READ_SEEN)
            op->count -= key->cut;
        return;
    }
    if (key->anomalous || key->many_unread || !fits) {
        a->conflict = key->anomalous     ? "a key with an anomaly is read again after a long time"
                      : key->many_unread ? "appends to a key are read for the first time after a long time"
                                         : "a read shows a much older state of its key, or contradicts it";
        return;
    }
    if (outcome == RIG_OUTCOME_OK) {
        RIG_INVARIANT(retired->unordered >= key->unordered);
        retired->unordered -= key->unordered;
        key->unordered = key->unconfirmed = 0;
    }
    RIG_INVARIANT(key->cut <= key->count);
    RIG_INVARIANT(op->read_state != RIG_READ_SEEN || key->cut <= op->count);
    if (op->read_state == RIG_READ_SEEN)
        op->count -= key->cut;
}

static void admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    if (!rig_op_reads(op->kind))
        rig_admission_write(a, key, op->value);
    else if (op->kind == RIG_OP_READ_LIST && op->read_state != RIG_READ_UNKNOWN)
        admit_read(a, key, outcome, op);
}

static bool list_admit(struct rig_admission *a)
{
    if (!cut_lists(a->retired, a->segment))
        return false;
    rig_admission_walk(a, admit_op);
    return true;
}

/* ---- unread appends ---- */

/*
 * The unread appends to a key, in the only order in which a read can show them without an anomaly: each was made by the
 * same transaction as the one before it, or by one that was invoked after the writer before it had completed.
 *
 * A read may still show another order. But when a window was judged and has no cycle, real time included, no later one
 * of these writers comes before an earlier one; so a read that shows this order adds no edge that could close a cycle
 * (docs/checker/windows-memory.md).
 *
 * Time: linear in the key's appends and in the operations of the writers.
 */
enum { UNREAD_MOST = 32 };

struct unread_chain {
    int64_t values[UNREAD_MOST];
    uint32_t count;
};

struct writers {
    uint32_t txns[UNREAD_MOST]; /* by completion: transactions are numbered so */
    uint32_t count;
};

/* Adds the writer at its place in completion order, once. False when there are too many. */
static bool add_writer(struct writers *writers, uint32_t txn)
{
    uint32_t place = writers->count;
    while (place > 0 && writers->txns[place - 1] > txn)
        place--;
    if (place > 0 && writers->txns[place - 1] == txn)
        return true;
    if (writers->count == UNREAD_MOST)
        return false;
    for (uint32_t i = writers->count; i > place; i--)
        writers->txns[i] = writers->txns[i - 1];
    writers->txns[place] = txn;
    writers->count++;
    return true;
}

static bool find_writers(const struct rig_inference *inference, uint32_t key, const uint8_t *judged,
                         struct writers *writers)
{
    const struct rig_versions *versions = &inference->versions;
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    writers->count = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        uint32_t txn = slots[i].writer;
        if (txn == RIG_TXN_NONE || slots[i].position != RIG_VERSION_NONE || (judged != NULL && !judged[txn]) ||
            inference->history->txns[txn].outcome == RIG_OUTCOME_FAIL)
            continue;
        if (inference->history->txns[txn].outcome != RIG_OUTCOME_OK || !add_writer(writers, txn))
            return false;
    }
    return true;
}

/* The values of the writer's unread appends to the key. */
static bool add_values(const struct rig_inference *inference, uint32_t key, uint32_t txn, struct unread_chain *chain)
{
    const struct rig_history *history = inference->history;
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
    for (; op < end; op++) {
        if (op->kind != RIG_OP_APPEND || op->key != key ||
            rig_versions_append(&inference->versions, key, op->value)->position != RIG_VERSION_NONE)
            continue;
        if (chain->count == UNREAD_MOST)
            return false;
        chain->values[chain->count++] = op->value;
    }
    return true;
}

/*
 * Finds the chain of the key's unread appends that did not fail; `judged` (NULL: all) selects their transactions. False
 * when there are too many, they have no such order, or one of them was not acknowledged.
 */
static bool find_unread_chain(const struct rig_inference *inference, uint32_t key, const uint8_t *judged,
                              struct unread_chain *chain)
{
    const struct rig_history *history = inference->history;
    struct writers writers;
    chain->count = 0;
    if (!history->has_invocations || !find_writers(inference, key, judged, &writers))
        return false;
    for (uint32_t i = 0; i < writers.count; i++) {
        uint32_t txn = writers.txns[i];
        if (i > 0 && history->txns[writers.txns[i - 1]].complete_at >= history->txns[txn].invoke_at)
            return false;
        if (!add_values(inference, key, txn, chain))
            return false;
    }
    return true;
}

/* ---- finished keys ---- */

/* The facts about a key in one judgement. */
struct shown {
    struct rig_retired_values values;
    uint32_t unread;
    uint32_t unread_writer;
    bool several_writers; /* of unread appends */
};

/* The slots of a key in its judgement. */
struct key_slots {
    const struct rig_append *slots;
    uint32_t count;
    int64_t lowest;        /* value of the first one, and they count up from it; */
    const int64_t *values; /*   unless they stand here */
};

static struct key_slots slots_of(const struct rig_inference *inference, uint32_t key)
{
    const struct rig_versions *versions = &inference->versions;
    const struct rig_key_places *at = &versions->key_places[key];
    return (struct key_slots){
        .slots = versions->slots + at->slot_first,
        .count = versions->keys[key].slot_count,
        .lowest = at->lowest,
        .values = at->shift == 0 ? NULL : versions->slot_values + (at->slot_first - versions->sparse_first)};
}

/* The value of slot `i`, appended by a judged transaction (NULL: all are); false when there is none. */
static inline bool value_at(const struct key_slots *of, uint32_t i, const uint8_t *judged, int64_t *value)
{
    uint32_t writer = of->slots[i].writer;
    if (writer == RIG_TXN_NONE || (judged != NULL && !judged[writer]))
        return false;
    *value = of->values == NULL ? (int64_t)((uint64_t)of->lowest + i) : of->values[i];
    return true;
}

/* One appended value of a key. */
static inline void show_append(struct shown *shown, const struct rig_append *slot, int64_t value,
                               const uint8_t *committed)
{
    struct rig_retired_values *values = &shown->values;
    values->lowest = value < values->lowest ? value : values->lowest;
    values->highest = value > values->highest ? value : values->highest;
    values->count++;
    bool unplaced = slot->position == RIG_VERSION_NONE; /* as appends of failed transactions are */
    if (!(unplaced & committed[slot->writer]))
        return;
    shown->several_writers |= shown->unread > 0 && shown->unread_writer != slot->writer;
    shown->unread++;
    shown->unread_writer = slot->writer;
}

/* Reads show every append of committed transactions to the key. */
static bool is_read(const struct rig_versions *versions, uint32_t key)
{
    uint32_t end = versions->key_places[key].place_first + versions->keys[key].order.count;
    return versions->places[end] == RIG_PLACE_END;
}

/* The appends of judged transactions (NULL: all) to the key. */
static struct shown show(const struct rig_inference *inference, uint32_t key, const uint8_t *judged)
{
    const struct rig_op_summary *summary = inference->history->summary;
    if (judged == NULL && summary != NULL && is_read(&inference->versions, key))
        return (struct shown){.values = {.lowest = summary->keys[key].lowest,
                                         .highest = summary->keys[key].highest,
                                         .count = summary->keys[key].appends}};
    const struct key_slots of = slots_of(inference, key);
    struct shown shown = {.values = {.lowest = INT64_MAX, .highest = INT64_MIN}};
    int64_t value;
    for (uint32_t i = 0; i < of.count; i++) {
        if (value_at(&of, i, judged, &value))
            show_append(&shown, &of.slots[i], value, inference->versions.committed);
    }
    return shown;
}

/* Sets the bits of what was appended. */
static void note_values(struct retired_key *kept, const struct rig_inference *inference, uint32_t key,
                        const uint8_t *judged)
{
    const struct key_slots of = slots_of(inference, key);
    int64_t value;
    for (uint32_t i = 0; kept->bits != NULL && i < of.count; i++) {
        if (value_at(&of, i, judged, &value))
            rig_retired_set_bit(kept, value);
    }
}

/* ---- remembering ---- */

/* Takes over the order of the key, and after it the unread appends when their order is known. */
static void set_list(struct rig_retired *retired, struct retired_key *key, const struct rig_key_versions *versions,
                     const struct shown *shown, const struct unread_chain *unread, bool dropped)
{
    key->count = key->cut + versions->order.count;
    const struct rig_read_list order = rig_read_of(versions->order, versions->order.count);
    key->hash = rig_retired_hash_on(key->cut_hash, &order, order.count);
    key->many_unread = unread == NULL;
    if (unread != NULL) {
        const struct rig_read_list behind =
            rig_read_of((struct rig_list){unread->values, unread->count}, unread->count);
        key->count += unread->count;
        key->hash = rig_retired_hash_on(key->hash, &behind, unread->count);
    }
    RIG_INVARIANT(key->cut <= key->count);
    if (!dropped)
        return;
    if (!key->unordered && (shown->several_writers || (shown->unread > 0 && key->unconfirmed))) {
        key->unordered = true;
        retired->unordered++;
    }
    key->unconfirmed |= shown->unread > 0;
    RIG_INVARIANT(key->prefix == NULL || retired->owned_bytes >= key->cut * sizeof *key->prefix);
    if (key->prefix != NULL)
        retired->owned_bytes -= key->cut * sizeof *key->prefix;
    free(key->prefix);
    key->prefix = NULL;
    key->cut = key->count;
    key->cut_hash = key->hash;
}

/* The unread appends of judged transactions, in the order that reads have to show; NULL: any order is possible. */
static const struct unread_chain *order_unread(const struct rig_inference *inference, uint32_t key,
                                               const struct shown *shown, const uint8_t *judged, bool clean,
                                               struct unread_chain *room)
{
    room->count = 0;
    if (shown->unread == 0)
        return room;
    bool is_known = find_unread_chain(inference, key, judged, room) && room->count == shown->unread;
    return is_known && (clean || shown->unread == 1) ? room : NULL;
}

static bool remember(const struct rig_retiring *r, uint32_t key, bool dropped)
{
    struct unread_chain room;
    const struct rig_history *history = r->inference->history;
    const struct rig_key_versions *versions = &r->inference->versions.keys[key];
    const uint8_t *whose = dropped ? NULL : r->judged; /* all that used it are judged */
    const struct shown shown = show(r->inference, key, whose);
    const bool is_anomalous = r->anomalous != NULL && r->anomalous[key];
    /* Neither a key that was never written nor one that may not be used again needs memory. */
    if ((shown.values.count == 0 && versions->order.count == 0 && !is_anomalous &&
         rig_retired_find(r->retired, history, key) == RIG_RETIRED_NONE) ||
        (r->retired->any_forgotten && rig_retired_is_forgotten(r->retired, history, key)))
        return true;
    struct retired_key *kept = rig_retired_put(r->retired, history, key);
    if (kept == NULL || !rig_retired_widen(r->retired, kept, &shown.values))
        return false;
    kept->anomalous |= (uint32_t)is_anomalous;
    note_values(kept, r->inference, key, whose);
    set_list(r->retired, kept, versions, &shown, order_unread(r->inference, key, &shown, whose, r->clean, &room),
             dropped);
    return !dropped || rig_retired_rest(r->retired, kept);
}

static bool is_unordered(const struct rig_inference *inference, uint32_t key)
{
    return show(inference, key, NULL).several_writers;
}

static bool is_settled(const struct rig_inference *inference, uint32_t key, bool clean)
{
    struct unread_chain chain;
    const struct rig_versions *versions = &inference->versions;
    const struct rig_append *slots = &versions->slots[versions->key_places[key].slot_first];
    uint32_t unread = 0;
    for (uint32_t i = 0; i < versions->keys[key].slot_count; i++) {
        bool is_unread = slots[i].writer != RIG_TXN_NONE && slots[i].position == RIG_VERSION_NONE;
        unread += is_unread && inference->history->txns[slots[i].writer].outcome != RIG_OUTCOME_FAIL;
    }
    return unread <= 1 || (clean && find_unread_chain(inference, key, NULL, &chain));
}

const struct rig_type_retired rig_list_retired = {
    .remember = remember, .is_unordered = is_unordered, .is_settled = is_settled, .admit = list_admit};
