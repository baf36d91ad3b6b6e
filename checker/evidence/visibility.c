#include "checker/evidence/visibility.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/table.h"

static const struct rig_certificate *certificate_of(const struct rig_visibility *v)
{
    return v->history->certificate;
}

static const struct rig_txn_views *views_of(const struct rig_visibility *v)
{
    return &v->history->certificate->views;
}

/* ---- ranks ---- */

struct numbered {
    uint64_t id;
    uint32_t commit;
};

static int compare_numbered(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Chooses the length of a step so that there are no more steps than commits. */
static bool index_ids(struct rig_visibility *v, uint32_t count, struct rig_arena *arena)
{
    const uint64_t span = count == 0 ? 0 : v->ids[count - 1] - v->ids[0];
    while (span >> v->step_bits > count)
        v->step_bits++;
    v->step_count = (span >> v->step_bits) + 1;
    v->steps = rig_arena_array(arena, (size_t)v->step_count + 1, sizeof *v->steps);
    if (v->steps == NULL)
        return false;
    uint64_t step = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        while (step <= (v->ids[rank] - v->ids[0]) >> v->step_bits)
            v->steps[step++] = rank;
    }
    while (step <= v->step_count)
        v->steps[step++] = count;
    RIG_INVARIANT(step == v->step_count + 1);
    return true;
}

/* Orders the commits by number; `*distinct`: each has one of its own. */
static bool rank_commits(struct rig_visibility *v, struct rig_arena *arena, bool *distinct)
{
    const struct rig_commit_vec *commits = &certificate_of(v)->commits;
    struct numbered *sorted = rig_arena_array(arena, commits->count + 1, sizeof *sorted);
    v->ranks = rig_arena_array(arena, commits->count + 1, sizeof *v->ranks);
    v->by_rank = rig_arena_array(arena, commits->count + 1, sizeof *v->by_rank);
    v->ids = rig_arena_array(arena, commits->count + 1, sizeof *v->ids);
    if (sorted == NULL || v->ranks == NULL || v->by_rank == NULL || v->ids == NULL)
        return false;
    for (uint32_t i = 0; i < commits->count; i++)
        sorted[i] = (struct numbered){.id = commits->at[i].id, .commit = i};
    qsort(sorted, commits->count, sizeof *sorted, compare_numbered);
    *distinct = commits->count == 0 || sorted[0].id != 0;
    for (uint32_t rank = 0; rank < commits->count; rank++) {
        RIG_INVARIANT(rank == 0 || sorted[rank - 1].id <= sorted[rank].id);
        v->by_rank[rank] = sorted[rank].commit;
        v->ids[rank] = sorted[rank].id;
        v->ranks[sorted[rank].commit] = rank;
        *distinct &= rank == 0 || sorted[rank - 1].id != sorted[rank].id;
    }
    return index_ids(v, (uint32_t)commits->count, arena);
}

/* The number of commits whose number is below `id`. */
static uint32_t rank_of(const struct rig_visibility *v, uint64_t id)
{
    const uint32_t count = (uint32_t)certificate_of(v)->commits.count;
    const uint64_t step = count == 0 || id <= v->ids[0] ? 0 : (id - v->ids[0]) >> v->step_bits;
    if (count == 0 || id <= v->ids[0] || step >= v->step_count)
        return step == 0 ? 0 : count;
    uint32_t low = v->steps[step], high = v->steps[step + 1];
    while (low < high)
        rig_halve(&low, &high, v->ids[rig_middle(low, high)] < id);
    RIG_INVARIANT(low == count || v->ids[low] >= id);
    RIG_INVARIANT(low == 0 || v->ids[low - 1] < id);
    return low;
}

/* ---- views ---- */

/* A view of operations that the transaction does not have is not its own. */
static bool is_view_of(const struct rig_history *history, uint32_t view, uint32_t txn)
{
    RIG_REQUIRE(view < history->certificate->views.views.count && txn < history->txn_count);
    const struct rig_txn_views *views = &history->certificate->views;
    const uint32_t rows = rig_txn_view_row_count(views, view);
    return rows > 0 && rig_txn_view_rows(views, view)[rows - 1].op < rig_txn_op_count(history, txn);
}

static bool find_views(struct rig_visibility *v, struct rig_arena *arena)
{
    const struct rig_history *history = v->history;
    const struct rig_txn_view_vec *views = &views_of(v)->views;
    struct rig_table numbers;
    bool done = true;
    v->view_of = rig_arena_array(arena, (size_t)history->txn_count + 1, sizeof *v->view_of);
    if (v->view_of == NULL)
        return false;
    rig_table_init(&numbers);
    for (uint32_t i = 0; i < views->count && done; i++) {
        uint32_t *at = rig_table_put(&numbers, views->at[i].number);
        done = at != NULL;
        if (done)
            *at = i;
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const int64_t number = views->count == 0 ? RIG_COLUMN_NONE : rig_history_column(history, txn, RIG_COLUMN_VIEW);
        const uint32_t view = number == RIG_COLUMN_NONE ? RIG_TABLE_NONE : rig_table_get(&numbers, (uint64_t)number);
        v->view_of[txn] = view != RIG_TABLE_NONE && is_view_of(history, view, txn) ? view : RIG_VIEW_NONE;
    }
    rig_table_done(&numbers);
    return done;
}

