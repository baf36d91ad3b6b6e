#include "checker/infer/versions.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/branches.h"
#include "checker/infer/list_survey.h"
#include "checker/infer/versions_audit.h"
#include "history/model/read_list.h"

struct build {
    const struct rig_history *history;
    struct rig_versions *versions;
    struct rig_survey survey;
    struct rig_branch_reads branch_reads;
    uint32_t *irregular; /* keys with a repetition or an irregular list */
    uint32_t irregular_count;
    uint8_t *is_irregular; /* per key: it is among `irregular` */
    struct rig_arena *arena;
    struct rig_err *err;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the version orders");
}

/* ---- which transactions of unknown fate count as committed ---- */

/* The pass over observations. It reads each list once, as far as committed reads have shown it. */
struct observing {
    struct build *build;
    uint32_t *spine_seen;  /* per key */
    uint32_t *branch_seen; /* per branch */
    uint32_t *fresh;       /* transactions just found committed, whose reads are still to be followed */
    uint32_t fresh_count;
};

static void observe(struct observing *o, uint32_t key, const struct rig_read_list *list, uint32_t *seen)
{
    struct build *b = o->build;
    for (uint32_t i = *seen; i < list->count; i++) {
        const struct rig_append *slot = rig_versions_find(b->versions, key, rig_read_element(list, i));
        if (slot == NULL || b->survey.committed[slot->writer] || !rig_txn_is_undecided(&b->history->txns[slot->writer]))
            continue;
        rig_survey_commit(b->history, slot->writer, &b->survey);
        o->fresh[o->fresh_count++] = slot->writer;
    }
    if (list->count > *seen)
        *seen = list->count;
}

static void observe_txn(struct observing *o, uint32_t txn, bool spines)
{
    const struct rig_history *history = o->build->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].read_state != RIG_READ_SEEN)
            continue;
        struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        if (rig_txn_op_is_branch(&ops[i]))
            observe(o, ops[i].key, &list, &o->branch_seen[rig_txn_op_branch(&ops[i])]);
        else if (spines)
            observe(o, ops[i].key, &list, &o->spine_seen[ops[i].key]);
    }
}

static enum rig_rc find_committed(struct build *b)
{
    const struct rig_history *history = b->history;
    struct observing o = {.build = b};
    o.spine_seen = rig_arena_array(b->arena, (size_t)history->key_count + 1, sizeof *o.spine_seen);
    o.branch_seen = rig_arena_array(b->arena, (size_t)history->branch_count + 1, sizeof *o.branch_seen);
    o.fresh = rig_arena_room(b->arena, (size_t)b->survey.open_count + 1, sizeof *o.fresh);
    if (o.spine_seen == NULL || o.branch_seen == NULL || o.fresh == NULL)
        return no_memory(b->err);
    for (uint32_t key = 0; key < history->key_count; key++) {
        uint32_t longest = b->survey.keys[key].longest;
        struct rig_read_list list = rig_read_of(history->spines[key], longest == 0 ? 0 : longest - 1);
        observe(&o, key, &list, &o.spine_seen[key]);
    }
    for (uint32_t txn = 0; b->survey.any_branch && txn < history->txn_count; txn++) {
        if (b->survey.committed[txn])
            observe_txn(&o, txn, false);
    }
    /* Reads of a transaction found committed are observations, too. */
    while (o.fresh_count > 0)
        observe_txn(&o, o.fresh[--o.fresh_count], true);
    return RIG_OK;
}

/* ---- the order of each key ---- */

static void take_order(struct rig_key_versions *k, struct rig_list list, uint32_t txn, uint32_t op)
{
    k->order = list;
    k->order_txn = txn;
    k->order_op = op;
}

static bool is_spine_read(const struct rig_txn_op *op, uint32_t key)
{
    return op->key == key && op->read_state == RIG_READ_SEEN && !rig_txn_op_is_branch(op);
}

