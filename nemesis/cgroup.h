/*
 * A control group of rig's own for the processes of one node: made, filled, emptied and removed.
 *
 * Version 1 (a hierarchy for each controller) or version 2, the one that has the controller. The group is made where
 * the node's main process is, so that existing limits still apply: inside its group in version 1; in version 2, where a
 * group with processes has no child groups, beside it, or above it when only that folder passes the controller on. It
 * is in the undo journal before it is made. Processes forked in it belong to it; at the end all go back. If rig dies,
 * its nodes do too, and only an empty group is left to undo.
 *
 * Needs the right to make groups: root, as a rule.
 */
#ifndef RIG_NEMESIS_CGROUP_H
#define RIG_NEMESIS_CGROUP_H

#include "nemesis/fault_context.h"

enum { RIG_CGROUP_PATH_BYTES = 512 };

struct rig_cgroup {
    char path[RIG_CGROUP_PATH_BYTES];   /* of the group; empty: there is none */
    char origin[RIG_CGROUP_PATH_BYTES]; /* where its processes came from */
    bool unified;                       /* version 2: other names of files */
    uint64_t token;
};

/* For tests: reads this folder in the place of /proc. Before anything else here. */
void rig_cgroup_set_proc(const char *folder);
/* Whether groups of this controller ("cpu", "memory") can be made here; if not, `why` names the missing part. */
bool rig_cgroup_is_possible(const char *controller, char *why, size_t size);
/* Makes the group, empty. RIG_E_CLUSTER. `group` is safe for rig_cgroup_end() then and after a failure. */
enum rig_rc rig_cgroup_make(const struct rig_fault_site *site, uint32_t node, const char *controller,
                            struct rig_cgroup *group, struct rig_err *err);
/* Writes one of the group's files. RIG_E_CLUSTER. */
enum rig_rc rig_cgroup_set(const struct rig_cgroup *group, const char *file, const char *value, struct rig_err *err);
/* The number behind `key` in one of the group's files, or the first in it (NULL); 0 when there is none. */
uint64_t rig_cgroup_number(const struct rig_cgroup *group, const char *file, const char *key);
/* Moves the node's processes into it. RIG_E_CLUSTER when there is none to move. */
enum rig_rc rig_cgroup_take(const struct rig_fault_site *site, uint32_t node, const struct rig_cgroup *group,
                            uint32_t *count, struct rig_err *err);
/* Moves its processes out, removes it, and marks it as done in the journal. Idempotent. */
enum rig_rc rig_cgroup_end(const struct rig_fault_site *site, struct rig_cgroup *group, struct rig_err *err);

#endif
