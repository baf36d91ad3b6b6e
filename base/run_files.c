#include "base/run_files.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256, RANDOM_DIGITS = 16 };

#define REPORT_ROW(id, name, file, between) {RIG_RUN_PLACE_RUN, file, RIG_RUN_PLACE_FILE},

/* `%s` is a node in the logs of nodes, and any word of letters, digits, `-` and `_` in those of other drivers. `%c`
 * is a cell of a matrix. */
static const struct row {
    enum rig_run_place folder;
    const char *pattern;
    enum rig_run_place place;
} rows[] = {{RIG_RUN_PLACE_RUN, RIG_RUN_MARK, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_KEEP, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_PLAN, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_RECORD, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_RECORD_OF_RANK, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_RECORD_SET_ASIDE, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_RANK, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_PROGRESS, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOST, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_WITNESSES, RIG_RUN_PLACE_WITNESSES},
            {RIG_RUN_PLACE_RUN, RIG_RUN_CHARTS, RIG_RUN_PLACE_CHARTS},
            {RIG_RUN_PLACE_RUN, RIG_RUN_PROOF, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_DRIVER, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_EXEC, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_INITDB, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_PG_VERSION, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_MARIADB_INSTALL, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_NODE, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_SERVER, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_PREPARE, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_REJOIN, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_LOG_OF_RECOVERY, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_PART, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_WITNESS, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SCENARIO, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SCRIPT_PSQL, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SCRIPT_MYSQL, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SCRIPT_SHELL, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SCRIPT_HTTP, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SCRIPT_ISOLATIONTESTER, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_REPRODUCTION, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_RUNS, RIG_RUN_PLACE_RUNS},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SMALLEST, RIG_RUN_PLACE_RUN},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SMALLEST_PLAN, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_SHRUNK, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_MATRIX, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_MATRIX_PAGE, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_MATRIX_TEXT, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_MATRIX_LOCK, RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_RUN, RIG_RUN_MATRIX_CELLS, RIG_RUN_PLACE_CELLS},
            {RIG_RUN_PLACE_CELLS, "%c", RIG_RUN_PLACE_CELL},
            {RIG_RUN_PLACE_CELL, "job.json", RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_CELL, "output.txt", RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_CELL, "scenarios.json", RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_CELL, "junit.xml", RIG_RUN_PLACE_FILE},
            {RIG_RUN_PLACE_CELL, RIG_RUN_CELL_RUN, RIG_RUN_PLACE_RUN},
            {RIG_RUN_PLACE_RUNS, "%u", RIG_RUN_PLACE_RUN},
            {RIG_RUN_PLACE_RUNS, "%u.err", RIG_RUN_PLACE_FILE},
            RIG_REPORT_FILE_TABLE(REPORT_ROW)};

/* The names of nodes that rig starts, before their number. */
static const char *const node_prefixes[] = {"pg-", "mariadb-", "etcd-", "sqlite-", "node-"};

static const char digits[] = "0123456789";

/* The bytes of a node's name at the beginning of `text`; 0: there is none. */
static size_t node_length(const char *text)
{
    for (size_t i = 0; i < sizeof node_prefixes / sizeof node_prefixes[0]; i++) {
        const size_t prefix = strlen(node_prefixes[i]);
        const size_t number = strncmp(text, node_prefixes[i], prefix) == 0 ? strspn(text + prefix, digits) : 0;
        if (number > 0)
            return prefix + number;
    }
    return 0;
}

/* The name of a cell (jobs/matrix/matrix.c). */
static size_t cell_length(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return text[0] == '.' ? 0 : strspn(text, allowed);
}

static size_t word_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
}

static bool matches(const char *pattern, const char *name)
{
    const bool has_node = pattern[0] == '%' && pattern[1] == 's';
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '%') {
            if (*name++ != *pattern)
                return false;
            continue;
        }
        pattern++;
        const size_t length = *pattern == 'u'   ? strspn(name, digits)
                              : *pattern == 'c' ? cell_length(name)
                              : has_node        ? node_length(name)
                                                : word_length(name);
        if (length == 0)
            return false;
        name += length;
    }
    return *name == '\0';
}

static enum rig_run_place find(enum rig_run_place folder, const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].folder == folder && matches(rows[i].pattern, name))
            return rows[i].place;
    }
    return RIG_RUN_PLACE_NONE;
}

/* The name that a file of base/output_file.h, .NAME.0123456789abcdef.tmp, would have got. */
static bool unfinished_name(const char *name, char finished[NAME_BYTES])
{
    const size_t length = strlen(name), rest = 1 + RANDOM_DIGITS + strlen(".tmp");
    if (name[0] != '.' || length <= rest + 1 || length >= NAME_BYTES || strcmp(name + length - 4, ".tmp") != 0 ||
        name[length - rest] != '.' || strspn(name + length - rest + 1, "0123456789abcdef") != RANDOM_DIGITS)
        return false;
    (void)snprintf(finished, NAME_BYTES, "%.*s", (int)(length - rest - 1), name + 1);
    return true;
}

enum rig_run_place rig_run_file_find(enum rig_run_place folder, const char *name)
{
    char finished[NAME_BYTES];
    const enum rig_run_place place = find(folder, name);
    return place == RIG_RUN_PLACE_NONE && unfinished_name(name, finished) &&
                   find(folder, finished) == RIG_RUN_PLACE_FILE
               ? RIG_RUN_PLACE_FILE
               : place;
}

bool rig_run_file_is_record(const char *name)
{
    return matches(RIG_RUN_RECORD, name) || matches(RIG_RUN_RECORD_OF_RANK, name);
}
