/*
 * The generator (generator/generator.h) as the source of a run's questions.
 */
#ifndef RIG_GENERATOR_GENERATED_QUESTIONS_H
#define RIG_GENERATOR_GENERATED_QUESTIONS_H

#include "generator/generator.h"
#include "generator/question_stream.h"

struct rig_generated_questions {
    struct rig_questions questions; /* first */
    const struct rig_generator_options *options;
    uint64_t seed;
};

/* Borrows the options as long as streams are opened. */
void rig_generated_questions_init(struct rig_generated_questions *generated,
                                  const struct rig_generator_options *options, uint64_t seed);

#endif
