/*
 * The undo journal: what has to be undone if this rig dies before it can undo it itself.
 *
 * One file a rig, in a folder that is the same for every rig of a user: RIG_JOURNAL, else ~/.local/state/rig/undo (the
 * home of the account, whatever HOME says), else, where that cannot be written, /var/tmp/rig-undo-<uid>. The folder and
 * the files are the user's alone: they hold commands that will be run. An entry is on disk (fsync) before the call that
 * adds it returns; the file is removed when nothing is left in it.
 *
 * A file is a line each, fields separated by a blank and percent-encoded:
 *
 *     rig-undo 1 <boot id> <pid> <start time>                its owner
 *     command <token> <what> <folder> <argument>...          run the command there
 *     process <token> <what> <pid> <start time> <boot id>    end this process, if it still is this one
 *     remove <token> <what> <folder>                         remove the folder and all in it
 *     note <token> <text> %                                  tell it; a person has to undo it
 *     done <token>                                           nothing to do any more
 *
 * A last line without its end was never acknowledged, and is ignored. The owner holds a lock (flock) on its file; a
 * file is healed only when the process that it names is gone, under the lock, latest entry first.
 *
 * Threads: a journal's functions may be called from any.
 */
#ifndef RIG_NEMESIS_JOURNAL_H
#define RIG_NEMESIS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct rig_journal;

/* Finds the folder, and makes it; the file is made with the first entry. RIG_E_IO with the remedy. */
enum rig_rc rig_journal_open(struct rig_journal **journal, struct rig_err *err);
/* Removes the file if no entry is left; else it stays for the next start. Takes NULL. */
void rig_journal_close(struct rig_journal *journal);

/* `what`: for people, what the entry undoes. `arguments`: NULL-ended. `token` names the entry. RIG_E_IO. */
enum rig_rc rig_journal_command(struct rig_journal *journal, const char *what, const char *const *arguments,
                                uint64_t *token, struct rig_err *err);
/* For a child of rig's that would not notice rig's death: one that is stopped. RIG_OK also when it is no more. */
enum rig_rc rig_journal_process(struct rig_journal *journal, const char *what, pid_t pid, uint64_t *token,
                                struct rig_err *err);
/* A folder of this run's own, absolute. */
enum rig_rc rig_journal_folder(struct rig_journal *journal, const char *what, const char *folder, uint64_t *token,
                               struct rig_err *err);
/* For what only a person can undo: `text` says what it is and how to remove it. */
enum rig_rc rig_journal_note(struct rig_journal *journal, const char *text, uint64_t *token, struct rig_err *err);
/* The entry has been undone. */
void rig_journal_forget(struct rig_journal *journal, uint64_t token);
/* How many entries are not undone. */
uint32_t rig_journal_count(const struct rig_journal *journal);

struct rig_journal_healing {
    uint32_t rigs;   /* dead ones that had left something */
    uint32_t healed; /* entries */
    uint32_t failed;
};

/*
 * Undoes what dead rigs have left. `visit` is told of each entry, as one line, and whether it could be undone; what
 * could not stays in the journal unless `forget`. RIG_E_IO when the folder cannot be read; RIG_OK where there is none.
 */
enum rig_rc rig_journal_heal(void (*visit)(void *context, const char *text, bool healed), void *context, bool forget,
                             struct rig_journal_healing *healing, struct rig_err *err);

#endif
