/*
 * Undoing the open entries of dead rigs (journal.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/folder.h"
#include "base/password.h"
#include "base/secret.h"
#include "nemesis/command.h"
#include "nemesis/journal.h"
#include "nemesis/journal_file.h"

enum { TEXT_BYTES = 1024, REMOVALS_MOST = 20, SEGMENTS_MOST = 64 };
static const int64_t removal_pause_ns = 100 * RIG_NS_PER_MS;
static const int64_t command_timeout_ns = 60 * RIG_NS_PER_S;
static const int64_t process_timeout_ns = 5 * RIG_NS_PER_S;

/* Shared memory (System V) outlives a process that is killed. */
struct segments {
    int at[SEGMENTS_MOST];
    pid_t makers[SEGMENTS_MOST];
    uint32_t count;
};

struct healer {
    void (*visit)(void *context, const char *text, bool healed);
    void *context;
    bool forget;
    struct rig_journal_healing *healing;
    char boot_id[RIG_BOOT_ID_BYTES];
    struct segments *segments; /* of one journal's processes */
};

/* -- one entry ----------------------------------------------------------------------------------------------------- */

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

/* After a restart of the machine the process is gone, even if its number is in use again. */
static bool is_there(const struct rig_journal_entry *entry, const char *boot_id)
{
    return entry->kind == RIG_JOURNAL_PROCESS && strcmp(entry->boot_id, boot_id) == 0 &&
           rig_process_lives(&entry->process);
}

static void note_segments(const struct rig_process *process, struct segments *segments)
{
    const uint32_t first = segments->count;
    int *at = segments->at + first;
    segments->count += rig_process_segments(process, at, SEGMENTS_MOST - first);
    for (uint32_t i = first; i < segments->count; i++) {
        struct shmid_ds status;
        segments->makers[i] = shmctl(segments->at[i], IPC_STAT, &status) == 0 ? status.shm_cpid : 0;
    }
}

/*
 * Resumes all and asks them to end, before any is killed: a server that ends by itself leaves nothing behind, and needs
 * its stopped children for that.
 */
