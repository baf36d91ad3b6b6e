/*
 * Servers of several versions on one machine, in folders that are named after them: `14.3`, `postgresql-14.3`,
 * `14.3.0-beta.6`, `mysql-5.6.24`, with the programs in `bin`, or in `native/bin` or `package/native/bin` as npm
 * packages have them.
 *
 * Threads: any, while no thread changes the environment.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_VERSIONS_H
#define RIG_DRIVERS_LOCAL_LOCAL_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One or two numbers of a version; the second is -1 where there is none. */
struct rig_local_version {
    long major, minor;
};
/* The first number in the text, and the one behind its dot; false when it has none. */
bool rig_local_version_read(const char *text, struct rig_local_version *version);
/* Whether a server of version `found` is one of `asked`. */
bool rig_local_version_fits(const struct rig_local_version *asked, const struct rig_local_version *found);

/* Finds the newest server with all `programs` (NULL-ended) in `root`, of version `asked` unless that is NULL. False:
 * there is none, or its path is longer than `size`. */
bool rig_local_version_newest(const char *root, const char *const *programs, const struct rig_local_version *asked,
                              char *folder, size_t size);
/* Finds a server of version `asked`: in `servers` (NULL or empty: none), else in $RIG_SERVERS, else the newest in the
 * caches of scripts/servers and in `packaged` (NULL: none). */
bool rig_local_version_find(const char *servers, const char *packaged, const char *const *programs,
                            const struct rig_local_version *asked, char *folder, size_t size);

#endif
