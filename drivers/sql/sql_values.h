/*
 * Values as SQL databases print them: bigint, lists as text ("1,2,3") and PostgreSQL's lists as bigint[] ("{1,2,3}").
 *
 * One pass to count, one to parse: O(length), no allocation. Values that a driver cannot have written (an empty
 * text, NULL elements, numbers beyond 64 bits, spaces) are rejected as malformed.
 */
#ifndef RIG_DRIVERS_SQL_SQL_VALUES_H
#define RIG_DRIVERS_SQL_SQL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stored form of a list or set. Rows are read as text, too. */
enum rig_sql_list_form { RIG_SQL_LIST_TEXT, RIG_SQL_LIST_ARRAY, RIG_SQL_LIST_ROWS };

/* Characters of the longest bigint with its NUL. */
enum { RIG_SQL_INT_BYTES = 21 };

/* The number of elements of a well-formed list; an upper bound when it is malformed. */
size_t rig_sql_list_count(enum rig_sql_list_form form, const char *text, size_t length);
/* Parses exactly rig_sql_list_count() elements into `elements`; false when malformed. */
bool rig_sql_list_parse(enum rig_sql_list_form form, const char *text, size_t length, int64_t *elements);
/* A whole text as one bigint; false when malformed. */
bool rig_sql_int_parse(const char *text, size_t length, int64_t *number);
/* A timestamp of a database: a number that is not negative, whose fraction (as of CockroachDB's
 * cluster_logical_timestamp()) is cut off. Then some of its timestamps are equal, which claims nothing of them. */
bool rig_sql_timestamp_parse(const char *text, size_t length, int64_t *timestamp);
/* Writes the number with its NUL into at least RIG_SQL_INT_BYTES; returns its length. */
size_t rig_sql_int_print(int64_t number, char *text);

#endif
