#include "history/text/classic_operations.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/table.h"
#include "base/vec.h"
#include "history/types.h"

enum { LOOKED_AT = 64 }; /* operations at the beginning, for one of a client */

/* One operation of the file; slices are as written. */
struct item {
    enum rig_operation_type type;
    bool is_client, has_process, has_time, has_index, is_txn;
    int64_t index, time_ns, process;
    struct rig_text_slice function, process_name, value;
    size_t at;        /* in the file */
    uint32_t partner; /* the other one of invocation and completion, or RIG_TABLE_NONE */
};

RIG_VEC(struct item, item_vec)
RIG_VEC(struct rig_text_slice, slice_vec)

struct rewriting {
    struct rig_operation_parser parser;
    enum rig_workload workload;
    bool edn, is_independent;
    bool has_micros; /* the operation that was read last */
    struct item_vec items;
    struct slice_vec accounts; /* of a bank: those that acknowledged reads show */
    struct rig_buf *out;
    struct rig_text_origin *origin;
    struct rig_text_place
        place;      /* of the last operation that was written, in the user's file: here `at` counts in it */
    uint32_t shift; /* of all indices, for the writers that the file does not show */
};

static bool is_one_of(const struct rig_text_slice *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (rig_slice_is(name, *names))
            return true;
    }
    return false;
}

static const char *const add_names[] = {"add", "inc", "increment", "dec", "decrement", NULL};
static const char *const read_names[] = {"read", "final-read", "r", "read-all", NULL};
static const char *const transfer_names[] = {"transfer", NULL};
static const char *const write_names[] = {"write", "w", NULL};

static bool is_read(const struct item *item)
{
    return is_one_of(&item->function, read_names);
}

static bool is_null(const struct rig_text_slice *value)
{
    return value->length == 0 || rig_slice_is(value, "nil") || rig_slice_is(value, "null");
}

/* ---- reading ---- */

/* Without quotes and the colon of a keyword. */
static struct rig_text_slice bare(const char *text, size_t length)
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

/* The whole value of a transaction, which the parser has passed. */
static struct rig_text_slice txn_text(const struct rig_operation_parser *parser)
{
    struct rig_text_cursor cursor = parser->cursor;
    cursor.at = cursor.start + parser->operation.value_at;
    cursor.err = NULL;
    const char *from = cursor.at;
    (void)parser->syntax->skip(&cursor);
    return (struct rig_text_slice){.at = from, .length = (size_t)(cursor.at - from)};
}

static enum rig_rc note_micro(void *context, const struct rig_micro *micro)
{
    (void)micro;
    ((struct rewriting *)context)->has_micros = true;
    return RIG_OK;
}

static enum rig_rc read_operation(struct rewriting *r)
{
    r->has_micros = false;
    return rig_operation_parser_read(&r->parser);
}

static struct item item_of(const struct rewriting *r)
{
    const struct rig_operation_parser *parser = &r->parser;
    const struct rig_operation *operation = &parser->operation;
    const struct rig_operation_fields *fields = &operation->fields;
    struct item item = {.type = fields->type,
                        .is_client = fields->is_client || fields->process_length == 0,
                        .has_process = fields->is_client,
                        .has_time = fields->has_time,
                        .has_index = fields->has_index,
                        .is_txn = fields->has_value && r->has_micros,
                        .index = fields->index,
                        .time_ns = fields->time_ns,
                        .process = fields->is_client ? fields->process : 0,
                        .at = operation->at,
                        .partner = RIG_TABLE_NONE};
    item.is_client &= fields->has_type;
    if (operation->function != NULL)
        item.function = bare(operation->function, operation->function_length);
    if (fields->is_client && fields->process_name != NULL)
        item.process_name = (struct rig_text_slice){.at = fields->process_name, .length = fields->process_length};
    if (fields->has_value)
        item.value = txn_text(parser);
    else if (fields->other != NULL)
        item.value = (struct rig_text_slice){.at = fields->other, .length = fields->other_length};
    return item;
}

/* The items may take half as much as the result; their vector doubles. */
static bool add_item(struct rewriting *r)
{
    const bool fits =
        r->items.count < r->items.capacity || r->items.capacity * sizeof(struct item) <= r->out->limit / 4;
    return fits && item_vec_add(&r->items, item_of(r));
}

