/*
 * Child processes: servers and tools that rig runs, ended with all their descendants, and by the kernel when rig dies.
 *
 * A child has its own session, so that a terminal's Ctrl-C reaches rig only. The kernel sends it `death_signal` when
 * the thread that forked it ends; so a thread of its own forks the children of a `struct rig_children`, and lives as
 * long as that does.
 *
 * Descendants: each child holds an open pipe, the tether (descriptor 3), which all its descendants inherit. A process
 * that holds it belongs to the child, even after the child itself has ended; when no process holds it, all have ended.
 * A descendant that closes its descriptors, as daemons and the subprocesses of Python do, leaves the tether; it is
 * found by a mark in its environment, where the command asks for one.
 * The process is made a subreaper, so that orphans become rig's own children, and none stays a zombie under a process 1
 * that does not reap.
 *
 * Threads: any, one call for one child at a time; rig_child_pid() at any time, in signal handlers too.
 */
#ifndef RIG_BASE_CHILD_H
#define RIG_BASE_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/process.h"

struct rig_children;

/* RIG_E_CLUSTER when no thread can be started. */
enum rig_rc rig_children_new(struct rig_children **children, struct rig_err *err);
/* Every child must have been cleared before. Takes NULL. */
void rig_children_free(struct rig_children *children);

/* One child; zeroed: none. It does not move while it runs. */
struct rig_child {
    atomic_int pid;                  /* of the main process; 0: none, or reaped */
    int tether_plus_one;             /* the end that rig holds, + 1; 0: none */
    char program[16];                /* as the kernel names its processes */
    char mark[RIG_CHILD_MARK_BYTES]; /* in the environment of it and its descendants; empty: none */
    struct rig_child *next;
};

struct rig_child_command {
    const char *const *arguments;   /* NULL-ended; the first is the absolute path of the program */
    const char *const *environment; /* NULL-ended "NAME=value" beyond PATH, LC_ALL=C and TZ=UTC; NULL: none */
    bool whole_environment;         /* `environment` is complete: the three are not added */
    bool marked;                    /* with `whole_environment`: it gets a mark, for rig_children_end_left() */
    const struct rig_account *account;
    const char *home;    /* its working folder */
    int output;          /* descriptor for its output and errors */
    int input_plus_one;  /* descriptor for its input, + 1; 0: /dev/null */
    int errors_plus_one; /* descriptor for its errors, + 1; 0: as its output */
    int death_signal;    /* what the kernel sends it when rig dies */
};

/* RIG_E_CLUSTER when it cannot be executed. */
enum rig_rc rig_child_start(struct rig_children *children, const struct rig_child_command *command,
                            struct rig_child *child, struct rig_err *err);
/* The number of the main process; 0: there is none. Async-signal-safe. */
pid_t rig_child_pid(const struct rig_child *child);
/* Whether the main process has ended (or there is none); its number is not reused until it is reaped. */
bool rig_child_ended(const struct rig_child *child);
/* Waits for the end of the main process, at most `timeout_ns`; returns whether it has ended. */
bool rig_child_await(const struct rig_child *child, int64_t timeout_ns);
/* The living processes of the child, the main one first; returns how many there are, and fills at most `capacity`. */
uint32_t rig_child_processes(const struct rig_child *child, pid_t *pids, uint32_t capacity);
/* Whether the process of this number is one of the child, and which one it is: so that a signal goes to no other
 * one. */
bool rig_child_find(const struct rig_child *child, pid_t pid, struct rig_process *process);
/* Sends a signal to the living processes of the child, and to no other one; `pids` is room for their numbers. Returns
 * how many were found, `capacity` at most. */
uint32_t rig_child_signal_all(const struct rig_child *child, pid_t *pids, uint32_t capacity, int signal_number);
/*
 * Kills all processes of the child (SIGKILL), waits at most `timeout_ns` until they have ended, and reaps them.
 * `*status` (may be NULL) is that of the main process, as from waitpid(). False if one did not end, being stuck in the
 * kernel; the child then stays as it is. True for a zeroed child.
 */
bool rig_child_clear(struct rig_child *child, int64_t timeout_ns, int *status);

/* Whether a descendant of the child, which was cleared, has left the tether and lives on; only where it has a mark. */
bool rig_child_left_processes(const struct rig_child *child);
/*
 * Kills all descendants of these children that have left their tether and have a mark; `tell` gets each one, and
 * whether it has ended. After the children were cleared. At most `timeout_ns`.
 */
void rig_children_end_left(struct rig_children *children, int64_t timeout_ns,
                           void (*tell)(void *context, const char *program, pid_t pid, bool ended), void *context);

#endif
