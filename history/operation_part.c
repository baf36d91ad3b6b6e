#include "history/operation_part.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bug.h"
#include "history/number_text.h"

enum { SMALL_PROCESSES = 1 << 16, FIRST_SLOT_BITS = 10 };

static const uint32_t none = RIG_TABLE_NONE;

static bool make_slots(struct rig_part *part, unsigned bits)
{
    struct rig_part_slot *slots = malloc(sizeof *slots << bits);
    if (slots == NULL)
        return false;
    free(part->slots);
    part->slots = slots;
    part->slot_bits = bits;
    memset(slots, 0xff, sizeof *slots << bits); /* free: RIG_TABLE_NONE */
    return true;
}

struct rig_part *rig_part_new(void)
{
    struct rig_part *part = calloc(1, sizeof *part);
    if (part == NULL)
        return NULL;
    size_t count = 0;
    part->match = rig_list_matchers(&count)->match;
    part->process_of_small = calloc(SMALL_PROCESSES, sizeof *part->process_of_small);
    rig_table_init(&part->process_of);
    rig_arena_init(&part->parser.texts, 0);
    rig_arena_init(&part->text_parser.texts, 0);
    if (part->process_of_small == NULL || !make_slots(part, FIRST_SLOT_BITS)) {
        rig_part_free(part);
        return NULL;
    }
    return part;
}

void rig_part_free(void *given)
{
    struct rig_part *part = given;
    if (part == NULL)
        return;
    rig_part_processes_done(&part->processes);
    free(part->process_of_small);
    rig_table_done(&part->process_of);
    rig_mop_vec_done(&part->long_ops);
    rig_part_perhaps_vec_done(&part->perhaps);
    free(part->slots);
    rig_part_spines_done(&part->spines);
    rig_part_changes_done(&part->changes);
    rig_element_vec_done(&part->elements);
    rig_operation_parser_done(&part->parser);
    rig_operation_parser_done(&part->text_parser);
    free(part);
}

void rig_part_start(struct rig_part *part, struct rig_segment *segment, const struct rig_operation_facts *facts,
                    const char *end)
{
    rig_segment_reset(segment);
    part->segment = segment;
    part->facts = *facts;
    part->end = end;
    part->refused = part->no_memory = false;
    part->count = 0;
    part->first_index = part->last_index = -1;
    part->key_kinds = 0;
    part->processes.count = 0;
    if (part->process_of.used > 0)
        rig_table_clear(&part->process_of);
    part->first_open = part->last_open = none;
    part->long_ops.count = 0;
    part->perhaps.count = 0;
    memset(part->slots, 0xff, sizeof *part->slots << part->slot_bits);
    part->spines.count = 0;
    rig_part_begin(part);
}

/* --- keys --- */

static void put_slot(struct rig_part *part, uint64_t hash, uint32_t key)
{
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint32_t slot = rig_part_slot(part, hash);
    while (part->slots[slot].key != none)
        slot = (slot + 1) & mask;
    part->slots[slot] = (struct rig_part_slot){.hash = hash, .key = key};
}

static uint64_t text_hash(const char *text, uint32_t length)
{
    return XXH3_64bits(text, length);
}

static bool grow_slots(struct rig_part *part)
{
    const struct rig_segment_keys *keys = &part->segment->keys;
    if (part->slot_bits >= 31 || !make_slots(part, part->slot_bits + 1))
        return false;
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct rig_segment_key *key = &keys->at[i];
        put_slot(part, key->text == NULL ? (uint64_t)key->key : text_hash(key->text, key->text_length), i);
    }
    return true;
}

uint32_t rig_part_add_key(struct rig_part *part, uint64_t hash, int64_t number, const char *text, uint32_t length)
{
    struct rig_segment_keys *keys = &part->segment->keys;
    struct rig_segment_key key = {.key = number, .text = text, .text_length = length};
    bool fits = keys->count < RIG_LIST_WHOLE - 1 &&
                (keys->count + 1 <= (size_t)1 << part->slot_bits >> 1 || grow_slots(part)) &&
                rig_segment_keys_add(keys, key) &&
                rig_part_spines_add(&part->spines, (struct rig_part_spine){.whole = none});
    part->no_memory = part->no_memory || !fits;
    if (!fits)
        return none;
    put_slot(part, hash, (uint32_t)keys->count - 1);
    return (uint32_t)keys->count - 1;
}

