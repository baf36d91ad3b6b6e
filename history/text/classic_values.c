#include "history/text/classic_private.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- names ---- */

bool rig_classic_is_one_of(const struct rig_text_slice *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (rig_slice_is(name, *names))
            return true;
    }
    return false;
}

const char *const rig_classic_adds[] = {"add", "inc", "increment", "dec", "decrement", NULL};
const char *const rig_classic_read_names[] = {"read", "final-read", "r", "read-all", NULL};
const char *const rig_classic_transfers[] = {"transfer", NULL};
const char *const rig_classic_writes[] = {"write", "w", NULL};

bool rig_classic_reads(const struct rig_classic_item *item)
{
    return rig_classic_is_one_of(&item->function, rig_classic_read_names);
}

bool rig_classic_is_null(const struct rig_text_slice *value)
{
    return value->length == 0 || rig_slice_is(value, "nil") || rig_slice_is(value, "null");
}

struct rig_text_slice rig_classic_bare(const char *text, size_t length)
{
    struct rig_text_slice name = {.at = text, .length = length};
    if (name.length >= 2 && name.at[0] == '"') {
        name.at++;
        name.length -= 2;
    }
    if (name.length > 0 && name.at[0] == ':') {
        name.at++;
        name.length--;
    }
    return name;
}

uint64_t rig_classic_hash(const struct rig_text_slice *text)
{
    return XXH3_64bits(text->at, text->length);
}

/* ---- values ---- */

struct rig_text_cursor rig_classic_cursor(const struct rig_classic *r, const char *at)
{
    struct rig_text_cursor cursor = r->parser.cursor;
    cursor.at = at;
    return cursor;
}

char rig_classic_enter(const struct rig_classic *r, struct rig_text_cursor *cursor, bool maps)
{
    if (r->edn && cursor->end - cursor->at > 1 && cursor->at[0] == '#' && cursor->at[1] == '{' && !maps)
        cursor->at++;
    else if (*cursor->at == '{' && !maps)
        return '\0';
    const char *openers = r->edn ? "[({" : "[{", *closers = r->edn ? "])}" : "]}";
    const char *opener = *cursor->at == '\0' ? NULL : strchr(openers, *cursor->at);
    if (opener == NULL || (maps && *opener != '{'))
        return '\0';
    cursor->at++;
    return closers[opener - openers];
}

bool rig_classic_next(const struct rig_classic *r, struct rig_text_cursor *cursor, char closer, bool is_first,
                      struct rig_text_slice *item)
{
    bool more = false;
    if (r->parser.syntax->more(cursor, closer, is_first, &more) != RIG_OK || !more)
        return false;
    item->at = cursor->at;
    if (r->parser.syntax->skip(cursor) != RIG_OK)
        return false;
    item->length = (size_t)(cursor->at - item->at);
    return true;
}

bool rig_classic_is_pair(const struct rig_classic *r, const struct rig_text_slice *value, struct rig_text_slice pair[2])
{
    struct rig_text_slice third;
    if (value->length == 0 || (*value->at != '[' && *value->at != '('))
        return false;
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    const char closer = rig_classic_enter(r, &cursor, false);
    return closer != '\0' && rig_classic_next(r, &cursor, closer, true, &pair[0]) &&
           rig_classic_next(r, &cursor, closer, false, &pair[1]) &&
           !rig_classic_next(r, &cursor, closer, false, &third);
}

size_t rig_classic_parts(const struct rig_classic *r, const struct rig_text_slice *value, struct rig_text_slice part[3])
{
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    const char closer = rig_classic_enter(r, &cursor, false);
    size_t count = 0;
    while (closer != '\0' && count < 3 && rig_classic_next(r, &cursor, closer, count == 0, &part[count]))
        count++;
    for (size_t i = count; i < 3; i++)
        part[i] = (struct rig_text_slice){0};
    return count;
}

bool rig_classic_is_sequence(const struct rig_classic *r, const struct rig_text_slice *value)
{
    if (value->length == 0)
        return false;
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    return rig_classic_enter(r, &cursor, false) != '\0';
}

