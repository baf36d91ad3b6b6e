#include "history/text/text_reader.h"

#include <stdlib.h>
#include <string.h>

#include "history/text/fast/operation_fast.h"
#include "history/text/part/operation_join.h"
#include "history/text/part/part_take.h"
#include "history/model/value_texts.h"

enum {
    LINE_BYTES = 1 << 16, /* distance that a cut searches for the next operation */
    STEP_BYTES = 1 << 16  /* between two checks of a part's memory */
};

static const size_t nowhere = SIZE_MAX;

struct reader {
    const struct rig_text_form *form;
    const char *name;
    const char *data;
    size_t size;
    rig_fast_taker *take_fast;
    const char *fast_limit; /* the fast path starts no operation from here on */
    struct rig_load_options options;
    const struct rig_text_origin *origin; /* of a rewritten text, or NULL */
    bool mixes_keys;                      /* the fault that was found is that keys are of several kinds */
    struct rig_operation_facts facts;
    char closer; /* of the sequence around all operations, or 0 */
    struct rig_join join;
    size_t expected_at; /* where the next part's first operation begins; `nowhere` before the first part */
};

static enum rig_rc look_at_start(struct reader *reader, struct rig_err *err)
{
    struct rig_operation_parser parser;
    bool more = false;
    rig_operation_parser_init(&parser, reader->form->syntax, reader->name, reader->data, reader->size, NULL);
    (void)rig_operation_parser_start(&parser, &more);
    reader->closer = parser.closer;
    rig_operation_parser_done(&parser);
    return rig_operation_probe(reader->form->syntax, reader->name, reader->data, reader->size, &reader->options,
                               &reader->facts, err);
}

/*
 * Estimates the number of processes at the beginning, up to a run of operations of known ones. Nothing is parsed for
 * it; any text that looks like the field counts.
 */
static size_t count_processes(const struct reader *reader)
{
    enum { MOST = 1 << 16, MOST_KNOWN = 256 };
    const char *field = reader->form->fast == RIG_FAST_EDN ? ":process " : "\"process\":";
    const char *end = reader->fast_limit - reader->data > RIG_TEXT_PART_BYTES ? reader->data + RIG_TEXT_PART_BYTES
                                                                              : reader->fast_limit;
    uint64_t seen[MOST / 64] = {0};
    size_t count = 0, known = 0;
    for (const char *at = reader->data; known < MOST_KNOWN; at++) {
        int64_t process = -1;
        at = memmem(at, (size_t)(end - at), field, strlen(field));
        if (at == NULL)
            break;
        (void)rig_number_short(at + strlen(field), &process);
        if (process < 0 || process >= MOST)
            continue;
        bool is_new = (seen[process / 64] >> process % 64 & 1) == 0;
        seen[process / 64] |= (uint64_t)1 << process % 64;
        count += is_new;
        known = is_new ? 0 : known + 1;
    }
    return count;
}

/* Operations on objects are not written as transactions; keys of any kind are left to the grammar. */
static bool take_none(struct rig_part *part, const char **at, const char *limit)
{
    (void)part, (void)at, (void)limit;
    return false;
}

/* The usual length, or more for many processes; then planned. */
static void plan_parts(struct reader *reader, struct rig_source_facts *facts)
{
    const size_t usual = reader->options.usual_part_bytes;
    size_t most = RIG_TEXT_MOST_PART_BYTES, wanted;
    if (usual < RIG_TEXT_PART_BYTES || reader->options.part_bytes != 0)
        return;
    most = most < reader->options.most_part_bytes ? most : reader->options.most_part_bytes;
    wanted = count_processes(reader) * RIG_TEXT_PROCESS_BYTES;
    wanted = wanted < most ? wanted : most;
    if (wanted <= usual)
        return;
    facts->parts_bytes = facts->parts_bytes / usual * wanted;
    reader->options.usual_part_bytes = wanted;
}

enum rig_rc rig_text_reader_open(const struct rig_text_file *file, const struct rig_load_options *options,
                                 struct rig_source_facts *facts, void **state, struct rig_err *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", file->name);
    *reader = (struct reader){
        .form = file->form,
        .name = file->name,
        .data = file->data,
        .size = file->size,
        .take_fast = rig_fast_taker_of(file->form->fast, options->block_set),
        .fast_limit = file->size > RIG_FAST_STEP ? file->data + file->size - RIG_FAST_STEP : file->data,
        .options = *options,
        .expected_at = nowhere,
    };
    rig_join_init(&reader->join);
    const enum rig_rc rc = look_at_start(reader, err);
    if (rc != RIG_OK) {
        rig_text_reader_close(reader);
        return rc;
    }
    if (rig_workload_is_object(reader->facts.workload) || options->value_keys)
        reader->take_fast = take_none;
    reader->facts.lock = options->lock;
    plan_parts(reader, facts);
    facts->workload = reader->facts.workload;
    facts->type_origin = options->workload_given ? options->type_origin : reader->facts.type_origin;
    facts->has_invocations = reader->facts.has_invocations;
    facts->start_utc_ns = reader->facts.start_utc_ns;
    *state = reader;
    return RIG_OK;
}

