#include "drivers/mysql/my_view.h"

#include <stdlib.h>

/* The words of a view; behind them one for each operation. */
enum { VIEW_NUMBER, VIEW_OWN, VIEW_LAST, VIEW_ROWS, VIEW_WORDS };

enum rig_rc rig_my_views_init(struct rig_my_views *views, uint32_t clients, struct rig_err *err)
{
    views->logs = calloc(clients, sizeof *views->logs);
    if (views->logs == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the views of %u clients", clients);
    views->count = clients;
    return RIG_OK;
}

void rig_my_views_done(struct rig_my_views *views)
{
    for (uint32_t i = 0; i < views->count; i++)
        rig_my_words_done(&views->logs[i].words);
    free(views->logs);
    views->logs = NULL;
    views->count = 0;
}

bool rig_my_gtid_parse(const char *text, size_t length, uint64_t *number)
{
    uint64_t parts[3] = {0};
    unsigned part = 0;
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-' && digits > 0 && part < 2) {
            part++;
            digits = 0;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || ++digits > 18)
            return false;
        parts[part] = parts[part] * 10 + (uint64_t)(text[i] - '0');
    }
    *number = parts[2];
    return part == 2 && digits > 0 && parts[0] == 0;
}

/* ---- taking ---- */

static void put(struct rig_my_view_log *log, uint64_t word)
{
    log->bad = !rig_my_words_add(&log->words, word) || log->bad;
}

/* The operation as the history numbers it; UINT32_MAX: the transaction rolled it back. */
static uint32_t number_op(const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_rollback *rollback = &transaction->rollback;
    if (!rig_rollback_wanted(rollback) || op < rollback->from)
        return op;
    return op < rollback->to ? UINT32_MAX : op - (rollback->to - rollback->from);
}

void rig_my_view_take(struct rig_my_views *views, uint32_t client, struct rig_transaction *transaction, uint64_t last,
                      uint64_t own)
{
    struct rig_my_view_log *log = &views->logs[client];
    const size_t begin = log->words.count;
    uint64_t rows = 0;
    for (int i = 0; i < VIEW_WORDS; i++)
        put(log, 0);
    for (uint32_t op = 0; op < transaction->op_count; op++) {
        const uint32_t as = number_op(transaction, op);
        if (as == UINT32_MAX)
            continue;
        put(log, as);
        rows++;
    }
    if (log->bad)
        return;
    uint64_t *view = log->words.at + begin;
    view[VIEW_NUMBER] = atomic_fetch_add_explicit(&views->taken, 1, memory_order_relaxed) + 1;
    view[VIEW_OWN] = own;
    view[VIEW_LAST] = last;
    view[VIEW_ROWS] = rows;
    rig_column_give(&transaction->columns, RIG_COLUMN_VIEW, (int64_t)view[VIEW_NUMBER]);
}

/* ---- giving ---- */

static bool give(const uint64_t *view, const struct rig_certificate_sink *sink)
{
    static const uint64_t none[1] = {0};
    const uint64_t end = view[VIEW_LAST] + 1;
    bool taken = sink->view(sink->context, view[VIEW_NUMBER], view[VIEW_OWN], true, false);
    if (taken && view[VIEW_ROWS] > 0)
        taken = sink->snapshot(sink->context, end, end, none, 0);
    for (uint64_t i = 0; i < view[VIEW_ROWS] && taken; i++)
        taken = sink->row(sink->context, (uint32_t)view[VIEW_WORDS + i], 0, true);
    return taken;
}

enum rig_rc rig_my_views_give(struct rig_my_views *views, const struct rig_certificate_sink *sink, struct rig_err *err)
{
    for (;;) {
        struct rig_my_view_log *next = NULL;
        for (uint32_t i = 0; i < views->count; i++) {
            struct rig_my_view_log *log = &views->logs[i];
            if (log->bad)
                return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the views of client %u", i);
            if (log->next < log->words.count && (next == NULL || log->words.at[log->next] < next->words.at[next->next]))
                next = log;
        }
        if (next == NULL)
            return RIG_OK;
        const uint64_t *view = next->words.at + next->next;
        if (!give(view, sink))
            return rig_no_memory(err, "the certificate");
        next->next += VIEW_WORDS + view[VIEW_ROWS];
    }
}
