/*
 * Processes by number and start time, as /proc shows them: a number alone may have been given to somebody else.
 */
#ifndef RIG_NEMESIS_PROCESS_H
#define RIG_NEMESIS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rig_process {
    pid_t pid;
    uint64_t started; /* clock ticks since the machine's start; 0: unknown */
};

enum { RIG_BOOT_ID_BYTES = 40 };

/* False: there is none, or it has ended and only its number is left. */
bool rig_process_find(pid_t pid, struct rig_process *process);
/* Whether it still is this one, and not ended. */
bool rig_process_lives(const struct rig_process *process);
/* Its state as ps shows it ('T': stopped); '\0' when it is no more. */
char rig_process_state(const struct rig_process *process);
/* Sends a signal, unless it is no more. False: it is no more, or may not be signalled (`errno`). */
bool rig_process_signal(const struct rig_process *process, int signal_number);
/* Waits, `timeout_ns` at most, until it has ended. Returns whether it has. */
bool rig_process_await_end(const struct rig_process *process, int64_t timeout_ns);
/* Waits, `timeout_ns` at most, until it is stopped, or goes on. False: it did not, or has ended. */
bool rig_process_await_state(const struct rig_process *process, bool stopped, int64_t timeout_ns);
/* The shared memory segments (System V) that the process has attached: at most `capacity` numbers; returns how many. */
uint32_t rig_process_segments(const struct rig_process *process, int *segments, uint32_t capacity);
/* A name for this start of the machine; empty where it has none. */
void rig_process_boot_id(char id[RIG_BOOT_ID_BYTES]);

#endif
