/*
 * The generator (generator/generator.h) as the source of a run's questions: a generator for each phase of a client.
 *
 * A phase uses keys of its own, so that what it asks does not depend on how far the phases before it came: with P
 * phases key k of phase p is k * P + p. The keys of the shape `general` stay, so all phases of that shape use the same
 * ones.
 */
#ifndef RIG_GENERATOR_GENERATED_QUESTIONS_H
#define RIG_GENERATOR_GENERATED_QUESTIONS_H

#include "generator/generator.h"
#include "generator/load_schedule.h"
#include "generator/question_stream.h"

struct rig_generated_questions {
    struct rig_questions questions; /* first */
    const struct rig_generator_options *const *phases;
    const uint32_t *client_counts; /* by phase; the first ones issue its transactions */
    uint32_t phase_count;
    uint64_t seed;
};

/* Borrows both arrays and the options as long as streams are opened. */
void rig_generated_questions_init(struct rig_generated_questions *generated,
                                  const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                                  uint32_t phase_count, uint64_t seed);

#endif