/* ---- snapshots ---- */

static void add_hole(struct rig_visibility *v, struct rig_shown *shown, uint64_t id)
{
    const uint32_t rank = rank_of(v, id);
    if (rank < shown->limit && v->ids[rank] == id)
        v->holes[shown->first_hole + shown->hole_count++] = rank;
}

/* The transactions in progress, and the snapshot's own. */
static void show(struct rig_visibility *v, uint32_t snapshot, uint32_t first_hole)
{
    RIG_REQUIRE(snapshot < views_of(v)->snapshots.count);
    const struct rig_snapshot *of = &views_of(v)->snapshots.at[snapshot];
    const uint64_t own = views_of(v)->views.at[of->view].id;
    struct rig_shown *shown = &v->shown[snapshot];
    bool added = own == 0 || own >= of->xmax;
    shown->limit = rank_of(v, of->xmax);
    shown->first_hole = first_hole;
    for (uint32_t i = 0; i < of->active_count; i++) {
        const uint64_t active = views_of(v)->active.at[of->first_active + i];
        if (!added && own <= active) {
            added = true;
            if (own < active)
                add_hole(v, shown, own);
        }
        add_hole(v, shown, active);
    }
    if (!added)
        add_hole(v, shown, own);
    RIG_INVARIANT(shown->hole_count <= of->active_count + 1);
}

/* Per rank the last invocation among the writers up to it. */
static uint32_t *find_last_invocations(const struct rig_visibility *v, const uint32_t *writers, struct rig_arena *arena)
{
    const size_t count = certificate_of(v)->commits.count;
    uint32_t *last = rig_arena_array(arena, count + 1, sizeof *last);
    uint32_t latest = 0;
    for (size_t rank = 0; last != NULL && rank < count; rank++) {
        const uint32_t txn = writers[v->by_rank[rank]];
        RIG_REQUIRE(txn == RIG_VIEW_NONE || txn < v->history->txn_count);
        const uint32_t at = txn == RIG_VIEW_NONE ? 0 : v->history->txns[txn].invoke_at;
        latest = at != RIG_POSITION_NONE && at > latest ? at : latest;
        last[rank] = latest;
    }
    return last;
}

static bool show_all(struct rig_visibility *v, const uint32_t *writers, struct rig_arena *arena)
{
    const struct rig_txn_views *views = views_of(v);
    v->shown = rig_arena_array(arena, views->snapshots.count + 1, sizeof *v->shown);
    v->holes = rig_arena_array(arena, views->active.count + views->snapshots.count + 1, sizeof *v->holes);
    v->chain = rig_arena_array(arena, views->snapshots.count + 1, sizeof *v->chain);
    const uint32_t *last = find_last_invocations(v, writers, arena);
    if (v->shown == NULL || v->holes == NULL || v->chain == NULL || last == NULL)
        return false;
    for (uint32_t i = 0; i < views->snapshots.count; i++) {
        const struct rig_snapshot *of = &views->snapshots.at[i];
        v->shown[i].txn = RIG_VIEW_NONE;
        show(v, i, of->first_active + i); /* one more hole each */
    }
    for (uint32_t txn = 0; txn < v->history->txn_count; txn++) {
        const uint32_t view = v->view_of[txn], rows = view == RIG_VIEW_NONE ? 0 : rig_txn_view_row_count(views, view);
        for (uint32_t i = 0; i < rows; i++) {
            const uint32_t snapshot = rig_txn_view_rows(views, view)[i].snapshot;
            if (snapshot != RIG_SNAPSHOT_NONE)
                v->shown[snapshot].txn = txn;
        }
    }
    for (uint32_t i = 0; i < views->snapshots.count; i++) {
        struct rig_shown *shown = &v->shown[i];
        if (shown->txn == RIG_VIEW_NONE || views->views.at[views->snapshots.at[i].view].standby ||
            v->history->txns[shown->txn].outcome != RIG_OUTCOME_OK)
            continue;
        shown->usable = shown->limit == 0 || last[shown->limit - 1] < v->history->txns[shown->txn].complete_at;
        v->set_aside += !shown->usable;
        if (shown->usable)
            v->chain[v->chain_count++] = i;
    }
    RIG_INVARIANT(v->chain_count <= views->snapshots.count);
    return true;
}

