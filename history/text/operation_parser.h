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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "history/model/columns.h"
#include "history/model/transaction.h"
#include "history/text/text_cursor.h"
#include "history/types/types.h"

/*
 * One operation of a file of JSON lines or EDN: fields, micro-operations, and their places.
 *
 * Offsets are bytes into the file, for errors. Texts are in the file, or in the parser's memory.
 */

enum rig_operation_type { RIG_OPERATION_INVOKE, RIG_OPERATION_OK, RIG_OPERATION_FAIL, RIG_OPERATION_INFO };
/* RIG_KEY_OTHER: the key's text is a value's (history/model/value_texts.h), such as `1.5`, `nil` or `[1 2]`. */
enum rig_key_kind { RIG_KEY_NUMBER, RIG_KEY_TEXT, RIG_KEY_KEYWORD, RIG_KEY_OTHER };
enum rig_micro_value { RIG_MICRO_MISSING, RIG_MICRO_NULL, RIG_MICRO_NUMBER, RIG_MICRO_LIST };

/* One micro-operation: name, key, value. */
struct rig_micro {
    size_t at;
    const char *name; /* without the colon of a keyword */
    size_t name_length;
    enum rig_key_kind key_kind;
    int64_t key;
    const char *key_text;
    size_t key_length;
    size_t value_at;
    enum rig_micro_value value_kind;
    int64_t value;
    size_t first_element; /* of a list: its elements among the operation's */
    size_t element_count;
    bool is_keyless;       /* parser.passes_maps: there is no key, or a map in its place */
    bool is_set;           /* a list that is written as a set: #{1 2} */
    const char *list_text; /* the text between the brackets of a list */
    size_t list_length;
};

RIG_VEC(struct rig_micro, rig_micro_vec)
RIG_VEC(int64_t, rig_element_vec)

/* The fields of an operation other than its transaction. */
struct rig_operation_fields {
    bool has_type, has_index, has_time, has_value, has_error;
    bool repeats;   /* an ok completion that does not repeat what was invoked: its operations are those invoked */
    bool is_client; /* its process is an integer or a name other than that of the nemesis and of certificates */
    bool is_certificate;
    enum rig_operation_type type;
    int64_t index;
    int64_t time_ns;
    int64_t process;
    const char *process_name; /* of a client with a name, which has no number yet; else NULL */
    size_t process_length;
    const char *error;
    size_t error_length;
    const char *other; /* a value that is not a transaction, as written; NULL: none */
    size_t other_length;
};

/* Side columns as written in an operation. */
struct rig_column_fields {
    uint32_t given; /* RIG_COLUMN_BIT()s */
    struct {
        int64_t number;   /* of a column of numbers */
        const char *text; /* of a column of names; of spans, as written, whatever it is */
        size_t length;
    } at[RIG_COLUMN_COUNT];
};

struct rig_operation {
    struct rig_operation_fields fields;
    struct rig_column_fields columns;
    int64_t start_utc_ns; /* the wall clock when times were 0, from the operation; 0: unknown */
    const char *function; /* what the client did (`f`), as written; NULL: not given */
    size_t function_length;
    size_t at, type_at, index_at;
    size_t value_at;                   /* of a transaction */
    const char *value_text, *key_text; /* where an operation on one object has its value and its key; NULL: not given */
    struct rig_micro_vec micros;
    struct rig_element_vec elements;
};

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

/* The operations of a file, and the name that errors give it. Borrowed. */
struct rig_text_operations {
    const struct rig_text_syntax *syntax;
    const char *name;
    const char *data;
    size_t size;
    const struct rig_text_origin
        *origin; /* of a rewritten text: errors name the places of the user's file; else NULL */
};

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
    bool keeps_values;    /* values are skipped unread, and their places are in the operation */
    bool takes_functions; /* operations on one object, such as {:f :cas :value [1 2]}, are read as transactions */
    bool repeats;         /*   of `workload`; and completions follow invocations */
    enum rig_workload workload;
    struct rig_lock_rules lock; /*   of which the file says nothing itself */
    bool passes_maps;           /* maps as values of micro-operations are skipped */
    bool lists_are_values;      /* reads of lists read one value each, not elements */
    bool keys_are_values;       /* of any kind: each is RIG_KEY_OTHER */
    bool has_texts;             /* since it was cleared: a value was not an integer */
    bool has_low;               /*   an integer was below RIG_VALUE_TEXTS_BELOW */
    const char *space;          /* of the transaction: the key of an independent tuple, a value's text; else NULL */
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

/* For the reader of operations on one object (object_operation.h): the value at the cursor as a number. */
enum rig_rc rig_operation_parser_number(struct rig_operation_parser *parser, int64_t *number);
/* For the same reader: the key at the cursor. */
enum rig_rc rig_operation_parser_key(struct rig_operation_parser *parser, struct rig_micro *micro);
/* For the same reader: adds a micro-operation. */
enum rig_rc rig_operation_parser_add(struct rig_operation_parser *parser, const struct rig_micro *micro);

#endif
