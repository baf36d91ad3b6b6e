/*
 * Finds files that rig ships beside its binary: dialects, plans, reproductions.
 *
 * Folders, first to last: those of an environment variable, separated by colons; the kind's folder in that of the
 * binary (a build folder has links to its source tree); the same among the installed data, relative to the binary, for
 * a tree that was moved as a whole; and where it was configured to be.
 *
 * Threads: any.
 */
#ifndef RIG_BASE_DATA_FOLDER_H
#define RIG_BASE_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"

struct rig_data_kind {
    const char *folder;
    const char *variable; /* of the environment; NULL: none */
};

extern const struct rig_data_kind rig_data_configs, rig_data_dialects, rig_data_sql_dialects, rig_data_shims;

/*
 * Writes the path of the first `<folder>/<name>` that can be read, and adds the folders that were tried to `tried`, for
 * a message. False: there is none.
 */
bool rig_data_folder_find(const struct rig_data_kind *kind, const char *name, char *path, size_t path_size,
                          struct rig_buf *tried);

/*
 * Reads the file `<name>.yaml` of a kind; a name with a `/` or with its ending is the path of a file. `path` gets the
 * file's path, `option` names the key in messages. RIG_E_PLAN.
 */
enum rig_rc rig_data_folder_read(const struct rig_data_kind *kind, const char *option, const char *name, char *path,
                                 size_t path_size, struct rig_buf *text, struct rig_err *err);

/*
 * The names of the files `<folder><subfolder>/<name>.yaml`, without hidden ones: sorted, each once, from `arena`.
 * `subfolder`: empty, or with a `/` before it. None is no error. RIG_E_LIMIT.
 */
enum rig_rc rig_data_folder_names(const struct rig_data_kind *kind, const char *subfolder, struct rig_arena *arena,
                                  struct rig_text_list *names, struct rig_err *err);

/*
 * Loads the module `name` ("rig-mpi.so") of this rig: from the folder of the binary, then from where drivers are
 * installed. `flags` of dlopen(); `where` gets its path. NULL: none can be loaded; dlerror() has the reason, or NULL
 * where there is no such file.
 */
void *rig_module_open(const char *name, int flags, char *where, size_t where_size);

#endif
