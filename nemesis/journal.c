#include "nemesis/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "nemesis/journal_file.h"

struct rig_journal {
    pthread_mutex_t lock; /* guards all members below; no lock is taken under it */
    char folder[RIG_JOURNAL_PATH_BYTES];
    char path[RIG_JOURNAL_PATH_BYTES + 64];
    struct rig_machine machine;
    char *place; /* owned */
    int fd;      /* -1: there is no file yet */
    uint64_t tokens;
    uint32_t live;
};

/* -- the folder ---------------------------------------------------------------------------------------------------- */

/* Makes the folder and its parents; true when it exists and only the user can write to it. */
static bool make_folder(const char *path)
{
    char prefix[RIG_JOURNAL_PATH_BYTES];
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        if (mkdir(prefix, 0700) != 0 && errno != EEXIST)
            return false;
    }
    struct stat status;
    if (lstat(path, &status) != 0)
        return false;
    errno = EPERM;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0 &&
           access(path, W_OK) == 0;
}

enum rig_rc rig_journal_open(struct rig_journal **journal, const char *place, struct rig_err *err)
{
    char folder[RIG_JOURNAL_PATH_BYTES] = "";
    unsigned n = 0;
    bool made = false;
    while (!made && rig_journal_folder_at(n++, folder))
        made = make_folder(folder);
    if (!made)
        return rig_fail(err, RIG_E_IO,
                        "%s: the undo journal cannot be kept there (%s), and rig injects no fault without it; set "
                        "RIG_JOURNAL to a folder of yours",
                        folder, strerror(errno));
    struct rig_journal *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return rig_no_memory(err, "the undo journal");
    opened->fd = -1;
    opened->place = strdup(place);
    if (opened->place == NULL) {
        free(opened);
        return rig_no_memory(err, "the undo journal");
    }
    memcpy(opened->folder, folder, sizeof opened->folder);
    rig_machine_identify(&opened->machine);
    RIG_INVARIANT(pthread_mutex_init(&opened->lock, NULL) == 0);
    *journal = opened;
    return RIG_OK;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

static enum rig_rc sync_folder(const char *folder, struct rig_err *err)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    return synced ? RIG_OK : rig_fail(err, RIG_E_IO, "%s: %s", folder, strerror(error));
}

static enum rig_rc write_line(struct rig_journal *journal, struct rig_buf *line, struct rig_err *err)
{
    rig_buf_add_char(line, '\n');
    if (line->failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "an entry", journal->path);
    /* One write, at the end of the file: a line that is cut has no end and is ignored. */
    const ssize_t written = write(journal->fd, line->data, line->size);
    if (written == (ssize_t)line->size && (fdatasync(journal->fd) == 0 || errno == EINVAL))
        return RIG_OK;
    return rig_fail(err, RIG_E_IO, "%s: the undo journal cannot be written: %s", journal->path,
                    written < 0 ? strerror(errno) : "the disk is full");
}

static void add_number(struct rig_buf *line, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    rig_journal_add_field(line, text);
}

static void add_process(struct rig_buf *line, const struct rig_process *process)
{
    add_number(line, (uint64_t)process->pid);
    add_number(line, process->started);
}

