#include "nemesis/journal_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void rig_journal_add_field(struct rig_buf *line, const char *text)
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

struct line {
    char *fields[RIG_JOURNAL_FIELDS + 1]; /* NULL-ended */
    size_t count;
};

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
