#include "report/server_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/run_files.h"
#include "base/secret.h"
#include "checker/model/certified.h"

enum {
    WINDOWS_MOST = 300,
    BACKENDS_MOST = 16,
    LOGS_MOST = 64,
    NAME_BYTES = 80,
    FILE_BYTES = 256 << 20,
    READ_BYTES = 8192
};

/* Why a line is kept, best first. */
enum rank { OF_BACKEND, COMPLAINS, IN_TIME, CONFLICT_OF_BACKEND, CONFLICT };

struct line {
    enum rank rank;
    char text[RIG_SERVER_LOG_LINE_BYTES];
};

struct window {
    const struct rig_witness *witness;
    int64_t from_ns, to_ns; /* since 1970 */
    int64_t backends[BACKENDS_MOST];
    unsigned backend_count;
    char nodes[BACKENDS_MOST][NAME_BYTES];
    unsigned node_count;
    struct line lines[RIG_SERVER_LOG_LINES];
    unsigned line_count;
    char *text; /* of all lines, once the logs were read */
};

struct rig_server_logs {
    struct window *windows;
    size_t count;
    char names[LOGS_MOST][NAME_BYTES]; /* of the logs */
    size_t name_count;
    int64_t shutdown_ns; /* since 1970; INT64_MAX: unknown */
};

/* -- times of lines ------------------------------------------------------------------------------------------------ */

static bool read_number(const char **at, unsigned digits, int *number)
{
    *number = 0;
    for (unsigned i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return true;
}

static bool skip(const char **at, const char *one_of)
{
    if (**at == '\0' || strchr(one_of, **at) == NULL)
        return false;
    (*at)++;
    return true;
}

/* The fraction of a second, in ns. */
static int64_t read_fraction(const char **at, int64_t *step_ns)
{
    int64_t ns = 0;
    *step_ns = RIG_NS_PER_S;
    if (!skip(at, ".,"))
        return 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        if (*step_ns == 1)
            continue;
        *step_ns /= 10;
        ns += (**at - '0') * *step_ns;
    }
    return ns;
}

/* Seconds from UTC; false where the zone is a name that could be any. `local`: there is no zone. */
static bool read_zone(const char **at, int *offset_s, bool *local)
{
    const char *zone = *at + (**at == ' ');
    int hours = 0, minutes = 0;
    *offset_s = 0;
    *local = false;
    if (strncmp(zone, "UTC", 3) == 0 || strncmp(zone, "GMT", 3) == 0) {
        *at = zone + 3;
    } else if (**at == 'Z') {
        (*at)++;
    } else if (*zone == '+' || *zone == '-') {
        const int sign = *zone == '-' ? -1 : 1;
        *at = zone + 1;
        if (!read_number(at, 2, &hours))
            return false;
        (void)skip(at, ":");
        const char *rest = *at;
        if (read_number(&rest, 2, &minutes))
            *at = rest;
        *offset_s = sign * (hours * 3600 + minutes * 60);
    } else if (zone[0] >= 'A' && zone[0] <= 'Z' && zone[1] >= 'A' && zone[1] <= 'Z') {
        return false;
    } else {
        *local = true;
    }
    return true;
}

bool rig_server_log_time(const char *line, int64_t *utc_ns, int64_t *step_ns, int64_t *backend)
{
    static const char json[] = "\"ts\":\"";
    struct tm date = {.tm_isdst = -1};
    int offset_s;
    bool local;
    const char *at = line, *member = line[0] == '{' ? strstr(line, json) : NULL;
    if (member != NULL)
        at = member + sizeof json - 1;
    if (!read_number(&at, 4, &date.tm_year) || !skip(&at, "-") || !read_number(&at, 2, &date.tm_mon) ||
        !skip(&at, "-") || !read_number(&at, 2, &date.tm_mday) || !skip(&at, " T") ||
        !read_number(&at, 2, &date.tm_hour) || !skip(&at, ":") || !read_number(&at, 2, &date.tm_min) ||
        !skip(&at, ":") || !read_number(&at, 2, &date.tm_sec))
        return false;
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    const int64_t fraction_ns = read_fraction(&at, step_ns);
    if (!read_zone(&at, &offset_s, &local))
        return false;
    const time_t seconds = local ? mktime(&date) : timegm(&date);
    if (seconds == (time_t)-1)
        return false;
    *utc_ns = ((int64_t)seconds - offset_s) * RIG_NS_PER_S + fraction_ns;
    while (*at == ' ' || *at == '[')
        at++;
    char *end;
    const long long number = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
    *backend = number;
    return true;
}

