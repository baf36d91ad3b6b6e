#include "checker/explain/answered.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/plural.h"
#include "base/printable.h"

static void add_name(const struct rig_history *history, uint32_t txn, enum rig_column column, struct rig_buf *text)
{
    const char *known = rig_history_column_name(history, txn, column);
    char name[RIG_COLUMN_NAME_BYTES];
    if (known == NULL)
        return;
    (void)snprintf(name, sizeof name, "%s", known);
    rig_printable_line(name);
    rig_buf_printf(text, ", %s %s", rig_column_infos[column].name, name);
}

void rig_answered_by(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const int64_t backend = rig_history_column(history, txn, RIG_COLUMN_BACKEND);
    add_name(history, txn, RIG_COLUMN_NODE, text);
    add_name(history, txn, RIG_COLUMN_MEMBER, text);
    if (backend != RIG_COLUMN_NONE)
        rig_buf_printf(text, ", backend %" PRId64, backend);
}

bool rig_answered_utc(int64_t start_utc_ns, int64_t time_ns, char text[static RIG_UTC_BYTES])
{
    int64_t utc_ns;
    struct tm date;
    if (start_utc_ns == 0 || time_ns == RIG_NO_TIME || __builtin_add_overflow(start_utc_ns, time_ns, &utc_ns) ||
        utc_ns < 0)
        return false;
    const time_t seconds = (time_t)(utc_ns / RIG_NS_PER_S);
    if (gmtime_r(&seconds, &date) == NULL)
        return false;
    const size_t length = strftime(text, RIG_UTC_BYTES, "%Y-%m-%dT%H:%M:%S", &date);
    (void)snprintf(text + length, RIG_UTC_BYTES - length, ".%03dZ", (int)(utc_ns % RIG_NS_PER_S / RIG_NS_PER_MS));
    return true;
}

bool rig_answered_at(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    enum { DATE_BYTES = 11, TIME_BYTES = 12 }; /* of 2026-03-01T and 12:03:04.567 */
    const struct rig_txn *t = &history->txns[txn];
    char utc[RIG_UTC_BYTES];
    if (!rig_answered_utc(history->start_utc_ns, t->invoke_ns != RIG_NO_TIME ? t->invoke_ns : t->complete_ns, utc))
        return false;
    rig_buf_printf(text, ", %.*s UTC", TIME_BYTES, utc + DATE_BYTES);
    return true;
}

/* With a comma between thousands. */
static void add_count(uint64_t count, struct rig_buf *text)
{
    if (count >= 1000) {
        add_count(count / 1000, text);
        rig_buf_printf(text, ",%03" PRIu64, count % 1000);
    } else {
        rig_buf_printf(text, "%" PRIu64, count);
    }
}

bool rig_answered_reason(const struct rig_history *history, uint32_t txn, char reason[static RIG_REASON_BYTES])
{
    const struct rig_txn *t = &history->txns[txn];
    if (t->outcome != RIG_OUTCOME_FAIL || t->error == 0 ||
        rig_history_column(history, txn, RIG_COLUMN_SAVEPOINT) != RIG_COLUMN_NONE)
        return false;
    (void)snprintf(reason, RIG_REASON_BYTES, "%s", history->errors[t->error - 1]);
    rig_printable_line(reason);
    /* "code: " without a text */
    size_t length = strlen(reason);
    while (length > 0 && (reason[length - 1] == ' ' || reason[length - 1] == ':'))
        reason[--length] = '\0';
    return length > 0;
}

void rig_answered_outcome(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    char reason[RIG_REASON_BYTES];
    const uint8_t outcome = history->txns[txn].outcome;
    if (rig_answered_reason(history, txn, reason))
        rig_buf_printf(text, ", failed (%s)", reason);
    else if (outcome == RIG_OUTCOME_FAIL)
        rig_buf_add_text(text, ", failed");
    else if (outcome == RIG_OUTCOME_INFO)
        rig_buf_add_text(text, ", outcome unknown to the client");
}

void rig_answered_savepoint(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const int64_t before = rig_history_column(history, txn, RIG_COLUMN_SAVEPOINT);
    if (before < 0)
        return;
    rig_buf_add_text(text, ", rolled back to a savepoint by the process's next transaction, ");
    if (before == 0)
        rig_buf_add_text(text, "before its first operation");
    else
        rig_buf_printf(text, "after %" PRId64 " operation%s", before, rig_plural((uint64_t)before));
}

void rig_answered_held(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    const int64_t held_ns = rig_history_column(history, txn, RIG_COLUMN_HELD);
    const int64_t before = rig_history_column(history, txn, RIG_COLUMN_HELD_BEFORE);
    const int64_t meanwhile = rig_history_column(history, txn, RIG_COLUMN_MEANWHILE);
    if (held_ns < 0)
        return;
    if (held_ns >= RIG_NS_PER_S)
        rig_buf_printf(text, "; held %.3f s", (double)held_ns / (double)RIG_NS_PER_S);
    else
        rig_buf_printf(text, "; held %.3f ms", (double)held_ns / (double)RIG_NS_PER_MS);
    if (before == 0)
        rig_buf_add_text(text, " before its first operation");
    else if (before > 0)
        rig_buf_printf(text, " after %" PRId64 " operation%s", before, rig_plural((uint64_t)before));
    if (meanwhile < 0)
        return;
    rig_buf_add_text(text, ", ");
    add_count((uint64_t)meanwhile, text);
    rig_buf_printf(text, " transaction%s committed meanwhile", rig_plural((uint64_t)meanwhile));
}
