#include "checker/evidence/comparison.h"

#include "base/bug.h"

struct rig_discrepancy rig_discrepancy_at(enum rig_discrepancy_kind kind, uint32_t txn, uint32_t op)
{
    return (struct rig_discrepancy){.kind = kind,
                                    .txn = txn,
                                    .op = op,
                                    .commit = RIG_COMMIT_NONE,
                                    .snapshot = RIG_SNAPSHOT_NONE,
                                    .other_snapshot = RIG_SNAPSHOT_NONE,
                                    .other_commit = RIG_COMMIT_NONE};
}

struct rig_discrepancy rig_discrepancy_of_snapshot(const struct rig_comparison *comparison,
                                                   enum rig_discrepancy_kind kind, uint32_t snapshot)
{
    const struct rig_txn_views *views = &comparison->history->certificate->views;
    RIG_REQUIRE(snapshot < views->snapshots.count && comparison->visibility.shown[snapshot].txn != RIG_VIEW_NONE);
    const uint32_t view = views->snapshots.at[snapshot].view;
    const struct rig_txn_view_row *rows = rig_txn_view_rows(views, view),
                                  *end = rows + rig_txn_view_row_count(views, view);
    while (rows < end && rows->snapshot != snapshot)
        rows++;
    RIG_INVARIANT(rows < end); /* each snapshot was taken for an operation */
    struct rig_discrepancy found = rig_discrepancy_at(kind, comparison->visibility.shown[snapshot].txn, rows->op);
    found.snapshot = snapshot;
    return found;
}

void rig_comparison_note(struct rig_comparison *comparison, struct rig_discrepancy found)
{
    const struct rig_history *history = comparison->history;
    struct rig_certified *into = comparison->into;
    RIG_REQUIRE(found.kind < RIG_DISCREPANCY_COUNT && found.txn < history->txn_count);
    RIG_REQUIRE(found.of_lost || found.commit == RIG_COMMIT_NONE || found.commit < history->certificate->commits.count);
    const uint64_t at = into->counts[found.kind]++;
    if (at >= RIG_DISCREPANCIES_KEPT)
        return;
    if (into->kept[found.kind] == NULL)
        into->kept[found.kind] = rig_arena_array(&into->arena, RIG_DISCREPANCIES_KEPT, sizeof *into->kept[found.kind]);
    comparison->failed |= into->kept[found.kind] == NULL;
    if (comparison->failed)
        return;
    found.name = rig_txn_name(history, found.txn);
    into->kept[found.kind][at] = found;
}

void rig_comparison_resolve(struct rig_comparison *comparison, bool exact, bool cannot)
{
    RIG_REQUIRE(!exact || !cannot);
    comparison->into->resolved_ok += exact;
    comparison->into->resolved_fail += cannot;
    comparison->into->open_count += !exact && !cannot;
}

bool rig_comparison_order(struct rig_comparison *comparison, uint32_t before, uint32_t commit, int64_t row)
{
    const struct rig_visibility *v = &comparison->visibility;
    RIG_REQUIRE(v->order != NULL);
    if (v->first[commit] >= v->first[before])
        return false;
    RIG_INVARIANT(v->first[commit] < v->chain_count);
    struct rig_discrepancy found =
        rig_discrepancy_of_snapshot(comparison, RIG_DISCREPANCY_VERSION_INVERSION, v->chain[v->first[commit]]);
    found.commit = commit;
    found.other_commit = before;
    found.row = row;
    rig_comparison_note(comparison, found);
    return true;
}

void rig_comparison_writer(struct rig_comparison *comparison, struct rig_discrepancy at, uint64_t named,
                           uint64_t by_writer)
{
    const struct rig_certificate *certificate = comparison->history->certificate;
    RIG_REQUIRE(named != 0 && at.commit < certificate->commits.count);
    const uint64_t id = certificate->commits.at[at.commit].id;
    comparison->into->versions_compared++;
    if (named == id || named == by_writer || (by_writer == 0 && named > id))
        return;
    const bool known = rig_visibility_find(&comparison->visibility, named) != RIG_COMMIT_NONE;
    at.kind = known ? RIG_DISCREPANCY_VERSION_MISMATCH : RIG_DISCREPANCY_UNKNOWN_VERSION;
    if (known || certificate->complete)
        rig_comparison_note(comparison, at);
}

bool rig_comparison_has_other_number(const struct rig_comparison *comparison, uint32_t txn, uint32_t commit)
{
    const struct rig_certificate *certificate = comparison->history->certificate;
    const uint32_t view = comparison->visibility.view_of[txn];
    const uint64_t id = view == RIG_VIEW_NONE ? 0 : certificate->views.views.at[view].id;
    return commit != RIG_COMMIT_NONE && id != 0 && certificate->commits.at[commit].id != id;
}