static enum rig_rc read_items(struct rewriting *r)
{
    bool more = false;
    enum rig_rc rc = rig_operation_parser_start(&r->parser, &more);
    while (rc == RIG_OK && more) {
        rc = read_operation(r);
        if (rc == RIG_OK && !add_item(r))
            rc = rig_cursor_no_memory(&r->parser.cursor);
        if (rc == RIG_OK)
            rc = rig_operation_parser_more(&r->parser, &more);
    }
    return rc;
}

static uint64_t hash_of(const struct rig_text_slice *text)
{
    return XXH3_64bits(text->at, text->length);
}

static uint64_t process_key(const struct item *item)
{
    return item->process_name.at != NULL ? hash_of(&item->process_name) | 1ULL << 63
                                         : (uint64_t)item->process & ~(1ULL << 63);
}

/* Pairs each completion with the invocation of its process before it. */
static bool pair_items(struct rewriting *r)
{
    struct rig_table open;
    bool done = true;
    rig_table_init(&open);
    for (uint32_t i = 0; done && i < r->items.count; i++) {
        struct item *item = &r->items.at[i];
        if (!item->is_client)
            continue;
        uint32_t *slot = rig_table_put(&open, process_key(item));
        done = slot != NULL;
        if (!done)
            break;
        if (item->type != RIG_OPERATION_INVOKE && *slot != RIG_TABLE_NONE &&
            r->items.at[*slot].type == RIG_OPERATION_INVOKE) {
            item->partner = *slot;
            r->items.at[*slot].partner = i;
        }
        *slot = i;
    }
    rig_table_done(&open);
    return done;
}

/* ---- values ---- */

static struct rig_text_cursor cursor_at(const struct rewriting *r, const char *at)
{
    struct rig_text_cursor cursor = r->parser.cursor;
    cursor.at = at;
    return cursor;
}

/* The closer of the sequence or, with `maps`, the map that opens at the cursor, which moves into it; else 0. */
static char enter(const struct rewriting *r, struct rig_text_cursor *cursor, bool maps)
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

/* The next item of the sequence; false at its end, or at a fault. */
static bool next_of(const struct rewriting *r, struct rig_text_cursor *cursor, char closer, bool is_first,
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

/* Whether the value is a sequence of exactly two items, and these. */
static bool is_pair(const struct rewriting *r, const struct rig_text_slice *value, struct rig_text_slice pair[2])
{
    struct rig_text_slice third;
    if (value->length == 0 || (*value->at != '[' && *value->at != '('))
        return false;
    struct rig_text_cursor cursor = cursor_at(r, value->at);
    const char closer = enter(r, &cursor, false);
    return closer != '\0' && next_of(r, &cursor, closer, true, &pair[0]) &&
           next_of(r, &cursor, closer, false, &pair[1]) && !next_of(r, &cursor, closer, false, &third);
}

static bool is_sequence(const struct rewriting *r, const struct rig_text_slice *value)
{
    if (value->length == 0)
        return false;
    struct rig_text_cursor cursor = cursor_at(r, value->at);
    return enter(r, &cursor, false) != '\0';
}

static bool is_number(const struct rig_text_slice *value)
{
    size_t i = value->length > 0 && value->at[0] == '-';
    const size_t digits = i;
    while (i < value->length && value->at[i] >= '0' && value->at[i] <= '9')
        i++;
    return i == value->length && i > digits;
}

/* Every client's operation has a tuple of a key and a value, or nothing. */
static bool are_tuples(const struct rewriting *r)
{
    bool any = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct item *item = &r->items.at[i];
        struct rig_text_slice pair[2];
        if (!item->is_client || is_null(&item->value))
            continue;
        if (!is_pair(r, &item->value, pair) ||
            (is_read(item) && item->type == RIG_OPERATION_OK && r->workload == RIG_WORKLOAD_SET &&
             !is_sequence(r, &pair[1]) && !is_null(&pair[1])))
            return false;
        any = true;
    }
    return any;
}

/* ---- writing ---- */

static void put(struct rewriting *r, const struct rig_text_slice *text)
{
    rig_buf_add(r->out, text->at, text->length);
}

