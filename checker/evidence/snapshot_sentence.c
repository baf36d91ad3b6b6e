#include "checker/evidence/snapshot_sentence.h"

#include <inttypes.h>

#include "checker/explain/sentence.h"

/* Numbers in progress that are shown. */
enum { ACTIVE_SHOWN = 8 };

void rig_certificate_commit_sentence(const struct rig_certificate *certificate, uint32_t commit, struct rig_buf *text)
{
    const struct rig_commit *of = &certificate->commits.at[commit];
    char place[64];
    rig_certificate_place(certificate, commit, place);
    rig_buf_printf(text, "the commit at %s", place);
    if (of->id != 0)
        rig_buf_printf(text, " (transaction %" PRIu64 " of the database)", of->id);
}

/* As PostgreSQL writes it. */
static void add_snapshot(const struct rig_history *history, uint32_t snapshot, struct rig_buf *text)
{
    const struct rig_txn_views *views = &history->certificate->views;
    const struct rig_snapshot *of = &views->snapshots.at[snapshot];
    rig_buf_printf(text, "snapshot %" PRIu64 ":%" PRIu64 ":", of->xmin, of->xmax);
    for (uint32_t i = 0; i < of->active_count && i < ACTIVE_SHOWN; i++)
        rig_buf_printf(text, "%s%" PRIu64, i == 0 ? "" : ",", views->active.at[of->first_active + i]);
    if (of->active_count > ACTIVE_SHOWN)
        rig_buf_add_text(text, ",...");
}

/* The transaction that has the view of the snapshot. */
static uint32_t txn_of(const struct rig_history *history, uint32_t snapshot)
{
    const struct rig_txn_views *views = &history->certificate->views;
    const uint64_t number = views->views.at[views->snapshots.at[snapshot].view].number;
    uint32_t txn = 0;
    while (rig_history_column(history, txn, RIG_COLUMN_VIEW) != (int64_t)number)
        txn++;
    return txn;
}

static void add_shown(const struct rig_history *history, const struct rig_discrepancy *found, const char *between,
                      struct rig_buf *text)
{
    rig_buf_add_text(text, "has the ");
    add_snapshot(history, found->snapshot, text);
    rig_buf_add_text(text, between);
    rig_certificate_commit_sentence(history->certificate, found->commit, text);
}

static void add_state(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    rig_sentence_reading(history, found->txn, found->op, text);
    if (found->snapshot != RIG_SNAPSHOT_NONE) {
        rig_buf_add_text(text, " with the ");
        add_snapshot(history, found->snapshot, text);
    }
    if (found->snapshot != RIG_SNAPSHOT_NONE &&
        history->certificate->views.views.at[history->certificate->views.snapshots.at[found->snapshot].view].standby) {
        rig_buf_add_text(text, " of a standby, and no prefix of the stream gives all of its reads. ");
        return;
    }
    rig_buf_add_text(text, ", but the last version of this key that it must show is ");
    if (found->commit == UINT32_MAX)
        rig_buf_add_text(text, "none");
    else
        rig_certificate_commit_sentence(history->certificate, found->commit, text);
    rig_buf_add_text(text, ". ");
}

void rig_snapshot_sentence(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    switch ((int)found->kind) {
    case RIG_DISCREPANCY_SNAPSHOT_MISMATCH:
        add_state(history, found, text);
        return;
    case RIG_DISCREPANCY_SNAPSHOT_FORK:
        add_shown(history, found, ", which shows ", text);
        rig_buf_add_text(text, ", and not ");
        rig_certificate_commit_sentence(history->certificate, found->other_commit, text);
        rig_buf_add_text(text, "; ");
        rig_sentence_txn(history, txn_of(history, found->other_snapshot), text);
        rig_buf_add_text(text, " has the ");
        add_snapshot(history, found->other_snapshot, text);
        rig_buf_add_text(text, ", which shows the second one, and not the first. ");
        return;
    case RIG_DISCREPANCY_VERSION_INVERSION:
        add_shown(history, found, ", which shows ", text);
        rig_buf_add_text(text, ", and not ");
        rig_certificate_commit_sentence(history->certificate, found->other_commit, text);
        rig_buf_add_text(text, ", which wrote one of its keys before it. ");
        return;
    case RIG_DISCREPANCY_MISSED_COMMIT:
        add_shown(history, found, ", which does not show ", text);
        rig_buf_add_text(text, ", although this was acknowledged before it began. ");
        return;
    case RIG_DISCREPANCY_UNSEEN_OVERWRITE:
        add_shown(history, found, ", which does not show ", text);
        rig_buf_add_text(text, ", and overwrote a version of this commit. ");
        return;
    case RIG_DISCREPANCY_UNSTEADY_SNAPSHOT:
        rig_buf_add_text(text, "has the ");
        add_snapshot(history, found->snapshot, text);
        rig_buf_add_text(text, " after another one, at an isolation level with one snapshot for each transaction. ");
        return;
    case RIG_DISCREPANCY_NUMBER_MISMATCH:
        rig_buf_add_text(text, "has another number than ");
        rig_certificate_commit_sentence(history->certificate, found->commit, text);
        rig_buf_add_text(text, ", which has its writes. ");
        return;
    default:
        rig_sentence_reading(history, found->txn, found->op, text);
        rig_buf_add_text(text, found->kind == RIG_DISCREPANCY_UNKNOWN_VERSION
                                   ? " in a row whose writer is not in the stream; the value is of "
                                   : " in a row of another writer; the value is of ");
        rig_certificate_commit_sentence(history->certificate, found->commit, text);
        rig_buf_add_text(text, ". ");
        return;
    }
}
