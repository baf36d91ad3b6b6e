#include "checker/evidence/snapshot_judge.h"

#include "base/bug.h"
#include "base/halve.h"
#include "history/types/types.h"

#define NONE UINT32_MAX

struct judging {
    struct rig_comparison *comparison;
    const struct rig_history *history;
    const struct rig_certificate_chains *chains;
    const uint32_t *writers;
    struct rig_certified *into;
    const struct rig_visibility *visibility; /* the comparison's */
    uint32_t **commits;                      /* per key and place of its chain: the commit */
    uint32_t *commit_of;                     /* per transaction: its commit, or NONE */
    uint32_t *soonest; /* per place in the order of visibility: the commit from it on that was acknowledged first */
    uint8_t *inverted; /* per key: some snapshot shows a version, and not the one before it */
};

static const struct rig_certificate *certificate_of(const struct judging *c)
{
    return c->history->certificate;
}

static bool is_standby(const struct judging *c, uint32_t view)
{
    return certificate_of(c)->views.views.at[view].standby;
}

static bool is_usable(const struct judging *c, uint32_t snapshot)
{
    return snapshot != RIG_SNAPSHOT_NONE && c->visibility->shown[snapshot].usable;
}

/* `snapshot` and `commit`: what the operation must agree with, or NONE. */
static void note(struct judging *c, enum rig_discrepancy_kind kind, uint32_t txn, uint32_t op, uint32_t snapshot,
                 uint32_t commit)
{
    struct rig_discrepancy found = rig_discrepancy_at(kind, txn, op);
    found.snapshot = snapshot;
    found.commit = commit;
    rig_comparison_note(c->comparison, found);
}

/* ---- preparation ---- */

static bool find_commits(struct judging *c)
{
    const struct rig_certificate_chains *chains = c->chains;
    struct rig_arena *arena = &c->into->arena;
    const uint32_t key_count = c->history->key_count;
    c->commits = rig_arena_array(arena, (size_t)key_count + 1, sizeof *c->commits);
    uint32_t *all = rig_arena_array(arena, chains->slot_count + 1, sizeof *all);
    c->commit_of = rig_arena_array(arena, (size_t)c->history->txn_count + 1, sizeof *c->commit_of);
    c->inverted = rig_arena_array(arena, (size_t)key_count + 1, 1);
    if (c->commits == NULL || all == NULL || c->commit_of == NULL || c->inverted == NULL)
        return false;
    for (uint32_t key = 0; key < key_count; key++) {
        c->commits[key] = all;
        all += chains->keys[key].count;
    }
    for (size_t i = 0; i < chains->slot_count; i++) {
        RIG_INVARIANT(chains->slots[i].place < chains->keys[chains->slots[i].key].count);
        c->commits[chains->slots[i].key][chains->slots[i].place] = chains->slots[i].commit;
    }
    for (uint32_t txn = 0; txn < c->history->txn_count; txn++)
        c->commit_of[txn] = NONE;
    for (uint32_t commit = 0; commit < certificate_of(c)->commits.count; commit++) {
        if (c->writers[commit] != RIG_VIEW_NONE)
            c->commit_of[c->writers[commit]] = commit;
    }
    return true;
}

static uint32_t acknowledged_at(const struct judging *c, uint32_t commit)
{
    RIG_REQUIRE(commit == NONE || commit < certificate_of(c)->commits.count);
    const uint32_t txn = commit == NONE ? RIG_VIEW_NONE : c->writers[commit];
    return txn == RIG_VIEW_NONE ? RIG_POSITION_NONE : rig_txn_end(c->history, txn);
}

static bool find_soonest(struct judging *c)
{
    RIG_REQUIRE(c->visibility->order != NULL);
    const uint32_t count = (uint32_t)certificate_of(c)->commits.count;
    c->soonest = rig_arena_array(&c->into->arena, (size_t)count + 1, sizeof *c->soonest);
    if (c->soonest == NULL)
        return false;
    c->soonest[count] = NONE;
    for (uint32_t place = count; place-- > 0;) {
        const uint32_t commit = c->visibility->order[place], later = c->soonest[place + 1];
        c->soonest[place] = acknowledged_at(c, commit) < acknowledged_at(c, later) ? commit : later;
    }
    return true;
}

/* ---- snapshots ---- */

