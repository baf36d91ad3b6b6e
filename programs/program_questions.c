#include "programs/program_questions.h"

#include <stdlib.h>

struct program_stream {
    struct rig_question_stream stream; /* first */
    struct rig_program_call call;
    uint64_t seed;
    uint64_t position;
    const struct rig_generator_options *options;
};

/* Most transactions have more statements than this. */
enum { HOLD_AFTER_MOST = 6 };

/* The place is the call's: the operations before it are known only then. */
static struct rig_hold draw_hold(struct program_stream *stream)
{
    const struct rig_generator_options *options = stream->options;
    struct rig_program_call *call = &stream->call;
    if (options->long_share <= 0 || rig_rng_unit(&call->rng) >= options->long_share)
        return (struct rig_hold){0};
    call->hold.due = true;
    call->hold.place = options->long_before;
    call->hold.after = (uint32_t)rig_program_draw(call, 1, HOLD_AFTER_MOST);
    return (struct rig_hold){
        .wanted = true, .duration_ns = options->long_duration_ns, .other_commits = (uint64_t)options->long_commits};
}

static void next(struct rig_question_stream *object, struct rig_transaction *transaction)
{
    struct program_stream *stream = (struct program_stream *)object;
    rig_program_call_ask(&stream->call, stream->seed, stream->position++);
    transaction->ops = NULL;
    transaction->op_count = 0;
    transaction->read_only = stream->call.kind->read_only;
    transaction->hold = draw_hold(stream);
    transaction->rollback = (struct rig_rollback){0};
}

static uint64_t left(const struct rig_question_stream *stream)
{
    (void)stream;
    return RIG_QUESTIONS_ENDLESS;
}

static uint64_t position(const struct rig_question_stream *stream)
{
    return ((const struct program_stream *)stream)->position;
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
    stream->position = to > stream->position ? to : stream->position;
}

static void free_stream(struct rig_question_stream *object)
{
    rig_program_call_done(&((struct program_stream *)object)->call);
    free(object);
}

static const struct rig_question_stream_ops stream_ops = {
    .next = next, .left = left, .position = position, .key_bound = key_bound, .skip_to = skip_to, .free = free_stream};

static enum rig_rc open_stream(const struct rig_questions *object, uint32_t client, uint32_t client_count,
                               struct rig_question_stream **stream, struct rig_err *err)
{
    const struct rig_program_questions *questions = (const struct rig_program_questions *)object;
    struct program_stream *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the program of client %u", client);
    made->stream.ops = &stream_ops;
    made->seed = questions->seed;
    made->options = questions->options;
    const enum rig_rc rc = rig_program_call_init(&made->call, questions->options, client, client_count, err);
    if (rc == RIG_OK)
        *stream = &made->stream;
    else
        free_stream(&made->stream);
    return rc;
}

void rig_program_questions_init(struct rig_program_questions *questions, const struct rig_generator_options *options,
                                uint64_t seed)
{
    *questions = (struct rig_program_questions){
        .questions = {.most_operations = 1, .open = open_stream}, .options = options, .seed = seed};
}

struct rig_program_call *rig_program_stream_call(struct rig_question_stream *stream)
{
    return &((struct program_stream *)stream)->call;
}