/* The name of a field or a micro-operation. */
static void put_name(struct rewriting *r, const char *name)
{
    rig_buf_add_char(r->out, r->edn ? ':' : '"');
    rig_buf_add_text(r->out, name);
    rig_buf_add_text(r->out, r->edn ? "" : "\"");
}

static void put_field(struct rewriting *r, const char *name, bool is_first)
{
    rig_buf_add_text(r->out, is_first ? "" : ", ");
    put_name(r, name);
    rig_buf_add_text(r->out, r->edn ? " " : ": ");
}

static void begin_micro(struct rewriting *r, const char *name, const struct rig_text_slice *key)
{
    static const struct rig_text_slice zero = {.at = "0", .length = 1};
    const char last = r->out->size == 0 ? '\0' : r->out->data[r->out->size - 1];
    rig_buf_add_text(r->out, last == ']' && !r->edn ? ", [" : last == ']' ? " [" : "[");
    put_name(r, name);
    rig_buf_add_text(r->out, r->edn ? " " : ", ");
    put(r, key == NULL ? &zero : key);
}

/* A member of a micro-operation; without one, the result is unknown. */
static void end_micro(struct rewriting *r, const struct rig_text_slice *value)
{
    if (value != NULL) {
        rig_buf_add_text(r->out, r->edn ? " " : ", ");
        put(r, value);
    }
    rig_buf_add_char(r->out, ']');
}

static enum rig_rc refuse(const struct rewriting *r, const struct item *item, const char *why)
{
    return rig_cursor_fail(&r->parser.cursor, item->at, "an operation \"%.*s\" %s, in a history of %s",
                           item->function.length > 40 ? 40 : (int)item->function.length,
                           item->function.at == NULL ? "" : item->function.at, why, rig_data_type_names[r->workload]);
}

/* The key and the value of an operation: those of a tuple, or the value alone. */
static struct rig_text_slice split(const struct rewriting *r, const struct item *item, struct rig_text_slice *key)
{
    struct rig_text_slice pair[2];
    *key = (struct rig_text_slice){.at = "0", .length = 1};
    if (!r->is_independent || !is_pair(r, &item->value, pair))
        return item->value;
    *key = pair[0];
    return pair[1];
}

/* The one of the pair with the value: completions may say something else instead of what was invoked. */
static const struct item *asked(const struct rewriting *r, const struct item *item)
{
    return item->type != RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
}

static enum rig_rc put_add(struct rewriting *r, const struct item *item)
{
    const bool counts = r->workload == RIG_WORKLOAD_COUNTER;
    const bool down = rig_slice_is(&item->function, "dec") || rig_slice_is(&item->function, "decrement");
    struct rig_text_slice key, value = split(r, asked(r, item), &key);
    if (is_null(&value) && counts)
        value = (struct rig_text_slice){.at = "1", .length = 1};
    if (is_null(&value))
        return refuse(r, item, "without a value");
    if (counts && !is_number(&value))
        return refuse(r, item, "of a value that is not an integer of 64 bits");
    begin_micro(r, rig_op_infos[rig_data_types[r->workload].write_op].name, &key);
    if (counts && down) {
        rig_buf_add_text(r->out, r->edn ? " " : ", ");
        rig_buf_add_text(r->out, value.at[0] == '-' ? "" : "-");
        rig_buf_add(r->out, value.at + (value.at[0] == '-'), value.length - (value.at[0] == '-'));
        end_micro(r, NULL);
        return RIG_OK;
    }
    end_micro(r, &value);
    return RIG_OK;
}

/* A read of a set or a counter. */
static enum rig_rc put_read(struct rewriting *r, const struct item *item)
{
    const struct item *other = item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
    struct rig_text_slice key, value = split(r, item, &key);
    if (is_null(&item->value)) /* the other one may name the key */
        value = split(r, other, &key);
    const bool known = item->type == RIG_OPERATION_OK && !is_null(&item->value) && !is_null(&value);
    if (known && r->workload == RIG_WORKLOAD_SET && !is_sequence(r, &value))
        return refuse(r, item, "whose value is not a set or a list");
    if (known && r->workload != RIG_WORKLOAD_SET && !is_number(&value))
        return refuse(r, item, "whose value is not an integer of 64 bits");
    begin_micro(r, "r", &key);
    end_micro(r, known ? &value : NULL);
    return RIG_OK;
}

