/*
 * A dialect of SQL as a YAML file (docs/sql-dialects.md): types, statements, transactions, isolation levels, the
 * meaning of errors, and what the database lacks, each with its reason.
 *
 * Memory: an arena of its own, at most a few times the size of the file. Constant once it is read; any thread.
 */
#ifndef RIG_DRIVERS_SQL_DIALECT_FILE_H
#define RIG_DRIVERS_SQL_DIALECT_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "drivers/sql/sql_outcome.h"

/*
 * Statements that a dialect may give in its own words, by the key that names them. `{table}` is the table; other names
 * in braces are values. X(identifier, key, standard SQL)
 *
 * A list or set is a text of ",7,12": each element after a comma. {element} is ",7" as a text. A statement that is
 * followed by an insertion in this table is run first, and the insertion where it changed no row.
 */
#define RIG_SQL_DIALECT_STATEMENTS(X)                                                                                  \
    X(READ, "read", "SELECT v FROM {table} WHERE k = {key}")                                                           \
    X(READ_LOCKED, "read-locked", "SELECT v FROM {table} WHERE k = {key} {lock}")                                      \
    X(APPEND, "append", "UPDATE {table} SET v = v || {element} WHERE k = {key}")                                       \
    X(APPEND_FIRST, "append-first", "INSERT INTO {table} (k, v) VALUES ({key}, {element})")                            \
    X(WRITE, "write", "UPDATE {table} SET v = {value} WHERE k = {key}")                                                \
    X(WRITE_FIRST, "write-first", "INSERT INTO {table} (k, v) VALUES ({key}, {value})")                                \
    X(ADD, "add", "UPDATE {table} SET v = v + {value} WHERE k = {key}")                                                \
    X(COMPARE, "compare", "UPDATE {table} SET v = {value}, n = n + 1 WHERE k = {key} AND v = {expected}")              \
    X(ACQUIRE, "acquire", "UPDATE {table} SET v = {value} WHERE k = {key} AND v = 0")                                  \
    X(RELEASE, "release", "UPDATE {table} SET v = 0 WHERE k = {key} AND v = {value}")                                  \
    X(EXTEND, "extend", "UPDATE {table} SET v = v * 10 + {value} WHERE k = {key} AND v < {full}")                      \
    X(LOOK, "look", "SELECT v, n FROM {table} WHERE k = {key}")                                                        \
    X(TAKE, "take", "UPDATE {table} SET v = {rest}, n = n + 1 WHERE k = {key} AND n = {seen}")                         \
    X(PUSH, "push", "UPDATE {table} SET v = v || {element}, n = n + 1 WHERE k = {key}")                                \
    X(PUSH_FIRST, "push-first", "INSERT INTO {table} (k, v, n) VALUES ({key}, {element}, 0)")                          \
    X(LIST_BY_ID, "list-by-id", "SELECT id, v FROM {table} WHERE k = {key} AND id BETWEEN {low} AND {high}")           \
    X(LIST_BY_CLASS, "list-by-class", "SELECT id, v FROM {table} WHERE k = {key} AND c BETWEEN {low} AND {high}")      \
    X(COUNT_BY_ID, "count-by-id",                                                                                      \
      "SELECT COUNT(*), COALESCE(SUM(v), 0) FROM {table} WHERE k = {key} AND id BETWEEN {low} AND {high}")             \
    X(COUNT_BY_CLASS, "count-by-class",                                                                                \
      "SELECT COUNT(*), COALESCE(SUM(v), 0) FROM {table} WHERE k = {key} AND c BETWEEN {low} AND {high}")              \
    X(CHANGE_BY_ID, "change-by-id",                                                                                    \
      "UPDATE {table} SET p = v, v = {number}, c = {class} WHERE k = {key} AND id BETWEEN {low} AND {high}")           \
    X(CHANGE_BY_CLASS, "change-by-class",                                                                              \
      "UPDATE {table} SET p = v, v = {number}, c = {class} WHERE k = {key} AND c BETWEEN {low} AND {high}")            \
    X(CHANGED, "changed", "SELECT id, p FROM {table} WHERE k = {key} AND v = {number}")                                \
    X(MARK_BY_ID, "mark-by-id", "UPDATE {table} SET p = {number} WHERE k = {key} AND id BETWEEN {low} AND {high}")     \
    X(MARK_BY_CLASS, "mark-by-class",                                                                                  \
      "UPDATE {table} SET p = {number} WHERE k = {key} AND c BETWEEN {low} AND {high}")                                \
    X(MARKED, "marked", "SELECT id, v FROM {table} WHERE k = {key} AND p = {number}")                                  \
    X(REMOVE, "remove", "DELETE FROM {table} WHERE k = {key} AND p = {number}")                                        \
    X(INSERT_ROW, "insert-row", "INSERT INTO {table} (k, id, v, c) VALUES ({key}, {value}, {value}, {class})")

enum rig_sql_dialect_statement {
#define RIG_SQL_DIALECT_ENUM(name, key, text) RIG_SQL_SAYS_##name,
    RIG_SQL_DIALECT_STATEMENTS(RIG_SQL_DIALECT_ENUM)
#undef RIG_SQL_DIALECT_ENUM
        RIG_SQL_DIALECT_STATEMENT_COUNT
};