uint32_t rig_part_text_key(struct rig_part *part, const char *text, uint32_t length)
{
    const struct rig_segment_key *keys = part->segment->keys.at;
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint64_t hash = text_hash(text, length);
    for (uint32_t slot = rig_part_slot(part, hash); part->slots[slot].key != none; slot = (slot + 1) & mask) {
        const struct rig_segment_key *key = &keys[part->slots[slot].key];
        if (part->slots[slot].hash == hash && key->text != NULL && key->text_length == length &&
            memcmp(key->text, text, length) == 0)
            return part->slots[slot].key;
    }
    /* The parser's texts last as long as the operation; the file's, as long as the segment. */
    const char *kept = text;
    if (text < part->parser.cursor.start || text >= part->end)
        kept = rig_arena_text(&part->segment->texts, text, length);
    if (kept == NULL) {
        part->no_memory = true;
        return none;
    }
    return rig_part_add_key(part, hash, 0, kept, length);
}

/* The key was the last one to come, so no other one's slot depends on its. */
static void remove_last_key(struct rig_part *part)
{
    struct rig_segment_keys *keys = &part->segment->keys;
    const struct rig_segment_key *key = &keys->at[keys->count - 1];
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint32_t slot =
        rig_part_slot(part, key->text == NULL ? (uint64_t)key->key : text_hash(key->text, key->text_length));
    while (part->slots[slot].key != keys->count - 1)
        slot = (slot + 1) & mask;
    part->slots[slot].key = none;
    keys->count--;
    part->spines.count--;
}

void rig_part_take_back(struct rig_part *part)
{
    for (size_t i = part->changes.count; i-- > 0;) {
        const struct rig_part_change *change = &part->changes.at[i];
        part->segment->keys.at[change->key].spine.count = change->count;
        part->spines.at[change->key] = change->spine;
    }
    part->changes.count = 0;
    part->segment->lists.count = part->lists_before;
    while (part->segment->keys.count > part->keys_before)
        remove_last_key(part);
}

/* --- lists --- */

static bool is_blank(char c)
{
    return c == ' ' || c == ',';
}

/* Behind a number: to the next one, or behind the closing bracket. False for anything but one or two blanks. */
static bool next_number(const char **at, bool commas, bool *more)
{
    const char *from = *at;
    *more = *from != ']';
    if (!*more) {
        *at = from + 1;
        return true;
    }
    if (commas ? *from != ',' : !is_blank(*from))
        return false;
    from++;
    from += commas ? *from == ' ' : is_blank(*from);
    *at = from;
    return *from != ']';
}

/* Numbers from *at up to and with the closing bracket, into part->elements. */
static bool parse_numbers(struct rig_part *part, const char **at, bool commas)
{
    struct rig_element_vec *elements = &part->elements;
    const char *from = *at;
    elements->count = 0;
    for (bool more = true; more;) {
        int64_t number;
        if (part->end - from < RIG_NUMBER_TEXT_ROOM || (from = rig_number_short(from, &number)) == NULL ||
            !next_number(&from, commas, &more) || !rig_element_vec_add(elements, number))
            return false;
    }
    *at = from;
    return true;
}

static bool note_change(struct rig_part *part, uint32_t key)
{
    struct rig_part_change change = {
        .key = key, .count = part->segment->keys.at[key].spine.count, .spine = part->spines.at[key]};
    return rig_part_changes_add(&part->changes, change);
}

/* Adds elements behind the spine's, which then reads `text` in the file. */
static bool grow_spine(struct rig_part *part, uint32_t key, const int64_t *elements, size_t count, const char *text,
                       size_t length)
{
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    if (!note_change(part, key) || !rig_growing_list_add(&part->segment->pool, spine, elements, (uint32_t)count)) {
        part->no_memory = true;
        return false;
    }
    struct rig_part_spine *as_text = &part->spines.at[key];
    as_text->text = text;
    as_text->length = length;
    as_text->count = spine->count;
    part->grows = part->grows || count > 0;
    return true;
}

