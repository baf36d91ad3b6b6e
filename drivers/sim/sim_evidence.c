#include "drivers/sim/sim_evidence.h"

#include <string.h>

enum { FIRST_NUMBER = 700 };

void rig_sim_seen_views_done(struct rig_sim_seen_views *seen)
{
    rig_sim_view_rows_done(&seen->rows);
    rig_sim_snapshot_texts_done(&seen->snapshots);
    rig_sim_numbers_done(&seen->active);
}

void rig_sim_seen_views_clear(struct rig_sim_seen_views *seen)
{
    seen->rows.count = seen->snapshots.count = seen->active.count = 0;
}

void rig_sim_evidence_done(struct rig_sim_evidence *evidence)
{
    rig_sim_numbers_done(&evidence->active);
    rig_sim_numbers_done(&evidence->since);
    rig_sim_logged_vec_done(&evidence->commits);
    rig_sim_changes_done(&evidence->changes);
    rig_sim_views_done(&evidence->views);
    rig_sim_seen_views_done(&evidence->seen);
}

/* ---- transactions ---- */

uint64_t rig_sim_evidence_enter(struct rig_sim_evidence *evidence)
{
    const uint64_t number = evidence->last_number == 0 ? FIRST_NUMBER : evidence->last_number + 1;
    if (!rig_sim_numbers_add(&evidence->active, number))
        return 0;
    evidence->last_number = number;
    return number;
}

void rig_sim_evidence_leave(struct rig_sim_evidence *evidence, uint64_t number)
{
    size_t at = 0;
    while (at < evidence->active.count && evidence->active.at[at] != number)
        at++;
    if (at == evidence->active.count)
        return;
    evidence->active.count--;
    memmove(evidence->active.at + at, evidence->active.at + at + 1,
            (evidence->active.count - at) * sizeof evidence->active.at[0]);
}

bool rig_sim_evidence_log(struct rig_sim_evidence *evidence, uint64_t number, const struct rig_sim_changes *changes)
{
    const struct rig_sim_logged commit = {.number = number, .first_change = evidence->changes.count};
    if (!rig_sim_numbers_reserve(&evidence->since, evidence->since.count + 1) ||
        !rig_sim_changes_reserve(&evidence->changes, evidence->changes.count + changes->count) ||
        !rig_sim_logged_vec_add(&evidence->commits, commit))
        return false;
    evidence->since.at[evidence->since.count++] = number;
    for (size_t i = 0; i < changes->count; i++)
        evidence->changes.at[evidence->changes.count++] = changes->at[i];
    return true;
}

/* ---- snapshots ---- */

/* Keeps the numbers from `first` on ascending: the last one goes to its place. */
static void sift(struct rig_sim_numbers *numbers, size_t first)
{
    size_t at = numbers->count - 1;
    const uint64_t number = numbers->at[at];
    for (; at > first && numbers->at[at - 1] > number; at--)
        numbers->at[at] = numbers->at[at - 1];
    numbers->at[at] = number;
}

bool rig_sim_evidence_show(const struct rig_sim_evidence *evidence, uint64_t commit, uint64_t own,
                           struct rig_sim_seen_views *seen)
{
    const uint64_t next = evidence->last_number == 0 ? FIRST_NUMBER : evidence->last_number + 1;
    struct rig_sim_numbers *active = &seen->active;
    struct rig_sim_snapshot_text text = {.xmin = next, .xmax = next, .first_active = active->count};
    for (size_t i = 0; i < evidence->active.count; i++) {
        if (evidence->active.at[i] != own && !rig_sim_numbers_add(active, evidence->active.at[i]))
            return false;
    }
    for (size_t i = commit; i < evidence->since.count; i++) {
        if (!rig_sim_numbers_add(active, evidence->since.at[i]))
            return false;
        sift(active, text.first_active);
    }
    text.active_count = (uint32_t)(active->count - text.first_active);
    if (text.active_count > 0)
        text.xmin = active->at[text.first_active];
    return rig_sim_snapshot_texts_add(&seen->snapshots, text);
}

