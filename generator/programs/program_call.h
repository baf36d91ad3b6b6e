/*
 * A program's transaction under way: its random inputs, its statements, and the operations that they are in the
 * history.
 *
 * The functions that run statements give NULL, false or 0 rows when the transaction has failed; the kind then returns
 * false at once. Rows that they give are valid until the next statement.
 *
 * Space: some 210 KiB a call. Nothing is allocated while transactions run.
 */
#ifndef RIG_GENERATOR_PROGRAMS_PROGRAM_CALL_H
#define RIG_GENERATOR_PROGRAMS_PROGRAM_CALL_H

#include "base/buf.h"
#include "generator/programs/program.h"
#include "history/types/types.h"

struct rig_program_call;

/*
 * The key of a row in the history: the columns of its primary key and the number of its table, packed into 63 bits.
 *
 * Pure functions.
 */

/* -1 when a column does not fit its bits: it came from a database. */
int64_t rig_row_key_pack(const struct rig_program *program, uint32_t table, const int64_t *columns);
/* The table, and the columns of its primary key. */
uint32_t rig_row_key_unpack(const struct rig_program *program, int64_t key, int64_t columns[RIG_PROGRAM_KEY_COLUMNS]);

/* The line of a record's metadata by which reports name rows (history/types/row_names.h). */
void rig_row_key_names(const struct rig_program *program, struct rig_buf *line);

/* The place at which a transaction is held open, once. */
struct rig_program_hold {
    bool due;        /* it is still to come */
    int64_t place;   /* enum rig_hold_place; any: before statement `after` or the commit, whichever comes first */
    uint32_t after;  /* statements, at least 1 */
    uint32_t so_far; /* statements that were run */
    /* The core's. `before_op`: the operation before which it is held. NULL: nothing is held. */
    void (*hold)(struct rig_program_call *call, uint32_t before_op);
};

struct rig_program_call {
    struct rig_row_program base; /* first: what a driver sees */
    const struct rig_program *program;
    const struct rig_data_type *type;
    struct rig_program_size size;
    int64_t locking; /* enum rig_locking */
    struct rig_rng rng;
    const struct rig_program_kind *kind; /* NULL: reads of the keys below */
    uint32_t client, client_count;
    struct rig_rows *rows;
    struct rig_op *ops;     /* the operations so far */
    struct rig_read *reads; /* the results of `ops` */
    uint32_t op_count;
    int64_t written;     /* values that this client has written */
    const int64_t *keys; /* of a transaction that reads rows by their keys */
    uint32_t key_count;
    bool failed;          /* a statement failed */
    const char *rollback; /* why the program rolls back; NULL: it does not */
    int64_t *cells;
    struct rig_program_hold hold;
    /* Start and end of the operations' statements by `now_ns`, two numbers each, for the first `timed` ones. NULL: no
     * times are wanted. */
    int64_t (*now_ns)(void);
    int64_t *times;
    uint32_t timed;
    int64_t began_ns, ended_ns; /* of the last statement */
    void *context;              /* the core's */
};

/* Frees with rig_program_call_done(), also after a failure. The caller sets base.committing and context. */
enum rig_rc rig_program_call_init(struct rig_program_call *call, const struct rig_generator_options *options,
                                  uint32_t client, uint32_t client_count, struct rig_err *err);
void rig_program_call_done(struct rig_program_call *call);

/* Makes the transaction at a position of the client's stream the next one. */
void rig_program_call_ask(struct rig_program_call *call, uint64_t seed, uint64_t position);
/* Makes reads of these rows, by their keys in the history, the next one. The keys are borrowed. */
void rig_program_call_ask_reads(struct rig_program_call *call, const int64_t *keys, uint32_t key_count);

/* Holds the transaction where that is due at the commit. To be called before `committing` records anything. */
void rig_program_call_hold_at_commit(struct rig_program_call *call);

/* ---- for programs ---- */

#define RIG_KEY(...) ((const int64_t[]){__VA_ARGS__})

/* A number in [least, most]. */
int64_t rig_program_draw(struct rig_program_call *call, int64_t least, int64_t most);

/* A number that no other call gives in the run, above 0. */
int64_t rig_program_fresh(struct rig_program_call *call);

/* The row with a primary key. `find` also gives NULL when there is none; `read` then rolls back. */
const int64_t *rig_program_find(struct rig_program_call *call, uint32_t table, const int64_t *key);
const int64_t *rig_program_read(struct rig_program_call *call, uint32_t table, const int64_t *key);
/* The same for a row that is updated next: locked where the plan says so. */
const int64_t *rig_program_read_for_update(struct rig_program_call *call, uint32_t table, const int64_t *key);
/* The rows of a query, row after row. */
uint32_t rig_program_query(struct rig_program_call *call, uint32_t query, const int64_t *values, const int64_t **rows);
/* Writes the columns of the update. */
bool rig_program_set(struct rig_program_call *call, uint32_t update, const int64_t *key, const int64_t *values);
/* Adds to the columns of the update, by one statement or by a read and an update, as the plan says. Gives the row as it
 * is afterwards. */
const int64_t *rig_program_add(struct rig_program_call *call, uint32_t update, const int64_t *key,
                               const int64_t *amounts);
/* All columns but the last two. */
bool rig_program_insert(struct rig_program_call *call, uint32_t table, const int64_t *cells);
/* False when it failed; `*found`: there was such a row. */
bool rig_program_delete(struct rig_program_call *call, uint32_t table, const int64_t *key, bool *found);
/* Returns false, for the kind to return. */
bool rig_program_roll_back(struct rig_program_call *call, const char *reason);

#endif
