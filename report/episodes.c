#include "report/episodes.h"

#include <string.h>

#include "report/words.h"

enum { NAMED_MOST = 3 };
/* What takes no longer than this may well fall between two transactions. */
static const int64_t long_enough_ns = 500000000;

static struct rig_episode *find(struct rig_episode_vec *of, uint32_t injection)
{
    for (size_t i = of->count; i-- > 0;) {
        if (of->at[i].injection == injection)
            return &of->at[i];
    }
    return NULL;
}

static bool is_withdrawal(const struct rig_fault_event *event)
{
    return event->failed && event->step == RIG_FAULT_INJECTED &&
           strncmp(event->text, RIG_FAULT_WITHDRAWN, sizeof RIG_FAULT_WITHDRAWN - 1) == 0;
}

static void take_step(struct rig_episode *episode, const struct rig_fault_event *event)
{
    const int64_t before_ns = episode->to_ns;
    episode->to_ns = event->time_ns;
    const bool failed = event->failed && !is_withdrawal(event);
    /* Why it was withdrawn, or failed, is not to be hidden by what was seen of its healing. */
    if (event->text[0] != '\0' && !episode->failed && (!episode->withdrawn || failed))
        episode->text = event->text;
    episode->withdrawn |= is_withdrawal(event);
    episode->failed |= failed;
    if (event->step == RIG_FAULT_INJECTED)
        episode->took_effect = !event->failed;
    if (event->step == RIG_FAULT_HEALED)
        episode->healed = !event->failed;
    if (!episode->took_effect)
        return;
    if (event->step == RIG_FAULT_HEAL && before_ns != RIG_NO_TIME && event->time_ns != RIG_NO_TIME) {
        episode->effect_ns = event->time_ns - before_ns;
        episode->effect_ok = event->ok;
    }
    if (event->step == RIG_FAULT_HEALED) {
        episode->counted = true;
        episode->ok = event->ok;
        episode->fail = event->fail;
        episode->info = event->info;
    }
}

void rig_episodes_init(struct rig_episodes *episodes, const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    *episodes = (struct rig_episodes){.zero_ns = rig_history_zero_ns(verdict->history)};
    for (size_t i = 0; i < scope->fault_count; i++) {
        const struct rig_fault_event *event = &scope->faults[i];
        struct rig_episode *episode = find(&episodes->of, event->injection);
        if (episode == NULL) {
            const struct rig_episode fresh = {.injection = event->injection,
                                              .fault = event->fault,
                                              .targets = event->targets,
                                              .text = "",
                                              .from_ns = event->time_ns};
            if (!rig_episode_vec_add(&episodes->of, fresh))
                return;
            episode = &episodes->of.at[episodes->of.count - 1];
        }
        take_step(episode, event);
    }
}

void rig_episodes_done(struct rig_episodes *episodes)
{
    rig_episode_vec_done(&episodes->of);
}

bool rig_episodes_had_effect(const struct rig_episodes *episodes)
{
    bool had = false;
    for (size_t i = 0; i < episodes->of.count; i++)
        had |= episodes->of.at[i].took_effect;
    return had;
}

void rig_episode_name(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *episode)
{
    rig_words_clean(out, episode->fault, false);
    if (episode->targets[0] != '\0') {
        rig_buf_add_text(out, " of ");
        rig_words_clean(out, episode->targets, false);
    }
    if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
        return;
    rig_buf_printf(out, ", %.3f s - ", (double)(episode->from_ns - episodes->zero_ns) / 1e9);
    if (episode->healed)
        rig_buf_printf(out, "%.3f s", (double)(episode->to_ns - episodes->zero_ns) / 1e9);
    else
        rig_buf_add_text(out, "?");
}

void rig_episode_counts(struct rig_buf *out, const struct rig_episode *episode)
{
    if (!episode->counted)
        return;
    rig_words_count(out, episode->ok);
    rig_buf_add_text(out, " ok, ");
    rig_words_count(out, episode->fail);
    rig_buf_add_text(out, " fail, ");
    rig_words_count(out, episode->info);
    rig_buf_add_text(out, " info meanwhile");
}

bool rig_episode_is_barren(const struct rig_episode *episode)
{
    return episode->took_effect && episode->effect_ok == 0 && episode->effect_ns >= long_enough_ns;
}

bool rig_episode_touches(const struct rig_episode *episode, const struct rig_history *history,
                         const struct rig_witness *witness)
{
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
    if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
        return false;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[witness->txns[i]];
        const int64_t times[] = {txn->invoke_ns, txn->complete_ns};
        for (size_t t = 0; t < sizeof times / sizeof times[0]; t++) {
            if (times[t] == RIG_NO_TIME)
                continue;
            from_ns = times[t] < from_ns ? times[t] : from_ns;
            to_ns = times[t] > to_ns ? times[t] : to_ns;
        }
    }
    return from_ns <= to_ns && from_ns <= (episode->healed ? episode->to_ns : INT64_MAX) && to_ns >= episode->from_ns;
}

void rig_episodes_of_witness(struct rig_buf *out, const struct rig_episodes *episodes,
                             const struct rig_history *history, const struct rig_witness *witness)
{
    size_t named = 0, further = 0;
    for (size_t i = 0; i < episodes->of.count; i++) {
        const struct rig_episode *episode = &episodes->of.at[i];
        if (!rig_episode_touches(episode, history, witness))
            continue;
        if (named == NAMED_MOST) {
            further++;
            continue;
        }
        rig_buf_add_text(out, named++ == 0 ? "During " : "; ");
        rig_episode_name(out, episodes, episode);
    }
    if (further > 0) {
        rig_buf_add_text(out, "; and ");
        rig_words_count(out, further);
        rig_buf_add_text(out, " more");
    }
    if (named > 0)
        rig_buf_add_char(out, '.');
}
