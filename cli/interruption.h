/*
 * SIGINT, SIGTERM and SIGHUP during a command that has nothing to save: the command prints how far it came and exits
 * with 128 plus the signal's number (130 after Ctrl-C). Outputs appear whole or not at all, so nothing half-written
 * is left.
 *
 * `rig run` has signals of its own while the load goes on (cli/stop_signals.h); this is for its check afterwards.
 */
#ifndef RIG_CLI_INTERRUPTION_H
#define RIG_CLI_INTERRUPTION_H

#include <stdint.h>

/*
 * `describe` writes one line on how far it came into `text`, on a thread of its own while the command goes on: it reads
 * atomics only. Where the signals are ignored (nohup) they stay so. Without a thread the default of signals stays.
 */
void rig_cli_interruption_begin(void (*describe)(void *context, char *text, unsigned long size), void *context);
/* From the next begin on, the command ends at this time of the monotonic clock as by a signal, with exit status 2
 * (undecided); 0: it does not. */
void rig_cli_interruption_limit(int64_t at_ns);
/* Puts the signals back; the exit status no longer depends on them. */
void rig_cli_interruption_end(void);

#endif