/* The key of a map: an integer also where JSON writes it as a text. */
static struct rig_text_slice map_key(const struct rewriting *r, const char *from, const struct rig_text_cursor *cursor,
                                     const struct rig_text_slice *name)
{
    if (!r->edn && is_number(name))
        return *name;
    if (!r->edn)
        return (struct rig_text_slice){.at = name->at - 1, .length = name->length + 2};
    return (struct rig_text_slice){.at = from, .length = (size_t)(cursor->at - from)};
}

/* The next entry of a map. */
static bool next_entry(const struct rewriting *r, struct rig_text_cursor *cursor, bool is_first,
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

static enum rig_rc put_transfer(struct rewriting *r, const struct item *item)
{
    const struct rig_text_slice *map = &asked(r, item)->value;
    struct rig_text_slice from = {0}, to = {0}, amount = {0}, key, value;
    struct rig_text_cursor cursor = cursor_at(r, map->length == 0 ? r->parser.cursor.start : map->at);
    bool is_first = true;
    if (map->length == 0 || enter(r, &cursor, true) == '\0')
        return refuse(r, item, "whose value is not a map of from, to and amount");
    for (; next_entry(r, &cursor, is_first, &key, &value); is_first = false) {
        const struct rig_text_slice name = bare(key.at, key.length);
        if (rig_slice_is(&name, "from"))
            from = value;
        else if (rig_slice_is(&name, "to"))
            to = value;
        else if (rig_slice_is(&name, "amount"))
            amount = value;
    }
    if (from.length == 0 || to.length == 0 || !is_number(&amount))
        return refuse(r, item, "whose value is not a map of from, to and amount");
    const bool negative = amount.at[0] == '-';
    begin_micro(r, rig_op_infos[RIG_OP_INCREMENT].name, &from);
    rig_buf_add_text(r->out, r->edn ? " " : ", ");
    rig_buf_add_text(r->out, negative ? "" : "-");
    rig_buf_add(r->out, amount.at + negative, amount.length - negative);
    end_micro(r, NULL);
    begin_micro(r, rig_op_infos[RIG_OP_INCREMENT].name, &to);
    end_micro(r, &amount);
    return RIG_OK;
}

static bool is_same(const struct rig_text_slice *a, const struct rig_text_slice *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

/* Accounts that a read does not show have no balance. */
static enum rig_rc put_missing_balances(struct rewriting *r, const struct item *read)
{
    static const struct rig_text_slice nulls[] = {{.at = "null", .length = 4}, {.at = "nil", .length = 3}};
    for (size_t i = 0; i < r->accounts.count; i++) {
        struct rig_text_cursor cursor = cursor_at(r, read->value.at);
        struct rig_text_slice key, value;
        bool found = false;
        (void)enter(r, &cursor, true);
        for (bool is_first = true; !found && next_entry(r, &cursor, is_first, &key, &value); is_first = false)
            found = is_same(&key, &r->accounts.at[i]);
        if (found)
            continue;
        begin_micro(r, "r", &r->accounts.at[i]);
        end_micro(r, &nulls[r->edn]);
    }
    return RIG_OK;
}

/* False when memory runs out. */
static bool find_accounts(struct rewriting *r)
{
    struct rig_table known;
    bool done = true;
    rig_table_init(&known);
    for (size_t i = 0; done && i < r->items.count; i++) {
        const struct item *item = &r->items.at[i];
        struct rig_text_slice key, value;
        if (!item->is_client || item->type != RIG_OPERATION_OK || !is_read(item) || is_null(&item->value))
            continue;
        struct rig_text_cursor cursor = cursor_at(r, item->value.at);
        bool more = enter(r, &cursor, true) != '\0';
        for (bool is_first = true; more && next_entry(r, &cursor, is_first, &key, &value); is_first = false) {
            uint32_t *slot = rig_table_put(&known, hash_of(&key));
            done = slot != NULL && (*slot != RIG_TABLE_NONE || slice_vec_add(&r->accounts, key));
            if (slot != NULL)
                *slot = 0;
            more = done;
        }
    }
    rig_table_done(&known);
    return done;
}

/* The balances that the acknowledged read of the pair shows: by account, or in the order of the accounts. */
static enum rig_rc put_balances(struct rewriting *r, const struct item *item)
{
    const bool invokes = item->type == RIG_OPERATION_INVOKE;
    const struct item *answer = invokes && item->partner != RIG_TABLE_NONE ? &r->items.at[item->partner] : item;
    struct rig_text_slice key, value;
    if (answer->type != RIG_OPERATION_OK || is_null(&answer->value))
        return RIG_OK;
    struct rig_text_cursor cursor = cursor_at(r, answer->value.at);
    const bool is_map = enter(r, &cursor, true) != '\0';
    const char closer = is_map ? '}' : enter(r, &cursor, false);
    if (closer == '\0')
        return refuse(r, item, "whose value is not a map of balances");
    char number[24];
    uint32_t shown = 0;
    for (size_t i = 0;
         is_map ? next_entry(r, &cursor, i == 0, &key, &value) : next_of(r, &cursor, closer, i == 0, &value); i++) {
        if (!is_null(&value) && !is_number(&value))
            return refuse(r, item, "with a balance that is not an integer of 64 bits");
        if (!is_map)
            key = (struct rig_text_slice){.at = number, .length = (size_t)snprintf(number, sizeof number, "%zu", i)};
        static const struct rig_text_slice nulls[] = {{.at = "null", .length = 4}, {.at = "nil", .length = 3}};
        begin_micro(r, "r", &key);
        end_micro(r, invokes ? &nulls[r->edn] : &value);
        shown++;
    }
    return is_map && shown < r->accounts.count ? put_missing_balances(r, answer) : RIG_OK;
}

static enum rig_rc put_operations(struct rewriting *r, const struct item *item)
{
    if (r->workload == RIG_WORKLOAD_LONG_FORK) {
        if (!asked(r, item)->is_txn)
            return refuse(r, item, "whose value is not a list of reads or writes");
        const struct item *given = item->is_txn ? item : asked(r, item);
        rig_buf_add(r->out, given->value.at + 1, given->value.length - 2);
        return RIG_OK;
    }
    if (is_read(item))
        return r->workload == RIG_WORKLOAD_BANK ? put_balances(r, item) : put_read(r, item);
    if (r->workload == RIG_WORKLOAD_BANK && is_one_of(&item->function, transfer_names))
        return put_transfer(r, item);
    if (r->workload != RIG_WORKLOAD_BANK && is_one_of(&item->function, add_names))
        return put_add(r, item);
    return refuse(r, item, "is not known");
}

/* Nothing tells which other operations the client of one without a process ran, so it has a client of its own. */
static int64_t own_process(const struct rewriting *r, const struct item *item)
{
    enum { FIRST = 1 << 30 }; /* above the processes of a file that has some */
    const bool completes = item->type != RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE;
    return FIRST + (completes ? (int64_t)item->partner : item - r->items.at);
}

/* Notes that what is written next stems from the operation at the byte `at` of the file. False when memory runs out. */
static bool note_origin(struct rewriting *r, size_t at)
{
    struct rig_text_place *place = &r->place;
    const char *text = r->parser.cursor.start;
    if (place->line == 0 || at < place->at)
        *place = (struct rig_text_place){.at = 0, .line = 1, .column = 1};
    for (; place->at < at; place->at++) {
        place->column = text[place->at] == '\n' ? 1 : place->column + 1;
        place->line += text[place->at] == '\n';
    }
    const struct rig_text_place noted = {.at = r->out->size, .line = place->line, .column = place->column};
    return rig_text_origin_add(r->origin, noted);
}

/* Up to the first micro-operation. */
static void begin_operation(struct rewriting *r, const struct item *item, int64_t index)
{
    static const char *const types[] = {"invoke", "ok", "fail", "info"};
    rig_buf_add_char(r->out, '{');
    put_field(r, "index", true);
    rig_buf_add_int(r->out, index);
    if (item->has_time) {
        put_field(r, "time", false);
        rig_buf_add_int(r->out, item->time_ns);
    }
    put_field(r, "type", false);
    put_name(r, types[item->type]);
    put_field(r, "process", false);
    if (item->process_name.at != NULL)
        rig_buf_printf(r->out, "\"%.*s\"", (int)item->process_name.length, item->process_name.at);
    else
        rig_buf_add_int(r->out, item->has_process ? item->process : own_process(r, item));
    put_field(r, "f", false);
    put_name(r, "txn");
    put_field(r, "value", false);
    rig_buf_add_char(r->out, '[');
}

static enum rig_rc put_item(struct rewriting *r, const struct item *item, size_t number)
{
    if (!note_origin(r, item->at))
        return rig_cursor_no_memory(&r->parser.cursor);
    begin_operation(r, item, (item->has_index ? item->index : (int64_t)number) + r->shift);
    const enum rig_rc rc = put_operations(r, item);
    rig_buf_add_text(r->out, "]}\n");
    return rc;
}

/* ---- writers that the file does not show ---- */

/* Adds the reads and writes of a transaction to the table of keys: 1 read with a value, 2 written. */
static bool note_keys(struct rewriting *r, struct rig_table *keys, const struct item *item, uint32_t *missing)
{
    struct rig_text_slice micro;
    struct rig_text_cursor cursor = cursor_at(r, item->value.at);
    const char closer = enter(r, &cursor, false);
    for (bool is_first = true; next_of(r, &cursor, closer, is_first, &micro); is_first = false) {
        struct rig_text_slice part[3] = {{0}, {0}, {0}};
        struct rig_text_cursor inside = cursor_at(r, micro.at);
        const char end = enter(r, &inside, false);
        for (size_t i = 0; i < 3 && next_of(r, &inside, end, i == 0, &part[i]); i++)
            ;
        const struct rig_text_slice name = bare(part[0].at, part[0].length);
        const bool writes = is_one_of(&name, write_names);
        if (!writes && (item->type != RIG_OPERATION_OK || is_null(&part[2])))
            continue;
        uint32_t *state = rig_table_put(keys, hash_of(&part[1]));
        if (state == NULL)
            return false;
        if (writes) {
            *state = 2;
            continue;
        }
        if (*state != RIG_TABLE_NONE)
            continue;
        *state = 1;
        if (missing == NULL)
            continue;
        const struct item unseen = {.type = RIG_OPERATION_INVOKE,
                                    .has_process = true,
                                    .has_index = true,
                                    .process = INT32_MAX - (int64_t)*missing};
        if (!note_origin(r, item->at))
            return false;
        begin_operation(r, &unseen, (*missing)++);
        begin_micro(r, "w", &part[1]);
        end_micro(r, &part[2]);
        rig_buf_add_text(r->out, "]}\n");
    }
    return true;
}

/* Writes first are known; then each key that is read with a value and not among them gets a writer. */
static bool put_missing_writers(struct rewriting *r)
{
    struct rig_table keys;
    bool done = true;
    rig_table_init(&keys);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; done && i < r->items.count; i++) {
            const struct item *item = &r->items.at[i];
            const bool writes = item->is_txn && !is_read(item);
            if (item->is_client && item->is_txn && (pass == 0 ? writes : item->type == RIG_OPERATION_OK))
                done = note_keys(r, &keys, item, pass == 0 ? NULL : &r->shift);
        }
    }
    rig_table_done(&keys);
    return done;
}

