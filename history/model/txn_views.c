#include "history/model/txn_views.h"

#include <string.h>

#include "base/bug.h"

void rig_txn_views_done(struct rig_txn_views *views)
{
    rig_txn_view_vec_done(&views->views);
    rig_txn_view_row_vec_done(&views->rows);
    rig_snapshot_vec_done(&views->snapshots);
    rig_id_vec_done(&views->active);
}

uint32_t rig_txn_view_row_count(const struct rig_txn_views *views, uint32_t view)
{
    RIG_REQUIRE(view < views->views.count);
    const size_t end = view + (size_t)1 < views->views.count ? views->views.at[view + 1].first_row : views->rows.count;
    return (uint32_t)end - views->views.at[view].first_row;
}

/* ---- building ---- */

bool rig_txn_views_add(struct rig_txn_views *views, const struct rig_txn_view *view)
{
    const struct rig_txn_view_vec *known = &views->views;
    struct rig_txn_view added = *view;
    if (known->count >= UINT32_MAX - 1 || views->rows.count >= UINT32_MAX - 1 ||
        (known->count > 0 && known->at[known->count - 1].number >= view->number))
        return false;
    added.first_row = (uint32_t)views->rows.count;
    return rig_txn_view_vec_add(&views->views, added);
}

bool rig_txn_views_add_snapshot(struct rig_txn_views *views, uint64_t xmin, uint64_t xmax, const uint64_t *active,
                                uint32_t count)
{
    RIG_REQUIRE(views->views.count > 0);
    const struct rig_snapshot snapshot = {.xmin = xmin,
                                          .xmax = xmax,
                                          .first_active = (uint32_t)views->active.count,
                                          .active_count = count,
                                          .view = (uint32_t)views->views.count - 1};
    for (uint32_t i = 0; i < count; i++) {
        if (active[i] < xmin || active[i] >= xmax || (i > 0 && active[i] <= active[i - 1]))
            return false;
    }
    if (xmin > xmax || views->snapshots.count >= RIG_SNAPSHOT_NONE - 1 || views->active.count + count >= UINT32_MAX ||
        !rig_id_vec_reserve(&views->active, views->active.count + count) ||
        !rig_snapshot_vec_add(&views->snapshots, snapshot))
        return false;
    if (count > 0)
        memcpy(views->active.at + views->active.count, active, count * sizeof *active);
    views->active.count += count;
    return true;
}

bool rig_txn_views_add_row(struct rig_txn_views *views, uint32_t op, uint64_t version, bool with_snapshot)
{
    RIG_REQUIRE(views->views.count > 0);
    const uint32_t view = (uint32_t)views->views.count - 1, rows = rig_txn_view_row_count(views, view);
    const size_t snapshots = views->snapshots.count;
    if ((rows > 0 && rig_txn_view_rows(views, view)[rows - 1].op > op) ||
        (with_snapshot && (snapshots == 0 || views->snapshots.at[snapshots - 1].view != view)) ||
        views->rows.count >= UINT32_MAX - 1)
        return false;
    return rig_txn_view_row_vec_add(
        &views->rows,
        (struct rig_txn_view_row){
            .version = version, .op = op, .snapshot = with_snapshot ? (uint32_t)snapshots - 1 : RIG_SNAPSHOT_NONE});
}
