#include "checker/prove/witness/verify_snapshot.h"

#include "base/bug.h"

static const struct rig_txn_views *views_of(const struct rig_history *history)
{
    return &history->certificate->views;
}

bool rig_snapshot_shows(const struct rig_history *history, uint32_t snapshot, uint32_t commit)
{
    RIG_REQUIRE(snapshot < views_of(history)->snapshots.count && commit < history->certificate->commits.count);
    const struct rig_txn_views *views = views_of(history);
    const struct rig_snapshot *of = &views->snapshots.at[snapshot];
    const uint64_t id = history->certificate->commits.at[commit].id;
    bool shown = id < of->xmax && id != views->views.at[of->view].id;
    for (uint32_t i = 0; i < of->active_count; i++)
        shown &= views->active.at[of->first_active + i] != id;
    return shown;
}

bool rig_snapshot_is_of(const struct rig_history *history, uint32_t snapshot, uint32_t txn)
{
    const struct rig_txn_views *views = views_of(history);
    if (snapshot >= views->snapshots.count)
        return false;
    const struct rig_txn_view *view = &views->views.at[views->snapshots.at[snapshot].view];
    return !view->standby && rig_history_column(history, txn, RIG_COLUMN_VIEW) == (int64_t)view->number;
}

/* Whether an acknowledged transaction has the snapshot. */
static bool is_acknowledged(const struct rig_history *history, uint32_t snapshot)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (rig_snapshot_is_of(history, snapshot, txn))
            return history->txns[txn].outcome == RIG_OUTCOME_OK;
    }
    return false;
}

static bool is_commit(const struct rig_history *history, uint32_t commit)
{
    return commit < history->certificate->commits.count;
}

static const struct rig_change *find_change(const struct rig_history *history, uint32_t commit, int64_t key)
{
    RIG_REQUIRE(is_commit(history, commit));
    const struct rig_change *changes = rig_commit_changes(history->certificate, commit), *found = NULL;
    for (uint32_t i = 0; i < rig_commit_change_count(history->certificate, commit); i++)
        found = changes[i].key == key ? &changes[i] : found;
    return found;
}

/* Whether the commit has the value of the key. */
static bool makes(const struct rig_history *history, uint32_t commit, int64_t key, int64_t value)
{
    RIG_REQUIRE(is_commit(history, commit));
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_change *changes = rig_commit_changes(certificate, commit);
    for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
        for (uint32_t j = 0; changes[i].key == key && j < changes[i].count; j++) {
            if (certificate->elements.at[changes[i].first + j] == value)
                return true;
        }
    }
    return false;
}

/* ---- snapshots ---- */

static const char *check_fork(const struct rig_history *history, const struct rig_discrepancy *found)
{
    if (found->other_snapshot >= views_of(history)->snapshots.count || !is_commit(history, found->other_commit) ||
        !is_acknowledged(history, found->other_snapshot))
        return "names no two snapshots of acknowledged transactions";
    return rig_snapshot_shows(history, found->snapshot, found->commit) &&
                   !rig_snapshot_shows(history, found->other_snapshot, found->commit) &&
                   rig_snapshot_shows(history, found->other_snapshot, found->other_commit) &&
                   !rig_snapshot_shows(history, found->snapshot, found->other_commit)
               ? NULL
               : "has snapshots of which one contains the other";
}

static const char *check_inversion(const struct rig_history *history, const struct rig_discrepancy *found)
{
    if (!is_commit(history, found->other_commit) || found->other_commit >= found->commit)
        return "names no earlier commit";
    if (!rig_snapshot_shows(history, found->snapshot, found->commit) ||
        rig_snapshot_shows(history, found->snapshot, found->other_commit))
        return "has a snapshot that shows the earlier commit";
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (find_change(history, found->commit, history->keys[key]) != NULL &&
            find_change(history, found->other_commit, history->keys[key]) != NULL)
            return NULL;
    }
    return "names commits without a common key";
}