bool rig_sim_evidence_row(struct rig_sim_seen_views *seen, uint32_t op, uint64_t version, bool shown)
{
    const uint32_t last = seen->snapshots.count == 0 ? RIG_SIM_NO_SNAPSHOT : (uint32_t)seen->snapshots.count - 1;
    return rig_sim_view_rows_add(
        &seen->rows,
        (struct rig_sim_view_row){.op = op, .version = version, .snapshot = shown ? last : RIG_SIM_NO_SNAPSHOT});
}

uint64_t rig_sim_evidence_view(struct rig_sim_evidence *evidence, uint64_t own, bool single,
                               const struct rig_sim_seen_views *seen, bool *failed)
{
    struct rig_sim_seen_views *all = &evidence->seen;
    const size_t snapshots = all->snapshots.count, active = all->active.count;
    const struct rig_sim_view view = {.id = own, .single = single, .first_row = all->rows.count};
    if (!evidence->full || seen->rows.count == 0)
        return 0;
    if (!rig_sim_view_rows_reserve(&all->rows, all->rows.count + seen->rows.count) ||
        !rig_sim_snapshot_texts_reserve(&all->snapshots, snapshots + seen->snapshots.count) ||
        !rig_sim_numbers_reserve(&all->active, active + seen->active.count + 1) ||
        !rig_sim_views_add(&evidence->views, view)) {
        *failed = true;
        return 0;
    }
    for (size_t i = 0; i < seen->rows.count; i++) {
        struct rig_sim_view_row row = seen->rows.at[i];
        row.snapshot += row.snapshot == RIG_SIM_NO_SNAPSHOT ? 0 : (uint32_t)snapshots;
        all->rows.at[all->rows.count++] = row;
    }
    for (size_t i = 0; i < seen->snapshots.count; i++) {
        struct rig_sim_snapshot_text text = seen->snapshots.at[i];
        text.first_active += active;
        all->snapshots.at[all->snapshots.count++] = text;
    }
    for (size_t i = 0; i < seen->active.count; i++)
        all->active.at[all->active.count++] = seen->active.at[i];
    return evidence->views.count;
}

/* ---- the certificate ---- */

static bool give_commits(const struct rig_sim_evidence *evidence, const struct rig_certificate_sink *sink)
{
    for (size_t i = 0; i < evidence->commits.count; i++) {
        const struct rig_sim_logged *commit = &evidence->commits.at[i];
        const size_t end =
            i + 1 < evidence->commits.count ? evidence->commits.at[i + 1].first_change : evidence->changes.count;
        if (!sink->commit(sink->context, i + 1, commit->number, 1))
            return false;
        for (size_t at = commit->first_change; at < end; at++) {
            const struct rig_sim_change *change = &evidence->changes.at[at];
            const int64_t version[2] = {change->id, change->number};
            if (!sink->version(sink->context, change->key, version, 2))
                return false;
        }
    }
    return true;
}

static bool give_view(const struct rig_sim_evidence *evidence, size_t view, const struct rig_certificate_sink *sink)
{
    const struct rig_sim_seen_views *all = &evidence->seen;
    const struct rig_sim_view *of = &evidence->views.at[view];
    const size_t end = view + 1 < evidence->views.count ? evidence->views.at[view + 1].first_row : all->rows.count;
    uint32_t last = RIG_SIM_NO_SNAPSHOT;
    if (!sink->view(sink->context, view + 1, of->id, of->single, false))
        return false;
    for (size_t i = of->first_row; i < end; i++) {
        const struct rig_sim_view_row *row = &all->rows.at[i];
        const bool shown = row->snapshot != RIG_SIM_NO_SNAPSHOT, fresh = shown && row->snapshot != last;
        last = shown ? row->snapshot : last;
        const struct rig_sim_snapshot_text *text = fresh ? &all->snapshots.at[row->snapshot] : NULL;
        if (fresh && !sink->snapshot(sink->context, text->xmin, text->xmax, all->active.at + text->first_active,
                                     text->active_count))
            return false;
        if (!sink->row(sink->context, row->op, row->version, shown))
            return false;
    }
    return true;
}

bool rig_sim_evidence_give(const struct rig_sim_evidence *evidence, const struct rig_certificate_sink *sink)
{
    bool given = give_commits(evidence, sink);
    for (size_t i = 0; given && i < evidence->views.count; i++)
        given = give_view(evidence, i, sink);
    return given;
}