/* Takes the orders of all keys whose longest read is one of the transaction. */
static void take_longest_of(struct build *b, uint32_t txn)
{
    const struct rig_history *history = b->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        const uint32_t key = ops[i].key;
        const struct rig_key_use *seen = &b->survey.keys[key];
        struct rig_key_versions *k = &b->versions->keys[key];
        if (seen->longest_txn == txn && k->order_txn == RIG_TXN_NONE && is_spine_read(&ops[i], key) &&
            ops[i].count + 1 == seen->longest)
            take_order(k, (struct rig_list){history->spines[key].at, ops[i].count}, txn, i);
    }
}

/* The longest committed read of each spine. */
static void take_longest(struct build *b)
{
    for (uint32_t key = 0; key < b->history->key_count; key++) {
        const struct rig_key_use *seen = &b->survey.keys[key];
        const struct rig_key_versions *k = &b->versions->keys[key];
        if (seen->longest > 0 && k->order_txn == RIG_TXN_NONE)
            take_longest_of(b, seen->longest_txn);
        RIG_INVARIANT(seen->longest == 0 || k->order_txn == seen->longest_txn);
    }
}

static void mark_irregular(struct build *b, uint32_t key)
{
    if (b->is_irregular[key])
        return;
    b->is_irregular[key] = 1;
    b->irregular[b->irregular_count++] = key;
}

/* The longest reads without repetitions of the spines that have some, for keys without an order. */
static void longest_unique_reads(struct build *b)
{
    const struct rig_history *history = b->history;
    struct rig_versions *versions = b->versions;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!versions->committed[txn])
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            struct rig_key_versions *k = &versions->keys[ops[i].key];
            bool repeats = b->is_irregular[ops[i].key] && k->spine_unique + 1 < b->survey.keys[ops[i].key].longest;
            if (!repeats || !is_spine_read(&ops[i], ops[i].key) || ops[i].count > k->spine_unique)
                continue;
            if (k->order_txn == RIG_TXN_NONE || ops[i].count > k->order.count)
                take_order(k, (struct rig_list){history->spines[ops[i].key].at, ops[i].count}, txn, i);
        }
    }
}

/* Counts the leading elements without repetitions of the irregular keys' spines, as far as committed reads reach. */
static enum rig_rc limit_to_unique(struct build *b, uint32_t from)
{
    struct rig_marks marks = {0};
    bool any_repeated = false;
    for (uint32_t i = from; i < b->irregular_count; i++) {
        struct rig_key_versions *k = &b->versions->keys[b->irregular[i]];
        struct rig_read_list order = rig_read_of(k->order, k->order.count);
        if (!rig_unique_prefix(b->versions, b->irregular[i], &order, &marks, &k->spine_unique))
            return no_memory(b->err);
        if (k->spine_unique < k->order.count) {
            any_repeated = true;
            take_order(k, (struct rig_list){0}, RIG_TXN_NONE, 0);
        }
    }
    if (any_repeated)
        longest_unique_reads(b);
    return RIG_OK;
}

/*
 * The longest list becomes the order; of equally long ones the one that was read first, independent of how the history
 * was built. An order that comes from a branch is left without its elements here.
 */
static void prefer_branches(struct build *b)
{
    for (uint32_t i = 0; i < b->branch_reads.count; i++) {
        const struct rig_branch_read *read = &b->branch_reads.at[i];
        struct rig_key_versions *k = &b->versions->keys[read->key];
        bool earlier = read->txn != k->order_txn ? read->txn < k->order_txn : read->op < k->order_op;
        if (read->count < k->order.count || (read->count == k->order.count && !earlier))
            continue;
        if (read->count <= b->versions->branches[read->branch].unique)
            take_order(k, (struct rig_list){NULL, read->count}, read->txn, read->op);
    }
}

static enum rig_rc join_orders(struct build *b)
{
    for (uint32_t i = 0; i < b->irregular_count; i++) {
        struct rig_key_versions *k = &b->versions->keys[b->irregular[i]];
        if (k->order.at != NULL || k->order.count == 0)
            continue;
        struct rig_read_list list = rig_txn_op_list(b->history, rig_txn_ops(b->history, k->order_txn) + k->order_op);
        k->order.at = rig_read_whole(&list, b->arena);
        if (k->order.at == NULL)
            return no_memory(b->err);
    }
    return RIG_OK;
}

