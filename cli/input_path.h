/*
 * Where a command finds what it reads: a history, which may be given as the folder of a run, and that folder.
 *
 * A run's folder holds `history.rig`, that of a run over several ranks `history.0.rig` and so on. A folder that holds a
 * link `latest` to one (`store/<name>`) stands for it. Other programs' folders are histories, too: those with
 * `history.bincode` of dbcop, or with logs of Cobra.
 */
#ifndef RIG_CLI_INPUT_PATH_H
#define RIG_CLI_INPUT_PATH_H

#include "base/err.h"

enum { RIG_CLI_PATH_BYTES = 4096, RIG_CLI_PATHS_MOST = 256 };

/* Paths of histories; each is to be freed (rig_cli_paths_done). */
struct rig_cli_paths {
    char *at[RIG_CLI_PATHS_MOST];
    size_t count;
};
/*
 * The same for several, which are the records of the ranks of one run. The folder of a run with `history.<rank>.rig` in
 * place of `history.rig` stands for all of them. Release it in any case.
 */
enum rig_rc rig_cli_find_histories(const char *const *given, size_t count, struct rig_cli_paths *paths,
                                   struct rig_err *err);
void rig_cli_paths_done(struct rig_cli_paths *paths);
/* rig_output_guard() for the file that rig_cli_find_history() gave, or for the logs in the folder. */
void rig_cli_guard_history(const char *path);
/* Gives the run's folder: itself, or its `latest`. Errors as above. */
enum rig_rc rig_cli_find_run(const char *given, char folder[RIG_CLI_PATH_BYTES], struct rig_err *err);

#endif
