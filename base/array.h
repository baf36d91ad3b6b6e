/*
 * Members of a constant that are an array and its length.
 */
#ifndef RIG_BASE_ARRAY_H
#define RIG_BASE_ARRAY_H

#include <stddef.h>

/* Initialises both, such as `tables` and `table_count`. */
#define RIG_ARRAY(member, count_member, array) .member = (array), .count_member = sizeof(array) / sizeof(array)[0]

#endif
