#include "generator/generated_questions.h"

#include <stdlib.h>

#include "generator/key_schedule.h"

struct generated_stream {
    struct rig_question_stream stream; /* first */
    struct rig_generator *generator;
};

static struct rig_generator *generator_of(const struct rig_question_stream *stream)
{
    return ((const struct generated_stream *)stream)->generator;
}

static void next(struct rig_question_stream *stream, struct rig_transaction *transaction)
{
    rig_generator_next(generator_of(stream), transaction);
}

static uint64_t left(const struct rig_question_stream *stream)
{
    (void)stream;
    return RIG_QUESTIONS_ENDLESS;
}

static uint64_t position(const struct rig_question_stream *stream)
{
    return rig_generator_position(generator_of(stream));
}

static int64_t key_bound(const struct rig_question_stream *stream)
{
    return rig_generator_key_bound(generator_of(stream));
}

static void skip_to(struct rig_question_stream *stream, uint64_t to)
{
    rig_generator_skip_to(generator_of(stream), to);
}

static void free_stream(struct rig_question_stream *stream)
{
    rig_generator_free(generator_of(stream));
    free(stream);
}

static const struct rig_question_stream_ops generated_ops = {
    .next = next,
    .left = left,
    .position = position,
    .key_bound = key_bound,
    .skip_to = skip_to,
    .free = free_stream,
};

static const struct rig_generated_questions *generated_of(const struct rig_questions *questions)
{
    return (const struct rig_generated_questions *)questions;
}

static enum rig_rc open_stream(const struct rig_questions *questions, uint32_t client, uint32_t client_count,
                               struct rig_question_stream **stream, struct rig_err *err)
{
    const struct rig_generated_questions *generated = generated_of(questions);
    struct generated_stream *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the generator of client %u", client);
    made->stream.ops = &generated_ops;
    enum rig_rc rc =
        rig_generator_new(generated->options, generated->seed, client, client_count, &made->generator, err);
    if (rc == RIG_OK)
        *stream = &made->stream;
    else
        free(made);
    return rc;
}

static enum rig_rc make_key_schedule(const struct rig_questions *questions, uint32_t client_count,
                                     struct rig_key_schedule *schedule, struct rig_err *err)
{
    const struct rig_generated_questions *generated = generated_of(questions);
    return rig_key_schedule_init(schedule, generated->options, generated->seed, client_count, err);
}

void rig_generated_questions_init(struct rig_generated_questions *generated,
                                  const struct rig_generator_options *options, uint64_t seed)
{
    *generated = (struct rig_generated_questions){
        .questions = {.most_operations = rig_generator_most_operations(options),
                      .open = open_stream,
                      .key_schedule = make_key_schedule},
        .options = options,
        .seed = seed,
    };
}