static enum rig_rc choose_orders(struct build *b)
{
    take_longest(b);
    if (!b->survey.any_branch)
        return RIG_OK;
    if (!rig_branches_collect(b->arena, b->versions, &b->branch_reads))
        return no_memory(b->err);
    for (uint32_t i = 0; i < b->branch_reads.count; i++)
        mark_irregular(b, b->branch_reads.at[i].key);
    enum rig_rc rc = limit_to_unique(b, 0);
    if (rc != RIG_OK)
        return rc;
    prefer_branches(b);
    return join_orders(b);
}

/* ---- places ---- */

static enum rig_rc lay_out_places(struct build *b)
{
    struct rig_versions *versions = b->versions;
    uint64_t total = 0;
    for (uint32_t key = 0; key < b->history->key_count; key++) {
        versions->key_places[key].place_first = (uint32_t)total + 1;
        total += (uint64_t)versions->keys[key].order.count + 2;
        if (total >= UINT32_MAX || versions->keys[key].order.count >= RIG_VERSION_UNPLACED)
            return rig_fail(b->err, RIG_E_LIMIT, "more than 2^31 elements were read; check a shorter history");
    }
    versions->places = rig_arena_room(b->arena, (size_t)total + 1, sizeof *versions->places);
    return versions->places == NULL ? no_memory(b->err) : RIG_OK;
}

static uint32_t place_of(const struct rig_append *slot)
{
    return slot->writer | (slot->superseded ? RIG_PLACE_SUPERSEDED : 0);
}

/* The usual case: all elements of the order are different versions. False, with nothing changed, when they are not. */
static bool place_plainly(struct rig_versions *versions, uint32_t key)
{
    const struct rig_list order = versions->keys[key].order;
    uint32_t *places = versions->places + versions->key_places[key].place_first;
    uint32_t i;
    for (i = 0; i < order.count; i++) {
        struct rig_append *slot = rig_versions_find(versions, key, order.at[i]);
        if (slot == NULL || !versions->committed[slot->writer] || slot->position != RIG_VERSION_NONE)
            break;
        slot->position = i & RIG_VERSION_NONE;
        places[i] = place_of(slot);
    }
    if (i == order.count)
        return true;
    while (i-- > 0)
        rig_versions_append(versions, key, order.at[i])->position = RIG_VERSION_NONE;
    return false;
}

static void finish_plain(struct build *b, uint32_t key)
{
    struct rig_key_versions *k = &b->versions->keys[key];
    struct rig_key_places *at = &b->versions->key_places[key];
    bool unread = b->survey.counted[key] > k->order.count;
    b->versions->places[at->place_first - 1] = RIG_PLACE_END;
    b->versions->places[at->place_first + k->order.count] = unread ? RIG_PLACE_IRREGULAR : RIG_PLACE_END;
    at->clean = k->spine_agrees = k->spine_unique = k->order.count;
    k->spine_aborted = k->spine_garbage = UINT32_MAX;
    at->visitor = RIG_TXN_NONE;
}

/* Marks the end of the spine's agreement with the order, and its first elements that no committed read may show. */
static void inspect_spine(struct build *b, uint32_t key, uint32_t spine_count)
{
    const struct rig_history *history = b->history;
    struct rig_key_versions *k = &b->versions->keys[key];
    const int64_t *spine = history->spines[key].at;
    k->spine_aborted = k->spine_garbage = UINT32_MAX;
    k->spine_agrees = 0;
    if (k->order.at == spine)
        k->spine_agrees = k->order.count;
    else
        while (k->spine_agrees < spine_count && k->spine_agrees < k->order.count &&
               spine[k->spine_agrees] == k->order.at[k->spine_agrees])
            k->spine_agrees++;
    for (uint32_t i = 0; i < spine_count; i++) {
        const struct rig_append *slot = rig_versions_find(b->versions, key, spine[i]);
        if (slot == NULL && k->spine_garbage == UINT32_MAX)
            k->spine_garbage = i;
        if (slot != NULL && k->spine_aborted == UINT32_MAX && history->txns[slot->writer].outcome == RIG_OUTCOME_FAIL)
            k->spine_aborted = i;
    }
}

