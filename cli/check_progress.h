/*
 * The progress of a check that takes long: transactions read, the share of the history, the anomalies found so far. On
 * a terminal it is one line that is redrawn, elsewhere one line every 30 s; an interruption prints it once more.
 */
#ifndef RIG_CLI_CHECK_PROGRESS_H
#define RIG_CLI_CHECK_PROGRESS_H

#include <stdatomic.h>

#include "checker/model/watch.h"
#include "cli/arguments.h"
#include "run/load/run_progress.h"

#define RIG_ARGUMENT_NO_PROGRESS                                                                                       \
    {                                                                                                                  \
        .name = "no-progress", .help = "no progress, neither a line on a terminal nor one every 30 s off it"           \
    }
#define RIG_ARGUMENT_PROGRESS                                                                                          \
    {                                                                                                                  \
        .name = "progress", .value = "auto|json", .choices = rig_cli_progress_choices,                                 \
        .help = "form of the progress: text as above, or every 30 s a line of JSON; auto when not given"               \
    }
extern const char *const rig_cli_progress_choices[];
#define RIG_ARGUMENT_QUIET                                                                                             \
    {                                                                                                                  \
        .name = "quiet", .letter = 'q',                                                                                \
        .help = "print only the two lines of the verdict, the summary of the history and whether it is valid; no "     \
                "progress; complaints still go to stderr"                                                              \
    }
#define RIG_ARGUMENT_BRIEF                                                                                             \
    {                                                                                                                  \
        .name = "brief", .help = "print as little as with --quiet, and of a run the path of its report; with progress" \
    }

#define RIG_ARGUMENT_VERBOSE                                                                                           \
    {                                                                                                                  \
        .name = "verbose", .help = "on a terminal, print the whole report, as into a file or a pipe: not one screen"   \
    }

struct rig_cli_check_progress {
    struct rig_check_watch watch;
    struct rig_progress_look look;
    int64_t start_ns;
    int64_t pass_ns;  /* when the pass began */
    int64_t shown_ns; /* 0: never */
    int64_t saved_ns; /* in the file; 0: never */
    uint64_t shown_count;
    uint32_t pass;
    /* For the thread of an interruption. */
    _Atomic uint64_t read_count;
    _Atomic uint32_t read_permille;
    _Atomic uint64_t found_count; /* anomalies */
};

/*
 * As --progress, --quiet and --no-progress say, which the command's table has. Between lines are 30 s, or the duration
 * that RIG_HEARTBEAT gives (`5s`; `0s`: no such lines).
 */
struct rig_progress_look rig_cli_progress_look(const struct rig_arguments *arguments);
/* Starts the clock and watches for signals. */
void rig_cli_check_progress_init(struct rig_cli_check_progress *progress, struct rig_progress_look look);
/* For the check. Borrowed. */
const struct rig_check_watch *rig_cli_check_progress_watch(const struct rig_cli_check_progress *progress);
/* Removes the line; signals do again what they did before. */
void rig_cli_check_progress_done(struct rig_cli_check_progress *progress);

#endif