/* ---- which workload ---- */

static bool is_classic(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_SET || workload == RIG_WORKLOAD_COUNTER || workload == RIG_WORKLOAD_BANK ||
           workload == RIG_WORKLOAD_LONG_FORK;
}

/* Looks at the first operations of clients: whether they are not transactions, or those of a long fork. */
static bool is_wanted(struct rewriting *r, const struct rig_load_options *options)
{
    bool more = false, decided = false, wanted = false;
    enum rig_rc rc = rig_operation_parser_start(&r->parser, &more);
    for (unsigned i = 0; rc == RIG_OK && more && !decided && i < LOOKED_AT; i++) {
        rc = read_operation(r);
        const struct item item = rc == RIG_OK ? item_of(r) : (struct item){0};
        decided = rc == RIG_OK && item.is_client && item.function.length > 0;
        if (decided && options->workload_given)
            wanted =
                !rig_slice_is(&item.function, "txn") && (!item.is_txn || options->workload == RIG_WORKLOAD_LONG_FORK);
        else if (decided)
            wanted = !item.is_txn && (is_one_of(&item.function, add_names) || is_one_of(&item.function, read_names) ||
                                      is_one_of(&item.function, transfer_names));
        if (rc == RIG_OK && !decided)
            rc = rig_operation_parser_more(&r->parser, &more);
    }
    return wanted;
}

