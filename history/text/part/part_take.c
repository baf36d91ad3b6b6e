#include "history/text/part/part_take.h"

#include <string.h>

#include "history/model/shared_value.h"
#include "history/text/fault_text.h"
#include "history/text/part/part_keys.h"
#include "history/text/part/part_lists.h"
#include "history/text/scan/number_text.h"
#include "history/types/types.h"

static const uint32_t none = RIG_TABLE_NONE;

/* Compares with the last texts first: most errors are alike. */
uint32_t rig_part_error(struct rig_part *part, const char *text, size_t length)
{
    enum { LOOKED_AT = 4 };
    struct rig_segment_errors *errors = &part->segment->errors;
    for (size_t i = errors->count; i-- > 0 && errors->count - i <= LOOKED_AT;) {
        const struct rig_segment_error *known = &errors->at[i];
        if (known->length == length && (length == 0 || memcmp(known->text, text, length) == 0))
            return (uint32_t)i + 1;
    }
    struct rig_segment_error error = {.text = text, .length = (uint32_t)length};
    if (text < part->parser.cursor.start || text >= part->end)
        error.text = rig_arena_text(&part->segment->texts, text, length);
    if (error.text == NULL || !rig_segment_errors_add(errors, error))
        part->no_memory = true;
    return (uint32_t)errors->count;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && strchr(", \t\r\n", *at) != NULL && *at != '\0')
        at++;
    return at;
}

/* `[[start end] ...]`, into the part's spans. False for anything else, which another program may have written. */
static bool read_spans(struct rig_part *part, const char *at, size_t length)
{
    const char *end = at + length;
    part->spans.count = 0;
    if (at == end || *at != '[')
        return false;
    for (at = skip_blanks(at + 1, end); at < end && *at == '['; at = skip_blanks(at + 1, end)) {
        at++;
        for (int i = 0; i < 2; i++) {
            int64_t number = 0;
            at = skip_blanks(at, end);
            if (at == end || *at < '0' || *at > '9')
                return false;
            for (; at < end && *at >= '0' && *at <= '9' && number <= RIG_SPAN_MOST / 10; at++)
                number = number * 10 + (*at - '0');
            if (number > RIG_SPAN_MOST)
                return false;
            if (!rig_column_values_add(&part->spans, number)) {
                part->no_memory = true;
                return false;
            }
        }
        at = skip_blanks(at, end);
        if (at == end || *at != ']')
            return false;
    }
    return at + 1 == end && *at == ']' && part->spans.count > 0;
}

static int64_t spans_of(struct rig_part *part)
{
    const struct rig_spans spans = {.at = part->spans.at, .count = (uint32_t)part->spans.count / 2};
    return rig_columns_spans_add(&part->segment->columns, spans);
}

/* The columns of the operation that is being read, as a row of the segment. */
static struct rig_column_row column_row(struct rig_part *part)
{
    const struct rig_column_fields *fields = &part->columns;
    struct rig_column_row row = {0};
    for (uint32_t left = fields->given; left != 0; left &= left - 1) {
        const enum rig_column column = (enum rig_column)__builtin_ctz(left);
        int64_t value = fields->at[column].number;
        if (rig_column_infos[column].type == RIG_COLUMN_NAME)
            value = rig_columns_name(&part->segment->columns, fields->at[column].text, fields->at[column].length);
        if (rig_column_infos[column].type == RIG_COLUMN_SPANS) {
            if (!read_spans(part, fields->at[column].text, fields->at[column].length))
                continue;
            value = spans_of(part);
        }
        part->no_memory = part->no_memory || value == RIG_COLUMN_NONE;
        rig_column_give(&row, column, value);
    }
    return row;
}

void rig_part_set_columns(struct rig_part *part)
{
    const struct rig_column_row row = column_row(part);
    if (!rig_columns_set_row(&part->segment->columns, part->segment->txns.count - 1, &row))
        part->no_memory = true;
}

