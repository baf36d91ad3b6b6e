/*
 * The rewriting of classic workloads (classic_operations.h): its state, the forms of operations, and what they share.
 *
 * A form is the way in which some workload writes its operations. It puts the transactions of each item of the file
 * into the result. To add one is to add its row in classic_operations.c, and a file for it.
 *
 * Private to history/text/. Threads: one.
 */
#ifndef RIG_HISTORY_TEXT_CLASSIC_PRIVATE_H
#define RIG_HISTORY_TEXT_CLASSIC_PRIVATE_H

#include "base/buf.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/text/operation_parser.h"

/* One operation of the file; slices are as written. */
struct rig_classic_item {
    enum rig_operation_type type;
    bool is_client, has_process, has_time, has_index, is_txn;
    int64_t index, time_ns, process;
    struct rig_text_slice function, process_name, value;
    struct rig_text_slice key; /* the field `key`; length 0: there is none */
    size_t at;                 /* in the file */
    uint32_t partner;          /* the other one of invocation and completion, or RIG_TABLE_NONE */
};

RIG_VEC(struct rig_classic_item, rig_classic_items)
RIG_VEC(struct rig_text_slice, rig_text_slices)

struct rig_classic_form;

struct rig_classic {
    struct rig_operation_parser parser;
    enum rig_workload workload; /* of the result, and of messages */
    const struct rig_classic_form *form;
    bool edn, is_independent;
    bool has_micros, has_closed; /* the operation that was read last: any, and of closed predicates */
    bool has_keyless, has_polls; /*   polls of logs without a key; polls with one, as rig writes them */
    bool has_sends;              /*   sends to logs */
    struct rig_classic_items items;
    struct rig_buf *out;
    struct rig_text_origin *origin;
    struct rig_text_place place; /* of the last operation written, in the user's file: here `at` counts in it */
    uint32_t shift;              /* of all indices, for transactions that the file does not show */
    int64_t written;             /* operations so far, of forms that count positions anew */
    struct rig_text_slices keys; /* a bank's accounts, or rows: those that acknowledged reads show */
    struct rig_table known;      /* of a form */
    size_t group;                /* keys that are read together */
    bool is_wide;                /* dirty-reads: reads show all rows that exist, not the values of some */
    void *numbers;               /* of a form: what it noted of the file */
    const struct rig_specification *specification; /* of a model; NULL: none is given */
};

struct rig_classic_form {
    enum rig_workload workload;
    bool is_any_workload; /* of the transactions that the items are */
    bool has_tuples;      /* of jepsen.independent */
    bool reads_at_once;   /* an item may show several registers */
    /* Whether the functions and values of all items are those of the form; NULL: classic_guess.h tells. */
    bool (*is_it)(const struct rig_classic *r);
    /* Before anything else is written; NULL: nothing. False when memory runs out. */
    bool (*prepare)(struct rig_classic *r);
    /* Whether the item is left out; NULL: none is. */
    bool (*skips)(const struct rig_classic *r, const struct rig_classic_item *item);
    /* Writes the micro-operations of the item, as one transaction; NULL: see the next one. */
    enum rig_rc (*put)(struct rig_classic *r, const struct rig_classic_item *item);
    /* Writes the item as several whole transactions. */
    enum rig_rc (*put_all)(struct rig_classic *r, const struct rig_classic_item *item);
    /* Frees r->numbers; NULL: there is nothing. */
    void (*done)(struct rig_classic *r);
};

/* ---- names of functions, ended by NULL ---- */

extern const char *const rig_classic_adds[], *const rig_classic_read_names[], *const rig_classic_transfers[],
                                                                                  *const rig_classic_writes[];

bool rig_classic_is_one_of(const struct rig_text_slice *name, const char *const *names);
bool rig_classic_reads(const struct rig_classic_item *item);

/* ---- values ---- */

bool rig_classic_is_null(const struct rig_text_slice *value);
bool rig_classic_is_number(const struct rig_text_slice *value);
/* The integer of 64 bits; false: it is none. */
bool rig_classic_number(const struct rig_text_slice *value, int64_t *number);
bool rig_classic_is_same(const struct rig_text_slice *a, const struct rig_text_slice *b);
uint64_t rig_classic_hash(const struct rig_text_slice *text);
/* Without quotes and the colon of a keyword. */
struct rig_text_slice rig_classic_bare(const char *text, size_t length);
struct rig_text_cursor rig_classic_cursor(const struct rig_classic *r, const char *at);
/* The closer of the sequence or, with `maps`, the map that opens at the cursor, which moves into it; else 0. */
char rig_classic_enter(const struct rig_classic *r, struct rig_text_cursor *cursor, bool maps);
/* The next item of the sequence; false at its end, or at a fault. */
bool rig_classic_next(const struct rig_classic *r, struct rig_text_cursor *cursor, char closer, bool is_first,
                      struct rig_text_slice *item);