static enum rig_rc create(struct rig_journal *journal, struct rig_err *err)
{
    struct rig_process self;
    char key[RIG_MACHINE_KEY_BYTES];
    (void)rig_process_find(getpid(), &self);
    rig_machine_key(&journal->machine, key);
    (void)snprintf(journal->path, sizeof journal->path, "%s/%s-%ld-%" PRIu64 ".undo", journal->folder, key,
                   (long)self.pid, self.started);
    journal->fd = open(journal->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->fd < 0 || flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
        return rig_fail(err, RIG_E_IO, "%s: the undo journal cannot be created: %s", journal->path, strerror(errno));
    struct stat status;
    if (fstat(journal->fd, &status) == 0 && status.st_size > 0) {
        /* An earlier run of this very process left entries: they stay for the next start. */
        journal->tokens = (uint64_t)status.st_size;
        journal->live = 1;
        return RIG_OK;
    }
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_journal_add_field(&line, "rig-undo");
    rig_journal_add_field(&line, "2");
    rig_journal_add_field(&line, journal->machine.boot);
    add_process(&line, &self);
    rig_journal_add_field(&line, journal->machine.id);
    rig_journal_add_field(&line, journal->machine.host);
    rig_journal_add_field(&line, journal->machine.numbers);
    rig_journal_add_field(&line, journal->place);
    enum rig_rc rc = write_line(journal, &line, err);
    rig_buf_done(&line);
    return rc == RIG_OK ? sync_folder(journal->folder, err) : rc;
}

/* Writes the line, begun with its kind, token and text; `fill` adds the rest. */
static enum rig_rc add(struct rig_journal *journal, const char *kind, const char *what,
                       void (*fill)(struct rig_buf *line, const void *context), const void *context, uint64_t *token,
                       struct rig_err *err)
{
    pthread_mutex_lock(&journal->lock);
    enum rig_rc rc = journal->fd >= 0 ? RIG_OK : create(journal, err);
    if (rc == RIG_OK) {
        struct rig_buf line;
        rig_buf_init(&line, RIG_JOURNAL_BYTES);
        rig_journal_add_field(&line, kind);
        add_number(&line, journal->tokens + 1);
        rig_journal_add_field(&line, what);
        fill(&line, context);
        rc = write_line(journal, &line, err);
        rig_buf_done(&line);
    }
    if (rc == RIG_OK) {
        journal->live++;
        *token = ++journal->tokens;
    }
    pthread_mutex_unlock(&journal->lock);
    return rc;
}

static void fill_command(struct rig_buf *line, const void *context)
{
    char folder[RIG_JOURNAL_PATH_BYTES];
    const char *const *arguments = context;
    rig_journal_add_field(line, getcwd(folder, sizeof folder) == NULL ? "/" : folder);
    for (; *arguments != NULL; arguments++)
        rig_journal_add_field(line, *arguments);
}

enum rig_rc rig_journal_command(struct rig_journal *journal, const char *what, const char *const *arguments,
                                uint64_t *token, struct rig_err *err)
{
    RIG_REQUIRE(arguments[0] != NULL);
    return add(journal, "command", what, fill_command, arguments, token, err);
}

struct process_entry {
    struct rig_process process;
    const char *boot_id;
};

static void fill_process(struct rig_buf *line, const void *context)
{
    const struct process_entry *entry = context;
    add_process(line, &entry->process);
    rig_journal_add_field(line, entry->boot_id);
}

enum rig_rc rig_journal_process(struct rig_journal *journal, const char *what, const struct rig_process *process,
                                uint64_t *token, struct rig_err *err)
{
    const struct process_entry entry = {.process = *process, .boot_id = journal->machine.boot};
    *token = 0;
    if (!rig_process_lives(process))
        return RIG_OK;
    return add(journal, "process", what, fill_process, &entry, token, err);
}

static void fill_folder(struct rig_buf *line, const void *context)
{
    const char *folder = context;
    char mark[RIG_JOURNAL_MARK_BYTES];
    rig_journal_folder_mark(folder, mark);
    rig_journal_add_field(line, folder);
    if (mark[0] != '\0')
        rig_journal_add_field(line, mark);
}

enum rig_rc rig_journal_folder(struct rig_journal *journal, const char *what, const char *folder, uint64_t *token,
                               struct rig_err *err)
{
    RIG_REQUIRE(folder[0] == '/' && folder[1] != '\0');
    return add(journal, "remove", what, fill_folder, folder, token, err);
}

static void fill_nothing(struct rig_buf *line, const void *context)
{
    rig_journal_add_field(line, context);
}

enum rig_rc rig_journal_note(struct rig_journal *journal, const char *text, uint64_t *token, struct rig_err *err)
{
    return add(journal, "note", text, fill_nothing, "", token, err);
}

void rig_journal_forget(struct rig_journal *journal, uint64_t token)
{
    if (token == 0)
        return;
    pthread_mutex_lock(&journal->lock);
    RIG_REQUIRE(journal->fd >= 0 && journal->live > 0);
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_journal_add_field(&line, "done");
    add_number(&line, token);
    (void)write_line(journal, &line, NULL); /* undoing twice is harmless */
    rig_buf_done(&line);
    journal->live--;
    pthread_mutex_unlock(&journal->lock);
}

void rig_journal_close(struct rig_journal *journal)
{
    if (journal == NULL)
        return;
    if (journal->fd >= 0) {
        if (journal->live == 0)
            (void)unlink(journal->path);
        (void)close(journal->fd);
    }
    (void)pthread_mutex_destroy(&journal->lock);
    free(journal->place);
    free(journal);
}