/* -- windows ------------------------------------------------------------------------------------------------------- */

static void add_txn(struct window *window, const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn *t = &history->txns[txn];
    const int64_t margin_ns = RIG_SERVER_LOG_MARGIN_MS * RIG_NS_PER_MS;
    const int64_t from = t->invoke_ns != RIG_NO_TIME ? t->invoke_ns : t->complete_ns;
    const int64_t to = t->complete_ns != RIG_NO_TIME ? t->complete_ns : t->invoke_ns;
    const int64_t backend = rig_history_column(history, txn, RIG_COLUMN_BACKEND);
    const char *node = rig_history_column_name(history, txn, RIG_COLUMN_NODE);
    if (from == RIG_NO_TIME)
        return;
    if (history->start_utc_ns + from - margin_ns < window->from_ns)
        window->from_ns = history->start_utc_ns + from - margin_ns;
    if (history->start_utc_ns + to + margin_ns > window->to_ns)
        window->to_ns = history->start_utc_ns + to + margin_ns;
    if (backend != RIG_COLUMN_NONE && window->backend_count < BACKENDS_MOST)
        window->backends[window->backend_count++] = backend;
    if (node != NULL && window->node_count < BACKENDS_MOST)
        (void)snprintf(window->nodes[window->node_count++], NAME_BYTES, "%.70s.log", node);
}

static void add_windows(struct rig_server_logs *logs, const struct rig_verdict *verdict)
{
    if (verdict->history == NULL || verdict->history->start_utc_ns == 0)
        return;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count && logs->count < WINDOWS_MOST; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            struct window *window = &logs->windows[logs->count];
            *window = (struct window){.witness = witness, .from_ns = INT64_MAX, .to_ns = INT64_MIN};
            for (uint32_t j = 0; j < witness->txn_count && !rig_witness_is_long(witness); j++)
                add_txn(window, verdict->history, witness->txns[j]);
            if (window->from_ns <= window->to_ns)
                logs->count++;
        }
    }
}

static bool is_node_log(const struct window *window, const char *name)
{
    for (unsigned i = 0; i < window->node_count; i++)
        if (strcmp(window->nodes[i], name) == 0)
            return true;
    return false;
}

/* Whether the log may speak of the witness: where no node of it has a log, any. */
static bool may_speak(const struct rig_server_logs *logs, const struct window *window, const char *name)
{
    for (size_t i = 0; i < logs->name_count; i++)
        if (is_node_log(window, logs->names[i]))
            return is_node_log(window, name);
    return true;
}

/* -- reading ------------------------------------------------------------------------------------------------------- */

static bool has_one_of(const char *line, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strstr(line, *words) != NULL)
            return true;
    return false;
}

/* The rank of a line by itself. Servers refuse many transactions for conflicts, which says little. */
static enum rank own_rank(const char *line)
{
    static const char *const complaints[] = {"ERROR", "FATAL", "PANIC", "WARNING", "\"error\"", "\"warn\"", NULL};
    static const char *const conflicts[] = {"could not serialize access", "deadlock detected", "Deadlock found", NULL};
    if (has_one_of(line, conflicts))
        return CONFLICT;
    return has_one_of(line, complaints) ? COMPLAINS : IN_TIME;
}

/* A further part of the message before, which PostgreSQL writes as a line with a time of its own. */
static bool is_further_part(const char *line)
{
    static const char *const parts[] = {" DETAIL:  ", " HINT:  ", " CONTEXT:  ", " STATEMENT:  ", " QUERY:  ", NULL};
    return has_one_of(line, parts);
}