/* Features that a dialect may lack. X(identifier, key) */
#define RIG_SQL_DIALECT_LACKS(X)                                                                                       \
    X(SAVEPOINTS, "savepoints")                                                                                        \
    X(LOCKING_READS, "locking-reads")                                                                                  \
    X(PREDICATES, "predicates")                                                                                        \
    X(PROGRAMS, "programs")

enum rig_sql_dialect_lack {
#define RIG_SQL_DIALECT_LACK_ENUM(name, key) RIG_SQL_LACKS_##name,
    RIG_SQL_DIALECT_LACKS(RIG_SQL_DIALECT_LACK_ENUM)
#undef RIG_SQL_DIALECT_LACK_ENUM
        RIG_SQL_DIALECT_LACK_COUNT
};

enum { RIG_SQL_LEVELS_MOST = 8, RIG_SQL_RULES_MOST = 64, RIG_SQL_RULE_BYTES = 6 };

/* A rule for errors: all that is given must fit. */
struct rig_sql_rule {
    const char *state; /* the first characters of the SQLSTATE; NULL: any */
    const char *text;  /* a part of the error's text; NULL: any */
    const char *name;  /* the error's code in reports; NULL: the SQLSTATE, or the code */
    int64_t code;      /* the native code; 0: any */
};

struct rig_sql_dialect_level {
    const char *name;  /* in plans */
    const char *is;    /* in the database's statement, or by the library's call */
    const char *shows; /* the answer to `level-query` */
};

struct rig_sql_dialect_file {
    struct rig_arena arena;
    const char *name, *product, *summary;
    bool by_text; /* BEGIN, COMMIT and ROLLBACK are statements; else the program's library commits */
    const char *begin, *begin_read_only, *commit, *rollback; /* `{level}` is the level's `is` */
    bool literal;                                            /* values are written into the statements */
    const char *integer, *text;                              /* the types */
    const char *lock;                                        /* after a read that locks; NULL: none */
    const char *limit;                                       /* `{n}` is the number of rows */
    unsigned quote;              /* of columns of programs: 0 none, 1 in lower case, 2 in upper case */
    int64_t longest_name;        /* characters of a table's name */
    bool percent;                /* remainders are x % y; else MOD(x, y) */
    bool multiple_rows;          /* INSERT ... VALUES takes several rows */
    bool level_by_call;          /* the program sets the level */
    bool level_by_begin;         /* `begin` has the level, so that the query gives it within a transaction alone */
    const char *level_statement; /* once a session; NULL: none */
    const char *level_query;     /* the level in force; NULL: none */
    const char *version_query;   /* NULL: the program tells it */
    const char *session_setup;   /* statement at the start of each session; NULL: none */
    const char *savepoint, *return_to;
    struct rig_sql_dialect_shell {
        const char *run; /* NULL: the dialect names no shell */
        const char *server, *setup, *begin, *mark;
    } shell; /* texts of struct rig_row_shell, lines separated by "; "; `begin` has `{level}`; NULL: as transactions begin */
    struct rig_sql_dialect_level levels[RIG_SQL_LEVELS_MOST];
    uint32_t level_count, default_level;
    const char *statements[RIG_SQL_DIALECT_STATEMENT_COUNT];
    const char *lacks[RIG_SQL_DIALECT_LACK_COUNT]; /* the reason; NULL: it has it */
    struct rig_sql_rule rules[RIG_SQL_RULES_MOST];
    uint32_t rule_count;
    struct rig_sql_outcomes
        outcomes; /* the rows of rule i have the SQLSTATE that rig_sql_rule_mark() gives; then rig's own */
};

/* An error of the database. */
struct rig_sql_fault {
    const char *state; /* "": none */
    int64_t code;      /* 0: none */
    const char *text;
};

/* `name`: of a shipped or installed dialect, or a path. RIG_E_PLAN, with the place in the file. */
enum rig_rc rig_sql_dialect_load(const char *name, struct rig_sql_dialect_file **dialect, struct rig_err *err);
/* Takes NULL. */
void rig_sql_dialect_free(struct rig_sql_dialect_file *dialect);
/* The level of a plan's `isolation`; NULL or empty: the dialect's default. A level whose `is` is empty is the one that
 * a session has when nothing is set. RIG_E_PLAN, with the names. */
enum rig_rc rig_sql_dialect_find_level(const struct rig_sql_dialect_file *dialect, const char *name,
                                       const struct rig_sql_dialect_level **level, struct rig_err *err);
/* The first rule that fits; NULL: none does. */
const struct rig_sql_rule *rig_sql_dialect_find_rule(const struct rig_sql_dialect_file *dialect,
                                                     const struct rig_sql_fault *fault);
/* The rule's own mark, which stands in the place of a SQLSTATE, so that its rows are found. */
void rig_sql_rule_mark(const struct rig_sql_dialect_file *dialect, const struct rig_sql_rule *rule,
                       char mark[static RIG_SQL_RULE_BYTES]);
/* Adds `text` with each `{level}` and `{shows}` replaced. */
void rig_sql_dialect_add_level(const char *text, const struct rig_sql_dialect_level *level, struct rig_buf *sql);

#endif
