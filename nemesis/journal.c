#include "nemesis/journal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"

struct line {
    char *fields[RIG_JOURNAL_FIELDS + 1]; /* NULL-ended */
    size_t count;
};

/* Adds a field to a line. */
static void journal_add_field(struct rig_buf *line, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-=:,+@{}";
    if (line->size > 0)
        rig_buf_add_char(line, ' ');
    if (text[0] == '\0')
        rig_buf_add_text(line, "%"); /* the empty field */
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL)
            rig_buf_add_char(line, *at);
        else
            rig_buf_printf(line, "%%%02X", (unsigned)(unsigned char)*at);
    }
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place; false when it is not a field. */
static bool decode(char *field)
{
    char *out = field;
    if (strcmp(field, "%") == 0) {
        *field = '\0';
        return true;
    }
    for (const char *at = field; *at != '\0'; at++) {
        if (*at != '%') {
            *out++ = *at;
            continue;
        }
        const int high = hex(at[1]), low = at[1] == '\0' ? -1 : hex(at[2]);
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return false;
        *out++ = (char)(high * 16 + low);
        at += 2;
    }
    *out = '\0';
    return true;
}

static bool split(char *text, struct line *line)
{
    line->count = 0;
    for (char *at = text; at != NULL;) {
        char *blank = strchr(at, ' ');
        if (blank != NULL)
            *blank = '\0';
        if (line->count == RIG_JOURNAL_FIELDS || !decode(at))
            return false;
        line->fields[line->count++] = at;
        at = blank == NULL ? NULL : blank + 1;
    }
    line->fields[line->count] = NULL;
    return true;
}

static bool number(const char *text, uint64_t *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0';
}

static bool take_process(char *const fields[2], struct rig_process *process)
{
    uint64_t pid = 0;
    if (!number(fields[0], &pid) || !number(fields[1], &process->started) || pid > INT32_MAX)
        return false;
    process->pid = (pid_t)pid;
    return true;
}

static void drop(struct rig_journal_content *content, uint64_t token)
{
    for (struct rig_journal_entry **at = &content->latest; *at != NULL; at = &(*at)->earlier) {
        if ((*at)->token == token) {
            *at = (*at)->earlier;
            return;
        }
    }
}

static bool take_entry(const struct line *line, struct rig_arena *arena, struct rig_journal_entry *entry)
{
    const char *kind = line->fields[0];
    entry->what = line->fields[2];
    if (strcmp(kind, "process") == 0 && line->count == 6) {
        entry->kind = RIG_JOURNAL_PROCESS;
        entry->boot_id = line->fields[5];
        return take_process(line->fields + 3, &entry->process);
    }
    if (strcmp(kind, "remove") == 0 && (line->count == 4 || line->count == 5) && line->fields[3][0] == '/') {
        entry->kind = RIG_JOURNAL_REMOVE;
        entry->folder = line->fields[3];
        entry->mark = line->fields[4]; /* NULL: the list ends there */
        return true;
    }
    if (strcmp(kind, "note") == 0 && line->count == 4) {
        entry->kind = RIG_JOURNAL_NOTE;
        return true;
    }
    if (strcmp(kind, "command") != 0 || line->count < 5)
        return false;
    entry->kind = RIG_JOURNAL_COMMAND;
    entry->folder = line->fields[3];
    entry->argument_count = line->count - 4;
    const char **arguments = rig_arena_array(arena, entry->argument_count + 1, sizeof *arguments);
    if (arguments == NULL)
        return false;
    for (size_t i = 0; i < entry->argument_count; i++)
        arguments[i] = line->fields[4 + i];
    entry->arguments = arguments;
    return true;
}

static void copy_text(char *to, size_t size, const char *text)
{
    (void)snprintf(to, size, "%s", text);
}

/* rig-undo 2 <boot id> <pid> <start time> <machine id> <host> <namespace of numbers> <place>; 1: up to the start time.
 * */
static bool take_head(const struct line *line, struct rig_journal_content *content)
{
    const bool old = line->count == 5 && strcmp(line->fields[1], "1") == 0;
    if (strcmp(line->fields[0], "rig-undo") != 0 || !(old || (line->count == 9 && strcmp(line->fields[1], "2") == 0)))
        return false;
    struct rig_machine *machine = &content->machine;
    content->names_machine = !old;
    copy_text(machine->boot, sizeof machine->boot, line->fields[2]);
    if (!old) {
        copy_text(machine->id, sizeof machine->id, line->fields[5]);
        copy_text(machine->host, sizeof machine->host, line->fields[6]);
        copy_text(machine->numbers, sizeof machine->numbers, line->fields[7]);
        content->place = line->fields[8];
    }
    return take_process(line->fields + 3, &content->owner);
}

