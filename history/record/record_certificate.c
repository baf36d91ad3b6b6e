#include "history/record/record_certificate.h"

#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "history/model/txn_views.h"
#include "history/record/record_cursor.h"

/*
 * The views of a certificate in the binary record (docs/history-format.md).
 */

enum txn_views_decoded { VIEWS_DECODED, VIEWS_DAMAGED, VIEWS_NO_MEMORY };

/* The flags of a view, and those of a row: where its snapshot is. */
enum { VIEW_SINGLE = 1, VIEW_STANDBY = 2, VIEW_FLAGS = 3 };
enum { ROW_NO_SNAPSHOT = 0, ROW_LAST_SNAPSHOT = 1, ROW_NEW_SNAPSHOT = 2, ROW_VERSION = 4, ROW_FLAGS = 7 };

/* The numbers that differences are to. */
struct last {
    uint64_t number, id, version;
};

static int64_t minus(uint64_t a, uint64_t b)
{
    return rig_difference((int64_t)a, (int64_t)b);
}

static uint64_t plus(uint64_t a, int64_t b)
{
    return (uint64_t)rig_sum((int64_t)a, b);
}

/* ---- writing ---- */

static void put_snapshot(const struct rig_txn_views *views, uint32_t snapshot, const struct last *last,
                         struct rig_buf *payload)
{
    const struct rig_snapshot *of = &views->snapshots.at[snapshot];
    uint64_t above = of->xmax;
    rig_varint_put_signed(payload, minus(of->xmax, last->id));
    rig_varint_put(payload, of->xmax - of->xmin);
    rig_varint_put(payload, of->active_count);
    for (uint32_t i = of->active_count; i-- > 0;) {
        const uint64_t active = views->active.at[of->first_active + i];
        rig_varint_put(payload, above - active - 1);
        above = active;
    }
}

static void put_row(const struct rig_txn_views *views, uint32_t row, uint32_t *snapshot, struct last *last,
                    struct rig_buf *payload)
{
    const struct rig_txn_view_row *of = &views->rows.at[row];
    const unsigned where = of->snapshot == RIG_SNAPSHOT_NONE ? ROW_NO_SNAPSHOT
                           : of->snapshot == *snapshot       ? ROW_LAST_SNAPSHOT
                                                             : ROW_NEW_SNAPSHOT;
    rig_varint_put(payload, of->op);
    rig_varint_put(payload, where | (of->version != 0 ? ROW_VERSION : 0U));
    if (where == ROW_NEW_SNAPSHOT)
        put_snapshot(views, *snapshot = of->snapshot, last, payload);
    if (of->version != 0) {
        rig_varint_put_signed(payload, minus(of->version, last->version));
        last->version = of->version;
    }
}

/* Puts views from `*view` on, until the payload has grown by `most_bytes`; advances `*view`. */
static void txn_views_encode(const struct rig_txn_views *views, uint32_t *view, size_t most_bytes,
                             struct rig_buf *payload)
{
    const size_t begin = payload->size;
    struct last last = {0};
    for (; *view < views->views.count && payload->size - begin < most_bytes && !payload->failed; ++*view) {
        const struct rig_txn_view *of = &views->views.at[*view];
        const uint32_t rows = rig_txn_view_row_count(views, *view);
        uint32_t snapshot = RIG_SNAPSHOT_NONE;
        rig_varint_put(payload, of->number - last.number);
        rig_varint_put(payload, (of->single ? VIEW_SINGLE : 0U) | (of->standby ? VIEW_STANDBY : 0U));
        rig_varint_put(payload, of->id == 0 ? 0 : 1);
        if (of->id != 0) {
            rig_varint_put_signed(payload, minus(of->id, last.id));
            last.id = of->id;
        }
        rig_varint_put(payload, rows);
        for (uint32_t i = 0; i < rows; i++)
            put_row(views, of->first_row + i, &snapshot, &last, payload);
        last.number = of->number;
    }
}

/* ---- reading ---- */

