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

/*
 * Undoing single entries of a journal: processes, commands, folders, and the shared memory of processes.
 */

enum { JOURNAL_TEXT_BYTES = 1024, JOURNAL_SEGMENTS_MOST = 64 };

/* Shared memory (System V) outlives a process that is killed. */
struct journal_segments {
    int at[JOURNAL_SEGMENTS_MOST];
    pid_t makers[JOURNAL_SEGMENTS_MOST];
    uint32_t count;
};

enum { UNDO_TEXT_BYTES = JOURNAL_TEXT_BYTES, REMOVALS_MOST = 20 };
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

static void note_segments(const struct rig_process *process, struct journal_segments *segments)
{
    const uint32_t first = segments->count;
    int *at = segments->at + first;
    segments->count += rig_process_segments(process, at, JOURNAL_SEGMENTS_MOST - first);
    for (uint32_t i = first; i < segments->count; i++) {
        struct shmid_ds status;
        segments->makers[i] = shmctl(segments->at[i], IPC_STAT, &status) == 0 ? status.shm_cpid : 0;
    }
}

/*
 * Before any entry is undone: resumes the chosen processes of this boot and asks them to end, all before any is killed.
 * A server that ends by itself leaves nothing, and needs its stopped children for that. Notes their shared memory.
 */
