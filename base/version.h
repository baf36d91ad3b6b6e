/*
 * The version of this rig.
 */
#ifndef RIG_BASE_VERSION_H
#define RIG_BASE_VERSION_H

/* "0.1.0". Static. */
const char *rig_version(void);
/* From `git describe` when the build was configured; in an archive of the sources its commit; else "unknown". */
const char *rig_commit(void);
/* "GCC 12.2.0"; "Release"; "libyaml 0.2.5, ...", with the versions that the build found. Static. */
const char *rig_compiler(void);
const char *rig_build_type(void);
const char *rig_libraries(void);

#endif
