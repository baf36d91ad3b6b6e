/*
 * The proof that rig writes of its verdict, replayed by rig-verify's code in the same process: the place where the two
 * programs meet in tests.
 */
#ifndef RIG_TESTS_PROOF_REPLAY_PROOF_H
#define RIG_TESTS_PROOF_REPLAY_PROOF_H

#include "checker/judge/check.h"

struct replayed {
    char problem[1200]; /* empty, or what is wrong: a claim is refused, or the proof and the verdict differ */
    uint64_t decided;   /* levels that the verdict decides: bits of enum rig_level */
    uint64_t open;      /* those of `decided` that the proof leaves open */
    char why_open[200]; /* the reason that the proof gives for one of these */
};

/* `verdict`: of rig_check() on the whole history with these options. */
void replay_proof(const struct rig_history *history, const struct rig_verdict *verdict,
                  const struct rig_check_options *options, struct replayed *replayed);

/* The same from the text of a history; it is checked, too. False: it is no history that rig checks. */
bool check_and_replay(const char *text, size_t size, enum rig_workload workload,
                      const struct rig_check_options *options, struct replayed *replayed);

#endif
