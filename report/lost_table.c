/* The list of all lost appends or writes as a table: lost.tsv in a run's folder (docs/results.md). */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/printable.h"
#include "history/model/value_texts.h"
#include "report/report.h"

static void add_time(struct rig_buf *out, int64_t ns, int64_t zero_ns)
{
    if (ns != RIG_NO_TIME)
        rig_buf_printf(out, "%.6f", (double)(ns - zero_ns) / (double)RIG_NS_PER_S);
}

/* A key or a value as one field: a tab or a line end in it becomes a blank. */
static void add_field(struct rig_buf *out, const char *text)
{
    const size_t from = out->size;
    rig_buf_add_text(out, text);
    if (out->failed)
        return;
    rig_printable_line(out->data + from);
    out->size = from + strlen(out->data + from);
}

void rig_report_lost(const struct rig_verdict *verdict, struct rig_buf *out)
{
    const int64_t zero_ns = rig_history_zero_ns(verdict->history);
    rig_buf_add_text(out, "transaction\tprocess\tacknowledged_s\tkey\tvalue\tread\tread_began_s\n");
    for (size_t i = 0; i < verdict->lost.count; i++) {
        const struct rig_lost *lost = &verdict->lost.at[i];
        rig_buf_printf(out, "%" PRIu32 "\t%" PRId32 "\t", lost->txn, lost->process);
        add_time(out, lost->acknowledged_ns, zero_ns);
        rig_buf_add_char(out, '\t');
        add_field(out, lost->key);
        rig_buf_add_char(out, '\t');
        add_field(out, RIG_VALUE_SHOWN(lost->value));
        rig_buf_printf(out, "\t%" PRIu32 "\t", lost->reader);
        add_time(out, lost->read_ns, zero_ns);
        rig_buf_add_char(out, '\n');
    }
}
