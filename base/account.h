/*
 * The account that a child process runs under. If rig is root it is another account, because servers refuse to run as
 * root or should not.
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

/* `name` is used only if rig runs as root; otherwise the account is rig's own. False: there is no user of that name. */
bool rig_account_find(const char *name, struct rig_account *account);
/* Whether the account may pass through every folder of the absolute path `path`. */
bool rig_account_can_reach(const struct rig_account *account, const char *path);
/* Changes the calling process to the account. Async-signal-safe. */
bool rig_account_become(const struct rig_account *account);

#endif
