/*
 * Undoing single entries of a journal (journal_undo.h).
 */
#include "nemesis/journal_undo.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/folder.h"
#include "base/password.h"
#include "base/secret.h"
#include "nemesis/command.h"

enum { TEXT_BYTES = RIG_JOURNAL_TEXT_BYTES, REMOVALS_MOST = 20 };
static const int64_t removal_pause_ns = 100 * RIG_NS_PER_MS;
static const int64_t command_timeout_ns = 60 * RIG_NS_PER_S;
static const int64_t process_timeout_ns = 5 * RIG_NS_PER_S;

/* ---- processes ---- */

/* After a restart of the machine the process is gone, even if its number is in use again. */
static bool is_there(const struct rig_journal_entry *entry, const char *boot_id)
{
    return entry->kind == RIG_JOURNAL_PROCESS && entry->chosen && strcmp(entry->boot_id, boot_id) == 0 &&
           rig_process_lives(&entry->process);
}

static void note_segments(const struct rig_process *process, struct rig_journal_segments *segments)
{
    const uint32_t first = segments->count;
    int *at = segments->at + first;
    segments->count += rig_process_segments(process, at, RIG_JOURNAL_SEGMENTS_MOST - first);
    for (uint32_t i = first; i < segments->count; i++) {
        struct shmid_ds status;
        segments->makers[i] = shmctl(segments->at[i], IPC_STAT, &status) == 0 ? status.shm_cpid : 0;
    }
}

void rig_journal_ask_to_end(const struct rig_journal_content *content, const char *boot_id,
                            struct rig_journal_segments *segments)
{
    for (struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        entry->asked = is_there(entry, boot_id);
        if (!entry->asked)
            continue;
        note_segments(&entry->process, segments);
        (void)rig_process_signal(&entry->process, SIGINT);
    }
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        if (entry->asked)
            (void)rig_process_signal(&entry->process, SIGCONT);
    }
}

static bool end_process(const struct rig_journal_entry *entry, char *text)
{
    if (!entry->asked) {
        (void)snprintf(text, TEXT_BYTES, "%s: process %ld is gone", entry->what, (long)entry->process.pid);
        return true;
    }
    if (rig_process_await_end(&entry->process, process_timeout_ns)) {
        (void)snprintf(text, TEXT_BYTES, "%s: process %ld was ended", entry->what, (long)entry->process.pid);
        return true;
    }
    const bool sent = rig_process_signal(&entry->process, SIGKILL);
    const int error = errno;
    const bool ended = sent && rig_process_await_end(&entry->process, process_timeout_ns);
    (void)snprintf(text, TEXT_BYTES, "%s: process %ld %s%s", entry->what, (long)entry->process.pid,
                   ended  ? "was killed"
                   : sent ? "does not end"
                          : "cannot be killed: ",
                   sent ? "" : strerror(error));
    return ended;
}

static bool was_ended(const struct rig_journal_content *content, pid_t pid)
{
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        if (entry->kind == RIG_JOURNAL_PROCESS && entry->process.pid == pid)
            return true;
    }
    return false;
}

void rig_journal_remove_segments(const struct rig_journal_content *content, const struct rig_journal_segments *segments,
                                 void (*tell)(void *context, const char *text, bool removed), void *context)
{
    for (uint32_t i = 0; i < segments->count; i++) {
        char text[TEXT_BYTES];
        struct shmid_ds status;
        const int segment = segments->at[i];
        const pid_t maker = segments->makers[i];
        if (maker == 0 || !was_ended(content, maker) || shmctl(segment, IPC_STAT, &status) != 0 ||
            status.shm_cpid != maker)
            continue; /* removed by its server, or of a process that was not ended here */
        const bool removed = status.shm_nattch == 0 && shmctl(segment, IPC_RMID, NULL) == 0;
        (void)snprintf(text, sizeof text, "shared memory of process %ld: segment %d %s", (long)maker, segment,
                       removed                  ? "was removed"
                       : status.shm_nattch == 0 ? "cannot be removed"
                                                : "remains, because a process still has it attached");
        tell(context, text, removed);
    }
}

/* ---- the other entries ---- */

