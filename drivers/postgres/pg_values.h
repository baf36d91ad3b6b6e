/*
 * Values as PostgreSQL prints them: bigint, lists as text ("1,2,3") and lists as bigint[] ("{1,2,3}").
 *
 * One pass to count, one to parse: O(length), no allocation. Values that this driver cannot have written (an empty
 * text, NULL elements, numbers beyond 64 bits, spaces) are rejected as malformed.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_VALUES_H
#define RIG_DRIVERS_POSTGRES_PG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stored form of a list or set. Rows are read as text, too. */
enum rig_pg_list_form { RIG_PG_LIST_TEXT, RIG_PG_LIST_ARRAY, RIG_PG_LIST_ROWS };

/* Characters of the longest bigint with its NUL. */
enum { RIG_PG_INT_BYTES = 21 };

/* The number of elements of a well-formed list; an upper bound when it is malformed. */
size_t rig_pg_list_count(enum rig_pg_list_form form, const char *text, size_t length);
/* Parses exactly rig_pg_list_count() elements into `elements`; false when malformed. */
bool rig_pg_list_parse(enum rig_pg_list_form form, const char *text, size_t length, int64_t *elements);
/* A whole text as one bigint; false when malformed. */
bool rig_pg_int_parse(const char *text, size_t length, int64_t *number);
/* Writes the number with its NUL into at least RIG_PG_INT_BYTES; returns its length. */
size_t rig_pg_int_print(int64_t number, char *text);

#endif