static void note_told(struct rig_journal_content *content, uint64_t token)
{
    for (struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier)
        entry->told = entry->told || entry->token == token;
}

static bool take_line(char *text, bool first, struct rig_arena *arena, struct rig_journal_content *content)
{
    struct line line;
    if (!split(text, &line))
        return false;
    if (first)
        return take_head(&line, content);
    uint64_t token = 0;
    if (line.count < 2 || !number(line.fields[1], &token))
        return false;
    if (strcmp(line.fields[0], "done") == 0) {
        drop(content, token);
        return true;
    }
    if (strcmp(line.fields[0], "told") == 0) {
        note_told(content, token);
        return true;
    }
    struct rig_journal_entry *entry = rig_arena_alloc(arena, sizeof *entry);
    if (entry == NULL || line.count < 4 || !take_entry(&line, arena, entry))
        return false;
    entry->token = token;
    entry->earlier = content->latest;
    content->latest = entry;
    return true;
}

enum rig_rc rig_journal_parse(const char *path, const char *text, size_t size, struct rig_arena *arena,
                              struct rig_journal_content *content, struct rig_err *err)
{
    *content = (struct rig_journal_content){.place = ""};
    char *copy = rig_arena_text(arena, text, size);
    if (copy == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", path);
    unsigned number_of_line = 1;
    for (char *at = copy;; number_of_line++) {
        char *end = strchr(at, '\n');
        if (end == NULL)
            return RIG_OK; /* text behind the last line break was never acknowledged */
        *end = '\0';
        if (!take_line(at, number_of_line == 1, arena, content))
            return rig_fail(err, RIG_E_INPUT, "%s:%u: this rig cannot read this line of an undo journal", path,
                            number_of_line);
        at = end + 1;
    }
}

/* Numbers of folders are used again, and their times of birth are not. */
void rig_journal_folder_mark(const char *path, char mark[RIG_JOURNAL_MARK_BYTES])
{
    struct statx status;
    mark[0] = '\0';
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) != 0)
        return;
    const bool born = (status.stx_mask & STATX_BTIME) != 0;
    (void)snprintf(mark, RIG_JOURNAL_MARK_BYTES, "%llu.%lld.%u", (unsigned long long)status.stx_ino,
                   born ? (long long)status.stx_btime.tv_sec : 0, born ? status.stx_btime.tv_nsec : 0);
}

bool rig_journal_folder_at(unsigned n, char path[RIG_JOURNAL_PATH_BYTES])
{
    const char *given = getenv("RIG_JOURNAL");
    if (given != NULL && given[0] == '/') {
        (void)snprintf(path, RIG_JOURNAL_PATH_BYTES, "%s", given);
        return n == 0;
    }
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[4096];
    const bool home = getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != NULL &&
                      found->pw_dir != NULL && found->pw_dir[0] == '/' && found->pw_dir[1] != '\0';
    if (home && n == 0)
        (void)snprintf(path, RIG_JOURNAL_PATH_BYTES, "%s/.local/state/rig/undo", found->pw_dir);
    else if (n == (home ? 1U : 0U))
        (void)snprintf(path, RIG_JOURNAL_PATH_BYTES, "/var/tmp/rig-undo-%ld", (long)geteuid());
    else
        return false;
    return true;
}

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
    journal_add_field(line, text);
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
    journal_add_field(&line, "rig-undo");
    journal_add_field(&line, "2");
    journal_add_field(&line, journal->machine.boot);
    add_process(&line, &self);
    journal_add_field(&line, journal->machine.id);
    journal_add_field(&line, journal->machine.host);
    journal_add_field(&line, journal->machine.numbers);
    journal_add_field(&line, journal->place);
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
        journal_add_field(&line, kind);
        add_number(&line, journal->tokens + 1);
        journal_add_field(&line, what);
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
    journal_add_field(line, getcwd(folder, sizeof folder) == NULL ? "/" : folder);
    for (; *arguments != NULL; arguments++)
        journal_add_field(line, *arguments);
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
    journal_add_field(line, entry->boot_id);
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
    journal_add_field(line, folder);
    if (mark[0] != '\0')
        journal_add_field(line, mark);
}

enum rig_rc rig_journal_folder(struct rig_journal *journal, const char *what, const char *folder, uint64_t *token,
                               struct rig_err *err)
{
    RIG_REQUIRE(folder[0] == '/' && folder[1] != '\0');
    return add(journal, "remove", what, fill_folder, folder, token, err);
}

static void fill_nothing(struct rig_buf *line, const void *context)
{
    journal_add_field(line, context);
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
    journal_add_field(&line, "done");
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
