/*
 * The workload sql in SQL databases (history/types/row_values.h): tables, statements as texts, and the comparison of a
 * database's answers with rig's before the load.
 *
 * A table has the columns k, id, v, p, a, b, c and t: the key, the row's id, its version, the version before, and its
 * values; and where a row may be made of others s: the versions of these, as a text. As in sql_ops.h a read, an update
 * and a delete are at the operation that reads, and the answer is pairs of an id and a version: those that it shows, or
 * that it replaced. Where a database gives the rows of a statement as one text, the text has all pairs, with commas.
 *
 * An update sets p before v and never reads a column that it has set before, so that its right sides see the old row
 * also where a database assigns from left to right.
 *
 * g is NOT NULL and says which CHECK a row keeps. n is 1 or -1, and changes where an update changes the key. Tables
 * have these two only where the load needs them.
 *
 * u is unique, and r refers to it, within a key; in standard SQL it holds k * 100 + u, unique by itself.
 *
 * Which indexes the tables have is drawn from the seed. Threads: any; pure functions that add text to a buffer, except
 * for rig_sql_random_compare().
 */
#ifndef RIG_DRIVERS_SQL_RANDOM_SQL_H
#define RIG_DRIVERS_SQL_RANDOM_SQL_H

#include "base/buf.h"
#include "drivers/sql/sql_run.h"

enum rig_sql_random_dialect {
    RIG_SQL_RANDOM_POSTGRES,
    RIG_SQL_RANDOM_SQLITE,
    RIG_SQL_RANDOM_MYSQL,
    RIG_SQL_RANDOM_STANDARD, /* what standard SQL has */
    RIG_SQL_RANDOM_PERCENT,  /* the same, with x % 10 in the place of MOD(x, 10) */
};

static inline bool rig_sql_random_is_standard(enum rig_sql_random_dialect dialect)
{
    return dialect == RIG_SQL_RANDOM_STANDARD || dialect == RIG_SQL_RANDOM_PERCENT;
}
/* A sum of enum rig_row_words (history/types/row_clauses.h). */
unsigned rig_sql_random_words(enum rig_sql_random_dialect dialect);
/* Whether CREATE TABLE has the foreign key: SQLite takes it there only. */
bool rig_sql_random_has_key_in_table(enum rig_sql_random_dialect dialect);

/* The columns of a table, for CREATE TABLE. `clauses`: of struct rig_run_env; standard SQL has neither CHECKs nor keys
 * that change. */
const char *rig_sql_random_columns(enum rig_sql_random_dialect dialect, uint32_t clauses);
/* CREATE INDEX for each index of table `number`, with a semicolon and a space behind each. `name`: of the table.
 * `plain`: the start of the names of indexes where they need names. */
void rig_sql_random_indexes(enum rig_sql_random_dialect dialect, uint64_t seed, uint32_t number, const char *name,
                            const char *plain, struct rig_buf *sql);

/*
 * The statements of operation `op`, without semicolons; 0: it has none of its own. MySQL runs an update in three, a
 * delete in four: the first one clears a variable, the last one reads it. Standard SQL runs an update in two: the
 * second one selects the rows by the version that the first one wrote. A delete writes such a version first, and
 * removes its rows in the third.
 */
enum { RIG_SQL_RANDOM_PARTS = 4 };
uint32_t rig_sql_random_parts(enum rig_sql_random_dialect dialect, const struct rig_transaction *transaction,
                              uint32_t op);
struct rig_sql_random_tables {
    const char *own, *other; /* of the operation's key, and of rig_sql_random_other_key() */
};
void rig_sql_random_print(enum rig_sql_random_dialect dialect, const struct rig_sql_random_tables *tables,
                          const struct rig_transaction *transaction, uint32_t op, uint32_t part, struct rig_buf *sql);

/* The key of the other table that the statement at `op` reads or writes; the operation's own, where there is none. */
int64_t rig_sql_random_other_key(const struct rig_transaction *transaction, uint32_t op);
/* The further read of the statement whose own read is at `op` (history/types/row_ops.h); UINT32_MAX: none. */
uint32_t rig_sql_random_further(const struct rig_transaction *transaction, uint32_t op);
/* Gives further reads their part of the answers: statements that have one answer with pairs of both reads, and those of
 * the further one have negative ids. */
void rig_sql_random_split(struct rig_transaction *transaction);

/* Whether operation `op` reads with a lock on its rows. */
bool rig_sql_random_locks(const struct rig_transaction *transaction, uint32_t op);

/* Any condition of the grammar. */
uint64_t rig_sql_random_tests(struct rig_rng *rng);

/*
 * Before the load: makes rows in the table, asks a few hundred conditions and changes the rows, and compares the
 * answers with rig's; where the table has its foreign key, inserts rows that the constraints forbid. Leaves the table
 * empty. RIG_E_CLUSTER: the database could not be asked, a condition or an assignment has another result there, or it
 * takes such a row; the message has the statement.
 */
enum rig_rc rig_sql_random_compare(enum rig_sql_random_dialect dialect, struct rig_sql_own *own, const char *table,
                                   struct rig_err *err);

enum { RIG_SQL_RANDOM_TABLE_BYTES = 256 };

/* The same in the first of `count` empty tables, and then the indexes of all. */
enum rig_rc rig_sql_random_prepare(enum rig_sql_random_dialect dialect, struct rig_sql_own *own, uint32_t count,
                                   void (*name_table)(const struct rig_sql_own *own, uint32_t table,
                                                      char name[static RIG_SQL_RANDOM_TABLE_BYTES]),
                                   struct rig_err *err);

#endif