static void ask_to_end(const struct healer *healer, const struct rig_journal_content *content)
{
    for (struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        entry->asked = is_there(entry, healer->boot_id);
        if (!entry->asked)
            continue;
        note_segments(&entry->process, healer->segments);
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

/* Servers that the kernel ends with rig may still write there for a moment. */
static bool remove_folder(const struct rig_journal_entry *entry, char *text)
{
    struct stat status;
    bool there = lstat(entry->folder, &status) == 0;
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

static bool undo(const struct healer *healer, const struct rig_journal_entry *entry)
{
    char text[TEXT_BYTES];
    bool healed = false;
    switch (entry->kind) {
    case RIG_JOURNAL_COMMAND:
        healed = run_command(entry, text);
        break;
    case RIG_JOURNAL_PROCESS:
        healed = end_process(entry, text);
        break;
    case RIG_JOURNAL_REMOVE:
        healed = remove_folder(entry, text);
        break;
    case RIG_JOURNAL_NOTE:
        (void)snprintf(text, TEXT_BYTES, "%s", entry->what);
        break;
    }
    healer->visit(healer->context, text, healed);
    return healed;
}

/* -- one file ------------------------------------------------------------------------------------------------------ */

static void note_done(int fd, uint64_t token)
{
    char line[64];
    const int length = snprintf(line, sizeof line, "done %llu\n", (unsigned long long)token);
    const ssize_t written = write(fd, line, (size_t)length);
    (void)written; /* undone twice does no harm */
}

static bool was_ended(const struct rig_journal_content *content, pid_t pid)
{
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        if (entry->kind == RIG_JOURNAL_PROCESS && entry->process.pid == pid)
            return true;
    }
    return false;
}

/* Removes the segments that a process of the journal made and no process has attached; reports those that stay. */
static void remove_segments(const struct healer *healer, const struct rig_journal_content *content)
{
    for (uint32_t i = 0; i < healer->segments->count; i++) {
        char text[TEXT_BYTES];
        struct shmid_ds status;
        const int segment = healer->segments->at[i];
        const pid_t maker = healer->segments->makers[i];
        if (maker == 0 || !was_ended(content, maker) || shmctl(segment, IPC_STAT, &status) != 0 ||
            status.shm_cpid != maker)
            continue; /* removed by its server, or of a process that was not ended here */
        const bool removed = status.shm_nattch == 0 && shmctl(segment, IPC_RMID, NULL) == 0;
        (void)snprintf(text, sizeof text, "shared memory of process %ld: segment %d %s", (long)maker, segment,
                       removed                  ? "was removed"
                       : status.shm_nattch == 0 ? "cannot be removed"
                                                : "remains, because a process still has it attached");
        healer->visit(healer->context, text, removed);
        healer->healing->healed += removed ? 1 : 0;
        healer->healing->failed += removed ? 0 : 1;
    }
}

static void heal_entries(const struct healer *given, const char *path, int fd,
                         const struct rig_journal_content *content)
{
    struct segments segments = {.count = 0};
    struct healer own = *given;
    const struct healer *healer = &own;
    own.segments = &segments;
    ask_to_end(healer, content);
    uint32_t failed = 0;
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        if (undo(healer, entry)) {
            healer->healing->healed++;
            note_done(fd, entry->token);
        } else {
            failed++;
        }
    }
    remove_segments(healer, content);
    healer->healing->rigs += content->latest != NULL ? 1 : 0;
    healer->healing->failed += failed;
    if (failed == 0 || healer->forget)
        (void)unlink(path);
}

/* The lock is held: no other rig heals the file. */
static void heal_locked(const struct healer *healer, const char *path, int fd)
{
    struct rig_arena arena;
    struct rig_buf text;
    struct rig_journal_content content;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    rig_buf_init(&text, 16 * RIG_JOURNAL_BYTES);
    enum rig_rc rc = rig_buf_read_file(&text, path, &err);
    if (rc == RIG_OK)
        rc = rig_journal_parse(path, rig_buf_text(&text), text.size, &arena, &content, &err);
    if (rc != RIG_OK) {
        healer->healing->failed++;
        healer->visit(healer->context, err.text, false);
        if (healer->forget)
            (void)unlink(path);
    } else if (strcmp(content.boot_id, healer->boot_id) != 0 || !rig_process_lives(&content.owner)) {
        heal_entries(healer, path, fd, &content);
    }
    rig_buf_done(&text);
    rig_arena_done(&arena);
}

/* The file's name has its owner's number and start time, so that one in the making is left alone. */
static bool owner_lives(const char *name)
{
    char *end = NULL;
    const long pid = strtol(name, &end, 10);
    if (pid <= 0 || pid > INT32_MAX || *end != '-')
        return false;
    const struct rig_process owner = {.pid = (pid_t)pid, .started = strtoull(end + 1, NULL, 10)};
    return rig_process_lives(&owner);
}

static void heal_file(const struct healer *healer, const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return; /* another rig has healed it meanwhile */
    const bool own = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                     (status.st_mode & 022) == 0 && status.st_nlink > 0;
    if (own && flock(fd, LOCK_EX | LOCK_NB) == 0)
        heal_locked(healer, path, fd);
    (void)close(fd);
}

/* -- the folder ---------------------------------------------------------------------------------------------------- */

static enum rig_rc heal_folder(const struct healer *healer, const char *folder, struct rig_err *err)
{
    struct stat status;
    if (lstat(folder, &status) != 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return RIG_OK;
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022) != 0)
        return rig_fail(err, RIG_E_IO, "%s: other users can write to this folder, so its journals are not run", folder);
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return rig_fail(err, RIG_E_IO, "%s: %s", folder, strerror(errno));
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".undo") != 0 || owner_lives(entry->d_name))
            continue;
        char path[RIG_JOURNAL_PATH_BYTES + 512];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        heal_file(healer, path);
    }
    (void)closedir(entries);
    return RIG_OK;
}

enum rig_rc rig_journal_heal(void (*visit)(void *context, const char *text, bool healed), void *context, bool forget,
                             struct rig_journal_healing *healing, struct rig_err *err)
{
    struct healer healer = {.visit = visit, .context = context, .forget = forget, .healing = healing};
    *healing = (struct rig_journal_healing){0};
    rig_process_boot_id(healer.boot_id);
    char folder[RIG_JOURNAL_PATH_BYTES];
    enum rig_rc rc = RIG_OK;
    for (unsigned n = 0; rc == RIG_OK && rig_journal_folder_at(n, folder); n++)
        rc = heal_folder(&healer, folder, err);
    return rc;
}