enum rig_rc rig_text_reader_look(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                 bool *undecided, struct rig_err *err)
{
    enum { TOKEN_BYTES = 64 }; /* the end of the bytes may cut it, and a failure may be before */
    struct rig_operation_parser parser;
    struct rig_err why = {0};
    bool more = false;
    rig_operation_parser_init(&parser, syntax, name, data, size, &why);
    parser.forgets = true;
    enum rig_rc rc = rig_operation_parser_start(&parser, &more);
    if (rc == RIG_OK && more)
        rc = rig_operation_parser_read(&parser);
    if (rc == RIG_OK && more && !parser.operation.fields.has_type) {
        rc = rig_cursor_fail(&parser.cursor, parser.operation.at, "an operation without a type; it is %s",
                             parser.syntax->types);
        parser.cursor.at = data;
    }
    *undecided =
        (rc == RIG_OK && !more) || (rc == RIG_E_INPUT && size - rig_cursor_offset(&parser.cursor) < TOKEN_BYTES);
    rig_operation_parser_done(&parser);
    return rc == RIG_OK || *undecided ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

void rig_text_reader_set_origin(void *state, const struct rig_text_origin *origin)
{
    ((struct reader *)state)->origin = origin;
}

bool rig_text_reader_mixes_keys(const void *state)
{
    return ((const struct reader *)state)->mixes_keys;
}

void rig_text_reader_close(void *state)
{
    struct reader *reader = state;
    if (reader != NULL)
        rig_join_done(&reader->join);
    free(reader);
}

/* Whether an operation seems to begin at the line's first non-blank character. */
static bool begins_operation(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == ',' || *at == '['))
        at++;
    return at < end && (*at == '{' || *at == '#');
}

/* After the first line from `at` on that is followed by an operation; else between two operations on a line. */
static const char *find_cut(const char *at, const char *end)
{
    const char *most = end - at > LINE_BYTES ? at + LINE_BYTES : end;
    for (const char *from = at; from < most; from++) {
        from = memchr(from, '\n', (size_t)(most - from));
        if (from == NULL)
            break;
        if (begins_operation(from + 1, end))
            return from + 1;
    }
    for (const char *from = at; from < most; from++) {
        from = memchr(from, '}', (size_t)(most - from));
        if (from == NULL)
            break;
        if (from + 1 < end && (from[1] == ',' || from[1] == ' ') && begins_operation(from + 1, end))
            return from + 1;
    }
    return most;
}

size_t rig_text_reader_cut(void *state, size_t begin)
{
    const struct reader *reader = state;
    size_t wanted = reader->options.part_bytes == 0 ? reader->options.usual_part_bytes : reader->options.part_bytes;
    if (reader->size - begin <= wanted)
        return reader->size;
    if (reader->options.part_bytes != 0)
        return begin + wanted;
    return (size_t)(find_cut(reader->data + begin + wanted, reader->data + reader->size) - reader->data);
}

static enum rig_rc find_first(const struct reader *reader, struct rig_operation_parser *parser, size_t begin,
                              bool *more)
{
    if (begin == 0)
        return rig_operation_parser_start(parser, more);
    parser->cursor.at = reader->data + begin;
    parser->closer = reader->closer;
    enum rig_rc rc = reader->form->syntax->next(&parser->cursor);
    bool is_behind_separator = parser->cursor.at < parser->cursor.end && reader->closer != '\0' &&
                               reader->form->separator != '\0' && *parser->cursor.at == reader->form->separator;
    if (rc == RIG_OK && is_behind_separator) {
        parser->cursor.at++;
        rc = reader->form->syntax->next(&parser->cursor);
    }
    *more = parser->cursor.at < parser->cursor.end;
    return rc;
}

/* Moves to the next operation: mostly on the next line. */
static enum rig_rc find_next(struct rig_operation_parser *parser, bool *more)
{
    struct rig_text_cursor *cursor = &parser->cursor;
    if (parser->closer == '\0' && cursor->end - cursor->at > 1 && cursor->at[0] == '\n' && cursor->at[1] == '{') {
        cursor->at++;
        return RIG_OK;
    }
    return rig_operation_parser_more(parser, more);
}

