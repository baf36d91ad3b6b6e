#include "history/text/index_order.h"

#include <stdlib.h>

/* One operation of the file. */
struct entry {
    int64_t index;
    size_t at, size, index_at;
    size_t line, column;
};

RIG_VEC(struct entry, entry_vec)

struct sorting {
    struct rig_operation_parser parser;
    struct entry_vec entries;
    struct rig_text_place place; /* the last one whose line was counted */
    size_t limit_bytes;
    bool all_have_index, ascend;
};

static enum rig_rc over_limit(const struct sorting *sorting)
{
    return rig_fail(sorting->parser.cursor.err, RIG_E_LIMIT,
                    "%s: its operations are not in the order of their indices, and sorting them needs a copy of the "
                    "file, more than the %zu bytes allowed for it; sort the file, or raise --max-memory",
                    sorting->parser.cursor.name, sorting->limit_bytes);
}

/* Entries and places, when the vector of entries doubles. */
static bool fits(const struct sorting *sorting)
{
    const size_t each = sizeof(struct entry) + sizeof(struct rig_text_place);
    const struct entry_vec *entries = &sorting->entries;
    return entries->count < entries->capacity || entries->capacity <= sorting->limit_bytes / 4 / each;
}

static void find_place(struct sorting *sorting, struct entry *entry)
{
    struct rig_text_place *place = &sorting->place;
    const char *text = sorting->parser.cursor.start;
    for (; place->at < entry->at; place->at++) {
        place->column = text[place->at] == '\n' ? 1 : place->column + 1;
        place->line += text[place->at] == '\n';
    }
    entry->line = place->line;
    entry->column = place->column;
}

static enum rig_rc add_operation(struct sorting *sorting)
{
    const struct rig_operation *operation = &sorting->parser.operation;
    const size_t end = rig_cursor_offset(&sorting->parser.cursor);
    struct entry entry = {.index = operation->fields.index,
                          .at = operation->at,
                          .size = end - operation->at,
                          .index_at = operation->index_at};
    const struct entry_vec *entries = &sorting->entries;
    if (!operation->fields.has_index && !sorting->ascend)
        return rig_cursor_fail(
            &sorting->parser.cursor, operation->at,
            "an operation without an index after others with one, which do not ascend; give all of them "
            "one, or none");
    sorting->all_have_index = sorting->all_have_index && operation->fields.has_index;
    if (entries->count > 0 && entry.index < entries->at[entries->count - 1].index)
        sorting->ascend = false;
    find_place(sorting, &entry);
    if (!fits(sorting))
        return over_limit(sorting);
    return entry_vec_add(&sorting->entries, entry) ? RIG_OK : rig_cursor_no_memory(&sorting->parser.cursor);
}

static enum rig_rc read_all(struct sorting *sorting)
{
    struct rig_operation_parser *parser = &sorting->parser;
    bool more = false;
    enum rig_rc rc = rig_operation_parser_start(parser, &more);
    while (rc == RIG_OK && more && sorting->all_have_index) {
        rc = rig_operation_parser_read(parser);
        if (rc == RIG_OK)
            rc = add_operation(sorting);
        if (rc == RIG_OK)
            rc = rig_operation_parser_more(parser, &more);
    }
    return rc;
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static enum rig_rc check_different(const struct sorting *sorting)
{
    for (size_t i = 1; i < sorting->entries.count; i++) {
        const struct entry *first = &sorting->entries.at[i - 1], *second = first + 1;
        if (first->index == second->index)
            return rig_cursor_fail(&sorting->parser.cursor, second->index_at,
                                   "index %lld again, as in line %zu; give the operations different numbers",
                                   (long long)second->index, first->line);
    }
    return RIG_OK;
}

static enum rig_rc write_all(const struct sorting *sorting, struct rig_buf *out, struct rig_text_origin *origin)
{
    size_t bytes = 0;
    for (size_t i = 0; i < sorting->entries.count; i++)
        bytes += sorting->entries.at[i].size + 1;
    if (rig_buf_reserve(out, bytes) == NULL)
        return over_limit(sorting);
    for (size_t i = 0; i < sorting->entries.count; i++) {
        const struct entry *entry = &sorting->entries.at[i];
        const struct rig_text_place place = {.at = out->size, .line = entry->line, .column = entry->column};
        if (!rig_text_origin_add(origin, place))
            return rig_cursor_no_memory(&sorting->parser.cursor);
        rig_buf_add(out, sorting->parser.cursor.start + entry->at, entry->size);
        rig_buf_add_char(out, '\n');
    }
    return RIG_OK;
}

enum rig_rc rig_index_order_restore(const struct rig_text_operations *operations, size_t limit_bytes,
                                    struct rig_buf *out, struct rig_text_origin *origin, bool *sorted,
                                    struct rig_err *err)
{
    struct sorting sorting = {
        .place = {.at = 0, .line = 1, .column = 1}, .limit_bytes = limit_bytes, .all_have_index = true, .ascend = true};
    struct rig_err why = {0};
    out->limit = limit_bytes / 2 > 0 ? limit_bytes / 2 : 1;
    rig_operation_parser_init(&sorting.parser, operations->syntax, operations->name, operations->data, operations->size,
                              &why);
    sorting.parser.forgets = true;
    sorting.parser.passes_values = true;
    enum rig_rc rc = read_all(&sorting);
    *sorted = rc == RIG_OK && sorting.all_have_index && !sorting.ascend;
    if (sorting.ascend) /* the fault is of another kind */
        rc = RIG_OK;
    if (*sorted) {
        qsort(sorting.entries.at, sorting.entries.count, sizeof *sorting.entries.at, compare);
        rc = check_different(&sorting);
        if (rc == RIG_OK)
            rc = write_all(&sorting, out, origin);
        *sorted = rc == RIG_OK;
    }
    entry_vec_done(&sorting.entries);
    rig_operation_parser_done(&sorting.parser);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}