static void note_forks(struct judging *c)
{
    const struct rig_visibility *v = c->visibility;
    for (uint32_t i = v->fork_at; v->forks > 0 && i + 1 < v->chain_count; i++) {
        const uint32_t commit = rig_visibility_difference(v, v->chain[i], v->chain[i + 1]);
        if (commit == RIG_COMMIT_NONE)
            continue;
        struct rig_discrepancy found =
            rig_discrepancy_of_snapshot(c->comparison, RIG_DISCREPANCY_SNAPSHOT_FORK, v->chain[i]);
        found.commit = commit;
        found.other_snapshot = v->chain[i + 1];
        found.other_commit = rig_visibility_difference(v, v->chain[i + 1], v->chain[i]);
        RIG_INVARIANT(found.other_commit != RIG_COMMIT_NONE);
        rig_comparison_note(c->comparison, found);
    }
}

/* Per key, the first snapshot that shows a version is no earlier than that of the version before. */
static void compare_orders(struct judging *c)
{
    for (uint32_t key = 0; key < c->history->key_count; key++) {
        for (uint32_t i = 1; i < c->chains->keys[key].count; i++) {
            const uint32_t before = c->commits[key][i - 1], commit = c->commits[key][i];
            c->inverted[key] |= rig_comparison_order(c->comparison, before, commit, 0);
        }
    }
}

static void find_stale(struct judging *c)
{
    const struct rig_visibility *v = c->visibility;
    for (uint32_t i = 0; i < v->chain_count; i++) {
        const uint32_t snapshot = v->chain[i];
        const uint32_t commit = c->soonest[rig_visibility_prefix(v, snapshot)];
        const uint32_t invoked = c->history->txns[v->shown[snapshot].txn].invoke_at;
        if (commit == NONE || invoked == RIG_POSITION_NONE || acknowledged_at(c, commit) >= invoked)
            continue;
        struct rig_discrepancy found =
            rig_discrepancy_of_snapshot(c->comparison, RIG_DISCREPANCY_MISSED_COMMIT, snapshot);
        found.commit = commit;
        rig_comparison_note(c->comparison, found);
    }
}

/* ---- reads ---- */

/* The elements of the key's chain up to the last one that a snapshot shows. */
static uint32_t count_shown(const struct judging *c, uint32_t key, uint32_t snapshot)
{
    RIG_REQUIRE(is_usable(c, snapshot));
    uint32_t low = 0, high = c->chains->keys[key].count;
    while (c->inverted[key] && high > 0 && !rig_visibility_sees(c->visibility, snapshot, c->commits[key][high - 1]))
        high--;
    low = c->inverted[key] ? high : low;
    while (low < high)
        rig_halve(&low, &high, rig_visibility_sees(c->visibility, snapshot, c->commits[key][rig_middle(low, high)]));
    RIG_INVARIANT(low <= c->chains->keys[key].count);
    return low;
}

/* The elements that a read shows; NONE: not known, or no state of the chain. */
static uint32_t count_read(const struct judging *c, const struct rig_txn_op *op)
{
    if (op->read_state == RIG_READ_NIL)
        return 0;
    if (op->read_state != RIG_READ_SEEN)
        return NONE;
    if (rig_op_reads_sequence(op->kind))
        return rig_txn_op_list(c->history, op).count;
    const struct rig_certificate_slot *slot = rig_certificate_find(c->chains, op->key, op->value);
    return slot == NULL ? NONE : slot->place + 1;
}

/* The slot of the last element that the read shows; NULL: there is none. */
static const struct rig_certificate_slot *last_slot(const struct judging *c, const struct rig_txn_op *op)
{
    if (op->read_state != RIG_READ_SEEN)
        return NULL;
    if (!rig_op_reads_sequence(op->kind))
        return rig_certificate_find(c->chains, op->key, op->value);
    const struct rig_read_list list = rig_txn_op_list(c->history, op);
    return list.count == 0 ? NULL : rig_certificate_find(c->chains, op->key, rig_read_element(&list, list.count - 1));
}

/* The elements that the read of operation `at` must show, or NONE where that is not known. */
static uint32_t count_expected(const struct judging *c, uint32_t txn, uint32_t at, uint32_t snapshot)
{
    const struct rig_txn_op *op = rig_txn_ops(c->history, txn) + at;
    const struct rig_txn_op *own = rig_certificate_own_write(c->history, txn, at);
    if (own == NULL)
        return is_usable(c, snapshot) ? count_shown(c, op->key, snapshot) : NONE;
    const struct rig_certificate_slot *slot = rig_certificate_find(c->chains, op->key, own->value);
    RIG_INVARIANT(slot == NULL || slot->place < c->chains->keys[op->key].count);
    return slot == NULL || slot->commit != c->commit_of[txn] ? NONE : slot->place + 1;
}