static enum txn_views_decoded get_snapshot(struct rig_record_cursor *cursor, const struct last *last,
                                           struct rig_txn_views *views)
{
    struct rig_id_vec *active = &views->active;
    const uint64_t xmax = plus(last->id, rig_cursor_signed(cursor)), span = rig_cursor_number(cursor);
    const uint64_t count = rig_cursor_number(cursor);
    uint64_t above = xmax;
    if (cursor->bad != NULL || span > xmax || count > rig_cursor_left(cursor) || active->count + count >= UINT32_MAX)
        return VIEWS_DAMAGED;
    if (!rig_txn_views_add_snapshot(views, xmax - span, xmax, NULL, 0) ||
        !rig_id_vec_reserve(active, active->count + count))
        return VIEWS_NO_MEMORY;
    for (uint64_t i = count; i-- > 0;) {
        const uint64_t below = rig_cursor_number(cursor);
        if (below >= above || above - below - 1 < xmax - span)
            return VIEWS_DAMAGED;
        active->at[active->count + i] = above = above - below - 1;
    }
    active->count += count;
    views->snapshots.at[views->snapshots.count - 1].active_count = (uint32_t)count;
    return VIEWS_DECODED;
}

static enum txn_views_decoded get_row(struct rig_record_cursor *cursor, struct last *last, struct rig_txn_views *views)
{
    const uint64_t op = rig_cursor_number(cursor), flags = rig_cursor_number(cursor);
    const uint64_t where = flags & ~(uint64_t)ROW_VERSION;
    if (cursor->bad != NULL || op >= UINT32_MAX || flags > ROW_FLAGS || where > ROW_NEW_SNAPSHOT)
        return VIEWS_DAMAGED;
    const enum txn_views_decoded got = where == ROW_NEW_SNAPSHOT ? get_snapshot(cursor, last, views) : VIEWS_DECODED;
    if (got != VIEWS_DECODED)
        return got;
    if ((flags & ROW_VERSION) != 0)
        last->version = plus(last->version, rig_cursor_signed(cursor));
    const uint64_t version = (flags & ROW_VERSION) != 0 ? last->version : 0;
    return rig_txn_views_add_row(views, (uint32_t)op, version, where != ROW_NO_SNAPSHOT) ? VIEWS_DECODED
                                                                                         : VIEWS_DAMAGED;
}

static enum txn_views_decoded get_view(struct rig_record_cursor *cursor, struct last *last, struct rig_txn_views *views)
{
    const uint64_t number = last->number + rig_cursor_number(cursor), flags = rig_cursor_number(cursor);
    const uint64_t has_id = rig_cursor_number(cursor);
    if (flags > VIEW_FLAGS || has_id > 1)
        return VIEWS_DAMAGED;
    if (has_id == 1)
        last->id = plus(last->id, rig_cursor_signed(cursor));
    const struct rig_txn_view view = {.number = last->number = number,
                                      .id = has_id == 1 ? last->id : 0,
                                      .single = (flags & VIEW_SINGLE) != 0,
                                      .standby = (flags & VIEW_STANDBY) != 0};
    const uint64_t rows = rig_cursor_number(cursor);
    if (cursor->bad != NULL || rows > rig_cursor_left(cursor) || !rig_txn_views_add(views, &view))
        return VIEWS_DAMAGED;
    enum txn_views_decoded got = VIEWS_DECODED;
    for (uint64_t i = 0; i < rows && got == VIEWS_DECODED; i++)
        got = get_row(cursor, last, views);
    return got;
}

/* Adds the views up to the cursor's end. */
static enum txn_views_decoded txn_views_decode(struct rig_record_cursor *cursor, struct rig_txn_views *views)
{
    struct last last = {0};
    enum txn_views_decoded got = VIEWS_DECODED;
    while (got == VIEWS_DECODED && cursor->bad == NULL && rig_cursor_left(cursor) > 0)
        got = get_view(cursor, &last, views);
    return got == VIEWS_DECODED && cursor->bad != NULL ? VIEWS_DAMAGED : got;
}

enum { FRAME_BYTES = 1 << 20 };

