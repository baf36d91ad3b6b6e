#include "history/types/row_names.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { NAME_BYTES = 32, MOST_TABLES = 64, MOST_COLUMNS = 8, KEY_BITS = 63 };

struct table {
    char name[NAME_BYTES];
    unsigned widths[MOST_COLUMNS];
    unsigned column_count;
};

struct rig_row_names {
    struct rig_row_names *next;
    char *line;
    unsigned table_bits;
    unsigned table_count;
    struct table tables[MOST_TABLES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rig_row_names *all;

/* ---- parsing ---- */

static bool parse_width(const char **at, unsigned *width)
{
    *width = 0;
    const char *begin = *at;
    for (; **at >= '0' && **at <= '9' && *width <= KEY_BITS; ++*at)
        *width = *width * 10 + (unsigned)(**at - '0');
    return *at > begin && *width >= 1 && *width <= KEY_BITS;
}

static bool parse_table(const char **at, unsigned table_bits, struct table *table)
{
    const size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz_");
    if (length == 0 || length >= NAME_BYTES)
        return false;
    memcpy(table->name, *at, length);
    *at += length;
    unsigned bits = table_bits;
    while (**at == ':') {
        ++*at;
        if (table->column_count == MOST_COLUMNS || !parse_width(at, &table->widths[table->column_count]))
            return false;
        bits += table->widths[table->column_count++];
    }
    return table->column_count > 0 && bits <= KEY_BITS;
}

static bool parse(const char *line, struct rig_row_names *names)
{
    const char *at = line + strlen(RIG_ROW_NAMES_LINE);
    if (!parse_width(&at, &names->table_bits))
        return false;
    while (*at == ' ') {
        at++;
        if (names->table_count == MOST_TABLES ||
            !parse_table(&at, names->table_bits, &names->tables[names->table_count]))
            return false;
        names->table_count++;
    }
    return *at == '\0' && names->table_count > 0;
}

/* ---- the layouts ---- */

/* The line without its end, the caller's to free; NULL: there is none. */
static char *copy_line(const char *meta)
{
    const char *line = meta;
    while (line != NULL && strncmp(line, RIG_ROW_NAMES_LINE, strlen(RIG_ROW_NAMES_LINE)) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return line == NULL ? NULL : strndup(line, strcspn(line, "\n"));
}

/* Lock held. Takes the line. */
static const struct rig_row_names *keep(char *line)
{
    for (const struct rig_row_names *names = all; names != NULL; names = names->next) {
        if (strcmp(names->line, line) == 0) {
            free(line);
            return names;
        }
    }
    struct rig_row_names *made = calloc(1, sizeof *made);
    if (made == NULL || !parse(line, made)) {
        free(made);
        free(line);
        return NULL;
    }
    made->line = line;
    made->next = all;
    all = made;
    return made;
}

const struct rig_row_names *rig_row_names_of(const char *meta)
{
    char *line = meta == NULL ? NULL : copy_line(meta);
    if (line == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    const struct rig_row_names *names = keep(line);
    pthread_mutex_unlock(&lock);
    return names;
}

/* ---- showing ---- */

/* False when bits are left that no column has. */
static bool unpack(const struct table *table, uint64_t left, uint64_t columns[MOST_COLUMNS])
{
    for (unsigned i = table->column_count; i-- > 0;) {
        columns[i] = left & ((UINT64_C(1) << table->widths[i]) - 1);
        left >>= table->widths[i];
    }
    return left == 0;
}

void rig_row_names_show(const struct rig_row_names *names, int64_t key, char *text, size_t size)
{
    RIG_REQUIRE(names != NULL && size > 0);
    const uint64_t table = (uint64_t)key & ((UINT64_C(1) << names->table_bits) - 1);
    uint64_t columns[MOST_COLUMNS];
    if (key < 0 || table >= names->table_count ||
        !unpack(&names->tables[table], (uint64_t)key >> names->table_bits, columns)) {
        (void)snprintf(text, size, "%lld", (long long)key);
        return;
    }
    size_t length = 0;
    for (unsigned i = 0; i < names->tables[table].column_count && length < size; i++) {
        const int added = snprintf(text + length, size - length, "%s%s%llu", i == 0 ? names->tables[table].name : "",
                                   i == 0 ? "(" : ",", (unsigned long long)columns[i]);
        length += added < 0 ? 0 : (size_t)added;
    }
    if (length < size)
        (void)snprintf(text + length, size - length, ")");
}