static enum rank rank_of(const struct window *window, int64_t backend, enum rank own)
{
    for (unsigned i = 0; i < window->backend_count; i++)
        if (window->backends[i] == backend)
            return own == CONFLICT ? CONFLICT_OF_BACKEND : OF_BACKEND;
    return own;
}

/* Keeps the line, in the place of a worse one where there are enough: of these the last one goes. */
static void keep(struct window *window, enum rank rank, const char *text)
{
    if (window->line_count == RIG_SERVER_LOG_LINES) {
        unsigned worst = 0;
        for (unsigned i = 1; i < window->line_count; i++)
            if (window->lines[i].rank >= window->lines[worst].rank)
                worst = i;
        if (window->lines[worst].rank <= rank)
            return;
        memmove(&window->lines[worst], &window->lines[worst + 1],
                (window->line_count - worst - 1) * sizeof window->lines[0]);
        window->line_count--;
    }
    struct line *line = &window->lines[window->line_count++];
    line->rank = rank;
    (void)snprintf(line->text, sizeof line->text, "%.*s", RIG_SERVER_LOG_LINE_BYTES - 1, text);
}

struct message {
    bool has_time;
    int64_t utc_ns, step_ns, backend;
    enum rank rank;
};

static void offer(struct rig_server_logs *logs, const char *name, char *line, struct message *message)
{
    struct message own = {.rank = IN_TIME};
    line[strcspn(line, "\n")] = '\0';
    if (rig_server_log_time(line, &own.utc_ns, &own.step_ns, &own.backend)) {
        own.has_time = true;
        own.rank = !is_further_part(line) ? own_rank(line) : own.backend == message->backend ? message->rank : CONFLICT;
        *message = own;
    }
    if (!message->has_time || line[0] == '\0' || message->utc_ns > logs->shutdown_ns)
        return;
    char text[READ_BYTES + NAME_BYTES];
    bool made = false;
    for (size_t i = 0; i < logs->count; i++) {
        struct window *window = &logs->windows[i];
        if (message->utc_ns + message->step_ns < window->from_ns || message->utc_ns > window->to_ns ||
            !may_speak(logs, window, name))
            continue;
        if (!made) {
            (void)snprintf(text, sizeof text, "%s: %s", name, line);
            rig_secret_redact(text, strlen(text) + 1);
            rig_printable_line(text);
            made = true;
        }
        keep(window, rank_of(window, message->backend, message->rank), text);
    }
}

/* A line that is longer than the buffer is cut; its rest is no line of its own. */
static void read_log(struct rig_server_logs *logs, const char *name, FILE *file)
{
    char line[READ_BYTES];
    struct message message = {.has_time = false, .rank = IN_TIME};
    bool continues = false;
    size_t read = 0;
    while (read < FILE_BYTES && fgets(line, sizeof line, file) != NULL) {
        const size_t length = strlen(line);
        const bool is_rest = continues;
        read += length;
        continues = length > 0 && line[length - 1] != '\n';
        if (!is_rest)
            offer(logs, name, line, &message);
    }
}

static bool is_log(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && length < NAME_BYTES && strcmp(name + length - 4, ".log") == 0 &&
           strcmp(name, RIG_RUN_LOG) != 0;
}

/* "20260301T120304.567Z" at the beginning of a line of rig's own log. */
static bool read_own_time(const char *at, int64_t *utc_ns)
{
    struct tm date = {.tm_isdst = 0};
    int64_t step_ns;
    if (!read_number(&at, 4, &date.tm_year) || !read_number(&at, 2, &date.tm_mon) ||
        !read_number(&at, 2, &date.tm_mday) || !skip(&at, "T") || !read_number(&at, 2, &date.tm_hour) ||
        !read_number(&at, 2, &date.tm_min) || !read_number(&at, 2, &date.tm_sec))
        return false;
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    *utc_ns = (int64_t)timegm(&date) * RIG_NS_PER_S + read_fraction(&at, &step_ns);
    return true;
}