/* The nearest versions on both sides of each position. */
static enum rig_rc bridge_gaps(struct build *b, uint32_t key)
{
    struct rig_versions *versions = b->versions;
    uint32_t first = versions->key_places[key].place_first, count = versions->keys[key].order.count;
    if (versions->before_at == NULL) {
        uint32_t last = b->history->key_count - 1;
        size_t total = (size_t)versions->key_places[last].place_first + versions->keys[last].order.count + 2;
        versions->before_at = rig_arena_room(b->arena, total, sizeof *versions->before_at);
        versions->from_at = rig_arena_room(b->arena, total, sizeof *versions->from_at);
        if (versions->before_at == NULL || versions->from_at == NULL)
            return no_memory(b->err);
    }
    versions->keys[key].gaps = true;
    uint32_t nearest = RIG_VERSION_NONE;
    for (uint32_t i = 0; i < count; i++) {
        nearest = versions->places[first + i] & RIG_PLACE_NO_VERSION ? nearest : i;
        versions->before_at[first + i] = nearest;
    }
    nearest = RIG_VERSION_NONE;
    for (uint32_t i = count; i-- > 0;) {
        nearest = versions->places[first + i] & RIG_PLACE_NO_VERSION ? nearest : i;
        versions->from_at[first + i] = nearest;
    }
    return RIG_OK;
}

static enum rig_rc place_carefully(struct build *b, uint32_t key)
{
    struct rig_versions *versions = b->versions;
    struct rig_key_versions *k = &versions->keys[key];
    struct rig_key_places *at = &versions->key_places[key];
    uint32_t spine_count = b->survey.keys[key].longest > 0 ? b->survey.keys[key].longest - 1 : 0;
    inspect_spine(b, key, spine_count);
    uint32_t *places = versions->places + at->place_first;
    uint32_t plain = k->order.count;
    places[-1] = RIG_PLACE_END;
    for (uint32_t i = k->order.count; i-- > 0;) {
        struct rig_append *slot = rig_versions_find(versions, key, k->order.at[i]);
        bool version = slot != NULL && versions->committed[slot->writer];
        if (slot != NULL)
            slot->position = i & RIG_VERSION_NONE;
        places[i] = version ? place_of(slot) : RIG_PLACE_IRREGULAR;
        plain = version ? plain : i;
    }
    places[k->order.count] = RIG_PLACE_IRREGULAR;
    at->clean = k->spine_agrees < plain ? k->spine_agrees : plain;
    RIG_INVARIANT(k->spine_agrees <= k->order.count && k->spine_agrees <= b->history->spines[key].count);
    at->visitor = RIG_TXN_NONE;
    /* Elements that committed reads show outside the order have no place in it, but are not unread either. */
    if (spine_count > k->spine_agrees) {
        struct rig_read_list spine = rig_read_of(b->history->spines[key], spine_count);
        rig_mark_unplaced(versions, key, &spine);
    }
    return plain < k->order.count ? bridge_gaps(b, key) : RIG_OK;
}

void rig_versions_contest(const struct rig_versions *versions, uint32_t key)
{
    struct rig_key_places *at = &versions->key_places[key];
    versions->keys[key].contested = true;
    /* No transaction that used the key is plain any more (list_inference.c). */
    at->clean = 0;
    versions->places[at->place_first - 1] = RIG_PLACE_IRREGULAR;
}

static void contest_at(const struct rig_versions *versions, uint32_t key, uint32_t count, uint32_t agrees)
{
    const struct rig_list *order = &versions->keys[key].order;
    if (agrees < count && agrees < order->count)
        rig_versions_contest(versions, key);
}

/* Finds keys with two committed reads of which neither is a prefix of the other. */
static void find_contested(const struct build *b)
{
    for (uint32_t i = 0; i < b->irregular_count; i++) {
        uint32_t key = b->irregular[i], longest = b->survey.keys[key].longest;
        contest_at(b->versions, key, longest > 0 ? longest - 1 : 0, b->versions->keys[key].spine_agrees);
    }
    for (uint32_t i = 0; i < b->branch_reads.count; i++) {
        const struct rig_branch_read *read = &b->branch_reads.at[i];
        contest_at(b->versions, read->key, read->count, b->versions->branches[read->branch].agrees);
    }
}

