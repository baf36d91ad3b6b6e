/*
 * Ambiguous reads (history/model/shared_value.h): which writes each may show, and the history with the choices of a
 * proof in their place.
 *
 * A read without a result, of which the shared value is known, shows a write of that value to its key that was invoked
 * before its transaction completed, or one of its own; or what the key began with. That is the case if the proof
 * assumes it to be this value; or, without an assumption, where no acknowledged read found the key empty, and no write
 * of the value ended before the reader began. Where nothing is left, it shows any write of the value.
 *
 * Time: that of a sort of the writes; an operation for each choice. Space: 24 bytes a write of a shared value, a copy
 * of the operations. Threads: one.
 */
#ifndef RIG_CHECKER_PROVE_CHOICES_H
#define RIG_CHECKER_PROVE_CHOICES_H

#include "base/vec.h"
#include "checker/prove/choice_cases.h"
#include "checker/prove/facts.h"

/* Operations of the history. `write`: RIG_FACT_NONE: the read shows what its key began with. */
struct rig_choice {
    uint32_t read, write;
};

/* A write of a shared value. */
struct rig_shared_write {
    uint32_t key, op, txn;
    int64_t shared;
};

RIG_VEC(struct rig_choice, rig_choice_vec)
RIG_VEC(struct rig_shared_write, rig_shared_writes)

struct rig_choices {
    const struct rig_facts *raw;     /* without choices; borrowed */
    struct rig_history *history;     /* with those that are made */
    struct rig_facts facts;          /* of that history */
    struct rig_shared_writes writes; /* by key, then by value */
    bool *was_empty;                 /* per key: an acknowledged read found no value */
    struct rig_choice_vec made;
};

/* RIG_E_INPUT: values of this type do not repeat. `raw` gets its last assumptions before. Release with
 * rig_choices_done(), also after a failure. */
enum rig_rc rig_choices_init(struct rig_choices *choices, const struct rig_facts *raw, struct rig_err *err);
void rig_choices_done(struct rig_choices *choices);

/* All that the read may show, added to `found`. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_choices_of(const struct rig_choices *choices, uint32_t read, struct rig_choice_vec *found,
                           struct rig_err *err);
/* Gives the read the value of the choice. RIG_E_INPUT: the read is not ambiguous, has a choice, or cannot show it. */
enum rig_rc rig_choices_make(struct rig_choices *choices, struct rig_choice choice, struct rig_err *err);
/* Takes all choices back. */
void rig_choices_clear(struct rig_choices *choices);

/* `refuted`: choices, as rig_choices_make() takes them, of cases that end at `ends`; each case is refuted. RIG_OK: the
 * reads have no other choices. RIG_E_INPUT: they do. RIG_E_LIMIT: it cannot be told (choice_cases.h). */
enum rig_rc rig_choices_refute(const struct rig_choices *choices, const struct rig_choice_vec *refuted,
                               const struct rig_case_numbers *ends, struct rig_err *err);

#endif
