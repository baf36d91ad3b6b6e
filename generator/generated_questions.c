#include "generator/generated_questions.h"

#include <stdlib.h>

#include "base/bug.h"

struct generated_stream {
    struct rig_question_stream stream; /* first */
    struct rig_generator **generators; /* by phase; NULL where this client issues nothing */
    const struct rig_generated_questions *of;
    uint32_t phase;
    struct rig_op *ops; /* with the numbers of the load; NULL with one phase, which has them already */
};

static struct generated_stream *generated_stream_of(const struct rig_question_stream *stream)
{
    return (struct generated_stream *)(uintptr_t)stream;
}

static struct rig_generator *present(const struct rig_question_stream *stream)
{
    const struct generated_stream *generated = generated_stream_of(stream);
    return generated->generators[generated->phase];
}

static void next(struct rig_question_stream *stream, struct rig_transaction *transaction)
{
    const struct generated_stream *generated = generated_stream_of(stream);
    rig_generator_next(present(stream), transaction);
    if (generated->ops == NULL)
        return;
    const struct rig_generated_questions *of = generated->of;
    const struct rig_phase_keys keys = rig_phase_keys_of(of->phases, of->phase_count, generated->phase);
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        generated->ops[i] = transaction->ops[i];
        generated->ops[i].key = transaction->ops[i].key * keys.stride + keys.offset;
    }
    transaction->ops = generated->ops;
}

static uint64_t left(const struct rig_question_stream *stream)
{
    (void)stream;
    return RIG_QUESTIONS_ENDLESS;
}

static uint64_t behind(const struct rig_question_stream *stream, uint32_t phase)
{
    const struct rig_generator *generator = generated_stream_of(stream)->generators[phase];
    return generator == NULL ? 0 : rig_generator_position(generator);
}

static uint64_t position(const struct rig_question_stream *stream)
{
    const uint32_t phase = generated_stream_of(stream)->phase;
    return rig_phase_position(phase, behind(stream, phase));
}

static int64_t key_bound(const struct rig_question_stream *stream)
{
    const struct generated_stream *generated = generated_stream_of(stream);
    int64_t bound = 0;
    for (uint32_t i = 0; i <= generated->phase; i++) {
        const int64_t own = generated->generators[i] == NULL ? 0 : rig_generator_key_bound(generated->generators[i]);
        bound = own * generated->of->phase_count > bound ? own * generated->of->phase_count : bound;
    }
    return bound;
}

static bool used(const struct rig_question_stream *stream, int64_t key)
{
    const struct generated_stream *generated = generated_stream_of(stream);
    const struct rig_generated_questions *of = generated->of;
    for (uint32_t i = 0; i <= generated->phase; i++) {
        const struct rig_phase_keys keys = rig_phase_keys_of(of->phases, of->phase_count, i);
        if (key % keys.stride == keys.offset && behind(stream, i) > 0 &&
            key / keys.stride < rig_generator_key_bound(generated->generators[i]))
            return true;
    }
    return false;
}

static void skip_to(struct rig_question_stream *stream, uint64_t to)
{
    if (rig_position_phase(to) == generated_stream_of(stream)->phase && present(stream) != NULL)
        rig_generator_skip_to(present(stream), rig_position_in_phase(to));
}

static void enter(struct rig_question_stream *stream, uint32_t phase)
{
    struct generated_stream *generated = generated_stream_of(stream);
    RIG_REQUIRE(phase > generated->phase && phase < generated->of->phase_count);
    generated->phase = phase;
}

static void free_stream(struct rig_question_stream *stream)
{
    struct generated_stream *generated = generated_stream_of(stream);
    for (uint32_t i = 0; i < generated->of->phase_count && generated->generators != NULL; i++)
        rig_generator_free(generated->generators[i]);
    free(generated->generators);
    free(generated->ops);
    free(generated);
}

static const struct rig_question_stream_ops generated_ops = {
    .next = next,
    .left = left,
    .position = position,
    .key_bound = key_bound,
    .skip_to = skip_to,
    .enter = enter,
    .behind = behind,
    .used = used,
    .free = free_stream,
};

static const struct rig_generated_questions *generated_of(const struct rig_questions *questions)
{
    return (const struct rig_generated_questions *)questions;
}

/* Phases of the shape `general` write the same keys: with n of them each has every n-th value. */
static struct rig_load_turn turn_of(const struct rig_generated_questions *generated, uint32_t phase,
                                    uint32_t client_count)
{
    struct rig_load_turn turn = {.phase = phase, .writers = client_count};
    for (uint32_t i = 0; generated->phases[phase]->shape == RIG_LOAD_GENERAL && i < generated->phase_count; i++) {
        const bool is_shared = generated->phases[i]->shape == RIG_LOAD_GENERAL;
        turn.count += is_shared;
        turn.number += is_shared && i < phase;
    }
    return turn;
}

static enum rig_rc make_generators(struct generated_stream *made, uint32_t client, uint32_t client_count, uint64_t seed,
                                   struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < made->of->phase_count && rc == RIG_OK; i++) {
        struct rig_generator_options options = *made->of->phases[i];
        options.turn = turn_of(made->of, i, client_count);
        if (client < made->of->client_counts[i])
            rc = rig_generator_new(&options, seed, client, made->of->client_counts[i], &made->generators[i], err);
    }
    return rc;
}

static enum rig_rc open_stream(const struct rig_questions *questions, uint32_t client, uint32_t client_count,
                               struct rig_question_stream **stream, struct rig_err *err)
{
    const struct rig_generated_questions *generated = generated_of(questions);
    struct generated_stream *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the generator of client %u", client);
    made->stream.ops = &generated_ops;
    made->of = generated;
    made->generators = calloc(generated->phase_count, sizeof *made->generators);
    made->ops = generated->phase_count == 1 ? NULL : calloc(questions->most_operations, sizeof *made->ops);
    enum rig_rc rc = RIG_OK;
    if (made->generators == NULL || (made->ops == NULL && generated->phase_count > 1))
        rc = rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the generator of client %u", client);
    if (rc == RIG_OK)
        rc = make_generators(made, client, client_count, generated->seed, err);
    if (rc == RIG_OK)
        *stream = &made->stream;
    else
        free_stream(&made->stream);
    return rc;
}

static enum rig_rc make_schedule(const struct rig_questions *questions, uint32_t client_count,
                                 struct rig_load_schedule *schedule, struct rig_err *err)
{
    const struct rig_generated_questions *generated = generated_of(questions);
    (void)client_count;
    return rig_load_schedule_init(schedule, generated->phases, generated->client_counts, generated->phase_count,
                                  generated->seed, err);
}

void rig_generated_questions_init(struct rig_generated_questions *generated,
                                  const struct rig_generator_options *const *phases, const uint32_t *client_counts,
                                  uint32_t phase_count, uint64_t seed)
{
    RIG_REQUIRE(phase_count > 0);
    *generated = (struct rig_generated_questions){
        .questions = {.phase_count = phase_count, .open = open_stream, .key_schedule = make_schedule},
        .phases = phases,
        .client_counts = client_counts,
        .phase_count = phase_count,
        .seed = seed,
    };
    for (uint32_t i = 0; i < phase_count; i++) {
        const uint32_t most = rig_generator_most_operations(phases[i]);
        if (most > generated->questions.most_operations)
            generated->questions.most_operations = most;
    }
}
