/*
 * The outline of a proof by cases: which line belongs to which case, and their numbers, for reports.
 *
 * A case contains suppositions, each followed by its own case, and at the end a cycle. The items of a case are numbered
 * from 1; a supposition refuted by one cycle alone is one item, together with this cycle. The last supposition of a
 * case and the cycle after it are the two sides of a choice, "either" and "or"; each earlier one gives a conclusion.
 *
 *     1    suppose          0
 *            cycle          1   closes 0
 *     2    either           2
 *     2.1    either         3
 *              cycle        4   closes 3
 *     2.2    or: cycle      5   closes 2
 *     3    or: cycle        6
 */
#ifndef RIG_CHECKER_EXPLAIN_CASE_OUTLINE_H
#define RIG_CHECKER_EXPLAIN_CASE_OUTLINE_H

#include "base/buf.h"
#include "checker/model/verdict.h"

struct rig_case_place {
    uint32_t within; /* the supposition whose case the line is in, or UINT32_MAX */
    uint32_t depth;  /* how many cases it is in */
    uint32_t number; /* in its case; 0: a cycle that is all of its case */
    uint32_t other;  /* suppose: the line that closes its case; cycle: the supposition whose case it closes */
    uint32_t choice; /* suppose: of an "either" the "or"; cycle: of an "or" the "either"; else UINT32_MAX */
};

/* One place a line, from the heap; NULL when memory runs out. The lines must nest properly. */
struct rig_case_place *rig_case_outline(const struct rig_cases *cases);

/* "2.1"; of a cycle that is all of its case, the number of that case. */
void rig_case_number(const struct rig_case_place *places, uint32_t line, struct rig_buf *text);

/* "2.1. Either T3's write of key 1 comes before T5's.": the number and the sentence above a cycle; nothing where the
 * proof has no cases. */
void rig_case_heading(const struct rig_cases *cases, const struct rig_case_place *places, uint32_t line,
                      struct rig_buf *text);

/* The cycle of a line as a witness by itself, whose steps are the proof's; its `txns` are from the heap. False when
 * memory runs out. */
bool rig_case_cycle(const struct rig_witness *witness, uint32_t line, struct rig_witness *cycle);

#endif