/* The acknowledged transaction whose first write is in the commit ended before the snapshot's began. */
static const char *check_stale(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const uint32_t begin = history->txns[found->txn].invoke_at;
    if (rig_snapshot_shows(history, found->snapshot, found->commit))
        return "has a snapshot that shows the commit";
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (rig_op_reads(ops[i].kind) || !makes(history, found->commit, history->keys[ops[i].key], ops[i].value))
                continue;
            return txn != found->txn && rig_txn_end(history, txn) < begin ? NULL : "began before the commit ended";
        }
    }
    return "names a commit of no transaction";
}

static const char *check_unsteady(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_txn_views *views = views_of(history);
    const uint32_t of = views->snapshots.at[found->snapshot].view;
    for (uint32_t i = 0; i < views->snapshots.count; i++) {
        if (i != found->snapshot && views->snapshots.at[i].view == of)
            return views->views.at[of].single ? NULL : "may have several snapshots";
    }
    return "has one snapshot";
}

/* ---- reads ---- */

/* The last write of the transaction to the key before the operation; NULL: none. */
static const struct rig_txn_op *own_write(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(op < rig_txn_op_count(history, txn));
    const struct rig_txn_op *ops = rig_txn_ops(history, txn), *own = NULL;
    for (uint32_t i = 0; i < op; i++)
        own = ops[i].key == ops[op].key && !rig_op_reads(ops[i].kind) ? &ops[i] : own;
    return own;
}

/* Whether the read shows the last state of its key that `commit` may show: the snapshot's, or up to its own write. */
static bool reads_state(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_txn_op *read = rig_txn_ops(history, found->txn) + found->op;
    const struct rig_txn_op *own = own_write(history, found->txn, found->op);
    const struct rig_read_list list = rig_txn_op_list(history, read);
    const bool is_list = rig_op_reads_sequence(read->kind);
    bool right = is_list ? list.count == 0 : read->read_state == RIG_READ_NIL;
    uint32_t same = 0;
    for (uint32_t commit = 0; commit < certificate->commits.count; commit++) {
        const struct rig_change *changes = rig_commit_changes(certificate, commit);
        for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
            const struct rig_change *change = &changes[i];
            if (change->key != history->keys[read->key])
                continue;
            same = same < change->kept ? same : change->kept;
            for (uint32_t j = 0; j < change->count; j++) {
                const int64_t element = certificate->elements.at[change->first + j];
                if (is_list && same == change->kept + j && same < list.count &&
                    rig_read_element(&list, same) == element)
                    same++;
                const bool is_right = is_list ? same == list.count && list.count == change->kept + j + 1
                                              : read->read_state == RIG_READ_SEEN && read->value == element;
                if (own != NULL ? element == own->value : rig_snapshot_shows(history, found->snapshot, commit))
                    right = is_right;
            }
        }
    }
    return right;
}

static const char *check_state(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_txn_op *read = rig_txn_ops(history, found->txn) + found->op;
    if (!rig_op_reads(read->kind) || read->read_state == RIG_READ_UNKNOWN)
        return "names no read with a known result";
    return reads_state(history, found) ? "read the state of its snapshot" : NULL;
}

