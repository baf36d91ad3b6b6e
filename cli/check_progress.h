/*
 * The progress line of a check, on a terminal, once it takes long: what was read, how much of the history that is, what
 * was found so far.
 */
#ifndef RIG_CLI_CHECK_PROGRESS_H
#define RIG_CLI_CHECK_PROGRESS_H

#include "checker/watch.h"
#include "cli/arguments.h"

#define RIG_ARGUMENT_NO_PROGRESS                                                                                       \
    {                                                                                                                  \
        .name = "no-progress", .help = "no progress line, on a terminal either"                                        \
    }

struct rig_cli_check_progress {
    struct rig_check_watch watch;
    bool is_on;
    int64_t start_ns;
    int64_t pass_ns;  /* when the pass began */
    int64_t shown_ns; /* 0: never */
    uint64_t shown_count;
    uint32_t pass;
};

/* Starts the clock. There is no line where it is not wanted, nor where standard error is no terminal. */
void rig_cli_check_progress_init(struct rig_cli_check_progress *progress, bool is_wanted);
/* For the check; NULL where there is no line. Borrowed. */
const struct rig_check_watch *rig_cli_check_progress_watch(const struct rig_cli_check_progress *progress);
/* Removes the line. */
void rig_cli_check_progress_done(struct rig_cli_check_progress *progress);

#endif