/* The operations from `first` on after those of the segment are the invocation of the process. */
static void keep_ops(struct rig_part *part, struct rig_part_process *process, uint32_t first, uint32_t count)
{
    const struct rig_txn_op *ops = part->segment->ops.at + part->segment->ops.count + first;
    struct rig_txn_op *kept = process->short_ops;
    process->text = NULL;
    process->is_parsed = false;
    process->op_count = count;
    if (count > RIG_PART_SHORT_OPS) {
        process->long_ops = (uint32_t)part->long_ops.count;
        if (!rig_txn_op_vec_reserve(&part->long_ops, part->long_ops.count + count)) {
            part->no_memory = true;
            return;
        }
        kept = part->long_ops.at + part->long_ops.count;
        part->long_ops.count += count;
    }
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = ops[i];
        kept[i].read_state = RIG_READ_UNKNOWN;
        kept[i].value = rig_op_reads(ops[i].kind) ? 0 : ops[i].value;
    }
}

static uint32_t key_of(struct rig_part *part, const struct rig_micro *micro)
{
    return micro->key_kind == RIG_KEY_NUMBER ? rig_part_number_key(part, micro->key)
                                             : rig_part_text_key(part, micro->key_text, (uint32_t)micro->key_length);
}

/* A micro-operation of the grammar as one of the segment; false when memory runs out. */
static bool place_micro(struct rig_part *part, const struct rig_operation *operation, enum rig_operation_type type,
                        size_t number, size_t first)
{
    const struct rig_micro *micro = &operation->micros.at[number];
    bool reads = rig_micro_reads(micro);
    uint32_t key = key_of(part, micro);
    struct rig_txn_op *mop = rig_part_room(part, (uint32_t)(first + number));
    if (key == none || mop == NULL)
        return false;
    *mop = (struct rig_txn_op){.key = key, .kind = (uint8_t)rig_micro_kind(part->facts.workload, micro)};
    if (!reads)
        mop->value = micro->value;
    if (!reads || type == RIG_OPERATION_INVOKE || micro->value_kind == RIG_MICRO_MISSING)
        return true;
    mop->read_state = micro->value_kind == RIG_MICRO_NULL ? RIG_READ_NIL : RIG_READ_SEEN;
    part->has_null |= micro->value_kind == RIG_MICRO_NULL;
    if (micro->value_kind == RIG_MICRO_NUMBER)
        mop->value = micro->value;
    if (rig_workload_repeats_values(part->facts.workload) && rig_value_is_shared(mop->value))
        mop->read_state = RIG_READ_UNKNOWN;
    return micro->value_kind != RIG_MICRO_LIST ||
           rig_part_list(part, mop, micro, operation->elements.at + micro->first_element, type != RIG_OPERATION_FAIL);
}

/* Checks the rules for a single operation. */
static void check_micros(struct rig_part *part, const struct rig_operation_parser *parser)
{
    const struct rig_operation *operation = &parser->operation;
    for (size_t i = 0; i < operation->micros.count; i++) {
        const struct rig_micro *micro = &operation->micros.at[i];
        part->key_kinds |= 1U << micro->key_kind;
        if (rig_micro_check(&parser->cursor, part->type, micro) != RIG_OK ||
            (micro->key_kind != RIG_KEY_NUMBER &&
             (memchr(micro->key_text, '\0', micro->key_length) != NULL || micro->key_length >= UINT32_MAX)))
            rig_part_refuse(part);
    }
    part->segment->keyword_keys = (part->key_kinds & 1U << RIG_KEY_KEYWORD) != 0;
    part->segment->value_keys = (part->key_kinds & 1U << RIG_KEY_OTHER) != 0;
    if ((part->key_kinds & (part->key_kinds - 1)) != 0 || operation->micros.count >= UINT32_MAX / 2)
        rig_part_refuse(part);
}