/* The first number of a payload: commits follow, the end, views, forks, or lost commits. */
enum { PART_COMMITS = 0, PART_END = 1, PART_VIEWS = 2, PART_FORKS = 3, PART_LOST = 4 };

/* The first number of the end. */
enum { END_COMPLETE = 1, END_LAST_ONLY = 2, END_HAS_VIEWS = 4, END_HAS_FORKS = 8, END_FLAGS = 15 };

/* ---- writing ---- */

static void put_change(const struct rig_certificate *certificate, const struct rig_change *change, int64_t *last_key,
                       struct rig_buf *payload)
{
    int64_t last = 0;
    rig_varint_put_signed(payload, rig_difference(change->key, *last_key));
    *last_key = change->key;
    rig_varint_put(payload, (uint64_t)change->kept << 1 | change->removed);
    if (change->removed)
        return;
    rig_varint_put(payload, change->count);
    for (uint32_t i = 0; i < change->count; i++) {
        const int64_t element = certificate->elements.at[change->first + i];
        rig_varint_put_signed(payload, rig_difference(element, last));
        last = element;
    }
}

static void put_commit(const struct rig_certificate *certificate, uint32_t commit, struct rig_commit *last,
                       int64_t *last_key, struct rig_buf *payload)
{
    const struct rig_commit *of = &certificate->commits.at[commit];
    const uint32_t count = rig_commit_change_count(certificate, commit);
    rig_varint_put(payload, of->place - last->place);
    rig_varint_put_signed(payload, rig_difference((int64_t)of->id, (int64_t)last->id));
    rig_varint_put(payload, of->timeline);
    rig_varint_put(payload, count);
    for (uint32_t i = 0; i < count; i++)
        put_change(certificate, &rig_commit_changes(certificate, commit)[i], last_key, payload);
    *last = *of;
}

static void put_forks(const struct rig_certificate *certificate, struct rig_buf *payload)
{
    rig_varint_put(payload, PART_FORKS);
    for (size_t i = 0; i < certificate->forks.count; i++) {
        rig_varint_put(payload, certificate->forks.at[i].timeline);
        rig_varint_put(payload, certificate->forks.at[i].place);
        rig_varint_put(payload, certificate->forks.at[i].next);
    }
}

static void put_text(const char *text, struct rig_buf *payload)
{
    rig_varint_put(payload, strlen(text));
    rig_buf_add(payload, text, strlen(text));
}

static void put_end(const struct rig_certificate *certificate, struct rig_buf *payload)
{
    const size_t views = certificate->views.views.count;
    rig_varint_put(payload, PART_END);
    rig_varint_put(payload, (certificate->complete ? END_COMPLETE : 0U) |
                                (certificate->last_only ? END_LAST_ONLY : 0U) | (views > 0 ? END_HAS_VIEWS : 0U) |
                                (certificate->forks.count > 0 ? END_HAS_FORKS : 0U));
    rig_varint_put(payload, certificate->commits.count);
    put_text(certificate->source, payload);
    put_text(certificate->ending, payload);
    if (views > 0)
        rig_varint_put(payload, views);
    if (certificate->forks.count > 0) {
        rig_varint_put(payload, certificate->forks.count);
        rig_varint_put(payload, rig_certificate_lost_count(certificate));
    }
}

/* As many commits from `at` on as fit; returns the first one that is left. */
static size_t put_commits(const struct rig_certificate *certificate, unsigned part, size_t at, struct rig_buf *payload)
{
    const size_t begin = payload->size;
    struct rig_commit last = {0};
    int64_t last_key = 0;
    rig_varint_put(payload, part);
    for (; at < certificate->commits.count && payload->size - begin < FRAME_BYTES && !payload->failed; at++)
        put_commit(certificate, (uint32_t)at, &last, &last_key, payload);
    return at;
}