bool rig_classic_is_number(const struct rig_text_slice *value)
{
    size_t i = value->length > 0 && value->at[0] == '-';
    const size_t digits = i;
    while (i < value->length && value->at[i] >= '0' && value->at[i] <= '9')
        i++;
    return i == value->length && i > digits;
}

struct rig_text_slice rig_classic_split(const struct rig_classic *r, const struct rig_classic_item *item,
                                        struct rig_text_slice *key)
{
    struct rig_text_slice pair[2];
    *key = (struct rig_text_slice){.at = "0", .length = 1};
    if (!r->is_independent || !rig_classic_is_pair(r, &item->value, pair))
        return item->value;
    *key = pair[0];
    return pair[1];
}

const struct rig_classic_item *rig_classic_asked(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return item->type != RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
}

/* The key of a map: an integer also where JSON writes it as a text. */
static struct rig_text_slice map_key(const struct rig_classic *r, const char *from,
                                     const struct rig_text_cursor *cursor, const struct rig_text_slice *name)
{
    if (!r->edn && rig_classic_is_number(name))
        return *name;
    if (!r->edn)
        return (struct rig_text_slice){.at = name->at - 1, .length = name->length + 2};
    return (struct rig_text_slice){.at = from, .length = (size_t)(cursor->at - from)};
}

bool rig_classic_next_entry(const struct rig_classic *r, struct rig_text_cursor *cursor, bool is_first,
                            struct rig_text_slice *key, struct rig_text_slice *value)
{
    struct rig_text_slice name = {0};
    bool more = false;
    if (r->parser.syntax->more(cursor, '}', is_first, &more) != RIG_OK || !more)
        return false;
    const char *from = cursor->at;
    if (r->parser.syntax->field(cursor, &name) != RIG_OK)
        return false;
    *key = map_key(r, from, cursor, &name);
    if (r->parser.syntax->next(cursor) != RIG_OK)
        return false;
    value->at = cursor->at;
    if (r->parser.syntax->skip(cursor) != RIG_OK)
        return false;
    value->length = (size_t)(cursor->at - value->at);
    return true;
}

bool rig_classic_is_same(const struct rig_text_slice *a, const struct rig_text_slice *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

bool rig_classic_is_map(const struct rig_classic *r, const struct rig_text_slice *value)
{
    if (value->length == 0)
        return false;
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    return rig_classic_enter(r, &cursor, true) != '\0';
}

bool rig_classic_field(const struct rig_classic *r, const struct rig_text_slice *map, const char *name,
                       struct rig_text_slice *value)
{
    struct rig_text_slice key;
    if (!rig_classic_is_map(r, map))
        return false;
    struct rig_text_cursor cursor = rig_classic_cursor(r, map->at);
    (void)rig_classic_enter(r, &cursor, true);
    for (bool is_first = true; rig_classic_next_entry(r, &cursor, is_first, &key, value); is_first = false) {
        const struct rig_text_slice bare = rig_classic_bare(key.at, key.length);
        if (rig_slice_is(&bare, name))
            return true;
    }
    return false;
}

bool rig_classic_number(const struct rig_text_slice *value, int64_t *number)
{
    enum { MOST_DIGITS = 18 };
    if (!rig_classic_is_number(value) || value->length > MOST_DIGITS)
        return false;
    *number = strtoll(value->at, NULL, 10);
    return true;
}

size_t rig_classic_count(const struct rig_classic *r, const struct rig_text_slice *value)
{
    struct rig_text_slice item;
    size_t count = 0;
    if (value->length == 0)
        return 0;
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    const char closer = rig_classic_enter(r, &cursor, false);
    while (closer != '\0' && rig_classic_next(r, &cursor, closer, count == 0, &item))
        count++;
    return count;
}

const struct rig_classic_item *rig_classic_answer(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return item->type == RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
}

bool rig_classic_is_ok(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return rig_classic_answer(r, item)->type == RIG_OPERATION_OK;
}
