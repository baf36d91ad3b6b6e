#include "history/record/record_views.h"

#include "base/bug.h"

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

void rig_txn_views_encode(const struct rig_txn_views *views, uint32_t *view, size_t most_bytes, struct rig_buf *payload)
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

static enum rig_txn_views_decoded get_snapshot(struct rig_record_cursor *cursor, const struct last *last,
                                               struct rig_txn_views *views)
{
    struct rig_id_vec *active = &views->active;
    const uint64_t xmax = plus(last->id, rig_cursor_signed(cursor)), span = rig_cursor_number(cursor);
    const uint64_t count = rig_cursor_number(cursor);
    uint64_t above = xmax;
    if (cursor->bad != NULL || span > xmax || count > rig_cursor_left(cursor) || active->count + count >= UINT32_MAX)
        return RIG_VIEWS_DAMAGED;
    if (!rig_txn_views_add_snapshot(views, xmax - span, xmax, NULL, 0) ||
        !rig_id_vec_reserve(active, active->count + count))
        return RIG_VIEWS_NO_MEMORY;
    for (uint64_t i = count; i-- > 0;) {
        const uint64_t below = rig_cursor_number(cursor);
        if (below >= above || above - below - 1 < xmax - span)
            return RIG_VIEWS_DAMAGED;
        active->at[active->count + i] = above = above - below - 1;
    }
    active->count += count;
    views->snapshots.at[views->snapshots.count - 1].active_count = (uint32_t)count;
    return RIG_VIEWS_DECODED;
}

static enum rig_txn_views_decoded get_row(struct rig_record_cursor *cursor, struct last *last,
                                          struct rig_txn_views *views)
{
    const uint64_t op = rig_cursor_number(cursor), flags = rig_cursor_number(cursor);
    const uint64_t where = flags & ~(uint64_t)ROW_VERSION;
    if (cursor->bad != NULL || op >= UINT32_MAX || flags > ROW_FLAGS || where > ROW_NEW_SNAPSHOT)
        return RIG_VIEWS_DAMAGED;
    const enum rig_txn_views_decoded got =
        where == ROW_NEW_SNAPSHOT ? get_snapshot(cursor, last, views) : RIG_VIEWS_DECODED;
    if (got != RIG_VIEWS_DECODED)
        return got;
    if ((flags & ROW_VERSION) != 0)
        last->version = plus(last->version, rig_cursor_signed(cursor));
    const uint64_t version = (flags & ROW_VERSION) != 0 ? last->version : 0;
    return rig_txn_views_add_row(views, (uint32_t)op, version, where != ROW_NO_SNAPSHOT) ? RIG_VIEWS_DECODED
                                                                                         : RIG_VIEWS_DAMAGED;
}

static enum rig_txn_views_decoded get_view(struct rig_record_cursor *cursor, struct last *last,
                                           struct rig_txn_views *views)
{
    const uint64_t number = last->number + rig_cursor_number(cursor), flags = rig_cursor_number(cursor);
    const uint64_t has_id = rig_cursor_number(cursor);
    if (flags > VIEW_FLAGS || has_id > 1)
        return RIG_VIEWS_DAMAGED;
    if (has_id == 1)
        last->id = plus(last->id, rig_cursor_signed(cursor));
    const struct rig_txn_view view = {.number = last->number = number,
                                      .id = has_id == 1 ? last->id : 0,
                                      .single = (flags & VIEW_SINGLE) != 0,
                                      .standby = (flags & VIEW_STANDBY) != 0};
    const uint64_t rows = rig_cursor_number(cursor);
    if (cursor->bad != NULL || rows > rig_cursor_left(cursor) || !rig_txn_views_add(views, &view))
        return RIG_VIEWS_DAMAGED;
    enum rig_txn_views_decoded got = RIG_VIEWS_DECODED;
    for (uint64_t i = 0; i < rows && got == RIG_VIEWS_DECODED; i++)
        got = get_row(cursor, last, views);
    return got;
}

enum rig_txn_views_decoded rig_txn_views_decode(struct rig_record_cursor *cursor, struct rig_txn_views *views)
{
    struct last last = {0};
    enum rig_txn_views_decoded got = RIG_VIEWS_DECODED;
    while (got == RIG_VIEWS_DECODED && cursor->bad == NULL && rig_cursor_left(cursor) > 0)
        got = get_view(cursor, &last, views);
    return got == RIG_VIEWS_DECODED && cursor->bad != NULL ? RIG_VIEWS_DAMAGED : got;
}