bool rig_certificate_encode(const struct rig_certificate *certificate, size_t *item, struct rig_buf *payload)
{
    const size_t forks = certificate->commits.count, lost = forks + certificate->forks.count;
    const size_t views = lost + rig_certificate_lost_count(certificate);
    if (*item < forks) {
        *item = put_commits(certificate, PART_COMMITS, *item, payload);
    } else if (*item < lost) {
        put_forks(certificate, payload);
        *item = lost;
    } else if (*item < views) {
        *item = lost + put_commits(certificate->lost, PART_LOST, *item - lost, payload);
    } else if (*item < views + certificate->views.views.count) {
        uint32_t view = (uint32_t)(*item - views);
        rig_varint_put(payload, PART_VIEWS);
        txn_views_encode(&certificate->views, &view, FRAME_BYTES, payload);
        *item = views + view;
    } else {
        put_end(certificate, payload);
        return true;
    }
    return payload->failed;
}

/* ---- reading ---- */

struct decoding {
    struct rig_record_cursor cursor;
    struct rig_certificate *into;
    bool ended;
};

static const char *const no_memory = "", *const damaged = "a certificate that this version does not have";

static const char *get_change(struct rig_record_cursor *cursor, struct rig_certificate *into, int64_t *last_key)
{
    struct rig_change change = {.first = (uint32_t)into->elements.count};
    int64_t last = 0;
    *last_key = change.key = rig_sum(*last_key, rig_cursor_signed(cursor));
    const uint64_t kept = rig_cursor_number(cursor);
    change.removed = (kept & 1) != 0;
    const uint64_t count = change.removed ? 0 : rig_cursor_number(cursor);
    if (cursor->bad != NULL || kept >> 1 > UINT32_MAX || count > rig_cursor_left(cursor) ||
        (change.removed && kept != 1) || into->elements.count + count > UINT32_MAX)
        return damaged;
    change.kept = (uint32_t)(kept >> 1);
    change.count = (uint32_t)count;
    if (!rig_change_vec_add(&into->changes, change) ||
        !rig_certificate_elements_reserve(&into->elements, into->elements.count + count))
        return no_memory;
    for (uint64_t i = 0; i < count; i++)
        into->elements.at[into->elements.count++] = last = rig_sum(last, rig_cursor_signed(cursor));
    return NULL;
}

static const char *get_commits(struct rig_record_cursor *cursor, struct rig_certificate *into)
{
    struct rig_commit last = {0};
    int64_t last_key = 0;
    const char *wrong = NULL;
    while (wrong == NULL && cursor->bad == NULL && rig_cursor_left(cursor) > 0) {
        struct rig_commit commit = {.first_change = (uint32_t)into->changes.count};
        commit.place = last.place + rig_cursor_number(cursor);
        commit.id = (uint64_t)rig_sum((int64_t)last.id, rig_cursor_signed(cursor));
        const uint64_t timeline = rig_cursor_number(cursor), count = rig_cursor_number(cursor);
        if (cursor->bad != NULL || timeline > UINT32_MAX || count > rig_cursor_left(cursor) ||
            into->commits.count >= UINT32_MAX - 1 || into->changes.count + count > UINT32_MAX ||
            !rig_certificate_ascends(into, commit.place, (uint32_t)timeline))
            return damaged;
        commit.timeline = (uint32_t)timeline;
        wrong = rig_commit_vec_add(&into->commits, commit) ? NULL : no_memory;
        for (uint64_t i = 0; i < count && wrong == NULL; i++)
            wrong = get_change(cursor, into, &last_key);
        last = commit;
    }
    return wrong;
}

static const char *get_forks(struct decoding *d)
{
    struct rig_record_cursor *cursor = &d->cursor;
    while (cursor->bad == NULL && rig_cursor_left(cursor) > 0) {
        const uint64_t timeline = rig_cursor_number(cursor), place = rig_cursor_number(cursor);
        const uint64_t next = rig_cursor_number(cursor);
        if (cursor->bad != NULL || next > UINT32_MAX || timeline >= next ||
            !rig_certificate_add_fork(d->into, (uint32_t)timeline, place, (uint32_t)next))
            return damaged;
    }
    return NULL;
}