static bool bound_numbers(struct rig_visibility *v, struct rig_arena *arena)
{
    const struct rig_commit_vec *commits = &certificate_of(v)->commits;
    v->least_after = rig_arena_array(arena, commits->count + 1, sizeof *v->least_after);
    v->most_until = rig_arena_array(arena, commits->count + 1, sizeof *v->most_until);
    if (v->least_after == NULL || v->most_until == NULL)
        return false;
    for (size_t i = 0; i < commits->count; i++) {
        const uint64_t id = commits->at[i].id, before = i == 0 ? 0 : v->most_until[i - 1];
        v->most_until[i] = id > before ? id : before;
    }
    for (size_t i = commits->count; i-- > 0;) {
        const uint64_t id = commits->at[i].id, after = i + 1 == commits->count ? UINT64_MAX : v->least_after[i + 1];
        v->least_after[i] = id < after ? id : after;
    }
    return true;
}

/* ---- the chain ---- */

struct sized {
    uint32_t prefix, snapshot;
};

static int compare_sized(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    if (a->prefix != b->prefix)
        return (a->prefix > b->prefix) - (a->prefix < b->prefix);
    return (a->snapshot > b->snapshot) - (a->snapshot < b->snapshot);
}

static bool sort_chain(struct rig_visibility *v, struct rig_arena *arena)
{
    struct sized *sized = rig_arena_array(arena, (size_t)v->chain_count + 1, sizeof *sized);
    if (sized == NULL)
        return false;
    for (uint32_t i = 0; i < v->chain_count; i++)
        sized[i] = (struct sized){.prefix = rig_visibility_prefix(v, v->chain[i]), .snapshot = v->chain[i]};
    qsort(sized, v->chain_count, sizeof *sized, compare_sized);
    for (uint32_t i = 0; i < v->chain_count; i++) {
        RIG_INVARIANT(i == 0 || sized[i - 1].prefix <= sized[i].prefix);
        v->chain[i] = sized[i].snapshot;
    }
    return true;
}

static void find_forks(struct rig_visibility *v)
{
    for (uint32_t i = 1; i < v->chain_count; i++) {
        if (rig_visibility_difference(v, v->chain[i - 1], v->chain[i]) == RIG_COMMIT_NONE)
            continue;
        v->fork_at = v->forks++ == 0 ? i - 1 : v->fork_at;
    }
}

/* The first place in the chain whose snapshot shows the commit. */
static uint32_t find_first(const struct rig_visibility *v, uint32_t commit)
{
    uint32_t low = 0, high = v->chain_count;
    while (low < high)
        rig_halve(&low, &high, !rig_visibility_sees(v, v->chain[rig_middle(low, high)], commit));
    RIG_INVARIANT(low == v->chain_count || rig_visibility_sees(v, v->chain[low], commit));
    return low;
}

static bool order_commits(struct rig_visibility *v, struct rig_arena *arena)
{
    RIG_REQUIRE(v->forks == 0);
    const uint32_t count = (uint32_t)certificate_of(v)->commits.count;
    uint32_t *starts = rig_arena_array(arena, (size_t)v->chain_count + 2, sizeof *starts);
    v->first = rig_arena_array(arena, (size_t)count + 1, sizeof *v->first);
    v->order = rig_arena_array(arena, (size_t)count + 1, sizeof *v->order);
    v->places = rig_arena_array(arena, (size_t)count + 1, sizeof *v->places);
    if (starts == NULL || v->first == NULL || v->order == NULL || v->places == NULL)
        return false;
    for (uint32_t commit = 0; commit < count; commit++)
        starts[(v->first[commit] = find_first(v, commit)) + 1]++;
    for (uint32_t i = 1; i <= v->chain_count; i++)
        starts[i] += starts[i - 1];
    for (uint32_t commit = 0; commit < count; commit++) {
        v->places[commit] = starts[v->first[commit]]++;
        RIG_INVARIANT(v->places[commit] < count);
        v->order[v->places[commit]] = commit;
    }
    return true;
}

bool rig_visibility_build(const struct rig_history *history, const uint32_t *writers, struct rig_arena *arena,
                          struct rig_visibility *visibility)
{
    bool distinct = false;
    RIG_REQUIRE(history->certificate != NULL);
    *visibility = (struct rig_visibility){.history = history};
    if (!find_views(visibility, arena) || !rank_commits(visibility, arena, &distinct) ||
        !bound_numbers(visibility, arena) || !show_all(visibility, writers, arena))
        return false;
    if (!distinct) {
        for (uint32_t i = 0; i < visibility->chain_count; i++)
            visibility->shown[visibility->chain[i]].usable = false;
        visibility->set_aside += visibility->chain_count;
        visibility->chain_count = 0;
    }
    if (!sort_chain(visibility, arena))
        return false;
    find_forks(visibility);
    return visibility->forks > 0 || order_commits(visibility, arena);
}