/* One operation, or several. */
static enum rig_rc read_operation(const struct reader *reader, struct rig_part *part)
{
    if (!part->is_again && reader->take_fast(part, &part->parser.cursor.at, reader->fast_limit))
        return RIG_OK;
    if (part->no_memory)
        return RIG_E_LIMIT;
    rig_part_begin(part);
    enum rig_rc rc = rig_operation_parser_read(&part->parser);
    if (rc == RIG_OK)
        rig_part_take_parsed(part);
    return rc;
}

/* Whether the operation at the cursor belongs to the part; errors at the file's end belong to any part. */
static bool is_own(const struct reader *reader, const struct rig_part *part)
{
    size_t at = rig_cursor_offset(&part->parser.cursor);
    return at < part->end_at || at == reader->size;
}

/* The operations that begin within the part. */
static void read_part(const struct reader *reader, struct rig_part *part, size_t begin)
{
    struct rig_operation_parser *parser = &part->parser;
    bool more = false;
    part->first_at = part->behind_at = nowhere;
    enum rig_rc rc = find_first(reader, parser, begin, &more);
    if (rc == RIG_OK)
        part->first_at = rig_cursor_offset(&parser->cursor);
    const char *measured = parser->cursor.at;
    while (rc == RIG_OK && more && is_own(reader, part) && !part->refused && !part->no_memory) {
        rc = read_operation(reader, part);
        if (parser->cursor.at - measured >= STEP_BYTES) {
            part->no_memory = part->no_memory || !rig_part_fits(part);
            measured = parser->cursor.at;
        }
        if (rc == RIG_OK && !part->refused)
            rc = find_next(parser, &more);
    }
    part->no_memory = part->no_memory || rc == RIG_E_LIMIT;
    part->refused = part->refused || rc != RIG_OK;
    part->behind_at = rig_cursor_offset(&parser->cursor);
    if (!part->refused)
        rig_part_finish(part);
}

static void start_part(const struct reader *reader, struct rig_part *part, struct rig_segment *segment, size_t begin,
                       size_t end, bool is_again)
{
    const char *data_end = reader->data + reader->size;
    rig_part_start(part, segment, &reader->facts, data_end, reader->options.decode_bytes);
    part->end_at = end;
    part->is_again = is_again;
    part->parser.syntax = reader->form->syntax;
    part->parser.cursor =
        (struct rig_text_cursor){.name = reader->name, .start = reader->data, .at = reader->data, .end = data_end};
    read_part(reader, part, begin);
}

static enum rig_rc no_memory(const struct reader *reader, struct rig_err *err)
{
    if (reader->options.limit_bytes == 0)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", reader->name);
    return rig_fail(err, RIG_E_LIMIT, "%s: the history needs more than the %zu bytes allowed; raise --max-memory",
                    reader->name, reader->options.limit_bytes);
}

enum rig_rc rig_text_reader_parse(void *state, size_t begin, size_t end, struct rig_segment *segment,
                                  struct rig_err *err)
{
    const struct reader *reader = state;
    if (segment->reader_part == NULL) {
        segment->reader_part = rig_part_new();
        segment->reader_part_free = rig_part_free;
    }
    if (segment->reader_part == NULL)
        return no_memory(reader, err);
    start_part(reader, segment->reader_part, segment, begin, end, false);
    return RIG_OK; /* joining tells whether its faults are real */
}

enum rig_rc rig_text_reader_join(void *state, struct rig_segment *segment, struct rig_err *err)
{
    struct reader *reader = state;
    struct rig_part *part = segment->reader_part;
    if (reader->expected_at != nowhere && part->first_at != reader->expected_at)
        start_part(reader, part, segment, reader->expected_at, part->end_at, false);
    if (part->refused && !part->no_memory) /* the fast path may have taken a bracket in a text for a closing one */
        start_part(reader, part, segment, reader->expected_at == nowhere ? 0 : reader->expected_at, part->end_at, true);
    if (!part->refused && !part->no_memory)
        rig_join_part(&reader->join, part);
    const size_t limit = reader->options.limit_bytes;
    if (part->no_memory || (limit != 0 && rig_value_texts_bytes() > limit / 4))
        return no_memory(reader, err);
    if (part->refused) {
        const struct rig_text_operations operations = {.syntax = reader->form->syntax,
                                                       .name = reader->name,
                                                       .data = reader->data,
                                                       .size = reader->size,
                                                       .origin = reader->origin};
        return rig_operation_blame(&operations, &reader->facts, &reader->mixes_keys, err);
    }
    reader->expected_at = part->behind_at;
    return RIG_OK;
}