/* A list that is no prefix of the spine: the same as the key's newest whole list as far as both go, or a new one. */
static bool add_whole(struct rig_part *part, struct rig_mop *mop, const int64_t *elements, uint32_t count)
{
    struct rig_segment *segment = part->segment;
    uint32_t *newest = &part->spines.at[mop->key].whole;
    struct rig_growing_list *last = *newest == none ? NULL : &segment->lists.at[*newest].list;
    if (last == NULL || !rig_growing_list_agrees(last, elements, count)) {
        if (segment->lists.count >= RIG_LIST_WHOLE - 1 || !note_change(part, mop->key) ||
            !rig_segment_lists_add(&segment->lists, (struct rig_segment_list){.key = mop->key}))
            return false;
        *newest = (uint32_t)segment->lists.count - 1;
        last = &segment->lists.at[*newest].list;
    }
    mop->list = RIG_LIST_WHOLE | *newest;
    return count <= last->count ||
           rig_growing_list_add(&segment->pool, last, elements + last->count, count - last->count);
}

/* Puts the first `count` elements of the spine before those of part->elements. */
static bool complete_elements(struct rig_part *part, const struct rig_growing_list *spine, uint32_t count)
{
    struct rig_element_vec *elements = &part->elements;
    if (!rig_element_vec_reserve(elements, elements->count + count))
        return false;
    memmove(elements->at + count, elements->at, elements->count * sizeof *elements->at);
    if (count > 0)
        memcpy(elements->at, spine->at, count * sizeof *elements->at);
    elements->count += count;
    return true;
}

/* A list in the file: `known` elements of it are the spine's, the others are part->elements. */
static bool place_list(struct rig_part *part, struct rig_mop *mop, uint32_t known, const char *text, size_t length,
                       bool grows)
{
    const struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    const int64_t *rest = part->elements.at;
    size_t count = known + part->elements.count;
    size_t common = count < spine->count ? count : spine->count;
    bool agrees = common == known || memcmp(rest, spine->at + known, (common - known) * sizeof *rest) == 0;
    if (count >= UINT32_MAX)
        return false;
    mop->count = (uint32_t)count;
    if (!agrees || (count > spine->count && !grows)) {
        bool fits = complete_elements(part, spine, known) && add_whole(part, mop, part->elements.at, (uint32_t)count);
        part->no_memory = part->no_memory || !fits;
        return fits;
    }
    return count < spine->count || count <= part->spines.at[mop->key].count ||
           grow_spine(part, mop->key, rest + (spine->count - known), count - spine->count, text, length);
}

/* The list at `at` parts from the spine's text at `behind`, or goes on there; `known` numbers begin before. */
static const char *parse_list(struct rig_part *part, struct rig_mop *mop, const char *at, const char *behind,
                              uint32_t known, bool commas, bool grows)
{
    const char *from = behind;
    if (from > at && !is_blank(from[-1])) {
        while (from > at && !is_blank(from[-1]))
            from--;
        known--; /* it may be another number */
    }
    bool fits = parse_numbers(part, &from, commas) && place_list(part, mop, known, at, (size_t)(from - 1 - at), grows);
    return fits ? from : NULL;
}

const char *rig_part_list_text(struct rig_part *part, struct rig_mop *mop, const char *at, bool commas, bool grows)
{
    const struct rig_part_spine *spine = &part->spines.at[mop->key];
    mop->list = mop->key;
    mop->count = 0;
    if (*at == ']')
        return at + 1;
    struct rig_list_match match = {0};
    if (spine->length > 0)
        match = part->match(spine->text, spine->length, at, part->end);
    const char *behind = at + match.length;
    if (part->end - behind < RIG_NUMBER_TEXT_ROOM)
        return NULL;
    bool is_whole_number = match.length > 0 && !is_blank(behind[-1]) &&
                           (match.length == spine->length || is_blank(spine->text[match.length]));
    if (*behind != ']' || !is_whole_number)
        return parse_list(part, mop, at, behind, match.count, commas, grows);
    mop->count = match.count;
    return behind + 1;
}

bool rig_part_list(struct rig_part *part, struct rig_mop *mop, const struct rig_micro *micro, const int64_t *elements,
                   bool grows)
{
    const struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    uint32_t count = (uint32_t)micro->element_count;
    bool fits = true;
    mop->list = mop->key;
    mop->count = count;
    if (!rig_growing_list_agrees(spine, elements, count) || (count > spine->count && !grows))
        fits = add_whole(part, mop, elements, count);
    else if (count > spine->count) /* its text may be anything: it is not compared with */
        fits = grow_spine(part, mop->key, elements + spine->count, count - spine->count, NULL, 0);
    part->no_memory = part->no_memory || !fits;
    return fits;
}

