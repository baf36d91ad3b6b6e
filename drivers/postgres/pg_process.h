/*
 * Child processes of this driver: started under an account without privileges when rig is root, stopped with bounds,
 * and ended by the kernel when rig dies.
 *
 * A child has its own session, so that a terminal's Ctrl-C reaches rig only, and dies by `death_signal` when the thread
 * that started it ends; start servers from a thread that lives as long as the run.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_PROCESS_H
#define RIG_DRIVERS_POSTGRES_PG_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { RIG_PG_PATH_BYTES = 1024, RIG_PG_GROUPS_MOST = 64 };

/* The account that children run under. */
struct rig_pg_user {
    bool drop; /* rig is root: children change to this account */
    uid_t uid;
    gid_t gid;
    gid_t groups[RIG_PG_GROUPS_MOST];
    int group_count;
    char name[64];
};

/* `name` counts when rig runs as root only; else children run as rig itself. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_pg_user_find(const char *name, struct rig_pg_user *user, struct rig_err *err);
/* Whether the account may pass through every folder of the absolute path `path`. */
bool rig_pg_user_can_reach(const struct rig_pg_user *user, const char *path);

struct rig_pg_command {
    const char *const *arguments; /* NULL-ended; the first is the absolute path of the program */
    const struct rig_pg_user *user;
    const char *home; /* its working folder */
    int output;       /* descriptor for its output and errors */
    int death_signal; /* what the kernel sends it when rig dies */
};

/* RIG_E_CLUSTER when it cannot be executed. */
enum rig_rc rig_pg_process_start(const struct rig_pg_command *command, pid_t *pid, struct rig_err *err);
/* Whether it has ended; it stays a zombie, so that its number is not given away, until rig_pg_process_reap(). */
bool rig_pg_process_ended(pid_t pid);
/* Waits for its end, at most `timeout_ns`; returns whether it has ended. */
bool rig_pg_process_await(pid_t pid, int64_t timeout_ns);
/* Its exit status as from waitpid(); only once it has ended. */
int rig_pg_process_reap(pid_t pid);

/* Removes a folder and all below it, following no links. Best effort. */
void rig_pg_tree_remove(const char *path);

#endif