static void compare_state(struct judging *c, uint32_t txn, uint32_t at, uint32_t snapshot)
{
    RIG_REQUIRE(rig_op_reads(rig_txn_ops(c->history, txn)[at].kind));
    const struct rig_txn_op *op = rig_txn_ops(c->history, txn) + at;
    const uint32_t expected = count_expected(c, txn, at, snapshot), shown = count_read(c, op);
    if (expected == NONE || shown == NONE)
        return;
    c->into->reads_compared++;
    if (shown == expected || (shown > expected && !certificate_of(c)->complete))
        return;
    note(c, RIG_DISCREPANCY_SNAPSHOT_MISMATCH, txn, at, snapshot,
         expected == 0 ? NONE : c->commits[op->key][expected - 1]);
}

/* The number that the writer's own statement showed for this value; 0: none. A part of a transaction after a savepoint
 * has a number of its own. */
static uint64_t number_by_writer(const struct judging *c, const struct rig_certificate_slot *slot)
{
    const uint32_t writer = c->writers[slot->commit];
    if (writer == RIG_VIEW_NONE)
        return 0;
    const struct rig_txn_op *ops = rig_txn_ops(c->history, writer);
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, writer); i++) {
        if (rig_op_reads(ops[i].kind) || ops[i].key != slot->key || ops[i].value != slot->value)
            continue;
        uint32_t count;
        const struct rig_txn_view_row *row = rig_visibility_rows(c->visibility, writer, i, &count);
        return count == 0 ? 0 : row[count - 1].version;
    }
    return 0;
}

static void compare_version(struct judging *c, uint32_t txn, uint32_t at, const struct rig_txn_view_row *row)
{
    const struct rig_certificate_slot *slot = last_slot(c, rig_txn_ops(c->history, txn) + at);
    if (slot == NULL || row->version == 0)
        return;
    struct rig_discrepancy found = rig_discrepancy_at(RIG_DISCREPANCY_VERSION_MISMATCH, txn, at);
    found.commit = slot->commit;
    rig_comparison_writer(c->comparison, found, row->version, number_by_writer(c, slot));
}

/* ---- writes ---- */

static void compare_number(struct judging *c, uint32_t txn)
{
    const uint32_t commit = c->commit_of[txn];
    if (c->chains->slot_count == 0 || !rig_comparison_has_other_number(c->comparison, txn, commit))
        return;
    uint32_t op = 0;
    while (op < rig_txn_op_count(c->history, txn) && rig_op_reads(rig_txn_ops(c->history, txn)[op].kind))
        op++;
    RIG_INVARIANT(op < rig_txn_op_count(c->history, txn)); /* it made a commit */
    note(c, RIG_DISCREPANCY_NUMBER_MISMATCH, txn, op, RIG_SNAPSHOT_NONE, commit);
}

/* Whether the one snapshot shows each version that the transaction overwrites. */
static void compare_overwritten(struct judging *c, uint32_t txn, uint32_t snapshot)
{
    RIG_REQUIRE(is_usable(c, snapshot));
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn); i++) {
        const struct rig_certificate_slot *slot =
            rig_op_reads(ops[i].kind) ? NULL : rig_certificate_find(c->chains, ops[i].key, ops[i].value);
        if (slot == NULL || slot->place == 0 || c->chains->keys[slot->key].irregular)
            continue;
        const uint32_t before = c->commits[slot->key][slot->place - 1];
        if (before == slot->commit || rig_visibility_sees(c->visibility, snapshot, before))
            continue;
        note(c, RIG_DISCREPANCY_UNSEEN_OVERWRITE, txn, i, snapshot, before);
    }
}

/* ---- transactions ---- */

/* All reads at a standby fit one prefix of the stream within what the snapshot allows. */
static void compare_standby(struct judging *c, uint32_t txn, uint32_t op, uint32_t snapshot)
{
    RIG_REQUIRE(snapshot < certificate_of(c)->views.snapshots.count && op < rig_txn_op_count(c->history, txn));
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    uint32_t least, most;
    bool fits = rig_visibility_bounds(c->visibility, snapshot, &least, &most);
    for (uint32_t i = 0; i < rig_txn_op_count(c->history, txn); i++) {
        uint32_t count;
        const struct rig_txn_view_row *row = rig_visibility_rows(c->visibility, txn, i, &count);
        const uint32_t shown = rig_op_reads(ops[i].kind) ? count_read(c, &ops[i]) : NONE;
        const struct rig_certificate_chain *chain = &c->chains->keys[ops[i].key];
        if (count != 1 || row->snapshot != snapshot || shown == NONE || shown > chain->count || chain->irregular)
            continue;
        c->into->reads_compared++;
        const uint32_t from = shown == 0 ? 0 : c->commits[ops[i].key][shown - 1] + 1;
        const uint32_t to = shown == chain->count ? most : c->commits[ops[i].key][shown];
        least = from > least ? from : least;
        most = to < most ? to : most;
    }
    if ((fits && least <= most) || !certificate_of(c)->complete)
        return;
    note(c, RIG_DISCREPANCY_SNAPSHOT_MISMATCH, txn, op, snapshot, NONE);
}