/* When rig began to end its sessions and servers. */
static int64_t find_shutdown(DIR *dir)
{
    const int fd = openat(dirfd(dir), RIG_RUN_LOG, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    int64_t found_ns = INT64_MAX, at_ns;
    char line[READ_BYTES];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strstr(line, " run: " RIG_RUN_LOG_READS_ENDED) != NULL && read_own_time(line, &at_ns))
            found_ns = at_ns;
    }
    if (file != NULL)
        (void)fclose(file);
    else if (fd >= 0)
        (void)close(fd);
    return found_ns;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void read_folder(struct rig_server_logs *logs, DIR *dir)
{
    for (struct dirent *entry = readdir(dir); entry != NULL && logs->name_count < LOGS_MOST; entry = readdir(dir))
        if (is_log(entry->d_name))
            (void)snprintf(logs->names[logs->name_count++], NAME_BYTES, "%s", entry->d_name);
    qsort(logs->names, logs->name_count, NAME_BYTES, by_name);
    logs->shutdown_ns = find_shutdown(dir);
    for (size_t i = 0; i < logs->name_count; i++) {
        struct stat status;
        const int fd = openat(dirfd(dir), logs->names[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        FILE *file = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(fd, "r") : NULL;
        if (file != NULL) {
            read_log(logs, logs->names[i], file);
            (void)fclose(file);
        } else if (fd >= 0) {
            (void)close(fd);
        }
    }
}

static void join_lines(struct window *window)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (unsigned i = 0; i < window->line_count; i++)
        rig_buf_printf(&text, "%s\n", window->lines[i].text);
    window->text = text.size == 0 ? NULL : strdup(rig_buf_text(&text));
    rig_buf_done(&text);
}

struct rig_server_logs *rig_server_logs_read(const char *folder, const struct rig_verdict *verdict)
{
    DIR *dir = folder == NULL || folder[0] == '\0' ? NULL : opendir(folder);
    struct rig_server_logs *logs = dir == NULL ? NULL : calloc(1, sizeof *logs);
    if (logs != NULL)
        logs->windows = calloc(WINDOWS_MOST, sizeof *logs->windows);
    if (logs != NULL && logs->windows != NULL) {
        add_windows(logs, verdict);
        if (verdict->certified != NULL && verdict->certified->verdict != NULL)
            add_windows(logs, verdict->certified->verdict);
        if (logs->count > 0)
            read_folder(logs, dir);
        for (size_t i = 0; i < logs->count; i++)
            join_lines(&logs->windows[i]);
    }
    if (dir != NULL)
        (void)closedir(dir);
    return logs;
}

void rig_server_logs_free(struct rig_server_logs *logs)
{
    if (logs == NULL)
        return;
    for (size_t i = 0; i < logs->count; i++)
        free(logs->windows[i].text);
    free(logs->windows);
    free(logs);
}

unsigned rig_server_logs_best(const struct rig_server_logs *logs, const struct rig_witness *witness, unsigned most,
                              bool conflicts, const char *best[RIG_SERVER_LOG_LINES])
{
    unsigned count = 0;
    for (size_t i = 0; logs != NULL && i < logs->count; i++) {
        const struct window *window = &logs->windows[i];
        for (unsigned line = 0; window->witness == witness && line < window->line_count; line++) {
            unsigned better = 0;
            for (unsigned other = 0; other < window->line_count; other++)
                better += window->lines[other].rank < window->lines[line].rank ||
                          (window->lines[other].rank == window->lines[line].rank && other < line);
            if (better < most && (conflicts || window->lines[line].rank < CONFLICT_OF_BACKEND))
                best[count++] = window->lines[line].text;
        }
    }
    return count;
}

const char *rig_server_logs_of(const struct rig_server_logs *logs, const struct rig_witness *witness, unsigned *count)
{
    *count = 0;
    for (size_t i = 0; logs != NULL && i < logs->count; i++) {
        if (logs->windows[i].witness != witness || logs->windows[i].text == NULL)
            continue;
        *count = logs->windows[i].line_count;
        return logs->windows[i].text;
    }
    return "";
}
