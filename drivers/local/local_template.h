/*
 * The data folder that every server of a database starts from: made by the database's own program once, and kept for
 * later runs.
 *
 * Templates are in $XDG_CACHE_HOME/rig/NAME (or below $HOME/.cache), NAME being the database's; the folder belongs to
 * rig's user alone. A template is found by a hash over the programs' identity (path, size, time of change) and their
 * options; it holds no password. At most RIG_LOCAL_TEMPLATES_MOST are kept, about 50 MB each; the longest unused are
 * removed first.
 *
 * Safe with concurrent rigs and crashes: a template appears under its name by one rename, when it is complete and on
 * disk; a copy holds a shared lock on the folder, a removal an exclusive one, and the kernel drops the locks of ended
 * processes. Without a cache (no home, no space, wrong owner) the program runs each time.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_TEMPLATE_H
#define RIG_DRIVERS_LOCAL_LOCAL_TEMPLATE_H

#include "drivers/local/local_site.h"

enum { RIG_LOCAL_TEMPLATES_MOST = 10 };

/* All that shapes the data; the data may depend on nothing else. */
struct rig_local_recipe {
    const char *const *programs; /* absolute paths, ended by NULL */
    const char *const *options;  /* ended by NULL */
    /* Makes the folder `data` as the account, with these programs and options. */
    enum rig_rc (*make)(void *context, const char *data, int64_t deadline_ns, struct rig_err *err);
    void *context;
};

/* Makes the data folder `data`, which does not exist, of a server that has never run. The errors are those of
 * `make`. */
enum rig_rc rig_local_template_provide(const struct rig_local_site *site, const struct rig_local_recipe *recipe,
                                       const char *data, int64_t deadline_ns, struct rig_err *err);

#endif