/* Ends doubts about keys whose uncertain elements the operation's reads contradict. */
static void end_doubts(struct rig_part *part, const struct rig_operation *operation)
{
    for (size_t i = 0; part->doubts.count > 0 && i < operation->micros.count; i++) {
        const struct rig_micro *micro = &operation->micros.at[i];
        uint32_t key = none;
        if (micro->value_kind == RIG_MICRO_LIST)
            key = key_of(part, micro);
        if (key != none)
            rig_part_end_doubt(part, key);
    }
    rig_part_begin(part);
}

/* Appends the micro-operations after those of the segment and `first` others. */
static void place_micros(struct rig_part *part, const struct rig_operation_parser *parser, enum rig_operation_type type,
                         size_t first)
{
    for (size_t i = 0; !part->refused && !part->no_memory && i < parser->operation.micros.count; i++)
        part->no_memory = !place_micro(part, &parser->operation, type, i, first) ||
                          ((i + 1) % RIG_PART_FEW == 0 && !rig_part_fits(part));
}

void rig_part_parse_invoked(struct rig_part *part, struct rig_part_process *process, uint32_t first)
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
        rig_part_refuse(part);
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

/* Whether the invocation's text equals the completion's, with null for each result. */
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
static bool same_ops(const struct rig_txn_op *invoked, const struct rig_txn_op *came, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (invoked[i].kind != came[i].kind || invoked[i].key != came[i].key ||
            (!rig_op_reads(came[i].kind) && invoked[i].value != came[i].value))
            return false;
    }
    return true;
}

/* A completion without operations has those of its invocation, without results. */
static bool repeat_ops(struct rig_part *part, const struct rig_part_process *process)
{
    const struct rig_txn_op *ops = rig_part_ops(part, process);
    for (uint32_t i = 0; i < process->op_count; i++) {
        struct rig_txn_op *room = rig_part_room(part, i);
        if (room == NULL)
            return false;
        *room = ops[i];
    }
    return true;
}

/* The operations of a drain come with its completion. */
static bool has_drained(struct rig_part *part, const struct rig_part_process *process, const struct rig_txn_op *came,
                        uint32_t count)
{
    const struct rig_txn_op *asked = rig_part_ops(part, process);
    return count > 0 && process->op_count > 0 && rig_object_drains(process->op_count, asked[0].kind, came[0].kind) &&
           asked[0].key == came[0].key;
}

/* Compares the completion's operations with those invoked; if it has none, gives it these. */
static void compare_ops(struct rig_part *part, struct rig_part_process *process,
                        const struct rig_operation_fields *fields, uint32_t count)
{
    rig_part_parse_invoked(part, process, count);
    if (part->refused || part->no_memory)
        return;
    const struct rig_txn_op *came = part->segment->ops.at + part->segment->ops.count;
    if (!fields->has_value && fields->type == RIG_OPERATION_OK && !fields->repeats)
        rig_part_refuse(part);
    else if (has_drained(part, process, came, count))
        process->op_count = count;
    else if (!fields->has_value)
        part->no_memory = part->no_memory || !repeat_ops(part, process);
    else if (count != process->op_count || !same_ops(rig_part_ops(part, process), came, count))
        rig_part_refuse(part);
}

static int64_t time_of(const struct rig_operation_fields *fields)
{
    return fields->has_time ? fields->time_ns : RIG_NO_TIME;
}

static enum rig_outcome outcome_of(const struct rig_operation_fields *fields)
{
    return (enum rig_outcome)(fields->type - RIG_OPERATION_OK);
}

static uint32_t error_of(struct rig_part *part, const struct rig_operation_fields *fields)
{
    return fields->has_error ? rig_part_error(part, fields->error, fields->error_length) : 0;
}

