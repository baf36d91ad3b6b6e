#include "generator/programs/program_questions.h"

#include <stdlib.h>

#include "base/bug.h"

struct program_stream {
    struct rig_question_stream stream; /* first */
    struct rig_program_call call;
    const struct rig_program_questions *of;
    uint32_t phase;
    uint64_t *positions; /* in each phase */
};

/* Most transactions have more statements than this. */
enum { HOLD_AFTER_MOST = 6 };

/* The place is the call's: the operations before it are known only then. */
static struct rig_hold draw_hold(struct program_stream *stream)
{
    const struct rig_generator_options *options = stream->of->phases[stream->phase];
    struct rig_program_call *call = &stream->call;
    if (options->long_share <= 0 || rig_rng_unit(&call->rng) >= options->long_share)
        return (struct rig_hold){0};
    call->hold.due = true;
    call->hold.place = options->long_before;
    call->hold.after = (uint32_t)rig_program_draw(call, 1, HOLD_AFTER_MOST);
    return (struct rig_hold){
        .wanted = true, .duration_ns = options->long_duration_ns, .other_commits = (uint64_t)options->long_commits};
}

static uint64_t behind(const struct rig_question_stream *stream, uint32_t phase)
{
    return ((const struct program_stream *)stream)->positions[phase];
}

static uint64_t position(const struct rig_question_stream *stream)
{
    const uint32_t phase = ((const struct program_stream *)stream)->phase;
    return rig_phase_position(phase, behind(stream, phase));
}

static void next(struct rig_question_stream *object, struct rig_transaction *transaction)
{
    struct program_stream *stream = (struct program_stream *)object;
    rig_program_call_ask(&stream->call, stream->of->seed, position(object));
    stream->positions[stream->phase]++;
    transaction->ops = NULL;
    transaction->op_count = 0;
    transaction->read_only = stream->call.kind->read_only;
    transaction->hold = draw_hold(stream);
    transaction->rollback = (struct rig_rollback){0};
    transaction->rolls_back = false;
}

static uint64_t left(const struct rig_question_stream *stream)
{
    (void)stream;
    return RIG_QUESTIONS_ENDLESS;
}

/* Rows are not numbered from 0. */
static int64_t key_bound(const struct rig_question_stream *stream)
{
    (void)stream;
    return 0;
}

static void skip_to(struct rig_question_stream *object, uint64_t to)
{
    struct program_stream *stream = (struct program_stream *)object;
    if (to > position(object) && rig_position_phase(to) == stream->phase)
        stream->positions[stream->phase] = rig_position_in_phase(to);
}

static void enter(struct rig_question_stream *object, uint32_t phase)
{
    struct program_stream *stream = (struct program_stream *)object;
    RIG_REQUIRE(phase > stream->phase && phase < stream->of->questions.phase_count);
    stream->phase = phase;
    stream->call.locking = stream->of->phases[phase]->locking;
}

static void free_stream(struct rig_question_stream *object)
{
    struct program_stream *stream = (struct program_stream *)object;
    rig_program_call_done(&stream->call);
    free(stream->positions);
    free(stream);
}

static const struct rig_question_stream_ops stream_ops = {
    .next = next,
    .left = left,
    .position = position,
    .key_bound = key_bound,
    .skip_to = skip_to,
    .enter = enter,
    .behind = behind,
    .free = free_stream,
};

static enum rig_rc open_stream(const struct rig_questions *object, uint32_t client, uint32_t client_count,
                               struct rig_question_stream **stream, struct rig_err *err)
{
    const struct rig_program_questions *questions = (const struct rig_program_questions *)object;
    struct program_stream *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the program of client %u", client);
    made->stream.ops = &stream_ops;
    made->of = questions;
    made->positions = calloc(questions->questions.phase_count, sizeof *made->positions);
    enum rig_rc rc = rig_program_call_init(&made->call, questions->phases[0], client, client_count, err);
    if (rc == RIG_OK && made->positions == NULL)
        rc = rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the program of client %u", client);
    if (rc == RIG_OK)
        *stream = &made->stream;
    else
        free_stream(&made->stream);
    return rc;
}

void rig_program_questions_init(struct rig_program_questions *questions,
                                const struct rig_generator_options *const *phases, uint32_t phase_count, uint64_t seed)
{
    RIG_REQUIRE(phase_count > 0);
    *questions = (struct rig_program_questions){
        .questions = {.most_operations = 1, .phase_count = phase_count, .open = open_stream},
        .phases = phases,
        .seed = seed};
}

struct rig_program_call *rig_program_stream_call(struct rig_question_stream *stream)
{
    return &((struct program_stream *)stream)->call;
}