/* ---- questions ---- */

const struct rig_txn_view_row *rig_visibility_rows(const struct rig_visibility *visibility, uint32_t txn, uint32_t op,
                                                   uint32_t *count)
{
    RIG_REQUIRE(txn < visibility->history->txn_count);
    const struct rig_txn_views *views = views_of(visibility);
    const uint32_t view = visibility->view_of[txn],
                   rows = view == RIG_VIEW_NONE ? 0 : rig_txn_view_row_count(views, view);
    const struct rig_txn_view_row *at = view == RIG_VIEW_NONE ? NULL : rig_txn_view_rows(views, view), *end = at + rows;
    while (at < end && at->op < op)
        at++;
    *count = 0;
    while (at + *count < end && at[*count].op == op)
        ++*count;
    return at;
}

uint32_t rig_visibility_snapshot(const struct rig_visibility *visibility, uint32_t txn, uint32_t op)
{
    uint32_t count;
    const struct rig_txn_view_row *row = rig_visibility_rows(visibility, txn, op, &count);
    return count == 0 ? RIG_SNAPSHOT_NONE : row->snapshot;
}

bool rig_visibility_sees(const struct rig_visibility *visibility, uint32_t snapshot, uint32_t commit)
{
    RIG_REQUIRE(snapshot < views_of(visibility)->snapshots.count && visibility->shown[snapshot].usable);
    RIG_REQUIRE(commit < certificate_of(visibility)->commits.count);
    const struct rig_shown *shown = &visibility->shown[snapshot];
    const uint32_t rank = visibility->ranks[commit];
    const uint32_t *holes = visibility->holes + shown->first_hole;
    uint32_t low = 0, high = shown->hole_count;
    if (rank >= shown->limit)
        return false;
    while (low < high)
        rig_halve(&low, &high, holes[rig_middle(low, high)] < rank);
    return low == shown->hole_count || holes[low] != rank;
}

uint32_t rig_visibility_prefix(const struct rig_visibility *visibility, uint32_t snapshot)
{
    RIG_REQUIRE(snapshot < views_of(visibility)->snapshots.count);
    const struct rig_shown *shown = &visibility->shown[snapshot];
    RIG_INVARIANT(shown->hole_count <= shown->limit);
    return shown->limit - shown->hole_count;
}

uint32_t rig_visibility_difference(const struct rig_visibility *visibility, uint32_t a, uint32_t b)
{
    RIG_REQUIRE(a < views_of(visibility)->snapshots.count && b < views_of(visibility)->snapshots.count);
    RIG_REQUIRE(visibility->shown[a].usable && visibility->shown[b].usable);
    const struct rig_shown *of = &visibility->shown[a], *other = &visibility->shown[b];
    const uint32_t *holes = visibility->holes + of->first_hole, *others = visibility->holes + other->first_hole;
    uint32_t at = 0;
    for (uint32_t i = 0; i < other->hole_count && others[i] < of->limit; i++) {
        while (at < of->hole_count && holes[at] < others[i])
            at++;
        if (at == of->hole_count || holes[at] != others[i])
            return visibility->by_rank[others[i]];
    }
    while (at < of->hole_count && holes[at] < other->limit)
        at++;
    for (uint32_t rank = other->limit; rank < of->limit; rank++, at++) {
        if (at == of->hole_count || holes[at] != rank)
            return visibility->by_rank[rank];
    }
    return RIG_COMMIT_NONE;
}

uint32_t rig_visibility_find(const struct rig_visibility *visibility, uint64_t id)
{
    const uint32_t rank = rank_of(visibility, id);
    return rank < certificate_of(visibility)->commits.count && visibility->ids[rank] == id ? visibility->by_rank[rank]
                                                                                           : RIG_COMMIT_NONE;
}

/* The first commit whose value is at least `id`; `values` ascend. */
static uint32_t find_least(const uint64_t *values, uint32_t count, uint64_t id)
{
    uint32_t low = 0, high = count;
    while (low < high)
        rig_halve(&low, &high, values[rig_middle(low, high)] < id);
    return low;
}

/* Commits below xmin had ended when the standby showed them; those from xmax on it did not know. */
bool rig_visibility_bounds(const struct rig_visibility *visibility, uint32_t snapshot, uint32_t *least, uint32_t *most)
{
    RIG_REQUIRE(snapshot < views_of(visibility)->snapshots.count);
    const struct rig_snapshot *of = &views_of(visibility)->snapshots.at[snapshot];
    const uint32_t count = (uint32_t)certificate_of(visibility)->commits.count;
    *least = find_least(visibility->least_after, count, of->xmin);
    *most = find_least(visibility->most_until, count, of->xmax);
    return *least <= *most;
}