/* --- processes --- */

static struct rig_part_process *add_process(struct rig_part *part, int64_t process, uint32_t *place)
{
    if (part->processes.count >= none - 1 || !rig_part_processes_reserve(&part->processes, part->processes.count + 1))
        return NULL;
    struct rig_part_process *added = &part->processes.at[part->processes.count];
    added->process = process;
    added->first = RIG_FIRST_NOTHING;
    added->open = false;
    *place = (uint32_t)part->processes.count++;
    return added;
}

/* The process, which fits 32 bits; NULL when memory runs out. */
static struct rig_part_process *find_process(struct rig_part *part, int64_t process)
{
    uint32_t *place;
    if (process >= 0 && process < SMALL_PROCESSES) {
        place = &part->process_of_small[process];
        if (*place < part->processes.count && part->processes.at[*place].process == process)
            return &part->processes.at[*place];
        return add_process(part, process, place);
    }
    place = rig_table_put(&part->process_of, (uint64_t)process);
    if (place == NULL)
        return NULL;
    return *place == none ? add_process(part, process, place) : &part->processes.at[*place];
}

static void open_process(struct rig_part *part, struct rig_part_process *process)
{
    uint32_t own = (uint32_t)(process - part->processes.at);
    process->open = true;
    process->before = part->last_open;
    process->behind = none;
    if (part->last_open == none)
        part->first_open = own;
    else
        part->processes.at[part->last_open].behind = own;
    part->last_open = own;
}

static void close_process(struct rig_part *part, struct rig_part_process *process)
{
    process->open = false;
    if (process->before == none)
        part->first_open = process->behind;
    else
        part->processes.at[process->before].behind = process->behind;
    if (process->behind == none)
        part->last_open = process->before;
    else
        part->processes.at[process->behind].before = process->before;
}

/* --- operations --- */

/* The number of the error text, 0 for none. The last texts are compared with: most errors are alike. */
static uint32_t error_number(struct rig_part *part, const struct rig_operation_fields *fields)
{
    enum { LOOKED_AT = 4 };
    struct rig_segment_errors *errors = &part->segment->errors;
    if (!fields->has_error)
        return 0;
    for (size_t i = errors->count; i-- > 0 && errors->count - i <= LOOKED_AT;) {
        const struct rig_segment_error *known = &errors->at[i];
        if (known->length == fields->error_length &&
            (known->length == 0 || memcmp(known->text, fields->error, known->length) == 0))
            return (uint32_t)i + 1;
    }
    struct rig_segment_error error = {.text = fields->error, .length = (uint32_t)fields->error_length};
    if (error.text < part->parser.cursor.start || error.text >= part->end)
        error.text = rig_arena_text(&part->segment->texts, fields->error, fields->error_length);
    if (error.text == NULL || !rig_segment_errors_add(errors, error))
        part->no_memory = true;
    return (uint32_t)errors->count;
}

static void refuse(struct rig_part *part)
{
    part->refused = true;
}

/* The operation's position; those without an index count within the part until it is joined. */
static uint32_t take_position(struct rig_part *part, const struct rig_operation_fields *fields)
{
    int64_t index = fields->has_index ? fields->index : (int64_t)part->count;
    if (fields->has_index != part->facts.uses_index || index < 0 || index >= RIG_POSITION_NONE ||
        index <= part->last_index)
        refuse(part);
    if (part->count++ == 0)
        part->first_index = index;
    part->last_index = index;
    return (uint32_t)index;
}

static struct rig_txn make_txn(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t position)
{
    return (struct rig_txn){
        .invoke_ns = RIG_NO_TIME,
        .complete_ns = fields->has_time ? fields->time_ns : RIG_NO_TIME,
        .invoke_at = RIG_POSITION_NONE,
        .complete_at = position,
        .first_op = (uint32_t)part->segment->ops.count,
        .process = (int32_t)fields->process,
        .error = error_number(part, fields),
        .outcome = (uint8_t)(fields->type - RIG_OPERATION_OK),
    };
}