static bool run_command(const struct rig_journal_entry *entry, char *text)
{
    struct rig_buf line;
    rig_buf_init(&line, TEXT_BYTES);
    /* The plan that would declare the secrets is not there. */
    for (size_t i = 0; i < entry->argument_count; i++) {
        const struct rig_password_context context = {RIG_PASSWORD_ARGUMENT, entry->arguments, i};
        (void)rig_password_register(&context, entry->arguments[i]);
    }
    rig_command_line_join(entry->arguments, entry->argument_count, &line);
    const struct rig_command command = {
        .arguments = {entry->arguments, entry->argument_count},
        .directory = entry->folder,
        .timeout_ns = command_timeout_ns,
    };
    struct rig_command_answer answer;
    struct rig_err err = {0};
    const bool healed = rig_command_succeed(&command, &answer, &err) == RIG_OK;
    (void)snprintf(text, TEXT_BYTES, "%s: %.400s%s%.300s", entry->what, rig_buf_text(&line), healed ? "" : ": ",
                   healed ? "" : err.text);
    rig_secret_redact(text, TEXT_BYTES);
    rig_buf_done(&line);
    return healed;
}

/* Another program may have made a folder of the name since; without a mark only rig's own names are taken. */
static bool is_same_folder(const struct rig_journal_entry *entry)
{
    char mark[RIG_JOURNAL_MARK_BYTES];
    if (entry->mark == NULL)
        return strncmp(strrchr(entry->folder, '/') + 1, "rig-", 4) == 0;
    rig_journal_folder_mark(entry->folder, mark);
    return strcmp(mark, entry->mark) == 0;
}

/* Servers that the kernel ends with rig may still write there for a moment. */
static bool remove_folder(const struct rig_journal_entry *entry, char *text)
{
    struct stat status;
    bool there = lstat(entry->folder, &status) == 0;
    if (there && !is_same_folder(entry)) {
        (void)snprintf(text, TEXT_BYTES, "%s: %s is another folder by now, and is left alone", entry->what,
                       entry->folder);
        return true;
    }
    for (int i = 0; there && i < REMOVALS_MOST; i++) {
        if (i > 0)
            rig_clock_sleep_until_ns(rig_clock_now_ns() + removal_pause_ns);
        rig_folder_remove(entry->folder);
        there = lstat(entry->folder, &status) == 0;
    }
    (void)snprintf(text, TEXT_BYTES, "%s: %s %s", entry->what, entry->folder,
                   there ? "cannot be removed" : "was removed");
    return !there;
}

/* ---- all ---- */

void rig_journal_describe(const struct rig_journal_entry *entry, char text[RIG_JOURNAL_TEXT_BYTES])
{
    struct rig_buf line;
    rig_buf_init(&line, TEXT_BYTES);
    if (entry->kind == RIG_JOURNAL_COMMAND)
        rig_command_line_join(entry->arguments, entry->argument_count, &line);
    else if (entry->kind == RIG_JOURNAL_REMOVE)
        rig_buf_add_text(&line, entry->folder);
    else if (entry->kind == RIG_JOURNAL_PROCESS)
        rig_buf_printf(&line, "process %ld", (long)entry->process.pid);
    (void)snprintf(text, TEXT_BYTES, "%s%s%.700s", entry->what, line.size == 0 ? "" : ": ", rig_buf_text(&line));
    rig_buf_done(&line);
}

bool rig_journal_undo(const struct rig_journal_entry *entry, bool here, char text[RIG_JOURNAL_TEXT_BYTES])
{
    const bool local = entry->kind == RIG_JOURNAL_PROCESS || entry->kind == RIG_JOURNAL_REMOVE;
    rig_journal_describe(entry, text);
    if (local && !here) {
        const size_t length = strlen(text);
        (void)snprintf(text + length, TEXT_BYTES - length, ": it is not on this machine");
        return false;
    }
    switch (entry->kind) {
    case RIG_JOURNAL_COMMAND:
        return run_command(entry, text);
    case RIG_JOURNAL_PROCESS:
        return end_process(entry, text);
    case RIG_JOURNAL_REMOVE:
        return remove_folder(entry, text);
    case RIG_JOURNAL_NOTE:
        break; /* a person has to undo it */
    }
    return false;
}
