/*
 * The lines of an undo journal (journal.h): written, and read back as entries that are not done.
 *
 * Private to nemesis/.
 */
#ifndef RIG_NEMESIS_JOURNAL_FILE_H
#define RIG_NEMESIS_JOURNAL_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/machine.h"
#include "base/process.h"

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

/* Adds a field to a line. */
void rig_journal_add_field(struct rig_buf *line, const char *text);
/* Reads a whole file. Invalid lines are RIG_E_INPUT; all results are in the arena. */
enum rig_rc rig_journal_parse(const char *path, const char *text, size_t size, struct rig_arena *arena,
                              struct rig_journal_content *content, struct rig_err *err);

/* Distinguishes a folder from a later one with its name; empty: there is none. */
enum { RIG_JOURNAL_MARK_BYTES = 48 };
void rig_journal_folder_mark(const char *path, char mark[RIG_JOURNAL_MARK_BYTES]);

/* The n-th folder in which journals may be, from 0; false: there is no such folder. */
bool rig_journal_folder_at(unsigned n, char path[RIG_JOURNAL_PATH_BYTES]);

#endif
