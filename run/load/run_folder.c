#include "run/load/run_folder.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "nemesis/journal.h"

enum { LONGEST_PREFIX = 60 }; /* a socket's path has 107 bytes in all */

static enum rig_rc make(char *path, size_t size, struct rig_err *err)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] != '/' || strlen(parent) > LONGEST_PREFIX)
        parent = "/tmp";
    char made[128];
    (void)snprintf(made, sizeof made, "%s/rig-XXXXXX", parent);
    if (mkdtemp(made) == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot make a work folder: %s", parent, strerror(errno));
    if (chmod(made, 0711) != 0 || strlen(made) >= size) {
        (void)rmdir(made);
        return rig_fail(err, RIG_E_IO, "%s: cannot make a work folder", parent);
    }
    (void)snprintf(path, size, "%s", made);
    return RIG_OK;
}

static void remove_entry(const FTSENT *entry)
{
    int failed = 0;
    switch (entry->fts_info) {
    case FTS_D:
        return;
    case FTS_DP:
        failed = rmdir(entry->fts_accpath);
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        failed = -1;
        errno = entry->fts_errno;
        break;
    default:
        failed = unlink(entry->fts_accpath);
        break;
    }
    if (failed != 0 && errno != ENOENT)
        rig_log(RIG_LOG_WARN, "run", "%s: cannot remove: %s", entry->fts_path, strerror(errno));
}

static void remove_tree(const char *path)
{
    char copy[256];
    (void)snprintf(copy, sizeof copy, "%s", path);
    char *roots[] = {copy, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (tree == NULL) {
        rig_log(RIG_LOG_WARN, "run", "%s: cannot remove: %s", path, strerror(errno));
        return;
    }
    for (FTSENT *entry = fts_read(tree); entry != NULL; entry = fts_read(tree))
        remove_entry(entry);
    (void)fts_close(tree);
}

enum rig_rc rig_run_folder_make(struct rig_run_folder *folder, bool simulated, bool faults, const char *place,
                                struct rig_err *err)
{
    struct rig_err problem = {0};
    enum rig_rc rc = make(folder->path, sizeof folder->path, err);
    if (rc != RIG_OK || simulated)
        return rc;
    rc = rig_journal_open(&folder->journal, place, &problem);
    if (rc == RIG_OK)
        rc = rig_journal_folder(folder->journal, "files of a run", folder->path, &folder->token, &problem);
    if (rc == RIG_OK)
        return RIG_OK;
    if (faults)
        return rig_fail(err, rc, "%s", problem.text);
    rig_log(RIG_LOG_WARN, "run", "%s: %s will remain if rig is killed", problem.text, folder->path);
    return RIG_OK;
}

void rig_run_folder_remove(struct rig_run_folder *folder)
{
    if (folder->path[0] != '\0')
        remove_tree(folder->path);
    if (folder->journal != NULL)
        rig_journal_forget(folder->journal, folder->token);
    rig_journal_close(folder->journal);
    folder->journal = NULL;
}

enum rig_rc rig_run_name_make(char name[RIG_RUN_NAME_BYTES], struct rig_err *err)
{
    char utc[32]; /* 20260131T235959.123Z */
    uint32_t number = 0;
    rig_clock_utc_text(utc, sizeof utc);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return rig_fail(err, RIG_E_IO, "no random number for the run's name: %s", strerror(errno));
    (void)snprintf(name, RIG_RUN_NAME_BYTES, "rig_%.8s_%.6s_%08x", utc, utc + 9, (unsigned)number);
    return RIG_OK;
}
