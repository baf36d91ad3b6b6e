/*
 * Processes as /proc shows them, by number and start time, because the number alone may since have gone to another
 * process.
 *
 * Threads: any. An ended process that its parent has not reaped yet (a zombie) counts as ended.
 */
#ifndef RIG_BASE_PROCESS_H
#define RIG_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rig_process {
    pid_t pid;
    uint64_t started; /* clock ticks since the machine's start; 0: unknown */
};

enum { RIG_BOOT_ID_BYTES = 40 };

/* The fields of /proc/<pid>/stat. */
struct rig_process_stat {
    char state; /* as ps shows it: 'R', 'S', 'T' (stopped), 'Z' (ended, not reaped), ... */
    pid_t parent;
    pid_t session;
    int threads;
    uint64_t started;
    char program[16]; /* the kernel's name of the process: at most 15 characters of the file's name */
};

/* Also for a process that has ended and was not reaped. False: there is no process with this number. */
bool rig_process_stat(pid_t pid, struct rig_process_stat *stat);
/* The same from the open file, which stays that of its process; false when that was reaped. No allocation, no lock. */
bool rig_process_stat_read(int fd, struct rig_process_stat *stat);

/* False: there is none, or it has ended but was not reaped. */
bool rig_process_find(pid_t pid, struct rig_process *process);
/* Whether this process is still running. */
bool rig_process_lives(const struct rig_process *process);
/* Its state as ps shows it ('T': stopped); '\0' when it has ended. */
char rig_process_state(const struct rig_process *process);
/* Sends a signal, to this process only. False with `errno`: ESRCH when it has ended, else why it may not be
 * signalled. */
bool rig_process_signal(const struct rig_process *process, int signal_number);
/* Waits, `timeout_ns` at most, until it has ended. Returns whether it has. */
bool rig_process_await_end(const struct rig_process *process, int64_t timeout_ns);
/* Waits, `timeout_ns` at most, until it is stopped, or runs again. False: it did not, or it has ended. */
bool rig_process_await_state(const struct rig_process *process, bool stopped, int64_t timeout_ns);
/* The shared memory segments (System V) that the process has attached: at most `capacity` numbers; returns how many. */
uint32_t rig_process_segments(const struct rig_process *process, int *segments, uint32_t capacity);
/* Calls `visit` with the number of each process of the machine. */
void rig_process_each(void (*visit)(pid_t pid, void *context), void *context);
/* The identity of the machine's current boot; empty where there is none. */
void rig_process_boot_id(char id[RIG_BOOT_ID_BYTES]);

/*
 * A mark in the environment of child processes, by which descendants are found that have left their session and closed
 * the tether (child.h), as daemons do.
 *
 * The mark has 128 random bits. A process whose environment has it from its start descends from the child that got it;
 * a program can remove it from what it starts, and is then not found.
 *
 * Threads: any.
 */

enum { RIG_CHILD_MARK_BYTES = 80 };

/* "NAME=<random>." begins the marks of one family of children; empty when the kernel gives no random bytes. */
void rig_child_mark_family(char family[RIG_CHILD_MARK_BYTES]);
/* The mark of the family's n-th child; empty when the family has none. */
void rig_child_mark_of(const char *family, uint64_t number, char mark[RIG_CHILD_MARK_BYTES]);

/* The living processes with the mark, or with any of the family: at most `capacity`; returns how many there are. An
 * empty text: none. */
uint32_t rig_child_mark_find(const char *mark, struct rig_process *found, uint32_t capacity);
/* Sends a signal to a process that still has the mark, and to no other one. False: it has ended, or may not be
 * signalled. */
bool rig_child_mark_signal(const char *mark, const struct rig_process *process, int signal_number);

/*
 * The account that a child process runs under. If rig is root it is another account, because servers refuse to run as
 * root or should not.
 */

enum { RIG_ACCOUNT_GROUPS_MOST = 64 };

/* Zeroed: rig's own. */
struct rig_account {
    bool drop; /* rig is root: children change to this account */
    uid_t uid;
    gid_t gid;
    gid_t groups[RIG_ACCOUNT_GROUPS_MOST];
    int group_count;
    char name[64];
};

/* `name` is used only if rig runs as root; otherwise the account is rig's own. False: there is no user of that name. */
bool rig_account_find(const char *name, struct rig_account *account);
/* Whether the account may pass through every folder of the absolute path `path`. */
bool rig_account_can_reach(const struct rig_account *account, const char *path);
/* Changes the calling process to the account. Async-signal-safe. */
bool rig_account_become(const struct rig_account *account);

#endif