/* The state that each prefix of the stream has, within the numbers of the snapshot: none gives all reads. */
static bool fits_prefix(const struct rig_history *history, const struct rig_discrepancy *found, uint32_t prefix)
{
    RIG_REQUIRE(prefix <= history->certificate->commits.count);
    const struct rig_certificate *certificate = history->certificate;
    const struct rig_txn_views *views = views_of(history);
    const struct rig_snapshot *of = &views->snapshots.at[found->snapshot];
    const struct rig_txn_op *ops = rig_txn_ops(history, found->txn);
    for (uint32_t i = 0; i < certificate->commits.count; i++) {
        const uint64_t id = certificate->commits.at[i].id;
        if ((i < prefix && id >= of->xmax) || (i >= prefix && id < of->xmin))
            return false;
    }
    for (uint32_t i = 0; i < rig_txn_view_row_count(views, of->view); i++) {
        const struct rig_txn_view_row *row = &rig_txn_view_rows(views, of->view)[i];
        const struct rig_txn_op *op = &ops[row->op];
        const struct rig_change *last = NULL;
        for (uint32_t commit = 0; commit < prefix; commit++) {
            const struct rig_change *change = find_change(history, commit, history->keys[op->key]);
            last = change != NULL ? change : last;
        }
        if (row->snapshot != found->snapshot || op->read_state == RIG_READ_UNKNOWN)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, op);
        const uint64_t length = last == NULL ? 0 : (uint64_t)last->kept + last->count;
        const int64_t end =
            last == NULL || last->count == 0 ? 0 : certificate->elements.at[last->first + last->count - 1];
        const bool right =
            rig_op_reads_sequence(op->kind)
                ? list.count == length && (length == 0 || rig_read_element(&list, list.count - 1) == end)
                : (op->read_state == RIG_READ_NIL) == (last == NULL) && (last == NULL || op->value == end);
        if (!right)
            return false;
    }
    return true;
}

static const char *check_standby(const struct rig_history *history, const struct rig_discrepancy *found)
{
    for (uint32_t prefix = 0; prefix <= history->certificate->commits.count; prefix++) {
        if (fits_prefix(history, found, prefix))
            return "read the state of a prefix";
    }
    return NULL;
}

/* ---- numbers ---- */

/* The number of the transaction's view among all; UINT32_MAX: it has none. */
static uint32_t view_of(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_views *views = views_of(history);
    const int64_t number = rig_history_column(history, txn, RIG_COLUMN_VIEW);
    uint32_t view = 0;
    while (view < views->views.count && (int64_t)views->views.at[view].number != number)
        view++;
    return number == RIG_COLUMN_NONE || view == views->views.count ? UINT32_MAX : view;
}

uint64_t rig_view_writer(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t at)
{
    RIG_REQUIRE(txn < history->txn_count);
    const uint32_t view = view_of(history, txn);
    const bool last = at == RIG_VIEW_LAST;
    uint64_t writer = 0;
    for (uint32_t i = 0; view != UINT32_MAX && i < rig_txn_view_row_count(views_of(history), view); i++) {
        const struct rig_txn_view_row *row = &rig_txn_view_rows(views_of(history), view)[i];
        if (row->op != op)
            continue;
        writer = row->version;
        if (at-- == 0)
            return writer;
    }
    return last ? writer : 0;
}

bool rig_view_has_other_number(const struct rig_history *history, uint32_t txn, uint32_t commit)
{
    RIG_REQUIRE(is_commit(history, commit));
    const uint32_t view = view_of(history, txn);
    const uint64_t id = view == UINT32_MAX ? 0 : views_of(history)->views.at[view].id;
    return id != 0 && id != history->certificate->commits.at[commit].id;
}

bool rig_number_is_known(const struct rig_history *history, uint64_t number)
{
    bool known = false;
    for (size_t i = 0; i < history->certificate->commits.count; i++)
        known |= history->certificate->commits.at[i].id == number;
    return known;
}

static const char *check_version(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_txn_op *read = rig_txn_ops(history, found->txn) + found->op;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    const bool is_list = rig_op_reads_sequence(read->kind);
    const uint64_t version = rig_view_writer(history, found->txn, found->op, RIG_VIEW_LAST);
    if (read->read_state != RIG_READ_SEEN || (is_list && list.count == 0) || version == 0)
        return "names no read of a row";
    const int64_t value = is_list ? rig_read_element(&list, list.count - 1) : read->value;
    if (!makes(history, found->commit, history->keys[read->key], value))
        return "names another commit than that of the value";
    if (history->certificate->commits.at[found->commit].id == version)
        return "names the commit of the value as the writer";
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
            if (!rig_op_reads(op->kind) && op->key == read->key && op->value == value &&
                rig_view_writer(history, txn, i, RIG_VIEW_LAST) == version)
                return "names the part of the transaction that wrote the value";
        }
    }
    return rig_number_is_known(history, version) == (found->kind == RIG_DISCREPANCY_VERSION_MISMATCH)
               ? NULL
               : "is of the other kind";
}

