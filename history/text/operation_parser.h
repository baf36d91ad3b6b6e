/*
 * The grammar of operations, common to JSON lines and EDN above their tokens.
 *
 * Each syntax has a struct rig_text_syntax: how to find the next token, the next item of a sequence, a name, a number.
 * The grammar reads the fields of an operation in any order. It checks no rules; those are in
 * history/text/operation_reader.h.
 *
 * Bytes are read in place, without recursion. Time: O(size). Space: the longest operation, up to a limit (RIG_E_LIMIT).
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_OPERATION_PARSER_H
#define RIG_HISTORY_TEXT_OPERATION_PARSER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "history/text/operation.h"
#include "history/text/text_cursor.h"

/* The field of the first operation with the wall clock's time, ns since 1970, when `time` was 0. */
#define RIG_START_FIELD "start-utc"

struct rig_text_syntax {
    /* Names of expected items, for errors. */
    const char *operation, *type, *types, *micro_name, *micro_end;
    bool keywords;       /* keys may be keywords */
    bool long_strings;   /* strings may span several lines */
    const char *openers; /* of sequences, and in the same order */
    const char *closers;

    /* Moves to the next token, past separators. */
    enum rig_rc (*next)(struct rig_text_cursor *cursor);
    /* Moves to the next item of the sequence that `closer` closes, or past the closer; 0: the items of the file. */
    enum rig_rc (*more)(struct rig_text_cursor *cursor, char closer, bool is_first, bool *more);
    /* A field's name without quotes, or empty if it cannot be a known field; then the cursor is at the value. */
    enum rig_rc (*field)(struct rig_text_cursor *cursor, struct rig_text_slice *name);
    /* A type or the name of a micro-operation, without a colon. */
    enum rig_rc (*word)(struct rig_text_cursor *cursor, const char *wanted, struct rig_text_slice *word);
    /* Between a micro-operation's name and its key. */
    enum rig_rc (*find_key)(struct rig_text_cursor *cursor);
    /* After its key: whether a value follows, and its place, or the place for an error about its absence. */
    enum rig_rc (*find_value)(struct rig_text_cursor *cursor, bool *found, size_t *value_at);
    bool (*take_null)(struct rig_text_cursor *cursor);
    enum rig_rc (*integer)(struct rig_text_cursor *cursor, int64_t *number);
    /* Any value, checked for its structure. */
    enum rig_rc (*skip)(struct rig_text_cursor *cursor);
};

extern const struct rig_text_syntax rig_text_syntax_json, rig_text_syntax_edn;

struct rig_operation_parser {
    struct rig_text_cursor cursor;
    const struct rig_text_syntax *syntax;
    struct rig_operation operation; /* the last one that was read */
    struct rig_arena texts;         /* of the operation: those that had escapes */
    char closer;                    /* of the sequence that holds all operations; 0: there is none */
    size_t limit_bytes;             /* of the operation's micro-operations and elements; 0: none */
    bool forgets;                   /* they are not kept, only passed to `on_micro`, without elements */
    /* Called for each micro-operation; may be NULL. May set `stopped`, which ends the operation early. */
    enum rig_rc (*on_micro)(void *context, const struct rig_micro *micro);
    void *context;
    bool stopped;
    bool passes_values;   /* values are skipped unread */
    bool takes_functions; /* operations on one object, such as {:f :cas :value [1 2]}, are read as transactions */
    bool repeats;         /*   of `workload`; and completions follow invocations */
    enum rig_workload workload;
    bool passes_maps;      /* maps as values of micro-operations are skipped */
    bool lists_are_values; /* reads of lists read one value each, not elements */
    bool keys_are_values;  /* of any kind: each is RIG_KEY_OTHER */
    bool has_texts;        /* since it was cleared: a value was not an integer */
    bool has_low;          /*   an integer was below RIG_VALUE_TEXTS_BELOW */
    const char *space;     /* of the transaction: the key of an independent tuple, a value's text; else NULL */
    struct rig_buf value_text;
};

void rig_operation_parser_init(struct rig_operation_parser *parser, const struct rig_text_syntax *syntax,
                               const char *name, const char *data, size_t size, struct rig_err *err);
void rig_operation_parser_done(struct rig_operation_parser *parser);

/* From the beginning of the file to the first operation. `more` is false when there is none. */
enum rig_rc rig_operation_parser_start(struct rig_operation_parser *parser, bool *more);
/* After an operation: moves to the next one, or to the end of the file. */
enum rig_rc rig_operation_parser_more(struct rig_operation_parser *parser, bool *more);
/* Reads only the transaction at the cursor: its micro-operations. */
enum rig_rc rig_operation_parser_value(struct rig_operation_parser *parser);
/* Reads the operation at the cursor. */
enum rig_rc rig_operation_parser_read(struct rig_operation_parser *parser);

/* For the reader of operations on one object (object_operation.h): the value at the cursor as a number, */
enum rig_rc rig_operation_parser_number(struct rig_operation_parser *parser, int64_t *number);
/* the key at the cursor, */
enum rig_rc rig_operation_parser_key(struct rig_operation_parser *parser, struct rig_micro *micro);
/* and one more micro-operation. */
enum rig_rc rig_operation_parser_add(struct rig_operation_parser *parser, const struct rig_micro *micro);

#endif
