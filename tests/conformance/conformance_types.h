/*
 * The contract of the data types besides lists, for drivers that run them; others skip.
 */
#ifndef RIG_TESTS_CONFORMANCE_CONFORMANCE_TYPES_H
#define RIG_TESTS_CONFORMANCE_CONFORMANCE_TYPES_H

void registers_hold_the_last_value(void **state);
void compared_registers_change_only_as_expected(void **state);
void locks_have_one_holder(void **state);
void queues_give_the_first_value(void **state);
void stacks_give_the_last_value(void **state);
void sets_hold_their_elements(void **state);
void counters_hold_sums(void **state);
void accounts_are_open_and_not_overdrawn(void **state);

#endif