/* The transaction's operations are the next `count` ones. */
static void add_txn(struct rig_part *part, const struct rig_txn *txn, uint32_t count)
{
    struct rig_segment *segment = part->segment;
    struct rig_mop *ops = segment->ops.at + segment->ops.count;
    for (uint32_t i = 0; txn->outcome != RIG_OUTCOME_OK && i < count; i++) {
        if (ops[i].read_state == RIG_READ_NIL)
            ops[i].read_state = RIG_READ_UNKNOWN;
    }
    segment->ops.count += count;
    part->no_memory = part->no_memory || segment->ops.count >= UINT32_MAX || !rig_txn_vec_add(&segment->txns, *txn);
}

/* The operations that stand from `first` on behind those of the segment are what the process invoked. */
static void keep_ops(struct rig_part *part, struct rig_part_process *process, uint32_t first, uint32_t count)
{
    const struct rig_mop *ops = part->segment->ops.at + part->segment->ops.count + first;
    struct rig_mop *kept = process->short_ops;
    process->text = NULL;
    process->op_count = count;
    if (count > RIG_PART_SHORT_OPS) {
        process->long_ops = (uint32_t)part->long_ops.count;
        if (!rig_mop_vec_reserve(&part->long_ops, part->long_ops.count + count)) {
            part->no_memory = true;
            return;
        }
        kept = part->long_ops.at + part->long_ops.count;
        part->long_ops.count += count;
    }
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = ops[i];
        kept[i].read_state = RIG_READ_UNKNOWN;
        kept[i].value = (ops[i].kind & 1) == 0 ? ops[i].value : 0;
    }
}

static void take_invocation(struct rig_part *part, struct rig_part_process *process,
                            const struct rig_operation_fields *fields, uint32_t position)
{
    if (process->open) {
        refuse(part);
        return;
    }
    process->invoke_ns = fields->has_time ? fields->time_ns : RIG_NO_TIME;
    process->invoke_at = position;
    if (process->first == RIG_FIRST_NOTHING)
        process->first = RIG_FIRST_INVOKED;
    open_process(part, process);
}

/* A micro-operation of the grammar as one of the segment; false when memory runs out. */
static bool place_micro(struct rig_part *part, const struct rig_operation *operation, enum rig_operation_type type,
                        size_t number, size_t first)
{
    const struct rig_micro *micro = &operation->micros.at[number];
    bool reads = rig_micro_reads(micro);
    uint32_t key = micro->key_kind == RIG_KEY_NUMBER
                       ? rig_part_number_key(part, micro->key)
                       : rig_part_text_key(part, micro->key_text, (uint32_t)micro->key_length);
    struct rig_mop *mop = rig_part_room(part, (uint32_t)(first + number));
    if (key == none || mop == NULL)
        return false;
    *mop = (struct rig_mop){.key = key, .kind = (uint8_t)((unsigned)part->facts.workload * 2 + reads)};
    if (!reads)
        mop->value = micro->value;
    if (!reads || type == RIG_OPERATION_INVOKE || micro->value_kind == RIG_MICRO_MISSING)
        return true;
    mop->read_state = micro->value_kind == RIG_MICRO_NULL ? RIG_READ_NIL : RIG_READ_SEEN;
    if (micro->value_kind == RIG_MICRO_NUMBER)
        mop->value = micro->value;
    return micro->value_kind != RIG_MICRO_LIST ||
           rig_part_list(part, mop, micro, operation->elements.at + micro->first_element, type != RIG_OPERATION_FAIL);
}

/* Whether the micro-operations keep the rules that need no other operation. */
static void check_micros(struct rig_part *part, const struct rig_operation_parser *parser)
{
    const struct rig_operation *operation = &parser->operation;
    for (size_t i = 0; i < operation->micros.count; i++) {
        const struct rig_micro *micro = &operation->micros.at[i];
        part->key_kinds |= 1U << micro->key_kind;
        if (rig_micro_check(&parser->cursor, part->facts.workload, micro) != RIG_OK ||
            (micro->key_kind != RIG_KEY_NUMBER &&
             (memchr(micro->key_text, '\0', micro->key_length) != NULL || micro->key_length >= UINT32_MAX)))
            refuse(part);
    }
    part->segment->keyword_keys = (part->key_kinds & 1U << RIG_KEY_KEYWORD) != 0;
    if ((part->key_kinds & (part->key_kinds - 1)) != 0 || operation->micros.count >= UINT32_MAX / 2)
        refuse(part);
}

