/*
 * The statements on tables of rows, the versions that they made of each row, and the transactions that count as
 * committed (history/types/row_ops.h).
 *
 * A row is inserted once, under a fresh id, and each update or delete shows the version that it replaced. So the
 * versions of a row form a chain from its insert on, without any assumption: version b follows version a where the
 * statement of b shows the row at a. The chain is whole unless a statement whose rows are not known may have touched
 * the row, two statements replaced the same version, or a version has a predecessor that no read shows. Only whole
 * chains say which versions a read that does not show the row may have seen. An update or delete of unknown rows may
 * have touched those whose ids its condition asks for.
 *
 * The contents of a version (workload sql) are those of the version that its statement replaced, as the statement
 * changes them. They do not depend on which transactions committed.
 *
 * Committed are the acknowledged transactions, and those of unknown fate of which a committed read shows a version, or
 * which a certificate has.
 *
 * Time: sorting the statements, one look-up for each row read. Space: 40 bytes a statement, up to 16 more of the
 * workload sql, 24 a version.
 */
#ifndef RIG_CHECKER_INFER_ROW_VERSIONS_H
#define RIG_CHECKER_INFER_ROW_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "history/model/history.h"
#include "history/types/row_parts.h"

#define RIG_ROW_NONE UINT32_MAX

struct rig_row_version {
    int64_t id;
    uint32_t statement;    /* that made it */
    uint32_t before, next; /* versions of the row, of committed transactions; RIG_ROW_NONE: none is known */
    uint32_t contents;     /* of the workload sql; RIG_ROW_CONTENTS_UNKNOWN: of others, of a deleted row, and where a
                              version before it is not known */
};

/* A statement that writes. */
struct rig_row_write {
    int64_t number;
    uint32_t key, txn;
    uint32_t op;                           /* place of RIG_OP_ROW */
    uint32_t first_version, version_count; /* of an update or delete in the order of its result */
    bool rows_known;                       /* else it may have changed any row of its table */
    bool is_whole;                         /* of an insert: the row's chain is whole */
    uint32_t last;                         /* of an insert: the last version of the row's chain */
    uint32_t committed_versions;           /* of an insert: versions of the row by committed transactions */
};

struct rig_row_chains {
    const struct rig_history *history; /* borrowed */
    struct rig_row_write *statements;  /* by key, then number */
    uint32_t statement_count;
    uint32_t *key_first;              /* per key, and one more: into statements */
    uint32_t *count_first;            /* per key, and one more: into by_count */
    uint32_t *by_count;               /* statements of the workload sql by the counts in their numbers; RIG_ROW_NONE */
    int64_t *least_count;             /* per key: of its statements */
    uint32_t *inserts, *insert_first; /* statements that insert, by key; per key, and one more: into inserts */
    struct rig_row_version *versions;
    uint32_t version_count;
    uint8_t *committed; /* per transaction */
    bool guessed;       /* the places of the history are no certificate's, but a guess (row_guess.h) */
    uint32_t committed_count;
};

/* Memory comes from the arena. RIG_E_INPUT when an operation is of another type, a statement lacks its read, or a
 * number is used twice in a table; RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_rows_build(const struct rig_history *history, struct rig_arena *arena, struct rig_row_chains *rows,
                           struct rig_err *err);

/* The statement of that number, or RIG_ROW_NONE. Time: constant where numbers follow each other, else logarithmic. */
uint32_t rig_rows_find_statement(const struct rig_row_chains *rows, uint32_t key, int64_t number);
static inline uint32_t rig_rows_statement(const struct rig_row_chains *rows, uint32_t key, int64_t number)
{
    const uint32_t first = rows->key_first[key], count = rows->key_first[key + 1] - first;
    if (count == 0)
        return RIG_ROW_NONE;
    const uint64_t guess = (uint64_t)(rig_row_serial(number) - rig_row_serial(rows->statements[first].number));
    return guess < count && rows->statements[first + guess].number == number
               ? first + (uint32_t)guess
               : rig_rows_find_statement(rows, key, number);
}
/* The version of the row that the statement made, or RIG_ROW_NONE. Time: the rows of the statement. */
uint32_t rig_rows_version(const struct rig_row_chains *rows, uint32_t statement, int64_t id);

/* The rows of the table of which a read by the condition says something by not showing them: of `inserts`, the first
 * and *end. Others never meet it, or its clause lets it miss them. */
uint32_t rig_rows_asked(const struct rig_row_chains *rows, uint32_t key, const struct rig_row_where *condition,
                        uint32_t *end);

/* The condition of the read at operation `op` of a transaction, without what its clause adds. */
struct rig_row_where rig_row_condition_at(const struct rig_txn_op *ops, uint32_t op);
/* The condition with it. Time: with a join, the rows that the statement's own read shows. */
struct rig_row_where rig_rows_condition(const struct rig_row_chains *rows, uint32_t txn, uint32_t op);

/* Whether the operation belongs to the statement of the one before it: a read after its condition, and what an update
 * or a delete writes after its read. */
bool rig_row_continues(const struct rig_txn_op *ops, uint32_t op);

/* Whether the operation is a read with a known result. */
static inline bool rig_row_is_read(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_READ_WHERE && op->read_state != RIG_READ_UNKNOWN;
}

/* Whether the operation writes rows. */
static inline bool rig_row_writes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ROW && op->value > 0;
}

/* Whether the row meets the condition at this version. */
static inline bool rig_rows_meets(const struct rig_row_chains *rows, const struct rig_row_where *condition,
                                  uint32_t version)
{
    const struct rig_row_version *of = &rows->versions[version];
    return rig_row_meets(condition, of->id, rows->statements[of->statement].number, of->contents);
}

/* Whether the contents of the row's versions, which have the chain of `insert`, say where it meets the condition. */
bool rig_rows_tell_contents(const struct rig_row_chains *rows, const struct rig_row_write *insert,
                            const struct rig_row_where *condition);

static inline uint32_t rig_rows_writer(const struct rig_row_chains *rows, uint32_t version)
{
    return rows->statements[rows->versions[version].statement].txn;
}

static inline int64_t rig_rows_number(const struct rig_row_chains *rows, uint32_t version)
{
    return rows->statements[rows->versions[version].statement].number;
}

#endif
