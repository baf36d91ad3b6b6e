/*
 * SIGINT, SIGTERM and SIGHUP during a run: counted by an async-signal-safe handler that also wakes the monitor.
 *
 * Private to run/. Process-wide; one run at a time.
 */
#ifndef RIG_RUN_RUN_SIGNALS_H
#define RIG_RUN_RUN_SIGNALS_H

#include "base/err.h"

/* Installs the handlers and keeps the old ones. A signal that was ignored before (nohup) stays ignored. */
enum rig_rc rig_run_signals_install(struct rig_err *err);
/* Puts the old handlers back. Safe to repeat. */
void rig_run_signals_restore(void);
/* How many came since they were installed. Async-signal-safe. */
int rig_run_signals_count(void);
/* Waits until a signal came or rig_run_signals_wake() was called, `timeout_ms` at most. */
void rig_run_signals_wait(int timeout_ms);
void rig_run_signals_wake(void);

#endif