/* The next `count` operations after those of the segment belong to the next transaction. */
static void own_ops(struct rig_part *part, uint32_t count)
{
    struct rig_txn_op *ops = part->segment->ops.at + part->segment->ops.count;
    for (uint32_t i = 0; i < count; i++)
        ops[i].owner = (uint16_t)part->segment->txns.count;
}

static void complete(struct rig_part *part, struct rig_part_process *process, const struct rig_operation_fields *fields,
                     uint32_t position, uint32_t count)
{
    if (!fields->has_value || process->text == NULL || !same_as_text(part, process))
        compare_ops(part, process, fields, count);
    else
        process->op_count = count;
    if (part->refused || part->no_memory)
        return;
    own_ops(part, process->op_count);
    rig_part_take_completion(part, process, outcome_of(fields), position, time_of(fields), error_of(part, fields));
}

/* A completion without an invocation in the part. */
static void add_lone(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t position,
                     uint32_t count)
{
    own_ops(part, count);
    struct rig_txn *txn = rig_part_add_txn(part, outcome_of(fields), position, time_of(fields), count);
    if (txn == NULL)
        return;
    txn->process = (int32_t)fields->process;
    txn->error = error_of(part, fields);
}

/* Whether a value that is not a transaction may mean that something was read or written. */
static bool holds_other(const struct rig_operation_fields *fields)
{
    bool null = fields->other_length >= 3 && (memcmp(fields->other, "nil", 3) == 0 ||
                                              (fields->other_length == 4 && memcmp(fields->other, "null", 4) == 0));
    return !fields->has_value && fields->other != NULL && !null && fields->type != RIG_OPERATION_FAIL;
}

/* Leaves out an operation of a client because it is not a transaction. */
static void leave_out(struct rig_part *part, const struct rig_operation_fields *fields)
{
    part->segment->skipped_count++;
    part->segment->lost_count += holds_other(fields);
}

static void add_perhaps(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t position)
{
    struct rig_part_perhaps perhaps = {
        .place = (uint32_t)part->segment->txns.count, .holds_value = holds_other(fields), .repeats = fields->repeats};
    rig_part_set_txn(part, &perhaps.txn, outcome_of(fields), position, time_of(fields));
    perhaps.txn.process = (int32_t)fields->process;
    perhaps.txn.error = error_of(part, fields);
    perhaps.columns = column_row(part);
    part->no_memory = part->no_memory || !rig_part_perhaps_vec_add(&part->perhaps, perhaps);
}

static void complete_earlier(struct rig_part *part, struct rig_part_process *process,
                             const struct rig_operation_fields *fields, uint32_t position, uint32_t count)
{
    if (process->first != RIG_FIRST_NOTHING) {
        if (fields->has_value)
            rig_part_refuse(part);
        else
            leave_out(part, fields);
    } else if (fields->has_value) {
        process->first = RIG_FIRST_COMPLETED;
        process->first_txn = (uint32_t)part->segment->txns.count;
        add_lone(part, fields, position, count);
    } else {
        process->first = RIG_FIRST_PERHAPS_COMPLETED;
        process->first_txn = (uint32_t)part->perhaps.count;
        add_perhaps(part, fields, position);
    }
}

static void take_lone(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t position,
                      uint32_t count)
{
    if (!fields->has_value)
        leave_out(part, fields);
    else if (fields->type == RIG_OPERATION_INVOKE)
        rig_part_refuse(part);
    else
        add_lone(part, fields, position, count);
}

/* Takes an event of rig's own nemesis. False: it is another's. */
static bool take_fault(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t position)
{
    struct rig_fault_event event;
    if (fields->is_client || fields->other == NULL || fields->type != RIG_OPERATION_INFO ||
        !rig_fault_text_read(fields->other, fields->other_length, &part->segment->texts, &event))
        return false;
    event.position = position;
    event.time_ns = fields->has_time ? fields->time_ns : RIG_NO_TIME;
    part->no_memory = part->no_memory || !rig_fault_event_vec_add(&part->segment->faults, event);
    return true;
}