static enum rig_rc place_versions(struct build *b)
{
    struct rig_versions *versions = b->versions;
    uint32_t known = b->irregular_count;
    for (uint32_t key = 0; key < b->history->key_count; key++) {
        if (b->is_irregular[key])
            continue;
        if (place_plainly(versions, key))
            finish_plain(b, key);
        else
            mark_irregular(b, key);
    }
    enum rig_rc rc = limit_to_unique(b, known);
    RIG_INVARIANT(b->irregular_count <= b->history->key_count);
    for (uint32_t i = 0; rc == RIG_OK && i < b->irregular_count; i++)
        rc = place_carefully(b, b->irregular[i]);
    if (rc == RIG_OK && b->branch_reads.count > 0)
        rig_branches_inspect(versions, &b->branch_reads);
    if (rc == RIG_OK)
        find_contested(b);
    return rc;
}

static enum rig_rc find_orders(struct build *b)
{
    size_t key_count = (size_t)b->history->key_count + 1;
    b->irregular = rig_arena_room(b->arena, key_count, sizeof *b->irregular);
    b->is_irregular = rig_arena_array(b->arena, key_count, sizeof *b->is_irregular);
    if (b->irregular == NULL || b->is_irregular == NULL)
        return no_memory(b->err);
    enum rig_rc rc = choose_orders(b);
    if (rc == RIG_OK)
        rc = lay_out_places(b);
    return rc == RIG_OK ? place_versions(b) : rc;
}

enum rig_rc rig_versions_build(const struct rig_history *history, struct rig_arena *arena,
                               struct rig_versions *versions, struct rig_err *err)
{
    struct rig_versions result = {.history = history};
    struct build build = {.history = history, .versions = &result, .arena = arena, .err = err};
    enum rig_rc rc = rig_survey_take(history, arena, &build.survey, err);
    result.committed = build.survey.committed;
    if (rc == RIG_OK)
        rc = rig_appends_list(&build.survey, arena, &result, err);
    rig_survey_end(&build.survey);
    if (rc == RIG_OK && build.survey.open_count > 0)
        rc = find_committed(&build);
    if (rc == RIG_OK)
        rc = find_orders(&build);
    if (rc != RIG_OK)
        return rc;
    result.committed_count = build.survey.committed_count;
    result.ok_count = build.survey.ok_count;
    result.fail_count = build.survey.fail_count;
    result.counted_ops = result.counted_reads = build.survey.counted_ops;
    for (uint32_t key = 0; key < history->key_count; key++)
        result.counted_reads -= build.survey.counted[key];
    *versions = result;
    RIG_INVARIANT(result.committed_count >= result.ok_count && result.counted_ops <= history->op_count);
    RIG_INVARIANT(result.counted_reads <= result.counted_ops);
    RIG_COSTLY(rig_versions_are_sound(versions));
    return RIG_OK;
}

uint32_t rig_versions_before(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    const struct rig_key_versions *k = &versions->keys[key];
    RIG_REQUIRE(position <= k->order.count);
    if (position == 0)
        return RIG_VERSION_NONE;
    return k->gaps ? versions->before_at[versions->key_places[key].place_first + position - 1] : position - 1;
}

uint32_t rig_versions_from(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    const struct rig_key_versions *k = &versions->keys[key];
    RIG_REQUIRE(position <= k->order.count);
    if (position == k->order.count)
        return RIG_VERSION_NONE;
    return k->gaps ? versions->from_at[versions->key_places[key].place_first + position] : position;
}

bool rig_versions_is_prefix(const struct rig_versions *versions, const struct rig_txn_op *op)
{
    if (op->read_state != RIG_READ_SEEN || op->count == 0)
        return true;
    uint32_t agrees =
        rig_txn_op_is_branch(op) ? rig_branch_facts(versions, op)->agrees : versions->keys[op->key].spine_agrees;
    return op->count <= agrees;
}
