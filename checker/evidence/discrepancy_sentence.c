#include "checker/evidence/discrepancy_sentence.h"

#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"
#include "history/types/types.h"

static const char *const suspects[RIG_DISCREPANCY_COUNT] = {
    [RIG_DISCREPANCY_LOST_COMMIT] =
        "Suspect a commit that a crash or a failover lost, a gap in the stream, or an unlogged table.",
    [RIG_DISCREPANCY_RESURRECTED_ABORT] = "Suspect a wrong row in the driver's table of outcomes, or the database.",
    [RIG_DISCREPANCY_TORN_COMMIT] = "Suspect the driver, or an update that the database lost.",
    [RIG_DISCREPANCY_CERTIFICATE_MISMATCH] =
        "Suspect the driver, a read of data that was rolled back or lost in a crash, or a lost or forked update.",
    [RIG_DISCREPANCY_SNAPSHOT_MISMATCH] =
        "Suspect the driver, or the database; at read committed also a read of versions newer than its snapshot.",
    [RIG_DISCREPANCY_SNAPSHOT_FORK] = "Suspect the driver, which may have lost an own number, or the database.",
    [RIG_DISCREPANCY_VERSION_INVERSION] = "Suspect the driver, or the database.",
    [RIG_DISCREPANCY_MISSED_COMMIT] =
        "Suspect the driver, a second server that still answers after a failover, or the database.",
    [RIG_DISCREPANCY_UNSEEN_OVERWRITE] = "Suspect the driver, or an update that the database lost.",
    [RIG_DISCREPANCY_UNSTEADY_SNAPSHOT] = "Suspect the driver, or the database.",
    [RIG_DISCREPANCY_VERSION_MISMATCH] = "Suspect the driver, or a lost or forked update of the database.",
    [RIG_DISCREPANCY_UNKNOWN_VERSION] =
        "Suspect the driver, a read of data that was rolled back, or a commit that was lost in a crash.",
    [RIG_DISCREPANCY_NUMBER_MISMATCH] = "Suspect the driver, or a number that the database used again after a crash.",
};

/* ---- writes and their commits ---- */

static void add_write(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    const struct rig_txn_op *op = rig_txn_ops(history, found->txn) + found->op;
    rig_say(history, text, "has %s of %V to key %K", rig_op_infos[op->kind].noun, op->value, op->key);
}

/* The commit that has the write, and what lost it if a failover did. */
static void add_commit(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    if (!found->of_lost) {
        rig_say(history, text, "%C has this write", found->commit);
        return;
    }
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_fork *fork = rig_certificate_fork_of(certificate, &certificate->lost->commits.at[found->commit]);
    char place[64];
    RIG_INVARIANT(fork != NULL);
    rig_certificate_print_place(fork->place, fork->timeline, place);
    rig_say(history, text, "%c has this write, and a failover lost it: timeline %d began at %s", found->commit,
            fork->next, place);
}

static void add_torn(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    add_write(history, found, text);
    rig_say(history, text, ", and ");
    add_commit(history, found, text);
    rig_say(history, text,
            ", but not exactly the writes of the transaction in their order, each on top of the version before it. ");
}

static void add_lost(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    add_write(history, found, text);
    rig_say(history, text, " and was acknowledged, and none of the %d commits in the stream has any of its writes",
            history->certificate->commits.count);
    if (found->of_lost) {
        rig_say(history, text, "; ");
        add_commit(history, found, text);
    }
    rig_say(history, text, ". ");
}

static void add_resurrected(const struct rig_history *history, const struct rig_discrepancy *found,
                            struct rig_buf *text)
{
    char reason[RIG_REASON_BYTES];
    add_write(history, found, text);
    rig_say(history, text, " and failed");
    if (rig_answered_reason(history, found->txn, reason))
        rig_buf_printf(text, " (%s)", reason);
    rig_say(history, text, ", and ");
    add_commit(history, found, text);
    rig_say(history, text, ". ");
}

/* ---- snapshots ---- */

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