/* Puts the micro-operations behind those of the segment and `first` others. */
static void place_micros(struct rig_part *part, const struct rig_operation_parser *parser, enum rig_operation_type type,
                         size_t first)
{
    for (size_t i = 0; !part->refused && !part->no_memory && i < parser->operation.micros.count; i++)
        part->no_memory = !place_micro(part, &parser->operation, type, i, first);
}

/* Parses what the process invoked. `first` operations behind those of the segment are somebody else's. */
static void parse_invoked(struct rig_part *part, struct rig_part_process *process, uint32_t first)
{
    struct rig_operation_parser *parser = &part->text_parser;
    if (process->text == NULL)
        return;
    parser->syntax = part->parser.syntax;
    parser->cursor = part->parser.cursor;
    parser->cursor.at = process->text;
    enum rig_rc rc = rig_operation_parser_value(parser);
    part->no_memory = part->no_memory || rc == RIG_E_LIMIT;
    if (rc != RIG_OK || parser->cursor.at != process->text_end)
        refuse(part);
    check_micros(part, parser);
    place_micros(part, parser, RIG_OPERATION_INVOKE, first);
    if (!part->refused && !part->no_memory)
        keep_ops(part, process, first, (uint32_t)parser->operation.micros.count);
}

/* Whether the text at `at` is that of the piece; it is followed by more of the file than one step of the short way. */
static bool same_text(const char *at, const struct rig_part_piece *piece)
{
    const char *other = piece->at;
    uint32_t left = piece->length;
    for (; left > 8; left -= 8, at += 8, other += 8) {
        if (rig_text_load(at) != rig_text_load(other))
            return false;
    }
    return left == 0 || (rig_text_load(at) ^ rig_text_load(other)) << (64 - left * 8) == 0;
}

/* Whether what was invoked is, byte for byte, what completes, with null for each result. */
static bool same_as_text(const struct rig_part *part, const struct rig_part_process *process)
{
    const char *at = process->text + 1;
    bool edn = part->parser.syntax->keywords;
    const char *null = edn ? "nil]" : "null]";
    size_t null_length = edn ? 4 : 5;
    if (part->piece_count > RIG_PART_PIECES)
        return false;
    for (uint32_t i = 0; i < part->piece_count; i++) {
        const struct rig_part_piece *piece = &part->pieces[i];
        if ((size_t)(process->text_end - at) < piece->length || !same_text(at, piece))
            return false;
        at += piece->length;
        if (piece->reads && ((size_t)(process->text_end - at) < null_length || memcmp(at, null, null_length) != 0))
            return false;
        at += piece->reads ? null_length : 0;
    }
    return at == process->text_end - 1 && *at == ']';
}

/* Results of reads apart. */
static bool same_ops(const struct rig_mop *invoked, const struct rig_mop *came, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (invoked[i].kind != came[i].kind || invoked[i].key != came[i].key ||
            ((came[i].kind & 1) == 0 && invoked[i].value != came[i].value))
            return false;
    }
    return true;
}

/* A completion without operations has those that were invoked, and no results. */
static bool repeat_ops(struct rig_part *part, const struct rig_part_process *process)
{
    const struct rig_mop *ops = rig_part_ops(part, process);
    for (uint32_t i = 0; i < process->op_count; i++) {
        struct rig_mop *room = rig_part_room(part, i);
        if (room == NULL)
            return false;
        *room = ops[i];
    }
    return true;
}

/* Whether the operations that came are those invoked; where none came, they are put in their place. */
static void compare_ops(struct rig_part *part, struct rig_part_process *process,
                        const struct rig_operation_fields *fields, uint32_t count)
{
    parse_invoked(part, process, count);
    if (part->refused || part->no_memory)
        return;
    const struct rig_mop *came = part->segment->ops.at + part->segment->ops.count;
    if (!fields->has_value && fields->type == RIG_OPERATION_OK)
        refuse(part);
    else if (!fields->has_value)
        part->no_memory = part->no_memory || !repeat_ops(part, process);
    else if (count != process->op_count || !same_ops(rig_part_ops(part, process), came, count))
        refuse(part);
}

