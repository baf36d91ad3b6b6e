#include "cli/check_run.h"

#include "base/clock.h"
#include "base/log.h"
#include "checker/judge/asked.h"
#include "cli/check_ranks.h"
#include "cli/input_path.h"

static enum rig_rc check(struct rig_source *source, const char *name, const struct rig_cli_paths *paths,
                         struct rig_team *team, const struct rig_source_options *from,
                         const struct rig_stream_options *options, struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_cli_check_ranks ranks;
    struct rig_stream_options shared = *options;
    if (team == NULL)
        return rig_check_source(source, name, options, verdict, err);
    rig_cli_check_ranks_init(&ranks, team);
    rig_cli_check_ranks_open(&ranks, (const char *const *)paths->at, paths->count, from, &shared);
    const enum rig_rc rc = rig_check_source(source, name, &shared, verdict, err);
    if (ranks.helpers.why.rc != RIG_OK)
        rig_log(RIG_LOG_INFO, "check", "rank 0 has checked alone: %s", ranks.helpers.why.text);
    else if (rc == RIG_OK)
        rig_log(RIG_LOG_INFO, "check", "%u ranks have shared the check", (unsigned)(*verdict)->cost.process_count);
    return rc;
}

enum rig_rc rig_cli_check_run(const char *folder, struct rig_team *team, const struct rig_source_options *from,
                              const struct rig_stream_options *options, struct rig_verdict **verdict,
                              struct rig_err *err)
{
    static struct rig_cli_paths paths; /* one command a process */
    struct rig_source *source = NULL;
    struct rig_source_options by = *from;
    const int64_t start_ns = rig_clock_now_ns();
    by.by_blocks = team != NULL;
    enum rig_rc rc = rig_cli_find_histories(&folder, 1, &paths, err);
    if (rc == RIG_OK)
        rc = rig_source_open_ranks((const char *const *)paths.at, paths.count, &by, &source, err);
    const double open_ms = (double)(rig_clock_now_ns() - start_ns) / (double)RIG_NS_PER_MS;
    if (rc == RIG_OK)
        rc = rig_asked_require_possible(rig_source_facts(source)->workload, options->check.anomalies, err);
    if (rc == RIG_OK)
        rc = check(source, paths.count > 1 ? folder : paths.at[0], &paths, team, &by, options, verdict, err);
    if (rc == RIG_OK)
        (*verdict)->cost.read_ms += open_ms;
    rig_source_close(source);
    rig_cli_paths_done(&paths);
    return rc;
}