/* By the functions of all clients' operations and what reads show; false: it is none of these. */
static bool find_workload(struct rewriting *r)
{
    bool adds = false, transfers = false, numbers = false, sequences = false, repeats = false;
    struct rig_text_slice last = {0};
    for (size_t i = 0; i < r->items.count; i++) {
        const struct item *item = &r->items.at[i];
        const bool add = is_one_of(&item->function, add_names), transfer = is_one_of(&item->function, transfer_names);
        if (!item->is_client)
            continue;
        if (item->is_txn || (!add && !transfer && !is_read(item)))
            return false;
        adds |= add;
        transfers |= transfer;
        if (add && item->type == RIG_OPERATION_INVOKE) {
            repeats |= last.length > 0 && last.length == item->value.length &&
                       memcmp(last.at, item->value.at, last.length) == 0;
            last = item->value;
        }
        struct rig_text_slice pair[2], value = item->value;
        if (!is_read(item) || item->type != RIG_OPERATION_OK)
            continue;
        numbers |= is_number(&value);
        transfers |= value.length > 0 && *value.at == '{'; /* it reads balances */
        sequences |= is_sequence(r, &value) && !(is_pair(r, &value, pair) && is_number(&pair[1]) && numbers);
    }
    if (transfers == adds)
        return false;
    r->workload = transfers                            ? RIG_WORKLOAD_BANK
                  : numbers || (repeats && !sequences) ? RIG_WORKLOAD_COUNTER
                                                       : RIG_WORKLOAD_SET;
    return true;
}

