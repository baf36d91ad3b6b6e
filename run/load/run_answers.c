#include "run/load/run_answers.h"

#include <stddef.h>

void rig_run_answers_begin(struct rig_run_answers *answers, int64_t start_ns)
{
    *answers = (struct rig_run_answers){.seen_ns = start_ns};
}

static void add_silence(struct rig_run_answers *answers, int64_t from_ns, int64_t to_ns, bool all_healed)
{
    struct rig_run_silence *last = answers->pending_count == 0 ? NULL : &answers->pending[answers->pending_count - 1];
    const bool goes_on = last != NULL && last->to_ns == from_ns && last->after_fault == answers->after_fault;
    if (last != NULL && (goes_on || answers->pending_count == RIG_ANSWERS_PENDING_MOST)) {
        last->to_ns = to_ns;
        last->all_healed = last->all_healed && all_healed;
        return;
    }
    answers->pending[answers->pending_count++] = (struct rig_run_silence){
        .from_ns = from_ns, .to_ns = to_ns, .after_fault = answers->after_fault, .all_healed = all_healed};
}

/* How much of it was before `end_ns` and counts, as far as that does not hang on what came after it. */
static int64_t length_of(const struct rig_run_silence *silence, int64_t end_ns)
{
    const int64_t to_ns = silence->to_ns < end_ns ? silence->to_ns : end_ns;
    const int64_t length_ns = to_ns - silence->from_ns;
    return length_ns <= 0 || (silence->all_healed && length_ns <= RIG_ANSWERS_CALM_NS) ? 0 : length_ns;
}

/* An answer came to what began at `from_ns`: silence before it counts, but for that of a recovery. */
static void settle(struct rig_run_answers *answers, int64_t from_ns)
{
    int64_t recovery_ns = RIG_ANSWERS_RECOVERY_NS;
    for (uint32_t i = 0; i < answers->pending_count; i++) {
        const struct rig_run_silence *silence = &answers->pending[i];
        int64_t length_ns = length_of(silence, from_ns);
        if (silence->after_fault) {
            const int64_t excused_ns = length_ns < recovery_ns ? length_ns : recovery_ns;
            recovery_ns -= excused_ns;
            length_ns -= excused_ns;
            answers->total_ns -= excused_ns;
        }
        answers->silent_ns += length_ns;
    }
    answers->pending_count = 0;
    answers->silent = false;
    answers->after_fault = false;
}

/* The start of the earliest transaction with an acknowledgement that is an answer; 0: there is none. */
static int64_t answer_in(struct rig_run_answers *answers, const struct rig_run_look *look)
{
    const bool failed_before = answers->failures >= RIG_ANSWERS_FAILURES;
    if (look->written_from_ns != 0)
        answers->failures = 0;
    else if (look->write_failed && !failed_before)
        answers->failures++;
    return failed_before || answers->failures >= RIG_ANSWERS_FAILURES ? look->written_from_ns : look->answered_from_ns;
}

void rig_run_answers_look(struct rig_run_answers *answers, const struct rig_run_look *look)
{
    const int64_t from_ns = answers->seen_ns;
    const int64_t answered_from_ns = answer_in(answers, look);
    answers->seen_ns = look->at_ns;
    if (answered_from_ns != 0)
        settle(answers, answered_from_ns);
    if (look->under_fault)
        answers->after_fault = true;
    if (look->over || look->under_fault || look->at_ns <= from_ns)
        return;
    answers->total_ns += look->at_ns - from_ns;
    if (answered_from_ns != 0)
        return;
    answers->silent |= look->refused || look->unanswered;
    if (answers->silent || look->waiting)
        add_silence(answers, from_ns, look->at_ns, !look->unanswered);
}

double rig_run_answers_share(const struct rig_run_answers *answers)
{
    int64_t silent_ns = answers->silent_ns;
    for (uint32_t i = 0; i < answers->pending_count; i++)
        silent_ns += length_of(&answers->pending[i], INT64_MAX);
    return answers->total_ns <= 0 ? 1 : 1 - (double)silent_ns / (double)answers->total_ns;
}
