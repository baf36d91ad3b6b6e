/*
 * The time limit of a whole run (`time-limit` of a plan). After three quarters of it the load is asked to end as by a
 * signal, after seven eighths the clients are interrupted, and the check has the rest.
 *
 * Threads: one of its own while the load goes on.
 */
#ifndef RIG_CLI_TIME_LIMIT_H
#define RIG_CLI_TIME_LIMIT_H

#include <stdint.h>

/* Between rig_cli_stop_signals_begin() and rig_cli_stop_signals_end(). The time counts from `start_ns` of the monotonic
 * clock; a limit of 0 is none. Without a thread the load is not limited, and the check is. */
void rig_cli_time_limit_begin(int64_t start_ns, int64_t limit_ns);
/* The load is over. */
void rig_cli_time_limit_end(void);
/* `budget_ns`, or half of the time that is left, if that is less: the solver is not all of a check. At least 1 ms. */
int64_t rig_cli_time_limit_share(int64_t start_ns, int64_t limit_ns, int64_t budget_ns);

#endif
