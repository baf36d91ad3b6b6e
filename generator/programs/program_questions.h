/*
 * A program as the source of a run's questions (generator/question_stream.h): each question is a call of the program,
 * and its transaction has no operations before it ran.
 *
 * Phases have the same program and sizes. They may differ in how a program locks and is held.
 */
#ifndef RIG_GENERATOR_PROGRAMS_PROGRAM_QUESTIONS_H
#define RIG_GENERATOR_PROGRAMS_PROGRAM_QUESTIONS_H

#include "generator/question_stream.h"
#include "generator/programs/program_call.h"

struct rig_program_questions {
    struct rig_questions questions; /* first */
    const struct rig_generator_options *const *phases;
    uint64_t seed;
};

/* Borrows the options of the phases, at least one. */
void rig_program_questions_init(struct rig_program_questions *questions,
                                const struct rig_generator_options *const *phases, uint32_t phase_count, uint64_t seed);
/* The call that a stream of such a source asked last. */
struct rig_program_call *rig_program_stream_call(struct rig_question_stream *stream);

#endif
