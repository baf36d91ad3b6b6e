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
 *     rig-undo 2 <boot id> <pid> <start time> <machine id> <host> <pid namespace> <driver and servers>      its owner
 *     command <token> <what> <folder> <argument>...          run the command there
 *     process <token> <what> <pid> <start time> <boot id>    end this process, if it still is this one
 *     remove <token> <what> <folder> <mark>                  remove the folder and all in it, if it still is this one
 *     note <token> <text> %                                  report it; a person has to undo it
 *     done <token>                                           the entry needs no undo any more
 *     told <token>                                           a run has told that it could not be undone
 *
 * A last line without its end was never acknowledged, and is ignored. The owner holds a lock (flock) on its file; a
 * file is healed only when the process that it names is gone, under the lock, latest entry first.
 *
 * Several machines, and containers, can share the folder. A rig undoes the entries of its own machine (base/machine.h)
 * and leaves those of others alone: their processes are not here, their folders may have doubles here, and their rigs
 * may be running. Files of older rigs (`rig-undo 1`) name the boot only, and are healed in that boot.
 *
 * Threads: any.
 */
#ifndef RIG_NEMESIS_JOURNAL_H
#define RIG_NEMESIS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/machine.h"
#include "base/process.h"

struct rig_journal;

/*
 * The lines of an undo journal (journal.h): written, and read back as entries that are not done.
 */

enum { RIG_JOURNAL_BYTES = 1 << 20, RIG_JOURNAL_PATH_BYTES = 1024, RIG_JOURNAL_FIELDS = 512 };

enum rig_journal_kind { RIG_JOURNAL_COMMAND, RIG_JOURNAL_PROCESS, RIG_JOURNAL_REMOVE, RIG_JOURNAL_NOTE };

struct rig_journal_entry {
    enum rig_journal_kind kind;
    uint64_t token;
    const char *what;
    const char *folder;           /* command, remove */
    const char *mark;             /* remove: as rig_journal_folder_mark() gave it; NULL: an older rig wrote none */
    const char *const *arguments; /* command; NULL-ended */
    size_t argument_count;
    struct rig_process process; /* process */
    const char *boot_id;        /* process */
    bool asked;                 /* process: it was there, and healing has asked it to end */
    bool chosen;                /* it is to be undone, or forgotten, and is of this machine or named */
    bool told;                  /* a run has told that it could not be undone */
    struct rig_journal_entry *earlier;
};

struct rig_journal_content {
    struct rig_process owner;
    struct rig_machine machine;       /* of the owner */
    bool names_machine;               /* false: an older rig wrote the boot only */
    const char *place;                /* the driver and the servers of its run; empty: unknown */
    struct rig_journal_entry *latest; /* of the entries that are not done */
};

/* Reads a whole file. Invalid lines are RIG_E_INPUT; all results are in the arena. */
enum rig_rc rig_journal_parse(const char *path, const char *text, size_t size, struct rig_arena *arena,
                              struct rig_journal_content *content, struct rig_err *err);

/* Distinguishes a folder from a later one with its name; empty: there is none. */
enum { RIG_JOURNAL_MARK_BYTES = 48 };
void rig_journal_folder_mark(const char *path, char mark[RIG_JOURNAL_MARK_BYTES]);

/* The n-th folder in which journals may be, from 0; false: there is no such folder. */
bool rig_journal_folder_at(unsigned n, char path[RIG_JOURNAL_PATH_BYTES]);

/* Finds or makes the folder; the file is made with the first entry. `place`: the driver and the servers of the run,
 * separated by blanks; copied. RIG_E_IO with the remedy. */
enum rig_rc rig_journal_open(struct rig_journal **journal, const char *place, struct rig_err *err);
/* Removes the file if it has no open entry; otherwise it stays for the next start. Takes NULL. */
void rig_journal_close(struct rig_journal *journal);

/* `what`: a description of the entry for people. `arguments`: NULL-ended. `token` names the entry. RIG_E_IO. */
enum rig_rc rig_journal_command(struct rig_journal *journal, const char *what, const char *const *arguments,
                                uint64_t *token, struct rig_err *err);
/* For a child of rig's that would not notice rig's death, such as a stopped one. RIG_OK also when it has ended. */
enum rig_rc rig_journal_process(struct rig_journal *journal, const char *what, const struct rig_process *process,
                                uint64_t *token, struct rig_err *err);
/* A folder of this run's own, absolute. */
enum rig_rc rig_journal_folder(struct rig_journal *journal, const char *what, const char *folder, uint64_t *token,
                               struct rig_err *err);
/* For a change that only a person can undo: `text` describes it and the way to remove it. */
enum rig_rc rig_journal_note(struct rig_journal *journal, const char *text, uint64_t *token, struct rig_err *err);
/* The entry has been undone. */
void rig_journal_forget(struct rig_journal *journal, uint64_t token);

enum rig_journal_fate {
    RIG_JOURNAL_UNDONE,
    RIG_JOURNAL_NOT_UNDONE,
    RIG_JOURNAL_LEFT_ALONE, /* of another machine */
    RIG_JOURNAL_FORGOTTEN,
};

struct rig_journal_told {
    const char *entry; /* its name, for rig_journal_request.entries */
    const char *text;  /* one line */
    enum rig_journal_fate fate;
    bool quiet; /* not undone, but a run has told that already, or the present run has other servers */
};

struct rig_journal_request {
    /* With `entries`: they are taken out of the journal, whatever they say. Without: so are those that cannot be
     * undone. */
    bool forget;
    /* Names of entries, or of whole files, to undo or forget, of any machine; none: all of this one. Processes and
     * folders of another machine are never touched. */
    const char *const *entries;
    size_t entry_count;
    const char *place; /* of the run that starts, as for rig_journal_open(); NULL: a person asks for all */
    void (*visit)(void *context, const struct rig_journal_told *told);
    void *context;
};

struct rig_journal_healing {
    uint32_t rigs;      /* dead ones with open entries */
    uint32_t healed;    /* entries */
    uint32_t failed;    /* that were not told quietly */
    uint32_t left;      /* of other machines */
    uint32_t forgotten; /* by name */
};

/*
 * Undoes the open entries of dead rigs. Failed ones stay in the journal unless `forget`; notes always fail. RIG_E_IO
 * when the folder cannot be read; RIG_OK when there is none.
 */
enum rig_rc rig_journal_heal(const struct rig_journal_request *request, struct rig_journal_healing *healing,
                             struct rig_err *err);

#endif