/* Takes a line of a certificate. False: it is something else. */
static bool take_certificate(struct rig_part *part, const struct rig_operation_fields *fields)
{
    struct rig_arena *texts = &part->segment->texts;
    struct rig_text_cursor cursor = {.name = "", .start = fields->other, .at = fields->other};
    struct rig_text_slice slice;
    struct rig_segment_line line;
    const char *decoded = NULL;
    if (!fields->is_certificate || fields->other == NULL || fields->type != RIG_OPERATION_INFO || *fields->other != '"')
        return false;
    cursor.end = fields->other + fields->other_length;
    if (rig_cursor_string(&cursor, true, &slice) != RIG_OK ||
        rig_cursor_decode(&cursor, &slice, texts, &decoded, &line.length) != RIG_OK)
        return false;
    line.text = rig_arena_text(texts, decoded, line.length);
    part->no_memory = part->no_memory || line.text == NULL || !rig_segment_lines_add(&part->segment->certificate, line);
    return true;
}

void rig_part_take(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t count, const char *text,
                   const char *text_end)
{
    uint32_t position = rig_part_take_position(part, fields->has_index, fields->index);
    bool invokes = fields->type == RIG_OPERATION_INVOKE;
    bool fits = fields->process_name != NULL || (fields->process >= INT32_MIN && fields->process <= INT32_MAX);
    part->has_negative_process |= fields->is_client && fields->process < 0;
    if (!fields->has_type || (fields->has_value && fields->is_client && !fits))
        rig_part_refuse(part);
    if (part->refused)
        return;
    if (!fields->is_client || !fits || (invokes && !fields->has_value)) {
        if (fields->is_client)
            leave_out(part, fields);
        else if (!take_certificate(part, fields) && !take_fault(part, fields, position))
            part->segment->skipped_count++;
        return;
    }
    if (!part->facts.has_invocations) {
        take_lone(part, fields, position, count);
        return;
    }
    struct rig_part_process *process = rig_part_find_process(part, fields->process);
    if (process != NULL && invokes && process->open) {
        process = rig_part_abandon(part, process);
        part->segment->reused_count++;
    }
    if (process == NULL) {
        part->no_memory = true;
    } else if (invokes) {
        rig_part_take_invocation(part, process, position, time_of(fields), text, text_end, false);
        if (text == NULL && !part->refused)
            keep_ops(part, process, 0, count);
    } else if (process->open) {
        complete(part, process, fields, position, count);
    } else {
        complete_earlier(part, process, fields, position, count);
    }
}

/* Gives a named client its number within the part. */
static void number_process(struct rig_part *part, struct rig_operation_fields *fields)
{
    if (fields->process_name == NULL)
        return;
    if (memchr(fields->process_name, '\0', fields->process_length) != NULL) {
        rig_part_refuse(part);
        return;
    }
    uint32_t id = rig_text_table_put(&part->process_names, fields->process_name, fields->process_length);
    part->no_memory = part->no_memory || id == none;
    fields->process = RIG_PART_NAMED_PROCESS + id;
}

void rig_part_take_parsed(struct rig_part *part)
{
    struct rig_operation *operation = &part->parser.operation;
    bool is_used = operation->fields.is_client && operation->fields.has_type;
    check_micros(part, &part->parser);
    number_process(part, &operation->fields);
    if (!is_used && operation->micros.count > 0 && operation->fields.type != RIG_OPERATION_FAIL)
        part->segment->lost_count++;
    if (is_used && !part->refused)
        end_doubts(part, operation);
    if (is_used)
        place_micros(part, &part->parser, operation->fields.type, 0);
    if (operation->columns.given != 0)
        part->columns = operation->columns;
    if (!part->refused && !part->no_memory)
        rig_part_take(part, &operation->fields, is_used ? (uint32_t)operation->micros.count : 0, NULL, NULL);
}
