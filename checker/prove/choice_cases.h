/*
 * Whether cases leave no combination of choices: each read shows one of its choices, and each case says that some
 * choices do not go together.
 *
 * A search with the choices that are left: a read without any refutes the choices that took them from it, together,
 * which is a further case (nogood recording; Dechter 1990). It ends because each such case is new. Beyond a limit of
 * steps the answer is unknown. Space: 16 bytes a choice and a member of a case. Threads: one.
 */
#ifndef RIG_CHECKER_PROVE_CHOICE_CASES_H
#define RIG_CHECKER_PROVE_CHOICE_CASES_H

#include <stdint.h>

#include "base/vec.h"

RIG_VEC(uint32_t, rig_case_numbers)

/* Choices are numbered by reads: read r has those from first.at[r] to first.at[r + 1]. */
struct rig_choice_cases {
    struct rig_case_numbers first;   /* per read, and one more */
    struct rig_case_numbers members; /* choices, each once in a case */
    struct rig_case_numbers ends;    /* per case: into `members` */
};

enum rig_cases_left { RIG_CASES_LEFT_NONE, RIG_CASES_LEFT_SOME, RIG_CASES_LEFT_UNKNOWN };

void rig_choice_cases_done(struct rig_choice_cases *cases);

/* SOME: a combination is left. UNKNOWN: the limit was reached, or memory ran out. Adds further cases that follow. */
enum rig_cases_left rig_choice_cases_left(struct rig_choice_cases *cases);

#endif
