/*
 * Undoing the open entries of dead rigs (journal.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nemesis/journal.h"
#include "nemesis/journal_undo.h"

enum { TEXT_BYTES = RIG_JOURNAL_TEXT_BYTES, ENTRY_BYTES = 300 };

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

/* -- one entry ----------------------------------------------------------------------------------------------------- */

static void name_entry(const struct healer *healer, const struct rig_journal_entry *entry, char name[ENTRY_BYTES])
{
    (void)snprintf(name, ENTRY_BYTES, "%.250s/%llu", healer->name, (unsigned long long)entry->token);
}

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

static void tell(const struct healer *healer, const struct rig_journal_entry *entry, const char *text,
                 enum rig_journal_fate fate, bool quiet)
{
    char name[ENTRY_BYTES];
    name_entry(healer, entry, name);
    const struct rig_journal_told told = {.entry = name, .text = text, .fate = fate, .quiet = quiet};
    healer->request->visit(healer->request->context, &told);
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
        rig_journal_describe(entry, text);
        tell(healer, entry, text, RIG_JOURNAL_FORGOTTEN, false);
        healer->healing->forgotten++;
        note(fd, "done", entry->token);
        return true;
    }
    if (rig_journal_undo(entry, healer->here, text)) {
        tell(healer, entry, text, RIG_JOURNAL_UNDONE, false);
        healer->healing->healed++;
        note(fd, "done", entry->token);
        return true;
    }
    const bool quiet = request->place != NULL && (entry->told || !healer->concerns);
    tell(healer, entry, text, RIG_JOURNAL_NOT_UNDONE, quiet);
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
    struct rig_journal_segments segments = {.count = 0};
    const bool undoes = !healer->request->forget || healer->request->entry_count == 0;
    for (struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier)
        entry->chosen = is_chosen(healer, entry);
    if (undoes && healer->here)
        rig_journal_ask_to_end(content, healer->machine.boot, &segments);
    bool empty = true;
    for (const struct rig_journal_entry *entry = content->latest; entry != NULL; entry = entry->earlier) {
        const bool settled = heal_entry(healer, fd, entry);
        empty = empty && settled;
    }
    rig_journal_remove_segments(content, &segments, tell_segment, healer);
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
        rig_journal_describe(entry, text);
        (void)snprintf(whole, sizeof whole, "%s, of a rig on %s", text,
                       !content->names_machine || host[0] == '\0' ? "another machine, or before a restart of this one"
                       : strcmp(host, healer->machine.host) != 0  ? host
                                                                  : "another machine or container of this name");
        healer->healing->left++;
        tell(healer, entry, whole, RIG_JOURNAL_LEFT_ALONE, false);
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