static void compare_rows(struct judging *c, uint32_t txn, uint32_t view)
{
    const struct rig_txn_views *views = &certificate_of(c)->views;
    const struct rig_txn_view_row *rows = rig_txn_view_rows(views, view);
    const struct rig_txn_op *ops = rig_txn_ops(c->history, txn);
    uint32_t last = RIG_SNAPSHOT_NONE;
    for (uint32_t i = 0; i < rig_txn_view_row_count(views, view); i++) {
        const uint32_t snapshot = rows[i].snapshot, at = rows[i].op;
        if (at >= rig_txn_op_count(c->history, txn))
            continue;
        if (views->views.at[view].single && last != RIG_SNAPSHOT_NONE && snapshot != last && is_usable(c, snapshot))
            rig_comparison_note(
                c->comparison, rig_discrepancy_of_snapshot(c->comparison, RIG_DISCREPANCY_UNSTEADY_SNAPSHOT, snapshot));
        if (is_standby(c, view) && c->chains->slot_count > 0 && snapshot != RIG_SNAPSHOT_NONE && snapshot != last)
            compare_standby(c, txn, at, snapshot);
        last = snapshot != RIG_SNAPSHOT_NONE ? snapshot : last;
        if (!rig_op_reads(ops[at].kind) || c->chains->keys[ops[at].key].irregular)
            continue;
        compare_version(c, txn, at, &rows[i]);
        if (!is_standby(c, view) && c->visibility->forks == 0)
            compare_state(c, txn, at, snapshot);
    }
}

/* Whether the one snapshot of the transaction is known; false for what is left out. */
static bool compare_txn(struct judging *c, uint32_t txn)
{
    RIG_REQUIRE(c->history->txns[txn].outcome == RIG_OUTCOME_OK);
    const uint32_t view = c->visibility->view_of[txn];
    if (view == RIG_VIEW_NONE)
        return false;
    const struct rig_txn_view_row *rows = rig_txn_view_rows(&certificate_of(c)->views, view);
    const uint32_t snapshot = rig_txn_view_row_count(&certificate_of(c)->views, view) == 0 ? NONE : rows->snapshot;
    compare_rows(c, txn, view);
    compare_number(c, txn);
    if (!certificate_of(c)->views.views.at[view].single || !is_usable(c, snapshot))
        return false;
    if (c->visibility->forks == 0)
        compare_overwritten(c, txn, snapshot);
    return true;
}

static bool is_clean(const struct rig_certified *certified)
{
    uint64_t count = certified->foreign_count;
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++)
        count += certified->counts[kind];
    return count == 0;
}

bool rig_snapshot_judge(struct rig_comparison *comparison, const struct rig_certificate_chains *chains,
                        const uint32_t *writers)
{
    const struct rig_history *history = comparison->history;
    struct rig_certified *certified = comparison->into;
    struct rig_visibility *v = &comparison->visibility;
    RIG_REQUIRE(history->certificate != NULL);
    struct judging c = {.comparison = comparison,
                        .history = history,
                        .chains = chains,
                        .writers = writers,
                        .into = certified,
                        .visibility = v};
    bool single = true;
    certified->view_count = history->certificate->views.views.count;
    if (certified->view_count == 0)
        return true;
    if (v->history == NULL && !rig_visibility_build(history, writers, &certified->arena, v))
        return false;
    if (!find_commits(&c))
        return false;
    certified->snapshot_count = v->chain_count;
    certified->set_aside = v->set_aside;
    note_forks(&c);
    if (v->forks == 0) {
        if (!find_soonest(&c))
            return false;
        compare_orders(&c);
        find_stale(&c);
    }
    for (uint32_t txn = 0; txn < history->txn_count && !comparison->failed; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK)
            single &= compare_txn(&c, txn);
    }
    certified->by_snapshots =
        single && is_clean(certified) && history->certificate->complete ? RIG_FATE_HELD : RIG_FATE_NOT_REFUTED;
    return !comparison->failed;
}