static void journal_ask_to_end(const struct rig_journal_content *content, const char *boot_id,
                               struct journal_segments *segments)
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
        (void)snprintf(text, UNDO_TEXT_BYTES, "%s: process %ld is gone", entry->what, (long)entry->process.pid);
        return true;
    }
    if (rig_process_await_end(&entry->process, process_timeout_ns)) {
        (void)snprintf(text, UNDO_TEXT_BYTES, "%s: process %ld was ended", entry->what, (long)entry->process.pid);
        return true;
    }
    const bool sent = rig_process_signal(&entry->process, SIGKILL);
    const int error = errno;
    const bool ended = sent && rig_process_await_end(&entry->process, process_timeout_ns);
    (void)snprintf(text, UNDO_TEXT_BYTES, "%s: process %ld %s%s", entry->what, (long)entry->process.pid,
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

struct healer {
    const struct rig_journal_request *request;
    struct rig_journal_healing *healing;
    struct rig_machine machine;
    char key[RIG_MACHINE_KEY_BYTES];
    /* The present file. */
    const char *name; /* without its ending */
    bool here;        /* it is of this machine */
    bool concerns;    /* the run that starts has a server of it, or the same driver with its own servers */
};

enum { TEXT_BYTES = JOURNAL_TEXT_BYTES, ENTRY_BYTES = 300 };

static void name_entry(const struct healer *healer, const struct rig_journal_entry *entry, char name[ENTRY_BYTES])
{
    (void)snprintf(name, ENTRY_BYTES, "%.250s/%llu", healer->name, (unsigned long long)entry->token);
}

static void tell_fate(const struct healer *healer, const struct rig_journal_entry *entry, const char *text,
                      enum rig_journal_fate fate, bool quiet)
{
    char name[ENTRY_BYTES];
    name_entry(healer, entry, name);
    const struct rig_journal_told told = {.entry = name, .text = text, .fate = fate, .quiet = quiet};
    healer->request->visit(healer->request->context, &told);
}

/* After that: removes those that a process of the journal made and no process has attached; `tell` gets them, and those
 * that stay. */
static void journal_remove_segments(const struct rig_journal_content *content, const struct journal_segments *segments,
                                    void (*tell)(void *context, const char *text, bool removed), void *context)
{
    for (uint32_t i = 0; i < segments->count; i++) {
        char text[UNDO_TEXT_BYTES];
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
    rig_buf_init(&line, UNDO_TEXT_BYTES);
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
    (void)snprintf(text, UNDO_TEXT_BYTES, "%s: %.400s%s%.300s", entry->what, rig_buf_text(&line), healed ? "" : ": ",
                   healed ? "" : err.text);
    rig_secret_redact(text, UNDO_TEXT_BYTES);
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
        (void)snprintf(text, UNDO_TEXT_BYTES, "%s: %s is another folder by now, and is left alone", entry->what,
                       entry->folder);
        return true;
    }
    for (int i = 0; there && i < REMOVALS_MOST; i++) {
        if (i > 0)
            rig_clock_sleep_until_ns(rig_clock_now_ns() + removal_pause_ns);
        rig_folder_remove(entry->folder);
        there = lstat(entry->folder, &status) == 0;
    }
    (void)snprintf(text, UNDO_TEXT_BYTES, "%s: %s %s", entry->what, entry->folder,
                   there ? "cannot be removed" : "was removed");
    return !there;
}

/* ---- all ---- */

/* The entry in one line; of a command, what it would run. */
static void journal_describe(const struct rig_journal_entry *entry, char text[JOURNAL_TEXT_BYTES])
{
    struct rig_buf line;
    rig_buf_init(&line, UNDO_TEXT_BYTES);
    if (entry->kind == RIG_JOURNAL_COMMAND)
        rig_command_line_join(entry->arguments, entry->argument_count, &line);
    else if (entry->kind == RIG_JOURNAL_REMOVE)
        rig_buf_add_text(&line, entry->folder);
    else if (entry->kind == RIG_JOURNAL_PROCESS)
        rig_buf_printf(&line, "process %ld", (long)entry->process.pid);
    (void)snprintf(text, UNDO_TEXT_BYTES, "%s%s%.700s", entry->what, line.size == 0 ? "" : ": ", rig_buf_text(&line));
    rig_buf_done(&line);
}

/* Returns whether it is undone, and describes that. `here`: the entry is of this machine, so that its processes and
 * folders are here. A note is never undone. */
static bool journal_undo(const struct rig_journal_entry *entry, bool here, char text[JOURNAL_TEXT_BYTES])
{
    const bool local = entry->kind == RIG_JOURNAL_PROCESS || entry->kind == RIG_JOURNAL_REMOVE;
    journal_describe(entry, text);
    if (local && !here) {
        const size_t length = strlen(text);
        (void)snprintf(text + length, UNDO_TEXT_BYTES - length, ": it is not on this machine");
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

/* -- one entry ----------------------------------------------------------------------------------------------------- */

/* Whether the request is for this entry: it names none, or this one, or its whole file. */
static bool is_chosen(const struct healer *healer, const struct rig_journal_entry *entry)
{
    const struct rig_journal_request *request = healer->request;
    char name[ENTRY_BYTES];
    name_entry(healer, entry, name);
    bool chosen = request->entry_count == 0;
    for (size_t i = 0; i < request->entry_count && !chosen; i++)
        chosen = strcmp(request->entries[i], name) == 0 || strcmp(request->entries[i], healer->name) == 0;
    return chosen;
}

/* -- one file ------------------------------------------------------------------------------------------------------ */

static void note(int fd, const char *word, uint64_t token)
{
    char line[64];
    const int length = snprintf(line, sizeof line, "%s %llu\n", word, (unsigned long long)token);
    const ssize_t written = write(fd, line, (size_t)length);
    (void)written; /* undone or told twice does no harm */
}

/* Returns whether the entry needs no place in the journal any more. A note or a failure is reported once by runs, and
 * always by `rig heal`. */
static bool heal_entry(const struct healer *healer, int fd, const struct rig_journal_entry *entry)
{
    const struct rig_journal_request *request = healer->request;
    char text[TEXT_BYTES];
    if (!entry->chosen)
        return false;
    if (request->forget && request->entry_count > 0) {
        journal_describe(entry, text);
        tell_fate(healer, entry, text, RIG_JOURNAL_FORGOTTEN, false);
        healer->healing->forgotten++;
        note(fd, "done", entry->token);
        return true;
    }
    if (journal_undo(entry, healer->here, text)) {
        tell_fate(healer, entry, text, RIG_JOURNAL_UNDONE, false);
        healer->healing->healed++;
        note(fd, "done", entry->token);
        return true;
    }
    const bool quiet = request->place != NULL && (entry->told || !healer->concerns);
    tell_fate(healer, entry, text, RIG_JOURNAL_NOT_UNDONE, quiet);
    if (request->place != NULL && !quiet)
        note(fd, "told", entry->token);
    healer->healing->failed += quiet ? 0 : 1;
    return request->forget;
}

static void tell_segment(void *context, const char *text, bool removed)
{
    const struct healer *healer = context;
    const struct rig_journal_told told = {
        .entry = healer->name, .text = text, .fate = removed ? RIG_JOURNAL_UNDONE : RIG_JOURNAL_NOT_UNDONE};
    healer->healing->healed += removed ? 1 : 0;
    healer->healing->failed += removed ? 0 : 1;
    healer->request->visit(healer->request->context, &told);
}

/* The lock is held: no other rig heals the file. */
static void heal_entries(struct healer *healer, const char *path, int fd, const struct rig_journal_content *content)
{
    struct journal_segments segments = {.count = 0};
    const bool undoes = !healer->request->forget || healer->request->entry_count == 0;
    for (struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier)
        entry->chosen = is_chosen(healer, entry);
    if (undoes && healer->here)
        journal_ask_to_end(content, healer->machine.boot, &segments);
    bool empty = true;
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        const bool settled = heal_entry(healer, fd, entry);
        empty = empty && settled;
    }
    journal_remove_segments(content, &segments, tell_segment, healer);
    healer->healing->rigs += content->latest != NULL ? 1 : 0;
    if (empty)
        (void)unlink(path);
}

/* Entries of another machine or container: `rig heal` lists them, and touches only those that it is given by name. */
static void leave_alone(const struct healer *healer, const struct rig_journal_content *content)
{
    const char *host = content->machine.host;
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        char text[TEXT_BYTES], whole[TEXT_BYTES + 200];
        journal_describe(entry, text);
        (void)snprintf(whole, sizeof whole, "%s, of a rig on %s", text,
                       !content->names_machine || host[0] == '\0' ? "another machine, or before a restart of this one"
                       : strcmp(host, healer->machine.host) != 0  ? host
                                                                  : "another machine or container of this name");
        healer->healing->left++;
        tell_fate(healer, entry, whole, RIG_JOURNAL_LEFT_ALONE, false);
    }
}

/* The words after the first are servers; without any, rig starts them itself, and the driver alone counts. */
static bool is_concerned(const char *place, const char *other)
{
    const size_t driver = strcspn(place, " ");
    if (strncmp(place, other, driver) != 0 || (other[driver] != ' ' && other[driver] != '\0'))
        return place[0] == '\0' || other[0] == '\0'; /* an older rig named none */
    if (place[driver] == '\0' || other[driver] == '\0')
        return place[driver] == other[driver];
    for (const char *at = place + driver; *at != '\0';) {
        const size_t length = strcspn(++at, " ");
        for (const char *with = other + driver; *with != '\0';) {
            const size_t size = strcspn(++with, " ");
            if (size == length && strncmp(at, with, length) == 0)
                return true;
            with += size;
        }
        at += length;
    }
    return false;
}

/* Whether a file that could not be read, or is of another machine, is asked for by name. */
static bool is_named(const struct healer *healer)
{
    const struct rig_journal_request *request = healer->request;
    const size_t length = strlen(healer->name);
    for (size_t i = 0; i < request->entry_count; i++) {
        const char *entry = request->entries[i];
        if (strncmp(entry, healer->name, length) == 0 && (entry[length] == '/' || entry[length] == '\0'))
            return true;
    }
    return false;
}

static void tell_damage(const struct healer *healer, const char *path, const char *why)
{
    const struct rig_journal_request *request = healer->request;
    if (request->entry_count > 0 && !is_named(healer))
        return;
    const struct rig_journal_told told = {.entry = healer->name, .text = why, .fate = RIG_JOURNAL_NOT_UNDONE};
    healer->healing->failed++;
    request->visit(request->context, &told);
    if (request->forget)
        (void)unlink(path);
}

static bool is_of_this_machine(const struct healer *healer, const struct rig_journal_content *content)
{
    return content->names_machine ? rig_machine_is(&healer->machine, &content->machine)
                                  : strcmp(content->machine.boot, healer->machine.boot) == 0;
}

/* Whether the file is to be healed; sets what it is to the healer. */
static bool is_for_healing(struct healer *healer, const struct rig_journal_content *content)
{
    const char *place = healer->request->place;
    healer->here = is_of_this_machine(healer, content);
    healer->concerns = place == NULL || is_concerned(place, content->place);
    if (healer->here)
        return strcmp(content->machine.boot, healer->machine.boot) != 0 || !rig_process_lives(&content->owner);
    if (is_named(healer))
        return true;
    if (place == NULL && healer->request->entry_count == 0)
        leave_alone(healer, content);
    return false;
}

static void heal_file(struct healer *healer, const char *path, int fd)
{
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    /* Read without the lock first, which would be in the way of another machine's rig; and again under it, because
     * another rig may have healed it in between. */
    for (int pass = 0; pass < 2; pass++) {
        struct rig_buf text;
        struct rig_journal_content content;
        struct rig_err err = {0};
        rig_buf_init(&text, 16 * RIG_JOURNAL_BYTES);
        enum rig_rc rc = rig_buf_read_file(&text, path, &err);
        if (rc == RIG_OK)
            rc = rig_journal_parse(path, rig_buf_text(&text), text.size, &arena, &content, &err);
        rig_buf_done(&text);
        struct stat status;
        if (pass == 0 && rc == RIG_OK && !is_for_healing(healer, &content))
            break;
        if (pass == 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &status) != 0 || status.st_nlink == 0))
            break;
        if (pass == 1 && rc == RIG_OK)
            heal_entries(healer, path, fd, &content);
        else if (pass == 1)
            tell_damage(healer, path, err.text);
    }
    rig_arena_done(&arena);
}