static void complete(struct rig_part *part, struct rig_part_process *process, const struct rig_operation_fields *fields,
                     uint32_t position, uint32_t count)
{
    struct rig_txn txn = make_txn(part, fields, position);
    if (!fields->has_value || process->text == NULL || !same_as_text(part, process)) {
        compare_ops(part, process, fields, count);
        count = process->op_count;
    }
    if (part->refused || part->no_memory)
        return;
    txn.invoke_ns = process->invoke_ns;
    txn.invoke_at = process->invoke_at;
    close_process(part, process);
    add_txn(part, &txn, count);
}

/* A completion of what the part did not see invoked. */
static void complete_earlier(struct rig_part *part, struct rig_part_process *process,
                             const struct rig_operation_fields *fields, uint32_t position, uint32_t count)
{
    struct rig_segment *segment = part->segment;
    if (process->first != RIG_FIRST_NOTHING) {
        if (fields->has_value)
            refuse(part);
        else
            segment->skipped_count++;
        return;
    }
    struct rig_txn txn = make_txn(part, fields, position);
    if (fields->has_value) {
        process->first = RIG_FIRST_COMPLETED;
        process->first_txn = (uint32_t)segment->txns.count;
        add_txn(part, &txn, count);
        return;
    }
    struct rig_part_perhaps perhaps = {.place = (uint32_t)segment->txns.count, .txn = txn};
    process->first = RIG_FIRST_PERHAPS_COMPLETED;
    process->first_txn = (uint32_t)part->perhaps.count;
    part->no_memory = part->no_memory || !rig_part_perhaps_vec_add(&part->perhaps, perhaps);
}

static void take_lone(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t position,
                      uint32_t count)
{
    if (!fields->has_value) {
        part->segment->skipped_count++;
    } else if (fields->type == RIG_OPERATION_INVOKE) {
        refuse(part);
    } else {
        struct rig_txn txn = make_txn(part, fields, position);
        add_txn(part, &txn, count);
    }
}

void rig_part_take(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t count, const char *text,
                   const char *text_end)
{
    uint32_t position = take_position(part, fields);
    bool invokes = fields->type == RIG_OPERATION_INVOKE;
    bool fits = fields->process >= INT32_MIN && fields->process <= INT32_MAX;
    if (!fields->has_type || (fields->has_value && fields->is_client && !fits))
        refuse(part);
    if (part->refused)
        return;
    if (!fields->is_client || !fits || (invokes && !fields->has_value)) {
        part->segment->skipped_count++;
        return;
    }
    if (!part->facts.has_invocations) {
        take_lone(part, fields, position, count);
        return;
    }
    struct rig_part_process *process = find_process(part, fields->process);
    if (process == NULL)
        part->no_memory = true;
    else if (invokes) {
        take_invocation(part, process, fields, position);
        process->text_end = text_end;
        if (text != NULL)
            process->text = text;
        else
            keep_ops(part, process, 0, count);
    } else if (process->open)
        complete(part, process, fields, position, count);
    else
        complete_earlier(part, process, fields, position, count);
}

void rig_part_take_parsed(struct rig_part *part)
{
    const struct rig_operation *operation = &part->parser.operation;
    bool is_used = operation->fields.is_client && operation->fields.has_type;
    check_micros(part, &part->parser);
    if (is_used)
        place_micros(part, &part->parser, operation->fields.type, 0);
    if (!part->refused && !part->no_memory)
        rig_part_take(part, &operation->fields, is_used ? (uint32_t)operation->micros.count : 0, NULL, NULL);
}

void rig_part_finish(struct rig_part *part)
{
    struct rig_segment *segment = part->segment;
    for (uint32_t at = part->first_open; at != none && !part->no_memory; at = part->processes.at[at].behind) {
        struct rig_part_process *process = &part->processes.at[at];
        parse_invoked(part, process, 0);
        if (part->refused || part->no_memory)
            return;
        struct rig_txn txn = {
            .invoke_ns = process->invoke_ns,
            .complete_ns = RIG_NO_TIME,
            .invoke_at = process->invoke_at,
            .complete_at = RIG_POSITION_NONE,
            .first_op = (uint32_t)segment->open_ops.count,
            .process = (int32_t)process->process,
            .outcome = RIG_OUTCOME_INFO,
        };
        const struct rig_mop *ops = rig_part_ops(part, process);
        part->no_memory = !rig_txn_vec_add(&segment->open, txn);
        for (uint32_t i = 0; i < process->op_count && !part->no_memory; i++)
            part->no_memory = !rig_mop_vec_add(&segment->open_ops, ops[i]);
    }
}
