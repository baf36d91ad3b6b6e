/*
 * The account that a child process runs under: another than rig's own when rig is root, because servers refuse root or
 * should not have it.
 */
#ifndef RIG_BASE_ACCOUNT_H
#define RIG_BASE_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>

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

/* `name` counts when rig runs as root only; else it is rig's own account. False: there is no user of that name. */
bool rig_account_find(const char *name, struct rig_account *account);
/* Whether the account may pass through every folder of the absolute path `path`. */
bool rig_account_can_reach(const struct rig_account *account, const char *path);
/* The calling process takes the account on. Async-signal-safe. */
bool rig_account_become(const struct rig_account *account);

#endif