/* <machine>-<number>-<start time>.undo; older rigs did not name the machine. Other files are not rig's. */
static bool is_journal(const char *name)
{
    static const char digits[] = "0123456789";
    const size_t key = strspn(name, "0123456789abcdef");
    if (key == RIG_MACHINE_KEY_BYTES - 1 && name[key] == '-')
        name += key + 1;
    const size_t number = strspn(name, digits);
    const size_t start = name[number] == '-' ? strspn(name + number + 1, digits) : 0;
    return number > 0 && start > 0 && strcmp(name + number + 1 + start, ".undo") == 0;
}

/* So that a file of this machine in the making is left alone. */
static bool owner_lives(const struct healer *healer, const char *name)
{
    char *end = NULL;
    const size_t length = strlen(healer->key);
    if (strncmp(name, healer->key, length) == 0 && name[length] == '-')
        name += length + 1;
    const long pid = strtol(name, &end, 10);
    if (pid <= 0 || pid > INT32_MAX || *end != '-')
        return false;
    const struct rig_process owner = {.pid = (pid_t)pid, .started = strtoull(end + 1, NULL, 10)};
    return rig_process_lives(&owner);
}

static void open_file(struct healer *healer, const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return; /* another rig has healed it meanwhile */
    const bool own = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                     (status.st_mode & 022) == 0 && status.st_nlink > 0;
    if (own && status.st_size > 0) /* an empty one is in the making */
        heal_file(healer, path, fd);
    (void)close(fd);
}

/* -- the folder ---------------------------------------------------------------------------------------------------- */

static enum rig_rc heal_folder(const struct healer *given, const char *folder, struct rig_err *err)
{
    struct healer healer = *given;
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
        if (!is_journal(entry->d_name) || owner_lives(&healer, entry->d_name))
            continue;
        const char *dot = strrchr(entry->d_name, '.');
        char path[RIG_JOURNAL_PATH_BYTES + 512], name[256];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        healer.name = name;
        open_file(&healer, path);
    }
    (void)closedir(entries);
    return RIG_OK;
}

enum rig_rc rig_journal_heal(const struct rig_journal_request *request, struct rig_journal_healing *healing,
                             struct rig_err *err)
{
    struct healer healer = {.request = request, .healing = healing};
    *healing = (struct rig_journal_healing){0};
    rig_machine_identify(&healer.machine);
    rig_machine_key(&healer.machine, healer.key);
    char folder[RIG_JOURNAL_PATH_BYTES];
    enum rig_rc rc = RIG_OK;
    for (unsigned n = 0; rc == RIG_OK && rig_journal_folder_at(n, folder); n++)
        rc = heal_folder(&healer, folder, err);
    return rc;
}
