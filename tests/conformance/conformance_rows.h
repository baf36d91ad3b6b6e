/*
 * The contract of programs over tables (drivers/rows.h), for drivers that have the group `rows`; others skip.
 */
#ifndef RIG_TESTS_CONFORMANCE_CONFORMANCE_ROWS_H
#define RIG_TESTS_CONFORMANCE_CONFORMANCE_ROWS_H

void rows_hold_what_programs_write(void **state);
void programs_that_do_not_commit_leave_nothing(void **state);

#endif
