/*
 * SIGINT, SIGTERM and SIGHUP while a run is under way: a handler counts them, and the run ends by the count
 * (rig_run_options.interrupts). The check after the run has signals of its own (cli/interruption.h).
 *
 * Process-wide, as signals are.
 */
#ifndef RIG_CLI_STOP_SIGNALS_H
#define RIG_CLI_STOP_SIGNALS_H

#include <stdatomic.h>
#include <stdint.h>

/* Installs the handlers and keeps the old ones. A signal that was ignored before (nohup) stays ignored, but SIGTERM.
 * Gives the count, which starts at 0. */
const atomic_int *rig_cli_stop_signals_begin(void);

/* Puts the old handlers back. */
void rig_cli_stop_signals_end(void);

/*
 * The time limit of a whole run (`time-limit` of a plan). After three quarters of it the load is asked to end as by a
 * signal, after seven eighths the clients are interrupted, and the check has the rest.
 *
 * Threads: one of its own while the load goes on.
 */

/* Between rig_cli_stop_signals_begin() and rig_cli_stop_signals_end(). The time counts from `start_ns` of the monotonic
 * clock; a limit of 0 is none. Without a thread the load is not limited, and the check is. */
void rig_cli_time_limit_begin(int64_t start_ns, int64_t limit_ns);
/* The load is over. */
void rig_cli_time_limit_end(void);
/* `budget_ns`, or half of the time that is left, if that is less: the solver is not all of a check. At least 1 ms. */
int64_t rig_cli_time_limit_share(int64_t start_ns, int64_t limit_ns, int64_t budget_ns);

#endif