static bool is_on_standby(const struct rig_history *history, uint32_t snapshot)
{
    const struct rig_txn_views *views = &history->certificate->views;
    return views->views.at[views->snapshots.at[snapshot].view].standby;
}

/* A read that does not give the state at its snapshot. */
static void add_state(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    rig_say(history, text, "%r", found->txn, found->op);
    if (found->snapshot != RIG_SNAPSHOT_NONE)
        rig_say(history, text, " with the %P", found->snapshot);
    if (found->snapshot != RIG_SNAPSHOT_NONE && is_on_standby(history, found->snapshot))
        rig_say(history, text, " of a standby, and no prefix of the stream gives all of its reads. ");
    else if (found->commit == UINT32_MAX)
        rig_say(history, text, ", but the last version of this key that it must show is none. ");
    else
        rig_say(history, text, ", but the last version of this key that it must show is %C. ", found->commit);
}

/* ---- all kinds ---- */

static void add_words(const struct rig_history *history, const struct rig_discrepancy *found, struct rig_buf *text)
{
    switch (found->kind) {
    case RIG_DISCREPANCY_LOST_COMMIT:
        add_lost(history, found, text);
        break;
    case RIG_DISCREPANCY_RESURRECTED_ABORT:
        add_resurrected(history, found, text);
        break;
    case RIG_DISCREPANCY_TORN_COMMIT:
        add_torn(history, found, text);
        break;
    case RIG_DISCREPANCY_CERTIFICATE_MISMATCH:
        rig_say(history, text, "%r, which is no state of this key in the stream of commits. ", found->txn, found->op);
        break;
    case RIG_DISCREPANCY_SNAPSHOT_MISMATCH:
        add_state(history, found, text);
        break;
    case RIG_DISCREPANCY_SNAPSHOT_FORK:
        rig_say(
            history, text,
            "has the %P, which shows %C, and not %C; %T has the %P, which shows the second one, and not the first. ",
            found->snapshot, found->commit, found->other_commit, txn_of(history, found->other_snapshot),
            found->other_snapshot);
        break;
    case RIG_DISCREPANCY_VERSION_INVERSION:
        rig_say(history, text, "has the %P, which shows %C, and not %C, which wrote one of its keys before it. ",
                found->snapshot, found->commit, found->other_commit);
        break;
    case RIG_DISCREPANCY_MISSED_COMMIT:
        rig_say(history, text, "has the %P, which does not show %C, although this was acknowledged before it began. ",
                found->snapshot, found->commit);
        break;
    case RIG_DISCREPANCY_UNSEEN_OVERWRITE:
        rig_say(history, text, "has the %P, which does not show %C, and overwrote a version of this commit. ",
                found->snapshot, found->commit);
        break;
    case RIG_DISCREPANCY_UNSTEADY_SNAPSHOT:
        rig_say(history, text,
                "has the %P after another one, at an isolation level with one snapshot for each transaction. ",
                found->snapshot);
        break;
    case RIG_DISCREPANCY_VERSION_MISMATCH:
        rig_say(history, text, "%r in a row of another writer; the value is of %C. ", found->txn, found->op,
                found->commit);
        break;
    case RIG_DISCREPANCY_UNKNOWN_VERSION:
        rig_say(history, text, "%r in a row whose writer is not in the stream; the value is of %C. ", found->txn,
                found->op, found->commit);
        break;
    case RIG_DISCREPANCY_NUMBER_MISMATCH:
        rig_say(history, text, "has another number than %C, which has its writes. ", found->commit);
        break;
    case RIG_DISCREPANCY_COUNT:
        RIG_REQUIRE(false && "a kind of discrepancy");
    }
}

void rig_discrepancy_sentence(const struct rig_history *history, const struct rig_discrepancy *found,
                              struct rig_buf *text)
{
    rig_say(history, text, "%T = process %d: it ", found->txn, history->txns[found->txn].process);
    add_words(history, found, text);
    rig_say(history, text, "%s", suspects[found->kind]);
}
