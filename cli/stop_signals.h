/*
 * SIGINT, SIGTERM and SIGHUP while a run is under way: a handler counts them, and the run ends by the count
 * (rig_run_options.interrupts). The check after the run has signals of its own (cli/interruption.h).
 *
 * Process-wide, as signals are.
 */
#ifndef RIG_CLI_STOP_SIGNALS_H
#define RIG_CLI_STOP_SIGNALS_H

#include <stdatomic.h>

/* Installs the handlers and keeps the old ones. A signal that was ignored before (nohup) stays ignored, but SIGTERM.
 * Gives the count, which starts at 0. */
const atomic_int *rig_cli_stop_signals_begin(void);
/* Asks the run to end as one more signal does, from any thread. */
void rig_cli_stop_signals_ask(void);
/* Puts the old handlers back. */
void rig_cli_stop_signals_end(void);

#endif
