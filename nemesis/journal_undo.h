/*
 * Undoing single entries of a journal: processes, commands, folders, and the shared memory of processes.
 *
 * Private to nemesis/.
 */
#ifndef RIG_NEMESIS_JOURNAL_UNDO_H
#define RIG_NEMESIS_JOURNAL_UNDO_H

#include "nemesis/journal_file.h"

enum { RIG_JOURNAL_TEXT_BYTES = 1024, RIG_JOURNAL_SEGMENTS_MOST = 64 };

/* Shared memory (System V) outlives a process that is killed. */
struct rig_journal_segments {
    int at[RIG_JOURNAL_SEGMENTS_MOST];
    pid_t makers[RIG_JOURNAL_SEGMENTS_MOST];
    uint32_t count;
};

/*
 * Before any entry is undone: resumes the chosen processes of this boot and asks them to end, all before any is killed. A
 * server that ends by itself leaves nothing, and needs its stopped children for that. Notes their shared memory.
 */
void rig_journal_ask_to_end(const struct rig_journal_content *content, const char *boot_id,
                            struct rig_journal_segments *segments);
/* After that: removes those that a process of the journal made and no process has attached; `tell` gets them, and those that
 * stay. */
void rig_journal_remove_segments(const struct rig_journal_content *content, const struct rig_journal_segments *segments,
                                 void (*tell)(void *context, const char *text, bool removed), void *context);
/* The entry in one line; of a command, what it would run. */
void rig_journal_describe(const struct rig_journal_entry *entry, char text[RIG_JOURNAL_TEXT_BYTES]);
/* Returns whether it is undone, and describes that. `here`: the entry is of this machine, so that its processes and folders
 * are here. A note is never undone. */
bool rig_journal_undo(const struct rig_journal_entry *entry, bool here, char text[RIG_JOURNAL_TEXT_BYTES]);

#endif