static const char *check_number(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_txn_op *write = rig_txn_ops(history, found->txn) + found->op;
    if (!rig_view_has_other_number(history, found->txn, found->commit))
        return "has the number of its commit";
    return makes(history, found->commit, history->keys[write->key], write->value) ? NULL : "is not in the commit";
}

/* The version before the transaction's own is of the commit that its snapshot does not show. */
static const char *check_overwrite(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const struct rig_txn_op *write = rig_txn_ops(history, found->txn) + found->op;
    const int64_t key = history->keys[write->key];
    uint32_t before = UINT32_MAX, last = UINT32_MAX;
    if (rig_snapshot_shows(history, found->snapshot, found->commit))
        return "has a snapshot that shows the overwritten version";
    for (uint32_t commit = 0; commit < history->certificate->commits.count; commit++) {
        if (find_change(history, commit, key) == NULL)
            continue;
        before = makes(history, commit, key, write->value) ? last : before;
        last = commit;
    }
    return before == found->commit ? NULL : "overwrote another version";
}

/* ---- all of it ---- */

const char *rig_verify_snapshot(const struct rig_history *history, const struct rig_discrepancy *found)
{
    const bool has_snapshot = found->snapshot < views_of(history)->snapshots.count;
    const bool is_standby =
        has_snapshot && views_of(history)->views.at[views_of(history)->snapshots.at[found->snapshot].view].standby;
    const bool needs_commit =
        found->kind != RIG_DISCREPANCY_SNAPSHOT_MISMATCH && found->kind != RIG_DISCREPANCY_UNSTEADY_SNAPSHOT;
    const bool needs_snapshot =
        found->kind != RIG_DISCREPANCY_VERSION_MISMATCH && found->kind != RIG_DISCREPANCY_UNKNOWN_VERSION &&
        found->kind != RIG_DISCREPANCY_NUMBER_MISMATCH &&
        (found->kind != RIG_DISCREPANCY_SNAPSHOT_MISMATCH || own_write(history, found->txn, found->op) == NULL);
    if (history->txns[found->txn].outcome != RIG_OUTCOME_OK)
        return "was not acknowledged";
    if (found->op >= rig_txn_op_count(history, found->txn) || (needs_commit && !is_commit(history, found->commit)))
        return "names no operation, or no commit";
    if (is_standby && found->kind == RIG_DISCREPANCY_SNAPSHOT_MISMATCH)
        return check_standby(history, found);
    if (needs_snapshot && (!has_snapshot || !rig_snapshot_is_of(history, found->snapshot, found->txn)))
        return "names no snapshot of its own";
    switch ((int)found->kind) {
    case RIG_DISCREPANCY_SNAPSHOT_FORK:
        return check_fork(history, found);
    case RIG_DISCREPANCY_VERSION_INVERSION:
        return check_inversion(history, found);
    case RIG_DISCREPANCY_MISSED_COMMIT:
        return check_stale(history, found);
    case RIG_DISCREPANCY_UNSTEADY_SNAPSHOT:
        return check_unsteady(history, found);
    case RIG_DISCREPANCY_SNAPSHOT_MISMATCH:
        return check_state(history, found);
    case RIG_DISCREPANCY_UNSEEN_OVERWRITE:
        return check_overwrite(history, found);
    case RIG_DISCREPANCY_NUMBER_MISMATCH:
        return check_number(history, found);
    default:
        return check_version(history, found);
    }
}
