/*
 * Which rig this is.
 */
#ifndef RIG_BASE_VERSION_H
#define RIG_BASE_VERSION_H

/* "0.1.0". Static. */
const char *rig_version(void);
/* What `git describe` said of the sources when the build was configured; of an archive its commit; else "unknown". */
const char *rig_commit(void);

#endif
