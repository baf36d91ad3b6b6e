#include "base/account.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };

bool rig_account_find(const char *name, struct rig_account *account)
{
    *account = (struct rig_account){.drop = geteuid() == 0, .uid = geteuid(), .gid = getegid()};
    if (!account->drop)
        return true;
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[4096];
    if (getpwnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return false;
    account->uid = found->pw_uid;
    account->gid = found->pw_gid;
    account->group_count = RIG_ACCOUNT_GROUPS_MOST;
    if (getgrouplist(name, found->pw_gid, account->groups, &account->group_count) < 0)
        account->group_count = RIG_ACCOUNT_GROUPS_MOST; /* it has more: the first ones do */
    (void)snprintf(account->name, sizeof account->name, "%s", name);
    return true;
}

static bool in_group(const struct rig_account *account, gid_t group)
{
    bool found = group == account->gid;
    for (int i = 0; i < account->group_count; i++)
        found = found || account->groups[i] == group;
    return found;
}

bool rig_account_can_reach(const struct rig_account *account, const char *path)
{
    char prefix[PATH_MOST];
    size_t length = strlen(path);
    if (!account->drop)
        return true;
    if (path[0] != '/' || length >= sizeof prefix)
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        struct stat status;
        if (stat(prefix, &status) != 0)
            return false;
        mode_t needed = status.st_uid == account->uid ? S_IXUSR : in_group(account, status.st_gid) ? S_IXGRP : S_IXOTH;
        if (!S_ISDIR(status.st_mode) || (status.st_mode & needed) == 0)
            return false;
    }
    return true;
}

bool rig_account_become(const struct rig_account *account)
{
    return !account->drop || (setgroups((size_t)account->group_count, account->groups) == 0 &&
                              setgid(account->gid) == 0 && setuid(account->uid) == 0);
}
