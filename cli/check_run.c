#include "cli/check_run.h"

#include "base/clock.h"
#include "checker/asked.h"
#include "cli/input_path.h"

enum rig_rc rig_cli_check_run(const char *folder, const struct rig_source_options *from,
                              const struct rig_stream_options *options, struct rig_verdict **verdict,
                              struct rig_err *err)
{
    static struct rig_cli_paths paths; /* one command a process */
    struct rig_source *source = NULL;
    const int64_t start_ns = rig_clock_now_ns();
    enum rig_rc rc = rig_cli_find_histories(&folder, 1, &paths, err);
    if (rc == RIG_OK)
        rc = rig_source_open_ranks((const char *const *)paths.at, paths.count, from, &source, err);
    const double open_ms = (double)(rig_clock_now_ns() - start_ns) / (double)RIG_NS_PER_MS;
    if (rc == RIG_OK)
        rc = rig_asked_require_possible(rig_source_facts(source)->workload, options->check.anomalies, err);
    if (rc == RIG_OK)
        rc = rig_check_source(source, paths.count > 1 ? folder : paths.at[0], options, verdict, err);
    if (rc == RIG_OK)
        (*verdict)->cost.read_ms += open_ms;
    rig_source_close(source);
    rig_cli_paths_done(&paths);
    return rc;
}