static const char *get_lost(struct decoding *d)
{
    struct rig_certificate *lost = rig_certificate_make_lost(d->into);
    size_t at = rig_certificate_lost_count(d->into);
    const char *wrong = lost == NULL ? no_memory : get_commits(&d->cursor, lost);
    for (; wrong == NULL && at < lost->commits.count; at++)
        wrong = rig_certificate_fork_of(d->into, &lost->commits.at[at]) == NULL ? damaged : NULL;
    return wrong;
}

static bool get_text(struct rig_record_cursor *cursor, char *text, size_t size)
{
    const uint64_t length = rig_cursor_number(cursor);
    if (cursor->bad != NULL || length >= size || length > rig_cursor_left(cursor) ||
        memchr(cursor->at, 0, (size_t)length) != NULL)
        return false;
    memcpy(text, cursor->at, (size_t)length);
    text[length] = '\0';
    cursor->at += length;
    return true;
}

static const char *get_end(struct decoding *d)
{
    const uint64_t flags = rig_cursor_number(&d->cursor), count = rig_cursor_number(&d->cursor);
    bool fits = d->cursor.bad == NULL && flags <= END_FLAGS && count == d->into->commits.count &&
                get_text(&d->cursor, d->into->source, sizeof d->into->source) &&
                get_text(&d->cursor, d->into->ending, sizeof d->into->ending);
    const uint64_t views = fits && (flags & END_HAS_VIEWS) != 0 ? rig_cursor_number(&d->cursor) : 0;
    const bool forks = fits && (flags & END_HAS_FORKS) != 0;
    const uint64_t fork_count = forks ? rig_cursor_number(&d->cursor) : 0;
    const uint64_t lost_count = forks ? rig_cursor_number(&d->cursor) : 0;
    fits = fits && d->cursor.bad == NULL && views == d->into->views.views.count && fork_count == d->into->forks.count &&
           lost_count == rig_certificate_lost_count(d->into) && rig_cursor_left(&d->cursor) == 0;
    d->ended = true;
    d->into->complete = fits && (flags & END_COMPLETE) != 0;
    d->into->last_only = fits && (flags & END_LAST_ONLY) != 0;
    return fits ? NULL : damaged;
}

static const char *get_frame(struct decoding *d, const uint8_t *payload, size_t size)
{
    d->cursor = (struct rig_record_cursor){.at = payload, .end = payload + size};
    const uint64_t part = rig_cursor_number(&d->cursor);
    if (d->cursor.bad != NULL || d->ended || part > PART_LOST)
        return damaged;
    if (part == PART_VIEWS) {
        const enum txn_views_decoded got = txn_views_decode(&d->cursor, &d->into->views);
        return got == VIEWS_DECODED ? NULL : got == VIEWS_DAMAGED ? damaged : no_memory;
    }
    const char *wrong = part == PART_END     ? get_end(d)
                        : part == PART_FORKS ? get_forks(d)
                        : part == PART_LOST  ? get_lost(d)
                                             : get_commits(&d->cursor, d->into);
    return wrong == NULL && d->cursor.bad != NULL ? damaged : wrong;
}

enum rig_rc rig_certificate_decode(const struct rig_record_file *file, size_t end, struct rig_certificate *certificate,
                                   struct rig_err *err)
{
    struct decoding d = {.into = certificate};
    rig_certificate_init(certificate);
    for (size_t at = file->header_end, next; at < end && (next = rig_record_frame_end(file, at)) != 0; at = next) {
        if (!rig_record_frame_is(file, at, RIG_FRAME_CERTIFICATE))
            continue;
        const char *wrong = get_frame(&d, file->data + at + RIG_FRAME_HEAD_BYTES, next - at - RIG_FRAME_HEAD_BYTES);
        if (wrong != NULL) {
            rig_certificate_done(certificate);
            return wrong == no_memory ? rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "its certificate", file->name)
                                      : rig_fail(err, RIG_E_INPUT, "%s: byte %zu: %s", file->name, at, wrong);
        }
    }
    if (!d.ended) {
        certificate->complete = false;
        (void)snprintf(certificate->ending, sizeof certificate->ending, "the record ends before the certificate does");
    }
    return RIG_OK;
}
