/*
 * The undo journal: changes to undo if this rig dies before it can undo them itself.
 *
 * One file a rig, in a folder that is the same for every rig of a user: RIG_JOURNAL, else ~/.local/state/rig/undo (the
 * home of the account, independent of HOME), else, when that cannot be written, /var/tmp/rig-undo-<uid>. The folder
 * and the files belong to the user alone: they hold commands that will be run. An entry is on disk (fsync) before the
 * call that adds it returns; the file is removed when it has no open entry.
 *
 * A file has one entry a line, fields separated by a blank and percent-encoded:
 *
 *     rig-undo 1 <boot id> <pid> <start time>                its owner
 *     command <token> <what> <folder> <argument>...          run the command there
 *     process <token> <what> <pid> <start time> <boot id>    end this process, if it still is this one
 *     remove <token> <what> <folder>                         remove the folder and all in it
 *     note <token> <text> %                                  report it; a person has to undo it
 *     done <token>                                           the entry needs no undo any more
 *
 * A last line without its end was never acknowledged, and is ignored. The owner holds a lock (flock) on its file; a
 * file is healed only when the process that it names is gone, under the lock, latest entry first.
 *
 * Threads: any.
 */
#ifndef RIG_NEMESIS_JOURNAL_H
#define RIG_NEMESIS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct rig_journal;

/* Finds or makes the folder; the file is made with the first entry. RIG_E_IO with the remedy. */
enum rig_rc rig_journal_open(struct rig_journal **journal, struct rig_err *err);
/* Removes the file if it has no open entry; otherwise it stays for the next start. Takes NULL. */
void rig_journal_close(struct rig_journal *journal);

/* `what`: a description of the entry for people. `arguments`: NULL-ended. `token` names the entry. RIG_E_IO. */
enum rig_rc rig_journal_command(struct rig_journal *journal, const char *what, const char *const *arguments,
                                uint64_t *token, struct rig_err *err);
/* For a child of rig's that would not notice rig's death, such as a stopped one. RIG_OK also when it has ended. */
enum rig_rc rig_journal_process(struct rig_journal *journal, const char *what, pid_t pid, uint64_t *token,
                                struct rig_err *err);
/* A folder of this run's own, absolute. */
enum rig_rc rig_journal_folder(struct rig_journal *journal, const char *what, const char *folder, uint64_t *token,
                               struct rig_err *err);
/* For a change that only a person can undo: `text` describes it and the way to remove it. */
enum rig_rc rig_journal_note(struct rig_journal *journal, const char *text, uint64_t *token, struct rig_err *err);
/* The entry has been undone. */
void rig_journal_forget(struct rig_journal *journal, uint64_t token);

struct rig_journal_healing {
    uint32_t rigs;   /* dead ones with open entries */
    uint32_t healed; /* entries */
    uint32_t failed;
};

/*
 * Undoes the open entries of dead rigs. `visit` gets each entry, as one line, and whether it could be undone; failed
 * ones stay in the journal unless `forget`. RIG_E_IO when the folder cannot be read; RIG_OK when there is none.
 */
enum rig_rc rig_journal_heal(void (*visit)(void *context, const char *text, bool healed), void *context, bool forget,
                             struct rig_journal_healing *healing, struct rig_err *err);

#endif