static enum rig_rc rewrite(struct rewriting *r, bool given, bool *rewritten)
{
    enum rig_rc rc = read_items(r);
    if (rc == RIG_E_LIMIT)
        return rc;
    if (rc != RIG_OK || (!given && !find_workload(r)))
        return given ? rc : RIG_OK; /* then the file is read as it is, with its own errors */
    r->is_independent = r->workload != RIG_WORKLOAD_BANK && are_tuples(r);
    if (!pair_items(r) || (r->workload == RIG_WORKLOAD_BANK && !find_accounts(r)) ||
        (r->workload == RIG_WORKLOAD_LONG_FORK && !put_missing_writers(r)))
        return rig_cursor_no_memory(&r->parser.cursor);
    for (size_t i = 0; rc == RIG_OK && i < r->items.count; i++) {
        if (r->items.at[i].is_client)
            rc = put_item(r, &r->items.at[i], i);
    }
    if (rc == RIG_OK && r->out->failed)
        rc = rig_cursor_no_memory(&r->parser.cursor);
    *rewritten = rc == RIG_OK && r->out->size > 0;
    return rc;
}

enum rig_rc rig_classic_rewrite(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                struct rig_load_options *options, struct rig_buf *out, struct rig_text_origin *origin,
                                bool *rewritten, struct rig_err *err)
{
    struct rewriting r = {.workload = options->workload, .edn = syntax->keywords, .out = out, .origin = origin};
    enum rig_rc rc = RIG_OK;
    *rewritten = false;
    if (options->workload_given && !is_classic(options->workload))
        return RIG_OK;
    rig_operation_parser_init(&r.parser, syntax, name, data, size, NULL);
    r.parser.forgets = true;
    r.parser.on_micro = note_micro;
    r.parser.context = &r;
    if (is_wanted(&r, options)) {
        r.parser.cursor.err = err;
        rc = rewrite(&r, options->workload_given, rewritten);
        if (*rewritten) {
            options->workload = r.workload;
            options->workload_given = true;
        } else if (rc == RIG_OK && !options->workload_given) {
            *err = (struct rig_err){0};
        }
    }
    item_vec_done(&r.items);
    slice_vec_done(&r.accounts);
    rig_operation_parser_done(&r.parser);
    return rc;
}
