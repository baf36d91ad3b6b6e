#include "cli/rerun_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"

void rig_cli_write_share(uint64_t shown, uint64_t of, const char *noun, struct rig_buf *out)
{
    const struct rig_interval interval = rig_interval_of_share(shown, of);
    rig_buf_printf(out, "%" PRIu64 " of %" PRIu64 " %s%s (95 %%: ", shown, of, noun, rig_plural(of));
    if (shown == 0)
        rig_buf_add_text(out, "at most ");
    else if (shown == of)
        rig_buf_add_text(out, "at least ");
    if (shown > 0)
        rig_buf_printf(out, "%.0f %%", floor(interval.least * 100));
    if (shown > 0 && shown < of)
        rig_buf_add_text(out, " to ");
    if (shown < of)
        rig_buf_printf(out, "%.0f %%", ceil(interval.most * 100));
    rig_buf_add_char(out, ')');
}

void rig_cli_write_rate(const struct rig_rerun_tally *tally, struct rig_buf *out)
{
    double rate;
    const struct rig_interval interval = rig_interval_of_rate(tally->observed, tally->runs, &rate);
    rig_buf_printf(out, "%.3g anomalies a minute of load (95 %%: %.3g to %.3g)", rate, interval.least, interval.most);
}

static void add_share(struct rig_json_writer *json, uint64_t shown, uint64_t of)
{
    const struct rig_interval interval = rig_interval_of_share(shown, of);
    rig_json_int(json, "of", (int64_t)of);
    rig_json_int(json, "shown", (int64_t)shown);
    rig_json_number(json, "least", interval.least);
    rig_json_number(json, "most", interval.most);
}

void rig_cli_json_share(struct rig_json_writer *json, const char *name, uint64_t shown, uint64_t of)
{
    rig_json_begin_object(json, name);
    add_share(json, shown, of);
    rig_json_end(json);
}

void rig_cli_json_tally(struct rig_json_writer *json, const char *name, const struct rig_rerun_tally *tally)
{
    double rate;
    const struct rig_interval interval = rig_interval_of_rate(tally->observed, tally->runs, &rate);
    rig_json_begin_object(json, name);
    add_share(json, tally->showing, tally->runs);
    rig_json_int(json, "failed", tally->failed);
    if (tally->runs > 0) {
        rig_json_begin_object(json, "a-minute");
        rig_json_number(json, "rate", rate);
        rig_json_number(json, "least", interval.least);
        rig_json_number(json, "most", interval.most);
        rig_json_end(json);
    }
    rig_json_end(json);
}

void rig_cli_tell_rerun(const struct rig_rerun *rerun, const struct rig_rerun_result *result)
{
    (void)printf("  run %u, seed %" PRIu64 ": ", (unsigned)rerun->run_count, result->seed);
    if (result->is_judged)
        (void)printf("%" PRIu64 " anomal%s in %.1f s of load%s\n", result->events, result->events == 1 ? "y" : "ies",
                     result->load_s, result->was_cut ? ", which was cut" : "");
    else if (result->was_cut)
        (void)printf("the time was over before its load began\n");
    else
        (void)printf("failed (exit status %d): %s\n", result->status,
                     result->why[0] == '\0' ? "it says nothing" : result->why);
    (void)fflush(stdout);
}
