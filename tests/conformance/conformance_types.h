/*
 * The contract of the data types besides lists, for drivers that run them; others skip. The table of cases is in
 * conformance.c.
 */
#ifndef RIG_TESTS_CONFORMANCE_CONFORMANCE_TYPES_H
#define RIG_TESTS_CONFORMANCE_CONFORMANCE_TYPES_H

/* For each type that consists of writes and reads of registers; *state is its `enum rig_workload`. */
void registers_hold_the_last_value(void **state);
void compared_registers_change_only_as_expected(void **state);
void strings_grow_until_they_are_full(void **state);
void locks_have_one_holder(void **state);
void locks_have_owners_and_permits(void **state);
void calls_have_the_results_of_the_model(void **state);
void queues_give_the_first_value(void **state);
void stacks_give_the_last_value(void **state);
void sets_hold_their_elements(void **state);
void keys_have_rows_before_the_load(void **state);
void counters_hold_sums(void **state);
void accounts_are_open_and_not_overdrawn(void **state);
void logs_give_their_records_once(void **state);
void conditions_find_their_rows(void **state);
void columns_hold_what_was_assigned(void **state);

#endif
