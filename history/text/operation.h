/*
 * One operation of a file of JSON lines or EDN: fields, micro-operations, and their places.
 *
 * Offsets are bytes into the file, for errors. Texts are in the file, or in the parser's memory.
 */
#ifndef RIG_HISTORY_TEXT_OPERATION_H
#define RIG_HISTORY_TEXT_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "history/model/columns.h"
#include "history/model/transaction.h"

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
        const char *text; /* of a column of names */
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

#endif