/* The next entry of a map. */
bool rig_classic_next_entry(const struct rig_classic *r, struct rig_text_cursor *cursor, bool is_first,
                            struct rig_text_slice *key, struct rig_text_slice *value);
/* The entry of the map; false: it has none, or is no map. */
bool rig_classic_field(const struct rig_classic *r, const struct rig_text_slice *map, const char *name,
                       struct rig_text_slice *value);
/* Whether the value is a sequence of exactly two items, and these. */
bool rig_classic_is_pair(const struct rig_classic *r, const struct rig_text_slice *value,
                         struct rig_text_slice pair[2]);
/* The first items of the sequence, up to three, and how many; the others are empty. */
size_t rig_classic_parts(const struct rig_classic *r, const struct rig_text_slice *value,
                         struct rig_text_slice part[3]);
bool rig_classic_is_sequence(const struct rig_classic *r, const struct rig_text_slice *value);
bool rig_classic_is_map(const struct rig_classic *r, const struct rig_text_slice *value);
/* The items of a sequence; 0 of anything else. */
size_t rig_classic_count(const struct rig_classic *r, const struct rig_text_slice *value);
/* The key and the value of an operation: those of a tuple, or 0 and the value alone. */
struct rig_text_slice rig_classic_split(const struct rig_classic *r, const struct rig_classic_item *item,
                                        struct rig_text_slice *key);
/* The one of the pair with the value: completions may say something else instead of what was invoked. */
const struct rig_classic_item *rig_classic_asked(const struct rig_classic *r, const struct rig_classic_item *item);
/* The completion of the item's pair; without one, the item. */
const struct rig_classic_item *rig_classic_answer(const struct rig_classic *r, const struct rig_classic_item *item);
/* Whether the pair of the item was acknowledged. */
bool rig_classic_is_ok(const struct rig_classic *r, const struct rig_classic_item *item);

/* ---- writing ---- */

void rig_classic_put(struct rig_classic *r, const struct rig_text_slice *text);
/* Key NULL: 0. */
void rig_classic_begin_micro(struct rig_classic *r, const char *name, const struct rig_text_slice *key);
/* A member of a micro-operation; without one, the result is unknown. */
void rig_classic_end_micro(struct rig_classic *r, const struct rig_text_slice *value);
void rig_classic_end_number(struct rig_classic *r, int64_t value);
void rig_classic_end_null(struct rig_classic *r);
/* Notes that what is written next stems from the operation at the byte `at` of the file. False when memory runs out. */
bool rig_classic_note_origin(struct rig_classic *r, size_t at);
/* Writes an operation up to its first micro-operation, and the rest of it. */
void rig_classic_begin(struct rig_classic *r, const struct rig_classic_item *item, int64_t index);
void rig_classic_end(struct rig_classic *r);
/* Begins a transaction of unknown outcome that the file does not show, before all others. The byte `at` of the file
 * tells of it. False when memory runs out. */
bool rig_classic_begin_unseen(struct rig_classic *r, size_t at);
/* The operation `item`, in a history of the workload, `why`: such as "is not known". */
enum rig_rc rig_classic_refuse(const struct rig_classic *r, const struct rig_classic_item *item, const char *why);

/* ---- the forms ---- */

extern const struct rig_classic_form rig_classic_set, rig_classic_counter, rig_classic_bank, rig_classic_long_fork,
    rig_classic_sequential, rig_classic_dirty_reads, rig_classic_unique_ids, rig_classic_monotonic, rig_classic_log,
    rig_classic_multi_key, rig_classic_no_process, rig_classic_predicate, rig_classic_list, rig_classic_kafka,
    rig_classic_calls;

/* Whether the read shows a key and a list of its subkeys, as those of sequential do. *found: one of them is there. */
bool rig_classic_shows_subkeys(const struct rig_classic *r, const struct rig_classic_item *read, bool *found);

/* Whether the function is one that only histories of logs have. */
bool rig_classic_is_of_log(const struct rig_classic_item *item);

/* Whether this is the name of a micro-operation that only histories of closed predicates have. */
bool rig_classic_is_closed(const struct rig_text_slice *name);

#endif
