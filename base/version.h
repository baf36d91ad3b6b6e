/*
 * The version of this rig.
 */
#ifndef RIG_BASE_VERSION_H
#define RIG_BASE_VERSION_H

/* "0.1.0". Static. */
const char *rig_version(void);
/* From `git describe` when the build was configured; in an archive of the sources its commit; else "unknown". */
const char *rig_commit(void);

#endif
